"""Superellipsoids: semi-axes s (3,) [m] and exponents ε (2,), around and along z [Barr 1981]: the points with

    (|x/s₁|^(2/ε₂) + |y/s₂|^(2/ε₂))^(ε₂/ε₁) + |z/s₃|^(2/ε₁) <= 1.

ε = 1, 1 is an ellipsoid; less makes it boxy, with flat places on the axes, more pointed, with edges there. It is the
unit ball of a norm, and its support function the dual norm: as above with the exponents q = 2/(2 - ε) in place of 2/ε,

    h(n) = (g^q₁ + |s₃ n_z|^q₁)^(1/q₁),  g = (|s₁ n_x|^q₂ + |s₂ n_y|^q₂)^(1/q₂).

Its gradient is the point of the surface with the outward normal n, and its second derivatives are radii of curvature.
Balls and ellipsoids have q = 2, so that one search for where two are nearest serves all of these.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.false_position import ROUNDS, SAME, crossing, narrowed
from ..core.jit import helper, kernel
from ..core.model import Array, Model, ShapeKind
from ..core.vec import add, axpy, dot, scale, sub, tangents, unit
from .elements import SMOOTH, Element
from .form import Form, Measured, Surface, about_origin, first, has_hollows, ray_to_ball, sheets, size_box
from .seats import seats_of
from .shapes import MassProperties

LEAST, MOST = 0.2, 1.8  #: exponents: the dual ones are between 10/9 and 10, for which the search below is good
NEWTON_ROUNDS = 100   # it takes some six, and two or three times as many where a flat place lies on a flat one
HALVINGS = 40     # of a step that does not climb
TOO_FAR = 0.5     # share of the slope at its start with which F may fall at the end of a step
DEEP = 0.05       # overlap, relative to the size, beyond which the search starts from directions all around
SHARPEST = 1e-15  # change of a unit normal below which it is rounding
FLATTEST = 1e-8   # share of a norm below which radii of curvature are taken to be those there; on the axes of boxy ones
                  # they are infinite
GRID, GRAINS = 128, 0.01
AROUND, ALONG = 64, 48  # of the grid that is drawn
BISECTIONS = 80   # at most, of a ray's way into the surface


@helper
def dual(exponents):
    """(q₁, q₂) of (ε₁, ε₂)."""
    return 2.0 / (2.0 - exponents[0]), 2.0 / (2.0 - exponents[1])


@helper
def pair_norm(u, v, q):
    """(u^q + v^q)^(1/q) of u, v >= 0"""
    most = max(u, v)
    return most * ((u / most) ** q + (v / most) ** q) ** (1.0 / q) if most > 0.0 else 0.0


@helper
def smooth_reach(s, q, n):
    """h(n)"""
    return pair_norm(pair_norm(abs(s[0] * n[0]), abs(s[1] * n[1]), q[1]), abs(s[2] * n[2]), q[0])


@helper
def smooth_point(s, q, n):
    """∇h, the point farthest along n."""
    a, b, c = abs(s[0] * n[0]), abs(s[1] * n[1]), abs(s[2] * n[2])
    g = pair_norm(a, b, q[1])
    h = pair_norm(g, c, q[0])
    if h == 0.0:
        return 0.0, 0.0, s[2]
    around = (g / h) ** (q[0] - 1.0)
    x = math.copysign(s[0] * around * (a / g) ** (q[1] - 1.0), n[0]) if g > 0.0 else 0.0
    y = math.copysign(s[1] * around * (b / g) ** (q[1] - 1.0), n[1]) if g > 0.0 else 0.0
    return x, y, math.copysign(s[2] * (c / h) ** (q[0] - 1.0), n[2])


@helper
def norm_bends(u, v, q):
    """(N_u, N_v, N_uu, N_uv, N_vv) of N = (u^q + v^q)^(1/q)"""
    size = pair_norm(u, v, q)
    if size == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    a, b = u / size, v / size
    low, high = max(a, FLATTEST), max(b, FLATTEST)
    along, across = a ** (q - 1.0), b ** (q - 1.0)
    return (along, across, (q - 1.0) * low ** (q - 2.0) * b**q / size, (1.0 - q) * along * across / size,
            (q - 1.0) * high ** (q - 2.0) * a**q / size)


@helper
def smooth_bend(s, q, n):
    """Rows of ∇∇h. At the ends of z, where g = 0 has no direction, the radii are those of the way that leads through
    them in every direction: infinite but for FLATTEST where the end is flat, 0 where it is a corner."""
    a, b, c = abs(s[0] * n[0]), abs(s[1] * n[1]), abs(s[2] * n[2])
    g_a, g_b, g_aa, g_ab, g_bb = norm_bends(a, b, q[1])
    h_g, _, h_gg, h_gc, h_cc = norm_bends(pair_norm(a, b, q[1]), c, q[0])
    ends = a + b == 0.0
    if ends:
        g_a = g_b = 1.0
    u = math.copysign(s[0], n[0])
    v, w = math.copysign(s[1], n[1]), math.copysign(s[2], n[2])
    xx, yy, zz = u * u * (h_gg * g_a * g_a + h_g * g_aa), v * v * (h_gg * g_b * g_b + h_g * g_bb), w * w * h_cc
    xy = 0.0 if ends else u * v * (h_gg * g_a * g_b + h_g * g_ab)
    xz, yz = u * w * h_gc * g_a, v * w * h_gc * g_b
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


@helper
def bilinear(m, u, v):
    """uᵀ m v"""
    return u[0] * dot(m[0], v) + u[1] * dot(m[1], v) + u[2] * dot(m[2], v)


@helper
def smooth_curve(s, q, n):
    """(α, β along u; α, β across; u) where the outward unit normal is n: moving by β ds turns the normal by α ds. u is
    the direction of the greater radius of curvature."""
    t1, t2 = tangents(n)
    m = smooth_bend(s, q, n)
    k11, k12, k22 = bilinear(m, t1, t1), bilinear(m, t1, t2), bilinear(m, t2, t2)
    angle = 0.5 * math.atan2(2.0 * k12, k11 - k22)
    mean, half = 0.5 * (k11 + k22), math.hypot(0.5 * (k11 - k22), k12)
    wide, tight = mean + half, max((k11 * k22 - k12 * k12) / (mean + half), 0.0) if mean + half > 0.0 else 0.0
    u = axpy(math.sin(angle), t2, scale(math.cos(angle), t1))
    return (1.0 / max(wide, 1.0), min(wide, 1.0), 1.0 / max(tight, 1.0), min(tight, 1.0)), u


# --------------------------------------------------------------------------------- where two smooth shapes are nearest
@helper
def into(solid, n):
    """A vector in the frame of a smooth solid (its axes x, y, z in a common frame, s, q)."""
    return dot(solid[0], n), dot(solid[1], n), dot(solid[2], n)


@helper
def out_of(solid, u):
    """Back into the common frame."""
    return axpy(u[0], solid[0], axpy(u[1], solid[1], scale(u[2], solid[2])))


@helper
def smooth_room(solid_a, solid_b, d, n):
    """F(n) = n·d - h_a(n) - h_b(n): the separation along n of two smooth solids whose centres are d apart."""
    return (dot(n, d) - smooth_reach(solid_a[3], solid_a[4], into(solid_a, n))
            - smooth_reach(solid_b[3], solid_b[4], into(solid_b, n)))


@helper
def smooth_step(solid_a, solid_b, d, n, here, size):
    """Newton's step (along t1, along t2, t1, t2) on the sphere towards the maximum of F, and how F falls as it begins;
    the Hessian along tangents is -t·(∇∇h_a + ∇∇h_b) t - F, which is shifted where it is not negative."""
    t1, t2 = tangents(n)
    na, nb = into(solid_a, n), into(solid_b, n)
    slope = smooth_slope(solid_a, solid_b, d, n)
    ma, mb = smooth_bend(solid_a[3], solid_a[4], na), smooth_bend(solid_b[3], solid_b[4], nb)
    a1, a2, b1, b2 = into(solid_a, t1), into(solid_a, t2), into(solid_b, t1), into(solid_b, t2)
    k11 = bilinear(ma, a1, a1) + bilinear(mb, b1, b1) + here
    k12 = bilinear(ma, a1, a2) + bilinear(mb, b1, b2)
    k22 = bilinear(ma, a2, a2) + bilinear(mb, b2, b2) + here
    least = 0.5 * (k11 + k22) - math.hypot(0.5 * (k11 - k22), k12)
    if least <= 0.0:
        shift = 0.1 * size - least
        k11, k22 = k11 + shift, k22 + shift
    det = k11 * k22 - k12 * k12
    g1, g2 = dot(t1, slope), dot(t2, slope)
    x, y = (k22 * g1 - k12 * g2) / det, (k11 * g2 - k12 * g1) / det
    return x, y, t1, t2, -x * g1 - y * g2


@helper
def smooth_slope(solid_a, solid_b, d, m):
    """∇F at a vector m of any length"""
    p, q = into(solid_a, m), into(solid_b, m)
    return sub(d, add(out_of(solid_a, smooth_point(solid_a[3], solid_a[4], p)),
                      out_of(solid_b, smooth_point(solid_b[3], solid_b[4], q))))


@helper
def smooth_fall(solid_a, solid_b, d, n, w, x):
    """How F falls along the unit vectors of n + x w as x grows, but for a positive factor: F is of degree 1."""
    m = axpy(x, w, n)
    slope = smooth_slope(solid_a, solid_b, d, m)
    return dot(slope, m) * dot(m, w) / dot(m, m) - dot(slope, w)


@helper
def smooth_reach_of_step(solid_a, solid_b, d, n, w, at_lo, whole):
    """How far to go along w from n, where F begins to fall as at_lo says: `whole`, or where F falls too much there, to
    its maximum on the way. Where a flat place is nearest, the slope of F leaps like a small power of the angle, and
    Newton's steps lead from one side of it to the other."""
    at_hi = smooth_fall(solid_a, solid_b, d, n, w, whole)
    if at_lo >= 0.0 or at_hi <= -TOO_FAR * at_lo:
        return whole
    x, bracket = whole, (0.0, whole, at_lo, at_hi, 0)
    for _ in range(ROUNDS):
        before, x = x, crossing(bracket)
        now = smooth_fall(solid_a, solid_b, d, n, w, x)
        if now == 0.0 or abs(x - before) <= SAME:
            break
        bracket = narrowed(bracket, x, now)
    return x


@helper
def smooth_climb(solid_a, solid_b, d, n):
    """The maximum of F over unit vectors that is reached from n, and F there, by Newton's method. Steps that lead too
    far are cut, and those that do not climb are halved."""
    size = (solid_a[3][0] + solid_a[3][1] + solid_a[3][2] + solid_b[3][0] + solid_b[3][1] + solid_b[3][2])
    best = smooth_room(solid_a, solid_b, d, n)
    for _ in range(NEWTON_ROUNDS):
        x, y, t1, t2, falls = smooth_step(solid_a, solid_b, d, n, best, size)
        long, w = math.hypot(x, y), axpy(x, t1, scale(y, t2))
        shorter = smooth_reach_of_step(solid_a, solid_b, d, n, w, falls, 1.0 / max(long, 1.0))
        trial, value = n, best
        for _ in range(HALVINGS):
            trial = unit(axpy(shorter * x, t1, axpy(shorter * y, t2, n)))
            value = smooth_room(solid_a, solid_b, d, trial)
            if value >= best - 1e-16 * size:
                break
            shorter *= 0.5
        n, best = trial, value
        if shorter * long <= SHARPEST:
            break
    return n, best


@helper
def smooth_normal(solid_a, solid_b, d):
    """(unit normal from one smooth solid to another where they are nearest, or overlap least, and F there). Where they
    overlap deeply F has several maxima; the best of those reached from all around is taken."""
    n, best = smooth_climb(solid_a, solid_b, d, unit(d) if dot(d, d) > 0.0 else (0.0, 0.0, 1.0))
    size = (solid_a[3][0] + solid_a[3][1] + solid_a[3][2] + solid_b[3][0] + solid_b[3][1] + solid_b[3][2])
    if best < -DEEP * size:
        for k in range(27):
            start = (float(k // 9 - 1), float(k // 3 % 3 - 1), float(k % 3 - 1))
            if k != 13:
                trial, value = smooth_climb(solid_a, solid_b, d, unit(out_of(solid_a, start)))
                if value > best:
                    n, best = trial, value
    return n, best


# ------------------------------------------------------------------------------------------------ the kind of shape


@helper
def superellipsoid_support(s, exponents, d):
    """The point farthest along d."""
    return smooth_point(s, dual(exponents), d)


@kernel
def curve_at(s, exponents, normal, curve_out):
    """α, β along u and across (0-3), and u (4-6), of a superellipsoid where its outward unit normal is `normal`."""
    q = dual((exponents[0], exponents[1]))
    curve, u = smooth_curve((s[0], s[1], s[2]), q, (normal[0], normal[1], normal[2]))
    for i in range(4):
        curve_out[i] = curve[i]
    for i in range(3):
        curve_out[4 + i] = u[i]


@kernel
def widest_radius(s, exponents):
    """The greatest radius of curvature [m] of one without flat places, ε >= 1: the greatest among normals GRID apart
    in one octant, and GRAINS of it more for what is between them."""
    q, widest = dual((exponents[0], exponents[1])), 0.0
    for i in range(GRID + 1):
        for j in range(GRID + 1):
            up, around = 0.5 * math.pi * i / GRID, 0.5 * math.pi * j / GRID
            n = (math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up))
            curve, _ = smooth_curve((s[0], s[1], s[2]), q, n)
            widest = max(widest, curve[1] / curve[0])
    return widest * (1.0 + GRAINS)


def curvature_of(half: Array, exponents: Array, normal: Array) -> tuple[Array, tuple[float, float, float, float]]:
    """u (3,), and α, β along it and across, see `smooth_curve`, all in the shape frame."""
    found = np.full(7, np.nan)
    curve_at(half, exponents, normal, found)
    return found[4:], (float(found[0]), float(found[1]), float(found[2]), float(found[3]))


def _beta(a: float, b: float) -> float:
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def mass_properties(half: Array, exponents: tuple[float, float], density: float = 1.0) -> MassProperties:
    """With Euler's beta function [Jaklič, Leonardis & Solina 2000, §2.3]:
    V = 2 s₁s₂s₃ ε₁ε₂ B(ε₁/2 + 1, ε₁) B(ε₂/2, ε₂/2),
    ∫ x² = ½ s₁s₂s₃ s₁² ε₁ε₂ B(3ε₂/2, ε₂/2) B(ε₁/2, 2ε₁ + 1), likewise y², and
    ∫ z² = 2 s₁s₂s₃ s₃² ε₁ε₂ B(ε₂/2, ε₂/2 + 1) B(3ε₁/2, ε₁ + 1)."""
    a, b = exponents
    scale_of = float(np.prod(half)) * a * b
    volume = 2.0 * scale_of * _beta(0.5 * a + 1.0, a) * _beta(0.5 * b, 0.5 * b)
    across = 0.5 * scale_of * _beta(1.5 * b, 0.5 * b) * _beta(0.5 * a, 2.0 * a + 1.0)
    along = 2.0 * scale_of * _beta(0.5 * b, 0.5 * b + 1.0) * _beta(1.5 * a, a + 1.0)
    squares = np.array([across, across, along]) * np.asarray(half) ** 2
    return about_origin(density * volume, density * (squares.sum() - squares))


def _measure(spec: Any) -> Measured:
    half = 0.5 * np.array(spec.size)
    # boxy ones reach towards the corners of their box, others no farther than the longest axis
    bound = float(half.max() if min(spec.exponents) >= 1.0 else np.linalg.norm(half))
    return Measured(tuple(half), bound, mass_properties(half, spec.exponents), tuple(spec.exponents))


def _elements(model: Model, s: int) -> list[Element]:
    """Itself, and its seats where there are walls for them."""
    size, exponents = model.shapes.size[s], model.shapes.exponents[s]
    flattest = widest(model, s) if has_hollows(model) else math.inf
    itself = Element(SMOOTH, np.zeros(3), size, flattest, extent=float(model.shapes.bound[s]),
                     exponents=tuple(exponents))
    return [itself, *seats_of(model, s, flattest)]


def widest(model: Model, s: int) -> float:
    """The greatest radius of curvature of shape s [m]. Boxy ones have flat places."""
    size, exponents = model.shapes.size[s], model.shapes.exponents[s]
    return float(widest_radius(size, exponents)) if exponents.min() >= 1.0 else math.inf


def _gauge(p: Array, size: Array, exponents: Array) -> Array:
    """The norm (k,) of points p (k, 3) whose unit ball the superellipsoids are."""
    a, b = 2.0 / exponents[:, 0], 2.0 / exponents[:, 1]
    u = np.abs(p / size)
    ring = (u[:, 0] ** b + u[:, 1] ** b) ** (1.0 / b)
    return (ring**a + u[:, 2] ** a) ** (1.0 / a)


def _ray(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> Array:
    """Along a ray the gauge is convex: from where it is least, which golden sections find, back to where it is 1, by
    bisection."""
    shapes = model.shapes
    size, exponents = shapes.size[rows], shapes.exponents[rows]
    start = ray_to_ball(o, d, shapes.bound[rows])
    start = np.where(np.isfinite(start), start, 0.0)
    lo, hi = start, start + 2.0 * shapes.bound[rows]
    share = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(BISECTIONS):
        left, right = hi - share * (hi - lo), lo + share * (hi - lo)
        nearer = (_gauge(o + left[:, None] * d, size, exponents) < _gauge(o + right[:, None] * d, size, exponents))
        lo, hi = np.where(nearer, lo, left), np.where(nearer, right, hi)
    outside, inside = start, 0.5 * (lo + hi)
    meets = _gauge(o + inside[:, None] * d, size, exponents) <= 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (outside + inside)
        within = _gauge(o + middle[:, None] * d, size, exponents) <= 1.0
        outside, inside = np.where(within, outside, middle), np.where(within, middle, inside)
    return first(inside, meets)


def _surface(model: Model, s: int) -> Surface:
    """Points x = s₁ cos^ε₁ η cos^ε₂ ω, y = s₂ cos^ε₁ η sin^ε₂ ω, z = s₃ sin^ε₁ η, powers keeping the sign."""
    size, (a, b) = model.shapes.size[s], model.shapes.exponents[s]
    around = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)[:, None]
    up = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ALONG + 1)
    out = _power(np.cos(up), a)
    grid = np.stack(np.broadcast_arrays(
        size[0] * out * _power(np.cos(around), b), size[1] * out * _power(np.sin(around), b),
        size[2] * _power(np.sin(up), a)), axis=2)
    return sheets(grid)


def _power(x: Array, exponent: float) -> Array:
    x = np.where(np.abs(x) < 1e-15, 0.0, x)  # the cosine of a right angle
    return np.sign(x) * np.abs(x) ** exponent


FORM = Form(
    ShapeKind.SUPERELLIPSOID, size_box(lambda size: size), _elements, _ray, _measure, _surface,
)
