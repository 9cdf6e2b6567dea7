"""Claims about factors of matrices that are zero far from their diagonal, against numpy's."""

import numpy as np
import pytest

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
