"""Directions in which contacts begin to slip."""

import numpy as np
import pytest

from contactlab.physics.solvers.slip_directions import BEGINS, STICKS, Modes, forces_by_modes


def stack(rng, contacts, begin):
    """M (3 c, 3 c) of contacts that act on one another, forces (3 c,) of which those that begin to slip are on their
    cones, and d (3 c,) with which they slip against these forces, ever more slowly: the last one by 1e-3 m/s2."""
    G = rng.standard_normal((3 * contacts, 3 * contacts + 2))
    M, mu = G @ G.T / (3 * contacts), rng.uniform(0.1, 0.4, contacts)
    force, rate = np.zeros((contacts, 3)), np.zeros((contacts, 3))
    angle = rng.uniform(0.0, 2.0 * np.pi, contacts)
    e = np.column_stack([np.cos(angle), np.sin(angle)])
    force[:, 0] = rng.uniform(0.5, 2.0, contacts)
    force[:, 1:] = -(mu * force[:, 0])[:, None] * e
    force[~begin, 1:] *= 0.3
    rate[begin, 1:] = np.geomspace(1.0, 1e-3, begin.sum())[:, None] * e[begin]
    return M, mu, force.ravel(), rate.ravel() - M @ force.ravel()


@pytest.mark.parametrize("seed", range(10))
def test_forces_are_opposite_to_the_slip_accelerations_that_they_cause(seed):
    """The answer is known: friction is against slip accelerations of 1 to 1e-3 m/s2, and the first guess is off by a
    tenth of each. Forces of 1 N change the smallest of them by a thousand times itself as its direction turns by a
    radian, so that no plain iteration ends. Sums of 15 terms of size 1 round by 1e-15 and M's condition is some 1e3."""
    rng = np.random.default_rng(seed)
    begin = np.array([True, False, True, True, False])
    M, mu, force, d = stack(rng, 5, begin)
    rows = [r for k in range(5) for r in range(3 * k, 3 * k + (1 if begin[k] else 3))]
    kind = np.where(begin, BEGINS, STICKS)
    modes = Modes(kind, mu, np.where(begin, 0.0, mu), np.zeros((5, 2)))
    true = (M @ force + d).reshape(-1, 3)[:, 1:]
    guess, found = true * (1.0 + 0.1 * rng.uniform(-1.0, 1.0, true.shape)), np.zeros(15)
    assert forces_by_modes(M[rows], -d[rows], np.zeros(15), True, modes, M, d, guess, found)
    np.testing.assert_allclose(found, force, rtol=0.0, atol=1e-15 * 1e3)
    rate = (M @ found + d).reshape(-1, 3)
    assert np.abs(rate[~begin]).max() <= 1e-13 and np.abs(rate[begin, 0]).max() <= 1e-13
    across = rate[begin, 1] * found.reshape(-1, 3)[begin, 2] - rate[begin, 2] * found.reshape(-1, 3)[begin, 1]
    assert np.abs(across).max() <= 1e-13


def test_nothing_is_found_where_a_guess_has_no_direction():
    """A slip acceleration of 0 has none."""
    modes = Modes(np.array([BEGINS]), np.array([0.5]), np.zeros(1), np.zeros((1, 2)))
    found = np.zeros(3)
    assert not forces_by_modes(np.eye(3)[:1].copy(), np.ones(1), np.zeros(3), True, modes, np.eye(3), np.zeros(3),
                               np.zeros((1, 2)), found)
