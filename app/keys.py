"""The one table of keys, and what the mouse does. Window, F1 page, palette and status bar all read it from here.
The keys of the tabs of the lower area stand with the tabs, and are bound when `panels.lower` is imported.

A key is written as people write it, "Ctrl+Shift+P"; its last part is pyglet's name for the key or one of NAMES.
"""

from typing import NamedTuple

#: key as printed -> pyglet's name for it, where they differ
NAMES = {
    ".": "PERIOD", ",": "COMMA", "[": "BRACKETLEFT", "]": "BRACKETRIGHT", "↑": "UP", "↓": "DOWN", "←": "LEFT",
    "→": "RIGHT", "=": "EQUAL", "+": "PLUS", "-": "MINUS", "Esc": "ESCAPE", "Backspace": "BACKSPACE", "Space": "SPACE",
    "Home": "HOME", "Tab": "TAB", **{digit: f"_{digit}" for digit in "0123456"},
}
PAD = {"NUM_SUBTRACT": "MINUS", "NUM_DECIMAL": "PERIOD", **{f"NUM_{digit}": f"_{digit}" for digit in "0123456"}}
PUNCTUATION = ("PERIOD", "COMMA", "BRACKETLEFT", "BRACKETRIGHT")
#: what panels take while the keys are theirs, see panels.by_keys
OF_PANELS = ("TAB", "LEFT", "RIGHT", "UP", "DOWN", "SPACE", "RETURN", "ENTER", "HOME", "END", "PAGEUP", "PAGEDOWN")
MODIFIERS = ("Ctrl", "Shift", "Alt")


class Binding(NamedTuple):
    key: str      # as shown: "Ctrl+P"
    command: str  # name in commands.COMMANDS


KEYS: list[Binding] = [  # `bind` adds to it
    Binding("Space", "play_pause"),
    Binding(".", "step_forward"),
    Binding(",", "step_back"),
    Binding("→", "step_forward"),
    Binding("←", "step_back"),
    Binding("↓", "next_event"),
    Binding("↑", "previous_event"),
    Binding("Backspace", "reset"),
    Binding("R", "reset"),
    Binding("+", "faster"),
    Binding("=", "faster"),
    Binding("-", "slower"),
    Binding("Shift+-", "slow_at_events"),
    Binding("]", "next_scene"),
    Binding("[", "previous_scene"),
    Binding("Ctrl+N", "new_scene"),
    Binding("Ctrl+O", "open_file"),
    Binding("Ctrl+S", "save"),
    Binding("Ctrl+Shift+S", "save_as"),
    Binding("Ctrl+E", "edit"),
    Binding("Ctrl+Z", "undo"),
    Binding("Ctrl+Shift+Z", "redo"),
    Binding("Ctrl+Y", "redo"),
    Binding("Ctrl+D", "duplicate"),
    Binding("Ctrl+A", "choose_all"),
    Binding("Delete", "delete"),
    Binding("Q", "next_tool"),
    Binding("Ctrl+G", "group"),
    Binding("Ctrl+Shift+G", "choose_groups"),
    Binding("Ctrl+H", "hide"),
    Binding("Ctrl+R", "reload"),
    Binding("Ctrl+P", "palette"),
    Binding("F", "frame"),
    Binding("Home", "frame_all"),
    Binding("Shift+F", "toggle_follow_selected"),
    Binding("1", "view_front"),
    Binding("2", "view_right"),
    Binding("3", "view_above"),
    Binding("4", "view_back"),
    Binding("5", "view_left"),
    Binding("6", "view_oblique"),
    Binding("C", "toggle_contact_points"),
    Binding("N", "toggle_normals"),
    Binding("G", "toggle_forces"),
    Binding("Shift+C", "toggle_forces"),
    Binding("Shift+G", "toggle_friction_forces"),
    Binding("K", "toggle_contact_cases"),
    Binding("I", "toggle_inertia_boxes"),
    Binding("M", "toggle_centers_of_mass"),
    Binding("T", "toggle_transparent"),
    Binding("W", "toggle_wireframe"),
    Binding("L", "toggle_logarithmic"),
    Binding("B", "toggle_body_names"),
    Binding("Shift+V", "toggle_velocities"),
    Binding("X", "tab_large"),
    Binding("Shift+→", "pivot_on"),
    Binding("Shift+←", "pivot_back"),
    Binding("Ctrl+M", "compare"),
    Binding("Shift+M", "next_side"),
    Binding("PageDown", "lesson_on"),
    Binding("PageUp", "lesson_back"),
    Binding("Shift+F11", "lesson_present"),
    Binding("V", "record"),
    Binding("F12", "screenshot"),
    Binding("H", "hide_panels"),
    Binding("Tab", "hide_panels"),
    Binding("F1", "help"),
    Binding("F6", "by_keys"),
    Binding("F11", "fullscreen"),
    Binding("Ctrl+=", "larger_text"),
    Binding("Ctrl+-", "smaller_text"),
    Binding("Ctrl+0", "normal_text"),
    Binding("Ctrl+T", "theme"),
    Binding("Esc", "deselect"),
    Binding("Ctrl+Q", "quit"),
]


class Gesture(NamedTuple):
    where: str  # "body", "paused" (a free body while time stands), "space" (no movable body), "edit", "answer", "any"
    mouse: str
    does: str


GESTURES: tuple[Gesture, ...] = (
    Gesture("body", "Left drag", "pull the body with a spring"),
    Gesture("body", "Ctrl+left drag", "turn the body"),
    Gesture("body", "Shift+left drag", "orbit"),
    Gesture("body", "Double click", "select"),
    Gesture("paused", "Left drag", "place the body"),
    Gesture("paused", "Ctrl+left drag", "turn it in place"),
    Gesture("paused", "Shift+left drag", "pull it with a spring"),
    Gesture("paused", "Double click", "select"),
    Gesture("space", "Left drag", "orbit"),
    Gesture("edit", "Click", "choose"),
    Gesture("edit", "Ctrl+click", "choose one more"),
    Gesture("edit", "Double click", "choose the whole group"),
    Gesture("edit", "Drag the arrows", "move, turn, scale or throw (Q)"),
    Gesture("edit", "Left drag elsewhere", "orbit"),
    Gesture("answer", "Left drag", "place your answer"),
    Gesture("answer", "Shift+left drag", "orbit"),
    Gesture("any", "Right drag", "pan"),
    Gesture("any", "Wheel", "zoom to the cursor"),
    Gesture("any", "Right double click", "centre the view there"),
)


def chord(key: str) -> tuple[frozenset[str], str]:
    """Modifiers and pyglet name of a key as written in the table; "Ctrl+=" -> ({"Ctrl"}, "EQUAL")."""
    modifiers = set()
    rest = key
    for modifier in MODIFIERS:
        if rest.startswith(modifier + "+"):
            modifiers.add(modifier)
            rest = rest[len(modifier) + 1 :]
    return frozenset(modifiers), NAMES.get(rest, rest.upper())


BY_CHORD: dict[tuple[frozenset[str], str], str] = {chord(b.key): b.command for b in KEYS}


def bind(commands: dict[str, str]) -> None:
    """Add keys, as written in the table, with their commands. ValueError where a key has a command already."""
    for key, command in commands.items():
        if chord(key) in BY_CHORD:
            raise ValueError(f"{key} is bound to {BY_CHORD[chord(key)]}, not to {command}")
        KEYS.append(Binding(key, command))
        BY_CHORD[chord(key)] = command


def command_for(symbol: str, modifiers: frozenset[str]) -> str | None:
    """Command bound to a key, given pyglet's name of it ("PERIOD") and a subset of MODIFIERS."""
    if symbol in ("PLUS", "NUM_ADD") or (symbol == "EQUAL" and "Shift" in modifiers):  # one key on most keyboards
        return BY_CHORD.get((modifiers - {"Shift"}, "EQUAL"))
    found = BY_CHORD.get((modifiers, PAD.get(symbol, symbol)))
    if found is None and symbol in PUNCTUATION:  # on some keyboards these need Shift or AltGr
        found = BY_CHORD.get((modifiers - {"Shift", "Alt"}, symbol))
    return found


def keys_of(command: str) -> list[str]:
    """All keys of a command as written in the table, the first one first."""
    return [b.key for b in KEYS if b.command == command]


def key_of(command: str) -> str:
    """The first key of a command, "" where it has none."""
    return next(iter(keys_of(command)), "")
