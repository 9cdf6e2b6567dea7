"""How fast springs and dampers of joints move the links of trees: what bounds steps without error control."""

import numpy as np

from ...core.model import Array, Model
from .mass_matrix import joint_space, mass_matrix


def joint_rates(model: Model, q: Array) -> tuple[float, float]:
    """The largest eigenvalues of H⁻¹K [1/s2] and H⁻¹C [1/s] of all trees at the positions q of joints; 0 without
    springs and dampers. Contacts and other joints only take freedom away, which makes none of them larger."""
    trees, joints = model.trees, model.joints
    of = trees.joint[trees.dof_link]
    gains = joints.stiffness[of], joints.damping[of]
    if not (gains[0].any() or gains[1].any()):
        return 0.0, 0.0
    H = np.zeros((len(of), len(of)))
    mass_matrix(joint_space(trees), q, H)
    square, damping = (float(np.linalg.eigvals(np.linalg.solve(H, np.diag(gain))).real.max()) for gain in gains)
    return square, damping
