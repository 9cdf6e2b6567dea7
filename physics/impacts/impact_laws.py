"""Impact laws: the impulses of contacts that are hit, as functions of matrices and velocities.

    ζ⁺ = ζ⁻ + M P,     M = Tᵀ H⁻¹ T,     P the impulses                                  [RBDA eqs. 11.57, 11.62, 11.63]

M, the velocities ζ⁻ and e are all that a law needs; velocities of bodies follow from H Δq̇ = T P. Without friction there
is one row a contact; with friction three, the normal one first and then the tangential ones, as in `problem`.

Laws that a run can use (IMPACT_LAWS), here without friction:
    newton       all at once: 0 <= P ⊥ ζ⁺ + e ζ⁻ >= 0, an LCP in Δζ                       [RBDA eq. 11.64; Moreau 1988]
    poisson      compression 0 <= P_C ⊥ ζ_C >= 0, then expansion 0 <= P_E - e P_C ⊥ ζ⁺ >= 0    [Pfeiffer & Glocker 1996]
    stronge      the same, but expansion does e² times the work of compression                            [Stronge 1990]
    sequential   one contact after the other by eq. 11.65, the fastest first, until all separate; equally fast ones at
                 once, as newton has them
    coulomb      newton
With friction, impulses lie in the cones: inside them slip stops, on their surface they oppose the slip left.
    poisson, stronge   a single contact is integrated through the impact, while slip stops and turns: `routh`
    coulomb      newton, but e lowered where energy would grow
`hit` takes the law with friction where μ > 0. Laws for comparison only (EQUALITIES):
    zhang        ζ⁺ + e ζ⁻ = 0 at every contact, whatever sign P comes out with             [Zhang eq. 3.30]
    sticking     the tangential velocity is stopped, eq. 11.72
Where accelerations have no solution: `jams.py: impact_without_collision`.
A ball, by itself: `ball_impact` with tangential and torsional restitution, fig. 11.9.

For 0 <= e <= 1 energy can grow only by Newton's law with friction, which is applied literally: where friction reverses
the slip, ζ⁺ = -e ζ⁻ can take more energy than there was (Kane's paradox). Where that must not be, take stronge. In it
and in the other laws e is lowered until no energy is gained; a single contact never gains energy by stronge. The loss
is -Pᵀ(ζ⁻ + ζ⁺)/2.

Impulses of redundant contacts with friction are the smallest ones, as forces are in `event_driven.sets`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, BoolArray, IntArray
from ..problem.problem import ContactProblem
from ..problem.residual import judge
from ..solvers.block_pivot import BlockPivot
from ..solvers.coulomb import cone_sweeps, sharpened
from ..solvers.crowd import CROWD, SOLVED, by_modes
from ..solvers.interior_point import InteriorPoint
from ..solvers.least_forces import basis
from ..solvers.pgs import ProjectedGaussSeidel
from .routh import POISSON, STRONGE, routh
from .zhang import basic_solution

STILL = 1e-12            # speeds below this, relative to the fastest, count as zero
TIE = 1e-9               # contacts whose speeds differ by less, relative to the fastest one, are hit at once
ALIKE = 1e-9             # coupling of a ball's normal and tangential motion that counts as rounding, relative to M_TT
LOSSLESS_ROUNDS = 100    # rounds, or hits a contact, after which what still approaches is stopped without rebound
EXACT = 1e-14            # residual below which no other method follows the sweeps, relative to the fastest speed
RUB_SWEEPS = 100         # most sweeps a contact that limit friction in expansion
IMPACT_SWEEPS = 300      # sweeps before another method is tried
SHARP = 1e-12            # natural map of impulses that the interior-point method begins with, relative to d
SWEEP_WORK = 20_000_000  # most sweeps times contacts squared of one impact, to bound its time
_lcp, _cone, _inside = BlockPivot(), ProjectedGaussSeidel(), InteriorPoint()


class Impact(NamedTuple):
    """What an impact did."""

    impulse: Array     #: (k,) P [N s]
    zeta: Array        #: (k,) ζ⁺ [m/s]
    loss: float        #: kinetic energy lost [J]
    status: str        #: "solved", or why not: "iterations", "infeasible", ...
    restitution: Array #: (c,) e as used: lower than given where energy would have grown
    order: IntArray    #: contacts in the order in which they were hit; empty where all were hit at once


def energy_lost(impulse: Array, before: Array, after: Array) -> float:
    return float(-0.5 * impulse @ (before + after))


def _arguments(M, zeta) -> tuple[Array, Array]:
    """Copies, so that kernels meet one type of array whatever was given."""
    zeta = np.array(zeta, np.float64, order="C")
    return np.array(M, np.float64, order="C").reshape(len(zeta), len(zeta)), zeta


def _each(coefficient, count: int) -> Array:
    """One coefficient a contact."""
    if isinstance(coefficient, np.ndarray) and coefficient.shape == (count,):
        return np.array(coefficient, np.float64, order="C")
    return np.array(np.broadcast_to(coefficient, (count,)), np.float64, order="C")


def _rounds(M: Array, zeta: Array, e: Array, one: Callable[[Array, Array, Array], tuple[Array, str]]) -> Impact:
    """Apply a law to all contacts that do not separate, and again while a contact left out approaches because of it.

    A contact with ζ > 0 is not hit, so it gets no impulse: this is what keeps the energy from growing.
    """
    total, now, status = np.zeros_like(zeta), zeta.copy(), "solved"
    still = STILL * np.max(np.abs(zeta), initial=0.0)
    for done in range(LOSSLESS_ROUNDS + len(zeta) + 1):
        if (now >= -still).all():
            break
        rows = np.flatnonzero(now <= still)
        used = e[rows] if done < LOSSLESS_ROUNDS else np.zeros(len(rows))
        impulse, status = one(np.ascontiguousarray(M[np.ix_(rows, rows)]), now[rows], used)
        total[rows] += impulse
        now = now + M[:, rows] @ impulse
        if status != "solved":
            break
    return Impact(total, now, energy_lost(total, zeta, now), status, e, np.zeros(0, np.int32))


def newton(M, zeta, restitution) -> Impact:
    """Newton's law for all contacts at once from M (c, c), ζ⁻ (c,) and e (c,) or one e for all.

    0 <= P ⊥ ζ⁺ + e ζ⁻ >= 0; for one contact P = -(1 + e) ζ⁻/M.                              [RBDA eqs. 11.64, 11.65]
    """
    M, zeta = _arguments(M, zeta)

    def one(M: Array, zeta: Array, e: Array) -> tuple[Array, str]:
        """Impulses of one impact by Newton's law, and the solver's status."""
        impulse = np.zeros_like(zeta)
        info = _lcp(ContactProblem.frictionless(M, (1.0 + e) * zeta), impulse, 0, 0.0)
        return impulse, info.status

    return _rounds(M, zeta, _each(restitution, len(zeta)), one)


def poisson(M, zeta, restitution) -> Impact:
    """Poisson's law: expansion returns e times the impulse of compression. M (c, c), ζ⁻ (c,), e (c,) or one e.

    Compression: 0 <= P_C ⊥ ζ_C = ζ⁻ + M P_C >= 0. Expansion: 0 <= P_E - e P_C ⊥ ζ_C + M P_E >= 0.
    Different e of contacts that act on one another can gain energy; then the smallest of them is used for all.
    """
    M, zeta = _arguments(M, zeta)
    return _rounds(M, zeta, _each(restitution, len(zeta)), _two_phases)


def _two_phases(M: Array, zeta: Array, e: Array) -> tuple[Array, str]:
    """Impulses of one impact by Poisson's law: compression, then expansion; and the status."""
    squeezed, first = _squeezed(M, zeta)
    impulse, second = _expanded(M, zeta, e, squeezed)
    gained = -energy_lost(impulse, zeta, zeta + M @ impulse)
    if gained > STILL * float(np.abs(impulse) @ np.abs(zeta)) and e.min() < e.max():
        return _two_phases(M, zeta, np.full_like(e, e.min()))
    return impulse, first if first != "solved" else second


def _squeezed(M: Array, zeta: Array) -> tuple[Array, str]:
    """The impulses of compression, 0 <= P_C ⊥ ζ⁻ + M P_C >= 0, and the status."""
    squeezed = np.zeros_like(zeta)
    return squeezed, _lcp(ContactProblem.frictionless(M, zeta), squeezed, 0, 0.0).status


def _expanded(M: Array, zeta: Array, e: Array, squeezed: Array) -> tuple[Array, str]:
    """All impulses, (1 + e) P_C and what is needed so that no contact goes on approaching; and the status."""
    given, extra = (1.0 + e) * squeezed, np.zeros_like(zeta)
    status = _lcp(ContactProblem.frictionless(M, zeta + M @ given), extra, 0, 0.0).status
    return given + extra, status


def stronge(M, zeta, restitution) -> Impact:
    """Stronge's law: the work of expansion is e² of that of compression, from M (c, c), ζ⁻ (c,), e (c,) or one e.

    For one contact without friction it is Newton's and Poisson's law. For several, compression is that of `poisson`,
    and expansion returns the same part κ of all its impulses: κ² = Σ e_i² W_i/Σ W_i with the work of compression
    W_i = -P_C,i ζ_i/2. The total work of expansion then is Σ e_i² W_i.                              [Stronge 1990]
    """
    M, zeta = _arguments(M, zeta)

    def one(M: Array, zeta: Array, e: Array) -> tuple[Array, str]:
        """Impulses of one impact by Stronge's law, and the status."""
        squeezed, first = _squeezed(M, zeta)
        impulse, second = _expanded(M, zeta, common_part(e, -squeezed * zeta), squeezed)
        return impulse, first if first != "solved" else second

    return _rounds(M, zeta, _each(restitution, len(zeta)), one)


def common_part(e: Array, work: Array) -> Array:
    """κ for each of the contacts, κ² the mean of their e² weighed by work (c,)."""
    work = np.maximum(work, 0.0)
    return np.full_like(e, math.sqrt(float(e * e @ work) / work.sum()) if work.any() else 0.0)


def zhang(M, zeta, restitution) -> Impact:
    """Zhang's external impact: M P = -(1 + e) ζ⁻ from M (c, c), ζ⁻ (c,), e (c,) or one e for all   [Zhang eq. 3.30]

    An equality: where contacts act on one another P_i may come out negative, and the contact pulls. Where M is singular
    P is a basic solution and the status says "redundant", or "inconsistent" where there is none.
    """
    M, zeta = _arguments(M, zeta)
    e = _each(restitution, len(zeta))
    impulse, status = basic_solution(M, -(1.0 + e) * zeta)
    after = zeta + M @ impulse
    return Impact(impulse, after, energy_lost(impulse, zeta, after), status, e, np.zeros(0, np.int32))


def sequential(M, zeta, restitution) -> Impact:
    """Pairwise impacts one after the other, the fastest first, from M (c, c), ζ⁻ (c,), e (c,) or one e for all; see
    `in_turn`."""
    M, zeta = _arguments(M, zeta)
    e = _each(restitution, len(zeta))
    return in_turn(M, zeta, e, 1, lambda block, now, rows, e: newton(block, now, e))


def in_turn(
    M: Array, zeta: Array, e: Array, rows: int, strike: Callable[[Array, Array, NDArray[np.intp], Array], Impact],
    bearer: NDArray[np.integer[Any]] | None = None,
) -> Impact:
    """Impacts one after the other: the contact that approaches fastest is hit alone, or together with those that
    approach as fast, which keeps symmetric impacts symmetric. rows: rows of a contact. strike(M, ζ, contacts, e): the
    impact of these contacts alone. bearer (c,): the contacts that bear others, which are hit with them.

    With e < 1 contacts may be hit infinitely often; what still approaches after LOSSLESS_ROUNDS hits a contact is
    stopped by a common impact without rebound.
    """
    impulse, now, order, every = np.zeros_like(zeta), zeta.copy(), [], np.arange(len(e))
    status, still, limit = "solved", STILL * float(np.max(np.abs(zeta), initial=0.0)), LOSSLESS_ROUNDS * len(e)
    while now[::rows].min(initial=0.0) < -still:
        normal = now[::rows]
        hit = every if len(order) >= limit else np.flatnonzero(normal <= (1.0 - TIE) * normal.min())
        hit = hit if bearer is None else np.flatnonzero(np.isin(bearer, hit))
        places = (rows * hit[:, None] + np.arange(rows)).ravel()
        block = np.ascontiguousarray(M[np.ix_(places, places)])
        found = strike(block, now[places], hit, e[hit] if len(order) < limit else np.zeros(len(hit)))
        impulse[places] += found.impulse
        now = now + M[:, places] @ found.impulse
        status = status if found.status == "solved" else found.status
        if len(order) >= limit:
            break
        order += hit.tolist()
    return Impact(impulse, now, energy_lost(impulse, zeta, now), status, e, np.array(order, np.int32))


def lossy(trial: Callable[[Array], Impact], e: Array) -> Impact:
    """The impact with the given e, or with all e lowered by the largest common factor at which no energy is gained."""
    full = trial(e)
    noise = 1e-13 * float(np.abs(full.impulse) @ np.abs(full.zeta) + np.abs(full.impulse @ full.zeta))
    if full.loss >= -noise or not e.any():
        return full
    low, high, best = 0.0, 1.0, trial(0.0 * e)
    for _ in range(60):
        middle = 0.5 * (low + high)
        attempt = trial(middle * e)
        if attempt.loss >= 0.0:
            low, best = middle, attempt
        else:
            high = middle
    return best


def sticking(M, zeta, restitution) -> Impact:
    """The sticking impulse from M (3c, 3c), ζ⁻ (3c,), e (c,) or one e for all.

    P = -M⁻¹ (1 + E) ζ⁻ : the tangential velocity is stopped, the normal one becomes -e ζ_n⁻.           [RBDA eq. 11.72]
    Of several contacts those that would have to pull get no impulse.
    """
    M, zeta = _arguments(M, zeta)
    count = len(zeta) // 3

    def trial(e: Array) -> Impact:
        """The impact with these coefficients e (c,)."""
        wanted = zeta.copy()
        wanted[::3] += e * np.minimum(zeta[::3], 0.0)
        stopped = zeta[::3] <= 0.0
        impulse = np.zeros_like(zeta)
        status = "stuck"
        for _ in range(4 * count + 4):
            rows = np.flatnonzero(np.repeat(stopped, 3))
            impulse[:] = 0.0
            impulse[rows] = -np.linalg.lstsq(M[np.ix_(rows, rows)], wanted[rows], rcond=1e-12)[0]
            pulls = stopped & (impulse[::3] < -1e-12 * np.max(np.abs(impulse), initial=0.0))
            approaches = ~stopped & ((zeta + M @ impulse)[::3] < -1e-9 * np.max(np.abs(zeta), initial=0.0))
            if not (pulls | approaches).any():
                status = "solved"
                break
            stopped = stopped & ~pulls if pulls.any() else stopped | approaches
        after = zeta + M @ impulse
        return Impact(impulse, after, energy_lost(impulse, zeta, after), status, e, np.zeros(0, np.int32))

    return lossy(trial, _each(restitution, count))


def newton_coulomb(M, zeta, restitution, friction, iterations: int = 20000) -> Impact:
    """Newton's law with friction, applied literally, from M (3c, 3c), ζ⁻ (3c,), e and μ (c,) or one for all.

    0 <= P_n ⊥ ζ_n⁺ + e ζ_n⁻ >= 0;  |P_t| <= μ P_n, and where ζ_t⁺ ≠ 0, P_t = -μ P_n ζ_t⁺/|ζ_t⁺|.
    Where friction reverses the slip, this can gain energy [Kane 1984]; `coulomb` does not.
    """
    M, zeta = _arguments(M, zeta)
    count = len(zeta) // 3
    e, mu = _each(restitution, count), _each(friction, count)
    speed = float(np.max(np.abs(zeta), initial=0.0))
    wanted = zeta.copy()
    wanted[::3] += e * np.minimum(zeta[::3], 0.0)
    impulse = np.zeros_like(zeta)
    if count == 1:
        cone_sweeps(M, wanted, mu, np.zeros((1, 3)), 1, 0.0, impulse, np.zeros(3))
        if judge(M, wanted, mu, impulse, 1e-15 * speed)[1]:
            after = zeta + M @ impulse
            return Impact(impulse, after, energy_lost(impulse, zeta, after), "solved", e, np.zeros(0, np.int32))
        impulse[:] = 0.0
    if count >= CROWD:
        left, found = by_modes(M, wanted, mu, np.zeros(count, bool), np.zeros((count, 2)))
        if left <= SOLVED:
            after = zeta + M @ found
            return Impact(found, after, energy_lost(found, zeta, after), "solved", e, np.zeros(0, np.int32))
    problem = ContactProblem.frictional(M, wanted, mu)
    iterations = min(iterations, max(IMPACT_SWEEPS, SWEEP_WORK // max(count * count, 1)))
    info = _cone(problem, impulse, min(iterations, IMPACT_SWEEPS), 1e-15 * speed)
    if info.residual > EXACT * speed and iterations > IMPACT_SWEEPS:  # sweeps are slow where contacts are redundant
        found = impulse.copy()
        left, crowd = by_modes(M, wanted, mu, np.zeros(count, bool), np.zeros((count, 2)))
        if left <= SHARP:
            found = crowd
        if _inside.answers(problem, found, EXACT * speed):
            impulse, info = found, info._replace(status="solved")
        else:
            info = _cone(problem, impulse, iterations, 1e-15 * speed)
    status = "solved" if info.residual <= 1e-9 * speed else info.status
    hit_rows = [3 * k for k in np.flatnonzero(impulse[::3] > 0.0).tolist()]
    if len(basis(M, hit_rows)) < len(hit_rows):  # of redundant contacts, sweeps load those visited first most
        even = sharpened(M, wanted, mu, np.zeros(count, bool), np.zeros((count, 2)), impulse, wanted + M @ impulse)
        impulse, status = (impulse, status) if even is None else (even, "solved")
    after = zeta + M @ impulse
    return Impact(impulse, after, energy_lost(impulse, zeta, after), status, e, np.zeros(0, np.int32))


def coulomb(M, zeta, restitution, friction) -> Impact:
    """The impulse within the friction cones that gains no energy: `newton_coulomb`, with e lowered where needed."""
    M, zeta = _arguments(M, zeta)
    return lossy(lambda e: newton_coulomb(M, zeta, e, friction), _each(restitution, len(zeta) // 3))


def poisson_coulomb(M: Array, zeta: Array, e: Array, friction: Array) -> Impact:
    """Poisson's law with friction: see `_incremental`; e lowered where energy would be gained."""
    return lossy(lambda e: _incremental(M, zeta, e, friction, POISSON), e)


def stronge_coulomb(M: Array, zeta: Array, e: Array, friction: Array) -> Impact:
    """Stronge's law with friction: see `_incremental`; of several contacts e lowered where energy would be gained."""
    return lossy(lambda e: _incremental(M, zeta, e, friction, STRONGE), e)


def _incremental(M: Array, zeta: Array, e: Array, friction: Array, law: int) -> Impact:
    """A single contact is integrated through the impact, see `routh`. For several this is not possible: the order and
    the amount of their compression depend on their stiffness. They pass through two phases together. Compression lasts
    to the end of approach; expansion returns the part κ of its normal impulses, with friction limited by these. What
    still approaches then is stopped. Each part is within the cones, so their sum is. κ = e by Poisson's law; by
    Stronge's it is that of `stronge`, with W_i the work of the normal impulse in compression."""
    alone = len(e) == 1 and friction[0] > 0.0 and zeta[0] < -STILL * float(np.abs(zeta).max())
    given, status = np.zeros_like(zeta), "solved"
    if alone:
        status = "solved" if routh(M, zeta, float(friction[0]), float(e[0]), law, given) else "iterations"
    else:
        squeezed = coulomb(M, zeta, 0.0, friction)
        normal, status = squeezed.impulse[::3], squeezed.status
        share = e if law == POISSON else common_part(e, -normal * (zeta + squeezed.zeta)[::3])
        given[:] = squeezed.impulse
        given[::3] += share * normal
        given += rub(M, zeta + M @ given, friction * share * normal)
    after = zeta + M @ given
    if (after[::3] < -STILL * np.abs(zeta).max(initial=0.0)).any() or not alone:
        rest = coulomb(M, after, 0.0, friction)
        given, after, status = given + rest.impulse, rest.zeta, status if status != "solved" else rest.status
    return Impact(given, after, energy_lost(given, zeta, after), status, e, np.zeros(0, np.int32))


def rub(M: Array, zeta: Array, limit: Array) -> Array:
    """Impulses (3c,), tangential only and at most `limit` (c,) each, that remove as much slip as they can: block
    Gauss–Seidel over the contacts that friction moves."""
    impulse, now = np.zeros_like(zeta), zeta.copy()
    blocks = [slice(3 * k + 1, 3 * k + 3) for k in np.flatnonzero(limit > 0.0)]
    stiff = [(rows, float(np.linalg.eigvalsh(M[rows, rows])[-1])) for rows in blocks if M[rows, rows].any()]
    for _ in range(RUB_SWEEPS * len(stiff)):
        change = 0.0
        for rows, s in stiff:
            wanted = _limited(impulse[rows] - now[rows] / s, 1.0, limit[rows.start // 3])
            step = wanted - impulse[rows]
            now, impulse[rows] = now + M[:, rows] @ step, wanted
            change = max(change, s * float(np.abs(step).max()))
        if change <= 1e-15 * np.abs(zeta).max():
            break
    return impulse


def sequential_coulomb(M: Array, zeta: Array, e: Array, friction: Array) -> Impact:
    """Pairwise impacts with friction, the fastest first; see `in_turn`."""
    return in_turn(M, zeta, e, 3, lambda block, now, hit, e: coulomb(block, now, e, friction[hit]))


def hit(law: str, M, zeta, restitution, friction, restitution_t: Array | float = math.nan) -> Impact:
    """The impact of contacts by one of IMPACT_LAWS from M (3c, 3c), ζ⁻ (3c,), e and μ (c,) or one for all, with Coulomb
    friction where μ > 0. Without friction, e = 0 is used where the law finds no solution with the given e.

    restitution_t: e_t (c,) or one for all, nan = none. Where balls touch, friction then aims at ζ_t⁺ = -e_t ζ_t⁻ in
    place of 0 [RBDA fig. 11.9]. All e_t are lowered where balls that touch several others would gain energy by it.
    """
    M, zeta = _arguments(M, zeta)
    count = len(zeta) // 3
    e, mu = _each(restitution, count), _each(friction, count)
    if mu.any():
        with_friction = {"newton": newton_coulomb, "poisson": poisson_coulomb, "stronge": stronge_coulomb,
                         "sequential": sequential_coulomb, "coulomb": coulomb}
        e_t = np.nan_to_num(_each(restitution_t, count))
        if e_t.any():
            e_t[~between_balls(M)] = 0.0
        if not e_t.any():
            return with_friction[law](M, zeta, e, mu)

        def trial(e_t: Array) -> Impact:
            """The impact that aims at the tangential velocities -e_t u_t."""
            aimed = zeta.copy()
            aimed[1::3] *= 1.0 + e_t
            aimed[2::3] *= 1.0 + e_t
            found = with_friction[law](M, aimed, e, mu)
            after = zeta + M @ found.impulse
            return found._replace(zeta=after, loss=energy_lost(found.impulse, zeta, after))

        return lossy(trial, e_t)._replace(restitution=e)
    found = IMPACT_LAWS[law](M[::3, ::3], zeta[::3], e)
    if found.status != "solved" and e.any():
        found = IMPACT_LAWS[law](M[::3, ::3], zeta[::3], 0.0)
    impulse = np.zeros_like(zeta)
    impulse[::3] = found.impulse
    return found._replace(impulse=impulse, zeta=zeta + M @ impulse)


def between_balls(M: Array) -> BoolArray:
    """Contacts (c,) whose normal and tangential motion are decoupled, with the same inertia in all tangents: those of
    balls with planes and with balls. M (3c, 3c)."""
    count = len(M) // 3
    k = np.arange(count)
    own = M.reshape(count, 3, count, 3)[k, :, k, :].copy()
    size = own[:, 1, 1].copy()
    own[:, 0, 0] = 0.0
    own[:, 1, 1] -= size
    own[:, 2, 2] -= size
    return np.abs(own).max(axis=(1, 2), initial=0.0) <= ALIKE * size


def through_friction(restitution: Array, friction: Array) -> Array:
    """Tangential or torsional restitution (c,) of balls where the surface is rough; nan = none where μ = 0, as
    only friction can reverse slip and spin."""
    return np.where(friction > 0.0, restitution, np.nan)


class BallImpact(NamedTuple):
    """An impact of a ball."""

    impulse: Array  #: (4,) normal, two tangential [N s], torsional [N m s]
    zeta: Array     #: (4,) after: normal, two tangential [m/s], spin about the normal [rad/s]
    loss: float     #: [J]


def ball_impact(
    inverse_mass: tuple[float, float, float], zeta, restitution: float, restitution_t: float = 0.0,
    restitution_psi: float = 0.0, friction: float = math.inf, friction_psi: float = 0.0,
) -> BallImpact:
    """A ball hits a plane or another ball: normal, tangential and torsional parts do not act on one another.

    inverse_mass: of the normal (1/m), tangential (1/m + r²/I) and torsional (1/I) motion, summed over both bodies;
    zeta (4,): relative velocity at the contact, normal, two tangential [m/s], spin about the normal [rad/s].

    ζ_n⁺ = -e ζ_n;  ζ_t⁺ = -e_t ζ_t, but |P_t| <= μ P_n;  ψ⁺ = -e_ψ ψ, but |P_ψ| <= μ_ψ P_n, μ_ψ [m].  [RBDA fig. 11.9]
    e_t = -1 is a smooth surface, 0 sticks, 1 is a super-ball. [Brach 1991; Walton 1993]
    """
    zeta = np.asarray(zeta, np.float64)
    w_n, w_t, w_psi = inverse_mass
    impulse = np.zeros(4)
    impulse[0] = -(1.0 + restitution) * min(zeta[0], 0.0) / w_n
    impulse[1:3] = _limited(-(1.0 + restitution_t) * zeta[1:3] / w_t, friction, impulse[0])
    impulse[3:] = _limited(-(1.0 + restitution_psi) * zeta[3:] / w_psi, friction_psi, impulse[0])
    after = zeta + np.array([w_n, w_t, w_t, w_psi]) * impulse
    return BallImpact(impulse, after, energy_lost(impulse, zeta, after))


def _limited(wanted: Array, friction: float, normal: float) -> Array:
    """The impulse `wanted`, shortened to length μ P_n where it is longer."""
    size = float(np.linalg.norm(wanted))
    limit = friction * normal if normal > 0.0 else 0.0
    return wanted if size <= limit else wanted * (limit / size)


IMPACT_LAWS: dict[str, Callable[..., Impact]] = {
    "newton": newton, "poisson": poisson, "stronge": stronge, "sequential": sequential, "coulomb": newton}
EQUALITIES: dict[str, Callable[..., Impact]] = {"zhang": zhang, "sticking": sticking}
