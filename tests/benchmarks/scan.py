"""A scan of a million triangles as scenery: python tests/benchmarks/scan.py [--cells 708] [--bodies 0.1] [--whole]

A bumpy square of 2 cells^2 triangles, written to an STL file in a temporary folder; 25 boxes and 25 balls lie on it,
--bodies metres long.
Told are
- how long opening takes: reading, edges and boxes, all that the window waits for,
- what finding all contacts of a step costs, and the step itself, at rest: the least of several rounds, by one thread
  and by as many as usual; other programs must leave the cores alone,
- how long a picture's first frame takes, for which triangles are made, and the median of a frame while the camera turns
  and all of the square is seen; --whole: also without the copy of fewer triangles that software renderers draw,
- with --live, that alone: the frames per second of the real window while they fall, see frames.py.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from frames import live, settled, turned

from contactlab.app.opening import opened
from contactlab.app.record.studio import Studio
from contactlab.app.view import simplified
from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.detector import Detector
from contactlab.physics.core import team

SIDE = 10.0      # [m] of the square
BODIES = 50
REST = 300       # steps until they lie still
MARGIN = 1e-3    # [m] of each body, within which contacts are found
ROUNDS, EACH = 20, 20
FRAMES = 60


def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Hills of 4 dm with roughness of 4 mm [m]."""
    return (0.2 * np.sin(2.0 * x) * np.cos(3.0 * y) + 0.002 * np.sin(41.0 * x + 3.0 * np.sin(7.0 * y))
            * np.cos(37.0 * y))


def write_scan(path: Path, cells: int) -> int:
    """A binary STL file; how many triangles it has."""
    x = np.linspace(-0.5 * SIDE, 0.5 * SIDE, cells + 1)
    at_x, at_y = np.meshgrid(x, x, indexing="ij")
    points = np.stack([at_x, at_y, height(at_x, at_y)], axis=2)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    rows = np.zeros(2 * cells**2, [("normal", "<3f4"), ("corners", "<9f4"), ("unused", "<u2")])
    rows["corners"] = np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 9)
    path.write_bytes(bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes())
    return len(rows)


def scene_text(length: float) -> str:
    """Fifty bodies of this length [m], in rows just above scan.stl."""
    rows = ['[scene]\ntitle = "scan"\n[material.default]\nfriction = 0.8\nrestitution = 0.0\n'
            '[[body]]\nname = "ground"\nfixed = true\n[[body.shape]]\ntype = "mesh"\nfile = "scan.stl"\n']
    for k in range(BODIES):
        x, y = 0.9 * (k % 10) - 4.1, 1.7 * (k // 10) - 3.3
        shape = f'"box"\nsize = [{length}, {0.8 * length}, {0.6 * length}]' if k % 2 else (
            f'"sphere"\nradius = {0.5 * length}')
        z = float(height(np.array(x), np.array(y))) + length
        rows.append(f'[[body]]\nname = "b{k}"\nposition = [{x}, {y}, {z}]\n[[body.shape]]\ntype = {shape}\n')
    return "".join(rows)


def collide(scene: Scene) -> None:
    """Print the contacts, and what finding them and a step cost."""
    simulation = Simulation(scene)
    for _ in range(REST):
        simulation.step()
    detector, bodies = Detector(simulation.model), simulation.state.bodies
    margin = np.full(len(bodies.x), MARGIN)
    found = int(detector.detect(bodies, margin).count[0])
    for threads in sorted({1, team.threads()}):
        team.set_threads(threads)
        least = [float("inf")] * 2
        for _ in range(ROUNDS):
            for way, work in enumerate((lambda: detector.detect(bodies, margin), simulation.step)):
                begin = time.perf_counter()
                for _ in range(EACH):
                    work()
                least[way] = min(least[way], (time.perf_counter() - begin) / EACH)
        print(f"{found} contacts of {BODIES} bodies by {threads} threads: found in {1e3 * least[0]:.3f} ms, "
              f"a step {1e3 * least[1]:.3f} ms", flush=True)
    team.set_threads(None)


def draw(scene: Scene, size: tuple[int, int]) -> None:
    """Print how long the first picture and those of a turning camera take."""
    snapshot = settled(scene)
    with Studio(size, False) as studio:
        studio.aim(snapshot, scene)
        studio.camera.target, studio.camera.distance = np.zeros(3), 1.3 * SIDE
        walls = [turned(studio, snapshot, k) for k in range(FRAMES)]
        drawn, of = studio.stages[0].stages[0].renderer.triangles
        median = statistics.median(walls[5:])
        told = f"{drawn} of {of} triangles" if of else "all triangles"
        print(f"{told}: first picture {walls[0]:.2f} s, then {1e3 * median:.1f} ms ({1.0 / median:.1f} fps), least "
              f"{1e3 * min(walls):.1f} ms, {studio.ctx.info['GL_RENDERER']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=708)
    parser.add_argument("--bodies", type=float, default=0.1, help="[m]")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--size", default="1280x800")
    options = parser.parse_args()
    width, _, high = options.size.partition("x")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scan.toml"
        path.write_text(scene_text(options.bodies))
        count = write_scan(path.with_suffix(".stl"), options.cells)
        begin, cpu = time.perf_counter(), time.process_time()
        scene = opened(path).content
        walls, cpu = time.perf_counter() - begin, time.process_time() - cpu
        print(f"{count} triangles opened in {walls:.1f} s, {cpu:.1f} s of the processor", flush=True)
        assert isinstance(scene, Scene)
        if options.live:
            live("scan", scene, (int(width), int(high)), 0.0)
            return
        collide(scene)
        draw(scene, (int(width), int(high)))
        if options.whole:
            simplified.MOST = 2 * count
            draw(scene, (int(width), int(high)))


if __name__ == "__main__":
    main()
