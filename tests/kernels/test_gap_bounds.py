"""Claims about gaps, normals and points of all pairs of convex shapes by support functions alone: shapes of 1 mm to
1 m, apart, nearly touching and deep within each other, aligned, nearly so and askew.

The greatest separation n·(x_B - x_A) - h_A(n) - h_B(-n) of all unit vectors n is the signed distance: apart by duality,
overlapping as the least way out.
"""

import itertools

import numpy as np
import pytest
from convex_pairs import (
    SHAPES,
    extent_of,
    gap_of,
    most_separating,
    pairs,
    separation,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

FUZZ = {"deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
PAIRS = [pair for pair in itertools.combinations_with_replacement(SHAPES, 2)
         if pair not in (("plane", "plane"), ("particle", "particle"))]
SMOOTH = ("particle", "sphere", "ellipsoid", "superellipsoid")
ORACLE = 1e-6  # relative to the sizes: GJK stops where rounding in flat simplices hides progress; also `round.LOWER`


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=12, **FUZZ)
@given(data=st.data())
def test_no_direction_separates_more_than_the_normal(pair, data):
    """Nearest points that are ORACLE off turn the line between them by ORACLE/gap; where shapes overlap, the normal is
    that of the depth. What is smooth and superellipsoids are pushed out along an axis on which both lie, though there
    may be a shorter way aside; `test_its_normals_separate_as_far_as_any` has them overlap anyhow."""
    a, b = data.draw(pairs(*pair))
    gap, n, _ = gap_of(a, b)
    size = max(extent_of(a, b), 1e-3)
    near = ORACLE * size
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    proved = float(separation(a, b, n[None])[0])
    if "plane" in pair:
        assert gap == pytest.approx(proved, abs=near)
        return
    assert proved - gap < near
    assert gap - proved < near * (1.0 + (size / gap if gap > near else 10.0))
    if gap < 0.0 and "superellipsoid" in pair and set(pair) <= set(SMOOTH):
        return
    best = most_separating(a, b, n)
    assert best - gap < near - 1e-2 * min(gap, 0.0)  # the expanding polytope of 96 points is not round
    assert gap - best < near


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "superellipsoid" not in pair], ids="-".join)
@settings(max_examples=10, **FUZZ)
@given(data=st.data())
def test_both_points_are_those_of_the_shapes(pair, data):
    """Half the gap to either side of the middle. Places of superellipsoids may be as flat as θ⁹: an angle of 1e-9
    moves them by a tenth of the size."""
    a, b = data.draw(pairs(*pair))
    gap, n, middle = gap_of(a, b)
    size = max(extent_of(a, b), 1e-3)
    # a depth known to 1e-9 gives the normal, and on what is nearly flat the point, to the root of that
    slack = ORACLE if gap > 0.0 else 1e-3
    assert a.miss(middle - 0.5 * gap * n, n) < slack * size
    assert b.miss(middle + 0.5 * gap * n, -n) < slack * size
