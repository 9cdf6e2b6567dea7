"""Compile every kernel before it is needed, behind a progress bar: the first start of all takes a while."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from contactlab.physics import jit
from contactlab.physics.integrators import INTEGRATORS
from contactlab.physics.methods import METHODS
from contactlab.physics.scene import Scene
from contactlab.physics.simulation import Simulation
from contactlab.physics.solvers import SOLVERS

#: one shape of every kind a dynamic body can have
SHAPES: tuple[dict[str, Any], ...] = (
    {"type": "sphere", "radius": 0.5},
    {"type": "box", "size": [1.0, 1.0, 1.0]},
    {"type": "capsule", "radius": 0.4, "height": 0.5},
    {"type": "cylinder", "radius": 0.5, "height": 1.0},
    {"type": "hull", "points": [[-0.5, -0.5, -0.5], [0.5, 0.0, -0.5], [0.0, 0.5, -0.5], [0.0, 0.0, 0.5]]},
)
TRIANGLES = "v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nf 1 2 3\nf 1 3 4\n"


def warm_up(progress: Callable[[str, float], None]) -> None:
    """Make a few steps of tiny scenes that use every kernel; `progress` is told what is done and how much of the whole
    (0..1) before each. Takes a fraction of a second where the kernels are cached (`kernels_cached`)."""
    progress("free motion", compiled_share())
    flying = Simulation(Scene.from_dict(_scene(SHAPES[:1], ())))
    for name in INTEGRATORS:
        flying.set(integrator=name)
        flying.step()
    progress("a ball on a plane", compiled_share())
    _run(Scene.from_dict(_scene(SHAPES[:1], ({"type": "plane"},))))
    progress("all shapes", compiled_share())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "floor.obj").write_text(TRIANGLES)
        ground = ({"type": "plane"}, {"type": "mesh", "file": "floor.obj"})
        _run(Scene.from_dict(_scene(SHAPES * 2, ground), Path(folder)))
    progress("ready", 1.0)
    _note_ready()


def _scene(shapes: tuple[dict[str, Any], ...], ground: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """A pile of overlapping bodies on the ground, the later the faster, the first on a spring."""
    bodies: list[dict[str, Any]] = [
        {"name": f"body {i}", "position": [0.01 * i, 0.02 * i, 0.4], "velocity": [0.0, 0.0, -50.0 * i],
         "angular_velocity": [1.0, 2.0, 3.0], "shape": [shape]}
        for i, shape in enumerate(shapes)
    ]
    bodies += [{"name": f"ground {i}", "fixed": True, "shape": [shape]} for i, shape in enumerate(ground)]
    spring = {"body_a": "world", "anchor_a": [0.0, 0.0, 2.0], "body_b": "body 0", "stiffness": 1.0}
    return {"scene": {"title": "warm-up"}, "body": bodies, "spring": [spring]}


def _run(scene: Scene) -> None:
    for method, solver in product(METHODS, SOLVERS):
        simulation = Simulation(scene, method=method, solver=solver, iterations=2)
        simulation.step()
        simulation.grab("body 0", (0.0, 0.0, 0.5), (0.0, 0.0, 0.6))
        simulation.step()
        simulation.problem()
        simulation.energy()


def compiled_share() -> float:
    """Part of all kernels that are ready to run, 0..1."""
    return sum(bool(k.signatures) for k in jit.KERNELS) / len(jit.KERNELS)


def kernels_cached() -> bool:
    """Whether these sources were warmed up before, so that doing it again takes no time worth a progress bar."""
    return _ready().exists()


def _ready() -> Path:
    """A file in the cache folder that stands for this module and everything it imports: the whole engine."""
    return jit.cache_folder("warm_up") / "ready"


def _note_ready() -> None:
    with suppress(OSError):  # a read-only home: every process compiles anew
        _ready().touch()
    jit.prune_caches()
