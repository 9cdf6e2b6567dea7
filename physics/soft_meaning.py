"""What the gains K and D of a compliant surface mean for the bodies on it."""

import math
from dataclasses import dataclass
from typing import Any

FREQUENCY = 30.0  # [Hz] of the heaviest body on a surface whose material says nothing
DEADEST = 0.5     # largest damping ratio that is chosen for a restitution


def restitution_of(ratio: float) -> float:
    """Effective restitution e of a mass on a linear spring and damper of this damping ratio ζ = D/(2 √(K m)), contact
    ending where the force does:

        e = exp(-2 ζ/√(1 - ζ²) acos ζ),  e^-2 at ζ = 1,  acosh ζ and √(ζ² - 1) above.
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
    """How long an impact lasts [s] at the natural frequency ω_0 [rad/s]: 2 acos(ζ)/(ω_0 √(1 - ζ²))."""
    if abs(ratio - 1.0) < 1e-7:
        return 2.0 / frequency
    if ratio < 1.0:
        return 2.0 * math.acos(ratio) / (frequency * math.sqrt(1.0 - ratio * ratio))
    return 2.0 * math.acosh(ratio) / (frequency * math.sqrt(ratio * ratio - 1.0))


@dataclass(frozen=True)
class Meaning:
    """What linear gains mean for one body mass on one contact."""

    frequency: float     #: natural, ω_0/2π [Hz]
    ratio: float         #: damping ratio ζ
    restitution: float   #: effective e
    sag: float           #: under the body's weight [m]
    time: float          #: of an impact [s]


def meaning(stiffness: float, damping: float, mass: float, gravity: float) -> Meaning:
    """What K [N/m] and D [N s/m] mean for a mass [kg] under gravity [m/s2]."""
    omega = math.sqrt(stiffness / mass)
    ratio = damping / (2.0 * math.sqrt(stiffness * mass))
    return Meaning(omega / (2.0 * math.pi), ratio, restitution_of(ratio), mass * gravity / stiffness,
                   contact_time(ratio, omega))


def damping_for(restitution: float, stiffness: float, mass: float) -> float:
    """D [N s/m] that gives a body of this mass [kg] on this stiffness [N/m] an effective restitution 0 < e <= 1."""
    return 2.0 * ratio_for(restitution) * math.sqrt(stiffness * mass)


def surface_gains(given: Any, restitution: float, mass: float) -> list[float]:
    """K_n, D_n, K_t, D_t, K_s of a material's own surface: what is given, else such that a body of this mass [kg]
    between two of them vibrates at FREQUENCY and bounces with the material's restitution."""
    ratio = min(ratio_for(max(restitution, restitution_of(DEADEST))), DEADEST)
    k = given.stiffness_n if given.stiffness_n is not None else 2.0 * mass * (2.0 * math.pi * FREQUENCY) ** 2
    d = math.inf if math.isinf(k) else given.damping_n
    k_t = given.stiffness_t if given.stiffness_t is not None else k
    d_t = math.inf if math.isinf(k_t) else given.damping_t
    if d is None:
        d = 2.0 * ratio * math.sqrt(2.0 * k * mass)  # both surfaces in series: K/2, D/2
    if d_t is None:
        d_t = 0.5 * math.sqrt(2.0 * k_t * mass)  # ζ = ¼ of the pair
    return [k, d, k_t, d_t, given.stiffness_series if given.stiffness_series is not None else k]
