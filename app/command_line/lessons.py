"""The commands for those who teach: `contactlab lessons` and `contactlab answers`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...assets import lessons
from ...physics.core.whole_file import whole_file
from ...physics.lesson.archive import pack
from ...physics.lesson.lesson import ARCHIVE, Lesson
from ...physics.lesson.play import play, simulation_of
from ..opening import opened
from .arguments import BadInput, Force, check_ending, check_output, input_errors
from .classroom import collected, played_through, print_lessons, told, write_table
from .console import say, written


def lessons_command(
    lesson: Annotated[str | None, typer.Argument(metavar="[LESSON]", help="Key or file of a lesson.")] = None,
    out: Annotated[Path | None, typer.Option(
        "--pack", help="Instead write LESSON with its scenes, meshes and pictures into this .zip.")
    ] = None,
    force: Force = False,
) -> None:
    """List the lessons, or play LESSON through without a window and tell what its runs answer."""
    if lesson is None:
        if out is not None:
            raise BadInput("--pack needs a lesson to be packed")
        print_lessons()
        return
    if out is not None:
        check_ending(out, (ARCHIVE,), "--pack")
        check_output(out, force, "--pack")
    with input_errors():
        read = load_lesson(lesson)
        if out is not None:
            with written(out):
                pack(out, read.folder, read.files)
            print(f"{len(read.files)} files written to {out}")
            return
        for line in played_through(read):
            print(line, flush=True)


def answers_command(
    folder: Annotated[Path, typer.Argument(help="Where the files *.answers.json of the students are.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Table of all answers, .csv.")] = None,
    force: Force = False,
) -> None:
    """Join the answers of many students: how many were right, what was answered how often, and a table. Files that are
    broken or were edited are named and left out."""
    check_ending(out, (".csv",))
    if out is not None:
        check_output(out, force)
    with input_errors():
        found = collected(folder)
    for line in told(found.rows):
        print(line)
    if out is not None:
        with written(out):
            write_table(found.rows, out)
        print(f"{len(found.rows)} answers written to {out}")
    for sentence in found.broken:
        say(sentence)


def export_step(name: str, number: int, out: Path, settings: dict[str, Any]) -> None:
    """Write the run of a step of a lesson, with its text, as a page."""
    lesson = load_lesson(name)
    if settings:
        raise BadInput(f"a step of a lesson keeps its own settings: leave out {', '.join(settings)}")
    if out.suffix.lower() != ".html":
        raise BadInput("--out must end in .html, for a lesson has text")
    if number > len(lesson.steps):
        raise BadInput(f"--step must be a step of the lesson, 1 to {len(lesson.steps)}, not {number}")
    step = lesson.steps[number - 1]
    if step.until is None or lesson.runs[number - 1] is None:
        raise BadInput(f"step {number} of {lesson.key} runs nothing that a page could show")
    from ..export.page import page_of
    from ..export.page_text import title_of, words_of
    from ..export.replay import Replay

    with input_errors():
        begun = simulation_of(lesson, number - 1)
        frames = Replay(begun)
        values = play(lesson, number - 1, begun, frames.keep).values
        frames.keep(last=True)
        page = page_of(frames, title_of(lesson, number - 1), words_of(lesson, number - 1, values))
    with written(out), whole_file(out) as file:
        file.write(page.encode())
    print(f"{lesson.key}, step {number}: the page is {out}")


def load_lesson(name: str) -> Lesson:
    """The lesson of this key, or in this file."""
    path = lessons().get(name, Path(name))
    if not path.exists():
        raise BadInput(f"there is no file and no lesson {name!r}; `contactlab lessons` lists them")
    content = opened(path).content
    if not isinstance(content, Lesson):
        raise BadInput(f"{path.name} holds no lesson")
    return content
