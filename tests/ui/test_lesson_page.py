"""A step of a lesson as a page: its text beside its run, its numbers those of the run, no word of it as code."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from contactlab.app.command_line.cli import main
from contactlab.app.export.page_text import html_of, words_of
from contactlab.app.panels import formula
from contactlab.assets import gallery, lessons
from contactlab.physics.core import language
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.lesson.play import play
from contactlab.physics.lesson.questions import in_digits, options, right_answer


@pytest.fixture(scope="module")
def bounce():
    return Lesson.load(lessons()["bounce"], gallery().get)


def test_the_page_of_a_step_has_its_text_its_question_and_the_numbers_of_its_run(bounce, tmp_path, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["export", "bounce", "--step", "5", "-o", str(tmp_path / "p.html")])
    page, values = (tmp_path / "p.html").read_text(encoding="utf-8"), play(bounce, 4).values
    assert "<h1>Bounces, and their end: And where?</h1>" in page
    assert "bounce, step 5: the page is" in capsys.readouterr().out
    said = re.search(r"<details><summary>What the run says</summary><p>(.*?)</p>", page)[1]
    assert said == right_answer(bounce.steps[4].question, values).answer and f"At ({in_digits(values['x'])}, 0," in page
    assert "Mark in the view where the ball is" in page.partition("<details>")[0]
    assert not re.search(r"(src|href)=\"https?:", page)


def test_a_page_is_written_in_the_language_that_is_asked_for(bounce, tmp_path, capsys):
    """All but the names of bodies, numbers and how it was computed; English is shown again after it."""
    with pytest.raises(SystemExit, match="0"):
        main(["export", "bounce", "--step", "2", "--language", "zh_CN", "-o", str(tmp_path / "p.html")])
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    shown, run = re.search(r"<body>(.*)<script id=\"run\"[^>]*>(.*?)</script>", page, re.S).groups()
    assert 'lang="zh-CN"' in page and not re.search(r"@[A-Z]+@", shown) and language.used() == "en"
    step = bounce.steps[1]
    with language.spoken("zh_CN"):
        assert f"<h1>{language._(bounce.title)}: {language._(step.title)}</h1>" in shown
        assert language._(step.question.ask) in shown
    words = set(re.findall(r"[A-Za-z]{4,}", re.sub(r"<[^>]*>", "", shown)))
    assert words <= {"Moreau", "Jean"}, words
    assert not re.search("collide|lost", run) and "碰撞" in run
    with pytest.raises(SystemExit, match="2"):
        main(["export", "bounce", "--step", "2", "--language", "xx", "-o", str(tmp_path / "q.html")])
    assert "--language must be one of en, zh_CN" in capsys.readouterr().err


def test_formulas_are_pictures_and_have_a_text(bounce):
    words = words_of(bounce, 3, play(bounce, 3).values)
    pictures = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="([^"]+)"', words)
    assert formula.ready() and len(pictures) == 2 and "t_0" in pictures[0][1]
    for data, _ in pictures:
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
        assert pixels.shape[2] == 4 and pixels[..., 3].max() == 255 and pixels.shape[1] > 50


def test_the_answers_to_choose_from_are_listed_and_the_right_one_is_behind_a_click():
    lesson = Lesson.load(lessons()["contact"], gallery().get)
    words = words_of(lesson, 5, play(lesson, 5).values)
    before, _, behind = words.partition("<details>")
    assert [text for text in options(lesson.steps[5].question) if f"<li>{text}</li>" in before] == list(
        options(lesson.steps[5].question))
    assert "The weight of the ladders (" in behind and "The weight of the ladders (" not in before


def test_no_word_of_a_lesson_is_code_on_the_page():
    assert html_of("<script>alert(1)</script> & more\n\nnext") == (
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</p><p>next</p>")


@pytest.mark.parametrize(("arguments", "said"), [
    (["bounce", "--step", "9"], "--step must be a step of the lesson, 1 to 5, not 9"),
    (["nowhere", "--step", "1"], "no lesson 'nowhere'"),
    (["bounce", "--step", "1", "--set", "friction=1"], "keeps its own settings: leave out friction"),
    (["bounce", "--step", "1", "-o", "p.glb"], "--out must end in .html"),
])
def test_what_cannot_be_a_page_is_told_in_one_sentence(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["export", *arguments])
    complaint = capsys.readouterr().err
    assert said in complaint and complaint.count("\n") == 1 and not list(tmp_path.iterdir())
