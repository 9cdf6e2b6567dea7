"""The acceleration of one contact over the force on it is piecewise linear [RBDA §11.1]: corners and slopes in
closed form, every point against another solver, and the corner as the pull that lifts a box in a simulation."""

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.physics import SOLVERS, ContactProblem, Scene, Simulation
from contactlab.physics.look.acceleration_graph import acceleration_graph
from contactlab.physics.look.inspection import Inspect, look

G = 9.81
ROUNDING = 1e-9  # relative: a matrix of rank 6 at most with entries of order 1 is solved to 1e-12 or better


def feet(places, m, inertia):
    """A rigid plate on points at places (k, 2): M and d of its normal contacts."""
    N = np.array([[1.0, y, -x] for x, y in places])
    inverse = np.diag([1.0 / m, 1.0 / inertia, 1.0 / inertia])
    return ContactProblem.frictionless(N @ inverse @ N.T, N @ inverse @ np.array([-m * G, 0.0, 0.0]))


def test_one_contact_alone_is_eq_11_10():
    graph = acceleration_graph(ContactProblem.frictionless([[0.5]], [-G]), 0)
    # ζ̇ = max(0, M f), f = d / M = -m g now
    assert graph.now == pytest.approx((-2.0 * G, 0.0)) and graph.parts_at == pytest.approx(0.0, abs=ROUNDING)
    np.testing.assert_allclose(graph.acceleration, np.maximum(0.0, 0.5 * graph.force), rtol=ROUNDING, atol=ROUNDING)
    assert len(graph.force) == 3


def test_a_leg_of_a_table_lifts_when_it_is_pulled_with_half_the_weight():
    """Four legs at the corners of a square carry m g / 2 along each diagonal, so a leg lifts when it is pulled by that
    much, whatever the solver says its own force is. Then the table turns about the opposite leg, at 2 r = 2√2 a:
    ζ̇ = (2r)² s / (I + m r²) with s what is beyond."""
    m, a, inertia = 2.0, 1.0, 1.0
    graph = acceleration_graph(feet([(a, a), (a, -a), (-a, -a), (-a, a)], m, inertia), 0)
    assert graph.parts_at - graph.now[0] == pytest.approx(m * G / 2.0, rel=ROUNDING)
    beyond = graph.force[-1] - graph.force[-2]
    assert graph.acceleration[-1] / beyond == pytest.approx(8.0 * a * a / (inertia + 2.0 * m * a * a), rel=ROUNDING)
    assert graph.others == 3 and graph.slope == pytest.approx(1.0 / m + 2.0 * a * a / inertia)


def test_the_slope_changes_where_another_contact_lets_go():
    """A dumbbell on two props nearer to its middle than its masses, I > m a². Pulled at one prop by s beyond m g / 2 it
    turns about the other, ζ̇ = (2a)² s / (I + m a²), while that one carries m g / 2 - s (I - m a²) / (I + m a²). Where
    this vanishes the dumbbell flies: from there on the slope is that of the contact alone, 1/m + a²/I."""
    m, a, inertia = 2.0, 1.0, 8.0
    graph = acceleration_graph(feet([(a, 0.0), (-a, 0.0)], m, inertia), 0)
    about_end = inertia + m * a * a
    slopes = np.diff(graph.acceleration) / np.diff(graph.force)
    np.testing.assert_allclose(slopes, [0.0, (2.0 * a) ** 2 / about_end, 1.0 / m + a * a / inertia], rtol=1e-7,
                               atol=1e-9)
    assert graph.parts_at - graph.now[0] == pytest.approx(m * G / 2.0, rel=1e-7)
    fly = graph.force[2] - graph.force[1]
    assert fly == pytest.approx(0.5 * m * G * about_end / (inertia - m * a * a), rel=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 14), st.integers(1, 6), st.integers(0, 2**31))
def test_every_point_of_it_is_what_lemke_finds(count, rank, seed):
    rng = np.random.default_rng(seed)
    N = rng.normal(size=(count, rank))
    N[:, 0] = 1.0 + abs(N[:, 0])  # all normals have a common side, so that every force has an answer
    M, d = N @ N.T, N @ rng.normal(size=rank)
    graph = acceleration_graph(ContactProblem.frictionless(M, d), 0)
    scale = max(np.abs(d).max(), graph.acceleration.max(), M.max() * np.ptp(graph.force))
    assert (np.diff(graph.force) > 0.0).all() and (np.diff(graph.acceleration) >= -ROUNDING * scale).all()
    for force in rng.uniform(graph.force[0], graph.force[-1], 12):
        changed, lam = d + M[:, 0] * (force - graph.now[0]), np.zeros(count)
        assert SOLVERS["lemke"](ContactProblem.frictionless(M, changed), lam).status == "solved"
        zeta_dot = M[0] @ lam + changed[0]
        assert np.interp(force, graph.force, graph.acceleration) == pytest.approx(zeta_dot, abs=1e-7 * scale)


def test_without_a_solution_there_is_no_graph():
    """Two opposite normals and a force that needs both to open: example 11.1."""
    problem = ContactProblem.frictionless([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    assert "no solution" in acceleration_graph(problem, 0)


BOX = """
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"

[[body]]
name = "thing"
mass = 2.0
position = [0.0, 0.0, 0.1]
[[body.shape]]
type = "SHAPE"
"""


def thing(shape, restitution=0.0, height=0.1):
    text = BOX.replace('type = "SHAPE"', shape).replace("0.0, 0.1]", f"0.0, {height}]")
    text += f"[material.default]\nrestitution = {restitution}\n"
    sim = Simulation(Scene.from_dict(tomllib.loads(text)), method="event_driven")
    sim.record_history()
    return sim


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_corner_of_a_box_lifts_beyond_the_force_of_the_graph(share):
    sim = thing('type = "box"\nsize = [0.4, 0.3, 0.2]')
    sim.run(until=0.1)
    law = look(sim, Inspect("law")).law
    i = int(np.flatnonzero(sim.contacts.key == law.key)[0])
    lift = law.graph.parts_at - law.graph.now[0]
    assert lift == pytest.approx(2.0 * G / 2.0, rel=1e-9)
    corner = sim.contacts.point[i].copy()
    for _ in range(20):
        sim.apply_force("thing", [0.0, 0.0, share * lift], corner)
        sim.step()
    tilt = abs(sim.orientation("thing")[1:]).max()
    assert tilt < 1e-9 if share < 1.0 else tilt > 1e-3


def test_a_contact_in_the_air_says_so():
    sim = thing('type = "sphere"\nradius = 0.1', 0.9, 0.3)
    sim.run(until=0.35)
    assert "does not rest" in look(sim, Inspect("law")).law.graph
