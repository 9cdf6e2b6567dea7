"""What the texts of the gallery's stacks and heaps say happens in them, each in its own method."""

import numpy as np
import pytest
import trimesh
from gallery_scenes import G, numbers, of_body, opened, scene
from scipy.spatial import ConvexHull

from contactlab.assets import gallery
from contactlab.physics.core.model import BodyKind, ShapeKind, movable
from contactlab.physics.shapes.shapes import quat_to_matrix


def test_the_tower_carries_its_weight_on_four_equal_corners_and_the_ball_comes_when_the_text_says():
    sim, text = opened("tower")
    t, = numbers(r"strikes the pyramid after ([\d.]+) s", text)
    assert "you see the least, four equal ones" in text
    sim.run(0.2)
    c, names = sim.contacts, sim.labels.bodies
    for level in range(1, 11):
        mine = [k for k, b in enumerate(c.body_b.tolist()) if names[b] == ("block" if level == 1 else f"block {level}")]
        weight = (11 - level) * sim.model.mass[sim.number("block")] * G
        assert c.lam[mine] == pytest.approx([weight / 4] * 4, rel=1e-9)
    ball = sim.number("ball")
    while not any(ball in event.bodies for event in sim.events):
        sim.step()
    assert sim.time == pytest.approx(t, abs=0.005 + sim.settings.h)


def test_the_wave_along_the_dominoes_has_a_speed_of_its_own():
    """A ball twice as fast reaches the row earlier; the third quarter of the row falls as fast."""
    took = []
    for faster in (1.0, 2.0):
        sim, text = opened("dominoes")
        count, = numbers(r"the first of (\d+) dominoes", text)
        row = [i for i, name in enumerate(sim.labels.bodies) if name.startswith("domino")]
        assert len(row) == count
        ball = sim.number("ball")
        sim.state.bodies.v[ball] *= faster
        sim.state.bodies.P[ball] *= faster
        falls = {}
        while len(falls) < 0.75 * count and sim.time < 4.0:
            sim.step()
            for k in np.flatnonzero(np.linalg.norm(sim.state.bodies.w[row], axis=1) > 1.0).tolist():
                falls.setdefault(k, sim.time)
        took.append(falls[3 * len(row) // 4 - 1] - falls[len(row) // 2])
    assert took[1] == pytest.approx(took[0], rel=0.03)


def test_the_bin_gets_as_many_shapes_of_each_kind_as_the_text_says():
    sim, text = opened("bin")
    assert "forty of each" in text
    kinds = [sim.model.shapes.kind[sim.model.shapes.body == body] for body in np.flatnonzero(movable(sim.model.kind))]
    for kind in (ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.HULL):
        assert sum(kind in mine for mine in kinds) == 40
    assert len(kinds) == 200


def test_each_die_comes_to_rest_on_a_face():
    """Four contacts each, and none of them moves. On the way there each had one, on a corner, and two, on an edge."""
    sim, _ = opened("dice")
    dice = [sim.number(f"die {k}") for k in range(1, 7)]
    assert dice == [i for i, kind in enumerate(sim.model.kind) if movable(kind)]
    seen, ends = [set() for _ in dice], np.zeros(0)
    while sim.time < 4.0:
        sim.step()
        current = sim.contacts.current == 1
        ends = np.concatenate([sim.contacts.body_a[current], sim.contacts.body_b[current]])
        for die, counts in zip(dice, seen, strict=True):
            counts.add(int((ends == die).sum()))
    assert all({0, 1, 2, 4} <= counts for counts in seen)
    assert [int((ends == die).sum()) for die in dice] == [4] * 6
    assert np.abs(sim.state.bodies.v).max() < 1e-9 and np.abs(sim.state.bodies.w).max() < 1e-8


def test_a_quarter_of_the_hundreds_of_contacts_in_the_bin_carries_more_than_half():
    """After the fall; and the residual falls with the iterations that are allowed."""
    sim, text = opened("bin")
    assert "a quarter of those that press carries more than half of the forces" in text
    sim.run(1.5)
    force = np.sort(sim.contacts.lam[sim.contacts.lam > 0.0])[::-1]
    assert len(force) > 400 and force[: len(force) // 4].sum() > 0.5 * force.sum()
    saved, residuals = sim.save(), []
    for iterations in (5, 300):
        sim.restore(saved)
        sim.set(iterations=iterations)
        sim.step()
        residuals.append(sim.info.residual)
    assert residuals[1] < 0.2 * residuals[0]


def test_the_row_of_dominoes_bends_and_each_slides_down_the_next():
    """From the first to the last it turns by half a turn. While the wave runs, dominoes that lie on the next one slip
    on it, and friction acts there: by Coulomb's law up to μ λ, as the solver leaves it, 1e-8."""
    sim, _ = opened("dominoes")
    row = [sim.number(f"domino {k}") for k in range(1, 49)]
    turned = 2.0 * np.arctan2(sim.state.bodies.q[row, 3], sim.state.bodies.q[row, 0])
    assert (np.diff(turned) >= 0.0).all() and turned[-1] - turned[0] == pytest.approx(np.pi, abs=1e-9)
    slid = set()
    while sim.time < 1.5:
        sim.step()
        c = sim.contacts
        beside = (np.isin(c.body_a, row) & (np.abs(c.body_b - c.body_a) == 1) & (c.lam > 0.1) & (c.slip > 0.05))
        force = np.linalg.norm(c.friction_force[beside], axis=1)
        assert (force <= c.friction[beside] * c.lam[beside] * (1.0 + 1e-8)).all()
        slid |= {int(min(a, b)) for a, b, f in zip(c.body_a[beside], c.body_b[beside], force, strict=True) if f > 0.01}
    assert len(slid) >= 20


def turns_about(mesh, point):
    """How often a closed mesh goes round a point: 0 outside, 1 within. The solid angles of its triangles over 4π
    [Van Oosterom & Strackee 1983]."""
    a, b, c = (mesh.triangles - point).transpose(1, 0, 2)
    r = [np.linalg.norm(v, axis=1) for v in (a, b, c)]
    over = np.einsum("ij,ij->i", a, np.cross(b, c))
    under = (r[0] * r[1] * r[2] + np.einsum("ij,ij->i", a, b) * r[2] + np.einsum("ij,ij->i", a, c) * r[1]
             + np.einsum("ij,ij->i", b, c) * r[0])
    return round(2.0 * np.arctan2(over, under).sum() / (4.0 * np.pi), 9)


def test_meshes_collide_as_hulls_weigh_as_solids_and_the_notes_say_by_how_much_they_differ():
    """The solids by trimesh. Its hull closes the hole of the gear: the middle is in the hull and not in the mesh, whose
    vertices all keep away from the axis."""
    sim, _ = opened("meshes")
    names, model = sim.labels.bodies, sim.model
    kinds = {names[b]: ShapeKind(k) for b, k in zip(model.shapes.body, model.shapes.kind, strict=True)}
    assert kinds.pop("floor") == ShapeKind.PLANE and kinds.pop("bowl") == ShapeKind.MESH
    assert set(kinds.values()) == {ShapeKind.HULL}
    densities = {body.name: body.density for body in scene("meshes").tables.body}
    folder = gallery()["meshes"].parent / "meshes"
    for name, file in (("pawn", "pawn.obj"), ("gear", "gear.stl"), ("knot", "torus_knot.ply"), ("stone", "rock.off")):
        mesh = trimesh.load(folder / file, force="mesh")
        assert model.mass[sim.number(name)] == pytest.approx(densities[name] * abs(mesh.volume), rel=1e-6)
        note = next(n for n in sim.labels.notes if n.startswith(file))
        (part,) = numbers(r"it fills (\d+) %", note)
        assert 100.0 * abs(mesh.volume) / mesh.convex_hull.volume == pytest.approx(part, abs=0.5)
    gear = trimesh.load(folder / "gear.stl", force="mesh")
    flat = int(np.argmin(gear.extents))  # its axis
    middle = gear.bounds.mean(axis=0)
    hole = np.linalg.norm(np.delete(gear.vertices - middle, flat, axis=1), axis=1).min()
    assert hole > 0.005 and turns_about(gear.convex_hull, middle) == 1 and turns_about(gear, middle) == 0


def test_the_ball_rests_in_the_cup_and_a_hare_in_the_hull_of_the_other():
    """Depth in a hull: of the vertices of one, the greatest distance from all faces of the other's hull. Time stepping
    leaves a tenth of a millimetre of overlap."""
    sim, text = opened("hare")
    bottom, weight = numbers(r"on its bottom, (\d+) mm up; the floor carries both, (\d+) N", text)
    triangles, part = numbers(r"has (\d+) triangles and fills (\d+) % of its hull", text)
    reach, = numbers(r"it reaches (\d+) mm into the hull", text)
    moving = [name for name in sim.labels.bodies if sim.model.kind[sim.number(name)] == BodyKind.DYNAMIC]
    assert moving == ["cup", "ball", "hare", "second hare"]
    mesh = trimesh.load(gallery()["hare"].parent / "meshes" / "hare.ply", force="mesh")
    assert len(mesh.faces) == triangles
    assert 100.0 * mesh.volume / mesh.convex_hull.volume == pytest.approx(part, abs=0.5)
    cup, ball, knocks = sim.number("cup"), sim.number("ball"), 0
    while sim.time < 1.5:
        sim.step()
        c = sim.contacts
        knocks += ((c.body_a == cup) & (c.body_b == ball) & (np.abs(c.normal[:, 2]) < 0.5) & (c.lam > 0.0)).any()
    assert knocks > 0
    assert sim.position("ball")[2] - 0.035 == pytest.approx(1e-3 * bottom, abs=2e-4)
    c = sim.contacts
    below = (c.body_a == sim.number("floor")) & (c.body_b == cup)
    assert (c.lam[below] * c.normal[below, 2]).sum() == pytest.approx(weight, abs=0.5)
    pink, green = sim.number("hare"), sim.number("second hare")
    assert np.abs(sim.state.bodies.v[[cup, ball, pink, green]]).max() < 2e-3
    faces = ConvexHull(vertices_of(sim, pink)).equations
    depths = -(vertices_of(sim, green) @ faces[:, :3].T + faces[:, 3]).max(axis=1)
    assert 1e3 * depths.max() == pytest.approx(reach, abs=1.0)
    between = (c.body_a == pink) & (c.body_b == green) & (c.current == 1)
    assert between.any() and c.gap[between].min() > -2e-4


def vertices_of(sim, body):
    """Where the vertices of a mesh are."""
    model, bodies = sim.model, sim.state.bodies
    (shape,) = np.flatnonzero(model.shapes.body == body)
    mesh = model.shapes.data[shape]
    own = model.meshes.vertices[model.meshes.vertex_start[mesh] : model.meshes.vertex_start[mesh + 1]]
    on_body = own @ quat_to_matrix(model.shapes.orientation[shape]).T + model.shapes.position[shape]
    return on_body @ quat_to_matrix(bodies.q[body]).T + bodies.x[body]


def test_forces_grow_down_the_tower_and_are_not_unique():
    """Of a block on four corners M has the rank 3."""
    sim, _ = opened("tower")
    blocks = [name for name in sim.labels.bodies if name.startswith("block")]
    bricks = [name for name in sim.labels.bodies if name.startswith("brick")]
    assert (len(blocks), len(bricks)) == (10, 15) and "ball" in sim.labels.bodies
    sim.run(0.1)
    c, loads = sim.contacts, []
    for name in blocks:
        below = [k for k in of_body(sim, name) if c.point[k, 2] < sim.position(name)[2]]
        assert len(below) == 4
        points = np.column_stack([np.ones(4), c.point[below, :2]])
        assert np.linalg.matrix_rank(points, tol=1e-9) == 3
        loads.append(c.lam[below].sum())
    assert (np.diff(loads) < 0.0).all() or (np.diff(loads) > 0.0).all()
