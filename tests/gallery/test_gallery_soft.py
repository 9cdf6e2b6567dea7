"""What the texts of the gallery's soft contacts say happens in them, each in its own method."""

import numpy as np
import pytest
from gallery_scenes import G, first_tops, numbers, opened, scene

from contactlab.physics.core.model import ShapeKind
from contactlab.physics.look.instant import simulation_at
from contactlab.physics.shapes.shapes import quat_to_matrix
from contactlab.physics.simulation.simulation import Simulation


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
    surfaces, gains = sim.model.materials.surfaces, []
    for plate, ball in sim.model.shapes.material.reshape(-1, 2):
        with np.errstate(divide="ignore"):
            gains.append(1.0 / (1.0 / surfaces[plate, ball, :, :2]).sum(axis=0))  # both surfaces in series
    stiffness, damping = np.transpose(gains)
    assert np.ptp(stiffness) == 0.0 and damping / (2.0 * np.sqrt(stiffness)) == pytest.approx(ratios, rel=1e-3)
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
    assert np.abs(contacts.lam - 0.25 * contacts.lam.sum()).min() > 0.5  # none of them a quarter
    stiffness = 1e3 * np.array(numbers(r"of (\d), (\d), (\d) and (\d) kN/m", text))
    turn = quat_to_matrix(sim.state.bodies.q[sim.number("table")])
    feet = [(turn @ place)[2] for place, k in zip(sim.model.shapes.position, sim.model.shapes.kind, strict=True)
            if k == ShapeKind.SPHERE]
    assert np.argmin(feet) == np.argmin(stiffness)
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


def test_the_corners_of_the_plank_hit_ever_faster_and_end_in_finite_time():
    """At each impact the corners that hit leave with e times their speed, by Newton's law."""
    sim, text = opened("soft_chatter")
    assert "an edge that hits leaves with e times its speed" in text
    sim.record_history()
    sim.run(0.8)
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


def test_the_ball_lets_go_of_the_soft_floor_before_it_is_out_of_it():
    """The force ends where K z = D ż, ż the ball's speed outwards; both surfaces alike. A step tells of its mean."""
    sim, _ = opened("soft_floor", h=1 / 4800)
    assert sim.model.mass[1] == 1.0
    pressed = False
    while not pressed or sim.contacts.lam.sum() > 0.0:
        sim.step()
        pressed |= bool(sim.contacts.lam.sum() > 0.0)
    assert sim.velocity("ball")[2] > 0.0
    K, D = sim.model.materials.surfaces[0, 0, 0, :2]
    inside = 0.15 - sim.position("ball")[2]
    step = sim.velocity("ball")[2] * sim.settings.h
    assert inside == pytest.approx(D * sim.velocity("ball")[2] / K, abs=2.0 * step) and inside > 10.0 * step


def test_with_one_stiffness_the_box_stands_level():
    """With theirs it leans to the soft slab. Friction that stuck while the box settled may hold a couple: its forces at
    half of the height of the box, over the stiffness K Σ x² of the surfaces against leaning."""
    sim, text = opened("soft_halves")
    mass, = numbers(r"box of (\d+) kg", text)
    ratio, = numbers(r"(\d+) times as soft", text)
    K = sim.model.materials.surfaces[:, :, :, 0]
    stiff = sorted(set(K[np.isfinite(K)].tolist()))
    assert sim.model.mass[sim.number("box")] == mass and stiff[-1] / stiff[0] == ratio
    leans = []
    for stiffness in (None, 2e4):
        sim.reset()
        sim.set(stiffness_n=stiffness)
        sim.run(4.0)
        leans.append(quat_to_matrix(sim.state.bodies.q[sim.number("box")])[0, 2])
    c = sim.contacts
    held = np.abs(c.friction_force[:, 0]).sum() * 0.25 / (2e4 * (c.point[:, 0] ** 2).sum())
    assert leans[0] < -0.01 and abs(leans[1]) < held < 1e-3


def test_the_dents_travel_with_the_balls_at_the_depth_of_their_weight():
    """z = m g/K, both surfaces of K in series: 2 m g/K; to 2 %, as long as the start still hums."""
    sim, _ = opened("travelling_dent")
    sim.run(2.0)
    K = sim.model.materials.surfaces[0, 0, 0, 0]
    for name in ("ball 1", "ball 2", "ball 3"):
        assert 0.15 - sim.position(name)[2] == pytest.approx(2.0 * G / K, rel=2e-2)
    start, = numbers(r"roll at (\d) m/s", opened("travelling_dent")[1])
    assert opened("travelling_dent")[0].velocity("ball 1")[0] == start


def test_the_soft_plank_lifts_off_a_few_times_and_hums_at_its_frequency_until_damping_ends_it():
    """Four surfaces under m: ω₀² = 4 K/m, ζ = 4 D/(2 √(4 K m)); from one low to the next the swing keeps
    exp(-2π ζ/√(1 - ζ²)). Before each time that it lifts off it was pressed deeper than 2 m g/(4 K)."""
    scene_, sim = scene("soft_chatter"), opened("soft_chatter")[0]
    (side,) = scene_.sides(sim.settings)[1:]
    sim = Simulation(scene_, method="compliant")
    sim.set(stiffness_n=side.settings.stiffness_n, damping_n=side.settings.damping_n)
    K, D, m, h = 4 * 2e4, 4 * 40.0, 4.0, sim.settings.h
    sag, height, depth, flights = m * G / K, [], 0.0, []
    while sim.time < 1.6:
        sim.step()
        height.append(sim.position("plank")[2])
        pressed = sim.contacts.lam.sum() > 0.0
        if not pressed and depth:
            flights.append(depth)
        depth = max(depth, sim.dents.max(initial=0.0)) if pressed else 0.0
    assert 2 <= len(flights) <= 10 and min(flights) > 2.0 * sag
    height = np.array(height[round(0.75 / h):])
    low = 1 + np.flatnonzero((height[1:-1] < height[:-2]) & (height[1:-1] <= height[2:]))[:5]
    ratio = D / (2.0 * np.sqrt(K * m))
    period = 2.0 * np.pi / np.sqrt(K / m * (1.0 - ratio**2))
    assert (low[-1] - low[0]) * h / 4 == pytest.approx(period, abs=h / 4)
    swing = 0.03 - sag - height[low]
    kept = np.exp(-2.0 * np.pi * ratio / np.sqrt(1.0 - ratio**2))
    assert swing[1:4] / swing[:3] == pytest.approx([kept] * 3, rel=0.1)  # lows fall between steps
    assert height[-1] == pytest.approx(0.03 - sag, abs=1e-7)
