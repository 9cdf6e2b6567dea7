"""Claims about islands that sleep: nothing of them changes, whatever stirs them wakes them in the same step, and then
they move as if they had never slept.

At most s 2 g h is the speed with which a body falls asleep, s the setting `sleep`; see `methods.sleep`. S = 1e-8 is
above what rounding leaves a block at rest, 1e-13 g h.
"""

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate

from contactlab.physics import Scene, Simulation
from contactlab.physics.books.ledger import Account
from contactlab.physics.methods.sleep import STEPS
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.run_file import read_run, write_run
from contactlab.physics.simulation.commands import Set
from contactlab.physics.simulation.history import arrays, hash_of_state

S, H = 1e-8, 1 / 240
WEIGHT = 3.0 * G  # of a tower


def tower(at=0.0, name="b"):
    return [block(f"{name}{i}", (at, 0, 0.25 + 0.5 * i)) for i in range(3)]


def sleeping(*bodies, below=S, **keywords):
    """The bodies on the ground, with steps enough for them to fall asleep."""
    sim = simulate(ground(), *bodies, **keywords)
    sim.set(sleep=below)
    for _ in range(STEPS + 1):
        sim.step()
    return sim


def awake(sim, *names):
    return [bool(sim.state.sleep.island[sim.number(name)] < 0) for name in names]


def test_unless_asked_for_nothing_sleeps():
    sim = simulate(ground(), *tower())
    sim.run(1.0)
    assert sim.settings.sleep == 0.0 and (sim.state.sleep.island < 0).all()


def test_a_tower_falls_asleep_and_then_nothing_of_it_changes_by_a_bit():
    """Its contacts are told as they were, no event is, and the ledger goes on: what gravity gives normal forces take,
    so that drift gets no more than sums of 300 numbers are rounded by, 300² eps of the largest of them."""
    sim = sleeping(*tower())
    told = [a.copy() for a in sim.contacts]
    before = [a.copy() for a in arrays(sim.state)]
    assert not any(awake(sim, "b0", "b1", "b2")) and sim.info.asleep == 3
    assert sim.contacts.lam.sum() == pytest.approx(2 * WEIGHT, rel=1e-9)  # three, two and one block
    ledger, events = sim.state.ledger.copy(), len(sim.events)
    for _ in range(300):
        sim.step()
    sim.state.t[0], sim.state.ledger[:] = before[0][0], ledger
    for array, old in zip(arrays(sim.state), before, strict=True):
        assert np.array_equal(array, old)
    for array, old in zip(sim.contacts, told, strict=True):
        assert np.array_equal(array, old)
    assert len(sim.events) == events and (sim.state.bodies.P == 0.0).all()


def test_the_ledger_of_what_sleeps_balances():
    """Gravity gives m g t, and contacts take it."""
    sim = sleeping(*tower(), block("slope", (2, 0, 0.25)), gravity=(1.0, 0.0, -G), below=1e-6)
    start = sim.state.ledger.copy()
    sim.run(sim.time + 300 * H)
    gained = sim.state.ledger - start
    steps = round(gained[Account.GRAVITY, 3] / (-4.0 * G * H))
    assert steps == pytest.approx(300, abs=1)
    assert gained[Account.FRICTION, 1] == pytest.approx(-4.0 * H * steps, rel=1e-5)  # s of the largest forces
    size = np.abs(gained).max()
    assert np.abs(gained[Account.DRIFT]).max() <= 300**2 * np.finfo(float).eps * size


def stir(sim, how):
    match how:
        case "force":
            sim.apply_force("b2", (0.1, 0, 0))
        case "torque":
            sim.apply_torque("b1", (0, 0, 1e-6))
        case "mouse":
            sim.grab("b0", sim.position("b0"), sim.position("b0"))
        case "gravity":
            sim.set(gravity=(0, 0, -G - 1e-9))
        case "friction":
            sim.set(friction=0.4)
        case "solver":
            sim.set(solver="pgs")
        case "step":
            sim.set(h=1 / 241)
        case "method":
            sim.set(method="event_driven")
        case "soft":
            sim.set(method="compliant")
        case "off":
            sim.set(sleep=0.0)
        case "neighbour removed":
            sim.place("b1", (5, 0, 0.25), (1, 0, 0, 0))
        case "put":
            sim.body("b2").velocity = (0.0, 0.0, 1.0)


@pytest.mark.parametrize("how", ["force", "torque", "mouse", "gravity", "friction", "solver", "step", "method", "soft",
                                 "off", "neighbour removed", "put"])
def test_whatever_stirs_a_tower_wakes_all_of_it_in_the_next_step(how):
    sim = sleeping(*tower())
    stir(sim, how)
    sim.step()
    assert all(awake(sim, "b0", "b1", "b2"))
    if how not in ("neighbour removed", "put"):  # by hand, whereupon all contacts count as new
        assert not sim.last_events


def test_only_the_island_that_is_touched_wakes_in_the_step_that_touches_it():
    """A ball of 2 m/s without friction comes to the first of two towers after 0.1 s, which is asleep by then."""
    sim = simulate(ground(), *tower(), *tower(2.0, "c"), ball("ball", (-0.75, 0, 0.101), velocity=(2.0, 0, 0)), mu=0.0)
    sim.set(sleep=S)
    woken = None
    for step in range(100):
        slept = not awake(sim, "b0")[0]
        sim.step()
        if slept and awake(sim, "b0")[0]:
            woken = step
            assert any(event.kind == "impact" for event in sim.last_events)
    assert woken is not None and woken >= STEPS
    assert not any(awake(sim, "c0", "c1", "c2"))


def test_what_passes_by_wakes_nothing():
    sim = sleeping(*tower(), ball("ball", (-0.5, -0.4, 0.1), velocity=(0.5, 0, 0)), mu=0.0)
    for _ in range(480):
        sim.step()
        assert not any(awake(sim, "b0", "b1", "b2"))
    assert sim.position("ball")[0] > 0.5


def test_a_support_that_begins_to_move_wakes_what_lies_on_it():
    """A lift rests for half a second, then rises at 0.2 m/s: with e = 0 the block follows in that very step."""
    path = [{"time": 0.5, "position": [0.0, 0.0, 0.0]}, {"time": 1.5, "position": [0.0, 0.0, 0.2]}]
    lift = {"name": "lift", "kinematic": True, "position": [0.0, 0.0, 0.1], "motion": {"path": path},
            "shape": [{"type": "box", "size": [1.0, 1.0, 0.2]}]}
    sim = simulate(lift, block("b", (0, 0, 0.45)))
    sim.set(sleep=S)
    sim.run(0.5 - 2 * H)
    assert not awake(sim, "b")[0]
    while sim.time < 1.0:
        sim.step()
        if sim.time > 0.5 + 1.5 * H:
            assert awake(sim, "b")[0]
    assert sim.velocity("b")[2] == pytest.approx(0.2, abs=1e-9)
    assert sim.position("b")[2] - sim.position("lift")[2] == pytest.approx(0.35, abs=G * H * H)
    sim.run(2.0)  # it rests again
    assert not awake(sim, "b")[0]


def test_what_slides_rolls_or_hangs_stays_awake():
    """A ball that rolls and a block that a belt carries; one that a wall holds on the belt rests, but rubs."""
    belt = {"name": "belt", "fixed": True, "position": [0.0, 3.0, -0.1], "surface_velocity": [0.3, 0.0, 0.0],
            "shape": [{"type": "box", "size": [20.0, 1.0, 0.2]}]}
    wall = {"name": "wall", "fixed": True, "position": [0.3, 3.0, 0.5], "shape": [{"type": "box",
                                                                              "size": [0.1, 0.5, 1.0]}]}
    sim = simulate(ground(position=(0, 0, 0)), belt, wall, ball("rolls", (0, 0, 0.1), velocity=(0.2, 0, 0),
                                                                 angular_velocity=(0, 2.0, 0)),
                   block("rides", (-4, 3, 0.25)), block("rubs", (0, 3, 0.25)))
    sim.set(sleep=S)
    sim.run(1.0)
    assert np.linalg.norm(sim.velocity("rubs")) <= 1e-9
    assert all(awake(sim, "rolls", "rides", "rubs"))


def test_after_waking_it_moves_as_if_it_had_never_slept():
    """A block sleeps a second, is hit by another without friction and slides. Awake it may have moved by S 2 g h t in
    this time; the hit happens where it is, and a block of the same mass has its speed halved whatever the place. So the
    runs stay as near as S 2 g h times the time since it fell asleep."""
    def run(below):
        sim = simulate(ground(), block("b", (0, 0, 0.25)), block("puck", (-1.6, 0, 0.25), velocity=(1.0, 0, 0)), mu=0.0)
        sim.set(sleep=below)
        sim.run(1.0)
        slept = not awake(sim, "b")[0]
        sim.run(3.0)
        return slept, sim
    (slept, one), (never, other) = run(S), run(0.0)
    assert slept and not never
    assert one.velocity("b")[0] == pytest.approx(0.5, abs=1e-9)
    bound = S * 2 * G * H * 3.0
    assert np.abs(one.state.bodies.x - other.state.bodies.x).max() <= bound
    assert np.abs(one.state.bodies.v - other.state.bodies.v).max() <= bound


def test_a_pushed_tower_moves_as_one_that_never_slept():
    """A force that it cannot hold drags the lowest block away from under the others, for a tenth of a second."""
    def run(below):
        sim = sleeping(*tower(), below=below)
        for _ in range(24):
            sim.apply_force("b0", (40.0, 0, 0))
            sim.step()
        return sim
    one, other = run(S), run(0.0)
    assert one.velocity("b0")[0] > 0.5
    assert np.abs(one.state.bodies.x - other.state.bodies.x).max() <= S * 2 * G * H * 1.0
    assert [e.kind for e in one.events] == [e.kind for e in other.events]


def test_seeking_and_restoring_give_the_same_bits_while_some_sleep():
    """Recorded with what wakes them: a push at step 60, friction at 120, another method at 150."""
    sim = simulate(ground(), *tower(), *tower(2.0, "c"))
    sim.set(sleep=S)
    sim.record_history()
    hashes, contacts = [hash_of_state(sim.state)], []
    for step in range(200):
        if step == 60:
            sim.apply_force("b1", (5.0, 0, 0))
        if step in (120, 150, 160):
            sim.set(**{120: {"friction": 0.4}, 150: {"method": "compliant"}, 160: {"method": "time_stepping"}}[step])
        sim.step()
        hashes.append(hash_of_state(sim.state))
        contacts.append(sim.contacts.lam.copy())
    slept = []
    sim.replaying = True
    for step in (199, 40, 61, 100, 122, 62, 151, 175, 59):
        sim.seek(step)
        slept.append(int((sim.state.sleep.island >= 0).sum()))
        assert hash_of_state(sim.state) == hashes[step]
        assert np.array_equal(sim.contacts.lam, contacts[step - 1])
    assert set(slept) >= {0, 3, 6} and sim.history.differs is None
    other = simulate(ground(), *tower(), *tower(2.0, "c"))
    other.restore(sim.save())
    sim.replaying = False
    for twin in (sim, other):
        twin.apply_force("c0", (1.0, 0, 0))
        twin.step()
    assert hash_of_state(sim.state) == hash_of_state(other.state)


def test_many_steps_in_one_call_have_the_bits_of_single_steps():
    def made():
        sim = simulate(ground(), *tower(), ball("ball", (-1.05, 0, 0.1), velocity=(2.0, 0, 0)), mu=0.0)
        sim.set(sleep=S)
        return sim
    one, other = made(), made()
    one.run(0.75)
    for _ in range(180):
        other.step()
    assert hash_of_state(one.state) == hash_of_state(other.state)
    assert one.events == other.events


def test_a_recorded_run_has_its_sleepers_in_the_file(tmp_path):
    """Read from the file, the last state has the same bits, and so has the next step, which wakes them."""
    run = Comparison(simulate(ground(), *tower()).scene, {}, 16)
    run.apply(Set("sleep", S))
    for _ in range(2 * STEPS):
        run.step()
    write_run(tmp_path / "a.contactlab", run.heading, run.take(everything=True))
    recording = read_run(tmp_path / "a.contactlab")
    again = Comparison(recording.scene, {}, 16, recording)
    again.seek(2 * STEPS)
    assert not any(awake(again.simulation, "b0", "b1", "b2"))
    for one in (run, again):
        one.apply(Set("gravity", (0.0, 0.0, -5.0)))
        one.step()
    assert all(awake(again.simulation, "b0", "b1", "b2"))
    assert hash_of_state(again.simulation.state) == hash_of_state(run.simulation.state)


def test_impulses_of_limits_outlive_that_others_fall_asleep_and_wake():
    """They stand behind those of contacts in the memory. A door that a force presses against its stop does the same to
    the bit beside a tower that sleeps and wakes as beside one that never does; static friction and moments have numbers
    of contacts in the memory, too."""
    door = block("door", (0.0, 5.0, 1.0), (1.0, 0.1, 1.0))
    hinge = {"type": "hinge", "child": "door", "anchor": [-0.5, 5.0, 1.0], "axis": [0.0, 0.0, 1.0],
             "limits": [-0.2, 0.0], "motor": {"torque": 5.0}}

    def run(below, coordinates):
        sim = Simulation(Scene.from_dict({
            "solver": {"h": H, "sleep": below}, "joint": [hinge | {"coordinates": coordinates}],
            "material": {"default": {"friction": 0.5, "friction_static": 0.6, "friction_rolling": 0.01}},
            "body": [ground(), *tower(), door]}))
        seen, slept = [], []
        for step in range(90):
            if step == 60:
                sim.apply_force("b1", (4.0, 0, 0))
            sim.step()
            k = sim.number("door")
            seen.append(np.concatenate([a[k] for a in sim.state.bodies]))
            slept.append(not awake(sim, "b0")[0])
        return np.array(seen), slept, sim
    for coordinates in ("generalized", "maximal"):
        one, slept, sim = run(S, coordinates)
        other, never, _ = run(0.0, coordinates)
        assert slept[59] and not slept[61] and not any(never)
        assert sim.state.memory.impulse.any()
        assert np.array_equal(one, other)
