"""How arrays come into a kernel: borrowed, and those of a NamedTuple by one address, from helper to helper too.

numba unpacks a tuple array by array, looks at every one for its type on each call, 20 µs for a `Model`, and copies what
it found for each helper that it does not inline. But a tuple never changes which arrays it holds: where each lies and
its shape can be written down once, in words of 64 bits, and be found again by the identity of the tuple. A kernel gets
the address of those words and reads of them what it uses. The packed form keeps the tuple alive.

Arrays passed on their own stay where they are too: numba would allocate an owner for each and drop it after the call,
0.1 µs an array. The caller holds them until the kernel is done, and a kernel never returns them.
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

KEPT = 64  # packed tuples of one type at most: those of a few simulations at a time
WORD = 8   # bytes
DATA, SHAPE = range(2)  # words of an array: its address, then its shape

# words of numpy's own array object behind Python's header: data, number of dimensions, shape, strides   [numpy C API]
HEADER, NUMPY_DATA, NUMPY_SHAPE = object.__basicsize__, 0, 2


class Packed(types.Type):
    """Type of a NamedTuple whose leaves are all arrays, by its address. Its parts are Packed."""

    def __init__(self, instance_class: type, parts: tuple) -> None:
        self.instance_class = instance_class
        self.parts = dict(zip(instance_class._fields, parts, strict=True))  # pyright: ignore[reportAttributeAccessIssue]
        told = hashlib.sha256(str(parts).encode()).hexdigest()[:12]
        super().__init__(f"Packed({instance_class.__module__}.{instance_class.__qualname__} {told})")

    @property
    def words(self) -> int:
        return sum(_words(part) for part in self.parts.values())


def _words(kind: Any) -> int:
    return kind.words if isinstance(kind, Packed) else SHAPE + kind.ndim


register_model(Packed)(OpaqueModel)


@unbox(Packed)
def _address(_: Packed, number, c) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(number))


@infer_getattr
class _Part(AttributeTemplate):
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
        loaded.set_metadata("invariant.load", invariant)  # once written they never change
        return loaded

    return _borrowed(context, builder, part, word(DATA), [word(SHAPE + i) for i in range(part.ndim)])


def _borrowed(context, builder, kind: Any, data, shape: list):
    """A contiguous array of that address and shape. It has no owner: nothing is counted."""
    array = arrayobj.make_array(kind)(context, builder)
    itemsize = context.get_constant(types.intp, numpy_support.as_dtype(kind.dtype).itemsize)
    strides = [itemsize]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    arrayobj.populate_array(array, builder.inttoptr(data, array.data.type), shape, strides, itemsize, None)
    return array._getvalue()


def _lent(kind: Any, value, c) -> NativeValue:
    """An array as it lies in numpy's object. Which arrays a kernel takes is checked where it is called."""
    word = ir.IntType(64)
    fields = c.builder.bitcast(c.builder.gep(c.builder.bitcast(value, ir.IntType(8).as_pointer()),
                                             [ir.Constant(word, HEADER)]), word.as_pointer())

    def read(words, k: int):
        return c.builder.load(c.builder.gep(words, [ir.Constant(word, k)]))

    extents = c.builder.inttoptr(read(fields, NUMPY_SHAPE), word.as_pointer())
    shape = [read(extents, i) for i in range(kind.ndim)]
    return NativeValue(_borrowed(c.context, c.builder, kind, read(fields, NUMPY_DATA), shape))


@contextlib.contextmanager
def lent_arrays() -> Iterator[None]:
    """What is compiled within borrows the arrays that Python passes."""
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
            words.append(array.__array_interface__["data"][0])
            words += array.shape
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
