"""What the texts of gallery scenes say happens in them, each in its own method. Numbers are read from the texts.

Where a number in a text has two digits, it is right to half of the last one.
"""

import re

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.model import ShapeKind, movable
from contactlab.physics.look.instant import simulation_at
from contactlab.physics.shapes.shapes import quat_to_matrix

G = 9.81

NUMBER_WORDS = {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16}


def opened(key):
    """The scene in its own method; and its texts in one line."""
    scene = Scene.load(gallery()[key])
    return Simulation(scene), " ".join(f"{scene.summary} {scene.watch}".split())


def numbers(pattern, text):
    """The numbers in the groups of a pattern, which the text must contain."""
    found = re.search(pattern, text)
    assert found is not None, f"the text no longer says {pattern!r}"
    return [float(group) for group in found.groups()]


def first_tops(sim, names, floor):
    """How far over the floor each body gets after its first bounce [m]."""
    tops, rising = dict.fromkeys(names, np.nan), dict.fromkeys(names, False)
    while np.isnan(list(tops.values())).any():
        sim.step()
        for name in names:
            up = sim.velocity(name)[2] > 0.0
            if rising[name] and not up and np.isnan(tops[name]):
                tops[name] = sim.position(name)[2] - floor
            rising[name] = up
    return np.array([tops[name] for name in names])


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


def test_the_bounce_of_the_soft_ball_is_nearer_to_e_squared_than_to_e():
    """Of K/2 and D/2, both surfaces in series, e = exp(-2 ζ acos ζ/√(1 - ζ²)); the weight takes a part of it."""
    sim, text = opened("soft_floor")
    assert "reaches about e² of the height" in text
    K, D = sim.model.materials.surfaces[0, 0, 0, :2] / 2
    ratio = D / (2 * np.sqrt(K * sim.model.mass[1]))
    e = np.exp(-2 * ratio * np.arccos(ratio) / np.sqrt(1 - ratio**2))
    part = first_tops(sim, ["ball"], 0.15)[0] / (1.1 - 0.15)
    assert e**2 - 0.1 * e**2 <= part <= e**2


def test_the_weight_takes_its_parts_of_the_twins_restitution():
    sim, text = opened("soft_twins")
    ratios = np.array(numbers(r"ζ = ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+) from", text))
    wanted = numbers(r"takes ([\d.]+) %, ([\d.]+) %, ([\d.]+) %, ([\d.]+) % and ([\d.]+) %", text)
    balls = [name for name in sim.labels.bodies if name.startswith("ball")]
    e = np.sqrt(first_tops(sim, balls, 0.12) / 1.0)
    weightless = np.exp(-2 * ratios * np.arccos(ratios) / np.sqrt(1 - ratios**2))
    lost = (1 - e / weightless) * 100
    assert np.all(np.abs(lost - wanted) <= [0.05, 0.05, 0.5, 0.5, 0.5])


def test_four_soft_feet_carry_what_the_text_says():
    sim, text = opened("soft_feet")
    assert float(sim.model.mass.sum()) == pytest.approx(numbers(r"table of ([\d.]+) kg", text)[0], abs=0.05)
    sim.run(4.0)
    contacts, wanted = sim.contacts, numbers(r"carry (\d+), (\d+), (\d+) and (\d+) N", text)
    assert np.all(np.abs(contacts.lam - wanted) <= 0.5)
    stiffness = 1e3 * np.array([1.0, 2.0, 4.0, 8.0])
    assert sim.dents == pytest.approx(contacts.lam * (1 / stiffness + 1e-6), rel=1e-3)  # and the ground's own


def test_the_soft_half_gives_way_ten_times_as_far_on_twice_as_many_points():
    sim, text = opened("soft_halves")
    assert "ten times as far" in text and "25 times as soft" in text
    sim.run(4.0)
    contacts = sim.contacts
    foam = np.array([sim.labels.bodies[i] == "foam" for i in contacts.body_a.tolist()])
    assert (foam.sum(), (~foam).sum()) == (4, 2)
    share = contacts.lam[foam].sum() / contacts.lam.sum()
    assert 0.4 < share < 0.5
    assert sim.dents[foam].mean() / sim.dents[~foam].mean() == pytest.approx(10.0, abs=0.5)


def test_balls_with_deep_dents_come_to_rest_where_the_text_says():
    """1.4 m v₀/Dᵣ less 5 %; after 8 s there is e^-5.7 of the longer way left, 1 cm."""
    sim, text = opened("travelling_dent")
    ways = numbers(r"That is ([\d.]+) m and ([\d.]+) m", text)
    lost = numbers(r"take (\d+) % of it", text)[0]
    start = [sim.position(f"ball {k}")[0] for k in (2, 3)]
    sim.run(8.0)
    gone = [sim.position(f"ball {k}")[0] - x for k, x in zip((2, 3), start, strict=True)]
    assert np.all(np.abs((1 - np.array(gone) / ways) * 100 - lost) <= 0.5)
    assert sim.velocity("ball 1")[0] == pytest.approx(2.0, rel=1e-3)


def test_a_kicked_bar_takes_its_neighbours_along_and_not_those_beyond():
    sim, text = opened("kicked_chain")
    assert "the ones beyond these jump the other way" in text
    while not sim.events:
        before = {name: sim.velocity(name)[0] for name in sim.labels.bodies}
        sim.step()
    way = {k: np.sign(sim.velocity(f"bar {k}")[0] - before[f"bar {k}"]) for k in range(1, 7)}
    assert way[2] == way[3] == way[4] == -way[1] == -way[5]
    passed = {int(j.joint): float(np.linalg.norm(j.impulse)) for j in sim.events[0].joints}
    up, down = [passed[k] for k in (2, 1, 0)], [passed[k] for k in (3, 4, 5)]
    assert up == sorted(up, reverse=True) and down == sorted(down, reverse=True)


@pytest.mark.parametrize(("key", "things"), [("humanoid", "bodies"), ("ragdoll", "bodies"), ("chain", "links")])
def test_figures_have_as_many_parts_as_the_text_counts(key, things):
    sim, text = opened(key)
    word = re.search(rf"of (\w+) {things}", text)
    assert word is not None
    assert len(sim.model.trees.body) == NUMBER_WORDS[word.group(1)]


def test_the_corners_of_the_plank_hit_ever_faster_and_end_in_finite_time():
    """At each impact the corners that hit leave with e times their speed, by Newton's law."""
    sim, text = opened("soft_chatter")
    assert "an edge that hits leaves with e times its speed" in text
    sim.record_history()
    sim.run(1.0)
    first = sim.events[0]
    hits = [event.t for event in sim.events if event.kind == "impact"]
    assert len(hits) > 40 and hits[-1] < 0.75
    gaps = np.diff(sorted(set(hits)))
    assert np.median(gaps[-5:]) < 0.05 * np.median(gaps[:5])
    sim.seek(first.step)
    before, after = (simulation_at(sim, first.step, first.t, phase).contacts for phase in ("before", "at"))
    touching = np.abs(before.gap) < 1e-9
    assert touching.sum() == 2 and after.key.tolist() == before.key.tolist()
    assert after.zeta[touching] == pytest.approx(-0.6 * before.zeta[touching], abs=1e-9)


# ------------------------------------------------------------------------------------------------ time_stepping
def test_the_ball_rolls_when_and_as_fast_as_the_text_says():
    """To a step, and to half of the last digit."""
    sim, text = opened("rolling_ball")
    t, = numbers(r"μ g\) = ([\d.]+) s", text)
    part, whole = numbers(r"rolls on at (\d)/(\d) of its first speed", text)
    first, slips = sim.velocity("ball")[0], True
    while slips:
        sim.step()
        slips = sim.contacts.slip[0] > 1e-9
    assert sim.time == pytest.approx(t, abs=0.005 + sim.settings.h)
    sim.run(0.5)
    assert sim.velocity("ball")[0] == pytest.approx(first * part / whole, rel=1e-9)


def test_on_the_incline_the_box_with_the_least_friction_slides_alone():
    sim, text = opened("incline")
    tan, = numbers(r"tan 25° = (\d\.\d+)", text)
    a, = numbers(r"= ([\d.]+) m/s²", text)
    assert tan == pytest.approx(np.tan(np.radians(25.0)), abs=5e-4)
    sim.run(1.0)
    speeds = sorted(np.linalg.norm(sim.velocity(name)) for name in sim.labels.bodies if name != "slope")
    assert speeds[-1] == pytest.approx(a, abs=0.005)
    assert speeds[-2] < 1e-5
    c = sim.contacts
    for body in set(c.body_b.tolist()):
        mine = c.body_b == body
        force = c.lam[mine] @ c.normal[mine] + c.friction_force[mine].sum(axis=0)
        assert force[2] > np.cos(np.radians(3.0)) * np.linalg.norm(force)


def test_the_tower_carries_its_weight_on_four_equal_corners_and_the_ball_comes_when_the_text_says():
    sim, text = opened("tower")
    t, = numbers(r"strikes the pyramid after ([\d.]+) s", text)
    assert "you see the least, four equal ones" in text
    sim.run(0.2)
    c, names = sim.contacts, sim.labels.bodies
    for level in range(1, 11):
        mine = [k for k, b in enumerate(c.body_b.tolist()) if names[b] == ("block" if level == 1 else f"block {level}")]
        weight = (11 - level) * sim.model.mass[sim.number("block")] * G
        assert c.lam[mine] == pytest.approx([weight / 4] * 4, rel=1e-9)
    ball = sim.number("ball")
    while not any(ball in event.bodies for event in sim.events):
        sim.step()
    assert sim.time == pytest.approx(t, abs=0.005 + sim.settings.h)


def test_the_residual_tells_the_glue_from_the_moment_the_spring_carries_the_weight():
    sim, text = opened("glue")
    assert "when the spring reaches m g. From there on the residual in the status line tells them apart" in text
    projected = Simulation(Scene.load(gallery()["glue"]), solver="pgs")
    while sim.time < 2.0:
        sim.step()
        projected.step()
        assert projected.info.status == "solved" and projected.info.residual < 1e-9
        if sim.contacts.lam.sum() > 0.0:
            assert sim.info.residual < 1e-9
        else:
            assert sim.info.status == "glued" and sim.info.residual > 1e-4


def test_the_machines_do_what_the_text_says():
    """Belt, turntable and shaker."""
    sim, text = opened("machines")
    motions, balls = sim.model.motions, [i for i, name in enumerate(sim.labels.bodies) if name.startswith("ball")]
    tray = sim.number("tray")
    rate, amplitude = float(motions.frequency[tray]), float(motions.amplitude[tray, 2])
    assert amplitude * (2 * np.pi * rate) ** 2 / G == pytest.approx(numbers(r"= ([\d.]+) g", text)[0], abs=0.05)
    flew, fastest = [set() for _ in range(15)], 0.0
    for _ in range(round(15 / rate / sim.settings.h) - 1):
        sim.step()
        c = sim.contacts
        touching = {*c.body_a[c.lam > 0.0].tolist(), *c.body_b[c.lam > 0.0].tolist()}
        flew[int(sim.time * rate)] |= set(balls) - touching
        fastest = max(fastest, sim.velocity("parcel")[0])
    assert all(stroke == set(balls) for stroke in flew)
    assert fastest == pytest.approx(motions.surface_velocity[sim.number("belt"), 0], abs=1e-6)
    on = [sim.position(name)[2] > 0.29 for name in ("cube", "cube 2", "cube 3")]
    assert on == [True, True, False]


def test_the_wave_along_the_dominoes_has_a_speed_of_its_own():
    """A ball twice as fast reaches the row earlier; the second half of the row falls as fast."""
    took = []
    for faster in (1.0, 2.0):
        sim, text = opened("dominoes")
        count, = numbers(r"the first of (\d+) dominoes", text)
        row = [i for i, name in enumerate(sim.labels.bodies) if name.startswith("domino")]
        assert len(row) == count
        ball = sim.number("ball")
        sim.state.bodies.v[ball] *= faster
        sim.state.bodies.P[ball] *= faster
        falls = {}
        while len(falls) < count and sim.time < 4.0:
            sim.step()
            for k in np.flatnonzero(np.linalg.norm(sim.state.bodies.w[row], axis=1) > 1.0).tolist():
                falls.setdefault(k, sim.time)
        took.append(falls[len(row) - 1] - falls[len(row) // 2])
    assert took[1] == pytest.approx(took[0], rel=0.03)


def test_the_gyroscope_goes_round_about_as_fast_as_the_text_says():
    """m g l/(I ω), of a wheel that nods: to a tenth."""
    sim, text = opened("gyroscope")
    assert "precession at about m g l/(I ω)" in text
    wheel = sim.number("wheel")
    x = sim.state.bodies.x[wheel].copy()
    pivot = x - np.array([x[0], x[1], 0.0])
    arm = float(np.linalg.norm(x - pivot))
    spin = float(np.abs(sim.angular_velocity("wheel") @ (x - pivot)) / arm)
    wanted = sim.model.mass[wheel] * G * arm / (sim.model.inertia[wheel].max() * spin)
    turned, last = 0.0, np.arctan2(x[1], x[0])
    while sim.time < 4.0:
        sim.step()
        x = sim.state.bodies.x[wheel]
        now = np.arctan2(x[1], x[0])
        turned, last = turned + (now - last + np.pi) % (2 * np.pi) - np.pi, now
    assert abs(turned) / 4.0 == pytest.approx(wanted, rel=0.1)


@pytest.mark.parametrize(("cure", "low", "high"), [("projection", 0.0, 1e-12), ("baumgarte", 1e-6, 1e-3),
                                                   ("none", 1e-3, 1e-2)])
def test_the_linkages_joints_give_by_what_the_text_says(cure, low, high):
    """Rounding; a little; millimetres."""
    sim, text = opened("linkages")
    assert 'with "none" they come apart by millimetres' in text
    sim.set(joint_cure=cure)
    largest = 0.0
    while sim.time < 10.0:
        sim.step()
        largest = max(largest, sim.info.joint_error)
    assert low <= largest <= high


def test_the_humanoid_has_as_many_velocities_as_the_text_says():
    sim, text = opened("humanoid")
    assert len(sim.v) == numbers(r"(\d+) velocities", text)[0]


# ------------------------------------------------------------------------------------------------ event-driven
def lost(sim, body, until):
    """The first dynamic loss of a body before a time, and the simulation at its instant."""
    sim.record_history()
    sim.run(until)
    event = next(e for e in sim.events if e.kind == "dynamic_loss" and sim.number(body) in e.bodies)
    sim.seek(event.step)
    return event.t, simulation_at(sim, event.step, event.t, "at")


def test_the_block_leaves_the_shaking_table_when_the_text_says():
    sim, text = opened("shaken_block")
    sine, phase, t = numbers(r"= ([\d.]+), at the phase φ = ([\d.]+)° on the way up, .*, ([\d.]+) s after", text)
    found, there = lost(sim, "block", 0.2)
    assert found == pytest.approx(t, abs=5e-4)
    table = sim.number("table")
    turn = 2 * np.pi * float(sim.model.motions.frequency[table]) * found + float(sim.model.motions.phase[table])
    assert np.sin(turn) == pytest.approx(sine, abs=5e-3)
    assert np.degrees(np.arcsin(np.sin(turn))) == pytest.approx(phase, abs=0.05)
    assert there.velocity("block")[2] > 0.0


def test_the_ladders_leave_the_wall_at_two_thirds_of_their_height():
    _, text = opened("ladder")
    starts = [int(n) for n in numbers(r"at rest at (\d+)°, (\d+)° and (\d+)°", text)]
    wanted = numbers(r"sin θ₀, ([\d.]+)°, ([\d.]+)° and ([\d.]+)°", text)
    for start, angle in zip(starts, wanted, strict=True):
        _, there = lost(Simulation(Scene.load(gallery()["ladder"])), f"{start}°", 1.0)
        q = there.state.bodies.q[there.number(f"{start}°")]
        up = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)  # of the rod's axis, body z
        assert np.degrees(np.arcsin(abs(up))) == pytest.approx(angle, abs=0.05)
        assert abs(up) == pytest.approx(2 / 3 * np.sin(np.radians(start)), rel=1e-6)


def test_the_balls_leave_the_dome_where_the_text_says():
    """The sliding ball at its angle; the rolling one slips before its own."""
    sim, text = opened("dome")
    slides, rolls = numbers(r"([\d.]+)°\. Rolling, .*: ([\d.]+)°", text)
    _, there = lost(sim, "sliding", 1.0)
    contact = there.contacts.body_b.tolist().index(there.number("sliding"))
    assert np.degrees(np.arccos(abs(there.contacts.normal[contact, 2]))) == pytest.approx(slides, abs=0.05)
    sim, _ = opened("dome")
    sim.run(1.0)
    rolling = sim.number("rolling")
    kinds = [e.kind for e in sim.events if rolling in e.bodies]
    assert kinds[:2] == ["slip", "dynamic_loss"]
    assert rolls == pytest.approx(np.degrees(np.arccos(10 / 17 * np.cos(np.radians(5.0)))), abs=0.05)


def test_the_rocking_blocks_keep_their_shares():
    sim, text = opened("rocking_block")
    slender = numbers(r"slender block keeps ([\d.]+) of its ω and ([\d.]+) of its kinetic energy", text)
    squat = numbers(r"squat one ([\d.]+) and (\d\.\d+)", text)
    sim.record_history()
    sim.run(1.5)
    events = list(sim.events)
    for name, (speed, energy) in (("slender", slender), ("squat", squat)):
        event = next(e for e in events if e.kind == "impact" and sim.number(name) in e.bodies)
        sim.seek(event.step)
        before, after = (np.linalg.norm(simulation_at(sim, event.step, event.t, phase).angular_velocity(name))
                         for phase in ("before", "at"))
        assert after / before == pytest.approx(speed, abs=0.005)
        assert (after / before) ** 2 == pytest.approx(energy, abs=0.005)


def test_the_slow_ball_has_bounced_infinitely_often_when_the_text_says():
    sim, text = opened("slow_bounce")
    t, = numbers(r"= ([\d.]+) s \(Zeno\)", text)
    sim.run(t + 0.1)
    assert sim.events[-1].t == pytest.approx(t, abs=0.005)
    ball = sim.number("ball")
    assert sim.contacts.active[0] == 1 and sim.contacts.lam[0] == pytest.approx(sim.model.mass[ball] * G, rel=1e-9)


def test_the_tables_take_one_lcp():
    sim, text = opened("tables")
    assert "one LCP was solved for all the steps so far" in text
    sim.run(1.0)
    assert sim.info.solves == 1
    c, names = sim.contacts, sim.labels.bodies
    for table, legs in (("four legs", 4), ("five legs", 5), ("six legs", 6)):
        mine = [k for k in range(len(c.lam)) if names[c.body_a[k]] == "floor" and names[c.body_b[k]] == table]
        assert (c.current[mine] == 1).sum() == legs and (c.active[mine] == 1).sum() == 3


def test_the_rods_of_painleve_jam_and_lie_down():
    sim, text = opened("painleve")
    limit, = numbers(r"above μ = ([\d.]+) Coulomb", text)
    # n·M(n - μ s) = 0 of a rod at atan 2: 1/m + x²/I = μ x y/I, the contact below its end, x and y from the middle
    x, y, inertia = 0.5 * np.cos(np.arctan(2.0)), 0.5 * np.sin(np.arctan(2.0)) + 0.02, 1.0 / 12.0
    assert limit == pytest.approx((inertia + x * x) / (x * y), abs=0.005)
    sim.run(0.6)
    pushed, pulled = sim.number("pushed"), sim.number("pulled")
    assert [e.kind for e in sim.events if pushed in e.bodies][:2] == ["inconsistent", "impact"]
    assert [e.kind for e in sim.events if pulled in e.bodies] == ["impact", "stick"]
    assert abs(sim.angular_velocity("pulled")[1]) < 1e-9


def test_stick_and_slip_come_back_when_the_text_says():
    sim, text = opened("stick_slip")
    period, = numbers(r"every ([\d.]+) s", text)
    sim.run(5.0)
    slips = sorted({round(e.t, 6) for e in sim.events if e.kind == "slip"})
    assert np.diff(slips) == pytest.approx(period, abs=0.005)


def test_the_block_over_the_edge_leaves_it_as_its_text_says():
    """Its front, its centre and its rear pass the edge; the losses are told then, and the last one changes nothing."""
    sim, text = opened("over_the_edge")
    front, over, rear = (numbers(pattern, text)[0] for pattern in (
        r"At ([\d.]+) s the front corners", r"At ([\d.]+) s the centre", r"At ([\d.]+) s its last"))
    spin, = numbers(r"turning with ([\d.]+) rad/s", text)
    start = sim.energy()
    sim.run(rear + 0.05)
    told = {(event.kind, round(event.t, 3)) for event in sim.events if "loss" in event.kind}
    assert told == {("geometric_loss", front), ("dynamic_loss", over), ("geometric_loss", rear)}
    assert sim.angular_velocity("block") == pytest.approx((0, spin, 0), abs=0.005)
    now = sim.energy()
    assert now.kinetic + now.potential == pytest.approx(start.kinetic + start.potential, abs=1e-6)


def test_a_spin_and_a_roll_end_when_the_text_says():
    """In the step in which it ends, or the one before."""
    sim, text = opened("spin_and_roll")
    spun, = numbers(r"stands after ([\d.]+) s", text)
    rolled, way = numbers(r"rest after ([\d.]+) s, ([\d.]+) m", text)
    ends = {}
    start = sim.position("stops rolling")[0]
    while sim.time < 4.0:
        sim.step()
        for name in ("stops spinning", "stops rolling"):
            if np.abs(sim.angular_velocity(name)).max() < 1e-6:
                ends.setdefault(name, sim.time)
    h = sim.settings.h
    assert ends["stops spinning"] == pytest.approx(spun, abs=0.005 + 2 * h)
    assert ends["stops rolling"] == pytest.approx(rolled, abs=0.005 + 2 * h)
    assert sim.position("stops rolling")[0] - start == pytest.approx(way, abs=0.005)
    assert sim.angular_velocity("spins on")[2] == pytest.approx(20.0)
    assert sim.velocity("rolls on")[0] == pytest.approx(1.0)


def kept_by(sim, name, sides, rounding):
    """The part of its energy that a prism of this scene keeps at a corner, see `claims.test_rolling_polygons`."""
    body, radius = sim.number(name), 0.15
    turn = quat_to_matrix(sim.state.bodies.q[body])
    k = float(turn[1] ** 2 @ sim.model.inertia[body]) / sim.model.mass[body]
    a, half = radius * np.cos(np.pi / sides), (radius - rounding / np.cos(np.pi / sides)) * np.sin(np.pi / sides)
    return ((k + a * a - half * half) / (k + a * a + half * half)) ** 2


def test_polygons_keep_what_the_text_says_and_come_to_its_speeds():
    """The speed is a mean over many corners, of which the interval may hold one more or less."""
    sim, text = opened("polygons")
    parts = numbers(r"energy: (\d+) % with 24 sides, (\d+) % with 12 and (\d+) % with 6", text)
    parts += numbers(r"that one keeps (\d+) %", text)
    shapes = (("24 sides", 24, 0.0), ("12 sides", 12, 0.0), ("6 sides", 6, 0.0), ("6 round sides", 6, 0.1))
    for part, shape in zip(parts, shapes, strict=True):
        assert 100.0 * kept_by(sim, *shape) == pytest.approx(part, abs=0.5)
    speeds = numbers(r"come to ([\d.]+) and ([\d.]+) m/s", text)
    sim.run(until=2.5)
    before = {name: sim.position(name) for name in sim.labels.bodies}
    sim.run(until=4.0)
    for name, speed in zip(("24 sides", "12 sides"), speeds, strict=True):
        sides = int(name.split()[0])
        allowed = 2.0 * 0.15 * np.sin(np.pi / sides) / 1.5  # a side more or less
        assert np.linalg.norm(sim.position(name) - before[name]) / 1.5 == pytest.approx(speed, abs=allowed)
    assert np.linalg.norm(sim.velocity("6 sides")) < 1e-6 and np.linalg.norm(sim.velocity("6 round sides")) > 1.0


def test_the_block_in_the_round_hollow_loses_nothing_and_the_other_what_the_text_says():
    sim, text = opened("hollows")
    lost, still = numbers(r"loses ([\d.]+) J in its blows and lies still after ([\d.]+) s", text)
    start = sim.energy().total
    sim.run(until=still - 0.02)
    assert np.linalg.norm(sim.velocity("faceted")) > 1e-3
    sim.run(until=still + 0.01)
    assert np.linalg.norm(sim.velocity("faceted")) < 1e-3
    assert start - sim.energy().total == pytest.approx(lost, abs=0.005)
    sim.run(until=3.0)  # of the other nothing is lost
    assert start - sim.energy().total == pytest.approx(lost, abs=0.005)


def test_line_face_and_disc_touch_at_as_many_points_as_the_text_says():
    sim, text = opened("faces")
    six, twelve = numbers(r"(\d+) % with 6, (\d+) % with 12", text)
    assert 100.0 * np.cos(np.pi / np.array([6, 12])) == pytest.approx([six, twelve], abs=0.5)
    wanted = {"line": 2, "pentagon": 5, "disc of 6 points": 6, "disc of 12 points": 12, "disc": 8, "coin": 1}
    for until in (0.5, 1.0):
        sim.run(until=until)
        contacts = sim.contacts
        there = contacts.body_b[: contacts.count[0]][contacts.current[: contacts.count[0]] == 1]
        assert {name: int((there == sim.number(name)).sum()) for name in wanted} == wanted


def test_the_hoop_rolls_as_fast_as_the_text_says_and_the_links_hold():
    """v/(1 + I/(m ρ²)), I/m = R² + ¾ r², ρ = R + r."""
    sim, text = opened("rings")
    thrown, = numbers(r"without spin at (\d+) m/s", text)
    rolls, = numbers(r"outer radius, here ([\d.]+) m/s", text)
    assert thrown / (1.0 + (0.3**2 + 0.75 * 0.05**2) / 0.35**2) == pytest.approx(rolls, abs=0.005)
    assert np.linalg.norm(sim.velocity("hoop")) == thrown
    sim.run(until=1.0)
    assert np.linalg.norm(sim.velocity("hoop")) == pytest.approx(rolls, abs=0.01)
    assert np.linalg.norm(sim.angular_velocity("hoop")) * 0.35 == pytest.approx(rolls, abs=0.01)
    sim.run(until=4.0)
    lowest = sim.position("link 4")[2]
    assert lowest == pytest.approx(1.8 - 4 * 2.0 * (0.12 - 0.03), abs=0.02)  # 2 R - 2 r a link, and they swing a little


def test_the_balls_in_the_valleys_rise_as_high_as_the_text_says():
    """The greatest height over the lowest place in the tenth second, in which each ball turns once at least."""
    sim, text = opened("valleys")
    said = numbers(r"8 cells still rises (\d+) cm[^.]* 24 cells (\d+) cm[^.]* 120 cells (\d+) cm", text)
    sim.run(until=9.0)
    top = dict.fromkeys("abc", 0.0)
    while sim.time < 10.0:
        sim.run(until=sim.time + 0.02)
        top = {name: max(high, sim.position(name)[2] - 0.08) for name, high in top.items()}
    assert [100.0 * high for high in top.values()] == pytest.approx(said, abs=0.6)


# ------------------------------------------------------------------------------------------------ machines and heaps
def fists_approach(sim):
    """Rate at which the distance of the two fists grows [m/s]."""
    centre, velocity, shapes, bodies = [], [], sim.model.shapes, sim.state.bodies
    for number in (sim.number("left forearm"), sim.number("right forearm")):
        fist = np.flatnonzero((shapes.body == number) & (shapes.kind == ShapeKind.SPHERE))[0]
        out = quat_to_matrix(bodies.q[number]) @ shapes.position[fist]
        centre.append(bodies.x[number] + out)
        velocity.append(bodies.v[number] + np.cross(bodies.w[number], out))
    apart = centre[1] - centre[0]
    return (velocity[1] - velocity[0]) @ apart / np.linalg.norm(apart)


def test_the_fists_part_with_e_of_their_speed_and_nothing_else_acts():
    """ζ⁺ = -e ζ⁻, seen 1e-6 s before and after, in which ζ changes by ω² l 1e-6 s = 1e-5 m/s at most. The axes are
    upright and free: no energy but the blow's is lost, and no joint is left out of it."""
    sim, _ = opened("arms")
    energy = sim.energy().total
    while not sim.events:
        sim.step()
    blow = sim.events[0]
    assert [event.kind for event in sim.events] == ["impact"]
    assert blow.energy_before == pytest.approx(energy, rel=1e-9)
    assert sim.energy().total == pytest.approx(blow.energy_after, rel=1e-9)
    assert min(np.linalg.norm(joint.impulse) for joint in blow.joints) > 0.1 and len(blow.joints) == 4
    near, _ = opened("arms")
    while near.time + near.settings.h < blow.t:
        near.step()
    near.set(h=blow.t - 1e-6 - near.time)
    near.step()
    before = fists_approach(near)
    near.set(h=2e-6)
    near.step()
    assert [event.kind for event in near.events] == ["impact"]
    assert fists_approach(near) == pytest.approx(-0.8 * before, abs=2e-5)


def test_the_bin_gets_as_many_shapes_of_each_kind_as_the_text_says():
    sim, text = opened("bin")
    assert "forty of each" in text
    kinds = [sim.model.shapes.kind[sim.model.shapes.body == body] for body in np.flatnonzero(movable(sim.model.kind))]
    for kind in (ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.HULL):
        assert sum(kind in mine for mine in kinds) == 40
    assert len(kinds) == 200


def test_each_die_comes_to_rest_on_a_face():
    """Four contacts each, and none of them moves."""
    sim, _ = opened("dice")
    sim.run(until=4.0)
    dice = [sim.number(f"die {k}") for k in range(1, 7)]
    ends = np.concatenate([sim.contacts.body_a, sim.contacts.body_b])
    assert [int((ends == die).sum()) for die in dice] == [4] * 6
    assert np.abs(sim.state.bodies.v).max() < 1e-9 and np.abs(sim.state.bodies.w).max() < 1e-8


def test_the_energy_of_the_walking_toy_falls_in_nearly_equal_stairs():
    """A strike may take two steps. Between strikes friction and the joints do no work; the feet are balls and roll by a
    little, and what the first step of a strike leaves is not counted."""
    sim, _ = opened("walking_toy")
    energy = [sim.energy().total]
    while sim.time < 4.0:
        sim.step()
        energy.append(sim.energy().total)
    fall = -np.diff(energy)
    strikes = np.flatnonzero((fall > 0.02) & (np.append(0.0, fall[:-1]) <= 0.02))
    stairs = np.array([fall[k : k + 2].sum() for k in strikes])
    assert len(stairs) >= 7
    assert np.abs(stairs - stairs.mean()).max() < 0.2 * stairs.mean()
    assert stairs.sum() > 0.95 * (energy[0] - energy[-1])
