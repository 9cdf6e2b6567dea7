"""Snapshots for the tests of the 3-D view, made from scene tables, and pictures of them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from contactlab.app.view.camera import Camera
from contactlab.app.view.offscreen import Offscreen
from contactlab.app.view.renderer import Renderer
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics import Scene
from contactlab.physics.core.state import Contacts, empty_contacts
from contactlab.physics.run import messages as m

SIZE = (240, 180)
PLAIN = {"contact_points": False, "normals": False, "forces": False, "friction_forces": False, "impulses": False,
         "mouse_spring": False, "shadows": False, "grid": False}


def body(kind: str, position=(0.0, 0.0, 0.0), fixed=False, color="#d02020", **shape: Any) -> dict[str, Any]:
    return {"position": list(position), "fixed": fixed, "color": color, "density": 1000.0,
            "shape": [{"type": kind, **shape}]}


def snapshot(*bodies: dict[str, Any], contacts: Contacts | None = None, closed_form: Sequence[dict[str, Any]] = (),
             **fields: Any) -> m.Snapshot:
    """A snapshot of bodies at rest, named "0", "1", ..."""
    named = [{"name": str(i), **table} for i, table in enumerate(bodies)]
    tables = {"scene": {"title": "drawn"}, "body": named, "closed_form": list(closed_form)}
    setup = Scene.from_dict(tables).build()
    at = setup.state.bodies
    made: dict[str, Any] = {
        "generation": 1, "scene_name": "drawn", "model": setup.model, "labels": setup.labels,
        "settings": setup.settings, "step": 0, "t": 0.0, "paused": True, "speed": 1.0, "real_time_factor": 0.0,
        "x": at.x.copy(), "q": at.q.copy(), "v": at.v.copy(), "w": at.w.copy(), "L": at.L.copy(),
        "contacts": contacts or empty_contacts(0), "events": (), "event_count": 0, "energy": m.Energy(0.0, 0.0, 0.0),
        "momentum": (0.0, 0.0, 0.0), "angular_momentum": (0.0, 0.0, 0.0), "info": m.StepInfo(), "history": (0, 0),
    }
    return m.Snapshot(**{**made, **fields})


def contact(a: int, b: int, point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0), **fields: Any) -> Contacts:
    """One active contact."""
    c = empty_contacts(1)
    c.count[0] = 1
    c.body_a[0], c.body_b[0], c.current[0], c.active[0] = a, b, 1, 1
    c.point[0], c.normal[0] = point, normal
    for name, value in fields.items():
        getattr(c, name)[0] = value
    return c


def front_camera(distance: float = 4.0) -> Camera:
    """On the negative y axis, looking along +y at the origin: x goes right, z up."""
    return Camera(np.zeros(3), distance, azimuth=-90.0, elevation=0.0)


class Pictures:
    """One renderer for many pictures."""

    def __init__(self, size: tuple[int, int] = SIZE) -> None:
        self.screen = Offscreen(size)
        self.renderer = Renderer(self.screen.ctx)

    def take(self, shown: m.Snapshot, camera: Camera, scale: float = 1.0, **options: Any) -> np.ndarray:
        """(h, w, 3), signed so that pictures can be subtracted."""
        with self.screen.ctx:  # several may be open
            self.renderer.draw(shown, camera, ViewOptions(**options), self.screen.fbo, scale)
            return self.screen.read().astype(int)

    def silhouette(self, shown: m.Snapshot, camera: Camera) -> np.ndarray:
        """(h, w) where the bodies hide the sky."""
        without = shown.model.shapes
        hidden = without._replace(**{f: getattr(without, f)[:0] for f in without._fields})
        labels = shown.labels._replace(skins=())
        empty = dataclasses.replace(shown, model=shown.model._replace(shapes=hidden), labels=labels)
        difference = np.abs(self.take(shown, camera, **PLAIN) - self.take(empty, camera, **PLAIN)).sum(axis=2)
        return difference > 40

    def release(self) -> None:
        self.renderer.release()
        self.screen.release()


def extents(mask: np.ndarray) -> np.ndarray:
    """Left, right, top, bottom edges [pixels] of a silhouette."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.array([columns[0], columns[-1] + 1, rows[0], rows[-1] + 1], float)
