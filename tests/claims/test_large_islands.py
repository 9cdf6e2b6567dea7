"""Stacks whose islands are large: their forces come from another way of computing, and are the same."""

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.event_driven.instant import equations
from contactlab.physics.methods.event_driven.large_islands import MANY_ROWS, ROUNDING
from contactlab.physics.methods.event_driven.rates import find_forces

G, DENSITY, SIZE = 9.81, 600.0, (0.2, 0.2, 0.1)


def tower(blocks: int) -> Simulation:
    bodies = [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}]
    bodies += [{"name": f"block {i}", "position": [0.0, 0.0, SIZE[2] * (i + 0.5)], "density": DENSITY,
                "shape": [{"type": "box", "size": list(SIZE)}]} for i in range(blocks)]
    scene = {"scene": {"title": "tower", "gravity": [0.0, 0.0, -G]}, "body": bodies,
             "material": {"default": {"restitution": 0.0, "friction": 0.5}}}
    return Simulation(Scene.from_dict(scene), method="event_driven")


@pytest.mark.parametrize("blocks", [5, 8])  # below and above the number of rows from which on islands are large
def test_the_forces_of_a_tower_are_the_smallest_that_keep_it_up(blocks):
    """numpy's least squares on the same rows. Both are known to ROUNDING of the accelerations, and forces to that times
    the condition of the equations. The floor carries all blocks, and each of its corners a quarter."""
    run = tower(blocks)
    for _ in range(2):
        run.step()
    work = run._method.work
    chosen, count, rows = work.chosen, work.in_set, work.chosen.row[: work.chosen.rows[0]]
    assert (len(rows) >= MANY_ROWS) == (blocks > 5)
    work.here.scratch.lam[:] = np.nan
    find_forces(work.here, chosen)
    forces = work.here.scratch.lam[: 3 * count].copy()
    M, d, _ = equations(work.here, work.set_pairs.copy())
    U, s, V = np.linalg.svd(M[rows], full_matrices=False)
    smallest = V.T @ ((U.T @ -d[rows]) / s)
    bound = ROUNDING * np.abs(d).max() / s.min()
    assert np.abs(forces - smallest).max() <= bound
    assert np.abs(M @ forces + d).max() <= ROUNDING * np.abs(d).max() * s.max() / s.min()
    weight = blocks * DENSITY * np.prod(SIZE) * G
    on_floor = run.contacts.body_a[: run.contacts.count[0]] == 0
    lam = run.contacts.lam[: run.contacts.count[0]][on_floor]
    assert len(lam) == 4 and np.abs(lam - weight / 4.0).max() <= bound


def test_a_large_island_that_slides_keeps_its_law_of_friction():
    """Eight wide plates on a slope of 45 degrees, with μ = 1/4 below and 2 between them, slide as one and do not tip:
    a = g (sin α - μ cos α), to the drift that is projected out."""
    mu, angle = 0.25, np.pi / 4
    plates = [{"name": f"plate {i}", "position": [0.0, 0.0, 0.02 * (i + 0.5)], "density": DENSITY, "material": "rough",
               "shape": [{"type": "box", "size": [1.0, 1.0, 0.02]}]} for i in range(8)]
    plates[0]["material"] = "smooth"
    scene = {"scene": {"title": "plates", "gravity": [G * np.sin(angle), 0.0, -G * np.cos(angle)]},
             "body": [{"name": "floor", "fixed": True, "material": "smooth", "shape": [{"type": "plane"}]}, *plates],
             "material": {"rough": {"friction": 2.0}, "smooth": {"friction": mu}},
             "pair": [{"materials": ["rough", "smooth"], "friction": 2.0}]}
    run = Simulation(Scene.from_dict(scene), method="event_driven")
    run.run(0.05)
    slides = G * (np.sin(angle) - mu * np.cos(angle)) * run.time
    assert np.abs(run.state.bodies.v[1:, 0] - slides).max() <= 1e-9
    assert np.abs(run.state.bodies.v[1:, 1:]).max() <= 1e-9
