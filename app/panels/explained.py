"""Formulas with the live numbers of the chosen contact put in."""

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.look.baraff import TERMS
from ...physics.look.inspection import EquationsView
from ...physics.problem.contact_snapshot import ContactSnapshot
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from . import style
from .formula import formula, number, signed
from .wrapping import text_wrapped

TERMS_SHOWN = 3  # of a sum


def draw_contact(ui: UiState, snapshot: Snapshot, view: EquationsView, lam: Array, active: NDArray[np.bool_]) -> None:
    """The row of the chosen contact: its sum, its complementarity, and what its force would be were it alone."""
    i = ui.inspector.row
    M, d = view.problem.M, view.problem.d
    zeta = float(M[i] @ lam + d[i])
    size = float(np.abs(d).max(initial=0.0)) or 1.0
    if abs(zeta) < 1e-9 * size:
        zeta = 0.0
    _title(ui, snapshot, view, i)
    n = i + 1
    formula(ui, rf"\dot\zeta_{{{n}}} = \sum_j M_{{{n}j}}\,\lambda_j + d_{{{n}}}")
    formula(ui, rf"\quad = {_sum(M[i], lam)} {signed(float(d[i]))} = {number(zeta)}\ \mathrm{{m/s^2}}")
    imgui.dummy((0, 0.15 * ui.font))
    force = float(lam[i])
    formula(ui, rf"\lambda_{{{n}}} = {number(force)}\ \mathrm{{N}},\qquad \lambda_{{{n}}}\,\dot\zeta_{{{n}}} = "
                rf"{number(force * zeta)}")
    style.muted(ui, verdict(force, zeta, bool(active[i]), size), wrap=True)
    imgui.dummy((0, 0.15 * ui.font))
    own, alone = float(M[i, i]), max(0.0, -float(d[i]) / max(float(M[i, i]), 1e-300))
    style.muted(ui, _("Were it the only contact:"))
    formula(ui, rf"\lambda = \max\left(0, \frac{{-d_{{{n}}}}}{{M_{{{n}{n}}}}}\right) = "
                rf"\max\left(0, \frac{{{number(-float(d[i]))}}}{{{number(own)}}}\right) = "
                rf"{number(alone)}\ \mathrm{{N}}")


def pair_name(snapshot: Snapshot, contacts: ContactSnapshot, k: int) -> str:
    """ "a → b" of a contact, "limit of the hinge" of a limit."""
    if contacts.limit[k] >= 0:
        return _("limit of {joints}").format(joints=snapshot.labels.joints[int(contacts.limit[k])])
    names = snapshot.labels.bodies
    return f"{names[int(contacts.body_a[k])]} → {names[int(contacts.body_b[k])]}"


def _title(ui: UiState, snapshot: Snapshot, view: EquationsView, i: int) -> None:
    text = _("Contact {i}").format(i=i + 1)
    if view.contacts is not None:
        text += f":  {pair_name(snapshot, view.contacts, i)}"
    with style.font(ui, bold=True):
        text_wrapped(text)


def _sum(row: Array, lam: Array) -> str:
    """The largest terms of Σ M_ij λ_j with their numbers, and what the rest adds up to."""
    terms = row * lam
    order = np.argsort(-np.abs(terms), kind="stable")
    order = order[np.abs(terms[order]) > 1e-12 * max(float(np.abs(terms).max(initial=0.0)), 1e-300)]
    if not len(order):
        return "0"
    shown = order[: TERMS_SHOWN if len(order) > TERMS_SHOWN + 1 else TERMS_SHOWN + 1]
    parts = [rf"{number(float(row[j]))}\cdot {number(float(lam[j]))}" if lam[j] >= 0 else
             rf"{number(float(row[j]))}\cdot({number(float(lam[j]))})" for j in shown.tolist()]
    rest = float(terms[order[len(shown):]].sum())
    text = " + ".join(parts).replace("+ -", "- ")
    return text + (rf" {signed(rest)}" if len(order) > len(shown) else "")


def verdict(force: float, zeta: float, active: bool, size: float) -> str:
    """What the numbers mean, in a sentence."""
    if zeta < -1e-7 * size:
        return _("ζ̇ < 0: the bodies would press into each other. This is no solution yet.")
    if force < -1e-12 * abs(size):
        return _("λ < 0: this contact pulls. Glue, not contact: no solution.")
    if zeta > 0.0:
        return _("ζ̇ > 0, so λ = 0: the contact opens. It leaves the current set.")
    if force > 0.0:
        return _("λ > 0, so ζ̇ = 0: it pushes and stays closed. It is in the active set.")
    return _("λ = 0 and ζ̇ = 0: it stays closed without a force. ") + (
        _("Active: its normal completes the basis.") if active else _("The others carry. Current, not active."))


# ----------------------------------------------------------------------------------------------- A f + b


def draw_baraff(ui: UiState, snapshot: Snapshot, view: EquationsView) -> None:
    """a_ij and b_i from lever arms, with numbers, beside M_ij and d_i."""
    assert view.baraff is not None and view.contacts is not None
    theirs, contacts = view.baraff, view.contacts
    i, j = ui.inspector.row, ui.inspector.column
    n, k = i + 1, j + 1
    _title(ui, snapshot, view, i)
    style.muted(ui, _("A = M, f = λ, b = d: the same equations from lever arms, body by body. Click a cell for another "
                    "pair."), wrap=True)
    formula(ui, r"a_{ij} = \sum_{a,b}\pm\, n_i\cdot\left(\frac{1}{m}n_j + "
                r"\left(I^{-1}(r_j\times n_j)\right)\times r_i\right)", 16.0)
    formula(ui, rf"a_{{{n},{k}}} = {number(float(theirs.A[i, j]), 5)},\quad M_{{{n},{k}}} = "
                rf"{number(float(view.problem.M[i, j]), 5)}", 16.0)
    off = float(theirs.A[i, j] - view.problem.M[i, j])
    imgui.same_line(0, 1.0 * ui.font)
    style.muted(ui, _("the same") if abs(off) < 1e-12 * max(abs(view.problem.M[i, i]), 1e-300)
                else _("off by {off:.1e}").format(off=off))
    formula(ui, r"b_i = \sum_{a,b}\pm\, n_i\cdot\left(\frac{F}{m} + (I^{-1}\tau)\times r + "
                r"(I^{-1}(L\times\omega))\times r\right.", 15.0)
    formula(ui, r"\qquad\left. + \;\omega\times(\omega\times r)\right) + 2\,\dot n_i\cdot(\dot p_b - \dot p_a)", 15.0)
    b, d = float(theirs.b[i]), float(contacts.d[3 * i])
    with style.font(ui, size=14.0):
        if imgui.begin_table("baraff_terms", 2, imgui.TableFlags_.sizing_fixed_fit):
            for name, value in zip(TERMS, theirs.terms[i].tolist(), strict=True):
                _line(name, value)
            _line(f"b {n}", b)
            _line(_("d {n} without friction").format(n=n), d)
            imgui.end_table()
    if abs(b - d) > 1e-9 * (abs(b) + abs(d) + 1e-9):
        style.muted(ui, _("They differ by {b:.3g} m/s²: A f + b fixes the contact point to the body, as corners on "
                        "faces do; d also knows how a round surface rolls off its point.").format(b=b - d), wrap=True)


def _line(name: str, value: float) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.text(name)
    imgui.table_next_column()
    imgui.text(f"{0.0 if abs(value) < 5e-13 else value:.6g} m/s²")
