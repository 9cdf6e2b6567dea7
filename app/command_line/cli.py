"""The command line: open the app, run or record a scene without it, list the gallery, look at the machine.

Errors are one sentence on stderr: exit status 2 where the input is at fault, 1 where the program or the machine is, and
128 + its number where a signal ended the program.
"""

import ast
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
import typer.core

from ...assets import examples, gallery, lessons, scene_path
from ...physics import Scene, Simulation
from ...physics.core.language import LANGUAGES, spoken
from ...physics.core.version import own_version
from ...physics.core.whole_file import whole_file
from ...physics.lesson.lesson import is_lesson
from ...physics.look.quantities import named
from ...physics.methods.choices import check_settings
from ...physics.run.keeper import Keeper
from ...physics.run.messages import Settings
from ...physics.run.run_file import SUFFIX
from ...physics.run.sweep import REASON, Sweep
from ...physics.scene.mesh_scene import MeshChoices
from ...physics.simulation.alarm import EnergyAlarm
from ...physics.simulation.failure import CannotStep
from ..export.trajectory import plotted, trajectory
from ..figure import SUFFIXES as SUFFIXES_OF_CURVES
from ..machine import Unavailable
from ..narration import narrated
from ..opening import CannotOpen, in_words
from ..stopping import Stopped, at_once, between_steps
from ..sweeps.sweeping import SUFFIXES, NoDask, carry_out
from ..window_needed import window_opener
from .arguments import (
    BadInput,
    Failed,
    Force,
    check_ending,
    check_language,
    check_output,
    input_errors,
    mesh,
    parse_value,
    parse_values,
    takes,
)
from .console import print_table, progress_bar, say, written
from .lessons import answers_command, export_step, lessons_command, load_lesson
from .loading import load
from .record import beyond, record_command, shot

# typer's exception for wrong arguments. typer has its own copy of click, whose names are not public.
UsageError: Any = typer.BadParameter.__base__

#: from a file and a simulation to a function that notes its state
Keeping = Callable[[Path | None, Simulation], AbstractContextManager[Callable[[], None]]]
LONGEST_RUN = 1e9  # [s] of simulated time


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

SceneArgument = Annotated[str, typer.Argument(
    metavar="SCENE", help="Gallery key, scene, robot (.urdf, .xml), mesh or recorded run (.contactlab).")]
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
    """Settings from the options that all commands that run something have."""
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


@app.callback(invoke_without_command=True)
def top(show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if show_version:
        print(f"contactlab {own_version()}")
        raise typer.Exit


@app.command("open")
@takes(mesh=mesh, settings=overrides)
def open_command(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Gallery key, scene file, mesh or lesson.")] = None,
    language: Annotated[str, typer.Option(
        help=f"Language of the app, kept for the next start: {', '.join(LANGUAGES)} (else the system's).")] = "",
    *, mesh: MeshChoices, settings: dict[str, Any],
) -> None:
    """Open the app on FILE, or on the first scene of the gallery."""
    if language:
        check_language(language)
    if file is not None and (is_lesson(Path(file)) or (file in lessons() and not scene_path(file).exists())):
        lesson = load_lesson(file)
        first = next((run.scene for run in lesson.runs if run is not None), None)
        window_opener()(first or load(next(iter(gallery())), {})[0], settings, lesson=lesson, language=language)
        return
    scene, recording = load(file if file is not None else next(iter(gallery())), settings, mesh)
    window_opener()(scene, settings, recording=recording, language=language)


@app.command()
@takes(mesh=mesh, settings=overrides)
def run(
    scene: SceneArgument,
    until: Annotated[
        float | None, typer.Option(help="Simulated time to run to [s] (of a recorded run: else its end).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Trajectory file, .npz (arrays t, x, q, v, w, names, energy, contacts) or .csv (a row per "
                          "time and body). Poses are those of the bodies as the scene file places them."),
    ] = None,
    plot: Annotated[list[str] | None, typer.Option(
        metavar="QUANTITY[:BODY]", help="Instead of the trajectory write this quantity over time, say height:ball or "
                                        "energy; several: one plot a unit. --out is .png, .svg, .csv or .npz then."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Keep every N-th step.")] = 1,
    save_run: Annotated[
        Path | None, typer.Option(help="Record the run in a .contactlab file: the app and all commands open it.")
    ] = None,
    narrate: Annotated[bool, typer.Option("--narrate", help="Tell every event in a sentence as it happens.")] = False,
    force: Force = False,
    *, mesh: MeshChoices, settings: dict[str, Any],
) -> None:
    """Run SCENE without a window and write its trajectory, which is kept where the run ends early. A recorded run is
    made again, and its states compared; of a comparison one side after the other, to files NAME_1, NAME_2, ..."""
    if until is not None and not 0.0 < until <= LONGEST_RUN:
        raise BadInput(f"--until must be a time from 0 to {LONGEST_RUN:g} s, not {until:g}")
    if plot and out is None:
        raise BadInput("--plot needs --out, the file of the plot")
    check_ending(out, SUFFIXES_OF_CURVES if plot else (".npz", ".csv"))
    check_ending(save_run, (SUFFIX,), "--save-run")
    loaded, recording = load(scene, settings, mesh)
    if until is None:
        if recording is None:
            raise BadInput("--until must be given, the simulated time to run to [s]")
        until = recording.span[1]
    count = 1 if recording is None else len(recording.tracks)
    outs, records = of_sides(out, count), of_sides(save_run, count)
    for path in filter(None, outs):
        check_output(path, force)
    for path in filter(None, records):
        check_output(path, force, "--save-run")
    for side in range(count):
        with in_words(scene):
            sim = Simulation(loaded) if recording is None else recording.simulation(side)
        with input_errors():
            for quantity in plot or ():
                named(quantity, sim.labels.bodies)
        if settings:
            sim.set(**settings)
        for note in sim.labels.notes if side == 0 else ():
            say(note)
        if count > 1:
            say(f"side {side + 1} of {count}, {sim.settings.method}:")
        keeping = partial(plotted, quantities=plot) if plot else trajectory
        run_one(sim, until, every, outs[side], records[side], narrated(sim) if narrate else None, keeping)


@app.command("export")
@takes(settings=overrides)
def export_command(
    scene: SceneArgument,
    until: Annotated[float, typer.Option(min=0.0, max=LONGEST_RUN, help="Simulated time to run to [s].")] = 5.0,
    out: Annotated[Path, typer.Option("-o", "--out", help="A page, .html, or an animated scene of glTF, .glb.")
    ] = Path("page.html"),
    step: Annotated[int | None, typer.Option(
        min=1, help="SCENE is a lesson: the run of this step of it, on a page with the lesson's text.")] = None,
    language: Annotated[str, typer.Option(
        help=f"Language of the page: {' or '.join(LANGUAGES)}, else en.")] = "en",
    force: Force = False,
    *, settings: dict[str, Any],
) -> None:
    """Write a run of SCENE as one page, which any browser shows without a network: to look at from all sides, to play,
    with contacts, forces, energies and events; or as bodies that move, .glb, which Blender opens."""
    check_ending(out, (".html", ".glb"))
    check_output(out, force)
    check_language(language)
    if step is not None:
        with spoken(language):
            export_step(scene, step, out, settings)
        return
    loaded, recording = load(scene, settings)
    with in_words(scene):
        sim = Simulation(loaded) if recording is None else recording.simulation(0)
    sim.set(**settings)
    from ..export.replay import Replay

    replay = Replay(sim)
    with input_errors():
        run_one(sim, until, 1, None, None, replay.keep)
        replay.keep(last=True)
    with spoken(language):
        replay.save(out)
    print(f"{sim.scene.name}: the {'page' if out.suffix.lower() == '.html' else 'scene'} is {out}")


def of_sides(path: Path | None, count: int) -> list[Path | None]:
    """The file of each of `count` sides; of one alone `path` itself."""
    if path is None or count == 1:
        return [path] * count
    return [path.with_stem(f"{path.stem}_{side + 1}") for side in range(count)]


def run_one(sim: Simulation, until: float, every: int, out: Path | None, save_run: Path | None,
            tell: Callable[[], None] | None = None, keeping: Keeping = trajectory) -> None:
    """Step to the time `until` [s], write what is asked for, by `keeping`, and say what came of it; `tell` is called
    after every step. Raises Failed."""
    alarm, ending = EnergyAlarm(), None
    with (written(save_run), kept(save_run, sim) as step, written(out), keeping(out, sim) as keep,
          between_steps() as asked, progress_bar() as bar):
        task = bar.add_task(sim.scene.name, total=until)
        keep()
        while sim.time < until - 0.5 * sim.settings.h and not asked:
            try:
                step()
            except Exception as error:
                ending = error
                break
            if tell is not None:
                tell()
            if why := alarm.look(sim):
                say(f"t = {sim.time:.6g} s: {why}")
            if sim.step_count % every == 0:
                keep()
            bar.update(task, completed=sim.time)
    report(sim, out)
    if isinstance(ending, CannotStep):
        raise Failed(str(ending))
    if ending is not None:
        raise ending
    if asked:
        fail(asked[0].status, f"stopped at t = {sim.time:.6g} s")


app.command("record")(takes(shot=shot, beyond=beyond, mesh=mesh, settings=overrides)(record_command))


@app.command("sweep")
@takes(settings=overrides)
def sweep_command(
    scene: SceneArgument,
    vary: Annotated[list[str], typer.Option(
        metavar="NAME=VALUES", help="A setting or a place in the scene (\"body.die 1.mass\"), and its values: FROM:TO:"
                                    "COUNT, FROM:TO:COUNT:log, or a list with commas. Several: all combinations.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Table of the results, .csv or .parquet.")],
    measure: Annotated[list[str] | None, typer.Option(
        help="\"rest time\" (the default), events, impacts, or QUANTITY[:BODY][:end|max|min|mean].")] = None,
    until: Annotated[float, typer.Option(help="Simulated time of each run [s].")] = 5.0,
    workers: Annotated[int | None, typer.Option(
        min=0, max=1024, help="Processes (else as many as cores); 0: this one alone, without dask.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a dask scheduler, else processes here.")] = None,
    force: Force = False,
    *, settings: dict[str, Any],
) -> None:
    """Run SCENE for all combinations of values, and write a table of what was measured. Begun and cut off, it goes on
    where it was."""
    check_ending(out, SUFFIXES)
    check_output(out, force)
    loaded, recording = load(scene, settings)
    if recording is not None:
        raise BadInput(f"{loaded.name} is a recorded run: a sweep needs its scene")
    values = {}
    for given in vary:
        name, equals, text = given.partition("=")
        if not equals:
            raise BadInput(f"--vary takes NAME=VALUES, not {given!r}")
        values[name.strip()] = parse_values(text.strip())
    with in_words(scene):
        plan = Sweep(loaded, values, tuple(measure or ("rest time",)), until, settings)
    with written(out), progress_bar() as bar:
        task, heard = bar.add_task(f"{plan.count} runs", total=plan.count), []

        def told(there: int, count: int, address: str) -> None:
            if address not in heard:
                heard.append(address)
                say(f"{there} of {count} runs are there already" if there else f"{count} runs")
                if address:
                    say(f"dask shows them at {address}")
            bar.update(task, completed=there)

        try:
            table = carry_out(plan, out, scheduler, workers, told)
        except (NoDask, ValueError) as error:
            raise Failed(str(error)) from error
    failed = sum(1 for reason in table[REASON] if reason)
    print(f"{plan.count} runs, {failed} of them failed, written to {out}")


@app.command()
def scenes() -> None:
    """List the scenes of the gallery."""
    loaded = ((key, Scene.load(path)) for key, path in gallery().items())
    print_table(("scene", "title", "what it shows"), ((key, scene.title, scene.summary) for key, scene in loaded))


app.command("lessons")(lessons_command)
app.command("answers")(answers_command)


@app.command("examples")
def examples_command(
    folder: Annotated[Path | None, typer.Argument(help="An existing folder to copy them to.")] = None,
    force: Force = False,
) -> None:
    """List the example scripts, or copy them to FOLDER, where they can be run and changed."""
    rows = []
    for name, path in examples().items():
        rows.append((f"{name}.py", (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]))
        if folder is not None:
            check_output(folder / path.name, force, "FOLDER")
            with written(folder / path.name), whole_file(folder / path.name) as file:
                file.write(path.read_bytes())
    print_table(("example", "what it shows"), rows)


@app.command("reference")
def reference_command(
    folder: Annotated[Path, typer.Argument(help="Where the pages are written; made where it is not there.")],
) -> None:
    """Write the reference of the Python interface, made from its docstrings, as HTML pages into FOLDER."""
    from ..scripts.reference import write_reference

    with written(folder):
        print(f"The first page is {write_reference(folder)}")


@app.command()
def doctor() -> None:
    """Look at what the app needs of this machine, and say what to install."""
    from .doctor import examine

    missing = []
    for what, found, remedy, needed in examine():
        mark = "MISSING" if needed else "note" if remedy else "ok"
        print(f"{mark:8} {what:20} {found}", flush=True)
        if remedy:
            print(f"{'':29} {remedy}")
        if needed:
            missing.append(what)
    if missing:
        raise Failed(f"missing: {', '.join(missing)}")


# ------------------------------------------------------------------------------------------------ output


@contextmanager
def kept(path: Path | None, sim: Simulation) -> Iterator[Callable[[], None]]:
    """The function that makes a step of `sim`. The record of the run is in its place, `path`, when the block ends."""
    if path is None:
        yield sim.step
        return
    keeper = Keeper(path, sim)
    try:
        yield keeper.step
    finally:
        keeper.close()


def report(sim: Simulation, out: Path | None) -> None:
    """Say what came of the run."""
    if sim.replaying and sim.history is not None:
        differs = sim.history.differs
        say("all states are those recorded, to the last bit" if differs is None else
            f"step {differs} is the first that does not come out as it was recorded")
    events = f"{sim.event_count} contact events, energy {sim.energy().total:.6g} J"
    where = f", written to {out}" if out is not None else ""
    print(f"{sim.scene.name}: t = {sim.time:.6g} s after {sim.step_count} steps, {events}{where}")


def fail(status: int, sentence: str) -> NoReturn:
    say(sentence)
    raise SystemExit(status)


class Status(IntEnum):
    PROGRAM = 1
    INPUT = 2


def main(arguments: list[str] | None = None) -> None:
    """Carry out a command line, sys.argv where none is given. Raises SystemExit with the status."""
    debug = bool(os.environ.get("CONTACTLAB_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack letters; that ends no program
    try:
        with at_once():
            status = app(arguments, standalone_mode=False)
    except UsageError as error:
        fail(Status.INPUT, error.format_message())
    except (BadInput, CannotOpen) as error:
        fail(Status.INPUT, str(error))
    except (Failed, Unavailable) as error:
        fail(Status.PROGRAM, str(error))
    except (Stopped, typer.Abort) as error:
        fail(error.status if isinstance(error, Stopped) else 128 + signal.SIGINT, "stopped")
    except Exception as error:
        if debug:
            raise
        fail(Status.PROGRAM, f"{type(error).__name__}: {error} (CONTACTLAB_DEBUG=1 shows where)")
    raise SystemExit(status or 0)
