"""Contacts that appear deep at once: a surface meets only what its motion leads to.

A contact may appear deep in a shape: where a corner passes over the edge of a mesh, another face begins to count, and
what lay beside it is now in front of it. Were the surface pressed in so far at once, it would store ½ K p² that nothing
gave. So of a gap p that leaps, the leap is left out: the contact begins at p_0, where it is, and the surfaces feel
p - p_0. They may store as much at once as they held already, and as those held whose contact ended at the same time:
one corner takes over from another. p_0 <= 0 follows the gap where the bodies part, and is 0 from then on where shapes
do not overlap. No work is done by that, as a surface without contact bears no force. Nor does one bear any in a stage
within which it appears deep (`rates: contact_rates`, `newton: leaps_in`): the gap is counted once the stages are over.
"""

import math

from ...core.jit import helper, kernel
from ...core.vec import row
from ...dynamics.motion import moves
from ...laws.soft import NORMAL_1, NORMAL_2, depth_of_impact, spring_energy
from .rates import LAW, slack

GAP, RATE = range(2)  # columns of SoftContactWork.settled


@kernel
def count_from_start(soft):
    """Gaps as the surfaces feel them, p - p_0, from those of shapes, which were just found."""
    gap, start, slot = soft.contacts.gap, soft.surfaces.start, soft.slot
    for i in range(int(soft.contacts.count[0])):
        if slot[i] >= 0:
            gap[i] -= start[slot[i]]


@helper
def forget_start(gap, start, i, k):
    """A free surface: p_0 of row k follows the gap of contact i, which grew."""
    if start[k] < 0.0 and gap[i] > 0.0:
        grown = min(gap[i], -start[k])
        start[k] += grown
        gap[i] -= grown


@helper
def leave_leap_out(model, soft, i, k, height, way, alone):
    """Where the gap of contact i lies below `height` [m] by more than the `way` that its motion leads, and by more than
    the energy explains that surfaces of its bodies hold without contact: leave the rest out of it. alone (c, 2): 0 in
    the first column marks rows without contact. Returns whether the gap leapt."""
    contacts, surfaces, law = soft.contacts, soft.surfaces, soft.choice[LAW]
    gap, units, lowest = contacts.gap, soft.work.units, height - way
    if gap[i] >= lowest - slack(row(contacts.point, i)):
        return False
    if units[k, NORMAL_2] == math.inf:
        k1 = units[k, NORMAL_1]
        own, found = spring_energy(law, k1, surfaces.surface_z[k, 0]), 0.0
        for r in range(int(surfaces.count[0])):
            if alone[r, 0] == 0.0 and shares_body(model, surfaces.shapes, r, k):
                found += held(law, units, surfaces.surface_z, r)
        lowest = min(lowest, -depth_of_impact(law, k1, math.sqrt(2.0 * (own + found)), 1.0))
        wanted, r = spring_energy(law, k1, max(gap[i], lowest)) - own, 0
        while found > 0.0 and wanted > 0.0 and r < int(surfaces.count[0]):
            if alone[r, 0] == 0.0 and shares_body(model, surfaces.shapes, r, k):
                wanted = take_over(law, units, surfaces, r, wanted)
            r += 1
    if gap[i] < lowest:
        surfaces.start[k] += gap[i] - lowest
        gap[i] = lowest
    return True


@helper
def take_over(law, units, surfaces, r, wanted):
    """Take so much energy [J] out of the normal springs of row r, or all there is; what is then still wanted. Of two
    springs in series both go, and what is left over goes to their dampers."""
    z, there = surfaces.surface_z, held(law, units, surfaces.surface_z, r)
    rest = max(0.0, there - wanted)
    if units[r, NORMAL_2] == math.inf:
        z[r, 0] = -depth_of_impact(law, units[r, NORMAL_1], math.sqrt(2.0 * rest), 1.0)
    else:
        z[r, 0] = z[r, 1] = 0.0
        surfaces.dissipated[0] += rest
    return wanted - there


@helper
def held(law, units, z, r):
    """Energy in the normal springs of row r [J]."""
    return (spring_energy(law, units[r, NORMAL_1], z[r, 0]) + spring_energy(law, units[r, NORMAL_2], z[r, 1]))


@helper
def shares_body(model, shapes, r, k):
    """Whether rows r and k belong to a common body that moves."""
    owner, kind = model.shapes.body, model.kind
    for side in range(2):
        body = int(owner[shapes[r, side]])
        if moves(kind, body) and (body == owner[shapes[k, 0]] or body == owner[shapes[k, 1]]):
            return True
    return False
