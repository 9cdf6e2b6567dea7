"""The restitution 0 that a surface of springs and dampers comes near to: D as `damping_for` chooses it for e = 0."""

import numpy as np
import pytest
from soft_scenes import FLOOR, ball, soft

from contactlab.physics import Scene, Simulation
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.scene.gains import DEAD, DEADEST, Gains, damping_for, meaning, restitution_of

K, MASS, SPEED = 1e4, 1.5, 2.0  # N/m, kg, m/s


@pytest.mark.parametrize("integrator", ["dopri5", "rk4", "sdirk2"])
@pytest.mark.parametrize("law", LAWS)
def test_a_ball_thrown_at_the_deadest_surface_does_not_come_back(law, integrator):
    """By the method itself e <= DEAD, or what is told of a standard solid, whose series spring rebounds with any D; and
    no surface pulls. Without weight. What is told comes from steps of 1/100 of 1/ω₀, of which the last is taken as
    straight: 1e-4 of the speed. Fixed implicit steps of order 2 err by some (ω₀ h)³/25 each, π/(ω₀ h) of them."""
    series = 3e4 if law == "standard_solid" else np.inf
    d = damping_for(0.0, Gains(law, K, 0.0, series), MASS, SPEED)
    told = meaning(Gains(law, K, d, series), MASS, 9.81, SPEED).restitution
    assert told <= DEAD + 1e-4 or law == "standard_solid"
    h = 1e-3
    sim = soft(ball(mass=MASS, velocity=[0.0, 0.0, -SPEED]), gravity=(0.0, 0.0, 0.0), k=K, d=d, h=h,
               integrator=integrator, law=law, **({"stiffness_series": series} if law == "standard_solid" else {}))
    off = 1e-4 + (np.pi / 25.0 * K / MASS * h**2 if integrator == "sdirk2" else 0.0)
    fastest = -SPEED
    for _ in range(500):
        sim.step()
        assert sim.contacts.lam.min(initial=0.0) >= 0.0
        fastest = max(fastest, float(sim.velocity("ball")[2]))
    assert fastest <= (told + off) * SPEED


@pytest.mark.parametrize("e", [0.0, 0.2, 0.3, 0.6, 0.9])
def test_a_material_without_gains_bounces_with_its_restitution_but_not_less_than_0_3(e):
    """D stays at half the critical one, 2 ζ √(K m) with ζ = 1/2: exp(-2 ζ acos ζ/√(1 - ζ²)) = exp(-2 π/(3 √3)) = 0.298.
    dopri5 keeps 1e-12 of a step, of which the impact takes some 30, and searches for touch and release."""
    least = np.exp(-2.0 * np.pi / (3.0 * np.sqrt(3.0)))
    assert restitution_of(DEADEST) == pytest.approx(least, rel=1e-12) and round(least, 1) == 0.3
    sim = Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, 0.0]}, "solver": {"method": "compliant", "integrator": "dopri5"},
        "material": {"default": {"restitution": e}},
        "body": [FLOOR, ball(z=0.101, mass=MASS, velocity=[0.0, 0.0, -SPEED])]}))
    sim.run(0.1)
    assert sim.velocity("ball")[2] == pytest.approx(SPEED * max(e, least), rel=1e-10)
