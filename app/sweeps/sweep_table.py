"""The table of a sweep, opened again: its parameters, measures and rows, and in a Parquet file the scene."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...physics.core.limits import RUNS
from ...physics.core.report import Settings
from ...physics.core.settings import SETTINGS
from ...physics.run.messages import MapPoint, MapStudy, StudyMap
from ...physics.run.sweep import REASON, Sweep, replaced
from ...physics.scene.scene import Scene

KEY = b"contactlab"  # in the metadata of a Parquet file: what was run, as JSON
AXES = 2             # parameters over which a map is drawn


class SweepTable(NamedTuple):
    """Rows for all combinations of the values of the parameters; the last one changes fastest."""

    path: Path
    vary: tuple[tuple[str, tuple[Any, ...]], ...]  #: parameter -> its values
    measures: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]           #: of measures and REASON
    scene: Scene | None = None                     #: that was run; None where the file does not tell
    settings: Settings | None = None               #: of all runs, likewise
    until: float = math.nan                        #: simulated time of each run [s], likewise
    scripted: bool = False                         #: a function of a script has prepared each run

    @property
    def numbers(self) -> list[str]:
        """The parameters whose values are numbers, over which a map can be drawn."""
        return [name for name, values in self.vary if not any(isinstance(value, str) for value in values)]

    def of(self, scene: Scene, settings: Settings) -> "SweepTable":
        """The same as a table of runs of this scene with these settings. ValueError where the scene has no such place.
        """
        first = {name: values[0] for name, values in self.vary if name not in SETTINGS}
        if first:
            replaced(scene, first)
        return self._replace(scene=scene, settings=settings)

    def study(self, axes: Sequence[str], measure: str, others: Mapping[str, int]) -> MapStudy:
        """The map over one or two parameters; others: which value the other parameters have, by number."""
        assert self.scene is not None and self.settings is not None
        sizes = [len(values) for _, values in self.vary]
        at = tuple(slice(None) if name in axes else others.get(name, 0) for name, _ in self.vary)
        left = [name for name, _ in self.vary if name in axes]

        def chosen(column: str) -> list[Any]:
            cube = np.empty(len(self.columns[column]), object)
            cube[:] = self.columns[column]
            return cube.reshape(sizes)[at].transpose([left.index(name) for name in axes]).ravel().tolist()

        given = {name: values[others.get(name, 0)] for name, values in self.vary if name not in axes}
        places = {name: value for name, value in given.items() if name not in SETTINGS}
        values = dict(self.vary)
        return MapStudy(
            StudyMap(tuple((name, values[name]) for name in axes), measure, self.until),
            replaced(self.scene, places) if places else self.scene,
            replace(self.settings, **{name: value for name, value in given.items() if name in SETTINGS}),
            tuple(map(MapPoint, chosen(measure), chosen(REASON))), running=False)


def told(plan: Sweep) -> dict[bytes, bytes]:
    """What a Parquet file keeps of a sweep beside its rows."""
    scene = plan.scene
    what = {"scene": scene.tables.model_dump(mode="json", exclude_defaults=True),
            "folder": None if scene.folder is None else str(scene.folder), "until": plan.until, "vary": [*plan.vary],
            "scripted": plan.start is not None, "settings": asdict(plan.simulation(next(plan.points())).settings)}
    return {KEY: json.dumps(what).encode()}


def read_table(path: Path) -> SweepTable:
    """Read what `sweeping.sweep` wrote. Raises ValueError, OSError."""
    columns, what = _parquet(path) if path.suffix.lower() == ".parquet" else (_csv(path), {})
    names = list(columns)
    parameters = what.get("vary") or [name for k, name in enumerate(names) if all(map(_parameter, names[: k + 1]))]
    measures = tuple(names[len(parameters) : -1])
    if names[-1:] != [REASON] or not parameters or names[: len(parameters)] != parameters or not measures:
        raise ValueError("this is no table of a sweep: one has columns of parameters, of measures, and `reason`")
    for name in parameters:
        if name in SETTINGS and SETTINGS[name].kind is int:
            columns[name] = [int(value) for value in columns[name]]
    vary = tuple((name, tuple(dict.fromkeys(columns[name]))) for name in parameters)
    count = len(columns[REASON])
    if math.prod(len(values) for _, values in vary) != count or any(
            row != point for row, point in zip(zip(*(columns[name] for name in parameters), strict=True),
                                               product(*(values for _, values in vary)), strict=True)):
        raise ValueError("its rows are not those of a sweep: one for each combination of the values, in order")
    for name in measures:
        columns[name] = [value if isinstance(value, float) else math.nan for value in columns[name]]
    columns[REASON] = [str(reason or "") for reason in columns[REASON]]
    table = SweepTable(path, vary, measures, columns)
    if not table.numbers:
        raise ValueError(f"there is no map of it: none of its parameters ({', '.join(parameters)}) is a number")
    return table if not what else _with_scene(table, what)


def _parameter(name: str) -> bool:
    """Whether a column is of a setting or of a place in the scene, "body.ball.mass"; measures have their colon first.
    """
    return name in SETTINGS or "." in name.partition(":")[0]


def _with_scene(table: SweepTable, what: Mapping[str, Any]) -> SweepTable:
    try:
        scene = Scene.from_dict(what["scene"], what["folder"] and Path(what["folder"]))
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                 for name, value in what["settings"].items()}
        told = table._replace(until=float(what["until"]), scripted=bool(what.get("scripted")))
        return told.of(scene, Settings(**given))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"what it tells of its scene cannot be read: {error}") from error


def _csv(path: Path) -> dict[str, list[Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names, table = next(rows, []), list(islice(rows, RUNS.most + 1))
    if len(table) > RUNS.most:
        raise ValueError(f"it has more rows than a sweep has runs, {RUNS.most:,}")
    if len({*names}) < len(names) or any(len(row) != len(names) for row in table):
        raise ValueError("this is no table of a sweep: its rows have other columns than its head")
    return {name: [_number(row[k]) for row in table] for k, name in enumerate(names)}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _parquet(path: Path) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError("Parquet needs pyarrow: pip install 'contactlab[study]'") from error
    file = parquet.ParquetFile(path)
    if file.metadata.num_rows > RUNS.most:
        raise ValueError(f"it has more rows than a sweep has runs, {RUNS.most:,}")
    table = file.read()
    columns = {name: [float(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for v in values]
               for name, values in table.to_pydict().items()}
    what = json.loads((table.schema.metadata or {}).get(KEY, b"{}"))
    return columns, what if isinstance(what, dict) else {}
