"""Joints in maximal coordinates where forces are accelerations: event_driven and compliant against the same mechanisms
in generalized coordinates, loops that close trees, and reference cases. g = 9.81."""

import numpy as np
import pytest
from joint_scenes import as_trees, ball_chain, bricard, falling_pair, four_bars, hinge, point_pendulum, rod, scene
from test_event_driven_trees import gaps_and_equations
from tree_scenes import random_tree

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods import CURES
from contactlab.physics.methods.event_driven.step import EventDriven


def both(tables):
    """The scene in generalized coordinates and in maximal ones."""
    made = Scene.from_dict(tables)
    return made.with_coordinates("generalized"), made.with_coordinates("maximal")


def ball_on_every_link(seed, links=5) -> dict:
    """A random tree on the world with a ball on every link, and a rotor in every joint that moves."""
    tables = random_tree(np.random.default_rng(seed), links, floating=False).tables.model_dump(exclude_none=True)
    for body in tables["body"]:
        body["shape"] = [{"type": "sphere", "radius": 0.05}]
    for joint in tables["joint"]:
        joint |= {"damping": 0.3}
        if joint["type"] in ("hinge", "slider", "universal"):
            joint["spring"] = {"stiffness": 2.0, "position": [0.2] * (2 if joint["type"] == "universal" else 1)}
    return tables


@pytest.mark.parametrize("seed", range(6))
def test_contact_equations_are_those_of_generalized_coordinates(seed):
    """M, d, u of all pairs of balls, springs and dampers in every joint: 1e-10 of the largest."""
    found = []
    for made in both(ball_on_every_link(seed)):
        setup = made.build()
        method, balls = EventDriven(setup.model), len(EventDriven(setup.model).surface.meets)
        frozen = gaps_and_equations(method, setup.state)[1]
        found.append((frozen.M[: 3 * balls, : 3 * balls], frozen.d[: 3 * balls], frozen.u[: 3 * balls]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-10 * (1.0 + np.abs(one).max()))


@pytest.mark.parametrize("method", ("event_driven", "compliant"))
@pytest.mark.parametrize("seed", (1, 2))
def test_a_tree_moves_alike_in_both_coordinates(seed, method):
    """dopri5 with its local error at 1e-12: after 0.3 s the same poses, to what errors grow to."""
    ends = []
    for made in both(ball_on_every_link(seed)):
        sim = Simulation(made, method=method, integrator="dopri5", h=1 / 60)
        sim.run(until=0.3)
        ends.append((sim.state.bodies.x.copy(), sim.energy().total))
        assert sim.info.joint_error < 1e-11
    np.testing.assert_allclose(ends[1][0], ends[0][0], rtol=0, atol=1e-9)
    assert ends[1][1] == pytest.approx(ends[0][1], abs=1e-9)


def test_a8_four_bars_pass_their_singular_positions():
    """A8: IFToMM's N-four-bar for 10 s. At ten passages through level cranks the rank of the joints falls by two. Links
    stay parallel to 1e-6, the energy within 1e-6 J; θ(10), B₀(10) and θ'(10) are those of the motion of one degree of
    freedom, 3 θ'' = -3.5 g cos θ, to 1e-6: an energy error of 1e-8 J changes a passage over the top, of 0.3 s, by as
    much a part."""
    sim = Simulation(Scene.from_dict(four_bars()), method="event_driven", integrator="dopri5", h=1 / 20)
    first, energy, apart, joints, turned = sim.energy().total, 0.0, 0.0, 0.0, np.pi / 2
    while sim.time < 10.0 - 1e-9:
        sim.step()
        energy = max(energy, abs(sim.energy().total - first))
        joints = max(joints, sim.info.joint_error)
        cranks = [2 * np.arctan2(q[2], q[0]) for q in (sim.orientation(f"crank {i}") for i in range(3))]
        level = [2 * np.arctan2(q[2], q[0]) for q in (sim.orientation(f"coupler {i}") for i in range(2))]
        off = np.angle(np.exp(1j * np.array([*np.subtract(cranks, cranks[0]), *level])))
        apart = max(apart, np.abs(off).max())
        now = np.pi / 2 - cranks[0]
        turned += np.angle(np.exp(1j * (now - turned)))  # less than half a turn a step
    assert apart < 1e-6 and energy < 1e-6 and joints < 1e-12
    assert turned == pytest.approx(-30.179800860183718, abs=1e-6)
    np.testing.assert_allclose(2.0 * sim.position("crank 0")[[0, 2]], [0.32845811153374377, 0.9445185381810601],
                               rtol=0, atol=1e-6)
    assert -sim.angular_velocity("crank 0")[1] == pytest.approx(-1.5066421808214938, abs=1e-6)


def test_a9_bricard_moves_though_its_joints_are_redundant():
    """A9: IFToMM's Bricard mechanism for 10 s: six hinges leave -1 degrees of freedom by count, one in fact. Energy to
    1e-5 J of the 60 it swings by, joints closed to 1e-6."""
    sim = Simulation(Scene.from_dict(bricard()), method="event_driven", integrator="dopri5", h=1 / 20)
    first, energy, joints, kinetic = sim.energy().total, 0.0, 0.0, []
    while sim.time < 10.0 - 1e-9:
        sim.step()
        energy = max(energy, abs(sim.energy().total - first))
        joints = max(joints, sim.info.joint_error)
        kinetic.append(sim.energy().kinetic)
    assert max(kinetic) > 60.0 and min(kinetic) < 1.0
    assert energy < 1e-5 and joints < 1e-6


def test_a7a_pendulum_through_a_constraint():
    """A7 (a): a rod with c² + I/m = c, c = ½ m, swings as a point at 1 m: Siconos' pendulum from 60 degrees, t = 10 s.
    """
    tables, angle = point_pendulum(60.0), np.radians(60.0)
    tables["body"][0] |= {"inertia": [0.25] * 3, "position": [0.5 * np.sin(angle), 0.0, -0.5 * np.cos(angle)]}
    sim = Simulation(Scene.from_dict(tables), method="event_driven", integrator="dopri5", h=1 / 20)
    sim.run(until=10.0)
    wanted = [-0.6066684959217783, -0.7949549270593945]
    np.testing.assert_allclose(2.0 * sim.position("bob")[[0, 2]], wanted, rtol=0, atol=1e-9)
    assert sim.info.joint_error < 1e-11


def test_a10b_ten_rods_fall():
    """A10 (b): ten rods of 0.1 m let go level, joints in maximal coordinates: the tip to 1e-7. The rods have 1e-3 of
    their inertia about their own axis, which does not turn."""
    rods = [rod(f"rod {i}", (0.1 * i, 0, 0), (0.1 * i + 0.1, 0, 0), 0.1) for i in range(10)]
    joints = [hinge(f"rod {i - 1}" if i else "world", f"rod {i}", (0.1 * i, 0, 0)) for i in range(10)]
    sim = Simulation(Scene.from_dict(scene(rods, joints)), method="event_driven", integrator="dopri5", h=1 / 20)
    for t, tip in ((0.2, (0.935434876580348, -0.1961838249275597)), (0.4, (0.4614509247813434, -0.7771614709669126))):
        sim.run(until=t)
        w, _, y, _ = sim.orientation("rod 9")
        angle = -2.0 * np.arctan2(y, w)
        end = sim.position("rod 9")[[0, 2]] + 0.05 * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(end, tip, rtol=0, atol=1e-7)
        assert abs(sim.energy().total) < 1e-9 and sim.info.joint_error < 1e-12


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
@pytest.mark.parametrize("kind", ("slider", "hinge"))
def test_a12_spring_joints_are_damped_oscillators(kind, coordinates):
    """A12: f = 2 Hz, ζ = 0.1 from 10 m or 100 degrees for 2 s: the closed form to 1e-9 of the amplitude."""
    omega, zeta = 2 * np.pi * 2.0, 0.1
    joint = hinge("world", "body", (0, 0, 0), (0, 0, 1), spring={"stiffness": omega**2}, damping=2 * zeta * omega,
                  position=10.0 if kind == "slider" else 100.0, coordinates=coordinates) | {"type": kind}
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    sim = Simulation(Scene.from_dict(scene([body], [joint], (0, 0, 0))), method="event_driven", integrator="dopri5",
                     h=1 / 20)
    x0, wd = 10.0 if kind == "slider" else np.radians(100.0), omega * np.sqrt(1 - zeta**2)
    for t in (0.1, 0.7, 2.0):
        sim.run(until=t)
        at = sim.position("body")[2] if kind == "slider" else 2 * np.arctan2(*sim.orientation("body")[[3, 0]])
        exact = x0 * np.exp(-zeta * omega * t) * (np.cos(wd * t) + zeta * omega / wd * np.sin(wd * t))
        assert at == pytest.approx(exact, abs=1e-9 * x0)


def test_f3_a_chain_under_a_thousandfold_mass_moves_alike_in_both_coordinates():
    """F3: 15 balls and one of 1000 times their mass on ball joints fall from level for 0.4 s: joints within 1e-9 m, the
    energy to 1e-9 of what falls, and every ball where joint coordinates have it to 1e-9 m."""
    ends = []
    for made in both(ball_chain()):
        sim = Simulation(made, method="event_driven", integrator="dopri5", h=1 / 20)
        sim.run(until=0.4)
        scale = sim.model.mass[-1] * 9.81 * 8.2
        assert sim.energy().kinetic > 0.05 * scale and abs(sim.energy().total) < 1e-9 * scale
        ends.append(sim.state.bodies.x.copy())
        along = np.linalg.norm(np.diff(ends[-1][:15], axis=0), axis=1)
        assert (along < 0.4 + 1e-9).all() and sim.info.joint_error < 1e-9
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("method", "integrator", "order"), [
    ("event_driven", "heun", 2), ("event_driven", "rk4", 4), ("time_stepping", "rk4", 2)])
def test_motions_in_both_coordinates_become_one_as_steps_get_short(method, integrator, order):
    """A random tree with springs and dampers for 0.2 s: the poses differ by O(h^p)."""
    apart = []
    for rate in (60, 120, 240):
        ends = []
        for made in both(ball_on_every_link(1)):
            sim = Simulation(made, method=method, integrator=integrator, h=1 / rate)
            sim.run(until=0.2)
            ends.append(sim.state.bodies.x.copy())
        apart.append(np.abs(ends[1] - ends[0]).max())
    assert min(np.log2(np.divide(apart[:-1], apart[1:]))) > order - 0.4, apart


@pytest.mark.parametrize("integrator", ("heun", "rk4"))
def test_steps_of_fixed_length_pass_singular_positions(integrator):
    """The four-bars and Bricard's mechanism for 3 s: steps are halved where the constraint forces of their stages have
    nothing to do with one another, and the energy stays within a thousandth of what swings, 69 and 63 J. A stage close
    to a singular position would else give it any value."""
    for made in (four_bars(), bricard()):
        sim = Simulation(Scene.from_dict(made), method="event_driven", integrator=integrator, h=1 / 240)
        first = sim.energy().total
        while sim.time < 3.0:
            sim.step()
            assert abs(sim.energy().total - first) < 0.063 and sim.info.joint_error < 1e-12


@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_drift_without_a_cure_and_with_one(method):
    """A pin that begins a millimetre apart: C̈ = 0 leaves it so, Baumgarte's C̈ + 2 α Ċ + α² C = 0 with α = 0.2/h makes
    of it C (1 + α t) e^(-α t), and projection nothing. RK4, and its drift of 1e-6 beside."""
    left = {}
    for cure in CURES:
        tables = point_pendulum(60.0, joint_cure=cure)
        tables["body"][0] |= {"inertia": [0.25] * 3}
        sim = Simulation(Scene.from_dict(tables), method=method, integrator="rk4", h=1 / 60)
        sim.state.bodies.x[0] += [1e-3, 0.0, 0.0]
        for _ in range(12):
            sim.step()
        left[cure] = sim.info.joint_error
    assert left["none"] == pytest.approx(1e-3, abs=1e-5)
    assert left["baumgarte"] == pytest.approx(1e-3 * 3.4 * np.exp(-2.4), abs=2e-6)
    assert left["projection"] < 1e-11


@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_a_loop_may_be_closed_by_a_tree(method):
    """The four-bars with cranks and couplers as trees, the last pins as constraints on links: the same motion as with
    all joints as constraints, and closed to 1e-12."""
    ends, velocities = [], []
    tables = four_bars(speed=0.0)
    tables["scene"]["gravity"] = [3.0, 0.0, -9.81]
    for made in (as_trees(tables), tables):
        sim = Simulation(Scene.from_dict(made), method=method, integrator="dopri5", h=1 / 60)
        sim.run(until=0.3)
        ends.append(sim.state.bodies.x.copy())
        velocities.append(len(sim.state.joints.v))
        assert sim.info.joint_error < 1e-12
    assert velocities == [5, 0]
    assert np.abs(ends[0] - Scene.from_dict(tables).build().state.bodies.x).max() > 0.05
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-10)


def test_impacts_and_contact_forces_are_those_of_generalized_coordinates():
    """Events of the same kinds at the same times, impulses at contacts and through the hinge, and resting forces."""
    runs = []
    for coordinates in ("generalized", "maximal"):
        sim = Simulation(Scene.from_dict(falling_pair(coordinates)), method="event_driven", integrator="dopri5",
                         h=1 / 60)
        sim.run(until=0.5)
        runs.append(sim)
    tree, held = runs
    impacts = [[e for e in sim.events if e.kind == "impact"] for sim in runs]
    assert [e.kind for e in tree.events] == [e.kind for e in held.events] and len(impacts[0]) > 3
    for one, other in zip(*impacts, strict=True):
        assert other.t == pytest.approx(one.t, abs=1e-9)
        np.testing.assert_allclose(other.impulse, one.impulse, rtol=0, atol=1e-8)
        assert len(one.joints) == len(other.joints) == 1
        np.testing.assert_allclose(other.joints[0].impulse, one.joints[0].impulse, rtol=0, atol=1e-8)
        np.testing.assert_allclose(other.joints[0].point, one.joints[0].point, rtol=0, atol=1e-8)
    np.testing.assert_allclose(held.state.bodies.x, tree.state.bodies.x, rtol=0, atol=1e-7)
    for sim in runs:
        drift = sim.ledger["Numerical drift"]
        assert np.abs(drift[:4]).max() < 1e-9


def with_limits(seed) -> dict:
    """A random tree with limits in every joint that they can have."""
    tables = ball_on_every_link(seed, 4)
    for joint in tables["joint"]:
        limits = {"hinge": [-170.0, 170.0], "slider": [-9.0, 9.0], "universal": [[-170.0, 170.0]] * 2, "ball": 170.0}
        if joint["type"] in ("hinge", "universal"):
            joint["position"] = (30.0 * np.tanh(joint["position"])).tolist()
        if joint["type"] in limits:
            joint["limits"] = limits[joint["type"]]
    return tables


@pytest.mark.parametrize("seed", (1, 2, 3, 4))
def test_limits_have_the_equations_of_generalized_coordinates(seed):
    """φ, ζ, ζ̇ and M of all limits, hinges, sliders, universal and ball joints among them."""
    found = []
    for made in both(with_limits(seed)):
        setup = made.build()
        method = EventDriven(setup.model)
        balls, limits = len(method.surface.meets), method.surface.limits
        order = balls + np.lexsort((limits.side, limits.axis, limits.joint))
        gap, frozen = gaps_and_equations(method, setup.state)
        found.append((gap[order], frozen.u[3 * order], frozen.d[3 * order], frozen.M[np.ix_(3 * order, 3 * order)]))
    assert len(found[0][0]) > 0
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * (1.0 + np.abs(one).max()))


@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_a_rod_bounces_between_its_limits_alike_in_both_coordinates(method):
    ends = []
    for coordinates in ("generalized", "maximal"):
        tables = point_pendulum(0.0)
        tables["body"][0] |= {"inertia": [0.1] * 3}
        tables["joint"][0] |= {"limits": [-20.0, 30.0], "restitution": 0.5, "coordinates": coordinates,
                               "velocity": 3.0}
        sim = Simulation(Scene.from_dict(tables), method=method, integrator="dopri5", h=1 / 60)
        sim.run(until=1.0)
        assert sum(event.kind == "impact" for event in sim.events) >= 2 or method == "compliant"
        assert abs(sim.ledger["Numerical drift"][0]) < 1e-8
        ends.append(np.array([*sim.position("bob"), sim.energy().total]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_a_motor_keeps_its_speed_against_gravity(method, coordinates):
    """A rod driven at 2 rad/s: its angle is that of a clock, and the ledger has the motor's work."""
    tables = point_pendulum(0.0)
    tables["body"][0] |= {"inertia": [0.1] * 3}
    tables["joint"][0] |= {"motor": {"speed": 2.0}, "coordinates": coordinates}
    sim = Simulation(Scene.from_dict(tables), method=method, integrator="rk4", h=1 / 60)
    sim.run(until=1.0)
    assert np.arctan2(*(sim.position("bob")[[0, 2]] * [1, -1])) == pytest.approx(2.0, abs=1e-6)
    rise = 9.81 * (1.0 - np.cos(2.0))
    assert sim.ledger["Joints and motors"][0] == pytest.approx(rise + 0.5 * 1.1 * 4.0, abs=1e-5)
