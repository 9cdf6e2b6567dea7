"""Glyphs over the picture: contacts, forces, impacts, the mouse spring, and what else a snapshot says; and the legend.

Contact forces are those on the upper of two bodies (the lower one gets the opposite), or those on the selected body.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...physics.core.language import _
from ...physics.core.model import Array, BodyKind, JointType, movable
from ...physics.core.state import Case, Contacts
from ...physics.look.closed_forms import farthest
from ...physics.look.minimal_set import minimal_set
from ...physics.look.zeno import series_of
from ...physics.methods import METHODS
from ...physics.run.messages import Event, ShownArrow, Snapshot
from .belts import belt_lines
from .body_vectors import arrows_of, inertia_boxes, support_lines, vector_rows
from .camera import Camera, matrices
from .contact_labels import contact_labels, impact_cases
from .crowd import drawn_rows, left_out
from .dents import dents
from .ghosts import by_closed_form, of_fan
from .glyphs import Glyphs, LegendRow, WorldLabel
from .joint_overlays import arcs_of, axes_of, joint_frames
from .moment_overlays import moment_of_half_turn, moment_strokes
from .numbers import nice, quantity
from .scales import Scale, arrow_lengths, scales
from .theme import Color, Theme, theme
from .view_options import BodyVectors, JointArrows, ViewOptions

Flags = NDArray[np.bool_]

# shapes of marks
RING, DISC, SPLIT_DISC, RINGED_DISC, RINGED_SPLIT_DISC, DIAMOND, STAR, CHECKER = range(8)
# kinds of strokes
LINE, ARROW, DASHED, OPEN_ARROW, CUT_ARROW = range(5)

FLASH = 0.3            # [s] an impact is seen, in simulated time
FLASHES = 48           # at most
IMPULSE_LABELS = 4     # at most
NAMES = 80             # at most
SLIDING = 1e-3         # [m/s] slower than this is no slip
DIMMED = 0.22          # opacity of glyphs that do not concern the selected body
RINGED = 1.6           # radius of a disc's ring over the disc's: what it covers of an arrow
LEVEL = 1e-3           # slope of a normal below which neither body is the upper one
NEGLIGIBLE = 1e-9      # [m] what is told of the distance from a closed form




# ------------------------------------------------------------------------------------------------- builder


class _Builder:
    """Collects rows."""

    def __init__(self, look: Theme, camera: Camera, size: tuple[int, int], ui_scale: float) -> None:
        self.look, self.camera, self.size, self.ui_scale = look, camera, size, ui_scale
        self._marks: list[Array] = []
        self._strokes: list[Array] = []
        self.labels: list[WorldLabel] = []

    def marks(self, at: Array, color: Color | Array, alpha: float | Array, radius: float | Array,
              shape: int | Array, fade: float = 0.55) -> None:
        """at (n, 3); radius in pixels at scale 1."""
        rows = np.empty((len(at), 10))
        rows[:, :3], rows[:, 3:6], rows[:, 6] = at, color, alpha
        rows[:, 7], rows[:, 8], rows[:, 9] = np.multiply(radius, self.ui_scale), shape, fade
        self._marks.append(rows)

    def strokes(self, start: Array, end: Array, color: Color, alpha: float | Array, width: float,
                kind: int | Array, fade: float = 0.55) -> None:
        rows = np.empty((len(start), 13))
        rows[:, :3], rows[:, 3:6], rows[:, 6:9], rows[:, 9] = start, end, color, alpha
        rows[:, 10], rows[:, 11], rows[:, 12] = width * self.ui_scale, kind, fade
        self._strokes.append(rows)

    def label(self, at: Array, text: str, color: Color) -> None:
        self.labels.append(WorldLabel((float(at[0]), float(at[1]), float(at[2])), text, color))

    def glyphs(self, dents: Array) -> Glyphs:
        marks = np.concatenate(self._marks) if self._marks else np.zeros((0, 10))
        strokes = np.concatenate(self._strokes) if self._strokes else np.zeros((0, 13))
        return Glyphs(marks, strokes, dents, self.labels, self.look.halo)


def build(snapshot: Snapshot, options: ViewOptions, camera: Camera, size: tuple[int, int],
          ui_scale: float = 1.0) -> Glyphs:
    """All glyphs of a snapshot for a picture of `size` pixels; `ui_scale` pixels per unit of their sizes."""
    look, scale = theme(options.dark), scales(snapshot, options)
    b = _Builder(look, camera, size, ui_scale)
    b.strokes(*belt_lines(snapshot, camera.eye, scale.body), look.halo, 1.0, 1.5, LINE, 0.0)
    _springs(b, snapshot, scale)
    if options.inertia_boxes:
        _inertia_boxes(b, snapshot)
    if options.joints:
        _joints(b, snapshot, options, scale)
    _contacts(b, snapshot, options, scale)
    for at, text in contact_labels(snapshot, options):
        b.label(at, text, look.text)
    if options.velocities:
        _velocities(b, snapshot, scale)
    if options.angular_momenta:
        _momenta(b, snapshot, scale)
    if options.centers_of_mass:
        moving = snapshot.x[movable(snapshot.model.kind)]
        b.marks(moving, look.stick, 1.0, 7.0, CHECKER, 0.85)
    if options.impulses:
        _impacts(b, snapshot, scale, options.contact_cases, options.still)
        _ends(b, snapshot)
    if options.vectors is not None and options.vectors.body < len(snapshot.x):
        _vectors(b, snapshot, options.vectors, scale, options.logarithmic)
    if options.joint_arrows is not None:
        _joint_arrows(b, options.joint_arrows, scale)
    if options.mouse_spring and snapshot.grabbed is not None:
        _mouse_spring(b, snapshot, scale)
    if options.body_names:
        _names(b, snapshot)
    if snapshot.script is not None:
        for arrow in snapshot.script.arrows:
            _arrow(b, arrow, look.selection)
    for arrow, of_run in options.answers:
        _arrow(b, arrow, look.velocity if of_run else look.selection)
    return b.glyphs(dents(snapshot, options, look, scale.body))


# -------------------------------------------------------------------------------------------------- joints


def _joints(b: _Builder, snapshot: Snapshot, options: ViewOptions, scale: Scale) -> None:
    """Axes as lines (a slider's with two heads), anchors of balls as rings, the range of limits as an arc."""
    joints = snapshot.model.joints
    if not len(joints.type):
        return
    start, end, slides = axes_of(snapshot, 0.55 * scale.body)
    b.strokes(start[~slides], end[~slides], b.look.joint, 0.95, 2.4, LINE, 0.6)
    for one, other in ((start[slides], end[slides]), (end[slides], start[slides])):
        b.strokes(one, other, b.look.joint, 0.95, 2.4, ARROW, 0.6)
    at, _ = joint_frames(snapshot)
    b.marks(at[joints.type == JointType.BALL], b.look.joint, 0.95, 1.2 * _mark_radius(b, scale), RING, 0.7)
    start, end, spokes = arcs_of(snapshot, 0.8 * scale.body, options.selected)
    b.strokes(start[~spokes], end[~spokes], b.look.joint, 0.8, 1.8, LINE, 0.45)
    b.strokes(start[spokes], end[spokes], b.look.joint, 0.55, 1.2, LINE, 0.35)


# ------------------------------------------------------------------------------------------------ contacts


def sliding(c: Contacts) -> Flags:
    """(c,) whether a contact slips: on the cone's edge and moving."""
    friction = np.linalg.norm(c.friction_force, axis=1)
    return (c.slip > SLIDING) & (friction >= 0.98 * c.friction * c.lam)


def _contacts(b: _Builder, snapshot: Snapshot, options: ViewOptions, scale: Scale) -> None:
    c = _cut(snapshot.contacts)
    if not len(c.gap):
        return
    if options.minimal_set:
        c = c._replace(active=minimal_set(c, snapshot.model.kind).astype(np.int32))
    rows = drawn_rows(c, options)
    hovered = int(np.searchsorted(rows, options.hovered_contact)) if options.hovered_contact in rows else -1
    c = Contacts._make([c.count, *(field[rows] for field in c[1:])])
    look = b.look
    sign, alpha = _concerned(c, options.selected, movable(snapshot.model.kind))
    touching = (c.current | c.active).astype(bool)
    if options.normals:
        length = 0.45 * scale.body
        # a longer force arrow along the normal shows its direction already
        bare = arrow_lengths(c.lam, scale, options.logarithmic) * float(options.forces) < length
        start, opacity = c.point[bare], 0.75 * alpha * np.where(touching, 1.0, 0.6)
        b.strokes(start, start + length * c.normal[bare], look.normal, opacity[bare], 1.4, LINE, 0.45)
    slips = sliding(c)
    if options.forces:
        _arrows(b, c.point, c.normal * (sign * c.lam)[:, None], look.force, alpha, scale, options, ARROW)
    if options.friction_forces:
        kind = np.where(slips, OPEN_ARROW, ARROW)
        _arrows(b, c.point, c.friction_force * sign[:, None], look.friction, alpha, scale, options, kind)
    if options.moments and len(snapshot.moments):
        bent = moment_strokes(snapshot, c, rows, sign, _half_turn(snapshot), scale.body)
        shape = np.where(bent.tip, ARROW, LINE)
        b.strokes(bent.start, bent.end, look.friction, alpha[bent.contact], 2.6, shape, 0.8)
        for at, moment in bent.told:
            b.label(at, quantity(moment, "N m"), look.friction)
    if options.contact_points:
        _points(b, c, alpha, slips, touching, scale, options.contact_cases)
    if hovered >= 0:
        _hovered(b, c, hovered)
    elif options.selected >= 0 and options.forces:
        for i in np.flatnonzero((alpha == 1.0) & (c.lam > 0.02 * scale.force))[:8]:
            end = c.point[i] + sign[i] * c.normal[i] * min(
                float(arrow_lengths(c.lam[i], scale, options.logarithmic)), scale.longest)
            b.label(end, quantity(float(c.lam[i]), "N"), look.force)


def _half_turn(snapshot: Snapshot) -> float:
    """[N m] of a moment that is drawn as half a turn."""
    moment = moment_of_half_turn(snapshot.model, snapshot.settings.gravity)
    return nice(moment) if moment > 0.0 else 0.0


def _cut(contacts: Contacts) -> Contacts:
    """Only the valid rows."""
    n = int(contacts.count[0])
    return Contacts._make([contacts.count, *(field[:n] for field in contacts[1:])])


def _concerned(c: Contacts, selected: int, moves: Flags) -> tuple[Array, Array]:
    """Sign of the forces to draw, 1 = on body b, and opacity, (c,) each: with a body selected, forces on it; else those
    on the upper of two, beside each other on the one that moves."""
    if selected < 0:
        level = np.abs(c.normal[:, 2]) < LEVEL
        on_a = c.normal[:, 2] < 0.0
        on_a[level] = moves[c.body_a[level]] & ~moves[c.body_b[level]]
        return np.where(on_a, -1.0, 1.0), np.ones(len(c.gap))
    concerned = (c.body_a == selected) | (c.body_b == selected)
    return np.where(c.body_a == selected, -1.0, 1.0), np.where(concerned, 1.0, DIMMED)


def _arrows(b: _Builder, start: Array, force: Array, color: Color, alpha: Array, scale: Scale, options: ViewOptions,
            kind: int | Array) -> None:
    size = np.linalg.norm(force, axis=1)
    length = arrow_lengths(size, scale, options.logarithmic)
    covered = RINGED * _mark_radius(b, scale) / _seen_size(b, scale) if options.contact_points else 0.0
    seen = length > max(covered, 0.04) * scale.body
    length = length[seen]
    cut = length > scale.longest
    reach = force[seen] * (np.minimum(length, scale.longest) / size[seen])[:, None]
    shape = np.where(cut, CUT_ARROW, np.broadcast_to(kind, size.shape)[seen])
    width = float(np.clip(0.07 * _seen_size(b, scale), 2.0, 3.6))
    b.strokes(start[seen], start[seen] + reach, color, alpha[seen], width, shape, _behind(len(start)))


def _points(b: _Builder, c: Contacts, alpha: Array, slips: Flags, touching: Flags, scale: Scale, cases: bool) -> None:
    look = b.look
    radius = _mark_radius(b, scale)
    near = ~touching
    fade = min(_behind(len(c.gap)), 0.55)
    color = np.tile(look.near, (int(near.sum()), 1))
    for case, other in case_colors(look).items() if cases else ():
        color[c.case[near] == case] = other
    b.marks(c.point[near], color, 0.9 * alpha[near], 0.85 * radius, DIAMOND, fade)
    current = touching & (c.active == 0)
    b.marks(c.point[current], look.stick, alpha[current], radius, RING, fade)
    active = touching & (c.active != 0)
    color = np.where(slips[active][:, None], look.slip, look.stick)
    shape = np.where(slips[active], SPLIT_DISC, DISC)
    shape += np.where(c.current[active] != 0, RINGED_DISC - DISC, 0)  # the ring of the current set around the disc
    b.marks(c.point[active], color, alpha[active], radius, shape, fade)


def _mark_radius(b: _Builder, scale: Scale) -> float:
    """Of the marks of contacts [pixels at scale 1]."""
    return float(np.clip(0.09 * _seen_size(b, scale), 2.0, 5.0))


def case_colors(look: Theme) -> dict[int, Color]:
    """Of pairs that touch but do not rest."""
    return {Case.COLLIDING: look.impact, Case.SEPARATING: look.velocity}


def _seen_size(b: _Builder, scale: Scale) -> float:
    """Radius of a body as seen from the camera's distance [pixels at scale 1]."""
    return scale.body / (b.camera.pixel_angle(b.size[1]) * b.camera.distance) / b.ui_scale


def _behind(count: int) -> float:
    """Opacity of arrows behind bodies: plain where there are few, faint in a pile."""
    return float(np.clip(1.1 - 0.25 * np.log10(max(count, 1)), 0.25, 0.8))


def _hovered(b: _Builder, c: Contacts, i: int) -> None:
    look = b.look
    b.marks(c.point[i : i + 1], look.selection, 1.0, 12.0, RING, 1.0)
    friction = float(np.linalg.norm(c.friction_force[i]))
    text = quantity(float(c.lam[i]), "N")
    if friction > 1e-3 * max(float(c.lam[i]), 1e-9):
        text += _("  |  friction {friction}").format(friction=quantity(friction, 'N'))
    b.label(c.point[i], text, look.text)


# ---------------------------------------------------------------------------------------- impacts, springs


def _impacts(b: _Builder, snapshot: Snapshot, scale: Scale, cases: bool, still: bool) -> None:
    """The strongest recent impact of each pair of bodies; the cases it joins, which last for an instant only. still:
    the marks neither flash nor grow."""
    strongest: dict[tuple[int, int], tuple[float, Event]] = {}
    for event in snapshot.events:
        if event.kind == "impact" and 0.0 <= snapshot.now - event.t < FLASH:
            impulse = math.hypot(*event.impulse)
            if impulse > max(0.02 * scale.impulse, strongest.get(event.bodies, (0.0, event))[0]):
                strongest[event.bodies] = impulse, event
    if not strongest:
        return
    shown = sorted(strongest.values(), key=lambda item: -item[0])[:FLASHES]
    impulse = np.array([item[0] for item in shown])
    age = np.array([0.4 if still else (snapshot.now - event.t) / FLASH for _, event in shown])
    size = np.clip(9.0 + 9.0 * np.log2(1.0 + impulse / scale.impulse), 9.0, 42.0)
    points = np.array([event.point for _, event in shown])
    b.marks(points, b.look.impact, (1.0 - age) ** 1.5, size * (0.8 + 0.6 * age), STAR, 0.9)
    for i in range(min(len(shown), IMPULSE_LABELS)):
        if impulse[i] > 0.25 * impulse[0]:
            text = impact_cases(shown[i][1]) if cases else ""
            b.label(points[i], "   ".join(filter(None, (quantity(impulse[i], "N s"), text))), b.look.impact)


def _ends(b: _Builder, snapshot: Snapshot) -> None:
    """Where and when series of impacts will be over."""
    for series in series_of(snapshot.events):
        if snapshot.now < series.end:
            text = _("endless blows, each {ratio:.3g} of the last, end at t = {end:.4f} s").format(
                ratio=series.ratio, end=series.end)
            b.label(np.array(series.point), text, b.look.impact)


def _coil(start: Array, end: Array, toward_eye: Array, width: float, turns: int) -> Array:
    """Points of a zigzag from start to end (3,): straight ends, `turns` teeth `width` wide across the view."""
    along = end - start
    across = np.cross(along, toward_eye)
    size = float(np.linalg.norm(across))
    across = across / size * width if size > 1e-12 else np.zeros(3)
    share = np.concatenate([[0.0, 0.08], 0.08 + 0.84 * (np.arange(2 * turns) + 0.5) / (2 * turns), [0.92, 1.0]])
    swing = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], turns), [0.0, 0.0]])
    return start + share[:, None] * along + swing[:, None] * across


def _springs(b: _Builder, snapshot: Snapshot, scale: Scale) -> None:
    """Springs of the model."""
    springs = snapshot.model.springs
    for k in range(len(springs.body_a)):
        attached = (springs.body_a[k], springs.anchor_a[k]), (springs.body_b[k], springs.anchor_b[k])
        ends = [
            at if body < 0 else snapshot.x[body] + matrices(snapshot.q[body])[0] @ at for body, at in attached
        ]
        points = _coil(ends[0], ends[1], b.camera.eye - ends[0], 0.18 * scale.body, 9)
        b.strokes(points[:-1], points[1:], b.look.inertia, 1.0, 2.2, LINE, 0.5)
        b.marks(np.array(ends), b.look.inertia, 1.0, 3.5, DISC)


def _mouse_spring(b: _Builder, snapshot: Snapshot, scale: Scale) -> None:
    grabbed = snapshot.grabbed
    assert grabbed is not None
    start, end = np.array(grabbed.point), np.array(grabbed.target)
    pixel = b.camera.pixel_angle(b.size[1]) * float(np.linalg.norm(start - b.camera.eye))
    points = _coil(start, end, b.camera.eye - start, min(5.0 * b.ui_scale * pixel, 0.3 * scale.body), 7)
    b.strokes(points[:-1], points[1:], b.look.spring, 1.0, 2.4, LINE, 0.9)
    b.marks(np.array([start]), b.look.spring, 1.0, 5.0, DISC, 1.0)
    b.marks(np.array([end]), b.look.spring, 1.0, 7.0, RING, 1.0)
    b.label(end, quantity(float(np.linalg.norm(grabbed.force)), "N"), b.look.spring)


# -------------------------------------------------------------------------------------------------- bodies


def _velocities(b: _Builder, snapshot: Snapshot, scale: Scale) -> None:
    moving = snapshot.model.kind != BodyKind.FIXED
    x, v = snapshot.x[moving], snapshot.v[moving]
    seen = np.linalg.norm(v, axis=1) * scale.seconds > 0.02 * scale.body
    b.strokes(x[seen], x[seen] + v[seen] * scale.seconds, b.look.velocity, 1.0, 3.0, ARROW, 0.8)


def momentum_scale(snapshot: Snapshot, scale: Scale) -> float:
    """[kg m2/s] of angular momentum drawn 1 m long: the largest one is about two body radii long."""
    largest = float(np.linalg.norm(snapshot.L, axis=1).max(initial=0.0))
    return nice(largest / (2.0 * scale.body)) if largest > 1e-12 else 1.0


def _momenta(b: _Builder, snapshot: Snapshot, scale: Scale) -> None:
    dynamic = movable(snapshot.model.kind)
    x, reach = snapshot.x[dynamic], snapshot.L[dynamic] / momentum_scale(snapshot, scale)
    seen = np.linalg.norm(reach, axis=1) > 0.02 * scale.body
    for share in (0.88, 1.0):  # two heads, as for vectors of rotation
        b.strokes(x[seen], x[seen] + share * reach[seen], b.look.momentum, 1.0, 3.0, ARROW, 0.8)


def _vectors(b: _Builder, snapshot: Snapshot, shown: BodyVectors, scale: Scale, logarithmic: bool) -> None:
    for arrow in arrows_of(snapshot, shown, b.look, scale, logarithmic):
        start, way = arrow.start[None], (arrow.end - arrow.start)[None]
        for share in (0.88, 1.0) if arrow.turns else (1.0,):
            kind = CUT_ARROW if arrow.cut and share == 1.0 else ARROW
            b.strokes(start, start + share * way, arrow.color, 1.0, 3.0, kind, 0.8)
        b.label(arrow.end, arrow.name, arrow.color)
    if shown.support:
        edges, pressure = support_lines(snapshot, shown.body)
        b.strokes(edges[:, 0], edges[:, 1], b.look.selection, 0.9, 2.0, DASHED, 0.6)
        b.marks(pressure, b.look.selection, 1.0, 6.0, CHECKER, 1.0)


def _arrow(b: _Builder, arrow: ShownArrow, color: Color) -> None:
    """An arrow of a script or a lesson; one without length is a mark."""
    start, end = np.array([arrow.start]), np.array([arrow.end])
    if arrow.start == arrow.end:
        b.marks(start, color, 1.0, 6.0, DIAMOND, 1.0)
    else:
        b.strokes(start, end, color, 1.0, 3.0, ARROW, 0.8)
    if arrow.name:
        b.label(end[0], arrow.name, color)


def _inertia_boxes(b: _Builder, snapshot: Snapshot) -> None:
    b.strokes(*inertia_boxes(snapshot), b.look.inertia, 0.9, 1.5, DASHED, 0.6)


def _joint_arrows(b: _Builder, shown: JointArrows, scale: Scale) -> None:
    """Forces with one head, moments with two; those cut short dashed."""
    for arrows, shares in ((shown.force, (1.0,)), (shown.moment, (0.88, 1.0))):
        reach = arrows / joint_scale(arrows is shown.moment, scale)
        size = np.linalg.norm(reach, axis=1)
        seen, cut = size > 0.05 * scale.body, size > scale.longest
        reach[cut] *= (scale.longest / size[cut])[:, None]
        for share in shares:
            kind = np.where(cut & (share == 1.0), CUT_ARROW, ARROW)[seen]
            b.strokes(shown.point[seen], (shown.point + share * reach)[seen], b.look.joint, 1.0, 3.4, kind, 0.9)


def joint_scale(moment: bool, scale: Scale) -> float:
    """[N], or [N m] of moments, drawn 1 m long: of forces that of contacts, of moments that at a body's radius."""
    return nice(scale.newtons_per_metre * scale.body) if moment else scale.newtons_per_metre


def _names(b: _Builder, snapshot: Snapshot) -> None:
    model = snapshot.model
    top = np.zeros(len(snapshot.x))
    bounded = np.isfinite(model.shapes.bound)
    np.maximum.at(top, model.shapes.body[bounded], model.shapes.bound[bounded])
    shown = np.flatnonzero(top > 0.0)
    depth = np.linalg.norm(snapshot.x[shown] - b.camera.eye, axis=1)
    for i in shown[np.argsort(depth, kind="stable")[:NAMES]]:
        b.label(snapshot.x[i] + np.array([0.0, 0.0, top[i]]), snapshot.labels.bodies[i], b.look.text)


# -------------------------------------------------------------------------------------------------- legend


def legend(snapshot: Snapshot, options: ViewOptions, triangles: tuple[int, int] = (0, 0)) -> list[LegendRow]:
    """Rows that say what the glyphs mean, for those switched on, with their scales. triangles: drawn, and of how many,
    of meshes that are drawn simplified."""
    look, scale = theme(options.dark), scales(snapshot, options)
    rows: list[LegendRow] = []
    if options.contact_points:
        solid = _("contact of the minimal set") if options.minimal_set else _("active contact")
        hollow = (_("current contact: rests; without a disc it follows from the others") if options.minimal_set else
                  _("current contact: rests; without a disc no force"))
        rows += [
            LegendRow("disc", look.stick, _("{solid}, not slipping").format(solid=solid)),
            LegendRow("split_disc", look.slip, _("{solid}, slipping").format(solid=solid)),
            LegendRow("ring", look.stick, hollow),
            LegendRow("diamond", look.near, _("near, or leaving, not at rest")),
        ]
    shown = options.contact_points or options.normals or options.forces or options.friction_forces
    if shown and (crowd := left_out(int(snapshot.contacts.count[0]), options)):
        rows.append(LegendRow("", look.text, crowd))
    if options.contact_points and options.contact_cases:
        colors = case_colors(look)
        rows += [
            LegendRow("diamond", colors[Case.COLLIDING], _("case 2a, colliding")),
            LegendRow("diamond", colors[Case.SEPARATING], _("case 2b, separating (1 apart, 3 resting)")),
        ]
    if options.normals:
        rows.append(LegendRow("line", look.normal, _("normal, from body a to body b")))
    if options.forces:
        rows.append(LegendRow("arrow", look.force, _("normal force")))
    if options.friction_forces:
        rows.append(LegendRow("arrow", look.friction, _("friction force (open head: slipping)")))
    if options.moments and (half := _half_turn(snapshot)):
        rows.append(LegendRow("arrow", look.friction,
                              _("moment against turning, half a turn = {half}").format(half=quantity(half, 'N m'))))
    if options.forces or options.friction_forces:
        rows += _force_rows(snapshot, options, scale, look)
    soft = any("surface" in METHODS[side.settings.method].uses for side in (snapshot, *snapshot.sides))
    if options.dents and soft:  # also while nothing touches
        depth = _("in true depth") if options.dent_scale == 1.0 else _("{n:.3g} times as deep")
        words = _("dent of a soft surface, {depth}").format(depth=depth.format(n=options.dent_scale))
        rows.append(LegendRow("bowl", look.dent, words))
    if snapshot.asleep.any():
        rows.append(LegendRow("", look.text, _("dark: asleep until something stirs it")))
    forms = snapshot.labels.closed_forms
    if options.closed_forms and (most := farthest(by_closed_form(snapshot).x, snapshot.x)):
        off = quantity(most[1], "m") if most[1] >= NEGLIGIBLE else _("less than 1 nm")
        words = (_("translucent: by the closed form, {body} is {off} off") if len(forms) > 1 else
                 _("translucent: by the closed form, {off} off"))
        rows.append(LegendRow("", look.text, words.format(body=snapshot.labels.bodies[most[0]], off=off)))
    if options.closed_forms and (fan := of_fan(snapshot)):
        by = quantity(snapshot.fan.asked.by, "m/s") if snapshot.fan is not None else ""
        words = _("translucent: {n} starts, velocities off by about {by}").format(n=len(fan), by=by)
        rows.append(LegendRow("", look.text, words))
    if options.impulses:
        rows.append(LegendRow("star", look.impact, _("impact, with its impulse")))
    if options.velocities:
        speed = quantity(1.0 / scale.seconds, "m/s")
        rows.append(LegendRow("arrow", look.velocity, _("velocity, 1 m = {speed}").format(speed=speed)))
    if options.angular_momenta:
        per_metre = momentum_scale(snapshot, scale)
        about = _("angular momentum about the centre of mass, 1 m = {n:.3g} kg m²/s").format(n=per_metre)
        rows.append(LegendRow("double_arrow", look.momentum, about))
    rows += legend_of_vectors(snapshot, options)
    if options.centers_of_mass:
        rows.append(LegendRow("checker", look.stick, _("centre of mass")))
    if options.inertia_boxes:
        rows.append(LegendRow("dashed", look.inertia, _("box of equal inertia")))
    if options.joints and len(snapshot.model.joints.type):
        rows.append(LegendRow("line", look.joint, _("axis of a joint, and the range its limits leave")))
    if options.joint_arrows is not None:
        rows.append(LegendRow("arrow", look.joint,
                              _("force of a joint on its child, 1 m = {value:.3g} N").format(value=joint_scale(False,
                                                                                                               scale))))
        if options.joint_arrows.moment.any():
            rows.append(LegendRow("double_arrow", look.joint,
                                  _("moment of a joint, 1 m = {value:.3g} N m").format(value=joint_scale(True, scale))))
    if options.mouse_spring and snapshot.grabbed is not None:
        rows.append(LegendRow("spring", look.spring, _("mouse spring")))
    if triangles[1]:
        words = _("large mesh: drawn with {n} of {m} triangles").format(n=triangles[0], m=triangles[1])
        rows.append(LegendRow("", look.text, words))
    return rows


def legend_of_vectors(snapshot: Snapshot, options: ViewOptions) -> list[LegendRow]:
    """The rows of the arrows that the tab Body asks for."""
    if options.vectors is None or options.vectors.body >= len(snapshot.x):
        return []
    look, scale = theme(options.dark), scales(snapshot, options)
    return [LegendRow(*row) for row in vector_rows(snapshot, options.vectors, look, scale)]


def _force_rows(snapshot: Snapshot, options: ViewOptions, scale: Scale, look: Theme) -> list[LegendRow]:
    """On which body the forces act, and how long they are."""
    name = snapshot.labels.bodies[options.selected] if 0 <= options.selected < len(snapshot.x) else ""
    on = _("forces on {name}").format(name=name) if name else _("forces on the upper body; opposite on the lower")
    if options.logarithmic:
        length = _("length ~ log(1 + F / {force})").format(force=quantity(scale.force / 100.0, 'N'))
    else:
        length = _("1 m = {force}; dashed: cut short").format(force=quantity(scale.newtons_per_metre, "N"))
    return [LegendRow("", look.text, on), LegendRow("", look.text, length)]
