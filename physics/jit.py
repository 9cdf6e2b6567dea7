"""Numba as we use it: `@kernel` for what Python calls, `@helper` for what kernels call, one cache keyed by the sources.

numba's own cache looks only at the file of the cached function, so a kernel would keep running an old helper
from another file. The cache folder is therefore named by a digest of every engine source.
"""

import hashlib
import pathlib
import shutil
import time
from collections.abc import Callable
from typing import Any

import numba
import platformdirs

KEPT_CACHES = 4  # digests kept on disk: switching between a few checkouts must not recompile


def _source_digest() -> str:
    root = pathlib.Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _prepare_cache() -> pathlib.Path:
    """Point numba at this version's cache folder and drop the oldest folders of other versions."""
    home = pathlib.Path(platformdirs.user_cache_dir("contactlab", appauthor=False)) / "kernels"
    folder = home / _source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "used").write_text(str(time.time()))
        stamps = {p: (p / "used").stat().st_mtime for p in home.iterdir() if (p / "used").exists()}
        for old in sorted(stamps, key=lambda p: stamps[p], reverse=True)[KEPT_CACHES:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:  # a read-only home: kernels compile anew in every process
        pass
    return folder


CACHE_FOLDER = _prepare_cache()
numba.config.CACHE_DIR = str(CACHE_FOLDER)

KERNELS: list[Any] = []


def kernel(function: Callable) -> Any:
    """Compile a function that Python calls: releases the GIL, cached on disk, exactly one signature (tested)."""
    compiled = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    KERNELS.append(compiled)
    return compiled


def helper(function: Callable) -> Any:
    """Compile a function that only kernels call; it is stored inside its callers' cache entries."""
    return numba.njit(nogil=True, error_model="numpy")(function)
