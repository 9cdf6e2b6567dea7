"""The engine: open a scene, step it, read every contact. It never sees a window, a screen or a clock."""

from contactlab.physics.problem import ContactProblem as ContactProblem
from contactlab.physics.residual import natural_map as residual
from contactlab.physics.scene import Scene as Scene
from contactlab.physics.scene import SceneError as SceneError
from contactlab.physics.scene import open_file as open_file
from contactlab.physics.simulation import Simulation as Simulation
from contactlab.physics.solvers import SOLVERS as SOLVERS

__all__ = ["SOLVERS", "ContactProblem", "Scene", "SceneError", "Simulation", "open_file", "residual"]
