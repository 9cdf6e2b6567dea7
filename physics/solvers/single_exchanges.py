"""Frictionless problems solved one exchange after the other, with no guess and no factorisation.

Of the contacts outside the set B the one with the most negative ζ̇ gets a growing force, and those of B change theirs so
that their ζ̇ stay zero: until its own ζ̇ is zero and it enters B, or until a force in B vanishes and that contact leaves
[Lawson & Hanson 1974, ch. 23]. All rates stand in the tableau, a symmetric matrix, G being the contacts outside
[Goodnight 1979]:

    W = [ -M_BB⁻¹    M_BB⁻¹ M_BG             ]       Δλ_B = -W_Bk Δλ_k,   Δζ̇_G = W_Gk Δλ_k
        [   sym.     M_GG - M_GB M_BB⁻¹ M_BG ]

Where contact k enters (s = 1) or leaves (s = -1), W loses u uᵀ / W_kk + 2 s e_k e_kᵀ with u = W_k - s e_k. Hence

    W = M - Σ u uᵀ / W_kk - 2 Σ e_i e_iᵀ        over all exchanges so far, and over i in B.

The tableau is not kept: an exchange computes the row it needs, which costs n for every exchange before it, not n².
"""

import numpy as np

from ..core.jit import helper
from .lcp_info import ROUNDING, SOLVED, STUCK, scale_to_unit
from .linear import SINGULAR
from .refinement import settle


@helper
def next_row(M, scale, sign, u, inverse, made, k):
    """u[made] = W_k after `made` exchanges; eight of them share a pass over the row."""
    row, own, s = u[made], M[k], scale[k]
    n = len(row)
    for l in range(n):
        row[l] = s * own[l] * scale[l]
    whole = made - made % 8
    for j in range(0, whole, 8):
        f0, f1, f2, f3 = inverse[j], inverse[j + 1], inverse[j + 2], inverse[j + 3]
        f4, f5, f6, f7 = inverse[j + 4], inverse[j + 5], inverse[j + 6], inverse[j + 7]
        f0, f1, f2, f3 = f0 * u[j, k], f1 * u[j + 1, k], f2 * u[j + 2, k], f3 * u[j + 3, k]
        f4, f5, f6, f7 = f4 * u[j + 4, k], f5 * u[j + 5, k], f6 * u[j + 6, k], f7 * u[j + 7, k]
        for l in range(n):
            row[l] -= (
                f0 * u[j, l] + f1 * u[j + 1, l] + f2 * u[j + 2, l] + f3 * u[j + 3, l]
                + (f4 * u[j + 4, l] + f5 * u[j + 5, l] + f6 * u[j + 6, l] + f7 * u[j + 7, l])
            )
    for j in range(whole, made):
        f0 = inverse[j] * u[j, k]
        for l in range(n):
            row[l] -= f0 * u[j, l]
    row[k] -= 1.0 - sign[k]


@helper
def most_violated(value, allowed, noise):
    """The contact whose value is most negative beyond what is allowed, -1 = none. On B values are forces, >= 0."""
    k, worst = -1, -noise
    for i in range(len(value)):
        if value[i] < worst and value[i] < -allowed[i]:
            k, worst = i, value[i]
    return k


@helper
def too_far(value, sign, row, step):
    """Would the step make a force of B negative?"""
    for i in range(len(value)):  # noqa: SIM110 (kernels have no generators)
        if sign[i] < 0.0 and value[i] < step * row[i]:
            return True
    return False


@helper
def furthest(value, sign, row, step):
    """The step, shortened to where the first force of B vanishes, and that contact of B, -1 = none. `too_far` is asked
    first because usually none vanishes, and the loop here divides for every contact."""
    stop = -1
    if too_far(value, sign, row, step):
        for i in range(len(value)):
            if sign[i] < 0.0 and row[i] > 0.0 and value[i] < step * row[i]:
                step, stop = value[i] / row[i], i
    return step, stop


@helper
def exchanges(M, scale, sign, u, inverse, value, allowed, limit):
    """Exchange to the end. value (n,) comes as d and leaves as λ on B, ζ̇ outside; sign (n,) becomes -1 on B, 1 outside;
    u (most, n) and inverse = 1/W_kk (most,) have one row for each exchange. Returns the outcome and the number of
    exchanges. The outcome is STUCK where redundant contacts have no solution or the limit is reached."""
    n = len(value)
    for i in range(n):
        sign[i] = 1.0
    made, total, force, stop = 0, 0.0, 0.0, -1
    k = most_violated(value, allowed, 0.0)
    while k >= 0:
        if made == limit:
            return STUCK, made
        j = stop if stop >= 0 else k
        next_row(M, scale, sign, u, inverse, made, j)
        row = u[made]
        if stop < 0:
            step, stop = furthest(value, sign, row, -value[k] / row[k] if row[k] > SINGULAR else np.inf)
            if step == np.inf:
                return STUCK, made
            for i in range(n):
                value[i] += step * sign[i] * row[i]
            force += step
            if stop >= 0:
                continue
        inverse[made] = 1.0 / row[j]
        row[j] -= sign[j]
        sign[j] = -sign[j]
        made += 1
        if stop >= 0:
            value[j], stop = 0.0, -1
        else:
            value[k] = force
            total += force
            k, force = most_violated(value, allowed, ROUNDING * total), 0.0
    return SOLVED, made


@helper
def solve_singly(M, d, tolerance, limit, lam_out, basic_out):
    """Solve from λ = 0. Returns the `violation` in the end [unit of d], negative where there is no answer; the
    exchanges made; and the size of the basis, whose rows are written to basic_out. lam_out becomes the answer, or a
    guess where there is none."""
    n = len(d)
    most = 2 * n + 8
    floats = np.empty((most + 6) * n + most)  # one array for all: allocations cost much in small problems
    u, rest = floats[: most * n].reshape((most, n)), floats[most * n :]
    value, scale, allowed, sign = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    scratch, inverse = rest[4 * n : 6 * n].reshape((2, n)), rest[6 * n :]
    scale_to_unit(M, scale)
    for i in range(n):
        value[i] = scale[i] * d[i]
        allowed[i] = tolerance * scale[i] + ROUNDING * abs(value[i])
    outcome, made = exchanges(M, scale, sign, u, inverse, value, allowed, min(limit, most))
    count = 0
    for i in range(n):
        lam_out[i] = 0.0
        if sign[i] < 0.0:
            lam_out[i] = scale[i] * value[i]
            basic_out[count] = i
            count += 1
    worst = -1.0
    if outcome == SOLVED:
        worst = settle(M, d, scale, tolerance, u, False, basic_out, count, scratch, lam_out)
    return worst, made, count
