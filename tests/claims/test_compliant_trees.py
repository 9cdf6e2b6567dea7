"""Claims about trees on springy surfaces: forces of position and velocity alone, put into the articulated-body
algorithm."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground
from tree_scenes import rods

from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

SOFT = {"stiffness_n": 2e4, "damping_n": 40.0, "stiffness_t": 1e4, "damping_t": 20.0}


def simulate(*bodies, joints=(), mu=0.4, gravity=(0.0, 0.0, -G), integrator="rk4", h=1 / 240, **keywords):
    return Simulation(Scene.from_dict({
        "scene": {"gravity": list(gravity)}, "material": {"default": {"friction": mu, **SOFT}},
        "body": list(bodies), "joint": list(joints),
    }), method="compliant", integrator=integrator, h=h, **keywords)


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_a10b_ten_rods_fall(integrator):
    """A10 (b): without contact the soft method is the integrator alone."""
    sim = Simulation(Scene.from_dict(rods(10, length=0.1, mass=0.1)), method="compliant", integrator=integrator,
                     h=1 / 240)
    sim.run(until=0.4)
    angle = sim.state.joints.q.sum()
    end = sim.state.bodies.x[9][[0, 2]] + 0.05 * np.array([math.sin(angle), -math.cos(angle)])
    # the same tip by rk4 with half the step is nearer by 2⁴: its error here is some 1e-6
    np.testing.assert_allclose(end, [0.4614509247813434, -0.7771614709669126], rtol=0,
                               atol=1e-7 if integrator == "dopri5" else 1e-5)


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_a_block_on_a_free_joint_falls_and_slides_as_a_free_block_does(integrator):
    """The same forces in other coordinates."""
    one = block("b", (0, 0, 0.27), velocity=(1.0, 0.5, 0.0), angular_velocity=(0.4, 0.3, 0.1))
    free, link = (simulate(ground(), one, joints=joints, integrator=integrator)
                  for joints in ((), [{"type": "free", "child": "b"}]))
    for sim in (free, link):
        sim.run(until=0.2)
    assert free.info.contacts == link.info.contacts > 0
    # rk4 takes momenta of free bodies and velocities of links to the stages: they differ by its own error
    near = 1e-8 if integrator == "dopri5" else 1e-5
    np.testing.assert_allclose(link.position("b"), free.position("b"), rtol=0, atol=near)
    np.testing.assert_allclose(link.velocity("b"), free.velocity("b"), rtol=0, atol=30 * near)


def test_a_hinged_rod_rests_on_a_ball_as_deep_as_its_share_of_the_weight_presses():
    """Lever: λ x = m g L/2; the surfaces of rod and ball give way by λ/K in series, those of ball and floor under
    λ + m_b g."""
    x, mass = 0.8, 2.0
    rod = {"name": "rod", "position": [0.5, 0, 0.42], "mass": 1.0, "inertia": [1e-3, 1 / 12, 1 / 12],
           "shape": [{"type": "capsule", "radius": 0.02, "height": 1.0, "euler": [0, 90, 0]}]}
    sim = simulate(ground(), rod, ball("ball", (x, 0, 0.2), 0.2, mass, angular_velocity=(0, 0, 0)), mu=2.0, joints=[
        {"type": "hinge", "child": "rod", "anchor": [0, 0, 0.42], "axis": [0, -1, 0], "damping": 1.0}])
    sim.run(until=2.0)
    pressed = 0.5 * G / x
    of = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(sim.contacts.body_a, sim.contacts.body_b, strict=True))}
    on_rod, on_floor = (sim.contacts.lam[of[pair]] for pair in ((1, 2), (0, 2)))
    # the rod is turned by a milliradian, and rocks on the ball no more
    assert on_rod == pytest.approx(pressed, rel=1e-2)
    assert on_floor == pytest.approx(on_rod + mass * G, rel=1e-3)
    assert -sim.contacts.gap[of[0, 2]] == pytest.approx(on_floor / (0.5 * SOFT["stiffness_n"]), rel=1e-3)


def test_a_limit_gives_way_by_the_moment_on_it_over_its_stiffness():
    """K_n at the distance of the centre of mass, 0.5 m."""
    scene = rods(1, angle=25.0, limits=[20.0, 90.0])
    scene["material"] = {"default": SOFT}
    sim = Simulation(Scene.from_dict(scene), method="compliant", h=1 / 240)
    sim.run(until=3.0)
    q = float(sim.state.joints.q[0])
    depth = math.radians(20.0) - q
    assert abs(sim.state.joints.v[0]) < 1e-6
    assert depth == pytest.approx(0.5 * G * math.sin(q) / (0.25 * SOFT["stiffness_n"]), rel=1e-4)


def test_what_a_limit_holds_and_takes_is_booked():
    """A rod falls on its limit and swings out: while it presses the stop holds ½ K φ², and all that is lost in the end
    was taken by its damper."""
    scene = rods(1, angle=60.0, limits=[20.0, 90.0])
    scene["material"] = {"default": SOFT}
    sim = Simulation(Scene.from_dict(scene), method="compliant", integrator="dopri5", h=1 / 240)
    first, held = sim.energy().total, 0.0
    while sim.time < 0.5:
        sim.step()
        phi = min(float(sim.state.joints.q[0]) - math.radians(20.0), 0.0)
        assert -sim.ledger["Held by surfaces"][0] == pytest.approx(0.5 * 0.25 * SOFT["stiffness_n"] * phi**2, abs=1e-12)
        held = max(held, sim.info.stored)
        assert sim.energy().total + sim.info.stored + sim.info.dissipated == pytest.approx(first, abs=1e-8)
    lost = first - sim.energy().total
    assert lost > 0.05 * G and held > 0.5 * lost
    assert -sim.ledger["Soft limits"][0] == pytest.approx(lost, abs=1e-8)
    assert abs(sim.ledger["Soft surfaces"][0]) < 1e-12 and sim.ledger["Impacts"][0] == 0.0
    assert abs(sim.ledger["Numerical drift"][0]) < 1e-8


def test_the_mouse_pulls_a_link():
    sim = Simulation(Scene.from_dict(rods(1, angle=0.0)), method="compliant", integrator="rk4", h=1 / 240)
    sim.grab(0, (0, 0, -1.0), (2.0, 0.0, 0.0))
    sim.run(until=1.5)
    assert 60.0 < math.degrees(sim.state.joints.q[0]) < 90.0
