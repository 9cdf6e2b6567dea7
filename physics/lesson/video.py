"""The vocabulary of videos of a run: a file with a table [video], or [step.video] in a lesson; and what in it does not
fit the run.

Times are those of the simulation, in s, where nothing else is said. What is written may hold {t}, {n}, {a}, {b},
{impulse} and {lost}: time, number, bodies, impulse [N s] and lost energy [J] of the event that it is about.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, Strict, WithJsonSchema, WrapValidator

from ..core.language import LANGUAGES
from ..core.limits import SCENE_FILE
from ..look.quantities import named
from ..methods import METHODS
from ..run.measures import KINDS
from ..run.messages import SIDES
from ..scene.form import Location, Problem, Vocabulary, path_text, read_form, shown, unreadable
from ..scene.refusals import SceneError, refusing
from ..scene.schema import Table
from ..scene.values import Flag, Name, Number, Positive, Vec3, choice, refuse
from .kinds import SWITCHES, Line, Time, field

PIXELS = 16, 8192          # of a side of a picture, from and to
RATES = 1, 240             # frames per second
LONGEST_VIDEO = 3600.0     # [s] of simulated time
THEMES = ("dark", "light")
PLACES = ("bottom", "top")
PLOT_PLACES = ("right", "below")
MOST_CURVES = 4
BLANK = re.compile(r"\{([^{}]*)\}")
#: what a blank in a text may be: at a time, and at an event
BLANKS_OF_TIME, BLANKS_OF_EVENT = ("t",), ("t", "n", "a", "b", "impulse", "lost")


def _size(value: Any, _: Any) -> tuple[int, int]:
    low, high = PIXELS
    whole = isinstance(value, list | tuple) and len(value) == 2
    if not whole or not all(type(v) is int and low <= v <= high for v in value):
        raise refuse(f"be two whole numbers from {low} to {high}: width and height [pixels]")
    return value[0], value[1]


Size = Annotated[tuple[int, int], WrapValidator(_size), WithJsonSchema({
    "type": "array", "minItems": 2, "maxItems": 2,
    "items": {"type": "integer", "minimum": PIXELS[0], "maximum": PIXELS[1]}})]
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=600.0)]
Words = Annotated[str, Field(strict=True, max_length=1000)]
Formula = Annotated[str, Field(strict=True, max_length=1000)]


class InstantTable(Table):
    """Something at an instant of the run: at a time, or at events; of two runs at those of the first."""

    at: Time | None = field(None, "a time of the run, a number >= 0 [s]; or else event")
    event: choice(KINDS) | None = field(None, f"a kind of event: {', '.join(KINDS)}; or else at")  # pyright: ignore
    body: Name | None = field(None, "the name of a body, of whose events it is (else of all)")
    number: Annotated[int, Field(strict=True, ge=1)] | None = field(
        None, "which of these events, a whole number >= 1 (else each of them)")


class CaptionTable(InstantTable):
    """Words, a formula or both in the picture."""

    text: Words = field("", "text, which may hold {t}, {n}, {a}, {b}, {impulse}, {lost}")
    formula: Formula = field("", "a formula in LaTeX below the text")
    seconds: Seconds = field(3.0, "how long it is shown, a number > 0 and <= 600 [s of video]")
    place: choice(PLACES) = field("bottom", "where in the picture: bottom or top")  # pyright: ignore


class ChapterTable(InstantTable):
    """A chapter of the video begins."""

    title: Line = field(..., "a line of text, which may hold {t}, {n}, {a}, {b}, {impulse}, {lost}")


class ViewTable(Table):
    """Where the camera is at a time; between two such times it goes smoothly from one to the other."""

    at: Time = field(..., "a time of the run, a number >= 0 [s]")
    distance: Positive = field(..., "how far away the camera is, a number > 0 [m]")
    azimuth: Number = field(-60.0, "its bearing from what it looks at, degrees from x towards y")
    elevation: Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-90.0, le=90.0)] = field(
        20.0, "its height above the horizon of what it looks at, -90 to 90 degrees")
    target: Vec3 | None = field(None, "the point looked at, three numbers [m]; or else body (else the scene's middle)")
    body: Name | None = field(None, "the name of a body that the camera follows; or else target")


class CardTable(Table):
    """A card before or behind the run."""

    title: Line = field(..., "a line of text, in large letters")
    text: Words = field("", "text below it")
    formula: Formula = field("", "a formula in LaTeX below that")
    seconds: Seconds = field(3.0, "how long it is shown, a number > 0 and <= 600 [s of video]")


class BesideTable(Table):
    """A second run, beside the first and at the same time."""

    scene: Name | None = field(None, "a scene file or a recorded run below the folder of this file, or a scene of the "
                                     "gallery (else the same scene)")
    settings: dict[Name, Any] = field({}, "a table of settings and values, such as restitution = 0.5")
    titles: Annotated[tuple[Words, ...], Field(min_length=2, max_length=2)] | None = field(
        None, "a list of two lines of text, over the first run and over this one (else their scenes' titles)")


class VideoTable(Table):
    """How a run is shown in a video."""

    title: Words = field("", "a line of text (else the scene's title)")
    size: Size = field((1920, 1080), f"width and height, two whole numbers from {PIXELS[0]} to {PIXELS[1]} [pixels]")
    rate: Annotated[int, Field(strict=True, ge=RATES[0], le=RATES[1])] = field(
        60, f"a whole number from {RATES[0]} to {RATES[1]} [frames per second]")
    begin: Time | None = field(None, "the time at which it begins, a number >= 0 [s] (else the run's beginning)")
    until: Time | None = field(None, "the time at which it ends, a number > begin [s] (else the run's end, or 10 s)")
    speed: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=1e-3, le=100.0)] | None = field(
        None, "a number from 0.001 to 100 [simulated seconds per second of video] (else as the scene says)")
    slow_at_events: Annotated[float, Field(strict=True, ge=0.01, le=1.0)] = field(
        1.0, "how much slower it goes near to events, a number from 0.01 to 1: a share of the speed")
    language: choice(("", *LANGUAGES)) = field(  # pyright: ignore
        "", f"the language of what it says: {', '.join(LANGUAGES)} (else as the app has it)")
    theme: choice(THEMES) = field("dark", "dark, or light for print")  # pyright: ignore
    heading: Flag = field(True, "true or false: title and time stand over the view")
    panels: Flag = field(False, "true or false: with the panels of the app")
    transparent: Flag = field(False, "true or false: nothing behind the bodies, in pictures (.png)")
    compare: Annotated[tuple[choice(tuple(METHODS)), ...], Field(max_length=SIDES[1])] = field(  # pyright: ignore
        (), f"a list of {SIDES[0]} to {SIDES[1]} methods, shown side by side")
    show: tuple[choice(SWITCHES), ...] = field((), "a list of switches of the view that are on")  # pyright: ignore
    hide: tuple[choice(SWITCHES), ...] = field((), "a list of switches of the view that are off")  # pyright: ignore
    plot: Annotated[tuple[Line, ...], Field(max_length=MOST_CURVES)] = field(
        (), f"a list of up to {MOST_CURVES} curves beside the view, QUANTITY[:BODY]")
    plot_at: choice(PLOT_PLACES) | None = field(  # pyright: ignore
        None, "where the curves are: right or below (else right; below two runs)")
    narrated: Flag = field(False, "true or false: captions tell the events in sentences")
    voice: Name | None = field(None, "a sound file (.wav) below the folder of this file: a voice-over")
    voice_at: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=LONGEST_VIDEO)] = field(
        0.0, "when the voice begins, a number >= 0 [s of video]")
    most: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.05, le=1000.0)] = field(
        10.0, "how large a .gif or .webp may become, a number from 0.05 to 1000 [MB]; it is made smaller until it fits")
    opening: CardTable | None = field(None, "a table [video.opening]: a card before the run")
    ending: CardTable | None = field(None, "a table [video.ending]: a card behind the run")
    beside: BesideTable | None = field(None, "a table [video.beside]: a second run")
    view: Annotated[tuple[ViewTable, ...], Field(max_length=100)] = field(
        (), "tables [[video.view]]: where the camera is (else as the scene says)")
    caption: Annotated[tuple[CaptionTable, ...], Field(max_length=200)] = field((), "tables [[video.caption]]")
    chapter: Annotated[tuple[ChapterTable, ...], Field(max_length=200)] = field((), "tables [[video.chapter]]")

    @property
    def size_made(self) -> tuple[int, int]:
        """The size with odd numbers made even: films halve their colours."""
        return self.size[0] - self.size[0] % 2, self.size[1] - self.size[1] % 2

    @property
    def dark(self) -> bool:
        return self.theme == "dark"


class VideoFile(Table):
    """A video of a run."""

    video: VideoTable = field(..., "a table [video]")


#: table name in a path -> its model
VIDEO_TABLES: dict[str, type[Table]] = {
    "video": VideoTable, "caption": CaptionTable, "chapter": ChapterTable, "view": ViewTable, "opening": CardTable,
    "ending": CardTable, "beside": BesideTable,
}
VIDEO = Vocabulary(VideoFile, VIDEO_TABLES, {}, frozenset({"settings"}))


def read_video(path: Path) -> VideoTable:
    """The table of a file. Raises SceneError, with one sentence for each mistake."""
    with refusing(path.name):
        if path.stat().st_size > SCENE_FILE.most:
            raise SceneError(f"{path.name}: is larger than {SCENE_FILE}; it must be a smaller file.")
        try:
            data = tomllib.loads(path.read_bytes().decode())
        except UnicodeDecodeError as error:
            raise SceneError(f"{path.name}: is not text in UTF-8; it must be a TOML file.") from error
        except tomllib.TOMLDecodeError as error:
            raise SceneError(f"{path.name}: is not valid TOML: {error}.") from error
        problems = list(unreadable(data))
        tables, wrong = (None, []) if problems else read_form(data, VIDEO)
        refuse_video([*problems, *wrong], path.name)
        assert tables is not None
        return tables.video


def refuse_video(problems: Sequence[Problem], source: str) -> None:
    """Raises SceneError where there are problems; source: what each sentence begins with."""
    if problems:
        raise SceneError("\n".join(f"{source}: {path_text(p.location)} {p.text}." for p in problems))


def misfits(video: VideoTable, at: Location, bodies: Sequence[str], span: tuple[float, float] | None
            ) -> Iterator[Problem]:
    """What in a table at this place of its file does not fit a run with these bodies. span: first and last time of what
    is shown [s]; None = not known yet."""
    if video.begin is not None and video.until is not None and video.until <= video.begin:
        yield Problem((*at, "until"), f"is {video.until:g}; it must be a number > begin, which is {video.begin:g}")
    if len(video.compare) == 1:
        yield Problem((*at, "compare"), f"is {shown(list(video.compare))}; it must be a list of {SIDES[0]} to "
                                        f"{SIDES[1]} methods")
    for other in ("plot", "beside", "transparent"):
        if video.panels and getattr(video, other):
            yield Problem((*at, other), "is given together with panels; it must be left out, or panels be false")
    if video.compare and video.beside:
        yield Problem((*at, "beside"), "is given together with compare; one of them must be left out")
    for k, curve in enumerate(video.plot):
        try:
            named(curve, bodies)
        except ValueError as error:
            yield Problem((*at, "plot", k), f"is {shown(curve)}; {error}")
    for k, view in enumerate(video.view):
        here = *at, "view", k
        yield from _known(here, view.body, bodies)
        if view.body is not None and view.target is not None:
            yield Problem((*here, "target"), "is given together with body; one of them must be left out")
    for k, caption in enumerate(video.caption):
        here = *at, "caption", k
        yield from _instant(here, caption, bodies, span)
        yield from _blanks((*here, "text"), caption.text, caption)
        if not caption.text and not caption.formula:
            yield Problem((*here, "text"), "is missing; a caption must have a text or a formula")
    for k, chapter in enumerate(video.chapter):
        yield from _instant((*at, "chapter", k), chapter, bodies, span)
        yield from _blanks((*at, "chapter", k, "title"), chapter.title, chapter)


def _known(at: Location, body: str | None, bodies: Sequence[str]) -> Iterator[Problem]:
    if body is not None and body not in bodies:
        yield Problem((*at, "body"), f"is {shown(body)}; it must be the name of a body: {', '.join(bodies[:8])}")


def _within(at: Location, t: float | None, span: tuple[float, float] | None) -> Iterator[Problem]:
    if t is not None and span is not None and not span[0] - 1e-9 <= t <= span[1] + 1e-9:
        yield Problem((*at, "at"), f"is {t:g}; it must be a time that the video shows, {span[0]:g} to {span[1]:g} s")


def _instant(at: Location, table: InstantTable, bodies: Sequence[str], span: tuple[float, float] | None
             ) -> Iterator[Problem]:
    if (table.at is None) == (table.event is None):
        had = "is missing, and so is event" if table.at is None else "is given together with event"
        yield Problem((*at, "at"), f"{had}; it must have one of the two")
    for name in ("body", "number"):
        if table.event is None and getattr(table, name) is not None:
            yield Problem((*at, name), "is given without event; it must be left out")
    yield from _known(at, table.body, bodies)
    yield from _within(at, table.at, span)


def _blanks(at: Location, text: str, table: InstantTable) -> Iterator[Problem]:
    known = BLANKS_OF_TIME if table.event is None else BLANKS_OF_EVENT
    for name in dict.fromkeys(BLANK.findall(text)):
        if name not in known:
            allowed = ", ".join(f"{{{one}}}" for one in known)
            yield Problem(at, f"holds {{{name[:40]}}}; it must hold no other than {allowed}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its blanks filled in."""
    return BLANK.sub(lambda found: values[found[1]], text)
