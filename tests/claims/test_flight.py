"""Claims about steps of `time_stepping` in which nothing can touch: the same motion as beside a shape, exact books."""

import numpy as np
import pytest
from joint_scenes import hinge, rod, scene
from tree_scenes import random_tree

from contactlab.physics import Scene, Simulation
from contactlab.physics.integrators import offered
from contactlab.physics.simulation.failure import CannotStep

H = 1.0 / 240.0
FAR = {"name": "far", "position": [0.0, 0.0, -1e6], "fixed": True, "shape": [{"type": "sphere", "radius": 1.0}]}


def flying(far):
    """A body that tumbles, a pendulum of three rods and a tree that floats; `far` adds a shape where nothing gets."""
    floating = random_tree(np.random.default_rng(3), 4, floating=True).tables.model_dump(exclude_defaults=True)
    body = {"name": "b", "mass": 2.0, "inertia": [0.1, 0.2, 0.3], "position": [0.0, 5.0, 0.0],
            "velocity": [1.0, 0.0, 2.0], "angular_velocity": [1.0, 2.0, -3.0]}
    ends = [(0.4 * i, 9.0, 0.0) for i in range(4)]
    links = [rod(f"rod {i}", ends[i], ends[i + 1]) for i in range(3)]
    joints = [hinge("world" if i == 0 else f"rod {i - 1}", f"rod {i}", ends[i], coordinates="generalized")
              for i in range(3)]
    bodies = [body, *links, *floating["body"], *([FAR] if far else [])]
    return Scene.from_dict({"scene": {"gravity": [0, 0, 0]}, "body": bodies, "joint": [*joints, *floating["joint"]]})


@pytest.mark.parametrize("integrator", offered("time_stepping"))
def test_nothing_changes_where_something_might_touch_but_does_not(integrator):
    """With a shape anywhere a step looks for contacts; without any it is the integrator's alone. It books forces at
    other instants of the step then, by rules whose error is (hω)²/12 at most of motions at ω < 20 rad/s."""
    runs = []
    for far in (False, True):
        sim = Simulation(flying(far), method="time_stepping", integrator=integrator, h=H)
        for k in range(60):
            if k < 30:
                sim.apply_force("b", (3.0, -1.0, 2.0), (0.1, 5.0, 0.2))
            sim.push_joint(1, 5.0 if k < 40 else 0.0)
            sim.step()
        runs.append(sim)
    alone, beside = runs
    count = len(alone.labels.bodies)
    assert alone.time == beside.time
    for mine, theirs in zip(alone.state.bodies, beside.state.bodies, strict=True):
        np.testing.assert_allclose(mine, theirs[:count], rtol=0, atol=1e-12)
    scale = np.abs(alone.ledger["Applied forces"]).max()
    for title, booked in alone.ledger.items():
        np.testing.assert_allclose(booked, beside.ledger[title], rtol=0, atol=(20 * H) ** 2 / 12 * scale, err_msg=title)


@pytest.mark.parametrize("integrator", offered("time_stepping"))
def test_a_constant_force_is_booked_as_what_it_gave(integrator):
    body = {"name": "b", "mass": 2.0, "inertia": [0.1, 0.2, 0.3], "velocity": [1.0, 0.0, 2.0]}
    sim = Simulation(Scene.from_dict({"scene": {"gravity": [0, 0, 0]}, "body": [body]}), method="time_stepping",
                     integrator=integrator, h=H)
    before = sim.energy().kinetic
    for _ in range(100):
        sim.apply_force("b", (3.0, -1.0, 2.0))
        sim.step()
    booked = sim.ledger["Applied forces"]
    assert booked[0] == pytest.approx(sim.energy().kinetic - before, rel=1e-12)
    np.testing.assert_allclose(booked[1:4], np.array([3.0, -1.0, 2.0]) * 100 * H, rtol=1e-12)
    assert abs(sim.ledger["Numerical drift"][0]) <= 1e-12 * before


def test_by_the_midpoint_rule_a_damped_slider_takes_exactly_what_the_motion_loses():
    """H does not change, so that T⁺ - T = H v_m (v⁺ - v) = -h c v_m²."""
    body = {"name": "b", "mass": 2.0, "inertia": [0.1, 0.2, 0.3]}
    slider = {"type": "slider", "axis": [1, 0, 0], "child": "b", "damping": 1.5, "velocity": 3.0}
    made = Scene.from_dict({"scene": {"gravity": [0, 0, 0]}, "body": [body], "joint": [slider]})
    sim = Simulation(made, method="time_stepping", integrator="midpoint", h=H)
    sim.run(until=1.0)
    assert 0.0 < sim.energy().kinetic < 0.5 * 9.0
    assert sim.ledger["Dampers"][0] == pytest.approx(sim.energy().kinetic - 9.0, rel=1e-12)


def test_a_step_that_fails_leaves_the_state_it_began_with():
    """The rounds of the midpoint rule do not end for a push that no step can bear."""
    ends = [(0.1 * i, 0.0, 0.0) for i in range(4)]
    chain = scene([rod(f"rod {i}", ends[i], ends[i + 1]) for i in range(3)],
                  [hinge("world" if i == 0 else f"rod {i - 1}", f"rod {i}", ends[i], coordinates="generalized")
                   for i in range(3)])
    sim = Simulation(Scene.from_dict(chain), method="time_stepping", integrator="midpoint", h=H)
    sim.run(until=0.1)
    before = sim.save()
    sim.push_joint(0, 1e200)
    with pytest.raises(CannotStep, match="no longer finite"):
        sim.step()
    for mine, theirs in zip((*sim.state.bodies, *sim.state.joints, sim.state.ledger, sim.state.t),
                            (*before.state.bodies, *before.state.joints, before.state.ledger, before.state.t),
                            strict=True):
        np.testing.assert_array_equal(mine, theirs)
    sim.push_joint(0, 0.0)
    sim.step()
    assert sim.step_count == before.step + 1
