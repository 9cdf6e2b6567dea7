"""Claims about what stands, by `time_stepping` as it comes: small islands of contacts are solved, not swept.

At rest the velocities after a step are those of the equilibrium, zero, but for the residual r of the step's contact
problem; positions then move by r h a step. The default ends at r <= 1e-13 g h or where rounding lets it get no further:
g h = 0.04 m/s, so 1e-13 to 1e-11 m a second where impulses are of the size of the weights.
"""

import math

import numpy as np
import pytest
from contact_scenes import ball, block, ground, simulate

STILL = 1e-9  # m: what may be moved in the seconds simulated


def drift(sim, names, seconds):
    """The farthest that a body gets from its place [m], and the worst residual [m/s]."""
    places, worst = {name: np.array(sim.position(name)) for name in names}, 0.0
    for _ in range(round(240 * seconds)):
        sim.step()
        worst = max(worst, sim.info.residual)
        assert sim.info.status == "solved"
    return max(np.linalg.norm(sim.position(name) - place) for name, place in places.items()), worst


@pytest.mark.parametrize(("count", "seconds"), [(20, 60), (40, 10)])
def test_a_tower_of_equal_boxes_stands(count, seconds):
    """500 kg/m³, μ = 0.5: sweeps let its top wander by centimetres within seconds."""
    names = [f"b{i}" for i in range(count)]
    boxes = [block(name, (0, 0, 0.25 + 0.5 * i), mass=62.5) for i, name in enumerate(names)]
    moved, residual = drift(simulate(ground(), *boxes), names, seconds)
    assert moved <= STILL
    assert residual <= 1e-10 * 9.81 / 240


def test_one_gram_carries_a_ton():
    """A ratio of 1e6: u = M λ has terms of λ/m = 4e4 m/s, whose rounding 1e-16 is 4e-12 m/s."""
    small, large = block("small", (0, 0, 0.05), (0.1,) * 3, 1e-3), block("large", (0, 0, 0.6), (1.0,) * 3, 1000.0)
    assert drift(simulate(ground(), small, large), ["small", "large"], 2)[0] <= STILL


def voussoirs(count):
    """Wedges 0.2 m thick along the catenary z = 1 + cosh 1.2 - cosh x, |x| <= 1.2, cut at right angles to it into equal
    lengths; the first and last, beyond its ends, are fixed."""
    end = math.sinh(1.2)
    x = np.arcsinh(np.linspace(-1, 1, count + 1) * end)
    x = np.concatenate([[2 * x[0] - x[1]], x, [2 * x[-1] - x[-2]]])
    normal = np.stack([np.tanh(x), 1 / np.cosh(x)], 1)
    for i in range(count + 2):
        points = [[float(x[j] + side * normal[j, 0]), y,
                   float(1 + math.cosh(1.2) - math.cosh(x[j]) + side * normal[j, 1])]
                  for j in (i, i + 1) for side in (-0.1, 0.1) for y in (-0.15, 0.15)]
        yield {"name": f"w{i}", "density": 2000.0, "fixed": i in (0, count + 1),
               "shape": [{"type": "hull", "points": points}]}


def test_an_arch_along_a_catenary_stands():
    """The line of thrust of a catenary of uniform weight is the catenary itself, within the wedges and at right angles
    to their joints: no friction is needed, and what there is holds."""
    sim = simulate(*voussoirs(10), mu=0.7)
    sim.run(0.5)  # until the wedges have closed the gaps that rounding left
    assert drift(sim, [f"w{i}" for i in range(1, 11)], 3)[0] <= STILL


def card(name, side, x=0.0, z=0.0):
    """A card that leans by 20° towards the line at x and reaches it with its upper edge, on a floor at z; side = -1
    left, 1 right."""
    lean, thickness, height = math.radians(20), 0.01, 0.5
    across = 0.5 * (thickness * math.cos(lean) + height * math.sin(lean))
    up = 0.5 * (thickness * math.sin(lean) + height * math.cos(lean))
    turn = (math.cos(0.5 * lean), 0.0, -side * math.sin(0.5 * lean), 0.0)
    return block(name, (x + side * across, 0, z + up), (thickness, 0.3, height), 0.1, orientation=turn)


def test_two_cards_that_lean_against_each_other_stand():
    """Moments about the edge on the floor: the weight at the arm h/2 sin 20° - t/2 cos 20°, and the push of the other
    card at the height h cos 20°. So friction at the floor is tan 20°/2 - t/(2 h) = 0.172 of the weight; μ = 0.6."""
    sim = simulate(ground(), card("left", -1), card("right", 1), mu=0.6)
    sim.run(1.0)
    assert drift(sim, ["left", "right"], 3)[0] <= STILL
    contacts = sim.contacts
    floor = np.abs(contacts.normal[: contacts.count[0], 2]) > 0.5
    friction, load = contacts.friction_force[: len(floor)][floor], contacts.lam[: len(floor)][floor]
    share = 0.5 * math.tan(math.radians(20)) - 0.01 / (2 * 0.5)
    assert np.abs(friction[:, 0]).sum() / load.sum() == pytest.approx(share, rel=1e-6)


def test_a_house_of_cards_of_two_storeys_stands():
    """Two pairs, a card across their ridges, and a pair on it. A card that bears a load V at its upper edge alone
    pushes with V tan 20° = 0.36 V; its own weight asks for less. μ = 0.6."""
    lean = math.radians(20)
    ridge = 0.01 * math.sin(lean) + 0.5 * math.cos(lean)
    cards = [card(f"{x:+.1f} {side}", side, x) for x in (-0.2, 0.2) for side in (-1, 1)]
    cards += [block("floor", (0, 0, ridge + 0.005), (0.7, 0.3, 0.01), 0.14)]
    cards += [card(f"upper {side}", side, z=ridge + 0.01) for side in (-1, 1)]
    sim = simulate(ground(), *cards, mu=0.6)
    sim.run(1.0)
    assert drift(sim, [c["name"] for c in cards], 3)[0] <= STILL


def test_an_asymmetric_pile_stands():
    """Eight boxes of different sizes, each off the centre of that below, and a plank on two more."""
    sizes, off = [0.5, 0.4, 0.45, 0.35, 0.3, 0.4, 0.25, 0.3], [0.0, 0.03, 0.01, -0.02, 0.01, 0.04, 0.02, 0.05]
    boxes = [block(f"p{i}", (off[i], -0.5 * off[i], sum(sizes[:i]) + 0.5 * s), (s, 0.9 * s, s), 500 * s**3)
             for i, s in enumerate(sizes)]
    boxes += [block("q0", (0.9, 0.1, 0.2), (0.4, 0.4, 0.4), 30), block("q1", (1.55, 0.12, 0.2), (0.3, 0.4, 0.4), 20),
              block("plank", (1.2, 0.1, 0.425), (1.2, 0.2, 0.05), 8)]
    assert drift(simulate(ground(), *boxes), [b["name"] for b in boxes], 5)[0] <= STILL


# ------------------------------------------------------------------------------------------------------ least forces
def test_redundant_feet_share_alike():
    """A box on four corners, μ = 1: the least forces are a quarter of the weight each, without friction."""
    sim = simulate(ground(), block("box", (0, 0, 0.25), mass=8.0), mu=1.0)
    for _ in range(10):
        sim.step()
    count = int(sim.contacts.count[0])
    assert count == 4
    assert sim.contacts.lam[:count] == pytest.approx(np.full(4, 2.0 * 9.81), rel=1e-9)
    assert np.abs(sim.contacts.friction_force[:count]).max() <= 1e-8 * 8.0 * 9.81


def test_redundant_feet_share_alike_from_the_first_step_on():
    """The first step knows no impulses, so sweeps come first, which load one corner after the other."""
    sim = simulate(ground(), block("box", (0, 0, 0.25), mass=8.0), mu=1.0)
    sim.step()
    assert sim.info.status == "solved"
    lam = sim.contacts.lam[: sim.contacts.count[0]]
    assert len(lam) == 4 and lam == pytest.approx(np.full(4, lam.mean()), rel=1e-9)
    assert np.abs(sim.contacts.friction_force[:4]).max() <= 1e-8 * 8.0 * 9.81


def test_a_box_at_rest_keeps_its_impulses_until_it_is_pushed():
    """They solve the next step too: they are left as they are, to the bit. A push of 1e-9 of the weight is felt."""
    sim = simulate(ground(), block("box", (0, 0, 0.25), mass=8.0), mu=1.0)
    sim.run(0.1)
    before = sim.contacts.lam[:4].copy()
    sim.step()
    assert sim.info.iterations == 0 and (sim.contacts.lam[:4] == before).all()
    sim.apply_force("box", (0.0, 0.0, -1e-9 * 8.0 * 9.81), (0.0, 0.0, 0.25))
    sim.step()
    assert sim.contacts.lam[:4].sum() == pytest.approx(8.0 * 9.81 * (1.0 + 1e-9), rel=1e-13)


def test_a_tripod_turned_by_a_torque_it_bears_loads_its_legs_alike():
    """A torque about the vertical axis through the centre, below μ m g r: by symmetry each leg has a third of the
    weight, and a third of the torque as friction at right angles to its radius r = 0.3 m, M/(3 r)."""
    angle = 2 * np.pi * np.arange(3) / 3
    feet = [{"type": "sphere", "radius": 0.05, "position": [0.3 * float(np.cos(a)), 0.3 * float(np.sin(a)), -0.25]}
            for a in angle]
    tripod = {"name": "tripod", "position": [0.0, 0.0, 0.3], "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "shape": feet}
    sim = simulate(ground(), tripod, mu=0.5)
    moment = 1.5  # N m, of 2.9 that friction could bear
    for _ in range(20):
        for side in (1.0, -1.0):
            sim.apply_force("tripod", (0.0, side * moment, 0.0), (side * 0.5, 0.0, 0.3))
        sim.step()
    contacts = sim.contacts
    assert int(contacts.count[0]) == 3
    assert contacts.lam[:3] == pytest.approx(np.full(3, 2.0 * 9.81 / 3), rel=1e-8)
    assert np.linalg.norm(contacts.friction_force[:3], axis=1) == pytest.approx(np.full(3, moment / 0.9), rel=1e-8)
    assert np.linalg.norm(sim.angular_velocity("tripod")) <= 1e-11


# ---------------------------------------------------------------------------------------------------------- symmetry
@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_box_that_falls_flat_does_not_turn(e, mu):
    """Four corners are hit at once: angular velocity and sideways speed stay zero to rounding, and of all corners one
    event is told for each of the impacts v, e v, e² v … faster than 2 g h, which counts as rest. Without rebound the
    gap closes in one step and the motion ends in the next, which are two."""
    sim = simulate(ground(), block("box", (0, 0, 0.75)), e=e, mu=mu)
    for _ in range(240):
        sim.step()
        assert np.abs(sim.angular_velocity("box")).max() <= 1e-12
        assert np.abs(sim.velocity("box")[:2]).max() <= 1e-12
    fall, rest = math.sqrt(2.0 * 9.81 * 0.5), 2.0 * 9.81 / 240
    impacts = 1 + math.floor(math.log(rest / fall) / math.log(e)) if e > 0.0 else 2
    assert [event.kind for event in sim.events] == ["impact"] * impacts


@pytest.mark.parametrize("e", [0.0, 1.0])
def test_a_ball_that_hits_two_at_once_goes_straight_on(e):
    """Two balls side by side, μ = 0: what the hit does is symmetric to the line of the first ball, as it is itself."""
    balls = [ball("cue", (-1, 0, 0), velocity=(2, 0, 0)), ball("left", (0, 0.1001, 0)), ball("right", (0, -0.1001, 0))]
    sim = simulate(*balls, e=e, mu=0.0, gravity=(0, 0, 0))
    sim.run(1.0)
    assert sim.velocity("left")[0] > 0.5
    assert abs(sim.velocity("cue")[1]) <= 1e-12
    assert sim.velocity("left")[:2] == pytest.approx(sim.velocity("right")[:2] * [1.0, -1.0], abs=1e-12)


# ------------------------------------------------------------------------------------------------------ what is said
def test_solved_is_what_the_residual_says():
    """Sweeps, one a step, over a tower of ten boxes leave a residual, and are not said to have solved it. Over a single
    box they solve it, and are said to."""
    boxes = [block(f"b{i}", (0, 0, 0.25 + 0.5 * i)) for i in range(10)]
    few, many = simulate(ground(), *boxes, solver="pgs", iterations=1), simulate(ground(), boxes[0], solver="pgs")
    for sim in (few, many):
        for _ in range(30):
            sim.step()
    assert few.info.status == "iterations" and few.info.residual > 1e-10 * 9.81 / 240
    assert many.info.status == "solved" and many.info.residual <= 1e-10 * 9.81 / 240
