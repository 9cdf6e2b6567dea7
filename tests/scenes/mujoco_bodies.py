"""Comparing bodies that were read from a robot's file with MuJoCo's reading of it."""

import numpy as np
import pytest

from contactlab.physics.shapes.shapes import quat_to_matrix


def assert_bodies_agree(setup, model, data, names):
    """Masses to rounding; centres of mass and inertias, in the world, to 1e-12."""
    for name in names:
        i, k = setup.labels.bodies.index(name), model.body(name).id
        assert setup.model.mass[i] == pytest.approx(model.body_mass[k], rel=1e-13)
        np.testing.assert_allclose(setup.state.bodies.x[i], data.xipos[k], atol=1e-12)
        R, S = quat_to_matrix(setup.state.bodies.q[i]), data.ximat[k].reshape(3, 3)
        np.testing.assert_allclose(R @ np.diag(setup.model.inertia[i]) @ R.T, S @ np.diag(model.body_inertia[k]) @ S.T,
                                   atol=1e-12)
