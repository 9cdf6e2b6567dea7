"""A panel that fails closes with a sentence and a report; nothing else is touched, and nothing ends the app."""

import fakes
import pytest
from imgui_bundle import imgui, implot
from probe import Probe

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels import dialogs, layout, lower, menus, view, watch
from contactlab.app.panels.guard import attempt
from contactlab.app.ui_state import Failure, UiState
from contactlab.physics.core.version import own_version

PLACES = {  # what draws each panel: module and name
    "The menu bar": (menus, "draw_menus"), "The status bar": (layout, "draw_status"),
    "The time bar": (layout, "draw_transport"), "The parameters": (layout, "draw_parameters"),
    "The gallery": (layout, "draw_gallery"), "What the panels ask for": (watch, "ask"),
    "The texts over the view": (view, "draw_over_view"), "A box over the view": (dialogs, "draw_dialogs"),
}


def broken(*_):
    """Fails with everything open that a panel can have open."""
    imgui.begin("half a window")
    imgui.push_style_color(imgui.Col_.text, (1.0, 0.0, 0.0, 1.0))
    imgui.push_style_var(imgui.StyleVar_.alpha, 0.5)
    imgui.push_id("half")
    imgui.begin_group()
    imgui.begin_child("half a child", (200.0, 200.0))
    imgui.begin_table("half a table", 2)
    imgui.table_next_column()
    implot.begin_plot("half a plot", (100.0, 100.0))
    raise KeyError("a mistake\nof ours")


@pytest.fixture
def probe(monkeypatch):
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, fakes.snapshot(), lambda command: None), UiState())
    yield made
    made.gui.release()


def seen(probe):
    """Labels of all widgets of the next frame."""
    probe.rects.clear()
    probe.frame(1)
    return set(probe.rects)


@pytest.mark.parametrize("title", PLACES)
def test_a_panel_that_fails_closes_alone_and_can_be_opened_again(probe, monkeypatch, title):
    before = seen(probe)
    module, name = PLACES[title]
    with monkeypatch.context() as patch:
        patch.setattr(module, name, broken)
        probe.frame(2)
        shown = seen(probe)
    assert set(probe.ui.failures) == {title}
    sentence, where = probe.ui.failures[title]
    assert sentence == f"{title} failed: KeyError: 'a mistake\\nof ours'." and "in broken" in where
    others = seen(probe)
    assert shown == others and {f"Report##{title}", f"Open again##{title}"} <= others
    lost = before - others
    probe.click(f"Open again##{title}")
    assert probe.ui.failures == {} and lost <= seen(probe)
    assert before <= seen(probe)


@pytest.mark.parametrize("name", lower.TABS)
def test_a_tab_that_fails_leaves_the_other_tabs(probe, monkeypatch, name):
    tab = lower.TABS[name]
    probe.ui.preferences.lower_tab = name
    monkeypatch.setitem(lower.TABS, name, tab._replace(draw=broken, asks=lambda ui, snapshot: lower.Inspect()))
    probe.frame(2)
    assert set(probe.ui.failures) == {tab.title}
    others = {other for other in lower.TABS.values() if other.there(fakes.snapshot())}
    in_row = {other for other in others if f"{other.title}##tab_{other.name}" in seen(probe)}
    assert len(in_row) > len(others) // 2
    assert in_row == others or "\uf101##tab_more" in seen(probe)  # a list of the rest
    probe.click(f"Report##{tab.title}")
    (request,) = probe.ui.requests
    assert request.command == "report" and request.argument == probe.ui.failures[tab.title]


def test_another_scene_opens_closed_panels_again():
    ui = UiState(failures={"Equations": Failure("Equations failed.", "")})
    lab = Lab(fakes.Engine(fakes.snapshot()), ui, fakes.Host())
    lab.update()
    ui.failures["Pivots"] = Failure("Pivots failed.", "")
    lab.engine.latest = fakes.snapshot(generation=2)
    lab.update()
    assert ui.failures == {}
    lab.close()


def test_what_a_panel_had_begun_is_ended(probe):
    probe.gui.use()
    probe.gui.new_frame()
    imgui.begin("around")
    colour = imgui.get_style().color_(imgui.Col_.text)
    before = (colour.x, colour.y, colour.z, imgui.get_style().alpha)
    assert not attempt(probe.ui, "a panel", broken)
    colour = imgui.get_style().color_(imgui.Col_.text)
    assert (colour.x, colour.y, colour.z, imgui.get_style().alpha) == before
    assert imgui.internal.get_current_window_read().name == "around"
    imgui.end()
    probe.gui.finish()


def test_a_report_tells_versions_scene_settings_last_commands_and_where_it_failed():
    lab = Lab(fakes.Engine(fakes.snapshot(scene_name="three balls")), UiState(), fakes.Host())
    lab.engine.failure = "Traceback of the engine"
    lab.update()
    for name in ("reset", "step_forward"):
        commands.run(lab, name)
    commands.run(lab, "report", Failure("Equations failed: KeyError: 3.", "Traceback of the panel"))
    text = lab.host.copied
    assert text.startswith("Equations failed: KeyError: 3.")
    for part in ("Python 3", f"contactlab {own_version()}\n", "numpy", "imgui-bundle", "three balls",
                 "method = 'time_stepping'", "Reset", "Step {'count': 1}", "Traceback of the panel",
                 "Traceback of the engine"):
        assert part in text
    assert text.index("Reset") < text.index("Step {")
    lab.close()
