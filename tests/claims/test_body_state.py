"""The state of a body and its rate as the tab Body shows them: dY/dt = (v, [ω]× R, F, τ) [Baraff I §2.11]."""

import numpy as np
import pytest

from contactlab.assets import scene_path
from contactlab.physics.look.body_state import look_at_body
from contactlab.physics.look.inspection import Inspect, look
from contactlab.physics.methods import METHODS
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

G = np.array([0.0, 0.0, -9.81])
BRICK = {"name": "brick", "position": [0.0, 0.0, 2.0], "velocity": [1.0, -2.0, 3.0],
         "angular_velocity": [1.0, 6.0, 0.5], "mass": 2.0, "inertia": [0.01, 0.02, 0.03],
         "shape": [{"type": "box", "size": [0.3, 0.2, 0.1]}]}
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def simulation(bodies, joints=(), **solver):
    scene = {"scene": {"gravity": G.tolist()}, "solver": {"h": 1.0 / 480.0, **solver}, "body": list(bodies)}
    sim = Simulation(Scene.from_dict({**scene, "joint": list(joints)} if joints else scene))
    sim.record_history()
    return sim


def steps(sim, count):
    for _ in range(count):
        sim.step()


@pytest.mark.parametrize("method", METHODS)
def test_of_a_thrown_brick_F_is_its_weight_and_L_stays_while_w_wanders(method):
    sim = simulation([BRICK], method=method, integrator="rk4")
    start = look_at_body(sim, 0)
    assert np.isnan(start.F).all() and np.isnan(start.tau).all()  # no step has told them
    steps(sim, 200)
    view = look_at_body(sim, 0)
    # (P - P_prev)/h loses ε |P|/h to rounding; |P| <= 2 kg * 6 m/s, and RK4 adds m g exactly but for a few roundings
    rounding = 100 * np.finfo(float).eps * 12.0 / view.h
    assert np.abs(view.F - 2.0 * G).max() <= rounding
    assert np.abs(view.tau).max() <= rounding and pytest.approx(start.L, abs=1e-13) == view.L
    assert np.linalg.norm(view.w - start.w) > 0.5  # the axis of the middle moment is unstable
    assert view.inverse_inertia @ view.L == pytest.approx(view.w, abs=1e-12)
    assert pytest.approx(2.0 * view.v, abs=1e-14) == view.P and view.weight == pytest.approx(2.0 * G, abs=1e-14)


def test_the_t_handle_flips_while_its_L_and_energy_stay():
    sim = Simulation(Scene.load(scene_path("t_handle")))
    sim.record_history()
    start, along = look_at_body(sim, 0), []
    for _ in range(1500):
        sim.step()
        view = look_at_body(sim, 0)
        along.append(float(view.R[:, int(np.argsort(view.inertia)[1])] @ view.L))
    assert min(along) < -0.9 * np.linalg.norm(start.L) and max(along) > 0.9 * np.linalg.norm(start.L)
    assert pytest.approx(start.L, rel=1e-12, abs=1e-15) == view.L
    assert view.rotational_energy == pytest.approx(start.rotational_energy, rel=1e-5)  # RK4 drifts as h^4


def test_the_rates_of_orientation_are_the_derivatives_of_R_and_q():
    """Central differences err by h² |Y'''| / 6; |ω| < 9 rad/s, and its own rates are of the size of its square."""
    sim = simulation([BRICK], method="time_stepping", integrator="rk4", h=1e-4)
    views = []
    for _ in range(3):
        sim.step()
        views.append(look_at_body(sim, 0))
    before, now, after = views
    bound = (1e-4) ** 2 * 9.0**3
    assert np.abs((after.R - before.R) / 2e-4 - now.R_dot).max() <= bound
    assert np.abs((after.q - before.q) / 2e-4 - now.q_dot).max() <= bound
    assert np.abs((after.x - before.x) / 2e-4 - now.v).max() <= bound + 1e-11


@pytest.mark.parametrize("method", METHODS)
def test_a_body_at_rest_has_no_F_and_all_but_its_weight_carries_it(method):
    box = {"name": "box", "position": [0.0, 0.0, 0.1], "density": 1000.0, "shape": [{"type": "box", "size": [0.2] * 3}]}
    sim = simulation([FLOOR, box], method=method)
    steps(sim, 480)
    view = look_at_body(sim, 1)
    settled = {"compliant": 1e-3}.get(method, 1e-6)  # its springs ring out as exp(-D t / 2 m)
    assert np.abs(view.F).max() <= settled * view.mass * 9.81
    assert (view.F - view.weight)[2] == pytest.approx(8.0 * 9.81, rel=settled)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_at_the_bottom_of_its_swing_a_link_is_driven_by_the_centripetal_force(coordinates):
    """F = m v²/l upwards there, whatever exerts it; a mean over a step of ω h = 0.01 rad is off by 1 % sideways."""
    bob = {"name": "bob", "position": [1.0, 0.0, 2.0], "mass": 3.0, "inertia": [0.01] * 3,
           "shape": [{"type": "sphere", "radius": 0.05}]}
    hinge = {"type": "hinge", "child": "bob", "anchor": [0.0, 0.0, 2.0], "axis": [0.0, 1.0, 0.0],
             "coordinates": coordinates}
    sim = simulation([bob], [hinge], method="event_driven")
    while look_at_body(sim, 0).x[0] > 0.0:
        sim.step()
    view = look_at_body(sim, 0)
    assert view.link == (coordinates == "generalized")
    centripetal = 3.0 * (view.v @ view.v)
    assert view.F[2] == pytest.approx(centripetal, rel=1e-3)
    assert abs(view.F[0]) <= 0.02 * centripetal and view.F[1] == pytest.approx(0.0, abs=1e-9)
    assert pytest.approx(3.0 * view.v, abs=1e-12) == view.P


def test_what_no_force_moves_says_so():
    sim = simulation([FLOOR, BRICK])
    found = look(sim, Inspect("body", body=0))
    assert found.body is None and "floor never moves" in found.note
    assert "No body" in look(sim, Inspect("body", body=-1)).note
    assert look(sim, Inspect("body", body=1)).body.body == 1
