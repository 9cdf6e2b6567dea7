"""The parameters of the run and the switches of the view. Choices come from the registries.
Only what the method uses is shown."""

from collections.abc import Iterable, Mapping

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.core.settings import GAINS, SETTINGS
from ...physics.integrators import offered
from ...physics.laws.contact import break_away
from ...physics.laws.soft import LAWS
from ...physics.methods import METHODS
from ...physics.methods.choices import CHOICES
from ...physics.methods.sleep import AT_REST
from ...physics.methods.time_stepping.stages import scales_of
from ...physics.run.messages import Set, Snapshot
from ...physics.solvers import SOLVERS, refusal
from ..commands import TOGGLES
from ..keys import key_of
from ..ui_state import Rect, UiState
from . import style
from .compare import LETTERS, soft
from .joints import draw_joints, has_joints
from .rows import FULL, Send, as_materials_say, ask, right_aligned, setting_slider, value_of, value_row
from .script import draw_script
from .surfaces import draw_gain, draw_substeps, draw_surfaces
from .wrapping import text_wrapped

AGAINST_TURNING = ("friction_torsional", "friction_rolling")
#: of settings that are a choice by name
CHOICE_LABELS = {"method": N_("Method"), "integrator": N_("Integrator"), "law": N_("Surface"),
                 "surface": N_("Recovery"),
                 "impact_law": N_("Impacts"), "joint_cure": N_("Joints")}
OF_BALLS = ("restitution_t", "restitution_psi")


def draw_parameters(ui: UiState, snapshot: Snapshot | None, send: Send, rect: Rect) -> None:
    with style.panel("parameters", rect) as shown:
        if not shown or snapshot is None:
            return
        imgui.begin_child("parameters_scroll")
        _about_scene(ui, snapshot)
        if snapshot.script is not None:
            style.heading(ui, _("Script"))
            draw_script(ui, snapshot.script, send)
            imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, _("Contact"))
        draw_material(ui, snapshot, send)
        if "law" in METHODS[snapshot.settings.method].uses:
            draw_surfaces(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, _("Solver"))
        draw_solver(ui, snapshot, send)
        imgui.dummy((0, 0.3 * ui.font))
        if has_joints(snapshot):
            style.heading(ui, _("Joints"))
            draw_joints(ui, snapshot, send)
            imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, _("View"))
        draw_view_switches(ui, snapshot, send)
        imgui.end_child()


def _about_scene(ui: UiState, snapshot: Snapshot) -> None:
    with style.font(ui, bold=True, size=19.0):
        text_wrapped(_(snapshot.labels.title) or snapshot.scene_name)
    if snapshot.labels.watch:
        style.muted(ui, "\uf06e  " + _(snapshot.labels.watch), wrap=True)
    for note in snapshot.labels.notes:
        with style.color(imgui.Col_.text, style.colors(ui).warning):
            text_wrapped("\uf071  " + _(note))
    imgui.dummy((0, 0.3 * ui.font))


# ------------------------------------------------------------------------------------------------- settings


def draw_material(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """e, μ and μ_s of all contacts, or as the materials say; gravity."""
    settings, materials = snapshot.settings, snapshot.model.materials
    if not soft(snapshot):
        draw_setting(ui, snapshot, send, "restitution")
    without = [LETTERS[side.side] for side in snapshot.sides if soft(side)]
    if without:
        style.muted(ui,
                    _("e has no meaning on side {without}: there it follows from K "
                      "and D.").format(without=_(" and ").join(without)), wrap=True)
    draw_setting(ui, snapshot, send, "friction")
    draw_setting(ui, snapshot, send, "friction_static")
    for name in (*AGAINST_TURNING, *OF_BALLS):
        used = getattr(settings, name) is not None or not np.isnan(getattr(materials, name)).all()
        if used and (name in AGAINST_TURNING or "impact_law" in METHODS[settings.method].uses):
            draw_setting(ui, snapshot, send, name)
    draw_setting(ui, snapshot, send, "gravity")


def draw_setting(ui: UiState, snapshot: Snapshot, send: Send, name: str) -> None:
    """What changes one setting, of `core.settings`: a slider or a list."""
    settings, materials = snapshot.settings, snapshot.model.materials
    match name:
        case "friction_static":  # a coefficient below that of slip does not count, and is not shown
            static = break_away(materials)
            own = None if settings.friction_static is None else float(static.max())
            _coefficient(ui, send, name, own, static)
        case "restitution" | "friction" | "restitution_t" | "restitution_psi":
            _coefficient(ui, send, name, getattr(settings, name), getattr(materials, name))
        case "friction_torsional" | "friction_rolling":  # materials that are not given any have none
            _coefficient(ui, send, name, getattr(settings, name), np.nan_to_num(getattr(materials, name)))
        case "gravity":
            _gravity(ui, snapshot, send)
        case "h":
            _step(ui, snapshot, send)
        case "iterations":
            count = value_of(ui, name, settings.iterations)
            value_row(ui, SETTINGS[name].slider.label, f"{count:.0f}")
            changed, count = setting_slider(ui, name, count)
            if changed:
                ask(ui, send, name, round(count), round(count))
        case "sleep":
            _sleep(ui, snapshot, send)
        case "substeps":
            draw_substeps(ui, snapshot, send)
        case "solver":
            _solver_choice(ui, send, snapshot)
        case _ if name in GAINS:
            draw_gain(ui, snapshot, send, name)
        case _:
            _choice(ui, send, name, CHOICE_LABELS[name], getattr(settings, name), _names(name, settings.method))


def _names(name: str, method: str) -> Iterable[str]:
    """What a setting that is a choice can be; with texts where there are any."""
    match name:
        case "method":
            return METHODS
        case "integrator":
            return offered(method)
        case "law":
            return {law_name: law.title for law_name, law in LAWS.items()}
    return CHOICES[name]


def _gravity(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    gravity = np.array(snapshot.settings.gravity)
    size = float(np.linalg.norm(gravity))
    shown = value_of(ui, "gravity", size)
    value_row(ui, SETTINGS["gravity"].slider.label, f"{shown:.2f} m/s²")
    changed, g = setting_slider(ui, "gravity", shown)
    if changed:
        direction = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        x, y, z = (float(v) for v in direction * g)
        ask(ui, send, "gravity", g, (x, y, z))


def _coefficient(ui: UiState, send: Send, name: str, override: float | None, table: np.ndarray) -> None:
    """A slider for a coefficient of all contacts, and a button that gives it back to the materials."""
    *_before, unit, (label, _low, _high, written, _logarithmic) = SETTINGS[name]
    unit = f" {unit}" if unit else ""
    own = table[~np.isnan(table)]
    lo, hi = (float(own.min()), float(own.max())) if own.size else (0.0, 0.0)
    shown = value_of(ui, name, 0.5 * (lo + hi) if override is None else override)
    if override is None and name not in ui.asked:
        value_row(ui, label, (written % lo if lo == hi else f"{written % lo} … {written % hi}") + unit)
        imgui.set_item_tooltip(_("As the materials say; move the slider to set all contacts alike"))
    else:
        value_row(ui, label, written % shown + unit, button="\uf0e2")
        as_materials_say(ui, name, send)
    changed, value = setting_slider(ui, name, shown)
    if changed:
        ask(ui, send, name, value, value)


def draw_solver(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Method, integrator, step, and what else the method uses."""
    settings = snapshot.settings
    uses = METHODS[settings.method].uses
    maximal = bool((snapshot.model.joints.generalized == 0).any())
    for name in ("method", "integrator", "law", "surface", "solver", "impact_law", "joint_cure", "h", "substeps",
                 "iterations", "sleep"):
        always = name in ("method", "integrator", "h")
        of_method = "law" in uses if name == "surface" else name in uses
        if always or (of_method and (maximal or name != "joint_cure")):
            draw_setting(ui, snapshot, send, name)


def _step(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    rate = value_of(ui, "h", 1.0 / snapshot.settings.h)
    value_row(ui, SETTINGS["h"].slider.label, f"1/{rate:.4g} s = {1e3 / rate:.3g} ms")
    changed, rate = setting_slider(ui, "h", rate)
    if changed:
        ask(ui, send, "h", round(rate), 1.0 / round(rate))


def _sleep(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Whether islands that rest sleep, how many bodies do, and below which speed."""
    below = snapshot.settings.sleep
    changed, on = imgui.checkbox(labelled("Sleep at rest"), below > 0.0)
    imgui.set_item_tooltip(_("Islands whose bodies rest are left out of steps until something touches, pulls or "
                             "changes"))
    if changed:
        send(Set("sleep", AT_REST if on else 0.0))
    if below > 0.0:
        imgui.same_line()
        right_aligned(ui, _("{asleep} asleep").format(asleep=snapshot.info.asleep))
        below = value_of(ui, "sleep", below)
        speed = below * scales_of(float(np.linalg.norm(snapshot.model.gravity)), snapshot.settings.h)[0]
        value_row(ui, SETTINGS["sleep"].slider.label, f"{below:.2g} · 2 g h = {style.engineering(speed, 'm/s', 3)}")
        changed, below = setting_slider(ui, "sleep", below)
        if changed:
            ask(ui, send, "sleep", below, below)


def _choice(ui: UiState, send: Send, name: str, label: str, current: str, names: Iterable[str]) -> None:
    """A combo box over names; where they are the keys of a mapping, its texts are their tooltips."""
    imgui.align_text_to_frame_padding()
    imgui.text(_(label))
    imgui.same_line(5.2 * ui.font)
    imgui.set_next_item_width(FULL)
    if imgui.begin_combo(f"##{name}", _(current.replace("_", " "))):
        for key in names:
            if imgui.selectable(labelled(key.replace("_", " ")), key == current)[0]:
                send(Set(name, key))
            if isinstance(names, Mapping) and isinstance(names[key], str):
                imgui.set_item_tooltip(_(names[key]))
        imgui.end_combo()


def _solver_choice(ui: UiState, send: Send, snapshot: Snapshot) -> None:
    """A combo box of solvers by title; those that the scene's contacts rule out are grey and say why."""
    current = snapshot.settings.solver
    imgui.align_text_to_frame_padding()
    imgui.text(_("Solver"))
    imgui.same_line(5.2 * ui.font)
    imgui.set_next_item_width(FULL)
    if imgui.begin_combo("##solver", _(SOLVERS[current].title), imgui.ComboFlags_.height_large):
        for name, solver in SOLVERS.items():
            reason = refusal(name, snapshot.model)
            imgui.begin_disabled(bool(reason))
            if imgui.selectable(labelled(f"{solver.title}##{name}"), name == current)[0]:
                send(Set("solver", name))
            imgui.end_disabled()
            if reason and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
                imgui.set_tooltip(reason[:1].upper() + reason[1:])
        imgui.end_combo()


# ----------------------------------------------------------------------------------------------------- view


def draw_view_switches(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    """One check box for each switch of the view, with its key."""
    for name, label in TOGGLES.items():
        changed, value = imgui.checkbox(labelled(label), getattr(ui.view, name))
        if changed:
            setattr(ui.view, name, value)
        key = key_of(f"toggle_{name}")
        if key:
            imgui.same_line()
            right_aligned(ui, key)
    value_row(ui, _("Length of arrows"), f"× {ui.view.force_scale:.2f}")
    imgui.set_next_item_width(FULL)
    changed, scale = style.slider("force_scale", ui.view.force_scale, 0.05, 20.0, "%.2f", ui, logarithmic=True)
    if changed:
        ui.view.force_scale = scale
    if ui.view.dents and snapshot is not None and len(snapshot.dents):
        value_row(ui, _("Depth of dents"), _("true") if ui.view.dent_scale == 1.0 else f"× {ui.view.dent_scale:.3g}")
        imgui.set_next_item_width(FULL)
        changed, scale = style.slider("dent_scale", ui.view.dent_scale, 1.0, 200.0, "%.3g", ui, logarithmic=True)
        if changed:
            ui.view.dent_scale = 1.0 if scale < 1.05 else scale
