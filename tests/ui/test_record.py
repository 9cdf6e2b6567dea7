"""Videos hold the frames they were given, survive a killed process, and `record` makes them without a display."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import av
import numpy as np
import pytest
from PIL import Image

from contactlab.app.record import encoder
from contactlab.app.record.encoder import Movie, check_path, even, fitted, numbered, open_recording
from contactlab.app.record.recorder import Film, record, recording
from contactlab.app.record.reel import Run
from contactlab.app.record.studio import Studio
from contactlab.physics.lesson.video import VideoTable, ViewTable
from contactlab.physics.run.slow_motion import REACH
from contactlab.physics.scene.scene import Scene

BALL = {
    "scene": {"title": "A ball falls"},
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, 0.6], "shape": [{"type": "sphere", "radius": 0.2}]},
    ],
}


def film(seconds, **table):
    return Film(VideoTable(until=seconds, **table))


def frames(count, size=(64, 48)):
    """A bright square wandering over a dark ground."""
    made = []
    for k in range(count):
        frame = np.full((size[1], size[0], 3), 30, np.uint8)
        x = 2 + 3 * k % (size[0] - 14)
        frame[10:22, x : x + 12] = (240, 160, 40)
        made.append(frame)
    return made


def decoded(path):
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        pictures = [(float(f.time), f.to_ndarray(format="rgb24")) for f in file.decode(stream)]
        return stream, pictures


@pytest.mark.parametrize("suffix, codec", [(".mp4", "h264"), (".mkv", "h264"), (".webm", "vp9"), (".gif", "gif")])
def test_a_video_gives_back_its_frames_in_time(tmp_path, suffix, codec):
    path, given = tmp_path / f"v{suffix}", frames(25)
    movie = Movie(path, (64, 48), 50)
    for frame in given:
        movie.add(frame)
    movie.close()
    stream, pictures = decoded(path)
    assert stream.codec_context.name == codec and len(pictures) == 25
    if suffix != ".gif":
        assert stream.codec_context.pix_fmt == "yuv420p"
    for k, (t, picture) in enumerate(pictures):
        assert t == pytest.approx(k / 50, abs=2e-3)
        # lossy, and colours at half resolution: the mean error of such pictures stays within a few of 255 levels
        assert np.abs(picture.astype(int) - given[k]).mean() < 6.0


def test_odd_sizes_are_made_even_and_other_sizes_are_fitted_in(tmp_path):
    assert even((641, 361)) == (640, 360) and even((2, 1)) == (2, 2)
    movie = Movie(tmp_path / "v.mp4", (65, 49), 30)
    movie.add(frames(1, (65, 49))[0])
    movie.add(frames(1, (130, 49))[0])
    movie.close()
    _, pictures = decoded(tmp_path / "v.mp4")
    assert [p.shape for _, p in pictures] == [(48, 64, 3)] * 2
    wide = fitted(np.full((10, 40, 3), 200, np.uint8), (20, 20))
    assert wide.shape == (20, 20, 3) and wide[10].min() == 200 and wide[0].max() == 0


def test_a_gif_is_slowed_to_what_viewers_show(tmp_path):
    movie = Movie(tmp_path / "v.gif", (64, 48), 60)
    assert movie.fps == encoder.GIF_FPS
    movie.add(frames(1)[0])
    movie.close()
    assert (tmp_path / "v.gif").stat().st_size > 100


def test_png_recordings_are_numbered_pictures(tmp_path):
    shots = open_recording(tmp_path / "p.png", (64, 48), 30)
    given = frames(3)
    for frame in given:
        shots.add(frame)
    shots.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p_0000.png", "p_0001.png", "p_0002.png"]
    assert np.array_equal(np.asarray(Image.open(tmp_path / "p_0001.png")), given[1])


def test_numbered_files_never_overwrite(tmp_path):
    first = numbered(tmp_path / "new", "dice", ".mp4")
    first.touch()
    assert numbered(tmp_path / "new", "dice", ".mp4").name == "dice_002.mp4" and first.name == "dice_001.mp4"


@pytest.mark.parametrize("name", ["video.avi", "video", "video.MP5"])
def test_an_unknown_kind_of_file_is_refused_in_one_sentence(tmp_path, name):
    with pytest.raises(ValueError, match=r"can be mp4, mkv, webm, gif, png, webp") as refused:
        check_path(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_folder_that_is_not_there_and_a_file_that_cannot_be_written_are_told(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        Movie(tmp_path / "no" / "v.mp4", (64, 48), 30)
    (tmp_path / "v.mp4").mkdir()
    with pytest.raises(ValueError, match="cannot be written"):
        Movie(tmp_path / "v.mp4", (64, 48), 30)


def test_a_killed_process_leaves_a_video_that_plays(tmp_path):
    path = tmp_path / "v.mp4"
    code = (
        "import sys, time, numpy as np\n"
        "from pathlib import Path\n"
        "from contactlab.app.record.encoder import Movie\n"
        "movie = Movie(Path(sys.argv[1]), (64, 48), 60)\n"
        "for k in range(100000):\n"
        "    movie.add(np.full((48, 64, 3), k % 250, np.uint8)); time.sleep(0.002)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    try:
        deadline = time.monotonic() + 60
        while not (path.exists() and path.stat().st_size > 6000) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    _, pictures = decoded(path)
    assert len(pictures) >= 30
    assert len({int(p.mean()) for _, p in pictures}) > 10


@pytest.mark.parametrize("panels", [False, True])
def test_a_scene_is_recorded_without_a_display_in_simulated_time(tmp_path, monkeypatch, panels):
    monkeypatch.delenv("DISPLAY", raising=False)
    shares = []
    path = tmp_path / "ball.mp4"
    record(Run(Scene.from_dict(BALL)), path, film(0.4, size=(641, 401), rate=30, panels=panels), shares.append)
    stream, pictures = decoded(path)
    assert (stream.width, stream.height, len(pictures)) == (640, 400, 12)
    assert shares == pytest.approx(np.arange(1, 13) / 12)
    changes = [np.abs(a.astype(int) - b).mean() for (_, a), (_, b) in pairwise(pictures)]
    assert min(changes) > 0.0  # the ball falls, the clock runs
    assert pictures[0][1].std() > 5.0


def test_slow_motion_makes_a_longer_video(tmp_path):
    path = tmp_path / "ball.gif"
    record(Run(Scene.from_dict(BALL)), path, film(0.05, size=(160, 120), rate=20, speed=0.1))
    _, pictures = decoded(path)
    assert len(pictures) == 10


def test_the_camera_of_a_recording_can_be_chosen(tmp_path):
    taken = []
    for elevation, target in ((10.0, None), (80.0, (0.0, 0.0, 0.3))):
        path = tmp_path / "c.png"
        view = ViewTable(at=0.0, distance=3.0, azimuth=0.0, elevation=elevation, target=target)
        record(Run(Scene.from_dict(BALL)), path, film(0.01, size=(160, 120), view=(view,)))
        taken.append(np.asarray(Image.open(tmp_path / "c_0000.png")).astype(int))
    assert np.abs(taken[0] - taken[1]).mean() > 5.0


class Ended(BaseException):
    """Whatever ends a recording from outside."""


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_recording_that_is_stopped_keeps_its_frames(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"

    def stop(share):
        if share >= 0.5:
            raise Ended

    with pytest.raises(Ended):
        record(Run(Scene.from_dict(BALL)), path, film(0.5, size=(160, 120), rate=20), stop)
    assert len(decoded(path)[1]) == 5
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_full_disk_leaves_the_video_that_was(tmp_path, suffix):
    """No file may have more than 3 000 bytes there."""
    path = tmp_path / f"v{suffix}"
    path.write_text("precious")
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from contactlab.app.record import recorder\n"
        "from contactlab.app.record.encoder import CannotWrite\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "random = np.random.default_rng(0)\n"
        "try:\n"
        "    with recorder.recording(Path(sys.argv[1]), (640, 480), 60) as movie:\n"
        "        for _ in range(60): movie.add(random.integers(0, 255, (480, 640, 3), np.uint8))\n"
        "except CannotWrite as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "cannot be written" in result.stdout, result.stderr
    assert path.read_text() == "precious" and list(tmp_path.iterdir()) == [path]


def test_a_recording_without_a_frame_leaves_the_video_that_was(tmp_path):
    path = tmp_path / "v.mp4"
    path.write_text("precious")
    with pytest.raises(Ended), recording(path, (64, 48), 30):
        raise Ended
    assert path.read_text() == "precious" and list(tmp_path.iterdir()) == [path]


def test_a_video_is_slow_around_impacts_and_says_how_slow(tmp_path, monkeypatch):
    """The ball falls 0.4 m; a frame before, at and behind the impact the steps between frames are a tenth."""
    shown = []
    monkeypatch.setattr(Studio, "show", lambda self, snapshots, views: shown.extend(snapshots))
    monkeypatch.setattr(Studio, "end", lambda self: self.gui.finish(self.offscreen.fbo) or frames(1)[0])
    run, shot = Run(Scene.from_dict(BALL)), film(0.6, size=(64, 48), slow_at_events=0.1)
    record(run, tmp_path / "slow.mp4", shot)
    times, impact = np.array([s.t for s in shown]), np.sqrt(2 * 0.4 / 9.81)
    speeds = [s.speed for s in shown]
    near = np.abs(times - impact) < 0.4 * REACH
    assert np.allclose(np.array(speeds)[near], 0.1, atol=1e-9) and speeds[0] == 1.0 and near.sum() > 40
    assert np.diff(times)[np.flatnonzero(near)[:-1]].max() <= 1 / 240 + 1e-12  # at most a step a frame
    assert 0.0 < 0.6 - times[-1] < 1.5 / 60 + 1 / 240
    assert len(decoded(tmp_path / "slow.mp4")[1]) == len(shown)
    again = list(shown)
    shown.clear()
    record(run, tmp_path / "again.mp4", shot)
    assert [s.t for s in shown] == [s.t for s in again]
