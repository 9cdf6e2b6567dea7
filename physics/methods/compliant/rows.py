"""The rows of the surfaces that belong to contacts, and what their materials say: kernels of `contacts`."""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, Model
from ...core.vec import put, row
from ...laws.contact import break_away, turning_lengths
from ...laws.soft import D_R, TANGENT_1, UNITS, reduced_radius, round_radius
from ...problem.assemble import match, pair_order, place_of
from .rates import FLAT, FREE
from .turning import DENT, DRAG, ROLL, SPIN, drag, inverse_inertia


class PairTables(NamedTuple):
    """What materials, shapes and bodies say of a pair that touches."""

    gains: Array     #: (k, k, UNITS) K and D of pairs of materials, see `laws.soft: pair_units`
    friction: Array  #: (k, k, 2) mu and mu_s
    dent: Array      #: (k, k) D_r of both
    lengths: Array   #: (k, k, 2) of torsional and rolling friction [m]
    radius: Array    #: (s,) of round shapes [m]
    inverse: Array   #: (n, 2) see `turning: inverse_inertia`


def pair_tables(model: Model) -> PairTables:
    """Those of a model, as yet without gains, which depend on the law."""
    materials = model.materials
    return PairTables(
        np.zeros((*materials.friction.shape, UNITS)),
        np.stack([materials.friction, break_away(materials)], axis=2),
        np.ascontiguousarray(materials.surfaces[..., D_R].sum(axis=2)), turning_lengths(materials),
        round_radius(model), inverse_inertia(model))


@kernel
def match_rows(kind, x, contacts, old, slot_out):
    """slot_out[i] = row of `old` that contact i continues, or -1, see `match`. A row that touches passes to another
    point of its pair only where that one touches too: where four contacts stand for many corners and the one that
    presses is no longer among them, its surface is not stretched to a corner above the other shape, but recovers."""
    match(contacts, np.int64(old.count[0]), old.key, old.shapes, old.place, kind, x, slot_out)
    for i in range(int(contacts.count[0])):
        k = slot_out[i]
        if k >= 0 and contacts.gap[i] > 0.0 and old.mode[k] != FREE and old.key[k] != contacts.key[i]:
            slot_out[i] = -1


@kernel
def enter_rows(contacts, slot, old, keep_all, kind, x, source_out, new):
    """Give every contact a row of `new`, all rows in the order of shape pairs: the one it had in `old`, slot[i], or
    that of surfaces which nothing has touched yet. Rows of `old` without a contact follow those of their pair; unless
    keep_all = 1 only those that have not recovered.

    source_out[r] is the row of `old` that row r was, -1: none. slot becomes the rows of `new`.
    """
    count, known = int(contacts.count[0]), int(old.count[0])
    shape_a, shape_b, body_a, body_b = contacts.shape_a, contacts.shape_b, contacts.body_a, contacts.body_b
    contact_key, point, contact_normal, shapes_before = contacts.key, contacts.point, contacts.normal, old.shapes
    key, shapes, place, normal = new.key, new.shapes, new.place, new.normal
    z, x_t, mode, z_old, x_old = new.surface_z, new.surface_x, new.mode, old.surface_z, old.surface_x
    taken = np.zeros(known, np.int32)
    for i in range(count):
        if slot[i] >= 0:
            taken[slot[i]] = 1
    i, j, r = 0, 0, 0
    while i < count or j < known:
        if j < known and (taken[j] == 1 or (keep_all == 0 and is_flat(z_old, x_old, j))):
            j += 1
            continue
        k = j
        if i < count and (j == known or pair_order(shapes_before, j, shape_a[i], shape_b[i]) >= 0):
            k = int(slot[i])
            slot[i] = r
            if k < 0:
                p = row(point, i)
                key[r], shapes[r, 0], shapes[r, 1], mode[r] = contact_key[i], shape_a[i], shape_b[i], 0
                put(place, r, place_of(x, kind, int(body_a[i]), int(body_b[i]), p))
                put(normal, r, row(contact_normal, i))
                z[r, :] = new.start[r] = 0.0
                x_t[r, :, :] = 0.0
            i += 1
        else:
            j += 1
        if k >= 0:
            copy_row(old, k, r, new)
        source_out[r] = k
        r += 1
    new.t[0], new.count[0], new.dissipated[0] = old.t[0], r, old.dissipated[0]


@helper
def is_flat(z, x, k):
    """Whether the surfaces of a row have recovered."""
    largest = max(abs(z[k, 0]), abs(z[k, 1]))
    for j in range(2):
        for c in range(3):
            largest = max(largest, abs(x[k, j, c]))
    return largest <= FLAT


@helper
def copy_row(old, k, r, new):
    """Row r of `new` becomes what row k of `old` is."""
    new.key[r], new.mode[r], new.start[r] = old.key[k], old.mode[k], old.start[k]
    for j in range(2):
        new.shapes[r, j] = old.shapes[k, j]
        new.surface_z[r, j] = old.surface_z[k, j]
        for c in range(3):
            new.surface_x[r, j, c] = old.surface_x[k, j, c]
    for c in range(3):
        new.place[r, c] = old.place[k, c]
        new.normal[r, c] = old.normal[k, c]


@kernel
def fill_gains(surfaces, shapes, tables, work_out):
    """K and D of the units (see laws.soft.pair_units), the coefficients of friction and what opposes turning, of every
    row."""
    units, friction, turn, pairs = work_out.units, work_out.friction, work_out.turn, surfaces.shapes
    for k in range(int(surfaces.count[0])):
        a, b = int(pairs[k, 0]), int(pairs[k, 1])
        m, n = int(shapes.material[a]), int(shapes.material[b])
        for j in range(units.shape[1]):
            units[k, j] = tables.gains[m, n, j]
        for j in range(friction.shape[1]):
            friction[k, j] = tables.friction[m, n, j]
        radius = reduced_radius(tables.radius[a], tables.radius[b])
        turn[k, DENT] = tables.dent[m, n] * (radius * radius)
        turn[k, SPIN], turn[k, ROLL], turn[k, DRAG] = tables.lengths[m, n, 0], tables.lengths[m, n, 1], 0.0
        if turn[k, SPIN] != 0.0 or turn[k, ROLL] != 0.0:
            turn[k, DRAG] = drag(tables.inverse, int(shapes.body[a]), int(shapes.body[b]), units[k, TANGENT_1])
