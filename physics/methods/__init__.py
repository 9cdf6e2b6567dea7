"""Methods: ways to advance a state by one step. One file and one row here make another."""

from typing import Any

from contactlab.physics.methods.compliant import Compliant
from contactlab.physics.methods.time_stepping import TimeStepping

METHODS: dict[str, type[Any]] = {"time_stepping": TimeStepping, "compliant": Compliant}

#: by method: the coordinates of joints that it knows; methods not listed know none
JOINTS: dict[str, frozenset[str]] = {"time_stepping": frozenset()}

__all__ = ["JOINTS", "METHODS", "Compliant", "TimeStepping"]
