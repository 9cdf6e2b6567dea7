"""Laws and functions of a script in other processes: of workers of a sweep, of a video, of a window."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import cloudpickle

from ..physics.laws.soft import LAWS, SoftLaw
from ..physics.methods.choices import CHOICES
from .own_law import ForceLaw, soft_law

ELSEWHERE = -1             #: code of a law that is named here and whose function is in another process

_lock = Lock()
_used = Counter[str]()     # laws of other processes in the runs that are made here at once
_named: "dict[str, OwnLaw]" = {}  # of another process


class OwnLaw(NamedTuple):
    """A law of a script on its way to another process."""

    name: str
    title: str              #: in the menu
    units: tuple[str, str]  #: of K and D
    data: bytes             #: its function
    hindrance: str          #: why it cannot go there, "" where it can

    @property
    def force(self) -> ForceLaw:
        """Its function. Raises ValueError where it cannot be had here."""
        if self.hindrance:
            raise ValueError(self.hindrance)
        return unpacked(self.data, f"the law {self.name!r}")


def own_laws() -> list[OwnLaw]:
    """The laws of scripts, for another process."""
    return [_told(name, law) for name, law in LAWS.items() if law.force is not None]


def _told(name: str, law: SoftLaw) -> OwnLaw:
    if law.code == ELSEWHERE:
        return _named[name]
    try:
        return OwnLaw(name, law.title, law.units, packed(law.force, f"the law {name!r}"), "")
    except ValueError as error:
        return OwnLaw(name, law.title, law.units, b"", str(error))


def know(laws: Sequence[OwnLaw]) -> None:
    """Let the laws of another process be named in this one, which runs nothing by them."""
    for law in laws:
        _named[law.name] = law
        LAWS[law.name] = SoftLaw(law.title, ELSEWHERE, units=law.units, force=lambda *_: math.nan)
    CHOICES["law"] = tuple(LAWS)


@contextmanager
def lent(laws: Sequence[OwnLaw]) -> Iterator[None]:
    """Let runs of another process be made here by its laws. Raises ValueError where a run that is made here at the same
    time has another law of that name."""
    names = [law.name for law in laws]
    with _lock:
        for law in laws:
            if _named.get(law.name) != law or law.name not in LAWS:
                if _used[law.name]:
                    raise ValueError(f"another sweep has another law {law.name!r} in the same process; one of them "
                                     "must have another name")
                soft_law(law.name, law.force, law.units)
                _named[law.name] = law
        _used.update(names)
    try:
        yield
    finally:
        with _lock:
            _used.subtract(names)


def packed(thing: Any, name: str) -> bytes:
    """Functions of a script, with what they use, as bytes for another process; what is in a module goes by its name.
    ValueError where something cannot go there."""
    try:
        return cloudpickle.dumps(thing)
    except Exception as error:  # whatever the objects of a script raise
        raise ValueError(f"{name} cannot be sent to another process: {error}") from error


def unpacked(data: bytes, name: str) -> Any:
    """The same again. ValueError where this process lacks something that it needs."""
    try:
        return cloudpickle.loads(data)
    except Exception as error:
        raise ValueError(f"{name} cannot be loaded in another process: {type(error).__name__}: {error}") from error
