"""Scenes that are almost right: whole ones, some places of which are changed as the schema allows or forbids."""

import copy
import json
import math
import random
from contextlib import suppress
from functools import cache

from scene_tables import places

from contactlab.physics.scene.schema import json_schema

NAMES = ["a", "b", "c", "floor", "world", "default", "ice", "a 2", "nowhere", ""]
STRANGE = [None, True, "", "word", [], {}, [[]], {"a": 1}, math.nan, math.inf, -math.inf, 10**400, 2**63, 1e300, -1e300,
           1e-300, 5e-324, -1, 0, [1e300] * 3, [math.nan] * 3, ["x", 1, None], [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]


@cache
def schema():
    return json.loads(json_schema())


def resolved(node):
    while "$ref" in node or "allOf" in node:
        node = schema()["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node["allOf"][0]
    return node


def drawn(node, chance, name=""):
    """A value that a node of the schema allows by its form: names may be of nothing, and numbers at their ends."""
    node = resolved(node)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return chance.choice(node["enum"])
    for several in ("anyOf", "oneOf"):
        if several in node:
            return drawn(chance.choice(node[several]), chance, name)
    match node.get("type"):
        case "number" | "integer" as kind:
            return number(node, chance, kind == "integer")
        case "boolean":
            return chance.random() < 0.5
        case "string":
            return chance.choice(NAMES)
        case "array":
            least = node.get("minItems", 0)
            count = chance.randint(least, min(node.get("maxItems", least + 3), least + 3))
            if "prefixItems" in node:
                return [drawn(item, chance, name) for item in node["prefixItems"]]
            return [drawn(node.get("items", {}), chance, name) for _ in range(count)]
        case "object":
            if "properties" not in node:
                return {"ice": drawn(node.get("additionalProperties", {}), chance)}
            needed = set(node.get("required", ()))
            return {key: drawn(child, chance, key) for key, child in node["properties"].items()
                    if key in needed or chance.random() < 0.15}
    return None


def number(node, chance, whole):
    low = node.get("minimum", node.get("exclusiveMinimum", -1e15))
    high = node.get("maximum", node.get("exclusiveMaximum", 1e15))
    if chance.random() < 0.1:
        value = chance.choice([low, high, 0.0, math.nextafter(high, math.inf)])
    else:
        value = min(max(chance.choice([1, 1, -1]) * 10.0 ** chance.uniform(-3, 1), low), high)
    return round(value) if whole else value


def inside(node, at):
    for step in at:
        node = node[step]
    return node


def schema_at(data, at):
    """The schema's node of a place; {} where it has none."""
    node, here = resolved(schema()), data
    for step in at:
        here = here[step]
        if isinstance(step, int):
            node = resolved(node.get("items", {}))
        else:
            node = resolved(node.get("properties", {}).get(step, node.get("additionalProperties") or {}))
        if "anyOf" in node:
            node = next((resolved(n) for n in node["anyOf"] if resolved(n).get("type") != "null"), {})
        if "oneOf" in node and isinstance(here, dict):  # a shape
            named = node.get("discriminator", {}).get("mapping", {}).get(here.get("type"))
            node = resolved({"$ref": named}) if named else {}
    return node


def mutated(base, seed):
    """`base` with one to four places changed, given, taken or repeated."""
    chance = random.Random(seed)
    data = copy.deepcopy(base)
    for _ in range(chance.choice([1, 1, 2, 4])):
        at = chance.choice(list(places(data)))
        with suppress(KeyError, TypeError, IndexError, AttributeError):  # an earlier change left the place no schema
            change(data, at, chance)
    return data


def change(data, at, chance):
    parent, node = inside(data, at[:-1]), inside(data, at)
    kind = chance.random()
    if kind < 0.55:
        parent[at[-1]] = drawn(schema_at(data, at), chance, str(at[-1]))
    elif kind < 0.7:
        parent[at[-1]] = copy.deepcopy(chance.choice(STRANGE))
    elif kind < 0.8:
        del parent[at[-1]]
    elif kind < 0.9 and isinstance(node, dict):
        properties = schema_at(data, at)["properties"]
        name = chance.choice(list(properties))
        node[name] = drawn(properties[name], chance, name)
    elif isinstance(parent, list):
        parent.insert(at[-1], copy.deepcopy(node))
