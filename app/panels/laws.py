"""The laws of one contact and where in them it is: Signorini's corner, Coulomb's cone, the loop of a soft contact."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui, implot, implot3d
from numpy.typing import NDArray

from ...physics.core.language import N_, _, labelled, ngettext
from ...physics.core.model import Array
from ...physics.look.acceleration_graph import AccelerationGraph
from ...physics.look.contact_law import DEEPER, FRICTION_1, FRICTION_2, GAP, LAM, SLIP, ZETA, LawView
from ...physics.look.modes import contact_names
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from . import style
from .equations import waiting
from .formula import formula
from .tabs import Tab
from .wrapping import text_wrapped

HARDEST = N_("the hardest pressed")
CHOICES = {"gap": N_("λ over φ"), "speed": N_("λ over ζ"), "acceleration": N_("ζ̇ over f")}
ROOM = 1.25        # of the axes beyond the largest values
LEAST_GAP, LEAST_SPEED, LEAST_FORCE = 1e-4, 1e-3, 1e-6  # to which the axes reach at least [m], [m/s], [N]
ROUND = np.linspace(0.0, 2.0 * np.pi, 65)
RAYS = 16          # of the cone
ON_CONE = 1e-3     # by which friction may be less than μ λ and be on the cone, relative to it
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title | implot.Flags_.no_legend
        | implot.Flags_.no_mouse_text | implot.Flags_.no_inputs)
SPACE = implot3d.Flags_.no_menus | implot3d.Flags_.no_title | implot3d.Flags_.no_legend | implot3d.Flags_.no_mouse_text


@dataclass
class LawsUi:
    """What the tab remembers."""

    contact: int = -1  # key; -1 = the one that is pressed hardest
    shown: str = "gap"   # of a rigid contact: λ over "gap" or "speed", or its "acceleration" over force


def asked(ui: UiState, snapshot: Snapshot) -> Inspect:
    """The law of the chosen contact."""
    return Inspect("law", contact=ui.state_of(LawsUi).contact)


def draw_laws(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """Fill the lower area: what is chosen and its numbers at the left, two plots beside them."""
    mine = ui.state_of(LawsUi)
    view = snapshot.inspection.law if snapshot.inspection is not None else None
    imgui.begin_child("law_numbers", (0.27 * imgui.get_content_region_avail().x, 0))
    _choose(ui, snapshot, mine)
    if view is None:
        waiting(ui, snapshot)
    else:
        _numbers(ui, snapshot, mine, view)
    imgui.end_child()
    if view is None:
        return
    imgui.same_line(0, 0.8 * ui.font)
    width = 0.5 * (imgui.get_content_region_avail().x - 0.8 * ui.font)
    with style.font(ui, size=13.0):
        imgui.begin_child("law_normal", (width, 0), 0, imgui.WindowFlags_.no_scrollbar)
        if mine.shown == "acceleration" and isinstance(view.graph, AccelerationGraph):
            _acceleration(ui, view.graph)
        else:
            _normal(ui, view, mine)
        imgui.end_child()
        imgui.same_line(0, 0.8 * ui.font)
        imgui.begin_child("law_friction", (0, 0), 0, imgui.WindowFlags_.no_scrollbar)
        _cone(ui, view)
        imgui.end_child()


def _choose(ui: UiState, snapshot: Snapshot, mine: LawsUi) -> None:
    """Whose law is shown."""
    names, contacts = contact_names(snapshot.timeline.bars, snapshot.labels.bodies), snapshot.contacts
    there = {int(key): names.get(float(key), "") for key in contacts.key.tolist()}
    imgui.set_next_item_width(-1)
    if imgui.begin_combo("##law_contact", there.get(mine.contact, _(HARDEST) if mine.contact < 0 else _("apart"))):
        for key, name in {-1: _(HARDEST), **there}.items():
            if name and imgui.selectable(f"{name}##law_{key}", key == mine.contact)[0]:
                mine.contact = key
        imgui.end_combo()
    imgui.set_item_tooltip(_("Whose law is shown"))


def _numbers(ui: UiState, snapshot: Snapshot, mine: LawsUi, view: LawView) -> None:
    """The law in formulas, and where the contact is."""
    a, b = (snapshot.labels.bodies[i] for i in view.bodies)
    now, friction = view.points[-1], float(np.hypot(*view.points[-1, [FRICTION_1, FRICTION_2]]))
    with style.font(ui, bold=True):
        text_wrapped(f"{a} → {b}")
    if view.soft:
        style.muted(ui,
                    _("Law {law}, with K and D at the right").format(law=_(snapshot.settings.law.replace("_", " "))),
                    wrap=True)
    else:
        formula(ui, r"0 \le \lambda \perp \varphi \ge 0,\quad 0 \le \lambda \perp \zeta \ge 0", 14.0)
    formula(ui, r"|f_t| \le \mu\lambda", 14.0)
    text_wrapped(f"φ = {style.engineering(now[GAP], 'm')},  ζ = {style.engineering(now[ZETA], 'm/s')}")
    text_wrapped(f"λ = {style.engineering(now[LAM], 'N')}")
    text_wrapped(f"|f_t| = {style.engineering(friction, 'N')},  "
                 f"μλ = {style.engineering(view.friction * now[LAM], 'N')}")
    text_wrapped(state_of(view))
    if view.soft:
        area, ended = style.engineering(view.area, "J"), not now[LAM] > 0.0
        style.muted(ui,
                    _("Within the loop: {area}, the energy that the last press took along the "
                      "normal.").format(area=area) if ended else
                        _("Up to now ∫ λ dδ = {area}: what the surface holds and what it took.").format(area=area),
                    wrap=True)
    else:
        for shown, title in CHOICES.items():
            if style.radio(ui, labelled(f"{title}##law"), mine.shown == shown):
                mine.shown = shown
            imgui.same_line(0, 0.6 * ui.font)
        imgui.new_line()
        if mine.shown == "acceleration":
            style.muted(ui, graph_text(view.graph), wrap=True)


def state_of(view: LawView) -> str:
    """Where the contact is, in words."""
    now = view.points[-1]
    if not now[LAM] > 0.0:
        return _("No force: it is apart, or carries nothing.")
    limit = view.friction * now[LAM]
    if not limit > 0.0:
        return _("It is pressed, without friction: the cone is a line.")
    share = float(np.hypot(now[FRICTION_1], now[FRICTION_2])) / limit
    if share < 1.0 - ON_CONE:
        return _("Inside the cone, at {share:.3g} % of what λ allows: it sticks.").format(share=100.0 * share)
    return _("On the cone: it slips at {now}.").format(now=style.engineering(now[SLIP],
                                                                             'm/s')) if now[SLIP] > 0.0 else \
        _("On the cone: on the verge of slip.")


def branches(reach: float, force: float) -> tuple[Array, Array]:
    """Signorini's corner: down the axis of forces, then along that of gaps."""
    return np.array([0.0, 0.0, reach]), np.array([force, 0.0, 0.0])


def pieces(view: LawView) -> list[NDArray[np.intp]]:
    """Rows of points that follow each other."""
    return np.split(np.arange(len(view.points)), np.flatnonzero(view.begins)[1:])


def _normal(ui: UiState, view: LawView, mine: LawsUi) -> None:
    """λ over φ or ζ with the law, or over depth where the contact is soft."""
    c, scale = style.colors(ui), ui.preferences.scale
    column, factor, least, title = ((GAP, -1e3, LEAST_GAP, _("depth −φ [mm]")) if view.soft else
                                    (ZETA, 1.0, LEAST_SPEED, "ζ [m/s]") if mine.shown == "speed" else
                                    (GAP, 1e3, LEAST_GAP, _("φ [mm]")))
    x, y = factor * view.points[:, column], view.points[:, LAM]
    if view.soft:  # a mean force belongs to the middle of its way
        x = x - 0.5e3 * view.points[:, DEEPER]
    reach = ROOM * max(float(np.abs(x).max()), abs(factor) * least)
    top = ROOM * max(float(y.max()), LEAST_FORCE)
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    if implot.begin_plot("##law_normal", (-1, -1), PLOT):
        implot.setup_axis(implot.ImAxis_.x1, title)
        implot.setup_axis(implot.ImAxis_.y1, "λ [N]")
        low = -0.25 * reach if view.soft or x.min() >= -0.2 * reach else -reach
        implot.setup_axes_limits(low, reach, -0.06 * top, top, implot.Cond_.always)
        if view.soft:
            implot.push_plot_clip_rect()
            implot.get_plot_draw_list().add_concave_poly_filled(
                [implot.plot_to_pixels(float(x[k]), float(y[k])) for k in view.loop.tolist()],
                style.u32(c.accent, 0.25))
            implot.pop_plot_clip_rect()
        else:
            law = implot.Spec(line_color=c.potential, line_weight=5.0 * scale)
            implot.plot_line("##law", *branches(2.0 * reach, 2.0 * top), law)
        way = implot.Spec(line_color=(*c.muted[:3], 0.9), line_weight=1.2 * scale)
        for rows in pieces(view):
            implot.plot_line(f"##way_{rows[0]}", x[rows].copy(), y[rows].copy(), way)
        _dot(c.warning, 6.0 * scale, x[-1:].copy(), y[-1:].copy())
        implot.end_plot()
    implot.pop_style_var(1)


def graph_text(graph: AccelerationGraph | str) -> str:
    """What the graph of acceleration over force says, in words."""
    if isinstance(graph, str):
        return _(graph) or _("A soft contact has no such graph: its force follows from its depth.")
    force, zeta_dot = graph.now
    kinks, parts = len(graph.force) - 2, style.engineering(graph.parts_at, "N")
    beside = (ngettext(", with {n} contact beside it that holds or lets go",
                       ", with {n} contacts beside it that hold or let go", graph.others).format(n=graph.others)
              if graph.others else "")
    now = (_("Now f = {force}, ζ̇ = {zeta_dot}.").format(force=style.engineering(force, 'N'),
                                                         zeta_dot=style.engineering(zeta_dot, 'm/s²'))
           if zeta_dot > 0.0 else
           _("Now f = {force}: it rests.").format(force=style.engineering(force, 'N')))
    corner = (_(" It parts from f = {parts} on") if np.isfinite(graph.parts_at) else
              _(" It parts at no force shown")).format(parts=parts)
    return ngettext(
        "{now}{corner}{beside}; {n} kink. f is the force along n that the contact feels of all but contacts, d / M.",
        "{now}{corner}{beside}; {n} kinks. f is the force along n that the contact feels of all but contacts, d / M.",
        kinks).format(now=now, corner=corner, beside=beside, n=kinks)


def _acceleration(ui: UiState, graph: AccelerationGraph) -> None:
    """ζ̇ over f with its kinks, and where the contact is on it."""
    c, scale = style.colors(ui), ui.preferences.scale
    x, y = graph.force, graph.acceleration
    top, room = ROOM * max(float(y.max()), LEAST_FORCE), 0.04 * (x[-1] - x[0])
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    if implot.begin_plot("##law_acceleration", (-1, -1), PLOT):
        implot.setup_axis(implot.ImAxis_.x1, "f [N]")
        implot.setup_axis(implot.ImAxis_.y1, "ζ̇ [m/s²]")
        implot.setup_axes_limits(x[0] + room, x[-1] - room, -0.06 * top, top, implot.Cond_.always)
        implot.plot_line("##graph", x, y, implot.Spec(line_color=c.potential, line_weight=5.0 * scale))
        if len(x) > 2:
            kink = implot.Spec(marker=implot.Marker_.circle, marker_size=4.0 * scale, marker_fill_color=c.text,
                               marker_line_color=c.text)
            implot.plot_scatter("##kinks", x[1:-1].copy(), y[1:-1].copy(), kink)
        _dot(c.warning, 6.0 * scale, *(np.array([value]) for value in graph.now))
        implot.end_plot()
    implot.pop_style_var(1)


def _dot(color: style.Color, size: float, x: Array, y: Array) -> None:
    """Where the contact is now."""
    implot.plot_scatter("##point", x, y, implot.Spec(marker=implot.Marker_.circle, marker_size=size,
                                                     marker_fill_color=color, marker_line_color=color))


def _cone(ui: UiState, view: LawView) -> None:
    """Coulomb's cone up to the largest λ, cut at the present one, with the force inside; turned by the mouse."""
    c, scale, mu = style.colors(ui), ui.preferences.scale, view.friction
    f = np.ascontiguousarray(view.points[:, [FRICTION_1, FRICTION_2, LAM]].T)
    top = ROOM * max(float(f[2].max()), LEAST_FORCE)
    reach = 1.05 * max(mu * top, ROOM * float(np.abs(f[:2]).max()), 0.1 * top)
    now = f[:, -1]
    if not implot3d.begin_plot("##law_cone", (-1, -1), SPACE):
        return
    implot3d.setup_axes("f₁ [N]", "f₂ [N]", "λ [N]")
    implot3d.setup_axes_limits(-reach, reach, -reach, reach, 0.0, top, implot3d.Cond_.always)
    implot3d.setup_box_initial_rotation(20.0, 35.0)
    thin = implot3d.Spec(line_color=(*c.potential[:3], 0.55), line_weight=1.0 * scale)
    for k, angle in enumerate(ROUND[: -1 : (len(ROUND) - 1) // RAYS]):
        rim = np.array([mu * top * np.cos(angle), mu * top * np.sin(angle), top])
        implot3d.plot_line(f"##ray_{k}", *(np.array([0.0, value]) for value in rim), spec=thin)
    for name, lam, weight in (("rim", top, 1.5), ("cut", float(now[2]), 3.0)):
        ring = implot3d.Spec(line_color=c.potential, line_weight=weight * scale)
        rim = mu * lam * np.cos(ROUND), mu * lam * np.sin(ROUND), np.full(len(ROUND), lam)
        implot3d.plot_line(f"##{name}", *rim, ring)
    way = implot3d.Spec(line_color=(*c.muted[:3], 0.9), line_weight=1.2 * scale)
    for rows in pieces(view):
        implot3d.plot_line(f"##way_{rows[0]}", *(np.ascontiguousarray(f[k, rows]) for k in range(3)), spec=way)
    force = implot3d.Spec(line_color=c.warning, line_weight=3.0 * scale)
    implot3d.plot_line("##force", *(np.array([0.0, value]) for value in now), spec=force)
    point = implot3d.Spec(marker=implot3d.Marker_.circle, marker_size=5.0 * scale, marker_fill_color=c.warning,
                          marker_line_color=c.warning)
    implot3d.plot_scatter("##point", *(np.array([value]) for value in now), spec=point)
    implot3d.end_plot()


TAB = Tab("laws", "Laws", draw_laws, "Shift+L", asked)
