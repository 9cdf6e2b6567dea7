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
    copy_all(bodies.x, out.x)
    copy_all(bodies.q, out.q)
    copy_all(bodies.P, out.P)
    copy_all(bodies.L, out.L)
    copy_all(bodies.v, out.v)
    copy_all(bodies.w, out.w)


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
    put_all(out.t, surfaces.t)
    put_all(out.count, surfaces.count)
    put_all(out.dissipated, surfaces.dissipated)
    put_all(out.key, surfaces.key)
    put_all(out.mode, surfaces.mode)
    put_all(out.start, surfaces.start)
    copy_all(surfaces.shapes, out.shapes)
    copy_all(surfaces.place, out.place)
    copy_all(surfaces.normal, out.normal)
    copy_all(surfaces.surface_x, out.surface_x)
    copy_all(surfaces.surface_z, out.surface_z)


@helper
def copy_sleep(sleep, out):
    """Copy who sleeps, and the contacts of these."""
    put_all(out.calm, sleep.calm)
    put_all(out.island, sleep.island)
    put_all(out.settings, sleep.settings)
    copy_all(sleep.held, out.held)
    copy_memory(sleep.contacts, out.contacts)
    copy_all(sleep.facing, out.facing)


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
    copy_all(state.ledger, out.ledger)
    copy_sleep(state.sleep, out.sleep)
    return True
