"""Moments against spinning and rolling in `event_driven`: instants at which they give way and hold, impacts, agreement
with time stepping, and what a run costs."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, block, body, ground

from contactlab.physics.books.ledger import Account
from contactlab.physics.impacts.impact_laws import IMPACT_LAWS
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.history import hash_of_state
from contactlab.physics.simulation.simulation import Simulation

H, R, M = 1 / 240, 0.1, 1.0
I = 0.4 * M * R * R
ENDS = 1e-12  # slip or turning against its direction at which it has come to its end [m/s], see `SLIP_ROUNDING`


def rough(*bodies, spin=0.0, roll=0.0, mu=0.5, e=0.0, method="event_driven", **solver):
    material = {"friction": mu, "friction_torsional": spin, "friction_rolling": roll, "restitution": e}
    return Simulation(Scene.from_dict({
        "solver": {"method": method, "h": H, **solver}, "material": {"default": material}, "body": list(bodies)}))


def resting(**fields):
    return ball("ball", (0.0, 0.0, R), radius=R, mass=M, **fields)


def told(sim):
    return [(event.kind, event.t) for event in sim.events]


# ------------------------------------------------------------------------------------------------------- instants
def test_spinning_and_rolling_stop_at_their_instants_and_not_again():
    """I ω₀/(ℓ_ψ m g) and v/((5/7) g ℓ_r/r), both in one run, which takes one piece a step and one more an event. The
    method follows the speed ℓ ω of turning; its end is late by ENDS over the rate of that."""
    spin, roll, omega, v = 0.01, 0.008, 20.0, 1.0
    sim = rough(ground(), resting(velocity=(v, 0, 0), angular_velocity=(0, v / R, omega)), spin=spin, roll=roll)
    sim.run(until=2.0)
    rates = spin * M * G / I, 5.0 / 7.0 * G * roll / R**2  # of ω
    assert [kind for kind, _ in told(sim)] == ["turn_ends"] * 2
    for (_, t), stop, rate in zip(told(sim), (omega / rates[0], v / R / rates[1]), rates, strict=True):
        assert t == pytest.approx(stop, abs=1.1 * ENDS / (min(spin, roll) * rate))
    assert sim.info.pieces == 480 + 2
    assert not sim.v.any() or np.abs(sim.v).max() < 1e-12
    kinetic = 0.5 * I * omega**2 + 0.7 * M * v * v
    assert sim.state.ledger[Account.FRICTION, 0] == pytest.approx(-kinetic, rel=1e-12)


def test_a_held_ball_begins_to_roll_when_the_floor_shakes_it_past_the_length():
    """On a floor at x = -A sin ωt the ball takes part as long as m r A ω² sin ωt <= ℓ_r m g, and its moment then is at
    its bound; friction, 2/7 of m a and more, holds. The search lets forces pass their bound by 1e-11 of those at work:
    the instant is late by that over the rate at which the moment grows."""
    A, f, length = 0.05, 1.0, 0.01
    w = 2.0 * math.pi * f
    floor = {"name": "floor", "kinematic": True, "shape": [{"type": "plane"}],
             "motion": {"amplitude": [-A, 0, 0], "frequency": f, "velocity": [A * w, 0, 0]}}
    sim = rough(floor, resting(), roll=length)
    sim.run(until=0.2)
    begins = math.asin(length * G / (R * A * w * w)) / w
    (kind, t), = told(sim)
    assert kind == "turn"
    assert t == pytest.approx(begins, abs=1e-9)
    assert sim.events[0].reason.what == "moment"
    assert sim.events[0].reason.value == pytest.approx(length * M * G, rel=1e-9)
    assert sim.events[0].reason.bound == pytest.approx(length * M * G, rel=1e-9)


# ------------------------------------------------------------------------------------------------------- impacts
@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_an_impact_takes_spin_as_its_normal_impulse_allows(law):
    """P = (1 + e) m v, by every law for a ball that falls straight: I Δω_n = -ℓ_ψ P, without friction I Δω_t = -ℓ_r P.
    The ledger has it as friction, and nothing is left over."""
    spin, roll, e, v = 0.002, 0.001, 0.5, math.sqrt(2.0 * G * 0.2)
    sim = rough(ground(), ball("ball", (0, 0, R + 0.2), radius=R, mass=M, angular_velocity=(0, 10, 20)), spin=spin,
                roll=roll, mu=0.0, e=e, impact_law=law)
    sim.run(until=v / G + 0.1)
    P = (1.0 + e) * M * v
    after = np.array([0.0, 10.0 - roll * P / I, 20.0 - spin * P / I])
    assert [kind for kind, _ in told(sim)] == ["impact"]
    assert sim.angular_velocity("ball") == pytest.approx(after, abs=1e-12 * 20.0)
    lost = 0.5 * I * (after @ after - 500.0)
    assert sim.state.ledger[Account.FRICTION, 0] == pytest.approx(lost, rel=1e-12)
    assert np.abs(sim.state.ledger[Account.DRIFT]).max() < 1e-12


@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_an_impact_with_friction_and_moments_gains_no_energy_and_stops_what_it_can(law):
    """A ball with a small spin and large lengths: all turning ends, the ball sticks, and every law agrees: ζ_t⁺ = 0,
    ω⁺ = 0, so v_t⁺ = 0. A moment of ℓ_r P is enough: P >= m v, and I ω + r m v_t < ℓ_r m v."""
    sim = rough(ground(), ball("ball", (0, 0, R + 0.2), radius=R, mass=M, velocity=(0.3, 0, 0),
                               angular_velocity=(0, 1, 2)), spin=0.1, roll=0.1, e=0.5, impact_law=law)
    sim.run(until=0.25)
    assert np.abs(sim.angular_velocity("ball")).max() < 1e-12
    assert np.abs(sim.velocity("ball")[:2]).max() < 1e-12
    assert np.abs(sim.state.ledger[Account.DRIFT]).max() < 1e-12


# ------------------------------------------------------------------------------------------------------- agreement
TABLE = {"name": "table", "kinematic": True, "motion": {"angular_velocity": [0, 0, 3.0]}, "shape": [{"type": "plane"}]}
TRIPOD = body("tripod", (0, 0, 0.2), {"type": "sphere", "radius": 0.05, "position": [0.2, 0.0, -0.15]}, 1.0,
              (0.01, 0.01, 0.02), velocity=(1, 0.3, 0), angular_velocity=(0, 0, 6))
TRIPOD["shape"] += [{"type": "sphere", "radius": 0.05, "position": [-0.1, y, -0.15]} for y in (-0.17, 0.17)]
CASES = {
    "slides, rolls and spins": ((ground(), resting(velocity=(1, 0, 0), angular_velocity=(3, 4, 20))), 0.1, 0.0, 0.5),
    "is carried round": ((TABLE, ball("ball", (0.3, 0, R), radius=R, mass=M)), 0.5, 0.0, 0.5),
    "slides on three feet": ((ground(), TRIPOD), 0.2, 0.0, 0.3),
    "bounces": ((ground(), ball("ball", (0, 0, R + 0.1), radius=R, mass=M, velocity=(1, 0, 0),
                                angular_velocity=(3, 14, 20))), 0.3, 0.5, 0.4),
}


@pytest.mark.parametrize("case", CASES)
def test_time_stepping_comes_to_the_same_as_its_steps_become_short(case):
    """It is of first order where contacts come, slip or turn differently within a step: steps of a sixteenth leave less
    than 0.4 of the difference (where instants fall within a step is chance), and no more than gravity makes in two of
    them. Feet have no rolling friction: as nothing rolls it would not be determined, nor what they bear with it."""
    bodies, mu, e, until = CASES[case]
    roll = 0.0 if "feet" in case else 0.003

    def end(method, h):
        sim = rough(*bodies, spin=0.004, roll=roll, mu=mu, e=e, method=method)
        sim.set(h=h)
        sim.run(until=until)
        b = sim.state.bodies
        return np.concatenate([b.x.ravel(), b.v.ravel(), R * b.w.ravel()])

    exact = end("event_driven", H)
    errors = [np.abs(end("time_stepping", h) - exact).max() for h in (H, H / 4, H / 16)]
    assert errors[2] < 0.4 * errors[0]
    assert errors[2] < 2.0 * G * H / 16


# ------------------------------------------------------------------------------------------------------- the rest
def test_a_die_with_moments_comes_to_rest_and_a_restored_run_has_the_same_bits():
    """Corners that share their loads spin and roll together: events do not pile up (fewer than five pieces a step on
    the way), no energy is gained, and all that a step remembers is in the state."""
    die = block("die", (0, 0, 0.2), (0.2, 0.2, 0.2), velocity=(1, 0.2, 0), angular_velocity=(3, 7, 2))
    sim, other = (rough(ground(), die, spin=0.01, roll=0.01, e=0.2) for _ in range(2))
    last = sim.energy().total
    while sim.time < 0.8:
        other.restore(sim.save())
        sim.step()
        other.step()
        assert hash_of_state(other.state) == hash_of_state(sim.state)
        assert sim.energy().total < last + 1e-4
        last = sim.energy().total
    assert np.abs(sim.v).max() < 1e-6
    assert sim.info.pieces < 5 * sim.step_count
    assert all(event.kind != "crowd" or event.t < 0.8 for event in sim.events)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_car_rolls_out_under_the_load_of_all(coordinates):
    """Two wheels on a frame, one behind the other: (m_f + 2 m + 2 I/r²) v̇ = -ℓ_r Σλ/r with Σλ = (m_f + 2 m) g,
    whatever load each of them carries."""
    v, roll, frame = 1.0, 0.005, 3.0
    car = {"name": "frame", "position": [0.05, 0, R], "mass": frame, "inertia": [0.1] * 3, "velocity": [v, 0, 0],
           "shape": []}
    wheels = [ball(f"wheel{i}", (x, 0, R), radius=R, mass=M) for i, x in enumerate((-0.3, 0.3))]
    sim = Simulation(Scene.from_dict({
        "material": {"default": {"friction": 0.5, "friction_rolling": roll}}, "solver": {"method": "event_driven"},
        "body": [ground(), car, *wheels],
        "joint": [{"type": "hinge", "parent": "frame", "child": wheel["name"], "axis": [0, 1, 0],
                   "anchor": wheel["position"], "velocity": v / R, "coordinates": coordinates} for wheel in wheels]}))
    sim.run(until=0.3)
    slower = roll * (frame + 2.0 * M) * G / R / (frame + 2.0 * M + 2.0 * I / R**2)
    assert sim.velocity("frame")[0] == pytest.approx(v - 0.3 * slower, abs=1e-9)
    assert np.abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-9


def test_contacts_that_share_a_load_press_and_their_friction_takes_what_the_motion_loses():
    """A cylinder slides upright on eight points that also oppose rolling: what they share is not known from the motion.
    Each impulse of a step lies in the cone of friction; they come to m g h, and to μ m g s of the energy."""
    mu, v, mass = 0.6, 1.0, 2.0
    drum = {"name": "drum", "position": [0.0, 0.0, R], "velocity": [v, 0.0, 0.0], "mass": mass,
            "shape": [{"type": "cylinder", "radius": R, "height": 2.0 * R}]}
    sim = rough(ground(), drum, roll=0.01, mu=mu)
    for steps in range(1, 11):
        sim.step()
        found, count = sim.contacts, int(sim.contacts.count[0])
        impulse = found.impulse[:count]
        np.testing.assert_allclose(impulse.sum(axis=0), mass * G * H * np.array([-mu, 0.0, 1.0]), rtol=0.0, atol=1e-12)
        assert count == 8 and (impulse[:, 2] >= 0.0).all()
        assert (np.hypot(impulse[:, 0], impulse[:, 1]) <= mu * impulse[:, 2] * (1.0 + 1e-9)).all()
        t = steps * H
        slid = v * t - 0.5 * mu * G * t**2
        assert sim.state.ledger[Account.FRICTION, 0] == pytest.approx(-mu * mass * G * slid, rel=1e-11)
        assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-12
