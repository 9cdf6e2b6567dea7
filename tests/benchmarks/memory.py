"""Whether memory stays flat: an hour of a scene through the app's physics thread, as fast as it goes, with its bounded
history, events and logs. Run by hand: python tests/benchmarks/memory.py [SCENE] [--method M] [--minutes N]
"""

import argparse
import time
from pathlib import Path

from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.run.messages import SetSpeed
from contactlab.physics.run.runner import Runner


def resident() -> float:
    """What this process holds in memory [MiB]."""
    line = next(s for s in Path("/proc/self/status").read_text().splitlines() if s.startswith("VmRSS"))
    return float(line.split()[1]) / 1024.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", nargs="?", default="dice")
    parser.add_argument("--method")
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
    settings = {"method": options.method} if options.method else {}
    runner = Runner(Scene.load(scene_path(options.scene)), settings)
    runner.start()
    runner.send(SetSpeed(1000.0))
    start = time.perf_counter()
    for k in range(13):
        until = k * 60.0 * options.minutes / 12.0
        while runner.latest is None or runner.latest.t < until:
            time.sleep(0.05)
        wall = time.perf_counter() - start
        print(f"{until / 60.0:5.1f} simulated minutes {wall:7.1f} s {resident():8.1f} MiB", flush=True)
    runner.stop()


if __name__ == "__main__":
    main()
