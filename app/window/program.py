"""The app as a program: open the window, stay until the user closes it or a signal ends it, and keep what there is."""

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import platformdirs
import pyglet
from pyglet import gl

from ...physics.core.interruption import interruptible
from ...physics.core.language import N_, use
from ...physics.lesson.lesson import Lesson
from ...physics.run.journal import Journal, leftovers
from ...physics.run.messages import Recording
from ...physics.run.runner import Runner
from ...physics.run.script import Script
from ...physics.scene.scene import Scene
from ..background import in_background
from ..machine import no_window
from ..opening import copies_to_draw, in_words
from ..preferences import SETTINGS, Preferences
from ..scene_files import DRAFTS, Draft, lost_work
from ..stopping import Stopped, between_steps
from .lost_screen import when_the_screen_is_lost
from .window import Window

SWITCH = 0.0002  # [s] after which a waiting thread gets its turn at Python: a short part of a frame and of most steps
LAST_STEP = 60.0  # [s] that a script's last step may take after the window is closed; compiling kernels takes long, too
RUNS = Path(platformdirs.user_state_dir("contactlab", appauthor=False)) / "runs"  # journals of what runs


def open_window(
    scene: Scene, settings: Mapping[str, Any] | None = None, log_commands: Path | None = None,
    preferences: Path = SETTINGS, recording: Recording | None = None, script: Script | None = None,
    lesson: Lesson | None = None, language: Any = "",
) -> None:
    """Open the app on a scene and stay until it is closed.

    settings: override the scene's own, as `Simulation.set` does.
    log_commands: a file that gets every command and, ten times a second, the state, as lines of JSON.
    preferences: the file that remembers layout and theme.
    recording: of a run of the scene, to be replayed.
    lesson: that is open at first.
    language: of `core.language`, kept in the preferences; "" = theirs.
    script: whose simulation of the scene runs; its thread has ended when this returns, or RuntimeError is raised.

    A signal to end is obeyed between two frames: raises `stopping.Stopped` then, when all is kept. Raises
    `machine.Unavailable` where there is no OpenGL 3.3.
    """
    with between_steps() as asked:
        _open(scene, settings or {}, log_commands, preferences, recording, asked, script, lesson, language)
    if asked:
        raise asked[0]


@contextmanager
def shown_tab(preferences: Preferences, name: str) -> Iterator[None]:
    """Inside, this tab of the lower area is open at first; what the user then chooses is kept, not that. "" = none."""
    before = preferences.lower, preferences.lower_tab
    if name:
        preferences.lower, preferences.lower_tab = True, name
    yield
    if name and preferences.lower_tab == name:
        preferences.lower, preferences.lower_tab = before


def _remembered(preferences: Path, language: Any = "") -> tuple[Preferences, str]:
    """What is remembered, and what of it is damaged. From here on all speak its language, or this one of
    `core.language` where one is given."""
    remembered, damage = Preferences.load(preferences)
    remembered.language = language or remembered.language
    use(remembered.language)
    return remembered, damage


def _window(preferences: Path, remembered: Preferences, damage: str) -> Window:
    """The window as it was left. Raises `machine.Unavailable`."""
    try:
        pyglet.display.get_display()
    except Exception as error:  # each system has its own where no display answers
        raise no_window(error) from error
    try:
        window = Window(remembered)
    except (pyglet.window.WindowException, gl.ContextException, ValueError) as error:  # moderngl raises ValueError
        raise no_window(error) from error
    window.ui.message = damage
    when_the_screen_is_lost(lambda: window.leave("the screen is gone", preferences))
    return window


def open_remote(engine: Any, preferences: Path = SETTINGS) -> None:
    """Open the app on an engine in another process, see `remote.RemoteEngine`, and stay until either is closed."""
    with between_steps() as asked:
        engine.ended = lambda: asked.append(Stopped(0))
        window = _window(preferences, *_remembered(preferences))
        try:
            window.begin(engine, None)
            if window.lab is not None:
                window.lab.making.opened(None)  # what a script has made is the script's
            with shown_tab(window.ui.preferences, "script"):
                window.stay(asked)
        finally:
            window.keep_settings(preferences)
            window.end()


class Engine:
    """The engine on its way: it is built while the window is opened, which takes the processor little; a scan of a
    million triangles takes a second more, in which the window lives."""

    def __init__(self, scene: Scene, settings: Mapping[str, Any], recording: Recording | None, script: Script | None
                 ) -> None:
        self.leftovers = leftovers(RUNS)  #: of earlier programs
        self.journal = Journal(RUNS)
        self._left = Event()

        def build() -> Runner:
            with in_words(scene.name), interruptible(self._left.is_set):
                return Runner(scene, settings, recording=recording, journal=self.journal, script=script)

        self._building = in_background("contactlab-scene", build)

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._left.set()

    def built(self, window: Window, asked: list[Stopped]) -> Runner | None:
        """The engine; None where the window was closed meanwhile. Raises CannotOpen."""
        if window.wait_for(self._building, N_("building the scene"), asked):
            return self._building.result()
        self.give_up()
        return None


def _open(
    scene: Scene, settings: Mapping[str, Any], log_commands: Path | None, preferences: Path,
    recording: Recording | None, asked: list[Stopped], script: Script | None, lesson: Lesson | None, language: Any,
) -> None:
    sys.setswitchinterval(SWITCH)
    remembered, damage = _remembered(preferences, language)
    engine = Engine(scene, settings, recording, script)
    try:
        window = _window(preferences, remembered, damage)
    except BaseException:
        engine.give_up()
        engine.journal.close()
        raise
    log = open(log_commands, "w", encoding="utf-8") if log_commands is not None else None  # noqa: SIM115
    try:
        copies = in_background("contactlab-copies", lambda: copies_to_draw(scene)) if window.ui.software else None
        window.ui.leftovers, window.journal = engine.leftovers, engine.journal
        runner = engine.built(window, asked)
        if runner is None:
            return
        window.begin(runner, log, copies)
        if window.lab is not None:
            own = scene if recording is None else recording.scene
            window.lab.making.opened(None if script is not None else own)  # what a script has made is the script's
            if lesson is not None:
                window.lab.teaching.open(lesson)
            window.lab.making.draft = Draft(DRAFTS)
            window.lab.making.offer(lost_work(DRAFTS))
            if lesson is None and script is None:
                window.lab.welcome()
                with suppress(OSError):  # told at the end; now, for the program may be killed
                    window.ui.preferences.save(preferences)
        with shown_tab(window.ui.preferences, "" if script is None else "script"):
            window.stay(asked)
    finally:
        window.keep_settings(preferences)
        window.end()
        if log is not None:
            log.close()
        if script is None:
            gc.freeze()  # else the interpreter looks through all kernels once more before it ends
        elif window.runner is not None and not window.runner.join(LAST_STEP):
            raise RuntimeError(f"the script's function of a step has not returned for {LAST_STEP:g} s: it still runs "
                               "in a thread, and its simulation must not be used")
