"""How long until something is there: python tests/benchmarks/startup.py [--cold]

Warm: fresh process, kernels cached, to the first step of the first gallery scene, to the window's first picture of it
with its panels (the end of that frame, on a virtual screen where Xvfb is there), to its first offscreen picture as a
video, and to having every kernel ready, as the app does behind its progress bar. Bytecode is cached, as at every user:
where PYTHONDONTWRITEBYTECODE is set, each start would compile all sources again.
Cold (--cold): the same with an empty cache folder, as on the very first start. Medians of 5 (cold: 1). Before it, what
the app compiles before the first scene runs: the time on the clock, and the processor time of the two processes that
share the work, which another program on the machine lengthens less.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

SCENE = """
from contactlab.assets import gallery
from contactlab.physics import Scene
scene = Scene.load(next(iter(gallery().values())))
"""
STEP = SCENE + """
from contactlab.physics import Simulation
Simulation(scene).step()
"""
PICTURE = SCENE + """
from pathlib import Path
from contactlab.app.record.recorder import Film, record
from contactlab.app.record.reel import Run
from contactlab.physics.lesson.video import VideoTable
record(Run(scene), Path("{out}/first.mp4"), Film(VideoTable(until=1 / 60, size=(1280, 800))))
"""
WINDOW = """
import os, threading, time
from pathlib import Path

def leave_after_the_first():
    import sys
    while not hasattr(sys.modules.get("contactlab.app.window.window"), "Window"):
        time.sleep(0.001)
    window = sys.modules["contactlab.app.window.window"].Window
    draw = window._draw_frame

    def and_leave(self, *arguments, **more):
        there = self.lab is not None and self.lab.snapshot is not None
        draw(self, *arguments, **more)
        if there:
            self.ctx.finish()
            os._exit(0)

    window._draw_frame = and_leave

threading.Thread(target=leave_after_the_first, daemon=True).start()
from contactlab.app.command_line.program import program
program()
"""
FIRST_START = SCENE + """
import os
from contactlab.physics.run.warm_up import compile_for
compile_for(scene, {})
took = os.times()
print(f"  processor time {took.user + took.system:.1f} s and {took.children_user + took.children_system:.1f} s")
"""
WARM_UP = """
from contactlab.physics.run.warm_up import warm_up
warm_up()
"""


def wall(code: str, repeats: int, environment: dict[str, str]) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@contextmanager
def screen() -> Iterator[str]:
    """A virtual screen of its own; without Xvfb the one that is there."""
    if shutil.which("Xvfb") is None:
        yield os.environ["DISPLAY"]
        return
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        try:
            with os.fdopen(read) as numbers:
                yield ":" + numbers.readline().strip()
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cold", action="store_true")
    cold = parser.parse_args().cold
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, **({"XDG_CACHE_HOME": folder} if cold else {}))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        repeats = 1 if cold else 5
        if cold:
            print(f"first start       {wall(FIRST_START, 1, environment):.2f} s")
            shutil.rmtree(folder)
        print(f"interpreter alone {wall('pass', repeats, environment):.2f} s")
        print(f"first step        {wall(STEP, repeats, environment):.2f} s")
        with screen() as display:
            shown = wall(WINDOW, repeats, environment | {"DISPLAY": display})
            print(f"window's first    {shown:.2f} s")
        print(f"first video       {wall(PICTURE.format(out=folder), repeats, environment):.2f} s")
        print(f"every kernel      {wall(WARM_UP, repeats, environment):.2f} s")


if __name__ == "__main__":
    main()
