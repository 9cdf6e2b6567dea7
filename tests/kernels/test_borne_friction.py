"""Coulomb's law where contacts bear moments: answers on random problems, judged by the law written down again."""

import numpy as np
import pytest

from contactlab.physics.solvers.borne_friction import borne


def problem(rng, contacts, borne_kinds):
    """M = T Tᵀ and d of contacts that bear blocks of one or two rows, on so few bodies that rows depend on each other
    (6 velocities for up to 4 contacts); d from loads that press: -g along all normals."""
    blocks = [(k, (0, 1, 2)) for k in range(contacts)]
    blocks += [(k, rows) for k in range(contacts) for rows in borne_kinds]
    T = np.zeros((3 * len(blocks), 6))
    for b, (_, rows) in enumerate(blocks):
        for i in rows:
            T[3 * b + i] = rng.normal(size=6)
    a = T[0].copy()
    for k in range(contacts):
        T[3 * k] = a + 0.4 * T[3 * k]  # normals that share a direction
    q = -9.81 * a / (a @ a) + rng.normal(size=6)
    bearer = np.array([k for k, _ in blocks])
    return T @ T.T, T @ q, bearer


def broken(M, d, mu, bearer, slides, slip, force):
    """The worst breach of the law [m/s2], relative to |d|: forces times the mean diagonal entry of M."""
    a, size = M @ force + d, np.abs(d).max()
    unit, worst = M.diagonal()[M.diagonal() > 0.0].mean(), 0.0
    for k in range(len(mu)):
        f, rate, load = force[3 * k + 1 : 3 * k + 3], a[3 * k + 1 : 3 * k + 3], force[3 * bearer[k]]
        if bearer[k] == k:
            worst = max(worst, -a[3 * k], -unit * load, min(a[3 * k], unit * load))
        if slides[k]:
            worst = max(worst, unit * np.abs(f + mu[k] * load * slip[k]).max())
        else:
            x = unit * f - rate
            bound = unit * mu[k] * load
            nearest = x * min(1.0, bound / max(np.hypot(*x), 1e-300))
            worst = max(worst, np.abs(unit * f - nearest).max())
    return worst / size


@pytest.mark.parametrize("kinds", [[(1,)], [(1, 2)], [(1,), (1, 2)]])
@pytest.mark.parametrize("contacts", [1, 2, 4])
def test_answers_obey_the_law_of_contacts_and_of_what_they_bear(contacts, kinds):
    """Every answer called solved is one, to 1e-9 of the accelerations, `least_forces.py: ZERO`; nearly all are found
    where nothing slides: with friction a solution exists [Klarbring & Pang 1998], but borne friction acts on the law as
    friction does."""
    rng, solved = np.random.default_rng(contacts), 0
    for _ in range(40):
        M, d, bearer = problem(rng, contacts, kinds)
        none = np.zeros(len(bearer), bool)
        slip, mu = np.zeros((len(bearer), 2)), rng.uniform(0.05, 0.6, len(bearer))
        status, force = borne(M, d, mu, bearer, none, slip)
        if status == "solved":
            solved += 1
            assert broken(M, d, mu, bearer, none, slip, force) < 1e-9
    assert solved >= 38


def test_what_slides_already_is_opposed_by_all_that_its_bearer_allows():
    rng = np.random.default_rng(7)
    for _ in range(40):
        M, d, bearer = problem(rng, 1, [(1,), (1, 2)])
        slip = np.array([[0.6, 0.8], [-1.0, 0.0], [0.0, 1.0]])
        slides, mu = rng.uniform(size=3) < 0.5, rng.uniform(0.02, 0.1, 3)
        slip[~slides] = 0.0
        status, force = borne(M, d, mu, bearer, slides, slip)
        assert status == "solved"
        assert broken(M, d, mu, bearer, slides, slip, force) < 1e-9


def landing(seed):
    """A die of 6 cm with moments of 2 mm that lies down turning about a corner: M, μ and bearers of its four corners
    and what they bear, and the velocities after 2 ms of free flight. Their parts ω × (ω × r) no forces at all end in
    all rows: these contradict each other by 1e-5 of them."""
    rng, half, mass, length, flight = np.random.default_rng(seed), 0.03, 0.26, 0.002, 2e-3
    corners = [np.array((x, y, -half)) for x in (-half, half) for y in (-half, half)]
    omega = np.array([*rng.normal(size=2) * 0.03, 0.0])
    v, J, d = -np.cross(omega, corners[rng.integers(4)]), np.zeros((24, 6)), np.zeros(24)
    for k, p in enumerate(corners):
        turning = v + np.cross(omega, p) + flight * (np.array([0.0, 0.0, -9.81]) + np.cross(omega, np.cross(omega, p)))
        for i, e in enumerate(np.eye(3)[[2, 0, 1]]):
            J[3 * k + i], d[3 * k + i] = np.concatenate([e, np.cross(p, e)]), turning @ e
        for i in range(2):
            J[12 + 3 * k + 1 + i, 3 + i], d[12 + 3 * k + 1 + i] = length, length * omega[i]
    M = J[:, :3] @ J[:, :3].T / mass + J[:, 3:] @ J[:, 3:].T / (mass * (2 * half) ** 2 / 6.0)
    return M, d, np.repeat([0.39, 1.0], 4), np.tile(np.arange(4), 2)


@pytest.mark.parametrize("seed", range(6))
def test_a_die_that_lies_down_on_its_face_is_borne_though_its_rows_contradict_each_other(seed):
    """Not "inconsistent", which would leave it without friction: the forces are within their bounds and leave 1e-5 of
    the velocities, by which the rows contradict each other."""
    M, d, mu, bearer = landing(seed)
    status, force = borne(M, d, mu, bearer, np.zeros(8, bool), np.zeros((8, 2)))
    assert status != "inconsistent"
    assert force.any()
    assert broken(M, d, mu, bearer, np.zeros(8, bool), np.zeros((8, 2)), force) <= 2e-5
