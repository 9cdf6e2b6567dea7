"""Pacing: which simulated time is due at which wall time, and how fast the run is. It reads no clock itself."""

from collections.abc import Iterable

from .slow_motion import slowed

LONGEST_LAG = 0.1    # lag behind the plan after which the plan starts anew: a slow run would lag ever more [wall s]
FACTOR_WINDOW = 0.5  # interval over which the real-time factor is measured [wall s]


class Pacer:
    """A plan by which simulated time runs `speed` times as fast as the wall clock. All times are in seconds."""

    def __init__(self, now: float, t: float, speed: float = 1.0) -> None:
        self.speed = speed
        self.at_events = 1.0  #: share of the speed near to events
        self._slowed = 1.0    # share of the speed now
        self.factor = 0.0  #: measured: simulated seconds per wall second
        self.restart(now, t)

    def restart(self, now: float, t: float) -> None:
        """Plan from here on: at wall time `now` the simulated time is t."""
        self._now = self._mark_now = now
        self._t = self._mark_t = t

    def due(self, now: float) -> float:
        """The simulated time that should be reached at wall time `now`."""
        return self._t + (now - self._now) * self._rate

    def wait(self, now: float, t: float) -> float:
        """Wall seconds until the simulated time t is due; 0 when it is overdue."""
        return max(0.0, (t - self.due(now)) / self._rate)

    def note(self, now: float, t: float) -> None:
        """Note that t was reached at wall time `now`: measures the factor, and plans anew where the lag is too long."""
        if self.due(now) - t > LONGEST_LAG * self._rate:
            self._now, self._t = now, t
        if now - self._mark_now >= FACTOR_WINDOW:
            self.factor = (t - self._mark_t) / (now - self._mark_now)
            self._mark_now, self._mark_t = now, t

    def slow_down(self, t: float, events: Iterable[float]) -> None:
        """The time t was reached, and there are events at these times: the plan goes on from the instant at which t was
        due, slower near to them."""
        share = slowed(t, events, self.speed, self.at_events)
        if share != self._slowed:
            self._now, self._t = self._now + (t - self._t) / self._rate, t
            self._slowed = share

    @property
    def _rate(self) -> float:
        return self.speed * self._slowed
