"""Fixtures of the app's tests."""

from pathlib import Path

import pytest
from command_line import BALL

from contactlab.physics.core import language


@pytest.fixture(autouse=True)
def english():
    """The language is one for the whole process: what a test has chosen, also by a command, ends with it."""
    yield
    language.use("en")


@pytest.fixture
def scene(tmp_path) -> Path:
    """The file of a ball that is thrown level above a floor."""
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    return path
