"""Models made by hand: bodies without shapes for claims about free motion, balls over a floor for the engine."""

from types import SimpleNamespace

import numpy as np

from contactlab.physics.core.model import (
    BodyKind,
    Hulls,
    Labels,
    Materials,
    Meshes,
    Model,
    Motions,
    ShapeKind,
    Shapes,
    Springs,
)
from contactlab.physics.core.state import Bodies, empty_state
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.run.messages import Settings

BOX = (0.13 / 3, 0.10 / 3, 0.05 / 3)  # principal moments of a box of half sizes .1 .2 .3 and mass 1


def ints(*shape):
    return np.zeros(shape, np.int32)


def springs(*rows):
    """Rows of body_a, body_b, anchor_a, anchor_b, length, stiffness, damping."""
    a, b, anchor_a, anchor_b, length, stiffness, damping = zip(*rows, strict=True) if rows else [()] * 7
    return Springs(
        np.array(a, np.int32), np.array(b, np.int32),
        np.array(anchor_a, float).reshape(-1, 3), np.array(anchor_b, float).reshape(-1, 3),
        np.array(length, float), np.array(stiffness, float), np.array(damping, float),
    )


def model_of(count, inertia=BOX, mass=1.0, gravity=(0.0, 0.0, 0.0), spring_rows=()):
    moments, zeros = np.tile(np.array(inertia, float), (count, 1)), np.zeros
    unit = np.zeros((count, 4))
    unit[:, 0] = 1.0
    return Model(
        kind=ints(count), mass=np.full(count, mass), inv_mass=np.full(count, 1.0 / mass),
        inertia=moments, inv_inertia=1.0 / moments, gravity=np.array(gravity, float),
        shapes=Shapes(ints(0), ints(0), zeros((0, 3)), zeros((0, 4)), zeros((0, 3)), zeros(0), ints(0), ints(0),
                      zeros((0, 2))),
        hulls=Hulls(ints(1), zeros((0, 3)), ints(1), ints(0), ints(1), zeros((0, 3)), zeros(0), ints(1), ints(0),
                    ints(1), ints(0, 4)),
        meshes=Meshes(ints(1), zeros((0, 3)), ints(1), ints(0, 3), zeros((0, 3)), ints(0, 3), zeros((0, 3, 3)), ints(1),
                      zeros((0, 3)), zeros((0, 3)), ints(0, 2), ints(0)),
        materials=Materials(zeros((1, 1)), zeros((1, 1))),
        motions=Motions(zeros((count, 3)), unit, zeros((count, 3)), zeros((count, 3)), zeros((count, 3)), zeros(count),
                        zeros(count), ints(count + 1), zeros(0), zeros((0, 3)), ints(count), zeros((count, 3)),
                        zeros((count, 3))),
        springs=springs(*spring_rows),
    )


def free_body(inertia=BOX, w=(0.0, 0.0, 0.0), v=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0), mass=1.0, count=1,
              spring_rows=()):
    """Model and bodies, 1 m apart along x, spinning with w about their own axes."""
    model = model_of(count, inertia, mass, gravity, spring_rows)
    bodies = empty_state(count).bodies
    bodies.x[:, 0] = np.arange(count)
    bodies.v[:], bodies.w[:] = v, w
    momentum_from_velocity(model, bodies)
    return model, bodies


class Balls:
    """A scene of balls of radius 0.5 in a row, dropped from 1 m above their rest on a floor; built by hand."""

    name, title, summary, watch, path, speed, camera = "balls", "Balls", "", "", None, 1.0, None

    def sides(self, settings):
        return ()

    def __init__(self, count=1, restitution=0.8):
        self.count, self.restitution = count, restitution

    def build(self):
        n = self.count + 1
        model = model_of(n, (0.1, 0.1, 0.1), 1.0, (0.0, 0.0, -9.81))
        floor = np.arange(n) == self.count
        radius = np.where(floor, 0.0, 0.5)
        unit = model.motions.start_q
        shapes = Shapes(
            np.arange(n, dtype=np.int32), np.where(floor, ShapeKind.PLANE, ShapeKind.SPHERE).astype(np.int32),
            np.zeros((n, 3)), unit.copy(), np.column_stack([radius, 0 * radius, 0 * radius]),
            np.where(floor, np.inf, 0.5), ints(n), np.full(n, -1, np.int32), np.ones((n, 2)),
        )
        model = model._replace(
            kind=np.where(floor, BodyKind.FIXED, BodyKind.DYNAMIC).astype(np.int32), shapes=shapes,
            mass=np.where(floor, 0.0, 1.0), inv_mass=np.where(floor, 0.0, 1.0),
            inv_inertia=np.where(floor[:, None], 0.0, model.inv_inertia),
            materials=Materials(np.full((1, 1), self.restitution), np.full((1, 1), 0.3)),
        )
        state = empty_state(n)
        state.bodies.x[:] = np.column_stack([1.1 * np.arange(n), np.zeros(n), np.where(floor, 0.0, 1.5)])
        names = tuple("floor" if f else f"ball{i}" for i, f in enumerate(floor))
        labels = Labels(
            "Balls", "", "", names, ("default",), np.full((n, 3), np.nan), np.zeros((n, 3)), unit.copy(), ())
        return SimpleNamespace(model=model, state=state, labels=labels, settings=Settings())


def poisoned(bodies):
    return Bodies(*(np.full_like(a, np.nan) for a in bodies))


def rotation_between(p, q):
    """Angle of the rotation from p to q [rad]; accurate for small angles, unlike acos."""
    p, q = np.asarray(p), np.asarray(q)
    return 2.0 * min(np.linalg.norm(p - q), np.linalg.norm(p + q))
