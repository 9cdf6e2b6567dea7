"""Videos of a plan, read back from their files: frames, captions, chapters, voice; and what cannot be made."""

import hashlib
import wave
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from test_video_plan import video

from contactlab.app.command_line.cli import main
from contactlab.app.record.finishing import check_voice
from contactlab.app.record.recorder import Film, record
from contactlab.app.record.reel import Reel, Run
from contactlab.app.record.studio import Studio
from contactlab.physics.scene.scene import Scene

BOUNCE = {
    "scene": {"title": "A ball bounces"},
    "solver": {"method": "event_driven", "h": 0.004},
    "material": {"rubber": {"restitution": 0.8}},
    "body": [
        {"name": "floor", "fixed": True, "material": "rubber", "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, 0.6], "material": "rubber", "shape": [{"type": "sphere", "radius": 0.2}]},
    ],
}
FALL = float(np.sqrt(2 * 0.4 / 9.81))  # [s] to the first impact
SMALL = {"size": [320, 180], "rate": 25, "until": 1.0, "hide": ["legend"]}
TOLD = {
    "opening": {"title": "A ball", "seconds": 0.4},
    "caption": [{"event": "impact", "number": 1, "text": "Impact at {t} s", "formula": r"\zeta^+ = -e \zeta^-"},
                {"at": 0.1, "text": "It falls", "place": "top", "seconds": 0.2}],
    "chapter": [{"event": "impact", "title": "Impact {n}"}],
}
FIRST = 0.4 + np.ceil(FALL * 25) / 25  # [s of video] of the first frame that is not before the impact


def bounce(**table):
    return Run(Scene.from_dict(BOUNCE)), Film(video(**{**SMALL, **table}))


def made(out, run, film):
    record(run, out, film)
    with av.open(str(out)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def tone(path, seconds, rate=8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((8000 * np.sin(np.arange(round(seconds * rate)) * 0.3)).astype("<i2").tobytes())
    return path


def test_the_same_run_gives_the_same_frames_to_the_bit(tmp_path):
    """Also with slow motion, curves, captions and a card."""
    table = {**TOLD, "slow_at_events": 0.4, "plot": ["height:ball"], "narrated": True}
    hashes = {hashlib.sha256(np.stack(made(tmp_path / name, *bounce(**table))).tobytes()).hexdigest()
              for name in ("one.mp4", "two.mp4")}
    assert len(hashes) == 1
    assert (tmp_path / "one.mp4").read_bytes() == (tmp_path / "two.mp4").read_bytes()


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm"])
def test_captions_and_chapters_are_read_back_at_their_instants(tmp_path, suffix):
    """As text beside the frames, to the 1e-3 s that files count in; and in the frames: the plate of the caption changes
    the lower third from the frame of the impact on, not before."""
    out = tmp_path / f"v{suffix}"
    told = made(out, *bounce(**TOLD))
    plain = made(tmp_path / f"plain{suffix}", *bounce(opening=TOLD["opening"]))
    assert len(told) == len(plain) == 10 + 25
    with av.open(str(out)) as file:
        assert file.metadata["title"] == "A ball bounces"
        chapters = [(float(c["start"] * c["time_base"]), c["metadata"]["title"]) for c in file.chapters()]
        texts = [(float(p.pts * p.time_base), float(p.duration * p.time_base), bytes(p).decode(errors="ignore"))
                 for p in file.demux(file.streams.subtitles[0]) if p.pts is not None and p.size > 2]
    assert chapters == [(0.0, "A ball bounces"), (pytest.approx(FIRST, abs=2e-3), "Impact 1")]
    # 0.1 s is not a multiple of 1/25 s: the caption begins with the frame of 0.12 s, after the card
    assert texts[0][:2] == pytest.approx((0.4 + 0.12, 0.2), abs=2e-3) and "It falls" in texts[0][2]
    assert texts[1][0] == pytest.approx(FIRST, abs=2e-3)
    assert f"Impact at {FALL:.3f} s\nζ+ = -e ζ-" in texts[1][2].replace("^", "")
    changed = [np.abs(a[120:].astype(int) - b[120:]).mean() > 1.0 for a, b in zip(told, plain, strict=True)]
    assert changed.index(True) == round(FIRST * 25) and all(changed[round(FIRST * 25):])


def test_a_frame_shows_the_last_step_that_is_not_after_its_time(tmp_path, monkeypatch):
    """Frames of 1/25 s on steps of 1/240 s: what is shown is at most a step behind, and does not run away."""
    shown = []
    monkeypatch.setattr(Studio, "show", lambda self, snapshots, views: shown.append(snapshots[0].t))
    scene = Scene.from_dict({**BOUNCE, "solver": {"method": "time_stepping", "h": 1 / 240}})
    record(Run(scene), tmp_path / "v.mp4", Film(video(**{**SMALL, "until": 2.0, "begin": 0.3})))
    due = 0.3 + np.arange(len(shown)) / 25
    assert len(shown) == round(1.7 * 25)
    assert ((due - shown > -1e-9) & (due - shown < 1 / 240)).all()


def test_a_recorded_run_and_its_scene_give_the_same_video(tmp_path):
    from contactlab.app.command_line.loading import load

    scene, run = tmp_path / "s.toml", tmp_path / "r.contactlab"
    scene.write_text(TOML)
    with pytest.raises(SystemExit) as ended:
        main(["run", str(scene), "--until", "1.0", "--save-run", str(run)])
    assert ended.value.code == 0
    film = bounce(**TOLD)[1]
    loaded, recording = load(str(run), {})
    assert np.array_equal(made(tmp_path / "run.mp4", Run(loaded, recording=recording), film),
                          made(tmp_path / "scene.mp4", Run(Scene.load(scene)), film))


def test_two_runs_stand_side_by_side_at_the_same_instants(tmp_path):
    """Both halves begin on whole pixels. Until the first impact they are equal but for rounding, which moves few
    edges of the grid's thin lines by 40 levels of 255; a shift by a pixel would change the outline of the ball,
    more than 100 pixels. Then the ball is elsewhere, and it has 2 000."""
    run, film = bounce(heading=False)
    record(run, tmp_path / "p.png", Film(film.table, beside=Run(run.scene, {"restitution": 0.3})))
    frames = [np.asarray(Image.open(path)).astype(int) for path in sorted(tmp_path.glob("p_*.png"))]
    impact = int(FALL * 25)
    apart = [int((np.abs(f[:, :159] - f[:, 161:]).max(axis=2) > 40).sum()) for f in frames]
    assert max(apart[:impact]) < 20 and min(apart[impact + 3:impact + 8]) > 1000


def test_curves_grow_beside_the_view(tmp_path):
    """The right of the picture has more of the curve's colour in every later frame; the view is that without curves, in
    less width."""
    frames = made(tmp_path / "v.mkv", *bounce(plot=["height:ball"]))
    blue = [int(((f[:, 210:, 2].astype(int) - f[:, 210:, 0]) > 60).sum()) for f in frames]
    assert blue[-1] > blue[len(blue) // 2] > blue[2] > 0


def test_a_voice_is_muxed_where_it_begins(tmp_path):
    run, film = bounce(voice_at=0.4)
    out = tmp_path / "v.mp4"
    record(run, out, Film(film.table, voice=tone(tmp_path / "talk.wav", 0.5)))
    with av.open(str(out)) as file:
        sound = [(float(f.pts * f.time_base), f.to_ndarray()) for f in file.decode(audio=0)]
    heard = [t for t, samples in sound if np.abs(samples).max() > 0.02]
    assert heard[0] == pytest.approx(0.4, abs=0.05) and heard[-1] < 0.95  # frames of 1024/48000 s, and AAC's own delay


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_moving_pictures_are_made_small_enough(tmp_path, suffix):
    out = tmp_path / f"v{suffix}"
    run, film = bounce(size=[640, 360], most=0.05)
    record(run, out, film)
    with Image.open(out) as picture:
        assert picture.is_animated and picture.n_frames >= 20 and picture.size[0] < 640
        assert abs(picture.size[0] / picture.size[1] - 16 / 9) < 0.05
    assert out.stat().st_size <= 50_000


def test_pictures_let_through_what_is_behind_the_bodies(tmp_path):
    """Nothing at the corners, and the ball, grey or coloured, in the middle."""
    record(Run(Scene.from_dict(BOUNCE)), tmp_path / "p.png",
           Film(video(**{**SMALL, "until": 0.08, "transparent": True, "heading": False,
                         "view": [{"at": 0.0, "distance": 2.0, "body": "ball"}]})))
    pictures = sorted(tmp_path.glob("p_*.png"))
    made = np.asarray(Image.open(pictures[0]))
    assert len(pictures) == 2 and made.shape == (180, 320, 4)
    assert made[:20, :20, 3].max() == 0 and made[-20:, -20:, 3].max() == 0
    assert made[85:95, 155:165, 3].min() == 255


# ---------------------------------------------------------------------------------------------------- bad input

TOML = """
[scene]
title = "A ball bounces"
[solver]
method = "event_driven"
h = 0.004
[material.rubber]
restitution = 0.8
[[body]]
name = "floor"
fixed = true
material = "rubber"
shape = [{type = "plane"}]
[[body]]
name = "ball"
position = [0, 0, 0.6]
material = "rubber"
shape = [{type = "sphere", radius = 0.2}]
"""


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    said = capsys.readouterr().err
    assert ended.value.code in (1, 2) and said.count("\n") == 1
    return said


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "s.toml").write_text(TOML)
    tone(tmp_path / "long.wav", 3.0)
    (tmp_path / "talk.wav").write_text("Good morning")
    return tmp_path


@pytest.mark.parametrize("table, options, sentence", [
    ('voice = "talk.wav"', (), "video.voice: talk.wav is no sound file in the format WAV"),
    ('voice = "none.wav"', (), "video.voice: there is no file"),
    ('voice = "long.wav"', (), "video.voice: long.wav is 3.00 s long, and the video only 1.00 s: it must end with the"),
    ('voice = "long.wav"', ("-o", "v.gif"), "video.voice needs a film, .mp4, .mkv, .webm, and v.gif is none"),
    ("transparent = true", (), "video.transparent needs pictures, .png, and v.mp4 are none"),
    ('view = [{at = 0.0, distance = 2.0, body = "cube"}]', (), 'film.toml: video.view[0].body is "cube"; it must be'),
    ('caption = [{at = 7.0, text = "late"}]', (), "film.toml: video.caption[0].at is 7; it must be a time that the"),
    ("size = [0, 0]", (), "film.toml: video.size is [0, 0]; it must be two whole numbers from 16 to 8192"),
    ("size = [1000000, 10]", (), "film.toml: video.size is [1000000, 10]; it must be"),
    ('beside = {scene = "nowhere"}', (), "there is no file and no gallery scene 'nowhere'"),
    ("beside = {settings = {restitution = 7.0}}", (), "restitution must be"),
    ("", ("--theme", "blue"), "--theme must be dark or light, not 'blue'"),
    ("", ("--step", "1"), "--step goes with a lesson"),
])
def test_bad_input_gets_one_sentence(folder, capsys, monkeypatch, table, options, sentence):
    monkeypatch.chdir(folder)
    rest = "" if "size" in table else "size = [320, 180]\n"
    (folder / "film.toml").write_text(f"[video]\n{rest}until = 1.0\n{table}\n")
    told = ("-o", "v.mp4") if "-o" not in options else ()
    assert sentence in refused(capsys, "record", "s.toml", "--video", "film.toml", *told, *options)
    assert not list(folder.glob("v.*")) and not list(folder.glob("*.part*"))


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_drawn(folder, capsys):
    assert "there is no folder" in refused(capsys, "record", folder / "s.toml", "-o", folder / "no" / "v.mp4")
    assert "must be times of the run" in refused(
        capsys, "record", folder / "s.toml", "-o", folder / "v.mp4", "--video", wrong_times(folder))


def wrong_times(folder: Path) -> Path:
    path = folder / "times.toml"
    path.write_text("[video]\nbegin = 1.0\nuntil = 9000.0\n")
    return path


def test_a_voice_may_just_end_with_the_video(tmp_path):
    path = tone(tmp_path / "v.wav", 2.0)
    check_voice(path, 1.0, 3.0)
    with pytest.raises(ValueError, match=r"begins at 1\.5 s, and the video only 3\.00 s"):
        check_voice(path, 1.5, 3.0)


def test_a_reel_goes_step_by_step_or_at_once_to_the_same_state():
    once, slowly = (Reel(Run(Scene.from_dict(BOUNCE)), 1.0) for _ in range(2))
    once.to(0.7)
    seen = []
    slowly.to(0.7, each=lambda: seen.append(slowly.now.t))
    assert once.now.t == slowly.now.t == seen[-1] and len(seen) == 175
    assert np.array_equal(once.now.x, slowly.now.x)


def test_a_lesson_says_how_its_steps_are_recorded(folder, capsys):
    """The table of the step, its own times and title; a mistake in it is one of the lesson."""
    lesson = folder / "ball.lesson.toml"
    text = """
[lesson]
title = "Ball"
[[step]]
title = "It falls"
scene = "s.toml"
at = 0.1
until = 0.5
  [step.video]
  size = [160, 90]
  rate = 10
  speed = 0.25
    [[step.video.chapter]]
    event = "impact"
    title = "Impact {n}"
"""
    lesson.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["record", str(lesson), "--step", "1", "-o", str(folder / "v.mp4")])
    assert ended.value.code == 0
    with av.open(str(folder / "v.mp4")) as file:
        assert len(list(file.decode(video=0))) == 16 and file.metadata["title"] == "It falls"
        assert [c["metadata"]["title"] for c in file.chapters()] == ["It falls", "Impact 1"]
    assert "--step must be a step of ball that runs something, of which there are 1" in refused(
        capsys, "record", lesson, "--step", "2", "-o", folder / "w.mp4")
    lesson.write_text(text + '    [[step.video.caption]]\n    at = 3.0\n    text = "late"\n')
    assert ("ball.lesson.toml: step[0].video.caption[0].at is 3; it must be a time that the video shows, 0.1 to 0.5 s"
            in refused(capsys, "record", lesson, "--step", "1", "-o", folder / "w.mp4"))
