"""Rotations of many vectors at once, with NumPy; kernels have theirs in `core.vec`. Quaternions are (w, x, y, z)."""

import numpy as np

from .model import Array


def rotated(q: Array, u: Array) -> Array:
    """R(q) u = u + 2 w (r × u) + 2 r × (r × u) with q = (w, r), for each row of q (…, 4) and u (…, 3)."""
    r = q[..., 1:]
    t = 2.0 * np.cross(r, u)
    return u + q[..., :1] * t + np.cross(r, t)


def quaternion_products(p: Array, q: Array) -> Array:
    """p q for each row of p (…, 4) and q (…, 4): the rotation by q followed by that by p."""
    p_0, r, q_0, s = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate(
        [p_0 * q_0 - (r * s).sum(axis=-1, keepdims=True), p_0 * s + q_0 * r + np.cross(r, s)], axis=-1
    )
