"""Sleep: `time_stepping` leaves islands of bodies that rest out of its steps until something stirs them.

A body is still in a step that leaves no point of it faster than s · 2 g h, and takes it no further out of an overlap
than this speed would. 2 g h is the speed that counts as rest, s the setting `sleep`. Where all bodies of an island are
still for STEPS steps, their forces are in balance, too: an acceleration a changes the speed by STEPS a h, so that
|a| <= 4 s g / STEPS. Then the island falls asleep. Its velocities become 0, and its contacts move from the memory of
the state to `State.sleep`. Until it wakes none of it changes by a bit, and what carries it takes all that acts on it.
Awake it would move by 2 s g h t at most in the time t as long as its speed did not grow: less than rounding adds up to
where s = 1e-8, which a tower or a pile that is solved exactly reaches.

It wakes in the step in which a contact with something that moves is found, or a force or the mouse acts on it, or under
other settings than those it fell asleep with. Its contacts go back to the memory then, so that this step begins as it
would have begun had it never slept.

Islands here are joined by all contacts that are near, also those without a force, and by springs. Bodies on joints, and
on springs to bodies with a prescribed motion, do not sleep, nor does what lies on a surface that moves or runs.
"""

import zlib
from typing import Any

import numpy as np

from ..collision.broad_phase import EITHER, PUSHED, PUSHES
from ..core.jit import helper, kernel
from ..core.model import Array, BodyKind, BoolArray, IntArray, Model, movable
from ..core.report import Settings
from ..core.state import Case, ContactMemory, Contacts, Owner, State, grow_memory
from ..core.sym3 import three
from ..core.tuple_abi import resize
from ..core.vec import norm, put, row
from ..dynamics.forces import applied_forces, empty_loads
from ..dynamics.motion import KINEMATIC, moves
from ..problem.system import ANGULAR, LINEAR

AT_REST = 1e-2  # what a switch sets `sleep` to: above what sweeps leave to bodies of a large pile
STEPS = 30  # still steps after which an island falls asleep
ROWS = ("key", "shapes", "place", "impulse", "touching", "own")  # tables of ContactMemory


def settings_number(settings: Settings) -> int:
    """A number that tells settings apart."""
    return zlib.crc32(repr(settings).encode()) >> 1


def restless_bodies(model: Model) -> IntArray:
    """1 for bodies (n,) that never sleep: those on joints, and on springs to bodies with a prescribed motion."""
    joints, springs, found = model.joints, model.springs, np.zeros(len(model.kind), np.int32)
    ends = np.concatenate([joints.parent, joints.child])
    found[ends[ends >= 0]] = 1
    for one, other in ((springs.body_a, springs.body_b), (springs.body_b, springs.body_a)):
        driven = (other >= 0) & (one >= 0)
        driven[driven] = model.kind[other[driven]] == BodyKind.KINEMATIC
        found[one[driven]] = 1
    return found


# -------------------------------------------------------------------------------------------------- within a step
@helper
def asleep(sleep):
    """How many bodies sleep."""
    count = 0
    for one in sleep.island:
        count += 1 if one >= 0 else 0
    return count


@helper
def is_driven(kind, bodies, i):
    """Whether body i has a prescribed motion, and moves now."""
    return kind[i] == KINEMATIC and norm(row(bodies.v, i)) + norm(row(bodies.w, i)) > 0.0


@kernel
def choose_roles(kind, sleep, bodies, roles_out):
    """Which bodies can touch each other (see `broad_phase.PUSHES`): nothing but what moves touches those that sleep."""
    any_asleep = asleep(sleep) > 0
    for i in range(len(kind)):
        if moves(kind, i):
            roles_out[i] = EITHER if sleep.island[i] < 0 else PUSHED
        else:
            roles_out[i] = PUSHES if any_asleep and is_driven(kind, bodies, i) else 0


@kernel
def stirred_by(loads, number, sleep, wake_out) -> int:
    """Mark in wake_out (n,) by their first body the islands that loads or other settings (their number) wake; returns
    how often."""
    found, island = 0, sleep.island
    wake_out[:] = 0
    for i in range(len(island)):
        pushed = norm(row(loads.force, i)) + norm(row(loads.torque, i)) > 0.0 or loads.grab_body[0] == i
        if island[i] >= 0 and (pushed or sleep.settings[0] != number):
            wake_out[island[i]] = 1
            found += 1
    return found


@kernel
def stirred_at(contacts, sleep, wake_out) -> int:
    """Mark the islands that something that moves touches; returns how often."""
    found, island = 0, sleep.island
    wake_out[:] = 0
    for k in range(int(contacts.count[0])):
        for i in (contacts.body_a[k], contacts.body_b[k]):
            if island[i] >= 0:
                wake_out[island[i]] = 1
                found += 1
    return found


@kernel
def hold_still(sleep, force, torque) -> None:
    """What carries those that sleep takes all that acts on them."""
    for i in range(len(sleep.island)):
        if sleep.island[i] >= 0:
            put(force, i, (0.0, 0.0, 0.0))
            put(torque, i, (0.0, 0.0, 0.0))


@kernel
def leave_out(sleep, involved_out) -> int:
    """Those that sleep do not fly, involved = 2; returns how many they are."""
    count = 0
    for i in range(len(sleep.island)):
        if sleep.island[i] >= 0:
            involved_out[i] = 2
            count += 1
    return count


@helper
def joined(leader, i, k):
    """Join two islands, each led by its first body."""
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    while leader[k] != k:
        leader[k] = leader[leader[k]]
        k = leader[k]
    leader[max(i, k)] = min(i, k)


@kernel
def count_still(kind, bodies, shift, radius, restless, speed, h, sleep) -> int:
    """Count the still steps of every body that is awake. Whether one of them has come to STEPS, or again to a multiple
    of it: then islands are to be looked at."""
    due = 0
    for i in range(len(kind)):
        if not moves(kind, i) or sleep.island[i] >= 0:
            continue
        fastest = norm(row(bodies.v, i)) + norm(row(bodies.w, i)) * radius[i]
        furthest = norm(three(shift, i, LINEAR)) + norm(three(shift, i, ANGULAR)) * radius[i]
        if restless[i] == 1 or not (fastest <= speed and furthest <= speed * h):
            sleep.calm[i] = 0
            continue
        sleep.calm[i] = sleep.calm[i] + 1 if sleep.calm[i] < 2 * STEPS - 1 else STEPS
        due += 1 if sleep.calm[i] == STEPS else 0
    return due


@kernel
def find_resting(model, bodies, contacts, sleep, leader_out) -> int:
    """leader_out (n,) = the first body of the island for those that fall asleep, -1 for all others; returns how many
    they are."""
    kind, springs, motions, n = model.kind, model.springs, model.motions, len(model.kind)
    leader, wakes = np.arange(n), np.zeros(n, np.int32)
    for k in range(int(contacts.count[0])):
        a, b = int(contacts.body_a[k]), int(contacts.body_b[k])
        if moves(kind, a) and moves(kind, b):
            joined(leader, a, b)
            continue
        still, other = (b, a) if moves(kind, a) else (a, b)
        runs = norm(row(motions.surface_velocity, still)) + norm(row(motions.surface_spin, still)) > 0.0
        if runs or is_driven(kind, bodies, still):
            wakes[other] = 1
    for k in range(len(springs.body_a)):
        if moves(kind, springs.body_a[k]) and moves(kind, springs.body_b[k]):
            joined(leader, springs.body_a[k], springs.body_b[k])
    for i in range(n):
        while leader[i] != leader[leader[i]]:
            leader[i] = leader[leader[i]]
        if moves(kind, i) and sleep.island[i] < 0 and sleep.calm[i] < STEPS:
            wakes[i] = 1
    for i in range(n):
        if wakes[i] == 1:
            wakes[leader[i]] = 1
    found = 0
    for i in range(n):
        rests = moves(kind, i) and sleep.island[i] < 0 and wakes[leader[i]] == 0
        leader_out[i] = leader[i] if rests else -1
        found += 1 if rests else 0
    return found


# ------------------------------------------------------------------------------------------------- between steps
def fall_asleep(
    model: Model, state: State, contacts: Contacts, leader: IntArray, settings: Settings, limits: int,
) -> None:
    """Let the bodies sleep for which `leader` (n,) names an island, under these settings. contacts: of the step that
    was made; limits: impulses of limits and motors behind those of contacts in the memory."""
    sleep, memory, bodies, falls = state.sleep, state.memory, state.bodies, leader >= 0
    sleep.island[falls], sleep.settings[0] = leader[falls], settings_number(settings)
    for moved in (bodies.P, bodies.L, bodies.v, bodies.w):
        moved[falls] = 0.0
    count, facing = int(memory.count[0]), np.zeros((len(memory.key), 4))
    facing[:count, :3], facing[:count, 3] = contacts.normal[:count], contacts.gap[:count]
    _move(_either(falls, model, memory), (memory, facing, limits), (sleep.contacts, sleep.facing, 0))
    _hold(model, state, settings.h)


def wake(model: Model, state: State, limits: int = 0) -> None:
    """Wake all; limits: as of `fall_asleep`."""
    if state.sleep.contacts.count[0] > 0 or (state.sleep.island >= 0).any():
        wake_islands(model, state, np.ones(len(model.kind), np.int32), 0.0, limits)


def wake_islands(model: Model, state: State, chosen: IntArray, h: float, limits: int) -> None:
    """Wake the islands that `chosen` (n,) marks by their first body; h: the step [s]."""
    sleep = state.sleep
    wakes = sleep.island >= 0
    wakes[wakes] = chosen[sleep.island[wakes]] > 0
    sleep.island[wakes], sleep.calm[wakes] = -1, 0
    memory = state.memory
    facing = np.zeros((len(memory.key), 4))
    _move(_either(wakes, model, sleep.contacts), (sleep.contacts, sleep.facing, 0),
          (memory, facing, limits))
    _hold(model, state, h)


def forget(state: State) -> None:
    """Wake all, and forget all contacts of the last step."""
    sleep, memory = state.sleep, state.memory
    sleep.island[:], sleep.calm[:], sleep.held[:], sleep.contacts.count[0] = -1, 0, 0.0, 0
    memory.count[0], memory.owner[0] = 0, Owner.NOBODY


Table = tuple[ContactMemory, Array, int]  #: contacts, their normals and gaps, the number of impulses behind theirs


def _move(rows: BoolArray, source: Table, target: Table) -> None:
    """Move these rows (c,) of one table of contacts to another one, which stays in the order of pairs of shapes."""
    (memory, facing, behind), (other, other_facing, other_behind) = source, target
    count, there = len(rows), int(other.count[0])
    total = there + int(rows.sum())
    grow_memory(other, total + (other_behind + 2) // 3)
    resize(other_facing, len(other.key))
    pairs = np.concatenate([other.shapes[:there], memory.shapes[:count][rows]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    last, others_last = (flat.impulse.reshape(-1)[3 * n : 3 * n + more].copy()
                         for flat, n, more in ((memory, count, behind), (other, there, other_behind)))
    for a, b in (*((getattr(memory, name), getattr(other, name)) for name in ROWS), (facing, other_facing)):
        b[:total] = np.concatenate([b[:there], a[:count][rows]])[order]
        a[: count - rows.sum()] = a[:count][~rows]
    memory.count[0], other.count[0] = count - rows.sum(), total
    memory.impulse.reshape(-1)[3 * (count - rows.sum()) :][:behind] = last
    other.impulse.reshape(-1)[3 * total :][:other_behind] = others_last


def _either(chosen: BoolArray, model: Model, memory: ContactMemory) -> BoolArray:
    """Which contacts (c,) of a memory one of these bodies (n,) has."""
    ends = _bodies_of(model, memory)
    return chosen[ends[:, 0]] | chosen[ends[:, 1]]


def _bodies_of(model: Model, memory: ContactMemory) -> IntArray:
    """Bodies (c, 2) of the contacts of a memory."""
    return model.shapes.body[memory.shapes[: int(memory.count[0])]]


def _points(model: Model, state: State) -> tuple[IntArray, Array]:
    """Bodies (c, 2) and points (c, 3) [m] of the contacts of those that sleep."""
    sleeping = state.sleep.contacts
    ends = _bodies_of(model, sleeping)
    seen_from = np.where(movable(model.kind)[ends[:, 1]], ends[:, 1], ends[:, 0])
    return ends, sleeping.place[: len(ends)] + state.bodies.x[seen_from]


def _hold(model: Model, state: State, h: float) -> None:
    """What the ledger gets in every step of h [s] from contacts of those that sleep with bodies that forces do not
    move: friction as it was, and from normal forces all else that it takes to carry them."""
    (ends, point), sleep, n = _points(model, state), state.sleep, len(model.kind)
    count, moving, sleeps = len(ends), movable(model.kind), sleep.island >= 0
    p, normal = sleep.contacts.impulse[:count], sleep.facing[:count, :3]
    p = p * (moving[ends[:, 1]].astype(float) - moving[ends[:, 0]])[:, None]
    across = p - (p * normal).sum(axis=1)[:, None] * normal
    force, torque = np.zeros((2, n, 3))
    applied_forces(model, empty_loads(n), state.bodies, force, torque)
    moment = torque + np.cross(state.bodies.x, force)
    sleep.held[1] = np.concatenate([across.sum(axis=0), np.cross(point, across).sum(axis=0)])
    sleep.held[0] = -h * np.concatenate([force[sleeps].sum(axis=0), moment[sleeps].sum(axis=0)]) - sleep.held[1]


# -------------------------------------------------------------------------------------------------------- reading
def with_sleepers(model: Model, state: State, awake: Contacts, h: float) -> Contacts:
    """The contacts of a step of h [s] together with those of bodies that sleep, in the order of pairs of shapes."""
    sleeping, (ends, point) = state.sleep.contacts, _points(model, state)
    count, material = len(ends), model.shapes.material[state.sleep.contacts.shapes[: len(ends)]]
    impulse, n = sleeping.impulse[:count], state.sleep.facing[:count, :3]
    pressed, touching, none = (impulse * n).sum(axis=1), sleeping.touching[:count], np.zeros(count)
    rests = (touching == 1) | (pressed > 0.0)
    case = np.where(rests, np.int32(Case.RESTING), np.int32(Case.APART))
    theirs = Contacts(
        sleeping.count, ends[:, 0], ends[:, 1], sleeping.shapes[:count, 0], sleeping.shapes[:count, 1],
        sleeping.key[:count], point, n, state.sleep.facing[:count, 3], model.materials.restitution[*material.T],
        model.materials.friction[*material.T], none, none, pressed / h, impulse,
        (impulse - pressed[:, None] * n) / h, none, case, touching,
        (rests & (pressed > 0.0)).astype(np.int32))
    there = int(awake.count[0])
    columns: list[Any] = [np.concatenate([a[:there], b]) for a, b in zip(awake[1:], theirs[1:], strict=True)]
    order = np.lexsort((columns[3], columns[2]))  # by the second shape within the first
    return Contacts(np.array([there + count], np.int32), *(column[order] for column in columns))
