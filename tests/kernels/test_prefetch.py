"""Memory that is asked for early: it may lie anywhere, and nothing comes of asking but time."""

import numpy as np

from contactlab.physics.core.jit import kernel
from contactlab.physics.core.prefetch import prefetch_row


@kernel
def sum_ahead(rows, ahead):
    """Sum of rows (n, m), of which each is asked for so many rows before it is read."""
    total = 0.0
    for i in range(len(rows)):
        prefetch_row(rows, i + ahead)
        for j in range(rows.shape[1]):
            total += rows[i, j]
    return total


def test_rows_past_the_end_and_far_outside_of_memory_may_be_asked_for():
    """A processor drops what it cannot read: loops need not end early."""
    rows = np.arange(12.0).reshape(4, 3)
    for ahead in (0, 8, 2**40, -(2**40)):
        assert sum_ahead(rows, ahead) == rows.sum()
    np.testing.assert_array_equal(rows, np.arange(12.0).reshape(4, 3))
    assert sum_ahead(np.zeros((0, 3)), 8) == 0.0
