"""Impacts without collision where contacts bear moments against turning: Painlevé's rod with rolling friction."""

import numpy as np
import pytest
from contact_scenes import ground

from contactlab.physics.impacts.jams import impact_without_collision, jammed
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

TILT, RADIUS, I = np.arctan(2.0), 0.02, 1.0 / 12.0
X, Y = 0.5 * np.cos(TILT), 0.5 * np.sin(TILT) + RADIUS  # of the middle of the rod, from its contact


def sliding(mu, roll, spin):
    """A rod of 1 m and 1 kg at atan 2 to the floor, pushed like chalk: its contact slides at -2 m/s with ω_y = spin."""
    state = {"position": [X, 0.0, 0.5 * np.sin(TILT) + RADIUS], "euler": [0.0, 90.0 - np.degrees(TILT), 0.0],
             "velocity": [-2.0 + spin * Y, 0.0, -spin * X], "angular_velocity": [0.0, spin, 0.0]}
    rod = {"name": "rod", "mass": 1.0, "inertia": [I, I, 2e-4], **state,
           "shape": [{"type": "capsule", "radius": RADIUS, "height": 1.0}]}
    sim = Simulation(Scene.from_dict({
        "solver": {"method": "event_driven", "h": 1e-5}, "body": [ground(), rod],
        "material": {"default": {"restitution": 0.0, "friction": mu, "friction_rolling": roll}}}))
    before = sim.state.bodies.w[1].copy()
    sim.step()
    return sim, [event.kind for event in sim.events], before


def critical(roll):
    """μ above which 1/m + x²/I - μ x y/I - ℓ x/I < 0, ℓ < 0 where the moment lifts the contact."""
    return (I + X * X - roll * X) / (X * Y)


@pytest.mark.parametrize(("roll", "spin"), [(0.0, -3.0), (0.0, 3.0), (0.03, -3.0), (0.03, 3.0), (0.06, 3.0)])
@pytest.mark.parametrize("above", [-0.01, 0.01])
def test_the_moment_against_rolling_moves_the_limit_of_painleves_rod(roll, spin, above):
    """n·M(n - μ s - ℓ w) = 0 at μ = (I + x² -+ ℓ x)/(x y): a turn with ω > 0 is opposed by a moment that presses the
    contact into the floor, one with ω < 0 by one that lifts it."""
    mu = critical(roll * np.sign(spin)) + above
    _, kinds, _ = sliding(mu, roll, spin)
    assert (kinds[:2] == ["inconsistent", "impact"]) == (above > 0.0)
    assert ("inconsistent" in kinds) == (above > 0.0)


@pytest.mark.parametrize(("mu", "roll"), [(1.22, 0.06), (1.5, 0.06), (1.5, 0.5), (0.9, 0.45)])
def test_a_jam_with_moments_obeys_the_laws_of_both_at_its_end(mu, roll):
    """ζ⁺ = 0; slip is over, or friction is μ P against it; turning is over, or the moment is ℓ P against it. Energy is
    lost. In closed form from I Δω_y = x P_n·(…): here from the momenta of the rod, m Δv = P and I Δω = r × P + m_y."""
    sim, kinds, before = sliding(mu, roll, 3.0)
    assert kinds[:2] == ["inconsistent", "impact"]
    event = sim.events[1]
    P = event.impulse
    after = before[1] + (-(Y * P[0]) + X * P[2]) / I  # without the moment
    bodies = sim.state.bodies
    w = bodies.w[1, 1]  # 1e-5 s later
    moment = (w - after) * I
    zeta = bodies.v[1, 2] + w * X
    slip = bodies.v[1, 0] - w * Y
    later = 1e-5 * 40.0 * (1.0 + mu)  # what forces of the size of gravity, m g/(M_nn m) and more, do in the step
    assert abs(zeta) < later
    assert event.energy_after < event.energy_before
    assert P[2] > 0.0
    assert abs(P[0]) <= mu * P[2] * (1.0 + 1e-12)
    assert abs(moment) <= roll * P[2] * (1.0 + 1e-9) + I * later
    if abs(slip) > later:
        assert P[0] == pytest.approx(-np.sign(slip) * mu * P[2], rel=1e-12)
    if abs(w) > later:
        assert moment == pytest.approx(-np.sign(w) * roll * P[2], abs=I * later)


def block(rng, kinds):
    """A contact of a random body with the rows of what it bears, lengths 1: M, and velocities with ζ = 0."""
    arm, mass = rng.normal(size=3), rng.uniform(0.5, 2.0)
    inertia = np.diag(rng.uniform(0.05, 0.4, 3))
    J = np.zeros((3 * (1 + len(kinds)), 6))
    J[:3, :3] = np.eye(3)
    J[:3, 3:] = [np.cross(arm, e) for e in np.eye(3)]
    for k, kind in enumerate(kinds, 1):
        for i, axis in enumerate((0,) if kind == "spin" else (1, 2)):
            J[3 * k + 1 + i, 3 + axis] = 1.0
    M = J[:, :3] @ J[:, :3].T / mass + J[:, 3:] @ np.linalg.inv(inertia) @ J[:, 3:].T
    v = rng.normal(size=6)
    v[0] -= (J[0] @ v)
    return M, J @ v


@pytest.mark.parametrize("kinds", [("roll",), ("spin", "roll")])
def test_jammed_contacts_obey_both_laws_whatever_their_directions(kinds):
    """Of random bodies, friction of 1 to 3 and lengths up to 0.5, those that jam: the impulse and velocities obey the
    laws, to what Newton's method leaves of them."""
    found, rng = 0, np.random.default_rng(7)
    for _ in range(120):
        M, u = block(rng, kinds)
        friction = np.concatenate([rng.uniform(1.0, 3.0, 1), rng.uniform(0.05, 0.5, len(kinds))])
        bearer = np.zeros(len(friction), np.int32)
        t = u.reshape(-1, 3)[:, 1:]
        slip = t / np.linalg.norm(t, axis=1)[:, None]
        p = impact_without_collision(M, u, np.ones(len(friction), bool), slip, friction, bearer)
        stiff = M[0, 0] - sum(friction[k] * M[0, 3 * k + 1 : 3 * k + 3] @ slip[k] for k in range(len(friction)))
        if abs(stiff) > 1e-3 * M[0, 0]:  # nearer to it FIRST, by which the slope is found, tells of the curve
            assert p.any() == (stiff < 0.0)
        if not p.any():
            continue
        found += 1
        size, after = float(np.abs(u).max()), u + M @ p
        assert p[0] > 0.0
        assert abs(after[0]) <= 1e-11 * size
        assert p @ (u + after) <= 1e-12 * size * np.abs(p).max()
        for k, mu in enumerate(friction):
            force, velocity = p[3 * k + 1 : 3 * k + 3], after[3 * k + 1 : 3 * k + 3]
            assert np.linalg.norm(force) <= mu * p[0] * (1.0 + 1e-10)
            speed = np.linalg.norm(velocity)
            if speed > 1e-9 * size:
                assert np.abs(force + mu * p[0] * velocity / speed).max() <= 1e-8 * mu * p[0]
    assert found > 10


def test_without_moments_the_impulse_is_that_which_sticks():
    """P = -M⁻¹ u of the block of the contact, where ℓ = 0 is written with rows that nothing bounds."""
    rng = np.random.default_rng(3)
    done = 0
    while done < 5:
        M, u = block(rng, ("roll",))
        slip = u[1:3] / np.linalg.norm(u[1:3])
        if M[0, 0] - 3.0 * M[0, 1:3] @ slip > -0.1 * M[0, 0]:
            continue
        done += 1
        stuck = np.linalg.solve(M[:3, :3], -u[:3])
        p = jammed(M, u, np.array([3.0, 0.0]))
        if np.hypot(*stuck[1:]) <= 3.0 * stuck[0]:
            assert np.abs(p[:3] - stuck).max() <= 1e-10 * np.abs(stuck).max()
        assert not p[3:].any()
