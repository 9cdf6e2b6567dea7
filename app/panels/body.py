"""The page of a body: its state Y and its rate of change, live, with what belongs to it; and its arrows in the view.
Beside it stand the pages of contacts and joints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled, ngettext
from ...physics.core.model import Array, movable
from ...physics.look.body_state import BodyView
from ...physics.look.quantities import about_point
from ...physics.look.support import Support, support_of
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from ..view.view_options import BodyVectors, Vector
from . import style
from .contact_page import draw_contact
from .equations import waiting
from .joint_page import chosen_joint, draw_joint
from .ledger import figure
from .numbers import Line, Numbers, PageUi, copy_button, draw_page
from .tabs import Tab

STILL = 1e-9  # [m], [m/s], [rad/s]: below it a number is shown as 0; of P, F, L, τ: times m, I, 1/h
#: quantities of the numbers of a line, by what the line shows
PLOTTED = {"x": ("x", "y", "height"), "v": ("v_x", "v_y", "v_z"), "w": ("w_x", "w_y", "w_z"),
           "P": ("p_x", "p_y", "p_z"), "L": ("L_x", "L_y", "L_z")}
#: points that L is told about -> what follows "L about"
POINTS = {"own": N_("own centre of mass"), "origin": N_("world origin"), "system": N_("system's centre of mass"),
          "point": N_("a point")}
#: switch of an arrow -> its label, and what it shows
ARROWS = {
    "v": ("v", N_("Velocity")), "w": ("ω", N_("Angular velocity")), "P": ("P", N_("Momentum")),
          "L": ("L", N_("Angular momentum")),
    "F": ("F", N_("Net force: the mean of the last step")), "tau": ("τ", N_("Net torque about the centre of mass")),
    "weight": ("m g", N_("Gravity")),
          "parts": (N_("parts"), N_("Parts of F and τ: what contacts do, and what all else does")),
}


@dataclass
class BodyUi:
    """What the page of a body remembers."""

    quaternion: bool = False  # q in place of R
    axes: bool = True         # arrows in the view, as the fields below
    v: bool = True
    w: bool = True
    P: bool = False
    L: bool = True
    F: bool = False
    tau: bool = False
    weight: bool = False
    parts: bool = False
    support: bool = True
    about: str = "own"        # of POINTS
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    picking: bool = False     # the next click in the view gives `point`


def chosen(ui: UiState, snapshot: Snapshot) -> int:
    """The selected body, else the first one that forces move; -1 where there is none."""
    if 0 <= ui.view.selected < len(snapshot.x):
        return ui.view.selected
    return int(next(iter(np.flatnonzero(movable(snapshot.model.kind))), -1))


def draw_page_of_choice(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The page of the selected body, of a contact or of a joint."""
    page = ui.state_of(PageUi)
    for k, (of, title) in enumerate((("body", N_("Body")), ("contact", N_("Contact")), ("joint", N_("Joint")))):
        if k:
            style.flow(style.width_of_switch(_(title)), 0.6 * ui.font)
        imgui.begin_disabled(of == "joint" and not len(snapshot.model.joints.type))
        if style.radio(ui, labelled(f"{title}##page_{of}"), page.of == of):
            page.of = of
        imgui.end_disabled()
    {"body": draw_body, "contact": draw_contact, "joint": draw_joint}[page.of](ui, snapshot)


def asked(ui: UiState, snapshot: Snapshot) -> Inspect:
    """What the engine shall look into for the page."""
    of = ui.state_of(PageUi).of
    if of == "joint":
        return Inspect("joint", joint=chosen_joint(ui, snapshot))
    return Inspect("body", body=chosen(ui, snapshot)) if of == "body" else Inspect()


def draw_body(ui: UiState, snapshot: Snapshot) -> None:
    """A bar with switches, the table of Y and dY/dt, and what else the body has."""
    body, mine = chosen(ui, snapshot), ui.state_of(BodyUi)
    view = snapshot.inspection.body if snapshot.inspection is not None else None
    _bar(ui, snapshot, mine, body)
    if view is None or view.body != body:
        waiting(ui, snapshot)
        return
    held = support_of(body, view.x, snapshot.model.gravity, snapshot.contacts)
    ui.view.vectors = BodyVectors(body, mine.axes, mine.support, tuple(vectors(snapshot, mine, view, held)))
    table = lines(view, mine.quaternion, held, about_line(mine, view))
    words = (facts(view), supported(held), remark(view))
    copy_button(ui, snapshot.labels.bodies[body], snapshot.now, table, words)
    _about(ui, mine)
    _switches(ui, mine)
    draw_page(ui, snapshot, table, words, ("Y", _("dY/dt")), body)


def _bar(ui: UiState, snapshot: Snapshot, mine: BodyUi, body: int) -> None:
    """Whose state, and how its orientation is written."""
    names = snapshot.labels.bodies
    style.flow(9.0 * ui.font, 0.6 * ui.font)
    imgui.set_next_item_width(9.0 * ui.font)
    if imgui.begin_combo("##body", names[body] if body >= 0 else _("no body")):
        for k in np.flatnonzero(movable(snapshot.model.kind)).tolist():
            if imgui.selectable(f"{names[k]}##body_{k}", k == body)[0]:
                ui.view.selected = k
        imgui.end_combo()
    imgui.set_item_tooltip(_("A double click in the view selects a body"))
    for quaternion, title, tip in ((False, "R", _("Orientation as a rotation matrix: principal axes to world")),
                                   (True, "q", _("Orientation as a unit quaternion w, x, y, z"))):
        style.flow(style.width_of_switch(title), (0.4 if quaternion else 0.8) * ui.font)
        if style.radio(ui, f"{title}##orientation", mine.quaternion == quaternion):
            mine.quaternion = quaternion
        imgui.set_item_tooltip(tip)


def _about(ui: UiState, mine: BodyUi) -> None:
    """About which point L is told."""
    style.flow(imgui.calc_text_size(_("L about")).x + 10.9 * ui.font, 1.0 * ui.font)
    imgui.align_text_to_frame_padding()
    style.muted(ui, _("L about"))
    imgui.same_line(0, 0.4 * ui.font)
    imgui.set_next_item_width(10.5 * ui.font)
    if imgui.begin_combo("##about", _(POINTS[mine.about])):
        for name, words in POINTS.items():
            if imgui.selectable(labelled(f"{words}##about_{name}"), name == mine.about)[0]:
                mine.about = name
        imgui.end_combo()
    imgui.set_item_tooltip(_("Angular momentum about this point of the world, L + (x − p) × P, stands in the table "
                             "too"))
    if mine.about == "point":
        imgui.same_line(0, 0.4 * ui.font)
        imgui.set_next_item_width(13.0 * ui.font)
        changed, typed = imgui.input_float3("##about_point", list(mine.point), "%.4g m")
        if changed and np.isfinite(typed).all():
            mine.point = typed[0], typed[1], typed[2]
        imgui.same_line(0, 0.4 * ui.font)
        if imgui.button(labelled("Click it in the view…##pick_point") if mine.picking
                        else labelled("Pick##pick_point")):
            mine.picking = not mine.picking
        imgui.set_item_tooltip(_("The next click in the view on a body gives the point"))


def _switches(ui: UiState, mine: BodyUi) -> None:
    """Which arrows the view shows."""
    imgui.align_text_to_frame_padding()
    style.muted(ui, _("In the view"))
    shown = {"axes": (N_("axes"), N_("Principal axes")), **ARROWS,
             "support": (N_("support"), N_("Support polygon and centre of pressure"))}
    for name, (title, tip) in shown.items():
        style.flow(style.width_of_switch(_(title)), 0.5 * ui.font)
        setattr(mine, name, imgui.checkbox(labelled(f"{title}##arrow_{name}"), getattr(mine, name))[1])
        imgui.set_item_tooltip(_(tip))


def point_of(mine: BodyUi, view: BodyView) -> Array:
    """(3,) where the point of `about` is [m]."""
    return {"own": view.x, "origin": np.zeros(3), "system": view.center}.get(mine.about, np.array(mine.point))


def about_line(mine: BodyUi, view: BodyView) -> Numbers | None:
    """L about another point than the body's own centre."""
    if mine.about == "own":
        return None
    names = tuple(about_point(axis, mine.point) if mine.about == "point" else f"L_{axis}@{mine.about}"
                  for axis in "xyz")
    at = f"({', '.join(f'{v:.4g}' for v in mine.point)}) m" if mine.about == "point" else _(POINTS[mine.about])
    return Numbers(_("L about {at}").format(at=at), "kg m²/s", view.L_about(point_of(mine, view)),
                   STILL * float(view.inertia.max()),
                   _("L + (x − p) × P about a point p of the world"), names)


def vectors(snapshot: Snapshot, mine: BodyUi, view: BodyView, held: Support) -> Iterator[Vector]:
    """The arrows that are switched on; what moves with the picture is of the picture's instant."""
    body, x = view.body, snapshot.x[view.body]
    v, w, L = snapshot.v[body], snapshot.w[body], snapshot.L[body]
    P = view.mass * v
    if mine.about == "own":
        momentum = Vector("L", "L", L, x, "momentum")
    else:
        p = point_of(mine, view)
        momentum = Vector("L", "L", L + np.cross(x - p, P), p, "momentum",
                          _("about {point}").format(point=_(POINTS[mine.about])))
    told = {"v": Vector("v", "v", v, x, "velocity"), "w": Vector("ω", "w", w, x, "impact"),
            "P": Vector("P", "P", P, x, "spring"), "L": momentum, "F": Vector("F", "F", view.F, x, "text", "net"),
            "tau": Vector("τ", "tau", view.tau, x, "joint", _("net, about the centre of mass")),
            "weight": Vector("m g", "F", view.weight, x, "slip")}
    yield from (vector for name, vector in told.items() if getattr(mine, name) and np.isfinite(vector.value).all())
    if mine.parts:
        yield Vector("F_c", "F", held.force, x, "force", _("of contacts"))
        yield Vector("τ_c", "tau", held.torque, x, "dent", _("of contacts"))
        if np.isfinite(view.F).all():
            yield Vector("F_o", "F", view.F - view.weight - held.force, x, "friction", _("of all else"))


def lines(view: BodyView, quaternion: bool, held: Support, about: Numbers | None = None) -> list[Line]:
    """The table: Y at the left with dY/dt beside it, then ω, I⁻¹ and what makes up F. about: L about another point."""
    m, I = view.mass, float(view.inertia.max())
    mean = _("Mean over the last step, h = {h:.4g} s: ").format(h=view.h)
    all_of_it = _("contacts, gravity, springs, joints, the mouse, loads")
    table: list[Line] = [(Numbers("x", "m", view.x, STILL, _("Centre of mass"), PLOTTED["x"]),
                          Numbers("v", "m/s", view.v, STILL, "", PLOTTED["v"]))]
    if quaternion:
        turn = _("Principal axes to world: w first, then x, y, z")
        table += [
            (Numbers("q  (w)", "", view.q[:1], STILL, turn), Numbers("½ ω q  (w)", "1/s", view.q_dot[:1], STILL)),
            (Numbers("    (x y z)", "", view.q[1:], STILL, turn), Numbers("    (x y z)", "1/s", view.q_dot[1:], STILL)),
        ]
    else:
        table += [
            (Numbers("R" if k == 0 else "", "", view.R[k], STILL, _("Principal axes to world: each column is an axis")),
             Numbers("[ω]× R" if k == 0 else "", "1/s" if k == 0 else "", view.R_dot[k], STILL))
            for k in range(3)
        ]
    table += [
        (Numbers("P", "kg m/s", view.P, STILL * m, _("Momentum m v"), PLOTTED["P"]),
         Numbers("F", "N", view.F, STILL * m / view.h,
                 _("{mean}(P(t) − P(t − h))/h, of all that acts: {all_of_it}").format(mean=mean, all_of_it=all_of_it))),
        (Numbers("L", "kg m²/s", view.L, STILL * I, _("Angular momentum I ω about the centre of mass"),
                 PLOTTED["L"]),
         Numbers("τ", "N m", view.tau, STILL * I / view.h,
                 _("{mean}(L(t) − L(t − h))/h, of all that acts, about the centre of mass").format(mean=mean))),
        (about, None),
        (Numbers("ω", "rad/s", view.w, STILL, _("Angular velocity I⁻¹ L"), PLOTTED["w"]),
         Numbers("m g", "N", view.weight, STILL * m, _("Weight, a part of F"))),
    ]
    inverse = view.inverse_inertia
    noise = STILL * m / view.h
    parts = (Numbers("F − m g", "N", view.F - view.weight, noise,
                     _("{mean}all of F but the weight: contacts, springs, joints, the mouse, loads").format(mean=mean)),
             Numbers(_("of contacts"), "N", held.force, noise,
                     _("Normal and friction forces of its contacts, a part of F")),
             Numbers(_("their torque"), "N m", held.torque, STILL * I / view.h,
                     _("About the centre of mass, a part of τ")))
    for k in range(3):
        table.append((Numbers("I⁻¹" if k == 0 else "", "1/(kg m²)" if k == 0 else "", inverse[k],
                              STILL * float(np.abs(inverse).max()),
                              _("R I_body⁻¹ R^T, of the body by itself, in world axes")), parts[k]))
    return table


def facts(view: BodyView) -> str:
    """Mass, principal moments and energies."""
    moments = ", ".join(f"{value:.4g}" for value in view.inertia)
    energies = (("½ m v²", view.linear_energy), ("½ ω·L", view.rotational_energy), ("−m g·x", view.potential_energy))
    return "    ".join((f"m = {view.mass:.4g} kg", _("principal moments {moments} kg m²").format(moments=moments),
                        *(f"{name} = {style.engineering(value, 'J', 4)}" for name, value in energies)))


def supported(held: Support) -> str:
    """Contacts that press, where they carry the body, and how far it is from tipping and slipping."""
    if not held.count:
        return _("No contact presses on it.")
    words = [ngettext("{n} contact presses", "{n} contacts press", held.count).format(n=held.count)]
    if np.isfinite(held.pressure).all():
        words.append(_("centre of pressure ({place}) m").format(place=', '.join(figure(v) for v in held.pressure)))
    if len(held.polygon):
        words.append((_("centre of mass {far} inside the support polygon") if held.inside >= 0.0 else
                      _("centre of mass {far} outside of the support polygon")).format(
                          far=style.engineering(abs(held.inside), "m")))
    words.append(_("no friction") if np.isnan(held.margin) else
                 _("|f_t| is at most {margin:.3g} % of μλ").format(margin=100.0 * (1.0 - held.margin)))
    return ",  ".join(words)


def remark(view: BodyView) -> str:
    """What F and τ are, and what else a reader must know of this body."""
    text = _("F and τ: means over the last step, of all that acts.") if np.isfinite(view.F).all() else (
        _("F and τ are found from a step: make one."))
    if view.asleep:
        text += _(" It sleeps: it rests with its island, and is left out of steps until something stirs it.")
    if view.link:
        text += _(" A link of a tree: P = m v and L = I ω; its joints' forces are in F and τ.")
    return text


TAB = Tab("body", "Body", draw_page_of_choice, "Y", asked)
