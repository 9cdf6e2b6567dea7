"""The box *Video of this run*: what it asks for, and the video that the other process makes of it."""

import time

import av
import fakes
import pytest
from test_video import TOML

import contactlab
from contactlab.app import film_of_run
from contactlab.app.film_of_run import curves_of, table_of
from contactlab.app.lab import Lab
from contactlab.app.panels.plot import plot_of
from contactlab.app.ui_state import UiState
from contactlab.physics.lesson.video import misfits
from contactlab.physics.run import messages as m
from contactlab.physics.run.runner import Runner
from contactlab.physics.scene.scene import Scene


@pytest.fixture
def lab(tmp_path):
    (tmp_path / "ball.toml").write_text(TOML)
    runner = Runner(Scene.load(tmp_path / "ball.toml"), paused=True)
    runner.begin()
    runner.send(m.Step(100))
    runner.tick()
    made = Lab(runner, UiState(), fakes.Host())
    made.ui.preferences.record_folder = str(tmp_path / "videos")
    made.update()
    yield made
    made.close()


def test_the_box_makes_the_same_kind_of_table_as_a_file(lab):
    p = lab.ui.preferences
    p.record_size, p.record_fps, p.film_theme, p.film_plot = "1280x720", 25, "light", True
    lab.ui.view.normals = False
    table = table_of(lab.ui, lab.camera, lab.snapshot)
    assert (table.size, table.rate, table.theme, table.narrated) == ((1280, 720), 25, "light", True)
    assert table.slow_at_events == film_of_run.SLOW and table.plot == ("height:ball",)
    assert "normals" in table.hide and "forces" in table.show and table.view[0].distance == lab.camera.distance
    assert not list(misfits(table, ("video",), lab.snapshot.labels.bodies, (0.0, 1.0)))
    p.film_slow = p.film_captions = p.film_plot = False
    table = table_of(lab.ui, lab.camera, lab.snapshot)
    assert (table.slow_at_events, table.narrated, table.plot) == (1.0, False, ())


def test_curves_are_those_of_the_tab_plot(lab):
    plot_of(lab.ui, lab.snapshot).curves = [m.Curve("energy"), m.Curve("v_z", 1)]
    assert curves_of(lab.ui, lab.snapshot) == ("energy", "v_z:ball")


def test_the_video_of_the_run_is_made_beside_the_window(lab, tmp_path, monkeypatch, no_law_stays):
    """0.4 s of run at 10 frames a second: 4 frames; then nothing is left but the video. The last steps are by a law of
    a script, which the other process is given."""
    contactlab.soft_law("mine", lambda depth, rate, k, d: k * depth + d * rate)
    for name, value in {"stiffness_n": 1e4, "stiffness_t": 1e4, "law": "mine", "method": "compliant"}.items():
        lab.engine.send(m.Set(name, value))
    lab.engine.send(m.Step(4))
    lab.engine.tick()
    lab.update()
    assert lab.snapshot.settings.law == "mine" and lab.snapshot.notice is None
    table = table_of(lab.ui, lab.camera, lab.snapshot)
    small = table.model_copy(update={"size": (160, 90), "rate": 10, "slow_at_events": 1.0})
    monkeypatch.setattr(film_of_run, "table_of", lambda *_: small)
    lab.filming.begin()
    assert lab.ui.film_status is not None
    deadline = time.monotonic() + 240
    while lab.ui.film_status is not None and time.monotonic() < deadline:
        lab.engine.tick()
        lab.update()
        time.sleep(0.05)
    assert lab.ui.message == "" and "Saved" in lab.ui.notice.text
    videos = list((tmp_path / "videos").iterdir())
    assert [path.name for path in videos] == ["ball_001.mp4"]
    with av.open(str(videos[0])) as file:
        assert len(list(file.decode(video=0))) == 4


def test_a_folder_that_cannot_be_written_is_told(lab, tmp_path):
    (tmp_path / "file").touch()
    lab.ui.preferences.record_folder = str(tmp_path / "file" / "in")
    lab.filming.begin()
    assert "The video cannot be written" in lab.ui.message and lab.ui.film_status is None
