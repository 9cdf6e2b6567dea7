"""The initial poses and velocities of bodies whose joints are constraints (maximal coordinates).

Positions and velocities that a scene states for a joint mean the same in generalized and in maximal coordinates: bodies
under constraints are placed as the forest of their joints would place them.
"""

from collections.abc import Sequence

import numpy as np

from ..core.model import Array, BodyKind, Model, movable
from ..core.state import Bodies
from ..dynamics.free_body import momentum_from_velocity
from ..dynamics.trees.kinematics import empty_work, place_links
from ..shapes.shapes import quat_to_matrix
from .joint_forest import in_forest
from .joint_tables import Posed, first_coordinates, make_joints, make_trees, with_free_roots
from .schema import Joint


def place_by_joints(model: Model, joints: Sequence[Joint], names: Sequence[str], posed: Posed, bodies: Bodies) -> Posed:
    """Put `bodies` at the positions and velocities that the scene states for joints in maximal coordinates. Returns the
    frames of all bodies after that."""
    stated = [j for j in joints if j.coordinates == "maximal" and (j.position is not None or j.velocity is not None)]
    if not stated:
        return posed
    specs = [joint.model_copy(update={"coordinates": "generalized"})
             for joint, tree in zip(joints, in_forest(joints), strict=True) if tree]
    specs, _ = with_free_roots(specs, list(names), movable(model.kind).astype(np.int32))
    table = make_joints(specs, {"world": -1} | {name: i for i, name in enumerate(names)}, posed)
    trees = make_trees(table, model.mass, model.inertia, posed, model.kind)
    start = first_coordinates(specs, table, trees, posed, bodies.v, bodies.w)
    placed = Bodies(*(a.copy() for a in bodies))
    place_links(model._replace(joints=table, trees=trees), start.q, start.v, empty_work(trees), placed)
    own = model.kind == BodyKind.DYNAMIC
    bodies.x[own], bodies.q[own] = placed.x[own], placed.q[own]
    if any(joint.velocity is not None for joint in stated):
        bodies.v[own], bodies.w[own] = placed.v[own], placed.w[own]
    momentum_from_velocity(model, bodies)
    return _posed_at(posed, placed)


def _posed_at(drawn: Posed, bodies: Bodies) -> Posed:
    R: Array = np.array([*(quat_to_matrix(q) for q in bodies.q), np.eye(3)])
    x = np.vstack([bodies.x, np.zeros(3)])
    shift = np.einsum("nij,nkj,nk->ni", R, drawn.R, drawn.origin - drawn.x)
    return Posed(x, R, x + shift)
