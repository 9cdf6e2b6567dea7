"""Masses, sizes and places far from the usual ones, in all methods."""

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate

from contactlab.physics import SOLVERS
from contactlab.physics.problem.residual import ROUNDED
from contactlab.physics.solvers.interior_point import InteriorPoint

EPS = 2.0**-52
STEPS, H = 96, 1 / 240
SMALL, LARGE = ("small", (0, 0, 0.05), (0.1,) * 3, 1e-3), ("large", (0, 0, 0.6), (1.0,) * 3, 1000.0)


# ------------------------------------------------------------------------------------------------ masses
def fallen(sim, steps=STEPS):
    """How far a ton comes down that stands on a gram [m]."""
    for _ in range(steps):
        sim.step()
    return abs(sim.position("large")[2] - 0.6)


@pytest.mark.parametrize("integrator", ["heun", "rk4", "dopri5"])
def test_event_driven_one_gram_carries_a_ton_in_one_or_two_pieces_a_step(integrator):
    """Forces of 1e4 N on 1 g: their rounding is 1e-12 N and accelerates it by 1e-9 m/s², more than error control
    allows. Where it took that for its own error, it made 32 pieces a step. The projection keeps gaps at rounding."""
    sim = simulate(ground(), block(*SMALL), block(*LARGE), method="event_driven", integrator=integrator)
    assert fallen(sim) <= 1e-13
    assert sim.info.status == "solved"
    if integrator == "dopri5":
        assert sim.info.pieces <= 2 * STEPS


@pytest.mark.parametrize(("solver", "mu"), [
    ("interior_point", 0.5), *((name, 0.0) for name in
                               ("interior_point", "block_pivot", "lemke", "dantzig", "qp_force", "qp_acceleration"))])
def test_time_stepping_one_gram_carries_a_ton_by_exact_solvers(solver, mu):
    """A velocity left over counts as rounding up to ROUNDED of the terms |M λ| = 1000 kg g h/1 g [m/s] and is not kept:
    the ton comes down by that times t at most. Swept, it comes down by 0.1 m."""
    sim = simulate(ground(), block(*SMALL), block(*LARGE), mu=mu, method="time_stepping", solver=solver)
    assert fallen(sim) <= ROUNDED * 1e6 * G * H * STEPS * H


def test_an_answer_that_its_solver_doubts_is_used_where_sweeps_leave_more(monkeypatch):
    """Interior point that never says "solved": the ton stands all the same."""
    class Doubting(InteriorPoint):
        def __call__(self, *arguments):
            return super().__call__(*arguments)._replace(status="stuck")

    monkeypatch.setitem(SOLVERS, "interior_point", Doubting())
    sim = simulate(ground(), block(*SMALL), block(*LARGE), method="time_stepping", solver="interior_point")
    assert fallen(sim, 24) <= ROUNDED * 1e6 * G * H * 24 * H
    assert sim.info.status == "stuck"


# ------------------------------------------------------------------------------------------------ places
METHODS = ["event_driven", "time_stepping", "compliant"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("moves", ["slides", "rolls", "falls"])
def test_a_thousand_kilometres_from_the_origin_a_body_moves_as_it_does_there(method, moves):
    """There x is rounded to r = 1e6 m ε. A step rounds places at its beginning, middle and end, by r/2 each, and the
    arms of contacts, 0.05 m, with it: those change the friction's torque, and with it the speed of a step by up to
    μ g h r/0.05 m. The sums over all steps, all of the worst sign: 3/2 r n and ½ n² h² μ g r/0.05 m."""
    def run(x):
        what = {"slides": block("b", (x, x, 0.05), (0.1,) * 3, velocity=[1.0, 0.3, 0.0]),
                "rolls": ball("b", (x, x, 0.05), 0.05, velocity=[1.0, 0.3, 0.0]),
                "falls": block("b", (x, x, 0.3), (0.1,) * 3, velocity=[1.0, 0.3, 0.0], euler=[20.0, 30.0, 0.0])}
        sim = simulate(ground(), what[moves], e=0.3, method=method)
        for _ in range(STEPS):
            sim.step()
        return sim.position("b") - np.array([x, x, 0.0])

    r = 1e6 * EPS
    assert np.abs(run(1e6) - run(0.0)).max() <= 1.5 * r * STEPS + 0.5 * (STEPS * H) ** 2 * 0.5 * G * r / 0.05


# ------------------------------------------------------------------------------------------------ sizes
@pytest.mark.parametrize("method", METHODS)
def test_a_cube_of_a_millimetre_rides_on_a_plate_of_a_kilometre(method):
    """The plate accelerates as x = 10 m sin(0.3 t): 0.9 m/s² < μ g, so the cube sticks. At x of up to 1e3 m a step
    rounds by 1e-13 m; a step of time_stepping and compliant follows the plate within ½ a h² = 8e-6 m. The tangential
    springs of compliant give by m a/K = d a/g, too, where d = 7e-5 m is the depth that the weight presses in."""
    plate = {"name": "plate", "kinematic": True, "position": [0.0, 0.0, -0.5],
             "motion": {"amplitude": [10.0, 0.0, 0.0], "frequency": 0.3 / (2 * np.pi)},
             "shape": [{"type": "box", "size": [1000.0, 1000.0, 1.0]}]}
    cube = block("cube", (200.0, 100.0, 0.0005), (0.001,) * 3, 1e-6, velocity=[3.0, 0.0, 0.0])
    sim = simulate(plate, cube, method=method)
    for _ in range(STEPS):
        sim.step()
        off = sim.position("cube") - sim.position("plate") - np.array([200.0, 100.0, 0.5005])
        assert np.abs(off).max() <= (1e-11 if method == "event_driven" else 1e-4)
    assert sim.contacts.lam[:4].sum() == pytest.approx(1e-6 * G, rel=1e-6)
