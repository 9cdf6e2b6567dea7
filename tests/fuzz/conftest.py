"""The option --long of the fuzz tests. `pytest` in the root knows it only where this folder is named: pytest reads the
options of a folder's conftest when the folder is an argument."""

import pathlib
import sys

import effort

sys.path.append(str(pathlib.Path(__file__).parents[1] / "ui"))  # the window on a virtual screen


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="fuzz tests: many more examples, by hand (minutes to hours)")


def pytest_configure(config):
    effort.LONG = config.getoption("--long", False)
