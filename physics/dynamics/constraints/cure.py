"""Keeping joints in maximal coordinates together, by choice; projection is `JointKeeper.mend`.

    none          J q̈ + γ = 0, or J u⁺ = 0, and nothing else: joints drift apart
    baumgarte     part of the error is taken out a step, see `gain` and `time_stepping.joints`      [Baumgarte 1972]
    projection    C = 0 and J q̇ = s are restored the shortest way, in the metric of H
"""

import numpy as np

from ...core.model import Array, Model
from ...core.state import Bodies, JointState
from ...joints.form import LINE, PITCH, POINT
from ..free_body import velocity_from_momentum
from ..trees.kinematics import advance, place_links
from ..trees.rates import empty_tree_scratch
from .axes import add_rows, pose_rows
from .reactions import HOLDS, answer_joints, displace, find_speeds, place_joints, reactions_of

CURES = {"none": "No cure", "baumgarte": "Baumgarte", "projection": "Projection"}
BAUMGARTE = 0.2    # part of an error that a step takes out
CONSISTENT = 1e-9  # violations of joints' velocities that `begin` takes for rounding [m/s] or [rad/s]
ROUNDED = 1e-15    # C that no Newton step makes smaller [m] or [rad]
NEARLY = 1e-11     # C [m], [rad] after which one more Newton step reaches rounding, as it squares the error
PROJECTIONS = 30   # Newton steps of a projection at most
APART = 1e-3       # C that joints may gain in a step of fixed length, relative to the longest lever
LENGTHS = (POINT, LINE, PITCH)  # rows whose C is a length [m]; that of all others is an angle [rad]
LONGEST = 0.1      # most that a Newton step moves a row [m] or [rad]: beyond it linearisation fails


def gain(cure: str, h: float) -> float:
    """α of Baumgarte's C̈ + 2 α Ċ + α² C = 0 [1/s], 0 for other cures."""
    return BAUMGARTE / h if cure == "baumgarte" else 0.0


class JointKeeper:
    """The joints of a model in maximal coordinates; scratch memory."""

    def __init__(self, model: Model, drives: bool = False) -> None:
        """drives: motors of trees and motors with a limit are among them."""
        self.model, self.reactions = model, reactions_of(model, drives=drives)
        self.any = len(self.reactions.rows.kind) > 0
        joints, moved = model.joints, model.joints.generalized == 0
        arms = [joints.anchor_child[moved], joints.anchor_parent[moved & (joints.parent >= 0)]]
        self._lever = max((float(np.linalg.norm(a, axis=1).max(initial=0.0)) for a in arms), default=0.0)
        self._trees = empty_tree_scratch(model.trees)
        self._change = np.zeros(6 * int((self.reactions.slot >= 0).sum()) + len(self._trees.v))

    def begin(self, bodies: Bodies, joints: JointState, cure: str) -> bool:
        """Take out velocities that joints do not allow, as edits of the state leave them; whether there were any."""
        if not self.any:
            return False
        reactions, which = self.reactions, self._kept(cure)
        if not which.any():
            return False
        self.find(bodies, joints)
        wrong = float(np.abs(which * (reactions.u - reactions.seek)).max()) > CONSISTENT
        if wrong:
            if cure == "projection":
                self.close(bodies, joints)
            self.stop(bodies, joints, which)
        return wrong

    def mend(self, bodies: Bodies, joints: JointState, cure: str) -> bool:
        """Restore C = 0 and J q̇ = s; without projection only the motors' speeds s. Whether anything had to change."""
        if not self.any:
            return False
        which = self._kept(cure)
        if not which.any():
            return False
        if cure == "projection":
            self.close(bodies, joints)
        self.stop(bodies, joints, which)
        return True

    def find(self, bodies: Bodies, joints: JointState) -> None:
        """J, C and J q̇ of this state."""
        reactions = self.reactions
        pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
        find_speeds(reactions, bodies, joints.v)

    def _kept(self, cure: str) -> Array:
        """1 of rows (m,) whose J q̇ = s is restored."""
        reactions = self.reactions
        return (reactions.mode == HOLDS) * ((reactions.hard if cure == "projection" else 0.0) + reactions.driven)

    def close(self, bodies: Bodies, joints: JointState) -> None:
        """Bring C to zero by displacements along H⁻¹ Jᵀ: Newton's method. Momenta and joint velocities stay."""
        reactions = self.reactions
        for _ in range(PROJECTIONS):
            place_joints(self.model, *joints, bodies, self._trees, reactions)
            reactions.lam[:] = -reactions.hard * reactions.C
            worst = float(np.abs(reactions.lam).max())
            if worst <= ROUNDED:
                break
            reactions.lam[:] *= min(1.0, LONGEST / worst)
            answer_joints(reactions, self._change)
            displace(reactions.slot, self._change, bodies)
            if len(joints.v):
                advance(self.model.trees.table, joints.q.copy(), self._of_links(), 1.0, joints.q)
            if worst <= NEARLY:
                break
        velocity_from_momentum(self.model, bodies)

    def stop(self, bodies: Bodies, joints: JointState, which: Array) -> None:
        """Take out the velocities that the rows with `which` (m,) = 1 do not allow by impulses JᵀΛ."""
        reactions = self.reactions
        place_joints(self.model, *joints, bodies, self._trees, reactions)
        find_speeds(reactions, bodies, joints.v)
        reactions.lam[:] = which * (reactions.seek - reactions.u)
        answer_joints(reactions, self._change)
        add_rows(self.model.kind, reactions.rows, reactions.J, reactions.lam, bodies.P, bodies.L)
        joints.v[:] += self._of_links()
        velocity_from_momentum(self.model, bodies)
        place_links(self.model, *joints, self._trees.work, bodies)

    def error(self, bodies: Bodies) -> tuple[float, str]:
        """How far the worst joint has come apart, "m", or is turned against what it allows, "rad"."""
        if not self.any:
            return 0.0, "m"
        reactions = self.reactions
        pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
        off = np.abs(reactions.hard * reactions.C)
        worst = int(off.argmax())
        return float(off[worst]), "m" if reactions.rows.kind[worst] in LENGTHS else "rad"

    def torn(self, before: Bodies, after: Bodies) -> bool:
        """Whether joints have come apart between two states by more than APART allows for a step of fixed length. Close
        to a singular position of a linkage such a step can have a large error; closing the joints then changes the
        energy by an unbounded amount."""
        return self.any and self.error(after)[0] > self.error(before)[0] + APART * self._lever

    def _of_links(self) -> Array:
        return self._change[len(self._change) - len(self._trees.v) :]
