"""Recording: of the running window (`Take`), and of a scene without any window (`record`)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...physics.run.messages import Command, Compare, Recording, SetSpeed, Side, Snapshot, Step
from ...physics.run.runner import Runner
from ...physics.run.slow_motion import QUIET, frame_speeds, slowed
from ...physics.scene.scene import Scene
from ..lab import keep_in_view, set_camera
from ..scene_files import gallery_entries
from ..ui_state import Preferences, UiState
from ..view.camera import Camera, scene_bounds
from .encoder import FORMATS, CannotWrite, Frame, Movie, Pictures, check_path, even, open_recording
from .shot import Shot

PATIENCE = 1.0  # [s] of wall time after which a step that does not come is given up


class Cadence:
    """How many steps lead from one frame of a video in simulated time to the next: the right number on average."""

    def __init__(self, fps: int) -> None:
        self.fps = fps
        self._owed = 0.0  # [s] simulated time shown less simulated time run

    def steps(self, speed: float, h: float) -> int:
        self._owed += speed / self.fps
        n = math.floor(self._owed / h + 1e-6)
        self._owed -= n * h
        return n


class Take:
    """A recording of what the window shows.

    In simulated time it drives the engine itself, a frame's worth of steps at a time, so that no frame is missed
    however slow the machine. As seen, frames carry the time at which they were on the screen.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: int, as_seen: bool, playing: bool, now: float) -> None:
        self.movie = open_recording(path, size, fps)
        self.as_seen = as_seen
        self.playing = playing
        self._cadence = Cadence(self.movie.fps)
        self._start = now
        self._expected: int | None = None
        self._asked = now

    def advance(self, snapshot: Snapshot, send: Callable[[Command], None], now: float) -> bool:
        """True where this snapshot is to be captured; then call `capture`. Asks for the steps to the next frame."""
        if self.as_seen:
            return True
        if snapshot.error:
            self.playing = False
        if self._expected is not None and snapshot.step != self._expected and now - self._asked < PATIENCE:
            return False
        if not self.playing:
            self._expected = None
            return False
        speed = snapshot.speed * slowed(snapshot.t, times_of(snapshot), snapshot.speed, snapshot.at_events)
        count = self._cadence.steps(speed, snapshot.h)
        self._expected, self._asked = snapshot.step + count, now
        if count:
            send(Step(count))
        return True

    def capture(self, frame: Frame, now: float) -> None:
        """Take the picture of the snapshot that `advance` was given."""
        wanted = math.floor((now - self._start) * self.movie.fps) + 1 if self.as_seen else self.movie.count + 1
        while self.movie.count < wanted:
            self.movie.add(frame)

    def close(self) -> None:
        self.movie.close()


def times_of(snapshot: Snapshot) -> set[float]:
    """When there were events that can be seen [s], on all sides of a comparison, as far as the snapshot knows."""
    return {e.t for side in snapshot.sides or (snapshot,) for e in side.events if e.kind not in QUIET}


def record(
    scene: Scene, out: Path, shot: Shot | None = None, settings: Mapping[str, Any] | None = None,
    progress: Callable[[float], None] | None = None, say: Callable[[str], None] | None = None,
    recorded: Recording | None = None,
) -> None:
    """Record a scene without a display. settings: override the scene's own. progress: is told the share done, 0..1;
    say: what was left out of the scene's file, and why the run should pause, which a recording does not do.
    recorded: of a run of the scene, to be replayed.

    Raises ValueError in one sentence where `out` cannot be such a file or be written, or where the scene cannot be run
    by one of the methods. Whatever ends it early, also an exception of `progress`, the frames so far are kept.
    """
    shot, say = shot or Shot(), say or (lambda sentence: None)
    check_path(out)
    size = even(shot.size)
    speed = scene.speed if shot.speed is None else shot.speed

    def begun() -> Runner:
        runner = Runner(scene, settings or {}, paused=True, recording=recorded)
        runner.begin()
        runner.send(SetSpeed(speed))
        runner.tick()
        if shot.compare:
            compare_methods(runner, shot.compare)
        return runner

    events = times_of_events(begun(), shot.seconds) if shot.at_events < 1.0 else []
    runner = begun()
    assert runner.latest is not None
    for note in runner.latest.labels.notes:
        say(note)
    span = runner.latest.t, runner.latest.t + shot.seconds
    with Studio(size, shot.panels, shot.dark) as studio, recording(out, size, shot.fps) as movie:
        speeds = list(frame_speeds(span, movie.fps, events, speed, shot.at_events))
        _shoot(runner, scene, studio, movie, speeds, shot.camera, progress or (lambda share: None), say)


@contextmanager
def recording(out: Path, size: tuple[int, int], fps: int) -> Iterator[Movie | Pictures]:
    """A recording that becomes `out` when the block ends, however it ends. Until then it is NAME.part.SUFFIX, which
    plays where the process is killed. Where it cannot be written, or has no frame, a file `out` stays as it was."""
    film = out.suffix.lower() in FORMATS  # and not a series of pictures, each of which is whole or not there
    partial = out.with_stem(out.stem + ".part") if film else out
    movie = open_recording(partial, size, fps)
    try:
        try:
            yield movie
        finally:
            movie.close()
    except CannotWrite:
        partial.unlink(missing_ok=True)
        raise
    finally:
        if film and movie.count and partial.exists():
            partial.replace(out)
        elif film:
            partial.unlink(missing_ok=True)


def times_of_events(runner: Runner, seconds: float) -> list[float]:
    """When the events of the next `seconds` of a run are [s]: it is run to there."""
    found: set[float] = set()
    assert runner.latest is not None
    end = runner.latest.t + seconds
    while (now := runner.latest).t < end and not now.error:
        runner.send(Step(1))
        runner.tick()
        found |= times_of(runner.latest)
    return sorted(found)


def _shoot(
    runner: Runner, scene: Scene, studio: "Studio", movie: Any, speeds: Sequence[float],
    camera: tuple[float, ...] | None, progress: Callable[[float], None], say: Callable[[str], None],
) -> None:
    """Frame by frame: a picture, then the steps to the next one. speeds: of each frame."""
    cadence = Cadence(movie.fps)
    for k, speed in enumerate(speeds):
        runner.tick()
        snapshot = runner.latest
        assert snapshot is not None
        if snapshot.error and runner.failure:
            raise ValueError(f"{snapshot.scene_name} stopped at t = {snapshot.t:.3f} s: {snapshot.error}")
        if snapshot.error:
            say(f"t = {snapshot.t:.6g} s: {snapshot.error}")
        if k == 0:
            studio.aim(snapshot, camera, scene)
        movie.add(studio.picture(replace(snapshot, speed=speed), snapshot.t))
        progress((k + 1) / len(speeds))
        count = cadence.steps(speed, snapshot.h)
        if count:
            runner.send(Step(count))


def compare_methods(runner: Runner, methods: Sequence[str]) -> None:
    """Put methods side by side; ValueError in one sentence where the scene cannot be run by one of them."""
    assert runner.latest is not None
    settings = runner.latest.settings
    runner.send(Compare(tuple(Side(replace(settings, method=method)) for method in methods)))
    runner.tick()
    if not runner.latest.sides:
        raise ValueError(f"the methods cannot be compared: {runner.latest.notice}")


class Studio:
    """The view, and the panels where wanted, drawn without a window, or for one in its context."""

    def __init__(self, size: tuple[int, int], panels: bool, dark: bool = True, ctx: Any = None) -> None:
        from ..panels.split import Split
        from ..view.imgui_backend import Gui
        from ..view.offscreen import Offscreen

        self.panels = panels
        self.camera = Camera()
        self.offscreen = Offscreen(size, ctx)
        self.ctx = self.offscreen.ctx
        scale = max(size[1] / 800.0, 0.5) if not panels else max(size[1] / 900.0, 0.7)
        self.gui = Gui(self.ctx, size)
        self.stage = Split(self.ctx)
        self.ui = UiState(preferences=Preferences(dark=dark, scale=scale))
        self.ui.view.dark = dark
        self.ui.bold = self.gui.bold
        self.ui.playing = True
        self.size = size
        if panels:
            self.ui.scenes = gallery_entries()

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give back everything made in the context."""
        self.stage.release()
        self.gui.release()
        self.offscreen.release()

    def aim(self, snapshot: Snapshot, camera: tuple[float, ...] | None, scene: Scene) -> None:
        """As asked, else as the scene says, else framing everything that moves."""
        lo, hi = scene_bounds(snapshot.model, snapshot.x, snapshot.q)
        _, _, width, height = self.ui.side_rects(len(snapshot.sides) or 1)[0]
        self.camera.frame(lo, hi, width / height)
        wanted = scene.camera
        if camera is not None:
            set_camera(self.camera, *camera[:3], target=camera[3:] or None)
        elif wanted is not None:
            self.ui.view.keep_in_view = wanted.follow
            set_camera(self.camera, wanted.distance, wanted.azimuth, wanted.elevation, wanted.target)

    def picture(self, snapshot: Snapshot, now: float) -> Frame:
        """One frame (height, width, 3)."""
        from ..panels import style
        from ..panels.layout import draw_ui
        from ..panels.view import draw_caption

        ui, target = self.ui, self.offscreen.fbo
        ui.clock = now
        self.gui.use()
        self.gui.new_frame()
        style.apply(ui)
        if self.panels:
            draw_ui(ui, snapshot, lambda command: None)
        else:
            ui.view_rect = (0.0, 0.0, float(self.size[0]), float(self.size[1]))
        if ui.view.keep_in_view:
            keep_in_view(self.camera, snapshot, ui.side_rects(len(snapshot.sides) or 1)[0])
        style.fill(target, ui, self.size[1])
        self.stage.render(snapshot, self.camera, ui, target, self.size[1])
        self.stage.write(snapshot, self.camera, ui, 0.0 if self.panels else 2.2 * ui.font)
        if not self.panels:
            draw_caption(ui, snapshot)
        self.gui.finish(target)
        return self.offscreen.read()
