"""The orders that the study of orders measures are those that the methods have."""

import time

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.run import messages as m
from contactlab.physics.run.order_study import FACTORS, ROUNDING, order_of, points_of, ready, study
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.simulation.simulation import Simulation


def scene_of(key):
    return Scene.load(gallery()[key])


def measured(key, method, integrator, by_forms, until=1.0):
    scene = scene_of(key)
    points = [p for p in study(scene, scene.build().settings, [m.Variant(method, integrator)], until, by_forms,
                               time.thread_time) if p is not None]
    h = scene.build().settings.h
    assert [p.h for p in points] == [factor * h for factor in FACTORS]
    return points


@pytest.mark.parametrize(("key", "method", "integrator", "by_forms", "order"), [
    ("dome", "event_driven", "euler", True, 1), ("dome", "event_driven", "heun", True, 2),
    ("dome", "event_driven", "rk4", True, 4), ("dome", "time_stepping", "midpoint", True, 2),
    ("rolling_ball", "event_driven", "rk4", True, 4),
    ("t_handle", "time_stepping", "rk4", False, 4), ("t_handle", "time_stepping", "midpoint", False, 2),
    ("t_handle", "event_driven", "heun", False, 2),
])
def test_a_method_shows_the_order_that_it_has(key, method, integrator, by_forms, order):
    """Sliding off a dome, rolling, tumbling: smooth motions, and events that are found where they are. The next term of
    the error bends the line; an order is told from its neighbours if it is less than a half off."""
    assert abs(order_of(measured(key, method, integrator, by_forms)) - order) < 0.25


def test_an_integrator_that_controls_its_error_shows_no_order():
    points = measured("dome", "event_driven", "dopri5", True)
    assert 0.0 < max(p.error for p in points) < ROUNDING and np.isnan(order_of(points))


def test_the_order_is_the_slope_and_rounding_does_not_count():
    errors = [3.0 * h**3 for h in (0.4, 0.2, 0.1)]
    points = [m.OrderPoint(m.Variant("", ""), h, e, 1.0) for h, e in zip((0.4, 0.2, 0.1), errors, strict=True)]
    assert order_of(points) == pytest.approx(3.0, rel=1e-12)
    assert order_of([*points, points[0]._replace(h=0.05, error=0.1 * ROUNDING)]) == pytest.approx(3.0, rel=1e-12)
    assert np.isnan(order_of(points[:1])) and np.isnan(order_of([]))


def test_points_of_a_body_tell_of_its_turn_as_well():
    """A quarter turn moves the ends of two axes of length r by √2 r, and a ball's r is its radius √(2/5)."""
    sim = ready(scene_of("rolling_ball"), scene_of("rolling_ball").build().settings,
                m.Variant("event_driven", "rk4"), 0.01)
    ball, model = sim.number("ball"), sim.model
    x, q = sim.state.bodies.x.copy(), sim.state.bodies.q.copy()
    before = points_of(model, x, q)
    q[ball] = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
    moved = np.linalg.norm(points_of(model, x, q) - before, axis=-1)
    start = np.linalg.norm(before[ball, 1:] - before[ball, :1], axis=1)
    np.testing.assert_allclose(start, 0.11 * np.sqrt(0.4), rtol=1e-12)
    np.testing.assert_allclose(moved[ball], [0.0, start[0] * np.sqrt(2.0), start[0] * np.sqrt(2.0), 0.0], atol=1e-15)


def test_a_run_that_fails_is_told_and_the_next_one_is_made(monkeypatch):
    step = Simulation.step

    def fails(sim):
        if sim.settings.integrator == "heun" and sim.step_count > 3:
            raise CannotStep("too far")
        step(sim)

    monkeypatch.setattr(Simulation, "step", fails)
    scene = scene_of("dome")
    found = [p for p in study(scene, scene.build().settings, [m.Variant("time_stepping", i) for i in ("heun", "rk4")],
                              0.5, True, time.thread_time) if p is not None]
    assert [np.isnan(p.error) for p in found] == [True] * 5 + [False] * 5
    assert np.isnan([p.cost for p in found[:5]]).all()


def test_the_physics_thread_studies_beside_the_run_and_forgets_it_with_the_scene():
    runner = Runner(scene_of("dome"), {"method": "time_stepping"}, paused=True)
    runner.begin()
    asked = m.StudyOrders((m.Variant("time_stepping", "rk4"),), 0.5, True)
    runner.send(asked)
    while runner.latest.orders is None or runner.latest.orders.running:
        runner.tick()
    orders = runner.latest.orders
    assert orders.asked == asked and len(orders.points) == len(FACTORS)
    assert abs(order_of(orders.points) - 2.0) < 0.25
    assert runner.latest.step == 0 and runner.latest.paused  # the run that is shown has not moved

    runner.send(asked)
    runner.send(m.StudyOrders())
    runner.tick()
    assert not runner.latest.orders.running and len(runner.latest.orders.points) < len(FACTORS)
    runner.send(m.Open(scene_of("dome"), paused=True))
    runner.tick()
    assert runner.latest.orders is None


def test_a_method_that_is_not_for_the_scene_is_refused_in_words():
    runner = Runner(scene_of("humanoid"), paused=True)
    runner.send(m.StudyOrders((m.Variant("time_stepping", "sdirk2"),)))
    runner.tick()
    assert runner.latest.orders is None and "sdirk2" in runner.latest.notice
