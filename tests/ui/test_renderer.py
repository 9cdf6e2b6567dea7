"""Claims about the picture, on whatever draws here: a GPU or Mesa's llvmpipe."""

import dataclasses
import gc
from types import SimpleNamespace

import moderngl
import numpy as np
import pytest
import trimesh
from scenes_to_draw import PLAIN, SIZE, Pictures, body, contact, extents, front_camera, snapshot

from contactlab.app.view import body_painter, offscreen, picking, programs, renderer
from contactlab.app.view.body_painter import BodyPainter
from contactlab.app.view.camera import Camera, scene_bounds, shape_boxes
from contactlab.app.view.offscreen import GraphicsError, Offscreen
from contactlab.app.view.programs import quality
from contactlab.app.view.renderer import Renderer
from contactlab.app.view.tiles import TILE
from contactlab.app.view.view_options import ViewOptions
from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.run import messages as m

W, H = SIZE
DISTANCE = 4.0
F = 1.0 / front_camera().pixel_angle(H)  # [pixels] of a length seen from as far away


@pytest.fixture(scope="module")
def pictures():
    made = Pictures()
    yield made
    made.release()


def tangent(radius: float, height: float = 0.0) -> float:
    """Slope at which a sphere's upper edge is seen, `height` above the axis at the distance of the target."""
    return np.tan(np.arctan2(height, DISTANCE) + np.arcsin(radius / np.hypot(DISTANCE, height)))


# half width and half height [slopes], seen from the front
SILHOUETTES = {
    "sphere": (body("sphere", radius=0.7), tangent(0.7), tangent(0.7)),
    "box": (body("box", size=[1.2, 0.8, 0.6]), 0.6 / (DISTANCE - 0.4), 0.3 / (DISTANCE - 0.4)),
    "capsule": (body("capsule", radius=0.3, height=0.8), tangent(0.3), tangent(0.3, 0.4)),
    "cylinder": (body("cylinder", radius=0.5, height=0.8), tangent(0.5), 0.4 / (DISTANCE - 0.5)),
    # a ball of radius b where the view is stretched by a/b across: seen under its tangent cone
    "ellipsoid": (body("ellipsoid", size=[1.4, 0.8, 0.6]), 0.7 / np.sqrt(DISTANCE**2 - 0.4**2),
                  0.3 / np.sqrt(DISTANCE**2 - 0.4**2)),
    "bowl": (body("bowl", fixed=True, radius=0.6, angle=180.0), tangent(0.6), tangent(0.6)),
    "hull": (
        body("hull", points=[[0.7, 0, 0], [-0.7, 0, 0], [0, 0.2, 0], [0, -0.2, 0], [0, 0, 0.5], [0, 0, -0.5]]),
        0.7 / DISTANCE, 0.5 / DISTANCE),
}


@pytest.mark.parametrize("kind", SILHOUETTES)
def test_silhouettes_are_as_wide_and_as_high_as_projected(pictures, kind):
    table, width, height = SILHOUETTES[kind]
    seen = extents(pictures.silhouette(snapshot(table), front_camera(DISTANCE)))
    expected = [W / 2 - F * width, W / 2 + F * width, H / 2 - F * height, H / 2 + F * height]
    assert np.abs(seen - expected).max() < 1.6  # a pixel of sampling, and half one of smoothing


def test_a_static_mesh_is_seen_as_large_as_projected(pictures, tmp_path):
    trimesh.creation.box([1.0, 0.6, 0.8]).export(tmp_path / "box.stl")
    table = {"name": "m", "fixed": True, "color": "#d02020", "shape": [{"type": "mesh", "file": "box.stl"}]}
    setup = Scene.from_dict({"scene": {"title": "mesh"}, "body": [table]}, tmp_path).build()
    shown = snapshot(body("sphere", radius=0.1), model=setup.model, labels=setup.labels,
                     x=setup.state.bodies.x, q=setup.state.bodies.q)
    seen = extents(pictures.silhouette(shown, front_camera(DISTANCE)))
    half = np.array([0.5, 0.4]) / (DISTANCE - 0.3) * F
    assert np.abs(seen - [W / 2 - half[0], W / 2 + half[0], H / 2 - half[1], H / 2 + half[1]]).max() < 1.6


def test_a_bowl_is_drawn_from_within_only(pictures):
    """A ball at its bottom is seen through the wall between, as large as without the bowl; from within the wall is."""
    ball = body("sphere", (0.0, 0.0, -0.4), radius=0.2)
    bowl = body("bowl", fixed=True, color="#9aa5b1", radius=0.6, angle=90.0)
    reds = []
    for bodies in ((ball,), (ball, bowl)):
        picture = pictures.take(snapshot(*bodies), front_camera(DISTANCE), **PLAIN)
        reds.append((picture[:, :, 0] > picture[:, :, 1:].max(axis=2) + 40).sum())
    assert reds[0] > 100 and reds[1] == pytest.approx(reds[0], rel=0.02)
    above = pictures.silhouette(snapshot(bowl), Camera(np.zeros(3), DISTANCE, azimuth=0.0, elevation=89.0))
    assert above.sum() > 0.9 * np.pi * (0.6 / DISTANCE * F) ** 2


@pytest.mark.parametrize("kind", SILHOUETTES)
def test_picking_agrees_with_the_picture_of_turned_bodies(pictures, kind):
    shown = snapshot(SILHOUETTES[kind][0])
    shown.q[0] = np.array([0.8, 0.3, -0.4, 0.33]) / np.linalg.norm([0.8, 0.3, -0.4, 0.33])
    camera = Camera(np.array([0.05, 0.0, 0.1]), 3.0, azimuth=30.0, elevation=25.0)
    mask = pictures.silhouette(shown, camera)
    disagree = checked = 0
    for y in range(2, H - 2, 7):
        for x in range(2, W - 2, 7):
            around = mask[y - 2 : y + 3, x - 2 : x + 3]
            if around.all() or not around.any():  # not on the edge
                hit = picking.pick(shown.model, shown, *camera.ray(x + 0.5, y + 0.5, W, H))
                checked += 1
                disagree += (hit is not None) != bool(mask[y, x])
    assert checked > 500
    assert disagree == 0


def test_the_depth_of_a_sphere_is_right_against_a_box(pictures):
    # the box's front face at y = -0.3 cuts the sphere of radius 0.5 in a circle of radius 0.4
    shown = snapshot(body("sphere", radius=0.5), body("box", (0, 0.2, 0), color="#2020d0", size=[2.4, 1.0, 1.6]))
    picture = pictures.take(shown, front_camera(DISTANCE), **PLAIN)
    red = picture[:, :, 0] > picture[:, :, 2]
    radius = F * 0.4 / (DISTANCE - 0.3)
    expected = [W / 2 - radius, W / 2 + radius, H / 2 - radius, H / 2 + radius]
    assert np.abs(extents(red) - expected).max() < 1.6


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_the_depth_of_round_bodies_is_right_against_a_box(pictures, kind):
    # the face y = -0.3 cuts the tube of radius 0.5 at x = +-0.4
    wall = body("box", (0, 0.2, 0), color="#2020d0", size=[2.4, 1.0, 1.6])
    shown = snapshot(body(kind, radius=0.5, height=8.0), wall)
    picture = pictures.take(shown, front_camera(DISTANCE), **PLAIN)
    middle = picture[H // 2 - 5 : H // 2 + 5]
    width = F * 0.4 / (DISTANCE - 0.3)
    seen = extents(middle[:, :, 0] > middle[:, :, 2])
    assert np.abs(seen[:2] - [W / 2 - width, W / 2 + width]).max() < 1.6


def test_the_rotation_of_every_kind_of_body_is_visible(pictures):
    still = {}
    for kind, (table, *_) in SILHOUETTES.items():
        if kind == "bowl":
            continue  # does not turn by itself, and is drawn as one plain surface
        shown = snapshot(table)
        before = pictures.take(shown, front_camera(), **PLAIN)
        shown.q[0] = [np.cos(0.2), 0.0, 0.0, np.sin(0.2)]  # about the symmetry axis of the round ones
        still[kind] = (np.abs(pictures.take(shown, front_camera(), **PLAIN) - before).sum(axis=2) > 12).sum()
    assert {kind: changed for kind, changed in still.items() if changed < 100} == {}


def test_shadows_fall_on_the_ground_and_darken_it(pictures):
    shown = snapshot(body("plane", fixed=True), body("box", (0, 0, 0.8), size=[0.5, 0.5, 0.5]))
    camera = Camera(np.array([0.0, 0.0, 0.3]), 4.0, elevation=30.0)
    with_shadow = pictures.take(shown, camera, **{**PLAIN, "shadows": True})
    change = (with_shadow - pictures.take(shown, camera, **PLAIN)).sum(axis=2)
    assert (change < -30).sum() > 200
    assert (change > 6).sum() == 0


def test_a_plane_of_any_direction_is_drawn_up_to_where_it_is(pictures):
    # the plane z = 0 seen from 45 degrees fills the picture below the horizon at +45 degrees: all of it
    empty = body("sphere", (0, 0, -50), radius=0.1)
    sky = pictures.take(snapshot(empty), Camera(np.zeros(3), 3.0, elevation=5.0), **PLAIN)
    ground = pictures.take(snapshot(body("plane", fixed=True), empty), Camera(np.zeros(3), 3.0, elevation=5.0), **PLAIN)
    changed = np.abs(ground - sky).sum(axis=2) > 30
    horizon = H / 2 - F * np.tan(np.radians(5.0))  # row
    assert changed[int(horizon) + 25 :].all()
    assert not changed[: int(horizon) - 1].any()


def test_bodies_show_through_the_floor_seen_from_below(pictures):
    shown = snapshot(body("plane", fixed=True), body("box", (0, 0, 0.5), size=[0.9, 0.9, 0.9]))
    picture = pictures.take(shown, Camera(np.zeros(3), 4.0, elevation=-30.0), **PLAIN)
    red = picture[:, :, 0] - picture[:, :, 2]
    assert (red > 25).sum() > 500


# ------------------------------------------------------------------------------------------------ glyphs


def busy_snapshot() -> m.Snapshot:
    """Something for every switch."""
    event = m.Event("impact", 0, 0.0, (0, 1), (0.3, -0.4, 0.1), (0.0, 0.0, 1.0), (0.0, 0.0, 300.0), 2.0, 1.0)
    grabbed = m.Grabbed(1, (0.0, -0.3, 0.6), (0.6, -0.3, 0.9), (30.0, 0.0, 15.0))
    shown = snapshot(
        body("box", (0, 0, -0.5), fixed=True, size=[2.0, 2.0, 0.4]), body("box", (0, 0, 0.2), size=[0.6, 0.6, 0.9]),
        contacts=contact(0, 1, (0, -0.3, -0.28), lam=3000.0, friction_force=(900.0, 0.0, 0.0), friction=0.5),
        events=(event,), grabbed=grabbed, v=np.array([[0, 0, 0], [1.0, 0, 0]]), L=np.array([[0, 0, 0], [0, 0, 2.0]]))
    c = shown.contacts
    near = contact(0, 1, (-0.3, -0.3, -0.28))
    near.current[0] = near.active[0] = 0
    both = type(c)(np.array([2], np.int32), *(np.concatenate(pair) for pair in zip(c[1:], near[1:], strict=True)))
    return m.Snapshot(**{**{f: getattr(shown, f) for f in m.Snapshot.__slots__}, "contacts": both})


@pytest.mark.parametrize("switch", [
    "contact_points", "normals", "forces", "friction_forces", "impulses", "mouse_spring", "centers_of_mass",
    "velocities", "angular_momenta", "inertia_boxes", "wireframe", "transparent", "shadows", "dark",
])
def test_every_switch_changes_the_picture(pictures, switch):
    shown, camera = busy_snapshot(), Camera(np.zeros(3), 4.0, azimuth=-80.0)
    on, off = (pictures.take(shown, camera, **{switch: state}) for state in (True, False))
    assert (np.abs(on - off).sum(axis=2) > 30).sum() >= 12


def test_the_grid_and_the_selection_change_the_picture(pictures):
    shown = snapshot(body("plane", fixed=True), body("sphere", (0, 0, 0.5), radius=0.5))
    camera = Camera(np.zeros(3), 4.0)
    plain = pictures.take(shown, camera, **PLAIN)
    assert (np.abs(pictures.take(shown, camera, **{**PLAIN, "grid": True}) - plain).sum(axis=2) > 20).sum() > 300
    outlined = np.abs(pictures.take(shown, camera, **PLAIN, selected=1) - plain).sum(axis=2) > 60
    seen = extents(outlined)
    radius = F * 0.5 / np.linalg.norm(camera.eye - [0, 0, 0.5])
    assert 2 * radius < seen[1] - seen[0] < 2 * radius + 10


def test_a_force_is_seen_through_the_body_it_acts_on(pictures):
    shown = snapshot(
        body("box", (0, 0, -2), fixed=True, size=[1, 1, 1]), body("box", color="#208040", size=[1.6, 1.6, 1.6]),
        contacts=contact(0, 1, (0, 0, -0.4), lam=40000.0))
    camera = front_camera()
    on, off = (pictures.take(shown, camera, **{**PLAIN, "forces": state}) for state in (True, False))
    magenta = (on[:, :, 0] > on[:, :, 1] + 60) & (on[:, :, 2] > on[:, :, 1] + 30)
    seen = extents(magenta)
    assert seen[3] - seen[2] > 20.0  # points up, and long
    assert seen[3] - seen[2] > 2 * (seen[1] - seen[0])
    assert not ((off[:, :, 0] > off[:, :, 1] + 60) & (off[:, :, 2] > off[:, :, 1] + 30)).any()


def test_glyphs_grow_with_the_scale_of_the_screen(pictures):
    shown, camera = snapshot(body("sphere", radius=0.5), body("sphere", (0, 0, 1), radius=0.5),
                             contacts=contact(0, 1, (0, -0.5, 0.5))), front_camera()
    marks = []
    for scale in (1.0, 2.0):
        on, off = (pictures.take(shown, camera, scale, **{**PLAIN, "contact_points": s}) for s in (True, False))
        marks.append(np.ptp(extents(np.abs(on - off).sum(axis=2) > 20)[:2]))
    assert marks[1] > 1.3 * marks[0]


# ---------------------------------------------------------------------------------------------- machinery


def test_an_empty_scene_is_drawn(pictures):
    shown = snapshot(body("plane", fixed=True))
    nothing = shown.model.shapes._replace(**{f: a[:0] for f, a in shown.model.shapes._asdict().items()})
    none = {name: np.zeros((0, width)) for name, width in (("x", 3), ("q", 4), ("v", 3), ("w", 3), ("L", 3))}
    model = shown.model._replace(shapes=nothing, kind=shown.model.kind[:0], mass=shown.model.mass[:0])
    empty = snapshot(body("plane", fixed=True), model=model, labels=shown.labels._replace(
        bodies=(), colors=np.zeros((0, 3))), **none)
    for one in (shown, empty):
        assert pictures.take(one, Camera(), body_names=True).std() > 0.0


def test_a_still_backdrop_and_a_fresh_renderer_give_the_same_picture(pictures):
    shown, camera = busy_snapshot(), Camera(np.zeros(3), 4.0)
    pictures.take(shown, Camera(np.zeros(3), 5.0))
    pictures.take(shown, camera)
    again = pictures.take(shown, camera)
    fresh = Pictures()
    try:
        assert np.array_equal(again, fresh.take(shown, camera))
    finally:
        fresh.release()


def test_bodies_are_drawn_anew_only_when_they_have_moved_visibly(pictures, monkeypatch):
    shown, camera = busy_snapshot(), Camera(np.zeros(3), 4.0)
    drawn = []
    place = BodyPainter.place
    monkeypatch.setattr(BodyPainter, "place", lambda *args: (drawn.append(1), place(*args)))
    before = pictures.take(shown, camera, grid=False)
    drawn.clear()
    pixel = camera.pixel_angle(H) * 4.0  # [m] at the distance of the target
    moved = dataclasses.replace(shown, x=shown.x.copy(), q=shown.q.copy())
    for _ in range(50):  # each step alone is not seen, all together are
        moved.x[0, 0] += 0.05 * pixel
        after = pictures.take(moved, camera, grid=False)
    assert 10 <= len(drawn) <= 35  # the nearest point of a body decides, at half its distance or more
    assert not np.array_equal(before, after)
    fresh = Pictures()
    try:
        assert np.abs(after - fresh.take(moved, camera, grid=False)).mean() < 0.2  # a tenth of a pixel on the edges
    finally:
        fresh.release()
    drawn.clear()
    for change in ({"shadows": False}, {"transparent": True}, {"dark": False}):
        pictures.take(moved, camera, **change)
    pictures.take(moved, Camera(np.zeros(3), 4.001))
    assert len(drawn) == 4


def test_shadows_are_cast_anew_only_when_bodies_have_moved(pictures, monkeypatch):
    shown = busy_snapshot()
    cast, paint = [], BodyPainter.paint
    monkeypatch.setattr(BodyPainter, "paint", lambda self, programs, **how: (
        cast.append(programs) if programs is body_painter.SHADOW else None, paint(self, programs, **how)))
    pictures.take(shown, Camera(np.zeros(3), 5.0))
    moved = dataclasses.replace(shown, x=shown.x + np.array([0.1, 0.0, 0.0]))
    for at, distance in ((moved, 4.0), (shown, 4.5)):
        cast.clear()
        pictures.take(at, Camera(np.zeros(3), distance), shadows=False)
        assert not cast
        for away in (distance, distance + 0.1, distance + 0.2):  # only the camera moves
            seen = pictures.take(at, Camera(np.zeros(3), away))
        assert len(cast) == 1
        fresh = Pictures()
        try:
            assert np.array_equal(seen, fresh.take(at, Camera(np.zeros(3), distance + 0.2)))
        finally:
            fresh.release()


def test_what_stands_casts_its_shadow_once_while_others_move(pictures, monkeypatch):
    """On slow machines, where the light stays: the sphere moves among the boxes. The picture is that of a renderer that
    has seen nothing, also after what stood was moved."""
    shown = snapshot(body("box", fixed=True, size=[2.0, 2.0, 0.1]), body("box", (0.3, 0, 0.4), fixed=True,
                                                                        size=[0.2, 0.2, 0.7]),
                     body("sphere", (-0.4, 0.1, 0.3), radius=0.2))
    shown = dataclasses.replace(shown, x=shown.x.copy())
    cast, paint = [], BodyPainter.paint
    monkeypatch.setattr(BodyPainter, "paint", lambda self, programs, **how: (
        cast.append(how["which"]) if programs is body_painter.SHADOW and how else None, paint(self, programs, **how)))
    camera, software = Camera(np.zeros(3), 4.0), pictures.renderer.quality.software
    for k, (mover, anew) in enumerate(((2, True), (2, False), (2, False), (1, True), (2, False))):
        place = shown.x.copy()
        place[mover, 0] += 0.1
        shown = dataclasses.replace(shown, x=place)
        cast.clear()
        seen = pictures.take(shown, camera)
        assert not software or cast == [body_painter.STANDING] * anew + [body_painter.MOVING], k
        fresh = Pictures()
        try:
            assert np.array_equal(seen, fresh.take(shown, camera))
        finally:
            fresh.release()


def test_bodies_that_sleep_are_darker_at_once_and_bright_again_awake(pictures):
    """A sixth to a half of the light: DIMMED of the linear colour, as sRGB shows it."""
    both = snapshot(body("box", (-0.6, 0, 0), size=[0.8] * 3), body("box", (0.6, 0, 0), size=[0.8] * 3))
    left, right = slice(W // 4, W // 2 - 30), slice(W // 2 + 30, 3 * W // 4)
    middle = slice(H // 2 - 10, H // 2 + 10)
    awake = pictures.take(both, front_camera(DISTANCE), **PLAIN)
    one = pictures.take(dataclasses.replace(both, asleep=np.array([True, False])), front_camera(DISTANCE), **PLAIN)
    share = one[middle, left].sum() / awake[middle, left].sum()
    assert 0.25 < share < 0.75
    assert np.array_equal(one[middle, right], awake[middle, right])
    assert np.array_equal(pictures.take(both, front_camera(DISTANCE), **PLAIN), awake)


def test_software_renderers_get_cheap_settings_and_gpus_better_ones():
    def settings(name):
        return quality(SimpleNamespace(info={"GL_RENDERER": name}, max_samples=8))

    cheap = settings("llvmpipe (LLVM 15.0.6, 256 bits)")
    good = settings("NVIDIA GeForce RTX 4070/PCIe/SSE2")
    assert cheap.software and cheap.samples == 0
    assert not good.software and good.samples == 4
    assert cheap.shadow_size < good.shadow_size


def test_the_settings_for_a_gpu_give_the_same_picture(pictures, monkeypatch):
    shown, camera = busy_snapshot(), Camera(np.zeros(3), 4.0)
    monkeypatch.setattr(programs, "quality", lambda _: programs.Quality(False, 4, 1024))
    monkeypatch.setattr(renderer, "quality", lambda _: programs.Quality(False, 4, 1024))
    gpu = Pictures()
    try:
        for options in ({}, {"transparent": True}, {"wireframe": True}, {"selected": 1, "dark": False}):
            ours, theirs = pictures.take(shown, camera, **options), gpu.take(shown, camera, **options)
            assert np.abs(ours - theirs).mean() < 4.0  # edges and the softness of shadows differ
            assert (np.abs(ours - theirs).max(axis=2) < 24).mean() > 0.94
    finally:
        gpu.release()


def test_everything_made_in_the_context_is_released():
    kinds = (moderngl.Buffer, moderngl.Texture, moderngl.Program, moderngl.Framebuffer, moderngl.VertexArray,
             moderngl.Renderbuffer)

    def alive(ctx):
        gc.collect()
        mine = [o for o in gc.get_objects() if issubclass(type(o), kinds) and o.ctx is ctx]  # weak proxies may be gone
        return [o for o in mine if not isinstance(o.mglo, moderngl.InvalidObject)]

    with Offscreen((64, 48)) as screen:
        before = len(alive(screen.ctx))
        drawer = Renderer(screen.ctx)
        other = screen.ctx.framebuffer([screen.ctx.texture((32, 32), 4)])
        for shown in (busy_snapshot(), *(snapshot(SILHOUETTES[kind][0]) for kind in ("hull", "capsule"))):
            for target in (screen.fbo, other):
                drawer.draw(shown, Camera(), ViewOptions(selected=0), target)
                drawer.draw(shown, Camera(), ViewOptions(transparent=True), target)
        assert len(alive(screen.ctx)) > before + 20
        other.color_attachments[0].release()
        other.release()
        drawer.release()
        assert len(alive(screen.ctx)) == before


def test_missing_graphics_libraries_are_named_in_one_sentence(monkeypatch):
    def broken(**_):
        raise ImportError("libEGL.so.1: cannot open shared object file")

    monkeypatch.setattr(offscreen.moderngl, "create_standalone_context", broken)
    with pytest.raises(GraphicsError, match=r"sudo apt install .*libegl1") as caught:
        Offscreen((64, 48))
    assert "\n" not in str(caught.value)


def test_a_picture_is_read_top_row_first():
    with Offscreen((8, 6)) as screen:
        screen.fbo.use()
        screen.fbo.clear(0.0, 0.0, 0.0)
        screen.fbo.clear(1.0, 0.0, 0.0, viewport=(0, 4, 8, 2))  # the upper third, as y goes up in OpenGL
        picture = screen.read()
    assert picture.shape == (6, 8, 3)
    assert (picture[:2, :, 0] == 255).all() and (picture[2:] == 0).all()


def test_tiles_cover_exactly_the_surroundings_of_bodies():
    shown = snapshot(body("box", (0.3, 0, 0.2), size=[0.1, 0.1, 0.1]))
    camera = front_camera(DISTANCE)

    def tiles_of(shown):
        return renderer.covered_tiles(shape_boxes(shown.model, shown.x, shown.q), camera, (W, H), 2.0)

    tiles = tiles_of(shown)
    corners = np.array([[0.25, 0, 0.15], [0.35, 0, 0.25]])
    x, y = camera.project(corners, W, H)[0].T
    rows, columns = np.nonzero(tiles)
    assert TILE * columns.min() <= x.min() and x.max() <= TILE * (columns.max() + 1)
    assert TILE * rows.min() <= H - y.max() and H - y.min() <= TILE * (rows.max() + 1)
    assert tiles.sum() <= 4
    whole = snapshot(body("box", (0, -DISTANCE, 0), size=[1, 1, 1]))  # the eye is inside
    assert tiles_of(whole).all()


@pytest.mark.parametrize("elevation", [20.0, 60.0])
def test_leaving_out_empty_tiles_loses_nothing(pictures, monkeypatch, elevation):
    bodies = body("plane", fixed=True), body("sphere", (0.4, 0, 0.5), radius=0.2), body("box", size=[1, 1, 0.1])
    shown = snapshot(*bodies)
    camera = Camera(np.zeros(3), 4.0, elevation=elevation)
    some = pictures.take(shown, camera)
    monkeypatch.setattr(renderer, "covered_tiles", lambda *_: np.ones((-(-H // TILE), -(-W // TILE)), bool))
    assert np.array_equal(pictures.take(shown, camera), some)


@pytest.mark.parametrize("name", ["valleys", "cups", "tables"])
def test_nor_of_what_is_drawn_as_its_file_shows_it(pictures, monkeypatch, name):
    """Height fields, whose middle is not at their origin, and meshes that collide as convex parts."""
    setup = Scene.load(scene_path(name)).build()
    at = setup.state.bodies
    shown = snapshot(body("sphere", radius=0.1), model=setup.model, labels=setup.labels, x=at.x, q=at.q, v=at.v, w=at.w,
                     L=at.L)
    camera = Camera(elevation=32.0)
    camera.frame(*scene_bounds(setup.model, at.x, at.q), W / H)
    some = pictures.take(shown, camera)
    monkeypatch.setattr(renderer, "covered_tiles", lambda *_: np.ones((-(-H // TILE), -(-W // TILE)), bool))
    with pictures.screen.ctx:
        pictures.renderer.set_scene(shown.model, shown.labels)
    assert np.array_equal(pictures.take(shown, camera), some)
