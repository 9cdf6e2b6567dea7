"""Methods: ways to advance a state by one step. One file and one row here make another."""

from contactlab.physics.methods.compliant import Compliant
from contactlab.physics.methods.event_driven import EventDriven
from contactlab.physics.methods.joint_stage import CURES
from contactlab.physics.methods.method import Method, Untreatable
from contactlab.physics.methods.time_stepping import TimeStepping

METHODS: dict[str, type[Method]] = {
    "time_stepping": TimeStepping, "event_driven": EventDriven, "compliant": Compliant,
}

#: by method: the coordinates of joints that it knows; methods not listed know none
JOINTS: dict[str, frozenset[str]] = {
    "time_stepping": frozenset({"generalized", "maximal"}), "event_driven": frozenset({"generalized"}),
    "compliant": frozenset({"generalized"}),
}

__all__ = ["CURES", "JOINTS", "METHODS", "Method", "Untreatable"]
