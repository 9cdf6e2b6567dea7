"""The curves that panels want to have recorded, and what is recorded of them."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui, implot
from numpy.typing import NDArray

from ...physics.core.language import _, labelled
from ...physics.core.model import Array, movable
from ...physics.look.quantities import QUANTITIES, heading, quantity_of
from ...physics.run.messages import MOST_CURVES, Command, Curve, Snapshot, Watch
from ..ui_state import UiState
from . import style

Send = Callable[[Command], None]


def ask(ui: UiState, snapshot: Snapshot, wanted: list[Curve], send: Send) -> None:
    """Tell the engine what to record, where it records something else."""
    watch = Watch(tuple(dict.fromkeys(wanted))[:MOST_CURVES])
    asked = snapshot.generation, watch
    if watch != snapshot.watch and asked != ui.watch_sent:
        ui.watch_sent = asked
        send(watch)
    elif watch == snapshot.watch:
        ui.watch_sent = None


def of_scene(snapshot: Snapshot, quantity: str, body: int) -> Curve | None:
    """A curve of this scene: of the body where it can move, else of the first one that can; None where none can."""
    if not quantity_of(quantity).of_body:
        return Curve(quantity)
    kind = snapshot.model.kind
    if not 0 <= body < len(kind) or not movable(kind[body]):
        body = int(next(iter(np.flatnonzero(movable(kind))), -1))
    return Curve(quantity, body) if body >= 0 else None


def recorded(side: Snapshot, curve: Curve) -> Array:
    """(k, 2) t and value at the steps that are remembered; nan where it is unknown. No rows where it is not recorded
    yet."""
    if curve not in side.watch.curves or side.trace.shape[1] <= side.watch.curves.index(curve) + 1:
        return np.zeros((0, 2))
    return side.trace[:, [0, side.watch.curves.index(curve) + 1]]


def value_now(side: Snapshot, curve: Curve) -> float:
    """Its value at the end of the step that is shown; nan where it is unknown."""
    known = recorded(side, curve)
    upto = int(np.searchsorted(known[:, 0], side.t, side="right"))
    return float(known[upto - 1, 1]) if upto else np.nan


def drawn(values: Array, most: int) -> NDArray[np.intp]:
    """Which of many values draw their curve: of each stretch the least and the greatest, so that no peak is lost, and
    the last."""
    if len(values) <= most:
        return np.arange(len(values))
    size = -(-2 * len(values) // most)
    whole = len(values) // size * size
    stretches, start = values[:whole].reshape(-1, size), np.arange(0, whole, size)
    return np.unique(np.r_[start + stretches.argmin(axis=1), start + stretches.argmax(axis=1), len(values) - 1])


def mark_now(ui: UiState, snapshot: Snapshot, last: float) -> None:
    """In a plot over time: a line at the instant that is shown, where steps after it are known up to the time `last`
    [s]."""
    if last > snapshot.t:
        implot.plot_inf_lines("##now", np.array([snapshot.t]), implot.Spec(
            line_color=style.colors(ui).accent, line_weight=1.5 * ui.preferences.scale))


def title(snapshot: Snapshot, curve: Curve) -> str:
    """ "Height z of die 1 [m]"."""
    of, labels = quantity_of(curve.quantity).of, snapshot.labels
    if of == "contact":
        return heading(curve.quantity, contact_name(snapshot, curve.body))
    names = labels.joints if of == "joint" else labels.bodies
    return heading(curve.quantity, names[curve.body] if curve.body >= 0 else "")


def contact_name(snapshot: Snapshot, key: int) -> str:
    """ "contact floor → die 1", where the contact with this key is there now."""
    rows = np.flatnonzero(snapshot.contacts.key == key)
    if not len(rows):
        return _("a contact that is gone")
    a, b = (snapshot.labels.bodies[int(of[rows[0]])] for of in (snapshot.contacts.body_a, snapshot.contacts.body_b))
    return _("contact {a} → {b}").format(a=a, b=b)


def choose_quantity(ui: UiState, name: str, now: str) -> str:
    """A list of all quantities."""
    imgui.set_next_item_width(11.0 * ui.font)
    if imgui.begin_combo(f"##{name}", _(quantity_of(now).title), imgui.ComboFlags_.height_largest):
        for key, quantity in QUANTITIES.items():
            if imgui.selectable(labelled(f"{quantity.title}##{key}"), key == now)[0]:
                now = key
        imgui.end_combo()
    return now


def choose_body(ui: UiState, snapshot: Snapshot, name: str, now: int) -> int:
    """A list of the bodies that can move."""
    imgui.set_next_item_width(10.0 * ui.font)
    if imgui.begin_combo(f"##{name}_body", snapshot.labels.bodies[now]):
        for body in np.flatnonzero(movable(snapshot.model.kind)).tolist():
            if imgui.selectable(f"{snapshot.labels.bodies[body]}##{name}_{body}", body == now)[0]:
                now = body
        imgui.end_combo()
    return now
