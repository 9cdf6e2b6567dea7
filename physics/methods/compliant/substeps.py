"""The substeps of the method `compliant` with an explicit tableau, as kernels: the contacts are found anew at every
stage."""

from typing import NamedTuple

import numpy as np

from ...books.diagnostics import energies
from ...collision.nearby_pairs import touch_again
from ...core.jit import helper, kernel
from ...core.model import LINK, Array, Model, body_count
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
from ...integrators.tableau import Tableau
from .books import SoftBooks, StageBooks, note_carried, note_pull, note_stage, stage_books, take_stages
from .leaps import count_from_start
from .rates import CLOSED, contact_rates, finish, recovery_loss, stage
from .rows import match_rows
from .settle import settle
from .stability import StepLimits

DONE, AT_STAGE, AT_BODIES = range(3)  #: all are made; or a contact needs a row first, at the stage or at the bodies


class SubstepScratch(NamedTuple):
    """Scratch of one step; kernels that make substeps call it `course`."""

    middle: Bodies  #: at the stage
    force: Array    #: (n, 3) applied [N]
    torque: Array   #: (n, 3) [N m]
    joints: JointState  #: of links at the beginning of the substep
    end: JointState     #: and at the end of the one tried last
    trees: TreeScratch  #: links at the stage
    stops: Stops        #: limits of joints
    limit: Array        #: (n_v,) loads on the joints, and forces of their stops
    free: Array         #: (6 n_d + n_v,) scratch
    bias: Array         #: (n, 6) scratch
    y0: Array       #: (n, 13) at the beginning of the substep
    k: Array        #: (s, n, 13) rates of its stages
    books: StageBooks
    reactions: Reactions     #: of joints in maximal coordinates
    energy: Array   #: (c + 1,) of the system at the ends of the substeps made last [J], the start first


def empty_substep_scratch(model: Model, books: SoftBooks, stages: int, most: int) -> SubstepScratch:
    """Scratch for steps of so many stages, and at most so many substeps."""
    n = body_count(model)
    trees, reactions = empty_tree_scratch(model.trees), reactions_of(model, drives=True)
    places = 6 * int((reactions.slot >= 0).sum()) + len(trees.v)
    return SubstepScratch(
        empty_state(n).bodies, np.zeros((n, 3)), np.zeros((n, 3)), empty_joints(model.trees), empty_joints(model.trees),
        trees, stops_of(model), trees.none.copy(), np.zeros(places), np.zeros((n, 6)), np.zeros((n, Y_SIZE)),
        np.zeros((stages, n, Y_SIZE)), stage_books(books, stages), reactions,
        np.zeros(most + 1))


class Substeps(NamedTuple):
    """What substeps of one length are made with."""

    scratch: SubstepScratch
    tableau: Tableau
    limits: StepLimits  #: of its integrator
    blocks: Array       #: (n + 1, 2, 6, 6) scratch of `limits.rate_limits`
    of_joints: Array    #: (2,) largest ω² [1/s2] and rate of decay [1/s] of the springs and dampers of joints


@helper
def push_links(model, loads, t, h, bodies, course, ydot):
    """Turn the forces that contacts have left in the rows of links in ydot into the rates of their coordinates, and add
    the reactions of joints in maximal coordinates; returns the power of the stops of trees [W]."""
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
    grabbed, pull = int(loads.grab_body[0]), course.books.pull
    linked = grabbed >= 0 and model.kind[grabbed] == LINK
    if linked:
        for j in range(3):
            pull[j], pull[3 + j] = -course.force[grabbed, j], -course.torque[grabbed, j]
    accelerate(model, pushed, t, h, bodies, course.force, course.torque, trees, course.free, course.bias)
    if linked:
        for j in range(3):
            pull[j] += course.force[grabbed, j]
            pull[3 + j] += course.torque[grabbed, j]
    find_joints_off(model, t, bodies, course.bias, trees.v, trees.work, course.reactions)
    if pulls_joined(course.reactions, loads):
        note_pull(loads, ydot, -1.0, course.books)
        pull_joined(model, loads, bodies, h, course.reactions, course.force, course.torque, ydot)
        note_pull(loads, ydot, 1.0, course.books)
    hold_rates(model, bodies, trees, course.reactions, course.free, ydot)
    pack_link_rates(model.trees, trees, ydot)
    return power


@helper
def look(model, soft, bodies):
    """Find the contacts of these poses and the rows of their surfaces; False where there is no room for them, or where
    one that touches has no row. Contacts that stay apart need none: slot -1."""
    contacts, slot, surfaces = soft.contacts, soft.slot, soft.surfaces
    if touch_again(model, soft.near, bodies.x, bodies.q, contacts) < 0:
        return False
    match_rows(model.kind, bodies.x, contacts, surfaces, slot)
    missing = 0
    for i in range(int(contacts.count[0])):
        if slot[i] < 0 and contacts.gap[i] <= 0.0:
            missing += 1
    count_from_start(soft)
    return missing == 0


@helper
def push_stage(model, loads, exact, t, h, i, soft, course):
    """Rates of stage i at course.middle and time t [s] into course.k[i], what it finds of the surfaces into soft.work,
    and what acts into course.books."""
    middle, ydot, trees, reactions = course.middle, course.k[i], course.trees, course.reactions
    of_stops, driven, joined = 0.0, 0.0, len(model.joints.type) > 0
    dydt(model, loads, t, middle, course.force, course.torque, ydot)
    if joined:
        push_axes(model, middle, reactions, course.force, course.torque, ydot)
        of_stops, driven = push_stops(model, course.stops, middle, trees.q, trees.v, course.force, course.torque, ydot)
    grabbed = int(loads.grab_body[0])
    if grabbed >= 0 and model.inv_mass[grabbed] > 0.0 and not pulls_joined(reactions, loads):
        note_pull(loads, ydot, -1.0, course.books)
        pull_grabbed(model, loads, middle, h, course.force, course.torque, ydot)
        note_pull(loads, ydot, 1.0, course.books)
    contact_rates(model, soft, exact, i, middle, ydot)
    if joined:
        of_stops += push_links(model, loads, t, h, middle, course, ydot)
    note_stage(model, loads, middle, soft, of_stops, driven, trees.v, reactions, i, course.books)
    note_carried(model, middle, trees, i, course.books)


@kernel
def attempt(model, loads, tableau, exact, t, h, soft, course, bodies, out):
    """All stages of a substep from t [s] over h [s], and its end in `out` (may be `bodies`), course.end and work.z,
    work.x. False where a contact at course.middle needs a row first; `bodies` are then as they were.

    exact = 1: contacts keep their modes, see `contact_rates`."""
    middle, trees, end = course.middle, course.trees, course.end
    soft.work.span[0] = h
    pack(bodies, course.y0)
    pack_links(model.trees, course.joints.q, course.joints.v, course.y0)
    for i in range(len(tableau.c)):
        stage(model, tableau.a_x[i, :i], tableau.a_p[i, :i], tableau.c[i], t, h, soft, course, middle)
        if tableau.a_x[i].any() and not look(model, soft, middle):  # else nothing has moved
            return False
        push_stage(model, loads, exact, t + tableau.c[i] * h, h, i, soft, course)
    stage(model, tableau.b_x, tableau.b_p, 1.0, t, h, soft, course, out)
    for j in range(len(end.q)):
        end.q[j] = trees.q[j]
    for j in range(len(end.v)):
        end.v[j] = trees.v[j]
    return True


@kernel
def accept(tableau, h, soft, course):
    """Take over the surfaces and the coordinates of links of the substep just tried."""
    take_stages(tableau.b_p, h, course.books)
    for i in range(len(course.joints.q)):
        course.joints.q[i] = course.end.q[i]
    for i in range(len(course.joints.v)):
        course.joints.v[i] = course.end.v[i]
    if soft.choice[CLOSED] == 1:
        soft.surfaces.dissipated[0] += recovery_loss(h, soft)
    finish(tableau.b_p, h, soft)


@kernel
def make_substeps(model, loads, tableau, first, count, t, h, soft, course, bodies):
    """Substeps `first` … count - 1 of h [s] each of the step that began at t [s]; returns the first that is not made,
    and why: DONE, AT_STAGE, AT_BODIES."""
    exact = np.int64(0)  # a literal would be another type to the kernels below
    for i in range(first, count + 1):
        if i > 0 and not look(model, soft, bodies):
            return i, AT_BODIES
        settle(model, soft, exact, t + i * h, bodies)
        kinetic, potential, stored = energies(model, bodies, course.joints.q, course.joints.v)
        course.energy[i] = kinetic + potential + stored
        if i < count:
            if not attempt(model, loads, tableau, exact, t + i * h, h, soft, course, bodies, bodies):
                return i, AT_STAGE
            accept(tableau, h, soft, course)
    return count + 1, DONE
