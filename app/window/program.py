"""The app as a program: open the window, stay until the user closes it or a signal ends it, and keep what there is."""

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs
import pyglet
from pyglet import gl

from ...physics.run.journal import Journal, leftovers
from ...physics.run.messages import Recording
from ...physics.run.runner import Runner
from ...physics.scene.scene import Scene
from ..machine import no_window
from ..opening import in_words
from ..preferences import SETTINGS, Preferences
from ..stopping import Stopped, between_steps
from .lost_screen import when_the_screen_is_lost
from .window import Window

SWITCH = 0.0002  # [s] after which a waiting thread gets its turn at Python: a short part of a frame and of most steps
RUNS = Path(platformdirs.user_state_dir("contactlab", appauthor=False)) / "runs"  # journals of what runs


def open_window(
    scene: Scene, settings: Mapping[str, Any] | None = None, log_commands: Path | None = None,
    preferences: Path = SETTINGS, recording: Recording | None = None,
) -> None:
    """Open the app on a scene and stay until it is closed.

    settings: override the scene's own, as `Simulation.set` does.
    log_commands: a file that gets every command and, ten times a second, the state, as lines of JSON.
    preferences: the file that remembers layout and theme.
    recording: of a run of the scene, to be replayed.

    A signal to end is obeyed between two frames: raises `stopping.Stopped` then, when all is kept. Raises
    `machine.Unavailable` where there is no OpenGL 3.3.
    """
    with between_steps() as asked:
        _open(scene, settings or {}, log_commands, preferences, recording, asked)
    if asked:
        raise asked[0]


def _open(
    scene: Scene, settings: Mapping[str, Any], log_commands: Path | None, preferences: Path,
    recording: Recording | None, asked: list[Stopped],
) -> None:
    sys.setswitchinterval(SWITCH)
    remembered, damage = Preferences.load(preferences)
    try:
        window = Window(remembered)
    except (pyglet.window.WindowException, gl.ContextException, ValueError) as error:  # moderngl raises ValueError
        raise no_window(error) from error
    window.ui.message = damage
    when_the_screen_is_lost(lambda: window.leave("the screen is gone", preferences))
    log = open(log_commands, "w", encoding="utf-8") if log_commands is not None else None  # noqa: SIM115
    try:
        window.ui.leftovers = leftovers(RUNS)
        window.journal = Journal(RUNS)
        with in_words(scene.name):
            runner = Runner(scene, settings, recording=recording, journal=window.journal)
        window.begin(runner, log)
        window.stay(asked)
    finally:
        window.keep_settings(preferences)
        window.end()
        if log is not None:
            log.close()
        gc.freeze()  # else the interpreter looks through all kernels once more before it ends
