"""Everything the panels remember between frames. Panels read and write it; it knows neither engine nor window."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..physics.problem.problem import ContactProblem
from ..physics.run.journal import Leftover
from ..physics.run.messages import Curve, Inspect, StudyFan, Watch
from ..physics.scene.edits import Change
from ..physics.scene.refusals import SceneError
from .author import Author
from .course import Course, LessonEntry
from .mesh_box import MeshBox
from .preferences import Preferences
from .view.view_options import ViewOptions
from .workbench import Workbench

T = TypeVar("T")


class Request(NamedTuple):
    """Something a panel wants of the app itself: a name in commands.COMMANDS, and for some an argument."""

    command: str
    argument: Any = None


class SceneEntry(NamedTuple):
    """A scene of the gallery."""

    key: str
    title: str
    summary: str
    path: Path
    thumbnail: Any = None  # an imgui texture, where there is a picture
    light: Any = None      # likewise, in the light theme
    group: str = ""        # the heading it stands under
    watch: str = ""        # what to look at; searched, not shown here
    tags: tuple[str, ...] = ()  # of what it holds, see Scene.tags


@dataclass
class Palette:
    """The palette of all commands and scenes."""

    open: bool = False
    just_opened: bool = False
    text: str = ""
    index: int = 0


@dataclass
class Inspector:
    """What is looked at in the contact equations, and how."""

    sent: Inspect = field(default_factory=Inspect)  # what the engine was asked for last
    solver: str = "dantzig"
    page: str = "answers"             # beside the matrix: answers, forces, contact, freedom, baraff
    row: int = 0                      # contact i and contact j looked at
    column: int = 0
    zoom: float = 1.0                 # of the matrix; 1: all of it
    corner: tuple[float, float] = (0.0, 0.0)  # column and row of M in the upper left corner
    large: bool = False               # the lower area takes most of the window
    arrows: bool = True               # the view shows the forces that the panel shows
    instant: tuple[int, int] = (-1, -1)  # generation and step that `shift` and `pivot` belong to
    shift: dict[int, float] = field(default_factory=dict)  # changes of the forces left open, by contact [N]
    pivot: int = 0                    # step of the solver shown
    piece: int = 0                    # of the step
    law: str = "newton"
    restitution: float | None = None  # of the frozen impact; None = as it was
    friction: float | None = None
    restitution_t: float | None = None
    restitution_psi: float | None = None
    problem: ContactProblem | None = None  # from a file, shown in place of the scene's
    problem_name: str = ""


@dataclass
class TimelineUi:
    """What of the timeline is shown."""

    span: tuple[float, float] | None = None  # [s]; None = all of it
    span_pressed: tuple[float, float] | None = None  # the frame before: a click does not move it
    top: float = -1.0                        # the first row
    hidden: set[str] = field(default_factory=set)  # kinds of events
    scrolled_to: tuple[float, int] = (-1.0, -1)  # time and number of events that the list last scrolled to


@dataclass
class ComparisonUi:
    """What is plotted of the sides of a comparison."""

    quantity: str = "height"  # name in QUANTITIES
    body: int = -1            # whose; -1 = the first that moves


@dataclass
class RecordingStatus:
    """What the panels say about a running recording."""

    path: Path
    seconds: float  # of video so far
    as_seen: bool = False


class FilmStatus(NamedTuple):
    """How far a video of the run is."""

    path: Path
    share: float  # that is done, 0..1


class OpeningStatus(NamedTuple):
    """What the box says about a file that takes long to open."""

    name: str
    words: str    # what is done now
    share: float  # that is done, 0..1
    may_be_hull: bool = False  # a hollow mesh is taken apart: its hull can be chosen instead


class Question(NamedTuple):
    """Something that the user is asked: nothing is done until a button is pressed."""

    title: str
    text: str
    answers: tuple[tuple[str, Request | None], ...]  # labels of buttons, and what they ask for


class Failure(NamedTuple):
    """Why a panel is closed."""

    sentence: str
    traceback: str


class Notice(NamedTuple):
    """A line that goes away by itself."""

    text: str
    until: float  # on the app's clock [s]


@dataclass
class Tour:
    """Where the tour of the window is."""

    stop: int = 0         # of `panels.tour.STOPS`
    begun: bool = False   # the card has been drawn, and `mark` belongs to it
    mark: Any = None      # what was so when it was drawn first
    done: bool = False    # what it asks for was done
    height: float = 0.0   # of the card in the last frame [window units]


Rect = tuple[float, float, float, float]


@dataclass
class UiState:
    preferences: Preferences = field(default_factory=Preferences)
    view: ViewOptions = field(default_factory=ViewOptions)
    workbench: Workbench = field(default_factory=Workbench)
    course: Course = field(default_factory=Course)
    author: Author = field(default_factory=Author)
    lessons: list[LessonEntry] = field(default_factory=list)
    question: Question | None = None
    scenes: list[SceneEntry] = field(default_factory=list)
    scene_path: Path | None = None     # of the scene that runs, where it came from a file
    gallery_at: Path | None = None     # the scene that the gallery last scrolled to
    requests: list[Request] = field(default_factory=list)
    palette: Palette = field(default_factory=Palette)
    help: bool = False
    about: bool = False
    tour: Tour | None = None           # the tour of the window, while it is made
    links: bool = False                # the box with the study of chains
    orders: bool = False               # the box with the orders of accuracy
    sweep_map: bool = False            # the box with the map of a sweep
    film: bool = False                 # the box with the video of the run
    film_status: FilmStatus | None = None  # while one is made
    fan: bool = False                  # the box with the fan of perturbed starts
    fan_asked: StudyFan = field(default_factory=lambda: StudyFan(10))  # what it asks for
    menu_open: bool = False            # a menu, a list of choices or options: seen in the last frame
    shut_menus: bool = False           # in the next frame
    panels_hidden: bool = False
    by_keys: bool = False              # the keys are those of panels, see panels.by_keys
    next_panel: bool = False           # in the next frame, the cursor of the keys goes there
    open_box: str = ""                 # the command that the box asks a path for, where there is no file dialog
    open_box_text: str = ""
    save_box: bool = False             # likewise, for the path of a new file
    save_box_text: str = ""
    opening: OpeningStatus | None = None  # a file that takes long to open
    software: bool = False             # the processor draws, for there is no GPU
    mesh_box: MeshBox | None = None    # what is asked of a mesh that was opened
    leftovers: list[Leftover] = field(default_factory=list)  # runs that were cut off, offered one after the other
    message: str = ""                  # in a box until it is read
    failure: Failure | None = None     # that `message` tells: something of ours broke, and a report can be copied
    failures: dict[str, Failure] = field(default_factory=dict)  # panels that are closed, by title, see panels.guard
    notice: Notice | None = None
    over_button: bool = False          # the mouse is on a button that lies over the view
    playing: bool = False
    recording: RecordingStatus | None = None
    hovered_key: int | None = None     # `Contacts.key` under the mouse, in the table or in the view
    hover_from_view: bool = False
    under_cursor: str = ""             # "body", "space" or "" outside the view
    dragging: str = ""                 # what the mouse does now, for the status bar
    view_rect: Rect = (0.0, 0.0, 1.0, 1.0)  # of the 3-D view in the window: x, y, width, height
    legend_height: float = 0.0         # of the legend below the picture; 0 where it stands in its corner
    plates: list[Rect] = field(default_factory=list)  # of the fixed panels, to be filled before they are drawn
    places: dict[str, Rect] = field(default_factory=dict)  # where panels are in this frame, by title
    frames_per_second: float = 0.0
    clock: float = 0.0                 # [s]
    progress: tuple[str, float] | None = None  # while kernels compile: what, share done
    compiles: bool = False             # the engine compiles a kernel now
    busy: float = 0.0                  # how long the engine has been at one step [s]
    bold: Any = None                   # the bold face
    inspector: Inspector = field(default_factory=Inspector)
    watch_sent: tuple[int, Watch] | None = None  # generation and what the engine was asked to record, until it answers
    comparison: ComparisonUi = field(default_factory=ComparisonUi)
    timeline: TimelineUi = field(default_factory=TimelineUi)
    dragged: Curve | None = None       # a quantity that the mouse carries to a plot
    pictures: dict[Any, Any] = field(default_factory=dict)  # textures made by panels, see panels.pictures
    own: dict[type, Any] = field(default_factory=dict)  # see `state_of`
    dismissed: list[Any] = field(default_factory=list)
    sort_contacts: tuple[str, bool] = ("lam", True)  # column, descending
    asked: dict[str, tuple[float, float]] = field(default_factory=dict)  # settings just sent: value, shown until

    def state_of(self, kind: type[T]) -> T:
        """What one panel alone remembers: a dataclass of its own, made when it is first asked for."""
        return self.own.setdefault(kind, kind())

    def forget_scene(self) -> None:
        """Put away all that belongs to the scene that was shown: bodies, contacts, instants; and try panels again."""
        self.view.selected, self.view.hovered_contact, self.hovered_key = -1, -1, None
        self.inspector.shift, self.inspector.instant = {}, (-1, -1)
        self.inspector.row = self.inspector.column = self.inspector.piece = self.inspector.pivot = 0
        self.comparison.body, self.watch_sent = -1, None
        self.timeline = TimelineUi(hidden=self.timeline.hidden)
        self.asked.clear()
        self.failures.clear()

    def request(self, command: str, argument: Any = None) -> None:
        self.requests.append(Request(command, argument))

    def edit(self, name: str, change: Change, live: bool = False) -> Any:
        """Edit the scene of the workbench; what refuses it is told. Returns what the change does, else None."""
        try:
            return self.workbench.edit(name, change, live)
        except (SceneError, ValueError) as error:
            self.tell(str(error))
            return None

    def say(self, text: str, seconds: float = 4.0) -> None:
        self.notice = Notice(text, self.clock + seconds)

    def tell(self, text: str, failure: Failure | None = None) -> None:
        """Show a text in a box until it is read; failure: what of ours broke, where that is what it tells."""
        self.message, self.failure = text, failure

    def side_rects(self, count: int) -> list[Rect]:
        """The view divided for so many sides, next to each other; below them the legend, where it has no corner."""
        x, y, w, h = self.view_rect
        h = max(h - self.legend_height, 1.0)
        gap = 2.0 * self.preferences.scale if count > 1 else 0.0
        wide = max((w - (count - 1) * gap) / count, 1.0)
        return [(x + k * (wide + gap), y, wide, h) for k in range(count)]

    @property
    def boxes_open(self) -> bool:
        """Something lies over the view that Escape closes."""
        return bool(self.menu_open or self.palette.open or self.help or self.about or self.links or self.orders
                    or self.sweep_map or self.fan or self.film or self.open_box or self.save_box or self.question
                    or self.mesh_box or self.opening or self.message)

    @property
    def font(self) -> float:
        """Height of a line of text [window units] at the current scale."""
        return 16.0 * self.preferences.scale
