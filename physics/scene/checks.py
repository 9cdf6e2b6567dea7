"""Checking scene files: everything that is wrong, at once, each in one sentence that names the field."""

import difflib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.formula import read_formula
from ..core.limits import BODIES
from ..shapes.shapes import unphysical
from .closed_forms import check_formulas
from .form import Location, Problem, Vocabulary, path_text, read_form, shown, unreadable
from .groups import group_names
from .joint_checks import check_joints
from .refusals import SceneError
from .schema import SHAPES, TABLES, Body, HeightField, Hull, Material, Mesh, Pair, SceneFile, pair_friction
from .values import THINNEST, in_words

MOST_ROUND = 0.999  # part of the greatest rounding that is allowed: a little of every face stays flat
SCENE = Vocabulary(SceneFile, TABLES, {"shape": SHAPES}, frozenset({"material"}))
LISTS = "body", "pair", "array", "spring", "joint", "apart", "closed_form"  # of tables
#: fields of a body of which only one may be given; of a shape the first pair
EXCLUSIVE = (("orientation", "euler"), ("fixed", "kinematic"), ("mass", "density"))


class Found(NamedTuple):
    """What a file says, as the tables of a scene."""

    tables: dict[str, Any]
    notes: tuple[str, ...] = ()  #: what was left out or assumed


def read_tables(data: Mapping[str, Any], source: str, folder: Path | None) -> SceneFile:
    """The scene in `data`, with all defaults filled in. `source` names it in messages; meshes lie below `folder`.

    Raises SceneError with everything that is wrong.
    """
    if not isinstance(data, Mapping):
        raise SceneError(f"{source}: is {shown(data)}; it must be a table.")
    if problems := list(unreadable(data)):
        raise SceneError("\n".join(f"{source}: {path_text(p.location)} {p.text}." for p in problems))
    file, problems = read_form(data, SCENE)
    problems += _check_meaning(data, file, {p.location[:2] for p in problems}, folder)
    if problems or file is None:
        raise SceneError("\n".join(f"{source}: {path_text(p.location)} {p.text}." for p in problems))
    return file


# ---------------------------------------------------------------------------------------------------- meaning


def _check_meaning(
    data: Mapping[str, Any], file: SceneFile | None, broken: set[Location], folder: Path | None
) -> list[Problem]:
    """What the form allows and mechanics does not; tables whose form is broken are passed over."""
    problems: list[Problem] = []
    given = data.get("material")
    materials = {"default", *(given if isinstance(given, dict) else ())}
    whole = _whole_tables(data, file, broken)
    bodies, copies = whole["body"], _copies(whole["array"])
    names = _body_names(data)
    problems += _check_names(names)
    problems += _check_groups(bodies, {name for name, _ in names})
    for i, body in bodies.items():
        problems += _check_body(("body", i), body, materials, folder)
    for i, pair in whole["pair"].items():
        problems += _check_pair(("pair", i), pair, materials, {"default": Material(), **file.material} if file else {})
    known, groups = {name for name, _ in names}, group_names(list(bodies.values()))
    problems += _check_arrays(whole["array"], known)
    for i, spring in whole["spring"].items():
        problems += _check_spring(("spring", i), spring, known | set(copies))
    for i, apart in whole["apart"].items():
        everyone = known | set(copies) | groups
        for name in apart.bodies:
            if name not in everyone:
                problems.append(_unknown(("apart", i, "bodies"), name, "body or a group", everyone))
    specs = {body_name(body.name, i): body for i, body in bodies.items()}
    specs |= {copy: specs[name] for copy, name in copies.items() if name in specs}
    problems += [Problem(*found) for found in check_joints(whole["joint"], specs)]
    for i, joint in whole["joint"].items():
        for field in ("parent", "child"):
            name = getattr(joint, field)
            if name not in known and name not in specs and (name != "world" or field == "child"):
                problems.append(_unknown(("joint", i, field), name, "body", known | set(specs)))
    for i, table in whole["closed_form"].items():
        problems += _check_closed_form(("closed_form", i), table, specs)
    return problems


def _check_closed_form(at: Location, table: Any, specs: Mapping[str, Body]) -> Iterator[Problem]:
    """specs: the bodies whose tables could be read, by name."""
    named = [(("bodies", k), name) for k, name in enumerate(table.bodies)]
    named += [] if table.against is None else [(("against",), table.against)]
    for field, name in named:
        if name not in specs:
            yield _unknown((*at, *field), name, "body", set(specs))
        elif not specs[name].shape:
            yield Problem((*at, *field), f"is {shown(name)}; it must be a body with shapes")
    if table.against is None and not any(body.fixed and body.shape for body in specs.values()):
        yield Problem((*at, "against"), "is missing; it must be given where no body is fixed: the name of a body")
    yield from (Problem(*found) for found in check_formulas(at, table))


def _whole_tables(data: Mapping[str, Any], file: SceneFile | None, broken: set[Location]) -> dict[str, dict[int, Any]]:
    """The tables of each list whose form is right, as models, by their places. Where that of the whole file is, they
    have been read with it; to read the first ones by themselves makes their models once more."""
    if file is not None:
        return {key: dict(enumerate(getattr(file, key))) for key in LISTS}
    whole: dict[str, dict[int, Any]] = {key: {} for key in LISTS}
    for key in LISTS:
        tables = data.get(key)
        if isinstance(tables, list | tuple) and (key,) not in broken:
            whole[key] = {i: TABLES[key].model_validate(table) for i, table in enumerate(tables)
                          if (key, i) not in broken}
    return whole


def body_name(given: str | None, index: int) -> str:
    return given if given is not None else f"body {index + 1}"


def copy_name(name: str, number: int) -> str:
    """Name of the number-th body, from 1, of an array."""
    return name if number == 1 else f"{name} {number}"


def _body_names(data: Mapping[str, Any]) -> list[tuple[str, Location]]:
    tables = data.get("body")
    names: list[tuple[str, Location]] = []
    for i, table in enumerate(tables if isinstance(tables, list | tuple) else ()):
        given = table.get("name") if isinstance(table, dict) else table.name if isinstance(table, Body) else None
        if given is None or isinstance(given, str):
            names.append((body_name(given, i), ("body", i, "name")))
    return names


def _check_names(names: list[tuple[str, Location]]) -> Iterator[Problem]:
    first: dict[str, Location] = {}
    for name, location in names:
        if name == "world":
            yield Problem(location, 'is "world"; it must be another name, for springs and joints call the ground that')
        elif name in first:
            also = path_text(first[name])
            yield Problem(location, f"is {shown(name)}, as {also} is; it must be a name no other body has")
        first.setdefault(name, location)


def _check_groups(bodies: Mapping[int, Body], names: set[str]) -> Iterator[Problem]:
    for i, body in bodies.items():
        for at, table in ((("body", i), body), *((("body", i, "shape", k), s) for k, s in enumerate(body.shape))):
            if table.group in names:
                yield Problem((*at, "group"), f"is {shown(table.group)}, as a body is called; it must be another name")


def _unknown(location: Location, name: str, what: str, known: set[str]) -> Problem:
    some = sorted(known)[:12]
    near = difflib.get_close_matches(name, sorted(known), 1)
    guess = f" (did you mean {shown(near[0])}?)" if near else ""
    more = ", …" if len(known) > len(some) else ""
    return Problem(location, f"is {shown(name)}; it must be the name of a {what}{guess}: {', '.join(some)}{more}")


def _check_arrays(arrays: Mapping[int, Any], known: set[str]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    taken = set(known)
    total = len(known)
    for i, array in arrays.items():
        if array.body not in known:
            yield _unknown(("array", i, "body"), array.body, "body", known)
            continue
        if array.body in seen:
            yield Problem(("array", i, "body"), f"is {shown(array.body)}, as that of array[{seen[array.body]}] is; "
                                               "it must be a body that is not repeated yet")
            continue
        seen[array.body] = i
        many = int(np.prod(array.count))
        total += many - 1
        if total > BODIES.most:
            yield Problem(("array", i, "count"), f"is {list(array.count)}, which makes {total} bodies in all; "
                                                f"it must not make more than {BODIES.most}")
            return
        copies = {copy_name(array.body, k) for k in range(2, many + 1)}
        for name in sorted(copies & taken)[:1]:
            yield Problem(("array", i), f"makes a second body named {shown(name)}; no other body may have that name")
        taken |= copies


def _copies(arrays: Mapping[int, Any]) -> dict[str, str]:
    """Name of every copy that arrays make -> name of the body it repeats."""
    return {copy_name(array.body, k): array.body for array in arrays.values()
            for k in range(2, int(np.prod(array.count)) + 1)}


def _check_spring(at: Location, spring: Any, known: set[str]) -> Iterator[Problem]:
    for field in ("body_a", "body_b"):
        name = getattr(spring, field)
        if name != "world" and name not in known:
            yield _unknown((*at, field), name, "body", {*known, "world"})
    if spring.body_a == spring.body_b:
        yield Problem((*at, "body_b"), f"is {shown(spring.body_b)}, as body_a is; it must be another body")


def _check_pair(at: Location, pair: Pair, names: set[str], materials: Mapping[str, Material]) -> Iterator[Problem]:
    """names: of all materials; materials: those whose tables could be read."""
    for name in pair.materials:
        if name not in names:
            yield _unknown((*at, "materials"), name, "material", names)
    own = [materials[name].friction for name in pair.materials if name in materials]
    if len(own) == 2 and pair.friction is None and pair.friction_static is not None:
        mu, static = pair_friction(*own), pair.friction_static
        if static < mu * (1.0 - 1e-9):  # rounding of the root
            yield Problem((*at, "friction_static"), f"is {static:g}; it must not be below friction, which is {mu:g} by "
                                                    "the rule of pairs")


# ---------------------------------------------------------------------------------------------------- bodies


def _check_body(at: Location, body: Body, materials: set[str], folder: Path | None) -> Iterator[Problem]:
    yield from _check_exclusive(at, body, *EXCLUSIVE)
    yield from _check_kind(at, body)
    if body.material not in materials:
        yield _unknown((*at, "material"), body.material, "material", materials)
    dynamic = not (body.fixed or body.kinematic)
    for i, shape in enumerate(body.shape):
        here = (*at, "shape", i)
        yield from _check_exclusive(here, shape, EXCLUSIVE[0])
        if shape.material is not None and shape.material not in materials:
            yield _unknown((*here, "material"), shape.material, "material", materials)
        if shape.type in ("box", "prism"):
            yield from _check_rounding(here, shape)
        if shape.type == "torus" and not THINNEST * shape.radius <= shape.tube < shape.radius:
            yield Problem((*here, "tube"), f"is {shape.tube:g}; it must be less than the radius, {shape.radius:g}, and "
                                           f"not {in_words(1.0 / THINNEST)} times as thin")
        if shape.type in ("capsule", "cylinder", "cone", "prism", "pipe"):
            yield from _check_thin(here, shape)
        if shape.type in ("plane", "bowl", "pipe", "height_field") and dynamic:
            allowed = "it must be a solid, or the body fixed"
            yield Problem((*here, "type"), f'is "{shape.type}" on a dynamic body; {allowed}')
        if isinstance(shape, Hull) and (shape.file is None) == (shape.points is None):
            yield Problem(here, "is a hull; it must have either points or file")
        if isinstance(shape, HeightField):
            yield from _check_heights(here, shape)
        if isinstance(shape, Hull | Mesh | HeightField) and shape.file is not None:
            yield from _check_file((*here, "file"), shape.file, folder)
    if body.motion is not None:
        yield from _check_path((*at, "motion"), body.motion)
    if body.inertia is not None:
        yield from _check_inertia(at, body)
    if body.mass == 0.0:
        if body.shape or body.inertia is not None:
            yield Problem((*at, "mass"), "is 0; it must be greater where the body has shapes or inertia")
    elif dynamic and not body.shape and body.inertia is None:
        yield Problem(at, "has no shape; it must have at least one, or mass and inertia")
    massless = body.shape and all(s.type != "particle" and s.density == 0.0 for s in body.shape)
    if dynamic and massless and body.inertia is None:
        yield Problem(at, "has no mass; at least one of its shapes must have a density > 0, or it mass and inertia")


def _check_heights(at: Location, shape: HeightField) -> Iterator[Problem]:
    """A height field has its heights from one place."""
    if sum(given is not None for given in (shape.heights, shape.file, shape.formula)) != 1:
        yield Problem(at, "is a height_field; it must have one of heights, file and formula")
    if shape.formula is not None:
        for name in sorted(read_formula(shape.formula).names - {"x", "y"}):
            yield Problem((*at, "formula"), f"uses {name}; it must use no other numbers than x and y")


def most_rounding(shape: Any) -> float:
    """Up to which a box or a prism may be rounded [m]: a little of every face stays flat."""
    return MOST_ROUND * _rounded_away(shape)[0]


def _rounded_away(shape: Any) -> tuple[float, str]:
    """The rounding that would leave nothing flat of a box or a prism [m], and what that is."""
    if shape.type == "box":
        return 0.5 * min(shape.size), "half the shortest side"
    within = shape.radius * math.cos(math.pi / shape.sides)
    return min(within, 0.5 * shape.height), f"half the height and {within:g}, from the axis to a side"


def _check_rounding(at: Location, shape: Any) -> Iterator[Problem]:
    if shape.rounding > most_rounding(shape):
        most, what = _rounded_away(shape)
        yield Problem((*at, "rounding"), f"is {shape.rounding:g}; it must be less than {what}, {most:g}")


def _check_thin(at: Location, shape: Any) -> Iterator[Problem]:
    if not THINNEST <= shape.radius / shape.height <= 1.0 / THINNEST:
        yield Problem((*at, "height"), f"is {shape.height:g} where the radius is {shape.radius:g}; it must not be "
                                       f"{in_words(1.0 / THINNEST)} times as long or as short")


def _check_exclusive(at: Location, table: Any, *pairs: tuple[str, str]) -> Iterator[Problem]:
    for a, b in pairs:
        given = [getattr(table, name) for name in (a, b)]
        if all(value is not None and value is not False for value in given):
            yield Problem((*at, b), f"is given besides {a}; it must be only one of the two")


def _check_kind(at: Location, body: Body) -> Iterator[Problem]:
    for name in ("velocity", "angular_velocity"):
        given = list(getattr(body, name))
        if body.fixed and any(given):
            yield Problem((*at, name), f"is {given} on a fixed body; it must be zero, or the body not fixed")
        if body.kinematic and any(given):
            yield Problem((*at, name), f"is {given} on a kinematic body; it must stand in [body.motion]")
    if body.motion is not None and not body.kinematic:
        yield Problem((*at, "motion"), "is given on a body that is not kinematic; kinematic must be true")
    for name in ("surface_velocity", "surface_spin"):
        given = list(getattr(body, name))
        if not (body.fixed or body.kinematic) and any(given):
            yield Problem((*at, name), f"is {given} on a dynamic body; it must be zero, or the body fixed or kinematic")


def _check_path(at: Location, motion: Any) -> Iterator[Problem]:
    for i in range(1, len(motion.path)):
        if motion.path[i].time <= motion.path[i - 1].time:
            yield Problem((*at, "path", i, "time"), f"is {motion.path[i].time:g}; it must be greater than "
                                                   f"{motion.path[i - 1].time:g}, that of the point before")
    if motion.loop and len(motion.path) < 2:
        yield Problem((*at, "loop"), "is true; it must be false where the path has fewer than two points")


def inertia_matrix(given: tuple[float, ...]) -> np.ndarray:
    """(3, 3) [kg m2] from three principal moments, or from Ixx, Iyy, Izz, Ixy, Ixz, Iyz."""
    matrix = np.diag(given[:3])
    if len(given) == 6:
        for value, (i, j) in zip(given[3:], ((0, 1), (0, 2), (1, 2)), strict=True):
            matrix[i, j] = matrix[j, i] = value
    return matrix


def _check_inertia(at: Location, body: Body) -> Iterator[Problem]:
    assert body.inertia is not None
    if body.mass is None:
        yield Problem((*at, "mass"), "is missing; it must be given where inertia is, a number > 0 [kg]")
    reason = unphysical(inertia_matrix(body.inertia))
    if reason is not None:
        yield Problem((*at, "inertia"), f"is {shown(list(body.inertia))}; it must be physical: {reason}")


def _check_file(at: Location, name: str, folder: Path | None) -> Iterator[Problem]:
    if folder is None:
        yield Problem(at, f"is {shown(name)}; it must not be given where the scene has no folder")
        return
    path = folder / name
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        exists = path.is_file()
    except (OSError, ValueError):
        inside, exists = True, False
    if Path(name).is_absolute() or not inside:
        yield Problem(at, f"is {shown(name)}; it must be a path below the scene's folder")
    elif not exists:
        yield Problem(at, f"is {shown(name)}; it must be the path of a file, and there is none")
