"""Frames of a run, which `page` and `gltf` make files of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...physics import Simulation
from ...physics.core.limits import PAGE
from ...physics.core.model import BodyKind, ShapeKind, Skin
from ...physics.shapes.particle import particles
from ...physics.shapes.table import FORMS
from ..view.camera import scene_bounds

FRAMES = 60.0   # kept a second of simulated time, at most [1/s]
DOT = 0.005     # radius of a dot that stands for a particle, in diagonals of the scene


class TooLarge(ValueError):
    """The run has more than a file can hold; the message says how much."""


class Frames:
    """Frames of a simulation. Call `keep` after every step."""

    sim: Simulation
    moving: np.ndarray          #: bodies that are not fixed (k,)
    t: list[float]              #: of the frames [s]
    poses: list[np.ndarray]     #: of the moving bodies: x, y, z, then w, x, y, z of the orientation (k, 7)
    energies: list[tuple[float, float, float]]  #: kinetic, potential, of springs [J]
    contacts: list[np.ndarray]  #: bodies a and b, point, normal, gap, its rate, normal force, friction (c, 14)

    def __init__(self, sim: Simulation) -> None:
        self.sim, self._every = sim, max(1, round(1.0 / (FRAMES * sim.settings.h)))
        self.moving = np.flatnonzero(sim.model.kind != BodyKind.FIXED)
        self.t, self.poses, self.energies, self.contacts = [], [], [], []
        self._numbers = 0
        self.keep()

    def keep(self, last: bool = False) -> None:
        """Keep the present as a frame where one is due; the last state of a run is one. Raises TooLarge."""
        sim = self.sim
        if (sim.step_count % self._every and not last) or (self.t and self.t[-1] == sim.time):
            return
        contacts, count = sim.contacts, int(sim.contacts.count[0])
        poses = np.hstack([sim.state.bodies.x, sim.state.bodies.q])[self.moving]
        rows = np.column_stack([column[:count] for column in (
            contacts.body_a, contacts.body_b, contacts.point, contacts.normal, contacts.gap, contacts.zeta,
            contacts.lam, contacts.friction_force)]) if count else np.zeros((0, 14))
        self._numbers += poses.size + rows.size
        if self._numbers > PAGE.most:
            raise TooLarge(f"the run is too long for a file, which holds {PAGE}: it ends at "
                           f"t = {self.t[-1]:.3g} s, and may be run until then")
        energy = sim.energy()
        self.t.append(sim.time)
        self.poses.append(poses)
        self.energies.append((energy.kinetic, energy.potential, energy.spring))
        self.contacts.append(rows)


def size_of(sim: Simulation, s: int) -> list[float]:
    """`Shapes.size` of a shape as it is drawn [m]: a particle as a dot."""
    if not particles(sim.model.shapes)[s]:
        return sim.model.shapes.size[s].tolist()
    lo, hi = scene_bounds(sim.model, sim.state.bodies.x, sim.state.bodies.q)
    return [DOT * float(np.linalg.norm(hi - lo)) or DOT, 0.0, 0.0]


def surface_of(sim: Simulation, s: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Vertices (n, 3) [m] and triangles (k, 3) of a shape where it is drawn as such; None of those that have a program
    of their own: spheres, boxes, capsules, planes, cylinders and ellipsoids."""
    model, drawn = sim.model, sim.labels.draw_meshes
    if drawn and len(drawn[s][1]):
        return drawn[s]
    surface = FORMS[ShapeKind(model.shapes.kind[s])].surface
    return None if surface is None else surface(model, s)


class Worn(NamedTuple):
    """A surface of k triangles with its texture. Each has corners of its own, which may be anywhere in the image."""

    corners: np.ndarray  #: (3 k, 3) [m]
    uv: np.ndarray       #: (3 k, 2) where they are in the image, 0..1 from the lower left
    image: np.ndarray    #: (h, w, 3) sRGB
    tint: np.ndarray     #: (3,) sRGB, of the body: white where it has no colour of its own


def skin_of(sim: Simulation, s: int) -> Skin | None:
    """The texture of a shape, None where it has none."""
    return sim.labels.skins[s] if sim.labels.skins else None


def worn_by(sim: Simulation, s: int) -> Worn | None:
    """The surface of a shape with its texture, None where it has none."""
    skin = skin_of(sim, s)
    if skin is None:
        return None
    vertices, triangles = sim.labels.draw_meshes[s]
    colors, i = sim.labels.colors, sim.model.shapes.body[s]
    plain = len(colors) == 0 or bool(np.isnan(colors[i, 0]))
    return Worn(vertices[triangles].reshape(-1, 3), np.array([0.0, 1.0]) + skin.uv.reshape(-1, 2) * [1.0, -1.0],
                skin.image, np.ones(3) if plain else colors[i])
