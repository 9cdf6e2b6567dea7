"""A saved state is all that a run needs to go on: by another object, in any method, with joints in any coordinates."""

import pytest

from contactlab.assets import scene_path
from contactlab.physics import Scene, Simulation
from contactlab.physics.methods import METHODS
from contactlab.physics.simulation.history import hash_of_state

#: what a step may remember: contacts that last, sets, surfaces that stick and slide, motors, limits, screws, meshes
SCENES = ("bouncing_balls", "dice", "tower", "stick_slip", "soft_chatter", "super_ball", "rolling_cone", "meshes")
JOINTED = ("walking_toy", "linkages", "screws", "humanoid")
BEFORE, AFTER = 20, 20  # steps; 84 and 100 of the humanoid and 25 and 25 of the whole gallery were tried by hand


def in_coordinates(key, coordinates):
    scene = Scene.load(scene_path(key))
    return scene.with_coordinates(coordinates) if coordinates else scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("key", "coordinates"), [
    *((key, "") for key in SCENES), *((key, c) for key in JOINTED for c in ("generalized", "maximal"))])
def test_what_a_restored_simulation_does_next_has_the_same_bits(key, coordinates, method):
    """The states after each step are the same to the last bit, all that is remembered of contacts included."""
    scene = in_coordinates(key, coordinates)
    first = Simulation(scene, method)
    for _ in range(BEFORE):
        first.step()
    second = Simulation(scene)
    second.restore(first.save())
    for _ in range(AFTER):
        first.step()
        second.step()
        assert hash_of_state(second.state) == hash_of_state(first.state)


def test_a_figure_restored_while_its_events_crowd_goes_on_with_the_same_bits():
    """The humanoid's limbs fall on one another: some steps of these 40 find their rest at once."""
    scene = Scene.load(scene_path("humanoid"))
    first, second = Simulation(scene, "event_driven"), Simulation(scene, "event_driven")
    first.run(0.85)
    told = first.event_count
    for _ in range(40):
        second.restore(first.save())
        first.step()
        second.step()
        assert hash_of_state(second.state) == hash_of_state(first.state)
    assert any(event.kind == "crowd" for event in first.events[told - first.event_count :])
