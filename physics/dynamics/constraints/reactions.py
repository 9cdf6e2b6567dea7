"""What joints in maximal coordinates do to accelerations and impulses, at the ends of free bodies and of links alike.

    J q̇ = s,  J q̈ + γ = 0:   q̈ = a + WᵀΛ,   (J H⁻¹ Jᵀ) Λ = -(J a + γ),   W = J H⁻¹,   a = H⁻¹(τ - C)

s is 0, or the speed that a motor keeps. The same takes out of every row of TᵀH⁻¹ what the joints do not allow, so that
contact equations, impacts and projections know of the joints:

    TᵀH⁻¹ → TᵀH⁻¹ + R W,   R (J H⁻¹ Jᵀ) = -TᵀH⁻¹Jᵀ                  the rows of R: reactions to a unit of each force

The reactions to forces that are known need no R: (J H⁻¹ Jᵀ) Λ = -J H⁻¹ f for their sum f = T λ.

A rotor of inertia I on an axis of the joint turns as the axis does and resists with Λ = -I (J q̈ + γ). So it is a row
as well, with 1/I added to the diagonal of J H⁻¹ Jᵀ: the same as I Jᵀ J added to H.

A motor with a limit holds its speed, as one without a limit does; or it exerts ± its limit, and its row is left out; or
it is off. `mode` says which. It gives no impulses, for an impulse takes an unbounded force.

J H⁻¹ Jᵀ is sparse and may have a smaller rank than rows (planar loops, stretched four-bars): the reactions are then a
basic solution, see `ldl`. γ has the terms J̇ q̇, and Baumgarte's 2 α Ċ + α² C where that is the cure.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.islands import trees_of
from ...core.jit import helper, kernel
from ...core.model import DYNAMIC, LINK, Array, BodyKind, IntArray, Joints, Model
from ...core.report import MotorState
from ...core.sym3 import three
from ...core.vec import add, put, put4, put_all, quat_exp, quat_mul, quat_unit, row, row4
from ..free_body import acceleration
from ..motion import driven_acceleration, moves
from ..trees.contacts import put_end, weigh_links
from ..trees.kinematics import place_links
from ..trees.tree import eliminate
from . import ldl
from .axes import DRIVE, SPIN, AxisRows, drift_rows, end_of, gram, pose_rows, row_velocities, weigh
from .layout import HARD, LIMITED, MOTOR, ROTOR, SOFT, layout_of, own_share, pattern_of, rows_joined, rows_taken

SLIGHT = 1e-12  # part of a limit, and of accelerations, that is taken for rounding
MOST_TURNS = 60  # rounds of `change_motors` at most
FORWARD, BACKWARD, HOLDS, OFF = 1, -1, 0, 2  # modes of motors with a limit: ± the limit, keep the speed, exert nothing


class Reactions(NamedTuple):
    """The rows of all joints in maximal coordinates, and scratch. q̇ as in `contact_equations`."""

    rows: AxisRows         #: the joints' own, and axes driven by motors or with a rotor
    axes: AxisRows         #: what the joints leave free
    factor: ldl.Factor
    slot: IntArray     #: (n,) first of a free body's six places in q̇, -1 = it has none
    joined: IntArray   #: (n,) 1 = a free body with such joints
    role: IntArray     #: (m,) HARD, SOFT, …
    hard: Array        #: (m,) 1 = C is kept at zero too
    driven: Array      #: (m,) 1 = kept by a motor
    seek: Array        #: (m,) s [m/s], [rad/s]
    limit: Array       #: (m,) most that a motor exerts, inf = whatever it takes [N m] or [N]
    mode: IntArray     #: (m,) HOLDS, FORWARD, BACKWARD or OFF of a motor with a limit; HOLDS of all other rows
    haste: Array       #: (1,) rate at which motors with a limit close in on their speed when near it [1/s]
    drive: IntArray    #: (m,) the joint velocity of a tree that a motor keeps at s, -1 = J is a row between bodies
    stiffness: Array   #: (a,) of springs on the axes
    damping: Array     #: (a,)
    spring_at: Array   #: (a,)
    motor: Array       #: (a,) constant torque or force
    cure: Array        #: (1,) α of Baumgarte's stabilisation [1/s], 0 = none
    J: Array           #: (m, 12)
    W: Array           #: (m, 12) M⁻¹ Jᵀ of free bodies
    G: Array           #: (m, n_v) J of the joint velocities of trees
    Y: Array           #: (m, n_v) H⁻¹ Gᵀ
    C: Array           #: (m,)
    u: Array           #: (m,) J q̇
    rate: Array        #: (m,) γ
    lam: Array         #: (m,) reactions to what acts without contacts
    part: Array        #: (m,) scratch
    softness: Array    #: (m,) added to the diagonal of J H⁻¹ Jᵀ
    values: Array      #: (nnz,) J H⁻¹ Jᵀ
    kept: Array        #: (nnz,) the same without rows of motors that do not hold
    axis_J: Array      #: (a, 12)
    axis_at: Array     #: (a,) positions [rad] or [m]
    axis_u: Array      #: (a,)
    trial: Array       #: (6 n_d + n_v,) scratch


def reactions_of(model: Model, soft: bool = False, drives: bool = False) -> Reactions:
    """Scratch for the joints of a model in maximal coordinates. soft: axes with springs or dampers are rows, too, for a
    method whose steps are implicit in them; drives: and motors of trees that keep a speed, and all with a limit, for
    methods of forces; these are off at first."""
    layout, joints = layout_of(model), model.joints
    kept = ((layout.role != SOFT) | soft) & ((layout.role != LIMITED) | drives)
    rows, role, axes = rows_taken(layout.rows, kept), layout.role[kept], layout.axes
    drive = np.full(len(role), -1, np.int32)
    if drives:
        of_trees, driven = drive_rows(model)
        rows, drive = rows_joined(rows, of_trees), np.concatenate([drive, driven])
        role = np.concatenate([role, np.where(np.isinf(joints.motor_limit[of_trees.joint]), MOTOR, LIMITED)])
    motors, rotors = np.isin(role, (MOTOR, LIMITED)), role == ROTOR
    m, j, column = len(rows.kind), axes.joint, np.minimum(axes.axis, 1)
    dynamic = model.kind == BodyKind.DYNAMIC
    slot = np.where(dynamic, 6 * (np.cumsum(dynamic) - 1), -1).astype(np.int32)
    factor = ldl.analyse(pattern_of(rows, trees_of(model)), own_share(model, rows))
    ends = np.zeros(len(slot), np.int32)
    ends[np.concatenate([rows.a[rows.a >= 0], rows.b])] = 1
    n_v, count = int(model.trees.first_v[-1]), len(j)

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    return Reactions(
        rows=rows, axes=axes, factor=factor, slot=slot, joined=ends * dynamic, role=role.astype(np.int32), drive=drive,
        hard=(role == HARD).astype(np.float64),
        driven=motors.astype(np.float64), seek=np.where(motors, np.nan_to_num(joints.motor_speed[rows.joint]), 0.0),
        limit=np.where(role == LIMITED, joints.motor_limit[rows.joint], np.inf),
        mode=np.where(role == LIMITED, OFF, HOLDS).astype(np.int32), haste=zeros(1),
        stiffness=np.ascontiguousarray(joints.stiffness[j]), damping=np.ascontiguousarray(joints.damping[j]),
        spring_at=np.where(axes.kind == SPIN, 0.0, joints.spring_at[j, column]),
        motor=np.where(axes.axis == 0, joints.motor_force[j], 0.0), cure=zeros(1), J=zeros(m, 12), W=zeros(m, 12),
        G=zeros(m, n_v), Y=zeros(m, n_v), C=zeros(m), u=zeros(m), rate=zeros(m), lam=zeros(m), part=zeros(m),
        softness=rotor_softness(joints, rows, rotors), values=zeros(len(factor.rows)),
        kept=zeros(len(factor.rows)), axis_J=zeros(count, 12), axis_at=zeros(count), axis_u=zeros(count),
        trial=zeros(6 * int(dynamic.sum()) + n_v))


def rotor_softness(joints: Joints, rows: AxisRows, rotors: Any) -> Array:
    """1/I of the rows (m,) that are `rotors`, 0 of others."""
    return np.where(rotors, 1.0 / np.where(rotors, joints.armature[rows.joint], 1.0), 0.0)


def drive_rows(model: Model) -> tuple[AxisRows, IntArray]:
    """Rows for motors of trees that seek a speed, and their joint velocities."""
    joints, trees = model.joints, model.trees
    links = np.flatnonzero(np.isfinite(joints.motor_speed[trees.joint]))
    j = trees.joint[links]
    ints, none = np.zeros(len(j), np.int32), np.zeros((len(j), 3))
    rows = AxisRows(np.full(len(j), DRIVE, np.int32), j.astype(np.int32), ints, np.full(len(j), -1, np.int32),
                trees.body[links].astype(np.int32), none, none, none, none, none, np.zeros((len(j), 4)),
                np.zeros(len(j)))
    return rows, trees.first_v[links].astype(np.int32)


@helper
def has_joints(reactions):
    return len(reactions.rows.kind) > 0


# ------------------------------------------------------------------------------------------------ the equations
@helper
def weigh_link_ends(model, work, reactions):
    """G and Y of all rows, and their part of J H⁻¹ Jᵀ."""
    rows, trees, factor = reactions.rows, model.trees, reactions.factor
    for r in range(len(rows.kind)):
        for d in range(reactions.G.shape[1]):
            reactions.G[r, d] = 1.0 if d == reactions.drive[r] else 0.0
        for side in range(2 if reactions.drive[r] < 0 else 0):
            i = end_of(rows, r, side)
            if i >= 0 and model.kind[i] == LINK:
                put_end(model, work, i, 0, three(reactions.J, r, 6 * side), three(reactions.J, r, 6 * side + 3),
                        reactions.G[r])
        weigh_links(trees, work, reactions.G, r, reactions.Y)
        for p in range(factor.first[r], factor.first[r + 1]):
            s = int(factor.rows[p])
            for d in range(reactions.G.shape[1]):
                reactions.values[p] += reactions.G[s, d] * reactions.Y[r, d]


@kernel
def weigh_joints(model, bodies, work, reactions):
    """J, C, W and the factor of J H⁻¹ Jᵀ at the poses of the bodies. Links need the `work` of `eliminate`."""
    rows, factor = reactions.rows, reactions.factor
    pose_rows(rows, bodies.x, bodies.q, reactions.J, reactions.C)
    weigh(model.kind, model.inv_mass, model.inv_inertia, bodies.q, rows, reactions.J, reactions.W)
    gram(rows, factor.first, factor.rows, reactions.J, reactions.W, reactions.softness, reactions.values)
    if reactions.G.shape[1] > 0:
        weigh_link_ends(model, work, reactions)
    factor_kept(reactions)


@helper
def factor_kept(reactions):
    """The factor of J H⁻¹ Jᵀ with the rows of motors that do not hold replaced by those of the unit matrix; the
    right-hand side must be 0 there."""
    factor = reactions.factor
    for r in range(len(reactions.mode)):
        for p in range(factor.first[r], factor.first[r + 1]):
            s, cut = int(factor.rows[p]), reactions.mode[r] != HOLDS
            cut = cut or reactions.mode[s] != HOLDS
            reactions.kept[p] = reactions.values[p] if not cut else (1.0 if s == r else 0.0)
    ldl.factorise(reactions.kept, factor)


@kernel
def place_joints(model, q, v, bodies, trees, reactions):
    """`weigh_joints` at the poses of the free bodies and the coordinates q, v of the links, which are placed there."""
    place_links(model, q, v, trees.work, bodies)
    eliminate(model.trees.table, trees.none, trees.work.link, trees.work.dof, trees.work.articulated)
    weigh_joints(model, bodies, trees.work, reactions)


@kernel
def find_speeds(reactions, bodies, v):
    """J q̇ at the velocities of the bodies, and those of joints of trees v (n_v,)."""
    row_velocities(reactions.rows, reactions.J, bodies.v, bodies.w, reactions.u)
    for r in range(len(reactions.u)):
        if reactions.drive[r] >= 0:
            reactions.u[r] = v[reactions.drive[r]]


@kernel
def find_joints(model, t, bodies, bias, v, work, reactions):
    """The equations of the joints at the poses and velocities of the bodies and v (n_v,) of trees: what `weigh_joints`
    finds, J q̇ and γ. bias (n, 6): accelerations of links at v̇ = 0, of the centre of mass and angular."""
    if not has_joints(reactions):
        return
    weigh_joints(model, bodies, work, reactions)
    find_speeds(reactions, bodies, v)
    drift_rows(reactions.rows, bodies, reactions.rate)
    alpha = reactions.cure[0]
    for r in range(len(reactions.rate)):
        for side in range(2):
            i = end_of(reactions.rows, r, side)
            if i >= 0:
                driven = driven_acceleration(model, i, t)
                for k in range(3):
                    reactions.rate[r] += reactions.J[r, 6 * side + k] * (driven[k] + bias[i, k])
                    reactions.rate[r] += reactions.J[r, 6 * side + 3 + k] * bias[i, 3 + k]
        haste = reactions.haste[0] if reactions.limit[r] < math.inf else 0.0
        rate = alpha * (reactions.driven[r] + 2.0 * reactions.hard[r]) + haste
        off = alpha * alpha * reactions.hard[r] * reactions.C[r]
        reactions.rate[r] += rate * (reactions.u[r] - reactions.seek[r]) + off


@helper
def row_times(reactions, r, sides, links, x):
    """Row r times x (n_v,): `sides` (m, 12) and `links` (m, n_v) are J and G, or W and Y."""
    total = 0.0
    for side in range(2):
        i = end_of(reactions.rows, r, side)
        if i >= 0 and reactions.slot[i] >= 0:
            at = int(reactions.slot[i])
            for k in range(6):
                total += sides[r, 6 * side + k] * x[at + k]
    first = len(x) - links.shape[1]
    for d in range(links.shape[1]):
        total += links[r, d] * x[first + d]
    return total


@helper
def along_row(reactions, r, q_dot):
    """Row r of J times q̇."""
    return row_times(reactions, r, reactions.J, reactions.G, q_dot)


@helper
def spread(reactions, r, factor, sides, out):
    """Add `factor` times row r of `sides` (m, 12), which is J or W, to a vector (n_v,) at the places of free bodies."""
    for side in range(2):
        i = end_of(reactions.rows, r, side)
        if i >= 0 and reactions.slot[i] >= 0:
            at = int(reactions.slot[i])
            for k in range(6):
                out[at + k] += factor * sides[r, 6 * side + k]


@helper
def give_way(reactions, lam, q_dot):
    """q̇ += WᵀΛ"""
    first = len(q_dot) - reactions.G.shape[1]
    for r in range(len(lam)):
        if lam[r] == 0.0:
            continue
        spread(reactions, r, lam[r], reactions.W, q_dot)
        for d in range(reactions.G.shape[1]):
            q_dot[first + d] += lam[r] * reactions.Y[r, d]


@helper
def exerted(reactions, r):
    """What the motor of row r exerts, where it does not hold."""
    return reactions.mode[r] * reactions.limit[r] if abs(reactions.mode[r]) == FORWARD else 0.0


@kernel
def hold_free(reactions, free):
    """Take the reactions into a = H⁻¹(τ - C) (n_v,) and leave them in λ. Needs `find_joints`."""
    if not has_joints(reactions):
        return
    for r in range(len(reactions.lam)):
        reactions.lam[r] = exerted(reactions, r)
    give_way(reactions, reactions.lam, free)
    for r in range(len(reactions.lam)):
        reactions.part[r] = -along_row(reactions, r, free) - reactions.rate[r] if reactions.mode[r] == HOLDS else 0.0
    ldl.solve(reactions.factor, reactions.part)
    give_way(reactions, reactions.part, free)
    for r in range(len(reactions.lam)):
        reactions.lam[r] += reactions.part[r]


@helper
def change_motor(reactions, r, exerted, limit, beyond, scale):
    """Change the mode of the motor of row r, which has a limit; returns whether it changed. A motor that exerts more
    than its limit gets the limit. One at its limit holds its speed again where the limit accelerates it `beyond` what
    holding asks for; `scale` is the size of the terms of that acceleration, for the rounding."""
    mode = reactions.mode[r]
    if mode == HOLDS and abs(exerted) > (1.0 + SLIGHT) * limit:
        reactions.mode[r] = FORWARD if exerted > 0.0 else BACKWARD
    elif abs(mode) == FORWARD and mode * beyond > SLIGHT * (1.0 + scale):
        reactions.mode[r] = HOLDS
    return mode != reactions.mode[r]


@helper
def change_motors(reactions, free, one):
    """`change_motor` for all motors with a limit; one: only for the first that changes. Whether any did."""
    changed = False
    for r in range(len(reactions.lam)):
        if reactions.limit[r] < math.inf and not (one and changed):
            beyond, scale = along_row(reactions, r, free) + reactions.rate[r], abs(reactions.rate[r])
            changed = change_motor(reactions, r, reactions.lam[r], reactions.limit[r], beyond, scale) or changed
    return changed


@helper
def hold_limited(reactions, free):
    """As `hold_free`, with the modes of motors with a limit found from how far they are from their speed:
    Λ = clamp(Λ of q̈ = (s - q̇)/T, ±limit), 1/T = haste."""
    motors = 0
    for r in range(len(reactions.lam)):
        if reactions.limit[r] < math.inf:
            reactions.mode[r] = HOLDS
            motors += 1
    if motors > 0:
        put_all(reactions.trial, free)
        factor_kept(reactions)
    hold_free(reactions, free)
    for turn in range(MOST_TURNS if motors > 0 else 0):
        if not change_motors(reactions, free, turn > motors):
            break
        factor_kept(reactions)
        put_all(free, reactions.trial)
        hold_free(reactions, free)


def motor_states(reactions: Reactions) -> tuple[MotorState, ...]:
    """What the motors did where the reactions were found last."""
    return tuple(MotorState(int(reactions.rows.joint[r]), float(reactions.u[r]), float(reactions.lam[r]),
                            bool(reactions.mode[r] == HOLDS))
                 for r in np.flatnonzero(reactions.driven).tolist())


@kernel
def rows_along(reactions, q_dot, u_out):
    """J q̇ (m,)"""
    for r in range(len(u_out)):
        u_out[r] = along_row(reactions, r, q_dot)


@kernel
def answer_joints(reactions, change_out):
    """Replace λ, what J q̇ is to change by, by the impulses Λ that do it, of rows that hold; change_out (n_v,) =
    H⁻¹ JᵀΛ."""
    for r in range(len(reactions.lam)):
        reactions.lam[r] = reactions.lam[r] if reactions.mode[r] == HOLDS else 0.0
    ldl.solve(reactions.factor, reactions.lam)
    for j in range(len(change_out)):
        change_out[j] = 0.0
    give_way(reactions, reactions.lam, change_out)


@kernel
def hold_rows(reactions, count, HT):
    """Take the reactions into rows 0 … count - 1 of TᵀH⁻¹. Needs `find_joints` or `weigh_joints`."""
    if not has_joints(reactions):
        return
    for i in range(count):
        touched = False
        for r in range(len(reactions.part)):
            reactions.part[r] = -along_row(reactions, r, HT[i]) if reactions.mode[r] == HOLDS else 0.0
            touched = touched or reactions.part[r] != 0.0
        if touched:
            ldl.solve(reactions.factor, reactions.part)
            give_way(reactions, reactions.part, HT[i])


@kernel
def react(reactions, push, lam_out):
    """Reactions Λ (m,) of the rows that hold to generalized forces or impulses f = `push` (n_v,):
    (J H⁻¹ Jᵀ) Λ = -J H⁻¹ f. Needs `weigh_joints`."""
    for r in range(len(lam_out)):
        holds = reactions.mode[r] == HOLDS
        lam_out[r] = -row_times(reactions, r, reactions.W, reactions.Y, push) if holds else 0.0
    ldl.solve(reactions.factor, lam_out)


def reactions_to(reactions: Reactions, push: Array) -> Array:
    """`react` for Python: Λ (m,)."""
    lam = np.zeros(len(reactions.lam))
    if len(lam):
        react(reactions, push, lam)
    return lam


# --------------------------------------------------------------------------------------------- forces on bodies
@helper
def axis_force(reactions, r):
    """Force of axis r: motor - k (q - q_0) - c q̇"""
    stretch = reactions.axis_at[r] - reactions.spring_at[r]
    return reactions.motor[r] - reactions.stiffness[r] * stretch - reactions.damping[r] * reactions.axis_u[r]


@kernel
def push_axes(model, bodies, reactions, force, torque, ydot):
    """Add what springs, dampers and motors of constant force do on the joints' axes to the forces (n, 3) and torques on
    the bodies, and to the rates of P and L in ydot (n, 13)."""
    if not has_joints(reactions):
        return
    pose_rows(reactions.axes, bodies.x, bodies.q, reactions.axis_J, reactions.axis_at)
    row_velocities(reactions.axes, reactions.axis_J, bodies.v, bodies.w, reactions.axis_u)
    for r in range(len(reactions.motor)):
        f = axis_force(reactions, r)
        for side in range(2 if f != 0.0 else 0):
            i = end_of(reactions.axes, r, side)
            if moves(model.kind, i):
                for k in range(3):
                    force[i, k] += f * reactions.axis_J[r, 6 * side + k]
                    torque[i, k] += f * reactions.axis_J[r, 6 * side + 3 + k]
            if i >= 0 and model.kind[i] == DYNAMIC:
                for k in range(3):
                    ydot[i, 7 + k] += f * reactions.axis_J[r, 6 * side + k]
                    ydot[i, 10 + k] += f * reactions.axis_J[r, 6 * side + 3 + k]


@kernel
def add_reactions(reactions, lam, generalized):
    """Add JᵀΛ to generalized forces or impulses (n_v,) of the free bodies."""
    for r in range(len(lam)):
        spread(reactions, r, lam[r], reactions.J, generalized)


@kernel
def push_free(reactions, ydot):
    """Add the reactions λ to the rates of P and L of the free bodies in ydot (n, 13)."""
    for r in range(len(reactions.lam)):
        for side in range(2):
            i = end_of(reactions.rows, r, side)
            if i >= 0 and reactions.slot[i] >= 0:
                for k in range(6):
                    ydot[i, 7 + k] += reactions.lam[r] * reactions.J[r, 6 * side + k]


@helper
def find_joints_off(model, t, bodies, bias, v, work, reactions):
    """`find_joints` with all motors with a limit off."""
    for r in range(len(reactions.mode)):
        if reactions.limit[r] < math.inf:
            reactions.mode[r] = OFF
    find_joints(model, t, bodies, bias, v, work, reactions)


@kernel
def hold_rates(model, bodies, trees, reactions, free, ydot):
    """Add the reactions to all that acts on the bodies: to the rates of P and L in ydot (n, 13) and to those of joint
    velocities, trees.rates. free (n_v,) is scratch. Needs `find_joints_off`."""
    if not has_joints(reactions):
        return
    for i in range(len(model.kind)):
        at = int(reactions.slot[i])
        if at >= 0:
            linear, angular = acceleration(model, bodies, i, three(ydot, i, 7), three(ydot, i, 10))
            for k in range(3):
                free[at + k], free[at + 3 + k] = linear[k], angular[k]
    first = len(free) - len(trees.rates)
    for d in range(len(trees.rates)):
        free[first + d] = trees.rates[d]
    hold_limited(reactions, free)
    push_free(reactions, ydot)
    for d in range(len(trees.rates)):
        trees.rates[d] = free[first + d]


@kernel
def displace(slot, change, bodies):
    """Shift and turn the free bodies by a small `change` (n_v,) of their places."""
    for i in range(len(slot)):
        at = int(slot[i])
        if at >= 0:
            put(bodies.x, i, add(row(bodies.x, i), (change[at], change[at + 1], change[at + 2])))
            turn = quat_exp((change[at + 3], change[at + 4], change[at + 5]))
            put4(bodies.q, i, quat_unit(quat_mul(turn, row4(bodies.q, i))))
