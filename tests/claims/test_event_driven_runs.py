"""Claims about `event_driven` as users run it: chosen live, pulled by the mouse, gone back in, refused."""

import numpy as np
import pytest
import trimesh
from contact_scenes import G, ball, block, ground, simulate

from contactlab.assets import gallery
from contactlab.physics.impacts.impact_laws import IMPACT_LAWS, ball_impact
from contactlab.physics.methods.event_driven.sets import SLIDE, STICK, Friction, resolve
from contactlab.physics.scene.scene import Scene, SceneError
from contactlab.physics.simulation.simulation import Simulation


def exact(*bodies, **keywords):
    return simulate(*bodies, method="event_driven", **keywords)


def test_switching_methods_in_the_middle_of_a_run_goes_on_where_it_was():
    """A block sliding on the floor with μ = 0.2: both methods brake it by μ g, whoever takes over from whom."""
    sim = simulate(ground(), block("b", (0, 0, 0.25), velocity=(3.0, 0, 0)), mu=0.2)
    for k, method in enumerate(["time_stepping", "event_driven"] * 2):
        before, events = sim.velocity("b")[0], sim.event_count
        sim.set(method=method)
        sim.run(until=0.25 * (k + 1))
        assert before - sim.velocity("b")[0] == pytest.approx(0.2 * G * 0.25, abs=0.2 * G / 240)
        assert sim.contacts.current.sum() == 4
        assert sim.contacts.lam.sum() == pytest.approx(G, rel=1e-6)
        assert abs(sim.position("b")[2] - 0.25) < 1e-3
        assert k == 0 or sim.event_count == events  # taking over is no event


def test_going_back_and_on_again_gives_the_same_bits():
    """Bounces, friction, a change of the slider and of the method: every seek and every replay is exact."""
    sim = exact(ground(), block("b", (0, 0, 0.3), velocity=(1.0, 0.3, 0), angular_velocity=(0.5, 1, 0)),
                ball("a", (0.5, 0, 0.5)), e=0.5, mu=0.3)
    sim.record_history()
    seen = []
    for step in range(60):
        if step == 25:
            sim.set(friction=0.6)
        if step == 40:
            sim.set(method="time_stepping")
        if step == 50:
            sim.set(method="event_driven")
        sim.step()
        seen.append((sim.q.tobytes(), sim.v.tobytes(), sim.contacts.lam.tobytes(), sim.info))
    for step in (30, 10, 45, 55, 24, 60):
        sim.seek(step)
        assert (sim.q.tobytes(), sim.v.tobytes(), sim.contacts.lam.tobytes(), sim.info) == seen[step - 1]
    sim.seek(20)
    saved = sim.save()
    sim.run(until=0.2)
    first = sim.q.tobytes()
    sim.restore(saved)
    sim.run(until=0.2)
    assert sim.q.tobytes() == first


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("h", [1 / 30, 1 / 1000])
@pytest.mark.parametrize("integrator", ["euler", "rk4", "dopri5"])
def test_the_mouse_holds_bodies_of_every_mass_at_every_step(mass, h, integrator):
    """Critically damped: it comes to the target without passing it far, and hangs m g/k below, k = ω² m."""
    sim = exact(ball("b", (0, 0, 1), mass=mass), h=h, integrator=integrator)
    sim.grab("b", (0, 0, 1), (0, 0, 1.5))
    heights = []
    while sim.time < 2.0:
        sim.step()
        heights.append(sim.position("b")[2])
    rate = min(8 * np.pi, 0.5 / h)
    assert max(heights) < 1.5
    assert heights[-1] == pytest.approx(1.5 - G / rate**2, abs=1e-5)
    assert sim.loads.grab_force[2] == pytest.approx(mass * G, rel=1e-3)


def test_the_mouse_presses_a_body_against_the_floor_and_the_contact_carries_it():
    sim = exact(ground(), block("b", (0, 0, 0.25)))
    sim.grab("b", (0, 0, 0.5), (0, 0, -3.0))
    for _ in range(30):
        sim.step()
    assert sim.loads.grab_force[2] == pytest.approx(-20 * G, rel=1e-9)  # the spring's limit
    assert sim.contacts.lam.sum() == pytest.approx(21 * G, rel=1e-9)
    assert sim.position("b")[2] == pytest.approx(0.25, abs=1e-9)


def test_a_scene_without_exact_gaps_is_refused_in_a_sentence_and_the_run_goes_on(tmp_path):
    """A terrain of 20 402 triangles, which may have 20 000."""
    side = np.linspace(-5.0, 5.0, 102)
    x, y = np.meshgrid(side, side, indexing="ij")
    row = np.arange(102 * 102).reshape(102, 102)
    a, b, c, d = (part.ravel() for part in (row[:-1, :-1], row[1:, :-1], row[1:, 1:], row[:-1, 1:]))
    points = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(x * y).ravel()])
    trimesh.Trimesh(points, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
                    process=False).export(tmp_path / "hills.stl")
    hills = {"name": "hills", "fixed": True, "position": [0.0, 0.0, -5.0],
             "shape": [{"type": "mesh", "file": "hills.stl", "collide": "surface"}]}
    scene = {"body": [hills, ball("b", (0, 0, 1))]}
    sim = Simulation(Scene.from_dict(scene, tmp_path))
    sim.step()
    told = (r"^event_driven knows no exact gap of 'hills' and 'b' \(a mesh, which may have 20,?000 triangles at most,? "
            r"and a sphere\); time_stepping takes them$")
    with pytest.raises(ValueError, match=told):
        sim.set(method="event_driven")
    assert sim.settings.method == "time_stepping"
    sim.step()
    assert sim.step_count == 2


def test_a_scene_file_chooses_method_and_impact_law():
    file = {"solver": {"method": "event_driven", "impact_law": "poisson"}, "body": [ground(), ball("b", (0, 0, 1))]}
    sim = Simulation(Scene.from_dict(file))
    assert (sim.settings.method, sim.settings.impact_law) == ("event_driven", "poisson")
    with pytest.raises(SceneError, match=r"solver\.impact_law is .*one of newton, poisson, stronge, sequential"):
        Scene.from_dict({"solver": {"impact_law": "magic"}})
    with pytest.raises(ValueError, match="impact_law must be one of newton, poisson, stronge, sequential"):
        sim.set(impact_law="magic")


def test_the_counts_say_how_often_contact_problems_were_solved():
    """A block that slides on ice: one problem where it starts, none in all the steps after."""
    sim = exact(ground(), block("b", (0, 0, 0.25), velocity=(1, 0, 0)), mu=0.0)
    sim.run(until=1.0)
    assert (sim.info.steps, sim.info.solves, sim.info.events) == (240, 1, 0)
    assert sim.info.residual < 1e-12


@pytest.mark.parametrize(("law", "speeds"), [
    ("newton", (-1 / 3, 2 / 3, 2 / 3)), ("poisson", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0.0, 0.0, 1.0)),
    ("coulomb", (-1 / 3, 2 / 3, 2 / 3)),
])
def test_the_cradle_tells_impact_laws_apart(law, speeds):
    """Three equal balls in touch, e = 1, the first with speed 1: at once, or one after the other."""
    balls = [ball(name, (0.2 * i, 0, 0), velocity=(1.0 if i == 0 else 0.0, 0, 0)) for i, name in enumerate("abc")]
    sim = exact(*balls, e=1.0, mu=0.0, gravity=(0, 0, 0))
    sim.set(impact_law=law)
    sim.step()
    assert [sim.velocity(name)[0] for name in "abc"] == pytest.approx(speeds, abs=1e-12)
    assert sim.energy().kinetic == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("law", IMPACT_LAWS)
@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5])
def test_a_ball_with_spin_bounces_by_every_law_within_the_cone_and_gains_no_energy(law, mu):
    """B9: vt = 3, vn = -4, e = 0.8: slides for μ < 0.119 with vt⁺ = 3 - μ (1 + e) 4, else sticks with vt⁺ = 15/7."""
    sim = exact(ground(), ball("b", (0, 0, 0.1 + 1e-6), velocity=(3.0, 0, -4.0)), e=0.8, mu=mu, gravity=(0, 0, 0))
    before = sim.energy().total
    sim.set(impact_law=law)
    sim.step()
    assert sim.velocity("b")[2] == pytest.approx(3.2, rel=1e-12)
    assert sim.velocity("b")[0] == pytest.approx(15 / 7 if mu == 0.5 else 3.0 - 7.2 * mu, rel=1e-9)
    hit = sim.events[0]
    assert hit.kind == "impact"
    assert np.hypot(hit.impulse[0], hit.impulse[1]) <= mu * hit.impulse[2] * (1 + 1e-12) + 1e-15
    assert sim.energy().total <= before
    assert (hit.energy_before, hit.energy_after) == pytest.approx((before, sim.energy().total), rel=1e-12)


@pytest.mark.parametrize("mu", [0.05, 0.6])
def test_coulombs_impulse_slides_or_sticks_bounce_after_bounce(mu):
    """B9 in a run with impact_law = "coulomb": a ball thrown with spin about every axis hops along the floor. Of every
    blow P_n = (1 + e) m |v_n|, P_t = -m s k/(1 + k) where that is within the cone, else μ P_n against the slip s; the
    slip keeps its direction, and no blow gives energy."""
    e, k, r, m = 0.7, 0.4, 0.1, 1.0
    sim = exact(ground(), ball("b", (0, 0, r + 0.3), velocity=(3.0, -2.0, 0.0), angular_velocity=(5.0, 9.0, 4.0)), e=e,
                mu=mu)
    sim.set(impact_law="coulomb")
    v, w, drop, stuck, t = np.array([3.0, -2.0, 0.0]), np.array([5.0, 9.0, 4.0]), np.sqrt(2 * G * 0.3), [], 0.0
    arm = np.array([0.0, 0.0, -r])
    for bounce in range(6):
        t += (drop / G) * (2.0 if bounce else 1.0)
        slip = (v + np.cross(w, arm)) * (1, 1, 0)
        wanted = m * np.linalg.norm(slip) * k / (1 + k)
        blow = (1 + e) * m * drop
        stuck.append(wanted <= mu * blow)
        P = -slip / max(np.linalg.norm(slip), 1e-300) * min(wanted, mu * blow)
        v, w, drop = v + P / m, w + np.cross(arm, P) / (k * m * r * r), e * drop
        while sim.event_count <= bounce:
            sim.step()
        hit = sim.events[bounce]
        assert hit.t == pytest.approx(t, abs=1e-9)
        assert hit.impulse == pytest.approx((P[0], P[1], blow), abs=1e-9)
        assert sim.velocity("b")[:2] == pytest.approx(v[:2], abs=1e-9)
        assert sim.angular_velocity("b") == pytest.approx(w, abs=1e-8)
        assert hit.energy_after <= hit.energy_before + 1e-12
    assert not any(stuck[:2]) if mu == 0.05 else all(stuck)


def test_time_stepping_tends_to_the_exact_motion_with_its_own_order():
    """A bowled ball slides, then rolls, and a block is braked until it stops: the error of Moreau's first order scheme
    against the exact run halves with h. (The block does not spin: how four corners share its weight would then matter
    to its motion, and rigid bodies leave that open.)"""
    bodies = [ground(), ball("b", (0, 0, 0.1), velocity=(2.0, 0, 0)),
              block("c", (0, 3, 0.25), velocity=(0.3, 1.0, 0))]

    def ends(h, method):
        sim = simulate(*bodies, mu=0.3, h=h, iterations=300, method=method)
        sim.run(until=0.5)
        return np.concatenate([sim.position("b"), sim.position("c"), sim.velocity("b")])

    exact_ends = ends(1 / 240, "event_driven")
    errors = [np.abs(ends(h, "time_stepping") - exact_ends).max() for h in (1 / 240, 1 / 480, 1 / 960)]
    assert errors[0] < 2.0 * 0.5 * G / 240  # velocities within g h of the braking, over half a second
    assert np.log2(errors[0] / errors[2]) / 2.0 >= 0.9


@pytest.mark.parametrize("excess", [1e-6, -1e-6])
def test_a_block_on_four_corners_is_told_apart_at_the_verge_of_slip(excess):
    """C6: sticks iff tan θ <= μ, at μ = tan θ (1 ± 1e-6); below, it begins to slide with g (sin θ - μ cos θ)."""
    th = np.radians(25.0)
    mu = np.tan(th) * (1 + excess)
    sim = exact(ground(), block("b", (0, 0, 0.25)), mu=mu, gravity=(G * np.sin(th), 0, -G * np.cos(th)))
    problem = sim.problem()
    found = resolve(problem.M, problem.d, np.zeros(12), Friction(np.full(4, mu), np.full(4, mu), np.arange(4)), {})
    assert found.status == "solved"
    slides = max(0.0, G * (np.sin(th) - mu * np.cos(th)))
    assert np.hypot(found.rate[1::3], found.rate[2::3]) == pytest.approx(np.full(4, slides), abs=1e-12)
    assert (STICK in found.mode) == (excess > 0) != (SLIDE in found.mode)
    if excess > 0:
        sim.run(until=0.25)
        assert np.abs(sim.v).max() < 1e-12
        assert sim.event_count == 0


# ------------------------------------------------------------------------------------------------ balls
def bounced(state, e, e_t, up, k=0.4, r=0.05):
    """(v, r ω, w) of a ball after floor (up = 1) or ceiling (-1): w turns round, slip s = v - up r ω turns round
    e_t-fold, and v + up k r ω stays, for the impulse goes through the contact."""
    v, spin, w = state
    slip, kept = v - up * spin, v + up * k * spin
    v = (kept - k * e_t * slip) / (1.0 + k)
    return v, up * (v + e_t * slip), -e * w


def test_a_super_ball_comes_back_from_under_the_table():
    """Floor, underside, floor: as the closed form says, blow by blow; nothing is lost with e = e_t = 1."""
    sim = Simulation(Scene.load(gallery()["super_ball"]))
    e_t = {"smooth": -1.0, "sticking": 0.0, "super-ball": 1.0}
    started = {name: (3.0, 0.0, -4.5) for name in e_t}
    for ceiling in (False, True, False):
        for name, share in e_t.items():
            started[name] = bounced(started[name], 1.0, share, -1.0 if ceiling else 1.0)
        first = sim.event_count
        while sim.event_count < first + 3:
            sim.step()
        for name, (v, spin, _) in started.items():
            assert sim.velocity(name)[0] == pytest.approx(v, abs=1e-9)
            assert 0.05 * sim.angular_velocity(name)[1] == pytest.approx(spin, abs=1e-9)
    assert sim.velocity("super-ball")[0] < -1.0
    assert sim.velocity("smooth")[0] == pytest.approx(3.0)
    lost = [0.1 * (0.5 * (9.0 - v * v) - 0.2 * spin * spin) for v, spin, _ in started.values()]
    assert lost[2] == pytest.approx(0.0, abs=1e-12)
    assert sim.ledger["Friction"][0] == pytest.approx(-sum(lost), rel=1e-9)


@pytest.mark.parametrize("law", IMPACT_LAWS)
@pytest.mark.parametrize(("mu", "e_t", "e_psi"), [(5.0, 0.6, 0.5), (0.1, 1.0, -0.3), (0.4, -0.5, 0.0)])
def test_a_ball_rebounds_as_its_own_impact_law_says(law, mu, e_t, e_psi):
    """Obliquely, with spin about every axis, in and out of the friction cone, by every law for many contacts."""
    thrown = ball("b", (0, 0, 0.6), radius=0.25, velocity=(1.0, -0.5, -3.0), angular_velocity=(2.0, 4.0, 7.0))
    sim = exact(ground(), thrown, e=0.7, mu=mu, gravity=(0, 0, 0))
    sim.set(impact_law=law, restitution_t=e_t, restitution_psi=e_psi)
    m, r = sim.model.mass[1], 0.25
    inertia = sim.model.inertia[1, 0]
    w_t = 1.0 / m + r * r / inertia
    # contact velocity: v + ω × (-r n)
    zeta = [-3.0, 1.0 - r * 4.0, -0.5 + r * 2.0, 7.0]
    expected = ball_impact((1.0 / m, w_t, 1.0 / inertia), zeta, 0.7, e_t, e_psi, mu, np.inf)
    sim.run(0.2)
    v, w = sim.velocity("b"), sim.angular_velocity("b")
    p = expected.impulse
    assert v == pytest.approx([1.0 + p[1] / m, -0.5 + p[2] / m, -3.0 + p[0] / m], abs=1e-11)
    assert w == pytest.approx([2.0 + r * p[2] / inertia, 4.0 - r * p[1] / inertia, 7.0 + p[3] / inertia], abs=1e-10)
    assert sim.events[0].energy_before - sim.events[0].energy_after == pytest.approx(expected.loss, abs=1e-11)


def test_tangential_restitution_is_for_balls_and_never_makes_energy():
    """A box that lands on a corner does not know e_t; of balls in a heap that all touch, none gives energy."""
    tilted = block("b", (0, 0, 1.0), velocity=(2.0, 0, -3.0), angular_velocity=(1.0, 2.0, 3.0), euler=(30, 20, 10))
    runs = []
    for e_t in (None, 1.0):
        sim = exact(ground(), tilted, e=0.5, mu=0.5)
        sim.set(restitution_t=e_t, restitution_psi=e_t)
        sim.run(0.4)
        runs.append(sim.q)
    assert (runs[0] == runs[1]).all()
    heap = [ball(f"b{k}", (0.5 * np.cos(a), 0.5 * np.sin(a), 0.75), radius=0.25, angular_velocity=(3.0 * k, 1.0, 5.0))
            for k, a in enumerate(np.radians([90, 210, 330]))]
    top = ball("top", (0.02, 0.01, 1.6), radius=0.3, velocity=(0, 0, -4.0), angular_velocity=(9.0, 0, 4.0))
    sim = exact(ground(), *heap, top, e=0.9, mu=0.8)
    sim.set(restitution_t=1.0, restitution_psi=1.0)
    energy = sim.energy().total
    while sim.time < 0.8:
        sim.step()
        now = sim.energy().total
        assert now <= energy + 1e-9
        energy = now
    assert sim.event_count > 8


@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_spin_about_the_normal_is_turned_round_by_friction_alone(law):
    """On a smooth floor, μ = 0, no torque acts about the normal, whatever e_ψ says [RBDA fig. 11.9]."""
    spin = {}
    for mu in (0.0, 0.5):
        thrown = ball("b", (0, 0, 0.6), radius=0.25, velocity=(1.0, 0, -3.0), angular_velocity=(0, 4.0, 7.0))
        sim = exact(ground(), thrown, e=0.7, mu=mu, gravity=(0, 0, 0))
        sim.set(impact_law=law, restitution_t=1.0, restitution_psi=0.5)
        sim.run(0.2)
        assert [event.kind for event in sim.events] == ["impact"]
        spin[mu] = sim.angular_velocity("b")
    assert spin[0.0] == pytest.approx([0.0, 4.0, 7.0], abs=1e-14)  # rounding of I⁻¹ L
    assert spin[0.5][2] == pytest.approx(-0.5 * 7.0, abs=1e-12)
