"""Methods: ways to advance a state by one step. One file and one row here make another."""

from ..dynamics.constraints.cure import CURES
from .compliant import Compliant
from .event_driven import EventDriven
from .method import Method, Untreatable
from .time_stepping import TimeStepping

METHODS: dict[str, type[Method]] = {
    "time_stepping": TimeStepping, "event_driven": EventDriven, "compliant": Compliant,
}

__all__ = ["CURES", "METHODS", "Method", "Untreatable"]
