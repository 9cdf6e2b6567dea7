"""How far two meshes are from each other: the least distance of a triangle of one and one of the other, found in both
trees of boxes at once, nearest boxes first; what is farther than the nearest pair so far is left out.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array, IntArray, Meshes
from ..core.vec import norm, row, scale, sub, unit
from .bvh import STACK
from .geometry import origin, to_local, to_world
from .gjk import gjk, weighted
from .triangles import load_triangle


class Soups(NamedTuple):
    """The triangles of all meshes of a model, for distances."""

    sheets: Array     #: see `triangles.new_sheets`
    meshes: Meshes
    waiting: IntArray  #: (k, 2) scratch: pairs of nodes that wait


def new_soups(meshes: Meshes, sheets: Array) -> Soups:
    """A walk down two trees keeps two pairs for every level of either."""
    return Soups(sheets, meshes, np.zeros((4 * STACK, 2), np.int32))


@helper
def box_of(meshes, i):
    """Centre and half extents of node i, in the frame of its mesh."""
    low, high = row(meshes.node_min, i), row(meshes.node_max, i)
    half = scale(0.5, sub(high, low))
    return (low[0] + half[0], low[1] + half[1], low[2] + half[2]), half


@helper
def boxes_apart(geom, meshes, a, i, b, j):
    """At most the distance of node i of mesh shape a and node j of mesh shape b: that of the first box and the box
    around the second one, in the frame of a."""
    (c_a, half_a), (c_b, half_b) = box_of(meshes, i), box_of(meshes, j)
    at = to_world(geom, b, c_b)
    x_a, x_b = origin(geom, a), origin(geom, b)
    c = to_local(geom, a, (at[0] + x_b[0] - x_a[0], at[1] + x_b[1] - x_a[1], at[2] + x_b[2] - x_a[2]))
    square = 0.0
    for k in range(3):
        reach = half_a[k]
        for m in range(3):
            turn = 0.0
            for r in range(3):
                turn += geom.R[a, r, k] * geom.R[b, r, m]
            reach += abs(turn) * half_b[m]
        apart = max(0.0, abs(c[k] - c_a[k]) - reach)
        square += apart * apart
    return math.sqrt(square)


@helper
def leaves_apart(geom, soups, work, a, i, b, j):
    """(distance, normal a -> b) of the triangles of the leaves i of a and j of b that are nearest to each other."""
    meshes, core, second, best, n = soups.meshes, work.core, geom.x.shape[0] - 1, math.inf, (0.0, 0.0, 1.0)
    first_a, first_b = -meshes.child[i, 0] - 1, -meshes.child[j, 0] - 1
    for k in range(first_a, first_a + meshes.child[i, 1]):
        load_triangle(geom, a, soups.sheets[meshes.leaf_order[k]], core[0], work.cone)
        for m in range(first_b, first_b + meshes.child[j, 1]):
            load_triangle(geom, b, soups.sheets[meshes.leaf_order[m]], core[1], work.cone)
            distance, rows = gjk(core[0], 3, core[1], 3, geom, second, second, best, work.simplex)
            if distance < best:
                best = distance
                n = unit(sub(weighted(work.simplex, rows, 6), weighted(work.simplex, rows, 3)))
    return best, n


@helper
def put_pair(waiting, depth, i, j):
    waiting[depth, 0], waiting[depth, 1] = i, j
    return depth + 1


@helper
def meshes_gap(geom, soups, work, a, b):
    """(gap, normal a -> b) of two mesh shapes; 0 where their surfaces cross."""
    meshes, waiting, best, n = soups.meshes, soups.waiting, math.inf, (0.0, 0.0, 1.0)
    depth = put_pair(waiting, 0, meshes.node_start[geom.data[a]], meshes.node_start[geom.data[b]])
    while depth > 0:
        depth -= 1
        i, j = waiting[depth, 0], waiting[depth, 1]
        if boxes_apart(geom, meshes, a, i, b, j) >= best:
            continue
        leaf_a, leaf_b = meshes.child[i, 0] < 0, meshes.child[j, 0] < 0
        if leaf_a and leaf_b:
            distance, direction = leaves_apart(geom, soups, work, a, i, b, j)
            if distance < best:
                best, n = distance, direction
            continue
        # the larger box is split; the nearer half comes off the stack first
        split_a = not leaf_a and (leaf_b or norm(box_of(meshes, i)[1]) >= norm(box_of(meshes, j)[1]))
        i_1, i_2 = (meshes.child[i, 0], meshes.child[i, 1]) if split_a else (i, i)
        j_1, j_2 = (j, j) if split_a else (meshes.child[j, 0], meshes.child[j, 1])
        if boxes_apart(geom, meshes, a, i_1, b, j_1) < boxes_apart(geom, meshes, a, i_2, b, j_2):
            i_1, i_2, j_1, j_2 = i_2, i_1, j_2, j_1
        depth = put_pair(waiting, put_pair(waiting, depth, i_1, j_1), i_2, j_2)
    return best, n
