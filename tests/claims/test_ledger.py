"""The ledger of energy and momenta: it closes, and its accounts say what mechanics says."""

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate, tilted

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.ledger import TITLES, Account
from contactlab.physics.state import LEDGER

ROUNDING = 1e-12  # of sums over some hundred steps, relative to what was booked


def energies(sim):
    """Work by account [J]."""
    return {account: float(sim.state.ledger[account, 0]) for account in TITLES}


def test_the_rows_are_those_of_the_accounts():
    assert (len(Account), 7) == LEDGER
    assert set(Account) - set(TITLES) == {Account.START, Account.TOTAL}


@pytest.mark.parametrize("key", gallery())
def test_it_closes_in_every_gallery_scene(key):
    """E - E_start = Σ accounts, and so for momentum and angular momentum; friction and dampers never give energy."""
    sim = Simulation(Scene.load(gallery()[key]))
    first, (p_0, l_0) = sim.energy().total, sim.momentum()
    last = energies(sim)
    for _ in range(60):
        sim.step()
        now = energies(sim)
        for account in (Account.FRICTION, Account.SPRINGS, Account.SURFACES):
            assert now[account] <= last[account]
        last = now
    rows = np.array(list(sim.ledger.values()))
    p, l = sim.momentum()
    change = np.concatenate([[sim.energy().total - first], p - p_0, l - l_0])
    assert np.max(np.abs(change)) > 0.0 or key in ("t_handle", "newtons_cradle")
    assert np.all(np.abs(rows.sum(axis=0) - change) <= ROUNDING * (np.abs(rows).sum(axis=0) + abs(first) + 1.0))
    # momentum comes from impulses that are all known: those of steps between which forces are not integrated, without
    # joints, whose impulses are not booked yet, and without the glue, which no account takes for a contact's
    if sim.settings.method != "time_stepping" or len(sim.model.joints.type) or key == "glue":
        return
    assert np.max(np.abs(sim.state.ledger[Account.DRIFT, 1:4])) <= ROUNDING * (1.0 + np.abs(rows[:, 1:4]).sum())


def test_free_flight_and_elastic_bounces_need_no_other_account():
    sim = simulate(ground(), ball("a", (0, 0, 1.1), velocity=(0.3, 0, 0)), e=1.0, mu=0.0)
    sim.run(2.0)
    assert sum(event.kind == "impact" for event in sim.events) == 2
    size = sim.energy().total
    assert max(abs(v) for v in energies(sim).values()) <= ROUNDING * 480 * size


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_a_bounce_takes_the_energy_of_its_fall_less_e_squared(e):
    """ΔE = -(1 - e²) m g H at an impact after a fall of H; the scheme meets the speed within that of a step, g h."""
    h, H = 1 / 2000, 1.0
    sim = simulate(ground(), ball("a", (0, 0, 0.1 + H)), e=e, mu=0.0, h=h)
    while not any(event.kind in ("impact", "gain") for event in sim.events):
        sim.step()
    for _ in range(3):  # without rebound the gap closes in one step and the motion ends in the next
        sim.step()
    booked = energies(sim)
    speed = np.sqrt(2 * G * H)
    assert booked[Account.IMPACTS] == pytest.approx(-(1 - e * e) * G * H, abs=2 * speed * G * h)
    assert sum(abs(v) for a, v in booked.items() if a != Account.IMPACTS) <= 1e-10


def test_a_sliding_block_heats_by_its_weight_times_friction_times_way():
    """Q = μ m g s, all of it friction's; the momentum it loses is friction's, too."""
    mu, m = 0.3, 2.0
    sim = simulate(ground(), block("a", (0, 0, 0.25), mass=m, velocity=(2.0, 0, 0)), mu=mu, iterations=2000)
    x = sim.position("a")[0]
    sim.run(0.4)
    booked = energies(sim)
    way = sim.position("a")[0] - x
    assert way > 0.4
    assert booked[Account.FRICTION] == pytest.approx(-mu * m * G * way, rel=1e-9)
    assert booked[Account.FRICTION] == pytest.approx(sim.energy().kinetic - 0.5 * m * 4.0, rel=1e-9)
    assert sim.ledger["Friction"][1] == pytest.approx(-mu * m * G * 0.4, rel=1e-9)
    assert abs(booked[Account.DRIFT]) <= 1e-9


def test_a_block_that_sticks_on_an_incline_makes_no_heat():
    sim = simulate(ground(), block("a", (0, 0, 0.25)), gravity=tilted(0.3), mu=0.6, iterations=2000)
    sim.run(1.0)
    assert max(abs(v) for v in energies(sim).values()) <= 1e-9


def test_a_running_belt_works_on_what_it_drags():
    """While a block catches up with a belt, half of what the belt gives becomes heat: W = m v², Q = ½ m v²."""
    v, m = 1.0, 2.0
    belt = ground(surface_velocity=[v, 0.0, 0.0])
    sim = simulate(belt, block("a", (0, 0, 0.25), mass=m), mu=0.5, iterations=2000)
    sim.run(1.0)
    assert sim.velocity("a")[0] == pytest.approx(v, abs=1e-9)
    booked = energies(sim)
    # the belt is caught up with within a step, not at its end: a part μ g h/v of it
    assert booked[Account.DRIVEN] == pytest.approx(m * v * v, rel=1e-3)
    assert booked[Account.FRICTION] == pytest.approx(-0.5 * m * v * v, rel=2 * 0.5 * G / 240 / v)
    assert booked[Account.DRIVEN] + booked[Account.FRICTION] == pytest.approx(0.5 * m * v * v, rel=1e-2)


def test_an_applied_force_does_force_times_way():
    sim = simulate(ball("a", (0, 0, 5)), gravity=(0, 0, 0))
    for _ in range(100):
        sim.apply_force("a", (3.0, 0.0, 0.0))
        sim.step()
    way = sim.position("a")[0]
    booked = energies(sim)
    assert booked[Account.APPLIED] == pytest.approx(3.0 * way, rel=1e-12)
    assert sim.energy().kinetic == pytest.approx(3.0 * way, rel=1e-12)
    assert sim.ledger["Applied forces"][1] == pytest.approx(3.0 * 100 / 240, rel=1e-12)
    assert abs(booked[Account.DRIFT]) <= 1e-12


def test_the_mouse_is_booked_for_what_it_lifts():
    """A ball is lifted by H from rest to rest: the mouse did m g H, but for what the scheme's first order leaves."""
    sim = simulate(ground(), ball("a", (0, 0, 0.1)), mu=0.0, iterations=500)
    sim.grab("a", (0, 0, 0.1), (0, 0, 0.6))
    sim.run(3.0)
    assert sim.position("a")[2] > 0.5
    booked = energies(sim)
    change = sim.energy().total - float(sim.state.ledger[Account.START, 0])
    assert booked[Account.MOUSE] == pytest.approx(change, rel=1e-9)
    assert sim.ledger["Mouse"][3] == pytest.approx(G * 3.0, rel=0.1)


def test_a_damper_takes_what_the_motion_loses():
    """m s̈ + d ṡ + k s = 0 about its rest length: after a long time all energy is the damper's."""
    scene = {
        "scene": {"gravity": [0.0, 0.0, 0.0]}, "solver": {"h": 0.001},
        "body": [{"name": "a", "mass": 1.0, "inertia": [0.1] * 3, "position": [1.2, 0.0, 0.0],
                  "shape": [{"type": "sphere", "radius": 0.1}]}],
        "spring": [{"body_a": "world", "body_b": "a", "length": 1.0, "stiffness": 100.0, "damping": 4.0}],
    }
    sim = Simulation(Scene.from_dict(scene))
    sim.run(6.0)
    booked = energies(sim)
    assert booked[Account.SPRINGS] == pytest.approx(-0.5 * 100.0 * 0.2**2, rel=1e-4)  # trapezium rule: (h ω)²/12
    assert abs(booked[Account.DRIFT]) <= 1e-4


def test_changed_settings_have_their_own_account():
    sim = simulate(ground(), ball("a", (0, 0, 1.0)), mu=0.0)
    sim.step()
    before = sim.energy().total
    sim.set(gravity=(0.0, 0.0, -2.0))
    after = sim.energy().total
    sim.step()
    assert energies(sim)[Account.CHANGED] == pytest.approx(after - before, rel=1e-12)
    assert abs(energies(sim)[Account.DRIFT]) <= 1e-12


def test_replaying_and_seeking_give_the_same_books():
    def run():
        sim = simulate(ground(), block("a", (0, 0, 0.4), velocity=(1, 0, 0), angular_velocity=(0, 3, 0)), e=0.4, mu=0.4)
        sim.record_history()
        for k in range(90):
            if k == 30:
                sim.grab("a", sim.position("a"), (0, 0, 1))
            sim.step()
        return sim

    sim, again = run(), run()
    assert np.array_equal(sim.state.ledger, again.state.ledger)
    books = sim.state.ledger.copy()
    sim.seek(40)
    assert not np.array_equal(sim.state.ledger, books)
    sim.seek(90)
    assert np.array_equal(sim.state.ledger, books)
    sim.reset()
    assert not np.any(sim.state.ledger[: Account.START])


# ---------------------------------------------------------------------------------------------- event by event
def exact(*bodies, until, **keywords):
    sim = simulate(*bodies, method="event_driven", **keywords)
    sim.run(until)
    return sim, energies(sim)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_an_exact_bounce_takes_exactly_its_share(e):
    """ΔE = -(1 - e²) m g H, and nothing else is booked."""
    sim, booked = exact(ground(), ball("a", (0, 0, 1.1)), e=e, mu=0.0, until=0.6)
    assert [event.kind for event in sim.events][:1] == ["impact"]
    assert booked[Account.IMPACTS] == pytest.approx(-(1 - e * e) * G, abs=1e-11)
    assert sum(abs(v) for a, v in booked.items() if a != Account.IMPACTS) <= 1e-11


def test_friction_turns_all_of_a_sliding_blocks_energy_into_heat():
    """Q = ½ m v² once it sticks; the stop is an event within a step, and Simpson's rule is exact for a power that is
    linear in time."""
    _, booked = exact(ground(), block("a", (0, 0, 0.25), mass=2.0, velocity=(2, 0, 0)), mu=0.3, until=0.8)
    assert booked[Account.FRICTION] == pytest.approx(-4.0, abs=1e-10)
    assert sum(abs(v) for a, v in booked.items() if a != Account.FRICTION) <= 1e-10


def test_a_belt_gives_twice_what_the_block_keeps():
    """W = m v², Q = -½ m v², to the precision of event times."""
    belt = ground(surface_velocity=[1.0, 0.0, 0.0])
    _, booked = exact(belt, block("a", (0, 0, 0.25), mass=2.0), mu=0.5, until=0.5)
    assert booked[Account.DRIVEN] == pytest.approx(2.0, abs=1e-9)
    assert booked[Account.FRICTION] == pytest.approx(-1.0, abs=1e-9)
    assert abs(booked[Account.DRIFT]) <= 1e-9


def test_an_oblique_impact_is_split_between_its_normal_and_friction():
    """A sphere that hits sticking: normal -(1 - e²) ½ m v_n², tangential -½ (2/7) m v_t² for a solid ball."""
    sphere = ball("a", (0, 0, 0.1), mass=1.0, velocity=(0.5, 0, -2.0))
    sim, booked = exact(ground(), sphere, e=0.5, mu=10.0, gravity=(0, 0, 0), until=0.01)
    assert booked[Account.IMPACTS] == pytest.approx(-0.75 * 0.5 * 4.0, rel=1e-12)
    assert booked[Account.FRICTION] == pytest.approx(-0.5 * 2.0 / 7.0 * 0.25, rel=1e-9)
    assert sim.energy().total == pytest.approx(0.5 * 4.25 + sum(booked.values()), rel=1e-12)
