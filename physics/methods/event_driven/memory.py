"""How the current set lives on from step to step in `State.memory`.

Of `ContactMemory.own` it uses for each contact: its mode; the rows that are kept at zero, one bit each; whether its
force is unique; its island; the direction of slip of a sliding contact (3,); forces that are known to hold it (3,).
`key` is the pair of surface elements, or what opposes its turning, see `problem.turning_rows`.
"""

from ...collision.exact.seats import forget_seats, seat_at
from ...core.jit import helper, kernel
from ...core.state import Owner
from ...core.vec import add, put, row, scale, sub
from ...dynamics.constraints.limits import TURNS
from ...dynamics.motion import moves
from ...problem.turning_rows import bearer_of, length_of, row_length
from .active_set import list_columns
from .sets import STICK

MODE, ROWS, OPEN, DIRECTION, HOLD, ISLAND = 0, 1, 2, 3, 6, 9  # columns of ContactMemory.own
EVENT_DRIVEN = int(Owner.EVENT_DRIVEN)


@helper
def friction_of(surface, turning, table, pair):
    """The coefficient of a pair in a table (m, m) of materials, or of what opposes its turning; limits of joints have
    none."""
    count = len(surface.kind)
    if pair >= TURNS:
        e, length = pair % TURNS, length_of(turning, surface, pair)
        return length / row_length(turning, length, surface.body[e // count], surface.body[e % count])
    if pair >= count * count:
        return 0.0
    m, n = surface.material[surface.shape[pair // count]], surface.material[surface.shape[pair % count]]
    return table[m, n]


@helper
def shapes_at(surface, pair):
    """The shapes of a pair of elements, the lower one first; -1 of all others."""
    count = len(surface.kind)
    if pair >= count * count:
        return -1, -1
    a, b = int(surface.shape[pair // count]), int(surface.shape[pair % count])
    return min(a, b), max(a, b)


@helper
def island_again(memory, chosen, k):
    """The island of row k of the set: they are numbered anew, in the order in which they come."""
    for i in range(k):
        if memory.own[i, ISLAND] == memory.own[k, ISLAND]:
            return chosen.island[i]
    chosen.islands[0] += 1
    return chosen.islands[0] - 1


@helper
def point_of(memory, at, k):
    """Where the contact of row k was, in the world."""
    shapes, bodies, kind = at.surface.shape_body, at.bodies, at.model.kind
    a, b = int(shapes[memory.shapes[k, 0]]), int(shapes[memory.shapes[k, 1]])
    return add(row(bodies.x, b if moves(kind, b) else a), row(memory.place, k))


@helper
def recall_seats(memory, at):
    """Have the places that touch sit where they did, and no others: a step must not depend on those before it."""
    surface, count = at.surface, len(at.surface.kind)
    forget_seats(surface)
    for k in range(memory.count[0]):
        e, f = memory.key[k] // count, memory.key[k] % count
        if memory.key[k] < count * count and surface.wall[e] >= 0:
            seat_at(surface, at.bodies, e, f, point_of(memory, at, k))


@kernel
def recall(memory, at, turning, slip, stick, chosen):
    """Read the current set back, for which there must be room; slip, stick (m, m): friction of materials."""
    surface, count, rows = at.surface, memory.count[0], 0
    recall_seats(memory, at)
    chosen.count[0], chosen.islands[0] = count, 0
    for k in range(count):
        own, pair = memory.own[k], memory.key[k]
        chosen.pair[k], chosen.mode[k], chosen.fixed[k] = pair, int(own[MODE]), 0
        chosen.bearer[k] = bearer_of(memory.key, count, k)
        chosen.friction[k] = friction_of(surface, turning, stick if chosen.mode[k] == STICK else slip, pair)
        chosen.open[k] = int(own[OPEN])
        for j in range(3):
            chosen.direction[k, j], chosen.hold[k, j] = own[DIRECTION + j], own[HOLD + j]
            if int(own[ROWS]) >> j & 1:
                chosen.row[rows] = 3 * k + j
                rows += 1
        chosen.island[k] = island_again(memory, chosen, k)
    chosen.rows[0] = rows
    list_columns(chosen)


@helper
def comes_before(surface, pair, other):
    """Whether a pair has its row in the memory before another one: by shapes."""
    a, b = shapes_at(surface, pair)
    c, d = shapes_at(surface, other)
    return a < c or (a == c and (b < d or (b == d and pair < other)))


@kernel
def remember(at, chosen, impulse, memory):
    """Write the current set to the memory, in which there must be room, sorted by shapes. The scratch must have the
    witnesses of the set; impulse (c, 3): of its contacts over the step."""
    surface, bodies, witness, count = at.surface, at.bodies, at.scratch.witness, chosen.count[0]
    memory.owner[0], memory.count[0] = EVENT_DRIVEN, count
    for k in range(count):
        r = 0
        for i in range(count):
            if comes_before(surface, chosen.pair[i], chosen.pair[k]):
                r += 1
        a, b = int(witness.body_a[k]), int(witness.body_b[k])
        middle = scale(0.5, add(row(witness.p_a, k), row(witness.p_b, k)))
        memory.key[r], memory.touching[r] = chosen.pair[k], 1
        memory.shapes[r, 0], memory.shapes[r, 1] = shapes_at(surface, chosen.pair[k])
        put(memory.place, r, sub(middle, row(bodies.x, b if moves(at.model.kind, b) else a)))
        put(memory.impulse, r, row(impulse, k))
        own = memory.own[r]
        own[MODE], own[ROWS], own[OPEN], own[ISLAND] = chosen.mode[k], 0.0, chosen.open[k], chosen.island[k]
        for j in range(3):
            own[DIRECTION + j], own[HOLD + j] = chosen.direction[k, j], chosen.hold[k, j]
        for j in range(chosen.rows[0]):
            if chosen.row[j] // 3 == k:
                own[ROWS] += 1 << (chosen.row[j] % 3)
