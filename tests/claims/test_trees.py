"""Claims about the motion of trees by every integrator: closed forms, conservation laws, published runs."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk
from tree_scenes import random_tree, rods

from contactlab.physics.books.diagnostics import measure
from contactlab.physics.core.state import Bodies, JointState
from contactlab.physics.dynamics.forces import empty_loads
from contactlab.physics.dynamics.trees.kinematics import empty_work, place_links
from contactlab.physics.dynamics.trees.rates import empty_joints
from contactlab.physics.integrators import INTEGRATORS, Dense, dense_eval, integrate
from contactlab.physics.scene.scene import Scene

G = 9.81


class Flight:
    """A scene's links without contacts, advanced by one integrator."""

    def __init__(self, scene, integrator):
        made = (scene if isinstance(scene, Scene) else Scene.from_dict(scene)).build()
        self.model, self.bodies, self.joints = made.model, made.state.bodies, made.state.joints
        self.integrator, self.dense = INTEGRATORS[integrator], Dense(made.model)
        self.loads, self.t = empty_loads(len(made.model.kind), len(self.joints.v)), 0.0

    def run(self, until, steps):
        h = (until - self.t) / steps
        for _ in range(steps):
            integrate(self.integrator, self.model, self.loads, self.t, h, self.bodies, self.bodies, self.dense,
                      (self.joints, self.joints))
            self.t += h
        return self

    def measure(self):
        return measure(self.model, self.bodies, self.joints)

    @property
    def energy(self):
        return self.measure()[0].total


def pendulum(t, length=1.0):
    """Angle from straight down of a point on a massless rod let go level: θ = 2 asin(k sn(K - ω t; k²)), k² = 1/2."""
    w = np.sqrt(G / length)
    return 2.0 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) - w * t, 0.5)[0])


def bead():
    """A point mass of 1 kg 1 m from a hinge, level: the pendulum of A7."""
    scene = rods(1)
    scene["body"][0] |= {"position": [0, 0, -1.0], "inertia": [1e-13, 1e-13, 1e-13]}
    return scene


def test_a7b_pendulum_let_go_level():
    """A7 (b): IFToMM A01 by elliptic functions."""
    flight = Flight(bead(), "dopri5")
    published = {1: -1.4050273115247993, 2: 0.9166475896632469, 5: 1.2294518114853838, 10: 0.2786806735699831}
    for t, wanted in published.items():
        flight.run(t, 40 * t)
        assert flight.joints.q[0] == pytest.approx(wanted, abs=1e-9)
        assert flight.joints.q[0] == pytest.approx(pendulum(t), abs=1e-9)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_pendulum_converges_with_the_integrators_order_and_inside_the_step_too(name):
    order, dense_order = INTEGRATORS[name].order, INTEGRATORS[name].dense_order
    errors, inside = [], []
    for steps in (64, 128, 256):
        flight = Flight(bead(), name).run(1.0, steps)
        errors.append(abs(flight.joints.q[0] - pendulum(1.0)))
        joints, bodies = empty_joints(flight.model.trees), Bodies(*(a.copy() for a in flight.bodies))
        dense_eval(flight.dense, 0.4, bodies, joints)
        inside.append(abs(joints.q[0] - pendulum(1.0 - 0.6 / steps)))
        np.testing.assert_allclose(bodies.x[0, [0, 2]], [np.sin(joints.q[0]), -np.cos(joints.q[0])], rtol=0, atol=1e-14)
    if INTEGRATORS[name].adaptive:
        assert max(errors + inside) < 1e-9
        return
    assert min(np.log2(np.divide(errors[:-1], errors[1:]))) > order - 0.35
    assert min(np.log2(np.divide(inside[:-1], inside[1:]))) > min(order, dense_order) - 0.35


def test_a10b_ten_rods_fall():
    """A10 (b): the tip of ten rods to 1e-7, the energy to 1e-9."""
    flight = Flight(rods(10, length=0.1, mass=0.1), "dopri5")
    first = flight.energy
    for t, tip in ((0.1, (0.9908841562386654, -0.0490497123084405)), (0.2, (0.935434876580348, -0.1961838249275597)),
                   (0.3, (0.7896507724963868, -0.4409815923290394)), (0.4, (0.4614509247813434, -0.7771614709669126)),
                   (0.5, (-0.26464511200184, -0.8635467547502792))):
        flight.run(t, 24)
        x, R = flight.bodies.x[9], flight.bodies.q[9]
        angle = 2.0 * np.arctan2(-R[2], R[0])  # about -y from straight down
        end = x[[0, 2]] + 0.05 * np.array([np.sin(angle), -np.cos(angle)])
        # the rods have 1e-6 of their inertia about their own axis, which does not turn
        np.testing.assert_allclose(end, tip, rtol=0, atol=1e-7)
        assert flight.energy == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_free_floating_tree_keeps_energy_and_momenta_to_the_integrators_order(name):
    made = random_tree(np.random.default_rng(7), 6, floating=True)
    still = made.tables.model_copy(update={
        "scene": made.tables.scene.model_copy(update={"gravity": (0.0, 0.0, 0.0)}),
        "joint": tuple(j.model_copy(update={"armature": 0.0}) for j in made.tables.joint)})
    order = INTEGRATORS[name].order
    drifts = []
    for steps in (100, 200, 400):
        flight = Flight(Scene(still), name)
        energy, momenta = flight.measure()
        flight.run(0.5, steps)
        now, later = flight.measure()
        drifts.append([abs(now.total - energy.total), *np.abs(later - momenta).max(axis=1)])
    drifts = np.array(drifts)
    if INTEGRATORS[name].adaptive:
        assert drifts.max() < 1e-9
        return
    # the slope between steps, of the larger of the three: one alone may cross zero
    assert np.log2(drifts[1:-1].max() / drifts[2:].max()) > order - 0.35


def test_a_spring_and_a_damper_in_a_hinge_make_the_damped_oscillation():
    k, c, inertia = 3.0, 0.4, 1.0 / 3.0
    scene = rods(1, angle=30.0, gravity=0.0, spring={"stiffness": k, "position": 10.0}, damping=c)
    w0, decay = np.sqrt(k / inertia), c / (2 * inertia)
    w = np.sqrt(w0**2 - decay**2)
    flight = Flight(scene, "dopri5").run(2.0, 80)
    start = np.radians(20.0)
    x = np.exp(-decay * 2.0) * start * (np.cos(w * 2.0) + decay / w * np.sin(w * 2.0))
    # the rod's inertia about its own axis does not enter
    assert flight.joints.q[0] - np.radians(10.0) == pytest.approx(x, abs=1e-9)


def test_a_motor_and_a_load_turn_a_hinge_with_constant_acceleration():
    flight = Flight(rods(1, angle=0.0, gravity=0.0, motor={"torque": 2.0}, armature=1.0 / 6.0), "rk4")
    flight.loads.joint[0] = -0.5
    flight.run(1.0, 10)
    assert flight.joints.v[0] == pytest.approx(1.5 / 0.5, rel=1e-12)  # (1/3 + 1/6) kg m²
    energy = flight.measure()[0]
    assert energy.total == pytest.approx(1.5 * flight.joints.q[0], rel=1e-12)


def test_a_ball_joint_has_no_gimbal_lock():
    """A top on a ball joint keeps its energy and its angular momentum about the vertical through every attitude."""
    scene = {"body": [{"name": "top", "position": [0.2, 0, 0], "mass": 1.0, "inertia": [0.004, 0.004, 0.003]}],
             "joint": [{"type": "ball", "child": "top", "anchor": [0, 0, 0], "velocity": [1.0, -6.0, 2.0]}]}
    flight = Flight(scene, "dopri5")
    energy, momenta = flight.measure()
    up, lowest, highest = momenta[1, 2], 1.0, -1.0
    for step in range(1, 101):
        flight.run(step * 0.03, 4)
        height = flight.bodies.x[0, 2] / 0.2
        lowest, highest = min(lowest, height), max(highest, height)
        assert flight.energy == pytest.approx(energy.total, abs=1e-9)
        assert flight.measure()[1][1, 2] == pytest.approx(up, abs=1e-9)
        assert np.linalg.norm(flight.bodies.x[0]) == pytest.approx(0.2, abs=1e-14)
    assert lowest < -0.9 and highest > 0.3


@pytest.mark.parametrize("seed", range(5))
def test_velocities_of_links_are_the_rates_of_their_poses(seed):
    made = random_tree(np.random.default_rng(seed), 6).build()
    model, (q, v) = made.model, made.state.joints
    work, eps = empty_work(model.trees), 1e-6
    flight = Flight(random_tree(np.random.default_rng(seed), 6), "rk4")
    x, turn = flight.bodies.x.copy(), flight.bodies.q.copy()
    flight.run(eps, 1)
    bodies = Bodies(*(np.full_like(a, np.nan) for a in flight.bodies))
    place_links(model, q, v, work, bodies)
    # central values at ε/2: the rates there differ from those at 0 by ε/2 times accelerations of order 100
    np.testing.assert_allclose((flight.bodies.x - x) / eps, bodies.v, rtol=0, atol=1e-3)
    sign = np.sign(np.einsum("ij,ij->i", flight.bodies.q, turn))[:, None]
    change = (sign * flight.bodies.q - turn) / eps
    w = 2.0 * (turn[:, :1] * change[:, 1:] - change[:, :1] * turn[:, 1:] - np.cross(change[:, 1:], turn[:, 1:]))
    np.testing.assert_allclose(w, bodies.w, rtol=0, atol=1e-3)
    assert isinstance(made.state.joints, JointState)
