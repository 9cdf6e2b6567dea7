"""An instant of a run as a scene of its own."""

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.instant import begin_at
from contactlab.physics.scene.refusals import SceneError
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

PEGS = """
[[body]]
name = "peg"
fixed = true
euler = [90.0, 0.0, 0.0]
shape = [{type = "cylinder", radius = 0.05, height = 0.4}]
[[body]]
name = "ball"
position = [0.02, 0.0, 0.4]
euler = [10.0, 0.0, 0.0]
shape = [{type = "sphere", radius = 0.1}, {type = "box", size = [0.1, 0.2, 0.3], position = [0.0, 0.0, 0.1]}]
[[array]]
body = "peg"
count = [3, 1, 2]
spacing = [0.5, 0.0, 0.5]
jitter = 0.02
seed = 3
[[array]]
body = "ball"
count = [2, 1, 1]
spacing = [0.5, 0.0, 0.0]
tumble = true
"""


@pytest.mark.parametrize("key", ["dice", "tower", "rolling_ball", "pegs"])
def test_a_scene_that_begins_at_an_instant_has_its_positions_velocities_and_energy(key):
    """Positions and velocities of the origin of the file lead back to those of the centre of mass: a few roundings of
    numbers up to 10 m and 10 m/s. Energy is quadratic in them."""
    text = PEGS if key == "pegs" else gallery()[key].read_text("utf-8")
    scene, document = Scene.from_text(text, None), Document(text)
    sim = Simulation(scene)
    sim.run(until=0.4)
    now = sim.state.bodies
    begin_at(document, scene.tables, sim.labels, (now.x, now.q, now.v, now.w))
    again = Simulation(Scene.from_text(document.text, None))
    first = again.state.bodies
    order = [again.labels.bodies.index(name) for name in sim.labels.bodies]  # copies of arrays stand at the end
    assert len(order) == len(again.labels.bodies)
    for name in ("x", "v", "w"):
        there, here = getattr(first, name)[order], getattr(now, name)
        assert np.abs(there - here).max() <= 64 * np.finfo(float).eps * max(np.abs(here).max(), 10.0)
    assert np.abs(np.abs((first.q[order] * now.q).sum(axis=1)) - 1.0).max() < 1e-14
    before, after = sim.energy(), again.energy()
    scale = abs(before.kinetic) + abs(before.potential)
    assert abs(before.total - after.total) <= 1e-12 * scale


@pytest.mark.parametrize("key, word", [("double_pendulum", "joints"), ("shaken_block", "prescribed motion")])
def test_what_is_more_than_positions_and_velocities_is_refused_in_words(key, word):
    scene = Scene.load(gallery()[key])
    sim = Simulation(scene)
    now = sim.state.bodies
    with pytest.raises(SceneError, match=word):
        begin_at(Document(gallery()[key].read_text("utf-8")), scene.tables, sim.labels, (now.x, now.q, now.v, now.w))
