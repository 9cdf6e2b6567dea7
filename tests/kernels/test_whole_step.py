"""A step of free bodies in one call, beside the same step made stage by stage."""

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation


def by_stages(simulation):
    """The simulation, with every step of it made stage by stage."""
    simulation._method._free = False
    return simulation


def bits(simulation):
    state, contacts = simulation.state, simulation.contacts
    count = int(state.memory.count[0])
    return [a.tobytes() for a in (
        state.t, *state.bodies, state.ledger, state.tally, *(column[:count] for column in state.memory[1:7]), *contacts,
        simulation.loads.grab_force)]


STEPS = 150  # boxes have fallen, hit and come to rest; balls are still in the air


@pytest.mark.parametrize("name", ["dice", "tower", "incline", "bouncing_balls", "shaken_block", "tables", "meshes"])
def test_a_step_in_one_call_is_the_step_by_stages_to_the_bit(name):
    """State, ledger, memory, contacts, events and information, of bodies that fly, hit, rest or are driven."""
    scene = Scene.load(gallery()[name])
    whole, staged = Simulation(scene, method="time_stepping"), by_stages(Simulation(scene, method="time_stepping"))
    made = 0
    for _ in range(STEPS):
        whole.step()
        staged.step()
        made += whole._method._at_once
        assert bits(whole) == bits(staged)
        assert whole.last_events == staged.last_events
        assert whole.info == staged.info
    assert made > STEPS // 2


@pytest.mark.parametrize("turn", [False, True])
def test_the_mouse_pulls_in_one_call_as_it_does_by_stages(turn):
    scene = Scene.load(gallery()["dice"])
    both = Simulation(scene, method="time_stepping"), by_stages(Simulation(scene, method="time_stepping"))
    body = next(i for i, mass in enumerate(both[0].model.mass) if mass > 0.0)
    for simulation in both:
        simulation.step()
        x = simulation.state.bodies.x[body]
        simulation.grab(body, x + np.full(3, 0.01), x + np.array([0.1, 0.2, 0.3]), turn)
    for _ in range(20):
        for simulation in both:
            simulation.step()
        assert bits(both[0]) == bits(both[1])
        assert both[0].loads.grab_force.any()
