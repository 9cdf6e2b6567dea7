"""Claims about steps that `time_stepping` solves with the help of what it knows: impulses of limits and contacts of the
last step, gaps that are none, and a Newton's method that begins again nearer to them where it goes astray.
"""

import numpy as np
import pytest
from contact_scenes import G, block, ground, simulate
from joint_scenes import hinge, rod, scene

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

H = 1 / 240


# ------------------------------------------------------------------------------------------------ limits and motors
def on_its_stop(coordinates, **more):
    """A rod of 1 m and 2 kg that a limit of its hinge carries, level."""
    return Simulation(Scene.from_dict(scene([rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0)], [
        hinge("world", "rod", (0, 0, 0), limits=[0.0, 90.0]) | {"coordinates": coordinates} | more], h=H)),
        method="time_stepping")


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_limit_that_carries_keeps_its_impulse(coordinates):
    """It solves the next step too, and is left as it is: no step of Newton's method. What is left of the rod's speed at
    its end is at most 1e-12 of what gravity would give it in a step, 3/2 g h."""
    sim = on_its_stop(coordinates)
    for _ in range(5):
        sim.step()
    for _ in range(20):
        sim.step()
        assert sim.info.iterations == 0 and sim.info.status == "solved"
        assert sim.info.residual <= 1e-12 * 1.5 * G * H


def test_impulses_of_limits_are_part_of_the_state():
    """A run that goes on from a saved state does the same, to the bit."""
    sim = on_its_stop("generalized")
    for _ in range(5):
        sim.step()
    saved, seen = sim.save(), []
    for _ in range(2):
        sim.restore(saved)
        sim.apply_force("rod", (0.0, 0.3, 0.7), (1.0, 0.0, 0.0))
        sim.step()
        seen.append((sim.info.iterations, sim.state.bodies.P.copy()))
    assert seen[0][0] == seen[1][0] and (seen[0][1] == seen[1][1]).all()


# ------------------------------------------------------------------------------------------------------------- gaps
@pytest.mark.parametrize("axis", [(1.0, 0.0), (0.6, 0.8)])
def test_gaps_below_a_nanometre_do_not_choose_the_corners_that_carry(axis):
    """A box that stands askew by 1e-9 rad, its lowest corner on the floor: the others are up to 0.35 nm or 0.49 nm
    above it. All four carry alike, as they would without these gaps; φ/h would be 1e-7 m/s beside g h = 0.04 m/s, and
    one corner or two would carry."""
    size, tilt = 0.35, 1e-9
    turn = (1.0, 0.5 * tilt * axis[0], 0.5 * tilt * axis[1], 0.0)
    lift = 0.5 * size * tilt * (abs(axis[0]) + abs(axis[1]))
    sim = simulate(ground(), block("box", (0, 0, 0.5 * size + lift), (size,) * 3, 8.0, orientation=turn), mu=0.5)
    sim.step()
    lam = sim.contacts.lam[: sim.contacts.count[0]]
    assert lam == pytest.approx(np.full(4, 2.0 * G), rel=1e-6)


# ------------------------------------------------------------------------------------------------ figures that fall
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_the_humanoid_comes_to_rest_and_every_step_from_then_on_is_solved(coordinates):
    """Feet, hands and elbows carry it on more contacts than needed, beside limits of its joints."""
    sim = Simulation(Scene.load(gallery()["humanoid"]).with_coordinates(coordinates), method="time_stepping")
    for _ in range(round(3.0 / H)):
        sim.step()
    for _ in range(round(2.0 / H)):
        sim.step()
        assert sim.info.status == "solved"
    assert np.abs(sim.v).max() <= 1e-3
