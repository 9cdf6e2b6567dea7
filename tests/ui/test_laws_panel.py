"""The tabs Laws and Modes without a window: what they ask, what they say, where clicks lead, what is saved."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app.lab import Lab
from contactlab.app.panels import laws, layout, modes
from contactlab.app.panels.laws import LawsUi, branches, pieces, state_of
from contactlab.app.ui_state import Preferences, UiState
from contactlab.physics.core.report import Reason
from contactlab.physics.look.acceleration_graph import AccelerationGraph
from contactlab.physics.look.contact_law import LawView
from contactlab.physics.look.inspection import Inspection
from contactlab.physics.look.modes import SLIPS, STICKS, ModeChange
from contactlab.physics.run import messages as m

POINTS = np.array([[0.1, 1e-3, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.2, -1e-4, -0.5, 10.0, 1.0, 1.0, 0.0, 1.1e-3],
                   [0.3, -2e-4, 0.0, 20.0, 3.0, 4.0, 0.0, 1e-4], [0.4, -1e-4, 0.5, 6.0, 1.8, 2.4, 0.2, -1e-4]])
VIEW = LawView(101, (0, 2), True, 0.5, POINTS, np.array([True, False, False, False]))


def seen(view, contacts=3, **fields):
    answer = Inspection(m.Inspect("law"), 120, 0.5, None, law=view)
    bars = np.array([[0.2, np.nan, 0, 1, 100, 1], [0.2, np.nan, 0, 2, 101, 1]])
    return fakes.snapshot(contacts, inspection=answer, timeline=m.Timeline((), bars), **fields)


def probe_of(monkeypatch, now, tab):
    sent = []
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, now, sent.append),
                 UiState(preferences=Preferences(lower_tab=tab)))
    made.sent = sent
    return made


def test_it_asks_for_the_contact_that_is_chosen(monkeypatch):
    probe = probe_of(monkeypatch, seen(VIEW), "laws")
    assert probe.sent == [m.Inspect("law")]
    probe.click("##law_contact")
    probe.click("ground → ball 2##law_101")
    assert probe.sent[1:] == [m.Inspect("law", contact=101)] and probe.ui.state_of(LawsUi).contact == 101
    probe.gui.release()


@pytest.mark.parametrize("view", [VIEW, LawView(7, (0, 1), False, 0.0, POINTS[:1], np.array([True]))])
@pytest.mark.parametrize("scale", [1.0, 1.6])
def test_soft_and_rigid_contacts_are_drawn(monkeypatch, view, scale):
    probe = probe_of(monkeypatch, seen(view), "laws")
    probe.ui.preferences.scale = scale
    probe.frame(3)
    assert ("λ over ζ##law" in probe.drawn()) == (not view.soft)
    assert not probe.ui.failures
    probe.gui.release()


def test_the_loop_and_its_area_are_those_of_the_last_press():
    """From the first point with a force, or the one without before it, to the last: ∫ λ dδ of mean forces."""
    np.testing.assert_array_equal(VIEW.loop, [0, 1, 2, 3])
    assert VIEW.area == pytest.approx(10.0 * 1.1e-3 + 20.0 * 1e-4 - 6.0 * 1e-4)
    apart = LawView(1, (0, 1), True, 0.5, POINTS[:1], np.array([True]))
    assert not len(apart.loop) and apart.area == 0.0
    twice = LawView(1, (0, 1), True, 0.5, POINTS, np.array([True, False, True, False]))
    np.testing.assert_array_equal(twice.loop, [2, 3])
    assert [rows.tolist() for rows in pieces(twice)] == [[0, 1], [2, 3]]


def test_where_the_contact_is_said_in_words():
    words = [state_of(LawView(1, (0, 1), False, 0.5, POINTS[: k + 1], np.array([True] + [False] * k)))
             for k in range(4)]
    assert words == [
        "No force: it is apart, or carries nothing.", "Inside the cone, at 28.3 % of what λ allows: it sticks.",
        "Inside the cone, at 50 % of what λ allows: it sticks.", "On the cone: it slips at 200 mm/s."]
    x, y = branches(1.0, 2.0)
    assert (x * y == 0.0).all() and (x >= 0.0).all() and (y >= 0.0).all()


def event(kind, step, t, what, value):
    return m.Event(kind, step, t, (0, 1), (0.0,) * 3, (0.0, 0.0, 1.0), (0.0,) * 3, 0.0, 0.0, reason=Reason(what, value))


MODES = m.Timeline(
    (event("slip", 48, 0.2, "cone", 4.9), event("stick", 96, 0.4, "holds", 1.0)),
    np.array([[0.0, np.nan, 0, 1, 7, 1]]),
    (ModeChange(0.0, 1, ((7.0, STICKS),)), ModeChange(0.2, 48, ((7.0, SLIPS),)), ModeChange(0.4, 96, ((7.0, STICKS),))))


def test_the_graph_has_a_box_for_each_state_and_clicks_go_along_its_edges(monkeypatch):
    now = fakes.snapshot(timeline=MODES, step=120, t=0.5)
    probe = probe_of(monkeypatch, now, "modes")
    graph = modes.graph_of(probe.ui, now)
    assert len(graph.states) == 2 and graph.now == 0 and {(e.start, e.end) for e in graph.edges} == {(0, 1), (1, 0)}
    assert not probe.ui.failures
    sent = []
    modes.go_along(graph.edges[0], now, probe.ui, sent.append)
    assert sent == [m.GoToEvent(48, 0.2)]
    lo, hi = probe.rects["modes_canvas"]
    made = modes.drawn(graph, {7.0: "ground → ball 1"}, lambda text: 0.5 * len(text))
    assert hi.y - lo.y > 16.0 * made.height * 0.9
    probe.gui.release()


def test_the_mouse_means_the_nearest_arrow():
    now = fakes.snapshot(timeline=MODES, step=120, t=0.5)
    graph = modes.graph_of(UiState(), now)
    made = modes.drawn(graph, {}, lambda text: 0.5 * len(text))
    for k, arrow in enumerate(made.arrows):
        assert modes.nearest(made.arrows, arrow.at) == k
    assert modes.nearest(made.arrows, (-9.0, -9.0)) == -1


def test_a_graph_is_saved_into_the_documents(monkeypatch, tmp_path):
    now = fakes.snapshot(timeline=MODES, step=120, t=0.5)
    probe = probe_of(monkeypatch, now, "modes")
    probe.click("\uf0c7  Save##modes")
    probe.click("DOT, for Graphviz##modes.dot")
    (request,) = [r for r in probe.ui.requests if r.command == "save_drawing"]
    lab = Lab(fakes.Engine(now), UiState(preferences=Preferences(record_folder=str(tmp_path))), fakes.Host())
    lab.update()
    lab.save_drawing(*request.argument)
    (path,) = tmp_path.glob("*.dot")
    assert path.name.startswith("three_modes") and "s0 -> s1" in path.read_text()
    probe.gui.release()


def test_tabs_have_keys_of_their_own():
    assert laws.TAB.key != modes.TAB.key


GRAPH = AccelerationGraph(np.array([-30.0, 0.0, 10.0, 20.0]), np.array([0.0, 0.0, 5.0, 15.0]), (-20.0, 0.0), 1.0, 3)


@pytest.mark.parametrize("graph", [GRAPH, "It does not rest at this instant."])
def test_acceleration_over_force_is_one_of_three_plots_of_a_rigid_contact(monkeypatch, graph):
    probe = probe_of(monkeypatch, seen(LawView(7, (0, 1), False, 0.5, POINTS[:1], np.array([True]), graph)), "laws")
    probe.click("ζ̇ over f##law")
    probe.frame(2)
    assert probe.ui.state_of(LawsUi).shown == "acceleration" and not probe.ui.failures
    probe.gui.release()


def test_the_graph_is_said_in_words():
    assert laws.graph_text(GRAPH).startswith(
        "Now f = -20 N: it rests. It parts from f = 0 N on, with 3 contacts beside it that hold or let go; 2 kinks.")
    assert "rests" not in laws.graph_text(replace(GRAPH, now=(10.0, 5.0)))
