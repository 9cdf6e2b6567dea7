"""What the texts of the gallery's machines and spinning bodies say happens in them, each in its own method."""

import re

import numpy as np
import pytest
from gallery_scenes import G, numbers, opened, scene

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.model import JointType, ShapeKind
from contactlab.physics.look.inspection import Inspect, look
from contactlab.physics.shapes.shapes import quat_to_matrix

NUMBER_WORDS = {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16}
MOTORS = {"motor_holds", "motor_gives_in"}


def test_a_kicked_bar_takes_its_neighbours_along_and_not_those_beyond():
    sim, text = opened("kicked_chain")
    assert "the ones beyond these jump the other way" in text
    assert sim.labels.bodies[1:7] == tuple(f"bar {k}" for k in range(1, 7)) and not sim.state.joints.v.any()
    while not sim.events:
        before = {name: sim.velocity(name)[0] for name in sim.labels.bodies}
        sim.step()
    way = {k: np.sign(sim.velocity(f"bar {k}")[0] - before[f"bar {k}"]) for k in range(1, 7)}
    assert way[2] == way[3] == way[4] == -way[1] == -way[5]
    blow = sim.events[0]
    assert set(blow.bodies) == {sim.number("bar 3"), sim.number("ball")} and abs(blow.point[2] - 1.1) < 0.05
    passed = {int(j.joint): float(np.linalg.norm(j.impulse)) for j in sim.events[0].joints}
    up, down = [passed[k] for k in (2, 1, 0)], [passed[k] for k in (3, 4, 5)]
    assert up == sorted(up, reverse=True) and down == sorted(down, reverse=True)


@pytest.mark.parametrize(("key", "things"), [("humanoid", "bodies"), ("ragdoll", "bodies"), ("chain", "links")])
def test_figures_have_as_many_parts_as_the_text_counts(key, things):
    sim, text = opened(key)
    word = re.search(rf"of (\w+) {things}", text)
    assert word is not None
    assert len(sim.model.trees.body) == NUMBER_WORDS[word.group(1)]


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
    begun, cubes, table = opened("machines")[0], ("cube", "cube 2", "cube 3"), sim.number("turntable")
    out = [np.linalg.norm((begun.position(name) - begun.position("turntable"))[:2]) for name in cubes]
    shapes = begun.model.shapes
    rubber, top = (shapes.material[shapes.body == body][0] for body in (begun.number("cube"), table))
    holds = begun.model.materials.friction[rubber, top] * G
    assert [holds >= motions.angular_velocity[table, 2] ** 2 * r for r in out] == [True, True, False]
    on = [sim.position(name)[2] > 0.29 for name in cubes]
    assert on == [True, True, False]


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
    assert {JointType(kind) for kind in sim.model.joints.type} == {JointType.HINGE}
    assert np.abs(sim.model.joints.axis[:, 0, 2]) == pytest.approx([1.0] * 4)
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


def test_the_chain_winds_around_the_peg_and_its_end_is_flung_faster_than_it_could_fall():
    """Held at its first link and level. Seen from the peg the end goes round by more than half a turn. At times it is
    faster than what has fallen from the first height to the floor, √(2 g H)."""
    sim, text = opened("chain")
    assert "sixteen links" in text and len(sim.q) == 16 and np.ptp(sim.state.bodies.x[1:, 2]) < 1e-9
    assert sim.labels.joints and int(sim.model.joints.parent[0]) == sim.number("stand")
    rod = np.flatnonzero((sim.model.shapes.body == 0) & (sim.model.shapes.kind == ShapeKind.CYLINDER))[0]
    peg, start = sim.model.shapes.position[rod][[0, 2]], sim.position("link 16")[2]
    turned, last, fastest, most = 0.0, None, 0.0, 0.0
    while sim.time < 1.2:
        sim.step()
        x, z = sim.position("link 16")[[0, 2]] - peg
        now = np.arctan2(z, x)
        turned += 0.0 if last is None else (now - last + np.pi) % (2.0 * np.pi) - np.pi
        last, most = now, max(most, abs(turned))
        fastest = max(fastest, float(np.linalg.norm(sim.velocity("link 16"))))
    assert most > np.pi and fastest > np.sqrt(2.0 * G * start)


def test_the_pendulums_joints_hold_in_two_angles_and_part_in_twelve_velocities():
    """Left 0 by construction; right, without a cure, centimetres within some seconds."""
    sim, _ = opened("double_pendulum")
    (other,) = scene("double_pendulum").sides(sim.settings)[1:]
    assert other.coordinates == "maximal" and other.settings.joint_cure == "none"
    apart = Simulation(scene("double_pendulum").with_coordinates("maximal"))
    assert (len(sim.q), len(sim.v), len(apart.v)) == (2, 2, 12) and not sim.model.joints.damping.any()
    apart.set(joint_cure="none")
    for half in (sim, apart):
        half.run(2.0)
    assert sim.info.joint_error == 0.0 and apart.info.joint_error > 0.01
    apart.reset()
    apart.set(joint_cure="projection")
    apart.run(2.0)
    assert apart.info.joint_error < 1e-9


def test_the_smallest_difference_between_two_double_pendulums_grows_until_they_go_different_ways():
    """10⁻⁹ degrees at the elbow: within half a minute the bars are some decimetres from where they would be."""
    tables = scene("double_pendulum").tables.model_dump(exclude_none=True)
    tables["joint"][1]["position"] = 20.0 + 1e-9
    one, other = opened("double_pendulum")[0], Simulation(Scene.from_dict(tables))
    away = []
    for _ in range(30):
        one.run(one.time + 1.0)
        other.run(other.time + 1.0)
        away.append(np.abs(one.state.bodies.x - other.state.bodies.x).max())
    assert away[0] < 1e-9 and away[4] > away[0] and max(away) > 0.3


def test_the_gyroscope_nods_and_a_slower_one_sinks():
    """On a ball joint. Let go at rest it nods: its centre goes down and up again, by less than a third of its arm, with
    a tenth of the spin by more than half of it."""
    sim, _ = opened("gyroscope")
    assert sim.model.joints.type.tolist() == [JointType.BALL]
    lows = {}
    for part in (1.0, 0.1):
        sim.reset()
        sim.state.joints.v[:] *= part
        start, height = sim.position("wheel")[2], []
        while sim.time < 1.5:
            sim.step()
            height.append(sim.position("wheel")[2])
        lows[part] = start - min(height)
        if part == 1.0:
            height = np.array(height)
            assert ((height[1:-1] < height[:-2]) & (height[1:-1] < height[2:])).sum() >= 3
            assert height.max() > start - 1e-4
    assert 0.0 < lows[1.0] < 0.14 / 3.0 and lows[0.1] > 0.07


def test_the_humanoid_falls_and_comes_to_one_limit_after_the_other():
    """Ball joints, hinges, universal joints. Each axis with limits, the angle of a ball too: when it first comes within
    a hundredth of a degree of an end at which it did not begin."""
    sim, text = opened("humanoid")
    assert {JointType(k) for k in sim.model.joints.type} >= {JointType.BALL, JointType.HINGE, JointType.UNIVERSAL}
    ends = [sim.joint(name).type for name in sim.labels.joints if "wrist" in name or "ankle" in name]
    assert ends == ["universal"] * 4
    assert "A slight push is enough" in text and 0.0 < np.abs(sim.state.bodies.v).max() < 0.5
    begun, reached, start = at_limits(sim), {}, sim.position("head")[2]
    while sim.time < 1.2:
        sim.step()
        for which in at_limits(sim) - begun:
            reached.setdefault(which, sim.time)
    assert sim.position("head")[2] < 0.25 * start
    assert len(reached) >= 4 and len(set(reached.values())) >= 4


def at_limits(sim):
    """(joint, axis, end) of all limits that are reached."""
    joints, found = sim.model.joints, set()
    for row, name in enumerate(sim.labels.joints):
        place = np.atleast_1d(sim.joint(name).position)
        if joints.type[row] == JointType.BALL:
            place = np.array([2.0 * np.arctan2(np.linalg.norm(place[1:]), abs(place[0]))])
        for axis, q in enumerate(place[:2]):
            found |= {(row, axis, end) for end, limit in ((0, joints.lower[row, axis]), (1, joints.upper[row, axis]))
                      if abs(q - limit) < np.radians(0.01)}
    return found


def test_the_ragdoll_goes_down_the_stairs_with_its_joints_in_their_ranges():
    """Ball joints and hinges; shoulders, elbows, hips and knees have ranges, and no step leaves one by a degree."""
    sim, _ = opened("ragdoll")
    joints = sim.model.joints
    assert {JointType(k) for k in joints.type} <= {JointType.BALL, JointType.HINGE, JointType.FREE}
    ranged = {name for row, name in enumerate(sim.labels.joints) if np.isfinite(joints.upper[row]).any()}
    assert all(any(word in name for name in ranged) for word in ("shoulder", "elbow", "hip", "knee"))
    start = sim.state.bodies.x[sim.model.trees.body, 2].mean()
    worst = 0.0
    while sim.time < 2.5:
        sim.step()
        for row, name in enumerate(sim.labels.joints):
            place = np.atleast_1d(sim.joint(name).position)
            if joints.type[row] == JointType.BALL:
                place = np.array([2.0 * np.arctan2(np.linalg.norm(place[1:]), abs(place[0]))])
            elif joints.type[row] != JointType.HINGE:
                continue
            worst = max(worst, place[0] - joints.upper[row, 0], joints.lower[row, 0] - place[0])
    assert worst < np.radians(1.0)
    assert sim.state.bodies.x[sim.model.trees.body, 2].mean() < start - 0.5


def test_the_motion_of_the_linkages_does_not_know_of_the_constraints_that_are_too_many():
    """A loop of four plane joints takes 4·5 of 3·6 velocities and keeps one. A ball in place of a hinge takes away two
    of the three that are too many, and all move as before, to what projection leaves: 1e-12 of a joint."""
    loops = [opened("linkages")[0]]
    assert not loops[0].model.joints.generalized.any() and len(loops[0].model.joints.type) == 8
    tables = scene("linkages").tables.model_dump(exclude_none=True)
    for row in (1, 5):
        tables["joint"][row]["type"] = "ball"
        del tables["joint"][row]["axis"]
    loops.append(Simulation(Scene.from_dict(tables)))
    for sim in loops:
        sim.run(1.0)
    assert np.abs(loops[0].state.bodies.v).max() > 0.1
    np.testing.assert_allclose(loops[1].state.bodies.x, loops[0].state.bodies.x, rtol=0, atol=1e-9)


def test_in_event_driven_the_linkages_tell_where_a_motor_comes_to_its_limit_and_where_it_holds_again():
    sim, text = opened("linkages")
    assert "gives all of its 20 N m" in text and sim.model.joints.motor_limit[[0, 4]].tolist() == [20.0, 20.0]
    sim.set(method="event_driven")
    while sim.time < 3.0 and len({event.kind for event in sim.events} & MOTORS) < 2:
        sim.step()
    assert {event.kind for event in sim.events} >= MOTORS


def test_a_hinge_holds_back_a_bat_that_is_hit_high_pushes_one_hit_at_its_tip_and_feels_nothing_between():
    """To the impulse P at r below the hinge of a uniform rod the hinge adds P (3 r/(2 l) - 1): 0 at r = 2/3 l. The bats
    have ends that are round, which is a thousandth."""
    sim, _ = opened("percussion")
    while not sim.events:
        sim.step()
    blows = {sim.labels.bodies[max(e.bodies) - 1]: e for e in sim.events if e.kind == "impact"}
    assert len(blows) == 3 and len({e.t for e in blows.values()}) == 1
    hinges = {sim.labels.bodies[sim.model.joints.child[j.joint]]: j for e in blows.values() for j in e.joints}
    for name, part in (("bat hit near", 1 / 3), ("bat hit at the centre", 2 / 3), ("bat hit far", 1.0)):
        event, hinge = next((e, hinges[name]) for e in blows.values() if sim.number(name) in e.bodies)
        blow = np.array(event.impulse) * (1.0 if event.bodies[1] == sim.number(name) else -1.0)
        given = np.array(hinge.impulse) @ blow / (blow @ blow)
        assert given == pytest.approx(1.5 * part - 1.0, abs=1e-3)


def test_the_nuts_fall_as_fast_as_the_text_says_and_their_spin_turns_round_with_the_bounce():
    """And the finer the thread the more of the energy is in the spin: (2π/p)² I of m + (2π/p)² I."""
    sim, text = opened("screws")
    steep, fine = numbers(r"at ([\d.]+) m/s², the fine one at ([\d.]+) m/s²", text)
    pitch = np.array(numbers(r"pitch ([\d.]+), ([\d.]+) and ([\d.]+) m", text))
    nuts = [sim.number(name) for name in sim.labels.bodies if name.startswith("nut")]
    while sim.time < 0.25:
        sim.step()
    rate = -sim.state.bodies.v[nuts, 2] / sim.time
    assert [rate[0], rate[2]] == pytest.approx([steep, fine], abs=0.05 if steep > 1.0 else 0.005)
    assert rate[2] == pytest.approx(fine, abs=0.005)
    spin = 0.5 * sim.model.inertia[nuts].max(axis=1) * sim.state.bodies.w[nuts, 2] ** 2
    part = spin / (spin + 0.5 * sim.model.mass[nuts] * sim.state.bodies.v[nuts, 2] ** 2)
    assert (np.diff(pitch) < 0.0).all() and (np.diff(part) > 0.0).all()
    assert not sim.contacts.friction.any()


def test_the_handle_flips_over_and_back_without_contact_or_force():
    """How L and the energy stay: `claims/test_body_state.py`."""
    sim, _ = opened("t_handle")
    moments = sim.model.inertia[0]
    spin = quat_to_matrix(sim.state.bodies.q[0]).T @ sim.angular_velocity("T-handle")
    assert np.argmax(np.abs(spin)) == np.argsort(moments)[1]
    axis = int(np.argmax(np.abs(spin)))
    along = []
    while sim.time < 6.0:
        sim.step()
        along.append((quat_to_matrix(sim.state.bodies.q[0]).T @ sim.angular_velocity("T-handle"))[axis])
    flips = np.count_nonzero(np.diff(np.sign(along)))
    assert flips >= 2 and len(sim.contacts.gap) == 0 and sim.events == []


@pytest.mark.parametrize("more", [0.95, 1.05])
def test_the_walking_toy_forgets_how_it_started(more):
    """No motor. All that moves is 5 % faster or slower at first, and in the second step the legs that swing are so by
    more than 0.2 rad/s. Later ones differ by where within a step of h their strikes fall, and not in their mean."""
    tables, speeds = scene("walking_toy").tables.model_dump(exclude_none=True), []
    for part in (1.0, more):
        for table in (*tables["body"], *tables["joint"]):
            for rate in {"velocity", "angular_velocity"} & table.keys():
                table[rate] = (part * np.array(table[rate])).tolist()
        sim = Simulation(Scene.from_dict(tables))
        assert not np.isfinite(sim.model.joints.motor_speed).any() and not sim.model.joints.motor_force.any()
        speeds.append(passing(sim, 5.6))
    away = np.array(speeds[1][:12]) - speeds[0][:12]
    assert abs(away[1]) > 0.2 and abs(away[6:].mean()) < 0.25 * abs(away[1])


def passing(sim, until):
    """Angular velocities [rad/s] of the swinging legs where one pair passes the other."""
    found, before = [], 0.0
    while sim.time < until:
        sim.step()
        q = sim.state.bodies.q[[sim.number("outer legs"), sim.number("inner legs")]]
        apart = float(np.diff(2.0 * np.arctan2(q[:, 2], q[:, 0]))[0])
        if before * apart < 0.0:
            found.append(max(abs(sim.angular_velocity(name)[1]) for name in ("outer legs", "inner legs")))
        before = apart
    return found


def test_welds_carry_what_hangs_on_them_and_a_blow_by_its_distance_and_a_welded_rod_swings_as_one():
    """Of n pieces of the mass m and length a that hang on a weld: n m g, and n² m g a/2. A blow P at the distance l
    from it: P l. Three pieces of a rod of the length L that are one swing about its end with the period of small
    angles, 2π √(2 L/3 g), times 1 + θ²/16; the square section of side b adds b²/8 L² of it, 6e-4."""
    sim, text = opened("welds")
    welds = [sim.labels.joints.index(f"{name} weld") for name in ("inner", "middle", "outer")]
    assert "of three pieces is welded to a wall by fixed joints" in text and "two rods of three pieces" in text
    sim.step()
    told = look(sim, Inspect("joints")).joints
    assert told is not None
    forces, moments = (np.linalg.norm(a[welds], axis=1) for a in (told.force, told.moment))
    hanging = np.array([3, 2, 1])
    assert forces == pytest.approx(hanging * 2.0 * G, rel=1e-9)
    assert moments == pytest.approx(hanging**2 * G * 0.3, rel=1e-9)
    assert forces == pytest.approx(numbers(r"(58.9), (39.2) and (19.6) N,", text), abs=0.05)
    assert moments == pytest.approx(numbers(r"of (26.5), (11.8) and (2.9) N m", text), abs=0.05)
    assert "as 9 : 4 : 1" in text
    swings, bent, crossed = [], 0.0, []
    while sim.time < 2.5:
        sim.step()
        x, _, z = sim.position("welded bottom") - (1.25, 0.0, 1.3)
        swings.append(np.arctan2(x, -z))
        if len(swings) > 1 and swings[-1] * swings[-2] < 0.0:
            crossed.append(sim.time - sim.settings.h * swings[-1] / (swings[-1] - swings[-2]))
        top, middle, bottom = (sim.position(f"hinged {name}") for name in ("top", "middle", "bottom"))
        turns = [np.arctan2(end[0] - start[0], start[2] - end[2]) for start, end in ((top, middle), (middle, bottom))]
        bent = max(bent, abs(turns[1] - turns[0]))
    period = 2.0 * np.pi * np.sqrt(2.0 * 0.9 / (3.0 * G)) * (1.0 + np.radians(20.0) ** 2 / 16.0)
    assert 2.0 * (crossed[1] - crossed[0]) == pytest.approx(period, rel=2e-3)
    assert 2.0 * (crossed[1] - crossed[0]) == pytest.approx(numbers(r"once in (1.57) s", text)[0], abs=0.005)
    assert np.degrees(bent) == pytest.approx(numbers(r"by up to (10)°", text)[0], abs=0.5)
    blow = next(event for event in sim.events if sim.number("ball") in event.bodies)
    passed = {j.joint: np.linalg.norm(j.moment) for j in blow.joints}
    assert blow.impulse[2] == pytest.approx(numbers(r"ball, (3.85) N s", text)[0], abs=0.005)
    assert [passed[k] for k in welds] == pytest.approx(blow.impulse[2] * np.array([0.85, 0.55, 0.25]), rel=1e-9)


def test_one_universal_joint_makes_the_turn_uneven_and_a_second_one_even_again():
    """ω₂/ω₁ = cos β/(1 - sin² β sin² θ), θ from where the driving shaft's pin is at right angles to both shafts: from
    cos β to 1/cos β, twice a turn."""
    sim, text = opened("universal")
    rate, bend = numbers(r"at a steady ([\d.]+) rad/s.* bent by (\d+)°", text)
    least, most = numbers(r"slower by cos 40° = ([\d.]+), and faster by 1/cos 40° = (\d\.\d+)", text)
    b = np.radians(bend)
    along = np.array([np.cos(b), np.sin(b), 0.0])
    seen, ways = [], []
    while sim.time < 2.0 * np.pi / rate:
        sim.step()
        w = [sim.body(name).angular_velocity for name in ("driver", "driven", "first", "middle", "last")]
        seen.append([w[0][0], w[1] @ along, w[2][0], w[3] @ along, w[4][0]])
        theta = rate * sim.time
        ways.append(np.cos(b) / (1.0 - np.sin(b) ** 2 * np.sin(theta) ** 2))
    seen, ways = np.array(seen) / rate, np.array(ways)
    assert (sim.model.joints.generalized == 0).sum() == 2
    np.testing.assert_allclose(seen[:, [0, 2, 4]], 1.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(seen[:, 1], ways, rtol=0, atol=1e-6)
    np.testing.assert_allclose(seen[:, 3], ways, rtol=0, atol=1e-6)
    assert [ways.min(), ways.max()] == pytest.approx([least, most], abs=0.005)
    assert ways.mean() == pytest.approx(1.0, abs=1.0 / len(ways))
    assert np.count_nonzero(np.diff(np.sign(seen[:, 1] - 1.0))) == 4  # slower and faster twice
    assert sim.info.joint_error < 1e-9


def test_machines_on_moving_bases_meet_when_and_as_the_text_says():
    """The fists in one point, the buffers in two at once; ζ⁺ = -e ζ⁻ of the points, with the bases' speeds in ζ⁻. The
    total of the two is (1 + e) v/(m⁻¹), with the inverse masses of both machines along x, of which the left one also
    moves along its oblique rail: T H⁻¹ Tᵀ with H = [[5, 1.2], [1.2, 2]], T = [1, 0.6], and 1/5.5 of the right one."""
    sim, text = opened("moving_bases")
    told = numbers(r"turn at ([\d.]+) rad/s and the trolleys drive at ([\d.]+) and ([\d.]+) m/s", text)
    fists, both = numbers(r"until at ([\d.]+) s their fists meet in one point\. At ([\d.]+) s a boom", text)
    total, near, far = numbers(r"share ([\d.]+) N s as ([\d.]+) m to ([\d.]+) m", text)
    sim.record_history()
    sim.run(1.4)
    first, second = sim.events
    assert [event.kind for event in (first, second)] == ["impact", "impact"]
    assert [first.t, second.t] == pytest.approx([fists, both], abs=5e-3)
    bases = ("left turntable", "left trolley", "right trolley")
    speeds = [sim.angular_velocity(bases[0])[2], sim.velocity(bases[1])[0], -sim.velocity(bases[2])[0]]
    assert speeds == pytest.approx(told, rel=1e-12)  # after the impacts, too
    H = np.array([[5.0, 1.2], [1.2, 2.0]])
    T = np.array([1.0, 0.6])
    P = 1.5 * (told[1] + told[2]) / (T @ np.linalg.solve(H, T) + 1.0 / 5.5)
    assert second.impulse == pytest.approx((P, 0.0, 0.0), rel=1e-9, abs=1e-9) and pytest.approx(P, abs=5e-3) == total
    points = {}
    for event in (first, second):
        sim.seek(event.step)
        view = look(sim, Inspect("impact")).impact
        found = view.zhang.impact
        points[event] = len(found.impulse)
        assert found.status == "solved" and np.abs(found.A @ found.change - found.H).max() < 1e-12
        np.testing.assert_allclose(found.impulse, view.impacts["zhang"].impulse, rtol=1e-10)
        np.testing.assert_allclose(found.H, -(1.0 + view.restitution) * view.contacts.u[::3], rtol=1e-10)
        inner = [sim.labels.joints[j] for j in np.concatenate(view.zhang.joints)]
    assert [points[first], points[second]] == [1, 2]
    assert set(inner) == {"left rail", "oblique rail", "right rail", "pivot"}
    share, place = found.impulse, view.contacts.point[:, 1] - sim.position("beam")[1]
    assert sorted(share / share.sum()) == pytest.approx([far / (near + far), near / (near + far)], rel=1e-9)
    assert sorted(np.abs(place)) == pytest.approx([far, near], rel=1e-9) and abs(share @ place) < 1e-9
    assert abs(found.change[inner.index("pivot")]) < 1e-9


def test_the_arms_on_turntables_are_carried_along_and_swing_out():
    """Hinges and sliders as the text counts them, each carried by a body of given motion: the four of the arms are
    coordinates, the other ones constraints."""
    sim, text = opened("moving_bases")
    assert "Two arms of two hinges each, in generalized coordinates" in text and "their joints are constraints" in text
    arms = {name for j, name in enumerate(sim.labels.joints) if sim.model.joints.generalized[j]}
    assert arms == {f"{side} {joint}" for side in ("left", "right") for joint in ("shoulder", "elbow")}
    assert "a rail across a carriage on a rail" in text
    kinds = [JointType(kind) for kind in sim.model.joints.type.tolist()]
    assert (kinds.count(JointType.HINGE), kinds.count(JointType.SLIDER)) == (5, 3)
    start = {name: sim.angular_velocity(name)[2] for name in ("left arm", "left forearm", "right arm", "right forearm")}
    assert set(start.values()) == {1.2}
    sim.run(0.6)
    assert all(sim.angular_velocity(name)[2] > 0.3 for name in start)
