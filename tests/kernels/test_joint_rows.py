"""AxisRows of joints in maximal coordinates and their sparse equations against differences and dense algebra."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tree_scenes import random_tree

from contactlab.physics import Scene
from contactlab.physics.core.state import NO_COORDINATES, copy_state
from contactlab.physics.dynamics.constraints import ldl
from contactlab.physics.dynamics.constraints.axes import axis_rows, constraint_rows, drift_rows, pose_rows
from contactlab.physics.dynamics.constraints.cure import JointKeeper
from contactlab.physics.dynamics.constraints.reactions import displace, place_joints, reactions_of
from contactlab.physics.dynamics.constraints.stiffness import JointRates
from contactlab.physics.dynamics.free_body import momentum_from_velocity, velocity_from_momentum
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.dynamics.trees.rates import empty_tree_scratch
from contactlab.physics.shapes.shapes import quat_to_matrix

TYPES = ("ball", "hinge", "universal", "slider", "screw", "fixed")
FREE = {"ball": 3, "hinge": 1, "universal": 2, "slider": 1, "screw": 1, "fixed": 0}


def directions(rng):
    return np.linalg.qr(rng.normal(size=(3, 3)))[0].T.tolist()


def web(rng, count, extra=0, types=TYPES):
    """Bodies in a random tree of joints, with `extra` joints that close loops."""
    bodies = [{"name": f"b{i}", "position": rng.normal(size=3).tolist(), "mass": float(rng.uniform(0.5, 2)),
               "inertia": rng.uniform(0.5, 0.9, 3).tolist(),
               "euler": rng.uniform(-180, 180, 3).tolist()} for i in range(count)]
    joints = []
    for i in range(count + extra):
        child = i % count
        others = ["world", *(f"b{k}" for k in range(child))] if i < count else ["world"]
        kind = str(rng.choice(types))
        one, two, _ = directions(rng)
        joint = {"type": kind, "child": f"b{child}", "parent": str(rng.choice(others)), "name": f"j{i}",
                 "anchor": rng.normal(size=3).tolist(), "coordinates": "maximal"}
        joint |= {"pitch": 20.0} if kind == "screw" else {}  # far more than it is shaken by: no turn is skipped
        joint |= {"axis": one} if kind in ("hinge", "slider", "screw") else {}
        joint |= {"axes": [one, two]} if kind == "universal" else {}
        joints.append(joint)
    return Scene.from_dict({"body": bodies, "joint": joints}).build()


def places(n):
    return 6 * np.arange(n, dtype=np.int32)


def shaken(setup, rng, by=0.3):
    """The bodies moved off their joints, with random velocities."""
    bodies = copy_state(setup.state).bodies
    n = len(bodies.x)
    displace(places(n), by * rng.normal(size=6 * n), bodies)
    bodies.v[:], bodies.w[:] = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    momentum_from_velocity(setup.model, bodies)
    return bodies


def values(rows, bodies):
    J, C = np.full((len(rows.kind), 12), np.nan), np.full(len(rows.kind), np.nan)
    pose_rows(rows, bodies.x, bodies.q, J, C)
    return J, C


def speeds(rows, J, bodies):
    u = np.zeros(len(rows.kind))
    for r, (a, b) in enumerate(zip(rows.a, rows.b, strict=True)):
        if a >= 0:
            u[r] += J[r, :3] @ bodies.v[a] + J[r, 3:6] @ bodies.w[a]
        u[r] += J[r, 6:9] @ bodies.v[b] + J[r, 9:] @ bodies.w[b]
    return u


def later(bodies, h):
    """The bodies after h seconds at constant velocities."""
    moved = type(bodies)(*(a.copy() for a in bodies))
    displace(places(len(bodies.x)), h * np.hstack([bodies.v, bodies.w]).ravel(), moved)
    return moved


@pytest.mark.parametrize("kind", TYPES)
def test_rows_are_the_derivatives_of_what_they_keep_at_zero(kind):
    """Ċ = J u and C̈ = J u̇ + γ, here with u̇ = 0, by central differences of step ε: error ~ ε² |C'''| ~ 1e-8. The
    γ of a screw holds where the axes of both bodies are in line."""
    rng, eps = np.random.default_rng(3), 1e-4
    setup = web(rng, 4, types=(kind,))
    order = np.arange(4, dtype=np.int32)
    rows, axes = constraint_rows(setup.model.joints, order), axis_rows(setup.model.joints, order)
    bodies = shaken(setup, rng)
    assert len(rows.kind) == 4 * (6 - FREE[kind]) and len(axes.kind) == 4 * FREE[kind]
    (before_J, before), (J, _), (after_J, after) = (values(rows, later(bodies, h)) for h in (-eps, 0.0, eps))
    u = speeds(rows, J, bodies)
    np.testing.assert_allclose((after - before) / (2 * eps), u, atol=3e-7)
    if kind == "screw":
        v, w, keeper = bodies.v.copy(), bodies.w.copy(), JointKeeper(setup.model)
        for _ in range(3):
            keeper.mend(bodies, NO_COORDINATES, "projection")
        bodies.v[:], bodies.w[:] = v, w
        (before_J, _), (after_J, _) = (values(rows, later(bodies, h)) for h in (-eps, eps))
    rate = np.full(len(rows.kind), np.nan)
    drift_rows(rows, bodies, rate)
    change = (speeds(rows, after_J, later(bodies, eps)) - speeds(rows, before_J, later(bodies, -eps))) / (2 * eps)
    np.testing.assert_allclose(change, rate, atol=3e-7)


@pytest.mark.parametrize("kind", ("hinge", "slider", "screw", "universal"))
def test_axes_measure_what_the_joint_leaves_free(kind):
    """Moved by velocities that the joints allow, the positions of the axes change at the rates of their rows."""
    rng, eps = np.random.default_rng(4), 1e-4
    setup = web(rng, 4, types=(kind,))
    axes, keeper = axis_rows(setup.model.joints, np.arange(4, dtype=np.int32)), JointKeeper(setup.model)
    bodies = shaken(setup, rng, 0.1)
    keeper.mend(bodies, NO_COORDINATES, "projection")
    (_, before), (J, _), (_, after) = (values(axes, later(bodies, h)) for h in (-eps, 0.0, eps))
    np.testing.assert_allclose((after - before) / (2 * eps), speeds(axes, J, bodies), atol=1e-6)


@pytest.mark.parametrize("kind", TYPES)
def test_joints_are_satisfied_as_drawn_and_again_after_projection(kind):
    rng = np.random.default_rng(5)
    setup = web(rng, 5, types=(kind,))
    keeper = JointKeeper(setup.model)
    assert keeper.error(setup.state.bodies)[0] < 1e-15 * 50
    bodies = shaken(setup, rng, 0.2)
    assert keeper.mend(bodies, NO_COORDINATES, "projection")
    assert keeper.error(bodies)[0] < 1e-12
    rows = keeper.reactions.rows
    assert np.abs(speeds(rows, values(rows, bodies)[0], bodies)).max() < 1e-12
    before = bodies.P.copy()
    velocity_from_momentum(setup.model, bodies)
    np.testing.assert_array_equal(before, bodies.P)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 3))
@example(2914634646, 1, 3)  # a pivot of 2e-8 before one that is rounding only
def test_sparse_factor_is_dense_algebra(seed, count, extra):
    """(J M⁻¹ Jᵀ) λ = right through the sparse factor, also where loops make rows dependent: then J M⁻¹ Jᵀ λ = right
    for every right of its range. Where singular values lie near the part RANK of the largest, rank has no meaning; a
    joint not far from a singular position has pivots that small, and singular values some orders larger or smaller."""
    rng = np.random.default_rng(seed)
    setup = web(rng, count, extra)
    joints, bodies, n = reactions_of(setup.model), setup.state.bodies, count
    place_joints(setup.model, *NO_COORDINATES, bodies, empty_tree_scratch(setup.model.trees), joints)
    rows = joints.rows
    J = np.zeros((len(rows.kind), 6 * n))
    for r, (a, b) in enumerate(zip(rows.a, rows.b, strict=True)):
        if a >= 0:
            J[r, 6 * a : 6 * a + 6] += joints.J[r, :6]
        J[r, 6 * b : 6 * b + 6] += joints.J[r, 6:]
    inverse = np.zeros((6 * n, 6 * n))
    for i in range(n):
        R = quat_to_matrix(bodies.q[i])
        inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) * setup.model.inv_mass[i]
        inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ np.diag(setup.model.inv_inertia[i]) @ R.T
    A = J @ inverse @ J.T
    right = A @ rng.normal(size=len(A))
    singular = np.linalg.eigvalsh(A) / np.abs(A).max(initial=1e-300)
    assume(not ((singular > 1e-3 * ldl.RANK) & (singular < 1e3 * ldl.RANK)).any())
    pivots = joints.factor.inverse[joints.factor.inverse > 0]
    assert (singular > ldl.RANK).sum() == len(pivots)
    lam = right.copy()
    ldl.solve(joints.factor, lam)
    growth = np.abs(A).max() * pivots.max(initial=0.0)
    np.testing.assert_allclose(A @ lam, right, atol=1e-13 * growth * np.abs(right).max(initial=0.0) * len(A))


def test_chains_factor_without_fill():
    """L of a chain has exactly the entries of the matrix below its diagonal: cost linear in the links."""
    for count in (5, 40):
        bodies = [{"name": f"b{i}", "position": [i, 0, 0], "mass": 1.0, "inertia": [1, 1, 1]} for i in range(count)]
        joints = [{"type": "hinge", "axis": [0, 1, 0], "child": f"b{i}", "parent": f"b{i - 1}" if i else "world",
                   "anchor": [i - 0.5, 0, 0], "coordinates": "maximal"} for i in range(count)]
        factor = reactions_of(Scene.from_dict({"body": bodies, "joint": joints}).build().model).factor
        assert len(factor.L) == len(factor.rows) - len(factor.inverse)
        assert len(factor.rows) <= 5 * count * 10


def test_dependent_equations_get_a_basic_solution():
    A = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 3.0], [3.0, 3.0, 6.0]])  # the third is the sum of the others
    factor = ldl.analyse([[0], [0, 1], [0, 1, 2]])
    upper = np.array([A[i, j] for j in range(3) for i in range(j + 1)])
    assert ldl.factorise(upper, factor) == 2
    x = np.array([3.0, 3.0, 6.0])
    ldl.solve(factor, x)
    np.testing.assert_allclose(x, [1.0, 1.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_springs_and_dampers_are_as_fast_in_either_coordinates(seed):
    """The largest eigenvalues of H⁻¹K and H⁻¹C of a random tree with rotors: as generalized coordinates have them by
    dense algebra, with all joints maximal, and with some."""
    rng = np.random.default_rng(seed)
    tables = random_tree(rng, 7, ("hinge", "slider", "universal", "fixed")).tables.model_dump(exclude_unset=True)
    for joint in tables["joint"]:
        joint.pop("position", None)  # where the bodies stand, whatever the coordinates
        if joint["type"] not in ("fixed", "free"):
            rest = [0.0] * 2 if joint["type"] == "universal" else 0.0
            joint |= {"damping": float(rng.uniform(0.0, 3.0)),
                      "spring": {"stiffness": float(rng.uniform(0.0, 50.0)), "position": rest}}
    found = []
    for some in (0.0, 0.5, 1.0):
        for joint in tables["joint"]:
            if joint["type"] != "free":
                joint["coordinates"] = "maximal" if rng.random() < some else "generalized"
        setup = Scene.from_dict(tables).build()
        model, q = setup.model, setup.state.joints.q
        found.append(JointRates(model)(setup.state.bodies, q))
        if some == 0.0:
            of, H = model.trees.joint[model.trees.dof_link], np.zeros((len(model.trees.dof_link),) * 2)
            mass_matrix(joint_space(model.trees), q, H)
            found.append(tuple(float(np.linalg.eigvals(np.linalg.solve(H, np.diag(gain[of]))).real.max())
                               for gain in (model.joints.stiffness, model.joints.damping)))
    np.testing.assert_allclose(found, [found[0]] * 4, rtol=1e-9)
