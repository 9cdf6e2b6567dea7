"""What the benchmarks measure is what they say."""

import importlib
from pathlib import Path

import numpy as np

from contactlab.physics import Scene, Simulation


def test_the_stages_that_are_timed_make_the_step_that_the_method_makes(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "benchmarks"))
    stages = importlib.import_module("stages")
    scene = Scene.from_dict(stages.dominoes(4))
    own, other = Simulation(scene), Simulation(scene)
    method = stages.TimeStepping(own.model)
    told = set()
    for _ in range(120):
        names = list(stages.stages(method, own.model, own.state, own.loads, own.settings)) if told else []
        if names[-1:] != ["events"]:
            method.step(own.state, own.loads, own.settings)
        told |= set(names) or {"made"}
        other.step()
        for mine, its in zip(own.state.bodies, other.state.bodies, strict=True):
            np.testing.assert_array_equal(mine, its)
    assert {"contacts", "solve", "events"} <= told
