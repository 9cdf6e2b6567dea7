"""What the texts of the gallery's impacts say happens in them, each in its own method. Numbers are read from the texts.

Where a number in a text has two digits, it is right to half of the last one.
"""

import itertools

import numpy as np
import pytest
from gallery_scenes import G, at, first, first_tops, numbers, opened, ran, scene

from contactlab.physics.core.model import movable
from contactlab.physics.core.state import Case


def test_bouncing_balls_reach_their_parts_of_the_height():
    """e² to half a percent of the height and the error of a step: the speed is met within g h of √(2 g H)."""
    sim, text = opened("bouncing_balls")
    wanted = numbers(r"(\d+) %, (\d+) %, (\d+) %, (\d+) % and (\d+) %", text)
    balls = [name for name in sim.labels.bodies if movable(sim.model.kind[sim.number(name)])]
    radius = float(sim.model.shapes.bound[np.isfinite(sim.model.shapes.bound)].min())
    fall = sim.position(balls[0])[2] - radius
    step = 9.81 * sim.settings.h / np.sqrt(2 * 9.81 * fall)
    reached = first_tops(sim, balls, radius) / fall * 100
    assert np.all(np.abs(reached - wanted) <= 0.5 + 2 * step * reached)


def test_five_balls_differ_in_their_restitution_alone():
    sim, _ = opened("bouncing_balls")
    balls = np.flatnonzero(movable(sim.model.kind))
    floor, *own = sim.model.shapes.material.tolist()
    table = sim.model.materials
    assert len(balls) == 5 and len(set(own)) == 5 and len(set(sim.state.bodies.x[balls, 2])) == 1
    for alike in (sim.model.mass[balls], sim.model.inertia[balls], table.friction[floor, own]):
        assert np.ptp(alike) == 0.0
    assert [f"e = {e:g}" for e in table.restitution[floor, own]] == [sim.labels.bodies[ball] for ball in balls]


def test_energy_is_lost_by_impacts_alone_and_the_most_elastic_ball_bounces_on_long_after_the_others():
    """Between impacts energy is level, but for balls slower than g h at the floor, whose bounces are shorter than a
    step: m (g h)² each at most. Bounces end after √(2 H/g) (1 + e)/(1 - e), or some steps later where impacts wait for
    the ends of steps."""
    sim, _ = opened("bouncing_balls")
    least = 5 * float(sim.model.mass.max()) * (G * sim.settings.h) ** 2
    energy, last = sim.energy().total, {}
    while sim.time < 5.0:
        before = sim.event_count
        sim.step()
        now, blows = sim.energy().total, [e for e in sim.latest_events(sim.event_count - before) if e.kind == "impact"]
        assert now - energy < least and (blows or abs(now - energy) < least)
        energy, last = now, last | {max(e.bodies): sim.time for e in blows}
    ended = {name: last[sim.number(name)] for name in sim.labels.bodies if name.startswith("e = ")}
    top = ended.pop("e = 0.95")
    assert top > 4.0 and max(ended.values()) < np.sqrt(2.0 / G) * 1.75 / 0.25 + 10 * sim.settings.h
    assert 0.5 * sim.velocity("e = 0.95")[2] ** 2 + G * (sim.position("e = 0.95")[2] - 0.1) > 0.5 * G * 0.2


def test_no_impact_law_makes_energy_in_the_three_cradles():
    """Side by side: the scene's own law and the two that it is compared with."""
    sim, text = opened("newtons_cradle")
    (gap,) = numbers(r"ones (\d+) mm apart", text)
    for row, apart in (("front", 0.0), ("middle", 1e-3 * gap)):
        places = [sim.position(name)[0] for name in (row, f"{row} 2", f"{row} 3", f"{row} 4")]
        assert np.diff(places) == pytest.approx([0.1 + apart] * 3, abs=1e-12)
    laws = [side.settings.impact_law for side in scene("newtons_cradle").sides(sim.settings)]
    assert laws == ["newton", "poisson", "sequential"]
    for law in laws:
        sim.reset()
        sim.set(impact_law=law)
        start = sim.energy().total
        sim.run(until=0.5)
        assert sim.energy().total <= start * (1.0 + 1e-12)


def test_the_rocking_blocks_keep_their_shares():
    sim, events = ran("rocking_block", 3.0)
    _, text = opened("rocking_block")
    slender = numbers(r"slender block keeps ([\d.]+) of its ω and ([\d.]+) of its kinetic energy", text)
    squat = numbers(r"squat one ([\d.]+) and (\d\.\d+)", text)
    for name, (speed, energy), side in (("slender", slender, 1.0 / 5.0), ("squat", squat, 1.0 / 2.0)):
        event = first(sim, events, "impact", name)
        before, after = (np.linalg.norm(at(sim, event, phase).angular_velocity(name)) for phase in ("before", "at"))
        assert after / before == pytest.approx(speed, abs=0.005)
        assert (after / before) ** 2 == pytest.approx(energy, abs=0.005)
        assert after / before == pytest.approx(1.0 - 1.5 * side**2 / (1.0 + side**2), rel=1e-6)


def test_the_squat_block_rocks_to_and_fro_ever_faster_without_sliding_until_it_rests():
    """From half of the angle at which it would tip over, atan(width/height); each impact at the other edge."""
    sim, events = ran("rocking_block", 3.0)
    squat = sim.number("squat")
    assert not [event for event in events if event.kind == "slip"]
    blows = sorted({(event.t, event.point[0] > sim.position("squat")[0]) for event in events
                    if event.kind == "impact" and squat in event.bodies})
    swings = np.diff([t for t, _ in blows])
    assert len(blows) > 10 and (swings[1:] < swings[:-1]).all()
    assert all(a != b for (_, a), (_, b) in itertools.pairwise(blows[:11]))
    assert np.abs(sim.angular_velocity("squat")).max() < 1e-9 and blows[-1][0] < 2.5
    begun, _ = opened("rocking_block")
    for name, slope in (("slender", 1.0 / 5.0), ("squat", 1.0 / 2.0)):
        tilt = 2.0 * np.arccos(abs(begun.state.bodies.q[begun.number(name), 0]))
        assert tilt == pytest.approx(0.5 * np.arctan(slope), abs=1e-9)


def test_the_slow_ball_has_bounced_infinitely_often_when_the_text_says():
    sim, text = opened("slow_bounce")
    t, = numbers(r"= ([\d.]+) s \(Zeno\)", text)
    sim.run(t + 0.1)
    assert sim.events[-1].t == pytest.approx(t, abs=0.005)
    ball = sim.number("ball")
    assert sim.contacts.active[0] == 1 and sim.contacts.lam[0] == pytest.approx(sim.model.mass[ball] * G, rel=1e-9)
    rest, = numbers(r"Below a speed of (\d) μm/s", text)
    slow = min(event.impulse[2] for event in sim.events if event.kind == "impact" and event.case_after != Case.RESTING)
    slowest = 1e6 * slow / sim.model.mass[ball] / 1.8
    assert 1e6 * G * sim.settings.h / 10_000 == pytest.approx(rest, abs=0.5) and rest < slowest < rest / 0.8**2


def test_arc_after_arc_of_the_slow_bounce_shrinks_by_e_and_none_begins_with_a_step():
    """Times and speeds by e, so that heights shrink by e²: v = g t/2 and v²/2 g of an arc of the time t."""
    sim, text = opened("slow_bounce")
    (e,) = numbers(r"with e = ([\d.]+)", text)
    assert scene("slow_bounce").speed == pytest.approx(1 / 5) and "five times slower" in text
    sim.run(3.5)
    blows = [event for event in sim.events if event.kind == "impact"]
    arcs = np.diff([event.t for event in blows])
    assert arcs[1:] / arcs[:-1] == pytest.approx(e, abs=1e-9)
    steps = np.array([event.t for event in blows]) / sim.settings.h
    assert np.abs(steps - np.rint(steps)).min() > 1e-6
    speeds = [event.impulse[2] * e / (1.0 + e) / sim.model.mass[1] for event in blows[:-1]]  # with which arcs begin
    assert speeds == pytest.approx(0.5 * G * arcs, rel=1e-9)


def test_the_smooth_ball_comes_out_the_grey_one_stays_and_the_super_ball_returns_to_the_hand():
    """A hand is 10 cm. The grey ball's way is slower at every impact, until nothing is left of it."""
    sim, _ = opened("super_ball")
    names = ("smooth", "sticking", "super-ball")
    hand, energy = sim.position("super-ball").copy(), sim.energy().total
    assert not sim.state.bodies.w.any()
    sim.run(0.45)
    assert np.ptp([sim.position(name)[2] for name in names]) < 1e-9
    way, slowing = np.inf, []
    while sim.time < 2.5:
        before = sim.event_count
        sim.step()
        way = min(way, np.linalg.norm(sim.position("super-ball") - hand))
        if any(sim.number("sticking") in event.bodies for event in sim.latest_events(sim.event_count - before)):
            slowing.append(abs(sim.velocity("sticking")[0]))
    assert way < 0.1
    assert sim.position("smooth")[0] > 0.6 and sim.velocity("smooth")[0] == pytest.approx(3.0, rel=1e-9)
    assert (np.diff(slowing) < 0.0).all() and slowing[-1] < 1e-5
    assert abs(sim.position("sticking")[0]) < 0.5  # under the table
    kept = 0.1 * (0.5 * (sim.velocity("super-ball") @ sim.velocity("super-ball")) + G * sim.position("super-ball")[2]
                  + 0.2 * (0.05 * sim.angular_velocity("super-ball")[1]) ** 2)
    assert kept == pytest.approx(0.1 * (0.5 * (9.0 + 4.5**2) + G * 0.6), rel=1e-9)
    assert sim.energy().total < energy


def test_the_spin_about_the_normal_comes_back_as_the_text_says_and_nothing_else_differs():
    """ψ⁺ = -e_ψ ψ⁻ at every bounce, of the energy of the spin 1 - e_ψ² is lost; heights are those of e = 0.8 alone."""
    sim, text = opened("spin_back")
    (spin,) = numbers(r"each with a spin of (\d+) rad/s about the vertical", text)
    halves = numbers(r"-(\d+), (\d+), -(\d+) rad/s", text)
    names = ("keeps", "stops", "half", "returns", "smooth floor")
    assert [sim.angular_velocity(name)[2] for name in names] == [spin] * 5
    factor = dict(zip(names, (1.0, 0.0, -0.5, -1.0, 1.0), strict=True))
    sim.record_history()
    inertia, seen, bounces = float(sim.model.inertia[sim.number("keeps")][0]), 0, 0
    energies, before = {name: 0.5 * inertia * spin**2 for name in names}, sim.energy().total
    while bounces < 3:
        sim.step()
        events = sim.latest_events(sim.event_count - seen)
        seen = sim.event_count
        if not events:
            continue
        bounces += 1
        assert {event.kind for event in events} == {"impact"} and len(events) == 5
        assert np.ptp([event.t for event in events]) < 1e-12  # one fall
        lost = 0.0
        for name in names:
            now = sim.angular_velocity(name)
            assert now == pytest.approx((0.0, 0.0, spin * factor[name] ** bounces), abs=1e-9 * spin)
            energy = 0.5 * inertia * now[2] ** 2
            fall = float(sim.model.mass[sim.number(name)]) * G * 0.68 * 0.64 ** (bounces - 1)
            lost += energies[name] - energy + (1.0 - 0.64) * fall
            energies[name] = energy
        assert before - sim.energy().total == pytest.approx(lost, rel=1e-9)
        before = sim.energy().total
        assert np.ptp([sim.velocity(name)[2] for name in names]) < 1e-9
    assert halves == [spin * 0.5**k for k in (1, 2, 3)]
    assert [1.0 - factor[name] ** 2 for name in ("stops", "half")] == [1.0, 0.75]  # all, and three quarters
