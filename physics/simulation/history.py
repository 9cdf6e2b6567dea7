"""History: every step of a run can be reached again exactly, within a bounded memory.

The history keeps states (keyframes) and the inputs of every step: settings and loads. A state between two keyframes is
found by stepping again from the earlier one with the recorded inputs, which gives the same bits. While memory lasts
every state is a keyframe. Then the older half is thinned, and at last the oldest keyframes are dropped.
"""

from bisect import bisect_right
from collections.abc import Iterator
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
    def size(self) -> int:
        """Memory of the keyframe [bytes]."""
        return len(self.data) + KEYFRAME_OVERHEAD


class History:
    """Keyframes by step number, and the inputs of the steps between; `record` before every step."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.clear()

    def clear(self) -> None:
        """Forget everything; the next recorded step is the first one."""
        self.last = 0                        #: number of the step recorded last
        self.keyframes: list[Keyframe] = []
        self._changes: list[int] = []        # steps whose inputs differ from those of the step before
        self._inputs: list[Inputs] = []
        self._shapes: dict[Any, Any] = {}
        self._size = 0

    @property
    def first(self) -> int:
        """Earliest step that can be reached."""
        return self.keyframes[0].step if self.keyframes else self.last

    def record(self, step: int, state: State, inputs: Inputs) -> None:
        """Record the state after step number `step` and the inputs of the next step.

        Recording a step that is known already starts a new branch: everything after it is forgotten.
        """
        self.forget_from(step)
        parts = list(arrays(state))
        shapes = tuple([a.shape for a in parts])
        kept = Keyframe(step, b"".join(parts), self._shapes.setdefault(shapes, shapes))
        self.keyframes.append(kept)
        self._size += kept.size
        if not self._inputs or not _same(self._inputs[-1], inputs):
            self._changes.append(step)
            self._inputs.append(inputs)
            self._size += _loads_size(inputs)
        self.last = step
        while self._size > self.budget and len(self.keyframes) > 2:
            self._thin()

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
        self.last = min(self.last, step)

    def _thin(self) -> None:
        """Free memory: drop every second keyframe of the older half as far as MOST_STEPS_BETWEEN allows, else the
        oldest keyframe."""
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
        while len(self._changes) > 1 and self._changes[1] <= self.first:
            self._changes.pop(0)
            self._size -= _loads_size(self._inputs.pop(0))


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
    return a.settings == b.settings and a.loads is None and b.loads is None


def _loads_size(inputs: Inputs) -> int:
    return INPUTS_OVERHEAD + (0 if inputs.loads is None else sum(a.nbytes for a in inputs.loads))
