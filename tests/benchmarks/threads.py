"""What several threads gain: a step of a pile that has settled, with 1, 2 … threads in turns, and whether all of them
walk through the same states.

    python tests/benchmarks/threads.py boxes spheres --count 1000 10000 --threads 1 2 4 [--seconds 3] [--repeats 5]

One simulation goes on and on; its number of threads changes every STEPS steps. Milliseconds a step: the least and the
median of all steps. Other programs must leave the cores alone: on a busy machine the team mostly works alone.
"""

import argparse
import os
import time

import numpy as np
from piles import pile

from contactlab.physics import Scene, Simulation
from contactlab.physics.core import team

STEPS = 20


def state_of(scene: Scene, threads: int, steps: int) -> bytes:
    """The bodies after so many steps with so many threads."""
    team.set_threads(threads)
    simulation = Simulation(scene)
    for _ in range(steps):
        simulation.step()
    bodies = simulation.state.bodies
    return bodies.x.tobytes() + bodies.q.tobytes() + bodies.P.tobytes() + bodies.L.tobytes()


def measure(kind: str, count: int, options: argparse.Namespace) -> None:
    scene = Scene.from_dict(pile(kind, count))
    simulation = Simulation(scene)
    simulation.run(options.seconds)
    times: dict[int, list[float]] = {n: [] for n in options.threads}
    for _ in range(options.repeats):
        for n in options.threads:
            team.set_threads(n)
            simulation.step()
            for _ in range(STEPS):
                start = time.perf_counter()
                simulation.step()
                times[n].append(1e3 * (time.perf_counter() - start))
    states = {state_of(scene, n, options.steps) for n in options.threads}
    contacts = int(simulation.contacts.count[0])
    print(f"\n{count} {kind}, {contacts} contacts, load {os.getloadavg()[0]:.1f}, the same states with any number of "
          f"threads: {len(states) == 1}")
    first = options.threads[0]
    for n in options.threads:
        print(f"{n:3} threads: least {min(times[n]):8.3f} ms, {min(times[first]) / min(times[n]):5.2f} times as fast; "
              f"median {np.median(times[n]):8.3f} ms, {np.median(times[first]) / np.median(times[n]):5.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["boxes"])
    parser.add_argument("--count", type=int, nargs="+", default=[1000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3.0, help="simulated before it is measured")
    parser.add_argument("--steps", type=int, default=60, help="for the comparison of states")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for kind in options.kinds:
        for count in options.count:
            measure(kind, count, options)


if __name__ == "__main__":
    main()
