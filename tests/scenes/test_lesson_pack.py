"""A lesson with all that it needs in one file, which opens anywhere."""

import shutil
import zipfile

import numpy as np
import pytest
import trimesh
from PIL import Image

from contactlab.app.command_line.cli import main
from contactlab.assets import gallery, lessons
from contactlab.physics.core import limits
from contactlab.physics.lesson import archive
from contactlab.physics.lesson.archive import pack
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.lesson.play import play

LESSON = """
[lesson]
title = "Mine"
[[step]]
title = "A cube of a file"
scene = "scenes/cube.toml"
picture = "pictures/cube.png"
until = 0.1
[step.question]
type = "number"
ask = "How high?"
tolerance = 0.1
measure = {z = "height:cube"}
answer = "z"
[[step]]
title = "One of the gallery"
scene = "bouncing_balls"
until = 0.1
"""
SCENE = """
[scene]
title = "A cube"
[[body]]
name = "cube"
shape = [{type = "mesh", file = "meshes/cube.stl"}]
position = [0.0, 0.0, 1.0]
"""


@pytest.fixture
def folder(tmp_path):
    """A lesson in a folder with a scene, its mesh, a picture, and a file that does not belong to it."""
    made = tmp_path / "course"
    (made / "scenes" / "meshes").mkdir(parents=True)
    (made / "pictures").mkdir()
    (made / "mine.lesson.toml").write_text(LESSON)
    (made / "scenes" / "cube.toml").write_text(SCENE)
    trimesh.creation.box((0.2, 0.2, 0.2)).export(made / "scenes" / "meshes" / "cube.stl")
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(made / "pictures" / "cube.png")
    (made / "answers of my students.txt").write_text("not for everybody")
    return made


def test_a_packed_lesson_holds_what_it_needs_and_runs_where_nothing_else_is(folder, tmp_path, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["lessons", str(folder / "mine.lesson.toml"), "--pack", str(tmp_path / "mine.zip")])
    assert "4 files written" in capsys.readouterr().out
    before = play(Lesson.load(folder / "mine.lesson.toml", gallery().get), 0).values
    shutil.rmtree(folder)
    with zipfile.ZipFile(tmp_path / "mine.zip") as packed:
        assert sorted(packed.namelist()) == ["mine.lesson.toml", "pictures/cube.png", "scenes/cube.toml",
                                             "scenes/meshes/cube.stl"]
    read = Lesson.load(tmp_path / "mine.zip", gallery().get, tmp_path / "cache")
    assert play(read, 0).values == before  # to the last bit
    assert (read.folder / read.steps[0].picture).is_file() and read.runs[1] is not None


def test_packed_twice_it_is_the_same_bytes_and_unpacked_it_packs_again(folder, tmp_path):
    read = Lesson.load(folder / "mine.lesson.toml", gallery().get)
    for name in ("a.zip", "b.zip"):
        pack(tmp_path / name, read.folder, read.files)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    again = Lesson.load(tmp_path / "a.zip", gallery().get, tmp_path / "cache")
    pack(tmp_path / "c.zip", again.folder, again.files)
    assert (tmp_path / "c.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()


def test_a_lesson_that_would_not_open_again_is_not_packed(folder, tmp_path, monkeypatch):
    read = Lesson.load(folder / "mine.lesson.toml", gallery().get)
    monkeypatch.setattr(archive, "ARCHIVE_FILES", limits.ARCHIVE_FILES._replace(most=3))
    with pytest.raises(ValueError, match="must have no more than 3"):
        pack(tmp_path / "a.zip", read.folder, read.files)
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize(("arguments", "said"), [
    (["--pack", "x.zip"], "--pack needs a lesson"),
    (["bounce", "--pack", "x.tar"], "--pack must end in .zip"),
    (["nowhere", "--pack", "x.zip"], "no lesson 'nowhere'"),
])
def test_what_cannot_be_packed_is_told_in_one_sentence(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["lessons", *arguments])
    complaint = capsys.readouterr().err
    assert said in complaint and complaint.count("\n") == 1 and not list(tmp_path.iterdir())


def test_every_lesson_that_comes_along_can_be_handed_out(tmp_path):
    for key, path in lessons().items():
        read = Lesson.load(path, gallery().get)
        pack(tmp_path / f"{key}.zip", read.folder, read.files)
        assert Lesson.load(tmp_path / f"{key}.zip", gallery().get, tmp_path / "cache").tables == read.tables
