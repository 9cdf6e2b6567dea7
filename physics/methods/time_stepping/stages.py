"""The stages of a Moreau–Jean step as kernels; `moreau` calls them."""

import math

import numpy as np

from ...collision.impact_time import FAST
from ...core.jit import fused, helper, inlined, kernel, program
from ...core.model import DYNAMIC
from ...core.state import Case
from ...core.sym3 import put_three, three
from ...core.team import share_out
from ...core.vec import (
    add,
    axpy,
    cross,
    dot,
    norm,
    put,
    put4,
    put_all,
    quat_exp,
    quat_mul,
    quat_unit,
    row,
    row4,
    scale,
    sub,
)
from ...dynamics.free_body import angular_velocity
from ...dynamics.motion import moves
from ...problem.assemble import (
    REST_SPEED,
    SIDE_TURN,
    SLIP,
    TOUCH,
    TURN,
    ZETA,
    H,
    flat,
    place_of,
    put_flat,
    surface_velocity,
)
from ...problem.parts import is_stirred, round_of
from ...problem.system import (
    AHEAD,
    ANGULAR,
    ARM_A,
    ARM_B,
    BODY_SIZE,
    INV_MASS,
    LAYERS,
    LIMIT,
    LINEAR,
    NORMAL,
    NORMAL_STEP,
    OTHERS,
    PART,
    PLACE,
    STIRRED,
    fetch_bodies,
    impulse_of,
    pair_velocity,
    push_pair,
    push_row,
    relative_velocity,
    row_velocity,
)

APART, COLLIDING, SEPARATING, RESTING = int(Case.APART), int(Case.COLLIDING), int(Case.SEPARATING), int(Case.RESTING)
OVERLAP_SHARE = 0.3   # part of an overlap that one step takes out
OVERLAP_SPEED = 2.0   # largest speed at which the overlap of contacts is taken out [m/s]
SEPARATE_SWEEPS = 10  # over all overlaps
UNMOVED = 1e-9        # part of the slop: a visit that moves a contact by less leaves its neighbours alone
SMALLEST = 1e-6     # m and m/s: lengths and speeds that count as zero even without gravity
COLD_START = 20     # factor on the iterations where most contacts are new: too few from λ = 0 tilt stacks
SLOP = 0.25         # overlap left alone, as a part of the gap that counts as touching


@kernel
def scales_of(gravity, h):
    """Speed and gap that count as rest and touch [m/s], [m]: the speed that gravity [m/s2] gives a free body in two
    steps, and twice the way it falls in one. Without gravity SMALLEST."""
    return 2.0 * gravity * h + SMALLEST, gravity * h * h + SMALLEST


@helper
def turned(q, a):
    """q turned by the world rotation vector a."""
    return quat_unit(quat_mul(quat_exp(a), q))


@kernel
def reach(kind, bodies, radius, base, h, margin_out):
    """How far a surface point of each body can get within a step beyond what gravity adds: base + h (|v| + |ω| r)."""
    for i in range(len(kind)):
        far = h * (norm(row(bodies.v, i)) + norm(row(bodies.w, i)) * radius[i])
        margin_out[i] = base + far if moves(kind, i) else far


@kernel
def any_ahead(contacts, bound, fast, touch):
    """Whether a contact of a fast body, (n,) = 1, that nothing holds, is farther than what counts as touching."""
    for i in range(int(contacts.count[0])):
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        if contacts.gap[i] > touch and bound[a] == 0 and bound[b] == 0 and (fast[a] == 1 or fast[b] == 1):
            return True
    return False


@helper
def hold_both(contacts, k, held_out):
    """Mark the bodies of contact k as held."""
    held_out[contacts.body_a[k]] = held_out[contacts.body_b[k]] = 1


@helper
def passes_freely(contacts, k, fast, held):
    """Whether a body of contact k is fast and nothing holds it."""
    a, b = contacts.body_a[k], contacts.body_b[k]
    return (fast[a] == 1 and held[a] == 0) or (fast[b] == 1 and held[b] == 0)


@kernel
def look_ahead(contacts, bound, fast, grabbed, touch, held_out, ahead_out):
    """Choose the contacts ahead (c,) = 1 of fast bodies, (n,) = 1, that neither another contact nor the mouse, which
    has the body grabbed[0], may turn aside; held_out (n,) = 1 for bodies that are held so. Returns their number."""
    count = 0
    held_out[:] = 0
    if grabbed[0] >= 0:
        held_out[grabbed[0]] = 1
    for k in range(len(ahead_out)):
        ahead_out[k] = contacts.gap[k] > touch and bound[contacts.body_a[k]] == 0 and bound[contacts.body_b[k]] == 0
        if not ahead_out[k]:
            hold_both(contacts, k, held_out)
    for k in range(len(ahead_out)):
        ahead_out[k] = ahead_out[k] and passes_freely(contacts, k, fast, held_out)
        count += 1 if ahead_out[k] else 0
    return count


@kernel
def keep_of_held(contacts, fast, held, missed_out) -> None:
    """Of the contacts that are missed (c,) keep those of fast bodies that another contact may turn aside: those held
    before, (n,) = 1, and by contacts that are not missed."""
    for k in range(len(missed_out)):
        if not missed_out[k]:
            hold_both(contacts, k, held)
    for k in range(len(missed_out)):
        a, b = contacts.body_a[k], contacts.body_b[k]
        missed_out[k] = missed_out[k] and (fast[a] == 0 or held[a] == 0) and (fast[b] == 0 or held[b] == 0)


@kernel
def may_meet(bodies, h, paths):
    """Whether a body with the velocities of a Motion's bodies is fast, see `impact_time: find_fast`, in the h [s] to
    come."""
    for i in range(len(bodies)):
        far = norm(three(bodies, i, LINEAR)) + norm(three(bodies, i, ANGULAR)) * paths.span[i]
        if h * far > FAST * paths.thickness[i]:
            return True
    return False


@kernel
def note_start(bodies, v, motion_out):
    """The velocities of bodies and of trees (n_v,) as a Motion."""
    for i in range(len(bodies.v)):
        put_three(motion_out.bodies, i, LINEAR, row(bodies.v, i))
        put_three(motion_out.bodies, i, ANGULAR, row(bodies.w, i))
    put_all(motion_out.v, v)


@kernel
def go_together(mechanisms, values_in_out):
    """The bodies of a mechanism go as far as the first of them may: values (n,) become the least of their mechanism."""
    least = np.full(len(mechanisms.mass), np.inf)
    for i in range(len(values_in_out)):
        m = int(mechanisms.of_body[i])
        if m >= 0:
            least[m] = min(least[m], values_in_out[i])
    for i in range(len(values_in_out)):
        m = int(mechanisms.of_body[i])
        if m >= 0:
            values_in_out[i] = least[m]


@kernel
def half_drift(kind, bodies, fraction, h, middle_out):
    """Poses in the middle of the step: x_m = x + v h/2, q_m = q turned by ω h/2; momenta and velocities are copied.

    fraction (n,) shortens the way of bodies that would pass through others.
    """
    for i in range(len(kind)):
        s = 0.5 * h * fraction[i] if kind[i] == DYNAMIC else 0.0
        v = row(bodies.v, i)
        w = row(bodies.w, i)
        put(middle_out.x, i, axpy(s, v, row(bodies.x, i)))
        q = row4(bodies.q, i)
        put4(middle_out.q, i, turned(q, scale(s, w)) if s > 0.0 else q)
        put(middle_out.P, i, row(bodies.P, i))
        put(middle_out.L, i, row(bodies.L, i))
        put(middle_out.v, i, v)
        put(middle_out.w, i, w)


@helper
def mechanism_of_run(model, mechanisms, blocks, s):
    """Mechanism of run s."""
    part = int(blocks.span[s, PART])
    tree = int(mechanisms.tree[part])
    if tree >= 0:
        return int(mechanisms.of_body[model.trees.body[model.trees.start[tree]]])
    return int(mechanisms.of_body[int(blocks.span[s, PLACE]) // BODY_SIZE])


@helper
def pushes(system, k):
    """Whether block k, which is no contact, has an impulse."""
    p = impulse_of(system, k)
    return p[0] != 0.0 or p[1] != 0.0 or p[2] != 0.0


@kernel
def find_involved(model, mechanisms, stiff, system, need, need_rows, stopped, involved_out):
    """involved_out (n,) = 1 for bodies that something pushes in this step: a contact, the mouse, limits, motors,
    joints in maximal coordinates, or stiff springs of their tree (stiff, (t,)), directly or through their mechanism;
    for those that `separate` moves, which left need and need_rows; and for those that are stopped (n,) on their way to
    another one. Returns the number of those that move."""
    blocks, trees, impulse = system.blocks, model.trees, system.impulse
    hit = np.zeros(len(mechanisms.mass), np.int32)
    for m in range(len(hit)):
        hit[m] = 1 if mechanisms.constraints[m, 1] > mechanisms.constraints[m, 0] else 0
    for k in range(int(system.count[0])):
        p = row(impulse, k)
        for side in range(2 if dot(p, p) > 0.0 or need[k, 1] > 0.0 else 0):
            m = int(mechanisms.of_body[system.body_a[k] if side == 0 else system.body_b[k]])
            if m >= 0:
                hit[m] = 1
    for k in range(int(blocks.count[OTHERS])):
        if pushes(system, k) or (keeps_limit(blocks, k) and need_rows[k, 1] > 0.0):
            for s in range(blocks.first[k], blocks.seen[k]):
                hit[mechanism_of_run(model, mechanisms, blocks, s)] = 1
    for tree in range(len(stiff)):
        if stiff[tree] == 1:
            hit[mechanisms.of_body[trees.body[trees.start[tree]]]] = 1
    for i in range(len(involved_out)):
        if stopped[i] == 1 and mechanisms.of_body[i] >= 0:
            hit[mechanisms.of_body[i]] = 1
    found = 0
    for i in range(len(involved_out)):
        m = int(mechanisms.of_body[i])
        involved_out[i] = hit[m] if m >= 0 else 0
        if involved_out[i] == 1 and moves(model.kind, i):
            found += 1
    return found


# ------------------------------------------------------------------------------------------------------- positions
@program
def separate(gap, half_turn, system, slop, h, need, need_rows, shift_out):
    """Small displacements that take overlap out of contacts that do not separate, and out of limits of trees;
    velocities are not touched, so no kinetic energy comes of it. They stand in the Motion shift_out in the place of
    velocities. Returns the number of overlaps found. need (c, 2) and need_rows (b, 2) are scratch.

    With φ' = φ + h ζ⁺ the gap of the next middle, ζ⁺ at the end of the step, half_turn (c, 3) included:
    φ' + slop + n·(J δ) >= 0,  δ = H⁻¹ Jᵀ n s,  s >= 0, by projected Gauss–Seidel over the normals. At a time
    OVERLAP_SHARE of the overlap is taken out, at most OVERLAP_SPEED h. Contacts without overlap whose bodies no visit
    has moved have nothing to change, as those of what lies still, and are left out.
    """
    rows, blocks, motion = system.rows, system.blocks, system.motion
    count = int(system.count[0])
    found, least = need_of_limits(blocks, motion.q_dot, h, slop, need_rows), UNMOVED * slop
    for k in range(count):
        if k + AHEAD < count:
            fetch_bodies(motion.bodies, system, k + AHEAD)
        if system.block[k] >= 0:
            least = -1.0
        u = relative_velocity(motion.bodies, int(system.body_a[k]), int(system.body_b[k]), three(rows, k, ARM_A),
                              three(rows, k, ARM_B))
        u = add(row(half_turn, system.contact[k]), u)
        ahead = gap[system.contact[k]] + h * dot(three(rows, k, NORMAL), u) + slop
        if ahead < 0.0 and system.fired[k] == 0:
            found += 1
            ahead = max(OVERLAP_SHARE * ahead, -OVERLAP_SPEED * h)
        need[k, 0] = ahead if system.fired[k] == 0 else max(ahead, 0.0)
        need[k, 1] = 0.0  # s
    shift_out.bodies[:, :INV_MASS] = 0.0
    shift_out.v[:] = 0.0
    if found == 0:
        return 0
    limits = 0
    for k in range(int(blocks.count[OTHERS])):
        limits += keeps_limit(blocks, k)
    for i in range(len(motion.bodies)):
        for c in range(INV_MASS, BODY_SIZE):
            shift_out.bodies[i, c] = motion.bodies[i, c]
        shift_out.bodies[i, STIRRED] = -2.0
    if limits > 0:
        least = -1.0
    elif system.parts.count[0] > 0:
        separate_parts(system, need, least, shift_out)
        return found
    for sweep in range(SEPARATE_SWEEPS):
        for k in range(int(blocks.count[OTHERS])):
            if not keeps_limit(blocks, k):
                continue
            missing = need_rows[k, 0] + row_velocity(blocks, k, shift_out.q_dot)
            s = max(0.0, need_rows[k, 1] - blocks.step[k] * missing)
            push_row(blocks, k, s - need_rows[k, 1], shift_out.q_dot)
            need_rows[k, 1] = s
        for j in range(count):
            k = j if sweep % 2 == 0 else count - 1 - j
            push_apart(system, k, sweep, least, need, shift_out)
    return found


@inlined
def push_apart(system, k, sweep, least, need, shift_out):
    """Push the bodies of contact k apart by s = need[k, 1], or by less, so that they have the gap need[k, 0] between
    them, where a visit has moved one of them by more than `least` since the sweep before; < 0: in any case. Returns
    whether this one has."""
    bodies, a, b = shift_out.bodies, int(system.body_a[k]), int(system.body_b[k])
    if least >= 0.0 and bodies[a, STIRRED] < sweep - 1 and bodies[b, STIRRED] < sweep - 1 and (
            sweep > 0 or need[k, 0] >= 0.0):
        return False
    n, step, s = three(system.rows, k, NORMAL), system.rows[k, NORMAL_STEP], need[k, 1]
    missing = need[k, 0] + dot(n, pair_velocity(system, shift_out, k))
    new = max(0.0, s - step * missing)
    if new == s:
        return False
    need[k, 1] = new
    push_pair(system, shift_out, k, scale(new - s, n))
    if abs(new - s) <= least * step:
        return False
    if bodies[a, INV_MASS] > 0.0:
        bodies[a, STIRRED] = sweep
    if bodies[b, INV_MASS] > 0.0:
        bodies[b, STIRRED] = sweep
    return True


@fused
def separate_part(p, system, begin, sweep, passes, least, stirred_in_out, need, shift_out) -> None:
    """Visit the contacts of part begin + p in this sweep, and in the next one where there are two passes: backwards in
    every second one. stirred_in_out: see `is_stirred`."""
    low, high = system.parts.first[begin + p], system.parts.first[begin + p + 1]
    for one in range(sweep, sweep + passes):
        if not is_stirred(system.parts, begin + p, stirred_in_out, one - 1):
            continue
        for k in range(low, high):
            soon = k + AHEAD
            if soon < high:
                fetch_bodies(shift_out.bodies, system, low + high - 1 - soon if one % 2 == 1 else soon)
            if push_apart(system, low + high - 1 - k if one % 2 == 1 else k, one, least, need, shift_out):
                stirred_in_out[begin + p] = one


@program
def separate_parts(system, need, least, shift_out) -> None:
    """All sweeps, part by part; see `sweeps.sweep_parts`."""
    stirred = np.full(LAYERS, -1)
    for sweep in range(SEPARATE_SWEEPS):
        for turn in range(min(sweep, 1), 2):
            begin, parts = round_of(system.parts, turn, sweep % 2)
            passes = 2 if turn == 1 and sweep + 1 < SEPARATE_SWEEPS else 1
            share_out(parts, separate_part, (system, begin, sweep, passes, least, stirred, need, shift_out))


@helper
def keeps_limit(blocks, k):
    """Whether block k is a limit that positions have to keep."""
    return blocks.kind[k] == LIMIT and not math.isinf(blocks.gap[k])


@helper
def need_of_limits(blocks, q_dot, h, slop, need_out):
    """Predicted gap of every limit at the next middle, times OVERLAP_SHARE where < 0; returns how many are < 0."""
    found = 0
    for k in range(int(blocks.count[OTHERS])):
        if not keeps_limit(blocks, k):
            continue
        ahead = blocks.gap[k] + h * row_velocity(blocks, k, q_dot) + slop
        if ahead < 0.0:
            found += 1
        need_out[k, 0] = OVERLAP_SHARE * ahead if ahead < 0.0 else ahead
        need_out[k, 1] = 0.0
    return found


@kernel
def second_drift(kind, inv_mass, inv_inertia, middle, shift, fraction, involved, h, bodies_out):
    """Poses, momenta and velocities at the end of the step for the bodies involved: q⁺ = q_m turned by ω⁺ h/2, shifted.

    ω⁺ = I(q⁺)⁻¹ L belongs to the end of the step, where L is known and q⁺ is not: it is taken at a first guess of q⁺.
    With the first half driven by ω at the start this is the trapezoidal rule, second order for free rotation.
    """
    for i in range(len(kind)):
        if kind[i] != DYNAMIC or involved[i] != 1:
            continue
        s = 0.5 * h * fraction[i]
        v = scale(inv_mass[i], row(middle.P, i))
        L = row(middle.L, i)
        q = row4(middle.q, i)
        moments = row(inv_inertia, i)
        guess = turned(q, scale(s, angular_velocity(q, moments, L)))
        w = angular_velocity(guess, moments, L)
        q = turned(turned(q, scale(s, w)), three(shift, i, ANGULAR))
        put(bodies_out.x, i, add(axpy(s, v, row(middle.x, i)), three(shift, i, LINEAR)))
        put4(bodies_out.q, i, q)
        put(bodies_out.P, i, row(middle.P, i))
        put(bodies_out.L, i, L)
        put(bodies_out.v, i, v)
        put(bodies_out.w, i, angular_velocity(q, moments, L))


@kernel
def take_free(kind, flight, involved, bodies_out):
    """Copy the dynamic bodies that nothing could touch from their flight by the integrator."""
    for i in range(len(kind)):
        if kind[i] == DYNAMIC and involved[i] == 0:
            put(bodies_out.x, i, row(flight.x, i))
            put4(bodies_out.q, i, row4(flight.q, i))
            put(bodies_out.P, i, row(flight.P, i))
            put(bodies_out.L, i, row(flight.L, i))
            put(bodies_out.v, i, row(flight.v, i))
            put(bodies_out.w, i, row(flight.w, i))


# --------------------------------------------------------------------------------------------------------- reporting
@helper
def velocity_found(contacts, system, x, approach, i):
    """The relative velocity of contact i after the step's impulses, at its place in the middle of the step, where the
    bodies are at x."""
    a, b, p = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i)
    arm_a = axpy(-1.0, row(x, a), p)
    arm_b = axpy(-1.0, row(x, b), p)
    return add(row(approach.surface, i), relative_velocity(system.motion.bodies, a, b, arm_a, arm_b))


@kernel
def settle_contacts(contacts, system, x, approach, fired_out, memory_out):
    """Fill what the memory and the search for events need of every contact (see `Contacts`): impulse, λ, ζ, case and
    whether it is current. Velocities are those at the end of the step, half_turn included; what u was in the middle
    goes into the memory."""
    rest_speed, touch, h = approach.scales[REST_SPEED], approach.scales[TOUCH], approach.scales[H]
    for i in range(int(contacts.count[0])):
        put(contacts.impulse, i, (0.0, 0.0, 0.0))
        fired_out[i] = 0
    for k in range(int(system.count[0])):
        put(contacts.impulse, int(system.contact[k]), row(system.impulse, k))
        fired_out[system.contact[k]] = system.fired[k]
    for i in range(int(contacts.count[0])):
        n = row(contacts.normal, i)
        u = velocity_found(contacts, system, x, approach, i)
        keep_velocity(memory_out.own, i, n, u, row4(approach.turn, i))
        zeta = dot(add(u, row(approach.half_turn, i)), n)
        lam = dot(row(contacts.impulse, i), n) / h
        contacts.zeta[i] = zeta
        contacts.lam[i] = lam
        case = APART
        if contacts.gap[i] <= touch or lam > 0.0:
            case = COLLIDING if zeta < -rest_speed else SEPARATING if zeta > rest_speed else RESTING
        contacts.case[i] = case
        contacts.current[i] = 1 if case == RESTING else 0


@kernel
def describe(system, x, approach, contacts_out):
    """Fill what only a reader wants to know of every contact, from what the step left: the columns of `Contacts` that
    `settle_contacts` does not fill."""
    h = approach.scales[H]
    for i in range(int(contacts_out.count[0])):
        n, zeta, lam = row(contacts_out.normal, i), contacts_out.zeta[i], contacts_out.lam[i]
        u = add(velocity_found(contacts_out, system, x, approach, i), row(approach.half_turn, i))
        contacts_out.zeta_dot[i] = (zeta - approach.zeta[i]) / h
        put(contacts_out.friction_force, i, axpy(-lam, n, scale(1.0 / h, row(contacts_out.impulse, i))))
        contacts_out.slip[i] = norm(axpy(-zeta, n, u))
        contacts_out.active[i] = 1 if contacts_out.case[i] == RESTING and lam > 0.0 else 0


@helper
def keep_velocity(own_out, i, n, u, turn):
    """Write the velocity u of contact i, and its change by the motion, `turn`, into row i of ContactMemory.own."""
    zeta = dot(u, n)
    own_out[i, ZETA] = zeta
    put_three(own_out, i, SLIP, axpy(-zeta, n, u))
    own_out[i, TURN] = turn[0]
    put_three(own_out, i, SIDE_TURN, (turn[1], turn[2], turn[3]))


@kernel
def remember(contacts, fired, kind, x, memory_out):
    """Write the contacts into the memory. An impulse of restitution is no first guess for the next step."""
    memory_out.count[0] = contacts.count[0]
    for i in range(int(contacts.count[0])):
        memory_out.key[i] = contacts.key[i]
        memory_out.shapes[i, 0] = contacts.shape_a[i]
        memory_out.shapes[i, 1] = contacts.shape_b[i]
        place = place_of(x, kind, int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i))
        put(memory_out.place, i, place)
        put(memory_out.impulse, i, (0.0, 0.0, 0.0) if fired[i] == 1 else row(contacts.impulse, i))
        memory_out.touching[i] = contacts.current[i]


@kernel
def report_grab(system, h, loads_out):
    """The mean force of the mouse over the step; of one that turns, the force at the grabbed point that makes this
    torque."""
    grab = system.grab
    p = flat(grab.impulse) if grab.body[0] >= 0 else (0.0, 0.0, 0.0)
    f = (p[0] / h, p[1] / h, p[2] / h)
    if grab.body[0] >= 0 and grab.turn[0] == 1:
        arm = flat(grab.arm)
        square, turn = max(dot(arm, arm), SMALLEST), cross(f, arm)
        f = (turn[0] / square, turn[1] / square, turn[2] / square)
    put_flat(loads_out.grab_force, f)


@kernel
def remember_start(model, bodies, contacts, memory_out):
    """The memory before the first step: the contacts at the poses and velocities that it begins with."""
    surface_v, surface_w = model.motions.surface_velocity, model.motions.surface_spin
    memory_out.count[0] = contacts.count[0]
    for i in range(int(contacts.count[0])):
        a, b, p = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i)
        u = sub(point_velocity(surface_v, surface_w, bodies, b, p), point_velocity(surface_v, surface_w, bodies, a, p))
        memory_out.key[i] = contacts.key[i]
        memory_out.shapes[i, 0], memory_out.shapes[i, 1] = contacts.shape_a[i], contacts.shape_b[i]
        put(memory_out.place, i, place_of(bodies.x, model.kind, a, b, p))
        put(memory_out.impulse, i, (0.0, 0.0, 0.0))
        keep_velocity(memory_out.own, i, row(contacts.normal, i), u, (0.0, 0.0, 0.0, 0.0))


@helper
def point_velocity(surface_v, surface_w, bodies, i, p):
    """Velocity of the surface of body i at a point."""
    arm = sub(p, row(bodies.x, i))
    running = surface_velocity(surface_v, surface_w, i, row4(bodies.q, i), arm)
    return add(running, add(row(bodies.v, i), cross(row(bodies.w, i), arm)))
