"""Claims about the event-driven method with Coulomb friction: rolling, slip, impacts, Painlevé's rod."""

import numpy as np
import pytest
from event_driven_scenes import Body, G, Run, about, ball, bowl, box, plane, rod
from scipy.optimize import brentq

from contactlab.physics.books.ledger import Account
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.core.state import copy_state
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.impacts.impact_laws import IMPACT_LAWS
from contactlab.physics.methods.event_driven.patience import SAYS, Limit, Patience


def slope(degrees, mu, radius=0.05):
    th = np.radians(degrees)
    n = np.array([np.sin(th), 0, np.cos(th)])
    return Run([plane(q=about("y", th)), ball(radius, 0.1, x=tuple(radius * n))], mu=mu, h=1 / 60)


def test_a_ball_rolls_down_a_slope_where_friction_suffices():
    """C7: a = 5/7 g sin θ where μ >= 2/7 tan θ"""
    run = slope(15.0, 0.0766).until(1.0)
    assert np.linalg.norm(run.state.bodies.v[1]) == pytest.approx(1.8135820231826634, rel=1e-10)
    s, c = np.sin(np.radians(15.0)), np.cos(np.radians(15.0))
    way = run.state.bodies.x[1] - (0.05 * s, 0, 0.05 * c)
    assert np.linalg.norm(way) == pytest.approx(0.9067910115913317, rel=1e-10)
    assert run.force()[0] @ (-c, 0, s) == pytest.approx(0.07254328, abs=1e-8)
    assert run.solves == 1


def test_a_ball_slips_down_a_slope_where_it_does_not():
    """C7: a = g (sin θ - μ cos θ)."""
    th = np.radians(15.0)
    run = slope(15.0, 0.0765).until(1.0)
    assert np.linalg.norm(run.state.bodies.v[1]) == pytest.approx(G * (np.sin(th) - 0.0765 * np.cos(th)), rel=1e-10)


def test_a_bowled_ball_slides_and_then_rolls_for_ever():
    """C8: v₀ = 5, μ = 0.2: until t = 2 v₀/(7 μ g), then 5/7 v₀."""
    run = Run([plane(), ball(0.1, x=(0, 0, 0.1), v=(5, 0, 0))], mu=0.2, h=1 / 60)
    stick = run.until_event("stick")
    assert abs(stick.t - 0.728119994175) < 1e-9
    run.until(1.0)
    assert run.state.bodies.v[1, 0] == pytest.approx(25 / 7, rel=1e-12)
    assert run.state.bodies.x[1, 0] == pytest.approx(3.120514260750 + 25 / 7 * (1.0 - stick.t), rel=1e-9)
    assert [event.kind for event in run.events] == ["stick"]


def angle(run):
    q = run.state.bodies.q[1]
    return np.degrees(2 * np.arctan2(q[2], q[0]))


def pencil(mu):
    th = np.radians(5.0)
    return Run([plane(), rod(2.0, x=(np.sin(th), 0, np.cos(th)), q=about("y", th))], mu=mu, h=1 / 60)


@pytest.mark.parametrize(("mu", "times", "angles"), [
    (0.3, (0.832567491, 1.132700685), (24.068229847, 53.918056734)),
    (0.5, (1.126122050,), (52.159786753,)),
])
def test_a_falling_pencil_slips_where_the_force_leaves_the_cone(mu, times, angles):
    """C11: Below |F|/N = 0.37 it slips backwards, comes to a stop and slips on the other way; above, forwards only."""
    run = pencil(mu).until(1.16)
    assert run.times("slip") == pytest.approx(times, abs=1e-9)
    for t, degrees in zip(run.times("slip"), angles, strict=True):
        assert abs(angle(pencil(mu).until(t)) - degrees) < 1e-7


def test_a_rolling_ball_leaves_a_ball_at_cosine_ten_seventeenths():
    """C14: as it would, released at the top."""
    r, tilt = 0.2, 0.3
    reach = 1.0 + r
    speed = np.sqrt(10 / 7 * G * reach * (1 - np.cos(tilt)))
    roller = ball(r, x=(reach * np.sin(tilt), 0, reach * np.cos(tilt)), w=(0, speed / r, 0),
                  v=(speed * np.cos(tilt), 0, -speed * np.sin(tilt)))
    run = Run([ball(1.0, 0.0), roller], mu=1e7, h=1 / 120)
    loss = run.until_event("dynamic_loss")
    assert abs(loss.normal[2] - 10 / 17) < 1e-8  # it slips at λ = F/μ, a little before


def test_a_ball_rolling_in_a_bowl_swings_with_the_period_of_the_elliptic_integral():
    """C15: from 60°, 1.708791 s."""
    tilt, reach = np.radians(60.0), 0.45
    run = Run([bowl(0.5), ball(0.05, x=(reach * np.sin(tilt), 0, -reach * np.cos(tilt)))], mu=100.0, h=1 / 30)
    quarter = 1.708791291737 / 4
    run.until(quarter)
    assert abs(run.state.bodies.x[1, 0]) < 1e-9  # at the bottom
    run.until(4 * quarter)
    assert run.state.bodies.x[1] == pytest.approx((reach * np.sin(tilt), 0, -reach * np.cos(tilt)), abs=1e-9)
    assert run.solves == 1


@pytest.mark.parametrize(("b", "h", "ratio", "time", "spin", "swing"), [
    (0.1, 0.5, 0.9423076923, 0.347093586788, 0.648049012268, 0.083339113164),
    (0.25, 1.0, 0.9117647059, 0.493803215079, 0.565044821051, 0.094736793121),
    (0.1, 0.2, 0.7, 0.231044027917, 2.277512672145, 0.095650836020),
])
def test_a_rocking_block_loses_housners_share(b, h, ratio, time, spin, swing):
    """B7: ω⁺/ω⁻ = 1 - 3/2 sin²α, released at rest at α/2; ω⁻ and how far it swings to the other side."""
    th = np.arctan(b / h) / 2
    c, s = np.cos(th), np.sin(th)
    run = Run([plane(), box((b, 0.5, h), x=(b - b * c + h * s, 0, b * s + h * c), q=about("y", th))], mu=2.0, h=1 / 60)
    base = G * h  # energy upright at rest
    hit = run.until_event("impact")
    assert abs(hit.t - time) < 1e-9
    assert np.sqrt((hit.energy_after - base) / (hit.energy_before - base)) == pytest.approx(ratio, abs=1e-9)
    assert np.sqrt(1.5 * (hit.energy_before - base) / (b * b + h * h)) == pytest.approx(spin, abs=1e-9)  # I = 4/3 m R²
    while run.state.bodies.w[1, 1] < 0.0:
        last = copy_state(run.state)
        run.step()
    late = run.h

    def rate(step):
        run.state = copy_state(last)
        run.step(step)
        return run.state.bodies.w[1, 1]

    rate(brentq(rate, 1e-6, late, xtol=1e-12))
    assert np.radians(abs(angle(run))) == pytest.approx(swing, abs=1e-9)


def impacting_stick(law="newton"):
    th = np.radians(45.0)
    return Run([plane(), rod(1.0, x=(0.5 * np.sin(th), 0, 0.5 * np.cos(th) + 0.01), q=about("y", -th), v=(-0.5, 0, 0.1),
                             w=(0, -0.1, 0))], e=1.0, mu=0.01, g=10.0, law=law)


def test_a_stick_with_friction_rebounds_as_the_reference_says():
    """B8: l = 1, e = 1, μ = 0.01 [Siconos ImpactingStick]."""
    run = impacting_stick().until(0.2)
    bodies = run.state.bodies
    gains = [event.energy_after - event.energy_before for event in run.events]
    assert gains[0] == pytest.approx(0.5 * (0.50373278**2 - 0.5**2 + 0.12946272**2 - 0.50274089**2)
                                     + (1.67746072**2 - 0.1**2) / 24, abs=1e-7)
    assert gains[0] > 7e-4  # to the letter, and told: friction turns the slip around [Kane 1984]
    booked = run.state.ledger[Account.IMPACTS : Account.FRICTION + 1, 0].sum()
    assert booked == pytest.approx(sum(gains), abs=1e-12) and abs(run.state.ledger[Account.DRIVEN, 0]) < 1e-12
    assert run.times("impact") == pytest.approx([0.060274089093, 0.163275784400], abs=1e-11)
    for t, v, spin in zip(run.times("impact"), [(-0.50373278, -0.12946272), (-0.50685719, -0.84703923)],
                          (1.67746072, 3.20697487), strict=True):
        hit = impacting_stick().until(t + 1e-12).state.bodies
        assert (hit.v[1, 0], hit.v[1, 2], -hit.w[1, 1]) == pytest.approx((*v, spin), abs=1e-8)
    assert bodies.x[1] == pytest.approx((0.25291708296924, 0, 0.24718415299650), abs=1e-12)
    assert bodies.v[1] == pytest.approx((-0.50685718618569, 0, -1.21428138143152), abs=1e-12)
    assert bodies.w[1, 1] == pytest.approx(-3.20697486630626, abs=1e-12)


@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_only_newtons_law_lets_the_stick_gain_energy(law):
    """B8 by the other laws: friction within the cone, the rebound no higher than energy allows."""
    run = impacting_stick(law).until(0.2)
    hits = [event for event in run.events if event.kind == "impact"]
    gains = np.array([event.energy_after - event.energy_before for event in hits])
    assert len(hits) == 2 and (gains.max() > 7e-4 if law == "newton" else gains.max() <= 1e-14)
    for event in hits:
        assert np.hypot(*event.impulse[:2]) <= 0.01 * event.impulse[2] * (1 + 1e-12)


def sliding_rod(mu, spin, direction):
    """A rod at atan 2 to the floor whose lower end slides along x."""
    th = np.arctan(2.0)
    run = Run([plane(), rod(1.0, x=(0.5 * np.cos(th), 0, 0.5 * np.sin(th)), q=about("y", np.pi / 2 - th))], mu=mu)
    arm = -0.5 * np.array([np.cos(th), 0, np.sin(th)])
    w = np.array([0, -spin, 0])
    run.state.bodies.v[1], run.state.bodies.w[1] = np.array([direction, 0, 0]) - np.cross(w, arm), w
    momentum_from_velocity(run.model, run.state.bodies)
    run.step(1e-5)
    return run


@pytest.mark.parametrize(("mu", "spin", "direction", "paradox"), [
    (1.33, 0.0, -1, False), (1.34, 0.0, -1, True), (1.34, 8.0, -1, True), (1.34, 0.0, 1, False),
])
def test_painleves_rod_has_one_solution_below_four_thirds(mu, spin, direction, paradox):
    """C12: Above the critical μ there is none, or two with spin; the run then says so and goes on by an impact."""
    run = sliding_rod(mu, spin, direction)
    kinds = [event.kind for event in run.events]
    assert kinds[:2] == (["inconsistent", "impact"] if paradox else [])
    assert np.isfinite(run.energy)
    if paradox:
        impact = run.events[1]
        assert impact.energy_after < impact.energy_before


@pytest.mark.parametrize("speed", [1e-3, 1e-5])
def test_friction_does_not_drive_what_it_stopped_where_the_end_of_slip_goes_unseen(monkeypatch, speed):
    """A block that friction would stop within 0.2 ms, in a step of 17 ms that looks for no event: friction that went on
    would leave μ g h - v = 0.08 m/s. Instead it ends, fast contacts going on as they are, and the step says so. The
    rounding of μ g h is left."""
    monkeypatch.setattr(Patience, "blind", property(lambda _: True, lambda *_: None), raising=False)
    block = box((0.1, 0.1, 0.1), x=(0, 0, 0.1), v=(speed, 0, 0))
    run = Run([plane(), block], mu=0.5, integrator="rk4", h=1 / 60)
    run.step()
    assert -(2.0**-52) * 0.5 * 9.81 / 60 <= run.state.bodies.v[1, 0] <= speed * (1.0 + 1e-12)
    assert run.method.info.status == SAYS[Limit.JAM]


@pytest.mark.parametrize("steeper", [False, True])
def test_a_block_on_a_slope_slides_only_beyond_the_friction_angle(steeper):
    """C6: a = g (sin θ - μ cos θ)."""
    th = np.radians(20.0)
    n = np.array([np.sin(th), 0, np.cos(th)])
    mu = np.tan(th) * (0.9 if steeper else 1.1)
    run = Run([plane(q=about("y", th)), box((0.5, 0.5, 0.2), x=tuple(0.2 * n), q=about("y", th))], mu=mu, h=1 / 60)
    run.until(0.2)
    speed = 0.2 * G * (np.sin(th) - mu * np.cos(th)) if steeper else 0.0
    assert np.linalg.norm(run.state.bodies.v[1]) == pytest.approx(speed, abs=1e-9)
    assert run.force().sum(0) @ n == pytest.approx(G * np.cos(th), rel=1e-9)


def test_a_steady_eulers_disc_keeps_its_tilt():
    """D4: Ω² sin α = 4 g/r with the centre at rest and no slip; 3 s are 36 turns."""
    r, tilt, half = 0.04, np.radians(10.0), 1e-3
    rate = np.sqrt(4 * G / (r * np.sin(tilt)))
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    spin = rate * np.array([0, 0, 1.0]) - rate * np.cos(tilt) * axis
    disc = Body([(ShapeKind.CYLINDER, (r, half, 0), (0, 0, half))], 1.0, (r * r / 4, r * r / 4, r * r / 2),
                x=(0, 0, r * np.sin(tilt)), q=about("y", tilt), w=tuple(spin))
    run = Run([plane(), disc], mu=10.0, h=1 / 60).until(3.0)
    q = run.state.bodies.q[1]
    assert abs(np.arccos(1 - 2 * (q[1] ** 2 + q[2] ** 2)) - tilt) < 1e-10
    assert np.abs(run.state.bodies.x[1] - (0, 0, r * np.sin(tilt))).max() < 1e-9
    assert run.energy == pytest.approx(1.5 * G * r * np.sin(tilt), rel=1e-10)
    assert run.events == []
