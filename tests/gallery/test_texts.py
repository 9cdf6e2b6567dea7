"""Every sentence of the gallery's texts is held by a test that is named beside it, in `sentences.toml`.

A text that is changed has to be claimed anew: write the sentence there, and beside it the tests that run the scene and
would fail if it were false.
"""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest
from gallery_scenes import text_of

from contactlab.app.commands import TOGGLES
from contactlab.app.keys import KEYS
from contactlab.app.panels.lower import TABS
from contactlab.assets import gallery

HERE = Path(__file__).parent
HELD = tomllib.loads((HERE / "sentences.toml").read_text(encoding="utf-8"))
DONE = "try"  #: of a sentence that asks for something to be done


@functools.cache
def sources_of(module):
    """Source of every test of a module, by its name, with its decorators."""
    (path,) = HERE.parent.rglob(f"{module}.py")
    source, found = path.read_text(encoding="utf-8"), {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return found


@pytest.mark.parametrize("key", gallery())
def test_every_sentence_of_a_text_is_claimed_as_it_stands(key):
    assert re.split(r"(?<=[.?!]) (?=[A-Z])", text_of(key)) == list(HELD.get(key, {}))


@pytest.mark.parametrize("key", HELD)
def test_what_holds_a_sentence_is_a_test_and_one_in_this_folder_opens_the_scene(key):
    assert key in gallery()
    for sentence, held in HELD[key].items():
        names = [held] if isinstance(held, str) else held
        for name in filter(lambda name: name != DONE, names):
            module, test = name.split("::")
            assert test in sources_of(module), f"no test {name}, which should hold: {sentence}"
            if module.startswith("test_gallery_"):
                assert f'"{key}"' in sources_of(module)[test], f"{test} does not open {key}: {sentence}"


def test_keys_tabs_and_switches_that_texts_name_are_there():
    keys, tabs = {binding.key for binding in KEYS}, {tab.title for tab in TABS.values()}
    named = set()
    for text in map(text_of, gallery()):
        named |= {symbol for symbol in "↓↑" if symbol in text} | ({"↓"} if "down key" in text else set())
        named |= {","} if "comma key" in text else set()
        for tab in re.findall(r"the (\w+) tab|The (timeline|ledger)|\((Compare) plots", text):
            assert "".join(tab).capitalize() in tabs
        for switch in re.findall(r"[Ss]witch (?:on )?(Minimal contact set)", text):
            assert switch in TOGGLES.values()
    assert {"↓", "↑", ","} == named <= keys
