"""Methods: ways to advance a state by one step. One file and one row here make another."""

from ..dynamics.constraints.cure import CURES
from .compliant.step import Compliant
from .event_driven.step import EventDriven
from .method import Marching, Method, Untreatable
from .time_stepping.step import TimeStepping

METHODS: dict[str, type[Method]] = {
    "time_stepping": TimeStepping, "event_driven": EventDriven, "compliant": Compliant,
}

__all__ = ["CURES", "METHODS", "Marching", "Method", "Untreatable"]
