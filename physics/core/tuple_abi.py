"""How arrays come into a kernel: an array is borrowed, a NamedTuple of arrays is passed as one address.

numba unpacks a tuple array by array. On each call it determines the type of every array, 20 µs for a `Model`, and it
copies the array descriptors for each helper that it does not inline. But a tuple never changes which arrays it holds.
So the address and the shape of each array are written once into 64-bit words, which are found again by the identity of
the tuple. A kernel gets the address of those words, reads the ones it uses, and hands the address on to its helpers.
The packed form keeps the tuple alive.

An array that is passed on its own is borrowed too. numba would allocate an owner object for it and drop that after the
call, 0.1 µs an array. The caller keeps the arrays alive until the kernel returns, and a kernel never returns an array.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import boxing, pythonapi, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.models import OpaqueModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, typeof_impl, unbox
from numba.np import arrayobj, numpy_support

from .lean_code import Descriptor

MOST_PACKS = 64  # packed tuples kept of one type: those of a few simulations at a time
WORD = 8         # size of a word [bytes]
DATA, SHAPE = range(2)  # words of an array: its address, then one for each dimension

# numpy's own array object: words behind Python's header [bytes] are data, number of dimensions, shape   [numpy C API]
HEADER, NUMPY_DATA, NUMPY_SHAPE = object.__basicsize__, 0, 2


class Packed(types.Type):
    """Type of a NamedTuple whose leaves are all arrays, passed by its address. Its parts are arrays or Packed."""

    def __init__(self, instance_class: type, parts: tuple) -> None:
        self.instance_class = instance_class
        self.parts = dict(zip(instance_class._fields, parts, strict=True))  # pyright: ignore[reportAttributeAccessIssue]
        digest = hashlib.sha256(str(self.parts).encode()).hexdigest()[:12]
        super().__init__(f"Packed({instance_class.__module__}.{instance_class.__qualname__} {digest})")

    @property
    def words(self) -> int:
        """Number of words of the packed form."""
        return sum(_words(part) for part in self.parts.values())


def _words(kind: Any) -> int:
    return kind.words if isinstance(kind, Packed) else SHAPE + kind.ndim


register_model(Packed)(OpaqueModel)


@unbox(Packed)
def _address(_: Packed, number, c) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(number))


@infer_getattr
class _PackedPart(AttributeTemplate):
    key = Packed

    def generic_resolve(self, value: Packed, attr: str) -> Any:
        return value.parts.get(attr)


@lower_getattr_generic(Packed)
def _part(context, builder, kind: Packed, address, name: str):
    """A part: again an address, or an array whose words are read there."""
    before = 0
    for other, part in kind.parts.items():
        if other == name:
            break
        before += _words(part)
    part = kind.parts[name]
    place = builder.gep(address, [ir.Constant(ir.IntType(64), before * WORD)])
    if isinstance(part, Packed):
        return place
    words = builder.bitcast(place, ir.IntType(64).as_pointer())
    invariant = builder.module.add_metadata([])

    def word(k: int):
        loaded = builder.load(builder.gep(words, [ir.Constant(ir.IntType(64), k)]))
        loaded.set_metadata("invariant.load", invariant)  # a word never changes once it is written
        return loaded

    return borrowed(context, builder, part, word(DATA), [word(SHAPE + i) for i in range(part.ndim)])


def borrowed(context, builder, kind: Any, data, shape: list):
    """A contiguous array of that address and shape. It has no owner: nothing is counted."""
    array = Descriptor(context, builder, kind)
    itemsize = context.get_constant(types.intp, numpy_support.as_dtype(kind.dtype).itemsize)
    strides = [itemsize]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    pointer = builder.inttoptr(data, context.get_data_type(kind.dtype).as_pointer())
    arrayobj.populate_array(array, pointer, shape, strides, itemsize, None)
    return array._getvalue()


def _lent(kind: Any, value, c) -> NativeValue:
    """An array read from numpy's own object, without an owner. The dispatcher has checked its type before."""
    word = ir.IntType(64)
    fields = c.builder.bitcast(c.builder.gep(c.builder.bitcast(value, ir.IntType(8).as_pointer()),
                                             [ir.Constant(word, HEADER)]), word.as_pointer())

    def read(words, k: int):
        return c.builder.load(c.builder.gep(words, [ir.Constant(word, k)]))

    extents = c.builder.inttoptr(read(fields, NUMPY_SHAPE), word.as_pointer())
    shape = [read(extents, i) for i in range(kind.ndim)]
    return NativeValue(borrowed(c.context, c.builder, kind, read(fields, NUMPY_DATA), shape))


@contextlib.contextmanager
def lent_arrays() -> Iterator[None]:
    """Kernels compiled within this context borrow the arrays that Python passes."""
    unboxers: Any = pythonapi._unboxers.functions
    with global_compiler_lock:
        own = boxing.unbox_array
        unboxers[types.Array] = _lent
        try:
            yield
        finally:
            unboxers[types.Array] = own


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
    """The packed tuples of one type, found by identity; the one packed longest ago is dropped beyond MOST_PACKS."""

    def __init__(self, kind: Packed) -> None:
        self.kind = kind
        self._leaves = list(_leaves(kind))
        self._packs: dict[int, Pack] = {}
        self.find: Callable[[int], Pack | None] = self._packs.get  #: by id(tuple), unique while the tuple is kept

    def add(self, value: Any) -> Pack:
        """Pack a tuple that is not there yet. Raises TypeError where an array is not of the type that kernels want."""
        if not isinstance(value, self.kind.instance_class):
            raise TypeError(f"a kernel wants {self.kind.instance_class.__name__}, not {type(value).__name__}")
        words: list[int] = []
        for array, (dtype, ndim) in zip(_arrays(value), self._leaves, strict=True):
            if array.dtype != dtype or array.ndim != ndim or not array.flags.carray:
                raise TypeError(f"{type(value).__name__} holds {array.dtype} of {array.ndim} dimensions where kernels "
                                f"expect writable contiguous {dtype} of {ndim}")
            words.append(array.__array_interface__["data"][0])
            words += array.shape
        pack = Pack(value, words)
        if len(self._packs) >= MOST_PACKS:
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
    """Drop the packed forms of all tuples that kernels were called with."""
    for packs in _KNOWN.values():
        packs.clear()


def resize(array: np.ndarray, rows: int) -> None:
    """Change the number of rows of an array in place, new rows 0. All packed forms are dropped: its data may move."""
    array.resize((rows, *array.shape[1:]), refcheck=False)
    forget_packed()


def packed_type(kind: Any) -> Packed | None:
    """The Packed type for numba's type of a NamedTuple, None where a leaf is no contiguous writable array."""
    fields, own = getattr(kind, "types", ()), getattr(kind, "instance_class", None)
    if own is None:
        return None
    parts = tuple(part if _plain(part) else packed_type(part) for part in fields)
    return None if None in parts else Packed(own, parts)


def _plain(kind: Any) -> bool:
    return isinstance(kind, types.Array) and kind.layout == "C" and kind.mutable and kind.ndim > 0


def _leaves(kind: Packed) -> Iterator[tuple[np.dtype, int]]:
    for part in kind.parts.values():
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
