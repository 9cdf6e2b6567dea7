"""The last impact, frozen: move its coefficients, change the law, and see what it would have done before going on."""

from collections.abc import Callable, Sequence

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled, ngettext
from ...physics.core.model import Array, IntArray
from ...physics.look.inspection import ImpactView
from ...physics.look.zhang_form import ZhangForm
from ...physics.run.messages import Command, Inspect, JointImpulse, Seek, Set, Snapshot, Step
from ..ui_state import UiState
from . import style
from .equations import STATUS, TABLE, waiting
from .explained import pair_name
from .formula import formula, number
from .impact_forms import ImpactFormsUi, draw_forms
from .maps import Map, draw_maps
from .moments import draw_impact_moments
from .tabs import Tab
from .wrapping import text_wrapped

Send = Callable[[Command], None]
LAW_TITLES = {
    "newton": (N_("Newton, all at once"), r"0 \le P \perp \zeta^+ + e\,\zeta^- \ge 0"),
    "poisson": (N_("Poisson"), r"P = P_C + P_E,\quad P_E \ge e\,P_C"),
    "stronge": (N_("Stronge"), r"\int_{exp} \zeta\,dP = -e^2 \int_{comp} \zeta\,dP"),
    "sequential": (N_("One after the other"), r"P_i = -(1+e)\,\frac{\zeta_i}{M_{ii}}\ \text{fastest first}"),
    "zhang": (N_("Equality (Zhang)"), r"A M^{-1} d\, I^* = H:\quad \zeta^+ = -e\,\zeta^-"),
    "sticking": (N_("Sticking"), r"P = -M^{-1}(1+E)\,\zeta^-"),
    "coulomb": (N_("Coulomb's cone"), r"|P_t| \le \mu P_n"),
    "ball": (N_("Newton, and e_t, e_ψ of balls"),
             r"\zeta_t^+ = -e_t\,\zeta_t^-,\ \psi^+ = -e_\psi\,\psi^-,\ |P_t| \le \mu P_n"),
}
#: coefficients in the inspector, ImpactView and Set: their symbols, the sliders' ends, and what they are
COEFFICIENTS = {
    "restitution": ("e", 0.0, 1.0, N_("Restitution: how much of the approach comes back")),
    "friction": ("μ", 0.0, 1.5, N_("Friction")),
    "restitution_t": ("e_t", -1.0, 1.0, N_("Of balls: how much of the slip comes back, as far as friction can; -1 is "
                                        "smooth, 0 sticks, 1 is a super-ball")),
    "restitution_psi": ("e_ψ", -1.0, 1.0,
                        N_("Of balls: how much of the spin about the normal comes back; -1 leaves it")),
}
OF_BALLS = ("restitution_t", "restitution_psi")
MOST_BODIES = 40
LEAST_WIDTH = 42.0  # [font heights] of laws and result together


def draw_impact(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    if snapshot is None:
        return
    view = snapshot.inspection.impact if snapshot.inspection is not None else None
    if view is None:
        waiting(ui, snapshot)
        return
    with style.room(ui, "impact_room", LEAST_WIDTH):
        imgui.begin_child("impact_laws", (0.42 * imgui.get_content_region_avail().x, 0))
        _what(ui, snapshot, view, send)
        _laws(ui, view)
        imgui.end_child()
        imgui.same_line(0, 1.2 * ui.font)
        imgui.begin_child("impact_result")
        _result(ui, snapshot, view)
        imgui.end_child()


def _what(ui: UiState, snapshot: Snapshot, view: ImpactView, send: Send) -> None:
    """Which impact, its e and μ."""
    inspector, event = ui.inspector, view.event
    a, b = (snapshot.labels.bodies[k] for k in event.bodies)
    ago = snapshot.step - event.step
    with style.font(ui, bold=True):
        text_wrapped(f"{a} → {b} at t = {event.t:.4f} s")
    count = len(view.friction)
    style.muted(ui,
                ngettext("{n} contact takes part, ", "{n} contacts take part, ", count).format(n=count)
                    + (_("in the step just made") if ago == 0
                       else ngettext("{n} step ago", "{n} steps ago", ago).format(n=ago))
                    + _(". What if …"), wrap=True)
    between_balls = bool(view.balls.any())
    for name, (symbol, low, high, meaning) in COEFFICIENTS.items():
        if between_balls or name not in OF_BALLS:
            asked = _coefficient(ui, name, symbol, getattr(inspector, name), getattr(view, name), low, high)
            imgui.set_item_tooltip(_(meaning))
            if name in OF_BALLS and asked not in (None, getattr(inspector, name)):
                inspector.law = "ball"  # the only law with these coefficients
            setattr(inspector, name, asked)
    if imgui.button(labelled("Make this step again so##impact")):
        for name in COEFFICIENTS:
            if getattr(inspector, name) is not None:
                send(Set(name, getattr(inspector, name)))
        send(Seek(event.step - 1))
        send(Step(1))
    imgui.set_item_tooltip(_("Go back to before the impact, set what was moved for all contacts, and take the step "
                             "anew"))


def _coefficient(
    ui: UiState, name: str, symbol: str, asked: float | None, used: np.ndarray, bottom: float, top: float
) -> float | None:
    """A slider; None = as it was."""
    own = used[~np.isnan(used)]
    low, high = (float(own.min()), float(own.max())) if len(own) else (bottom, bottom)
    shown = asked if asked is not None else 0.5 * (low + high)
    imgui.align_text_to_frame_padding()
    if asked is None and not len(own):
        imgui.text(_("{symbol} not set").format(symbol=symbol))
    elif asked is not None or low == high:
        imgui.text(f"{symbol} = {shown:.2f}")
    else:
        imgui.text(f"{symbol} = {low:.2f} … {high:.2f}")
    imgui.same_line(min(7.0 * ui.font, 0.4 * imgui.get_window_width()))
    imgui.set_next_item_width(max(imgui.get_content_region_avail().x - 2.8 * ui.font, 2.0 * ui.font))
    changed, value = style.slider(f"impact_{name}", shown, bottom, top, "%.2f", ui)
    imgui.same_line(0, 0.3 * ui.font)
    imgui.begin_disabled(asked is None)
    if imgui.button(f"\uf0e2##impact_{name}_own"):
        changed, value = False, shown
        asked = None
    imgui.end_disabled()
    imgui.set_item_tooltip(_("As it was in the scene"))
    return value if changed else asked


def _laws(ui: UiState, view: ImpactView) -> None:
    """All laws with what they lose; a click chooses the one that is shown."""
    with style.font(ui, size=14.0):
        widths = (8.0, 7.6, 4.0)
        if style.table(ui, "laws", widths, TABLE & ~imgui.TableFlags_.scroll_y):
            style.columns(ui, (N_("Law"), N_("Energy lost"), N_("Status")), widths)
            imgui.table_headers_row()
            for law, impact in view.impacts.items():
                imgui.table_next_row()
                imgui.table_next_column()
                if imgui.selectable(labelled(f"{LAW_TITLES[law][0]}##law_{law}"), law == ui.inspector.law,
                                    imgui.SelectableFlags_.span_all_columns)[0]:
                    ui.inspector.law = law
                imgui.table_next_column()
                imgui.text(f"{style.engineering(lost(view, law), 'J')}   {share_lost(view, law):.1f} %")
                imgui.table_next_column()
                imgui.text(_(STATUS.get(impact.status, impact.status)))
            imgui.end_table()


def share_lost(view: ImpactView, law: str) -> float:
    """Kinetic energy lost in percent of that of the system."""
    return 100.0 * lost(view, law) / view.kinetic if view.kinetic > 0.0 else 0.0


def lost(view: ImpactView, law: str) -> float:
    """Kinetic energy lost [J]; 0 where it is within rounding."""
    loss = view.impacts[law].loss
    return loss if abs(loss) > 1e-12 * view.kinetic else 0.0


def _result(ui: UiState, snapshot: Snapshot, view: ImpactView) -> None:
    """Impulses and velocities of the chosen law."""
    law = ui.inspector.law if ui.inspector.law in view.impacts else "newton"
    impact = view.impacts[law]
    width = 3 if len(impact.impulse) == len(view.contacts.u) else 1
    title, equation = LAW_TITLES[law]
    with style.font(ui, bold=True):
        imgui.text(_(title))
    bounds = r",\ |m| \le \ell P_n" if law in view.moments else ""
    formula(ui, equation + bounds + r",\qquad \zeta^+ = \zeta^- + M P", 15.0)
    gain = number(-lost(view, law))
    spin = r" + \frac{1}{2} P_\psi(\psi^- + \psi^+)" if law == "ball" else ""
    spin += r" + \frac{1}{2} m\cdot(\omega^- + \omega^+)" if law in view.moments else ""
    formula(ui, rf"\Delta E = \frac{{1}}{{2}} P\cdot(\zeta^- + \zeta^+){spin} = {gain}\ \mathrm{{J}}", 15.0)
    if law == "zhang" and (impact.impulse < 0.0).any():
        style.muted(ui, _("An equality holds whatever the sign of the impulse: where it is negative here, the contact "
                        "pulls, and Newton's inequalities let go."), wrap=True)
    elif lost(view, law) < 0.0:
        with style.color(imgui.Col_.text, style.colors(ui).warning):
            text_wrapped(_("Energy grows: friction turned the slip around, and e compares velocities only "
                           "(Kane's paradox). Stronge's and Poisson's laws and Coulomb's cone gain nothing."))
    joints = view.joints.get(law, ())
    tables = {
        "Contacts": lambda: _contacts(ui, snapshot, view, impact.impulse, impact.zeta, width),
        "Bodies": lambda: _bodies(ui, snapshot, view, law),
    } | ({"Moments": lambda: draw_impact_moments(ui, snapshot, view, law, TABLE)} if law in view.moments else {}
    ) | ({"Joints": lambda: _joints(ui, snapshot, joints)} if joints else {})
    if joints or not isinstance(view.forms, str):
        tables["I^A, H"] = lambda: draw_forms(ui, snapshot, view)
    if law == "zhang":
        tables["W M A d H"] = lambda: _in_zhangs_terms(ui, snapshot, view)
    with style.font(ui, size=14.0):
        if imgui.begin_tab_bar("impact_tables"):
            for name, draw in tables.items():
                if imgui.begin_tab_item(labelled(name))[0]:
                    draw()
                    imgui.end_tab_item()
            imgui.end_tab_bar()


def _contacts(ui: UiState, snapshot: Snapshot, view: ImpactView, impulse: np.ndarray, after: np.ndarray, width: int
              ) -> None:
    """ζ before and after and the impulse of each contact."""
    contacts = view.contacts
    columns = [_("Contact"), "ζ⁻", "ζ⁺", "P [N s]"] + (["|P_t|"] if width == 3 else [])
    widths = [7.0, *(len(columns) - 1) * [4.4]]
    if not style.table(ui, "impact_contacts", widths, TABLE):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    style.columns(ui, columns, widths)
    imgui.table_headers_row()
    for i in np.argsort(-impulse[::width], kind="stable").tolist():  # the hardest blow first
        imgui.table_next_row()
        imgui.table_next_column()
        text = pair_name(snapshot, contacts, i)
        imgui.selectable(f"{text}##impact_{i}", False, imgui.SelectableFlags_.span_all_columns)
        if imgui.is_item_hovered():
            ui.hovered_key, ui.hover_from_view = int(contacts.key[i]), False
        values = [float(contacts.u[3 * i]), float(after[width * i]), float(impulse[width * i])]
        if width == 3:
            values.append(float(np.hypot(impulse[3 * i + 1], impulse[3 * i + 2])))
        for value in values:
            imgui.table_next_column()
            imgui.text(_number(value))
    imgui.end_table()


def _joints(ui: UiState, snapshot: Snapshot, joints: Sequence[JointImpulse]) -> None:
    """What every joint passes on, the hardest first."""
    if not imgui.begin_table("impact_joints", 3, TABLE):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    imgui.table_setup_column(_("Joint"), imgui.TableColumnFlags_.width_stretch)
    imgui.table_setup_column("|P| [N s]", imgui.TableColumnFlags_.width_fixed, 3.8 * ui.font)
    imgui.table_setup_column("|L| [N m s]", imgui.TableColumnFlags_.width_fixed, 4.4 * ui.font)
    imgui.table_headers_row()
    for passed in sorted(joints, key=lambda j: -float(np.linalg.norm(j.impulse))):
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text(snapshot.labels.joints[passed.joint])
        for values in (passed.impulse, passed.moment):
            imgui.table_next_column()
            imgui.text(_number(float(np.linalg.norm(values))))
            if imgui.is_item_hovered():
                imgui.set_tooltip("  ".join(_number(v) for v in values))
    imgui.end_table()


def _in_zhangs_terms(ui: UiState, snapshot: Snapshot, view: ImpactView) -> None:
    """The quantities of the paper as matrices, or why the impact is none of its kind."""
    if isinstance(view.zhang, str):
        style.muted(ui, _(view.zhang), wrap=True)
        return
    found = view.zhang.impact
    formula(ui, r"\Delta\dot q = M^{-1} d\, I^*", 15.0)
    draw_maps(ui, "zhang", zhang_maps(snapshot, view.zhang))
    if found.status != "solved":
        style.muted(ui, _("A M⁻¹ d is singular: the solution is {status}.").format(
            status=_(STATUS.get(found.status, found.status))))


def zhang_maps(snapshot: Snapshot, form: ZhangForm) -> list[Map]:
    """W, M, d, A, H, I* and Δq̇, with the joints and points that their rows and columns belong to."""
    found, names = form.impact, [snapshot.labels.joints[j] for j in np.concatenate(form.joints).tolist()]

    def point(k: int) -> str:
        return _("point {k}").format(k=k + 1)

    def tip(symbol: str, values: Array, rows: Callable[[int], str], columns: Callable[[int], str] | None, unit: str
            ) -> Callable[[int, int], str]:
        def told(i: int, j: int) -> str:
            place = f"{i + 1},{j + 1}" if columns else f"{i + 1}"
            of = f"{rows(i)}, {columns(j)}" if columns else rows(i)
            return f"{symbol} {place} = {values[i, j]:.6g}{unit}\n{of}"
        return told

    def entry(title: str, symbol: str, values: Array | IntArray, rows: Callable[[int], str],
              columns: Callable[[int], str] | None = None, unit: str = "") -> Map:
        table = np.ascontiguousarray(values if values.ndim == 2 else values[:, None], np.float64)
        return Map(title, table, None, tip(symbol, table, rows, columns, unit))

    def link(i: int) -> str:
        return _("the link on {names}").format(names=names[i])

    return [
        entry("W", "W", found.W, link, point), entry("M", "M", found.M, names.__getitem__, names.__getitem__),
        entry("d", "d", found.d, names.__getitem__, point), entry("A", "A", found.A, point, names.__getitem__),
        entry("H", "H", found.H, point, unit=" m/s"), entry("I^*", "I*", found.impulse, point, unit=" N s"),
        entry(r"\Delta\dot q", "Δq\u0307", found.change, names.__getitem__, unit=" rad/s or m/s"),
    ]


def _bodies(ui: UiState, snapshot: Snapshot, view: ImpactView, law: str) -> None:
    """Velocities of the bodies before and after."""
    if not imgui.begin_table("impact_bodies", 3, TABLE):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    imgui.table_setup_column(_("Body"), imgui.TableColumnFlags_.width_stretch, 1.0)
    imgui.table_setup_column("v⁻ [m/s]", imgui.TableColumnFlags_.width_stretch, 1.6)
    imgui.table_setup_column("v⁺ [m/s]", imgui.TableColumnFlags_.width_stretch, 1.6)
    imgui.table_headers_row()
    tiny = 1e-9 * float(max(np.abs(view.before).max(initial=0.0), np.abs(view.after[law]).max(initial=0.0)))
    for k in range(min(len(view.moving), MOST_BODIES)):
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text(snapshot.labels.bodies[int(view.moving[k])])
        for values in (view.before[k], view.after[law][k]):
            imgui.table_next_column()
            imgui.text("  ".join(_number(float(v), tiny) for v in values[:3]))
            if imgui.is_item_hovered():
                imgui.set_tooltip("ω = " + "  ".join(_number(float(v), tiny) for v in values[3:]) + " rad/s")
    imgui.end_table()


def _number(value: float, tiny: float = 5e-10) -> str:
    return "0" if abs(value) < tiny else f"{value:.3f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.1e}"


def asked(ui: UiState, _: Snapshot) -> Inspect:
    """The last impact, with the coefficients of the sliders."""
    i, forms = ui.inspector, ui.state_of(ImpactFormsUi)
    return Inspect("impact", restitution=i.restitution, friction=i.friction, restitution_t=i.restitution_t,
                   restitution_psi=i.restitution_psi, form=forms.form, measure=forms.measure)


TAB = Tab("impact", "Impact", draw_impact, "Shift+E", asked)
