"""Gains of compliant surfaces, what they mean for the bodies in contact, and the substeps they ask for."""

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.core.settings import GAINS, SETTINGS
from ...physics.integrators import IMPLICIT, INTEGRATORS, Integrator
from ...physics.laws.soft import D_N, D_R, K_N, K_S, LAWS, lumped
from ...physics.methods.compliant.stability import stable_step
from ...physics.run.messages import Set, Snapshot
from ...physics.scene.gains import Gains, damping_for, meaning
from ..elsewhere import ELSEWHERE
from ..ui_state import UiState
from . import style
from .rows import FULL, Send, as_materials_say, ask, right_aligned, setting_slider, value_of, value_row
from .wrapping import text_wrapped

E_AND_SPEED = (0.5, 1.0)  # restitution and speed of impact [m/s] from which D is found, until they are chosen
MANY_SUBSTEPS = 50           # of explicit integrators, from which on an implicit step takes less time


def draw_surfaces(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Gains of all pairs, or as the materials say; and what they mean for the bodies in contact."""
    settings = snapshot.settings
    pair, mass, names = contact_in_focus(snapshot)
    gains = lumped(snapshot.model.materials.surfaces)[pair[0], pair[1], 0]
    for column, name in enumerate(GAINS):
        if column != K_S or LAWS[settings.law].series:
            draw_gain(ui, snapshot, send, name)
    _gains_mean(ui, snapshot, send, Gains(settings.law, *(float(gains[c]) for c in (K_N, D_N, K_S))), mass, names)


def draw_gain(ui: UiState, snapshot: Snapshot, send: Send, name: str) -> None:
    """A slider for a gain of all pairs, and a button that gives it back to the materials."""
    settings, column, setting = snapshot.settings, GAINS.index(name), SETTINGS[name]
    pair = contact_in_focus(snapshot)[0]
    own = LAWS[settings.law].units[column] if column in (K_N, D_N) else setting.unit
    shown = value_of(ui, name, float(lumped(snapshot.model.materials.surfaces)[pair[0], pair[1], 0][column]))
    given = getattr(settings, name) is not None
    value_row(ui, setting.slider.label, style.engineering(shown, own), button="\uf0e2" if given else "")
    if given:
        as_materials_say(ui, name, send)
    if column == D_R and imgui.is_item_hovered():
        imgui.set_tooltip(_("A dent that travels at c takes the power D c²: rolling comes to an end"))
    changed, value = setting_slider(ui, name, min(max(shown, setting.slider.low), setting.slider.high))
    if changed:
        ask(ui, send, name, value, value)


def contact_in_focus(snapshot: Snapshot) -> tuple[tuple[int, int], float, str]:
    """Materials, reduced mass [kg] and names of the two bodies whose contact carries most. Where nothing touches, those
    that met or parted last; before any contact, the heaviest body on its own material."""
    model, contacts = snapshot.model, snapshot.contacts
    material = model.shapes.material
    if len(contacts.lam):
        i = int(np.argmax(contacts.lam))
        pair = int(material[contacts.shape_a[i]]), int(material[contacts.shape_b[i]])
        return _about(snapshot, int(contacts.body_a[i]), int(contacts.body_b[i]), pair)
    for event in reversed(snapshot.events):
        shapes = [np.flatnonzero(model.shapes.body == body) for body in event.bodies]
        if event.limit < 0 and all(map(len, shapes)):
            return _about(snapshot, *event.bodies, (int(material[shapes[0][0]]), int(material[shapes[1][0]])))
    if not model.mass.any():
        return (0, 0), 1.0, _("1 kg")
    body = int(np.argmax(model.mass))
    shapes = np.flatnonzero(model.shapes.body == body)
    own = int(material[shapes[0]]) if len(shapes) else 0
    return (own, own), float(model.mass[body]), snapshot.labels.bodies[body]


def _about(snapshot: Snapshot, a: int, b: int, pair: tuple[int, int]) -> tuple[tuple[int, int], float, str]:
    """The materials, the reduced mass and the names of two bodies."""
    inverse = float(snapshot.model.inv_mass[a] + snapshot.model.inv_mass[b])
    names = f"{snapshot.labels.bodies[a]} – {snapshot.labels.bodies[b]}"
    return pair, 1.0 / inverse if inverse > 0.0 else 1.0, names


def _gains_mean(ui: UiState, snapshot: Snapshot, send: Send, gains: Gains, mass: float, names: str) -> None:
    """Frequency, damping ratio, effective restitution and sag; a button that chooses D for a restitution."""
    if not (0.0 < gains.stiffness < np.inf and gains.damping < np.inf and gains.series < np.inf):
        style.muted(ui, _("{names}: rigid").format(names=names), wrap=True)
        return
    if LAWS[gains.law].code == ELSEWHERE:
        style.muted(ui, _("{names}: by the law of the script").format(names=names), wrap=True)
        return
    wanted, speed = ui.asked.get("wanted_e", E_AND_SPEED)
    m = meaning(gains, mass, float(np.linalg.norm(snapshot.settings.gravity)), speed)
    style.muted(ui, f"{names}, {mass:.3g} kg", wrap=True)
    for name, value in ((_("Natural frequency"), f"{m.frequency:.3g} Hz"), (_("Damping ratio  ζ"), f"{m.ratio:.3g}"),
                        (_("Effective e"), f"{m.restitution:.3f}"),
                        (_("Sag under its weight"), f"{1e3 * m.sag:.3g} mm"),
                        (_("An impact lasts"), f"{1e3 * m.time:.3g} ms")):
        value_row(ui, name, value)
    if LAWS[gains.law].by_speed:  # else e is the same at any speed
        value_row(ui, _("of an impact at"), f"{speed:.2g} m/s")
        imgui.set_next_item_width(FULL)
        changed, speed = style.slider("impact_speed", speed, 0.05, 20.0, "%.2g", ui, logarithmic=True)
        if changed:
            ui.asked["wanted_e"] = (wanted, speed)
    if LAWS[gains.law].force is not None:  # what its D does to e is known to its author alone
        return
    value_row(ui, _("Wanted e"), f"{wanted:.2f}" if wanted > 0.0 else _("0: as dead as can be"))
    imgui.set_next_item_width(imgui.get_content_region_avail().x - 5.5 * ui.font)
    changed, wanted = style.slider("wanted_e", wanted, 0.0, 0.99, "%.2f", ui)
    if changed:
        ui.asked["wanted_e"] = (wanted, speed)
    imgui.same_line()
    if imgui.button(labelled("choose D")):
        value = damping_for(wanted, gains, mass, speed)
        ask(ui, send, "damping_n", value, value)
    imgui.set_item_tooltip(_("Set the damping that makes {names} bounce with this e").format(names=names))


def draw_substeps(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Substeps: automatic, or a number; a warning where they are too few."""
    settings, made = snapshot.settings, snapshot.info.substeps
    automatic = settings.substeps == 0
    changed, automatic = imgui.checkbox(labelled("Substeps as needed"), automatic)
    if changed:
        send(Set("substeps", 0 if automatic else max(made, 1)))
    imgui.same_line()
    right_aligned(ui, f"{made}")
    integrator = (INTEGRATORS | IMPLICIT)[settings.integrator]
    if integrator.implicit:
        value_row(ui, _("Largest stable step"), _("any"))
        return
    if settings.substeps and not integrator.adaptive:
        count = value_of(ui, "substeps", settings.substeps)
        changed, count = setting_slider(ui, "substeps", count)
        if changed:
            ask(ui, send, "substeps", round(count), round(count))
    largest = min(snapshot.info.stable_step, step_in_contact(snapshot, integrator))
    value_row(ui, _("Largest stable step"), f"{1e3 * largest:.3g} ms" if largest < 1.0 else _("any"))
    if snapshot.info.iterations:
        _warn(ui, snapshot.info.status)
        _offer_implicit(send)
        return
    if integrator.adaptive and snapshot.info.status != "solved":
        _warn(ui, _("{status}: contact points jump about, the rest of the step is made in fixed "
                    "substeps").format(status=snapshot.info.status))
    if integrator.adaptive or settings.h <= largest * max(made, 1):
        if made >= MANY_SUBSTEPS and snapshot.behind:
            _warn(ui, _("{made} substeps a step take longer than the step: an implicit integrator needs one, whatever "
                        "the stiffness").format(made=made))
            _offer_implicit(send)
        return
    several = _("1 substep is") if made == 1 else _("{made} substeps are").format(made=made)
    _warn(ui, _("{several} too few for this stiffness: the run may blow up").format(several=several))
    if settings.substeps and imgui.button(labelled("make as many substeps as needed")):
        send(Set("substeps", 0))
    elif not settings.substeps:
        _offer_implicit(send)


def _offer_implicit(send: Send) -> None:
    for name, offer in IMPLICIT.items():
        if imgui.button(_("take implicit steps: {name}").format(name=name)):
            send(Set("integrator", name))
        imgui.set_item_tooltip(_(offer.title))


def step_in_contact(snapshot: Snapshot, integrator: Integrator) -> float:
    """The largest stable step [s] that the contact in focus allows, as if it touched now. Of linear laws only: their
    stiffness is the same at every depth."""
    pair, mass, _ = contact_in_focus(snapshot)
    gains = lumped(snapshot.model.materials.surfaces)[pair[0], pair[1], 0]
    law = LAWS[snapshot.settings.law]
    if law.by_speed or law.series or not np.isfinite(gains[[K_N, D_N]]).all():
        return np.inf
    return stable_step(integrator, float(gains[K_N]) / mass, float(gains[D_N]) / mass)


def _warn(ui: UiState, text: str) -> None:
    with style.color(imgui.Col_.text, style.colors(ui).warning):
        text_wrapped(f"\uf071  {text}")
