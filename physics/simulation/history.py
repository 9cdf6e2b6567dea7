"""History: every step of a run can be reached again exactly, within a bounded memory.

The history keeps states (keyframes), the inputs of every step (settings and loads) and a hash of every state. A state
between two keyframes is found by stepping again from the earlier one with the recorded inputs, which gives the same
bits; the hashes show whether it does. While memory lasts every state is a keyframe. Then the older half is thinned, and
at last the oldest keyframes are dropped.

A file of a run (run.recording) holds the same parts, so a history that was read from one is like one that was recorded.
"""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.limits import HISTORY
from ..core.report import Settings
from ..core.state import State, empty_state
from ..dynamics.forces import Loads

BUDGET = HISTORY.most      # memory of a history [bytes]
KEYFRAME_OVERHEAD = 150    # memory that Python needs for a keyframe beside its data [bytes]
INPUTS_OVERHEAD = 200      # memory that Python needs for the inputs of a step beside their arrays [bytes]
MOST_STEPS_BETWEEN = 64    # steps from one keyframe to the next: bounds the time to seek
HASH = 4                   # length of the hash of a state [bytes]: two states that differ agree in it once in 2**32
EMPTY = empty_state(0)     # a State of the types that keyframes are unpacked to


class Inputs(NamedTuple):
    """What a step depends on beside the state."""

    settings: Settings
    loads: Loads | None  #: None = no force, torque or grab


class Keyframe(NamedTuple):
    """A state as bytes: the headers of its arrays would take more memory than their data."""

    step: int
    data: bytes
    shapes: tuple[tuple[int, ...], ...]  #: of all arrays; keyframes with the same shapes share one object

    @property
    def state(self) -> State:
        """The state, as arrays of its own."""
        return _unpacked(EMPTY, iter(self.shapes), memoryview(self.data), [0])

    @property
    def time(self) -> float:
        """Time of the state [s]: its first number."""
        return float(np.frombuffer(self.data, count=1)[0])

    @property
    def size(self) -> int:
        """Memory of the keyframe [bytes]."""
        return len(self.data) + KEYFRAME_OVERHEAD


class Stretch(NamedTuple):
    """Some recorded steps in a row."""

    keyframe: Keyframe                        #: the first state
    count: int                                #: steps that were made from it
    hashes: bytes                             #: HASH bytes for each state from the first one on: count or count + 1
    inputs: tuple[tuple[int, Inputs], ...]    #: from which step on inputs held; the first are those of the first step


class History:
    """Keyframes by step number, and the inputs of the steps between; `record` before every step."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.clear()

    def clear(self) -> None:
        """Forget everything; the next recorded step is the first one."""
        self.last = 0                        #: number of the step recorded last
        self.differs: int | None = None      #: the first step found to differ where it was made again
        self.keyframes: list[Keyframe] = []
        self._changes: list[int] = []        # steps whose inputs differ from those of the step before
        self._inputs: list[Inputs] = []
        self._hashes = bytearray()           # of the states from step _hashed on; those of the last ones may be due
        self._hashed = 0
        self._of: State | None = None        # the state recorded last
        self._parts: list[Any] = []          # its arrays
        self._shapes: dict[Any, Any] = {}    # of its arrays, by the rows of its tables that grow
        self._size = 0

    @property
    def first(self) -> int:
        """Earliest step that can be reached."""
        return self.keyframes[0].step if self.keyframes else self.last

    def holds(self, step: int) -> bool:
        """Whether the step from the state after step number `step` is recorded."""
        return bool(self.keyframes) and self.first <= step <= self.last

    def record(self, step: int, state: State, inputs: Inputs) -> None:
        """Record the state after step number `step` and the inputs of the next step.

        Recording a step that is known already starts a new branch: everything after it is forgotten. Every step of a
        run pays for this, so the arrays of the state are looked up once, and its hash is found when it is asked for.
        """
        if state is not self._of:
            self._of, self._parts, self._shapes = state, list(arrays(state)), {}
        rows = len(state.memory.key), len(state.surfaces.key), len(state.sleep.facing)
        shapes = self._shapes.get(rows)
        if shapes is None:
            shapes = self._shapes[rows] = tuple(a.shape for a in self._parts)
        self.forget_from(step)
        self._append(Keyframe(step, b"".join(self._parts), shapes), 1, ((step, inputs),))

    def join(self, stretch: Stretch) -> None:
        """Append recorded steps; everything from the first of them on is forgotten. Where they leave a gap behind what
        is known, nothing before them is kept."""
        self.forget_from(stretch.keyframe.step)
        self._find_hashes()
        self._append(stretch.keyframe, stretch.count, stretch.inputs)
        self._hashes += stretch.hashes

    def _append(self, keyframe: Keyframe, count: int, inputs: Sequence[tuple[int, Inputs]]) -> None:
        """Steps that nothing recorded follows."""
        if keyframe.step > self.last + 1:
            self.clear()
        if not self.keyframes:
            self._hashed = keyframe.step
        self.keyframes.append(keyframe)
        self._size += keyframe.size
        for step, given in inputs:
            if not self._inputs or not _same(self._inputs[-1], given):
                self._changes.append(step)
                self._inputs.append(given)
                self._size += _loads_size(given)
        self.last = keyframe.step + count - 1
        while self._size + HASH * (self.last + 1 - self._hashed) > self.budget and len(self.keyframes) > 2:
            self._thin()

    def _find_hashes(self) -> None:
        """Find the hashes that are due: of the last states recorded, each of which is a keyframe."""
        due = self.last + 1 - self._hashed - len(self._hashes) // HASH
        for keyframe in self.keyframes[-due:] if due > 0 else ():
            self._hashes += hash_of(keyframe.data)

    def stretch(self, step: int, last: int, end: State | None = None) -> Stretch:
        """The recorded steps from the last keyframe not after `step` up to step number `last`; `end`: the state that
        they lead to, where its hash is wanted too."""
        self._find_hashes()
        keyframe = self.keyframe(step)
        low, high = bisect_right(self._changes, keyframe.step) - 1, bisect_right(self._changes, last)
        inputs = zip(self._changes[low:high], self._inputs[low:high], strict=True)
        hashes = bytes(self._hashes[HASH * (keyframe.step - self._hashed) : HASH * (last + 1 - self._hashed)])
        return Stretch(keyframe, last + 1 - keyframe.step, hashes + (b"" if end is None else hash_of_state(end)),
                       tuple((max(change, keyframe.step), given) for change, given in inputs))

    def check(self, step: int, state: State) -> bool:
        """Whether a state that was made again is the recorded one, as far as its hash tells. The first step that
        differs is kept in `differs`."""
        self._find_hashes()
        at = HASH * (step - self._hashed)
        known = self._hashes[at : at + HASH] if at >= 0 else b""
        if not known or known == hash_of_state(state):
            return True
        self.differs = step if self.differs is None else min(step, self.differs)
        return False

    def keyframe(self, step: int) -> Keyframe:
        """The latest keyframe not after `step`."""
        row = bisect_right(self.keyframes, step, key=lambda k: k.step) - 1
        if row < 0:
            raise ValueError(f"step {step} is not in the history, which begins at step {self.first}")
        return self.keyframes[row]

    def inputs(self, step: int) -> Inputs:
        """The inputs with which the state after step number `step` was advanced."""
        return self._inputs[bisect_right(self._changes, step) - 1]

    def forget_from(self, step: int) -> None:
        """Drop what was recorded for `step` and later steps."""
        while self.keyframes and self.keyframes[-1].step >= step:
            self._size -= self.keyframes.pop().size
        while self._changes and self._changes[-1] >= step:
            self._changes.pop()
            self._size -= _loads_size(self._inputs.pop())
        del self._hashes[max(HASH * (step - self._hashed), 0) :]
        self.last = min(self.last, step - 1)
        if self.differs is not None and self.differs >= step:
            self.differs = None

    def _thin(self) -> None:
        """Free memory: drop every second keyframe of the older half as far as MOST_STEPS_BETWEEN allows, else the
        oldest keyframe."""
        self._find_hashes()
        half = len(self.keyframes) // 2
        kept = [self.keyframes[0]]
        for row in range(1, half):
            following = self.keyframes[row + 1].step
            if kept[-1] is self.keyframes[row - 1] and following - kept[-1].step <= MOST_STEPS_BETWEEN:
                self._size -= self.keyframes[row].size
            else:
                kept.append(self.keyframes[row])
        if len(kept) < half:
            self.keyframes[:half] = kept
            return
        self._size -= self.keyframes.pop(0).size
        del self._hashes[: HASH * (self.first - self._hashed)]
        self._hashed = self.first
        while len(self._changes) > 1 and self._changes[1] <= self.first:
            self._changes.pop(0)
            self._size -= _loads_size(self._inputs.pop(0))


def hash_of(data: bytes) -> bytes:
    """The hash of a state that is given as bytes: its CRC-32, which costs a third of what SHA-256 does."""
    return zlib.crc32(data).to_bytes(HASH)


def hash_of_state(state: State) -> bytes:
    """HASH bytes that tell whether two states are the same to the last bit."""
    return hash_of(b"".join(arrays(state)))


def arrays(part: Any) -> Iterator[Any]:
    """All arrays of a tuple of tuples, in order."""
    if isinstance(part, np.ndarray):
        yield part
    else:
        for inner in part:
            yield from arrays(inner)


def _unpacked(like: Any, shapes: Iterator[tuple[int, ...]], data: memoryview, at: list[int]) -> Any:
    """Tuples and dtypes as in `like` with arrays of these shapes, read from the bytes from at[0] on; advances at[0]."""
    if not isinstance(like, np.ndarray):
        return type(like)(*(_unpacked(inner, shapes, data, at) for inner in like))
    shape = next(shapes)
    array = np.frombuffer(data, like.dtype, prod(shape), at[0]).reshape(shape).copy()
    at[0] += array.nbytes
    return array


def _same(a: Inputs, b: Inputs) -> bool:
    alike = a.settings is b.settings or a.settings == b.settings
    return alike and a.loads is None and b.loads is None


def _loads_size(inputs: Inputs) -> int:
    return INPUTS_OVERHEAD + (0 if inputs.loads is None else sum(a.nbytes for a in inputs.loads))
