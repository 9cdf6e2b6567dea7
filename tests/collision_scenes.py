"""Models of bare shapes for claims about collision detection: no masses, no scene files, one shape a body."""

from typing import NamedTuple

import numpy as np

from contactlab.physics.core.model import Hulls, Materials, Meshes, Model, Motions, ShapeKind, Shapes, Springs
from contactlab.physics.core.state import Bodies, empty_state
from contactlab.physics.scene.hull import convex_hull
from contactlab.physics.scene.mesh import MeshSurface, static_mesh

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class Part(NamedTuple):
    """One shape; `points` are the corners of a hull, or (vertices, triangles) of a mesh."""

    kind: ShapeKind
    size: tuple = (0.0, 0.0, 0.0)
    points: object = None
    position: tuple = (0.0, 0.0, 0.0)
    orientation: tuple = UPRIGHT
    exponents: tuple = (1.0, 1.0)


class Thing(NamedTuple):
    """A body of some shapes at a place."""

    parts: tuple
    x: tuple = (0.0, 0.0, 0.0)
    q: tuple = UPRIGHT
    moves: bool = True


def sphere(r):
    return Part(ShapeKind.SPHERE, (r, 0.0, 0.0))


def box(*half):
    return Part(ShapeKind.BOX, half)


def capsule(r, half):
    return Part(ShapeKind.CAPSULE, (r, half, 0.0))


def cylinder(r, half):
    return Part(ShapeKind.CYLINDER, (r, half, 0.0))


def cone(r, height):
    return Part(ShapeKind.CONE, (r, height, 0.0))


def torus(tube, ring):
    return Part(ShapeKind.TORUS, (tube, ring, 0.0))


def ellipsoid(*half):
    return Part(ShapeKind.ELLIPSOID, half)


def superellipsoid(half, exponents):
    return Part(ShapeKind.SUPERELLIPSOID, half, exponents=exponents)


def bowl(radius, cosine):
    return Part(ShapeKind.BOWL, (radius, cosine, 0.0))


def pipe(radius, half, cosine):
    return Part(ShapeKind.PIPE, (radius, half, cosine))


def plane():
    return Part(ShapeKind.PLANE)


def hull(points):
    return Part(ShapeKind.HULL, points=np.asarray(points, float))


def rounded(points, radius):
    return Part(ShapeKind.ROUNDED, (radius, 0.0, 0.0), np.asarray(points, float))


def mesh(vertices, triangles):
    return Part(ShapeKind.MESH, points=(np.asarray(vertices, float), np.asarray(triangles, np.int32)))


def starts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def stack(arrays, *width, kind=np.float64):
    rows = [np.asarray(a, kind).reshape(-1, *width) for a in arrays]
    return np.concatenate([np.zeros((0, *width), kind), *rows])


def hull_table(parts):
    found = [convex_hull(p.points) for p in parts]
    v, f = starts([len(h.vertices) for h in found]), starts([len(h.loops) for h in found])
    loops = [np.array(loop) + v[k] for k, h in enumerate(found) for loop in h.loops]
    edges = stack([h.edges + np.array([v[k], v[k], f[k], f[k]]) for k, h in enumerate(found)], 4, kind=np.int32)
    return Hulls(
        v, stack([h.vertices for h in found], 3), np.zeros(v[-1] + 1, np.int32), np.zeros(0, np.int32), f,
        stack([h.normals for h in found], 3), stack([h.offsets for h in found]), starts([len(loop) for loop in loops]),
        stack(loops, kind=np.int32), starts([len(h.edges) for h in found]), edges,
    )


def mesh_table(parts):
    found = [static_mesh(MeshSurface(*p.points), "mesh") for p in parts]
    v, t = starts([len(m.vertices) for m in found]), starts([len(m.triangles) for m in found])
    n = starts([len(m.child) for m in found])
    children = []
    for k, m in enumerate(found):
        leaf = m.child[:, 0] < 0
        moved = m.child + n[k]
        moved[leaf, 0] = m.child[leaf, 0] - t[k]
        moved[leaf, 1] = m.child[leaf, 1]
        children.append(moved)
    return Meshes(
        v, stack([m.vertices for m in found], 3), t,
        stack([m.triangles + v[k] for k, m in enumerate(found)], 3, kind=np.int32),
        stack([m.triangle_normal for m in found], 3), stack([m.edge_convex for m in found], 3, kind=np.int32),
        stack([m.edge_normal for m in found], 3, 3), n, stack([m.node_min for m in found], 3),
        stack([m.node_max for m in found], 3), stack(children, 2, kind=np.int32),
        stack([m.leaf_order + t[k] for k, m in enumerate(found)], kind=np.int32),
    )


def build(*things: Thing, friction=0.4, restitution=0.5) -> tuple[Model, Bodies]:
    """A model of these bodies, and their poses."""
    rows = [(b, part) for b, thing in enumerate(things) for part in thing.parts]
    hulls = [part for _, part in rows if part.kind in (ShapeKind.HULL, ShapeKind.ROUNDED)]
    meshes = [part for _, part in rows if part.kind == ShapeKind.MESH]
    data, seen = [], {"hull": 0, "mesh": 0}
    tables = {ShapeKind.HULL: "hull", ShapeKind.ROUNDED: "hull", ShapeKind.MESH: "mesh"}
    for _, part in rows:
        table = tables.get(part.kind)
        data.append(seen.get(table, -1))
        if table is not None:
            seen[table] += 1
    n, s = len(things), len(rows)
    shapes = Shapes(
        np.array([b for b, _ in rows], np.int32), np.array([p.kind for _, p in rows], np.int32),
        stack([p.position for _, p in rows], 3), stack([p.orientation for _, p in rows], 4),
        stack([p.size for _, p in rows], 3), np.ones(s), np.zeros(s, np.int32), np.array(data, np.int32),
        stack([p.exponents for _, p in rows], 2),
    )
    still = np.zeros((n, 3))
    motions = Motions(still, np.zeros((n, 4)), still, still, still, np.zeros(n), np.zeros(n), np.zeros(n + 1, np.int32),
                      np.zeros(0), np.zeros((0, 3)), np.zeros(n, np.int32), still, still)
    none, ends = np.zeros(0, np.int32), np.zeros((0, 3))
    moves = np.array([thing.moves for thing in things], float)
    model = Model(
        np.array([0 if thing.moves else 1 for thing in things], np.int32), moves, moves, np.ones((n, 3)),
        moves[:, None] * np.ones((n, 3)), np.array([0.0, 0.0, -9.81]), shapes, hull_table(hulls), mesh_table(meshes),
        Materials(np.array([[restitution]]), np.array([[friction]])), motions,
        Springs(none, none, ends, ends, np.zeros(0), np.zeros(0), np.zeros(0)),
    )
    bodies = empty_state(n).bodies
    for b, thing in enumerate(things):
        bodies.x[b], bodies.q[b] = thing.x, thing.q
    return model, bodies


def rows_of(contacts):
    """The valid rows of the fields that collision detection fills, copied."""
    k = contacts.count[0]
    names = ("body_a", "body_b", "shape_a", "shape_b", "key", "point", "normal", "gap", "restitution", "friction")
    return contacts._replace(**{name: getattr(contacts, name)[:k].copy() for name in names})
