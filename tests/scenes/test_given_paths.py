"""What a script gives for a path, a scene or a simulation that is none is refused in one sentence, by every public
function that takes one."""

import numpy as np
import pytest

import contactlab
from contactlab.app.opening import CannotOpen
from contactlab.physics import ContactProblem, Scene, SceneError, Simulation, open_file
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.run.run_file import read_run

NO_PATHS = [5, None, 1.5, True, [], {}, b"x", "", "a\0b", "\ud800"]
READERS = {
    "Scene.load": (Scene.load, SceneError), "Scene.from_mesh": (Scene.from_mesh, SceneError),
    "beside": (lambda path: Scene.from_mesh("a.stl", beside=[path]), SceneError),
    "Scene.from_urdf": (Scene.from_urdf, SceneError), "Scene.from_mjcf": (Scene.from_mjcf, SceneError),
    "open_file": (open_file, SceneError), "contactlab.load": (contactlab.load, CannotOpen),
    "ContactProblem.load": (ContactProblem.load, ValueError), "read_run": (read_run, SceneError),
    "Lesson.load": (Lesson.load, SceneError),
    "sweep": (lambda path: contactlab.sweep(path, {"h": [0.01]}, workers=0), CannotOpen),
}


def sentence(error):
    said = str(error)
    assert said.count("\n") == 0 and said[:1].strip() and "fault of this program" not in said
    return said


@pytest.mark.parametrize("given", NO_PATHS, ids=repr)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_path_is_refused_by_all_that_read_files(name, given):
    read, error = READERS[name]
    with pytest.raises(error) as found:
        read(given)
    assert any(word in sentence(found.value) for word in ("path", "zero byte", "half a character"))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("given", ["folder", "x" * 300, "~nobody known/x", "missing"])
def test_paths_at_which_nothing_can_be_read_are_refused_in_words(name, given, tmp_path):
    read, error = READERS[name]
    with pytest.raises(error) as found:
        read(tmp_path if given == "folder" else given)
    sentence(found.value)


@pytest.fixture(scope="module")
def sim():
    return Simulation(Scene.from_dict({"body": [{"shape": [{"type": "box", "size": [1.0, 1.0, 1.0]}]}]}))


@pytest.mark.parametrize("given", NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_by_all_that_write_files(sim, given):
    with sim.trace() as trace:
        sim.step()
    problem = ContactProblem.frictionless(np.eye(2), -np.ones(2))
    for write in (sim.scene.save, sim.save_table, trace.save, problem.save, contactlab.replay(sim, sim.time).save):
        with pytest.raises(ValueError) as found:
            write(given)
        assert not isinstance(found.value, UnicodeError)
        sentence(found.value)
    if given is not None:  # no file
        with pytest.raises(ValueError) as found:
            contactlab.sweep(sim.scene, {"h": [0.01]}, until=0.02, workers=0, out=given)
        sentence(found.value)


@pytest.mark.parametrize("given", [5, None, "dice", b"x", "", []], ids=repr)
def test_what_is_no_scene_or_simulation_is_refused_before_anything_opens(given):
    with pytest.raises(SceneError, match="is no Scene"):
        Simulation(given)
    for use in (contactlab.view, contactlab.launch, contactlab.replay):
        with pytest.raises(ValueError, match="is no Simulation"):
            use(given)
