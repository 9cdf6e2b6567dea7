"""What the contacts of one body do to it: their forces, the centre of pressure, the support polygon, and how far they
are from slipping."""

from typing import NamedTuple

import numpy as np

from ..core.model import Array
from ..core.state import Contacts


class Support(NamedTuple):
    """Of the contacts that press; vectors in the world frame. What there is not is nan, or has no rows."""

    count: int
    force: Array     #: (3,) sum of their forces on the body [N]
    friction: Array  #: (3,) the part of it in the tangent planes [N]
    torque: Array    #: (3,) of all of them about the centre of mass [N m]
    pressure: Array  #: (3,) centre of pressure [m]: Σ w p/Σ w, w = λ n·up of the contacts that carry the body
    polygon: Array   #: (k, 3) support polygon: corners of the hull of these, seen along gravity, in order [m]
    inside: float    #: how far inside of it the centre of mass is, seen along gravity [m]; < 0 = outside
    margin: float    #: least 1 - |f_t|/(μ λ): 1 = without friction, 0 = on the cone


def support_of(body: int, x: Array, gravity: Array, contacts: Contacts) -> Support:
    """x: (3,) centre of mass [m]; gravity (3,) [m/s2]; contacts: of a snapshot, valid rows only."""
    rows = ((contacts.body_a == body) | (contacts.body_b == body)) & (contacts.lam > 0.0)
    sign = np.where(contacts.body_b[rows] == body, 1.0, -1.0)[:, None]
    lam, point = contacts.lam[rows], contacts.point[rows]
    normal, friction = sign * lam[:, None] * contacts.normal[rows], sign * contacts.friction_force[rows]
    limit = contacts.friction[rows] * lam
    rough = limit > 0.0
    shares = np.linalg.norm(friction[rough], axis=1) / limit[rough]
    g = float(np.linalg.norm(gravity))
    up = -gravity / g if g > 0.0 else np.zeros(3)
    weights = normal @ up
    carries = weights > 0.0
    pressure = weights[carries] @ point[carries] / weights[carries].sum() if carries.any() else np.full(3, np.nan)
    polygon, inside = _polygon(point[carries], x, up)
    return Support(
        int(rows.sum()), (normal + friction).sum(axis=0), friction.sum(axis=0),
        np.cross(point - x, normal + friction).sum(axis=0), pressure, polygon, inside,
        1.0 - float(shares.max()) if len(shares) else np.nan)


def _polygon(points: Array, x: Array, up: Array) -> tuple[Array, float]:
    """The corners of the hull of points seen along `up`, in order, and how far inside x is."""
    from scipy.spatial import ConvexHull, QhullError  # slow to load

    if len(points) < 3:
        return np.zeros((0, 3)), np.nan
    across = np.linalg.svd(up[None])[2][1:]  # two directions at right angles to it
    try:
        hull = ConvexHull(points @ across.T)
    except QhullError:  # all in a line
        return np.zeros((0, 3)), np.nan
    return points[hull.vertices], -float((hull.equations[:, :2] @ across @ x + hull.equations[:, 2]).max())
