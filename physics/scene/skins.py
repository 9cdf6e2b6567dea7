"""Textures of meshes, for the view: the base colour images of glTF, on the triangles as the file has them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.limits import TEXTURE
from ..core.model import Array, IntArray, Skin

if TYPE_CHECKING:
    from PIL.Image import Image

DRAWN = 2048  # [pixels] longest side of a texture that is drawn; larger ones are made smaller
NEAR = 1e-6   # of the size of a mesh: farther apart two corners are not the same


class Skinned(NamedTuple):
    """Triangles with a texture, in units of the file."""

    vertices: Array      #: (v, 3)
    triangles: IntArray  #: (t, 3)
    skin: Skin

    def of(self, vertices: Array) -> "Skinned | None":
        """The triangles all of whose corners are among vertices (k, 3); None where there are none."""
        from scipy.spatial import KDTree

        away, _ = KDTree(vertices).query(self.vertices)
        mine = (away <= NEAR * np.ptp(vertices, axis=0).max())[self.triangles].all(axis=1)
        if not mine.any():
            return None
        return Skinned(self.vertices, self.triangles[mine], self.skin._replace(uv=self.skin.uv[mine]))


def textured_nodes(tree: dict[str, Any]) -> set[str]:
    """The names of the nodes of a glTF file of which some material has a base colour texture."""
    textured = {k for k, material in enumerate(tree.get("materials", []))
                if "baseColorTexture" in material.get("pbrMetallicRoughness", {})}
    meshes = {k for k, mesh in enumerate(tree.get("meshes", []))
              if any(part.get("material") in textured for part in mesh["primitives"])}
    return {node.get("name", str(k)) for k, node in enumerate(tree.get("nodes", [])) if node.get("mesh") in meshes}


class SkinReader:
    """Takes the textures of the meshes of one file, each image once."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.notes: list[str] = []  #: what is drawn otherwise than the file says
        self._images: dict[int, NDArray[np.uint8] | None] = {}

    def read(self, node: str, vertices: Array, triangles: IntArray, visual: Any) -> Skinned | None:
        """The texture of a node as trimesh read it. None where it has none that can be drawn, and a note says so."""
        image, uv = getattr(getattr(visual, "material", None), "baseColorTexture", None), getattr(visual, "uv", None)
        why = ""
        if image is None:
            why = "is missing or no picture"
        elif uv is None or len(uv) != len(vertices) or not np.isfinite(uv).all():
            why = "has no places on the mesh"
        elif (pixels := self._pixels(node, image)) is not None:
            uv = np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])  # trimesh counts v from below
            return Skinned(vertices, triangles, Skin(uv[triangles], pixels))
        if why:
            self.notes.append(f"{self.name}: the texture of {node} {why}; it is drawn in its colour.")
        return None

    def _pixels(self, node: str, image: "Image") -> NDArray[np.uint8] | None:
        if id(image) not in self._images:
            self._images[id(image)] = self._decoded(node, image)
        return self._images[id(image)]

    def _decoded(self, node: str, image: "Image") -> NDArray[np.uint8] | None:
        wide, high = image.size
        told = f"{self.name}: the texture of {node} "
        if wide * high > TEXTURE.most:
            self.notes.append(f"{told}has {wide} × {high} pixels; no more than {TEXTURE} are read, and it is drawn in "
                              "its colour.")
            return None
        try:
            image.draft("RGB", (DRAWN, DRAWN))
            small = image.convert("RGB")
            if max(small.size) > DRAWN:
                small.thumbnail((DRAWN, DRAWN))
        except (OSError, SyntaxError, ValueError):  # what Pillow raises for damaged pictures
            self.notes.append(f"{told}is damaged; it is drawn in its colour.")
            return None
        if max(wide, high) > DRAWN:
            self.notes.append(f"{told}has {wide} × {high} pixels and is drawn with {small.size[0]} × {small.size[1]}.")
        return np.array(small)
