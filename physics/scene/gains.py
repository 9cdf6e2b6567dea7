"""What the gains K and D of a compliant surface mean for the bodies on it."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..laws.own import HALVINGS, LONGEST, NODES, NUDGE, PACE, WEIGHTS
from ..laws.soft import LAWS, SoftLaw, depth_of_impact, normal_force

FREQUENCY = 30.0  # natural frequency of the heaviest body on a surface whose material states no stiffness [Hz]
DEADEST = 0.5     # largest damping ratio that is derived from the restitution of a material
DEAD = 0.01       # restitution used in place of 0, which a linear surface reaches only in the limit of infinite damping
IMPACT_STEPS = 100  # integration steps of an impact per 1/ω_0
IMPACT_LENGTH = 40  # longest duration of an impact that is integrated [1/ω_0]


def restitution_of(ratio: float) -> float:
    """Effective restitution e of a mass on a linear spring and damper of this damping ratio ζ = D/(2 √(K m)). Contact
    ends where the force becomes 0:

        ζ < 1:  e = exp(-2 ζ acos ζ/√(1 - ζ²)),   ζ = 1:  e = exp(-2),   ζ > 1:  e = exp(-2 ζ acosh ζ/√(ζ² - 1)).
    """
    if abs(ratio - 1.0) < 1e-7:
        return math.exp(-2.0)
    if ratio < 1.0:
        return math.exp(-2.0 * ratio * math.acos(ratio) / math.sqrt(1.0 - ratio * ratio))
    return math.exp(-2.0 * ratio * math.acosh(ratio) / math.sqrt(ratio * ratio - 1.0))


def ratio_for(restitution: float) -> float:
    """The damping ratio ζ that gives this restitution (0 < e <= 1), by bisection."""
    if restitution >= 1.0:
        return 0.0
    lo, hi = 0.0, 1.0
    while restitution_of(hi) > restitution:
        hi *= 2.0
    for _ in range(200):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if restitution_of(middle) > restitution else (lo, middle)
    return 0.5 * (lo + hi)


def contact_time(ratio: float, frequency: float) -> float:
    """How long an impact lasts [s] at the natural frequency ω_0 [rad/s]: 2 acos(ζ)/(ω_0 √(1 - ζ²)) where ζ < 1, 2/ω_0
    at ζ = 1, 2 acosh(ζ)/(ω_0 √(ζ² - 1)) above."""
    if abs(ratio - 1.0) < 1e-7:
        return 2.0 / frequency
    if ratio < 1.0:
        return 2.0 * math.acos(ratio) / (frequency * math.sqrt(1.0 - ratio * ratio))
    return 2.0 * math.acosh(ratio) / (frequency * math.sqrt(ratio * ratio - 1.0))


@dataclass(frozen=True)
class Gains:
    """Normal gains of two surfaces together, in the units of their law."""

    law: str
    stiffness: float
    damping: float
    series: float = math.inf  #: K_s of the standard solid [N/m]


@dataclass(frozen=True)
class Meaning:
    """What gains mean for one body mass on one contact."""

    frequency: float     #: natural frequency ω_0/2π of small vibrations about the equilibrium under its weight [Hz]
    ratio: float         #: damping ratio ζ of these vibrations
    restitution: float   #: effective e of an impact
    sag: float           #: static depth under the body's weight [m]
    time: float          #: duration of an impact [s]


def meaning(gains: Gains, mass: float, gravity: float, speed: float) -> Meaning:
    """What gains mean for a mass [kg] under gravity [m/s2] and in an impact at a speed [m/s]. With the nonlinear laws
    (`SoftLaw.by_speed`) e and the duration of the impact depend on this speed."""
    k, weight, law = gains.stiffness, mass * gravity, LAWS[gains.law]
    if law.series:
        omega, ratio = _slow_pair(gains, mass)
        sag = weight / k + weight / gains.series
    else:
        sag, stiff, damp = _at_rest(gains, weight)
        omega = math.sqrt(stiff / mass)
        ratio = damp / (2.0 * math.sqrt(stiff * mass)) if stiff > 0.0 else 0.0
    if not (law.series or law.by_speed):
        e, time = restitution_of(ratio), contact_time(ratio, omega)
    else:
        e, time = impact(gains, mass, speed)
    return Meaning(omega / (2.0 * math.pi), ratio, e, sag, time)


def _at_rest(gains: Gains, weight: float) -> tuple[float, float, float]:
    """Depth [m] under a weight [N], ∂f/∂δ and ∂f/∂δ̇ there."""
    k, d, law = gains.stiffness, gains.damping, LAWS[gains.law]
    force = law.force
    if force is not None:
        sag = _where(lambda depth: force(depth, 0.0, k, 0.0), weight)
        step = NUDGE * sag
        stiff = 0.5 * (force(sag + step, 0.0, k, d) - force(sag - step, 0.0, k, d)) / step if step > 0.0 else 0.0
        return sag, stiff, 0.5 * (force(sag, PACE, k, d) - force(sag, -PACE, k, d)) / PACE
    a, b = law.exponents
    sag = (weight / k) ** (1.0 / a)
    return sag, a * k * sag ** (a - 1.0), d * sag ** (b - 1.0)


def _where(rises: Callable[[float], float], to: float) -> float:
    """The depth [m] at which something that rises with it reaches a value; the deepest looked at where it does not."""
    low, high = 0.0, 1e-9
    for _ in range(LONGEST):
        if rises(high) >= to:
            break
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rises(middle) < to else (low, middle)
    return high


def _slow_pair(gains: Gains, mass: float) -> tuple[float, float]:
    """ω_0 [rad/s] and ζ of a mass on a standard solid, from two roots of its characteristic equation

        m D s³ + m (K + K_s) s² + K_s D s + K K_s = 0:

    from the complex pair, or from the two slowest roots where all three are real."""
    k, d, k_s = gains.stiffness, gains.damping, gains.series
    roots = np.roots([mass * d, mass * (k + k_s), k_s * d, k * k_s])
    pair = sorted(roots, key=lambda s: (abs(s.imag) <= 1e-9 * abs(s), abs(s)))[:2]
    omega = math.sqrt(abs(pair[0] * pair[1]))
    return omega, float(-(pair[0] + pair[1]).real) / (2.0 * omega)


def impact(gains: Gains, mass: float, speed: float) -> tuple[float, float]:
    """Effective e and duration [s] of an impact of a mass [kg] at a speed [m/s], without gravity.

    m δ̈ = -f(δ, δ̇) is integrated until f = 0. e = 0 where f does not become 0 within the time of IMPACT_LENGTH.
    """
    return _impact(gains, LAWS[gains.law], mass, speed)


@functools.lru_cache(512)
def _impact(gains: Gains, law: SoftLaw, mass: float, speed: float) -> tuple[float, float]:
    if law.series:
        return _impact_on_solid(gains, mass)
    k, d, own = gains.stiffness, gains.damping, law.force
    depth = _depth(gains, mass, speed)
    h, y = depth / speed / IMPACT_STEPS, (0.0, speed)

    def force(delta: float, rate: float) -> float:
        if own is not None:
            return max(own(delta, rate, k, d), 0.0) if delta > 0.0 else 0.0
        return normal_force.py_func(law.code, k, d, math.inf, math.inf, -delta, 0.0, -rate)

    def moved(y: tuple[float, float], s: float, r: tuple[float, float]) -> tuple[float, float]:
        return y[0] + s * r[0], y[1] + s * r[1]

    def rates(y: tuple[float, float]) -> tuple[float, float]:
        return y[1], -force(*y) / mass

    before = force(*y)
    for i in range(IMPACT_LENGTH * IMPACT_STEPS):  # classical Runge–Kutta
        r1 = rates(y)
        r2 = rates(moved(y, 0.5 * h, r1))
        r3 = rates(moved(y, 0.5 * h, r2))
        r4 = rates(moved(y, h, r3))
        after = moved(y, h / 6.0, (r1[0] + 2.0 * (r2[0] + r3[0]) + r4[0], r1[1] + 2.0 * (r2[1] + r3[1]) + r4[1]))
        now = force(*after)
        if i > 0 and now <= 0.0:
            part = before / (before - now) if before > now else 1.0
            return max(0.0, -(y[1] + part * (after[1] - y[1])) / speed), (i + part) * h
        y, before = after, now
    return 0.0, IMPACT_LENGTH * IMPACT_STEPS * h


def _impact_on_solid(gains: Gains, mass: float) -> tuple[float, float]:
    """As `impact`, for the standard solid. Its equations in δ, δ̇ and the depth y of the inner spring are linear,
    f = K_s (δ - y) = K y + D ẏ, so that the result does not depend on the speed."""
    from scipy.linalg import expm  # when it is first needed: it takes long to load

    k, k_s, d = gains.stiffness, gains.series, max(gains.damping, 1e-9 * math.sqrt(gains.stiffness * mass))
    h = math.sqrt(mass / min(k, k_s)) / IMPACT_STEPS
    rates = np.array([[0.0, 1.0, 0.0], [-k_s / mass, 0.0, k_s / mass], [k_s / d, 0.0, -(k + k_s) / d]])
    one_step: Any = expm(h * rates)
    (a, b, c), (p, q, r), (u, v, w) = one_step.tolist()
    depth, rate, inner = 0.0, 1.0, 0.0
    for i in range(IMPACT_LENGTH * IMPACT_STEPS):
        before, last = depth - inner, rate
        depth, rate, inner = (a * depth + b * rate + c * inner, p * depth + q * rate + r * inner,
                              u * depth + v * rate + w * inner)
        if i > 0 and depth <= inner:
            part = before / (before - (depth - inner))
            return max(0.0, -(last + part * (rate - last))), (i + part) * h
    return 0.0, IMPACT_LENGTH * IMPACT_STEPS * h


def damping_for(restitution: float, gains: Gains, mass: float, speed: float) -> float:
    """D that gives a body of this mass [kg] the effective restitution 0 <= e <= 1 in an impact at this speed [m/s]. The
    other gains are those of `gains`. A restitution below DEAD is taken as DEAD. A standard solid may not reach the
    restitution with any D; the result is then the D with the least restitution."""
    restitution = max(restitution, DEAD)
    critical, law = 2.0 * math.sqrt(gains.stiffness * mass), LAWS[gains.law]
    if not (law.series or law.by_speed):
        return ratio_for(restitution) * critical
    a, b = law.exponents
    scale = critical * _depth(gains, mass, speed) ** (0.5 * (a - 1.0) - (b - 1.0))  # critical at the greatest depth

    def e(damping: float) -> float:
        return impact(replace(gains, damping=damping), mass, speed)[0]

    trials = [scale * 10.0 ** (0.1 * i) for i in range(-30, 21)]
    enough = next((i for i, d in enumerate(trials) if e(d) <= restitution), None)
    if enough is None:
        return min(trials, key=e)
    lo, hi = trials[enough - 1] if enough else 0.0, trials[enough]
    for _ in range(25):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if e(middle) > restitution else (lo, middle)
    return 0.5 * (lo + hi)


def _depth(gains: Gains, mass: float, speed: float) -> float:
    """Greatest depth of an impact without damping [m]."""
    force, k = LAWS[gains.law].force, gains.stiffness
    if force is None:
        return depth_of_impact.py_func(LAWS[gains.law].code, k, speed, 1.0 / mass)

    def energy(depth: float) -> float:
        return sum(w * force(depth * u * u, 0.0, k, 0.0) * 2.0 * depth * u
                   for u, w in zip(NODES, WEIGHTS, strict=True))

    return _where(energy, 0.5 * mass * speed * speed)


def surface_gains(given: Any, restitution: float, mass: float) -> list[float]:
    """K_n, D_n, K_t, D_t, K_s, D_r of the surface of a material: K [N/m], D [N s/m]. Gains that are not given are such
    that a body of this mass [kg], on a contact of two such surfaces in series, vibrates at FREQUENCY and bounces with
    the material's restitution; its damping ratio is at most DEADEST."""
    ratio = min(ratio_for(max(restitution, restitution_of(DEADEST))), DEADEST)
    k = given.stiffness_n if given.stiffness_n is not None else 2.0 * mass * (2.0 * math.pi * FREQUENCY) ** 2
    d = math.inf if math.isinf(k) else given.damping_n
    k_t = given.stiffness_t if given.stiffness_t is not None else k
    d_t = math.inf if math.isinf(k_t) else given.damping_t
    if d is None:
        d = 2.0 * ratio * math.sqrt(2.0 * k * mass)  # both surfaces in series: K/2, D/2
    if d_t is None:
        d_t = 0.5 * math.sqrt(2.0 * k_t * mass)  # ζ = ¼ of the pair
    k_s = given.stiffness_series if given.stiffness_series is not None else k
    return [k, d, k_t, d_t, k_s, given.damping_roll or 0.0]
