"""Ten mesh scenes, a kind of file each, open and run."""

import numpy as np
import pytest
from mesh_zoo import ZOO

from contactlab.physics import Simulation
from contactlab.physics.core.model import movable


@pytest.mark.parametrize("name", ZOO)
def test_a_mesh_scene_opens_and_runs(name, tmp_path):
    """Every body that forces move is there, with a mass; in a tenth of a second none falls farther than without what
    holds it, g t²/2, nor gains energy."""
    opened, moving = ZOO[name]
    sim = Simulation(opened(tmp_path), method="time_stepping")
    mine = movable(sim.model.kind)
    assert mine.sum() == moving and (sim.model.mass[mine] > 0.0).all()
    start, v, energy = sim.state.bodies.x.copy(), sim.state.bodies.v.copy(), sim.energy().total
    sim.run(until=0.1)
    assert sim.energy().total <= energy + 1e-9 * sum(sim.model.mass[mine]) * 9.81
    fallen = (start + 0.1 * v - sim.state.bodies.x)[mine, 2]
    assert np.isfinite(fallen).all() and (fallen <= 0.5 * 9.81 * 0.1**2 * (1.0 + 1e-9)).all()
