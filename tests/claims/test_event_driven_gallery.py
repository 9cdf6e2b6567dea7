"""What the event-driven method promises, at every step of every gallery scene that it takes; and the limit h -> 0."""

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics.core.model import BodyKind
from contactlab.physics.methods.event_driven.settle import CLOSES
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

#: big ones: up to their first impacts; the slot: up to where no forces obey the laws, which is what it shows
STEPS = {"tower": 3, "dominoes": 48, "slot": 59, "humanoid": 120, "bin": 48, "meshes": 60, "dice": 120, "cups": 56,
         "hare": 96}


@pytest.mark.parametrize("key", gallery())
def test_the_laws_hold_at_every_step_of_the_gallery(key):
    """φ >= 0, λ >= 0, ζ̇ >= 0 where φ = ζ = 0, ζ̇ λ = 0; energy falls, but for what projection states, where nothing
    is driven. A contact that has let go is taken back where it approaches by more than CLOSES of the acceleration
    without contact, here g."""
    sim = Simulation(Scene.load(gallery()[key]), method="event_driven")
    if len(sim.state.joints.v):
        sim.set(integrator="dopri5")  # the energy of joints' coordinates is kept to the integrator's order only
    driven = (sim.model.kind == BodyKind.KINEMATIC).any() or sim.model.motions.surface_velocity.any()
    driven = driven or np.isfinite(sim.model.joints.motor_speed).any()
    energy, stated = sim.energy().total, 0.0
    for _ in range(STEPS.get(key, 240)):
        sim.step()
        c = sim.contacts
        current = c.current == 1
        force = 1.0 + np.abs(c.lam).max(initial=0.0)
        rate = 1e-9 * (1.0 + np.abs(c.zeta_dot).max(initial=0.0))
        assert c.gap.min(initial=0.0) >= -1e-8
        assert c.lam.min(initial=0.0) >= -1e-9 * force
        assert (c.lam[~current] == 0.0).all()
        assert np.abs(c.zeta_dot[current & (c.lam > 1e-9 * force)]).max(initial=0.0) <= rate
        assert c.zeta_dot[c.case == 4].min(initial=0.0) >= -max(rate, CLOSES * 9.81)
        now = sim.energy().total
        if not driven:
            gained = sim.info.projection - stated
            assert now - energy <= max(gained, 0.0) + 1e-9 * abs(energy)
        energy, stated = now, sim.info.projection


@pytest.mark.parametrize(("key", "until"), [("ladder", 0.35), ("dome", 0.6), ("tables", 0.1)])
def test_time_stepping_comes_to_the_same_motion_as_the_step_shrinks(key, until):
    """The distance of the two methods' coordinates falls with first order at least: h = 1/240, 1/480, 1/960."""
    scene, away = Scene.load(gallery()[key]), []
    exact = Simulation(scene, integrator="dopri5")
    exact.run(until)
    for rate in (240, 480, 960):
        sim = Simulation(scene, method="time_stepping", h=1 / rate, iterations=400)
        sim.run(until)
        away.append(np.abs(sim.q - exact.q).max())
    assert away[0] < 0.01
    assert away[0] < 1e-9 or np.log2(away[0] / away[2]) / 2 >= 0.9


@pytest.mark.parametrize(("law", "front", "back"), [
    ("newton", (-0.6, 0.4, 0.4, 0.4, 0.4), (-1 / 2, 0.0)),
    ("poisson", (-0.6, 0.4, 0.4, 0.4, 0.4), (-2 / 3, -2 / 3)),
    ("sequential", (0, 0, 0, 0, 1), (-3 / 8, -1 / 4)),
])
def test_newtons_cradle_tells_the_impact_laws_apart(law, front, back):
    """B4: touching balls by three laws, and by any of them in sequence where there are gaps.

    Back row, m₁ = 2 m₂, e = ½ between the balls and 1 at the wall. Newton: ζ⁺ = -e ζ⁻ at both contacts. Poisson: the
    wall gives back all of its P_C, which the balls share. In sequence: ball, wall, ball, wall, ball.
    """
    sim = Simulation(Scene.load(gallery()["newtons_cradle"]))
    sim.set(impact_law=law)
    sim.run(0.5)
    speeds = {name: sim.velocity(name)[0] for name in sim.labels.bodies}
    row = ["front striker", "front", "front 2", "front 3", "front 4"]
    assert [speeds[name] for name in row] == pytest.approx(front, abs=1e-12)
    assert [speeds[name.replace("front", "middle")] for name in row] == pytest.approx((0, 0, 0, 0, 1), abs=1e-12)
    assert [speeds[name] for name in ("heavy striker", "ball at the wall")] == pytest.approx(back, abs=1e-12)


def test_the_glue_holds_a_block_that_a_projection_lets_go():
    """Plain Gauss–Seidel: forces below zero, the block stays. With f >= 0 it hangs on the spring by m g/k."""
    scene = Scene.load(gallery()["glue"])
    glued = Simulation(scene)
    glued.run(3.0)
    assert glued.contacts.lam.sum() == pytest.approx(10 * 9.81 - 500 * 0.4, rel=1e-6)
    assert glued.position("block")[2] == pytest.approx(0.2, abs=1e-6) and glued.info.status == "glued"
    for solver in ("lemke", "pgs"):
        free = Simulation(scene, solver=solver)
        lowest = 0.0
        while free.time < 4.0:
            free.step()
            lowest = min(lowest, free.contacts.lam.min(initial=0.0))
        assert lowest == 0.0
        assert free.position("block")[2] == pytest.approx(0.6 - 10 * 9.81 / 500, abs=0.02)
