"""Both coordinates in one scene, and every solver with joints in maximal coordinates, by time stepping."""

import numpy as np
import pytest
from joint_scenes import as_trees, falling_pair, four_bars, hinge, rod, scene

from contactlab.physics import Scene, Simulation
from contactlab.physics.problem.problem import Takes
from contactlab.physics.solvers import SOLVERS


def test_a_loop_may_be_closed_by_a_tree():
    """The four-bars as trees of cranks and couplers whose last pins are constraints on links: closed to 1e-12, and the
    motion that of constraints alone, to second order in h."""
    tables, apart = four_bars(speed=0.0), []
    tables["scene"]["gravity"] = [3.0, 0.0, -9.81]
    for h in (1 / 60, 1 / 120):
        ends = []
        for made in (as_trees(tables), tables):
            sim = Simulation(Scene.from_dict(made), method="time_stepping", h=h)
            sim.run(until=0.2)
            ends.append(sim.state.bodies.x.copy())
            assert sim.info.joint_error < 1e-12
        apart.append(np.abs(ends[1] - ends[0]).max())
    assert 0.0 < apart[1] < 0.3 * apart[0] < 1e-4


def velocities_after(steps, solver, mu):
    """Of two hinged rods on the floor, which projected sweeps have brought there, after one step by a solver."""
    sim = Simulation(Scene.from_dict(falling_pair(e=0.0, mu=mu)), method="time_stepping", h=1 / 120, iterations=4000)
    for _ in range(steps):
        sim.step()
    sim.set(solver=solver)
    sim.step()
    assert len(sim.contacts.gap) > 0 and np.abs(sim.contacts.impulse).max() > 0.01
    assert sim.info.joint_error < 1e-12 and sim.info.residual < 1e-7
    return np.hstack([sim.state.bodies.v, sim.state.bodies.w])


@pytest.mark.parametrize("steps", (40, 60))
@pytest.mark.parametrize(("name", "mu"), [
    *((name, 0.4) for name, solver in SOLVERS.items() if Takes.FRICTION in solver.takes
       and name not in ("pgs", "gauss_seidel")),
    *((name, 0.0) for name, solver in SOLVERS.items() if Takes.FRICTION not in solver.takes)])
def test_every_solver_takes_contacts_of_bodies_that_joints_connect(name, mu, steps):
    """The same velocities as by projected sweeps through the joints, rocking on the floor and at rest."""
    one, other = velocities_after(steps, "pgs", mu), velocities_after(steps, name, mu)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-6)


def lifted_table(coordinates):
    """A crank with limits and a motor of bounded torque, hinged to the world, that carries a bar by a pin in maximal
    coordinates; the bar's other end slides on the floor."""
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    crank, bar = rod("crank", (0, 0, 0.5), (0.3, 0, 0.5)), rod("bar", (0.3, 0, 0.5), (1.0, 0, 0.06), mass=0.5)
    bar["shape"] = [{"type": "sphere", "radius": 0.05, "position": [0.7 / 2, 0, -0.44 / 2]}]
    joints = [hinge("world", "crank", (0, 0, 0.5), coordinates=coordinates, limits=[-60.0, 40.0], damping=0.05,
                    motor={"speed": 1.0, "limit": 6.0}, spring={"stiffness": 0.5}),
              hinge("crank", "bar", (0.3, 0, 0.5))]
    return scene([floor, crank, bar], joints) | {"material": {"default": {"restitution": 0.0, "friction": 0.2}}}


def test_limits_motors_and_contacts_act_through_a_pin_between_a_link_and_a_free_body():
    ends = []
    for coordinates in ("generalized", "maximal"):
        sim = Simulation(Scene.from_dict(lifted_table(coordinates)), method="time_stepping", h=1 / 480,
                         iterations=1000)
        sim.run(until=0.25)
        ends.append(sim.state.bodies.x.copy())
        assert sim.info.joint_error < 1e-12
    assert np.abs(ends[0][1] - Scene.from_dict(lifted_table("maximal")).build().state.bodies.x[1]).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=2e-4)


def test_the_mouse_pulls_through_a_closed_loop():
    """Grabbed at a coupler and held up beside it, the four-bars swing there, in both coordinates alike."""
    ends = []
    for made in (as_trees(four_bars(speed=0.0)), four_bars(speed=0.0)):
        sim = Simulation(Scene.from_dict(made), method="time_stepping", h=1 / 120)
        x = sim.position("coupler 0")
        sim.grab("coupler 0", x, x + np.array([0.2, 0.0, 0.0]))
        sim.run(until=0.3)
        ends.append(sim.position("coupler 0"))
        assert sim.info.joint_error < 1e-12
    assert ends[0][0] > x[0] + 0.05
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=2e-2)
