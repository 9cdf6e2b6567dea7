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


A, B, SPEED = 0.6, 0.35, 0.5  # half the distances of the feet [m], speed of the load [m/s]


def loaded_table(y, feet, method="event_driven"):
    """A smooth table of 30 kg on four feet, or on four legs of four corners each; 20 kg slide along x over it at y."""
    legs = []
    for x, z in ((A, B), (-A, B), (-A, -B), (A, -B)):
        legs.append({"type": "sphere", "radius": 0.02, "position": [x, z, -0.58]} if feet == "points" else
                    {"type": "box", "size": [0.05, 0.05, 0.6], "position": [x, z, -0.3]})
    table = {"name": "table", "position": [0, 0, 0.6], "mass": 30.0, "inertia": [2.0, 4.0, 6.0],
             "shape": [{"type": "box", "size": [1.4, 0.8, 0.04], "position": [0, 0, 0.02]}, *legs]}
    return simulate(ground(), table, ball("load", (-0.5, y, 0.74), velocity=(SPEED, 0, 0), mass=20.0), mu=0.0,
                    method=method)


@pytest.mark.parametrize("feet", ["points", "corners"])
@pytest.mark.parametrize("y", [0.14, -0.2, 0.05])
def test_the_active_set_changes_alone_where_a_foot_would_have_to_pull(y, feet):
    """Table 11.1, step 5: three feet carry, and where the centre of pressure, at 20/50 of the load's place, comes to
    the line between two of them, the third lets go and the fourth begins: at |x| = |y| A/B. Four feet rest all the time
    and nothing moves. Three corners of legs are any of sixteen: how often they change depends on them."""
    sim = loaded_table(y, feet)
    sim.run(0.01)
    count, start = sim.event_count, sim.position("table")
    ring = sim.contacts.current.sum()
    while sim.time < 2.0:
        sim.step()
        lam, point, load = sim.contacts.lam[:-1], sim.contacts.point[:-1], sim.position("load")
        assert sim.contacts.current.sum() == ring and sim.contacts.active.sum() <= 4
        assert lam.min() >= -1e-9 and lam.sum() == pytest.approx(50.0 * 9.81, rel=1e-9)
        np.testing.assert_allclose(lam @ point[:, :2], 20.0 * 9.81 * load[:2], rtol=0, atol=1e-7 * 50.0 * 9.81)
    changes = sim.latest_events(sim.event_count - count)
    assert {event.kind for event in changes} == {"active_set"}
    assert np.abs(sim.position("table") - start).max() < 1e-9
    if feet == "points":
        (change,) = changes
        crossing = [(0.5 + side * abs(y) * A / B) / SPEED for side in (-1.0, 1.0)]
        assert min(abs(change.t - t) for t in crossing) < 1e-9 and sim.info.solves == 2
        assert change.reason.what == "force" and change.reason.value < 0.0
