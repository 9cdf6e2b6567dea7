"""Comparing methods in the app: what buttons, keys and the mouse send, and what is plotted."""

import io
from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app import commands
from contactlab.app.command_line.arguments import BadInput, parse_methods
from contactlab.app.lab import Lab
from contactlab.app.panels import compare, layout, legend
from contactlab.app.panels.split import row_of, shown
from contactlab.app.record.recorder import Cadence
from contactlab.app.ui_state import Preferences, Request, UiState
from contactlab.app.view import overlays
from contactlab.app.view.camera import scene_bounds
from contactlab.physics.run import messages as m

H = 1 / 240
METHODS = ("time_stepping", "compliant", "event_driven")


def comparison(count=2, focus=0, **fields):
    """A snapshot of a comparison of the first `count` of METHODS."""
    t = np.linspace(0.0, 1.0, 50)
    sides = tuple(
        fakes.snapshot(
            settings=m.Settings(method=METHODS[k]), side=k, trace=np.column_stack([t, (k + 1) * t]),
            **{"watch": m.Watch((m.Curve("height", 1),)), **fields})
        for k in range(count)
    )
    return replace(sides[focus], sides=sides)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent):
    ui = UiState(preferences=Preferences(lower_tab="compare", lower_height=20.0))
    made_snapshot = [comparison()]
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, made_snapshot[0], sent.append), ui)
    made.snapshot = made_snapshot
    yield made
    made.gui.release()


def sides_of(command):
    return [side.settings.method for side in command.sides]


# ---------------------------------------------------------------------------------------------------- panel


def test_a_click_on_a_side_puts_it_in_focus(probe, sent):
    sent.clear()
    probe.click("##side_1")
    assert sent == [m.Focus(1)]


def test_the_cross_takes_a_side_away_and_the_last_two_end_the_comparison(probe, sent):
    probe.snapshot[0] = comparison(3)
    probe.frame(2)
    sent.clear()
    probe.click("\uf00d##remove_1")
    assert sides_of(sent[0]) == ["time_stepping", "event_driven"] and len(sent) == 1
    probe.snapshot[0] = comparison(2)
    probe.frame(2)
    sent.clear()
    probe.click("\uf00d##remove_0")
    assert sent == [m.Focus(1), m.Compare(())]


def test_a_comparison_ends_by_its_button(probe, sent):
    sent.clear()
    probe.click("End##end_comparison")
    assert sent == [m.Compare(())]


def test_a_method_beside_the_present_one_is_a_request_to_the_app(probe):
    probe.snapshot[0] = fakes.snapshot()
    probe.frame(2)
    probe.click("With compliant##with_compliant")
    assert probe.ui.requests == [Request("compare_with", "compliant")]


def test_the_engine_is_told_once_what_to_watch_and_again_for_another_scene(probe, sent):
    probe.snapshot[0] = comparison(watch=m.Watch())
    probe.frame(5)
    assert sent == [m.Watch((m.Curve("height", 1),))]  # body 0 is fixed
    probe.snapshot[0] = comparison(watch=m.Watch((m.Curve("height", 1),)))
    probe.frame(3)
    probe.click("##quantity")
    probe.click("Mechanical energy##energy")
    assert sent[1:] == [m.Watch((m.Curve("energy"),))]
    probe.snapshot[0] = comparison(generation=2, watch=m.Watch())  # knows nothing of it
    probe.frame(3)
    assert sent[2:] == [m.Watch((m.Curve("energy"),))]


def test_nothing_is_watched_where_nobody_looks():
    ui = UiState()
    assert compare.wanted(ui, fakes.snapshot()) == []
    assert compare.wanted(ui, comparison()) == [m.Curve("height", 1)]  # compared, if not shown


def test_every_state_of_the_tab_draws(probe):
    empty = np.zeros((0, 2))
    unknown = np.column_stack([np.arange(5.0), np.full(5, np.nan)])
    for trace in (empty, unknown):
        base = comparison(3)
        probe.snapshot[0] = replace(base, sides=tuple(replace(s, trace=trace) for s in base.sides))
        probe.frame(2)
    assert "##side_2" in probe.rects


# --------------------------------------------------------------------------------------------------- labels


def test_a_label_names_what_the_sides_differ_in():
    a, b = fakes.snapshot(settings=m.Settings(solver="pgs")), fakes.snapshot(settings=m.Settings(solver="dantzig"))
    assert compare.details(a, (a, b)) == "rk4, h 1/240 s, pgs" and "dantzig" in compare.details(b, (a, b))
    assert compare.details(a, (a, a)) == "rk4, h 1/240 s"
    soft = fakes.snapshot(settings=m.Settings(method="compliant", stiffness_n=2e4), coordinates="maximal")
    assert compare.details(soft, (a, soft)) == ("rk4, h 1/240 s, K 20 kN/m, maximal coordinates, e has no meaning: "
                                                "K and D")
    assert "e has no" not in compare.details(a, (a, soft)) and "e has no" not in compare.details(soft, (soft, soft))


def test_the_difference_is_taken_at_equal_times():
    t = np.linspace(0.0, 1.0, 11)
    a, b = np.column_stack([t, t**2]), np.column_stack([t, t])
    assert compare.difference(b, a) == pytest.approx(np.column_stack([t, t - t**2]))
    assert compare.difference(b, a[4:])[:, 0] == pytest.approx(t[4:])
    b[3, 1] = np.nan
    times, values = compare.curves(compare.difference(b, a))
    assert len(times) == 10 and np.isfinite(values).all()
    assert len(compare.curves(np.column_stack([np.arange(1e4), np.arange(1e4)]))[0]) <= compare.MOST_POINTS + 1


# ---------------------------------------------------------------------------------------------- app and view


@pytest.fixture
def lab():
    made = Lab(fakes.Engine(fakes.snapshot()), UiState(view_rect=(0, 0, 800, 600)), fakes.Host(), io.StringIO())
    made.update()
    yield made
    made.close()


def test_the_key_compares_with_the_next_method_and_ends_it(lab):
    commands.run(lab, "compare")
    assert sides_of(lab.engine.sent[0]) == ["time_stepping", "event_driven"]
    assert lab.ui.preferences.lower_tab == "compare"
    lab.engine.latest = comparison()
    lab.update()
    commands.run(lab, "compare_with", "event_driven")
    assert sides_of(lab.engine.sent[1]) == ["time_stepping", "compliant", "event_driven"]
    commands.run(lab, "next_side")
    commands.run(lab, "compare")
    assert lab.engine.sent[2:] == [m.Focus(1), m.Compare(())]


def test_when_a_comparison_begins_the_selection_stays_and_the_camera_steps_back_for_narrower_pictures(lab):
    """Until all is in the picture of a side; not for a side less, nor where all is in it already."""
    lab.ui.view_rect = (0, 0, 1600, 600)  # a side is as narrow as the camera shows without losing anything
    lab.frame(selected=False, seconds=0.0)
    lab.ui.view.selected = 1
    camera = lab.camera
    direction, distance = camera.backward.copy(), camera.distance
    lab.engine.latest = comparison()
    lab.update()
    assert lab.ui.view.selected == 1 and (camera.backward == direction).all() and camera.distance > distance
    _, _, width, height = lab.ui.side_rects(2)[0]
    lo, hi = scene_bounds(lab.snapshot.model, lab.snapshot.x, lab.snapshot.q)
    corners = np.array([[(lo, hi)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    seen, _ = camera.project(corners, width, height)
    assert (seen >= 0.0).all() and (seen <= [width, height]).all()
    eye = camera.eye.copy()
    for latest in (fakes.snapshot(), comparison()):
        lab.engine.latest = latest
        lab.update()
        assert np.abs(camera.eye - eye).max() < 1e-14 * camera.distance  # a shift is a sum of some rounded terms


def test_the_sides_fill_the_view_next_to_each_other():
    ui = UiState(view_rect=(100.0, 30.0, 602.0, 400.0))
    assert ui.side_rects(1) == [ui.view_rect]
    a, b = ui.side_rects(2)
    assert a == (100.0, 30.0, 300.0, 400.0) and b == (402.0, 30.0, 300.0, 400.0)


def test_the_sides_share_one_legend_below_them(monkeypatch):
    """Nothing of it lies over a picture, and it takes a part of the view only."""
    rows = overlays.legend(comparison(), UiState().view)
    drawn = []

    def draw(ui):
        ui.view_rect = (10.0, 20.0, 700.0, 500.0)
        ui.legend_height = legend.strip_height(ui, rows, ui.view_rect)
        drawn.append([start + 2.0 for line in legend.lines_of(ui, rows, 700.0) for start, _ in line])

    made = Probe(monkeypatch, draw, UiState())
    height = made.ui.legend_height
    assert 30.0 < height < 125.0 and len(drawn[-1]) == len(rows) and max(drawn[-1]) < 700.0
    assert [rect[3] for rect in made.ui.side_rects(2)] == [500.0 - height] * 2
    assert made.ui.side_rects(1) == [(10.0, 20.0, 700.0, 500.0 - height)]
    made.gui.release()


def test_what_is_changed_for_show_is_shown_on_its_side():
    s = comparison(3, focus=1)
    changed = replace(s, t=77.0)
    assert [side.t for side in shown(changed)] == [0.5, 77.0, 0.5] and shown(fakes.snapshot())[0].sides == ()
    assert row_of(s, 101) == 1 and row_of(s, None) == -1


def test_a_video_goes_by_the_steps_of_the_clock():
    s = comparison()
    fine = replace(s.sides[1], settings=replace(s.settings, h=H / 4))
    s = replace(fine, sides=(s.sides[0], fine))
    assert s.h == H and Cadence(60).steps(1.0, s.h) == 4


def test_methods_to_compare_are_read_from_the_command_line():
    assert parse_methods(None) == () and parse_methods("time_stepping, compliant") == ("time_stepping", "compliant")
    for text in ("compliant", "compliant,magic", "compliant,compliant,compliant,compliant", ""):
        with pytest.raises(BadInput, match="--compare must be from 2 to 3 of the methods"):
            parse_methods(text)
