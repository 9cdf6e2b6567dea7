"""Where sliding friction would ask for forces without bound: what is done then, and the signs of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.physics.integrators.stepper import SMALLEST_SUBSTEP
from contactlab.physics.methods.event_driven.hold import stopped
from contactlab.physics.methods.event_driven.patience import SAYS, Limit
from contactlab.physics.methods.event_driven.sets import SLIDE, SMOOTH, STICK, overlapping, unjammed
from contactlab.physics.methods.event_driven.step_halving import MANY_SUBSTEPS, WILD, least_substep, wild
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.solvers.coulomb import CLOSES, by_facets, with_rest
from contactlab.physics.solvers.least_forces import DEPENDENT


def contacts(seed, count, rank):
    """M (3 c, 3 c) = T Tᵀ of that rank, x, d = T x, u and friction of so many contacts; the last has none."""
    rng = np.random.default_rng(seed)
    T, friction = rng.normal(size=(3 * count, rank)), rng.uniform(0.1, 3.0, count)
    friction[-1] = 0.0
    x = rng.normal(size=rank)
    return T @ T.T, x, T @ x, rng.normal(size=3 * count), friction


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 6), rank=st.integers(1, 18))
def test_without_sliding_friction_forces_are_bounded_by_the_matrix(seed, count, rank):
    """No acceleration is left in the rows kept, so their forces M_rr⁻¹ d_r do d·f = -fᵀM f <= 0: both to the rounding
    of the terms of M f + d. The other rows t_i depend on these up to a part ρ, |ρ|² <= DEPENDENT |t_i|², as `basis`
    chooses; the forces take from x what lies in the rows kept, so that t_i (x + Tᵀf) <= |ρ| |x|."""
    M, x, d, u, friction = contacts(seed, count, rank)
    slow = 1.0
    found = unjammed(M, d, u, friction, slow)
    speed, f, a = np.hypot(u[1::3], u[2::3]), found.force, M @ found.force + d
    terms = np.abs(M) @ np.abs(f) + np.abs(d)
    rounding = 3 * count * np.finfo(float).eps
    left = np.sqrt(DEPENDENT * np.diagonal(M)) * np.linalg.norm(x) + rounding * terms
    left[f != 0.0] = rounding * terms.max()
    for k, mode in enumerate(found.mode):
        assert mode == (SMOOTH if friction[k] == 0.0 else STICK if speed[k] <= slow else SLIDE)
        rows = slice(3 * k, 3 * k + (3 if mode == STICK else 1))
        assert (np.abs(a[rows]) <= left[rows]).all() and not f[rows.stop : 3 * k + 3].any()
    assert not found.slip.any() and found.status == "inconsistent"
    assert abs(d @ f + f @ M @ f) <= rounding * np.abs(f) @ terms


def test_contacts_that_cannot_all_be_kept_are_kept_as_far_as_they_are_independent():
    """RBDA example 11.1: two opposite normals on one freedom, d1 + d2 < 0: the one that closes faster is kept."""
    M = np.zeros((6, 6))
    M[::3, ::3] = [[1.0, -1.0], [-1.0, 1.0]]
    found = overlapping(M, np.array([-1.0, 0, 0, -3.0, 0, 0]), np.zeros(2))
    assert found.force.tolist() == [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]
    assert found.rate[::3].tolist() == [-4.0, 0.0]


@pytest.mark.parametrize("column", [7, 9, 10, 12])
def test_stages_whose_forces_run_away_are_wild(column):
    """A change of the rate over the step h by more than WILD of the momentum is, one by less is not; nor is any with
    a force that is as large from the start; what is not a number always is."""
    y0, k, h = np.zeros((3, 13)), np.zeros((4, 3, 13)), 0.01
    y0[1, column] = 2.0
    for change, expected in ((0.9 * WILD, False), (1.1 * WILD, True), (np.nan, True), (np.inf, True)):
        k[:] = 0.0
        k[2, 0, column] = -change * 2.0 / h
        assert wild(y0, k, h, WILD) == expected
    k[:] = 0.0
    k[:, 2, column] = 1e6
    assert not wild(y0, k, h, WILD)
    y0[:], k[:] = 0.0, 0.0
    y0[0, 7], k[1, 0, 10] = 1.0, 1e-9  # what rounding leaves of no torque
    assert not wild(y0, k, h, WILD)


def test_steps_become_longer_where_they_were_many_and_every_limit_says_what_it_is():
    assert least_substep(0, 0.01) == 0.01 * SMALLEST_SUBSTEP < least_substep(MANY_SUBSTEPS, 0.01)
    assert set(SAYS) == set(Limit) - {Limit.NONE} and len(set(SAYS.values())) == len(SAYS)


@pytest.mark.parametrize("slip", [1.0, -1.0])
def test_a_rod_that_jams_beside_a_contact_at_rest_has_no_accelerations(slip):
    """Painlevé's rod, mass and length 1, 1 rad from the floor, slides on one end. n·M(n - μ s) = M_nn - μ s M_nt with
    M_nn = 1 + 3 cos² 1, M_nt = -3 sin 1 cos 1 is positive one way, negative the other: there nothing bears it."""
    nn, nt, tt = 1.0 + 3.0 * np.cos(1.0) ** 2, -3.0 * np.sin(1.0) * np.cos(1.0), 1.0 + 3.0 * np.sin(1.0) ** 2
    M, d, mu = np.eye(6), np.array([-9.81, 0.0, 0.0] * 2), np.array([3.0, 3.0])
    M[:2, :2] = [[nn, nt], [nt, tt]]
    status, force = with_rest(M, d, mu, np.array([True, False]), np.array([[slip, 0.0], [0.0, 0.0]]))
    assert status == ("solved" if slip > 0 else "inconsistent")
    assert force[0] == pytest.approx(9.81 / (nn - 3.0 * nt) if slip > 0 else 0.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_forces_that_are_called_solved_keep_contacts_from_approaching(seed):
    """Some contacts slide, others rest, and friction of up to 3 jams now and then: no status "solved" with forces that
    grew without bound, or with none where d < 0."""
    count = 2 + seed % 3
    M, _, d, _, friction = contacts(seed, count, 6)
    rng = np.random.default_rng(seed)
    slides, angle = rng.random(count) < 0.6, rng.uniform(0.0, 2.0 * np.pi, count)
    slides[0], friction[-1] = False, 0.5
    slip = np.where(slides[:, None], np.column_stack([np.cos(angle), np.sin(angle)]), 0.0)
    status, force = with_rest(M, d, friction, slides, slip)
    if status == "solved":
        rate = (M @ force + d)[::3]
        assert rate.min() >= -CLOSES * np.abs(d).max()
        assert force[::3].min() >= 0.0
        size = np.abs(force).max() + np.abs(d).max() / np.diagonal(M).max()
        assert np.abs(rate * force[::3]).max() <= 1e-6 * np.abs(d).max() * size


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("facets", [8, 32])
def test_cones_with_facets_have_forces_that_obey_all_but_the_direction_of_friction(seed, facets):
    """Normal laws hold exactly, friction is within the cone, and what slips does so against its friction to within the
    angle of a facet, by at least cos(π/facets) of it. Contacts that slide already obey their law exactly."""
    count = 3
    M, _, d, _, friction = contacts(seed, count, 9)
    friction = np.minimum(friction, 0.5) + 0.1
    slides, slip = np.array([seed % 2 == 0, False, False]), np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0]])
    force = by_facets(ContactProblem.frictional(M, d, friction), slides, slip, facets).reshape(-1, 3)
    scale = np.abs(d).max()
    rate = (M @ force.ravel() + d).reshape(-1, 3)
    assert (force[:, 0] > 0.0).any() == (d[::3] < 0.0).any()
    assert force[:, 0].min() >= 0.0 and rate[:, 0].min() >= -1e-9 * scale
    assert np.abs(force[:, 0] * rate[:, 0]).max() <= 1e-9 * scale * max(np.abs(force).max(), 1e-300)
    for k in range(count):
        size, limit, speed = np.hypot(*force[k, 1:]), friction[k] * force[k, 0], np.hypot(*rate[k, 1:])
        assert size <= limit + 1e-9 * (1.0 + limit)
        if slides[k]:
            np.testing.assert_allclose(force[k, 1:], -limit * slip[k], atol=1e-9 * (1.0 + limit))
        elif limit > 0.0 and speed > 1e-9 * scale:
            assert force[k, 1:] @ rate[k, 1:] <= -limit * speed * np.cos(np.pi / facets) * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_contradict_each_other_are_stopped_as_far_as_they_can_be_once(seed):
    """Impulses p end J v in the mean, v the velocity of what moves; what of u is not J v no impulses end. A second stop
    finds nothing to do, to the rounding of the first one: eps times the size of p times the condition of the rows."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(12, 5))
    M, u, rows = J @ J.T, J @ rng.normal(size=5) + 1e-7 * rng.normal(size=12), np.arange(12)
    first = stopped(M, u, rows)
    left = u + M @ first
    assert 1e-9 < np.abs(left).max() < 1e-6
    size, condition = np.abs(M) @ np.abs(first), np.linalg.cond(J) ** 2
    assert np.abs(M @ stopped(M, left, rows)).max() <= 12 * np.finfo(float).eps * size.max() * condition
