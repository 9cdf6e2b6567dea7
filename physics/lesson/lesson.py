"""Lessons: read from .lesson.toml files or .zip archives, checked, and what each of their steps shows."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..core.formula import FormulaError, read_formula
from ..core.given_path import given_path
from ..core.limits import SCENE_FILE
from ..core.model import Labels
from ..core.report import Settings
from ..look.quantities import named
from ..methods.choices import check_settings
from ..run.measures import KINDS, measured, whose
from ..scene.form import Problem, Vocabulary, path_text, read_form, shown, unreadable
from ..scene.refusals import SceneError, refusing
from ..scene.scene import Scene
from .archive import holds, unpacked
from .questions import formulas
from .schema import (
    QUESTIONS,
    TABLES,
    ArrowQuestion,
    FirstQuestion,
    LessonFile,
    Measuring,
    SketchQuestion,
    StepTable,
)
from .video import misfits

ENDING = ".lesson.toml"
ARCHIVE = ".zip"
PICTURES = (".png", ".jpg", ".jpeg")
LESSON = Vocabulary(LessonFile, TABLES, {"question": QUESTIONS}, frozenset({"measure", "of", "settings"}))

At = tuple[str | int, ...]
Find = Callable[[str], Path | None]  # the file of a scene of the gallery


class Bound(NamedTuple):
    """What a step of a lesson runs."""

    scene: Scene       #: with the camera and the pace of the step
    settings: Settings  #: the scene's own, with those of the step
    labels: Labels


@dataclass(frozen=True)
class Lesson:
    """A checked lesson; its steps have scenes that can be built, and questions that their runs can answer."""

    tables: LessonFile
    path: Path
    key: str                         #: file name without its ending
    runs: tuple[Bound | None, ...]   #: of every step; None where it has nothing to run

    @property
    def title(self) -> str:
        return self.tables.lesson.title

    @property
    def steps(self) -> tuple[StepTable, ...]:
        return self.tables.step

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def files(self) -> tuple[str, ...]:
        """What the lesson is made of, below its folder: itself, its scenes with their meshes, its pictures, the voices
        of its videos. Scenes of the gallery come with the program."""
        names = {step.picture for step in self.steps if step.picture is not None}
        names |= {step.video.voice for step in self.steps if step.video is not None and step.video.voice is not None}
        for step, run in zip(self.steps, self.runs, strict=True):
            if run is not None and step.scene is not None and step.scene.endswith(".toml"):
                below = PurePosixPath(step.scene).parent
                names |= {step.scene, *((below / Path(mesh).as_posix()).as_posix() for mesh in run.scene.mesh_files)}
        return self.path.name, *sorted(names)

    @classmethod
    def load(cls, path: str | Path, find: Find = lambda _: None, cache: Path | None = None) -> "Lesson":
        """Read a lesson, and build the scenes of its steps. find: the file of a scene of the gallery by its name;
        cache: a folder that archives are unpacked into. Raises SceneError, with one sentence for each mistake."""
        path = given_path(path, SceneError)
        with refusing(path.name):
            if path.suffix.lower() == ARCHIVE:
                if cache is None:
                    raise SceneError(f"{path.name}: is an archive; it must be unpacked first.")
                path = unpacked(path, ENDING, cache)
            return cls._bound(_tables(path), path, find)

    @classmethod
    def from_text(cls, text: str, path: Path, find: Find = lambda _: None) -> "Lesson":
        """A lesson whose file, `path`, would hold this text. Raises SceneError, as `load` does."""
        with refusing(path.name):
            return cls._bound(_read(text, path.name), path, find)

    @classmethod
    def _bound(cls, tables: LessonFile, path: Path, find: Find) -> "Lesson":
        problems, runs = _bind(tables, path.parent, find)
        _refuse(problems, path.name)
        return cls(tables, path, path.name.removesuffix(ENDING), tuple(runs))


def is_lesson(path: Path) -> bool:
    """Whether a file is opened as a lesson: by its name, an archive by what is in it."""
    return path.name.lower().endswith(ENDING) or (path.suffix.lower() == ARCHIVE and holds(path, ENDING))


def heading(path: Path) -> tuple[str, str, float, int]:
    """Title, summary, place in the list and number of steps of a lesson file, whose scenes are not looked at. Raises
    SceneError."""
    with refusing(path.name):
        tables = _tables(path)
    about = tables.lesson
    return about.title, about.summary, about.order, len(tables.step)


def _tables(path: Path) -> LessonFile:
    """The tables of a lesson file. Raises SceneError."""
    if path.stat().st_size > SCENE_FILE.most:
        raise SceneError(f"{path.name}: is larger than {SCENE_FILE}; it must be a smaller file.")
    try:
        return _read(path.read_bytes().decode(), path.name)
    except UnicodeDecodeError as error:
        raise SceneError(f"{path.name}: is not text in UTF-8; it must be a TOML lesson file.") from error


def _read(text: str, source: str) -> LessonFile:
    """The tables in a text. Raises SceneError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{source}: is not valid TOML: {error}.") from error
    _refuse(list(unreadable(data)), source)
    tables, problems = read_form(data, LESSON)
    _refuse(problems, source)
    assert tables is not None
    return tables


def _refuse(problems: list[Problem], source: str) -> None:
    if problems:
        raise SceneError("\n".join(f"{source}: {path_text(p.location)} {p.text}." for p in problems))


# ---------------------------------------------------------------------------------------------------- meaning


def _bind(tables: LessonFile, folder: Path, find: Find) -> tuple[list[Problem], list[Bound | None]]:
    """What every step runs, and what is wrong with them."""
    problems: list[Problem] = []
    runs: list[Bound | None] = []
    scenes: dict[str, Scene | str] = {}
    name: str | None = None
    for k, step in enumerate(tables.step):
        name, at = step.scene or name, ("step", k)
        if step.picture is not None:
            problems += _picture(at, step.picture, folder)
        if step.video is not None and step.video.voice is not None and _below(folder, step.video.voice) is None:
            problems.append(Problem((*at, "video", "voice"), f"is {shown(step.video.voice)}; it must be a sound file "
                                                             "(.wav) below the lesson's folder"))
        run = None
        if name is None:
            problems += [Problem((*at, field), "is given; it must have a scene, in this step or in one before")
                         for field in ("question", "until", "settings", "plot", "panel", "controls", "locked")
                         if getattr(step, field)]
        else:
            if name not in scenes:
                scenes[name] = _scene(name, folder, find)
            scene = scenes[name]
            if isinstance(scene, str):
                problems.append(Problem((*at, "scene"), scene))
            else:
                run, wrong = _bound(at, step, scene)
                problems += wrong
        runs.append(run)
    return list(dict.fromkeys(problems)), runs


def _below(folder: Path, name: str) -> Path | None:
    """The file of this name below a folder; None where there is none."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        return None
    return folder / path if (folder / path).is_file() else None


def _picture(at: At, name: str, folder: Path) -> Iterator[Problem]:
    if _below(folder, name) is None or Path(name).suffix.lower() not in PICTURES:
        yield Problem((*at, "picture"), f"is {shown(name)}; it must be a picture ({', '.join(PICTURES)}) below the "
                                        "lesson's folder")


def _scene(name: str, folder: Path, find: Find) -> Scene | str:
    """The scene of this name, or what is wrong with it."""
    path = _below(folder, name) if name.endswith(".toml") else find(name)
    if path is None:
        return f"is {shown(name)}; it must be a scene of the gallery, or a scene file (.toml) below the lesson's folder"
    try:
        scene = Scene.load(path)
        scene.build()
    except SceneError as error:
        return f"is {shown(name)}, which cannot be used: {str(error).splitlines()[0].rstrip('.')}"
    return scene


def _bound(at: At, step: StepTable, scene: Scene) -> tuple[Bound | None, list[Problem]]:
    """What a step runs, and what in it does not fit its scene."""
    setup = scene.build()
    problems = list(_names(at, step, setup.labels.bodies))
    if step.until is not None and step.until <= step.at:
        problems.append(Problem((*at, "until"), f"is {step.until:g}; it must be a number > at, which is {step.at:g}"))
    if step.question is not None and step.until is None:
        problems.append(Problem((*at, "until"), "is missing; where a question is asked it must be the time at which "
                                                "the run ends"))
    try:
        settings = check_settings(setup.settings, {k: _plain(v) for k, v in step.settings.items()})
    except ValueError as error:
        return None, [*problems, Problem((*at, "settings"), f"cannot be used: {error}")]
    of_scene = scene.tables.scene
    tables = scene.tables.model_copy(update={
        "camera": step.camera or scene.tables.camera,
        "scene": of_scene if step.speed is None else of_scene.model_copy(update={"speed": step.speed})})
    return Bound(Scene(tables, scene.folder, scene.path, scene.notes), settings, setup.labels), problems


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _names(at: At, step: StepTable, bodies: tuple[str, ...]) -> Iterator[Problem]:
    """Bodies, quantities and measures that there are not, and formulas over other numbers than are measured."""
    for k, curve in enumerate(step.plot):
        yield from _curve((*at, "plot", k), curve, bodies)
    if step.video is not None:
        begin, until = step.video.begin or step.at, step.video.until or step.until
        yield from misfits(step.video, (*at, "video"), bodies, None if until is None else (begin, until))
    question = step.question
    here = (*at, "question")
    if isinstance(question, SketchQuestion):
        yield from _curve((*here, "curve"), question.curve, bodies)
        if question.high <= question.low:
            yield Problem((*here, "high"),
                          f"is {question.high:g}; it must be a number > low, which is {question.low:g}")
    if isinstance(question, FirstQuestion):
        if question.event not in KINDS:
            yield Problem((*here, "event"), f"is {shown(question.event)}; it must be one of {', '.join(KINDS)}")
        for k, body in enumerate(question.bodies):
            if whose(body, bodies) is None:
                yield Problem((*here, "bodies", k), f"is {shown(body)}; it must be the name of a body, or of two with "
                                                    f'" and " between them: {", ".join(bodies[:8])}')
    if isinstance(question, ArrowQuestion) and question.body not in bodies:
        yield Problem((*here, "body"), f"is {shown(question.body)}; it must be the name of a body: "
                                       f"{', '.join(bodies[:8])}")
    if isinstance(question, Measuring):
        for name, table in question.measure.items():
            yield from _measure((*here, "measure", name), table.of, bodies)
            if table.until <= table.since:
                yield Problem((*here, "measure", name, "until"), f"is {table.until:g}; it must be a number > since, "
                                                                 f"which is {table.since:g}")
    if question is not None:
        known = {*question.measure} if isinstance(question, Measuring) else set()
        for place, text in formulas(question):
            own = {"answer"} if question.type == "number" and place[0] != "answer" else set()  # pyright: ignore
            yield from _formula((*here, *place), text, known | own)


def _curve(at: At, text: str, bodies: tuple[str, ...]) -> Iterator[Problem]:
    try:
        named(text, bodies)
    except ValueError as error:
        yield Problem(at, f"is {shown(text)}; {error}")


def _measure(at: At, text: str, bodies: tuple[str, ...]) -> Iterator[Problem]:
    try:
        measured(text, bodies)
    except ValueError as error:
        yield Problem(at, f"is {shown(text)}; {error}")


def _formula(at: At, text: str | float, known: set[str]) -> Iterator[Problem]:
    try:
        formula = read_formula(text)
    except FormulaError as error:
        yield Problem(at, f"holds {shown(text)}; it must be a formula; it {error}")
        return
    if unknown := sorted(formula.names - known):
        names = f"no other names than {', '.join(sorted(known))}" if known else "no names, for nothing is measured"
        yield Problem(at, f"uses {unknown[0]}; it must use {names}")
    elif not formula.names and not _finite(formula.value({})):
        yield Problem(at, f"is {shown(text)}; it must have a value, and divides by zero or leaves the numbers")


def _finite(value: Any) -> bool:
    return bool(abs(value) < float("inf"))


def settings_to_send(bound: Bound, step: StepTable) -> Mapping[str, Any]:
    """The settings of a step as the engine takes them, in an order in which each is allowed: the method first."""
    ordered = sorted(step.settings, key=lambda name: name != "method")
    return {name: getattr(bound.settings, name) for name in ordered}
