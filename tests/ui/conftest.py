"""Fixtures of the app's tests."""

from pathlib import Path

import pytest
from command_line import BALL


@pytest.fixture
def scene(tmp_path) -> Path:
    """The file of a ball that is thrown level above a floor."""
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    return path
