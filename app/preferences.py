"""What is remembered from one session to the next, and its file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import platformdirs
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from ..physics.core.limits import SETTINGS_FILE
from ..physics.core.whole_file import whole_file

SETTINGS = Path(platformdirs.user_config_dir("contactlab", appauthor=False)) / "settings.json"
MOST_RECENT = 10  # files remembered
LESSONS = 200  # whose progress is remembered

Pixels = Annotated[int, Field(ge=100, le=32768)]
LEAST_SCALE, MOST_SCALE = 0.6, 3.0
Scale = Annotated[float, Field(ge=LEAST_SCALE, le=MOST_SCALE)]
FontHeights = Annotated[float, Field(ge=5.0, le=80.0)]
PictureSize = Literal["window", "1280x720", "1920x1080", "3840x2160"]
Words = Annotated[str, Field(max_length=4096)]


@dataclass
class Preferences:
    """Each field has its type and its range: what does not fit is neither loaded nor saved."""

    dark: bool = True
    language: Literal["", "en", "zh_CN"] = ""  # "" = as the system says; see physics.core.language
    scale: Scale = 1.0  # of text and everything with it
    system_scale: Annotated[float, Field(ge=0.25, le=8.0)] = 1.0  # of the display that `scale` was suited to
    reduced_motion: bool = False         # impacts do not flash, and the camera does not fly
    width: Pixels = 1280                 # of the window
    height: Pixels = 800
    maximized: bool = False
    gallery: bool = True                 # panels shown
    parameters: bool = True
    lower: bool = True
    gallery_width: FontHeights = 16.0
    parameters_width: FontHeights = 19.5
    lower_height: FontHeights = 12.0
    lower_tab: Words = "contacts"        # name of a Tab, see panels.lower
    inspector_height: FontHeights = 23.0  # of the lower area where it shows equations
    recent: Annotated[list[Words], Field(max_length=MOST_RECENT)] = field(default_factory=list)
    record_fps: Annotated[int, Field(ge=1, le=240)] = 60
    record_as_seen: bool = False
    record_panels: bool = False
    record_format: Literal["mp4", "gif"] = "mp4"
    record_size: PictureSize = "window"  # of videos and pictures
    record_folder: Words = ""            # "" = the user's videos folder
    film_format: Literal["mp4", "gif", "webp", "png"] = "mp4"  # of a video of the run
    film_theme: Literal["dark", "light"] = "dark"
    film_slow: bool = True               # around events
    film_captions: bool = True           # tell the events
    film_plot: bool = False              # curves beside the view
    toured: bool = False                 # the tour of the window was begun once
    lesson_width: FontHeights = 26.0
    student: Annotated[str, Field(max_length=100)] = ""  # whose answers are written; "" = nobody's
    lessons: Annotated[dict[Words, Annotated[int, Field(ge=0, le=1000)]], Field(max_length=LESSONS)] = field(
        default_factory=dict)            # the step that each lesson was left at, from 0

    @classmethod
    def load(cls, path: Path) -> tuple["Preferences", str]:
        """Read what `save` wrote, and say in a sentence what is wrong with the file; "" where nothing is. What is wrong
        gets its default, and the file is set aside."""
        good, wrong = _read(path)
        return cls(**good), _set_aside(path, wrong) if wrong else ""

    def save(self, path: Path) -> None:
        """OSError where it cannot be written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps(_fitting(asdict(self)), indent=1).encode())

    def suit(self, factor: float) -> None:
        """Text and window as large as they were, where the display's factor is another one now: at the first start as
        large as the system's own."""
        change, self.system_scale = factor / self.system_scale, factor
        if change != 1.0:
            self.scale = min(max(self.scale * change, LEAST_SCALE), MOST_SCALE)
            self.width, self.height = (min(max(round(n * change), 100), 32768) for n in (self.width, self.height))

    def reached(self, lesson: str, step: int) -> None:
        """Remember where a lesson is; of too many the one that was opened longest ago is forgotten."""
        kept = [(key, at) for key, at in self.lessons.items() if key != lesson]
        self.lessons = dict([*kept, (lesson[:4096], step)][-LESSONS:])

    def remember(self, path: str) -> None:
        """Put a file first among the recent ones, where its name is text."""
        if path != path.encode(errors="ignore").decode():
            return
        self.recent = [path, *(p for p in self.recent if p != path)][:MOST_RECENT]


def videos_folder(chosen: str) -> Path:
    """Where videos and pictures go: the chosen folder, whose ~ is the user's own, or "Contactlab" among the videos."""
    return Path(chosen).expanduser() if chosen.strip() else Path(platformdirs.user_videos_dir()) / "Contactlab"


#: what each field takes
FITS = {name: TypeAdapter(kind) for name, kind in get_type_hints(Preferences, include_extras=True).items()}


def faults(path: Path) -> str:
    """What is wrong with a file of settings, "" where nothing is."""
    return _read(path)[1]


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """What fits of a file, and what does not."""
    if not path.is_file():
        return {}, ""  # before the first start
    try:
        with path.open("rb") as file:
            data = from_json(file.read(SETTINGS_FILE.most))
    except OSError as error:
        return {}, str(error.strerror)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        return {}, "all of it"
    known = {name: data[name] for name in FITS if name in data}
    good = _fitting(known)
    return good, ", ".join(name for name in known if name not in good)


def _fitting(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those values that fit their fields."""
    good = {}
    for name, value in values.items():
        try:
            good[name] = FITS[name].validate_python(value, strict=True)
        except ValidationError:
            continue
    return good


def _set_aside(path: Path, wrong: str) -> str:
    """Rename a damaged file, and say so."""
    aside = path.with_name(f"{path.stem}.damaged{path.suffix}")
    try:
        path.replace(aside)
    except OSError:
        aside = path
    return f"The settings were damaged ({wrong}): what was is set to its default. The file as it was: {aside}"
