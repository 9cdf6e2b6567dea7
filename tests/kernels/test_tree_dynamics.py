"""Claims about RNEA, CRBA and ABA: against Pinocchio on random trees, and against known accelerations."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from bare_bodies import model_of
from pinocchio_trees import PinocchioTree
from tree_scenes import random_tree

from contactlab.physics.core.model import JointType
from contactlab.physics.core.state import empty_state
from contactlab.physics.dynamics.trees import joint_space as tree
from contactlab.physics.dynamics.trees.kinematics import ORIGIN, empty_work, place_links
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.scene.joint_tables import Posed, make_joints, make_trees
from contactlab.physics.scene.schema import Joint
from contactlab.physics.shapes.shapes import quat_to_matrix

ORACLE = 1e-10  # relative to the largest entry: both sum some hundred products of numbers of order 1


def nans(*shape):
    return np.full(shape, np.nan)


def setup(seed, links):
    rng = np.random.default_rng(seed)
    made = random_tree(rng, links).build()
    n = len(made.state.joints.v)
    return made.model, made.state.joints, joint_space(made.model.trees), rng.normal(size=n), rng


def close(found, wanted):
    assert found.shape == wanted.shape
    scale = max(1.0, np.abs(wanted).max(initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ORACLE * scale)


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_inertia_bias_and_acceleration_are_pinocchios(first):
    for seed in range(first, first + 20):
        model, (q, v), space, tau, _ = setup(seed, 1 + seed % 12)
        n, oracle = len(v), PinocchioTree(model)
        if n == 0:
            continue
        q_pin, v_pin, B = oracle.coordinates(q, v)
        H, C, rates = nans(n, n), nans(n), nans(n)
        mass_matrix(space, q, H)
        H_pin = pin.crba(oracle.model, oracle.data, q_pin)
        H_pin = np.triu(H_pin) + np.triu(H_pin, 1).T
        close(H, B.T @ H_pin @ B)
        drift = oracle.drift(q, v)
        tree.inverse_dynamics(space, model.gravity, q, v, np.zeros(n), C)
        close(C, B.T @ pin.rnea(oracle.model, oracle.data, q_pin, v_pin, drift))
        tree.forward_dynamics(space, model.gravity, q, v, tau, np.zeros(n), rates)
        tau_pin = np.linalg.solve(B.T, tau)
        close(rates, np.linalg.solve(B, pin.aba(oracle.model, oracle.data, q_pin, v_pin, tau_pin) - drift))


def articulated_of(oracle, joint, about):
    """Pinocchio's I^A of a joint that is carried by another, the joint's own freedom taken out, in the world's axes
    about a point; angular part first. Needs `pin.forwardKinematics` and `pin.aba`."""
    place = oracle.data.oMi[joint]
    D = pin.SE3(place.rotation, place.translation - about).dualAction
    return np.roll(D @ np.array(oracle.data.Yaba[joint]) @ D.T, 3, axis=(0, 1))


@pytest.mark.parametrize("first", range(300, 500, 20))
def test_articulated_inertias_are_pinocchios(first):
    """I^A [RBDA table 7.1] of the links of 200 random trees, rotors included."""
    compared = 0
    for seed in range(first, first + 20):
        model, (q, v), space, tau, _ = setup(seed, 2 + seed % 11)
        if not len(v):
            continue
        oracle = PinocchioTree(model)
        q_pin, v_pin, B = oracle.coordinates(q, v)
        tree.forward_dynamics(space, model.gravity, q, v, tau, np.zeros(len(v)), nans(len(v)))
        pin.forwardKinematics(oracle.model, oracle.data, q_pin)
        pin.aba(oracle.model, oracle.data, q_pin, v_pin, np.linalg.solve(B.T, tau))
        _, work, _ = tree.unpacked.py_func(space)
        for link, j in enumerate(model.trees.joint):
            joint = oracle.joint_of[link]
            if model.joints.type[j] == JointType.FIXED or oracle.model.parents[joint] == 0:
                continue  # Pinocchio joins what is fixed to its parent, and leaves the roots as they are
            upper = np.triu(work.articulated[link].reshape(6, 6))
            close(upper + np.triu(upper, 1).T,
                  articulated_of(oracle, joint, work.link[link, ORIGIN : ORIGIN + 3]))
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("seed", range(300, 500))
def test_jacobians_velocities_and_apparent_inertias_are_pinocchios(seed):
    """J, J̇ q̇ and what an impulse on a link does to it, J H⁻¹ Jᵀ [RBDA 11.56]."""
    model, (q, v), space, tau, rng = setup(seed, 2 + seed % 11)
    if not len(v):
        return
    n, oracle = len(v), PinocchioTree(model)
    q_pin, v_pin, B = oracle.coordinates(q, v)
    H_pin = pin.crba(oracle.model, oracle.data, q_pin).reshape(n, n)
    H_pin = B.T @ (np.triu(H_pin) + np.triu(H_pin, 1).T) @ B
    zero, rates = np.zeros(n), nans(n)
    pin.computeJointJacobians(oracle.model, oracle.data, q_pin)
    pin.forwardKinematics(oracle.model, oracle.data, q_pin, v_pin, oracle.drift(q, v))
    tree.forward_dynamics(space, model.gravity, q, v, tau, zero, rates)
    for link in range(len(model.trees.body)):
        joint, point = oracle.joint_of[link], rng.normal(size=3)
        # Pinocchio's Jacobian in the world's axes is taken at the world's origin
        J_pin = pin.getJointJacobian(oracle.model, oracle.data, joint, pin.ReferenceFrame.WORLD)
        J_world = J_pin.reshape(6, n) @ B
        wanted = np.vstack([J_world[3:], J_world[:3] + np.cross(J_world[3:].T, point).T])
        J = nans(6, n)
        tree.point_jacobian(space, link, point, J)
        close(J, wanted)
        inverse = nans(6, 6)
        _, work, _ = tree.unpacked.py_func(space)
        tree.apparent_inverse_inertia(space, link, zero, nans(n), inverse)
        origin = work.link[link, ORIGIN : ORIGIN + 3]
        J_origin = np.vstack([J_world[3:], J_world[:3] + np.cross(J_world[3:].T, origin).T])
        close(inverse, J_origin @ np.linalg.solve(H_pin, J_origin.T))
    for link in range(len(model.trees.body)):
        joint, point, found = oracle.joint_of[link], rng.normal(size=3), nans(3)
        tree.point_acceleration(space, link, point, q, v, zero, found)
        motion, rate = oracle.data.v[joint], oracle.data.a[joint]
        placed = oracle.data.oMi[joint]
        arm = placed.rotation.T @ (point - placed.translation)
        wanted = rate.linear + np.cross(rate.angular, arm) + np.cross(
            motion.angular, motion.linear + np.cross(motion.angular, arm))
        close(found, placed.rotation @ wanted)


def same_branch(before):
    """Entry [i, j]: whether j is on the way from i to the root, or i itself."""
    above = np.eye(len(before), dtype=bool)
    for i, j in enumerate(before):
        if j >= 0:
            above[i] |= above[j]
    return above


@pytest.mark.parametrize("seed", range(10))
def test_factors_of_the_inertia_keep_its_zeros_and_solve_it(seed):
    model, (q, _), space, tau, _ = setup(seed, 15)
    n, before = len(tau), model.trees.table.before
    H = nans(n, n)
    mass_matrix(space, q, H)
    factors, x = H.copy(), tau.copy()
    tree.factor_matrix(before, factors)
    lower = np.tril(factors, -1)
    L, D = lower + np.eye(n), np.diag(np.diag(factors))
    np.testing.assert_allclose(L.T @ D @ L, H, rtol=0, atol=1e-12 * np.abs(H).max())
    assert not lower[~same_branch(before)].any() and not H[~(same_branch(before) | same_branch(before).T)].any()
    tree.solve_matrix(before, factors, x)
    np.testing.assert_allclose(H @ x, tau, rtol=0, atol=1e-12 * np.abs(H).max() * max(1.0, np.abs(x).max()))


# ------------------------------------------------------------------------------------------------------ closed cases
def chain(*parts, armature=0.0):
    """Hinges or sliders in a row: (type, axis, place in the parent's axes at q = 0, centre of mass from there, mass,
    moments about it)."""
    joint_points = np.cumsum([part[2] for part in parts], axis=0)
    centers = np.array([point + part[3] for point, part in zip(joint_points, parts, strict=True)])
    ends = np.vstack([centers, np.zeros(3)])
    posed = Posed(ends, np.tile(np.eye(3), (len(ends), 1, 1)), ends)
    names = ["world", *(f"link {i}" for i in range(len(parts)))]
    specs = [Joint(type=part[0], axis=part[1], anchor=tuple(point.tolist()), parent=names[i], child=names[i + 1],
                   armature=armature) for i, (point, part) in enumerate(zip(joint_points, parts, strict=True))]
    joints = make_joints(specs, {name: i - 1 for i, name in enumerate(names)}, posed)
    mass, inertia = np.array([part[4] for part in parts]), np.array([part[5] for part in parts], float)
    trees = make_trees(joints, mass, inertia, posed, np.full(len(mass), 1, np.int32))
    return SimpleNamespace(trees=trees, joints=joints, mass=mass, inertia=inertia)


def acceleration(model, q, gravity=(0.0, -9.81, 0.0)):
    n = len(model.mass)
    found = nans(n)
    zero = np.zeros(n)
    tree.forward_dynamics(joint_space(model.trees), np.array(gravity), np.array(q, float), zero, zero, zero, found)
    return found


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
O, ONE, NONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
UNIT = ("hinge", Z, X, X, 1.0, ONE)  # unit body 1 m ahead of a hinge 1 m ahead of the one before
ROOT = ("hinge", Z, O, X, 1.0, ONE)
A1 = {
    "single": ([ROOT], [0.0], [-4.905]),
    "single, inertia 1 2 3": ([("hinge", Z, O, (1.5, 1, 1), 1.0, (1, 2, 3))], [0.0], [-2.3544]),
    "double chain": ([ROOT, UNIT], [0.0, 0.0], [-5.886, 3.924]),
    "triple chain": ([ROOT, UNIT, UNIT], [0.0] * 3, [-6.03692307692308, 3.77307692307692, 1.50923076923077]),
    "double 3D": ([ROOT, ("hinge", Y, X, Y, 1.0, ONE)], [0.0, 0.0], [-3.924, 0.0]),
    "massless links": ([("hinge", Z, O, O, 0.0, NONE), ("hinge", Y, O, O, 0.0, NONE),
                        ("hinge", X, O, (0.0, 0.5, 0.0), 1.0, ONE)], [1.0, 0.0, 0.0], [3.301932144386186, 0.0, 0.0]),
}


@pytest.mark.parametrize("case", A1)
def test_a1_accelerations_of_chains_from_rest(case):
    """A1: chains of unit bodies, massless links among them [RBDL], to 1e-12."""
    parts, q, wanted = A1[case]
    np.testing.assert_allclose(acceleration(chain(*parts), q), wanted, rtol=0, atol=1e-12)


def test_a2_point_of_a_floating_base():
    """A2: position, velocity and acceleration of points of a body on six joints [HuMAnS], to 1e-11."""
    axes = (("slider", X), ("slider", Y), ("slider", Z), ("hinge", Z), ("hinge", Y), ("hinge", X))
    model = chain(*((kind, axis, O, O, 1.0, ONE) for kind, axis in axes))
    q = np.array([0.1, 1.1, 1.2, 1.3, 1.5, 1.7])
    bodies, work = empty_state(6).bodies, empty_work(model.trees)
    place_links(model_with_momenta(model), q, q.copy(), work, bodies)
    R, x, w = quat_to_matrix(bodies.q[5]), bodies.x[5], bodies.w[5]
    first, second = R @ [1.0, 0.0, 0.0], R @ [-1.9, -1.8, 0.0]
    np.testing.assert_allclose(bodies.v[5] + np.cross(w, first), [
        -3.888503432977729e-01, -3.171179347202455e-01, 1.093894197498446], rtol=0, atol=1e-11)
    np.testing.assert_allclose(x + second, [
        -6.357089363622626e-01, -6.831041744630977e-01, 2.968974805916970], rtol=0, atol=1e-11)
    np.testing.assert_allclose(bodies.v[5] + np.cross(w, second), [
        3.091226260907569e-01, 3.891012095550828, 4.100277995030419], rtol=0, atol=1e-11)
    for rates, wanted in ((np.zeros(6), (-5.302760158847160, 6.541369639625232, -4.795115077652286)),
                          (q, (-4.993637532756404, 10.43238173517606, -6.948370826218673e-01))):
        found = nans(3)
        tree.point_acceleration(joint_space(model.trees), 5, x + second, q, q, rates, found)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)


def model_with_momenta(model):
    """A model with nothing but these trees."""
    n = len(model.mass)
    return model_of(n)._replace(trees=model.trees, joints=model.joints, mass=model.mass, inertia=model.inertia)


def test_a10a_two_rods_let_go_in_line():
    """A10 (a): angular accelerations -9 g/(7 l) and 3 g/(7 l)."""
    rod = (1e-9, 1.0 / 12.0, 1.0 / 12.0)
    model = chain(("hinge", Z, O, (0.5, 0, 0), 1.0, rod), ("hinge", Z, X, (0.5, 0, 0), 1.0, rod))
    first, second = acceleration(model, [0.0, 0.0])
    np.testing.assert_allclose([first, first + second], [-9 * 9.81 / 7, 3 * 9.81 / 7], rtol=1e-12)


def test_a10c_a_hinged_rod_beats_a_dropped_bead():
    """A10 (c): the free end falls with 3/2 g cos(elevation)."""
    model = chain(("hinge", Z, O, (0.5, 0, 0), 1.0, (1e-9, 1.0 / 12.0, 1.0 / 12.0)))
    for elevation in (0.1, 0.5, 1.0):
        np.testing.assert_allclose(acceleration(model, [elevation]), [-1.5 * 9.81 * np.cos(elevation)], rtol=1e-12)


def test_a13_apparent_inertia_of_two_hinges_and_of_a_rotor():
    """A13: M = [[.65, .25], [.25, .25]], diag M⁻¹ = 2.5, 6.5; one hinge 1/.3, with a rotor 1/.35 [Rapier]."""
    two = chain(("hinge", Z, O, O, 1.0, (1, 1, 0.4)), ("hinge", Z, O, O, 1.0, (1, 1, 0.25)))
    H = nans(2, 2)
    mass_matrix(joint_space(two.trees), np.zeros(2), H)
    np.testing.assert_allclose(H, [[0.65, 0.25], [0.25, 0.25]], rtol=1e-14)
    np.testing.assert_allclose(np.diag(np.linalg.inv(H)), [2.5, 6.5], rtol=1e-12)
    space, inverse = joint_space(two.trees), nans(6, 6)
    zero = np.zeros(2)
    tree.forward_dynamics(space, np.zeros(3), zero, zero, zero, zero, nans(2))
    tree.apparent_inverse_inertia(space, 0, zero, nans(2), inverse)
    # the inner link alone has 0.4 about the axis: the outer one does not turn with it
    assert inverse[2, 2] == pytest.approx(2.5, rel=1e-12)
    tree.apparent_inverse_inertia(space, 1, zero, nans(2), inverse)
    assert inverse[2, 2] == pytest.approx(4.0, rel=1e-12)
    for armature, wanted in ((0.0, 1 / 0.3), (0.05, 1 / 0.35)):
        one = chain(("hinge", Z, O, O, 1.0, (1, 1, 0.3)), armature=armature)
        rates = nans(1)
        tree.forward_dynamics(joint_space(one.trees), np.zeros(3), np.zeros(1), np.zeros(1), np.ones(1),
                              np.zeros(1), rates)
        assert rates[0] == pytest.approx(wanted, rel=1e-12)
