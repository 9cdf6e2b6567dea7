"""A step of `time_stepping` in one call: what Python does in its place, and that nothing depends on where it helps."""

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.time_stepping import step as stepping
from contactlab.physics.methods.time_stepping.work import OTHER_FLIGHT, OTHER_SOLVER, Workspace

#: bodies that fly, hit, rest or are driven; trees and joints in maximal coordinates, with limits and motors
SCENES = (
    ("dice", ""), ("tower", ""), ("incline", ""), ("bouncing_balls", ""), ("shaken_block", ""), ("meshes", ""),
    ("humanoid", "generalized"), ("ragdoll", "generalized"), ("ragdoll", "maximal"), ("linkages", ""), ("arms", ""),
)
STEPS = 100


def load(name, coordinates):
    scene = Scene.load(gallery()[name])
    return scene.with_coordinates(coordinates) if coordinates else scene


def helped(simulation):
    """The simulation, with Python solving and flying in every step, by the same solver and integrator."""
    method = simulation._method
    ask, order = method._ask, method._space.order

    def ask_otherwise(settings):
        ask(settings)
        order[OTHER_SOLVER] = order[OTHER_FLIGHT] = 1

    method._ask = ask_otherwise
    return simulation


def bits(simulation):
    state, contacts = simulation.state, simulation.contacts
    count = int(state.memory.count[0])
    return [a.tobytes() for a in (
        state.t, *state.bodies, *state.joints, state.ledger, *(column[:count] for column in state.memory[1:7]),
        *contacts, simulation.loads.grab_force)]


@pytest.mark.parametrize(("name", "coordinates"), SCENES)
def test_a_step_in_one_call_is_the_step_with_the_help_of_python_to_the_bit(name, coordinates):
    """State, ledger, memory, contacts, events and information."""
    scene = load(name, coordinates)
    alone, other = (Simulation(scene, method="time_stepping") for _ in range(2))
    helped(other)
    for _ in range(STEPS):
        alone.step()
        other.step()
        assert bits(alone) == bits(other)
        assert alone.last_events == other.last_events
        assert alone.info == other.info


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize(("name", "coordinates"), [("dice", ""), ("ragdoll", "generalized"), ("ragdoll", "maximal")])
def test_the_mouse_pulls_in_one_call_as_it_does_with_the_help_of_python(name, coordinates, turn):
    scene = load(name, coordinates)
    both = Simulation(scene, method="time_stepping"), helped(Simulation(scene, method="time_stepping"))
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


@pytest.mark.parametrize(("name", "coordinates"), [("tower", ""), ("humanoid", "generalized"), ("ragdoll", "maximal")])
def test_a_step_is_one_call_of_a_program(monkeypatch, name, coordinates):
    """With trees and joints as well; fewer than one step in ten needs a time of impact or room."""
    calls, advance = [], stepping.advance
    simulation = Simulation(load(name, coordinates), method="time_stepping")
    simulation.step()
    monkeypatch.setattr(stepping, "advance", lambda *given: calls.append(given[-1]) or advance(*given))
    for _ in range(STEPS):
        simulation.step()
    assert STEPS <= len(calls) < 1.1 * STEPS


@pytest.mark.parametrize(("name", "coordinates"), [("tower", ""), ("ragdoll", "maximal")])
def test_a_step_that_makes_room_within_it_is_the_same_step(monkeypatch, name, coordinates):
    """A method that begins with room for one contact and one block makes room in the middle of its first steps."""
    scene = load(name, coordinates)
    roomy = Simulation(scene, method="time_stepping")
    monkeypatch.setattr(Workspace, "ROOM", 1)
    narrow, made = Simulation(scene, method="time_stepping"), []
    make_room = narrow._method._space.make_room
    monkeypatch.setattr(narrow._method._space, "make_room", lambda memory: made.append(1) or make_room(memory))
    for _ in range(STEPS):
        roomy.step()
        narrow.step()
        assert bits(roomy) == bits(narrow)
    assert made
