"""Compile kernels before they are needed: at the first start those of the scene, in two processes, then all others in
another one."""

import gc
import math
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event

try:
    import fcntl
except ImportError:  # Windows: processes may compile the same kernels side by side
    fcntl = None

from ..collision import Detector
from ..collision.broad_phase import FEW
from ..collision.shared_pairs import MANY_SHAPES
from ..core import jit
from ..core.attached_process import attached_process
from ..core.held_folder import ScratchFolder
from ..core.model import body_count, movable
from ..core.state import copy_state
from ..core.team import set_threads
from ..core.whole_file import whole_file
from ..dynamics.forces import empty_loads
from ..dynamics.trees.joint_space import apparent_inverse_inertia, forward_dynamics
from ..dynamics.trees.mass_matrix import joint_space
from ..impacts.impact_laws import IMPACT_LAWS
from ..integrators import FLIGHT, INTEGRATORS, Dense, integrate
from ..look.inspection import Inspect, look, look_at_step
from ..methods import METHODS
from ..methods.sleep import STEPS
from ..methods.time_stepping.books import book
from ..methods.time_stepping.moreau import tell
from ..methods.time_stepping.stages import describe
from ..methods.time_stepping.work import Workspace
from ..problem.grab_row import hold
from ..problem.problem import ContactProblem, Takes
from ..problem.residual import system_residual
from ..problem.system import INV_MASS
from ..scene.scene import Scene
from ..shapes.superellipsoid import curvature_of, widest_radius
from ..simulation.simulation import Simulation
from ..solvers import SOLVERS, BodiesSolver
from ..solvers.borne_friction import borne
from ..solvers.coulomb import all_sets
from ..solvers.crowd import by_modes
from .impact_cost import ways_of_chain
from .link_study import chain

LOOKED_UP = 0.25  # [s] between looks at how much is compiled, for whoever draws
#: shapes of dynamic bodies that together need every collision kernel; a cone needs no kernel of its own
SHAPE_TABLES: tuple[dict[str, Any], ...] = (
    {"type": "sphere", "radius": 0.5},
    {"type": "box", "size": [1.0, 1.0, 1.0]},
    {"type": "capsule", "radius": 0.4, "height": 0.5},
    {"type": "cylinder", "radius": 0.5, "height": 1.0},
    {"type": "ellipsoid", "size": [1.0, 0.9, 0.8]},
    {"type": "superellipsoid", "size": [1.0, 0.9, 0.8], "exponents": [0.5, 1.5]},
    {"type": "hull", "points": [[-0.5, -0.5, -0.5], [0.5, 0.0, -0.5], [0.0, 0.5, -0.5], [0.0, 0.0, 0.5]]},
    {"type": "torus", "radius": 0.5, "tube": 0.1},
)
#: a mesh that moves, and its file
SOLID: dict[str, Any] = {"type": "mesh", "file": "solid.obj", "collide": "surface"}
SOLID_OBJ = "v -1 -1 -1\nv 1 0 -1\nv 0 1 -1\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
#: a square floor as an OBJ file
FLOOR_OBJ = "v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nf 1 2 3\nf 1 3 4\n"


def _made(scene: Scene, settings: Mapping[str, Any]) -> Simulation:
    """The simulation with any of its settings, those of contacts too."""
    simulation = Simulation(scene)
    simulation.set(**settings)
    return simulation


def compile_for(scene: Scene, settings: Mapping[str, Any]) -> None:
    """Compile, or load, the kernels that running this scene needs, those of the mouse included. numba compiles one
    kernel at a time in a process, so another process, which begins first, compiles those of the default solver, of the
    mouse and of the end of a step, or of the integrator. Meanwhile this one makes steps with sweeps, which take little
    to compile."""
    asked = scene.tables.solver.model_dump() | dict(settings)
    solves = asked["method"] in METHODS and "solver" in METHODS[asked["method"]].uses
    others = start("compile_ahead", asked["integrator"], asked["solver"] if solves else "")
    quick = _made(scene, settings)
    quick.set(solver="pgs")
    _move(quick)
    _touch(quick)
    others.wait()  # where it fails, this process compiles them too
    as_asked = _made(scene, settings)
    _move(as_asked)
    _read(as_asked)


def prepare(simulation: Simulation) -> None:
    """Compile, or load, the kernels that this simulation needs to go on, by steps of another one like it."""
    twin = Simulation(simulation.scene)
    twin.set(**asdict(simulation.settings))
    _use(twin)


def compile_the_rest() -> subprocess.Popen[bytes]:
    """Start a process that compiles every kernel into the cache, for all that may be chosen later; it takes minutes. It
    ends when this process does, and the next one goes on from there."""
    return start("warm_up")


def start(function: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A process that calls a function of this module."""
    return attached_process(f"from {__name__} import {function}; {function}(*{arguments})")


def warm_up() -> None:
    """Make a few steps of small scenes that use every kernel, and record that all kernels are cached now. Where another
    process does so at the moment, wait for it.
    """
    with _alone() as needed:
        if needed:
            _run_everything()
            note_ready()


def _run_everything() -> None:
    _run_exactly()
    _solve()
    with _everything() as scene:
        model, state, _, _ = scene.build()
        detector = Detector(model)
        detector.time_of_impact(state.bodies, state.memory, 1.0 / 480.0)
        detector.detect(state.bodies, np.zeros(body_count(model)))
        _use(Simulation(scene, method="time_stepping", iterations=2))
        soft = Simulation(scene, method="compliant")
        soft.set(stiffness_n=1.0, stiffness_t=1.0, substeps=1)  # overlaps this deep would need thousands of substeps
        _use(soft)
    heap = {"name": "body 0", "shape": list(SHAPE_TABLES[:1] * (FEW + 1))}  # many shapes of one body touch in one place
    model, state, _, _ = Scene.from_dict({"body": [heap, {"fixed": True, "shape": [{"type": "plane"}]}]}).build()
    Detector(model).detect(state.bodies, np.zeros(body_count(model)))
    ball = Scene.from_dict(_scene(SHAPE_TABLES[:1], ({"type": "plane"},)))
    for solver in ("pgs", "interior_point"):  # sweeps, and a solver that reads the whole matrix M
        rough = Simulation(ball, method="time_stepping", solver=solver)
        rough.set(friction_rolling=0.1, friction_static=1.0)
        _use(rough)
    for integrator in ("dopri5", "sdirk2"):
        _use(Simulation(ball, method="compliant", integrator=integrator))
    fly(*INTEGRATORS, *FLIGHT)
    _run_asleep()
    _run_in_company()
    _run_joined()
    _call_what_scripts_call()
    jit.compile_awaited()


def _call_what_scripts_call() -> None:
    """What no step needs: of a chain of two links, and of a ball."""
    space, none = joint_space(chain(2, "generalized").build().model.trees), np.zeros(2)
    forward_dynamics(space, np.zeros(3), none, none, none, none, np.zeros(2))
    apparent_inverse_inertia(space, 1, none, np.zeros(2), np.zeros((6, 6)))
    curvature_of(np.ones(3), np.ones(2), np.array([0.0, 0.0, 1.0]))
    widest_radius(np.ones(3), np.ones(2))


@contextmanager
def _alone() -> Iterator[bool]:
    """Wait until no other process compiles, and tell whether anything is left to compile."""
    try:
        _ready().parent.mkdir(parents=True, exist_ok=True)
        lock = _ready().with_name("warming").open("ab")
    except OSError:  # a read-only home: nothing can be cached
        yield False
        return
    with lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed or the process ends
        yield not kernels_cached()


def _solve() -> None:
    """A problem of redundant contacts by every solver, and one with friction by those that take it."""
    smooth = ContactProblem.frictionless(np.ones((3, 3)), -np.ones(3))
    rough = ContactProblem.frictional(np.eye(6) + 1.0, -np.ones(6), 0.5)
    for solver in SOLVERS.values():
        solver(smooth, np.zeros(3))
        if Takes.FRICTION in solver.takes:
            solver(rough, np.zeros(6))


def compile_ahead(integrator: str, solver: str) -> None:
    """Compile, or load, what `compile_for` leaves to another process. solver: "" = none. In a process of its own, which
    leaves what it no longer needs where it is."""
    gc.disable()
    visiting = SOLVERS.get(solver)
    if isinstance(visiting, BodiesSolver):
        _end_step(visiting)
    elif integrator in INTEGRATORS | FLIGHT:
        fly(integrator)


def _end_step(visiting: BodiesSolver) -> None:
    """Half of what a step of `time_stepping` takes, of a ball in the air: its end, which is first as the other process
    comes to it soon; the mouse, and the solver where it pulls; what can be read of a step."""
    model, state, _, _ = Scene.from_dict(_scene(SHAPE_TABLES[:1], ())).build()
    work, loads, h = Workspace(model).work(INTEGRATORS["heun"]), empty_loads(1), 1.0 / 240.0
    book(model, state, loads, h, 0, work)
    tell(model, state, loads, h, work)
    loads.grab_body[0], loads.grab_target[0] = 0, 1.0
    work.system.motion.bodies[0, INV_MASS] = 1.0
    hold(model, work.mechanisms, work.middle, loads, h, work.system)
    visiting.solve_bodies(work.system, 1, 1.0)
    system_residual(work.system)
    describe(work.system, work.middle.x, work.approach, work.detection.contacts)


def _touch(simulation: Simulation) -> None:
    """Let shapes of any two kinds touch each other that may be far apart now."""
    detector, of_kind = Detector(simulation.model), dict[int, list[int]]()
    for shape, kind in enumerate(simulation.model.shapes.kind.tolist()):
        of_kind.setdefault(kind, []).append(shape)
    for pair in combinations(sorted(shape for same in of_kind.values() for shape in same[:2]), 2):
        detector.gap(simulation.state.bodies, *pair)


def fly(*names: str) -> None:
    """One step of a ball in the air with these integrators."""
    setup = Scene.from_dict(_scene(SHAPE_TABLES[:1], ())).build()
    bodies, loads, dense = setup.state.bodies, empty_loads(1), Dense(setup.model)
    for name in names:
        integrator = (INTEGRATORS | FLIGHT)[name]
        integrate(integrator, setup.model, loads, 0.0, 1e-3, bodies, copy_state(setup.state).bodies, dense)


@contextmanager
def _everything() -> Iterator[Scene]:
    """A scene with all of SHAPE_TABLES and a mesh that moves, twice, on a plane, on a mesh and in a bowl."""
    with ScratchFolder() as folder:
        (folder / "floor.obj").write_text(FLOOR_OBJ, encoding="utf-8")
        (folder / "solid.obj").write_text(SOLID_OBJ, encoding="utf-8")
        ground = ({"type": "plane"}, {"type": "mesh", "file": "floor.obj"}, {"type": "bowl", "radius": 5.0})
        yield Scene.from_dict(_scene((*SHAPE_TABLES, SOLID) * 2, ground), folder)


def _scene(shapes: tuple[dict[str, Any], ...], ground: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """A pile of overlapping bodies on the ground, each faster than the one before, the first on a spring and in a group
    of its own."""
    bodies: list[dict[str, Any]] = [
        {"name": f"body {i}", "position": [0.01 * i, 0.02 * i, 0.4], "velocity": [0.0, 0.0, -50.0 * i],
         "angular_velocity": [1.0, 2.0, 3.0], "shape": [shape]}
        for i, shape in enumerate(shapes)
    ]
    bodies += [{"name": f"ground {i}", "fixed": True, "shape": [shape]} for i, shape in enumerate(ground)]
    bodies[0]["group"] = "first"
    spring = {"body_a": "world", "anchor_a": [0.0, 0.0, 2.0], "body_b": "body 0", "stiffness": 1.0}
    return {"scene": {"title": "warm-up"}, "body": bodies, "spring": [spring],
            "apart": [{"bodies": ["first", "first"]}]}


def _run_joined() -> None:
    """A body on a driven hinge, in either coordinates, that rests on the ground and turns past the end of the hinge. A
    second body hangs on it by a ball joint in maximal coordinates. Then two bodies with a hinge between them, and a
    pendulum without a shape, which nothing can touch."""
    bodies = [{"name": f"body {i}", "position": [0.0, 0.0, 0.5 + i], "shape": [SHAPE_TABLES[0]]} for i in range(2)]
    pin = {"type": "ball", "parent": "body 0", "child": "body 1", "anchor": [0.0, 0.0, 1.0], "coordinates": "maximal"}
    ground = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}
    hinge = {"type": "hinge", "child": "body 0", "axis": [0.0, 1.0, 0.0], "damping": 1.0, "armature": 0.1,
             "velocity": 1.0, "motor": {"speed": 1.0, "limit": 1.0}}
    for coordinates, method in product(("maximal", "generalized"), METHODS):
        joints = [hinge | {"coordinates": coordinates, "limits": [-0.2, 0.2]}, pin]
        simulation = Simulation(Scene.from_dict({"body": [*bodies, ground], "joint": joints}), method=method)
        _use(simulation)
        look(simulation, Inspect("equations"))
        look(simulation, Inspect("trees", body=0))
        look(simulation, Inspect("joints"))
        if method == "compliant":
            simulation.set(integrator="sdirk2")
            _use(simulation)
    loose = Scene.from_dict({"body": [*bodies, ground], "joint": [hinge | {"parent": "body 1"}]})
    _use(Simulation(loose, method="time_stepping"))
    point = {"name": "body 0", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    pendulum = Scene.from_dict({"body": [point], "joint": [hinge | {"damping": 0.0, "motor": {"torque": 1.0}}]})
    _use(Simulation(pendulum, method="time_stepping", integrator="heun"))
    way = [{"time": 0.002 * k, "position": [0.0, 0.0, 0.001 * (k % 2)]} for k in range(3)]  # some in each step
    turntable = {"name": "body 1", "kinematic": True,
                 "motion": {"angular_velocity": [0.0, 0.0, 1.0], "path": way, "loop": True}}
    for method, integrator in (("time_stepping", "heun"), ("compliant", "rk4"), ("compliant", "sdirk2"),
                               ("event_driven", "dopri5")):
        carried = {"body": [point, turntable], "joint": [hinge | {"parent": "body 1"}]}
        _use(Simulation(Scene.from_dict(carried), method=method, integrator=integrator))
    for way in ways_of_chain(2).values():
        way()


def _run_asleep() -> None:
    """A block that sleeps, and one that a ball wakes."""
    block = {"name": "body 0", "position": [0.0, 0.0, 0.5], "shape": [SHAPE_TABLES[1]]}
    ball = {"name": "body 1", "position": [2.0, 0.0, 0.7], "velocity": [-1.0, 0.0, 0.0], "shape": [SHAPE_TABLES[0]]}
    for bodies in ([block], [block, ball]):
        simulation = Simulation(Scene.from_dict({
            "body": [*bodies, {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}],
            "solver": {"sleep": 0.1}}))
        simulation.step()
        simulation.state.sleep.calm[0] = STEPS - 1
        simulation.step()
        simulation.step()
        simulation.state.bodies.x[1, 0] = 1.0  # the ball, or the ground, which is as wide there
        simulation.step()


def _run_in_company() -> None:
    """A floor of boxes, more than one thread takes alone, and two threads."""
    side = math.isqrt(MANY_SHAPES) + 1
    boxes = [{"name": f"body {i}", "position": [0.999 * (i % side), 0.999 * (i // side), 0.5],
              "shape": [SHAPE_TABLES[1]]} for i in range(side * side)]
    ground = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}
    set_threads(2)
    Simulation(Scene.from_dict({"body": [*boxes, ground]}), method="time_stepping", iterations=2).step()
    set_threads(None)


def _run_exactly() -> None:
    """A block that rests and a ball that hits it, and another one that hits the ground alone, with friction and
    without, by the event-driven method and every impact law; and one that rocks."""
    bodies = [
        {"name": "body 0", "position": [0.0, 0.0, 0.5], "shape": [SHAPE_TABLES[1]]},
        {"name": "body 1", "position": [1.001, 0.0, 0.5], "velocity": [-1.0, 0.1, 0.0], "shape": [SHAPE_TABLES[0]]},
        {"name": "body 2", "position": [5.0, 0.0, 0.5], "velocity": [0.1, 0.0, -1.0], "shape": [SHAPE_TABLES[0]]},
        {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]},
    ]
    scene = Scene.from_dict({"body": bodies})
    for law, friction in product(IMPACT_LAWS, (0.0, 0.5)):
        simulation = Simulation(scene, method="event_driven", integrator="dopri5")
        simulation.set(impact_law=law, friction=friction)
        simulation.run(simulation.settings.h)  # while nothing is recorded, so that steps are made in one call
        simulation.record_history()
        _use(simulation)
        look_at_step(simulation)
    brick = {"position": [0.0, 0.0, 0.2], "angular_velocity": [0.0, 1.0, 0.0], "shape": [
        {"type": "superellipsoid", "size": [1.0, 0.6, 0.4], "exponents": [0.5, 0.5]}]}
    for integrator in ("dopri5", "rk4"):  # begins to rock where it is flat
        rocks = Simulation(Scene.from_dict({"body": [brick, bodies[-1]]}), method="event_driven", integrator=integrator)
        rocks.set(friction=0.0)
        rocks.step()
    all_sets(np.eye(2), -np.ones(2), 1.0, np.zeros(2))  # where forces need not be unique
    slides, slip = np.array([True, False]), np.array([[1.0, 0.0], [0.0, 0.0]])  # and a contact that bears a moment
    borne(np.eye(6), -np.ones(6), np.ones(2), np.zeros(2, np.int64), slides, slip)
    by_modes(np.eye(6), -np.ones(6), np.ones(2), slides, slip)  # crowds


def _use(simulation: Simulation) -> None:
    _move(simulation)
    _read(simulation)
    simulation.run(simulation.time + simulation.settings.h)
    simulation.problem()


def _read(simulation: Simulation) -> None:
    """What is found of a step only when it is read."""
    _ = simulation.contacts, simulation.info


def _move(simulation: Simulation) -> None:
    """A step as it is, and one with the mouse."""
    simulation.step()
    simulation.energy()
    simulation.table("joints")
    moving = np.flatnonzero(movable(simulation.model.kind))
    if len(moving):
        simulation.grab(simulation.labels.bodies[moving[0]], (0.0, 0.0, 0.5), (0.0, 0.0, 0.6))
        simulation.step()


class _Compilations(event.Listener):
    """Those of kernels that are going on now, in whichever thread."""

    running = 0

    def on_start(self, _: event.Event) -> None:
        self.running += 1

    def on_end(self, _: event.Event) -> None:
        self.running -= 1


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def compiling() -> bool:
    """Whether this process compiles a kernel at the moment."""
    return _compilations.running > 0


def compiled_share() -> float:
    """Part of all kernels, 0..1, that this process has compiled or that lie in the cache."""
    compiled = sum(bool(k.signatures) for k in jit.KERNELS)
    return min(1.0, max(jit.cached_kernels(), compiled) / len(jit.KERNELS))


class _ShareLately:
    """`compiled_share` for a thread that draws: looked up by another one, a few times a second, for all the folders of
    the cache can take half a second on a busy machine."""

    def __init__(self) -> None:
        self._share, self._looking = 0.0, threading.Lock()

    def __call__(self) -> float:
        """As it was found last; has it looked up where that was long ago."""
        if self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, name="contactlab-share", daemon=True).start()
        return self._share

    def _look(self) -> None:
        try:
            self._share = compiled_share()
            threading.Event().wait(LOOKED_UP)
        finally:
            self._looking.release()


compiled_lately = _ShareLately()


def kernels_cached() -> bool:
    """Whether all kernels of these sources are cached: then loading them needs no progress bar. Not so any more where
    some were removed, or set aside as damaged."""
    try:
        return jit.cached_kernels() >= int(_ready().read_bytes())
    except (OSError, ValueError):
        return False


def _ready() -> Path:
    """A file with the number of cached kernels, in the folder that stands for this module and everything it imports:
    the whole engine."""
    return jit.cache_folder(jit.module_of(_ready)) / "ready"


def note_ready() -> None:
    """Record that all kernels are cached."""
    with suppress(OSError), whole_file(_ready()) as file:  # a read-only home: every process compiles anew
        file.write(str(jit.cached_kernels()).encode())
    jit.prune_caches()
