"""One piece of a step of the event-driven method as a curve, and the search along it for the first event, in one
kernel: what a look at the curve needs never leaves it.

Along the curve the numbers that say that all goes on as it is are looked at: gaps of pairs apart, and of the current
set margins, forces, distances to the rim of the friction cone, slip. Where one is negative at the end of an interval,
or a gap dips below zero in between, a bracketed root search finds when [RBDA eqs. 11.45–11.51].
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.exact.elements import Elements
from ...collision.exact.gaps import PLACE, Witness, empty_witness, find_near, find_witnesses
from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.state import Bodies, JointState, LongArray, empty_state
from ...core.vec import norm, row, sub
from ...dynamics.constraints.limits import find_limits, limit_rates, near_limits
from ...dynamics.constraints.reactions import HOLDS, OFF
from ...dynamics.trees.kinematics import TreeWork
from ...dynamics.trees.rates import empty_joints, empty_tree_scratch
from ...integrators.stepper import dense_output
from ...problem.contact_equations import separation_rates
from .rates import constrained_rates
from .sets import IDLE, SLIDE, SLIPS, STICK, UNKNOWN

TIME = 1e-13      # to which instants are found [s], but for rounding
TOUCH = 1e-8      # |φ| that counts as touching when the sets are made anew [m]
RESTS = 1e-8      # |ζ| that counts as no approach and no separation [m/s]
GRAZE = 1e-10     # depth that a pair which has just let go, or rests beside the active ones, may come to [m]
EDGE = 1e-9       # by which a contact may leave its own region before it is lost [m]
FACING = -1e-6    # by which the normal of two edges may leave the arcs between their faces
SLOW = 1e-12      # slip [m/s]
FULL = 1e-12      # by which a motor may pass its limit, relative to it, before it gives in, and
JUST = 1e-9       # after it has just come to hold its speed
TURN = 0.1        # a body's largest turn between two nodes [rad]
NODES = 4         # intervals of a step at least
MANY = 200        # and at most
ROOT_STEPS = 100

#: what became negative: of the set, of a pair apart, of a motor with a limit
MARGIN, SINK, SLIP, FORCE, CONE, SHARE, GAP, MOTOR = range(8)
KINDS = 6  # of numbers of the set
RATE, NUMBER = 8, 9  # what else roots are looked for: the rate of a gap; any number of the set
LEAST_FORCE, ASKS, DEPTH = range(3)  # places in Track.levels


class Track(NamedTuple):
    """The piece as a curve, where it was looked at last, and scratch of the search; p pairs watched, c contacts."""

    span: Array           #: (3,) t at its start, its length, that of the whole step [s]
    levels: Array         #: (3,) force that counts as none [N], that a contact without one asks for [N], depth that
                          #: contacts beside the active ones may come to [m]
    bodies: Bodies
    joints: JointState    #: of the links
    work: TreeWork
    radius: Array         #: (n,) [m]
    reach: Array          #: (n,) [m]
    start: Array          #: (n, 3) scratch of `travel`, as are far, spin and speed
    far: Array            #: (n,)
    spin: Array           #: (n,)
    speed: Array          #: (n,)
    place: Array          #: (e, PLACE) scratch of `find_near`
    count: IntArray       #: (1,) pairs watched
    pairs: LongArray      #: (p,) pairs watched
    witness: Witness      #: of them
    zeta: Array           #: (p,) rates of their gaps [m/s]
    offset: Array         #: (p,) added to their gaps [m]
    gap: Array            #: (2, p) gaps at both ends of an interval [m]
    rate: Array           #: (2, p) and their rates [m/s]
    rejected: IntArray    #: (p,)
    one: LongArray        #: (1,) one pair, its witness and its rate
    witness_one: Witness
    zeta_one: Array       #: (1,)
    values: Array         #: (6 c + m,) numbers of the set, kind after kind, and of motors; inf = not watched
    done: IntArray        #: (6 c + m,)
    implied: IntArray     #: (c,) 1 where it follows from others that a contact touches
    slack: Array          #: (c,) added to slip: it has just begun, or turned [m/s]
    late: Array           #: (m,) added to what a motor has left of its way to its speed, or of its limit


def empty_track(model: Model, surface: Elements, radius: Array, pairs: int, contacts: int, rows: int) -> Track:
    """With room for so many pairs apart, contacts in the set, and rows of joints; radius (n,) of the bodies [m]."""
    n = len(model.kind)
    lines, links = [np.zeros(n) for _ in range(4)], empty_tree_scratch(model.trees).work
    return Track(
        np.zeros(3), np.zeros(3), empty_state(n).bodies, empty_joints(model.trees), links, radius,
        lines[0], np.zeros((n, 3)), lines[1], lines[2], lines[3], np.zeros((len(surface.kind), PLACE)),
        np.zeros(1, np.int32), np.zeros(pairs, np.int64), empty_witness(pairs), np.zeros(pairs), np.zeros(pairs),
        np.zeros((2, pairs)), np.zeros((2, pairs)), np.zeros(pairs, np.int32), np.zeros(1, np.int64), empty_witness(1),
        np.zeros(1), np.zeros(KINDS * contacts + rows), np.zeros(KINDS * contacts + rows, np.int32),
        np.zeros(contacts, np.int32), np.zeros(contacts), np.zeros(rows),
    )


# ------------------------------------------------------------------------------------------------- looks at the curve
@helper
def go(model, tableau, y0, k, delta, track):
    """Bodies and links at the fraction delta of the piece from y0 with the stages k."""
    dense_output(model, tableau, track.span[0], track.span[1], y0, k, delta, track.work, track.bodies, track.joints)


@kernel
def meet(model, surface, bodies, joints, pairs, count, witness, zeta_out):
    """Witnesses of the first `count` pairs, limits among them, and ζ, the rates of their gaps [m/s]."""
    find_witnesses(surface, bodies, pairs, count, witness)
    find_limits(model, surface, bodies, joints.q, pairs, count, witness)
    separation_rates(witness, bodies, count, zeta_out)
    limit_rates(model, surface, bodies, joints.q, joints.v, pairs, count, zeta_out)


@helper
def see_pairs(model, surface, track):
    """Witnesses and rates of the pairs watched, where the bodies are."""
    meet(model, surface, track.bodies, track.joints, track.pairs, np.int64(track.count[0]), track.witness, track.zeta)


@helper
def see_one(model, surface, pair, track):
    """The same of one pair, in `witness_one` and `zeta_one`."""
    track.one[0] = pair
    meet(model, surface, track.bodies, track.joints, track.one, np.int64(1), track.witness_one, track.zeta_one)


@helper
def see_forces(model, surface, chosen, loads, delta, track, scratch):
    """Forces of the current set where the bodies are, in the scratch."""
    trees, span = scratch.equations.trees, track.span
    trees.q[:], trees.v[:] = track.joints.q, track.joints.v
    constrained_rates(model, surface, chosen, loads, span[0] + delta * span[1], span[2], track.bodies, scratch,
                      scratch.rate)


@kernel
def look(model, surface, chosen, loads, tableau, y0, k, delta, forces, track, scratch):
    """Bodies, gaps and rates ζ of the pairs watched at the fraction delta of the piece; where forces = 1, also the
    forces of the current set, in the scratch."""
    go(model, tableau, y0, k, delta, track)
    see_pairs(model, surface, track)
    if forces == 1:
        see_forces(model, surface, chosen, loads, delta, track, scratch)


@helper
def name_implied(chosen, implied_out):
    """Mark the contacts of which no row is kept at zero along the normal."""
    for k in range(chosen.count[0]):
        implied_out[k] = 1
    for j in range(chosen.rows[0]):
        if chosen.row[j] % 3 == 0:
            implied_out[chosen.row[j] // 3] = 0


@helper
def slip_along(chosen, eq, k):
    """Slip of a sliding contact along its direction."""
    a, b = 0.0, 0.0
    for j in range(3):
        a += chosen.direction[k, j] * eq.tangent_1[k, j]
        b += chosen.direction[k, j] * eq.tangent_2[k, j]
    return a * eq.u[3 * k + 1] + b * eq.u[3 * k + 2]


@helper
def numbers_of_set(chosen, track, scratch):
    """Write the numbers of the set at the place whose forces were found last: negative = it cannot go on."""
    count, values = int(chosen.count[0]), track.values
    witness, eq, lam, levels = scratch.witness, scratch.equations, scratch.lam, track.levels
    for i in range(KINDS * count):
        values[i] = math.inf
    for k in range(count):
        mode = chosen.mode[k]
        values[MARGIN * count + k] = witness.margin[k] + EDGE
        if track.implied[k] == 1:
            off = -witness.gap[k] if mode == IDLE else abs(witness.gap[k])
            values[SINK * count + k] = levels[DEPTH] - off
        if mode == SLIDE:
            values[SLIP * count + k] = slip_along(chosen, eq, k) + SLOW + track.slack[k]
        if mode != IDLE and chosen.open[k] != UNKNOWN:
            values[FORCE * count + k] = lam[3 * k] + levels[LEAST_FORCE]
            if mode == STICK:
                rim = chosen.friction[k] * lam[3 * k]
                values[CONE * count + k] = rim - math.hypot(lam[3 * k + 1], lam[3 * k + 2]) + levels[LEAST_FORCE]
    for j in range(chosen.columns[0], chosen.columns[0] + chosen.columns[1]):
        values[SHARE * count + chosen.column[j] // 3] = levels[ASKS] - scratch.share[j]
    for r in range(len(eq.reactions.lam)):
        values[KINDS * count + r] = left_to_motor(eq.reactions, r) + track.late[r]


@helper
def left_to_motor(reactions, r):
    """What a motor with a limit that holds its speed has left of the limit; of one that does not, how far it is from
    it. inf of others."""
    mode = reactions.mode[r]
    if reactions.limit[r] == math.inf or mode == OFF:
        return math.inf
    if mode == HOLDS:
        return (1.0 + FULL) * reactions.limit[r] - abs(reactions.lam[r])
    return mode * (reactions.seek[r] - reactions.u[r]) + SLOW


@helper
def watched(reactions):
    """Whether there are motors with a limit."""
    some = False
    for r in range(len(reactions.limit)):
        some = some or reactions.limit[r] < math.inf
    return some


# ------------------------------------------------------------------------------------------------- what to look at
@helper
def travel(model, tableau, y0, k, track):
    """How far each body's centre comes from where it starts (n,) [m], its largest spin [rad/s] and its first speed
    [m/s], seen at nodes between which none turns by more than TURN. Returns the number of intervals between these, and
    leaves the bodies at the start."""
    n, far, spin, speed, bodies, h = len(track.far), track.far, track.spin, track.speed, track.bodies, track.span[1]
    go(model, tableau, y0, k, 1.0, track)
    fastest = 0.0
    for i in range(n):
        spin[i] = norm(row(bodies.w, i))
        fastest = max(fastest, spin[i])
        far[i] = 0.0
    go(model, tableau, y0, k, 0.0, track)
    for i in range(n):
        speed[i] = norm(row(bodies.v, i))
        fastest = max(fastest, norm(row(bodies.w, i)))
        for j in range(3):
            track.start[i, j] = bodies.x[i, j]
    intervals = min(MANY, NODES + int(fastest * h / TURN))
    for node in range(intervals, -1, -1):
        go(model, tableau, y0, k, node / intervals, track)
        for i in range(n):
            far[i] = max(far[i], norm(sub(row(bodies.x, i), row(track.start, i))))
            spin[i] = max(spin[i], norm(row(bodies.w, i)))
    return intervals


@kernel
def pairs_near(model, surface, bodies, joints, depth, near, track):
    """Write the pairs of elements that are apart or overlap by `depth` at most and are within track.reach (n,) of each
    other, and the limits that are within `near`, with witnesses. Returns their number, which may exceed the room."""
    found = find_near(surface, bodies, track.reach, depth, EDGE, track.place, track.pairs, track.witness)
    found = near_limits(model, surface, bodies, joints.q, near, depth, found, track.pairs)
    count = min(found, len(track.pairs))
    track.count[0] = count
    find_limits(model, surface, bodies, joints.q, track.pairs, count, track.witness)
    return np.int64(found)


@kernel
def pairs_touching(model, surface, bodies, joints, depth, track):
    """Write the pairs that touch, overlap by `depth` at most, and face each other to track.pairs, their ζ to
    track.zeta. Returns their number, and that of the pairs looked at, which may exceed the room."""
    for i in range(len(track.reach)):
        track.reach[i] = 0.5 * TOUCH
    found, kept, witness = pairs_near(model, surface, bodies, joints, depth, TOUCH, track), 0, track.witness
    count = np.int64(track.count[0])
    separation_rates(witness, bodies, count, track.zeta)
    limit_rates(model, surface, bodies, joints.q, joints.v, track.pairs, count, track.zeta)
    for i in range(count):
        if witness.margin[i] >= -EDGE and witness.facing[i] >= FACING:
            track.pairs[kept], track.zeta[kept] = track.pairs[i], track.zeta[i]
            kept += 1
    return kept, found


@helper
def leave_set_out(model, surface, chosen, track):
    """Drop the pairs of the current set from those watched."""
    kept, pairs = 0, track.pairs
    for i in range(track.count[0]):
        held = False
        for k in range(chosen.count[0]):
            held = held or chosen.pair[k] == pairs[i]
        if not held:
            pairs[kept] = pairs[i]
            kept += 1
    track.count[0] = kept
    see_pairs(model, surface, track)


@helper
def watch(model, surface, chosen, tableau, y0, k, track):
    """Choose the pairs to watch: those apart at the start that the bodies' motion can bring together. Returns their
    number, which may exceed the room, and that of the intervals to look at."""
    intervals, h = travel(model, tableau, y0, k, track), track.span[1]
    for i in range(len(track.reach)):
        turn = min(track.spin[i] * h, 2.0) * track.radius[i]
        track.reach[i] = 1.1 * (track.far[i] + turn) + 0.1 * h * track.speed[i] + 2.0 * TOUCH
    found = pairs_near(model, surface, track.bodies, track.joints, TOUCH, math.inf, track)
    if found > len(track.pairs):
        return found, intervals
    leave_set_out(model, surface, chosen, track)
    for i in range(track.count[0]):
        # a pair that has just let go starts at φ = ζ = 0 but for rounding: it must get worse than that
        gap, offset = track.witness.gap[i], 0.0
        if gap < -TOUCH:
            offset = 0.5 * TOUCH  # beyond the rim of a wall; it may graze it on its way back
        elif gap < TOUCH:
            offset = max(-gap, 0.0) + (GRAZE if track.zeta[i] <= RESTS else 0.0)
        track.offset[i] = offset
    return found, intervals


# ------------------------------------------------------------------------------------------------- roots
@helper
def number(model, surface, chosen, loads, tableau, y0, k, delta, what, i, track, scratch):
    """At the fraction delta: the gap (what = GAP) or its rate (RATE) of the pair i watched, or the i-th NUMBER of the
    set."""
    go(model, tableau, y0, k, delta, track)
    if what == NUMBER:
        see_forces(model, surface, chosen, loads, delta, track, scratch)
        numbers_of_set(chosen, track, scratch)
        return track.values[i]
    see_one(model, surface, track.pairs[i], track)
    return track.witness_one.gap[0] + track.offset[i] if what == GAP else track.zeta_one[0]


@helper
def root(model, surface, chosen, loads, tableau, y0, k, lo, hi, what, i, track, scratch):
    """Where a number changes its sign between lo and hi; lo where it does not [Brent 1973, ch. 4]."""
    a, b = lo, hi
    f_a = number(model, surface, chosen, loads, tableau, y0, k, a, what, i, track, scratch)
    f_b = number(model, surface, chosen, loads, tableau, y0, k, b, what, i, track, scratch)
    if (f_a < 0.0) == (f_b < 0.0) or f_a == 0.0:
        return lo
    c, f_c, step, last = a, f_a, b - a, b - a  # b the best so far, a the one before, c with the other sign
    for _ in range(ROOT_STEPS):
        if (f_b < 0.0) == (f_c < 0.0):
            c, f_c, step, last = a, f_a, b - a, b - a
        if abs(f_c) < abs(f_b):
            a, b, c, f_a, f_b, f_c = b, c, b, f_b, f_c, f_b
        enough, half = 4e-16 * abs(b) + 0.5 * TIME / track.span[1], 0.5 * (c - b)
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
        f_b = number(model, surface, chosen, loads, tableau, y0, k, b, what, i, track, scratch)
    return b


# ------------------------------------------------------------------------------------------------- events
@helper
def first_gap(track, length):
    """Of the gaps at both ends of an interval of `length` [s]: the pair that is deepest among those that fall below
    zero or may dip below it between, -1 = none."""
    best = -1
    for i in range(track.count[0]):
        f, g, df, dg = track.gap[0, i], track.gap[1, i], track.rate[0, i], track.rate[1, i]
        falls = g < 0.0 and (f > 0.0 or df > 0.0 or f == 0.0)
        if f <= 0.0 and df >= 0.0 and dg >= 0.0:
            falls = False  # it opens: what its gap loses is rounding, or the integrator's error
        dips = g >= 0.0 and df < 0.0 and dg > 0.0 and f <= -df * length
        if (falls or dips) and track.rejected[i] == 0 and (best < 0 or g < track.gap[1, best]):
            best = i
    return best


@helper
def gap_event(model, surface, chosen, loads, tableau, y0, k, lo, hi, track, scratch, event_out):
    """The first gap that falls below zero between lo and hi, where its elements face: delta and row of the event, whose
    kind it writes where there is one. With every one found the others have less time left, and most are out."""
    gap, rate = track.gap, track.rate
    for i in range(track.count[0]):
        track.rejected[i] = 0
    while True:
        i = first_gap(track, (hi - lo) * track.span[1])
        if i < 0:
            return
        track.rejected[i] = 1
        start, end = lo, hi
        if gap[1, i] >= 0.0:                            # down and up again: end at the bottom
            end = root(model, surface, chosen, loads, tableau, y0, k, lo, hi, RATE, i, track, scratch)
            if number(model, surface, chosen, loads, tableau, y0, k, end, GAP, i, track, scratch) >= 0.0:
                continue
        elif rate[0, i] > 0.0 and rate[1, i] < 0.0:     # up and down again: begin at the top
            start = root(model, surface, chosen, loads, tableau, y0, k, lo, hi, RATE, i, track, scratch)
        delta = root(model, surface, chosen, loads, tableau, y0, k, start, end, GAP, i, track, scratch)
        go(model, tableau, y0, k, delta, track)
        see_one(model, surface, track.pairs[i], track)
        if track.witness_one.margin[0] >= -EDGE and track.witness_one.facing[0] >= FACING:
            event_out[0], event_out[1], event_out[2], hi = delta, float(GAP), float(i), delta
            see_pairs(model, surface, track)
            note_gaps(track, 1)


@helper
def note_gaps(track, end):
    """Write the gaps and rates seen last as those at an end of the interval."""
    for i in range(track.count[0]):
        track.gap[end, i], track.rate[end, i] = track.witness.gap[i] + track.offset[i], track.zeta[i]


@helper
def name_event(count, delta, i, event_out):
    """The event that the i-th number has become negative at the fraction delta."""
    if i < KINDS * count:
        event_out[0], event_out[1], event_out[2] = delta, float(i // count), float(i % count)
    else:
        event_out[0], event_out[1], event_out[2] = delta, float(MOTOR), float(i - KINDS * count)


@helper
def end_of_set(model, surface, chosen, loads, tableau, y0, k, lo, hi, track, scratch, event_out):
    """The first number of the set that falls below zero between lo and hi, where all of them were seen last, or at the
    event found, where that is earlier."""
    count, values = int(chosen.count[0]), track.values
    size = KINDS * count + len(track.late)
    for i in range(size):
        track.done[i] = 0
    while True:
        least = -1
        for i in range(size):
            if values[i] < 0.0 and track.done[i] == 0 and (least < 0 or values[i] < values[least]):
                least = i
        if least < 0:
            return
        track.done[least] = 1
        hi = root(model, surface, chosen, loads, tableau, y0, k, lo, hi, NUMBER, least, track, scratch)
        name_event(count, hi, least, event_out)
        number(model, surface, chosen, loads, tableau, y0, k, hi, NUMBER, least, track, scratch)


@helper
def wrong_at_start(model, surface, chosen, loads, track, scratch, event_out):
    """Whether the set cannot even begin to go on, with the event. A slip that has just begun may be a little below
    zero: it must get worse than that. So may what is left to a motor that has just changed."""
    count = int(chosen.count[0])
    name_implied(chosen, track.implied)
    see_forces(model, surface, chosen, loads, 0.0, track, scratch)
    for j in range(count):
        slip = slip_along(chosen, scratch.equations, j)
        track.slack[j] = -slip if -SLIPS <= slip < 0.0 else 0.0
    reactions = scratch.equations.reactions
    for r in range(len(track.late)):
        left, enough = left_to_motor(reactions, r), SLIPS if reactions.mode[r] != HOLDS else JUST * reactions.limit[r]
        track.late[r] = -left if -enough <= left < 0.0 else 0.0
    numbers_of_set(chosen, track, scratch)
    for i in range(KINDS * count + len(track.late)):
        if track.values[i] < 0.0:
            name_event(count, 0.0, i, event_out)
            return True
    return False


@kernel
def find_event(model, surface, chosen, loads, tableau, y0, k, blind, track, scratch, event_out):
    """Write the first event of the piece: δ, its kind, -1 = none, and its row, of the pairs watched for GAP, of the set
    for the others. blind = 1: only gaps count. Returns the number of pairs to watch; where that exceeds the room,
    nothing was searched."""
    found, intervals = watch(model, surface, chosen, tableau, y0, k, track)
    event_out[0], event_out[1], event_out[2] = 1.0, -1.0, -1.0
    motors = watched(scratch.equations.reactions)
    if found > len(track.pairs) or (track.count[0] + chosen.count[0] == 0 and not motors):
        return found
    sets = (chosen.count[0] > 0 or motors) and blind == 0
    note_gaps(track, 0)
    if sets and wrong_at_start(model, surface, chosen, loads, track, scratch, event_out):
        return found
    for node in range(intervals):
        lo, hi = node / intervals, (node + 1) / intervals
        go(model, tableau, y0, k, hi, track)
        see_pairs(model, surface, track)
        note_gaps(track, 1)
        gap_event(model, surface, chosen, loads, tableau, y0, k, lo, hi, track, scratch, event_out)
        if sets:
            end = event_out[0] if event_out[1] >= 0.0 else hi
            number(model, surface, chosen, loads, tableau, y0, k, end, NUMBER, 0, track, scratch)
            end_of_set(model, surface, chosen, loads, tableau, y0, k, lo, end, track, scratch, event_out)
        if event_out[1] >= 0.0:
            return found
        for i in range(track.count[0]):
            track.gap[0, i], track.rate[0, i] = track.gap[1, i], track.rate[1, i]
    return found
