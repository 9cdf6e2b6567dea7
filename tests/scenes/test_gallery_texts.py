"""What the texts of gallery scenes say happens in them, each in its own method. Numbers are read from the texts.

Where a number in a text has two digits, it is right to half of the last one.
"""

import re

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.model import movable
from contactlab.physics.look.instant import simulation_at

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
