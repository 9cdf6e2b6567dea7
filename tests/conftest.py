"""Make a bare clone importable as `contactlab` when it is not installed: a module's import name is its path."""

import importlib.util
import pathlib
import sys

import pytest

if importlib.util.find_spec("contactlab") is None:
    root = pathlib.Path(__file__).parents[1]
    found = importlib.util.spec_from_file_location("contactlab", root / "__init__.py",
                                                   submodule_search_locations=[str(root)])
    assert found is not None and found.loader is not None
    sys.modules["contactlab"] = importlib.util.module_from_spec(found)
    found.loader.exec_module(sys.modules["contactlab"])


@pytest.fixture
def no_law_stays():
    """What a test adds to the laws of soft surfaces is gone after it."""
    from contactlab.physics.laws.soft import LAWS
    from contactlab.physics.methods.choices import CHOICES

    before = dict(LAWS)
    yield
    LAWS.clear()
    LAWS.update(before)
    CHOICES["law"] = tuple(LAWS)
