"""Laws of soft surfaces that scripts bring along."""

from __future__ import annotations

import ctypes
import inspect
import math
import time
from collections.abc import Callable
from typing import Any

import numba
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from ..physics.laws.own_failures import failures
from ..physics.laws.soft import LAWS, SoftLaw
from ..physics.methods.choices import CHOICES

ForceLaw = Callable[[float, float, float, float], float]

TRIAL = (1e-3, 0.0, 1e4, 10.0)  # δ [m], δ̇ [m/s], K, D with which a law is tried
CALLS = 200                     # that are timed
IN_C = ctypes.CFUNCTYPE(ctypes.c_double, *4 * [ctypes.c_double])

_code: list[Any] = []           # what addresses point to


def soft_law(name: str, force: ForceLaw, units: tuple[str, str] = ("N/m", "N s/m")) -> str:
    """Let soft surfaces push by a law of your own, and return what the menu of laws says of it. From then on the law
    has this name in this process:

        @numba.njit
        def force(depth, rate, K, D):                       # δ > 0 [m], δ̇ [m/s] -> N
            return K * depth**1.5 * (1 + 1.5 * D * rate)

        contactlab.soft_law("mine", force, units=("N/m^1.5", "s/m"))
        sim.set(method="compliant", law="mine", stiffness_n=1e5, damping_n=0.3)

    force: f = F(δ, δ̇, K, D) with the gains of both surfaces together; less than 0 counts as 0. F(δ, 0, K, 0) is taken
        for the force of a spring, whose energy is stored; the rest is loss. A function that numba has compiled runs as
        fast as the laws that come along; any other is called as Python, which takes about a thousand times as long, and
        the result says how long.
    units: of K and D.

    The surface has no memory: it pushes while bodies overlap. Friction is as with other laws. The law goes along to the
    processes of sweeps and videos; a scene file cannot name it. Raises ValueError where `force` gives no finite number.
    """
    known = LAWS.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or not name.strip() or (known is not None and known.force is None):
        raise ValueError(f"a law of one's own needs a name that is none of {', '.join(LAWS)}, not {name!r}")
    if not callable(force):
        raise ValueError(f"force must be a function of δ, δ̇, K and D, not {force!r}")
    compiled = isinstance(force, CPUDispatcher)
    made: Any = _compiled(force) if compiled else _in_python(force)
    code = int(made.address if compiled else ctypes.cast(made, ctypes.c_void_p).value or 0)
    _code.append((force, made))
    seconds = _timed(name, force)
    note = "compiled" if compiled else f"Python, about {1e6 * seconds:.2g} µs a call; numba.njit makes it fast"
    LAWS[name] = SoftLaw(f"{name}: a law of your own ({note})", code, units=units, force=force)
    CHOICES["law"] = tuple(LAWS)
    return LAWS[name].title


def _compiled(force: Any) -> Any:
    """Its machine code, as C calls it."""
    if len(inspect.signature(force.py_func).parameters) != 4:
        raise ValueError("force must be a function of four numbers: δ, δ̇, K and D")

    def called(depth: float, rate: float, k: float, d: float) -> float:
        return force(depth, rate, k, d)

    number: Any = numba.types.float64
    try:
        return numba.cfunc(number(number, number, number, number), error_model="numpy")(called)
    except NumbaError as error:
        raise ValueError(f"numba cannot compile it for four numbers: {str(error).splitlines()[0]}") from error


def _in_python(force: ForceLaw) -> Any:
    """A function of C that calls it; where it fails, it gives nan, and the step fails."""
    def called(depth: float, rate: float, k: float, d: float) -> float:
        try:
            return float(force(depth, rate, k, d))
        except Exception as error:  # no exception passes through compiled code
            failures[:] = [error]
            return math.nan

    return IN_C(called)


def _timed(name: str, force: ForceLaw) -> float:
    """How long a call takes [s]; ValueError where it gives no finite number."""
    try:
        value = float(force(*TRIAL))
    except Exception as error:
        raise ValueError(f"the law {name!r} fails for δ, δ̇, K, D = {TRIAL}: {type(error).__name__}: {error}") from error
    if not math.isfinite(value):
        raise ValueError(f"the law {name!r} gives {value} for δ, δ̇, K, D = {TRIAL}")
    begin = time.perf_counter()
    for _ in range(CALLS):
        force(*TRIAL)
    return (time.perf_counter() - begin) / CALLS
