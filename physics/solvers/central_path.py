"""The central path of an island, followed through its turns, for where Newton's method does not find the modes.

The laws are those of `interior_point`, scaled so that own blocks of M have a mean diagonal of 1:

    S u + δ x = y - s(y) n,    λ = Sᵀ x,    x ∈ Q,  y ∈ Q,  x ∘ y = σ e     S_j = √ρ (n/μ; t₁; t₂), all but for a unit

but for De Saxcé's shift, which is |y_T| there and has a kink where nothing slips. Here it is

    s(y)² = |y_T|² + θ² (y_n² - |y_T|²)

At σ = 0 this is the same law: a contact that carries has y on the boundary of Q, where s = |y_T|, and one that does not
has u_n = y_n - s(y), which takes every value >= 0 for some y. And s is smooth in Q, but at its tip, which no σ > 0
reaches. Of a limit, a motor or a contact without friction x is a number between bounds,
x = z + f(low - z) - f(z - high).

Unknown is z = x - y, which determines x = f(z) and y = f(-z), f(z) = (z + √(z² + 4σ))/2 in Jordan's algebra of Q, so
that x ∘ y = σ e always holds and no step must end within the cones [Fukushima, Luo & Tseng 2002]. With r₀ the residual
at the beginning, where σ = 1, the path is the curve of all (z, σ) with

    r(z, σ) = S u + δ x + s(y) n - y - σ r₀ = 0

Friction makes it turn: σ may have to grow on the way to 0, and to lower σ step by step ends at the first turn. So the
path is followed by its length: a step along its tangent, then Newton's steps across it. Which way is on is known
everywhere: the sign of dσ times that of det ∂r/∂z stays what it was at the beginning [Allgower & Georg 1990]. The curve
of a smooth r does not end: it comes to σ = 0, or back to where it began, or grows without bounds. That it comes to
σ = 0 is not proved here, but there is a solution to come to wherever some velocity opens all contacts faster than it
makes them slip [Acary, Cadoux, Lemaréchal & Malick 2011], as in a heap. Steps that are too long change over to another
curve, which may be a ring: see APART.

A step eliminates Δx = D (… - S G Δξ) contact by contact, D = P (1 - P + δ G_y⁻¹ P)⁻¹ G_y⁻¹, with P = ∂f/∂z and
G_y = 1 - n ∂s/∂y. The unknowns that are left are those of the island, Δξ = Gᵀ Sᵀ Δx, as for Newton's method:

    (1 + Gᵀ Sᵀ D S G) Δξ = Gᵀ Sᵀ (…)

δ, a compliance, keeps D below 1/δ. Without it, D of a contact that sticks is about x²/σ. What moves bodies that stick
to each other is the 1 alone, and this would be lost beside a D of 1/(rounding): from σ = 1e-16 on, too early to tell
which contacts carry or slip by less than √σ. As it is the path goes on to its end, where velocities are wrong by δ x.

The mouse spring follows its linear law; that its impulse has a limit is left to Newton's method.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array
from ..core.sym3 import put_three, six, sym_inverse, sym_vec, three
from ..core.vec import add, axpy, cross, dot, norm, put, put_rows, row, scale, sub
from ..problem.system import CONTACT, MOUSE
from .contact_modes import worst_of
from .interior_point import SMOOTH_FRICTION
from .island import HIGH, LOW, MU, SOFT, STEP, add_products, add_velocity, gather
from .skyline import factor_skyline, set_identity, solve_skyline

# Columns of Path.block, a row for each row block: what it is; bounds of x; S, row by row
FORM, BOTTOM, TOP, SCALE = 0, 1, 2, 3
# and of the point looked at: x; r; z_T/|z_T|; √(v² + 4σ) at the eigenvalues v of z, and their geometric mean;
# eigenvalues of P, and of 1 - P; 1 + ∂s/∂y_n/(1 - ∂s/∂y_n), and see `straighten`; ∂x/∂log σ at this z, of a contact
# along the axes of z; r, or what is asked of it, as a step is made
X, LEFT, WAY, ROOT, PASS, STOP, LEAN, RATE, AIM = 12, 15, 18, 20, 23, 26, 29, 32, 35
WIDE = 38
IDLE, CONE, RANGE, SPRING = range(4)  # what a row block is: one that cannot move, in Q, between bounds, the mouse
# Entries of Path.here: σ; d log σ along the path; length of the next step; which way is on, see `orientation`; unit of
# velocities [m/s]; largest first step across the path from a point that counts as near it
SIGMA, SPEED, LENGTH, SIGN, UNIT, APART = range(6)
THETA = 0.5        # θ
FIRST = 0.5        # length of the first step, in relative changes of the eigenvalues of z that change most
LONGEST = 4.0      # length of the longest step
SHORT = 1e-6       # length of a step that is none: rounding hides the path
LONGER, LESS, SHORTER = 1.7, 0.7, 0.4  # factors of the length after FEW and MANY steps across the path, and none
FEW, MANY = 3, 5
MOST = 7           # most steps across the path
SHRINK = 0.6       # part of the step before that one across the path may have
CLOSE = 1e-3       # step across the path that ends on it
YIELD = 1e-12      # δ
END = 1e-20        # σ at the end of the path
BACK = 1e3         # σ at which it has come back past its beginning


class Point(NamedTuple):
    """A point near the central path, or a change of it. u and ξ change with z step by step, so that the rounding of
    u₀ + G x, which would be divided by σ, stays where it is."""

    z: Array   #: (m, 3) x - y
    u: Array   #: (m, 3) S u
    xi: Array  #: (N,) ξ = Gᵀ Sᵀ x


class Path(NamedTuple):
    """A point of the central path of an island, and the way on from there."""

    block: Array    #: (m, WIDE) see FORM …
    at: Point
    tangent: Point  #: of length 1 for the row block that changes most, see `measure`, or less where σ changes more
    normal: Array   #: (m, 3) the same as a linear form: tangent · Δz = sum of normal Δz
    start: Array    #: (m, 3) r₀
    here: Array     #: see SIGMA …


# ------------------------------------------------------------------------------------------------ scaled coordinates
@helper
def scaled(block, j, u):
    """S u"""
    return (dot(three(block, j, SCALE), u), dot(three(block, j, SCALE + 3), u), dot(three(block, j, SCALE + 6), u))


@helper
def unscaled(block, j, x):
    """Sᵀ x"""
    a, b, c = three(block, j, SCALE), three(block, j, SCALE + 3), three(block, j, SCALE + 6)
    return add(scale(x[0], a), add(scale(x[1], b), scale(x[2], c)))


@helper
def set_scale(island, block, j):
    """The form and S of row block j."""
    law, rho = island.law, math.sqrt(island.law[j, STEP])
    block[j, BOTTOM], block[j, TOP] = -math.inf, math.inf
    if island.kind[j] == MOUSE:
        block[j, FORM] = SPRING
        block[j, SCALE] = block[j, SCALE + 4] = block[j, SCALE + 8] = 1.0
    elif rho > 0.0 and island.kind[j] != CONTACT:
        block[j, FORM], block[j, BOTTOM], block[j, TOP] = RANGE, law[j, LOW], law[j, HIGH]
        block[j, SCALE] = rho
    elif rho > 0.0 and law[j, MU] <= SMOOTH_FRICTION:
        block[j, FORM], block[j, BOTTOM] = RANGE, 0.0
        put_three(block, j, SCALE, scale(rho, three(law, j, 0)))
    elif rho > 0.0:
        n = three(law, j, 0)
        t = cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0))
        t = scale(1.0 / norm(t), t)
        block[j, FORM] = CONE
        put_three(block, j, SCALE, scale(rho / law[j, MU], n))
        put_three(block, j, SCALE + 3, scale(rho, t))
        put_three(block, j, SCALE + 6, scale(rho, cross(n, t)))


# ------------------------------------------------------------------------------------------------ a point
@helper
def f_of(v, root, sigma):
    """f(v) = (v + root)/2, root = √(v² + 4σ)"""
    return 0.5 * (v + root) if v > 0.0 else 2.0 * sigma / (root - v)


@helper
def spectral(block, j, low, high):
    """The vector with the axes of z and these eigenvalues."""
    off = 0.5 * (high - low)
    return (0.5 * (low + high), off * block[j, WAY], off * block[j, WAY + 1])


@helper
def along_axes(block, j, a):
    """Of a vector, the components on the two axes of z, and across their plane."""
    on = a[1] * block[j, WAY] + a[2] * block[j, WAY + 1]
    return a[0] - on, a[0] + on, a[2] * block[j, WAY] - a[1] * block[j, WAY + 1]


@helper
def from_axes(block, j, a):
    """The vector with these components on the axes of z, and across their plane."""
    both = spectral(block, j, a[0], a[1])
    return (both[0], both[1] - a[2] * block[j, WAY + 1], both[2] + a[2] * block[j, WAY])


@helper
def look_cone(block, j, z, sigma):
    """x, P and s of a contact. Returns y - s n. Where it slips, y_n - s is of the size of σ: as y_n² - s² over y_n + s,
    y_n² - |y_T|² the product of the eigenvalues of y, it has all digits of these."""
    size = math.sqrt(z[1] * z[1] + z[2] * z[2])
    block[j, WAY], block[j, WAY + 1] = (z[1] / size, z[2] / size) if size > 0.0 else (1.0, 0.0)
    a, b = z[0] - size, z[0] + size
    r, s = math.sqrt(a * a + 4.0 * sigma), math.sqrt(b * b + 4.0 * sigma)
    x_a, x_b, y_a, y_b = f_of(a, r, sigma), f_of(b, s, sigma), f_of(-a, r, sigma), f_of(-b, s, sigma)
    y_n, y_t, part = 0.5 * (y_a + y_b), 0.5 * (y_a - y_b), THETA * THETA
    put_three(block, j, X, spectral(block, j, x_a, x_b))
    put_three(block, j, ROOT, (r, s, math.sqrt(r * s)))
    put_three(block, j, PASS, (x_a / r, x_b / s, (x_a + x_b) / (r + s)))
    put_three(block, j, STOP, (y_a / r, y_b / s, (y_a + y_b) / (r + s)))
    put_three(block, j, RATE, (sigma / r, sigma / s, 0.0))
    slip = math.sqrt((1.0 - part) * y_t * y_t + part * y_n * y_n)
    both, lean = y_n + slip, 1.0 / (slip - part * y_n)
    block[j, LEAN] = lean * slip
    block[j, LEAN + 1] = lean * part * (1.0 - part) * y_a * y_b * y_b / (both * (slip + y_t))
    return ((1.0 - part) * y_a * y_b / both, -y_t * block[j, WAY], -y_t * block[j, WAY + 1])


@helper
def look_range(block, j, z, sigma):
    """x and P of a number between bounds. Returns x - z."""
    low, high = block[j, BOTTOM], block[j, TOP]
    a, b = low - z, z - high  # -inf where there is no bound
    r, s = math.sqrt(a * a + 4.0 * sigma), math.sqrt(b * b + 4.0 * sigma)
    under, over = f_of(a, r, sigma), f_of(b, s, sigma)
    if a > 0.0:
        block[j, X] = low + f_of(-a, r, sigma) - over
    elif b > 0.0:
        block[j, X] = high - f_of(-b, s, sigma) + under
    else:
        block[j, X] = z + under - over
    block[j, STOP] = under / r + over / s
    if a > b:
        block[j, PASS] = f_of(-a, r, sigma) / r - over / s
    else:
        block[j, PASS] = f_of(-b, s, sigma) / s - under / r if s < math.inf else 1.0
    block[j, RATE], block[j, ROOT] = sigma / r - sigma / s, min(r, s)
    return under - over


@helper
def look(island, path, point, sigma):
    """All that depends on z and σ for each row block, r, and λ."""
    block, z, u = path.block, point.z, point.u
    for j in range(len(block)):
        if block[j, FORM] == CONE:
            left = sub(row(u, j), look_cone(block, j, row(z, j), sigma))
            left = axpy(YIELD, three(block, j, X), left)
        elif block[j, FORM] == RANGE:
            left = (u[j, 0] - look_range(block, j, z[j, 0], sigma), 0.0, 0.0)
            left = (left[0] + YIELD * block[j, X], 0.0, 0.0)
        elif block[j, FORM] == SPRING:
            put_three(block, j, X, row(z, j))
            left = add(row(u, j), sym_vec(six(island.law, j, SOFT), row(z, j)))
        else:
            left = (0.0, 0.0, 0.0)
        put_three(block, j, LEFT, axpy(-sigma, row(path.start, j), left))
        put(island.lam, j, scale(path.here[UNIT], unscaled(block, j, three(block, j, X))))


# ------------------------------------------------------------------------------------------------ a step
@helper
def straighten(block, j, a):
    """G_y⁻¹ a, with G_y = 1 - n ∂s/∂y, along the axes of z. Where it slips, a_T hardly changes the component on the
    axis of the impulse: by 1 + (∂s/∂y_T · z_T/|z_T|)/(1 - ∂s/∂y_n) times its part on this axis. In terms of the
    eigenvalues of y, that factor is no difference of numbers that are nearly equal."""
    on, n = a[1] * block[j, WAY] + a[2] * block[j, WAY + 1], block[j, LEAN] * a[0]
    part = block[j, LEAN + 1]
    return (n + (part - 2.0) * on, n + part * on, a[2] * block[j, WAY] - a[1] * block[j, WAY + 1])


@helper
def stop(block, j, a):
    """(1 - P + δ G_y⁻¹ P)⁻¹ a, all along the axes of z. G_y⁻¹ is that of `straighten`, which leaves the third axis as
    it is. The determinant of the other two is a sum of terms that are not negative."""
    lean, part = 0.5 * YIELD * block[j, LEAN], 0.5 * YIELD * block[j, LEAN + 1]
    p, q = block[j, PASS], block[j, PASS + 1]
    aa, ab = block[j, STOP] + (lean - part + YIELD) * p, (lean + part - YIELD) * q
    ba, bb = (lean - part) * p, block[j, STOP + 1] + (lean + part) * q
    whole = aa * bb - ab * ba
    return ((bb * a[0] - ab * a[1]) / whole, (aa * a[1] - ba * a[0]) / whole,
            a[2] / (block[j, STOP + 2] + YIELD * block[j, PASS + 2]))


@helper
def pass_on(block, j, a):
    """P (1 - P + δ G_y⁻¹ P)⁻¹ a, all along the axes of z."""
    low, high, off = stop(block, j, a)
    return (block[j, PASS] * low, block[j, PASS + 1] * high, block[j, PASS + 2] * off)


@helper
def factor(island, sky, path, D, work):
    """Factor 1 + Gᵀ Sᵀ D S G at the point looked at. D (m, 9), work (3, N): scratch. False where that fails."""
    block = path.block
    for j in range(len(island.kind)):
        form, S = block[j, FORM], block[j]
        for e in range(9):
            D[j, e] = 0.0
        if form == RANGE:
            part = block[j, PASS] / (block[j, STOP] + YIELD * block[j, PASS])
            for k in range(3):
                for c in range(3):
                    D[j, 3 * k + c] = part * S[SCALE + k] * S[SCALE + c]
        elif form == SPRING:
            k = sym_inverse(six(island.law, j, SOFT))
            put(D[:, 0:3], j, (k[0], k[1], k[2]))
            put(D[:, 3:6], j, (k[1], k[3], k[4]))
            put(D[:, 6:9], j, (k[2], k[4], k[5]))
        elif form == CONE:
            for c in range(3):
                column = straighten(block, j, (S[SCALE + c], S[SCALE + 3 + c], S[SCALE + 6 + c]))
                column = unscaled(block, j, from_axes(block, j, pass_on(block, j, column)))
                for k in range(3):
                    D[j, 3 * k + c] = column[k]
    set_identity(sky)
    add_products(island, D, work, sky)
    return factor_skyline(sky)


@helper
def orientation(sky):
    """The sign of det ∂r/∂z, which is that of the matrix factored: det (1 - P + δ G_y⁻¹ P) and det G_y are positive."""
    sign = 1.0
    for k in range(len(sky.at)):
        if sky.entry[sky.at[k] + k] < 0.0:
            sign = -sign
    return sign


@helper
def direction(island, sky, path, point, sigma, rate, out):
    """The change of a point that takes r to 0 where σ stays as it is (rate 0), or that leaves r as it is where log σ
    grows by 1 (rate 1). The factors are those of the point."""
    block, size, work = path.block, path.here[UNIT], np.zeros(len(out.xi))
    for j in range(len(block)):
        form, grown = block[j, FORM], scale(rate, three(block, j, RATE))
        left = scale(-sigma, row(path.start, j)) if rate > 0.0 else three(block, j, LEFT)
        aim = (0.0, 0.0, 0.0)
        if form == CONE:
            left = axpy(YIELD, from_axes(block, j, grown), left)
            aim = from_axes(block, j, add(grown, pass_on(block, j, sub(grown, straighten(block, j, left)))))
        elif form == RANGE:
            left = axpy(YIELD, grown, left)
            part = block[j, PASS] / (block[j, STOP] + YIELD * block[j, PASS])
            aim = (grown[0] + part * (grown[0] - left[0]), 0.0, 0.0)
        elif form == SPRING:
            aim = sym_vec(sym_inverse(six(island.law, j, SOFT)), scale(-1.0, left))
        put_three(block, j, AIM, left)
        put(out.z, j, unscaled(block, j, aim))
    gather(island, out.z, out.xi)
    if rate == 0.0:
        gather(island, island.lam, work)
        for i in range(len(work)):
            out.xi[i] += work[i] / size - point.xi[i]
    solve_skyline(sky, out.xi)
    out.u[:] = 0.0
    add_velocity(island, out.xi, out.u)
    for j in range(len(block)):
        form, grown, along = block[j, FORM], scale(rate, three(block, j, RATE)), scaled(block, j, row(out.u, j))
        move, dz = add(along, three(block, j, AIM)), (0.0, 0.0, 0.0)
        if form == CONE:
            dz = from_axes(block, j, stop(block, j, sub(grown, straighten(block, j, move))))
        elif form == RANGE:
            dz = ((grown[0] - move[0]) / (block[j, STOP] + YIELD * block[j, PASS]), 0.0, 0.0)
        elif form == SPRING:
            dz = sym_vec(sym_inverse(six(island.law, j, SOFT)), scale(-1.0, move))
        put(out.z, j, dz)
        put(out.u, j, along)


@helper
def measure(block, j, dz):
    """Δz relative to the lengths over which f changes: √(v² + 4σ) for an eigenvalue v, and across the axes their
    geometric mean, which is how far it is to the boundary of Q there, as det (z + Δz) = det z - Δ² [Faraut & Korányi
    1994]. What is linear is not measured."""
    if block[j, FORM] == CONE:
        low, high, off = along_axes(block, j, dz)
        return (low / block[j, ROOT], high / block[j, ROOT + 1], off / block[j, ROOT + 2])
    return (dz[0] / block[j, ROOT] if block[j, FORM] == RANGE else 0.0, 0.0, 0.0)


@helper
def size_of(block, dz):
    """The largest change of a row block."""
    size = 0.0
    for j in range(len(block)):
        change = measure(block, j, row(dz, j))
        for k in range(3):
            size = abs(change[k]) if not abs(change[k]) <= size else size  # nan is the largest
    return size


@helper
def blank(m, n):
    """A Point of m row blocks and n unknowns."""
    return Point(np.zeros((m, 3)), np.zeros((m, 3)), np.zeros(n))


@helper
def move_by(length, change, point, out):
    """out = point + length change"""
    for j in range(len(out.z)):
        put(out.z, j, axpy(length, row(change.z, j), row(point.z, j)))
        put(out.u, j, axpy(length, row(change.u, j), row(point.u, j)))
    for i in range(len(out.xi)):
        out.xi[i] = point.xi[i] + length * change.xi[i]


@helper
def set_tangent(path, way, sign):
    """The tangent of the path, from the change `way` where log σ grows by 1. sign: which way is on."""
    block, rate = path.block, sign / max(size_of(path.block, way.z), 1.0)
    path.here[SPEED] = rate
    move_by(rate - 1.0, way, way, path.tangent)
    for j in range(len(block)):
        low, high, off = measure(block, j, row(path.tangent.z, j))
        if block[j, FORM] == CONE:
            low, high, off = low / block[j, ROOT], high / block[j, ROOT + 1], off / block[j, ROOT + 2]
            e, f = block[j, WAY], block[j, WAY + 1]
            put(path.normal, j, (low + high, (high - low) * e - off * f, (high - low) * f + off * e))
        else:
            put(path.normal, j, (low / block[j, ROOT] if block[j, FORM] == RANGE else 0.0, 0.0, 0.0))


@helper
def inner(path, dz):
    """tangent · Δz"""
    total = 0.0
    for j in range(len(dz)):
        total += dot(row(path.normal, j), row(dz, j))
    return total


@helper
def come_back(island, sky, path, point, sigma, way):
    """From a point near the path, by Newton's steps across it. Returns σ, or 0 where they do not lead there, and how
    many steps were made. The point is changed in place. way: the change along the path where log σ grows by 1."""
    m, n = len(point.z), len(point.xi)
    D, work, step, last, done = np.zeros((m, 9)), np.zeros((3, n)), blank(m, n), path.here[APART] / SHRINK, 0
    for done in range(1, MOST + 1):
        look(island, path, point, sigma)
        if not factor(island, sky, path, D, work):
            break
        direction(island, sky, path, point, sigma, 0.0, step)
        direction(island, sky, path, point, sigma, 1.0, way)
        rate = -inner(path, step.z) / (inner(path, way.z) + path.here[SPEED])
        move_by(rate, way, step, step)
        change = max(size_of(path.block, step.z), abs(rate))
        if not change < SHRINK * last:
            break
        last = change
        move_by(1.0, step, point, point)
        sigma *= math.exp(rate)
        if change < CLOSE:
            return sigma, done
    return 0.0, done


# ------------------------------------------------------------------------------------------------ the path
@helper
def open_path(island, sky, apart):
    """The Path of an island at its beginning, σ = 1 and z as it is for λ = 0. There σ falls."""
    m, n, size = len(island.kind), len(island.x), 0.0
    path = Path(np.zeros((m, WIDE)), blank(m, n), blank(m, n), np.zeros((m, 3)), np.zeros((m, 3)),
                np.array([1.0, 0.0, FIRST, 1.0, 1.0, apart]))
    block, z = path.block, path.at.z
    for j in range(m):
        set_scale(island, block, j)
        size = max(size, norm(scaled(block, j, row(island.free, j))))
    size = size if size > 0.0 else 1.0
    path.here[UNIT] = size
    for j in range(m):
        v = scale(-1.0 / size, scaled(block, j, row(island.free, j)))
        if block[j, FORM] == CONE:
            put(z, j, (v[0] - math.sqrt(v[1] * v[1] + v[2] * v[2]), v[1], v[2]))
        elif block[j, FORM] == RANGE:
            unit = size * norm(three(block, j, SCALE))
            low, high = block[j, BOTTOM] / unit, block[j, TOP] / unit
            block[j, BOTTOM], block[j, TOP] = low, high
            z[j, 0] = min(max(0.0, low), high) + v[0]
            if not low < high:
                block[j, FORM], block[j, X] = IDLE, low
    look(island, path, path.at, 1.0)
    gather(island, island.lam, path.at.xi)
    put_rows(island.u, island.free)
    add_velocity(island, path.at.xi, island.u)
    for i in range(n):
        path.at.xi[i] /= size
    for j in range(m):
        put(path.at.u, j, scale(1.0 / size, scaled(block, j, row(island.u, j))))
    look(island, path, path.at, 1.0)
    for j in range(m):
        put(path.start, j, three(block, j, LEFT))
    way = blank(m, n)
    if factor(island, sky, path, np.zeros((m, 9)), np.zeros((3, n))):
        direction(island, sky, path, path.at, 1.0, 1.0, way)
        path.here[SIGN] = -orientation(sky)
        set_tangent(path, way, -1.0)
    return path


@helper
def follow_path(island, sky, path, enough, most):
    """Go on along the path until the natural map is at most `enough` [m/s], or there have been so many factorizations.
    λ becomes that of the last point. Returns the factorizations made, the natural map there, and whether it goes on:
    not at the end of the path, where it came back, and where rounding hides it."""
    here, at, looks, miss = path.here, path.at, 0, math.inf
    point, way = blank(len(at.z), len(at.xi)), blank(len(at.z), len(at.xi))
    while looks < most and END < here[SIGMA] < BACK and here[LENGTH] > SHORT:
        length = here[LENGTH]
        move_by(length, path.tangent, at, point)
        sigma, steps = come_back(island, sky, path, point, here[SIGMA] * math.exp(length * here[SPEED]), way)
        looks += steps
        if sigma == 0.0:
            here[LENGTH] *= SHORTER
            continue
        here[SIGMA] = sigma
        here[LENGTH] = min(LONGER * length, LONGEST) if steps <= FEW else LESS * length if steps >= MANY else length
        move_by(0.0, way, point, at)
        set_tangent(path, way, here[SIGN] * orientation(sky))
        gather(island, island.lam, island.x)
        put_rows(island.u, island.free)
        add_velocity(island, island.x, island.u)
        miss = worst_of(island, island.u)
        if miss <= enough:
            break
    return looks, miss, END < here[SIGMA] < BACK and here[LENGTH] > SHORT
