"""The mouse spring as a row of the contact problem."""

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import LINK
from ..core.sym3 import sym_inverse
from ..core.vec import add, axpy, rotate, row, row4, sub
from ..dynamics.trees.contacts import carried_velocity, put_end
from ..laws.mouse import GRAB_LIMIT, GRAB_TURN_LIMIT, implicit_spring, turn_limit, turned_by
from .assemble import flat, put_flat
from .mechanisms import (
    answer_alone,
    answer_through,
    mechanism_at,
    open_block,
    passes_on,
    place_in_block,
    put_point,
    unit_vector,
)
from .system import MOUSE, OTHERS, SOFTEST, own_block

FIRMEST = 1e-6  # of the answer without constraints: the least that the mouse's point is taken to answer
NOBODY = np.int32(-1)  # as numbers of bodies are, so that kernels which take one have one signature
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def let_go(system):
    """Begin the system's blocks: there is none, no mouse spring and no moment."""
    system.blocks.count[:] = 0
    system.moments.count[0] = 0
    put_flat(system.grab.impulse, (0.0, 0.0, 0.0))
    system.grab.body[0] = -1


@program
def hold(model, mechanisms, middle, loads, h, system) -> None:
    """The mouse spring, the first of the system's blocks: critically damped with rate GRAB_RATE for what moves with the
    grabbed point, implicit in time and so stable for every mass and step. None for a body that does not move.

    The law is that of laws.mouse, by implicit Euler with the stretch C in the middle of the step:
        W p + γ S p + u + bias = 0,   γ and bias as `implicit_spring` gives them
    S = W is the answer of a body or a tree. Where constraints hold the point they may hold it in some directions only:
    there S = s 1, s the largest answer in any, so that the spring is as soft in all.
    Turning: the same about the centre of mass; C is then the rotation that turns the grabbed point towards the target.
    """
    grab, blocks, body = system.grab, system.blocks, int(loads.grab_body[0])
    if model.mass[body] == 0.0:
        return
    grab.body[0] = body
    arm = rotate(row4(middle.q, body), flat(loads.grab_point))
    pull = sub(flat(loads.grab_target), row(middle.x, body))
    grab.turn[0] = loads.grab_turn[0]
    stretch = sub(arm, pull)
    if grab.turn[0] == 1:
        stretch = turned_by(pull, arm)
    block = open_block(mechanisms, blocks, MOUSE, -1, body)
    if block < 0:
        return
    blocks.count[OTHERS] = 1
    if grab.turn[0] == 1:
        at = place_in_block(model, mechanisms, body)
        for j in range(3):
            put_end(model, mechanisms.trees.work, body, at, (0.0, 0.0, 0.0), unit_vector(j), blocks.J[:, j])
    else:
        put_point(model, mechanisms, blocks, body, 1.0, arm)
    answer_alone(model, mechanisms, system.motion.bodies, blocks, block, NOBODY, body, 3)
    put_flat(grab.arm, arm)
    softness, share = implicit_spring(h)
    slide, spin = carried_velocity(model, mechanisms.trees.work, body, add(row(middle.x, body), arm))
    put_flat(grab.bias, axpy(share, stretch, spin if grab.turn[0] == 1 else slide))
    grab.softness[0] = softness
    alone = own_block(blocks, block)
    if passes_on(mechanisms, mechanism_at(mechanisms, body)):
        answer_through(mechanisms, blocks, block, NOBODY, body)
        limit = soften_grab(grab, own_block(blocks, block), alone, mechanisms.mass[mechanisms.of_body[body]])
    else:
        limit = match_grab(grab, alone, model.kind[body] == LINK, model.mass[body])
    grab.limit[0] = limit * h


@helper
def match_grab(grab, w, linked, mass):
    """S = W, which a link may have singular; returns the largest force or moment."""
    soft = SOFTEST * (w[0] + w[3] + w[5]) if linked else 0.0
    w = (w[0] + soft, w[1], w[2], w[3] + soft, w[4], w[5] + soft)
    trace, inverse, limit = w[0] + w[3] + w[5], NOTHING, mass * GRAB_LIMIT
    if trace > 0.0:  # else the point cannot move at all, as on the axis of a hinge
        inverse = sym_inverse(w)
        if grab.turn[0] == 1:
            limit = turn_limit(w)
        elif linked:
            limit = max(3.0 / trace, mass) * GRAB_LIMIT  # 3/tr W: the mass that the point shows
    for j in range(6):
        grab.matrix[j] = w[j]
        grab.inverse[j] = inverse[j] / (1.0 + grab.softness[0])
    return limit


@helper
def soften_grab(grab, w, alone, mass):
    """S = s 1; returns the largest force or moment, which grows with the mass that has to be moved. alone: the answer
    without constraints."""
    largest = max(w[0] + abs(w[1]) + abs(w[2]), max(abs(w[1]) + w[3] + abs(w[4]), abs(w[2]) + abs(w[4]) + w[5]))
    least = FIRMEST * max(alone[0], max(alone[3], alone[5]))
    largest = max(largest, least)
    stiff = grab.softness[0] * largest
    inverse = NOTHING
    if stiff > 0.0:
        inverse = sym_inverse((w[0] + stiff, w[1], w[2], w[3] + stiff, w[4], w[5] + stiff))
    for j in range(6):
        grab.matrix[j] = largest if j in (0, 3, 5) else 0.0
        grab.inverse[j] = inverse[j]
    if grab.turn[0] == 1:
        return GRAB_TURN_LIMIT / max(max(w[0], max(w[3], w[5])), least)
    return mass * GRAB_LIMIT
