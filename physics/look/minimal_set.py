"""The minimal contact set of RBDA §11.6: a contact whose normal depends positively on others' adds nothing to what they
forbid, and can be removed. Of a line contact its two ends remain, of a face contact the corners of the hull of its
region (fig. 11.7)."""

import numpy as np

from ..core.model import Array, BodyKind, BoolArray, IntArray
from ..core.state import Contacts

DEPENDENT = 1e-8  # distance of a spatial normal from the cone of others up to which it lies in the cone; a normal has 1


def spatial_normals(point: Array, normal: Array) -> Array:
    """Contact normals as spatial force vectors (c, 6), (r × n, n) [RBDA eq. 11.1], r from the middle of the points
    (c, 3) in units of their largest distance from it."""
    r = point - point.mean(axis=0)
    r /= max(float(np.linalg.norm(r, axis=1).max()), np.finfo(float).tiny)
    found = np.empty((len(r), 6))
    found[:, :3], found[:, 3:] = np.cross(r, normal), normal
    return found


def positively_independent(normals: Array) -> BoolArray:
    """Which of the vectors (c, k) remain when each that is a sum of the others with factors >= 0 is removed, one after
    the other: of vectors that are equal the last one. Found by least squares over such factors
    [Lawson & Hanson 1974, ch. 23]."""
    from scipy.optimize import nnls  # when it is first needed: it takes long to load

    kept = np.ones(len(normals), bool)
    for i in range(len(normals)):
        kept[i] = False
        others = normals[kept]
        kept[i] = not len(others) or nnls(others.T, normals[i])[1] > DEPENDENT
    return kept


def minimal_set(contacts: Contacts, kind: IntArray) -> BoolArray:
    """Which contacts (all rows valid) are in the minimal set of those of the current set between each two bodies, all
    fixed bodies being one. kind (n,): the BodyKind of each body."""
    found = (contacts.current | contacts.active).astype(bool)
    a, b = (np.where(kind[body] == BodyKind.FIXED, -1, body) for body in (contacts.body_a, contacts.body_b))
    first, second = np.minimum(a, b), np.maximum(a, b)
    normal = np.where(a <= b, 1.0, -1.0)[:, None] * contacts.normal  # from the first to the second
    for one, other in {*zip(first[found].tolist(), second[found].tolist(), strict=True)}:
        rows = np.flatnonzero(found & (first == one) & (second == other))
        found[rows] = positively_independent(spatial_normals(contacts.point[rows], normal[rows]))
    return found
