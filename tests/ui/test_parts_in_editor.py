"""The threshold of convex parts in the editor: a slider whose answer is found in the background, told, and given up."""

import threading
import time

import numpy as np
import pytest
import trimesh
from desk import Desk, checked
from probe import Probe

from contactlab.app import workbench
from contactlab.app.panels.bench import draw_inspector
from contactlab.app.panels.fields import slides
from contactlab.physics.core.interruption import Interrupted
from contactlab.physics.core.progress import at
from contactlab.physics.scene import kept_meshes
from contactlab.physics.scene.fields import fields

SCENE = """\
[[body]]
name = "corner"
shape = [{type = "mesh", file = "corner.off", collide = "parts", threshold = 0.2}]
"""
HALVES = [trimesh.creation.box(bounds=b).vertices for b in ([[0, 0, 0], [2, 1, 1]], [[0, 1, 0], [1, 2, 1]])]
LABEL = "##body[0].shape[0].threshold"


@pytest.fixture
def found(monkeypatch):
    """Thresholds that were asked for; two boxes are the parts of every one, and from 0.5 on one box is."""
    asked, go_on = [], threading.Event()
    go_on.set()

    def parts(surface, threshold, name):
        asked.append(threshold)
        while not go_on.wait(0.002):
            at("corner.off is hollow: it is taken apart into convex parts", 0.25)
        return HALVES if threshold < 0.5 else [np.array(surface.vertices)]

    monkeypatch.setattr(kept_meshes, "convex_parts", parts)
    return asked, go_on


@pytest.fixture
def desk(tmp_path, found):
    corner = trimesh.boolean.union([trimesh.creation.box(bounds=[[0, 0, 0], [2, 1, 1]]),
                                    trimesh.creation.box(bounds=[[0, 0, 0], [1, 2, 1]])], engine="manifold")
    corner.export(tmp_path / "corner.off")
    made = Desk(tmp_path, SCENE)
    made.ui.workbench.choose(("body", 0))
    yield made
    made.lab.close()


@pytest.fixture
def probe(monkeypatch, desk):
    made = Probe(monkeypatch, lambda ui: draw_inspector(ui, (0, 0, 420, 780)), desk.ui)
    yield made
    made.gui.release()


def test_only_numbers_of_a_small_range_have_sliders():
    assert [entry.name for entry in fields("mesh") if slides(entry)] == ["threshold"]
    assert not any(slides(entry) for entry in fields("material"))


def test_the_threshold_is_a_slider_that_is_taken_when_it_is_let_go(desk, probe, found):
    """In powers of ten from 0.01 to 1: three quarters of the way are 10^(-2 + 1.5) = 0.316, to the grab's half width.
    Nothing is taken apart while the mouse is down. How many parts there are and how much they hold is told."""
    lo, hi = probe.rects[LABEL]
    asked, _ = found
    before = len(asked)
    probe.move(LABEL, 0.2)
    probe.gui.io.add_mouse_button_event(0, True)
    probe.frame(2)
    for share in (0.4, 0.6, 0.75):
        probe.move(LABEL, share)
        checked(desk.bench)
    assert len(asked) == before and len(desk.bench.versions) == 1
    probe.gui.io.add_mouse_button_event(0, False)
    probe.frame(2)
    threshold = checked(desk.bench).built.scene.tables.body[0].shape[0].threshold
    grab = 20.0 / (hi.x - lo.x)
    assert 10 ** (-2 + 2 * (0.75 - grab)) < threshold < 10 ** (-2 + 2 * (0.75 + grab))
    assert asked[-1] == threshold and desk.bench.undoes == "Set threshold of corner"
    (note,) = (note for note in desk.bench.built.notes if "convex parts" in note)
    assert note == "corner.off collides as 2 convex parts, which together hold 0.0 % more than it."


def test_what_takes_long_shows_how_far_it_is_and_the_edit_can_be_taken_back(desk, probe, found, monkeypatch):
    """The version that is no longer wanted ends where it next looks up, and the one before stands again."""
    monkeypatch.setattr(workbench, "SHOWN_AFTER", 0.0)
    _, go_on = found
    go_on.clear()
    built, ended = workbench.built, []

    def watched(*args):
        try:
            return built(*args)
        except Interrupted:
            ended.append(args[0])
            raise

    monkeypatch.setattr(workbench, "built", watched)
    desk.ui.edit("Set threshold", lambda d: d.put(("body", 0, "shape", 0, "threshold"), 0.9))
    slow = desk.bench.text
    while desk.bench.checking is None or desk.bench.checking[1] == 0.0:
        desk.bench.check()
        time.sleep(0.001)
    assert desk.bench.checking[1] == 0.25
    probe.frame()
    probe.click("Take the edit back##checking")
    desk.serve()
    while not ended:
        desk.bench.check()
        time.sleep(0.001)
    assert ended == [slow] and checked(desk.bench).undoes == ""
    assert desk.bench.built.scene.tables.body[0].shape[0].threshold == 0.2
    assert desk.bench.checking is None and not desk.bench.problems
    go_on.set()
    desk.run("redo")
    assert checked(desk.bench).built.scene.tables.body[0].shape[0].threshold == 0.9


def test_parts_can_be_shown_in_colours_beside_the_slider(desk, probe):
    probe.click("Show it as it collides, each part in a colour")
    assert desk.ui.view.as_collided
