"""Sweeps: many runs of one scene as tasks of dask.distributed, on this machine or on a cluster, and their table.

Rows are written to a file beside the table as they come, one line of JSON each. So a sweep that was cut off, by
whatever, goes on where it was; when all rows are there, the table is written and this file removed.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ...physics import Scene, Simulation
from ...physics.core.given_path import given_path
from ...physics.core.team import VARIABLE
from ...physics.core.whole_file import whole_file
from ...physics.run.sweep import REASON, Row, Start, Sweep
from ..elsewhere import OwnLaw, lent, own_laws, packed, unpacked
from ..opening import load
from .sweep_table import told as what_was_run

SUFFIXES = (".csv", ".parquet")
WAITING = 8      # tasks in the scheduler for each thread of a worker: enough that none waits for the next one

Told = Callable[[int, int, str], None]  # rows that are there, all rows, address of the dashboard or ""
Point = tuple[int, tuple[Any, ...]]     # number and values of a run


class NoDask(ImportError):
    """dask.distributed, or what writes Parquet, is not installed."""


class CannotBegin(ValueError):
    """A worker lacks what the runs need."""


def sweep(
    scene: Scene | str | Path, vary: Mapping[str, Iterable[Any]],
    measure: str | Sequence[str] | Mapping[str, Callable[[Simulation], float]] = "rest time", *, until: float = 5.0,
    out: str | Path | None = None, settings: Mapping[str, Any] | None = None, start: Start | None = None,
    scheduler: str | None = None, workers: int | None = None, told: Told | None = None,
) -> dict[str, list[Any]]:
    """Run a scene for every combination of values, and return the table: a column a parameter, a measure, and "reason",
    why a run failed ("" where it did not).

        study = contactlab.sweep("dice", vary={"restitution": numpy.linspace(0, 1, 21)}, measure="rest time")
        pandas.DataFrame(study)

    vary: settings ("restitution", "h", "method", …) or places in the scene ("body.die 1.mass", "scene.gravity.2").
    measure: "rest time", "events", "impacts" or QUANTITY[:BODY][:end|max|min|mean], say "height:die 1:max"; several of
        them; or functions by name, each of which gets the simulation at the end of a run and returns a number.
    until: simulated time of each run [s].
    out: .csv or .parquet. Where it was begun and cut off, only what is missing is run.
    settings: of all runs, as `Simulation.set` takes them; "law" may be one of your own, see `soft_law`.
    start: a function that is called with the simulation of each run before its first step, say to give it a controller
        or a force law.
    scheduler: address of a dask scheduler, "tcp://host:8786", whose workers have Contactlab and, below the same paths,
        the scene's meshes; else as many processes as this machine has cores, or `workers`; 0: in this process, one run
        after the other, without dask.
    told: is called with the number of rows that are there, of all rows, and the address of dask's dashboard.

    A script whose sweep starts processes must have its code below `if __name__ == "__main__":`. Its functions and laws
    go along; what they import the other machines must have. Raises ValueError where something cannot be varied,
    measured or sent there, before any run; NoDask; OSError.
    """
    functions = measure if isinstance(measure, Mapping) else {}
    names = (measure,) if isinstance(measure, str) else () if functions else tuple(measure)
    values = {name: list(given) for name, given in vary.items()}
    of = scene if isinstance(scene, Scene) else load(scene)
    plan = Sweep(of, values, names, until, settings or {}, functions, start)
    return carry_out(plan, None if out is None else given_path(out), scheduler, workers, told or (lambda *_: None))


def carry_out(plan: Sweep, out: Path | None, scheduler: str | None, workers: int | None, told: Told
              ) -> dict[str, list[Any]]:
    """Run what is missing of a sweep, and write and return its table."""
    if out is not None:
        _require(out.suffix)
    with ExitStack() as stack:
        rows = stack.enter_context(_journal(out, plan)) if out is not None else _Rows(None)
        missing = [(k, values) for k, values in enumerate(plan.points()) if k not in rows.there]
        if missing:
            local = scheduler is None and workers == 0
            made = _here(plan, missing) if local else stack.enter_context(_spread(plan, missing, scheduler, workers))
            told(len(rows.there), plan.count, getattr(made, "dashboard", ""))
            for number, row in made:
                rows.add(number, row)
                told(len(rows.there), plan.count, getattr(made, "dashboard", ""))
        table = {name: [rows.there[k][name] for k in range(plan.count)] for name in plan.columns}
        if out is not None:
            with whole_file(out) as file:
                _write(file, out.suffix, table, plan)
    if out is not None:
        _beside(out).unlink()
    return table


# --------------------------------------------------------------------------------------------- rows on the disk


class _Rows:
    """The rows that are there, by number; each new one is on the disk at once where there is a file."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self.there: dict[int, Row] = {}
        self._file = file

    def add(self, number: int, row: Row) -> None:
        self.there[number] = row
        if self._file is not None:
            self._file.write(f"{json.dumps([number, row])}\n".encode())
            self._file.flush()


def _beside(out: Path) -> Path:
    return out.with_name(out.name + ".part")


@contextmanager
def _journal(out: Path, plan: Sweep) -> Iterator[_Rows]:
    """The rows that an earlier attempt has left, and their file to go on with. ValueError where they are of another
    sweep."""
    path = _beside(out)
    found = path.read_bytes() if path.exists() else b""
    whole = found[: found.rfind(b"\n") + 1]  # what follows the last line break was cut off
    head, *lines = whole.decode().splitlines() or [plan.mark]
    if head != plan.mark:
        raise ValueError(f"{path.name} is of another sweep; it must be removed first, or --out be another file")
    with path.open("ab") as file:
        file.truncate(len(whole))
        rows = _Rows(file)
        if not whole:
            file.write(f"{plan.mark}\n".encode())
        rows.there = {number: row for number, row in map(json.loads, lines)}
        yield rows


def _write(file: IO[bytes], suffix: str, table: Mapping[str, list[Any]], plan: Sweep) -> None:
    if suffix == ".parquet":
        from pyarrow import parquet
        from pyarrow import table as columns

        parquet.write_table(columns(dict(table)).replace_schema_metadata(what_was_run(plan)), file)
        return
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow(["" if isinstance(value, float) and math.isnan(value) else value for value in row])
    file.write(text.getvalue().encode())


def _require(suffix: str) -> None:
    if suffix not in SUFFIXES:
        raise ValueError(f"the table of a sweep ends in {' or '.join(SUFFIXES)}, not {suffix!r}")
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise NoDask("Parquet needs pyarrow: pip install 'contactlab[study]', or let --out end in .csv") from error


# ------------------------------------------------------------------------------------------------------- runs


def _here(plan: Sweep, missing: Sequence[Point]) -> Iterator[tuple[int, Row]]:
    for number, values in missing:
        yield number, plan.run(values)


class _Results:
    """The rows as the workers finish them."""

    def __init__(self, plan: Sweep, missing: Sequence[Point], client: Any, data: bytes) -> None:
        self.dashboard = client.dashboard_link if _has_dashboard() else ""
        self._plan, self._missing, self._client, self._data = plan, missing, client, data

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        threads = max(1, sum(self._client.nthreads().values()))
        suspects: list[Point] = []
        for number, values, row, error in self._outcomes(self._missing, WAITING * threads):
            if row is not None:
                yield number, row
            elif isinstance(error, CannotBegin):
                raise error
            elif type(error).__name__ == "KilledWorker":  # all runs that its process had before it are lost
                suspects.append((number, values))
            else:
                yield number, self._failed(values, f"{type(error).__name__}: {error}")
        for number, values, row, _ in self._outcomes(suspects, 1):
            yield number, row if row is not None else self._failed(values, "the process that ran it ended")

    def _outcomes(self, points: Sequence[Point], most: int
                  ) -> Iterator[tuple[int, tuple[Any, ...], Row | None, Exception | None]]:
        """Number, values and row of each run, or why there is none; `most`: tasks that dask has at once."""
        from distributed import as_completed

        run, queue, given = partial(run_one, self._data), iter(points), {}  # one function: a worker gets it once

        def submit(number: int, values: tuple[Any, ...]) -> Any:
            future = self._client.submit(run, values, pure=False)
            given[future.key] = number, values
            return future

        waiting = as_completed([submit(*point) for point in islice(queue, most)], loop=self._client.loop)
        for future in waiting:
            number, values = given.pop(future.key)
            try:
                yield number, values, future.result(), None
            except Exception as error:  # a function of the user has failed, or the process of the worker
                yield number, values, None, error
            for point in islice(queue, 1):
                waiting.add(submit(*point))

    def _failed(self, values: tuple[Any, ...], why: str) -> Row:
        plan = self._plan
        nothing = dict.fromkeys([*plan.measures, *plan.functions], math.nan)
        return {**dict(zip(plan.vary, _plain(values), strict=True)), **nothing, REASON: why}


def run_one(data: bytes, values: tuple[Any, ...]) -> Row:
    """The task of a worker: a run of the sweep in `data`. Raises CannotBegin."""
    plan, laws = _brought(data)
    with lent(laws):
        return plan.run(values)


@lru_cache(maxsize=2)
def _brought(data: bytes) -> tuple[Sweep, list[OwnLaw]]:
    try:
        plan, laws = unpacked(data, "what the sweep runs")
        with lent(laws):
            return plan, laws
    except ValueError as error:
        raise CannotBegin(str(error)) from error


def _laws_of(plan: Sweep) -> list[OwnLaw]:
    """Laws of scripts that the runs may have. ValueError where one of them cannot go to the workers."""
    named = {plan.settings.get("law"), *plan.vary.get("law", ())}
    laws = own_laws()
    for law in laws:
        if law.hindrance and law.name in named:
            raise ValueError(law.hindrance)
    return [law for law in laws if not law.hindrance and (law.name in named or plan.start is not None)]


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.item() if hasattr(value, "item") else value for value in values]


def _has_dashboard() -> bool:
    """Whether dask can show its page."""
    return find_spec("bokeh") is not None


@contextmanager
def _spread(plan: Sweep, missing: Sequence[Point], scheduler: str | None, workers: int | None) -> Iterator[_Results]:
    """Workers for the runs that are missing: those of a scheduler, else processes of this machine."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise NoDask("a sweep over several processes needs dask: pip install 'contactlab[study]'; without it "
                     "--workers 0 makes one run after the other") from error
    data = packed((plan, _laws_of(plan)), "what the sweep runs")
    with config.set({"distributed.scheduler.allowed-failures": 0}), ExitStack() as stack:
        address: Any = scheduler
        if scheduler is None:
            plan.simulation(missing[0][1]).step()  # compiles here what all workers then load
            address = stack.enter_context(LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
                silence_logs=logging.CRITICAL, env={VARIABLE: "1"}))  # a worker has one core
        try:
            client = stack.enter_context(Client(address, timeout="20s", set_as_default=False))
        except OSError as error:
            raise OSError(f"there is no dask scheduler at {scheduler}") from error
        yield _Results(plan, missing, client, data)
