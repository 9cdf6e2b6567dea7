"""The laws of compliant surfaces: massless springs and dampers between two bodies [RBDA §11.8]. A law is an entry of
LAWS and its branches in the functions below; no other code depends on which law it is.

A surface stands out by z (z < 0: pressed in) and is dragged along by x in the tangent plane. p is the gap of the
undeformed shapes. While they touch p = z, and the surfaces push with f_n >= 0:

    linear          f = -K z - D ż                                                       [RBDA eqs. 11.74, 11.75]
    hertz           f = √δ (K δ + D δ̇),    δ = -z: the contact of round bodies           [Azad & Featherstone 2010]
    hunt_crossley   f = δ (K + D δ̇)         no jump of the force at the first touch       [Hunt & Crossley 1975]
    standard_solid  a spring K_s in series with the linear K ∥ D
    kelvin_voigt    f = max(0, K δ + D δ̇) while δ > 0: the surface has no state of its own, contact ends with δ
    a user's        f = max(0, F(δ, δ̇, K, D)) likewise, see `own`

Two compliant surfaces carry the same force in series, p = z_1 + z_2. Free surfaces recover by f = 0.
Tangentially f_stick = -K_t x - D_t v, brought into the cone |f_t| <= μ f_n [RBDA eqs. 11.77–11.79].

Where round bodies roll their dent travels over the surfaces at the speed c = R |ω_t|, R the reduced radius and ω_t the
relative spin across the normal. A surface with D_r takes the power D_r c² for that: the couple -D_r R² ω_t.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.jit import helper
from ..core.model import Array, BodyKind, Model, ShapeKind
from ..core.vec import add, axpy, dot, scale
from .own import OWN, own_depth, own_energy, own_force, own_gains, own_implicit

LINEAR, HERTZ, HUNT_CROSSLEY, CLIPPED = range(4)  #: codes of the normal force
K_N, D_N, K_T, D_T, K_S, D_R = range(6)  #: columns of Materials.surfaces, in the order of core.settings.GAINS
NORMAL_1, NORMAL_2, TANGENT_1, TANGENT_2, UNITS = range(0, 10, 2)  #: K, D of each unit in rows of pair_units


@dataclass(frozen=True)
class SoftLaw:
    """A law as the menu shows it."""

    title: str           #: shown in the menu, with a short description
    code: int            #: of the normal force: LINEAR, HERTZ, HUNT_CROSSLEY, CLIPPED or an address
    exponents: tuple[float, float] = (1.0, 1.0)  #: a, b of f = K δ^a + D δ^(b - 1) δ̇, see `series`
    units: tuple[str, str] = ("N/m", "N s/m")    #: of K and D
    two_states: bool = False  #: each of two surfaces has a state of its own where their K/D differ
    series: bool = False      #: has a spring K_s in series
    force: Callable[[float, float, float, float], float] | None = None  #: F(δ, δ̇, K, D) [N] of a user's law

    @property
    def by_speed(self) -> bool:
        """Whether the restitution of an impact depends on its speed."""
        return self.exponents != (1.0, 1.0) or self.force is not None


LAWS: dict[str, SoftLaw] = {
    "linear": SoftLaw("Linear spring and damper; the surface recovers behind the body", LINEAR, two_states=True),
    "hertz": SoftLaw("Hertz, √δ (K δ + D δ̇): the contact of round bodies", HERTZ, (1.5, 1.5), ("N/m^1.5", "N s/m^1.5")),
    "hunt_crossley": SoftLaw(
        "Hunt–Crossley, δ (K + D δ̇): no jump of the force at the first touch", HUNT_CROSSLEY, (1.0, 2.0),
        ("N/m", "N s/m²")),
    "standard_solid": SoftLaw("Standard linear solid: a spring in series with the linear law", LINEAR, series=True),
    "kelvin_voigt": SoftLaw(
        "Kelvin–Voigt clipped at 0, as in most textbooks: no memory, contact lasts as long as the overlap", CLIPPED),
}
RECOVERIES = ("closed_form", "integrated")  #: how a free surface recovers: z = z_0 exp(-K (t - t_0)/D), or ż integrated


def series(a: Array, b: Array, exponent: float = 1.0) -> Array:
    """Gain of two elements in series, each with the force gain · δ^exponent."""
    with np.errstate(divide="ignore"):
        return (a ** (-1.0 / exponent) + b ** (-1.0 / exponent)) ** -exponent


def lumped(surfaces: Array) -> Array:
    """The same table (k, k, 2, 6) with both surfaces of every pair in one: exact where K/D is equal."""
    together = series(surfaces[:, :, 0], surfaces[:, :, 1])
    together[:, :, D_R] = surfaces[..., D_R].sum(axis=2)  # both dents travel at the same speed
    rigid = np.full_like(together, np.inf)
    rigid[:, :, D_R] = 0.0
    return np.stack([together, rigid], axis=2)


def round_radius(model: Model) -> Array:
    """Radius (s,) [m] of spheres, capsules and cylinders; 0 of all other shapes."""
    round_kinds = (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.CYLINDER)
    return np.where(np.isin(model.shapes.kind, round_kinds), model.shapes.size[:, 0], 0.0)


@helper
def reduced_radius(a, b):
    """Radius [m] of the ball on a plane that rolls as two shapes of the radii a, b do: 1/R = 1/a + 1/b. Other shapes
    count as flat under round ones; against each other their dents do not travel: 0."""
    return a * b / (a + b) if a > 0.0 and b > 0.0 else a + b


reduced_radii = np.vectorize(reduced_radius.py_func, otypes=[float])  #: of arrays, without a compiled kernel


def pair_units(surfaces: Array, law: str) -> Array:
    """K and D of the two units in series that stand for every pair of materials (k, k, UNITS): normal 1 and 2,
    tangential 1 and 2. Where one is enough the second is rigid.

    One is enough where a surface is rigid or both have the same K/D [RBDA §11.8]; and for the non-linear laws and the
    standard solid, whose pairs count as one surface.
    """
    one, two = surfaces[:, :, 0], surfaces[:, :, 1]
    units = np.full((*surfaces.shape[:2], UNITS), np.inf)
    exponents = LAWS[law].exponents
    for first, second, k, d, m in ((NORMAL_1, NORMAL_2, K_N, D_N, exponents), (TANGENT_1, TANGENT_2, K_T, D_T, (1, 1))):
        soft = np.isfinite(one[..., k]) & np.isfinite(two[..., k])
        with np.errstate(invalid="ignore"):  # a rigid surface on an undamped one
            same = np.isclose(one[..., k] * two[..., d], two[..., k] * one[..., d], rtol=1e-9, atol=0.0)
        apart = soft & ~same & LAWS[law].two_states & (one[..., d] > 0.0) & (two[..., d] > 0.0)
        units[..., first] = np.where(apart, one[..., k], series(one[..., k], two[..., k], m[0]))
        units[..., first + 1] = np.where(apart, one[..., d], series(one[..., d], two[..., d], m[1]))
        units[..., second] = np.where(apart, two[..., k], np.inf)
        units[..., second + 1] = np.where(apart, two[..., d], np.inf)
    if LAWS[law].series:
        units[..., NORMAL_2 : NORMAL_2 + 2] = units[..., NORMAL_1 : NORMAL_1 + 2]
        units[..., NORMAL_1], units[..., NORMAL_1 + 1] = series(one[..., K_S], two[..., K_S]), 0.0
    return units


def check_compliance(model: Model) -> None:
    """ValueError where two shapes can touch of which neither surface is compliant."""
    shapes = model.shapes
    surfaces = model.materials.surfaces
    rigid = np.isinf(surfaces[..., K_N].min(axis=2)) | np.isinf(surfaces[..., K_T].min(axis=2))
    owners = np.unique(np.column_stack([shapes.material, shapes.body]), axis=0)
    owners = owners[rigid[owners[:, 0]].any(axis=1)]
    moves = model.kind[owners[:, 1]] == BodyKind.DYNAMIC
    meet = rigid[owners[:, None, 0], owners[None, :, 0]] & (owners[:, None, 1] != owners[None, :, 1])
    if (meet & (moves[:, None] | moves[None, :])).any():
        raise ValueError("two rigid materials can touch; the method compliant needs a finite stiffness of one of them")


# ---------------------------------------------------------------------------------------------------- normal force
@helper
def spring_force(law, k, z):
    """-dU/dz of a surface's spring, >= 0 where it is pressed in."""
    if law == HERTZ:
        return k * max(-z, 0.0) ** 1.5
    if law == HUNT_CROSSLEY:
        return k * max(-z, 0.0)
    if law >= OWN:
        return own_force(law, max(-z, 0.0), 0.0, k, 0.0)
    return -k * z


@helper
def spring_energy(law, k, z):
    """U(z) [J]"""
    if k == math.inf:
        return 0.0
    if law == HERTZ:
        return 0.4 * k * max(-z, 0.0) ** 2.5
    if law == HUNT_CROSSLEY:
        return 0.5 * k * max(-z, 0.0) ** 2
    if law >= OWN:
        return own_energy(law, k, max(-z, 0.0))
    return 0.5 * k * z * z


@helper
def depth_of_impact(law, k, speed, inv_mass):
    """Largest depth δ [m] of an impact without damping: U(δ) = ½ m v², m = 1/inv_mass."""
    twice = speed * speed / inv_mass
    if law >= OWN:
        return own_depth(law, k, 0.5 * twice)
    return (1.25 * twice / k) ** 0.4 if law == HERTZ else math.sqrt(twice / k)


@helper
def normal_force(law, k1, d1, k2, d2, z1, z2, rate):
    """The force that keeps ż_1 + ż_2 = ṗ = rate; where it is negative contact ends."""
    if law == HERTZ:
        return math.sqrt(max(-z1, 0.0)) * (-k1 * z1 - d1 * rate)
    if law == HUNT_CROSSLEY:
        return max(-z1, 0.0) * (k1 - d1 * rate)
    if law == CLIPPED:
        return max(-k1 * z1 - d1 * rate, 0.0) if z1 <= 0.0 else 0.0
    if law >= OWN:
        return max(own_force(law, -z1, -rate, k1, d1), 0.0) if z1 <= 0.0 else 0.0
    if k2 == math.inf:
        return -k1 * z1 - d1 * rate
    if d1 == 0.0:
        return -k1 * z1
    # f = -K_i z_i - D_i ż_i of both, ż_1 + ż_2 = ṗ
    return -(rate + k1 * z1 / d1 + k2 * z2 / d2) / (1.0 / d1 + 1.0 / d2)


@helper
def free_height(law, z1, z2):
    """Gap below which a body touches surfaces that nothing touches."""
    return 0.0 if law >= CLIPPED else z1 + z2


@helper
def follows(law):
    """Whether contact lasts as long as shapes overlap, even where the surface does not push."""
    return law >= CLIPPED


@helper
def pressed_in(law, k2, d1, d2, free, gap, z1, z2):
    """z of both surfaces of a touching contact, z_1 + z_2 = p; `free`: they touch for the first time, and the
    difference is shared as dampers share a sudden push, 1/D_i each."""
    if law >= CLIPPED:
        return min(gap, 0.0), 0.0
    if free and k2 < math.inf and d1 > 0.0:
        z2 += (1.0 / d2) / (1.0 / d1 + 1.0 / d2) * (gap - (z1 + z2))
    return gap - z2, z2


@helper
def until_release(law, f, gap):
    """A value that is >= 0 while the contact lasts, at the normal force f and this gap: the force itself, as contact
    ends where the surfaces would have to pull; where shapes do not overlap, by laws whose force is then 0, and for
    laws without a state the overlap."""
    return -gap if law >= CLIPPED or (varies(law) and gap > 0.0) else f


@helper
def varies(law):
    """Whether stiffness and damping depend on how deep the surface is pressed in."""
    return law in (HERTZ, HUNT_CROSSLEY) or law >= OWN


@helper
def gains_at(law, k, d, depth):
    """∂f/∂δ and ∂f/∂δ̇ where a surface at rest is pressed in by `depth` [m]."""
    if law == HERTZ:
        return 1.5 * k * math.sqrt(depth), d * math.sqrt(depth)
    if law == HUNT_CROSSLEY:
        return k, d * depth
    if law >= OWN:
        return own_gains(law, k, d, depth)
    return k, d


@helper
def free_rate(law, k, d, z):
    """ż of a surface that nothing touches; 0 without damping, where it recovers at once."""
    if d == 0.0 or k == math.inf or law >= CLIPPED:
        return 0.0
    if law == HUNT_CROSSLEY:
        return k / d if z < 0.0 else 0.0
    return -k * z / d


@helper
def unit_rate(k, d, z, f):
    """ż = -(K z + f)/D of a linear surface under the force f   [RBDA eq. 11.73]"""
    return 0.0 if k == math.inf or d == 0.0 else -(k * z + f) / d


@helper
def recovered(law, k, d, z, time):
    """z of a surface that nothing touched for some time [s]: z_0 exp(-K t/D)."""
    if z == 0.0 or d == 0.0 or k == math.inf or law >= CLIPPED:
        return 0.0
    if law == HUNT_CROSSLEY:
        return min(0.0, z + k * time / d)
    return z * math.exp(-k * time / d)


# --------------------------------------------------------------------------------------- after an implicit Euler step
@helper
def softness(stiff, damp, g):
    """c = 1/(K + D/g), 0 of a rigid surface."""
    return 0.0 if stiff == math.inf else 1.0 / (stiff + damp / g)


@helper
def implicit_force(law, units, g, gap, z1, z2):
    """f_n, no force where it is negative, and -∂f_n/∂p at the gap p after an implicit Euler step of length g [s] that
    the surfaces began at z_1, z_2; units: K_1, D_1, K_2, D_2."""
    k1, d1, k2, d2 = units
    if not varies(law):
        c1, c2 = softness(k1, d1, g), softness(k2, d2, g)
        start = c1 * d1 * z1 / g + (c2 * d2 * z2 / g if c2 > 0.0 else 0.0)
        return (start - gap) / (c1 + c2), 1.0 / (c1 + c2)
    if law >= OWN:
        return own_implicit(law, k1, d1, g, gap, z1)
    depth = max(-gap, 0.0)
    rate = (depth + z1) / g
    root = math.sqrt(depth)
    if law == HERTZ:
        f, slope = root * (k1 * depth + d1 * rate), root * (1.5 * k1 + d1 / g) + 0.5 * d1 * rate / max(root, 1e-9)
    else:
        f, slope = depth * (k1 + d1 * rate), k1 + d1 * rate + d1 * depth / g
    return f, max(slope, 0.0) if gap < 0.0 else 0.0


@helper
def implicit_end(law, k, d, z, f, g, gap):
    """z of a surface at the end of such a step under the force f at this gap."""
    if k == math.inf:
        return 0.0
    if law >= CLIPPED:
        return min(gap, 0.0)
    if not varies(law):
        return (d * z / g - f) / (k + d / g)
    if f > 0.0:
        return gap
    if law == HUNT_CROSSLEY:
        return min(0.0, z + g * k / d) if d > 0.0 else 0.0
    return d * z / (d + g * k)


# ------------------------------------------------------------------------------------------------------- friction
@helper
def stick_force(k1, d1, k2, d2, x1, x2, v):
    """The tangential force that keeps ẋ_1 + ẋ_2 = v: nothing slides   [RBDA eq. 11.78]"""
    if k2 == math.inf:
        return scale(-1.0, axpy(k1, x1, scale(d1, v)))
    return scale(-1.0 / (1.0 / d1 + 1.0 / d2), add(v, axpy(k1 / d1, x1, scale(k2 / d2, x2))))


@helper
def drag_rate(k, d, x, f):
    """ẋ = -(K_t x + f_t)/D_t   [RBDA eq. 11.77]"""
    if k == math.inf or d == 0.0:
        return (0.0, 0.0, 0.0)
    return scale(-1.0 / d, axpy(k, x, f))


@helper
def undragged(k, d, x, time):
    """x of a surface that nothing touched for some time [s]."""
    if k == math.inf or d == 0.0 or dot(x, x) == 0.0:
        return (0.0, 0.0, 0.0)
    return scale(math.exp(-k * time / d), x)
