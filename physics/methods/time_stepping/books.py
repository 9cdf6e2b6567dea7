"""What a Moreau–Jean step books: impulses in its middle, at the mean of the velocities before and after them."""

from typing import NamedTuple

from ...books.carried import book_change
from ...books.events import Changes
from ...books.ledger import (
    APPLIED,
    CONTACTS,
    DRIVEN,
    FRICTION,
    IMPACTS,
    JOINTS,
    SPRINGS,
    add_moment,
    add_pull,
    book_anchored,
    book_forces,
    contact_work,
    credit,
)
from ...core.jit import helper, kernel, program
from ...core.model import LINK, Array, IntArray
from ...core.state import Bodies
from ...core.sym3 import put_three, three
from ...core.vec import add, axpy, cross, dot, put, row, scale, sub
from ...dynamics.motion import KINEMATIC, add_jumps, any_at_way_point, moves
from ...dynamics.trees.momentum import balance
from ...problem.assemble import flat
from ...problem.system import (
    ANGULAR,
    BODY_SIZE,
    ENTRY,
    LINEAR,
    MOTOR,
    OTHERS,
    PLACE,
    WIDTH,
    has_one_row,
    velocity_between,
)
from .joints import book_joints
from .trees import put_in_place


class StepBooks(NamedTuple):
    """What booking a step reads and writes beside the ledger. given and before: see `books.ledger: Books`."""

    at: Bodies          #: poses and velocities from which forces are computed
    over: Bodies        #: velocities over which they work
    given: Array        #: (n, 6), no rows where nobody asks
    before: Array       #: (n, 6)
    anchored: IntArray  #: (n,) see `anchored_bodies`
    floating: IntArray  #: (k,) trees that stand on nothing
    changes: Changes


@program
def book(model, state, loads, h, cure, work):
    """Enter what acted, and repair what the scheme got wrong of the momentum of trees. Bodies that nothing touches end
    with the velocities of the state, all others with those of work.system. cure: of joints, a row of CURES."""
    books, system, before, after = work.books, work.system, work.before, work.system.motion
    ledger, over, given, bodies = state.ledger, books.over, books.given, state.bodies
    mean_motion(model.kind, work.middle, work.start.bodies, before.bodies, after.bodies, work.involved, bodies, over)
    book_forces(model, loads, books.at, over, h, ledger, given)
    book_contacts(model, over, work.detection.contacts, work.approach, work.fired, ledger, given)
    if system.moments.count[0] > 0:
        book_moments(model, system.body_a, system.body_b, over, system.moments, ledger, given)
    if system.grab.body[0] >= 0:
        book_grab(system.grab, over, ledger, given)
    if len(after.v) > 0:
        tree_joints(model, loads, work.involved, work.start.v, before.v, after.v, state.joints.v, h, ledger)
    if system.blocks.count[OTHERS] > 0:
        book_rows(model.kind, system.blocks, before.q_dot, after.q_dot, ledger)
    if len(given) > 0:
        book_anchored(books.anchored, books.before, bodies, given, ledger)
    mean_of_jumps(model, state.t[0] - h, h, over)
    if len(model.trees.driven) > 0:
        book_change(model.trees, books.before, over, bodies, given, ledger)
    if len(work.keeper.reactions.rows.kind) > 0:
        book_joints(model, over, state.t[0] - h, h, cure, work, ledger)
    if len(books.floating) > 0:
        settle(model, state, work)


@program
def settle(model, state, work) -> None:
    """Give trees that stand on nothing the momentum that was booked, see `dynamics.trees.momentum`."""
    books, joints = work.books, state.joints
    balance(model, books.floating, books.before, books.given, state.bodies, joints.v)
    put_in_place(model, joints, work.trees, state.bodies)


@kernel
def mean_of_jumps(model, t, h, over_in_out) -> None:
    """Impulses that joints and trees get as the velocity of a body that carries them jumps work over the mean of that
    before and after: half of what jumps in the step from t [s] over h [s] is added to the velocities in its middle,
    less what has jumped by then."""
    if any_at_way_point(model.motions, t, h):
        add_jumps(model, t, 0.5 * h, -1.0, -1.0, over_in_out)
        add_jumps(model, t, h, 0.5, 0.5, over_in_out)


@kernel
def book_held(held, ledger) -> None:
    """What contacts give those that sleep: the momentum that gravity and springs take back."""
    for part, account in ((0, CONTACTS), (1, FRICTION)):
        credit(ledger, account, 0.0, (held[part, 0], held[part, 1], held[part, 2]),
               (held[part, 3], held[part, 4], held[part, 5]))


@kernel
def book_grab(grab, over, ledger, given) -> None:
    """The mouse's impulse, or its angular impulse."""
    p, turns = flat(grab.impulse), grab.turn[0] == 1
    add_pull(grab.body[0], (0.0, 0.0, 0.0) if turns else p, p if turns else cross(flat(grab.arm), p), over, ledger,
             given)


@kernel
def mean_motion(kind, middle, start, before, after, involved, end, over_out):
    """Poses in the middle of the step and the mean of the velocities before and after its impulses, which are as in
    Motion.bodies, like `start`, those at its beginning; of links that fly, the mean of those at both ends of the step.
    """
    for i in range(len(kind)):
        put(over_out.x, i, row(middle.x, i))
        for j in range(4):
            over_out.q[i, j] = middle.q[i, j]
        v_0, w_0 = three(before, i, LINEAR), three(before, i, ANGULAR)
        v, w = three(after, i, LINEAR), three(after, i, ANGULAR)
        if involved[i] == 0 and moves(kind, i):
            v, w = row(end.v, i), row(end.w, i)
            if kind[i] == LINK:
                v_0, w_0 = three(start, i, LINEAR), three(start, i, ANGULAR)
        put(over_out.v, i, scale(0.5, add(v_0, v)))
        put(over_out.w, i, scale(0.5, add(w_0, w)))


@helper
def account_of(ledger, account):
    """Energy, momentum and angular momentum of an account."""
    return ledger[account, 0], three(ledger, account, 1), three(ledger, account, 4)


@helper
def grown(sums, energy, p, moment):
    """An account with more of all three."""
    return sums[0] + energy, add(sums[1], p), add(sums[2], moment)


@helper
def put_account(ledger, account, sums):
    """Write what `account_of` reads."""
    ledger[account, 0] = sums[0]
    put_three(ledger, account, 1, sums[1])
    put_three(ledger, account, 4, sums[2])


@kernel
def book_contacts(model, over, contacts, approach, fired, ledger, given):
    """Impulses of contacts. Those that approached faster than the speed that counts as rest had an impact, as their
    event says. All others count as forces over the step, even where they passed an impact on: a step has only one
    impulse per contact.

    At contacts that were hit with restitution, fired (c,) = 1, friction may give energy: Newton's law ζ⁺ = -e ζ⁻ with
    friction that turns the slip around can increase it (Kane's paradox). That comes from the law of impact, as in
    `event_driven`, and is booked with it. Running surfaces are left out: what they do is theirs."""
    normal, friction = account_of(ledger, CONTACTS), account_of(ledger, FRICTION)  # thousands enter: kept at hand
    driven = ledger[DRIVEN, 0]
    for k in range(int(contacts.count[0])):
        a, b, p, n = int(contacts.body_a[k]), int(contacts.body_b[k]), row(contacts.impulse, k), row(contacts.normal, k)
        if dot(p, p) == 0.0:
            continue
        point = row(contacts.point, k)
        along, across, pressed, rubbed, given_by, sign = contact_work(model, over, a, b, point, n, p, given)
        along, across = scale(sign, along), scale(sign, across)
        if approach.zeta[k] < -approach.scales[0]:
            credit(ledger, IMPACTS, pressed, along, cross(point, along))
        else:
            normal = grown(normal, pressed, along, cross(point, along))
        friction, driven = grown(friction, min(rubbed, 0.0), across, cross(point, across)), driven + given_by
        if fired[k] == 1 and not runs(model.motions, a) and not runs(model.motions, b):
            arm_a, arm_b = sub(point, row(over.x, a)), sub(point, row(over.x, b))
            slip = velocity_between(row(over.v, a), row(over.w, a), arm_a, row(over.v, b), row(over.w, b), arm_b)
            ledger[IMPACTS, 0] += max(dot(axpy(-dot(p, n), n, p), slip), 0.0)
    put_account(ledger, CONTACTS, normal)
    put_account(ledger, FRICTION, friction)
    ledger[DRIVEN, 0] = driven


@kernel
def book_moments(model, body_a, body_b, over, moments, ledger, given) -> None:
    """Moments against spinning and rolling, as friction."""
    for r in range(int(moments.count[0])):
        k = int(moments.load[r])
        if k >= 0:
            add_moment(model, over, int(body_a[k]), int(body_b[k]), row(moments.impulse, r), ledger, given)


@helper
def runs(motions, i):
    """Whether the surface of body i runs."""
    s, w = row(motions.surface_velocity, i), row(motions.surface_spin, i)
    return dot(s, s) + dot(w, w) > 0.0


@kernel
def tree_joints(model, loads, involved, start, before, solved, end, h, ledger) -> None:
    """Work of dampers and motors of trees and of forces put on their joints, at the mean of the velocities (n_v,)
    before all that acts in the middle of the step and after it; of trees that fly, of those at its start and end.
    Dampers are implicit: they act with -h c v⁺."""
    trees, joints = model.trees, model.joints
    for d in range(len(before)):
        l = int(trees.dof_link[d])
        j = int(trees.joint[l])
        flies = involved[trees.body[l]] == 0
        after = end[d] if flies else solved[d]
        mean = 0.5 * ((start[d] if flies else before[d]) + after)
        ledger[SPRINGS, 0] += min(0.0, -h * joints.damping[j] * after * mean)
        if trees.first_v[l + 1] - trees.first_v[l] == 1:
            ledger[JOINTS, 0] += h * joints.motor_force[j] * mean
        if d < len(loads.joint):
            ledger[APPLIED, 0] += h * loads.joint[d] * mean


@kernel
def book_rows(kind, blocks, before, after, ledger) -> None:
    """Work of limits and of motors that seek a speed, from q̇ before their impulses and after them. What they give a
    body with a prescribed motion is its own doing."""
    for k in range(int(blocks.count[OTHERS])):
        account = JOINTS if blocks.kind[k] == MOTOR else IMPACTS
        for s in range(blocks.first[k], blocks.seen[k] if has_one_row(blocks, k) else blocks.first[k]):
            at, e, rate = int(blocks.span[s, PLACE]), int(blocks.span[s, ENTRY]), 0.0
            for d in range(blocks.span[s, WIDTH]):
                rate += blocks.J[e + d, 0] * 0.5 * (before[at + d] + after[at + d])
            work, i = blocks.impulse[k] * rate, at // BODY_SIZE
            ledger[account, 0] += work
            if i < len(kind) and kind[i] == KINEMATIC:
                ledger[DRIVEN, 0] -= work
