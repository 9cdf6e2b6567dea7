"""Scene files as text that is edited: what an edit does is in the file, and all the rest stays as it was."""

import tomllib

import pytest

from contactlab.assets import gallery
from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.scene import Scene

SCENES = sorted(gallery())
WRITTEN = """\
# How a ball rolls.
[scene]
title = "Roll" # short
summary = "a"

# The ball of example 3.
[[body]]
name = "ball"
position = [0, 0, 1.50]   # a metre and a half
shape = [{type = "sphere", radius = 0.5}]

# A joint stands between bodies here.
[[joint]]
type = "ball"
child = "ball"

[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"

# The end.
"""


def leaves(node, at=()):
    """All values of a document, with their locations."""
    if isinstance(node, dict):
        for key, inner in node.items():
            yield from leaves(inner, (*at, key))
    elif isinstance(node, list) and node and isinstance(node[0], dict):
        for k, inner in enumerate(node):
            yield from leaves(inner, (*at, k))
    else:
        yield at, node


def other(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return [other(v) for v in value] if value else [1.5]
    return value + {str: " \\ \"x\" ", int: 1, float: 0.125}[type(value)]


@pytest.mark.parametrize("key", SCENES)
def test_every_value_of_a_scene_can_be_set_and_the_file_then_says_so_and_nothing_else(key):
    text = gallery()[key].read_text("utf-8")
    document, original = Document(text), tomllib.loads(text)
    values = dict(leaves(original))
    for at, value in list(leaves(document.data)):
        document.put(at, other(value))
        changed = tomllib.loads(document.text)
        assert changed == document.data
        assert dict(leaves(changed)) == {**values, at: other(value)}
        document.put(at, value)
    assert tomllib.loads(document.text) == original


@pytest.mark.parametrize("key", SCENES)
def test_comments_and_all_lines_that_an_edit_does_not_concern_stay_as_they_are(key):
    text = gallery()[key].read_text("utf-8")
    document = Document(text)
    document.put(("body", 0, "velocity"), [0.25, 0.0, 0.0])
    before, after = text.splitlines(), document.text.splitlines()
    new = [line for line in after if line not in before]
    assert new == ["velocity = [0.25, 0.0, 0.0]"]
    assert [line for line in after if line not in new] == [line for line in before if line in after]


@pytest.mark.parametrize("key", SCENES)
def test_copies_of_all_bodies_are_a_scene_and_without_them_the_scene_is_what_it_was(key):
    path = gallery()[key]
    document = Document(path.read_text("utf-8"))
    before, count = Scene.load(path).tables, len(document.data["body"])
    copies = edits.duplicate(document, range(count), [[0.0, 0.0, 50.0]])
    assert len(Scene.from_text(document.text, path.parent).tables.body) == 2 * count
    edits.delete(document, copies)
    assert Scene.from_text(document.text, path.parent).tables == before


def test_an_edit_changes_the_line_that_it_is_about():
    document = Document(WRITTEN)
    document.put(("body", 0, "position"), [1.0, 0.0, 0.5])
    document.put(("body", 0, "shape", 0, "radius"), 0.25)
    document.put(("scene", "summary"), None)
    assert document.text == WRITTEN.replace("[0, 0, 1.50]", "[1.0, 0.0, 0.5]").replace("0.5}", "0.25}").replace(
        'summary = "a"\n', "")


def test_what_is_added_stands_with_its_kind_and_what_is_removed_takes_its_comment_along():
    document = Document(WRITTEN)
    document.put(("material", "steel", "friction"), 0.3)
    document.append(("body", 1, "shape"), {"type": "box", "size": [1.0, 1.0, 1.0]})
    document.append(("body", 0, "shape"), {"type": "sphere", "radius": 1.0})
    document.put(("joint", 0, "motor", "speed"), 2.0)
    document.put(("camera", "distance"), 3.0)
    heads = [line for line in document.text.splitlines() if line.startswith("[")]
    assert heads == ["[scene]", "[camera]", "[material.steel]", "[[body]]", "[[joint]]", "[[body]]", "[[body.shape]]",
                     "[[body.shape]]"]
    data = tomllib.loads(document.text)
    assert data == document.data
    assert [s["type"] for s in data["body"][0]["shape"]] == ["sphere", "sphere"]
    assert data["joint"][0]["motor"] == {"speed": 2.0}
    document.remove(("body", 0))
    assert "example 3" not in document.text and "stands between" in document.text and "The end." in document.text
    assert [body["name"] for body in tomllib.loads(document.text)["body"]] == ["floor"]


def test_a_long_text_is_folded_into_lines_and_reads_as_before():
    said = 'Mind the "gap" \\ and  two spaces, 60° and a tab\t;' * 12
    document = Document(edits.NEW)
    document.put(("scene", "watch"), said)
    assert max(map(len, document.text.splitlines())) < 130
    assert tomllib.loads(document.text)["scene"]["watch"] == said


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "[scene]", "[scene]\r\ntitle = 'a'\r\n", 'a = "[[body]]"\n',
                                  'scene.title = """\n[x]\n"""\n[camera]\ndistance = 1.0\n'])
def test_odd_files_can_be_added_to(text):
    document = Document(text)
    assert document.text == text
    document.append(("body",), {"name": "a"})
    document.put(("scene", "summary"), "b")
    data = tomllib.loads(document.text)
    assert data == document.data and data["body"] == [{"name": "a"}] and data["scene"]["summary"] == "b"
    kept = {k: v for k, v in tomllib.loads(text).items() if k != "scene"}
    assert {k: v for k, v in data.items() if k in kept} == kept


def test_a_text_that_is_no_toml_is_refused():
    with pytest.raises(ValueError):
        Document("[scene")
