"""The study of falling chains over the number of links."""

import time
from dataclasses import replace

import numpy as np
import pytest

from contactlab.physics.run import link_study
from contactlab.physics.run import messages as m
from contactlab.physics.run.link_study import KINDS, chain, hanging, study
from contactlab.physics.simulation.simulation import Simulation


def found(h, counts, method="event_driven"):
    settings = replace(Simulation(chain(1, "generalized"), method=method).settings, h=h)
    ticks = iter(range(10**6))
    points = [p for p in study(settings, lambda: 1e-6 * next(ticks), counts) if p is not None]
    assert [(p.links, p.coordinates, p.cure) for p in points] == [(n, *kind) for n in counts for kind in KINDS]
    return {(p.links, p.coordinates, p.cure): p for p in points}


def test_the_motions_are_the_same_and_only_uncured_joints_come_apart():
    """rk4 is of fourth order: half the step leaves a sixteenth of the drift and of the difference (an eighth to a
    thirty-second, as far as the leading term rules)."""
    coarse, fine = found(1 / 240, (3,)), found(1 / 480, (3,))
    for points in (coarse, fine):
        exact = points[3, "generalized", ""]
        assert exact.apart == exact.astray == 0.0
        assert points[3, "maximal", "projection"].apart < 1e-12 < points[3, "maximal", "baumgarte"].apart
        assert points[3, "maximal", "baumgarte"].apart < points[3, "maximal", "none"].apart
    for name in ("apart", "astray"):
        ratio = getattr(coarse[3, "maximal", "none"], name) / getattr(fine[3, "maximal", "none"], name)
        assert 8.0 < ratio < 32.0


def test_a_chain_that_flies_apart_is_told_as_not_known():
    """Ten steps a second are far too few for rk4 and seven links: speeds of angles grow without end."""
    points = found(0.1, (7,))
    wild = points[7, "generalized", ""]
    assert np.isnan([wild.apart, wild.astray, wild.energy]).all()
    assert np.isfinite(points[7, "maximal", "projection"].apart)
    assert np.isnan(points[7, "maximal", "projection"].astray)  # from what is not known


def test_the_cost_is_the_median_time_of_a_step_and_nothing_else(monkeypatch):
    """On a clock on which a step takes 1 µs a link, the first one a second, and setting a chain up another."""
    now, made = [0.0], []
    step, build = Simulation.step, link_study.hanging

    def timed(sim):
        first = sim.step_count == 0
        now[0] += 1.0 if first else 1e-6 * len(sim.model.joints.type)
        step(sim)

    def slowly(*asked):
        now[0] += 1.0
        made.append(asked[:3])
        return build(*asked)

    monkeypatch.setattr(Simulation, "step", timed)
    monkeypatch.setattr(link_study, "hanging", slowly)
    settings = replace(Simulation(chain(1, "generalized"), method="time_stepping").settings, h=1 / 60)
    points = [p for p in study(settings, lambda: now[0], (1, 4)) if p is not None]
    assert [(p.links, p.coordinates, p.cure) for p in points] == made and len(points) == 2 * len(KINDS)
    assert [p.cost for p in points] == pytest.approx([1e-6 * p.links for p in points], rel=1e-6)


def test_a_chain_takes_the_settings_that_run():
    settings = replace(Simulation(chain(2, "maximal")).settings, integrator="dopri5", h=1 / 100, joint_cure="none")
    sim = hanging(2, "maximal", "baumgarte", settings)
    assert (sim.settings.integrator, sim.settings.h, sim.settings.joint_cure) == ("dopri5", 1 / 100, "baumgarte")


def test_the_runner_pauses_and_tells_point_by_point(monkeypatch):
    from contactlab.physics.run import runner as runner_module

    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)
    monkeypatch.setattr(link_study, "study", lambda settings, clock: study(settings, clock, (1, 2)))
    runner = runner_module.Runner(chain(2, "generalized"), clock=time.perf_counter)
    runner.begin()
    runner.send(m.StudyLinks())
    assert runner.tick() == 0.0 and runner.latest is not None
    assert runner.latest.paused and runner.latest.links is not None and runner.latest.links.running
    seen = []
    while runner.latest.links.running:
        runner.tick()
        seen.append(len(runner.latest.links.points))
    assert seen[-1] == 2 * len(KINDS) and sorted(seen) == seen and len(set(seen)) > 2
    points, step = runner.latest.links.points, runner.latest.step
    runner.send(m.StudyLinks())
    runner.tick()
    runner.send(m.StudyLinks(False))
    runner.tick()
    assert not runner.latest.links.running and len(runner.latest.links.points) < len(points)
    assert runner.latest.step == step
