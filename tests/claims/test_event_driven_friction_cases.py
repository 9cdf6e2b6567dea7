"""Published reference cases with friction, and of sliding and rolling, at the tolerances of the event-driven method."""

import numpy as np
import pytest
from event_driven_scenes import G, Run, about, ball, bowl, box, plane, rod

from contactlab.physics.core.model import BodyKind
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.run.messages import Settings


def on_slope(body, degrees, mu, **more):
    return Run([plane(q=about("y", np.radians(degrees))), body], mu=mu, **more)


def upright(degrees, height):
    """Position and orientation of a body that stands `height` above a slope through the origin."""
    th = np.radians(degrees)
    return {"x": tuple(height * np.array([np.sin(th), 0, np.cos(th)])), "q": about("y", th)}


# ------------------------------------------------------------------------------------------------ a block on a slope
def sled(degrees):
    """A body on one foot that cannot turn."""
    return ball(0.1, k=1e12, **upright(degrees, 0.1))


@pytest.mark.parametrize("degrees", [10.0, 20.0, 40.0])
@pytest.mark.parametrize(("body", "excess"), [("sled", 1e-6), ("sled", -1e-6), ("block", 1e-6),
                                              ("block", -1e-6)])
def test_a_block_sticks_exactly_up_to_the_friction_angle(degrees, body, excess):
    """C6: sticks iff tan θ <= μ, told apart at μ = tan θ (1 ± 1e-6); a = g (sin θ - μ cos θ)."""
    th = np.radians(degrees)
    mu = np.tan(th) * (1 + excess)
    made = sled(degrees) if body == "sled" else box((0.5, 0.5, 0.2), **upright(degrees, 0.2))
    run = on_slope(made, degrees, mu, h=1 / 20).until(0.25)
    slides = max(0.0, G * (np.sin(th) - mu * np.cos(th)) * 0.25)
    assert np.linalg.norm(run.state.bodies.v[1]) == pytest.approx(slides, abs=1e-11)
    assert np.abs(run.state.bodies.w[1]).max() < (1e-13 if body == "block" else 1e-10)


@pytest.mark.parametrize("excess", [-1e-6, -1e-4, -1e-2])
@pytest.mark.parametrize("azimuth", [0.0, 17.0, 45.0, 200.0])
def test_a_block_on_four_corners_slides_straight_beside_the_limit(azimuth, excess):
    """C6: v = g (sin θ - μ cos θ) t whichever way it is turned, to 1e-9 of it and rounding: the difference of two
    numbers of the size of g sin θ, so 1e-15 of g at best."""
    th = np.radians(25.0)
    mu = np.tan(th) * (1 + excess)
    run = Run([plane(), box((0.5, 0.4, 0.2), x=(0, 0, 0.2), q=about("z", np.radians(azimuth)))], mu=mu, h=1 / 20)
    run.model.gravity[:] = G * np.sin(th), 0.0, -G * np.cos(th)
    run.until(0.5)
    speed = 0.5 * G * (np.sin(th) - mu * np.cos(th))
    assert np.abs(run.state.bodies.v[1] - (speed, 0, 0)).max() < 1e-9 * speed + 0.5e-15 * G
    assert np.abs(run.state.bodies.w[1]).max() < 1e-13
    assert run.solves == 1


def test_a_sticking_block_does_not_creep():
    """C6: after 10 s it is where it was."""
    run = on_slope(box((0.5, 0.5, 0.2), **upright(20.0, 0.2)), 20.0, 0.4, h=1 / 10)
    start = run.state.bodies.x[1].copy()
    run.until(10.0)
    assert np.abs(run.state.bodies.x[1] - start).max() < 1e-14


@pytest.mark.parametrize(("degrees", "mu", "slides", "tips"), [
    (44.9, 1.01, False, False), (45.1, 1.01, False, True), (44.9, 0.99, True, False), (46.0, 0.99, True, False),
])
def test_a_cube_tips_before_it_slides_only_where_friction_exceeds_one(degrees, mu, slides, tips):
    """C6: it tips iff tan θ >= 1 and μ >= 1 (width/height)."""
    run = on_slope(box((0.5, 0.5, 0.5), **upright(degrees, 0.5)), degrees, mu, h=1 / 60).until(0.1)
    assert (np.abs(run.state.bodies.w[1]).max() > 1e-6) == tips
    assert (np.abs(run.state.bodies.v[1]).max() > 1e-6) == (slides or tips)
    assert (len(run.force()) < 4) == tips


def test_a_sliding_box_brakes_alike_in_all_directions():
    """C6: cube of 2 m, 20 m/s, μ = √0.72: after 1 s v = 11.675938971872, x = 15.837969485936 in every direction."""
    found = []
    for k in range(12):
        a = np.radians(30 * k)
        cube = box((1.0, 1.0, 1.0), x=(0, 0, 1.0), v=(20 * np.cos(a), 20 * np.sin(a), 0))
        bodies = Run([plane(), cube], mu=np.sqrt(0.72), h=1 / 10).until(1.0).state.bodies
        along = np.array([np.cos(a), np.sin(a), 0])
        found.append((bodies.v[1] @ along, bodies.x[1] @ along, *bodies.w[1]))
    assert np.ptp(np.array(found), axis=0).max() < 1e-9
    assert found[0][:2] == pytest.approx((11.675938971872, 15.837969485936), abs=1e-9)


def test_a_spinning_box_on_four_corners_brakes_by_the_load_they_share_evenly():
    """C6: α = μ √2 g · 1.5 [Jolt TestAngularFriction]: ω(1) = 4.902574473325, at rest after 10/α."""
    cube = box((1.0, 1.0, 1.0), x=(0, 0, 1.0), w=(0, 0, 10.0))
    run = Run([plane(), cube], mu=np.sqrt(0.06), h=1 / 10).until(1.0)
    assert run.state.bodies.w[1] == pytest.approx((0, 0, 4.902574473325), abs=1e-9)
    assert run.method.contacts.lam[:4] == pytest.approx([G / 4] * 4, rel=1e-9)
    stop = run.until_event("stick")
    assert stop.t == pytest.approx(10 / 5.097425526675, abs=1e-9)
    run.until(2.0)
    assert np.abs(run.state.bodies.w[1]).max() < 1e-12
    assert run.state.bodies.x[1] == pytest.approx((0, 0, 1), abs=1e-12)


def test_a_box_that_slides_and_spins_curves_alike_in_all_directions():
    """C6: turned as a whole, the motion turns with it; the corners' loads differ and change all the time."""
    found = []
    for k in range(12):
        a = np.radians(30 * k)
        c, s = np.cos(a), np.sin(a)
        start = box((1.0, 1.0, 0.3), x=(0, 0, 0.3), q=about("z", a), v=(5 * c, 5 * s, 0), w=(0, 0, 4.0))
        bodies = Run([plane(), start], mu=0.3, h=1 / 20).until(0.1).state.bodies
        turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        found.append((*turn @ bodies.v[1], *turn @ bodies.x[1], bodies.w[1, 2]))
    assert np.ptp(np.array(found), axis=0).max() < 1e-9
    assert abs(found[0][1]) > 1e-3  # it does curve


def test_a_block_on_a_shaking_table_slips_when_the_table_outruns_friction():
    """x = A sin ω t: A ω² sin ω t = μ g. Corners at front and back are loaded unequally by then."""
    A, w, mu = 0.05, 10.0, 0.3
    run = Run([plane(), box((0.5, 0.4, 0.2), x=(0, 0, 0.2))], mu=mu, h=1 / 60)
    run.model.kind[0] = BodyKind.KINEMATIC
    run.model.motions.amplitude[0], run.model.motions.frequency[0] = (A, 0, 0), w / (2 * np.pi)
    run.state.bodies.v[1, 0] = A * w
    momentum_from_velocity(run.model, run.state.bodies)
    assert run.until_event("slip").t == pytest.approx(np.arcsin(mu * G / (A * w * w)) / w, abs=1e-9)


# ------------------------------------------------------------------------------------------------ rolling
def hoop(k, radius=0.05, mass=0.1, **more):
    return ball(radius, mass, k, **more)


@pytest.mark.parametrize("k", [0.4, 0.5, 1.0])
@pytest.mark.parametrize("excess", [1e-3, -0.2])
def test_round_bodies_roll_or_slide_down_a_slope(k, excess):
    """C7: a = g sin θ/(1 + k) iff μ >= k/(1 + k) tan θ (ball, cylinder, hoop), else g (sin θ - μ cos θ)."""
    th = np.radians(15.0)
    mu = k / (1 + k) * np.tan(th) * (1 + excess)
    run = on_slope(hoop(k, **upright(15.0, 0.05)), 15.0, mu, h=1 / 20).until(1.0)
    a = G * np.sin(th) / (1 + k) if excess > 0 else G * (np.sin(th) - mu * np.cos(th))
    spin = a / 0.05 if excess > 0 else mu * G * np.cos(th) / (k * 0.05)
    assert np.linalg.norm(run.state.bodies.v[1]) == pytest.approx(a, rel=1e-10)
    assert run.state.bodies.w[1, 1] == pytest.approx(spin, rel=1e-10)


def test_a_ball_that_just_swings_in_a_bowl_keeps_the_small_period():
    """C15: 2π √(7 (R - r)/(5 g)) = 1.592266 s; at an amplitude a the period is longer by a²/16 of it."""
    tilt, reach, period = 1e-3, 0.45, 1.592266065172
    run = Run([bowl(0.5), ball(0.05, x=(reach * np.sin(tilt), 0, -reach * np.cos(tilt)))], mu=100.0, h=1 / 30)
    run.until(2.25 * period * (1 + tilt**2 / 16))
    assert abs(run.state.bodies.x[1, 0]) < 1e-9 * reach
    assert run.solves == 1


# ------------------------------------------------------------------------------------------------ rods
@pytest.mark.parametrize(("degrees", "carried"), [(30.0, 0.350569961151), (60.0, 0.166761269181), (90.0, 0.25)])
def test_the_floor_carries_a_falling_rod_less_and_less(degrees, carried):
    """C10: L = 1, from rest at 5°: ω² = 12 g/L (c₀ - c)/(1 + 3 s²), N/m g at 30°, 60° and 90°."""
    th = np.radians(degrees) - 1e-6  # just before, at 90° the other end is there
    c, s = np.cos(th), np.sin(th)
    spin = np.sqrt(12 * G * (np.cos(np.radians(5.0)) - c) / (1 + 3 * s * s))
    body = rod(1.0, x=(0, 0, 0.5 * c), q=about("y", th), v=(0, 0, -0.5 * s * spin), w=(0, spin, 0))
    run = Run([plane(), body])
    run.step(1e-9)
    assert run.force()[:, 2].sum() / G == pytest.approx(carried, abs=2e-6)  # 1e-6 rad away
    assert np.abs(run.state.bodies.x[1, :2]).max() == 0.0


@pytest.mark.parametrize(("mu", "degrees"), [
    (0.2, 15.519254336), (0.3, 24.165715025), (0.5, 51.977855452), (1.0, 54.047854471),
])
def test_a_pencil_released_upright_slips_at_its_angle(mu, degrees):
    """C11: N = m g/4 (3 c - 1)², F = 3/4 m g s (3 c - 2); below |F|/N = 0.3706 it slips backwards, above forwards."""
    th = np.radians(5.0)  # with the spin that it would have gained from the vertical
    spin = np.sqrt(1.5 * G * (1 - np.cos(th)))
    hub = np.array([np.sin(th), 0, np.cos(th)])
    body = rod(2.0, x=tuple(hub), q=about("y", th), v=tuple(np.cross((0, spin, 0), hub)), w=(0, spin, 0))
    run = Run([plane(), body], mu=mu, h=1 / 60)
    slip = run.until_event("slip")
    again = Run([plane(), body], mu=mu, h=1 / 60).until(slip.t)
    q = again.state.bodies.q[1]
    assert np.degrees(2 * np.arctan2(q[2], q[0])) == pytest.approx(degrees, abs=1e-7)


def test_a_ball_leaves_a_dome_where_the_text_books_say():
    """C14, from rest at the angle θ₀: cos θ = ⅔ cos θ₀ without friction."""
    start = np.radians(5.0)
    top = 1.1 * np.array([np.sin(start), 0, np.cos(start)])
    loss = Run([ball(1.0, 0.0), ball(0.1, x=tuple(top))], h=1 / 60).until_event("dynamic_loss")
    assert loss.normal[2] == pytest.approx(2 / 3 * np.cos(start), abs=1e-9)


def test_painleves_rod_turns_paradoxical_at_its_critical_friction():
    """C12: A_nn = μ A_nt at μ = (1 + 3 cos²θ)/(3 sin θ cos θ), least at θ = atan 2: 4/3."""
    for th in (np.arctan(2.0), np.radians(45.0)):
        body = rod(1.0, x=(0.5 * np.cos(th), 0, 0.5 * np.sin(th)), q=about("y", np.pi / 2 - th))
        run = Run([plane(), body], mu=0.5)
        M = run.method.problem(run.state, run.loads, Settings()).M
        assert M[0, 0] / abs(M[0, 1]) == pytest.approx((1 + 3 * np.cos(th) ** 2) / (3 * np.sin(th) * np.cos(th)))
        if th > 1.0:
            assert np.abs(M[:2, :2]) == pytest.approx(np.array([[1.6, 1.2], [1.2, 3.4]]), abs=1e-12)
