"""Draws a snapshot: shadow map, sky and floors, bodies; smooths edges, outlines the selection, puts glyphs on top."""

from typing import Any, NamedTuple

import moderngl
import numpy as np

from ...physics.core.model import Array, Labels, Model, ShapeKind, movable
from ...physics.run.messages import Snapshot
from . import backdrop, body_painter, instances
from .backdrop import Backdrop
from .body_painter import BodyPainter
from .camera import AWAY, Camera, bounds_of, shape_boxes
from .ghosts import Ghosts, by_closed_form, of_fan
from .light import SUN, light_box, plain
from .overlay_painter import OverlayPainter
from .overlays import WorldLabel, build
from .programs import GlOwner, Quality, load, quality, waiting
from .standing import Standing
from .theme import Theme, linear, theme
from .tiles import Boxes, covered_tiles, tile_corners
from .view_options import ViewOptions

TRANSPARENT_ALPHA = 0.30
WIREFRAME_ALPHA = 0.05
EDGE_STRENGTH = 0.75
OUTLINE = 2.2  # [pixels at scale 1]; with its halo less than MARGIN
MARGIN = 12.0  # [pixels] around the selected body, and around particles, which are drawn larger than they are
SMOOTHED = 2.0  # [pixels] around bodies: a pixel is smoothed that is next to one of a body
UNSEEN = 0.1   # [pixels] that shapes may move before they are drawn anew
Rect = tuple[int, int, int, int]  # x, y of the lower left corner, width, height [pixels]


class _Shapes(NamedTuple):
    """Where the shapes of a snapshot are, and what follows from that for any camera."""

    of: tuple[bytes, bytes]  # x and q of the bodies
    at: instances.Placement
    boxes: Boxes
    lo: Array  # (3,), and hi: what is framed [m]
    hi: Array
    light_matrix: Array
    texel: float


class Renderer(GlOwner):
    """`draw` once a picture, `release` at the end. Uses one context, from one thread."""

    def __init__(self, ctx: moderngl.Context) -> None:
        super().__init__(ctx)
        self.quality = quality(ctx)
        self._waiting = waiting(ctx)
        self.labels: list[WorldLabel] = []  # texts of the last picture, for whoever can write
        self._model: Model | None = None
        self._bodies, self._backdrop, self._glyphs = BodyPainter(ctx), Backdrop(ctx), OverlayPainter(ctx)
        self._formed = Ghosts(ctx)
        self._rejected, self._fan = Ghosts(ctx), Ghosts(ctx)  # they have bodies from when they are first seen
        self._ghosts = self._formed, self._rejected, self._fan
        self._targets = _Targets(ctx, (0, 0, 0, 0), self.quality)
        self._shapes: _Shapes | None = None    # of the last picture
        self._shadowed: _Shapes | None = None  # whose shadows the map holds
        self._casting: tuple = ()  # what casts the shadows of the map that is kept, and its light
        self._still: tuple = ()  # what the kept backdrop shows
        self._standing = Standing(self._bodies, self.quality.shadow_size)
        self._behind: tuple = ()  # what the last one showed
        self._painted: tuple = ()  # what the picture under the glyphs shows, and where the shapes were
        self._smooth = self.own(load(ctx, "screen.vert", "fxaa.frag"))
        self._outline = self.own(load(ctx, "screen.vert", "outline.frag"))
        self._tiles = self.own(ctx.buffer(reserve=1 << 16, dynamic=True))
        self._smooth_corners = np.zeros((0, 2))
        self._smooth_array = self.own(ctx.vertex_array(self._smooth, [(self._tiles, "2f", "in_corner")]))
        self._outline_array = self.own(ctx.vertex_array(self._outline, [(self._tiles, "2f", "in_corner")]))
        self._frame = self.own(ctx.buffer(reserve=4 * (2 * 16 + 10 * 4), dynamic=True))
        self._make_shadow_map()

    def _make_shadow_map(self) -> None:
        size = self.quality.shadow_size, self.quality.shadow_size
        self._shadow_map = self._depth_map(size)
        self._shadow_target = self.own(self.ctx.framebuffer(depth_attachment=self._shadow_map))
        if self.quality.software:
            standing_map = self._standing_map = self._depth_map(size)
            self._standing_target = self.own(self.ctx.framebuffer(depth_attachment=standing_map))
            # moderngl copies depth along with colours
            self._shadow_copies = [self.own(self.ctx.framebuffer([self.own(self.ctx.texture(size, 1))], depth))
                                   for depth in (self._shadow_map, standing_map)]

    def _depth_map(self, size: tuple[int, int]) -> moderngl.Texture:
        made = self.own(self.ctx.depth_texture(size))
        made.compare_func = "<="
        made.filter = (moderngl.LINEAR, moderngl.LINEAR)
        return made

    def set_scene(self, model: Model, labels: Labels, as_collided: bool = False) -> None:
        """Take another scene.
        as_collided: draw hulls and convex parts instead of the meshes that collide as these."""
        self._model, self._as_collided = model, as_collided
        self._flat = np.flatnonzero(model.shapes.kind == ShapeKind.PLANE)
        self._plain = plain(model, labels)
        self._true_sizes = bool((model.shapes.bound > 0.0).all())
        self._bodies.set_scene(model, labels, as_collided)
        self._formed.set_scene(model, labels, np.array([form.body for form in labels.closed_forms], int))
        for ghosts in (self._rejected, self._fan):
            ghosts.forget()
        self._shapes = self._shadowed = None
        self._casting = self._still = self._painted = ()
        self._standing.forget()

    def know(self, snapshot: Snapshot, options: ViewOptions) -> None:
        """Take the snapshot's scene where its shapes are others; `draw` does so by itself."""
        known = self._model is not None and snapshot.model.shapes is self._model.shapes
        if not known or options.as_collided != self._as_collided:
            self.set_scene(snapshot.model, snapshot.labels, options.as_collided)

    @property
    def triangles(self) -> tuple[int, int]:
        """Of the meshes that are drawn simplified: how many triangles are drawn, of how many."""
        return self._bodies.triangles

    # --------------------------------------------------------------------------------------------- draw

    def draw(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, target: Any, ui_scale: float = 1.0,
             rect: Rect | None = None) -> None:
        """Draw the snapshot over the part `rect` of the framebuffer `target`, or all of it, but for bodies whose place
        is nan. `ui_scale`: pixels per unit of the glyphs' sizes."""
        self.know(snapshot, options)
        rect = rect or (0, 0, *target.size)
        if rect != self._targets.rect:
            self._targets.release()
            self._targets = _Targets(self.ctx, rect, self.quality)
            self._still = self._painted = ()
            self._standing.forget()
        look = theme(options.dark)
        _, at, boxes, lo, hi, light_matrix, texel = self._place_shapes(snapshot)
        view = backdrop.View(camera, rect[:2], rect[2:], look, options.grid, 0.5 * (lo + hi),
                             float(np.linalg.norm(hi - lo)), light_matrix, SUN)
        self._write_frame(camera, options, look, ui_scale, light_matrix, texel)
        self._place_ghosts(snapshot, options)
        if self._bodies.dim(snapshot.asleep):
            self._painted = ()
        other = self._looks_other(snapshot.model.shapes.bound, at, view, options)
        if other:
            self._draw_bodies(at, boxes, view, options)
            self._waiting.flush()
        glyphs = build(snapshot, options, camera, view.size, ui_scale)
        whole = target.viewport
        target.viewport = target.scissor = rect
        self._finish(target, other)
        for body in (options.selected, *options.also):
            if 0 <= body < len(snapshot.x):
                self._outline_body(body, boxes, view, target, ui_scale)
        self.labels = glyphs.labels
        self._glyphs.paint(glyphs, self._targets.depth, target, ui_scale)
        target.viewport, target.scissor = whole, None

    def _place_shapes(self, snapshot: Snapshot) -> _Shapes:
        """Of thousands of bodies this is most of a picture, so what shows the same instant takes it from the last."""
        of = snapshot.x.tobytes(), snapshot.q.tobytes()
        if self._shapes is None or self._shapes.of != of:
            at = instances.placed(snapshot.model, snapshot.x, snapshot.q)
            at = at._replace(place=np.nan_to_num(at.place, nan=AWAY))
            boxes = shape_boxes(snapshot.model, snapshot.x, snapshot.q)
            lo, hi = bounds_of(snapshot.model, *boxes)
            light = light_box(boxes, lo, hi, self.quality.shadow_size, self._plain)
            self._shapes = _Shapes(of, at, boxes, lo, hi, *light)
        return self._shapes

    def _place_ghosts(self, snapshot: Snapshot, options: ViewOptions) -> None:
        """Of closed forms, of a step that was cut and of the starts of a fan."""
        rejected = [] if options.rejected is None else [options.rejected]
        fan = of_fan(snapshot) if options.closed_forms else []
        for ghosts, there in ((self._rejected, rejected), (self._fan, fan)):
            if there and ghosts.copies != len(there):
                mobile = np.flatnonzero(movable(snapshot.model.kind))
                ghosts.set_scene(snapshot.model, snapshot.labels, mobile, len(there))
                self._painted = ()
            ghosts.place(*there)
        self._formed.place(*([by_closed_form(snapshot)] if options.closed_forms else []))

    def _looks_other(self, bound: Array, at: instances.Placement, view: backdrop.View, options: ViewOptions) -> bool:
        """Whether the picture kept from before would differ visibly: piles at rest are drawn once."""
        camera = view.camera
        numbers = np.concatenate([camera.eye, camera.backward, [camera.fov]]).tobytes()
        seen = numbers, view.look, view.grid, options.transparent, options.wireframe, options.shadows, options.flat
        at = _together(at, *(ghosts.at for ghosts in self._ghosts))
        bound = np.concatenate([bound, *(ghosts.bound for ghosts in self._ghosts)])
        if self._painted and self._painted[0] == seen:
            _, place, turn = self._painted
            radius = np.where(np.isfinite(bound), bound, 100.0 * camera.distance)
            # a turn by the angle a changes the quaternion by a / 2
            moved = np.linalg.norm(at.place - place, axis=1) + 2.0 * radius * np.linalg.norm(at.turn - turn, axis=1)
            away = np.linalg.norm(at.place - camera.eye, axis=1) - radius
            if (moved <= UNSEEN * camera.pixel_angle(view.size[1]) * np.maximum(away, camera.near)).all():
                return False
        self._painted = seen, at.place, at.turn
        return True

    def _draw_bodies(self, at: instances.Placement, boxes: Boxes, view: backdrop.View, options: ViewOptions) -> None:
        """Shadow map, floors and bodies, without glyphs."""
        eye = view.camera.eye
        self._bodies.place(at, (at.place - eye) @ view.camera.backward, options.transparent or options.wireframe)
        for ghosts in self._ghosts:
            ghosts.write(eye, view.camera.backward)
        if options.shadows and self._shadowed is not self._shapes:
            self._cast_shadows(at, view.light_matrix)
            self._shadowed = self._shapes
        flat = self._flat[at.place[self._flat, 2] < AWAY] if options.flat is None else self._flat[:0]
        planes = backdrop.planes(at.place[flat], at.turn[flat])
        if self.quality.software:
            inside, *edges = self._bodies.edges(at, eye)
            boxes = self._bodies.drawn_boxes(boxes, at)
            whole = [np.delete(side, inside, axis=0) for side in boxes]
            every = [np.vstack(some) for some in zip(whole, edges, *(g.boxes for g in self._ghosts), strict=True)]
            margin = SMOOTHED if self._true_sizes else MARGIN
            smoothed = covered_tiles((every[0], every[1]), view.camera, view.size, margin)
            self._smooth_corners = tile_corners(smoothed, view.size)
        self._paint(planes, view, options, at, boxes)

    def _write_frame(self, camera: Camera, options: ViewOptions, look: Theme, scale: float, light_matrix: Array,
                     texel: float) -> None:
        """The block Frame of shaders/lib/frame.glsl."""
        x, y, width, height = self._targets.rect
        style = 2.0 if options.wireframe else float(options.transparent)
        alpha = WIREFRAME_ALPHA if options.wireframe else TRANSPARENT_ALPHA
        halfway = SUN + camera.backward
        block = np.concatenate([
            camera.view_projection(width / height).T.ravel(), light_matrix.T.ravel(),
            camera.eye, [camera.near], -camera.backward, [camera.pixel_angle(height)],
            SUN, [look.sun], look.sky_light, [float(options.shadows)], look.ground_light,
            [texel * float(np.linalg.norm(light_matrix[2, :3]))],
            linear(np.array(look.zenith)), [alpha], linear(np.array(look.horizon)), [style],
            [width, height, scale, EDGE_STRENGTH], halfway / max(float(np.linalg.norm(halfway)), 1e-9), [0.0],
            [x, y, 0.0, 0.0],
        ])
        self._block = block.astype(np.float32).tobytes()
        self._frame.write(self._block)
        self._frame.bind_to_uniform_block(0)

    def _cast_shadows(self, at: instances.Placement, light_matrix: Array) -> None:
        """On slow machines those of what stands are kept in a map of their own as long as it and the light stay."""
        standing, target = self._bodies.standing, self._shadow_target
        self.ctx.enable_only(moderngl.DEPTH_TEST)
        if not self.quality.software or not len(standing):
            target.use()
            target.clear(depth=1.0)
            self._bodies.paint(body_painter.SHADOW)
            return
        here = light_matrix.tobytes(), at.place[standing].tobytes(), at.turn[standing].tobytes()
        if here != self._casting:
            self._standing_target.use()
            self._standing_target.clear(depth=1.0)
            self._bodies.paint(body_painter.SHADOW, which=body_painter.STANDING)
            self._casting = here
        self.ctx.copy_framebuffer(*self._shadow_copies)
        target.use()
        self._bodies.paint(body_painter.SHADOW, which=body_painter.MOVING)

    def _paint(self, planes: list[backdrop.FloorOrWall], view: backdrop.View, options: ViewOptions,
               at: instances.Placement, boxes: Boxes) -> None:
        """Sky, floors, bodies, and the planes that are not floors."""
        ctx, canvas = self.ctx, self._targets.canvas
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<="
        floors = [p for p in planes if backdrop.is_solid(p, view.camera.eye)]
        see_through = options.transparent or options.wireframe
        keep = self._paint_backdrop(floors, view, options.flat, see_through)
        # with floors nothing is lit ahead: they are darkened where they are in shadow, which must not be done twice
        may_be_lit = self.quality.software and not floors and not see_through and len(self._bodies.standing) > 0
        lit = may_be_lit and self._standing.stays((self._behind, self._block, self._bodies.stand))
        if lit:
            self._standing.choose(at, boxes, view.light_matrix, options.shadows)
            self._paint_lit()
        elif keep:
            ctx.copy_framebuffer(canvas, self._targets.kept)
        sky_later = not keep and options.flat is None and not see_through
        self._paint_bodies(floors, view, options, body_painter.CHOSEN if lit else body_painter.ALL, sky_later)
        walls = [p for p in planes if not backdrop.is_solid(p, view.camera.eye)]
        if walls:
            canvas.use()
            canvas.depth_mask = False
            ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
            ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
            self._backdrop.paint_see_through(walls, view)
            canvas.depth_mask = True

    def _paint_bodies(self, floors: list[backdrop.FloorOrWall], view: backdrop.View, options: ViewOptions,
                      which: str, sky_later: bool) -> None:
        """Shadows on the floors, then lit bodies, the sky where it is left to be painted, and ghosts over it all.
        which: of the bodies."""
        ctx, canvas = self.ctx, self._targets.canvas
        see_through = options.transparent or options.wireframe
        canvas.use()
        self._shadow_map.use(0)
        canvas.depth_mask = False
        if options.shadows:
            self._backdrop.paint_shadows(floors, view)
        canvas.depth_mask = not see_through
        if see_through:
            ctx.enable(moderngl.BLEND)
            ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
            self._bodies.paint(body_painter.SEE_THROUGH, both_sides=options.wireframe)
        else:
            self._bodies.paint(body_painter.OPAQUE, which=which)
        if sky_later:
            self._backdrop.paint_sky(view)
        canvas.depth_mask = False
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        for ghosts in self._ghosts:
            ghosts.paint()
        ctx.disable(moderngl.BLEND)
        canvas.depth_mask = True

    def _write_tiles(self, corners: Array) -> None:
        data = corners.astype(np.float32).tobytes()
        if len(data) > self._tiles.size:
            self._tiles.orphan(2 * len(data))
        self._tiles.write(data)

    def _paint_backdrop(self, floors: list[backdrop.FloorOrWall], view: backdrop.View,
                        flat: tuple[float, float, float] | None, see_through: bool) -> bool:
        """Sky and floors, or one colour; on slow machines, True, in a picture that is kept as long as nothing about
        them changes. While the camera turns they are not worth keeping: then the sky is left to be painted where no
        body is."""
        targets, camera = self._targets, view.camera
        numbers = [camera.eye, camera.backward, [camera.fov], *(part.ravel() for plane in floors for part in plane)]
        still = (np.concatenate(numbers).tobytes(), view.look, view.grid, flat)
        again, self._behind = still in (self._still, self._behind), still
        keep = self.quality.software and (again or see_through)
        if not keep or still != self._still:
            surface = targets.kept if keep else targets.canvas
            surface.use()
            surface.clear(*(flat or (0.0, 0.0, 0.0)), depth=1.0)
            if flat is None:
                self._backdrop.paint_floors(floors, view)
                if keep or see_through:
                    self._backdrop.paint_sky(view)
        if keep:
            self._still = still
        return keep

    def _paint_lit(self) -> None:
        """Backdrop and what stands, without the shadows of what moves."""
        targets = self._targets
        if self._standing.is_to_be_kept():
            self.ctx.copy_framebuffer(targets.lit, targets.kept)
            targets.lit.use()
            self._standing_map.use(0)
            self._bodies.paint(body_painter.OPAQUE, which=body_painter.STANDING)
        self.ctx.copy_framebuffer(targets.canvas, targets.lit)

    def _finish(self, target: moderngl.Framebuffer, other: bool) -> None:
        """Bring the picture to the target; smooth the edges on the tiles with bodies, where that is still to do.
        other: than before."""
        ctx, targets = self.ctx, self._targets
        if other:
            self._waiting.finish()
        if other and targets.canvas is not targets.single:
            ctx.copy_framebuffer(targets.single, targets.canvas)
        if other and targets.smooth is not targets.single:
            ctx.copy_framebuffer(targets.smooth, targets.single)
            ctx.disable(moderngl.DEPTH_TEST)
            targets.picture.use(0)
            targets.smooth.use()
            self._write_tiles(self._smooth_corners)
            self._smooth_array.render(vertices=len(self._smooth_corners))
            self._waiting.finish()
        target.use()  # its scissor holds for the copy
        ctx.copy_framebuffer(target, targets.smooth)

    def _outline_body(self, body: int, boxes: Boxes, view: backdrop.View, target: moderngl.Framebuffer, scale: float
                      ) -> None:
        assert self._model is not None
        ctx, targets = self.ctx, self._targets
        own = self._model.shapes.body == body
        outlined = covered_tiles((boxes[0][own], boxes[1][own]), view.camera, view.size, MARGIN)
        tiles = tile_corners(outlined, view.size)
        if not len(tiles):
            return
        ctx.disable(moderngl.DEPTH_TEST)
        targets.mask_target.use()
        targets.mask_target.clear()
        self._bodies.paint_mask(body)
        target.use()
        ctx.enable(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        targets.mask.use(0)
        self._outline["line_color"], self._outline["halo"] = view.look.selection, view.look.halo
        self._outline["width"] = OUTLINE * scale
        self._write_tiles(tiles)
        self._outline_array.render(vertices=len(tiles))
        ctx.disable(moderngl.BLEND)

    def release(self) -> None:
        """Give back everything made in the context."""
        for part in (self._bodies, *self._ghosts, self._backdrop, self._glyphs, self._targets):
            part.release()
        super().release()


def _together(*some: instances.Placement) -> instances.Placement:
    return instances.Placement(np.vstack([at.place for at in some]), np.vstack([at.turn for at in some]))


class _Targets(GlOwner):
    """Framebuffers that hold the picture where the target will."""

    def __init__(self, ctx: moderngl.Context, rect: Rect, quality: Quality) -> None:
        super().__init__(ctx)
        self.rect = rect
        x, y, width, height = rect
        if 0 in (width, height):
            return
        own, size, samples = self.own, (x + width, y + height), quality.samples
        self.picture, self.mask = own(ctx.texture(size, 4)), own(ctx.texture(size, 1))
        self.depth = own(ctx.depth_texture(size))
        self.depth.compare_func = ""
        self.depth.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self.mask.repeat_x = self.mask.repeat_y = False
        self.single = self._framebuffer([self.picture], self.depth)
        self.mask_target = self._framebuffer([self.mask])
        self.canvas = self.kept = self.lit = self.smooth = self.single
        if samples:
            color, depth = ctx.renderbuffer(size, 4, samples=samples), ctx.depth_renderbuffer(size, samples=samples)
            self.canvas = self._framebuffer([own(color)], own(depth))
        else:
            self.smooth = self._framebuffer([own(ctx.texture(size, 4))])
        if quality.software:
            self.kept, self.lit = (self._framebuffer([own(ctx.texture(size, 4))], own(ctx.depth_texture(size)))
                                   for _ in range(2))

    def _framebuffer(self, colors: list[Any], depth: Any = None) -> Any:
        made = self.own(self.ctx.framebuffer(colors, depth))
        made.viewport = self.rect  # no scissor: it makes copies three times dearer
        return made
