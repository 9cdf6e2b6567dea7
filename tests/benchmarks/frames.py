"""Frame times of the viewer offscreen: python tests/benchmarks/frames.py [--size 1280x800] [--panels] [SCENE ...]

Draws a gallery scene (default: the bin of mixed bodies) and 300 boxes as the window does, shadows and contact glyphs
included, panels where asked, and reads the picture back; medians over 100 frames. MuJoCo's renderer draws the same
boxes beside it where it is installed.
"""

import argparse
import os
import statistics
import time

import numpy as np

from contactlab.app.recorder import Studio
from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.messages import Step
from contactlab.physics.runner import Runner

FRAMES = 100


def boxes(count: int) -> Scene:
    """Boxes in a loose grid above the ground."""
    side = int(np.ceil(count ** (1 / 3)))
    rows = [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}]
    for i in range(count):
        place = np.array([i % side, i // side % side, i // side**2])
        rows.append({"name": f"b{i}", "position": (0.6 * place + [0, 0, 0.25]).tolist(),
                     "shape": [{"type": "box", "size": [0.5, 0.5, 0.5]}]})
    return Scene.from_dict({"scene": {"title": f"{count} boxes"}, "body": rows})


def measure(scene: Scene, size: tuple[int, int], panels: bool) -> tuple[int, float]:
    """Bodies, and median milliseconds of a frame."""
    runner = Runner(scene, paused=True)
    runner.begin()
    runner.send(Step(60))
    runner.tick()
    snapshot = runner.latest
    assert snapshot is not None
    with Studio(size, panels) as studio:
        studio.aim(snapshot, None, scene)
        times = []
        for k in range(FRAMES + 5):
            start = time.perf_counter()
            studio.picture(snapshot, k / 60)
            times.append(time.perf_counter() - start)
    return len(snapshot.x), statistics.median(times[5:]) * 1e3


def mujoco_boxes(scene: Scene, size: tuple[int, int]) -> float:
    """Median milliseconds MuJoCo's renderer takes for the same boxes, shadows on."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco

    setup = scene.build()
    bodies = "".join(f'<body pos="{x} {y} {z}"><geom type="box" size=".25 .25 .25"/></body>'
                     for (x, y, z), kind in zip(setup.state.bodies.x, setup.model.kind, strict=True) if kind == 0)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><visual><global offwidth="{size[0]}" offheight="{size[1]}"/></visual><worldbody>'
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
    options = parser.parse_args()
    width, _, height = options.size.partition("x")
    size = int(width), int(height)
    pile = boxes(300)
    for name, scene in [*((s, Scene.load(scene_path(s))) for s in options.scenes), ("300 boxes", pile)]:
        count, ms = measure(scene, size, options.panels)
        print(f"{name:16}{count:6} bodies {ms:8.1f} ms {1e3 / ms:7.1f} fps")
    try:
        ms = mujoco_boxes(pile, size)
        print(f"{'MuJoCo':16}{300:6} boxes  {ms:8.1f} ms {1e3 / ms:7.1f} fps")
    except ImportError:
        print("MuJoCo is not installed")


if __name__ == "__main__":
    main()
