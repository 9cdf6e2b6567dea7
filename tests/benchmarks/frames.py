"""Frame times of the viewer: python tests/benchmarks/frames.py [--size 1280x800] [--panels] [--turning] [SCENE ...]

Draws a gallery scene (default: the bin of mixed bodies) and 300 boxes (--boxes: others) as the window does, shadows and
contact glyphs included, panels where asked, and reads the picture back; medians over 100 frames. "cpu" is the processor
time of a frame in all threads, which other programs disturb less than its duration. MuJoCo's renderer draws the same
boxes beside it where it is installed.

--turning turns the camera from frame to frame, so that nothing of the last picture can be kept, and waits until the
picture is there instead of reading it back: a frame of the window while one looks around. It does so with the physics
thread at rest, and again while that thread runs as fast as it can.

--live opens the real window, with its panels and then without, while the physics thread runs, and counts the frames
that it presented in five seconds. Of the physics thread it says which part of the time it computed, could have computed
had a core been free, and waited: for its turn at Python, or for the next step to be due. Without a display it needs
xvfb-run -s "-screen 0 1280x800x24" before it. --switch sets another interval of Python's lock than the app's.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np

from contactlab.app.record.studio import Studio
from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.run.messages import Play, Snapshot, Step
from contactlab.physics.run.runner import Runner

FRAMES = 100
FALL = 240  # steps until boxes touch each other everywhere
SETTLE, LIVE = 2.0, 5.0  # [s] of a window before, and while, its frames are counted


def boxes(count: int) -> Scene:
    """Boxes in a loose grid above the ground."""
    side = int(np.ceil(count ** (1 / 3)))
    rows = [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}]
    for i in range(count):
        place = np.array([i % side, i // side % side, i // side**2])
        rows.append({"name": f"b{i}", "position": (0.6 * place + [0, 0, 0.25]).tolist(),
                     "shape": [{"type": "box", "size": [0.5, 0.5, 0.5]}]})
    return Scene.from_dict({"scene": {"title": f"{count} boxes"}, "body": rows})


def settled(scene: Scene) -> Snapshot:
    """The scene after 60 steps."""
    runner = Runner(scene, paused=True)
    runner.begin()
    runner.send(Step(60))
    runner.tick()
    assert runner.latest is not None
    return runner.latest


def turned(studio: Studio, snapshot: Snapshot, k: int) -> float:
    """Draw the k-th picture of a turning camera, and wait until it is there; how long that took [s]."""
    start = time.perf_counter()
    studio.camera.orbit(0.005, 0.0)
    studio.begin(k / 60)
    studio.show([snapshot], [studio.whole])
    studio.gui.finish(studio.offscreen.fbo)
    studio.ctx.finish()
    return time.perf_counter() - start


def measure(scene: Scene, size: tuple[int, int], panels: bool) -> tuple[int, float, float]:
    """Bodies, and median milliseconds of a frame: duration, and processor time."""
    snapshot = settled(scene)
    with Studio(size, panels) as studio:
        studio.aim(snapshot, scene)
        walls, cpus = [], []
        for k in range(FRAMES + 5):
            wall, cpu = time.perf_counter(), time.process_time()
            studio.picture(snapshot, k / 60)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
    return len(snapshot.x), statistics.median(walls[5:]) * 1e3, statistics.median(cpus[5:]) * 1e3


def turning(name: str, scene: Scene, size: tuple[int, int], panels: bool) -> None:
    """Print the median and 95th percentile of a frame while the camera turns: physics thread at rest, and running."""
    runner = Runner(scene, paused=True)
    runner.start()
    runner.send(Step(FALL))
    while runner.latest is None or runner.latest.step < FALL:
        time.sleep(0.05)
    with Studio(size, panels) as studio:
        studio.aim(runner.latest, scene)
        for running in (False, True):
            if running:
                runner.send(Play())
            walls, first = [], runner.latest.step
            for k in range(FRAMES + 5):
                snapshot = runner.latest
                walls.append(turned(studio, snapshot, k))
            ms = np.percentile(1e3 * np.array(walls[5:]), [50, 95])
            print(f"{name:16}{len(snapshot.x):6} bodies {int(snapshot.contacts.count[0]):6} contacts, "
                  f"{'running' if running else 'at rest'}: {ms[0]:6.1f} ms {1e3 / ms[0]:6.1f} fps, 95 of 100 below "
                  f"{ms[1]:6.1f} ms; {snapshot.step - first} steps meanwhile", flush=True)
        print(studio.ctx.info["GL_RENDERER"])
    runner.stop()


#: the threads that step: one decides, one computes the step that can be left
STEPPING = ("physics", "contactlab-apart")


def scheduled() -> np.ndarray:
    """How long the threads that step have computed, and have waited for a core, taken together [s]
    [Linux, Documentation/scheduler/sched-stats]"""
    times = [Path(f"/proc/self/task/{t.native_id}/schedstat").read_text().split()[:2]
             for t in threading.enumerate() if t.name in STEPPING]
    return 1e-9 * np.array(times, float).sum(axis=0)


def live(name: str, scene: Scene, size: tuple[int, int], switch: float) -> None:
    """Print the frames per second of the window, the processor time of a frame, and the pace of the physics."""
    import pyglet

    from contactlab.app.ui_state import Preferences
    from contactlab.app.window import program, window

    sys.setswitchinterval(switch or program.SWITCH)
    shown = window.Window(Preferences(width=size[0], height=size[1]))
    runner = Runner(scene)
    shown.begin(runner, None)
    flips: list[float] = []
    flip = shown.flip
    shown.flip = lambda: (flip(), flips.append(time.perf_counter()))
    marks: list[tuple[float, ...]] = []

    def look(_: float) -> None:
        snapshot = runner.latest
        if runner.progress is not None or snapshot is None:
            return
        computed, queued = scheduled()
        now = time.perf_counter(), len(flips), time.process_time() - computed, computed, queued, snapshot.t
        if not marks or now[0] - marks[-1][0] > (SETTLE if len(marks) % 2 else LIVE):
            marks.append(now)
        if len(marks) == 3:
            seconds, frames, drawing, stepping, queued, simulated = np.subtract(marks[2], marks[1])
            panels = "without" if shown.ui.panels_hidden else "with"
            contacts = int(snapshot.contacts.count[0])
            print(f"{name:16}{len(snapshot.x):6} bodies {contacts:5} contacts, {panels:7} panels "
                  f"{frames / seconds:5.1f} fps {1e3 * drawing / frames:6.1f} ms cpu a frame, physics at "
                  f"{simulated / seconds:4.2f} of real time: computes {stepping / seconds:.0%}, "
                  f"queues {queued / seconds:.0%}, waits {1.0 - (stepping + queued) / seconds:.0%}", flush=True)
            marks.clear()
            if shown.ui.panels_hidden:
                pyglet.app.exit()
            shown.ui.panels_hidden = True

    pyglet.clock.schedule_interval(look, 0.05)
    pyglet.app.run(interval=None)
    pyglet.clock.unschedule(look)
    shown.end()


def mujoco_boxes(scene: Scene, size: tuple[int, int]) -> float:
    """Median milliseconds MuJoCo's renderer takes for the same boxes, shadows on."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco

    setup = scene.build()
    bodies = "".join(f'<body pos="{x} {y} {z}"><geom type="box" size=".25 .25 .25"/></body>'
                     for (x, y, z), kind in zip(setup.state.bodies.x, setup.model.kind, strict=True) if kind == 0)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><size memory="1G"/><visual><global offwidth="{size[0]}" offheight="{size[1]}"/></visual><worldbody>'
        f'<light pos="3 -4 14" dir="-.2 .3 -1" castshadow="true"/>'
        f'<geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, size[1], size[0])
    times = []
    for _ in range(30):
        start = time.perf_counter()
        renderer.update_scene(data)
        renderer.render()
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:]) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=["bin"])
    parser.add_argument("--size", default="1280x800")
    parser.add_argument("--panels", action="store_true")
    parser.add_argument("--turning", action="store_true")
    parser.add_argument("--boxes", type=int, default=300)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--switch", type=float, default=0.0, help="[s]")
    options = parser.parse_args()
    width, _, height = options.size.partition("x")
    size = int(width), int(height)
    pile = boxes(options.boxes)
    scenes = [*((s, Scene.load(scene_path(s))) for s in options.scenes), (f"{options.boxes} boxes", pile)]
    for name, scene in scenes:
        if options.live:
            live(name, scene, size, options.switch)
        elif options.turning:
            turning(name, scene, size, options.panels)
        else:
            count, ms, cpu = measure(scene, size, options.panels)
            print(f"{name:16}{count:6} bodies {ms:8.1f} ms {1e3 / ms:7.1f} fps  cpu {cpu:6.1f} ms")
    if options.live or options.turning:
        return
    try:
        ms = mujoco_boxes(pile, size)
        print(f"{'MuJoCo':16}{options.boxes:6} boxes  {ms:8.1f} ms {1e3 / ms:7.1f} fps")
    except ImportError:
        print("MuJoCo is not installed")


if __name__ == "__main__":
    main()
