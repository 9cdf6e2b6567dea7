"""Height fields: ground whose heights over a grid are numbers, a grey picture or a formula, as a surface of triangles.

Seen from above, the first row of numbers and of pixels lies at +y and the first column at -x, as on a map. Each cell of
the grid is two triangles.
"""

from pathlib import Path
from typing import Any

import numpy as np

from ..core.formula import read_formula
from ..core.limits import TRIANGLES
from ..core.model import Array
from .mesh import MeshSurface
from .refusals import SceneError
from .values import in_words


def height_surface(shape: Any, folder: Path | None, at: str) -> tuple[MeshSurface, tuple[str, ...]]:
    """The surface [m] of a height field of the scene file, in the frame of the shape, and how far it is from the
    formula. Raises SceneError in one sentence that begins with a field of the shape, `at`."""
    if shape.formula is not None:
        nx, ny = shape.cells
        _check_cells(nx, ny, at)
        x, y = _grid(shape.size, nx, ny)
        heights = _by_formula(shape, x, y, at)
    else:
        heights = shape.height * (np.array(shape.heights) if shape.file is None else _greys(folder, shape.file, at))
        ny, nx = heights.shape[0] - 1, heights.shape[1] - 1
        _check_cells(nx, ny, at)
        x, y = _grid(shape.size, nx, ny)
    number = np.arange((ny + 1) * (nx + 1)).reshape(ny + 1, nx + 1)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]  # counter-clockwise from above
    triangles = np.stack([np.stack([a, b, c], 2), np.stack([a, c, d], 2)], 2).reshape(-1, 3)
    surface = MeshSurface(np.column_stack([x.ravel(), y.ravel(), heights.ravel()]), triangles.astype(np.int32))
    if shape.formula is None:
        return surface, ()
    off = in_words(float(f"{_off(shape, x, y, heights, at):.2g}"))
    return surface, (f"A height field of {nx} × {ny} cells follows its formula to {off} m, seen at the middles of its "
                     "edges.",)


def _check_cells(nx: int, ny: int, at: str) -> None:
    """SceneError where there are too many."""
    if 2 * nx * ny > TRIANGLES.most:
        raise SceneError(f"{at}: has {nx} × {ny} cells; it must have no more than {TRIANGLES.most // 2} in all.")


def _grid(size: tuple[float, float], nx: int, ny: int) -> tuple[Array, Array]:
    """x and y [m] of all corners (ny + 1, nx + 1)."""
    across, along = (0.5 * length * np.linspace(-1.0, 1.0, n + 1) for length, n in zip(size, (nx, ny), strict=True))
    x, y = np.meshgrid(across, along[::-1])
    return x, y


def _by_formula(shape: Any, x: Array, y: Array, at: str) -> Array:
    found = np.broadcast_to(shape.height * read_formula(shape.formula).value({"x": x, "y": y}), x.shape)
    if not np.isfinite(found).all():
        k = int(np.flatnonzero(~np.isfinite(found))[0])
        raise SceneError(f"{at}.formula: has no finite value at x = {x.flat[k]:g}, y = {y.flat[k]:g}; it must have one "
                         "on all of the grid.")
    return found


def _off(shape: Any, x: Array, y: Array, heights: Array, at: str) -> float:
    """Greatest distance [m] along z from the formula at the middles of all edges of triangles. For a smooth formula the
    error of a linear triangle is greatest near there: it is |z''| ℓ²/8 at the middle of an edge of length ℓ."""
    worst = 0.0
    for one, other in (((slice(None), slice(1, None)), (slice(None), slice(-1))),
                       ((slice(1, None), slice(None)), (slice(-1), slice(None))),
                       ((slice(1, None), slice(1, None)), (slice(-1), slice(-1)))):  # the diagonal of each cell
        mid_x, mid_y, mid = (0.5 * (values[one] + values[other]) for values in (x, y, heights))
        worst = max(worst, float(np.abs(_by_formula(shape, mid_x, mid_y, at) - mid).max()))
    return worst


def _greys(folder: Path | None, name: str, at: str) -> Array:
    """The pixels of a picture, 0 black and 1 white, from 8 or 16 bits; colours count by their lightness."""
    from PIL import Image  # few scenes have pictures

    assert folder is not None  # `checks` has refused it
    try:
        with Image.open(folder / name) as picture:
            if 2 * picture.width * picture.height > TRIANGLES.most:
                raise SceneError(f"{at}.file: {name} has {picture.width} × {picture.height} pixels; it must have no "
                                 f"more than {TRIANGLES.most // 2} in all.")
            deep = picture.mode.startswith("I")
            greys = np.asarray(picture if deep else picture.convert("L"), np.float64) / (65535.0 if deep else 255.0)
    except SceneError:
        raise
    except Exception as error:  # the readers raise whatever a broken picture makes them stumble over
        raise SceneError(f"{at}.file: {name} is no picture that can be read; it must be a PNG, TIFF, PGM or JPEG "
                         "file.") from error
    if min(greys.shape) < 2:
        raise SceneError(f"{at}.file: {name} has {greys.shape[1]} × {greys.shape[0]} pixels; it must have two each way "
                         "at least.")
    return greys
