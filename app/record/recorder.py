"""Recording: of the running window (`Take`), and of a scene without any window (`record`)."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...physics.core.language import spoken
from ...physics.lesson.video import LONGEST_VIDEO, VideoTable, misfits, refuse_video
from ...physics.run.messages import Command, Snapshot, Step
from ...physics.run.slow_motion import QUIET, slowed
from ...physics.scene.form import Location
from .curves import Plotted
from .encoder import LOSSLESS, Frame, Movie, Pictures, check_path, open_recording
from .finishing import ANIMATED, TRACKS, Extras, check_voice, finish
from .plan import VideoPlan, planned
from .reel import Reel, Run, titles_of
from .studio import Studio
from .survey import Survey, survey

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


@dataclass(frozen=True)
class Film:
    """How a run is shown, with what else that needs."""

    table: VideoTable = field(default_factory=VideoTable)
    beside: Run | None = None      #: a second run
    voice: Path | None = None
    source: str = "the video"      #: what sentences about the table begin with
    at: Location = ("video",)      #: and its place in its file


def record(run: Run, out: Path, film: Film | None = None, progress: Callable[[float], None] | None = None,
           say: Callable[[str], None] | None = None) -> None:
    """Record a run without a display. progress: is told the share done, 0..1; say: what was left out of the scene's
    file, and why the run should pause, which a recording does not do.

    Raises ValueError, with one sentence for each mistake, where `out` cannot be such a file or be written, where the
    table does not fit the run, or where the scene cannot be run. Whatever ends it early, also an exception of
    `progress`, the frames so far are kept.
    """
    film, say, progress = film or Film(), say or (lambda sentence: None), progress or (lambda share: None)
    with spoken(film.table.language):
        _record(run, out, film, progress, say)


def _record(run: Run, out: Path, film: Film, progress: Callable[[float], None], say: Callable[[str], None]) -> None:
    table = film.table
    _check(film, out)
    runs = [one for one in (run, film.beside) if one is not None]
    speed = run.scene.speed if table.speed is None else table.speed
    reels = [Reel(one, speed, table.compare) for one in runs]
    span = _span(film, reels)
    for number, reel in enumerate(reels):
        refuse_video(list(misfits(table, film.at, reel.now.labels.bodies, span)) if not number else [], film.source)
        for note in reel.now.labels.notes:
            say(note)
    found = _look_ahead(film, runs, speed, span)
    plan = planned(table, reels[0].now.labels.title, span, speed, found.happenings)
    if film.voice is not None:
        check_voice(film.voice, table.voice_at, plan.seconds)
    extras = Extras(plan.title, plan.captions, plan.chapters, film.voice, table.voice_at, table.most)
    with (Studio(table.size_made, table.panels, table.dark) as studio,
          recording(out, table.size_made, table.rate, extras, say) as movie):
        _shoot(plan, reels, runs, studio, movie, found.plotted, progress, say)


def _check(film: Film, out: Path) -> None:
    """ValueError where the file cannot be of what is wanted."""
    check_path(out)
    kind = out.suffix.lower()
    if film.table.transparent and kind != ".png":
        raise ValueError(f"video.transparent needs pictures, .png, and {out.name} are none")
    if film.voice is not None and kind not in TRACKS:
        raise ValueError(f"video.voice needs a film, {', '.join(TRACKS)}, and {out.name} is none")


def _span(film: Film, reels: Sequence[Reel]) -> tuple[float, float]:
    """First and last time that are shown [s]. Raises SceneError where the table has others than there are."""
    table, (first, last) = film.table, reels[0].span
    ends = [reel.span[1] for reel in reels]
    begin = first if table.begin is None else table.begin
    end = min([*ends, begin + (10.0 if math.isinf(last) else LONGEST_VIDEO)]) if table.until is None else table.until
    if begin < first or end > min(ends) + 1e-9 or end <= begin or end - begin > LONGEST_VIDEO:
        there = f"from {first:g} s on" if math.isinf(min(ends)) else f"from {first:g} to {min(ends):g} s"
        raise ValueError(f"{film.source}: video.begin and video.until are {begin:g} and {end:g} s; they must be times "
                         f"of the run, which goes {there}, and up to {LONGEST_VIDEO:g} s apart")
    return begin, end


def _look_ahead(film: Film, runs: Sequence[Run], speed: float, span: tuple[float, float]) -> Survey:
    """What happens in the span, where the video is about it: the runs are run to its end."""
    table = film.table
    curious = table.narrated or table.slow_at_events < 1.0 or table.plot or any(
        one.event is not None for one in (*table.caption, *table.chapter))
    if not curious:
        return Survey((), None)
    return survey([Reel(one, speed, table.compare) for one in runs], titles_of(runs), span, table.plot)


def _shoot(plan: VideoPlan, reels: Sequence[Reel], runs: Sequence[Run], studio: Studio, movie: Any,
           plotted: Plotted | None, progress: Callable[[float], None], say: Callable[[str], None]) -> None:
    """Frame by frame: the steps to its time, then its picture."""
    from .compositor import Compositor

    compositor = Compositor(plan, studio, plotted, titles_of(runs))
    for k, frame in enumerate(plan.frames):
        for reel in reels:
            reel.to(frame.t, say)
        if k == 0:
            compositor.aim(reels[0].now, runs[0].scene)
        movie.add(compositor.picture(frame, [reel.now for reel in reels]))
        progress((k + 1) / len(plan.frames))


@contextmanager
def recording(out: Path, size: tuple[int, int], fps: int, extras: Extras | None = None,
              say: Callable[[str], None] = lambda sentence: None) -> Iterator[Movie | Pictures]:
    """A recording that becomes `out` when the block ends, however it ends. Until then its frames are in
    NAME.part.SUFFIX, which plays where the process is killed. Where it cannot be written, or has no frame, a file `out`
    stays as it was.
    """
    kind = out.suffix.lower()
    film = kind != ".png"  # and not a series of pictures, each of which is whole or not there
    partial = out.with_name(f"{out.stem}.part{LOSSLESS if kind in ANIMATED else out.suffix}") if film else out
    movie = open_recording(partial, size, fps)
    try:
        try:
            yield movie
        finally:
            movie.close()
            if film and movie.count and (said := finish(partial, out, extras or Extras())):
                say(said)
    finally:
        if film:
            partial.unlink(missing_ok=True)
