"""Methods: ways to advance a state by one step. One file and one row here make another."""

from contactlab.physics.methods.compliant import Compliant
from contactlab.physics.methods.event_driven import EventDriven
from contactlab.physics.methods.joint_cure import CURES
from contactlab.physics.methods.method import Method, Untreatable
from contactlab.physics.methods.time_stepping import TimeStepping

METHODS: dict[str, type[Method]] = {
    "time_stepping": TimeStepping, "event_driven": EventDriven, "compliant": Compliant,
}

__all__ = ["CURES", "METHODS", "Method", "Untreatable"]
