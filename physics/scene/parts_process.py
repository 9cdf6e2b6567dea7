"""Takes a mesh apart with coacd, in a process of its own; arguments: IN.npz OUT.npz THRESHOLD

It can be ended at any time, and where coacd breaks, only this process does. coacd tells its rounds on stdout.
"""

import os
import sys

import coacd
import numpy as np

LATER = 10  # niceness: the window and the run go first
#: how long coacd searches for each cut: a third of its default time, for about as many parts as good
ITERATIONS, DEPTH, SAMPLES = 60, 2, 1000


def take_apart(source: str, target: str, threshold: float) -> None:
    """Write the vertices of all parts (v, 3), one part after the other, and how many each has (p,)."""
    with np.load(source) as mesh:
        vertices, triangles = mesh["vertices"], mesh["triangles"]
    coacd.set_log_level("info")
    parts = coacd.run_coacd(coacd.Mesh(vertices, triangles), threshold=threshold, mcts_iterations=ITERATIONS,
                            mcts_max_depth=DEPTH, resolution=SAMPLES)
    np.savez(target, vertices=np.concatenate([part[0] for part in parts]), counts=[len(part[0]) for part in parts])


if __name__ == "__main__":
    os.nice(LATER)
    take_apart(sys.argv[1], sys.argv[2], float(sys.argv[3]))
