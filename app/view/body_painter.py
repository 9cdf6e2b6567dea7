"""Paints all shapes but planes: one instanced draw per kind of shape, in the picture, the shadow map or a mask."""

from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import HOLLOW, Array, BodyKind, Labels, Model, ShapeKind, Skin
from . import geometry, instances
from .camera import matrices
from .programs import GlOwner, attributes, load, quality
from .silhouette import Silhouette
from .simplified import simplified
from .tiles import Boxes

INSTANCE = (("in_place", 3), ("in_turn", 4), ("in_size", 3), ("in_color", 4))
TRIANGLE = (("in_position", 3), ("in_normal", 3), ("in_edge", 3))
TEXTURED = (*TRIANGLE, ("in_uv", 2))
SKIN_UNIT = 1  # where shaders find the texture of a mesh; the shadow map is at 0
SHADERS = {
    ShapeKind.SPHERE: ("sphere.vert", "sphere.frag", "SPHERE"),
    ShapeKind.CAPSULE: ("round.vert", "round.frag", "CAPSULE"),
    ShapeKind.CYLINDER: ("round.vert", "round.frag", "CYLINDER"),
    ShapeKind.ELLIPSOID: ("round.vert", "round.frag", "ELLIPSOID"),
    ShapeKind.BOX: ("solid.vert", "solid.frag", "SOLID"),
}
CLOSED = (ShapeKind.BOX, ShapeKind.HULL, ShapeKind.ROUNDED, ShapeKind.TORUS)  # mesh files may have holes
TRACED = (ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.ELLIPSOID)  # by ray, on the front faces of a box
DEEP = 45.0  # angle from the bottom to the rim [degrees] above which a hollow would hide what is in it
DIMMED = 0.35  # of its light that a body which sleeps sends back
BEHIND = 1.01  # scale of hollows in the shadow map, so that their lit face does not shade itself
SHADOW, OPAQUE, SEE_THROUGH, MASK = "SHADOW", "OPAQUE", "SEE_THROUGH", "MASK"
ALL, STANDING, MOVING = "ALL", "STANDING", "MOVING"  # which groups are drawn: those of fixed bodies alone, or others
CHOSEN = "CHOSEN"  # ALL, but of meshes that stand only the triangles chosen
PLAIN, LINED = "PLAIN", "LINED"  # of OPAQUE: triangles without lines, at three quarters of the cost, and others
TOLD_APART = 50_000  # triangles of a mesh at most, of which some may be chosen
FEW = 4  # shapes with one surface, of which the edges are looked for


class _MeshBuffer(NamedTuple):
    buffer: moderngl.Buffer
    fields: tuple[tuple[str, int], ...]
    corners: moderngl.Buffer | None = None  # which row each is; None = one after the other
    triangles: tuple[geometry.Vertices, NDArray[np.uint32]] | None = None  # positions of rows, and corners (m, 3)


class _Choice(GlOwner):
    """Some triangles of a mesh: of positions (n, 3), those that are the corners of each (m, 3)."""

    def __init__(self, ctx: moderngl.Context, positions: geometry.Vertices, corners: NDArray[np.uint32]) -> None:
        super().__init__(ctx)
        self._positions, self._corners = positions, corners
        self.buffer = self.own(ctx.buffer(reserve=corners.nbytes, dynamic=True))
        self.triangles = len(corners)
        self.count = 0  #: corners of those chosen

    def boxes(self, place: Array, turn: Array) -> Boxes:
        """Around each triangle of the mesh at `place` (3,), turned by the quaternion `turn`."""
        turns = np.broadcast_to(turn, (len(self._positions), 4))
        corners = (instances.rotated(turns, self._positions.astype(float)) + place)[self._corners]
        return corners.min(axis=1), corners.max(axis=1)

    def choose(self, triangles: NDArray[np.bool_]) -> None:
        corners = self._corners[triangles]
        self.count = corners.size
        self.buffer.write(corners.tobytes())


class _Drawable:
    """One group of equal shapes: its instances, and its vertex arrays as they are first needed."""

    def __init__(
        self, group: instances.Group, rows: moderngl.Buffer, mesh: _MeshBuffer, shadow_mesh: _MeshBuffer,
        lined: _MeshBuffer, deep: bool, skin: moderngl.Texture | None, parts: dict[str, _MeshBuffer],
        choices: dict[str, _Choice] | None,
    ) -> None:
        """parts: of OPAQUE, where it is drawn in two. choices: of them, where all its bodies are fixed."""
        self.group, self.rows, self.deep, self.skin = group, rows, deep, skin
        self.stands, self.choices = choices is not None, choices or {}
        self.meshes = {SHADOW: shadow_mesh, OPAQUE: mesh, SEE_THROUGH: lined, MASK: mesh, **parts}
        self.opaque = tuple(parts) or (OPAQUE,)
        self.arrays: dict[tuple[str, bool], moderngl.VertexArray] = {}

    @property
    def look(self) -> ShapeKind:
        """Which shaders draw it: hulls, meshes and hollows have those of boxes."""
        kind = ShapeKind(self.group.kind)
        return kind if kind in SHADERS else ShapeKind.BOX


class BodyPainter(GlOwner):
    def __init__(self, ctx: moderngl.Context) -> None:
        super().__init__(ctx)
        self.triangles = 0, 0  #: of the meshes that are drawn simplified: how many are drawn, of how many
        self._software = quality(ctx).software
        self._programs: dict[tuple[ShapeKind, str, bool], moderngl.Program] = {}
        self._scene = GlOwner(ctx)
        self._drawables: list[_Drawable] = []
        cube = self._buffer(self, geometry.cube(), ("in_position", 3))
        self._meshes = {
            ShapeKind.SPHERE: self._buffer(self, geometry.polygon(8), ("in_corner", 2)),
            ShapeKind.CAPSULE: cube,
            ShapeKind.CYLINDER: cube,
            ShapeKind.ELLIPSOID: cube,
            ShapeKind.BOX: self._buffer(self, geometry.box(), *TRIANGLE),
        }
        self._shadow_meshes = {
            ShapeKind.SPHERE: self._buffer(self, geometry.disc(14), ("in_position", 3)),
            ShapeKind.CAPSULE: self._buffer(self, geometry.capsule(), ("in_position", 3)),
            ShapeKind.CYLINDER: self._buffer(self, geometry.cylinder(), ("in_position", 3)),
            ShapeKind.ELLIPSOID: self._buffer(self, geometry.ball(), ("in_position", 3)),
            ShapeKind.BOX: cube,
        }

    @staticmethod
    def _buffer(owner: GlOwner, data: geometry.Vertices, *fields: tuple[str, int]) -> _MeshBuffer:
        return _MeshBuffer(owner.own(owner.ctx.buffer(data.tobytes())), fields)

    def set_scene(self, model: Model, labels: Labels, as_collided: bool = False) -> None:
        """Make the buffers of a scene's shapes. as_collided: hulls and convex parts instead of their meshes. Those
        with a texture are never drawn simplified: their corners would move in the image."""
        self._scene.release()
        self._drawables = []
        self.triangles = 0, 0
        self._bodies = model.shapes.body
        fixed = model.kind[self._bodies] == BodyKind.FIXED
        self._awake = self._colors = instances.shape_colors(model, labels, as_collided)
        self._sizes = instances.drawn_sizes(model)
        self._drawn: list[tuple[NDArray[np.intp], Array]] = []  # shapes, and the box (2, 3) of what is drawn instead
        self._silhouettes: list[tuple[NDArray[np.intp], Silhouette]] = []  # of shapes that are drawn simplified
        self._edges: tuple[tuple, tuple[NDArray[np.intp], Array, Array]] | None = None  # as last seen, and whence
        textures: dict[int, moderngl.Texture] = {}
        for group in instances.groups(model):
            skin, parts = None, {}
            rows = self._scene.own(self.ctx.buffer(reserve=4 * instances.ROW * len(group.shapes), dynamic=True))
            kind = ShapeKind(group.kind)
            if kind in self._meshes:
                mesh = lined = self._meshes[kind]
                shadow_mesh = self._shadow_meshes[kind]
            else:
                worn = None if as_collided else geometry.skin(labels, group)
                whole = geometry.surface(model, labels, group, as_collided)
                drawn = simplified(*whole) if self._software and worn is None else whole
                is_copy = drawn[1] is not whole[1]
                corners = geometry.smoothed(*drawn, None if worn is None else worn.uv,
                                            geometry.OF_COPY if is_copy else geometry.CREASE)
                if not len(corners):
                    continue
                if labels.draw_meshes or kind in HOLLOW:
                    points = np.vstack([drawn[0], (BEHIND if kind in HOLLOW else 1.0) * drawn[0]])
                    self._drawn.append((group.shapes, np.array([points.min(axis=0), points.max(axis=0)])))
                lined = self._buffer(self._scene, corners, *(TRIANGLE if worn is None else TEXTURED))
                if self._software and len(corners) <= 3 * TOLD_APART:
                    every = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
                    lined = lined._replace(triangles=(corners[:, :3].copy(), every))
                mesh = shadow_mesh = lined
                if is_copy:
                    mesh = shadow_mesh = self._shared_buffer(corners)
                    if not self._awake[group.shapes, 3].any():
                        parts = self._parts(corners)
                    if len(group.shapes) <= FEW:
                        self._silhouettes.append((group.shapes, Silhouette(*drawn)))
                    few, many, copies = *self.triangles, len(group.shapes)
                    self.triangles = few + copies * len(drawn[1]), many + copies * len(whole[1])
                if worn is not None:
                    image = id(worn.image)
                    skin = textures[image] = textures.get(image) or self._texture(worn)
                if kind in HOLLOW:
                    corners[:, :3] *= BEHIND
                    shadow_mesh = self._buffer(self._scene, corners, *TRIANGLE)
            deep = kind in HOLLOW and instances.opening(model, group.data) > DEEP
            choices = self._choices(group, parts or {OPAQUE: mesh}) if fixed[group.shapes].all() else None
            self._drawables.append(_Drawable(group, rows, mesh, shadow_mesh, lined, deep, skin, parts, choices))
        self.standing, self.moving = (  #: shapes of what is drawn of fixed bodies alone, and of the others
            np.concatenate([np.zeros(0, int), *(d.group.shapes for d in self._drawables if d.stands == stands)])
            for stands in (True, False))

    def drawn_boxes(self, boxes: Boxes, at: instances.Placement) -> Boxes:
        """Around what is drawn of shapes in these boxes, also in the shadow map."""
        lo, hi = boxes[0].copy(), boxes[1].copy()
        for shapes, box in self._drawn:
            turn = matrices(at.turn[shapes])
            centre = at.place[shapes] + turn @ box.mean(axis=0)
            half = np.abs(turn) @ (0.5 * (box[1] - box[0]))
            lo[shapes], hi[shapes] = centre - half, centre + half
        return lo, hi

    def boxes_of_choices(self, at: instances.Placement) -> Boxes:
        """Around all triangles that `choose` tells apart."""
        boxes = [choice.boxes(at.place[s], at.turn[s]) for d in self._drawables for choice in d.choices.values()
                 for s in d.group.shapes]
        none = np.zeros((0, 3))
        return np.vstack([none, *(lo for lo, _ in boxes)]), np.vstack([none, *(hi for _, hi in boxes)])

    def choose(self, triangles: NDArray[np.bool_]) -> None:
        """Which of `boxes_of_choices` are drawn of CHOSEN."""
        start = 0
        for drawable in self._drawables:
            for choice in drawable.choices.values():
                choice.choose(triangles[start : start + choice.triangles])
                start += choice.triangles

    def _shared_buffer(self, corners: geometry.Vertices) -> _MeshBuffer:
        rows, which = geometry.shared(corners)
        order = self._scene.own(self.ctx.buffer(which.tobytes()))
        made = self._buffer(self._scene, rows, *TRIANGLE)
        return made._replace(corners=order, triangles=(rows[:, :3].copy(), which.reshape(-1, 3)))

    def _parts(self, corners: geometry.Vertices) -> dict[str, _MeshBuffer]:
        """The triangles without lines, and those with some."""
        plain = (corners[:, 6:].reshape(-1, 9) >= 2.0).all(axis=1)
        halves = {PLAIN: corners.reshape(-1, 27)[plain], LINED: corners.reshape(-1, 27)[~plain]}
        return {part: self._shared_buffer(rows.reshape(-1, 9)) for part, rows in halves.items() if len(rows)}

    def _choices(self, group: instances.Group, parts: dict[str, _MeshBuffer]) -> dict[str, _Choice]:
        """Of a mesh that is there once."""
        if len(group.shapes) > 1:
            return {}
        return {part: self._scene.own(_Choice(self.ctx, *mesh.triangles))
                for part, mesh in parts.items() if mesh.triangles is not None}

    def edges(self, at: instances.Placement, eye: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Shapes of which only these edges are to be smoothed, and the boxes lo, hi (k, 3) of the edges."""
        outlined = [s for those, _ in self._silhouettes for s in those]
        seen = eye.tobytes(), at.place[outlined].tobytes(), at.turn[outlined].tobytes()
        if self._edges is None or self._edges[0] != seen:
            self._edges = seen, self._found_edges(at, eye)
        return self._edges[1]

    def _found_edges(self, at: instances.Placement, eye: Array) -> tuple[NDArray[np.intp], Array, Array]:
        shapes, los, his = [np.zeros(0, int)], [np.zeros((0, 3))], [np.zeros((0, 3))]
        for those, silhouette in self._silhouettes:
            shapes.append(those)
            for s in those:
                lo, hi = silhouette.boxes(eye, at.place[s], at.turn[s])
                los.append(lo)
                his.append(hi)
        return np.concatenate(shapes), np.vstack(los), np.vstack(his)

    def _texture(self, skin: Skin) -> moderngl.Texture:
        high, wide, _ = skin.image.shape
        made = self._scene.own(self.ctx.texture((wide, high), 3, skin.image.tobytes(), alignment=1))
        made.build_mipmaps()
        made.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        return made

    def dim(self, asleep: Array) -> bool:
        """Show the bodies (n,) that sleep darker, from the next `place` on; whether that changes anything."""
        shown = self._awake.copy()
        if len(asleep):
            shown[asleep[self._bodies] > 0, :3] *= DIMMED
        changed = not np.array_equal(shown, self._colors)
        self._colors = shown
        return changed

    def place(self, at: instances.Placement, towards_eye: NDArray[np.float64], back_to_front: bool) -> None:
        """Write where the shapes are. `towards_eye` (s,): larger is nearer. See-through shapes must be drawn from back
        to front; others go from front to back, which spares hidden fragments."""
        self._rows = instances.rows(at, self._sizes, self._colors)
        self.stand = self._rows[self.standing].tobytes()  #: tells whether what stands looks the same
        key = towards_eye if back_to_front else -towards_eye
        for drawable in self._drawables:
            shapes = drawable.group.shapes
            drawable.rows.write(self._rows[shapes[np.argsort(key[shapes], kind="stable")]])

    def paint(self, variant: str, which: str = ALL, both_sides: bool = False) -> None:
        """Draw shapes into the framebuffer in use: OPAQUE, SEE_THROUGH, or SHADOW (depth only)."""
        for drawable in self._drawables:
            if which in (STANDING, MOVING) and drawable.stands != (which == STANDING):
                continue
            closed = drawable.group.kind in CLOSED
            into = drawable.deep and variant != SHADOW  # leaves out the wall between the eye and the hollow
            culled = drawable.look in TRACED or into or (closed and not both_sides)
            (self.ctx.enable if culled else self.ctx.disable)(moderngl.CULL_FACE)
            if drawable.skin is not None:
                drawable.skin.use(SKIN_UNIT)
            for part in drawable.opaque if variant == OPAQUE else (variant,):
                if which == CHOSEN and part in drawable.choices:
                    self._array(drawable, part, True).render(vertices=drawable.choices[part].count, instances=1)
                else:
                    self._array(drawable, part).render(instances=len(drawable.group.shapes))
        self.ctx.disable(moderngl.CULL_FACE)

    def paint_mask(self, body: int) -> None:
        """Draw the shapes of one body in white. The other instances are lost until `place`."""
        for drawable in self._drawables:
            shapes = drawable.group.shapes
            chosen = shapes[self._bodies[shapes] == body]
            if len(chosen):
                drawable.rows.write(self._rows[chosen])
                self._array(drawable, MASK).render(instances=len(chosen))

    def _array(self, drawable: _Drawable, variant: str, chosen: bool = False) -> moderngl.VertexArray:
        """chosen: of the triangles of its choice."""
        key = variant, chosen
        if key not in drawable.arrays:
            program = self._program(drawable.look, variant, drawable.skin is not None)
            mesh = drawable.meshes[variant]
            corners = drawable.choices[variant].buffer if chosen else mesh.corners
            drawable.arrays[key] = self._scene.own(self.ctx.vertex_array(program, [
                attributes(program, mesh.buffer, mesh.fields), attributes(program, drawable.rows, INSTANCE, True)
            ], index_buffer=corners))
        return drawable.arrays[key]

    def _program(self, look: ShapeKind, variant: str, textured: bool) -> moderngl.Program:
        key = look, variant, textured
        if key not in self._programs:
            vertex, fragment, define = SHADERS[look]
            if variant == SHADOW:
                vertex, fragment = "shadow.vert", "shadow.frag"
            more = ("TEXTURED",) if textured else ()
            program = self._programs[key] = self.own(load(self.ctx, vertex, fragment, define, variant, *more))
            if "skin" in program:
                program["skin"] = SKIN_UNIT
        return self._programs[key]

    def release(self) -> None:
        self._scene.release()
        super().release()
