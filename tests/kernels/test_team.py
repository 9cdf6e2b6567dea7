"""Threads that share a step compute what one computes, to the bit, and hold nobody up."""

import os
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.narrow_phase import BOXES
from contactlab.physics.collision.shared_pairs import MANY_PAIRS, MANY_SHAPES
from contactlab.physics.core import team
from contactlab.physics.core.atomic import WORD, reserve
from contactlab.physics.core.jit import kernel, program
from contactlab.physics.core.model import Array
from contactlab.physics.core.state import LongArray
from contactlab.physics.core.team import share_out
from contactlab.physics.problem.parts import MANY_CONTACTS
from contactlab.physics.simulation.history import arrays

STEPS = 12


@pytest.fixture(autouse=True)
def as_before():
    yield
    team.set_threads(None)


def heap():
    """Bricks of 0.4 m in layers, each on four of the layer below, that move a little, and some spheres on top."""
    rng, bodies = np.random.default_rng(3), []
    for layer in range(5):
        for i in range(9):
            for j in range(9):
                x, y = (0.41 * np.array([i, j]) + 0.2 * (layer % 2)).tolist()
                velocity, shape = rng.normal(0.0, 0.05, 3).tolist(), {"type": "box", "size": [0.4, 0.4, 0.4]}
                bodies.append({"name": f"b{layer} {i} {j}", "position": [x, y, 0.2 + 0.4 * layer], "density": 500.0,
                               "velocity": velocity, "shape": [shape]})
    bodies += [{"name": f"s{k}", "position": [0.4 * k, 0.5, 2.2], "density": 500.0,
                "shape": [{"type": "sphere", "radius": 0.1}]} for k in range(8)]
    bodies.append({"name": "ground", "fixed": True, "shape": [{"type": "plane"}]})
    return Scene.from_dict({"scene": {"title": "heap"}, "solver": {"h": 1 / 240}, "body": bodies})


@pytest.fixture(scope="module")
def scene():
    return heap()


def walked(scene, steps=STEPS):
    simulation = Simulation(scene)
    for _ in range(steps):
        simulation.step()
    return simulation


def bits(simulation):
    return b"".join(a.tobytes() for a in arrays(simulation.state))


@pytest.fixture(scope="module")
def alone(scene):
    """The heap walked by one thread."""
    team.set_threads(1)
    return walked(scene)


def test_the_heap_is_large_enough_to_be_shared(alone):
    work = alone._method._work
    assert len(alone.model.shapes.body) >= MANY_SHAPES
    assert work.detection.near.counts[BOXES] >= MANY_PAIRS
    assert work.system.count[0] >= MANY_CONTACTS
    assert work.system.parts.count[0] >= 4


@pytest.mark.parametrize("threads", [2, 4])
def test_any_number_of_threads_walks_through_the_same_states(scene, alone, threads):
    team.set_threads(threads)
    assert bits(walked(scene)) == bits(alone)


def test_two_simulations_share_one_team(scene, alone):
    team.set_threads(3)
    found = []
    runs = [threading.Thread(target=lambda: found.append(bits(walked(scene)))) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert found == 2 * [bits(alone)]


def test_parts_of_one_round_share_no_body_that_moves(alone):
    work = alone._method._work
    system, (rounds, parts) = work.system, work.system.parts.count
    first, count = system.parts.first, int(system.count[0])
    assert first[0] == 0 and first[parts] == count and (np.diff(first[: parts + 1]) >= 0).all()
    assert sorted(system.contact[:count]) == sorted(set(system.contact[:count]))  # each contact once
    moves = alone.model.kind == 0
    for one_round in (range(rounds), range(rounds, parts)):
        of_body = np.full(len(moves), -1)
        for p in one_round:
            rows = slice(first[p], first[p + 1])
            ends = np.concatenate([system.body_a[rows], system.body_b[rows]])
            ends = ends[moves[ends]]
            assert np.isin(of_body[ends], (-1, p)).all()
            of_body[ends] = p


class Marks(NamedTuple):
    seen: LongArray
    value: Array


@kernel
def meet(i, marks, patience) -> None:
    """Wait until another share is under way, too."""
    reserve(marks.seen, 0, 1)
    for _ in range(patience):
        if reserve(marks.seen, 0, 0) == 2:
            marks.value[i] = 1.0
            break


@program
def meet_each_other(marks, patience):
    share_out(2, meet, (marks, patience))
    return 0


@kernel
def square(i, values, marks, factor) -> None:
    marks.value[i] = factor * values[i] * values[i]


@program
def squares(values, marks, factor):
    share_out(len(values), square, (values, marks, factor))
    return 0


def test_two_shares_are_under_way_at_once():
    """Also where the time that was told to be alone until is not one of this clock."""
    team.set_threads(2)
    team.gather()
    for _ in range(40):  # where other programs have all cores a helper may come too late
        WORD[team.UNTIL], WORD[team.ALONE] = 1 << 62, 1000  # as of a clock that has begun anew since
        marks = Marks(np.zeros(1, np.int64), np.full(2, np.nan))
        meet_each_other(marks, 10_000_000)
        if (marks.value == 1.0).all():
            return
    pytest.fail("a helper never took a share")


@program
def hold_up(now, waited):
    team.work_alone(now, waited)
    return 0


def test_waits_for_helpers_take_a_small_part_of_the_time():
    """A wait is followed by LEAST_ALONE times as long without helpers, twice that where the next one comes soon after
    it, at most MOST_ALONE times; where none came for as long, it counts as the first."""
    WORD[team.UNTIL] = WORD[team.ALONE] = 0
    now, times = 10**9, []
    for _ in range(8):
        hold_up(now, 50)
        times.append((WORD[team.UNTIL] - now) / 50)
        now = WORD[team.UNTIL] + 1
    now += WORD[team.ALONE]
    hold_up(now, 50)
    times.append((WORD[team.UNTIL] - now) / 50)
    WORD[team.UNTIL] = 0
    assert times == [20, 40, 80, 160, 320, 640, 1000, 1000, 20]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_each_share_is_carried_out(count):
    team.set_threads(4)
    team.gather()
    values, marks = np.arange(count, dtype=float), Marks(np.zeros(1, np.int64), np.full(count, np.nan))
    for factor in (0.5, 2.0, 3.0):
        marks.value[:] = np.nan
        squares(values, marks, factor)
        assert (marks.value == factor * values**2).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_made_by_fork_works_on(scene, alone):
    team.set_threads(2)
    walked(scene, 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if bits(walked(scene)) == bits(alone) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_process_with_helpers_at_work_ends_at_once():
    code = """
import threading, time
from contactlab.physics.core import team
team.set_threads(4)
team.gather()
def work():
    while True:
        team.hand_out(0, 0, 0)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.02)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_the_environment_says_how_many(monkeypatch):
    monkeypatch.setenv(team.VARIABLE, "3")
    assert team.threads() == 3
    monkeypatch.setenv(team.VARIABLE, "0")
    assert team.threads() == 1
    monkeypatch.setenv(team.VARIABLE, "many")
    assert 1 <= team.threads() <= team.MOST_THREADS
    team.set_threads(17)
    assert team.threads() == 16
