"""How fast the event-driven method is: python tests/benchmarks/event_driven.py [SCENE ...] [--seconds 1]

For every gallery scene that it takes: simulated seconds per second of one core (the real-time factor), the longest
step, contacts at the end, contact problems solved a step and events, at the scene's own step. Beside it the same of
time_stepping. A scene it does not take is named with the reason.
"""

import argparse
import time

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

PATIENCE = 60.0  # [s] of one core a scene


def run(name: str, method: str, seconds: float) -> str:
    scene = Scene.load(gallery()[name])
    Simulation(scene, method=method).step()  # kernels are loaded
    simulation = Simulation(scene, method=method)
    begin, longest = time.thread_time(), 0.0
    while simulation.time < seconds and time.thread_time() - begin < PATIENCE:
        start = time.thread_time()
        simulation.step()
        longest = max(longest, time.thread_time() - start)
    took, info = time.thread_time() - begin, simulation.info
    counts = f"{info.solves:6d} solves {info.events:5d} events" if info.steps else ""
    return (f"{name:18s} {method:13s} {simulation.time / took:7.2f} x real time, longest step {1e3 * longest:6.1f} ms, "
            f"{info.contacts:3d} contacts {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(gallery()))
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()
    for name in arguments.scenes:
        try:
            print(run(name, "event_driven", arguments.seconds), flush=True)
            print(run(name, "time_stepping", arguments.seconds), flush=True)
        except ValueError as refused:
            print(f"{name:18s} {refused}", flush=True)


if __name__ == "__main__":
    main()
