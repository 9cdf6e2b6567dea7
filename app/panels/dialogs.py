"""What opens over the view: palette, page of keys, messages, path box, the offer to go on with a run that was cut off,
study of chains, progress of compiling."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.run.messages import Command, Snapshot
from ...physics.scene.mesh_files import NAMES
from ..commands import COMMANDS
from ..keys import GESTURES, keys_of
from ..scene_files import my_scenes
from ..ui_state import OpeningStatus, Question, Request, UiState
from . import style
from .fan import draw_fan
from .film import draw_film
from .links import draw_links
from .mesh_panel import draw_mesh_box
from .orders import draw_orders
from .sweep_map import draw_sweep_map
from .tour import draw_tour
from .wrapping import text_wrapped

Send = Callable[[Command], None]
WHERE = {"body": N_(" (on a body)"), "paused": N_(" (while paused)"), "space": N_(" (elsewhere)"),
         "edit": N_(" (while editing)"),
         "answer": N_(" (where a lesson asks for it)"), "any": ""}
FLOATING = (
    imgui.WindowFlags_.no_title_bar | imgui.WindowFlags_.no_resize | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_collapse
)

#: name in UiState; what is drawn; width [font heights]; how far down [of the display]
STUDIES = (("links", draw_links, 68.0, 0.12), ("orders", draw_orders, 76.0, 0.07),
           ("sweep_map", draw_sweep_map, 66.0, 0.07), ("fan", draw_fan, 30.0, 0.1),
           ("film", draw_film, 34.0, 0.1))


def draw_dialogs(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    if ui.palette.open:
        draw_palette(ui)
    if ui.help:
        draw_help(ui)
    if ui.about:
        draw_about(ui)
    for name, draw, width, top in STUDIES:
        if getattr(ui, name) and snapshot is not None:
            _place(ui, width, top)
            _floating(ui, name, imgui.WindowFlags_.always_auto_resize)
            draw(ui, snapshot, send)
            imgui.end()
    if ui.open_box:
        draw_open_box(ui)
    if ui.save_box:
        draw_save_box(ui)
    if ui.opening is not None:
        draw_opening(ui, ui.opening)
    if ui.leftovers:
        draw_leftover(ui)
    if ui.question is not None:
        draw_question(ui, ui.question)
    elif ui.mesh_box is not None:
        _place(ui, 36.0, 0.06)
        _floating(ui, "mesh_box", imgui.WindowFlags_.always_auto_resize)
        draw_mesh_box(ui, ui.mesh_box)
        imgui.end()
    if ui.message:
        draw_message(ui)
    if ui.tour is not None and snapshot is not None:
        draw_tour(ui, snapshot, ui.tour)


def _place(ui: UiState, width: float, top: float = 0.12, height: float = 0.0) -> float:
    """Put the next window in the middle of the display, `top` of its height down; returns the width it gets."""
    display = imgui.get_io().display_size
    width = min(width * ui.font, display.x - 2 * ui.font)
    imgui.set_next_window_pos((0.5 * (display.x - width), top * display.y))
    imgui.set_next_window_size((width, height))
    return width


def _floating(ui: UiState, name: str, flags: int = 0) -> None:
    imgui.push_style_var(imgui.StyleVar_.window_rounding, 8.0 * ui.preferences.scale)
    imgui.push_style_var(imgui.StyleVar_.window_border_size, 1.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (16 * ui.preferences.scale, 14 * ui.preferences.scale))
    imgui.begin(name, None, FLOATING | flags)
    imgui.pop_style_var(3)


# -------------------------------------------------------------------------------------------------- palette


def fuzzy(pattern: str, text: str) -> float | None:
    """How well the letters of `pattern` appear in order in `text`; None where they do not. Less is better.

    Gaps cost, and so does starting inside a word; an unbroken match at the start costs nothing.
    """
    cost, place = 0.0, 0
    lower = text.lower()
    for letter in pattern.lower().replace(" ", ""):
        found = lower.find(letter, place)
        if found < 0:
            return None
        if found > place or place == 0:
            cost += (found - place) * 0.1 + (0.0 if found == 0 or not lower[found - 1].isalnum() else 1.0)
        place = found + 1
    return cost + 0.001 * len(text)


def palette_entries(ui: UiState) -> list[tuple[str, str, Request]]:
    """Title, key and request of everything the palette offers."""
    scenes = [(_("Scene: {title}").format(title=_(e.title)), "", Request("open_path", e.path)) for e in ui.scenes]
    recent = [(_("Recent: {path}").format(path=p), "", Request("open_path", p)) for p in ui.preferences.recent]
    commands = [(_(c.title), "  ".join(keys_of(n)), Request(n)) for n, c in COMMANDS.items()
                if c.group and n != "palette"]
    text = ui.palette.text.strip()
    path = [(_("Open file: {text}").format(text=text), "",
             Request("open_path", text))] if "/" in text or "\\" in text else []
    return [*path, *commands, *scenes, *recent]


def palette_matches(ui: UiState) -> list[tuple[str, str, Request]]:
    """The entries that match what was typed, best first."""
    text = ui.palette.text.strip()
    scored = []
    for i, entry in enumerate(palette_entries(ui)):
        cost = -1.0 if entry[0].startswith("Open file:") else fuzzy(text, entry[0])
        if cost is not None:
            scored.append((cost if text else 0.0, i, entry))
    return [entry for _, _, entry in sorted(scored, key=lambda s: s[:2])]


def draw_palette(ui: UiState) -> None:
    palette = ui.palette
    _place(ui, 36.0)
    _floating(ui, "palette")
    if palette.just_opened:
        imgui.set_keyboard_focus_here()
        imgui.set_window_focus()
    imgui.set_next_item_width(-1)
    flags = imgui.InputTextFlags_.enter_returns_true
    entered, text = imgui.input_text_with_hint("##palette", _("Command, scene, or path of a file"), palette.text, flags)
    if text != palette.text:
        palette.text, palette.index = text, 0
    matches = palette_matches(ui)
    if imgui.is_key_pressed(imgui.Key.down_arrow):
        palette.index += 1
    if imgui.is_key_pressed(imgui.Key.up_arrow):
        palette.index -= 1
    palette.index = min(max(palette.index, 0), max(len(matches) - 1, 0))
    chosen = matches[palette.index][2] if entered and matches else None
    imgui.begin_child("matches", (0, 18 * ui.font))
    for i, (title, key, request) in enumerate(matches):
        if imgui.selectable(f"{title}##{i}", i == palette.index)[0]:
            chosen = request
        if i == palette.index and not imgui.is_item_visible():
            imgui.set_scroll_here_y(0.5)
        if key:
            imgui.same_line(imgui.get_content_region_avail().x - imgui.calc_text_size(key).x - 0.5 * ui.font)
            style.muted(ui, key)
    if not matches:
        style.muted(ui, _("Nothing matches."))
    imgui.end_child()
    lost = not palette.just_opened and not imgui.is_window_focused(imgui.FocusedFlags_.root_and_child_windows)
    imgui.end()
    palette.just_opened = False
    if chosen is not None:
        ui.requests.append(chosen)
    if chosen is not None or lost:
        palette.open = False


# ----------------------------------------------------------------------------------------------- other boxes


def draw_help(ui: UiState) -> None:
    """The mouse and every key, from the one table."""
    _place(ui, 66.0, 0.05, min(38.0 * ui.font, 0.9 * imgui.get_io().display_size.y))
    _floating(ui, "help")
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Mouse and keys"))
    imgui.same_line(imgui.get_window_width() - 2.4 * ui.font)
    if imgui.small_button("\uf00d##close_help"):
        ui.help = False
    groups: dict[str, list[tuple[str, str]]] = {
        "Mouse": [
            (_(g.mouse), _(g.does) + _(WHERE[g.where])) for g in GESTURES
        ]
    }
    for name, command in COMMANDS.items():
        if keys_of(name):
            groups.setdefault(command.group, []).append(("  ".join(keys_of(name)), _(command.title)))
    columns = [[N_("Mouse"), "Time", "Scenes"], ["View"], ["Edit", "Equations", "Compare", "Record", "Lessons", "App"]]
    if imgui.get_window_width() < 60.0 * ui.font:  # else words would be broken
        columns = [[group for column in columns for group in column]]
    with style.font(ui, size=14.0):
        if imgui.begin_table("help_columns", len(columns)):
            for column in columns:
                imgui.table_next_column()
                for group in column:
                    _help_group(ui, group, groups.get(group, []))
            imgui.end_table()
        style.muted(ui, _("Ctrl+P finds every command and scene by a few letters. Files can be dropped on the window."))
    imgui.end()


def _help_group(ui: UiState, title: str, rows: list[tuple[str, str]]) -> None:
    style.heading(ui, _(title))
    if imgui.begin_table(f"help_{title}", 2, imgui.TableFlags_.sizing_fixed_fit):
        imgui.table_setup_column("key", imgui.TableColumnFlags_.width_fixed, 8.6 * ui.font)
        imgui.table_setup_column("does", imgui.TableColumnFlags_.width_stretch)
        for key, does in rows:
            imgui.table_next_row()
            imgui.table_next_column()
            with style.color(imgui.Col_.text, style.colors(ui).accent):
                text_wrapped(key)
            imgui.table_next_column()
            text_wrapped(does)
        imgui.end_table()
    imgui.dummy((0, 0.4 * ui.font))


def draw_about(ui: UiState) -> None:
    _place(ui, 30.0, 0.25)
    _floating(ui, "about", imgui.WindowFlags_.always_auto_resize)
    with style.font(ui, bold=True, size=20.0):
        imgui.text("Contactlab")
    text_wrapped(_("A laboratory for contact mechanics: see every contact the solver sees, change the laws "
                   "while it runs, pull bodies with the mouse, check the numbers."))
    style.muted(ui, _("MIT licence. Fonts: Roboto (Apache 2.0), DejaVu Sans, Font Awesome Free (SIL OFL 1.1)."),
                wrap=True)
    if imgui.button(labelled("Close##about")):
        ui.about = False
    imgui.end()


def draw_message(ui: UiState) -> None:
    """One message until it is read; the scene runs on behind it."""
    width = _place(ui, 34.0, 0.3)
    _floating(ui, "message", imgui.WindowFlags_.always_auto_resize)
    with style.color(imgui.Col_.text, style.colors(ui).warning), style.font(ui, bold=True, size=18.0):
        imgui.text("\uf071  " + (_("This could not be done") if ui.failure is None else _("Something of ours failed")))
    imgui.push_text_wrap_pos(width - 1.5 * ui.font)
    imgui.text_unformatted(ui.message)
    imgui.pop_text_wrap_pos()
    imgui.dummy((0, 0.2 * ui.font))
    if imgui.button(labelled("OK##message"), (6 * ui.font, 0)) or imgui.is_key_pressed(imgui.Key.enter):
        ui.tell("")
    imgui.same_line()
    if ui.failure is not None and imgui.button(labelled("Report##message")):
        ui.request("report", ui.failure)
    elif ui.failure is None and imgui.button(labelled("Copy##message")):
        imgui.set_clipboard_text(ui.message)
    imgui.end()


def draw_leftover(ui: UiState) -> None:
    """Offers to go on with a run whose program was cut off."""
    left = ui.leftovers[0]
    _place(ui, 30.0, 0.1)
    _floating(ui, "leftover", imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_focus_on_appearing)
    with style.font(ui, bold=True, size=18.0):
        imgui.text(_("The last run was cut off"))
    when = datetime.fromtimestamp(left.written).strftime("%d %B %Y, %H:%M:%S")
    style.muted(ui, _("{title}: recorded until {when}.").format(title=left.title, when=when), wrap=True)
    imgui.dummy((0, 0.2 * ui.font))
    if imgui.button(labelled("Go on##leftover"), (6 * ui.font, 0)):
        ui.request("go_on")
    imgui.same_line()
    if imgui.button(labelled("Discard##leftover"), (6 * ui.font, 0)):
        ui.request("discard")
    imgui.end()


def draw_question(ui: UiState, question: Question) -> None:
    """Something the user is asked; the first answer is the one that loses nothing."""
    width = _place(ui, 32.0, 0.28)
    _floating(ui, "question", imgui.WindowFlags_.always_auto_resize)
    with style.font(ui, bold=True, size=18.0):
        imgui.push_text_wrap_pos(width - 1.5 * ui.font)
        imgui.text_unformatted(question.title)
        imgui.pop_text_wrap_pos()
    style.muted(ui, question.text, wrap=True)
    imgui.dummy((0, 0.2 * ui.font))
    for k, (label, request) in enumerate(question.answers):
        if k:
            imgui.same_line()
        if imgui.button(f"{label}##question", (0.0 if len(label) > 9 else 7 * ui.font, 0)):
            ui.question = None
            if request is not None:
                ui.requests.append(request)
    imgui.end()


def draw_save_box(ui: UiState) -> None:
    """Asks for the path of a new scene file where the system has no file dialog."""
    _place(ui, 40.0, 0.3)
    _floating(ui, "save_box", imgui.WindowFlags_.always_auto_resize)
    with style.font(ui, bold=True, size=18.0):
        imgui.text(_("Save the scene as"))
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    imgui.set_next_item_width(-1)
    entered, ui.save_box_text = imgui.input_text_with_hint(
        "##save_path", "/path/to/scene.toml", ui.save_box_text, imgui.InputTextFlags_.enter_returns_true
    )
    path = Path(ui.save_box_text.strip() or ".").expanduser()
    there = path.is_file() and path != ui.workbench.path
    mine = path.parent == my_scenes(ui.preferences.record_folder)
    said = _("Scenes in this folder stand in the gallery under My scenes.") if mine else " "
    style.muted(ui, _("There is such a file: it would be replaced.") if there else said, wrap=True)
    if (imgui.button(labelled("Replace##save_box") if there else labelled("Save##save_box"))
        or (entered and not there)) and path.name:
        ui.request("save_to", path)
        ui.save_box = False
    imgui.same_line()
    if imgui.button(labelled("Cancel##save_box")):
        ui.save_box = False
    imgui.end()


def draw_open_box(ui: UiState) -> None:
    """Asks for a path where the system has no file dialog."""
    _place(ui, 40.0, 0.3)
    _floating(ui, "open_box", imgui.WindowFlags_.always_auto_resize)
    with style.font(ui, bold=True, size=18.0):
        imgui.text(COMMANDS[ui.open_box].title)
    meshes = _("Meshes: {names}.").format(names=", ".join(NAMES))
    style.muted(ui, meshes if ui.open_box == "add_mesh_file" else
                _("Scenes: .toml. Robots: .urdf, .xml (MJCF). {meshes} Runs: .contactlab. Problems: .npz. "
                "Tables of sweeps: .csv, .parquet.").format(meshes=meshes), wrap=True)
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    imgui.set_next_item_width(-1)
    entered, ui.open_box_text = imgui.input_text_with_hint(
        "##path", "/path/to/file", ui.open_box_text, imgui.InputTextFlags_.enter_returns_true
    )
    if (imgui.button(labelled("Open##box")) or entered) and ui.open_box_text.strip():
        ui.request(ui.open_box, ui.open_box_text.strip())
        ui.open_box = ""
    imgui.same_line()
    if imgui.button(labelled("Cancel##box")):
        ui.open_box = ""
    imgui.end()


def draw_opening(ui: UiState, opening: OpeningStatus) -> None:
    """How far a file is that takes long to open; the scene runs on behind it."""
    _place(ui, 30.0)
    _floating(ui, "opening", imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_focus_on_appearing)
    with style.font(ui, bold=True, size=18.0):
        imgui.text(_("Opening {name}").format(name=opening.name))
    imgui.progress_bar(opening.share, (-1, 0.5 * ui.font), "")
    style.muted(ui, f"{opening.words} …", wrap=True)
    if opening.may_be_hull:
        style.muted(ui, _("As its hull it would be solid: nothing could fall into it."), wrap=True)
    imgui.dummy((0, 0.2 * ui.font))
    if imgui.button(labelled("Cancel##opening"), (6 * ui.font, 0)):
        ui.request("cancel_opening")
    imgui.same_line()
    if opening.may_be_hull and imgui.button(labelled("Use its hull##opening"), (8 * ui.font, 0)):
        ui.request("open_as_hull")
    imgui.end()


def draw_progress(ui: UiState, snapshot: Snapshot | None) -> None:
    """What is shown before the first scene runs: in the middle, or at the edge of what can be seen already."""
    if ui.progress is None:
        return
    words, share = ui.progress
    if snapshot is None:
        _place(ui, 26.0, 0.4)
    else:
        x, y, w, _h = ui.view_rect
        width = min(26.0 * ui.font, max(w - ui.font, 12.0 * ui.font))
        imgui.set_next_window_pos((x + 0.5 * (w - width), y + 0.5 * ui.font))
        imgui.set_next_window_size((width, 0.0))
    _floating(ui, "progress", imgui.WindowFlags_.always_auto_resize)
    if snapshot is None:
        with style.font(ui, bold=True, size=20.0):
            imgui.text("Contactlab")
    told = _("Preparing the engine: {words}.")
    if share < 1.0:
        imgui.progress_bar(share, (-1, 0.5 * ui.font), "")
        told = _("Preparing the engine: {words}. Only the first start takes this long.")
    style.muted(ui, told.format(words=_(words)), wrap=True)
    imgui.end()
