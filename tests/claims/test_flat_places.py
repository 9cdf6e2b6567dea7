"""Claims about contacts that run over flat places: boxy superellipsoids on a plane, by `event_driven`.

Turned by θ about y, one of semi-axes a, b, c and an exponent e both ways reaches down to h(θ) = |(a sin θ, c cos θ)|_q,
q = 2/(2 - e). Without friction its centre moves up and down alone: ½ (I + m h'²) θ̇² + m g h = E. What h' jumps by as it
passes level, the force has to give in no time."""

import numpy as np
import pytest
from event_driven_scenes import G
from scipy.integrate import quad

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.event_driven.flat_places import CROSSED, SHORT

A, B, C = 0.5, 0.3, 0.15
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
CROSSING = 4  # such pieces that a passage may take: it is a geometric sequence of lengths on both sides, each a part of
              # the distance to the place, of which the last few are cut off


def simulate(exponent, h, restitution=0.0, integrator="dopri5", **pose):
    solid = {"name": "solid", "density": 1000.0, "shape": [
        {"type": "superellipsoid", "size": [2 * A, 2 * B, 2 * C], "exponents": [exponent, exponent]}]} | pose
    material = {"default": {"friction": 0.0, "restitution": restitution}}
    return Simulation(Scene.from_dict({"material": material, "body": [FLOOR, solid]}), method="event_driven", h=h,
                      integrator=integrator)


def height(theta, q):
    return (abs(A * np.sin(theta)) ** q + abs(C * np.cos(theta)) ** q) ** (1.0 / q)


def slope(theta, q):
    s, c = np.sin(theta), np.cos(theta)
    return height(theta, q) ** (1.0 - q) * (A**q * abs(s) ** (q - 1.0) * c * np.sign(s)
                                            - C**q * abs(c) ** (q - 1.0) * s * np.sign(c))


def quarter(theta, start, exponent, mass, inertia):
    """How long it takes [s] from rest at `start` to θ >= 0: ∫ dθ/θ̇ over θ = r^p, r = r_0 - s²: h' grows as a root of θ,
    θ̇ as one of start - θ."""
    q, p = 2.0 / (2.0 - exponent), 2.0 / exponent

    def slowness(s):
        r = start ** (1.0 / p) - s * s
        at = r**p
        fall = 2.0 * mass * G * (height(start, q) - height(at, q))
        if r <= 0.0 or fall <= 0.0:
            return 0.0
        return np.sqrt((inertia + mass * slope(at, q) ** 2) / fall) * p * r ** (p - 1.0) * 2.0 * s

    return quad(slowness, 0.0, np.sqrt(start ** (1.0 / p) - theta ** (1.0 / p)), epsabs=1e-12, limit=400)[0]


@pytest.mark.parametrize(("exponent", "h"), [(0.25, 1 / 240), (0.25, 1 / 1920), (0.5, 1 / 240)])
def test_a_brick_that_rocks_on_its_flat_side_takes_the_time_of_the_quadrature(exponent, h):
    """In each of those pieces of length ℓ the speeds are wrong by no more than they jump by, 2 h'θ̇ of the centre and
    less than 2 θ̇ of the turning: the energy by m g 2 h'θ̇ ℓ, the angle by 2 θ̇ ℓ. And θ̇ is wrong by half of the energy's
    part of the kinetic energy, from then on."""
    start, q = 0.1, 2.0 / (2.0 - exponent)
    sim = simulate(exponent, h, position=[0.0, 0.0, height(start, q)], euler=[0.0, np.degrees(start), 0.0])
    mass, inertia = float(sim.model.mass[1]), float(sim.model.inertia[1, 1])
    whole, energy = quarter(0.0, start, exponent, mass, inertia), sim.energy().total
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
            there = quarter(abs(angle), start, exponent, mass, inertia)
            turn, late = divmod(sim.time, 2.0 * whole)
            there = there if angle * (-1.0) ** turn > 0.0 else 2.0 * whole - there
            speed = np.sqrt(2.0 * mass * G * (height(start, q) - height(angle, q))
                            / (inertia + mass * slope(angle, q) ** 2))
            assert abs(late - there) * speed <= most + 1e-9 * start
            seen += 1
    assert seen > 40 and passed == 2
    assert not sim.events


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
