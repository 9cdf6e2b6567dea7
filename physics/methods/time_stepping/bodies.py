"""Free bodies within a Moreau–Jean step; bodies with a prescribed motion move among them."""

from ...core.model import BodyKind, Model
from ...dynamics.forces import applied_forces
from ...dynamics.motion import drive
from ...problem.assemble import free_motion, momenta
from .parts import MoreauStep, Part
from .stages import half_drift, second_drift, take_free


class FreeBodies(Part):
    """The bodies of a model that are not links."""

    def __init__(self, model: Model) -> None:
        self._driven = bool((model.kind == BodyKind.KINEMATIC).any())

    def half(self, step: MoreauStep) -> None:
        half_drift(step.model.kind, step.state.bodies, step.fraction, step.h, step.middle)
        if self._driven:
            drive(step.model, float(step.state.t[0]) + 0.5 * step.h, step.middle)

    def load(self, step: MoreauStep) -> None:
        applied_forces(step.model, step.loads, step.middle, step.force, step.torque)

    def free(self, step: MoreauStep) -> None:
        free_motion(step.model, step.middle, step.force, step.torque, step.h, step.before, step.motion)

    def finish(self, step: MoreauStep) -> None:
        momenta(step.system, step.force, step.torque, step.h, step.middle.P, step.middle.L)

    def end(self, step: MoreauStep) -> None:
        """Poses at the end of the step: bodies that something may push go on from its middle, the others fly."""
        model, bodies = step.model, step.state.bodies
        take_free(model.kind, step.flight, step.involved, bodies)
        second_drift(model.kind, model.inv_mass, model.inv_inertia, step.middle, step.shift.bodies, step.fraction,
                     step.involved, step.h, bodies)
        if self._driven:
            drive(model, float(step.state.t[0]) + step.h, bodies)
