"""A run to look at elsewhere: as a page in a browser or a notebook, or as an animated scene in Blender."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from ...physics import Simulation
from ...physics.core.given_path import given_path
from ...physics.core.whole_file import whole_file
from ...physics.run.script import simulation_given
from .frames import Frames
from .gltf import glb_of
from .page import page_of

HEIGHT = 560  # of the page in a notebook [pixels]


#: endings of files -> how a run becomes one
ENCODERS: dict[str, Callable[[Frames], bytes]] = {".html": lambda run: page_of(run).encode(), ".glb": glb_of}


class Replay(Frames):
    """Frames of a simulation. A notebook shows them as a page."""

    def save(self, path: str | Path) -> None:
        """Write a page, .html, or an animated scene of glTF, .glb. ValueError where the ending is another."""
        path = given_path(path)
        encode = ENCODERS.get(path.suffix.lower())
        if encode is None:
            raise ValueError(f"{path.name}: a run is saved as {' or '.join(ENCODERS)}")
        with whole_file(path) as file:
            file.write(encode(self))

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(page_of(self))}" width="100%" height="{HEIGHT}" style="border:0">'
                "</iframe>")


def replay(sim: Simulation, until: float = 5.0) -> Replay:
    """Run a simulation to the time `until` [s] and keep its frames: as the last line of a notebook's cell they are
    shown, `save("run.html")` and `save("run.glb")` write them. Raises what
    `Simulation.step` does, and TooLarge where it is too long."""
    found = Replay(simulation_given(sim))
    while sim.time < until - 0.5 * sim.settings.h:
        sim.step()
        found.keep()
    found.keep(last=True)
    return found
