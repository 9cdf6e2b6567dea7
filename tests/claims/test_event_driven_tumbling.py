"""Claims about small bodies that tumble over round and rough ground, by `event_driven` in long steps: whatever of them
turns or rolls into contact within a step is seen, and no body sinks into another. The contacts of `time_stepping`,
found from shapes instead of elements, are the judge."""

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision.detector import Detector
from contactlab.physics.methods.event_driven.tolerances import PUSHED

SHAPES = {
    "box": {"type": "box", "size": [0.16, 0.18, 0.1]},
    "cylinder": {"type": "cylinder", "radius": 0.08, "height": 0.08},
    "hull": {"type": "hull", "points": [[0.01, 0.01, -0.02], [0.0, 0.08, 0.13], [0.1, 0.06, 0.14], [0.16, 0.1, -0.04],
                                        [-0.02, -0.02, -0.03], [0.09, -0.04, 0.05], [-0.02, -0.06, 0.11]]},
}
GROUNDS = {  # with their height in the middle
    "capsule": ({"type": "capsule", "radius": 0.3, "height": 2.0}, 0.3),
    "sphere": ({"type": "sphere", "radius": 0.6}, 0.6),
    "terrain": ({"type": "height_field", "size": [2.0, 2.0], "formula": "0.08*sin(5*x)*cos(4*y)", "cells": [16, 16]},
                0.08),
}


def thrown(shape, ground, seed):
    """A body thrown anyhow over the middle of a ground, in steps in which it turns by up to 0.2 rad."""
    rng = np.random.default_rng(seed)
    under, top = GROUNDS[ground]
    turn = rng.normal(size=4)
    return Simulation(Scene.from_dict({
        "solver": {"h": 1 / 60, "method": "event_driven", "integrator": "dopri5"},
        "material": {"default": {"restitution": 0.3, "friction": 0.3}},
        "body": [
            {"name": "ground", "fixed": True, "euler": [90.0 if ground == "capsule" else 0.0, 0.0, 0.0],
             "shape": [under]},
            {"name": "body", "position": [0.0, 0.0, top + 0.25], "velocity": rng.normal(0.0, 0.4, 3).tolist(),
             "angular_velocity": rng.normal(0.0, 4.0, 3).tolist(),
             "orientation": (turn / np.linalg.norm(turn)).tolist(), "shape": [SHAPES[shape]]}],
    }))


@pytest.mark.parametrize(("shape", "ground", "seed"), [
    ("box", "sphere", 4), ("box", "terrain", 9), ("cylinder", "capsule", 0), ("cylinder", "capsule", 3),
    ("cylinder", "terrain", 9), ("hull", "terrain", 1)])
def test_a_tumbling_body_does_not_sink_into_the_ground(shape, ground, seed):
    """It may overlap by no more than projecting out drift pushes it. Before near edges, round bodies and halves of rims
    were followed into their regions, each of these sank by 0.1 to 270 mm."""
    sim = thrown(shape, ground, seed)
    detector, none, touched = Detector(sim.model), np.zeros(2), False
    for _ in range(36):
        sim.step()
        contacts = detector.detect(sim.state.bodies, none)
        touched = touched or len(sim.contacts.lam) > 0
        assert (contacts.gap[: int(contacts.count[0])] >= -PUSHED).all()
    assert touched and sim.info.status == "solved"
