"""An orbiting camera, and the box of a scene that is worth looking at."""

import math
from dataclasses import dataclass, field

import numpy as np

from ...physics.core.model import Array, Model, ShapeKind, movable
from ...physics.shapes.table import FORMS, MODELLED, SWOLLEN

STEEPEST = 89.5     # [degrees] elevation, so that "up" stays up
ZOOM_STEP = 0.88    # a wheel step towards the cursor multiplies the distance by this
NEAR_SHARE = 0.01   # near plane / distance
KEPT = 0.92         # of the picture's half height and width, in which the action is kept
CALM = 0.6          # of them, in which a small thing moves without the camera
NARROW = 4.0 / 3.0  # a picture narrower than this, width / height, shows as much sideways as one of this shape
VERTICAL = 35.0     # [degrees] angle of view of a picture that is not narrow
SCENERY = 6.0       # a fixed body this many times larger than what moves is scenery, and not framed


@dataclass
class Camera:
    """Looks at `target` from `distance`; z is up. Angles in degrees; azimuth 0 looks along -x, 90 along -y."""

    target: Array = field(default_factory=lambda: np.array([0.0, 0.0, 0.5]))  # [m]
    distance: float = 6.0    # [m]
    azimuth: float = -60.0
    elevation: float = 22.0
    fov: float = VERTICAL    # vertical, see `suit`
    _goal: tuple[Array, float] | None = field(default=None, repr=False)
    _start: tuple[Array, float] | None = field(default=None, repr=False)
    _clock: float = field(default=0.0, repr=False)
    _duration: float = field(default=0.0, repr=False)

    # ------------------------------------------------------------------------------------------ geometry

    @property
    def backward(self) -> Array:
        """Unit vector from the target to the eye."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        return np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])

    @property
    def eye(self) -> Array:
        return self.target + self.distance * self.backward

    @property
    def near(self) -> float:
        return NEAR_SHARE * self.distance

    @property
    def axes(self) -> Array:
        """Rows: right, up, backward (3, 3), world frame."""
        a = math.radians(self.azimuth)
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        back = self.backward
        return np.array([right, np.cross(back, right), back])

    def view(self) -> Array:
        """World -> eye (4, 4); the eye looks along -z."""
        axes = self.axes
        matrix = np.eye(4)
        matrix[:3, :3] = axes
        matrix[:3, 3] = -axes @ self.eye
        return matrix

    def suit(self, aspect: float) -> None:
        """Take the angle of view for pictures of this width / height: a narrow one shows more above and below, so that
        what a scene's camera shows at its sides is not cut off."""
        self.fov = math.degrees(2.0 * math.atan(math.tan(0.5 * math.radians(VERTICAL)) * max(1.0, NARROW / aspect)))

    def projection(self, aspect: float) -> Array:
        """Eye -> clip (4, 4), with the far plane at infinity."""
        f = 1.0 / math.tan(0.5 * math.radians(self.fov))
        return np.array([
            [f / aspect, 0.0, 0.0, 0.0],
            [0.0, f, 0.0, 0.0],
            [0.0, 0.0, -1.0, -2.0 * self.near],
            [0.0, 0.0, -1.0, 0.0],
        ])

    def view_projection(self, aspect: float) -> Array:
        return self.projection(aspect) @ self.view()

    def pixel_angle(self, height: float) -> float:
        """Size [m] of a pixel at 1 m, for a picture `height` pixels high."""
        return 2.0 * math.tan(0.5 * math.radians(self.fov)) / height

    def ray(self, x: float, y: float, width: float, height: float) -> tuple[Array, Array]:
        """Origin and unit direction of the ray through the point (x, y) of the picture, y down from its top."""
        half = math.tan(0.5 * math.radians(self.fov))
        right, up, back = self.axes
        across = (2.0 * x - width) / height * half
        upward = (height - 2.0 * y) / height * half
        direction = across * right + upward * up - back
        return self.eye, direction / np.linalg.norm(direction)

    def project(self, points: Array, width: float, height: float) -> tuple[Array, Array]:
        """Where points (n, 3) are seen: (n, 2) picture coordinates, y down, and depth (n,) [m] along the view;
        points with depth <= 0 are behind the eye and their coordinates mean nothing."""
        local = (np.asarray(points, float).reshape(-1, 3) - self.eye) @ self.axes.T
        depth = -local[:, 2]
        scale = 0.5 * height / math.tan(0.5 * math.radians(self.fov)) / np.where(depth == 0.0, 1.0, depth)
        return np.column_stack([0.5 * width + local[:, 0] * scale, 0.5 * height - local[:, 1] * scale]), depth

    # ------------------------------------------------------------------------------------------ movement

    def orbit(self, dx: float, dy: float, about: Array | None = None) -> None:
        """Turn about the target, or a point (3,), by a drag of (dx, dy) picture heights, y down; one height is half a
        turn. The point stays where it is seen."""
        self.look_from(self.azimuth - 180.0 * dx, self.elevation + 180.0 * dy, about)

    def look_from(self, azimuth: float, elevation: float, about: Array | None = None) -> None:
        """Turn to a direction [degrees] about the target, or a point (3,), which stays where it is seen."""
        self._stop()
        seen = None if about is None else self.axes @ (self.target - about)
        self.azimuth = (azimuth + 180.0) % 360.0 - 180.0
        self.elevation = min(max(elevation, -STEEPEST), STEEPEST)
        if about is not None and seen is not None:
            self.target = about + seen @ self.axes

    def pan(self, dx: float, dy: float) -> None:
        """Shift by a drag of (dx, dy) picture heights, y down: what is at the target's depth stays under the cursor."""
        self._stop()
        right, up, _ = self.axes
        height = 2.0 * self.distance * math.tan(0.5 * math.radians(self.fov))  # [m] of the picture at the target
        self.target = self.target + height * (dy * up - dx * right)

    def zoom_to(self, origin: Array, direction: Array, steps: float, point: Array | None = None) -> None:
        """Come nearer by `steps` of the wheel (< 0: go away) so that `point` stays where it is seen; without one,
        the point of the ray at the target's depth. The whole camera shrinks towards the point."""
        self._stop()
        factor = ZOOM_STEP**steps
        factor = min(max(self.distance * factor, 1e-4), 1e5) / self.distance
        if point is None:
            depth = max(-float(direction @ self.backward), 1e-3)
            point = origin + direction * (self.distance / depth)
        self.target = point + (self.target - point) * factor
        self.distance *= factor

    def frame(self, lo: Array, hi: Array, aspect: float = 1.6, seconds: float = 0.0) -> None:
        """Show the box lo .. hi (3,) [m] whole, from the present direction; in `seconds` of `advance`, or at once."""
        self.suit(aspect)
        lo, hi = np.asarray(lo, float), np.asarray(hi, float)
        centre = 0.5 * (lo + hi)
        corners = lo + (hi - lo) * np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float)
        local = (corners - centre) @ self.axes.T
        slope = math.tan(0.5 * math.radians(self.fov)) * 0.84  # leaves a margin of 16 %
        needed = np.maximum(np.abs(local[:, 0]) / (slope * aspect), np.abs(local[:, 1]) / slope) + local[:, 2]
        distance = max(float(needed.max()), 1e-3)
        if seconds <= 0.0:
            self._stop()
            self.target, self.distance = centre, distance
        else:
            self._start, self._goal = (self.target.copy(), self.distance), (centre, distance)
            self._clock, self._duration = 0.0, seconds

    def hold(self, lo: Array, hi: Array, aspect: float) -> None:
        """Step back until the box lo .. hi (3,) [m] fits into the picture, and shift the camera across the view by as
        little as brings it into the calm middle, or into the picture where it is larger.

        With k the slope of an edge of sight and (x, z) a corner across and towards the eye, seen from the target, a
        shift s and a distance D show it where |x - s| <= k (D - z). So s is between max(x + k z) - k D and
        min(x - k z) + k D, and there is one where D >= (max(x + k z) - min(x - k z)) / 2k.
        """
        self.suit(aspect)
        corners = lo + (hi - lo) * np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float)
        local = (corners - self.target) @ self.axes.T
        half = math.tan(0.5 * math.radians(self.fov)) * np.array([aspect, 1.0])
        ends = [((local[:, :2] + k * local[:, 2:]).max(axis=0), (local[:, :2] - k * local[:, 2:]).min(axis=0), k)
                for k in (CALM * half, KEPT * half)]
        least, greatest, k = ends[1]
        distance, shift = max(self.distance, float(((least - greatest) / (2.0 * k)).max())), np.zeros(2)
        for least, greatest, k in ends:
            low, high = least - k * distance, greatest + k * distance
            shift = np.where(low > high, 0.5 * (low + high), np.minimum(np.maximum(shift, low), high))
        if distance > self.distance or shift.any():
            self._stop()
            self.target, self.distance = self.target + shift @ self.axes[:2], distance

    def advance(self, dt: float) -> bool:
        """Let dt seconds of a framing movement pass; True while it goes on."""
        if self._goal is None or self._start is None:
            return False
        self._clock += dt
        s = min(self._clock / self._duration, 1.0)
        s = s * s * (3.0 - 2.0 * s)
        self.target = self._start[0] + s * (self._goal[0] - self._start[0])
        self.distance = self._start[1] * (self._goal[1] / self._start[1]) ** s
        if self._clock >= self._duration:
            self._stop()
        return self._goal is not None

    def follow(self, point: Array) -> None:
        """Keep the target on a moving point."""
        self._stop()
        self.target = np.array(point, float)

    def _stop(self) -> None:
        self._goal = self._start = None


# ---------------------------------------------------------------------------------------------- scene bounds


AWAY = 1e12  # [m] along each axis: a place that no camera sees


def shape_boxes(model: Model, x: Array, q: Array) -> tuple[Array, Array]:
    """Axis-aligned boxes (s, 3), (s, 3) [m] around all shapes of bodies at x (n, 3), q (n, 4); planes give nan."""
    shapes = model.shapes
    rotation = matrices(q[shapes.body]) @ matrices(shapes.orientation)
    centre = x[shapes.body] + np.einsum("sij,sj->si", matrices(q[shapes.body]), shapes.position)
    half = np.einsum("sij,sj->si", np.abs(rotation), shapes.size)
    radius, length = shapes.size[:, :1], shapes.size[:, 1:2]
    axis = np.abs(rotation[:, :, 2])
    kind = shapes.kind[:, None]
    half = np.where(kind == ShapeKind.SPHERE, radius, half)
    half = np.where(kind == ShapeKind.CAPSULE, radius + length * axis, half)
    half = np.where(kind == ShapeKind.CYLINDER, length * axis + radius * np.sqrt(np.maximum(1.0 - axis**2, 0.0)), half)
    stretched = np.linalg.norm(rotation * shapes.size[:, None, :], axis=2)
    half = np.where(kind == ShapeKind.ELLIPSOID, stretched, half)
    half = np.where(kind == ShapeKind.PLANE, np.nan, half)
    for s in np.flatnonzero(np.isin(shapes.kind, (*MODELLED, ShapeKind.ROUNDED))):
        wall = FORMS[int(shapes.kind[s])].box(model, int(s))
        centre[s] += rotation[s] @ wall[:3]
        half[s] = np.abs(rotation[s]) @ wall[3:] + (shapes.size[s, 0] if shapes.kind[s] in SWOLLEN else 0.0)
    meshes = model.meshes
    for s in np.flatnonzero(shapes.kind == ShapeKind.MESH):
        root = meshes.node_start[shapes.data[s]]  # of height fields the middle is not at the origin
        centre[s] += rotation[s] @ (0.5 * (meshes.node_min[root] + meshes.node_max[root]))
        half[s] = np.abs(rotation[s]) @ (0.5 * (meshes.node_max[root] - meshes.node_min[root]))
    return centre - half, centre + half


def scene_bounds(model: Model, x: Array, q: Array, body: int = -1) -> tuple[Array, Array]:
    """The box lo, hi (3,) [m] to frame: one body, or all but planes and scenery much larger than what moves."""
    return bounds_of(model, *shape_boxes(model, x, q), body)


def action_bounds(model: Model, x: Array, q: Array) -> tuple[Array, Array] | None:
    """The box lo, hi (3,) [m] of all bodies that forces move, None where there is none."""
    lo, hi = shape_boxes(model, x, q)
    chosen = np.isfinite(lo).all(axis=1) & movable(model.kind[model.shapes.body])
    return (lo[chosen].min(axis=0), hi[chosen].max(axis=0)) if chosen.any() else None


def bounds_of(model: Model, lo: Array, hi: Array, body: int = -1) -> tuple[Array, Array]:
    """`scene_bounds` where the boxes lo, hi (s, 3) of all shapes are known."""
    chosen = np.isfinite(lo).all(axis=1)
    if body >= 0:
        chosen &= model.shapes.body == body
    else:
        moving = chosen & movable(model.kind[model.shapes.body])
        if moving.any():
            size = float((hi[moving].max(axis=0) - lo[moving].min(axis=0)).max())
            chosen &= moving | ((hi - lo).max(axis=1) <= SCENERY * size)
    if not chosen.any():
        return np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0])
    return lo[chosen].min(axis=0), hi[chosen].max(axis=0)


def matrices(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = np.asarray(q, float).reshape(-1, 4).T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ], axis=-1).reshape(-1, 3, 3)
