"""The box that asks what a mesh file does not say: its unit, how many bodies it is, how these collide."""

from imgui_bundle import imgui

from ...physics.core.language import labelled
from ..mesh_box import MeshBox
from ..ui_state import UiState
from . import style

THINNEST, THICKEST = 1e-3, 1e5  # [mm] that can be typed


def draw_mesh_box(ui: UiState, box: MeshBox) -> None:
    """The lines of the box, and what is done with the answers; the mesh is shown behind it as it was opened."""
    with style.font(ui, bold=True, size=18.0):
        imgui.text(box.title)
    for asked in box.asked:
        imgui.dummy((0, 0.15 * ui.font))
        style.muted(ui, asked.text, wrap=True)
        now = getattr(box.wanted, asked.field)
        for k, (label, value) in enumerate(asked.answers):
            if k:
                imgui.same_line(0, 1.0 * ui.font)
            if style.radio(ui, f"{label}##{asked.field}", now == value):
                box.wanted = box.wanted._replace(**{asked.field: value})
        if asked.field == "thickness":
            _thickness(ui, box)
    imgui.dummy((0, 0.3 * ui.font))
    if imgui.button(labelled("Keep it as it is##mesh"), (10 * ui.font, 0)):
        ui.mesh_box = None
    imgui.same_line()
    imgui.begin_disabled(not box.changed)
    if imgui.button(labelled("Open it so##mesh"), (8 * ui.font, 0)):
        ui.mesh_box = None
        ui.request("open_mesh", (box.path, box.wanted))
    imgui.end_disabled()


def _thickness(ui: UiState, box: MeshBox) -> None:
    imgui.same_line(0, 0.6 * ui.font)
    imgui.set_next_item_width(6.0 * ui.font)
    changed, typed = imgui.input_float(labelled("mm thick##shell"), 1e3 * box.thickness, 0.0, 0.0, "%g")
    if changed:
        box.wanted = box.wanted._replace(thickness=1e-3 * min(max(typed, THINNEST), THICKEST))
