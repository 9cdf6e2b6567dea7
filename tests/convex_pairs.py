"""Pairs of convex shapes of all sizes in all poses, and what weak duality says of their distance.

No two points of convex shapes A and B are nearer to each other than n·(x_B - x_A) - h_A(n) - h_B(-n), whatever the unit
vector n, h the support functions. So a normal proves a lower bound of the signed distance, and two points that are
within the shapes an upper one where these are apart.
"""

from typing import NamedTuple

import numpy as np
from collision_scenes import (
    Part,
    Thing,
    box,
    build,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    hull,
    plane,
    rounded,
    sphere,
    superellipsoid,
)
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector
from contactlab.physics.core.model import ShapeKind

CORNERS = np.random.default_rng(7).normal(size=(14, 3))
CORNERS = CORNERS[ConvexHull(CORNERS).vertices]
CORNERS -= CORNERS.mean(axis=0)
CORNERS /= np.abs(CORNERS).max(axis=0)  # a hull in a cube of 2 m
CUBE = Rotation.create_group("O")  # the 24 turns by right angles
WAYS = np.random.default_rng(1).normal(size=(2000, 3))
WAYS /= np.linalg.norm(WAYS, axis=1, keepdims=True)

#: 1 mm to 1 m: semi-axes, radii and half heights whose ratio is up to 1000:1
lengths = st.integers(0, 300).map(lambda k: round(10.0 ** (-k / 100), 12))
exponents = st.integers(20, 180).map(lambda k: k / 100)
components = st.integers(-1000, 1000).map(lambda k: k / 1000)
vectors = st.tuples(components, components, components)
SHAPES = {
    "particle": st.just(sphere(0.0)),
    "sphere": st.builds(sphere, lengths),
    "box": st.builds(box, lengths, lengths, lengths),
    "capsule": st.builds(capsule, lengths, lengths),
    "cylinder": st.builds(cylinder, lengths, lengths),
    "cone": st.builds(cone, lengths, lengths),
    "ellipsoid": st.builds(ellipsoid, lengths, lengths, lengths),
    "superellipsoid": st.builds(lambda half, e: superellipsoid(half, e), st.tuples(lengths, lengths, lengths),
                                st.tuples(exponents, exponents)),
    "hull": st.builds(lambda *half: hull(CORNERS * half), lengths, lengths, lengths),
    "rounded": st.builds(lambda r, *half: rounded(CORNERS * half, r), lengths, lengths, lengths, lengths),
    "plane": st.just(plane()),
}


class Placed(NamedTuple):
    """A shape in the world."""

    part: Part
    x: np.ndarray
    turn: Rotation

    def reach(self, n):
        """Support function along n (k, 3), about x."""
        return reach(self.part, self.turn.inv().apply(n))

    def miss(self, p, n):
        """No less than the distance of a point p from the shape; n is the outward normal there."""
        u, outward = self.turn.inv().apply([p - self.x, n])
        return miss(self.part, u - swell(self.part) * outward)


def swell(part):
    return part.size[0] if part.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.ROUNDED) else 0.0


def norm_of(u, exponents):
    """(|x|^b + |y|^b)^(a/b) + |z|^a to the power 1/a of rows u; a, b = 2/ε."""
    a, b = 2.0 / np.asarray(exponents)
    u = np.abs(u)
    across = np.maximum(u[:, 0], u[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        across *= np.nan_to_num(((u[:, :2] / across[:, None]) ** b).sum(axis=1) ** (1.0 / b))
        most = np.maximum(across, u[:, 2])
        return most * np.nan_to_num(((across / most) ** a + (u[:, 2] / most) ** a) ** (1.0 / a))


def reach(part, u):
    """Support function of a shape along directions u (k, 3) of its own frame [m]."""
    kind, size = part.kind, np.asarray(part.size)
    flat, up = np.hypot(u[:, 0], u[:, 1]), u[:, 2]
    if kind == ShapeKind.BOX:
        return np.abs(u) @ size
    if part.points is not None:
        return (u @ part.points.T).max(axis=1) + swell(part)
    if kind == ShapeKind.CYLINDER:
        return size[0] * flat + size[1] * np.abs(up)
    if kind == ShapeKind.CONE:
        return np.maximum(0.75 * size[1] * up, size[0] * flat - 0.25 * size[1] * up)
    if kind in (ShapeKind.ELLIPSOID, ShapeKind.SUPERELLIPSOID):
        return norm_of(u * size, 2.0 - np.asarray(part.exponents))
    if kind == ShapeKind.PLANE:
        return np.where(up > 1.0 - 1e-15, 0.0, np.inf)
    if kind == ShapeKind.TORUS:
        return size[0] + size[1] * flat
    return size[0] + size[1] * np.abs(up)  # sphere, capsule


def miss(part, p):
    """No less than the distance of p from the core of a shape, in its own frame: with the gauge g of the core about a
    point c within, c + (p - c)/g is within."""
    kind, size = part.kind, np.asarray(part.size)
    flat, up = np.hypot(p[0], p[1]), p[2]
    if kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE):
        return np.hypot(flat, max(abs(up) - size[1], 0.0))
    if kind == ShapeKind.PLANE:
        return max(up, 0.0)
    if kind == ShapeKind.BOX:
        gauge = (np.abs(p) / size).max()
    elif part.points is not None:
        faces = ConvexHull(part.points).equations
        gauge = (faces[:, :3] @ p / -faces[:, 3]).max()
    elif kind == ShapeKind.CYLINDER:
        gauge = max(flat / size[0], abs(up) / size[1])
    elif kind == ShapeKind.CONE:
        gauge = max(-4.0 * up / size[1], (flat / size[0] + up / size[1]) / 0.75)
    else:
        gauge = float(norm_of(p[None] / size, part.exponents)[0])
    return np.linalg.norm(p) * max(1.0 - 1.0 / gauge, 0.0) if gauge > 0.0 else 0.0


def separation(a, b, n):
    """n·(x_b - x_a) - h_a(n) - h_b(-n) along directions n (k, 3) [m]."""
    return n @ (b.x - a.x) - a.reach(n) - b.reach(-n)


def extent_of(a, b):
    """Sum of the greatest half widths [m]."""
    return sum(float(reach(s.part, np.concatenate([np.eye(3), -np.eye(3)])).max())
               for s in (a, b) if s.part.kind != ShapeKind.PLANE)


def thickness(s):
    """Least width of a shape in its axes [m]; 1 m of a plane."""
    if s.part.kind == ShapeKind.PLANE:
        return 1.0
    return float((reach(s.part, np.eye(3)) + reach(s.part, -np.eye(3))).min())


def most_separating(a, b, n):
    """The greatest separation among directions from all around, axes of both shapes, and ever nearer to the best of
    these and to n."""
    own = np.concatenate([a.turn.as_matrix().T, b.turn.as_matrix().T])
    pairs = np.cross(own[:3, None], own[None, 3:]).reshape(-1, 3)
    pairs = pairs[np.linalg.norm(pairs, axis=1) > 1e-6]
    ways = np.concatenate([WAYS, own, -own, pairs, -pairs, n[None]])
    most = -np.inf
    for spread in 0.25 ** np.arange(1, 14):
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        room = separation(a, b, ways)
        order = np.argsort(-room)[:3]
        most = max(most, float(room[order[0]]))
        ways = np.concatenate([ways[order], n[None]])
        ways = (ways[:, None] + spread * WAYS[None, :150]).reshape(-1, 3)
    return most


@st.composite
def turns(draw):
    """By right angles, nearly by right angles, anyhow."""
    kind = draw(st.sampled_from(["right", "nearly", "anyhow"]))
    turn, rest = CUBE[draw(st.integers(0, 23))], np.array(draw(vectors))
    if kind == "anyhow":
        return Rotation.from_rotvec(3.0 * rest)
    return turn if kind == "right" else turn * Rotation.from_rotvec(10.0 ** -draw(st.integers(3, 9)) * rest)


@st.composite
def pairs(draw, name_a, name_b):
    """Two shapes that are apart, nearly touching or deep within each other along some direction, one above the other
    or aside."""
    parts = draw(SHAPES[name_a]), draw(SHAPES[name_b])
    first = draw(turns())
    a = Placed(parts[0], np.array(draw(vectors)), first)
    b = Placed(parts[1], a.x, first * draw(turns()))
    if "plane" in (name_a, name_b):
        n = (a if name_a == "plane" else b).turn.as_matrix()[:, 2] * (1.0 if name_a == "plane" else -1.0)
    else:
        axes = [*first.as_matrix().T, *b.turn.as_matrix().T]
        n = draw(st.sampled_from([0, 1, 2, 3, 4, 5, 6]))
        n = np.array(draw(vectors)) if n == 6 else draw(st.sampled_from([-1.0, 1.0])) * axes[n]
        n = n / np.linalg.norm(n) if np.linalg.norm(n) > 0.0 else axes[0]
    size = extent_of(a, b)
    near = float(a.reach(n[None])[0] + b.reach(-n[None])[0])
    kind = draw(st.sampled_from(["apart", "shallow", "deep"]))
    if kind == "apart":
        room = 10.0 ** (-draw(st.integers(0, 300)) / 100) * size
    elif kind == "shallow":
        room = draw(st.sampled_from([-1.0, 1.0])) * 10.0 ** (-draw(st.integers(300, 1200)) / 100) * size
    else:
        room = -near * draw(st.integers(1, 100)) / 100
    aside = np.array(draw(vectors)) * draw(st.sampled_from([0.0, 1e-3, 0.1, 1.0])) * min(thickness(a), thickness(b))
    return a, b._replace(x=a.x + (near + room) * n + aside - n * (aside @ n))


def gap_of(a, b):
    """Gap, normal and midpoint as the detector finds them."""
    things = [Thing((s.part,), tuple(s.x), tuple(s.turn.as_quat(scalar_first=True)),
                    moves=s.part.kind not in (ShapeKind.PLANE, ShapeKind.MESH)) for s in (a, b)]
    model, bodies = build(*things)
    return Detector(model).gap(bodies, 0, 1)
