"""Driven bodies whose speed jumps at their way points: in event_driven that happens at its own instant, wherever in a
step it lies, and throws, leaves behind and strikes. Trees that hang on such bodies pass it on in all methods."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactlab.physics.books.ledger import Account
from contactlab.physics.dynamics.motion import next_way_point
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

G, SPEED, E, RADIUS = 9.81, 1.0, 0.5, 0.1


def lift(restitution, path, h, **solver):
    """A ball on a table that follows a path of heights, (time, height) each."""
    motion = {"path": [{"time": t, "position": [0.0, 0.0, z]} for t, z in path]}
    table = {"name": "table", "kinematic": True, "motion": motion,
             "shape": [{"type": "box", "size": [1.0, 1.0, 0.2]}]}
    ball = {"name": "ball", "position": [0.0, 0.0, 0.2], "mass": 2.0, "shape": [{"type": "sphere", "radius": RADIUS}]}
    return Simulation(Scene.from_dict({
        "solver": {"method": "event_driven", "h": h, **solver},
        "material": {"default": {"restitution": restitution}}, "body": [table, ball]}))


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
@pytest.mark.parametrize(("start", "h"), [(0.2137, 0.01), (0.2, 0.01), (0.2137, 1 / 240), (0.2, 0.05)])
def test_a_table_that_starts_throws_the_ball(start, h, integrator):
    """Relative to the table the ball leaves with e times its speed, and meets it again after 2 e v/g."""
    sim = lift(E, [(0.1, 0.0), (start, 0.0), (start + 1.0, SPEED)], h, integrator=integrator)
    flight = 2.0 * E * SPEED / G
    while sim.time + h < start + 1.7 * flight:
        sim.step()
    hits = [e for e in sim.latest_events(99) if e.kind == "impact"]
    np.testing.assert_allclose([e.t for e in hits[:2]], [start, start + flight], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(hits[0].impulse, [0.0, 0.0, 2.0 * (1.0 + E) * SPEED], rtol=0.0, atol=1e-12)
    ledger = sim.state.ledger
    # the table gives v times its impulses, which lose (1 - e²) m v²/2 of the speed v at which the two meet
    given = sum(SPEED * e.impulse[2] for e in hits)
    met = [SPEED * E**k for k in range(len(hits))]
    assert ledger[Account.IMPACTS, 0] == pytest.approx(-sum((1.0 - E**2) * v**2 for v in met), abs=1e-10)
    assert ledger[Account.DRIVEN, 0] == pytest.approx(given, abs=1e-10)
    assert abs(ledger[Account.DRIFT, 0]) < 1e-10


@pytest.mark.parametrize("h", [0.01, 1 / 240])
def test_a_table_that_turns_back_lets_the_ball_fly(h):
    """Without restitution it is carried with the table's speed up to the turn, and then flies freely; many steps in one
    call stop at the way points as single ones do."""
    start, turn = 0.1037, 0.3037
    sim, other = (lift(0.0, [(0.0, 0.0), (start, 0.0), (turn, 0.2), (turn + 0.2, 0.0)], h) for _ in range(2))
    while sim.time + h < turn + 1.9 * SPEED / G:
        sim.step()
        z, v, t = sim.state.bodies.x[1, 2], sim.state.bodies.v[1, 2], sim.time
        carried = min(max(t - start, 0.0), turn - start)
        free = max(t - turn, 0.0)
        assert z == pytest.approx(0.2 + SPEED * (carried + free) - 0.5 * G * free**2, abs=1e-11)
        assert v == pytest.approx(SPEED * (t > start) - G * free, abs=1e-11)
    kinds = [(e.kind, e.t) for e in sim.latest_events(99) if e.kind in ("impact", "dynamic_loss")]
    assert [kind for kind, _ in kinds] == ["impact", "dynamic_loss"]
    np.testing.assert_allclose([t for _, t in kinds], [start, turn], rtol=0.0, atol=1e-12)
    other.run(until=sim.time)
    np.testing.assert_array_equal(other.state.bodies.x, sim.state.bodies.x)
    np.testing.assert_array_equal(other.state.bodies.v, sim.state.bodies.v)


def hook_and_rod(start, m, length):
    """A hook that is moved aside at 1 m/s from `start` on, and a rod that hangs down from it."""
    places = (0.0, 0.0), (start, 0.0), (0.5, 0.5 - start)
    motion = {"path": [{"time": t, "position": [x, 0.0, 0.0]} for t, x in places]}
    hook = {"name": "hook", "kinematic": True, "motion": motion, "position": [0.0, 0.0, 1.0],
            "shape": [{"type": "sphere", "radius": 0.02}]}
    rod = {"name": "rod", "mass": m, "inertia": [m * length**2 / 12, m * length**2 / 12, 0.01],
           "position": [0.0, 0.0, 1.0 - length / 2], "shape": [{"type": "box", "size": [0.02, 0.02, length]}]}
    return hook, rod


METHODS = [("event_driven", "dopri5"), ("time_stepping", "rk4"), ("compliant", "rk4"), ("compliant", "dopri5"),
           ("compliant", "sdirk2")]


def hung(joint, **solver):
    """The rod on its hook, just before the step in which that starts."""
    start, m, length = 0.0337, 3.0, 0.8
    sim = Simulation(Scene.from_dict({
        "solver": solver, "scene": {"gravity": [0.0, 0.0, 0.0]}, "body": list(hook_and_rod(start, m, length)),
        "joint": [{"parent": "hook", "child": "rod", "anchor": [0.0, 0.0, 1.0], **joint}]}))
    while sim.time + sim.settings.h < start:
        sim.step()
        assert not sim.state.bodies.v[1].any()
    return sim, start, m, length


@pytest.mark.parametrize(("method", "integrator", "cure"), [
    *((*made, cure) for made in METHODS[1:] for cure in ("projection", "none")), (*METHODS[3], "baumgarte"),
    (*METHODS[4], "baumgarte")])
def test_a_joint_in_maximal_coordinates_passes_the_jump_on(method, integrator, cure):
    """As in the next claim, in one step that holds the jump, in which the rod turns by 3 v h/2 l at most. Without a
    cure joints of `time_stepping` lose in it what they turn by, not its square. Where the jump is taken at the ends of
    the step, Baumgarte's cure pulls the rod after the way between in the steps to come: it is left out there."""
    h = 0.01
    sim, _, m, length = hung({"type": "ball", "coordinates": "maximal"}, method=method, integrator=integrator, h=h,
                             joint_cure=cure)
    sim.step()
    turn = 1.5 * h / length
    part = turn if method == "time_stepping" and cure != "projection" else 2.0 * turn**2
    assert sim.velocity("rod")[0] == pytest.approx(0.25, abs=part)
    np.testing.assert_allclose(sim.state.bodies.w[1], [0.0, 1.5 / length, 0.0], rtol=0.0, atol=1.5 / length * part)
    assert sim.state.ledger[Account.DRIVEN, 0] == pytest.approx(m / 8, rel=2.0 * part)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 2.0 * part * m / 8


@pytest.mark.parametrize("cure", ["projection", "baumgarte", "none"])
def test_a_joint_passes_the_jump_on(cure):
    """A rod of length l that hangs by its end, which is moved aside at v: it gets the impulse m v/4, turns at 3 v/2 l,
    and its middle goes aside at v/4. The drive gives half of m v/4 v, as its speed grows together with the rod's."""
    sim, start, m, length = hung({"type": "ball", "coordinates": "maximal"}, method="event_driven", h=0.01,
                                 joint_cure=cure)
    sim.set(h=start + 1e-9 - sim.time)
    sim.step()
    np.testing.assert_allclose(sim.state.bodies.v[1], [0.25, 0.0, 0.0], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(sim.state.bodies.w[1], [0.0, 1.5 / length, 0.0], rtol=0.0, atol=1e-8)
    assert sim.state.ledger[Account.DRIVEN, 0] == pytest.approx(m / 8, rel=1e-8)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-8


# ------------------------------------------------------------------------------------------------------------ trees
@pytest.mark.parametrize(("method", "integrator"), METHODS)
@pytest.mark.parametrize("start", [0.0337, 0.03])
def test_a_tree_passes_the_jump_on(method, integrator, start):
    """The rod of the claim above, in generalized coordinates: it gets 1/4 of the speed and 3 v/2 l. Without gravity
    nothing else acts, so the one step that holds the jump says it all: in it the rod turns by 3 v h/2 l at most, whose
    square changes 1 - cos."""
    m, length, h = 3.0, 0.8, 0.01
    hook, rod = hook_and_rod(start, m, length)
    joint = {"type": "hinge", "parent": "hook", "child": "rod", "anchor": [0.0, 0.0, 1.0], "axis": [0, 1, 0]}
    sim = Simulation(Scene.from_dict({"scene": {"gravity": [0.0, 0.0, 0.0]}, "body": [hook, rod], "joint": [joint]}),
                     method=method, integrator=integrator, h=h)
    while sim.time + h < start:
        sim.step()
        assert not sim.v.any()
    sim.step()
    turn = (1.5 * h / length) ** 2
    assert sim.v[0] == pytest.approx(1.5 / length, rel=2.0 * turn)
    np.testing.assert_allclose(sim.velocity("rod")[0], 0.25, rtol=0.0, atol=2.0 * turn)
    # in time_stepping what acts in the step works over the mean of the base's speeds, whenever it acts
    assert sim.state.ledger[Account.DRIVEN, 0] == pytest.approx(m / 8, rel=4.0 * turn)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 4.0 * turn * m / 8 + 1e-12


def chain(coordinates):
    """Ball, hinge and ball one below the other on a hook that starts and turns back between steps."""
    places = [(0.0, 0.0), (0.0337, 0.0), (0.1037, 0.07), (0.2, -0.02)]
    hook = {"name": "hook", "kinematic": True, "position": [0.0, 0.0, 1.0],
            "motion": {"path": [{"time": t, "position": [x, 0.0, 0.0]} for t, x in places]},
            "shape": [{"type": "sphere", "radius": 0.02}]}
    bodies, joints = [hook], []
    for i, joint in enumerate(({"type": "ball"}, {"type": "hinge", "axis": [0.6, 0.8, 0.0]}, {"type": "ball"})):
        bodies.append({"name": f"rod{i}", "mass": 1.0 + i, "inertia": [0.02, 0.03, 0.01],
                       "position": [0.0, 0.0, 0.9 - 0.2 * i]})
        joints.append({**joint, "parent": bodies[-2]["name"], "child": f"rod{i}", "coordinates": coordinates,
                       "anchor": [0.0, 0.0, 1.0 - 0.2 * i]})
    return Scene.from_dict({"scene": {"gravity": [0.0, 1.0, -G]}, "body": bodies, "joint": joints})


def swung(coordinates, method, integrator, h):
    """Where the chain is after 0.15 s, how it moves, what its drive gave and how much nobody booked."""
    sim = Simulation(chain(coordinates), method=method, integrator=integrator, h=h)
    for _ in range(round(0.15 / h)):
        sim.step()
    bodies, ledger = sim.state.bodies, sim.state.ledger
    return (np.hstack([bodies.x[1:], bodies.v[1:], bodies.w[1:]]), ledger[Account.DRIVEN, 0],
            abs(ledger[Account.DRIFT, 0]))


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize(("method", "integrator", "order"), [
    ("time_stepping", "rk4", 1), ("compliant", "rk4", 1), ("compliant", "dopri5", None), ("compliant", "sdirk2", 2)])
def test_a_chain_on_a_hook_that_jumps_moves_alike_in_both_coordinates_and_all_methods(
        method, integrator, order, coordinates):
    """event_driven stops at the way points: in both coordinates the same to what dopri5 keeps. So do implicit steps and
    steps with error control; the others take the jump where the step begins and ends, which leaves an error of first
    order, of v h/l = 0.05 of the speeds at h = 0.005, in what the chain does and in what is booked of its drive."""
    there, given, drift = swung("generalized", "event_driven", "dopri5", 0.005)
    again, same, _ = swung("maximal", "event_driven", "dopri5", 0.005)
    assert np.abs(there).max() > 2.0 and given > 0.1 and drift < 1e-9
    np.testing.assert_allclose(again, there, rtol=0.0, atol=1e-9)
    assert same == pytest.approx(given, abs=1e-9)
    errors, drifts = [], []
    for h in (0.005, 0.00125):
        found, work, drift = swung(coordinates, method, integrator, h)
        errors.append(np.abs(found - there).max())
        drifts.append(drift)
        assert work == pytest.approx(given, abs=drift + 10.0 * errors[-1])
    largest = np.abs(there).max()
    if order is None:
        assert errors[0] < 1e-6 * largest and drifts[0] < 1e-6
    else:
        assert errors[0] < 0.05**order * largest and drifts[0] < 0.05**order * largest
        assert errors[1] < 1.5 * 0.0125**order * largest and drifts[1] < 1.5 * 0.0125**order * largest


times = st.lists(st.floats(1e-3, 3.0), min_size=2, max_size=5)


@given(times, st.booleans(), st.floats(1e-4, 0.1), st.integers(0, 5000))
def test_the_next_way_point_is_the_first_after_a_time(gaps, loop, h, steps):
    """Also where the time is a way point but for rounding: it is passed then."""
    points = np.cumsum(gaps)
    path = [{"time": float(t), "position": [float(t), 0.0, 0.0]} for t in points]
    body = {"name": "hand", "kinematic": True, "motion": {"path": path, "loop": loop},
            "shape": [{"type": "sphere", "radius": 0.1}]}
    motions = Scene.from_dict({"body": [body]}).build().model.motions
    period = points[-1] - points[0]
    for t in (steps * h, points[0] + (steps % 7) * period, points[1]):
        found = next_way_point(motions, t)
        turn = np.floor((t - points[0]) / period)
        turns = np.arange(turn - 1, turn + 3) * period if loop else np.zeros(1)
        every = (turns[:, None] + points).ravel()
        after = every[every > t + 1e-15 * max(t, points[-1])]
        assert found == pytest.approx(after.min(initial=np.inf), rel=1e-14)
