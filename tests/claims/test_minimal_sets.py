"""Minimal contact sets by positive dependence [RBDA §11.6, fig. 11.7]: they forbid what the full sets forbid."""

import numpy as np
import pytest
from contact_scenes import G, ground, simulate
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactlab.assets import gallery
from contactlab.physics import SOLVERS, ContactProblem, Scene, Simulation
from contactlab.physics.look.minimal_set import minimal_set, positively_independent, spatial_normals
from contactlab.physics.shapes.shapes import quat_to_matrix

UP = np.array([0.0, 0.0, 1.0])


def kept(points, normals=None):
    points = np.atleast_2d(points)
    normals = np.tile(UP, (len(points), 1)) if normals is None else normals
    return np.flatnonzero(positively_independent(spatial_normals(points, normals))).tolist()


def flat(x, y):
    return np.column_stack([x, y, np.zeros(len(x))])


def test_of_a_line_contact_the_two_ends_remain():
    """Fig. 11.7 a, in any order of the points."""
    x = np.array([0.3, -1.0, 0.0, 0.7, 1.2, 0.1])
    assert kept(flat(x, 2.0 * x)) == [1, 4]


def test_of_a_face_contact_the_corners_of_the_convex_hull_remain():
    """Fig. 11.7 c: of two touching flats whose region is no convex one the pentagon about it."""
    region = [(0, 0), (2, 0), (2, 1), (1, 0.9), (1, 2), (0, 2), (1, 0), (0.5, 0.5), (2, 0.5)]
    assert kept(flat(*np.array(region, float).T)) == [0, 1, 2, 4, 5]


def test_of_a_disc_every_point_of_the_rim_remains_and_none_within():
    """Fig. 11.7 d."""
    angle, inner = 2 * np.pi * np.arange(40) / 40, 2 * np.pi * np.arange(12) / 12
    rim = flat(np.cos(angle), np.sin(angle))
    assert kept(np.vstack([rim, 0.99 * flat(np.cos(inner), np.sin(inner))])) == list(range(40))


def test_on_a_ruled_surface_every_point_of_the_line_remains():
    """Fig. 11.7 b: along the y axis on z = x tan y the normal turns, n ∝ (-tan y, 0, 1)."""
    y = np.linspace(-0.6, 0.6, 9)
    normals = np.column_stack([-np.tan(y), 0 * y, 1 + 0 * y])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    assert kept(np.column_stack([0 * y, y, 0 * y]), normals) == list(range(9))


points_in_a_plane = st.lists(st.tuples(*[st.integers(-50, 50)] * 2), min_size=4, max_size=12, unique=True)


@given(points_in_a_plane)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_what_remains_of_points_in_a_plane_is_what_qhull_finds(found):
    """Whole numbers: a point lies on a side or is off it by 1/|side| at least."""
    points = np.array(found, float)
    assume(np.linalg.matrix_rank(points - points[0]) == 2)
    assert kept(flat(*points.T)) == sorted(ConvexHull(points).vertices.tolist())


@given(points_in_a_plane, st.lists(st.floats(-10, 10), min_size=6, max_size=6))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_a_body_accelerates_alike_on_the_minimal_set(found, force):
    """a = I⁻¹(f + N λ) [RBDA eq. 11.20] with λ from 0 <= ζ̇ ⊥ λ >= 0 is unique, though λ is not. The LCP is solved to
    rounding, 1e-12 of the largest acceleration and of what λ makes of it."""
    points = np.array(found, float) / 50
    assume(np.linalg.matrix_rank(points - points[0]) == 2)
    normals = spatial_normals(flat(*points.T), np.tile(UP, (len(points), 1)))
    inverse = np.diag([2.0, 3.0, 5.0, 1.0, 1.0, 1.0])
    free, acceleration = inverse @ np.array(force), []
    for rows in (range(len(points)), kept(flat(*points.T))):
        N = normals[list(rows)].T
        lam = np.full(N.shape[1], np.nan)
        info = SOLVERS["lemke"](ContactProblem.frictionless(N.T @ inverse @ N, N.T @ free), lam)
        assert info.status == "solved"
        acceleration.append(free + inverse @ N @ lam)
    assert acceleration[0] == pytest.approx(acceleration[1], abs=1e-10)


#: ball feet of a table, of which the last two stand within the others
FEET = [(0.5, 0.0), (0.15, 0.45), (-0.4, 0.3), (-0.4, -0.3), (0.15, -0.45), (0.1, 0.1), (-0.4, 0.05)]
HEIGHT = 0.3  # of its centre over theirs [m]


def two_tables(method, **settings):
    """A table that slides on all of its feet, and one that has only those in the minimal set, after 0.1 s."""
    def table(rows):
        feet = [{"type": "sphere", "radius": 0.05, "position": [*FEET[k], -HEIGHT]} for k in rows]
        body = {"name": "table", "position": [0.0, 0.0, HEIGHT + 0.05], "mass": 2.0, "inertia": [0.3, 0.3, 0.5],
                "velocity": [0.5, 0.2, 0.0], "angular_velocity": [0.0, 0.0, 0.4], "shape": feet}
        sim = simulate(ground(), body, mu=0.0, h=1 / 250, method=method)
        sim.set(**settings)
        sim.run(0.1)
        return sim

    full = table(range(7))
    rows = np.flatnonzero(minimal_set(full.contacts, full.model.kind))
    assert sorted(full.contacts.shape_b[rows].tolist()) == [1, 2, 3, 4, 5]  # shape 0 is the ground
    return full, table(range(5))


def tipping(full, least):
    """Steps in which both tables are pushed above, so that they tip over a foot."""
    for _ in range(40):
        for sim in (full, least):
            sim.apply_force("table", (25.0, 3.0, 0.0), sim.position("table") + 0.6 * UP)
            sim.step()
        yield
    assert np.linalg.norm(full.angular_velocity("table")[:2]) > 0.1


@pytest.mark.parametrize(("method", "solver"), [("event_driven", None), ("time_stepping", "pgs"),
                                                ("time_stepping", "lemke")])
def test_a_table_moves_alike_on_its_minimal_set(method, solver):
    """Rigid bodies: with those five feet alone that are in the minimal set it moves the same. Of time_stepping this
    holds to what its solver leaves."""
    full, least = two_tables(method, **({} if solver is None else {"solver": solver}))
    for _ in tipping(full, least):
        assert full.position("table") == pytest.approx(least.position("table"), abs=1e-10)
        assert full.angular_velocity("table") == pytest.approx(least.angular_velocity("table"), abs=1e-10)


@pytest.mark.parametrize("integrator", ["dopri5", "sdirk2"])
def test_soft_surfaces_move_a_table_on_its_minimal_set_alike_to_what_they_yield(integrator):
    """Seven feet yield less than five, m g/K at most, and what yields swings at up to g √(m/K): a foot that is let go
    may leave with that speed. So no foot that both have is farther from its like than that speed takes it in the time,
    which is less the stiffer they are."""
    worst = []
    for stiffness in (5e4, 3.2e6):
        full, least = two_tables("compliant", stiffness_n=stiffness, integrator=integrator)
        start, apart = full.time, []
        for _ in tipping(full, least):
            mine, others = (sim.position("table") + np.insert(FEET[:5], 2, -HEIGHT, axis=1)
                            @ quat_to_matrix(sim.orientation("table")).T for sim in (full, least))
            apart.append(np.linalg.norm(mine - others, axis=1).max())
            assert apart[-1] <= 2.0 * G / stiffness + G * np.sqrt(2.0 / stiffness) * (full.time - start)
        worst.append(max(apart))
    assert 0.0 < worst[1] < 0.5 * worst[0]


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
def test_a_box_on_eight_contacts_needs_its_four_outer_ones(method):
    """Both rails are fixed: what they forbid the box is one set."""
    sim = Simulation(Scene.load(gallery()["eight_contacts"]), method=method)
    sim.run(0.3)
    assert sim.contacts.current.sum() == 8
    x, outer = np.abs(sim.contacts.point[:, 0]), minimal_set(sim.contacts, sim.model.kind)
    assert outer.sum() == 4 and x[outer].min() > x[~outer].max()
