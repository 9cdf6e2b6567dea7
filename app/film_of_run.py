"""A video of the run that the window shows: its record is written to a file, and another process makes the video of it,
as `contactlab record` would; meanwhile the window goes on."""

import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

from ..physics.core.attached_process import attached_process
from ..physics.core.held_folder import ScratchFolder
from ..physics.core.language import _, used
from ..physics.core.whole_file import whole_file
from ..physics.lesson.kinds import SWITCHES
from ..physics.lesson.video import MOST_CURVES, VideoTable, ViewTable
from ..physics.look.quantities import QUANTITIES
from ..physics.run.messages import Command, SaveRun, Snapshot
from ..physics.run.run_file import SUFFIX
from .elsewhere import own_laws
from .panels.plot import plot_of
from .panels.watch import of_scene
from .preferences import videos_folder
from .record.encoder import numbered
from .ui_state import FilmStatus, UiState
from .view.camera import Camera

SLOW = 0.25   # share of the speed near to events
LARGEST = "1920x1080"  # where pictures else have the size of the window
OF_WINDOW = ("follow_selected",)  # switches that mean what is selected
LAWS_FILE = "laws"     # laws of the script that has opened the window
CODE = "import sys\nfrom contactlab.app.record.apart import make\nmake(*sys.argv[1:])"


class FilmOfRun:
    """One video at a time."""

    def __init__(self, ui: UiState, send: Callable[[Command], None], camera: Camera) -> None:
        self._ui, self._send, self._camera = ui, send, camera
        self._snapshot: Snapshot | None = None
        self._scratch: ScratchFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._out = Path()

    def begin(self) -> None:
        """Make a video of the run so far, as the box says."""
        ui, snapshot = self._ui, self._snapshot
        if snapshot is None or self._scratch is not None:
            return
        p = ui.preferences
        try:
            stem = Path(snapshot.scene_name).stem
            folder = videos_folder(p.record_folder)
            self._out = numbered(folder, stem, f".{p.film_format}")
            if p.film_format == "png":
                self._out = numbered(folder, stem, "") / f"{stem}.png"
                self._out.parent.mkdir()
            self._scratch = ScratchFolder()
            with whole_file(self._scratch.path / "video.json", sync=False) as file:
                file.write(table_of(ui, self._camera, snapshot).model_dump_json().encode())
            with whole_file(self._scratch.path / LAWS_FILE, sync=False) as file:
                pickle.dump(own_laws(), file)
        except OSError as error:
            self._end()
            ui.tell(_("The video cannot be written: {error}").format(error=error))
            return
        ui.film_status = FilmStatus(self._out, 0.0)
        self._send(SaveRun(self._scratch.path / f"{stem}{SUFFIX}"))

    def cancel(self) -> None:
        """Give it up; the frames so far are not kept."""
        out, had = self._out, self._process
        self._end()
        if had is not None:
            for partial in out.parent.glob(f"{out.stem}.part.*"):
                partial.unlink(missing_ok=True)

    def update(self, snapshot: Snapshot | None) -> None:
        """See how far it is."""
        self._snapshot = snapshot
        if self._scratch is None:
            return
        folder, ui = self._scratch.path, self._ui
        if self._process is None:
            self._start_where_saved()
            return
        told = folder / "told"
        words = told.read_text(encoding="utf-8") if told.exists() else ""
        if self._process.poll() is None:
            ui.film_status = FilmStatus(self._out, float(words or 0.0))
            return
        done = self._process.returncode == 0
        self._end()
        if done:
            ui.say(_("Saved {path}").format(path=self._out if self._out.suffix != ".png" else self._out.parent), 8.0)
        else:
            ui.tell(words or _("The video could not be made."))

    def _start_where_saved(self) -> None:
        assert self._scratch is not None
        snapshot = self._snapshot
        saved = next(iter(self._scratch.path.glob(f"*{SUFFIX}")), None)
        if saved is not None:
            beside = (str(self._scratch.path / name) for name in ("video.json", LAWS_FILE))
            self._process = attached_process(CODE, str(saved), *beside, str(self._out))
        elif snapshot is not None and snapshot.notice and "could not be written" in snapshot.notice:
            self._end()

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._scratch is not None:
            self._scratch.remove()
        self._process = self._scratch = self._ui.film_status = None


def table_of(ui: UiState, camera: Camera, snapshot: Snapshot) -> VideoTable:
    """What the box says, and the view of the window: its camera, its switches, the curves of the tab Plot."""
    p = ui.preferences
    width, _, height = (LARGEST if p.record_size == "window" else p.record_size).partition("x")
    switches = [name for name in SWITCHES if name not in OF_WINDOW]
    view = ViewTable(at=0.0, distance=camera.distance, azimuth=camera.azimuth, elevation=camera.elevation,
                     target=tuple(map(float, camera.target)))  # pyright: ignore
    return VideoTable(
        size=(int(width), int(height)), rate=p.record_fps, language=used(), theme=p.film_theme,
        slow_at_events=SLOW if p.film_slow else 1.0, narrated=p.film_captions, speed=snapshot.speed,
        plot=curves_of(ui, snapshot) if p.film_plot else (), view=() if ui.view.keep_in_view else (view,),
        show=tuple(name for name in switches if getattr(ui.view, name)),
        hide=tuple(name for name in switches if not getattr(ui.view, name)))


def curves_of(ui: UiState, snapshot: Snapshot) -> tuple[str, ...]:
    """The curves of the tab Plot; without any the height of the selected body or of the first that can move."""
    own = plot_of(ui, snapshot).curves or [of_scene(snapshot, "height", ui.view.selected)]
    names = snapshot.labels.bodies
    return tuple(f"{c.quantity}:{names[c.body]}" if QUANTITIES[c.quantity].of_body else c.quantity
                 for c in own if c is not None)[:MOST_CURVES]
