"""Published reference cases at the tolerances of the event-driven method: free bodies, impacts, redundant supports.

The friction cases are in `test_event_driven_friction`, bounces and losses in `test_event_driven`.
"""

import numpy as np
import pytest
from event_driven_scenes import Body, G, Run, about, ball, bowl, plane, rod
from scipy.integrate import quad

from contactlab.physics.core.model import ShapeKind
from contactlab.physics.dynamics.free_body import momentum_from_velocity


def loose(inertia, w, **more):
    """A body that meets nothing."""
    return Body([(ShapeKind.SPHERE, (0.1, 0, 0))], 1.0, inertia, w=w, **more)


def body_rates(run, i=0):
    """Angular velocity along the body's own axes."""
    q, w = run.state.bodies.q[i], run.state.bodies.w[i]
    v = -q[1:]
    t = 2.0 * np.cross(v, w)
    return w + q[0] * t + np.cross(v, t)


# ------------------------------------------------------------------------------------------------ free bodies
def test_an_axisymmetric_body_turns_as_the_exact_quaternion_says():
    """A5: I = 0.04, J = 0.02, ω₀ = (2, -1, 3), after 10 s [Kane, Likins & Levinson 1983]."""
    run = Run([loose((0.04, 0.04, 0.02), (2.0, -1.0, 3.0))], g=0.0, h=1 / 10).until(10.0)
    I, J, (x, y, z), t = 0.04, 0.02, (2.0, -1.0, 3.0), 10.0
    s, p = (1 - J / I) * z, np.sqrt(x * x + y * y + (z * J / I) ** 2)
    k = z * J / (I * p)
    c, d = np.cos(s * t / 2), np.sin(s * t / 2)
    C, S = np.cos(p * t / 2), np.sin(p * t / 2)
    exact = np.array([-k * S * d + C * c, S / p * (x * c + y * d), S / p * (y * c - x * d), k * S * c + C * d])
    assert exact == pytest.approx((-0.19178921, -0.07100091, -0.64483121, 0.73645670), abs=1e-8)
    assert run.state.bodies.q[0] * np.sign(run.state.bodies.q[0] @ exact) == pytest.approx(exact, abs=1e-10)


def test_an_asymmetric_body_turns_and_flips_as_the_elliptic_functions_say():
    """A6: the box of half-sizes 0.1, 0.2, 0.3, and its flip about the middle axis [Dzhanibekov]."""
    inertia = (0.13 / 3, 0.10 / 3, 0.05 / 3)
    run = Run([loose(inertia, (1.0, 2.0, 3.0))], g=0.0, h=1 / 20)
    energy, L = run.energy, run.state.bodies.L[0].copy()
    assert energy == pytest.approx(0.1633333333, abs=1e-10) and np.linalg.norm(L) == pytest.approx(0.0939266853573671)
    run.until(1.0)
    assert body_rates(run) == pytest.approx((1.08610044, -1.90431156, 3.04634176), abs=6e-9)  # figures given
    run.until(3.671847302652355)
    assert body_rates(run) == pytest.approx((1.0, 2.0, 3.0), abs=1e-9)
    run.until(5.0)
    assert body_rates(run) == pytest.approx((0.28086194, -2.43226694, 2.75010148), abs=6e-9)
    assert run.energy == pytest.approx(energy, rel=1e-10)
    assert (run.state.bodies.L[0] == L).all()
    flip = Run([loose(inertia, (1e-3, 5.0, 0.0))], g=0.0, h=1 / 20).until(7.941392110064)
    assert body_rates(flip)[1] == pytest.approx(-5.0, abs=1e-8)  # e-folding of the instability amplifies 1e-11


@pytest.mark.parametrize(("start", "angles"), [
    (60.0, {10.0: -0.6518630467419758}),
    (90.0, {1.0: -1.4050273115247993, 2.0: 0.9166475896632469, 5.0: 1.2294518114853838, 10.0: 0.2786806735699831}),
])
def test_a_particle_held_by_a_contact_swings_as_a_pendulum(start, angles):
    """A7: a point mass in a smooth hollow ball one metre away from its centre."""
    th, r = np.radians(start), 1e-9
    run = Run([bowl(1.0 + r), ball(r, k=1e18, x=(np.sin(th), 0, -np.cos(th)))], h=1 / 20)
    for when, angle in angles.items():
        run.until(when)
        x, _, z = run.state.bodies.x[1]
        assert np.arctan2(x, -z) == pytest.approx(angle, abs=1e-9)
        assert np.hypot(x, z) == pytest.approx(1.0, abs=1e-10)


# ------------------------------------------------------------------------------------------------ impacts
def test_a_ball_between_floor_and_ceiling_keeps_its_appointments():
    """B2: g = 10, e = 0.8, H = 1.5, from z = 1 with 10 m/s: the first ten impacts, ballistic flight between."""
    z, v, t, exact = 1.0, 10.0, 0.0, []
    while len(exact) < 10:
        up = v > 0 and v * v >= 2 * 10 * (1.5 - z)
        goal = 1.5 if up else 0.0
        flight = (v - np.sqrt(v * v - 20 * (goal - z))) / 10 if up else (v + np.sqrt(v * v + 20 * z)) / 10
        t, z, v = t + flight, goal, -0.8 * (v - 10 * flight)
        exact.append(t)
    assert exact[:5] == pytest.approx([0.051316702, 0.228318780, 0.466548616, 0.741359966, 1.834535421], abs=1e-9)
    ceiling = plane(x=(0, 0, 1.5), q=about("x", np.pi))
    run = Run([plane(), ceiling, ball(1e-12, k=1e20, x=(0, 0, 1.0), v=(0, 0, 10.0))], e=0.8, g=10.0, h=1 / 60)
    run.until(exact[9] + 0.01)
    assert run.times("impact") == pytest.approx(exact, abs=1e-9)
    blows = [event.impulse[2] / 1.8 for event in run.events[:4]]  # (1 + e) v⁻, on the ball or on the ceiling's side
    assert np.abs(blows) == pytest.approx([9.486832981, 9.359487165, 5.105291373, 6.832346595], abs=1e-9)


def test_a_column_of_beads_rebounds_as_one():
    """B3: ten elastic beads fall 5 cm; Newton's law for all contacts at once turns all velocities at one instant."""
    r, m = 0.005, 7780 * 4 / 3 * np.pi * 0.005**3
    beads = [ball(r, m, x=(0, 0, 0.05 + r + 2 * r * i)) for i in range(10)]
    run = Run([plane(), *beads], e=1.0, h=1 / 60)
    hit = run.until_event("impact")
    assert hit.t == pytest.approx(0.1009637554692305, abs=1e-9)
    run = Run([plane(), *beads], e=1.0, h=1 / 60).until(hit.t + 1e-9)
    assert run.state.bodies.v[1:, 2] == pytest.approx([0.99045444] * 10, abs=2e-8)
    run.until(0.3)
    assert run.state.bodies.x[1:, 2] - run.state.bodies.x[1, 2] == pytest.approx(2 * r * np.arange(10), abs=1e-12)
    again = run.until_event("impact")
    assert again.t == pytest.approx(0.3028912664, abs=1e-9)


@pytest.mark.parametrize(("before", "e", "after"), [
    ((1, 0, 0, 0, 0), 1.0, (-0.6, 0.4, 0.4, 0.4, 0.4)),
    ((1, 0, 0), 1.0, (-1 / 3, 2 / 3, 2 / 3)),
    ((1, 0, 0, 0, 0), 0.8, (-0.44, 0.36, 0.36, 0.36, 0.36)),
    ((1, 1, 0, 0, 0), 1.0, (-0.2, -0.2, 0.8, 0.8, 0.8)),
])
def test_newtons_cradle_by_newtons_law_for_all_contacts_at_once(before, e, after):
    """B4: v₁ = (1 - (1 + e)(N - 1)/N) v, all others (1 + e) v/N."""
    run = Run([ball(0.1, x=(0.2 * i - 0.01 * v, 0, 0), v=(v, 0, 0)) for i, v in enumerate(before)], e=e, g=0.0)
    run.until(0.02)
    assert run.state.bodies.v[:, 0] == pytest.approx(after, abs=1e-12)


@pytest.mark.parametrize(("before", "after"), [((1, 0, 0, 0, 0), (0, 0, 0, 0, 1)), ((1, 1, 0, 0, 0), (0, 0, 0, 1, 1))])
def test_newtons_cradle_with_gaps_passes_the_blow_on_from_ball_to_ball(before, after):
    """B4: with a gap of 1e-3 R the impacts come one after the other, whatever the law."""
    r = 0.1
    run = Run([ball(r, x=(2.001 * r * i - 0.01 * v, 0, 0), v=(v, 0, 0)) for i, v in enumerate(before)], e=1.0, g=0.0)
    run.until(0.1)
    assert run.state.bodies.v[:, 0] == pytest.approx(after, abs=1e-12)


def polygon(n, R, inertia, tilt=0.0, **more):
    """A prism whose corners are points in the xz plane; the lowest is `tilt` behind the vertical through the middle."""
    angles = 2 * np.pi * np.arange(n) / n
    corners = [(ShapeKind.SPHERE, (1e-9, 0, 0), (-R * np.sin(a + tilt), 0.0, -R * np.cos(a + tilt))) for a in angles]
    return Body(corners, 1.0, (1e3 * inertia, inertia, 1e3 * inertia), **more)


@pytest.mark.parametrize(("n", "ratio"), [
    (4, 0.25), (5, 0.501036279), (6, 11 / 17), (8, 0.798169546), (12, 0.909333942), (24, 0.977197554),
    (100, 0.998684197),
])
def test_a_tumbling_polygon_loses_speed_at_every_corner(n, ratio):
    """B6: ω⁺/ω⁻ = (i + cos 2π/n)/(i + 1), i = ½(1 - ⅔ sin² π/n); it sticks and e = 0."""
    R, i = 1.0, 0.5 * (1 - 2 / 3 * np.sin(np.pi / n) ** 2)
    spin = np.array([0, 0.5, 0])
    x = np.array([0, 0, R + 1e-9])
    run = Run([plane(), polygon(n, R, i * R * R, x=tuple(x), v=tuple(np.cross(spin, x)), w=tuple(spin))], mu=50.0,
              h=1 / 60)
    hit = run.until_event("impact")
    low = G * (R * np.cos(np.pi / n) + 1e-9)  # on a side: all energy beyond is kinetic
    assert np.sqrt((hit.energy_after - low) / (hit.energy_before - low)) == pytest.approx(ratio, abs=1e-8)
    assert hit.point[0] > 0


def test_a_tumbling_triangle_stops_on_its_side():
    """B6: the formula gives ω⁺/ω⁻ = -1/5 for n = 3, so it stops: all kinetic energy is lost."""
    R, i = 1.0, 1 / 4
    spin, x = np.array([0, 0.5, 0]), np.array([0, 0, R + 1e-9])
    run = Run([plane(), polygon(3, R, i, x=tuple(x), v=tuple(np.cross(spin, x)), w=tuple(spin))], mu=50.0, h=1 / 60)
    hit = run.until_event("impact")
    assert hit.energy_before > hit.energy_after == pytest.approx(G * (R / 2 + 1e-9), abs=1e-10)
    run.until(hit.t + 0.5)
    assert np.abs(run.state.bodies.w[1]).max() < 1e-12 and np.abs(run.state.bodies.v[1]).max() < 1e-12


def gait(i, alpha=np.pi / 8, slope=0.08):
    """Rate after a collision and time of a step of a rimless wheel with m = l = 1 and inertia i about its hub."""
    eta = (i + np.cos(2 * alpha)) / (1 + i)
    rate = np.sqrt(4 * G * np.sin(alpha) * np.sin(slope) / (1 + i) / (eta**-2 - 1))
    energy = rate**2 + 2 * G / (1 + i) * np.cos(slope - alpha)
    step = quad(lambda t: (energy - 2 * G / (1 + i) * np.cos(t)) ** -0.5, slope - alpha, slope + alpha, epsabs=1e-13)
    return rate, step[0]


def test_a_rimless_wheel_rolls_down_a_slope_in_its_steady_gait():
    """B6: n = 8, slope 0.08: after each collision ω = cot 2α √(4 g/l sin α sin γ), a step takes 1.03455 s [Drake]."""
    assert gait(0.0) == pytest.approx((1.0954628396476571, 1.034549811423279), abs=1e-12)
    slope, i = 0.08, 1e-6  # all but the point mass of the reference
    rate, period = gait(i)
    th = slope - np.pi / 8
    hub = np.array([np.sin(th), 0, np.cos(th)])
    body = polygon(8, 1.0, i, x=tuple(hub + 1e-9 * np.array([np.sin(slope), 0, np.cos(slope)])), q=about("y", th),
                   v=tuple(np.cross((0, rate, 0), hub)), w=(0, rate, 0))
    run = Run([plane(q=about("y", slope)), body], mu=100.0, h=1 / 60)
    hits = [run.until_event("impact") for _ in range(3)]
    assert [hit.t for hit in hits] == pytest.approx((period, 2 * period, 3 * period), abs=1e-8)
    share = ((i + np.cos(np.pi / 4)) / (1 + i)) ** 2  # on the fixed point each step loses the same share of its energy
    for n, hit in enumerate(hits, 1):
        low = G * (np.cos(slope + np.pi / 8) - 2 * np.sin(np.pi / 8) * np.sin(slope) * (n - 1))  # hub at the collision
        low += G * 1e-9 * np.cos(slope)
        assert (hit.energy_after - low) / (hit.energy_before - low) == pytest.approx(share, abs=1e-7)
        assert hit.energy_after - low == pytest.approx(0.5 * (1 + i) * rate**2, abs=1e-7)


@pytest.mark.parametrize(("mu", "after", "turn"), [
    (0.1, 2.28, 1.8), (0.5, 15 / 7, 15 / 7),
    (0.119047619, 15 / 7 + 7.2 * 4.76e-11, 15 / 7 - 2.5 * 7.2 * 4.76e-11),  # μ_c = 5/42: just below it slides
])
def test_a_ball_hitting_obliquely_sticks_or_slides(mu, after, turn):
    """B9: sticks iff |s| k/(1 + k) <= μ (1 + e) |v_n|."""
    run = Run([plane(), ball(0.1, x=(0, 0, 0.11), v=(3, 0, -4))], e=0.8, mu=mu, g=0.0).until(0.01)
    assert run.state.bodies.v[1] == pytest.approx((after, 0, 3.2), abs=1e-12)
    assert 0.1 * run.state.bodies.w[1, 1] == pytest.approx(turn, abs=1e-12)


@pytest.mark.parametrize(("speed", "after", "turn", "copies"), [
    *((0.5, 0.25, 0.25, copies) for copies in (1, 4, 16, 64, 256)),
    *((0.7, 0.4, 0.3, copies) for copies in (1, 4, 16, 64, 256)),
])
def test_doubled_contacts_of_a_rolling_cylinder_change_nothing(speed, after, turn, copies):
    """B9: k = 1, m = R = 1, falls 0.5 m with g = 9, μ = 0.1, e = 0 [Drake]; the same point up to 256 times."""
    hoop = Body([(ShapeKind.SPHERE, (1.0, 0, 0))] * copies, 1.0, (1.0, 1.0, 1.0), x=(0, 0, 1.5), v=(speed, 0, 0))
    run = Run([plane(), hoop], mu=0.1, g=9.0)
    hit = run.until_event("impact")
    assert hit.t == pytest.approx(1 / 3, abs=1e-12)
    run = Run([plane(), hoop], mu=0.1, g=9.0).until(hit.t + 1e-10)
    assert run.state.bodies.v[1, 0] == pytest.approx(after, abs=1e-9)
    assert run.state.bodies.w[1, 1] == pytest.approx(turn, abs=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_two_spheres_part_with_e_times_their_approach(e):
    """B15: head on at ±1 m/s, and onto one at rest."""
    run = Run([ball(0.5, x=(-0.6, 0, 0), v=(1, 0, 0)), ball(0.5, x=(0.6, 0, 0), v=(-1, 0, 0))], e=e, g=0.0).until(0.2)
    assert run.state.bodies.v[:, 0] == pytest.approx((-e, e), abs=1e-12)
    run = Run([ball(0.5, x=(-0.6, 0, 0), v=(1, 0, 0)), ball(0.5, x=(0.6, 0, 0))], e=e, g=0.0).until(0.3)
    assert run.state.bodies.v[:, 0] == pytest.approx(((1 - e) / 2, (1 + e) / 2), abs=1e-12)


def test_gravity_and_restitution_leave_each_other_alone():
    """B15: spheres of 1 m at ±2 m with 5 and -10 m/s and e = 1 swap velocities, and both fall with g t [Jolt]."""
    balls = [ball(1.0, x=(-2, 0, 20), v=(5, 0, 0)), ball(1.0, x=(2, 0, 20), v=(-10, 0, 0))]
    run = Run(balls, e=1.0, h=1 / 20).until(1.0)
    assert run.times("impact") == pytest.approx([2 / 15], abs=1e-12)
    assert run.state.bodies.v == pytest.approx(np.array([(-10, 0, -G), (5, 0, -G)]), abs=1e-11)


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8, 0.95])
def test_a_dropped_ball_comes_back_to_e_squared_of_its_height(e):
    """B15: r = 0.2 from 2 m above the floor [Rapier]: the first apex is at e² of it, √(2 H/g) (1 + e) after release."""
    fall = np.sqrt(2 * 2.0 / G)
    run = Run([plane(x=(0, 0, 0.1)), ball(0.2, x=(0, 0, 2.3))], e=e, h=1 / 20).until(fall * (1 + e))
    assert (run.state.bodies.x[1, 2] - 0.3) / 2.0 == pytest.approx(e * e, abs=1e-9)
    assert run.state.bodies.v[1] == pytest.approx((0, 0, 0), abs=1e-9)


@pytest.mark.parametrize(("speed", "after"), [(1.0, (0.0, 1.0)), (3e-4, (1.5e-4, 1.5e-4))])
def test_restitution_ends_below_the_threshold(speed, after):
    """B15: equal spheres, one at rest, e = 1: all is handed over; below the threshold of 1e-4 g h [Jolt: below its
    own] they go on together. Gravity acts across, on both alike."""
    h = 1.0
    run = Run([ball(0.5, x=(-0.5 - 1e-4, 0, 9), v=(speed, 0, 0)), ball(0.5, x=(0.5, 0, 9))], e=1.0, h=h).until(0.5)
    assert run.state.bodies.v[:, 0] == pytest.approx(after, abs=1e-9)
    assert (speed > 1e-4 * G * h) == (after[0] == 0.0)


def test_forty_nine_lossless_balls_keep_their_energy():
    """B17: root mean square energy error over 20 s within 1e-12; impacts at 0.999490 s and every 1.998980 s.

    Seven rows of seven, 2 m apart, that never meet: one row after the other.
    """
    start, error, fall = 0.0, np.zeros(200), np.sqrt(9.8 / G)
    for y in range(7):
        run = Run([plane(), *[ball(0.1, 10.0, x=(2.0 * i, 2.0 * y, 5.0)) for i in range(7)]], e=1.0, h=0.1)
        first = run.energy
        for k in range(200):
            run.step()
            error[k] += run.energy - first
        start += first
        times = run.times("impact").reshape(-1, 7)
        assert len(times) == 10 and np.abs(times - fall * np.arange(1, 20, 2)[:, None]).max() < 1e-9
    assert start == pytest.approx(24034.5)
    assert np.sqrt(np.mean(error**2)) < 1e-12 * start


# ------------------------------------------------------------------------------------------------ supports
def table(legs, centre=(0.0, 0.0), height=0.5):
    """Points at `legs` [(x, y)], the centre of mass at `centre` and `height` above them."""
    feet = [(ShapeKind.SPHERE, (1e-9, 0, 0), (x - centre[0], y - centre[1], -height)) for x, y in legs]
    return Body(feet, 1.0, (0.2, 0.3, 0.4), x=(0, 0, height + 1e-9))


def around(count, radius=1.0):
    angles = 2 * np.pi * (np.arange(count) + 0.5) / count
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


@pytest.mark.parametrize(("count", "mu"), [(3, 0.0), (4, 0.0), (6, 0.0), (100, 0.0), (3, 0.5), (4, 0.5), (6, 0.5),
                                         (100, 0.5)])
def test_a_table_with_any_number_of_legs_stands_still(count, mu):
    """C5: acceleration 0, λ >= 0, and the forces balance weight and moments, the centre of mass off the middle. Without
    friction three legs carry all, a basis; rough legs share the load with the least forces, and all carry."""
    centre = (0.2, -0.1)
    run = Run([plane(), table(around(count), centre)], mu=mu)
    run.step()
    contacts = run.method.contacts
    n = int(contacts.count[0])
    lam, arm = contacts.lam[:n], contacts.point[:n] - run.state.bodies.x[1]
    assert n == count and (lam >= -1e-12).all()
    assert contacts.active[:n].sum() == (3 if mu == 0.0 else count)
    assert (contacts.active[:n] == 1)[lam > 0.0].all()
    assert np.abs(run.state.bodies.v[1]).max() < 1e-12 * run.h and np.abs(run.state.bodies.w[1]).max() < 1e-12 * run.h
    assert lam.sum() == pytest.approx(G, abs=1e-11)
    assert lam @ arm[:, :2] == pytest.approx((0, 0), abs=1e-11)


@pytest.mark.parametrize(("mu", "speed"), [(0.5, 0.0), (1e-9, 1.0)])
def test_four_rough_legs_share_the_weight_with_the_least_forces(mu, speed):
    """C5: λ_i = m g/4 (1 + x_i c_x/a² + y_i c_y/a²), the smallest ones that balance, at rest and, with a friction too
    small to matter to the moments, sliding."""
    a, (cx, cy) = 0.7, (0.2, -0.1)
    legs = np.array([(a, a), (-a, a), (-a, -a), (a, -a)])
    run = Run([plane(), table(legs, (cx, cy))], mu=mu)
    run.state.bodies.v[1, 0] = speed
    momentum_from_velocity(run.model, run.state.bodies)
    run.step(1e-6)
    contacts = run.method.contacts
    x, y = (contacts.point[:4, :2] - run.state.bodies.x[1, :2] + (cx, cy)).T
    assert contacts.lam[:4] == pytest.approx(G / 4 * (1 + x * cx / a**2 + y * cy / a**2), abs=1e-8)


@pytest.mark.parametrize("copies", [1, 3])
def test_a_table_with_its_weight_outside_the_feet_tips_over_the_edge(copies):
    """C5: α = g d/(k² + d² + h²) about the frictional feet of the edge, however often these are counted."""
    a, d, height = 0.5, 0.1, 0.5
    legs = [(x, y) for x in (-a, a) for y in (-a, a) for _ in range(copies)]
    run = Run([plane(), table(legs, (a + d, 0.0), height)], mu=10.0)
    run.step(1e-6)
    alpha = G * d / (0.3 + d * d + height * height)
    assert run.state.bodies.w[1] == pytest.approx((0, alpha * 1e-6, 0), abs=1e-8 * alpha * 1e-6)


def test_a_plank_that_loses_a_support_weighs_a_quarter_on_the_other():
    """C5: λ = m g/4 at once, α = 3 g/(2 L)."""
    plank = rod(2.0, x=(0, 0, 0.0), q=about("y", np.pi / 2))
    run = Run([Body([(ShapeKind.SPHERE, (0.1, 0, 0))], x=(-1.0, 0, -0.1)), plank])
    run.step(1e-6)
    assert run.force()[:, 2].sum() == pytest.approx(G / 4, rel=1e-8)
    assert run.state.bodies.w[1, 1] == pytest.approx(3 * G / 4 * 1e-6, rel=1e-8)
