"""A fan of perturbed starts: a box in which one chooses how many there are and how much they differ."""

import math
from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.run.messages import Command, Snapshot, StudyFan
from ..ui_state import UiState
from . import style

STARTS = (2, 30)
POWERS = (-9.0, 0.0)  # of ten: the differences [m/s]
TIMES = (0.5, 30.0)  # simulated time of a run [s]


def draw_fan(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box."""
    fan = snapshot.fan
    asked = ui.fan_asked
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Fan of perturbed starts"))
    style.muted(ui,
                _("The scene is run with the present settings from starts whose velocities differ by about so much, "
                    "and drawn translucent beside the run. A fan that stays narrow: the motion can be told ahead. One "
                    "that opens: small causes have great effects."), wrap=True)
    imgui.set_next_item_width(14.0 * ui.font)
    count = imgui.slider_int("starts", asked.count, *STARTS)[1]
    imgui.set_next_item_width(14.0 * ui.font)
    power = imgui.slider_float(labelled("m/s, of hinges rad/s"), math.log10(asked.by), *POWERS, f"{asked.by:.1e}")[1]
    imgui.set_next_item_width(14.0 * ui.font)
    until = imgui.slider_float(labelled("s, the time of a run"), asked.until, *TIMES, "%.1f",
                               imgui.SliderFlags_.logarithmic)[1]
    ui.fan_asked = StudyFan(min(max(count, STARTS[0]), STARTS[1]), 10.0**power, until)
    if fan is not None and fan.running:
        imgui.progress_bar(len(fan.paths) / fan.asked.count, (12 * ui.font, imgui.get_frame_height()), "")
    elif imgui.button(labelled("Run them##fan")):
        send(ui.fan_asked)
    imgui.same_line()
    imgui.begin_disabled(fan is None)
    if imgui.button(labelled("Take the fan away##fan")):
        send(StudyFan())
    imgui.end_disabled()
    imgui.same_line()
    if imgui.button(labelled("Close##fan")):
        ui.fan = False
    if fan is not None and fan.settings != snapshot.settings:
        style.muted(ui, _("The settings are other ones now: the fan is not drawn."), wrap=True)
