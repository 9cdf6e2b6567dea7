"""Every scene of the gallery with joints, in every method and both coordinates."""

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics.methods import METHODS
from contactlab.physics.scene import Scene
from contactlab.physics.simulation import Simulation

STEPS = 6


def jointed():
    """Names of the scenes with joints."""
    return [key for key, path in gallery().items() if Scene.load(path).tables.joint]


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("key", jointed())
def test_no_scene_with_joints_is_refused(key, method, coordinates):
    """It opens, moves, and joints stay together; no method says it is stuck (sweeps may come to their last)."""
    sim = Simulation(Scene.load(gallery()[key]).with_coordinates(coordinates), method=method)
    for _ in range(STEPS):
        sim.step()
        assert sim.info.status == "solved" or (method == "time_stepping" and sim.info.status == "iterations")
    assert np.isfinite(sim.state.bodies.x).all() and np.isfinite(sim.energy().total)
    assert sim.info.joint_error < 1e-9
