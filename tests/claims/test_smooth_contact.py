"""Claims about contacts of `time_stepping` that last: where nothing hits, the scheme is of second order, and keeps the
energy to it. Order 1 at impacts is claimed in `test_contact_impacts`."""

import numpy as np
import pytest
from joint_scenes import hinge, rod, scene
from scipy.integrate import solve_ivp

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

G = 9.81
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def simulate(*bodies, friction=0.0, gravity=(0.0, 0.0, -G), **more):
    return Simulation(Scene.from_dict({
        "scene": {"title": "smooth", "gravity": list(gravity)}, "body": list(bodies),
        "material": {"default": {"friction": friction, "restitution": 0.0}}}), **{"method": "time_stepping", **more})


def ball(position, radius, **more):
    shape = {"type": "sphere", "radius": radius}
    return {"name": "ball", "mass": 1.0, "position": list(position), "shape": [shape]} | more


def orders(errors):
    """Of errors at steps that are halved each time."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# -------------------------------------------------------------------------------------------------- curved walls
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_ball_circling_in_a_tube_keeps_its_speed(friction):
    """Without gravity nothing takes speed from a ball that slides or rolls along the wall. Each impulse turns v by
    α = φ̇ h, from α/2 before the tangent to α/2 behind it. What that takes while it begins is of the order α⁴ of v,
    2e-6. A ball that rolls does so half-way between two impulses, where its centre is nearer to the axis by α²/8: a
    part 2/7 of that goes from the spin to the speed, once, 5e-5. An impulse that left v tangential would take α²/2 of
    it in every step, 16 % in a second."""
    radius, r, speed = 0.06, 0.0163, 0.4
    tube = {"name": "tube", "fixed": True, "shape": [{"type": "pipe", "radius": radius, "height": 1.0}]}
    circling = ball((radius - r, 0, 0), r, velocity=[0, speed, 0],
                    angular_velocity=[0, 0, -speed / r if friction else 0.0])
    sim, turn = simulate(tube, circling, friction=friction, gravity=(0, 0, 0)), speed / (radius - r) / 240.0
    once = 2.0 / 7.0 * turn**2 / 8.0 if friction else 0.0
    sim.run(1.0)
    early = np.linalg.norm(sim.velocity("ball"))
    assert early == pytest.approx(speed, rel=once + turn**4)
    sim.run(10.0)
    assert np.linalg.norm(sim.velocity("ball")) == pytest.approx(early, rel=turn**4)
    assert sim.contacts.current[0] == 1
    assert sim.contacts.zeta[0] == pytest.approx(0.0, abs=1e-12)
    assert not [event for event in sim.events if event.kind == "impact"]


def test_a_ball_that_rolls_in_a_bowl_swings_back_as_high_with_second_order():
    """θ̈ = -(5/7) g/(R - r) sin θ, from 60°: after a quarter of a swing, off the turning point."""
    def bowl_error(h):
        bowl = {"name": "bowl", "fixed": True, "shape": [{"type": "bowl", "radius": 0.5, "angle": 80.0}]}
        a = np.radians(60.0)
        sim = simulate(bowl, ball((-0.45 * np.sin(a), 0, -0.45 * np.cos(a)), 0.05), friction=10.0, h=h)
        start = sim.energy().total
        sim.run(0.6)
        x, _, z = sim.position("ball")
        return abs(np.arctan2(x, -z) - angle), abs(sim.energy().total - start)

    angle = solve_ivp(lambda t, y: (y[1], -5.0 * G / 7.0 / 0.45 * np.sin(y[0])), (0.0, 0.6), (-np.radians(60.0), 0.0),
                      rtol=1e-12, atol=1e-12).y[0, -1]
    errors = [bowl_error(1.0 / rate) for rate in (240, 480, 960)]
    assert orders([e for e, _ in errors]) == pytest.approx(2.0, abs=0.2)
    assert (orders([e for _, e in errors]) > 1.8).all()


def test_a_ball_that_rolls_round_a_standing_pipe_climbs_again_with_second_order():
    """z = z₀ - g/(k Ω²) (1 - cos(√(k/(1+k)) Ω t)), k = 2/5: the spin about the normal works as a spring."""
    k, turn, errors = 0.4, 10.0, []
    for rate in (240, 480, 960):
        sim = Simulation(Scene.load(gallery()["vertical_pipe"]), method="time_stepping", h=1.0 / rate)
        sim.run(1.0)
        errors.append(abs(sim.position("ball")[2] - 0.4
                          + G / (k * turn**2) * (1.0 - np.cos(np.sqrt(k / (1.0 + k)) * turn))))
    assert orders(errors) == pytest.approx(2.0, abs=0.2)


# ------------------------------------------------------------------------------------------------- what turns below
def test_a_ball_rolling_on_a_turntable_runs_in_closed_circles():
    """v̇ = 2/7 Ω × v: a circle of radius v/(2/7 Ω), anywhere. The velocity is turned by 2/7 Ω h a step, as by the
    midpoint rule with half a step of extrapolation: radius kept to third order, place to second."""
    spin, r = 3.0, 0.05
    start, v, about = np.array([0.5, 0.0, r]), np.array([0.0, 0.3, 0.0]), np.array([0.0, 0.0, 1.0])
    slow = 2.0 / 7.0 * spin
    centre, radius = start + np.cross(about, v) / slow, np.linalg.norm(v) / slow
    ends, growth = [], []
    for steps in (500, 1000, 2000):
        table = {"name": "table", "kinematic": True, "position": [0, 0, -0.1],
                 "motion": {"angular_velocity": [0, 0, spin]},
                 "shape": [{"type": "cylinder", "radius": 3.0, "height": 0.2}]}
        w = np.cross(about, v - spin * np.cross(about, start)) / r  # v + ω × (-r) = Ω × x
        sim = simulate(table, ball(start, r, velocity=v.tolist(), angular_velocity=w.tolist()), friction=2.0,
                       h=2.0 * np.pi / slow / steps)
        for _ in range(steps):
            sim.step()
        ends.append(np.linalg.norm(sim.position("ball") - start) / radius)
        growth.append(abs(np.linalg.norm((sim.position("ball") - centre)[:2]) / radius - 1.0))
    assert growth[0] < 1e-5  # at 68 Hz; with the slip of the instant alone it is π (2/7 Ω h), 4 %
    assert orders(ends) == pytest.approx(2.0, abs=0.2)


# ----------------------------------------------------------------------------------------------- sliding and tumbling
def test_friction_turns_the_way_of_what_slides_with_second_order():
    """v̇ = g sin α x - μ g cos α v/|v| of a frictionless-spinning point on an incline, thrown across it."""
    slope, mu, end = np.radians(15.0), 0.4, 0.8

    def rate(t, y):
        return y[2], y[3], *(np.array([G * np.sin(slope), 0.0])
                             - mu * G * np.cos(slope) * np.array(y[2:]) / np.hypot(y[2], y[3]))

    exact = solve_ivp(rate, (0.0, end), (0.0, 0.0, 0.0, 4.0), rtol=1e-12, atol=1e-12).y[:2, -1]
    errors = []
    for h in (1 / 120, 1 / 240, 1 / 480):
        puck = {"name": "puck", "position": [0, 0, 0.05], "mass": 1.0, "inertia": [1e3] * 3, "velocity": [0, 4.0, 0],
                "shape": [{"type": "sphere", "radius": 0.05}]}
        sim = simulate(FLOOR, puck, friction=mu, gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)), h=h)
        sim.run(end)
        errors.append(np.linalg.norm(sim.position("puck")[:2] - exact))
    assert orders(errors) == pytest.approx(2.0, abs=0.2)


def rattleback(spin, h):
    """The stone of Kane and Levinson (1982): half-axes 0.2, 0.03 and 0.02 m, its centre of mass 0.01 m below their
    centre, its axes of inertia turned by 0.8°. It stands rolled by half a degree about its long axis."""
    tilt = np.radians(0.5)
    c, s = np.cos(tilt), np.sin(tilt)
    turn = np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    down = turn.T @ [0.0, 0.0, -1.0]
    axes = np.diag([0.2, 0.03, 0.02])
    lowest = axes @ axes @ down / np.linalg.norm(axes @ down)  # from the centre of the ellipsoid
    contact = turn @ np.add(lowest, [0, 0, 0.01])              # from the centre of mass
    stone = {"name": "stone", "mass": 1.0, "inertia": [2e-4, 1.6e-3, 1.7e-3, -2e-5, 0, 0], "euler": [0.5, 0, 0],
             "position": (-contact).tolist(), "angular_velocity": [0, 0, spin],
             "velocity": (-np.cross([0, 0, spin], contact)).tolist(),
             "shape": [{"type": "ellipsoid", "size": [0.4, 0.06, 0.04], "position": [0, 0, 0.01]}]}
    return simulate(FLOOR, stone, friction=10.0, h=h)


def test_a_rattleback_turns_round_one_way_only():
    """Started with 5 rad/s the one way it rattles and comes back, started the other way it spins on. Its pitching has
    107 rad/s, from the radius 2 m of the long way: ω² = m g (2 - 0.01)/(1.7e-3), 14 steps a period."""
    wrong, right = rattleback(-5.0, 1 / 240), rattleback(5.0, 1 / 240)
    wrong.run(8.0)
    assert wrong.angular_velocity("stone")[2] > 1.0
    right.run(4.0)
    assert right.angular_velocity("stone")[2] > 4.9


# ------------------------------------------------------------------------------------------------- near, and no touch
def test_a_chain_near_a_plane_that_does_not_push_it_falls_as_if_that_were_far_away():
    """50 links and 100 kg, let go level, with a sphere on the first link 0.2 mm from an upright plane: a contact within
    reach that has no force, as the sphere goes away from it. The motion is that of the midpoint rule alone, to the last
    bit."""
    ends, ways, seen = 0.1 * np.arange(51), [], []
    for away in (0.0702, 100.0):
        bodies = [rod(f"rod {i}", (ends[i], 0, 0), (ends[i + 1], 0, 0)) for i in range(50)]
        joints = [hinge("world" if i == 0 else f"rod {i - 1}", f"rod {i}", (ends[i], 0, 0), coordinates="generalized")
                  for i in range(50)]
        bodies.append({"name": "weight", "position": [5.0, 0, 0], "mass": 100.0, "inertia": [0.1] * 3})
        joints.append({"type": "fixed", "parent": "rod 49", "child": "weight"})
        bodies[0]["shape"] = [{"type": "sphere", "radius": 0.02}]
        bodies.append({"name": "wall", "fixed": True, "position": [away, 0, 0], "euler": [0, -90, 0],
                       "shape": [{"type": "plane"}]})
        sim, rows = Simulation(Scene.from_dict(scene(bodies, joints)), method="time_stepping", integrator="midpoint"), 0
        while sim.time < 1.0:
            sim.step()
            rows += len(sim.contacts.lam)
        seen.append(rows)
        ways.append(sim.q.copy())
    assert seen[0] > 1
    assert seen[1] == 0
    assert (ways[0] == ways[1]).all()
