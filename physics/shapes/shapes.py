"""Mass properties of polyhedra and of bodies made of several solids, and rotations as NumPy arrays.

A quaternion is (w, x, y, z), unit, from the inner to the outer frame; a matrix R does the same: outer = R inner.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.model import Array, IntArray

DIAGONAL = 1e-12  # products of inertia below this share of the trace are rounding


class MassProperties(NamedTuple):
    """Mass, centre of mass and inertia of a solid."""

    mass: float     #: [kg]
    center: Array   #: (3,) centre of mass [m]
    inertia: Array  #: (3, 3) about the centre of mass [kg m2]


def polyhedron(vertices: Array, triangles: IntArray, density: float = 1.0) -> MassProperties:
    """The solid inside a closed surface of triangles, counter-clockwise seen from outside.

    Sum over the tetrahedra that a reference point o spans with each triangle (a, b, c), with signed volume
    V = (a - o)·((b - o) × (c - o)) / 6:  ∫ x = V (a + b + c)/4,  ∫ x xᵀ = V (Σ p pᵀ + s sᵀ)/20,  s = Σ p = a + b + c,
    all measured from o. The mean of the vertices serves as o, which avoids cancellation.
    """
    o = vertices.mean(axis=0)
    a, b, c = (vertices[triangles[:, j]] - o for j in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    s = a + b + c
    volume = float(volumes.sum())
    center = (volumes @ s) / (4.0 * volume) if volume else np.zeros(3)
    second = sum((volumes[:, None] * p).T @ p for p in (a, b, c, s)) / 20.0
    about = second - volume * np.outer(center, center)
    inertia = np.trace(about) * np.eye(3) - about
    return MassProperties(density * volume, o + center, density * inertia)


# ---------------------------------------------------------------------------------------------------- compounds


def moved(part: MassProperties, position: Array, rotation: Array) -> MassProperties:
    """The same solid put at a position (3,) and turned by a rotation matrix (3, 3)."""
    return MassProperties(part.mass, position + rotation @ part.center, rotation @ part.inertia @ rotation.T)


def scaled(part: MassProperties, factor: float) -> MassProperties:
    """The same solid with its density multiplied."""
    return MassProperties(factor * part.mass, part.center, factor * part.inertia)


def combined(parts: Iterable[MassProperties]) -> MassProperties:
    """Parts joined to one solid, by the theorem of parallel axes: I = Σ (I_k + m_k (|d|² 1 - d dᵀ)), d = c_k - c.

    Overlaps count twice. Without any mass, the result is zero.
    """
    parts = list(parts)
    mass = sum(p.mass for p in parts)
    if mass <= 0.0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    center = sum((p.mass * p.center for p in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for p in parts:
        d = p.center - center
        inertia += p.inertia + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, center, inertia)


def principal_axes(inertia: Array) -> tuple[Array, Array]:
    """Principal moments (3,) and R (3, 3) whose columns are the principal axes: inertia = R diag(moments) Rᵀ.

    R is a rotation. Axes that are principal already are kept; otherwise each is numbered and pointed like the given
    axis it is nearest to, so that equal input gives equal axes.
    """
    inertia = 0.5 * (inertia + inertia.T)
    off = inertia - np.diag(np.diag(inertia))
    if np.abs(off).max() <= DIAGONAL * np.trace(inertia):
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    free = np.abs(axes)
    order = [0, 0, 0]
    for _ in range(3):
        row, column = np.unravel_index(np.argmax(free), (3, 3))
        order[int(row)] = int(column)
        free[row, :] = free[:, column] = -1.0
    R = axes[:, order]
    R = R * np.where(np.diag(R) < 0.0, -1.0, 1.0)
    if np.linalg.det(R) < 0.0:
        R[:, int(np.argmin(np.abs(np.diag(R))))] *= -1.0
    return moments[order], R


def unphysical(inertia: Array) -> str | None:
    """Why a body cannot have this inertia (3, 3), in words; None where it can."""
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] <= 0.0:
        return f"its principal moments must be greater than 0, and the least is {moments[0]:.6g}"
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
        return (
            "no principal moment may exceed the sum of the other two (triangle inequality), "
            f"and {moments[2]:.6g} > {moments[0]:.6g} + {moments[1]:.6g}"
        )
    return None


# ---------------------------------------------------------------------------------------------------- rotations


def quat_to_matrix(q: ArrayLike) -> Array:
    """R (3, 3) of a unit quaternion."""
    w, x, y, z = np.asarray(q, np.float64)
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ])


def matrix_to_quat(R: Array) -> Array:
    """Unit quaternion (4,) of a rotation matrix, w >= 0; its greatest component is found first [Shepperd 1978]."""
    squares = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(squares))
    q = np.zeros(4)
    if k == 0:
        q[:] = 1.0 + squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1.0 + 2.0 * R[i, i] - squares[0]
        q[1 + j] = R[i, j] + R[j, i]
        q[1 + m] = R[i, m] + R[m, i]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0.0 else q


def quat_product(p: ArrayLike, q: ArrayLike) -> Array:
    """p q (4,): turned by q first, then by p."""
    a, b = np.asarray(p, np.float64), np.asarray(q, np.float64)
    return np.concatenate([
        [a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    ])


def euler_to_quat(degrees: ArrayLike) -> Array:
    """Turned about the fixed axes x, then y, then z, by angles (3,) in degrees."""
    half = 0.5 * np.radians(np.asarray(degrees, np.float64))
    x, y, z = (np.insert(math.sin(a) * np.eye(3)[i], 0, math.cos(a)) for i, a in enumerate(half))
    return quat_product(z, quat_product(y, x))
