"""An orientation as a rotation matrix and as a quaternion: how far both are from a rotation, step by step."""

import numpy as np
import pytest

from contactlab.assets import scene_path
from contactlab.physics.look.orientation_drift import STEPPED, drift
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

INERTIA, UNIT = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.0, 0.0, 0.0])


def test_by_eulers_method_both_grow_at_every_step():
    """About a principal axis ω stays. A step makes the columns across it √(1 + h²ω²) times as long, and q √(1 + h²ω²/4)
    times: |RᵀR - 1| = √2 ((1 + h²ω²)^k - 1), det R = (1 + h²ω²)^k, |q| = (1 + h²ω²/4)^(k/2)."""
    h, w, k = 0.01, 7.0, np.arange(101)
    found = drift(INERTIA, UNIT, INERTIA * (0.0, 0.0, w), "euler", h, 100)
    grown = (1.0 + (h * w) ** 2) ** k
    np.testing.assert_allclose(found.matrix, np.sqrt(2.0) * (grown - 1.0), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.volume, grown, rtol=1e-12)
    np.testing.assert_allclose(found.quaternion, (1.0 + 0.25 * (h * w) ** 2) ** (0.5 * k) - 1.0, rtol=1e-11, atol=1e-14)
    assert found.t[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(("integrator", "power"), [("euler", 1), ("heun", 3), ("rk4", 5)])
def test_drift_falls_with_the_step_as_the_amplification_says(integrator, power):
    """|1 + z + … | - 1 of z = i h ω: z²/2 of Euler's method, z⁴/8 of Heun's, z⁶/144 of the classical one; over a time
    that is one power of h less."""
    sizes = [[getattr(drift(INERTIA, UNIT, INERTIA * (0.0, 0.0, 3.0), integrator, 0.5 / n, n), name)[-1]
              for n in (10, 20)] for name in ("matrix", "quaternion")]
    for coarse, fine in sizes:
        assert coarse / fine == pytest.approx(2.0**power, rel=0.1)
    assert set(STEPPED) == {"euler", "heun", "rk4"}


@pytest.mark.parametrize("integrator", STEPPED)
def test_a_matrix_drifts_further_than_a_quaternion(integrator):
    """A quaternion turns at half the rate: its drift is that of half the angle, 1/4 of a square, 1/16 of a fourth
    power, 1/64 of a sixth; and R counts six conditions, q one. For any motion, here one that tumbles."""
    found = drift(INERTIA, UNIT, INERTIA * (0.3, 4.0, 0.2), integrator, 0.01, 50)
    assert (found.matrix[1:] > 4.0 * found.quaternion[1:]).all()


def test_the_handle_is_stretched_as_the_text_says():
    """From the start, by steps of the scene for a second."""
    sim = Simulation(Scene.load(scene_path("t_handle")))
    bodies, h = sim.state.bodies, sim.settings.h
    found = drift(sim.model.inertia[0], bodies.q[0], bodies.L[0], "euler", h, round(1.0 / h))
    text = " ".join(Scene.load(scene_path("t_handle")).watch.split())
    assert "R makes it 1.9 times as large" in text and "|q| only grows by 8 %" in text
    assert found.volume[-1] == pytest.approx(1.9, abs=0.05) and found.quaternion[-1] == pytest.approx(0.08, abs=0.005)
