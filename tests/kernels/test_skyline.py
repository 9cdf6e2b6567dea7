"""Claims about factors of matrices that are zero far from their diagonal, against numpy's."""

import numpy as np
import pytest
import scipy.linalg

from contactlab.physics.core.jit import kernel
from contactlab.physics.solvers.skyline import factor_skyline, open_skyline, solve_skyline


@kernel
def solved(first, A, x):
    """x becomes A⁻¹ x; returns whether there were factors."""
    sky = open_skyline(first)
    for i in range(len(x)):
        for j in range(sky.first[i], sky.last[i] + 1):
            sky.entry[sky.at[i] + j] = A[i, j]
    if not factor_skyline(sky):
        return False
    solve_skyline(sky, x)
    return True


@pytest.mark.parametrize("seed", range(8))
def test_factors_solve_unsymmetric_matrices_of_any_profile(seed):
    """Rows whose first entries move to and fro: rows that reach far back, as those of trees do, among short ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    first = np.array([rng.integers(0, i + 1) for i in range(n)])
    i, j = np.indices((n, n))
    kept = np.where(j <= i, j >= first[i], i >= first[j])
    A = np.where(kept, rng.normal(size=(n, n)), 0.0) + 2.0 * n * np.eye(n)
    b = rng.normal(size=n)
    x = b.copy()
    assert solved(first, A, x)
    assert x == pytest.approx(np.linalg.solve(A, b), rel=1e-12, abs=1e-15)


def test_a_matrix_without_factors_is_said():
    """A first pivot of zero; no rows are exchanged."""
    assert not solved(np.zeros(2, np.int64), np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))


@pytest.mark.parametrize("stiff", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(6))
def test_stiff_contacts_are_factored_as_well_as_with_exchanges_of_rows(seed, stiff):
    """1 + Gᵀ D G of a stack of bodies with three contacts at each joint, of which some stick, D = 1/ε, and some slip,
    D = (n + μ e) nᵀ/ε + κ t tᵀ, 1/ε = `stiff`. Elimination returns the solution of a problem as near as rounding times
    the growth of entries [Higham 2002, theorem 9.5]; with exchanges that is n 2⁻⁵² at its best. Here it is asked of
    both: |A x - b| <= 4 n 2⁻⁵² (|A| |x| + |b|)."""
    rng = np.random.default_rng(seed)
    bodies = 12
    n = 6 * bodies
    A = np.eye(n)
    for i in range(bodies):
        for _ in range(3):
            G = np.zeros((3, n))
            G[:, 6 * i : 6 * i + 6] = rng.normal(size=(3, 6))
            if i > 0:
                G[:, 6 * i - 6 : 6 * i] = rng.normal(size=(3, 6))
            normal, e, t = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            slips = rng.random() < 0.5
            D = stiff * (np.outer(normal + 0.8 * e, normal) if slips else np.eye(3))
            A += G.T @ (D + slips * rng.uniform(0.0, 10.0) * np.outer(t, t)) @ G
    first = np.array([max(0, 6 * (i // 6) - 6) for i in range(n)])
    b = rng.normal(size=n)
    x = b.copy()
    assert solved(first, A, x)
    for answer in (x, scipy.linalg.solve(A, b)):
        miss = np.abs(A @ answer - b).max()
        assert miss <= 4 * n * 2.0**-52 * (np.abs(A).sum(1).max() * np.abs(answer).max() + np.abs(b).max())
