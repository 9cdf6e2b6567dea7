"""An interior-point method on an island, for where Newton's method does not find the modes.

The laws and symbols are those of `interior_point`, scaled so that own blocks of M have a mean diagonal of 1:

    y = S u + |y_T| n,    λ = Sᵀ x,    x ∈ Q,  y ∈ Q,  x ∘ y = σ e          S_j = √ρ (n/μ; t₁; t₂), all but for a unit

The rounds follow the central path, on which σ falls to 0. Of a limit, a motor or a contact without
friction x is a number between bounds, and y has the multipliers of both:

    S u = y₀ - y₁,    (x - low) y₀ = σ,    (high - x) y₁ = σ

A round eliminates Δx = D (b - S G Δξ) contact by contact, with D = W² G_y⁻¹, or 1/(y₀/(x - low) + y₁/(high - x)).
The unknowns that are left are those of the island, Δξ = Gᵀ Sᵀ Δx, as for Newton's method:

    (1 + Gᵀ Sᵀ D S G) Δξ = Gᵀ Sᵀ D b

The mouse spring follows its linear law; that its impulse has a limit is left to Newton's method.
"""

import math

import numpy as np

from ..core.jit import helper
from ..core.sym3 import put_three, six, sym_inverse, sym_vec, three
from ..core.vec import add, cross, dot, norm, put, put_rows, row, scale, sub
from ..problem.system import CONTACT, MOUSE
from .contact_modes import worst_of
from .interior_point import SMOOTH_FRICTION, determinant, jordan, jordan_solve, nesterov_todd, reach
from .island import HIGH, LOW, MU, SOFT, STEP, add_products, add_velocity, gather
from .skyline import factor_skyline, set_identity, solve_skyline

# Columns of a path (m, WIDE), a row for each row block: what it is; bounds of x; S, row by row; x; y; what is left of
# S u + |y_T| n - y = 0 or S u - y₀ + y₁ = 0
FORM, BOTTOM, TOP, SCALE, X, Y, LEFT = 0, 1, 2, 3, 12, 15, 18
# and, of a round, six entries of Nesterov's and Todd's W, or D of a RANGE; η⁻²; y_T/|y_T|; Δx; Δy; D b
WEIGHT, UNWEIGHT, WAY, DX, DY, AIM = 21, 27, 28, 30, 33, 36
WIDE = 39
IDLE, CONE, RANGE, SPRING = range(4)  # what a row block is: one that cannot move, in Q, between bounds, the mouse
BEGIN = 1e-4       # least σ at the beginning
ROUNDS = 40        # most rounds
HANDOVER = 1e-10   # x·y per contact and residual at which Newton's method takes over, relative to the largest velocity
SHORT = 1e-3       # length of a step that is none
IN_VAIN = 8        # rounds that improve neither λ nor what is left of the equations, after which it gives up
NEARLY = 0.99      # part of the way to the boundary that a step goes


# ------------------------------------------------------------------------------------------------ scaled coordinates
@helper
def scaled(path, j, u):
    """S u"""
    return (dot(three(path, j, SCALE), u), dot(three(path, j, SCALE + 3), u), dot(three(path, j, SCALE + 6), u))


@helper
def unscaled(path, j, x):
    """Sᵀ x"""
    a, b, c = three(path, j, SCALE), three(path, j, SCALE + 3), three(path, j, SCALE + 6)
    return add(scale(x[0], a), add(scale(x[1], b), scale(x[2], c)))


@helper
def set_scale(island, path, j):
    """The form and S of row block j."""
    law, rho = island.law, math.sqrt(island.law[j, STEP])
    path[j, BOTTOM], path[j, TOP] = -math.inf, math.inf
    if island.kind[j] == MOUSE:
        path[j, FORM] = SPRING
        path[j, SCALE] = path[j, SCALE + 4] = path[j, SCALE + 8] = 1.0
    elif rho > 0.0 and island.kind[j] != CONTACT:
        path[j, FORM], path[j, BOTTOM], path[j, TOP] = RANGE, law[j, LOW], law[j, HIGH]
        path[j, SCALE] = rho
    elif rho > 0.0 and law[j, MU] <= SMOOTH_FRICTION:
        path[j, FORM], path[j, BOTTOM] = RANGE, 0.0
        put_three(path, j, SCALE, scale(rho, three(law, j, 0)))
    elif rho > 0.0:
        n = three(law, j, 0)
        t = cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0))
        t = scale(1.0 / norm(t), t)
        path[j, FORM] = CONE
        put_three(path, j, SCALE, scale(rho / law[j, MU], n))
        put_three(path, j, SCALE + 3, scale(rho, t))
        put_three(path, j, SCALE + 6, scale(rho, cross(n, t)))


@helper
def open_path(island, sigma):
    """The path (m, WIDE) of an island, and the unit of velocities, the largest |S u₀|. It begins where x ∘ y = σ e and
    x - y is what it is for the island's λ and u."""
    m, size = len(island.kind), 0.0
    path = np.zeros((m, WIDE))
    for j in range(m):
        set_scale(island, path, j)
        size = max(size, norm(scaled(path, j, row(island.free, j))))
    size = size if size > 0.0 else 1.0
    for j in range(m):
        if path[j, FORM] == CONE:
            begin_cone(island, path, j, size, sigma)
        elif path[j, FORM] == RANGE:
            begin_range(island, path, j, size, sigma)
    return path, size


@helper
def half(s, sigma):
    """The t > 0 with t - σ/t = s"""
    r = math.sqrt(s * s + 4.0 * sigma)
    return 0.5 * (s + r) if s > 0.0 else 2.0 * sigma / (r - s)


@helper
def begin_cone(island, path, j, size, sigma):
    """x and y of a contact by the eigenvalues of x - y."""
    lam, u = scale(1.0 / size, row(island.lam, j)), scale(1.0 / size, scaled(path, j, row(island.u, j)))
    n, t, s = three(path, j, SCALE), three(path, j, SCALE + 3), three(path, j, SCALE + 6)
    z_n = dot(n, lam) / dot(n, n) - u[0] - math.sqrt(u[1] * u[1] + u[2] * u[2])
    z_1, z_2 = dot(t, lam) / dot(t, t) - u[1], dot(s, lam) / dot(s, s) - u[2]
    size = math.sqrt(z_1 * z_1 + z_2 * z_2)
    e_1, e_2 = (z_1 / size, z_2 / size) if size > 0.0 else (1.0, 0.0)
    for side in range(2):
        sign = 1.0 - 2.0 * side
        low, high = half(sign * (z_n - size), sigma), half(sign * (z_n + size), sigma)
        mean, off = 0.5 * (low + high), 0.5 * (high - low)
        put_three(path, j, X + 3 * side, (mean, off * e_1, off * e_2))


@helper
def begin_range(island, path, j, size, sigma):
    """x and y of a row block between bounds. One without width is IDLE."""
    unit, S = size * norm(three(path, j, SCALE)), three(path, j, SCALE)
    path[j, BOTTOM] /= unit
    path[j, TOP] /= unit
    low, high, x = path[j, BOTTOM], path[j, TOP], dot(S, row(island.lam, j)) / (dot(S, S) * size)
    u = dot(S, row(island.u, j)) / size
    if not low < high:
        path[j, FORM] = IDLE
        x = low
    elif low > -math.inf and high < math.inf:
        x = min(max(x, 0.9 * low + 0.1 * high), 0.1 * low + 0.9 * high)
        path[j, Y], path[j, Y + 1] = sigma / (x - low), sigma / (high - x)
    elif low > -math.inf:
        x = low + half(x - low - u, sigma)
        path[j, Y] = sigma / (x - low)
    elif high < math.inf:
        x = high - half(high - x + u, sigma)
        path[j, Y + 1] = sigma / (high - x)
    path[j, X] = x


# ------------------------------------------------------------------------------------------------ one round
@helper
def look(island, path, size):
    """λ, u and what is left of the equations at this x and y. Returns the largest of that, and x·y per contact."""
    for j in range(len(island.kind)):
        put(island.lam, j, scale(size, unscaled(path, j, three(path, j, X))))
    gather(island, island.lam, island.x)
    put_rows(island.u, island.free)
    add_velocity(island, island.x, island.u)
    worst, gap, count = 0.0, 0.0, 0
    for j in range(len(island.kind)):
        x, y, u = three(path, j, X), three(path, j, Y), scale(1.0 / size, scaled(path, j, row(island.u, j)))
        if path[j, FORM] == CONE:
            rest = sub(u, y)
            put_three(path, j, LEFT, (rest[0] + math.sqrt(y[1] * y[1] + y[2] * y[2]), rest[1], rest[2]))
            gap += dot(x, y)
            count += 1
        elif path[j, FORM] == RANGE:
            path[j, LEFT] = u[0] - y[0] + y[1]
            gap += room(x[0], path[j, BOTTOM]) * y[0] + room(path[j, TOP], x[0]) * y[1]
            count += 1
        elif path[j, FORM] == SPRING:
            put_three(path, j, LEFT, add(u, sym_vec(six(island.law, j, SOFT), x)))
        worst = max(worst, norm(three(path, j, LEFT)))
    return worst, gap / max(count, 1)


@helper
def room(above, below):
    """above - below; 0 where there is no bound, as its multiplier is 0 too."""
    return above - below if above - below < math.inf else 0.0


@helper
def part(y, space):
    """y/space; 0 where there is no bound"""
    return y / space if space < math.inf else 0.0


@helper
def weigh(path, j, a):
    """W a"""
    return sym_vec(six(path, j, WEIGHT), a)


@helper
def unweigh(path, j, a):
    """W⁻¹ a = η⁻² (1; -1; -1) W (a_n; -a_T)"""
    b, back = weigh(path, j, (a[0], -a[1], -a[2])), path[j, UNWEIGHT]
    return (back * b[0], -back * b[1], -back * b[2])


@helper
def straighten(path, j, a):
    """G_y⁻¹ a = a + n (y_T·a_T)/|y_T|"""
    return (a[0] + path[j, WAY] * a[1] + path[j, WAY + 1] * a[2], a[1], a[2])


@helper
def scale_cone(path, j):
    """Set the W of row block j. False where x or y is no longer inside."""
    x, y = three(path, j, X), three(path, j, Y)
    if not (x[0] > 0.0 and y[0] > 0.0 and determinant(x) > 0.0 and determinant(y) > 0.0):
        return False
    w, eta = nesterov_todd(x, y)
    part, slip = eta / (1.0 + w[0]), math.sqrt(y[1] * y[1] + y[2] * y[2])
    put_three(path, j, WEIGHT, scale(eta, w))
    put_three(path, j, WEIGHT + 3, (eta + part * w[1] * w[1], part * w[1] * w[2], eta + part * w[2] * w[2]))
    path[j, UNWEIGHT] = 1.0 / (eta * eta)
    path[j, WAY] = y[1] / slip if slip > 0.0 else 0.0
    path[j, WAY + 1] = y[2] / slip if slip > 0.0 else 0.0
    return True


@helper
def scale_block(island, path, j, D_out):
    """W of row block j, and its D in the coordinates of the island. False where x or y is no longer inside."""
    x, y, form = three(path, j, X), three(path, j, Y), path[j, FORM]
    for e in range(9):
        D_out[j, e] = 0.0
    if form == RANGE:
        above, below = x[0] - path[j, BOTTOM], path[j, TOP] - x[0]
        if not (above > 0.0 and below > 0.0):
            return False
        slope = part(y[0], above) + part(y[1], below)
        path[j, WEIGHT] = 1.0 / slope if slope > 0.0 else 0.0
        for k in range(3):
            for c in range(3):
                D_out[j, 3 * k + c] = path[j, WEIGHT] * path[j, SCALE + k] * path[j, SCALE + c]
    elif form == SPRING:
        k = sym_inverse(six(island.law, j, SOFT))
        put(D_out[:, 0:3], j, (k[0], k[1], k[2]))
        put(D_out[:, 3:6], j, (k[1], k[3], k[4]))
        put(D_out[:, 6:9], j, (k[2], k[4], k[5]))
    elif form == CONE:
        if not scale_cone(path, j):
            return False
        for c in range(3):
            column = straighten(path, j, (path[j, SCALE + c], path[j, SCALE + 3 + c], path[j, SCALE + 6 + c]))
            column = unscaled(path, j, weigh(path, j, weigh(path, j, column)))
            for k in range(3):
                D_out[j, 3 * k + c] = column[k]
    return True


@helper
def aim_block(island, path, j, sigma, second):
    """h = D b of row block j for the target σ, with dy the part of Δy that does not follow from Δx. second: 1 with the
    second-order term of the steps that dx and dy hold, else 0."""
    x, y, left = three(path, j, X), three(path, j, Y), three(path, j, LEFT)
    if path[j, FORM] == CONE:
        b = scale(-1.0, y)
        if second > 0.0:
            bend = jordan(unweigh(path, j, three(path, j, DX)), weigh(path, j, three(path, j, DY)))
            b = add(b, unweigh(path, j, jordan_solve(weigh(path, j, y), (sigma - bend[0], -bend[1], -bend[2]))))
        put_three(path, j, DY, b)
        put_three(path, j, AIM, weigh(path, j, weigh(path, j, sub(b, straighten(path, j, left)))))
    elif path[j, FORM] == RANGE:
        above, below, dx = x[0] - path[j, BOTTOM], path[j, TOP] - x[0], path[j, DX]
        first = part(sigma - second * dx * path[j, DY], above) - y[0]
        other = part(sigma + second * dx * path[j, DY + 1], below) - y[1]
        path[j, DY], path[j, DY + 1] = first, other
        path[j, AIM] = path[j, WEIGHT] * (first - other - left[0])
    elif path[j, FORM] == SPRING:
        put_three(path, j, AIM, sym_vec(sym_inverse(six(island.law, j, SOFT)), scale(-1.0, left)))


@helper
def step_block(island, path, j, along):
    """Δx and Δy of row block j, where the step changes its velocity by `along`, in the unit of velocities."""
    h, u = three(path, j, AIM), scaled(path, j, along)
    if path[j, FORM] == CONE:
        dx = sub(h, weigh(path, j, weigh(path, j, straighten(path, j, u))))
        put_three(path, j, DX, dx)
        put_three(path, j, DY, sub(three(path, j, DY), unweigh(path, j, unweigh(path, j, dx))))
    elif path[j, FORM] == RANGE:
        dx = h[0] - path[j, WEIGHT] * u[0]
        path[j, DX] = dx
        path[j, DY] -= part(path[j, Y], path[j, X] - path[j, BOTTOM]) * dx
        path[j, DY + 1] += part(path[j, Y + 1], path[j, TOP] - path[j, X]) * dx
    elif path[j, FORM] == SPRING:
        put_three(path, j, DX, sub(h, sym_vec(sym_inverse(six(island.law, j, SOFT)), u)))


@helper
def direction(island, sky, path, sigma, second, work, along):
    """Δx and Δy for the target σ; see `aim_block`. work (N,), along (m, 3): scratch."""
    for j in range(len(island.kind)):
        aim_block(island, path, j, sigma, second)
        put(along, j, unscaled(path, j, three(path, j, AIM)))
    gather(island, along, work)
    solve_skyline(sky, work)
    along[:] = 0.0
    add_velocity(island, work, along)
    for j in range(len(island.kind)):
        step_block(island, path, j, row(along, j))


@helper
def furthest(path):
    """The largest t with x + t Δx and y + t Δy inside for all row blocks."""
    t = math.inf
    for j in range(len(path)):
        if path[j, FORM] == CONE:
            t = min(t, reach(three(path, j, X), three(path, j, DX)), reach(three(path, j, Y), three(path, j, DY)))
        elif path[j, FORM] == RANGE:
            x, dx = path[j, X], path[j, DX]
            if dx != 0.0:
                t = min(t, (path[j, BOTTOM] - x) / dx if dx < 0.0 else (path[j, TOP] - x) / dx)
            for side in range(2):
                if path[j, DY + side] < 0.0:
                    t = min(t, -path[j, Y + side] / path[j, DY + side])
    return t


@helper
def follow_path(island, sky, wrong):
    """Go along the central path from near the island's λ; λ becomes the best that was met there. wrong: natural map of
    λ, relative to the largest velocity without impulses. Returns the rounds made."""
    m = len(island.kind)
    path, size = open_path(island, min(max(wrong, BEGIN), 1.0))
    D, work, wide = np.zeros((m, 9)), np.zeros(len(island.x)), np.zeros((3, len(island.x)))
    along, good, best, least, at, short, done = np.zeros((m, 3)), island.lam.copy(), math.inf, math.inf, 0, 0, 0
    for done in range(ROUNDS + 1):
        worst, gap = look(island, path, size)
        miss = worst_of(island, island.u)
        if miss < best:
            best, at = miss, done
            put_rows(good, island.lam)
        if max(worst, gap) < least:
            least, at = max(worst, gap), done
        if done == ROUNDS or least < HANDOVER or done - at > IN_VAIN or short > 2:
            break
        inside = True
        for j in range(m):
            inside = inside and scale_block(island, path, j, D)
        if not inside:
            break
        set_identity(sky)
        add_products(island, D, wide, sky)
        if not factor_skyline(sky):
            break
        direction(island, sky, path, 0.0, 0.0, work, along)
        t = min(1.0, furthest(path))
        direction(island, sky, path, gap * (1.0 - t) ** 3, 1.0, work, along)
        t = min(1.0, NEARLY * furthest(path))
        if not t > 0.0:
            break
        short = short + 1 if t < SHORT else 0
        for j in range(m):
            for k in range(3):
                path[j, X + k] += t * path[j, DX + k]
                path[j, Y + k] += t * path[j, DY + k]
    put_rows(island.lam, good)
    return done
