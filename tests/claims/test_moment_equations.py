"""The tabs of equations and impacts hold the rows of moments against turning: what they show is what was solved."""

import numpy as np
import pytest
from contact_scenes import ball, ground

from contactlab.physics.look.inspection import look
from contactlab.physics.look.moments import MomentsView
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.problem.residual import natural_map
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

H, R = 1 / 240, 0.1
ROLLING = {"velocity": (1.0, 0.0, 0.0), "angular_velocity": (0.0, 10.0, 20.0)}


def rough(*bodies, spin=0.004, roll=0.006, mu=0.6, e=0.0, method="event_driven", **solver):
    material = {"friction": mu, "friction_torsional": spin, "friction_rolling": roll, "restitution": e}
    return Simulation(Scene.from_dict({"solver": {"method": method, "h": H, **solver}, "body": list(bodies),
                                       "material": {"default": material}}))


def box(name="box", **fields):
    return {"name": name, "mass": 1.3, "shape": [{"type": "box", "size": [0.2, 0.3, 0.1]}], **fields}


def tipping():
    """A block that tips over two corners of its edge, whose moments lift it and press it."""
    tilt = np.deg2rad(30.0)
    height = 0.5 * (0.2 * np.sin(tilt) + 0.1 * np.cos(tilt))
    return box(position=[0.0, 0.0, height], euler=[0.0, 30.0, 0.0])


def equations(sim):
    found = look(sim, m.Inspect("equations")).equations
    assert found is not None
    return found


def moments(sim) -> MomentsView:
    found = equations(sim).moments
    assert found is not None
    return found


SCENES = {"ball": (ball("ball", (0.0, 0.0, R), radius=R, **ROLLING),), "tipping": (tipping(),),
          "two": (box("low", position=[0.0, 0.0, 0.05]), ball("ball", (0.02, 0.03, 0.2), radius=R, **ROLLING))}


@pytest.mark.parametrize("scene", SCENES)
def test_the_equations_with_moments_are_those_that_event_driven_solved(scene):
    """0 <= ζ̇ = M λ + d ⊥ λ >= 0 with d = d_n + M_nt f_t + M_nm m has the method's own λ, which without M_nm m it has
    not where a moment lifts or presses, as it does but where a single ball rolls; and
    α = M_mn λ + M_mt f_t + M_mm m + d_m obeys the law of the moments. Forces are sums of some dozen
    products, solved with matrices of a condition below 1e3."""
    sim = rough(ground(), *SCENES[scene])
    sim.run(until=8 * H)
    view = equations(sim)
    shown, size = view.moments, float(np.abs(view.problem.d).max())
    assert shown is not None
    assert len(shown.bound) == 2 * len(view.problem.d)
    zeta_dot = view.problem.M @ view.method + view.problem.d
    assert np.abs(np.minimum(zeta_dot, view.method)).max() <= 1e-12 * max(size, float(view.method.max()))
    assert (np.linalg.norm(shown.moment, axis=1) <= shown.bound * (1.0 + 1e-12) + 1e-15).all()
    assert shown.residual.max() <= 1e-11 * float(np.abs(shown.parts).max())
    left_out = view.problem.d - _of_moments(shown)
    changed = np.abs(view.problem.M @ view.method + left_out).max()
    assert (changed > 1e-3 * size) == (scene != "ball")


def _of_moments(shown):
    """M_nm m of the normal rows."""
    rows = shown.rows
    given = np.zeros(len(rows.d))
    given[-3 * len(shown.bound) :].reshape(-1, 3)[:, 1:] = shown.moment / rows.borne.length[:, None]
    return (rows.M @ given)[: 3 * len(shown.contacts.key) : 3]


@pytest.mark.parametrize(("method", "scene"), [
    *(("event_driven", scene) for scene in SCENES), *(("time_stepping", scene) for scene in ("ball", "tipping"))])
def test_alpha_is_the_rate_of_omega_that_follows(method, scene):
    """(ω(t + h) - ω(t))/h, in which normals and forces have changed by a part h × ω, ω up to 20 rad/s: 2e-3 at
    h = 1e-4. Soft surfaces change theirs faster than that, and time stepping has the forces of the
    middle of its step, where the ball on the block stood elsewhere."""
    sim = rough(ground(), *SCENES[scene], method=method)
    sim.set(h=1e-4)
    sim.run(until=0.03)
    before = moments(sim)
    sim.step()
    after = moments(sim)
    assert len(before.omega) == len(after.omega) > 0
    rate = (after.omega - before.omega) / sim.settings.h
    assert np.abs(rate - before.alpha).max() <= 20.0 * sim.settings.h * np.abs(before.parts).max()


def test_time_stepping_and_event_driven_show_the_same_moments():
    """Of a ball that rolls and spins, m = -ℓ λ ω/|ω| whatever the method: of time stepping to what its solver leaves of
    the impulse, of soft surfaces, where the ball slips across by the part μ g h/v of its speed, to that."""
    shown = []
    for method in ("event_driven", "time_stepping", "compliant"):
        sim = rough(ground(), *SCENES["ball"], method=method)
        sim.run(until=0.2)
        shown.append(moments(sim))
    for other, part in zip(shown[1:], (1e-6, 0.6 * 9.81 * H), strict=True):
        assert np.abs(other.bound - shown[0].bound).max() <= 1e-6 * shown[0].bound.max()
        assert np.abs(other.moment - shown[0].moment).max() <= part * shown[0].bound.max()
    assert np.isnan(shown[2].residual).all()
    assert shown[1].residual.max() <= 1e-6 * np.abs(shown[1].parts).max()


FALLING = {
    "ball": (ball("ball", (0.0, 0.0, R + 0.05), radius=R, **ROLLING),),
    "box": (box(position=[0.0, 0.0, 0.3], euler=[20.0, 30.0, 10.0], angular_velocity=[3.0, 2.0, 8.0]),),
}


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge", "sequential", "coulomb"])
@pytest.mark.parametrize("scene", ["ball", "box"])
def test_the_impact_shown_is_the_one_that_happened(scene, law):
    """Velocities, energy and moments of an impact, as the tab finds them anew by the law of the run: those that the run
    had. The step is made again up to the impact, and what is found there to rounding."""
    sim = rough(ground(), *FALLING[scene], e=0.4, impact_law=law)
    sim.record_history()
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    hits = [event for event in sim.events if event.kind == "impact"]
    assert len(hits) == 1
    view = look(sim, m.Inspect("impact")).impact
    assert view is not None
    found, shown = view.impacts[law], view.moments[law]
    assert found.loss == pytest.approx(hits[0].energy_before - hits[0].energy_after, rel=1e-9)
    world = shown.impulse[:, :, None] * view.contacts.moments.axes
    w = sim.state.bodies.w[1]
    if scene == "ball":  # whose ω nothing else changes on the rest of the step
        assert np.abs(view.after[law][0, 3:] - w).max() <= 1e-12 * np.linalg.norm(w)
    bound = view.contacts.moments.borne.limit * found.impulse[0]
    assert (np.linalg.norm(world.sum(axis=1), axis=1) <= bound * (1.0 + 1e-9)).all()
    assert np.linalg.norm(shown.impulse, axis=1).min() > 0.0



# ---------------------------------------------------------------------------------------------- the problem as data
MASS, INERTIA, SPIN_LENGTH, ROLL_LENGTH, G = 1.0, 0.4 * R**2, 0.004, 0.006, 9.81


def rows_of_a_ball(problem):
    """W (3, 3) and M (3, 3) of a ball on a plane: a spin, and rolls about t1 and t2. Its lowest point is R below the
    centre: e × (-R n)/I of a unit moment about e."""
    rows = problem.moments
    assert rows.bearer.tolist() == [0, 0, 0] and rows.spins.tolist() == [True, False, False]
    assert rows.limit.tolist() == [SPIN_LENGTH, ROLL_LENGTH, ROLL_LENGTH]
    arm = R / INERTIA
    np.testing.assert_allclose(rows.W, [[0, 0, 0], [0, 0, -arm], [0, arm, 0]], rtol=0, atol=1e-13 * arm)
    np.testing.assert_allclose(rows.M, np.eye(3) / INERTIA, rtol=1e-14, atol=1e-13 / INERTIA)
    return rows


def tangents_of(normal):
    """t1, t2 of a vertical normal: x and y [Duff et al. 2017]."""
    assert normal.tolist() == [0.0, 0.0, 1.0]
    return np.eye(3)[:2]


@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
def test_the_problem_of_a_rolling_ball_is_solved_by_the_closed_form(method):
    """Forces, and with h impulses: λ = m g, m = -ℓ λ ω/|ω|, and the friction that keeps it rolling slows it by
    g ℓ/R /(1 + I/(m R²)) [Johnson, Contact Mechanics, § 8.3]. The step that follows has these rates."""
    sim = rough(ground(), *SCENES["ball"], method=method)
    speed, spin = ROLLING["velocity"][0], ROLLING["angular_velocity"][2]
    problem, h = sim.problem(), H if method == "time_stepping" else 1.0
    rows, slows = rows_of_a_ball(problem), G * ROLL_LENGTH / R / (1.0 + INERTIA / (MASS * R * R))
    t1, t2 = tangents_of(np.array([0.0, 0.0, 1.0]))
    about = np.array([0.0, t1[1], t2[1]])  # the roll goes about y
    moment = -MASS * G * h * (ROLL_LENGTH * about + SPIN_LENGTH * np.array([1.0, 0.0, 0.0]))
    force = MASS * h * np.array([G, -slows * t1[0], -slows * t2[0]])
    turning = about * speed / R + np.array([spin, 0.0, 0.0])
    np.testing.assert_allclose(rows.d, turning if method == "time_stepping" else 0.0, rtol=0, atol=1e-12 * spin)
    np.testing.assert_allclose(rows.omega, 0.0 if method == "time_stepping" else turning, rtol=0, atol=1e-12 * spin)
    u, omega = problem.answer(force, moment)
    rate = -about * slows / R - np.array([SPIN_LENGTH * MASS * G / INERTIA, 0.0, 0.0])
    np.testing.assert_allclose(u, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(omega, rows.d + h * rate, rtol=0, atol=1e-11 * spin)
    np.testing.assert_allclose(problem.bounds(force), MASS * G * h * rows.limit, rtol=1e-14)
    assert problem.given(moment).moments is None
    assert natural_map(problem.given(moment), force) <= 1e-12
    sim.step()
    followed = (sim.state.bodies.w[1] - ROLLING["angular_velocity"])[[2, 0, 1]] / H
    np.testing.assert_allclose(followed, rate, rtol=0, atol=1e-6 * np.abs(rate).max())


@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
def test_a_ball_is_held_against_a_torque_by_the_moments_of_its_problem(method, tmp_path):
    """By the opposite of the torque, within the bounds, and no friction; a saved problem has the same rows."""
    sim = rough(ground(), ball("ball", (0.0, 0.0, R), radius=R), method=method)
    h = H if method == "time_stepping" else 1.0
    torque = 0.5 * MASS * G * np.array([ROLL_LENGTH, 0.0, SPIN_LENGTH])
    sim.apply_torque("ball", torque)
    sim.problem().save(tmp_path / "held.npz")
    problem = ContactProblem.load(tmp_path / "held.npz")
    rows, moment = rows_of_a_ball(problem), -h * torque[[2, 0, 1]]
    np.testing.assert_allclose(rows.d, -moment / INERTIA, rtol=1e-12, atol=1e-12)
    force = np.array([MASS * G * h, 0.0, 0.0])
    u, omega = problem.answer(force, moment)
    np.testing.assert_allclose(np.concatenate([u, omega]), 0.0, rtol=0, atol=1e-12)
    assert (np.abs(moment) <= problem.bounds(force)).all()


def test_the_problem_of_an_impact_has_its_moments():
    """Newton's law with e; the spin loses ℓ_ψ λ/I, rolling ends where ℓ_r λ allows it."""
    e, falls, spin = 0.5, 2.0, 20.0
    sim = rough(ground(), ball("ball", (0.0, 0.0, R), radius=R, velocity=(0.0, 0.0, -falls),
                               angular_velocity=(0.0, 0.0, spin)), e=e)
    problem = sim.problem()
    rows = rows_of_a_ball(problem)
    np.testing.assert_allclose(problem.d, [-falls * (1.0 + e), 0.0, 0.0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.d, [spin, 0.0, 0.0], rtol=1e-12, atol=1e-12)
    force = np.array([MASS * falls * (1.0 + e), 0.0, 0.0])
    moment = np.array([-problem.bounds(force)[0], 0.0, 0.0])
    sim.step()
    assert sim.state.bodies.w[1, 2] == pytest.approx(problem.answer(force, moment)[1][0], rel=1e-12)
