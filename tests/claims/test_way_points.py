"""Driven bodies whose speed jumps at their way points: in event_driven that happens at its own instant, wherever in a
step it lies, and throws, leaves behind and strikes."""

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


@pytest.mark.parametrize("cure", ["projection", "baumgarte", "none"])
def test_a_joint_passes_the_jump_on(cure):
    """A rod of length l that hangs by its end, which is moved aside at v: it gets the impulse m v/4, turns at 3 v/2 l,
    and its middle goes aside at v/4. The drive gives half of m v/4 v, as its speed grows together with the rod's."""
    start, m, length = 0.0337, 3.0, 0.8
    places = (0.0, 0.0), (start, 0.0), (0.5, 0.5 - start)
    motion = {"path": [{"time": t, "position": [x, 0.0, 0.0]} for t, x in places]}
    hook = {"name": "hook", "kinematic": True, "motion": motion, "position": [0.0, 0.0, 1.0],
            "shape": [{"type": "sphere", "radius": 0.02}]}
    rod = {"name": "rod", "mass": m, "inertia": [m * length**2 / 12, m * length**2 / 12, 0.01],
           "position": [0.0, 0.0, 1.0 - length / 2], "shape": [{"type": "box", "size": [0.02, 0.02, length]}]}
    joint = {"type": "ball", "parent": "hook", "child": "rod", "anchor": [0.0, 0.0, 1.0], "coordinates": "maximal"}
    sim = Simulation(Scene.from_dict({
        "solver": {"method": "event_driven", "h": 0.01, "joint_cure": cure},
        "scene": {"gravity": [0.0, 0.0, 0.0]}, "body": [hook, rod], "joint": [joint]}))
    while sim.time + 0.01 < start:
        sim.step()
    assert not sim.state.bodies.v[1].any()
    sim.set(h=start + 1e-9 - sim.time)
    sim.step()
    np.testing.assert_allclose(sim.state.bodies.v[1], [0.25, 0.0, 0.0], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(sim.state.bodies.w[1], [0.0, 1.5 / length, 0.0], rtol=0.0, atol=1e-8)
    assert sim.state.ledger[Account.DRIVEN, 0] == pytest.approx(m / 8, rel=1e-8)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-8


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
