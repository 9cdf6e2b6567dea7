"""What the event-driven method tells and remembers: rows of Contacts, events, and its sets in the State's memory.

`ContactMemory.touching` holds the way a contact holds and its equations:  MINE + 4 mode + 32 (rows in use, one bit
each) + 256 redundant. `impulse` is the direction of slip of a sliding contact, `key` the pair of surface elements.
"""

import numpy as np

from contactlab.physics.collision.surface import Surface
from contactlab.physics.contact_sets import BoolArray, ContactSet
from contactlab.physics.model import Array, IntArray
from contactlab.physics.state import Case, ContactMemory, Contacts, empty_contacts

MINE = 2  # time stepping writes 0 and 1


def remember(chosen: ContactSet, shapes: IntArray, memory: ContactMemory) -> None:
    """Write the current set to the memory, sorted by key; shapes (c, 2)."""
    count = int(chosen.count[0])
    if count > len(memory.key):
        for array in memory[1:]:  # in place: the State keeps its arrays
            array.resize((count + count // 4 + 4, *array.shape[1:]), refcheck=False)
    bits = np.zeros(count, np.int32)
    for r in chosen.row[: chosen.rows[0]].tolist():
        bits[r // 3] |= 1 << (r % 3)
    order = np.argsort(chosen.pair[:count], kind="stable")
    memory.count[0] = count
    memory.key[:count] = chosen.pair[:count][order]
    memory.shapes[:count] = shapes[order]
    memory.place[:count] = 0.0
    memory.impulse[:count] = chosen.direction[:count][order]
    code = MINE + 4 * chosen.mode[:count] + 32 * bits + 256 * int(chosen.redundant[0])
    memory.touching[:count] = code[order]


def recall(memory: ContactMemory, pairs: int, friction: Array, chosen: ContactSet) -> bool:
    """Read the current set back; False where the memory is another method's. friction (p,) of all pairs."""
    count = int(memory.count[0])
    code, key = memory.touching[:count], memory.key[:count]
    if count and not ((code & 3 == MINE).all() and (key >= 0).all() and (key < pairs).all()):
        return False
    chosen.count[0] = count
    chosen.pair[:count] = key
    chosen.mode[:count] = (code >> 2) & 7
    chosen.friction[:count] = friction[key]
    chosen.direction[:count] = memory.impulse[:count]
    rows = [3 * k + i for k in range(count) for i in range(3) if (int(code[k]) >> (5 + i)) & 1]
    chosen.rows[0] = len(rows)
    chosen.row[: len(rows)] = rows
    chosen.redundant[0] = int(code[0] >> 8) & 1 if count else 0
    return True


class Report:
    """Collects the rows of Contacts at the end of a step."""

    def __init__(self, surface: Surface, restitution: Array, friction: Array) -> None:
        self.surface, self.restitution, self.friction = surface, restitution, friction
        self.contacts: Contacts = empty_contacts(16)

    def shapes(self, pair: int) -> tuple[int, int]:
        """Shapes of the predecessor and the successor of a pair."""
        e, f = int(self.surface.first[pair]), int(self.surface.second[pair])
        if self.surface.flip[pair]:
            e, f = f, e
        return int(self.surface.shape[e]), int(self.surface.shape[f])

    def fill(
        self, pairs: IntArray, geometry: list[tuple], rates: Array, forces: Array, impulses: Array, current: BoolArray,
        active: BoolArray, resting: float, touching: float,
    ) -> Contacts:
        """Write the contacts: of each its pair, (point, normal, gap, body a, body b), (ζ, ζ̇, slip), force (3,) and
        impulse (3,) on b in the world frame, and whether it is in the current and in the active set."""
        count = len(pairs)
        if count > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * count)
        out = self.contacts
        out.count[0] = count
        for i, pair in enumerate(pairs.tolist()):
            point, normal, gap, a, b = geometry[i]
            out.body_a[i], out.body_b[i] = a, b
            out.shape_a[i], out.shape_b[i] = self.shapes(pair)
            out.key[i] = pair
            out.point[i], out.normal[i], out.gap[i] = point, normal, gap
            out.restitution[i], out.friction[i] = self.restitution[pair], self.friction[pair]
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

