"""Claims about a box and a triangle: how near they come, and where."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from contactlab.physics.collision.box_triangle import box_to_triangle
from contactlab.physics.core.jit import kernel


@kernel
def nearest(half, corners, n, points_out) -> float:
    """Distance; the points of the box and of the triangle go into the rows of points_out (2, 3)."""
    distance, p, q = box_to_triangle(
        (half[0], half[1], half[2]), ((corners[0, 0], corners[0, 1], corners[0, 2]), (
            corners[1, 0], corners[1, 1], corners[1, 2]), (corners[2, 0], corners[2, 1], corners[2, 2])),
        (n[0], n[1], n[2]))
    for k in range(3):
        points_out[0, k], points_out[1, k] = p[k], q[k]
    return distance


@settings(deadline=None, max_examples=400)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.02, 0.3, 2.0, 20.0]), away=st.sampled_from([0.0, 0.5, 1.5]),
       along=st.booleans())
def test_nearest_points_are_nearest_and_there_is_an_axis_that_says_so(seed, size, away, along):
    """The points lie on the two, and along the way between them no point of one is nearer to the other (the plane of
    separation proves the distance, whatever found it). Where there is no way, some point of the triangle lies in the
    box: of all weights w >= 0 of its corners that sum to 1, the least excess over the box is 0, as far as SLSQP finds
    it, to the root of its ftol. Rounding: some units in the last place of the coordinates, over the distance for the
    axis, over the sine at the first corner for the normal that is given."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.05, 1.0, 3)
    corners = away * half * rng.normal(size=3) + size * rng.normal(size=(3, 3))
    if along:  # edges and normals along the axes of the box, corners level with its faces
        corners = np.round(2.0 * corners / half) * 0.5 * half
    u, v = corners[1:] - corners[0]
    n = np.cross(u, v)
    assume(np.linalg.norm(n) > 1e-3 * np.linalg.norm(u) * np.linalg.norm(v))
    flat = np.linalg.norm(u) * np.linalg.norm(v) / np.linalg.norm(n)
    n /= np.linalg.norm(n)
    points = np.full((2, 3), np.nan)
    distance = nearest(half, corners, n, points)
    p, q = points
    scale = np.abs(corners).max() + half.max()
    rounding = 64.0 * 2.0**-52 * scale
    if distance > 1e-6 * scale:
        u = (q - p) / distance
        assert abs(np.linalg.norm(q - p) - distance) <= rounding
        assert (np.abs(p) <= half + rounding).all()
        apart = (corners @ u).min() - half @ np.abs(u)
        assert apart >= distance - rounding * scale / distance
        assert abs((q - corners[0]) @ n) <= rounding * flat
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            inward = np.cross(n, end - start)
            assert inward @ (q - start) >= -rounding * flat * np.linalg.norm(inward)
    elif distance == 0.0:
        def excess(w):
            r = corners.T @ w
            r = r - np.clip(r, -half, half)
            return r @ r / scale**2
        found = minimize(excess, np.full(3, 1.0 / 3.0), bounds=[(0.0, 1.0)] * 3, method="SLSQP",
                         constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0}, options={"ftol": 1e-14})
        assert found.fun <= 1e-7
