"""A compiled kernel on disk, sealed by a digest: what was cut, emptied or overwritten is never loaded."""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from .on_demand import CELL
from .whole_file import whole_file

SUFFIX, DAMAGED = ".kernel", ".damaged"
SYMBOL = "contactlab:"  # how the symbols begin by which a program calls kernels
SEAL = hashlib.sha256().digest_size  # [bytes] before the pickle


class KernelFile:
    """The file of one kernel, in place of numba's cache of a dispatcher, which unpickles and links whatever it finds.

    It holds the SHA-256 digest of the rest, then a pickle of (its name, signature, the kernels that it calls where they
    stand, compiled kernel). A kernel that it calls is its symbol, the types of the arguments, and whether it need not
    be there before it is reached (see `on_demand`). Code for other types of the same symbol, written by another version
    of the sources, would read tuples amiss: the digest of a module does not know tuples that it does not import.
    Where the digest does not fit the rest, the file is renamed and counts as not there: the kernel is compiled anew and
    written again. Where it cannot be written (read-only or full disk), the kernel is compiled in every process.
    """

    def __init__(self, function: Callable, folder: Path, kinds: Callable[[str, bool], tuple],
                 stands: Callable[[str, tuple, bool], bool]) -> None:
        """kinds: types of the arguments of the kernel of a symbol, which is called now or, if True, later. stands:
        whether it can be called with arguments of these types; the linker ends the process where one cannot."""
        self.folder, self._kinds, self._stands = folder, kinds, stands
        self._path = folder / f"{function.__name__}-{function.__code__.co_firstlineno}{SUFFIX}"

    @property
    def cache_path(self) -> str:
        """Numba's name for the folder."""
        return str(self.folder)

    def load_overload(self, signature: Any, context: Any) -> CompileResult | None:
        """The compiled kernel, None where there is none of this signature (None: of any)."""
        rtsys.initialize(context)  # all that loading takes; what compiling takes numba looks up before that
        try:
            sealed = self._path.read_bytes()
        except OSError:
            return None
        try:
            if hashlib.sha256(memoryview(sealed)[SEAL:]).digest() != sealed[:SEAL]:
                raise ValueError("not what was written")
            name, known, called, parts = pickle.loads(memoryview(sealed)[SEAL:])
            if name != self._path.name or signature not in (known, None):
                return None
            if not all(self._stands(*one) for one in called):
                return None
            return CompileResult._rebuild(context, *parts)
        except Exception:  # whole, yet not to be loaded: say, by a library of another version
            with suppress(OSError):
                self._path.replace(self._path.with_name(self._path.name + DAMAGED))
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write the compiled kernel where that is possible."""
        code = compiled.library._get_module_for_linking()
        symbols = [(f.name, False) for f in code.functions if f.is_declaration and f.name.startswith(SYMBOL)]
        symbols += [(v.name.removeprefix(CELL), True) for v in code.global_variables if v.name.startswith(CELL)]
        called = [(symbol, self._kinds(symbol, later), later) for symbol, later in symbols]
        content = dumps((self._path.name, signature, called, compiled._reduce()))
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)  # someone may have emptied the cache meanwhile
            with whole_file(self._path, sync=False) as file:  # the seal tells after a power cut
                file.write(hashlib.sha256(content).digest())
                file.write(content)


def prefixed(name: str) -> str:
    """The symbol of a kernel of this name."""
    return SYMBOL + name
