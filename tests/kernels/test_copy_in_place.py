"""Claims about copying one state into the arrays of another."""

import numpy as np
import pytest
from joint_scenes import hinge, rod

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.copy_in_place import copy_into
from contactlab.physics.core.state import copy_state
from contactlab.physics.simulation.history import arrays


@pytest.fixture(scope="module")
def sim():
    """Balls on the ground and a pendulum, after some steps with compliant contacts."""
    balls = [{"name": f"ball {i}", "position": [i, 0.0, 0.49], "shape": [{"type": "sphere", "radius": 0.5}]}
             for i in range(3)]
    ground = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}
    pendulum = rod("rod", (0, 0, 5), (1, 0, 5))
    made = Simulation(Scene.from_dict({"body": [*balls, ground, pendulum],
                                       "joint": [hinge("world", "rod", (0, 0, 5), coordinates="generalized")]}),
                      method="compliant")
    for _ in range(5):
        made.step()
    return made


def test_every_number_of_a_state_is_copied(sim):
    other = copy_state(sim.state)
    for array in arrays(other):
        array[...] = np.nan if array.dtype == np.float64 else -99
    assert copy_into(sim.state, other)
    mine_all = list(arrays(sim.state))
    assert len(sim.state.memory.key) >= 3 and len(sim.state.surfaces.key) >= 3
    for mine, theirs in zip(mine_all, arrays(other), strict=True):
        assert not np.shares_memory(mine, theirs)
        np.testing.assert_array_equal(mine, theirs)


def test_a_state_without_room_for_the_contacts_stays_as_it_is(sim):
    other = copy_state(sim.scene.build().state)
    before = copy_state(other)
    assert not copy_into(sim.state, other)
    for mine, theirs in zip(arrays(before), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)
