"""Make a bare clone importable as `contactlab` when it is not installed: a module's import name is its path."""

import importlib.util
import pathlib
import sys
import types

if importlib.util.find_spec("contactlab") is None:
    package = types.ModuleType("contactlab")
    package.__path__ = [str(pathlib.Path(__file__).parents[1])]
    sys.modules["contactlab"] = package
