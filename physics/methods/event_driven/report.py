"""What the event-driven method tells and remembers: rows of Contacts, and its sets in the State's memory.

`ContactMemory.own` holds how a contact holds (mode), its equations in use (one bit each), whether its force is unique,
and the direction of slip of a sliding contact (3,), or of a sticking one the force (3,) that obeyed Coulomb's law last,
normal and tangents, 0 = not asked; `key` is the pair of surface elements.
"""

from collections.abc import Mapping

import numpy as np

from ...collision.exact.elements import Elements, first_and_second, limits_among, shapes_of
from ...core.model import Array, BoolArray, IntArray, Model
from ...core.state import Case, ContactMemory, Contacts, LongArray, Owner, empty_contacts, grow_memory
from .sets import STICK, ContactSet, list_columns

MODE, ROWS, OPEN, DIRECTION = 0, 1, 2, slice(3, 6)  # columns of ContactMemory.own
NO_FORCE = np.zeros(3)


def remember(
    chosen: ContactSet, held: Mapping[int, Array], shapes: IntArray, place: Array, impulse: Array, memory: ContactMemory
) -> None:
    """Write the current set to the memory, sorted by shapes (c, 2); held: forces of pairs that obeyed Coulomb's law;
    place (c, 3) and impulse (c, 3) as the memory says."""
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
    sticks = (chosen.mode[:count] == STICK).tolist()
    kept = [held.get(pair, NO_FORCE) if sticks[k] else chosen.direction[k]
            for k, pair in enumerate(chosen.pair[:count].tolist())]
    memory.own[:count, DIRECTION] = np.array(kept).reshape(count, 3)[order]


def recall(memory: ContactMemory, friction: Array, chosen: ContactSet) -> dict[int, Array]:
    """Read the current set back, and the forces of pairs that obeyed Coulomb's law; friction (c,) of the pairs in
    memory.key."""
    count = int(memory.count[0])
    own = memory.own[:count]
    chosen.count[0] = count
    chosen.pair[:count] = memory.key[:count]
    chosen.mode[:count] = own[:, MODE]
    chosen.friction[:count] = friction
    chosen.direction[:count] = own[:, DIRECTION]
    rows = [3 * k + i for k, bits in enumerate(own[:, ROWS].astype(int).tolist()) for i in range(3) if bits >> i & 1]
    chosen.rows[0] = len(rows)
    chosen.row[: len(rows)] = rows
    chosen.open[:count] = own[:, OPEN]
    list_columns(chosen)
    asked = np.flatnonzero((own[:, MODE] == STICK) & own[:, DIRECTION].any(axis=1))
    return {int(memory.key[k]): own[k, DIRECTION].copy() for k in asked.tolist()}


class Report:
    """Collects the rows of Contacts at the end of a step."""

    def __init__(self, model: Model, surface: Elements) -> None:
        self.model, self.surface = model, surface
        self.contacts: Contacts = empty_contacts(16)

    def coefficients(self, pairs: LongArray) -> tuple[Array, Array]:
        """Restitution and friction (k,) of pairs of elements, and of limits."""
        restitution, friction = np.zeros(len(pairs)), np.zeros(len(pairs))
        solid = ~limits_among(self.surface, pairs)
        e, f = first_and_second(self.surface, pairs[solid])
        m, n = (self.surface.material[self.surface.shape[i]] for i in (e, f))
        limits = self.surface.limits.joint[pairs[~solid] - len(self.surface.kind) ** 2]
        restitution[~solid] = self.model.joints.restitution[limits]
        restitution[solid] = self.model.materials.restitution[m, n]
        friction[solid] = self.model.materials.friction[m, n]
        return restitution, friction

    def of_balls(self, pairs: LongArray) -> tuple[Array, Array]:
        """Tangential and torsional restitution (k,) of pairs of elements, and of limits; nan = none."""
        table = self.model.materials
        found = np.full((2, len(pairs)), np.nan)
        solid = ~limits_among(self.surface, pairs)
        e, f = first_and_second(self.surface, pairs[solid])
        m, n = (self.surface.material[self.surface.shape[i]] for i in (e, f))
        found[:, solid] = table.restitution_t[m, n], table.restitution_psi[m, n]
        return found[0], found[1]

    def fill(
        self, pairs: LongArray, geometry: list[tuple], rates: Array, forces: Array, impulses: Array, current: BoolArray,
        active: BoolArray, resting: float, touching: float,
    ) -> Contacts:
        """Write the contacts: of each its pair, (point, normal, gap, body a, body b), (ζ, ζ̇, slip), force (3,) and
        impulse (3,) on b in the world frame, and whether it is in the current and in the active set. Limits are left
        out."""
        rows = np.flatnonzero(~limits_among(self.surface, pairs))
        pairs, rates, forces, impulses = pairs[rows], rates[rows], forces[rows], impulses[rows]
        geometry, current, active = [geometry[i] for i in rows], current[rows], active[rows]
        count = len(pairs)
        if count > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * count)
        out = self.contacts
        out.count[0] = count
        out.restitution[:count], out.friction[:count] = self.coefficients(pairs)
        shapes = shapes_of(self.surface, pairs)
        for i, pair in enumerate(pairs.tolist()):
            point, normal, gap, a, b = geometry[i]
            out.body_a[i], out.body_b[i] = a, b
            out.shape_a[i], out.shape_b[i] = shapes[i]
            out.key[i] = pair
            out.point[i], out.normal[i], out.gap[i] = point, normal, gap
            out.zeta[i], out.zeta_dot[i], out.slip[i] = rates[i]
            out.lam[i] = forces[i] @ normal
            out.friction_force[i] = forces[i] - out.lam[i] * normal
            out.impulse[i] = impulses[i]
            out.current[i], out.active[i] = current[i], active[i]
            case = Case.APART
            if gap <= touching or current[i]:
                rest = current[i] or abs(rates[i][0]) <= resting
                case = Case.RESTING if rest else Case.COLLIDING if rates[i][0] < 0 else Case.SEPARATING
            out.case[i] = case
        return out

