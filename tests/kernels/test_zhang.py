"""Zhang's external impact against hand calculation, the general impact law and the laws of mechanics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.physics.impacts.impact_laws import newton
from contactlab.physics.impacts.zhang import (
    Base,
    Link,
    Multibody,
    Point,
    external_impact,
    incidence,
    inertia,
    joint_impulses,
    link_poses,
    turned,
)
from contactlab.physics.shapes.shapes import euler_to_quat, quat_to_matrix

STILL = Base(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def place(x=0.0, y=0.0, z=0.0, turn=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, (x, y, z)
    return pose


def rod(length=1.0, mass=1.0, before=0.0, joint="hinge"):
    """A uniform rod along x, its hinge at one end, `before` from the hinge before it."""
    return Link(joint, place(before), mass, np.array([0.5 * length, 0.0, 0.0]),
                mass * length**2 / 12.0 * np.diag([0.0, 1.0, 1.0]))


def arm(q_dot, base=STILL, length=1.0, mass=1.0):
    return Multibody(base, (rod(length, mass), rod(length, mass, length)), np.zeros(2), np.array(q_dot, float))


def base_at(x, angle=0.0, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])  # world -> base
    return Base(R, np.array(x, float), np.array(velocity, float), np.array(spin, float))


# --------------------------------------------------------------------------------------------------- by hand
def test_two_stretched_arms_that_meet_at_their_tips():
    """Two arms of two rods each (m, l), stretched towards one another along x, meet with their tips along y.

    By hand, with the parallel axis theorem: M = m l² [[8/3, 5/6], [5/6, 1/3]], its inverse 36/(7 m l²) [[1/3, -5/6],
    [-5/6, 8/3]]; the tip's row is (2 l, l), so a tip answers with 24/(7 m), both with 48/(7 m). A hinge speed (a, b)
    moves the tip at (2 a + b) l.
    """
    m, l, e = 1.3, 0.7, 0.4
    first = arm([0.5, 0.25], length=l, mass=m)
    second = arm([0.0, 0.0], base_at((4.0 * l, 0.0, 0.0), np.pi), l, m)
    point = Point(2, 2, np.array([2.0 * l, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), e)
    found = external_impact(first, second, [point])
    np.testing.assert_array_equal(found.W, [[0], [-1], [0], [1]])
    own = m * l * l * np.array([[8 / 3, 5 / 6], [5 / 6, 1 / 3]])
    np.testing.assert_allclose(found.M, np.kron(np.eye(2), own), rtol=1e-13, atol=1e-15)
    speed = (2 * 0.5 + 0.25) * l
    np.testing.assert_allclose(found.H, [(1 + e) * speed], rtol=1e-13)
    impulse = (1 + e) * speed * 7 * m / 48
    assert found.impulse == pytest.approx([impulse], rel=1e-13)
    # Δq̇ = -M⁻¹ (2 l, l) I* on the first arm; turned half round, the second one answers with the same numbers
    by_hand = np.array([6 / 7, -36 / 7]) * impulse / (m * l)
    np.testing.assert_allclose(found.change, [*by_hand, *by_hand], rtol=1e-12)
    assert found.status == "solved"


def test_a_base_in_motion_carries_its_arm_into_the_other():
    """The same arms with joints at rest; the second base moves down and turns: its tip comes at v + ω ρ."""
    first = arm([0.0, 0.0])
    second = arm([0.0, 0.0], base_at((4.0, 0.0, 0.0), np.pi, (0.0, -0.3, 0.0), (0.0, 0.0, 0.2)))
    point = Point(2, 2, np.array([2.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.5)
    found = external_impact(first, second, [point])
    assert found.approach == pytest.approx([-0.3 - 0.2 * 2.0], rel=1e-14)
    assert found.impulse == pytest.approx([1.5 * 0.7 * 7 / 48], rel=1e-13)


def test_a_foot_that_lands_on_the_ground_needs_no_second_link():
    """A mass on a slider falls on ground that does not move: I* = (1 + σ) m v."""
    leg = Link("slider", place(), 2.0, np.zeros(3), np.eye(3))
    first = Multibody(STILL, (leg,), np.zeros(1), np.array([-3.0]))
    ground = Multibody(STILL, (), np.zeros(0), np.zeros(0))
    found = external_impact(first, ground, [Point(1, 0, np.zeros(3), np.array([0.0, 0.0, -1.0]), 0.25)])
    assert found.impulse == pytest.approx([1.25 * 2.0 * 3.0], rel=1e-14)
    assert found.change == pytest.approx([1.25 * 3.0], rel=1e-14)


def test_a_rod_hit_at_its_centre_of_percussion_leaves_its_hinge_alone():
    """A hinged uniform rod of length l hit at 2 l/3: no impulse at the hinge; hit at its tip, l/2 or elsewhere at x,
    the hinge gives (3 x/2 l - 1) I*, from the balance of momentum m l/2 ω = I* + J with ω = I* x/(m l²/3)."""
    along_y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # its z axis is the world's y
    head = Link("slider", place(turn=along_y), 5.0, np.zeros(3), np.eye(3))
    hammer = Multibody(STILL, (head,), np.zeros(1), np.array([1.0]))
    hinged = Multibody(STILL, (rod(),), np.zeros(1), np.zeros(1))
    way = np.array([0.0, 1.0, 0.0])
    for at in (2.0 / 3.0, 1.0, 0.5, 0.1):
        point = Point(1, 1, np.array([at, 0.0, 0.0]), way, 0.3)
        found = external_impact(hammer, hinged, [point])
        felt = joint_impulses(hinged, found.change[1:], [point], found.impulse, inner=False)[0]
        np.testing.assert_allclose(felt, (1.5 * at - 1.0) * found.impulse[0] * way, atol=1e-14 * found.impulse[0])


# --------------------------------------------------------------------------------------------- against our law
def random_rotation(rng):
    return quat_to_matrix(euler_to_quat(rng.uniform(-180.0, 180.0, 3)))


def random_system(rng, n):
    links = []
    for _ in range(n):
        root = rng.normal(size=(3, 3))
        spread = root @ root.T + 0.1 * np.eye(3)  # second moments of a real body
        links.append(Link(
            "hinge" if rng.random() < 0.6 else "slider", place(*rng.uniform(-1, 1, 3), turn=random_rotation(rng)),
            float(rng.uniform(0.5, 2.0)), rng.uniform(-0.5, 0.5, 3), np.trace(spread) * np.eye(3) - spread))
    base = Base(random_rotation(rng), rng.normal(size=3), rng.normal(size=3), rng.normal(size=3))
    return Multibody(base, tuple(links), rng.uniform(-2, 2, n), rng.normal(size=n))


def jacobians(system):
    """Per link (J_v of its origin, J_ω), world axes, from axes and lever arms: shares nothing with ū_ij."""
    poses = turned(system.base) @ link_poses(system)
    result = []
    for i in range(1, len(system.links) + 1):
        J = np.zeros((6, len(system.links)))
        for j in range(1, i + 1):
            axis = poses[j, :3, 2]
            if system.links[j - 1].joint == "hinge":
                J[:3, j - 1], J[3:, j - 1] = np.cross(axis, poses[i, :3, 3] - poses[j, :3, 3]), axis
            else:
                J[:3, j - 1] = axis
        result.append((poses[i], J))
    return result


def h_form(system):
    """H = Σ m J_vᵀ J_v + J_ωᵀ I J_ω over the links, world axes"""
    H = np.zeros((len(system.links),) * 2)
    for link, (pose, J) in zip(system.links, jacobians(system), strict=True):
        arm_ = pose[:3, :3] @ link.center
        J_v = J[:3] + np.cross(J[3:].T, arm_).T
        H += link.mass * J_v.T @ J_v + J[3:].T @ (pose[:3, :3] @ link.inertia @ pose[:3, :3].T) @ J[3:]
    return H


def normal_row(system, link, point):
    if link == 0:
        return np.zeros(len(system.links))
    pose, J = jacobians(system)[link - 1]
    return point.normal @ (J[:3] + np.cross(J[3:].T, point.place - pose[:3, 3]).T)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3))
def test_zhang_is_the_h_form_for_any_two_chains(seed, n_1, n_2, s):
    """M is Σ JᵀIJ, A = dᵀ, and where no impulse pulls, the LCP of impact.newton with M = TᵀH⁻¹T gives the same I*."""
    rng = np.random.default_rng(seed)
    first, second = random_system(rng, n_1), random_system(rng, n_2)
    s = min(s, n_1 + n_2)
    points = []
    for _ in range(s):
        normal = rng.normal(size=3)
        points.append(Point(int(rng.integers(1, n_1 + 1)), int(rng.integers(1, n_2 + 1)), rng.normal(size=3),
                            normal / np.linalg.norm(normal), float(rng.uniform(0, 1))))
    found = external_impact(first, second, points)
    zero = np.zeros((n_1, n_2))
    H = np.block([[h_form(first), zero], [zero.T, h_form(second)]])
    np.testing.assert_allclose(found.M, H, rtol=1e-12, atol=1e-12 * np.abs(H).max())
    T = np.array([np.append(-normal_row(first, p.inner, p), normal_row(second, p.outer, p)) for p in points]).T
    np.testing.assert_allclose(found.A, T.T, atol=1e-12 * np.abs(T).max())
    np.testing.assert_allclose(found.d, found.A.T, atol=1e-13 * np.abs(T).max())
    M = T.T @ np.linalg.solve(H, T)
    noise = 1e-12 * np.linalg.cond(M) * np.linalg.cond(H)
    law = newton(M, found.approach, [p.restitution for p in points])
    if found.status == "solved" and (found.impulse > 0).all() and (found.approach < 0).all():
        np.testing.assert_allclose(law.impulse, found.impulse, rtol=0.0, atol=noise * found.impulse.max())
    if found.status == "solved":
        scale = np.abs(found.H).max() + np.abs(found.change).max()
        np.testing.assert_allclose(found.A @ found.change, found.H, atol=noise * scale)


def test_one_point_agrees_with_the_h_form_to_twelve_digits():
    """For one approaching point equality and LCP are the same law: RBDA eqs. 11.57 – 11.59."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        first, second = random_system(rng, 3), random_system(rng, 3)
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        point = Point(3, 2, rng.normal(size=3), normal, 0.5)
        found = external_impact(first, second, [point])
        if found.approach[0] > 0:
            point = point._replace(normal=-normal)
            found = external_impact(first, second, [point])
        T = np.append(-normal_row(first, 3, point), normal_row(second, 2, point))
        zero = np.zeros((3, 3))
        H = np.block([[h_form(first), zero], [zero, h_form(second)]])
        law = newton([[T @ np.linalg.solve(H, T)]], found.approach, 0.5)
        np.testing.assert_allclose(found.impulse, law.impulse, rtol=1e-12)
        np.testing.assert_allclose(found.change, np.linalg.solve(H, T) * law.impulse[0], rtol=1e-11,
                                   atol=1e-12 * np.abs(found.change).max())


# ----------------------------------------------------------------------------------- where the equality is not enough
def test_the_equality_pulls_where_the_lcp_lets_go():
    """Two points close together on one rod, one approached much faster: eq. 3.30 pulls at the slow one to obey its own
    restitution; the LCP gives no impulse there, and it leaves faster than the equality would have it."""
    first = Multibody(base_at((0.0, 0.0, 0.0)), (rod(),), np.zeros(1), np.array([1.0]))
    two = (Link("hinge", place(), 1.0, np.array([0.5, 0.0, 0.0]), np.eye(3)), rod(before=0.55))
    second = Multibody(base_at((0.0, 0.0, 0.0)), two, np.zeros(2), np.array([0.0, -2.0]))
    normal = np.array([0.0, 1.0, 0.0])
    points = [Point(1, 2, np.array([0.6, 0.0, 0.0]), normal, 0.5), Point(1, 2, np.array([0.9, 0.0, 0.0]), normal, 0.5)]
    found = external_impact(first, second, points)
    assert (found.approach < 0).all() and found.status == "solved"
    assert found.impulse[0] < 0 < found.impulse[1]
    np.testing.assert_allclose(found.A @ found.change, found.H, rtol=1e-12)
    law = newton(found.A @ np.linalg.solve(found.M, found.d), found.approach, 0.5)
    assert law.impulse[0] == 0 < law.impulse[1]
    assert law.zeta[0] > -0.5 * found.approach[0]


def test_redundant_points_get_a_basic_solution_and_the_same_motion():
    """Three points, the third half-way between the others on the same two links: rank 2. The middle one's H is the mean
    of the others', so eq. 3.30 still holds for all three; Δq̇ is that of the two without it."""
    first = Multibody(STILL, (rod(joint="slider")._replace(place=place(turn=random_rotation(np.random.default_rng(1)))),
                           rod()), np.array([0.1, 0.2]), np.array([0.3, 0.4]))
    second = Multibody(base_at((1.0, 1.0, 0.0)), (rod(), rod(before=1.0)), np.array([0.3, -0.2]), np.array([-1.0, 0.5]))
    normal = np.array([0.6, 0.8, 0.0])
    at = [np.array([0.2, 0.1, 0.0]), np.array([0.8, 0.4, 0.0])]
    points = [Point(2, 2, p, normal, 0.6) for p in (*at, 0.5 * (at[0] + at[1]))]
    found, two = external_impact(first, second, points), external_impact(first, second, points[:2])
    assert found.status == "redundant" and two.status == "solved"
    assert np.count_nonzero(found.impulse) == 2
    np.testing.assert_allclose(found.change, two.change, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.A @ found.change, found.H, rtol=1e-9)


def test_redundant_points_that_contradict_one_another_are_called_inconsistent():
    first, second = arm([1.0, 0.0]), arm([0.0, 0.0], base_at((4.0, 0.0, 0.0), np.pi))
    at, normal = np.array([2.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    found = external_impact(first, second, [Point(2, 2, at, normal, 0.0), Point(2, 2, at, normal, 1.0)])
    assert found.status == "inconsistent" and np.isfinite(found.change).all()


def test_incidence_and_bad_input():
    normal = np.array([1.0, 0.0, 0.0])
    W = incidence(2, 3, [Point(1, 3, normal, normal, 0.0), Point(2, 0, normal, normal, 0.0)])
    np.testing.assert_array_equal(W, [[-1, 0], [0, -1], [0, 0], [0, 0], [1, 0]])
    with pytest.raises(ValueError, match="links 3 and 1; they must be 0 to 2 and 0 to 2"):
        external_impact(arm([0, 0]), arm([0, 0]), [Point(3, 1, normal, normal, 0.0)])
    with pytest.raises(ValueError, match="length 2; it must be 1"):
        external_impact(arm([0, 0]), arm([0, 0]), [Point(1, 1, normal, 2.0 * normal, 0.0)])
    with pytest.raises(ValueError, match="first system has 2 links"):
        external_impact(arm([0, 0])._replace(q=np.zeros(3)), arm([0, 0]), [])


def test_inertia_of_a_hinged_rod_is_a_third():
    np.testing.assert_allclose(inertia(Multibody(STILL, (rod(2.0, 3.0),), np.array([0.7]), np.zeros(1))), [[4.0]])
