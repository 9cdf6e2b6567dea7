"""Scratch folders: none stays, however its program ends, and none that is in use is taken away."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from contactlab.physics.core.held_folder import BEGINNING, PREFIX, ScratchFolder, remove_scratch

HOLDS = "from contactlab.physics.core.held_folder import ScratchFolder\nheld = ScratchFolder()\n"
WAITS = HOLDS + "print(flush=True)\ninput()\n"
ENDS = (HOLDS + "import sys\nfrom contactlab.app.command_line.program import program\n"
        "sys.argv[1:] = ['--version']\nprogram()\n")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder in which scratch folders are made; and how one finds those that are in it, made to look old."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def found(age=2 * BEGINNING):
        folders = sorted(tmp_path.glob(f"{PREFIX}*"))
        for folder in folders:
            then = folder.stat().st_mtime - age
            os.utime(folder, (then, then))
        return folders

    return found


def python(code, folder, **more):
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}, **more)


def test_a_folder_goes_with_its_block_also_where_that_fails(scratch):
    with pytest.raises(ZeroDivisionError), ScratchFolder() as folder:
        (folder / "file").write_text("x")
        assert len(scratch()) == 1
        raise ZeroDivisionError
    assert scratch() == []


def test_what_a_killed_program_left_is_removed_and_what_another_one_uses_is_not(scratch, tmp_path):
    program = python(WAITS, tmp_path)
    assert program.stdout is not None and program.stdout.readline() == b"\n"
    (folder,) = scratch()
    remove_scratch(time.time())
    assert scratch() == [folder] and (folder / "files").is_dir()
    program.kill()
    program.wait()
    remove_scratch(time.time())
    assert scratch() == []


def test_a_folder_that_has_just_been_made_may_still_be_without_its_lock(scratch, tmp_path):
    (tmp_path / f"{PREFIX}new").mkdir()
    remove_scratch(time.time())
    assert len(scratch()) == 1
    remove_scratch(time.time())
    assert scratch() == []


def test_no_link_is_followed_and_no_file_taken_for_a_folder(scratch, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "mine")
    (tmp_path / f"{PREFIX}file").write_text("x")
    then = (tmp_path / "mine").stat().st_mtime - 2 * BEGINNING
    for name in ("mine", f"{PREFIX}link", f"{PREFIX}file"):
        os.utime(tmp_path / name, (then, then), follow_symlinks=False)
    remove_scratch(time.time())
    assert len(scratch()) == 2 and list((tmp_path / "mine").iterdir()) == []


def test_the_program_leaves_none_though_it_ends_without_asking_the_interpreter(scratch, tmp_path):
    program = python(ENDS, tmp_path)
    assert program.wait() == 0 and scratch() == []
