"""Friction against spinning and rolling: moments of at most ℓ_ψ λ about the normal and ℓ_r λ across it.

The compliant surfaces here vibrate at √(K/m) = 224 rad/s, a time of 4.5 ms, in which a moment falls off at its end."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, ground, tilted

from contactlab.physics.books.ledger import Account
from contactlab.physics.look.turning import moments_of
from contactlab.physics.scene.scene import Scene, SceneError
from contactlab.physics.simulation.simulation import Simulation

H, R, M, K = 1 / 240, 0.1, 1.0, 1e5
I = 0.4 * M * R * R
SETTLED = math.sqrt(2.0 * M / K)  # time in which two surfaces in series come to rest sideways [s]
EXACT = 1e-9  # of a solved step, whose residual is below 1e-10 of the largest velocity


def rough(*bodies, spin=0.0, roll=0.0, mu=0.5, gravity=(0.0, 0.0, -G), method="time_stepping", **solver):
    material = {"friction": mu, "friction_torsional": spin, "friction_rolling": roll, "stiffness_n": K,
                "damping_n": 300.0, "stiffness_t": K, "damping_t": 300.0}
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [float(c) for c in gravity]}, "solver": {"method": method, "h": H, **solver},
        "material": {"default": material}, "body": list(bodies)}))


def resting(method, **fields):
    """A ball on the ground; pressed in by its weight where the surfaces yield."""
    sunk = 2.0 * M * G / K if method == "compliant" else 0.0
    return ball("ball", (0.0, 0.0, R - sunk), radius=R, mass=M, **fields)


def booked(sim):
    return sim.state.ledger[:, 0]


METHODS = [("time_stepping", {"solver": "newton"}), ("time_stepping", {"solver": "pgs"}),
           ("time_stepping", {"solver": "interior_point"}), ("compliant", {"integrator": "heun"}),
           ("compliant", {"integrator": "sdirk2"}),
           ("event_driven", {"integrator": "rk4"}), ("event_driven", {"integrator": "dopri5"})]


# ------------------------------------------------------------------------------------------------------- spinning
@pytest.mark.parametrize(("method", "solver"), METHODS)
def test_a_spinning_ball_slows_down_at_one_rate_and_stops(method, solver):
    """I ω̇ = -ℓ_ψ m g, so it stops at I ω₀/(ℓ_ψ m g), and friction has taken ½ I ω₀²: within the step in which it
    stops; of compliant surfaces but for the last of the spin, D ω < ℓ m g with D = I √(K/2m), which ends as e^(-t/τ),
    and the surfaces are pressed in by their weight to 1e-3 of it."""
    length, omega = 0.01, 20.0
    sim = rough(ground(), resting(method, angular_velocity=(0, 0, omega)), spin=length, method=method, **solver)
    rate, soft = length * M * G / I, method == "compliant"
    stop = omega / rate
    while sim.time < 0.9 * stop:
        sim.step()
        allowed = 1e-3 * rate * sim.time if soft else EXACT * omega
        assert sim.angular_velocity("ball")[2] == pytest.approx(omega - rate * sim.time, abs=allowed)
    sim.run(until=stop - H - (SETTLED if soft else 0.0))
    assert sim.angular_velocity("ball")[2] > 0.5 * rate * H
    sim.run(until=stop + H + (30.0 * SETTLED if soft else 0.0))
    assert np.abs(sim.angular_velocity("ball")).max() < EXACT * omega
    taken = Account.SURFACES if soft else Account.FRICTION
    assert booked(sim)[taken] == pytest.approx(-0.5 * I * omega**2, rel=1e-3 if soft else EXACT)
    assert np.abs(sim.position("ball")[:2]).max() < EXACT


@pytest.mark.parametrize("method", ["time_stepping", "compliant", "event_driven"])
def test_a_smooth_disc_is_slowed_down_by_its_whole_load(method):
    """I ω̇ = -ℓ_ψ Σ λ = -ℓ_ψ m g, whatever points of its base carry how much; I = ½ m r²."""
    length, omega, r = 0.02, 10.0, 0.2
    disc = {"name": "disc", "position": [0, 0, 0.05], "mass": M, "angular_velocity": [0, 0, omega],
            "shape": [{"type": "cylinder", "radius": r, "height": 0.1}]}
    sim = rough(ground(), disc, spin=length, mu=0.0, method=method)
    sim.run(until=0.5)
    spin = sim.angular_velocity("disc")[2]
    sim.run(until=1.0)
    slower = length * M * G / (0.5 * M * r * r) * 0.5
    assert spin - sim.angular_velocity("disc")[2] == pytest.approx(slower, rel=1e-4 if method == "compliant" else EXACT)


@pytest.mark.parametrize("method", ["time_stepping", "compliant", "event_driven"])
def test_a_turntable_takes_a_ball_along(method):
    """At ℓ_ψ m g/I until it turns with the table. Of the work 2 · ½ I Ω² half is the ball's and half is friction's."""
    length, omega = 0.005, 6.0
    table = {"name": "table", "kinematic": True, "motion": {"angular_velocity": [0, 0, omega]},
             "shape": [{"type": "plane"}]}
    sim = rough(table, resting(method), spin=length, method=method)
    rate = length * M * G / I
    sim.run(until=0.25)
    soft = method == "compliant"
    assert sim.angular_velocity("ball")[2] == pytest.approx(0.25 * rate, rel=1e-3 if soft else EXACT)
    sim.run(until=1.0)
    assert sim.angular_velocity("ball")[2] == pytest.approx(omega, rel=EXACT)
    kinetic = 0.5 * I * omega**2
    assert booked(sim)[Account.DRIVEN] == pytest.approx(2.0 * kinetic, rel=1e-3 if soft else EXACT)
    assert booked(sim)[Account.SURFACES if soft else Account.FRICTION] == pytest.approx(
        -kinetic, rel=1e-3 if soft else EXACT)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_ball_on_joints_is_slowed_down_by_the_load_of_all(coordinates, method):
    """A ball turns on a carriage that slides down on it: I ω̇ = -ℓ_ψ (m + m_c) g, in a tree and with constraints."""
    length, omega, carriage = 0.01, 20.0, 3.0
    above = {"name": "carriage", "position": [0, 0, 0.5], "mass": carriage, "inertia": [0.1, 0.1, 0.1], "shape": []}
    sim = Simulation(Scene.from_dict({
        "material": {"default": {"friction": 0.5, "friction_torsional": length}},
        "body": [ground(), above, ball("ball", (0, 0, R), radius=R, mass=M)],
        "joint": [{"name": "slide", "type": "slider", "parent": "world", "child": "carriage", "axis": [0, 0, 1],
                   "anchor": [0, 0, 0.5], "coordinates": coordinates},
                  {"name": "turn", "type": "hinge", "parent": "carriage", "child": "ball", "axis": [0, 0, 1],
                   "anchor": [0, 0, 0.5], "velocity": omega, "coordinates": coordinates}]}), method=method)
    spin, start = sim.angular_velocity("ball")[2], sim.energy().kinetic
    assert spin == pytest.approx(omega)
    sim.run(until=0.1)
    wanted = omega - 0.1 * length * (M + carriage) * G / I
    assert sim.angular_velocity("ball")[2] == pytest.approx(wanted, rel=1e-8)
    assert booked(sim)[Account.FRICTION] == pytest.approx(sim.energy().kinetic - start, rel=1e-7)


# ------------------------------------------------------------------------------------------------------- rolling
@pytest.mark.parametrize(("method", "solver"), METHODS)
def test_a_rolling_ball_stops_after_the_closed_form_distance(method, solver):
    """(m r² + I) ω̇ = -ℓ_r m g: it stops after v²/2a, a = (5/7) g ℓ_r/r. Within the step in which it stops it goes up
    to a h²/2 too far or not far enough."""
    length, v = 0.01, 1.0
    a = 5.0 / 7.0 * G * length / R
    way, soft = v * v / (2.0 * a), method == "compliant"
    sim = rough(ground(), resting(method, velocity=(v, 0, 0), angular_velocity=(0, v / R, 0)), roll=length,
                method=method, **solver)
    sim.run(until=v / a + (0.4 if soft else 0.1))  # the last of it ends 3.5 times as slowly as that of a spin
    # the surfaces yield along: what rolls on them is nearer to them by a thousandth of the radius
    assert sim.position("ball")[0] == pytest.approx(way, abs=3e-3 * way if soft else 0.5 * a * H * H + EXACT)
    assert np.abs(sim.velocity("ball")).max() < 1e-6 * v
    kinetic = 0.5 * M * v * v * 1.4
    assert booked(sim)[Account.SURFACES if soft else Account.FRICTION] == pytest.approx(
        -kinetic, rel=1e-3 if soft else 1e-8)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("steeper", [0.98, 1.02, 2.0])
def test_a_ball_rolls_down_a_slope_only_where_its_weight_points_past_the_length(steeper, method):
    """It rolls where tan θ > ℓ_r/r, with v̇ = (5/7) g (sin θ - cos θ ℓ_r/r), and else rests."""
    length = 0.02
    angle = math.atan(steeper * length / R)
    sim = rough(ground(), resting(method), roll=length, gravity=tilted(angle), method=method)
    sim.run(until=1.0)
    a = max(5.0 / 7.0 * G * (math.sin(angle) - math.cos(angle) * length / R), 0.0)
    assert sim.velocity("ball")[0] == pytest.approx(a, abs=1e-8)
    assert (steeper < 1.0) == (a == 0.0)


def test_compliant_rolling_friction_yields_on_a_slope_as_slowly_as_it_says():
    """Such couples have no springs: D ω = m g r sin θ, less the part of the load that is not at its bound."""
    length, angle = 0.02, math.atan(0.1)  # half of the steepest
    sim = rough(ground(), resting("compliant"), roll=length, gravity=tilted(angle), method="compliant")
    sim.run(until=0.5)
    D = I * math.sqrt(0.5 * K / M)
    assert sim.angular_velocity("ball")[1] == pytest.approx(M * G * R * math.sin(angle) / D, rel=2e-3)


def test_balls_that_share_their_loads_obey_all_laws_at_once():
    """Three balls in a heap between walls, spun and let go: with every solver the residual is that of a solved step,
    and in the end all rests. (How they share what sticks is not determined, so the solvers' heaps differ.)"""
    balls = [ball(f"b{i}", p, radius=R, mass=M, angular_velocity=w) for i, (p, w) in enumerate([
        ((-0.1, 0, R), (0, 3, 9)), ((0.1, 0.001, R), (5, 0, -9)), ((0.0, 0.0, R + 0.18), (1, 2, 20))])]
    walls = [{"name": f"wall{s}", "fixed": True, "position": [s * 0.25, 0, 0.5],
              "shape": [{"type": "box", "size": [0.1, 2.0, 1.0]}]} for s in (-1, 1)]
    for solver in ("newton", "pgs"):
        sim = rough(ground(), *walls, *balls, spin=0.02, roll=0.03, solver=solver, iterations=1000)
        for _ in range(60):
            sim.step()
            assert sim.info.status == "solved"
        assert abs(sim.angular_velocity("b2")[2]) < 20.0
        sim.run(until=4.0)
        assert np.abs(sim.v).max() < 1e-6


# ------------------------------------------------------------------------------------------------------- the rest
@pytest.mark.parametrize(("method", "exact"), [("time_stepping", 1e-8), ("compliant", 1e-3), ("event_driven", 1e-8)])
def test_the_moments_that_are_shown_are_the_bounds_against_the_turning_while_it_goes_on(method, exact):
    """-ℓ_ψ m g about the normal and -ℓ_r m g across it, on the ball; compliant surfaces carry its weight to 1e-3."""
    spin, roll = 0.01, 0.005
    sim = rough(ground(), resting(method, velocity=(1, 0, 0), angular_velocity=(0, 10, 20)), spin=spin, roll=roll,
                method=method)
    sim.run(until=0.2)
    assert moments_of(sim) == pytest.approx(np.array([[0.0, -roll, -spin]]) * M * G, abs=exact * spin * M * G)


def test_without_lengths_no_moments_are_told():
    sim = rough(ground(), resting("time_stepping", angular_velocity=(0, 0, 20.0)))
    sim.run(until=0.1)
    assert moments_of(sim).shape == (0, 3)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
def test_nothing_is_left_over_of_the_angular_momentum_of_a_spinning_ball(method):
    sim = rough(ground(), resting(method, angular_velocity=(0, 0, 20.0)), spin=0.01, method=method)
    sim.run(until=0.5)
    assert sim.ledger["Friction"][6] == pytest.approx(I * (sim.angular_velocity("ball")[2] - 20.0), rel=1e-12)
    assert np.abs(sim.state.ledger[Account.DRIFT]).max() < 1e-12 * 20.0


def test_the_greater_length_holds_for_a_pair_unless_it_has_its_own():
    spun = {**resting("time_stepping", angular_velocity=(0, 0, 20.0)), "material": "rubber"}
    scene = {"material": {"default": {"friction_torsional": 0.002}, "rubber": {"friction_torsional": 0.01}},
             "body": [ground(), spun]}
    for pair, length in ([], 0.01), ([{"materials": ["default", "rubber"], "friction_torsional": 0.004}], 0.004):
        sim = Simulation(Scene.from_dict({**scene, "pair": pair}))
        sim.run(until=0.2)
        assert sim.angular_velocity("ball")[2] == pytest.approx(20.0 - 0.2 * length * M * G / I, rel=EXACT)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
def test_without_a_material_that_has_it_a_setting_gives_every_pair_one(method):
    scene = {"body": [ground(), resting(method, angular_velocity=(0, 0, 20.0))]}
    sim = Simulation(Scene.from_dict(scene), method=method)
    sim.run(until=0.1)
    assert sim.angular_velocity("ball")[2] == pytest.approx(20.0, rel=1e-12)
    sim.set(friction_torsional=0.01)
    sim.run(until=0.2)
    assert sim.angular_velocity("ball")[2] == pytest.approx(20.0 - 0.1 * 0.01 * M * G / I, rel=EXACT)
    sim.set(friction_torsional=0.0)
    sim.run(until=0.3)
    assert sim.angular_velocity("ball")[2] == pytest.approx(20.0 - 0.1 * 0.01 * M * G / I, rel=EXACT)


def test_a_length_below_zero_is_refused():
    with pytest.raises(SceneError, match=r"friction_rolling"):
        rough(ground(), resting("time_stepping"), roll=-0.01)
