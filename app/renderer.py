"""Draws a snapshot: shadow map, bodies, planes, sky; then smooths edges, outlines the selection and puts glyphs on top."""

from typing import NamedTuple

import moderngl
import numpy as np

from contactlab.app import geometry, instances
from contactlab.app.camera import Camera, scene_bounds, shape_boxes
from contactlab.app.overlay_painter import OverlayPainter
from contactlab.app.overlays import WorldLabel, build
from contactlab.app.programs import load
from contactlab.app.theme import Theme, linear, theme
from contactlab.app.view_options import ViewOptions
from contactlab.physics.messages import Snapshot
from contactlab.physics.model import Array, Labels, Model, ShapeKind

SUN = np.array([0.38, -0.46, 0.80])  # towards the light
TRANSPARENT_ALPHA = 0.30
WIREFRAME_ALPHA = 0.05
SOFTWARE = ("llvmpipe", "softpipe", "swiftshader", "software")
INSTANCE = "3f 4f 3f 4f/i"
INSTANCE_NAMES = ("in_place", "in_turn", "in_size", "in_color")


class Quality(NamedTuple):
    """What the machine can afford."""

    software: bool
    samples: int      # of multisampling; 0 = smooth the finished picture instead
    shadow_size: int  # of the shadow map [texels]


def quality(ctx: moderngl.Context) -> Quality:
    """Cheap settings where the processor draws, better ones on a GPU."""
    name = ctx.info["GL_RENDERER"].lower()
    if any(word in name for word in SOFTWARE):
        return Quality(True, 0, 1024)
    return Quality(False, min(4, ctx.max_samples), 2048)


class _Drawable(NamedTuple):
    """One group of equal shapes, with its arrays for the picture and for the shadow map."""

    group: instances.Group
    buffer: moderngl.Buffer
    picture: moderngl.VertexArray
    shadow: moderngl.VertexArray


class Renderer:
    """`set_scene` once a scene, `draw` once a picture, `release` at the end. Uses one context, from one thread."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.quality = quality(ctx)
        self.labels: list[WorldLabel] = []  # texts of the last picture, for whoever can write
        self._owned: list[moderngl.Buffer | moderngl.Program | moderngl.VertexArray | moderngl.Texture] = []
        self._scene: list[_Drawable] = []
        self._scene_owned: list[moderngl.Buffer | moderngl.VertexArray] = []
        self._model: Model | None = None
        self._size = (0, 0)
        self._targets: list[moderngl.Framebuffer | moderngl.Texture | moderngl.Renderbuffer] = []
        self._make_programs()
        self._make_shapes()
        self._make_shadow_map()
        self._painter = OverlayPainter(ctx)

    # ------------------------------------------------------------------------------------------- making

    def _own(self, thing):
        self._owned.append(thing)
        return thing

    def _program(self, vertex: str, fragment: str, *defines: str) -> moderngl.Program:
        if self.quality.software:
            defines += ("SOFTWARE",)
        if "GL_ARB_conservative_depth" in self.ctx.extensions:
            defines += ("CONSERVATIVE",)
        return self._own(load(self.ctx, vertex, fragment, defines))

    def _make_programs(self) -> None:
        capsule, cylinder = ("CAPSULE",), ("CYLINDER",)
        self._programs = {
            ShapeKind.SPHERE: self._program("sphere.vert", "sphere.frag"),
            ShapeKind.CAPSULE: self._program("round.vert", "round.frag", *capsule),
            ShapeKind.CYLINDER: self._program("round.vert", "round.frag", *cylinder),
            ShapeKind.BOX: self._program("solid.vert", "solid.frag"),
        }
        self._shadow_programs = {
            ShapeKind.SPHERE: self._program("shadow.vert", "shadow.frag", "SPHERE"),
            ShapeKind.CAPSULE: self._program("shadow.vert", "shadow.frag", *capsule),
            ShapeKind.CYLINDER: self._program("shadow.vert", "shadow.frag", *cylinder),
            ShapeKind.BOX: self._program("shadow.vert", "shadow.frag"),
        }
        self._plane = self._program("plane.vert", "plane.frag")
        self._sky = self._program("background.vert", "background.frag")
        self._finish = self._program("screen.vert", "copy.frag" if self.quality.samples else "fxaa.frag")
        self._outline = self._program("screen.vert", "outline.frag")
        for program in (*self._programs.values(), self._plane):
            program["shadow_map"] = 0

    def _make_shapes(self) -> None:
        def buffer(data: np.ndarray) -> moderngl.Buffer:
            return self._own(self.ctx.buffer(data.tobytes()))

        cube = buffer(geometry.cube())
        self._meshes = {
            ShapeKind.SPHERE: (buffer(geometry.polygon(8)), "2f", ("in_corner",)),
            ShapeKind.CAPSULE: (cube, "3f", ("in_position",)),
            ShapeKind.CYLINDER: (cube, "3f", ("in_position",)),
            ShapeKind.BOX: (buffer(geometry.box()), "3f 3f 3f", ("in_position", "in_normal", "in_edge")),
        }
        self._shadow_meshes = {
            ShapeKind.SPHERE: buffer(geometry.disc()),
            ShapeKind.CAPSULE: buffer(geometry.capsule()),
            ShapeKind.CYLINDER: buffer(geometry.cylinder()),
            ShapeKind.BOX: cube,
        }
        corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)  # one triangle covers the picture
        screen = buffer(corners)
        fan = np.array([0, 0, 1, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0], np.float32)
        array = self.ctx.vertex_array
        self._plane_array = self._own(array(self._plane, [(buffer(fan), "2f", "in_corner")]))
        self._sky_array = self._own(array(self._sky, [(screen, "2f", "in_corner")]))
        self._finish_array = self._own(array(self._finish, [(screen, "2f", "in_corner")]))
        self._outline_array = self._own(array(self._outline, [(screen, "2f", "in_corner")]))
        self._frame = self._own(self.ctx.buffer(reserve=4 * (2 * 16 + 8 * 4)))

    def _make_shadow_map(self) -> None:
        n = self.quality.shadow_size
        self._shadow_map = self._own(self.ctx.depth_texture((n, n)))
        self._shadow_map.compare_func = "<="
        self._shadow_map.filter = (moderngl.LINEAR, moderngl.LINEAR)
        self._shadow_map.repeat_x = self._shadow_map.repeat_y = False
        self._shadow_target = self._own(self.ctx.framebuffer(depth_attachment=self._shadow_map))

    # -------------------------------------------------------------------------------------------- scene

    def set_scene(self, model: Model, labels: Labels) -> None:
        """Take another scene: make the buffers of its shapes."""
        self._release_scene()
        self._model = model
        self._colors = instances.shape_colors(model, labels)
        self._drawn_sizes = instances.drawn_sizes(model)
        for group in instances.groups(model):
            self._scene.append(self._drawable(model, group))

    def _drawable(self, model: Model, group: instances.Group) -> _Drawable:
        rows = self.ctx.buffer(reserve=4 * instances.ROW * len(group.shapes), dynamic=True)
        self._scene_owned.append(rows)
        kind = ShapeKind(group.kind)
        if kind in self._meshes:
            mesh, shadow_mesh = self._meshes[kind], self._shadow_meshes[kind]
            shadow_format = "3f"
        else:
            kind = ShapeKind.BOX
            made = geometry.hull(model.hulls, group.data) if group.kind == ShapeKind.HULL else geometry.mesh(
                model.meshes, group.data)
            shadow_mesh = self.ctx.buffer(made.tobytes())
            self._scene_owned.append(shadow_mesh)
            mesh, shadow_format = (shadow_mesh, *self._meshes[kind][1:]), "3f 24x"
        picture = self.ctx.vertex_array(self._programs[kind], [
            (mesh[0], mesh[1], *mesh[2]), (rows, INSTANCE, *INSTANCE_NAMES)])
        turned = (rows, "3f 4f 3f 16x/i", *INSTANCE_NAMES[:3])
        unturned = (rows, "3f 16x 3f 16x/i", INSTANCE_NAMES[0], INSTANCE_NAMES[2])
        shadow = self.ctx.vertex_array(self._shadow_programs[kind], [
            (shadow_mesh, shadow_format, "in_position"), unturned if kind == ShapeKind.SPHERE else turned])
        self._scene_owned += [picture, shadow]
        return _Drawable(group, rows, picture, shadow)

    # --------------------------------------------------------------------------------------------- draw

    def draw(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, target: moderngl.Framebuffer,
             ui_scale: float = 1.0) -> None:
        """Draw the snapshot over the whole of `target`. `ui_scale`: pixels per unit of the glyphs' sizes.

        A snapshot of another scene than the last one is noticed by its model.
        """
        if snapshot.model.shapes is not (self._model.shapes if self._model else None):
            self.set_scene(snapshot.model, snapshot.labels)
        look = theme(options.dark)
        self._fit(target.size)
        self._place(snapshot, camera, options)
        self._write_frame(snapshot, camera, options, look, ui_scale)
        self._frame.bind_to_uniform_block(0)
        self.ctx.disable(moderngl.BLEND)
        if options.shadows:
            self._draw_shadows()
        self._draw_bodies(snapshot, camera, options, look)
        self._finish_picture(target)
        if 0 <= options.selected < len(snapshot.x):
            self._outline_selected(options.selected, look, target, ui_scale)
        glyphs = build(snapshot, options, camera, target.size, ui_scale)
        self.labels = glyphs.labels
        self._painter.paint(glyphs, self._depth, target)

    def _fit(self, size: tuple[int, int]) -> None:
        """Make the picture's own targets as large as the one asked for."""
        if size == self._size:
            return
        for thing in self._targets:
            thing.release()
        ctx, samples = self.ctx, self.quality.samples
        self._picture = ctx.texture(size, 4)
        self._picture.repeat_x = self._picture.repeat_y = False
        self._depth = ctx.depth_texture(size)
        self._depth.compare_func = ""
        self._depth.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._mask = ctx.texture(size, 1)
        self._mask.repeat_x = self._mask.repeat_y = False
        self._single = ctx.framebuffer([self._picture], self._depth)
        self._mask_target = ctx.framebuffer([self._mask])
        self._targets = [self._single, self._mask_target, self._picture, self._depth, self._mask]
        self._canvas = self._single
        if samples:
            color = ctx.renderbuffer(size, 4, samples=samples)
            depth = ctx.depth_renderbuffer(size, samples=samples)
            self._canvas = ctx.framebuffer([color], depth)
            self._targets += [self._canvas, color, depth]
        self._size = size

    def _place(self, snapshot: Snapshot, camera: Camera, options: ViewOptions) -> None:
        """Write the instance rows of all groups."""
        at = instances.placed(snapshot.model, snapshot.x, snapshot.q)
        self._rows = rows = instances.rows(at, self._drawn_sizes, self._colors)
        sort = options.transparent or options.wireframe
        depth = (at.place - camera.eye) @ camera.backward
        for drawable in self._scene:
            shapes = drawable.group.shapes
            # see-through bodies are painted from back to front, others from front to back to spare hidden fragments
            order = np.argsort(depth[shapes] if sort else -depth[shapes], kind="stable")
            drawable.buffer.write(rows[shapes[order]])

    def _write_frame(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, look: Theme, scale: float) -> None:
        width, height = self._size
        sun = SUN / np.linalg.norm(SUN)
        light_matrix, texel = _light_box(snapshot, sun, self.quality.shadow_size)
        style = 2.0 if options.wireframe else float(options.transparent)
        alpha = WIREFRAME_ALPHA if options.wireframe else TRANSPARENT_ALPHA
        block = np.concatenate([
            camera.view_projection(width / height).T.ravel(), light_matrix.T.ravel(),
            camera.eye, [camera.near], -camera.backward, [camera.pixel_angle(height)],
            sun, [look.sun], look.sky_light, [float(options.shadows)], look.ground_light, [texel],
            linear(np.array(look.zenith)), [alpha], linear(np.array(look.horizon)), [style],
            [width, height, scale, 0.75],
        ])
        self._frame.write(block.astype(np.float32))

    def _draw_shadows(self) -> None:
        ctx = self.ctx
        self._shadow_target.use()
        self._shadow_target.clear(depth=1.0)
        ctx.enable_only(moderngl.DEPTH_TEST)
        for drawable in self._scene:
            drawable.shadow.render(instances=len(drawable.group.shapes))

    def _draw_bodies(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, look: Theme) -> None:
        ctx = self.ctx
        self._canvas.use()
        self._canvas.clear(depth=1.0)
        self._shadow_map.use(0)
        see_through = options.transparent or options.wireframe
        unproject = _unprojection(camera, self._size)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<="
        if not see_through:
            self._draw_groups(culled=True)
        self._draw_planes(snapshot, camera, options, look, unproject, solid=True)
        self._sky["unproject"].write(unproject)
        self._sky_array.render()
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self._canvas.depth_mask = False
        if see_through:
            self._draw_groups(culled=not options.wireframe)
        self._draw_planes(snapshot, camera, options, look, unproject, solid=False)
        self._canvas.depth_mask = True
        ctx.disable(moderngl.BLEND)

    def _draw_groups(self, culled: bool) -> None:
        for program in self._programs.values():
            program["pass_mode"] = 0
        for drawable in self._scene:
            impostor = drawable.group.kind in (ShapeKind.CAPSULE, ShapeKind.CYLINDER)
            if impostor or (culled and drawable.group.kind in (ShapeKind.BOX, ShapeKind.HULL)):
                self.ctx.enable(moderngl.CULL_FACE)
            else:
                self.ctx.disable(moderngl.CULL_FACE)
            drawable.picture.render(instances=len(drawable.group.shapes))
        self.ctx.disable(moderngl.CULL_FACE)

    def _draw_planes(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, look: Theme,
                     unproject: np.ndarray, solid: bool) -> None:
        """Floors seen from above are solid and go to the horizon; walls, and floors from below, are see-through."""
        model = snapshot.model
        lo, hi = scene_bounds(model, snapshot.x, snapshot.q)
        at = instances.placed(model, snapshot.x, snapshot.q)
        program = self._plane
        for s in np.flatnonzero(model.shapes.kind == ShapeKind.PLANE):
            place, turn = at.place[s], at.turn[s]
            normal = instances.rotated(turn[None], np.array([[0.0, 0.0, 1.0]]))[0]
            floor = normal[2] > 0.5
            above = (camera.eye - place) @ normal > 0.0
            if (floor and above) != solid:
                continue
            program["unproject"].write(unproject)
            program["plane_place"] = (*place, 1.0 if solid else 0.22)
            program["plane_turn"] = (*turn[1:], turn[0])
            program["plane_color"] = (*linear(np.array(look.ground)), float(floor))
            minor, strength, major = grid_cells(camera.distance)
            program["grid"] = (minor, strength, major, 12.0 * camera.distance)
            program["grid_color"] = (*linear(np.array(look.grid)), 0.55 * float(options.grid))
            conjugate = np.array([[turn[0], *-turn[1:]]])
            program["middle"] = tuple(instances.rotated(conjugate, (0.5 * (lo + hi) - place)[None])[0])
            self._plane_array.render()

    def _finish_picture(self, target: moderngl.Framebuffer) -> None:
        """Bring the picture to the target with smooth edges."""
        ctx = self.ctx
        if self._canvas is not self._single:
            ctx.copy_framebuffer(self._single, self._canvas)
        target.use()
        ctx.disable(moderngl.DEPTH_TEST)
        self._picture.use(0)
        self._finish_array.render()

    def _outline_selected(self, body: int, look: Theme, target: moderngl.Framebuffer, scale: float) -> None:
        ctx = self.ctx
        self._mask_target.use()
        self._mask_target.clear()
        for program in self._programs.values():
            program["pass_mode"] = 1
        assert self._model is not None
        for drawable in self._scene:
            shapes = drawable.group.shapes
            chosen = shapes[self._model.shapes.body[shapes] == body]
            if len(chosen):
                drawable.buffer.write(self._rows[chosen])
                drawable.picture.render(instances=len(chosen))
        target.use()
        ctx.enable(moderngl.BLEND)
        self._mask.use(0)
        self._outline["line_color"] = (*look.selection, 1.0)
        self._outline["width"] = 2.2 * scale
        self._outline_array.render()
        ctx.disable(moderngl.BLEND)

    # ------------------------------------------------------------------------------------------ release

    def _release_scene(self) -> None:
        for thing in self._scene_owned:
            thing.release()
        self._scene, self._scene_owned = [], []

    def release(self) -> None:
        """Give back everything the renderer made in the context."""
        self._release_scene()
        for thing in (*self._targets, *reversed(self._owned)):
            thing.release()
        self._targets, self._owned = [], []
        self._painter.release()


def grid_cells(distance: float) -> tuple[float, float, float]:
    """Minor cell [m], its strength 0..1 and major cell of the grid for a camera so far away: powers of ten that
    fade into each other."""
    level = np.log10(max(distance, 1e-6) / 10.0)
    below = np.floor(level)
    share = level - below
    return 10.0**below, float(1.0 - share**3), 10.0 ** (below + 1.0)


def _light_box(snapshot: Snapshot, sun: Array, texels: int) -> tuple[Array, float]:
    """World -> shadow map (4, 4), all three coordinates 0..1, and the size [m] of a texel: a box around all bodies
    along the light, moved by whole texels so that edges of shadows stand still."""
    lo, hi = shape_boxes(snapshot.model, snapshot.x, snapshot.q)
    finite = np.isfinite(lo).all(axis=1)
    lo_all, hi_all = scene_bounds(snapshot.model, snapshot.x, snapshot.q)
    centre = 0.5 * (lo_all + hi_all)
    radius = 0.5 * float(np.linalg.norm(hi_all - lo_all)) * 1.05 + 1e-3
    radius = 2.0 ** (np.ceil(8.0 * np.log2(radius)) / 8.0)
    side = np.cross([0.0, 0.0, 1.0], sun)
    side /= np.linalg.norm(side)
    axes = np.array([side, np.cross(sun, side), -sun])
    texel = 2.0 * radius / texels
    middle = np.round(axes @ centre / texel) * texel
    depth = radius
    if finite.any():
        depth = max(depth, 0.5 * float(np.linalg.norm(hi[finite].max(axis=0) - lo[finite].min(axis=0))))
    depth = min(depth, 40.0 * radius)
    matrix = np.eye(4)
    matrix[:3, :3] = axes * (0.5 / np.array([radius, radius, depth]))[:, None]
    matrix[:3, 3] = 0.5 - middle * 0.5 / np.array([radius, radius, depth])
    return matrix, texel


def _unprojection(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """Window (x, y, 1) -> direction from the eye with unit length along the view, as columns of a mat4, float32."""
    width, height = size
    slope = camera.pixel_angle(height)
    right, up, back = camera.axes
    matrix = np.zeros((4, 4), np.float32)
    matrix[0, :3] = slope * right
    matrix[1, :3] = slope * up
    matrix[2, :3] = -back - 0.5 * width * slope * right - 0.5 * height * slope * up
    return matrix
