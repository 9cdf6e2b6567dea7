"""Slow motion around events: how much slower the clock goes near to them."""

from collections.abc import Iterable, Iterator, Sequence

REACH = 0.12   # of slow motion before and behind an event [s that a viewer would wait without it]
PLAIN = 0.5    # share of REACH within which the clock is slowest; from there on it becomes faster
QUIET = ("active_set", "crowd")  # kinds of events at which nothing is to be seen


def slowed(t: float, events: Iterable[float], speed: float, share: float) -> float:
    """By what the speed is multiplied at the simulated time t [s], with events at those times [s]: `share` at them, 1
    far away, and between both a smooth step. speed: far away, simulated seconds per second."""
    if share >= 1.0:
        return 1.0
    nearest = min((abs(t - event) for event in events), default=float("inf")) / (REACH * speed)
    part = min(max((nearest - PLAIN) / (1.0 - PLAIN), 0.0), 1.0)
    return share + (1.0 - share) * part * part * (3.0 - 2.0 * part)


def frame_times(span: tuple[float, float], fps: int, events: Sequence[float], speed: float, share: float
                ) -> Iterator[tuple[float, float]]:
    """The simulated time [s] and the speed of every frame of a video of a span of simulated time [s] with events at
    those times [s]; at least one, and one at the end where more than half of what it advances is before it."""
    t, end = span
    now = speed * slowed(t, events, speed, share)
    while True:
        yield t, now
        t += now / fps
        now = speed * slowed(t, events, speed, share)
        if t + 0.5 * now / fps >= end:
            return
