"""Bodies, joints and contacts as objects with names; controllers; tables: what scripts rely on."""

import csv
import math
import sys

import numpy as np
import pytest
import tree_scenes
from contact_scenes import ball, ground

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods import METHODS
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.simulation.history import hash_of_state

EPS = np.finfo(float).eps


def two_balls(**more):
    """One ball in the air, one at rest on the ground, both of radius 0.1 m and 1 kg."""
    bodies = [ball("high", (0.0, 0.0, 3.0)), ball("low", (2.0, 0.0, 0.1)), ground()]
    return Scene.from_dict({"body": bodies} | more)


def rods(count, **more):
    return Scene.from_dict(tree_scenes.rods(count, **more))


@pytest.fixture
def sim():
    return Simulation(two_balls(), method="event_driven", integrator="rk4")


def motor(sim, torque):
    """A controller that pushes on the first rod of a chain."""
    def push(now):
        now.joints[0].force = torque
    sim.controller = push
    return sim


def test_handles_read_what_the_methods_of_the_simulation_and_its_arrays_say(sim):
    sim.run(0.1)
    for i, body in enumerate(sim.bodies):
        assert body.name == sim.bodies.names[i] == repr(body).split("'")[1]
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            one = getattr(body, name)
            assert np.array_equal(one, getattr(sim, name)(body.name))
            assert np.array_equal(one, getattr(sim.bodies, name)[i])
    assert [b.name for b in sim.bodies[:2]] == ["high", "low"] and len(sim.bodies) == 3
    assert [b.kind for b in sim.bodies] == ["dynamic", "dynamic", "fixed"]
    assert [b.name for b in sim.bodies.moving] == ["high", "low"]
    high = sim.body("high")
    assert np.allclose(high.momentum, high.mass * high.velocity, rtol=4 * EPS, atol=0)
    assert high.kinetic_energy == pytest.approx(0.5 * high.mass * (9.81 * sim.time) ** 2, rel=1e-9)
    with pytest.raises(ValueError, match="no body 'hight'; this scene has high, low, ground"):
        sim.body("hight")
    with pytest.raises(ValueError, match="this scene has bodies 0 to 2"):
        sim.body(3)
    with pytest.raises(ValueError, match="no joint 'knee'"):
        sim.joint("knee")


@pytest.mark.parametrize("method", METHODS)
def test_a_resting_body_feels_its_weight_from_its_contacts(method):
    """The force of the ground on a ball at rest is m g; the contact lists it on b, and on a with the other sign."""
    sim = Simulation(two_balls(), method=method)
    sim.set(damping_n=1e3)
    sim.run(0.5)
    low = sim.body("low")
    weight = np.array([0.0, 0.0, 9.81 * low.mass])
    # the softest of the methods still moves: stiffness 1e5, damping 1e3 and 1 kg have decayed by exp(-112 · 0.5)
    assert np.allclose(low.contact_force, weight, rtol=0, atol=1e-6)
    (contact,) = low.contacts
    assert {contact.a, contact.b} == {"low", "ground"} and contact.current
    assert np.allclose(contact.force_on("low"), weight, rtol=0, atol=1e-6)
    assert np.array_equal(contact.force_on("ground"), -contact.force_on("low"))
    assert not contact.force_on("high").any()
    assert [c.gap for c in sim.contact_list()] == sim.contacts.gap.tolist()


def test_a_body_that_is_put_elsewhere_moves_on_as_one_that_started_there(sim):
    """Free flight from there: x = x_0 + v t - ½ g t², exact for rk4 up to rounding of terms of size 10."""
    sim.run(0.25)
    body, t0 = sim.body("high"), sim.time
    turned = np.array([math.cos(0.5), math.sin(0.5), 0.0, 0.0])
    body.position, body.velocity = (5.0, 1.0, 9.0), (1.0, -2.0, 3.0)
    body.orientation, body.angular_velocity = 2.0 * turned, (0.0, 0.5, 0.0)
    for wanted, found in (((5.0, 1.0, 9.0), body.position), ((1.0, -2.0, 3.0), body.velocity),
                          (turned, body.orientation), ((0.0, 0.5, 0.0), body.angular_velocity)):
        assert np.allclose(found, wanted, rtol=0, atol=16 * EPS * 10)
    sim.run(0.5)
    t = sim.time - t0
    ends = np.array([5.0 + t, 1.0 - 2.0 * t, 9.0 + 3.0 * t - 0.5 * 9.81 * t * t])
    assert np.allclose(body.position, ends, rtol=0, atol=200 * EPS * 10)
    assert np.allclose(body.angular_velocity, (0.0, 0.5, 0.0), rtol=0, atol=1e-12)


def test_what_is_put_by_hand_is_booked_as_a_change_between_steps(sim):
    sim.run(0.25)
    before = sim.energy().total
    sim.body("high").velocity = (3.0, 0.0, 0.0)
    given = sim.energy().total - before
    sim.step()
    assert sim.ledger["Settings changed"][0] == pytest.approx(given, rel=1e-12)
    assert abs(sim.ledger["Numerical drift"][0]) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_body_taken_off_the_ground_leaves_no_force_behind(method):
    """A ball that rested and is put 1 m higher falls freely."""
    sim = Simulation(two_balls(), method=method, integrator="rk4")
    sim.run(0.1)
    low = sim.body("low")
    low.position, low.velocity = (2.0, 0.0, 1.5), (0.0, 0.0, 0.0)
    low.angular_velocity = (0.0, 0.0, 0.0)
    t0 = sim.time
    for _ in range(24):
        sim.step()
        assert low.contact_force[2] == 0.0
    t = sim.time - t0
    assert low.position[2] == pytest.approx(1.5 - 0.5 * 9.81 * t * t, abs=1e-9)


def test_only_free_bodies_can_be_put_elsewhere():
    sim = Simulation(rods(1))
    with pytest.raises(ValueError, match="'rod 0' cannot be put elsewhere: it is a link of a tree"):
        sim.body(0).position = (0.0, 0.0, 0.0)
    sim = Simulation(two_balls())
    with pytest.raises(ValueError, match="it is fixed"):
        sim.body("ground").velocity = (1.0, 0.0, 0.0)
    saved = hash_of_state(sim.state)
    for name, wrong in (("position", (0.0, math.nan, 0.0)), ("velocity", (1.0, 2.0)), ("orientation", (0.0,) * 4),
                        ("orientation", (1.0, 0.0, 0.0))):
        with pytest.raises(ValueError, match=f"{name} must be"):
            setattr(sim.body("high"), name, wrong)
    assert hash_of_state(sim.state) == saved


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_hinge_says_the_angle_and_the_speed_of_its_rod(coordinates):
    """A rod of 1 m at 30° from hanging: its centre is at ½ (sin a, 0, -cos a), and moves with ½ ω."""
    sim = Simulation(rods(1, angle=30.0, coordinates=coordinates, velocity=2.0))
    hinge, rod = sim.joints[0], sim.body("rod 0")
    assert hinge.coordinates == coordinates and (hinge.type, hinge.parent, hinge.child) == ("hinge", "world", "rod 0")
    assert hinge.position == pytest.approx(math.radians(30.0), abs=8 * EPS)
    assert hinge.velocity == pytest.approx(2.0, abs=16 * EPS)
    assert np.linalg.norm(rod.velocity) == pytest.approx(1.0, abs=16 * EPS)
    assert sim.table("joints")["position"] == pytest.approx([math.radians(30.0)], abs=8 * EPS)


def test_a_joint_that_is_set_carries_its_link_there():
    sim = Simulation(rods(2, angle=0.0))
    first, second = sim.joints
    first.position, second.position, first.velocity = 0.3, 0.4, 1.5
    a, b = 0.3, 0.7
    ends = [np.array([math.sin(a), 0.0, -math.cos(a)]), np.array([math.sin(b), 0.0, -math.cos(b)])]
    assert np.allclose(sim.position("rod 0"), 0.5 * ends[0], rtol=0, atol=8 * EPS)
    assert np.allclose(sim.position("rod 1"), ends[0] + 0.5 * ends[1], rtol=0, atol=8 * EPS)
    assert np.allclose(sim.velocity("rod 0"), 0.75 * np.array([math.cos(a), 0.0, math.sin(a)]), rtol=0, atol=8 * EPS)
    with pytest.raises(ValueError, match="takes 1 finite number"):
        first.position = (1.0, 2.0)
    with pytest.raises(ValueError, match='coordinates = "maximal"'):
        Simulation(rods(1, coordinates="maximal")).joints[0].force = 1.0


# ------------------------------------------------------------------------------------------------ controllers


def test_a_torque_at_the_hinge_holds_the_rod_level():
    """τ = ½ m g l balances the weight of a level rod: q stays 90° to the rounding of 240 steps."""
    sim = motor(Simulation(rods(1, angle=90.0)), 0.5 * 9.81)
    sim.run(1.0)
    assert sim.joints[0].position == pytest.approx(0.5 * math.pi, abs=240 * 16 * EPS)


def test_steps_that_are_made_again_need_no_controller():
    """What a controller puts on is recorded with the step; it is asked for new steps only."""
    sim, asked = Simulation(rods(2)), []

    def shake(now):
        asked.append(now.step_count)
        now.body("rod 1").apply_force((10.0 * math.sin(20.0 * now.time), 0.0, 0.0))
        now.body("rod 0").apply_torque((0.0, 1.0, 0.0))

    sim.controller = shake
    sim.record_history()
    hashes = []
    for _ in range(20):
        hashes.append(hash_of_state(sim.state))
        sim.step()
    assert asked == list(range(20))
    for step in (3, 17, 10):
        sim.seek(step)
        assert hash_of_state(sim.state) == hashes[step]
    assert asked == list(range(20))


def test_a_controller_that_fails_says_its_line_and_leaves_the_state_before_the_step():
    sim = Simulation(two_balls())
    sim.run(0.1)
    before = hash_of_state(sim.state)

    def wrong(now):
        now.body("high").apply_force((1e3, 0.0, 0.0))
        now.body("high").velocity = (1.0, 0.0, 0.0)
        return 1 / int(now.time * 0)

    line = wrong.__code__.co_firstlineno + 3
    sim.controller = wrong
    with pytest.raises(CannotStep, match=rf"line {line} of test_handles.py, `return .*`: ZeroDivisionError: ") as said:
        sim.step()
    assert isinstance(said.value.__cause__, ZeroDivisionError)
    assert hash_of_state(sim.state) == before and not sim.loads.force.any()
    sim.controller = None
    sim.step()
    assert sim.velocity("high")[0] == 0.0


# ------------------------------------------------------------------------------------------------ tables


def test_tables_hold_what_the_arrays_hold(sim):
    sim.run(1.0)
    bodies, contacts, events = sim.table(), sim.table("contacts"), sim.table("events")
    assert bodies["body"] == ["high", "low", "ground"] and bodies["z"].tolist() == sim.bodies.position[:, 2].tolist()
    assert contacts["lam"].tolist() == sim.contacts.lam.tolist() and set(contacts["b"]) <= {"high", "low", "ground"}
    assert events["t"].tolist() == [e.t for e in sim.events] and "impact" in events["kind"]
    assert all(len({len(column) for column in t.values()}) == 1 for t in (bodies, contacts, events))
    with pytest.raises(ValueError, match="one of bodies, joints, contacts, events, not 'body'"):
        sim.table("body")


def test_a_data_frame_has_the_columns_of_the_table(sim):
    pytest.importorskip("pandas")
    frame = sim.to_dataframe("bodies").set_index("body")
    assert frame.loc["high", "z"] == 3.0
    assert list(sim.to_dataframe("contacts").columns) == list(sim.table("contacts"))


def test_without_pandas_the_table_is_named(sim, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install pandas.*Simulation.table"):
        sim.to_dataframe()


def test_a_trace_notes_the_start_and_every_step(sim, tmp_path):
    """A fall: z = 3 - ½ g t²."""
    with sim.trace(every=2, z=lambda now: now.body("high").position[2]) as run:
        for _ in range(20):
            sim.step()
    sim.step()
    assert len(run) == 11 and run["t"][0] == 0.0 and run["t"][-1] == pytest.approx(20 * sim.settings.h)
    assert np.allclose(run["z"], 3.0 - 0.5 * 9.81 * run["t"] ** 2, rtol=0, atol=1e-12)
    run.save(tmp_path / "fall.csv")
    run.save(tmp_path / "fall.npz")
    with (tmp_path / "fall.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t", "z"] and np.array_equal(np.array(rows[1:], float)[:, 1], run["z"])
    assert np.array_equal(np.load(tmp_path / "fall.npz")["z"], run["z"])
    sim.save_table(tmp_path / "events.csv", "events")
    with (tmp_path / "events.csv").open(newline="") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == sim.table("events")["kind"]
    with pytest.raises(ValueError, match=r"\.csv or \.npz"):
        run.save(tmp_path / "fall.xlsx")
    with sim.trace() as usual:
        pass
    assert set(usual.table) == {"t", "kinetic", "potential", "energy", "contacts"}
