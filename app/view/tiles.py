"""Which tiles of a picture hold something: slow machines work on these alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array
from .camera import Camera

TILE = 16  # [pixels] side of a tile
Boxes = tuple[Array, Array]  # lo and hi (k, 3) [m]; nan for planes
Tiles = NDArray[np.bool_]    # rows from below, columns


class Ranges(NamedTuple):
    """Rectangles of tiles (column, row from below)."""

    first: NDArray[np.intp]  # (k, 2)
    last: NDArray[np.intp]   # (k, 2) after the last; not above `first` where nothing is seen


def covered_tiles(boxes: Boxes, camera: Camera, size: tuple[int, int], margin: float) -> Tiles:
    """Which tiles of a picture of `size` hold what is in boxes, and `margin` pixels around it."""
    return covered(tile_ranges(finite(boxes), camera, size, margin), (-(-size[1] // TILE), -(-size[0] // TILE)))


def finite(boxes: Boxes) -> Boxes:
    """Those that are somewhere."""
    there = np.isfinite(boxes[0]).all(axis=1)
    return boxes[0][there], boxes[1][there]


def covered(ranges: Ranges, shape: tuple[int, int]) -> Tiles:
    """Which of so many rows and columns of tiles lie in one of the rectangles."""
    return counted(ranges, shape) > 0.5


def counted(ranges: Ranges, shape: tuple[int, int]) -> Array:
    """In how many of the rectangles each of so many rows and columns of tiles lies."""
    # +1 and -1 at the corners of each rectangle of tiles; their running sums count the rectangles over each tile
    count = np.zeros((shape[0] + 1, shape[1] + 1))
    first, last = ranges
    for x, y, sign in ((first, first, 1), (last, first, -1), (first, last, -1), (last, last, 1)):
        np.add.at(count, (y[:, 1], x[:, 0]), sign)
    return count.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]


def tile_ranges(boxes: Boxes, camera: Camera, size: tuple[int, int], margin: float) -> Ranges:
    """Of each box, with `margin` pixels around it."""
    centre, half = 0.5 * (boxes[0] + boxes[1]), 0.5 * (boxes[1] - boxes[0])
    axes = camera.axes
    local = (centre - camera.eye) @ axes.T
    reach = half @ np.abs(axes).T
    near, far = -local[:, 2] - reach[:, 2], -local[:, 2] + reach[:, 2]
    unseen, behind = far < camera.near, near < camera.near
    near[behind] = far[behind] = 1.0
    left, right = local[:, :2] - reach[:, :2], local[:, :2] + reach[:, :2]
    scale = 1.0 / camera.pixel_angle(size[1])
    start = np.minimum(left / near[:, None], left / far[:, None]) * scale
    end = np.maximum(right / near[:, None], right / far[:, None]) * scale
    start[behind], end[behind] = -np.inf, np.inf  # partly behind the eye: anywhere
    end[unseen] = -np.inf
    middle, tiles = 0.5 * np.array(size), np.array([-(-size[0] // TILE), -(-size[1] // TILE)])
    first = np.clip(np.floor((middle + start - margin) / TILE), 0, tiles)
    last = np.clip(np.floor((middle + end + margin) / TILE) + 1, 0, tiles)
    return Ranges(first.astype(int), last.astype(int))


def touching(tiles: Tiles, ranges: Ranges) -> NDArray[np.bool_]:
    """(k,) which of the rectangles hold one of the tiles."""
    count = np.zeros((tiles.shape[0] + 1, tiles.shape[1] + 1), np.int32)  # of those below and to the left
    count[1:, 1:] = tiles.cumsum(axis=0).cumsum(axis=1)
    (left, low), (right, high) = ranges.first.T, ranges.last.T
    right, high = np.maximum(left, right), np.maximum(low, high)
    return count[high, right] - count[low, right] - count[high, left] + count[low, left] > 0


def tile_corners(tiles: Tiles, size: tuple[int, int]) -> Array:
    """Triangles (6 k, 2) over the runs of tiles that are set, in the coordinates -1..1 of a picture of `size`."""
    edges = np.diff(tiles.astype(np.int8), axis=1, prepend=0, append=0)
    rows, first = np.nonzero(edges > 0)
    _, last = np.nonzero(edges < 0)
    lo, hi = np.column_stack([first, rows]) * TILE, np.column_stack([last, rows + 1]) * TILE
    share = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]])
    return 2.0 * (lo[:, None] + (hi - lo)[:, None] * share).reshape(-1, 2) / size - 1.0
