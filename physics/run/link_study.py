"""A study of chains of 1 to 50 links in both coordinates: the cost of a step, how far joints come apart, how far
the motions differ.

A chain of slender rods, each hinged to the one before and the first to the world, starts level and at rest. In
generalized coordinates its state is n angles. In maximal coordinates each rod has six coordinates, reactions Jᵀ λ hold
the hinges, and one of the cures takes out the drift.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from statistics import median

import numpy as np

from ..books.diagnostics import measure
from ..core.model import Array
from ..core.report import Settings
from ..methods import CURES
from ..scene.scene import Scene
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation
from .messages import LinkPoint

LINKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
#: coordinates, and the cure of the drift; generalized coordinates need none
KINDS = (("generalized", ""), *(("maximal", cure) for cure in CURES))
ROD_LENGTH = 0.1  # [m]
FALL_TIME = 1.0   # simulated time of each chain [s]


def chain(links: int, coordinates: str) -> Scene:
    """The scene of level rods of 1 kg and length ROD_LENGTH along x, hinged about -y."""
    across = ROD_LENGTH**2 / 12.0
    bodies = [{"name": f"rod {i}", "position": [(i + 0.5) * ROD_LENGTH, 0.0, 0.0], "mass": 1.0,
               "inertia": [1e-3 * across, across, across]} for i in range(links)]
    joints = [{"type": "hinge", "parent": f"rod {i - 1}" if i else "world", "child": f"rod {i}",
               "anchor": [i * ROD_LENGTH, 0.0, 0.0], "axis": [0.0, -1.0, 0.0], "coordinates": coordinates}
              for i in range(links)]
    return Scene.from_dict({"scene": {"gravity": [0.0, 0.0, -9.81]}, "body": bodies, "joint": joints})


def hanging(links: int, coordinates: str, cure: str, settings: Settings) -> Simulation:
    """The chain, run with the method, integrator, solver, step and iterations of these settings."""
    sim = Simulation(chain(links, coordinates), method=settings.method)
    wanted = replace(sim.settings, integrator=settings.integrator, solver=settings.solver, h=settings.h,
                     iterations=settings.iterations, joint_cure=cure or sim.settings.joint_cure)
    sim.set(**asdict(wanted))
    return sim


def study(settings: Settings, clock: Callable[[], float], counts: tuple[int, ...] = LINKS
          ) -> Iterator[LinkPoint | None]:
    """Let chains of `counts` links fall, in every kind of KINDS. Yields None after each step and a point after each
    chain, with nan where the motion does not stay finite. clock() tells the processor time [s]."""
    for links in counts:
        tip: Array | None = None  # (3,) end of the fall of the last rod in generalized coordinates, the first kind [m]
        for coordinates, cure in KINDS:
            sim = hanging(links, coordinates, cure, settings)
            first, _ = measure(sim.model, sim.state.bodies, sim.state.joints)
            costs, apart, end, gained = [], 0.0, np.full(3, np.nan), np.nan
            try:
                while sim.time < FALL_TIME - 0.5 * settings.h:
                    start = clock()
                    sim.step()
                    costs.append(clock() - start)
                    apart = max(apart, sim.info.joint_error)
                    yield None
                end = sim.position(links - 1)
                last, _ = measure(sim.model, sim.state.bodies, sim.state.joints)
                gained = (last.total - first.total) / (9.81 * links * 0.5 * ROD_LENGTH * links)
            except CannotStep:
                apart = np.nan
            tip = end if tip is None else tip
            yield LinkPoint(links, coordinates, cure, median(costs) if costs else np.nan, apart,
                            float(np.linalg.norm(end - tip)), gained)
