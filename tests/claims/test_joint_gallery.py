"""Every scene of the gallery with joints, in every method and both coordinates."""

from functools import cache

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics.methods import METHODS
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

STEPS = 6


@cache
def jointed():
    """Names of the scenes with joints."""
    return [key for key, path in gallery().items() if Scene.load(path).tables.joint]


#: with joints in either coordinates: the velocities of their bodies say in which
MIXED = ("moving_bases",)


def in_both():
    """(name, coordinates) of all that the engine has."""
    return [(key, coordinates) for key in jointed()
            for coordinates in (("mixed",) if key in MIXED else ("generalized", "maximal"))]


def opened(key, coordinates):
    scene = Scene.load(gallery()[key])
    return scene if coordinates == "mixed" else scene.with_coordinates(coordinates)


@pytest.mark.parametrize(("method", "more"), [*((method, {}) for method in METHODS),
                                              ("compliant", {"integrator": "sdirk2"})])
@pytest.mark.parametrize(("key", "coordinates"), in_both())
def test_no_scene_with_joints_is_refused(key, method, more, coordinates):
    """It opens, moves, and joints stay together; no method says it is stuck (sweeps may come to their last)."""
    sim = Simulation(opened(key, coordinates), method=method, **more)
    for _ in range(STEPS):
        sim.step()
        assert sim.info.status == "solved" or (method == "time_stepping" and sim.info.status == "iterations")
    assert np.isfinite(sim.state.bodies.x).all() and np.isfinite(sim.energy().total)
    assert sim.info.joint_error < 1e-9


@pytest.mark.parametrize("key", [key for key in jointed() if key not in MIXED])
def test_a_scene_begins_alike_in_both_coordinates(key):
    """Poses, velocities, energy and momenta: links move with what carries them."""
    starts = []
    for coordinates in ("generalized", "maximal"):
        sim = Simulation(opened(key, coordinates))
        energy, (P, L) = sim.energy(), sim.momentum()
        bodies = sim.state.bodies
        starts.append(np.concatenate([[energy.kinetic, energy.potential, energy.spring], P, L,
                                      *(a.ravel() for a in (bodies.x, bodies.q, bodies.v, bodies.w))]))
    scale = np.abs(starts[0]).max()
    np.testing.assert_allclose(starts[1], starts[0], rtol=0.0, atol=1e-13 * scale)
