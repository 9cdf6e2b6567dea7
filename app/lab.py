"""Lab: the app without its window. Holds the runner, the panels' state and the camera, opens files, keeps the log."""

import json
import time
import webbrowser
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import platformdirs

from ..physics.core.language import _
from ..physics.core.settings import SETTINGS
from ..physics.core.whole_file import whole_file
from ..physics.lesson.lesson import Lesson
from ..physics.problem.problem import ContactProblem
from ..physics.run.messages import Command, MapStudy, MoveGrab, Open, Pause, Play, Recording, SaveRun, Snapshot
from ..physics.run.run_file import SUFFIX
from ..physics.run.sweep import replaced
from ..physics.scene import edits
from ..physics.scene.mesh_files import NAMES
from ..physics.scene.mesh_scene import MeshChoices
from .authoring import Authoring
from .background import in_background
from .figure import Figure, encode
from .film_of_run import FilmOfRun
from .making import Making
from .mesh_box import mesh_box_of
from .opening import SHOWN_AFTER, CannotOpen, Opening
from .panels.sweep_map import MapUi
from .record.encoder import numbered
from .report import bits_of, report
from .scripts.reference import write_reference
from .sweeps.sweep_table import SweepTable
from .teaching import Teaching
from .ui_state import Failure, OpeningStatus, Rect, Request, Tour, UiState
from .view.camera import Camera, action_bounds, scene_bounds

STATE_LINES = 0.1  # [s] between lines of the log that tell the state
LOGGED_BODIES = 50
LAST_COMMANDS = 50  # in a report
LONGEST_LINE = 200  # letters of a command in a report


class Host(Protocol):
    """What only a window can do."""

    def choose_file(self) -> None: ...
    def choose_mesh(self) -> None: ...
    def choose_new_file(self, suggested: Path) -> None: ...
    def picture_for(self, scene: Path) -> None: ...
    def toggle_fullscreen(self) -> None: ...
    def screenshot(self) -> None: ...
    def copy(self, text: str) -> None: ...
    def toggle_recording(self) -> None: ...
    def quit(self) -> None: ...


class Engine(Protocol):
    """What the app sees of the physics thread."""

    @property
    def progress(self) -> tuple[str, float] | None: ...  # while kernels compile
    @property
    def busy(self) -> float: ...  # how long it has been at one step [s]
    @property
    def compiles(self) -> bool: ...  # a kernel, now
    @property
    def latest(self) -> Snapshot | None: ...
    @property
    def failure(self) -> str: ...  # traceback of its last error
    def send(self, command: Command) -> None: ...


class Lab:
    def __init__(self, engine: Engine, ui: UiState, host: Host, log: IO[str] | None = None) -> None:
        self.engine = engine
        self.ui = ui
        self.host = host
        self.camera = Camera()
        self.making = Making(ui, self.send, host)
        self.teaching = Teaching(ui, self._transmit, self._documents)
        self.authoring = Authoring(ui, self._documents)
        self.filming = FilmOfRun(ui, self.send, self.camera)
        self.snapshot: Snapshot | None = None
        self.done: deque[str] = deque(maxlen=LAST_COMMANDS)  #: commands, oldest first
        self.graphics = ""         #: the OpenGL in use, for reports
        self.lockstep: Any = None  # a recording that makes the steps itself; `playing`: it does so now
        self._log = log
        self._logged = 0.0
        self._logged_snapshot: Snapshot | None = None
        self._logged_message = ""
        self._generation = -1
        self._sides = 0
        self._refused: str | None = None
        self._closed: dict[str, Failure] = {}
        self._opening: Opening | None = None
        self._reference: Future[Path] | None = None
        self._differs: int | None = None

    # ------------------------------------------------------------------------------------------- engine

    def send(self, command: Command) -> None:
        """Send a command to the engine, where a lesson does not stand against it."""
        if self.lockstep is not None and isinstance(command, Play | Pause):
            self.lockstep.playing = isinstance(command, Play)
        elif why := self.teaching.refusal(command):
            self.ui.say(why)
        elif not self.teaching.takes(command):
            self._transmit(command)

    def _transmit(self, command: Command) -> None:
        """Send a command to the engine, and write it into the log."""
        if not isinstance(command, MoveGrab):
            text = asdict(command) if is_dataclass(command) and not isinstance(command, Open) else {}
            self.note("command", command=type(command).__name__, **text)
            of = f" {command.scene.name}" if isinstance(command, Open) else ""
            self.done.append(f"{type(command).__name__}{of} {text or ''}".rstrip()[:LONGEST_LINE])
        self.engine.send(command)

    def hold(self, take: Any) -> None:
        """From now on a recording in simulated time makes the steps; `take.playing` says whether it does."""
        self.engine.send(Pause())
        self.lockstep = take

    def let_go(self) -> None:
        """The engine runs by itself again."""
        take, self.lockstep = self.lockstep, None
        if take is not None and take.playing:
            self.send(Play())

    @property
    def playing(self) -> bool:
        if self.lockstep is not None:
            return self.lockstep.playing
        return self.snapshot is not None and not self.snapshot.paused

    @property
    def opening(self) -> bool:
        """A file is being loaded."""
        return self._opening is not None

    def play_pause(self) -> None:
        self.send(Pause() if self.playing else Play())

    def update(self) -> bool:
        """Take the engine's latest snapshot; True where it is new."""
        self._watch_opening()
        self.making.update()
        self.authoring.update()
        self.teaching.update(self.engine.latest)
        self._watch_reference()
        self.filming.update(self.engine.latest)
        latest = self.engine.latest
        new = latest is not None and latest is not self.snapshot
        self.snapshot = latest
        self.ui.playing = self.playing
        self.ui.progress, self.ui.busy, self.ui.compiles = self.engine.progress, self.engine.busy, self.engine.compiles
        first_view = latest is not None and latest.generation != self._generation
        if latest is not None and first_view:
            first = self._generation < 0
            self._generation = latest.generation
            self.ui.forget_scene()
            self.ui.workbench.preview = None
            self.ui.scene_path = latest.file
            if first or not self.making.keeps_view:
                self._first_view()
                self.making.keeps_view = self.ui.workbench.on
            if latest.labels.notes:
                self.ui.say(" ".join(latest.labels.notes), 8.0)
        if latest is not None and len(latest.sides) != self._sides:
            if len(latest.sides) > self._sides and not first_view:
                self._fit_sides(latest)
            self._sides = len(latest.sides)
        if new and latest is not None and latest.notice and latest.notice != self._refused and not latest.quiet:
            self.ui.say(latest.notice[:1].upper() + latest.notice[1:])
        if latest is not None and latest.differs != self._differs:
            self._differs = latest.differs
            if self._differs is not None:
                self.ui.say(_("Step {_differs} does not come out as it was recorded: another version or processor "
                            "made the recording. Recorded states count.").format(_differs=self._differs), 10.0)
        self._refused = latest.notice if latest is not None else None
        self._note_failures()
        self._log_state()
        return new

    # ---------------------------------------------------------------------------------------------- log

    def note(self, kind: str, **fields: Any) -> None:
        """Write a line into the log, where one is kept."""
        if self._log is not None:
            self._log.write(json.dumps({"kind": kind, "wall": round(time.time(), 3), **fields}, default=str) + "\n")
            self._log.flush()

    def _note_failures(self) -> None:
        """Write into the log which panels have failed since the last frame."""
        closed, before = self.ui.failures, self._closed
        for title in closed.keys() - before.keys():
            self.note("failure", traceback=closed[title].traceback)
        self._closed = closed.copy()

    def report(self, failure: Failure | None = None) -> None:
        """Copy a report of a failure, else of how things stand."""
        told = failure or self.ui.failure or Failure("", "")
        where = "\n".join(filter(None, [told.traceback, self.engine.failure]))
        self.host.copy(report(told.sentence, where, self.snapshot, self.ui.scene_path, self.done, self.graphics))
        self.ui.say(_("The report is copied: paste it where faults are collected."), 6.0)

    def _log_state(self) -> None:
        s = self.snapshot
        if self._log is None or s is None or (s is self._logged_snapshot and self.ui.message == self._logged_message):
            return
        if time.monotonic() - self._logged < STATE_LINES:
            return  # the next update writes it
        self._logged, self._logged_snapshot, self._logged_message = time.monotonic(), s, self.ui.message
        self.note(
            "state", scene=s.scene_name, title=s.labels.title, step=s.step, t=s.t, paused=s.paused, speed=s.speed,
            settings=asdict(s.settings), contacts=int(s.contacts.count[0]), energy=s.energy.total, error=s.error,
            grabbed=None if s.grabbed is None else s.labels.bodies[s.grabbed.body],
            positions={n: [round(float(v), 6) for v in s.x[i]] for i, n in enumerate(s.labels.bodies[:LOGGED_BODIES])},
            message=self.ui.message, frames_per_second=round(self.ui.frames_per_second, 1), bits=bits_of(s),
            recording=None if self.ui.recording is None else str(self.ui.recording.path),
        )

    # -------------------------------------------------------------------------------------------- files

    def open_path(self, path: str | Path) -> None:
        """Read a file in the background and show what it holds; where that fails, all goes on as it was. Unsaved work
        is asked about first."""
        if self._opening is not None:
            self.ui.say(_("Still opening {name}.").format(name=self._opening.name))
            return
        if self.making.holds(Request("open_path", path)):
            return
        path = Path(path)
        self.ui.say(_("Opening {name} …").format(name=path.name), SHOWN_AFTER)
        self._opening = Opening(path, software=self.ui.software)

    def open_paths(self, paths: Sequence[str | Path]) -> None:
        """Open a file, or several meshes as one scene; of other files only the first can be shown."""
        first, *others = map(Path, paths)
        meshes = all(path.suffix.lower() in NAMES for path in (first, *others))
        if not others or not meshes:
            self.open_path(first)
            if others:
                self.ui.say(_("Only meshes are opened together: {name} is opened.").format(name=first.name), 6.0)
        elif self._opening is None and not self.making.holds(Request("open_paths", paths)):
            self.open_mesh(first, MeshChoices(beside=tuple(others)))

    def open_mesh(self, path: Path, choices: MeshChoices) -> None:
        """Open a mesh once more, in the way that was chosen."""
        self._opening = Opening(path, choices, self.ui.software)

    def open_as_hull(self) -> None:
        """Let the mesh that is being taken apart collide as its convex hull."""
        if self._opening is not None:
            self._opening.give_up()
            self.open_mesh(self._opening.path, self._opening.choices._replace(collide="hull"))

    def cancel_opening(self) -> None:
        """Give up the file that is being opened; what runs was not touched."""
        if self._opening is not None:
            self._opening.give_up()
            self.ui.say(_("{name} is not opened.").format(name=self._opening.name))
            self._opening = self.ui.opening = None

    def _watch_opening(self) -> None:
        """Show how far the file is that is being opened, and what it holds once it is read."""
        opening = self._opening
        if opening is None:
            return
        if not opening.done:
            if opening.seconds > SHOWN_AFTER:
                self.ui.opening = OpeningStatus(opening.name, *opening.stage, opening.may_be_hull)
            return
        self._opening = self.ui.opening = self.ui.notice = None
        try:
            path, content = opening.result()
        except CannotOpen as error:
            self.ui.tell(str(error))
            self.note("message", text=self.ui.message)
            return
        cut_off = isinstance(content, Recording) and content.leftover is not None
        if not cut_off and all(entry.path != path for entry in self.ui.scenes):
            self.ui.preferences.remember(str(path))
        if isinstance(content, Lesson):
            self.teaching.open(content)
            self.making.opened(None)
            return
        self.teaching.leave()
        if isinstance(content, ContactProblem):
            self._show_problem(path, content)
        elif isinstance(content, Recording):
            self._replay(content)
        elif isinstance(content, SweepTable):
            self._show_table(content)
        else:
            self.making.opened(content)
            self.send(Open(content, paused=False))
            if opening.doubts is not None:
                self.ui.mesh_box = mesh_box_of(path, opening.choices, opening.doubts)

    def _replay(self, recording: Recording) -> None:
        """Show a recorded run from its beginning, or what is left of one from its end on."""
        left = recording.leftover is not None
        self.making.opened(recording.scene)
        self.send(Open(recording.scene, left, recording, at_end=left))
        begin, end = recording.span
        words = _("A recorded run of {end:.2f} s. It is replayed until something is changed.").format(end=end - begin)
        self.ui.say(" ".join((words, *recording.notes)), 8.0)

    def _show_problem(self, path: Path, problem: ContactProblem) -> None:
        """Show a contact problem from a file in place of the scene's."""
        inspector, p = self.ui.inspector, self.ui.preferences
        inspector.problem, inspector.problem_name = problem, path.name
        p.lower, p.lower_tab, self.ui.panels_hidden = True, "equations", False
        self.ui.say(_("{name}: {contact_count} contacts").format(name=path.name, contact_count=problem.contact_count))

    def _show_table(self, table: SweepTable) -> None:
        """Show the table of a sweep as a map: of the scene that it tells, else of the one that is open."""
        if table.scene is None:
            scene, now = self.making.scene, self.snapshot
            try:
                if scene is None or now is None:
                    raise ValueError(_("no scene is open"))
                table = table.of(scene, now.settings)
            except ValueError as error:
                self.ui.tell(_("{name} does not tell which scene was run, and it is not the one that is open "
                             "({error}). Open that scene first; a .parquet table has it "
                             "inside.").format(name=table.path.name, error=error))
                return
        self.ui.state_of(MapUi).show(table)
        self.ui.sweep_map = True

    def save_problem(self, problem: ContactProblem | None = None) -> None:
        """Write the problem looked at into the user's documents."""
        inspection = self.snapshot.inspection if self.snapshot is not None else None
        if problem is None and inspection is not None and inspection.equations is not None:
            problem = inspection.equations.problem
        if problem is None:
            self.ui.say(_("There is no problem to save: show the equations of contacts that rest."))
            return
        stem = Path(self.snapshot.scene_name).stem if self.snapshot is not None else "problem"
        try:
            path = numbered(self._documents(), f"{stem}_problem", ".npz")
            problem.save(path)
        except (OSError, ValueError) as error:
            self.ui.tell(_("The problem could not be saved: {error}").format(error=error))
            return
        self.ui.say(_("Saved {path}").format(path=path), 6.0)

    def save_curves(self, figure: Figure, suffix: str) -> None:
        """Write curves into the user's documents, as a file of this kind."""
        stem = Path(self.snapshot.scene_name).stem if self.snapshot is not None else "curves"
        try:
            path = numbered(self._documents(), f"{stem}_curves", suffix)
            with whole_file(path) as file:
                file.write(encode(figure, suffix))
        except OSError as error:
            self.ui.tell(_("The curves could not be saved: {error}").format(error=error))
            return
        self.ui.say(_("Saved {path}").format(path=path), 6.0)

    def save_drawing(self, content: bytes, name: str) -> None:
        """Write a drawing into the user's documents; name: what it shows, with its ending."""
        scene, (stem, suffix) = self.snapshot.scene_name if self.snapshot is not None else "", name.rsplit(".", 1)
        try:
            path = numbered(self._documents(), f"{Path(scene).stem}_{stem}", f".{suffix}")
            with whole_file(path) as file:
                file.write(content)
        except OSError as error:
            self.ui.tell(_("The drawing could not be saved: {error}").format(error=error))
            return
        self.ui.say(_("Saved {path}").format(path=path), 6.0)

    def save_run(self) -> None:
        """Write the run, as far as the time line reaches, into the user's documents."""
        if self.snapshot is None:
            return
        try:
            path = numbered(self._documents(), Path(self.snapshot.scene_name).stem, SUFFIX)
        except OSError as error:
            self.ui.tell(_("The run could not be saved: {error}").format(error=error))
            return
        self.ui.say(_("Saving {name} …").format(name=path.name), 60.0)
        self.send(SaveRun(path))

    def open_reference(self) -> None:
        """Make the pages of the Python interface in the background, and show the first one in the browser."""
        if self._reference is None:
            self.ui.say(_("Making the reference …"), 60.0)
            self._reference = in_background("contactlab-reference", write_reference)

    def _watch_reference(self) -> None:
        if self._reference is None or not self._reference.done():
            return
        made, self._reference = self._reference, None
        try:
            page = made.result()
        except (OSError, ImportError) as error:
            self.ui.tell(_("The reference could not be made: {error}").format(error=error))
            return
        shown = webbrowser.open(page.as_uri())
        self.ui.say((_("The reference is in your browser: {page}") if shown else
                     _("The reference was written: {page}")).format(page=page), 10.0)

    def open_run(self, study: MapStudy, values: Sequence[float]) -> None:
        """Run what a point of a map was measured of; unsaved work on another scene is asked about first."""
        given = dict(zip([name for name, _ in study.asked.vary], values, strict=True))
        places = {name: value for name, value in given.items() if name not in SETTINGS}
        scene = replaced(study.scene, places) if places else study.scene
        if scene is not self.making.scene:
            if self.making.holds(Request("open_run", (study, values))):
                return
            self.making.opened(scene)
        settings = asdict(study.settings) | {name: value for name, value in given.items() if name in SETTINGS}
        self.making.keeps_view = True
        self.send(Open(scene, settings=tuple(settings.items())))
        self.ui.sweep_map = False
        items = ", ".join(f"{name} = {value:g}" for name, value in given.items())
        self.ui.say(_("The run with {items}.").format(items=items), 6.0)

    def go_on(self) -> None:
        """Open what is left of the run that is offered, at its end."""
        if self.ui.leftovers:
            self.open_path(self.ui.leftovers.pop(0).folder)

    def discard(self) -> None:
        """Remove what is left of the run that is offered."""
        if self.ui.leftovers:
            self.ui.leftovers.pop(0).discard()

    def _documents(self) -> Path:
        chosen = self.ui.preferences.record_folder
        return Path(chosen) if chosen else Path(platformdirs.user_documents_dir()) / _("Contactlab")

    def reload(self) -> None:
        if self.ui.scene_path is not None:
            self.open_path(self.ui.scene_path)

    def neighbour_scene(self, direction: int) -> None:
        """Open the next or the previous scene of the gallery."""
        scenes = self.ui.scenes
        if not scenes:
            return
        outside = -1 if direction > 0 else 0
        here = next((i for i, entry in enumerate(scenes) if entry.path == self.ui.scene_path), outside)
        self.open_path(scenes[(here + direction) % len(scenes)].path)

    # --------------------------------------------------------------------------------------------- view

    def frame(self, selected: bool, seconds: float = 0.3) -> None:
        """Turn the camera to the selected body, or to everything that can move."""
        s = self.snapshot
        if s is None or len(s.x) == 0:
            return
        _, _, width, height = self.ui.side_rects(len(s.sides) or 1)[0]
        lo, hi = scene_bounds(s.model, s.x, s.q, self.ui.view.selected if selected else -1)
        self.camera.frame(lo, hi, width / height, 0.0 if self.ui.preferences.reduced_motion else seconds)

    def _first_view(self) -> None:
        """The camera as the scene wants it, else framing everything that moves."""
        wanted = self.snapshot.camera if self.snapshot is not None else None
        self.ui.view.keep_in_view = wanted is not None and wanted.follow
        if wanted is None:
            self.frame(selected=False, seconds=0.0)
        else:
            set_camera(self.camera, wanted.distance, wanted.azimuth, wanted.elevation, wanted.target)

    def _fit_sides(self, snapshot: Snapshot) -> None:
        """The pictures have become narrower: step back by as little as shows the whole scene."""
        lo, hi = scene_bounds(snapshot.model, snapshot.x, snapshot.q)
        _, _, width, height = self.ui.side_rects(len(snapshot.sides))[0]
        self.camera.hold(lo, hi, width / height)

    def keep_view(self) -> None:
        """Let the scene begin with the present view."""
        camera = self.camera
        view = {"target": [edits.rounded(round(v, 4)) for v in camera.target], "distance": round(camera.distance, 4),
                "azimuth": round(camera.azimuth, 2), "elevation": round(camera.elevation, 2)}
        if self.ui.view.keep_in_view or self.ui.workbench.document.get(("camera", "follow")) is not None:
            view["follow"] = self.ui.view.keep_in_view
        if self.ui.workbench.on:
            self.ui.edit(_("Keep the view"), lambda document: [document.put(("camera", k), v) for k, v in view.items()])
            self.ui.say(_("The scene begins with this view."))

    def move_camera(self, dt: float) -> bool:
        """Continue a movement of the camera by dt [s]; True while it moves by itself."""
        s, selected = self.snapshot, self.ui.view.selected
        rect = self.ui.side_rects(len(s.sides) if s is not None and s.sides else 1)[0]
        self.camera.suit(rect[2] / rect[3])
        if self.ui.view.follow_selected and s is not None and 0 <= selected < len(s.x):
            self.camera.follow(s.x[selected])
        elif self.ui.view.keep_in_view and s is not None and not self.ui.workbench.on:
            keep_in_view(self.camera, s, rect)
        return self.camera.advance(dt)

    @property
    def pivot(self) -> Any:
        """What the camera turns about: the selected body (3,) [m]; None = what is in the middle of the view."""
        s, selected = self.snapshot, self.ui.view.selected
        return s.x[selected] if s is not None and 0 <= selected < len(s.x) else None

    def look_from(self, azimuth: float, elevation: float) -> None:
        """Turn the camera to a direction [degrees]."""
        self.camera.look_from(azimuth, elevation, self.pivot)

    def take_view(self) -> None:
        """The user moves the camera by hand: what moves may leave the view."""
        if self.ui.view.keep_in_view:
            self.ui.view.keep_in_view = False
            self.ui.say(_("The action is no longer kept in view: see View, Keep the action in view."))

    def escape(self) -> None:
        """Close what lies on top, else deselect; a notice goes with it. Never quits."""
        ui = self.ui
        ui.notice = None
        if ui.menu_open:
            ui.shut_menus = True
        elif ui.opening is not None:
            self.cancel_opening()
        elif ui.boxes_open:
            ui.palette.open = ui.help = ui.about = ui.links = ui.orders = ui.sweep_map = ui.fan = ui.save_box = False
            ui.film, ui.open_box = False, ""
            ui.question = ui.mesh_box = None
            ui.tell("")
        elif ui.by_keys:
            ui.by_keys = False
        elif ui.tour is not None:
            ui.tour = None
        elif ui.workbench.placing is not None:
            ui.workbench.drop_placing()
        elif ui.workbench.on:
            ui.workbench.choose()
        else:
            ui.view.selected = -1
            ui.view.follow_selected = False

    def write_lesson(self) -> None:
        """Write a new lesson, or go on with the one that is open."""
        lesson = self.ui.course.lesson
        if self.ui.workbench.on:
            self.making.leave()
        self.leave_lesson()
        if lesson is not None or not self.ui.author.on:
            self.authoring.begin(lesson)

    def try_lesson(self) -> None:
        """The lesson that is written as a student sees it, from the step that is edited on."""
        author = self.ui.author
        if author.lesson is not None and not author.problems:
            self.teaching.open(author.lesson, author.number)

    def leave_lesson(self) -> None:
        """Close the lesson; what it showed last can be gone on with."""
        lesson, number = self.ui.course.lesson, self.ui.course.number
        self.teaching.leave()
        run = None if lesson is None else lesson.runs[number]
        if run is not None:
            self.making.opened(run.scene)

    def begin_tour(self) -> None:
        """Show the window card by card."""
        if self.ui.workbench.on:
            self.making.leave()
        self.ui.tour, self.ui.panels_hidden, self.ui.preferences.toured = Tour(), False, True

    def welcome(self) -> None:
        """Begin the tour where it never was, unless there is something that the user is asked."""
        if not (self.ui.preferences.toured or self.ui.leftovers or self.ui.question):
            self.begin_tour()

    def quit(self) -> None:
        """End the program; unsaved work is asked about first."""
        if not self.making.holds(Request("quit_now")):
            self.host.quit()

    def close(self) -> None:
        """Give up what is being opened, and a video that is being made."""
        self.cancel_opening()
        self.filming.cancel()


def set_camera(camera: Camera, distance: float, azimuth: float, elevation: float, target: Any = None) -> None:
    """Place a camera; angles in degrees, `target` (3,) [m] where it is to change."""
    camera.distance, camera.azimuth, camera.elevation = float(distance), float(azimuth), float(elevation)
    camera.follow(camera.target if target is None else np.array(target, float))


def keep_in_view(camera: Camera, snapshot: Snapshot, rect: Rect) -> None:
    """Move the camera so that what moves is seen, on all sides of a comparison; rect: of a side's picture."""
    found = [action_bounds(s.model, s.x, s.q) for s in snapshot.sides or (snapshot,)]
    boxes = [box for box in found if box is not None]
    if boxes:
        lo, hi = (np.array(bounds) for bounds in zip(*boxes, strict=True))
        camera.hold(lo.min(axis=0), hi.max(axis=0), rect[2] / rect[3])
