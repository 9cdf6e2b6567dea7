"""The command line: open the app, run or record a scene without it, list the gallery.

Errors are one sentence on stderr: exit status 2 where the input is at fault, 1 where the program or the machine is.
"""

import csv
import ctypes
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import typer
import typer.core
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..assets import gallery, scene_path
from ..physics import Scene, Simulation
from ..physics.methods import METHODS
from ..physics.methods.choices import check_settings
from ..physics.run.messages import SIDES, Settings
from ..physics.run.warm_up import kernels_cached
from ..physics.simulation.alarm import EnergyAlarm
from ..physics.simulation.failure import CannotStep
from .opening import CannotOpen, in_words, opened
from .record.shot import Shot

# typer's exception for wrong arguments. typer has its own copy of click, whose names are not public.
UsageError: Any = typer.BadParameter.__base__

# Libraries that Linux takes from the system -> the Debian package of each.
GRAPHICS = {"libGL.so.1": "libgl1", "libEGL.so.1": "libegl1"}
WINDOW = {"libX11.so.6": "libx11-6", "libXext.so.6": "libxext6", "libXrender.so.1": "libxrender1"}
DRIVERS = "libgl1-mesa-dri"


class BadInput(Exception):
    """What the user gave cannot be used; the message says what and why."""


class Unavailable(Exception):
    """This machine lacks something; the message says what and what to do."""


class OpenByDefault(typer.core.TyperGroup):
    """`contactlab FILE` means `contactlab open FILE`, and so does `contactlab` alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if not args or (args[0] not in self.commands and args[0] not in own):
            args = ["open", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=OpenByDefault, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Contactlab, a laboratory for contact mechanics. `contactlab [FILE]` opens a scene or a mesh in a window.",
)

SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="Gallery key, scene, robot (.urdf, .xml) or mesh.")]
Method = Annotated[str | None, typer.Option(help="Method, instead of the scene's.")]
IntegratorName = Annotated[str | None, typer.Option("--integrator", help="Integrator, instead of the scene's.")]
SolverName = Annotated[str | None, typer.Option("--solver", help="Contact solver, instead of the scene's.")]
StepSize = Annotated[float | None, typer.Option("--h", help="Time step [s], instead of the scene's.")]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting: --set restitution=0.5 --set gravity=0,0,-1.62"),
]


def overrides(
    method: Method = None, integrator: IntegratorName = None, solver: SolverName = None, h: StepSize = None,
    set_: Assignments = None,
) -> dict[str, Any]:
    """Settings from the options that all commands with `takes_settings` have."""
    named = {"method": method, "integrator": integrator, "solver": solver, "h": h}
    settings = {name: value for name, value in named.items() if value is not None}
    for assignment in set_ or ():
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadInput(f"--set takes NAME=VALUE, not {assignment!r}")
        settings[name.strip()] = parse_value(text.strip())
    with input_errors():
        check_settings(Settings(), settings)
    return settings


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: the command gets the options of `overrides`, and their result as its keyword argument `settings`."""
    options = inspect.signature(overrides).parameters
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "settings"]

    @wraps(command)
    def called(**given: Any) -> None:
        settings = overrides(**{name: given.pop(name) for name in options})
        command(**given, settings=settings)

    vars(called).pop("__wrapped__")  # typer would follow it past the signature below
    called.__signature__ = inspect.Signature([*own, *options.values()])  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in (*own, *options.values())}
    return called


@app.callback(invoke_without_command=True)
def top(show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if show_version:
        print(f"contactlab {version('contactlab')}")
        raise typer.Exit


@app.command("open")
@takes_settings
def open_command(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Gallery key, scene file or mesh.")] = None,
    *, settings: dict[str, Any],
) -> None:
    """Open the app on FILE, or on the first scene of the gallery."""
    scene = load(file if file is not None else next(iter(gallery())))
    require_display()
    require_libraries(window=True)
    from .window.window import open_window

    open_window(scene, settings)


@app.command()
@takes_settings
def run(
    scene: SceneArgument,
    until: Annotated[float, typer.Option(help="Simulated time to run to [s].")],
    out: Annotated[
        Path | None,
        typer.Option(help="Trajectory file, .npz (arrays t, x, q, v, w, names, energy, contacts) or .csv (a row per "
                          "time and body). Poses are those of the bodies as the scene file places them."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Keep every N-th step.")] = 1,
    *, settings: dict[str, Any],
) -> None:
    """Run SCENE without a window and write its trajectory."""
    if not 0.0 < until < 1e6:
        raise BadInput(f"--until must be a time from 0 to 1e6 s, not {until:g}")
    if out is not None:
        check_output(out, (".npz", ".csv"))
    loaded = load(scene)
    with in_words(scene), input_errors():
        sim = Simulation(loaded)
    sim.set(**settings)
    trajectory, alarm = Trajectory(sim), EnergyAlarm()
    try:
        with progress_bar() as bar:
            task = bar.add_task(sim.scene.name, total=until)
            while sim.time < until - 0.5 * sim.settings.h:
                sim.step()
                if why := alarm.look(sim):
                    say(f"t = {sim.time:.6g} s: {why}")
                if sim.step_count % every == 0:
                    trajectory.add()
                bar.update(task, completed=sim.time)
    except CannotStep as error:
        finish(trajectory, out)
        fail(1, str(error))
    except KeyboardInterrupt:
        finish(trajectory, out)
        fail(130, f"stopped at t = {sim.time:.6g} s")
    finish(trajectory, out)


@app.command()
@takes_settings
def record(
    scene: SceneArgument,
    out: Annotated[Path, typer.Option("-o", "--out", help="Video file: .mp4, .mkv, .webm or .gif.")],
    seconds: Annotated[float, typer.Option(help="Simulated time to record [s].")] = 10.0,
    size: Annotated[str, typer.Option(help="Width x height in pixels.")] = "1920x1080",
    fps: Annotated[int, typer.Option(min=1, max=240, help="Frames per second.")] = 60,
    speed: Annotated[float | None, typer.Option(
        min=1e-3, max=100.0, help="Simulated seconds per second of video (else the scene's own).")] = None,
    panels: Annotated[bool, typer.Option("--panels", help="With the panels of the app.")] = False,
    camera: Annotated[
        str | None, typer.Option(help="distance,azimuth,elevation[,x,y,z]: metres, degrees, point looked at.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="METHOD,METHOD", help="Two or three methods, shown side by side.")
    ] = None,
    *, settings: dict[str, Any],
) -> None:
    """Record SCENE to a video, without a window or a display."""
    check_output(out, (".mp4", ".mkv", ".webm", ".gif"))
    if not 0.0 < seconds <= 3600.0:
        raise BadInput(f"--seconds must be a time from 0 to 3600 s, not {seconds:g}")
    shot = Shot(seconds, parse_size(size), fps, speed, panels, parse_camera(camera), compare=parse_methods(compare))
    loaded = load(scene)
    require_libraries(window=False)
    from .record.recorder import record as record_video

    try:
        with progress_bar() as bar:
            task = bar.add_task(out.name, total=1.0)
            record_video(loaded, out, shot, settings, lambda share: bar.update(task, completed=share), say)
    except ValueError as error:  # the engine or the encoder gave up, and says why
        raise Unavailable(str(error)) from error
    print(f"{loaded.name}: {seconds:g} s written to {out}")


@app.command()
def scenes() -> None:
    """List the scenes of the gallery."""
    table = Table("scene", "title", "what it shows", box=None, pad_edge=False)
    for key, path in gallery().items():
        scene = Scene.load(path)
        table.add_row(key, scene.title, scene.summary)
    Console().print(table)


# ------------------------------------------------------------------------------------------------ input


@contextmanager
def input_errors() -> Iterator[None]:
    """Errors inside are reported as faults of the input."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise BadInput(str(error)) from error


def load(name: str) -> Scene:
    """The scene of a gallery key, a scene file or a mesh."""
    path = scene_path(name)
    if not path.exists():
        raise BadInput(f"there is no file and no gallery scene {name!r}; `contactlab scenes` lists the gallery")
    content = opened(path, check=False).content
    if not isinstance(content, Scene):
        raise BadInput(f"{path.name} holds a contact problem and no scene: the window shows it, File > Open")
    return content


def parse_value(text: str) -> Any:
    """The first of these that the text can be read as: nothing ("none"), a number, three numbers, a word."""
    if text.lower() == "none":
        return None
    if "," in text:
        return tuple(parse_value(part.strip()) for part in text.split(","))
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def parse_size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 8192 and 16 <= int(height) <= 8192):
        raise BadInput(f"--size must be WIDTHxHEIGHT, each from 16 to 8192 pixels, not {text!r}")
    return int(width), int(height)


def parse_camera(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    values = parse_value(text)
    if not isinstance(values, tuple) or len(values) not in (3, 6) or not np.isfinite(values).all() or values[0] <= 0:
        raise BadInput(f"--camera must be distance,azimuth,elevation[,x,y,z], not {text!r}")
    return tuple(float(v) for v in values)


def parse_methods(text: str | None) -> tuple[str, ...]:
    """Methods to be compared; () for none."""
    if text is None:
        return ()
    methods = tuple(part.strip() for part in text.split(","))
    if not SIDES[0] <= len(methods) <= SIDES[1] or any(method not in METHODS for method in methods):
        raise BadInput(f"--compare must be from {SIDES[0]} to {SIDES[1]} of the methods {', '.join(METHODS)}, "
                       f"separated by commas, not {text!r}")
    return methods


def check_output(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse an output path that cannot be written before the work begins."""
    if path.suffix.lower() not in suffixes:
        raise BadInput(f"--out must end in {' or '.join(suffixes)}, not {path.name!r}")
    if not path.absolute().parent.is_dir():
        raise BadInput(f"--out: there is no folder {path.absolute().parent}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise BadInput(f"--out: {path} cannot be written")


# ------------------------------------------------------------------------------------------------ output


COLUMNS = ["t", "body", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
           "kinetic", "potential", "spring", "contacts"]


class Trajectory:
    """States of a run as it goes, written at the end."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.rows: dict[str, list[Any]] = {name: [] for name in ("t", "x", "q", "v", "w", "energy", "contacts")}
        self.add()

    def add(self) -> None:
        sim, rows = self.sim, self.rows
        energy = sim.energy()
        for name, value in zip("xqvw", sim.frames(), strict=True):
            rows[name].append(value)
        rows["t"].append(sim.time)
        rows["energy"].append((energy.kinetic, energy.potential, energy.spring))
        rows["contacts"].append(len(sim.contacts.gap))

    def save(self, path: Path) -> None:
        """Write to a temporary file beside `path` and rename it, so that `path` is always complete."""
        partial = path.with_name(path.name + ".part")
        if path.suffix.lower() == ".npz":
            with partial.open("wb") as file:
                arrays: dict[str, Any] = {name: np.array(values) for name, values in self.rows.items()}
                np.savez_compressed(file, names=np.array(self.sim.labels.bodies), **arrays)
        else:
            self._save_csv(partial)
        partial.replace(path)

    def _save_csv(self, path: Path) -> None:
        rows = self.rows
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for k, t in enumerate(rows["t"]):
                bodies = np.hstack([rows[name][k] for name in "xqvw"]).tolist()
                for name, values in zip(self.sim.labels.bodies, bodies, strict=True):
                    writer.writerow([t, name, *values, *rows["energy"][k], rows["contacts"][k]])


def finish(trajectory: Trajectory, out: Path | None) -> None:
    """Write the trajectory and say what came of the run."""
    sim = trajectory.sim
    if out is not None:
        with input_errors():
            trajectory.save(out)
    events = f"{sim.event_count} contact events, energy {sim.energy().total:.6g} J"
    where = f", written to {out}" if out is not None else ""
    print(f"{sim.scene.name}: t = {sim.time:.6g} s after {sim.step_count} steps, {events}{where}")


def progress_bar() -> Progress:
    """A progress bar on stderr. Where kernels are not cached it first says that they are being compiled."""
    if sys.stderr.isatty() and not kernels_cached():
        print("The engine is compiled for this machine, once; that can take a minute.", file=sys.stderr)
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty(),
    )


# ------------------------------------------------------------------------------------------------ the machine


def require_display() -> None:
    """A window needs a display; on Linux that can be known beforehand."""
    if sys.platform == "linux" and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        raise Unavailable(
            "there is no display to open a window on; `contactlab record SCENE -o video.mp4` makes a video without one"
        )


def require_libraries(window: bool) -> None:
    """On Linux the libraries of OpenGL, and of X for a window, come from the system. Else Unavailable."""
    needed = GRAPHICS | (WINDOW if window else {})
    missing = [library for library in needed if not loads(library)] if sys.platform == "linux" else []
    if missing:
        packages = " ".join([*needed.values(), DRIVERS])
        raise Unavailable(f"{' and '.join(missing)} cannot be loaded; on Debian and Ubuntu: apt-get install {packages}")


def loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def say(sentence: str) -> None:
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"contactlab: {sentence}")


def fail(status: int, sentence: str) -> NoReturn:
    say(sentence)
    raise SystemExit(status)


class Status(IntEnum):
    PROGRAM = 1
    INPUT = 2


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the program `contactlab`."""
    debug = bool(os.environ.get("CONTACTLAB_DEBUG"))
    try:
        status = app(arguments, standalone_mode=False)
    except UsageError as error:
        fail(Status.INPUT, error.format_message())
    except (BadInput, CannotOpen) as error:
        fail(Status.INPUT, str(error))
    except Unavailable as error:
        fail(Status.PROGRAM, str(error))
    except KeyboardInterrupt:
        fail(130, "stopped")
    except Exception as error:
        if debug:
            raise
        fail(Status.PROGRAM, f"{type(error).__name__}: {error} (CONTACTLAB_DEBUG=1 shows where)")
    raise SystemExit(status or 0)
