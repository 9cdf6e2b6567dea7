"""The table of limits: who reads each, and that a scene beyond one is refused in a sentence before memory is made."""

import ast
import pathlib
import tracemalloc

import pytest

import contactlab.physics
from contactlab.physics import Scene, Simulation
from contactlab.physics.core import limits
from contactlab.physics.core.limits import BeyondLimit, Limit, amount
from contactlab.physics.simulation.failure import CannotStep

TABLE = {name: row for name, row in vars(limits).items() if isinstance(row, Limit)}
GIGABYTE = 2**30


def test_each_limit_is_read_where_the_table_says_and_nowhere_else():
    """A reader imports the row by its name."""
    root, readers = pathlib.Path(contactlab.physics.__file__).parents[1], {name: set() for name in TABLE}
    for path in (p for room in ("physics", "app") for p in (root / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == "limits":
                for name in {alias.name for alias in node.names} & TABLE.keys():
                    readers[name].add(path.relative_to(root).as_posix())
    assert readers == {name: set(row.readers) for name, row in TABLE.items()}


@pytest.mark.parametrize("name", TABLE)
def test_what_is_beyond_a_limit_is_refused_in_one_sentence_with_both_amounts(name):
    row = TABLE[name]
    row.allow(row.most)
    with pytest.raises(BeyondLimit) as refused:
        row.allow(3 * row.most)
    said = str(refused.value)
    assert amount(row.most, row.unit) in said and amount(3 * row.most, row.unit) in said and "\n" not in said


def balls(count, method):
    """Balls of 0.1 m within a tenth of a millimetre: each touches all others."""
    ball = {"name": "b", "position": [0.0, 0.0, 0.2], "shape": [{"type": "sphere", "radius": 0.1}]}
    return Scene.from_dict({"solver": {"method": method}, "body": [ball],
                            "array": [{"body": "b", "count": [count, 1, 1], "spacing": [1e-4 / count, 0, 0]}]})


@pytest.mark.parametrize("method", ["time_stepping", "compliant"])
def test_a_heap_in_itself_is_refused_before_it_takes_two_gigabytes(method):
    """All pairs of 3000 balls are 4.5 million. (For `event_driven` see `test_interruption`.)"""
    sim = Simulation(balls(3000, method))
    tracemalloc.start()
    with pytest.raises(CannotStep, match="at most are made"):
        sim.step()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * GIGABYTE and sim.step_count == 0 and sim.time == 0.0
