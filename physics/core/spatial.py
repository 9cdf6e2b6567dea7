"""6-D vectors [RBDA ch. 2] as tuples of six floats, angular part first, for use inside kernels.

All vectors of a tree are expressed in the world's axes at one point O, so that neither velocities nor inertias are
transformed from link to link. The formulas hold for any fixed point, so O may be chosen anew at every instant.

    motion v = (ω, v_O)    force f = (n_O, f)    inertia (m, m c, I_O): mass, first moment, second moment about O
"""

from .jit import helper


@helper
def add6(u, v):
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2], u[3] + v[3], u[4] + v[4], u[5] + v[5])


@helper
def sub6(u, v):
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2], u[3] - v[3], u[4] - v[4], u[5] - v[5])


@helper
def axpy6(s, u, v):
    """s u + v"""
    return (s * u[0] + v[0], s * u[1] + v[1], s * u[2] + v[2], s * u[3] + v[3], s * u[4] + v[4], s * u[5] + v[5])


@helper
def dot6(u, v):
    """u · v; of a force and a motion it is the power."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2] + u[3] * v[3] + u[4] * v[4] + u[5] * v[5]


@helper
def joined(u, v):
    """(u, v) of two 3-vectors"""
    return (u[0], u[1], u[2], v[0], v[1], v[2])


@helper
def turning(axis, point):
    """Motion of unit angular velocity about the line through `point` p (relative to O) along the unit `axis` a:
    (a, p × a)"""
    return (axis[0], axis[1], axis[2], point[1] * axis[2] - point[2] * axis[1],
            point[2] * axis[0] - point[0] * axis[2], point[0] * axis[1] - point[1] * axis[0])


@helper
def cross_motion(u, v):
    """u × v = (ω × ω', ω × v' + v × ω')   [RBDA 2.31]"""
    return (
        u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0],
        u[1] * v[5] - u[2] * v[4] + u[4] * v[2] - u[5] * v[1],
        u[2] * v[3] - u[0] * v[5] + u[5] * v[0] - u[3] * v[2],
        u[0] * v[4] - u[1] * v[3] + u[3] * v[1] - u[4] * v[0],
    )


@helper
def cross_force(u, f):
    """u ×* f = (ω × n + v × f, ω × f)   [RBDA 2.32]"""
    return (
        u[1] * f[2] - u[2] * f[1] + u[4] * f[5] - u[5] * f[4],
        u[2] * f[0] - u[0] * f[2] + u[5] * f[3] - u[3] * f[5],
        u[0] * f[1] - u[1] * f[0] + u[3] * f[4] - u[4] * f[3],
        u[1] * f[5] - u[2] * f[4], u[2] * f[3] - u[0] * f[5], u[0] * f[4] - u[1] * f[3],
    )


@helper
def inertia_times(m, h, s, v):
    """I v = (I_O ω + h × v, m v + ω × h) with h = m c and the symmetric s = I_O (xx xy xz yy yz zz)   [RBDA 2.63]"""
    x, y, z = v[3], v[4], v[5]
    return (
        s[0] * v[0] + s[1] * v[1] + s[2] * v[2] + h[1] * z - h[2] * y,
        s[1] * v[0] + s[3] * v[1] + s[4] * v[2] + h[2] * x - h[0] * z,
        s[2] * v[0] + s[4] * v[1] + s[5] * v[2] + h[0] * y - h[1] * x,
        m * x + v[1] * h[2] - v[2] * h[1], m * y + v[2] * h[0] - v[0] * h[2], m * z + v[0] * h[1] - v[1] * h[0],
    )
