"""What scenes, methods and tabs need is given back: live objects of OpenGL and live bytes of Python and numpy."""

import gc
import tracemalloc
from dataclasses import replace
from itertools import cycle, islice

import pytest
from gl_names import gl_names

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels.layout import draw_ui
from contactlab.app.panels.lower import TABS
from contactlab.app.record.studio import Studio
from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.core.limits import HISTORY
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.runner import Runner

ROUNDS = 3
SCENES = 10  # of a round
MIB = 2**20
SIZE = (640, 420)


class App:
    """Panels and view, drawn offscreen, and the engine, turned by hand."""

    def __init__(self, studio):
        self.studio, self.scenes = studio, list(islice(alike(), SCENES))
        self.runner = Runner(self.scenes[0])
        self.runner.begin()
        self.lab = Lab(self.runner, studio.ui, None)
        studio.ui.preferences.lower = True

    def turn(self, count=3):
        ui = self.studio.ui
        for _ in range(count):
            self.runner.tick()
            self.lab.update()
            ui.clock += 1 / 60
            self.studio.gui.use()
            self.studio.gui.new_frame()
            draw_ui(ui, self.lab.snapshot, self.lab.send)
            self.studio.stages[0].render(self.lab.snapshot, self.lab.camera, ui, self.studio.offscreen.fbo, SIZE[1])
            self.studio.stages[0].write(self.lab.snapshot, self.lab.camera, ui)
            self.studio.gui.finish(self.studio.offscreen.fbo)

    def round(self, tabs):
        """All scenes, one paused step each and two sides compared, with a tab each; then the first scene at rest."""
        for scene in self.scenes:
            self.runner.send(m.Open(scene, paused=True))
            self.turn()
            commands.run(self.lab, f"tab_{next(tabs)}")
            self.runner.send(m.Step(1))
            self.turn()
            settings = self.lab.snapshot.settings
            self.runner.send(m.Compare((m.Side(settings), m.Side(replace(settings, h=settings.h / 2)))))
            self.turn()
        self.runner.send(m.Open(self.scenes[0], paused=True))
        commands.run(self.lab, f"tab_{next(iter(TABS))}")
        self.turn(50)  # pictures that are no longer shown are kept for 40 frames
        gc.collect()


def alike():
    """Scenes of the gallery with one method: the kernels of the others would take minutes to compile."""
    for _, path in sorted(gallery().items()):
        scene = Scene.load(path)
        if scene.tables.solver.method == "time_stepping":
            yield scene


@pytest.fixture
def studio(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)
    with Studio(SIZE, panels=True) as made:
        yield made


def test_thirty_scenes_leave_as_many_objects_and_bytes_as_twenty(studio):
    """Two rounds of ten scenes load what is loaded once: shaders, letters, kernels. The third adds nothing to objects
    of OpenGL but a texture of letters, and to memory no more than a thousandth of what a scene's history may take. What
    the first round needs is not counted: to follow every object that loading makes takes a third of the time."""
    app, names, held = App(studio), [], []
    try:
        for k in range(ROUNDS):
            if k == 1:
                tracemalloc.start()
            app.round(cycle(TABS))  # each round ends with the same tab: what it looks into is kept
            names.append(gl_names())
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    print([sum(found.values()) for found in names], [round(bytes_ / MIB, 2) for bytes_ in held])
    assert names[0]["Program"] > 10 and names[0]["Buffer"] > 10
    for kind in names[0]:
        assert names[2][kind] <= names[1][kind] + (kind == "Texture"), (kind, names)
    assert held[2] - held[1] < HISTORY.most / 1000
