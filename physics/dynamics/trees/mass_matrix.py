"""The inertia H of trees in the space of their joints, called from Python   [RBDA ch. 6].

All that a call reads and keeps of the trees stands in one array, their `joint_space`. Passing tuples of arrays from
Python to a kernel takes longer than the work on a small tree.
"""

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, LinkTable, Trees
from ...core.spatial import dot6
from ...core.sym3 import six
from .kinematics import (
    DOF_SIZE,
    FIRST_V,
    INERTIA,
    LINK_SIZE,
    NUMBER_SIZE,
    PARENT,
    S,
    TreeWork,
    empty_work,
    last_dof,
    place,
)
from .tree import momentum_of


def joint_space(trees: Trees, work: TreeWork | None = None) -> Array:
    """A new array with all that the functions below need of these trees, and room for what they keep: numbers of links,
    velocities and trees, then what `unpacked` finds in it. What trees stand on is as `work` has it, see `stand_at`;
    without that at rest."""
    links, dofs = len(trees.body), len(trees.dof_link)
    table = trees.table
    return np.concatenate([
        [links, dofs, len(trees.start)], table.number.ravel(), table.armature,
        _as_floats(table.index), _as_floats(table.before), _as_floats(trees.start),
        (work or empty_work(trees)).link.ravel(), np.zeros(dofs * DOF_SIZE + 36 * links)])


def _as_floats(a: IntArray) -> Array:
    """The same bits as floats, padded to a whole number of them."""
    return np.append(a.ravel(), np.zeros(a.size % 2, np.int32)).astype(np.int32).view(np.float64)


@helper
def unpacked(space):
    """Table of the links, scratch, and first link of every tree: views of a `joint_space`."""
    links, dofs, starts = int(space[0]), int(space[1]), int(space[2])
    a = 3
    number = space[a : a + links * NUMBER_SIZE].reshape((links, NUMBER_SIZE))
    a += links * NUMBER_SIZE
    armature = space[a : a + dofs]
    a += dofs
    index = space[a : a + 2 * links].view(np.int32).reshape((links, 4))
    a += 2 * links
    before = space[a : a + (dofs + 1) // 2].view(np.int32)[:dofs]
    a += (dofs + 1) // 2
    start = space[a : a + (starts + 1) // 2].view(np.int32)[:starts]
    a += (starts + 1) // 2
    link = space[a : a + links * LINK_SIZE].reshape((links, LINK_SIZE))
    a += links * LINK_SIZE
    dof = space[a : a + dofs * DOF_SIZE].reshape((dofs, DOF_SIZE))
    a += dofs * DOF_SIZE
    articulated = space[a:].reshape((links, 36))
    return LinkTable(index, number, before, armature), TreeWork(link, dof, articulated), start


@kernel
def mass_matrix(space, q, H_out):
    """CRBA: H (n_v, n_v) at the positions q; entries of velocities on different branches are 0   [RBDA table 6.2]."""
    table, work, _ = unpacked(space)
    index, before, link, dof = table.index, table.before, work.link, work.dof
    place(table, q, link, dof)
    H_out[:] = 0.0
    for l in range(index.shape[0] - 1, -1, -1):
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            f = momentum_of(link, l, six(dof, d, S))
            H_out[d, d] = dot6(six(dof, d, S), f) + table.armature[d]
            k = int(before[d])
            while k >= 0:
                H_out[d, k] = dot6(six(dof, k, S), f)
                H_out[k, d] = H_out[d, k]
                k = int(before[k])
        p = int(index[l, PARENT])
        if p >= 0:
            for j in range(10):
                link[p, INERTIA + j] += link[l, INERTIA + j]  # that of its whole subtree
