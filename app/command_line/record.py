"""The command `contactlab record`: a video of a scene, of a recorded run or of a step of a lesson."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...assets import lessons, scene_path
from ...physics.core.language import LANGUAGES
from ...physics.lesson.lesson import is_lesson, settings_to_send
from ...physics.lesson.video import LONGEST_VIDEO, MOST_CURVES, THEMES, VideoTable, ViewTable, read_video
from ...physics.scene.mesh_scene import AS_IT_IS, MeshChoices
from ...physics.scene.refusals import SceneError
from ..machine import require_libraries
from ..stopping import between_steps
from .arguments import (
    BadInput,
    Failed,
    Force,
    check_ending,
    check_language,
    check_output,
    input_errors,
    parse_camera,
    parse_methods,
    parse_size,
)
from .console import progress_bar, say
from .lessons import load_lesson
from .loading import load

if TYPE_CHECKING:
    from ..record.recorder import Film
    from ..record.reel import Run

ENDINGS = (".mp4", ".mkv", ".webm", ".gif", ".webp", ".png")

SceneArgument = Annotated[str, typer.Argument(
    metavar="SCENE", help="Gallery key, scene, robot (.urdf, .xml), mesh, recorded run (.contactlab) or lesson.")]


def shot(
    video: Annotated[Path | None, typer.Option(
        help="How it is shown: a file (.toml) with a table [video]. Options given beside it go before it.")] = None,
    size: Annotated[str | None, typer.Option(help="Width x height in pixels, else 1920x1080.")] = None,
    fps: Annotated[int | None, typer.Option(min=1, max=240, help="Frames per second, else 60.")] = None,
    speed: Annotated[float | None, typer.Option(
        min=1e-3, max=100.0, help="Simulated seconds per second of video (else the scene's own).")] = None,
    at_events: Annotated[float | None, typer.Option(
        "--slow-at-events", min=0.01, max=1.0, help="Slower around contact events: share of the speed there.")] = None,
    panels: Annotated[bool | None, typer.Option("--panels", help="With the panels of the app.")] = None,
    camera: Annotated[
        str | None, typer.Option(help="distance,azimuth,elevation[,x,y,z]: metres, degrees, point looked at.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="METHOD,METHOD", help="Two or three methods, shown side by side.")
    ] = None,
) -> tuple[VideoTable, Path | None, dict[str, Any]]:
    """How a video shows what it shows: the table of a file and the file, and what options say of it."""
    with input_errors():
        table = VideoTable() if video is None else read_video(video)
    given: dict[str, Any] = {
        "size": None if size is None else parse_size(size), "rate": fps, "speed": speed, "slow_at_events": at_events,
        "panels": panels, "compare": parse_methods(compare) or None}
    at = parse_camera(camera)
    if at is not None:
        given["view"] = (ViewTable(at=0.0, distance=at[0], azimuth=at[1], elevation=at[2],
                                   target=at[3:] or None),)  # pyright: ignore
    return table, video, {name: value for name, value in given.items() if value is not None}


def beyond(
    theme: Annotated[str | None, typer.Option(help=f"{' or '.join(THEMES)}, else dark.")] = None,
    language: Annotated[str | None, typer.Option(
        help=f"Language of what the video says: {' or '.join(LANGUAGES)}, else en.")] = None,
    plot: Annotated[list[str] | None, typer.Option(
        metavar="QUANTITY[:BODY]", help=f"A curve beside the view, height:ball; up to {MOST_CURVES}.")] = None,
    narrate: Annotated[bool | None, typer.Option("--narrate", help="Captions tell the events in sentences.")] = None,
    transparent: Annotated[bool | None, typer.Option(
        "--transparent", help="Nothing behind the bodies, in pictures (.png).")] = None,
    voice: Annotated[str | None, typer.Option(metavar="WAV", help="A voice-over, .wav.")] = None,
) -> dict[str, Any]:
    """What a video has besides the view, from its options."""
    if theme is not None and theme not in THEMES:
        raise BadInput(f"--theme must be {' or '.join(THEMES)}, not {theme!r}")
    if plot is not None and len(plot) > MOST_CURVES:
        raise BadInput(f"--plot takes up to {MOST_CURVES} curves, not {len(plot)}")
    if language is not None:
        check_language(language)
    given: dict[str, Any] = {
        "theme": theme, "language": language, "plot": None if plot is None else tuple(plot), "narrated": narrate,
        "transparent": transparent,
        "voice": None if voice is None else str(Path(voice).absolute())}
    return {name: value for name, value in given.items() if value is not None}


def record_command(
    scene: SceneArgument,
    out: Annotated[Path, typer.Option(
        "-o", "--out", help="Video file: .mp4, .mkv, .webm, .gif or .webp; or pictures, .png, which are numbered.")],
    seconds: Annotated[float | None, typer.Option(
        help="Simulated time to record [s] (else 10, or all of a recorded run or of a step of a lesson).")] = None,
    step: Annotated[int | None, typer.Option(min=1, help="SCENE is a lesson: the run of this step of it.")] = None,
    force: Force = False,
    *, shot: tuple[VideoTable, Path | None, dict[str, Any]], beyond: dict[str, Any], mesh: MeshChoices,
    settings: dict[str, Any],
) -> None:
    """Record SCENE, or a recorded run, to a video, without a window or a display. What was recorded is kept where it
    ends early."""
    check_ending(out, ENDINGS)
    check_output(out.with_stem(f"{out.stem}_0000") if out.suffix.lower() == ".png" else out, force)
    require_libraries(window=False)
    table, file, given = shot[0], shot[1], shot[2] | beyond
    if (Path(scene).suffix and is_lesson(Path(scene))) or (scene in lessons() and not scene_path(scene).exists()):
        run, film = of_lesson(scene, step, table if file is not None else None, settings)
    elif step is not None:
        raise BadInput("--step goes with a lesson")
    else:
        run, film = of_run(scene, table, file, settings, mesh)
    film = replace(film, table=film.table.model_copy(update=given))
    if "voice" in given:
        film = replace(film, voice=Path(given["voice"]))
    if run.recording is not None and film.table.compare:
        raise BadInput(f"{run.scene.name} is a recorded run: --compare must be left out")
    if seconds is not None:
        if not 0.0 < seconds <= LONGEST_VIDEO:
            raise BadInput(f"--seconds must be a time from 0 to {LONGEST_VIDEO:g} s, not {seconds:g}")
        begin = film.table.begin or (0.0 if run.recording is None else run.recording.span[0])
        film = replace(film, table=film.table.model_copy(update={"until": begin + seconds}))
    recorded(run, out, film)
    print(f"{run.scene.name}: the {'pictures are' if out.suffix.lower() == '.png' else 'video is'} {out}")


def of_run(scene: str, table: VideoTable, file: Path | None, settings: dict[str, Any], mesh: MeshChoices
           ) -> "tuple[Run, Film]":
    """A scene or a recorded run, shown as the table of a file says."""
    from ..record.recorder import Film
    from ..record.reel import Run

    loaded, recording = load(scene, settings, mesh)
    run = Run(loaded, settings, recording)
    if file is None:
        return run, Film(table)
    folder = file.absolute().parent
    if table.beside is not None and table.beside.titles:
        run = replace(run, title=table.beside.titles[0])
    return run, Film(table, beside(table, run, scene, mesh, folder, file.name), voice(table, folder), file.name)


def of_lesson(name: str, step: int | None, table: VideoTable | None, settings: dict[str, Any]) -> "tuple[Run, Film]":
    """A step of a lesson, shown as its own table [step.video] says, or another one."""
    from ..record.recorder import Film
    from ..record.reel import Run

    lesson = load_lesson(name)
    if settings:
        raise BadInput(f"a step of a lesson keeps its own settings: leave out {', '.join(settings)}")
    runs = [k for k, run in enumerate(lesson.runs, 1) if run is not None]
    if step is None or step not in runs:
        there = ", ".join(map(str, runs)) or "none"
        raise BadInput(f"--step must be a step of {lesson.key} that runs something, of which there are {there}")
    bound, page = lesson.runs[step - 1], lesson.steps[step - 1]
    assert bound is not None
    own = table or page.video or VideoTable()
    of_step: dict[str, Any] = {
        "title": own.title or page.title, "begin": page.at if own.begin is None else own.begin,
        "until": page.until if own.until is None else own.until,
        "show": tuple(name for name in page.show if name not in own.hide) + own.show,
        "hide": tuple(name for name in page.hide if name not in own.show) + own.hide, "plot": own.plot or page.plot}
    run = Run(bound.scene, settings_to_send(bound, page))
    shown = own.model_copy(update=of_step)
    if own.beside is not None and own.beside.titles:
        run = replace(run, title=own.beside.titles[0])
    return run, Film(shown, beside(own, run, "", None, lesson.folder, lesson.path.name), voice(own, lesson.folder),
                     lesson.path.name, ("step", step - 1, "video"))


def beside(table: VideoTable, run: "Run", again: str, mesh: MeshChoices | None, folder: Path, source: str
           ) -> "Run | None":
    """The second run that the table of a file in this folder names. again: what the first was loaded from; a recorded
    run is read once for each."""
    if table.beside is None:
        return None
    name, changed = table.beside.scene, dict(table.beside.settings)
    title = table.beside.titles[1] if table.beside.titles else ""
    if name is not None:
        below = folder / name
        loaded, recording = load(str(below) if below.is_file() else name, changed)
        return replace(run, scene=loaded, settings=changed, recording=recording, title=title)
    if run.recording is None:
        return replace(run, settings={**run.settings, **changed}, title=title or in_words(changed))
    if changed:
        raise BadInput(f"{source}: video.beside.settings are given, but {run.scene.name} is a recorded run, which "
                       "keeps its own; they must be left out, or video.beside.scene be given")
    return replace(run, recording=load(again, {}, mesh or AS_IT_IS)[1], title=title)


def in_words(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items())


def voice(table: VideoTable, folder: Path) -> Path | None:
    return None if table.voice is None else folder / table.voice


def recorded(run: "Run", out: Path, film: "Film") -> None:
    """Record with a progress bar. Raises BadInput where the scene cannot be built, else Failed."""
    from ..record.recorder import record
    from ..view.offscreen import GraphicsError

    try:
        with between_steps() as asked, progress_bar() as bar:
            task = bar.add_task(out.name, total=1.0)

            def progress(share: float) -> None:
                bar.update(task, completed=share)
                if asked:
                    raise asked[0]

            record(run, out, film, progress, say)
    except SceneError as error:
        raise BadInput(str(error)) from error
    except (ValueError, GraphicsError) as error:  # the engine, the encoder or the driver gave up, and says why
        raise Failed(str(error)) from error
