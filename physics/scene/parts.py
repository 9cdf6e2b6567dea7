"""Convex parts of a mesh that is not convex, by collision-aware decomposition [Wei et al. 2022], which coacd computes.

It takes seconds to minutes: parts are kept on the disk, by what the surface holds and by the threshold.
"""

import hashlib
import re
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..core.attached_process import RUN_FILE, attached_process
from ..core.held_folder import ScratchFolder
from ..core.jit import CACHE_HOME
from ..core.model import Array
from ..core.progress import at
from ..core.whole_file import whole_file
from .mesh import MeshSurface

PARTS_HOME = CACHE_HOME.with_name("parts")
WORKER = Path(__file__).with_name("parts_process.py")
GLANCE = 0.05  # [s] between looks at the process
ROUND = 0.8    # share of the work that a round of cuts leaves to be done: how many there will be is not known
TAKEN_APART = "it is taken apart into convex parts"  # in what is told of it
VERSION = 1    # of what is kept; a higher one leaves what was kept before


class NoParts(Exception):
    """Why a mesh could not be taken apart, as the end of a sentence."""


def convex_parts(surface: MeshSurface, threshold: float, name: str) -> list[Array]:
    """The vertices (k, 3) of each convex part. threshold: the concavity up to which a part is left as it is, as a share
    of the size. Raises NoParts."""
    kept = PARTS_HOME / f"{_digest(surface, threshold)}.npz"
    parts = _kept(kept, surface)
    if parts is None:
        parts = _taken_apart(surface, threshold, name)
        with suppress(OSError):  # they are found anew the next time
            PARTS_HOME.mkdir(parents=True, exist_ok=True)
            with whole_file(kept, sync=False) as file:
                np.savez(file, vertices=np.concatenate(parts), counts=[len(part) for part in parts])
    return parts


def _digest(surface: MeshSurface, threshold: float) -> str:
    found = hashlib.sha256(f"{VERSION} {threshold!r}".encode())
    for rows in surface:
        found.update(np.ascontiguousarray(rows).tobytes())
    return found.hexdigest()


def _kept(path: Path, surface: MeshSurface) -> list[Array] | None:
    """Parts found earlier; None where there are none, or damaged ones."""
    try:
        return _read(path, surface)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _read(path: Path, surface: MeshSurface) -> list[Array]:
    """Raises ValueError where the file holds no parts of this surface."""
    with np.load(path) as file:
        vertices, counts = file["vertices"], file["counts"]
    lo, hi = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    slack = 0.1 * float((hi - lo).max())  # open surfaces are thickened before they are cut
    if (vertices.ndim != 2 or vertices.shape[1] != 3 or counts.ndim != 1 or not len(counts) or counts.min() < 4
            or counts.sum() != len(vertices) or not ((vertices > lo - slack) & (vertices < hi + slack)).all()):
        raise ValueError("no parts of this surface")
    return np.split(vertices.astype(np.float64), np.cumsum(counts)[:-1])


def _taken_apart(surface: MeshSurface, threshold: float, name: str) -> list[Array]:
    words = f"{name} is hollow: {TAKEN_APART}"
    at(words, 0.0)
    with ScratchFolder() as folder:
        source, target, log = (folder / each for each in ("mesh.npz", "parts.npz", "log.txt"))
        np.savez(source, vertices=surface.vertices, triangles=surface.triangles)
        with log.open("wb") as told:
            process = attached_process(RUN_FILE, str(WORKER), str(source), str(target), repr(threshold), output=told)
        try:
            while process.poll() is None:
                at(words, 1.0 - ROUND ** _rounds(log.read_text(encoding="utf-8", errors="replace")))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GLANCE)
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            reason = log.read_text(encoding="utf-8", errors="replace").strip().rsplit("\n", 1)[-1]
            raise NoParts(f"coacd failed ({reason or f'status {process.returncode}'})")
        try:
            return _read(target, surface)
        except (OSError, ValueError, KeyError) as error:
            raise NoParts("coacd found no parts") from error


def _rounds(log: str) -> float:
    """How many rounds of cuts a log tells of, with the part of the last one that is done."""
    begun = re.findall(r"iter (\d+) -", log)
    done = re.findall(r"Processing \[([\d.]+)%\]", log)
    return int(begun[-1]) + (float(done[-1]) / 100.0 if done else 0.0) if begun else 0.0
