"""What the program knows of a kind of shape: the record that every file of this folder fills for its kind."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.model import HOLLOW, Array, IntArray, Model, ShapeKind
from .elements import Element, ElementRows
from .shapes import MassProperties

Size = tuple[float, float, float]
Surface = tuple[Array, NDArray[np.int32]]
NO_MASS = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


class Measured(NamedTuple):
    """What follows from a scene file's description of a shape."""

    size: Size                  #: row of `Shapes.size`
    bound: float                #: radius about the shape origin that holds the shape [m]
    properties: MassProperties  #: at density 1, shape frame
    exponents: tuple[float, float] = (1.0, 1.0)  #: row of `Shapes.exponents`


class Core(NamedTuple):
    """A convex core with corners; it is stretched to the size of each shape."""

    corners: Array          #: (v, 3)
    normals: Array          #: (f, 3) outward
    loops: list[list[int]]  #: corners of each face, counter-clockwise seen from outside
    edges: list[tuple]      #: (corner, corner, face, face)


class Form(NamedTuple):
    """One kind of shape."""

    kind: ShapeKind
    #: centre and half extents (6,) of the box of the core of shape s [m], shape frame
    box: Callable[[Model, int], Array]
    #: elements of shape s, see `elements`
    elements: Callable[[Model, int], list[Element] | ElementRows]
    #: distances (k,) [m] along rays from o (k, 3) in unit directions d (k, 3) to shapes `rows` (k,), all in the frames
    #: of the shapes; inf where the ray misses
    ray: Callable[[Model, NDArray[np.intp], Array, Array], Array]
    #: from a scene file's description; None of hulls and meshes, which need files
    measure: Callable[[Any], Measured] | None = None
    #: vertices (v, 3) [m] and triangles (t, 3) of shape s for drawing; None where a program of its own draws it
    surface: Callable[[Model, int], Surface] | None = None
    core: Core | None = None    #: None of round shapes, hulls and scenery
    swollen: bool = False       #: whether the core is swollen by size[0]
    scenery: bool = False       #: whether only bodies that forces do not move can carry it


def size_box(half: Callable[[Array], Any]) -> Callable[[Model, int], Array]:
    """`Form.box` of a core about its origin, from its half extents as a function of its size."""
    return lambda model, s: np.array([0.0, 0.0, 0.0, *half(model.shapes.size[s])])


def of_size(elements: Callable[[Array], list[Element]]) -> Callable[[Model, int], list[Element]]:
    """`Form.elements` of a kind that its size describes."""
    return lambda model, s: elements(model.shapes.size[s])


def by_size(ray: Callable[[Array, Array, Array], Array]) -> Callable[[Model, NDArray[np.intp], Array, Array], Array]:
    """`Form.ray` of a kind that its size describes, from a function of o (k, 3), d (k, 3) and sizes (k, 3)."""
    return lambda model, rows, o, d: ray(o, d, model.shapes.size[rows])


def has_hollows(model: Model) -> bool:
    """Whether a model has bowls or pipes."""
    return bool(np.isin(model.shapes.kind, HOLLOW).any())


def about_origin(mass: float, moments: Array) -> MassProperties:
    """A solid with its centre of mass at the origin and its principal axes along the coordinate axes; moments (3,)."""
    return MassProperties(mass, np.zeros(3), np.diag(moments))


def first(t: Array, valid: NDArray[np.bool_]) -> Array:
    """The distances t where they are valid and ahead, else inf."""
    return np.where(valid & (t >= 0.0), t, np.inf)


def ray_to_ball(o: Array, d: Array, radius: Array) -> Array:
    """Distances (k,) along unit directions d from o to balls about the origin: |o + t d| = r."""
    b = -np.einsum("ki,ki->k", o, d)
    miss = o + b[:, None] * d
    h2 = radius**2 - np.einsum("ki,ki->k", miss, miss)
    return first(b - np.sqrt(np.maximum(h2, 0.0)), h2 >= 0.0)


def ray_to_tube(o: Array, d: Array, radius: Array, half: Array) -> Array:
    """Distances (k,) along unit directions d from o to curved sides |(x, y)| = r, |z| <= half."""
    a = np.maximum(d[:, 0] ** 2 + d[:, 1] ** 2, 1e-300)
    b = -(o[:, 0] * d[:, 0] + o[:, 1] * d[:, 1]) / a
    x, y = o[:, 0] + b * d[:, 0], o[:, 1] + b * d[:, 1]
    h2 = radius**2 - x * x - y * y
    t = b - np.sqrt(np.maximum(h2, 0.0) / a)
    return first(t, (h2 >= 0.0) & (np.abs(o[:, 2] + t * d[:, 2]) <= half))


def ray_to_disc(o: Array, d: Array, z: Array, radius: Array) -> Array:
    """Distances (k,) along unit directions d from o to discs perpendicular to the z axis at heights z (k,)."""
    t = (z - o[:, 2]) / np.where(d[:, 2] == 0.0, 1e-300, d[:, 2])
    at = o[:, :2] + t[:, None] * d[:, :2]
    return first(t, np.einsum("ki,ki->k", at, at) <= radius**2)


def sheets(*grids: Array) -> Surface:
    """Vertices and triangles of grids of points (m, n, 3). The triangles run counter-clockwise seen from the side to
    which the cross product of the first and the second grid direction points."""
    triangles, start = [], 0
    for m, n, _ in (grid.shape for grid in grids):
        number = start + np.arange(m * n).reshape(m, n)
        a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
        triangles.append(np.stack([np.stack([a, c, b], 2), np.stack([a, d, c], 2)], 2).reshape(-1, 3))
        start += m * n
    return np.concatenate([grid.reshape(-1, 3) for grid in grids]), np.concatenate(triangles).astype(np.int32)


def own_rows(starts: IntArray, k: int) -> slice:
    """Rows of entry k of a table whose entries begin at `starts`."""
    return slice(int(starts[k]), int(starts[k + 1]))
