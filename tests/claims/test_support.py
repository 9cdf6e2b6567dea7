"""What a face that stands on another one needs to stand: the support polygon [RBDA §11.6, fig. 11.7 c and d], of which
four points at most are kept in `time_stepping`, and of a disc eight in `event_driven`."""

import numpy as np
import pytest
from contact_scenes import ground, simulate

H = 1 / 250


def stands(shape, load, height, method="time_stepping"):
    """A body of 1 kg on a flat end, its centre of mass at `load` (2,) from the middle of its base; where it comes from
    there in half a second, and its spin."""
    shape = {**shape, "position": [-float(load[0]), -float(load[1]), 0.0]}
    moved = {"name": "body", "position": [float(load[0]), float(load[1]), height / 2], "mass": 1.0,
             "inertia": [0.005] * 3, "shape": [shape]}
    sim = simulate(ground(), moved, h=H, method=method)
    start = sim.position("body")
    sim.run(0.5)
    return np.linalg.norm(sim.position("body") - start), np.linalg.norm(sim.angular_velocity("body"))


def prism(corners, radius=0.2, height=0.1):
    angle = 2 * np.pi * np.arange(corners) / corners
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points = [[float(x), float(y), float(z)] for z in (-height / 2, height / 2) for x, y in ring]
    return ring, {"type": "hull", "points": points}


@pytest.mark.parametrize("corners", [5, 6, 9, 16])
def test_a_prism_stands_as_long_as_its_weight_is_over_its_base(corners):
    """Over any of its corners, nine tenths of the way out, and over any side, of which it is as far inside. Four of
    many corners span less: a pentagon rocked on the four of them that do not hold its load, by 0.3 mm."""
    ring, shape = prism(corners)
    sides = 0.5 * (ring + np.roll(ring, 1, axis=0))
    for load in 0.9 * np.vstack([ring, sides]):
        # what it moves is what half a step of weight does before the first contact: nothing, but for rounding
        way, spin = stands(shape, load, 0.1)
        assert way < 1e-9 and spin < 1e-9


@pytest.mark.parametrize("corners", [5, 9])
def test_a_prism_falls_when_its_weight_is_beside_its_base(corners):
    """A tenth beyond the middle of each side."""
    ring, shape = prism(corners)
    for load in 0.55 * (ring + np.roll(ring, 1, axis=0)):
        assert stands(shape, load, 0.1)[0] > 0.02


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("turn", [0.0, 10.0, 22.5, 77.0])
def test_a_cylinder_stands_with_its_weight_just_within_its_rim(turn, method):
    """At 0.99 of the radius, in any direction: eight points of the rim reach as far as cos 22.5° = 0.92 of it between
    two of them, and so one of them lies below the weight. It fell, and with event_driven through the floor."""
    angle = np.radians(turn)
    load = 0.099 * np.array([np.cos(angle), np.sin(angle)])
    way, spin = stands({"type": "cylinder", "radius": 0.1, "height": 0.2}, load, 0.2, method)
    assert way < 1e-9 and spin < 1e-9
