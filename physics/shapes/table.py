"""All kinds of shapes: the one place where a kind is entered.

FORMS says everything about them in Python. The helpers answer the questions that the narrow phase asks of round shapes,
those without corners, by their kind; directions u are in the shape frame.
"""

from ..core.jit import helper
from ..core.model import ShapeKind
from . import (
    bowl,
    box,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    hull,
    mesh,
    pipe,
    plane,
    rounded,
    sphere,
    superellipsoid,
    torus,
)
from .cone import cone_corner, cone_corners, cone_rim, cone_support
from .cylinder import cylinder_corner, cylinder_corners, cylinder_support, cylinder_width
from .ellipsoid import ellipsoid_support, ellipsoid_width
from .form import Form
from .superellipsoid import superellipsoid_support

#: by kind, in the order in which the narrow phase takes the two shapes of a pair: tori, what else moves, planes,
#: meshes, hollows
FORMS: dict[int, Form] = {int(form.kind): form for form in (
    torus.FORM, sphere.FORM, box.FORM, capsule.FORM, cylinder.FORM, hull.FORM, rounded.FORM, cone.FORM,
    ellipsoid.FORM, superellipsoid.FORM, plane.FORM, mesh.FORM, bowl.FORM, pipe.FORM)}
SWOLLEN = tuple(kind for kind, form in FORMS.items() if form.swollen)
SCENERY = tuple(kind for kind, form in FORMS.items() if form.scenery)
#: kinds that are drawn as triangles which follow from their size
MODELLED = tuple(kind for kind, form in FORMS.items() if form.surface is not None and form.measure is not None)
CYLINDER, ELLIPSOID, CONE = int(ShapeKind.CYLINDER), int(ShapeKind.ELLIPSOID), int(ShapeKind.CONE)
SUPERELLIPSOID = int(ShapeKind.SUPERELLIPSOID)


@helper
def support_of(kind, size, exponents, u):
    """The point of a round shape farthest along u."""
    if kind == ELLIPSOID:
        return ellipsoid_support(size, u)
    if kind == CONE:
        return cone_support(size, u)
    if kind == SUPERELLIPSOID:
        return superellipsoid_support(size, exponents, u)
    return cylinder_support(size, u)


@helper
def half_width(kind, half, r):
    """Half the width along a unit vector r of a core in a box of half extents `half`; for other kinds than
    cylinders and ellipsoids that of the box."""
    if kind == CYLINDER:
        return cylinder_width(half, r)
    if kind == ELLIPSOID:
        return ellipsoid_width(half, r)
    return abs(r[0]) * half[0] + abs(r[1]) * half[1] + abs(r[2]) * half[2]


@helper
def corners_towards(kind, size, u):
    """How many corners the feature of a round shape has that looks most along the unit vector u: 1 is a point, 2 a
    line, more a polygon."""
    if kind == CYLINDER:
        return cylinder_corners(u)
    if kind == CONE:
        return cone_corners(size, u)
    return 1


@helper
def corner_towards(kind, size, exponents, u, i):
    """(point, offset along z to add to it) [m] of corner i of that feature."""
    if kind == CYLINDER:
        return cylinder_corner(size, u, i)
    if kind == CONE:
        return cone_corner(size, u, i)
    return support_of(kind, size, exponents, u), 0.0


@helper
def flat_end_cosine(kind, u):
    """Cosine between the unit vector u and the outward normal of the flat end nearest to it; 0 without one."""
    if kind == CONE:
        return -u[2]
    return abs(u[2]) if kind == CYLINDER else 0.0


@helper
def rim_of(kind, size, end):
    """(height on the axis, radius) of the rim at an end (-1 or 1) of a round shape that has rims."""
    if kind == CONE:
        return cone_rim(size, end)
    return end * size[1], size[0]


@helper
def has_rims(kind):
    """Whether a round shape is the hull of two rims; else it is smooth."""
    return kind not in (ELLIPSOID, SUPERELLIPSOID)
