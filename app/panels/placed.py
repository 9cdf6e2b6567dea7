"""A prediction that is made in the view: a point or an arrow, placed by the mouse or typed; after the run beside the
run's own."""

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.lesson.questions import in_brackets
from ...physics.lesson.schema import ArrowQuestion, PointQuestion
from ...physics.run.messages import ShownArrow, Snapshot
from ..course import Course, Placed, Point
from ..ui_state import UiState
from . import style
from .rows import FULL

YOURS, OF_RUN = N_("yours"), N_("the run's")


def draw_placed(ui: UiState, snapshot: Snapshot, course: Course, question: PointQuestion | ArrowQuestion) -> None:
    """What was placed so far, in numbers that can be typed, too; and in the view."""
    draft = course.draft
    arrow = isinstance(question, ArrowQuestion)
    if course.asks:
        told = _("Drag in the view from {body}, or type a direction.").format(body=_(question.body)) if arrow else (
            _("Click or drag in the view, or type a point."))
        style.muted(ui, _("{told} Shift and a drag turn the view.").format(told=told), wrap=True)
        imgui.set_next_item_width(FULL)
        shown = [0.0, 0.0, 0.0] if draft.placed is None else list(draft.placed.given)
        changed, typed = imgui.input_float3("##lesson_placed", shown, "%.3g")
        imgui.set_item_tooltip(_("x, y and z") if arrow else _("x, y and z [m]"))
        if changed:
            draft.placed = _typed(question, snapshot, (typed[0], typed[1], typed[2]))
    elif draft.placed is not None:
        style.muted(ui, _("Yours: {given}{arrow}").format(given=in_brackets(draft.placed.given),
                                                          arrow='' if arrow else ' m'))
    ui.view.answers = in_view(course)


def _typed(question: PointQuestion | ArrowQuestion, snapshot: Snapshot, given: Point) -> Placed:
    """What was typed as if it were placed; an arrow begins at its body."""
    if not isinstance(question, ArrowQuestion):
        return Placed(given)
    start = snapshot.x[snapshot.labels.bodies.index(question.body)] if question.body in snapshot.labels.bodies else (
        np.zeros(3))
    x, y, z = (float(v) for v in start + np.array(given))
    return Placed((x, y, z), (float(start[0]), float(start[1]), float(start[2])))


def in_view(course: Course) -> tuple[tuple[ShownArrow, bool], ...]:
    """What the view shows of it: the prediction, and of a run that has answered its own, as long an arrow; whether it
    is the run's. A point is an arrow without length."""
    placed, verdict = course.draft.placed, course.verdict
    if placed is None:
        return ()
    mine = ShownArrow(_(YOURS), placed.start or placed.point, placed.point)
    if verdict is None or not isinstance(verdict.measured, tuple):
        return ((mine, False),)
    found = np.array(verdict.measured)
    if placed.start is None:
        begin = end = found
    else:
        begin = np.array(placed.start)
        end = begin + found * (np.linalg.norm(placed.given) / np.linalg.norm(found))
    ends = [(float(at[0]), float(at[1]), float(at[2])) for at in (begin, end)]
    return (mine, False), (ShownArrow(_(OF_RUN), ends[0], ends[1]), True)
