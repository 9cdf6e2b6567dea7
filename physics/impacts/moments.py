"""Impacts of contacts whose moments oppose spinning and rolling: what contacts bear is hit with them.

M, ζ⁻ and μ are those of blocks of three rows, see `problem.turning_rows`: of contacts and of what they bear, whose
normal velocity is 0. Its impulse is at most μ times the normal impulse of the contact that bears it. Newton's law is
that of `impact_laws.py: newton_coulomb`; the others follow from it as they do there, but that no single contact is
integrated through the impact.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array
from ..solvers.borne_friction import Numbers, borne
from .impact_laws import Impact, common_part, energy_lost, in_turn, lossy, rub


def hit_with_moments(
    law: str, M: Array, zeta: Array, restitution: Array, friction: Array, bearer: Numbers, restitution_t: Array
) -> Impact:
    """The impact by one of IMPACT_LAWS of blocks (c,) with these bearers, from M (3 c, 3 c), ζ⁻ (3 c,), e and μ (c,).
    restitution_t (c,): as in `impact_laws.py: hit`, nan = none."""
    e_t = np.nan_to_num(restitution_t)
    if e_t.any():
        def trial(e_t: Array) -> Impact:
            """The impact that aims at the tangential velocities -e_t u_t."""
            aimed = zeta.reshape(-1, 3) * np.column_stack([np.ones(len(e_t)), 1.0 + e_t, 1.0 + e_t])
            found = hit_with_moments(law, M, aimed.ravel(), restitution, friction, bearer, np.full(len(e_t), math.nan))
            after = zeta + M @ found.impulse
            return found._replace(zeta=after, loss=energy_lost(found.impulse, zeta, after))

        return lossy(trial, e_t)._replace(restitution=restitution)
    match law:
        case "newton":
            return newton_with_moments(M, zeta, restitution, friction, bearer)
        case "coulomb":
            return lossy(lambda e: newton_with_moments(M, zeta, e, friction, bearer), restitution)
        case "sequential":
            return _one_by_one(M, zeta, restitution, friction, bearer)
    return lossy(lambda e: _two_phases(M, zeta, e, friction, bearer, law == "stronge"), restitution)


def newton_with_moments(M: Array, zeta: Array, e: Array, friction: Array, bearer: Numbers) -> Impact:
    """Newton's law: 0 <= P_n ⊥ ζ_n⁺ + e ζ_n⁻ >= 0, friction and moments within their bounds."""
    wanted = zeta.copy()
    wanted[::3] += e * np.minimum(zeta[::3], 0.0)
    none = np.zeros(len(e), bool)
    status, impulse = borne(M, wanted, friction, bearer, none, np.zeros((len(e), 2)))
    after = zeta + M @ impulse
    return Impact(impulse, after, energy_lost(impulse, zeta, after), status, e, np.zeros(0, np.int32))


def _two_phases(M: Array, zeta: Array, e: Array, friction: Array, bearer: Numbers, stronge: bool) -> Impact:
    """Compression and expansion, as `impact_laws.py: _incremental` of several contacts."""
    squeezed = newton_with_moments(M, zeta, np.zeros(len(e)), friction, bearer)
    normal = squeezed.impulse[::3]
    share = common_part(e, -normal * (zeta + squeezed.zeta)[::3]) if stronge else e
    given = squeezed.impulse.copy()
    given[::3] += share * normal
    given += rub(M, zeta + M @ given, friction * (share * normal)[bearer])
    rest = newton_with_moments(M, zeta + M @ given, np.zeros(len(e)), friction, bearer)
    given, after = given + rest.impulse, rest.zeta
    status = squeezed.status if squeezed.status != "solved" else rest.status
    return Impact(given, after, energy_lost(given, zeta, after), status, e, np.zeros(0, np.int32))


def _one_by_one(M: Array, zeta: Array, e: Array, friction: Array, bearer: Numbers) -> Impact:
    """Pairwise impacts, the fastest first, each of a contact with what it bears."""
    def strike(block: Array, now: Array, hit: NDArray[np.intp], e: Array) -> Impact:
        """The impact of these blocks alone."""
        at = np.searchsorted(hit, bearer[hit])
        return lossy(lambda e: newton_with_moments(block, now, e, friction[hit], at), e)

    return in_turn(M, zeta, e, 3, strike, bearer)
