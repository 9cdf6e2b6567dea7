"""A fan: a scene run from several starts whose velocities differ a little, to be seen beside the run. Where the fan
stays narrow the motion can be told ahead; where it opens, as in chaos, small causes have great effects.

Each start has the scene's velocities and, of every free body along each axis and of every joint of a tree, a normal
deviate times `by` more [m/s], [rad/s]; the k-th start is the same each time.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from ..core.limits import FAN
from ..core.report import Settings
from ..scene.scene import Scene
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation
from .messages import FanPath, StudyFan


def start(scene: Scene, settings: Settings, by: float, number: int) -> Simulation:
    """The scene at one of its starts. Raises ValueError where nothing of it can be changed."""
    sim = Simulation(scene)
    sim.set(**{name: value for name, value in asdict(settings).items() if value != getattr(sim.settings, name)})
    rng, moved = np.random.default_rng(number), 0
    for thing in (*map(sim.body, sim.labels.bodies), *map(sim.joint, sim.labels.joints)):
        try:
            thing.velocity = np.asarray(thing.velocity) + by * rng.standard_normal(np.shape(thing.velocity))
            moved += 1
        except ValueError:  # it is fixed, or a joint or a motion leads it
            continue
    if not moved:
        raise ValueError("no body of this scene has a velocity of its own that could differ")
    return sim


def fan(scene: Scene, settings: Settings, asked: StudyFan) -> Iterator[FanPath | None]:
    """Run the scene from all starts; None after each step, and a path after each run."""
    steps = max(1, math.ceil(asked.until / settings.h))
    for number in range(asked.count):
        sim = start(scene, settings, asked.by, number)
        every = max(1, math.ceil(7 * len(sim.labels.bodies) * steps * asked.count / FAN.most))
        poses = [_pose(sim)]
        for k in range(1, steps + 1):
            try:
                sim.step()
            except CannotStep:
                break
            if k % every == 0:
                poses.append(_pose(sim))
            yield
        yield FanPath(every * settings.h, np.array(poses))


def _pose(sim: Simulation) -> np.ndarray:
    """(n, 7) place and orientation of all bodies."""
    return np.hstack([sim.state.bodies.x, sim.state.bodies.q])
