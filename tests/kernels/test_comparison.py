"""Several simulations on one clock: times are equal to the last bit, and each side moves as it would alone."""

from dataclasses import replace

import numpy as np
import pytest
from bare_bodies import Balls
from test_runner import Clock, do

from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.methods import METHODS
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.log import OWN_STEP, WATCHED, Log
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.simulation import Simulation

H = 1 / 240
RIGID, SOFT = m.Settings(), m.Settings(method="compliant")
EULER = m.Settings(integrator="euler")


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


def comparing(*settings, scene=None, clock=None):
    runner = Runner(scene or Balls(2), paused=True, clock=clock or Clock())
    runner.begin()
    do(runner, m.Compare(tuple(m.Side(s) for s in settings)))
    return runner


def motion(thing):
    """All bits of the motion, of a snapshot or of a simulation."""
    bodies = thing.state.bodies if isinstance(thing, Simulation) else thing
    return b"".join(getattr(bodies, name).tobytes() for name in "xqvwL")


def alone(settings, steps, scene=None):
    scene = scene or Balls(2)
    sim = Simulation(scene, settings.method, settings.integrator, settings.solver, settings.h)
    sim.set(**{name: getattr(settings, name) for name in ("restitution", "friction", "gravity")})
    for _ in range(steps):
        sim.step()
    return sim


@pytest.mark.parametrize("method", METHODS)
def test_each_side_moves_as_it_would_alone(method):
    sides = RIGID, replace(RIGID, method=method), EULER
    runner = comparing(*sides)
    s = do(runner, m.Step(150))
    assert motion(s.sides[0]) != motion(s.sides[2])  # the claim is about different motions
    for side, settings in zip(s.sides, sides, strict=True):
        sim = alone(settings, 150)
        assert motion(side) == motion(sim) and side.t == sim.time


def test_published_times_are_equal_to_the_last_bit_while_it_runs():
    clock = Clock()
    runner = comparing(RIGID, replace(SOFT, h=H / 3), replace(RIGID, h=H / 2), clock=clock)
    do(runner, m.Play())
    seen = set()
    for _ in range(200):
        clock.now += 1 / 100
        runner.tick()
        s = runner.latest
        assert len({(side.t, side.step) for side in (s, *s.sides)}) == 1
        assert len({side.energy_log[:, 0].tobytes() for side in s.sides}) == 1
        for member, count in zip(runner._sides.members, (1, 3, 2), strict=True):
            own = member.simulation
            assert own.step_count == count * s.step
            # n sums of h, each rounded to half an ulp of the time so far
            assert abs(own.time - s.t) <= own.step_count * np.spacing(s.t)
        seen.add(s.step)
    assert len(seen) > 100 and s.t == pytest.approx(2.0, abs=0.1)


def test_a_side_with_a_shorter_step_moves_as_it_would_alone():
    fine = replace(RIGID, h=H / 4)
    s = do(comparing(RIGID, fine), m.Step(100))
    assert motion(s.sides[1]) == motion(alone(fine, 400)) != motion(s.sides[0])


def test_a_step_that_does_not_fit_becomes_a_whole_part_of_the_longest():
    runner = comparing(RIGID, RIGID)
    s = do(runner, m.Focus(1), m.Set("h", 1 / 700))
    assert [side.settings.h for side in s.sides] == [H, H / 3] and s.h == H
    s = do(runner, m.Set("h", 1 / 100))  # now the longest: it is the clock's
    assert [side.settings.h for side in s.sides] == [1 / 100 / 2, 1 / 100] and s.h == 1 / 100
    assert "h must be" in do(runner, m.Set("h", -1.0)).notice


def test_stepping_back_and_forth_shows_the_same_instants_on_all_sides():
    runner = comparing(RIGID, replace(SOFT, h=H / 2))
    course = [[motion(side) for side in do(runner, m.Step()).sides] for _ in range(80)]
    s = do(runner, m.Seek(30), m.Focus(1), m.Set("h", H / 5))
    assert [motion(side) for side in s.sides] == course[29] and s.history == (0, 80)
    for k in (80, 12, 31):  # the steps of before are still those of before
        s = do(runner, m.Seek(k))
        assert [motion(side) for side in s.sides] == course[k - 1] and s.step == k
    s = do(runner, m.Step(10))  # a new branch, with five steps in one of the clock
    assert (s.step, s.history) == (41, (0, 41))
    assert runner._sides.members[1].simulation.step_count == 2 * 31 + 5 * 10
    forked = [motion(side) for side in s.sides]
    assert [motion(side) for side in do(runner, m.Seek(25)).sides] == course[24]
    assert [motion(side) for side in do(runner, m.Seek(41)).sides] == forked
    assert do(runner, m.Reset()).history == (0, 0)


def test_what_is_shared_reaches_every_side_and_what_is_not_only_the_one_in_focus():
    runner = comparing(RIGID, SOFT)
    s = do(runner, m.Focus(1), m.Set("restitution", 0.3), m.Set("gravity", (0.0, 0.0, -1.6)),
           m.Set("integrator", "euler"))
    assert s.side == 1 and s.settings.method == "compliant"
    assert [side.settings.restitution for side in s.sides] == [0.3, 0.3]
    assert [side.settings.gravity[2] for side in s.sides] == [-1.6, -1.6]
    assert [side.settings.integrator for side in s.sides] == ["rk4", "euler"]
    s = do(runner, m.Set("restitution", 3.0))
    assert "restitution must be" in s.notice and [side.settings.restitution for side in s.sides] == [0.3, 0.3]
    assert "no side 2" in do(runner, m.Focus(2)).notice


def test_a_pull_holds_the_same_point_of_the_body_on_every_side():
    runner = comparing(RIGID, EULER)
    s = do(runner, m.Step(30), m.Grab(0, (0.1, 0.2, 1.4), (0.5, 0.0, 2.0)), m.Step(40))
    assert [side.grabbed.body for side in s.sides] == [0, 0]
    points = [member.simulation.loads.grab_point for member in runner._sides.members]
    assert points[0].tobytes() == points[1].tobytes()
    for side, settings in zip(s.sides, (RIGID, EULER), strict=True):
        sim = alone(settings, 30)
        sim.grab(0, (0.1, 0.2, 1.4), (0.5, 0.0, 2.0))
        sim.loads.grab_point[:] = points[0]
        for _ in range(40):
            sim.step()
        assert motion(side) == motion(sim)
    s = do(runner, m.MoveGrab((0.0, 1.0, 2.0)))
    assert [side.grabbed.target for side in s.sides] == [(0.0, 1.0, 2.0)] * 2
    assert all(side.grabbed is None for side in do(runner, m.Release()).sides)


def test_the_next_event_is_that_of_any_side():
    runner = comparing(RIGID, EULER)
    s = do(runner, m.StepToEvent())
    first = s.step
    assert any(side.event_count for side in s.sides)
    assert all(event.step <= first for side in s.sides for event in side.events)
    s = do(runner, m.StepToEvent(), m.StepToEvent(-1))
    assert s.step <= first


def test_where_one_side_fails_all_stay_before_the_step():
    runner = comparing(RIGID, EULER)
    before = [motion(side) for side in do(runner, m.Step(20)).sides]
    runner._sides.members[1].simulation.loads.force[0, 0] = np.inf
    s = do(runner, m.Step())
    assert s.error and s.step == 20 and [motion(side) for side in s.sides] == before
    runner._sides.members[1].simulation.loads.force[:] = 0.0
    s = do(runner, m.Step(5))
    assert [motion(side) for side in s.sides] == [motion(alone(x, 25)) for x in (RIGID, EULER)]


def test_a_side_goes_on_alone():
    runner = comparing(RIGID, replace(EULER, h=H / 2))
    do(runner, m.Step(50))
    s = do(runner, m.Focus(1), m.Compare(()))
    assert s.sides == () and s.side == 0 and s.settings.integrator == "euler"
    assert (s.step, s.history) == (100, (0, 100))  # its own steps are the clock's again
    s = do(runner, m.Step(10))
    assert motion(s) == motion(alone(replace(EULER, h=H / 2), 110))


def test_a_comparison_ends_with_the_scene_it_was_begun_in():
    """The next scene runs alone, with its own method and step."""
    runner = comparing(RIGID, replace(SOFT, h=H / 2), scene=Balls(2))
    s = do(runner, m.Focus(1), m.Open(Balls(4), paused=True))
    assert s.sides == () and len(s.x) == 5 and s.notice is None
    alone_in_it = Runner(Balls(4), paused=True, clock=Clock())
    alone_in_it.begin()
    assert s.settings == alone_in_it.latest.settings


def glue(**fields):
    """The block that plain Gauss–Seidel holds down, beside another solver that lets it go."""
    data = Scene.load(scene_path("glue")).tables.model_dump(exclude_defaults=True)
    return Scene.from_dict({**data, **fields})


def test_a_scene_may_open_with_a_comparison_which_ends_with_it():
    runner = Runner(glue(), {"h": H / 2}, paused=True, clock=Clock())
    runner.begin()
    assert [s.settings.solver for s in runner.latest.sides] == ["gauss_seidel", "pgs"]
    assert all(s.settings.h == H / 2 for s in runner.latest.sides)  # what a table does not say, the settings say
    s = do(runner, m.Step(1440))  # the hand pulls with 200 N at the weight of 98.1 N
    glued, let_go = (side.x[1, 2] for side in s.sides)
    assert glued == pytest.approx(0.2, abs=1e-6) and let_go > 0.35
    assert s.sides[0].info.status == "glued" and s.sides[1].info.status == "solved"
    s = do(runner, m.Open(Balls(2), paused=True))
    assert s.sides == () and s.notice is None
    s = do(runner, m.Open(glue(), paused=True))
    assert len(s.sides) == 2


def test_a_comparison_of_a_scene_that_is_refused_is_said():
    runner = Runner(glue(compare=[{"integrator": "sdirk2"}]), paused=True, clock=Clock())
    runner.begin()
    assert runner.latest.sides == ()
    assert runner.latest.notice.startswith("nothing is compared: the integrator sdirk2 is implicit")


def test_a_comparison_that_cannot_be_leaves_the_run_as_it_is():
    runner = comparing(RIGID, EULER)
    do(runner, m.Step(7))
    for sides in ([RIGID] * 4, [RIGID, replace(RIGID, method="magic")]):
        s = do(runner, m.Compare(tuple(m.Side(x) for x in sides)))
        assert s.notice and s.step == 7 and len(s.sides) == 2


# ------------------------------------------------------------------------------------------------- traces


def test_the_trace_is_the_quantity_at_every_step_and_known_from_before_it_was_asked_for():
    runner = comparing(RIGID, EULER)
    heights = [[side.x[1, 2] for side in do(runner, m.Step()).sides] for _ in range(60)]
    s = do(runner, m.Watch((m.Curve("height", 1),)))  # asked for only now
    for k, side in enumerate(s.sides):
        assert side.trace[:, 0].tobytes() == side.energy_log[:, 0].tobytes()
        assert side.trace[1:, 1].tolist() == [row[k] for row in heights]
    more = do(runner, m.Step(5))
    assert more.sides[0].trace[-1].tolist() == [more.t, more.sides[0].x[1, 2]]
    back = do(runner, m.Seek(10))
    assert back.trace.tobytes() == more.trace.tobytes()  # what follows can be reached again, and is shown
    assert len(do(runner, m.Step()).trace) == 12         # a new branch takes its place
    assert do(runner, m.Watch()).trace.shape[1] == 1


def test_a_curve_keeps_what_was_recorded_of_it_when_others_come_and_go():
    runner = comparing(RIGID, EULER, scene=Scene.load(scene_path("dice")))
    force, height = m.Curve("contact_force", 1), m.Curve("height", 1)
    do(runner, m.Watch((force,)))
    first = do(runner, m.Step(120)).trace
    both = do(runner, m.Watch((height, force))).trace
    assert both[:, 2].tobytes() == first[:, 1].tobytes() and np.isfinite(both[:, 1]).all()
    alone = do(runner, m.Watch((height,))).trace
    assert alone.tobytes() == both[:, :2].tobytes()
    again = recalled(runner, m.Watch((force,))).trace
    assert again[1:].tobytes() == first[1:].tobytes()  # by making the steps once more
    assert "up to 8 curves" in do(runner, m.Watch((height,) * 9)).notice


def test_forces_and_energy_are_traced():
    runner = comparing(RIGID, SOFT, scene=Scene.load(scene_path("dice")))
    s = do(runner, m.Step(20), m.Watch((m.Curve("energy"),)))
    for side in s.sides:
        assert side.trace[:, 1] == pytest.approx(side.energy_log[:, 1:5].sum(axis=1), rel=1e-12)
    s = do(runner, m.Watch((m.Curve("contact_force", 1),)), m.Step(200))
    for side in s.sides:
        rows = (side.contacts.body_a == 1) | (side.contacts.body_b == 1)
        assert side.trace[-1, 1] == side.contacts.lam[rows].sum()
    assert "there is no body" in do(runner, m.Watch((m.Curve("height", 10_000),))).notice
    assert "a quantity must be" in do(runner, m.Watch((m.Curve("colour", 1),))).notice


def recalled(runner, *commands):
    """The snapshot when all is filled in that the history tells."""
    do(runner, *commands)
    for _ in range(1000):
        if not runner._sides.recalling:
            return do(runner, m.Pause())
        runner.tick()
    raise AssertionError("the curves are never done")


@pytest.mark.parametrize("sides", [(RIGID,), (RIGID, SOFT)])
def test_curves_of_past_forces_are_those_that_somebody_who_watched_would_have_seen(sides):
    """To the last bit: the steps are made again. The first instant has no step before it."""
    force, friction = m.Curve("contact_force", 1), m.Curve("friction_force", 1)
    watched, unwatched = (comparing(*sides, scene=Scene.load(scene_path("dice"))) for _ in range(2))
    seen = do(watched, m.Watch((force, friction)), m.Step(150))
    late = recalled(unwatched, m.Step(150), m.Seek(40), m.Watch((force, friction)))
    for one, other in zip(seen.sides or (seen,), late.sides or (late,), strict=True):
        assert one.trace[:, 1].max() > 0.0 and len(one.trace) == 151
        assert one.trace[1:].tobytes() == other.trace[1:].tobytes()
        assert one.energy_log.tobytes() == other.energy_log.tobytes()
    assert late.step == 40 and late.x.tobytes() == do(watched, m.Seek(40)).x.tobytes()


def test_a_branch_that_begins_while_curves_are_filled_has_its_own_forces():
    """What is unknown of a step is asked of the history when the filling comes to it, as is a surface's state that
    rigid contacts have not: not of the helper that made the steps of the branch before."""
    curves = m.Curve("contact_force", 1), m.Curve("surface_z", 1)
    runner, plain = (comparing(RIGID, scene=Scene.load(scene_path("dice"))) for _ in range(2))
    do(runner, m.Step(150))
    runner._sides.look_at(m.Watch(curves))
    of_states, of_steps = 151, 100
    made = iter([False] * (of_states + of_steps))
    runner._sides.recall(lambda: next(made, True))  # a part of them: the helper stands in the middle of the run
    assert of_steps - 1 <= np.isfinite(runner._sides.members[0].curves[:, WATCHED]).sum() < of_states - 1
    late = recalled(runner, m.Seek(60), m.Set("gravity", (0.0, 0.0, -3.0)), m.Step(120))
    seen = do(plain, m.Watch(curves), m.Step(60), m.Set("gravity", (0.0, 0.0, -3.0)), m.Step(120))
    assert late.trace[1:].tobytes() == seen.trace[1:].tobytes()
    assert late.energy_log.tobytes() == seen.energy_log.tobytes()


def test_what_cannot_be_reached_any_more_has_no_curve():
    runner = comparing(RIGID)
    do(runner, m.Watch((m.Curve("height", 0),)), m.Step(30), m.Seek(10))
    s = recalled(runner, m.Place(0, (0.0, 0.0, 4.0), (1.0, 0.0, 0.0, 0.0)))
    assert len(s.trace) == 11 and s.history == (10, 10)


def test_the_log_reaches_back_to_the_start_and_keeps_its_order():
    log = Log(8)
    for k in range(100):
        log.put((k, 0, 0, 0, 0, 0, k, k))
        steps = log.rows[:, OWN_STEP]
        assert steps[0] == 0 and len(steps) + 8 >= 8 and len(steps) <= 16 and (np.diff(steps) > 0).all()
        assert steps[-1] == k and log.at(k)[WATCHED] == k
    assert log.cut(95) and not log.cut(95) and log.upto(90)[-1, OWN_STEP] == 90.0
    log.put((0.5, 1, 1, 1, 1, 1, 1, 7))  # one that was left out before
    assert log.rows[1, [0, OWN_STEP, WATCHED]].tolist() == [0.5, 1.0, 7.0]
    log.put((9.0, 2, 2, 2, 2, 2, 1, 8))
    assert log.rows[1, [0, 1, WATCHED]].tolist() == [0.5, 2.0, 8.0]  # the time is that of the clock
