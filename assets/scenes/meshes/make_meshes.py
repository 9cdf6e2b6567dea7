"""Makes the meshes of the gallery: python make_meshes.py writes them beside itself. Lengths in metres, z up."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from trimesh.transformations import rotation_matrix


def revolve(profile: list[tuple[float, float]], count: int = 40) -> trimesh.Trimesh:
    """A closed solid from an outline of (radius, z), bottom to top, that begins and ends on the axis."""
    inner = profile[1:-1]
    turn = 2.0 * math.pi * np.arange(count) / count
    rings = [np.column_stack([r * np.cos(turn), r * np.sin(turn), np.full(count, z)]) for r, z in inner]
    vertices = np.vstack([*rings, [[0.0, 0.0, profile[0][1]], [0.0, 0.0, profile[-1][1]]]])
    bottom, top = len(vertices) - 2, len(vertices) - 1
    last = (len(inner) - 1) * count
    faces = []
    for i in range(count):
        j = (i + 1) % count
        faces += [(bottom, j, i), (top, last + i, last + j)]
        for ring in range(len(inner) - 1):
            a, b = ring * count, (ring + 1) * count
            faces += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
    return trimesh.Trimesh(vertices, faces, process=False)


def pawn() -> trimesh.Trimesh:
    """A chess pawn, 0.12 high."""
    head = [(0.026 * math.sin(a), 0.094 - 0.026 * math.cos(a)) for a in np.linspace(0.6, math.pi - 0.15, 12)]
    foot = [(0.0, 0.0), (0.040, 0.0), (0.041, 0.008), (0.036, 0.018), (0.026, 0.024), (0.017, 0.040), (0.013, 0.060)]
    collar = [(0.022, 0.064), (0.022, 0.068), (0.014, 0.072)]
    return revolve([*foot, *collar, *head, (0.0, 0.120)])


def bowl() -> trimesh.Trimesh:
    """A bowl, 0.84 wide and 0.02 thick."""
    angles = np.linspace(0.12, 1.15, 14)
    outside = [(0.46 * math.sin(a), 0.46 - 0.46 * math.cos(a)) for a in angles]
    inside = [(0.44 * math.sin(a), 0.46 - 0.44 * math.cos(a)) for a in angles[::-1]]
    return revolve([(0.0, 0.0), *outside, *inside, (0.0, 0.02)], 48)


def gear(teeth: int = 14) -> trimesh.Trimesh:
    """A toothed wheel with a hole, 0.07 in radius and 0.025 thick."""
    corners = np.arange(4 * teeth)
    angle = 2.0 * math.pi * (corners + np.tile([0.0, -0.15, 0.0, 0.15], teeth)) / (4 * teeth)
    radius = np.tile([0.056, 0.070, 0.070, 0.056], teeth)
    n, half = len(corners), 0.0125
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    outlines = [np.column_stack([s[:, None] * ring, np.full(n, z)])
                for s in (radius, np.full(n, 0.022)) for z in (-half, half)]
    low, high, low_in, high_in = (k * n for k in range(4))
    faces = []
    for i in range(n):
        j = (i + 1) % n
        for a, b in ((low, high), (high, high_in), (high_in, low_in), (low_in, low)):
            faces += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
    return trimesh.Trimesh(np.vstack(outlines), faces, process=False)


def torus_knot(p: int = 2, q: int = 3, count: int = 120, around: int = 12) -> trimesh.Trimesh:
    """A closed tube along a (p, q) torus knot, about 0.16 wide."""
    t = 2.0 * math.pi * np.arange(count) / count

    def curve(s: np.ndarray) -> np.ndarray:
        r = 0.05 + 0.02 * np.cos(q * s)
        return np.column_stack([r * np.cos(p * s), r * np.sin(p * s), 0.024 * np.sin(q * s)])

    along = curve(t + 1e-5) - curve(t - 1e-5)
    along /= np.linalg.norm(along, axis=1)[:, None]
    outward = curve(t) * [1.0, 1.0, 0.0]
    side = np.cross(along, outward)
    side /= np.linalg.norm(side, axis=1)[:, None]
    up = np.cross(side, along)
    turn = 2.0 * math.pi * np.arange(around) / around
    circle = np.cos(turn)[None, :, None] * up[:, None] + np.sin(turn)[None, :, None] * side[:, None]
    vertices = (curve(t)[:, None] + 0.012 * circle).reshape(-1, 3)
    faces = []
    for i in range(count):
        for k in range(around):
            a, b = i * around + k, i * around + (k + 1) % around
            c, d = (i + 1) % count * around + k, (i + 1) % count * around + (k + 1) % around
            faces += [(a, d, b), (a, c, d)]
    return trimesh.Trimesh(vertices, faces, process=False)


def rock() -> trimesh.Trimesh:
    """An icosphere with dents, about 0.12 wide."""
    ball = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
    directions = np.asarray(ball.vertices)
    waves = np.random.default_rng(7).normal(size=(6, 3))
    bumps = np.sin(2.0 * directions @ waves.T + np.arange(6)).sum(axis=1)
    return trimesh.Trimesh(directions * (0.06 + 0.006 * bumps)[:, None] * [1.2, 1.0, 0.8], ball.faces, process=False)


def cup() -> trimesh.Trimesh:
    """A cup, 0.2 wide and 0.2 high, its bottom 0.016 thick."""
    return revolve([(0.0, 0.0), (0.078, 0.0), (0.1, 0.2), (0.088, 0.2), (0.0677, 0.016), (0.0, 0.016)], 20)


def hare() -> trimesh.Trimesh:
    """A sitting hare, 0.2 high: hollow between its ears, under its chin and over its tail."""
    def egg(middle: tuple[float, float, float], half: tuple[float, float, float], lean: float, fine: int) -> Any:
        part = trimesh.creation.icosphere(subdivisions=fine)
        part.apply_scale(half)
        part.apply_transform(rotation_matrix(math.radians(lean), [0.0, 1.0, 0.0]))
        return part.apply_translation(middle)

    parts = [egg((0.0, 0.0, 0.055), (0.068, 0.048, 0.052), -25.0, 2),   # body
             egg((0.055, 0.0, 0.115), (0.036, 0.026, 0.028), 20.0, 2),  # head
             egg((-0.066, 0.0, 0.045), (0.018, 0.018, 0.018), 0.0, 1)]  # tail
    for y in (-1.0, 1.0):
        parts += [egg((0.032, 0.018 * y, 0.160), (0.008, 0.012, 0.042), -22.0, 1),   # ear
                  egg((-0.018, 0.040 * y, 0.030), (0.042, 0.018, 0.030), 0.0, 1),    # hind leg
                  egg((0.052, 0.024 * y, 0.024), (0.014, 0.013, 0.036), 8.0, 1)]     # fore leg
    return trimesh.boolean.union(parts, engine="manifold")


if __name__ == "__main__":
    folder = Path(__file__).parent
    for name, mesh in {"pawn.obj": pawn(), "bowl.ply": bowl(), "gear.stl": gear(), "torus_knot.ply": torus_knot(),
                       "rock.off": rock(), "cup.obj": cup(), "hare.ply": hare()}.items():
        if mesh.volume < 0.0:
            mesh.invert()
        assert mesh.is_watertight and mesh.is_winding_consistent, name
        mesh.export(folder / name)
