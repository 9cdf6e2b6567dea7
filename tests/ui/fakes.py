"""A snapshot made by hand, an engine that only listens, and a host without a window: what the panels' tests need."""

from dataclasses import replace

import numpy as np

from contactlab.physics.core.model import Hulls, Labels, Materials, Meshes, Model, Motions, Shapes, Springs
from contactlab.physics.core.state import Case, empty_contacts
from contactlab.physics.run import messages as m


def _empty(kind: type, **given: np.ndarray):
    """A NamedTuple of empty arrays but for those given."""
    return kind(**{name: given.get(name, np.zeros(0)) for name in kind._fields})


def model(n: int = 3) -> Model:
    """A fixed plane (body 0) and n - 1 dynamic spheres of radius 0.1 m."""
    kind = np.zeros(n, np.int32)
    kind[0] = 1
    shapes = Shapes(
        body=np.arange(n, dtype=np.int32), kind=np.array([4] + [0] * (n - 1), np.int32), position=np.zeros((n, 3)),
        orientation=np.tile([1.0, 0, 0, 0], (n, 1)), size=np.full((n, 3), 0.1),
        bound=np.array([np.inf] + [0.1] * (n - 1)), material=np.zeros(n, np.int32), data=np.full(n, -1, np.int32),
        exponents=np.ones((n, 2)),
    )
    materials = Materials(restitution=np.array([[0.5]]), friction=np.array([[0.3]]))
    one = np.ones(n)
    return Model(kind, one, one, np.ones((n, 3)), np.ones((n, 3)), np.array([0.0, 0.0, -9.81]), shapes, _empty(Hulls),
                 _empty(Meshes), materials, _empty(Motions), _empty(Springs))


def contacts(count: int):
    c = empty_contacts(count)
    c.count[0] = count
    c.body_b[:] = 1 + np.arange(count) % 2
    c.key[:] = 100 + np.arange(count)
    c.normal[:, 2] = 1.0
    c.point[:, 0] = np.arange(count)
    c.lam[:] = 10.0 * np.arange(count)
    c.gap[:] = 1e-4
    c.case[:] = Case.RESTING
    c.current[:] = c.active[:] = 1
    return c


def snapshot(count: int = 3, n: int = 3, **fields) -> m.Snapshot:
    labels = Labels(
        title="Three balls", summary="They rest.", watch="The contact forces.",
        bodies=("ground", *(f"ball {i}" for i in range(1, n))), materials=("default",), colors=np.full((n, 3), np.nan),
        origin=np.zeros((n, 3)), axes=np.tile([1.0, 0, 0, 0], (n, 1)), notes=(),
    )
    x = np.zeros((n, 3))
    x[1:, 0] = np.arange(n - 1)
    x[1:, 2] = 0.1
    t = np.linspace(0.0, 1.0, 200)
    log = np.column_stack([t, 5 * np.sin(t) ** 2, 5 * np.cos(t) ** 2, 0 * t, 0 * t, 0 * t])
    made = {
        "generation": 1, "scene_name": "three", "model": model(n), "labels": labels, "settings": m.Settings(),
        "step": 120, "t": 0.5, "paused": True, "speed": 1.0, "real_time_factor": 0.0, "x": x,
        "q": np.tile([1.0, 0, 0, 0], (n, 1)),
        "v": np.zeros((n, 3)), "w": np.zeros((n, 3)), "L": np.zeros((n, 3)), "contacts": contacts(count), "events": (),
        "event_count": 0, "energy": m.Energy(1.0, 2.0, 0.0), "momentum": (0.0, 0.0, 0.0),
        "angular_momentum": (0.0, 0.0, 0.0), "info": m.StepInfo(contacts=count), "history": (0, 240), "energy_log": log,
    }
    made |= fields
    if made.get("inspection") is not None:  # as if it were of this snapshot
        made["inspection"] = replace(made["inspection"], labels=made["labels"])
    return m.Snapshot(**made)


class Engine:
    """Keeps what it is sent; `latest` is set by the test."""

    progress = None
    compiles = False
    failure = ""
    busy = 0.0

    def __init__(self, latest: m.Snapshot | None = None) -> None:
        self.latest = latest
        self.sent: list[m.Command] = []

    def send(self, command: m.Command) -> None:
        self.sent.append(command)


class Host:
    """Keeps what it is asked to do."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def choose_file(self) -> None:
        self.asked.append("choose_file")

    def choose_mesh(self) -> None:
        self.asked.append("choose_mesh")

    def choose_new_file(self, suggested) -> None:
        self.asked.append("choose_new_file")
        self.suggested = suggested

    def picture_for(self, scene) -> None:
        self.asked.append("picture_for")

    def toggle_fullscreen(self) -> None:
        self.asked.append("toggle_fullscreen")

    def screenshot(self) -> None:
        self.asked.append("screenshot")

    def copy(self, text: str) -> None:
        self.asked.append("copy")
        self.copied = text

    def toggle_recording(self) -> None:
        self.asked.append("toggle_recording")

    def quit(self) -> None:
        self.asked.append("quit")


def settle(lab):
    """Wait until the file that a Lab opens in the background is there."""
    while lab.opening:
        lab.update()
