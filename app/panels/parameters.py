"""The parameters of the run and the switches of the view. Choices come from the registries: nothing dead is shown."""

from collections.abc import Callable, Iterable

import numpy as np
from contactlab.app.commands import TOGGLES
from contactlab.app.keys import key_of
from contactlab.app.panels import style
from contactlab.app.ui_state import Rect, UiState
from contactlab.physics.integrators import INTEGRATORS
from contactlab.physics.messages import Command, Set, Snapshot
from contactlab.physics.methods import METHODS
from contactlab.physics.solvers import SOLVERS
from imgui_bundle import imgui

Send = Callable[[Command], None]
SLIDER = imgui.SliderFlags_.always_clamp
LOG_SLIDER = SLIDER | imgui.SliderFlags_.logarithmic
FULL = -1e-6  # item width: to the right edge
SOON = 0.5    # [s] a slider shows what was asked for until the engine has answered


def draw_parameters(ui: UiState, snapshot: Snapshot | None, send: Send, rect: Rect) -> None:
    with style.panel("parameters", rect) as shown:
        if not shown or snapshot is None:
            return
        imgui.begin_child("parameters_scroll")
        _about_scene(ui, snapshot)
        style.heading(ui, "Contact")
        draw_material(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, "Solver")
        draw_solver(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, "View")
        draw_view_switches(ui, snapshot, send)
        imgui.end_child()


def _about_scene(ui: UiState, snapshot: Snapshot) -> None:
    with style.font(ui, bold=True, size=19.0):
        imgui.text_wrapped(snapshot.labels.title or snapshot.scene_name)
    if snapshot.labels.watch:
        style.muted(ui, "\uf06e  " + snapshot.labels.watch, wrap=True)
    for note in snapshot.labels.notes:
        with style.color(imgui.Col_.text, style.colors(ui).warning):
            imgui.text_wrapped("\uf071  " + note)
    imgui.dummy((0, 0.3 * ui.font))


# ------------------------------------------------------------------------------------------------- settings


def _value(ui: UiState, name: str, engine: float) -> float:
    """What a slider shows: the value just asked for, until the engine's answer can have come."""
    asked = ui.asked.get(name)
    if asked is not None and ui.clock < asked[1]:
        return asked[0]
    return engine


def _ask(ui: UiState, send: Send, name: str, shown: float, value: float | int | str | tuple[float, float, float] | None
         ) -> None:
    ui.asked[name] = (shown, ui.clock + SOON)
    send(Set(name, value))  # type: ignore[arg-type]


def draw_material(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """e and μ of all contacts, or as the materials say; gravity."""
    settings, materials = snapshot.settings, snapshot.model.materials
    _coefficient(ui, send, "restitution", "Restitution  e", settings.restitution, materials.restitution, 1.0)
    _coefficient(ui, send, "friction", "Friction  μ", settings.friction, materials.friction, 1.5)
    gravity = np.array(settings.gravity)
    size = float(np.linalg.norm(gravity))
    imgui.text("Gravity  g")
    imgui.set_next_item_width(FULL)
    shown = _value(ui, "gravity", size)
    changed, g = imgui.slider_float("##gravity", shown, 0.0, 25.0, "%.2f m/s²", SLIDER)
    if changed:
        direction = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        x, y, z = (float(v) for v in direction * g)
        _ask(ui, send, "gravity", g, (x, y, z))


def _coefficient(ui: UiState, send: Send, name: str, label: str, override: float | None, table: np.ndarray, top: float
                 ) -> None:
    """A slider for a coefficient of all contacts, and a button that gives it back to the materials."""
    own = table[~np.isnan(table)]
    lo, hi = (float(own.min()), float(own.max())) if own.size else (0.0, 0.0)
    imgui.text(label)
    if override is None:
        words = f"materials: {lo:.2g}" if lo == hi else f"materials: {lo:.2g} … {hi:.2g}"
        imgui.same_line()
        _right_aligned(ui, words)
    else:
        imgui.same_line(imgui.get_content_region_avail().x - _small_width("\uf0e2 materials"))
        if imgui.small_button(f"\uf0e2 materials##{name}"):
            ui.asked.pop(name, None)
            send(Set(name, None))  # type: ignore[arg-type]
        imgui.set_item_tooltip("Back to what the materials say")
    imgui.set_next_item_width(FULL)
    shown = _value(ui, name, 0.5 * (lo + hi) if override is None else override)
    changed, value = imgui.slider_float(f"##{name}", shown, 0.0, top, "%.2f", SLIDER)
    if changed:
        _ask(ui, send, name, value, value)


def _small_width(text: str) -> float:
    return imgui.calc_text_size(text).x + 2 * imgui.get_style().frame_padding.x


def _right_aligned(ui: UiState, text: str) -> None:
    with style.font(ui, size=14.0):
        room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
        style.muted(ui, text)


def draw_solver(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Method, integrator, solver, step and iterations."""
    settings = snapshot.settings
    _choice(ui, send, "method", "Method", settings.method, METHODS)
    _choice(ui, send, "integrator", "Integrator", settings.integrator, INTEGRATORS)
    _choice(ui, send, "solver", "Solver", settings.solver, SOLVERS)
    label_width = 5.2 * ui.font
    imgui.align_text_to_frame_padding()
    imgui.text("Step  h")
    imgui.same_line(label_width)
    imgui.set_next_item_width(FULL)
    rate = round(_value(ui, "h", 1.0 / settings.h))
    changed, rate = imgui.slider_int("##h", rate, 30, 4000, "1/%d s", LOG_SLIDER)
    if changed:
        _ask(ui, send, "h", float(rate), 1.0 / rate)
    imgui.align_text_to_frame_padding()
    imgui.text("Iterations")
    imgui.same_line(label_width)
    imgui.set_next_item_width(FULL)
    shown = round(_value(ui, "iterations", settings.iterations))
    changed, count = imgui.slider_int("##iterations", shown, 1, 1000, "%d", LOG_SLIDER)
    if changed:
        _ask(ui, send, "iterations", float(count), count)


def _choice(ui: UiState, send: Send, name: str, label: str, current: str, names: Iterable[str]) -> None:
    """A combo box over a registry."""
    imgui.align_text_to_frame_padding()
    imgui.text(label)
    imgui.same_line(5.2 * ui.font)
    imgui.set_next_item_width(FULL)
    if imgui.begin_combo(f"##{name}", current.replace("_", " ")):
        for key in names:
            if imgui.selectable(key.replace("_", " "), key == current)[0]:
                send(Set(name, key))
        imgui.end_combo()


# ----------------------------------------------------------------------------------------------------- view


def draw_view_switches(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    """One check box for each switch of the view, with its key."""
    for name, label in TOGGLES.items():
        if name == "logarithmic":
            continue
        changed, value = imgui.checkbox(label, getattr(ui.view, name))
        if changed:
            setattr(ui.view, name, value)
        key = key_of(f"toggle_{name}")
        if key:
            imgui.same_line()
            _right_aligned(ui, key)
    imgui.text("Length of arrows")
    imgui.same_line()
    changed, value = imgui.checkbox("log", ui.view.logarithmic)
    if changed:
        ui.view.logarithmic = value
    imgui.set_item_tooltip("Length grows with the logarithm of the force: small and large forces both show  (L)")
    imgui.set_next_item_width(FULL)
    changed, scale = imgui.slider_float("##force_scale", ui.view.force_scale, 0.05, 20.0, "× %.2f", LOG_SLIDER)
    if changed:
        ui.view.force_scale = scale
