"""The substeps of the method `compliant` with an explicit tableau, as kernels: the contacts are found anew at every
stage."""

from typing import NamedTuple

import numpy as np

from ...collision.nearby_pairs import touch_again
from ...core.jit import helper, kernel
from ...core.model import Array, BodyKind, Model, body_count
from ...core.state import Bodies, JointState, empty_state
from ...core.vec import accumulate
from ...dynamics.constraints.limit_springs import Stops, add_stops, push_stops, stops_of
from ...dynamics.constraints.reactions import Reactions, find_joints_off, hold_rates, push_axes, reactions_of
from ...dynamics.forces import Loads
from ...dynamics.free_body import Y_SIZE, dydt, pack
from ...dynamics.grab import pull_grabbed
from ...dynamics.grab_joined import pull_joined, pulls_joined
from ...dynamics.trees.contacts import accelerate
from ...dynamics.trees.rates import TreeScratch, empty_joints, empty_tree_scratch, pack_link_rates, pack_links
from ...problem.assemble import match
from .books import StageBooks, empty_stage_books, hold_pull, note_stage, take_stages
from .rates import contact_rates, finish, recovery_loss, stage
from .settle import settle

LINK = int(BodyKind.LINK)
DONE, AT_STAGE, AT_BODIES = range(3)  #: all are made, or a contact needs a row first: at the stage, at the bodies


class SubstepScratch(NamedTuple):
    """Scratch of one step."""

    middle: Bodies  #: the stage
    force: Array    #: (n, 3) applied [N]
    torque: Array   #: (n, 3) [N m]
    joints: JointState  #: of links, where the substep begins
    end: JointState     #: where the substep just tried ends
    trees: TreeScratch  #: links at the stage
    stops: Stops        #: limits of joints
    limit: Array        #: (n_v,) loads on the joints, and forces of their stops
    free: Array         #: (6 n_d + n_v,) scratch
    bias: Array         #: (n, 6) scratch
    y0: Array       #: (n, 13) when the substep began
    k: Array        #: (s, n, 13) rates of its stages
    books: StageBooks
    reactions: Reactions     #: of joints in maximal coordinates


def empty_course(model: Model, stages: int) -> SubstepScratch:
    """Scratch for steps of so many stages."""
    n = body_count(model)
    trees, reactions = empty_tree_scratch(model.trees), reactions_of(model, 0, drives=True)
    places = 6 * int((reactions.slot >= 0).sum()) + len(trees.v)
    return SubstepScratch(
        empty_state(n).bodies, np.zeros((n, 3)), np.zeros((n, 3)), empty_joints(model.trees), empty_joints(model.trees),
        trees, stops_of(model), trees.none.copy(), np.zeros(places), np.zeros((n, 6)), np.zeros((n, Y_SIZE)),
        np.zeros((stages, n, Y_SIZE)), empty_stage_books(model, stages), reactions)


@helper
def push_links(model, loads, t, h, bodies, course, ydot):
    """Turn the forces that contacts have left in the rows of links in ydot into the rates of their coordinates, and let
    joints in maximal coordinates react; returns the power of the stops of trees [W]."""
    trees, body = course.trees, model.trees.body
    for l in range(len(body)):
        i = int(body[l])
        accumulate(course.force, i, (ydot[i, 7], ydot[i, 8], ydot[i, 9]))
        accumulate(course.torque, i, (ydot[i, 10], ydot[i, 11], ydot[i, 12]))
        for j in range(7, Y_SIZE):
            ydot[i, j] = 0.0
    for d in range(len(trees.v)):
        course.limit[d] = loads.joint[d] if d < len(loads.joint) else 0.0
    power = add_stops(model, course.stops, bodies, trees.q, trees.v, course.limit)
    pushed = Loads(loads.force, loads.torque, loads.grab_body, loads.grab_point, loads.grab_target, loads.grab_turn,
                   loads.grab_force, course.limit)
    held, pull = int(loads.grab_body[0]), course.books.pull
    linked = held >= 0 and model.kind[held] == LINK
    if linked:
        for j in range(3):
            pull[j], pull[3 + j] = -course.force[held, j], -course.torque[held, j]
    accelerate(model, pushed, h, bodies, course.force, course.torque, trees, course.free, course.bias)
    if linked:
        for j in range(3):
            pull[j] += course.force[held, j]
            pull[3 + j] += course.torque[held, j]
    find_joints_off(model, t, bodies, course.bias, trees.v, trees.work, course.reactions)
    if pulls_joined(course.reactions, loads):
        hold_pull(loads, ydot, -1.0, course.books)
        pull_joined(model, loads, bodies, h, course.reactions, course.force, course.torque, ydot)
        hold_pull(loads, ydot, 1.0, course.books)
    hold_rates(model, bodies, trees, course.reactions, course.free, ydot)
    pack_link_rates(model.trees, trees, ydot)
    return power


@helper
def look(model, near, bodies, surfaces, contacts, slot):
    """Find the contacts of these poses and the rows of their surfaces; False where there is no room for them, or where
    one that touches has no row. Contacts that stay apart need none: slot -1."""
    if touch_again(model, near, bodies.x, bodies.q, contacts) < 0:
        return False
    known = np.int64(surfaces.count[0])
    match(contacts, known, surfaces.key, surfaces.shapes, surfaces.place, model.kind, bodies.x, slot)
    missing = 0
    for i in range(int(contacts.count[0])):
        if slot[i] < 0 and contacts.gap[i] <= 0.0:
            missing += 1
    return missing == 0


@kernel
def attempt(model, loads, tableau, near, law, closed, exact, t, h, contacts, slot, surfaces, work, course, bodies, out):
    """All stages of a substep from t [s] over h [s], and its end in `out` (may be `bodies`) and work.z, work.x. False
    where a contact at course.middle needs a row first; `bodies` are then as they were."""
    middle, k, stages = course.middle, course.k, len(tableau.c)
    trees, end, joined = course.trees, course.end, len(model.joints.type) > 0
    pack(bodies, course.y0)
    pack_links(model.trees, course.joints.q, course.joints.v, course.y0)
    for i in range(stages):
        stage(model, tableau.a_x[i], tableau.a_p[i], i, tableau.c[i], t, h, course.y0, k, law, closed, surfaces, work,
              trees, middle, trees.q, trees.v)
        if tableau.a_x[i].any() and not look(model, near, middle, surfaces, contacts, slot):  # else nothing has moved
            return False
        dydt(model, loads, t + tableau.c[i] * h, middle, course.force, course.torque, k[i])
        of_stops, driven = 0.0, 0.0
        if joined:
            push_axes(model, middle, course.reactions, course.force, course.torque, k[i])
            of_stops, driven = push_stops(model, course.stops, middle, trees.q, trees.v, course.force, course.torque,
                                          k[i])
        held = int(loads.grab_body[0])
        if held >= 0 and model.inv_mass[held] > 0.0 and not pulls_joined(course.reactions, loads):
            hold_pull(loads, k[i], -1.0, course.books)
            pull_grabbed(model, loads, middle, h, course.force, course.torque, k[i])
            hold_pull(loads, k[i], 1.0, course.books)
        contact_rates(model, contacts, slot, law, closed, exact, i, surfaces, work, middle, k[i])
        if joined:
            of_stops += push_links(model, loads, t + tableau.c[i] * h, h, middle, course, k[i])
        note_stage(model, loads, middle, contacts, slot, work, of_stops, driven, trees.v, course.reactions, i,
                   course.books)
    stage(model, tableau.b_x, tableau.b_p, stages, 1.0, t, h, course.y0, k, law, closed, surfaces, work, trees, out,
          end.q, end.v)
    return True


@kernel
def conclude(tableau, law, closed, h, surfaces, work, course):
    """Accept the surfaces and the coordinates of links of the substep just tried."""
    take_stages(tableau.b_p, h, course.books)
    for i in range(len(course.joints.q)):
        course.joints.q[i] = course.end.q[i]
    for i in range(len(course.joints.v)):
        course.joints.v[i] = course.end.v[i]
    if closed == 1:
        surfaces.dissipated[0] += recovery_loss(law, h, surfaces, work.units)
    finish(tableau.b_p, h, surfaces, work)


@kernel
def make_substeps(model, loads, tableau, near, law, closed, first, count, t, h, contacts, slot, surfaces, work, course,
                  bodies):
    """Substeps `first` … count - 1 of h [s] each of the step that began at t [s]; returns the first that is not made,
    and why: DONE, AT_STAGE, AT_BODIES."""
    exact = np.int64(0)  # a literal would be another type to the kernels below
    for i in range(first, count + 1):
        if i > 0 and not look(model, near, bodies, surfaces, contacts, slot):
            return i, AT_BODIES
        settle(model, contacts, slot, law, exact, bodies, surfaces, work)
        if i < count:
            if not attempt(model, loads, tableau, near, law, closed, exact, t + i * h, h, contacts, slot, surfaces,
                           work, course, bodies, bodies):
                return i, AT_STAGE
            conclude(tableau, law, closed, h, surfaces, work, course)
    return count + 1, DONE
