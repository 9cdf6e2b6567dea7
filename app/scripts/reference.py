"""The reference of the Python interface: pages made from the docstrings of this very version, read offline."""

import warnings
from importlib import import_module
from pathlib import Path

import platformdirs

#: the public names, and the classes that they lead to, in the order of the index
MODULES = (
    "contactlab", "contactlab.physics.scene.scene", "contactlab.physics.simulation.simulation",
    "contactlab.physics.simulation.reading", "contactlab.physics.simulation.handles",
    "contactlab.physics.simulation.tables", "contactlab.physics.run.script", "contactlab.app.scripts.scripting",
    "contactlab.app.sweeps.sweeping", "contactlab.physics.run.sweep", "contactlab.physics.problem.problem",
    "contactlab.physics.core.state", "contactlab.physics.core.report", "contactlab.physics.core.model",
)
FIRST = f"{MODULES[0]}.html"
KEPT = Path(platformdirs.user_cache_dir("contactlab", appauthor=False)) / "reference"  # where Help puts it


def write_reference(folder: Path = KEPT) -> Path:
    """Write the pages into a folder, and return the first one. Takes a few seconds. OSError where it cannot be written.
    """
    from pdoc import pdoc, render

    face = import_module(MODULES[0])
    for name in face.__all__:
        getattr(face, name)  # loaded now, for pdoc looks only at what is there
    folder.mkdir(parents=True, exist_ok=True)
    render.configure(docformat="markdown", show_source=False, footer_text="Contactlab")
    with warnings.catch_warnings():  # of named tuples, whose types it looks for in no module and then shows as written
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        pdoc(*MODULES, output_directory=folder)
    return folder / FIRST
