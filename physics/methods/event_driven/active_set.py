"""Writes the current set from what contacts at rest do, and its active part: rows that are a basis, and which of the
forces that keep them are unique."""

import math
from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from ...core.islands import islands_of
from ...core.jit import kernel
from ...core.model import Array, IntArray
from ...core.state import LongArray
from ...core.vec import axpy, put, row, scale
from ...dynamics.constraints.limits import TURNS
from ...problem.turning_rows import SPIN
from ...solvers.lcp_info import row_product
from ...solvers.least_forces import ZERO, independent
from .rates import RateScratch
from .sets import IDLE, OPEN, SHARED, SLIDE, SMOOTH, STICK, UNIQUE, UNKNOWN, ContactSet, Friction, Resolution

CLASSES = 5  # of rows, see `list_classes`
OPEN_PART = 1e-12  # square of the part of a force that the equations leave open, below which it is unique


def fill_set(
    chosen: ContactSet, pairs: LongArray, found: Resolution, M: Array, friction: Friction, scratch: RateScratch,
    nodes: IntArray, fixed: Set[int],
) -> None:
    """Write the current set: the contacts of `pairs` (c,) that are not OPEN; M (3 c, 3 c) of them, whose equations are
    in the scratch; nodes (c, 2): see `connect`; fixed: pairs that stay as they are to the end of the step."""
    mode, first = np.array(found.mode, np.int32), np.zeros(len(pairs), np.int32)
    first[list(found.next_up)] = 1
    wanted, ends = np.empty(3 * len(pairs), np.int64), np.empty(CLASSES, np.int64)
    list_classes(mode, found.force, islands_of(nodes), friction.bearer, first, wanted, ends)
    rows = wanted[independent(M, wanted[: ends[-1]], ends)[0]]
    rows = rows[: len(scratch.large.begin)]  # of an M that is right no more are independent than bodies have velocities
    write_set(chosen, pairs, mode, *friction, found.force, found.slip, scratch, rows)
    kept = np.flatnonzero(mode != OPEN)
    chosen.fixed[: len(kept)] = [pair in fixed for pair in pairs[kept].tolist()] if fixed else 0
    list_columns(chosen)
    connect(chosen, nodes[kept])
    _judge(chosen, kept, found, M)


@kernel
def list_classes(mode, force, island, bearer, first, rows_out, ends_out):
    """The rows of which the active set is a basis, in classes one after the other, and where each ends: normal rows of
    what carries, its tangential rows where it sticks, all rows of what sticks without a load, normal rows of what
    carries from now on, first (c,), and of the other IDLE ones."""
    least, used = np.zeros(len(mode)), 0
    for k in range(len(mode)):
        least[island[k]] = max(least[island[k]], ZERO * abs(force[3 * k]))
    for which in range(CLASSES):
        for k in range(len(mode)):
            begin, end, sticks, idle = 0, 0, mode[k] == STICK, mode[k] == IDLE
            loaded = not (idle or sticks) or force[3 * bearer[k]] > least[island[k]]
            if mode[k] == OPEN:
                pass
            elif (which == 0 and loaded) or (which == 3 and first[k] == 1) or (which == 4 and idle and first[k] == 0):
                end = 1
            elif which == 1 and sticks and loaded:
                begin, end = 1, 3
            elif which == 2 and sticks and not loaded:
                end = 3
            for i in range(begin, end):
                rows_out[used] = 3 * k + i
                used += 1
        ends_out[which] = used


@kernel
def write_set(chosen, pairs, mode, slip_friction, stick_friction, bearer, force, slip, scratch, rows):
    """Write the contacts that are not OPEN, with the active set's `rows` [RBDA §11.5]; an IDLE one among these becomes
    active."""
    eq, count = scratch.equations, 0
    place, completes = np.zeros(len(pairs), np.int32), np.zeros(3 * len(pairs), np.bool_)
    for r in rows:
        completes[r] = True
    for k in range(len(pairs)):
        if mode[k] != OPEN:
            place[k] = count
            count += 1
    for k in range(len(pairs)):
        if mode[k] == OPEN:
            continue
        i, sticks, how = place[k], mode[k] == STICK, mode[k]
        if how == IDLE and completes[3 * k]:
            how = SMOOTH if slip_friction[k] == 0.0 else SLIDE
        chosen.pair[i], chosen.mode[i], chosen.bearer[i] = pairs[k], how, place[bearer[k]]
        chosen.friction[i] = stick_friction[k] if sticks else slip_friction[k]
        t_1, t_2 = row(eq.tangent_1, k), row(eq.tangent_2, k)
        put(chosen.direction, i, axpy(slip[k, 0], t_1, scale(slip[k, 1], t_2)))
        carried = axpy(force[3 * k], row(scratch.witness.normal, k),
                       axpy(force[3 * k + 1], t_1, scale(force[3 * k + 2], t_2)))
        put(chosen.hold, i, carried if sticks else (0.0, 0.0, 0.0))
    for j in range(len(rows)):
        chosen.row[j] = 3 * place[rows[j] // 3] + rows[j] % 3
    chosen.count[0], chosen.rows[0] = count, len(rows)


def connect(chosen: ContactSet, nodes: IntArray) -> None:
    """Number the islands of the set; nodes (c, 2): what moves at each side of a contact, see `islands_of`."""
    count = int(chosen.count[0])
    chosen.island[:count] = islands_of(nodes)
    chosen.islands[0] = chosen.island[:count].max(initial=-1) + 1


@kernel
def list_columns(chosen):
    """Write which forces are in use, from the modes, and which wait."""
    used = 0
    for k in range(chosen.count[0]):
        mode, borne = chosen.mode[k], chosen.bearer[k] != k
        first = 1 if borne else 0
        end = 0 if mode == IDLE else 3 if mode == STICK else 1
        for i in range(first, 2 if borne and end > 2 and chosen.pair[k] // TURNS == SPIN else end):
            chosen.column[used] = 3 * k + i
            used += 1
    waiting = 0
    for k in range(chosen.count[0]):
        if chosen.mode[k] == IDLE and chosen.friction[k] > 0.0 and chosen.bearer[k] == k:
            chosen.column[used + waiting] = 3 * k
            waiting += 1
    chosen.columns[0], chosen.columns[1] = used, waiting


def _judge(chosen: ContactSet, kept: NDArray[np.int64], found: Resolution, M: Array) -> None:
    """Write which forces are not unique, and of each island with such forces whether the smallest ones obey Coulomb's
    law. Only an island where a contact sticks by a force that is not unique needs that: in those where none sticks all
    count as unique."""
    columns, rows = chosen.column[: chosen.columns[0]], chosen.row[: chosen.rows[0]]
    of_columns, of_rows, islands = chosen.island[columns // 3], chosen.island[rows // 3], int(chosen.islands[0])
    asked = np.bincount(of_columns, minlength=islands) > np.bincount(of_rows, minlength=islands)
    asked &= np.isin(np.arange(islands), chosen.island[: len(kept)][chosen.mode[: len(kept)] == STICK])
    chosen.open[: len(kept)] = UNIQUE
    if not asked.any():
        return
    B, right = np.empty((len(columns), len(rows))), np.empty(len(rows))
    equations_of_set(chosen, kept, M, found.force, found.rate, found.slip, B, right)
    for i in np.flatnonzero(asked).tolist():
        used, mine = np.flatnonzero(of_columns == i), np.flatnonzero(of_rows == i)
        judge_forces(chosen, i, columns[used], *np.linalg.qr(B[np.ix_(used, mine)]), right[mine])


@kernel
def equations_of_set(chosen, kept, M, force, rate, slip, B_out, right_out):
    """The equations Bᵀ f = right of the forces in use of the set, the contacts `kept` of those that M, force, rate and
    slip are of."""
    count, used = chosen.count[0], chosen.columns[0]
    at = np.full(3 * count, -1)
    for j in range(used):
        at[chosen.column[j]] = j
    for i in range(chosen.rows[0]):
        r = 3 * kept[chosen.row[i] // 3] + chosen.row[i] % 3
        right_out[i] = row_product(M, r, force, 0, len(force)) - rate[r]
        for j in range(used):
            B_out[j, i] = M[r, 3 * kept[chosen.column[j] // 3] + chosen.column[j] % 3]
        for k in range(count):
            j, c = at[3 * chosen.bearer[k]], 3 * kept[k]
            if chosen.mode[k] == SLIDE and j >= 0:
                e_1, e_2 = slip[kept[k], 0], slip[kept[k], 1]
                B_out[j, i] -= chosen.friction[k] * (M[r, c + 1] * e_1 + M[r, c + 2] * e_2)


@kernel
def judge_forces(chosen, island, column, Q, R, right):
    """See `_judge`; of one island the forces `column` (k,) in use, and Q (k, r) and R (r, r), the factors of its B. A
    force is unique where its unit vector lies in the space of the rows. The smallest forces are Q R⁻ᵀ right."""
    count = chosen.count[0]
    force, shared, y = np.zeros(3 * count), np.zeros(count, np.bool_), right.copy()
    for i in range(len(y)):
        for m in range(i):
            y[i] -= R[m, i] * y[m]
        y[i] /= R[i, i]
    for j in range(len(Q)):
        c = column[j]
        force[c] = row_product(Q, j, y, 0, len(y))
        shared[c // 3] = shared[c // 3] or 1.0 - row_product(Q, j, Q[j], 0, len(y)) > OPEN_PART
    fails, sticks = False, False
    for k in range(count):
        if chosen.island[k] != island:
            continue
        holds, stuck = force[3 * k] >= 0.0, chosen.mode[k] == STICK
        if stuck:
            most = chosen.friction[k] * force[3 * chosen.bearer[k]] * (1.0 - ZERO)
            holds = holds and math.hypot(force[3 * k + 1], force[3 * k + 2]) <= most
        fails, sticks = fails or (shared[k] and not holds), sticks or (shared[k] and stuck)
    for k in range(count):
        if shared[k]:
            chosen.open[k] = UNKNOWN if fails and sticks and chosen.fixed[k] == 0 else SHARED
