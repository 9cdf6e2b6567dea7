"""The contact problem of a step in terms of what moves: impulses act on velocities, and M is never formed.

    u = J q̇ + bias,    q̇ += Y p,    Y = H⁻¹ Jᵀ,    p and u obey the law of their row

q̇ is one array: first the rows of all bodies, then the velocities of all trees (`Motion`). Rows have two layouts:

- a contact between two bodies that nothing else holds is one wide row of `System.rows`: J is known from the arms, Y
  from mass and inertia. Piles consist of these, and what a visit reads lies side by side, in few cache lines.
- all other rows stand in `Blocks`, with J and Y written out over the velocities that they concern: contacts on links
  and on bodies that constraints connect, the mouse spring, limits and motors, moments of contacts.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, inlined
from ..core.model import Array, IntArray
from ..core.prefetch import prefetch_row
from ..core.sym3 import six, sym_vec, three
from ..core.vec import add, cross, neg, row, sub

# columns of System.rows, the wide row of a contact
NORMAL = 0     # n, from a to b
ARM_A = 3      # from the centre of mass of a to the contact point [m]
ARM_B = 6
BIAS = 9       # surface velocities and, along the normal, restitution or gap [m/s]
INVERSE = 12   # inverse of the contact's own 3 x 3 block W: xx xy xz yy yz zz [kg]
COUPLING = 18  # W n [1/kg]
FRICTION = 21  # mu
SLIP_STEP = 22  # 1 / largest eigenvalue of W in the tangent plane [kg]
NORMAL_STEP = 23  # 1 / (n·W n) [kg]
ROW_SIZE = 24

# columns of Motion.bodies
LINEAR = 0     # v [m/s]
ANGULAR = 3    # ω [rad/s]
INV_MASS = 6   # 0 for bodies that are not dynamic
INV_INERTIA = 7  # I⁻¹ in the world frame: xx xy xz yy yz zz, 0 for bodies that are not dynamic
STIRRED = 13   # the last sweep that changed its velocity, see `solvers.sweeps`
BODY_SIZE = 16  # two cache lines

LAYERS = 64    # most layers of bodies, and so of parts, see `Parts`

CONTACT, MOUSE, LIMIT, MOTOR, MOMENT = range(5)  # Blocks.kind
USED, OTHERS, ENTRIES, SHORT = range(4)  # Blocks.count: blocks; those that are no contacts, which come first; entries;
                                         # 1 = there was no room for all blocks
PLACE, WIDTH, ENTRY, PART = range(4)     # columns of Blocks.span
GRAB_BLOCK = 0                           # the mouse's, where it pulls

AHEAD = 8  # contacts between what is asked for and what is visited: bodies of large piles lie outside the caches

SOFTEST = 1e-9  # part of the trace of W without constraints that is added to W of a point of a mechanism, which may
                # yield in some directions only, so that W is singular


class Motion(NamedTuple):
    """Velocities of all that moves, as one array and as views of its two parts."""

    q_dot: Array   #: (16 n + n_v,)
    bodies: Array  #: (n, BODY_SIZE) see LINEAR …; rows of links are not used as velocities
    v: Array       #: (n_v,) of trees [rad/s] or [m/s]


class Blocks(NamedTuple):
    """Rows with J and Y written out, in blocks of three (contact, moment, mouse spring) or of one (limit, motor).

    A block concerns one run of velocities, or a few; an entry is one velocity with its column of J and row of Y. The
    first runs are those of what the block acts on; bodies that move only because constraints pass its impulse on come
    after them and have J = 0. Blocks that are no contacts come first.
    """

    count: IntArray    #: (4,) see USED …
    kind: IntArray     #: (b,) CONTACT …
    first: IntArray    #: (b + 1,) block k has the runs first[k] : first[k + 1]
    seen: IntArray     #: (b,) of which those before seen[k] have J
    span: IntArray     #: (s, 4) of a run: its place in q̇, its length, first entry, part (`Mechanisms`)
    J: Array           #: (e, 3) velocity of each row per velocity of the entry
    Y: Array           #: (e, 3) H⁻¹ Jᵀ
    G: Array           #: (e, 3) of trees: rows of (J B)ᵀ with B Bᵀ = H⁻¹, see `dynamics.trees.tree: answer_rows`
    passed: IntArray   #: (b,) 1 = joints in maximal coordinates pass impulses on, and G says nothing
    bound: IntArray    #: (b,) row of a motor or limit, see `JointBounds`, or of a moment, see `Moments`
    bias: Array        #: (b,) of a limit or motor [rad/s] or [m/s]
    low: Array         #: (b,) least impulse of a limit or motor [N m s] or [N s]
    high: Array        #: (b,) greatest
    step: Array        #: (b,) 1/(J Y)
    gap: Array         #: (b,) distance to a limit that positions have to keep, else inf [rad] or [m]
    impulse: Array     #: (b,) the unknown of a limit or motor


class MouseSpring(NamedTuple):
    """The mouse spring, block GRAB_BLOCK:  W p + γ S p + (u without p) + bias = 0,  |p| <= limit."""

    body: IntArray   #: (1,)  body it pulls, -1 = none
    turn: IntArray   #: (1,)  0: p is an impulse at the arm's end and u its velocity; 1: p is angular and u = ω
    arm: Array       #: (3,)  from the centre of mass to the grabbed point [m]
    matrix: Array    #: (6,)  S: xx xy xz yy yz zz, W or the like
    inverse: Array   #: (6,)  (W + γ S)⁻¹
    bias: Array      #: (3,)  [m/s] or [rad/s]
    softness: Array  #: (1,)  γ
    limit: Array     #: (1,)  [N s] or [N m s]
    impulse: Array   #: (3,)  p


class Moments(NamedTuple):
    """Moments of contacts against spinning and rolling, a block of three rows each; see `problem.moments`."""

    count: IntArray    #: (1,) in use
    contact: IntArray  #: (c,) the row of `Contacts` whose moment this is
    load: IntArray     #: (c,) contact of the system whose normal impulse bounds it, -1 = none does
    rows: Array        #: (c, ROW_SIZE) as of a contact, of ω_b - ω_a in place of u; ARM_A: ℓ_ψ and ℓ_r [m]
    impulse: Array     #: (c, 3) the unknown: angular impulse on b [N m s]


class Parts(NamedTuple):
    """Contacts that threads may visit at the same time, see `problem.parts`."""

    count: IntArray    #: (2,) parts of the first round, of both rounds; 0 where contacts are few
    first: IntArray    #: (LAYERS + 1,) part p has the contacts from first[p] to first[p + 1] of the system


class System(NamedTuple):
    """The problem of a step, everything in the world frame; row i of contact arrays is contact i.

    u_i = (v_b + ω_b × r_b) - (v_a + ω_a × r_a) + bias_i; the velocities in `motion` contain the effect of all impulses.
    """

    count: IntArray     #: (1,) contacts in use
    contact: IntArray   #: (c,)   the row of `Contacts` this is
    previous: IntArray  #: (c,)   the contact of the last step that it continues, -1 = none
    fired: IntArray     #: (c,)   1 where restitution acts
    body_a: IntArray    #: (c,)
    body_b: IntArray    #: (c,)
    block: IntArray     #: (c,)   the contact's block, -1 = none: the wide row says all
    rows: Array         #: (c, ROW_SIZE) see NORMAL …
    impulse: Array      #: (c, 3) the unknown: impulse on b [N s]
    motion: Motion
    grab: MouseSpring
    blocks: Blocks
    moments: Moments
    parts: Parts        #: of many contacts


def empty_motion(bodies: int, velocities: int) -> Motion:
    """No motion of so many bodies and of trees with so many velocities."""
    q_dot = np.zeros(BODY_SIZE * bodies + velocities)
    return Motion(q_dot, q_dot[: BODY_SIZE * bodies].reshape(bodies, BODY_SIZE), q_dot[BODY_SIZE * bodies :])


def empty_blocks(blocks: int, spans: int, entries: int) -> Blocks:
    """Room for so many blocks, their runs and entries."""

    def ints(*shape: int) -> IntArray:
        return np.zeros(shape, np.int32)

    J, Y, G = np.zeros((3, entries, 3))
    return Blocks(ints(4), ints(blocks), ints(blocks + 1), ints(blocks), ints(spans, 4), J, Y, G, ints(blocks),
                  ints(blocks), *np.zeros((6, blocks)))


def empty_system(motion: Motion, capacity: int, blocks: Blocks) -> System:
    """A system of what moves with room for `capacity` contacts and none in use."""

    def ints() -> IntArray:
        return np.zeros(capacity, np.int32)

    return System(
        count=np.zeros(1, np.int32), contact=ints(), previous=ints(), fired=ints(), body_a=ints(),
        body_b=ints(), block=ints(), rows=np.zeros((capacity, ROW_SIZE)), impulse=np.zeros((capacity, 3)),
        motion=motion, grab=MouseSpring(
            body=np.full(1, -1, np.int32), turn=np.zeros(1, np.int32), arm=np.zeros(3), matrix=np.zeros(6),
            inverse=np.zeros(6), bias=np.zeros(3), softness=np.zeros(1), limit=np.zeros(1), impulse=np.zeros(3)),
        blocks=blocks,
        moments=Moments(np.zeros(1, np.int32), ints(), ints(), np.zeros((capacity, ROW_SIZE)), np.zeros((capacity, 3))),
        parts=Parts(np.zeros(2, np.int32), np.zeros(LAYERS + 1, np.int32)))


# ------------------------------------------------------------------------------------------ rows of two free bodies
@helper
def velocity_between(v_a, w_a, arm_a, v_b, w_b, arm_b):
    """u = (v_b + ω_b × r_b) - (v_a + ω_a × r_a)"""
    return sub(add(v_b, cross(w_b, arm_b)), add(v_a, cross(w_a, arm_a)))


@helper
def relative_velocity(bodies, a, b, arm_a, arm_b):
    """The same from Motion.bodies."""
    return velocity_between(three(bodies, a, LINEAR), three(bodies, a, ANGULAR), arm_a,
                            three(bodies, b, LINEAR), three(bodies, b, ANGULAR), arm_b)


@helper
def push(bodies, i, arm, p):
    """Let the impulse p act on body i at the end of an arm: v += p/m, ω += I⁻¹ (r × p)"""
    m = bodies[i, INV_MASS]
    dw = sym_vec(six(bodies, i, INV_INERTIA), cross(arm, p))
    bodies[i, LINEAR] += m * p[0]
    bodies[i, LINEAR + 1] += m * p[1]
    bodies[i, LINEAR + 2] += m * p[2]
    bodies[i, ANGULAR] += dw[0]
    bodies[i, ANGULAR + 1] += dw[1]
    bodies[i, ANGULAR + 2] += dw[2]


# --------------------------------------------------------------------------------------------------------- blocks
@helper
def block_velocity(blocks, k, q_dot):
    """J q̇ of a block of three rows."""
    x, y, z = 0.0, 0.0, 0.0
    for s in range(blocks.first[k], blocks.seen[k]):
        at, e = blocks.span[s, PLACE], blocks.span[s, ENTRY]
        for d in range(blocks.span[s, WIDTH]):
            rate = q_dot[at + d]
            x += blocks.J[e + d, 0] * rate
            y += blocks.J[e + d, 1] * rate
            z += blocks.J[e + d, 2] * rate
    return (x, y, z)


@helper
def push_block(blocks, k, p, q_dot):
    """q̇ += Y p of a block of three rows."""
    for s in range(blocks.first[k], blocks.first[k + 1]):
        at, e = blocks.span[s, PLACE], blocks.span[s, ENTRY]
        for d in range(blocks.span[s, WIDTH]):
            q_dot[at + d] += blocks.Y[e + d, 0] * p[0] + blocks.Y[e + d, 1] * p[1] + blocks.Y[e + d, 2] * p[2]


@helper
def row_velocity(blocks, k, q_dot):
    """J q̇ of a block of one row."""
    u = 0.0
    for s in range(blocks.first[k], blocks.seen[k]):
        at, e = blocks.span[s, PLACE], blocks.span[s, ENTRY]
        for d in range(blocks.span[s, WIDTH]):
            u += blocks.J[e + d, 0] * q_dot[at + d]
    return u


@helper
def push_row(blocks, k, p, q_dot):
    """q̇ += Y p of a block of one row."""
    for s in range(blocks.first[k], blocks.first[k + 1]):
        at, e = blocks.span[s, PLACE], blocks.span[s, ENTRY]
        for d in range(blocks.span[s, WIDTH]):
            q_dot[at + d] += blocks.Y[e + d, 0] * p


@helper
def own_block(blocks, k):
    """W = J Y of a block of three rows as xx xy xz yy yz zz."""
    J, Y = blocks.J, blocks.Y
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(blocks.first[k], blocks.seen[k]):
        for e in range(blocks.span[s, ENTRY], blocks.span[s, ENTRY] + blocks.span[s, WIDTH]):
            xx += J[e, 0] * Y[e, 0]
            xy += J[e, 0] * Y[e, 1]
            xz += J[e, 0] * Y[e, 2]
            yy += J[e, 1] * Y[e, 1]
            yz += J[e, 1] * Y[e, 2]
            zz += J[e, 2] * Y[e, 2]
    return (xx, xy, xz, yy, yz, zz)


@helper
def own_row(blocks, k):
    """J Y of a block of one row."""
    total = 0.0
    for s in range(blocks.first[k], blocks.seen[k]):
        for e in range(blocks.span[s, ENTRY], blocks.span[s, ENTRY] + blocks.span[s, WIDTH]):
            total += blocks.J[e, 0] * blocks.Y[e, 0]
    return total


@helper
def clear_block(blocks, k, q_dot):
    """q̇ = 0 wherever an impulse of the block acts."""
    for s in range(blocks.first[k], blocks.first[k + 1]):
        at = blocks.span[s, PLACE]
        for d in range(blocks.span[s, WIDTH]):
            q_dot[at + d] = 0.0


@helper
def has_one_row(blocks, k):
    """Whether block k is a limit or a motor; others have three."""
    return blocks.kind[k] == LIMIT or blocks.kind[k] == MOTOR


@helper
def impulse_of(system, k):
    """Impulses of the rows of block k, which is no contact."""
    blocks = system.blocks
    if blocks.kind[k] == MOMENT:
        return row(system.moments.impulse, int(blocks.bound[k]))
    if blocks.kind[k] == MOUSE:
        p = system.grab.impulse
        return (p[0], p[1], p[2])
    return (blocks.impulse[k], 0.0, 0.0)


# -------------------------------------------------------------------------------------------------- any contact
@helper
def contact_velocity(system, bodies, q_dot, k):
    """u of contact k, bias left out, at velocities laid out as in Motion: bodies are the first part of q_dot."""
    if system.block[k] >= 0:
        return block_velocity(system.blocks, int(system.block[k]), q_dot)
    return relative_velocity(bodies, int(system.body_a[k]), int(system.body_b[k]),
                             three(system.rows, k, ARM_A), three(system.rows, k, ARM_B))


@inlined
def fetch_bodies(bodies, contacts, k):
    """Ask for the rows of the bodies of contact k, which are soon visited: see `AHEAD`."""
    prefetch_row(bodies, contacts.body_a[k])
    prefetch_row(bodies, contacts.body_b[k])


@helper
def pair_velocity(system, motion, k):
    """The same at the velocities of a Motion."""
    return contact_velocity(system, motion.bodies, motion.q_dot, k)


@helper
def push_contact(system, bodies, q_dot, k, p):
    """Let the impulse p of contact k act on b, -p on a, and both on all that joints connect with them."""
    if system.block[k] >= 0:
        push_block(system.blocks, int(system.block[k]), p, q_dot)
    else:
        push(bodies, int(system.body_b[k]), three(system.rows, k, ARM_B), p)
        push(bodies, int(system.body_a[k]), three(system.rows, k, ARM_A), neg(p))


@helper
def push_pair(system, motion, k, p):
    """The same on a Motion."""
    push_contact(system, motion.bodies, motion.q_dot, k, p)
