"""Motors that seek a speed with a limit of their torque, and rotors, in all methods and both coordinates. g = 9.81."""

import numpy as np
import pytest
from joint_scenes import as_trees, four_bars, hinge, rod, scene
from scipy.integrate import solve_ivp
from tree_scenes import random_tree

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods import CURES

COORDINATES = ("generalized", "maximal")
METHODS = ("event_driven", "compliant", "time_stepping")
MOMENT = 0.35  # of the arm about its hinge [kg m2]


def flywheel(coordinates, **joint):
    """A wheel of 0.4 kg m2 on an upright axle."""
    wheel = {"name": "wheel", "position": [0, 0, 0], "mass": 2.0, "inertia": [0.3, 0.3, 0.4],
             "shape": [{"type": "sphere", "radius": 0.1}]}
    return Scene.from_dict(scene([wheel], [hinge("world", "wheel", (0, 0, 0), (0, 0, 1), coordinates=coordinates,
                                                 **joint)]))


def arm(coordinates, motor, armature=0.0, **solver):
    """A rod of 1 kg whose centre of mass hangs 0.5 m below a hinge about y."""
    body = {"name": "arm", "position": [0.0, 0.0, -0.5], "mass": 1.0, "inertia": [0.1, 0.1, 0.02],
            "shape": [{"type": "sphere", "radius": 0.05}]}
    joint = hinge("world", "arm", (0, 0, 0), (0, 1, 0), coordinates=coordinates, motor=motor, armature=armature)
    return Scene.from_dict(scene([body], [joint], **solver))


def motor_of(sim):
    (found,) = sim.info.motors
    return found


# ------------------------------------------------------------------------------------------------- one motor
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
def test_a_motor_spins_a_wheel_up_at_its_limit_and_holds_the_speed(method, coordinates):
    """ω = τ t/I until ω = s at t = I s/τ; the ledger has ½ I s². Forces of compliant close in on s within a step, which
    costs τ s h; time_stepping is exact to the projection's error h² ω² of J."""
    h = 1 / 50
    sim = Simulation(flywheel(coordinates, motor={"speed": 2.0, "limit": 0.45}), method=method, h=h)
    sim.run(until=1.0)
    assert sim.angular_velocity("wheel")[2] == pytest.approx(1.125, rel=1e-3 if method == "time_stepping" else 1e-6)
    assert not motor_of(sim).holds and motor_of(sim).force == pytest.approx(0.45, rel=1e-9)
    sim.run(until=2.0)
    assert motor_of(sim).holds and abs(motor_of(sim).force) < 1e-3
    errors = {"event_driven": (1e-9, 1e-6), "compliant": (1e-4, 0.45 * 2.0 * h), "time_stepping": (2e-3, 1e-2)}
    speed, work = errors[method]
    assert sim.angular_velocity("wheel")[2] == pytest.approx(2.0, abs=speed)
    assert sim.ledger["Joints and motors"][0] == pytest.approx(0.8, abs=work)
    if method == "event_driven":
        (event,) = sim.events
        assert event.kind == "motor_holds" and event.t == pytest.approx(0.4 * 2.0 / 0.45, abs=1e-6)


def overloaded(tau, until):
    """Angle, speed and events of the arm with a motor of speed 2 and limit 3, by scipy."""
    weight = 9.81 * 0.5

    def torque_to_hold(t, y):
        return tau - abs(weight * np.sin(y[0]))

    def reached(t, y):
        return y[1] - 2.0

    reached.terminal = torque_to_hold.terminal = True
    tight = {"rtol": 1e-12, "atol": 1e-13}
    up = solve_ivp(lambda t, y: [y[1], (tau - weight * np.sin(y[0])) / MOMENT], (0.0, until), [0.0, 0.0],
                   events=reached, **tight)
    held = solve_ivp(lambda t, y: [2.0, 0.0], (up.t[-1], until), [up.y[0, -1], 2.0], events=torque_to_hold, **tight)
    down = solve_ivp(lambda t, y: [y[1], (tau - weight * np.sin(y[0])) / MOMENT], (held.t[-1], until), held.y[:, -1],
                     **tight)
    return *down.y[:, -1], up.t[-1], held.t[-1]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
def test_an_overloaded_motor_lets_its_arm_sink(method, coordinates):
    """Up to speed, held, and given in where sin θ = τ/(m g l): scipy's events and motion. compliant errs by what it
    lags behind, (s h)², time_stepping by its order in h."""
    h, until = 1 / 100, 0.9
    angle, speed, starts, ends = overloaded(3.0, until)
    sim = Simulation(arm(coordinates, {"speed": 2.0, "limit": 3.0}), method=method, integrator="rk4", h=h)
    sim.run(until=until)
    x, _, z = sim.position("arm")
    enough = {"event_driven": 1e-7, "compliant": 4e-4, "time_stepping": 4e-3}[method]
    assert np.arctan2(-x, -z) == pytest.approx(angle, abs=enough)
    assert sim.angular_velocity("arm")[1] == pytest.approx(speed, abs=10.0 * enough)
    assert motor_of(sim).force == pytest.approx(3.0, rel=1e-9) and not motor_of(sim).holds
    if method == "event_driven":
        assert [e.kind for e in sim.events] == ["motor_holds", "motor_gives_in"]
        np.testing.assert_allclose([e.t for e in sim.events], [starts, ends], rtol=0, atol=1e-7)
        assert abs(sim.ledger["Numerical drift"][0]) < 1e-6


@pytest.mark.parametrize("cure", CURES)
@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_a_motor_holds_under_every_cure_of_the_joints(method, cure):
    """Its speed is kept whatever is done against drift."""
    sim = Simulation(arm("maximal", {"speed": 2.0, "limit": 30.0}), method=method, integrator="rk4", h=1 / 50)
    sim.set(joint_cure=cure)
    sim.run(until=1.0)
    assert motor_of(sim).holds and motor_of(sim).speed == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_a_brake_is_dry_friction(method, coordinates):
    """A motor of speed 0 stops the wheel after I ω/τ and turns all it had into work: -½ I ω²."""
    made = flywheel(coordinates, motor={"speed": 0.0, "limit": 0.8}, velocity=3.0)
    sim = Simulation(made, method=method, integrator="dopri5", h=1 / 60)
    sim.run(until=1.0)
    assert sim.angular_velocity("wheel")[2] == pytest.approx(3.0 - 0.8 / 0.4, abs=1e-9)
    sim.run(until=1.6)
    assert abs(sim.angular_velocity("wheel")[2]) < (1e-9 if method == "event_driven" else 1e-6)
    assert sim.ledger["Joints and motors"][0] == pytest.approx(-0.5 * 0.4 * 9.0, abs=1e-8)


# ------------------------------------------------------------------------------------------- impacts and contacts
def two_links(coordinates, first, second):
    """An arm of two links above a floor, motors in shoulder and elbow."""
    upper = rod("upper", (0, 0, 1), (0.5, 0, 1))
    lower = rod("lower", (0.5, 0, 1), (1.0, 0, 1), mass=0.5, shape=[{"type": "sphere", "radius": 0.05,
                                                                     "position": [0.2, 0, 0]}])
    floor = {"name": "floor", "fixed": True, "position": [0, 0, 0.6], "shape": [{"type": "plane"}]}
    joints = [hinge("world", "upper", (0, 0, 1), (0, 1, 0), coordinates=coordinates, **first),
              hinge("upper", "lower", (0.5, 0, 1), (0, 1, 0), coordinates=coordinates, **second)]
    return Scene.from_dict(scene([floor, upper, lower], joints)
                           | {"material": {"default": {"restitution": 0.5, "friction": 0.4}}})


def test_motors_with_a_limit_give_no_impulse():
    """The first impact is that of the same arm, at the same speeds, without motors: a bounded torque has no impulse."""
    made = two_links("generalized", {"motor": {"speed": 1.0, "limit": 12.0}}, {"motor": {"speed": 0.0, "limit": 2.0}})
    sim = Simulation(made, method="event_driven", integrator="rk4", h=1 / 100)
    while not any(e.kind == "impact" for e in sim.events):
        before = sim.save()
        sim.step()
    impact = next(e for e in sim.events if e.kind == "impact")
    bare = Simulation(two_links("generalized", {"motor": {"torque": 0.0}}, {}), method="event_driven",
                      integrator="rk4", h=1e-5)
    sim.restore(before)
    sim.set(h=impact.t - sim.time - 1e-9)
    sim.step()
    bare.state.joints.q[:], bare.state.joints.v[:] = sim.state.joints
    while not bare.events:
        bare.step()
    assert bare.events[0].kind == "impact"
    np.testing.assert_allclose(bare.events[0].impulse, impact.impulse, rtol=0, atol=1e-5 * np.abs(impact.impulse).max())


@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_motors_and_contacts_act_together_alike_in_both_coordinates(method):
    """Two motors drive an arm to the floor: impacts, slip and rest, motors that give in and take hold again."""
    ends = []
    for coordinates in COORDINATES:
        made = two_links(coordinates, {"motor": {"speed": 1.0, "limit": 12.0}}, {"motor": {"speed": 0.0, "limit": 2.0}})
        sim = Simulation(made, method=method, integrator="rk4", h=1 / 100)
        sim.run(until=0.5)
        ends.append(np.concatenate([sim.position("lower"), sim.angular_velocity("lower")]))
        kinds = {e.kind for e in sim.events}
        assert method == "compliant" or {"impact", "motor_holds", "motor_gives_in"} <= kinds
        if method == "event_driven":
            assert abs(sim.ledger["Numerical drift"][0]) < 1e-6
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ("event_driven", "time_stepping"))
def test_a_stalled_motor_presses_with_its_limit(method, coordinates):
    """An arm of 1 m and 1 kg whose tip is held down on the floor: force at the tip = m g/2 + τ/l."""
    tip = [{"type": "sphere", "radius": 0.05, "position": [0.5, 0, 0]}]
    floor = {"name": "floor", "fixed": True, "position": [0, 0, -0.05], "shape": [{"type": "plane"}]}
    joint = hinge("world", "arm", (0, 0, 0), (0, 1, 0), coordinates=coordinates, motor={"speed": 3.0, "limit": 2.5})
    made = scene([floor, rod("arm", (0, 0, 0), (1, 0, 0), shape=tip)], [joint])
    made["material"] = {"default": {"restitution": 0.0, "friction": 0.0}}
    h = 1 / 100
    sim = Simulation(Scene.from_dict(made), method=method, integrator="rk4", h=h)
    sim.run(until=0.2)
    assert sim.contacts.impulse.sum(axis=0)[2] / h == pytest.approx(0.5 * 9.81 + 2.5, rel=1e-6)
    assert motor_of(sim).force == pytest.approx(2.5, rel=1e-9) and not motor_of(sim).holds


@pytest.mark.parametrize("method", METHODS)
def test_a_motor_drives_a_closed_loop(method):
    """A four-bar driven at its first crank, the loop as constraints and as a tree with a closing pin: up to speed and
    then held, alike."""
    ends = []
    for close in (as_trees, lambda tables: tables):
        tables = four_bars(n=1, speed=0.0)
        tables["joint"][0] |= {"motor": {"speed": 2.0, "limit": 15.0}}
        sim = Simulation(Scene.from_dict(close(tables)), method=method, integrator="rk4", h=1 / 100)
        sim.run(until=0.4)
        assert motor_of(sim).holds and motor_of(sim).speed == pytest.approx(2.0, abs=2e-3)
        assert sim.info.joint_error < 1e-11
        ends.append(sim.position("coupler 0"))
    enough = {"event_driven": 1e-6, "compliant": 1e-4, "time_stepping": 1e-3}[method]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=enough)


# ------------------------------------------------------------------------------------------------- rotors
def test_a_rotor_slows_a_wheel_as_its_inertia_says():
    """ω = τ t/(I + I_r) in every method and both coordinates, and the energy is ½ (I + I_r) ω²."""
    for method in METHODS:
        for coordinates in COORDINATES:
            made = flywheel(coordinates, motor={"torque": 0.5}, armature=0.6)
            sim = Simulation(made, method=method, integrator="rk4", h=1 / 50)
            sim.run(until=1.0)
            enough = 1e-3 if method == "time_stepping" else 1e-6
            assert sim.angular_velocity("wheel")[2] == pytest.approx(0.5, rel=enough), (method, coordinates)
            assert sim.energy().total == pytest.approx(0.125, rel=2.0 * enough), (method, coordinates)


@pytest.mark.parametrize("kind", ("hinge", "slider", "universal", "ball"))
def test_rotors_in_time_stepping_come_to_the_same_motion(kind):
    """Three links of one type with heavy rotors against the same tree in generalized coordinates (event_driven): the
    error at least halves with the step."""
    drawn = random_tree(np.random.default_rng(3), 3, types=(kind,), floating=False)
    tables = drawn.tables.model_dump(exclude_none=True)
    for joint in tables["joint"]:
        joint["armature"] = 0.3
    made = Scene.from_dict(tables)
    exact = Simulation(made.with_coordinates("generalized"), method="event_driven", integrator="rk4", h=1 / 200)
    exact.run(until=0.1)
    errors = []
    for h in (1 / 100, 1 / 200):
        sim = Simulation(made.with_coordinates("maximal"), method="time_stepping", h=h)
        sim.run(until=0.1)
        errors.append(np.abs(sim.state.bodies.x - exact.state.bodies.x).max())
    assert errors[1] < 0.6 * errors[0] + 1e-12 and errors[0] < 1e-4


def test_a_rotor_between_free_bodies_keeps_energy_and_momenta():
    """Two bodies that turn about a common axle, with a rotor, far from anything: E, p and L stay."""
    bodies = [{"name": name, "position": [0, 0, z], "mass": m, "inertia": list(moments),
               "angular_velocity": [0.3, -0.2, w], "velocity": [0.3 * 0 - 0.2 * z, -0.3 * z, 0.0]}
              for name, z, m, moments, w in (("stator", -0.2, 2.0, (0.2, 0.3, 0.25), 1.0),
                                             ("rotor", 0.3, 1.0, (0.1, 0.1, 0.15), -4.0))]
    made = Scene.from_dict(scene(bodies, [hinge("stator", "rotor", (0, 0, 0), (0, 0, 1), armature=0.2)], (0, 0, 0)))
    for method in ("event_driven", "compliant"):
        sim = Simulation(made, method=method, integrator="dopri5", h=1 / 60)
        sim.step()  # velocities that the joint does not allow end at once
        energy, momenta = sim.energy().total, sim.momentum()
        sim.run(until=1.0)
        assert sim.energy().total == pytest.approx(energy, rel=1e-9)
        np.testing.assert_allclose(sim.momentum(), momenta, rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------- the mouse, and given motion
@pytest.mark.parametrize("turn", (False, True))
@pytest.mark.parametrize("method", ("event_driven", "compliant"))
def test_the_mouse_feels_the_same_mechanism_in_both_coordinates(method, turn):
    """A chain of three rods, pulled and turned at the second one: the same way in 0.2 s, but for what the joints'
    cure does to momenta in a step."""
    ends = []
    for coordinates in COORDINATES:
        bodies = [rod(f"rod {i}", (0.5 * i, 0, 0), (0.5 * i + 0.5, 0, 0)) for i in range(3)]
        joints = [hinge(f"rod {i - 1}" if i else "world", f"rod {i}", (0.5 * i, 0, 0), coordinates=coordinates)
                  for i in range(3)]
        sim = Simulation(Scene.from_dict(scene(bodies, joints)), method=method, integrator="rk4", h=1 / 100)
        start = sim.position("rod 1")
        sim.grab("rod 1", np.array([0.9, 0, 0]), np.array([0.6, 0, 0.5]), turn)
        sim.run(until=0.2)
        assert np.linalg.norm(sim.position("rod 1") - start) > 0.1
        ends.append(np.concatenate([sim.position("rod 1"), sim.position("rod 2")]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_limit_against_a_driven_parent_is_booked_as_given_motion(method):
    """A slide shaken as -A cos Ωt takes a block along at its stop for a quarter of a period: the drive has done
    ½ m (A Ω)², and the ledger knows it. time_stepping pushes in the middle of its steps, between the speeds at their
    ends, whose mean is less than that in the middle by (Ω h)²/8: twice that of the energy."""
    slide = {"name": "slide", "kinematic": True, "position": [0, 0, 0],
             "motion": {"amplitude": [0.2, 0, 0], "frequency": 1.0, "phase": -0.5 * np.pi}}
    block = {"name": "block", "position": [-0.2, 0, 0], "mass": 2.0, "inertia": [0.1] * 3}
    joint = hinge("slide", "block", (-0.2, 0, 0), (1, 0, 0), limits=[0.2, 0.7]) | {"type": "slider"}  # 0: as drawn
    made = Scene.from_dict(scene([slide, block], [joint], (0, 0, 0)))
    sim = Simulation(made, method=method, integrator="dopri5", h=1 / 200)
    sim.run(until=0.25)
    work = 0.5 * 2.0 * (0.2 * 2.0 * np.pi) ** 2
    books = sim.ledger
    if method == "compliant":  # the stop gives by less than a millimetre
        assert books["Driven bodies"][0] == pytest.approx(work, rel=2e-2)
    else:
        tolerance = 1e-6 if method == "event_driven" else (2.0 * np.pi / 200) ** 2 / 4.0
        assert books["Driven bodies"][0] == pytest.approx(work, rel=tolerance)
    assert abs(books["Numerical drift"][0]) < (1e-8 if method != "time_stepping" else 1e-2) * work


def test_the_mouse_cannot_move_a_point_on_the_axis():
    """A motor turns a body about its centre, another hangs on it by a pin: pulled at the centre, where nothing answers,
    both move as if nobody pulled."""
    ends = [rod(name, (k, 0.0, 0.0), (k + 1.0, 0.0, 0.0)) for k, name in enumerate("ab")]
    joints = [hinge("world", "a", (0.5, 0.0, 0.0), coordinates="generalized", motor={"speed": 2.0}),
              {"type": "ball", "parent": "a", "child": "b", "anchor": [1.0, 0.0, 0.0], "coordinates": "maximal"}]
    pulled, free = (Simulation(Scene.from_dict(scene(ends, joints)), method="time_stepping") for _ in range(2))
    pulled.grab("a", (0.5, 0.0, 0.0), (0.0, 0.0, 3.0))
    for _ in range(10):
        pulled.step()
        free.step()
        assert np.abs(pulled.state.bodies.x - free.state.bodies.x).max() <= 1e-12
