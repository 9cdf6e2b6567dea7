"""The height of a point over a shape: its signed distance from the surface, with the outward normal there in the world.
From a point within, the way out is the shortest one [Ericson 2005, §5.1]."""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, neg, norm, scale, sub, unit
from ..shapes.ellipsoid import ellipsoid_foot, ellipsoid_normal
from ..shapes.superellipsoid import dual, smooth_normal
from .geometry import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    PIPE,
    PLANE,
    SPHERE,
    SUPERELLIPSOID,
    TORUS,
    TRIANGLE,
    axis,
    exponents,
    extent,
    origin,
    swell,
    to_local,
    to_world,
)
from .gjk import OVERLAP, gjk, triangle_weights, weighted
from .hollow import wall
from .polytope import FACES, POINTS, first_loop, spot

FAR = 1e300  # height over a wall that is not there [m]


@helper
def plane_height(geom, plane, p):
    """Height of a point over a plane."""
    return dot(axis(geom, plane, 2), sub(p, origin(geom, plane)))


@helper
def over_point(p, q, radius, otherwise):
    """Over a ball about q; `otherwise` is the normal where p is its centre."""
    d = sub(p, q)
    length = norm(d)
    return length - radius, (unit(d) if length > 1e-14 * radius else otherwise)


@helper
def over_box(geom, b, p):
    """Over box b."""
    h = extent(geom, b)
    c = to_local(geom, b, sub(p, origin(geom, b)))
    foot = (min(max(c[0], -h[0]), h[0]), min(max(c[1], -h[1]), h[1]), min(max(c[2], -h[2]), h[2]))
    d = sub(c, foot)
    height = norm(d)
    if height > 1e-12 * (h[0] + h[1] + h[2]):
        return height, to_world(geom, b, unit(d))
    depth = (h[0] - abs(c[0]), h[1] - abs(c[1]), h[2] - abs(c[2]))
    i = 0 if depth[0] <= depth[1] and depth[0] <= depth[2] else (1 if depth[1] <= depth[2] else 2)
    n = axis(geom, b, i)
    return -depth[i], (n if c[i] >= 0.0 else neg(n))


@helper
def over_cylinder(geom, b, p):
    """Over cylinder b."""
    radius, half = extent(geom, b)[0], extent(geom, b)[1]
    c = to_local(geom, b, sub(p, origin(geom, b)))
    rho = math.sqrt(c[0] * c[0] + c[1] * c[1])
    out = (c[0] / rho, c[1] / rho, 0.0) if rho > 1e-12 * radius else (1.0, 0.0, 0.0)
    up = (0.0, 0.0, 1.0 if c[2] >= 0.0 else -1.0)
    beside, above = rho - radius, abs(c[2]) - half
    if beside > 0.0 and above > 0.0:
        height = math.sqrt(beside * beside + above * above)
        n = add(scale(beside / height, out), scale(above / height, up))
    elif beside > above:
        height, n = beside, out
    else:
        height, n = above, up
    return height, to_world(geom, b, n)


@helper
def over_ellipsoid(geom, b, p):
    """Over ellipsoid b."""
    s = extent(geom, b)
    y = to_local(geom, b, sub(p, origin(geom, b)))
    x = ellipsoid_foot(y, s)
    n = ellipsoid_normal(x, s)
    return dot(n, sub(y, x)), to_world(geom, b, n)


@helper
def over_superellipsoid(geom, b, p):
    """Over superellipsoid b."""
    solid = axis(geom, b, 0), axis(geom, b, 1), axis(geom, b, 2), extent(geom, b), dual(exponents(geom, b))
    point = solid[0], solid[1], solid[2], (0.0, 0.0, 0.0), (2.0, 2.0)
    n, height = smooth_normal(solid, point, sub(p, origin(geom, b)))
    return height, n


@helper
def over_cone(geom, b, p):
    """Over cone b: in the half plane through its axis and p, over the base line and the line of the side."""
    r, h = extent(geom, b)[0], extent(geom, b)[1]
    c = to_local(geom, b, sub(p, origin(geom, b)))
    rho, z = math.sqrt(c[0] * c[0] + c[1] * c[1]), c[2] + 0.25 * h
    out = (c[0] / rho, c[1] / rho, 0.0) if rho > 1e-12 * r else (1.0, 0.0, 0.0)
    slant = math.sqrt(r * r + h * h)
    side = ((rho - r) * h + z * r) / slant          # over the line of the side
    along = ((r - rho) * r + z * h) / slant         # from the rim towards the apex
    if side <= 0.0 and z >= 0.0:                    # within
        n, height = (axpy(h / slant, out, (0.0, 0.0, r / slant)), side) if side >= -z else ((0.0, 0.0, -1.0), -z)
        return height, to_world(geom, b, n)
    if z < 0.0 and rho <= r:
        return -z, to_world(geom, b, (0.0, 0.0, -1.0))
    if side > 0.0 and 0.0 <= along <= slant:
        return side, to_world(geom, b, axpy(h / slant, out, (0.0, 0.0, r / slant)))
    d = (rho, z - h) if along > slant else (rho - r, z)
    height = math.sqrt(d[0] * d[0] + d[1] * d[1])
    return height, to_world(geom, b, axpy(d[0] / height, out, (0.0, 0.0, d[1] / height)))


@helper
def over_torus(geom, b, p):
    """Over torus b: over the ball about the nearest point of the circle in its middle."""
    c, u = origin(geom, b), axis(geom, b, 2)
    d = sub(p, c)
    flat = axpy(-dot(u, d), u, d)
    out = unit(flat) if norm(flat) > 1e-12 * extent(geom, b)[1] else axis(geom, b, 0)
    return over_point(p, axpy(extent(geom, b)[1], out, c), swell(geom, b), u)


@helper
def over_triangle(core, p):
    """Over a triangle, whose corners are in `core`, seen from its front: below 0 where p is behind it, with the foot
    within. From beyond its edges it is the distance."""
    a, b, c = spot(core, 0), spot(core, 1), spot(core, 2)
    wa, wb, wc = triangle_weights(sub(a, p), sub(b, p), sub(c, p))
    d = sub(p, add(scale(wa, a), axpy(wb, b, scale(wc, c))))
    n = unit(cross(sub(b, a), sub(c, a)))
    if wa > 0.0 and wb > 0.0 and wc > 0.0:
        return dot(n, d), n
    height = norm(d)
    return height, (scale(1.0 / height, d) if height > 0.0 else n)


@helper
def over_polytope(geom, solids, work, s, p):
    """Over a convex polyhedron s whose corners and face normals are in work.core[1]; rounded ones with their ball. From
    a point within its core the nearest face is the way out, from outside the nearest point."""
    core, points, first = work.core[1], solids.info[s, POINTS], first_loop(solids, s)
    best, n = -math.inf, (0.0, 0.0, 1.0)
    for f in range(solids.info[s, FACES]):
        m = spot(core, points + f)
        height = dot(m, sub(p, spot(core, solids.loops[first + f, 1])))
        if height > best:
            best, n = height, m
    if best > 0.0:
        work.core[0, 0, 0], work.core[0, 0, 1], work.core[0, 0, 2] = p
        distance, rows = gjk(work.core[0], 1, core, points, geom, s, s, FAR, work.simplex)
        if distance > OVERLAP * geom.core[s]:
            best = distance
            n = unit(sub(weighted(work.simplex, rows, 3), weighted(work.simplex, rows, 6)))
    return best - swell(geom, s), n


@helper
def over_wall(geom, b, p):
    """Inwards of the wall of a bowl or pipe b."""
    rho, out, stands = wall(geom, b, p)
    return (extent(geom, b)[0] - rho if stands and rho < extent(geom, b)[0] else FAR), neg(out)


@helper
def height_over(geom, solids, work, b, p):
    """Over any shape b but a mesh. Corners and normals of a polyhedron or triangle are in work.core[1]."""
    kind = geom.kind[b]
    if kind == PLANE:
        return plane_height(geom, b, p), axis(geom, b, 2)
    if kind == SPHERE:
        return over_point(p, origin(geom, b), swell(geom, b), axis(geom, b, 2))
    if kind == CAPSULE:
        u, half = axis(geom, b, 2), extent(geom, b)[1]
        along = min(max(dot(u, sub(p, origin(geom, b))), -half), half)
        return over_point(p, axpy(along, u, origin(geom, b)), swell(geom, b), axis(geom, b, 0))
    if kind == BOX:
        return over_box(geom, b, p)
    if kind == CYLINDER:
        return over_cylinder(geom, b, p)
    if kind == ELLIPSOID:
        return over_ellipsoid(geom, b, p)
    if kind == SUPERELLIPSOID:
        return over_superellipsoid(geom, b, p)
    if kind == CONE:
        return over_cone(geom, b, p)
    if kind == TORUS:
        return over_torus(geom, b, p)
    if kind in (BOWL, PIPE):
        return over_wall(geom, b, p)
    if kind == TRIANGLE:
        return over_triangle(work.core[1], p)
    return over_polytope(geom, solids, work, b, p)
