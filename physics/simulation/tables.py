"""What a simulation shows, as tables: columns by their headings, for data frames and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..core.given_path import given_path
from ..core.model import Array
from ..core.state import Case
from ..core.whole_file import whole_file
from .handles import Owner

Table = dict[str, Any]  #: heading -> (k,) values
#: what `Simulation.trace` notes where nothing is named
USUAL: dict[str, Callable[[Any], float]] = {
    "kinetic": lambda sim: sim.energy().kinetic, "potential": lambda sim: sim.energy().potential,
    "energy": lambda sim: sim.energy().total, "contacts": lambda sim: float(len(sim.contacts.gap)),
}


def bodies_table(sim: Any) -> Table:
    """A row a body: x y z [m], quaternion qw qx qy qz, velocity vx vy vz [m/s], angular velocity wx wy wz [rad/s]."""
    x, q, v, w = sim.frames()
    return {"body": list(sim.labels.bodies), **_three("", x), **_three("q", q, "wxyz"), **_three("v", v),
            **_three("w", w)}


def joints_table(sim: Any) -> Table:
    """A row a joint: its bodies, and position and velocity of its first axis."""
    joints = list(sim.joints)
    return {"joint": [j.name for j in joints], "type": [j.type for j in joints],
            "parent": [j.parent for j in joints], "child": [j.child for j in joints],
            "position": np.array([_first(j.position) for j in joints]),
            "velocity": np.array([_first(j.velocity) for j in joints])}


def contacts_table(sim: Owner) -> Table:
    """A row a contact of the last step: bodies a and b, point x y z [m], normal, gap [m], ζ [m/s], λ [N], friction
    force fx fy fz on b [N], slip [m/s], case, and whether it is in the current and in the active set."""
    c, names = sim.contacts, sim.labels.bodies
    return {"a": [names[i] for i in c.body_a], "b": [names[i] for i in c.body_b], **_three("", c.point),
            **_three("n", c.normal), "gap": c.gap.copy(), "zeta": c.zeta.copy(), "lam": c.lam.copy(),
            **_three("f", c.friction_force), "slip": c.slip.copy(),
            "case": [Case(i).name.lower() if i else "" for i in c.case],
            "current": c.current.astype(bool), "active": c.active.astype(bool)}


def events_table(sim: Any) -> Table:
    """A row an event up to now: time t [s], kind, bodies a and b, point x y z [m], impulse px py pz on b [N s], energy
    before and after it [J]."""
    events = sim.events
    names = [*sim.labels.bodies, ""]  # the last one for -1, no body
    return {"t": np.array([e.t for e in events]), "kind": [e.kind for e in events],
            "a": [names[e.bodies[0]] for e in events], "b": [names[e.bodies[1]] for e in events],
            **_three("", np.array([e.point for e in events]).reshape(-1, 3)),
            **_three("p", np.array([e.impulse for e in events]).reshape(-1, 3)),
            "energy_before": np.array([e.energy_before for e in events]),
            "energy_after": np.array([e.energy_after for e in events])}


TABLES: dict[str, Callable[[Any], Table]] = {
    "bodies": bodies_table, "joints": joints_table, "contacts": contacts_table, "events": events_table,
}


def table_of(sim: Any, what: str) -> Table:
    """One of TABLES. Raises ValueError."""
    if what not in TABLES:
        raise ValueError(f"a table must be one of {', '.join(TABLES)}, not {what!r}")
    return TABLES[what](sim)


def data_frame(table: Table) -> Any:
    """The table as a pandas.DataFrame. Raises ImportError where pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a data frame needs pandas: pip install pandas. `Simulation.table` has the same columns as "
                          "arrays.") from error
    return pandas.DataFrame(table)


def save_table(table: Table, path: str | Path) -> None:
    """Write a table: .csv, or .npz with an array a column. Raises ValueError for another ending, OSError."""
    path = given_path(path)
    if path.suffix not in (".csv", ".npz"):
        raise ValueError(f"a table is saved as .csv or .npz, not {path.name!r}")
    with whole_file(path) as file:
        if path.suffix == ".npz":
            arrays: Any = {name: np.asarray(column) for name, column in table.items()}
            np.savez(file, **arrays)
            return
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(table)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in table.values()), strict=True))
        file.write(text.getvalue().encode())


def _three(heading: str, values: Array, letters: str = "xyz") -> dict[str, Array]:
    return {f"{heading}{letter}": values[:, k].copy() for k, letter in enumerate(letters)}


def _first(value: Any) -> float:
    numbers = np.atleast_1d(value)
    return float(numbers[0]) if len(numbers) == 1 else float("nan")


# ------------------------------------------------------------------------------------------------ over time


class Trace:
    """Quantities of a run over time, a row a step; see `Simulation.trace`. `run["t"]` is a column (k,)."""

    def __init__(self, quantities: dict[str, Callable[[Any], float]], every: int) -> None:
        self._quantities, self._every, self._seen = quantities, every, 0
        self._rows: list[tuple[float, ...]] = []

    def note(self, sim: Any) -> None:
        """Add a row, after every `every`-th step."""
        if self._seen % self._every == 0:
            self._rows.append((sim.time, *(float(quantity(sim)) for quantity in self._quantities.values())))
        self._seen += 1

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, name: str) -> Array:
        """A column (k,)."""
        return self.table[name]

    @property
    def table(self) -> Table:
        """t [s] and a column a quantity."""
        names = ["t", *self._quantities]
        values = np.array(self._rows, float).reshape(-1, len(names))
        return {name: values[:, k].copy() for k, name in enumerate(names)}

    def to_dataframe(self) -> Any:
        """The table as a pandas.DataFrame."""
        return data_frame(self.table)

    def save(self, path: str | Path) -> None:
        """Write the table: .csv, or .npz with an array a column."""
        save_table(self.table, path)


@contextmanager
def tracing(observers: list[Callable[[Any], None]], sim: Any, trace: Trace) -> Iterator[Trace]:
    """Inside, the trace gets a row now and one after every step."""
    trace.note(sim)
    observers.append(trace.note)
    try:
        yield trace
    finally:
        observers.remove(trace.note)
