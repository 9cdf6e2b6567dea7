"""Impact of one contact with friction: its velocity u is integrated over its normal impulse p.

    du/dp = M (1, -μ ê)     while it slips, ê = u_T/|u_T|
    du/dp = M (1, f)        while it sticks, f = -M_TT⁺ M_Tn, |f| <= μ: then u_T stays 0

Where |f| > μ slip goes on in the one direction ê in which it begins. Compression ends where u_n = 0, with p_c and the
work W_c = ∫ u_n dp < 0. Expansion ends

    Poisson   at p = (1 + e) p_c
    Stronge   where the work done since is e² |W_c|: no energy is ever gained

[Routh 1860; Keller 1986; Stronge 1990]. The pseudo-inverse M_TT⁺ is the inverse but where joints let the contact move
along one tangent only, or along none. In the plane, and where the slip keeps its direction, u is piecewise
linear, and this is exact. Else the direction θ turns. With dp = σ dτ, σ = |u_T|, that is smooth up to the instant at
which slip stops, and is integrated by Runge and Kutta's method:

    dθ/dτ = ê⊥·a_T,   dσ/dτ = σ ê·a_T,   du_n/dτ = σ a_n,   a = M (1, -μ ê)
"""

import math

import numpy as np

from ..core.jit import helper, kernel

STEPS = 256.0     # steps for each rad that slip turns by: the error of a step is this to the power -5
SLOWEST = 0.5     # least rate of turning for which the length of a step is chosen, relative to a
MOST = 200_000    # most steps of an impact
STRAIGHT = 1e-14  # rate of turning that counts as zero, relative to a; also the turning left until slip ends that
                  # counts as zero, weighed by the slip and relative to the fastest speed
STOPPED = 1e-15   # slip that has ended, relative to the fastest speed
ONE_WAY = 1e-12   # det M_TT of a contact that moves along one tangent only, relative to the square of the trace of M_TT
HALVINGS = 60     # bisections to find the end of a phase within a step
POISSON, STRONGE = range(2)
SLIDING, PHASE, ENDLESS = range(3)  # what has ended: slip, a phase of the impact, neither
ANGLE, SLIP, NORMAL, IMPULSE, WORK, ACROSS_1, ACROSS_2 = range(7)  # of the state y: θ, σ, u_n, p, ∫ u_n dp, P_T


@helper
def answer(M, f1, f2):
    """a = M (1, f)"""
    return (M[0, 0] + M[0, 1] * f1 + M[0, 2] * f2, M[1, 0] + M[1, 1] * f1 + M[1, 2] * f2,
            M[2, 0] + M[2, 1] * f1 + M[2, 2] * f2)


@helper
def slip_rates(M, mu, angle):
    """a_n, ê·a_T and ê⊥·a_T where the contact slips towards the angle."""
    c, s = math.cos(angle), math.sin(angle)
    a = answer(M, -mu * c, -mu * s)
    return a[0], a[1] * c + a[2] * s, a[2] * c - a[1] * s


@helper
def turning(M, mu, y, rate_out):
    """dy/dτ"""
    normal, along, across = slip_rates(M, mu, y[ANGLE])
    rate_out[ANGLE], rate_out[SLIP], rate_out[NORMAL] = across, y[SLIP] * along, y[SLIP] * normal
    rate_out[IMPULSE], rate_out[WORK] = y[SLIP], y[SLIP] * y[NORMAL]
    rate_out[ACROSS_1], rate_out[ACROSS_2] = -mu * math.cos(y[ANGLE]) * y[SLIP], -mu * math.sin(y[ANGLE]) * y[SLIP]


@helper
def turn(M, mu, y, step, work, y_out):
    """y_out = y after the step of τ by the classical Runge–Kutta method; work (3, 7)."""
    rate, middle, total = work[0], work[1], work[2]
    total[:] = 0.0
    for stage in range(4):
        share = 0.0 if stage == 0 else step if stage == 3 else 0.5 * step
        for i in range(7):
            middle[i] = y[i] + share * rate[i] if stage > 0 else y[i]
        turning(M, mu, middle, rate)
        for i in range(7):
            total[i] += (1.0 if stage == 0 or stage == 3 else 2.0) * rate[i]
    for i in range(7):
        y_out[i] = y[i] + step / 6.0 * total[i]


@helper
def holding(M):
    """f = -M_TT⁺ M_Tn: the friction, per normal impulse, of a contact that sticks."""
    det, trace = M[1, 1] * M[2, 2] - M[1, 2] * M[2, 1], M[1, 1] + M[2, 2]
    if det > ONE_WAY * trace * trace:
        return (M[1, 2] * M[2, 0] - M[2, 2] * M[1, 0]) / det, (M[2, 1] * M[1, 0] - M[1, 1] * M[2, 0]) / det
    if trace == 0.0:
        return 0.0, 0.0
    return (-(M[1, 1] * M[1, 0] + M[1, 2] * M[2, 0]) / (trace * trace),  # of rank one: M_TT⁺ = M_TT/trace²
            -(M[2, 1] * M[1, 0] + M[2, 2] * M[2, 0]) / (trace * trace))


@helper
def beginning(M, mu):
    """The direction [rad] in which slip begins at a contact that cannot stick: ê⊥·a_T = 0 with the largest ê·a_T."""
    best, most = 0.0, -math.inf
    parts = 48
    for k in range(parts):
        lo, hi = 2.0 * math.pi * k / parts, 2.0 * math.pi * (k + 1) / parts
        low, high = slip_rates(M, mu, lo)[2], slip_rates(M, mu, hi)[2]
        if low * high > 0.0:
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (lo + hi)
            value = slip_rates(M, mu, middle)[2]
            if value * low > 0.0:
                lo = middle
            else:
                hi = middle
        along = slip_rates(M, mu, hi)[1]
        if along > most:
            best, most = hi, along
    return best


@helper
def over(y, phase, end):
    """Whether a phase has come to its end: compression (0), Poisson's expansion (1), Stronge's (2)."""
    return y[NORMAL] >= 0.0 if phase == 0 else y[IMPULSE] >= end if phase == 1 else y[WORK] >= end


@helper
def way(y, phase, end, a):
    """The normal impulse until the end of the phase where u_n grows by a per impulse; inf where it does not end."""
    if phase == 0:
        return -y[NORMAL] / a if a > 0.0 else math.inf
    if phase == 1:
        return end - y[IMPULSE]
    inside = y[NORMAL] * y[NORMAL] + 2.0 * a * (end - y[WORK])  # u_n at the end, squared
    if end <= y[WORK] or inside < 0.0:
        return 0.0 if end <= y[WORK] else math.inf
    return 2.0 * (end - y[WORK]) / (y[NORMAL] + math.sqrt(inside))


@helper
def go(y, q, a, f1, f2, along):
    """Advance y by the normal impulse q, over which u is linear: its rates are a of u_n and `along` of σ."""
    y[WORK] += q * (y[NORMAL] + 0.5 * q * a)
    y[NORMAL] += q * a
    y[SLIP] = max(0.0, y[SLIP] + q * along)
    y[IMPULSE] += q
    y[ACROSS_1] += q * f1
    y[ACROSS_2] += q * f2


@helper
def straight(M, mu, y, phase, end, still):
    """Advance y with a constant direction of slip to the end of the phase or of slip, whichever is first. Returns
    which of the two it is, PHASE or SLIDING; ENDLESS where neither ends, which takes a singular M."""
    if y[SLIP] <= still:
        y[SLIP] = 0.0
        f1, f2 = holding(M)
        if f1 * f1 + f2 * f2 <= mu * mu * (1.0 + 1e-12):
            a = answer(M, f1, f2)[0]
            go(y, way(y, phase, end, a), a, f1, f2, 0.0)
            return PHASE
        y[ANGLE] = beginning(M, mu)
    a, along, _ = slip_rates(M, mu, y[ANGLE])
    stop = -y[SLIP] / along if along < 0.0 else math.inf
    q = way(y, phase, end, a)
    if q == math.inf and stop == math.inf:
        return ENDLESS
    go(y, min(q, stop), a, -mu * math.cos(y[ANGLE]), -mu * math.sin(y[ANGLE]), along)
    if q <= stop:
        return PHASE
    y[SLIP] = 0.0
    return SLIDING


@kernel
def routh(M, u, mu, e, law, impulse_out):
    """The impulse (3,) of a contact that is hit, from M (3, 3), u (3,) with u_n < 0, μ > 0, e and the law, POISSON or
    STRONGE. Returns whether the impact came to an end."""
    y, after, work = np.zeros(7), np.zeros(7), np.zeros((3, 7))
    y[ANGLE], y[SLIP], y[NORMAL] = math.atan2(u[2], u[1]), math.hypot(u[1], u[2]), u[0]
    size = abs(M[0, 1]) + abs(M[0, 2]) + mu * (M[1, 1] + M[2, 2])
    fastest = abs(u[0]) + y[SLIP]
    still = STOPPED * fastest
    phase, end, done = 0, 0.0, 0
    while done < MOST:
        done += 1
        _, along, across = slip_rates(M, mu, y[ANGLE])
        is_straight = abs(across) <= STRAIGHT * size or abs(across) * y[SLIP] <= STRAIGHT * fastest * -along
        if y[SLIP] <= still or is_straight:
            what = straight(M, mu, y, phase, end, still)
            if what == ENDLESS:
                done = MOST
            ended = what == PHASE
        else:
            step = 1.0 / (STEPS * max(abs(across), SLOWEST * size))
            turn(M, mu, y, step, work, after)
            ended = over(after, phase, end)
            if ended:
                lo, hi = 0.0, step
                for _ in range(HALVINGS):
                    middle = 0.5 * (lo + hi)
                    turn(M, mu, y, middle, work, after)
                    if over(after, phase, end):
                        hi = middle
                    else:
                        lo = middle
                turn(M, mu, y, hi, work, after)
            y[:] = after
        if ended and phase > 0:
            break
        if ended:
            y[NORMAL] = 0.0
            phase = 1 if law == POISSON else 2
            end = (1.0 + e) * y[IMPULSE] if law == POISSON else (1.0 - e * e) * y[WORK]
            if e == 0.0:
                break
    impulse_out[0], impulse_out[1], impulse_out[2] = y[IMPULSE], y[ACROSS_1], y[ACROSS_2]
    return done < MOST
