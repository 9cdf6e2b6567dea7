"""A compiled kernel on disk, sealed by a digest: what was cut, emptied or overwritten is never loaded."""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .whole_file import whole_file

SUFFIX, DAMAGED = ".kernel", ".damaged"
SEAL = hashlib.sha256().digest_size  # [bytes] before the pickle


class KernelFile:
    """The file of one kernel, in place of numba's cache of a dispatcher, which unpickles and links whatever it finds.

    It holds the SHA-256 digest of the rest, then a pickle of (its name, signature, compiled kernel). Where the digest
    does not fit the rest, the file is renamed and counts as not there: the kernel is compiled anew and written again.
    Where it cannot be written (read-only or full disk), the kernel is compiled in every process.
    """

    def __init__(self, function: Callable, folder: Path) -> None:
        self.folder = folder
        self._path = folder / f"{function.__name__}-{function.__code__.co_firstlineno}{SUFFIX}"

    @property
    def cache_path(self) -> str:
        """Numba's name for the folder."""
        return str(self.folder)

    def load_overload(self, signature: Any, context: Any) -> CompileResult | None:
        """The compiled kernel, None where there is none of this signature."""
        context.refresh()
        try:
            sealed = self._path.read_bytes()
        except OSError:
            return None
        try:
            if hashlib.sha256(memoryview(sealed)[SEAL:]).digest() != sealed[:SEAL]:
                raise ValueError("not what was written")
            *known, parts = pickle.loads(memoryview(sealed)[SEAL:])
            return CompileResult._rebuild(context, *parts) if known == [self._path.name, signature] else None
        except Exception:  # whole, yet not to be loaded: say, by a library of another version
            with suppress(OSError):
                self._path.replace(self._path.with_name(self._path.name + DAMAGED))
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write the compiled kernel where that is possible."""
        content = dumps((self._path.name, signature, compiled._reduce()))
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)  # someone may have emptied the cache meanwhile
            with whole_file(self._path, sync=False) as file:  # the seal tells after a power cut
                file.write(hashlib.sha256(content).digest())
                file.write(content)
