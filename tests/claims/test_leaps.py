"""Claims about springy surfaces whose gap leaps, as where a corner passes over the edge of a mesh and another face
begins to count: what appears deep at once has stored nothing. Here bodies are put elsewhere between two steps."""

import math

import pytest
from soft_scenes import G, ball, box, place, soft, total

from contactlab.physics import Scene, Simulation
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.methods.compliant.implicit import Implicit

DEEP = 0.02  # [m] in which a spring of 1e4 N/m would hold 2 J
INTEGRATORS = ["semi_implicit", "rk4", "dopri5", "sdirk2"]  # fixed, controlled and implicit steps


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_appears_deep_in_the_floor_stays_at_rest(law, integrator):
    """f = -K (p - p_0) = 0 where it appeared, at p_0 = -DEEP. No gravity."""
    sim = soft(ball(z=0.2), gravity=(0.0, 0.0, 0.0), integrator=integrator, law=law)
    sim.step()
    place(sim, "ball", (0.0, 0.0, -0.1 - DEEP))
    for _ in range(10):
        sim.step()
    assert sim.energy().kinetic == sim.info.stored == 0.0
    assert sim.contacts.gap[0] == pytest.approx(-DEEP, rel=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS[1:])  # the energy of the first one swings by itself
@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_appears_deep_and_falls_on_is_thrown_back_with_no_more_than_it_had(law, integrator):
    """It presses by v √(m/K) beyond p_0 at most, comes back to p_0, and is then free: next time it falls from above it
    meets the floor at p = 0 again. The sum of motion, springs and losses is ½ m v² up to the error of the steps."""
    speed = 0.5
    sim = soft(ball(z=0.2, velocity=(0.0, 0.0, -speed)), gravity=(0.0, 0.0, 0.0), integrator=integrator, law=law, d=2.0)
    sim.step()
    place(sim, "ball", (0.0, 0.0, -0.1 - DEEP))
    given, lowest, most = total(sim), 0.0, 0.0
    while sim.velocity("ball")[2] < 0.0 or len(sim.contacts.gap):
        sim.step()
        lowest, most = min([lowest, *sim.contacts.gap]), max(most, sim.energy().kinetic + sim.info.stored)
        assert sim.time < 2.0
    assert most <= given * (1.0 + 1e-9) and 0.0 < sim.velocity("ball")[2] < speed
    if law in ("linear", "kelvin_voigt"):
        assert -DEEP - speed * math.sqrt(1.0 / 1e4) - speed / 240 < lowest < -DEEP
    assert (sim.state.surfaces.start == 0.0).all()
    place(sim, "ball", (0.0, 0.0, 0.1 - sim.position("ball")[2] + 1e-3))
    sim.state.bodies.v[:] *= -1.0
    sim.state.bodies.P[:] *= -1.0
    while not len(sim.contacts.gap) or sim.contacts.lam[0] == 0.0:
        sim.step()
    assert -speed / 60 < sim.contacts.gap[0] < speed / 60


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_one_surface_held_another_takes_over_at_the_same_time(integrator):
    """A box rests on a table mg/K deep, and in the next step on another one: it goes on resting, as what the springs of
    the first held is what those of the second need. So nothing sinks that is carried by one corner after the other."""
    tables = [{"name": name, "fixed": True, "position": [x, 0.0, -0.5], "shape": [{"type": "box", "size": [2, 2, 1]}]}
              for name, x in (("left", 0.0), ("right", 3.0))]
    scene = Scene.from_dict({"solver": {"method": "compliant", "integrator": integrator, "h": 1 / 240},
                             "body": [*tables, box()]})
    sim = Simulation(scene)
    sim.set(stiffness_n=1e4, damping_n=60.0, stiffness_t=1e4, damping_t=60.0)
    place(sim, "box", (0.0, 0.0, -G / 4e4))
    sim.run(until=1.0)
    held, height = sim.info.stored, sim.position("box")[2]
    assert height == pytest.approx(0.1 - G / 4e4, abs=1e-8)
    place(sim, "box", (3.0, 0.0, 0.0))
    sim.run(until=1.2)
    assert sim.position("box")[2] == pytest.approx(height, abs=1e-8)
    assert sim.info.stored == pytest.approx(held, rel=1e-3) and {2} == set(sim.contacts.body_b) | {2}


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_appears_deep_within_an_implicit_step_gains_nothing(monkeypatch, law):
    """It flies along the floor, near enough to be looked at. In every stage of one step it begins DEEP in the floor: no
    stage may push it, else it takes with it what such a spring would have held."""
    sim = soft(ball(z=0.11, velocity=(10.0, 0.0, 0.0)), gravity=(0.0, 0.0, 0.0), integrator="sdirk2", law=law)
    sim.step()
    solve, shift, number = Implicit.solve, 0.01 + DEEP, sim.number("ball")

    def displaced(self, *stage):
        self.search.base[number, 2] -= shift
        return solve(self, *stage)

    with monkeypatch.context() as within:
        within.setattr(Implicit, "solve", displaced)
        sim.step()
    assert sim.position("ball")[2] == pytest.approx(0.1 - DEEP, rel=1e-12)
    for _ in range(10):
        sim.step()
    assert list(sim.velocity("ball")) == [10.0, 0.0, 0.0] and sim.info.stored == sim.info.dissipated == 0.0
    assert sim.contacts.gap[0] == pytest.approx(-DEEP, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_passes_an_edge_within_an_implicit_step_is_not_thrown_up(law):
    """Before the step it is in front of a ledge, after it DEEP in the top, along which it flew without friction: its
    motion led it nowhere along that normal. It then comes out by no force, whatever side it comes to."""
    ledge = {"name": "ledge", "fixed": True, "position": [1.0, 0.0, DEEP - 0.6],
             "shape": [{"type": "box", "size": [2.0, 2.0, 1.0]}]}
    flying = ball(z=0.0, velocity=(60.0, 0.0, 0.0)) | {"position": [-0.15, 0.0, 0.0]}
    scene = Scene.from_dict({"scene": {"title": "soft", "gravity": [0.0, 0.0, 0.0]},
                             "solver": {"method": "compliant", "integrator": "sdirk2", "h": 1 / 240},
                             "material": {"default": {"friction": 0.0}}, "body": [ledge, flying]})
    sim = Simulation(scene)
    sim.set(stiffness_n=1e6, damping_n=20.0, law=law)
    sim.step()
    assert sim.contacts.gap[0] == pytest.approx(-DEEP, rel=1e-12)
    for _ in range(5):
        sim.step()
        assert list(sim.velocity("ball")) == [60.0, 0.0, 0.0] and sim.info.stored == sim.info.dissipated == 0.0
