"""Many contacts in event_driven: those that coincide are one, and a blow to a stack is followed to its end."""

import numpy as np

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.event_driven.instant import equations
from contactlab.physics.methods.event_driven.step import EventDriven

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


def test_contacts_without_a_common_body_do_not_act_on_each_other():
    """M is TᵀH⁻¹T to the rounding of twelve products, of bricks that a ball has turned, and exactly 0 for contacts
    that share no body."""
    simulation = Simulation(Scene.load(gallery()["tower"]), method="event_driven")
    simulation.run(0.3)
    method = simulation._method
    assert isinstance(method, EventDriven)
    here, pairs = method.work.here, method.work.set_pairs.copy()
    M, _, _ = equations(here, pairs)
    eq, rows = here.scratch.equations, 3 * len(pairs)
    assert rows > 100
    np.testing.assert_allclose(M, eq.HT[:rows] @ eq.T[:rows].T, rtol=0.0, atol=1e-14 * np.abs(M).max())
    ends = [{i for i in place if i >= 0} for place in eq.place[: len(pairs)].tolist()]
    apart = np.array([[not a & b for b in ends] for a in ends])
    assert apart.any() and not M[np.kron(apart, np.ones((3, 3), bool))].any()
