"""Masses, sizes and places far from the usual ones, in all methods."""

from math import factorial

import numpy as np
import pytest
from contact_scenes import G, ball, block, body, ground, simulate
from joint_scenes import hinge, rod
from joint_scenes import scene as joined

from contactlab.assets import gallery
from contactlab.physics import SOLVERS, Scene, SceneError, Simulation
from contactlab.physics.integrators import INTEGRATORS, offered
from contactlab.physics.methods.compliant.stability import MOST_SUBSTEPS, USED_SHARE, real_limit
from contactlab.physics.methods.compliant.stage_search import CONVERGED
from contactlab.physics.methods.event_driven.step_halving import STABLE_SHARE
from contactlab.physics.problem.residual import ROUNDED
from contactlab.physics.simulation.alarm import EnergyAlarm
from contactlab.physics.solvers.interior_point import InteriorPoint

EPS = 2.0**-52
STEPS, H = 96, 1 / 240
SMALL, LARGE = ("small", (0, 0, 0.05), (0.1,) * 3, 1e-3), ("large", (0, 0, 0.6), (1.0,) * 3, 1000.0)


# ------------------------------------------------------------------------------------------------ masses
def fallen(sim, steps=STEPS):
    """How far a ton comes down that stands on a gram [m]."""
    for _ in range(steps):
        sim.step()
    return abs(sim.position("large")[2] - 0.6)


@pytest.mark.parametrize("integrator", ["heun", "rk4", "dopri5"])
def test_event_driven_one_gram_carries_a_ton_in_one_or_two_pieces_a_step(integrator):
    """Forces of 1e4 N on 1 g: their rounding is 1e-12 N and accelerates it by 1e-9 m/s², more than error control
    allows. Where it took that for its own error, it made 32 pieces a step. The projection keeps gaps at rounding."""
    sim = simulate(ground(), block(*SMALL), block(*LARGE), method="event_driven", integrator=integrator)
    assert fallen(sim) <= 1e-13
    assert sim.info.status == "solved"
    if integrator == "dopri5":
        assert sim.info.pieces <= 2 * STEPS


def coin(thickness, height, integrator="dopri5", **motion):
    """A coin of 1 cm radius with its middle at this height above a floor with friction 0.3."""
    r = 0.01
    across, mass = 0.25 * r * r + thickness**2 / 12.0, 8000.0 * np.pi * r * r * thickness  # moment by mass [m2], [kg]
    disk = body("coin", (0, 0, height), {"type": "cylinder", "radius": r, "height": thickness}, mass,
                (mass * across, mass * across, 0.5 * mass * r * r), **motion)
    return simulate(ground(), disk, mu=0.3, method="event_driven", integrator=integrator)


def most_pieces(sim, steps, hold=lambda: None):
    """Pieces of the step that took most; after each step `hold` is asked."""
    most, before = 0, 0
    for _ in range(steps):
        sim.step()
        assert sim.info.status == "solved"
        hold()
        most, before = max(most, sim.info.pieces - before), sim.info.pieces
    return most


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_a_coin_of_a_micrometre_that_spins_on_its_rim_takes_few_pieces(integrator):
    """Its two rims slip at 1e-5 m/s, opposite to each other, and friction turns that slip in 3e-6 s: error control took
    1400 pieces a step. Held to the end of the step where that shows, it takes at most a tenth of that. The spin falls
    by μ g (d/2)/(r²/4 + d²/12), of the thickness d, to the error of an implicit step, h/τ of the turn of 0.08 rad."""
    r, d, mu, steps = 0.01, 1e-6, 0.3, 30
    sim = coin(d, r, integrator, euler=(90.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 20.0))
    most_pieces(sim, steps)
    assert sim.info.pieces <= 140 * steps
    fall = mu * G * 0.5 * d / (0.25 * r * r + d * d / 12.0) * steps * H
    assert 20.0 - sim.state.bodies.w[-1, 2] == pytest.approx(fall, rel=0.01)


@pytest.mark.parametrize("tilt", [10.0, 30.0])
def test_a_thin_disk_goes_round_on_its_rim_at_the_steady_rate(tilt):
    """A disk inclined by α whose middle stands still goes round at Ω² = 4 g/(r sin α): ω = Ω sin α lies along the
    diameter through the contact, and r m g = (m r²/4) ω Ω. It has no thickness d there; so its middle stays where it
    was to d. dopri5 asks for some 60 to 75 pieces a radian that the contact goes round, here 0.63 a step at most."""
    r, d, a = 0.01, 1e-6, np.radians(tilt)
    rate = np.sqrt(4.0 * G / (r * np.sin(a)))
    sim = coin(d, r * np.sin(a) + 0.5 * d * np.cos(a), euler=(tilt, 0.0, 0.0),
               angular_velocity=tuple(rate * np.sin(a) * np.array([0.0, np.cos(a), np.sin(a)])))

    def stays():
        assert np.abs(sim.position("coin") - (0.0, 0.0, r * np.sin(a))).max() <= d

    assert most_pieces(sim, 60, stays) <= 60


def test_a_disk_of_a_micrometre_that_begins_to_slip_takes_as_many_pieces_as_one_of_a_millimetre():
    """Let go at 10 degrees with 60 rad/s it sticks and slips by turns, and at its lowest it goes round by up to 29 rad
    in a step: 900 pieces of error control, whatever its thickness. While little more than friction pulls, the slip of
    1e-8 m/s that begins is turned in 1e-9 s: that took 2900 pieces, and is held for a part of the step."""
    sims = [coin(d, 0.01 * np.sin(np.radians(10.0)) + 0.5 * d * np.cos(np.radians(10.0)), euler=(10.0, 0.0, 0.0),
                 angular_velocity=(0.0, 0.0, 60.0)) for d in (1e-6, 1e-3)]
    thin, thick = (most_pieces(sim, 60) for sim in sims)
    assert thin <= 1.5 * thick
    assert sims[0].info.pieces <= 1.5 * sims[1].info.pieces


@pytest.mark.parametrize(("solver", "mu"), [
    ("interior_point", 0.5), *((name, 0.0) for name in
                               ("interior_point", "block_pivot", "lemke", "dantzig", "qp_force", "qp_acceleration"))])
def test_time_stepping_one_gram_carries_a_ton_by_exact_solvers(solver, mu):
    """A velocity left over counts as rounding up to ROUNDED of the terms |M λ| = 1000 kg g h/1 g [m/s] and is not kept:
    the ton comes down by that times t at most. Swept, it comes down by 0.1 m."""
    sim = simulate(ground(), block(*SMALL), block(*LARGE), mu=mu, method="time_stepping", solver=solver)
    assert fallen(sim) <= ROUNDED * 1e6 * G * H * STEPS * H


def test_an_answer_that_its_solver_doubts_is_used_where_sweeps_leave_more(monkeypatch):
    """Interior point that never says "solved": the ton stands all the same."""
    class Doubting(InteriorPoint):
        def __call__(self, *arguments):
            return super().__call__(*arguments)._replace(status="stuck")

    monkeypatch.setitem(SOLVERS, "interior_point", Doubting())
    sim = simulate(ground(), block(*SMALL), block(*LARGE), method="time_stepping", solver="interior_point")
    assert fallen(sim, 24) <= ROUNDED * 1e6 * G * H * 24 * H
    assert sim.info.status == "stuck"


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
@pytest.mark.parametrize(("solver", "mu"), [("pgs", 0.5), ("pgs", 0.0), ("nsgs", 0.5), ("nsgs", 0.0),
                                            ("gauss_seidel", 0.0)])
def test_sweeps_under_which_a_ton_sinks_are_not_called_solved(solver, mu, ratio):
    """A sweep passes on 1/ratio of the load, so that the ton sinks. Its speed s is the sum of the approaches at both
    faces of the cube below, of which one is s/2 at least: where λ > 0 a contact that approaches by that has a residual
    of s/(2 √(1 + μ²)) or more, whatever its slip."""
    sim = simulate(ground(), block("small", (0, 0, 0.05), (0.1,) * 3, 1e3 / ratio), block(*LARGE), mu=mu,
                   method="time_stepping", solver=solver)
    for _ in range(24):
        sim.step()
        assert sim.info.status == "iterations"
        assert sim.info.residual >= -0.5 * sim.velocity("large")[2] / np.sqrt(1.0 + mu * mu)


@pytest.mark.parametrize("integrator", offered("compliant"))
def test_compliant_one_gram_carries_a_ton_in_implicit_steps(integrator):
    """Both faces give way by F/k, k = 4 K/2 of four corners and two surfaces in series, F the weight above. The ton
    vibrates on k/2 and d/2, and comes to rest as e^(-d t/4 m): e^-75 is left. Explicit integrators would need millions
    of substeps, and say so."""
    sim = simulate(ground(), block(*SMALL), block(*LARGE), method="compliant", integrator=integrator)
    for _ in range(STEPS):
        sim.step()
    k = 2.0 * sim.model.materials.surfaces[0, 0, 0, 0]
    low = (1000.0 + 1e-3) * G / k
    assert sim.position("small") == pytest.approx([0.0, 0.0, 0.05 - low], abs=1e-12)
    assert sim.position("large") == pytest.approx([0.0, 0.0, 0.6 - low - 1000.0 * G / k], abs=1e-12)
    assert sorted(sim.contacts.lam) == pytest.approx([250.0 * G] * 4 + [(250.0 + 0.25e-3) * G] * 4, rel=1e-9)
    said = "solved" if integrator == "sdirk2" else f"implicit steps, as {integrator} would need"
    assert sim.info.status.startswith(said)


# ------------------------------------------------------------------------------------------------ places
METHODS = ["event_driven", "time_stepping", "compliant"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("moves", ["slides", "rolls", "falls"])
def test_a_thousand_kilometres_from_the_origin_a_body_moves_as_it_does_there(method, moves):
    """There x is rounded to r = 1e6 m ε. A step rounds places at its beginning, middle and end, by r/2 each, and the
    arms of contacts, 0.05 m, with it: those change the friction's torque, and with it the speed of a step by up to
    μ g h r/0.05 m. The sums over all steps, all of the worst sign: 3/2 r n and ½ n² h² μ g r/0.05 m."""
    def run(x):
        what = {"slides": block("b", (x, x, 0.05), (0.1,) * 3, velocity=[1.0, 0.3, 0.0]),
                "rolls": ball("b", (x, x, 0.05), 0.05, velocity=[1.0, 0.3, 0.0]),
                "falls": block("b", (x, x, 0.3), (0.1,) * 3, velocity=[1.0, 0.3, 0.0], euler=[20.0, 30.0, 0.0])}
        sim = simulate(ground(), what[moves], e=0.3, method=method)
        for _ in range(STEPS):
            sim.step()
        return sim.position("b") - np.array([x, x, 0.0])

    r = 1e6 * EPS
    assert np.abs(run(1e6) - run(0.0)).max() <= 1.5 * r * STEPS + 0.5 * (STEPS * H) ** 2 * 0.5 * G * r / 0.05


# ------------------------------------------------------------------------------------------------ sizes
@pytest.mark.parametrize("method", METHODS)
def test_a_cube_of_a_millimetre_rides_on_a_plate_of_a_kilometre(method):
    """The plate accelerates as x = 10 m sin(0.3 t): 0.9 m/s² < μ g, so the cube sticks. At x of up to 1e3 m a step
    rounds by 1e-13 m; a step of time_stepping and compliant follows the plate within ½ a h² = 8e-6 m. The tangential
    springs of compliant give by m a/K = d a/g, too, where d = 7e-5 m is the depth that the weight presses in."""
    plate = {"name": "plate", "kinematic": True, "position": [0.0, 0.0, -0.5],
             "motion": {"amplitude": [10.0, 0.0, 0.0], "frequency": 0.3 / (2 * np.pi)},
             "shape": [{"type": "box", "size": [1000.0, 1000.0, 1.0]}]}
    cube = block("cube", (200.0, 100.0, 0.0005), (0.001,) * 3, 1e-6, velocity=[3.0, 0.0, 0.0])
    sim = simulate(plate, cube, method=method)
    for _ in range(STEPS):
        sim.step()
        off = sim.position("cube") - sim.position("plate") - np.array([200.0, 100.0, 0.5005])
        assert np.abs(off).max() <= (1e-11 if method == "event_driven" else 1e-4)
    assert sim.contacts.lam[:4].sum() == pytest.approx(1e-6 * G, rel=1e-6)


def plate_and_cube(mass, height, gravity, integrator, method="compliant"):
    """A free plate of a kilometre, its lower face at the height, and a cube of a millimetre on it."""
    plate = block("plate", (0, 0, height + 0.5), (1000.0, 1000.0, 1.0), mass)
    cube = block("cube", (200.0, 100.0, height + 1.0005), (0.001,) * 3, 1e-6)
    return simulate(ground(), plate, cube, gravity=gravity, method=method, integrator=integrator)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -G), (1.0, 0.5, -G)])
def test_event_driven_a_cube_of_a_millimetre_rests_on_a_free_body_of_a_kilometre(gravity):
    """Forces of 2e9 N and 2e-6 N follow from the same equations, whose rounding is 1e-7 N: it took contacts away from
    the cube and gave them back until the step was full. What carries the cube is its weight, known to parts of 1e-9."""
    sim = plate_and_cube(1e9, 0.0, gravity, "rk4", "event_driven")
    for step in range(1, STEPS + 1):
        sim.step()
        assert sim.info.status == "solved" and not sim.events
        assert sim.info.pieces == step
        assert sim.contacts.lam[4:8].sum() == pytest.approx(1e-6 * G, rel=1e-9)
    assert np.abs(sim.velocity("cube") - sim.velocity("plate")).max() <= 1e-12


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
def test_compliant_a_cube_of_a_millimetre_rests_on_a_free_body_of_a_kilometre(integrator):
    """K = 7e13 N/m, as it carries the plate: K times the rounding of a gap threw the cube at 200 m/s. A gap is known
    to r = ε 200 m, and velocities of an implicit stage of length γ h = 0.29 h to r/(γ h)."""
    sim = plate_and_cube(1e9, 0.0, (0.0, 0.0, -G), integrator)
    top = sim.position("plate")[2] + 0.5
    for _ in range(STEPS):
        sim.step()
        assert np.abs(sim.velocity("cube") - sim.velocity("plate")).max() <= 200.0 * EPS / (0.29 * H) + CONVERGED
        assert sim.position("cube")[2] - sim.position("plate")[2] == pytest.approx(0.5005, abs=200.0 * EPS)
    k = 2.0 * sim.model.materials.surfaces[0, 0, 0, 0]
    assert sim.position("plate")[2] + 0.5 - top == pytest.approx(-1e9 * G / k, rel=1e-9)
    assert sorted(sim.contacts.lam) == pytest.approx([0.25e-6 * G] * 4 + [0.25e9 * G] * 4, rel=1e-6)


def test_compliant_a_force_on_a_small_cube_moves_the_large_body_below_it():
    """Without gravity, pressed by F: both go on as one, Σ P = F t to rounding, and the faces carry F less what the cube
    takes."""
    sim, force = plate_and_cube(1e3, 10.0, (0.0, 0.0, 0.0), "sdirk2"), 1e-5
    for _ in range(STEPS):
        sim.apply_force("cube", (0.0, 0.0, -force))
        sim.step()
    total = sim.state.bodies.P[sim.number("plate"), 2] + sim.state.bodies.P[sim.number("cube"), 2]
    assert total == pytest.approx(-force * sim.time, rel=1e-12)
    assert sim.contacts.lam.sum() == pytest.approx(force, rel=1e-6)


@pytest.mark.parametrize("thin", [1e-2, 1e-3])
@pytest.mark.parametrize("how", [{"angular_velocity": [5.0, 0.0, 3.0]}, {"velocity": [0.0, 1.0, 0.0]}])
def test_compliant_thin_rods_roll_and_slide_in_implicit_steps(thin, how):
    """A rod of 2 m, I = m r²/2 about its axis: a moment of 5e-7 kg m² beside an angular momentum of 1. All steps are
    found. One that slides across comes to roll, at the depth d: its contact is half as deep, a = 1 - d/2r radii from
    the axis, so that v = a²/(a² + 1/2) of its speed is left, to (d/r)²."""
    rod = body("rod", (0, 0, thin), {"type": "capsule", "radius": thin, "height": 2.0, "euler": [0.0, 90.0, 0.0]}, 1.0,
               (0.5 * thin**2, 1 / 3, 1 / 3), **how)
    sim = simulate(ground(), rod, method="compliant", integrator="sdirk2")
    before = sim.energy().total
    for _ in range(STEPS):
        sim.step()
        assert sim.info.status == "solved"
        assert sim.energy().total <= before
    if "velocity" in how:
        depth = 1.0 - sim.position("rod")[2] / thin
        a = 1.0 - 0.5 * depth
        assert sim.velocity("rod")[1] == pytest.approx(a**2 / (a**2 + 0.5), rel=depth**2)


# ------------------------------------------------------------------------------------------------ inertia
def needle(method, integrator, I=1e-6):
    """Free, with this moment of inertia about its axis and 1 kg m² across it."""
    lean = body("lean", (0, 0, 1), {"type": "sphere", "radius": 0.1}, 1.0, (1.0, 1.0, I), angular_velocity=(1, 2, 3))
    return simulate(lean, gravity=(0.0, 0.0, 0.0), method=method, integrator=integrator)


@pytest.mark.parametrize(("method", "integrator"), [
    *((method, "dopri5") for method in ("time_stepping", "event_driven", "compliant")), ("time_stepping", "midpoint")])
def test_a_body_with_hardly_any_inertia_about_one_axis_keeps_its_energy(method, integrator):
    """L is kept, and the axis goes round it at |L|/I. An error of 1e-12 in the axis is one of 1e-12 |L|/I₃ = 2e-6 rad/s
    in the spin; of the energy it is 1e-12, and 60 steps add such errors up."""
    sim = needle(method, integrator)
    before = sim.energy().total
    sim.run(until=0.25)
    assert sim.energy().total == pytest.approx(before, rel=1e-10)


@pytest.mark.parametrize(("integrator", "I"), [
    (name, I) for name in ("rk4", "dopri5", "sdirk2") for I in (1e-6, 1e-9, 1e-12) if (name, I) != ("sdirk2", 1e-12)])
def test_compliant_makes_substeps_short_enough_for_hardly_any_inertia(integrator, I):
    """Rounding of the axis by ε is a spin of ε |L|/I, here up to 5e-4 rad/s, which no error control can mend. What is
    left or made of the spin of 3 rad/s, it is not more than that: the energy is kept to ½ I (3 rad/s)²."""
    sim = needle("compliant", integrator, I)
    before = sim.energy().total
    for _ in range(30):
        sim.step()
        assert abs(sim.energy().total - before) <= 4.5 * I + 1e-12 * before


@pytest.mark.parametrize("integrator", ["rk4", "dopri5", "sdirk2"])
@pytest.mark.parametrize("inertia", [(1.0, 1.0, 1e-6), (1.0, 1.0, 1e-9), (1e-9,) * 3])
def test_compliant_such_a_body_falls_tumbling_and_gains_no_energy(integrator, inertia):
    """A box of hardly any inertia about one axis, or about all, with friction; the surfaces take energy or keep it. Of
    the spin about an axis without inertia no more is made than what rounding of the axis is, see above."""
    lean = body("lean", (0, 0, 0.3), {"type": "box", "size": [0.2, 0.1, 0.15]}, 1.0, inertia,
                angular_velocity=(1.0, 2.0, 3.0), velocity=(1.0, 0.5, 0.0), euler=(10.0, 20.0, 0.0))
    sim = simulate(ground(), lean, method="compliant", integrator=integrator)
    before = sim.energy().total
    for _ in range(72):
        sim.step()
        assert sim.energy().total + sim.info.stored <= before + 4.5 * min(inertia) + 1e-12 * before


@pytest.mark.parametrize(("method", "integrator"), [
    ("time_stepping", "rk4"), ("event_driven", "rk4"), ("compliant", "euler")])
@pytest.mark.parametrize("I", [1e-6, 1e-9])
def test_where_fixed_steps_turn_such_a_body_too_far_the_run_is_stopped_and_says_what_to_take(method, integrator, I):
    """Between the stages of rk4 the axis is off by (ω h)², which is a spin of 1e2 rad/s: energy from nothing. What is
    then said to be taken keeps it."""
    sim, alarm, said = needle(method, integrator, I), EnergyAlarm(), ""
    while not said and sim.time < 0.25:
        sim.step()
        said = alarm.look(sim)
    if integrator == "rk4":
        assert said.endswith(INTEGRATORS["dopri5"].title)
        assert "the step is too long for this motion; take a shorter step h, or" in said
    else:
        assert f"{INTEGRATORS['euler'].title} gives energy" in said


def test_explicit_euler_that_gives_energy_is_stopped_and_the_way_out_keeps_its_energy():
    """The gallery's double pendulum. Stopped where half of what it has is from nothing, and said by name; what is then
    to be taken gives nothing to the same time."""
    runs = {}
    for integrator in ("euler", "rk4"):
        scene, alarm, said = Scene.load(gallery()["double_pendulum"]), EnergyAlarm(), ""
        sim = Simulation(scene, "event_driven", integrator=integrator)
        before = sim.energy().total
        while not said and sim.time < 1.25:
            sim.step()
            said = alarm.look(sim)
        runs[integrator] = said, sim.energy().total - before
    said, gained = runs["euler"]
    assert f"{INTEGRATORS['euler'].title} gives energy" in said and INTEGRATORS["rk4"].title in said
    assert gained < 10.0
    assert runs["rk4"][0] == "" and runs["rk4"][1] <= 1e-6


def test_explicit_euler_keeps_a_chain_on_its_peg():
    """It takes the chain over the peg for half a second without giving it what would stop the run. The chain came to a
    million times its energy while contacts into which drift had pushed the links were lost."""
    sim, alarm = Simulation(Scene.load(gallery()["chain"]), "event_driven", integrator="euler"), EnergyAlarm()
    while sim.time < 0.5:
        sim.step()
        assert sim.info.status == "solved" and alarm.look(sim) == ""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inertia", [(1.0, 1.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_body_that_moves_and_has_no_inertia_about_an_axis_is_refused(method, inertia):
    """L/I has no value."""
    with pytest.raises(SceneError, match=r"inertia is .*its principal moments must be greater than 0"):
        simulate(body("lean", (0, 0, 1), {"type": "sphere", "radius": 0.1}, 1.0, inertia), method=method)


@pytest.mark.parametrize("k", [1e-4, 1e-8])
@pytest.mark.parametrize("how", [{"velocity": [1.0, 0.5, 0.0], "angular_velocity": [0.0, 3.0, 0.0]},
                                 {"angular_velocity": [5.0, 0.0, 3.0]}])
def test_compliant_a_ball_of_almost_no_inertia_rolls_at_once_in_implicit_steps(k, how):
    """I = k m r²: friction of μ m g turns the ball at μ g/(k r), 5e9 rad/s², so that slip ends within a step, and the
    speed changes by a part k. At the depth d the contact is half as deep, 1 - d/2r radii from the centre: so it rolls,
    to (d/r)². All steps are found in as many iterations as with the inertia of a ball, and none gains energy."""
    r = 0.1
    sim = simulate(ground(), ball("ball", (0, 0, r), r, k=k, **how), method="compliant", integrator="sdirk2")
    before, iterations = sim.energy().total, 0
    start, spin = sim.velocity("ball").copy(), sim.angular_velocity("ball")[2]
    for _ in range(STEPS):
        sim.step()
        assert sim.info.status == "solved"
        assert sim.energy().total <= before
        iterations += sim.info.iterations
    assert iterations <= 10 * STEPS
    depth = 1.0 - sim.position("ball")[2] / r
    v, w = sim.velocity("ball"), sim.angular_velocity("ball")
    assert np.abs(v[:2] - start[:2]).max() <= 2.0 * k
    slip = v[:2] + (1.0 - 0.5 * depth) * r * np.array([-w[1], w[0]])
    assert np.abs(slip).max() <= depth**2 + 2.0 * k
    assert w[2] == pytest.approx(spin, rel=1e-9)


@pytest.mark.parametrize(("method", "coordinates"), [
    *((method, "generalized") for method in METHODS), ("event_driven", "maximal"), ("compliant", "maximal")])
def test_a_stiff_damper_on_a_light_wrist_lets_it_sink_as_fast_as_its_torque_says(method, coordinates):
    """C q̇ = ½ m g l cos q: the damper takes e^(-C t/I), I = m l²/3, C/I = 3000/s: 12.5 in a step, where the classical
    Runge–Kutta method is stable up to 2.79. I q̈ is 1e-7 of C q̇; in the step that a method may lag q changes by 2e-4,
    and cos q by 1e-6."""
    wrist = rod("wrist", (0, 0, 0), (0.1, 0, 0), mass=0.1)
    joint = hinge("world", "wrist", (0, 0, 0)) | {"damping": 1.0, "coordinates": coordinates}
    sim = Simulation(Scene.from_dict(joined([wrist], [joint], method=method, h=1 / 240)))
    for _ in range(24):
        sim.step()
    q, speed = np.arcsin(-20.0 * sim.position("wrist")[2]), abs(sim.angular_velocity("wrist")[1])
    assert speed == pytest.approx(0.1 * G * 0.05 * np.cos(q), rel=1e-5)
    assert q == pytest.approx(speed * (sim.time - 1.0 / 3000.0), abs=speed / 240.0)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize(("method", "integrator"), [
    *(("event_driven", name) for name in ("heun", "rk4", "dopri5")), *(("compliant", name) for name in INTEGRATORS)])
def test_a_damper_of_twenty_in_a_step_takes_the_speed_to_the_order_of_the_integrator(method, integrator, coordinates):
    """C/I h = 20, I = m l²/3. In pieces of z = C/I Δt, at most this share of what is stable, the speed u falls by
    e^-20, but for 20/z times the local error z^(p + 1)/(p + 1)! relative to e^-z; error control leaves 1e-12 rad/s. In
    maximal coordinates the joint, whose directions turn by θ = u I/C, may leave θ² of u. No energy is gained, but for
    that of the error."""
    u, decay = 0.01, 20.0
    wrist, joint = rod("wrist", (0, 0, 0), (0.1, 0, 0), mass=0.1), hinge("world", "wrist", (0, 0, 0))
    joint |= {"velocity": u, "damping": decay / H * 0.1**3 / 3.0, "coordinates": coordinates}
    sim = Simulation(Scene.from_dict(joined([wrist], [joint], gravity=(0.0, 0.0, 0.0), method=method,
                                            integrator=integrator, h=H)))
    energy, rounding = sim.energy().total, 0.5 * 0.1**3 / 3.0 * 1e-24
    sim.step()
    used, left = INTEGRATORS[integrator], -sim.angular_velocity("wrist")[1] / u
    z, p = real_limit(integrator) * {"event_driven": STABLE_SHARE, "compliant": USED_SHARE}[method], used.order
    error = 1e-12 / u * np.exp(decay) if used.adaptive else decay * z**p / factorial(p + 1) * np.exp(z)
    assert abs(np.log(left) + decay) <= error + (u * H / decay) ** 2 * np.exp(decay)
    for _ in range(12):
        assert sim.energy().total <= energy + rounding
        energy = sim.energy().total
        sim.step()


def test_a_body_that_turns_too_often_in_a_step_is_said_to_and_the_step_ends():
    """An implicit step is made in parts in none of which a body turns so far that Newton's method does not find it, and
    in MOST_SUBSTEPS at most: a block that should make 10⁵ turns in a step asks for more, and is told to be followed
    no further."""
    sim = simulate(block("block", (0, 0, 1), (0.3, 0.2, 0.1), angular_velocity=[1e8, 1e8, 1e8]), method="compliant",
                   integrator="sdirk2")
    sim.step()
    assert sim.info.status == f"{MOST_SUBSTEPS} substeps are too few" and sim.info.substeps >= MOST_SUBSTEPS
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()
