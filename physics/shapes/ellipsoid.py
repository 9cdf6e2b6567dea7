"""Ellipsoids: support, nearest point, curvature, and where two of them are nearest. Semi-axes s (3,) [m]; vectors are
in the frame of the axes, except in the functions of Q (`gram`), where all are in one common frame."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.jit import helper
from ..core.model import Array, Model, ShapeKind
from ..core.vec import axpy, dot, mat_vec, mul, norm, scale, sub, tangents, unit
from .elements import ELLIPSOID, Element
from .form import Form, Measured, about_origin, by_size, ray_to_ball, size_box
from .seats import seats_of
from .shapes import MassProperties

NEWTON_ROUNDS = 60  # of Newton's method; it takes five or six
DEEP = 0.05       # overlap, relative to the size, beyond which the search starts from directions all around
SHARPEST = 1e-15  # change of a unit normal below which it is rounding


@helper
def ellipsoid_support(s, d):
    """The point farthest along d: x = S² d / |S d|."""
    reach = norm(mul(s, d))
    return scale(1.0 / reach, mul(s, mul(s, d))) if reach > 0.0 else (0.0, 0.0, s[2])


@helper
def ellipsoid_foot(y, s):
    """Nearest point x of the surface to y: x_i = s_i² y_i / (t + s_i²), t the root of Σ (s_i y_i / (t + s_i²))² = 1 by
    Newton's method from the convex side [Eberly 2013, §3]. For some points deep inside, near the plane across the
    shortest axis, this has no root: x then gets what is missing to the surface along this axis."""
    t = max((abs(y[0]) - s[0]) * s[0], (abs(y[1]) - s[1]) * s[1], (abs(y[2]) - s[2]) * s[2])
    least = 1e-14 * s[0] * s[0]
    for _ in range(NEWTON_ROUNDS):
        total, slope = -1.0, 0.0
        for i in range(3):
            part = s[i] * y[i] / max(t + s[i] * s[i], least)
            total += part * part
            slope -= 2.0 * part * part / max(t + s[i] * s[i], least)
        change = -total / slope if slope != 0.0 and total > 0.0 else 0.0
        t += change
        if abs(change) <= 1e-16 * (abs(t) + s[0] * s[0]):
            break
    x = (s[0] * s[0] * y[0] / max(t + s[0] * s[0], least), s[1] * s[1] * y[1] / max(t + s[1] * s[1], least),
         s[2] * s[2] * y[2] / max(t + s[2] * s[2], least))
    rest = 1.0 - (x[0] / s[0]) ** 2 - (x[1] / s[1]) ** 2 - (x[2] / s[2]) ** 2
    if rest < 1e-9:
        return x
    i = 0 if s[0] <= s[1] and s[0] <= s[2] else (1 if s[1] <= s[2] else 2)
    end = math.copysign(s[i] * math.sqrt(rest + (x[i] / s[i]) ** 2), y[i])
    return (end if i == 0 else x[0], end if i == 1 else x[1], end if i == 2 else x[2])


@helper
def ellipsoid_normal(x, s):
    """Outward unit normal at a point x of the surface."""
    return unit((x[0] / (s[0] * s[0]), x[1] / (s[1] * s[1]), x[2] / (s[2] * s[2])))


@helper
def ellipsoid_curve(x, s):
    """(k, l, u) at a point x of the surface: curvature along the unit tangent u, and across. The shape operator is the
    tangential part of diag(1/s²)/|∇| of the level set Σ (x_i/s_i)² = 1; u is found in the tangent plane."""
    steep = norm((x[0] / (s[0] * s[0]), x[1] / (s[1] * s[1]), x[2] / (s[2] * s[2])))
    t1, t2 = tangents(ellipsoid_normal(x, s))
    k11, k12, k22 = 0.0, 0.0, 0.0
    for j in range(3):
        k11 += t1[j] * t1[j] / (s[j] * s[j] * steep)
        k12 += t1[j] * t2[j] / (s[j] * s[j] * steep)
        k22 += t2[j] * t2[j] / (s[j] * s[j] * steep)
    angle = 0.5 * math.atan2(2.0 * k12, k11 - k22)
    mean, half = 0.5 * (k11 + k22), math.hypot(0.5 * (k11 - k22), k12)
    return mean + half, mean - half, axpy(math.sin(angle), t2, scale(math.cos(angle), t1))


@helper
def gram(x, y, z, s):
    """Rows of Q = Σ s_i² e_i e_iᵀ from the unit axes e_i: the support function is h(n) = √(n·Q n), its point Q n/h."""
    a, b, c = s[0] * s[0], s[1] * s[1], s[2] * s[2]
    return (axpy(a * x[0], x, axpy(b * y[0], y, scale(c * z[0], z))),
            axpy(a * x[1], x, axpy(b * y[1], y, scale(c * z[1], z))),
            axpy(a * x[2], x, axpy(b * y[2], y, scale(c * z[2], z))))


@helper
def bend(Q, n, u, v):
    """Second derivative of the support function h (`gram`): uᵀ ∇∇h v = (u·Q v - (u·Q n)(v·Q n)/h²)/h"""
    w = mat_vec(Q, n)
    square = dot(n, w)
    return (dot(u, mat_vec(Q, v)) - dot(u, w) * dot(v, w) / square) / math.sqrt(square)


@helper
def room(P, Q, d, n):
    """F(n) = n·d - h_P(n) - h_Q(n): the separation along n of two ellipsoids whose centres are d apart."""
    return dot(n, d) - math.sqrt(dot(n, mat_vec(P, n))) - math.sqrt(dot(n, mat_vec(Q, n)))


@helper
def climb(P, Q, d, n):
    """The maximum of F over unit vectors that is reached from n, and F there, by Newton's method on the sphere; the
    Hessian along tangents t is -t·(∇∇h_P + ∇∇h_Q) t - F. Steps that do not climb are halved."""
    size = math.sqrt(P[0][0] + P[1][1] + P[2][2])
    best = room(P, Q, d, n)
    for _ in range(NEWTON_ROUNDS):
        t1, t2 = tangents(n)
        p, q = mat_vec(P, n), mat_vec(Q, n)
        slope = sub(d, axpy(1.0 / math.sqrt(dot(n, p)), p, scale(1.0 / math.sqrt(dot(n, q)), q)))
        g1, g2 = dot(t1, slope), dot(t2, slope)
        k11 = bend(P, n, t1, t1) + bend(Q, n, t1, t1) + best
        k12 = bend(P, n, t1, t2) + bend(Q, n, t1, t2)
        k22 = bend(P, n, t2, t2) + bend(Q, n, t2, t2) + best
        det = k11 * k22 - k12 * k12
        x, y = g1 / size, g2 / size
        if det > 0.0 and k11 > 0.0:
            x, y = (k22 * g1 - k12 * g2) / det, (k11 * g2 - k12 * g1) / det
        shorter = 1.0
        trial, value = n, best
        for _ in range(40):
            trial = unit(axpy(shorter * x, t1, axpy(shorter * y, t2, n)))
            value = room(P, Q, d, trial)
            if value >= best - 1e-15 * size:
                break
            shorter *= 0.5
        n, best = trial, value
        if math.hypot(x, y) <= SHARPEST:
            break
    return n, best


@helper
def ellipsoids_normal(P, Q, d):
    """Unit normal from one ellipsoid to another where they are nearest, or overlap least: the maximum of F. Where they
    overlap deeply it has several; the best of those reached from all around is taken."""
    n, best = climb(P, Q, d, unit(d) if dot(d, d) > 0.0 else (0.0, 0.0, 1.0))
    if best < -DEEP * math.sqrt(P[0][0] + P[1][1] + P[2][2]):
        for k in range(27):
            start = (float(k // 9 - 1), float(k // 3 % 3 - 1), float(k % 3 - 1))
            if k != 13:
                trial, value = climb(P, Q, d, unit(start))
                if value > best:
                    n, best = trial, value
    return n


# ------------------------------------------------------------------------------------------------ the kind of shape


@helper
def ellipsoid_width(half, r):
    """Half the width along a unit vector r of the ellipsoid with the semi-axes `half`."""
    return norm((r[0] * half[0], r[1] * half[1], r[2] * half[2]))


def mass_properties(size: ArrayLike, density: float = 1.0) -> MassProperties:
    """An ellipsoid of full lengths size (3,): V = π abc/6, I_x = m (b² + c²) / 20, and so on."""
    square = np.asarray(size, np.float64) ** 2
    mass = density * math.pi / 6.0 * math.sqrt(float(np.prod(square)))
    return about_origin(mass, mass / 20.0 * (square.sum() - square))


def _measure(spec: Any) -> Measured:
    half = 0.5 * np.array(spec.size)
    return Measured(tuple(half), float(half.max()), mass_properties(spec.size))


def _elements(model: Model, s: int) -> list[Element]:
    """Itself, and its seats where there are walls for them. Its greatest radius of curvature is at the end of the
    shortest axis, along the longest one."""
    size = model.shapes.size[s]
    widest = float(size.max() ** 2 / size.min())
    return [Element(ELLIPSOID, np.zeros(3), size, widest, extent=float(size.max())), *seats_of(model, s, widest)]


def _ray(o: Array, d: Array, size: Array) -> Array:
    """A ray to a unit ball, in coordinates divided by the semi-axes."""
    stretch = np.linalg.norm(d / size, axis=1)
    return ray_to_ball(o / size, d / size / stretch[:, None], np.ones(len(size))) / stretch


FORM = Form(ShapeKind.ELLIPSOID, size_box(lambda size: size), _elements, by_size(_ray), _measure)
