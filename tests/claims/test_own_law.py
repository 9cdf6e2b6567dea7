"""Laws of soft surfaces and forces that scripts bring along."""

import math
from dataclasses import replace

import numba
import numpy as np
import pytest

import contactlab
from contactlab.physics import SceneError
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.messages import Side
from contactlab.physics.run.run_file import read_run, write_run
from contactlab.physics.scene.gains import Gains, meaning
from contactlab.physics.simulation.failure import CannotStep

pytestmark = pytest.mark.usefixtures("no_law_stays")

MASS, RADIUS, G = 1.0, 0.1, 9.81
GAINS = {"stiffness_n": 1e5, "damping_n": 20.0, "stiffness_t": 1e5, "damping_t": 20.0}


@numba.njit
def clipped(depth, rate, k, d):
    return k * depth + d * rate


@numba.njit
def elastic(depth, rate, k, d):
    return k * depth**1.5 * (1.0 + d * rate)


def ball(height=RADIUS + 0.05, speed=0.0, **settings):
    scene = contactlab.Scene.from_dict({"body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, height], "velocity": [0.3, 0, -speed], "mass": MASS,
         "inertia": [0.004] * 3, "shape": [{"type": "sphere", "radius": RADIUS}]}]})
    sim = contactlab.Simulation(scene)
    sim.set(**{"method": "compliant", **GAINS, **settings})
    return sim


def states(law, steps, **settings):
    sim = ball(law=law, h=1e-3, **settings)
    for _ in range(steps):
        sim.step()
    bodies = sim.state.bodies
    return np.hstack([bodies.x, bodies.q, bodies.P, bodies.L])


def test_a_law_written_down_again_gives_the_same_bits():
    """F = K δ + D δ̇ is `kelvin_voigt`, of which the ball of 1 kg bounces twice within 400 ms."""
    assert "compiled" in contactlab.soft_law("again", clipped)
    for integrator in ("rk4", "dopri5"):
        given = {"integrator": integrator, "substeps": 4}
        assert np.array_equal(states("again", 400, **given), states("kelvin_voigt", 400, **given))


def test_implicit_steps_agree_with_the_closed_form_of_a_linear_law():
    """Their force is the root of an equation in the gap, whose slope comes from differences here and is K + D/h there:
    Newton's method ends at the same root, to its tolerance of 1e-10 in each of 150 steps."""
    contactlab.soft_law("again", clipped)
    given = {"integrator": "sdirk2"}
    assert states("again", 150, **given) == pytest.approx(states("kelvin_voigt", 150, **given), abs=1e-7)


def test_the_depth_and_the_energy_of_an_impact_are_those_of_the_integral():
    """½ m v² = ⅖ K δ^{5/2} at the turning point, and without D nothing is lost: the ball leaves as fast as it came. The
    error of rk4 in steps of h over a contact of T = 2.94 δ/v = 32 ms is of the order (h/T)⁴ < 1e-8."""
    contactlab.soft_law("elastic", elastic, units=("N/m^1.5", "s/m"))
    speed, k = 1.0, 1e5
    sim = ball(RADIUS + 1e-6, speed, law="elastic", stiffness_n=k, damping_n=0.0, h=2e-4, integrator="rk4",
               gravity=(0, 0, 0), friction=0.0)
    deepest, energies = 0.0, []
    for _ in range(200):
        sim.step()
        deepest = max(deepest, RADIUS - float(sim.position("ball")[2]))
        energies.append(sim.energy().total + sim.info.stored)
    expected = (2.5 * 0.5 * MASS * speed**2 / k) ** 0.4
    assert deepest == pytest.approx(expected, rel=0.63 * (1e-4 * speed / expected) ** 2)  # ½ a t², a = 1.25 v²/δ
    assert sim.velocity("ball")[2] == pytest.approx(speed, rel=1e-6)
    assert np.ptp(energies) < 1e-6 * 0.5 * MASS * speed**2


def test_what_gains_mean_follows_from_the_function():
    """Under its weight the ball sinks to δ = (m g/K)^{2/3}, ω² = 3/2 K √δ/m; without D an impact loses nothing."""
    contactlab.soft_law("elastic", elastic)
    found = meaning(Gains("elastic", 1e5, 0.0), MASS, G, 1.0)
    sag = (MASS * G / 1e5) ** (2.0 / 3.0)
    assert found.sag == pytest.approx(sag, rel=1e-9)
    assert found.frequency == pytest.approx(math.sqrt(1.5e5 * math.sqrt(sag) / MASS) / (2.0 * math.pi), rel=1e-6)
    assert found.restitution == pytest.approx(1.0, abs=1e-3)
    assert found.time == pytest.approx(2.9432 * (1.25 / 1e5) ** 0.4, rel=1e-2)  # Hertz's, at 1 m/s


def test_plain_python_does_the_same_and_says_what_it_costs():
    contactlab.soft_law("compiled", clipped)
    told = contactlab.soft_law("plain", lambda depth, rate, k, d: k * depth + d * rate)
    assert "Python" in told and "a call" in told and LAWS["plain"].title == told
    given = {"integrator": "rk4", "substeps": 2}
    assert np.array_equal(states("compiled", 150, **given), states("plain", 150, **given))


def test_a_law_that_fails_stops_the_step_with_its_line_and_the_state_is_that_before():
    def brittle(depth, rate, k, d):
        if depth > 2e-3:
            raise ArithmeticError("broken")
        return k * depth

    contactlab.soft_law("brittle", brittle)
    sim = ball(law="brittle", damping_n=0.0)
    with pytest.raises(CannotStep, match=r'in line \d+ of test_own_law.py, `raise ArithmeticError\("broken"\)`'):
        sim.run(until=1.0)
    assert np.isfinite(sim.position("ball")).all() and sim.time < 0.2
    sim.set(law="kelvin_voigt")
    sim.run(until=0.3)


def test_sides_of_a_comparison_move_by_own_laws_as_they_would_alone():
    contactlab.soft_law("elastic", elastic)
    contactlab.soft_law("plain", lambda depth, rate, k, d: k * depth + d * rate)
    laws, given = ("elastic", "plain", "kelvin_voigt"), {"integrator": "rk4", "substeps": 2}
    sim = ball(h=1e-3, **given)
    run = Comparison(sim.scene, {}, 16)
    run.compare([Side(replace(sim.settings, law=law)) for law in laws])
    for _ in range(150):
        run.step()
    for member, law in zip(run.members, laws, strict=True):
        bodies = member.simulation.state.bodies
        assert np.array_equal(np.hstack([bodies.x, bodies.q, bodies.P, bodies.L]), states(law, 150, **given))


def test_a_run_by_an_own_law_opens_where_the_law_is_known_and_is_refused_by_name_elsewhere(tmp_path):
    contactlab.soft_law("elastic", elastic)
    sim = ball(law="elastic", h=1e-3)
    run = Comparison(sim.scene, {}, 16)
    run.compare([Side(sim.settings)])
    for _ in range(60):
        run.step()
    path = tmp_path / "a.contactlab"
    write_run(path, run.heading, run.take(everything=True))
    again = Comparison(sim.scene, {}, 16, read_run(path))
    again.seek(60)
    assert again.differs is None and again.simulation.settings.law == "elastic"
    del LAWS["elastic"]
    with pytest.raises(SceneError, match=r"a.contactlab: was computed by the soft law 'elastic', which a script"):
        read_run(path)


@pytest.mark.parametrize("name, force, said", [
    ("linear", clipped, "needs a name that is none of linear"), ("", clipped, "needs a name"), (3, clipped, "needs a"),
    ("mine", 5, "must be a function"), ("mine", lambda depth: depth, "fails for"),
    ("mine", lambda *_: math.nan, "gives nan"), ("mine", numba.njit(lambda depth: depth), "four numbers"),
    ("mine", numba.njit(lambda depth, rate, k, d: "much"), "numba cannot compile"),
])
def test_what_is_no_law_is_refused_and_none_is_added(name, force, said):
    before = dict(LAWS)
    with pytest.raises(ValueError, match=said):
        contactlab.soft_law(name, force)
    assert before == LAWS


# ------------------------------------------------------------------------------------------------- forces


@numba.njit
def swirl(t, x, q, v, w, force, torque):
    for i in range(len(x)):
        force[i, 0] += -2.0 * v[i, 1]
        force[i, 1] += 2.0 * v[i, 0]
        torque[i, 2] += 0.001


def in_python(sim):
    for body in sim.bodies.moving:
        v = body.velocity
        body.apply_force((-2.0 * v[1], 2.0 * v[0], 0.0))
        body.apply_torque((0.0, 0.0, 0.001))


def test_a_force_law_is_a_controller_for_all_bodies_at_once_and_is_recorded():
    """The ball turns as a charge in a magnetic field. The same force by a controller gives the same bits; steps that
    are made again do not ask the law."""
    one, other = ball(1.0, method="time_stepping"), ball(1.0, method="time_stepping")
    one.force_law, other.controller = swirl, in_python
    one.record_history()
    for _ in range(30):
        one.step()
        other.step()
    end = one.state.bodies.x.copy()
    assert np.array_equal(end, other.state.bodies.x) and np.array_equal(one.state.bodies.L, other.state.bodies.L)
    assert abs(one.velocity("ball")[1]) > 0.01
    one.force_law = None
    one.replaying = True
    one.seek(3)
    one.seek(30)
    assert np.array_equal(one.state.bodies.x, end)


def test_a_force_law_that_fails_or_gives_no_number_is_a_sentence_and_changes_nothing():
    sim = ball(1.0)

    def writes(t, x, *_):
        x[:] = 0.0

    def nothing(t, x, q, v, w, force, torque):
        force[1, 2] = math.nan

    for law, said in ((writes, "read-only"), (nothing, "no finite number")):
        sim.force_law, before = law, sim.position("ball").copy()
        with pytest.raises(CannotStep, match=said):
            sim.step()
        assert np.array_equal(sim.position("ball"), before) and not sim.loads.force.any()
