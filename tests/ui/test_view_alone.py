"""Frames in which only the view is new."""

import threading
import time
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
from scenes_to_draw import body, snapshot

from contactlab.app.panels.view import strayed
from contactlab.app.record.studio import Studio
from contactlab.app.window.frame_rate import FrameRate
from contactlab.app.window.view_alone import PANELS, PanelTimes
from contactlab.app.window.waiting import alive_until
from contactlab.physics.run import warm_up

SIZE = (900, 600)
FLOOR = body("plane", fixed=True)


def moved(by):
    box = body("box", (by, 0.0, 0.5), size=[1.0, 1.0, 1.0])
    return snapshot(FLOOR, box, body("sphere", (-1.0, by, 0.5), radius=0.4))


def frame(studio, shown):
    """A whole frame (height, width, 3)."""
    studio.begin(0.0)
    studio.show([shown], [studio.whole])
    return studio.end()


def test_the_view_alone_is_what_a_whole_frame_shows_and_all_else_stays():
    """The legend lies below the picture, and a box of imgui's over it: both are there once, not blended twice."""
    first = moved(0.0)
    second = replace(moved(0.7), model=first.model)  # another instant of one scene
    with Studio(SIZE, panels=True) as studio:
        studio.ui.say("a notice", 60.0)
        frame(studio, first)
        studio.camera.target, studio.camera.distance = np.array([0.0, 0.0, 0.3]), 6.0
        before, stage = frame(studio, first), studio.stages[0]
        stage.render_again(second, studio.camera, studio.ui, studio.offscreen.fbo, SIZE[1])
        rects = stage.rects(second)
        studio.gui.draw_again(studio.offscreen.fbo, rects)
        alone = studio.offscreen.read()
        whole = frame(studio, second)
    ((x, y, wide, high),) = rects
    view = np.zeros(SIZE[::-1], bool)
    view[SIZE[1] - y - high:SIZE[1] - y, x:x + wide] = True
    assert 0.2 < view.mean() < 0.8
    assert np.array_equal(alone[~view], before[~view])
    assert np.array_equal(alone[view], whole[view])
    assert (before[view] != alone[view]).any(axis=1).sum() > 1000


def test_of_two_frames_one_may_leave_the_panels_and_none_for_longer_than_they_may_wait():
    times, shown = PanelTimes(), moved(0.0)
    assert not times.can_wait(0.0, shown)  # they were never drawn
    times.drawn(1.0, shown)
    assert times.can_wait(1.0 + 3.0 * PANELS, shown)  # where frames are long every second one has them
    times.left()
    assert times.can_wait(1.0 + 0.9 * PANELS, shown) and not times.can_wait(1.0 + 1.1 * PANELS, shown)
    for other in (replace(shown, generation=shown.generation + 1), replace(shown, paused=not shown.paused), None):
        assert not times.can_wait(1.0, other)


def test_labels_that_lag_behind_their_bodies_ask_for_the_panels_and_new_ones_wait():
    written = np.array([[100.0, 100.0], [300.0, 50.0]])
    assert not strayed(written, written + 1.0)
    assert strayed(written, written + np.array([3.0, 0.0]))
    assert not strayed(written, np.array([[100.0, 100.0], [500.0, 400.0]]))  # one has gone, another one come
    assert not strayed(written, np.zeros((0, 2))) and not strayed(np.zeros((0, 2)), written)


def test_frames_are_counted_while_anything_happens():
    rate = FrameRate(0.0)
    assert [rate.note(k / 50, True) for k in range(1, 101)][-1] == 50.0
    assert rate.note(2.1, False) == 0.0


def test_while_the_engine_is_made_the_window_lives_and_says_so():
    work, looks, shows = Future(), [], []
    threading.Timer(0.8, work.set_result, ("made",)).start()
    assert alive_until(work, lambda: False, lambda: looks.append(1), lambda: shows.append(1))
    assert len(looks) > len(shows) > 0
    assert not alive_until(Future(), lambda: len(looks) > 12, lambda: looks.append(1), lambda: None)
    quick = Future()
    quick.set_result("made")
    assert alive_until(quick, lambda: False, lambda: None, lambda: shows.append("shown")) and "shown" not in shows


def test_how_much_is_compiled_is_told_at_once_however_long_it_takes_to_look(monkeypatch):
    looks, end = [], threading.Event()

    def slow():
        looks.append(threading.current_thread())
        end.wait(10.0)
        return 0.25

    monkeypatch.setattr(warm_up, "compiled_share", slow)
    lately = warm_up._ShareLately()
    assert [lately() for _ in range(100)] == [0.0] * 100  # none of them waits
    end.set()
    until = time.monotonic() + 10.0
    while lately() != 0.25 and time.monotonic() < until:
        time.sleep(0.01)
    assert lately() == 0.25 and len(looks) == 1 and looks[0] is not threading.current_thread()
