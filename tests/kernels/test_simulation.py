"""Simulation: what scripts rely on. Exact saving, seeking and replay; settings that are checked; frames as placed."""

import tracemalloc
from dataclasses import asdict

import numpy as np
import pytest
from bare_bodies import Balls
from contact_scenes import ball, ground, simulate

from contactlab.physics.core.report import Settings
from contactlab.physics.core.settings import GAINS, SETTINGS
from contactlab.physics.methods import METHODS
from contactlab.physics.methods.choices import CHOICES, check_settings
from contactlab.physics.run.messages import Grab, MoveGrab, Release, Reset, Set
from contactlab.physics.scene.schema import GainsTable
from contactlab.physics.simulation import history as history_module
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.simulation.history import History, Inputs, hash_of, hash_of_state
from contactlab.physics.simulation.simulation import Simulation


def bits(sim):
    """Everything a later step depends on."""
    arrays = [sim.state.t, *sim.state.bodies]
    count = int(sim.state.memory.count[0])
    arrays += [a[:count] for a in sim.state.memory[1:]]
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def shown(sim):
    """Contacts as a viewer sees them."""
    return b"".join(np.ascontiguousarray(a).tobytes() for a in sim.contacts[1:])


def top_of(sim, ball):
    return sim.position(ball) + np.array([0.0, 0.0, 0.5])


def stir(sim):
    """Some steps with every kind of input."""
    sim.run(0.2)
    sim.set(restitution=0.5, friction=0.1)
    sim.apply_force("ball0", (3.0, 0.0, 1.0), top_of(sim, "ball0"))
    sim.step()
    sim.grab("ball1", top_of(sim, "ball1"), (1.0, 1.0, 3.0))
    for k in range(40):
        sim.move_grab((1.0 + 0.01 * k, 1.0, 3.0))
        sim.step()
    sim.release()
    sim.set(h=1 / 480, gravity=(0.0, 0.0, -3.0))
    sim.run(sim.time + 0.4)


def test_the_same_scene_twice_is_the_same_to_the_last_bit():
    first, second = Simulation(Balls(3)), Simulation(Balls(3))
    for sim in (first, second):
        stir(sim)
    assert bits(first) == bits(second)
    assert [(e.kind, e.step) for e in first.events] == [(e.kind, e.step) for e in second.events]


def test_a_restored_simulation_goes_on_with_the_same_bits():
    sim = Simulation(Balls(3))
    sim.run(0.7)  # balls are in contact or have been: there is contact memory
    sim.grab("ball0", sim.position("ball0"), (0.0, 0.0, 2.0))
    saved = sim.save()
    sim.run(1.2)
    there = bits(sim)
    sim.set(restitution=0.1, h=1 / 100)
    sim.release()
    sim.run(1.5)
    assert bits(sim) != there
    sim.restore(saved)
    sim.run(1.2)
    assert bits(sim) == there


def test_a_saved_state_is_not_touched_by_the_run():
    sim = Simulation(Balls(2))
    saved = sim.save()
    before = [a.copy() for a in saved.state.bodies]
    sim.run(1.0)
    assert all((a == b).all() for a, b in zip(saved.state.bodies, before, strict=True))
    assert sim.time == pytest.approx(1.0)


def test_seeking_restores_every_step_exactly_with_its_contacts():
    sim = Simulation(Balls(3))
    sim.record_history()
    course = [(bits(sim), None)]
    for _ in range(250):
        if sim.step_count == 100:
            sim.set(restitution=0.3)
        if sim.step_count == 120:
            sim.grab("ball0", sim.position("ball0"), (0.0, 0.0, 2.0))
        if sim.step_count == 150:
            sim.release()
        sim.step()
        course.append((bits(sim), shown(sim)))
    assert sim.reachable() == (0, 250)
    for step in (249, 125, 3, 1, 101, 200, 250):  # forward too, until another branch begins
        sim.seek(step)
        assert sim.step_count == step
        assert bits(sim) == course[step][0]
        assert shown(sim) == course[step][1]
    sim.seek(0)
    assert bits(sim) == course[0][0]


def test_as_many_of_the_latest_events_are_known_as_are_asked_for():
    sim = Simulation(Balls(2))
    sim.run(2.0)
    events, asked = sim.events, (0, 1, 2, len(sim.events), len(sim.events) + 1)
    assert len(events) > 2
    for known in (sim.known_events, sim.latest_events):
        assert [known(count) for count in asked] == [[], events[-1:], events[-2:], events, events]


def test_a_step_after_seeking_begins_a_new_branch():
    sim = Simulation(Balls(2))
    sim.record_history()
    sim.run(1.0)
    impacts = sim.event_count
    assert impacts > 0
    sim.seek(60)
    assert sim.event_count < impacts
    sim.set(gravity=(0.0, 0.0, 0.0))
    sim.step()
    assert sim.reachable() == (0, 61)
    branch = bits(sim)
    sim.run(0.5)
    sim.seek(61)
    assert bits(sim) == branch
    assert sim.settings.gravity == (0.0, 0.0, 0.0)  # seeking leaves the sliders where they are
    assert all(e.step <= 61 for e in sim.events)


def test_the_history_stays_within_its_budget_and_exact():
    sim = Simulation(Balls(2))
    sim.record_history()
    sim.step()
    state = sim.history.keyframes[0].size
    sim.reset()
    sim.record_history(budget=60 * state)
    course = [bits(sim)]
    for _ in range(1500):
        sim.step()
        course.append(bits(sim))
    history = sim.history
    assert sum(k.size for k in history.keyframes) <= 60 * state
    first, last = sim.reachable()
    assert last == 1500
    assert last - first > 300  # thinned, not only cut off
    gaps = np.diff([k.step for k in history.keyframes])
    assert gaps.max() <= 64
    for step in (first, first + 1, (first + last) // 2, last - 7):
        sim.seek(step)
        assert bits(sim) == course[step]
    with pytest.raises(ValueError, match=f"holds steps {first} to {last}"):
        sim.seek(first - 1)


def test_the_history_takes_the_memory_that_it_counts():
    sim = Simulation(Balls(1))
    sim.step()
    tracemalloc.start()
    try:
        history, inputs = History(), Inputs(sim.settings, None)
        for step in range(1000):
            history.record(step, sim.state, inputs)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken <= 1.1 * history._size  # the list grows by an eighth beyond its need


def test_a_recorded_step_waits_for_no_hash(monkeypatch):
    """Hashes are found when they are asked for, and are then those of the states."""
    found = []
    monkeypatch.setattr(history_module, "hash_of", lambda data: found.append(data) or hash_of(data))
    sim = Simulation(Balls(1))
    sim.record_history()
    course = []
    for _ in range(30):
        course.append(hash_of_state(sim.state))
        found.clear()
        sim.step()
        assert found == []
    assert sim.history.stretch(0, 29).hashes == b"".join(course)
    sim.history.forget_from(20)
    sim.history.record(20, sim.state, Inputs(sim.settings, None))
    assert sim.history.stretch(0, 20).hashes == b"".join([*course[:20], hash_of_state(sim.state)])


def test_an_endless_run_keeps_a_bounded_history():
    sim = Simulation(Balls(1))
    sim.record_history(budget=20_000)
    sizes = []
    for _ in range(3):
        for _ in range(400):
            sim.move_grab((0.0, 0.0, 1.0))
            sim.step()
        sizes.append(len(sim.history.keyframes))
    assert max(sizes) < 120
    assert sim.history._size <= 20_000


def test_replaying_a_command_log_gives_the_same_bits():
    log = [
        (0, Set("restitution", 0.9)), (50, Grab(0, (0.0, 0.0, 1.0), (0.0, 0.0, 2.0))), (55, MoveGrab((0.2, 0.0, 2.0))),
        (80, Release()), (120, Set("friction", 0.0)), (200, Set("h", 1 / 300)), (220, Set("gravity", (1.0, 0.0, -5.0))),
    ]

    def replay():
        sim = Simulation(Balls(2))
        pending = list(log)
        for _ in range(300):
            while pending and pending[0][0] == sim.step_count:
                sim.apply(pending.pop(0)[1])
            sim.step()
        return bits(sim)

    assert replay() == replay()


def test_reset_goes_back_to_the_start_but_keeps_the_settings():
    sim = Simulation(Balls(2))
    start = bits(sim)
    sim.set(restitution=0.25)
    sim.run(1.0)
    sim.apply(Reset())
    assert bits(sim) == start
    assert sim.step_count == 0 and sim.time == 0.0
    assert sim.settings.restitution == 0.25
    assert sim.events == []
    assert len(sim.contacts.gap) == 0


@pytest.mark.parametrize(("name", "value", "says"), [
    ("restitution", 1.5, "restitution must be a number from 0 to 1, not 1.5"),
    ("restitution", "much", "restitution must be a number"),
    ("friction", -0.1, "friction must be a number from 0"),
    ("friction", float("nan"), "friction must be a number"),
    ("h", 0.0, "h must be a number from 1e-6 to 0.1, not 0.0"),
    ("h", None, "h must be a number"),
    ("iterations", 0, "iterations must be a whole number from 1"),
    ("iterations", 2.5, "iterations must be a whole number"),
    ("iterations", True, "iterations must be a whole number"),
    ("gravity", (0.0, 1.0), "gravity must be three finite numbers"),
    ("gravity", (0.0, 1.0, float("inf")), "gravity must be three finite numbers"),
    ("gravity", "down", "gravity must be three finite numbers"),
    ("method", "magic", "method must be one of time_stepping"),
    ("integrator", "verlet",
     "integrator must be one of euler, semi_implicit, heun, rk4, dopri5, sdirk2, midpoint, not 'verlet'"),
    ("solver", "none", "solver must be one of"),
    ("elasticity", 1.0, "there is no setting 'elasticity'; there are method"),
])
def test_a_setting_that_is_not_allowed_is_refused_in_one_sentence(name, value, says):
    sim = Simulation(Balls(1))
    before = sim.settings
    with pytest.raises(ValueError) as refusal:
        sim.set(**{"restitution": 0.5, "friction": 0.5, name: value})
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert sim.settings == before


def test_restitution_and_friction_override_every_pair_until_taken_back():
    sim = Simulation(Balls(1, restitution=0.8))
    sim.set(restitution=0.5, friction=0.25)
    assert (sim.model.materials.restitution == 0.5).all() and (sim.model.materials.friction == 0.25).all()
    sim.set(restitution=None)
    assert (sim.model.materials.restitution == 0.8).all() and (sim.model.materials.friction == 0.25).all()


def test_the_restitution_slider_reaches_the_bounce():
    heights = {}
    for e in (0.0, 1.0):
        sim = Simulation(Balls(1))
        sim.set(restitution=e)
        sim.run(0.45)  # the fall from 1 m takes 0.452 s
        sim.run(0.9)
        heights[e] = sim.position("ball0")[2] - 0.5
    # after as long again the elastic ball is back at the top; velocity error of the scheme 2 g h, over half a second
    assert heights[1.0] == pytest.approx(1.0, abs=0.04)
    assert heights[0.0] == pytest.approx(0.0, abs=0.01)


def test_gravity_is_what_a_free_body_feels():
    sim = Simulation(Balls(1))
    sim.set(gravity=(1.0, 2.0, 0.0))
    sim.run(0.5)
    assert sim.velocity("ball0") == pytest.approx((0.5, 1.0, 0.0), abs=1e-12)
    assert sim.energy().potential == pytest.approx(
        -1.0 * sim.position("ball0")[0] - 2.0 * sim.position("ball0")[1], abs=1e-12)


def test_a_force_acts_for_one_step_and_at_its_point():
    sim = Simulation(Balls(1))
    sim.set(gravity=(0.0, 0.0, 0.0), h=0.01)
    sim.apply_force("ball0", (2.0, 0.0, 0.0), top_of(sim, "ball0"))
    sim.step()
    p, l = sim.momentum()
    assert p == pytest.approx((0.02, 0.0, 0.0), abs=1e-15)
    # f at height z = 1.5 + 0.5 about the world origin: l_y = z f_x h
    assert l == pytest.approx((0.0, 2.0 * 0.02, 0.0), abs=1e-12)
    sim.step()
    assert sim.momentum()[0] == pytest.approx(p, abs=1e-15)


def test_positions_are_those_of_the_body_as_the_scene_placed_it():
    scene = Balls(1)
    build = scene.build

    def moved():
        setup = build()
        setup.labels.origin[0] = (0.0, 0.0, -0.25)   # the scene's origin, seen from the centre of mass
        setup.labels.axes[0] = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
        setup.state.bodies.q[0] = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # a quarter turn about x: z -> -y
        setup.state.bodies.w[0] = (0.0, 0.0, 2.0)
        return setup

    scene.build = moved
    sim = Simulation(scene)
    assert sim.position("ball0") == pytest.approx((0.0, 0.25, 1.5))
    assert sim.velocity("ball0") == pytest.approx((-0.5, 0.0, 0.0))  # ω × r
    assert sim.orientation("ball0") == pytest.approx((0.5, 0.5, -0.5, 0.5))
    ways = (sim.position, sim.orientation, sim.velocity, sim.angular_velocity)
    for one, all_of in zip(ways, sim.frames(), strict=True):
        assert one(0) == pytest.approx(all_of[0])


def test_generalized_coordinates_are_those_of_the_dynamic_bodies_angular_part_first():
    sim = Simulation(Balls(2))
    sim.run(0.1)
    b = sim.state.bodies
    assert (sim.q == np.concatenate([b.q[0], b.x[0], b.q[1], b.x[1]])).all()
    assert (sim.v == np.concatenate([b.w[0], b.v[0], b.w[1], b.v[1]])).all()


def test_a_name_that_is_not_in_the_scene_is_refused_with_the_names_that_are():
    sim = Simulation(Balls(2))
    with pytest.raises(ValueError, match="there is no body 'cube'; this scene has ball0, ball1, floor"):
        sim.position("cube")
    with pytest.raises(ValueError, match="there is no body 7"):
        sim.velocity(7)
    with pytest.raises(ValueError, match="'floor' does not move"):
        sim.grab("floor", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="force must be three finite numbers"):
        sim.apply_force("ball0", (1.0, 2.0))


@pytest.mark.parametrize(("error", "says"), [
    (np.linalg.LinAlgError("Singular matrix"), "are singular at t = "), (MemoryError(), "more memory than there is"),
    (IndexError("index 3"), r"a fault of this program \(IndexError at test_simulation.py:\d+\)"),
])
def test_whatever_fails_in_a_method_is_one_error_and_the_state_kept(monkeypatch, error, says):
    """Half of the step is made when it fails: the state is that before it, and the run can go on."""
    sim = Simulation(Balls(2))
    sim.step()
    before = bits(sim)

    def failing(*_):
        raise error

    def spoiling(state, *_):
        state.bodies.x[:] = np.nan
        failing()

    monkeypatch.setattr(sim._method, "step", spoiling)
    with pytest.raises(CannotStep, match=says):
        sim.step()
    assert bits(sim) == before and sim.step_count == 1
    monkeypatch.undo()
    sim.step()
    monkeypatch.setattr(type(sim._method), "problem", failing)
    with pytest.raises(CannotStep, match=says):
        sim.problem()


def test_contacts_that_are_not_finite_are_no_step():
    sim = simulate(ground(), ball("ball", (0.0, 0.0, 0.1)))
    sim.step()
    assert sim.contacts.count[0]
    real = sim._method.step

    def spoiling(*args):
        real(*args)
        sim._method.contacts.lam[0] = np.nan

    sim._method.step = spoiling
    with pytest.raises(CannotStep, match="finite"):
        sim.step()


def test_a_motion_that_is_no_longer_finite_is_said_and_the_state_kept():
    sim = Simulation(Balls(2))
    sim.step()
    before = bits(sim)
    sim.loads.force[1, 0] = np.inf
    with pytest.raises(CannotStep, match="finite"):
        sim.step()
    assert bits(sim) == before
    sim.loads.force[:] = 0.0
    sim.step()
    assert sim.step_count == 2


def test_asking_for_the_problem_changes_nothing():
    sim, other = Simulation(Balls(2)), Simulation(Balls(2))
    for s in (sim, other):
        s.run(1.0)
    contacts = shown(sim)
    sim.problem()
    assert shown(sim) == contacts
    for s in (sim, other):
        s.run(1.5)
    assert bits(sim) == bits(other)


def test_a_short_history_forgets_nothing_it_promises():
    history = History(budget=1)
    assert history.first == history.last == 0
    with pytest.raises(ValueError, match="step 3 is not in the history"):
        history.keyframe(3)


def test_the_table_of_settings_and_the_record_agree():
    """Every field of Settings has its row and the other way round, in the ranges of the table; what a method says that
    it uses is a setting; gains are fields of materials in the order of their columns."""
    defaults = asdict(Settings())
    assert set(SETTINGS) == set(defaults)
    assert check_settings(Settings(), defaults) == Settings()
    for name, setting in SETTINGS.items():
        value = defaults[name]
        assert (value is None) == setting.none and (value is None or isinstance(value, setting.kind))
        assert (name in CHOICES) == (setting.kind is str)
    assert set().union(*(method.uses for method in METHODS.values())) <= set(SETTINGS)
    assert tuple(GainsTable.model_fields) == GAINS
