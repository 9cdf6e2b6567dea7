"""Editing by the mouse without a window: arrows dragged at their tips, groups, hidden bodies, meshes that are added."""

import fakes
import numpy as np
import pytest
from desk import Desk, checked
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import gizmo, limit_handles
from contactlab.app.panels.layout import draw_ui
from contactlab.app.window.edit_mouse import EditMouse
from contactlab.physics.scene import edits
from contactlab.physics.scene.schema import Table

TWO = """\
[[body]]
name = "ball"
position = [0.0, 0.0, 1.0]
shape = [{type = "sphere", radius = 0.25}]

[[body]]
name = "brick"
position = [2.0, 0.0, 1.0]
shape = [{type = "box", size = [0.2, 0.2, 0.2]}]
"""
CUBE = """\
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8
"""


@pytest.fixture
def desk(tmp_path):
    """The floor and the ball, as in the snapshot: a plane and a ball."""
    made = Desk(tmp_path)
    made.engine.latest = made.lab.snapshot = fakes.snapshot(n=2)
    return made


@pytest.fixture
def probe(desk, monkeypatch):
    ui = desk.ui

    def draw(ui):
        draw_ui(ui, desk.lab.snapshot, desk.lab.send)
        desk.serve()
        gizmo.draw_handles(ui, desk.lab.snapshot, desk.lab.camera)

    made = Probe(monkeypatch, draw, ui)
    yield made
    made.gui.release()


def test_frames_of_the_workbench_ask_for_no_schema(probe, monkeypatch):
    """But the first: to write the JSON Schema of scene files takes longer than a frame may."""
    asked = []
    monkeypatch.setattr(Table, "model_json_schema", classmethod(lambda table: asked.append(table)))
    probe.frame(2)
    assert asked == []


def drag(probe, start, end):
    for at, pressed in ((start, None), (start, True), (end, None), (end, False)):
        probe.gui.io.add_mouse_pos_event(*at)
        if pressed is not None:
            probe.gui.io.add_mouse_button_event(0, pressed)
        probe.frame(2)


@pytest.mark.parametrize("tool, place, field, start, before", [
    ("velocity", ("body", 1), "velocity", (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)),
    ("spin", ("body", 1), "angular_velocity", (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)),
    ("move", ("scene",), "gravity", (0.0, 0.0, 0.0), (0.0, 0.0, -9.81)),
])
def test_the_tip_of_an_arrow_is_dragged_and_the_file_has_what_it_points_to(desk, probe, tool, place, field, start,
                                                                           before):
    """A drag by (dx, dy) pixels at depth z in a picture whose pixels are a wide at 1 m moves the tip by z a dx to the
    right and z a dy down; a unit is as long as the arrow's meaning says. ImGuizmo counts in float32."""
    camera, (x, y, w, h) = desk.lab.camera, desk.ui.view_rect
    camera.target, camera.distance = np.array([0.0, 0.0, 0.0]), 5.0
    means = gizmo.ARROWS.get(tool, gizmo.GRAVITY)
    metres = means.length * camera.distance
    desk.bench.tools.tool, desk.bench.tools.snap = tool, False
    desk.bench.choose(place)
    probe.frame(2)
    (at,), (depth,) = camera.project(np.array(start) + metres * np.array(before), w, h)
    drag(probe, (x + at[0], y + at[1]), (x + at[0] + 60.0, y + at[1] + 30.0))
    right, up, _ = camera.axes
    moved = depth * camera.pixel_angle(h) * (60.0 * right - 30.0 * up) / metres
    assert desk.bench.document.get((*place, field)) == pytest.approx(np.array(before) + moved, abs=2e-3)
    assert np.linalg.norm(moved) > 0.5
    assert desk.bench.undoes.startswith(f"Set {means.words} of")
    desk.run("undo")
    assert desk.bench.document.get((*place, field)) is None


def test_the_axis_of_a_joint_is_turned_by_the_tip_of_its_arrow_and_stays_a_unit_vector(desk, probe):
    """Snapped, the tip goes by tenths of its length; a ball joint has no arrow."""
    camera, (x, y, w, h) = desk.lab.camera, desk.ui.view_rect
    camera.target, camera.distance = np.array([0.0, 0.0, 1.0]), 5.0
    place = desk.ui.edit("Join", lambda d: ("joint", edits.add_joint(d, "hinge", "world", "ball", [0.0, 0.0, 1.0])))
    desk.bench.choose(place)
    desk.bench.tools.tool = "turn"
    probe.frame(2)
    metres = gizmo.AXIS.length * camera.distance
    (at,), _ = camera.project(np.array([0.0, metres, 1.0]), w, h)
    drag(probe, (x + at[0], y + at[1]), (x + at[0] + 5.0, y + at[1] - 90.0))
    axis = np.array(desk.bench.document.get((*place, "axis")))
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-6) and axis[2] > 0.3
    assert desk.bench.undoes == "Turn the axis of a joint" and not desk.bench.problems
    desk.run("undo")
    assert desk.bench.document.get((*place, "axis")) == [0.0, 1.0, 0.0]
    ball = desk.ui.edit("Join", lambda d: ("joint", edits.add_joint(d, "ball", "world", "ball", [0.0, 0.0, 1.0])))
    desk.bench.choose(ball)
    probe.frame(2)
    drag(probe, (x + at[0], y + at[1]), (x + at[0] + 5.0, y + at[1] - 90.0))
    assert desk.bench.document.get((*ball, "axis")) is None


@pytest.fixture
def hinged(desk):
    """The ball on an arm of 1 m, on a hinge about y whose position 0 is along x; the place of the joint."""
    def join(kind, **more):
        def change(document):
            document.put(("body", 1, "position"), [1.0, 0.0, 1.0])
            place = ("joint", edits.add_joint(document, kind, "world", "ball", [0.0, 0.0, 1.0]))
            for name, value in ({"axis": [0.0, 1.0, 0.0]} | more).items():
                document.put((*place, name), value)
            return place
        place = desk.ui.edit("Join", change)
        desk.bench.choose(place)
        desk.lab.camera.target, desk.lab.camera.distance = np.array([0.0, 0.0, 1.0]), 5.0
        return place
    return join


def seen(desk, point):
    """Where a point of the world is in the window."""
    x, y, w, h = desk.ui.view_rect
    (at,), _ = desk.lab.camera.project(np.array(point), w, h)
    return x + at[0], y + at[1]


def on_arc(desk, degrees):
    """The point of the world where the handle of a limit about y stands: z turns to x, x to -z."""
    radius, angle = limit_handles.REACH * desk.lab.camera.distance, np.radians(degrees)
    return [radius * np.cos(angle), 0.0, 1.0 - radius * np.sin(angle)]


@pytest.mark.parametrize("end, start, to", [(0, -30.0, -75.0), (1, 60.0, 120.0)])
def test_a_limit_of_a_hinge_is_dragged_by_its_handle_and_undone(desk, probe, hinged, end, start, to):
    """The handle follows the cursor about the axis; snapped, it goes by the tool's 15°."""
    place = hinged("hinge", limits=[-30, 60])
    probe.frame(2)
    drag(probe, seen(desk, on_arc(desk, start)), seen(desk, on_arc(desk, to + 4.0)))
    expected = [-30.0, 60.0]
    expected[end] = to
    assert desk.bench.document.get((*place, "limits")) == expected
    assert desk.bench.undoes == f"Set the {('lower', 'upper')[end]} limit of joint 1"
    desk.run("undo")
    assert desk.bench.document.get((*place, "limits")) == [-30, 60]
    desk.bench.tools.snap = False
    drag(probe, seen(desk, on_arc(desk, start)), seen(desk, on_arc(desk, to + 4.0)))
    # a pixel is h / (2 tan(fov/2)) of a radian at 1 m: about a hundredth of the arc's radius, half a degree
    assert desk.bench.document.get((*place, "limits"))[end] == pytest.approx(to + 4.0, abs=0.5)


def test_a_limit_goes_past_half_a_turn_and_stops_at_the_other_one(desk, probe, hinged):
    place = hinged("hinge", limits=[-30, 170])
    probe.frame(2)
    drag(probe, seen(desk, on_arc(desk, 170.0)), seen(desk, on_arc(desk, 210.0)))
    assert desk.bench.document.get((*place, "limits")) == [-30.0, 210.0]
    drag(probe, seen(desk, on_arc(desk, -30.0)), seen(desk, on_arc(desk, -45.0)))
    assert desk.bench.document.get((*place, "limits")) == [-45.0, 210.0]
    held = limit_handles.HeldLimit(0, (-45.0, 60.0))
    assert limit_handles.moved(held, 75.0) == (60.0, 60.0)


def test_the_limits_of_a_slider_are_dragged_along_its_axis(desk, probe, hinged):
    place = hinged("slider", axis=[1.0, 0.0, 0.0], limits=[-0.5, 0.4])
    probe.frame(2)
    drag(probe, seen(desk, [0.4, 0.0, 1.0]), seen(desk, [0.82, 0.0, 1.0]))
    assert desk.bench.document.get((*place, "limits")) == [-0.5, 0.8]  # by the tool's 0.05 m
    desk.run("undo")
    assert desk.bench.document.get((*place, "limits")) == [-0.5, 0.4]


def test_a_hinge_without_limits_gets_them_by_a_drag_and_a_ball_joint_has_no_handles(desk, probe, hinged):
    place = hinged("hinge")
    probe.frame(2)
    assert desk.bench.document.get((*place, "limits")) is None
    drag(probe, seen(desk, on_arc(desk, 90.0)), seen(desk, on_arc(desk, 45.0)))
    assert desk.bench.document.get((*place, "limits")) == [-90.0, 45.0]
    ball = hinged("ball")
    assert limit_handles.range_of(desk.ui) is None and desk.bench.document.get((*ball, "limits")) is None


def test_a_snapped_arrow_has_round_numbers_and_a_fixed_body_none(desk, probe):
    camera, (x, y, w, h) = desk.lab.camera, desk.ui.view_rect
    desk.bench.tools.tool = "velocity"
    desk.bench.choose(("body", 1))
    probe.frame(2)
    (at,), _ = camera.project(np.array([0.0, 0.0, 0.1]), w, h)
    drag(probe, (x + at[0], y + at[1]), (x + at[0] + 71.0, y + at[1] - 43.0))
    found = np.array(desk.bench.document.get(("body", 1, "velocity")))
    assert np.abs(found - np.round(found, 1)).max() < 1e-12 < np.abs(found).max()
    before = desk.bench.text
    desk.bench.choose(("body", 0))
    probe.frame(2)
    drag(probe, (x + at[0], y + at[1]), (x + at[0] + 71.0, y + at[1] - 43.0))
    assert desk.bench.text == before


def test_a_click_on_the_handles_moves_nothing_and_a_drag_by_whole_steps(desk, probe):
    """ImGuizmo's float32 is off by 5e-8 m at 1 m: no trace of that comes into the file."""
    camera, (x, y, w, h) = desk.lab.camera, desk.ui.view_rect
    desk.bench.choose(("body", 1))
    desk.lab.snapshot.x[1] = 0.7, 0.3, 1.1
    probe.frame(2)
    (at,), _ = camera.project(desk.lab.snapshot.x[1], w, h)
    here, before = (x + at[0], y + at[1]), desk.bench.text
    drag(probe, here, here)
    assert desk.bench.text == before
    drag(probe, here, (here[0] + 80.0, here[1] - 40.0))
    assert desk.bench.undoes == "Move ball"
    moved = np.array(desk.bench.document.get(("body", 1, "position"))) / 0.05
    assert np.abs(moved - np.round(moved)).max() < 1e-9


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """The ball and the brick, which stands turned by 30° about z, with the handles in the view."""
    desk = Desk(tmp_path, TWO.replace("[2.0, 0.0, 1.0]", "[2.0, 0.0, 1.0]\neuler = [0.0, 0.0, 30.0]"))
    shown = fakes.snapshot(0, 2)
    shown.x[:] = (0.0, 0.0, 1.0), (2.0, 0.0, 1.0)
    shown.q[1] = np.cos(np.pi / 12.0), 0.0, 0.0, np.sin(np.pi / 12.0)
    desk.engine.latest = desk.lab.snapshot = shown

    def draw(ui):
        draw_ui(ui, desk.lab.snapshot, desk.lab.send)
        desk.serve()
        gizmo.draw_handles(ui, desk.lab.snapshot, desk.lab.camera)

    made = Probe(monkeypatch, draw, desk.ui)
    desk.lab.camera.follow(np.array([1.0, 0.0, 1.0]))
    desk.lab.camera.distance = 6.0  # both are in the view
    yield desk, made
    made.gui.release()


def grip(desk, probe, point, toward):
    """Where the handles at a point of the world are met on the way towards another, and the way on the screen."""
    x, y, w, h = desk.ui.view_rect
    places, _ = desk.lab.camera.project(np.array([point, toward]), w, h)
    way = (places[1] - places[0]) / np.linalg.norm(places[1] - places[0])
    for far in np.arange(14.0, 200.0, 2.0):
        at = places[0] + far * way + (x, y)
        probe.gui.io.add_mouse_pos_event(*at)
        probe.frame(2)
        if gizmo.handles_hold(desk.ui):
            return at + 3.0 * way, way
    raise AssertionError("no handle is there")


def turn_of(desk, place):
    return edits.pose(desk.bench.document.get(("body", place)))


def test_bodies_are_moved_together_along_the_world_or_their_own_axes_by_whole_steps(pair):
    """The brick's own x axis is (cos 30°, sin 30°, 0); the ball goes with it by as much."""
    desk, probe = pair
    for local, axis in ((False, (1.0, 0.0, 0.0)), (True, (np.sqrt(0.75), 0.5, 0.0))):
        desk.bench.tools.local = local
        desk.bench.choose(("body", 1), ("body", 0))
        probe.frame(2)
        before = [turn_of(desk, k).position for k in (0, 1)]
        start, way = grip(desk, probe, desk.lab.snapshot.x[1], desk.lab.snapshot.x[1] + axis)
        drag(probe, tuple(start), tuple(start + 60.0 * way))
        assert desk.bench.undoes == "Move 2 bodies"
        shifts = [turn_of(desk, k).position - before[k] for k in (0, 1)]
        assert np.abs(shifts[0] - shifts[1]).max() < 2e-9  # as numbers are written
        steps = shifts[1] @ axis / desk.bench.tools.step
        assert steps > 0.5 and abs(steps - round(steps)) < 1e-5
        assert np.linalg.norm(shifts[1] - (shifts[1] @ axis) * np.array(axis)) < 1e-6
        desk.run("undo")


def test_bodies_are_turned_together_about_the_first_one_by_whole_angles(pair):
    """The axis seen end on is the camera's, the ring around all others; 15° a step."""
    desk, probe = pair
    desk.bench.tools.tool = "turn"
    desk.bench.choose(("body", 1), ("body", 0))
    probe.frame(2)
    before = [turn_of(desk, k) for k in (0, 1)]
    start, way = grip(desk, probe, desk.lab.snapshot.x[1], desk.lab.snapshot.x[1] + (0.3, 0.2, 1.0))
    drag(probe, tuple(start), tuple(start + 70.0 * np.array([-way[1], way[0]])))
    assert desk.bench.undoes == "Turn 2 bodies"
    after = [turn_of(desk, k) for k in (0, 1)]
    assert np.abs(after[1].position - before[1].position).max() < 1e-6  # what it turns about
    arms = [pose[0].position - pose[1].position for pose in (before, after)]
    assert np.linalg.norm(arms[1] - arms[0]) > 0.1 and np.linalg.norm(arms[1]) == pytest.approx(2.0, abs=1e-6)
    for old, new in zip(before, after, strict=True):
        angle = 2.0 * np.degrees(np.arccos(min(abs(float(old.turn @ new.turn)), 1.0)))
        assert angle > 1.0 and abs(angle / 15.0 - round(angle / 15.0)) < 1e-3


def test_a_body_is_scaled_along_one_of_its_own_axes_by_tenths(pair):
    desk, probe = pair
    desk.bench.tools.tool = "scale"
    desk.bench.choose(("body", 1))
    probe.frame(2)
    start, way = grip(desk, probe, desk.lab.snapshot.x[1], desk.lab.snapshot.x[1] + (np.sqrt(0.75), 0.5, 0.0))
    drag(probe, tuple(start), tuple(start + 80.0 * way))
    assert desk.bench.undoes == "Scale brick"
    size = np.array(desk.bench.document.get(("body", 1, "shape", 0, "size"))) / 0.2
    assert size[0] > 1.05 and abs(10.0 * size[0] - round(10.0 * size[0])) < 1e-4
    assert np.abs(size[1:] - 1.0).max() < 1e-6


# ------------------------------------------------------------------------------------------------- groups


def test_bodies_of_a_group_are_chosen_by_one_of_them_and_by_a_double_click(tmp_path):
    desk = Desk(tmp_path, TWO)
    desk.bench.choose(("body", 0), ("body", 1))
    desk.run("group")
    assert desk.bench.undoes == "Group 2 bodies"
    assert [desk.bench.document.get(("body", k, "group")) for k in (0, 1)] == ["group", "group"]
    desk.bench.choose(("body", 1))
    desk.run("choose_groups")
    assert desk.bench.bodies == [0, 1]
    desk.bench.choose(("body", 0))
    EditMouse(desk.lab, lambda *_: None).double_click(5.0, 5.0, "left")
    assert desk.bench.bodies == [0, 1]
    desk.run("duplicate")
    checked(desk.bench)
    desk.run("choose_groups")
    assert desk.bench.bodies == [0, 1, 2, 3]  # copies are of the group
    desk.run("group")
    assert desk.bench.undoes == "Ungroup 4 bodies" and "group" not in desk.bench.text
    assert checked(desk.bench).problems == ()


def test_the_list_shows_a_group_as_one_and_a_click_chooses_it(tmp_path, monkeypatch):
    desk = Desk(tmp_path, TWO)
    probe = Probe(monkeypatch, lambda ui: (draw_ui(ui, desk.lab.snapshot, desk.lab.send), desk.serve()), desk.ui)
    assert {"ball##('body', 0)", "brick##('body', 1)"} <= probe.drawn()
    desk.bench.choose(("body", 0), ("body", 1))
    probe.frame(2)
    probe.click("Group##bench")
    assert not {"ball##('body', 0)", "brick##('body', 1)"} & probe.drawn() and "Ungroup##bench" in probe.drawn()
    probe.click("Ungroup##bench")
    assert {"ball##('body', 0)", "Group##bench"} <= probe.drawn()
    probe.gui.release()


# ------------------------------------------------------------------------------------------------- hidden


def test_what_is_hidden_is_neither_drawn_nor_hit_and_comes_back(desk):
    asked = []
    mouse = EditMouse(desk.lab, lambda origin, direction, without: asked.append(list(without)))
    desk.bench.choose(("body", 1))
    desk.run("hide")
    assert np.isnan(desk.bench.shown(desk.lab.snapshot).x[1]).all() and desk.bench.bodies == []
    assert np.isfinite(desk.bench.shown(desk.lab.snapshot).x[0]).all()
    mouse._choose(5.0, 5.0)
    assert asked == [[1]]
    desk.bench.on = False  # it runs
    assert desk.bench.shown(desk.lab.snapshot) is desk.lab.snapshot
    desk.bench.on = True
    desk.run("hide")  # nothing is chosen: all again
    assert desk.bench.shown(desk.lab.snapshot) is desk.lab.snapshot
    assert "hidden" not in desk.bench.text and not desk.bench.unsaved


# ------------------------------------------------------------------------------------------------- meshes


def test_a_mesh_is_added_beside_the_scene_and_from_elsewhere_as_a_copy(tmp_path):
    here = tmp_path / "scene"
    for folder, name in ((here, "near.obj"), (tmp_path / "far", "cube.obj")):
        folder.mkdir()
        (folder / name).write_text(CUBE)
    desk = Desk(here)
    desk.run("add_mesh_file", here / "near.obj")
    assert desk.bench.placing == 2 and desk.bench.undoes == "Add mesh"
    desk.bench.put_down()
    desk.run("add_mesh_file", str(tmp_path / "far" / "cube.obj"))
    desk.bench.put_down()
    assert checked(desk.bench).problems == ()
    made = [body for body in desk.bench.document.data["body"] if body["shape"][0]["type"] == "mesh"]
    assert [(body["name"], body["shape"][0]["file"]) for body in made] == [("near", "near.obj"), ("cube", "cube.obj")]
    assert (here / "cube.obj").read_text() == CUBE and "copied" in desk.ui.notice.text
    assert desk.bench.built.scene is not None and desk.bench.built.scene.build().model.mass[-1] == pytest.approx(1000.0)


@pytest.mark.parametrize("name, said", [("gone.obj", "No such file"), ("notes.txt", "is no mesh")])
def test_a_file_that_is_no_mesh_or_is_not_there_is_refused_in_a_sentence(desk, tmp_path, name, said):
    (tmp_path / "notes.txt").write_text("x")
    before = desk.bench.text
    desk.run("add_mesh_file", tmp_path / name)
    assert said in desk.ui.message and desk.bench.text == before


def test_the_palette_asks_for_a_mesh(desk, probe):
    probe.click("Mesh …##add")
    assert desk.host.asked == ["choose_mesh"]
    desk.ui.open_box = "add_mesh_file"
    probe.frame(3)
    probe.type("/home/me/die.obj")
    probe.key(imgui.Key.enter)
    assert "die.obj" in desk.ui.message and desk.ui.open_box == ""  # there is none


@pytest.mark.parametrize("size", [(640, 420), (1280, 800)])
def test_numbers_have_room_in_any_window(tmp_path, monkeypatch, size):
    """In a narrow inspector a field stands below its name: at least 2 font heights a number, none beyond the edge."""
    desk = Desk(tmp_path)
    probe = Probe(monkeypatch, lambda ui: (draw_ui(ui, desk.lab.snapshot, desk.lab.send), desk.serve()), desk.ui)
    probe.gui.resize(size, size)
    desk.bench.choose(("body", 1))
    probe.frame(3)
    for label in ("##body[1].position 2", "##body[1].orientation 3", "##body[1].mass"):
        lo, hi = probe.rects[label]
        assert hi.x - lo.x >= 2.0 * desk.ui.font and hi.x <= size[0]
    probe.gui.release()
