"""A lesson at the left of the view: its text with formulas, what can be changed, the question before the run, and what
the run said of the prediction."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import _, labelled
from ...physics.lesson.questions import Verdict, instants, options, pieces
from ...physics.lesson.schema import (
    ArrowQuestion,
    NumberQuestion,
    PointQuestion,
    QuestionTable,
    SketchQuestion,
)
from ...physics.look.quantities import quantity_of
from ...physics.run.messages import Command, SetSpeed, Snapshot
from ..course import Course, Draft
from ..keys import key_of
from ..ui_state import Rect, UiState
from . import pictures, style
from .formula import formula, plain
from .parameters import draw_setting
from .placed import draw_placed
from .rows import FULL, value_row
from .wrapping import joined, text_wrapped

Send = Callable[[Command], None]


@dataclass
class Name:
    """What was typed of the student's name."""

    text: str = ""


LARGER = 1.5  # text of a presentation, to that of the panels
SPEEDS = 0.01, 1.0
SIGHT = 0.6   # of the height of the text: where what the run said comes into sight
SHORT = 0.1   # share of a curve that may be left out at each end


def draw_lesson(ui: UiState, snapshot: Snapshot, send: Send, rect: Rect) -> None:
    """The whole panel: the step between its heading and the buttons that turn the pages."""
    course = ui.course
    with style.panel("lesson", rect, imgui.WindowFlags_.no_scrollbar) as shown:
        if not shown or course.lesson is None:
            return
        size = LARGER if course.presenting else 1.0
        _heading(ui, course)
        foot = imgui.get_frame_height() + imgui.get_style().item_spacing.y
        imgui.begin_child(f"step_{course.number}", (0.0, -foot))
        with style.font(ui, bold=True, size=21.0 * size):
            text_wrapped(_(course.step.title))
        draw_text(ui, _(course.step.text), size)
        if course.step.picture is not None:
            _picture(ui, course.lesson.folder / course.step.picture)
        _controls(ui, snapshot, send, course)
        if course.question is not None:
            _question(ui, snapshot, course, course.question, size)
        elif course.step.until is not None:
            _run_button(ui, course)
        imgui.end_child()
        _foot(ui, course)


def _heading(ui: UiState, course: Course) -> None:
    """The lesson's title, and a button a step."""
    assert course.lesson is not None
    with style.font(ui, size=14.0):
        style.muted(ui, style.clipped_text(_(course.lesson.title), imgui.get_content_region_avail().x - 4.4 * ui.font))
    imgui.same_line(style.right_edge() - 4.0 * ui.font)
    with style.color(imgui.Col_.button, (0, 0, 0, 0)):
        if imgui.small_button("\uf065##present" if not course.presenting else "\uf066##present"):
            ui.request("lesson_present")
        imgui.set_item_tooltip(_("Large, without other panels, or as it was  "
                                 "({value})").format(value=key_of('lesson_present')))
        imgui.same_line(0, 0.3 * ui.font)
        if imgui.small_button("\uf00d##leave_lesson"):
            ui.request("lesson_leave")
        imgui.set_item_tooltip(_("Close the lesson"))
    c = style.colors(ui)
    for k, step in enumerate(course.lesson.steps):
        here = k == course.number
        if k and imgui.get_content_region_avail().x > 0:
            imgui.same_line(0, 0.25 * ui.font)
        with style.color(imgui.Col_.button, c.accent if here else c.raised), \
                style.color(imgui.Col_.text, c.on_accent if here else c.text):
            if imgui.small_button(f" {k + 1} ##to_step_{k}"):
                ui.request("lesson_to", k)
        imgui.set_item_tooltip(_(step.title))
    imgui.dummy((0, 0.2 * ui.font))


def _foot(ui: UiState, course: Course) -> None:
    """Back and on."""
    assert course.lesson is not None
    last = len(course.lesson.steps) - 1
    width = 0.5 * (imgui.get_content_region_avail().x - 0.4 * ui.font)
    imgui.begin_disabled(course.number == 0)
    if imgui.button(labelled("\uf053  Back##lesson_back"), (width, 0)):
        ui.request("lesson_back")
    imgui.end_disabled()
    imgui.set_item_tooltip(key_of("lesson_back"))
    imgui.same_line(0, 0.4 * ui.font)
    if imgui.button(labelled("Next  \uf054##lesson_on") if course.number < last
                    else labelled("End of the lesson##lesson_on"),
                    (width, 0)):
        ui.request("lesson_on" if course.number < last else "lesson_leave")
    imgui.set_item_tooltip(key_of("lesson_on"))


# ------------------------------------------------------------------------------------------------------- text


def draw_text(ui: UiState, text: str, size: float) -> None:
    """Paragraphs, and formulas in lines of their own."""
    for part, is_formula in pieces(text):
        if is_formula:
            typeset(ui, part.strip("$").strip(), 19.0 * size)
            continue
        for paragraph in part.split("\n\n"):
            if words := joined(paragraph):
                with style.font(ui, size=16.0 * size):
                    text_wrapped(words)
                imgui.dummy((0, 0.25 * ui.font * size))


def typeset(ui: UiState, latex: str, size: float) -> None:
    """A formula; as plain text where it is none that can be typeset."""
    try:
        formula(ui, latex, size)
    except RuntimeError:
        text_wrapped(plain(latex))
    imgui.dummy((0, 0.25 * ui.font))


def _picture(ui: UiState, path: Path) -> None:
    """A picture as wide as the column, no larger than it is."""
    from PIL import Image

    def read() -> tuple[pictures.Pixels, None]:
        try:
            with Image.open(path) as image:
                image.thumbnail((1600, 1600))
                return np.array(image.convert("RGBA")), None
        except (OSError, ValueError, Image.DecompressionBombError):
            return np.zeros((1, 1, 4), np.uint8), None

    found = pictures.picture(ui, ("lesson", str(path)), None, read)
    width = min(float(found.size[0]), imgui.get_content_region_avail().x)
    height = width * found.size[1] / found.size[0]
    x, y = imgui.get_cursor_screen_pos()
    pictures.draw(found, x, y, width, height)
    imgui.dummy((width, height))


# -------------------------------------------------------------------------------------------- controls, run


def _controls(ui: UiState, snapshot: Snapshot, send: Send, course: Course) -> None:
    """Sliders and lists of what the step lets change, and of what it only shows."""
    step = course.step
    names = [name for name in (*step.controls, *step.locked) if name != "mouse"]
    if not names:
        return
    imgui.dummy((0, 0.2 * ui.font))
    for name in names:
        fixed = name in step.locked or ((course.asks or course.measures) and name != "speed")
        imgui.begin_disabled(fixed)
        if name == "speed":
            _speed(ui, snapshot, send)
        else:
            draw_setting(ui, snapshot, send, name)
        imgui.end_disabled()
        if fixed and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
            imgui.set_tooltip(_("Fixed in this step") if name in step.locked else _("Free once the run has answered"))


def _speed(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    value_row(ui, _("Speed"), f"× {snapshot.speed:.2g}")
    imgui.set_next_item_width(FULL)
    changed, speed = style.slider("lesson_speed", snapshot.speed, *SPEEDS, "%.3f", ui, logarithmic=True)
    if changed:
        send(SetSpeed(speed))


def _run_button(ui: UiState, course: Course) -> None:
    """Of a step that asks nothing: from its first instant to its end."""
    imgui.dummy((0, 0.3 * ui.font))
    imgui.begin_disabled(course.running)
    if imgui.button(labelled("\uf04b  Run##lesson_run")):
        ui.request("lesson_again")
        ui.request("lesson_run")
    imgui.end_disabled()


# --------------------------------------------------------------------------------------------------- question


def _question(ui: UiState, snapshot: Snapshot, course: Course, question: QuestionTable, size: float) -> None:
    """Before the run the question with its answer's field; after it what the run said."""
    c = style.colors(ui)
    imgui.separator()
    with style.font(ui, bold=True, size=16.0 * size):
        text_wrapped(joined(_(question.ask)))
    if course.asks:
        _name(ui)
    with style.font(ui, size=16.0 * size):
        if isinstance(question, SketchQuestion):
            _sketch(ui, course, question)
        elif isinstance(question, NumberQuestion):
            _number(ui, course, question)
        elif isinstance(question, PointQuestion | ArrowQuestion):
            draw_placed(ui, snapshot, course, question)
        else:
            _options(ui, course, options(question, _))
    if not course.in_sight and (course.trouble or course.verdict is not None):
        course.in_sight = True
        imgui.set_scroll_here_y(SIGHT)
    if course.asks:
        _predict_button(ui, course, question)
    elif course.trouble:
        with style.color(imgui.Col_.text, c.warning):
            text_wrapped("\uf071  " + course.trouble)
    elif course.verdict is not None:
        _told(ui, course, question, course.verdict, size)
    else:
        style.muted(ui, _("The run answers …"))
    if course.given is not None and not course.running:
        if imgui.button(labelled("\uf01e  See it again##lesson_again")):
            ui.request("lesson_again")
            ui.request("lesson_run")
        imgui.same_line(0, 0.5 * ui.font)
        if imgui.button(labelled("Ask me again##lesson_ask")):
            ui.request("lesson_to", course.number)


def _name(ui: UiState) -> None:
    """The student's name, asked for once: without it nothing is written."""
    p = ui.preferences
    if p.student.strip():
        return
    imgui.set_next_item_width(FULL)
    entered, text = imgui.input_text_with_hint(
        "##student", _("Your name, if your answers are to be kept"), ui.state_of(Name).text,
        imgui.InputTextFlags_.enter_returns_true)
    ui.state_of(Name).text = text[:100]
    imgui.set_item_tooltip(_("Answers are written into a file on this machine, which you can send to your teacher; "
                           "nothing is sent by itself"))
    if entered or imgui.is_item_deactivated_after_edit():
        p.student = text.strip()[:100]


def _number(ui: UiState, course: Course, question: NumberQuestion) -> None:
    imgui.begin_disabled(not course.asks)
    imgui.set_next_item_width(7.0 * ui.font)
    entered, course.draft.typed = imgui.input_text(
        f"{question.unit}##lesson_number", course.draft.typed, imgui.InputTextFlags_.enter_returns_true)
    imgui.end_disabled()
    if entered and course.asks:
        ui.request("lesson_predict", as_number(course.draft.typed))


def as_number(text: str) -> float:
    """A number as it was typed, with a point or a comma; nan where it is none."""
    try:
        return float(text.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return math.nan


def _options(ui: UiState, course: Course, texts: tuple[str, ...]) -> None:
    """The answers to choose from, of which the right one is marked after the run."""
    c, draft = style.colors(ui), course.draft
    for k, text in enumerate(texts):
        imgui.begin_disabled(not course.asks)
        if style.radio(ui, f"##option_{k}", draft.chosen == k):
            draft.chosen = k
        imgui.end_disabled()
        imgui.same_line(0, 0.4 * ui.font)
        right = course.verdict is not None and course.verdict.measured == k
        chosen = course.asks or draft.chosen == k
        with style.color(imgui.Col_.text, c.accent if right else c.text if chosen else c.muted):
            text_wrapped(f"\uf00c  {text}" if right else text)
        if course.asks and imgui.is_item_clicked():
            draft.chosen = k


def _predict_button(ui: UiState, course: Course, question: QuestionTable) -> None:
    given: object = as_number(course.draft.typed)
    if isinstance(question, SketchQuestion):
        given = extended(course.draft.drawn)
    elif isinstance(question, PointQuestion | ArrowQuestion):
        given = None if course.draft.placed is None else course.draft.placed.given
    elif options(question):
        given = course.draft.chosen
    c = style.colors(ui)
    imgui.dummy((0, 0.2 * ui.font))
    with style.color(imgui.Col_.button, c.accent), style.color(imgui.Col_.text, c.on_accent):
        if imgui.button(labelled("\uf04b  Predict, and run##lesson_predict")):
            ui.request("lesson_predict", given)


def _told(ui: UiState, course: Course, question: QuestionTable, verdict: Verdict, size: float) -> None:
    """Right or not, by how much, what the run gave, and why."""
    c = style.colors(ui)
    words = _("Right") if verdict.right else _("Not so")
    if isinstance(question, NumberQuestion):
        unit = f" {question.unit}" if question.unit else ""
        words = _("{right}: you are {error} off").format(right=words, error=f"{abs(verdict.error):.3g}{unit}")
    elif isinstance(question, PointQuestion):
        words = _("{right}: you are {error} off").format(right=words, error=style.engineering(verdict.error, 'm'))
    elif isinstance(question, ArrowQuestion):
        words = _("{right}: you are {error} off").format(right=words, error=f"{verdict.error:.3g}°")
    elif isinstance(question, SketchQuestion):
        words = _("{right}: you are {share:.1f} % of the axis off on average").format(
            right=words, share=100.0 * verdict.error)
    mark = "\uf00c" if verdict.right else "\uf00d"
    with style.color(imgui.Col_.text, c.spring if verdict.right else c.danger), \
            style.font(ui, bold=True, size=16.0 * size):
        text_wrapped(f"{mark}  " + _("{sentence}.").format(sentence=words))
    if not isinstance(question, SketchQuestion):  # whose curve is drawn above
        with style.font(ui, size=16.0 * size):
            text_wrapped(_("The run: {answer}.").format(answer=verdict.answer))
    draw_text(ui, verdict.why, size)
    if course.written:
        with style.font(ui, size=13.0):
            style.muted(ui, _("Your answers: {written}").format(written=course.written), wrap=True)


# ----------------------------------------------------------------------------------------------------- sketch


def _sketch(ui: UiState, course: Course, question: SketchQuestion) -> None:
    """A plot to draw a curve into with the mouse; after the run with the run's own."""
    c, scale = style.colors(ui), ui.preferences.scale
    step, draft = course.step, course.draft
    assert step.until is not None
    t = instants(step.at, step.until)
    quantity = quantity_of(question.curve.partition(":")[0])
    flags = implot.Flags_.no_title | implot.Flags_.no_legend | implot.Flags_.no_inputs | implot.Flags_.no_mouse_text
    if course.asks:
        style.muted(ui, _("Draw it with the mouse, from the left edge to the right one."), wrap=True)
    with style.font(ui, size=13.0):
        if not implot.begin_plot("##sketch", (-1.0, 13.0 * ui.font), flags):
            return
        implot.setup_axes("t [s]", f"{_(quantity.title)} [{quantity.unit}]")
        implot.setup_axes_limits(t[0], t[-1], question.low, question.high, implot.Cond_.always)
        drawn = np.array(draft.drawn)
        implot.plot_line("##drawn", t, drawn, implot.Spec(line_color=c.warning, line_weight=2.4 * scale))
        if course.verdict is not None:
            found = np.array(course.verdict.measured)
            implot.plot_line("##found", t, found, implot.Spec(line_color=c.accent, line_weight=2.4 * scale))
        place, room = implot.get_plot_pos(), implot.get_plot_size()
        implot.end_plot()
    if course.asks:
        _draw(draft, question, (place.x, place.y, room.x, room.y), len(t) - 1)
        if imgui.small_button(labelled("Draw anew##sketch")):
            draft.drawn = [math.nan] * len(t)
    elif course.verdict is not None:
        for color, words in ((c.warning, _("yours")), (c.accent, _("the run's"))):
            with style.color(imgui.Col_.text, color):
                imgui.text(f"— {words}")
            imgui.same_line(0, 1.0 * ui.font)
        imgui.new_line()


def extended(drawn: list[float]) -> tuple[float, ...]:
    """A curve as drawn; where no more than SHORT of it is missing at an end, it goes on level there."""
    known = [k for k, y in enumerate(drawn) if not math.isnan(y)]
    found = list(drawn)
    if known and known[0] <= SHORT * len(drawn):
        found[: known[0]] = [drawn[known[0]]] * known[0]
    if known and len(drawn) - 1 - known[-1] <= SHORT * len(drawn):
        found[known[-1] :] = [drawn[known[-1]]] * (len(drawn) - known[-1])
    return tuple(found)


def _draw(draft: Draft, question: SketchQuestion, plot: Rect, last: int) -> None:
    """Let the curve follow the mouse while its left button is held inside the plot."""
    x, y, w, h = plot
    mouse = imgui.get_mouse_pos()
    inside = x <= mouse.x <= x + w and y <= mouse.y <= y + h
    if not imgui.is_mouse_down(0) or not (inside or draft.last >= 0) or not imgui.is_window_hovered():
        draft.last = -1
        return
    share, level = min(max((mouse.x - x) / w, 0.0), 1.0), min(max((mouse.y - y) / h, 0.0), 1.0)
    draft.draw(round(share * last), question.high - level * (question.high - question.low))
