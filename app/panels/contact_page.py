"""The page of a contact: where it is, what it does, and which law it obeys now; and its arrows in the view."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _
from ...physics.core.model import Array, Model
from ...physics.core.state import Contacts
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from ..view.camera import matrices
from ..view.view_options import BodyVectors, Vector
from . import style
from .contacts import CASES, set_symbols
from .numbers import Line, Numbers, PageUi, copy_button, draw_page
from .watch import contact_name

STILL = 1e-9  # [m], [m/s], [N], [N s]: below it a number is shown as 0
MOST_LISTED = 200  # contacts that can be chosen by name


@dataclass
class ContactUi:
    """Which arrows the view shows."""

    velocity: bool = True
    force: bool = True
    parts: bool = False


def chosen_contact(ui: UiState, snapshot: Snapshot) -> int:
    """Row of the contact that was chosen; where none was, of the one that is pressed hardest; -1 where it is gone."""
    contacts, key = snapshot.contacts, ui.state_of(PageUi).contact
    count = int(contacts.count[0])
    if key < 0 and count:
        return int(np.argmax(contacts.lam[:count]))
    rows = np.flatnonzero(contacts.key[:count] == key)
    return int(rows[0]) if len(rows) else -1


def draw_contact(ui: UiState, snapshot: Snapshot) -> None:
    """A bar with switches, the table, and what is said of its law and materials."""
    mine, row = ui.state_of(ContactUi), chosen_contact(ui, snapshot)
    _choice(ui, snapshot, row)
    if row < 0:
        imgui.new_line()
        style.muted(ui, _("Nothing touches.") if not int(snapshot.contacts.count[0]) else
                    _("This contact is gone. Choose another one here, by a double click on its mark in the view, or "
                      "by a click on its line in the tab Contacts."), wrap=True)
        return
    contacts, key = snapshot.contacts, int(snapshot.contacts.key[row])
    ui.view.hovered_contact = row if ui.hovered_key is None else ui.view.hovered_contact
    table, said = lines(snapshot, row), words(snapshot, row)
    ui.view.vectors = BodyVectors(int(contacts.body_b[row]), arrows=tuple(vectors(snapshot, mine, row)))
    copy_button(ui, contact_name(snapshot, key), snapshot.now, table, said)
    imgui.align_text_to_frame_padding()
    style.muted(ui, _("In the view"))
    for name, title, tip in (("velocity", "u", _("Velocity of the surface of b relative to that of a")),
                             ("force", "f", _("The whole force on b")),
                             ("parts", "λ n, f_t", _("Normal force and friction"))):
        imgui.same_line(0, 0.5 * ui.font)
        setattr(mine, name, imgui.checkbox(f"{title}##contact_{name}", getattr(mine, name))[1])
        imgui.set_item_tooltip(tip)
    draw_page(ui, snapshot, table, said, (_("World axes"), _("Numbers")), key, ("", "", ""))


def _choice(ui: UiState, snapshot: Snapshot, row: int) -> None:
    """A list of the contacts, the hardest pressed first."""
    contacts, page = snapshot.contacts, ui.state_of(PageUi)
    count = int(contacts.count[0])
    shown = contact_name(snapshot, int(contacts.key[row])) if row >= 0 else _("no contact")
    imgui.set_next_item_width(16.0 * ui.font)
    if imgui.begin_combo("##contact", shown):
        for k in np.argsort(-contacts.lam[:count], kind="stable")[:MOST_LISTED].tolist():
            key = int(contacts.key[k])
            words = f"{contact_name(snapshot, key)}   {style.engineering(float(contacts.lam[k]), 'N')}"
            if imgui.selectable(f"{words}##contact_{key}", k == row)[0]:
                page.contact = key
        imgui.end_combo()
    imgui.set_item_tooltip(_("A double click on its mark in the view, or a click in the tab Contacts, chooses a "
                             "contact"))
    imgui.same_line(0, 1.0 * ui.font)


def relative_velocity(snapshot: Snapshot, row: int) -> Array:
    """(3,) of the point of body b at the contact, relative to that of a; belts run with their surfaces [m/s]."""
    c, motions = snapshot.contacts, snapshot.model.motions
    found = np.zeros(3)
    for body, sign in ((int(c.body_b[row]), 1.0), (int(c.body_a[row]), -1.0)):
        arm, turn = c.point[row] - snapshot.x[body], matrices(snapshot.q[body][None])[0]
        found += sign * (snapshot.v[body] + np.cross(snapshot.w[body], arm)
                         + turn @ motions.surface_velocity[body] + np.cross(turn @ motions.surface_spin[body], arm))
    return found


def lines(snapshot: Snapshot, row: int) -> list[Line]:
    """Vectors at the left, numbers at the right."""
    c, u = snapshot.contacts, relative_velocity(snapshot, row)
    n, lam, friction = c.normal[row], float(c.lam[row]), c.friction_force[row]
    return [
        (Numbers("point", "m", c.point[row], STILL, _("Midway between the two surfaces")),
         Numbers("φ", "m", c.gap[row], STILL, _("Gap: > 0 apart, < 0 overlapping"), ("contact_gap",))),
        (Numbers("n", "", n, STILL, _("Unit normal, from a to b")),
         Numbers("ζ", "m/s", c.zeta[row], STILL, _("Normal separation velocity at the end of the step"),
                 ("contact_zeta",))),
        (Numbers("u", "m/s", u, STILL, _("Velocity of the surface of b relative to that of a, now")),
         Numbers("ζ̇", "m/s²", c.zeta_dot[row], STILL, _("Its rate of change over the step"))),
        (Numbers("u_t", "m/s", u - (u @ n) * n, STILL, _("The part of u along the contact")),
         Numbers("slip", "m/s", c.slip[row], STILL, _("Tangential speed at the end of the step"), ("contact_slip",))),
        (Numbers("f", "N", lam * n + friction, STILL, _("Mean force on b over the last step; a gets the opposite")),
         Numbers("λ", "N", lam, STILL, _("Its part along the normal"), ("contact_lam",))),
        (Numbers("f_t", "N", friction, STILL, _("Its part along the contact: friction")),
         Numbers("|f_t|", "N", float(np.linalg.norm(friction)), STILL, _("Size of the friction force"),
                 ("contact_friction",))),
        (Numbers("f h", "N s", c.impulse[row], STILL, _("Impulse of the whole step on b, impacts in it included")),
         Numbers("μ λ", "N", float(c.friction[row]) * lam, STILL, _("What friction can be at most"))),
    ]


def margin(c: Contacts, row: int) -> float:
    """How far inside its cone the force is, 1 - |f_t|/(μ λ); nan where there is no cone."""
    most = float(c.friction[row] * c.lam[row])
    return 1.0 - float(np.linalg.norm(c.friction_force[row])) / most if most > 0.0 else np.nan


def mode(c: Contacts, row: int) -> str:
    """What the contact does, in words."""
    if c.lam[row] <= 0.0:
        return _("carries nothing")
    if not c.friction[row] > 0.0:
        return _("carries, without friction")
    return _("slips: on its cone") if margin(c, row) < 0.02 and c.slip[row] > 1e-3 else _("sticks: inside its cone")


def words(snapshot: Snapshot, row: int) -> tuple[str, ...]:
    """Case and mode; the two materials and their law; soft surfaces."""
    c, model, names = snapshot.contacts, snapshot.model, snapshot.labels.materials
    a, b = (int(model.shapes.material[int(shape[row])]) for shape in (c.shape_a, c.shape_b))
    case = CASES.get(int(c.case[row]), "no case told by this method")
    sets = set_symbols(bool(c.current[row]), bool(c.active[row]))
    spare = margin(c, row)
    cone = "" if np.isnan(spare) else _(",  cone margin 1 − |f_t|/(μ λ) = {spare:.4g}").format(spare=spare)
    told = [_("Case {case}    {mode}{cone}    sets {sets}").format(
                case=_(case), mode=mode(c, row), cone=cone, sets=sets),
            f"{names[a]} on {names[b]}:    e = {c.restitution[row]:.4g}    μ = {c.friction[row]:.4g}"
            f"{_more(model, a, b)}"]
    if row < len(snapshot.dents):
        told.append(_("Surfaces:    z = {dents}    "
                    "|x| = {shears}").format(dents=style.engineering(-float(snapshot.dents[row]), 'm'),
                                             shears=style.engineering(float(snapshot.shears[row]), 'm')))
    return tuple(told)


def _more(model: Model, a: int, b: int) -> str:
    """What else the pair of materials says, where it says it."""
    m = model.materials
    given = (("μ_s", m.friction_static, ""), ("torsional", m.friction_torsional, " m"),
             ("rolling", m.friction_rolling, " m"), ("e_t", m.restitution_t, ""), ("e_ψ", m.restitution_psi, ""))
    return "".join(f"    {name} = {table[a, b]:.4g}{unit}" for name, table, unit in given
                   if table.shape[0] > max(a, b) and np.isfinite(table[a, b]))


def vectors(snapshot: Snapshot, mine: ContactUi, row: int) -> Iterator[Vector]:
    """The arrows that are switched on."""
    c = snapshot.contacts
    at, normal, friction = c.point[row], c.lam[row] * c.normal[row], c.friction_force[row]
    if mine.velocity:
        yield Vector("u", "v", relative_velocity(snapshot, row), at, "velocity", _("of b relative to a"))
    if mine.force:
        yield Vector("f", "F", normal + friction, at, "text", _("on b"))
    if mine.parts:
        yield Vector("λ n", "F", normal, at, "force")
        yield Vector("f_t", "F", friction, at, "friction")
