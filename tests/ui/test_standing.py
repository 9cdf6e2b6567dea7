"""Claims about the picture of what stands, which software renderers keep and paint again only where it may be shaded,
and about the light that has to stay for it."""

import dataclasses

import numpy as np
import pytest
import trimesh
from scenes_to_draw import Pictures, body, snapshot

from contactlab.app.view import body_painter, light, renderer, simplified
from contactlab.app.view.body_painter import BodyPainter
from contactlab.app.view.camera import Camera, bounds_of, shape_boxes
from contactlab.app.view.programs import Quality
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics import Scene
from contactlab.physics.core.model import Skin

SIZE = (480, 360)
CELLS = 60  # of the landscape along each side
FORM = {"bodies": ["box"], "position": ["x0 + 0.1", "y0", "z0 + 0.3"]}


def landscape(cells=CELLS):
    """A square of 4 m with hills of 2 dm: vertices and triangles."""
    x, y = np.meshgrid(*2 * [np.linspace(-2.0, 2.0, cells + 1)], indexing="ij")
    z = 0.2 * np.sin(3.0 * x) * np.cos(4.0 * y)
    at = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    return np.stack([x, y, z], axis=2).reshape(-1, 3), np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("landscape")
    trimesh.Trimesh(*landscape(), process=False).export(made / "land.ply")
    trimesh.creation.torus(0.3, 0.1).export(made / "ring.ply")
    return made


@pytest.fixture(scope="module")
def shown(folder):
    """A landscape with a pillar, a tin and a wall that stand, and over it a ball, a box and a ring of a file."""
    tables = [
        {"name": "land", "fixed": True, "shape": [{"type": "mesh", "file": "land.ply"}]},
        {"name": "pillar", "fixed": True, "position": [0.9, 0.8, 0.4],
         "shape": [{"type": "cylinder", "radius": 0.15, "height": 0.8}]},
        {"name": "tin", "fixed": True, "position": [-1.2, 0.6, 0.3],
         "shape": [{"type": "hull", "points": [[0.2, 0, 0], [-0.2, 0, 0], [0, 0.3, 0], [0, -0.2, 0], [0, 0, 0.4]]}]},
        {"name": "ball", "position": [0.3, 0.2, 0.6], "shape": [{"type": "sphere", "radius": 0.15}]},
        {"name": "box", "position": [-0.4, -0.3, 0.5], "shape": [{"type": "box", "size": [0.3, 0.2, 0.2]}]},
        {"name": "ring", "position": [-1.0, 0.2, 0.9], "shape": [{"type": "mesh", "file": "ring.ply"}]},
    ]
    tables = {"scene": {"title": "land"}, "body": tables, "closed_form": [FORM]}
    setup = Scene.from_dict(tables, folder).build()
    at = setup.state.bodies
    return snapshot(body("sphere", radius=0.1), model=setup.model, labels=setup.labels, x=at.x.copy(), q=at.q.copy(),
                    v=at.v.copy(), w=at.w.copy(), L=at.L.copy())


@pytest.fixture
def both(monkeypatch):
    """Pictures of one renderer for many, and of one that is told the scene anew before each; of how many triangles, of
    how many, the first painted each time is in `chosen`."""
    for module in (body_painter, renderer):
        monkeypatch.setattr(module, "quality", lambda _: Quality(True, 0, 768))
    pair = Pictures(SIZE), Pictures(SIZE)
    yield pair
    for made in pair:
        made.release()


@pytest.fixture
def chosen(monkeypatch):
    """For each picture over one that was kept: which part of the triangles is painted again."""
    parts, choose = [], BodyPainter.choose
    monkeypatch.setattr(BodyPainter, "choose", lambda self, some: (parts.append(some.mean()), choose(self, some)))
    return parts


def moved(shown, row, by):
    x = shown.x.copy()
    x[row] += by
    return dataclasses.replace(shown, x=x)


def same(both, shown, camera, **options):
    """Whether both renderers give the same picture, to the bit."""
    one, other = both
    with other.screen.ctx:
        other.renderer.set_scene(shown.model, shown.labels, options.get("as_collided", False))
    return np.array_equal(one.take(shown, camera, **options), other.take(shown, camera, **options))


CHANGES = {
    "the theme": {"dark": False}, "the shadows": {"shadows": False}, "see-through": {"transparent": True},
    "wireframe": {"wireframe": True}, "a selection": {"selected": 4, "also": (3,)}, "what stands selected":
    {"selected": 0}, "one colour behind": {"flat": (0.2, 0.5, 0.3)}, "no grid": {"grid": False},
    "no ghosts": {"closed_forms": False}, "meshes as they collide": {"as_collided": True},
}


@pytest.mark.parametrize(("change", "most"), [*((change, 4_000) for change in CHANGES), ("wireframe", 20_000)])
def test_a_kept_picture_of_what_stands_is_as_one_painted_whole(both, shown, chosen, monkeypatch, change, most):
    """While bodies move over it, before, while and after the look changes; for a mesh that is drawn as it is, and one
    that is drawn simplified."""
    monkeypatch.setattr(simplified, "MOST", most)
    camera = Camera(np.zeros(3), 5.0, elevation=35.0)
    for k, options in enumerate(3 * [{}] + 3 * [CHANGES[change]] + 3 * [{}]):
        shown = moved(moved(moved(shown, 3, [0.1, 0.05, -0.02]), 4, [-0.03, 0.1, 0.0]), 5, [0.05, 0.0, 0.03])
        assert same(both, shown, camera, **options), k
    assert len(chosen) >= 4 and 0.0 < max(chosen) < 0.5
    assert change != "the shadows" or min(chosen) == 0.0


def test_it_is_kept_only_as_long_as_camera_light_and_what_stands_stay(both, shown, chosen, monkeypatch):
    """And so are the edges of a mesh that is drawn simplified."""
    monkeypatch.setattr(simplified, "MOST", 4_000)
    camera = Camera(np.zeros(3), 5.0, elevation=35.0)

    def paints(*changes, to=camera):
        """Whether a picture, after each of the changes, is painted over a kept one."""
        kept = []
        for row, by in changes:
            nonlocal shown
            shown = moved(shown, row, by)
            chosen.clear()
            assert same(both, shown, to)
            kept.append(len(chosen) == 1)
        return kept

    a_bit = 3, [0.05, 0.0, 0.0]
    assert paints(a_bit, a_bit, a_bit) == [False, True, True]
    assert paints((1, [0.0, 0.1, 0.0]), a_bit, a_bit) == [False, True, True]  # the pillar
    assert paints((0, [0.0, 0.0, 0.01]), a_bit) == [False, True]  # the landscape
    assert paints((5, [0.0, 0.0, 4.0]), a_bit) == [False, True]  # the ring, and with it the box of the light
    assert paints(a_bit, a_bit, to=Camera(np.zeros(3), 5.0, elevation=15.0)) == [False, True]
    assert paints(a_bit, a_bit) == [False, True]
    asleep = np.zeros(len(shown.x), np.int32)
    asleep[4] = 1
    shown = dataclasses.replace(shown, asleep=asleep)
    assert paints(a_bit) == [True]


def test_it_is_kept_through_a_change_of_the_part_of_the_window(both, shown):
    camera, (_, other) = Camera(np.zeros(3), 5.0, elevation=35.0), both
    for rect in 3 * [(0, 0, 480, 360)] + 3 * [(40, 30, 300, 200)] + 3 * [(0, 0, 480, 360)]:
        shown = moved(shown, 3, [0.1, 0.05, -0.02])
        with other.screen.ctx:
            other.renderer.set_scene(shown.model, shown.labels)
        seen = []
        for pictures in both:
            with pictures.screen.ctx:
                pictures.screen.fbo.clear()
                pictures.renderer.draw(shown, camera, ViewOptions(), pictures.screen.fbo, 1.0, rect)
                seen.append(pictures.screen.read())
        assert np.array_equal(*seen)


def test_with_a_texture_too(both, shown, chosen):
    count = len(shown.labels.draw_meshes[0][1])
    image = np.random.default_rng(0).integers(0, 255, (16, 16, 3)).astype(np.uint8)
    skins = (Skin(np.random.default_rng(1).random((count, 3, 2)), image), *(len(shown.model.shapes.kind) - 1) * [None])
    shown = dataclasses.replace(shown, labels=shown.labels._replace(skins=skins))
    for _ in range(4):
        shown = moved(shown, 3, [0.1, 0.05, -0.02])
        assert same(both, shown, Camera(np.zeros(3), 5.0, elevation=35.0))
    assert len(chosen) == 3


def test_over_floors_all_is_painted(both, chosen):
    """They are darkened where they are in shadow, which must not be done twice."""
    shown = snapshot(body("plane", fixed=True), body("cylinder", (0.5, 0, 1.5), fixed=True, radius=0.6, height=3.0),
                     body("sphere", (0.5, 0.3, 1.4), radius=0.3))
    matrix = box_of(shown)[0]
    for _ in range(3):
        shown = moved(shown, 2, [0.0, 0.0, -0.1])
        assert np.array_equal(box_of(shown)[0], matrix)
        assert same(both, shown, Camera(np.zeros(3), 5.0))
    assert not chosen


# ----------------------------------------------------------------------------------------------- the light


def box_of(shown):
    """The light's matrix and its largest texel."""
    boxes = shape_boxes(shown.model, shown.x, shown.q)
    return light.light_box(boxes, *bounds_of(shown.model, *boxes), 768, light.plain(shown.model, shown.labels))


def test_a_ball_that_falls_out_of_the_scene_leaves_the_light_as_it_is(shown):
    """Once nothing is in its shadow and it in none: the light that falls on the rest is that without the ball. A ring,
    parts of which shade others, stays in the light, and so does the ball with another one in its shadow."""
    fallen = [moved(shown, 3, [0.0, 0.0, -z]) for z in (20.0, 50.0, 200.0)]
    matrices = [box_of(one)[0] for one in fallen]
    assert all(np.array_equal(matrix, matrices[0]) for matrix in matrices)
    assert box_of(fallen[-1])[1] < 1.2 * box_of(shown)[1] < 0.1 * box_of(moved(shown, 5, [0.0, 0.0, -200.0]))[1]
    together = moved(fallen[-1], 4, [0.7, 0.5, -199.5])
    corner = box_of(together)[0] @ [*together.x[3], 1.0]
    assert (corner[:3] > 0.0).all() and (corner[:3] < 1.0).all()


def test_the_picture_is_that_of_a_light_with_room_for_all(both, shown, monkeypatch):
    """A body that the light meets alone neither casts nor gets a shadow: only texels become finer."""
    shown, camera = moved(shown, 3, [1.5, -2.5, -1.5]), Camera(np.zeros(3), 7.0, elevation=35.0)
    finer = both[0].take(shown, camera)
    monkeypatch.setattr(light, "CONVEX", ())
    coarser = both[1].take(shown, camera)
    assert np.abs(finer - coarser).mean() < 1.0 and (np.abs(finer - coarser).max(axis=2) > 24).mean() < 0.02


def test_all_is_in_the_box_of_the_light():
    """However far the ends of the box are rounded: of bodies anywhere, those that may shade another."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        boxes = [rng.normal(0.0, rng.uniform(0.1, 30.0), (20, 3)) for _ in range(2)]
        lo, hi = np.minimum(*boxes), np.maximum(*boxes)
        matrix, _ = light.light_box((lo, hi), lo.min(axis=0), hi.max(axis=0), 768, np.zeros(20, bool))
        corners = np.concatenate([np.where([k & 1, k >> 1 & 1, k >> 2], lo, hi) for k in range(8)])
        at = corners @ matrix[:3, :3].T + matrix[:3, 3]
        assert (at > 0.005).all() and (at < 0.995).all()
