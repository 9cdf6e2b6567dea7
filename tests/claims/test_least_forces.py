"""Of all forces that Coulomb's law admits, `event_driven` takes the least ones."""

import numpy as np
import pytest
from contact_scenes import G, ball, ground, simulate

from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.solvers import coulomb
from contactlab.physics.solvers.coulomb import holding
from contactlab.physics.solvers.interior_point import InteriorPoint
from contactlab.physics.solvers.least_forces import smallest


def wall(name, tilt):
    """A plane through the origin that rises by the angle `tilt` [degrees] towards -x."""
    return {"name": name, "fixed": True, "euler": [0.0, float(tilt), 0.0], "shape": [{"type": "plane"}]}


@pytest.mark.parametrize(("degrees", "mu"), [(60, 0.5), (60, 0.3), (30, 0.7), (70, 1.0)])
@pytest.mark.parametrize("steps", [1, 24])
def test_a_ball_in_a_rough_groove_squeezes_it_no_more_than_it_must(degrees, mu, steps):
    """Walls of slope α: any force along the line between both contacts may be added. The least forces are upright,
    m g/2 each, where they lie within the cones, α <= φ = atan μ; else on their rims: F cos(α - φ) = m g/2,
    λ = F cos φ, |f| = F sin φ. They depend on the instant alone, not on the steps made before."""
    alpha = np.radians(degrees)
    phi = min(np.arctan(mu), alpha)
    force = 0.5 * G / np.cos(alpha - phi)
    sim = simulate(wall("a", degrees), wall("b", -degrees), ball("c", (0, 0, 0.1 / np.cos(alpha))), mu=mu,
                   method="event_driven")
    for _ in range(steps):
        sim.step()
    contacts = sim.contacts
    assert sim.info.status == "solved"
    assert contacts.lam[:2] == pytest.approx([force * np.cos(phi)] * 2, rel=1e-9)
    assert np.linalg.norm(contacts.friction_force[:2], axis=1) == pytest.approx([force * np.sin(phi)] * 2, rel=1e-9)
    assert np.abs(sim.v).max() <= 1e-12


@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
def test_a_tripod_turned_below_its_limit_carries_alike_on_its_legs(share):
    """Three feet at the radius r: each holds m g/3, and τ/(3 r) across it."""
    mass, r, mu = 5.0, 0.3, 0.5
    feet = [{"type": "sphere", "radius": 0.02, "position": [r * np.cos(a), r * np.sin(a), -0.1]}
            for a in (0.0, 2 * np.pi / 3, 4 * np.pi / 3)]
    sim = simulate(ground(), {"name": "t", "mass": mass, "inertia": [0.1, 0.1, 0.15], "position": [0.0, 0.0, 0.12],
                              "shape": feet}, mu=mu, method="event_driven")
    pull = 0.5 * share * mu * mass * G * r
    arm = np.array([1.0, 0.0, 0.0])
    for _ in range(5):
        sim.apply_force("t", (0, pull, 0), sim.position("t") + arm)
        sim.apply_force("t", (0, -pull, 0), sim.position("t") - arm)
        sim.step()
    contacts = sim.contacts
    assert contacts.lam[:3] == pytest.approx([mass * G / 3] * 3, rel=1e-10)
    assert np.linalg.norm(contacts.friction_force[:3], axis=1) == pytest.approx([2 * pull / (3 * r)] * 3, rel=1e-10)


@pytest.mark.parametrize("seed", range(40))
def test_no_admissible_force_is_smaller(seed):
    """x is the point of a convex set nearest to 0 if and only if x·(z - x) >= 0 for all of its points z. Here the set
    is { z in K : B z = B z₀ } with z₀ chosen within the cones; further points are z₀ + s w, B w = 0, as far as they
    stay there. Rounding: B is well conditioned, so x is known to some 1e-12 of |z₀|."""
    rng = np.random.default_rng(seed)
    c = int(rng.integers(2, 9))
    mu = rng.uniform(0.05, 1.0, c) * (rng.random(c) > 0.3)
    width = np.where(mu > 0.0, 3, 1)
    first = np.cumsum(width) - width
    n = int(width.sum())
    B = rng.standard_normal((max(1, n // 2), n))

    def inside(z):
        """Within the cones, but for rounding."""
        return all(z[f] >= -1e-12 and (m == 0.0 or np.hypot(*z[f + 1 : f + 3]) <= m * z[f] + 1e-12)
                   for f, m in zip(first.tolist(), mu.tolist(), strict=True))

    z = rng.standard_normal(n)
    z[first] = rng.uniform(0.1, 2.0, c)
    for f, m in zip(first.tolist(), mu.tolist(), strict=True):
        if m > 0.0:
            z[f + 1 : f + 3] *= m * z[f] * rng.uniform(0.0, 0.9) / np.hypot(*z[f + 1 : f + 3])
    x = smallest(B, B @ z, mu)
    assert x is not None
    assert np.abs(B @ (x - z)).max() <= 1e-12 * np.abs(z).max() * n
    assert inside(x)
    free = np.linalg.svd(B)[2][len(B) :]
    points = [z]
    for _ in range(50):
        w = free.T @ rng.standard_normal(len(free))
        points += [p for p in (z + s * w for s in (1.0, 0.3, 0.1, 0.01)) if inside(p)][:1]
    for p in points:
        assert x @ (p - x) >= -1e-11 * (z @ z)


def test_forces_that_are_unique_and_pull_do_not_hold():
    """A foot that would have to pull, and one that would have to rub too much: no forces keep them from moving."""
    assert holding(np.eye(3), np.array([1.0, 0.0, 0.0]), np.array([0.5])) is None
    assert holding(np.eye(3), np.array([-1.0, 0.6, 0.0]), np.array([0.5])) is None
    assert holding(np.eye(3), np.array([-1.0, 0.4, 0.0]), np.array([0.5])) == pytest.approx([1.0, -0.4, 0.0])


def rim_on_rim(count, seed):
    """M (3 c, 3 c) and velocities (3 c,) of two bodies that meet along a rim of so many contacts, with a spin. The rank
    of M is 6, for there are six ways in which they move against each other."""
    rng, angle = np.random.default_rng(seed), 2.0 * np.pi * np.arange(count) / count
    p = np.column_stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full(count, -0.05)])
    n = np.column_stack([-0.3 * np.cos(angle), -0.3 * np.sin(angle), np.ones(count)]) / np.hypot(1.0, 0.3)
    t = np.cross(n, [0.0, 1.0, 0.2])
    t /= np.linalg.norm(t, axis=1)[:, None]
    rows, p = np.stack([n, t, np.cross(n, t)], axis=1).reshape(-1, 3), np.repeat(p, 3, axis=0)
    T = np.hstack([rows, np.cross(p, rows), -rows, -np.cross(p + np.array([0.01, 0.02, 0.1]), rows)])
    M = T @ np.diag([2.0] * 3 + [500.0] * 3 + [1.0] * 3 + [200.0] * 3) @ T.T
    velocity = np.concatenate([0.3 * rng.normal(size=3) - [0.0, 0.0, 1.0], [0.5, 0.5, 20.0] * rng.normal(size=3)])
    return 0.5 * (M + M.T), T[:, :6] @ velocity


@pytest.mark.parametrize("mu", [0.2, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_few_equations_of_many_contacts_have_the_same_least_forces(monkeypatch, mu, seed):
    """120 rows of rank 6: the equations in the six directions in which the bodies move against each other, and all of
    them. Both are solved to the rounding of sums of 120, which M's smallest nonzero eigenvalue enlarges."""
    M, d = rim_on_rim(40, seed)
    friction, start = np.full(40, mu), np.zeros(120)
    assert InteriorPoint()(ContactProblem.frictional(M, d, friction), start).status == "solved"
    found, equations = [], []
    for root in (coulomb.root_of, lambda M: None):
        monkeypatch.setattr(coulomb, "root_of", root)
        equations.append(len(coulomb.fewer(M, root(M), d, np.arange(120))[0]))
        found.append(coulomb.sharpened(M, d, friction, np.zeros(40, bool), np.zeros((40, 2)), start, M @ start + d))
    assert equations == [6, 120]
    values = np.linalg.eigvalsh(M)[-6:]
    assert found[0] is not None and found[0][::3].max() > 0.0
    worst = 120 * np.finfo(float).eps * values[-1] / values[0]
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=worst * np.abs(found[1]).max())
