"""From a checked scene file to what the engine runs on: a Model, its first State, Labels and Settings."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..collision.detector import Detector
from ..core.closed_form import ClosedForm
from ..core.model import (
    Array,
    BodyKind,
    BoolArray,
    IntArray,
    Joints,
    JointType,
    Labels,
    Materials,
    Model,
    Motions,
    Springs,
    Trees,
    movable,
)
from ..core.report import Settings
from ..core.settings import GAINS
from ..core.state import Bodies, State, empty_state
from ..dynamics.constraints.layout import heaviness
from ..dynamics.motion import drive
from ..dynamics.trees.kinematics import empty_work, place_links
from ..joints.table import FORMS as JOINT_FORMS
from ..laws.soft import lumped
from ..shapes import shapes as solid
from ..shapes.particle import moments_of_points
from .checks import body_name, copy_name, inertia_matrix
from .closed_forms import make_closed_forms
from .form import path_text
from .gains import surface_gains
from .geometry_tables import ShapeTables
from .groups import PARTICLES, make_groups, pairs_of_bodies
from .joint_start import place_by_joints
from .joint_tables import Posed, first_coordinates, make_joints, make_trees, with_free_roots
from .refusals import SceneError
from .schema import Arrangement, Body, Joint, Material, MotionTable, Particle, SceneFile

WATER = 1000.0    # density where none is given [kg/m3]
LIGHTEST = 1e-12  # least moment of inertia of a body at a joint in maximal coordinates, relative to m r², r its arm


class Setup(NamedTuple):
    """What a run starts from."""

    model: Model
    state: State
    labels: Labels
    settings: Settings


class Placed(NamedTuple):
    """A body of the scene after its arrays are laid out."""

    name: str
    spec: Body
    index: int   #: place of its table in the file, from 0
    x: Array     #: (3,) its origin [m]
    q: Array     #: (4,) unit quaternion w x y z: its axes in the scene file -> world


class Frame(NamedTuple):
    """The body frame (centre of mass, principal axes) in the body's axes of the scene file."""

    mass: float      #: [kg]; 0 for bodies that are not dynamic
    moments: Array   #: (3,) principal moments of inertia [kg m2]
    center: Array    #: (3,) centre of mass [m]
    axes: Array      #: (3, 3) body frame -> scene's body axes


def build(file: SceneFile, folder: Path | None, source: str) -> Setup:
    """What the engine runs on, from a checked scene file. Mesh files lie below `folder`; `source` names the scene in
    messages.

    Raises SceneError where a mesh turns out unusable or mass properties unphysical.
    """
    placed = list(lay_out(file))
    material_names = ["default", *(name for name in file.material if name != "default")]
    tables = ShapeTables(folder, material_names)
    problems: list[str] = []
    frames: list[Frame] = []
    for number, body in enumerate(placed):
        try:
            frames.append(_add_body(tables, number, body))
        except SceneError as error:
            problems.append(f"{source}: {error}")
            frames.append(_still_frame())
    if problems:
        raise SceneError("\n".join(dict.fromkeys(problems)))
    return _assemble(file, source, placed, frames, tables, material_names, list(file.joint))


def _assemble(
    file: SceneFile, source: str, placed: list[Placed], frames: list[Frame], tables: ShapeTables,
    material_names: list[str], given_joints: list[Joint],
) -> Setup:
    kind = np.array([_kind(b.spec) for b in placed], np.int32)
    mass = np.array([f.mass for f in frames], np.float64)
    inertia = np.array([f.moments for f in frames], np.float64).reshape(-1, 3)
    moving = kind == BodyKind.DYNAMIC
    names = [b.name for b in placed]
    joint_specs, joint_names = with_free_roots(given_joints, names, moving)
    posed = _posed(placed, frames)
    joints = make_joints(joint_specs, {"world": -1} | {b.name: i for i, b in enumerate(placed)}, posed)
    trees = make_trees(joints, mass, inertia, posed, kind)
    kind[trees.body] = BodyKind.LINK
    moving = kind == BodyKind.DYNAMIC
    _check_massless(source, placed, mass, kind, joints, trees)
    _check_points(source, placed, inertia, kind, joints)
    _check_light(source, placed, mass, inertia, kind, joints)
    model = Model(
        kind=kind, mass=mass, inv_mass=_inverse(mass, moving), inertia=inertia,
        inv_inertia=_inverse(inertia, moving[:, None]), gravity=np.array(file.scene.gravity),
        shapes=tables.shapes(), hulls=tables.hulls(), meshes=tables.meshes(),
        materials=_materials(file, material_names, float(mass.max(initial=0.0))), motions=_motions(placed),
        springs=_springs(file, placed, frames), joints=joints, trees=trees,
        apart=pairs_of_bodies(file.apart, names), groups=make_groups(file.apart, names, tables.owners),
    )
    state = _first_state(model, placed, frames)
    posed = place_by_joints(model, joint_specs, names, posed, state.bodies)
    if len(trees.body):
        bodies = state.bodies
        state = state._replace(joints=first_coordinates(joint_specs, joints, trees, posed, bodies.v, bodies.w))
        place_links(model, state.joints.q, state.joints.v, empty_work(trees), bodies)
    labels = Labels(
        title=file.scene.title, summary=file.scene.summary, watch=file.scene.watch,
        bodies=tuple(b.name for b in placed), materials=tuple(material_names),
        colors=np.array([b.spec.color or (np.nan,) * 3 for b in placed], np.float64).reshape(-1, 3),
        origin=np.array([-f.axes.T @ f.center for f in frames], np.float64).reshape(-1, 3),
        axes=np.array([solid.matrix_to_quat(f.axes.T) for f in frames], np.float64).reshape(-1, 4),
        notes=tuple(tables.notes), draw_meshes=tuple(tables.draw_meshes), skins=tuple(tables.skins),
        joints=tuple(joint_names), closed_forms=_closed_forms(file, placed, state.bodies, mass),
    )
    settings = Settings(gravity=file.scene.gravity, **file.solver.model_dump())
    return Setup(model, state, labels, settings)


def _closed_forms(file: SceneFile, placed: list[Placed], first: Bodies, mass: Array) -> tuple[ClosedForm, ...]:
    if not file.closed_form:
        return ()
    rows = {body.name: i for i, body in enumerate(placed)}
    fixed = next((i for i, body in enumerate(placed) if body.spec.fixed and body.spec.shape), -1)
    return make_closed_forms(file.closed_form, rows, fixed, np.array([b.x for b in placed]), first, mass.tolist())


def overlapping(setup: Setup) -> list[tuple[str, str]]:
    """The names of all pairs of bodies of one tree, links and what carries it, that overlap at the start."""
    model, trees = setup.model, setup.model.trees
    contacts = Detector(model).detect(setup.state.bodies, np.zeros(len(model.kind)))
    tree = np.full(len(model.kind) + 1, -1)  # its last entry: the world
    for k, (first, end) in enumerate(zip(trees.start[:-1], trees.start[1:], strict=True)):
        tree[model.joints.parent[trees.joint[first]]] = tree[trees.body[first:end]] = k
    count = int(contacts.count[0])
    ends = np.column_stack([contacts.body_a, contacts.body_b])[:count]
    within = (contacts.gap[:count] < 0.0) & (tree[ends[:, 0]] >= 0) & (tree[ends[:, 0]] == tree[ends[:, 1]])
    pairs = dict.fromkeys((min(a, b), max(a, b)) for a, b in ends[within].tolist())
    return [(setup.labels.bodies[a], setup.labels.bodies[b]) for a, b in pairs]


def height_above(setup: Setup, ground: str) -> float:
    """The least gap between a body of one plane and the shapes of those that can move [m]; inf where they have none."""
    model, detector = setup.model, Detector(setup.model)
    plane = int(np.flatnonzero(model.shapes.body == setup.labels.bodies.index(ground))[0])
    others = np.flatnonzero(movable(model.kind[model.shapes.body])).tolist()
    return min((detector.gap(setup.state.bodies, plane, shape)[0] for shape in others), default=np.inf)


def _inverse(values: Array, where: BoolArray) -> Array:
    """1 / values where bodies move, else 0; and 0 of what a particle has no inertia against."""
    moved = where & (values > 0.0)
    return np.where(moved, 1.0 / np.where(moved, values, 1.0), 0.0)


def _kind(body: Body) -> BodyKind:
    return BodyKind.FIXED if body.fixed else BodyKind.KINEMATIC if body.kinematic else BodyKind.DYNAMIC


# ---------------------------------------------------------------------------------------------------- bodies


def _turned(table: Any) -> Array:
    """Orientation (4,) of a body or a shape, from either way of stating it."""
    if table.euler is not None:
        return solid.euler_to_quat(table.euler)
    return np.array(table.orientation or (1.0, 0.0, 0.0, 0.0))


def lay_out(file: SceneFile):
    """All bodies in the order of the file, each followed by its copies."""
    arrays = {array.body: array for array in file.array}
    for index, body in enumerate(file.body):
        name = body_name(body.name, index)
        x, q = np.array(body.position), _turned(body)
        if name not in arrays:
            yield Placed(name, body, index, x, q)
            continue
        yield from _repeat(arrays[name], Placed(name, body, index, x, q))


def _repeat(array: Arrangement, first: Placed):
    rng = np.random.default_rng(array.seed)
    nx, ny, nz = array.count
    for number in range(nx * ny * nz):
        cell = np.array([number % nx, number // nx % ny, number // (nx * ny)])
        shift = array.jitter * rng.uniform(-1.0, 1.0, 3)
        turn = rng.normal(size=4)
        q = turn / np.linalg.norm(turn) if array.tumble else first.q
        x = first.x + cell * array.spacing + shift
        yield first._replace(name=copy_name(first.name, number + 1), x=x, q=q)


def _still_frame() -> Frame:
    return Frame(0.0, np.zeros(3), np.zeros(3), np.eye(3))


def _add_body(tables: ShapeTables, number: int, placed: Placed) -> Frame:
    """Enter the shapes of a body, body `number` of the model, and return its frame.

    Raises SceneError, whose message begins with the field.
    """
    body = placed.spec
    dynamic = _kind(body) == BodyKind.DYNAMIC
    parts = []
    first = len(tables)
    for i, shape in enumerate(body.shape):
        at = path_text(("body", placed.index, "shape", i))
        point = isinstance(shape, Particle)
        density = 1.0 if point else shape.density if shape.density is not None else body.density or WATER
        position, R = np.array(shape.position), solid.quat_to_matrix(_turned(shape))
        properties = tables.add(number, shape, position, R, shape.material or body.material, dynamic, at)
        owner = placed.name, shape.group or body.group, PARTICLES if point else None
        tables.owners += [owner] * (len(tables) - len(tables.owners))
        if dynamic:
            parts.append(solid.scaled(solid.moved(properties, position, R), density))
    frame = _frame(body, parts, path_text(("body", placed.index))) if dynamic else _still_frame()
    tables.express(first, frame.center, frame.axes)
    if dynamic:
        tables.turn_corners(first)
    return frame


def _frame(body: Body, parts: list[solid.MassProperties], at: str) -> Frame:
    if body.mass == 0.0:
        return _still_frame()
    if body.inertia is not None and body.mass is not None:
        moments, axes = solid.principal_axes(inertia_matrix(body.inertia))
        return Frame(body.mass, moments, np.zeros(3), axes)
    whole = solid.combined(parts)
    if whole.mass > 0.0 and body.mass is not None:
        whole = solid.scaled(whole, body.mass / whole.mass)
    if not np.isfinite(whole.inertia).all():
        raise SceneError(f"{at} is too large or too heavy for finite mass properties; it must be smaller.")
    points = not any(part.inertia.any() for part in parts)
    reason = "it has no mass" if whole.mass <= 0.0 else None if points else solid.unphysical(whole.inertia)
    if reason is not None:
        raise SceneError(f"{at} has unusable mass properties: {reason}; it must have mass and inertia given.")
    moments, axes = solid.principal_axes(whole.inertia)
    moments = moments_of_points(moments) if points else moments
    return Frame(whole.mass, moments, whole.center, axes)


def _check_massless(
    source: str, placed: list[Placed], mass: Array, kind: IntArray, joints: Joints, trees: Trees,
) -> None:
    """Raise SceneError for a movable body without mass. Only links of a tree that carry other links, on joints other
    than ball and free, can be without mass."""
    fine = np.zeros(len(placed), bool)
    fine[trees.body[trees.parent[trees.parent >= 0]]] = True
    many = np.isin(joints.type[trees.joint], (JointType.FREE, JointType.BALL))
    fine[trees.body[many]] = False
    for i in np.flatnonzero(movable(kind) & (mass == 0.0) & ~(fine & (kind == BodyKind.LINK))):
        at = path_text(("body", placed[i].index, "mass"))
        raise SceneError(f"{source}: {at} is 0; it must be greater for a body that does not carry another one, "
                         "itself on a hinge or slider in generalized coordinates.")


def _check_points(source: str, placed: list[Placed], inertia: Array, kind: IntArray, joints: Joints) -> None:
    """Raise SceneError for a body of particles that a joint would let turn where it has no inertia."""
    shaped = np.array([len(body.spec.shape) > 0 for body in placed], bool)
    thin = [*(movable(kind) & shaped & (inertia <= 0.0).any(axis=1)).tolist(), False]  # the world last: row -1
    for j, (child, parent) in enumerate(zip(joints.child.tolist(), joints.parent.tolist(), strict=True)):
        held = joints.generalized[j] == 0
        wrong = [i for i in (child, parent) if thin[i] and (held or (i == child and not _swings(joints, j)))]
        if wrong:
            at = path_text(("body", placed[wrong[0]].index))
            raise SceneError(f"{source}: {at} consists of particles that have no moment of inertia about some axis, "
                             "and a joint needs one; such a body must slide, or swing about a hinge away from it, in "
                             "generalized coordinates.")


def _swings(joints: Joints, j: int) -> bool:
    """Whether a joint moves the centre of its child in all that it leaves free."""
    form = JOINT_FORMS[int(joints.type[j])]
    if joints.type[j] in (JointType.FREE, JointType.BALL):
        return False
    arm = solid.quat_to_matrix(joints.rest[j]) @ joints.anchor_child[j]
    axes = joints.axis[j, : form.axes] if form.angular else np.zeros((0, 3))
    return bool((np.linalg.norm(np.cross(axes, arm), axis=1) > 0.0).all())


def _check_light(
    source: str, placed: list[Placed], mass: Array, inertia: Array, kind: IntArray, joints: Joints,
) -> None:
    """Raise SceneError for a body whose inertia I is too small at the arm r of a joint in maximal coordinates.

    The equations of such a joint hold the sum 1/m + r²/I, in which rounding drops 1/m where I is much less than m r².
    """
    heavy = heaviness(mass, inertia, kind == BodyKind.DYNAMIC, joints)
    for i in np.flatnonzero(heavy * LIGHTEST > 1.0):
        at = path_text(("body", placed[i].index, "inertia"))
        raise SceneError(
            f"{source}: {at} is {1.0 / heavy[i]:.1g} times its mass and the square of its arm at a joint; it must be "
            f"at least {LIGHTEST:g} of them, for of a joint in maximal coordinates rounding leaves nothing below that. "
            "In generalized coordinates it may be less.")


def _posed(placed: list[Placed], frames: list[Frame]) -> Posed:
    R = [solid.quat_to_matrix(b.q) for b in placed]
    x = [b.x + turn @ f.center for b, f, turn in zip(placed, frames, R, strict=True)]
    axes = [turn @ f.axes for f, turn in zip(frames, R, strict=True)]
    return Posed(np.array([*x, np.zeros(3)]), np.array([*axes, np.eye(3)]),
                 np.array([*(b.x for b in placed), np.zeros(3)]))


def _first_state(model: Model, placed: list[Placed], frames: list[Frame]) -> State:
    """Poses and velocities at t = 0; momenta P = m v and L = R I Rᵀ ω."""
    state = empty_state(len(placed))
    bodies: Bodies = state.bodies
    for i, (body, frame) in enumerate(zip(placed, frames, strict=True)):
        R = solid.quat_to_matrix(body.q)
        arm = R @ frame.center
        w = np.array(body.spec.angular_velocity)
        bodies.x[i] = body.x + arm
        bodies.q[i] = solid.quat_product(body.q, solid.matrix_to_quat(frame.axes))
        bodies.w[i] = w
        bodies.v[i] = np.array(body.spec.velocity) + np.cross(w, arm)
        bodies.P[i] = frame.mass * bodies.v[i]
        to_world = R @ frame.axes
        bodies.L[i] = to_world @ (frame.moments * (to_world.T @ w))
    drive(model, 0.0, bodies)
    return state


# ---------------------------------------------------------------------------------------------------- other tables


def _materials(file: SceneFile, names: list[str], heaviest: float) -> Materials:
    """The coefficients of all pairs of materials. A pair has the greater restitution, the geometric mean of the
    frictions, the greater torsional and rolling friction, and gains in series, unless [[pair]] says otherwise.

    heaviest: mass of the heaviest body [kg], for gains that are not given."""
    own = [file.material.get(name, Material()) for name in names]
    e = np.array([m.restitution for m in own])
    mu = np.array([m.friction for m in own])
    mu_s = np.array([m.friction if m.friction_static is None else m.friction_static for m in own])
    restitution, friction = np.maximum.outer(e, e), np.sqrt(np.multiply.outer(mu, mu))
    friction_static = np.where((mu_s > mu)[:, None] | (mu_s > mu), np.sqrt(np.multiply.outer(mu_s, mu_s)), np.nan)
    greater = {}  # those of which a pair has the greater one; nan where there is none
    for name in ("restitution_t", "restitution_psi", "friction_torsional", "friction_rolling"):
        given = np.array([getattr(m, name) for m in own], np.float64)
        greater[name] = np.fmax.outer(given, given)
    np.fill_diagonal(friction, mu)
    np.fill_diagonal(friction_static, np.where(mu_s > mu, mu_s, np.nan))
    gains = np.array([surface_gains(m, m.restitution, heaviest or 1.0) for m in own])
    surfaces = np.stack(np.broadcast_arrays(gains[:, None], gains[None, :]), axis=2)
    for pair in file.pair:
        i, j = (names.index(name) for name in pair.materials)
        if pair.restitution is not None:
            restitution[i, j] = restitution[j, i] = pair.restitution
        if pair.friction is not None:
            friction[i, j] = friction[j, i] = pair.friction
            friction_static[i, j] = friction_static[j, i] = np.nan
        if pair.friction_static is not None:
            friction_static[i, j] = friction_static[j, i] = pair.friction_static
        for name, table in greater.items():
            if (value := getattr(pair, name)) is not None:
                table[i, j] = table[j, i] = value
        if any(getattr(pair, name) is not None for name in GAINS):
            together = lumped(surfaces[i : i + 1, j : j + 1])[0, 0]
            for column, name in enumerate(GAINS):
                value = getattr(pair, name)
                together[0, column] = together[0, column] if value is None else value
            surfaces[i, j], surfaces[j, i] = together, together[::-1]
    return Materials(restitution, friction, surfaces, friction_static=friction_static, **greater)


def _motions(placed: list[Placed]) -> Motions:
    motions = [b.spec.motion or MotionTable() for b in placed]

    def rows(values: list, width: int) -> Array:
        return np.array(values, np.float64).reshape(-1, width)

    points = [p for m in motions for p in m.path]
    return Motions(
        start_x=rows([b.x for b in placed], 3), start_q=rows([b.q for b in placed], 4),
        velocity=rows([m.velocity for m in motions], 3),
        angular_velocity=rows([m.angular_velocity for m in motions], 3),
        amplitude=rows([m.amplitude for m in motions], 3),
        frequency=np.array([m.frequency for m in motions], np.float64),
        phase=np.array([m.phase for m in motions], np.float64),
        path_start=np.concatenate([[0], np.cumsum([len(m.path) for m in motions])]).astype(np.int32),
        path_time=np.array([p.time for p in points], np.float64), path_position=rows([p.position for p in points], 3),
        path_loop=np.array([m.loop for m in motions], np.int32),
        surface_velocity=rows([b.spec.surface_velocity for b in placed], 3),
        surface_spin=rows([b.spec.surface_spin for b in placed], 3),
    )


def _springs(file: SceneFile, placed: list[Placed], frames: list[Frame]) -> Springs:
    number = {body.name: i for i, body in enumerate(placed)}
    number["world"] = -1
    ends = np.array([[number[s.body_a], number[s.body_b]] for s in file.spring], np.int32).reshape(-1, 2)
    anchors = np.zeros((2, len(ends), 3))
    lengths = np.zeros(len(ends))
    for k, spring in enumerate(file.spring):
        world = []
        for side, given in enumerate((spring.anchor_a, spring.anchor_b)):
            i, anchor = ends[k, side], np.array(given)
            if i < 0:
                anchors[side, k] = anchor
                world.append(anchor)
                continue
            anchors[side, k] = frames[i].axes.T @ (anchor - frames[i].center)
            world.append(placed[i].x + solid.quat_to_matrix(placed[i].q) @ anchor)
        lengths[k] = spring.length if spring.length is not None else np.linalg.norm(world[1] - world[0])
    return Springs(
        body_a=ends[:, 0].copy(), body_b=ends[:, 1].copy(), anchor_a=anchors[0].copy(), anchor_b=anchors[1].copy(),
        length=lengths, stiffness=np.array([s.stiffness for s in file.spring], np.float64),
        damping=np.array([s.damping for s in file.spring], np.float64),
    )
