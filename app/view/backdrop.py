"""Paints sky and planes. A floor goes to the horizon; walls, and floors seen from below, are see-through discs."""

from typing import NamedTuple

import moderngl
import numpy as np

from ...physics.core.model import Array
from .camera import Camera, matrices
from .programs import GlOwner, load, write_matrix
from .theme import Theme, display, linear

HAZE = 8.0           # camera distances to where the floor fades into the horizon
WALL_OPACITY = 0.16
GRAZING = 0.05       # sine of the sun's height over a floor below which it casts no shadows there
FAN = np.array([0, 0, 1, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, -1, 0, 0, 0, -1, 1, 0], np.float32)


class FloorOrWall(NamedTuple):
    place: Array  # (3,) a point of it [m]
    axes: Array   # (3, 3) columns: its x and y, and its normal


class View(NamedTuple):
    """What all planes are drawn with."""

    camera: Camera
    corner: tuple[int, int]  # of the picture in the framebuffer: its lower left [pixels]
    size: tuple[int, int]  # of the picture [pixels]
    look: Theme
    grid: bool
    middle: Array          # (3,) of the scene [m]
    extent: float          # of the scene [m]
    light_matrix: Array    # (4, 4) world -> shadow map
    sun: Array             # (3,) unit, towards the light


def planes(place: Array, turn: Array) -> list[FloorOrWall]:
    """Planes at (k, 3) turned by unit quaternions (k, 4)."""
    return [FloorOrWall(p, axes) for p, axes in zip(place, matrices(turn), strict=True)]


def is_solid(plane: FloorOrWall, eye: Array) -> bool:
    """A floor seen from above."""
    return bool(plane.axes[2, 2] > 0.5 and (eye - plane.place) @ plane.axes[:, 2] > 0.0)


class Backdrop(GlOwner):
    def __init__(self, ctx: moderngl.Context) -> None:
        super().__init__(ctx)
        self._plane = self.own(load(ctx, "plane.vert", "plane.frag"))
        self._shadow = self.own(load(ctx, "plane_shadow.vert", "plane_shadow.frag"))
        self._sky = self.own(load(ctx, "background.vert", "background.frag"))
        fan = self.own(ctx.buffer(FAN.tobytes()))
        screen = self.own(ctx.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32).tobytes()))
        self._corners = self.own(ctx.buffer(reserve=4 * 5 * 4, dynamic=True))
        self._plane_array = self.own(ctx.vertex_array(self._plane, [(fan, "2f", "in_corner")]))
        self._sky_array = self.own(ctx.vertex_array(self._sky, [(screen, "2f", "in_corner")]))
        self._shadow_array = self.own(ctx.vertex_array(
            self._shadow, [(self._corners, "3f 2f", "in_position", "in_shadow_at")]))

    def paint_floors(self, floors: list[FloorOrWall], view: View) -> None:
        """Floors seen from above, into an empty framebuffer with depth test."""
        for plane in floors:
            self._paint_plane(plane, view, solid=True)

    def paint_sky(self, view: View) -> None:
        """The sky where nothing else is."""
        write_matrix(self._sky, "unproject", unprojection(view))
        self._sky_array.render()

    def paint_shadows(self, floors: list[FloorOrWall], view: View) -> None:
        """Darken what the shadow map says on floors; the shadow map is texture 0. Before bodies are drawn."""
        self.ctx.enable(moderngl.BLEND)
        self.ctx.blend_func = moderngl.ZERO, moderngl.SRC_COLOR
        for plane in floors:
            if float(plane.axes[:, 2] @ view.sun) < GRAZING:
                continue
            self._shadow["darkness"] = tuple(darkness(plane, view))
            self._shadow["reach"] = HAZE * view.camera.distance
            self._corners.write(_footprint(plane, view.light_matrix).astype(np.float32))
            self._shadow_array.render(moderngl.TRIANGLE_STRIP)
        self.ctx.disable(moderngl.BLEND)

    def paint_see_through(self, walls: list[FloorOrWall], view: View) -> None:
        """Walls and floors from below, over everything else; blending must be on."""
        for plane in walls:
            self._paint_plane(plane, view, solid=False)

    def _paint_plane(self, plane: FloorOrWall, view: View, solid: bool) -> None:
        minor, strength, major = grid_cells(view.camera.distance)
        axes, look = plane.axes, view.look
        eye = axes.T @ (view.camera.eye - plane.place)
        # coordinates start at the grid corner nearest to the middle of the scene, which keeps them small and exact
        start = np.round((axes.T @ (view.middle - plane.place))[:2] / major) * major
        rays = axes.T @ unprojection(view)
        # p = eye - eye_z d / d_z, and the weight d_z / -eye_z is 1 / distance along the view
        to_plane = np.vstack([np.outer(eye[:2] - start, rays[2]) - eye[2] * rays[:2], rays[2]]) / -eye[2]
        ambient, sun = light_on(plane, view)
        lit = display(ambient + sun)
        program = self._plane
        write_matrix(program, "to_plane", to_plane)
        program["plane_origin"] = tuple(plane.place + axes[:, :2] @ eye[:2])
        write_matrix(program, "plane_axes", axes)
        program["lit_color"] = tuple(lit)
        program["grid_color"] = tuple(lit + (np.array(look.grid) - lit) * (0.6 if view.grid else 0.0))
        program["haze_color"] = look.horizon
        program["grid"] = (1.0 / minor, strength, 1.0 / major, HAZE * view.camera.distance)
        program["wall"] = (float(not solid), 1.0 if solid else WALL_OPACITY, max(view.extent, 1e-6))
        self._plane_array.render()


def light_on(plane: FloorOrWall, view: View) -> tuple[Array, Array]:
    """Linear colours (3,) of a plane by the light from the sky, and what the sun adds."""
    look, normal = view.look, plane.axes[:, 2]
    albedo = linear(np.array(look.ground))
    up = 0.5 + 0.5 * normal[2]
    ambient = up * np.array(look.sky_light) + (1.0 - up) * np.array(look.ground_light)
    return albedo * ambient, albedo * look.sun * max(float(normal @ view.sun), 0.0)


def darkness(plane: FloorOrWall, view: View) -> Array:
    """Ratio (3,) of the displayed colours of a plane in shadow and in the sun."""
    ambient, sun = light_on(plane, view)
    return display(ambient) / np.maximum(display(ambient + sun), 1e-6)


def grid_cells(distance: float) -> tuple[float, float, float]:
    """Minor cell [m], its strength 0..1 and major cell of the grid for a camera so far away: powers of ten that
    fade into each other."""
    level = np.log10(max(distance, 1e-6) / 10.0)
    below = np.floor(level)
    return float(10.0**below), float(1.0 - (level - below) ** 3), float(10.0 ** (below + 1.0))


def unprojection(view: View) -> Array:
    """Window (x, y, 1) -> direction from the eye with unit length along the view (3, 3)."""
    width, height = view.size
    slope = view.camera.pixel_angle(height)
    right, up, back = view.camera.axes
    corner = -back - (view.corner[0] + 0.5 * width) * slope * right - (view.corner[1] + 0.5 * height) * slope * up
    return np.column_stack([slope * right, slope * up, corner])


def _footprint(plane: FloorOrWall, light_matrix: Array) -> Array:
    """Corners (4, 5) of the part of a plane that the shadow map covers: world position, place in the map."""
    across = light_matrix[:2, :3] @ plane.axes[:, :2]
    offset = light_matrix[:2, :3] @ plane.place + light_matrix[:2, 3]
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    local = np.linalg.solve(across, (corners - offset).T).T
    return np.hstack([plane.place + local @ plane.axes[:, :2].T, corners])
