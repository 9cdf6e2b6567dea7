"""The menu bar."""

from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.core.language import LANGUAGES, N_, _, labelled, used
from ...physics.methods import METHODS
from ...physics.run.messages import SIDES, Command, Snapshot
from ..commands import COMMANDS, TOGGLES, VIEWS
from ..keys import key_of
from ..ui_state import UiState
from . import style

NARROW = 30.0  # width [font heights] below which the last menus share one


def draw_menus(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    if not imgui.begin_main_menu_bar():
        return
    menus: dict[str, Callable[[], None]] = {
        N_("File"): lambda: _file_menu(ui), N_("Edit"): lambda: _edit_menu(ui, snapshot),
        N_("View"): lambda: _view_menu(ui), N_("Time"): lambda: _time_menu(ui, snapshot),
        N_("Equations"): lambda: _equations_menu(ui), N_("Compare"): lambda: _compare_menu(ui, snapshot),
        N_("Lessons"): lambda: _lessons_menu(ui), N_("Help"): lambda: _help_menu(ui),
    }
    beside = list(menus) if imgui.get_window_width() > NARROW * ui.font else list(menus)[:4]
    for title in beside:
        _menu(title, menus[title])
    if len(beside) < len(menus) and imgui.begin_menu(labelled("More")):
        for title in list(menus)[len(beside):]:
            _menu(title, menus[title])
        imgui.end_menu()
    _right_end(ui, snapshot)
    imgui.end_main_menu_bar()


def _menu(title: str, draw: Callable[[], None]) -> None:
    if imgui.begin_menu(labelled(title)):
        draw()
        imgui.end_menu()


def _file_menu(ui: UiState) -> None:
    _item(ui, "new_scene")
    _item(ui, "open_file")
    if imgui.begin_menu(labelled("Open recent"), bool(ui.preferences.recent)):
        for path in ui.preferences.recent:
            if imgui.menu_item_simple(path):
                ui.request("open_path", path)
        imgui.end_menu()
    _item(ui, "reload")
    imgui.separator()
    for name in ("save", "save_as", "take_instant"):
        _item(ui, name)
    imgui.separator()
    for name in ("save_run", "record", "film", "screenshot"):
        _item(ui, name)
    imgui.separator()
    _item(ui, "quit")


def _time_menu(ui: UiState, snapshot: Snapshot | None) -> None:
    for name, command in COMMANDS.items():
        if command.group == "Time":
            _item(ui, name, ticked=name == "slow_at_events" and snapshot is not None and snapshot.at_events < 1.0)


def _equations_menu(ui: UiState) -> None:
    for name, command in COMMANDS.items():
        if command.group == "Equations":
            _item(ui, name, ticked=ui.preferences.lower and name == f"tab_{ui.preferences.lower_tab}")


def _help_menu(ui: UiState) -> None:
    for name in ("help", "tour", "palette", "reference", "report", "about"):
        _item(ui, name)


def _item(ui: UiState, name: str, title: str | None = None, ticked: bool = False) -> None:
    if imgui.menu_item_simple(labelled(title or COMMANDS[name].title), key_of(name), ticked):
        ui.request(name)


def _lessons_menu(ui: UiState) -> None:
    """The lessons that come along, with how far each has come; then what turns the pages of the one that is open."""
    for k, lesson in enumerate(ui.lessons):
        reached = ui.preferences.lessons.get(lesson.key)
        progress = "" if reached is None else _("step {reached} of {steps}").format(reached=reached + 1,
                                                                                    steps=lesson.steps)
        now = ui.course.lesson
        title = f"{k + 1}  {_(lesson.title)}###{k + 1}  {lesson.title}"
        if imgui.menu_item_simple(title, progress, now is not None and now.key == lesson.key):
            ui.request("open_path", lesson.path)
        imgui.set_item_tooltip(_(lesson.summary))
    imgui.separator()
    _item(ui, "author")
    for name in ("lesson_on", "lesson_back", "lesson_present", "lesson_pack", "lesson_leave"):
        if imgui.menu_item_simple(labelled(COMMANDS[name].title), key_of(name), enabled=ui.course.on):
            ui.request(name)


def _edit_menu(ui: UiState, snapshot: Snapshot | None) -> None:
    """Undo and redo say what they are of."""
    bench = ui.workbench
    _item(ui, "edit", N_("Let it run") if bench.on else N_("Edit the scene"))
    imgui.separator()
    changes = bench.changes(("", "") if snapshot is None else snapshot.changes)
    for name, change in zip(("undo", "redo"), changes, strict=True):
        title = _(COMMANDS[name].title)
        title += f": {change[:1].lower() + change[1:]}" if change else ""
        if imgui.menu_item_simple(f"{title}##{name}", key_of(name), enabled=bool(change)):
            ui.request(name)
    imgui.separator()
    for name in ("duplicate", "delete", "choose_all", "mirror_x", "mirror_y", "mirror_z", "view_of_scene"):
        if imgui.menu_item_simple(labelled(COMMANDS[name].title), key_of(name), enabled=bench.on):
            ui.request(name)


def _compare_menu(ui: UiState, snapshot: Snapshot | None) -> None:
    sides = snapshot.sides if snapshot is not None else ()
    for method in METHODS:
        if imgui.menu_item_simple(_("With {method}").format(method=_(method.replace("_", " "))),
                                  enabled=len(sides) < SIDES[1]):
            ui.request("compare_with", method)
    imgui.separator()
    _item(ui, "compare", N_("End the comparison") if sides else N_("With the next method"))
    _item(ui, "next_side")
    _item(ui, "tab_compare")
    imgui.separator()
    _item(ui, "orders")
    _item(ui, "sweep_map")
    _item(ui, "fan")
    _item(ui, "links")


def _view_menu(ui: UiState) -> None:
    panels = {"gallery": N_("Gallery"), "parameters": N_("Parameters"), "lower": N_("Contacts and equations")}
    for name, title in panels.items():
        _item(ui, f"panel_{name}", title, getattr(ui.preferences, name))
    _item(ui, "hide_panels", N_("Hide all panels"), ui.panels_hidden)
    imgui.separator()
    for name, title in TOGGLES.items():
        _item(ui, f"toggle_{name}", title, getattr(ui.view, name))
    imgui.separator()
    if imgui.begin_menu(labelled("Look")):
        for name in VIEWS:
            _item(ui, f"view_{name}")
        imgui.end_menu()
    _item(ui, "reduced_motion", N_("Reduced motion"), ui.preferences.reduced_motion)
    if imgui.begin_menu(labelled("Language")):
        for language, name in LANGUAGES.items():
            _item(ui, f"language_{language}", name, language == used())
        imgui.end_menu()
    for name in ("frame", "frame_all", "fullscreen", "theme", "larger_text", "smaller_text", "normal_text"):
        _item(ui, name)


def _right_end(ui: UiState, snapshot: Snapshot | None) -> None:
    """Frames per second and the theme at the right end of the bar."""
    text = f"{ui.frames_per_second:.0f} fps" if ui.frames_per_second else ""
    icon = "\uf185" if ui.preferences.dark else "\uf186"
    room = imgui.get_window_width() - imgui.get_cursor_pos_x() - 3.5 * ui.font
    if room < 0.0:  # the menus need all of the bar; View has the theme, too
        return
    text = text if imgui.calc_text_size(text).x < room else ""
    imgui.same_line(imgui.get_window_width() - imgui.calc_text_size(text).x - 3.5 * ui.font)
    style.muted(ui, text)
    if imgui.menu_item_simple(icon):
        ui.request("theme")
    imgui.set_item_tooltip(_("Dark or light  (Ctrl+T)"))
