"""The table of keys is complete, consistent, and made of keys that exist."""

import importlib.util
import pathlib
import runpy
from collections import Counter

import pytest

from contactlab.app import keys
from contactlab.app.commands import COMMANDS
from contactlab.app.view.view_options import ViewOptions


def pyglet_keys() -> dict[str, int]:
    """pyglet's key names, read from its file: importing pyglet.window would want a display."""
    spec = importlib.util.find_spec("pyglet")
    assert spec is not None and spec.submodule_search_locations
    path = pathlib.Path(spec.submodule_search_locations[0]) / "window" / "key.py"
    return {name: value for name, value in runpy.run_path(str(path)).items() if isinstance(value, int)}


def test_no_key_is_bound_twice():
    assert [k for k, n in Counter(keys.chord(b.key) for b in keys.KEYS).items() if n > 1] == []


def test_every_bound_command_exists():
    assert {b.command for b in keys.KEYS} <= set(COMMANDS)


def test_every_key_is_one_that_pyglet_reports():
    known = pyglet_keys()
    assert {name for _, name in keys.BY_CHORD if name not in known} == set()


@pytest.mark.parametrize("key, command", [
    ("Space", "play_pause"), (".", "step_forward"), (",", "step_back"), ("↓", "next_event"), ("↑", "previous_event"),
    ("Backspace", "reset"), ("[", "previous_scene"), ("]", "next_scene"), ("Ctrl+P", "palette"),
    ("Ctrl+O", "open_file"),
    ("F", "frame"), ("C", "toggle_contact_points"), ("G", "toggle_forces"), ("V", "record"), ("F12", "screenshot"),
    ("H", "hide_panels"), ("F1", "help"), ("F11", "fullscreen"), ("Esc", "deselect"),
])
def test_the_keys_of_the_field_do_what_the_field_expects(key, command):
    modifiers, name = keys.chord(key)
    assert keys.command_for(name, modifiers) == command


def test_plus_is_faster_with_and_without_shift():
    assert keys.command_for("EQUAL", frozenset({"Shift"})) == "faster"
    assert keys.command_for("NUM_ADD", frozenset()) == keys.command_for("PLUS", frozenset()) == "faster"
    assert keys.command_for("EQUAL", frozenset({"Ctrl", "Shift"})) == "larger_text"


def test_a_key_with_other_modifiers_does_nothing():
    assert keys.command_for("SPACE", frozenset({"Alt"})) is None


def test_every_switch_of_the_view_has_a_command():
    switches = {name for name, value in vars(ViewOptions()).items() if isinstance(value, bool)} - {"dark", "still"}
    assert {f"toggle_{name}" for name in switches} <= set(COMMANDS)


def test_gestures_cover_a_body_and_empty_space():
    assert {"body", "paused", "space", "edit", "answer", "any"} == {g.where for g in keys.GESTURES}
