"""The integrators by name. `integrate` makes a step with any of them, `dense_eval` looks inside it."""

from .dopri5 import DOPRI5
from .euler import EULER
from .heun import HEUN
from .midpoint import MIDPOINT
from .rk4 import RK4
from .sdirk2 import SDIRK2
from .semi_implicit import SEMI_IMPLICIT
from .stepper import Dense, dense_eval, integrate
from .tableau import Integrator

INTEGRATORS: dict[str, Integrator] = {i.name: i for i in (EULER, SEMI_IMPLICIT, HEUN, RK4, DOPRI5)}
IMPLICIT: dict[str, Integrator] = {SDIRK2.name: SDIRK2}  #: for the method `compliant`
FLIGHT: dict[str, Integrator] = {MIDPOINT.name: MIDPOINT}  #: for the method `time_stepping`, where nothing touches
OWNERS = dict.fromkeys(IMPLICIT, "compliant") | dict.fromkeys(FLIGHT, "time_stepping")  #: the method that has them


def offered(method: str) -> dict[str, Integrator]:
    """The integrators that a method can use, by name."""
    return INTEGRATORS | {name: i for name, i in (IMPLICIT | FLIGHT).items() if OWNERS[name] == method}


__all__ = ["FLIGHT", "IMPLICIT", "INTEGRATORS", "OWNERS", "Dense", "Integrator", "dense_eval", "integrate", "offered"]
