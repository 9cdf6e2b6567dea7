"""The workbench without a window: versions, checks, files, drafts, and the panels that edit."""

import os
import stat
from pathlib import Path
from zipfile import ZipFile

import fakes
import numpy as np
import pytest
from desk import BALL, Desk, checked
from hard_times import without_override
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.making import INSTALLED
from contactlab.app.opening import CannotOpen, opened
from contactlab.app.panels.layout import draw_ui
from contactlab.app.panels.pairs import by_rule, give, pairs_of
from contactlab.app.scene_files import Draft, SavedFile, entries, lost_work
from contactlab.app.workbench import Workbench, text_of
from contactlab.assets import gallery
from contactlab.physics.run.messages import Open, Pause
from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.history import hash_of_state
from contactlab.physics.simulation.simulation import Simulation


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


# ---------------------------------------------------------------------------------------------- versions


def test_undo_and_redo_go_through_all_versions_and_name_them():
    bench = Workbench()
    texts = [bench.text]
    for k in range(30):
        bench.edit(f"Add ball {k}", lambda d, k=k: edits.add_body(d, {"type": "sphere", "radius": 0.1}, (k, 0, 1)))
        texts.append(bench.text)
    for k in reversed(range(30)):
        assert bench.undoes == f"Add ball {k}"
        bench.undo()
        assert bench.text == texts[k]
    assert bench.undoes == "" and bench.redoes == "Add ball 0"
    for k in range(30):
        bench.redo()
        assert bench.text == texts[k + 1]
    bench.undo()
    bench.edit("Other", lambda d: d.put(("scene", "title"), "x"))
    assert bench.redoes == ""


def test_changes_of_one_movement_are_one_version():
    bench = Workbench()
    for k in range(5):
        bench.edit("Title", lambda d, k=k: d.put(("scene", "title"), f"{k}"), live=True)
    bench.settle()
    bench.edit("Title", lambda d: d.put(("scene", "title"), "last"), live=True)
    bench.undo()
    assert bench.document.get(("scene", "title")) == "4"
    bench.undo()
    assert bench.document.get(("scene", "title")) == "New scene" and bench.undoes == ""


@pytest.mark.parametrize("key", ["dice", "tower", "humanoid"])
def test_a_scene_that_is_edited_and_undone_is_the_scene_of_its_file(key):
    scene = Scene.load(gallery()[key])
    bench = Workbench()
    bench.begin(*text_of(scene)[:1], None, scene.folder)
    assert bench.text == scene.path.read_text("utf-8")
    bench.edit("Delete", lambda d: edits.delete(d, [1]))
    bench.undo()
    assert checked(bench).built.scene == scene and bench.built.rows[0] == 0


def test_an_impossible_value_is_refused_in_words_at_its_field_and_the_last_good_scene_stays():
    bench = Workbench()
    bench.edit("Add", lambda d: edits.add_body(d, {"type": "sphere", "radius": 0.5}, (0, 0, 1)))
    good = checked(bench).built
    bench.edit("Shrink", lambda d: d.put(("body", 1, "shape", 0, "radius"), -1.0))
    checked(bench)
    (said,) = bench.problems_at(("body", 1, "shape", 0, "radius"))
    assert said.startswith("is -1.0; it must be a number > 0 [m]") and bench.problems_at(("body", 0)) == []
    assert bench.built is good
    bench.undo()
    assert checked(bench).problems == () and bench.built.scene == good.scene


def test_a_body_that_is_placed_and_put_down_is_one_version_and_given_up_none():
    bench = Workbench()
    bench.begin_placing({"type": "sphere", "radius": 0.25})
    bench.preview, bench.about = edits.Pose(np.array([1.0, 2.0, 0.25]), np.array([1.0, 0.0, 0.0, 0.0])), np.zeros(3)
    bench.put_down()
    assert bench.document.get(("body", 1, "position")) == [1.0, 2.0, 0.25] and bench.undoes == "Add sphere"
    bench.undo()
    assert bench.undoes == ""
    bench.begin_placing({"type": "box", "size": [1.0, 1.0, 1.0]})
    bench.drop_placing()
    assert bench.text == edits.NEW and bench.redoes == "" and not bench.unsaved


# ------------------------------------------------------------------------------------------------- engine


def test_editing_stops_time_at_the_start_and_each_good_version_is_sent_and_then_plays(desk):
    assert [type(c) for c in desk.engine.sent[:1]] == [Pause]
    desk.move()
    checked(desk.bench)
    desk.lab.update()
    while not any(isinstance(c, Open) for c in desk.engine.sent):
        desk.lab.update()
    sent = [c for c in desk.engine.sent if isinstance(c, Open)][-1]
    assert sent.paused
    desk.run("play_pause")
    while desk.bench.on:
        desk.lab.update()
    sent = [c for c in desk.engine.sent if isinstance(c, Open)][-1]
    assert not sent.paused and sent.scene.tables.body[1].position == (1.0, 0.0, 1.0)


# -------------------------------------------------------------------------------------------------- files


def test_what_is_saved_has_the_edit_and_the_comments_and_opens_as_the_same_scene(desk):
    desk.move()
    assert desk.bench.unsaved
    desk.run("save")
    assert desk.path.read_text() == BALL.replace("[0.0, 0.0, 1.0]", "[1.0, 0.0, 1.0]")
    assert not desk.bench.unsaved and Scene.load(desk.path) == desk.bench.built.scene


def test_the_view_that_is_kept_is_in_the_file_and_the_scene_opens_with_it(desk):
    """Rounded to 0.1 mm and a hundredth of a degree."""
    camera = desk.lab.camera
    camera.target, camera.distance = np.array([0.12346, -0.5, 0.25]), 2.34567
    camera.look_from(-33.333, 21.987)
    desk.run("view_of_scene")
    checked(desk.bench)
    desk.run("save")
    kept = Scene.load(desk.path).camera
    assert kept.target == pytest.approx(camera.target, abs=5e-5) and kept.distance == 2.3457
    assert (kept.azimuth, kept.elevation) == pytest.approx((camera.azimuth, camera.elevation), abs=5e-3)
    assert desk.bench.undoes == "Keep the view"


def test_a_file_that_somebody_else_has_written_is_asked_about_and_both_versions_can_be_kept(desk):
    desk.move()
    theirs = BALL.replace("Ball", "Theirs")
    desk.path.write_text(theirs)
    desk.run("save")
    assert desk.path.read_text() == theirs and desk.bench.unsaved
    desk.answer("Keep both")
    assert "[1.0, 0.0, 1.0]" in desk.path.read_text()
    assert (desk.path.parent / "ball (changed elsewhere).toml").read_text() == theirs


def test_a_folder_that_cannot_be_written_is_one_sentence_and_the_work_is_kept(desk, monkeypatch):
    desk.move()
    before = desk.path.read_bytes()

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("contactlab.physics.scene.scene.whole_file", refuse)
    desk.run("save")
    said = f"{desk.path}: cannot be written (No space left on device)."
    assert desk.ui.message == f"Not saved, and nothing is lost: {said}"
    assert desk.path.read_bytes() == before and desk.bench.unsaved and "[1.0, 0.0, 1.0]" in desk.bench.text


@pytest.mark.skipif(os.name == "nt", reason="folders are never read-only there")
def test_a_read_only_folder_is_one_sentence(desk):
    desk.move()
    desk.path.parent.chmod(stat.S_IREAD | stat.S_IEXEC)
    with without_override():
        desk.run("save")
    desk.path.parent.chmod(stat.S_IRWXU)
    assert "Permission denied" in desk.ui.message and "\n" not in desk.ui.message


def test_a_scene_that_the_checks_refuse_is_not_saved(desk):
    desk.ui.edit("Shrink", lambda d: d.put(("body", 1, "shape", 0, "radius"), -1.0))
    desk.run("save")
    assert "cannot be saved" in desk.ui.message and desk.path.read_text() == BALL


def test_a_scene_with_meshes_is_one_file_that_opens_anywhere(tmp_path):
    """The bits of the same run, and the comments, wherever it is opened; saved again it goes into the same file."""
    desk = Desk(tmp_path)
    source = gallery()["meshes"]
    desk.lab.making.opened(Scene.load(source))
    desk.run("edit")
    desk.run("save_as")
    assert desk.host.suggested.suffix == ".zip"
    away = tmp_path / "elsewhere" / "mailed.zip"
    desk.run("save_to", away)
    assert away.exists() and list(away.parent.iterdir()) == [away]
    scene = opened(away).content
    assert scene == Scene.load(source) and scene.path == away and not scene.folder.is_relative_to(source.parent)
    runs = [Simulation(which) for which in (scene, Scene.load(source))]
    for sim in runs:
        sim.run(0.05)
    assert hash_of_state(runs[0].state) == hash_of_state(runs[1].state)
    assert text_of(scene) == (source.read_text(encoding="utf-8"), True)
    desk.lab.making.opened(scene)
    desk.run("edit")
    assert desk.bench.path == away
    desk.ui.edit("Title", lambda document: document.put(("scene", "title"), "Mailed"))
    checked(desk.bench)
    desk.run("save")
    assert opened(away).content.title == "Mailed" and desk.bench.folder == scene.folder
    assert [entry.title for entry in entries(away.parent)] == ["Mailed"]


def test_unsaved_work_on_a_packed_scene_is_recovered_with_its_meshes(tmp_path):
    desk = Desk(tmp_path)
    desk.lab.making.opened(Scene.load(gallery()["meshes"]))
    desk.run("edit")
    path = tmp_path / "packed.zip"
    desk.run("save_to", path)
    draft = Draft(tmp_path / "drafts")
    draft.keep("Meshes", desk.bench.text + "# and more", path, tmp_path / "gone")
    draft._lock.close()
    desk.lab.making.offer(lost_work(tmp_path / "drafts"))
    desk.answer("Go on with it")
    assert checked(desk.bench).problems == () and desk.bench.unsaved and desk.bench.path == path


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", "two", "none", "outside"])
def test_what_is_no_packed_scene_is_told_and_nothing_is_written_outside(tmp_path, content):
    path = tmp_path / "in" / "scene.zip"
    path.parent.mkdir()
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with ZipFile(path, "w") as archive:
            for name in {"two": ("a.toml", "b.toml"), "none": ("a.obj",), "outside": ("scene.toml",)}[content]:
                archive.writestr(name, BALL if content != "outside" else BALL + "[[body")
            archive.writestr("../../outside.txt", "x")
    with pytest.raises(CannotOpen, match=r"scene\.zip"):
        opened(path)
    assert not list(tmp_path.parent.glob("outside.txt")) and [p.name for p in tmp_path.iterdir()] == ["in"]


def test_a_scene_that_somebody_zipped_by_hand_opens(tmp_path):
    path = tmp_path / "scene.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("my folder/ball.toml", BALL)
        archive.writestr("__MACOSX/my folder/._ball.toml", b"\0")
    assert opened(path).content == Scene.from_text(BALL, None)


def test_a_scene_of_the_gallery_is_saved_under_another_name_with_its_meshes(tmp_path):
    desk = Desk(tmp_path)
    desk.lab.making.opened(Scene.load(gallery()["meshes"]))
    assert INSTALLED in gallery()["meshes"].parts
    desk.run("edit")
    desk.run("save")
    suggested = Path(desk.host.suggested).with_suffix(".toml")
    assert suggested.parent == tmp_path / "mine" / "Scenes"
    desk.run("save_to", suggested)
    assert Scene.load(suggested) == Scene.load(gallery()["meshes"])
    Scene.load(suggested).build()
    assert [entry.path for entry in desk.ui.scenes] == [suggested]


@pytest.mark.parametrize("answer, kept, gone", [
    ("Save", True, True), ("Discard", False, True), ("Cancel", False, False),
])
def test_unsaved_work_is_asked_about_once_on_closing(desk, answer, kept, gone):
    desk.run("quit")
    assert desk.host.asked.count("quit") == 1 and desk.ui.question is None  # nothing is unsaved
    desk.host.asked.clear()
    desk.move()
    desk.run("quit")
    assert desk.host.asked == []
    desk.answer(answer)
    assert ("quit" in desk.host.asked) == gone and ("[1.0, 0.0, 1.0]" in desk.path.read_text()) == kept
    assert desk.ui.question is None


def test_opening_another_file_asks_about_unsaved_work_too(desk):
    desk.move()
    desk.run("open_path", gallery()["dice"])
    assert not desk.lab.opening
    desk.answer("Discard")
    fakes.settle(desk.lab)
    assert desk.lab.making.scene.title == Scene.load(gallery()["dice"]).title
    assert not desk.bench.on and not desk.bench.unsaved


def test_work_of_a_program_that_was_killed_is_found_once_it_has_ended(tmp_path):
    """The lock of a draft ends with its program in whatever way; here the file is closed."""
    drafts = tmp_path / "drafts"
    draft = Draft(drafts)
    draft.keep("Ball", "text 1", Path("/a/b.toml"), Path("/a"))
    draft.keep("Ball", "text 2", Path("/a/b.toml"), Path("/a"))
    assert lost_work(drafts) == []  # in use
    draft._lock.close()
    (work,) = lost_work(drafts)
    assert (work.title, work.text, work.path, work.folder) == ("Ball", "text 2", Path("/a/b.toml"), Path("/a"))
    work.discard()
    assert lost_work(drafts) == [] and list(drafts.iterdir()) == []


def test_unsaved_work_is_kept_while_editing_recovered_and_dropped_once_a_file_has_it(tmp_path):
    desk = Desk(tmp_path)
    desk.lab.making.draft = draft = Draft(tmp_path / "drafts")
    desk.move()
    desk.lab.update()
    draft._lock.close()  # killed
    other = Desk(tmp_path)
    other.lab.making.draft = Draft(tmp_path / "drafts")
    other.lab.making.offer(lost_work(tmp_path / "drafts"))
    other.answer("Go on with it")
    assert other.bench.on and other.bench.unsaved and other.bench.text == desk.bench.text
    assert other.bench.path == desk.path and len(list((tmp_path / "drafts").iterdir())) == 1
    other.run("save")
    assert "[1.0, 0.0, 1.0]" in desk.path.read_text() and list((tmp_path / "drafts").iterdir()) == []


def test_a_file_that_is_gone_is_written_again(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(BALL)
    file = SavedFile()
    file.read(path)
    path.unlink()
    assert file.write(Scene.from_text(BALL, None), BALL, path) is None and path.read_text() == BALL


# ------------------------------------------------------------------------------------------------- panels


@pytest.fixture
def probe(desk, monkeypatch):
    ui = desk.ui
    made = Probe(monkeypatch, lambda ui: (draw_ui(ui, desk.lab.snapshot, desk.lab.send), desk.serve()), ui)
    yield made
    made.gui.release()


def test_a_number_typed_into_a_field_of_the_inspector_is_in_the_file(desk, probe):
    desk.bench.choose(("body", 1))
    probe.frame(3)
    probe.click("##body[1].mass")
    probe.type("2.5")
    probe.key(imgui.Key.enter)
    assert desk.bench.document.get(("body", 1, "mass")) == 2.5 and desk.bench.undoes == "Set mass of ball"
    probe.click("##body[1].position 2")
    probe.type("1/4")
    probe.key(imgui.Key.enter)
    assert desk.bench.document.get(("body", 1, "position")) == [0.0, 0.0, 0.25]
    probe.click("##body[1].fixed")
    assert desk.bench.document.get(("body", 1, "fixed")) is True
    probe.key(imgui.Key.escape)
    desk.run("undo")
    assert desk.bench.document.get(("body", 1, "fixed")) is None


def test_text_that_is_no_number_is_refused_beside_the_field(desk, probe):
    desk.bench.choose(("body", 1))
    probe.frame(3)
    probe.click("##body[1].mass")
    probe.type("heavy")
    probe.key(imgui.Key.enter)
    checked(desk.bench)
    assert desk.bench.problems_at(("body", 1, "mass"))[0].startswith('is "heavy"; it must be a number > 0 [kg]')


def test_buttons_add_bodies_joints_and_tables(desk, probe):
    probe.click("Box##add")
    assert desk.bench.placing == 2
    desk.bench.put_down()
    desk.bench.choose(("body", 1), ("body", 2))
    probe.frame(2)
    probe.click("Hinge##join")
    joint = desk.bench.document.get(("joint", 0))
    assert (joint["parent"], joint["child"]) == ("ball", "box") and desk.bench.chosen == (("joint", 0),)
    for kind in ("material", "spring", "array"):
        probe.click(f"\uf067##new {kind}")
    assert checked(desk.bench).problems == ()
    assert set(desk.bench.document.data) >= {"material", "spring", "array"}


def test_every_table_and_every_shape_has_a_page(desk, probe):
    """Nothing is drawn by hand: the fields of the schema are there, and no page fails."""
    places = []
    for kind in ("joint", "spring", "pair", "array", "apart", "compare", "material", "closed_form"):
        probe.frame(2)
        probe.click(f"\uf067##new {kind}")
        places.append(desk.bench.chosen[0])
    for k, (kind, shape) in enumerate(edits.FIRST.items()):
        made, at = {"type": kind, **shape}, (3.0 * k, 9.0, 5.0)
        places.append(("body", desk.ui.edit("Add", lambda d, made=made, at=at: edits.add_body(d, made, at))))
    for place in (*places, ("scene",), ("camera",), ("solver",)):
        desk.bench.choose(place)
        probe.frame(2)
        assert desk.ui.failures == {}, desk.ui.failures


PAIRED = BALL + """
[material.steel]
restitution = 0.8
friction = 0.2

[material.rubber]
friction = 0.8
"""


@pytest.fixture
def paired(tmp_path):
    return Desk(tmp_path, PAIRED)


def test_the_table_of_pairs_tells_the_rule_and_takes_what_is_typed(paired, monkeypatch):
    """By rule the greater restitution and the geometric mean of the frictions, √(0.2 · 0.8) = 0.4."""
    bench = paired.bench
    assert [(a, b) for a, b, _ in pairs_of(bench.document)] == [
        ("default", "steel"), ("default", "rubber"), ("steel", "rubber")]
    assert by_rule(bench.document, "steel", "rubber", "restitution") == 0.8
    assert by_rule(bench.document, "steel", "rubber", "friction") == pytest.approx(0.4)
    assert by_rule(bench.document, "steel", "rubber", "friction_static") is None
    scene = Scene.from_text(bench.text, None)
    model, k = scene.build().model, scene.build().labels.materials.index
    assert model.materials.friction[k("steel"), k("rubber")] == pytest.approx(0.4)  # as the engine has it

    def draw(ui):
        draw_ui(ui, paired.lab.snapshot, paired.lab.send)
        paired.serve()

    drawn = Probe(monkeypatch, draw, paired.ui)
    bench.choose(("pair",))
    drawn.frame(3)
    drawn.click("##pair steel rubber friction")
    drawn.type("0.9")
    drawn.key(imgui.Key.enter)
    assert bench.document.get(("pair", 0)) == {"materials": ["steel", "rubber"], "friction": 0.9}
    assert bench.undoes == "Set friction of steel – rubber" and checked(bench).problems == ()
    drawn.click("##pair steel rubber friction_static")
    drawn.type("0.1")  # less than friction
    drawn.key(imgui.Key.enter)
    assert "friction" in checked(bench).problems_at(("pair", 0, "friction_static"))[0]
    paired.run("undo")
    paired.run("undo")
    assert bench.document.get(("pair",)) is None
    drawn.gui.release()


def test_a_pair_of_which_nothing_is_given_is_none():
    document = Document(PAIRED)
    give(document, "rubber", "steel", "restitution", 0.1)
    give(document, "steel", "rubber", "friction", 0.3)  # the same pair, named the other way round
    assert document.data["pair"] == [{"materials": ["rubber", "steel"], "restitution": 0.1, "friction": 0.3}]
    for name in ("friction", "restitution"):
        give(document, "rubber", "steel", name, None)
    assert "pair" not in document.data


def test_a_number_typed_for_several_bodies_leaves_their_other_numbers(desk, probe):
    """Moved onto one height, they do not come to lie in one place."""
    desk.ui.edit("Add", lambda d: edits.add_body(d, {"type": "sphere", "radius": 0.1}, (2.0, 3.0, 4.0)))
    desk.bench.choose(("body", 1), ("body", 2))
    probe.frame(3)
    probe.click("##body[1].position 2")
    probe.type("0.5")
    probe.key(imgui.Key.enter)
    placed = [desk.bench.document.get(("body", k, "position")) for k in (1, 2)]
    assert placed == [[0.0, 0.0, 0.5], [2.0, 3.0, 0.5]] and desk.bench.undoes == "Set position of 2 bodies"


def test_copies_touch_what_they_are_copies_of(desk):
    """The sphere of the scene has a radius of 0.25 m."""
    desk.bench.choose(("body", 1))
    assert desk.bench.extent([1]) == [0.5, 0.5, 0.5] and desk.bench.extent([0]) == [1.0, 1.0, 1.0]
    desk.run("duplicate")
    assert desk.bench.document.get(("body", 2, "position")) == [0.5, 0.0, 1.0]
    assert checked(desk.bench).built.overlaps == ()


def test_the_plane_of_a_mirror_stands_where_the_tools_say(desk):
    desk.bench.choose(("body", 1))
    desk.bench.tools.mirror = 2.0
    desk.run("mirror_x")
    assert desk.bench.document.get(("body", 2, "position")) == [4.0, 0.0, 1.0]


def test_the_mouse_leaves_alone_what_is_locked(desk):
    desk.bench.choose(("body", 1))
    assert desk.bench.free == [1]
    desk.bench.preview = edits.Pose(np.ones(3), np.array([1.0, 0.0, 0.0, 0.0]))
    still = fakes.snapshot(0, 2)  # a floor and a ball, as the scene
    assert np.array_equal(desk.bench.shown(still).x[1], still.x[1] + 1.0)
    desk.bench.locked = {"ball"}
    assert desk.bench.free == [] and desk.bench.bodies == [1]  # its fields can still be typed
    assert np.array_equal(desk.bench.shown(still).x, still.x)
