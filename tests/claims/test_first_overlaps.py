"""Bodies that overlap when the event-driven method begins: which it holds, and that it says so of the others."""

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.language import spoken
from contactlab.physics.methods.event_driven.workspace import OVERLAP

RADIUS, G, TAKES_UP = 0.1, 9.81, OVERLAP * 0.1  # [m], [m/s2], [m]


def ball_in_ball(depth: float, others: int = 0) -> Scene:
    """A ball that overlaps a fixed one below it by `depth` [m]; and so many pairs like them beside it."""
    names = [("lower", "upper"), *((f"lower {i}", f"upper {i}") for i in range(others))]
    bodies = [{"name": name, "fixed": not k, "position": [i, 0.0, k * (2.0 * RADIUS - depth)], "density": 1000.0,
               "shape": [{"type": "sphere", "radius": RADIUS}]} for i, pair in enumerate(names)
              for k, name in enumerate(pair)]
    return Scene.from_dict({"scene": {"title": "two balls", "gravity": [0.0, 0.0, -G]}, "body": bodies})


def height(simulation: Simulation) -> float:
    return float(simulation.state.bodies.x[1, 2])


def test_what_overlaps_a_little_is_held_and_nothing_is_said():
    """The ball stays on top of the other one. That is an unstable place: what rounding moves it aside grows with
    √(5 g/(7 · 2 r)) = 5.9/s, in 0.1 s not to twice. Its overlap is at first taken out."""
    run = Simulation(ball_in_ball(0.9 * TAKES_UP), method="event_driven")
    assert run.labels.notes == ()
    run.run(0.1)
    assert height(run) == pytest.approx(2.0 * RADIUS, abs=1e-8)


def test_what_overlaps_by_more_falls_through_as_if_nothing_were_there_and_the_scene_says_so():
    """z₀ - g t²/2, down into the other ball: rk4 is exact for a parabola. A step rounds some two dozen times, numbers
    below 1 m."""
    depth = 1.1 * TAKES_UP
    run = Simulation(ball_in_ball(depth), method="event_driven")
    (note,) = run.labels.notes
    assert note.startswith("lower and upper overlap by 0.11 mm. ") and "0.1 mm at most" in note and "apart" in note
    first = height(run)
    run.run(0.2)
    assert first - height(run) == pytest.approx(0.5 * G * run.time**2, abs=24 * 2.0**-52 * run.step_count)


def test_the_note_comes_and_goes_with_the_method_and_speaks_the_language_that_is_shown():
    run = Simulation(ball_in_ball(0.01))
    assert run.labels.notes == ()
    run.set(method="event_driven")
    labels = run.labels
    assert len(labels.notes) == 1 and "10 mm" in labels.notes[0]
    run.set(friction=0.3)
    assert run.labels is labels  # what was looked up of this scene stays
    run.set(method="compliant")
    assert run.labels.notes == ()
    with spoken("zh_CN"):
        run.set(method="event_driven")
    assert "重叠 10 mm" in run.labels.notes[0] and "overlap" not in run.labels.notes[0]


def test_of_many_pairs_the_deepest_are_named_and_the_others_counted():
    note = " ".join(Simulation(ball_in_ball(0.01, others=5), method="event_driven").labels.notes)
    assert note.count("overlap by 10 mm") == 3 and "… and 3 more pairs overlap. " in note


@pytest.mark.parametrize("method", ["time_stepping", "compliant"])
def test_the_other_methods_part_what_overlaps_and_say_nothing(method):
    run = Simulation(ball_in_ball(0.01), method=method)
    first = height(run)
    run.run(0.1)
    assert run.labels.notes == () and height(run) > first and np.isfinite(run.state.bodies.x).all()
