"""The parameters of the run and the switches of the view. Choices come from the registries: nothing dead is shown."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from imgui_bundle import imgui

from contactlab.app.commands import TOGGLES
from contactlab.app.keys import key_of
from contactlab.app.panels import style
from contactlab.app.panels.joints import draw_joints, has_joints
from contactlab.app.ui_state import Rect, UiState
from contactlab.physics.impact import IMPACT_LAWS
from contactlab.physics.integrators import IMPLICIT, INTEGRATORS
from contactlab.physics.messages import Command, Set, Snapshot
from contactlab.physics.methods import CURES, METHODS
from contactlab.physics.soft_laws import GAINS, LAWS, SURFACES, lumped
from contactlab.physics.soft_meaning import damping_for, meaning
from contactlab.physics.soft_stability import stable_step
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
        if "law" in METHODS[snapshot.settings.method].uses:
            draw_surfaces(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, "Solver")
        draw_solver(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        if has_joints(snapshot):
            style.heading(ui, "Joints")
            draw_joints(ui, snapshot, send)
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
    if "law" not in METHODS[settings.method].uses:  # else it follows from K and D
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


# ------------------------------------------------------------------------------------------- compliant surfaces
SYMBOLS = {"stiffness_n": "Stiffness  Kₙ", "damping_n": "Damping  Dₙ", "stiffness_t": "Tangential  Kₜ",
           "damping_t": "Tangential  Dₜ", "stiffness_series": "Series spring  Kₛ"}


def draw_surfaces(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Gains of all pairs, or as the materials say; and what they mean for the bodies in contact."""
    settings = snapshot.settings
    pair, mass, names = _contact_in_focus(snapshot)
    gains = lumped(snapshot.model.materials.surfaces)[pair[0], pair[1], 0]
    units = LAWS[settings.law].units
    for column, name in enumerate(GAINS):
        if name == "stiffness_series" and settings.law != "standard_solid":
            continue
        springy = name.startswith("stiffness")
        own = units[0 if springy else 1] if name.endswith("_n") else ("N/m" if springy else "N s/m")
        shown = _value(ui, name, float(gains[column]))
        given = getattr(settings, name) is not None
        _label(ui, SYMBOLS[name], f"{shown:.3g} {own}", button="\uf0e2" if given else "")
        if given:
            _as_materials_say(ui, name, send)
        imgui.set_next_item_width(FULL)
        low, high = (1e2, 1e8) if springy else (1e-1, 1e5)
        changed, value = style.slider(name, min(max(shown, low), high), low, high, "%.3g", ui, logarithmic=True)
        if changed:
            _ask(ui, send, name, value, value)
    if settings.law == "linear":
        _gains_mean(ui, snapshot, send, float(gains[0]), float(gains[1]), mass, names)


def _contact_in_focus(snapshot: Snapshot) -> tuple[tuple[int, int], float, str]:
    """Materials, reduced mass [kg] and names of the bodies of the contact that carries most; without one, of the
    heaviest body on its own material."""
    model, contacts = snapshot.model, snapshot.contacts
    if len(contacts.lam):
        i = int(np.argmax(contacts.lam))
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        material = model.shapes.material
        inverse = float(model.inv_mass[a] + model.inv_mass[b])
        pair = int(material[contacts.shape_a[i]]), int(material[contacts.shape_b[i]])
        names = f"{snapshot.labels.bodies[a]} – {snapshot.labels.bodies[b]}"
        return pair, 1.0 / inverse if inverse > 0.0 else 1.0, names
    if not model.mass.any():
        return (0, 0), 1.0, "1 kg"
    body = int(np.argmax(model.mass))
    shapes = np.flatnonzero(model.shapes.body == body)
    material = int(model.shapes.material[shapes[0]]) if len(shapes) else 0
    return (material, material), float(model.mass[body]), snapshot.labels.bodies[body]


def _gains_mean(ui: UiState, snapshot: Snapshot, send: Send, k: float, d: float, mass: float, names: str) -> None:
    """Frequency, damping ratio, effective restitution and sag; a button that chooses D for a restitution."""
    m = meaning(k, d, mass, float(np.linalg.norm(snapshot.settings.gravity)))
    style.muted(ui, f"{names}, {mass:.3g} kg", wrap=True)
    for label, value in (("Natural frequency", f"{m.frequency:.3g} Hz"), ("Damping ratio  ζ", f"{m.ratio:.3g}"),
                         ("Effective e", f"{m.restitution:.3f}"), ("Sag under its weight", f"{1e3 * m.sag:.3g} mm"),
                         ("An impact lasts", f"{1e3 * m.time:.3g} ms")):
        _label(ui, label, value)
    wanted = ui.asked.get("wanted_e", (0.5, 0.0))[0]
    _label(ui, "Wanted e", f"{wanted:.2f}")
    imgui.set_next_item_width(imgui.get_content_region_avail().x - 5.5 * ui.font)
    changed, wanted = style.slider("wanted_e", wanted, 0.05, 0.99, "%.2f", ui)
    if changed:
        ui.asked["wanted_e"] = (wanted, 0.0)
    imgui.same_line()
    if imgui.button("choose D"):
        value = damping_for(wanted, k, mass)
        _ask(ui, send, "damping_n", value, value)
    imgui.set_item_tooltip(f"Set the damping that makes {names} bounce with this e")


def _substeps(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Substeps: automatic, or a number; a warning where they are too few."""
    settings, made = snapshot.settings, snapshot.info.substeps
    automatic = settings.substeps == 0
    changed, automatic = imgui.checkbox("Substeps as needed", automatic)
    if changed:
        send(Set("substeps", 0 if automatic else max(made, 1)))
    imgui.same_line()
    _right_aligned(ui, f"{made}")
    integrator = (INTEGRATORS | IMPLICIT)[settings.integrator]
    if integrator.implicit or integrator.adaptive:
        return
    if settings.substeps:
        count = _value(ui, "substeps", settings.substeps)
        imgui.set_next_item_width(FULL)
        changed, count = style.slider("substeps", count, 1.0, 500.0, "%.0f", ui, logarithmic=True)
        if changed:
            _ask(ui, send, "substeps", round(count), round(count))
    pair, mass, _ = _contact_in_focus(snapshot)
    k, d = lumped(snapshot.model.materials.surfaces)[pair[0], pair[1], 0, :2]
    largest = stable_step(integrator, float(k) / mass, float(d) / mass)
    _label(ui, "Largest stable step", f"{1e3 * largest:.3g} ms" if largest < 1.0 else "any")
    if settings.h / max(made, 1) > largest:
        with style.color(imgui.Col_.text, style.colors(ui).warning):
            imgui.text_wrapped("\uf071  This step is too long for the stiffness: the run will blow up")
        if imgui.button("make as many substeps as needed"):
            send(Set("substeps", 0))


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
        _as_materials_say(ui, name, send)
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
    offered = INTEGRATORS | IMPLICIT if settings.method == "compliant" else INTEGRATORS
    _choice(ui, send, "integrator", "Integrator", settings.integrator, offered)
    if "law" in uses:
        _choice(ui, send, "law", "Surface", settings.law, LAWS)
        _choice(ui, send, "surface", "Recovery", settings.surface, SURFACES)
    if "solver" in uses:
        _solver_choice(ui, send, snapshot)
    if "impact_law" in uses:
        _choice(ui, send, "impact_law", "Impacts", settings.impact_law, IMPACT_LAWS)
    if "joint_cure" in uses and (snapshot.model.joints.generalized == 0).any():
        _choice(ui, send, "joint_cure", "Joints", settings.joint_cure, CURES)
    rate = _value(ui, "h", 1.0 / settings.h)
    _label(ui, "Step  h", f"1/{rate:.4g} s = {1e3 / rate:.3g} ms")
    imgui.set_next_item_width(FULL)
    changed, rate = style.slider("h", rate, 30.0, 4000.0, "%.0f", ui, logarithmic=True)
    if changed:
        _ask(ui, send, "h", round(rate), 1.0 / round(rate))
    if "substeps" in uses:
        _substeps(ui, snapshot, send)
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


def _as_materials_say(ui: UiState, name: str, send: Send) -> None:
    """The button that gives a setting of all contacts back to the materials."""
    if imgui.small_button(f"\uf0e2##{name}_materials"):
        ui.asked.pop(name, None)
        nothing: Any = None  # as the materials say
        send(Set(name, nothing))
    imgui.set_item_tooltip("All contacts alike; click to go back to what the materials say")
