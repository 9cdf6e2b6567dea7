"""The shape, hull and mesh tables of a Model while they are being filled."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.model import Array, Hulls, IntArray, Meshes, ShapeKind, Shapes, Skin
from ..shapes import box, particle
from ..shapes import shapes as solid
from ..shapes.form import NO_MASS
from ..shapes.rounded import mass_properties as rounded_properties
from ..shapes.shapes import MassProperties
from ..shapes.table import FORMS
from .height_field import height_surface
from .hull import (
    FlatError,
    Polyhedron,
    convex_hull,
    corners_in_row,
    fan,
    hull_properties,
    moved_hull,
    volume_of_all,
)
from .kept_meshes import MeshFile, mesh_file
from .mesh import MeshSurface, Solid, StaticMesh, hull_notes, static_mesh
from .parts import NoParts
from .refusals import SceneError
from .schema import ShapeTable

FLAT_ENDED = (int(ShapeKind.CYLINDER), int(ShapeKind.CONE))
OFF_AXIS = 1e-6  # of the radius, up to which a centre of mass counts as on the axis
WHERE = tuple(ShapeTable.model_fields)  # fields of a shape that do not say what it is like
#: draw mesh of a convex part of a mesh but the first, with which the whole mesh is drawn: one triangle without area
ELSEWHERE = (np.zeros((1, 3)), np.zeros((1, 3), np.int32))


class _Draw(NamedTuple):
    """What the view draws of a shape, in its frame."""

    vertices: Array      #: (v, 3) [m]
    triangles: IntArray  #: (t, 3)
    skin: Skin | None = None


class _CentredHull(NamedTuple):
    """A hull as the tables keep it: about its centroid, which lies at `center` in the scene's shape frame."""

    hull: Polyhedron
    center: Array               #: (3,) [m]
    properties: MassProperties  #: at density 1, in the scene's shape frame
    draw: _Draw                 #: about the centroid
    rounding: float = 0.0       #: radius of the ball that is swept over it [m]


NO_MESH = _Draw(np.zeros((0, 3)), np.zeros((0, 3), np.int32))


class ShapeTables:
    """Takes shapes one by one, each given in the scene's axes of its body; `express` turns those of a body into the
    body frame once its centre of mass is known."""

    def __init__(self, folder: Path | None, materials: list[str]) -> None:
        self.folder = folder
        self.materials = {name: i for i, name in enumerate(materials)}
        self.notes: list[str] = []  #: what was assumed
        self.draw_meshes: list[tuple[Array, IntArray]] = []  #: per shape, see Labels
        self.skins: list[Skin | None] = []  #: likewise
        self.owners: list[tuple[str, str | None, str | None]] = []  #: per shape, as `make_groups` wants it
        self._rows: list[dict[str, Any]] = []
        self._hulls: list[_CentredHull] = []
        self._meshes: list[StaticMesh] = []
        self._hull_rows: dict[Any, int] = {}
        self._mesh_rows: dict[Any, int] = {}
        self._mesh_skins: dict[int, _Draw] = {}  # of rows whose files have textures
        self._part_rows: dict[Any, range] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self, body: int, shape: Any, position: Array, R: Array, material: str, dynamic: bool, at: str
    ) -> MassProperties:
        """Enter a shape of the scene file. Returns its mass properties in the shape's own frame, at density 1 where it
        is no particle."""
        if shape.type == "mesh":
            collide = shape.collide or ("hull" if dynamic else "surface")
            if collide == "surface" and dynamic:
                return self._add_moving_surface(body, shape, position, R, material, at)
            if collide == "surface":
                self._add_surface(body, shape, position, R, material, at)
                return NO_MASS
            if collide == "parts":
                return self._add_parts(body, shape, position, R, material, at)
        if shape.type == "height_field":
            self._add_heights(body, shape, position, R, material, at)
            return NO_MASS
        if shape.type in ("hull", "mesh", "prism") or getattr(shape, "rounding", 0.0) > 0.0:
            return self._add_hull(body, shape, position, R, material, at)
        if shape.type == "particle":
            self._enter(body, ShapeKind.SPHERE, position, R, particle.SIZE, 0.0, material, -1, NO_MESH)
            return particle.mass_properties(shape.mass)
        kind = ShapeKind[shape.type.upper()]
        measure = FORMS[kind].measure
        assert measure is not None
        size, bound, properties, exponents = measure(shape)
        self._enter(body, kind, position, R, size, bound, material, -1, NO_MESH)
        self._rows[-1]["exponents"] = exponents
        return properties

    def _add_surface(self, body: int, shape: Any, position: Array, R: Array, material: str, at: str) -> None:
        """Enter the triangles of a mesh file as scenery."""
        key = (shape.file, shape.part, shape.scale)
        if key not in self._mesh_rows:
            file = self._file(shape, at)
            with _named(at):
                self._meshes.append(file.scenery(shape.part, shape.scale))
            self._tell_what_touches_nothing(file.surface_of(shape.part), file.called(shape.part))
            row = self._mesh_rows[key] = len(self._meshes) - 1
            if (draw := self._skinned(file, shape, np.zeros(3))) is not None:
                self._mesh_skins[row] = draw
        self._enter_mesh(body, self._mesh_rows[key], position, R, material)

    def _add_moving_surface(self, body: int, shape: Any, position: Array, R: Array, material: str, at: str
                            ) -> MassProperties:
        """Enter the triangles of a mesh file as a body that moves, about its centre of mass."""
        key = ("moving", shape.file, shape.part, shape.scale, shape.thickness)
        file = self._file(shape, at)
        with _named(at):
            whole = file.solid(shape.part, shape.scale, shape.thickness)
        center = whole.properties.center
        if key not in self._mesh_rows:
            name = file.called(shape.part)
            self.notes += whole.notes
            if not whole.sealed and shape.thickness is None:
                self.notes.append(f"{name} is not closed: it touches others with the front of its triangles only.")
            with _named(at):
                self._meshes.append(static_mesh(whole.surface._replace(vertices=whole.surface.vertices - center), name))
            self._tell_what_touches_nothing(whole.surface, name)
            row = self._mesh_rows[key] = len(self._meshes) - 1
            if (draw := self._skinned(file, shape, center)) is not None:
                self._mesh_skins[row] = draw
        self._enter_mesh(body, self._mesh_rows[key], position + R @ center, R, material)
        return whole.properties

    def _tell_what_touches_nothing(self, surface: MeshSurface, name: str) -> None:
        """Of the surface that the last of the meshes was made of."""
        if lost := len(surface.triangles) - len(self._meshes[-1].triangles):
            self.notes.append(f"{name}: triangles without an area touch nothing: {lost} of {len(surface.triangles)}.")

    def _skinned(self, file: MeshFile, shape: Any, center: Array) -> "_Draw | None":
        """What is drawn of a file with a texture, about a centre (3,) [m]; None where it has none."""
        self.notes += [note for note in file.notes if note not in self.notes]  # of which there may be many shapes
        found = file.skinned(shape.part)
        if found is None:
            return None
        return _Draw(shape.scale * found.vertices - center, found.triangles.astype(np.int32), found.skin)

    def _add_heights(self, body: int, shape: Any, position: Array, R: Array, material: str, at: str) -> None:
        """Enter the triangles of a height field as scenery."""
        key = tuple((name, value) for name, value in shape if name not in WHERE)
        if key not in self._mesh_rows:
            surface, notes = height_surface(shape, self.folder, at)
            self.notes += notes
            self._meshes.append(static_mesh(surface, at))
            self._mesh_rows[key] = len(self._meshes) - 1
        self._enter_mesh(body, self._mesh_rows[key], position, R, material)

    def _enter_mesh(self, body: int, row: int, position: Array, R: Array, material: str) -> None:
        mesh = self._meshes[row]
        lo, hi = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        bound = float(np.linalg.norm(mesh.vertices, axis=1).max())
        draw = self._mesh_skins.get(row, _Draw(mesh.vertices, mesh.triangles))
        self._enter(body, ShapeKind.MESH, position, R, 0.5 * (hi - lo), bound, material, row, draw)

    def _add_hull(self, body: int, shape: Any, position: Array, R: Array, material: str, at: str) -> MassProperties:
        """Enter the convex hull of a file or of points, about its centroid. A file's triangles are kept for drawing."""
        key = tuple((name, value) for name, value in shape if name not in WHERE)
        if key not in self._hull_rows:
            self._hulls.append(self._hull(shape, at))
            self._hull_rows[key] = len(self._hulls) - 1
        return self._enter_hull(body, self._hull_rows[key], position, R, material)

    def _add_parts(self, body: int, shape: Any, position: Array, R: Array, material: str, at: str) -> MassProperties:
        """Enter the convex parts of a mesh, the first of which is drawn as all of it; its hull where there are none."""
        key = ("parts", shape.file, shape.part, shape.scale, shape.threshold, shape.thickness)
        file = self._file(shape, at)
        with _named(at):
            whole = file.solid(shape.part, shape.scale, shape.thickness)
        if key not in self._part_rows:
            name = file.called(shape.part)
            try:
                hulls = file.convex_parts(shape.part, shape.scale, shape.threshold, shape.thickness)
            except NoParts as error:
                self.notes.append(f"{name} cannot be taken apart: {error}.")
                return self._add_hull(body, shape, position, R, material, at)
            self.notes += (*whole.notes, parts_note(whole, hulls, name))
            first = len(self._hulls)
            for k, hull in enumerate(hulls):
                center = hull_properties(hull).center
                draw = _Draw(*ELSEWHERE)
                if k == 0:
                    own = _Draw(whole.surface.vertices - center, whole.surface.triangles)
                    draw = self._skinned(file, shape, center) or own
                self._hulls.append(_CentredHull(moved_hull(hull, -center), center, NO_MASS, draw))
            self._part_rows[key] = range(first, len(self._hulls))
        for row in self._part_rows[key]:
            self._enter_hull(body, row, position, R, material)
        return whole.properties

    def _enter_hull(self, body: int, row: int, position: Array, R: Array, material: str) -> MassProperties:
        whole = self._hulls[row]
        kind, size = ShapeKind.HULL, 0.5 * np.ptp(whole.hull.vertices, axis=0)
        if whole.rounding > 0.0:
            kind, size = ShapeKind.ROUNDED, np.array([whole.rounding, 0.0, 0.0])
        bound = float(np.linalg.norm(whole.hull.vertices, axis=1).max()) + whole.rounding
        self._enter(body, kind, position + R @ whole.center, R, size, bound, material, row, whole.draw)
        return whole.properties

    def _hull(self, shape: Any, at: str) -> "_CentredHull":
        points, rounding = core_of(shape)
        file = None
        if points is not None:
            try:
                hull = convex_hull(points)
            except FlatError as error:
                raise SceneError(f"{at}.points has no volume, for {error}; it must be solid.") from error
            properties, surface = hull_properties(hull), (hull.vertices, fan(hull))
        else:
            file = self._file(shape, at)
            with _named(at):
                whole = file.solid(shape.part, shape.scale, getattr(shape, "thickness", None))
            hull, properties, surface = whole.hull, whole.properties, whole.surface
            self.notes += (*whole.notes, *hull_notes(whole, file.called(shape.part)))
        center = hull_properties(hull).center
        draw = _Draw(np.ascontiguousarray(surface[0] - center), surface[1])
        if file is not None:
            draw = self._skinned(file, shape, center) or draw
        if rounding > 0.0:
            properties, draw = rounded_properties(hull.vertices, [list(loop) for loop in hull.loops], rounding), NO_MESH
        return _CentredHull(moved_hull(hull, -center), center, properties, draw, rounding)

    def _file(self, shape: Any, at: str) -> MeshFile:
        """The mesh file of a shape, with the part that the shape asks for."""
        assert self.folder is not None
        with _named(at):
            file = mesh_file(self.folder / shape.file)
            known = not isinstance(shape.part, str) or shape.part in file.pieces or shape.part in file.apart()
        if not known:
            names = ", ".join([*file.pieces, *file.apart()][:10])
            raise SceneError(f'{at}.part is "{shape.part}"; it must be a name that {file.name} has: {names}.')
        if isinstance(shape.part, int) and shape.part >= len(file.parts()):
            raise SceneError(f"{at}.part is {shape.part}; it must be less than {len(file.parts())}, the solids of "
                             f"{file.name}.")
        return file

    def _enter(
        self, body: int, kind: ShapeKind, position: Array, R: Array, size: Any, bound: float, material: str, data: int,
        draw: _Draw,
    ) -> None:
        self._rows.append({
            "body": body, "kind": int(kind), "position": position, "orientation": R, "size": size, "bound": bound,
            "material": self.materials[material], "data": data, "exponents": (1.0, 1.0),
        })
        self.draw_meshes.append(draw[:2])
        self.skins.append(draw.skin)

    def express(self, first: int, center: Array, axes: Array) -> None:
        """Express the shapes from row `first` on in the frame with this centre (3,) [m] and these axes (3, 3)."""
        for row in self._rows[first:]:
            row["position"] = axes.T @ (row["position"] - center)
            row["orientation"] = axes.T @ row["orientation"]

    def turn_corners(self, first: int) -> None:
        """Turn the round shapes from row `first` on about their axes, so that of the points which stand for the rim of
        a flat end one lies where the centre of mass is nearest to the rim: they hold it up to there."""
        for row in self._rows[first:]:
            x, y, _ = -row["orientation"].T @ row["position"]
            if row["kind"] in FLAT_ENDED and math.hypot(x, y) > OFF_AXIS * row["size"][0]:
                turn = np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, math.hypot(x, y)]]) / math.hypot(x, y)
                row["orientation"] = row["orientation"] @ turn

    def shapes(self) -> Shapes:
        """The rows so far as a table of the model."""
        rows = self._rows

        def ints(name: str) -> IntArray:
            return np.array([r[name] for r in rows], np.int32)

        def floats(values: list, *width: int) -> Array:
            return np.array(values, np.float64).reshape(-1, *width)

        return Shapes(
            body=ints("body"), kind=ints("kind"), position=floats([r["position"] for r in rows], 3),
            orientation=floats([solid.matrix_to_quat(r["orientation"]) for r in rows], 4),
            size=floats([r["size"] for r in rows], 3), bound=floats([r["bound"] for r in rows]),
            material=ints("material"), data=ints("data"), exponents=floats([r["exponents"] for r in rows], 2),
        )

    def hulls(self) -> Hulls:
        """All hulls joined: rows of the later ones count on from those of the earlier."""
        hulls = [h.hull for h in self._hulls]
        v = starts(len(h.vertices) for h in hulls)
        f = starts(len(h.loops) for h in hulls)
        loops = [corners_in_row(h.loops) for h in hulls]
        edges = joined([h.edges + np.array([v[k], v[k], f[k], f[k]]) for k, h in enumerate(hulls)], np.int32, 4)
        tail, head = np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]]
        order = np.lexsort((head, tail))
        return Hulls(
            vertex_start=v, vertices=joined([h.vertices for h in hulls], np.float64, 3),
            neighbour_start=starts(np.bincount(tail, minlength=int(v[-1]))), neighbours=head[order].astype(np.int32),
            face_start=f, face_normal=joined([h.normals for h in hulls], np.float64, 3),
            face_offset=joined([h.offsets for h in hulls], np.float64),
            loop_start=starts(joined([counts for _, counts in loops], np.int32)),
            face_loop=joined([row + v[k] for k, (row, _) in enumerate(loops)], np.int32),
            edge_start=starts(len(h.edges) for h in hulls), edges=edges,
        )

    def meshes(self) -> Meshes:
        """All static meshes joined."""
        meshes = self._meshes
        v = starts(len(m.vertices) for m in meshes)
        t = starts(len(m.triangles) for m in meshes)
        n = starts(len(m.child) for m in meshes)
        child = []
        for k, m in enumerate(meshes):
            leaf = m.child[:, 0] < 0
            moved = m.child + n[k]
            moved[leaf] = np.column_stack([m.child[leaf, 0] - t[k], m.child[leaf, 1]])
            child.append(moved)
        return Meshes(
            vertex_start=v, vertices=joined([m.vertices for m in meshes], np.float64, 3), triangle_start=t,
            triangles=joined([m.triangles + v[k] for k, m in enumerate(meshes)], np.int32, 3),
            triangle_normal=joined([m.triangle_normal for m in meshes], np.float64, 3),
            edge_convex=joined([m.edge_convex for m in meshes], np.int32, 3),
            edge_normal=joined([m.edge_normal for m in meshes], np.float64, 3, 3), node_start=n,
            node_min=joined([m.node_min for m in meshes], np.float64, 3),
            node_max=joined([m.node_max for m in meshes], np.float64, 3), child=joined(child, np.int32, 2),
            leaf_order=joined([m.leaf_order + t[k] for k, m in enumerate(meshes)], np.int32),
        )


def core_of(shape: Any) -> tuple[Array | None, float]:
    """The points (n, 3) [m] whose hull a shape of the scene file is, None where a file has them, and the radius of the
    ball that is swept over it. A box and a prism keep the size they are given."""
    rounding = float(getattr(shape, "rounding", 0.0))
    if shape.type == "box":
        return box.CORNERS * (0.5 * np.array(shape.size) - rounding), rounding
    if shape.type == "prism":
        angle = 2.0 * np.pi / shape.sides * np.arange(shape.sides)
        reach = shape.radius - rounding / math.cos(math.pi / shape.sides)  # the sides move in by the rounding
        ring = reach * np.column_stack([np.cos(angle), np.sin(angle)])
        half = 0.5 * shape.height - rounding
        return np.vstack([np.column_stack([ring, np.full(len(ring), z)]) for z in (-half, half)]), rounding
    return None if shape.file is not None else np.array(shape.points), rounding


def parts_note(whole: Solid, hulls: list[Polyhedron], name: str) -> str:
    """How many parts there are, and how much more than the mesh they hold."""
    held, own = volume_of_all(hulls), whole.properties.mass
    more = 100.0 * (held / own - 1.0)
    return (f"{name} collides as {len(hulls)} convex parts, which together hold {abs(more):.1f} % "
            f"{'more' if more >= 0.0 else 'less'} than it.")


def starts(counts: Iterable[int]) -> IntArray:
    """(k + 1,): the first row of each of k blocks of rows, then the end of the last. counts: rows of each block."""
    return np.concatenate([[0], np.cumsum(list(counts))]).astype(np.int32)


def joined(arrays: list[Any], kind: Any, *width: int) -> Any:
    """The rows (of shape `width`) of all arrays in one array of the type `kind`; no rows where there are no arrays."""
    return np.ascontiguousarray(np.concatenate([np.zeros((0, *width)), *arrays]).astype(kind))


@contextmanager
def _named(at: str) -> Iterator[None]:
    """Put the field of the scene file in front of what is wrong with its mesh."""
    try:
        yield
    except SceneError as error:
        raise SceneError(f"{at}.file: {error}") from error
