"""Robots from URDF files: the tables of a scene from links, joints and meshes.

Links that fixed joints connect become one body with the mass and inertia of all, named after the one nearest the root,
its origin at the centre of mass; their collision geometry becomes its shapes. Revolute and continuous joints become
hinges, prismatic ones sliders, with their limits and damping. What has no meaning here is listed, never dropped in
silence. The root link is the world where it is called "world" or has no mass; else the robot is free, above a plane.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from ..core.limits import ROBOT_FILE
from ..core.model import Array
from ..shapes.shapes import MassProperties, combined, matrix_to_quat
from .checks import Found
from .mesh_files import COUNTERS
from .refusals import SceneError
from .values import LARGEST, in_words

GROUND = 1.0  # height of the lowest centre of mass of a free robot without shapes above the ground [m]
SMALL_BALL = 0.01  # radius of the ball that a link with mass but no inertia is taken for [m]
TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "spherical": "ball", "fixed": "fixed",
         "floating": "free"}
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


class _Pose(NamedTuple):
    R: Array  #: (3, 3) frame -> world
    x: Array  #: (3,) origin [m]

    def then(self, inner: "_Pose") -> "_Pose":
        """The pose of a frame that has the pose `inner` in this one."""
        return _Pose(self.R @ inner.R, self.x + self.R @ inner.x)


HERE = _Pose(np.eye(3), np.zeros(3))


class _Link(NamedTuple):
    name: str
    own: MassProperties       #: about its centre of mass, in the link's frame [kg], [m], [kg m2]
    shapes: list[Element]     #: <collision>


class _Joint(NamedTuple):
    name: str
    type: str
    parent: str
    child: str
    origin: _Pose             #: of the child in the parent, both at zero
    element: Element


def read_urdf(path: Path) -> Found:
    """The robot of a URDF file, its joints at zero. Raises SceneError where it cannot be read."""
    if path.stat().st_size > ROBOT_FILE.most:
        raise SceneError(f"{path.name}: is larger than {ROBOT_FILE}; {ROBOT_FILE.advice}.")
    try:
        root = ElementTree.fromstring(_document(path.read_bytes()))
    except (ElementTree.ParseError, UnicodeError, LookupError, ValueError) as error:
        raise SceneError(f"{path.name}: is not a robot in URDF ({error}).") from error
    if root.tag != "robot":
        raise SceneError(f"{path.name}: is not a robot in URDF (its root is <{root.tag}>, not <robot>).")
    return _UrdfReader(path, root).robot()


def _document(data: bytes) -> bytes:
    """What of a file is XML. Blanks before it and a zero byte after it, which XML forbids [XML 1.0 §2.2, §2.8], are
    found in robots that ROS and Bullet read: they skip blanks, and end the text at the zero."""
    whole = data.rstrip(b"\0")
    return data if b"\0" in whole else whole.lstrip()  # else it is in UTF-16


class _UrdfReader:
    def __init__(self, path: Path, root: Element) -> None:
        self.path, self.source = path, root
        self.notes: list[str] = []
        self.links = self._by_name([self._link(e) for e in root.findall("link")], "link")
        self.joints = self._by_name([self._joint(e) for e in root.findall("joint")], "joint")
        self.above: dict[str, _Joint] = {}
        for joint in self.joints.values():
            for end in (joint.parent, joint.child):
                if end not in self.links:
                    raise self._refusal(f"the joint {joint.name!r} is at the link {end!r}, which is not there")
            if joint.child in self.above:
                raise self._refusal(f"the link {joint.child!r} is the child of the joints "
                                    f"{self.above[joint.child].name!r} and {joint.name!r}; it must be that of one")
            self.above[joint.child] = joint
        self._refuse_cycles()
        self.poses: dict[str, _Pose] = {}
        for name in self._parents_first():
            joint = self.above.get(name)
            self.poses[name] = HERE if joint is None else self.poses[joint.parent].then(joint.origin)

    def _refusal(self, sentence: str) -> SceneError:
        return SceneError(f"{self.path.name}: {sentence}.")

    def _by_name(self, things: list[Any], kind: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for thing in things:
            if thing.name in found:
                raise self._refusal(f"two {kind}s are called {thing.name!r}; each must have a name of its own")
            found[thing.name] = thing
        return found

    def _refuse_cycles(self) -> None:
        fine: set[str] = set()
        for name in self.links:
            way: dict[str, None] = {}
            while name in self.above and name not in fine:
                if name in way:
                    ring = list(way)[list(way).index(name) :]
                    raise self._refusal(f"the links {', '.join(map(repr, ring))} hang on each other in a ring; a robot "
                                        "must be a tree")
                way[name] = None
                name = self.above[name].parent
            fine.update(way)

    def _parents_first(self) -> list[str]:
        below: dict[str | None, list[str]] = {}
        for name in self.links:
            below.setdefault(self.above[name].parent if name in self.above else None, []).append(name)
        order = list(below.get(None, []))
        for name in order:
            order += below.get(name, [])
        return order

    # ------------------------------------------------------------------------------------------------ the file

    def _text(self, element: Element, attribute: str, owner: str) -> str:
        text = element.get(attribute)
        if not text:
            raise self._refusal(f"{owner} has no {attribute}; it must be given")
        return text

    def _numbers(
        self, element: Element | None, attribute: str, counts: tuple[int, ...], default: str, owner: str
    ) -> Array:
        """The numbers of an attribute such as xyz="0 0 1"."""
        text = (element.get(attribute) if element is not None else None) or default
        try:
            numbers = np.array([float(word) for word in text.split()])
        except ValueError:
            numbers = np.full(1, np.nan)
        if len(numbers) not in counts or not (np.abs(numbers) <= LARGEST).all():
            many = " or ".join(str(count) for count in counts)
            tag = element.tag if element is not None else attribute
            raise self._refusal(f"{owner} has <{tag} {attribute}=\"{text[:60]}\">; it must be {many} "
                                f"number{'s' * (counts[-1] > 1)} up to {in_words(LARGEST)}")
        return numbers

    def _number(self, element: Element | None, attribute: str, default: str, owner: str) -> float:
        return float(self._numbers(element, attribute, (1,), default, owner)[0])

    def _pose(self, element: Element, owner: str) -> _Pose:
        origin = element.find("origin")
        x = self._numbers(origin, "xyz", (3,), "0 0 0", owner)
        roll, pitch, yaw = self._numbers(origin, "rpy", (3,), "0 0 0", owner)
        return _Pose(_turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll), x)

    def _link(self, element: Element) -> _Link:
        name = self._text(element, "name", "a <link>")
        owner, inertial = f"the link {name!r}", element.find("inertial")
        if inertial is None:
            return _Link(name, MassProperties(0.0, np.zeros(3), np.zeros((3, 3))), element.findall("collision"))
        mass = self._number(inertial.find("mass"), "value", "0", owner)
        if mass < 0.0:
            raise self._refusal(f"{owner} has a mass of {mass:g} kg; it must be 0 or more")
        pose = self._pose(inertial, owner)
        xx, yy, zz, xy, xz, yz = (self._number(inertial.find("inertia"), key, "0", owner) for key in MOMENTS)
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass > 0.0 and not I.any():
            I = 0.4 * mass * SMALL_BALL**2 * np.eye(3)
            self.notes.append(f"{name}: has mass but no inertia; it is taken for a ball of {SMALL_BALL * 100:g} cm")
        moments, axes = np.linalg.eigh(I)
        if moments[2] > (1.0 + 1e-6) * (moments[0] + moments[1]) and moments[0] > 0.0:
            self.notes.append(f"{name}: no body has its inertia, whose largest moment, {moments[2]:.4g}, is more than "
                              f"the sum of the others; it is taken for that sum, {moments[0] + moments[1]:.4g}")
            I = axes @ np.diag([moments[0], moments[1], moments[0] + moments[1]]) @ axes.T
        return _Link(name, MassProperties(mass, pose.x, pose.R @ I @ pose.R.T), element.findall("collision"))

    def _joint(self, element: Element) -> _Joint:
        name = self._text(element, "name", "a <joint>")
        owner, kind, ends = f"the joint {name!r}", element.get("type", ""), []
        if kind not in TYPES:
            raise self._refusal(f"{owner} is of type {kind!r}; it must be one of {', '.join(TYPES)}")
        for tag in ("parent", "child"):
            end = element.find(tag)
            ends.append(self._text(end if end is not None else Element(tag), "link", f"<{tag}> of {owner}"))
        return _Joint(name, kind, ends[0], ends[1], self._pose(element, owner), element)

    # ------------------------------------------------------------------------------------------------ the scene

    def robot(self) -> Found:
        """The bodies and joints of a scene; what was assumed is in `notes`."""
        groups: dict[str, list[_Link]] = {}
        top: dict[str, str] = {}  # link -> the link nearest the root that it is fixed to
        for name in self._parents_first():
            joint = self.above.get(name)
            top[name] = top[joint.parent] if joint is not None and joint.type == "fixed" else name
            groups.setdefault(top[name], []).append(self.links[name])
        carriers = {top[joint.parent] for joint in self.joints.values() if joint.type != "fixed"}
        ends = {name: name for name in groups}  # body -> its name at joints
        bodies = []
        for name, members in groups.items():
            if name not in self.above and (name == "world" or not members[0].own.mass):
                body = self._ground(name, members)
                ends[name] = body["name"] if body else "world"
            else:
                body = self._body(name, members, name in carriers)
                ends[name] = ends[name] if body else ""
            bodies += [body] if body else []
        joints = [self._scene_joint(joint, ends[top[joint.parent]], ends[joint.child]) for joint in self.joints.values()
                  if joint.type != "fixed" and ends[joint.child]]
        for kind in ("transmission", "gazebo"):
            if self.source.find(kind) is not None:
                self.notes.append(f"<{kind}> is left out")
        moving = [body for body in bodies if not body.get("fixed")]
        if len(moving) == len(bodies) and "world" not in ends.values():
            lowest = min((body["position"][2] for body in bodies), default=0.0)
            name = next(n for n in ("ground", *(f"ground {k}" for k in range(2, 10**6))) if n not in self.links)
            bodies.append({"name": name, "position": [0.0, 0.0, lowest - GROUND], "fixed": True,
                           "shape": [{"type": "plane"}]})
        title = self.source.get("name") or self.path.stem
        summary = f"A robot of {len(moving)} moving bodies read from {self.path.name}."
        return Found({"scene": {"title": title, "summary": summary}, "body": bodies,
                      "joint": [joint for joint in joints if joint]}, tuple(dict.fromkeys(self.notes)))

    def _ground(self, name: str, members: list[_Link]) -> dict[str, Any] | None:
        """What stands still: a fixed body, None where it has no shapes."""
        shapes = self._shapes(members, HERE)
        return {"name": "ground" if name == "world" else name, "fixed": True, "shape": shapes} if shapes else None

    def _body(self, name: str, members: list[_Link], carries: bool) -> dict[str, Any] | None:
        """A body of links fixed to each other; None where it has neither mass nor shapes and carries nothing."""
        pose = self.poses[name]
        for link in members[1:]:
            self.notes.append(f"{link.name} is fixed to {name}: they are one body")
        heavy = [link for link in members if link.own.mass > 0.0]
        if not heavy:
            if any(link.shapes for link in members):
                raise self._refusal(f"the link {name!r} moves but has no mass; it must have <inertial>")
            if not carries:
                self.notes.append(f"{name} has no mass, and nothing hangs on it: it is left out with its joint")
                return None
            return {"name": name, "position": pose.x.tolist(), "mass": 0.0}
        whole = combined([self._in_world(link) for link in heavy])
        I = pose.R.T @ whole.inertia @ pose.R
        found = {"name": name, "position": whole.center.tolist(), "orientation": matrix_to_quat(pose.R).tolist(),
                 "mass": whole.mass, "inertia": [*np.diag(I).tolist(), *I[[0, 0, 1], [1, 2, 2]].tolist()]}
        return found | {"shape": self._shapes(members, _Pose(pose.R, whole.center))}

    def _in_world(self, link: _Link) -> MassProperties:
        pose = self.poses[link.name]
        return MassProperties(link.own.mass, pose.x + pose.R @ link.own.center, pose.R @ link.own.inertia @ pose.R.T)

    def _shapes(self, members: list[_Link], frame: _Pose) -> list[dict[str, Any]]:
        """The collision geometry of links, placed in a frame."""
        found = []
        for link in members:
            for element in link.shapes:
                pose = self.poses[link.name].then(self._pose(element, f"the collision of the link {link.name!r}"))
                shape = self._shape(link.name, element)
                if shape is not None:
                    found.append(shape | {"position": (frame.R.T @ (pose.x - frame.x)).tolist(),
                                          "orientation": matrix_to_quat(frame.R.T @ pose.R).tolist()})
        return found

    def _shape(self, link: str, collision: Element) -> dict[str, Any] | None:
        owner = f"the collision of the link {link!r}"
        for kind in collision.findall("geometry/*"):
            match kind.tag:
                case "box":
                    return {"type": "box", "size": self._numbers(kind, "size", (3,), "", owner).tolist()}
                case "sphere":
                    return {"type": "sphere", "radius": self._number(kind, "radius", "", owner)}
                case "cylinder" | "capsule":
                    return {"type": kind.tag, "radius": self._number(kind, "radius", "", owner),
                            "height": self._number(kind, "length", "", owner)}
                case "mesh":
                    return self._mesh(link, kind, owner)
            self.notes.append(f"{link}: the geometry <{kind.tag}> is left out")
        return None

    def _mesh(self, link: str, element: Element, owner: str) -> dict[str, Any] | None:
        given = self._text(element, "filename", f"<mesh> of {owner}")
        name, folder = given.split("://")[-1], self.path.parent
        found = next((p for p in (folder / name, folder / Path(name).name) if p.is_file()), None)
        if found is None or not found.resolve().is_relative_to(folder.resolve()):
            self.notes.append(f"{link}: the mesh {given} is not beside the file and is left out")
            return None
        if found.suffix.lower() not in COUNTERS:
            self.notes.append(f"{link}: the mesh {given} is left out; it must be one of {', '.join(COUNTERS)}")
            return None
        scale = self._numbers(element, "scale", (1, 3), "1 1 1", owner)
        if np.ptp(scale) > 0.0:
            self.notes.append(f"{link}: the mesh {given} is scaled unlike along its axes and is left out")
            return None
        return {"type": "mesh", "file": str(found.relative_to(folder)), "scale": float(scale[0])}

    def _scene_joint(self, joint: _Joint, parent: str, child: str) -> dict[str, Any] | None:
        kind, owner, pose = TYPES[joint.type], f"the joint {joint.name!r}", self.poses[joint.child]
        if kind == "free":
            if joint.parent in self.above:
                raise self._refusal(f"{owner} is of type 'floating' between links that move; it must begin at the root")
            return None  # a free body needs no joint in a scene
        found: dict[str, Any] = {"type": kind, "name": joint.name, "parent": parent, "child": child,
                                 "anchor": pose.x.tolist()}
        if kind in ("hinge", "slider"):
            axis = self._numbers(joint.element.find("axis"), "xyz", (3,), "1 0 0", owner)
            length = float(np.linalg.norm(axis))
            if not length > 0.0:
                raise self._refusal(f"{owner} has an axis of length 0; it must have a direction")
            found["axis"] = (pose.R @ axis / length).tolist()
        limit = joint.element.find("limit")
        if limit is not None and joint.type in ("revolute", "prismatic"):
            ends = np.array([self._number(limit, end, "0", owner) for end in ("lower", "upper")])
            ends = np.degrees(ends) if kind == "hinge" else ends
            if ends[0] > ends[1]:
                self.notes.append(f"{joint.name}: its lower limit is above the upper one, so that they are left out")
            elif kind == "slider" or np.abs(ends).max() <= 180.0:
                found["limits"] = ends.tolist()
            else:
                self.notes.append(f"{joint.name}: limits past half a turn are left out")
            self.notes.append("limits of effort and velocity are left out: they are for drives")
        dynamics = joint.element.find("dynamics")
        if dynamics is not None:
            found["damping"] = max(0.0, self._number(dynamics, "damping", "0", owner))
            if self._number(dynamics, "friction", "0", owner):
                self.notes.append(f"{joint.name}: friction in the joint is left out")
        mimic = joint.element.find("mimic")
        if mimic is not None:
            other = mimic.get("joint", "another")
            self.notes.append(f"{joint.name}: mimics {other}, which is left out; it moves freely")
        return found


def _turn(axis: int, angle: float) -> Array:
    """The rotation matrix of a turn by `angle` [rad] about one of the axes x, y, z."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R
