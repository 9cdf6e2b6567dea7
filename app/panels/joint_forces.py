"""What every joint does to its child: a table while the scene runs, and arrows in the view."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import JointType
from ...physics.look.joint_forces import JointForces
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from ..view.view_options import JointArrows
from . import style
from .equations import waiting
from .formula import formula
from .tabs import Tab

TABLE = imgui.TableFlags_.row_bg | imgui.TableFlags_.borders_inner_h | imgui.TableFlags_.scroll_y
SMALL = 1e-9  # of the largest force or moment: what is smaller is written as 0
COLUMNS = (
    (N_("joint"), 2.2, N_("A click selects its child")),
    (N_("type"), 1.0, N_("generalized: its position is part of q; maximal: it is a constraint on two bodies")),
    ("|F| [N]", 1.0, N_("Force on the child")),
    ("F x, y, z [N]", 2.4, N_("The same by its components, world axes")),
    ("|M| [N m]", 1.0, N_("Moment on the child about the joint's point")),
    ("M x, y, z [N m]", 2.4, N_("The same by its components, world axes")),
    (N_("along the axis"), 1.4,
     N_("The part about a hinge's axis or along a slider's: of springs, dampers, motors, limits")),
)


@dataclass
class JointForcesUi:
    """What the tab remembers."""

    forces: bool = True
    moments: bool = False


def draw_joint_forces(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """Switches of the arrows, and a row a joint."""
    mine, view = ui.state_of(JointForcesUi), snapshot.inspection.joints if snapshot.inspection is not None else None
    formula(ui, r"M \dot u = f + J^T\lambda,\qquad H \ddot q + C = \tau", 15.0)
    imgui.same_line(0, 1.4 * ui.font)
    imgui.align_text_to_frame_padding()
    style.muted(ui, _("In the view"))
    for name, title in (("forces", N_("forces")), ("moments", N_("moments"))):
        imgui.same_line(0, 0.5 * ui.font)
        setattr(mine, name, imgui.checkbox(labelled(f"{title}##joint_{name}"), getattr(mine, name))[1])
    if view is None:
        waiting(ui, snapshot)
        return
    ui.view.joint_arrows = JointArrows(view.point, mine.forces * view.force, mine.moments * view.moment)
    with style.font(ui, size=14.0):
        if not imgui.begin_table("joint_forces", len(COLUMNS), TABLE):
            return
        imgui.table_setup_scroll_freeze(0, 1)
        for title, width, _tip in COLUMNS:
            imgui.table_setup_column(_(title), imgui.TableColumnFlags_.width_stretch, width)
        imgui.table_next_row(imgui.TableRowFlags_.headers)
        for title, _width, meaning in COLUMNS:
            imgui.table_next_column()
            imgui.table_header(_(title))
            imgui.set_item_tooltip(_(meaning))
        for k, cells in enumerate(rows(snapshot, view)):
            child = int(snapshot.model.joints.child[view.joint[k]])
            imgui.table_next_row()
            imgui.table_next_column()
            if imgui.selectable(f"{cells[0]}##joint_row_{k}", ui.view.selected == child,
                                imgui.SelectableFlags_.span_all_columns)[0]:
                ui.view.selected = child
            for text in cells[1:]:
                imgui.table_next_column()
                imgui.text(text)
        imgui.end_table()


def rows(snapshot: Snapshot, view: JointForces) -> list[tuple[str, ...]]:
    """The texts of the table, a row a joint."""
    joints, found = snapshot.model.joints, []
    least = [SMALL * float(np.abs(part).max(initial=1e-300)) for part in (view.force, view.moment)]
    for k, j in enumerate(view.joint.tolist()):
        sizes = [float(np.linalg.norm(part[k])) for part in (view.force, view.moment)]
        parts = [", ".join(f"{0.0 if abs(x) < small else x:z.4g}" for x in part[k])
                 for part, small in zip((view.force, view.moment), least, strict=True)]
        unit = "N" if joints.type[j] == JointType.SLIDER else "N m"
        small = least[0 if unit == "N" else 1]
        along = "" if np.isnan(view.along[k]) else f"{0.0 if abs(view.along[k]) < small else view.along[k]:z.4g} {unit}"
        kind = _(JointType(joints.type[j]).name.capitalize())
        found.append((snapshot.labels.joints[j] + (_(", at a limit") if j in view.limited else ""),
                      kind if joints.generalized[j] else _("{kind}, maximal").format(kind=kind), f"{sizes[0]:.4g}",
                      parts[0],
                      f"{sizes[1]:.4g}", parts[1], along))
    return found


TAB = Tab("joint_forces", "Joint forces", draw_joint_forces, "Shift+J", lambda ui, _: Inspect("joints"),
          there=lambda snapshot: bool((snapshot.model.joints.type != JointType.FREE).any()))
