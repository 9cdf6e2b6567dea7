"""What a step of a small scene costs: python tests/benchmarks/small.py [SCENE …] [--rounds 7]

Processor time of a step in microseconds, the least of several rounds that begin with the same state, for scenes whose
step is mostly fixed cost: a few bodies, one tree, one mechanism in both coordinates. Three ways to make the steps: one
by one, nobody reads what came of them; by `Simulation.run`, which makes many in one call; one by one, with contacts,
events, information and ledger read after each, as for a published snapshot. What the third costs beyond the first is
what the report costs; whoever does not read it does not pay for it.
To compare two versions run both in turns, A B A B, and take the least of each.
"""

import argparse
import time

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

#: scene, coordinates of its joints ("" = it has none), method, steps of a round
CASES = (
    ("incline", "", "time_stepping", 60), ("dice", "", "time_stepping", 40), ("tower", "", "time_stepping", 20),
    ("machines", "", "time_stepping", 20), ("double_pendulum", "generalized", "time_stepping", 200),
    ("chain", "generalized", "time_stepping", 25), ("chain", "maximal", "time_stepping", 25),
    ("ragdoll", "generalized", "time_stepping", 25), ("ragdoll", "maximal", "time_stepping", 25),
    ("humanoid", "generalized", "time_stepping", 25), ("soft_floor", "", "compliant", 30),
    ("soft_feet", "", "compliant", 30), ("incline", "", "compliant", 20),
    ("rocking_block", "", "event_driven", 40), ("incline", "", "event_driven", 20),
)
BEFORE = 3  # steps that come before the rounds: kernels are loaded, warm starts are known


def one_by_one(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()


def at_once(simulation: Simulation, steps: int) -> None:
    simulation.run(simulation.time + steps * simulation.settings.h)


def read_each(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()
        _ = simulation.contacts, simulation.last_events, simulation.info, simulation.ledger


WAYS = {"step by step": one_by_one, "run": at_once, "all read": read_each}


def cost(name: str, coordinates: str, method: str, steps: int, rounds: int, way: str = "step by step") -> float:
    """Of a step [s]."""
    scene = Scene.load(gallery()[name])
    simulation = Simulation(scene.with_coordinates(coordinates) if coordinates else scene, method=method)
    for _ in range(BEFORE):
        simulation.step()
    saved, least = simulation.save(), float("inf")
    for _ in range(rounds):
        simulation.restore(saved)
        simulation.step()
        begin = time.process_time()
        WAYS[way](simulation, steps)
        least = min(least, (time.process_time() - begin) / steps)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", help="all where none is named")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    print(f"{'us a step':44s} {' '.join(f'{way:>12s}' for way in WAYS)}")
    for name, coordinates, method, steps in CASES:
        if not asked.scenes or name in asked.scenes:
            took = [1e6 * cost(name, coordinates, method, steps, asked.rounds, way) for way in WAYS]
            print(f"{name:16s} {coordinates:12s} {method:14s} {' '.join(f'{t:12.1f}' for t in took)}", flush=True)


if __name__ == "__main__":
    main()
