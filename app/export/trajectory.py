"""Trajectories of runs, written to the disk as they come: a run may be longer than the memory."""

import csv
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ...physics import Simulation
from ...physics.core.whole_file import whole_file
from ...physics.look.quantities import Sample, heading, named, quantity_of
from ..figure import Figure, Line, encode

COLUMNS = ["t", "body", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
           "kinetic", "potential", "spring", "contacts"]


class Row(NamedTuple):
    """A simulation at one time. Poses and velocities are those of the bodies as the scene file places them."""

    t: float       #: [s]
    x: Any         #: (n, 3) [m]
    q: Any         #: (n, 4) w x y z
    v: Any         #: (n, 3) [m/s]
    w: Any         #: (n, 3) [rad/s]
    energy: tuple[float, float, float]  #: kinetic, potential, of springs [J]
    contacts: int

    @classmethod
    def of(cls, sim: Simulation) -> "Row":
        energy = sim.energy()
        return cls(sim.time, *sim.frames(), (energy.kinetic, energy.potential, energy.spring), len(sim.contacts.gap))


@contextmanager
def trajectory(out: Path | None, sim: Simulation) -> Iterator[Callable[[], None]]:
    """A function that notes the state of `sim`. `out`, .csv or .npz, appears whole when the block ends; where that
    raises, a file of that name stays as it was. None writes nothing. OSError where it cannot be written."""
    if out is None:
        yield lambda: None
        return
    kind = _table if out.suffix.lower() == ".csv" else _arrays
    with whole_file(out) as file, kind(file, out.absolute().parent, sim) as add:
        yield lambda: add(Row.of(sim))


@contextmanager
def plotted(out: Path | None, sim: Simulation, quantities: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Like `trajectory`, but the file has these quantities, "height:ball", over time: a picture, .png or .svg, or a
    table, .csv or .npz."""
    if out is None:
        yield lambda: None
        return
    names = sim.labels.bodies
    wanted = [named(text, names) for text in quantities]
    rows: list[list[float]] = []

    def add() -> None:
        now = Sample(sim.model, sim.state, sim.contacts, sim.info)
        rows.append([sim.time, *(quantity_of(name).value(now, body) for name, body in wanted)])

    with whole_file(out) as file:
        yield add
        table = np.array(rows).reshape(-1, 1 + len(wanted))
        lines = tuple(Line(heading(name, names[body] if body >= 0 else ""), quantity_of(name).unit, table[:, [0, k]])
                      for k, (name, body) in enumerate(wanted, 1))
        events = tuple((event.t, event.kind) for event in sim.events)
        file.write(encode(Figure(sim.labels.title or sim.scene.name, lines, events=events), out.suffix.lower()))


@contextmanager
def _table(file: IO[bytes], _: Path, sim: Simulation) -> Iterator[Callable[[Row], None]]:
    """A .csv file, a row a time and body."""

    class Encoded:
        @staticmethod
        def write(text: str) -> None:
            file.write(text.encode())

    writer = csv.writer(Encoded)
    writer.writerow(COLUMNS)

    def add(row: Row) -> None:
        bodies = np.hstack(row[1:5]).tolist()
        for name, values in zip(sim.labels.bodies, bodies, strict=True):
            writer.writerow([row.t, name, *values, *row.energy, row.contacts])

    yield add


@contextmanager
def _arrays(file: IO[bytes], folder: Path, sim: Simulation) -> Iterator[Callable[[Row], None]]:
    """A .npz file, an array a field of `Row`. Their length is known at the end only: until then each one grows in a
    file without a name in the same folder, which is gone when the process is, whatever ends it."""
    with ExitStack() as stack:
        grown = {name: stack.enter_context(tempfile.TemporaryFile(dir=folder)) for name in Row._fields}
        count = 0

        def add(row: Row) -> None:
            nonlocal count
            for name, value in row._asdict().items():
                grown[name].write(np.asarray(value).tobytes())
            count += 1

        yield add
        one = Row.of(sim)._asdict()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("names.npy", "w") as member:
                np.lib.format.write_array(member, np.array(sim.labels.bodies), allow_pickle=False)
            for name, rows in grown.items():
                value = np.asarray(one[name])
                header = {"descr": value.dtype.str, "fortran_order": False, "shape": (count, *value.shape)}
                rows.seek(0)
                with archive.open(name + ".npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array_header_1_0(member, header)
                    shutil.copyfileobj(rows, member)
