"""The constraint method: forces of joints in maximal coordinates from one sparse symmetric system.

    u⁺ = u + M⁻¹(h ξ + Jᵀ λ),   J u⁺ = b   →   (J M⁻¹ Jᵀ) λ = b - J (u + h M⁻¹ ξ)        [Articulated eqs. 22.17, 22.18]

b = 0 in the text. J M⁻¹ Jᵀ couples joints that share a body. With the joints of a tree in the order leaves first its
factor has no fill, and the whole costs a time linear in the joints; joints that close loops come last. Rows that others
already imply (planar loops, Bricard's mechanism, singular positions) get no force of their own: see `ldl`.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.islands import trees_of
from ...core.model import Array, BodyKind, IntArray, Joints, Model
from .axes import AxisRows, axis_rows, constraint_rows

#: roles of rows. HARD: a joint keeps C at zero. The others are axes. SOFT: with a spring or damper, λ is its impulse;
#: MOTOR: kept at its speed without limit; LIMITED: driven by a motor with a limit; ROTOR: see `reactions`
HARD, SOFT, MOTOR, LIMITED, ROTOR = range(5)
HEAVY = 1e5  # m r²/I of a body up to which RANK alone tells dependent rows; a slender rod may reach it


def _leaves_first(joints: Joints, which: Any, node: IntArray) -> list[tuple[list[int], list[int]]]:
    """Per island its joints, those that stand on the ground or close loops last, and its nodes (see `trees_of`)."""
    ends_of = {j: (int(node[joints.parent[j]]) if joints.parent[j] >= 0 else -1, int(node[joints.child[j]]))
               for j in which.tolist()}
    at: dict[int, list[int]] = {}
    for j, ends in ends_of.items():
        for i in dict.fromkeys(k for k in ends if k >= 0):
            at.setdefault(i, []).append(j)
    seen: set[int] = set()
    islands = []
    grounded = [child for parent, child in ends_of.values() if parent < 0]
    for root in [*grounded, *at]:
        if root in seen or root not in at:
            continue
        bodies, tree, closing, done = [root], [], [], set()
        seen.add(root)
        for i in bodies:  # grows while it is walked: breadth first
            for j in at[i]:
                if j in done:
                    continue
                done.add(j)
                new = [k for k in dict.fromkeys(ends_of[j]) if k in at and k not in seen]
                seen.update(new)
                bodies += new
                (tree if new else closing).append(j)
        islands.append((tree[::-1] + closing, bodies))
    return islands


class Layout(NamedTuple):
    """All rows of a model's joints in maximal coordinates, in the order in which they are eliminated."""

    rows: AxisRows
    role: IntArray           #: (m,) HARD, SOFT, …
    axes: AxisRows               #: of what the joints leave free
    rank: IntArray           #: (j,) place of each joint in the order
    counts: list[int]        #: joints of each island
    bodies: list[list[int]]  #: bodies of each island


def layout_of(model: Model) -> Layout:
    """Order, rows and islands of all joints in maximal coordinates of a model."""
    joints, node = model.joints, trees_of(model)
    found = _leaves_first(joints, np.flatnonzero(joints.generalized == 0), node)
    order = np.array([j for tree, _ in found for j in tree], np.int32)
    members = {i: np.flatnonzero(node == i).tolist() for _, nodes in found for i in nodes}
    hard, axes = constraint_rows(joints, order), axis_rows(joints, order)
    seeking, resisted = np.isfinite(joints.motor_speed), (joints.stiffness > 0.0) | (joints.damping > 0.0)
    j, every, role = axes.joint, hard, [HARD] * len(hard.kind)
    for what, where in ((MOTOR, (seeking & np.isinf(joints.motor_limit))[j] & (axes.axis == 0)), (SOFT, resisted[j]),
                        (LIMITED, (seeking & np.isfinite(joints.motor_limit))[j] & (axes.axis == 0)),
                        (ROTOR, joints.armature[j] > 0.0)):
        every, role = rows_joined(every, rows_taken(axes, where)), role + [what] * int(where.sum())
    role = np.array(role, np.int32)
    rank = np.zeros(len(joints.type), np.int32)
    rank[order] = np.arange(len(order))
    sorted_rows = np.argsort(rank[every.joint], kind="stable")
    return Layout(rows_taken(every, sorted_rows), role[sorted_rows], axes, rank, [len(tree) for tree, _ in found],
                  [[i for k in nodes for i in members[k]] for _, nodes in found])


def pattern_of(rows: AxisRows, node: IntArray) -> list[list[int]]:
    """For every row the rows up to and including it that share coordinates with it (see `trees_of`)."""
    at: dict[int, list[int]] = {}
    pattern = []
    for r, ends in enumerate(zip(rows.a.tolist(), rows.b.tolist(), strict=True)):
        linked = {r}
        for i in {int(node[k]) for k in ends if k >= 0} - {-1}:
            at.setdefault(i, []).append(r)
            linked.update(at[i])
        pattern.append(sorted(linked))
    return pattern


def heaviness(mass: Array, inertia: Array, free: Any, joints: Joints) -> Array:
    """m |r × I⁻¹ (r × ·)| of each free body (n,), about m r²/I, the largest over its arms r to joints in maximal
    coordinates; 0 for other bodies."""
    found = np.zeros(len(mass))
    for j in np.flatnonzero(joints.generalized == 0):
        for i, arm in ((joints.parent[j], joints.anchor_parent[j]), (joints.child[j], joints.anchor_child[j])):
            if i >= 0 and free[i]:
                turn = np.cross(arm, np.diag(1.0 / np.sqrt(inertia[i])))  # times its transpose: r × I⁻¹ (r × ·)
                found[i] = max(found[i], mass[i] * np.linalg.norm(turn, 2) ** 2)
    return found


def own_share(model: Model, rows: AxisRows) -> Array:
    """The part (m,) of its diagonal entry of J M⁻¹ Jᵀ to which the pivot of an independent row may fall, in units of
    1/HEAVY and at most 1. For a body at the end of an arm r the entry is 1/m + r²/I; rows that keep the body from
    turning leave 1/m of it."""
    heavy = heaviness(model.mass, model.inertia, model.kind == BodyKind.DYNAMIC, model.joints)
    worst = np.maximum(np.where(rows.a >= 0, heavy[rows.a], 0.0), heavy[rows.b])
    return HEAVY / np.maximum(worst, HEAVY)


def rows_taken(rows: AxisRows, index: Any) -> AxisRows:
    """Only these rows."""
    return AxisRows._make(np.ascontiguousarray(field[index]) for field in rows)


def rows_joined(first: AxisRows, second: AxisRows) -> AxisRows:
    """Both, one after the other."""
    return AxisRows._make(np.concatenate(pair) for pair in zip(first, second, strict=True))
