"""The moments by which contacts oppose spinning and rolling, found from a state and the contacts of the step before."""

import numpy as np

from ..core.model import Array, Model
from ..core.rotations import rotated
from ..core.state import Bodies, ContactMemory, Contacts, LongArray, Owner
from ..dynamics.constraints.limits import TURNS
from ..laws.contact import turning_lengths
from ..laws.soft import TANGENT_1, pair_units
from ..methods.compliant.turning import inverse_inertia
from ..problem.moments import OWN
from ..problem.turning_rows import ROLL, SPIN
from ..simulation.simulation import Simulation


def moments_of(sim: Simulation) -> Array:
    """The moment (c, 3) of each of `sim.contacts` on its body b [N m], world frame; the one on body a is the opposite.
    No rows where no two materials oppose turning.

    Of `time_stepping` it is the mean over the step, 0 in a step with an impact, and of `event_driven` likewise, without
    what impacts give; of `compliant` surfaces the one at the end of the step, loaded by the contact's mean force.
    """
    lengths = turning_lengths(sim.model.materials)
    if not lengths.any():
        return np.zeros((0, 3))
    owner = int(sim.state.memory.owner[0])
    memory, contacts = sim.state.memory, sim.contacts
    if owner == Owner.TIME_STEPPING:
        return _remembered(memory, contacts.key, memory.own[:, OWN : OWN + 3]) / sim.settings.h
    if owner == Owner.EVENT_DRIVEN:
        spin, roll = (_remembered(memory, contacts.key + kind * TURNS, memory.impulse) for kind in (SPIN, ROLL))
        return (spin + roll) / sim.settings.h
    if owner == Owner.COMPLIANT:
        return _by_soft_law(sim.model, sim.state.bodies, contacts, sim.settings.law, lengths)
    return np.zeros((len(contacts.gap), 3))


def _remembered(memory: ContactMemory, key: LongArray, kept: Array) -> Array:
    """What the memory keeps of keys (c,) in its rows `kept` (k, 3): impulses (c, 3) [N m s]; 0 of keys that it has not.
    """
    count = int(memory.count[0])
    if count == 0:
        return np.zeros((len(key), 3))
    order = np.argsort(memory.key[:count], kind="stable")
    keys = memory.key[order]
    at = np.minimum(np.searchsorted(keys, key), count - 1)
    return np.where((keys[at] == key)[:, None], kept[order[at]], 0.0)


def _by_soft_law(model: Model, bodies: Bodies, contacts: Contacts, law: str, lengths: Array) -> Array:
    """-D ω within the bounds, as `methods.compliant.turning: couple_against` has it, D from `drag` there."""
    a, b, n = contacts.body_a, contacts.body_b, contacts.normal
    pair = model.shapes.material[contacts.shape_a], model.shapes.material[contacts.shape_b]
    inverse = inverse_inertia(model)
    both = inverse[a] + inverse[b]  # 1/I and 1/m
    with np.errstate(divide="ignore", invalid="ignore"):
        drag = np.sqrt(pair_units(model.materials.surfaces, law)[..., TANGENT_1][pair] * both[:, 1]) / both[:, 0]
    w = bodies.w + rotated(bodies.q, model.motions.surface_spin)
    asked = -np.where(np.isfinite(drag), drag, 0.0)[:, None] * (w[b] - w[a])
    spin, roll = (lengths[pair] * np.maximum(contacts.lam, 0.0)[:, None]).T
    along = (asked * n).sum(axis=1)
    across = asked - along[:, None] * n
    size = np.linalg.norm(across, axis=1)
    within = np.minimum(1.0, roll / np.maximum(size, 1e-300))
    return np.clip(along, -spin, spin)[:, None] * n + within[:, None] * across
