"""Rotations of many vectors at once, with NumPy; kernels have theirs in `core.vec`. Quaternions are (w, x, y, z)."""

import numpy as np

from .model import Array


def crossed(a: Array, b: Array) -> Array:
    """a × b for each row of a (…, 3) and b (…, 3): the bits of numpy.cross in a tenth of its time."""
    (ax, ay, az), (bx, by, bz) = (np.moveaxis(v, -1, 0) for v in (a, b))
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    product[..., 0], product[..., 1], product[..., 2] = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return product


def rotated_one(q: Array, u: Array) -> Array:
    """`rotated` for one vector, in numbers of Python: arrays of three numbers take ten times as long."""
    (w, x, y, z), (a, b, c) = q.tolist(), u.tolist()
    t_x, t_y, t_z = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.array((a + w * t_x + (y * t_z - z * t_y), b + w * t_y + (z * t_x - x * t_z),
                     c + w * t_z + (x * t_y - y * t_x)))


def crossed_one(a: Array, b: Array) -> Array:
    """a × b of two vectors (3,), in numbers of Python."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def rotated(q: Array, u: Array) -> Array:
    """R(q) u = u + 2 w (r × u) + 2 r × (r × u) with q = (w, r), for each row of q (…, 4) and u (…, 3)."""
    r = q[..., 1:]
    t = 2.0 * crossed(r, u)
    return u + q[..., :1] * t + crossed(r, t)


def quaternion_products(p: Array, q: Array) -> Array:
    """p q for each row of p (…, 4) and q (…, 4): the rotation by q followed by that by p."""
    p_0, r, q_0, s = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate(
        [p_0 * q_0 - (r * s).sum(axis=-1, keepdims=True), p_0 * s + q_0 * r + crossed(r, s)], axis=-1
    )
