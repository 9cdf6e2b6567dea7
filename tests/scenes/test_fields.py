"""Every field of the schema can be edited: these tests are made from the schema, and a new field is tested at once."""

import pytest

from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.fields import LIST, fields, table_at, tables
from contactlab.physics.scene.scene import Scene
from contactlab.physics.scene.schema import SHAPES, TABLES, SceneFile

SCENE = """
[material.steel]
[[body]]
name = "floor"
fixed = true
shape = [{type = "plane"}]
[[body]]
name = "a"
position = [0.0, 0.0, 5.0]
shape = [{type = "sphere", radius = 0.5}]
[[body]]
name = "b"
position = [3.0, 0.0, 5.0]
shape = [{type = "box", size = [1.0, 1.0, 1.0]}]
"""
HINGE = '[[joint]]\ntype = "hinge"\nchild = "a"\naxis = [0.0, 1.0, 0.0]\n'
#: where a table is, and what stands in the file besides
PLACES = {
    "scene": (("scene",), ""), "camera": (("camera",), ""), "solver": (("solver",), ""),
    "compare": (("compare", 0), "[[compare]]\n"), "material": (("material", "steel"), ""),
    "pair": (("pair", 0), '[[pair]]\nmaterials = ["steel", "default"]\n'), "body": (("body", 1), ""),
    "motion": (("body", 1, "motion"), ""), "path": (("body", 1, "motion", "path", 0), ""),
    "array": (("array", 0), '[[array]]\nbody = "a"\ncount = [2, 1, 1]\nspacing = [0.0, 2.0, 0.0]\n'),
    "spring": (("spring", 0), '[[spring]]\nbody_a = "a"\nbody_b = "b"\nstiffness = 1.0\n'),
    "joint": (("joint", 0), HINGE), "apart": (("apart", 0), '[[apart]]\nbodies = ["a", "b"]\n'),
    "closed_form": (("closed_form", 0), '[[closed_form]]\nbodies = ["a"]\n'),
    "joint.spring": (("joint", 0, "spring"), HINGE + "spring = {stiffness = 2.0}\n"),
    "motor": (("joint", 0, "motor"), HINGE + "motor = {torque = 2.0}\n"),
} | {kind: (("body", 0, "shape", 0), "") for kind in SHAPES}
#: values that the general ones below do not fit
OWN = {
    ("closed_form", "bodies"): ["b"], ("closed_form", "let"): {"k": 2.0, "w": "k*t"}, ("closed_form", "holds"): "t < 1",
    ("closed_form", "position"): ["x0", "y0", "z0 - t"], ("closed_form", "turn"): ["t", 0.0, 0.0],
    ("pair", "materials"): ["default", "steel"], ("apart", "bodies"): ["b", "a"], ("array", "count"): [1, 2, 1],
    ("body", "inertia"): [1.0, 1.0, 1.5], ("body", "orientation"): [0.6, 0.8, 0.0, 0.0],
    ("joint", "axes"): [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], ("joint", "axis"): [1.0, 0.0, 0.0],
    ("joint", "position"): 30.0, ("joint", "velocity"): 0.5, ("joint", "limits"): [-20.0, 40.0],
    ("joint.spring", "position"): 10.0, ("hull", "points"): [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ("superellipsoid", "exponents"): [0.75, 1.25],
    ("height_field", "size"): [3.0, 2.0], ("height_field", "cells"): [8, 4],
    ("height_field", "heights"): [[0.0, 1.0], [0.5, 0.0]], ("height_field", "formula"): "x*y",
    ("solver", "integrator"): "heun", ("compare", "integrator"): "heun", ("array", "body"): "b",
    ("joint", "parent"): "b", ("joint", "child"): "b", ("joint", "type"): "slider", ("spring", "body_a"): "world",
}
#: what a field needs beside it: of a body that it moves, of a joint of its type
WITH = {
    ("body", "inertia"): {"mass": 2.0}, ("body", "surface_velocity"): {"fixed": True},
    ("body", "surface_spin"): {"fixed": True}, ("joint", "pitch"): {"type": "screw"},
    ("joint", "axes"): {"type": "universal", "axis": None}, ("motion", "loop"): {"path": [
        {"time": 0.0, "position": [0, 0, 0]}, {"time": 1.0, "position": [0, 0, 1]}]},
    ("height_field", "heights"): {"formula": None},
    ("joint", "restitution"): {"limits": [-20.0, 40.0]}, ("motor", "limit"): {"speed": 1.0, "torque": None},
}
FILES = ("file", "part", "threshold", "collide", "scale")  # of meshes, which have tests of their own


def value(table, entry):
    """A value of a field that is not its default."""
    if (table, entry.name) in OWN:
        return OWN[table, entry.name]
    if entry.kind == "flag":
        return not entry.default
    if entry.kind == "choice":
        return next(c for c in reversed(entry.choices) if c != entry.default)
    if entry.kind == "words":
        return ["one", "two words"]
    if entry.kind == "color":
        return "#e69f00"
    if entry.kind == "text":
        return {"material": "steel", "body": "b"}.get(entry.names, "Hm")
    if entry.kind == "numbers":
        return [0.6, 0.0, 0.8, 0.0] if entry.count == 4 else [0.5, 0.25, 0.75]
    if entry.name == "tube":
        return 0.125
    if entry.name == "rounding":
        return 0.05  # of what edits.FIRST says
    low, high = max(entry.low or 0.0, 0.0), min(entry.high if entry.high is not None else 2.0, 2.0)
    if entry.kind == "whole":
        return int(low) + 3
    return 0.25 * low + 0.75 * high


CASES = [(table, entry) for table in (*TABLES, *SHAPES) if table != "mesh" for entry in fields(table)
         if entry.kind not in ("table", LIST) and entry.name not in FILES]


@pytest.mark.parametrize("table, entry", CASES, ids=[f"{t}-{e.name}" for t, e in CASES])
def test_every_field_can_be_set_and_is_read_back_from_the_file(table, entry):
    place, more = PLACES[table]
    document = Document(SCENE + more)
    if table in SHAPES:
        document.put(("body", 0, "shape"), [{"type": table, **edits.FIRST[table]}])
    if table in ("motion", "path"):
        edits.set_field(document, ("body", 1, "kinematic"), True, False)
        document.put(("body", 1, "motion"), {"path": [{"time": 0.0, "position": [0.0, 0.0, 0.0]}]})
    for name, beside in WITH.get((table, entry.name), {}).items():
        edits.set_field(document, (*place, name), beside)
    new = value(table, entry)
    assert table_at(document.data, place) == table
    edits.set_field(document, (*place, entry.name), new, None if entry.needed else entry.default)
    assert document.get((*place, entry.name)) == new
    node = Scene.from_text(document.text, None).tables
    for step in place:
        node = node[step] if isinstance(node, tuple | dict) else getattr(node, step)
    read = getattr(node, entry.name)
    if entry.kind == "color":
        assert read == pytest.approx((0.902, 0.624, 0.0), abs=0.001)
    elif entry.kind == "toml" and entry.name in ("position", "velocity", "limits"):
        flat = new if isinstance(new, list) else [new]
        assert list(read[0]) == flat if entry.name == "limits" else list(read) == flat
    else:
        plain = [list(v) if isinstance(v, tuple) else v for v in read] if isinstance(read, tuple) else read
        assert plain == new
    if not entry.needed and entry.default is not None:
        edits.set_field(document, (*place, entry.name), entry.default, entry.default)
        assert document.get((*place, entry.name)) is None


def test_every_table_of_a_scene_file_and_every_field_of_it_is_known():
    assert set(tables()) == set(SceneFile.model_fields)
    for name, model in {**TABLES, **SHAPES}.items():
        given = {entry.name for entry in fields(name)} | ({"type"} if name in SHAPES else set())
        assert given == set(model.model_fields)
        assert all(entry.help for entry in fields(name))


def test_units_ranges_and_choices_are_those_of_the_schema():
    body = {entry.name: entry for entry in fields("body")}
    assert (body["mass"].unit, body["density"].unit, body["velocity"].unit) == ("kg", "kg/m3", "m/s")
    assert body["orientation"].unit == "" and body["material"].names == "material"
    camera = {entry.name: entry for entry in fields("camera")}
    assert (camera["elevation"].low, camera["elevation"].high) == (-90.0, 90.0)
    assert "screw" in {entry.name: entry for entry in fields("joint")}["type"].choices


def test_a_field_that_excludes_another_takes_its_place():
    document = Document(SCENE)
    edits.set_field(document, ("body", 1, "density"), 500.0)
    edits.set_field(document, ("body", 1, "mass"), 2.0)
    edits.set_field(document, ("body", 1, "fixed"), True, False)
    edits.set_field(document, ("body", 1, "kinematic"), True, False)
    assert "density" not in document.get(("body", 1)) and "fixed" not in document.get(("body", 1))
