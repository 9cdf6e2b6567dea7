"""The smallest forces of islands with many contacts, such as stacks, between free bodies.

They are the smallest x with B x = b, B_rc = HT_r · P_c, where P_c is the push of a unit force of column c on q̇ and HT_r
a row of TᵀH⁻¹ (see `rates.write_equations`). So x_c = P_c · g with g = Σ HT_r w_r, and w from

    S w = b,    S = B Bᵀ

S is only as large as the rows, and what B and Bᵀ do to a vector takes twelve products a row or column. S has the square
of B's condition: x is therefore corrected by Bᵀ S⁻¹ (b - B x) until nothing but rounding is left of b - B x [Björck
1996, §2.9.2]. The factor of S serves a whole piece, along which it hardly changes: whatever it is, x is
made of Bᵀ w, and the smallest one where B x = b. Where corrections do not lead there,
`rates.smallest_forces` finds them.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper
from ...core.model import Array, IntArray
from ...problem.contact_equations import free_rate
from .sets import STICK

MANY_ROWS = 36       # of an island from which on this is faster
TURNS = 8            # corrections, at most
ENOUGH = 1e-13       # of b that may be left at once,
ROUNDING = 1e-12     # and where more corrections do not make it less
PIVOT = 1e-13        # that rounding leaves of dependent rows, relative to the diagonal of S


class LargeIslands(NamedTuple):
    """Scratch; r = most rows of a set."""

    known: IntArray   #: (1,) 1 = the factors are of this piece
    factor: Array     #: (r, r) Cholesky's, island after island; 0 first in an island where there is none
    push: Array       #: (3 c, 12) P of the columns of one island: on the two free bodies of its contact
    motion: Array     #: (n_v,) g, and B x over HT
    left: Array       #: (r,) b - B x of one island
    step: Array       #: (r,) correction of w; and rows of a column of B,
    place: IntArray   #: (r,) and which they are
    begin: IntArray   #: (r,) first entry of each row of the factor that is not 0, counted in its island


def empty_islands(contacts: int, places: int) -> LargeIslands:
    """Room for so many contacts; places: n_v."""
    rows = min(3 * contacts, places)
    return LargeIslands(np.zeros(1, np.int32), np.zeros((rows, rows)), np.zeros((3 * contacts, 12)), np.zeros(places),
                        np.zeros(rows), np.zeros(rows), np.zeros(rows, np.int32), np.zeros(rows, np.int32))


@helper
def write_pushes(chosen, width, scratch):
    """P of the columns listed in the scratch. Where the contact slides, along n - μ (slip direction)."""
    eq, slide, push = scratch.equations, scratch.slide, scratch.large.push
    T = eq.T
    for j in range(width):
        c = int(chosen.column[scratch.columns[j]])
        k = c // 3
        rubs = chosen.friction[k] > 0.0 and chosen.mode[k] != STICK
        for side in range(2):
            p = int(eq.place[k, side])
            for m in range(6):
                push[j, 6 * side + m] = 0.0 if p < 0 else T[c, p + m]
                if rubs and p >= 0:
                    along = slide[2 * k] * T[c + 1, p + m] + slide[2 * k + 1] * T[c + 2, p + m]
                    push[j, 6 * side + m] -= chosen.friction[k] * along


@helper
def factorise(chosen, rows, columns, first, scratch):
    """S of an island, whose rows begin at `first` in the factor, and its factor by Cholesky."""
    eq, large = scratch.equations, scratch.large
    L, push, value, where = large.factor, large.push, large.step, large.place
    for i in range(rows):
        for j in range(i + 1):
            L[first + i, first + j] = 0.0
    for j in range(columns):
        k = int(chosen.column[scratch.columns[j]]) // 3
        a, b, count = eq.place[k, 0], eq.place[k, 1], 0
        for i in range(rows):
            r = int(chosen.row[scratch.rows[i]])
            c, d = eq.place[r // 3, 0], eq.place[r // 3, 1]
            total = 0.0
            if a >= 0 and a in (c, d):
                for m in range(6):
                    total += eq.HT[r, a + m] * push[j, m]
            if b >= 0 and b in (c, d):
                for m in range(6):
                    total += eq.HT[r, b + m] * push[j, 6 + m]
            if total != 0.0:
                value[count], where[count] = total, i
                count += 1
        for i in range(count):
            for l in range(i + 1):
                L[first + where[i], first + where[l]] += value[i] * value[l]
    begin = large.begin
    for i in range(first, first + rows):
        own, start = L[i, i], first
        while start < i and L[i, start] == 0.0:
            start += 1
        begin[i] = start - first
        for j in range(start, i + 1):
            total = L[i, j]
            for m in range(max(start, first + begin[j]), j):
                total -= L[i, m] * L[j, m]
            if j < i:
                L[i, j] = total / L[j, j]
            elif total > PIVOT * own:
                L[i, i] = math.sqrt(total)
            else:
                L[first, first] = 0.0
                return


@helper
def correct(rows, first, large):
    """The correction of w by what is left."""
    L, step = large.factor, large.step
    for i in range(rows):
        total = large.left[i]
        for j in range(large.begin[first + i], i):
            total -= L[first + i, first + j] * step[j]
        step[i] = total / L[first + i, first + i]
    for i in range(rows - 1, -1, -1):
        step[i] /= L[first + i, first + i]
        for j in range(large.begin[first + i], i):
            step[j] -= L[first + i, first + j] * step[i]


@helper
def add_forces(chosen, rows, columns, width, scratch, share_out):
    """Add Bᵀ w of the correction to all columns of x, and see what the first ones leave of b; the largest of that."""
    eq, large = scratch.equations, scratch.large
    push, motion, worst = large.push, large.motion, 0.0
    motion[:] = 0.0
    for i in range(rows):
        r = int(chosen.row[scratch.rows[i]])
        for side in range(2):
            p = int(eq.place[r // 3, side])
            for m in range(p, p + 6 if p >= 0 else p):
                motion[m] += large.step[i] * eq.HT[r, m]
    for j in range(width):
        k = int(chosen.column[scratch.columns[j]]) // 3
        for side in range(2):
            p = int(eq.place[k, side])
            for m in range(6 if p >= 0 else 0):
                share_out[j] += push[j, 6 * side + m] * motion[p + m]
    motion[:] = 0.0
    for j in range(columns):
        k = int(chosen.column[scratch.columns[j]]) // 3
        for side in range(2):
            p = int(eq.place[k, side])
            for m in range(6 if p >= 0 else 0):
                motion[p + m] += push[j, 6 * side + m] * share_out[j]
    for i in range(rows):
        r = int(chosen.row[scratch.rows[i]])
        total = -free_rate(eq, r)
        for side in range(2):
            p = int(eq.place[r // 3, side])
            for m in range(p, p + 6 if p >= 0 else p):
                total -= eq.HT[r, m] * motion[m]
        large.left[i] = total
        worst = max(worst, abs(total))
    return worst


@helper
def corrected(chosen, rows, columns, width, first, scratch, share_out):
    """The smallest forces by corrections with the factor that there is; whether these lead there."""
    large, size, before = scratch.large, 0.0, math.inf
    if large.factor[first, first] == 0.0:
        return False
    for j in range(width):
        share_out[j] = 0.0
    for i in range(rows):
        large.left[i] = -free_rate(scratch.equations, int(chosen.row[scratch.rows[i]]))
        size = max(size, abs(large.left[i]))
    for _ in range(TURNS):
        correct(rows, first, large)
        worst = add_forces(chosen, rows, columns, width, scratch, share_out)
        if worst <= ENOUGH * size:
            return True
        if not worst <= 0.5 * before:
            return worst <= ROUNDING * size
        before = worst
    return before <= ROUNDING * size


@helper
def large_forces(chosen, rows, columns, width, first, scratch, share_out):
    """The smallest forces (width,) of an island whose rows and columns the scratch lists; whether they were found."""
    large = scratch.large
    write_pushes(chosen, width, scratch)
    if large.known[0] == 0:
        factorise(chosen, rows, columns, first, scratch)
    elif corrected(chosen, rows, columns, width, first, scratch, share_out):
        return True
    elif large.factor[first, first] != 0.0:  # it has moved on too far
        factorise(chosen, rows, columns, first, scratch)
    return corrected(chosen, rows, columns, width, first, scratch, share_out)
