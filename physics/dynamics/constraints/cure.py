"""Keeping joints in maximal coordinates together, by choice; projection is `JointKeeper.mend`.

    none          J q̈ + γ = 0, or J u⁺ = 0, and nothing else: joints drift apart
    baumgarte     part of the error is taken out a step, see `gain` and `time_stepping.joints`      [Baumgarte 1972]
    projection    C = 0 and J q̇ = s are restored the shortest way, in the metric of H
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel, program
from ...core.model import Array, Model
from ...core.state import Bodies, JointState
from ...core.vec import put_all
from ...joints.form import LINE, PITCH, POINT
from ..free_body import velocity_from_momentum
from ..trees.kinematics import advance, place_links
from ..trees.rates import TreeScratch, empty_tree_scratch
from .axes import add_rows, pose_rows
from .reactions import HOLDS, Reactions, answer_joints, displace, find_speeds, place_joints, reactions_of

CURES = {"none": "No cure", "baumgarte": "Baumgarte", "projection": "Projection"}
ROW_OF = {cure: row for row, cure in enumerate(CURES)}
STABILISED, PROJECTION = ROW_OF["baumgarte"], ROW_OF["projection"]
BAUMGARTE = 0.2    # part of an error that a step takes out
CONSISTENT = 1e-9  # violations of joints' velocities that `begin` takes for rounding [m/s] or [rad/s]
ROUNDED = 1e-15    # C that no Newton step makes smaller [m] or [rad]
NEARLY = 1e-11     # C [m], [rad] after which one more Newton step reaches rounding, as it squares the error
PROJECTIONS = 30   # Newton steps of a projection at most
APART = 1e-3       # C that joints may gain in a step of fixed length, relative to the longest lever
LENGTHS = (POINT, LINE, PITCH)  # rows whose C is a length [m]; that of all others is an angle [rad]
UNITS = ("rad", "m")
LONGEST = 0.1      # most that a Newton step moves a row [m] or [rad]: beyond it linearisation fails




def gain(cure: str, h: float) -> float:
    """α of Baumgarte's C̈ + 2 α Ċ + α² C = 0 [1/s], 0 for other cures."""
    return BAUMGARTE / h if cure == "baumgarte" else 0.0


class Keeper(NamedTuple):
    """The joints of a model in maximal coordinates, and scratch."""

    reactions: Reactions
    trees: TreeScratch
    change: Array       #: (6 n_d + n_v,) of free bodies and joints of trees


class JointKeeper:
    """Keeps the joints of a model together for methods that ask from Python; scratch memory."""

    def __init__(self, model: Model, drives: bool = False) -> None:
        """drives: motors of trees and motors with a limit are among them."""
        self.model, self.reactions = model, reactions_of(model, drives=drives)
        self.any = len(self.reactions.rows.kind) > 0
        joints, moved = model.joints, model.joints.generalized == 0
        arms = [joints.anchor_child[moved], joints.anchor_parent[moved & (joints.parent >= 0)]]
        self._lever = max((float(np.linalg.norm(a, axis=1).max(initial=0.0)) for a in arms), default=0.0)
        trees = empty_tree_scratch(model.trees)
        self.work = Keeper(self.reactions, trees, np.zeros(6 * int((self.reactions.slot >= 0).sum()) + len(trees.v)))

    def begin(self, bodies: Bodies, joints: JointState, cure: str) -> bool:
        """Take out velocities that joints do not allow, as edits of the state leave them; whether there were any."""
        return self.any and begin_joints(self.model, bodies, joints, ROW_OF[cure], self.work)

    def mend(self, bodies: Bodies, joints: JointState, cure: str) -> bool:
        """Restore C = 0 and J q̇ = s; without projection only the motors' speeds s. Whether anything had to change."""
        return self.any and mend_joints(self.model, bodies, joints, ROW_OF[cure], self.work)

    def hold(self, bodies: Bodies, joints: JointState) -> Array:
        """Restore J q̇ = s whatever the cure is; returns the impulses (m,) of the joints' rows [N s] or [N m s]."""
        stop_joints(self.model, bodies, joints, PROJECTION, self.work)
        return self.reactions.lam.copy()

    def find(self, bodies: Bodies, joints: JointState) -> None:
        """J, C and J q̇ of this state."""
        find(bodies, joints, self.reactions)

    def error(self, bodies: Bodies) -> tuple[float, str]:
        """How far the worst joint has come apart, "m", or is turned against what it allows, "rad"."""
        apart, length = worst_joint(bodies, self.reactions) if self.any else (0.0, 1.0)
        return apart, UNITS[int(length)]

    def torn(self, before: Bodies, after: Bodies) -> bool:
        """Whether joints have come apart between two states by more than APART allows for a step of fixed length. Close
        to a singular position of a linkage such a step can have a large error; closing the joints then changes the
        energy by an unbounded amount."""
        return self.any and self.error(after)[0] > self.error(before)[0] + APART * self._lever


# -------------------------------------------------------------------------------------------------------- programs
@program
def begin_joints(model, bodies, joints, cure, keeper) -> bool:
    """See `JointKeeper.begin`; cure: a row of CURES."""
    reactions = keeper.reactions
    find(bodies, joints, reactions)
    wrong = worst_speed(reactions, cure) > CONSISTENT
    if wrong and cure == PROJECTION:
        close_joints(model, bodies, joints, keeper)
    if wrong:
        stop_joints(model, bodies, joints, cure, keeper)
    return wrong


@program
def mend_joints(model, bodies, joints, cure, keeper) -> bool:
    """See `JointKeeper.mend`; cure: a row of CURES."""
    if kept_rows(keeper.reactions, cure) == 0:
        return False
    if cure == PROJECTION:
        close_joints(model, bodies, joints, keeper)
    stop_joints(model, bodies, joints, cure, keeper)
    return True


@program
def close_joints(model, bodies, joints, keeper) -> None:
    """Bring C to zero by displacements along H⁻¹ Jᵀ: Newton's method. Momenta and joint velocities stay."""
    reactions, change, q = keeper.reactions, keeper.change, keeper.trees.q
    first = len(change) - len(joints.v)
    for _ in range(PROJECTIONS):
        place_joints(model, joints.q, joints.v, bodies, keeper.trees, reactions)
        worst = 0.0
        for r in range(len(reactions.lam)):
            reactions.lam[r] = -reactions.hard[r] * reactions.C[r]
            worst = max(worst, abs(reactions.lam[r]))
        if worst <= ROUNDED:
            break
        share = min(1.0, LONGEST / worst)
        for r in range(len(reactions.lam)):
            reactions.lam[r] *= share
        answer_joints(reactions, change)
        displace(reactions.slot, change, bodies)
        put_all(q, joints.q)
        advance(model.trees.table, q, change[first:], 1.0, joints.q)
        if worst <= NEARLY:
            break
    velocity_from_momentum(model, bodies)


@program
def stop_joints(model, bodies, joints, cure, keeper) -> None:
    """Take out the velocities that rows do not allow by impulses JᵀΛ."""
    reactions, change = keeper.reactions, keeper.change
    place_joints(model, joints.q, joints.v, bodies, keeper.trees, reactions)
    find_speeds(reactions, bodies, joints.v)
    for r in range(len(reactions.lam)):
        reactions.lam[r] = kept(reactions, r, cure) * (reactions.seek[r] - reactions.u[r])
    answer_joints(reactions, change)
    add_rows(model.kind, reactions.rows, reactions.J, reactions.lam, bodies.P, bodies.L)
    first = len(change) - len(joints.v)
    for d in range(len(joints.v)):
        joints.v[d] += change[first + d]
    velocity_from_momentum(model, bodies)
    place_links(model, joints.q, joints.v, keeper.trees.work, bodies)


@program
def find(bodies, joints, reactions) -> None:
    """See `JointKeeper.find`."""
    pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
    find_speeds(reactions, bodies, joints.v)


@program
def worst_joint(bodies, reactions):
    """C of the joint that has come apart most, and 1 where that is a length, 0 where it is an angle."""
    pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
    worst, length = 0.0, 1.0
    for r in range(len(reactions.C)):
        off = abs(reactions.hard[r] * reactions.C[r])
        if off > worst or r == 0:
            worst, length = off, 1.0 if reactions.rows.kind[r] in LENGTHS else 0.0
    return worst, length


# --------------------------------------------------------------------------------------------------------- kernels
@helper
def kept(reactions, r, cure):
    """1 of a row whose J q̇ = s is restored."""
    if reactions.mode[r] != HOLDS:
        return 0.0
    return (reactions.hard[r] if cure == PROJECTION else 0.0) + reactions.driven[r]


@kernel
def kept_rows(reactions, cure):
    """How many rows have their J q̇ = s restored."""
    count = 0
    for r in range(len(reactions.mode)):
        count += kept(reactions, r, cure) > 0.0
    return count


@kernel
def worst_speed(reactions, cure):
    """The greatest |J q̇ - s| of a row that is restored."""
    worst = 0.0
    for r in range(len(reactions.mode)):
        worst = max(worst, abs(kept(reactions, r, cure) * (reactions.u[r] - reactions.seek[r])))
    return worst
