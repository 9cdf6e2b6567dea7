"""Memory of the app while scenes, methods, settings and panels change at random: resident memory over time, what of it
is in use, and how many objects Python and OpenGL hold. Run by hand: `python tests/benchmarks/soak.py --minutes 60`.

Panels and view are those of the window, drawn offscreen; the engine runs in its thread. All kernels are loaded first:
they take some hundred MiB, which the app loads as it needs them. After the first quarter, in which libraries are loaded
and caches fill, memory should be level but for the history of the scene that runs, 256 MiB at most (`core/limits.py`).
"""

import argparse
import ctypes
import gc
import random
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from gl_names import gl_names

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels.layout import draw_ui
from contactlab.app.panels.lower import TABS
from contactlab.app.record.studio import Studio
from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.methods import METHODS
from contactlab.physics.run import messages as m
from contactlab.physics.run import warm_up
from contactlab.physics.run.runner import Runner

SIZE = (1280, 800)
CHANGE = 2.0  # [s] between two changes


class Host:
    """What only a window can do is not done."""

    def __getattr__(self, name):
        return lambda *_: None


def resident() -> float:
    """Resident memory of this process [MiB], without what the C library keeps for later."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


class Allocated(ctypes.Structure):
    """The C library's `struct mallinfo2` [bytes]."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks", "used", "free", "keepcost")]


def in_use() -> float:
    """What is allocated and not given back, by whatever library [MiB]; resident memory has the gaps between as well."""
    ask = ctypes.CDLL("libc.so.6").mallinfo2
    ask.restype = Allocated
    told = ask()
    return (told.used + told.mapped) / 2**20


def change(lab: Lab, chance: random.Random, scenes: list[Path]) -> str:
    """One random change; returns what it was."""
    kind = chance.choice(("scene", "scene", "tab", "tab", "method", "seek", "speed", "compare", "set"))
    s = lab.snapshot
    if kind == "scene" or s is None:
        path = chance.choice(scenes)
        lab.open_path(path)
        return f"scene {path.stem}"
    if kind == "tab":
        name = chance.choice(list(TABS))
        commands.run(lab, f"tab_{name}")
        return f"tab {name}"
    if kind == "method":
        lab.send(m.Set("method", chance.choice(list(METHODS))))
    elif kind == "seek":
        lab.send(m.Seek(chance.randint(*s.history)))
    elif kind == "speed":
        lab.send(m.SetSpeed(chance.choice((0.1, 0.5, 1.0))))
    elif kind == "compare":
        settings = s.settings
        sides = tuple(m.Side(replace(settings, method=name)) for name in chance.sample(list(METHODS), 2))
        lab.send(m.Compare(() if s.sides else sides))
    else:
        lab.send(m.Set("friction", chance.uniform(0.0, 1.0)))
    lab.send(m.Play())
    return kind


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace", action="store_true", help="also tell which lines of Python hold more at the end")
    given = parser.parse_args()
    chance, scenes = random.Random(given.seed), [path for _, path in sorted(gallery().items())]
    print(f"before: {resident():.0f} MiB", flush=True)
    warm_up._run_everything()
    print(f"kernels: {resident():.0f} MiB", flush=True)
    runner = Runner(Scene.load(scenes[0]))
    runner.start()
    rows, start, next_change, next_row, first = [], time.monotonic(), 0.0, 0.0, None
    with Studio(SIZE, panels=True) as studio:
        lab = Lab(runner, studio.ui, Host())
        studio.ui.preferences.lower = True
        while (t := time.monotonic() - start) < 60.0 * given.minutes:
            lab.update()
            if t > next_change:
                next_change = t + CHANGE
                done = change(lab, chance, scenes)
            while studio.ui.requests:
                request = studio.ui.requests.pop(0)
                commands.run(lab, request.command, request.argument)
            if lab.snapshot is not None:
                frame(studio, lab, t)
            if t > next_row:
                next_row = t + max(10.0, 0.6 * given.minutes)
                rows.append((t, resident(), in_use()))
                kept = 0 if lab.snapshot is None else sum(
                    member.simulation.history._size for member in runner._sides.members) / 2**20
                print(f"{t:7.0f} s  {rows[-1][1]:7.0f} MiB, {rows[-1][2]:5.0f} in use, of these {kept:4.0f} history  "
                      f"{sys.getallocatedblocks():8d} blocks, {sum(gl_names().values())} of OpenGL  {done}", flush=True)
                if given.trace and first is None and t > 15.0 * given.minutes:
                    tracemalloc.start(8)
                    first = tracemalloc.take_snapshot()
            time.sleep(0.01)
        if first is not None:
            for line in tracemalloc.take_snapshot().compare_to(first, "lineno")[:25]:
                print(line)
    runner.stop()
    later = np.array([row for row in rows if row[0] > 15.0 * given.minutes])
    for column, what in ((1, "resident"), (2, "in use")):
        slope = np.polyfit(later[:, 0] / 3600.0, later[:, column], 1)[0]
        print(f"{what}, after a quarter: {later[:, column].min():.0f} to {later[:, column].max():.0f} MiB, "
              f"{slope:+.0f} MiB/h")


def frame(studio: Studio, lab: Lab, now: float) -> None:
    """One frame of the app, with commands sent to the engine."""
    ui = studio.ui
    ui.clock = now
    studio.gui.use()
    studio.gui.new_frame()
    draw_ui(ui, lab.snapshot, lab.send)
    studio.stages[0].render(lab.snapshot, lab.camera, ui, studio.offscreen.fbo, SIZE[1])
    studio.stages[0].write(lab.snapshot, lab.camera, ui)
    studio.gui.finish(studio.offscreen.fbo)


if __name__ == "__main__":
    main()
