"""Claims about the clipped Kelvin–Voigt law, f = max(0, K δ + D δ̇) while δ > 0, and how surfaces with a state of their
own differ from it."""

import numpy as np
import pytest
from soft_scenes import G, ball, box, set_velocity, soft, total

from contactlab.physics.scene.gains import contact_time, restitution_of

NO_GRAVITY, K = (0.0, 0.0, 0.0), 1e4
START = 1e-4  # m: how far above the surface the ball starts, and [s] how long it takes at 1 m/s


def thrown(ratio, **more):
    """A ball of 1 kg that meets the floor at 1 m/s, damped by D = 2 ζ √(K m)."""
    return soft(ball(z=0.1 + START, velocity=[0.0, 0.0, -1.0]), gravity=NO_GRAVITY, k=K, d=2.0 * ratio * np.sqrt(K),
                **{"law": "kelvin_voigt", **more})


@pytest.mark.parametrize("ratio", [0.05, 0.3, 1.0])
def test_it_leaves_with_the_restitution_of_the_linear_law_and_touches_longer_by_d_over_k(ratio):
    """The force ends at the depth δ_c with K δ_c = D e v, as that of a linear surface with a state does, so e is the
    same. The overlap ends when the ball has flown δ_c at e v: D/K later, whatever m and v. It is located by error
    control to 1e-12 a substep; some hundred of them."""
    sim = thrown(ratio, integrator="dopri5")
    while sim.time < 2.0 * START or sim.state.surfaces.mode[0]:
        sim.step()
    speed, gap = sim.velocity("ball")[2], sim.position("ball")[2] - 0.1
    assert speed == pytest.approx(restitution_of(ratio), abs=1e-8)
    touched = sim.time - gap / speed - START
    assert touched == pytest.approx(contact_time(ratio, np.sqrt(K)) + 2.0 * ratio / np.sqrt(K), abs=1e-8)
    assert sim.state.surfaces.surface_z[0, 0] == 0.0 and sim.info.stored == 0.0  # nothing is left of the dent


def pushed_back(law):
    """Half of D/K after the force has ended the ball is thrown back at u: depth there, and force in the next step."""
    ratio, h, u = 0.3, 1e-4, 0.5
    sim = thrown(ratio, h=h, law=law)
    while sim.velocity("ball")[2] <= 0.0 or sim.contacts.lam[0] > 0.0:
        sim.step()
    sim.run(sim.time + ratio / np.sqrt(K))
    depth = 0.1 - sim.position("ball")[2]
    set_velocity(sim, "ball", (0.0, 0.0, -u))
    sim.step()
    d = 2.0 * ratio * np.sqrt(K)
    return depth, float(sim.contacts.lam[0]), K * depth + d * u, 0.5 * h * (K * u + d * (K * depth + d * u))


def test_it_forgets_where_a_surface_with_a_state_remembers():
    """Met again while it still overlaps, the clipped law pushes at once with K δ + D u (the mean of the step differs
    from that by ḟ h/2 = (K u + D f/m) h/2 at most). A surface with a state has stayed behind the ball, for it recovers
    like e^(-K t/D) while the ball flies: p > z, and nothing pushes."""
    depth, force, expected, slack = pushed_back("kelvin_voigt")
    assert depth > 1e-3 and abs(force - expected) <= slack < 0.1 * expected
    depth, force, _, _ = pushed_back("linear")
    assert depth > 1e-3 and force == 0.0


@pytest.mark.parametrize("surface", ["closed_form", "integrated"])
@pytest.mark.parametrize("integrator", ["heun", "dopri5", "sdirk2"])
def test_a_body_on_it_sinks_in_by_its_weight_over_the_stiffness(integrator, surface):
    """z = -m g/K; e^(-ω ζ t) leaves 1e-12 of it after 1.5 s."""
    sim = soft(ball(), k=K, d=40.0, integrator=integrator, surface=surface, law="kelvin_voigt")
    sim.run(1.5)
    assert 0.1 - sim.position("ball")[2] == pytest.approx(G / K, rel=1e-9)
    assert sim.contacts.lam == pytest.approx([G], rel=1e-9)
    assert sim.contacts.current.tolist() == sim.contacts.active.tolist() == [1]


@pytest.mark.parametrize("substeps", [4, 16])
@pytest.mark.parametrize("integrator", ["heun", "sdirk2"])
def test_fixed_steps_miss_its_restitution_by_no_more_than_the_first_push_lasts(integrator, substeps):
    """The force jumps to D v at the touch, which a step of h misses by h at most: D v h/m of the velocity. It ends
    without a jump."""
    sim, ratio = thrown(0.3, integrator=integrator, h=1e-3, substeps=substeps), 0.3
    sim.run(0.05)
    assert abs(sim.velocity("ball")[2] - restitution_of(ratio)) <= 2.0 * ratio * np.sqrt(K) * 1e-3 / substeps


def test_the_energy_of_a_thrown_box_is_told_by_springs_and_what_they_took():
    sim = soft(box(z=0.2, velocity=[1.0, 0.3, 0.0], angular_velocity=[1.0, 2.0, 3.0]), friction=0.4, k=K, d=60.0,
               integrator="dopri5", law="kelvin_voigt")
    start = sim.energy().total
    for _ in range(40):
        sim.step()
        c = sim.contacts
        assert (np.linalg.norm(c.friction_force, axis=1) <= 0.4 * c.lam * (1 + 1e-9) + 1e-9).all()
    assert sim.info.dissipated > 0.1 and total(sim) == pytest.approx(start, abs=1e-6)
