"""The ledger of energy and momenta: it closes, and its accounts say what mechanics says."""

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate, tilted

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.books.ledger import TITLES, Account, anchored_bodies
from contactlab.physics.core.model import BodyKind
from contactlab.physics.core.state import LEDGER
from contactlab.physics.integrators import offered
from contactlab.physics.laws.soft import LAWS, RECOVERIES

ROUNDING = 1e-12  # of sums over some hundred steps, relative to what was booked


def energies(sim):
    """Work by account [J]."""
    return {account: float(sim.state.ledger[account, 0]) for account in TITLES}


def test_the_rows_are_those_of_the_accounts():
    assert (len(Account), 7) == LEDGER
    assert set(Account) - set(TITLES) == {Account.START, Account.TOTAL}


#: linear momentum [kg m/s] that errors of the integrator leave over in 60 steps, of fourth order in h
EXACT = 1e-6


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
    assert np.max(np.abs(change)) > 0.0 or key in ("t_handle", "newtons_cradle", "slot")
    assert np.all(np.abs(rows.sum(axis=0) - change) <= ROUNDING * (np.abs(rows).sum(axis=0) + abs(first) + 1.0))
    # all that gives momentum is known, to rounding where the step itself goes by impulses or stages
    if (anchored_bodies(sim.model)[sim.model.kind == BodyKind.LINK] == 0).any():
        return  # of links that stand on nothing the scheme keeps H v to its order only
    exact = sim.settings.method == "event_driven"
    lost = np.max(np.abs(sim.state.ledger[Account.DRIFT, 1:4]))
    assert lost <= (EXACT if exact else ROUNDING) * (1.0 + np.abs(rows[:, 1:4]).sum())


def test_free_flight_and_elastic_bounces_need_no_other_account():
    sim = simulate(ground(), ball("a", (0, 0, 1.1), velocity=(0.3, 0, 0)), e=1.0, mu=0.0)
    sim.run(2.0)
    assert sum(event.kind == "impact" for event in sim.events) == 2
    size = sim.energy().total
    assert max(abs(v) for v in energies(sim).values()) <= ROUNDING * 480 * size


def test_what_taking_overlap_out_gives_the_fall_into_it_had_given():
    """time_stepping hits in the middle of the step in which surfaces would meet, up to ζ h/2 too deep. A ball that
    rebounds too slowly to come out is lifted over the next steps, which gives it its weight times the way up. That is
    booked as drift, and is no more than what the fall to that depth had added to what the impact took."""
    mass, radius, h = 4.0, 0.1, 1 / 240
    sim = simulate(ground(), ball("b", (0, 0, 0.35), radius, mass), e=0.1, mu=0.0)
    before, depth, lifted, fastest = sim.energy().total, 0.0, 0.0, 0.0
    for _ in range(240):
        drift, fastest = energies(sim)[Account.DRIFT], max(fastest, -sim.velocity("b")[2])
        sim.step()
        rise, deeper = sim.energy().total - before, max(radius - sim.position("b")[2], 0.0)
        assert rise <= mass * G * max(depth - deeper, 0.0) + ROUNDING * before
        lifted += max(energies(sim)[Account.DRIFT] - drift, 0.0)
        before, depth = before + rise, deeper
    assert 0.0 < lifted <= mass * G * 0.5 * fastest * h
    assert before <= mass * G * radius * (1.0 + ROUNDING)


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
    rests = 0.5 * (2 * G * h) ** 2  # without rebound the last step may stop a speed that counts as rest, 2 g h
    assert -rests <= booked[Account.CONTACTS] <= 0.0
    assert sum(abs(v) for a, v in booked.items() if a not in (Account.IMPACTS, Account.CONTACTS)) <= 1e-10


METHODS = ("time_stepping", "event_driven", "compliant")


def momentum_by_cause(sim, *accounts):
    """Momentum along z [kg m/s] booked to each."""
    return [float(sim.state.ledger[account, 3]) for account in accounts]


@pytest.mark.parametrize("method", METHODS)
def test_a_body_at_rest_is_held_by_forces_over_time_and_by_no_impact(method):
    """The floor gives m g t and the weight -m g t; there is no impact in it, and no work."""
    m, t = 2.0, 0.5
    sim = simulate(ground(), block("a", (0.3, 0, 0.25), mass=m), e=0.5, method=method)
    sim.run(t)
    pushed, fallen = momentum_by_cause(sim, Account.CONTACTS, Account.GRAVITY)
    assert fallen == pytest.approx(-m * G * t, rel=1e-12)
    assert pushed + fallen == pytest.approx(sim.momentum()[0][2], abs=ROUNDING * 120 * m * G)
    assert not sim.state.ledger[Account.IMPACTS].any()
    if method != "compliant":  # whose surfaces yield first
        assert pushed == pytest.approx(m * G * t, rel=1e-9)
        # about the origin, which the force on the block passes at a distance of 0.3 m:  L_y = -x p_z
        assert sim.state.ledger[Account.CONTACTS, 5] == pytest.approx(-0.3 * m * G * t, rel=1e-9)


@pytest.mark.parametrize("method", METHODS[:2])
def test_impacts_have_the_momentum_of_the_rebound_and_forces_that_of_the_rest(method):
    """A ball falls by H, rebounds once with e and is caught in flight: the impact gave m (1 + e) √(2 g H), forces over
    time nothing. `time_stepping` adds the weight of the step of the impact, m g h, and meets the speed within g h."""
    e, H, h = 0.5, 0.2, 1 / 1000
    sim = simulate(ground(), ball("a", (0, 0, 0.1 + H)), e=e, mu=0.0, h=h, method=method)
    sim.run(0.3)
    assert [event.kind for event in sim.events][:1] == ["impact"] and sim.position("a")[2] > 0.11
    hit, pushed = momentum_by_cause(sim, Account.IMPACTS, Account.CONTACTS)
    scheme = (2.0 + e) * G * h if method == "time_stepping" else 1e-10
    assert hit == pytest.approx((1 + e) * np.sqrt(2 * G * H), abs=scheme)
    assert pushed == 0.0


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
    """Q = ½ m v² once it sticks; the stop is an event within a step, and Gauss's rule is exact for a power that is
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


def test_momentum_between_events_is_booked_to_the_order_of_the_integrator():
    """A sliding ladder: what both contacts gave, less what the motion says, goes with h⁴ for the classical rule."""
    left = []
    for n in (120, 240):
        sim = Simulation(Scene.load(gallery()["ladder"]), h=1 / n)
        sim.run(0.25)
        left.append(np.abs(sim.state.ledger[Account.DRIFT, 1:4]).max())
    assert left[1] <= left[0] / 12.0 and left[0] <= 1e-6


# ---------------------------------------------------------------------------------------------- joints
def rod(coordinates, method="time_stepping", start=60.0, g=G, **joint):
    """A rod of 2 kg, 0.7 kg m2 about the hinge at its upper end, `start` degrees from hanging."""
    body = {"name": "rod", "mass": 2.0, "inertia": [0.2, 0.2, 0.01], "position": [0.0, 0.0, -0.5],
            "shape": [{"type": "capsule", "radius": 0.02, "height": 0.9}]}
    hinge = {"type": "hinge", "child": "rod", "anchor": [0.0, 0.0, 0.0], "axis": [0.0, 1.0, 0.0], "position": start,
             "coordinates": coordinates, **joint}
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, -g]}, "solver": {"method": method}, "body": [body], "joint": [hinge]}))


#: method and coordinates; energy that the motion itself gains or loses in a second of swinging [J]: h² ω³ E and h⁴
JOINTED = {("time_stepping", "generalized"): 1e-3, ("time_stepping", "maximal"): 1e-3,
           ("event_driven", "generalized"): 1e-7}


@pytest.fixture(params=JOINTED, ids="-".join)
def jointed(request):
    """Makes a rod in these coordinates; and what to expect of drift [J]."""
    method, coordinates = request.param
    return lambda **keywords: rod(coordinates, method, **keywords), JOINTED[request.param]


def only(sim, *accounts):
    """The largest energy in any other account [J]."""
    return max(abs(v) for a, v in energies(sim).items() if a not in accounts)


def test_a_damped_hinge_takes_what_the_swing_loses(jointed):
    make, drift = jointed
    sim = make(damping=0.3)
    first = sim.energy().total
    sim.run(1.0)
    assert energies(sim)[Account.SPRINGS] == pytest.approx(sim.energy().total - first, abs=drift)
    assert energies(sim)[Account.SPRINGS] < -1.0 and only(sim, Account.SPRINGS) <= drift


def test_a_motor_does_torque_times_angle(jointed):
    """W = τ φ = τ² t²/2I without gravity, from rest."""
    make, drift = jointed
    sim = make(start=0.0, g=0.0, motor={"torque": 0.5})
    sim.run(1.0)
    assert energies(sim)[Account.JOINTS] == pytest.approx(0.5 * 0.5**2 / 0.7, rel=1e-6)
    assert only(sim, Account.JOINTS) <= drift


def test_a_limit_stops_a_rod_as_an_impact(jointed):
    """It falls from 60 degrees upon a limit where it hangs, without rebound: m g (1 - cos 60°)/2."""
    make, drift = jointed
    sim = make(limits=[0.0, 90.0])
    sim.run(1.0)
    assert energies(sim)[Account.IMPACTS] == pytest.approx(-0.5 * 2.0 * G * 0.5, abs=drift)
    assert only(sim, Account.IMPACTS) <= drift


def test_the_spring_of_a_hinge_holds_energy(jointed):
    """½ k φ² at the start, and then the sum stays."""
    make, drift = jointed
    sim = make(spring={"stiffness": 30.0, "position": 10.0})
    first = sim.energy()
    assert first.spring == pytest.approx(0.5 * 30.0 * np.radians(50.0) ** 2, rel=1e-12)
    sim.run(1.0)
    assert abs(sim.energy().spring - first.spring) > 1.0
    assert only(sim) <= drift


def test_what_holds_a_hinge_gives_the_momentum_that_weight_does_not_explain(jointed):
    """Σ p = Δp, and nothing is left over."""
    make, _ = jointed
    sim = make()
    sim.run(0.5)
    books, p = sim.state.ledger, sim.momentum()[0]
    assert books[Account.GRAVITY, 3] == pytest.approx(-2.0 * G * 0.5, rel=1e-12)
    assert books[Account.JOINTS, 1:4] + books[Account.GRAVITY, 1:4] == pytest.approx(p, abs=1e-11)
    assert np.abs(books[Account.DRIFT, 1:4]).max() <= 1e-11


@pytest.mark.parametrize("kind", ["ball", "universal", "slider"])
def test_springs_of_other_joints_hold_the_same_energy_in_both_coordinates(kind):
    """The same pose: of a ball ½ k |θ|², of a universal joint both angles, of a slider the way."""
    fields = {"ball": {"position": [20.0, 30.0, -10.0]}, "slider": {"axis": [0.0, 0.6, 0.8], "position": 0.3},
              "universal": {"axes": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "position": [40.0, -25.0]}}[kind]
    spring = {"stiffness": 7.0} if kind == "ball" else {"stiffness": 7.0, "position": [5.0, 9.0]} \
        if kind == "universal" else {"stiffness": 7.0, "position": 0.1}
    found = []
    for coordinates in ("generalized", "maximal"):
        body = {"name": "a", "mass": 1.0, "inertia": [0.1, 0.2, 0.25], "position": [0.0, 0.0, -0.5],
                "euler": [10.0, 50.0, 0.0], "shape": [{"type": "sphere", "radius": 0.1}]}
        joint = {"type": kind, "child": "a", "anchor": [0.0, 0.0, 0.0], "coordinates": coordinates, "spring": spring}
        found.append(Simulation(Scene.from_dict({"body": [body], "joint": [joint | fields]})).energy().spring)
    expected = {"ball": np.radians([20.0, 30.0, -10.0]), "slider": np.array([0.2]),
                "universal": np.radians([35.0, -34.0])}[kind]
    assert found == pytest.approx([0.5 * 7.0 * float(expected @ expected)] * 2, rel=1e-9)


# ---------------------------------------------------------------------------------------------- soft surfaces
def soft(*bodies, integrator="dopri5", **material):
    gains = {"stiffness_n": 4e3, "damping_n": 30.0, "stiffness_t": 3e3, "damping_t": 20.0, "friction": 0.4} | material
    return Simulation(Scene.from_dict({
        "solver": {"method": "compliant", "integrator": integrator}, "material": {"default": gains},
        "body": list(bodies)}))


#: energy that an integrator leaves over in these scenes [J]: error control of 1e-12 a step, second and fourth order
SOFT = {"dopri5": 1e-9, "rk4": 2e-2, "sdirk2": 0.3}


@pytest.mark.parametrize("integrator", SOFT)
def test_a_soft_bounce_under_the_mouse_closes(integrator):
    """Held, stored and dissipated energies, the belt's and the mouse's make up the motion's; momentum to rounding."""
    belt = ground(surface_velocity=[0.5, 0.0, 0.0])
    sim = soft(belt, ball("a", (0, 0, 0.15), mass=1.0, velocity=(0.3, 0.1, -1.0)), integrator=integrator)
    sim.run(0.1)
    sim.grab("a", sim.position("a") + np.array([0.0, 0.05, 0.05]), (0.2, 0.1, 0.05))
    sim.run(0.3)
    booked = energies(sim)
    for account in (Account.MOUSE, Account.DRIVEN, Account.SURFACES):
        assert abs(booked[account]) > 0.02
    assert abs(booked[Account.DRIFT]) <= SOFT[integrator]
    assert np.abs(sim.state.ledger[Account.DRIFT, 1:4]).max() <= ROUNDING * 96 * 10.0
    assert sim.state.ledger[Account.MOUSE, 3] != 0.0


#: gains of laws that are not linear, such that a bounce is about as stiff and as damped
OF_LAW = {"hertz": {"stiffness_n": 4e4, "damping_n": 300.0}, "hunt_crossley": {"damping_n": 1500.0}}


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integrator", offered("compliant"))
def test_every_soft_law_closes_with_every_integrator(integrator, law, recovery):
    """Two bounces on a belt: what is left over vanishes with the substep s. A kink within a substep, a touch, a release
    or a stick, leaves its power D v² times s at most, and with rules of second order what that power changes by in s,
    at some ten kinks; Euler's rule feeds a spring ω² s of its energy E a second."""
    sim = soft(ground(surface_velocity=[0.5, 0.0, 0.0]), ball("a", (0, 0, 0.15), mass=1.0, velocity=(0.3, 0.1, -1.0)),
               integrator=integrator, **OF_LAW.get(law, {}))
    sim.set(law=law, surface=recovery, substeps=0 if integrator == "dopri5" else 64)
    sim.run(0.3)
    s, speed, energy, omega = 1 / 240 / 64, 1.4, 1.0, np.sqrt(2e3)
    second = 10 * 15.0 * speed**2 * omega * s**2
    allowed = {"dopri5": 1e-8, "euler": omega**2 * s * energy * 0.3, "heun": second, "rk4": second}
    booked = energies(sim)
    assert abs(booked[Account.DRIFT]) <= allowed.get(integrator, 2 * 15.0 * speed**2 * s)
    assert booked[Account.SURFACES] < -0.1 and booked[Account.DRIVEN] > 0.02


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
def test_the_couple_of_a_travelling_dent_is_booked(integrator):
    """A ball rolls on a plate that turns about an axis in it: of the angular momentum that weight, friction and the
    couple give nothing is left over but the error of the integrator, nor of the energy that the plate puts in."""
    plate = {"name": "plate", "kinematic": True, "motion": {"angular_velocity": [0.4, 0, 0]}, "position": [0, 0, -0.1],
             "shape": [{"type": "box", "size": [2.0, 2.0, 0.2]}]}
    roller = ball("a", (0, 0.2, 0.0951), mass=1.0, velocity=(1.0, 0, 0), angular_velocity=(0, 10.0, 0))
    sim = soft(plate, roller, integrator=integrator, damping_roll=0.7, friction=2.0)
    sim.set(h=1 / 2000)
    sim.run(0.2)
    booked, couple = sim.state.ledger, sim.ledger["Soft surfaces"][4:]
    assert np.abs(couple).max() > 1e-2 and abs(couple[0]) > 1e-4  # of the rolling, and of the plate's turning
    assert np.abs(booked[Account.DRIFT, 1:4]).max() <= ROUNDING * 400 * 10.0
    assert np.abs(booked[Account.DRIFT, 4:]).max() <= 1e-5
    assert abs(booked[Account.DRIFT, 0]) <= 2e-4 < 0.1 * abs(booked[Account.DRIVEN, 0])


def test_bodies_that_begin_pressed_into_each_other_bring_energy_along():
    """½ K d², K of both surfaces in series, stands there from the start: it was put in with the scene."""
    depth, mass, K = 0.02, 1.0, 2e3
    sim = soft(ground(), ball("a", (0, 0, 0.1 - depth), mass=mass), stiffness_n=2 * K, damping_n=1e-6)
    first = sim.energy().total
    sim.run(0.1)  # in the air
    booked = energies(sim)
    assert booked[Account.CHANGED] == pytest.approx(0.5 * K * depth**2, rel=1e-9)
    assert sim.energy().total - first == pytest.approx(0.5 * K * depth**2, rel=1e-6)
    assert abs(booked[Account.DRIFT]) <= 1e-9


def test_what_surfaces_hold_is_lost_with_their_method():
    sim = soft(ground(), ball("a", (0, 0, 0.09), mass=1.0))
    sim.step()
    held = -energies(sim)[Account.STORED]
    assert held > 0.01
    changed = energies(sim)[Account.CHANGED]
    sim.set(method="time_stepping", integrator="rk4")
    for _ in range(2):  # after the first the surfaces belong to the past
        sim.step()
    assert energies(sim)[Account.STORED] == 0.0
    assert energies(sim)[Account.CHANGED] == pytest.approx(changed - held, rel=1e-12)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
def test_a_turning_mouse_is_booked(method):
    """It turns a box in free space: what it did is what the box has."""
    box = block("a", (0, 0, 1.0), mass=2.0)
    sim = simulate(box, gravity=(0, 0, 0), method=method)
    sim.grab("a", (0.1, 0.0, 1.0), (0.0, 0.3, 1.2), turn=True)
    sim.run(0.2)
    books = sim.state.ledger
    assert books[Account.MOUSE, 0] > 1e-3
    assert sim.energy().kinetic == pytest.approx(books[Account.MOUSE, 0], rel=1e-2)
    assert sim.momentum()[1] == pytest.approx(books[Account.MOUSE, 4:], rel=1e-6, abs=1e-9)


def test_a_hand_that_pulls_by_a_spring_does_force_times_way():
    """The block hangs still on a spring whose other end rises at a constant speed: nothing is left over."""
    sim = Simulation(Scene.load(gallery()["glue"]))  # the glue holds the block; the hand rises by 0.2 m in a second
    first = sim.energy().spring
    sim.run(1.0)
    booked = energies(sim)
    assert booked[Account.DRIVEN] + booked[Account.SPRINGS] == pytest.approx(sim.energy().spring - first, rel=1e-9)
    assert booked[Account.DRIVEN] > 1.0 and abs(booked[Account.DRIFT]) <= 1e-9
