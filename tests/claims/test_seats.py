"""Ellipsoids and superellipsoids in `event_driven` that are somewhere flatter than the bowl or pipe they are in: they
touch the wall in several places, or all around."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from test_superellipsoid import _foremost

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.exact.elements import surface_of
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.collision.exact.near import PLACE, find_near, trees_of
from contactlab.physics.shapes.elements import (
    BOWL,
    OUTLINE,
    PIPE,
    SPOTS,
)

G = 9.81
SOLIDS = {  # semi-axes, exponents
    "pebble": ((0.6, 0.4, 0.15), (1.0, 1.0)),   # two places in either wall
    "rod": ((0.6, 0.15, 0.15), (1.0, 1.0)),
    "lens": ((0.6, 0.6, 0.2), (1.0, 1.0)),      # in a bowl a circle
    "soap": ((0.4, 0.3, 0.2), (0.5, 0.5)),      # four places in a bowl
    "puck": ((0.4, 0.4, 0.15), (0.5, 1.0)),
    "brick": ((0.5, 0.3, 0.15), (0.25, 0.25)),
    "plate": ((0.7, 0.4, 0.02), (0.3, 0.6)),
    "star": ((0.5, 0.4, 0.3), (1.8, 1.6)),      # tips and edges, flat between
    "top": ((0.4, 0.4, 0.5), (1.8, 1.0)),
    "wedge": ((0.5, 0.3, 0.2), (0.3, 1.7)),
    "ridge": ((0.5, 0.4, 0.3), (1.7, 0.4)),
}
CASES = [(hollow, name) for hollow in ("bowl", "pipe") for name in SOLIDS]
PLACES = {"bowl": SPOTS, "pipe": (OUTLINE,)}


def simulate(hollow, name, method="event_driven", h=1 / 240, friction=0.0, restitution=0.0, angle=90.0,
             integrator="dopri5", **pose):
    """A solid in a wall of 1 m about the origin; a pipe lies along y."""
    half, exponents = SOLIDS[name]
    size = [2.0 * s for s in half]
    shape = {"type": "ellipsoid", "size": size} if exponents == (1.0, 1.0) else {
        "type": "superellipsoid", "size": size, "exponents": list(exponents)}
    wall = {"type": "bowl", "radius": 1.0, "angle": angle} if hollow == "bowl" else {
        "type": "pipe", "radius": 1.0, "height": 8.0, "angle": angle}
    bodies = [{"name": "wall", "fixed": True, "shape": [wall], "euler": [90.0 * (hollow == "pipe"), 0.0, 0.0]},
              {"name": "solid", "shape": [shape]} | pose]
    material = {"default": {"friction": friction, "restitution": restitution}}
    scene = Scene.from_dict({"material": material, "body": bodies})
    return Simulation(scene, method=method, h=h, integrator=integrator)


def witnesses(sim, surface, hollow):
    """Of the places where the solid may touch."""
    f = int(np.flatnonzero(np.isin(surface.kind, (BOWL, PIPE)))[0])
    mine = np.flatnonzero(np.isin(surface.kind, PLACES[hollow]))
    witness = empty_witness(len(mine))
    for array in witness:
        array.fill(-1 if array.dtype.kind == "i" else np.nan)
    reach, place = np.full(len(surface.meets), np.inf), np.full((len(surface.kind), PLACE), np.nan)
    find_near(surface, trees_of(surface), sim.state.bodies, reach, np.inf, 0.0, place, np.zeros(0, np.int64),
              empty_witness(0))  # gives the places of outlines their seats
    find_witnesses(surface, sim.state.bodies, mine * len(surface.kind) + f, len(mine), witness)
    return witness


def farthest(hollow, name, x, turn):
    """(how far its points are from the middle or axis of the wall at most, by how much less in the next such place) by
    climbing from 200 normals; away from the bottom of a climb the height is known to the square of the step that is
    left."""
    half, exponents = SOLIDS[name]
    across = np.diag([1.0, 1.0 if hollow == "bowl" else 0.0, 1.0])
    m = np.random.default_rng(1).normal(size=(200, 3)) @ across
    m /= np.linalg.norm(m, axis=1)[:, None]
    seen, change, p = np.zeros(len(m)), np.zeros(len(m)), m
    for _ in range(600):
        p = x + turn.apply(_foremost(turn.inv().apply(m), np.array(half), exponents))
        out = p @ across
        seen = np.linalg.norm(out, axis=1)
        change, m = np.linalg.norm(out / seen[:, None] - m, axis=1), out / seen[:, None]
        if change.max() < 1e-9:
            break
    best = int(seen.argmax())
    others = np.linalg.norm((p - p[best]) @ across, axis=1) > 1e-3
    return float(seen[best]), float(seen[best] - seen[others].max(initial=-np.inf)), float(change.max())


vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


@pytest.mark.parametrize(("hollow", "name"), CASES)
@settings(max_examples=25, deadline=None)
@given(x=vectors, turn=vectors, v=vectors, spin=vectors)
def test_the_least_gap_is_that_of_the_point_farthest_out_and_changes_along_the_normal(hollow, name, x, turn, v, spin):
    """Left out are poses in which a place is about to part or is as far out all around: climbing hardly ends there. So
    are rates near flat places, where φ'' has no bound."""
    turned, x = Rotation.from_rotvec(3.0 * turn), 0.3 * x
    top, lead, left = farthest(hollow, name, x, turned)
    assume(left < 1e-9)
    sim = simulate(hollow, name, angle=180.0)
    surface, bodies = surface_of(sim.model), sim.state.bodies

    def place(t):
        bodies.x[1], bodies.q[1] = x + t * v, (Rotation.from_rotvec(t * spin) * turned).as_quat(scalar_first=True)
        return witnesses(sim, surface, hollow)

    w = place(0.0)
    here = w.margin >= 0.0
    assert w.gap[here].min() == pytest.approx(1.0 - top, abs=1e-8)  # two places BESIDE each other count as one
    np.testing.assert_allclose((w.p_b - w.p_a)[here], w.gap[here, None] * w.normal[here], rtol=0, atol=1e-9)
    k, step = int(np.argmin(np.where(here, w.gap, np.inf))), 1e-6
    steep = np.abs(turned.inv().apply(w.normal[k]) * SOLIDS[name][0])
    assume(lead > 1e-3 and w.margin[k] > 1e-3)
    if min(SOLIDS[name][1]) < 1.0 and steep.min() < 0.01 * steep.max():
        return
    rate = w.normal[k] @ (v + np.cross(spin, w.p_b[k] - x)) * (1.0 if w.body_b[k] == 1 else -1.0)
    ahead, behind = place(step).gap[k], place(-step).gap[k]
    # differences leave φ''' step²/6, with φ'' up to the square of the speeds over what curvatures differ by
    assert (ahead - behind) / (2.0 * step) == pytest.approx(rate, abs=1e-6)


def depth_of(a, c):
    """How far below the middle of a wall of 1 m an ellipse of semi-axes a > c lies level on two points (x, z): its
    normals a² (x/a², z/c²) lead there from the middle, so that 1 = a² + z² (a²/c²)(a²/c² - 1)."""
    q = (a / c) ** 2
    return math.sqrt((1.0 - a * a) / (q * (q - 1.0))) * (q - 1.0)


@pytest.mark.parametrize(("hollow", "name", "count"), [
    ("bowl", "pebble", 2), ("bowl", "rod", 2), ("bowl", "lens", 8), ("bowl", "soap", 4), ("bowl", "puck", 8),
    ("bowl", "brick", 4), ("bowl", "plate", 4), ("bowl", "star", 1), ("bowl", "wedge", 2), ("bowl", "ridge", 1),
    ("pipe", "pebble", 2), ("pipe", "rod", 2), ("pipe", "lens", 2), ("pipe", "soap", 2), ("pipe", "puck", 2),
    ("pipe", "brick", 2), ("pipe", "plate", 2), ("pipe", "star", 1), ("pipe", "wedge", 2)])
def test_dropped_level_it_rests_on_all_its_places(hollow, name, count):
    """Without friction and bouncing: the wall bears its weight, nothing moves, and an ellipsoid lies as deep as its
    outline says. A pipe has the longest axis across it."""
    sim = simulate(hollow, name, position=[0.0, 0.0, -0.5])
    sim.run(0.7)
    seen = len(sim.events)
    sim.run(1.0)
    contacts = sim.body("solid").contacts
    assert len(contacts) == count
    assert sum(c.lam * abs(c.normal[2]) for c in contacts) == pytest.approx(sim.model.mass[1] * G, rel=1e-9)
    np.testing.assert_allclose(sim.velocity("solid"), 0.0, atol=1e-9)
    assert len(sim.events) == seen
    (a, _, c), exponents = SOLIDS[name]
    if exponents == (1.0, 1.0):
        assert sim.position("solid")[2] == pytest.approx(-depth_of(a, c), abs=1e-8)


DROP = {"position": [0.1, 0.1, -0.3], "euler": [20.0, 35.0, 10.0], "angular_velocity": [0.5, 1.0, 0.3]}


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize(("hollow", "name"), CASES)
def test_it_rocks_on_its_places_and_loses_energy_in_its_impacts_only(hollow, name, restitution):
    """Without friction. It stays within the wall, and all that its energy loses is told by events."""
    sim = simulate(hollow, name, restitution=restitution, **DROP)
    before, low = sim.energy().total, 0.0
    while sim.time < 1.0:
        sim.step()
        low = min([low, *(contact.gap for contact in sim.body("solid").contacts)])
    lost = sum(event.energy_before - event.energy_after for event in sim.events)
    assert lost > 0.0
    assert before - sim.energy().total == pytest.approx(lost, abs=1e-7 * abs(before))
    assert low > -1e-8


@pytest.mark.parametrize(("hollow", "name"), [
    ("bowl", "pebble"), ("bowl", "soap"), ("bowl", "star"), ("bowl", "top"), ("pipe", "lens"), ("pipe", "soap")])
def test_time_stepping_goes_the_same_way_but_for_a_step(hollow, name):
    """Its impacts come as much as a step too late: what falls 0.3 m is then a step times its speed beside the way."""
    exact = simulate(hollow, name, **DROP)
    exact.run(0.5)
    for h in (1 / 500, 1 / 4000):
        other = simulate(hollow, name, "time_stepping", h, **DROP)
        other.run(0.5)
        assert np.abs(other.position("solid") - exact.position("solid")).max() < h * math.sqrt(2.0 * G * 0.3)


@pytest.mark.parametrize(("hollow", "name"), CASES)
def test_with_friction_it_comes_to_rest_or_rolls_on_and_never_gains_energy(hollow, name):
    sim = simulate(hollow, name, friction=0.4, **DROP)
    energy = sim.energy().total
    while sim.time < 1.0:
        sim.step()
        assert sim.energy().total < energy + 1e-7 * abs(energy)
        energy = sim.energy().total
    assert np.linalg.norm(sim.position("solid")) < 1.0


@pytest.mark.parametrize(("hollow", "name"), [
    ("bowl", "pebble"), ("bowl", "soap"), ("bowl", "star"), ("bowl", "top"), ("pipe", "soap"), ("pipe", "star")])
def test_a_run_goes_on_from_a_saved_instant_as_it_did_to_the_last_bit(hollow, name):
    """Also in another simulation, which knows nothing of the places that the steps before have followed."""
    sim, other = simulate(hollow, name, **DROP), simulate(hollow, name, **DROP)
    sim.run(0.5)
    saved, seen = sim.save(), len(sim.events)
    sim.run(0.7)
    told, x, q = [(e.kind, e.t) for e in sim.events[seen:]], sim.position("solid"), sim.orientation("solid")
    for run in (sim, other):
        run.restore(saved)
        run.run(0.7)
        np.testing.assert_array_equal(run.position("solid"), x)
        np.testing.assert_array_equal(run.orientation("solid"), q)
    assert [(e.kind, e.t) for e in other.events] == told
