"""Claims about contacts that run over flat places: boxy superellipsoids on a plane, by `event_driven`.

Turned by θ about y, one of semi-axes a, b, c and an exponent e both ways reaches down to h(θ) = |(a sin θ, c cos θ)|_q,
q = 2/(2 - e). Without friction its centre moves up and down alone: ½ (I + m h'²) θ̇² + m g h = E; where it rolls also
sideways: ½ (I + m (h'² + h²)) θ̇² + m g h = E. What h' jumps by as it passes level, the force has to give in no
time."""

import numpy as np
import pytest
from event_driven_scenes import G
from scipy.integrate import quad, solve_ivp

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.event_driven.flat_places import CROSSED, SHORT

A, B, C = 0.5, 0.3, 0.15
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
CROSSING = 4  # such pieces that a passage may take: it is a geometric sequence of lengths on both sides, each a part of
              # the distance to the place, of which the last few are cut off


def simulate(exponent, h, restitution=0.0, integrator="dopri5", friction=0.0, method="event_driven", **pose):
    solid = {"name": "solid", "density": 1000.0, "shape": [
        {"type": "superellipsoid", "size": [2 * A, 2 * B, 2 * C], "exponents": [exponent, exponent]}]} | pose
    material = {"default": {"friction": friction, "restitution": restitution}}
    return Simulation(Scene.from_dict({"material": material, "body": [FLOOR, solid]}), method=method, h=h,
                      integrator=integrator)


def height(theta, q):
    return (abs(A * np.sin(theta)) ** q + abs(C * np.cos(theta)) ** q) ** (1.0 / q)


def slope(theta, q):
    s, c = np.sin(theta), np.cos(theta)
    return height(theta, q) ** (1.0 - q) * (A**q * abs(s) ** (q - 1.0) * c * np.sign(s)
                                            - C**q * abs(c) ** (q - 1.0) * s * np.sign(c))


def moved(theta, q, mass, rolls):
    """What the centre adds to I."""
    return mass * (slope(theta, q) ** 2 + (height(theta, q) ** 2 if rolls else 0.0))


def quarter(theta, start, exponent, mass, inertia, rolls):
    """How long it takes [s] from rest at `start` to θ >= 0: ∫ dθ/θ̇ over θ = r^p, r = r_0 - s²: h' grows as a root of θ,
    θ̇ as one of start - θ."""
    q, p = 2.0 / (2.0 - exponent), 2.0 / exponent

    def slowness(s):
        r = start ** (1.0 / p) - s * s
        at = r**p
        fall = 2.0 * mass * G * (height(start, q) - height(at, q))
        if r <= 0.0 or fall <= 0.0:
            return 0.0
        return np.sqrt((inertia + moved(at, q, mass, rolls)) / fall) * p * r ** (p - 1.0) * 2.0 * s

    return quad(slowness, 0.0, np.sqrt(start ** (1.0 / p) - theta ** (1.0 / p)), epsabs=1e-12, limit=400)[0]


@pytest.mark.parametrize("friction", [0.0, 5.0])
@pytest.mark.parametrize(("exponent", "h"), [(0.25, 1 / 240), (0.25, 1 / 1920), (0.5, 1 / 240)])
def test_a_brick_that_rocks_on_its_flat_side_takes_the_time_of_the_quadrature(exponent, h, friction):
    """Sliding without friction or rolling. In each of those pieces of length ℓ the speeds are wrong by no more than
    they jump by, 2 h'θ̇ of the centre and less than 2 θ̇ of the turning: the energy by m g 2 h'θ̇ ℓ, the angle by 2 θ̇ ℓ.
    And θ̇ is wrong by half of the energy's part of the kinetic energy, from then on."""
    start, q, rolls = 0.1, 2.0 / (2.0 - exponent), friction > 0.0
    sim = simulate(exponent, h, friction=friction, position=[0.0, 0.0, height(start, q)],
                   euler=[0.0, np.degrees(start), 0.0])
    mass, inertia = float(sim.model.mass[1]), float(sim.model.inertia[1, 1])
    whole, energy = quarter(0.0, start, exponent, mass, inertia, rolls), sim.energy().total
    kinetic = mass * G * (height(start, q) - height(0.0, q))
    fastest, seen, passed = np.sqrt(2.0 * kinetic / inertia), 0, 0
    while sim.time < 3.5 * whole:
        sim.step()
        w, _, y, _ = sim.state.bodies.q[1]
        angle, passed = 2.0 * np.arctan2(y, w), int((sim.time / whole + 1.0) // 2)  # times it passed level
        lost = CROSSING * passed * CROSSED * h * 2.0 * fastest * mass * G * slope(start, q)
        most = CROSSING * passed * CROSSED * h * 2.0 * fastest + 0.5 * fastest * sim.time * lost / kinetic
        assert abs(sim.energy().total - energy) <= lost + 1e-9 * kinetic
        if 1e-3 < abs(angle) < 0.9 * start:  # where the time tells the angle
            there = quarter(abs(angle), start, exponent, mass, inertia, rolls)
            turn, late = divmod(sim.time, 2.0 * whole)
            there = there if angle * (-1.0) ** turn > 0.0 else 2.0 * whole - there
            speed = np.sqrt(2.0 * mass * G * (height(start, q) - height(angle, q))
                            / (inertia + moved(angle, q, mass, rolls)))
            assert abs(late - there) * speed <= most + 1e-9 * start
            seen += 1
    assert seen > 40 and passed == 2
    assert not sim.events


def slides_and_rolls(start, exponent, mass, inertia, friction, until):
    """(angle, [(t, whether it sticks from then on)]) of the same from rest at `start`, with Coulomb's law, by an
    integrator that never meets the force: over θ = ±σ^k, k = (2 - e)/e, h' is smooth in σ. With dt = |dθ/dσ| dτ /
    (|dθ/dσ| + |θ̇|) the way through the flat place takes about as long in τ as it is long in σ. Sliding at ẋ - h θ̇ with
    its sign w,

        λ (1 + m h' c/I) = m (g + d/dt h' θ̇),    I θ̈ = -c λ,    m ẍ = -w μ λ,    c = h' - w μ h"""
    q, k = 2.0 / (2.0 - exponent), (2.0 - exponent) / exponent

    def rates(y, way):
        """dy/dτ of y = (t, σ, θ̇, ẋ), and what normal and friction force give per τ."""
        s, w, angle = y[1], y[2], turned(y[1])
        h, h1, steep = height(angle, q), slope(angle, q), k * abs(s) ** (k - 1.0)
        clock, run = steep / (steep + abs(w)), w / (steep + abs(w))
        bends = (slope(turned(s + 1e-5), q) - slope(turned(s - 1e-5), q)) / 2e-5 * run
        if way == 0.0:
            turn = -mass * ((h1 * bends + h * h1 * w * clock) * w + G * h1 * clock) / (
                inertia + mass * (h1 * h1 + h * h))
            push = h * turn + h1 * w * clock * w
            return np.array([clock, run, turn, push]), mass * (G * clock + bends * w + h1 * turn), mass * push
        c = h1 - friction * way * h
        normal = mass * (G * clock + w * bends) / (1.0 + mass * h1 * c / inertia)
        return (np.array([clock, run, -c * normal / inertia, -friction * way * normal / mass]), normal,
                -friction * way * normal)

    def turned(s):
        return np.sign(s) * abs(s) ** k

    def ends(_, y):
        return y[0] - until

    def breaks(_, y):
        _, normal, along = rates(y, 0.0)
        return friction * normal - abs(along)

    def stops(_, y):
        return y[3] - height(turned(y[1]), q) * y[2]

    def way_of(y):
        """The sign of the slip with which it goes on from ẋ = h θ̇, 0 = it sticks."""
        return 0.0 if breaks(0.0, y) >= 0.0 else -np.sign(rates(y, 0.0)[2])

    ends.terminal = breaks.terminal = stops.terminal = True
    breaks.direction = -1
    y, changes = np.array([0.0, start ** (1.0 / k), 0.0, 0.0]), []
    way = way_of(y)
    while y[0] < until - 1e-12:
        stops.direction = -way
        found = solve_ivp(lambda _, y, way=way: rates(y, way)[0], (0.0, 50.0), y, "DOP853", rtol=1e-11, atol=1e-13,
                          events=[ends, stops if way else breaks])
        y = found.y[:, -1]
        if not found.t_events[0].size:
            y[3] = height(turned(y[1]), q) * y[2]
            way = -np.sign(rates(y, 0.0)[2]) if way == 0.0 else way_of(y)
            changes.append((y[0], way == 0.0))
    return turned(y[1]), changes


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_with_friction_it_slides_and_rolls_over_its_flat_side_as_coulombs_law_says(friction):
    """Until it has passed level once; the bounds are those above. With 0.5 it comes to stick beyond, and to slip again;
    with 0.2 its slip turns round as it passes."""
    start, h, q = 0.1, 1.0 / 240.0, 2.0 / 1.75
    sim = simulate(0.25, h, friction=friction, position=[0.0, 0.0, height(start, q)],
                   euler=[0.0, np.degrees(start), 0.0])
    mass, inertia = float(sim.model.mass[1]), float(sim.model.inertia[1, 1])
    kinetic = mass * G * (height(start, q) - height(0.0, q))
    fastest = np.sqrt(2.0 * kinetic / inertia)
    lost = CROSSING * CROSSED * h * 2.0 * fastest * mass * G * slope(start, q)
    sim.run(0.2)
    most = CROSSING * CROSSED * h * 2.0 * fastest + 0.5 * fastest * sim.time * lost / kinetic
    w, _, y, _ = sim.state.bodies.q[1]
    angle, changes = slides_and_rolls(start, 0.25, mass, inertia, friction, sim.time)
    assert abs(2.0 * np.arctan2(y, w) - angle) <= most
    assert [event.kind == "stick" for event in sim.events] == [sticks for _, sticks in changes]
    assert {event.kind for event in sim.events} <= {"stick", "slip"}
    np.testing.assert_allclose([event.t for event in sim.events], [t for t, _ in changes], rtol=0.0,
                               atol=CROSSING * CROSSED * h + most / fastest)


@pytest.mark.parametrize("h", [1 / 240, 1 / 960])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize(("integrator", "part"), [("dopri5", CROSSED), ("rk4", SHORT)])
def test_a_brick_that_rocks_askew_loses_nothing_but_by_impacts(integrator, part, restitution, h):
    """It passes flat places some four times in a second, at no more than the speed of its fall; see above. A step of
    fixed length crosses them in longer pieces."""
    sim = simulate(0.25, h, restitution, integrator, position=[0.0, 0.0, 1.0], orientation=[0.8, 0.36, 0.48, 0.0])
    energy, weight = sim.energy().total, float(sim.model.mass[1]) * G
    while sim.time < 1.0 - 1e-9:
        sim.step()
    taken = sum(event.energy_before - event.energy_after for event in sim.events)
    assert len(sim.events) > 1
    assert abs(energy - sim.energy().total - taken) <= 4 * CROSSING * part * h * np.sqrt(2.0 * G) * weight


@pytest.mark.parametrize("exponent", [0.25, 0.5])
@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_one_that_falls_flat_on_an_inclined_floor_slides_and_does_not_rock(integrator, exponent):
    """Rounding turns it by some 1e-16: the contact would lie |θ|^(e/(2 - e)) beside the middle, 5e-3 of the size with
    e = 0.25, and rock it. Its angular momentum stays that of rounding in a weight and a lever, over a second."""
    tilt = np.radians(20.0)
    floor = FLOOR | {"euler": [20.0, 0.0, 0.0]}
    solid = {"name": "solid", "density": 1000.0, "euler": [20.0, 0.0, 0.0],
             "position": [0.0, -0.4 * np.sin(tilt), 0.4 * np.cos(tilt)], "shape": [
                 {"type": "superellipsoid", "size": [2 * A, 2 * B, 2 * C], "exponents": [exponent, exponent]}]}
    scene = Scene.from_dict({"material": {"default": {"friction": 0.0, "restitution": 0.0}}, "body": [floor, solid]})
    sim = Simulation(scene, method="event_driven", h=1 / 240, integrator=integrator)
    sim.run(1.0)
    assert [event.kind for event in sim.events] == ["impact"]
    assert np.abs(sim.state.bodies.L[1]).max() < 1e-12 * sim.model.mass[1] * G * A
