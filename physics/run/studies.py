"""Studies: runs that the physics thread makes beside the one that is shown, a little at a time and one study after the
other."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..core.interruption import Interrupted
from ..core.report import Settings
from ..simulation.simulation import Simulation
from . import fan, link_study, order_study
from .messages import (
    Fan,
    FanPath,
    LinkPoint,
    LinkStudy,
    MapPoint,
    MapStudy,
    OrderPoint,
    OrderStudy,
    StudyFan,
    StudyMap,
    StudyOrders,
)
from .sweep import REASON, Sweep
from .warm_up import prepare


class Studies:
    """The latest study of each kind, and the one that is running. clock() tells the processor time [s]."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.links: LinkStudy | None = None
        self.orders: OrderStudy | None = None
        self.map: MapStudy | None = None
        self.fan: Fan | None = None
        self._points: Iterator[LinkPoint | OrderPoint | MapPoint | FanPath | None] = iter(())

    @property
    def running(self) -> bool:
        return any(study is not None and study.running for study in self._all)

    @property
    def _all(self) -> tuple[LinkStudy | None, OrderStudy | None, MapStudy | None, Fan | None]:
        return self.links, self.orders, self.map, self.fan

    def study_links(self, settings: Settings) -> None:
        """Begin the study of falling chains, with the kernels that it needs."""
        self.end()
        for coordinates, cure in link_study.KINDS:
            prepare(link_study.hanging(2, coordinates, cure, settings))
        self.links = LinkStudy(settings, (), running=True)
        self._points = link_study.study(settings, self._clock)

    def study_orders(self, shown: Simulation, asked: StudyOrders) -> None:
        """Begin the study of orders of accuracy of the scene that is shown. Raises ValueError where a method is not for
        it."""
        self.end()
        for variant in asked.variants:
            prepare(order_study.ready(shown.scene, shown.settings, variant, shown.settings.h))
        self.orders = OrderStudy(asked, shown.settings, (), running=True)
        self._points = order_study.study(
            shown.scene, shown.settings, asked.variants, asked.until, asked.by_forms, self._clock)

    def study_map(self, shown: Simulation, asked: StudyMap) -> None:
        """Begin the map of a sweep of the scene that is shown. Raises ValueError where something cannot be varied or
        measured, before any run."""
        varied = dict(asked.vary)
        settings = {name: value for name, value in asdict(shown.settings).items() if name not in varied}
        plan = Sweep(shown.scene, varied, (asked.measure,), asked.until, settings)
        self.end()
        prepare(plan.simulation(next(plan.points())))
        self.map = MapStudy(asked, shown.scene, shown.settings, (), running=True)
        self._points = _map(plan, asked.measure)

    def study_fan(self, shown: Simulation, asked: StudyFan) -> None:
        """Begin a fan of the scene that is shown. Raises ValueError where no start of it can differ."""
        self.end()
        prepare(fan.start(shown.scene, shown.settings, asked.by, 0))
        self.fan = Fan(asked, shown.settings, (), running=True)
        self._points = fan.fan(shown.scene, shown.settings, asked)

    def end(self) -> None:
        """End the study that is running; what it has found stays."""
        self._points = iter(())
        self.links = self.links and self.links._replace(running=False)
        self.orders = self.orders and self.orders._replace(running=False)
        self.map = self.map and self.map._replace(running=False)
        self.fan = self.fan and self.fan._replace(running=False)

    def drop_fan(self) -> None:
        """Take the fan away."""
        if self.fan is not None and self.fan.running:
            self.end()
        self.fan = None

    def forget_scene(self) -> None:
        """Another scene is opened. The map stays: its runs are opened one after the other."""
        if any(study is not None and study.running for study in (self.orders, self.map, self.fan)):
            self.end()
        self.orders = self.fan = None

    def advance(self, enough: Callable[[], bool]) -> bool:
        """Go on until it is `enough`; returns whether there is something new to show."""
        before = self._all
        while self.running and not enough():
            try:
                self._note(next(self._points))
            except (StopIteration, Interrupted):
                self.end()
            except Exception:
                self.end()
                raise
        return any(now is not then for now, then in zip(self._all, before, strict=True))

    def _note(self, point: Any) -> None:
        if isinstance(point, LinkPoint) and self.links is not None:
            self.links = self.links._replace(points=(*self.links.points, point))
        if isinstance(point, OrderPoint) and self.orders is not None:
            self.orders = self.orders._replace(points=(*self.orders.points, point))
        if isinstance(point, MapPoint) and self.map is not None:
            self.map = self.map._replace(points=(*self.map.points, point))
        if isinstance(point, FanPath) and self.fan is not None:
            self.fan = self.fan._replace(paths=(*self.fan.paths, point))


def _map(plan: Sweep, measure: str) -> Iterator[MapPoint | None]:
    """The points of a map; None after each step."""
    for values in plan.points():
        row = yield from plan.steps(values)
        yield MapPoint(row[measure], row[REASON])
