"""Which edges of a surface are seen as lines: where it ends, bends sharply, or turns away from the eye.

A software renderer smooths edges on the finished picture, at ten times the cost of a pixel that it copies. Inside of a
large mesh of small triangles there is nothing to smooth.
"""

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array
from .geometry import OF_COPY
from .instances import rotated


class Silhouette:
    """Of a surface: vertices (n, 3), triangles (m, 3)."""

    def __init__(self, vertices: Array, triangles: NDArray[np.integer]) -> None:
        corners = vertices[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self._normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        self._levels = np.einsum("ij,ij->i", self._normals, corners[:, 0])
        ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends, face = ends[order], order // 3
        first = np.flatnonzero(np.r_[True, (ends[1:] != ends[:-1]).any(axis=1)])
        count = np.diff(np.r_[first, len(ends)])
        paired, self._ends = count == 2, vertices[ends[first]]
        self._faces = np.stack([face[first], face[np.where(paired, first + 1, first)]], axis=1)
        cosine = np.einsum("ij,ij->i", *self._normals[self._faces.T])
        self._lines = ~paired | (cosine < OF_COPY)

    def boxes(self, eye: Array, place: Array, turn: Array) -> tuple[Array, Array]:
        """Boxes lo, hi (k, 3) of the edges seen from `eye` as lines, where the surface is at `place`, turned by the
        quaternion `turn` [m]."""
        back = turn * np.array([1.0, -1.0, -1.0, -1.0])
        towards = self._normals @ rotated(back[None], (eye - place)[None])[0] > self._levels
        seen = self._lines | (towards[self._faces[:, 0]] != towards[self._faces[:, 1]])
        ends = self._ends[seen].reshape(-1, 3)
        ends = (rotated(np.broadcast_to(turn, (len(ends), 4)), ends) + place).reshape(-1, 2, 3)
        return ends.min(axis=1), ends.max(axis=1)
