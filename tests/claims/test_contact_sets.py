"""The current and the active set mean one thing in every method."""

import numpy as np
import pytest
from contact_scenes import ball, block, ground, simulate

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

NOTHING = 1e-9  # of the largest force: no force


def holds(contacts):
    """Active contacts are current; those of the current set that carry are active; what is apart is in no set."""
    lam, current, active = contacts.lam, contacts.current == 1, contacts.active == 1
    assert not (active & ~current).any()
    assert not (current & ~active & (lam > NOTHING * lam.max(initial=0.0))).any()
    assert not (current & (contacts.case == 1)).any()


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
def test_what_carries_in_the_current_set_is_active_while_things_bounce_and_come_to_rest(method):
    """A block lands on four corners and shares its load among them; a ball bounces beside it."""
    sim = simulate(ground(), block("a", (0, 0, 0.4), angular_velocity=(0.4, 0.2, 0)), ball("b", (2, 0, 0.6)), e=0.4,
                   mu=0.5, method=method)
    rested = 0
    for _ in range(360):
        sim.step()
        holds(sim.contacts)
        rested += int(sim.contacts.active.sum() == 5)
    assert rested > 30


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
@pytest.mark.parametrize(("key", "t"), [("soft_chatter", 0.8), ("rocking_block", 2.5)])
def test_no_ring_without_a_disc_carries_a_load(key, t, method):
    """Corners that share a load beside the basis were shown as current only, with 9.81 N."""
    sim = Simulation(Scene.load(gallery()[key]), method=method)
    shared = False
    while sim.time < t:
        sim.step()
        holds(sim.contacts)
        shared |= int(sim.contacts.active.sum()) == 4
    assert shared


def test_without_friction_the_active_set_is_a_basis():
    """A block on four corners: three of them carry, as many as the rank of the normals [RBDA §11.5]."""
    sim = simulate(ground(), block("a", (0, 0, 0.25)), mu=0.0, method="event_driven")
    sim.run(0.1)
    assert sim.contacts.current.tolist() == [1, 1, 1, 1] and sim.contacts.active.sum() == 3
    assert np.count_nonzero(sim.contacts.lam > 0.0) <= 3
