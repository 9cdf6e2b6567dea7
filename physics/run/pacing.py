"""Pacing: which simulated time is due at which wall time, and how fast the run goes. Looks at no clock itself."""

LONGEST_DEBT = 0.1  # wall seconds of lag after which the plan starts afresh, so that a slow run does not spiral
WINDOW = 0.5        # wall seconds over which the real-time factor is measured


class Pacer:
    """Simulated time runs `speed` times as fast as the wall clock; all times in seconds."""

    def __init__(self, now: float, t: float, speed: float = 1.0) -> None:
        self.speed = speed
        self.factor = 0.0  #: measured: simulated seconds per wall second
        self.restart(now, t)

    def restart(self, now: float, t: float) -> None:
        """Plan from here on: at wall time `now` the simulated time is t."""
        self._now = self._mark_now = now
        self._t = self._mark_t = t

    def due(self, now: float) -> float:
        """The simulated time that should be reached at wall time `now`."""
        return self._t + (now - self._now) * self.speed

    def wait(self, now: float, t: float) -> float:
        """Wall seconds until the simulated time t is due; 0 when it is overdue."""
        return max(0.0, (t - self.due(now)) / self.speed)

    def note(self, now: float, t: float) -> None:
        """Take down that t was reached at wall time `now`: measures the factor and forgives what cannot be made up."""
        if self.due(now) - t > LONGEST_DEBT * self.speed:
            self._now, self._t = now, t
        if now - self._mark_now >= WINDOW:
            self.factor = (t - self._mark_t) / (now - self._mark_now)
            self._mark_now, self._mark_t = now, t
