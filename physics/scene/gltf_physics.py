"""Bodies of glTF files that say how they move: the extensions KHR_physics_rigid_bodies, and KHR_implicit_shapes or its
forerunner KHR_collision_shapes [drafts of the Khronos group].

A node with `motion` is a body, and the colliders of nodes below it are its shapes; a collider without such a node above
it stands still. Joints, triggers and filters are left out, and a note says so. glTF has y upwards and capsules along y,
a scene z: what is local is turned as the world is, so that these stay along their axis.
"""

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.model import Array
from .checks import Found
from .kept_meshes import HOLLOW, MeshFile, mesh_file
from .mesh_files import COLORS, IN_METRES, Y_UP, checked_size, gltf_head
from .refusals import SceneError

BODIES = "KHR_physics_rigid_bodies"
SHAPES = ("KHR_implicit_shapes", "KHR_collision_shapes")
NO_MATERIAL = {"restitution": 0.0, "friction": 0.6}  # of colliders that have none: the drafts' own numbers
ALIKE = 1e-4    # relative difference up to which numbers of a file, which are float32, are the same
BELOW = 0.25    # of the size of a scene without anything fixed, by which the ground is below its bodies' origins


def has_physics(path: Path) -> bool:
    """Whether a file is glTF with bodies in it. False of one that cannot be read, which is said where it is read."""
    return _tree_of(path) is not None


def _tree_of(path: Path) -> dict[str, Any] | None:
    if path.suffix.lower() not in IN_METRES or checked_size(path)[1] == 0:
        return None
    try:
        tree = gltf_head(path)
        return tree if any(BODIES in node.get("extensions", {}) for node in tree.get("nodes", [])) else None
    except Exception:  # whatever a broken file makes the reader stumble over
        return None


def physics_scene(path: Path, name: str) -> Found:
    """The tables of the scene of a file for which `has_physics` holds, which has this name below the scene's folder.
    Raises SceneError where it contradicts itself, or asks for what there is not."""
    tree = _tree_of(path)
    assert tree is not None
    try:
        return _Reader(path, name, tree).scene()
    except SceneError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise SceneError(f"{name}: what it says under {BODIES} is damaged; it must be as the draft of that extension "
                         "says.") from error


class _Pose(NamedTuple):
    """Where a node is, in axes with z up: p = x + R diag(size) local."""

    x: Array     # (3,) [m]
    R: Array     # (3, 3) rotation
    size: Array  # (3,)


class _Reader:
    """Makes the tables of one file."""

    def __init__(self, path: Path, name: str, tree: dict[str, Any]) -> None:
        self.path, self.name, self.tree = path, name, tree
        self.notes: list[str] = []
        self.nodes = tree["nodes"]
        self.called = [node.get("name", str(k)) for k, node in enumerate(self.nodes)]
        own = tree.get("extensions", {})
        self.materials = own.get(BODIES, {}).get("physicsMaterials", [])
        self.shapes = next((own[key]["shapes"] for key in SHAPES if key in own), [])
        self.poses: dict[int, Array] = {}     # of every node that is placed (4, 4), glTF axes
        self.mover: dict[int, int] = {}       # of every such node: the one above it, or itself, with motion; else -1
        roots = tree["scenes"][tree.get("scene", 0)]["nodes"] if tree.get("scenes") else range(len(self.nodes))
        for root in roots:
            self._place(root, np.eye(4), -1)

    def _place(self, root: int, above: Array, mover: int) -> None:
        waiting = [(root, above, mover)]
        while waiting:
            k, above, mover = waiting.pop()
            if k in self.poses:
                raise SceneError(f"{self.name}: the node {self.called[k]} is below two others, or below itself; each "
                                 "must be below at most one.")
            self.poses[k] = above @ _matrix(self.nodes[k])
            self.mover[k] = mover = k if "motion" in self._physics(k) else mover
            waiting += [(child, self.poses[k], mover) for child in self.nodes[k].get("children", [])]

    def _physics(self, k: int) -> dict[str, Any]:
        return self.nodes[k].get("extensions", {}).get(BODIES, {})

    def scene(self) -> Found:
        """The tables, and what was left out."""
        colliders: dict[int, list[int]] = {k: [] for k in self.poses if self.mover[k] == k}
        for k in self.poses:
            if "collider" in self._physics(k):
                colliders.setdefault(self.mover[k] if self.mover[k] >= 0 else k, []).append(k)
        colors = COLORS[self.path.suffix.lower()](self.path)
        bodies = [self._body(k, mine) for k, mine in sorted(colliders.items())]
        for body, (k, mine) in zip(bodies, sorted(colliders.items()), strict=True):
            below = [k, *mine, *(j for j in self.poses if self.mover[j] == k)]
            color = next((colors[self.called[j]] for j in below if colors.get(self.called[j]) is not None), None)
            body |= {"color": list(color)} if color is not None else {}
        self._tell_what_is_left_out()
        moving, fixed = ([body for body in bodies if bool(body.get("fixed")) == still] for still in (False, True))
        places = np.array([body["position"] for body in moving or fixed])
        middle, size = places.mean(axis=0), max(float(np.ptp(places, axis=0).max()), 1.0)
        if not fixed:
            under = [0.0, 0.0, float(places[:, 2].min()) - BELOW * size]
            bodies.insert(0, {"name": "ground", "fixed": True, "position": under, "shape": [{"type": "plane"}]})
        for body, called in zip(bodies, unique([body["name"] for body in bodies]), strict=True):
            body["name"] = called
        return Found({
            "scene": {
                "title": self.path.name,
                "summary": f"{len(moving)} bodies that move and {len(fixed)} that stand still, as the file says.",
                "watch": "How it comes to rest: the contacts it stands on in the end.",
            },
            "camera": {"target": middle.tolist(), "distance": 3.0 * size},
            "material": {"default": NO_MATERIAL} | {self._material(i): self._coefficients(i)
                                                    for i in range(len(self.materials))},
            "pair": self._pairs(),
            "body": bodies,
        }, tuple(self.notes))

    def _tell_what_is_left_out(self) -> None:
        said = [self._physics(k) for k in self.poses]
        counts = {"joint": sum("joint" in own for own in said), "trigger": sum("trigger" in own for own in said),
                  "filter of collisions": sum("collisionFilter" in own.get("collider", {}) for own in said)}
        self.notes += [f"{self.name}: each {what} is left out, of which there {'are' if count > 1 else 'is'} {count}."
                       for what, count in counts.items() if count]

    # ------------------------------------------------------------------------------------------------- bodies
    def _pose(self, k: int) -> _Pose:
        """Raises SceneError where the node is sheared."""
        matrix = self.poses[k]
        if not np.isfinite(matrix).all():
            raise ValueError("no finite pose")
        size = np.linalg.norm(matrix[:3, :3], axis=0)
        if size.min() <= 0.0:
            raise SceneError(f"{self.name}: the node {self.called[k]} has the scale 0; it must have a size.")
        R = matrix[:3, :3] / size
        if np.abs(R.T @ R - np.eye(3)).max() > ALIKE:
            raise SceneError(f"{self.name}: the node {self.called[k]} is sheared; a body must be scaled along its own "
                             "axes.")
        if np.linalg.det(R) < 0.0:
            R = -R  # these shapes are their own mirror images
        return _Pose(Y_UP @ matrix[:3, 3], Y_UP @ R @ Y_UP.T, np.abs(Y_UP) @ size)

    def _body(self, k: int, colliders: list[int]) -> dict[str, Any]:
        """The table of the body of node k, which has these colliders."""
        pose, motion = self._pose(k), self._physics(k).get("motion")
        body: dict[str, Any] = {"name": self.called[k]}
        centre = np.zeros(3)
        if motion is None:
            body["fixed"] = True
        elif motion.get("isKinematic", False):
            body |= {"kinematic": True, "motion": self._velocities(pose, motion)}
        else:
            body |= self._velocities(pose, motion) | {"mass": float(motion.get("mass", 1.0))}
            centre, inertia = self._inertia(k, motion)
            body |= {} if inertia is None else {"inertia": inertia}
        origin = Y_UP @ (self.poses[k] @ np.append(centre, 1.0))[:3]
        body |= {"position": origin.tolist(), "orientation": _quaternion(pose.R)}
        body["shape"] = [self._shape(c, origin, pose.R, motion is None) for c in colliders]
        if not colliders and "inertia" not in body and "mass" in body:
            raise SceneError(f"{self.name}: {self.called[k]} has neither a collider nor inertiaDiagonal; it must have "
                             "one of them, or nothing says how it turns.")
        if not colliders:
            self.notes.append(f"{self.name}: {self.called[k]} has no collider: it passes through everything.")
        return body

    def _velocities(self, pose: _Pose, motion: dict[str, Any]) -> dict[str, Any]:
        local = {"velocity": "linearVelocity", "angular_velocity": "angularVelocity"}
        return {ours: (pose.R @ Y_UP @ np.array(motion.get(theirs, (0.0, 0.0, 0.0)), float)).tolist()
                for ours, theirs in local.items()}

    def _inertia(self, k: int, motion: dict[str, Any]) -> tuple[Array, list[float] | None]:
        """The centre of mass (3,) as the node has it, and the inertia Ixx, Iyy, Izz, Ixy, Ixz, Iyz about it
        [kg m2], along the body's axes; no inertia where the shapes say both."""
        diagonal = np.array(motion.get("inertiaDiagonal", (0.0, 0.0, 0.0)), float)
        given = np.array(motion.get("centerOfMass", (0.0, 0.0, 0.0)), float)
        if not (diagonal > 0.0).all():
            if given.any():
                self.notes.append(f"{self.name}: {self.called[k]} has a centre of mass but no inertia: both are those "
                                  "of its shapes.")
            return np.zeros(3), None
        Q = Y_UP @ _rotation(motion.get("inertiaOrientation", (0.0, 0.0, 0.0, 1.0)))
        I = Q @ np.diag(diagonal) @ Q.T
        return given, [float(I[at]) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]

    # ------------------------------------------------------------------------------------------------- shapes
    def _shape(self, k: int, origin: Array, R: Array, fixed: bool) -> dict[str, Any]:
        """The table of the collider of node k on a body whose origin and axes are these."""
        collider, pose = self._physics(k)["collider"], self._pose(k)
        geometry = collider.get("geometry", collider)
        shape = self.shapes[_index(geometry["shape"])] if "shape" in geometry else None
        mesh = {"convex": True, "trimesh": False, "mesh": False}
        if shape is None or shape["type"] in mesh:
            said = geometry if shape is None else shape[shape["type"]]
            convex = bool(said.get("convexHull", shape is not None and mesh[shape["type"]]))
            table, pose = self._mesh(k, said, convex, fixed)
        else:
            table = self._primitive(k, shape["type"], shape.get(shape["type"], {}), pose.size)
        table |= {"position": (R.T @ (pose.x - origin)).tolist(), "orientation": _quaternion(R.T @ pose.R)}
        if "physicsMaterial" in collider:
            table["material"] = self._material(_index(collider["physicsMaterial"]))
        return table

    def _primitive(self, k: int, kind: str, said: dict[str, Any], size: Array) -> dict[str, Any]:
        """A shape that has a formula, of a node of this scale (3,)."""
        if kind == "box":
            lengths = np.abs(Y_UP) @ np.array(said.get("size", (1.0, 1.0, 1.0)), float)
            return {"type": "box", "size": (size * lengths).tolist()}
        even, round_ = np.ptp(size) <= ALIKE * size.max(), abs(size[0] - size[1]) <= ALIKE * size.max()
        if kind == "sphere":
            radius = float(said.get("radius", 0.5))
            return {"type": "sphere", "radius": radius * float(size[0])} if even else {
                "type": "ellipsoid", "size": (2.0 * radius * size).tolist()}
        if kind not in ("capsule", "cylinder"):
            raise SceneError(f"{self.name}: the collider of {self.called[k]} is a {kind}; it must be a sphere, box, "
                             "capsule, cylinder or mesh.")
        bottom, top = (float(said.get(name, 0.25)) for name in ("radiusBottom", "radiusTop"))
        if abs(bottom - top) > ALIKE * max(bottom, top) or not (even if kind == "capsule" else round_):
            raise SceneError(f"{self.name}: the {kind} of {self.called[k]} is tapered, or scaled unevenly; it must be "
                             "as wide at both ends, and round.")
        height = float(said.get("height", 0.5))
        return {"type": kind, "radius": bottom * float(size[0]), "height": height * float(size[2])}

    def _mesh(self, k: int, said: dict[str, Any], convex: bool, fixed: bool) -> tuple[dict[str, Any], _Pose]:
        """A mesh, and where the file's axes are for it: a mesh is known as some node has placed it."""
        node = _index(said["node"]) if "node" in said else None
        mesh = self.nodes[node]["mesh"] if node is not None else _index(said["mesh"])
        placed = [j for j in (k, *self.poses)
                  if self.nodes[j].get("mesh") == mesh and self.called.count(self.called[j]) == 1]
        if not placed:
            raise SceneError(f"{self.name}: the collider of {self.called[k]} is a mesh that no node with a name of its "
                             "own shows; one must, or the collider be another shape.")
        there, here = self._pose(placed[0]), self._pose(k)
        if np.abs(there.size - here.size).max() > ALIKE * here.size.max():
            raise SceneError(f"{self.name}: the collider of {self.called[k]} is the mesh of {self.called[placed[0]]} "
                             "in another size; it must have the same.")
        R = here.R @ there.R.T
        file: MeshFile = mesh_file(self.path)
        part = {"part": self.called[placed[0]]} if len(file.pieces) > 1 else {}
        if convex:
            collide = "hull"
        elif fixed:
            collide = "surface"
        else:
            whole = file.solid(part.get("part"), 1.0)
            collide = "parts" if HOLLOW * whole.filled < 1.0 else "hull"
        return ({"type": "mesh", "file": self.name, "collide": collide} | part,
                _Pose(here.x - R @ there.x, R, here.size))

    # ---------------------------------------------------------------------------------------------- materials
    def _material(self, i: int) -> str:
        return f"material {i + 1}" if 0 <= i < len(self.materials) else _no_material(self.name, i)

    def _coefficients(self, i: int) -> dict[str, float]:
        said = self.materials[i]
        slips = float(said.get("dynamicFriction", NO_MATERIAL["friction"]))
        sticks = float(said.get("staticFriction", NO_MATERIAL["friction"]))
        found = {"restitution": float(said.get("restitution", NO_MATERIAL["restitution"])), "friction": slips}
        return found | ({"friction_static": sticks} if sticks > slips else {})

    def _pairs(self) -> list[dict[str, Any]]:
        """What every two materials make of their coefficients by the rules that they name."""
        rows: list[dict[str, Any]] = []
        own = [self._coefficients(i) for i in range(len(self.materials))]
        for (i, a), (j, b) in itertools.combinations_with_replacement(enumerate(own), 2):
            rules = [[self.materials[k].get(f"{what}Combine", "average") for k in (i, j)]
                     for what in ("restitution", "friction")]
            values = {"restitution": _combined(rules[0], a["restitution"], b["restitution"]),
                      "friction": _combined(rules[1], a["friction"], b["friction"])}
            sticks = _combined(rules[1], *(c.get("friction_static", c["friction"]) for c in (a, b)))
            values |= {"friction_static": sticks} if sticks > values["friction"] else {}
            rows.append({"materials": [self._material(i), self._material(j)]} | values)
        return rows


def unique(names: list[str]) -> list[str]:
    """The same names, with a number behind those that were there before."""
    found: list[str] = []
    for name in names:
        k, other = 2, name
        while other in found:
            k, other = k + 1, f"{name} {k}"
        found.append(other)
    return found


def _combined(rules: list[str], a: float, b: float) -> float:
    """A coefficient of two materials: the rule of the two that stands first in this list is taken, as the draft says.
    """
    ways = {"average": 0.5 * (a + b), "minimum": min(a, b), "maximum": max(a, b), "multiply": a * b}
    return next(ways[rule] for rule in ways if rule in rules)


def _no_material(name: str, i: int) -> str:
    raise SceneError(f"{name}: a collider has the material {i}, which the file does not hold.")


def _index(value: Any) -> int:
    """A place in an array of the file. ValueError where it is none: Python's would count from the end."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("no place in an array")
    return value


def _matrix(node: dict[str, Any]) -> Array:
    """(4, 4) of a node, from those coordinates to those above it."""
    if "matrix" in node:
        return np.reshape(np.array(node["matrix"], float), (4, 4)).T
    matrix = np.eye(4)
    scale = np.array(node.get("scale", (1.0, 1.0, 1.0)), float)
    matrix[:3, :3] = _rotation(node.get("rotation", (0.0, 0.0, 0.0, 1.0))) * scale
    matrix[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return matrix


def _rotation(xyzw: Any) -> Array:
    """(3, 3) of a quaternion as glTF writes it."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.array(xyzw, float)).as_matrix()


def _quaternion(R: Array) -> list[float]:
    """w, x, y, z of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]].tolist()
