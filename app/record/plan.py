"""What a video shows, frame by frame, worked out before anything is drawn: simulated time, camera, captions, cards and
chapters. Nothing here knows OpenGL or the engine."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ...physics.core.language import _
from ...physics.core.limits import VIDEO
from ...physics.lesson.video import CardTable, InstantTable, VideoTable, ViewTable, filled
from ...physics.run.slow_motion import QUIET, frame_times

FADE = 0.4           # [s of video] in which a card gives way to the run, or comes over it
BLEND = 0.2          # [s of video] in which a caption comes, and in which it goes
NARRATED = 3.0       # [s of video] for which the sentence of an event is shown
LEAST_NARRATED = 1.2  # [s of video] below which it could not be read: the next event goes without
CLOSEST = 0.5        # [s of video] between chapters at events: what is nearer belongs to the one before

Point = tuple[float, float, float]


class Happening(NamedTuple):
    """An event of a run, in words."""

    t: float                 #: [s]
    kind: str
    bodies: tuple[str, str]  #: names; "" = the world
    impulse: float           #: size [N s]
    lost: float              #: energy [J]
    sentence: str
    run: int = 0             #: of two: 0 or 1


class Told(NamedTuple):
    """A caption."""

    begin: float  #: [s of video]
    end: float    #: [s of video]
    text: str
    formula: str
    place: str    #: one of `lesson.video.PLACES`


class Chapter(NamedTuple):
    begin: float  #: [s of video]
    title: str


class Aim(NamedTuple):
    """Where the camera is. It looks at a point between two, each a point [m], a body by its name, or None, the middle
    of what is seen at first."""

    distance: float  #: [m]
    azimuth: float   #: [degrees]
    elevation: float
    first: Point | str | None
    second: Point | str | None
    share: float     #: 0 = the first, 1 = the second


class Card(NamedTuple):
    title: str
    text: str
    formula: str


class FrameOf(NamedTuple):
    """A frame."""

    t: float                    #: simulated time that is shown [s]
    speed: float                #: simulated seconds per second of video
    captions: tuple[tuple[Told, float], ...]  #: and how much of each is seen, 0..1
    card: Card | None
    opacity: float              #: of the card
    aim: Aim | None             #: None = as the scene says


@dataclass(frozen=True)
class VideoPlan:
    """A video, before it is drawn."""

    table: VideoTable
    title: str
    span: tuple[float, float]    #: simulated times that are shown [s]
    frames: tuple[FrameOf, ...]
    captions: tuple[Told, ...]   #: oldest first
    chapters: tuple[Chapter, ...]

    @property
    def seconds(self) -> float:
        """Length [s of video]."""
        return len(self.frames) / self.table.rate


def planned(table: VideoTable, title: str, span: tuple[float, float], speed: float,
            happenings: Sequence[Happening] = ()) -> VideoPlan:
    """The video of the span [s] of a run in which this happens, in the order of time; of two runs the first is told
    about. speed: where the table has none. ValueError where it would be too long."""
    rate, speed = table.rate, speed if table.speed is None else table.speed
    seen = [h.t for h in happenings if h.kind not in QUIET]
    run = list(islice(frame_times(span, rate, seen, speed, table.slow_at_events), VIDEO.most + 1))
    if len(run) > VIDEO.most:
        raise ValueError(f"{VIDEO.meaning} would have more than {VIDEO}: {VIDEO.advice}")
    before, behind = (0 if card is None else max(1, round(card.seconds * rate))
                      for card in (table.opening, table.ending))
    clock = _Clock([t for t, _ in run], before, rate)
    happenings = [h for h in happenings if h.run == 0]
    captions = tuple(sorted([*_captions(table, happenings, clock), *_narrated(table, happenings, clock)]))
    times = [run[0]] * before + run + [run[-1]] * behind
    first, last = _card(table.opening), _card(table.ending)
    frames = []
    for k, (t, now) in enumerate(times):
        at = k / rate
        shown = tuple((told, _seen(told, at)) for told in captions if told.begin <= at + 1e-9 < told.end)
        card, opacity = None, 0.0
        if k < before:
            card, opacity = first, min(1.0, (before - k) / max(FADE * rate, 1.0))
        elif k >= before + len(run):
            card, opacity = last, min(1.0, (k - before - len(run) + 1) / max(FADE * rate, 1.0))
        frames.append(FrameOf(t, now, shown, card, opacity, aimed(table.view, t)))
    title = _(table.title or title)
    return VideoPlan(table, title, span, tuple(frames), captions, tuple(_chapters(table, title, happenings, clock)))


class _Clock:
    """From simulated time to the time of the video."""

    def __init__(self, times: Sequence[float], before: int, rate: int) -> None:
        self._times, self._before, self._rate = times, before, rate
        self.end = (before + len(times)) / rate  #: of the run [s of video]

    def of(self, t: float) -> float:
        """When the first frame is shown that is not before t [s]; of what comes after all of them, the last one."""
        k = min(bisect_left(self._times, t - 1e-9), len(self._times) - 1)
        return (self._before + k) / self._rate


def instants(table: InstantTable, happenings: Sequence[Happening]) -> Iterator[tuple[float, dict[str, str]]]:
    """When a caption or chapter is due [s], and what its blanks are then."""
    if table.at is not None:
        yield table.at, {"t": f"{table.at:.3f}"}
        return
    found = [h for h in happenings if h.kind == table.event and (table.body is None or table.body in h.bodies)]
    for n, h in enumerate(found, 1):
        if table.number in (None, n):
            a, b = (name or _("the world") for name in h.bodies)
            yield h.t, {"t": f"{h.t:.3f}", "n": str(n), "a": a, "b": b, "impulse": f"{h.impulse:.3g}",
                        "lost": f"{h.lost:.3g}"}


def _captions(table: VideoTable, happenings: Sequence[Happening], clock: _Clock) -> Iterator[Told]:
    """One gives way to the next at its place."""
    due = sorted((clock.of(t), k, caption, filled(_(caption.text), blanks))
                 for k, caption in enumerate(table.caption) for t, blanks in instants(caption, happenings))
    for k, (begin, _order, caption, text) in enumerate(due):
        end = min(begin + caption.seconds, clock.end)
        later = [other[0] for other in due[k + 1:] if other[2].place == caption.place]
        end = min([end, *later[:1]])
        if end > begin:
            yield Told(begin, end, text, caption.formula, caption.place)


def _narrated(table: VideoTable, happenings: Sequence[Happening], clock: _Clock) -> Iterator[Told]:
    """The sentences of events, one after the other, each long enough to be read; at the top where captions of the
    table are at the bottom."""
    free = 0.0
    place = "top" if any(caption.place == "bottom" for caption in table.caption) else "bottom"
    for h in happenings if table.narrated else ():
        begin = clock.of(h.t)
        if h.kind not in QUIET and begin >= free:
            later = [clock.of(other.t) for other in happenings if other.t > h.t and other.kind not in QUIET]
            until = next((t for t in later if t >= begin + LEAST_NARRATED), clock.end)
            free = min(begin + NARRATED, until, clock.end)
            if free > begin:
                yield Told(begin, free, h.sentence, "", place)


def _chapters(table: VideoTable, title: str, happenings: Sequence[Happening], clock: _Clock) -> Iterator[Chapter]:
    """In their order; where there are any, the first begins with the video."""
    due = sorted((clock.of(t), chapter.event is not None, filled(_(chapter.title), blanks))
                 for chapter in table.chapter for t, blanks in instants(chapter, happenings))
    if not due:
        return
    last = 0.0
    if due[0][0] > 0.0:
        yield Chapter(0.0, title)
    for k, (begin, by_event, words) in enumerate(due):
        if (k or begin > 0.0) and (begin - last < CLOSEST if by_event else begin <= last):
            continue
        last = begin
        yield Chapter(begin, words)


def _card(table: CardTable | None) -> Card | None:
    return None if table is None else Card(_(table.title), _(table.text), table.formula)


def _seen(told: Told, at: float) -> float:
    """How much of a caption is seen: it comes and goes within BLEND."""
    return min(1.0, (at - told.begin) / BLEND + 0.25, (told.end - at) / BLEND)


def aimed(views: Sequence[ViewTable], t: float) -> Aim | None:
    """Where the camera is at a time; between two views it goes smoothly, and stands still for an instant at each:
    s = 3 u² − 2 u³ of what lies between them, of the distance in its logarithm."""
    if not views:
        return None
    ordered = sorted(views, key=lambda view: view.at)
    after = next((k for k, view in enumerate(ordered) if view.at > t), len(ordered))
    one, other = ordered[max(after - 1, 0)], ordered[min(after, len(ordered) - 1)]
    u = 0.0 if other.at <= one.at else min(max((t - one.at) / (other.at - one.at), 0.0), 1.0)
    s = u * u * (3.0 - 2.0 * u)
    return Aim(one.distance * (other.distance / one.distance) ** s, one.azimuth + s * (other.azimuth - one.azimuth),
               one.elevation + s * (other.elevation - one.elevation), one.body or one.target,
               other.body or other.target, s)
