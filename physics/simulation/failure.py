"""A step that cannot be made: one error, one sentence."""

import traceback
from pathlib import Path

import numpy as np

from ..core.limits import BeyondLimit
from ..core.report import Settings
from ..methods import METHODS
from ..problem.problem import CannotSolve
from ..scene.refusals import where

ENGINE = Path(__file__).parents[1]  # the folder of the engine


class CannotStep(Exception):
    """A step, or what its method says of an instant, could not be made. The message is one sentence for the user,
    without its full stop. The simulation is as it was before."""


def reason(error: Exception, settings: Settings, t: float) -> str:
    """Why the method in `settings` did not get on from the instant t [s]."""
    title = METHODS[settings.method].title
    at = f"at t = {t:.6g} s"
    match error:
        case CannotStep() | FloatingPointError() | CannotSolve() | BeyondLimit():
            return str(error)
        case MemoryError():
            return (f"{title} asks for more memory than there is {at}: these are too many contacts for it at once; "
                    f"{METHODS['time_stepping'].title} takes the most")
        case np.linalg.LinAlgError():
            return f"the equations of {title} are singular {at}; another method may solve its own, or a shorter step h"
    return (f"{title} failed {at}, which is a fault of this program ({where(error)}); another method may get on from "
            "here, or a shorter step h")


def script_reason(error: Exception, t: float) -> str:
    """Why a script failed before the step from the instant t [s]: its own line, and what was wrong with it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if ENGINE not in Path(frame.filename).parents]
    said = f"{type(error).__name__}: {error}".removesuffix(": ").rstrip(".")
    if not own:
        return f"the script failed at t = {t:.6g} s: {said}"
    line = f", `{own[-1].line}`" if own[-1].line else ""
    return f"the script failed at t = {t:.6g} s in line {own[-1].lineno} of {Path(own[-1].filename).name}{line}: {said}"
