"""Momentum of whole trees in a step of `time_stepping`.

The momentum of a tree that stands on nothing changes only by the impulses on it. A step in joint coordinates keeps
H(q) q̇ only to its order. `balance` adds the difference as a rigid motion of the whole tree, which changes no joint
velocity below the root: every link gets Δv + Δω × (x - c),

    m Δv = ΔP,   I_c Δω = ΔL - c × ΔP          c, I_c: centre of mass and inertia of the whole; L about the world origin
"""

import numpy as np
from numpy.typing import NDArray

from ...core.jit import helper, kernel
from ...core.model import IntArray, Model
from ...core.sym3 import sym_inverse, sym_vec, three
from ...core.vec import add, axpy, cross, dot, mul, quat_mat, row, row4, scale, sub
from ...joints.table import FREE
from .kinematics import (
    FIRST_V,
    PARENT,
    TYPE,
)


def free_trees(model: Model, jointed: NDArray[np.bool_]) -> IntArray:
    """(t,) 1 for trees with a free joint as their root, none of whose bodies other joints connect (jointed, (n,))."""
    trees, found = model.trees, np.zeros(len(model.trees.start) - 1, np.int32)
    for k, (first, last) in enumerate(zip(trees.start[:-1], trees.start[1:], strict=True)):
        index = trees.table.index[first]
        found[k] = index[TYPE] == FREE and index[PARENT] < 0 and not jointed[trees.body[first:last]].any()
    return found


@helper
def whole(model, k, bodies):
    """Mass of tree k, its centre of mass, and the inverse of its inertia about that."""
    trees, mass, middle = model.trees, 0.0, (0.0, 0.0, 0.0)
    for t in range(trees.start[k], trees.start[k + 1]):
        i = int(trees.body[t])
        mass += model.mass[i]
        middle = axpy(model.mass[i], row(bodies.x, i), middle)
    middle = scale(1.0 / mass, middle)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(trees.start[k], trees.start[k + 1]):
        i = int(trees.body[t])
        r, m, c = quat_mat(row4(bodies.q, i)), model.mass[i], sub(row(bodies.x, i), middle)
        moments = row(model.inertia, i)
        x, y, z, square = mul(moments, r[0]), mul(moments, r[1]), mul(moments, r[2]), m * dot(c, c)
        xx += dot(x, r[0]) + square - m * c[0] * c[0]
        xy += dot(x, r[1]) - m * c[0] * c[1]
        xz += dot(x, r[2]) - m * c[0] * c[2]
        yy += dot(y, r[1]) + square - m * c[1] * c[1]
        yz += dot(y, r[2]) - m * c[1] * c[2]
        zz += dot(z, r[2]) + square - m * c[2] * c[2]
    return mass, middle, sym_inverse((xx, xy, xz, yy, yz, zz))


@helper
def add_rigid(model, k, bodies, middle, turn, push, v_in_out):
    """Add the velocity push + turn × (x - middle) to all links of tree k, through its free root."""
    root = int(model.trees.start[k])
    at_root = add(push, cross(turn, sub(row(bodies.x, int(model.trees.body[root])), middle)))
    first = int(model.trees.table.index[root, FIRST_V])
    for j in range(3):
        v_in_out[first + j] += turn[j]
        v_in_out[first + 3 + j] += at_root[j]


@kernel
def balance(model, which, before, given, bodies, v_in_out) -> None:
    """Correct the joint velocities (n_v,) of the trees `which`, whose bodies had the momenta `before` (n, 6) and were
    `given` more (n, 6), angular momenta about the world origin."""
    trees = model.trees
    for k in which:
        p, l = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for t in range(trees.start[k], trees.start[k + 1]):
            i = int(trees.body[t])
            has = row(bodies.P, i)
            p = add(p, sub(add(three(before, i, 0), three(given, i, 0)), has))
            turns = add(row(bodies.L, i), cross(row(bodies.x, i), has))
            l = add(l, sub(add(three(before, i, 3), three(given, i, 3)), turns))
        mass, middle, inverse = whole(model, k, bodies)
        turn = sym_vec(inverse, sub(l, cross(middle, p)))
        add_rigid(model, k, bodies, middle, turn, scale(1.0 / mass, p), v_in_out)
