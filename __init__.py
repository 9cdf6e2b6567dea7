"""Contactlab, a laboratory for contact mechanics.

    import contactlab

    sim = contactlab.Simulation(contactlab.load("dice"))     # a gallery scene, a scene file, a robot or a mesh
    sim.run(until=1.0)
    print(sim.body("die 1").position, sim.contact_list())
    contactlab.view(sim)                                     # the window; see view, Panel

Everything here is loaded when it is first used: a script that opens no window needs no display.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app.export.replay import replay as replay
    from .app.opening import load as load
    from .app.own_law import soft_law as soft_law
    from .app.scripts.remote import launch as launch
    from .app.scripts.scripting import view as view
    from .app.sweeps.sweeping import sweep as sweep
    from .physics import ContactProblem as ContactProblem
    from .physics import Scene as Scene
    from .physics import SceneError as SceneError
    from .physics import Simulation as Simulation
    from .physics.run.script import Panel as Panel

#: public name -> the module that has it
PLACES = {
    "ContactProblem": "physics", "Panel": "physics.run.script", "Scene": "physics", "SceneError": "physics",
    "Simulation": "physics", "launch": "app.scripts.remote", "load": "app.opening", "replay": "app.export.replay",
    "soft_law": "app.own_law", "sweep": "app.sweeps.sweeping", "view": "app.scripts.scripting",
}
__all__ = ["ContactProblem", "Panel", "Scene", "SceneError", "Simulation", "launch", "load", "replay", "soft_law",
           "sweep", "view"]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f".{PLACES[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
