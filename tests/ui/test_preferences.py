"""The file of settings: what is saved comes back, and what became of the file never keeps the app from starting."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hard_times import read_only
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contactlab.app.machine import system_scale
from contactlab.app.preferences import FITS, Preferences, faults

KEPT = {"dark": False, "scale": 1.5, "recent": ["/a b", "/中文"]}


def load(folder, content):
    path = folder / "settings.json"
    path.write_bytes(content)
    return Preferences.load(path)


def test_preferences_come_back_as_they_were(tmp_path):
    kept = Preferences(**KEPT)
    kept.save(tmp_path / "deep" / "settings.json")
    assert Preferences.load(tmp_path / "deep" / "settings.json") == (kept, "")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["settings.json"]


def test_at_the_first_start_there_is_nothing_to_say(tmp_path):
    assert Preferences.load(tmp_path / "settings.json") == (Preferences(), "")


def test_every_default_fits_its_field():
    for name, fits in FITS.items():
        fits.validate_python(getattr(Preferences(), name), strict=True)


@pytest.mark.parametrize(("field", "text"), [
    ("width", "0"), ("width", "-5"), ("height", "1e9"), ("width", "9" * 500), ("scale", "NaN"), ("scale", "1e999"),
    ("scale", '"large"'), ("gallery_width", "NaN"), ("gallery_width", "-Infinity"), ("lower_height", "1e308"),
    ("dark", "1"), ("recent", '"/a"'), ("recent", "[[[[1]]]]"), ("recent", json.dumps(["/a"] * 11)),
    ("record_fps", "0"), ("record_format", '"exe"'), ("record_folder", "null"), ("lower_tab", "{}"),
])
def test_what_does_not_fit_gets_its_default_is_named_and_the_file_is_kept(tmp_path, field, text):
    other = "maximized"
    content = f'{{"{field}": {text}, "{other}": true}}'.encode()
    (tmp_path / "settings.json").write_bytes(content)
    assert faults(tmp_path / "settings.json") == field
    found, note = Preferences.load(tmp_path / "settings.json")
    assert getattr(found, field) == getattr(Preferences(), field) and found.maximized is True
    assert field in note and other not in note and note.count("\n") == 0
    assert (tmp_path / "settings.damaged.json").read_bytes() == content and str(tmp_path) in note
    assert Preferences.load(tmp_path / "settings.json") == (Preferences(), "")  # the next start is an ordinary one


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b"\0" * 4096, b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000, b'{"dark": tru',
    b'{"width": ' + b"9" * 5000 + b"}",
    b'{"recent": ["' + b"x" * 2**21 + b'"]}', b'{"recent": ["\\ud800"]}',
], ids=lambda content: repr(content[:12]))
def test_a_file_of_anything_else_gives_the_defaults_and_is_kept(tmp_path, content):
    found, note = load(tmp_path, content)
    assert found == Preferences() and "damaged" in note
    assert (tmp_path / "settings.damaged.json").read_bytes() == content


WORDS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=st.dictionaries(st.sampled_from([*FITS, "other"]), WORDS, max_size=6))
def test_whatever_was_loaded_can_be_saved_and_loaded(tmp_path, values):
    found, _ = load(tmp_path, json.dumps(values).encode())
    found.save(tmp_path / "again.json")
    assert Preferences.load(tmp_path / "again.json") == (found, "")


def test_what_is_saved_can_be_loaded_whatever_the_app_has_put_into_it(tmp_path):
    """A window manager may make any size, and the name of a file need not be text."""
    Preferences(width=3, gallery_width=float("nan"), recent=["/a\udcff"]).save(tmp_path / "s.json")
    assert Preferences.load(tmp_path / "s.json") == (Preferences(), "")


def test_recent_files_are_few_and_newest_first():
    p = Preferences()
    for i in range(15):
        p.remember(f"/{i}")
    p.remember("/9")
    p.remember("/a\udcff")  # no text: it could be neither shown nor saved
    assert len(p.recent) == 10 and p.recent[:2] == ["/9", "/14"]


SAVE = (
    "import resource, sys\n"
    "from pathlib import Path\n"
    "from contactlab.app.preferences import Preferences\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
    "for width in range(200, 200 + int(sys.argv[3])):\n"
    "    Preferences(width=width, recent=[sys.argv[4] * 400] * 10).save(Path(sys.argv[1]))\n"
)


def save(path, most, times, letter, before=()):
    words = [*before, sys.executable, "-c", SAVE, str(path), str(most), str(times), letter]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ)


def test_a_full_disk_leaves_the_settings_that_were(tmp_path):
    path = tmp_path / "settings.json"
    Preferences(**KEPT).save(path)
    process = save(path, 1000, 1, "a")
    assert "File too large" in process.communicate()[1] and process.returncode == 1
    assert Preferences.load(path) == (Preferences(**KEPT), "") and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_leaves_the_settings_that_were(tmp_path):
    path = tmp_path / "settings.json"
    Preferences(**KEPT).save(path)
    with read_only(tmp_path) as before:
        process = save(path, -1, 1, "a", before)
        assert "PermissionError" in process.communicate()[1]
    assert Preferences.load(path) == (Preferences(**KEPT), "")


def test_two_instances_that_save_at_once_leave_the_settings_of_one(tmp_path):
    path = tmp_path / "settings.json"
    processes = [save(path, -1, 60, letter) for letter in "ab"]
    seen = set()
    while any(process.poll() is None for process in processes):
        found, note = Preferences.load(path)
        assert note == ""
        seen |= {letter[0] for letter in found.recent}
    assert [process.wait() for process in processes] == [0, 0]
    assert seen and len(Preferences.load(path)[0].recent) == 10 and list(tmp_path.iterdir()) == [path]


def test_text_and_window_follow_the_factor_of_the_system_and_keep_what_the_user_chose():
    chosen = Preferences()
    chosen.suit(2.0)
    assert (chosen.scale, chosen.width, chosen.height) == (2.0, 2560, 1600)
    chosen.scale = 2.4  # larger by a fifth
    chosen.suit(2.0)
    assert chosen.scale == 2.4
    chosen.suit(1.0)  # another display, at the next start
    assert chosen.scale == pytest.approx(1.2) and (chosen.width, chosen.height) == (1280, 800)
    chosen.suit(8.0)
    assert chosen.scale == 3.0


def test_the_factor_is_that_of_the_displays_dots_per_inch():
    for dots, factor in ((96, 1.0), (192, 2.0), (120, 1.25), (0, 0.25)):
        screen = SimpleNamespace(get_dpi=lambda dots=dots: dots)
        assert system_scale(screen) == (1.0 if sys.platform == "darwin" else factor)
