"""3-vectors, quaternions (w, x, y, z) and 3x3 matrices as tuples of floats, for use inside kernels.

Tuples live in registers: a cross product costs about 2 ns, against 150 ns and more for a NumPy temporary.
A 3x3 matrix is a tuple of its three rows.
"""

import math

from .jit import helper


@helper
def row(a, i):
    """Row i of an (n, 3) array."""
    return (a[i, 0], a[i, 1], a[i, 2])


@helper
def row4(a, i):
    """Row i of an (n, 4) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@helper
def put(a_out, i, u):
    """a[i] = u"""
    a_out[i, 0] = u[0]
    a_out[i, 1] = u[1]
    a_out[i, 2] = u[2]


@helper
def put_rows(a_out, a):
    """a_out = a, (n, 3) arrays. An assignment of slices takes a second to compile: it also makes texts of shapes."""
    for i in range(len(a)):
        put(a_out, i, row(a, i))


@helper
def put_all(a_out, a):
    """a_out = a, (n,) arrays; see `put_rows`."""
    for i in range(len(a)):
        a_out[i] = a[i]


@helper
def put4(a_out, i, u):
    """a[i] = u, for an (n, 4) array"""
    a_out[i, 0] = u[0]
    a_out[i, 1] = u[1]
    a_out[i, 2] = u[2]
    a_out[i, 3] = u[3]


@helper
def accumulate(a_out, i, u):
    """a[i] += u"""
    a_out[i, 0] += u[0]
    a_out[i, 1] += u[1]
    a_out[i, 2] += u[2]


@helper
def add(u, v):
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2])


@helper
def sub(u, v):
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


@helper
def scale(s, u):
    return (s * u[0], s * u[1], s * u[2])


@helper
def axpy(s, u, v):
    """s u + v"""
    return (s * u[0] + v[0], s * u[1] + v[1], s * u[2] + v[2])


@helper
def neg(u):
    return (-u[0], -u[1], -u[2])


@helper
def mul(u, v):
    """Component by component."""
    return (u[0] * v[0], u[1] * v[1], u[2] * v[2])


@helper
def dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@helper
def cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@helper
def norm(u):
    return math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])


@helper
def unit(u):
    """u / |u|; the zero vector stays zero."""
    n = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    s = 1.0 / n if n > 0.0 else 0.0
    return (s * u[0], s * u[1], s * u[2])


@helper
def tangents(n):
    """Two unit vectors t1, t2 with t1 × t2 = n, continuous in n except at n_z = 0 [Duff et al. 2017]."""
    s = 1.0 if n[2] >= 0.0 else -1.0
    a = -1.0 / (s + n[2])
    b = n[0] * n[1] * a
    return (1.0 + s * n[0] * n[0] * a, s * b, -s * n[0]), (b, s + n[1] * n[1] * a, -n[1])


@helper
def quat_mul(p, q):
    """p q: the rotation by q followed by that by p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@helper
def quat_conj(q):
    return (q[0], -q[1], -q[2], -q[3])


@helper
def quat_unit(q):
    """q / |q|"""
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@helper
def quat_exp(a):
    """Unit quaternion of the rotation by the vector a [rad]: angle |a| about a/|a|."""
    angle = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    # sin(angle/2)/angle; by its series where the angle is small: the error is below angle⁴/3840
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    return (math.cos(0.5 * angle), s * a[0], s * a[1], s * a[2])


@helper
def quat_mat(q):
    """Rotation matrix of a unit quaternion (body -> world)."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@helper
def rotate(q, u):
    """R(q) u = u + 2 w (r × u) + 2 r × (r × u), with q = (w, r)"""
    r = (q[1], q[2], q[3])
    t = scale(2.0, cross(r, u))
    return add(axpy(q[0], t, u), cross(r, t))


@helper
def unrotate(q, u):
    """R(q)ᵀ u"""
    return rotate((q[0], -q[1], -q[2], -q[3]), u)


@helper
def mat_vec(m, u):
    return (dot(m[0], u), dot(m[1], u), dot(m[2], u))


@helper
def mat_t_vec(m, u):
    """mᵀ u"""
    return (
        m[0][0] * u[0] + m[1][0] * u[1] + m[2][0] * u[2],
        m[0][1] * u[0] + m[1][1] * u[1] + m[2][1] * u[2],
        m[0][2] * u[0] + m[1][2] * u[1] + m[2][2] * u[2],
    )


@helper
def transform(x, q, u):
    """x + R(q) u: a point of the body frame in the world."""
    return add(x, rotate(q, u))


@helper
def untransform(x, q, p):
    """R(q)ᵀ (p - x): a world point in the body frame."""
    return unrotate(q, sub(p, x))
