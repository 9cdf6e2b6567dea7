"""The contact problem as data: what a solver gets and what one residual judges.

Unknown: the impulses λ of c contacts; given: how velocities answer them.

    u = M λ + d        M (k, k) contact-space inverse inertia [1/kg], d (k,) velocity without λ [m/s]

Frictionless, k = c: 0 <= u ⊥ λ >= 0. Frictional, k = 3c, row 3i normal and 3i + 1, 3i + 2 tangential of contact i:
Signorini's condition on the normal part and Coulomb's law with the circular cone on the tangential part (see `laws`).
Restitution is part of d: d_n contains e ζ⁻, so that u_n >= 0 says ζ⁺ >= -e ζ⁻. The same data serve forces, with
accelerations for u and d.
"""

import pathlib
import zipfile
from dataclasses import dataclass
from enum import Flag, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.model import NO_TREES, Array, IntArray, Trees


class Takes(Flag):
    """Which problems a solver takes."""

    FRICTIONLESS = auto()  #: written out, one row a contact
    FRICTION = auto()      #: written out, three rows a contact
    BODIES = auto()        #: a `System`, whose matrix is never formed


class CannotSolve(Exception):
    """A solver cannot take the contacts of this instant; the message is one sentence for the user."""


NO_ROWS = np.zeros(0, np.int32)
NO_ROWS.flags.writeable = False


class SolveInfo(NamedTuple):
    """How a solver fared.

    status: "solved"; "iterations": stopped by the limit before its tolerance was met; "infeasible": there is no
    solution, as `certificate` proves; "glued": what plain Gauss–Seidel finds where contacts pull; "ray", "stuck": the
    method ended without an answer, which cannot happen without friction where M is symmetric positive semidefinite and
    well enough conditioned.
    """

    status: str
    iterations: int  #: sweeps, rounds or steps, whatever the method counts
    change: float    #: what is still wrong or has last been changed [unit of d]
    pivots: int = 0  #: exchanges of a contact into or out of the basis
    #: rows of the basis, ascending, or of forces that do not vanish: λ vanishes elsewhere
    basic: IntArray = NO_ROWS
    certificate: Array | None = None  #: (k,) see `solvers.pivoting`, largest entry 1; None unless infeasible


@dataclass(frozen=True)
class ContactProblem:
    """A contact problem with the matrix written out; compare `System`, which knows the bodies instead."""

    M: Array         #: (k, k) [1/kg]
    d: Array         #: (k,) [m/s]
    friction: Array  #: (c,) mu of each contact; empty = frictionless, one row a contact

    def __post_init__(self) -> None:
        k = len(self.d)
        if self.M.shape != (k, k):
            raise ValueError(f"M must be {k} x {k} to go with d of length {k}, not of shape {self.M.shape}")
        if len(self.friction) and 3 * len(self.friction) != k:
            raise ValueError(f"{len(self.friction)} friction coefficients ask for d of length "
                             f"{3 * len(self.friction)}, not {k}")
        if not (np.isfinite(self.M).all() and np.isfinite(self.d).all()):
            raise ValueError("M and d must be finite")
        if not (self.friction >= 0).all():
            raise ValueError("friction coefficients must be >= 0")

    @classmethod
    def frictionless(cls, M: ArrayLike, d: ArrayLike) -> "ContactProblem":
        """The LCP 0 <= M λ + d ⊥ λ >= 0 from M (c, c) and d (c,)."""
        return cls(_floats(M), _floats(d).ravel(), np.zeros(0))

    @classmethod
    def frictional(cls, M: ArrayLike, d: ArrayLike, friction: ArrayLike) -> "ContactProblem":
        """A problem with Coulomb friction from M (3c, 3c), d (3c,) and mu (c,) or one mu for all."""
        d = _floats(d).ravel()
        mu = np.broadcast_to(_floats(friction), (len(d) // 3,))
        return cls(_floats(M), d, mu.copy())

    @property
    def contact_count(self) -> int:
        return len(self.friction) if len(self.friction) else len(self.d)

    @property
    def dimension(self) -> int:
        """Rows of a contact: 3 with friction, 1 without."""
        return 3 if len(self.friction) else 1

    def save(self, path: pathlib.Path | str) -> None:
        """Write the problem to an .npz file."""
        np.savez(path, M=self.M, d=self.d, friction=self.friction)

    @classmethod
    def load(cls, path: pathlib.Path | str) -> "ContactProblem":
        """Read a problem written by `save`; ValueError names the file and what is wrong with it."""
        try:
            with np.load(path, allow_pickle=False) as data:
                missing = {"M", "d", "friction"} - set(data.files)
                if missing:
                    raise ValueError(f"no array {' or '.join(sorted(missing))}")
                return cls(*(_floats(data[name]) for name in ("M", "d", "friction")))
        except (OSError, ValueError, AttributeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: not a contact problem: {error}") from error


def _floats(a: ArrayLike) -> Array:
    return np.ascontiguousarray(a, np.float64)


class Grab(NamedTuple):
    """The mouse spring as three soft rows: (1 + γ) W p + (u without p) + bias = 0, |p| <= limit; W p = effect on u."""

    body: IntArray   #: (1,)  body it pulls, -1 = none
    link: IntArray   #: (1,)  1: the body is a link, and the tree answers with row 0 of J and Y
    turn: IntArray   #: (1,)  0: p is an impulse at the arm's end and u its velocity; 1: p is angular and u = ω
    arm: Array       #: (3,)  from the centre of mass to the point held [m]
    matrix: Array    #: (6,)  W: xx xy xz yy yz zz
    inverse: Array   #: (6,)  W⁻¹
    bias: Array      #: (3,)  [m/s] or [rad/s]
    softness: Array  #: (1,)  γ
    limit: Array     #: (1,)  [N s] or [N m s]
    impulse: Array   #: (3,)  p


# columns of System.rows
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

# columns of System.bodies
LINEAR = 0     # v [m/s]
ANGULAR = 3    # ω [rad/s]
INV_MASS = 6   # 0 for bodies that are not dynamic
INV_INERTIA = 7  # I⁻¹ in the world frame: xx xy xz yy yz zz, 0 for bodies that are not dynamic
BODY_SIZE = 16  # two cache lines


# TreeRows.slot of a side that is no link, and of one that the other side's row contains
ON_BODY, OTHER_SIDE = -1, -2

# columns of TreeRows.number
COEFFICIENTS = 0   # of up to three velocities
JOINT_BIAS = 3     # [rad/s] or [m/s]
JOINT_STEP = 4     # 1 / (J H⁻¹ Jᵀ)
LOW = 5            # bounds of the impulse [N m s] or [N s]
HIGH = 6
JOINT_IMPULSE = 7
NUMBER_SIZE = 8


class TreeRows(NamedTuple):
    """What contacts on links, limits and motors know of the trees (see `link_rows`)."""

    v: Array           #: (n_v,) velocities of the trees; they contain the effect of all impulses
    linked: IntArray   #: (c,) 1 where a side of `Contacts` row i is a link
    slot: IntArray     #: (c, 2) row of J and Y for side a and b, or ON_BODY, or OTHER_SIDE
    span: IntArray     #: (s, 2) the tree's first velocity and their number
    J: Array           #: (s, 3, w) velocity of the contact point per velocity of the tree
    Y: Array           #: (s, w, 3) H⁻¹ Jᵀ
    count: IntArray    #: (1,) limits and motors in use
    dof: IntArray      #: (r, 4) first velocity, how many; the tree's first, how many
    number: Array      #: (r, NUMBER_SIZE) see COEFFICIENTS …
    response: Array    #: (r, w) H⁻¹ Jᵀ
    gap: Array         #: (r,) distance to the limit [rad] or [m], inf of a motor
    unit: Array        #: (n_v,) scratch, zero between uses


def empty_tree_rows(contacts: int, slots: int, trees: Trees) -> TreeRows:
    """Room for so many contacts, rows of J and Y, and all limits and motors of the trees."""
    velocities = int(trees.first_v[-1])
    width, rows = int(np.diff(trees.start_v).max(initial=0)), 3 * velocities
    return TreeRows(
        v=np.zeros(velocities), linked=np.zeros(contacts, np.int32), slot=np.full((contacts, 2), ON_BODY, np.int32),
        span=np.zeros((slots, 2), np.int32), J=np.zeros((slots, 3, width)), Y=np.zeros((slots, width, 3)),
        count=np.zeros(1, np.int32), dof=np.zeros((rows, 4), np.int32), number=np.zeros((rows, NUMBER_SIZE)),
        response=np.zeros((rows, width)), gap=np.zeros(rows), unit=np.zeros(velocities),
    )


class System(NamedTuple):
    """The same problem in the bodies' own terms, everything in the world frame; row i is contact i.

    u_i = (v_b + ω_b × r_b) - (v_a + ω_a × r_a) + bias_i, velocities being those in `bodies`, which contain the effect
    of `impulse`: M is never formed. What a visit to a contact reads lies side by side, in few cache lines.
    """

    count: IntArray     #: (1,) rows in use
    contact: IntArray   #: (c,)   the row of `Contacts` this is
    fired: IntArray     #: (c,)   1 where restitution acts
    body_a: IntArray    #: (c,)
    body_b: IntArray    #: (c,)
    rows: Array         #: (c, ROW_SIZE) see NORMAL …
    impulse: Array      #: (c, 3) the unknown: impulse on b [N s]
    bodies: Array       #: (n, BODY_SIZE) see LINEAR …
    grab: Grab
    trees: TreeRows


def empty_system(bodies: int, capacity: int, trees: Trees = NO_TREES) -> System:
    """A system of `bodies` bodies and the trees with room for `capacity` contacts and none in use."""

    def ints() -> IntArray:
        return np.zeros(capacity, np.int32)

    return System(
        count=np.zeros(1, np.int32), contact=ints(), fired=ints(), body_a=ints(), body_b=ints(),
        rows=np.zeros((capacity, ROW_SIZE)), impulse=np.zeros((capacity, 3)), bodies=np.zeros((bodies, BODY_SIZE)),
        grab=Grab(np.full(1, -1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(3), np.zeros(6),
                  np.zeros(6), np.zeros(3), np.zeros(1), np.zeros(1), np.zeros(3)),
        trees=empty_tree_rows(capacity, 1, trees),
    )
