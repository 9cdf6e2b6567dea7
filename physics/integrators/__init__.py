"""The integrators by name. `integrate` makes a step with any of them, `dense_eval` looks inside it."""

from contactlab.physics.integrators.dopri5 import DOPRI5
from contactlab.physics.integrators.euler import EULER
from contactlab.physics.integrators.heun import HEUN
from contactlab.physics.integrators.rk4 import RK4
from contactlab.physics.integrators.sdirk2 import SDIRK2
from contactlab.physics.integrators.semi_implicit import SEMI_IMPLICIT
from contactlab.physics.integrators.stepper import Dense, dense_eval, integrate
from contactlab.physics.integrators.tableau import Integrator

INTEGRATORS: dict[str, Integrator] = {i.name: i for i in (EULER, SEMI_IMPLICIT, HEUN, RK4, DOPRI5)}
IMPLICIT: dict[str, Integrator] = {SDIRK2.name: SDIRK2}  #: for the method `compliant`

__all__ = ["IMPLICIT", "INTEGRATORS", "Dense", "Integrator", "dense_eval", "integrate"]
