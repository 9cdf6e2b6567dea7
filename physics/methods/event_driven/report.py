"""What the event-driven method reports at the end of a step and remembers from step to step.

Of `ContactMemory.own` it uses for each contact: its mode; the rows that are kept at zero, one bit each; whether its
force is unique; and three places for the direction of slip of a sliding contact (3,). `key` is the pair of surface
elements.
"""

import numpy as np

from ...collision.exact.elements import limits_among, shapes_of
from ...core.copy_in_place import copy_bodies, copy_joints
from ...core.jit import kernel
from ...core.model import Array, BoolArray, IntArray, movable
from ...core.state import Case, ContactMemory, Contacts, LongArray, Owner, Tally, empty_contacts, grow_memory
from ...core.vec import put_all, put_rows
from ...dynamics.forces import empty_loads
from ...problem.problem import ContactProblem
from ...problem.residual import natural_map
from ...solvers.least_forces import ZERO
from .books import PairImpulses
from .impact import without
from .instant import world_forces
from .materials import PairMaterials
from .piece import own_place
from .rates import Instant
from .sets import STICK, ContactSet, Friction, list_columns
from .tolerances import EDGE, FACING, RESTS, TOUCH
from .workspace import Workspace

MODE, ROWS, OPEN, DIRECTION = 0, 1, 2, slice(3, 6)  # columns of ContactMemory.own


def remember(chosen: ContactSet, shapes: IntArray, place: Array, impulse: Array, memory: ContactMemory) -> None:
    """Write the current set to the memory, sorted by shapes (c, 2); place (c, 3) and impulse (c, 3) as the memory
    says."""
    count = int(chosen.count[0])
    grow_memory(memory, count)
    bits = np.zeros(count)
    for r in chosen.row[: chosen.rows[0]].tolist():
        bits[r // 3] += 1 << (r % 3)
    order = np.lexsort([chosen.pair[:count], shapes[:, 1], shapes[:, 0]])
    memory.owner[0], memory.count[0] = Owner.EVENT_DRIVEN, count
    memory.key[:count] = chosen.pair[:count][order]
    memory.shapes[:count] = shapes[order]
    memory.place[:count] = place[order]
    memory.impulse[:count] = impulse[order]
    memory.touching[:count] = 1
    memory.own[:count, MODE] = chosen.mode[:count][order]
    memory.own[:count, ROWS] = bits[order]
    memory.own[:count, OPEN] = chosen.open[:count][order]
    memory.own[:count, DIRECTION] = chosen.direction[:count][order]


def recall(memory: ContactMemory, friction: Friction, chosen: ContactSet) -> None:
    """Read the current set back; friction: that of the pairs in memory.key."""
    count = int(memory.count[0])
    own = memory.own[:count]
    chosen.count[0] = count
    chosen.pair[:count] = memory.key[:count]
    chosen.mode[:count], chosen.fixed[:count] = own[:, MODE], 0
    chosen.friction[:count] = friction.where(own[:, MODE] == STICK)
    chosen.direction[:count] = own[:, DIRECTION]
    rows = [3 * k + i for k, bits in enumerate(own[:, ROWS].astype(int).tolist()) for i in range(3) if bits >> i & 1]
    chosen.rows[0] = len(rows)
    chosen.row[: len(rows)] = rows
    chosen.open[:count] = own[:, OPEN]
    list_columns(chosen)


@kernel
def keep(at, out):
    """Copy bodies, joints, time and loads of an instant over those of another one."""
    copy_bodies(at.bodies, out.bodies)
    copy_joints(at.joints, out.joints)
    put_all(out.clock, at.clock)
    put_rows(out.loads.force, at.loads.force)
    put_rows(out.loads.torque, at.loads.torque)
    out.loads.grab_body[0], out.loads.grab_turn[0] = at.loads.grab_body[0], at.loads.grab_turn[0]
    put_all(out.loads.grab_point, at.loads.grab_point)
    put_all(out.loads.grab_target, at.loads.grab_target)
    put_all(out.loads.joint, at.loads.joint)


class Report:
    """Fills the rows of Contacts, from an instant of the set in hand."""

    end: Instant   #: the end of the last step, loads included
    tally: Array   #: as it was then

    def __init__(self, work: Workspace, materials: PairMaterials) -> None:
        self._work, self._materials = work, materials
        self.contacts: Contacts = empty_contacts(16)
        here = own_place(work.here)
        self.end = here._replace(loads=empty_loads(len(here.model.kind), len(here.joints.v)))
        self.tally = np.zeros(len(Tally))

    def keep(self) -> None:
        """Keep the state in hand, which is that at the end of a step: its report may be asked for when the state, or
        what acts on it, is another one."""
        keep(self._work.here, self.end)
        self.tally[:] = self._work.tally

    def near(self, at: Instant, kept: LongArray) -> LongArray:
        """Pairs outside the set, whose pairs are `kept`, that could touch within a step."""
        work, bodies, search = self._work, at.bodies, self._work.search
        search.find_pairs(at, TOUCH + work.h * (np.linalg.norm(bodies.v, axis=1)
                                                       + np.linalg.norm(bodies.w, axis=1) * search.radius))
        n, w = search.count, search.witness
        found = search.pairs[:n][(w.margin[:n] >= -EDGE) & (w.facing[:n] >= FACING)]
        return without(found, set(kept.tolist()))

    def fill(
        self, at: Instant, pairs: LongArray, force: Array, rate: Array, u: Array, impulses: PairImpulses
    ) -> None:
        """Write the contacts of pairs (c,) at an instant, those of the current set first: force (3 c,), acceleration
        rate (3 c,) and velocity u (3 c,) in the rows of their equations, which must be in the scratch. Limits of joints
        are left out."""
        surface, w = self._work.surface, at.scratch.witness
        current, active = np.arange(len(pairs)) < self._work.in_set, self._active(force[::3])
        forces, impulse, slip = world_forces(at.scratch, force), impulses.of(pairs), np.hypot(u[1::3], u[2::3])
        rows = np.flatnonzero(~limits_among(surface, pairs))
        if len(rows) > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * len(rows))
        out = self.contacts
        out.count[0] = len(rows)
        out.restitution[: len(rows)], out.friction[: len(rows)] = self._materials.coefficients(pairs[rows])
        shapes = shapes_of(surface, pairs[rows])
        for i, k in enumerate(rows.tolist()):
            normal, gap = w.normal[k], float(w.gap[k])
            out.body_a[i], out.body_b[i] = w.body_a[k], w.body_b[k]
            out.shape_a[i], out.shape_b[i] = shapes[i]
            out.key[i] = pairs[k]
            out.point[i], out.normal[i], out.gap[i] = 0.5 * (w.p_a[k] + w.p_b[k]), normal, gap
            out.zeta[i], out.zeta_dot[i], out.slip[i] = u[3 * k], rate[3 * k], slip[k]
            out.lam[i] = forces[k] @ normal
            out.friction_force[i] = forces[k] - out.lam[i] * normal
            out.impulse[i] = impulse[k]
            out.current[i], out.active[i] = current[k], active[k]
            case = Case.APART
            if gap <= TOUCH or current[k]:
                rests = current[k] or abs(u[3 * k]) <= RESTS
                case = Case.RESTING if rests else Case.COLLIDING if u[3 * k] < 0 else Case.SEPARATING
            out.case[i] = case

    def _active(self, lam: Array) -> BoolArray:
        """Which contacts with the normal forces lam (c,), those of the set first, are in the active set: those that
        carry, also beside the basis where they share a load, and those that complete the basis."""
        active, chosen = lam > ZERO * lam.max(initial=0.0), self._work.chosen
        rows = chosen.row[: chosen.rows[0]]
        active[rows[rows % 3 == 0] // 3] = True
        return active

    @property
    def deepest(self) -> float:
        """The deepest overlap reported [m]."""
        return max(0.0, -float(self.contacts.gap[: self.contacts.count[0]].min(initial=0.0)))

    def residual(self, M: Array, rate: Array, force: Array) -> float:
        """How well the forces of the current set obey the contact laws [m/s2]: the natural map of 0 <= ζ̇ ⊥ λ >= 0 with
        the friction as it is, and what sticking contacts accelerate along their tangents. M (3 c, 3 c) and force (3 c,)
        of the set, rate of the set and of others after it."""
        count = self._work.in_set
        rows = slice(0, 3 * count, 3)
        lam, normal = force[rows].copy(), np.ascontiguousarray(M[rows, rows])
        wrong = natural_map(ContactProblem.frictionless(normal, rate[rows] - normal @ lam), lam)
        slip = rate[: 3 * count].reshape(-1, 3)[self._work.chosen.mode[:count] == STICK, 1:]
        return max(float(wrong), float(np.abs(slip).max(initial=0.0)))

    def remember(self, memory: ContactMemory, impulses: PairImpulses) -> None:
        """Write the set to the memory; its equations must be in the scratch."""
        here, w, pairs = self._work.here, self._work.here.scratch.witness, self._work.set_pairs.copy()
        a, b = w.body_a[: len(pairs)], w.body_b[: len(pairs)]
        mover = np.where(movable(here.model.kind[b]), b, a)
        place = 0.5 * (w.p_a[: len(pairs)] + w.p_b[: len(pairs)]) - here.bodies.x[mover]
        remember(self._work.chosen, shapes_of(self._work.surface, pairs), place, impulses.of(pairs), memory)
