"""glTF files with KHR_physics_rigid_bodies: bodies, shapes, materials and motions as the file says, y upwards in it."""

import json
import struct

import numpy as np
import pytest
import trimesh

from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.scene.mesh_files import Y_UP
from contactlab.physics.scene.mesh_scene import AS_IT_IS, doubts

MATERIALS = [
    {"staticFriction": 0.8, "dynamicFriction": 0.5, "restitution": 0.25, "restitutionCombine": "maximum"},
    {"staticFriction": 0.4, "dynamicFriction": 0.4, "restitution": 0.5, "frictionCombine": "minimum",
     "restitutionCombine": "multiply"},
]


def bodies(**says):
    return {"KHR_physics_rigid_bodies": says}


def written(path, nodes, shapes=(), roots=None, family="KHR_implicit_shapes", materials=MATERIALS, **tree):
    """A glTF file without anything to draw."""
    document = {
        "asset": {"version": "2.0"}, "extensionsUsed": ["KHR_physics_rigid_bodies", family], "nodes": nodes,
        "scene": 0, "scenes": [{"nodes": list(range(len(nodes))) if roots is None else roots}],
        "extensions": {family: {"shapes": list(shapes)}, **bodies(physicsMaterials=materials)}, **tree}
    path.write_text(json.dumps(document))
    return path


def collider(shape, material=None):
    return {"geometry": {"shape": shape}} | ({} if material is None else {"physicsMaterial": material})


SHAPES = [
    {"type": "box", "box": {"size": [4.0, 0.2, 6.0]}}, {"type": "sphere", "sphere": {"radius": 0.3}},
    {"type": "capsule", "capsule": {"height": 0.8, "radiusTop": 0.1, "radiusBottom": 0.1}},
    {"type": "cylinder", "cylinder": {"height": 0.5, "radiusTop": 0.2, "radiusBottom": 0.2}},
]
QUARTER = float(np.sqrt(0.5))  # of a quaternion that turns by 90 degrees


def test_bodies_are_what_the_file_says(tmp_path):
    """Nodes with motion move, colliders below them are their shapes, others stand still; y of the file is z here."""
    path = written(tmp_path / "yard.gltf", [
        {"name": "Floor", "translation": [0, -0.1, 0], "extensions": bodies(collider=collider(0, 0))},
        {"name": "Ball", "translation": [1, 2, 3], "scale": [2, 2, 2],
         "extensions": bodies(motion={"mass": 3.0, "linearVelocity": [0, 0, 5], "angularVelocity": [0, 7, 0]},
                              collider=collider(1, 1))},
        {"name": "Dumbbell", "translation": [0, 1, 0], "rotation": [0, 0, QUARTER, QUARTER], "children": [3, 4],
         "extensions": bodies(motion={"mass": 2.0, "inertiaDiagonal": [0.1, 0.2, 0.3], "centerOfMass": [0, 0.25, 0]})},
        {"name": "rod", "extensions": bodies(collider=collider(2))},
        {"name": "end", "translation": [0, 0.5, 0], "extensions": bodies(collider=collider(1))},
        {"name": "Drum", "translation": [-1, 0.5, 0],
         "extensions": bodies(motion={"isKinematic": True, "angularVelocity": [0, 1, 0]}, collider=collider(3))},
    ], SHAPES, roots=[0, 1, 2, 5])
    scene = Scene.from_mesh(path)
    sim = Simulation(scene)
    model, row = sim.model, {name: k for k, name in enumerate(sim.labels.bodies)}
    assert set(row) == {"Floor", "Ball", "Dumbbell", "Drum"}  # and no ground below what stands
    mine = {name: np.flatnonzero(model.shapes.body == k) for name, k in row.items()}

    np.testing.assert_allclose(model.shapes.size[mine["Floor"][0]], [2.0, 3.0, 0.1])  # halves of 4, 6 and 0.2
    assert model.mass[row["Ball"]] == pytest.approx(3.0)
    assert model.shapes.size[mine["Ball"][0], 0] == pytest.approx(0.6)
    np.testing.assert_allclose(sim.position("Ball"), Y_UP @ [1, 2, 3])
    np.testing.assert_allclose(sim.velocity("Ball"), Y_UP @ [0, 0, 5])
    np.testing.assert_allclose(sim.angular_velocity("Ball"), Y_UP @ [0, 7, 0])

    # its +y points to -x of the file: so do the centre of mass, 0.25 m along it, and its end
    np.testing.assert_allclose(sim.state.bodies.x[row["Dumbbell"]], Y_UP @ [-0.25, 1, 0], atol=1e-12)
    assert sorted(model.inertia[row["Dumbbell"]]) == pytest.approx([0.1, 0.2, 0.3])
    Q = trimesh.transformations.quaternion_matrix(sim.state.bodies.q[row["Dumbbell"]])[:3, :3]
    along = Q[:, np.argmin(np.abs(model.inertia[row["Dumbbell"]] - 0.2))]  # the axis of 0.2, y of the node
    np.testing.assert_allclose(np.abs(along), np.abs(Y_UP @ [1, 0, 0]), atol=1e-12)
    assert len(mine["Dumbbell"]) == 2

    drum = sim.orientation("Drum")
    sim.run(until=0.25)
    assert 2.0 * np.arccos(abs(drum @ sim.orientation("Drum"))) == pytest.approx(0.25, abs=1e-6)
    np.testing.assert_array_equal(sim.position("Floor"), Y_UP @ [0, -0.1, 0])


def test_two_materials_meet_by_the_rules_that_they_name(tmp_path):
    """Average goes before minimum, that before maximum, and that before multiply [the draft, Collision response]."""
    path = written(tmp_path / "two.gltf", [
        {"name": "a", "extensions": bodies(collider=collider(0, 0))},
        {"name": "b", "translation": [0, 2, 0], "extensions": bodies(motion={"mass": 1.0}, collider=collider(1, 1))},
    ], SHAPES)
    sim = Simulation(Scene.from_mesh(path))
    materials, shapes = sim.model.materials, sim.model.shapes
    m, n = (int(shapes.material[shapes.body == sim.number(name)][0]) for name in "ab")
    assert materials.friction[m, n] == pytest.approx(0.45) and materials.friction_static[m, n] == pytest.approx(0.6)
    assert materials.restitution[m, n] == pytest.approx(0.5)   # maximum of 0.25 and 0.5
    assert materials.restitution[n, n] == pytest.approx(0.25)  # 0.5 times 0.5
    assert materials.friction[n, n] == pytest.approx(0.4)


def test_a_ball_of_such_a_file_rolls_as_any_other(tmp_path):
    """Sliding at 2 m/s with μ = 0.5 it rolls after 2 v/7 μ g, at 5/7 of its speed; a step late at the most."""
    rough = [{"dynamicFriction": 0.5, "staticFriction": 0.5, "restitution": 0.0}]
    path = written(tmp_path / "roll.gltf", [
        {"name": "floor", "translation": [0, -0.1, 0], "extensions": bodies(collider=collider(0, 0))},
        {"name": "ball", "translation": [-1, 0.3, 0],
         "extensions": bodies(motion={"mass": 1.0, "linearVelocity": [2, 0, 0]}, collider=collider(1, 0))},
    ], SHAPES, materials=rough)
    sim = Simulation(Scene.from_mesh(path))
    sim.run(until=2.0 * 2.0 / (7.0 * 0.5 * 9.81) + 0.1)
    assert sim.velocity("ball")[0] == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-6)


def test_meshes_are_colliders_as_hulls_or_as_what_they_are(tmp_path):
    """A wedge as convex hull, seen by another node: it stands where its collider is, not where it is drawn."""
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((0.4, 0.2, 0.6)), node_name="Shown", geom_name="Shown",
                       transform=trimesh.transformations.translation_matrix([5, 1, 0]))
    path = tmp_path / "mesh.glb"
    path.write_bytes(scene.export(file_type="glb"))
    data = path.read_bytes()
    head = struct.unpack("<I", data[12:16])[0]
    tree = json.loads(data[20 : 20 + head])
    seen = next(k for k, node in enumerate(tree["nodes"]) if "mesh" in node)
    tree["nodes"].append({"name": "Crate", "translation": [0, 0.1, 0], "rotation": [0, QUARTER, 0, QUARTER],
                          "extensions": bodies(motion={"mass": 2.0}, collider={
                              "geometry": {"mesh": tree["nodes"][seen]["mesh"], "convexHull": True}})})
    tree["scenes"][0]["nodes"].append(len(tree["nodes"]) - 1)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(data[:8] + struct.pack("<II4s", 20 + len(text) + len(data) - 20 - head, len(text), b"JSON") + text
                     + data[20 + head :])
    sim = Simulation(Scene.from_mesh(path))
    assert sim.labels.bodies[1:] == ("Crate",)
    x = sim.state.bodies.x[1]
    np.testing.assert_allclose(x, Y_UP @ [0, 0.1, 0], atol=1e-6)
    assert sim.model.mass[1] == pytest.approx(2.0)
    a, b, c = 0.6, 0.4, 0.2  # turned about the vertical: along the file's x, its z, and upwards
    expected = 2.0 / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    R = trimesh.transformations.quaternion_matrix(sim.state.bodies.q[1])[:3, :3]
    np.testing.assert_allclose(R @ np.diag(sim.model.inertia[1]) @ R.T, np.diag(expected), atol=1e-6)
    assert doubts(path, AS_IT_IS).bodies == 0  # nothing is asked


def test_the_forerunner_of_the_shapes_is_read_too(tmp_path):
    path = written(tmp_path / "old.gltf", [
        {"name": "ball", "extensions": bodies(motion={"mass": 2.0}, collider={"shape": 1})}], SHAPES,
        family="KHR_collision_shapes")
    sim = Simulation(Scene.from_mesh(path))
    assert sim.labels.bodies == ("ground", "ball") and sim.model.mass[1] == pytest.approx(2.0)


def test_what_is_left_out_is_told(tmp_path):
    path = written(tmp_path / "door.gltf", [
        {"name": "door", "extensions": bodies(motion={"mass": 1.0}, collider=collider(1) | {"collisionFilter": 0},
                                              joint={"connectedNode": 1, "joint": 0})},
        {"name": "post", "translation": [3, 0, 0], "extensions": bodies(collider=collider(1))}], SHAPES)
    notes = " ".join(Simulation(Scene.from_mesh(path)).labels.notes)
    assert "each joint is left out" in notes and "each filter of collisions is left out" in notes


@pytest.mark.parametrize(("nodes", "why"), [
    ([{"extensions": bodies(motion={"mass": 1.0})}], "neither a collider nor inertiaDiagonal"),
    ([{"extensions": bodies(motion={"mass": 1.0}, collider=collider(99))}], "damaged"),
    ([{"extensions": bodies(motion={"mass": 1.0}, collider=collider(-1))}], "damaged"),
    ([{"extensions": bodies(motion={"mass": "heavy"}, collider=collider(1))}], "damaged"),
    ([{"extensions": bodies(motion={"mass": 1.0}, collider=collider(1, 7))}], "material 7"),
    ([{"name": "egg", "scale": [1, 2, 1], "extensions": bodies(collider=collider(2))}], "capsule of egg is tapered"),
    ([{"name": "flat", "scale": [1, 0, 1], "extensions": bodies(collider=collider(1))}], "flat has the scale 0"),
    ([{"name": "snake", "children": [0], "extensions": bodies(collider=collider(1))}], "snake is below two others"),
    ([{"extensions": bodies(collider={"geometry": {"mesh": 0}})}], "a mesh that no node"),
])
def test_what_contradicts_itself_is_refused_in_a_sentence(tmp_path, nodes, why):
    path = written(tmp_path / "bad.gltf", nodes, SHAPES)
    with pytest.raises(SceneError, match=why):
        Scene.from_mesh(path)
