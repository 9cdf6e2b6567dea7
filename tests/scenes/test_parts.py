"""Concave meshes: convex parts are as hollow as the mesh, are found once, and may be given up."""

import subprocess
import threading

import numpy as np
import pytest
import trimesh

from contactlab.app.view import geometry, instances
from contactlab.physics import Scene, Simulation, open_file
from contactlab.physics.core.interruption import Interrupted, interruptible
from contactlab.physics.core.progress import telling
from contactlab.physics.scene import kept_meshes, parts
from contactlab.physics.scene.hull import convex_hull, hull_properties, volume_of_all

RADIUS, INNER, HEIGHT, BOTTOM, BALL = 0.05, 0.044, 0.1, 0.006, 0.02  # [m]
THRESHOLD = 0.1
SIDES = 8


@pytest.fixture(scope="module")
def cup(tmp_path_factory):
    """The folder of a cup with eight sides, about the z axis from 0 up, and of the parts found of it."""
    folder, home = tmp_path_factory.mktemp("cup"), parts.PARTS_HOME
    profile = [[0, 0], [RADIUS, 0], [RADIUS, HEIGHT], [INNER, HEIGHT], [INNER, BOTTOM], [0, BOTTOM]]
    trimesh.creation.revolve(np.array(profile), sections=SIDES).export(folder / "cup.stl")
    parts.PARTS_HOME = folder / "parts"
    yield folder
    parts.PARTS_HOME = home


def volume():
    """Of the cup: a prism over a regular polygon less the one of its inside."""
    polygon = 0.5 * SIDES * np.sin(2.0 * np.pi / SIDES)  # area / radius²
    return polygon * (RADIUS**2 * HEIGHT - INNER**2 * (HEIGHT - BOTTOM))


def scene(cup, **more):
    shape = {"type": "mesh", "file": "cup.stl", "threshold": THRESHOLD} | more
    ball = {"name": "ball", "position": [0.003, 0.002, HEIGHT + 0.03], "shape": [{"type": "sphere", "radius": BALL}]}
    return Scene.from_dict({"body": [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]},
                                     {"name": "cup", "shape": [shape]}, ball]}, cup)


@pytest.mark.parametrize("collide", ["parts", "hull"])
def test_a_ball_falls_into_a_cup_of_parts_and_lies_on_its_hull(cup, collide):
    """On the bottom, which parts leave where it is to THRESHOLD of the size of the cup, or on what closes the cup. The
    ball weighs 34 g, and overlaps by less than a tenth of a millimetre at rest."""
    sim = Simulation(scene(cup, collide=collide), method="time_stepping")
    sim.run(until=1.0)
    height = sim.position("ball")[2] - BALL
    slack = 1e-4
    if collide == "parts":
        assert BOTTOM - slack < height < BOTTOM + THRESHOLD * 2 * RADIUS + slack
        assert np.linalg.norm(sim.velocity("ball")) < 0.1
    else:
        assert height > HEIGHT - slack or np.linalg.norm(sim.position("ball")[:2]) > INNER


def test_mass_is_that_of_the_mesh_and_what_its_parts_hold_is_said(cup):
    setup = scene(cup, collide="parts").build()
    assert setup.model.mass[1] == pytest.approx(1000.0 * volume(), rel=1e-5)  # STL has single precision
    found = kept_meshes.mesh_file(cup / "cup.stl").convex_parts(None, 1.0, THRESHOLD)
    more = volume_of_all(found) / volume() - 1.0
    assert len(found) == (setup.model.shapes.body == 1).sum() > 4
    assert f"cup.stl collides as {len(found)} convex parts, which together hold {100 * more:.1f} % more than it." in \
        setup.labels.notes
    hull = convex_hull(kept_meshes.mesh_file(cup / "cup.stl").surface.vertices)
    assert sum(hull_properties(part).mass for part in found) < 0.5 * hull_properties(hull).mass


def held_by(parts, points):
    """Which of the points (n, 3) are in a convex part."""
    return np.any([(points @ part.normals.T <= part.offsets).all(axis=1) for part in parts], axis=0)


def test_parts_hold_what_is_said_of_them_and_less_where_they_are_finer(cup, tmp_path, monkeypatch):
    """A point drawn in each of 80³ cells of the box about the cup: what they say of a volume is off by σ of half the
    square root of the cells at its surface, here four times those of a cylinder about the cup. Parts that overlap count
    once. None reaches farther into the cup than the threshold lets it, a share of the cup's size."""
    file, cells = kept_meshes.mesh_file(cup / "cup.stl"), 80
    rng = np.random.default_rng(0)
    unit = (np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
            + rng.random((cells**3, 3))) / cells
    points = (unit - [0.5, 0.5, 0.0]) * [2 * RADIUS, 2 * RADIUS, HEIGHT]
    sigma = 0.5 * np.sqrt(4 * 6 * cells**2) / cells**3
    box, more = 4 * RADIUS**2 * HEIGHT, []
    for threshold, home in ((3.0 * THRESHOLD, tmp_path), (THRESHOLD, parts.PARTS_HOME)):
        monkeypatch.setattr(parts, "PARTS_HOME", home)
        found = file.convex_parts(None, 1.0, threshold)
        inside = held_by(found, points)
        assert volume_of_all(found) == pytest.approx(inside.mean() * box, abs=5.0 * sigma * box)
        assert volume_of_all(found) <= sum(hull_properties(part).mass for part in found)
        angle = 2.0 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
        to_walls = INNER * np.cos(np.pi / SIDES) - (points[:, :2] @ [np.cos(angle), np.sin(angle)]).max(axis=1)
        deep = np.minimum(to_walls, points[:, 2] - BOTTOM)[inside].max()
        assert deep <= threshold * 2 * RADIUS
        more.append(volume_of_all(found) / volume() - 1.0)
    assert 0.0 < more[1] < 0.5 * more[0]


def test_parts_are_drawn_as_the_mesh_and_each_in_a_colour_as_they_collide(cup):
    model, _, labels, _ = scene(cup, collide="parts").build()
    mine = np.flatnonzero(model.shapes.body == 1)
    assert instances.part_numbers(labels, len(model.shapes.body))[mine].tolist() == list(range(len(mine)))
    groups = {int(group.shapes[0]): group for group in instances.groups(model)}
    drawn = [geometry.smoothed(*geometry.surface(model, labels, groups[s])) for s in mine]
    assert len(drawn[0]) == 3 * len(labels.draw_meshes[mine[0]][1]) and not any(len(rows) for rows in drawn[1:])
    lowest = drawn[0][:, 2].min() + model.shapes.position[mine[0], 2]
    assert lowest == pytest.approx(model.shapes.position[mine, 2].min() - 0.5 * BOTTOM, abs=0.5 * THRESHOLD * HEIGHT)
    assert all(len(geometry.surface(model, labels, groups[s], as_collided=True)[1]) for s in mine)
    colors = instances.shape_colors(model, labels, as_collided=True)[mine]
    assert (np.abs(np.diff(colors, axis=0)).max(axis=1) > 0.0).all()


def test_parts_are_found_once_for_a_surface_and_a_threshold(cup, monkeypatch):
    """Damaged or other parts on the disk are found anew."""
    surface = kept_meshes.mesh_file(cup / "cup.stl").surface
    first = parts.convex_parts(surface, THRESHOLD, "cup")
    (kept,) = parts.PARTS_HOME.glob("*.npz")
    whole = kept.read_bytes()
    started = []

    def start(*args, **more):
        started.append(args)
        raise OSError("none")

    monkeypatch.setattr(subprocess, "Popen", start)
    again = parts.convex_parts(surface, THRESHOLD, "cup")
    assert not started and all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    for damage in (b"", whole[:-200], b"x" * 500):
        kept.write_bytes(damage)
        with pytest.raises(OSError, match="none"):
            parts.convex_parts(surface, THRESHOLD, "cup")
    kept.write_bytes(whole)
    with pytest.raises(OSError, match="none"):
        parts.convex_parts(surface, 2.0 * THRESHOLD, "cup")
    assert len(started) == 4


def test_taking_apart_is_given_up_at_once_and_leaves_no_process(cup, tmp_path, monkeypatch):
    worker = tmp_path / "sleeps.py"
    worker.write_text("import time\n"
                      "print('iter 1 ---- waiting pool: 4\\nProcessing [50.0%]', flush=True)\n"
                      "time.sleep(60)\n")
    monkeypatch.setattr(parts, "WORKER", worker)
    monkeypatch.setattr(parts, "PARTS_HOME", tmp_path)
    made, shares, unwanted = [], [], threading.Event()
    popen = subprocess.Popen

    def start(*args, **more):
        made.append(popen(*args, **more))
        return made[0]

    monkeypatch.setattr(subprocess, "Popen", start)

    def tell(words, share):
        shares.append(share)
        if share > 0.0:
            unwanted.set()

    surface = kept_meshes.mesh_file(cup / "cup.stl").surface
    with interruptible(unwanted.is_set), telling(tell), pytest.raises(Interrupted):
        parts.convex_parts(surface, THRESHOLD, "cup")
    assert shares[-1] == pytest.approx(1.0 - parts.ROUND**1.5)
    assert made[0].poll() is not None and not list(tmp_path.glob("*.npz"))


def test_a_mesh_that_cannot_be_taken_apart_collides_as_its_hull_and_it_is_said(cup, tmp_path, monkeypatch):
    worker = tmp_path / "breaks.py"
    worker.write_text("raise SystemExit('too thin')\n")
    monkeypatch.setattr(parts, "WORKER", worker)
    setup = scene(cup, collide="parts", threshold=0.5).build()
    assert (setup.model.shapes.body == 1).sum() == 1
    assert "cup.stl cannot be taken apart: coacd failed (too thin)." in setup.labels.notes
    assert any("collides as its convex hull" in note for note in setup.labels.notes)


def test_a_dropped_mesh_is_taken_apart_where_its_hull_holds_5_percent_more(cup, tmp_path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "box.stl")
    for path, more, collide in ((cup / "cup.stl", {}, "parts"), (cup / "cup.stl", {"collide": "hull"}, "hull"),
                                (tmp_path / "box.stl", {}, "hull")):
        assert open_file(path, **more).tables.body[1].shape[0].collide == collide


@pytest.mark.parametrize("fixed", [True, False])
def test_a_mesh_collides_as_its_surface_hull_or_parts_on_any_body(cup, fixed):
    for collide in ("surface", "hull", "parts"):
        body = {"fixed": fixed, "shape": [{"type": "mesh", "file": "cup.stl", "collide": collide,
                                           "threshold": THRESHOLD}]}
        model = Scene.from_dict({"body": [body]}, cup).build().model
        assert (len(model.meshes.triangles) > 0) == (collide == "surface")
