"""Numbers of shapes on sliders in the editor: how many sides a prism has, and how round edges are."""

import math

import numpy as np
import pytest
from desk import Desk, checked
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels.bench import draw_inspector
from contactlab.app.panels.fields import slides
from contactlab.physics.scene.checks import MOST_ROUND
from contactlab.physics.scene.fields import fields

SHAPES = {
    "prism": ('{type = "prism", sides = 6, radius = 0.2, height = 1.0}', 0.2 * math.cos(math.pi / 6)),
    "box": ('{type = "box", size = [0.4, 0.2, 0.6], rounding = 0.05}', 0.1),
    "hull": ('{type = "hull", points = [[0, 0, 0], [0.4, 0, 0], [0, 0.2, 0], [0, 0, 0.3]], rounding = 0.05}', None),
}
ROUNDING, SIDES = "##body[0].shape[0].rounding", "##body[0].shape[0].sides"
GRAB = 20.0  # half the width of what is drawn along a slider, and a little [pixels]


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """The inspector of a body of one shape."""
    opened = []

    def inspector(shape):
        desk = Desk(tmp_path, f'[[body]]\nname = "it"\nshape = [{shape}]\n')
        desk.ui.workbench.choose(("body", 0))
        opened.append((desk, Probe(monkeypatch, lambda ui: draw_inspector(ui, (0, 0, 420, 780)), desk.ui)))
        return opened[-1]

    yield inspector
    for desk, probe in opened:
        desk.lab.close()
        probe.gui.release()


def drawn_to(desk, probe, label, share):
    """The first shape once a slider was drawn so far, and the share that the grab may be off."""
    lo, hi = probe.rects[label]
    probe.move(label, 0.5)
    probe.gui.io.add_mouse_button_event(0, True)
    probe.frame(2)
    probe.move(label, share)
    probe.gui.io.add_mouse_button_event(0, False)
    probe.frame(2)
    bench = checked(desk.bench)
    assert not bench.problems
    return bench.built.scene.tables.body[0].shape[0], GRAB / (hi.x - lo.x)


def test_a_prism_is_the_only_shape_with_a_count_on_a_slider():
    assert [entry.name for entry in fields("prism") if slides(entry)] == ["sides"]


def test_the_sides_of_a_prism_are_a_slider_from_3_to_64(editor):
    """In powers of ten: half way are √(3·64) = 14 sides."""
    desk, probe = editor(SHAPES["prism"][0])
    half, off = drawn_to(desk, probe, SIDES, 0.55)
    assert math.log(half.sides / 3) / math.log(64 / 3) == pytest.approx(0.55, abs=off + 0.02)
    assert desk.bench.undoes == "Set sides of it"
    for share, sides in ((0.0, 3), (1.0, 64)):
        assert drawn_to(desk, probe, SIDES, share)[0].sides == sides
    assert desk.bench.document.get(("body", 0, "shape", 0, "sides")) == 64


@pytest.mark.parametrize("kind", ["prism", "box"])
def test_edges_are_rounded_until_hardly_anything_is_flat(editor, kind):
    """Every place of the slider is a shape that the checks take; at its end it is as round as they allow."""
    text, most = SHAPES[kind]
    desk, probe = editor(text)
    shape, off = drawn_to(desk, probe, ROUNDING, 0.7)
    assert shape.rounding == pytest.approx(0.7 * most, abs=off * most)
    assert drawn_to(desk, probe, ROUNDING, 1.0)[0].rounding == pytest.approx(MOST_ROUND * most, rel=1e-3)
    assert drawn_to(desk, probe, ROUNDING, 0.0)[0].rounding == 0.0


def test_a_hull_grows_by_its_rounding_until_it_is_twice_as_long(editor):
    """Its longest side is 0.4 without; the end of the slider does not move as it grows."""
    desk, probe = editor(SHAPES["hull"][0])
    for _ in range(2):
        assert drawn_to(desk, probe, ROUNDING, 1.0)[0].rounding == pytest.approx(0.2, rel=1e-3)
        box = np.diff(desk.bench.built.boxes[0], axis=0)[0]
        assert box.max() == pytest.approx(0.8, rel=1e-3)
        drawn_to(desk, probe, ROUNDING, 0.3)


def test_the_rounding_of_what_is_no_shape_yet_is_typed(editor):
    desk, probe = editor(SHAPES["box"][0])
    desk.ui.edit("Break it", lambda d: d.put(("body", 0, "shape", 0, "size"), [0.4, "a", 0.6]))
    probe.frame(2)
    probe.click(ROUNDING)
    probe.type("0.07")
    probe.key(imgui.Key.enter)
    assert desk.bench.document.get(("body", 0, "shape", 0, "rounding")) == 0.07 and checked(desk.bench).problems
