"""Claims about copies of large meshes with fewer triangles, which are drawn where the processor draws."""

import dataclasses
import shutil

import numpy as np
import pytest
import trimesh
from scenes_to_draw import PLAIN, Pictures, body, front_camera, snapshot
from scipy.ndimage import binary_dilation, binary_erosion

from contactlab.app.command_line import loading
from contactlab.app.opening import Opening, copies_to_draw
from contactlab.app.view import body_painter, renderer, simplified
from contactlab.app.view.geometry import HIDDEN, shared, smoothed
from contactlab.app.view.overlays import legend
from contactlab.app.view.programs import Quality
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics import Scene
from contactlab.physics.core.interruption import Interrupted, interruptible
from contactlab.physics.core.model import Skin
from contactlab.physics.core.progress import telling

FEW = 4_000  # of 82 thousand: a share of a twentieth, and more than 20 000 of a million are


def surface():
    """A ball of radius 0.7 m with bumps of a twentieth of that, as large as an arm is thick."""
    ball = trimesh.creation.icosphere(6)
    x, y, z = ball.vertices.T
    radius = 0.7 + 0.035 * np.sin(9.0 * x) * np.sin(8.0 * y + 1.0) * np.sin(7.0 * z)
    return radius[:, None] * ball.vertices, ball.faces


@pytest.fixture(scope="module")
def scan_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.ply"
    trimesh.Trimesh(*surface(), process=False).export(path)
    return path


@pytest.fixture(scope="module")
def scan(scan_file):
    """A snapshot of that ball, fixed."""
    table = {"name": "m", "fixed": True, "color": "#d02020", "shape": [{"type": "mesh", "file": "scan.ply"}]}
    setup = Scene.from_dict({"scene": {"title": "scan"}, "body": [table]}, scan_file.parent).build()
    return snapshot(body("sphere", radius=0.1), model=setup.model, labels=setup.labels,
                    x=setup.state.bodies.x, q=setup.state.bodies.q)


@pytest.fixture
def draw(monkeypatch):
    """draw(most, shown, software=True, **options): the picture and the silhouette of what is drawn, and how many
    triangles that are, of how many."""
    def taken(most, shown, software=True, **options):
        monkeypatch.setattr(simplified, "MOST", most)
        monkeypatch.setattr(simplified, "_kept", {})
        monkeypatch.setattr(body_painter, "quality", lambda _: Quality(software, 0, 768))
        pictures = Pictures((480, 360))
        try:
            picture = pictures.take(shown, front_camera(), **PLAIN, **options)
            triangles = pictures.renderer.triangles
            return picture, pictures.silhouette(shown, front_camera()), triangles
        finally:
            pictures.release()

    return taken


def test_a_simplified_mesh_looks_as_the_whole_one(scan, draw):
    """No point of either silhouette is farther than a pixel from the other. Normals are interpolated over triangles of
    l = sqrt(4 A / (sqrt(3) n)) = 0.06 m, which is off by l^2 / 8 times their second derivative, a k^3 = 66 / m^2 for
    bumps of a = 0.0245 m and k^2 = 9^2 + 8^2 + 7^2: 0.03 rad. Light changes by less than all of its 255 steps a radian,
    so that by 7 steps at most where it is worst, and by less than half of that on the whole."""
    count = len(scan.labels.draw_meshes[0][1])
    whole, edge, untouched = draw(10 * count, scan)
    copy, other, triangles = draw(FEW, scan)
    assert untouched == (0, 0) and triangles[1] == count > 80_000 and 0.9 * FEW <= triangles[0] <= FEW
    around = np.ones((3, 3), bool)
    assert edge.sum() > 10_000
    assert not (edge & ~binary_dilation(other, around)).any() and not (other & ~binary_dilation(edge, around)).any()
    step = np.abs(whole - copy).max(axis=2)[binary_erosion(edge & other, around, 2)]
    assert 0.0 < step.mean() < 3.5


def test_edges_of_a_copy_are_smoothed_without_its_inside(scan, monkeypatch):
    """The same picture but for a step of rounding, from less than half of the tiles."""
    monkeypatch.setattr(simplified, "MOST", FEW)
    monkeypatch.setattr(body_painter, "quality", lambda _: Quality(True, 0, 768))
    monkeypatch.setattr(renderer, "quality", lambda _: Quality(True, 0, 768))
    tiles, covered = [], renderer.covered_tiles
    monkeypatch.setattr(renderer, "covered_tiles", lambda *given: tiles.append(covered(*given)) or tiles[-1])

    def taken():
        pictures = Pictures((960, 720))
        try:
            return pictures.take(scan, front_camera(2.2), **PLAIN)
        finally:
            pictures.release()

    some = taken()
    monkeypatch.setattr(body_painter, "FEW", 0)  # no silhouettes: all of its box
    whole = taken()
    assert tiles[0].sum() < 0.5 * tiles[1].sum()
    assert np.abs(some.astype(int) - whole).max() <= 1


def test_a_gpu_draws_all_triangles_and_so_does_the_processor_with_a_texture(scan, draw):
    count = len(scan.labels.draw_meshes[0][1])
    assert draw(FEW, scan, software=False)[2] == (0, 0)
    skin = Skin(np.full((count, 3, 2), 0.5), np.full((4, 4, 3), 200, np.uint8))
    textured = dataclasses.replace(scan, labels=scan.labels._replace(skins=(skin,)))
    assert draw(FEW, textured)[2] == (0, 0)


def test_meshes_as_they_collide_are_drawn_simplified_too_and_collide_whole(scan, draw):
    _, _, (few, count) = draw(FEW, scan, as_collided=True)
    assert few <= FEW and count == len(scan.model.meshes.triangles) > 80_000


def test_lines_of_a_simplified_mesh_are_seen_as_wireframe_and_where_it_has_creases(scan, draw):
    """Vertices that triangles share have no edge distances; a cube of many triangles keeps the lines along its edges.
    Without lines a wireframe is a hint of less than 20 steps over the sky, which changes from top to bottom only."""
    lines, _, _ = draw(FEW, scan, wireframe=True)
    assert (np.abs(lines - lines[:, :1]).max(axis=2) > 20).mean() > 0.05
    cube = trimesh.creation.box((1.0, 1.0, 1.0)).subdivide().subdivide()
    rows = smoothed(cube.vertices, cube.faces)
    once, which = shared(rows)
    assert np.array_equal(once[which][:, :6], rows[:, :6]) and len(once) < len(rows)
    drawn = (rows[:, 6:].reshape(-1, 9) < 2.0).any(axis=1)
    assert drawn.any() and not drawn.all()
    assert np.array_equal(once[which].reshape(-1, 27)[drawn], rows.reshape(-1, 27)[drawn])
    assert (once[which].reshape(-1, 3, 9)[~drawn][:, :, 6:] == HIDDEN).all()


def test_the_legend_says_how_many_triangles_are_drawn(scan):
    def said(triangles):
        return [row.text for row in legend(scan, ViewOptions(), triangles)]

    assert said((4_000, 82_000)) == [*said((0, 0)), "large mesh: drawn with 4000 of 82000 triangles"]


def test_a_copy_is_as_large_as_the_mesh_wherever_that_is_and_is_made_once(monkeypatch):
    """At a thousand kilometres from the origin, in micrometres, and with corners of its own for each triangle, as STL
    files have them. Where there are few triangles there is no copy."""
    monkeypatch.setattr(simplified, "MOST", FEW)
    monkeypatch.setattr(simplified, "_kept", {})
    vertices, triangles = surface()
    for size, middle in ((1.0, 0.0), (1e-6, 0.0), (1.0, 1e6)):
        mine = size * vertices[triangles.reshape(-1)] + middle
        corners = np.arange(len(mine)).reshape(-1, 3)
        points, faces = simplified.simplified(mine, corners)
        assert simplified.simplified(mine.copy(), corners)[0] is points
        copy = trimesh.Trimesh((points - middle) / size, faces)
        assert 0.9 * FEW <= len(faces) <= FEW and copy.is_watertight
        assert copy.volume == pytest.approx(trimesh.Trimesh(vertices, triangles).volume, rel=2e-3)
    few = vertices, triangles[:FEW]
    assert simplified.simplified(*few)[1] is few[1] and len(simplified._kept) == 3


@pytest.mark.parametrize("software", [True, False])
def test_opening_makes_the_copy_that_the_window_will_draw(scan_file, monkeypatch, software):
    """In another process, so that the window goes on, and only where the processor draws; given up it is not made."""
    monkeypatch.setattr(simplified, "MOST", FEW)
    monkeypatch.setattr(simplified, "_kept", {})
    opening = Opening(scan_file, software=software)
    setup = opening.result().content.build()
    assert len(simplified._kept) == software
    whole = setup.labels.draw_meshes[-1]
    if software:
        monkeypatch.setattr(simplified, "collapsed", None)  # nothing is left to do
        assert len(simplified.simplified(*whole)[1]) <= FEW
        monkeypatch.setattr(simplified, "_kept", {})
        with interruptible(lambda: True), pytest.raises(Interrupted):
            simplified.simplify_ahead(*whole)
        assert not simplified._kept


def test_the_command_line_reads_meshes_and_their_copies_are_made_before_they_run(scan_file, tmp_path, monkeypatch):
    """A scene file with a mesh: the bar in the terminal tells that it is read, `open_window` has nothing left to read,
    and the copy is made in another process. A scene without meshes is not built for that."""
    monkeypatch.setattr(simplified, "MOST", FEW)
    monkeypatch.setattr(simplified, "_kept", {})
    path, mesh = tmp_path / "scan.toml", tmp_path / "unread.ply"
    shutil.copyfile(scan_file, mesh)
    path.write_text('[scene]\ntitle = "scan"\n[[body]]\nname = "m"\nfixed = true\n'
                    f'[[body.shape]]\ntype = "mesh"\nfile = "{mesh.name}"\n')
    told = []
    monkeypatch.setattr(loading, "opening_bar", lambda: telling(lambda words, share: told.append(words)))
    scene, _ = loading.load(str(path), {})
    assert any(mesh.name in words for words in told)
    told.clear()
    with telling(lambda words, share: told.append(words)):
        copies_to_draw(scene)
    assert told == [f"{path.name}: fewer triangles to draw"] and len(simplified._kept) == 1
    plain = Scene.from_dict({"scene": {"title": "ball"}, "body": [
        {"name": "b", "shape": [{"type": "sphere", "radius": 0.1}]}]})
    monkeypatch.setattr(Scene, "build", None)
    copies_to_draw(plain)
