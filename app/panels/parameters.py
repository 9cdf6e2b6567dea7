"""The parameters of the run and the switches of the view. Choices come from the registries: nothing dead is shown."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from imgui_bundle import imgui

from contactlab.app.commands import TOGGLES
from contactlab.app.keys import key_of
from contactlab.app.panels import style
from contactlab.app.ui_state import Rect, UiState
from contactlab.physics.impact import IMPACT_LAWS
from contactlab.physics.integrators import INTEGRATORS
from contactlab.physics.messages import Command, Set, Snapshot
from contactlab.physics.methods import METHODS
from contactlab.physics.solvers import SOLVERS, refusal

Send = Callable[[Command], None]
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


def _ask(ui: UiState, send: Send, name: str, shown: float, value: float | int | tuple[float, float, float]) -> None:
    ui.asked[name] = (shown, ui.clock + SOON)
    send(Set(name, value))


def draw_material(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """e and μ of all contacts, or as the materials say; gravity."""
    settings, materials = snapshot.settings, snapshot.model.materials
    _coefficient(ui, send, "restitution", "Restitution  e", settings.restitution, materials.restitution, 1.0)
    _coefficient(ui, send, "friction", "Friction  μ", settings.friction, materials.friction, 1.5)
    gravity = np.array(settings.gravity)
    size = float(np.linalg.norm(gravity))
    shown = _value(ui, "gravity", size)
    _label(ui, "Gravity  g", f"{shown:.2f} m/s²")
    imgui.set_next_item_width(FULL)
    changed, g = style.slider("gravity", shown, 0.0, 25.0, "%.2f", ui)
    if changed:
        direction = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        x, y, z = (float(v) for v in direction * g)
        _ask(ui, send, "gravity", g, (x, y, z))


def _coefficient(ui: UiState, send: Send, name: str, label: str, override: float | None, table: np.ndarray, top: float
                 ) -> None:
    """A slider for a coefficient of all contacts, and a button that gives it back to the materials."""
    own = table[~np.isnan(table)]
    lo, hi = (float(own.min()), float(own.max())) if own.size else (0.0, 0.0)
    shown = _value(ui, name, 0.5 * (lo + hi) if override is None else override)
    if override is None and name not in ui.asked:
        _label(ui, label, f"{lo:.2f}" if lo == hi else f"{lo:.2f} … {hi:.2f}")
        imgui.set_item_tooltip("As the materials say; move the slider to set all contacts alike")
    else:
        _label(ui, label, f"{shown:.2f}", button="\uf0e2")
        if imgui.small_button(f"\uf0e2##{name}_materials"):
            ui.asked.pop(name, None)
            nothing: Any = None  # as the materials say
            send(Set(name, nothing))
        imgui.set_item_tooltip("All contacts alike; click to go back to what the materials say")
    imgui.set_next_item_width(FULL)
    changed, value = style.slider(name, shown, 0.0, top, "%.2f", ui)
    if changed:
        _ask(ui, send, name, value, value)


def _label(ui: UiState, label: str, value: str, button: str = "") -> None:
    """A name at the left and its value at the right of a line, with room for a small button after it."""
    imgui.text(label)
    imgui.same_line()
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(value).x
    if button:
        st = imgui.get_style()
        room -= imgui.calc_text_size(button).x + 2 * st.frame_padding.x + st.item_spacing.x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
    imgui.text(value)
    if button:
        imgui.same_line()


def _right_aligned(ui: UiState, text: str) -> None:
    with style.font(ui, size=14.0):
        room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
        style.muted(ui, text)


def draw_solver(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Method, integrator, step, and what else the method uses."""
    settings = snapshot.settings
    uses = METHODS[settings.method].uses
    _choice(ui, send, "method", "Method", settings.method, METHODS)
    _choice(ui, send, "integrator", "Integrator", settings.integrator, INTEGRATORS)
    if "solver" in uses:
        _solver_choice(ui, send, snapshot)
    if "impact_law" in uses:
        _choice(ui, send, "impact_law", "Impacts", settings.impact_law, IMPACT_LAWS)
    rate = _value(ui, "h", 1.0 / settings.h)
    _label(ui, "Step  h", f"1/{rate:.4g} s = {1e3 / rate:.3g} ms")
    imgui.set_next_item_width(FULL)
    changed, rate = style.slider("h", rate, 30.0, 4000.0, "%.0f", ui, logarithmic=True)
    if changed:
        _ask(ui, send, "h", round(rate), 1.0 / round(rate))
    if "iterations" not in uses:
        return
    count = _value(ui, "iterations", settings.iterations)
    _label(ui, "Iterations", f"{count:.0f}")
    imgui.set_next_item_width(FULL)
    changed, count = style.slider("iterations", count, 1.0, 1000.0, "%.0f", ui, logarithmic=True)
    if changed:
        _ask(ui, send, "iterations", round(count), round(count))


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


def _solver_choice(ui: UiState, send: Send, snapshot: Snapshot) -> None:
    """A combo box of solvers by title; those that the scene's contacts rule out are grey and say why."""
    current = snapshot.settings.solver
    imgui.align_text_to_frame_padding()
    imgui.text("Solver")
    imgui.same_line(5.2 * ui.font)
    imgui.set_next_item_width(FULL)
    if imgui.begin_combo("##solver", SOLVERS[current].title, imgui.ComboFlags_.height_large):
        for name, solver in SOLVERS.items():
            reason = refusal(name, snapshot.model)
            imgui.begin_disabled(bool(reason))
            if imgui.selectable(f"{solver.title}##{name}", name == current)[0]:
                send(Set("solver", name))
            imgui.end_disabled()
            if reason and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
                imgui.set_tooltip(reason[:1].upper() + reason[1:])
        imgui.end_combo()


# ----------------------------------------------------------------------------------------------------- view


def draw_view_switches(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    """One check box for each switch of the view, with its key."""
    for name, label in TOGGLES.items():
        changed, value = imgui.checkbox(label, getattr(ui.view, name))
        if changed:
            setattr(ui.view, name, value)
        key = key_of(f"toggle_{name}")
        if key:
            imgui.same_line()
            _right_aligned(ui, key)
    _label(ui, "Length of arrows", f"× {ui.view.force_scale:.2f}")
    imgui.set_next_item_width(FULL)
    changed, scale = style.slider("force_scale", ui.view.force_scale, 0.05, 20.0, "%.2f", ui, logarithmic=True)
    if changed:
        ui.view.force_scale = scale
