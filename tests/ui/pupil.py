"""A pupil within the program: plays lessons through with the events of the window that mouse and keyboard cause, as
fast as the window follows. The program of a test imports it and calls `attend`; see `test_lesson_xvfb`.

Nothing here waits for a time: each action waits until the window shows what the one before has led to. Runs go HURRY
times as fast as lessons ask, with the same steps."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from imgui_bundle import imgui, implot
from probe import WATCHED
from pyglet.window import mouse

from contactlab.app.window.window import Window
from contactlab.assets import lessons
from contactlab.physics.lesson.questions import options
from contactlab.physics.run.pacing import Pacer

HURRY = 100.0
TYPED = "1"      # the answer to every question about a number
CLICKED = 4      # frames that take in a click: move, press, release, and what follows
HEARD = 40       # frames after which a click without effect is taken to have missed
CLICKS = 12      # on one widget, before the pupil gives up
RARE = 6         # frames of which one is drawn while a run goes on
TRIES = 12       # places in the view at which a point or an arrow is tried
Wait = Iterator[None]


class Pupil:
    """folder: where `status.json` tells how the window is, `go` lets the pupil begin, `doing` says what is clicked, and
    `played.json` what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rects: dict[str, tuple[float, float]] = {}
        self.plot: tuple[float, ...] = ()
        self.window: Any = None
        self.told = ""
        self.at_work: Wait | None = None
        self.played: list[dict[str, Any]] = []
        self.looking = self.resting = False
        self.ticks = 0

    def attend(self) -> None:
        """Look on from now on."""
        rate = Pacer._rate.fget
        Pacer._rate = property(lambda pacer: HURRY * rate(pacer))
        for name in WATCHED:
            setattr(imgui, name, self._watched(getattr(imgui, name)))
        end = implot.end_plot
        implot.end_plot = lambda: (self._saw_plot(), end())[1]
        draw = Window._draw_view

        def seen(window: Any, *args: Any) -> None:
            if self.at_work is None or self.looking:  # the view costs most, on a screen without a graphics card
                draw(window, *args)

        Window._draw_view = seen
        tick = Window._tick

        def then(window: Any, dt: float) -> None:
            self.window, self.ticks = window, self.ticks + 1
            if self.resting and self.ticks % RARE:
                return
            tick(window, dt)
            if window.lab is not None:
                self._go_on()
                if self.at_work is None:
                    self._tell()

        Window._tick = then

    def _watched(self, original: Callable) -> Callable:
        def widget(label: str, *args: Any, **keywords: Any) -> Any:
            result = original(label, *args, **keywords)
            (x0, y0), (x1, y1) = imgui.get_item_rect_min(), imgui.get_item_rect_max()
            self.rects[label.rpartition("###")[2]] = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
            return result

        return widget

    def _saw_plot(self) -> None:
        (x, y), (w, h) = implot.get_plot_pos(), implot.get_plot_size()
        self.plot = x, y, w, h

    # ------------------------------------------------------------------------------------------- what is seen

    @property
    def course(self) -> Any:
        return self.window.lab.ui.course

    @property
    def shown(self) -> bool:
        """The step is on the screen with its run."""
        return self.course.on and self.window.lab.teaching._dressed

    def _tell(self) -> None:
        course = self.course
        told = json.dumps({
            "lesson": course.lesson.key if course.on else "", "number": course.number, "shown": self.shown,
            "answered": course.verdict is not None, "presenting": course.presenting, "plot": self.plot,
            "rects": {name: place for name, place in self.rects.items() if "lesson" in name}})
        if told != self.told:
            (self.folder / "status.part").write_text(told)
            os.replace(self.folder / "status.part", self.folder / "status.json")
            self.told = told

    # --------------------------------------------------------------------------------------------- what is done

    def _go_on(self) -> None:
        if self.at_work is None:
            if not (self.folder / "go").exists():
                return
            self.at_work = self._all()
        if next(self.at_work, self) is self:
            (self.folder / "played.part").write_text(json.dumps(self.played))
            os.replace(self.folder / "played.part", self.folder / "played.json")
            (self.folder / "go").unlink()
            self.at_work = None

    def _all(self) -> Wait:
        for key, path in lessons().items():
            before = self.course.lesson  # which may be the same one, and is opened anew
            self.window.lab.ui.request("open_path", str(path))
            yield from self._until(lambda key=key, before=before: self.course.on and self.course.lesson is not before
                                   and self.course.lesson.key == key)
            yield from self._click(" 1 ##to_step_0", lambda: self.course.number == 0)
            for number in range(len(self.course.lesson.steps)):
                if number:
                    yield from self._click("Next  \uf054##lesson_on",
                                           lambda number=number: self.course.number == number)
                yield from self._rest(lambda number=number: self.course.number == number and self.shown)
                yield from self._look()
                yield from self._step(key, number)

    def _step(self, key: str, number: int) -> Wait:
        course, question = self.course, self.course.question
        if question is not None:
            yield from self._answer(question)
            yield from self._click("\uf04b  Predict, and run##lesson_predict", lambda: course.given is not None)
            yield from self._rest(lambda: course.verdict is not None or course.trouble)
        elif course.step.until is not None:
            yield from self._click("\uf04b  Run##lesson_run", lambda: course.running)
            yield from self._rest(lambda: not course.running)
        yield from self._look()
        self.played.append({
            "lesson": key, "step": number + 1, "asked": question is not None, "trouble": course.trouble,
            "answer": "" if course.verdict is None else course.verdict.answer, "t": self.window.lab.snapshot.t,
            "failures": [failure.sentence for failure in self.window.lab.ui.failures.values()]})

    def _answer(self, question: Any) -> Wait:
        draft = self.course.draft
        if question.type == "number":
            yield from self._click(f"{question.unit}##lesson_number", lambda: imgui.get_io().want_text_input)
            self.window.dispatch_event("on_text", TYPED)
            yield from self._until(lambda: draft.typed == TYPED)
        elif question.type == "sketch":
            x, y, w, h = self.plot
            self._move(x + 1.0, y + 0.5 * h)
            self._button("press", x + 1.0, y + 0.5 * h)
            yield from self._until(lambda: draft.last >= 0)
            self._move(x + w - 1.0, y + 0.4 * h, held=True)
            yield from self._until(lambda: draft.last == len(draft.drawn) - 1)
            self._button("release", x + w - 1.0, y + 0.4 * h)
            yield from self._until(lambda: draft.last < 0)
        elif options(question):
            yield from self._click("##option_0", lambda: draft.chosen == 0)
        else:  # some places in the view are above the horizon of the plane that is meant
            x, y, w, h = self.window.lab.ui.view_rect
            for k in range(TRIES):
                if draft.placed is None:
                    yield from self._press_at(x + 0.6 * w, y + (0.4 + 0.04 * k) * h)

    def _until(self, condition: Callable[[], object]) -> Wait:
        while not condition():
            yield

    def _rest(self, condition: Callable[[], object]) -> Wait:
        """As `_until`, while the engine has the most to do; first what was clicked has to come through."""
        yield from self._frames(CLICKED)
        self.resting = True
        yield from self._until(condition)
        self.resting = False

    def _look(self) -> Wait:
        """Until the window has drawn what is there now, the view included."""
        self.looking = True
        yield from self._frames(1)
        self.looking = False

    def _frames(self, count: int) -> Wait:
        last = imgui.get_frame_count() + count
        while imgui.get_frame_count() < last:
            self.window._touched()  # else the window rests where nothing changes
            yield

    def _click(self, label: str, done: Callable[[], object]) -> Wait:
        """Click a widget until that has led to what it leads to; where it never does, the test tells how often."""
        doing = f"{self.course.lesson.key}, step {self.course.number + 1}: {label}"
        for _ in range(CLICKS):
            (self.folder / "doing").write_text(doing)
            yield from self._aim(label)
            end = imgui.get_frame_count() + HEARD
            while imgui.get_frame_count() < end:
                if done():
                    return
                self.window._touched()
                yield
            doing += ", again"
        yield from self._until(done)

    def _aim(self, label: str) -> Wait:
        """One click, where two frames show the widget: what has just been opened may still move."""
        place, before = None, None
        while place is None or place != before:
            place, before = self.rects.pop(label, None), place
            self.window._touched()
            yield
        yield from self._press_at(*place)

    def _press_at(self, x: float, y: float) -> Wait:
        """What is done at once, Dear ImGui takes in one frame after the other."""
        self._move(x, y)
        self._button("press", x, y)
        self._button("release", x, y)
        yield

    def _move(self, x: float, y: float, held: bool = False) -> None:
        at = round(x), self.window.height - round(y), 0, 0
        if held:
            self.window.dispatch_event("on_mouse_drag", *at, mouse.LEFT, 0)
        else:
            self.window.dispatch_event("on_mouse_motion", *at)

    def _button(self, what: str, x: float, y: float) -> None:
        self.window.dispatch_event(f"on_mouse_{what}", round(x), self.window.height - round(y), mouse.LEFT, 0)
