"""A mesh with fewer triangles: edges are collapsed where that moves the surface least, by quadric error [Garland &
Heckbert 1997], which fast-simplification computes. As a program: IN.npz OUT.npz COUNT
"""

import sys

import numpy as np
from numpy.typing import NDArray

CARE = 3.0   # of 0 … 10, where the library is used with 7: 80 of 50 000 triangles fold over, with 1 too many are left
SAME = 1e-6  # of the size: vertices so near are one, as in `geometry.smoothed`


def collapsed(vertices: NDArray[np.float64], triangles: NDArray[np.integer], count: int
              ) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
    """At most `count` of the triangles (m, 3) of vertices (n, 3), where edges can be collapsed. Holds Python's lock."""
    import fast_simplification  # not before there is such a mesh

    middle, size = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)), float(np.ptp(vertices, axis=0).max())
    cells = np.rint((vertices - middle) / (SAME * size)).astype(np.int64) + round(1.0 / SAME)  # each within 2^21
    keys = (cells[:, 0] << 42) + (cells[:, 1] << 21) + cells[:, 2]
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    # about the middle and of the size 1, so that what the library takes for zero is so at any scale
    unit, corners = (vertices[first] - middle) / size, of.reshape(-1)[triangles].astype(np.int32)
    points, faces = fast_simplification.simplify(unit, corners, target_count=count, agg=CARE)[:2]
    return middle + size * points, faces


if __name__ == "__main__":
    with np.load(sys.argv[1]) as mesh:
        made = collapsed(mesh["vertices"], mesh["triangles"], int(sys.argv[3]))
    np.savez(sys.argv[2], vertices=made[0], triangles=made[1])
