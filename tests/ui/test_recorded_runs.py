"""Recorded runs in the app and on the command line: saved, opened, offered after a crash, filmed and tabulated."""

from dataclasses import replace

import av
import fakes
import numpy as np
import pytest
from command_line import BALL, call
from probe import Probe

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels import layout
from contactlab.app.panels.transport import replay
from contactlab.app.ui_state import UiState
from contactlab.physics import Scene
from contactlab.physics.core.held_folder import lock_of
from contactlab.physics.run import messages as m
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.journal import Leftover
from contactlab.physics.run.run_file import write_run

STEPS = 90


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    return path


@pytest.fixture
def lab(tmp_path):
    made = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    made.ui.preferences.record_folder = str(tmp_path / "documents")
    made.update()
    yield made
    made.close()


def recorded(path, scene):
    """A file of a run of 90 steps in which gravity was changed after 30."""
    run = Comparison(Scene.load(scene), {}, 1)
    for step in range(STEPS):
        if step == 30:
            run.apply(m.Set("gravity", (0.0, 0.0, -3.0)))
        run.step()
    write_run(path, run.heading, run.take(everything=True))
    return run


def left_over(folder, scene):
    """What a program leaves that was killed."""
    folder.mkdir()
    recorded(folder / "000001.contactlab", scene)
    return Leftover(folder, "A ball", 0.0, lock_of(folder))


# ------------------------------------------------------------------------------------------------- the app


def test_a_recorded_run_is_opened_like_any_file(lab, scene, tmp_path):
    recorded(tmp_path / "a.contactlab", scene)
    lab.open_path(tmp_path / "a.contactlab")
    fakes.settle(lab)
    (command,) = lab.engine.sent
    assert isinstance(command, m.Open) and not command.paused and not command.at_end
    assert command.recording is not None and command.recording.scene is command.scene
    assert lab.ui.preferences.recent == [str(tmp_path / "a.contactlab")]
    assert f"{STEPS / 240:.2f} s" in lab.ui.notice.text


def test_saving_asks_the_engine_for_a_file_that_is_not_there_yet(lab, tmp_path):
    commands.run(lab, "save_run")
    (command,) = lab.engine.sent
    assert command == m.SaveRun(tmp_path / "documents" / "three_001.contactlab")


def test_going_on_opens_what_is_left_at_its_end_and_keeps_it_until_it_is_recorded_anew(lab, scene, tmp_path):
    lab.ui.leftovers = [left_over(tmp_path / "run", scene)]
    commands.run(lab, "go_on")
    fakes.settle(lab)
    (command,) = lab.engine.sent
    assert command.at_end and command.paused and command.recording.leftover == tmp_path / "run"
    assert lab.ui.leftovers == [] and (tmp_path / "run").exists()
    assert lab.ui.preferences.recent == []


def test_what_is_discarded_is_gone(lab, scene, tmp_path):
    lab.ui.leftovers = [left_over(tmp_path / "run", scene)]
    commands.run(lab, "discard")
    assert lab.ui.leftovers == [] and lab.engine.sent == [] and not (tmp_path / "run").exists()


@pytest.mark.parametrize("label, command", [("Go on##leftover", "go_on"), ("Discard##leftover", "discard")])
def test_the_offer_has_two_buttons(label, command, scene, tmp_path, monkeypatch):
    ui = UiState(leftovers=[left_over(tmp_path / "run", scene)])
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, fakes.snapshot(), print), ui)
    probe.click(label)
    assert [r.command for r in ui.requests] == [command]
    probe.gui.release()


def test_the_time_line_says_what_a_recorded_run_is_and_where_it_differs():
    assert replay(fakes.snapshot()) == []
    first, second = replay(fakes.snapshot(replaying=True, differs=77))
    assert "until you change something" in first and "step 77" in second


def test_a_step_that_differs_is_said_once(lab):
    lab.engine.latest = fakes.snapshot(differs=77)
    lab.update()
    assert "Step 77" in lab.ui.notice.text
    lab.ui.notice = None
    lab.engine.latest = fakes.snapshot(differs=77)
    lab.update()
    assert lab.ui.notice is None


# -------------------------------------------------------------------------------------------- command line


def test_the_table_of_a_recorded_run_is_that_of_the_run_itself(scene, tmp_path, capsys):
    status, _, _ = call(capsys, "run", scene, "--until", 1, "--set", "restitution=0.7", "--out", tmp_path / "one.csv",
                        "--save-run", tmp_path / "a.contactlab")
    assert status == 0
    status, _, said = call(capsys, "run", tmp_path / "a.contactlab", "--out", tmp_path / "two.csv")
    assert status == 0 and "those recorded, to the last bit" in said
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_settings_changed_in_the_course_of_a_run_are_replayed(scene, tmp_path, capsys):
    run = recorded(tmp_path / "a.contactlab", scene)
    status, _, said = call(capsys, "run", tmp_path / "a.contactlab", "--out", tmp_path / "a.npz")
    assert status == 0 and "to the last bit" in said
    with np.load(tmp_path / "a.npz") as table:
        assert table["t"][-1] == run.time
        np.testing.assert_array_equal(table["x"][-1], run.simulation.frames()[0])


def test_a_recorded_comparison_is_made_again_on_all_sides(scene, tmp_path, capsys):
    """Each side has its own steps, and its own table."""
    run = Comparison(Scene.load(scene), {}, 1)
    settings = run.simulation.settings
    run.compare([m.Side(settings), m.Side(replace(settings, solver="pgs", h=settings.h / 2))])
    for _ in range(STEPS):
        run.step()
    write_run(tmp_path / "a.contactlab", run.heading, run.take(everything=True))
    status, printed, said = call(capsys, "run", tmp_path / "a.contactlab", "--out", tmp_path / "t.npz")
    assert status == 0 and said.count("to the last bit") == 2 and "side 2 of 2" in said
    assert printed.count(f"after {STEPS} steps") == printed.count(f"after {2 * STEPS} steps") == 1
    for side, member in enumerate(run.members):
        with np.load(tmp_path / f"t_{side + 1}.npz") as table:
            np.testing.assert_array_equal(table["x"][-1], member.simulation.frames()[0])
    assert not (tmp_path / "t.npz").exists()
    status, _, said = call(capsys, "run", tmp_path / "a.contactlab", "--out", tmp_path / "t.npz")
    assert status == 2 and "t_1.npz exists" in said


def test_a_video_of_a_recorded_run_is_as_long_as_the_run(scene, tmp_path, capsys):
    recorded(tmp_path / "a.contactlab", scene)
    status, _, _ = call(capsys, "record", tmp_path / "a.contactlab", "-o", tmp_path / "a.mp4", "--size", "64x48",
                        "--fps", 24)
    assert status == 0
    with av.open(str(tmp_path / "a.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) == round(24 * STEPS / 240)


@pytest.mark.parametrize("words, reason", [
    (["run", "{run}", "--h", "0.01"], "keeps its own settings: leave out h"),
    (["run", "{run}", "--until", "0"], "--until"),
    (["run", "{scene}"], "--until must be given"),
    (["run", "{scene}", "--until", "1", "--save-run", "a.mp4"], "--save-run must end in .contactlab"),
    (["record", "{run}", "-o", "a.mp4", "--compare", "compliant,time_stepping"], "--compare must be left out"),
    (["run", "{bad}"], "is not a recorded run"),
])
def test_what_makes_no_sense_is_refused_in_a_sentence(words, reason, scene, tmp_path, capsys):
    recorded(tmp_path / "a.contactlab", scene)
    (tmp_path / "bad.contactlab").write_text("nothing")
    names = {"{run}": tmp_path / "a.contactlab", "{scene}": scene, "{bad}": tmp_path / "bad.contactlab"}
    status, _, said = call(capsys, *(names.get(word, word) for word in words))
    assert status == 2 and reason in said and said.count("\n") == 1
