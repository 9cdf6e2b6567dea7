"""Whatever a file is, opening it gives what it holds or a sentence: in the window, and on the command line."""

import threading
import time
import tracemalloc

import fakes
import numpy as np
import pytest
import trimesh
from probe import Probe

from contactlab.app import commands, opening
from contactlab.app.command_line import cli
from contactlab.app.lab import Lab
from contactlab.app.opening import CannotOpen, opened
from contactlab.app.panels import layout
from contactlab.app.panels.dialogs import draw_dialogs
from contactlab.app.ui_state import OpeningStatus, Request, UiState
from contactlab.physics.core.interruption import Interrupted, interruptible
from contactlab.physics.core.limits import TRIANGLES
from contactlab.physics.core.progress import at, telling
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.scene import kept_meshes, parts
from contactlab.physics.scene.mesh_scene import MeshChoices
from contactlab.physics.scene.parts import TAKEN_APART
from contactlab.physics.scene.refusals import SceneError

BALL = '[scene]\ntitle = "Ball"\n[[body]]\nname = "b"\n[[body.shape]]\ntype = "sphere"\nradius = 0.1\n'
ERRORS = (KeyError("x"), IndexError("list index out of range"), ZeroDivisionError("division by zero"), EOFError(),
          MemoryError(), RecursionError("maximum depth"), TypeError("unhashable"), OverflowError("too large"),
          AssertionError(), np.linalg.LinAlgError("singular"), OSError(28, "No space left on device"),
          UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), RuntimeError("a\nb"))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("stage", ["open_file", "build"])
def test_every_way_to_fail_is_told_in_one_sentence_that_names_the_file(tmp_path, monkeypatch, error, stage):
    def fail(*_):
        raise error

    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    target = opening if stage == "open_file" else opening.Scene
    monkeypatch.setattr(target, stage, fail)
    with pytest.raises(CannotOpen) as refused:
        opened(path)
    said = str(refused.value)
    assert "ball.toml" in said and said.endswith(".") and "Traceback" not in said
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path(path)
    while lab.opening:
        lab.update()
        time.sleep(0.001)
    assert lab.ui.message == said and lab.ui.failure is None and lab.engine.sent == []
    lab.close()
    if stage == "open_file":
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", str(path), "--until", "1"])
        assert ended.value.code == 2


@pytest.mark.parametrize("name", ["", ".", "/", "~nobody-of-this-name/x.toml", "a\0b.toml", "x" * 300 + ".stl", "x.npz",
                                  "x.toml", "x.urdf", "x.xml", "x.glb", "x"])
def test_a_path_that_leads_nowhere_is_told(name):
    with pytest.raises(CannotOpen):
        opened(name)


@pytest.mark.parametrize("suffix", [".toml", ".npz", ".urdf", ".xml", ".obj", ".stl", ".ply", ".off", ".glb", ""])
@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"[[[[", b"\xff\xfe\x00", b"PK\x03\x04"],
                         ids=["empty", "zeros", "brackets", "bytes", "zip"])
def test_a_file_of_any_ending_with_any_bytes_is_told(tmp_path, suffix, content):
    """An empty TOML file alone is a scene: of nothing."""
    if (suffix, content) == (".toml", b""):
        return
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(content)
    with pytest.raises(CannotOpen) as refused:
        opened(path)
    assert "broken" in str(refused.value) and "Traceback" not in str(refused.value)


def test_a_problem_opens_in_the_equations_and_the_command_line_says_where(tmp_path, capsys):
    path = tmp_path / "two.npz"
    ContactProblem.frictionless(np.eye(2), -np.ones(2)).save(path)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path(path)
    while lab.opening:
        lab.update()
    assert lab.ui.inspector.problem_name == "two.npz" and lab.ui.preferences.lower_tab == "equations"
    lab.close()
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(path), "--until", "1"])
    assert ended.value.code == 2 and "two.npz" in capsys.readouterr().err


def test_a_file_that_takes_long_shows_how_far_it_is_and_given_up_it_leaves_all_as_it_was(tmp_path, monkeypatch):
    """Its work ends in its thread where it next looks up, and nothing is sent to the engine, also not later."""
    path, ended, go_on = tmp_path / "large.stl", threading.Event(), threading.Event()

    def read(_, *choices):
        at("half of it", 0.5)
        go_on.wait(20.0)
        try:
            at("the rest", 0.9)
        except Interrupted:
            ended.set()
            raise

    monkeypatch.setattr(opening, "open_file", read)
    monkeypatch.setattr("contactlab.app.lab.SHOWN_AFTER", 0.0)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path(path)
    while lab.ui.opening is None or lab.ui.opening.share == 0.0:
        lab.update()
        time.sleep(0.001)
    assert lab.ui.opening == OpeningStatus("large.stl", "half of it", 0.5)
    thread = next(t for t in threading.enumerate() if t.name == "contactlab-open")
    before = lab.snapshot
    lab.escape()
    assert not lab.opening and lab.ui.opening is None and not ended.is_set()
    go_on.set()
    thread.join(20.0)
    lab.update()
    assert ended.is_set() and lab.engine.sent == [] and lab.snapshot is before and lab.ui.message == ""
    lab.close()


def ground(path, cells):
    """A ball above a height field of 2 cells² triangles in a binary STL file beside the scene."""
    x = np.linspace(-5.0, 5.0, cells + 1)
    at_x, at_y = np.meshgrid(x, x, indexing="ij")
    points = np.stack([at_x, at_y, 0.2 * np.sin(2.0 * at_x) * np.cos(3.0 * at_y)], axis=2)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    rows = np.zeros(2 * cells**2, [("normal", "<3f4"), ("corners", "<9f4"), ("unused", "<u2")])
    rows["corners"] = np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 9)
    path.with_suffix(".stl").write_bytes(bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes())
    mesh = f'[[body.shape]]\ntype = "mesh"\nfile = "{path.stem}.stl"\n'
    path.write_text(f'{BALL}\n[[body]]\nname = "ground"\nposition = [0, 0, -1]\nfixed = true\n{mesh}')
    return len(rows)


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """A scene on a ground of a million triangles, and how many these are; what reads it is loaded and compiled."""
    folder = tmp_path_factory.mktemp("million")
    ground(folder / "small.toml", 10)
    opened(folder / "small.toml")
    return folder / "million.toml", ground(folder / "million.toml", 708)


def test_a_million_triangles_take_bounded_memory_and_may_be_given_up_all_the_while(million, monkeypatch):
    """Memory grows with the triangles: so many as a file may have take no more than the gigabyte that limits.py speaks
    of. Ten seconds of the processor are wanted; no piece after which it is seen that nobody waits any more takes half
    of all, whatever the machine (the longest takes a fifth to a third). The bar shows three stages."""
    path, count = million
    monkeypatch.setattr(kept_meshes, "_kept", {})
    looks, stages = [time.thread_time()], []
    tracemalloc.start()
    with (interruptible(lambda: looks.append(time.thread_time())),
          telling(lambda words, share: stages.append((share, words)))):
        scene = opened(path)
    looks.append(time.thread_time())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{count} triangles: {looks[-1] - looks[0]:.1f} s, {np.diff(looks).max():.2f} s at once, {peak >> 20} MiB")
    assert count > 1_000_000 and len(scene.content.build().model.meshes.triangles) == count
    assert stages == sorted(stages) and sum("million.stl" in words for _, words in stages) == 3
    assert peak / count * TRIANGLES.most <= 2**30
    assert looks[-1] - looks[0] <= 10.0 and np.diff(looks).max() <= 0.5 * (looks[-1] - looks[0])


def test_a_million_triangles_that_are_given_up_are_not_opened(million, monkeypatch):
    """At each of the stages that the bar shows; the window goes on at once."""
    path, _ = million
    monkeypatch.setattr("contactlab.app.lab.SHOWN_AFTER", 0.0)
    for share in (0.0, 0.2, 0.5):
        monkeypatch.setattr(kept_meshes, "_kept", {})
        lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
        lab.open_path(path)
        while lab.ui.opening is None or lab.ui.opening.share < share:
            lab.update()
            time.sleep(0.001)
        thread = next(t for t in threading.enumerate() if t.name == "contactlab-open")
        lab.escape()
        assert not lab.opening and lab.ui.opening is None
        thread.join(60.0)
        lab.update()
        assert not thread.is_alive() and lab.engine.sent == [] and lab.ui.message == ""
        lab.close()


def test_cancel_in_the_box_gives_up_opening(monkeypatch):
    ui = UiState(opening=OpeningStatus("large.stl", "hull and mass", 0.7))
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, fakes.snapshot(), lambda command: None), ui)
    probe.click("Cancel##opening")
    assert ui.requests == [Request("cancel_opening")]
    probe.gui.release()


def test_a_hollow_mesh_may_be_its_hull_instead_of_taken_apart(monkeypatch):
    """The box asks once, and goes on with parts; its button opens the file again, as its hull."""
    asked, go_on = [], threading.Event()

    def read(path, collide, *_):
        asked.append(collide)
        if collide is None:
            at(f"cup.stl is hollow: {TAKEN_APART}", 0.3)
            go_on.wait(20.0)
            at("more of it", 0.4)
        raise SceneError(f"{path.name} is opened with {collide}.")

    monkeypatch.setattr(opening, "open_file", read)
    monkeypatch.setattr("contactlab.app.lab.SHOWN_AFTER", 0.0)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path("cup.stl")
    while lab.ui.opening is None or not lab.ui.opening.may_be_hull:
        lab.update()
        time.sleep(0.001)
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, fakes.snapshot(), lambda command: None), lab.ui)
    probe.click("Use its hull##opening")
    assert lab.ui.requests == [Request("open_as_hull")]
    probe.gui.release()
    lab.open_as_hull()
    go_on.set()
    while lab.opening:
        lab.update()
        time.sleep(0.001)
    assert asked == [None, "hull"] and lab.ui.message == "cup.stl is opened with hull." and lab.engine.sent == []
    lab.close()


def test_opening_a_mesh_tells_stages_in_order(tmp_path):
    (tmp_path / "c.off").write_text("OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n")
    shares = []
    with telling(lambda words, share: shares.append((share, words))):
        opened(tmp_path / "c.off")
    assert shares == sorted(shares) and len(shares) == 4 and all("c.off" in words for _, words in shares)


@pytest.mark.parametrize(("size", "asked"), [(300.0, True), (1.0, False), (1e-4, True)])
def test_a_mesh_of_an_unlikely_size_asks_for_its_unit(tmp_path, monkeypatch, size, asked):
    """STL has no unit: as metres the numbers stand at first, and an answer opens the file again in that unit."""
    path = tmp_path / "screw.stl"
    trimesh.creation.box((size, 0.1 * size, 0.1 * size)).export(path)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path(path)
    settle(lab)
    assert (lab.ui.mesh_box is not None) == asked
    if asked:
        assert f"{size:.3g}" in lab.ui.mesh_box.asked[0].text
        answer(monkeypatch, lab, "mm##scale", "Open it so##mesh")
        assert lab.ui.mesh_box is None
        assert lab.engine.sent[-1].scene.tables.body[1].shape[0].scale == 0.001
    lab.close()


def answer(monkeypatch, lab, *labels):
    """Press these in the box about a mesh, and wait for what that opens."""
    probe = Probe(monkeypatch, lambda ui: draw_dialogs(ui, None, lab.send), lab.ui)
    for label in labels:
        probe.click(label)
    probe.gui.release()
    for request in lab.ui.requests:
        commands.run(lab, *request)
    lab.ui.requests.clear()
    settle(lab)


@pytest.fixture
def trays(tmp_path):
    """Two open trays and a closed hollow ring in one file, in mm."""
    tray = trimesh.creation.box((200.0, 100.0, 40.0))
    tray.update_faces(tray.face_normals[:, 2] < 0.5)
    other = tray.copy()
    other.apply_translation([300.0, 0.0, 0.0])
    trimesh.util.concatenate([tray, other]).export(tmp_path / "trays.stl")
    return tmp_path / "trays.stl"


def test_all_that_a_mesh_does_not_say_is_asked_in_one_box_and_once(trays, monkeypatch):
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_path(trays)
    settle(lab)
    box = lab.ui.mesh_box
    assert [asked.field for asked in box.asked] == ["scale", "split", "thickness"]
    assert [label for label, _ in box.asked[1].answers] == ["one body", "2 bodies"]
    answer(monkeypatch, lab, "mm##scale", "2 bodies##split", "a shell##thickness")
    assert lab.ui.mesh_box is box and box.wanted == MeshChoices(None, 0.001, True, 0.005)  # 1 % of 0.5 m
    monkeypatch.setattr(parts, "convex_parts", None)  # nothing is taken apart here
    box.wanted = box.wanted._replace(collide="hull")
    answer(monkeypatch, lab, "Open it so##mesh")
    bodies = lab.engine.sent[-1].scene.tables.body
    assert [body.name for body in bodies] == ["ground", "trays 1", "trays 2"] and lab.ui.mesh_box is None
    assert bodies[1].shape[0].thickness == 0.005 and bodies[1].shape[0].scale == 0.001
    lab.close()


def test_a_mesh_may_be_kept_as_it_is_and_escape_does_so_too(trays, monkeypatch):
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    for leave in (lambda: answer(monkeypatch, lab, "Keep it as it is##mesh"), lab.escape):
        lab.open_path(trays)
        settle(lab)
        sent = len(lab.engine.sent)
        assert lab.ui.mesh_box is not None
        leave()
        assert lab.ui.mesh_box is None and len(lab.engine.sent) == sent
    lab.open_mesh(trays, MeshChoices(collide="hull"))
    settle(lab)
    assert lab.ui.mesh_box is None  # it was said how
    lab.close()


def test_several_meshes_are_opened_as_one_scene_and_asked_about_together(trays, monkeypatch):
    other = trays.with_name("box.stl")
    trimesh.creation.box((100.0, 100.0, 100.0)).export(other)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    commands.run(lab, "open_paths", [str(trays), str(other)])
    settle(lab)
    assert [body.name for body in lab.engine.sent[-1].scene.tables.body] == ["ground", "trays", "box"]
    assert lab.ui.mesh_box.title == "How are trays.stl and 1 more meant?" and not lab.ui.mesh_box.changed
    answer(monkeypatch, lab, "mm##scale", "3 bodies##split", "Open it so##mesh")
    assert [body.name for body in lab.engine.sent[-1].scene.tables.body] == ["ground", "trays 1", "trays 2", "box"]
    assert lab.ui.mesh_box is None
    lab.close()


@pytest.mark.parametrize("which", ["a scene", "nothing there"])
def test_of_several_files_that_are_not_all_meshes_the_first_is_opened(trays, tmp_path, which):
    path = tmp_path / ("ball.toml" if which == "a scene" else "gone.toml")
    if which == "a scene":
        path.write_text(BALL)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    commands.run(lab, "open_paths", [str(path), str(trays)])
    assert lab.ui.notice.text == f"Only meshes are opened together: {path.name} is opened."
    settle(lab)
    assert len(lab.engine.sent) == (which == "a scene") and bool(lab.ui.message) == (which != "a scene")
    lab.close()


def settle(lab):
    lab.update()
    while lab.opening:
        lab.update()
        time.sleep(0.001)
