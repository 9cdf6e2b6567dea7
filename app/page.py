"""A run as one HTML page that a browser shows without a network: bodies, contacts, forces, energies and events."""

import base64
import html
import json
import re
from typing import Any

import numpy as np

from ..assets import FOLDER
from ..physics import Simulation
from ..physics.core.interruption import look_up
from ..physics.core.limits import PAGE
from ..physics.core.model import BodyKind, Model, ShapeKind
from ..physics.methods import METHODS
from ..physics.shapes.table import FORMS
from .narration import sentence
from .view.camera import Camera, scene_bounds
from .view.theme import body_colors

FRAMES = 60.0         # kept a second of simulated time, at most [1/s]
MOST_EVENTS = 2000    # listed
ARROW = 0.25          # length of the largest force, as a part of the distance of the camera
#: kinds that the page makes by itself; it gets the triangles of others
OWN = {ShapeKind.SPHERE: "sphere", ShapeKind.BOX: "box", ShapeKind.CAPSULE: "capsule", ShapeKind.PLANE: "plane",
       ShapeKind.CYLINDER: "cylinder", ShapeKind.ELLIPSOID: "ellipsoid"}
EXPORTS = re.compile(r"export\s*\{([^{}]*)\};?\s*$")  # the end of the module of three.js


class TooLarge(ValueError):
    """The run has more than a page can hold; the message says how much."""


class Replay:
    """Frames of a simulation, and the page that shows them. Call `keep` after every step."""

    def __init__(self, sim: Simulation) -> None:
        self._sim, self._every = sim, max(1, round(1.0 / (FRAMES * sim.settings.h)))
        self._moving = np.flatnonzero(sim.model.kind != BodyKind.FIXED)
        self._t: list[float] = []
        self._poses: list[np.ndarray] = []
        self._energies: list[tuple[float, float, float]] = []
        self._contacts: list[np.ndarray] = []
        self._numbers = 0
        self.keep()

    def keep(self, last: bool = False) -> None:
        """Keep the present as a frame where one is due; the last state of a run is one. Raises TooLarge."""
        sim = self._sim
        if (sim.step_count % self._every and not last) or (self._t and self._t[-1] == sim.time):
            return
        contacts, count = sim.contacts, int(sim.contacts.count[0])
        poses = np.hstack([sim.state.bodies.x, sim.state.bodies.q])[self._moving]
        rows = np.column_stack([column[:count] for column in (
            contacts.body_a, contacts.body_b, contacts.point, contacts.normal, contacts.gap, contacts.zeta,
            contacts.lam, contacts.friction_force)]) if count else np.zeros((0, 14))
        self._numbers += poses.size + rows.size
        if self._numbers > PAGE.most:
            raise TooLarge(f"the run is too long for a page, which holds {PAGE}: it ends at "
                           f"t = {self._t[-1]:.3g} s, and --until may be that")
        energy = sim.energy()
        self._t.append(sim.time)
        self._poses.append(poses)
        self._energies.append((energy.kinetic, energy.potential, energy.spring))
        self._contacts.append(rows)

    def page(self) -> str:
        """The page."""
        sim, folder = self._sim, FOLDER / "page"
        title = sim.labels.title or sim.scene.name
        engine = (folder / "three.module.min.js").read_text(encoding="utf-8")
        parts = {
            "TITLE": html.escape(title), "SUMMARY": html.escape(sim.labels.summary),
            "WATCH": html.escape(sim.labels.watch), "METHOD": html.escape(self._method()),
            "RUN": json.dumps(self.data(), ensure_ascii=False).replace("</", "<\\/"),
            "THREE": EXPORTS.sub(_as_object, engine).replace("</script", "<\\/script"),
            "REPLAY": (folder / "replay.js").read_text(encoding="utf-8"),
        }
        form = (folder / "replay.html").read_text(encoding="utf-8")
        return re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], form)

    def data(self) -> dict[str, Any]:
        """All that the page shows, as JSON has it; arrays are float32 and uint32 in base64."""
        sim = self._sim
        lo, hi = scene_bounds(sim.model, sim.state.bodies.x, sim.state.bodies.q)
        camera, target = _camera(sim, lo, hi)
        starts = np.cumsum([0, *(len(rows) for rows in self._contacts)])
        contacts = np.concatenate(self._contacts)
        forces = np.hypot(contacts[:, 10], np.linalg.norm(contacts[:, 11:], axis=1))
        return {
            "t": _floats(self._t), "poses": _floats(self._poses), "energies": _floats(self._energies),
            "contacts": _floats(contacts), "starts": _whole(starts), "bodies": self._bodies(), "camera": camera,
            "target": target, "reach": 20.0 * float(np.linalg.norm(hi - lo)) + 20.0,
            "force": ARROW * camera[0] / max(float(forces.max(initial=0.0)), 1e-9),
            "events": [{"t": e.t, "text": sentence(e, sim.labels)} for e in sim.events[:MOST_EVENTS]],
        }

    def _method(self) -> str:
        settings = self._sim.settings
        return (f"{METHODS[settings.method].title}, {settings.integrator}, h = {settings.h:.4g} s, "
                f"{len(self._t)} frames to t = {self._t[-1]:.6g} s. Forces are those on the second body named.")

    def _bodies(self) -> list[dict[str, Any]]:
        sim = self._sim
        model, labels, state = sim.model, sim.labels, sim.state.bodies
        found = []
        for i, color in enumerate(body_colors(model, labels)):
            red, green, blue = (round(255 * float(c)) for c in color)
            body: dict[str, Any] = {
                "name": labels.bodies[i], "color": f"#{red:02x}{green:02x}{blue:02x}",
                "shapes": [_shape(sim, s) for s in np.flatnonzero(model.shapes.body == i).tolist()]}
            if i not in self._moving:
                body["pose"] = [*state.x[i].tolist(), *state.q[i].tolist()]
            found.append(body)
        return found


def _shape(sim: Simulation, s: int) -> dict[str, Any]:
    model, drawn = sim.model, sim.labels.draw_meshes
    shapes, kind = model.shapes, ShapeKind(model.shapes.kind[s])
    told = {"position": shapes.position[s].tolist(), "turn": shapes.orientation[s].tolist(),
            "size": shapes.size[s].tolist()}
    if drawn and len(drawn[s][1]):
        vertices, triangles = drawn[s]
    elif kind in OWN:
        return {"kind": OWN[kind], **told}
    else:
        vertices, triangles = _triangles(model, kind, s)
    look_up()
    return {"kind": "mesh", **told, "vertices": _floats(vertices), "triangles": _whole(triangles)}


def _triangles(model: Model, kind: ShapeKind, s: int) -> tuple[np.ndarray, np.ndarray]:
    surface = FORMS[kind].surface
    assert surface is not None, f"a {kind.name} is drawn by a program of its own"
    return surface(model, s)


def _camera(sim: Simulation, lo: np.ndarray, hi: np.ndarray) -> tuple[list[float], list[float]]:
    """Distance [m], azimuth and elevation [degrees], and the point looked at: as the scene wants, else all of it."""
    wanted, found = sim.scene.camera, Camera()
    found.frame(lo, hi, 1.5, 0.0)
    if wanted is not None:
        target = found.target if wanted.target is None else wanted.target
        return [wanted.distance, wanted.azimuth, wanted.elevation], [float(v) for v in target]
    return [float(found.distance), float(found.azimuth), float(found.elevation)], [float(v) for v in found.target]


def _as_object(exports: re.Match[str]) -> str:
    """The exports of a module as an object THREE in its own scope."""
    names = (part.split(" as ") for part in exports[1].split(","))
    return "const THREE={" + ",".join(f"{name[-1].strip()}:{name[0].strip()}" for name in names) + "};"


def _floats(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def _whole(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<u4").tobytes()).decode()
