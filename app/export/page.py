"""A run as one HTML page that a browser shows without a network: bodies, contacts, forces, energies and events."""

import base64
import html
import io
import json
import re
from typing import Any

import numpy as np
from PIL import Image

from ...assets import FOLDER
from ...physics import Simulation
from ...physics.core.interruption import look_up
from ...physics.core.language import N_, _, used
from ...physics.core.model import ShapeKind
from ...physics.methods import METHODS
from ..narration import sentence
from ..view.camera import Camera, scene_bounds
from ..view.theme import body_colors
from .frames import Frames, size_of, skin_of, surface_of, worn_by

MOST_EVENTS = 2000    # listed
ARROW = 0.25          # length of the largest force, as a part of the distance of the camera
#: kinds that the page makes by itself; others it gets as triangles
OWN = {ShapeKind.SPHERE: "sphere", ShapeKind.BOX: "box", ShapeKind.CAPSULE: "capsule", ShapeKind.PLANE: "plane",
       ShapeKind.CYLINDER: "cylinder", ShapeKind.ELLIPSOID: "ellipsoid"}
#: words of the page, by their places in it, and those that its script writes
SAID = {
    "NOW": N_("Now"), "ENERGY": N_("Energy [J]"), "EVENTS": N_("Events"), "HOW": N_("How it was computed"),
    "CURVES": N_("Kinetic, potential and total energy over time"), "PLAY": N_("Play or pause"), "KEY": N_("Space"),
    "TIME": N_("Time"), "SPEED": N_("Speed"),
}
SAID_LATER = {
    "contacts": N_("Contacts"), "kinetic": N_("Kinetic energy"), "potential": N_("Potential energy"),
    "none": N_("None."), "flat": N_("This browser draws no 3-D: the curves, events and numbers are beside."),
}
EXPORTS = re.compile(r"export\s*\{([^{}]*)\};?\s*$")  # the end of the module of three.js


def page_of(frames: Frames, title: str = "", words: str = "") -> str:
    """The page. title, words: instead of the scene's own; words are HTML."""
    sim, folder = frames.sim, FOLDER / "page"
    labels = sim.labels
    title = title or _(labels.title) or sim.scene.name
    words = words or f"<p>{html.escape(_(labels.summary))}</p>\n  <p>{html.escape(_(labels.watch))}</p>"
    engine = (folder / "three.module.min.js").read_text(encoding="utf-8")
    parts = {name: html.escape(_(said)) for name, said in SAID.items()} | {
        "LANGUAGE": used().replace("_", "-"),
        "TITLE": html.escape(title), "WORDS": words, "METHOD": html.escape(_method(frames)),
        "RUN": json.dumps(data_of(frames), ensure_ascii=False).replace("</", "<\\/"),
        "THREE": EXPORTS.sub(_as_object, engine).replace("</script", "<\\/script"),
        "REPLAY": (folder / "replay.js").read_text(encoding="utf-8"),
    }
    form = (folder / "replay.html").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], form)


def data_of(frames: Frames) -> dict[str, Any]:
    """All that the page shows, as JSON has it; arrays are float32 and uint32 in base64."""
    sim = frames.sim
    lo, hi = scene_bounds(sim.model, sim.state.bodies.x, sim.state.bodies.q)
    camera, target = _camera(sim, lo, hi)
    starts = np.cumsum([0, *(len(rows) for rows in frames.contacts)])
    contacts = np.concatenate(frames.contacts)
    forces = np.hypot(contacts[:, 10], np.linalg.norm(contacts[:, 11:], axis=1))
    return {
        "t": _floats(frames.t), "poses": _floats(frames.poses), "energies": _floats(frames.energies),
        "contacts": _floats(contacts), "starts": _whole(starts), "bodies": _bodies(frames), "camera": camera,
        "target": target, "reach": 20.0 * float(np.linalg.norm(hi - lo)) + 20.0,
        "force": ARROW * camera[0] / max(float(forces.max(initial=0.0)), 1e-9),
        "images": _images(sim), "words": {name: _(said) for name, said in SAID_LATER.items()},
        "events": [{"t": e.t, "text": sentence(e, sim.labels)} for e in sim.events[:MOST_EVENTS]],
    }


def _method(frames: Frames) -> str:
    settings = frames.sim.settings
    return _("{method}, {integrator}, h = {h} s, {n} frames to t = {t} s. Forces are those on the second body named."
             ).format(method=_(METHODS[settings.method].title), integrator=settings.integrator, h=f"{settings.h:.4g}",
                      n=len(frames.t), t=f"{frames.t[-1]:.6g}")


def _bodies(frames: Frames) -> list[dict[str, Any]]:
    sim = frames.sim
    model, labels, state = sim.model, sim.labels, sim.state.bodies
    found = []
    for i, color in enumerate(body_colors(model, labels)):
        body: dict[str, Any] = {
            "name": labels.bodies[i], "color": _hex(color),
            "shapes": [_shape(sim, s) for s in np.flatnonzero(model.shapes.body == i).tolist()]}
        if i not in frames.moving:
            body["pose"] = [*state.x[i].tolist(), *state.q[i].tolist()]
        found.append(body)
    return found


def _images(sim: Simulation) -> list[str]:
    """The textures of the scene, each once, as PNG in base64."""
    found = []
    for image in _textures(sim).values():
        with io.BytesIO() as file:
            Image.fromarray(image).save(file, "png")
            found.append(base64.b64encode(file.getvalue()).decode())
    return found


def _textures(sim: Simulation) -> dict[int, np.ndarray]:
    """The images (h, w, 3) of textures that are drawn, by their identity, in one order."""
    skins = (skin_of(sim, s) for s in range(len(sim.model.shapes.kind)))
    return {id(skin.image): skin.image for skin in skins if skin is not None}


def _shape(sim: Simulation, s: int) -> dict[str, Any]:
    shapes, surface = sim.model.shapes, surface_of(sim, s)
    told = {"position": shapes.position[s].tolist(), "turn": shapes.orientation[s].tolist(),
            "size": size_of(sim, s)}
    if surface is None:
        return {"kind": OWN[ShapeKind(shapes.kind[s])], **told}
    look_up()
    if (worn := worn_by(sim, s)) is not None:
        return {"kind": "mesh", **told, "vertices": _floats(worn.corners),
                "triangles": _whole(np.arange(len(worn.corners))), "uv": _floats(worn.uv),
                "image": list(_textures(sim)).index(id(worn.image)), "tint": _hex(worn.tint)}
    return {"kind": "mesh", **told, "vertices": _floats(surface[0]), "triangles": _whole(surface[1])}


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


def _hex(color: np.ndarray) -> str:
    red, green, blue = (round(255 * float(c)) for c in color)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _floats(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def _whole(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<u4").tobytes()).decode()
