"""Small frictionless problems on the whole tableau: one exchange after the other, with no guess and no factorisation.

Of the contacts outside the set B the one with the most negative ζ̇ gets a growing force, and those of B change theirs so
that their ζ̇ stay zero: until its own ζ̇ is zero and it enters B, or until a force in B vanishes and that contact leaves
[Lawson & Hanson 1974, ch. 23]. All rates stand in the tableau, a symmetric matrix that an exchange costs n² to keep
[Goodnight 1979], G being the contacts outside:

    W = [ -M_BB⁻¹    M_BB⁻¹ M_BG             ]       Δλ_B = -W_Bk Δλ_k,   Δζ̇_G = W_Gk Δλ_k
        [   sym.     M_GG - M_GB M_BB⁻¹ M_BG ]

λ_B is refined once with the inverse found, as exchanges gather rounding.
"""

import numpy as np

from contactlab.physics.jit import helper
from contactlab.physics.solvers.lcp_info import ROUNDING, SOLVED, STUCK, add_rows, equilibrate, violation
from contactlab.physics.solvers.linear import SINGULAR

SMALL = 24  # contacts up to which this costs less than the factorisations of a block


@helper
def swap(W, k, sign, pivot):
    """Contact k enters B (sign 1) or leaves it (-1). pivot (n,) is scratch. Three rows at a time share what is read."""
    n = len(W)
    p = 1.0 / W[k, k]
    for l in range(n):
        pivot[l] = W[k, l]
    whole = n - n % 3
    for i in range(0, whole, 3):
        f0, f1, f2 = p * pivot[i], p * pivot[i + 1], p * pivot[i + 2]
        for l in range(n):
            u = pivot[l]
            W[i, l] -= f0 * u
            W[i + 1, l] -= f1 * u
            W[i + 2, l] -= f2 * u
    for i in range(whole, n):
        f0 = p * pivot[i]
        for l in range(n):
            W[i, l] -= f0 * pivot[l]
    for l in range(n):
        W[l, k] = W[k, l] = sign * p * pivot[l]
    W[k, k] = -p


@helper
def most_violated(value, allowed, noise):
    """The contact with the most negative value beyond what is allowed, -1 = none. On B values are forces, >= 0."""
    k, worst = -1, -noise
    for i in range(len(value)):
        if value[i] < worst and value[i] < -allowed[i]:
            k, worst = i, value[i]
    return k


@helper
def exchanges(W, value, allowed, limit, sign, pivot, rows):
    """Exchange to the end. W (n, n) comes as M and value (n,) as d; they leave as the tableau and as λ on B, ζ̇ outside.
    The first of rows are B then, in no order; sign (n,) is -1 there and 1 outside. Returns the outcome, the exchanges
    made and the size of B; STUCK where redundant contacts have no solution or the limit ends it."""
    n = len(value)
    for i in range(n):
        sign[i] = 1.0
    count, made, total = 0, 0, 0.0
    k, force = most_violated(value, allowed, 0.0), 0.0
    while k >= 0:
        step, block = np.inf, -1
        if W[k, k] > SINGULAR:
            step = -value[k] / W[k, k]
        for a in range(count):
            i = rows[a]
            if W[k, i] > 0.0 and value[i] < step * W[k, i]:
                step, block = value[i] / W[k, i], a
        if step == np.inf or made == limit:
            return STUCK, made, count
        for i in range(n):
            value[i] += step * sign[i] * W[k, i]
        force += step
        made += 1
        if block >= 0:
            i = int(rows[block])
            swap(W, i, -1.0, pivot)
            sign[i], value[i] = 1.0, 0.0
            count -= 1
            rows[block] = rows[count]
        else:
            swap(W, k, 1.0, pivot)
            sign[k], value[k] = -1.0, force
            rows[count] = k
            count += 1
            total += force
            k, force = most_violated(value, allowed, ROUNDING * total), 0.0
    return SOLVED, made, count


@helper
def solve_small(M, d, tolerance, limit, lam_out, basic_out):
    """Solve a problem of few contacts. Returns the outcome; the largest violation [unit of d], see `violation`; the
    exchanges; and the size of the basis, whose rows are written to basic_out. lam_out is the answer or a guess."""
    n = len(d)
    floats = np.empty(n * n + 6 * n)
    W, rest = floats[: n * n].reshape((n, n)), floats[n * n :]
    value, scale, allowed, sign = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    pivot, zeta = rest[4 * n : 5 * n], rest[5 * n :]
    size = equilibrate(M, d, W, value, scale)
    for i in range(n):
        allowed[i] = tolerance * scale[i] / size + ROUNDING * abs(value[i])
    outcome, made, count = exchanges(W, value, allowed, limit, sign, pivot, basic_out)
    for i in range(n):
        zeta[i] = d[i]
        lam_out[i] = size * scale[i] * value[i] if sign[i] < 0.0 else 0.0
        value[i] = 0.0
    for a in range(count):
        pivot[a] = lam_out[basic_out[a]]
    add_rows(M, basic_out, pivot, count, zeta)
    for a in range(count):  # λ_B -= M_BB⁻¹ (M λ + d)_B
        pivot[a] = scale[basic_out[a]] * zeta[basic_out[a]]
    add_rows(W, basic_out, pivot, count, value)
    count = 0
    for i in range(n):
        if sign[i] < 0.0:
            lam_out[i] += scale[i] * value[i]
            basic_out[count] = i
            count += 1
    return outcome, violation(M, d, scale, tolerance, lam_out, basic_out, count, pivot, zeta), made, count
