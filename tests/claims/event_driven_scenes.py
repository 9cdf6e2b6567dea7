"""Bodies and shapes put together by hand for the claims about the event-driven method, and a run that logs."""

from dataclasses import dataclass, field

import numpy as np

from contactlab.physics.books.diagnostics import measure
from contactlab.physics.core.model import BodyKind, Hulls, Materials, Meshes, Model, Motions, ShapeKind, Shapes, Springs
from contactlab.physics.core.state import State, Tally, empty_state
from contactlab.physics.dynamics.forces import empty_loads
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.methods.event_driven.step import EventDriven
from contactlab.physics.run.messages import Event, Settings

G = 9.81
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Body:
    """A body with one or more shapes (kind, size[, position, orientation, exponents]); mass 0 = fixed."""

    shapes: list[tuple]
    mass: float = 0.0
    inertia: tuple[float, float, float] = (1.0, 1.0, 1.0)
    x: tuple[float, float, float] = (0.0, 0.0, 0.0)
    q: tuple[float, float, float, float] = UPRIGHT
    v: tuple[float, float, float] = (0.0, 0.0, 0.0)
    w: tuple[float, float, float] = (0.0, 0.0, 0.0)


def about(axis: str, angle: float) -> tuple[float, float, float, float]:
    """Quaternion of a turn about a coordinate axis."""
    q = np.zeros(4)
    q[0], q[1 + "xyz".index(axis)] = np.cos(angle / 2), np.sin(angle / 2)
    return tuple(q.tolist())


def ball(radius: float, mass: float = 1.0, k: float = 0.4, **pose) -> Body:
    return Body([(ShapeKind.SPHERE, (radius, 0, 0))], mass, (k * mass * radius**2,) * 3, **pose)


def box(half: tuple[float, float, float], mass: float = 1.0, **pose) -> Body:
    a, b, c = half
    moments = (mass * (b * b + c * c) / 3, mass * (a * a + c * c) / 3, mass * (a * a + b * b) / 3)
    return Body([(ShapeKind.BOX, half)], mass, moments, **pose)


def rod(length: float, mass: float = 1.0, **pose) -> Body:
    """A thin uniform rod along its z axis: a capsule of no radius."""
    moment = mass * length**2 / 12
    return Body([(ShapeKind.CAPSULE, (0.0, length / 2, 0))], mass, (moment, moment, 1e-3 * moment), **pose)


def bowl(radius: float, **pose) -> Body:
    """The inside of a ball, closed."""
    return Body([(ShapeKind.BOWL, (radius, -1.0, 0.0))], **pose)


def plane(x=(0.0, 0.0, 0.0), q=UPRIGHT) -> Body:
    return Body([(ShapeKind.PLANE, (0, 0, 0))], x=x, q=q)


def ints(*shape):
    return np.zeros(shape, np.int32)


def model_of(bodies: list[Body], e: float, mu: float, g: float) -> tuple[Model, State]:
    n, zeros = len(bodies), np.zeros
    mass = np.array([b.mass for b in bodies], float)
    moves = mass > 0
    inertia = np.where(moves[:, None], np.array([b.inertia for b in bodies], float), 0.0)
    rows = [(i, *s) for i, b in enumerate(bodies) for s in b.shapes]
    kind = np.array([r[1] for r in rows], np.int32)
    size = np.array([r[2] for r in rows], float).reshape(-1, 3)
    position = np.array([r[3] if len(r) > 3 else (0, 0, 0) for r in rows], float)
    turn = np.array([r[4] if len(r) > 4 else UPRIGHT for r in rows], float)
    exponents = np.array([r[5] if len(r) > 5 else (1, 1) for r in rows], float).reshape(-1, 2)
    long = (ShapeKind.CAPSULE, ShapeKind.TORUS)
    bound = np.array([np.inf if k == ShapeKind.PLANE else (abs(s[0]) if k == ShapeKind.SPHERE else s[0] + s[1]
                      if k in long else np.linalg.norm(s)) for k, s in zip(kind, size, strict=True)])
    unit = zeros((n, 4))
    unit[:, 0] = 1.0
    state = empty_state(n)
    state.bodies.x[:], state.bodies.q[:] = [b.x for b in bodies], [b.q for b in bodies]
    state.bodies.v[:], state.bodies.w[:] = [b.v for b in bodies], [b.w for b in bodies]
    inverse = np.divide(1.0, mass, out=zeros(n), where=moves)
    model = Model(
        kind=np.where(moves, BodyKind.DYNAMIC, BodyKind.FIXED).astype(np.int32), mass=mass, inv_mass=inverse,
        inertia=inertia, inv_inertia=np.divide(1.0, inertia, out=zeros((n, 3)), where=inertia > 0),
        gravity=np.array([0.0, 0.0, -g]),
        shapes=Shapes(np.array([r[0] for r in rows], np.int32), kind, position, turn, size, bound, ints(len(rows)),
                      np.full(len(rows), -1, np.int32), exponents),
        hulls=Hulls(ints(1), zeros((0, 3)), ints(1), ints(0), ints(1), zeros((0, 3)), zeros(0), ints(1), ints(0),
                    ints(1), ints(0, 4)),
        meshes=Meshes(ints(1), zeros((0, 3)), ints(1), ints(0, 3), zeros((0, 3)), ints(0, 3), zeros((0, 3, 3)), ints(1),
                      zeros((0, 3)), zeros((0, 3)), ints(0, 2), ints(0)),
        materials=Materials(np.full((1, 1), e), np.full((1, 1), mu)),
        motions=Motions(state.bodies.x.copy(), state.bodies.q.copy(), zeros((n, 3)), zeros((n, 3)), zeros((n, 3)),
                        zeros(n), zeros(n), ints(n + 1), zeros(0), zeros((0, 3)), ints(n), zeros((n, 3)),
                        zeros((n, 3))),
        springs=Springs(ints(0), ints(0), zeros((0, 3)), zeros((0, 3)), zeros(0), zeros(0), zeros(0)),
    )
    momentum_from_velocity(model, state.bodies)
    return model, state


@dataclass
class Run:
    """A scene that runs; `events` are all since the start."""

    bodies: list[Body]
    e: float = 0.0
    mu: float = 0.0
    g: float = G
    integrator: str = "dopri5"
    law: str = "newton"
    h: float = 1.0 / 240.0
    events: list[Event] = field(default_factory=list)

    def __post_init__(self):
        self.model, self.state = model_of(self.bodies, self.e, self.mu, self.g)
        self.method = EventDriven(self.model)
        self.loads = empty_loads(len(self.bodies))

    def step(self, h: float | None = None):
        self.method.step(self.state, self.loads, Settings(
            integrator=self.integrator, h=h or self.h, impact_law=self.law))
        self.events += self.method.events

    def until(self, t: float):
        """Run to time t exactly: the last step is shorter."""
        while t - self.t > 1e-12:
            self.step(min(self.h, t - self.t))
        return self

    def until_event(self, kind: str, limit: float = 20.0) -> Event:
        """Run to the first further event of a kind."""
        seen = len(self.events)
        while self.t < limit:
            self.step()
            for event in self.events[seen:]:
                if event.kind == kind:
                    return event
            seen = len(self.events)
        raise AssertionError(f"no {kind} before {limit} s; events: {[(e.kind, e.t) for e in self.events]}")

    def times(self, kind: str) -> np.ndarray:
        return np.array([event.t for event in self.events if event.kind == kind])

    @property
    def t(self) -> float:
        return float(self.state.t[0])

    @property
    def solves(self) -> int:
        """How often contact problems were solved."""
        return int(self.state.tally[Tally.SOLVES])

    @property
    def energy(self) -> float:
        return measure(self.model, self.state.bodies)[0].total

    def current(self) -> list[int]:
        """Keys of the contacts in the current set."""
        c = self.method.contacts
        return c.key[: c.count[0]][c.current[: c.count[0]] == 1].tolist()

    def force(self) -> np.ndarray:
        """Contact forces on body b of each contact in the current set (c, 3)."""
        c = self.method.contacts
        n = int(c.count[0])
        return (c.lam[:n, None] * c.normal[:n] + c.friction_force[:n])[c.current[:n] == 1]
