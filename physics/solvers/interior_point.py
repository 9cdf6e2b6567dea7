"""An interior-point method for contacts with Coulomb friction, ended by nonsmooth Newton steps.

With De Saxcé's shift the laws are K* ∋ û = M λ + d + μ|u_T| n ⊥ λ ∈ K. Stretching the normal axis by μ makes both cones
the second-order cone Q:  x = (μ λ_n, λ_T),  y = (û_n/μ, u_T),

    y = P x + q + |y_T| n,    x ∈ Q,  y ∈ Q,  x ∘ y = 0          (∘ Jordan's product: (x·y, x_n y_T + y_n x_T))

x ∘ y = 0 is approached through x ∘ y = σ e by Newton's method, in the scaling W of Nesterov and Todd, W y = W⁻¹ x = v:

    P Δx - G Δy = -r,   G = 1 - n y_Tᵀ/|y_T|,   v ∘ (W⁻¹ Δx + W Δy) = σ e - v ∘ v - (W⁻¹ Δx' ∘ W Δy')

Primed are the steps of a predictor with σ = 0, which also gives σ.
[Acary, Armand & Nguyen 2023; Mehrotra 1992; Nesterov & Todd 1998]
About a dozen rounds are needed, whether contacts are redundant or not.

The solution x lies on the boundary of Q, where the scaling loses digits. There Newton's method on the natural map
λ - P_K(λ - û) = 0 converges quadratically; redundant forces get the smallest correction. [Alart & Curnier 1991]

Redundant contacts may contradict each other by rounding, or by as much as their gaps were found to. Where neither ends,
contacts yield by ε (λ - c), which makes forces unique, and c = λ follows, the proximal point [Rockafellar 1976].
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array
from ..core.vec import put, row
from ..laws.contact import project_cone
from ..problem.problem import ContactProblem, SolveInfo
from .cone import ConeSolver, ScaledCone, scaled_cone, with_tangents
from .lcp_info import PivotStep
from .linear import lu_factor, lu_solve

INTERIOR_ROUNDS = 60    # most rounds, where no limit is given
HANDOVER = 1e-14        # x·y and residual at which Newton's method takes over; it also does where no progress is made
SMOOTH_FRICTION = 1e-6  # μ below which a contact counts as smooth until Newton's method takes over
ENDLESS_STEP = 1e13     # length of a step at which the method gives up: there is no solution
CONE_NEWTON_STEPS = 20  # most steps of Newton's method on the natural map
MANY_EQUATIONS = 300    # more equations than this: a step need not be the smallest one, which takes five times as long
DIAGONAL_SHIFT = 1e-9   # added to the diagonal of so many equations, against singularity by redundant contacts
YIELDS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # ε of contacts that yield, one after the other; scaled problem
YIELDINGS = 10          # most λ that are found for one ε
SOLVED_MAP = 1e-11      # natural map that counts as solved, relative to the largest |d|; scaled problem


# ------------------------------------------------------------------------------------------------ the cone's algebra
@helper
def determinant(a):
    """a_n² - |a_T|²"""
    t = math.hypot(a[1], a[2])
    return (a[0] - t) * (a[0] + t)


@helper
def jordan(a, b):
    """a ∘ b"""
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2])


@helper
def jordan_solve(a, b):
    """x with a ∘ x = b"""
    n = (a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / determinant(a)
    return (n, (b[1] - n * a[1]) / a[0], (b[2] - n * a[2]) / a[0])


@helper
def reach(a, step):
    """The largest t with a + t step in Q."""
    A = determinant(step)
    B = 2.0 * (a[0] * step[0] - a[1] * step[1] - a[2] * step[2])
    C = determinant(a)
    best = -a[0] / step[0] if step[0] < 0.0 else math.inf
    inside = B * B - 4.0 * A * C
    if inside >= 0.0:
        s = -0.5 * (B + (math.sqrt(inside) if B >= 0.0 else -math.sqrt(inside)))
        for t in (s / A if A != 0.0 else math.inf, C / s if s != 0.0 else math.inf):
            if 0.0 < t < best:
                best = t
    return best


@helper
def nesterov_todd(x, y):
    """w, η of W = η (w_n w_Tᵀ; w_T 1 + w_T w_Tᵀ/(1 + w_n)), det w = 1, with W y = W⁻¹ x"""
    dx, dy = math.sqrt(determinant(x)), math.sqrt(determinant(y))
    x0, x1, x2 = x[0] / dx, x[1] / dx, x[2] / dx
    y0, y1, y2 = y[0] / dy, y[1] / dy, y[2] / dy
    twice = 2.0 * math.sqrt(0.5 * (1.0 + x0 * y0 + x1 * y1 + x2 * y2))
    return ((x0 + y0) / twice, (x1 - y1) / twice, (x2 - y2) / twice), math.sqrt(dx / dy)


@helper
def weigh(w, eta, a):
    """W a"""
    along = w[1] * a[1] + w[2] * a[2]
    rest = a[0] + along / (1.0 + w[0])
    return (eta * (w[0] * a[0] + along), eta * (a[1] + rest * w[1]), eta * (a[2] + rest * w[2]))


@helper
def unweigh(w, eta, a):
    """W⁻¹ a"""
    return weigh((w[0], -w[1], -w[2]), 1.0 / eta, a)


@helper
def lean(y, a):
    """G a = a - n (y_T·a_T)/|y_T|"""
    t = math.hypot(y[1], y[2])
    if t == 0.0:
        return a
    return (a[0] - (y[1] * a[1] + y[2] * a[2]) / t, a[1], a[2])


# ------------------------------------------------------------------------------------------------ one round
@kernel
def residual_of(P, q, x, y, r_out):
    """r = P x + q + |y_T| n - y; returns the largest |r| and x·y per contact."""
    worst, gap = 0.0, 0.0
    c = len(x)
    for i in range(c):
        for j in range(3):
            total = q[3 * i + j] - y[i, j]
            for k in range(c):
                for l in range(3):
                    total += P[3 * i + j, 3 * k + l] * x[k, l]
            r_out[i, j] = total
            gap += x[i, j] * y[i, j]
        r_out[i, 0] += math.hypot(y[i, 1], y[i, 2])
        for j in range(3):
            worst = max(worst, abs(r_out[i, j]))
    return worst, gap / max(c, 1)


@kernel
def scale_and_factor(P, x, y, W_out, v_out, K_out, order_out):
    """W (c, 4) = w, η; v = W y; the LU factors of K = P + G W⁻². False where x or y is no longer inside Q."""
    n = len(P)
    for i in range(n):
        for j in range(n):
            K_out[i, j] = P[i, j]
    for i in range(len(x)):
        p, u = row(x, i), row(y, i)
        if not (p[0] > 0.0 and u[0] > 0.0 and determinant(p) > 0.0 and determinant(u) > 0.0):
            return False
        w, eta = nesterov_todd(p, u)
        W_out[i, 0], W_out[i, 1], W_out[i, 2], W_out[i, 3] = w[0], w[1], w[2], eta
        put(v_out, i, weigh(w, eta, u))
        for j in range(3):
            e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            column = lean(u, unweigh(w, eta, unweigh(w, eta, e)))
            for k in range(3):
                K_out[3 * i + k, 3 * i + j] += column[k]
    return lu_factor(K_out, order_out)


@helper
def direction(r, y, W, v, K, order, sigma, first, step_out, work):
    """Δx, Δy for the target σ e, in step_out (2, c, 3). first: the predictor, without the second-order term; otherwise
    step_out holds the predictor's steps on entry."""
    dx, dy = step_out[0], step_out[1]
    for i in range(len(y)):
        w, eta, v_i = (W[i, 0], W[i, 1], W[i, 2]), W[i, 3], row(v, i)
        square = jordan(v_i, v_i)
        right = (sigma - square[0], -square[1], -square[2])
        if not first:
            bend = jordan(unweigh(w, eta, row(dx, i)), weigh(w, eta, row(dy, i)))
            right = (right[0] - bend[0], right[1] - bend[1], right[2] - bend[2])
        b = unweigh(w, eta, jordan_solve(v_i, right))
        put(dy, i, b)
        leaned = lean(row(y, i), b)
        for j in range(3):
            work[3 * i + j] = leaned[j] - r[i, j]
    lu_solve(K, order, work)
    for i in range(len(y)):
        w, eta = (W[i, 0], W[i, 1], W[i, 2]), W[i, 3]
        step = (work[3 * i], work[3 * i + 1], work[3 * i + 2])
        put(dx, i, step)
        back = unweigh(w, eta, unweigh(w, eta, step))
        put(dy, i, (dy[i, 0] - back[0], dy[i, 1] - back[1], dy[i, 2] - back[2]))


@helper
def furthest(x, y, dx, dy):
    """The largest t with x + t Δx and y + t Δy in Q for all contacts."""
    t = math.inf
    for i in range(len(x)):
        t = min(t, min(reach(row(x, i), row(dx, i)), reach(row(y, i), row(dy, i))))
    return t


@kernel
def interior_point(P, q, rounds, near, x, y):
    """Go on from the given x and y (c, 3), inside Q, until residual and x·y are below `near`, no progress is made or
    `rounds` are done. Returns the rounds made."""
    c, n = len(x), len(P)
    r, v, step = np.empty((c, 3)), np.empty((c, 3)), np.empty((2, c, 3))
    dx, dy = step[0], step[1]
    W, K, order, work = np.empty((c, 4)), np.empty((n, n)), np.empty(n, np.int32), np.empty(n)
    done, short = 0, 0
    while done < rounds and short < 3:
        worst, gap = residual_of(P, q, x, y, r)
        if worst < near and gap < near:
            break
        if not scale_and_factor(P, x, y, W, v, K, order):
            break
        direction(r, y, W, v, K, order, 0.0, True, step, work)
        t = min(1.0, furthest(x, y, dx, dy))
        direction(r, y, W, v, K, order, gap * (1.0 - t) ** 3, False, step, work)
        t = min(1.0, 0.99 * furthest(x, y, dx, dy))
        if not (t > 0.0 and np.abs(dx).max() + np.abs(dy).max() < ENDLESS_STEP):
            break
        for i in range(c):
            for j in range(3):
                x[i, j] += t * dx[i, j]
                y[i, j] += t * dy[i, j]
        short = short + 1 if t < 1e-2 else 0
        done += 1
    return done


# ------------------------------------------------------------------------------------------------ Newton's end
def natural(data: ScaledCone, lam: Array) -> tuple[Array, Array, Array]:
    """λ - P_K(λ - û) of a scaled problem (3 c,), the projection's argument λ - û (c, 3), and u (c, 3)."""
    u = (data.M @ lam + data.d).reshape(-1, 3)
    shifted = lam.reshape(-1, 3) - u
    shifted[:, 0] -= data.friction * np.hypot(u[:, 1], u[:, 2])
    projected = np.empty_like(shifted)
    project_cone(shifted, data.friction, projected)
    return lam - projected.ravel(), shifted, u


def natural_slope(data: ScaledCone, shifted: Array, u: Array) -> Array:
    """A generalized Jacobian (3 c, 3 c) of the natural map: 1 - P'(1 - M - μ n u_Tᵀ/|u_T| M)."""
    c, mu = len(u), data.friction
    slip = np.hypot(u[:, 1], u[:, 2])
    inner = -data.M.reshape(c, 3, 3 * c)
    along = np.einsum("ij,ijk->ik", u[:, 1:] / np.where(slip > 0.0, slip, 1.0)[:, None], inner[:, 1:])
    inner[:, 0] += mu[:, None] * along
    i = np.arange(c)
    for j in range(3):
        inner[i, j, 3 * i + j] += 1.0
    normal, size = shifted[:, 0], np.hypot(shifted[:, 1], shifted[:, 2])
    slope = np.zeros((c, 3, 3))
    slope[size <= mu * normal] = np.eye(3)
    rim = (size > mu * normal) & (mu * size > -normal)
    e, m = shifted[rim, 1:] / size[rim, None], mu[rim]
    gradient = np.column_stack([np.ones(len(m)), m[:, None] * e]) / (1.0 + m * m)[:, None]  # of P_n
    slope[rim, 0] = gradient
    turn = m * (m * size[rim] + normal[rim]) / ((1.0 + m * m) * size[rim])
    slope[rim, 1:] = m[:, None, None] * e[:, :, None] * gradient[:, None, :]
    slope[rim, 1:, 1:] += turn[:, None, None] * (np.eye(2) - e[:, :, None] * e[:, None, :])
    return np.eye(3 * c) - np.einsum("ijk,ikl->ijl", slope, inner).reshape(3 * c, 3 * c)


def newton_step(slope: Array, miss: Array) -> Array:
    """The smallest step with slope step = -miss. Of many equations nearly the smallest, where that is accurate."""
    if len(miss) > MANY_EQUATIONS:
        step = np.asarray(np.linalg.solve(slope + DIAGONAL_SHIFT * np.eye(len(miss)), -miss), np.float64)
        if np.abs(slope @ step + miss).max() <= 1e-3 * np.abs(miss).max():
            return step
    from scipy.linalg import lstsq  # when it is first needed: it takes long to load

    return -1.0 * lstsq(slope, miss, 1e-11, lapack_driver="gelsy")[0]  # pyright: ignore


def newton(data: ScaledCone, lam: Array) -> tuple[Array, float, int]:
    """Newton's method on the natural map from lam (3 c,): the last λ, its largest |natural map|, and the steps."""
    miss, shifted, u = natural(data, lam)
    norm = float(np.linalg.norm(miss))
    done = 0
    while done < CONE_NEWTON_STEPS:
        if norm <= 1e-15 * math.sqrt(len(lam)):
            break
        slope = natural_slope(data, shifted, u)
        step = newton_step(slope, miss)
        t = 1.0
        while t > 1e-3:
            tried = natural(data, lam + t * step)
            size = float(np.linalg.norm(tried[0]))
            if size <= (1.0 - 1e-4 * t) * norm:
                break
            t *= 0.5
        else:
            break
        lam, norm, done = lam + t * step, size, done + 1
        miss, shifted, u = tried
    return lam, float(np.max(np.abs(miss), initial=0.0)), done


def newton_with_slides(problem: ContactProblem, slides: NDArray[np.bool_], slip: Array, lam: Array) -> Array | None:
    """λ (3 c,) of contacts of which some slide already, towards slip (c, 2). Of a sliding contact only λ_n is unknown,
    since λ_T = -μ λ_n slip, and min(λ_n, u_n) = 0. lam is the first guess; None: no convergence."""
    data, c = scaled_cone(problem), problem.contact_count
    single = slides | (data.friction == 0.0)
    rows = np.flatnonzero(np.repeat(~single, 3) | (np.arange(3 * c) % 3 == 0))  # of the unknowns
    alone = np.flatnonzero(single[rows // 3])
    k = rows[alone] // 3
    spread = np.zeros((3 * c, len(rows)))
    spread[rows, np.arange(len(rows))] = 1.0
    for i in range(2):
        spread[3 * k + 1 + i, alone] = -data.friction[k] * slip[k, i]

    def wrong(x: Array) -> tuple[Array, Array, Array]:
        """Residual of the laws (m,), then λ - û and u (c, 3) for `natural_slope`."""
        miss, shifted, u = natural(data, spread @ x)
        miss = miss[rows]
        miss[alone] = np.minimum(x[alone], u[k, 0])
        return miss, shifted, u

    x = lam[rows] / (data.scale[rows] * data.size)
    miss, shifted, u = wrong(x)
    for _ in range(CONE_NEWTON_STEPS):
        if np.abs(miss).max() <= SOLVED_MAP:
            return data.restore(spread @ x)
        slope = (natural_slope(data, shifted, u) @ spread)[rows]
        slope[alone] = np.where((x[alone] < u[k, 0])[:, None], np.eye(len(x))[alone], data.M[3 * k] @ spread)
        step = newton_step(slope, miss)
        t, norm = 1.0, np.linalg.norm(miss)
        while np.linalg.norm(wrong(x + t * step)[0]) > (1.0 - 1e-4 * t) * norm:
            t *= 0.5
            if t < 1e-3:
                return None
        x = x + t * step
        miss, shifted, u = wrong(x)
    return None


class InteriorPoint(ConeSolver):
    """SOLVERS["interior_point"]."""

    name = "interior_point"
    title = "Interior point (exact cone)"

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """Newton's method alone improves a lam that is nearly a solution; any other guess is ignored. tolerance
        [unit of d]; a violation that rounding explains counts as solved anyway."""
        data = scaled_cone(with_tangents(problem))
        rows = slice(None, None, 3 // problem.dimension)
        guess = np.zeros(len(data.d))
        guess[rows] = lam
        guess /= data.scale * data.size
        enough = SOLVED_MAP + tolerance * float(np.min(data.scale, initial=np.inf)) / data.size
        best, miss, rounds = newton(data, guess) if guess.any() else (guess, np.inf, 0)
        for way in (from_inside, yielding):
            if not (miss <= enough or (iterations and rounds >= iterations)):
                found, left, done = way(data, best, iterations or INTERIOR_ROUNDS)
                rounds += done
                if left < miss:
                    best, miss = found, left
        lam[:] = data.restore(best)[rows]
        change = float(np.max(np.abs(miss * data.size / data.scale), initial=0.0))
        basic = np.flatnonzero(lam).astype(np.int32)
        return SolveInfo("solved" if miss <= enough else "stuck", rounds, change, 0, basic)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The rounds of the interior-point method, which ignores lam; the last step includes Newton's method."""
        data = scaled_cone(with_tangents(problem))
        rows = slice(None, None, 3 // problem.dimension)
        path = _Inside(data)
        done, number = False, 0
        while not done:
            number += 1
            done = path.run(1) == 0 or number == (iterations or INTERIOR_ROUNDS)
            force, note = path.lam(), f"x·y = {path.gap():.3g}"
            if done:
                force, miss, steps = newton(data, force)
                note = f"{steps} steps of Newton's method, natural map {miss:.3g}"
            given = data.restore(force)[rows]
            yield PivotStep(number, "", "", np.flatnonzero(given).astype(np.int32), given,
                            problem.M @ given + problem.d, note)


class _Inside:
    """The interior-point method on a scaled problem."""

    def __init__(self, data: ScaledCone) -> None:
        c = len(data.friction)
        rough = data.friction > SMOOTH_FRICTION
        stretch = np.zeros((c, 3))
        stretch[:, 0] = 1.0 / np.where(rough, data.friction, 1.0)
        stretch[rough, 1:] = 1.0
        self.stretch = stretch.ravel()
        self.P = self.stretch[:, None] * data.M * self.stretch + np.diag(np.where(self.stretch == 0.0, 1.0, 0.0))
        q = self.stretch * data.d
        self.size = float(np.max(np.abs(q), initial=0.0)) or 1.0
        self.q = q / self.size
        self.x, self.y = np.zeros((c, 3)), np.zeros((c, 3))
        self.x[:, 0] = self.y[:, 0] = 1.0

    def run(self, rounds: int) -> int:
        """Go on by at most so many rounds; returns how many were made."""
        return int(interior_point(self.P, self.q, rounds, HANDOVER, self.x, self.y))

    def gap(self) -> float:
        """x·y per contact."""
        return float((self.x * self.y).sum()) / max(len(self.x), 1)

    def lam(self) -> Array:
        """λ (3 c,) of the scaled problem."""
        return self.size * self.stretch * self.x.ravel()


def from_inside(data: ScaledCone, _: Array, most: int) -> tuple[Array, float, int]:
    """λ (3 c,) of a scaled problem, its largest |natural map|, and the rounds taken, at most so many of them inside."""
    path = _Inside(data)
    made = path.run(most)
    found, miss, steps = newton(data, path.lam())
    return found, miss, made + steps


def yielding(data: ScaledCone, lam: Array, most: int) -> tuple[Array, float, int]:
    """The same from contacts that yield, from lam on, as far as that leads."""
    rounds = 0
    for eps in YIELDS:
        left = math.inf
        for _ in range(YIELDINGS):
            soft = data._replace(M=data.M + eps * np.eye(len(lam)), d=data.d - eps * lam)
            found, miss, done = from_inside(soft, lam, most)
            rounds += done
            if miss > SOLVED_MAP:
                break
            before, left, lam = left, eps * float(np.abs(found - lam).max()), found
            if left <= SOLVED_MAP:
                found, miss, done = newton(data, lam)
                return found, miss, rounds + done
            if left >= before:
                break
    return lam, math.inf, rounds
