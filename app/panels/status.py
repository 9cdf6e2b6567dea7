"""The bottom line: what the mouse does here, and how the solver is doing."""

from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.core.language import N_, _, ngettext
from ...physics.methods import METHODS
from ...physics.run.messages import Command, Snapshot
from ..keys import GESTURES
from ..ui_state import Rect, UiState
from . import style
from .equations import STATUS
from .transport import NARROW

BY_KEYS = N_("Tab, arrows: go  ·  Space: press  ·  Enter: write  ·  F6: the next panel  ·  Esc: the keys of the scene")
#: of a status of one word
MEANINGS = {**STATUS, "inconsistent": N_("inconsistent: no forces obey all contact laws")}


def draw_status(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None], rect: Rect) -> None:
    imgui.push_style_var(imgui.StyleVar_.window_padding, (12 * ui.preferences.scale, 4 * ui.preferences.scale))
    with style.panel("status", rect, imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_nav) as shown:
        imgui.pop_style_var()
        if not shown:
            return
        with style.font(ui, size=14.0):
            figures = solver_figures(snapshot) if snapshot is not None else ""
            figures_width = imgui.calc_text_size(figures).x
            room = imgui.get_content_region_avail().x - figures_width - 2 * ui.font
            text = binding_text(ui)
            if snapshot is not None and rect[2] < NARROW * ui.font:  # the time bar has no room for the time
                text = f"t = {snapshot.now:.3f} s"
            style.muted(ui, style.clipped_text(text, room))
            imgui.same_line(imgui.get_window_width() - figures_width - 12 * ui.preferences.scale)
            style.muted(ui, figures)


def binding_text(ui: UiState) -> str:
    """The bindings in force where the mouse is now."""
    if ui.dragging:
        return ui.dragging
    if ui.by_keys:
        return _(BY_KEYS)
    where = ui.under_cursor
    if not where:
        return _("F1: keys and mouse  ·  Ctrl+P: all commands  ·  Space: play or pause")
    return "  ·  ".join(f"{_(g.mouse)}: {_(g.does)}" for g in GESTURES if g.where in (where, "any"))


def solver_figures(snapshot: Snapshot) -> str:
    """Energy includes what soft surfaces hold; explicit steps on them solve nothing that could leave a residual."""
    info = snapshot.info
    unsolved = _(", not all solved") if info.status == "iterations" else ""
    explicit = "substeps" in METHODS[snapshot.settings.method].uses and info.iterations == 0
    parts = [ngettext("{n} contact", "{n} contacts", info.contacts).format(n=info.contacts)]
    if not explicit:
        parts.append(_("residual {residual:.1e} {steps}").format(residual=info.residual,
                                                                 steps='m/s²' if info.steps else 'm/s'))
    if explicit:
        parts.append(ngettext("{n} substep", "{n} substeps", info.substeps).format(n=info.substeps))
    elif info.steps:
        parts.append(_("LCP solves {solves}, steps {steps}").format(solves=grouped(info.solves),
                                                                    steps=grouped(info.steps)))
    else:
        parts.append(ngettext("{n} iteration", "{n} iterations", info.iterations).format(n=info.iterations) + unsolved)
    if info.status not in ("solved", "iterations"):
        parts.append(_(MEANINGS.get(info.status, info.status)))
    if info.penetration > 0.0:
        parts.append(_("overlap {penetration}").format(penetration=style.engineering(info.penetration, 'm')))
    if (snapshot.model.joints.generalized == 0).any():
        parts.append(_("joint error {joint_error:.1e} {joint_unit}").format(joint_error=info.joint_error,
                                                                            joint_unit=info.joint_unit))
    parts.append(f"E {style.engineering(snapshot.energy.total + info.stored, 'J')}")
    return "   ".join(parts)


def grouped(number: int) -> str:
    """2 400"""
    return f"{number:,}".replace(",", "\u00a0")  # a narrower space is not in the font
