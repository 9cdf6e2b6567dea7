"""How fast every gallery scene runs: python tests/benchmarks/gallery_pace.py [SCENE ...] [--methods event_driven ...]
[--seconds 2] [--patience 60]

For every scene and method: simulated seconds per second of one core at the scene's own step (1 = real time), mean and
longest step, contacts at the end, and of event_driven the pieces, contact problems solved and events a step, and the
largest residual. A method that does not take a scene says why. The first step, which may compile kernels, is left out.
"""

import argparse
import time

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.methods import METHODS


def run(name: str, method: str, seconds: float, patience: float) -> str:
    scene = Scene.load(gallery()[name])
    Simulation(scene, method=method).step()  # kernels are loaded
    simulation = Simulation(scene, method=method)
    begin, longest, residual, steps = time.thread_time(), 0.0, 0.0, 0
    while simulation.time < seconds and time.thread_time() - begin < patience:
        start = time.thread_time()
        simulation.step()
        longest, steps = max(longest, time.thread_time() - start), steps + 1
        residual = max(residual, simulation.info.residual)
    took, info = time.thread_time() - begin, simulation.info
    line = (f"{simulation.time / took:7.2f} x real time for {simulation.time:5.2f} s, step {1e3 * took / steps:8.2f} "
            f"ms, longest {1e3 * longest:8.1f} ms, {info.contacts:4d} contacts")
    if info.steps:
        line += (f", a step {info.pieces / info.steps:.2f} pieces {info.solves / info.steps:.2f} solves "
                 f"{info.events / info.steps:.2f} events, residual {residual:.1e}")
    return f"{name:18s} {method:13s} {line}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(gallery()))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--patience", type=float, default=60.0, help="[s] of one core for a scene and method")
    arguments = parser.parse_args()
    for name in arguments.scenes:
        for method in arguments.methods:
            try:
                print(run(name, method, arguments.seconds, arguments.patience), flush=True)
            except ValueError as refused:
                print(f"{name:18s} {method:13s} {refused}", flush=True)


if __name__ == "__main__":
    main()
