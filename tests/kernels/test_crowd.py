"""Coulomb's law of many contacts by modes, in as many coordinates as M has rank."""

import numpy as np
import pytest

from contactlab.physics.solvers.crowd import CROWD, SOLVED, by_modes

BODIES = 5


def crowd(seed: int, contacts: int) -> tuple[np.ndarray, np.ndarray]:
    """M = J Jᵀ and d of impacts in a `stack`."""
    J, d = stack(seed, contacts)
    return J @ J.T, d


def stack(seed: int, contacts: int) -> tuple[np.ndarray, np.ndarray]:
    """J and d of impacts between a floor and bodies that stand on each other by many contacts each: u = J v, λ pushes a
    body up and the one below it down, and all fall."""
    random = np.random.default_rng(seed)
    J = np.zeros((3 * contacts, 6 * BODIES))
    for k in range(contacts):
        above = k % BODIES
        for body, sign in ((above, 1.0), (above - 1, -1.0)):
            x, y, z = *random.uniform(-1.0, 1.0, 2).tolist(), -0.5 * sign
            arm = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            if body >= 0:
                J[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] = sign * np.hstack([np.eye(3), -arm])[[2, 0, 1]]
    v = np.tile([0.3, 0.1, -1.0, 0.1, -0.2, 0.3], BODIES) * random.uniform(0.5, 1.5, 6 * BODIES)
    return J, J @ v


@pytest.mark.parametrize("seed", range(4))
def test_a_crowd_obeys_coulomb_s_law(seed):
    """Normal velocities and impulses are complementary; impulses lie in the cones, and oppose the slip that is left on
    their surface. Each to what `by_modes` says is left."""
    M, d = crowd(seed, 2 * CROWD)
    mu = np.full(2 * CROWD, 0.1)
    left, lam = by_modes(M, d, mu, np.zeros(len(mu), bool), np.zeros((len(mu), 2)))
    assert left <= SOLVED
    u, p, small = (M @ lam + d).reshape(-1, 3), lam.reshape(-1, 3), 10.0 * SOLVED * np.abs(d).max()
    heavy = small / M.diagonal().min()
    assert (p[:, 0] > 1e-3).sum() >= BODIES  # something pushes
    assert u[:, 0].min() >= -small and p[:, 0].min() >= -heavy
    assert np.minimum(p[:, 0], u[:, 0]).max() <= small + heavy
    tangential, slip = np.hypot(*p[:, 1:].T), np.hypot(*u[:, 1:].T)
    assert (tangential <= mu * p[:, 0] + heavy).all()
    slides = slip > 1e-6
    assert slides.any()
    against = (p[slides, 1:] * u[slides, 1:]).sum(axis=1)
    np.testing.assert_allclose(against, -mu[slides] * p[slides, 0] * slip[slides], atol=small)


def test_contacts_that_slide_already_are_pushed_against_their_slip():
    """Those have one unknown impulse each, whose friction is known; the others stick, slip or open beside them."""
    M, d = crowd(7, 2 * CROWD)
    mu, slides, slip = np.full(2 * CROWD, 0.3), np.arange(2 * CROWD) % 3 == 0, np.zeros((2 * CROWD, 2))
    slip[slides] = (0.6, 0.8)
    left, lam = by_modes(M, d, mu, slides, slip)
    assert left <= SOLVED
    u, p, small = (M @ lam + d).reshape(-1, 3), lam.reshape(-1, 3), 10.0 * SOLVED * np.abs(d).max()
    np.testing.assert_allclose(p[slides, 1:], -mu[slides, None] * p[slides, :1] * slip[slides], atol=1e-13)
    assert p[slides, 0].max() > 1e-3
    assert u[:, 0].min() >= -small
    assert np.minimum(p[:, 0], u[:, 0]).max() <= 2.0 * small / M.diagonal().min() + small


@pytest.mark.parametrize("already", [False, True])
def test_a_root_of_the_bodies_leads_where_m_alone_does(already):
    """Impulses and velocities of M = J Jᵀ are the same in the coordinates of the bodies, of which each contact has two
    at most, and in as many as M has rank."""
    J, d = stack(3, 2 * CROWD)
    mu, slides, slip = np.full(2 * CROWD, 0.3), np.arange(2 * CROWD) % 3 == 0, np.zeros((2 * CROWD, 2))
    slides &= already
    slip[slides] = (0.6, 0.8)
    found = [by_modes(J @ J.T, d, mu, slides, slip, root) for root in (None, J)]
    assert max(left for left, _ in found) <= SOLVED
    (_, alone), (_, bodies) = found
    np.testing.assert_allclose(bodies, alone, atol=1e-7 * np.abs(alone).max())
    np.testing.assert_allclose(J @ (J.T @ bodies), J @ (J.T @ alone), atol=10.0 * SOLVED * np.abs(d).max())
