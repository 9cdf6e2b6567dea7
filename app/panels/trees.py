"""The trees of a scene in joint space: H, C, T and M as heat maps, and J of the selected link."""

from collections.abc import Callable

import numpy as np

from ...physics.core.model import JointType
from ...physics.look.joint_space import TreeView
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from . import style
from .equations import waiting
from .formula import formula
from .maps import Map, draw_maps
from .matrix import short
from .tabs import Tab

ROWS = ("ω_x", "ω_y", "ω_z", "v_x", "v_y", "v_z")  # of J, and velocities of ball and free joints
AXES = ("axis 1", "axis 2")  # of a universal joint


def draw_trees(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The equation of motion, and its parts as maps beside each other."""
    view = snapshot.inspection.trees if snapshot.inspection is not None else None
    if view is None:
        waiting(ui, snapshot)
        return
    formula(ui, r"H \ddot q + C = \tau + T\lambda,\qquad M = T^T H^{-1} T", 15.0)
    with style.font(ui, size=14.0):
        style.muted(ui, facts(snapshot, view), wrap=True)
    names = velocity_names(snapshot, view)
    maps = [_of_H(view, names), _of_C(view, names), *_of_contacts(snapshot, view, names)]
    if view.link >= 0:
        maps.append(_of_J(snapshot, view, names))
    draw_maps(ui, "trees", maps)


def facts(snapshot: Snapshot, view: TreeView) -> str:
    """How many velocities there are, and what branches leave of H."""
    n = len(view.C)
    may = int(view.carries.sum())
    text = f"{n} {'velocity' if n == 1 else 'velocities'} q\u0307."
    if may < n * n:
        text += (f" {may} of the {n * n} entries of H can differ from 0: where one of two joints carries the other. "
                 "The others are 0 by the branches.")
    if view.T.shape[1]:
        text += f" T and M: the {view.T.shape[1]} contacts that rest on links."
    if view.link < 0:
        return f"{text} Select a link to see its J."
    rest = ", ".join(short(float(a), 1.0) for a in view.turning)
    return f"{text} J\u0307 q\u0307 of the velocity of {snapshot.labels.bodies[view.link]}: ({rest}) m/s²."


def velocity_names(snapshot: Snapshot, view: TreeView) -> list[str]:
    """Of each velocity: its joint, and which of several it is."""
    several = np.bincount(view.joint)[view.joint] > 1
    parts = [AXES if kind == JointType.UNIVERSAL else ROWS for kind in snapshot.model.joints.type.tolist()]
    return [f"{snapshot.labels.joints[j]}{f' {parts[j][k]}' if many else ''}"
            for j, k, many in zip(view.joint.tolist(), view.number.tolist(), several.tolist(), strict=True)]


def _of_H(view: TreeView, names: list[str]) -> Map:
    def tip(i: int, j: int) -> str:
        if not view.carries[i, j]:
            return f"H {i + 1},{j + 1} = 0, always: neither of {names[i]} and {names[j]} carries the other"
        return (f"H {i + 1},{j + 1} = {view.H[i, j]:.6g}\n{names[j]} accelerates by 1: {names[i]} needs so much force "
                "or torque\nColours: H ij/√(H ii H jj)")
    size = np.sqrt(np.diag(view.H))
    return Map("H", view.H, view.carries, tip, view.H / np.outer(size, size))


def _of_C(view: TreeView, names: list[str]) -> Map:
    return Map("C", view.C[:, None], None, lambda i, _: f"C {i + 1} = {view.C[i]:.6g} N m or N at {names[i]}: what "
                                                         "weight and velocities ask for where nothing accelerates")


def _of_contacts(snapshot: Snapshot, view: TreeView, names: list[str]) -> list[Map]:
    """T and M, where contacts rest on links."""
    pairs = [" → ".join(snapshot.labels.bodies[i] for i in pair) for pair in view.bodies.tolist()]
    if not pairs:
        return []
    return [
        Map("T", view.T, None, lambda i, k: f"T {i + 1},{k + 1} = {view.T[i, k]:.6g}\nA force of 1 N at contact "
                                             f"{k + 1} ({pairs[k]}) acts so on {names[i]}; ζ of it per speed there"),
        Map("M", view.M, None, lambda i, k: f"M {i + 1},{k + 1} = {view.M[i, k]:.6g} 1/kg\nA force of 1 N at contact "
                                             f"{k + 1} ({pairs[k]}) lets contact {i + 1} ({pairs[i]}) separate by so "
                                             "many m/s² more"),
    ]


def _of_J(snapshot: Snapshot, view: TreeView, names: list[str]) -> Map:
    body = snapshot.labels.bodies[view.link]
    return Map(r"J\ \text{of}\ " + _letters(body), view.J, view.J != 0.0,
                lambda i, j: f"J {i + 1},{j + 1} = {view.J[i, j]:.6g}\n{ROWS[i]} of {body} per speed of {names[j]}")


def _letters(name: str) -> str:
    """A name as text of a formula."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " -.") else " " for c in name)
    return rf"\text{{{kept}}}"


TAB = Tab("trees", "Joint space", draw_trees, "J", lambda ui, _: Inspect("trees", body=ui.view.selected),
          there=lambda snapshot: len(snapshot.model.trees.body) > 0)
