"""Events of compliant surfaces at their instants: touch, release, slip and stick, with every integrator."""

import math

import numpy as np
import pytest
from soft_scenes import FLOOR, G, ball, box, soft

from contactlab.physics import Scene, Simulation
from contactlab.physics.integrators import IMPLICIT, offered
from contactlab.physics.integrators import INTEGRATORS as EXPLICIT
from contactlab.physics.look.instant import simulation_at
from contactlab.physics.scene.gains import contact_time

INTEGRATORS = tuple(offered("compliant"))
NO_GRAVITY = (0.0, 0.0, 0.0)
H = 1 / 240


def instants(sim, kind):
    return [event.t for event in sim.events if event.kind == kind]


def substep(sim):
    """Length of the substeps of the last step [s], of an adaptive integrator what its search leaves over."""
    return 1e-9 if sim.settings.integrator == "dopri5" else sim.settings.h / sim.info.substeps


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_touch_and_a_release_have_their_instants(integrator):
    """A mass on spring and damper at 1 m/s, 10.3 mm away: it touches after 10.3 ms, and the force ends 2 acos ζ/(ω √(1
    - ζ²)) later. Between substeps the gap is a straight line here, so that the touch is exact. The force is not, and an
    integrator of low order errs by about a substep; an implicit step has no instants within. The energies are those of
    the flights before and after, but for what a substep s takes: (K v s + D v) v s at most."""
    k, m, zeta = 1e4, 1.0, 0.2
    sim = soft(ball(z=0.1 + 0.0103, velocity=[0.0, 0.0, -1.0]), gravity=NO_GRAVITY, k=k, d=2 * zeta * np.sqrt(k * m),
               integrator=integrator, h=H)
    sim.run(0.1)
    assert [event.kind for event in sim.events] == ["impact", "dynamic_loss"]
    assert instants(sim, "impact")[0] == pytest.approx(0.0103, abs=1e-12)
    late = 2.0 * H if integrator == "sdirk2" else 2.0 * substep(sim)
    assert instants(sim, "dynamic_loss")[0] == pytest.approx(0.0103 + contact_time(zeta, 100.0), abs=late)
    s = H if integrator == "sdirk2" else substep(sim)
    for event, energy in zip(sim.events, (0.5, sim.energy().total), strict=True):
        assert event.energy_before == event.energy_after
        assert event.energy_after == pytest.approx(energy, abs=(k * s + 2 * zeta * np.sqrt(k * m)) * s + 1e-12)


@pytest.mark.parametrize("height", np.linspace(0.1, 0.2, 7))
@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
def test_an_impact_is_told_as_one_wherever_in_the_step_it_is(integrator, height):
    """Also in its last substep, in which no force has acted yet."""
    sim = soft(ball(z=0.1 + height), k=1e4, d=50.0, integrator=integrator, h=H)
    while not sim.events:
        sim.step()
    assert [event.kind for event in sim.events] == ["impact"]
    sim.run(2 * H)
    assert [event.kind for event in sim.events if event.kind in ("impact", "gain")] == ["impact"]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_fall_ends_when_it_must(integrator):
    """√(2 H/g) after a fall of H in steps of h: the rate at the beginning of a step misses by g h²/2v; Euler's rules
    lose or gain g t h/2 of the way, which is h/2."""
    sim = soft(ball(z=0.6), k=1e4, d=50.0, integrator=integrator, h=H)
    while not sim.events:
        sim.step()
    t = np.sqrt(2 * 0.5 / G)
    allowed = {"euler": 0.51 * H, "semi_implicit": 0.51 * H, "dopri5": 1e-9}
    assert sim.events[0].kind == "impact"
    assert sim.events[0].t == pytest.approx(t, abs=allowed.get(integrator, H**2 / (2 * t)))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_sliding_block_sticks_once_at_its_instant(integrator):
    """After v/(μ g); the surfaces then swing at √(K_t/m) about the force that holds it, which is none."""
    mu, v = 0.5, 1.0
    sim = soft(box(velocity=[v, 0.0, 0.0]), friction=mu, k=1e5, d=500.0, integrator=integrator, h=H)
    sim.run(0.4)
    assert not instants(sim, "slip") and len(instants(sim, "stick")) == 1
    swing = np.sqrt(1.0 / 4e5)
    assert instants(sim, "stick")[0] == pytest.approx(v / (mu * G), abs=H + 3 * swing)


# -------------------------------------------------------------------------------------------- the state at instants
OMEGA, AMPLITUDE, GAP = 10.0, 0.4, 0.3


def at_touch(integrator, substeps):
    """A ball on a spring swings as GAP + A cos ω t over the floor, and touches it where it has sin ω t = √7/4 of its
    speed. How far it is off when it does: the instant of the event [s], the velocity [m/s] and the gap [m] shown of
    it."""
    spring = {"body_a": "world", "body_b": "ball", "anchor_a": [0.0, 0.0, 0.1 + GAP + 10.0],
              "anchor_b": [0.0, 0.0, 0.0], "stiffness": OMEGA**2, "length": 10.0}
    sim = Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, 0.0]}, "solver": {"method": "compliant", "integrator": integrator, "h": 1 / 60},
        "body": [FLOOR, ball(z=0.1 + GAP + AMPLITUDE)], "spring": [spring]}))
    sim.set(stiffness_n=1e4, damping_n=20.0, stiffness_t=1e4, damping_t=20.0, substeps=substeps)
    sim.record_history()
    while not sim.events:
        sim.step()
    event = sim.events[0]
    sim.seek(event.step)
    there = simulation_at(sim, event.step, event.t, "before")
    late, speed = event.t - math.acos(-GAP / AMPLITUDE) / OMEGA, AMPLITUDE * OMEGA * math.sin(OMEGA * event.t)
    return late, there.velocity("ball")[2] + speed, there.position("ball")[2] - 0.1


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_state_shown_of_a_touch_is_of_the_integrators_order(integrator):
    """Contacts keep their modes up to the instant: where the last stage felt the surface that begins there, velocities
    were of order 1. An implicit step does feel it, for as long as the instant errs, which is of order 2: for within a
    substep the gap is taken for a straight line."""
    order = (EXPLICIT | IMPLICIT)[integrator].order
    found = [at_touch(integrator, substeps) for substeps in (4, 8)]
    (late, coarse, _), (_, fine, gap) = found
    if integrator == "dopri5":
        assert max(abs(late), abs(coarse), abs(gap)) < 1e-9
        return
    assert math.log2(coarse / fine) > order - 0.1
    assert abs(gap) <= AMPLITUDE * OMEGA**2 * (1 / 480) ** 2 / 2  # of the straight line
