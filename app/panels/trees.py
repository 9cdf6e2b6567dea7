"""The trees of a scene in joint space: H, C, T and M as heat maps, and J of the selected link."""

from collections.abc import Callable

import numpy as np

from ...physics.core.language import N_, _, ngettext
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
AXES = (N_("axis 1"), N_("axis 2"))  # of a universal joint


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
    text = ngettext("{n} velocity q\u0307.", "{n} velocities q\u0307.", n).format(n=n)
    if may < n * n:
        text += (_(" {may} of the {n} entries of H can differ from 0: where one of two joints carries the other. "
                 "The others are 0 by the branches.").format(may=may, n=n * n))
    if view.T.shape[1]:
        text += _(" T and M: the {shape} contacts that rest on links.").format(shape=view.T.shape[1])
    if view.link < 0:
        return _("{text} Select a link to see its J.").format(text=text)
    rest = ", ".join(short(float(a), 1.0) for a in view.turning)
    return _("{text} J̇ q̇ of the velocity of {body}: ({rest}) m/s².").format(
        text=text, body=snapshot.labels.bodies[view.link], rest=rest)


def velocity_names(snapshot: Snapshot, view: TreeView) -> list[str]:
    """Of each velocity: its joint, and which of several it is."""
    several = np.bincount(view.joint)[view.joint] > 1
    axes = tuple(map(_, AXES))
    parts = [axes if kind == JointType.UNIVERSAL else ROWS for kind in snapshot.model.joints.type.tolist()]
    return [f"{snapshot.labels.joints[j]}{f' {parts[j][k]}' if many else ''}"
            for j, k, many in zip(view.joint.tolist(), view.number.tolist(), several.tolist(), strict=True)]


def _of_H(view: TreeView, names: list[str]) -> Map:
    def tip(i: int, j: int) -> str:
        if not view.carries[i, j]:
            return _("H {i},{j} = 0, always: neither of {names} and {names_2} carries the other").format(
                i=i + 1, j=j + 1, names=names[i], names_2=names[j])
        return (_("H {i},{j} = {H:.6g}\n{names} accelerates by 1: {names_2} needs so much force "
                "or torque\nColours: H ij/√(H ii H jj)").format(i=i + 1, j=j + 1, H=view.H[i, j], names=names[j],
                                                                names_2=names[i]))
    size = np.sqrt(np.diag(view.H))
    return Map("H", view.H, view.carries, tip, view.H / np.outer(size, size))


def _of_C(view: TreeView, names: list[str]) -> Map:
    return Map("C", view.C[:, None], None, lambda i, _j: _("C {i} = {C:.6g} N m or N at {names}: what "
                                                         "weight and velocities ask for where nothing "
                                                         "accelerates").format(i=i + 1, C=view.C[i], names=names[i]))


def _of_contacts(snapshot: Snapshot, view: TreeView, names: list[str]) -> list[Map]:
    """T and M, where contacts rest on links."""
    pairs = [" → ".join(snapshot.labels.bodies[i] for i in pair) for pair in view.bodies.tolist()]
    if not pairs:
        return []
    return [
        Map("T", view.T, None, lambda i, k: _("T {i},{k} = {T:.6g}\nA force of 1 N at contact "
                                             "{k} ({pairs}) acts so on {names}; ζ of it per speed "
                                             "there").format(i=i + 1, k=k + 1, T=view.T[i, k], pairs=pairs[k],
                                                             names=names[i])),
        Map("M", view.M, None, lambda i, k: _("M {i},{k} = {M:.6g} 1/kg\nA force of 1 N at contact "
                                             "{k} ({pairs}) lets contact {i} ({pairs_2}) separate by so "
                                             "many m/s² more").format(i=i + 1, k=k + 1, M=view.M[i, k], pairs=pairs[k],
                                                                      pairs_2=pairs[i])),
    ]


def _of_J(snapshot: Snapshot, view: TreeView, names: list[str]) -> Map:
    body = snapshot.labels.bodies[view.link]
    return Map(r"J\ \text{of}\ " + _letters(body), view.J, view.J != 0.0,
                lambda i, j: _("J {i},{j} = {J:.6g}\n{row} of {body} per speed of {names}").format(
                    i=i + 1, j=j + 1, J=view.J[i, j], row=_(ROWS[i]), body=body, names=names[j]))


def _letters(name: str) -> str:
    """A name as text of a formula."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " -.") else " " for c in name)
    return rf"\text{{{kept}}}"


TAB = Tab("trees", "Joint space", draw_trees, "J", lambda ui, _: Inspect("trees", body=ui.view.selected),
          there=lambda snapshot: len(snapshot.model.trees.body) > 0)
