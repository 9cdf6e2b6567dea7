"""The implicit midpoint rule in momenta, for free bodies and trees: stable at any step, second order.

The bodies of a tree have momenta μ_i (linear and angular, in the world), which forces f_i and the joints change:

    q_m = q_n ⊕ h/2 v_m,   Σ J_iᵀ(q_m) (μ_i(q_m, v_m) - μ_i,n - h/2 f_i) = h/2 τ                   for v_m   (1)
    q⁺  = q_n ⊕ h v_m,     v⁺ = what joints leave of the motion with the momenta 2 μ_i(q_m, v_m) - μ_i,n       (2)

No velocity products appear. Without forces (1) projects the bodies' motion onto what the joints allow in the middle, as
an inelastic impact would, and 2 μ_m - μ_n reflects the rest. This keeps the kinetic energy however far joints turn in a
step: exactly in planar motion, to second order in space, where the inertia turns with the bodies. (2) can only lose
kinetic energy, little as long as joints turn little; a step that would lose more is cut. Forces add h f·V_m, their
work on the motion in the middle.

(1) is solved by Newton's method with the matrix H + h/2 c + h²/4 (k + G). c and k are dampers and springs. G is the
geometric stiffness: how the directions of the joints turn under the forces in (1), which makes taut chains stiff in
the transverse direction. All have the structure of H and are eliminated link by link, at a cost linear in the number of
links. Velocity products in the derivative are left out. What the last round finds is added to the momenta at the poses
it was found for, μ_i += I_i J_i Δv, and no new poses are tried, since velocity products would enter there. Two rounds
are enough as a rule.
"""

import math
from typing import NamedTuple

import numpy as np

from ..books.ledger import add_forces, add_joints
from ..core.jit import helper, kernel
from ..core.model import DYNAMIC, Array, Model, body_count
from ..core.spatial import add6, joined, sub6
from ..core.state import Bodies, empty_state
from ..core.sym3 import put_six, put_three, six, three
from ..core.vec import (
    accumulate,
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    norm,
    put,
    put4,
    quat_exp,
    quat_mul,
    quat_unit,
    row,
    row4,
    scale,
    sub,
)
from ..dynamics.forces import applied_forces
from ..dynamics.free_body import angular_velocity, velocity_from_momentum
from ..dynamics.motion import drive
from ..dynamics.trees.kinematics import (
    FIRST_V,
    ORIGIN,
    PARENT,
    A,
    D,
    F,
    R,
    S,
    X,
    advance,
    base_velocity,
    get_matrix,
    last_dof,
    move_links,
    place,
    place_links,
    point_velocity,
    stand,
)
from ..dynamics.trees.rates import TreeScratch, empty_tree_scratch, joint_forces
from ..dynamics.trees.tree import (
    ZERO6,
    answer,
    articulated_times,
    carry,
    eliminate,
    let_go,
    momentum_of,
    spread_inertia,
)
from .tableau import Integrator, tableau

MIDPOINT = Integrator(
    name="midpoint", title="Midpoint (implicit, stable chains)", order=2, dense_order=1, adaptive=False, implicit=True,
    tableau=tableau(a=[[0.5]], b=[1.0], c=[0.5], dense=[[1.0]]),
)
NEWTON_ROUNDS = 12       # at most
SHORTEST_PIECE = 1e-3    # of a step: the shortest piece that it is cut into
SETTLED = 1e-8           # largest change of the middle that ends the rounds [m] or [rad]
SETTLED_JOINTS = 0.2     # the same for joints, as a part of the first round's change, h²/4 v̇, where that is at most
#                          MILD_WAY: the midpoint rule itself errs by more
MILD_WAY = 0.02          # [m] or [rad], see SETTLED_JOINTS
ALLOWED_LOSS = 1e-4      # part of the kinetic energy, in the middle or at the end of a step, that it may lose in (2);
#                          if it would lose more, it is cut
FINEST_FOR_LOSS = 1 / 64  # shortest piece that a step is cut into because of ALLOWED_LOSS, as a part of the step


class FlightScratch(NamedTuple):
    """Scratch arrays of a step of an integrator."""

    stage: Bodies       #: at the stage; of the midpoint rule in the middle of the step
    trees: TreeScratch  #: links at the stage
    force: Array        #: (n, 3) applied [N]
    torque: Array       #: (n, 3) [N m]


def empty_flight_scratch(model: Model) -> FlightScratch:
    n = body_count(model)
    return FlightScratch(empty_state(n).bodies, empty_tree_scratch(model.trees), np.zeros((n, 3)), np.zeros((n, 3)))


@helper
def turned(q, w, h):
    """The quaternion q turned by the angular velocity w [rad/s] (world axes) for the time h [s]."""
    return quat_unit(quat_mul(quat_exp(scale(h, w)), q))


@helper
def free_middle(model, bodies, h, flight):
    """Momenta, velocities and then poses of free bodies in the middle of the step from the forces there. Returns
    how far the poses moved [m] or [rad]. x_m = x + h/2 v_m,  q_m = q turned by h/2 ω_m,  ω_m = I(q_m)⁻¹ L_m"""
    moved, middle, force, torque = 0.0, flight.stage, flight.force, flight.torque
    for i in range(len(model.kind)):
        if model.kind[i] != DYNAMIC:
            continue
        put(middle.P, i, axpy(0.5 * h, row(force, i), row(bodies.P, i)))
        put(middle.L, i, axpy(0.5 * h, row(torque, i), row(bodies.L, i)))
        v = scale(model.inv_mass[i], row(middle.P, i))
        w = angular_velocity(row4(middle.q, i), row(model.inv_inertia, i), row(middle.L, i))
        moved = max(moved, 0.5 * h * max(norm(sub(v, row(middle.v, i))), norm(sub(w, row(middle.w, i)))))
        put(middle.v, i, v)
        put(middle.w, i, w)
        put(middle.x, i, axpy(0.5 * h, v, row(bodies.x, i)))
        put4(middle.q, i, turned(row4(bodies.q, i), w, 0.5 * h))
    return moved


@helper
def turning_times(turning, l, s):
    """How the moment of the constant forces on the subtree of link l changes as it moves by s = (ω, v):
    Σ (ω × p + v) × f = (Σ p fᵀ - Σ p·f 1) ω + v × Σ f, from Σ f and Σ p fᵀ in the 12 columns of `turning`."""
    w, x, y, z = (s[0], s[1], s[2]), three(turning, l, 3), three(turning, l, 6), three(turning, l, 9)
    moment = axpy(-(x[0] + y[1] + z[2]), w, (dot(x, w), dot(y, w), dot(z, w)))
    return joined(add(moment, cross((s[3], s[4], s[5]), three(turning, l, 0))), (0.0, 0.0, 0.0))


@helper
def eliminate_turning(table, share, added, work, turning):
    """As `eliminate`, with `share` times the geometric stiffness G of the forces F of the links. G is added to U alone
    and need not be symmetric: only its entries S_j·G S_k with k between j and the tips are used. Returns False where
    the matrix is not positive definite, as in a column under load."""
    link, dof, articulated, index = work.link, work.dof, work.articulated, table.index
    for l in range(link.shape[0]):
        spread_inertia(link, l, articulated)
        p, f = sub(three(link, l, X), three(link, l, ORIGIN)), scale(share, three(link, l, F + 3))
        put_three(turning, l, 0, f)
        put_three(turning, l, 3, scale(p[0], f))
        put_three(turning, l, 6, scale(p[1], f))
        put_three(turning, l, 9, scale(p[2], f))
    definite = True
    for l in range(link.shape[0] - 1, -1, -1):
        p = int(index[l, PARENT])
        for d in range(last_dof(index, l, dof.shape[0]) - 1, index[l, FIRST_V] - 1, -1):
            s = six(dof, d, S)
            u = add6(articulated_times(articulated, l, s), turning_times(turning, l, s))
            let_go(l, d, u, table.armature[d] + added[d], dof, articulated)
            definite = definite and dof[d, D] > 0.0
        carry(articulated, l, p)
        if p >= 0:
            put_six(turning, p, 0, add6(six(turning, p, 0), six(turning, l, 0)))
            put_six(turning, p, 6, add6(six(turning, p, 6), six(turning, l, 6)))
    return definite


@helper
def yielding(joints, j, h):
    """h/2 c + h²/4 k: what damper and spring of joint j add to the matrix of Newton's method"""
    return 0.5 * h * joints.damping[j] + 0.25 * h * h * joints.stiffness[j]


@helper
def newton_round(model, loads, bodies, v, h, flight):
    """One round of Newton's method for the joint velocities in the middle, flight.trees.v. `v` (n_v,) and `bodies` are
    those before the step. Returns how far the joints moved [m] or [rad]."""
    middle, scratch, force, torque = flight.stage, flight.trees, flight.force, flight.torque
    trees, work, joints = model.trees, scratch.work, model.joints
    link = work.link
    for l in range(link.shape[0]):
        i = int(trees.body[l])
        p = sub(three(link, l, X), three(link, l, ORIGIN))
        f = axpy(-0.5 * h, row(force, i), sub(row(middle.P, i), row(bodies.P, i)))
        turn = axpy(-0.5 * h, row(torque, i), sub(row(middle.L, i), row(bodies.L, i)))
        put_six(link, l, F, joined(add(turn, cross(p, f)), f))
    joint_forces(model, loads, scratch.q, scratch.v, True, scratch.tau)
    for d in range(len(v)):
        j = int(trees.joint[trees.dof_link[d]])
        scratch.rates[d] = yielding(joints, j, h)
        scratch.tau[d] = 0.5 * h * scratch.tau[d] - trees.table.armature[d] * (scratch.v[d] - v[d])
    if not eliminate_turning(trees.table, 0.5 * h, scratch.rates, work, scratch.turning):
        eliminate(trees.table, scratch.rates, link, work.dof, work.articulated)
    answer(trees.table, 0, link.shape[0], scratch.tau, link, work.dof, scratch.rates)
    moved = 0.0
    for d in range(len(v)):
        scratch.v[d] += scratch.rates[d]
        moved = max(moved, abs(0.5 * h * scratch.rates[d]))
    return moved


@helper
def carried(link, l, base):
    """What link l moves with and has because the body that its tree stands on carries it, at this spatial velocity:
    velocity of its centre of mass, angular velocity, momentum, angular momentum about the centre of mass."""
    p, momentum = sub(three(link, l, X), three(link, l, ORIGIN)), momentum_of(link, l, base)
    turn, push = (momentum[0], momentum[1], momentum[2]), (momentum[3], momentum[4], momentum[5])
    return point_velocity(base, p), (base[0], base[1], base[2]), push, sub(turn, cross(p, push))


@helper
def take_round(model, bodies, h, flight):
    """Add what the last round found to the velocities and momenta of the links in the middle, at the poses for which it
    was found: V += J Δv,  μ += I J Δv. Then the velocities and momenta of each tree are scaled by a factor near 1, so
    that (1) holds along v_m to rounding, as the balance of energy requires:  Σ V·(μ - μ_n - h/2 f) = h/2 τ·v_m, with
    V = J v_m relative to the body that the tree stands on."""
    middle, scratch, force, torque = flight.stage, flight.trees, flight.force, flight.torque
    trees, joints, link = model.trees, model.joints, scratch.work.link
    for k in range(len(trees.start) - 1):
        left, weight, base = 0.0, 0.0, base_velocity(link, int(trees.start[k]))
        for l in range(trees.start[k], trees.start[k + 1]):
            i, p, change = int(trees.body[l]), sub(three(link, l, X), three(link, l, ORIGIN)), six(link, l, A)
            given = momentum_of(link, l, change)
            turn, push = (given[0], given[1], given[2]), (given[3], given[4], given[5])
            accumulate(middle.v, i, point_velocity(change, p))
            accumulate(middle.w, i, (change[0], change[1], change[2]))
            accumulate(middle.P, i, push)
            accumulate(middle.L, i, sub(turn, cross(p, push)))
            u_0, w_0, P_0, L_0 = carried(link, l, base)
            u, w, P, L = sub(row(middle.v, i), u_0), sub(row(middle.w, i), w_0), row(middle.P, i), row(middle.L, i)
            weight += dot(u, sub(P, P_0)) + dot(w, sub(L, L_0))
            left += (dot(u, sub(P, axpy(0.5 * h, row(force, i), row(bodies.P, i))))
                     + dot(w, sub(L, axpy(0.5 * h, row(torque, i), row(bodies.L, i)))))
        for d in range(trees.start_v[k], trees.start_v[k + 1]):
            own = trees.table.armature[d] + yielding(joints, int(trees.joint[trees.dof_link[d]]), h)
            weight += own * scratch.v[d] * scratch.v[d]
            left += scratch.v[d] * (own * scratch.rates[d] - scratch.tau[d])
        factor = 1.0 - left / weight if weight > 0.0 else 1.0
        for l in range(trees.start[k], trees.start[k + 1]):
            i, (u_0, w_0, P_0, L_0) = int(trees.body[l]), carried(link, l, base)
            put(middle.v, i, axpy(factor, sub(row(middle.v, i), u_0), u_0))
            put(middle.w, i, axpy(factor, sub(row(middle.w, i), w_0), w_0))
            put(middle.P, i, axpy(factor, sub(row(middle.P, i), P_0), P_0))
            put(middle.L, i, axpy(factor, sub(row(middle.L, i), L_0), L_0))
        for d in range(trees.start_v[k], trees.start_v[k + 1]):
            scratch.v[d] *= factor


@helper
def project(model, v, middle, scratch, v_out):
    """H v⁺ = Σ Jᵀ μ with the momenta of `middle`, at the poses that `scratch.work` holds."""
    trees, work = model.trees, scratch.work
    link = work.link
    for l in range(link.shape[0]):
        i = int(trees.body[l])
        p = sub(three(link, l, X), three(link, l, ORIGIN))
        f = row(middle.P, i)
        put_six(link, l, F, sub6(ZERO6, joined(add(row(middle.L, i), cross(p, f)), f)))
    for d in range(len(v)):
        scratch.tau[d] = trees.table.armature[d] * (2.0 * scratch.v[d] - v[d])
    eliminate(trees.table, scratch.none, link, work.dof, work.articulated)
    answer(trees.table, 0, link.shape[0], scratch.tau, link, work.dof, v_out)


@helper
def leave_base(trees, link, middle):
    """Take out of the momenta of `middle` what links on a body with a prescribed motion have only because it carries
    them, at the poses that `link` holds: H v = Σ Jᵀ (μ - I V_0)."""
    for k in range(trees.driven.shape[0]):
        root, tree = int(trees.driven[k, 0]), int(trees.driven[k, 2])
        base = base_velocity(link, root)
        for l in range(root, trees.start[tree + 1]):
            i, (_, _, P_0, L_0) = int(trees.body[l]), carried(link, l, base)
            put(middle.P, i, sub(row(middle.P, i), P_0))
            put(middle.L, i, sub(row(middle.L, i), L_0))


@helper
def twice_kinetic(model, middle):
    """Σ μ·V of the links in the middle, twice their kinetic energy [J]."""
    total = 0.0
    for l in range(len(model.trees.body)):
        i = int(model.trees.body[l])
        total += dot(row(middle.P, i), row(middle.v, i)) + dot(row(middle.L, i), row(middle.w, i))
    return total


@helper
def lost_share(model, middle, link, least):
    """Part of the links' kinetic energy that joints just took from the momenta of `middle`:  1 - Σ μ·V⁺ / Σ μ·M⁻¹ μ.
    Links may come to rest in the step: the part is that of half of `least` [J] if that is more."""
    kept, had = 0.0, 0.0
    for l in range(link.shape[0]):
        i, motion, r = int(model.trees.body[l]), six(link, l, A), get_matrix(link, l, R)
        P, L, m, moments = row(middle.P, i), row(middle.L, i), model.mass[i], row(model.inertia, i)
        v = point_velocity(motion, sub(three(link, l, X), three(link, l, ORIGIN)))
        kept += dot(P, v) + dot(L, (motion[0], motion[1], motion[2]))
        turn = mat_t_vec(r, L)
        had += dot(P, P) / m if m > 0.0 else 0.0
        for k in range(3):
            had += turn[k] * turn[k] / moments[k] if moments[k] > 0.0 else 0.0
    return (had - kept) / max(had, least) if had > 0.0 else 0.0


@helper
def solve_middle(model, loads, t, h, bodies, joints, flight):
    """Solve (1), starting from the velocities before the step. Writes poses, velocities and momenta of all bodies in
    flight.stage, and coordinates of the joints in flight.trees. Returns whether the rounds converged."""
    middle, scratch, v = flight.stage, flight.trees, joints.v
    for i in range(len(model.kind)):
        put(middle.x, i, row(bodies.x, i))
        put4(middle.q, i, row4(bodies.q, i))
        put(middle.v, i, row(bodies.v, i))
        put(middle.w, i, row(bodies.w, i))
    for d in range(len(v)):
        scratch.v[d] = v[d]
    drive(model, t + 0.5 * h, middle)
    enough, moved, drifted = SETTLED, math.inf, math.inf
    for count in range(NEWTON_ROUNDS):
        advance(model.trees.table, joints.q, scratch.v, 0.5 * h, scratch.q)
        place_links(model, scratch.q, scratch.v, scratch.work, middle)
        applied_forces(model, loads, middle, flight.force, flight.torque)
        moved_before, drifted_before = moved, drifted
        drifted = free_middle(model, bodies, h, flight)
        moved = newton_round(model, loads, bodies, v, h, flight) if len(v) > 0 else 0.0
        if count == 0:
            enough = max(SETTLED, SETTLED_JOINTS * moved if moved <= MILD_WAY else 0.0)
        # a round that moved `moved` leaves an error of about moved · moved/moved_before
        elif moved * moved <= enough * moved_before and drifted * drifted <= SETTLED * drifted_before:
            take_round(model, bodies, h, flight)
            return True
        elif count > 1 and not max(moved, drifted) < max(moved_before, drifted_before):
            return False
    return False


@helper
def find_end(model, t, h, bodies, joints, flight):
    """Solve (2) of the step that ends at t [s]. Writes momenta in flight.stage, positions of joints in
    flight.trees.q, velocities of joints in flight.trees.rates. Returns the part of the kinetic energy of links that is
    lost in (2)."""
    middle, scratch, v = flight.stage, flight.trees, joints.v
    in_middle = twice_kinetic(model, middle)
    for i in range(len(model.kind)):
        put(middle.P, i, sub(scale(2.0, row(middle.P, i)), row(bodies.P, i)))
        put(middle.L, i, sub(scale(2.0, row(middle.L, i)), row(bodies.L, i)))
    if len(v) == 0:
        return 0.0
    advance(model.trees.table, joints.q, scratch.v, h, scratch.q)
    if len(model.trees.driven) > 0:
        drive(model, t, bodies)
    stand(model.trees, bodies, scratch.work.link)
    place(model.trees.table, scratch.q, scratch.work.link, scratch.work.dof)
    leave_base(model.trees, scratch.work.link, middle)
    project(model, v, middle, scratch, scratch.rates)
    return lost_share(model, middle, scratch.work.link, in_middle)


@helper
def go_there(model, t, h, bodies, joints, flight):
    """Write what `find_end` found, in place."""
    middle, scratch, q, v = flight.stage, flight.trees, joints.q, joints.v
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC:
            put(bodies.x, i, axpy(h, row(middle.v, i), row(bodies.x, i)))
            put4(bodies.q, i, turned(row4(bodies.q, i), row(middle.w, i), h))
            put(bodies.P, i, row(middle.P, i))
            put(bodies.L, i, row(middle.L, i))
    if len(v) > 0:
        for k in range(len(q)):
            q[k] = scratch.q[k]
        for d in range(len(v)):
            v[d] = scratch.rates[d]
        move_links(model, v, scratch.work, bodies)
    velocity_from_momentum(model, bodies)
    drive(model, t + h, bodies)


@kernel
def midpoint_step(model, loads, t, h, bodies, joints, flight, ledger, given) -> int:
    """One step of the bodies and of the links' coordinates from t [s] over h [s], in place; ledger and given are what
    `ledger.Books` enters.

    The step is halved where the rounds do not converge, or where (2) would lose much energy, as when a slack chain
    whips. Returns the number of pieces. Where not even the shortest piece can be solved, all positions become nan."""
    done, piece, pieces = 0.0, h, 0
    while done < h:
        solved = solve_middle(model, loads, t + done, piece, bodies, joints, flight)
        end = t + done + piece
        if solved and (find_end(model, end, piece, bodies, joints, flight) <= ALLOWED_LOSS
                       or piece <= FINEST_FOR_LOSS * h):
            add_forces(model, loads, flight.stage, flight.stage, piece, ledger, given)
            add_joints(model, loads, flight.trees.v, piece, ledger)
            go_there(model, t + done, piece, bodies, joints, flight)
            done += piece
            pieces += 1
            piece = min(2.0 * piece, h - done)
        elif piece > SHORTEST_PIECE * h:
            piece *= 0.5
        else:
            for i in range(len(model.kind)):
                put(bodies.x, i, (math.nan, math.nan, math.nan))
            return pieces
    return pieces
