"""NamedTuples that go into kernels by address: what arrives, what is refused, what is let go."""

import gc
import sys
import weakref
from typing import NamedTuple

import numpy as np
import pytest

from contactlab.physics.core import jit, tuple_abi
from contactlab.physics.core.jit import kernel


class Inner(NamedTuple):
    counts: np.ndarray
    table: np.ndarray


class Outer(NamedTuple):
    values: np.ndarray
    inner: Inner


@kernel
def add_up(outer, factor, out):
    """out (2,): factor times the sum of the values, and the sum of the table's rows that count."""
    out[0] = factor * outer.values.sum()
    out[1] = 0.0
    for i in range(outer.inner.counts[0]):
        out[1] += outer.inner.table[i].sum()
    outer.inner.counts[0] += 1


@kernel
def sum_rows(table, out):
    """out[k] = Σ_j table[:, k, j], and table becomes 0."""
    for i in range(table.shape[0]):
        for k in range(table.shape[1]):
            for j in range(table.shape[2]):
                out[k] += table[i, k, j]
                table[i, k, j] = 0.0


def outer(n: int) -> Outer:
    return Outer(np.arange(float(n)), Inner(np.array([n - 1], np.int32), np.arange(2.0 * n).reshape(n, 2)))


@pytest.fixture(scope="module", autouse=True)
def these_kernels_only():
    yield
    for own in (add_up, sum_rows):  # they belong to no module of the engine
        jit.KERNELS.remove(own)


@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_what_arrives_is_what_the_tuple_holds_and_it_can_be_written_to(n):
    given, out = outer(n), np.full(2, np.nan)
    for k in range(2):  # the second time by what is known of it
        rows = given.inner.table[: n - 1 + k]
        add_up(given, 2.0, out)
        assert out.tolist() == [2.0 * given.values.sum(), rows.sum()]
        given.values[0] += 1.0  # what changes in the arrays is seen
    assert given.inner.counts[0] == n + 1


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 1, 1), (5, 2, 0), (0, 2, 7), (7, 1, 3)])
def test_a_kernel_borrows_arrays_where_they_lie(shape):
    """Any shape, part of a larger array too; nothing keeps them after the call."""
    values = np.random.default_rng(0).normal(size=(2, *shape))
    for given in (values[1], values[1].copy()):
        expected, out = given.sum(axis=(0, 2)), np.zeros(shape[1])
        held, known = sys.getrefcount(given), weakref.ref(out)
        sum_rows(given, out)
        np.testing.assert_allclose(out, expected, rtol=0.0, atol=1e-14)
        assert not given.any()
        given[:] = values[0]
        assert sys.getrefcount(given) == held
        del out
        assert known() is None


@pytest.mark.parametrize("wrong", [np.zeros((2, 3, 4))[:, ::2], np.zeros((2, 3, 4), np.float32), np.zeros((2, 3)), 1.0])
def test_an_array_that_a_kernel_does_not_take_is_refused(wrong):
    sum_rows(np.zeros((2, 3, 4)), np.zeros(3))
    with pytest.raises(TypeError):
        sum_rows(wrong, np.zeros(3))


def test_more_tuples_than_are_kept():
    known = [outer(n + 1) for n in range(3 * tuple_abi.MOST_PACKS)]
    out = np.full(2, np.nan)
    for _ in range(2):
        for given in known:
            add_up(given, 1.0, out)
            assert out[0] == given.values.sum()


def test_an_array_with_other_rows_is_found_where_it_is_then():
    given, out = outer(3), np.full(2, np.nan)
    add_up(given, 1.0, out)
    tuple_abi.resize(given.values, 1000)
    given.values[:] = 1.0
    add_up(given, 1.0, out)
    assert out[0] == 1000.0


@pytest.mark.parametrize("wrong", [
    lambda o: o._replace(values=np.arange(3)),                           # another type of numbers
    lambda o: o._replace(values=np.zeros((3, 3))),                       # another number of dimensions
    lambda o: o._replace(values=np.arange(6.0)[::2]),                    # not contiguous
    lambda o: o._replace(inner=o.inner._replace(table=np.zeros(3))),     # deeper down
    lambda o: o.inner,                                                   # another tuple
    lambda o: tuple(o),
])
def test_a_tuple_of_another_kind_is_refused(wrong):
    out = np.zeros(2)
    add_up(outer(3), 1.0, out)
    with pytest.raises(TypeError):
        add_up(wrong(outer(3)), 1.0, out)
    with pytest.raises(TypeError, match="add_up was compiled for other arguments"):
        add_up(outer(3), 1.0, np.zeros(2, np.int32))
    assert len(add_up.signatures) == 1


def test_a_forgotten_tuple_is_let_go():
    given = outer(3)
    array = weakref.ref(given.values)
    add_up(given, 1.0, np.zeros(2))
    del given
    gc.collect()
    assert array() is not None  # kept, so that nobody else can have its identity
    tuple_abi.forget_packed()
    gc.collect()
    assert array() is None
