"""Orders of accuracy, measured: a scene is run with steps of different length, and its errors are compared.

The error of a run is the greatest distance of a point from where it should be, over all bodies and all instants of the
coarsest run. Of each body there are four points: its centre of mass, and three at its radius of gyration along its
axes. Where they should be is told by the scene's closed forms, or by a much finer run with the same method and
integrator. Of a method of order p the error falls as hᵖ.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np

from ..core.model import Array, Model
from ..core.report import Settings
from ..core.rotations import rotated
from ..look.closed_forms import poses
from ..scene.scene import Scene
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation
from .messages import OrderPoint, Variant

FACTORS = (4.0, 2.0, 1.0, 0.5, 0.25)  #: of the step that the run has, to those of the study
FINEST = 1.0 / 32.0  #: that of the run which stands for the truth; its own error falsifies the last point by 1/8ᵖ
ROUNDING = 1e-11     #: errors below are rounding or an integrator's tolerance, and say nothing of an order [m]


def ready(scene: Scene, settings: Settings, variant: Variant, h: float) -> Simulation:
    """The scene at its start with these settings but for method, integrator and step. Raises ValueError where the
    method is not for it."""
    simulation = Simulation(scene)
    simulation.set(**asdict(replace(settings, method=variant.method, integrator=variant.integrator, h=h)))
    return simulation


def study(scene: Scene, settings: Settings, chosen: Sequence[Variant], until: float, by_forms: bool,
          clock: Callable[[], float]) -> Iterator[OrderPoint | None]:
    """Run the scene to the time `until` [s] with every variant and FACTORS of the step h. Yields None after each step
    and a point after each run, with nan where one fails. by_forms: errors are from the closed forms, else from a finer
    run. clock() tells the processor time [s]."""
    coarsest = FACTORS[0] * settings.h
    instants = np.array([k * coarsest for k in range(1, max(1, round(until / coarsest)) + 1)])
    for variant in chosen:
        if by_forms:
            truth = _by_forms(scene, settings, instants)
        else:
            truth, _ = yield from _run(scene, settings, variant, FINEST, len(instants), clock)
        for factor in FACTORS:
            found, cost = yield from _run(scene, settings, variant, factor, len(instants), clock)
            yield OrderPoint(variant, factor * settings.h, _error(found, truth), cost)


def _run(scene: Scene, settings: Settings, variant: Variant, factor: float, count: int, clock: Callable[[], float]
         ) -> Generator[None, None, tuple[Array, float]]:
    """A generator that returns the bodies' points (count, n, 4, 3) at the instants of the coarsest run [m], nan from
    where a step fails, and the processor time of all steps [s]."""
    simulation = ready(scene, settings, variant, factor * settings.h)
    found, cost = np.full((count, len(simulation.labels.bodies), 4, 3), np.nan), 0.0
    for k in range(count):
        for _ in range(round(FACTORS[0] / factor)):
            start = clock()
            try:
                simulation.step()
            except CannotStep:
                return found, np.nan
            cost += clock() - start
            yield None
        bodies = simulation.state.bodies
        found[k] = points_of(simulation.model, bodies.x, bodies.q)
    return found, cost


def _by_forms(scene: Scene, settings: Settings, instants: Array) -> Array:
    """The bodies' points (count, n, 4, 3) by the closed forms [m]; nan where they say nothing, as of the turn of balls
    whose formulas are of their centres alone."""
    simulation = ready(scene, settings, Variant(settings.method, settings.integrator), settings.h)
    model, forms = simulation.model, simulation.labels.closed_forms
    turning = {form.body for form in forms if any(formula.names for formula in form.turn)}
    x, q = np.full((len(model.kind), 3), np.nan), np.full((len(model.kind), 4), np.nan)
    truth = np.empty((len(instants), len(model.kind), 4, 3))
    for k, t in enumerate(instants.tolist()):
        x[:], q[:] = np.nan, np.nan
        for pose in poses(model, forms, t):
            x[pose.body] = pose.x
            q[pose.body] = pose.q if pose.body in turning else np.nan
        truth[k] = points_of(model, x, q)
    return truth


def points_of(model: Model, x: Array, q: Array) -> Array:
    """(n, 4, 3) the centre of mass of each body and the ends of its axes, as long as the radius by which its mass would
    have its mean moment of inertia, when the bodies are at x (n, 3) [m] and q (n, 4)."""
    radius = np.sqrt(np.divide(model.inertia.mean(axis=1), model.mass, out=np.zeros(len(x)), where=model.mass > 0.0))
    arms = radius[:, None, None] * np.eye(3)
    return np.concatenate([x[:, None], x[:, None] + rotated(np.repeat(q[:, None], 3, axis=1), arms)], axis=1)


def _error(found: Array, truth: Array) -> float:
    """The greatest distance of a point from where it is known to belong [m]; nan where a run failed, or nothing is
    known."""
    known = np.isfinite(truth).all(axis=-1)
    return float(np.linalg.norm(found - truth, axis=-1)[known].max()) if known.any() else np.nan


def order_of(points: Sequence[OrderPoint]) -> float:
    """The order that the runs of one variant show: the slope of log error over log h, by least squares, of the points
    above ROUNDING; nan where fewer than two are."""
    rows = np.log([(p.h, p.error) for p in points if p.error > ROUNDING]).reshape(-1, 2)
    return float(np.polyfit(rows[:, 0], rows[:, 1], 1)[0]) if len(rows) > 1 else np.nan

