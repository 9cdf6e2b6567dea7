"""Shells: surfaces of a small thickness, open ones too. What moves gets its mass from area and thickness, and touches
others with both of its sides.
"""

import numpy as np

from ..core.model import Array, IntArray
from ..shapes.shapes import MassProperties
from .hull import FlatError, convex_hull, hull_properties
from .mesh import MeshSurface, Solid, check_extent, is_closed, rim_edges, wound_alike, wound_outwards
from .refusals import SceneError

THICKEST = 0.25  # thickness of a shell relative to its size, at most
LONGEST_ARM = 1.0  # by how many thicknesses a corner is moved at most, where its sides meet at a sharp angle
FLAT = 0.01      # share of the greatest eigenvalue of Σ n nᵀ below which the triangles around a corner count as flat


def shell(surface: MeshSurface, thickness: float, name: str) -> Solid:
    """What a surface [m] of this thickness [m] weighs, and the closed surface around it. `name` stands at the head of
    notes and errors. Raises SceneError where it has no area or is thicker than THICKEST allows."""
    check_extent(surface, name)
    size = float(np.ptp(surface.vertices, axis=0).max())
    if not 0.0 < thickness <= THICKEST * size:
        raise SceneError(f"{name} is {size:.3g} m long and its thickness {thickness:.3g} m; it must be a number > 0, "
                         f"and no more than {THICKEST * size:.3g} m.")
    properties, area = shell_properties(*surface, thickness)
    if area <= 0.0:
        raise SceneError(f"{name} holds no triangles with an area; it must hold a surface.")
    around = thickened(surface, thickness)
    try:
        hull = convex_hull(around.vertices)
    except FlatError as error:
        raise SceneError(f"{name} is flat and {thickness:.3g} m thin, so that {error}; it must be thicker.") from error
    whole = hull_properties(hull).mass / hull.shrunk
    note = f"{name} is a shell: its mass is that of {area:.3g} m² times {1000.0 * thickness:.3g} mm."
    return Solid(around, hull, properties, properties.mass / whole, is_closed(surface), (note,))


def shell_properties(vertices: Array, triangles: IntArray, thickness: float) -> tuple[MassProperties, float]:
    """Mass properties at density 1 of triangles of a thickness t [m], and their area [m²].

    Of a triangle (a, b, c) of area A and unit normal n:  ∫ x = A t s/3,
    ∫ x xᵀ = A t (Σ p pᵀ + s sᵀ)/12 + A t³/12 n nᵀ,  s = Σ p = a + b + c.
    Where triangles meet at an angle their edges overlap or gape; that is left out: t² of an edge.
    """
    o = vertices.mean(axis=0)
    a, b, c = (vertices[triangles[:, j]] - o for j in range(3))
    cross = np.cross(b - a, c - a)
    double = np.linalg.norm(cross, axis=1)
    area, s = 0.5 * double, a + b + c
    mass = thickness * float(area.sum())
    center = thickness * (area @ s) / (3.0 * mass) if mass else np.zeros(3)
    second = thickness * sum((area[:, None] * p).T @ p for p in (a, b, c, s)) / 12.0
    normal = cross / np.maximum(double, 1e-300)[:, None]
    second = second + thickness**3 / 12.0 * (area[:, None] * normal).T @ normal
    about = second - mass * np.outer(center, center)
    return MassProperties(mass, o + center, np.trace(about) * np.eye(3) - about), float(area.sum())


def thickened(surface: MeshSurface, thickness: float) -> MeshSurface:
    """The closed surface half a thickness t [m] to either side of a surface, which may be open: two copies of it, and
    walls along its rim.

    A corner moves by d, the least vector of all that fit n·d = t/2 best for the normals n of the triangles around it:
    Σ n nᵀ d = t/2 Σ n. Sides that meet at an edge or a corner of three then stay t thick.
    """
    surface = wound_outwards(surface)[0] if is_closed(surface) else wound_alike(surface)
    vertices, triangles = surface
    a, b, c = (vertices[triangles[:, j]] for j in range(3))
    cross = np.cross(b - a, c - a)
    normal = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)
    total, square = np.zeros_like(vertices), np.zeros((len(vertices), 3, 3))
    for j in range(3):
        np.add.at(total, triangles[:, j], normal)
        np.add.at(square, triangles[:, j], normal[:, :, None] * normal[:, None, :])
    arm = 0.5 * thickness * np.einsum("vij,vj->vi", np.linalg.pinv(square, FLAT, hermitian=True), total)
    length = np.linalg.norm(arm, axis=1, keepdims=True)
    arm *= np.minimum(LONGEST_ARM * thickness / np.maximum(length, 1e-300), 1.0)
    n, (tail, head) = len(vertices), rim_edges(surface)
    walls = np.concatenate([np.column_stack([head, tail, tail + n]), np.column_stack([head, tail + n, head + n])])
    return MeshSurface(np.concatenate([vertices + arm, vertices - arm]),
                       np.concatenate([triangles, triangles[:, ::-1] + n, walls]).astype(np.int32))
