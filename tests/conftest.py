"""Make a bare clone importable as `contactlab` when it is not installed: a module's import name is its path."""

import importlib.util
import os
import pathlib
import sys

import pytest

# programs start as at every user: where this is set, each of some hundred would compile all sources anew
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# the threads of Mesa's software renderer give way to others, see app/window/spare_time.py, and two workers leave them
# nothing: a window then draws in its own thread
os.environ.setdefault("LP_NUM_THREADS", "0")

#: files that take longest, first: two workers then end at about the same time. The ledger of every scene compiles most
#: kernels, which pyright beside it does not need
LONGEST = ("claims/test_ledger.py", "test_house.py", "ui/test_hard_starts.py", "ui/test_window_xvfb.py",
           "claims/test_extremes.py", "ui/test_video.py", "claims/test_event_driven_many.py", "ui/test_first_hour.py",
           "ui/test_lesson_xvfb.py", "claims/test_event_driven_gallery.py", "ui/test_memory.py", "fuzz/test_monkey.py",
           "claims/test_closed_forms.py", "kernels/test_lcp.py", "claims/test_restore.py", "ui/test_record.py",
           "ui/test_sweeping.py", "ui/test_cli.py", "test_packaging.py", "kernels/test_warm_up.py")

if importlib.util.find_spec("contactlab") is None:
    root = pathlib.Path(__file__).parents[1]
    found = importlib.util.spec_from_file_location("contactlab", root / "__init__.py",
                                                   submodule_search_locations=[str(root)])
    assert found is not None and found.loader is not None
    sys.modules["contactlab"] = importlib.util.module_from_spec(found)
    found.loader.exec_module(sys.modules["contactlab"])


def pytest_collection_modifyitems(items):
    here = pathlib.Path(__file__).parent
    place = {str(here / name): i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(str(item.path), len(place)))


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
