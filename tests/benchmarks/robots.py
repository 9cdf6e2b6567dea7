"""Robots as people have them: those of pybullet_data, dropped or let go, by every method: how far each comes within a
time of the processor, and by how much its energy grows beyond what was put in. Run by hand:
`python tests/benchmarks/robots.py --limit 20`, or with methods and names of files.

The growth is that of `simulation.alarm`, relative to the energy at hand, largest after SETTLED: before that links that
overlap in the file give back what they hold. The rule pauses a run in the app; here it is told and the run goes on.
"""

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "fuzz"))
from test_zoo import ALL, BROKEN, FOLDER, SETTLED

from contactlab.physics import Simulation, open_file
from contactlab.physics.core.interruption import Interrupted, interruptible, look_up
from contactlab.physics.methods import METHODS
from contactlab.physics.simulation.alarm import EnergyAlarm, growth_of
from contactlab.physics.simulation.failure import CannotStep


def run(name: str, method: str, seconds: float, limit: float) -> str:
    """A row: what came of one robot."""
    scene = open_file(FOLDER / name)
    try:
        warm, sim = Simulation(scene, method=method), Simulation(scene, method=method)
    except ValueError as refused:
        return f"| {name} | {method} | – | – | – | {refused} |"
    growth, alarm, said, begun = 0.0, EnergyAlarm(), "", time.process_time()
    try:
        with suppress(Interrupted), interruptible(lambda: time.process_time() - begun > limit):
            warm.step()  # its kernels are compiled
        begun = time.process_time()
        with interruptible(lambda: time.process_time() - begun > limit):
            while sim.time < seconds - 1e-9:
                look_up()
                sim.step()
                said = said or alarm.look(sim)
                if sim.time > SETTLED:
                    growth = max(growth, growth_of(sim)[2])
    except Interrupted:
        pass
    except CannotStep as error:
        said = str(error)
    return f"| {name} | {method} | {sim.time:.2f} | {time.process_time() - begun:.1f} | {growth:.1g} | {said} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated")
    parser.add_argument("--limit", type=float, default=60.0, help="time of the processor for a robot by a method [s]")
    given = parser.parse_args()
    print("| robot | method | simulated s | processor s | growth of energy | said |\n|---|---|---|---|---|---|")
    for method in given.methods:
        for name in given.names or [name for name in ALL if name not in BROKEN]:
            print(run(name, method, given.seconds, given.limit), flush=True)


if __name__ == "__main__":
    main()
