"""Trees of joints in generalized coordinates on bodies with a prescribed motion: the motion, the contacts, the impacts
and the work of the drive."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from contactlab.assets import scene_path
from contactlab.physics.books.ledger import Account
from contactlab.physics.look.inspection import Inspect, look
from contactlab.physics.scene.scene import Scene, SceneError
from contactlab.physics.simulation.simulation import Simulation

G, MASS, ARM, MOMENT = 9.81, 1.3, 0.5, 0.03
METHODS = ["event_driven", "time_stepping", "compliant"]


def bodies(motion, position=0.0, **more):
    """A bob on a hinge about y, 0.5 m below its pivot, which moves as `motion` says."""
    pivot = {"name": "pivot", "kinematic": True, "position": [0.2, 0.1, 1.0], "motion": motion,
             "shape": [{"type": "box", "size": [0.02, 0.02, 0.02]}]}
    bob = {"name": "bob", "mass": MASS, "inertia": [0.02, MOMENT, 0.01], "position": [0.2, 0.1, 0.5],
           "shape": [{"type": "sphere", "radius": 0.05}]}
    hinge = {"type": "hinge", "parent": "pivot", "child": "bob", "axis": [0, 1, 0], "anchor": [0.2, 0.1, 1.0],
             "position": position, **more}
    return {"body": [pivot, bob], "joint": [hinge]}


def booked(sim):
    return {account: float(sim.state.ledger[account, 0]) for account in Account}


# ------------------------------------------------------------------------------------------------------ the motion
SHAKEN = {"amplitude": [0, 0, 0.05], "frequency": 20.0}


def mathieu(angle, until):
    """(I + m l²) θ̈ = -m l (g + ẍ) sin θ of the pendulum on a pivot at x = A sin Ωt."""
    rate, amplitude = 2.0 * np.pi * SHAKEN["frequency"], SHAKEN["amplitude"][2]

    def rates(t, y):
        lift = G - amplitude * rate**2 * np.sin(rate * t)
        return [y[1], -MASS * ARM * lift * np.sin(y[0]) / (MOMENT + MASS * ARM**2)]

    return solve_ivp(rates, (0.0, until), [angle, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def energy_of(angle, rate, t):
    """Of the pendulum, with the speed of its pivot."""
    turns, amplitude = 2.0 * np.pi * SHAKEN["frequency"], SHAKEN["amplitude"][2]
    lift, speed = amplitude * np.sin(turns * t), amplitude * turns * np.cos(turns * t)
    velocity = np.array([-ARM * np.cos(angle) * rate, speed + ARM * np.sin(angle) * rate])
    height = 1.0 + lift - ARM * np.cos(angle)
    return 0.5 * MASS * velocity @ velocity + 0.5 * MOMENT * rate**2 + MASS * G * height


@pytest.mark.parametrize(("method", "integrator", "order"), [
    ("event_driven", "dopri5", None), ("event_driven", "rk4", 4), ("time_stepping", "rk4", 4),
    ("time_stepping", "midpoint", 2), ("compliant", "rk4", 4), ("compliant", "sdirk2", 2)])
def test_a_pendulum_on_a_shaken_pivot_stands_on_its_head_as_mathieus_equation_says(method, integrator, order):
    """Kapitza's pendulum: upside down it comes back, since A Ω = 6.3 m/s exceeds sqrt(2 g l) = 3.4 m/s with
    l = ARM + I/(m ARM). Of an integrator of order p half the step leaves 2^-p of the error; dopri5 controls its own to
    1e-12 a step. What the drive does is the energy that the pendulum gained, less what the integrator made: less than
    1e-4 of the power m A²Ω³ that goes to and fro."""
    start, until, rate = np.radians(170.0), 0.4, 2.0 * np.pi * SHAKEN["frequency"]
    speed = SHAKEN["amplitude"][2] * rate
    there = mathieu(start, until)
    assert abs(there[0] - np.pi) < np.radians(25.0)
    errors, drift = [], []
    finest = 4 if integrator == "midpoint" else 1  # which cuts longer steps
    for h in (1 / 400 / finest, 1 / 800 / finest) if order else (1 / 400,):
        sim = Simulation(Scene.from_dict(bodies(SHAKEN, 170.0)), method=method, integrator=integrator, h=h)
        sim.run(until)
        errors.append(np.abs([sim.q[0] - there[0], sim.v[0] - there[1]]))
        found = booked(sim)
        drift.append(abs(found[Account.DRIFT]))
        gained = energy_of(*there, until) - energy_of(start, 0.0, 0.0)
        assert found[Account.DRIVEN] + found[Account.DRIFT] == pytest.approx(gained, abs=20.0 * errors[-1].max() + 1e-9)
    if order is None:
        assert errors[0].max() < 1e-7 and drift[0] < 1e-8
        return
    assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(order, abs=0.35)
    assert drift[1] < 0.35 * drift[0] and drift[1] < 1e-4 * MASS * speed**2 * rate * until


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_on_a_turntable_hangs_outwards(method):
    """In the frame that turns with ω it rests where m ω² r l cos θ + (I_x - I_z) ω² sin θ cos θ = m g l sin θ, r the
    distance of its centre of mass from the axis: gravity, centrifugal force and the moment of the products of inertia.
    The pivot stands 0.2 m from the axis."""
    spin, off = 4.0, 0.2
    low, high = 0.0, 1.5
    for _ in range(80):  # θ by bisection
        angle = 0.5 * (low + high)
        r = off + ARM * np.sin(angle)
        turn = MASS * spin**2 * r * ARM * np.cos(angle) - MASS * G * ARM * np.sin(angle)
        turn -= (0.01 - 0.02) * spin**2 * np.sin(angle) * np.cos(angle)
        low, high = (angle, high) if turn > 0.0 else (low, angle)
    made = bodies({"angular_velocity": [0, 0, spin]}, -float(np.degrees(angle)))
    made["body"][0]["shape"][0]["position"] = [0.0, 0.0, 0.0]
    made["body"][0]["position"] = [0.0, 0.1, 1.0]  # turns about its own centre; the hinge is 0.2 m beside it
    sim = Simulation(Scene.from_dict(made), method=method, integrator="rk4", h=1 / 200)
    sim.run(1.0)
    assert abs(sim.q[0] + angle) < 1e-6 and abs(sim.v[0]) < 1e-6
    c, s = np.cos(spin * sim.time), np.sin(spin * sim.time)
    out = off + ARM * np.sin(angle)
    np.testing.assert_allclose(sim.position("bob"), [out * c, 0.1 + out * s, 1.0 - ARM * np.cos(angle)], atol=1e-6)
    np.testing.assert_allclose(sim.angular_velocity("bob"), [0, 0, spin], atol=1e-5)


def links(coordinates):
    """Hinge, universal joint, slider and ball one after the other on a base that turns, drives and shakes; the bodies
    move with it at first."""
    drive = {"angular_velocity": [0.4, -0.7, 1.1], "velocity": [0.3, 0.2, 0.0], "amplitude": [0.02, 0.05, 0.03],
             "frequency": 3.0}
    base = {"name": "base", "kinematic": True, "position": [0, 0, 2], "motion": drive,
            "shape": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
    start = np.array(drive["velocity"]) + 2.0 * np.pi * 3.0 * np.array(drive["amplitude"])
    kinds = [{"type": "hinge", "axis": [0, 1, 0]}, {"type": "universal", "axes": [[1, 0, 0], [0, 1, 0]]},
             {"type": "slider", "axis": [0.6, 0, 0.8], "spring": {"stiffness": 80, "position": [0.0]}},
             {"type": "ball"}]
    made, joints = [base], []
    for i, joint in enumerate(kinds):
        x = np.array([0.25 + 0.3 * i, 0.0, 2.0])
        body = {"name": f"link {i}", "position": x.tolist(), "mass": 1.0 - 0.1 * i, "inertia": [0.01, 0.02, 0.015]}
        if coordinates == "maximal":
            turn = np.array(drive["angular_velocity"])
            body |= {"velocity": (start + np.cross(turn, x - [0, 0, 2])).tolist(), "angular_velocity": turn.tolist()}
        made.append(body)
        joints.append({**joint, "parent": made[-2]["name"], "child": body["name"], "coordinates": coordinates,
                       "anchor": (x - [0.15, 0, 0]).tolist()})
    return Scene.from_dict({"body": made, "joint": joints})


def test_links_on_a_moving_base_move_as_in_maximal_coordinates():
    """Two ways to the same motion: recursions over the links, and reactions on free bodies. dopri5 keeps 1e-9 of a
    step; over 0.3 s of a motion that doubles deviations every 0.1 s or so."""
    seen = []
    for coordinates in ("generalized", "maximal"):
        sim = Simulation(links(coordinates), method="event_driven", integrator="dopri5", h=1 / 200)
        sim.run(0.3)
        seen.append(np.array([[*sim.position(f"link {i}"), *sim.velocity(f"link {i}"),
                               *sim.angular_velocity(f"link {i}")] for i in range(4)]))
        found = booked(sim)
        assert abs(found[Account.DRIVEN]) > 1.0 and abs(found[Account.DRIFT]) < 1e-7
    assert np.abs(seen[0]).max() > 2.0
    np.testing.assert_allclose(seen[0], seen[1], rtol=0, atol=1e-7)


# ---------------------------------------------------------------------------------------------------- what touches
def rubbing(speed):
    """An arm on a hinge falls on a wall that moves as its pivot does, rubs and comes to rest on it."""
    made = bodies({"velocity": speed}, 60.0)
    made["body"] += [{"name": "wall", "kinematic": True, "position": [0.2, 0.1, 0.42], "motion": {"velocity": speed},
                      "shape": [{"type": "box", "size": [2.0, 2.0, 0.1]}]}]
    made["joint"].append({"type": "hinge", "parent": "bob", "child": "tip", "axis": [0, 1, 0],
                          "anchor": [0.2, 0.1, 0.5]})
    made["body"].append({"name": "tip", "mass": 0.4, "inertia": [0.001, 0.001, 0.001], "position": [0.4, 0.1, 0.55],
                         "shape": [{"type": "sphere", "radius": 0.03}]})
    made["material"] = {"default": {"restitution": 0.3, "friction": 0.4, "friction_rolling": 1e-3}}
    return made


@pytest.mark.parametrize("method", METHODS)
def test_contacts_on_a_driven_base_are_those_on_one_at_rest(method):
    """Galileo: where base and wall drive at one speed, joints and events are those at rest, to rounding that impacts
    amplify; only what the drive does differs."""
    seen = []
    for speed in ([0.0, 0.0, 0.0], [0.7, -0.4, 0.2]):
        sim = Simulation(Scene.from_dict(rubbing(speed)), method=method, integrator="rk4", h=1 / 200)
        sim.run(0.5)
        assert len(sim.events) >= 2
        seen.append(([event.kind for event in sim.events], [event.t for event in sim.events],
                     np.concatenate([sim.q, sim.v])))
    assert seen[0][0] == seen[1][0]
    np.testing.assert_allclose(seen[0][1], seen[1][1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(seen[0][2], seen[1][2], rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_mouse_holds_back_what_a_base_carries_along(method):
    """A carriage on a rail along the way of its base, held at a point of the world: it comes to rest there, and the
    base drives on under it."""
    base = {"name": "base", "kinematic": True, "position": [0, 0, 1], "motion": {"velocity": [0.5, 0, 0]},
            "shape": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
    carriage = {"name": "carriage", "position": [0, 0, 1.2], "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}
    sim = Simulation(Scene.from_dict({
        "body": [base, carriage], "joint": [{"type": "slider", "parent": "base", "child": "carriage",
                                             "axis": [1, 0, 0]}]}), method=method, h=1 / 240)
    sim.grab("carriage", [0, 0, 1.2], [0, 0, 1.2])
    sim.run(1.0)
    assert sim.velocity("base")[0] == 0.5 and abs(sim.position("base")[0] - 0.5) < 1e-12
    np.testing.assert_allclose(sim.position("carriage"), [0, 0, 1.2], atol=1e-4)
    np.testing.assert_allclose(sim.velocity("carriage"), 0.0, atol=1e-3)
    assert abs(sim.q[0] + 0.5) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_a_pin_on_a_turning_arm_rubs_its_circle(method):
    """A pin in a vertical slide, carried round at r = 0.3 m, stands on the floor: λ = m g, and the drive gives what
    friction takes, μ m g ω r t."""
    spin, mu, until = 2.0, 0.25, 0.25
    turntable = {"name": "arm", "kinematic": True, "position": [0, 0, 1], "motion": {"angular_velocity": [0, 0, spin]},
                 "shape": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
    pin = {"name": "pin", "position": [0.3, 0, 0.1], "mass": 2.0, "inertia": [0.01, 0.01, 0.01],
           "shape": [{"type": "sphere", "radius": 0.1}]}
    sim = Simulation(Scene.from_dict({
        "material": {"default": {"friction": mu, "restitution": 0.0, "stiffness_n": 1e6, "damping_n": 1e3}},
        "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}, turntable, pin],
        "joint": [{"type": "slider", "parent": "arm", "child": "pin", "axis": [0, 0, 1]}]}),
        method=method, integrator="rk4", h=1 / 400)
    sim.run(until)
    work = mu * 2.0 * G * spin * 0.3 * until
    found, rubbed = booked(sim), Account.SURFACES if method == "compliant" else Account.FRICTION
    least = 0.03 if method == "compliant" else 2e-3  # the surface first sinks in; a step's way along the chord
    assert found[Account.DRIVEN] == pytest.approx(work, rel=least)
    assert found[rubbed] == pytest.approx(-work, rel=least)
    assert abs(found[Account.DRIFT]) < least * work
    np.testing.assert_allclose(sim.velocity("pin")[:2], spin * 0.3 * np.array([-np.sin(0.5), np.cos(0.5)]), atol=1e-9)


# -------------------------------------------------------------------------------------------------------- impacts
def machines(coordinates):
    """The gallery's machines on moving bases with all their joints of one kind. Bodies begin at rest on their bases."""
    made = tomllib.loads(Path(scene_path("moving_bases")).read_text("utf-8"))
    moving = [body for body in made["body"] if "motion" not in body]
    for body in moving:
        body.pop("velocity", None)
        body.pop("angular_velocity", None)
    for joint in made["joint"]:
        joint["coordinates"] = "generalized"
    if coordinates == "maximal":
        start = Simulation(Scene.from_dict(made))
        for body in moving:
            if not body.get("fixed"):
                body["velocity"] = start.velocity(body["name"]).tolist()
                body["angular_velocity"] = start.angular_velocity(body["name"]).tolist()
        for joint in made["joint"]:
            joint["coordinates"] = "maximal"
    return Scene.from_dict(made)


def test_impacts_of_hinges_and_sliders_on_moving_bases_are_those_of_maximal_coordinates():
    """Zhang's machines, one point and two at once: instants, impulses, velocities after them, and what the bases gave.
    Both integrate with an error of 1e-12 a step, and joints in maximal coordinates are restored to 1e-9."""
    seen = []
    for coordinates in ("generalized", "maximal"):
        sim = Simulation(machines(coordinates), method="event_driven", integrator="dopri5", h=1 / 240)
        sim.run(1.2)
        names = [name for name, kind in zip(sim.labels.bodies, sim.model.kind, strict=True) if kind in (0, 3)]
        assert len(sim.events) == 2 and abs(booked(sim)[Account.DRIFT]) < 1e-9
        seen.append((np.array([[event.t, *event.impulse] for event in sim.events]),
                     np.array([[*sim.velocity(name), *sim.angular_velocity(name)] for name in names]),
                     booked(sim)[Account.DRIVEN]))
    assert abs(seen[0][2]) > 1e-3
    for one, other in zip(*seen, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7)


# ---------------------------------------------------------------------------------------------------------- looks
def test_the_pivot_of_a_lift_carries_the_weight_and_what_accelerates_it():
    """C of the joint space is m l (g + a) sin θ, and the hinge pushes with m (g + a) where the pendulum hangs still:
    at t = 3/4 of a period, where the pivot's acceleration is A Ω²."""
    motion = {"amplitude": [0, 0, 0.1], "frequency": 1.0}
    lift = 0.1 * (2.0 * np.pi) ** 2
    sim = Simulation(Scene.from_dict(bodies(motion)), method="event_driven", integrator="dopri5", h=1 / 200)
    sim.run(0.75)
    force = look(sim, Inspect("joints")).joints.force[0]
    np.testing.assert_allclose(force, [0.0, 0.0, MASS * (G + lift)], atol=1e-6)
    sim.joints["joint 1"].position = 0.5
    C = look(sim, Inspect("trees", body=1)).trees.C[0]
    assert pytest.approx(MASS * ARM * (G + lift) * np.sin(0.5), rel=1e-9) == C


# ------------------------------------------------------------------------------------------------------- refusals
def test_what_generalized_coordinates_cannot_say_of_a_driven_base_is_refused_in_words():
    mixed = bodies({"velocity": [1, 0, 0]})
    mixed["body"].append({"name": "other", "mass": 1.0, "inertia": [1, 1, 1], "position": [0.2, 0.1, 0.0]})
    mixed["joint"].append({"type": "ball", "parent": "bob", "child": "other", "coordinates": "maximal"})
    with pytest.raises(SceneError, match='is "bob", which joints in generalized coordinates connect with "pivot"'):
        Scene.from_dict(mixed)
