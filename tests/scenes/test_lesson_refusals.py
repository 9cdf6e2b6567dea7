"""Lessons that cannot be used: one sentence each, with the file, the field and what is allowed."""

import stat
import zipfile

import pytest

from contactlab.assets import gallery, lessons
from contactlab.physics.lesson.archive import unpacked
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.scene.refusals import SceneError

HEAD = '[lesson]\ntitle = "T"\n'
STEP = '[[step]]\ntitle = "A"\nscene = "bouncing_balls"\nuntil = 1.0\n'
ASK = '[step.question]\ntype = "number"\nask = "?"\ntolerance = 0.1\n'
CHOICE = '[step.question]\ntype = "choice"\nask = "?"\n'
OPTION = '[[step.question.option]]\ntext = "{}"\nwhen = "{}"\n'
SKETCH = '[step.question]\ntype = "sketch"\nask = "?"\ntolerance = 0.1\n'
FIRST = '[step.question]\ntype = "first"\nask = "?"\n'

GREATEST = '[step.question]\ntype = "greatest"\nask = "?"\n'
POINT = '[step.question]\ntype = "point"\nask = "?"\ntolerance = 5\n'
ARROW = POINT.replace("point", "arrow")

#: text of a lesson -> words of the sentence that refuses it
WRONG = {
    '[[step]]\ntitle = "A"\n': ["lesson is missing"],
    HEAD: ["step is missing", "1 to 100 tables"],
    HEAD + STEP + 'controls = ["gravitation"]\n': ["step[0].controls[0]", '"gravitation"', "restitution, "],
    HEAD + STEP + 'show = ["arrows"]\n': ["step[0].show[0]", '"arrows"', "contact_points"],
    HEAD + STEP + 'panel = "films"\n': ["step[0].panel", "contacts, body, plot"],
    HEAD + STEP + 'settings = {bounce = 1.0}\n': ["step[0].settings", "'bounce'", "there are method"],
    HEAD + STEP + 'settings = {restitution = 2.0}\n': ["step[0].settings", "restitution must be", "0 to 1"],
    HEAD + STEP + 'settings = {method = "magic"}\n': ["step[0].settings", "time_stepping"],
    HEAD + STEP.replace("bouncing_balls", "nowhere"): ["step[0].scene", '"nowhere"', "a scene of the gallery"],
    HEAD + STEP.replace("bouncing_balls", "../x.toml"): ["step[0].scene", "below the lesson's folder"],
    HEAD + STEP.replace('scene = "bouncing_balls"\n', ""): ["step[0].until", "must have a scene"],
    HEAD + STEP + 'picture = "none.png"\n': ["step[0].picture", "a picture (.png"],
    HEAD + STEP + 'plot = ["height:nobody"]\n': ["step[0].plot[0]", "no body 'nobody'; this scene has floor"],
    HEAD + STEP + 'plot = ["weight:floor"]\n': ["step[0].plot[0]", "one of height"],
    HEAD + STEP + 'plot = ["energy:floor"]\n': ["step[0].plot[0]", "is of the whole"],
    HEAD + STEP + "at = 2.0\n": ["step[0].until", "must be a number > at"],
    HEAD + STEP + "heading = 1\n": ["step[0].heading", "not a known field", "allowed here: title, text"],
    HEAD + STEP + ASK: ["question.answer is missing"],
    HEAD + STEP.replace("until = 1.0\n", "") + ASK + "answer = 1\n": ["step[0].until is missing"],
    HEAD + STEP + ASK + 'answer = "top"\n': ["question.answer", "uses top", "for nothing is measured"],
    HEAD + STEP + ASK + 'answer = "1/0"\n': ["question.answer", "divides by zero"],
    HEAD + STEP + ASK + 'answer = "__import__(1)"\n': ["question.answer", "must be a formula"],
    HEAD + STEP + ASK + 'answer = 1\nwhy = "{top}"\n': ["question.why", "uses top", "answer"],
    HEAD + STEP + ASK + 'answer = "a"\nmeasure = {a = "height"}\n': ["question.measure.a", "needs a body"],
    HEAD + STEP + ASK + 'answer = "a"\nmeasure = {a = "height:nobody"}\n': ["question.measure.a", "no body 'nobody'"],
    HEAD + STEP + ASK + 'answer = "a"\nmeasure = {a = "time of rain"}\n': ["question.measure.a", "impact, gain"],
    HEAD + STEP + ASK + 'answer = "a"\nmeasure = {a = {of = "energy", since = 2, until = 1}}\n':
        ["question.measure.a.until", "> since"],
    HEAD + STEP + ASK + 'answer = "a"\nmeasure = {a = {of = "energy", on = 1}}\n': ["measure.a.on", "of, since"],
    HEAD + STEP + ASK.replace("number", "essay") + "answer = 1\n": ["question.type", "number, choice, first, greatest"],
    HEAD + STEP + CHOICE + OPTION.format("a", "1"): ["question.option", "2 to 8"],
    HEAD + STEP + FIRST + 'event = "rain"\nbodies = ["floor", "e = 0.5"]\n': ["question.event", "impact, gain"],
    HEAD + STEP + FIRST + 'event = "gain"\nbodies = ["floor", "moon"]\n': ["question.bodies[1]", '"moon"'],
    HEAD + STEP + SKETCH + 'curve = "height"\nlow = 0\nhigh = 1\n': ["question.curve", "needs a body"],
    HEAD + STEP + SKETCH + 'curve = "energy"\nlow = 1\nhigh = 1\n': ["question.high", "> low"],
    HEAD + STEP + FIRST + 'event = "gain"\nbodies = ["floor and moon", "floor"]\n': ["question.bodies[0]", '" and "'],
    HEAD + STEP + GREATEST + 'of = {a = "1"}\n': ["question.of", "2 to 6 names"],
    HEAD + STEP + GREATEST + 'of = {a = "1", b = "weight"}\n': ["question.of.b", "uses weight"],
    HEAD + STEP + GREATEST + 'of = {a = "1", b = "2"}\nsame = 1\n': ["question.same", "< 1"],
    HEAD + STEP + POINT + 'answer = ["1", "2"]\n': ["question.answer", "a list of three formulas"],
    HEAD + STEP + POINT + 'answer = ["1", "2", "z"]\n': ["question.answer[2]", "uses z"],
    HEAD + STEP + POINT + 'answer = ["1", "2", "3"]\nnormal = [0, 0, 0]\n': ["question.normal", "not all 0"],
    HEAD + STEP + ARROW + 'answer = ["1", "2", "3"]\n': ["question.body is missing"],
    HEAD + STEP + ARROW + 'answer = ["1", "2", "3"]\nbody = "moon"\n': ["question.body", '"moon"', "floor"],
    HEAD + STEP + ARROW.replace("= 5", "= 190") + 'answer = ["1", "2", "3"]\nbody = "floor"\n':
        ["question.tolerance", "<= 180"],
    HEAD + "x = [": ["not valid TOML"],
}


def refused(folder, text):
    path = folder / "mine.lesson.toml"
    path.write_text(text)
    with pytest.raises(SceneError) as caught:
        Lesson.load(path, gallery().get)
    return str(caught.value)


@pytest.mark.parametrize("text", list(WRONG), ids=lambda text: " ".join(WRONG[text]))
def test_a_wrong_lesson_is_refused_in_one_sentence(text, tmp_path):
    said = refused(tmp_path, text)
    assert len(said.splitlines()) == 1 and said.startswith("mine.lesson.toml: ") and said.endswith(".")
    assert "fault of this program" not in said and all(words in said for words in WRONG[text]), said


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    said = refused(tmp_path, HEAD + STEP + 'plot = ["height:x"]\n' + ASK + 'answer = "1/0"\n').splitlines()
    assert len(said) == 2 and "plot" in said[0] and "answer" in said[1]


def packed(path, names, text=None):
    """An archive with files of these names, the lesson of the text among them."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, text or "x")
    return path


@pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out.txt", "C:out.txt"])
def test_an_archive_with_a_path_outside_writes_nothing(name, tmp_path):
    cache = tmp_path / "cache"
    archive = packed(tmp_path / "l.zip", ["good.lesson.toml", name])
    with pytest.raises(SceneError, match="leads out of the archive"):
        unpacked(archive, ".lesson.toml", cache)
    assert not cache.exists() and not (tmp_path / "out.txt").exists()


def test_an_archive_with_a_link_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "l.zip", "w") as archive:
        archive.writestr("good.lesson.toml", HEAD)
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(SceneError, match="leads out of the archive"):
        unpacked(tmp_path / "l.zip", ".lesson.toml", tmp_path / "cache")


@pytest.mark.parametrize(("names", "said"), [([], "holds 0 files"), (["a.lesson.toml", "b.lesson.toml"], "holds 2")])
def test_an_archive_holds_one_lesson(names, said, tmp_path):
    with pytest.raises(SceneError, match=said):
        unpacked(packed(tmp_path / "l.zip", names), ".lesson.toml", tmp_path)


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "l.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(SceneError, match=r"l\.zip: is no archive"):
        Lesson.load(tmp_path / "l.zip", cache=tmp_path / "cache")


def test_a_lesson_in_an_archive_is_the_lesson_in_its_folder(tmp_path):
    """With its own scene beside it; opened twice it is unpacked once."""
    source = lessons()["energy"]
    with zipfile.ZipFile(tmp_path / "energy.zip", "w") as archive:
        archive.write(source, source.name)
        archive.write(source.with_name("kane.toml"), "kane.toml")
    read = Lesson.load(tmp_path / "energy.zip", gallery().get, tmp_path / "cache")
    assert read.tables == Lesson.load(source, gallery().get).tables and read.key == "energy"
    assert tmp_path / "cache" in read.path.parents
    again = Lesson.load(tmp_path / "energy.zip", gallery().get, tmp_path / "cache")
    assert again.path == read.path and len(list((tmp_path / "cache").iterdir())) == 1


def test_an_archive_that_says_less_than_it_holds_is_cut_off(tmp_path, monkeypatch):
    from contactlab.physics.core import archive, limits
    from contactlab.physics.lesson import archive as module

    path = packed(tmp_path / "l.zip", ["a.lesson.toml"], "x" * 5000)
    monkeypatch.setattr(archive, "ARCHIVE_SIZE", limits.ARCHIVE_SIZE._replace(most=1000))
    monkeypatch.setattr(module, "check_archive", lambda *_: None)  # as if its table had told few bytes
    with pytest.raises(SceneError, match="holds more than"):
        unpacked(path, ".lesson.toml", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
