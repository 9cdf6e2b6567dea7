"""Small pictures of the scenes of `mesh_zoo`. `PYTHONPATH=tests python tests/ui/mesh_pictures.py` draws those anew that
tests compare with: look at each before it is committed."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from mesh_zoo import ZOO
from numpy.typing import NDArray
from PIL import Image
from scenes_to_draw import PLAIN, Pictures, body, snapshot

from contactlab.app.view.camera import Camera, action_bounds
from contactlab.physics import Scene, Simulation

SECONDS = 0.5  #: after which they are looked at, and what falls has landed
SIZE = (216, 144)
BARE = PLAIN | {"shadows": True, "joints": False}


def picture_of(name: str) -> Path:
    """The file of the picture of a scene of `ZOO`."""
    return Path(__file__).parents[1] / "pictures" / f"{name.replace(' ', '_')}.png"


def landed(scene: Scene) -> Simulation:
    sim = Simulation(scene)
    sim.run(until=SECONDS)
    return sim


def drawn(pictures: Pictures, sim: Simulation, without: int = -1) -> NDArray[np.int64]:
    """(h, w, 3), seen from above, for some lie in others. The camera takes in what moves; one body may be left out."""
    x, q = sim.state.bodies.x.copy(), sim.state.bodies.q.copy()
    camera, bounds = Camera(elevation=55.0), action_bounds(sim.model, x, q)
    assert bounds is not None
    camera.frame(*bounds, SIZE[0] / SIZE[1])
    if without >= 0:
        x[without] = np.nan
    shown = snapshot(body("sphere", radius=1.0), model=sim.model, labels=sim.labels, x=x, q=q)
    return pictures.take(shown, camera, **BARE)


def main() -> None:
    pictures = Pictures(SIZE)
    for name, (opened, _) in ZOO.items():
        with TemporaryDirectory() as folder:
            picture = drawn(pictures, landed(opened(Path(folder))))
        Image.fromarray(picture.astype(np.uint8)).save(picture_of(name), optimize=True)
    pictures.release()


if __name__ == "__main__":
    main()
