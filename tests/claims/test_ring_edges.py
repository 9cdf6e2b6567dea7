"""Tori on edges and corners in `event_driven`: where a ring is nearest to a line, and how rings slide and roll over
edges, hang on them and hit them."""

import math

import numpy as np
import pytest
from event_driven_scenes import UPRIGHT, Body, model_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from test_geometric_events import FAST, Slider, energy, leaves

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.exact.elements import PAIR_KINDS, surface_of
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.core.state import empty_state
from contactlab.physics.methods.event_driven.tolerances import EDGE as PAST_EDGE
from contactlab.physics.shapes.elements import EDGE, RING, RING_AHEAD, RING_BEHIND
from contactlab.physics.shapes.torus import mass_properties

RING_RADIUS, TUBE, G = 0.3, 0.08, 9.81  # of the circle, of the tube [m], gravity [m/s2]
EPS = 2.0**-52
SOLID = mass_properties(RING_RADIUS, TUBE, 30.0)
MASS, MOMENTS = SOLID.mass, np.diag(SOLID.inertia)
METHODS = ("event_driven", "time_stepping", "compliant")
TABLE = {"name": "table", "fixed": True, "position": [-1.0, 0.0, -0.1],
         "shape": [{"type": "box", "size": [2.0, 2.0, 0.2]}]}


def ring(**given):
    return {"name": "ring", "mass": MASS, "inertia": MOMENTS.tolist(),
            "shape": [{"type": "torus", "radius": RING_RADIUS, "tube": TUBE}]} | given


def simulate(*bodies, method="event_driven", friction=0.0, restitution=0.0, h=1 / 240, folder=None):
    material = {"default": {"restitution": restitution, "friction": friction}}
    return Simulation(Scene.from_dict({"material": material, "body": list(bodies)}, folder), method=method, h=h,
                      integrator="dopri5")


# ------------------------------------------------------------------------------------------------ where it is nearest
def minima(radius, o, v):
    """Least distances (k,) of a circle about z from the line through o along v, and by how much the curvature of half
    their square exceeds zero, relative to its size. With o the foot of the origin, z = e^{iθ} and the direction of v
    in the plane as real axis, 2i z² times the slope is a polynomial of degree four in z."""
    o = o - (o @ v) * v
    flat = np.hypot(v[0], v[1])
    x = v[:2] / flat if flat > 1e-9 else np.array([1.0, 0.0])
    a, b, way = o[:2] @ x, x[0] * o[1] - x[1] * o[0], radius * flat**2
    roots = np.roots([0.5 * way, a - 1j * b, 0.0, -a - 1j * b, -0.5 * way] if way > 1e-9 * radius
                     else [a - 1j * b, 0.0, -a - 1j * b])
    angle = np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-4])
    for _ in range(3):  # roots of polynomials have lost digits
        slope = a * np.sin(angle) - b * np.cos(angle) + 0.5 * way * np.sin(2.0 * angle)
        bend = a * np.cos(angle) + b * np.sin(angle) + way * np.cos(2.0 * angle)
        angle = angle - slope / bend
    bend = (a * np.cos(angle) + b * np.sin(angle) + way * np.cos(2.0 * angle)) / (abs(a) + abs(b) + way)
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    p = np.column_stack([radius * (out[:, :1] * x + out[:, 1:] * [-x[1], x[0]]), np.zeros(len(angle))]) - o
    distance = np.linalg.norm(p - (p @ v)[:, None] * v, axis=1)
    return np.sort(distance[bend > 0.0]), np.abs(bend).min()


vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


@settings(max_examples=200, deadline=None)
@given(o=vectors, v=vectors, far=st.floats(-3.0, 1.0), turn=vectors)
def test_a_ring_is_nearest_to_a_line_where_the_roots_of_degree_four_say(o, v, far, turn):
    """One minimum or two: as many elements are within their own regions as the distance has minima, and their gaps are
    these less the tube. Poses in which a minimum is about to vanish are left to the claims about motion: there the
    roots are double. Distances in parts of R from 1e-3 to 10."""
    assume(np.linalg.norm(v) > 1e-3 and np.linalg.norm(o) > 1e-3 and np.linalg.norm(np.cross(o, v)) > 1e-3)
    v, o = v / np.linalg.norm(v), 10.0**far * RING_RADIUS * o
    expected, clear = minima(RING_RADIUS, o, v)
    assume(clear > 1e-3)
    model, _ = model_of([Body([(ShapeKind.TORUS, (TUBE, RING_RADIUS, 0))], 1.0),
                         Body([(ShapeKind.CAPSULE, (0.01, 100.0, 0))], 1.0)], 0.0, 0.0, 0.0)
    surface, bodies, turned = surface_of(model), empty_state(2).bodies, Rotation.from_rotvec(turn)
    (x, y, z), axis = turned.apply(v), np.array([0.0, 1.0, 0.0])
    if np.hypot(x, y) > 0.0:
        axis = np.array([-y, x, 0.0]) / np.hypot(x, y)
    along = Rotation.from_rotvec(np.arctan2(np.hypot(x, y), z) * axis)  # to rounding, as `align_vectors` is not
    bodies.x[:], bodies.q[:] = [(0, 0, 0), turned.apply(o)], [turned.as_quat(scalar_first=True),
                                                              along.as_quat(scalar_first=True)]
    edge = int(np.flatnonzero(surface.kind == EDGE)[0])
    pairs = np.array([np.flatnonzero(surface.kind == kind)[0] * len(surface.kind) + edge
                      for kind in (RING, RING_AHEAD, RING_BEHIND)])
    witness = empty_witness(3)
    for array in witness:
        array.fill(-1 if array.dtype.kind == "i" else np.nan)
    find_witnesses(surface, bodies, pairs, 3, witness)
    found = np.sort(witness.gap[witness.margin >= 0.0])
    # the axis of the capsule is known to 100 m times rounding
    np.testing.assert_allclose(found, expected - TUBE - 0.01, rtol=0, atol=1e-12)
    # whether there is a second one or not; which of two is nearer the squares of the distances say, to rounding
    nearest = witness.gap[0] + TUBE + 0.01
    size = RING_RADIUS + np.linalg.norm(o)
    assert expected[0] - 1e-12 <= nearest <= np.hypot(expected[0], np.sqrt(4.0 * EPS) * size) + 1e-12


def nearest_to_box(points, half):
    """Distances of points (n, 3) outside a box from it."""
    return np.linalg.norm(np.maximum(np.abs(points) - half, 0.0), axis=1)


@settings(max_examples=60, deadline=None)
@given(x=vectors, turn=vectors, size=st.floats(0.05, 2.0))
def test_the_least_gap_to_a_box_is_that_of_the_points_of_the_circle(x, turn, size):
    """Faces, edges and corners together: the least gap of the pairs within their own regions is the least distance of
    the circle's points from the box, less the tube. A point half a part of the circle from the nearest one, R π/n, is
    farther by (R π/n)² (1/R + 1/d)/2 at most, d the distance."""
    half, n = size * np.array([0.3, 0.2, 0.1]), 2000
    turned = Rotation.from_rotvec(3.0 * turn)
    angle = 2.0 * np.pi / n * np.arange(n)
    circle = RING_RADIUS * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    least = nearest_to_box(turned.apply(circle) + x, half).min()
    assume(least > 0.02)
    model, _ = model_of([Body([(ShapeKind.TORUS, (TUBE, RING_RADIUS, 0))], 1.0, x=tuple(x)),
                         Body([(ShapeKind.BOX, tuple(half))], 1.0)], 0.0, 0.0, 0.0)
    surface, bodies = surface_of(model), empty_state(2).bodies
    bodies.x[:], bodies.q[:] = [x, (0, 0, 0)], [turned.as_quat(scalar_first=True), UPRIGHT]
    first = np.flatnonzero(surface.shape == 0)
    pairs = []
    for e in first:
        for f in np.flatnonzero(surface.shape == 1):
            if PAIR_KINDS[surface.kind[e], surface.kind[f]] >= 0:
                pairs.append(e * len(surface.kind) + f)
            elif PAIR_KINDS[surface.kind[f], surface.kind[e]] >= 0:
                pairs.append(f * len(surface.kind) + e)
    witness = empty_witness(len(pairs))
    find_witnesses(surface, bodies, np.array(pairs), len(pairs), witness)
    outside = witness.gap > -TUBE  # behind a face, or the ring's, there is nothing
    found = witness.gap[outside & (witness.margin >= 0.0) & (witness.facing >= 0.0)].min()
    above = 0.5 * (RING_RADIUS * math.pi / n) ** 2 * (1.0 / RING_RADIUS + 1.0 / least)
    assert least - TUBE - above <= found <= least - TUBE + 1e-12


# ------------------------------------------------------------------------------------------------ over an edge
SLIDER = Slider((TABLE, ring(position=[-0.35, 0.0, TUBE], velocity=[FAST, 0.0, 0.0])), 0.0, -0.35, RING_RADIUS, TUBE,
                MOMENTS[1] / MASS)


@pytest.mark.parametrize("method", METHODS)
def test_a_ring_that_slides_over_an_edge_tips_as_a_body_with_a_flat_base(method):
    """It touches the edge in two points, and moves as a block of half the length R whose centre is r over its base.
    When the edge is four fifths of R from its centre, between the methods lies the way of a step, in which the spin
    changes by ω̇ h. Where surfaces are soft the tube sinks in by δ, so that it touches the edge from √(2 r δ) before it
    to as far beyond it."""
    slider = SLIDER._replace(half=0.8 * RING_RADIUS)
    t, spin, growth = leaves(slider)
    h = t / 300
    sim = simulate(*slider.bodies, h=h, method=method)
    sim.run(t - 5.1 * h)
    before = energy(sim)
    sunk = max(0.0, -min(contact.gap for contact in sim.body("ring").contacts)) if method == "compliant" else 0.0
    sim.run(t + 0.1 * h)
    assert sim.time == pytest.approx(t, abs=1e-12)
    near = growth * ((PAST_EDGE if method == "event_driven" else h * FAST) + math.sqrt(2.0 * TUBE * sunk)) / FAST
    assert sim.angular_velocity("ring") == pytest.approx((0, spin, 0), abs=near + 1e-7)
    assert energy(sim) == pytest.approx(before, abs=MOMENTS[1] * spin * near + 1e-8)
    assert len(sim.body("ring").contacts) == 2


def test_its_two_points_run_into_each_other_where_the_edge_is_a_tangent():
    """At the tip of the astroid; then the tube is round, and the ring flies on with what it has. The force on one of
    the two points may vanish before, as on a rim, 1e-3 rad before the end."""
    sim = simulate(*SLIDER.bodies, h=1 / 500)
    t, spin, growth = leaves(SLIDER)
    sim.run(t - 0.01)
    before = energy(sim)
    sim.run(t + 0.02)
    near = growth * RING_RADIUS * 1e-6 / FAST + 1e-7
    assert sim.angular_velocity("ring") == pytest.approx((0, spin, 0), abs=near)
    assert energy(sim) == pytest.approx(before, abs=MOMENTS[1] * spin * near)
    assert "impact" not in {event.kind for event in sim.events}


def table_of(kind):
    """The table as another shape: its corners, or a sheet of triangles of two sizes on its top."""
    corners = [[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-0.1, 0.1)]
    if kind == "hull":
        return TABLE | {"shape": [{"type": "hull", "points": corners}]}
    if kind == "mesh":
        return TABLE | {"shape": [{"type": "mesh", "file": "table.stl"}]}
    return TABLE


def test_boxes_hulls_and_meshes_have_the_same_edges(tmp_path):
    """A spinning ring slides askew over the edge: its corners leave one by one, it tips over two points of the edge and
    flies off. The integrator keeps 1e-12 a step; edges within the mesh's top divide its pieces elsewhere."""
    import trimesh

    trimesh.creation.box((2.0, 2.0, 0.2)).subdivide().export(tmp_path / "table.stl")
    seen = []
    for kind in ("box", "hull", "mesh"):
        sim = simulate(table_of(kind), ring(position=[-0.35, 0.0, TUBE], velocity=[1.0, 0.3, 0.0],
                                            angular_velocity=[0.0, 0.0, 1.0]), folder=tmp_path)
        sim.run(0.8)
        kinds = {event.kind for event in sim.events}
        assert "geometric_loss" in kinds and "impact" not in kinds
        seen.append(np.concatenate([sim.position("ring"), sim.velocity("ring"), sim.angular_velocity("ring")]))
    assert seen[0][2] < -0.3  # it is on its way down
    np.testing.assert_allclose(seen[1], seen[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(seen[2], seen[0], rtol=0, atol=1e-6)


def test_a_hoop_rolls_over_the_edge_of_a_table():
    """Upright across the edge, which then is parallel to its axis: with ρ = R + r, (k² + ρ²)(ω² - ω₀²) = 2 g ρ (1 - cos
    θ), and its centre is at ρ (sin θ, cos θ) from the edge."""
    rho, speed = RING_RADIUS + TUBE, 0.8
    sim = simulate(TABLE, ring(position=[-0.08, 0.0, rho], euler=[90.0, 0.0, 0.0], velocity=[speed, 0.0, 0.0],
                               angular_velocity=[0.0, speed / rho, 0.0]), friction=2.0)
    square = MOMENTS[2] / MASS + rho**2
    for until in (0.2, 0.3, 0.36):
        sim.run(until)
        x, y, z = sim.position("ring")
        assert math.hypot(x, z) == pytest.approx(rho, abs=1e-10) and abs(y) < 1e-10
        spin = math.sqrt((speed / rho) ** 2 + 2.0 * G * (rho - z) / square)
        np.testing.assert_allclose(sim.angular_velocity("ring"), [0.0, spin, 0.0], rtol=0, atol=1e-8)
    assert x > 0.15
    assert [(event.kind, round(event.t, 8)) for event in sim.events] == [("geometric_loss", 0.1), ("gain", 0.1)]


@pytest.mark.parametrize("shape", [{"type": "torus", "radius": 0.25, "tube": 0.05},
                                   {"type": "cylinder", "radius": 0.25, "height": 0.1}],
                         ids=lambda shape: shape["type"])
def test_what_stops_a_little_before_it_tips_comes_back_to_lie_on_the_table(shape):
    """Sliding, friction μ bears it μ r beyond its centre, which stops less than that before the edge: it tips about the
    edge, and falls back. Its lowest point then leaps from beyond the edge to the other side, with no way between."""
    mu, height, speed = 0.3, 0.05, 0.9
    way = speed**2 / (2.0 * mu * G)
    start = -way - 0.8 * mu * height
    sim = simulate(TABLE, {"name": "round", "position": [start, 0.0, height], "velocity": [speed, 0.0, 0.0],
                           "shape": [shape]}, friction=mu, restitution=0.2)
    tipped = 0.0
    while sim.time < 0.4:
        sim.step()
        tipped = max(tipped, sim.angular_velocity("round")[1])
    assert tipped > 1e-3
    assert sim.position("round")[2] == pytest.approx(height, abs=1e-9)
    np.testing.assert_allclose(sim.velocity("round"), 0.0, atol=1e-9)


# ------------------------------------------------------------------------------------------------ on edges
def test_a_ring_hangs_on_two_edges_of_a_square_peg():
    """Half as wide as b, the peg holds the hole, of radius R - r, by two edges: sin α = b/(R - r), and each bears
    m g/(2 cos α). It stays there, tipped a little about its own axis as well as not at all."""
    half, hole = 0.05, RING_RADIUS - TUBE
    lean = math.asin(half / hole)
    peg = {"name": "peg", "fixed": True, "shape": [{"type": "box", "size": [2.0 * half, 1.0, 2.0 * half]}]}
    for turn in (0.0, 25.0):
        at = [0.0, 0.1, half - hole * math.cos(lean)]
        sim = simulate(peg, ring(position=at, euler=[90.0, turn, 0.0]))
        sim.run(0.1)
        contacts = sim.body("ring").contacts
        force = [contact.lam for contact in contacts]
        np.testing.assert_allclose(force, [MASS * G / (2.0 * math.cos(lean))] * 2, rtol=1e-9)
        np.testing.assert_allclose(sim.position("ring"), at, rtol=0, atol=1e-12)
        assert not sim.events


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_a_ring_lands_on_an_edge(restitution):
    """Askew, without spin, it falls on the edge of the table: at the instant when the least root of degree four is the
    tube's radius, with the impulse (1 + e)|ζ|/(1/m + (r × n)·I⁻¹(r × n)) along the line of nearest points."""
    start, turned = np.array([0.12, 0.0, 0.5]), Rotation.from_euler("xyz", [30.0, 70.0, 0.0], degrees=True)

    def gap(t):
        down = start - [0.0, 0.0, 0.5 * G * t * t]
        return minima(RING_RADIUS, turned.inv().apply(-down), turned.inv().apply([0.0, 1.0, 0.0]))[0][0] - TUBE

    t = brentq(gap, 0.0, 0.3, xtol=1e-14)
    sim = simulate(TABLE, ring(position=start.tolist(), orientation=turned.as_quat(scalar_first=True).tolist()),
                   restitution=restitution)
    before = energy(sim)
    sim.run(t + 0.004)
    event = sim.events[0]
    assert [event.kind for event in sim.events] == ["impact"]
    assert event.t == pytest.approx(t, abs=1e-11)
    down = start - [0.0, 0.0, 0.5 * G * t * t]
    # n = -grad of the gap, by differences in x and z; the edge is along y
    step = 1e-5

    def moved(x, z):
        o = turned.inv().apply([-x, 0.0, -z] - down)
        return minima(RING_RADIUS, o, turned.inv().apply([0.0, 1.0, 0.0]))[0][0]

    n = np.array([moved(step, 0) - moved(-step, 0), 0.0, moved(0, step) - moved(0, -step)]) / (2.0 * step)
    arm = np.cross(np.asarray(event.point) - down, n)
    inertia = turned.as_matrix() @ np.diag(1.0 / MOMENTS) @ turned.as_matrix().T
    impulse = (1.0 + restitution) * G * t * n[2] / (1.0 / MASS + arm @ inertia @ arm)
    np.testing.assert_allclose(np.linalg.norm(event.impulse), impulse, rtol=1e-8)
    lost = 0.5 * (1.0 - restitution**2) * (G * t * n[2]) ** 2 / (1.0 / MASS + arm @ inertia @ arm)
    assert before - energy(sim) == pytest.approx(lost, abs=1e-7 * before)


def test_a_ring_that_falls_on_a_beam_comes_to_rest_across_it():
    """Flat on two edges on each of which it has two points, r above them."""
    beam = {"name": "beam", "fixed": True, "position": [0.0, 0.0, -0.1],
            "shape": [{"type": "box", "size": [0.2, 2.0, 0.2]}]}
    sim = simulate(beam, ring(position=[0.03, 0.0, TUBE + 0.02], euler=[1.0, 2.0, 0.0]), friction=0.3)
    sim.run(0.7)
    assert sim.position("ring")[2] == pytest.approx(TUBE, abs=1e-9)
    np.testing.assert_allclose(sim.velocity("ring"), 0.0, atol=1e-9)
    at_edges = [contact for contact in sim.body("ring").contacts if abs(abs(contact.point[0]) - 0.1) < 1e-8]
    assert len(at_edges) == 4
