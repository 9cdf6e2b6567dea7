"""Symmetric 3 x 3 matrices as tuples (xx, xy, xz, yy, yz, zz), and 3 or 6 consecutive columns of a row."""

from .jit import helper
from .vec import dot, mul, quat_mat


@helper
def three(a, i, j):
    """a[i, j : j + 3]"""
    return (a[i, j], a[i, j + 1], a[i, j + 2])


@helper
def six(a, i, j):
    """a[i, j : j + 6]"""
    return (a[i, j], a[i, j + 1], a[i, j + 2], a[i, j + 3], a[i, j + 4], a[i, j + 5])


@helper
def put_three(a_out, i, j, u):
    """a[i, j : j + 3] = u"""
    a_out[i, j] = u[0]
    a_out[i, j + 1] = u[1]
    a_out[i, j + 2] = u[2]


@helper
def put_six(a_out, i, j, s):
    """a[i, j : j + 6] = s"""
    for k in range(6):
        a_out[i, j + k] = s[k]


@helper
def sym_vec(s, u):
    """s u"""
    return (
        s[0] * u[0] + s[1] * u[1] + s[2] * u[2],
        s[1] * u[0] + s[3] * u[1] + s[4] * u[2],
        s[2] * u[0] + s[4] * u[1] + s[5] * u[2],
    )


@helper
def sym_inverse(s):
    """Inverse of the symmetric matrix s = (xx, xy, xz, yy, yz, zz) by its cofactors; not finite where s is singular."""
    c0 = s[3] * s[5] - s[4] * s[4]
    c1 = s[2] * s[4] - s[1] * s[5]
    c2 = s[1] * s[4] - s[2] * s[3]
    d = 1.0 / (s[0] * c0 + s[1] * c1 + s[2] * c2)
    return (
        d * c0, d * c1, d * c2,
        d * (s[0] * s[5] - s[2] * s[2]), d * (s[1] * s[2] - s[0] * s[4]), d * (s[0] * s[3] - s[1] * s[1]),
    )


@helper
def world_inverse_inertia(q, inv_inertia):
    """I⁻¹ = R I_body⁻¹ Rᵀ   [Baraff I §2.10]"""
    r = quat_mat(q)
    x = mul(inv_inertia, r[0])
    y = mul(inv_inertia, r[1])
    z = mul(inv_inertia, r[2])
    return (dot(x, r[0]), dot(x, r[1]), dot(x, r[2]), dot(y, r[1]), dot(y, r[2]), dot(z, r[2]))


@helper
def point_response(inv_mass, s, r):
    """Change of the velocity of the point at arm r by a unit impulse there: 1/m + [r]× I⁻¹ [r]×ᵀ, with s = I⁻¹"""
    x, y, z = r
    a0 = (y * s[2] - z * s[1], y * s[4] - z * s[3], y * s[5] - z * s[4])
    a1 = (z * s[0] - x * s[2], z * s[1] - x * s[4], z * s[2] - x * s[5])
    a2 = (x * s[1] - y * s[0], x * s[3] - y * s[1], x * s[4] - y * s[2])
    return (
        inv_mass + y * a0[2] - z * a0[1], z * a0[0] - x * a0[2], x * a0[1] - y * a0[0],
        inv_mass + z * a1[0] - x * a1[2], x * a1[1] - y * a1[0], inv_mass + x * a2[1] - y * a2[0],
    )
