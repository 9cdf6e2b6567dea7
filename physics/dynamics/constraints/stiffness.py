"""How fast springs and dampers of joints, in generalized and maximal coordinates alike, move what they connect: what
bounds steps without error control.

With A the rows of the axes that have them, k and c their gains, the motions that the joints allow have the mobility

    W = A H⁻¹ Aᵀ - A H⁻¹ Jᵀ (J H⁻¹ Jᵀ)⁻¹ J H⁻¹ Aᵀ                                        see `reactions`

along these axes, and the eigenvalues of √k W √k are ω², those of √c W √c the rates of decay. In generalized coordinates
an axis is a coordinate, and without J that is H⁻¹ of these. Contacts and rows of motors in trees only take freedom
away, which makes no eigenvalue larger.
"""

import numpy as np

from ...core.model import Array, Model, body_count
from ...core.state import Bodies, empty_state
from ..trees.mass_matrix import joint_space, mass_matrix
from ..trees.rates import empty_tree_scratch
from .layout import SOFT
from .reactions import OFF, hold_rows, place_joints, reactions_of


class JointRates:
    """Of the springs and dampers of a model's joints; scratch memory only."""

    def __init__(self, model: Model) -> None:
        joints, trees = model.joints, model.trees
        self._model, self._reactions = model, reactions_of(model, soft=True)
        rows, slot = self._reactions.rows, self._reactions.slot
        self._reactions.mode[self._reactions.role == SOFT] = OFF  # these are A, the others J
        self._rows = np.flatnonzero(self._reactions.role == SOFT)
        of = trees.joint[trees.dof_link]
        self._dofs = np.flatnonzero((joints.stiffness[of] > 0.0) | (joints.damping[of] > 0.0))
        at = np.concatenate([rows.joint[self._rows], of[self._dofs]])
        self._gains = joints.stiffness[at], joints.damping[at]
        self.any = len(at) > 0  #: whether there are springs or dampers
        self._links = len(self._reactions.trial) - len(of)  # where velocities of joints of trees begin in q̇
        ends = np.stack([rows.a, rows.b])[:, self._rows]    # places in q̇ of the ends; those that have none: one beyond
        first = np.where((ends >= 0) & (slot[ends] >= 0), slot[ends], len(self._reactions.trial))
        self._places = np.minimum(first[:, :, None] + np.arange(6), len(self._reactions.trial))
        self._H, self._space = np.zeros((len(of), len(of))), joint_space(trees)
        self._bodies, self._trees = empty_state(body_count(model)).bodies, empty_tree_scratch(trees)

    def __call__(self, bodies: Bodies, q: Array) -> tuple[float, float]:
        """The largest ω² [1/s2] and rate of decay [1/s] at the poses of the bodies and the positions q (n_q,) of the
        joints of trees; 0 without springs and dampers."""
        if not self.any:
            return 0.0, 0.0
        W = self._mobility(bodies, q)
        square, damping = (float(np.linalg.eigvalsh(np.sqrt(gain[:, None] * gain) * W)[-1]) if gain.any() else 0.0
                           for gain in self._gains)
        return max(square, 0.0), max(damping, 0.0)

    def _mobility(self, bodies: Bodies, q: Array) -> Array:
        """W"""
        reactions, soft, links = self._reactions, len(self._rows), self._links
        A = np.zeros((soft + len(self._dofs), len(reactions.trial) + 1))  # a column more, for ends without a place
        AH = A.copy()
        A[np.arange(soft, len(A)), links + self._dofs] = 1.0
        if len(self._dofs):
            mass_matrix(self._space, q, self._H)
            AH[soft:, links:-1] = np.linalg.inv(self._H)[self._dofs]
        if len(reactions.mode):
            for source, target in zip(bodies, self._bodies, strict=True):
                target[:] = source
            place_joints(self._model, q, self._trees.none, self._bodies, self._trees, reactions)
            for matrix, sides, joints in ((A, reactions.J, reactions.G), (AH, reactions.W, reactions.Y)):
                matrix[:soft, links:-1] = joints[self._rows]
                for side, places in enumerate(self._places):
                    matrix[np.arange(soft)[:, None], places] = sides[self._rows, 6 * side : 6 * side + 6]
        AH = np.ascontiguousarray(AH[:, :-1])
        hold_rows(reactions, len(AH), AH)
        return A[:, :-1] @ AH.T
