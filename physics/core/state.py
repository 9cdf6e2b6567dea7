"""State: all that changes during a run and that an exact restore needs. Contacts: what a method reports of a step."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import Array, IntArray
from .tuple_abi import resize

LongArray = NDArray[np.int64]


class Bodies(NamedTuple):
    """Row i of every array is body i. Momenta are the state of dynamic bodies [Baraff I §2.11]; v and w follow from
    them, v = P/m and ω = R I⁻¹ Rᵀ L. Both are prescribed for kinematic bodies and zero for fixed ones."""

    x: Array  #: (n, 3) centre of mass [m], world frame
    q: Array  #: (n, 4) orientation body -> world, unit quaternion w x y z
    P: Array  #: (n, 3) momentum [kg m/s], world frame
    L: Array  #: (n, 3) angular momentum about the centre of mass [kg m2/s], world frame
    v: Array  #: (n, 3) velocity of the centre of mass [m/s], world frame
    w: Array  #: (n, 3) angular velocity [rad/s], world frame


class Owner(IntEnum):
    """Which method wrote a ContactMemory."""

    NOBODY = 0
    TIME_STEPPING = 1
    EVENT_DRIVEN = 2
    COMPLIANT = 3


class ContactMemory(NamedTuple):
    """Contacts of the last step, for warm starting and to tell a new contact from a persisting one. Rows are ordered
    by shape pair as in Contacts. Every method writes all columns; only the owner reads `own`."""

    count: IntArray   #: (1,)
    key: LongArray    #: (c,)   `Contacts.key` of that step
    shapes: IntArray  #: (c, 2) a, b
    place: Array      #: (c, 3) contact point from the centre of mass of a moving body of the pair [m], world axes
    impulse: Array    #: (c, 3) impulse on body b [N s], world frame; 0 after an impact. Behind those of contacts
                      #: `time_stepping` keeps those of motors and limits, one after the other, `problem.joint_rows`
    touching: IntArray  #: (c,) 1 where the contact was in the current set
    own: Array        #: (c, 12) numbers of the owner
    owner: IntArray   #: (1,)   an Owner


class Tally(IntEnum):
    """Entries of `State.tally`: counts of the event-driven method since the start."""

    STEPS = 0
    PIECES = 1      # integrator steps, those cut at events included
    SOLVES = 2      # contact problems solved for sets or impulses
    EVENTS = 3
    PROJECTION = 4  # energy that the projection of drift put in [J]


class JointState(NamedTuple):
    """Generalized coordinates of all links, in the order of `Trees`; the rows of links in Bodies follow from them."""

    q: Array  #: (n_q,) positions [rad], [m] or quaternions, see JointType
    v: Array  #: (n_v,) velocities [rad/s] or [m/s]


NO_COORDINATES = JointState(np.zeros(0), np.zeros(0))  #: of a model without links; shared, as it holds no number


class Surfaces(NamedTuple):
    """States of the compliant surfaces at the contacts [RBDA §11.8]: up to two in series, of body a and of body b.

    The method `compliant` writes them, in the order of shape pairs, with their instant `t`. No other method does: after
    a step of it `t` differs from the time of the state, and they are out of date.
    """

    t: Array          #: (1,) instant they belong to [s]; < 0: none
    count: IntArray   #: (1,)
    key: LongArray    #: (c,)   as in ContactMemory, like shapes and place
    shapes: IntArray  #: (c, 2)
    place: Array      #: (c, 3)
    normal: Array     #: (c, 3) contact normal that surface_x is perpendicular to, world frame
    surface_z: Array  #: (c, 2) z of each surface along the normal, < 0 where it is pressed in [m]
    surface_x: Array  #: (c, 2, 3) x of each surface, its tangential displacement [m], world frame
    mode: IntArray    #: (c,)   0 free, 1 sticking, 2 sliding
    start: Array      #: (c,)   p_0 <= 0, the gap where a contact began that appeared deep: p counts from it [m]
    dissipated: Array #: (1,) energy lost to damping and friction since the method began [J]


class Sleep(NamedTuple):
    """Islands at rest that `time_stepping` leaves out of its steps, see `methods.sleep`."""

    calm: IntArray    #: (n,) steps in a row in which the body was still
    island: IntArray  #: (n,) the first body of the island that sleeps with it, -1 = it is awake
    settings: IntArray  #: (1,) names the settings under which they fell asleep
    held: Array       #: (2, 6) momentum and angular momentum that normal forces and friction give them in a step
    contacts: ContactMemory  #: theirs, of the step in which they fell asleep
    facing: Array     #: (c, 4) normals of these contacts, and their gaps [m]


LEDGER = (16, 7)  #: rows: `ledger.Account`; columns: energy, momentum (3), angular momentum (3)


class State(NamedTuple):
    """All that changes during a run."""

    t: Array          #: (1,) time [s]
    bodies: Bodies
    memory: ContactMemory
    tally: Array      #: (5,) see Tally
    surfaces: Surfaces
    ledger: Array     #: shape LEDGER, energy and momenta by cause since the start, see `books.ledger`
    sleep: Sleep
    joints: JointState = NO_COORDINATES


class Case(IntEnum):
    """Cases of a contact with the gap phi and the normal separation velocity zeta [RBDA table 11.1]."""

    APART = 1       # phi > 0
    COLLIDING = 2   # 2a: phi = 0, zeta < 0
    SEPARATING = 3  # 2b: phi = 0, zeta > 0
    RESTING = 4     # 3:  phi = 0, zeta = 0


class Contacts(NamedTuple):
    """Contact points as a struct of arrays; the first count[0] rows are valid.

    Collision detection fills the columns up to `friction`, the method fills the others. The impulse and the friction
    force are those on body b; body a gets the opposite.
    """

    count: IntArray      #: (1,)
    body_a: IntArray     #: (c,)   predecessor
    body_b: IntArray     #: (c,)   successor
    shape_a: IntArray    #: (c,)
    shape_b: IntArray    #: (c,)
    key: LongArray       #: (c,)   names the same contact in the next step: shape pair and feature
    point: Array         #: (c, 3) midway between the two surfaces [m], world frame
    normal: Array        #: (c, 3) unit, from body a to body b, world frame
    gap: Array           #: (c,)   phi [m]: > 0 apart, < 0 overlapping
    restitution: Array   #: (c,)   e of the pair
    friction: Array      #: (c,)   mu of the pair
    zeta: Array          #: (c,)   normal separation velocity at the end of the step [m/s]
    zeta_dot: Array      #: (c,)   its rate of change over the step [m/s2]
    lam: Array           #: (c,)   mean normal force over the step [N], >= 0
    impulse: Array       #: (c, 3) whole contact impulse of the step on body b [N s], world frame
    friction_force: Array  #: (c, 3) mean tangential force over the step on body b [N], world frame
    slip: Array          #: (c,)   tangential speed at the end of the step [m/s]
    case: IntArray       #: (c,)   a Case
    current: IntArray    #: (c,)   1 in the current set: case 3 with ζ̇ = 0; compliant surfaces: pressed
    active: IntArray     #: (c,)   1 in the active set: contacts of the current set with λ > 0, and those with λ = 0
                         #:        that complete a basis of the normals [RBDA §11.5]


def empty_contacts(capacity: int) -> Contacts:
    """Contacts with room for `capacity` rows and none in use."""

    def ints() -> IntArray:
        return np.zeros(capacity, np.int32)

    def floats(*width: int) -> Array:
        return np.zeros((capacity, *width))

    return Contacts(
        count=np.zeros(1, np.int32),
        body_a=ints(), body_b=ints(), shape_a=ints(), shape_b=ints(), key=np.zeros(capacity, np.int64),
        point=floats(3), normal=floats(3), gap=floats(), restitution=floats(), friction=floats(),
        zeta=floats(), zeta_dot=floats(), lam=floats(), impulse=floats(3), friction_force=floats(3), slip=floats(),
        case=ints(), current=ints(), active=ints(),
    )


def empty_memory(capacity: int = 0) -> ContactMemory:
    return ContactMemory(np.zeros(1, np.int32), np.zeros(capacity, np.int64), np.zeros((capacity, 2), np.int32),
                         np.zeros((capacity, 3)), np.zeros((capacity, 3)), np.zeros(capacity, np.int32),
                         np.zeros((capacity, 12)), np.zeros(1, np.int32))


def grow_memory(memory: ContactMemory, rows: int) -> None:
    """Make room for at least `rows` rows in place, so that the State keeps its arrays."""
    if rows > len(memory.key):
        for name in ("key", "shapes", "place", "impulse", "touching", "own"):
            resize(getattr(memory, name), rows + rows // 4 + 4)


def empty_sleep(n: int) -> Sleep:
    """Of n bodies, all awake."""
    return Sleep(np.zeros(n, np.int32), np.full(n, -1, np.int32), np.zeros(1, np.int32), np.zeros((2, 6)),
                 empty_memory(), np.zeros((0, 4)))


def empty_surfaces(capacity: int = 0) -> Surfaces:
    return Surfaces(
        np.full(1, -1.0), np.zeros(1, np.int32), np.zeros(capacity, np.int64), np.zeros((capacity, 2), np.int32),
        np.zeros((capacity, 3)), np.zeros((capacity, 3)), np.zeros((capacity, 2)), np.zeros((capacity, 2, 3)),
        np.zeros(capacity, np.int32), np.zeros(capacity), np.zeros(1))


def empty_state(n: int) -> State:
    """A state of n bodies at rest at the origin."""
    q = np.zeros((n, 4))
    q[:, 0] = 1.0
    bodies = Bodies(np.zeros((n, 3)), q, np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)))
    return State(
        np.zeros(1), bodies, empty_memory(), np.zeros(len(Tally)), empty_surfaces(), np.zeros(LEDGER),
        empty_sleep(n))


def copy_state(state: State) -> State:
    """A deep copy: the two share no array, so either may be stepped."""
    bodies = Bodies._make(a.copy() for a in state.bodies)
    joints = JointState(state.joints.q.copy(), state.joints.v.copy())
    memory = ContactMemory._make(a.copy() for a in state.memory)
    surfaces, sleep = Surfaces._make(a.copy() for a in state.surfaces), state.sleep
    sleep = Sleep(sleep.calm.copy(), sleep.island.copy(), sleep.settings.copy(), sleep.held.copy(),
                  ContactMemory._make(a.copy() for a in sleep.contacts), sleep.facing.copy())
    return State(state.t.copy(), bodies, memory, state.tally.copy(), surfaces, state.ledger.copy(), sleep, joints)
