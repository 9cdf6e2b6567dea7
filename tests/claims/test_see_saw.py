"""A ball that slides on a plank that turns: both bodies move, and the face is on either of them in the file."""

import numpy as np
import pytest
from contact_scenes import G, ball, body

from contactlab.physics import Scene, Simulation
from contactlab.physics.look.inspection import Inspect, look

M, BALL, PLANK, INERTIA = 5.0, 1.0, (2.0, 0.4, 0.1), 1.2  # kg, kg, m, kg m2 of the plank about its axis
ARM, OVER, TURN, SLIDE = 0.4, 0.15, 2.0, 0.8  # ball from the axis and over it [m], plank [rad/s], ball along it [m/s]
H = 1e-6  # [s]

LOOSE, HUNG = "loose", ("generalized", "maximal")


def see_saw(plank_first, held, method):
    """Level at this instant, the ball's end rising; the ball, which turns as the plank does, slides outwards."""
    plank = body("plank", (0.0, 0.0, 1.0), {"type": "box", "size": list(PLANK)}, M, (1.0, INERTIA, 1.0),
                 **({"angular_velocity": (0.0, -TURN, 0.0)} if held == LOOSE else {}))
    rider = ball("ball", (ARM, 0.0, 1.0 + OVER), radius=0.1, mass=BALL, angular_velocity=(0.0, -TURN, 0.0),
                 velocity=(SLIDE - OVER * TURN, 0.0, ARM * TURN))
    hinge = {"name": "axis", "type": "hinge", "child": "plank", "anchor": [0.0, 0.0, 1.0], "axis": [0.0, -1.0, 0.0],
             "velocity": TURN, "coordinates": held}
    return Simulation(Scene.from_dict({
        "solver": {"method": method, "h": H}, "material": {"default": {"restitution": 0.0, "friction": 0.0}},
        "body": [plank, rider] if plank_first else [rider, plank], "joint": [] if held == LOOSE else [hinge]}))


@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
@pytest.mark.parametrize("held", [LOOSE, *HUNG])
@pytest.mark.parametrize("plank_first", [True, False])
def test_the_force_between_a_ball_and_a_see_saw_is_one_number_wherever_it_is_asked_for(plank_first, held, method):
    """At s along the plank and η over its axis the ball has, across the plank, the acceleration
    η̈ - η Ω² + s Ω̇ + 2 ṡ Ω. With I Ω̇ = -s λ and η = H kept,

        M = 1/m + s²/I,   d = -g + H Ω² - 2 ṡ Ω,   λ = m (g + 2 ṡ Ω - H Ω²)/(1 + m s²/I) = 10.95 N,

    and where nothing holds the plank, M = 1/m + 1/M_p + s²/I and d = H Ω² - 2 ṡ Ω: both fall. In the step of 1e-6 s
    after it λ changes by some λ Ω h, 1e-4 N at most."""
    loose = held == LOOSE
    M_wanted = 1.0 / BALL + ARM**2 / INERTIA + loose / M
    d_wanted = OVER * TURN**2 - 2.0 * SLIDE * TURN - G * (not loose)
    lam = -d_wanted / M_wanted
    assert lam == pytest.approx(1.95 if loose else 10.95, rel=1e-12)
    sim = see_saw(plank_first, held, method)
    view = look(sim, Inspect("equations")).equations
    assert view is not None and view.contacts is not None
    np.testing.assert_allclose(view.problem.M, [[M_wanted]], rtol=1e-9)
    np.testing.assert_allclose(view.problem.d, [d_wanted], rtol=1e-9)
    assert [answer.lam[0] for answer in view.answers] == pytest.approx([lam] * len(view.answers), rel=1e-9)
    if loose:  # Baraff writes free bodies only
        assert view.baraff is not None
        np.testing.assert_allclose(view.baraff.A, [[M_wanted]], rtol=1e-9)
        np.testing.assert_allclose(view.baraff.b, [d_wanted], rtol=1e-9)
    else:
        assert view.baraff is None
    if method == "event_driven":  # whose problem is one of accelerations, not of impulses
        problem = sim.problem()
        np.testing.assert_allclose([problem.M[0, 0], problem.d[0]], [M_wanted, d_wanted], rtol=1e-9)
    sim.step()
    assert sim.contacts.lam.sum() == pytest.approx(lam, abs=1e-4)
