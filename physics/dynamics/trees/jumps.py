"""Trees on bodies whose velocity jumps: where the path that they follow has a way point.

No joint gives its tree an impulse along its own motion, so that of the generalized momentum nothing changes. With base
velocities V_b, the momenta are H v + Jᵀ I V_b, and with the base's jump Δ

    H Δv = -Jᵀ I Δ

as of accelerations, where the base is accelerated and nothing else acts.
"""

from ...core.jit import helper, kernel
from ...core.spatial import joined
from ...core.sym3 import put_six, put_three, six, three
from ..motion import at_way_point, jumps_of
from .kinematics import PARENT, STAND_A, A, F, place, place_links, stand
from .tree import answer, eliminate, momentum_of


@helper
def has_jump(model, k, t, h):
    """Whether the k-th body that carries a tree is at a way point after t [s] until t + h."""
    return at_way_point(model.motions, int(model.trees.driven[k, 1]), t, h)


@kernel
def mark_jumps(model, t, h, trees_out) -> None:
    """Mark (t,) the trees carried by those that are."""
    for k in range(len(model.trees.driven)):
        if has_jump(model, k, t, h):
            trees_out[model.trees.driven[k, 2]] = 1


@helper
def jump_of(model, k, t, h, at_start, at_end):
    """What jumps of the velocity of the k-th body that carries a tree, after t [s] until t + h: so much of the parts of
    `jumps_of` [m/s]."""
    first, second = jumps_of(model.motions, int(model.trees.driven[k, 1]), t, h)
    return (at_start * first[0] + at_end * second[0], at_start * first[1] + at_end * second[1],
            at_start * first[2] + at_end * second[2])


@kernel
def jump(model, t, h, at_start, at_end, bodies, joints, trees) -> None:
    """The velocities of joints after so much of the parts of the jumps, see `jumps_of`, after t [s] until t + h; links
    are as these say and as the bodies that carry them move. trees: a TreeScratch."""
    table, link, dof = model.trees.table, trees.work.link, trees.work.dof
    stand(model.trees, bodies, link)
    place(table, joints.q, link, dof)
    for l in range(link.shape[0]):
        put_three(link, l, STAND_A, (0.0, 0.0, 0.0))
    for k in range(len(model.trees.driven)):
        put_three(link, model.trees.driven[k, 0], STAND_A, jump_of(model, k, t, h, at_start, at_end))
    for l in range(link.shape[0]):
        p = int(table.index[l, PARENT])
        a = six(link, p, A) if p >= 0 else joined((0.0, 0.0, 0.0), three(link, l, STAND_A))
        put_six(link, l, A, a)
        put_six(link, l, F, momentum_of(link, l, a))
    eliminate(table, trees.none, link, dof, trees.work.articulated)
    answer(table, 0, link.shape[0], trees.none, link, dof, trees.rates)
    for d in range(len(joints.v)):
        joints.v[d] += trees.rates[d]
    place_links(model, joints.q, joints.v, trees.work, bodies)
