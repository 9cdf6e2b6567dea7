"""The plan of a video, before anything is drawn: from a table to frames, captions, chapters and the camera."""

import numpy as np
import pytest

from contactlab.app.record.compositor import cut_out, layout
from contactlab.app.record.curves import Drawn, room, upto
from contactlab.app.record.finishing import lines
from contactlab.app.record.plan import (
    CLOSEST,
    FADE,
    LEAST_NARRATED,
    NARRATED,
    Chapter,
    Happening,
    Told,
    aimed,
    planned,
)
from contactlab.physics.core import language
from contactlab.physics.lesson.video import (
    VIDEO,
    VideoTable,
    ViewTable,
    misfits,
    read_video,
)
from contactlab.physics.scene.form import path_text, read_form
from contactlab.physics.scene.refusals import SceneError

BODIES = "floor", "ball"


def video(**table):
    tables, problems = read_form({"video": table}, VIDEO)
    assert not problems, problems
    return tables.video


def impact(t, run=0, kind="impact"):
    return Happening(t, kind, ("floor", "ball"), 2.5, 1.25, f"At {t} s they collide.", run)


def test_each_frame_shows_its_own_instant():
    """Frame k of a run from 0.5 s on at half the speed shows t = 0.5 + k / 2 f; 1 s of it takes 2 s of video."""
    plan = planned(video(rate=25, speed=0.5), "Ball", (0.5, 1.5), 1.0)
    assert np.allclose([frame.t for frame in plan.frames], 0.5 + np.arange(50) / 50.0, rtol=0.0, atol=1e-12)
    assert plan.seconds == 2.0 and {frame.speed for frame in plan.frames} == {0.5}
    assert not plan.captions and not plan.chapters and all(frame.aim is None for frame in plan.frames)


def test_cards_stand_before_and_behind_the_run_and_fade():
    """2 s and 1 s of cards around 1 s of run; while they are seen the run stands at its first and last instant."""
    table = video(rate=20, opening={"title": "A", "seconds": 2.0}, ending={"title": "Z", "seconds": 1.0})
    plan = planned(table, "Ball", (0.0, 1.0), 1.0)
    assert len(plan.frames) == 40 + 20 + 20
    assert all(f.t == 0.0 and f.card.title == "A" for f in plan.frames[:40])
    assert all(f.card is None for f in plan.frames[40:60])
    assert all(f.t == plan.frames[59].t and f.card.title == "Z" for f in plan.frames[60:])
    fading = [f.opacity for f in plan.frames[:40] if f.opacity < 1.0]
    assert len(fading) == round(FADE * 20) - 1 and fading == sorted(fading, reverse=True)
    assert plan.frames[-1].opacity == 1.0


def test_a_caption_begins_with_the_first_frame_that_is_not_before_its_instant():
    table = video(rate=10, opening={"title": "A", "seconds": 1.0},
                  caption=[{"at": 0.25, "text": "half at {t} s", "seconds": 0.5}])
    plan = planned(table, "Ball", (0.0, 2.0), 1.0)
    # 0.3 s is the first frame from 0.25 s on
    assert plan.captions == (Told(1.3, 1.8, "half at 0.250 s", "", "bottom"),)
    shown = [k for k, frame in enumerate(plan.frames) if frame.captions]
    assert shown == list(range(13, 18)) and plan.frames[13].t == pytest.approx(0.3)
    assert all(0.0 < seen <= 1.0 for k in shown for _, seen in plan.frames[k].captions)


def test_what_a_video_says_is_in_its_language():
    """Titles of scenes, and what lessons that come along say; other words stay as they are."""
    table = video(opening={"title": "Restitution"}, caption=[{"at": 0.0, "text": "My own words"}],
                  chapter=[{"event": "impact", "title": "Impact at {t} s"}])
    with language.spoken("zh_CN"):
        plan = planned(table, "Bouncing balls", (0.0, 2.0), 1.0, [impact(0.5)])
    assert plan.title == "弹跳的球" and plan.frames[0].card.title == "恢复系数"
    assert [told.text for told in plan.captions] == ["My own words"]
    assert [chapter.title for chapter in plan.chapters] == ["弹跳的球", "0.500 s 时碰撞"]
    (problem,) = read_form({"video": {"language": "fr"}}, VIDEO)[1]
    assert "en, zh_CN" in problem.text


def test_captions_at_events_are_numbered_and_give_way_to_the_next():
    table = video(rate=10, caption=[
        {"event": "impact", "body": "ball", "text": "{n}: {a} and {b}, {impulse} N s, {lost} J at {t} s"},
        {"event": "impact", "number": 2, "text": "second", "place": "top", "seconds": 9.0}])
    plan = planned(table, "Ball", (0.0, 4.0), 1.0, [impact(0.5), impact(0.7, run=1), impact(1.0), impact(3.9)])
    first, second, top, third = plan.captions
    assert (first.begin, first.end, first.text) == (0.5, 1.0, "1: floor and ball, 2.5 N s, 1.25 J at 0.500 s")
    assert (second.begin, second.end) == (1.0, 3.9) and second.text.startswith("2:")
    assert top[:2] == (1.0, 4.0) and top.place == "top" and (third.begin, third.end) == (3.9, 4.0)


def test_sentences_of_events_stay_until_they_can_be_read():
    times = [0.5, 0.5 + 0.5 * LEAST_NARRATED, 0.5 + 1.5 * LEAST_NARRATED, 9.0]
    plan = planned(video(rate=100, narrated=True), "Ball", (0.0, 20.0), 1.0,
                   [*map(impact, times), impact(9.5, kind="active_set")])
    assert [told.text for told in plan.captions] == [impact(times[k]).sentence for k in (0, 2, 3)]
    assert [told.end - told.begin for told in plan.captions] == pytest.approx(
        [1.5 * LEAST_NARRATED, NARRATED, NARRATED], abs=0.011)


def test_chapters_begin_with_the_video_and_are_apart():
    """At 30 frames a second 1 s of video is 1 s of the run; an impact within CLOSEST of the last chapter is its own."""
    table = video(rate=50, chapter=[{"event": "impact", "title": "Impact {n}"}, {"at": 3.0, "title": "Rest"}])
    plan = planned(table, "Ball", (0.0, 5.0), 1.0, [impact(t) for t in (1.0, 1.0 + 0.9 * CLOSEST, 2.0)])
    assert plan.chapters == (Chapter(0.0, "Ball"), Chapter(1.0, "Impact 1"), Chapter(2.0, "Impact 3"),
                             Chapter(3.0, "Rest"))


def test_slow_motion_moves_captions_and_chapters_with_it():
    """The frame in which a caption begins shows its instant, however slow the clock is there."""
    table = video(rate=60, slow_at_events=0.1, caption=[{"event": "impact", "text": "now"}],
                  chapter=[{"event": "impact", "title": "Impact"}])
    plan = planned(table, "Ball", (0.0, 2.0), 1.0, [impact(1.0)])
    k = round(plan.captions[0].begin * 60)
    assert plan.frames[k - 1].t < 1.0 <= plan.frames[k].t < 1.0 + 0.1 / 60 * 1.01
    assert plan.chapters[1].begin == plan.captions[0].begin > 1.0


def test_the_camera_is_at_its_views_at_their_times_and_stands_still_there():
    views = (ViewTable(at=2.0, distance=4.0, azimuth=90.0, elevation=30.0, body="ball"),
             ViewTable(at=0.0, distance=1.0, azimuth=0.0, elevation=10.0, target=(1.0, 2.0, 3.0)))
    first, middle, last = (aimed(views, t) for t in (-1.0, 1.0, 5.0))
    assert (first.distance, first.azimuth, first.share, first.first) == (1.0, 0.0, 0.0, (1.0, 2.0, 3.0))
    assert (middle.distance, middle.azimuth, middle.elevation) == pytest.approx((2.0, 45.0, 20.0))  # √(1 · 4)
    assert (middle.share, middle.second) == (0.5, "ball") and (last.distance, last.azimuth) == (4.0, 90.0)
    for t in (0.0, 2.0):  # s' = 6 u (1 - u) is 0 there: what moves within dt is of the order dt²
        dt = 1e-4
        assert abs(aimed(views, t + dt).azimuth - aimed(views, t - dt).azimuth) < 90.0 * 3.0 * dt**2 * 1.01


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("plot_at", [None, "right", "below"])
@pytest.mark.parametrize("size", [(1280, 720), (16, 16), (720, 1280)])
def test_views_and_curves_fill_the_picture_without_overlap(runs, plot_at, size):
    views, plot = layout(size, runs, plot_at, 2.0)
    parts = [*views, *filter(None, [plot])]
    assert len(views) == runs and (plot is None) == (plot_at is None)
    left = size[0] * size[1] - sum(w * h for _, _, w, h in parts)
    assert (runs - 1) * 2.0 * views[0][3] <= left < (runs - 1) * 4.0 * views[0][3] + 1e-9
    assert len({w for _, _, w, _ in views}) == 1 and all(x == round(x) and w == round(w) for x, _, w, _ in views)
    for k, (x, y, w, h) in enumerate(parts):
        assert x >= 0 and y >= 0 and x + w <= size[0] + 1e-9 and y + h <= size[1] + 1e-9
        for left, top, wide, high in parts[:k]:
            assert x >= left + wide - 1e-9 or left >= x + w - 1e-9 or y >= top + high - 1e-9 or top >= y + h - 1e-9


def test_a_picture_cut_out_gives_both_pictures_back():
    """α c + (1 − α) b on black and on white, to a level of 255 of rounding, and 1 / α of it for the colour."""
    rng = np.random.default_rng(1)
    color, alpha = rng.uniform(0, 255, (8, 8, 3)), rng.choice([0.0, 0.25, 0.6, 1.0], (8, 8, 1))
    black, white = (np.rint(alpha * color + (1 - alpha) * b).astype(np.uint8) for b in (0, 255))
    made = cut_out(black, white)
    assert np.abs(made[..., 3:] - 255.0 * alpha).max() <= 1.5
    seen = alpha[..., 0] > 0
    assert (np.abs(made[..., :3] - color)[seen] <= 2.0 / alpha[seen]).all()


def test_a_curve_is_drawn_up_to_now_on_an_axis_for_all_of_it():
    points = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, np.nan]])
    assert upto(points, 0.5).tolist() == [[0.0, 1.0], [0.5, 2.0]]
    assert len(upto(points, -1.0)) == 0 and len(upto(points, 9.0)) == 3
    low, high = room((Drawn("a", "m", points),))
    assert low < 1.0 < 3.0 < high and high - low < 2.5


def test_what_is_shown_at_once_is_read_together():
    told = [Told(0.0, 2.0, "a", r"\mu", "top"), Told(1.0, 3.0, "b", "", "bottom")]
    assert lines(told, 9.0) == [(0.0, 1.0, "a\nμ"), (1.0, 2.0, "a\nμ\nb"), (2.0, 3.0, "b")]
    assert lines(told, 0.5) == [(0.0, 0.5, "a\nμ")]


# ---------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("text, sentence", [
    ("[video]\nsize = [0, 720]", "video.size is [0, 720]; it must be two whole numbers from 16 to 8192: width and "
                                 "height [pixels]."),
    ("[video]\nsize = [1000000, 1000000]", "video.size is [1000000, 1000000]; it must be two whole numbers from 16 to"),
    ("[video]\nrate = 0", "video.rate is 0; it must be a whole number from 1 to 240 [frames per second]"),
    ("[video]\nrat = 30", "video.rat is not a known field (did you mean rate?)"),
    ("[video]\ntheme = 'blue'", 'video.theme is "blue"; it must be one of dark, light.'),
    ("[video]\nslow_at_events = 2.0", "video.slow_at_events is 2.0; it must be how much slower"),
    ("[[video.caption]]\nat = 'now'", 'video.caption[0].at is "now"; it must be a time of the run'),
    ("[[video.view]]\nat = 0.0", "video.view[0].distance is missing; it must be how far away the camera is"),
    ("[vidio]", "video is missing; it must be a table [video]."),
    ("[video", "is not valid TOML"),
])
def test_a_table_that_cannot_be_is_refused_by_its_field(tmp_path, text, sentence):
    path = tmp_path / "film.toml"
    path.write_text(text)
    with pytest.raises(SceneError) as refused:
        read_video(path)
    first = str(refused.value).splitlines()[0]
    assert first.startswith("film.toml: ") and sentence in first


@pytest.mark.parametrize("table, sentence", [
    ({"caption": [{"at": 9.0, "text": "late"}]},
     "video.caption[0].at is 9; it must be a time that the video shows, 0 to 5 s"),
    ({"caption": [{"text": "when?"}]}, "video.caption[0].at is missing, and so is event"),
    ({"caption": [{"at": 1.0, "event": "impact", "text": "x"}]}, "video.caption[0].at is given together with event"),
    ({"caption": [{"at": 1.0}]}, "video.caption[0].text is missing; a caption must have a text or a formula"),
    ({"caption": [{"at": 1.0, "text": "{n}"}]}, "video.caption[0].text holds {n}; it must hold no other than {t}"),
    ({"caption": [{"event": "impact", "body": "cube", "text": "x"}]},
     'video.caption[0].body is "cube"; it must be the name of a body: floor, ball'),
    ({"view": [{"at": 1.0, "distance": 2.0, "body": "cube"}]},
     'video.view[0].body is "cube"; it must be the name of a body: floor, ball'),
    ({"view": [{"at": 1.0, "distance": 2.0, "body": "ball", "target": [0, 0, 0]}]},
     "video.view[0].target is given together with body"),
    ({"chapter": [{"event": "impact", "title": "{who}"}]}, "video.chapter[0].title holds {who}"),
    ({"plot": ["height:cube"]}, 'video.plot[0] is "height:cube"; there is no body'),
    ({"begin": 3.0, "until": 2.0}, "video.until is 2; it must be a number > begin, which is 3"),
    ({"compare": ["compliant"]}, "video.compare is"),
    ({"panels": True, "plot": ["energy"]}, "video.plot is given together with panels"),
])
def test_a_table_that_does_not_fit_its_run_is_refused_by_its_field(table, sentence):
    found = [f"{path_text(p.location)} {p.text}" for p in misfits(video(**table), ("video",), BODIES, (0.0, 5.0))]
    assert len(found) == 1 and found[0].startswith(sentence)


def test_a_video_of_too_many_frames_is_refused():
    with pytest.raises(ValueError, match="more than 1000000 frames"):
        planned(video(rate=240, speed=0.001), "Ball", (0.0, 3600.0), 1.0)


def test_a_table_says_of_each_field_what_it_may_be():
    for name, field in VideoTable.model_fields.items():
        assert field.description, name
