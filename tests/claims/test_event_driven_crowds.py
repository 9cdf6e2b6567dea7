"""Many contacts in event_driven: those that coincide are one, and a blow to a stack is followed to its end."""

import numpy as np

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

WEIGHT = 600.0 * 0.2 * 0.2 * 0.1 * 9.81  # of a block of the tower [N]


def test_contacts_that_coincide_are_one():
    """A corner of a block on that of the block below touches it as a vertex on a face, twice, and as two edges that
    cross, twice. Of the four, one is a contact, and each corner of the tower carries a quarter of what is above it."""
    simulation = Simulation(Scene.load(gallery()["tower"]), method="event_driven")
    simulation.step()
    contacts = simulation.contacts
    count = int(contacts.count[0])
    points = np.round(np.column_stack([contacts.point[:count], contacts.body_a[:count], contacts.body_b[:count]]), 7)
    assert len(np.unique(points, axis=0)) == count == 10 * 4 + 5 * 4 + 20 * 4
    tower = contacts.point[:count, 0] < 0.0
    height = np.rint(contacts.point[:count, 2][tower] / 0.1)
    np.testing.assert_allclose(contacts.lam[:count][tower], 0.25 * WEIGHT * (10.0 - height), rtol=1e-9)


def test_a_blow_to_a_stack_is_followed():
    """A ball strikes the pyramid at 0.27 s: a hundred contacts collide, slip and open at once. Each step says that its
    forces obey the laws, nothing sinks in, and impacts and friction only take energy."""
    simulation = Simulation(Scene.load(gallery()["tower"]), method="event_driven")
    simulation.run(0.2705)
    for _ in range(2):
        simulation.step()
        assert simulation.info.status == "solved"
        assert simulation.info.residual <= 1e-9
        assert simulation.info.penetration <= 1e-8
    assert simulation.ledger["Impacts"][0] < -1.0 and simulation.ledger["Friction"][0] < -1.0
