"""Where a step of `time_stepping` spends its time, stage by stage, by one thread:

    python tests/benchmarks/stages.py [pyramid dominoes humanoid hulls boxes chairs] [--steps 60]

The stages are those that `moreau: advance` runs in one call, here called one by one from Python; what such a call costs
by itself is taken off. Microseconds of each stage and its share in the step: the median of so many steps that follow
one another, and the mean of `solve`, which in a stack that stands is dear in some steps and next to nothing in most.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from piles import pile

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.detection import find_contacts
from contactlab.physics.collision.impact_time import find_fast
from contactlab.physics.core import team
from contactlab.physics.methods.time_stepping import moreau
from contactlab.physics.methods.time_stepping.step import TimeStepping
from contactlab.physics.methods.time_stepping.work import CURE, FLIES, SOLVER, SWEEPS
from contactlab.physics.solvers.newton import solve_islands

H = 1 / 240


def boxes(bodies: list[dict], friction: float) -> dict:
    """A scene of boxes and others on the ground."""
    ground = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}
    named = [{"name": f"b{i}", "density": 500.0, **body} for i, body in enumerate(bodies)]
    return {"scene": {"title": "boxes"}, "solver": {"h": H}, "body": [*named, ground],
            "material": {"default": {"restitution": 0.0, "friction": friction}}}


def pyramid(rows: int = 20) -> dict:
    size = 0.5
    return boxes([{"position": [(i - (rows - r - 1) / 2) * (size + 0.02), 0.0, size * (r + 0.5)],
                   "shape": [{"type": "box", "size": [size] * 3}]} for r in range(rows) for i in range(rows - r)], 0.5)


def dominoes(count: int = 200) -> dict:
    row = [{"position": [0.3 * i, 0.0, 0.4], "shape": [{"type": "box", "size": [0.06, 0.4, 0.8]}]}
           for i in range(count)]
    ball = {"position": [-0.25, 0.0, 0.6], "velocity": [3.0, 0.0, 0.0], "shape": [{"type": "sphere", "radius": 0.15}],
            "density": 1400.0}
    return boxes([*row, ball], 0.4)


#: scenes, and the time after which they are looked at [s]
SCENES: dict[str, tuple[Callable[[], Scene], float]] = {
    "pyramid": (lambda: Scene.from_dict(pyramid()), 2.0),
    "dominoes": (lambda: Scene.from_dict(dominoes()), 10.0),  # they still fall, most lie
    "humanoid": (lambda: Scene.load(gallery()["humanoid"]), 3.0),
    "hulls": (lambda: Scene.from_dict(pile("hulls", 300)), 4.0),
    "boxes": (lambda: Scene.from_dict(pile("boxes", 1000)), 4.0),
    "chairs": (lambda: Scene.from_dict(pile("chairs", 200)), 1.2),  # they fall, in each step some are fast
}


def stages(method: TimeStepping, model: Any, state: Any, loads: Any, settings: Any) -> Iterator[str]:
    """One step, with the name of each stage once it is over. Where Python would have to help, the method makes the step
    and no stage is named."""
    work, h = method._space.work(method._integrator), settings.h
    moreau.begin(model, state, work)
    yield "begin"
    known = moreau.know_contacts(model, state, h, work)
    if not known:
        return
    work.fraction[:] = 1.0
    fast = find_fast(state.bodies, 0.5 * h, work.paths) > 0
    yield "reach"
    if fast:
        method._find_impacts(state, loads, settings)
        yield "fast pairs"
    moreau.go_halfway(model, state, h, work)
    yield "half a step"
    count = find_contacts(model, work.detection, work.middle.x, work.middle.q, work.margin)
    if not 0 <= count <= min(len(work.fired), len(state.memory.key) - (len(work.bounds.last) + 2) // 3):
        return
    yield "contacts"
    moreau.move_freely(model, state, loads, h, work)
    ahead = moreau.passes_by(h, work)
    yield "free motion"
    if ahead:
        method._leave_out_missed(state, loads, settings)
        yield "missed"
    if not moreau.make_rows(model, state, loads, h, work):
        return
    yield "rows"
    solve_islands(work.system, int(work.order[SWEEPS]), moreau.TOLERANCE, work.told[SOLVER:])
    yield "solve"
    moreau.depart(model, h, work)
    yield "overlap"
    work.stopped[:] = 0
    moreau.choose_flight(model, state, state.sleep, h, work)
    if work.order[FLIES] == 1:
        moreau.fly(model, state, loads, h, work)
    moreau.arrive(model, state, h, work)
    yield "arrive"
    moreau.tell(model, state, loads, h, work)
    yield "tell"
    moreau.book(model, state, loads, h, int(work.order[CURE]), work)
    yield "book"
    method._find_events(state)
    yield "events"


def measure(name: str, steps: int) -> None:
    """Print a row of the table for each stage of a scene."""
    make, until = SCENES[name]
    simulation = Simulation(make())
    simulation.run(until)
    model, state, loads, settings = (
        simulation.model, simulation.state, simulation.loads, simulation.settings)
    method = TimeStepping(model)
    method.step(state, loads, settings)  # makes room
    took: dict[str, list[float]] = {}
    for made in range(steps + 1):
        marks, names = [time.perf_counter()], []
        for stage in stages(method, model, state, loads, settings):
            marks.append(time.perf_counter())
            names.append(stage)
        if names[-1:] != ["events"]:
            method.step(state, loads, settings)
            continue
        for stage, (begin, end) in zip(names, pairwise(marks), strict=True) if made else ():  # the first one loads
            took.setdefault(stage, []).append(1e6 * (end - begin))
    empty = min(took["begin"])  # of a call that does next to nothing
    medians = {stage: max(float(np.median(times)) - empty, 0.0) for stage, times in took.items()}
    whole = sum(medians.values())
    print(f"\n{name}, {len(model.kind)} bodies, {int(method.contacts.count[0])} contacts: {whole:.0f} us, "
          f"solve in the mean {np.mean(took['solve']) - empty:.0f} us; of {len(took['book'])} steps")
    print("  " + ", ".join(f"{stage} {t:.0f} ({100 * t / whole:.0f} %)" for stage, t in medians.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--steps", type=int, default=60)
    asked = parser.parse_args()
    team.set_threads(1)
    for name in asked.scenes:
        measure(name, asked.steps)


if __name__ == "__main__":
    main()
