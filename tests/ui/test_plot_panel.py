"""The tab Plot: which curves the engine is asked for, what is drawn of them, and what is saved."""

import csv
import io
from dataclasses import replace

import fakes
import numpy as np
import pytest
from imgui_bundle import imgui, implot
from probe import Probe

from contactlab.app.commands import run
from contactlab.app.figure import encode
from contactlab.app.lab import Lab
from contactlab.app.panels import layout, plot
from contactlab.app.panels.watch import title, value_now
from contactlab.app.ui_state import Preferences, UiState
from contactlab.physics import Scene
from contactlab.physics.core.closed_form import START, ClosedForm
from contactlab.physics.core.formula import read_formula
from contactlab.physics.look.body_state import look_at_body
from contactlab.physics.run import messages as m
from contactlab.physics.simulation.simulation import Simulation

HEIGHT, SPEED, ENERGY = m.Curve("height", 1), m.Curve("speed", 1), m.Curve("energy")
T = np.linspace(0.0, 1.0, 241)
BALL = """
[[body]]
name = "ball"
position = [0, 0, 1]
[[body.shape]]
type = "sphere"
radius = 0.1
"""


def plotted(*curves, **fields):
    """A snapshot in which curve k has the values k + t²; the first one is unknown for a tenth of a second."""
    columns = [k + T**2 for k in range(len(curves))]
    if columns:
        columns[0][T < 0.1] = np.nan
    return fakes.snapshot(watch=m.Watch(curves), trace=np.column_stack([T, *columns]), **fields)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent):
    ui = UiState(preferences=Preferences(lower_tab="plot", lower_height=20.0))
    made_snapshot = [plotted()]
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, made_snapshot[0], sent.append), ui)
    made.snapshot = made_snapshot
    yield made
    made.gui.release()


def test_a_curve_that_is_added_is_asked_of_the_engine_once_and_taken_away_again(probe, sent):
    assert sent == []
    probe.click("+  Add##curve")
    assert sent == [m.Watch((HEIGHT,))]  # body 0 is fixed
    probe.snapshot[0] = plotted(HEIGHT)
    probe.frame(3)
    probe.click("##plotted")
    probe.click("Mechanical energy##energy")
    probe.click("+  Add##curve")
    assert sent[1:] == [m.Watch((HEIGHT, ENERGY))]
    probe.snapshot[0] = plotted(HEIGHT, ENERGY)
    probe.frame(3)
    probe.click("\uf00d##curve_0")
    assert sent[2:] == [m.Watch((ENERGY,))]


def test_curves_go_on_being_recorded_while_another_tab_is_open(probe, sent):
    probe.click("+  Add##curve")
    probe.ui.preferences.lower_tab = "ledger"
    probe.snapshot[0] = plotted(HEIGHT)
    probe.frame(5)
    assert sent == [m.Watch((HEIGHT,))]


def test_of_another_scene_no_body_is_plotted(probe, sent):
    probe.ui.state_of(plot.PlotUi).curves += [HEIGHT, ENERGY]
    probe.snapshot[0] = plotted(HEIGHT, ENERGY, generation=2)
    probe.frame(3)
    assert sent[-1] == m.Watch((ENERGY,))


def test_a_number_of_a_body_is_dragged_onto_the_tab_and_into_the_plot(probe, sent, monkeypatch):
    """Over the tab Plot it opens; let go over the plot the curve is there."""
    sim = Simulation(Scene.from_text(BALL, None))
    probe.ui.preferences.lower_tab = "body"
    probe.ui.view.selected = 0
    seen = m.Inspection(m.Inspect("body"), 0, 0.0, sim.labels, body=look_at_body(sim, 0))
    probe.snapshot[0] = plotted(inspection=seen)
    places = {}
    tip = imgui.set_item_tooltip

    def noted(text):
        if "Drag it onto" in text:
            places[len(places)] = imgui.get_item_rect_min()
        tip(text)

    monkeypatch.setattr(imgui, "set_item_tooltip", noted)
    probe.frame(3)
    places.clear()
    probe.frame()
    io = probe.gui.io
    at = places[5]  # v_z, after x, y, z, v_x, v_y
    io.add_mouse_pos_event(at.x + 2, at.y + 4)
    probe.frame(2)
    io.add_mouse_button_event(0, True)
    probe.frame(2)
    io.add_mouse_pos_event(at.x - 40, at.y - 20)
    probe.frame(2)
    probe.move("Plot##tab_plot")
    probe.frame(2)
    assert probe.ui.preferences.lower_tab == "plot"
    lo, _ = probe.rects["Plot##tab_plot"]
    io.add_mouse_pos_event(700, lo.y + 120)
    probe.frame(2)
    io.add_mouse_button_event(0, False)
    probe.frame(3)
    assert probe.ui.state_of(plot.PlotUi).curves == [m.Curve("v_z", 0)] and sent[-1] == m.Watch((m.Curve("v_z", 0),))


def test_what_cannot_be_added_says_why():
    full = plot.PlotUi(curves=[m.Curve("height", k) for k in range(1, m.MOST_CURVES + 1)])
    assert "8 curves" in plot.refusal(full, ENERGY)
    assert "already" in plot.refusal(plot.PlotUi(curves=[ENERGY]), ENERGY)
    units = plot.PlotUi(curves=[HEIGHT, SPEED, ENERGY])
    assert "3 units" in plot.refusal(units, m.Curve("spin", 1)) and plot.refusal(units, m.Curve("kinetic")) == ""


def test_a_curve_is_drawn_where_it_is_known_over_time_or_over_another_one(probe, monkeypatch):
    drawn = []
    line = implot.plot_line
    monkeypatch.setattr(implot, "plot_line", lambda name, x, y, spec: drawn.append((x, y)) or line(name, x, y, spec))
    mine = probe.ui.state_of(plot.PlotUi)
    mine.curves[:] = [HEIGHT, SPEED]
    probe.snapshot[0] = plotted(HEIGHT, SPEED)
    probe.frame()
    known = T >= 0.1
    drawn = drawn[-4:]
    (t, height), (every, speed) = [pair for pair in drawn if len(pair[0]) in (known.sum(), len(T))][-2:]
    assert np.array_equal(t, T[known]) and np.array_equal(height, T[known] ** 2)
    assert np.array_equal(every, T) and np.array_equal(speed, 1.0 + T**2)
    x, y = plot.points(probe.snapshot[0], SPEED, HEIGHT)
    assert np.array_equal(x, T[known] ** 2) and np.array_equal(y, 1.0 + T[known] ** 2)
    x, y = plot.points(probe.snapshot[0], SPEED, ENERGY)  # not recorded yet
    assert len(x) == len(y) == 0


def test_a_curve_of_a_body_with_a_closed_form_has_the_dashes_of_its_formula(probe, monkeypatch):
    """Every other stretch, in pieces between points of z = 1 + t² that hang together; none of another quantity."""
    start = dict.fromkeys(START, 0.0)
    z = tuple(read_formula(text) for text in ("0", "0", "1 + t**2"))
    still = tuple(read_formula("0") for _ in range(3))
    form = ClosedForm(1, 0, start, (), z, still, read_formula("t < 0.5"), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    shown = plotted(HEIGHT, SPEED)
    probe.snapshot[0] = replace(shown, labels=shown.labels._replace(closed_forms=(form,)))
    drawn = {}
    line = implot.plot_line
    monkeypatch.setattr(implot, "plot_line",
                        lambda name, x, y, spec: drawn.update({name: (x, y)}) or line(name, x, y, spec))
    probe.ui.state_of(plot.PlotUi).curves[:] = [HEIGHT, SPEED]
    probe.frame()
    assert "##expected_0" in drawn and "##expected_1" not in drawn
    x, y = (values.reshape(-1, 2) for values in drawn["##expected_0"])
    holds = x < 0.5
    np.testing.assert_allclose(y[holds], 1.0 + x[holds] ** 2, rtol=1e-15)
    assert np.isnan(y[~holds]).all() and np.isclose(np.diff(x, axis=1).sum(), 0.5 * (T[-1] - T[T >= 0.1][0]), rtol=0.01)


def test_a_long_run_is_thinned_and_keeps_its_ends():
    many = 3 * plot.MOST_POINTS + 7
    t = np.arange(many, dtype=float)
    long = replace(plotted(SPEED), trace=np.column_stack([t, -t]))
    x, y = plot.points(long, SPEED, None)
    assert len(x) <= plot.MOST_POINTS + 1 and x[0] == 0.0 and x[-1] == many - 1 and np.array_equal(y, -x)


def test_a_thinned_curve_keeps_every_peak():
    """A blow lasts one step of many."""
    t, force = np.arange(50_000.0), np.full(50_000, 1.0)
    blows = np.array([7, 12_345, 12_350, 40_000])
    force[blows] = 5.0, 900.0, -3.0, 70.0
    long = replace(plotted(SPEED), trace=np.column_stack([t, force]))
    x, y = plot.points(long, SPEED, None)
    assert len(x) <= plot.MOST_POINTS + 1 and (np.diff(x) > 0).all() and x[-1] == t[-1]
    assert set(x[y != 1.0]) == {7.0, 40_000.0, 12_345.0, 12_350.0} and y.max() == 900.0 and y.min() == -3.0


def test_of_a_curve_that_goes_on_after_the_instant_shown_the_value_is_that_of_the_instant(probe, monkeypatch):
    """A line marks the instant, and the dot is on it."""
    lines, dots = {}, {}
    line, dot = implot.plot_inf_lines, implot.plot_scatter
    monkeypatch.setattr(implot, "plot_inf_lines", lambda name, x, spec: lines.update({name: x}) or line(name, x, spec))
    monkeypatch.setattr(implot, "plot_scatter",
                        lambda name, x, y, spec: dots.update({name: (x[0], y[0])}) or dot(name, x, y, spec))
    probe.ui.state_of(plot.PlotUi).curves[:] = [SPEED]
    probe.snapshot[0] = replace(plotted(SPEED), t=T[100])
    probe.frame()
    assert lines["##now"].tolist() == [T[100]] and dots["##now_0"] == (T[100], T[100] ** 2)
    assert value_now(probe.snapshot[0], SPEED) == T[100] ** 2
    lines.clear()
    probe.snapshot[0] = replace(plotted(SPEED), t=T[-1])
    probe.frame()
    assert "##now" not in lines and dots["##now_0"] == (T[-1], T[-1] ** 2)


def test_the_table_has_a_column_a_curve_and_leaves_the_unknown_empty(tmp_path):
    shown = plotted(HEIGHT, SPEED)
    made = plot.figure(UiState(), shown, plot.PlotUi(curves=[HEIGHT, SPEED]))
    rows = list(csv.reader(io.StringIO(encode(made, ".csv").decode())))
    assert rows[0] == ["t [s]", title(shown, HEIGHT), title(shown, SPEED)] and "[m/s]" in rows[0][2]
    assert len(rows) == len(T) + 1 and rows[1][1] == ""
    known = np.array([[float(v) for v in row] for row in rows[1:] if row[1]])
    assert np.array_equal(known, np.column_stack([T, T**2, 1.0 + T**2])[T >= 0.1])


def test_saved_curves_are_a_file_among_the_documents(tmp_path):
    ui = UiState(preferences=Preferences(record_folder=str(tmp_path)))
    lab = Lab(fakes.Engine(plotted(HEIGHT)), ui, fakes.Host())
    lab.update()
    made = plot.figure(ui, lab.snapshot, plot.PlotUi(curves=[HEIGHT]))
    for suffix in (".svg", ".csv"):
        run(lab, "save_curves", (made, suffix))
    path, drawing = sorted(tmp_path.iterdir())
    assert path.name == "three_curves_001.csv" and str(path) in ui.notice.text and drawing.suffix == ".svg"
    assert path.read_text().splitlines()[0] == f"t [s],{title(lab.snapshot, HEIGHT)}"
    lab.close()
