"""The contact equations that the inspector shows, and the forces that the view shows of them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..physics.core.model import Array
from ..physics.look.inspection import EquationsView, Freedom
from ..physics.run.messages import Snapshot
from ..physics.solvers.least_forces import ZERO
from .ui_state import UiState

EQUATIONS = ("equations", "pivots")  # tabs that show forces


def equations(ui: UiState, snapshot: Snapshot) -> EquationsView | None:
    """The equations that the present tab shows, None until the engine has answered. The sliders of free forces and the
    chosen step of the solver belong to one instant; they are reset at another one."""
    inspection = snapshot.inspection
    if ui.preferences.lower_tab not in EQUATIONS or inspection is None or inspection.equations is None:
        return None
    inspector, view = ui.inspector, inspection.equations
    instant = snapshot.generation, inspection.step
    if instant != inspector.instant:
        inspector.instant, inspector.shift, inspector.pivot = instant, {}, 0
    last = len(view.problem.d) - 1
    inspector.row, inspector.column = min(inspector.row, last), min(inspector.column, last)
    return view


def shown_forces(ui: UiState, view: EquationsView) -> tuple[Array, NDArray[np.bool_]]:
    """λ (c,) [N] as the panel shows it: on the tab Pivots of the solver's step, else of the answer, changed by the
    sliders. And which contacts are active: the basis, and what carries beside it."""
    chosen = view.answers[view.chosen]
    lam, basic = chosen.lam, chosen.basic
    if ui.preferences.lower_tab == "pivots" and view.steps:
        step = view.steps[min(ui.inspector.pivot, len(view.steps)) - 1] if ui.inspector.pivot else None
        lam, basic = (np.zeros_like(lam), basic[:0]) if step is None else (step.lam, step.basic)
    elif view.freedom is not None and ui.inspector.shift:
        lam = np.maximum(lam + view.freedom.directions @ shifts(ui, view.freedom), 0.0)
    active = lam > ZERO * lam.max(initial=0.0)
    active[basic] = True
    return lam, active


def shifts(ui: UiState, freedom: Freedom) -> Array:
    """Values t (m,) [N] of the sliders of free forces."""
    return np.array([ui.inspector.shift.get(j, 0.0) for j in freedom.parameters.tolist()])


def limits(lam: Array, freedom: Freedom, t: Array, k: int) -> tuple[float, float]:
    """Least and greatest t_k for which λ + Y t >= 0 holds, with the other sliders where they are; ±inf = no limit."""
    others = t.copy()
    others[k] = 0.0
    base, y = np.maximum(lam + freedom.directions @ others, 0.0), freedom.directions[:, k]
    low = np.max(-base[y > 1e-9] / y[y > 1e-9], initial=-np.inf)
    high = np.min(-base[y < -1e-9] / y[y < -1e-9], initial=np.inf)
    return float(low), float(high)


def with_forces(ui: UiState, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the forces that the panel shows in place of the method's, while the run is paused."""
    view = equations(ui, snapshot)
    if view is None or view.contacts is None or not ui.inspector.arrows or not snapshot.paused:
        return snapshot
    lam, carrying = shown_forces(ui, view)
    still = view.problem.M @ lam + view.problem.d <= ZERO * float(np.abs(view.problem.d).max(initial=0.0))
    contacts = snapshot.contacts
    row_of = {key: i for i, key in enumerate(contacts.key[: int(contacts.count[0])].tolist())}
    rows = np.array([row_of.get(key, -1) for key in view.contacts.key.tolist()])
    known = rows >= 0
    force, current, active = contacts.lam.copy(), contacts.current.copy(), contacts.active.copy()
    force[rows[known]], current[rows[known]], active[rows[known]] = lam[known], still[known], carrying[known]
    return replace(snapshot, contacts=contacts._replace(lam=force, current=current, active=active))
