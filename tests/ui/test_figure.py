"""Figures without a window: what a picture shows is what the numbers say."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from contactlab.app.cli import main
from contactlab.app.figure import COLORS, LEFT, RIGHT, SUFFIXES, WIDTH, Figure, Line, Scale, encode
from contactlab.app.stopping import Stopped

T = np.linspace(0.0, 2.0, 481)
SVG = "{http://www.w3.org/2000/svg}"
DIGIT = 5e-4  # half of the last digit of a coordinate
BALL = """
[solver]
h = 0.005
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "ball"
position = [0, 0, 0.5]
velocity = [1, 0, 0]
[[body.shape]]
type = "sphere"
radius = 0.1
"""


def line(title, unit, values, t=T):
    return Line(title, unit, np.column_stack([t, values]))


def drawn(data):
    """The curves of an SVG by their titles: points (k, 2) of each stroke."""
    found = {}
    for stroke in ET.fromstring(data).iter(SVG + "polyline"):
        title = stroke.find(SVG + "title")
        if title is not None:
            points = np.array([pair.split(",") for pair in stroke.get("points").split()], float)
            found.setdefault(title.text, []).append(points)
    return found


def axis(data, horizontal):
    """Value and slope of an axis, from the numbers beside its ticks: value = a + b · place; and what the rounding of
    their places leaves open."""
    ticks = []
    for text in ET.fromstring(data).iter(SVG + "text"):
        number = re.fullmatch(r"-?[\d.]+(e[-+]\d+)?", text.text or "") and text.get("transform") is None
        if number and (text.get("text-anchor") == "middle") == horizontal:
            ticks.append((float(text.get("x" if horizontal else "y")), float(text.text)))
    places, values = np.array(ticks).T
    slope, at = np.polyfit(places, values, 1)
    offset = 0.0 if horizontal else 0.35 * 14.0  # the middle of a number is above its base line
    return at + slope * offset, slope, 3.0 * abs(slope) * DIGIT


def test_the_drawing_of_a_curve_has_its_values():
    wave = 3.0 + np.sin(5.0 * T)
    data = encode(Figure("A wave", (line("Wave [m]", "m", wave),)), ".svg")
    (points,) = drawn(data)["Wave [m]"]
    for horizontal, expected in ((True, T), (False, wave)):
        at, slope, open_ = axis(data, horizontal)
        np.testing.assert_allclose(at + slope * points[:, 0 if horizontal else 1], expected, atol=2.0 * open_)


def test_a_gap_is_a_gap_and_events_are_marked():
    values = np.where((T > 0.5) & (T < 0.7), np.nan, T)
    data = encode(Figure("", (line("v", "m/s", values),), events=((0.25, "impact"), (9.0, "slip"))), ".svg")
    pieces = drawn(data)
    assert [len(p) for p in pieces["v"]] == [(T <= 0.5).sum(), (T >= 0.7).sum()] and len(pieces["event"]) == 1
    place = LEFT + 0.25 / 2.0 * (WIDTH - LEFT - RIGHT)
    assert pieces["event"][0][:, 0] == pytest.approx(place, abs=DIGIT)


def test_a_phase_plane_is_drawn_over_the_other_quantity():
    x, v = line("x [m]", "m", np.cos(T)), line("v [m/s]", "m/s", -np.sin(T))
    data = encode(Figure("Circle", (v,), across=x, events=((0.5, "impact"),)), ".svg")
    (points,) = drawn(data)["v [m/s]"]
    assert "event" not in drawn(data)
    (a, b, _), (c, d, _) = axis(data, True), axis(data, False)
    radius = np.hypot(a + b * points[:, 0], c + d * points[:, 1])
    np.testing.assert_allclose(radius, 1.0, atol=1e-4)


def test_every_unit_has_a_plot_of_its_own_and_words_are_escaped():
    data = encode(Figure("a < b & c", (line("x", "m", T), line("E", "J", T), line("y", "m", -T))), ".svg")
    assert "a < b & c" in [text.text for text in ET.fromstring(data).iter(SVG + "text")]
    strokes = {stroke.get("stroke") for stroke in ET.fromstring(data).iter(SVG + "polyline")}
    assert set(COLORS[:3]) <= strokes
    (x,), (e,) = drawn(data)["x"], drawn(data)["E"]
    assert x[:, 1].max() < e[:, 1].min()  # one below the other


def test_tables_have_the_very_numbers():
    figure = Figure("", (line("a", "m", T**2), line("b", "m", T[:5], T[:5])), across=line("c", "", -T))
    rows = list(csv.reader(io.StringIO(encode(figure, ".csv").decode())))
    saved = np.load(io.BytesIO(encode(figure, ".npz")))
    assert rows[0] == saved["headings"].tolist() == ["t [s]", "a", "b", "c"]
    table = np.array([[float(v or "nan") for v in row] for row in rows[1:]])
    assert np.array_equal(table, saved["table"], equal_nan=True)
    assert np.array_equal(table[:, [0, 1, 3]], np.column_stack([T, T**2, -T])) and np.isnan(table[5:, 2]).all()


def test_a_png_shows_its_curve_in_its_colour():
    figure = Figure("Line", (line("x [m]", "m", T),))
    image = np.asarray(Image.open(io.BytesIO(encode(figure, ".png"))), int)
    tall = float(re.search(rb'height="(\d+)', encode(figure, ".svg")).group(1))
    assert image.shape == (round(2 * tall), round(2 * WIDTH), 3)
    blue = np.array([int(COLORS[0][k : k + 2], 16) for k in (1, 3, 5)])
    rows, columns = np.nonzero(np.abs(image - blue).max(axis=2) < 40)
    (points,) = drawn(encode(figure, ".svg"))["x [m]"]
    inside = rows > 2 * points[:, 1].min() - 4
    np.testing.assert_allclose(rows[inside], np.interp(columns[inside], 2 * points[:, 0], 2 * points[:, 1]), atol=3.0)
    assert np.ptp(columns[inside]) == pytest.approx(2 * (WIDTH - LEFT - RIGHT), abs=4)


@pytest.mark.parametrize("values", [np.zeros(0), np.full(3, np.nan), np.full(3, 1e300), np.zeros(3),
                                    [1.0, 1.0 + 1e-15]])
def test_a_scale_has_room_for_anything(values):
    scale = Scale(np.asarray(values, float), 0.0, 100.0, 0.05)
    ticks, words = scale.ticks
    assert scale.high > scale.low and all(scale.low <= t <= scale.high for t in ticks) and len(words) == len(ticks) > 0


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3e-7, 2e-7), (9999.0, 10001.0), (-1e12, 4e12)])
def test_ticks_are_round_and_are_what_they_say(low, high):
    ticks, words = Scale(np.array([low, high]), 0.0, 100.0, 0.0).ticks
    assert 3 <= len(ticks) <= 13
    step = ticks[1] - ticks[0]
    assert [float(w) for w in words] == pytest.approx(ticks, abs=1e-6 * step)


def run(*arguments):
    with pytest.raises((SystemExit, Stopped)) as ended:
        main([*map(str, arguments)])
    return ended.value.code


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_run_plots_what_run_writes(tmp_path, suffix, capsys):
    """The same numbers as those of the trajectory: in tables to the last bit, in a drawing to the rounding of its
    coordinates."""
    scene = tmp_path / "ball.toml"
    scene.write_text(BALL)
    path, out = tmp_path / "path.npz", tmp_path / f"plot{suffix}"
    assert not run("run", scene, "--until", "0.5", "--out", path)
    assert not run("run", scene, "--until", "0.5", "--out", out, "--plot", "height:ball", "--plot", "v_x:ball",
                   "--plot", "kinetic")
    saved = np.load(path)
    height, v_x = saved["x"][:, 1, 2], saved["v"][:, 1, 0]
    if suffix == ".svg":
        (points,) = drawn(out.read_bytes())["Height z of ball [m]"]
        extent = np.ptp(points[:, 1])
        shown = height.min() + (points[:, 1].max() - points[:, 1]) / extent * np.ptp(height)
        np.testing.assert_allclose(shown, height, atol=4.0 * DIGIT / extent * np.ptp(height))
    elif suffix == ".png":
        assert Image.open(out).width == 2 * WIDTH
    else:
        table = np.load(out)["table"] if suffix == ".npz" else np.genfromtxt(out, delimiter=",", skip_header=1)
        assert np.array_equal(table, np.column_stack([saved["t"], height, v_x, saved["energy"][:, 0]]))


@pytest.mark.parametrize(("plot", "words"), [
    ("mass:ball", "a quantity must be one of"), ("height", "needs a body"), ("energy:ball", "is of the whole"),
    ("height:cube", "there is no body 'cube'")])
def test_a_plot_of_nothing_is_refused_before_the_run(tmp_path, plot, words, capsys):
    scene = tmp_path / "ball.toml"
    scene.write_text(BALL)
    assert run("run", scene, "--until", "1", "--out", tmp_path / "x.svg", "--plot", plot) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "x.svg").exists()
