"""Claims about the implicit midpoint rule in momenta: its order, what it keeps, chains that explicit steps lose."""

import numpy as np
import pytest
from joint_scenes import hinge, rod, scene
from scipy.special import ellipj, ellipk
from tree_scenes import random_tree, rods

from contactlab.physics import Scene, Simulation
from contactlab.physics.books.diagnostics import measure
from contactlab.physics.dynamics.forces import empty_loads
from contactlab.physics.dynamics.trees.kinematics import place_links
from contactlab.physics.integrators import FLIGHT, INTEGRATORS, Dense, integrate
from contactlab.physics.integrators.midpoint import ALLOWED_LOSS, FINEST_FOR_LOSS
from contactlab.physics.scene.scene import SceneError

G = 9.81
LINK, LINKS, HEAVY = 0.1, 50, 100.0


class Flight:
    """A scene in flight, step by step."""

    def __init__(self, made, h, integrator=FLIGHT["midpoint"]):
        built = (made if isinstance(made, Scene) else Scene.from_dict(made)).build()
        self.model, self.bodies, self.joints = built.model, built.state.bodies, built.state.joints
        self.h, self.integrator, self.t = h, integrator, 0.0
        self.loads, self.dense = empty_loads(len(self.model.kind), len(self.joints.v)), Dense(self.model)

    def step(self):
        """Returns the pieces that the step took."""
        pieces = integrate(self.integrator, self.model, self.loads, self.t, self.h, self.bodies, self.bodies,
                           self.dense, (self.joints, self.joints))
        self.t += self.h
        return pieces

    def run(self, steps):
        for _ in range(steps):
            self.step()
        return self

    @property
    def energy(self):
        return measure(self.model, self.bodies, self.joints)[0]


def without_forces(made):
    """The same tree without gravity, and without rotors, which are no bodies and have no momentum."""
    tables = made.tables
    return Scene(tables.model_copy(update={
        "scene": tables.scene.model_copy(update={"gravity": (0.0, 0.0, 0.0)}),
        "joint": tuple(j.model_copy(update={"armature": 0.0}) for j in tables.joint)}))


def heavy_chain():
    """Rods of 1 kg in a row, level, the first held by the world, with 100 kg fixed to the last."""
    ends = LINK * np.arange(LINKS + 1)
    bodies = [rod(f"rod {i}", (ends[i], 0, 0), (ends[i + 1], 0, 0)) for i in range(LINKS)]
    joints = [hinge("world" if i == 0 else f"rod {i - 1}", f"rod {i}", (ends[i], 0, 0), coordinates="generalized")
              for i in range(LINKS)]
    bodies.append({"name": "weight", "position": [ends[-1], 0, 0], "mass": HEAVY,
                   "inertia": [0.1 * HEAVY * LINK**2] * 3})
    joints.append({"type": "fixed", "parent": f"rod {LINKS - 1}", "child": "weight"})
    return Scene.from_dict(scene(bodies, joints))


def test_a_pendulum_converges_with_second_order():
    """θ = 2 asin(k sn(K - ω t; k²)), k² = 1/2, of a point mass let go level."""
    bead = rods(1)
    bead["body"][0] |= {"position": [0, 0, -1.0], "inertia": [1e-13, 1e-13, 1e-13]}
    exact = 2.0 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) - np.sqrt(G), 0.5)[0])
    errors = [abs(Flight(bead, 1.0 / n).run(n).joints.q[0] - exact) for n in (50, 100, 200)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("seed", [1, 7, 11])
def test_random_trees_converge_to_dormand_and_princes_motion_with_second_order(seed):
    made = random_tree(np.random.default_rng(seed), 6)
    exact = Flight(made, 0.25 / 50, INTEGRATORS["dopri5"]).run(50)
    errors = []
    for n in (50, 100, 200):
        flight = Flight(made, 0.25 / n).run(n)
        errors.append(np.abs(np.hstack([flight.bodies.x - exact.bodies.x, flight.bodies.v - exact.bodies.v])).max())
    assert errors[2] < errors[1] < errors[0]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.25)


def test_a_free_body_keeps_its_angular_momentum_and_precesses_with_second_order():
    body = {"name": "b", "mass": 2.0, "inertia": [0.1, 0.2, 0.3], "angular_velocity": [1.0, 2.0, -3.0]}
    made = {"scene": {"gravity": [0, 0, -G]}, "body": [body]}
    exact = Flight(made, 0.01, INTEGRATORS["dopri5"]).run(100)
    errors = []
    for n in (100, 200):
        flight = Flight(made, 1.0 / n)
        before = flight.bodies.L.copy()
        flight.run(n)
        np.testing.assert_allclose(flight.bodies.L, before, rtol=0, atol=1e-14)
        assert flight.bodies.x[0, 2] == pytest.approx(-0.5 * G, abs=1e-12)  # a parabola exactly
        errors.append(np.abs(flight.bodies.q - exact.bodies.q).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_floating_tree_keeps_its_momenta_to_rounding_in_time_stepping():
    made = without_forces(random_tree(np.random.default_rng(7), 8, floating=True))
    sim = Simulation(made, method="time_stepping", integrator="midpoint", h=0.01)
    before = np.array(sim.momentum())
    sim.run(until=1.0)
    np.testing.assert_allclose(sim.momentum(), before, rtol=0, atol=1e-12 * np.abs(before).max())


def test_a_chain_in_the_plane_never_gains_energy_however_far_its_joints_turn():
    """Twelve rods flung about without forces, a radian and more in a step. However far the rounds go, (1) holds along
    v_m to rounding: 1e-12 of the 4 kJ would be 1e-8 J. A step that loses more than ALLOWED_LOSS in (2) is cut."""
    made = Scene.from_dict(rods(12, length=0.3, angle=0.0, gravity=0.0))
    flight = Flight(made, 0.02)
    flight.joints.v[:] = 20.0 * np.random.default_rng(2).normal(size=12)
    place_links(flight.model, *flight.joints, flight.dense.flight.trees.work, flight.bodies)
    turned, pieces, energies = 0.0, [], [flight.energy.kinetic]
    for _ in range(300):
        q = flight.joints.q.copy()
        pieces.append(flight.step())
        energies.append(flight.energy.kinetic)
        turned = max(turned, np.abs(flight.joints.q - q).max())
    assert turned > 0.7
    assert max(np.diff(energies)) <= 1e-8
    assert max(pieces) < 1 / FINEST_FOR_LOSS
    assert (np.diff(energies) >= -ALLOWED_LOSS * np.array(pieces) * energies[:-1]).all()


def test_fifty_links_with_a_hundred_times_the_mass_at_the_end_swing_where_explicit_steps_fail():
    """h = 1/240: across the taut chain hω is beyond 2, where no explicit step is stable. What falls is 4.9 kJ."""
    scale = HEAVY * G * LINK * LINKS
    flight = Flight(heavy_chain(), 1.0 / 240.0)
    start = flight.energy.total
    for _ in range(3 * 240):
        assert flight.step() == 1
        assert abs(flight.energy.total - start) <= 1e-4 * scale
    for _ in range(7 * 240):  # it whips: 280 rad/s and more
        flight.step()
        assert flight.energy.total - start <= 1e-3 * scale
    assert flight.energy.total - start >= -0.2 * scale  # of steps that were not cut it would lose all
    assert np.abs(flight.bodies.x).max() <= LINK * LINKS + 1e-9
    explicit = Flight(heavy_chain(), 1.0 / 240.0, INTEGRATORS["rk4"]).run(2 * 240)
    assert not abs(explicit.energy.total - start) <= scale


def test_a_rod_that_comes_to_rest_in_a_step_is_not_cut_and_goes_back_the_way_it_came():
    """The rule is symmetric in time. (2) leaves next to no energy here, and loses most of it: that is no loss."""
    flight = Flight(rods(1, angle=20.0), 1.0 / 480.0)
    start = flight.joints.q[0]
    flight.step()
    flight.joints.v[:] *= -1.0
    place_links(flight.model, *flight.joints, flight.dense.flight.trees.work, flight.bodies)
    assert flight.step() == 1
    assert flight.joints.q[0] == pytest.approx(start, abs=1e-14)
    assert abs(flight.joints.v[0]) < 1e-14


def test_stiff_springs_and_dampers_of_joints_stay_quiet_at_any_step():
    """hω = 35, back and forth by a degree in each step, of which the end of the step keeps cos² of half of what it
    turned: all but 3e-4. A damper beside it takes the energy away."""
    k = 1e6
    made = rods(1, angle=1.0, gravity=0.0, spring={"stiffness": k, "position": 0.0})
    flight = Flight(made, 0.02)
    start = flight.energy.total
    energies = []
    for _ in range(300):
        energies.append(flight.energy.total)
        flight.step()
    assert max(np.diff(energies)) <= 1e-6 * start
    assert energies[-1] >= start * (1.0 - 3.1e-4) ** 300
    damped = Flight(rods(1, angle=1.0, gravity=0.0, spring={"stiffness": k, "position": 0.0}, damping=2e3), 0.02)
    damped.run(500)
    assert damped.energy.total < 1e-6 * start


def test_a_damped_spring_makes_the_damped_oscillation_with_second_order():
    k, c, inertia = 3.0, 0.4, 1.0 / 3.0
    made = rods(1, angle=30.0, gravity=0.0, spring={"stiffness": k, "position": 10.0}, damping=c)
    w0, decay = np.sqrt(k / inertia), c / (2 * inertia)
    w = np.sqrt(w0**2 - decay**2)
    x = np.exp(-2.0 * decay) * np.radians(20.0) * (np.cos(2.0 * w) + decay / w * np.sin(2.0 * w))
    errors = [abs(Flight(made, 2.0 / n).run(n).joints.q[0] - np.radians(10.0) - x) for n in (400, 800)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_the_ledger_of_a_swing_closes_and_drift_is_what_the_step_loses():
    sim = Simulation(heavy_chain(), method="time_stepping", integrator="midpoint", h=1.0 / 240.0)
    start = sim.energy().total
    sim.run(until=0.5)
    drift = sim.ledger["Numerical drift"][0]
    assert sim.energy().total - start == pytest.approx(drift, abs=1e-9 * HEAVY * G)
    assert abs(drift) <= 1e-4 * HEAVY * G * LINK * LINKS


def test_only_time_stepping_offers_it():
    sim = Simulation(Scene.from_dict(rods(1)), method="time_stepping", integrator="midpoint")
    with pytest.raises(ValueError, match="midpoint is implicit and works with the method time_stepping only"):
        Simulation(Scene.from_dict(rods(1)), method="event_driven", integrator="midpoint")
    sim.set(method="event_driven")
    assert sim.settings.integrator in INTEGRATORS
    with pytest.raises(SceneError, match="only time_stepping solves its stages"):
        Scene.from_dict(rods(1) | {"solver": {"method": "compliant", "integrator": "midpoint"}})
