"""Mechanisms in maximal coordinates, by time stepping: reference cases and laws. g = 9.81."""

import numpy as np
import pytest
from joint_scenes import as_trees, ball_chain, bricard, four_bars, hinge, point_pendulum, rod, scene, slider_crank

from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.methods import CURES
from contactlab.physics.simulation.alarm import cause

H = 1.0 / 240.0
PENDULUM_PERIOD = 2.367841947576237  # A7 (b), released from horizontal


def run(tables, until, **settings):
    """The simulation, and of every step: time, energy, joint error."""
    sim = Simulation(Scene.from_dict(tables), **settings)
    log = [(0.0, sim.energy().total, 0.0)]
    while sim.time < until - 0.5 * sim.settings.h:
        sim.step()
        log.append((sim.time, sim.energy().total, sim.info.joint_error))
    return sim, np.array(log)


def pendulum_angle(sim):
    x = sim.position("bob")
    return np.arctan2(x[0], -x[2])


# ------------------------------------------------------------------------------------------------ reference cases
def test_a7b_pendulum_through_a_constraint():
    """A7 (b): IFToMM A01 by elliptic functions: phase error < 0.5 % of a period after 10 s, joint within 1e-4 m."""
    sim, log = run(point_pendulum(), 10.0)
    error = pendulum_angle(sim) - 0.2786806735699831
    speed = np.linalg.norm(sim.velocity("bob"))
    assert abs(error) / speed < 0.005 * PENDULUM_PERIOD
    assert log[:, 2].max() < 1e-12
    assert np.abs(log[:, 1]).max() < 1e-4 * 9.81


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("share", [1e-9, 1e-10, 1e-11, 1e-12])
def test_a_joint_holds_bodies_of_hardly_any_inertia(method, share):
    """A mass on an arm l that slants against all axes, I = share · m l²: with share → 0 as with share = 1e-6. Of 1/m
    beside l²/I rounding leaves a part ε/share of the reaction open, and of a way below ½ g t² as much."""
    ends = []
    for part in (1e-6, share):
        bob = {"name": "bob", "position": [0.8, 0.0, -0.6], "mass": 1.0, "inertia": [part] * 3}
        sim, log = run(scene([bob], [hinge("world", "bob", (0, 0, 0))]), 0.5, method=method, integrator="rk4")
        assert log[:, 2].max() < 1e-12
        ends.append(sim.position("bob"))
    assert ends[1] == pytest.approx(ends[0], abs=0.5 * 9.81 * 0.25 * (1e-6 + 10.0 * 2.0**-52 / share))


def test_inertia_that_rounding_would_lose_is_refused_but_in_generalized_coordinates():
    tables = point_pendulum()
    tables["body"][0]["inertia"] = [1e-13] * 3
    says = r"body\[0\].inertia is 1e-13 times .* of its arm at a joint; it must be at least 1e-12"
    with pytest.raises(SceneError, match=says):
        Simulation(Scene.from_dict(tables))
    Simulation(Scene.from_dict(as_trees(tables)))


def test_a7a_from_sixty_degrees_to_second_order():
    """A7 (a): Siconos' pendulum at t = 10 s, θ = -0.6518630467419758 from 60 degrees; halving h quarters the error
    (a first-order method would halve it: exponent 1)."""
    errors = []
    for h in (2 * H, H, H / 2):
        sim, _ = run(point_pendulum(60.0), 10.0, h=h)
        errors.append(abs(pendulum_angle(sim) + 0.6518630467419758))
    assert np.log2(np.array(errors[:-1]) / errors[1:]).min() > 1.75, errors


def test_a8_four_bars_pass_their_singular_positions():
    """A8: N-four-bar for 10 s, five revolutions: all links stay parallel though the rank falls from 29 to 27 whenever
    the cranks lie flat; energy within 2 %, position as the one-degree equation 3 θ'' = -3.5 g cos θ has it."""
    sim, log = run(four_bars(), 10.0)
    angles = [2 * np.arctan2(q[2], q[0]) for q in (sim.orientation(f"crank {i}") for i in range(3))]
    apart = [np.angle(np.exp(1j * (a - angles[0]))) for a in angles]
    level = [2 * np.arctan2(q[2], q[0]) for q in (sim.orientation(f"coupler {i}") for i in range(2))]
    assert np.abs([*apart, *np.angle(np.exp(1j * np.array(level)))]).max() < 1e-9
    assert np.ptp(log[:, 1]) < 0.02 * 35.8 and log[:, 2].max() < 1e-11
    pin = 2.0 * sim.position("crank 0")
    assert np.linalg.norm(pin[[0, 2]] - [0.32845811153374377, 0.9445185381810601]) < 0.01


def test_a9_bricard_moves_though_its_joints_are_redundant():
    """A9: six hinges, rank 29 of 30: it moves, and its energy error is of second order in h (1.5 s, before the first
    turn-around)."""
    drift = []
    for h in (H, H / 2):
        sim, log = run(bricard(), 1.5, h=h)
        assert log[:, 2].max() < 1e-11
        drift.append(np.ptp(log[:, 1]))
    assert sim.energy().kinetic > 1.0
    assert drift[1] < 0.3 * drift[0] and drift[0] < 0.02 * 30.0


def test_f3_a_chain_does_not_stretch_under_a_thousandfold_mass():
    """F3: 15 balls of 0.2 m and one a thousand times as heavy, swung from horizontal: joints come apart by less than
    1 % of a link (0.4 m), with projection by no more than where that ends; the energy stays within 5 % of what swings.
    """
    sim, log = run(ball_chain(), 3.0)
    assert log[:, 2].max() < 1e-10
    assert np.ptp(log[:, 1]) < 0.05 * sim.model.mass[-1] * 9.81 * 8.2


@pytest.mark.parametrize("kind", ("slider", "hinge"))
def test_a12_spring_joints_follow_their_recurrence(kind):
    """A12: f = 2 Hz, ζ = 0.1 from 10 m or 100 degrees, 120 steps of 1/60 s. Jolt's recurrence is the implicit Euler's,
    v⁺ (1 + h c/m + h² k/m) = v - h k x/m; ours is of second order. The implicit mean of both ends gives
    u⁺ (1 + h² k/4m + h c/2m) = u (1 - h² k/4m - h c/2m) - h k x/m,  x⁺ = x + h (u + u⁺)/2, to rounding; and the damped
    oscillator's closed form to second order: (ω h)²/12 of phase a radian."""
    omega, zeta, h = 2 * np.pi * 2.0, 0.1, 1.0 / 60.0
    k, c = omega**2, 2 * zeta * omega
    x0 = 10.0 if kind == "slider" else np.radians(100.0)
    joint = hinge("world", "body", (0, 0, 0), (0, 0, 1), spring={"stiffness": k}, damping=c) | {"type": kind}
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    joint["position"] = 10.0 if kind == "slider" else 100.0
    sim = Simulation(Scene.from_dict(scene([body], [joint], (0, 0, 0))), h=h)
    x, u, t = x0, 0.0, 0.0
    for _ in range(120):
        sim.step()
        gain = 0.25 * h * h * k + 0.5 * h * c
        u_next = (u * (1.0 - gain) - h * k * x) / (1.0 + gain)
        x, u, t = x + 0.5 * h * (u + u_next), u_next, t + h
        at = sim.position("body")[2] if kind == "slider" else 2 * np.arctan2(*sim.orientation("body")[[3, 0]])
        assert at == pytest.approx(x, abs=1e-11)
        wd = omega * np.sqrt(1 - zeta**2)
        exact = x0 * np.exp(-zeta * omega * t) * (np.cos(wd * t) + zeta * omega / wd * np.sin(wd * t))
        assert abs(at - exact) <= x0 * (omega * h) ** 2 / 12.0 * omega * t + 1e-9


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
def test_a12_friction_in_a_slider(coordinates):
    """A12: 2 N of dry friction, which is a motor that seeks rest with this limit, slow 1 kg at 10 m/s to 6 m/s in 2 s,
    over 16 m [Jolt]."""
    joint = hinge("world", "body", (0, 0, 0), (1, 0, 0), motor={"speed": 0.0, "limit": 2.0}, coordinates=coordinates)
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    moving = joint | {"type": "slider", "velocity": 10.0}
    sim = Simulation(Scene.from_dict(scene([body], [moving], (0, 0, 0))), h=1 / 60)
    sim.run(until=2.0)
    assert sim.velocity("body")[0] == pytest.approx(6.0, abs=1e-9)
    assert sim.position("body")[0] == pytest.approx(16.0, abs=1e-9)


@pytest.mark.parametrize("mechanism", (four_bars, slider_crank))
def test_loops_keep_their_closure_for_ten_minutes(mechanism):
    """600 s by projection: joints closed to 1e-9 after every step, and the energy within 2 % of where it began."""
    tables = mechanism(speed=1.0)
    tables["scene"]["gravity"] = [0.0, 0.0, 0.0]
    sim = Simulation(Scene.from_dict(tables), h=1 / 10)
    sim.step()
    first, worst = sim.energy().total, 0.0
    while sim.time < 600.0:
        sim.step()
        worst = max(worst, sim.info.joint_error)
    assert worst < 1e-9
    assert sim.energy().total == pytest.approx(first, rel=0.02)


# ------------------------------------------------------------------------------------------------------- the cures
def test_drift_without_a_cure_and_with_one():
    """A pendulum's joint after 5 s: without a cure it has come apart by about v² h t/2 (v² = 9.81 m²/s² on the mean),
    Baumgarte keeps C at v² h²/(2 · 0.2) at most, projection at rounding."""
    worst = {cure: run(point_pendulum(joint_cure=cure), 5.0)[1][:, 2].max() for cure in CURES}
    assert 0.02 < worst["none"] < 0.5 * 2 * 9.81 * H * 5.0
    assert worst["baumgarte"] < 2 * 2 * 9.81 * H**2 / (2 * 0.2)
    assert worst["projection"] < 1e-12


def test_a_free_chain_keeps_momentum_and_angular_momentum():
    """Joints are inner forces: without gravity P and L are constants, P to rounding, L but for what projection does."""
    rng = np.random.default_rng(1)
    bodies = [rod(f"r{i}", (i, 0, 0), (i + 1, 0, 0), velocity=rng.normal(size=3).tolist(),
                  angular_velocity=rng.normal(size=3).tolist()) for i in range(4)]
    joints = [{"type": kind, "parent": f"r{i}", "child": f"r{i + 1}", "anchor": [i + 1, 0, 0], "coordinates": "maximal"}
              | more for i, (kind, more) in enumerate((
                  ("ball", {}), ("universal", {"axes": [[0, 1, 0], [0, 0, 1]]}), ("slider", {"axis": [1, 0, 0]})))]
    sim = Simulation(Scene.from_dict(scene(bodies, joints, (0, 0, 0))))
    sim.step()
    P, L = (a.copy() for a in sim.momentum())
    sim.run(until=2.0)
    P_after, L_after = sim.momentum()
    np.testing.assert_allclose(P_after, P, atol=1e-12)
    np.testing.assert_allclose(L_after, L, atol=2e-4)  # projection displaces along M⁻¹Jᵀ: L changes by δx × P


# ------------------------------------------------------------------------------------------------- limits and motors
def swing_door(**joint):
    door = rod("door", (0, 0, 0), (1, 0, 0))
    return scene([door], [hinge("world", "door", (0, 0, 0), (0, 0, 1), **joint)])


def door_angle(sim):
    w, _, _, z = sim.orientation("door")
    return 2 * np.arctan2(z, w)


def test_a_limit_stops_a_hinge_and_holds_it():
    """A rod falls from horizontal on a stop 30 degrees below: it stays there, within what gravity gives in a step."""
    tables = scene([rod("arm", (0, 0, 0), (1, 0, 0))], [hinge("world", "arm", (0, 0, 0), limits=[-30.0, 90.0])])
    sim, _ = run(tables, 2.0)
    w, _, y, _ = sim.orientation("arm")
    assert -2 * np.arctan2(y, w) == pytest.approx(np.radians(-30.0), abs=1e-3)
    assert np.abs(sim.angular_velocity("arm")).max() < 1e-6


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
def test_a_limit_that_is_passed_is_restored_without_motion(coordinates):
    """A door stands 5 degrees beyond its limit. Every step takes 0.3 of that out by positions, all but a quarter of
    what counts as touch, g h² + 1e-6; no velocity comes of it. After 120 steps 0.7^120 of the rest is left: rounding.
    """
    sim = Simulation(Scene.from_dict(swing_door(limits=[-90.0, 10.0], position=15.0, coordinates=coordinates)), h=H)
    for _ in range(120):
        sim.step()
        assert np.abs(sim.angular_velocity("door")).max() < 1e-12
    assert door_angle(sim) - np.radians(10.0) == pytest.approx(0.25 * (9.81 * H * H + 1e-6), abs=1e-12)


def test_a_motor_reaches_its_speed_and_one_with_a_limit_takes_its_time():
    """ω = τ t/I, I = 1/3, up to the speed asked for; without a limit at once."""
    sim, _ = run(swing_door(motor={"speed": 2.0, "limit": 0.5}), 1.0)
    assert sim.angular_velocity("door")[2] == pytest.approx(0.5 * 3.0, rel=2e-3)  # width of the rod: 1e-3
    sim.run(until=2.0)
    assert sim.angular_velocity("door")[2] == pytest.approx(2.0, rel=(2.0 * H) ** 2)  # of the projection after it
    sim, _ = run(swing_door(motor={"speed": 2.0}), 0.1)
    assert sim.angular_velocity("door")[2] == pytest.approx(2.0, rel=1e-12)
    sim, _ = run(swing_door(motor={"torque": 0.5}), 1.0)
    assert sim.angular_velocity("door")[2] == pytest.approx(1.5, rel=2e-3)


# ---------------------------------------------------------------------------------------------------- with contacts
def test_a_block_on_three_legs_of_a_loop_stands_on_its_contacts():
    """Two stacked boxes joined by two hinges (a redundant loop) on the floor: contacts carry the weight of both, and
    nothing moves."""
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    lower = {"name": "lower", "position": [0, 0, 0.5], "shape": [{"type": "box", "size": [1, 1, 1]}]}
    upper = {"name": "upper", "position": [0, 0, 1.6], "shape": [{"type": "box", "size": [1, 1, 1]}]}
    joints = [hinge("lower", "upper", (0, y, 1.05), (0, 1, 0)) for y in (-0.3, 0.3)] + [
        {"type": "fixed", "parent": "lower", "child": "upper", "coordinates": "maximal"}]
    sim, log = run(scene([floor, lower, upper], joints), 1.0)
    assert sim.contacts.impulse.sum(axis=0) / H == pytest.approx([0, 0, 2000 * 9.81], abs=1e-3)
    assert np.abs(sim.state.bodies.v).max() < 1e-6 and log[:, 2].max() < 1e-11


def test_joints_and_contacts_are_solved_together():
    """A ball on a joint hits the floor through its heavy neighbour: after every step Signorini's law and J u = 0 hold
    at once: the residual of the contact problem is at rounding with 30 iterations though masses are 1000 : 1."""
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    foot = {"name": "foot", "position": [0, 0, 0.1], "mass": 1.0, "shape": [{"type": "sphere", "radius": 0.1}]}
    load = {"name": "load", "position": [0.2, 0, 1.1], "mass": 1000.0, "shape": [{"type": "box", "size": [1, 1, 1]}]}
    joint = {"type": "ball", "parent": "foot", "child": "load", "anchor": [0, 0, 0.1], "coordinates": "maximal"}
    sim = Simulation(Scene.from_dict(scene([floor, foot, load], [joint])))
    for _ in range(100):
        sim.step()
        assert sim.info.residual < 1e-9 and sim.info.joint_error < 1e-10
    foot_force = sim.contacts.lam.sum()
    assert foot_force > 1000.0  # far more than the foot's own weight


def test_a_grabbed_link_follows_the_mouse_with_all_that_hangs_on_it():
    sim = Simulation(Scene.from_dict(point_pendulum(0.0)))
    sim.grab("bob", sim.position("bob"), [1.0, 0.0, 0.0])
    sim.run(until=3.0)
    assert np.linalg.norm(sim.position("bob")) == pytest.approx(1.0, abs=1e-10)
    assert sim.position("bob")[0] > 0.6


def test_pulling_at_the_joint_itself_moves_nothing():
    """The mouse holds the very point that a joint holds in the world: the spring pulls in vain, with a finite force."""
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    sim = Simulation(Scene.from_dict(scene([body], [hinge("world", "body", (0, 0, 0))])))
    sim.grab("body", [0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    sim.run(until=0.1)
    assert np.abs(sim.position("body")).max() < 1e-12
    assert np.isfinite(sim.loads.grab_force).all()


@pytest.mark.parametrize("method", ("time_stepping", "event_driven", "compliant"))
def test_the_error_of_a_joint_is_said_with_its_unit(method):
    """A slider whose child is moved by 5 mm across its axis, or turned by 5 mrad: |C| = 0.005 m, or sin 0.005 rad. The
    alarm names the same, where a run gains energy."""
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    joint = hinge("world", "body", (0, 0, 0), (1, 0, 0)) | {"type": "slider"}
    for turned, error, unit in ((False, 0.005, "m"), (True, np.sin(0.005), "rad")):
        sim = Simulation(Scene.from_dict(scene([body], [joint], (0, 0, 0))), method=method)
        sim.set(joint_cure="none", integrator="heun")
        if turned:
            sim.state.bodies.q[0] = np.cos(0.0025), np.sin(0.0025), 0.0, 0.0
        else:
            sim.state.bodies.x[0, 1] = 0.005
        sim.step()
        assert (sim.info.joint_error, sim.info.joint_unit) == (pytest.approx(error, abs=1e-12), unit)
        assert f"joints have come apart by 0.005 {unit}; take the cure Projection" in cause(sim)
