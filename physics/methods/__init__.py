"""Methods: ways to advance a state by one step. One file and one row here make another."""

from contactlab.physics.methods.time_stepping import TimeStepping

METHODS: dict[str, type[TimeStepping]] = {"time_stepping": TimeStepping}

__all__ = ["METHODS", "TimeStepping"]
