"""Coulomb's law for accelerations where normal forces bound more than friction in their tangent planes: moments too.

As in `coulomb` there are blocks of three rows, a normal one and two tangents, M (3 c, 3 c) and d (3 c,). Each has a
bearer, the block whose normal force bounds what it does along its tangents,

    |f_t,k| <= mu_k f_n,b(k),    a_t,k = 0  or  f_t,k = -mu_k f_n,b(k) a_t,k/|a_t,k|

or f_t,k is opposite to the slip velocity of a block that slides already. A contact bears itself. What it bears besides,
its moments against spinning and rolling, are blocks whose normal row is 0, see `problem.turning_rows`.
"""

import itertools
import math
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array, BoolArray
from ..laws.contact import project_cone
from .coulomb import CLOSES, CREEPS, PUSHES, STICK_RESIDUAL, SWEEP_CHANGE, SWEEPS, VERGES, contact_alone
from .interior_point import newton_step
from .least_forces import FEW, RANK, ZERO, basis, cone_slopes, least

Numbers = NDArray[np.integer[Any]]  # of blocks
FIRST_SWEEPS = 40   # before Newton's method is tried first
NEWTON_STEPS = 40   # of it, at most
SOLVED = 1e-13      # natural map that counts as solved, relative to the largest |d|; scaled problem
PATH_STEPS = 16     # of compliance, at most
IDLE_STEPS = 8      # of the proximal point method that do not halve the breach of the law, after which it ends
SHORTEST_WAY = 0.8  # part to which compliance falls in a step, above which its path goes no further
ONE_WAY = 1e-12  # determinant of a block's tangents below which they count as one direction, relative to their trace²


# ------------------------------------------------------------------------------------------------------- sweeps
@kernel
def borne_sweeps(M, d, friction, bearer, slide, iterations, enough, force, rate_out):
    """Block Gauss–Seidel as `coulomb.py: cone_sweeps`, one block after the other. Where a block that slides is borne by
    another one its force is found with that one's. slide (c, 3): 1 and the slip direction of one that slides already.
    """
    c = len(friction)
    for k in range(c):
        if slide[k, 0] == 1.0:
            for i in range(2):
                force[3 * k + 1 + i] = -friction[k] * slide[k, 1 + i] * force[3 * bearer[k]]
    for r in range(3 * c):
        rate_out[r] = d[r]
        for j in range(3 * c):
            rate_out[r] += M[r, j] * force[j]
    own, f = (np.zeros((3, 3)), np.zeros(3), np.zeros((3, 4))), np.zeros(3)
    change = 0.0
    for _ in range(iterations):
        change = 0.0
        for k in range(c):
            if bearer[k] == k:
                find_contact(M, friction, bearer, slide, k, force, rate_out, own, f)
            elif slide[k, 0] == 0.0:
                find_borne(M, friction[k] * force[3 * bearer[k]], k, force, rate_out, f)
            else:
                continue
            for i in range(3):
                step = f[i] - force[3 * k + i]
                change = max(change, abs(step) * M[3 * k + i, 3 * k + i])
                push(M, 3 * k + i, step, force, rate_out)
            for s in range(c if bearer[k] == k else 0):
                if s != k and bearer[s] == k and slide[s, 0] == 1.0:
                    for i in range(2):
                        step = -friction[s] * slide[s, 1 + i] * f[0] - force[3 * s + 1 + i]
                        push(M, 3 * s + 1 + i, step, force, rate_out)
        if change <= enough:
            break
    return change


@helper
def push(M, r, step, force, rate):
    """Add to the force in row r."""
    if step != 0.0:
        force[r] += step
        for j in range(len(force)):
            rate[j] += M[j, r] * step


@helper
def find_contact(M, friction, bearer, slide, k, force, rate, own, f_out):
    """The force of contact k while those of all others stay, but for those of blocks that slide and which it bears.
    own: scratch for its block of M, its acceleration without itself, and their elimination."""
    W, b, work = own
    for i in range(3):
        r = 3 * k + i
        for j in range(3):
            W[i, j] = M[r, 3 * k + j]
        for s in range(len(friction)):
            if s != k and bearer[s] == k and slide[s, 0] == 1.0:
                W[i, 0] -= friction[s] * (M[r, 3 * s + 1] * slide[s, 1] + M[r, 3 * s + 2] * slide[s, 2])
        b[i] = rate[r]
        for j in range(3):
            b[i] -= W[i, j] * force[3 * k + j]
    contact_alone(b, W, work, friction[k], slide, k, f_out)


@helper
def find_borne(M, bound, k, force, rate, f_out):
    """The force of block k, of at most `bound`, that ends its acceleration; else one that comes nearer to the law."""
    r, s = 3 * k + 1, 3 * k + 2
    trace, det = M[r, r] + M[s, s], M[r, r] * M[s, s] - M[r, s] * M[s, r]
    f_out[0], f_out[1], f_out[2] = 0.0, 0.0, 0.0
    if trace == 0.0:
        return
    x, y, a, b = force[r], force[s], rate[r], rate[s]
    f_out[1], f_out[2] = x - a / trace, y - b / trace
    if det > ONE_WAY * trace * trace:
        f_out[1], f_out[2] = x - (M[s, s] * a - M[r, s] * b) / det, y - (M[r, r] * b - M[s, r] * a) / det
    if f_out[1] ** 2 + f_out[2] ** 2 > bound * bound:
        p, q = x - a / trace, y - b / trace
        size = np.hypot(p, q)
        part = bound / size if size > bound else 1.0
        f_out[1], f_out[2] = part * p, part * q


# ------------------------------------------------------------------------------------------------------- solving
def borne(
    M: Array, d: Array, friction: Array, bearer: Numbers, slides: BoolArray, slip: Array
) -> tuple[str, Array]:
    """Status and forces (3 c,) by the law above, as `coulomb.py: with_rest` has them: M, d, mu and bearers (c,), which
    blocks slide already, and their directions slip (c, 2)."""
    M, d, friction = (np.ascontiguousarray(a, np.float64) for a in (M, d, friction))
    if not slides.any() and (friction > 0.0).all():
        force = least(M, -d)
        if _within(force, friction, bearer, -ZERO) and np.abs(M @ force + d).max() <= STICK_RESIDUAL * np.abs(d).max():
            return "solved", force
    law = _Law(M, d, friction, bearer, slides, slip)
    slide = np.ascontiguousarray(np.column_stack([slides, slip]), np.float64)
    scale, change = float(np.abs(d).max()) + 1e-300, np.inf
    force, rate = np.zeros(len(d)), np.zeros(len(d))
    for sweeps in (FIRST_SWEEPS, *SWEEPS):
        before, change = change, borne_sweeps(M, d, friction, bearer, slide, sweeps, SWEEP_CHANGE * scale, force, rate)
        for start in (force, np.zeros(len(d))):
            found = law.newton(start)
            if found is not None:
                return "solved", _polished(M, d, friction, bearer, slides, slip, found)
        if change > CREEPS * before or (change > scale and slides.any()):
            break
    if not slides.any():  # else there may be none
        there, found = law.follow()
        if there:
            return "solved", _polished(M, d, friction, bearer, slides, slip, found)
        if law.breach(found) < law.breach(force):
            force, rate = found, M @ found + d
    if law.breach(force) <= ZERO:  # rows may contradict each other by so much
        return "solved", _polished(M, d, friction, bearer, slides, slip, force)
    closes = rate[::3].min() < -CLOSES * scale
    return ("inconsistent", np.zeros_like(force)) if closes else ("iterations", force)


def sharpened_from(M: Array, d: Array, friction: Array, bearer: Numbers, force: Array) -> Array:
    """The forces (3 c,) by the law above that Newton's method finds from some near them, of blocks none of which slides
    already; those given where it finds none. The law may have others: no force at all, where d_n >= 0."""
    none = np.zeros(len(friction), bool)
    found = _Law(M, d, friction, bearer, none, np.zeros((len(friction), 2))).newton(force)
    return force if found is None else found


class _Law:
    """The law as equations: the natural map of forces scaled so that each block's M has a mean diagonal of 1.

        contact at rest     f - P_K(f - u - mu |u_t| n)        K its cone, as in `interior_point.py: natural`
        contact that slides min(f_n, u_n),  f_t + mu f_n e
        what it bears       f - P_D(f - u)                     D the disc of the radius mu f_n of its bearer
        and slides          f_t + mu f_n e
    """

    def __init__(
        self, M: Array, d: Array, friction: Array, bearer: Numbers, slides: BoolArray, slip: Array
    ) -> None:
        c = len(friction)
        own = M.diagonal().reshape(c, 3)
        scale = 1.0 / np.sqrt(np.where(own.any(axis=1), own.sum(axis=1) / np.maximum((own > 0.0).sum(axis=1), 1), 1.0))
        self.scale, self.bearer, self.slip = np.repeat(scale, 3), bearer, slip
        self.M, self.d = M * self.scale * self.scale[:, None], d * self.scale
        self.friction = friction * scale[bearer] / scale
        self.size = float(np.abs(self.d).max()) or 1.0
        contact = bearer == np.arange(c)
        single = slides | (friction == 0.0)
        self.cones, self.lone = np.flatnonzero(contact & ~single), np.flatnonzero(contact & single)
        self.discs, self.bound = np.flatnonzero(~contact & ~single), np.flatnonzero(single)

    def newton(self, force: Array) -> Array | None:
        """Forces (3 c,) by Newton's method from a first guess; None: not found."""
        f = force / self.scale
        miss, slope = self._miss(f)
        norm = float(np.linalg.norm(miss))
        for _ in range(NEWTON_STEPS):
            if np.abs(miss).max() <= SOLVED * self.size:
                return f * self.scale
            step, t = newton_step(slope, miss), 1.0
            while True:
                tried = self._miss(f + t * step)
                size = float(np.linalg.norm(tried[0]))
                if size <= (1.0 - 1e-4 * t) * norm:
                    break
                t *= 0.5
                if t < 1e-3:
                    return None
            f, norm, (miss, slope) = f + t * step, size, tried
        return None

    def follow(self) -> tuple[bool, Array]:
        """Forces (3 c,) by two ways on which Newton's method has less far to go each time, where sweeps creep: those
        of contacts with a compliance, u + s f, that becomes less; and from the last ones found so, as far as these are
        from the law, steps of the proximal point method, u + s (f - f_before)                      [Rockafellar 1976].
        Whether they obey the law; if not they are the nearest to it on the way: of rows that contradict each other."""
        f, soft, ratio, near = np.zeros(len(self.d)), 1.0, 0.1, 0.0
        for _ in range(PATH_STEPS):
            found = self._softened(soft, np.zeros(len(f))).newton(f)
            if found is not None:
                f, near, ratio = found, soft, ratio**1.5
                exact = self.newton(f)
                if exact is not None:
                    return True, exact
            elif near == 0.0 or ratio > SHORTEST_WAY:
                break
            else:
                ratio = math.sqrt(ratio)
            soft = near * ratio
        best, least_miss, idle = f, self.breach(f), 0
        while idle < IDLE_STEPS:
            idle += 1
            found = self._softened(soft, f).newton(f)
            soft *= 4.0 if found is None else 0.25
            if found is not None:
                f, exact = found, self.newton(found)
                if exact is not None:
                    return True, exact
                miss = self.breach(f)
                if miss < 0.5 * least_miss:
                    best, least_miss, idle = f, miss, 0
        return False, best

    def _softened(self, soft: float, anchor: Array) -> "_Law":
        """The same law for u + s (f - anchor), s relative to the mean diagonal of each block."""
        law = copy(self)
        law.M, law.d = self.M + soft * np.eye(len(self.d)), self.d - soft * anchor / self.scale
        return law

    def breach(self, force: Array) -> float:
        """The largest entry of the map, relative to the largest |d|."""
        return float(np.abs(self._miss(force / self.scale)[0]).max()) / self.size

    def _miss(self, f: Array) -> tuple[Array, Array]:
        """The map (3 c,) and its slope (3 c, 3 c)."""
        M, mu, n = self.M, self.friction, len(f)
        u, eye = M @ f + self.d, np.eye(n)
        miss, slope = f.copy(), eye.copy()
        rows = 3 * self.cones[:, None] + np.arange(3)
        slip = np.hypot(u[rows[:, 1]], u[rows[:, 2]])
        x = f[rows] - u[rows]
        x[:, 0] -= mu[self.cones] * slip
        inside = np.empty_like(x)
        project_cone(x, mu[self.cones], inside)
        miss[rows] -= inside
        moved = eye[rows] - M[rows]
        e = u[rows[:, 1:]] / np.where(slip > 0.0, slip, 1.0)[:, None]
        moved[:, 0] -= mu[self.cones, None] * np.einsum("ij,ijk->ik", e, M[rows[:, 1:]])
        cones = np.empty((len(x), 3, 3))
        cone_slopes(x, mu[self.cones], cones)
        slope[rows] -= np.einsum("ijk,ikl->ijl", cones, moved)
        for k in self.lone.tolist():
            if u[3 * k] < f[3 * k]:
                miss[3 * k], slope[3 * k] = u[3 * k], M[3 * k]
        for k in self.bound.tolist():
            r, b = slice(3 * k + 1, 3 * k + 3), 3 * self.bearer[k]
            miss[r] += mu[k] * f[b] * self.slip[k]
            slope[r, b] += mu[k] * self.slip[k]
        for k in self.discs.tolist():
            r, b = slice(3 * k + 1, 3 * k + 3), 3 * self.bearer[k]
            x_k, radius = f[r] - u[r], mu[k] * max(f[b], 0.0)
            size = float(np.hypot(*x_k))
            if size <= radius:
                miss[r], slope[r] = u[r], M[r]
                slope[r][M.diagonal()[r] == 0.0] = eye[r][M.diagonal()[r] == 0.0]
                continue
            e_k = x_k / size
            miss[r] -= radius * e_k
            slope[r] -= radius / size * (np.eye(2) - np.outer(e_k, e_k)) @ (eye[r] - M[r])
            slope[r, b] -= mu[k] * e_k if f[b] > 0.0 else 0.0
        return miss, slope


def _polished(
    M: Array, d: Array, friction: Array, bearer: Numbers, slides: BoolArray, slip: Array, force: Array
) -> Array:
    """The forces nearest to what is nearly exact that are so, the smallest ones first; or that."""
    for still, fresh in itertools.product(VERGES, (True, False)):
        exact = _exact(M, d, friction, bearer, slides, slip, force, M @ force + d, still, fresh)
        if exact is not None:
            return exact
    return force


def _within(force: Array, friction: Array, bearer: Numbers, more: float, slack: float = 0.0) -> bool:
    """Whether forces press and are within their bounds, but for a part `more` of these and for `slack` [N]."""
    bound = friction * force[3 * bearer]
    return bool((force[::3] >= 0.0).all() and (
        np.hypot(force[1::3], force[2::3]) <= bound * (1.0 + more) + slack).all())


def _exact(
    M: Array, d: Array, friction: Array, bearer: Numbers, slides: BoolArray, slip: Array, force: Array, rate: Array,
    still: float, fresh: bool,
) -> Array | None:
    """What `coulomb.py: sharpened` finds: the exact forces with the modes that `force` and `rate` show, or None where
    they break a law; fresh: the smallest of all exact forces, else those nearest to `force`."""
    c, scale, acceleration = len(friction), float(np.abs(d).max()) + 1e-300, rate.reshape(-1, 3)
    largest = float(np.abs(force[::3]).max(initial=0.0)) + 1e-300
    closed = (force[::3] > PUSHES * largest) | ((acceleration[:, 0] <= ZERO * scale) & fresh)
    closed &= bearer == np.arange(c)
    if not closed.any():
        return np.zeros(len(d)) if (d[::3] >= -ZERO * scale).all() else None
    rubs = closed[bearer] & (friction > 0.0)
    sticks = rubs & ~slides & (np.hypot(*acceleration[:, 1:].T) <= still * scale)
    moved = M.diagonal() > 0.0
    rows = np.array([3 * k for k in np.flatnonzero(closed).tolist()] + [
        3 * k + i for k in np.flatnonzero(sticks).tolist() for i in (1, 2) if moved[3 * k + i]])
    some = rows if len(rows) <= FEW else np.array(basis(M, rows.tolist()))
    bound = np.flatnonzero(rubs & ~sticks)  # those whose force is as great as it can be
    of = np.searchsorted(rows[: closed.sum()], 3 * bearer[bound])
    turning = np.flatnonzero(rubs & ~sticks & ~slides)
    tangents, e = (3 * turning[:, None] + (1, 2)).ravel(), slip.copy()
    near = np.zeros(len(rows)) if fresh else force[rows]

    def forces(start: Array) -> Array:
        """All forces (3 c,) for slip accelerations (2 t,) of the t blocks that begin to slip."""
        a = start.reshape(-1, 2)
        e[turning] = a / np.maximum(np.hypot(*a.T), 1e-300)[:, None]
        B = M[:, rows].copy()
        for k, j in zip(bound.tolist(), of.tolist(), strict=True):
            B[:, j] -= friction[k] * M[:, 3 * k + 1 : 3 * k + 3] @ e[k]
        x = near + np.linalg.lstsq(B[some], -d[some] - B[some] @ near, rcond=RANK)[0]
        f = np.zeros(len(d))
        f[rows] = x
        f.reshape(-1, 3)[bound, 1:] = -(friction[bound] * x[of])[:, None] * e[bound]
        return f

    f = forces(rate[tangents])
    a = M @ f + d
    slips = a[tangents].reshape(-1, 2)
    along, across = (slips * e[turning]).sum(axis=1), slips[:, 0] * e[turning, 1] - slips[:, 1] * e[turning, 0]
    right = (
        np.abs(a[rows]).max() <= ZERO * scale and (a[::3] >= -ZERO * scale).all()
        and _within(f, friction, bearer, ZERO, ZERO * largest)
        and np.abs(across).max(initial=0.0) <= ZERO * scale and along.min(initial=0.0) >= -ZERO * scale
    )
    return f if right else None
