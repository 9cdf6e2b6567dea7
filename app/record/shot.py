"""What a video made without a window shows."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Shot:
    seconds: float = 10.0                     # of simulated time
    size: tuple[int, int] = (1280, 720)       # [pixels]
    fps: int = 60                             # frames per second of video
    speed: float | None = None                # simulated seconds per second of video; None = the scene's own
    at_events: float = 1.0                    # share of the speed near to events; 1 = they pass like all else
    panels: bool = False                      # with the panels of the app
    camera: tuple[float, ...] | None = None   # distance [m], azimuth, elevation [degrees], and the point looked at [m]
    dark: bool = True
    compare: Sequence[str] = ()               # methods to be shown side by side
