"""Scene files that are almost right: a run of finite numbers, or a sentence; with --long in every method."""

import effort
import pytest
from answers import answer, run
from effort import either
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mutation import mutated

from contactlab.physics import Scene
from contactlab.physics.methods import METHODS

STEPS = 4
FAST = tuple(METHODS) if effort.LONG else ("time_stepping",)  # kernels of the others take minutes to compile


def body(name, position, **shape):
    return {"name": name, "position": position, "shape": [shape]}


FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
BOX = body("a", [0.0, 0.0, 0.25], type="box", size=[0.5, 0.5, 0.5])
BALL = body("b", [0.1, 0.0, 0.7], type="sphere", radius=0.2)
ROD = body("c", [1.0, 0.0, 0.5], type="capsule", radius=0.1, height=0.6)
HINGE = {"type": "hinge", "parent": "b", "child": "c", "anchor": [0.5, 0.0, 0.6], "axis": [0.0, 1.0, 0.0]}
COMMON = {"scene": {"gravity": [0.0, 0.0, -9.81]}, "material": {"default": {"restitution": 0.3, "friction": 0.5}},
          "solver": {"h": 0.01}}
BASES = [
    COMMON | {"body": [FLOOR, BOX, BALL]},
    COMMON | {"body": [FLOOR, BOX, BALL, ROD], "joint": [HINGE]},
    COMMON | {"body": [FLOOR, BALL, ROD], "joint": [HINGE | {"coordinates": "maximal", "limits": [-30.0, 30.0]}]},
    COMMON | {"body": [FLOOR, BALL | {"material": "ice"}], "pair": [{"materials": ["ice", "default"], "friction": 0.1}],
              "material": {"ice": {"restitution": 0.9, "stiffness_n": 1e4, "damping_n": 10.0}},
              "array": [{"body": "b", "count": [2, 2, 1], "spacing": [0.5, 0.5, 0.5], "jitter": 0.01}],
              "spring": [{"body_a": "world", "body_b": "b", "stiffness": 10.0, "damping": 0.1}]},
    COMMON | {"body": [BOX | {"kinematic": True, "motion": {"velocity": [0.1, 0.0, 0.0], "frequency": 1.0,
                                                             "amplitude": [0.0, 0.0, 0.1]}}, BALL]},
]


@pytest.mark.parametrize("method", FAST)
@settings(max_examples=either(25, 10_000), deadline=None, database=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(base=st.sampled_from(range(len(BASES))), seed=st.integers(0, 2**32))
@example(0, 0)
def test_a_scene_that_is_almost_right_runs_or_is_refused(method, base, seed):
    scene, _ = answer(lambda: Scene.from_dict(mutated(BASES[base], seed)))
    if scene is not None and answer(scene.build)[0] is not None and len(scene.tables.array) < 2:
        run(scene, method, STEPS)


WELDED = COMMON | {"body": [FLOOR, body("b", [0.0, 0.0, 0.2], type="sphere", radius=0.2)],
                   "joint": [{"type": "fixed", "child": "b"}]}
SIBLINGS = COMMON | {
    "body": [body("a", [0.0, 0.0, 1.0], type="sphere", radius=0.1),
             body("b", [0.0, 0.2, 1.0], type="sphere", radius=0.1),
             body("c", [0.0, 0.25, 1.0], type="box", size=[0.1, 0.1, 0.1])],
    "joint": [{"type": "fixed", "parent": "a", "child": "b"},
              {"type": "hinge", "parent": "a", "child": "c", "anchor": [0.0, 0.2, 1.0], "axis": [0.0, 1.0, 0.0]}]}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tables", (WELDED, SIBLINGS), ids=("welded and touching", "siblings overlap"))
def test_what_cannot_move_apart_runs(tables, method):
    assert run(Scene.from_dict(tables), method, STEPS) == ""


def test_the_largest_and_the_smallest_scenes_run_or_are_refused():
    """At the ends of the ranges of lengths, masses and gravity."""
    for length, density, gravity in ((1e9, 1e15, 1e15), (1e-9, 1e-15, 1e-15), (1e9, 1e-15, 1e15), (1e-9, 1e15, 1e15)):
        ball = {"name": "b", "position": [0.0, 0.0, length], "density": density, "shape": [{"type": "sphere",
                                                                                           "radius": length}]}
        scene = Scene.from_dict({"scene": {"gravity": [0.0, 0.0, -gravity]}, "body": [FLOOR, ball]})
        for method in FAST:
            run(scene, method, STEPS)
