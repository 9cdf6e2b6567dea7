"""Forces that a script puts on all bodies at once."""

from collections.abc import Callable

import numpy as np

from ..core.state import Bodies
from ..dynamics.forces import Loads


def add_forces(law: Callable[..., object], t: float, bodies: Bodies, loads: Loads) -> None:
    """Let a force law, see `Simulation.force_law`, add to the loads of the step from t [s] on; it reads the state and
    cannot write to it. Raises ValueError where what it adds is not finite."""
    seen = [array.view() for array in (bodies.x, bodies.q, bodies.v, bodies.w)]
    for array in seen:
        array.flags.writeable = False
    law(t, *seen, loads.force, loads.torque)
    if not (np.isfinite(loads.force).all() and np.isfinite(loads.torque).all()):
        raise ValueError("the force law gives a force or torque that is no finite number")
