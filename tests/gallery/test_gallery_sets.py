"""What the texts of the gallery's contact sets say happens in them, each in its own method."""

import numpy as np
import pytest
from gallery_scenes import G, at, first, numbers, of_body, opened, ran, scene

from contactlab.physics.core.model import ShapeKind
from contactlab.physics.look.minimal_set import minimal_set
from contactlab.physics.shapes.shapes import quat_to_matrix


def of_pair(sim, a, b):
    """Rows of the contacts of two bodies."""
    return np.intersect1d(of_body(sim, a), of_body(sim, b))


def test_the_residual_tells_the_glue_from_the_moment_the_spring_carries_the_weight():
    sim, text = opened("glue")
    assert "when the spring reaches m g. From there on the residual in the status line tells them apart" in text
    projected, _ = opened("glue", solver="pgs")
    lifted = np.nan
    while sim.time < 2.0:
        sim.step()
        projected.step()
        assert projected.info.status == "solved" and projected.info.residual < 1e-9
        if np.isnan(lifted) and projected.contacts.lam.sum() == 0.0:
            lifted = projected.time
        if sim.contacts.lam.sum() > 0.0:
            assert sim.info.residual < 1e-9
        else:
            assert sim.info.status == "glued" and sim.info.residual > 1e-4
    pull = 500.0 * 0.2 * lifted + 20.0 * 0.2  # K v t + D v, to two steps
    assert pull == pytest.approx(10.0 * G, abs=500.0 * 0.2 * 2.0 * sim.settings.h)
    assert projected.position("block")[2] > 0.25 and sim.position("block")[2] == pytest.approx(0.2, abs=1e-6)


def test_the_block_leaves_the_shaking_table_when_the_text_says_and_meets_it_again():
    """The other block stays, at forces down to 1 - A ω²/g of its weight."""
    sim, events = ran("shaken_block", 0.6)
    _, text = opened("shaken_block")
    sine, phase, t = numbers(r"= ([\d.]+), at the phase φ = ([\d.]+)° on the way up, .*, ([\d.]+) s after", text)
    losses = [e for e in events if e.kind == "dynamic_loss" and sim.number("block") in e.bodies]
    assert len(losses) >= 4 and {round(e.t, 12) for e in losses[:4]} == {round(losses[0].t, 12)}
    assert losses[0].t == pytest.approx(t, abs=5e-4)
    assert any(e.kind == "impact" and e.t > t + 0.1 and sim.number("block") in e.bodies for e in events)
    there = at(sim, losses[0])
    table, motions = there.number("table"), there.model.motions
    turn = 2 * np.pi * float(motions.frequency[table]) * losses[0].t + float(motions.phase[table])
    assert np.sin(turn) == pytest.approx(sine, abs=5e-3)
    assert np.degrees(np.arcsin(np.sin(turn))) == pytest.approx(phase, abs=0.05)
    assert there.velocity("block")[2] > 0.0
    ways = [100.0 * motions.amplitude[sim.number(name), 2] for name in ("table", "gentle table")]
    assert ways == pytest.approx(numbers(r"down by (\d) cm three .* by ([\d.]+) cm", text), abs=0.05)
    assert motions.frequency[table] == 3.0
    gentle = motions.amplitude[sim.number("gentle table"), 2] * (6.0 * np.pi) ** 2 / G
    assert gentle == pytest.approx(numbers(r"A ω² = ([\d.]+) g", text)[0], abs=0.005)
    again, _ = opened("shaken_block")
    forces = []
    while again.time < 0.35:
        again.step()
        forces.append(again.contacts.lam[of_body(again, "staying block")].sum() / G)
    assert min(forces) == pytest.approx(1.0 - gentle, abs=1e-3)  # λ changes by (ω h)² g/2 a step about its least


def test_the_ladders_leave_the_wall_at_two_thirds_of_their_height_and_keep_their_speed():
    """The force of the wall shrinks to zero there. From then on nothing pushes along the floor."""
    sim, events = ran("ladder", 1.0)
    _, text = opened("ladder")
    starts = [int(n) for n in numbers(r"at rest at (\d+)°, (\d+)° and (\d+)°", text)]
    wanted = numbers(r"sin θ₀, ([\d.]+)°, ([\d.]+)° and ([\d.]+)°", text)
    left = {}
    for start, angle in zip(starts, wanted, strict=True):
        event = next(e for e in events if e.kind == "dynamic_loss"
                     and {sim.number("wall"), sim.number(f"{start}°")} == set(e.bodies))
        there = at(sim, event)
        q = there.state.bodies.q[there.number(f"{start}°")]
        up = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)  # of the rod's axis, body z
        assert np.degrees(np.arcsin(abs(up))) == pytest.approx(angle, abs=0.05)
        assert abs(up) == pytest.approx(2 / 3 * np.sin(np.radians(start)), rel=1e-6)
        left[f"{start}°"] = event.t, there.velocity(f"{start}°")[0]
    again, _ = opened("ladder")
    pushes = {name: [] for name in left}
    assert not again.state.bodies.v.any()
    while again.time < 1.0:
        again.step()
        for name, (t, speed) in left.items():
            if again.time < t:
                pushes[name].append(again.contacts.lam[of_pair(again, "wall", name)].sum())
            elif len(of_pair(again, "floor", name)) == 1:  # until it lies
                assert again.velocity(name)[0] == pytest.approx(speed, rel=1e-9)
    for force in pushes.values():
        assert (np.diff(force[-20:]) < 0.0).all() and force[-1] < 0.2 * max(force)


def test_the_tables_take_one_lcp():
    sim, text = opened("tables")
    assert "one LCP was solved for all the steps so far" in text
    sim.run(1.0)
    assert sim.info.solves == 1
    c, names = sim.contacts, sim.labels.bodies
    for table, legs in (("four legs", 4), ("five legs", 5), ("six legs", 6)):
        mine = [k for k in range(len(c.lam)) if names[c.body_a[k]] == "floor" and names[c.body_b[k]] == table]
        assert (c.current[mine] == 1).sum() == legs and (c.active[mine] == 1).sum() == 3
        load = sim.body(table), sim.body(f"weight on {table.split()[0]}")
        weight = sum(body.mass for body in load) * G
        assert c.lam[mine].sum() == pytest.approx(weight, rel=1e-9)
        centre = sum(body.mass * body.position[:2] for body in load) * G
        assert c.lam[mine] @ c.point[mine, :2] == pytest.approx(centre, rel=1e-6)  # gaps are closed to some 1e-8 m
        assert (c.lam[mine][c.active[mine] == 0] == 0.0).all()
        assert np.linalg.matrix_rank(np.column_stack([np.ones(legs), c.point[mine, :2]]), tol=1e-9) == 3
    assert np.abs(sim.state.bodies.v).max() < 1e-12 and np.abs(sim.state.bodies.w).max() < 1e-12


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


def test_rings_slide_roll_and_rock_on_edges_as_their_text_says():
    """Spins about edges and what is kept of them by formula; the instants are those told. How much of its weight each
    edge bears follows from both being as far aside, however friction shares it."""
    _, text = opened("rings_over_an_edge")
    sim, events = ran("rings_over_an_edge", 8.6)
    over, off, spin, rho, slips, later, kept, rests = numbers(
        r"At ([\d.]+) s its centre.*at ([\d.]+) s it is off, turning with ([\d.]+) rad/s.*the edge, (\d+) mm away"
        r".*slips at ([\d.]+) s and lets go (\d+) ms later.*with (\d+) % of its spin.*after ([\d.]+) s it rests", text)
    rho *= 1e-3

    def told(kind, body):
        number = sim.number(body)
        return [event.t for event in events if event.kind == kind and number in event.bodies]

    blue = np.array(told("dynamic_loss", "ring") + told("geometric_loss", "ring"))
    assert np.abs(blue - over).min() < 1e-6
    assert blue[(blue > over + 1e-3) & (blue < 0.6)] == pytest.approx(off, abs=5e-4)
    sim.seek(round(0.4 / sim.settings.h))
    two = sim.body("ring").contacts
    assert len(two) == 2
    assert [abs(contact.point[0]) for contact in two] == pytest.approx([0.0, 0.0], abs=1e-9)
    sim.seek(round(0.55 / sim.settings.h))
    assert sim.angular_velocity("ring")[1] == pytest.approx(spin, abs=5e-3) and not sim.body("ring").contacts
    sim.seek(round(0.65 / sim.settings.h))
    (x, _, z), square = sim.position("hoop"), sim.model.inertia[sim.number("hoop"), 2] + rho**2
    assert np.hypot(x, z) == pytest.approx(rho, abs=1e-9) and x > 0.1
    assert sim.angular_velocity("hoop")[1] ** 2 == pytest.approx((0.8 / rho) ** 2 + 2.0 * G * (rho - z) / square,
                                                                 rel=1e-6)
    assert told("slip", "hoop")[0] == pytest.approx(slips, abs=5e-4)
    assert told("dynamic_loss", "hoop")[0] - told("slip", "hoop")[0] == pytest.approx(1e-3 * later, abs=5e-4)
    half, hole = 0.05, 0.15
    lean, k2 = np.arcsin(half / hole), sim.model.inertia[sim.number("hanging ring"), 2]
    knock = first(sim, events, "impact", "hanging ring")
    before, after = (at(sim, knock, phase).angular_velocity("hanging ring")[1] for phase in ("before", "at"))
    ratio = (k2 + hole**2 * np.cos(2.0 * lean)) / (k2 + hole**2)
    assert after / before == pytest.approx(ratio, abs=1e-6) and 100.0 * ratio == pytest.approx(kept, abs=0.5)
    knocks = np.diff(told("impact", "hanging ring"))
    assert (np.diff(knocks) < 0.0).all() and len(knocks) > 10
    assert told("impact", "hanging ring")[-1] == pytest.approx(rests, abs=5e-3)
    sim.seek(round(8.6 / sim.settings.h))
    assert np.abs(sim.velocity("hoop")).max() < 1e-9 and np.abs(sim.velocity("hanging ring")).max() < 1e-6
    borne = [contact.force_on("hanging ring")[2] for contact in sim.body("hanging ring").contacts]
    assert borne == pytest.approx([G / 2.0] * 2, rel=1e-6)


def kept_by(sim, name, sides, rounding):
    """The part of its energy that a prism of this scene keeps at a corner, see `claims.test_rolling_polygons`."""
    body, radius = sim.number(name), 0.15
    turn = quat_to_matrix(sim.state.bodies.q[body])
    k = float(turn[1] ** 2 @ sim.model.inertia[body]) / sim.model.mass[body]
    a, half = radius * np.cos(np.pi / sides), (radius - rounding / np.cos(np.pi / sides)) * np.sin(np.pi / sides)
    return ((k + a * a - half * half) / (k + a * a + half * half)) ** 2


def kept_of_regular(sides):
    """The formula of the text: I = m r² (1/2 - sin²(π/n)/3) of a regular polygon."""
    k = 0.5 - np.sin(np.pi / sides) ** 2 / 3.0
    return ((np.cos(2.0 * np.pi / sides) + k) / (1.0 + k)) ** 2


def test_polygons_keep_what_the_text_says_and_come_to_its_speeds():
    """The speed is a mean over many corners, of which the interval may hold one more or less."""
    sim, text = opened("polygons")
    speeds = [np.linalg.norm(sim.velocity(name)) for name in ("disc", "24 sides", "12 sides", "6 sides")]
    assert speeds == pytest.approx(numbers(r"each from ([\d.]+) m/s", text) * 4, abs=1e-6)
    parts = numbers(r"energy: (\d+) % with 24 sides, (\d+) % with 12 and (\d+) % with 6", text)
    parts += numbers(r"that one keeps (\d+) %", text)
    shapes = (("24 sides", 24, 0.0), ("12 sides", 12, 0.0), ("6 sides", 6, 0.0), ("6 round sides", 6, 0.1))
    for part, shape in zip(parts, shapes, strict=True):
        assert 100.0 * kept_by(sim, *shape) == pytest.approx(part, abs=0.5)
    least, most = numbers(r"sides of a prism with their slider, from (\d+) to (\d+)", text)
    assert np.diff([kept_of_regular(sides) for sides in range(int(least), int(most) + 1)]).min() > 0.0
    assert [100.0 * kept_of_regular(sides) for sides in (24, 12, 6)] == pytest.approx(parts[:3], abs=0.5)
    speeds = numbers(r"come to ([\d.]+) and ([\d.]+) m/s", text)
    sim.run(until=2.5)
    before = {name: sim.position(name) for name in sim.labels.bodies}
    sim.run(until=4.0)
    for name, speed in zip(("24 sides", "12 sides"), speeds, strict=True):
        sides = int(name.split()[0])
        allowed = 2.0 * 0.15 * np.sin(np.pi / sides) / 1.5  # a side more or less
        assert np.linalg.norm(sim.position(name) - before[name]) / 1.5 == pytest.approx(speed, abs=allowed)
    assert np.linalg.norm(sim.velocity("6 sides")) < 1e-6 and np.linalg.norm(sim.velocity("6 round sides")) > 1.0


def test_the_bulged_cube_rolls_without_a_blow_and_the_others_keep_what_the_text_says():
    """At a face with flats as wide as 2 f, a from the middle: ((k + a² - f²)/(k + a² + f²))², k = I/m. A superellipse
    of exponent ε is √2^(1 - ε) times as far from its middle at its edges."""
    sim, text = opened("bulge")
    names, half, cubes = ("ball", "bulged cube", "round cube", "cube"), 0.15, ("cube", "round cube")
    thrown, = numbers(r"each from ([\d.]+) m/s", text)
    assert [np.linalg.norm(sim.velocity(name)) for name in names] == pytest.approx([thrown] * 4, abs=1e-6)
    wanted = numbers(r"sharp cube keeps (\d+) % .* orange cube keeps (\d+) %", text)
    for name, rounding, part in zip(cubes, (0.0, 0.1), wanted, strict=True):
        k, flat = sim.model.inertia[sim.number(name), 1] / sim.model.mass[sim.number(name)], half - rounding
        kept = ((k + half**2 - flat**2) / (k + half**2 + flat**2)) ** 2
        assert 100.0 * kept == pytest.approx(part, abs=0.5)
        assert kept_at_first_blow(name) == pytest.approx(kept, abs=1e-6)
    rise, leaves, speed = numbers(r"by (\d+) mm over every edge\. After ([\d.]+) s, at ([\d.]+) m/s", text)
    exponent, = set(sim.model.shapes.exponents[sim.model.shapes.body == sim.number("bulged cube")][0])
    assert 1e3 * half * (2.0 ** (0.5 - 0.5 * exponent) - 1.0) == pytest.approx(rise, abs=0.5)
    start = {name: energy_of(sim, name) for name in names}
    over = []
    while sim.time < leaves - 0.05:
        sim.step()
        over.append(sim.position("bulged cube") @ normal_of(sim))
    assert max(over) - half == pytest.approx(1e-3 * rise, abs=1e-3) and min(over) == pytest.approx(half, abs=1e-3)
    for name in ("ball", "bulged cube"):
        assert energy_of(sim, name) == pytest.approx(start[name], abs=1e-4)
        assert not any(sim.number(name) in e.bodies for e in sim.events if e.kind in ("impact", "dynamic_loss"))
    assert np.linalg.norm(sim.velocity("cube")) < 1e-6
    sim.run(until=leaves + 0.05)
    loss = next(e for e in sim.events if e.kind == "dynamic_loss" and sim.number("bulged cube") in e.bodies)
    assert loss.t == pytest.approx(leaves, abs=0.05)
    assert np.linalg.norm(sim.velocity("bulged cube")) == pytest.approx(speed, abs=0.05)
    sim.run(until=4.0)
    blows = [e.t for e in sim.events if e.kind == "impact" and sim.number("round cube") in e.bodies]
    assert len(blows) >= 8 and blows[-1] > 3.0
    assert any(e.kind == "impact" and e.t > loss.t and sim.number("bulged cube") in e.bodies for e in sim.events)


def normal_of(sim):
    """Of the slope."""
    return quat_to_matrix(sim.state.bodies.q[sim.number("slope")])[:, 2]


def kept_at_first_blow(name):
    """The part of its kinetic energy that a cube keeps at its first blow."""
    sim, events = ran("bulge", 0.1)
    blow = first(sim, events, "impact", name)
    before = at(sim, blow, "before")
    kinetic = energy_of(before, name) - before.model.mass[before.number(name)] * G * before.position(name)[2]
    return 1.0 - (blow.energy_before - blow.energy_after) / kinetic


def test_the_block_in_the_round_hollow_loses_nothing_and_the_other_what_the_text_says():
    sim, text = opened("hollows")
    lost, still = numbers(r"loses ([\d.]+) J in its blows and lies still after ([\d.]+) s", text)
    kinds = sim.model.shapes.kind[sim.model.shapes.body == sim.number("round hollow")]
    assert kinds.tolist() == [ShapeKind.PIPE] and sim.model.shapes.size[0, 0] == numbers(r"of radius (\d) m", text)[0]
    flats = sim.model.shapes.orientation[sim.model.shapes.body == sim.number("faceted hollow")]
    turned = np.sort(2.0 * np.degrees(np.arctan2(flats[:, 2], flats[:, 0])))
    assert np.diff(turned) == pytest.approx(numbers(r"made of flats, (\d+)° apart", text) * (len(flats) - 1))
    start = sim.energy().total
    sim.run(until=still - 0.02)
    assert np.linalg.norm(sim.velocity("faceted")) > 1e-3
    sim.run(until=still + 0.01)
    assert np.linalg.norm(sim.velocity("faceted")) < 1e-3
    assert start - sim.energy().total == pytest.approx(lost, abs=0.005)
    struck = {body for event in sim.events if event.kind == "impact" for body in event.bodies}
    assert sim.number("faceted") in struck and sim.number("round") not in struck
    sim.run(until=3.0)  # of the others nothing is lost
    assert start - sim.energy().total == pytest.approx(lost, abs=0.005)


def test_round_edges_of_the_same_flats_do_what_the_round_hollow_does():
    """Arcs and flats have their tangents in common, so that nothing of a block's velocity is turned at once."""
    sim, text = opened("hollows")
    shapes, radius = sim.model.shapes, numbers(r"with a radius of ([\d.]+) m", text)[0]
    flats, mended = (np.flatnonzero(shapes.body == sim.number(name))
                     for name in ("faceted hollow", "hollow with round edges"))
    same = mended[: len(flats)]
    assert (shapes.size[same] == shapes.size[flats]).all()
    assert (shapes.position[same] - shapes.position[flats]) == pytest.approx(0.0, abs=1e-12)
    arcs = mended[len(flats):]
    assert len(arcs) == len(flats) - 1 and (shapes.size[arcs, 0] == radius).all()
    start = energy_of(sim, "round edges")
    turned = 0
    while sim.time < 3.0:
        before = sim.velocity("round edges")[0]
        sim.step()
        turned += before * sim.velocity("round edges")[0] < 0.0
        assert energy_of(sim, "round edges") == pytest.approx(start, abs=1e-5)
    assert turned >= 2


def energy_of(sim, name):
    """Kinetic and potential energy of a body [J]."""
    body, state = sim.number(name), sim.state.bodies
    spin = quat_to_matrix(state.q[body]).T @ state.w[body]
    kinetic = sim.model.mass[body] * state.v[body] @ state.v[body] + spin @ (sim.model.inertia[body] * spin)
    return 0.5 * float(kinetic) + float(sim.model.mass[body]) * G * float(state.x[body, 2])


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
        current = contacts.current == 1
        assert minimal_set(contacts, sim.model.kind)[current].all()  # none follows from others
    assert np.linalg.norm(sim.angular_velocity("coin")) > 5.0  # it whirls


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


def test_the_nut_sits_on_the_head_and_its_hull_stays_on_the_tip():
    """The head ends at 6 cm and the shaft at 36 cm; both nuts are 6 cm high. On its way the nut is pushed by the
    side of the shaft, and at rest what holds it up is its weight."""
    sim, text = opened("nut_and_bolt")
    clearance, = numbers(r"leaves the shaft (\d+) mm", text)
    weight, = numbers(r"carries its (\d+) N", text)
    nut = sim.number("nut")
    inner = min(point[0] for point in scene("nut_and_bolt").tables.body[nut].shape[0].points)
    assert inner - scene("nut_and_bolt").tables.body[1].shape[1].radius == pytest.approx(1e-3 * clearance)
    assert sim.model.mass[nut] == pytest.approx(sim.model.mass[nut + 1], rel=1e-4)
    at_the_side = 0
    for _ in range(120):
        sim.step()
        at_the_side += any(abs(normal[2]) < 0.1 and force > 0.0 for normal, force in held(sim, nut))
    assert at_the_side > 1
    sim.run(until=1.0)
    overlap = 1e-4  # [m] that time stepping leaves
    assert sim.position("nut")[2] == pytest.approx(0.06 + 0.03, abs=overlap)
    assert sim.position("nut as a hull")[2] == pytest.approx(0.36 + 0.03, abs=overlap)
    assert np.linalg.norm(sim.position("nut")[:2] - sim.position("bolt")[:2]) < 1e-3 * clearance / np.cos(np.pi / 6)
    assert np.abs(sim.state.bodies.v).max() < 1e-9
    assert sim.model.mass[nut] * 9.81 == pytest.approx(weight, abs=0.5)
    assert sum(force * normal[2] for normal, force in held(sim, nut)) == pytest.approx(weight, abs=0.5)


def test_cups_come_to_rest_in_cups_and_their_hulls_on_hulls():
    """A cup of scale s has a bottom 16 mm s thick and is 200 mm s high; time stepping leaves a tenth of a millimetre of
    overlap."""
    sim, text = opened("cups")
    triangles, = numbers(r"of (\d+) triangles", text)
    nested = numbers(r"on its bottom, (\d+) mm up[^.]* (\d+) mm up", text)
    stacked = numbers(r"on its rim, (\d+) mm up, and (\d+) mm", text)
    weight, = numbers(r"carries (\d+) N", text)
    meshes, names = sim.model.meshes, ("large cup", "middle cup", "small cup")
    assert (np.diff(meshes.triangle_start) == triangles).all() and len(meshes.triangle_start) > 1
    assert [sim.model.mass[sim.number(name)] for name in names] == pytest.approx(
        [sim.model.mass[sim.number(f"{name} as a hull")] for name in names], rel=1e-12)
    at_the_wall = False
    while sim.time < 1.5:
        sim.step()
        touched = held(sim, sim.number("middle cup"))
        at_the_wall |= any(abs(normal[2]) < 0.5 and force > 0.0 for normal, force in touched)
    assert at_the_wall
    bottoms = np.cumsum([0.0, 0.016, 0.016 * 0.78])
    rims = np.cumsum([0.0, 0.2, 0.2 * 0.78])
    for kind, heights, told in (("", bottoms, nested), (" as a hull", rims, stacked)):
        rests = [sim.position(name + kind)[2] for name in names]
        assert rests == pytest.approx(heights, abs=1e-4 * 2)
        assert np.round(1e3 * heights[1:]).tolist() == told
        assert sum(force * normal[2] for normal, force in held(sim, sim.number("large cup" + kind))
                   if normal[2] > 0.0) == pytest.approx(weight, abs=0.5)
    assert np.abs(sim.state.bodies.v).max() < 1e-9


def test_a_nut_of_parts_that_rests_keeps_its_contacts():
    """Neighbouring parts share corners, and more than four corners of a part touch the head, all at one height but for
    rounding: were the deepest chosen among these, a contact would come or go every other step."""
    sim, _ = opened("nut_and_bolt")
    sim.run(until=1.0)
    before, known = len(sim.events), sim.contacts.key[: sim.contacts.count[0]].tolist()
    sim.run(until=2.0)
    assert len(sim.events) == before
    assert sim.contacts.key[: sim.contacts.count[0]].tolist() == known


def held(sim, body):
    """Normal, towards the body, and force of all of its contacts."""
    c, count = sim.contacts, int(sim.contacts.count[0])
    return [(c.normal[k] * (1.0 if c.body_b[k] == body else -1.0), c.lam[k])
            for k in range(count) if body in (c.body_a[k], c.body_b[k])]


def test_the_balls_in_the_valleys_rise_as_high_as_the_text_says():
    """The greatest height over the lowest place in the tenth second, in which each ball turns once at least."""
    sim, text = opened("valleys")
    cells = [float(table.shape[0].cells[0]) for table in scene("valleys").tables.body[:3]]
    assert cells == numbers(r"of (\d+), (\d+) and (\d+) cells", text)
    assert len({table.shape[0].formula for table in scene("valleys").tables.body[:3]}) == 1
    said = numbers(r"8 cells still rises (\d+) cm[^.]* 24 cells (\d+) cm[^.]* 120 cells (\d+) cm", text)
    sim.run(until=9.0)
    top = dict.fromkeys("abc", 0.0)
    while sim.time < 10.0:
        sim.run(until=sim.time + 0.02)
        top = {name: max(high, sim.position(name)[2] - 0.08) for name, high in top.items()}
    assert [100.0 * high for high in top.values()] == pytest.approx(said, abs=0.6)


def test_eight_contacts_have_a_matrix_of_rank_three_and_three_that_carry():
    """On smooth rails three motions are forbidden: down, and turns about two level axes. Any forces with the same sum
    and moments would do: what M leaves open is what changes neither."""
    sim, _ = opened("eight_contacts")
    sim.run(0.1)
    M, c = sim.problem().M, sim.contacts
    assert M.shape == (8, 8) and np.linalg.matrix_rank(M, tol=1e-9) == 3
    assert c.current.tolist() == [1] * 8 and c.active.sum() == 3
    assert (c.lam[c.active == 0] == 0.0).all()
    assert c.lam.sum() == pytest.approx(sim.body("box").mass * G, rel=1e-9)
    loads = np.vstack([np.ones(8), c.point[:, :2].T])
    free = np.linalg.svd(M)[2][3:]
    assert np.abs(loads @ free.T).max() < 1e-9


def test_two_contacts_of_the_slot_share_the_weight_as_one_equation_leaves_it():
    """Between the flat walls M has the rank 1 of two contacts, and beyond them d₁ + d₂ < 0. The way there in
    `claims/test_event_driven_curved.py`."""
    sim, text = opened("slot")
    sim.run(0.1)
    problem = sim.problem()
    assert problem.M.shape == (2, 2) and np.linalg.matrix_rank(problem.M, tol=1e-9) == 1
    normals = sim.contacts.normal
    assert normals[0] @ normals[1] == pytest.approx(-1.0, abs=1e-12)  # the walls face each other
    assert sim.velocity("ball") == pytest.approx((2.0, 0.0, 0.0), abs=1e-9)
    sim.run(0.27)
    assert sim.events[0].kind == "inconsistent"
    assert numbers(r"by a hair, (\d) μm", text) == [1.0]  # 0.5 μm at each wall, as claimed there


def test_the_balls_ring_and_links_of_tori_hold_and_swing_as_the_text_says():
    """A ball of radius s on the circle of ℓ = R - r - s within the ring, from 42°: 4 K(sin² 21°) √(7 ℓ/(5 g)), to 1 %
    as time stepping leaves it. It stands on a ridge, for the tube curves away to both sides: what is off the middle by
    rounding grows until it rolls off. The ring goes to and fro about its peg."""
    sim, text = opened("rings")
    assert "the least thing makes it roll off to the side after a few swings" in text
    place = sim.position("loop")
    angle, ring, before = [], [], []
    while sim.time < 6.0:
        sim.step()
        out = sim.position("ball") - place
        angle.append(np.arctan2(out[0], -out[2]))
        ring.append(sim.position("ring")[0])
        before.append(abs(out[1]))
    angle, h = np.array(angle), sim.settings.h
    there = np.flatnonzero(np.array(before) < 1e-3)[-1]
    down = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    down = down[down < there]
    times = (down + 1 + angle[down] / (angle[down] - angle[down + 1])) * h
    reach = 0.4 - 0.06 - 0.07
    assert np.diff(times)[0] == pytest.approx(4.0 * np.sqrt(7 / 5 * reach / G) * 1.62403, rel=0.01)
    assert 2 <= len(times) <= 8 and before[-1] > 0.3  # swings, and where it is then
    ring = np.array(ring)
    assert ((ring[:-1] > 0.0) & (ring[1:] <= 0.0)).sum() >= 3 and 0.05 < np.ptp(ring) < 0.3


def test_the_fourth_foot_takes_over_when_the_text_says_and_the_table_does_not_move():
    """Where the centre of pressure, at 20/50 of the load's place, is on the line between two of the three feet that
    carry; their forces are positive until then."""
    sim, text = opened("wandering_load")
    (told,) = numbers(r"At ([\d.]+) s the load crosses the line", text)
    sim.step()
    sim.record_history()
    count, place, feet = sim.event_count, sim.position("table"), of_pair(sim, "table", "floor")
    first_active, solves = sim.contacts.active[feet].copy(), sim.info.solves
    assert len(feet) == 4 and sim.contacts.current[feet].all() and first_active.sum() == 3 and solves == 1
    while sim.time < told - 0.01:
        sim.step()
        feet = of_pair(sim, "table", "floor")
        assert np.array_equal(sim.contacts.active[feet], first_active) and sim.info.solves == 1
        assert (sim.contacts.lam[feet][first_active == 1] > 0.0).all()
    sim.run(2.3)
    (change,) = sim.latest_events(sim.event_count - count)
    assert change.kind == "active_set" and change.t == pytest.approx(told, abs=5e-3)
    speed = sim.velocity("load")[0]
    pressure = 0.4 * np.array([-0.5 + speed * change.t, 0.14])
    assert pressure[1] / pressure[0] == pytest.approx(0.35 / 0.6, abs=1e-9)
    feet = of_pair(sim, "table", "floor")
    now = sim.contacts.active[feet]
    assert sim.contacts.current[feet].all() and now.sum() == 3 and (now != first_active).sum() == 2
    assert sim.info.solves == 2 and np.abs(sim.position("table") - place).max() < 1e-9
