"""Impacts on links by two ways: through I^A of the link that is struck [RBDA 11.56] and through H [11.57-11.59]."""

import time

import numpy as np
import pytest

from contactlab.assets import scene_path
from contactlab.physics.look.impact_forms import ARTICULATED, JOINT_SPACE, impact_forms
from contactlab.physics.look.inspection import Inspect, look, undone
from contactlab.physics.run.impact_cost import measured_cost, ways_of_chain
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

EPS = 2.0**-52


def struck(scene, until, method="event_driven"):
    sim = Simulation(scene, method=method)
    sim.record_history()
    sim.run(until)
    return sim, undone(sim, next(e for e in reversed(sim.events) if e.kind == "impact"))


def branches(seed):
    """A trunk on the world with two arms of three hinged links each, about any axes, whose fists meet: both ends of the
    contact are in one tree. A free ball flies into the trunk ten milliseconds later."""
    rng = np.random.default_rng(seed)
    bodies = [{"name": "trunk", "position": [0, 0, 0.5], "shape": [{"type": "box", "size": [0.1, 0.1, 1.0]}]}]
    joints = [{"type": "hinge", "parent": "world", "child": "trunk", "anchor": [0, 0, 0], "axis": [0, 0, 1]}]
    for side in (-1.0, 1.0):
        parent = "trunk"
        for i in range(3):
            name, x = f"{side:+.0f} {i}", side * (0.9 - 0.3 * i)
            shape = [{"type": "sphere", "radius": 0.0999 if i == 2 else 0.05, "position": [-side * 0.2, 0, 0.3]}]
            bodies.append({"name": name, "position": [x, 0.0, 1.5], "mass": rng.uniform(0.5, 2.0),
                           "inertia": (0.01 * rng.uniform(0.6, 1.0, 3)).tolist(), "shape": shape})
            axis = rng.normal(size=3)
            joints.append({"type": "hinge", "parent": parent, "child": name, "anchor": [x + 0.15 * side, 0.0, 1.5],
                           "axis": (axis / np.linalg.norm(axis)).tolist()})
            parent = name
        joints[-1] |= {"axis": [0, 1, 0], "velocity": -0.5 * side}
    bodies.append({"name": "ball", "position": [0.16, 0.0, 0.3], "velocity": [-1.0, 0.0, 0.0], "mass": 1.0,
                   "inertia": [0.004] * 3, "shape": [{"type": "sphere", "radius": 0.1}]})
    return Scene.from_dict({"scene": {"gravity": [0, 0, 0]}, "body": bodies, "joint": joints,
                            "material": {"default": {"restitution": 0.5, "friction": 0.3}}})


GALLERY = [("arms", 0.6), ("kicked_chain", 0.6), ("walking_toy", 1.0)]
CASES = [(Scene.load(scene_path(key)), until) for key, until in GALLERY]


@pytest.mark.parametrize(("scene", "until"), CASES, ids=[key for key, _ in GALLERY])
@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
def test_both_ways_lead_to_the_same_motion_to_rounding(scene, until, method):
    """Entries of M are sums of 6 n products, n <= 30; what elimination adds grows with the condition of H, which the
    factors share: 64 n ε of the largest entry."""
    sim, impact = struck(scene, until, method)
    found = impact_forms(sim.model, impact)
    allowed = 64 * len(sim.state.joints.v) * EPS
    assert found.differ <= allowed
    HT = found.HT
    assert np.abs(HT[ARTICULATED] - HT[JOINT_SPACE]).max() <= 30 * allowed * np.abs(HT[ARTICULATED]).max()
    M = impact.contacts.M
    np.testing.assert_allclose(found.M[ARTICULATED], M, rtol=0, atol=allowed * np.abs(M).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("until", "one_tree"), [(0.008, True), (0.1, False)], ids=["fists", "ball"])
def test_links_of_one_tree_that_hit_each_other_answer_together(seed, until, one_tree):
    """M of the two fists is not the sum of what each would be alone: n·(I_a^-1 + I_b^-1)·n of eq. 11.65 holds for links
    of different systems only. Of the ball on the trunk it does."""
    sim, impact = struck(branches(seed), until)
    found, contacts = impact_forms(sim.model, impact), impact.contacts
    assert found.differ <= 64 * len(sim.state.joints.v) * EPS
    links = [sim.model.trees.link_of_body[i] >= 0 for i in (contacts.body_a[0], contacts.body_b[0])]
    assert len(contacts.key) == 1 and all(links) == one_tree
    M, alone = found.M[ARTICULATED][0, 0], found.inverse_mass[0].sum()
    if one_tree:
        assert abs(M - alone) > 1e-3 * M
    else:
        assert pytest.approx(alone, rel=1e-13) == M


@pytest.mark.parametrize("at", [0.2, 0.7, 1.0])
def test_a_hinged_rod_hit_at_a_distance_r_weighs_a_third_of_m_l_over_r_squared(at):
    """n·(I^A)^-1 n = r²/(m l²/3), of a rod on a hinge at its end."""
    length, m = 1.2, 3.0
    r = at * length - 0.05
    scene = Scene.from_dict({
        "scene": {"gravity": [0, 0, 0]}, "material": {"default": {"restitution": 1.0, "friction": 0.0}},
        "body": [{"name": "rod", "position": [0, 0, -length / 2], "mass": m, "inertia": [m * length**2 / 12] * 3,
                  "shape": [{"type": "box", "size": [0.02, 0.02, length]}]},
                 {"name": "ball", "position": [-0.2, 0, -r], "velocity": [2.0, 0, 0], "mass": 0.4,
                  "inertia": [0.001] * 3,
                  "shape": [{"type": "sphere", "radius": 0.03}]}],
        "joint": [{"type": "hinge", "parent": "world", "child": "rod", "anchor": [0, 0, 0], "axis": [0, 1, 0]}]})
    sim, impact = struck(scene, 0.2)
    found = impact_forms(sim.model, impact)
    link = int(np.flatnonzero([b == sim.labels.bodies.index("rod") for b in (impact.contacts.body_a[0],
                                                                             impact.contacts.body_b[0])])[0])
    # the ball moves along x and stays at the height -r: nothing is rounded but the sums
    assert found.inverse_mass[0, link] == pytest.approx(r * r / (m * length**2 / 3), rel=1e-12)
    assert found.inverse_mass[0, 1 - link] == pytest.approx(1 / 0.4, rel=1e-13)


def test_what_the_impact_tab_shows_is_computed_the_way_that_is_asked_for():
    """Δq̇ of all laws comes from the M and H⁻¹T that the tab was asked for: the same numbers but for rounding."""
    sim, _ = struck(branches(0), 0.2)
    views = [look(sim, Inspect("impact", form=form)).impact for form in (ARTICULATED, JOINT_SPACE)]
    for form, view in zip((ARTICULATED, JOINT_SPACE), views, strict=True):
        assert np.array_equal(view.contacts.M, view.forms.M[form])
    assert not np.array_equal(views[0].contacts.M, views[1].contacts.M)
    for law, after in views[0].after.items():
        np.testing.assert_allclose(after, views[1].after[law], rtol=0, atol=1e-11)


def test_impacts_that_have_one_way_say_so():
    sim, impact = struck(Scene.load(scene_path("bouncing_balls")), 0.6)
    assert "No link" in impact_forms(sim.model, impact)


@pytest.mark.parametrize("n", [1, 2, 9, 33])
def test_what_is_timed_is_the_same_work(n):
    """Both calls of a chain give one Δq̇: H Δq̇ = Jᵀι to n ε of the largest entry of H times that of Δq̇, and the two
    differ by the condition of H times that, which the claim allows 16-fold."""
    found = {way: call().copy() for way, call in ways_of_chain(n).items()}
    one, other = found[ARTICULATED], found[JOINT_SPACE]
    condition = 12.0 * n**4  # of H of n rods: its least eigenvalue is that of one rod, its largest grows as n⁴
    assert np.abs(one - other).max() <= 16 * n * EPS * condition * np.abs(one).max() and np.abs(one).max() > 0.0


def test_a_long_chain_is_answered_sooner_by_its_links():
    """n operations beside n³: of 64 links the factors of H take at least twice as long, by any machine."""
    cost = measured_cost(time.perf_counter)
    assert cost.links[-1] == 64 and (np.concatenate([*cost.time.values()]) > 0.0).all()
    assert cost.time[JOINT_SPACE][-1] > 2.0 * cost.time[ARTICULATED][-1]
