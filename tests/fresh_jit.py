"""The module `core.jit` as a new process has it: it has read no source yet."""

import importlib.util
import pathlib
from typing import Any

from contactlab.physics.core import jit


def fresh_jit(engine: pathlib.Path, cache_home: pathlib.Path) -> Any:
    """A copy of the module for the engine in this folder, with its caches under `cache_home`."""
    spec = importlib.util.spec_from_file_location(jit.__name__, str(jit.__file__))
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ENGINE, module.CACHE_HOME = engine, cache_home
    return module
