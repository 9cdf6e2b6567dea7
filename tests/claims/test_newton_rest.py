"""Claims about what stands: islands that the solver `newton` solves instead of sweeping.

At rest the velocities after a step are those of the equilibrium, zero, but for the residual r of the step's contact
problem; positions then move by r h a step. `newton` ends at r <= 1e-12 g h or where rounding lets it get no further:
g h = 0.04 m/s, so 1e-12 to 1e-10 m a second where impulses are of the size of the weights.
"""

import numpy as np
import pytest
from contact_scenes import block, ground, simulate

STILL = 1e-9  # m: what may be moved in the seconds simulated


def drift(sim, names, seconds):
    """The farthest that a body gets from its place [m], and the worst residual [m/s]."""
    places, worst = {name: np.array(sim.position(name)) for name in names}, 0.0
    for _ in range(round(240 * seconds)):
        sim.step()
        worst = max(worst, sim.info.residual)
    return max(np.linalg.norm(sim.position(name) - place) for name, place in places.items()), worst


@pytest.mark.parametrize("count", [20, 40])
def test_a_tower_of_equal_boxes_stands(count):
    """500 kg/m³, μ = 0.5: sweeps let its top wander by centimetres within seconds."""
    names = [f"b{i}" for i in range(count)]
    boxes = [block(name, (0, 0, 0.25 + 0.5 * i), mass=62.5) for i, name in enumerate(names)]
    moved, residual = drift(simulate(ground(), *boxes, solver="newton"), names, 5)
    assert moved <= STILL
    assert residual <= 1e-10 * 9.81 / 240


def test_one_gram_carries_a_ton():
    """A ratio of 1e6: u = M λ has terms of λ/m = 4e4 m/s, whose rounding 1e-16 is 4e-12 m/s."""
    small, large = block("small", (0, 0, 0.05), (0.1,) * 3, 1e-3), block("large", (0, 0, 0.6), (1.0,) * 3, 1000.0)
    assert drift(simulate(ground(), small, large, solver="newton"), ["small", "large"], 2)[0] <= STILL


def test_redundant_feet_share_alike():
    """A box on four corners, μ = 1: the least forces are a quarter of the weight each, without friction."""
    sim = simulate(ground(), block("box", (0, 0, 0.25), mass=8.0), mu=1.0, solver="newton")
    for _ in range(10):
        sim.step()
    count = int(sim.contacts.count[0])
    assert count == 4
    assert sim.contacts.lam[:count] == pytest.approx(np.full(4, 2.0 * 9.81), rel=1e-9)
    assert np.abs(sim.contacts.friction_force[:count]).max() <= 1e-8 * 8.0 * 9.81
