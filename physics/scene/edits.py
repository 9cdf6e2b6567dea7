"""What a user does to the bodies of a scene, as edits of its text: each is a function on a Document."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from ..core.model import Array
from ..shapes import shapes as solid
from .checks import EXCLUSIVE, body_name, copy_name
from .document import Document
from .form import Location
from .refusals import SceneError

DIGITS = 9  #: of numbers that a mouse or a formula gives: 1 nm of a metre
#: a body of each shape that is added, without its place
FIRST: dict[str, dict[str, Any]] = {
    "sphere": {"radius": 0.25},
    "box": {"size": [0.5, 0.5, 0.5]},
    "capsule": {"radius": 0.15, "height": 0.5},
    "cylinder": {"radius": 0.25, "height": 0.5},
    "cone": {"radius": 0.25, "height": 0.5},
    "prism": {"sides": 6, "radius": 0.25, "height": 0.5},
    "ellipsoid": {"size": [0.7, 0.5, 0.4]},
    "superellipsoid": {"size": [0.6, 0.5, 0.4], "exponents": [0.5, 0.5]},
    "torus": {"radius": 0.3, "tube": 0.08},
    "particle": {"mass": 1.0},
    "hull": {"points": [[0.3, 0.0, -0.15], [-0.15, 0.26, -0.15], [-0.15, -0.26, -0.15], [0.0, 0.0, 0.3]]},
    "bowl": {"radius": 1.0, "angle": 80.0},
    "pipe": {"radius": 0.5, "height": 2.0, "angle": 90.0},
    "plane": {},
    "height_field": {"size": [4.0, 4.0], "formula": "0.1*sin(3*x)*sin(3*y)", "cells": [32, 32]},
}
STANDING = ("bowl", "pipe", "plane", "height_field")  # shapes of bodies that are fixed
NEW = """[scene]
title = "New scene"

[[body]]
name = "floor"
fixed = true

[[body.shape]]
type = "plane"
"""


class Pose(NamedTuple):
    """Where a table of the file puts a body."""

    position: Array  #: (3,) [m]
    turn: Array      #: (4,) unit quaternion w x y z


def names(document: Document) -> list[str]:
    """Of all bodies, in the order of the file."""
    return [body_name(body.get("name"), i) for i, body in enumerate(document.data.get("body", ()))]


def groups(bodies: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The names of all groups, of bodies and of shapes, and the places of the bodies of each."""
    found: dict[str, list[int]] = {}
    for i, body in enumerate(bodies):
        for table in (body, *body.get("shape", ())):
            if "group" in table:
                members = found.setdefault(table["group"], [])
                members += [i] if i not in members and table is body else []
    return found


def pose(body: Mapping[str, Any]) -> Pose:
    """Of the table of a body."""
    if "euler" in body:
        turn = solid.euler_to_quat(tuple(body["euler"]))
    else:
        turn = np.array(body.get("orientation", (1.0, 0.0, 0.0, 0.0)), float)
    return Pose(np.array(body.get("position", (0.0, 0.0, 0.0)), float), turn / np.linalg.norm(turn))


def moved(by: Pose, where: Pose, about: Array) -> Pose:
    """A pose turned by by.turn about a point (3,), then shifted by by.position."""
    R = solid.quat_to_matrix(by.turn)
    return Pose(about + R @ (where.position - about) + by.position, solid.quat_product(by.turn, where.turn))


def rounded(value: float) -> float:
    """A number as a person would write it: no trace of binary fractions, and no minus before 0."""
    return round(float(value), DIGITS) + 0.0


def _numbers(values: Iterable[float]) -> list[float]:
    return [rounded(v) for v in values]


def set_field(document: Document, at: Location, value: Any, default: Any = None) -> None:
    """Set a field of a table. The default is left out, and so is a field that excludes this one."""
    *table, name = at
    document.put(at, None if value == default and isinstance(value, bool) == isinstance(default, bool) else value)
    for pair in EXCLUSIVE:
        if at[0] == "body" and name in pair and value is not None and value is not False:
            document.put((*table, pair[1 - pair.index(name)]), None)


# ------------------------------------------------------------------------------------------------ bodies


def add_body(document: Document, shape: Mapping[str, Any], position: Sequence[float]) -> int:
    """A new body of one shape; returns its place. It is fixed where its shape must be."""
    kind = shape["type"]
    table: dict[str, Any] = {"name": unused(document, PurePath(shape["file"]).stem if "file" in shape else kind)}
    if kind in STANDING:
        table["fixed"] = True
    return document.append(("body",), table | {"position": _numbers(position), "shape": [dict(shape)]})


def unused(document: Document, name: str) -> str:
    """The name, with the first number behind it that makes it a new one."""
    return _unused(_taken(document), name)


def _taken(document: Document) -> set[str]:
    """The names of all bodies, with copies that arrays make."""
    taken = set(names(document)) | {"world"}
    for array in document.data.get("array", ()):
        taken |= {copy_name(array["body"], k) for k in range(2, math.prod(array["count"]) + 1)}
    return taken


def _unused(taken: set[str], name: str) -> str:
    stem, _, number = name.rpartition(" ")
    stem = stem if stem and number.isdigit() else name
    k = 2
    while name in taken:
        name, k = f"{stem} {k}", k + 1
    return name


def place(document: Document, index: int, where: Pose) -> None:
    """Put a body there. A turn is written in degrees, or as a quaternion where the file had one."""
    body = document.get(("body", index))
    before = pose(body)
    if np.abs(where.position - before.position).max() > 0.5 * 10.0**-DIGITS:
        document.put(("body", index, "position"), _numbers(where.position))
    away = min(np.abs(where.turn - before.turn).max(), np.abs(where.turn + before.turn).max())  # half the angle
    if 2.0 * away < math.radians(0.5 * 10.0**-DIGITS):
        return
    if "orientation" in body:
        document.put(("body", index, "orientation"), [float(c) for c in where.turn / np.linalg.norm(where.turn)])
    else:
        document.put(("body", index, "euler"), _numbers(euler_of(where.turn)))


def move(document: Document, chosen: Sequence[int], by: Pose, about: Array) -> None:
    """Turn bodies about a point and shift them. Joints, all of whose bodies move, go with them."""
    for index in chosen:
        place(document, index, moved(by, pose(document.get(("body", index))), about))
    own = {name for i, name in enumerate(names(document)) if i in set(chosen)}
    R = solid.quat_to_matrix(by.turn)
    for k, joint in enumerate(document.data.get("joint", ())):
        if joint.get("child") not in own or joint.get("parent", "world") not in own:
            continue
        if "anchor" in joint:
            at = about + R @ (np.array(joint["anchor"], float) - about) + by.position
            document.put(("joint", k, "anchor"), _numbers(at))
        if "axis" in joint:
            document.put(("joint", k, "axis"), [float(c) for c in R @ np.array(joint["axis"], float)])
        if "axes" in joint:
            document.put(("joint", k, "axes"), [[float(c) for c in R @ np.array(u, float)] for u in joint["axes"]])


def scale(document: Document, chosen: Sequence[int], factors: Sequence[float]) -> None:
    """Stretch the shapes of bodies along the body's axes; round ones keep their form, by the mean of what they cannot
    follow. Masses and inertias that are given stay."""
    f = np.array(factors, float)
    for index in chosen:
        for k, shape in enumerate(document.get(("body", index)).get("shape", ())):
            at: Location = ("body", index, "shape", k)
            R = solid.quat_to_matrix(pose(shape).turn)
            own = np.abs(R.T) @ f  # along the axes of the shape, where it lies along those of the body
            across = float(np.sqrt(own[0] * own[1]))
            if "position" in shape:
                document.put((*at, "position"), _numbers(f * np.array(shape["position"], float)))
            if "size" in shape:
                document.put((*at, "size"), _numbers(own[: len(shape["size"])] * np.array(shape["size"], float)))
            if "points" in shape:
                document.put((*at, "points"), [_numbers(own * np.array(p, float)) for p in shape["points"]])
            if "radius" in shape:
                by = across if "height" in shape else float(np.cbrt(own.prod()))
                document.put((*at, "radius"), rounded(by * shape["radius"]))
            if "tube" in shape:
                document.put((*at, "tube"), rounded(float(np.cbrt(own.prod())) * shape["tube"]))
            if "rounding" in shape:
                document.put((*at, "rounding"), rounded(float(own.min()) * shape["rounding"]))
            if "height" in shape and shape["type"] != "height_field":
                document.put((*at, "height"), rounded(float(own[2]) * shape["height"]))
            if shape["type"] == "height_field":
                document.put((*at, "height"), rounded(float(own[2]) * shape.get("height", 1.0)))
            elif "file" in shape:
                document.put((*at, "scale"), rounded(float(np.cbrt(own.prod())) * shape.get("scale", 1.0)))


def duplicate(document: Document, chosen: Sequence[int], shifts: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0),)
              ) -> list[int]:
    """Copies of bodies, a set for each shift [m], with the joints between them; returns their places."""
    bodies, joints, taken, known = [], [], _taken(document), names(document)
    for shift in shifts:
        made: dict[str, str] = {}
        for index in chosen:
            body = dict(document.get(("body", index)))
            made[known[index]] = body["name"] = _unused(taken, known[index])
            taken.add(body["name"])
            body["position"] = _numbers(pose(body).position + np.array(shift, float))
            bodies.append(body)
        for joint in document.data.get("joint", ()):
            if joint.get("child") in made and joint.get("parent", "world") in made:
                copy = dict(joint, parent=made[joint["parent"]], child=made[joint["child"]])
                copy.pop("name", None)
                if "anchor" in copy:
                    copy["anchor"] = _numbers(np.array(copy["anchor"], float) + np.array(shift, float))
                joints.append(copy)
    first = document.extend(("body",), bodies)
    if joints:
        document.extend(("joint",), joints)
    return list(range(first, first + len(bodies)))


def arrange(document: Document, chosen: Sequence[int], count: Sequence[int], spacing: Sequence[float]) -> list[int]:
    """Copies of bodies in a grid of count bodies along x, y and z, the first of which they are; a row and a tower are
    grids. Returns the places of the copies."""
    cells = [(k % count[0], k // count[0] % count[1], k // (count[0] * count[1])) for k in range(1, math.prod(count))]
    return duplicate(document, chosen, [[c * s for c, s in zip(cell, spacing, strict=True)] for cell in cells]
                     ) if cells else []


def circle(document: Document, chosen: Sequence[int], count: int, radius: float) -> list[int]:
    """Copies of bodies in a level circle, turned with it; they stand at its x end. Returns the places of the copies."""
    places = []
    about = np.mean([pose(document.get(("body", i))).position for i in chosen], axis=0) - [radius, 0.0, 0.0]
    for number in range(1, count):
        copies = duplicate(document, chosen)
        half = math.pi * number / count
        move(document, copies, Pose(np.zeros(3), np.array([math.cos(half), 0.0, 0.0, math.sin(half)])), about)
        places += copies
    return places


def mirror(document: Document, chosen: Sequence[int], axis: int, through: float) -> list[int]:
    """Mirror images of bodies in the plane across axis 0, 1 or 2 (x, y, z) at the coordinate `through`; returns their
    places. Every shape but a mesh and a height field is its own image across its own x axis.

    With M = the reflection and N = diag(-1, 1, 1), a body's axes R become M R N, its shapes' p and S become N p and
    N S N: a point of a shape of local coordinates s goes to M x = M R (p + S s) = (M R N) (N p + (N S N) N s).
    """
    M = np.eye(3)
    M[axis, axis] = -1.0
    N = np.array([-1.0, 1.0, 1.0])
    places = []
    for index in chosen:
        body = document.get(("body", index))
        if any("file" in shape or shape["type"] == "height_field" for shape in body.get("shape", ())):
            raise SceneError(f"{names(document)[index]} is of a mesh file or a height field, which have no mirror "
                             "image.")
        where = pose(body)
        offset = np.zeros(3)
        offset[axis] = 2.0 * through
        R = M @ solid.quat_to_matrix(where.turn) @ np.diag(N)
        image = dict(body, name=unused(document, names(document)[index]))
        image["shape"] = [_mirrored(shape, N) for shape in body.get("shape", ())]
        for name, matrix in (("velocity", M), ("angular_velocity", -M), ("surface_velocity", np.diag(N)),
                             ("surface_spin", -np.diag(N))):
            if name in body:
                image[name] = _numbers(matrix @ np.array(body[name], float))
        if len(body.get("inertia", ())) == 6:
            image["inertia"] = [v * s for v, s in zip(body["inertia"], (1, 1, 1, -1, -1, 1), strict=True)]
        if "motion" in body:
            image["motion"] = _mirrored_motion(body["motion"], M)
        image.pop("orientation", None)
        image["position"] = _numbers(offset + M @ where.position)
        image["euler"] = _numbers(euler_of(solid.matrix_to_quat(R)))
        places.append(document.append(("body",), image))
    return places


def _mirrored(shape: Mapping[str, Any], N: Array) -> dict[str, Any]:
    image = dict(shape)
    if "position" in shape:
        image["position"] = _numbers(N * np.array(shape["position"], float))
    if "points" in shape:
        image["points"] = [_numbers(N * np.array(p, float)) for p in shape["points"]]
    if "euler" in shape or "orientation" in shape:
        S = solid.quat_to_matrix(pose(shape).turn)
        image.pop("orientation", None)
        image["euler"] = _numbers(euler_of(solid.matrix_to_quat(np.diag(N) @ S @ np.diag(N))))
    return image


def _mirrored_motion(motion: Mapping[str, Any], M: Array) -> dict[str, Any]:
    image = dict(motion)
    for name, matrix in (("velocity", M), ("amplitude", M), ("angular_velocity", -M)):
        if name in motion:
            image[name] = _numbers(matrix @ np.array(motion[name], float))
    if "path" in motion:
        image["path"] = [dict(p, position=_numbers(M @ np.array(p["position"], float))) for p in motion["path"]]
    return image


def euler_of(turn: Array) -> tuple[float, float, float]:
    """Turns about the world's x, then y, then z [degrees] of a unit quaternion: R = Rz Ry Rx."""
    R = solid.quat_to_matrix(turn)
    y = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-9:  # the x and z turns are about one line: all of it is z's
        return 0.0, math.degrees(y), math.degrees(math.atan2(-R[0, 1], R[1, 1]))
    return math.degrees(math.atan2(R[2, 1], R[2, 2])), math.degrees(y), math.degrees(math.atan2(R[1, 0], R[0, 0]))


# -------------------------------------------------------------------------------------- names and removal


#: tables that name bodies, and in which fields
NAMING = {"joint": ("parent", "child"), "spring": ("body_a", "body_b"), "array": ("body",), "apart": ("bodies",),
          "closed_form": ("bodies", "against")}


def delete(document: Document, chosen: Sequence[int]) -> None:
    """Remove bodies, and what cannot be without them: joints, springs, arrays, pairs that pass through each other."""
    left = [body for i, body in enumerate(document.data["body"]) if i not in chosen]
    gone = {names(document)[i] for i in chosen} | (groups(document.data["body"]).keys() - groups(left).keys())
    for array in document.data.get("array", ()):
        if array.get("body") in gone:
            gone |= {copy_name(array["body"], k) for k in range(2, math.prod(array["count"]) + 1)}
    _forget(document, gone)
    for index in sorted(chosen, reverse=True):
        document.remove(("body", index))


def _forget(document: Document, gone: Set[str]) -> None:
    """Remove the tables that name what is gone."""
    for table, fields in NAMING.items():
        for k in reversed(range(len(document.data.get(table, ())))):
            if any(_named(document.get((table, k)).get(field)) & gone for field in fields):
                document.remove((table, k))


def _named(value: Any) -> set[str]:
    return set(value) if isinstance(value, list) else {value}


def rename(document: Document, index: int, name: str) -> None:
    """Give a body another name, wherever it is named."""
    old = names(document)[index]
    document.put(("body", index, "name"), name)
    _rename(document, NAMING, old, name)


def rename_material(document: Document, old: str, name: str) -> None:
    """Give a material another name, wherever it is named."""
    table = dict(document.get(("material", old)))
    document.remove(("material", old))
    document.extend(("material", name), [table])
    _rename(document, {"pair": ("materials",), "body": ("material",)}, old, name)
    for i, body in enumerate(document.data.get("body", ())):
        for k, shape in enumerate(body.get("shape", ())):
            if shape.get("material") == old:
                document.put(("body", i, "shape", k, "material"), name)


def _rename(document: Document, naming: Mapping[str, Sequence[str]], old: str, name: str) -> None:
    for table, fields in naming.items():
        for k, entry in enumerate(list(document.data.get(table, ()))):
            for field in fields:
                given = entry.get(field)
                if given == old:
                    document.put((table, k, field), name)
                elif isinstance(given, list) and old in given:
                    document.put((table, k, field), [name if g == old else g for g in given])


def group(document: Document, chosen: Sequence[int]) -> str:
    """Let bodies be one group, of a new name, which is returned."""
    taken, name, k = {*names(document), *groups(document.data["body"])}, "group", 2
    while name in taken:
        name, k = f"group {k}", k + 1
    for index in chosen:
        document.put(("body", index, "group"), name)
    return name


def ungroup(document: Document, chosen: Sequence[int]) -> None:
    """Take bodies out of their groups; tables that name a group without members go with it."""
    before = groups(document.data["body"])
    for index in chosen:
        document.put(("body", index, "group"), None)
    _forget(document, before.keys() - groups(document.data["body"]).keys())


# --------------------------------------------------------------------------------------------- joints


def bases(document: Document) -> list[int]:
    """The places of bodies with mass that carry others by joints and hang on none: those that robots stand on."""
    joints = document.data.get("joint", ())
    hung = {joint["child"] for joint in joints if joint["type"] != "free"}
    carrying = {joint.get("parent", "world") for joint in joints} - hung
    return [k for k, name in enumerate(names(document)) if name in carrying and "mass" in document.get(("body", k))]


def hold_bases(document: Document) -> bool:
    """Fix the bases of robots, or free them where all are fixed; returns whether they are fixed now. Raises SceneError
    where there are none."""
    found = bases(document)
    if not found:
        raise SceneError("There is no base to be fixed or freed: a body with mass that carries others by joints and "
                         "hangs on none.")
    hold = not all(document.get(("body", k, "fixed")) for k in found)
    known = names(document)
    for k in reversed(range(len(document.data.get("joint", ())) if hold else 0)):
        joint = document.get(("joint", k))
        if joint["type"] == "free" and joint["child"] in [known[base] for base in found]:
            document.remove(("joint", k))
    for k in found:
        set_field(document, ("body", k, "fixed"), hold, False)
        for name in ("velocity", "angular_velocity") if hold else ():
            document.put(("body", k, name), None)
    return hold


def add_joint(document: Document, kind: str, parent: str, child: str, anchor: Sequence[float],
              axis: Sequence[float] = (0.0, 1.0, 0.0)) -> int:
    """A joint of a type between two bodies, or the "world" and one, at a world point; returns its place."""
    table: dict[str, Any] = {"type": kind, "parent": parent, "child": child}
    if kind != "free":
        table["anchor"] = _numbers(anchor)
    if kind in ("hinge", "slider", "screw"):
        table["axis"] = _numbers(axis)
    if kind == "screw":
        table["pitch"] = 0.1
    if kind == "universal":
        other = np.cross(axis, (0.0, 0.0, 1.0))
        other = other if np.linalg.norm(other) > 0.1 else np.array((1.0, 0.0, 0.0))
        table["axes"] = [_numbers(axis), _numbers(other / np.linalg.norm(other))]
    return document.append(("joint",), table)


def add_spring(document: Document, body_a: str, body_b: str) -> int:
    """A spring between the origins of two bodies, or of the world and one; returns its place."""
    return document.append(("spring",), {"body_a": body_a, "body_b": body_b, "stiffness": 100.0, "damping": 1.0})


Change = Callable[[Document], Any]
