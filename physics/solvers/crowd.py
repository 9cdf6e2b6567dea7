"""Coulomb's law for many contacts at an instant, by the modes of `newton` in coordinates as many as M has rank.

Given G (3 c, n) with M = G Gᵀ, the rows of a contact its normal and two tangents, d (3 c,) and μ (c,), it finds
impulses λ and velocities u = G Gᵀ λ + d that obey the law, or forces and accelerations. Contacts that slide already are
pushed along n - μ e, with e the direction of slip: 0 <= u_n ⊥ λ_n >= 0.

M of a hundred contacts between fifteen bodies has a rank of ninety at most, however redundant the contacts are. So a
step of Newton's method costs a millisecond, where M written out costs tens. Where G is known of the bodies themselves,
each contact has entries in the columns of two bodies alone, and the step takes a tenth of that again.
"""

import math

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, BoolArray
from ..core.vec import norm, put, row
from .contact_modes import SLIDING, SLIP_ALONG
from .island import LAW_SIZE, MU, Island, begin, put_in_order, skyline_of
from .least_forces import ZERO, root_of
from .mechanism_share import BEGIN, add_piece
from .newton import GUESS, LEAST, MANY, MOST_ROUNDS, SOFTEST, follow_modes, try_path

CROWD = 16       # contacts from which on this is tried first
#: natural map at which an answer counts as solved, relative to the largest velocity without λ: as `coulomb` judges its
#: own. Redundant contacts contradict each other by as much as their gaps were found to
SOLVED = ZERO
ROUNDING = 1e-14  # eigenvalues of M that count as zero, relative to the largest
OF_BODY = 6       # columns of G of one body


def by_modes(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, root: Array | None = None,
) -> tuple[float, Array]:
    """λ (3 c,) of the laws with M (3 c, 3 c), and the natural map left, relative to the largest |d|: of contacts that
    slide already, slides (c,), in the directions slip (c, 2). root: G (3 c, 6 n) of the bodies, where it is known, six
    columns each; of each contact those of two bodies at most are not zero."""
    lam, wide = np.zeros(len(d)), OF_BODY
    if root is None:
        root = _root_alone(M)
        wide = root.shape[1]
    if root.shape[1] == 0:
        return math.inf, lam
    slide = np.ascontiguousarray(np.column_stack([slides, slip]), np.float64)
    left = solve_modes(np.ascontiguousarray(root), wide, np.ascontiguousarray(d, np.float64),
                       np.ascontiguousarray(friction, np.float64), slide, lam)
    return float(left), lam


def _root_alone(M: Array) -> Array:
    """G of M alone, with as many columns as M has rank."""
    root = root_of(M)
    if root is None:  # some rows are nearly dependent
        size, axes = np.linalg.eigh(M)
        kept = size > ROUNDING * size[-1]
        root = axes[:, kept] * np.sqrt(size[kept])
    return root


@helper
def pieces_of(G, wide, ends_out):
    """ends_out (c, 2): the blocks of `wide` columns in which the rows of each contact are not zero, -1 = none."""
    for j in range(len(ends_out)):
        found = 0
        ends_out[j, 0] = ends_out[j, 1] = -1
        for i in range(G.shape[1] // wide):
            used = False
            for r in range(3 * j, 3 * j + 3):
                for e in range(wide * i, wide * i + wide):
                    used = used or G[r, e] != 0.0
            if used and found < 2:
                ends_out[j, found] = i
                found += 1


@helper
def island_of(G, d, friction, slide, wide):
    """The Island of all contacts, of which each is between two blocks of `wide` columns of G at most. The axes of each
    are its own."""
    m, n = len(friction), G.shape[1] // wide
    ends, number, nodes = np.full((m, 2), -1), np.full(n, -1), 0
    pieces_of(G, wide, ends)
    block = np.zeros(n, np.int64)
    for j in range(m):
        for side in range(2):
            i = ends[j, side]
            if i >= 0:
                if number[i] < 0:
                    number[i], block[nodes] = nodes, i
                    nodes += 1
                ends[j, side] = number[i]
    order, place = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    put_in_order(ends, nodes, order)
    for t in range(nodes):
        place[order[t]] = wide * t
    first, piece, pieces = np.zeros(m + 1, np.int64), np.zeros((2 * m, 4), np.int64), 0
    for j in range(m):
        for side in range(2):
            if ends[j, side] >= 0:
                pieces = add_piece(piece, pieces, place[ends[j, side]], wide, -1)
        first[j + 1] = pieces
    island = Island(np.zeros(m, np.int64), np.arange(m), np.full(m, -1), first, piece[:pieces].copy(),
                    np.zeros(3 * wide * pieces), np.zeros((m, LAW_SIZE)), np.zeros((m, 3)), np.zeros((m, 3)),
                    np.zeros((m, 3)), np.zeros(wide * nodes))
    for j in range(m):
        island.law[j, 0], island.law[j, MU] = 1.0, friction[j]
        put(island.u, j, (d[3 * j], d[3 * j + 1], d[3 * j + 2]))
        p = first[j]
        for side in range(2):
            if ends[j, side] < 0:
                continue
            e, column = island.piece[p, BEGIN], wide * block[ends[j, side]]
            for r in range(3):
                for i in range(wide):
                    island.G[e + wide * r + i] = G[3 * j + r, column + i]
            p += 1
    begin(island)
    for j in range(m):
        if slide[j, 0] == 1.0 and friction[j] > 0.0:
            island.kind[j] = SLIDING
            island.law[j, SLIP_ALONG], island.law[j, SLIP_ALONG + 1] = slide[j, 1], slide[j, 2]
    return island


@kernel
def solve_modes(G, wide, d, friction, slide, lam_out):
    """Write impulses λ (3 c,); slide (c, 3): 1 and the direction of slip of a contact that slides already. Returns the
    natural map that they leave, relative to the largest velocity without them."""
    island = island_of(G, d, friction, slide, wide)
    sky, m = skyline_of(island), len(friction)
    centre, found, size, slides = np.zeros((m, 3)), np.zeros((m, 3)), 0.0, False
    for j in range(m):
        size, slides = max(size, norm(row(island.free, j))), slides or island.kind[j] == SLIDING
    if size == 0.0:
        lam_out[:] = 0.0
        return 0.0
    most = MANY if slides else MOST_ROUNDS  # no path leads to contacts that slide already
    _, solved, again, miss = follow_modes(island, sky, centre, 1.0, SOFTEST, GUESS, size, most)
    if not solved and not slides:
        again, told = True, np.zeros(2)
        solved, miss = try_path(island, sky, found, size, told), told[1]
        island.lam[:] = found
    if solved and again:
        found[:], centre[:] = island.lam, 0.0
        _, least, _, left = follow_modes(island, sky, centre, 1.0, 1.0, GUESS, size, LEAST)
        if least and left <= max(miss, SOLVED * size):
            miss = left
        else:
            island.lam[:] = found
    for j in range(m):
        for r in range(3):
            lam_out[3 * j + r] = island.lam[j, r]
    return miss / size
