"""Claims about concave meshes in `event_driven`: they touch each other as what they are, at the right instants, and
nothing passes through."""

import math

import numpy as np
import pytest
import trimesh
from mesh_zoo import corner_piece, cup, mesh_body
from scipy.spatial.transform import Rotation

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.exact.elements import PAIR_KINDS, surface_of
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.collision.exact.near import PLACE, find_near, trees_of
from contactlab.physics.shapes.elements import FACE, VERTEX

SIDE, G = 0.125, 9.81  # of cubes [m], as files with single precision hold it
#: of the same motion computed with other elements: instants are found to 1e-13 s, in which a cube of 2 kg gets
#: 2e-12 N s, and some twenty bounces hand that on
ROUNDING = 1e-11
BOX = {"type": "box", "size": [SIDE] * 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of all meshes."""
    here = tmp_path_factory.mktemp("surfaces")
    trimesh.creation.box((SIDE, SIDE, SIDE)).export(here / "cube.stl")
    trimesh.creation.box((1.0, 1.0, 0.25)).export(here / "slab.stl")
    trimesh.creation.torus(0.1, 0.02, major_sections=16, minor_sections=6).export(here / "ring.stl")
    corner_piece(SIDE).export(here / "corner.stl")
    cup().export(here / "cup.stl")
    cup(12, 0.0625, 0.125, 0.015625).export(here / "small.stl")
    return here


def simulate(folder, *bodies, friction=0.3, restitution=0.0, gravity=(0.0, 0.0, -G), **solver):
    material = {"default": {"friction": friction, "restitution": restitution}}
    return Simulation(Scene.from_dict({"scene": {"gravity": list(gravity)}, "material": material,
                                       "solver": {"h": 1 / 240, **solver}, "body": list(bodies)}, folder),
                      method="event_driven")


def triangles(sim, name):
    """Corners (v, 3) of the mesh of a body in the world, triangles (t, 3) and edges (e, 2) of these."""
    meshes, i = sim.model.meshes, sim.labels.bodies.index(name)
    k = int(sim.model.shapes.data[sim.model.shapes.body == i][0])
    s = int(np.flatnonzero(sim.model.shapes.body == i)[0])
    first = int(meshes.vertex_start[k])
    faces = meshes.triangles[meshes.triangle_start[k] : meshes.triangle_start[k + 1]] - first
    own = Rotation.from_quat(sim.model.shapes.orientation[s], scalar_first=True)
    points = own.apply(meshes.vertices[first : meshes.vertex_start[k + 1]]) + sim.model.shapes.position[s]
    body = Rotation.from_quat(sim.state.bodies.q[i], scalar_first=True)
    edges = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    return body.apply(points) + sim.state.bodies.x[i], faces, edges


def passing(edges_of, faces_of, slack):
    """How many edges of one mesh pass through triangles of the other, clear of ends and sides by `slack` [m]."""
    (points, _, edges), (corners, faces, _) = edges_of, faces_of
    a, b, c = (corners[faces[:, j]] for j in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    heights = points @ n.T - (a * n).sum(axis=1)
    p, q = heights[edges[:, 0]], heights[edges[:, 1]]
    e, t = np.nonzero((p * q < 0.0) & (np.minimum(np.abs(p), np.abs(q)) > slack))
    share = (p[e, t] / (p[e, t] - q[e, t]))[:, None]
    x, clear = points[edges[e, 0]] * (1.0 - share) + points[edges[e, 1]] * share, np.ones(len(e), bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inward = np.cross(n, v - u)
        inward /= np.linalg.norm(inward, axis=1)[:, None]
        clear &= ((x - u[t]) * inward[t]).sum(axis=1) > slack
    return int(clear.sum())


def pass_through(sim, a, b, slack=1e-7):
    """Whether the meshes of two bodies pass through each other."""
    one, two = triangles(sim, a), triangles(sim, b)
    return passing(one, two, slack) + passing(two, one, slack) > 0


FALLS = {"flat": {"position": [0.01, 0.02, 1.6 * SIDE]},
         "corner": {"position": [0.03, 0.02, 2.5 * SIDE], "euler": [40.0, 35.0, 10.0]}}


@pytest.mark.parametrize("fall", FALLS)
def test_cubes_of_triangles_hit_as_boxes(folder, fall):
    """Corners, edges and sides that stick out are those of the boxes; the diagonals of the sides say nothing. Flat it
    bounces to rest, on a corner it bounces and turns. A gap of rounding eps is passed at speed v in eps / v, and
    gravity makes g eps / v of speed in this time: the slower a blow, the more; and each hands its lateness on."""
    told, ends = [], []
    for lower, upper in (({"name": "lower", "fixed": True, "shape": [BOX]}, {"name": "upper", "shape": [BOX]}),
                         (mesh_body("lower", "cube.stl", [0.0] * 3, fixed=True),
                          mesh_body("upper", "cube.stl", [0.0] * 3))):
        sim = simulate(folder, lower, upper | FALLS[fall], restitution=0.5)
        sim.run(until=0.45)
        told.append([(event.kind, event.t, *event.impulse) for event in sim.events])
        ends.append(np.concatenate([sim.position("upper"), sim.velocity("upper"), sim.orientation("upper"),
                                    [sim.energy().total]]))
    assert [kind for kind, *_ in told[0]] == [kind for kind, *_ in told[1]]
    assert any(kind == "impact" for kind, *_ in told[0])
    boxes, meshes = (np.array([row[1:] for row in rows]) for rows in told)
    impulse = np.abs(boxes[:, 1:]).max(axis=1)
    impulse[impulse == 0.0] = impulse[impulse > 0.0].min()
    mass = impulse[0] / (G * boxes[0, 0])  # of the first blow, after a fall from rest
    late = np.cumsum(np.finfo(float).eps * mass / impulse)[:, None]
    assert (np.abs(meshes - boxes) <= ROUNDING + late * [1.0, *[mass * G] * 3]).all()
    np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize(("a", "b"), [("corner", "corner"), ("ring", "cup")])
def test_an_elastic_hit_of_concave_meshes_keeps_momentum_and_energy(folder, a, b):
    """Without gravity and friction. Newton's law with e = 1 turns ζ round, which keeps the energy; nothing passes
    through."""
    sim = simulate(folder, mesh_body("a", f"{a}.stl", [-0.3, 0.03, 0.02], velocity=[1.0, 0.0, 0.0],
                                     angular_velocity=[1.0, 2.0, 3.0], euler=[20.0, 70.0, 10.0]),
                   mesh_body("b", f"{b}.stl", [0.2, -0.04, 0.0], velocity=[-1.0, 0.0, 0.0],
                             angular_velocity=[-2.0, 1.0, 0.0], euler=[0.0, -60.0, 20.0]),
                   friction=0.0, restitution=1.0, gravity=(0.0, 0.0, 0.0), integrator="dopri5")
    assert not pass_through(sim, "a", "b")

    def kept():
        bodies = sim.state.bodies
        return np.concatenate([bodies.P.sum(axis=0), (bodies.L + np.cross(bodies.x, bodies.P)).sum(axis=0),
                               [sim.energy().total]])

    before = kept()
    while sim.time < 0.35:
        sim.run(until=sim.time + 4 / 240)
        assert not pass_through(sim, "a", "b")
    hits = [event for event in sim.events if event.kind == "impact"]
    assert hits and np.linalg.norm(hits[0].impulse) > 0.1
    np.testing.assert_allclose(kept(), before, rtol=0.0, atol=1e-10 * np.abs(before).max())


def test_a_cup_lands_in_another_cup_and_comes_to_rest(folder):
    """It falls off the axis and tilted, knocks against the wall, and ends on the bottom, 15 mm thick, but for the
    single precision of the file: 2⁻²⁴ of 0.15 m."""
    sim = simulate(folder, mesh_body("cup", "cup.stl", [0.0] * 3, fixed=True),
                   mesh_body("small", "small.stl", [0.012, 0.005, 0.18], euler=[4.0, -3.0, 0.0]), friction=0.5)
    start = sim.position("small")[2]
    while sim.time < 0.9:
        sim.run(until=sim.time + 2 / 240)
        assert not pass_through(sim, "cup", "small")
    bottom = triangles(sim, "small")[0][:, 2].min()
    assert bottom == pytest.approx(triangles(sim, "cup")[0][:, 2].min() + 0.015, abs=2.0**-24 * 0.15)
    assert sim.position("small")[2] < start
    assert np.abs(np.concatenate([sim.velocity("small"), sim.angular_velocity("small")])).max() < 1e-9
    assert any(event.kind == "impact" and abs(event.normal[2]) < 0.5 for event in sim.events)


def divided(corner, u, v, n):
    """The parallelogram of two sides from a corner, in 2 n² triangles: points and faces, which look along u × v."""
    points = np.array([corner + u * i / n + v * j / n for i in range(n + 1) for j in range(n + 1)])
    cells = np.array([i * (n + 1) + j for i in range(n) for j in range(n)])
    return points, np.concatenate([np.column_stack([cells, cells + n + 1, cells + n + 2]),
                                   np.column_stack([cells, cells + n + 2, cells + 1])])


def divided_box(size, n):
    """A box whose sides are divided like this."""
    low, (x, y, z) = -0.5 * np.array(size), np.diag(size)
    sides = [divided(low + w, u, v, n) for u, v, w in ((x, y, z), (y, z, x), (z, x, y))]
    sides += [divided(low, v, u, n) for u, v in ((x, y), (y, z), (z, x))]
    starts = np.cumsum([0, *(len(points) for points, _ in sides)])
    return trimesh.Trimesh(np.concatenate([points for points, _ in sides]),
                           np.concatenate([faces + start for (_, faces), start in zip(sides, starts, strict=False)]))


def test_a_brick_of_triangles_slides_over_inner_edges_as_over_a_plane(folder):
    """v² / (2 μ g), with no impact and no rise: a corner is handed on from triangle to triangle, and their edges are
    silent. All there is to tell is the end of slip, at v / (μ g)."""
    mu, speed = 0.25, 1.2
    trimesh.Trimesh(*divided(np.array([-0.75, -0.75, 0.0]), *(1.5 * np.eye(3)[:2]), 24),
                    process=False).export(folder / "table.stl")
    begin = [-0.4, 0.013, 0.5 * SIDE]
    turn = np.radians(20.0)
    way = np.array([np.cos(turn), np.sin(turn), 0.0])
    sim = simulate(folder, mesh_body("table", "table.stl", [0.0] * 3, fixed=True),
                   mesh_body("brick", "cube.stl", begin, euler=[0.0, 0.0, 10.0], velocity=(speed * way).tolist()),
                   friction=mu, integrator="dopri5")
    sim.run(until=speed / (mu * G) + 0.1)
    assert [event.kind for event in sim.events] == ["stick"] * 4
    np.testing.assert_allclose([event.t for event in sim.events], speed / (mu * G), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(sim.position("brick"), begin + speed**2 / (2.0 * mu * G) * way, rtol=0.0, atol=1e-8)
    assert np.abs(sim.velocity("brick")).max() < 1e-9


def test_without_friction_nothing_is_told_of_a_brick_on_a_divided_table(folder):
    """Nor that another corner of the four completes the basis: which does, hangs on the names of the triangles."""
    divided_box([1.5, 1.5, SIDE], 12).export(folder / "slab12.stl")
    sim = simulate(folder, mesh_body("table", "slab12.stl", [0.0, 0.0, -0.5 * SIDE], fixed=True),
                   mesh_body("brick", "cube.stl", [-0.4, 0.013, 0.5 * SIDE], euler=[0.0, 0.0, 10.0],
                             velocity=[1.2, 0.4, 0.0]), friction=0.0)
    sim.run(until=0.3)
    assert sim.events == []
    np.testing.assert_allclose(sim.position("brick"), [-0.04, 0.133, 0.5 * SIDE], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("turn", [0.0, 10.0, 45.0])
def test_the_rim_of_a_divided_table_is_told_as_that_of_a_box(folder, turn):
    """A brick slides over the rim, tips and falls: corners that leave, edges that take over, forces that vanish, and a
    last knock, each told once and at its instant; neither the corners along the straight rim nor the inner edges say
    anything. Where the motion is on the verge of tipping over, rounding of instants, 1e-13 s, grows most."""
    divided_box([1.5, 1.5, SIDE], 12).export(folder / "slab12.stl")
    told, ends = [], []
    for table in ({"name": "table", "fixed": True, "position": [0.0, 0.0, -0.5 * SIDE],
                   "shape": [{"type": "box", "size": [1.5, 1.5, SIDE]}]},
                  mesh_body("table", "slab12.stl", [0.0, 0.0, -0.5 * SIDE], fixed=True)):
        sim = simulate(folder, table, mesh_body("brick", "cube.stl", [0.5, 0.013, 0.5 * SIDE], euler=[0.0, 0.0, turn],
                                                velocity=[1.5, 0.1, 0.0]), friction=0.25, integrator="dopri5")
        sim.run(until=0.3)
        told.append([(event.kind, event.t) for event in sim.events])
        ends.append(np.concatenate([sim.position("brick"), sim.velocity("brick"), sim.orientation("brick")]))
    assert [kind for kind, _ in told[1]] == [kind for kind, _ in told[0]]
    assert {"geometric_loss", "dynamic_loss", "gain"} <= {kind for kind, _ in told[0]}
    np.testing.assert_allclose(*([t for _, t in one] for one in told), rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(*ends, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_inner_edges_say_nothing_whatever_the_size(folder, scale):
    """A smooth brick over a divided slab, all lengths by a factor s, times by √s: two pairs at a new triangle are one
    contact where their points are 1e-8 of the brick from each other."""
    divided_box([1.5 * scale, 1.5 * scale, SIDE * scale], 6).export(folder / f"slab{scale}.stl")
    half = 0.5 * SIDE * scale
    sim = simulate(folder, mesh_body("table", f"slab{scale}.stl", [0.0, 0.0, -half], fixed=True),
                   {"name": "brick", "position": [-0.2 * scale, 0.013 * scale, half], "euler": [0.0, 0.0, 20.0],
                    "velocity": [1.5 * math.sqrt(scale), 0.0, 0.0],
                    "shape": [{"type": "box", "size": [2.0 * half] * 3}]},
                   integrator="dopri5", friction=0.0, h=math.sqrt(scale) / 400)
    sim.run(until=0.2 * math.sqrt(scale))
    assert sim.position("brick")[0] == pytest.approx(0.1 * scale, rel=1e-6)
    assert not sim.events


def test_corners_on_a_straight_edge_are_none(folder):
    """Of a divided box there are eight; where one sticks out by more than single precision rounds, the line is bent
    there and at the corners beside it."""
    mesh = divided_box([SIDE] * 3, 4)
    for bulge, corners in ((0.0, 8), (1e-5 * SIDE, 11)):  # less than edges of faces count as bent for
        middle = np.flatnonzero((np.abs(mesh.vertices - SIDE * np.array([0.5, 0.5, 0.0])) < 1e-9).all(axis=1))
        mesh.vertices[middle] += bulge
        mesh.export(folder / "bulged.stl")
        sim = simulate(folder, mesh_body("box", "bulged.stl", [0.0] * 3))
        assert np.count_nonzero(surface_of(sim.model).kind == VERTEX) == corners


def test_a_ring_that_rolls_from_corner_to_corner_never_sinks(folder):
    """Second-order steps leave drift that is projected out at each corner that lands, which must land even where that
    puts it a little below the ground: no deeper than what counts as touching."""
    sim = simulate(folder, {"name": "ground", "fixed": True, "position": [0.0, 0.0, -0.5],
                            "shape": [{"type": "box", "size": [4.0, 4.0, 1.0]}]},
                   mesh_body("ring", "ring.stl", [0.0, 0.0, 0.12], euler=[80.0, 10.0, 0.0], velocity=[0.3, 0.0, 0.0],
                             angular_velocity=[0.0, 3.0, 1.0]), friction=0.4, integrator="heun")
    while sim.time < 1.0:
        sim.step()
        assert triangles(sim, "ring")[0][:, 2].min() > -1e-7


def test_trees_find_the_pairs_that_are_near(folder):
    """Of hundreds of elements each, against all pairs looked at one by one: gap and margin decide, as `find_near` says.
    """
    sim = simulate(folder, mesh_body("ring", "ring.stl", [0.0] * 3), mesh_body("cup", "cup.stl", [0.0] * 3))
    surface, bodies, near = surface_of(sim.model), sim.state.bodies, 0.01
    trees, place = trees_of(surface), np.zeros((len(surface.kind), PLACE))
    assert (np.diff(trees.node_start) > 0).all()
    e, f = (a.ravel() for a in np.meshgrid(*(np.arange(*surface.start[s : s + 2]) for s in range(2)), indexing="ij"))
    first = PAIR_KINDS[surface.kind[e], surface.kind[f]] >= 0
    g, h = np.where(first, e, f), np.where(first, f, e)
    kind = PAIR_KINDS[surface.kind[g], surface.kind[h]]
    faces = (surface.kind[g] == VERTEX) & (surface.kind[h] == FACE)
    kept = (kind >= 0) & (faces | (surface.kind[g] == surface.kind[h]) & (surface.kind[g] != VERTEX))
    pairs, on_face = (g * len(surface.kind) + h)[kept], faces[kept]
    witness, found, room = empty_witness(len(pairs)), np.zeros(len(pairs), np.int64), empty_witness(len(pairs))
    rng, seen = np.random.default_rng(2), 0
    for _ in range(4):
        turn = Rotation.random(rng=rng)
        bodies.x[0], bodies.q[0] = [0.03, 0.01, 0.14] + 0.02 * rng.normal(size=3), turn.as_quat(scalar_first=True)
        count = find_near(surface, trees, bodies, np.array([near]), 0.0, 0.0, place, found, room)
        find_witnesses(surface, bodies, pairs, len(pairs), witness)
        outside, turned = witness.margin < 0.0, surface.axis.copy()
        turned[: surface.start[1]] = turn.apply(turned[: surface.start[1]])
        sine = np.linalg.norm(np.cross(turned[pairs // len(surface.kind)], turned[pairs % len(surface.kind)]), axis=1)
        wander = np.where(on_face, near, near / np.maximum(sine, 1e-6))  # of the nearest points of two edges
        wanted = (witness.gap <= near) & (witness.margin >= -near - wander) & (
            (witness.gap >= 0.0) | (outside & (witness.gap >= -wander)))
        must = wanted & ~outside  # beside its region a pair is farther than its gap says, and boxes may tell
        mine = set(found[:count].tolist())
        assert mine <= set(pairs[wanted].tolist())
        assert mine >= set(pairs[must].tolist())
        seen += int(must.sum())
    assert seen > 20
