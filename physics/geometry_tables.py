"""The shape, hull and mesh tables of a Model while they are being filled."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from contactlab.physics import shapes as solid
from contactlab.physics.checks import SceneError
from contactlab.physics.model import Array, Hulls, IntArray, Meshes, ShapeKind, Shapes
from contactlab.physics.shapes import MassProperties

NO_MESH = (np.zeros((0, 3)), np.zeros((0, 3), np.int32))


class ShapeTables:
    """Takes shapes one by one, each given in the scene's axes of its body; `express` turns those of a body into the
    body frame once its centre of mass is known."""

    def __init__(self, folder: Path | None, materials: list[str]) -> None:
        self.folder = folder
        self.materials = {name: i for i, name in enumerate(materials)}
        self.notes: list[str] = []  #: what was assumed
        self.draw_meshes: list[tuple[Array, IntArray]] = []  #: per shape, see Labels
        self._rows: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self, body: int, shape: Any, position: Array, R: Array, material: str, dynamic: bool, at: str
    ) -> MassProperties:
        """Enter a shape of the scene file; its mass properties at density 1 in the shape's own frame."""
        match shape.type:
            case "sphere":
                kind, size, bound = ShapeKind.SPHERE, (shape.radius, 0.0, 0.0), shape.radius
                properties = solid.sphere(shape.radius)
            case "box":
                half = 0.5 * np.array(shape.size)
                kind, size, bound = ShapeKind.BOX, tuple(half), math.hypot(*half)
                properties = solid.box(shape.size)
            case "capsule":
                half = 0.5 * shape.height
                kind, size, bound = ShapeKind.CAPSULE, (shape.radius, half, 0.0), shape.radius + half
                properties = solid.capsule(shape.radius, shape.height)
            case "cylinder":
                half = 0.5 * shape.height
                kind, size, bound = ShapeKind.CYLINDER, (shape.radius, half, 0.0), math.hypot(shape.radius, half)
                properties = solid.cylinder(shape.radius, shape.height)
            case "plane":
                kind, size, bound = ShapeKind.PLANE, (0.0, 0.0, 0.0), math.inf
                properties = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
            case _:
                raise SceneError(f"{at}.type is not offered yet.")
        self._enter(body, kind, position, R, size, bound, material, -1, NO_MESH)
        return properties

    def _enter(
        self, body: int, kind: ShapeKind, position: Array, R: Array, size: Any, bound: float, material: str, data: int,
        draw: tuple[Array, IntArray],
    ) -> None:
        self._rows.append({
            "body": body, "kind": int(kind), "position": position, "orientation": R, "size": size, "bound": bound,
            "material": self.materials[material], "data": data,
        })
        self.draw_meshes.append(draw)

    def express(self, first: int, center: Array, axes: Array) -> None:
        """Put the shapes from `first` on into the frame with this centre (3,) and these axes (3, 3)."""
        for row in self._rows[first:]:
            row["position"] = axes.T @ (row["position"] - center)
            row["orientation"] = axes.T @ row["orientation"]

    def shapes(self) -> Shapes:
        rows = self._rows

        def ints(name: str) -> IntArray:
            return np.array([r[name] for r in rows], np.int32)

        def floats(values: list, *width: int) -> Array:
            return np.array(values, np.float64).reshape(-1, *width)

        return Shapes(
            body=ints("body"), kind=ints("kind"), position=floats([r["position"] for r in rows], 3),
            orientation=floats([solid.matrix_to_quat(r["orientation"]) for r in rows], 4),
            size=floats([r["size"] for r in rows], 3), bound=floats([r["bound"] for r in rows]),
            material=ints("material"), data=ints("data"),
        )

    def hulls(self) -> Hulls:
        def none() -> IntArray:
            return np.zeros(0, np.int32)

        def start() -> IntArray:
            return np.zeros(1, np.int32)

        return Hulls(
            vertex_start=start(), vertices=np.zeros((0, 3)), neighbour_start=start(), neighbours=none(),
            face_start=start(), face_normal=np.zeros((0, 3)), face_offset=np.zeros(0), loop_start=start(),
            face_loop=none(), edge_start=start(), edges=np.zeros((0, 4), np.int32),
        )

    def meshes(self) -> Meshes:
        def start() -> IntArray:
            return np.zeros(1, np.int32)

        def rows(*width: int) -> IntArray:
            return np.zeros((0, *width), np.int32)

        return Meshes(
            vertex_start=start(), vertices=np.zeros((0, 3)), triangle_start=start(), triangles=rows(3),
            triangle_normal=np.zeros((0, 3)), edge_convex=rows(3), edge_normal=np.zeros((0, 3, 3)), node_start=start(),
            node_min=np.zeros((0, 3)), node_max=np.zeros((0, 3)), child=rows(2), leaf_order=rows(),
        )
