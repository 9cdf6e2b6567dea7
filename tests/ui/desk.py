"""The workbench without a window: a Lab whose scene is edited, with an engine that only listens."""

import time
from pathlib import Path

import fakes
import numpy as np

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.ui_state import UiState
from contactlab.app.workbench import Workbench
from contactlab.physics.scene import edits
from contactlab.physics.scene.scene import Scene

BALL = """\
# A ball above the floor.
[scene]
title = "Ball"

[[body]]
name = "floor"
fixed = true
shape = [{type = "plane"}]

[[body]]
name = "ball"      # the one that falls
position = [0.0, 0.0, 1.0]
shape = [{type = "sphere", radius = 0.25}]
"""


def checked(bench: Workbench) -> Workbench:
    """The workbench, once its present version is checked."""
    while bench.pending:
        bench.check()
        time.sleep(0.001)
    return bench


class Desk:
    """A Lab whose scene is edited, with an engine that only listens."""

    def __init__(self, folder: Path, text: str = BALL) -> None:
        self.path = folder / "ball.toml"
        self.path.write_text(text)
        self.ui = UiState()
        self.ui.preferences.record_folder = str(folder / "mine")
        self.engine, self.host = fakes.Engine(fakes.snapshot()), fakes.Host()
        self.lab = Lab(self.engine, self.ui, self.host)
        self.lab.making.opened(Scene.load(self.path))
        self.run("edit")
        self.bench = checked(self.ui.workbench)

    def run(self, name: str, argument=None) -> None:
        commands.run(self.lab, name, argument)
        self.lab.update()

    def serve(self) -> None:
        """As the window does after each frame."""
        while self.ui.requests:
            commands.run(self.lab, *self.ui.requests.pop(0))
        self.lab.update()

    def answer(self, label: str) -> None:
        """Press a button of the question."""
        question, self.ui.question = self.ui.question, None
        assert question is not None
        request = dict(question.answers)[label]
        while request is not None:
            self.run(*request)
            request = self.ui.requests.pop(0) if self.ui.requests else None

    def move(self, by: float = 1.0) -> None:
        self.ui.edit("Move ball", lambda d: edits.move(
            d, [1], edits.Pose(np.array([by, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])), np.zeros(3)))
