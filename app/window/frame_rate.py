"""How many frames a second the window shows."""

SHARE = 0.5  # [s] in which frames are counted


class FrameRate:
    def __init__(self, now: float) -> None:
        self._start, self._count, self._rate = now, 0, 0.0

    def note(self, now: float, lively: bool) -> float:
        """A frame more; the rate [1/s]. While nothing changes few are drawn on purpose, and none are reported."""
        self._count += 1
        if not lively:
            self._start, self._count, self._rate = now, 0, 0.0
        elif now - self._start > SHARE:
            self._start, self._count, self._rate = now, 0, self._count / (now - self._start)
        return self._rate
