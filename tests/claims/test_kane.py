"""Kane's double pendulum: friction turns the slip of its tip around, and Newton's law of impact gives energy."""

import numpy as np
import pytest
from contact_scenes import ground

from contactlab.physics import Scene, Simulation
from contactlab.physics.books.ledger import Account


def pendulum(coordinates, method, law="newton"):
    """Two rods of mass and length 1, hinged to each other and to the world, strike the floor with the lower end; no
    gravity, e = μ = 0.5 [Kane 1984]."""
    angles = np.radians([20.0, 30.0])
    along = [np.array([np.sin(a), 0.0, -np.cos(a)]) for a in angles]
    top = np.array([0.0, 0.0, 0.011 + np.cos(angles).sum()])
    rods, joints, at = [], [], top
    for i, (a, way, rate) in enumerate(zip(angles, along, (0.6, 1.0), strict=True)):
        joints.append({"type": "hinge", "parent": "rod 0" if i else "world", "child": f"rod {i}", "anchor": at.tolist(),
                       "axis": [0.0, 1.0, 0.0], "coordinates": coordinates, "velocity": rate})
        rods.append({"name": f"rod {i}", "mass": 1.0, "inertia": [1e-4, 1 / 12, 1 / 12],
                     "position": (at + 0.5 * way).tolist(), "euler": [0.0, float(90.0 - np.degrees(a)), 0.0],
                     "shape": [{"type": "sphere", "radius": 0.01, "position": [0.5, 0.0, 0.0]}]})
        at = at + way
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [0, 0, 0]}, "solver": {"h": 1 / 2000, "method": method, "impact_law": law},
        "material": {"default": {"restitution": 0.5, "friction": 0.5}}, "body": [ground(), *rods], "joint": joints}))


def struck(sim):
    """Run until some steps after the impact; the energy that it gave."""
    before = sim.energy().total
    for _ in range(6):
        sim.step()
    assert [event.kind for event in sim.events] == ["impact"]
    return sim.energy().total - before


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
def test_what_newtons_law_gives_is_given_and_booked_alike_in_all_coordinates(coordinates, method):
    """The law to the letter, its gain in event and ledger under impacts, nothing under drift. time_stepping strikes in
    the middle of a step of 0.5 ms, in which the tip goes on by 1 mm of 1 m, at first order: to 1 % of the gain."""
    exact = struck(pendulum("generalized", "event_driven"))
    sim = pendulum(coordinates, method)
    gained = struck(sim)
    assert exact > 1.0
    assert gained == pytest.approx(exact, rel=1e-9 if method == "event_driven" else 1e-2)
    assert sim.state.ledger[Account.IMPACTS, 0] == pytest.approx(gained, rel=1e-5)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) <= 1e-5 * gained
    event = sim.events[0]
    assert event.energy_after - event.energy_before == pytest.approx(gained, rel=1e-3)


@pytest.mark.parametrize("law", ["poisson", "stronge", "coulomb"])
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_other_laws_give_nothing(law, coordinates):
    """Rounding of 1 J."""
    assert struck(pendulum(coordinates, "event_driven", law)) <= 1e-12
