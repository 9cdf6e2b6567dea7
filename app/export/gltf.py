"""A run as an animated scene of glTF 2.0, one file .glb: what Blender, three.js and slides take.

A node for each body, with its name, colour and shapes; translations and rotations of those that move as an animation,
linear between frames; textures of meshes are kept. glTF has y upwards: a node above all turns the scene. Planes are
squares. Contacts and forces are left out.
"""

from typing import Any

import numpy as np
import trimesh
from PIL import Image
from trimesh.exchange.gltf import export_glb
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from ...physics import Simulation
from ...physics.core.interruption import look_up
from ...physics.core.model import ShapeKind
from ..view.camera import scene_bounds
from ..view.theme import body_colors, linear
from .frames import Frames, Worn, size_of, surface_of, worn_by

ROUND = 48           # sections of cylinders and capsules
BALL = 3             # times the triangles of an icosahedron are divided for a ball
PLANE = 4.0          # side of the square that stands for a plane, in diagonals of the scene
ROUGHNESS = 0.65
FLOAT = 5126         # code of float32 in glTF
SCENE, TURNED = "scene", "z upwards"  # nodes above those of the bodies
UPRIGHT = trimesh.transformations.rotation_matrix(-0.5 * np.pi, (1.0, 0.0, 0.0))  # z upwards -> y upwards


def glb_of(frames: Frames) -> bytes:
    """The file."""
    sim = frames.sim
    scene, state = trimesh.Scene(base_frame=SCENE), sim.state.bodies
    lo, hi = scene_bounds(sim.model, state.x, state.q)
    reach = PLANE * float(np.linalg.norm(hi - lo))
    names = {SCENE: SCENE, TURNED: TURNED}  # of nodes: users may call two things alike, trimesh's graph may not
    scene.graph.update(frame_to=TURNED, frame_from=SCENE, matrix=UPRIGHT)
    for i, color in enumerate(body_colors(sim.model, sim.labels)):
        own = f"body {i}"
        names[own] = sim.labels.bodies[i]
        scene.graph.update(frame_to=own, frame_from=TURNED, matrix=_placed(state.x[i], state.q[i]))
        material = PBRMaterial(baseColorFactor=[*map(float, color), 1.0], roughnessFactor=ROUGHNESS,
                               metallicFactor=0.0, doubleSided=True)
        for n, s in enumerate(np.flatnonzero(sim.model.shapes.body == i).tolist()):
            look_up()
            shapes, node, worn = sim.model.shapes, f"shape {s}", worn_by(sim, s)
            mesh = _mesh(sim, s, reach) if worn is None else _skinned(worn)
            if worn is None:
                mesh.visual = TextureVisuals(material=material)
            names[node] = f"{sim.labels.bodies[i]}: {n + 1}"
            scene.add_geometry(mesh, node_name=node, geom_name=node, parent_node_name=own,
                               transform=_placed(shapes.position[s], shapes.orientation[s]))

    def finish(buffers: dict[Any, bytes], tree: dict[str, Any]) -> None:
        """Name the nodes; add the frames to the file, and let nodes follow them."""
        tree["asset"]["generator"] = "Contactlab"
        place = {node["name"]: k for k, node in enumerate(tree["nodes"])}
        for node in tree["nodes"]:
            node["name"] = names[node["name"]]
        for mesh in tree["meshes"]:
            mesh["name"] = names[mesh["name"]]
        if len(frames.moving) == 0 or len(frames.t) == 1:
            return
        channels, samplers = [], []

        def add(values: Any, kind: str) -> int:
            """An array as an accessor; its number."""
            array, number = np.ascontiguousarray(values, "<f4"), len(tree["accessors"])
            rows = array.reshape(len(array), -1)
            tree["accessors"][f"frames {number}"] = {
                "bufferView": len(buffers), "componentType": FLOAT, "type": kind, "count": len(array),
                "min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
            buffers[f"frames {number}"] = array.tobytes()
            return number

        times, poses = add(np.subtract(frames.t, frames.t[0]), "SCALAR"), np.array(frames.poses)
        for k, i in enumerate(frames.moving.tolist()):
            node, turns = place[f"body {i}"], continuous(poses[:, k, 3:])[:, (1, 2, 3, 0)]
            tree["nodes"][node].pop("matrix", None)  # glTF does not let a node have that and be animated
            for path, values, kind in (("translation", poses[:, k, :3], "VEC3"), ("rotation", turns, "VEC4")):
                tree["nodes"][node][path] = values[0].tolist()
                channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
                samplers.append({"input": times, "output": add(values, kind), "interpolation": "LINEAR"})
        tree["animations"] = [{"name": sim.labels.title or sim.scene.name, "channels": channels, "samplers": samplers}]

    return export_glb(scene, buffer_postprocessor=finish)


def continuous(q: np.ndarray) -> np.ndarray:
    """Quaternions (k, 4) of which each has the sign that is nearer to the one before: what is between two of them is
    then the short way round."""
    signs = np.where((q[1:] * q[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return q * np.concatenate([[1.0], np.cumprod(signs)])[:, None]


def _placed(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The (4, 4) matrix of a position and a quaternion w, x, y, z."""
    matrix = trimesh.transformations.quaternion_matrix(q)
    matrix[:3, 3] = x
    return matrix


def _mesh(sim: Simulation, s: int, reach: float) -> trimesh.Trimesh:
    """The surface of a shape; `reach` [m] is the side of the square that stands for a plane."""
    surface = surface_of(sim, s)
    if surface is not None:
        return trimesh.Trimesh(*surface, process=False)
    a, b, c = size_of(sim, s)
    match ShapeKind(sim.model.shapes.kind[s]):
        case ShapeKind.BOX:
            return trimesh.creation.box(extents=(2 * a, 2 * b, 2 * c))
        case ShapeKind.CAPSULE:
            return _smooth(trimesh.creation.capsule(height=2 * b, radius=a, count=[ROUND, ROUND]))
        case ShapeKind.CYLINDER:
            return trimesh.creation.cylinder(radius=a, height=2 * b, sections=ROUND)
        case ShapeKind.PLANE:
            half = 0.5 * reach
            corners = [(x, y, 0.0) for x, y in ((-half, -half), (half, -half), (half, half), (-half, half))]
            return trimesh.Trimesh(corners, [(0, 1, 2), (0, 2, 3)], process=False)
    ball = trimesh.creation.icosphere(BALL)
    ball.apply_scale((a, b, c) if sim.model.shapes.kind[s] == ShapeKind.ELLIPSOID else a)
    return _smooth(ball)


def _skinned(worn: Worn) -> trimesh.Trimesh:
    """A surface with its texture."""
    corners, uv, image, tint = worn
    mesh = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
    material = PBRMaterial(baseColorTexture=Image.fromarray(image), baseColorFactor=[*linear(tint).tolist(), 1.0],
                           roughnessFactor=ROUGHNESS, metallicFactor=0.0, doubleSided=True)
    mesh.visual = TextureVisuals(uv=uv, material=material)
    return mesh


def _smooth(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """Have the normals of vertices written to the file, so that the mesh is drawn round: trimesh writes those that were
    asked for. Others are drawn by the normals of their triangles."""
    assert len(mesh.vertex_normals)
    return mesh
