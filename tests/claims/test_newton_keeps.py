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


# -------------------------------------------------------------------------------------------------- stacks at rest
def steps_of_newton(sim, steps):
    """Steps of Newton's method in each of so many steps, all of which are solved."""
    seen = []
    for _ in range(steps):
        sim.step()
        assert sim.info.status == "solved"
        seen.append(sim.info.iterations)
    return np.array(seen)


def test_stacks_at_rest_are_left_as_they_are():
    """The gallery's tower and pyramid until the ball comes. Forces that stay as they are let a stack turn over: of ten
    blocks of mass m, height a and width 2 a the lowest bears 9.5 m g in its middle, and turns at the rate
    √(9.5 m g a/I), 47/s with I = 5/12 m a². So a wrong velocity grows by exp(47/240) = 1.22 in a step up to the 1e-12
    that is left as it is. It is stopped by half, and grows to that again in ln 2/ln 1.22 = 3.5 steps or more: of two
    stacks one is stopped in at most 4 of 7 steps, by one step of Newton's method, or two or three where contacts are at
    the edge of the cone. A velocity stopped at once would come back the other way: every other step would be solved,
    from zero in eight."""
    sim = Simulation(Scene.load(gallery()["tower"]), method="time_stepping")
    sim.step()
    seen = steps_of_newton(sim, 60)
    assert seen.max() <= 3 and seen.mean() <= 1.0


def test_bricks_that_have_fallen_rest_although_some_of_their_corners_carry_nothing():
    """Eleven islands; which of them is stopped in a step, see above, is chance, so there is one in most steps. A closed
    contact that was known and carried nothing is no reason to look for the least forces anew."""
    sim = Simulation(Scene.load(gallery()["tower"]), method="time_stepping")
    for _ in range(round(2.5 / H)):
        sim.step()
    assert np.abs(sim.state.bodies.v[:-1]).max() <= 1e-9  # all but the ball
    seen = steps_of_newton(sim, 60)
    assert seen.max() <= 3 and seen.mean() <= 2.0


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
