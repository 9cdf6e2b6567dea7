"""The engine: open a scene, step it, read every contact. It never sees a window, a screen or a clock."""

from .core.blas_threads import keep_to_one_thread
from .problem.problem import ContactProblem as ContactProblem
from .problem.residual import natural_map as residual
from .scene.scene import Scene as Scene
from .scene.scene import SceneError as SceneError
from .scene.scene import open_file as open_file
from .simulation.simulation import Simulation as Simulation
from .solvers import SOLVERS as SOLVERS

keep_to_one_thread()

__all__ = ["SOLVERS", "ContactProblem", "Scene", "SceneError", "Simulation", "open_file", "residual"]
