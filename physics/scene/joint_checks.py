"""Checking the joints of a scene file: what the form allows and mechanics does not."""

from collections.abc import Iterator, Mapping, Set

import numpy as np

from ..core.model import JointType
from ..joints.form import JointForm
from ..joints.table import FORMS
from .joint_forest import in_forest
from .schema import Body, Joint

Found = tuple[tuple[str | int, ...], str]  # where in the file, and the rest of the sentence


#: the joints that can have a motor, in words
DRIVEN = " or ".join(f"a {form.type.name.lower()}" for form in FORMS.values() if form.driven)


def form_of(joint: Joint) -> JointForm:
    return FORMS[JointType[joint.type.upper()]]


def check_joints(joints: Mapping[int, Joint], bodies: Mapping[str, Body]) -> Iterator[Found]:
    """Everything wrong with the joints (by their place in the file) between bodies (by name); unknown bodies are left
    to the caller."""
    names: dict[str, int] = {}
    for i, joint in joints.items():
        yield from _check_fields(("joint", i), joint)
        yield from _check_ends(("joint", i), joint, bodies)
        name = joint.name or f"joint {i + 1}"
        if name in names:
            yield ("joint", i, "name"), f'is "{name}", as that of joint[{names[name]}] is; it must be another'
        names.setdefault(name, i)
    yield from _check_constraints(joints)
    trees = {i: joint for i, joint in joints.items() if joint.coordinates == "generalized"}
    yield from _check_forest(trees)
    yield from _check_carried(joints, trees, {name for name, body in bodies.items() if body.kinematic})


def _check_fields(at: tuple[str | int, ...], joint: Joint) -> Iterator[Found]:
    """Whether the fields go with the type."""
    kind, form = joint.type, form_of(joint)
    for field, wanted in (("axis", form.axes == 1), ("axes", form.axes == 2)):
        given = getattr(joint, field)
        if wanted and given is None:
            yield (*at, field), f"is missing; a {kind} joint must have it"
        elif given is not None and not wanted:
            yield (*at, field), f"is given; a joint of type {kind} must not have it"
    if form.type == JointType.SCREW and not joint.pitch:
        yield (*at, "pitch"), "is missing or 0; a screw joint must have it"
    elif form.type != JointType.SCREW and joint.pitch is not None:
        yield (*at, "pitch"), f"is given; a joint of type {kind} must not have it"
    if joint.axes is not None and abs(np.dot(*joint.axes)) > 1e-3:
        yield (*at, "axes"), "are not at right angles; they must be"
    lengths = {"position": form.amounts, "velocity": form.amounts, "limits": form.ranges}
    for field, count in lengths.items():
        given = getattr(joint, field)
        if given is not None and len(given) != count:
            yield (*at, field), f"has {len(given)} entries; a joint of type {kind} must have {count or 'none'}"
    if joint.limits is not None and form.angular and form.axes and np.max(np.abs(joint.limits)) > 1e4:
        yield (*at, "limits"), "go past 10000 degrees; they must be smaller"
    if joint.limits is not None and kind == "ball" and not 0.0 < joint.limits[0][1] < 180.0:
        yield (*at, "limits"), f"is {joint.limits[0][1]:g}; it must be greater than 0 and less than 180 degrees"
    if joint.restitution > 0.0 and joint.limits is None:
        yield (*at, "restitution"), "is given without limits; it must be left out"
    if joint.motor is not None:
        if not form.driven:
            yield (*at, "motor"), f"is given; only {DRIVEN} must have one, not a joint of type {kind}"
        if joint.motor.limit is not None and joint.motor.speed is None:
            yield (*at, "motor", "limit"), "is given without speed; it must be left out"
    if joint.spring is not None and len(joint.spring.position) != max(1, form.amounts % 3):
        yield (*at, "spring", "position"), f"has {len(joint.spring.position)} entries; it must have one for every axis"


def _check_constraints(joints: Mapping[int, Joint]) -> Iterator[Found]:
    """What joints in maximal coordinates cannot have."""
    for (i, joint), tree in zip(joints.items(), in_forest(list(joints.values())), strict=True):
        if joint.coordinates != "maximal":
            continue
        given = [name for name in ("position", "velocity") if getattr(joint, name) is not None]
        if given and not tree:
            yield ("joint", i, given[0]), "is given for a joint that closes a loop; it must be left out"
        form = form_of(joint)
        half_turn = form.angular and form.axes and not form.counts_turns
        if joint.limits is not None and half_turn and np.max(np.abs(joint.limits)) > 180.0:
            yield ("joint", i, "limits"), ("go past 180 degrees; in maximal coordinates, where an angle is known up to "
                                           "whole turns, they must not")


def _check_ends(at: tuple[str | int, ...], joint: Joint, bodies: Mapping[str, Body]) -> Iterator[Found]:
    """Whether the joint can lie between these bodies."""
    if joint.parent == joint.child:
        yield (*at, "child"), f'is "{joint.child}", as parent is; it must be another body'
    child = bodies.get(joint.child)
    if child is not None and (child.fixed or child.kinematic):
        yield (*at, "child"), f'is "{joint.child}", which forces do not move; it must be a dynamic body'
    if joint.type == "free" and (joint.parent != "world" or joint.coordinates == "maximal"):
        yield (*at, "parent"), 'of a free joint must be "world", in generalized coordinates'
    if joint.coordinates == "maximal":
        return
    moving = child is not None and (any(child.velocity) or any(child.angular_velocity))
    if moving and joint.type != "free":
        yield (*at, "child"), (f'is "{joint.child}", which has a velocity of its own; that must be zero, for the '
                               "velocity of its joint says how it starts")


def _check_carried(joints: Mapping[int, Joint], trees: Mapping[int, Joint], driven: Set[str]) -> Iterator[Found]:
    """Trees that stand on one of the bodies `driven` know no joint in maximal coordinates."""
    base = {joint.child: joint.parent for joint in trees.values() if joint.parent in driven}
    for _ in trees:
        base |= {joint.child: base[joint.parent] for joint in trees.values() if joint.parent in base}
    for i, joint in joints.items():
        for end in ("parent", "child") if joint.coordinates == "maximal" else ():
            body = getattr(joint, end)
            if body in base:
                yield ("joint", i, end), (
                    f'is "{body}", which joints in generalized coordinates connect with "{base[body]}", a kinematic '
                    'body; on such trees no joint may be in maximal coordinates, or all of them must be')


def _check_forest(joints: Mapping[int, Joint]) -> Iterator[Found]:
    """Whether the generalized joints make trees: one joint a child, and every chain ends at a root."""
    carried: dict[str, int] = {}
    for i, joint in joints.items():
        if joint.child in carried:
            yield ("joint", i, "child"), (
                f'is "{joint.child}", as that of joint[{carried[joint.child]}] is; in generalized coordinates a body '
                'must be the child of one joint only (a loop is closed by a joint with coordinates = "maximal")')
        carried.setdefault(joint.child, i)
    for i in carried.values():
        body, passed = joints[i].parent, [i]
        while body in carried and carried[body] not in passed:
            passed.append(carried[body])
            body = joints[passed[-1]].parent
        if carried.get(body) == i == min(passed) and joints[i].parent != joints[i].child:
            yield ("joint", i, "parent"), (
                "closes a loop: " + ", ".join(f"joint[{k}]" for k in sorted(passed)) + '; one of them must have '
                'coordinates = "maximal"')
