"""Figures without a window: what a picture shows is what the numbers say."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from command_line import call
from PIL import Image

from contactlab.app.figure import COLORS, PIXELS, SUFFIXES, WIDTH, Figure, Line, drawing, encode

T = np.linspace(0.0, 2.0, 481)
SVG = "{http://www.w3.org/2000/svg}"

def line(title, unit, values, t=T):
    return Line(title, unit, np.column_stack([t, values]))


def words(figure):
    return [text.text for text in ET.fromstring(encode(figure, ".svg")).iter(SVG + "text")]


def test_a_drawing_has_the_values_of_its_curves_and_their_gaps():
    values = np.where((T > 0.5) & (T < 0.7), np.nan, T**2)
    (plot,) = drawing(Figure("A wave", (line("Wave [m]", "m", values),), events=((0.25, "impact"), (9.0, "slip")))).axes
    (curve,) = plot.lines
    assert np.array_equal(curve.get_xydata(), np.column_stack([T, values]), equal_nan=True)
    (marks,) = plot.collections
    assert [piece[0, 0] for piece in marks.get_segments()] == [0.25]  # an event outside of the time shown has none


def test_a_phase_plane_is_drawn_over_the_other_quantity():
    x, v = line("x [m]", "m", np.cos(T)), line("v [m/s]", "m/s", -np.sin(T))
    (plot,) = drawing(Figure("Circle", (v,), across=x, events=((0.5, "impact"),))).axes
    assert np.array_equal(plot.lines[0].get_xydata(), np.column_stack([np.cos(T), -np.sin(T)]))
    assert not plot.collections and plot.get_xlabel() == "x [m]"


def test_every_unit_has_a_plot_of_its_own_and_words_are_escaped():
    figure = Figure("a < b & c", (line("x", "m", T), line("E", "J", T), line("y", "m", -T)))
    lengths, energies = drawing(figure).axes
    assert [[curve.get_label() for curve in plot.lines] for plot in (lengths, energies)] == [["x", "y"], ["E"]]
    assert [curve.get_color() for curve in (*lengths.lines, *energies.lines)] == [COLORS[0], COLORS[2], COLORS[1]]
    assert {"a < b & c", "x", "E", "[J]", "t [s]"} <= set(words(figure))


@pytest.mark.parametrize("values", [np.full(481, np.nan), np.full(481, 1e300), np.zeros(481)])
def test_a_picture_can_be_made_of_anything(values):
    assert encode(Figure("", (line("v", "", values),)), ".png").startswith(b"\x89PNG")
    assert encode(Figure("", (Line("v", "", np.zeros((0, 2))),)), ".svg").startswith(b"<?xml")


def test_the_same_curves_make_the_same_file():
    figure = Figure("Line", (line("x [m]", "m", T),))
    assert encode(figure, ".svg") == encode(figure, ".svg") and encode(figure, ".png") == encode(figure, ".png")


def test_tables_have_the_very_numbers():
    figure = Figure("", (line("a", "m", T**2), line("b", "m", T[:5], T[:5])), across=line("c", "", -T))
    rows = list(csv.reader(io.StringIO(encode(figure, ".csv").decode())))
    saved = np.load(io.BytesIO(encode(figure, ".npz")))
    assert rows[0] == saved["headings"].tolist() == ["t [s]", "a", "b", "c"]
    table = np.array([[float(v or "nan") for v in row] for row in rows[1:]])
    assert np.array_equal(table, saved["table"], equal_nan=True)
    assert np.array_equal(table[:, [0, 1, 3]], np.column_stack([T, T**2, -T])) and np.isnan(table[5:, 2]).all()


def test_a_png_shows_its_curve_in_its_colour():
    image = np.asarray(Image.open(io.BytesIO(encode(Figure("", (line("x [m]", "m", T),)), ".png"))).convert("RGB"), int)
    assert image.shape[1] == round(WIDTH * PIXELS)
    blue = np.array([int(COLORS[0][k : k + 2], 16) for k in (1, 3, 5)])
    rows, columns = np.nonzero(np.abs(image - blue).max(axis=2) < 40)
    inside = rows > 0.2 * len(image)  # below the legend
    slope, at = np.polyfit(columns[inside], rows[inside], 1)
    assert slope < 0.0 and np.abs(rows[inside] - at - slope * columns[inside]).max() < 4.0  # straight, and up


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_run_plots_what_run_writes(scene, tmp_path, suffix, capsys):
    """The same numbers as those of the trajectory, to the last bit; drawings have the values of tables."""
    path, out = tmp_path / "path.npz", tmp_path / f"plot{suffix}"
    assert not call(capsys, "run", scene, "--until", "0.5", "--out", path)[0]
    assert not call(capsys, "run", scene, "--until", "0.5", "--out", out, "--plot", "height:ball", "--plot", "v_x:ball",
                    "--plot", "kinetic")[0]
    saved = np.load(path)
    height, v_x = saved["x"][:, 0, 2], saved["v"][:, 0, 0]
    if suffix in (".svg", ".png"):
        assert out.stat().st_size > 1000
    else:
        table = np.load(out)["table"] if suffix == ".npz" else np.genfromtxt(out, delimiter=",", skip_header=1)
        assert np.array_equal(table, np.column_stack([saved["t"], height, v_x, saved["energy"][:, 0]]))


@pytest.mark.parametrize(("plot", "words"), [
    ("mass:ball", "a quantity must be one of"), ("height", "needs a body"), ("energy:ball", "is of the whole"),
    ("height:cube", "there is no body 'cube'")])
def test_a_plot_of_nothing_is_refused_before_the_run(scene, tmp_path, plot, words, capsys):
    status, _, said = call(capsys, "run", scene, "--until", "1", "--out", tmp_path / "x.svg", "--plot", plot)
    assert status == 2 and words in said and not (tmp_path / "x.svg").exists()
