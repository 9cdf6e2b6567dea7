"""The last digits of a basic solution of the frictionless problem, and what is wrong with it in the end.

λ_B -= M_BB⁻¹ ζ̇_B brings the contacts of the basis B to rest but for the rounding of ζ̇ itself. Where redundant contacts
outside B rest too, no forces bring all of them to rest exactly, because d and M are rounded. The whole residual would
be left to the contacts G outside B that rest, amplified by C = M_GB M_BB⁻¹. So all contacts that rest share it:

    minimise |ζ̇_B + y|² + |ζ̇_G + C y|² over y,   λ_B += M_BB⁻¹ y

by a few steps of conjugate gradients [Hestenes & Stiefel 1952; Björck 1996, §7.4]. Without any G one step is enough.
ζ̇ here is that of the problem scaled to a unit diagonal.
"""

import numpy as np

from ..core.jit import helper
from .lcp_info import ROUNDING, add_rows
from .linear import cholesky, solve_transposed, solve_upper

EXACT_RATE = 2.0 * np.finfo(np.float64).eps  # ζ̇ that is not refined, relative to the largest d: twice its rounding
REFINING_STEPS = 2  # steps of conjugate gradients: each about halves the residual that redundant contacts share


@helper
def separate(M, d, scale, lam, rows, count, factor, zeta_out):
    """zeta_out = M λ + d with λ, which vanishes outside the first of rows, made >= 0; returns the sum of the scaled λ.
    factor (n,) is scratch."""
    for i in range(len(d)):
        zeta_out[i] = d[i]
    total = 0.0
    for a in range(count):
        i = rows[a]
        lam[i] = factor[a] = max(lam[i], 0.0)
        total += lam[i] * scale[i] * M[i, i]
    add_rows(M, rows, factor, count, zeta_out)
    return total


@helper
def violation(M, d, scale, tolerance, lam, total, zeta):
    """Largest |min(M_ii λ_i, ζ̇_i)| [unit of d], negative where neither rounding nor the tolerance explains it, and
    whether it is too small to be worth refining. scale is that of `equilibrate`, total the sum of the scaled λ."""
    worst = left = size = 0.0
    explained = True
    for i in range(len(d)):
        inertia, s = M[i, i], scale[i]
        miss = abs(min(inertia * lam[i], zeta[i]))
        worst = max(worst, miss)
        left = max(left, s * miss)
        size = max(size, abs(s * d[i]))
        explained &= miss <= 100.0 * ROUNDING * (abs(d[i]) + total * inertia * s) + tolerance
    return worst if explained else -worst, left <= EXACT_RATE * size


@helper
def factor_basis(M, scale, rows, count, U_out, work):
    """U_out = the Cholesky factor of the scaled M_BB; False where rounding makes it singular."""
    for a in range(count):
        i = rows[a]
        for b in range(a, count):
            U_out[a, b] = scale[i] * M[i, rows[b]] * scale[rows[b]]
    return cholesky(U_out, count, 0.0, work, np.empty(count, np.int32)) == count


@helper
def resting_beside(d, scale, zeta, lam, rows, count):
    """Append to rows, which begins with B, the contacts outside B that rest within rounding; returns the new number."""
    basic = np.zeros(len(d), np.bool_)
    total = 0.0
    for a in range(count):
        basic[rows[a]] = True
        total += lam[rows[a]] / scale[rows[a]]
    for i in range(len(d)):
        if not basic[i] and abs(scale[i] * zeta[i]) <= ROUNDING * (abs(scale[i] * d[i]) + total):
            rows[count] = i
            count += 1
    return count


@helper
def respond(M, scale, rows, lam, factor, zeta_out):
    """zeta_out (n,) = S M S λ of the scaled forces lam on `rows`. factor is scratch."""
    for i in range(len(zeta_out)):
        zeta_out[i] = 0.0
    for a in range(len(rows)):
        factor[a] = scale[rows[a]] * lam[a]
    add_rows(M, rows, factor, len(rows), zeta_out)
    for i in range(len(zeta_out)):
        zeta_out[i] *= scale[i]


@helper
def refine(M, d, scale, U, rows, count, zeta, lam):
    """The steps of conjugate gradients, from ζ̇ = M λ + d. U is the factor of the scaled M_BB. rows (n,) begins with B
    in the order of U; what follows there is overwritten."""
    n = len(d)
    space = np.zeros((5, n))
    rest, direction, x, answer, work = space[0], space[1], space[2], space[3], space[4]
    every = resting_beside(d, scale, zeta, lam, rows, count)
    for a in range(every):
        rest[a] = scale[rows[a]] * zeta[rows[a]]
    before = np.inf
    for _ in range(REFINING_STEPS if every > count else 1):
        for a in range(count):
            x[a] = 0.0
        if every > count:
            respond(M, scale, rows[count:every], rest[count:every], work, answer)
            for a in range(count):
                x[a] = answer[rows[a]]
            solve_transposed(U, count, x)
            solve_upper(U, count, x)
        slope = bend = 0.0
        for a in range(count):
            x[a] += rest[a]  # ζ̇_B + Cᵀ ζ̇_G
            slope += x[a] * x[a]
        for a in range(count):
            direction[a] = x[a] = x[a] + slope / before * direction[a]
            bend += x[a] * x[a]
        if bend == 0.0:
            return
        solve_transposed(U, count, x)
        solve_upper(U, count, x)
        if every > count:
            respond(M, scale, rows[:count], x, work, answer)
            for a in range(count, every):
                direction[a] = answer[rows[a]]
                bend += direction[a] * direction[a]
        before, t = slope, slope / bend
        for a in range(every):
            rest[a] -= t * direction[a]
        for a in range(count):
            lam[rows[a]] -= t * scale[rows[a]] * x[a]


@helper
def settle(M, d, scale, tolerance, U, factored, rows, count, scratch, lam):
    """Refine λ on B, the first `count` of rows, where that is worth it. Returns its `violation`. U is the
    factor of the scaled M_BB, or room for it; scratch is (2, n)."""
    work, zeta = scratch[0], scratch[1]
    total = separate(M, d, scale, lam, rows, count, work, zeta)
    worst, exact = violation(M, d, scale, tolerance, lam, total, zeta)
    if not exact and (factored or factor_basis(M, scale, rows, count, U, work)):
        refine(M, d, scale, U, rows, count, zeta, lam)
        total = separate(M, d, scale, lam, rows, count, work, zeta)
        worst, exact = violation(M, d, scale, tolerance, lam, total, zeta)
    return worst
