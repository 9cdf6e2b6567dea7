"""Robots from URDF files: the tables of a scene from links, joints and meshes.

A link becomes a body with the file's mass and inertia, its origin at the centre of mass; collision geometry becomes its
shapes. Revolute and continuous joints become hinges, prismatic ones sliders, with their limits and damping. What has no
meaning here is listed, never dropped in silence. The root link is the world where it is called "world" or has no mass;
else the robot is free, above the ground.
"""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..shapes.shapes import matrix_to_quat
from .checks import Found
from .refusals import SceneError

GROUND = 1.0  # height of the lowest centre of mass of a free robot above the ground [m]
SMALL_BALL = 0.01  # radius of the ball that a link with mass but no inertia is taken for [m]
TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "fixed": "fixed"}


def read_urdf(path: Path) -> Found:
    """The robot of a URDF file, its joints at zero. Raises SceneError where it cannot be read."""
    import yourdfpy  # slow to load, and most scenes are not robots

    try:
        root = ElementTree.parse(path).getroot()  # yourdfpy repairs broken files silently; this parser reports them
        if root.tag != "robot":
            raise ValueError(f"its root is <{root.tag}>, not <robot>")
        model = yourdfpy.URDF.load(str(path), build_scene_graph=False, load_meshes=False)
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # the parser raises whatever lxml and its own checks do
        raise SceneError(f"{path.name}: is not a robot in URDF ({error}).") from error
    return _UrdfReader(path, model.robot).robot()


def _pose(origin: Any) -> np.ndarray:
    return np.eye(4) if origin is None else np.asarray(origin, np.float64)


def _quat(R: np.ndarray) -> list[float]:
    return matrix_to_quat(R).tolist()


class _UrdfReader:
    def __init__(self, path: Path, robot: Any) -> None:
        self.path, self.source = path, robot
        self.links = {link.name: link for link in robot.links}
        self.above = {joint.child: joint for joint in robot.joints}
        self.notes: list[str] = []
        self.poses: dict[str, np.ndarray] = {}

    def robot(self) -> Found:
        """The bodies and joints of a scene; what was assumed is in `notes`."""
        grounded = {name for name in self.links if self._is_ground(name)}
        bodies = [self._body(link) for name, link in self.links.items() if name not in grounded]
        joints = [self._joint(joint, grounded) for joint in self.source.joints if joint.child not in grounded]
        for kind in ("transmission", "gazebo"):
            if getattr(self.source, kind, None):
                self.notes.append(f"<{kind}> is left out")
        if not any(joint is not None and joint["parent"] == "world" for joint in joints):
            lowest = min((body["position"][2] for body in bodies), default=0.0)
            bodies.append({"name": "ground", "position": [0.0, 0.0, lowest - GROUND], "fixed": True,
                           "shape": [{"type": "plane"}]})
        tables = {
            "scene": {"title": self.source.name or self.path.stem,
                      "summary": f"A robot of {len(bodies)} links read from {self.path.name}."},
            "body": bodies, "joint": [joint for joint in joints if joint is not None],
        }
        return Found(tables, tuple(dict.fromkeys(self.notes)))

    def _is_ground(self, name: str) -> bool:
        """Whether a link is part of the world: the root where it is called "world" or has no mass, and links without
        mass that are fixed to such a link."""
        link, joint = self.links[name], self.above.get(name)
        massless = link.inertial is None or not link.inertial.mass
        if joint is None:
            return name == "world" or massless
        if not massless:
            return False
        if joint.type == "fixed" and self._is_ground(joint.parent):
            return True
        raise SceneError(f"{self.path.name}: the link {name!r} moves but has no mass; it must have <inertial>.")

    def _link_pose(self, name: str) -> np.ndarray:
        if name not in self.poses:
            joint = self.above.get(name)
            self.poses[name] = np.eye(4) if joint is None else self._link_pose(joint.parent) @ _pose(joint.origin)
        return self.poses[name]

    def _body(self, link: Any) -> dict[str, Any]:
        pose, center = self._link_pose(link.name), _pose(link.inertial.origin)
        I = center[:3, :3] @ np.asarray(link.inertial.inertia, np.float64) @ center[:3, :3].T
        if not I.any():
            I = 0.4 * float(link.inertial.mass) * SMALL_BALL**2 * np.eye(3)
            self.notes.append(f"{link.name}: has mass at a point; it is taken for a ball of {SMALL_BALL * 100:g} cm")
        shapes = [self._shape(link.name, shape, center[:3, 3]) for shape in link.collisions or ()]
        return {
            "name": link.name, "position": (pose @ center)[:3, 3].tolist(), "orientation": _quat(pose[:3, :3]),
            "mass": float(link.inertial.mass), "inertia": [*np.diag(I).tolist(), *I[[0, 0, 1], [1, 2, 2]].tolist()],
            "shape": [shape for shape in shapes if shape is not None],
        }

    def _shape(self, link: str, shape: Any, center: np.ndarray) -> dict[str, Any] | None:
        pose, geometry = _pose(shape.origin), shape.geometry
        placed = {"position": (pose[:3, 3] - center).tolist(), "orientation": _quat(pose[:3, :3])}
        if geometry.box is not None:
            return {"type": "box", "size": np.asarray(geometry.box.size, np.float64).tolist(), **placed}
        if geometry.sphere is not None:
            return {"type": "sphere", "radius": float(geometry.sphere.radius), **placed}
        if geometry.cylinder is not None:
            size = geometry.cylinder
            return {"type": "cylinder", "radius": float(size.radius), "height": float(size.length), **placed}
        return self._mesh(link, geometry.mesh, placed) if geometry.mesh is not None else None

    def _mesh(self, link: str, mesh: Any, placed: dict[str, Any]) -> dict[str, Any] | None:
        name = mesh.filename.split("://")[-1]
        folder = self.path.parent
        found = next((p for p in (folder / name, folder / Path(name).name) if p.is_file()), None)
        if found is None:
            self.notes.append(f"{link}: the mesh {mesh.filename} is not beside the file and is left out")
            return None
        scale = np.broadcast_to(1.0 if mesh.scale is None else np.asarray(mesh.scale, np.float64), (3,))
        if np.ptp(scale) > 0.0:
            self.notes.append(f"{link}: the mesh {mesh.filename} is scaled unlike along its axes and is left out")
            return None
        return {"type": "mesh", "file": str(found.relative_to(folder)), "scale": float(scale[0]), **placed}

    def _joint(self, joint: Any, grounded: set[str]) -> dict[str, Any] | None:
        if joint.type == "floating" and joint.parent in grounded:
            return None  # a free body needs no joint in a scene
        kind = TYPES.get(joint.type)
        if kind is None:
            raise SceneError(f"{self.path.name}: the joint {joint.name!r} is of type {joint.type!r}; it must be one of "
                             f"{', '.join(TYPES)}.")
        parent = "world" if joint.parent in grounded else joint.parent
        pose = self._link_pose(joint.child)
        found: dict[str, Any] = {"type": kind, "name": joint.name, "parent": parent, "child": joint.child,
                                 "anchor": pose[:3, 3].tolist()}
        if kind in ("hinge", "slider"):
            axis = pose[:3, :3] @ np.asarray((1.0, 0.0, 0.0) if joint.axis is None else joint.axis, np.float64)
            found["axis"] = (axis / np.linalg.norm(axis)).tolist()
        if joint.limit is not None and joint.type in ("revolute", "prismatic"):
            ends = np.array([joint.limit.lower or 0.0, joint.limit.upper or 0.0])
            ends = np.degrees(ends) if kind == "hinge" else ends
            if kind == "slider" or np.abs(ends).max() <= 180.0:
                found["limits"] = ends.tolist()
            else:
                self.notes.append(f"{joint.name}: limits past half a turn are left out")
            self.notes.append("limits of effort and velocity are left out: they are for drives")
        if joint.dynamics is not None:
            found["damping"] = float(joint.dynamics.damping or 0.0)
            if joint.dynamics.friction:
                self.notes.append(f"{joint.name}: friction in the joint is left out")
        if joint.mimic is not None:
            self.notes.append(f"{joint.name}: mimics {joint.mimic.joint}, which is left out; it moves freely")
        return found
