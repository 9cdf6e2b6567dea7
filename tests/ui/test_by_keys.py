"""Panels are reached and worked by the keyboard alone."""

import fakes
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels import layout
from contactlab.app.ui_state import UiState

PANELS = ["##MainMenuBar", "gallery", "lower_panel", "transport", "beside_panel", "parameters"]
TABS = 40  # more than the time bar has controls


@pytest.fixture
def desk(monkeypatch):
    """Lab and panels of a scene, drawn without a window."""
    ui = UiState()
    lab = Lab(fakes.Engine(), ui, fakes.Host())
    snapshot = fakes.snapshot()
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, snapshot, lab.send), ui)
    yield lab, made
    made.gui.release()


def at(made: Probe) -> tuple[str, int]:
    """The panel and the control that have the cursor."""
    made.gui.use()
    context = imgui.get_current_context()
    return context.nav_window.root_window.name, context.nav_id


def walked(lab: Lab, made: Probe) -> tuple[str, int]:
    commands.run(lab, "by_keys")
    made.frame(3)
    return at(made)


def test_f6_goes_through_all_panels_and_boxes_each_time_to_a_control(desk):
    lab, made = desk
    found = [walked(lab, made) for _ in (*PANELS, "again")]
    assert [name for name, _ in found] == [*PANELS, PANELS[0]] and all(control for _, control in found)
    lab.ui.about = True
    made.frame(2)
    commands.run(lab, "deselect")  # closes the box, then the keys are the scene's again
    assert not lab.ui.about and lab.ui.by_keys
    commands.run(lab, "deselect")
    made.frame()
    assert not lab.ui.by_keys and not made.gui.io.config_flags & imgui.ConfigFlags_.nav_enable_keyboard


def test_a_box_over_the_view_comes_first(desk):
    lab, made = desk
    lab.ui.about = True
    made.frame(2)
    assert walked(lab, made)[0] == "about"
    made.key(imgui.Key.space)
    assert not lab.ui.about


def test_space_plays_where_the_cursor_is_on_play(desk):
    """All controls of the time bar are passed by Tab, and one of them is Play."""
    lab, made = desk
    while walked(lab, made)[0] != "transport":
        pass
    controls, sent = [], len(lab.engine.sent)
    for _ in range(TABS):
        controls.append(at(made)[1])
        made.key(imgui.Key.tab)
    assert len(set(controls)) >= 8
    for _ in range(TABS):
        made.key(imgui.Key.space)
        made.key(imgui.Key.tab)
    assert "play_pause" in [request.command for request in lab.ui.requests] or len(lab.engine.sent) > sent


def test_before_f6_the_keys_are_those_of_the_scene(desk):
    _, made = desk
    before = at(made)[1] if imgui.get_current_context().nav_window else 0
    made.key(imgui.Key.tab)
    assert imgui.get_current_context().nav_id == before
