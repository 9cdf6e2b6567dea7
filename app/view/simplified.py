"""Copies of meshes with fewer triangles, for pictures that the processor draws; each is made once, see `collapsing`."""

import hashlib
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ...physics.core.attached_process import RUN_FILE, attached_process
from ...physics.core.held_folder import ScratchFolder
from ...physics.core.interruption import look_up
from ...physics.core.model import Array
from .collapsing import collapsed

MOST = 20_000  # triangles of one mesh that the processor draws: of 50 000 a picture takes a third longer
KEPT = 16      # copies, the latest used
WORKER = Path(__file__).with_name("collapsing.py")
GLANCE = 0.05  # [s] between looks at the process
Surface = tuple[Array, NDArray[np.integer]]

_kept: dict[bytes, Surface] = {}
_one_at_a_time = Lock()  # the library holds its mesh in globals


def simplified(vertices: Array, triangles: NDArray[np.integer]) -> Surface:
    """A surface of no more than `MOST` triangles near this one, (n, 3) and (m, 3); this one where it has no more. Of a
    million triangles it takes a second."""
    if len(triangles) <= MOST:
        return vertices, triangles
    key = _digest(vertices, triangles)
    with _one_at_a_time:
        _keep(key, _kept.pop(key, None) or collapsed(vertices, triangles, MOST))
        return _kept[key]


def simplify_ahead(vertices: Array, triangles: NDArray[np.integer]) -> None:
    """Make the copy that `simplified` will be asked for in another process, while this one goes on. Where that fails
    `simplified` makes it. Raises Interrupted."""
    if len(triangles) <= MOST or (key := _digest(vertices, triangles)) in _kept:
        return
    with ScratchFolder() as folder:
        source, target = folder / "mesh.npz", folder / "copy.npz"
        np.savez(source, vertices=vertices, triangles=triangles)
        process = attached_process(RUN_FILE, str(WORKER), str(source), str(target), str(MOST))
        try:
            while process.poll() is None:
                look_up()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GLANCE)
        finally:
            process.kill()
            process.wait()
        if process.returncode == 0:
            with np.load(target) as copy, _one_at_a_time:
                _keep(key, (copy["vertices"], copy["triangles"]))


def _digest(vertices: Array, triangles: NDArray[np.integer]) -> bytes:
    found = hashlib.sha1(str(MOST).encode(), usedforsecurity=False)
    for rows in (vertices, triangles):
        found.update(np.ascontiguousarray(rows).data)
    return found.digest()


def _keep(key: bytes, surface: Surface) -> None:
    while len(_kept) >= KEPT:
        del _kept[next(iter(_kept))]
    _kept[key] = surface
