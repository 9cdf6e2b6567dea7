"""Impacts without end: their end is told before it is reached, and only where there is one."""

import math

import numpy as np
import pytest

from contactlab.app.narration import narrated
from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.report import Event
from contactlab.physics.look.zeno import series_of

G, FALL = 9.81, 1.0  # of the gallery's slow bounce: it falls by 1 m [m]


def blow(t, impulse=1.0, bodies=(0, 1), point=(0.0, 0.0, 0.0), kind="impact"):
    return Event(kind, 0, t, bodies, point, (0.0, 0.0, 1.0), (0.0, 0.0, impulse), 0.0, 0.0)


def after_blows(count, **settings):
    """The gallery's slow bounce right after its count-th blow."""
    sim = Simulation(Scene.load(gallery()["slow_bounce"]))
    sim.set(**settings)
    while len([event for event in sim.events if event.kind == "impact"]) < count:
        sim.step()
    return sim


@pytest.mark.parametrize("e", [0.8, 0.5])
def test_a_bouncing_ball_rests_at_the_time_that_three_blows_tell(e):
    """t₀ (1 + e)/(1 - e), t₀ = √(2 H/g) [RBDA §11.7]; it lands x = v t from where it began. Before the third blow
    nothing is told. The intervals are right to rounding, which the series multiplies by up to 1/(1 - e)² = 25."""
    assert series_of(after_blows(2, restitution=e).events) == []
    sim = after_blows(3, restitution=e)
    (series,) = series_of(sim.events)
    end = math.sqrt(2.0 * FALL / G) * (1.0 + e) / (1.0 - e)
    assert sim.time < series.end and series.end == pytest.approx(end, abs=1e-9)
    assert series.ratio == pytest.approx(e, abs=1e-10)
    np.testing.assert_allclose(series.point, [0.5 * end, 0.0, 0.0], atol=1e-8)


def test_the_last_blow_that_is_computed_comes_just_before_the_end():
    """What is slower than the speed of rest, g h/10 000, has no rebound: it would have lasted 2 e v/(g (1 - e))."""
    sim = after_blows(3)
    (told,) = series_of(sim.events)
    while sim.time < told.end:
        sim.step()
    last = [event.t for event in sim.events if event.kind == "impact"][-1]
    left = 2.0 * 0.8 / (G * 0.2) * (G * sim.settings.h / 10_000)
    assert 0.0 < told.end - last <= left / 0.8 * (1.0 + 1e-6)


def test_steps_of_a_fixed_length_tell_of_no_series():
    """Blows at multiples of the step do not shrink by one ratio: nothing is claimed of them."""
    sim = after_blows(6, method="time_stepping")
    assert series_of(sim.events) == []


@pytest.mark.parametrize("events", [
    [blow(0.0), blow(1.0), blow(2.0)],                                      # no shrinking
    [blow(0.0, 4.0), blow(1.0, 2.0), blow(1.9, 1.0)],                       # intervals shrink otherwise than impulses
    [blow(0.0, 4.0), blow(1.0, 2.0), blow(1.5, 1.5)],                       # one impulse off
    [blow(0.0, 4.0), blow(1.0, 2.0), blow(1.5, 1.0, bodies=(0, 2))],        # of another body
    [blow(0.0, 0.0), blow(1.0, 0.0), blow(1.5, 0.0)],                       # without impulses
    [blow(0.0, 4.0), blow(1.0, 2.0), blow(1.5, 1.0, kind="gain")],
])
def test_other_blows_are_no_series(events):
    assert series_of(events) == []


def test_blows_at_several_points_count_as_one():
    """Two corners at each blow, each with half the impulse; the end is where the last corner moves to."""
    events = [blow(t, 0.5 * p, point=(x, y, 0.0)) for t, p, x in ((0.0, 4.0, 0.0), (1.0, 2.0, 2.0), (1.5, 1.0, 3.0))
              for y in (-1.0, 1.0)]
    (series,) = series_of(events)
    assert series == ((0, 1), 0.5, 1.5, 2.0, (4.0, -1.0, 0.0))


def test_a_narrated_run_tells_every_event_and_the_end_once():
    sim = Simulation(Scene.load(gallery()["slow_bounce"]))
    told = []
    tell = narrated(sim, told.append)
    while sim.time < 2.0:
        sim.step()
        tell()
    blows = [line for line in told if line.startswith("At ")]
    assert len(blows) == sim.event_count and "floor and ball collide, with 7.97 N s; " in blows[0]
    ends = [line for line in told if "infinitely many" in line]
    assert ends == ["Each blow of floor and ball comes after 0.8 times the interval before: infinitely many will "
                    "be over at 4.06371 s."]
    lost = 0.5 * (1.0 - 0.8**2) * 2.0 * G * FALL
    assert f"{lost:.3g} J are lost" in blows[0] and blows[0].startswith("At 0.451524 s ")
