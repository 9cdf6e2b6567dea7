"""Runge–Kutta steps of free bodies and trees over any tableau, and evaluation between the ends of a step."""

import math
from dataclasses import dataclass, field

import numpy as np

from ..books.ledger import Books
from ..core.jit import helper, kernel, program
from ..core.model import DYNAMIC, Array, Model, body_count
from ..core.state import LEDGER, NO_COORDINATES, Bodies, JointState
from ..core.vec import put, put4, quat_unit
from ..dynamics.forces import Loads
from ..dynamics.free_body import Y_SIZE, dydt, pack, velocity_from_momentum
from ..dynamics.motion import any_driven, drive
from ..dynamics.trees.kinematics import place_links
from ..dynamics.trees.rates import combine_links, empty_joints, link_error, link_rates, pack_links
from .midpoint import empty_flight_scratch, midpoint_step
from .tableau import Integrator

# local error of adaptive steps, relative to the quantity or, where that is greater, to 1 m for x, 1 for q, m · 1 m/s
# for P and I · 1 rad/s for L
TOLERANCE = 1e-12
SMALLEST_SUBSTEP = 1e-6   # relative to the step; accepted whatever its error
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # of `step_factor`


@helper
def combine(kind, weights_x, weights_p, stages, h, y0, k, bodies_out):
    """Y = y_0 + h Σ_j w_j k_j over the first `stages` stages, with the quaternion made a unit one again.

    The rate is thereby taken at q/|q| everywhere: a smooth extension of q̇ = ½ ω q off the unit sphere, which keeps the
    order of the tableau, as does the projection at the end of the step.
    """
    for i in range(len(kind)):
        put4(bodies_out.q, i, (y0[i, 3], y0[i, 4], y0[i, 5], y0[i, 6]))
        if kind[i] != DYNAMIC:
            put(bodies_out.v, i, (0.0, 0.0, 0.0))
            put(bodies_out.w, i, (0.0, 0.0, 0.0))
        for j in range(3):
            x, p, l = 0.0, 0.0, 0.0
            for s in range(stages):
                x += weights_x[s] * k[s, i, j]
                p += weights_p[s] * k[s, i, 7 + j]
                l += weights_p[s] * k[s, i, 10 + j]
            bodies_out.x[i, j] = y0[i, j] + h * x
            bodies_out.P[i, j] = y0[i, 7 + j] + h * p
            bodies_out.L[i, j] = y0[i, 10 + j] + h * l
        if kind[i] == DYNAMIC:
            q = (0.0, 0.0, 0.0, 0.0)
            for s in range(stages):
                w = weights_x[s]
                q = (q[0] + w * k[s, i, 3], q[1] + w * k[s, i, 4], q[2] + w * k[s, i, 5], q[3] + w * k[s, i, 6])
            put4(bodies_out.q, i, quat_unit(
                (y0[i, 3] + h * q[0], y0[i, 4] + h * q[1], y0[i, 5] + h * q[2], y0[i, 6] + h * q[3])))


@helper
def group_error(error, k, i, first, last, h, y0, floor):
    """|h Σ_s e_s k_s| / max(|y_0|, floor) over columns first … last - 1 of body i"""
    size2, error2 = 0.0, 0.0
    for j in range(first, last):
        e = 0.0
        for s in range(len(error)):
            e += error[s] * k[s, i, j]
        error2 += h * h * e * e
        size2 += y0[i, j] * y0[i, j]
    return math.sqrt(error2) / max(math.sqrt(size2), floor)


@helper
def local_error(model, error, h, y0, k):
    """Largest local error of a step over bodies and over x, q, P, L, relative as TOLERANCE says."""
    largest = 0.0
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC:
            moment = max(model.inertia[i, 0], max(model.inertia[i, 1], model.inertia[i, 2]))
            x = group_error(error, k, i, 0, 3, h, y0, 1.0)
            q = group_error(error, k, i, 3, 7, h, y0, 1.0)
            p = group_error(error, k, i, 7, 10, h, y0, model.mass[i])
            l = group_error(error, k, i, 10, 13, h, y0, moment if moment > 0.0 else model.mass[i])  # 0 of a particle
            if not math.isfinite(x + q + p + l):
                return math.nan
            largest = max(max(largest, max(x, q)), max(p, l))
    return largest


@helper
def combine_all(model, t, weights, h, y0, k, work, bodies_out, q_out, v_out):
    """Write Y = y_0 + h Σ_j w_j k_j over as many stages as the weights (j,) of positions and of momenta have: free
    bodies, the coordinates q_out, v_out of links, the links as bodies, and bodies with a prescribed motion at the time
    t [s], for links may stand on them."""
    weights_x, weights_p = weights
    combine(model.kind, weights_x, weights_p, len(weights_x), h, y0, k, bodies_out)
    drive(model, t, bodies_out)
    if len(model.trees.body) > 0:
        combine_trees(model, weights_x, weights_p, h, y0, k, work, bodies_out, q_out, v_out)


@kernel
def combine_trees(model, weights_x, weights_p, h, y0, k, work, bodies_out, q_out, v_out) -> None:
    """What `combine_all` does for links, where those they stand on have been driven."""
    combine_links(model.trees, weights_x, weights_p, len(weights_x), h, y0, k, q_out, v_out)
    place_links(model, q_out, v_out, work, bodies_out)


@helper
def end_step(model, tableau, t, h, y0, k, work, bodies_out, q_out, v_out):
    """Write the bodies and the coordinates of links at t + h, once all stages k (s, n, 13) are there:
    y_1 = y_0 + h Σ_i b_i k_i. Returns the largest relative local error."""
    combine_all(model, t + h, (tableau.b_x, tableau.b_p), h, y0, k, work, bodies_out, q_out, v_out)
    velocity_from_momentum(model, bodies_out)
    return relative_error(model, tableau, h, y0, k)


@helper
def relative_error(model, tableau, h, y0, k):
    """Largest relative local error of a step, nan where it is not finite."""
    error = local_error(model, tableau.error, h, y0, k)
    of_links = link_error(model.trees, tableau.error, h, y0, k)
    return max(error, of_links) if math.isfinite(error + of_links) else math.nan


@kernel
def rates_of_trees(model, loads, t, force, torque, scratch, ydot_out) -> None:
    """See `link_rates`."""
    link_rates(model, loads, t, force, torque, scratch, ydot_out)


@program
def runge_kutta_step(model, loads, tableau, t, h, y0, k_out, flight, bodies_out, joints_out) -> float:
    """One step of any explicit tableau from y0 (n, 13) at t [s] over h [s]; returns the largest relative local error.

    Writes the stages k_out (s, n, 13), the bodies at t + h and the coordinates of links; `flight` is scratch.
    """
    stage, trees, force, torque = flight.stage, flight.trees, flight.force, flight.torque
    linked, carried = len(model.trees.body) > 0, len(model.trees.driven) > 0
    for i in range(len(tableau.c)):
        a_x, a_p = tableau.a_x[i, :i], tableau.a_p[i, :i]
        combine(model.kind, a_x, a_p, i, h, y0, k_out, stage)
        if carried:
            drive(model, t + tableau.c[i] * h, stage)
        if linked:
            combine_trees(model, a_x, a_p, h, y0, k_out, trees.work, stage, trees.q, trees.v)
        dydt(model, loads, t + tableau.c[i] * h, stage, force, torque, k_out[i])  # k_i = f(Y_i, t_0 + c_i h)
        if linked:
            rates_of_trees(model, loads, t + tableau.c[i] * h, force, torque, trees, k_out[i])
    b_x, b_p = tableau.b_x, tableau.b_p
    combine(model.kind, b_x, b_p, len(b_x), h, y0, k_out, bodies_out)
    if any_driven(model.kind):
        drive(model, t + h, bodies_out)
    if linked:
        combine_trees(model, b_x, b_p, h, y0, k_out, trees.work, bodies_out, joints_out.q, joints_out.v)
    velocity_from_momentum(model, bodies_out)
    return relative_error(model, tableau, h, y0, k_out)


@helper
def dense_weights(dense, delta, weights_out):
    """B_i(δ) = Σ_m dense[i, m] δ^(m + 1) of all stages   [RBDA 11.46]"""
    for i in range(dense.shape[0]):
        weights_out[i] = 0.0
        for m in range(dense.shape[1] - 1, -1, -1):
            weights_out[i] = delta * (weights_out[i] + dense[i, m])


@kernel
def dense_output(model, tableau, t, h, y0, k, delta, work, bodies_out, joints_out):
    """Bodies and links' coordinates at t + delta h of a finished step:  y(δ) = y_0 + h Σ_i B_i(δ) k_i   [RBDA 11.46]"""
    weights_x, weights_p = np.zeros(len(tableau.c)), np.zeros(len(tableau.c))
    dense_weights(tableau.dense_x, delta, weights_x)
    dense_weights(tableau.dense_p, delta, weights_p)
    weights = weights_x, weights_p
    combine_all(model, t + delta * h, weights, h, y0, k, work, bodies_out, joints_out.q, joints_out.v)
    velocity_from_momentum(model, bodies_out)


@dataclass
class Segment:
    """One accepted (sub)step: what dense output needs."""

    t: float   # [s] at its start
    h: float   # [s]
    y0: Array  # (n, 13)
    k: Array   # (s, n, 13)


@dataclass
class Dense:
    """The course of the last step between its ends, and the scratch arrays of stepping. Make one per model."""

    model: Model
    integrator: Integrator | None = None
    t: float = 0.0
    h: float = 0.0
    count: int = 0     #: substeps of the last step (1 unless the integrator is adaptive)
    rejected: int = 0  #: substeps that were tried and not accepted
    segments: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.flight, self.ends = empty_flight_scratch(self.model), empty_joints(self.model.trees)
        self.ledger, self.given = np.zeros(LEDGER), np.zeros((0, 6))  # of steps that nobody books

    def begin(self, integrator: Integrator, t: float, h: float) -> None:
        if integrator is not self.integrator:
            self.segments.clear()
        self.integrator, self.t, self.h = integrator, t, h
        self.count = self.rejected = 0

    def segment(self, row: int) -> Segment:
        """Storage of substep `row`, made when first needed."""
        assert self.integrator is not None
        if row == len(self.segments):
            n, stages = body_count(self.model), len(self.integrator.tableau.c)
            self.segments.append(Segment(0.0, 0.0, np.zeros((n, Y_SIZE)), np.zeros((stages, n, Y_SIZE))))
        return self.segments[row]


def integrate(
    integrator: Integrator, model: Model, loads: Loads, t: float, h: float, bodies_in: Bodies, bodies_out: Bodies,
    dense: Dense, joints: tuple[JointState, JointState] = (NO_COORDINATES, NO_COORDINATES),
    books: tuple[Books, Array] | None = None,
) -> int:
    """Advance all bodies from t [s] by h [s] under gravity, springs and loads, contacts left out; returns the number of
    substeps. `dense` then describes the course between (`dense_eval`). bodies_out may be bodies_in.

    An adaptive integrator starts every step afresh with the whole h, so that results depend on the state alone.
    With an adaptive integrator, raises FloatingPointError where the motion is not finite.

    A model with links needs their coordinates before the step and after it, `joints`; both may be the same.

    After a step of an implicit integrator `dense_eval` cannot be used.

    books = (books, ledger), where given: the work and the momenta of all that acts are entered there, evaluated at the
    middle of every substep.
    """
    dense.begin(integrator, t, h)
    joints_in, joints_out = joints
    if integrator.implicit:
        if bodies_out is not bodies_in:
            for source, target in zip((*bodies_in, *joints_in), (*bodies_out, *joints_out), strict=True):
                np.copyto(target, source)
        ledger, given = (dense.ledger, dense.given) if books is None else (books[1], books[0].given)
        return midpoint_step(model, loads, t, h, bodies_out, joints_out, dense.flight, ledger, given)
    done, substep, source, coordinates = 0.0, h, bodies_in, joints_in
    while dense.count == 0 or done < h:
        segment = dense.segment(dense.count)
        pack(source, segment.y0)
        pack_links(model.trees, *coordinates, segment.y0)
        segment.t, segment.h = t + done, substep
        error = _step(integrator, model, loads, segment, bodies_out, joints_out, dense)
        source, coordinates = bodies_out, joints_out
        if not integrator.adaptive:
            dense.count = 1
            break
        while (error > 1.0 and segment.h > SMALLEST_SUBSTEP * h) or not math.isfinite(error):
            if segment.h < SMALLEST_SUBSTEP * h:
                raise FloatingPointError("the motion of a body is not finite")
            segment.h = substep = segment.h * step_factor(error, integrator.order)
            dense.rejected += 1
            error = _step(integrator, model, loads, segment, bodies_out, joints_out, dense)
        dense.count += 1
        done += segment.h
        rest = h - done
        substep = min(substep * step_factor(error, integrator.order), rest)
        if rest - substep < SMALLEST_SUBSTEP * h:  # no sliver at the end
            substep = rest
        if rest <= 1e-15 * h:
            break
    if books is not None:
        for segment in dense.segments[: dense.count]:
            _enter(dense, segment, loads, *books)
    return dense.count


def _enter(dense: Dense, s: Segment, loads: Loads, books: Books, ledger: Array) -> None:
    """Enter in the books what acts over a substep, evaluated at its middle."""
    middle, ends = dense.flight.stage, dense.ends
    assert dense.integrator is not None
    dense_output(dense.model, dense.integrator.tableau, s.t, s.h, s.y0, s.k, 0.5, dense.flight.trees.work, middle, ends)
    books.forces(loads, middle, middle, s.h, ledger)
    books.joints(loads, ends.v, s.h, ledger)


def _step(
    integrator: Integrator, model: Model, loads: Loads, segment: Segment, out: Bodies, joints_out: JointState,
    dense: Dense,
) -> float:
    """Make one substep from segment.y0; returns its local error in units of TOLERANCE."""
    s = segment
    return runge_kutta_step(
        model, loads, integrator.tableau, s.t, s.h, s.y0, s.k, dense.flight, out, joints_out) / TOLERANCE


def step_factor(error: float, order: int) -> float:
    """By which factor to change the length of a step whose local error, relative to the tolerance, is `error`:
    0.9 error^(-1/order), from 0.2 to 5; 0.2 where the error is not finite   [Hairer, Nørsett & Wanner, eq. II.4.13]"""
    if not math.isfinite(error):
        return SHRINK
    return min(GROW, max(SHRINK, SAFETY * max(error, 1e-10) ** (-1.0 / order)))


def dense_eval(dense: Dense, fraction: float, bodies_out: Bodies, joints_out: JointState = NO_COORDINATES) -> None:
    """Write the bodies and coordinates of links at `fraction` (0..1) of the last step, by the integrator's dense
    output."""
    assert dense.integrator is not None and dense.count > 0, "nothing was integrated yet"
    t = dense.t + fraction * dense.h
    row = 0
    while row + 1 < dense.count and dense.segments[row + 1].t <= t:
        row += 1
    s = dense.segments[row]
    delta = (t - s.t) / s.h if dense.count > 1 else fraction
    dense_output(dense.model, dense.integrator.tableau, s.t, s.h, s.y0, s.k, float(delta),
                 dense.flight.trees.work, bodies_out, joints_out)
