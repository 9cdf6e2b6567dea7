"""A video of the run that the window shows: its record is written to a file, and another process makes the video of it,
as `contactlab record` would; meanwhile the window goes on."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..physics.core.attached_process import attached_process
from ..physics.core.held_folder import ScratchFolder
from ..physics.lesson.kinds import SWITCHES
from ..physics.lesson.video import MOST_CURVES, VideoTable, ViewTable
from ..physics.look.quantities import QUANTITIES
from ..physics.run.messages import SaveRun, Snapshot
from ..physics.run.run_file import SUFFIX
from .panels.plot import plot_of
from .panels.watch import of_scene
from .preferences import videos_folder
from .record.encoder import numbered
from .ui_state import FilmStatus

if TYPE_CHECKING:
    from .lab import Lab

SLOW = 0.25   # share of the speed near to events
LARGEST = "1920x1080"  # where pictures else have the size of the window
OF_WINDOW = ("follow_selected",)  # switches that mean what is selected
CODE = "import sys\nfrom contactlab.app.film_of_run import make\nmake(*sys.argv[1:])"


class FilmOfRun:
    """One video at a time."""

    def __init__(self, lab: "Lab") -> None:
        self._lab = lab
        self._scratch: ScratchFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._out = Path()

    def begin(self) -> None:
        """Make a video of the run so far, as the box says."""
        lab, snapshot = self._lab, self._lab.snapshot
        if snapshot is None or self._scratch is not None:
            return
        p = lab.ui.preferences
        try:
            stem = Path(snapshot.scene_name).stem
            folder = videos_folder(p.record_folder)
            self._out = numbered(folder, stem, f".{p.film_format}")
            if p.film_format == "png":
                self._out = numbered(folder, stem, "") / f"{stem}.png"
                self._out.parent.mkdir()
            self._scratch = ScratchFolder()
            (self._scratch.path / "video.json").write_text(table_of(lab, snapshot).model_dump_json())
        except OSError as error:
            self._end()
            lab.ui.tell(f"The video cannot be written: {error}")
            return
        lab.ui.film_status = FilmStatus(self._out, 0.0)
        lab.send(SaveRun(self._scratch.path / f"{stem}{SUFFIX}"))

    def cancel(self) -> None:
        """Give it up; the frames so far are not kept."""
        out, had = self._out, self._process
        self._end()
        if had is not None:
            for partial in out.parent.glob(f"{out.stem}.part.*"):
                partial.unlink(missing_ok=True)

    def update(self) -> None:
        """See how far it is."""
        if self._scratch is None:
            return
        folder, ui = self._scratch.path, self._lab.ui
        if self._process is None:
            self._start_where_saved()
            return
        told = folder / "told"
        words = told.read_text() if told.exists() else ""
        if self._process.poll() is None:
            ui.film_status = FilmStatus(self._out, float(words or 0.0))
            return
        done = self._process.returncode == 0
        self._end()
        if done:
            ui.say(f"Saved {self._out if self._out.suffix != '.png' else self._out.parent}", 8.0)
        else:
            ui.tell(words or "The video could not be made.")

    def _start_where_saved(self) -> None:
        assert self._scratch is not None
        snapshot = self._lab.snapshot
        saved = next(iter(self._scratch.path.glob(f"*{SUFFIX}")), None)
        if saved is not None:
            self._process = attached_process(CODE, str(saved), str(self._scratch.path / "video.json"), str(self._out))
        elif snapshot is not None and snapshot.notice and "could not be written" in snapshot.notice:
            self._end()

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._scratch is not None:
            self._scratch.remove()
        self._process = self._scratch = self._lab.ui.film_status = None


def table_of(lab: "Lab", snapshot: Snapshot) -> VideoTable:
    """What the box says, and the view of the window: its camera, its switches, the curves of the tab Plot."""
    ui, p, camera = lab.ui, lab.ui.preferences, lab.camera
    width, _, height = (LARGEST if p.record_size == "window" else p.record_size).partition("x")
    switches = [name for name in SWITCHES if name not in OF_WINDOW]
    view = ViewTable(at=0.0, distance=camera.distance, azimuth=camera.azimuth, elevation=camera.elevation,
                     target=tuple(map(float, camera.target)))  # pyright: ignore
    return VideoTable(
        size=(int(width), int(height)), rate=p.record_fps, theme=p.film_theme,
        slow_at_events=SLOW if p.film_slow else 1.0, narrated=p.film_captions, speed=snapshot.speed,
        plot=curves_of(lab, snapshot) if p.film_plot else (), view=() if ui.view.keep_in_view else (view,),
        show=tuple(name for name in switches if getattr(ui.view, name)),
        hide=tuple(name for name in switches if not getattr(ui.view, name)))


def curves_of(lab: "Lab", snapshot: Snapshot) -> tuple[str, ...]:
    """The curves of the tab Plot; without any the height of the selected body or of the first that can move."""
    own = plot_of(lab.ui, snapshot).curves or [of_scene(snapshot, "height", lab.ui.view.selected)]
    names = snapshot.labels.bodies
    return tuple(f"{c.quantity}:{names[c.body]}" if QUANTITIES[c.quantity].of_body else c.quantity
                 for c in own if c is not None)[:MOST_CURVES]


def make(run: str, table: str, out: str) -> None:
    """The work of the other process: a video of a recorded run. How much is done, and at last what went wrong, stands
    in the file `told` beside the run."""
    from ..physics.run.run_file import read_run
    from .record.recorder import Film, record
    from .record.reel import Run
    from .view.offscreen import GraphicsError

    told = Path(run).parent / "told"
    part = told.with_name("told.part")

    def tell(words: str) -> None:
        part.write_text(words)
        part.replace(told)

    try:
        recording = read_run(run)
        film = Film(VideoTable.model_validate_json(Path(table).read_text()))
        record(Run(recording.scene, recording=recording), Path(out), film, lambda share: tell(str(share)))
    except (ValueError, GraphicsError) as error:
        tell(str(error))
        sys.exit(1)
