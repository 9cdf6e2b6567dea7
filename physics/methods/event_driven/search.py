"""The search of a piece for its earliest event, on the integrator's dense output [RBDA §11.5, eqs. 11.45–11.51].

All that can end the reign of a contact set is a number that must not become negative: the gap of a pair that is apart,
and the numbers of the set and of motors that `piece` tells of. They are looked at on nodes so close that bodies turn
little between them. A gap is followed by its rate ζ as well, so that a dip below zero and back between two nodes is not
missed: a contact that grazes, a thin body that is flown through. Roots are bracketed and found by Brent's method. The
whole search is one kernel.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...collision.exact.gaps import Witness
from ...collision.exact.near import Trees
from ...core.interruption import look_up
from ...core.jit import helper, kernel, program
from ...core.limits import EXACT_PAIRS
from ...core.model import Array, IntArray
from ...core.state import LongArray
from ...dynamics.constraints.reactions import HOLDS
from ...integrators.tableau import Tableau
from .nearby import bounding_radii, choose_watched, one_of_each, pairs_near, pairs_touching
from .piece import (
    BEGIN,
    GAP,
    INTERVALS,
    KINDS,
    LENGTH,
    MOTOR,
    NEXT,
    Piece,
    empty_pairs,
    empty_piece,
    empty_search,
    find_forces_at_work,
    go,
    has_limited_motors,
    left_to_motor,
    look,
    meet,
    name_implied,
    numbers_of_set,
    own_place,
    see_forces,
    see_one,
    see_pairs,
    slip_along,
)
from .rates import Instant
from .sets import ContactSet
from .tolerances import EDGE, FACING, GRAZE, PUSHED, SLIPS, TOUCH

ROOT_TIME = 1e-13     # to which instants are found [s], but for rounding
ROOT_STEPS = 100      # of Brent's method at most
JUST_HOLDS = 1e-9     # by which a motor that has just come to hold its speed may pass its limit, relative to the limit
WATCHED_ROOM = 256    # pairs watched, at first
AT_ONCE = 20_000      # gaps looked at in one call of the search: some hundredths of a second

#: what became negative, in the order of the numbers in `piece`
KIND_NAMES = ("margin", "sink", "slip", "force", "cone", "share", "gap", "motor")
#: what else roots are looked for: the rate of a gap; whether the pair is `within` its region; any number of the set
RATE, WITHIN, NUMBER = 8, 9, 10


# ------------------------------------------------------------------------------------------------- roots
@helper
def within(witness, i):
    """>= 0 where the elements of pair i face each other within their region, so far that what touched beside it has
    been left: only there is the gap theirs."""
    return min(witness.margin[i] - 2.0 * EDGE, witness.facing[i] - 0.5 * FACING)


@program
def number(piece, delta, what, i):
    """At the fraction delta of the piece: the gap (what = GAP) of the pair i watched, its rate (RATE) or whether it is
    WITHIN its region; or the i-th NUMBER of the set."""
    search = piece.search
    go(piece, delta)
    if what == NUMBER:
        see_forces(piece.at, piece.chosen)
        numbers_of_set(piece.chosen, piece.depth, search, piece.at.scratch)
        return search.values[i]
    see_one(piece.at, search.watched.pairs[i], search)
    if what == WITHIN:
        return within(search.witness_one, 0)
    return search.witness_one.gap[0] + search.watched.offset[i] if what == GAP else search.zeta_one[0]


@program
def root(piece, lo, hi, what, i):
    """Where a number changes its sign between lo and hi; lo where it does not [Brent 1973, ch. 4]."""
    a, b = lo, hi
    f_a = number(piece, a, what, i)
    f_b = number(piece, b, what, i)
    if (f_a < 0.0) == (f_b < 0.0) or f_a == 0.0:
        return lo
    c, f_c, step, last = a, f_a, b - a, b - a  # b the best so far, a the one before, c with the other sign
    for _ in range(ROOT_STEPS):
        if (f_b < 0.0) == (f_c < 0.0):
            c, f_c, step, last = a, f_a, b - a, b - a
        if abs(f_c) < abs(f_b):
            a, b, c, f_a, f_b, f_c = b, c, b, f_b, f_c, f_b
        enough, half = 4e-16 * abs(b) + 0.5 * ROOT_TIME / piece.span[LENGTH], 0.5 * (c - b)
        if abs(half) <= enough or f_b == 0.0:
            break
        if abs(last) >= enough and abs(f_a) > abs(f_b):
            s = f_b / f_a
            if a == c:
                p, q = 2.0 * half * s, 1.0 - s
            else:
                q, r = f_a / f_c, f_b / f_c
                p, q = s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0)), (q - 1.0) * (r - 1.0) * (s - 1.0)
            p, q = abs(p), -q if p > 0.0 else q
            fits = 2.0 * p < min(3.0 * half * q - abs(enough * q), abs(last * q))
            last, step = (step, p / q) if fits else (half, half)
        else:
            step = last = half
        a, f_a = b, f_b
        b += step if abs(step) > enough else math.copysign(enough, half)
        f_b = number(piece, b, what, i)
    return b


# ------------------------------------------------------------------------------------------------- events
@helper
def list_falling(watched, length):
    """List the gaps that fall below zero, or may dip below it, or come into their region below it, between the ends of
    an interval of `length` [s]: deepest at its end first, of equal ones the first first. Returns their number."""
    count, falling = 0, watched.falling
    for i in range(watched.count[0]):
        f, g, df, dg = watched.gap[0, i], watched.gap[1, i], watched.rate[0, i], watched.rate[1, i]
        falls = g < 0.0 and (f > 0.0 or df > 0.0 or f == 0.0)
        if df >= 0.0 and dg >= 0.0 and (f <= 0.0 or (f <= GRAZE and g >= -GRAZE)):
            falls = False  # it opens: what its gap loses is rounding, or the integrator's error
        dips = g >= 0.0 and df < 0.0 and dg > 0.0 and f <= -df * length
        if (falls or dips or comes_in(watched, i)) and watched.rejected[i] == 0:
            falling[count] = i
            count += 1
    if count > 1:  # thousands where meshes pass each other
        rows, depth = np.empty(count, np.int32), np.empty(count)
        for k in range(count):
            rows[k], depth[k] = falling[k], watched.gap[1, falling[k]]
        order = np.argsort(depth, kind="mergesort")
        for k in range(count):
            falling[k] = rows[order[k]]
    return count


@helper
def comes_in(watched, i):
    """Whether the pair i watched comes into its region with a gap below zero, from beside an element that touched
    there: the gap, which was not its own before, says no more when they met."""
    return watched.gap[1, i] < 0.0 and watched.within[0, i] < 0.0 <= watched.within[1, i]


@program
def meets(piece, delta, i):
    """Whether the pair i watched is in its region at the fraction delta, and not behind a wall."""
    search = piece.search
    go(piece, delta)
    see_one(piece.at, search.watched.pairs[i], search)
    met = search.witness_one
    reached = met.gap[0] + search.watched.offset[i] >= -PUSHED
    return reached and met.margin[0] >= -EDGE and met.facing[0] >= FACING


@program
def gap_event(piece, lo, hi, event_out):
    """Write the first gap that falls below zero between lo and hi while its elements face each other, or that is below
    it where these come to, where there is one: δ, GAP, and its row. After each one found only the time before it is
    left to the others."""
    at, search = piece.at, piece.search
    watched = search.watched
    gap, rate = watched.gap, watched.rate
    for i in range(watched.count[0]):
        watched.rejected[i] = 0
    ahead, seen = list_falling(watched, (hi - lo) * piece.span[LENGTH]), 0
    while seen < ahead:
        i = watched.falling[seen]
        seen += 1
        watched.rejected[i] = 1
        start, end = lo, hi
        if gap[1, i] >= 0.0:                            # down and up again: end at the bottom
            end = root(piece, lo, hi, RATE, i)
            if number(piece, end, GAP, i) >= 0.0:
                continue
        elif rate[0, i] > 0.0 and rate[1, i] < 0.0:     # up and down again: begin at the top
            start = root(piece, lo, hi, RATE, i)
        delta = root(piece, start, end, GAP, i)
        met = meets(piece, delta, i)
        if not met and comes_in(watched, i):
            delta = root(piece, delta, hi, WITHIN, i)
            met = meets(piece, delta, i)
        if met:
            event_out[0], event_out[1], event_out[2], hi = delta, float(GAP), float(i), delta
            see_pairs(at, watched)
            note_gaps(watched, 1)
            ahead, seen = list_falling(watched, (hi - lo) * piece.span[LENGTH]), 0


@helper
def note_gaps(watched, end):
    """Write the gaps and rates seen last, and whether they count, as those at an end (0 or 1) of the interval."""
    for i in range(watched.count[0]):
        watched.gap[end, i], watched.rate[end, i] = watched.witness.gap[i] + watched.offset[i], watched.zeta[i]
        watched.within[end, i] = within(watched.witness, i)


@helper
def begin_interval(watched):
    """The next interval begins where the last one ended."""
    for i in range(watched.count[0]):
        watched.gap[0, i], watched.rate[0, i] = watched.gap[1, i], watched.rate[1, i]
        watched.within[0, i] = watched.within[1, i]


@helper
def name_event(count, delta, i, event_out):
    """The event that the i-th number has become negative at the fraction delta."""
    if i < KINDS * count:
        event_out[0], event_out[1], event_out[2] = delta, float(i // count), float(i % count)
    else:
        event_out[0], event_out[1], event_out[2] = delta, float(MOTOR), float(i - KINDS * count)


@program
def end_of_set(piece, lo, hi, event_out):
    """The first number of the set that falls below zero between lo and hi, where all of them were seen last, or at the
    event found, where that is earlier."""
    count, values, done = int(piece.chosen.count[0]), piece.search.values, piece.search.done
    size = KINDS * count + len(piece.search.late)
    for i in range(size):
        done[i] = 0
    while True:
        least = -1
        for i in range(size):
            if values[i] < 0.0 and done[i] == 0 and (least < 0 or values[i] < values[least]):
                least = i
        if least < 0:
            return
        done[least] = 1
        hi = root(piece, lo, hi, NUMBER, least)
        name_event(count, hi, least, event_out)
        number(piece, hi, NUMBER, least)


@program
def wrong_at_start(piece, event_out):
    """Whether the set cannot even begin to go on, with the event; the bodies must be at the start of the piece.

    A slip that has just begun may be a little below zero: it must get worse than that. So must what is left to a motor
    that has just changed."""
    see_forces(piece.at, piece.chosen)
    return wrong_here(piece, event_out)


@kernel
def wrong_here(piece, event_out):
    """What `wrong_at_start` does, where the forces at the start were found last."""
    chosen, search, scratch = piece.chosen, piece.search, piece.start.scratch
    count, slack, late = int(chosen.count[0]), search.slack, search.late
    name_implied(chosen, search.implied)
    for j in range(count):
        slip = slip_along(chosen, scratch.equations, j)
        slack[j] = -slip if -SLIPS <= slip < 0.0 else 0.0
    reactions = scratch.equations.reactions
    for r in range(len(late)):
        left = left_to_motor(reactions, r)
        enough = SLIPS if reactions.mode[r] != HOLDS else JUST_HOLDS * reactions.limit[r]
        late[r] = -left if -enough <= left < 0.0 else 0.0
    numbers_of_set(chosen, piece.depth, search, scratch)
    for i in range(KINDS * count + len(late)):
        if search.values[i] < 0.0:
            name_event(count, 0.0, i, event_out)
            return True
    return False


@program
def find_event(piece, blind, at_once, event_out):
    """Write the first event of the piece: δ, its kind, -1 = none, and its row, of the pairs watched for GAP, of the set
    for the others. blind = 1: only gaps count. Returns the number of pairs to watch; where that exceeds the room,
    nothing was searched.

    search.nodes[NEXT] is the interval where to begin, 0 in the first call. After at_once gaps were looked at that is
    then where the next call goes on, else 0."""
    at, search = piece.at, piece.search
    watched, nodes, count = search.watched, search.nodes, piece.chosen.count[0]
    motors, first, begins = has_limited_motors(at.scratch.equations.reactions), int(nodes[NEXT]), nodes[NEXT] == 0
    event_out[0], event_out[1], event_out[2], nodes[NEXT] = 1.0, -1.0, -1.0, 0
    found = int(watched.count[0])
    if begins:
        found, nodes[INTERVALS] = choose_watched(piece)
    if found > len(watched.pairs) or (watched.count[0] + count == 0 and not motors):
        return found
    sets, intervals = (count > 0 or motors) and blind == 0, nodes[INTERVALS]
    if begins:
        note_gaps(watched, 0)
        find_forces_at_work(piece)
        if sets and wrong_at_start(piece, event_out):
            return found
    for node in range(first, intervals):
        if (node - first) * watched.count[0] > at_once:
            nodes[NEXT] = node
            return found
        lo, hi = node / intervals, (node + 1) / intervals
        go(piece, hi)
        see_pairs(at, watched)
        note_gaps(watched, 1)
        gap_event(piece, lo, hi, event_out)
        if sets:
            end = event_out[0] if event_out[1] >= 0.0 else hi
            number(piece, end, NUMBER, 0)
            end_of_set(piece, lo, end, event_out)
        if event_out[1] >= 0.0:
            return found
        begin_interval(watched)
    return found


# ------------------------------------------------------------------------------------------------- for Python
@dataclass(frozen=True)
class Trigger:
    """What happens first: at the fraction `delta` of the piece a number of kind `kind` becomes negative."""

    delta: float
    kind: str
    row: int   #: of the pairs watched for "gap", of the joints' rows for "motor", of the set for the others; -1 = none
    pair: int = -1  #: of "gap", the pair


class PieceSearch:
    """The pairs near each other at an instant; and pieces, searched for their first event and looked at anywhere."""

    def __init__(self, start: Instant, trees: Trees, chosen: ContactSet) -> None:
        """Pieces begin at the state `start`, under the set `chosen`; trees of its shapes."""
        self.radius = bounding_radii(start.model)
        self._start, self._chosen, self._event = start, chosen, np.zeros(3)
        self._scratch, self._at = empty_search(start, trees, self.radius, WATCHED_ROOM), own_place(start)
        self._piece: Piece | None = None

    def begin_at(self, start: Instant) -> None:
        """Let pieces begin at another state of the same model, with the same scratch."""
        self._start, self._piece = start, None
        self._at = self._at._replace(loads=start.loads)

    def piece_of(self, tableau: Tableau) -> Piece:
        """The piece to be made next, with this tableau; it is the same memory every time."""
        if self._piece is None or self._piece.tableau is not tableau:
            self._piece = empty_piece(self._start, self._at, self._chosen, tableau, self._scratch)
        return self._piece

    def _make_room(self, pairs: int) -> None:
        """Room for so many pairs, and as many more."""
        EXACT_PAIRS.allow(pairs)
        self._scratch = self._scratch._replace(watched=empty_pairs(2 * pairs))
        if self._piece is not None:
            self._piece = self._piece._replace(search=self._scratch)

    # ------------------------------------------------------------------------------------------ the piece made last
    @property
    def leads_on(self) -> bool:
        """Whether there is one that takes some time."""
        return self._piece is not None and self.length > 0.0

    @property
    def piece(self) -> Piece:
        """The piece made last."""
        assert self._piece is not None, "no piece was made yet"
        return self._piece

    @property
    def t(self) -> float:
        """At its beginning [s]."""
        return float(self.piece.span[BEGIN])

    @property
    def length(self) -> float:
        """[s]"""
        return float(self.piece.span[LENGTH])

    @property
    def in_set(self) -> int:
        """How many contacts are in the current set."""
        return int(self._chosen.count[0])

    @property
    def bearer(self) -> IntArray:
        """The contact whose normal force bounds the friction of each of these, see `ContactSet`."""
        return self._chosen.bearer[: self.in_set]

    @property
    def set_witness(self) -> Witness:
        """Their witnesses, where their forces were found last."""
        return self._start.scratch.witness

    @property
    def count(self) -> int:
        """How many pairs are watched, or were found."""
        return int(self._scratch.watched.count[0])

    @property
    def pairs(self) -> LongArray:
        """These pairs; the first `count` are valid."""
        return self._scratch.watched.pairs

    @property
    def witness(self) -> Witness:
        """Their witnesses."""
        return self._scratch.watched.witness

    def at(self, delta: float) -> Instant:
        """Bodies, links and time at a fraction of the piece; valid until the next look at it."""
        go(self.piece, float(delta))
        return self._at

    def gaps(self, delta: float) -> tuple[Array, Array]:
        """Gaps [m] and their rates [m/s] of the watched pairs at a fraction of the piece."""
        look(self.piece, float(delta), 0)
        watched, count = self._scratch.watched, self.count
        return watched.witness.gap[:count] + watched.offset[:count], watched.zeta[:count].copy()

    def forces(self, delta: float) -> Array:
        """Contact forces (3 c,) at a fraction of the piece; the scratch then holds the equations there."""
        look(self.piece, float(delta), 1)
        return self._start.scratch.lam

    def earliest(self, sink: float, blind: bool) -> Trigger | None:
        """The first event of the piece, or None. sink: depth that contacts beside the active ones may come to [m];
        blind: only gaps count."""
        self.piece.depth[0] = sink
        self._scratch.nodes[NEXT] = 0
        while True:
            found = find_event(self.piece, int(blind), AT_ONCE, self._event)
            if found > len(self.pairs):
                self._make_room(int(found))
            elif self._scratch.nodes[NEXT] == 0:
                break
            look_up()
        delta, kind, row = self._event.tolist()
        pair = int(self.pairs[int(row)]) if kind == GAP else -1
        return Trigger(delta, KIND_NAMES[int(kind)], int(row), pair) if kind >= 0.0 else None

    # ------------------------------------------------------------------------------------------ at an instant
    def find_pairs(self, at: Instant, reach: Array) -> None:
        """Find all pairs of elements that overlap by TOUCH at most and are within the sum of their bodies' `reach` (n,)
        [m] of each other; no limits of joints."""
        while True:
            self._scratch.reach[:] = reach[self._scratch.sides].sum(axis=1)
            found = pairs_near(at, TOUCH, -math.inf, self._scratch)
            if found <= len(self.pairs):
                return
            self._make_room(int(found))

    def touching(self, at: Instant, depth: float) -> tuple[LongArray, Array]:
        """Pairs that touch, overlap by `depth` [m] at most, and face each other, and their ζ; valid until the next
        call."""
        while True:
            kept, found = pairs_touching(at, depth, self._scratch)
            if found <= len(self.pairs):
                return self.pairs[:kept], self._scratch.watched.zeta[:kept]
            self._make_room(int(found))

    def one_of_each(self, at: Instant, count: int, lost: LongArray) -> tuple[LongArray, Array]:
        """Of the first `count` pairs found at this instant, whose witnesses `rows` tells: those not lost, one of each
        that coincide, and their ζ; valid until the next call."""
        kept = one_of_each(at, self._chosen, lost, np.int64(count), self._scratch)
        return self.pairs[:kept], self._scratch.watched.zeta[:kept]

    @property
    def rows(self) -> IntArray:
        """Where the witnesses of these pairs stand."""
        return self._scratch.watched.falling

    def find_one(self, at: Instant, pair: int) -> tuple[Witness, float]:
        """Witness of one pair, in row 0, and its ζ [m/s]; valid until the next look."""
        scratch = self._scratch
        scratch.one[0] = pair
        meet(at, scratch.one, 1, scratch.witness_one, scratch.zeta_one)
        return scratch.witness_one, float(scratch.zeta_one[0])
