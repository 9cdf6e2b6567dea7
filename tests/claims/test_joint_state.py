"""What a joint bears as the tab Body shows it, and the parts of it."""

import numpy as np
import pytest

from contactlab.physics.look.joint_state import CLOSED, look_at_joint
from contactlab.physics.look.quantities import quantity_of
from contactlab.physics.methods import METHODS
from contactlab.physics.run.log import row_of
from contactlab.physics.run.messages import Curve, Watch
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

G, H = 9.81, 1.0 / 480.0
COORDINATES = ("generalized", "maximal")


def simulation(bodies, joints, coordinates="generalized", **solver):
    sim = Simulation(Scene.from_dict({
        "solver": {"h": H, "integrator": "rk4", **solver}, "body": bodies,
        "joint": [{"coordinates": coordinates, **joint} for joint in joints]}))
    sim.record_history()
    return sim


def rod(name, x, mass=2.0, **more):
    return {"name": name, "position": list(x), "mass": mass, "inertia": [0.01, 0.04, 0.04],
            "shape": [{"type": "box", "size": [0.4, 0.02, 0.02]}]} | more


def hinge(child, at, parent="world", **more):
    return {"type": "hinge", "parent": parent, "child": child, "anchor": list(at), "axis": [0.0, 1.0, 0.0], **more}


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_pulls_at_its_hinge_as_its_closed_form_says(method, coordinates):
    """F = m (a - g). With φ the angle below the horizontal and l from the hinge to the centre,
    ω² = 2 m g l sin φ/J, α = m g l cos φ/J, J = I + m l²; a = -l ω² e_r + l α e_φ. No moment about the axis."""
    m, l, inertia = 2.0, 0.2, 0.04
    sim = simulation([rod("rod", (l, 0.0, 0.0))], [hinge("rod", (0.0, 0.0, 0.0))], coordinates, method=method)
    J = inertia + m * l * l
    middle = None
    for _ in range(150):
        before = float(sim.joints[0].position)
        sim.step()
        middle = 0.5 * (before + float(sim.joints[0].position))
    view = look_at_joint(sim, 0)
    e_r, e_t = np.array([np.cos(middle), 0.0, -np.sin(middle)]), np.array([-np.sin(middle), 0.0, -np.cos(middle)])
    a = -l * 2.0 * m * G * l * np.sin(middle) / J * e_r + l * m * G * l * np.cos(middle) / J * e_t
    F = m * (a + np.array([0.0, 0.0, G]))
    # a mean over h is that of the middle but for h²/24 of the second derivative, that of the angle likewise; F goes
    # with 3 φ at most, φ'' <= 9 ω² < 9 * 2 m g l/J, and time_stepping's own angle is as far off
    rate = 2.0 * m * G * l / J
    assert np.abs(view.F - F).max() <= 9.0 * rate * H * H * 4.0 * m * G
    assert abs(view.M[1]) <= 9.0 * rate * H * H * m * G * l
    assert view.v[0] ** 2 == pytest.approx(rate * np.sin(view.q[0]), rel=20.0 * rate * H * H)
    assert view.apart < 1e-6 and view.askew < 1e-6 and not view.note


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_hangs_at_rest_is_borne_by_every_joint_above_it(coordinates):
    """Two bodies below each other: the upper joint bears both, the lower one its own."""
    bodies = [rod("upper", (0.0, 0.0, -0.2), 3.0), rod("lower", (0.0, 0.0, -0.6), 1.5)]
    joints = [hinge("upper", (0.0, 0.0, 0.0)), hinge("lower", (0.0, 0.0, -0.4), "upper")]
    sim = simulation(bodies, joints, coordinates)
    sim.step()
    for joint, carried in ((0, 4.5), (1, 1.5)):
        view = look_at_joint(sim, joint)
        assert pytest.approx([0.0, 0.0, carried * G], abs=1e-9) == view.F
        assert pytest.approx(np.zeros(3), abs=1e-9) == view.M


def test_a_cantilever_bears_the_moment_of_its_weight_and_says_it_in_its_axes():
    sim = simulation([rod("beam", (0.2, 0.0, 0.0))],
                     [{"type": "fixed", "parent": "world", "child": "beam", "anchor": [0.0, 0.0, 0.0]}])
    sim.step()
    view = look_at_joint(sim, 0)
    # about the anchor, on the beam: r × m g = (0.2, 0, 0) × (0, 0, -m g) = (0, 0.2 m g, 0), which M takes up
    assert pytest.approx([0.0, -0.2 * 2.0 * G, 0.0], abs=1e-9) == view.M
    assert view.along[0] == pytest.approx(view.axes @ view.F) and len(view.q) == 0


@pytest.mark.parametrize("method", METHODS)
def test_a_body_on_the_floor_takes_its_share_of_the_weight_from_the_joint(method):
    """A plank of 0.4 m on a hinge at one end and the floor at the other: each bears half of it."""
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    plank = rod("plank", (0.0, 0.0, 0.05), shape=[{"type": "box", "size": [0.4, 0.1, 0.1]}])
    sim = simulation([floor, plank], [hinge("plank", (-0.2, 0.0, 0.05))], method=method)
    sim.set(friction=0.0)  # else friction and the hinge may strain against each other
    for _ in range(960):
        sim.step()
    view = look_at_joint(sim, 0)
    total = float(sim.contacts.lam.sum())
    arm = float(sim.contacts.lam @ (sim.contacts.point[:, 0] + 0.2)) / total
    # about the hinge: λ arm = m g 0.2, and F_z + λ = m g, to what a body at rest still moves
    assert total * arm == pytest.approx(2.0 * G * 0.2, rel=1e-3)
    assert view.F[2] == pytest.approx(2.0 * G - total, abs=1e-3 * 2.0 * G)
    assert abs(view.M[1]) <= 1e-3 * 2.0 * G * 0.2


def test_springs_dampers_and_energies_are_those_of_the_scene():
    sim = simulation([rod("cart", (0.0, 0.0, 0.0))],
                     [{"type": "slider", "parent": "world", "child": "cart", "anchor": [0.0, 0.0, 0.0],
                       "axis": [1.0, 0.0, 0.0], "damping": 3.0,
                       "spring": {"stiffness": 50.0, "position": 0.1}}])
    for _ in range(20):
        sim.step()
    view = look_at_joint(sim, 0)
    assert view.slides and view.spring == pytest.approx(-50.0 * (view.q - 0.1)) and view.v[0] > 0.0
    assert view.damper == pytest.approx(-3.0 * view.v)
    assert view.energy == pytest.approx(0.5 * 50.0 * float(view.q[0] - 0.1) ** 2, rel=1e-12)
    # along the axis the joint bears the mean of spring and damper alone: h² k v' and the like of it
    assert view.along[0][0] == pytest.approx(float(view.spring[0] + view.damper[0]), abs=H * (50.0 * 0.5 + 3.0 * 3.0))
    assert view.along[0][1:] @ view.along[0][1:] == pytest.approx((2.0 * G) ** 2, rel=1e-9)


def test_a_closed_chain_says_that_momenta_do_not_tell():
    sim = simulation([rod("rod", (0.2, 0.0, 0.0))], [hinge("rod", (0.0, 0.0, 0.0)), hinge("rod", (0.4, 0.0, 0.0))],
                     "maximal")
    sim.step()
    view = look_at_joint(sim, 0)
    assert np.isnan(view.F).all() and view.note == CLOSED


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_angles_and_rates_of_joints_are_plotted(coordinates):
    sim = simulation([rod("rod", (0.2, 0.0, 0.0))], [hinge("rod", (0.0, 0.0, 0.0))], coordinates)
    for _ in range(30):
        sim.step()
    row = row_of(sim.time, 30, sim, Watch((Curve("joint_angle", 0), Curve("joint_rate", 0))))
    assert row[-2:] == (float(sim.joints[0].position), float(sim.joints[0].velocity))
    with pytest.raises(ValueError, match="L_z@X,Y,Z about a point"):
        quantity_of("L_z@1,2")
