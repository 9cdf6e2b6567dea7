"""The rows of many contacts, filled by several threads: first what the approach holds of each contact and which of
them take part, then their rows, part by part. They are those of `assemble` in another order."""

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.prefetch import prefetch_row
from ..core.team import share_out
from .assemble import bias_of, contact_motion, note_approach, put_contact
from .parts import make_parts
from .system import AHEAD, fetch_bodies

SHARES = 16


@helper
def some_of(i, contacts):
    """First contact of share i, and the end."""
    count = int(contacts.count[0])
    return i * count // SHARES, (i + 1) * count // SHARES


@kernel
def approach_some(i, model, middle, contacts, before, memory, approach, takes_part_out) -> None:
    """Share i: what the approach holds of its contacts, and which of them take part."""
    begin, end = some_of(i, contacts)
    for c in range(begin, end):
        if c + AHEAD < end:
            fetch_bodies(before.bodies, contacts, c + AHEAD)
        _, _, surface, u = contact_motion(model, middle, before, contacts, c)
        note_approach(approach, memory, contacts, c, surface, u)
        takes_part_out[c] = bias_of(approach, contacts, c)[1] != 0


@program
def assemble_some(i, model, mechanisms, middle, contacts, before, memory, approach, place, system) -> None:
    """Share i: the rows of its contacts, place[c] of contact c, -1 = none."""
    begin, end = some_of(i, contacts)
    for c in range(begin, end):
        if c + AHEAD < end and place[c + AHEAD] >= 0:
            prefetch_row(system.rows, place[c + AHEAD])
        if place[c] >= 0:
            motion, law = contact_motion(model, middle, before, contacts, c), bias_of(approach, contacts, c)
            put_contact(model, mechanisms, contacts, memory, approach, system, c, place[c], motion, law)


@program
def assemble_shared(model, mechanisms, middle, contacts, before, memory, approach, system) -> None:
    """`assemble` for many contacts of which none has a block."""
    takes_part, place = np.zeros(contacts.count[0], np.int8), np.full(contacts.count[0], -1)
    share_out(SHARES, approach_some, (model, middle, contacts, before, memory, approach, takes_part))
    make_parts(contacts, takes_part, system, place)
    system.count[0] = system.parts.first[system.parts.count[1]]
    share_out(SHARES, assemble_some, (model, mechanisms, middle, contacts, before, memory, approach, place, system))
