"""Random keys, clicks, drags and words in the real window, from a fixed seed: nothing fails and nothing ends it."""

import random
import subprocess
import time
from contextlib import suppress

from effort import either
from test_window_xvfb import App, display

from contactlab.app.keys import KEYS

__all__ = ["display"]  # a fixture

SEED = 11
SECONDS = either(25, 600)
SIZE = (1280, 800)
#: commands whose keys are left out: they end the app, leave the screen, or write files
SPARED = {"quit", "fullscreen", "screenshot", "record", "save_problem"}
XDOTOOL = {",": "comma", ".": "period", "+": "plus", "-": "minus", "=": "equal", "[": "bracketleft",
           "]": "bracketright", "Esc": "Escape", "Backspace": "BackSpace", "Space": "space", "←": "Left", "→": "Right",
           "↑": "Up", "↓": "Down"}
WORDS = ("pile", "method", "0.5", "-1e9", "/nowhere/x.toml", "~", "compare", "é中", "tower")


def spelled(key):
    """A key of the table as xdotool calls it: "Shift+P" -> "shift+p"."""
    *modifiers, last = key.split("+") if not key.endswith("+") else [*key[:-1].rstrip("+").split("+"), "+"]
    last = XDOTOOL.get(last, last.lower() if len(last) == 1 else last)
    return "+".join([*(m.lower() for m in modifiers if m), last])


def actions(seed):
    """Endless: the arguments of xdotool for one thing after the other."""
    chance = random.Random(seed)
    keys = [spelled(binding.key) for binding in KEYS if binding.command not in SPARED]

    def place():
        return chance.randrange(4, SIZE[0] - 4), chance.randrange(4, SIZE[1] - 4)

    while True:
        kind = chance.random()
        if kind < 0.4:
            yield ["key", chance.choice(keys)]
        elif kind < 0.75:
            yield ["mousemove", *place(), "click", chance.choices((1, 3, 4, 5), (8, 1, 2, 2))[0]]
        elif kind < 0.9:
            yield ["mousemove", *place(), "mousedown", 1, "mousemove", *place(), "mousemove", *place(), "mouseup", 1]
        else:
            yield ["type", "--delay", "5", "--", chance.choice(WORDS)]


def test_a_monkey_finds_nothing_that_fails(display, tmp_path):
    app = App(tmp_path, display)
    done = []
    try:
        end = time.monotonic() + SECONDS
        for action in actions(SEED):
            app.do(*action)
            done.append(action)
            if app.process.poll() == 0 and app.lines("request")[-1]["command"] == "quit":  # it found File > Quit
                app = App(tmp_path, display)
            assert app.process.poll() is None, f"ended after {done[-5:]}: {app.process.stdout.read()}"
            assert not app.lines("failure"), f"failed after {done[-5:]}: {app.lines('failure')[0]['traceback']}"
            if time.monotonic() > end:
                break
            time.sleep(0.05)
        said = [s["error"] for s in app.lines("state") if s["error"]]
        assert not [why for why in said if "the engine failed" in why]
        app.key("Escape", "Escape", "Escape")
        app.key("ctrl+q")
        begun = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            app.process.wait(10)
        app.process.terminate()  # where keys have begun an edit, it asks about unsaved work
        status, said = app.process.wait(30), app.process.stdout.read()
        assert status == 0 or (status == 1 and "Stopped" in said), said
        print(f"{len(done)} actions, closed in {time.monotonic() - begun:.1f} s")
    finally:
        app.stop()
