"""NamedTuples of arrays that go into a kernel by one address.

numba unpacks a tuple array by array, and looks at every one for its type, on each call: 20 µs for a `Model`. A tuple
never changes which arrays it holds, so what a kernel needs of it (where each array lies, its shape and strides) can be
written down once, as the bytes of numba's own representation, and be found again by the identity of the tuple: a call
takes about a microsecond. The arrays are borrowed: the packed form keeps the tuple alive, a kernel never returns them.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba.core import types
from numba.core.datamodel.models import TupleModel
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.np import numpy_support

KEPT = 64  # packed tuples of one type at most: those of a few simulations at a time


class Packed(types.NamedTuple):
    """Type of a NamedTuple whose leaves are all arrays, by its address. Its parts are Packed."""


register_model(Packed)(TupleModel)


@unbox(Packed)
def load(kind: Packed, address, c) -> NativeValue:
    """The tuple at an address, an int; nothing is counted, as the caller keeps it."""
    representation = c.context.get_data_type(kind).as_pointer()
    place = c.builder.bitcast(c.pyapi.long_as_voidptr(address), representation)
    return NativeValue(c.context.data_model_manager[kind].load_from_data_pointer(c.builder, place))


def type_of(value: object) -> Any:
    """numba's type of an argument: a Packed one for a NamedTuple of arrays."""
    kind = typeof_impl(value, None)
    return packed_type(kind) or kind


class Pack:
    """Packed form of one tuple."""

    __slots__ = ("address", "of", "words")

    def __init__(self, of: tuple, words: list[int]) -> None:
        self.of = of
        self.words = np.array(words, np.int64)
        self.address = int(self.words.ctypes.data)


class Packs:
    """Packed tuples of one type, found by identity; those packed longest ago are dropped."""

    def __init__(self, kind: Packed) -> None:
        self.kind = kind
        self._leaves = list(_leaves(kind))
        self._packs: dict[int, Pack] = {}
        self.find: Callable[[int], Pack | None] = self._packs.get  #: by id(tuple), which stays its own while it is kept

    def add(self, value: Any) -> Pack:
        """Pack a tuple that is not there yet. Raises TypeError where an array is not of the type that kernels want."""
        if not isinstance(value, self.kind.instance_class):
            raise TypeError(f"a kernel wants {self.kind.instance_class.__name__}, not {type(value).__name__}")
        words: list[int] = []
        for array, (dtype, ndim) in zip(_arrays(value), self._leaves, strict=True):
            if array.dtype != dtype or array.ndim != ndim or not array.flags.carray:
                raise TypeError(f"{type(value).__name__} holds {array.dtype} of {array.ndim} dimensions where kernels "
                                f"expect writable contiguous {dtype} of {ndim}")
            words += (0, 0, array.size, array.itemsize, array.__array_interface__["data"][0])  # see numba's ArrayModel
            words += array.shape
            words += array.strides
        pack = Pack(value, words)
        if len(self._packs) >= KEPT:
            self._packs.pop(next(iter(self._packs)), None)
        self._packs[id(value)] = pack
        return pack

    def clear(self) -> None:
        self._packs.clear()


_KNOWN: dict[Packed, Packs] = {}


def packs_of(kind: Packed) -> Packs:
    """The packed tuples of a type."""
    return _KNOWN.setdefault(kind, Packs(kind))


def forget_packed() -> None:
    """Let go of all tuples that kernels were called with."""
    for packs in _KNOWN.values():
        packs.clear()


def resize(array: np.ndarray, rows: int) -> None:
    """Give an array another number of rows where it is, new ones 0; a packed form that says where it was is dropped."""
    array.resize((rows, *array.shape[1:]), refcheck=False)
    forget_packed()


def packed_type(kind: Any) -> Packed | None:
    """The Packed type for numba's type of a NamedTuple, None where a leaf is no contiguous writable array."""
    if not isinstance(kind, types.BaseNamedTuple):
        return None
    parts = [part if _plain(part) else packed_type(part) for part in kind.types]
    return None if None in parts else Packed(parts, kind.instance_class)


def _plain(kind: Any) -> bool:
    return isinstance(kind, types.Array) and kind.layout == "C" and kind.mutable


def _leaves(kind: Packed) -> Iterator[tuple[np.dtype, int]]:
    for part in kind.types:
        if isinstance(part, Packed):
            yield from _leaves(part)
        else:
            yield numpy_support.as_dtype(part.dtype), part.ndim


def _arrays(value: tuple) -> Iterator[np.ndarray]:
    for part in value:
        if isinstance(part, tuple):
            yield from _arrays(part)
        else:
            yield part
