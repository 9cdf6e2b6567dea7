"""Draws a snapshot: shadow map, sky and floors, bodies; smooths edges, outlines the selection, puts glyphs on top."""

import moderngl
import numpy as np

from contactlab.app import backdrop, body_painter, instances
from contactlab.app.backdrop import Backdrop
from contactlab.app.body_painter import BodyPainter
from contactlab.app.camera import Camera, scene_bounds, shape_boxes
from contactlab.app.overlay_painter import OverlayPainter
from contactlab.app.overlays import WorldLabel, build
from contactlab.app.programs import Owner, load, quality
from contactlab.app.theme import Theme, linear, theme
from contactlab.app.view_options import ViewOptions
from contactlab.physics.messages import Snapshot
from contactlab.physics.model import Array, Labels, Model, ShapeKind

SUN = np.array([-0.40, -0.50, 0.95]) / np.linalg.norm([-0.40, -0.50, 0.95])  # towards the light
TRANSPARENT_ALPHA = 0.30
WIREFRAME_ALPHA = 0.05
EDGE_STRENGTH = 0.75
OUTLINE = 2.2  # [pixels at scale 1]


class Renderer(Owner):
    """`draw` once a picture, `release` at the end. Uses one context, from one thread."""

    def __init__(self, ctx: moderngl.Context) -> None:
        super().__init__(ctx)
        self.quality = quality(ctx)
        self.labels: list[WorldLabel] = []  # texts of the last picture, for whoever can write
        self._model: Model | None = None
        self._bodies, self._backdrop, self._glyphs = BodyPainter(ctx), Backdrop(ctx), OverlayPainter(ctx)
        self._targets = _Targets(ctx, (0, 0), self.quality.samples)
        self._still: tuple = ()  # what the kept backdrop shows
        self._smooth = self.own(load(ctx, "screen.vert", "fxaa.frag"))
        self._outline = self.own(load(ctx, "screen.vert", "outline.frag"))
        screen = self.own(ctx.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32).tobytes()))
        self._smooth_array = self.own(ctx.vertex_array(self._smooth, [(screen, "2f", "in_corner")]))
        self._outline_array = self.own(ctx.vertex_array(self._outline, [(screen, "2f", "in_corner")]))
        self._frame = self.own(ctx.buffer(reserve=4 * (2 * 16 + 8 * 4), dynamic=True))
        self._make_shadow_map()

    def _make_shadow_map(self) -> None:
        n = self.quality.shadow_size
        self._shadow_map = self.own(self.ctx.depth_texture((n, n)))
        software = self.quality.software
        self._shadow_map.compare_func = "" if software else "<="
        filtering = moderngl.NEAREST if software else moderngl.LINEAR
        self._shadow_map.filter = (filtering, filtering)
        self._shadow_target = self.own(self.ctx.framebuffer(depth_attachment=self._shadow_map))

    def set_scene(self, model: Model, labels: Labels) -> None:
        """Take another scene. `draw` does it by itself where the shapes of the snapshot's model are others."""
        self._model = model
        self._bodies.set_scene(model, labels)
        self._still = ()

    # --------------------------------------------------------------------------------------------- draw

    def draw(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, target: moderngl.Framebuffer,
             ui_scale: float = 1.0) -> None:
        """Draw the snapshot over the whole of `target`. `ui_scale`: pixels per unit of the glyphs' sizes."""
        if self._model is None or snapshot.model.shapes is not self._model.shapes:
            self.set_scene(snapshot.model, snapshot.labels)
        if target.size != self._targets.size:
            self._targets.release()
            self._targets = _Targets(self.ctx, target.size, self.quality.samples)
            self._still = ()
        look = theme(options.dark)
        at = instances.placed(snapshot.model, snapshot.x, snapshot.q)
        lo, hi = scene_bounds(snapshot.model, snapshot.x, snapshot.q)
        light_matrix, texel = light_box(snapshot, lo, hi, self.quality.shadow_size)
        view = backdrop.View(camera, target.size, look, options.grid, 0.5 * (lo + hi), float(np.linalg.norm(hi - lo)),
                             light_matrix, SUN)
        self._write_frame(camera, options, look, ui_scale, light_matrix, texel)
        self._bodies.place(at, (at.place - camera.eye) @ camera.backward, options.transparent or options.wireframe)
        if options.shadows:
            self._cast_shadows()
        self._paint(snapshot, at, view, options)
        self._finish(snapshot, camera, target)
        if 0 <= options.selected < len(snapshot.x):
            self._outline_body(options.selected, look, target, ui_scale)
        glyphs = build(snapshot, options, camera, target.size, ui_scale)
        self.labels = glyphs.labels
        self._glyphs.paint(glyphs, self._targets.depth, target)

    def _write_frame(self, camera: Camera, options: ViewOptions, look: Theme, scale: float, light_matrix: Array,
                     texel: float) -> None:
        """The block Frame of shaders/lib/frame.glsl."""
        width, height = self._targets.size
        style = 2.0 if options.wireframe else float(options.transparent)
        alpha = WIREFRAME_ALPHA if options.wireframe else TRANSPARENT_ALPHA
        block = np.concatenate([
            camera.view_projection(width / height).T.ravel(), light_matrix.T.ravel(),
            camera.eye, [camera.near], -camera.backward, [camera.pixel_angle(height)],
            SUN, [look.sun], look.sky_light, [float(options.shadows)], look.ground_light, [texel],
            linear(np.array(look.zenith)), [alpha], linear(np.array(look.horizon)), [style],
            [width, height, scale, EDGE_STRENGTH],
        ])
        self._frame.write(block.astype(np.float32))
        self._frame.bind_to_uniform_block(0)

    def _cast_shadows(self) -> None:
        self._shadow_target.use()
        self._shadow_target.clear(depth=1.0)
        self.ctx.enable_only(moderngl.DEPTH_TEST)
        self._bodies.paint(body_painter.SHADOW)

    def _paint(self, snapshot: Snapshot, at: instances.Placement, view: backdrop.View, options: ViewOptions) -> None:
        """Sky, floors, bodies and walls."""
        ctx, canvas = self.ctx, self._targets.canvas
        flat = snapshot.model.shapes.kind == ShapeKind.PLANE
        planes = backdrop.planes(at.place[flat], at.turn[flat])
        floors = [p for p in planes if backdrop.is_solid(p, view.camera.eye)]
        see_through = options.transparent or options.wireframe
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<="
        self._paint_backdrop(floors, view)
        canvas.use()
        self._shadow_map.use(0)
        if options.shadows:
            canvas.depth_mask = False
            self._backdrop.paint_shadows(floors, view)
            canvas.depth_mask = True
        if not see_through:
            self._bodies.paint(body_painter.OPAQUE)
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        canvas.depth_mask = False
        if see_through:
            self._bodies.paint(body_painter.SEE_THROUGH, both_sides=options.wireframe)
        self._backdrop.paint_see_through([p for p in planes if not backdrop.is_solid(p, view.camera.eye)], view)
        canvas.depth_mask = True
        ctx.disable(moderngl.BLEND)

    def _paint_backdrop(self, floors: list[backdrop.Plane], view: backdrop.View) -> None:
        """Sky and floors; on slow machines they are kept as long as nothing about them changes."""
        targets, camera = self._targets, view.camera
        numbers = [camera.eye, camera.backward, [camera.fov], *(part.ravel() for plane in floors for part in plane)]
        still = (np.concatenate(numbers).tobytes(), view.look, view.grid)
        if not self.quality.software or still != self._still:
            surface = targets.kept if self.quality.software else targets.canvas
            surface.use()
            surface.clear(depth=1.0)
            self._backdrop.paint(floors, view)
            self._still = still
        if self.quality.software:
            self.ctx.copy_framebuffer(targets.canvas, targets.kept)

    def _finish(self, snapshot: Snapshot, camera: Camera, target: moderngl.Framebuffer) -> None:
        """Bring the picture to the target with smooth edges."""
        ctx, targets = self.ctx, self._targets
        if targets.canvas is not targets.single:
            ctx.copy_framebuffer(targets.single, targets.canvas)
        ctx.copy_framebuffer(target, targets.single)
        if self.quality.samples == 0:
            target.use()
            ctx.disable(moderngl.DEPTH_TEST)
            targets.picture.use(0)
            target.scissor = _covered(snapshot, camera, target.size)
            self._smooth_array.render()
            target.scissor = 0, 0, *target.size

    def _outline_body(self, body: int, look: Theme, target: moderngl.Framebuffer, scale: float) -> None:
        ctx, targets = self.ctx, self._targets
        ctx.disable(moderngl.DEPTH_TEST)
        targets.mask_target.use()
        targets.mask_target.clear()
        self._bodies.paint_mask(body)
        target.use()
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        targets.mask.use(0)
        self._outline["line_color"] = look.selection
        self._outline["width"] = OUTLINE * scale
        self._outline_array.render()
        ctx.disable(moderngl.BLEND)

    def release(self) -> None:
        """Give back everything made in the context."""
        for part in (self._bodies, self._backdrop, self._glyphs, self._targets):
            part.release()
        super().release()


class _Targets(Owner):
    """Framebuffers of the size of the picture."""

    def __init__(self, ctx: moderngl.Context, size: tuple[int, int], samples: int) -> None:
        super().__init__(ctx)
        self.size = size
        if 0 in size:
            return
        own = self.own
        self.picture, self.mask = own(ctx.texture(size, 4)), own(ctx.texture(size, 1))
        self.depth = own(ctx.depth_texture(size))
        self.depth.compare_func = ""
        self.depth.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self.mask.repeat_x = self.mask.repeat_y = False
        self.single = own(ctx.framebuffer([self.picture], self.depth))
        self.mask_target = own(ctx.framebuffer([self.mask]))
        self.canvas = self.kept = self.single
        if samples:
            color, depth = ctx.renderbuffer(size, 4, samples=samples), ctx.depth_renderbuffer(size, samples=samples)
            self.canvas = own(ctx.framebuffer([own(color)], own(depth)))
        else:
            self.kept = own(ctx.framebuffer([own(ctx.texture(size, 4))], own(ctx.depth_texture(size))))


def light_box(snapshot: Snapshot, lo: Array, hi: Array, texels: int) -> tuple[Array, float]:
    """World -> shadow map (4, 4), all three coordinates 0..1, and the size [m] of its largest texel: the box along the
    light around the shapes between lo and hi (3,). Its size and place go by steps so that edges of shadows stand still.
    """
    side = np.cross([0.0, 0.0, 1.0], SUN)
    side /= np.linalg.norm(side)
    axes = np.array([side, np.cross(SUN, side), -SUN])
    low, high = shape_boxes(snapshot.model, snapshot.x, snapshot.q)
    inside = ((low >= lo - 1e-9) & (high <= hi + 1e-9)).all(axis=1)  # nan is not
    low, high = (low[inside], high[inside]) if inside.any() else (lo[None], hi[None])
    centre = 0.5 * (low + high) @ axes.T
    half = 0.5 * (high - low) @ np.abs(axes).T
    near, far = (centre - half).min(axis=0), (centre + half).max(axis=0)
    extent = np.maximum(0.5 * (far - near) * 1.04, 1e-3)
    extent = 2.0 ** (np.ceil(8.0 * np.log2(extent)) / 8.0)
    texel = 2.0 * extent / texels
    middle = np.round(0.5 * (near + far) / texel) * texel
    matrix = np.eye(4)
    matrix[:3, :3] = axes * (0.5 / extent)[:, None]
    matrix[:3, 3] = 0.5 - 0.5 * middle / extent
    return matrix, float(texel[:2].max())


def _covered(snapshot: Snapshot, camera: Camera, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """x, y (up), width, height [pixels] of the part of the picture where bodies are."""
    width, height = size
    lo, hi = shape_boxes(snapshot.model, snapshot.x, snapshot.q)
    finite = np.isfinite(lo).all(axis=1)
    share = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float)
    corners = (lo[finite, None] + (hi - lo)[finite, None] * share).reshape(-1, 3)
    at, depth = camera.project(corners, width, height)
    if not len(at):
        return 0, 0, 0, 0
    if depth.min() < camera.near:
        return 0, 0, width, height
    x0, y0 = np.clip(np.floor(at.min(axis=0)) - 3, 0, size).astype(int)
    x1, y1 = np.clip(np.ceil(at.max(axis=0)) + 3, 0, size).astype(int)
    return int(x0), int(height - y1), int(x1 - x0), int(y1 - y0)
