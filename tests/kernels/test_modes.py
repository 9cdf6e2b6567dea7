"""The graph of contact modes: against graphs derived by hand, and what going back makes of it."""

import math

import numpy as np
import pytest

from contactlab.app.mode_drawing import FILES, drawn, label_of, lines_of, told
from contactlab.assets import gallery
from contactlab.physics.core.report import Event
from contactlab.physics.look.modes import RESTS, SLIPS, STICKS, ModeChange, contact_names, mode_graph
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.messages import Set
from contactlab.physics.scene.scene import Scene

G = 9.81


def run_of(name, until, **settings):
    sides = Comparison(Scene.load(gallery()[name]), settings, 1000)
    while sides.time < until:
        sides.step()
    return sides


def graph_of(sides):
    line = sides.members[0].timeline()
    return mode_graph(line.modes, line.events, sides.time), contact_names(line.bars, sides.simulation.labels.bodies)


def edges_of(graph):
    """Ends of the edges, and how often each was gone."""
    return {(edge.start, edge.end): len(edge.passages) for edge in graph.edges}


def says(graph, names):
    return [lines_of(state, names) for state in graph.states]


def test_a_bouncing_ball_has_one_state_that_impacts_lead_back_to():
    """From 1 m: blows at √(2H/g) (1 + 2 (e + e² + …)) = 0.45, 1.17 and 1.75 s. It never rests in between."""
    graph, names = graph_of(run_of("slow_bounce", 2.0))
    assert says(graph, names) == [("nothing touches",)] and edges_of(graph) == {(0, 0): 3}
    t0 = math.sqrt(2.0 / G)
    times = [passage.t for passage in graph.edges[0].passages]
    np.testing.assert_allclose(times, [t0, t0 * 2.6, t0 * (2.6 + 2.0 * 0.64)], atol=1e-9)


def test_a_ball_that_is_thrown_slips_until_it_rolls():
    """Slip ends at 2 v/(7 μ g), when it rolls with 5/7 of its speed; the set is noted at the end of that step."""
    sides = run_of("rolling_ball", 3.0)
    graph, names = graph_of(sides)
    assert [mode for state in graph.states for _, mode in state.modes] == [SLIPS, STICKS]
    assert edges_of(graph) == {(0, 1): 1} and label_of(graph.edges[0], graph) == "sticks"
    assert says(graph, names)[0][0].endswith("slips")


def test_two_balls_on_a_dome_leave_it_one_after_the_other():
    """By hand: the sliding one leaves first, at 48°; the rolling one slips just before it leaves; each comes down."""
    graph, names = graph_of(run_of("dome", 2.0))
    assert says(graph, names) == [
        ("barrel → sliding rests", "barrel → rolling sticks"), ("barrel → rolling sticks",),
        ("barrel → rolling slips",), ("nothing touches",), ("floor → sliding rests",),
        ("floor → sliding rests", "floor → rolling sticks")]
    assert edges_of(graph) == {(k, k + 1): 1 for k in range(5)} and graph.now == 5
    assert [label_of(edge, graph) for edge in graph.edges] == [
        "dynamic loss", "slip", "dynamic loss", "impact", "impact"]
    assert sum(state.lasted for state in graph.states) == pytest.approx(2.0, abs=0.01)


def test_a_block_on_a_belt_goes_round_between_stick_and_slip():
    """It sticks until the spring exceeds static friction, slips until it has the speed of the belt, and so on: two
    states and a cycle. All four corners do the same."""
    graph, _names = graph_of(run_of("stick_slip", 6.0))
    modes = [{mode for _, mode in state.modes} for state in graph.states]
    assert sorted(map(tuple, modes)) == [(SLIPS,), (STICKS,)]
    count = edges_of(graph)
    assert count.keys() == {(0, 1), (1, 0)} and abs(count[0, 1] - count[1, 0]) <= 1 and count[0, 1] >= 3


def test_ladders_without_friction_lose_the_wall():
    """Each leaves the wall when it has sunk to two thirds of its height, the flattest first; then its upper end falls
    on the floor."""
    graph, _names = graph_of(run_of("ladder", 0.6))
    sizes = [len(state.modes) for state in graph.states]
    assert sizes == [6, 5, 4, 5] and {mode for state in graph.states for _, mode in state.modes} == {RESTS}
    assert [label_of(edge, graph) for edge in graph.edges] == ["dynamic loss", "dynamic loss", "impact"]
    assert [edge.passages[0].events[0].reason.what for edge in graph.edges] == ["force", "force", "closes"]


def test_going_back_takes_what_came_later_out_of_the_graph():
    sides = run_of("dome", 1.0)
    before = graph_of(sides)[0]
    sides.seek(100)
    assert len(graph_of(sides)[0].states) == 1  # the present is early; what lies ahead is kept until it changes
    assert len(sides.members[0].timeline().modes) == len(before.states)
    sides.apply(Set("gravity", (0.0, 0.0, 0.0)))
    sides.step()
    assert len(sides.members[0].timeline().modes) <= 2


def event(kind, step, t):
    return Event(kind, step, t, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 0.0)


def test_events_of_a_step_with_a_change_are_its_reasons_and_others_lead_back():
    changes = [ModeChange(0.0, 1, ()), ModeChange(0.2, 5, ((7.0, SLIPS),)), ModeChange(0.3, 8, ())]
    events = [event("impact", 3, 0.1), event("impact", 5, 0.19), event("gain", 5, 0.2), event("dynamic_loss", 8, 0.3),
              event("impact", 9, 0.35), event("impact", 20, 0.9)]
    graph = mode_graph(changes, events, 0.5)
    assert edges_of(graph) == {(0, 0): 2, (0, 1): 1, (1, 0): 1}
    assert label_of(graph.edges[1], graph) == "impact + gain" and graph.now == 0
    assert graph.states[0].lasted == pytest.approx(0.4) and graph.states[1].lasted == pytest.approx(0.1)


def test_the_drawing_and_both_files_hold_every_state_and_edge():
    sides = run_of("dome", 2.0)
    graph, names = graph_of(sides)
    bodies = sides.simulation.labels.bodies
    made = drawn(graph, names, lambda text: 0.5 * len(text))
    assert len(made.boxes) == len(graph.states) and len(made.arrows) == len(graph.edges)
    for k, a in enumerate(made.boxes):
        assert a.x - 0.5 * a.width >= 0.0 and a.x + 0.5 * a.width <= made.width and a.y + 0.5 * a.height <= made.height
        for b in made.boxes[:k]:  # no two overlap
            assert abs(a.x - b.x) >= 0.5 * (a.width + b.width) or abs(a.y - b.y) >= 0.5 * (a.height + b.height)
    svg, dot = (encode(graph, names, bodies, 'A "dome" & more').decode() for encode, _ in FILES.values())
    for text in (svg, dot):
        assert all(name in text for name in names.values()) and "λ would become" in text
    assert dot.count("->") == len(graph.edges) and svg.count("<path d=\"M") == len(graph.edges) + 1
    assert 'A \\"dome\\" & more' in dot and "A &quot;dome&quot; &amp; more" in svg
    assert told(graph.edges[1], bodies)[0].startswith("0.973524 s slip barrel → rolling: |f_t| reaches μλ = ")


def test_no_label_lies_on_a_box_or_on_another_label():
    """Two blocks that rock: six states, boxes side by side, a way back over two boxes, a loop."""
    graph, names = graph_of(run_of("rocking_block", 1.5))
    made = drawn(graph, names, lambda text: 0.5 * len(text))
    labels = [(*arrow.at, 0.5 * len(arrow.label), 1.0) for arrow in made.arrows]
    assert len(made.boxes) >= 6 and any(edge.start == edge.end for edge in graph.edges)
    areas = [(box.x, box.y, box.width, box.height) for box in made.boxes] + labels
    for x, y, width, height in labels:
        assert 0.5 * width <= x <= made.width - 0.5 * width and 0.5 * height <= y <= made.height - 0.5 * height
        others = [area for area in areas if area != (x, y, width, height)]
        assert all(abs(x - u) >= 0.5 * (width + w) or abs(y - v) >= 0.5 * (height + h) for u, v, w, h in others)
