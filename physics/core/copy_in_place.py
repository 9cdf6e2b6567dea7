"""Copies of a state into the arrays of another one: a step keeps the state before it without new memory."""

from .jit import helper, kernel
from .vec import put_all


@helper
def copy_all(a, out):
    """Copy the numbers of an array of any shape as they lie in memory, which a processor does many at a time."""
    put_all(out.reshape(out.size), a.reshape(a.size))


@helper
def copy_bodies(bodies, out):
    """Copy all columns of as many bodies."""
    for i in range(len(bodies.x)):
        for j in range(3):
            out.x[i, j] = bodies.x[i, j]
            out.P[i, j] = bodies.P[i, j]
            out.L[i, j] = bodies.L[i, j]
            out.v[i, j] = bodies.v[i, j]
            out.w[i, j] = bodies.w[i, j]
        for j in range(4):
            out.q[i, j] = bodies.q[i, j]


@helper
def copy_joints(joints, out):
    """Copy the coordinates of all links."""
    put_all(out.q, joints.q)
    put_all(out.v, joints.v)


@helper
def copy_memory(memory, out):
    """Copy the memory of contacts, unused rows included."""
    put_all(out.count, memory.count)
    put_all(out.owner, memory.owner)
    put_all(out.key, memory.key)
    put_all(out.touching, memory.touching)
    copy_all(memory.shapes, out.shapes)
    copy_all(memory.place, out.place)
    copy_all(memory.impulse, out.impulse)
    copy_all(memory.own, out.own)


@helper
def copy_surfaces(surfaces, out):
    """Copy the states of compliant surfaces, unused rows included."""
    out.t[0], out.count[0], out.dissipated[0] = surfaces.t[0], surfaces.count[0], surfaces.dissipated[0]
    for k in range(len(surfaces.key)):
        out.key[k] = surfaces.key[k]
        out.mode[k], out.start[k] = surfaces.mode[k], surfaces.start[k]
        for j in range(2):
            out.shapes[k, j] = surfaces.shapes[k, j]
            out.surface_z[k, j] = surfaces.surface_z[k, j]
        for j in range(3):
            out.place[k, j] = surfaces.place[k, j]
            out.normal[k, j] = surfaces.normal[k, j]
            for side in range(2):
                out.surface_x[k, side, j] = surfaces.surface_x[k, side, j]


@helper
def copy_sleep(sleep, out):
    """Copy who sleeps, and the contacts of these."""
    put_all(out.calm, sleep.calm)
    put_all(out.island, sleep.island)
    put_all(out.settings, sleep.settings)
    for part in range(2):
        for j in range(6):
            out.held[part, j] = sleep.held[part, j]
    copy_memory(sleep.contacts, out.contacts)
    for k in range(len(sleep.facing)):
        for j in range(4):
            out.facing[k, j] = sleep.facing[k, j]


@helper
def copy_ledger(ledger, out):
    """Copy all accounts."""
    for account in range(ledger.shape[0]):
        for j in range(ledger.shape[1]):
            out[account, j] = ledger[account, j]


@kernel
def copy_into(state, out):
    """Copy a state over another of the same model. Returns False, and copies nothing, where the two have room for
    different numbers of contacts."""
    if len(out.memory.key) != len(state.memory.key) or len(out.surfaces.key) != len(state.surfaces.key):
        return False
    if len(out.sleep.facing) != len(state.sleep.facing):
        return False
    out.t[0] = state.t[0]
    copy_bodies(state.bodies, out.bodies)
    copy_memory(state.memory, out.memory)
    copy_surfaces(state.surfaces, out.surfaces)
    copy_joints(state.joints, out.joints)
    put_all(out.tally, state.tally)
    copy_ledger(state.ledger, out.ledger)
    copy_sleep(state.sleep, out.sleep)
    return True
