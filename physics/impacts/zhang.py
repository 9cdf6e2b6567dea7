"""External impact between two multibody systems, in minimal coordinates, after Zhang (1996).

Each system is a chain of links B_1 … B_n on hinges or sliders that starts at a zero body B_0 of given motion. Link i
has the 4 x 4 pose A_0i in the frame e^(0) of its zero body; homogeneous points are (x, y, z, 1), directions
(x, y, z, 0).

    ū_ij = ∂A_0i/∂q_j                                                                    (0 for j > i)
    M_ik = Σ_j Tr(ū_jk J_j ū_jiᵀ)       J_j = ∫ r rᵀ dm of link j, 4 x 4                           [Zhang eq. 3.2]
    W_lk = -1 on the inner link of point k, +1 on the outer one                                   [eq. 2.2]
    d_ik = Σ_j W_jk n_k ū_ji r_j^(k)    so that M Δq̇ = d I*                                   [eqs. 3.9, 3.11, 3.13]
    A Δq̇ = H:  n_k·(ΔV_outer - ΔV_inner) = -(1 + σ_k) n_k·(V_outer - V_inner)                 [eqs. 3.25 – 3.28]
    A M⁻¹ d I* = H,  Δq̇ = M⁻¹ d I*                                                          [eqs. 3.30, 3.29]

Inner links belong to the first system, outer ones to the second; n_k is the outward normal of the inner link. The rows
of A turn out to be the columns of d, so A M⁻¹ d is the matrix TᵀH⁻¹T of RBDA eq. 11.63.

Eq. 3.30 is an equality for every point given, whichever sign I*_k comes out with. It agrees with the LCP of
`impact_laws.newton` where all I* >= 0. Where points act on one another, I*_k < 0 may pull at a point that would
separate; the LCP lets that point separate. The motion of the zero bodies is given and does not change.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.model import Array, IntArray

ZERO_PIVOT = 1e-11      # pivots of A M⁻¹ d below this, relative to the largest, count as zero
CONSISTENT_PART = 1e-9  # part of H that eq. 3.30 may miss where A M⁻¹ d is singular

#: Q_j, the derivative at q = 0 of the pose of a rotation about the joint's z axis, or of a translation along it
_GENERATOR = {"hinge": np.zeros((4, 4)), "slider": np.zeros((4, 4))}
_GENERATOR["hinge"][0, 1], _GENERATOR["hinge"][1, 0] = -1.0, 1.0
_GENERATOR["slider"][2, 3] = 1.0


class Link(NamedTuple):
    """A link and the joint that carries it; the joint turns about, or shifts along, the z axis of the link's frame."""

    joint: Literal["hinge", "slider"]
    place: Array     #: (4, 4) pose of the link's frame in the frame before it, at q = 0
    mass: float      #: [kg]
    center: Array    #: (3,) centre of mass [m], link frame
    inertia: Array   #: (3, 3) about the centre of mass [kg m2], link axes


class Base(NamedTuple):
    """The given motion of a zero body at the instant, in world axes."""

    R: Array         #: (3, 3) world -> e^(0): the paper's R_1 or R_2, the transpose of the body's orientation
    origin: Array    #: (3,) [m]
    velocity: Array  #: (3,) V_0 [m/s]
    spin: Array      #: (3,) ω_0 [rad/s]


class Multibody(NamedTuple):
    """A chain of links at an instant."""

    base: Base
    links: tuple[Link, ...]
    q: Array      #: (n,) [rad] or [m]
    q_dot: Array  #: (n,) before the impact


class Point(NamedTuple):
    """A point where the systems meet."""

    inner: int           #: link of the first system: 1 … n_1, 0 for its zero body
    outer: int           #: link of the second system likewise
    place: Array         #: (3,) [m], world
    normal: Array        #: (3,) unit, out of the inner link, world
    restitution: float   #: σ_k


class ExternalImpact(NamedTuple):
    """What an external impact did. n = n_1 + n_2 coordinates, those of the first system first; s points."""

    W: IntArray          #: (n, s) incidence
    M: Array             #: (n, n) inertia of both systems [kg, kg m or kg m2]
    d: Array             #: (n, s)
    A: Array             #: (s, n)
    H: Array             #: (s,) [m/s]
    impulse: Array       #: (s,) I* [N s]; below 0 where the paper's equality pulls
    change: Array        #: (n,) Δq̇
    approach: Array      #: (s,) n_k·(V_outer - V_inner) before the impact [m/s]
    status: str          #: "solved"; "redundant": a basic solution of several; "inconsistent": the nearest one


# -------------------------------------------------------------------------------------------------- one system
def turned(base: Base) -> Array:
    """(4, 4) pose of e^(0) in the world."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = base.R.T, base.origin
    return pose


def link_poses(system: Multibody) -> Array:
    """(n + 1, 4, 4) poses A_0i in e^(0); the first is that of the zero body, the identity."""
    poses = np.empty((len(system.links) + 1, 4, 4))
    poses[0] = np.eye(4)
    for i, (link, q) in enumerate(zip(system.links, system.q, strict=True)):
        moved = np.eye(4)
        if link.joint == "hinge":
            moved[:2, :2] = [[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]]
        else:
            moved[2, 3] = q
        poses[i + 1] = poses[i] @ link.place @ moved
    return poses


def pose_derivatives(system: Multibody) -> Array:
    """(n + 1, n, 4, 4) ū_ij = ∂A_0i/∂q_j = A_0j Q_j A_0j⁻¹ A_0i, with i = 0 the zero body."""
    poses, n = link_poses(system), len(system.links)
    result = np.zeros((n + 1, n, 4, 4))
    for j, link in enumerate(system.links):
        R, p = poses[j + 1, :3, :3], poses[j + 1, :3, 3]
        inverse = np.eye(4)
        inverse[:3, :3], inverse[:3, 3] = R.T, -R.T @ p
        generator = poses[j + 1] @ _GENERATOR[link.joint] @ inverse
        for i in range(j + 1, n + 1):
            result[i, j] = generator @ poses[i]
    return result


def second_moments(link: Link) -> Array:
    """(4, 4) J = ∫ r rᵀ dm in the link's frame, from its mass, centre of mass and inertia."""
    J = np.empty((4, 4))
    J[:3, :3] = 0.5 * np.trace(link.inertia) * np.eye(3) - link.inertia + link.mass * np.outer(link.center, link.center)
    J[:3, 3] = J[3, :3] = link.mass * link.center
    J[3, 3] = link.mass
    return J


def inertia(system: Multibody) -> Array:
    """(n, n) M of one system: M_ik = Σ_j Tr(ū_jk J_j ū_jiᵀ)   [Zhang eq. 3.2]"""
    u = pose_derivatives(system)
    J = np.array([second_moments(link) for link in system.links]).reshape(-1, 4, 4)
    return np.einsum("jkab,jbc,jiac->ik", u[1:], J, u[1:])


def _own_point(system: Multibody, poses: Array, link: int, place: Array) -> Array:
    """(4,) homogeneous coordinates, in its own frame, of the link's point that is at a world place."""
    at = system.base.R @ (place - system.base.origin)
    pose = poses[link]
    return np.append(pose[:3, :3].T @ (at - pose[:3, 3]), 1.0)


class _PointTerms(NamedTuple):
    """What the points of one system contribute."""

    d: Array         #: (n_i, s)
    along: Array     #: (s, n_i) n_k·β: speed along the normals of the link's points [m/s] per q̇
    carried: Array   #: (s,) n_k·(ω_0 × ρ + V_0) [m/s]


def _side(system: Multibody, points: Sequence[Point], inner: bool) -> _PointTerms:
    """d of eq. 3.9 (3.11 for the outer side, whose normals E has turned into its own e^(0)) and n·β of eq. 3.22."""
    u, poses = pose_derivatives(system), link_poses(system)
    n = len(system.links)
    side = _PointTerms(np.zeros((n, len(points))), np.zeros((len(points), n)), np.zeros(len(points)))
    for k, point in enumerate(points):
        link = point.inner if inner else point.outer
        w = -1.0 if inner else 1.0
        r = _own_point(system, poses, link, point.place)
        normal = np.append(system.base.R @ point.normal, 0.0)
        beta = u[link] @ r                                   # V^r = Σ_j ū_ij r q̇_j          [eq. 3.22]
        side.along[k] = beta @ normal
        side.d[:, k] = [w * (normal @ u[link, i] @ r) for i in range(n)]
        rho = point.place - system.base.origin
        side.carried[k] = point.normal @ (np.cross(system.base.spin, rho) + system.base.velocity)   # eqs. 3.16, 3.17
    return side


# ------------------------------------------------------------------------------------------------------- both
def incidence(first: int, second: int, points: Sequence[Point]) -> IntArray:
    """(n_1 + n_2, s) W: -1 on inner links, +1 on outer ones; zero bodies have no row   [Zhang eqs. 2.1, 2.2]"""
    W = np.zeros((first + second, len(points)), np.int32)
    for k, point in enumerate(points):
        if point.inner:
            W[point.inner - 1, k] = -1
        if point.outer:
            W[first + point.outer - 1, k] = 1
    return W


def basic_solution(matrix: Array, right: Array) -> tuple[Array, str]:
    """x with as many entries that are not zero as the matrix has rank, and its status (see ExternalImpact)."""
    if not len(right):
        return np.zeros(0), "solved"
    import scipy.linalg  # when it is first needed: it takes long to load

    factors: tuple[Any, Any, Any] = scipy.linalg.qr(matrix, pivoting=True)  # pyright: ignore
    Q, R, order = factors
    pivots = np.abs(np.diag(R))
    rank = int(np.count_nonzero(pivots > ZERO_PIVOT * pivots[0]))
    x = np.zeros(len(right))
    x[order[:rank]] = scipy.linalg.solve_triangular(R[:rank, :rank], (Q.T @ right)[:rank])
    if rank == len(right):
        return x, "solved"
    missed = np.abs(matrix @ x - right).max()
    return x, "redundant" if missed <= CONSISTENT_PART * np.abs(right).max(initial=0.0) else "inconsistent"


def _check(first: Multibody, second: Multibody, points: Sequence[Point]) -> None:
    for name, system in (("first", first), ("second", second)):
        if len(system.q) != len(system.links) or len(system.q_dot) != len(system.links):
            raise ValueError(f"the {name} system has {len(system.links)} links; q and q_dot must have as many entries")
    for k, point in enumerate(points):
        if not 0 <= point.inner <= len(first.links) or not 0 <= point.outer <= len(second.links):
            raise ValueError(f"point {k} is on links {point.inner} and {point.outer}; they must be 0 to "
                             f"{len(first.links)} and 0 to {len(second.links)}")
        if abs(np.linalg.norm(point.normal) - 1.0) > 1e-9:
            raise ValueError(f"the normal of point {k} has length {np.linalg.norm(point.normal):.6g}; it must be 1")


def external_impact(first: Multibody, second: Multibody, points: Sequence[Point]) -> ExternalImpact:
    """The impact of two systems at s points at once   [Zhang eqs. 3.13 – 3.31].

    Raises ValueError where a point names no link or a normal is not of unit length.
    """
    import scipy.linalg  # as above

    _check(first, second, points)
    M = np.asarray(scipy.linalg.block_diag(inertia(first), inertia(second)))
    one, two = _side(first, points, True), _side(second, points, False)
    d = np.vstack([one.d, two.d])
    A = np.hstack([-one.along, two.along])
    approach = A @ np.concatenate([first.q_dot, second.q_dot]) + two.carried - one.carried
    H = -(1.0 + np.array([point.restitution for point in points])) * approach
    answer = scipy.linalg.solve(M, d, assume_a="pos") if len(M) else d
    impulse, status = basic_solution(A @ answer, H)
    W = incidence(len(first.links), len(second.links), points)
    return ExternalImpact(W, M, d, A, H, impulse, answer @ impulse, approach, status)


def joint_impulses(system: Multibody, change: Array, points: Sequence[Point], impulse: Array, inner: bool) -> Array:
    """(n, 3) impulse that each joint passes to its link [N s], world axes: the change of the link's momentum, less
    the impulses at its points, plus what it passes on to the next link.

    change (n_i,) is the system's part of Δq̇; inner says whether it is the first system.
    """
    u, n = pose_derivatives(system), len(system.links)
    result = np.zeros((n + 1, 3))
    for i in range(n, 0, -1):
        link = system.links[i - 1]
        speed = np.einsum("jab,b,j->a", u[i], np.append(link.center, 1.0), change)[:3]
        result[i - 1] = link.mass * (system.base.R.T @ speed)
        if i < n:
            result[i - 1] += result[i]
        for point, size in zip(points, impulse, strict=True):
            if (point.inner if inner else point.outer) == i:
                result[i - 1] -= (-size if inner else size) * point.normal
    return result[:n]
