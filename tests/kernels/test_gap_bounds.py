"""Claims about gaps, normals and points of all pairs of convex shapes, and of tori with these, by their support
functions alone: shapes of 1 mm to 1 m, apart, nearly touching and deep within each other, aligned, nearly so and askew.
"""

import itertools

import numpy as np
import pytest
from collision_scenes import torus
from convex_pairs import (
    SHAPES,
    WAYS,
    Placed,
    extent_of,
    gap_of,
    lengths,
    most_separating,
    pairs,
    reach,
    separation,
    turns,
    vectors,
)
from hypothesis import given, settings
from hypothesis import strategies as st

FUZZ = {"deadline": None, "derandomize": True}
PAIRS = [pair for pair in itertools.combinations_with_replacement(SHAPES, 2)
         if pair not in (("plane", "plane"), ("particle", "particle"))]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, **FUZZ)
@given(data=st.data())
def test_the_normal_proves_the_gap_and_the_points_bear_it_out(pair, data):
    a, b = data.draw(pairs(*pair))
    gap, n, middle = gap_of(a, b)
    size = extent_of(a, b)
    proved = float(separation(a, b, n[None])[0])
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    assert gap == pytest.approx(proved, abs=1e-9 * size)
    if gap > 0.0:
        assert a.miss(middle - 0.5 * gap * n, n) < 1e-9 * size
        assert b.miss(middle + 0.5 * gap * n, -n) < 1e-9 * size
    elif "plane" not in pair:
        assert most_separating(a, b, n) < gap + 1e-6 * size
