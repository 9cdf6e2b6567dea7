"""Less code for LLVM to read and to take out again: what numba writes and nothing needs.

To read one item of an array numba writes sixty instructions. It puts the descriptor of the array, seven fields, into
memory and reads field by field from there; where the life of a variable ends, it takes all fields out of the value to
find the owner of the array, and it takes care of variables that cannot own anything, numbers and packed tuples, as if
they could. Of the 440 000 lines that a first start wrote, 1500 were sums, products and comparisons of floating-point
numbers. LLVM takes the rest out, but each line costs a tenth of a millisecond on its way there: to make it in Python,
to print it, to parse it and to optimise it.

So fields are taken from values, numbers need no care, variables that are assigned once need no place in memory, and
what nothing reads is left out before it is printed. LLVM comes to the same instructions.
"""

from collections import Counter
from typing import Any

from llvmlite import ir
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.callconv import CPUCallConv
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.cpython import slicing
from numba.np import arrayobj

_extract, _make_array = ir.IRBuilder.extract_value, arrayobj.make_array
_find_single, _store, _delete = Lower._find_singly_assigned_variable, Lower.storevar, Lower.delvar
_propagate, _add, _multiply = CPUCallConv.return_status_propagate, ir.IRBuilder.add, ir.IRBuilder.mul
_wrap = slicing.fix_index

#: operations without an effect beside their result
UNREAD = frozenset((
    "alloca", "load", "getelementptr", "extractvalue", "insertvalue", "icmp", "fcmp", "select", "add", "sub", "mul",
    "and", "or", "xor", "fadd", "fsub", "fmul", "bitcast", "inttoptr", "ptrtoint", "sext", "zext", "trunc", "sitofp",
    "uitofp"))

#: by type, which keeps its identity taken: whether arrays in its values can have owners
_OWNED: dict[int, tuple[Any, bool]] = {}


def _field(builder: Any, value: Any, place: Any, name: str = "") -> Any:
    """In place of llvmlite's method: the field in this place of a value, as it was put there where that is known."""
    put = value
    while isinstance(put, ir.instructions.InsertValue) and isinstance(place, int) and len(put.indices) == 1:
        if put.indices[0] == place:
            return put.value
        put = put.aggregate
    return _extract(builder, value, place, name)


class Descriptor:
    """An array whose descriptor is a value, in place of numba's copy of it in memory."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any = None) -> None:
        """value: none before its fields are set."""
        model = context.data_model_manager[kind]
        nothing = ir.Constant(model.get_value_type(), ir.Undefined)
        for name, held in (("_context", context), ("_builder", builder), ("_fe_type", kind), ("_datamodel", model),
                           ("_value", nothing if value is None else value)):
            object.__setattr__(self, name, held)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of its place in memory
            return getattr(_make_array(self._fe_type)(self._context, self._builder, self._value), name)
        return self._builder.extract_value(self._value, self._datamodel.get_field_position(name))

    def __setattr__(self, name: str, field: Any) -> None:
        value = self._builder.insert_value(self._value, field, self._datamodel.get_field_position(name))
        object.__setattr__(self, "_value", value)

    def _getvalue(self) -> Any:
        return self._value


def _made_array(kind: Any) -> Any:
    """In place of numba's function: what makes arrays of a type. One that has a value is a Descriptor."""
    def make(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        if value is None or type(kind) is not types.Array:
            return _make_array(kind)(context, builder, value, ref)
        return Descriptor(context, builder, kind, value)

    return make


def _made_view(context: Any, builder: Any, _: Any, array: Any, kind: Any, data: Any, shape: list, strides: list) -> Any:
    """In place of numba's function: a view of an array."""
    view = Descriptor(context, builder, kind)
    arrayobj.populate_array(view, data, shape, strides, array.itemsize, array.meminfo, array.parent)
    return view


def can_be_owned(context: Any, kind: Any) -> bool:
    """Whether arrays in values of this type can have owners."""
    if id(kind) not in _OWNED:
        _OWNED[id(kind)] = kind, context.data_model_manager[kind].contains_nrt_meminfo()
    return _OWNED[id(kind)][1]


def _owners(self: Any, builder: Any, kind: Any, value: Any) -> list:
    """In place of numba's method: the owners in a value, which are looked for only where its type can have any."""
    if not can_be_owned(self._context, kind):
        return []
    model = self._context.data_model_manager[kind]
    found = []
    if type(kind) is types.Array:
        owner = builder.extract_value(value, model.get_field_position("meminfo"))
        return [] if isinstance(owner, ir.Constant) else [(kind, owner)]
    if model.has_nrt_meminfo():
        found.append((kind, model.get_nrt_meminfo(builder, value)))
    for part, taken in model.traverse(builder):
        if can_be_owned(self._context, part):
            found += self.get_meminfos(builder, part, taken(value))
    return found


def _found_single(self: Any) -> None:
    """In place of numba's method: find the variables that need no place in memory. For numba these are the ones that
    one block alone knows; here also the others that are assigned once. numba has brought the function into the form in
    which the block that assigns such a variable is on every way to one that reads it."""
    _find_single(self)
    assigned = Counter(s.target.name for block in self.blocks.values() for s in block.find_insts(numba_ir.Assign))
    alone = not self.func_ir.is_generator and not self._disable_sroa_like_opt
    self.assigned_once = {name for name, count in assigned.items() if count == 1 and alone}
    self._singly_assigned_vars |= {
        name for name in self.assigned_once if not can_be_owned(self.context, self.typeof(name))}


def _stored(self: Any, value: Any, name: str, argidx: int | None = None) -> None:
    """In place of numba's method: store a variable; one that can own nothing needs no look at what it held."""
    kind = self.typeof(name)
    if self._disable_sroa_like_opt:
        _store(self, value, name, argidx)
    elif name in self._singly_assigned_vars or (name in self.assigned_once and _has_no_owner(self, kind, value)):
        self._blk_local_varmap[name] = value
    elif can_be_owned(self.context, kind):
        _store(self, value, name, argidx)
    else:
        self._alloca_var(name, kind)
        self.builder.store(value, self.getvar(name))


def _has_no_owner(self: Any, kind: Any, value: Any) -> bool:
    """Whether it is known that this array has no owner."""
    return type(kind) is types.Array and not self.context.nrt.get_meminfos(self.builder, kind, value)


def _deleted(self: Any, name: str) -> None:
    """In place of numba's method: the end of a variable's life."""
    kind = self.typeof(name)
    if self._disable_sroa_like_opt or can_be_owned(self.context, kind):
        _delete(self, name)
    elif name not in self._blk_local_varmap:
        self._singly_assigned_vars.discard(name)
        self._alloca_var(name, kind)


def _propagated(self: Any, builder: Any, status: Any) -> None:
    """In place of numba's method: return the error of a function that was called. Where nothing that catches errors
    came before it in the caller, no variable is asked whether it is to be caught."""
    if hasattr(builder, "_CPUCallConv__eh_try_state"):
        _propagate(self, builder, status)
    else:
        builder.store(status.excinfoptr, self._get_excinfo_argument(builder.function))
        self._return_errcode_raw(builder, status.code)


def _is(value: Any, number: int) -> bool:
    return isinstance(value, ir.Constant) and value.constant == number


def _sum(self: Any, lhs: Any, rhs: Any, *more: Any, **flags: Any) -> Any:
    """In place of llvmlite's method: the sum of two integers."""
    return rhs if _is(lhs, 0) else lhs if _is(rhs, 0) else _add(self, lhs, rhs, *more, **flags)


def _product(self: Any, lhs: Any, rhs: Any, *more: Any, **flags: Any) -> Any:
    """In place of llvmlite's method: the product of two integers."""
    return rhs if _is(lhs, 1) else lhs if _is(rhs, 1) else _multiply(self, lhs, rhs, *more, **flags)


def _item_at(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """In place of numba's function: where an item stands, of this kind of index. Only one that is written as a number
    counts from the back: all that kernels compute count from the front, and to ask each of them for its sign takes a
    fifteenth of a step of many hulls. The bounds of slices are asked."""
    place = context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)
    back = isinstance(place, ir.Constant) and isinstance(place.constant, int) and place.constant < 0
    return _wrap(builder, place, size) if back else place


def _wrapped(builder: Any, index: Any, size: Any) -> Any:
    """In place of numba's function: an index from the front for one from the back."""
    known = isinstance(index, ir.Constant) and isinstance(index.constant, int) and index.constant >= 0
    return index if known else _wrap(builder, index, size)


def _operands(instruction: Any) -> Any:
    """What an instruction reads; what it writes to is not read."""
    if isinstance(instruction, ir.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands[:1] if _is_put(instruction) else instruction.operands


def _is_put(instruction: Any) -> bool:
    """Whether it stores something in the function's own memory."""
    return instruction.opname == "store" and isinstance(instruction.operands[1], ir.AllocaInstr)


def leave_out_unread(module: ir.Module) -> None:
    """Take out instructions whose result nothing reads."""
    for function in module.functions:
        uses: Counter = Counter()
        for block in function.blocks:
            for instruction in block.instructions:
                uses.update(map(id, _operands(instruction)))
        for block in reversed(function.blocks):
            kept = []
            for instruction in reversed(block.instructions):
                result = instruction.operands[1] if _is_put(instruction) else instruction
                if (result is not instruction or instruction.opname in UNREAD) and not uses[id(result)]:
                    uses.subtract(map(id, _operands(instruction)))
                else:
                    uses[id(result)] += 1
                    kept.append(instruction)
            block.instructions = kept[::-1]


#: (class or module of numba, name, what takes its place)
IN_PLACE = (
    (ir.IRBuilder, "extract_value", _field),
    (ir.IRBuilder, "add", _sum),
    (ir.IRBuilder, "mul", _product),
    (slicing, "fix_index", _wrapped),
    (arrayobj, "fix_integer_index", _item_at),
    (arrayobj, "make_array", _made_array),
    (arrayobj, "make_view", _made_view),
    (NRTContext, "get_meminfos", _owners),
    (Lower, "_find_singly_assigned_variable", _found_single),
    (Lower, "storevar", _stored),
    (Lower, "delvar", _deleted),
    (CPUCallConv, "return_status_propagate", _propagated),
)
