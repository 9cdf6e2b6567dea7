"""Drift of an orientation as a rotation matrix and as a quaternion: the selected body turns on without any torque, by
steps that nothing puts right."""

from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import _, labelled
from ...physics.core.model import movable
from ...physics.integrators import INTEGRATORS
from ...physics.look.orientation_drift import STEPPED, Drift, drift
from ...physics.run.messages import Snapshot
from ..background import in_background
from ..ui_state import UiState
from . import style
from .formula import formula
from .plot import colors
from .tabs import Tab

STEPS = 240    # of the calculation: some tenths of a second
LEAST = 1e-16  # of the logarithmic axis
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title | implot.Flags_.no_legend
        | implot.Flags_.no_mouse_text | implot.Flags_.no_inputs)


@dataclass
class DriftUi:
    """What the tab remembers."""

    integrator: str = "heun"
    of: tuple[str, str, float] = ("", "", 0.0)  # body, integrator and h of what was found
    found: Drift | None = None
    wanted: Future[Drift] | None = None  # what is being calculated

    def take(self) -> None:
        """Show what has been calculated, where it is ready."""
        if self.wanted is not None and self.wanted.done():
            self.found, self.wanted = self.wanted.result(), None


def draw_drift(ui: UiState, snapshot: Snapshot, send: object) -> None:
    """What is integrated at the left, with the numbers; the curves beside it."""
    mine, mobile = ui.state_of(DriftUi), np.flatnonzero(movable(snapshot.model.kind)).tolist()
    mine.take()
    body = ui.view.selected if ui.view.selected in mobile else mobile[0] if mobile else -1
    imgui.begin_child("drift_numbers", (0.42 * imgui.get_content_region_avail().x, 0))
    formula(ui, r"\dot R = [\omega]_\times R,\qquad \dot q = \frac{1}{2}\,\omega\,q", 15.0)
    if body < 0 or not snapshot.model.inertia[body].all():
        style.muted(ui, _("Select a body that can turn."), wrap=True)
    else:
        _choose(ui, snapshot, mine, body)
    if mine.found is not None:
        imgui.text_wrapped("{}, {}, h = {}".format(mine.of[0], _(INTEGRATORS[mine.of[1]].title),
                                                   style.engineering(mine.of[2], "s")))
        for line in numbers(mine.found):
            imgui.text_wrapped(line)
    imgui.end_child()
    if mine.found is not None:
        imgui.same_line(0, 0.8 * ui.font)
        imgui.begin_child("drift_curves", (0, 0), 0, imgui.WindowFlags_.no_scrollbar)
        _curves(ui, mine.found)
        imgui.end_child()


def _choose(ui: UiState, snapshot: Snapshot, mine: DriftUi, body: int) -> None:
    for name in STEPPED:
        label = labelled(f"{INTEGRATORS[name].title}##drift_{name}")
        if name != STEPPED[0]:
            style.flow(style.width_of_switch(label), 0.6 * ui.font)
        if style.radio(ui, label, mine.integrator == name):
            mine.integrator = name
    h, turns = snapshot.settings.h, bool(np.abs(snapshot.L[body]).max() > 0.0)
    imgui.begin_disabled(not turns or mine.wanted is not None)
    if imgui.button(labelled("Turn on for 240 steps##drift")):
        mine.of, mine.found = (snapshot.labels.bodies[body], mine.integrator, h), None
        start = snapshot.model.inertia[body], snapshot.q[body].copy(), snapshot.L[body].copy()
        integrator = mine.integrator
        mine.wanted = in_background("contactlab-drift", lambda: drift(*start, integrator, h, STEPS))
    imgui.end_disabled()
    style.muted(ui, _("Both go on from here with L as it is, and are not made a rotation again between steps"),
                wrap=True)
    if not turns:
        style.muted(ui, _("The body does not turn now."))


def numbers(found: Drift) -> list[str]:
    """What has become of both, in words."""
    size, volume = found.matrix[-1], found.volume[-1]
    return [_("R: |R^T R − 1| = {size:.3g}, det R = {volume:.6g}").format(size=size, volume=volume),
            _("q: ||q| − 1| = {size:.3g}, which one division ends").format(size=found.quaternion[-1]),
            _("The rotations nearest to both are {angle:.3g}° apart.").format(angle=np.degrees(found.apart[-1]))]


def _curves(ui: UiState, found: Drift) -> None:
    """Both over time, the drift on a logarithmic axis."""
    drifts = ("|R^T R − 1|", found.matrix[1:]), ("||q| − 1|", found.quaternion[1:])
    pairs = list(zip(drifts, colors(ui), strict=False))
    for (name, _values), color in pairs:
        with style.color(imgui.Col_.text, color):
            imgui.text(name)
        imgui.same_line(0, 0.8 * ui.font)
    style.muted(ui, _("over the time [s]"))
    if not implot.begin_plot("##drift", (-1, -1), PLOT):
        return
    implot.setup_axes("", "", implot.AxisFlags_.no_highlight, implot.AxisFlags_.no_highlight)
    implot.setup_axis_scale(implot.ImAxis_.y1.value, implot.Scale_.log10.value)
    values = np.maximum(np.concatenate([drifted for (_name, drifted), _color in pairs]), LEAST)
    implot.setup_axes_limits(0.0, float(found.t[-1]), 0.5 * float(values.min()), 2.0 * float(values.max()),
                             implot.Cond_.always.value)
    for (name, drifted), color in pairs:
        implot.plot_line(f"##{name}", found.t[1:].copy(), np.maximum(drifted, LEAST),
                         implot.Spec(line_color=color, line_weight=1.8 * ui.preferences.scale))
    implot.end_plot()


TAB = Tab("drift", "Drift", draw_drift)
