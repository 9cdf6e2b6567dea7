"""The app without its window: what mouse and commands send, opening files, the log."""

import io
import json
from types import SimpleNamespace

import fakes
import numpy as np
import pytest

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.record.recorder import Cadence, Take
from contactlab.app.ui_state import SceneEntry, UiState
from contactlab.app.window.mouse import Mouse
from contactlab.physics.run import messages as m
from contactlab.physics.scene.schema import CameraTable

SIZE = (800.0, 600.0)


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def lab(log, tmp_path):
    made = Lab(fakes.Engine(fakes.snapshot(paused=False)), UiState(view_rect=(0, 0, *SIZE)), fakes.Host(), log)
    made.ui.preferences.record_folder = str(tmp_path / "documents")
    made.update()
    yield made
    made.close()


def mouse_over(lab, body):
    """A mouse whose rays all hit `body` (None: nothing) at the camera's target."""
    hit = None if body is None else SimpleNamespace(body=body, point=tuple(lab.camera.target))
    mouse = Mouse(lab, lambda origin, direction, without: hit)
    mouse.size = SIZE
    return mouse


def logged(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


# ----------------------------------------------------------------------------------------------------- mouse


def test_left_drag_on_a_body_pulls_it_in_the_plane_of_the_picture(lab):
    mouse = mouse_over(lab, 1)
    start = lab.camera.target.copy()
    mouse.press(400, 300, "left", frozenset())
    mouse.drag(500, 250, 100, -50)
    mouse.release()
    grab, move, release = lab.engine.sent
    assert grab == m.Grab(1, tuple(start), tuple(start), False) and release == m.Release()
    shift = np.array(move.target) - start
    assert shift @ lab.camera.backward == pytest.approx(0.0, abs=1e-9)
    # the pulled point stays under the cursor
    (seen,), _ = lab.camera.project(np.array([move.target]), *SIZE)
    assert seen == pytest.approx([500, 250])


def test_ctrl_left_turns_a_body(lab):
    mouse = mouse_over(lab, 2)
    mouse.press(400, 300, "left", frozenset({"Ctrl"}))
    assert lab.engine.sent[0].turn is True and "Turning" in lab.ui.dragging


def paused(lab):
    lab.engine.latest = fakes.snapshot(paused=True)
    lab.update()


def test_while_paused_a_drag_places_the_body_under_the_cursor(lab):
    paused(lab)
    mouse = mouse_over(lab, 1)
    start = lab.camera.target.copy()
    mouse.hover(400, 300)
    assert lab.ui.under_cursor == "paused"
    mouse.press(400, 300, "left", frozenset())
    assert "time stands" in lab.ui.dragging
    mouse.drag(500, 250, 100, -50)
    mouse.release()
    place, released = lab.engine.sent
    assert released == m.Release() and place.body == 1 and place.q == tuple(lab.snapshot.q[1])
    (seen,), _ = lab.camera.project(start + np.array(place.x) - lab.snapshot.x[1], *SIZE)
    assert seen == pytest.approx([500, 250])


def test_while_paused_ctrl_turns_in_place_and_shift_pulls(lab):
    paused(lab)
    mouse = mouse_over(lab, 1)
    mouse.press(400, 300, "left", frozenset({"Ctrl"}))
    mouse.drag(700, 300, 300, 0)  # half the height of the picture: a quarter turn about what is up in it
    mouse.release()
    place = lab.engine.sent[0]
    assert place.x == tuple(lab.snapshot.x[1])
    assert place.q == pytest.approx((np.sqrt(0.5), *(np.sqrt(0.5) * lab.camera.axes[1])))
    lab.engine.sent.clear()
    mouse.press(400, 300, "left", frozenset({"Shift"}))
    mouse.release()
    assert isinstance(lab.engine.sent[0], m.Grab)


def test_escape_takes_a_notice_away_and_does_what_else_it_does(lab):
    lab.ui.say("A long story about this scene.", 8.0)
    lab.ui.view.selected = 1
    commands.run(lab, "deselect")
    assert lab.ui.notice is None and lab.ui.view.selected == -1


def test_orbiting_leaves_the_selected_body_where_it_is_seen(lab):
    lab.ui.view.selected = 2
    place = lab.snapshot.x[2][None]
    before, _ = lab.camera.project(place, *SIZE)
    mouse = mouse_over(lab, None)
    mouse.press(400, 300, "left", frozenset())
    mouse.drag(460, 330, 60, 30)
    commands.run(lab, "view_right")
    after, _ = lab.camera.project(place, *SIZE)
    assert after == pytest.approx(before) and lab.camera.azimuth == 0.0


def test_what_moves_is_kept_in_view_as_the_scene_says_until_the_user_moves_the_camera(lab):
    lab.engine.latest = fakes.snapshot(generation=5, camera=CameraTable(follow=True, target=(50.0, 0.0, 0.0)))
    lab.update()
    assert lab.ui.view.keep_in_view
    lab.move_camera(0.02)
    seen, depth = lab.camera.project(lab.snapshot.x[1:], *SIZE)
    assert (depth > 0.0).all() and (seen > 0.0).all() and (seen < SIZE).all()
    mouse = mouse_over(lab, None)
    mouse.press(400, 300, "right", frozenset())
    mouse.drag(4000, 300, 3600, 0)
    assert not lab.ui.view.keep_in_view and "no longer" in lab.ui.notice.text
    away = lab.camera.target.copy()
    lab.move_camera(0.02)
    assert np.array_equal(lab.camera.target, away)


@pytest.mark.parametrize("body, modifiers", [(None, ()), (0, ()), (1, ("Shift",))])
def test_left_drag_elsewhere_and_with_shift_orbits(lab, body, modifiers):
    mouse = mouse_over(lab, body)
    before = lab.camera.azimuth
    mouse.press(400, 300, "left", frozenset(modifiers))
    mouse.drag(460, 300, 60, 0)
    mouse.release()
    assert lab.camera.azimuth != before and lab.engine.sent == []


def test_right_drag_pans_even_over_a_body(lab):
    mouse = mouse_over(lab, 1)
    target, azimuth = lab.camera.target.copy(), lab.camera.azimuth
    mouse.press(400, 300, "right", frozenset())
    mouse.drag(430, 300, 30, 0)
    assert not np.allclose(lab.camera.target, target) and lab.camera.azimuth == azimuth and lab.engine.sent == []


def test_the_wheel_zooms_to_the_cursor(lab):
    mouse = mouse_over(lab, None)
    origin, direction = lab.camera.ray(600, 200, *SIZE)
    seen_before = origin + direction * 3.0
    distance = lab.camera.distance
    mouse.pick = lambda *_: SimpleNamespace(body=0, point=tuple(seen_before))
    mouse.wheel(600, 200, 2.0)
    (place,), _ = lab.camera.project(seen_before[None], *SIZE)
    assert lab.camera.distance < distance and place == pytest.approx([600, 200])


def test_double_clicks_select_and_centre(lab):
    mouse = mouse_over(lab, 2)
    mouse.double_click(400, 300, "left")
    assert lab.ui.view.selected == 2
    mouse.pick = lambda *_: SimpleNamespace(body=0, point=(1.0, 2.0, 3.0))
    mouse.double_click(400, 300, "right")
    assert lab.camera.target == pytest.approx([1.0, 2.0, 3.0])
    mouse.pick = lambda *_: None
    mouse.double_click(400, 300, "left")
    assert lab.ui.view.selected == -1


def test_the_status_bar_learns_what_is_under_the_cursor(lab):
    for body, words in ((1, "body"), (0, "space"), (None, "space")):
        mouse_over(lab, body).hover(400, 300)
        assert lab.ui.under_cursor == words


# -------------------------------------------------------------------------------------------------- commands


@pytest.mark.parametrize("name, command", [
    ("step_forward", m.Step(1)), ("step_back", m.Step(-1)), ("next_event", m.StepToEvent(1)),
    ("previous_event", m.StepToEvent(-1)), ("reset", m.Reset()), ("play_pause", m.Pause()), ("slower", m.SetSpeed(0.5)),
])
def test_a_command_sends_its_message(lab, name, command):
    commands.run(lab, name)
    assert lab.engine.sent == [command]


def test_faster_stops_at_real_time_and_slower_at_a_hundredth(lab):
    commands.run(lab, "faster")
    assert lab.engine.sent == []
    lab.engine.latest = fakes.snapshot(speed=0.01)
    lab.update()
    commands.run(lab, "slower")
    assert lab.engine.sent == []
    commands.run(lab, "faster")
    assert lab.engine.sent == [m.SetSpeed(0.02)]


@pytest.mark.parametrize("name", ["open_file", "screenshot", "record", "fullscreen", "quit"])
def test_what_only_a_window_can_do_is_asked_of_it(lab, name):
    commands.run(lab, name)
    assert len(lab.host.asked) == 1 and lab.engine.sent == []


#: of files, of bodies, of work left behind
OF_SOMETHING = ("save_curves", "open_path", "reload", "copies", "save_to", "recover", "forget_work", "add_mesh_file",
                "open_mesh", "open_paths", "open_run", "save_drawing")


@pytest.mark.parametrize("name", [n for n in commands.COMMANDS if n not in OF_SOMETHING])
def test_every_command_runs(lab, log, name):
    commands.run(lab, name)
    assert logged(log)[-1]["kind"] in ("request", "command")


def test_escape_closes_what_is_open_then_deselects_and_never_quits(lab):
    lab.ui.help, lab.ui.view.selected = True, 1
    commands.run(lab, "deselect")
    assert not lab.ui.help and lab.ui.view.selected == 1
    commands.run(lab, "deselect")
    assert lab.ui.view.selected == -1 and lab.host.asked == []


def test_framing_shows_everything_that_moves(lab):
    commands.run(lab, "frame_all")
    while lab.move_camera(0.1):
        pass
    places, depths = lab.camera.project(lab.snapshot.x[1:], *SIZE)
    assert (depths > 0).all() and (places > 0).all() and (places < SIZE).all()


# ----------------------------------------------------------------------------------------------------- files


def test_a_bad_file_is_told_in_a_message_and_nothing_is_sent(lab, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[scene]\ntitle = 'x'\n[[body]]\nmass = -1\n")
    for path in (bad, tmp_path / "missing.stl", tmp_path):
        lab.ui.message = ""
        lab.open_path(path)
        fakes.settle(lab)
        assert path.name in lab.ui.message and lab.engine.sent == []


def test_a_good_scene_is_sent_ready_to_run_and_remembered(lab, tmp_path):
    good = tmp_path / "ball.toml"
    good.write_text('[scene]\ntitle = "Ball"\n[[body]]\nname = "b"\n[[body.shape]]\ntype = "sphere"\nradius = 0.1\n')
    lab.open_path(str(good))
    fakes.settle(lab)
    (command,) = lab.engine.sent
    assert isinstance(command, m.Open) and command.scene.title == "Ball" and lab.ui.message == ""
    assert lab.ui.preferences.recent == [str(good)]


def test_the_scene_shown_as_open_is_the_one_that_runs(lab, tmp_path):
    """The engine may refuse what was read: the scene before goes on, and is what Reload and the brackets mean."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    second.write_text('[scene]\ntitle = "Ball"\n[[body]]\nname = "b"\n[[body.shape]]\ntype = "sphere"\nradius = 0.1\n')
    lab.engine.latest = fakes.snapshot(generation=2, file=first)
    lab.update()
    lab.open_path(second)
    fakes.settle(lab)
    lab.engine.latest = fakes.snapshot(generation=2, file=first, notice="second could not be opened")
    lab.update()
    assert lab.ui.scene_path == first
    lab.engine.latest = fakes.snapshot(generation=3, file=second)
    lab.update()
    assert lab.ui.scene_path == second


def test_brackets_go_round_the_gallery(lab, monkeypatch):
    opened = []
    monkeypatch.setattr(lab, "open_path", opened.append)
    lab.ui.scenes = [SceneEntry(k, k, "", k) for k in "abc"]
    lab.ui.scene_path = "c"
    commands.run(lab, "next_scene")
    commands.run(lab, "previous_scene")
    lab.ui.scene_path = None
    commands.run(lab, "next_scene")
    assert opened == ["a", "b", "a"]


def test_the_log_tells_commands_and_state(lab, log):
    commands.run(lab, "reset")
    kinds = {line["kind"]: line for line in logged(log)}
    assert kinds["command"]["command"] == "Reset" and kinds["state"]["positions"]["ball 1"] == [0.0, 0.0, 0.1]


def test_a_new_scene_is_framed_and_its_notes_are_shown(lab):
    snapshot = fakes.snapshot(generation=2)
    lab.ui.view.selected = 1
    lab.engine.latest = fakes.snapshot(
        generation=2, labels=snapshot.labels._replace(notes=("pot.stl is not closed.",))
    )
    assert lab.update() and not lab.update()
    assert lab.ui.view.selected == -1 and lab.ui.notice is not None and "pot.stl" in lab.ui.notice.text


def test_a_refused_command_is_told(lab):
    lab.engine.latest = fakes.snapshot(notice="e must be from 0 to 1")
    lab.update()
    assert lab.ui.notice is not None and lab.ui.notice.text == "E must be from 0 to 1"


# ------------------------------------------------------------------------------------------------- recording


@pytest.mark.parametrize("fps, speed, h", [
    (60, 1.0, 1 / 240), (60, 1.0, 1 / 100), (30, 0.01, 1 / 240), (60, 0.3, 1 / 77),
])
def test_frames_are_the_right_number_of_steps_apart_on_average(fps, speed, h):
    cadence = Cadence(fps)
    done = 0
    for k in range(1, 500):
        done += cadence.steps(speed, h)
        # frame k shows the last step at or before its time (to the rounding of k additions)
        assert done == pytest.approx(k * speed / fps / h, abs=1.0) and done <= k * speed / fps / h + 1e-3


def test_a_take_in_simulated_time_misses_no_frame_and_waits_for_the_engine(lab, tmp_path):
    take = Take(tmp_path / "t.mp4", (64, 48), 60, False, True, 0.0)
    lab.hold(take)
    assert lab.engine.sent == [m.Pause()] and lab.playing
    frame = np.zeros((48, 64, 3), np.uint8)
    s = fakes.snapshot(step=100)
    assert take.advance(s, lab.engine.send, 0.0)
    take.capture(frame, 0.0)
    assert lab.engine.sent[-1] == m.Step(4)
    assert not take.advance(s, lab.engine.send, 0.1)                         # not there yet
    assert not take.advance(fakes.snapshot(step=102), lab.engine.send, 0.2)  # half way
    assert take.advance(fakes.snapshot(step=104), lab.engine.send, 0.3)
    take.capture(frame, 0.3)
    commands.run(lab, "play_pause")
    assert not lab.playing and not isinstance(lab.engine.sent[-1], m.Pause)
    assert not take.advance(fakes.snapshot(step=108), lab.engine.send, 0.4)
    commands.run(lab, "play_pause")
    take.close()
    assert take.movie.count == 2
    lab.let_go()
    assert lab.engine.sent[-1] == m.Play()


def test_a_take_as_seen_keeps_wall_time(tmp_path):
    take = Take(tmp_path / "t.mp4", (64, 48), 30, True, True, 10.0)
    for now in (10.0, 10.5, 11.0):
        assert take.advance(fakes.snapshot(), lambda command: None, now)
        take.capture(np.zeros((48, 64, 3), np.uint8), now)
    take.close()
    assert take.movie.count == 31
