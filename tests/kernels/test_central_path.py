"""Claims about the interior-point method on islands: it ends near the solution, from nothing that is known of it.

x ∘ y = σ e at σ <= 1e-10 of the largest velocity squared: where either the force of a contact or its velocity is not 0,
the natural map is of the size of σ. Where both vanish it is of the size of √σ, 1e-5.
"""

import numpy as np
import pytest
from contact_scenes import block, ground
from joint_scenes import hinge, rod
from test_island import seen_by_sweeps

from contactlab.physics.core.jit import kernel
from contactlab.physics.problem.residual import system_residual
from contactlab.physics.solvers.central_path import follow_path
from contactlab.physics.solvers.island import find_islands, open_island, skyline_of
from contactlab.physics.solvers.newton import give

NEAR = 1e-5  # natural map, relative to the velocities that it is made of


@kernel
def follow(system, rounds_out):
    """The central path of each island, from its beginning at σ = 1; rounds_out (1,): the most rounds."""
    count, bodies, others = int(system.count[0]), len(system.motion.bodies), int(system.blocks.count[1])
    number, own, label = np.zeros(count + others, np.int64), np.zeros(bodies, np.int64), np.full(bodies, -1)
    rounds_out[0] = 0.0
    for i in range(find_islands(system, number, own)):
        island = open_island(system, np.flatnonzero(number == i), own, label)
        rounds_out[0] = max(rounds_out[0], follow_path(island, skyline_of(island), 1.0))
        give(system, island)


def wall(mu, **motion):
    """Ten boxes in four rows, each on two of the row below; motion: of the topmost."""
    boxes = [block(f"b{r}_{i}", (0.52 * (i - 0.5 * (3 - r)), 0, 0.25 + 0.5 * r), mass=62.5)
             for r in range(4) for i in range(4 - r)]
    return {"material": {"default": {"friction": mu}}, "body": [ground(), *boxes[:-1], boxes[-1] | motion]}


def arm(**joint):
    """A hinged rod on its stop, the end of which lies on a box."""
    return {"material": {"default": {"friction": 0.5}}, "body": [
        ground(), block("box", (0.9, 0, 0.25), mass=3.0),
        rod("rod", (0, 0, 0.55), (1, 0, 0.55), mass=2.0) | {
            "shape": [{"type": "box", "size": [1.0, 0.1, 0.1]}]}],
        "joint": [hinge("world", "rod", (0, 0, 0.55)) | joint]}


SCENES = {
    "stuck": wall(0.5),
    "slips": wall(0.1),
    "smooth": wall(0.0),
    "pushed": wall(0.5, velocity=[2.0, 0.5, -1.0]),
    "limit": arm(limits=[0.0, 90.0]),
    "motor": arm(motor={"speed": 1.0, "limit": 4.0}),
}


@pytest.mark.parametrize("name", SCENES)
def test_the_central_path_ends_near_the_solution(name, monkeypatch):
    seen = []

    def look(system):
        rounds = np.zeros(1)
        before = system_residual(system)
        follow(system, rounds)
        seen.append((before, system_residual(system), rounds[0]))

    seen_by_sweeps(SCENES[name], monkeypatch, look)
    (before, after, rounds), = seen
    assert before[0] > 1e-2 * before[1]
    assert after[0] <= NEAR * after[1]
    assert rounds <= 40
