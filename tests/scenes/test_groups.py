"""Groups of bodies and shapes that pass through each other: in scene files, in collision detection, out of MJCF."""

import numpy as np
import pytest

from contactlab.physics.collision.detector import Detector
from contactlab.physics.collision.exact.elements import shapes_that_meet
from contactlab.physics.core.model import NO_GROUPS
from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.refusals import SceneError
from contactlab.physics.scene.scene import Scene, open_file
from contactlab.physics.scene.toml_writer import to_toml
from contactlab.physics.simulation.simulation import Simulation

G = 9.81


def ball(name, x, **more):
    return {"name": name, "position": [x, 0.0, 1.0], "shape": [{"type": "sphere", "radius": 0.1}], **more}


def shelf(*bodies, apart):
    """Balls above a shelf of the group "shelf", 0.4 m below them."""
    board = {"name": "board", "fixed": True, "position": [0.0, 0.0, 0.5], "group": "shelf",
             "shape": [{"type": "box", "size": [9.0, 1.0, 0.02]}]}
    return {"body": [board, *bodies], "apart": [{"bodies": list(pair)} for pair in apart]}


def pairs_of(scene):
    """The pairs of shapes that touch at the start, as often as they do."""
    setup = Scene.from_dict(scene).build() if isinstance(scene, dict) else scene.build()
    found = Detector(setup.model).detect(setup.state.bodies, np.zeros(len(setup.model.kind)))
    count = int(found.count[0])
    return sorted(zip(found.shape_a[:count].tolist(), found.shape_b[:count].tolist(), strict=True)), setup.model


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
def test_a_ball_of_a_group_falls_freely_through_a_shelf_that_holds_another(method):
    """Free fall, z0 - g t²/2, is exact for any Runge–Kutta step; the ball that is held lies on the board, on which it
    still bounces where surfaces are springs: with e = 0.3, at least, from 0.39 m up to 0.3² 0.39 m = 35 mm."""
    scene = shelf(ball("ghost", -1.0, group="light"), ball("solid", 1.0), apart=[("light", "shelf")])
    sim = Simulation(Scene.from_dict(scene), method=method)
    sim.run(until=0.5)
    assert sim.body("ghost").position[2] == pytest.approx(1.0 - 0.5 * G * sim.time**2, abs=1e-9)
    assert sim.body("solid").position[2] == pytest.approx(0.61, abs=0.04 if method == "compliant" else 1e-9)


def test_detection_leaves_out_just_the_pairs_that_the_tables_say():
    """Shapes at random in a heap, of random groups of their own or of their bodies: what is found is what is found
    without groups, less what a rule written down here forbids."""
    rng = np.random.default_rng(4)
    names = [None, "a", "b", "c"]
    apart = [("a", "a"), ("b", "c"), ("heavy", "c")]
    bodies, owner = [], []
    for k in range(60):
        own = names[rng.integers(4)]
        shapes = [{"type": "sphere", "radius": 0.3, "position": rng.uniform(-0.3, 0.3, 3).tolist()} for _ in range(2)]
        body = {"name": "heavy" if k == 0 else f"body {k}", "position": rng.uniform(-1.0, 1.0, 3).tolist()}
        for shape in shapes:
            mine = names[rng.integers(4)]
            if mine:
                shape["group"] = mine
            owner.append({body["name"], mine or own})
        bodies.append(body | {"shape": shapes} | ({"group": own} if own else {}))
    every, _ = pairs_of({"body": bodies})
    found, model = pairs_of({"body": bodies, "apart": [{"bodies": list(pair)} for pair in apart]})
    through = [any((p in owner[i] and q in owner[j]) or (q in owner[i] and p in owner[j]) for p, q in apart)
               for i, j in every]
    assert found == [pair for pair, drop in zip(every, through, strict=True) if not drop]
    assert 0.1 * len(every) < len(found) < 0.9 * len(every)  # the claim is of both kinds
    meet = {tuple(pair) for pair in shapes_that_meet(model).tolist()}
    assert meet >= set(found) and not meet & {pair for pair, drop in zip(every, through, strict=True) if drop}


def test_groups_that_no_table_names_change_nothing():
    scene = Scene.from_dict({"body": [ball("one", 0.0, group="a"), ball("two", 0.15, group="a")]})
    assert scene.build().model.groups is NO_GROUPS and len(pairs_of(scene)[0]) == 1


@pytest.mark.parametrize("apart, said", [
    (("light", "shelve"), 'must be the name of a body or a group (did you mean "shelf"?)'),
    (("light",), "is too short; it must be the names of two bodies or groups"),
])
def test_a_name_that_is_neither_is_refused(apart, said):
    with pytest.raises(SceneError, match="apart") as error:
        Scene.from_dict(shelf(ball("ghost", 0.0, group="light"), apart=[apart]))
    assert said in str(error.value)


def test_a_group_cannot_be_called_as_a_body_is():
    with pytest.raises(SceneError, match=r'body\[1\].group is "board", as a body is called'):
        Scene.from_dict(shelf(ball("ghost", 0.0, group="board"), apart=[]))


def test_the_last_body_of_a_group_takes_the_tables_that_name_it_along():
    scene = shelf(ball("one", -1.0, group="light"), ball("two", 1.0, group="light"), apart=[("light", "shelf")])
    document = Document(to_toml(scene))
    edits.delete(document, [1])
    assert document.data["apart"] == [{"bodies": ["light", "shelf"]}]
    edits.delete(document, [1])
    assert not document.data.get("apart")
    Scene.from_text(document.text, None)


def test_what_collides_with_what_is_as_in_mujoco(tmp_path):
    """A heap of spheres with random contype and conaffinity, several on a body: the pairs that MuJoCo's own collision
    finds, between bodies that it does not join."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(7)
    lines, place = [], []
    for k in range(25):
        lines.append(f'<body name="b{k}"><freejoint/>')
        for _ in range(2):
            x, bits = rng.uniform(-0.5, 0.5, 3), rng.integers(0, 4, 2)
            lines.append(f'<geom size="0.2" pos="{x[0]} {x[1]} {x[2]}" contype="{bits[0]}" conaffinity="{bits[1]}"/>')
            place.append(bits.any())
        lines.append("</body>")
    path = tmp_path / "heap.xml"
    path.write_text(f"<mujoco><worldbody>{''.join(lines)}</worldbody></mujoco>")
    source = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(source)
    mujoco.mj_forward(source, data)
    row = np.cumsum(place) - 1  # geometry that collides with nothing is no shape here
    wanted = sorted({tuple(sorted((int(row[c.geom1]), int(row[c.geom2])))) for c in data.contact})
    scene = open_file(path)
    assert sorted(set(pairs_of(scene)[0])) == wanted
    assert len(scene.build().model.groups.apart) > 3 and len(wanted) > 50
