"""The forces of joints: the same in both coordinates, those of inverse dynamics, and those of statics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.assets import scene_path
from contactlab.physics import Scene, Simulation
from contactlab.physics.look.inspection import Inspect, look

G = 9.81
SOLVED = 1e-8  # relative to the largest: J H⁻¹ Jᵀ of these chains has a condition below 1e6, solved in doubles

ROD = {"mass": 2.0, "inertia": [0.03, 0.2, 0.21]}


def body(name, x, **more):
    return {"name": name, "position": [x, 0.0, 2.0], **ROD, **more}


def joint(kind, parent, child, x, **more):
    return {"type": kind, "parent": parent, "child": child, "anchor": [x, 0.0, 2.0], **more}


def made(bodies, joints, coordinates, method="time_stepping"):
    joints = [j | {"coordinates": coordinates} for j in joints]
    return Simulation(Scene.from_dict({"body": bodies, "joint": joints}), method=method)


def forces(sim):
    found = look(sim, Inspect("joints"))
    assert found.joints is not None, found.note
    return found.joints


def same(one, other, tolerance=SOLVED):
    size = max(np.abs(one.force).max(), np.abs(one.moment).max())
    for field in ("point", "force", "moment", "along"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=0.0, atol=tolerance * size)


ANGLES, SPEEDS = st.floats(-70.0, 70.0), st.floats(-4.0, 4.0)


@settings(max_examples=15, deadline=None)
@given(st.lists(ANGLES, min_size=4, max_size=4), st.lists(SPEEDS, min_size=8, max_size=8), st.booleans())
def test_they_are_the_same_in_both_coordinates(angle, speed, screw):
    """A chain that moves: universal, hinge with spring, damper and rotor, slider or screw, ball, fixed."""
    joints = [
        joint("universal", "world", "a", -0.5, axes=[[0, 1, 0], [0, 0, 1]], position=angle[:2], velocity=speed[:2]),
        joint("hinge", "a", "b", 0.5, axis=[0, 1, 0], position=angle[2:3], velocity=speed[2:3], damping=0.3,
              spring={"stiffness": 5.0, "position": [10.0]}, armature=0.05),
        joint("screw", "b", "c", 1.5, axis=[1, 0, 0], pitch=0.2, velocity=speed[3:4]) if screw else
        joint("slider", "b", "c", 1.5, axis=[1, 0, 0], position=[0.1], velocity=speed[3:4], motor={"torque": 3.0}),
        joint("ball", "c", "d", 2.5, position=[angle[3], 5.0, 0.0], velocity=speed[4:7]),
        joint("fixed", "d", "e", 3.5)]
    bodies = [body(name, float(k)) for k, name in enumerate("abcde")]
    generalized, maximal = (forces(made(bodies, joints, kind)) for kind in ("generalized", "maximal"))
    same(generalized, maximal)
    if not screw:  # along its free axis a joint does what was put there
        assert generalized.along[2] == pytest.approx(3.0, abs=SOLVED * np.abs(generalized.force).max())


def test_a_beam_in_a_wall_needs_its_weight_and_half_its_length_times_it():
    for coordinates in ("generalized", "maximal"):
        found = forces(made([body("beam", 0.5)], [joint("fixed", "world", "beam", 0.0)], coordinates))
        np.testing.assert_allclose(found.force, [[0.0, 0.0, 2.0 * G]], atol=1e-12)
        np.testing.assert_allclose(found.moment, [[0.0, -0.5 * 2.0 * G, 0.0]], atol=1e-12)


def test_a_pendulum_pulls_with_its_weight_and_what_turns_it():
    """At an angle θ and speed ω, I_0 = I + m l²: m g cos θ + m l ω² along the rod, m g sin θ (1 - m l²/I_0) across."""
    l, omega, theta = 0.5, 3.0, np.radians(40.0)
    bob = body("bob", l)
    swing = joint("hinge", "world", "bob", 0.0, axis=[0, 1, 0], position=[90.0 - 40.0], velocity=[omega])
    inertia = ROD["inertia"][1] + 2.0 * l * l
    along, across = np.array([-np.sin(theta), 0.0, np.cos(theta)]), np.array([np.cos(theta), 0.0, np.sin(theta)])
    for coordinates in ("generalized", "maximal"):
        (force,) = forces(made([bob], [swing], coordinates)).force
        assert force @ along == pytest.approx(2.0 * (G * np.cos(theta) + l * omega**2), rel=1e-10)
        assert force @ across == pytest.approx(2.0 * G * np.sin(theta) * (1.0 - 2.0 * l * l / inertia), rel=1e-10)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
def test_a_joint_at_its_limit_carries_the_moment_of_the_weight(method):
    """A rod that fell on its lower limit and rests there level: m g l about the hinge. Where the limit is a spring, its
    moment is that less I_0 q̈, and both coordinates agree on it."""
    rods = [body("rod", 0.5)]
    found = []
    for coordinates in ("generalized", "maximal"):
        sim = made(rods, [joint("hinge", "world", "rod", 0.0, axis=[0, -1, 0], limits=[[0.0, 90.0]], position=[2.0])],
                   coordinates, method)
        sim.run(until=1.0)
        found.append(forces(sim))
        if method != "compliant":
            assert found[-1].along[0] == pytest.approx(2.0 * G * 0.5, rel=1e-6) and found[-1].limited == (0,)
        else:
            assert found[-1].along[0] == pytest.approx(2.0 * G * 0.5, rel=0.02)


def test_a_contact_adds_its_force_to_the_joint_that_carries_it():
    """A rod on a hinge whose other end lies on a post: half the weight each."""
    post = {"name": "post", "fixed": True, "position": [1.0, 0.0, 1.9], "shape": [{"type": "sphere", "radius": 0.05}]}
    rod = body("rod", 0.5) | {"shape": [{"type": "box", "size": [1.2, 0.1, 0.1]}]}
    for coordinates in ("generalized", "maximal"):
        sim = made([post, rod], [joint("hinge", "world", "rod", 0.0, axis=[0, 1, 0])], coordinates, "event_driven")
        sim.set(friction=0.0)
        sim.run(until=0.1)
        np.testing.assert_allclose(forces(sim).force, [[0.0, 0.0, G]], atol=1e-6)


def test_a_motor_holds_what_its_speed_needs():
    """A motor that turns a level rod at a steady 0 rad/s carries m g l."""
    for coordinates in ("generalized", "maximal"):
        for limit in ({}, {"limit": 30.0}):
            sim = made([body("rod", 0.5)], [joint("hinge", "world", "rod", 0.0, axis=[0, -1, 0],
                                                  motor={"speed": 0.0, **limit})], coordinates)
            sim.run(until=0.05)
            assert forces(sim).along[0] == pytest.approx(2.0 * G * 0.5, rel=1e-6)


def test_loops_share_the_weight():
    """A level beam on two hinged props that are a loop with the ground: what the two feet carry is all the weight."""
    props = [{"name": f"prop {k}", "position": [x, 0.0, 1.0], "mass": 1.0, "inertia": [0.1] * 3}
             for k, x in enumerate((0.0, 1.0))]
    beam = {"name": "beam", "position": [0.5, 0.0, 2.0], **ROD}

    def hinge(parent, child, x, z):
        return {"type": "hinge", "parent": parent, "child": child, "anchor": [x, 0.0, z], "axis": [0, 1, 0]}
    joints = [hinge("world", "prop 0", 0.0, 0.0), hinge("world", "prop 1", 1.0, 0.0), hinge("prop 0", "beam", 0.0, 2.0),
              hinge("prop 1", "beam", 1.0, 2.0)]
    found = forces(made([*props, beam], joints, "maximal"))
    np.testing.assert_allclose(found.force[:2, 2], 2.0 * G, rtol=1e-9)  # by symmetry half of (1 + 1 + 2) kg each
    np.testing.assert_allclose(found.force[2:, 2], G, rtol=1e-9)


def test_a_scene_without_joints_says_so():
    sim = Simulation(Scene.load(scene_path("dice")))
    assert look(sim, Inspect("joints")).note == "This scene has no joints."
