"""A step that nobody looks at: nothing is found out for a reader who does not read; `Simulation.run` makes many steps
in one call, with the same bits as single steps."""

import numpy as np
import pytest
from bare_bodies import Balls

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.look.step_record import StepWatch
from contactlab.physics.methods.compliant import explicit
from contactlab.physics.methods.compliant import step as compliant
from contactlab.physics.methods.event_driven import step as event_driven
from contactlab.physics.methods.time_stepping import step as time_stepping
from contactlab.physics.simulation.failure import CannotStep

#: impacts and rest; a conveyor and friction that breaks away, whose slip is an event; trees; nothing that can touch; in
#: `event_driven` steps of one piece, steps with events, springs, and joints that are held by reactions; in `compliant`
#: touches within a step, slip, springs of joints and limits that are stiff, and an integrator that is not explicit
SCENES = (("dice", "time_stepping"), ("stick_slip", "time_stepping"), ("ragdoll", "time_stepping"),
          ("double_pendulum", "time_stepping"), ("incline", "event_driven"), ("rocking_block", "event_driven"),
          ("double_pendulum", "event_driven"), ("stick_slip", "event_driven"), ("linkages", "event_driven"),
          ("soft_feet", "compliant"), ("stick_slip", "compliant"), ("spin_and_roll", "compliant"),
          ("arms", "compliant"), ("soft_floor", "compliant"))
STEPS = {"time_stepping": time_stepping, "event_driven": event_driven, "compliant": compliant}
WATCHED = {"history": lambda sim: sim.record_history(), "controller": lambda sim: setattr(sim, "controller", print),
           "trace": lambda sim: (tracing := sim.trace(), tracing.__enter__())}
#: a ball on a spring so stiff that every step makes its motion 10⁴ times larger
UNSTABLE = {
    "body": [{"name": "ball", "position": [0.0, 0.0, 3.0], "mass": 1.0, "inertia": [0.1, 0.1, 0.1],
              "shape": [{"type": "sphere", "radius": 0.1}]},
             {"name": "ground", "fixed": True, "position": [0.0, 0.0, -1e9], "shape": [{"type": "plane"}]}],
    "spring": [{"body_a": "world", "anchor_a": [0.0, 0.0, 2.0], "body_b": "ball", "stiffness": 1e6}],
    "solver": {"h": 0.1},
}


def arrays(value):
    """All arrays of a tuple of tuples of arrays, as bytes."""
    if isinstance(value, np.ndarray):
        return [value.tobytes()]
    return [leaf for part in value for leaf in arrays(part)]


def rows(table):
    """Those of a memory or of surfaces that are in use."""
    return [np.ascontiguousarray(a[: int(table.count[0])]).tobytes() for a in table if len(a) > 1]


def bits(state):
    """Everything of a state but rows of scratch."""
    parts = arrays((state.t, state.bodies, state.tally, state.ledger, state.joints))
    return parts + rows(state.memory) + rows(state.surfaces)


def counted(monkeypatch, name, method="time_stepping"):
    """How often a method calls a function of this name, as a list that grows."""
    real, calls = getattr(STEPS[method], name), []
    monkeypatch.setattr(STEPS[method], name, lambda *args: calls.append(name) or real(*args))
    return calls


@pytest.mark.parametrize(("name", "method"), SCENES)
def test_a_run_is_its_single_steps_to_the_last_bit(name, method):
    scene = Scene.load(gallery()[name])
    one, many = (Simulation(scene, method=method) for _ in range(2))
    while one.time < 0.6 - 0.5 * one.settings.h:
        one.step()
    many.run(0.6)
    assert many.step_count == one.step_count
    assert bits(many.state) == bits(one.state)
    assert many.events == one.events
    assert arrays(many.contacts) == arrays(one.contacts)
    assert many.info == one.info


@pytest.mark.parametrize("method", STEPS)
def test_a_run_is_few_calls(monkeypatch, method):
    """Where nothing new happens there is no event to come back for."""
    monkeypatch.setattr(explicit, "AT_ONCE", 10**9)  # of substeps
    sim = Simulation(Scene.load(gallery()["incline"]), method=method)
    sim.run(0.5)
    before, calls, at_rest = len(sim.events), counted(monkeypatch, "march", method), sim.step_count
    sim.run(1.0)
    assert len(sim.events) == before and sim.step_count - at_rest == 120
    assert len(calls) == 2  # 64 steps at once


def test_many_substeps_are_made_in_several_calls(monkeypatch):
    """So that a run can be interrupted: with room for one in a call, every step is a call and one for each that is left
    of its substeps. The last substep ends in the call that makes it."""
    sim = Simulation(Scene.load(gallery()["incline"]), method="compliant")
    sim.run(0.5)
    monkeypatch.setattr(explicit, "AT_ONCE", 1)
    calls, at_rest = counted(monkeypatch, "march", "compliant"), sim.step_count
    sim.run(0.55)
    assert sim.info.substeps > 4
    assert len(calls) == sim.info.substeps * (sim.step_count - at_rest) == 12 * sim.info.substeps


@pytest.mark.parametrize("watch", WATCHED)
def test_a_run_that_is_watched_is_made_of_single_steps(monkeypatch, watch):
    sim = Simulation(Scene.load(gallery()["dice"]), method="time_stepping")
    calls = counted(monkeypatch, "march")
    kept = WATCHED[watch](sim)
    sim.run(0.05)
    assert sim.step_count == 12 and not calls
    del kept


def test_a_push_lasts_one_step_of_a_run():
    pushed, alone = (Simulation(Balls(2)) for _ in range(2))
    for sim in (pushed, alone):
        sim.apply_force("ball0", (5.0, 0.0, 0.0))
    pushed.run(0.1)
    alone.step()
    alone.run(0.1)
    assert bits(pushed.state) == bits(alone.state)


def test_a_run_that_fails_stops_where_single_steps_do():
    """The state before the step that is not finite is left."""
    scene, ends = Scene.from_dict(UNSTABLE), []
    for many in (True, False):
        sim = Simulation(scene, method="time_stepping")
        with pytest.raises(CannotStep) as failure:
            if many:
                sim.run(100.0)
            while not many:
                sim.step()
        ends.append((str(failure.value), sim.step_count, bits(sim.state)))
    assert ends[0] == ends[1] and ends[0][1] > 10


def test_nothing_is_found_out_for_nobody(monkeypatch):
    """The contacts' description, the residual and objects of events: when read, and once."""
    sim = Simulation(Scene.load(gallery()["incline"]), method="time_stepping")
    sim.run(0.5)
    described, judged = counted(monkeypatch, "describe"), counted(monkeypatch, "system_residual")
    for _ in range(5):
        sim.step()
    sim.run(0.6)
    assert not described and not judged
    assert len(sim.contacts.case) == sim.info.contacts == 12 and (sim.contacts.case > 0).all()
    assert sim.info.status == "solved" and sim.contacts.slip.max() > 0.1  # one of the three boxes slides
    assert len(described) == len(judged) == 1


def test_what_is_read_late_is_what_is_read_at_once():
    """After settings have changed and another method was taken, contacts and information are still those of the last
    step."""
    scene = Scene.load(gallery()["dice"])
    early, late = (Simulation(scene, method="time_stepping") for _ in range(2))
    for sim in (early, late):
        sim.run(0.3)
    found = arrays(early.contacts), early.info
    late.set(friction=0.1)
    late.set(method="compliant")
    assert (arrays(late.contacts), late.info) == found


def test_reading_changes_no_step():
    scene = Scene.load(gallery()["dice"])
    read, blind = (Simulation(scene, method="time_stepping") for _ in range(2))
    for _ in range(60):
        for sim in (read, blind):
            sim.step()
        assert len(read.contacts.gap) == read.info.contacts
    assert bits(read.state) == bits(blind.state)


def test_event_driven_tells_of_the_end_of_its_step_whenever_it_is_asked():
    """The contacts and the information are those of the state at the end of the step under the loads of the step, also
    where both have changed before somebody reads them; and to read them changes nothing of the run."""
    at_once, late = (Simulation(Scene.load(gallery()["incline"]), method="event_driven") for _ in range(2))
    for sim in (at_once, late):
        sim.step()
        sim.apply_force("mu = tan 25°", (3.0, 0.0, 0.0))
    for _ in range(3):
        at_once.step()
        expected = arrays(at_once.contacts), at_once.info
        late.step()
    late.loads.force[:] = 1e3
    late.state.bodies.P[:] += 1.0
    late.state.bodies.v[:] += 1.0
    late.state.bodies.x[:] -= 0.1
    assert (arrays(late.contacts), late.info) == expected
    for sim in (at_once, late):
        sim.reset()
        sim.run(0.05)
    assert bits(late.state) == bits(at_once.state)


@pytest.mark.parametrize("name", ["incline", "rocking_block", "stick_slip", "ragdoll", "rolling_ball"])
def test_a_step_of_event_driven_in_one_call_is_the_one_made_piece_by_piece(name):
    """Where somebody watches, every step is made by pieces. Blocks that rest, at the verge of slipping too, slide and
    rock; a belt; a tree that falls; what rolls and drifts."""
    alone, watched = (Simulation(Scene.load(gallery()[name]), method="event_driven") for _ in range(2))
    watch = watched._method.watch = StepWatch()
    for _ in range(60):
        alone.step()
        watched.step()
        assert bits(alone.state) == bits(watched.state)
    assert len(watch.pieces) >= 60
