"""The table of a sweep, opened again, is the map of its runs; a click on a cell opens that run."""

import csv
import math
from dataclasses import replace
from itertools import product

import fakes
import pytest
from command_line import call
from probe import Probe

import contactlab
from contactlab.app.commands import run
from contactlab.app.lab import Lab
from contactlab.app.opening import CannotOpen, opened
from contactlab.app.panels import sweep_map
from contactlab.app.panels.layout import draw_ui
from contactlab.app.sweeps.sweep_table import read_table
from contactlab.app.ui_state import UiState
from contactlab.physics.core.report import Settings
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene

BALL = {
    "scene": {"title": "Ball"}, "solver": {"method": "time_stepping", "h": 1 / 240},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             {"name": "ball", "position": [0.0, 0.0, 0.4], "shape": [{"type": "sphere", "radius": 0.1}]}],
}
VARY = {"restitution": [0.0, 0.5, 0.9], "method": ["time_stepping", "compliant"], "body.ball.position.2": [0.3, 0.4]}
MEASURES = ["height:ball:max", "impacts"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """What a sweep returned, and its two files."""
    folder = tmp_path_factory.mktemp("sweep")
    scene = Scene.from_dict(BALL)
    given = {"until": 0.05, "settings": {"friction": 0.25}, "workers": 0}
    found = contactlab.sweep(scene, VARY, MEASURES, out=folder / "a.parquet", **given)
    again = contactlab.sweep(scene, VARY, MEASURES, out=folder / "a.csv", **given)
    assert found == again
    return found, folder / "a.parquet", folder / "a.csv"


def test_both_files_hold_what_the_sweep_returned(tables):
    found, *paths = tables
    for path in paths:
        table = read_table(path)
        assert dict(table.vary) == {name: tuple(values) for name, values in VARY.items()}
        assert table.measures == tuple(MEASURES) and table.numbers == ["restitution", "body.ball.position.2"]
        assert all(table.columns[name] == found[name] for name in (*MEASURES, "reason"))


def test_a_table_of_runs_that_a_script_has_prepared_says_so(tables, tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    contactlab.sweep(Scene.from_dict(BALL), {"restitution": [0.5]}, "impacts", until=0.01, out=path, workers=0,
                     start=lambda sim: sim.body("ball").apply_force((0.0, 0.0, 1.0)))
    said = []
    monkeypatch.setattr(sweep_map.style, "muted", lambda ui, words, **_: said.append(words))
    for table, scripted in ((read_table(path), True), (read_table(tables[1]), False)):
        said.clear()
        ui = UiState()
        ui.state_of(sweep_map.MapUi).show(table)
        probe = Probe(monkeypatch, lambda ui: sweep_map.draw_sweep_map(ui, fakes.snapshot(), print), ui)
        probe.gui.release()
        assert table.scripted == any("A script has prepared" in words for words in said) == scripted


def test_a_parquet_table_has_its_scene_and_settings_within(tables):
    table = read_table(tables[1])
    assert table.scene.title == "Ball" and table.until == 0.05
    assert (table.settings.friction, table.settings.h) == (0.25, 1 / 240)
    assert read_table(tables[2]).scene is None


@pytest.mark.parametrize("axes", [["restitution", "body.ball.position.2"], ["body.ball.position.2", "restitution"]])
@pytest.mark.parametrize("method", [0, 1])
def test_each_cell_is_the_row_of_its_values(tables, axes, method):
    found, path, _ = tables
    study = read_table(path).study(axes, MEASURES[0], {"method": method})
    rows = {(e, z): found[MEASURES[0]][k] for k, (e, name, z) in enumerate(product(*VARY.values()))
            if name == VARY["method"][method]}
    for point, values in zip(study.points, product(*(VARY[name] for name in axes)), strict=True):
        assert point.value == rows[values if axes[0] == "restitution" else values[::-1]] and point.reason == ""
    assert study.settings.method == VARY["method"][method] and study.asked.vary[0] == (axes[0], tuple(VARY[axes[0]]))


def test_over_one_parameter_the_others_have_the_values_chosen(tables):
    study = read_table(tables[1]).study(["restitution"], "impacts", {"body.ball.position.2": 1, "method": 0})
    assert study.scene.tables.body[1].position[2] == 0.4 and len(study.points) == 3
    study = read_table(tables[1]).study(["restitution"], "impacts", {})
    assert study.scene.tables.body[1].position[2] == 0.3


def altered(path, tmp_path, change):
    rows = list(csv.reader(path.open(newline="")))
    change(rows)
    with (tmp_path / "b.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return tmp_path / "b.csv"


@pytest.mark.parametrize("change, said", [
    (lambda rows: rows.pop(3), "one for each combination"),
    (lambda rows: rows.insert(1, rows.pop()), "one for each combination"),
    (lambda rows: rows[0].__setitem__(-1, "why"), "no table of a sweep"),
    (lambda rows: rows[4].pop(), "other columns than its head"),
    (lambda rows: rows.clear(), "no table of a sweep"),
    (lambda rows: rows[0].__setitem__(0, "t"), "no table of a sweep"),
    (lambda rows: rows.__setitem__(slice(None), [[row[1], *row[3:]] for row in (rows[0], rows[1], rows[3])]),
     "is a number"),
])
def test_what_is_no_table_of_a_sweep_is_refused_in_a_sentence(tables, tmp_path, change, said):
    with pytest.raises(CannotOpen, match=said) as refused:
        opened(altered(tables[2], tmp_path, change))
    assert "b.csv" in str(refused.value)


def test_a_damaged_parquet_file_is_refused_in_a_sentence(tmp_path, tables):
    path = tmp_path / "b.parquet"
    path.write_bytes(tables[1].read_bytes()[:-20])
    with pytest.raises(CannotOpen, match=r"b\.parquet"):
        opened(path)


def test_a_run_that_failed_is_a_cell_that_says_why(tables, tmp_path):
    def fail(rows):
        rows[1][3:] = ["", "", "it cannot"]

    study = read_table(altered(tables[2], tmp_path, fail)).of(Scene.from_dict(BALL), Settings()).study(
        ["restitution"], MEASURES[0], {})
    assert math.isnan(study.points[0].value) and study.points[0].reason == "it cannot"


def lab_with(scene):
    lab = Lab(fakes.Engine(fakes.snapshot(settings=m.Settings(friction=0.7))), UiState(), fakes.Host())
    lab.making.opened(scene)
    lab.update()
    return lab


def shown(lab, path):
    run(lab, "open_path", path)
    while lab.opening:
        lab.update()
    return lab.ui.state_of(sweep_map.MapUi)


def test_a_csv_table_is_of_the_scene_that_is_open_if_that_has_what_was_varied(tables):
    lab = lab_with(Scene.from_dict(BALL))
    mine = shown(lab, tables[2])
    assert lab.ui.sweep_map and mine.table.scene is lab.making.scene and mine.table.settings.friction == 0.7
    other = lab_with(Scene.from_dict(BALL | {"body": BALL["body"][:1]}))
    mine = shown(other, tables[2])
    assert not other.ui.sweep_map and mine.table is None
    assert "body.ball.position.2" in other.ui.message and "Open that scene first" in other.ui.message


def test_the_box_shows_the_table_and_a_click_opens_the_run(tables, monkeypatch):
    lab = lab_with(Scene.from_dict({**BALL, "body": BALL["body"][:1]}))
    mine = shown(lab, tables[1])
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, lab.snapshot, lab.send), lab.ui)
    assert mine.axes_of_table == ["restitution", "body.ball.position.2"]
    assert {"##table_axis_0", "##table_axis_1", "##table_measure", "##table_method"} <= probe.drawn()
    probe.click("##table_method")
    probe.click("compliant##table_method_compliant")
    probe.click("cells", 0.9)  # the last column; at the middle of its height the upper row begins
    (request,) = probe.ui.requests
    _, values = request.argument
    assert request.command == "open_run" and values[0] == 0.9 and values[1] in (0.3, 0.4)
    run(lab, request.command, request.argument)
    (command,) = [sent for sent in lab.engine.sent if isinstance(sent, m.Open)]
    assert dict(command.settings)["method"] == "compliant" and dict(command.settings)["friction"] == 0.25
    assert dict(command.settings)["restitution"] == 0.9 and command.scene.tables.body[1].position[2] == values[1]
    lab.ui.sweep_map = True
    probe.click("Runs of my own##map")
    assert mine.table is None and "Make 121 runs##map" in probe.drawn()
    probe.gui.release()


def test_the_command_line_says_what_such_a_file_is(tables, capsys):
    code, _, said = call(capsys, "run", tables[2], "--until", "1")
    assert code == 2 and "the table of a sweep" in said


def test_a_table_of_ten_thousand_cells_is_drawn_at_once(tables, monkeypatch):
    """As one picture, made once."""
    table = read_table(tables[1])
    many = tuple(k / 100 for k in range(100))
    big = replace_table(table, many)
    lab = lab_with(table.scene)
    mine = lab.ui.state_of(sweep_map.MapUi)
    mine.show(big)
    lab.ui.sweep_map = True
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, lab.snapshot, lab.send), lab.ui)
    made = probe.ui.pictures["sweep_map"]
    probe.frame(3)
    assert probe.ui.pictures["sweep_map"] is made and len(mine.study.points) == 10_000
    probe.gui.release()


def replace_table(table, many):
    columns = {"impacts": [float(k) for k in range(len(many) ** 2)], "reason": [""] * len(many) ** 2}
    return table._replace(vary=(("restitution", many), ("friction", many)), measures=("impacts",), columns=columns,
                          settings=replace(table.settings))
