"""Going to the instant of an event: before it, at it, and the end of its step."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from contact_scenes import G, ball, ground

from contactlab.assets import gallery
from contactlab.physics.run import messages as m
from contactlab.physics.run.runner import Runner
from contactlab.physics.scene.scene import Scene

RADIUS, FALL, E = 0.1, 0.3, 0.5
ROUNDING = 1e-9  # [m], [s], [m/s]: events are found to 1e-12 s


def bouncing(method="event_driven", h=0.02, height=FALL, integrator="rk4"):
    scene = Scene.from_dict({
        "solver": {"method": method, "h": h, "integrator": integrator},
        "material": {"default": {"restitution": E, "friction": 0.0}},
        "body": [ground(), ball("ball", (0, 0, RADIUS + height), radius=RADIUS)]})
    return Runner(scene, paused=True)


def do(runner: Runner, *commands: m.Command) -> Any:
    for command in commands:
        runner.send(command)
    runner.tick()
    return runner.latest


def motion(snapshot):
    """Height over the floor and velocity of the ball."""
    return float(snapshot.x[1, 2]) - RADIUS, float(snapshot.v[1, 2])


def test_the_ball_is_on_the_floor_with_the_velocities_before_and_after_its_impact():
    """t = √(2H/g); ζ⁻ = -√(2gH), ζ⁺ = e √(2gH); what is in flight at the end of the step is shown as after."""
    runner, speed, t = bouncing(), np.sqrt(2 * G * FALL), np.sqrt(2 * FALL / G)
    at = do(runner, m.StepToEvent())
    assert at.notice is None and at.instant is not None
    assert at.instant.phase == "at" and at.now == pytest.approx(t, abs=ROUNDING)
    assert motion(at) == pytest.approx((0.0, E * speed), abs=ROUNDING)
    assert at.contacts.zeta[0] == pytest.approx(E * speed, abs=ROUNDING)
    assert at.events[-1].kind == "impact" and at.energy.kinetic == pytest.approx(0.5 * (E * speed) ** 2, abs=ROUNDING)
    before = do(runner, m.GoToEvent(at.step, at.instant.t, "before"))
    assert before.now == at.now and motion(before) == pytest.approx((0.0, -speed), abs=ROUNDING)
    assert before.contacts.zeta[0] == pytest.approx(-speed, abs=ROUNDING) and before.events == ()
    after = do(runner, m.GoToEvent(at.step, at.instant.t, "after"))
    rest = after.t - t
    assert 0.0 < rest < 0.02
    assert motion(after) == pytest.approx((E * speed * rest - 0.5 * G * rest**2, E * speed - G * rest), abs=ROUNDING)


def test_events_of_one_step_are_gone_through_one_by_one_and_back():
    """A step of 0.1 s holds several bounces; each stops on the floor, and the same ones come on the way back."""
    runner, there = bouncing(h=0.1), []
    for _ in range(6):
        there.append(do(runner, m.StepToEvent()))
    times = [s.now for s in there]
    assert all(b > a for a, b in pairwise(times))
    assert len({s.step for s in there}) < 6
    assert [motion(s)[0] for s in there] == pytest.approx([0.0] * 6, abs=ROUNDING)
    back = [do(runner, m.StepToEvent(-1)) for _ in range(5)]
    assert [s.now for s in back] == times[-2::-1]
    assert [motion(s) for s in back] == [motion(s) for s in there[-2::-1]]
    assert "no earlier event" in do(runner, m.StepToEvent(-1)).notice


def test_the_run_goes_on_from_the_end_of_the_step_with_the_same_bits():
    plain, stopping = bouncing(), bouncing()
    at = do(stopping, m.StepToEvent())
    do(stopping, m.GoToEvent(at.step, at.instant.t, "before"))
    end = do(stopping, m.Step(1))  # from within the step to its end
    assert end.step == at.step and end.instant is None
    on = do(stopping, m.Step(20))
    wanted = do(plain, m.Step(at.step), m.Step(20))
    assert (on.step, on.x.tobytes(), on.v.tobytes()) == (wanted.step, wanted.x.tobytes(), wanted.v.tobytes())
    assert [e.t for e in on.events] == [e.t for e in wanted.events]


def test_in_slow_motion_the_ball_of_the_gallery_touches_the_floor():
    """Its first impact was shown at the end of the step, 9 mm above the floor."""
    scene = Scene.load(gallery()["slow_bounce"])
    runner = Runner(scene, paused=True)
    at = do(runner, m.StepToEvent())
    assert at.events[-1].kind == "impact" and at.now == at.events[-1].t < at.t
    assert abs(at.contacts.gap[0]) <= ROUNDING and at.contacts.zeta[0] > 0.0


def test_the_equations_are_those_of_the_instant_that_is_shown():
    """Before a ball comes to rest nothing rests; at the instant it does: λ = m g."""
    runner = bouncing(height=1e-9)  # slower than what counts as rest
    at = do(runner, m.Inspect("equations"), m.StepToEvent())
    assert at.inspection is not None and at.inspection.equations is not None
    assert at.inspection.equations.answers[0].lam == pytest.approx([G], rel=1e-9)
    assert (at.contacts.current[0], at.contacts.active[0]) == (1, 1)
    assert at.contacts.lam[0] == pytest.approx(G, rel=1e-9)


def test_time_stepping_shows_the_ends_of_the_step():
    """It knows of an event only in which step it is."""
    runner = bouncing("time_stepping", h=0.005)
    at = do(runner, m.StepToEvent())
    ends = [do(runner, m.GoToEvent(at.step, at.instant.t, phase)) for phase in m.PHASES]
    assert [s.now for s in ends] == pytest.approx([at.t - 0.005, at.t, at.t], abs=1e-12)
    assert motion(ends[1]) == motion(ends[2]) == motion(at)
    before = do(runner, m.Seek(at.step - 1))
    assert motion(before) == motion(ends[0])


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_soft_ball_meets_the_floor_at_the_instant_of_its_event(integrator):
    """Its velocity is the same before and at the instant, when the surface begins to push; so is the energy. rk4 takes
    the gap for a straight line within a substep, which errs by g h²/8 at most."""
    h, speed = 0.005, np.sqrt(2 * G * FALL)
    runner = bouncing("compliant", h, integrator=integrator)
    error = ROUNDING if integrator == "dopri5" else G * h**2 / 8
    at = do(runner, m.StepToEvent())
    assert at.instant.phase == "at" and at.now == at.instant.t < at.t
    assert at.now == pytest.approx(np.sqrt(2 * FALL / G), abs=error)
    before = do(runner, m.GoToEvent(at.step, at.instant.t, "before"))
    assert before.now == at.now and before.events == () and at.events[-1].kind == "impact"
    for shown in (before, at):
        assert motion(shown)[0] == pytest.approx(0.0, abs=2.0 * speed * error)
        assert motion(shown)[1] == pytest.approx(-speed, abs=G * error + ROUNDING)
        if integrator == "dopri5":
            energy = shown.energy.kinetic + shown.energy.potential
            assert at.events[-1].energy_before == at.events[-1].energy_after == pytest.approx(energy, abs=G * ROUNDING)
    after = do(runner, m.GoToEvent(at.step, at.instant.t, "after"))
    assert after.now == after.t == at.t and motion(after)[0] < -0.1 * speed * h
    assert (before.contacts.current[:1].sum(), at.contacts.current[0]) == (0, 1)


def test_an_instant_without_an_event_is_refused():
    runner = bouncing()
    at = do(runner, m.StepToEvent())
    assert "no event at t = 0.1" in do(runner, m.GoToEvent(at.step, 0.1)).notice
    assert "phases before, at, after" in do(runner, m.GoToEvent(at.step, at.instant.t, "later")).notice


def test_of_a_comparison_the_side_of_the_event_is_shown_at_it():
    runner = bouncing()
    settings = runner.latest.settings if runner.latest else runner._sides.simulation.settings
    other = m.Settings(**{**{f: getattr(settings, f) for f in settings.__dataclass_fields__}, "method": "time_stepping",
                          "integrator": "rk4"})
    at = do(runner, m.Compare((m.Side(settings), m.Side(other))), m.StepToEvent())
    exact, stepped = at.sides
    assert exact.instant.side == stepped.instant.side
    shown = at.sides[at.instant.side]
    assert shown.now == at.instant.t and at.sides[1 - at.instant.side].now == at.t
