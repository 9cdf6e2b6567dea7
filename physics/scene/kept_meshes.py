"""Mesh files that were read lately: each is read, split into solids and given hulls once, however often it is used.
Solids that are copies of one another share what is found of the first."""

from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np

from ..core.limits import MESHES, SHELLS
from ..core.model import Array
from ..core.progress import at
from .hull import FlatError, Polyhedron, convex_hull, moved_hull
from .mesh import (
    MeshSurface,
    Solid,
    StaticMesh,
    connected_pieces,
    copies,
    is_closed,
    moved_solid,
    shell_count,
    solid,
    solids,
    static_mesh,
    wound_outwards,
)
from .mesh_files import IN_METRES, Piece, checked_size, read_surface
from .parts import NoParts, convex_parts
from .refusals import SceneError
from .shell import shell, thickened
from .skins import Skinned

Part = int | str | None
HOLLOW = 1.05  # a mesh is hollow where its hull holds so many times its volume: then it collides as convex parts
#: shares of opening a file that are done when its stages begin, as of 1.3 million triangles in STL
SPLITTING, HULLS = 0.48, 0.54


class MeshFile:
    """The surface of a mesh file, its solids, and what was made of them at the scales [m per unit of the file] and
    thicknesses [m] asked for. part: number of the solid, or the name of a piece; None = all of them as one. thickness:
    of the shell that the surface is; None = it is around a solid."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        at(f"Reading {self.name}", 0.0)
        self.in_metres = path.suffix.lower() in IN_METRES
        self.surface, self.pieces, self.notes = read_surface(path)
        self._parts: tuple[MeshSurface, ...] | None = None
        self._apart: dict[str, Piece] | None = None
        self._first: list[int] = []  # of each part the first one that it is a copy of
        self._first_piece: dict[str, str] = {}  # likewise of the pieces
        self._solids: dict[tuple[Part, float, float | None], Solid] = {}
        self._convex: dict[tuple[Part, float, float | None, float], list[Polyhedron]] = {}
        self._scenery: dict[tuple[Part, float], StaticMesh] = {}

    def parts(self) -> tuple[MeshSurface, ...]:
        """The separate solids of the file."""
        if self._parts is None:
            at(f"{self.name}: looking for separate solids", SPLITTING)
            self._parts = tuple(solids(self.surface))
            self._first = copies(self._parts)
        return self._parts

    def count_apart(self) -> int:
        """How many connected pieces `apart` has; 1 where there are too many to be split."""
        return len(self.apart()) if 1 < shell_count(self.surface) <= SHELLS.most else 1

    def apart(self) -> dict[str, Piece]:
        """The connected pieces, by the names that they go by in scene files. Raises SceneError where there are too
        many."""
        if self._apart is None:
            at(f"{self.name}: looking for connected pieces", SPLITTING)
            count = shell_count(self.surface)
            if count > SHELLS.most:
                raise SceneError(f"{self.name} has {count} shells; it must have no more than {SHELLS.most} to be split "
                                 "into pieces.")
            color = next((piece.color for piece in self.pieces.values()), None)
            found = connected_pieces(self.surface)
            self._apart = {f"piece {k}": Piece(surface, color) for k, surface in enumerate(found, 1)}
        return self._apart

    def piece(self, name: str) -> Piece:
        """The piece of a name, of the file or of `apart`. Raises KeyError."""
        return self._family(name)[name]

    def skinned(self, part: Part) -> Skinned | None:
        """The triangles of a part with their texture, in units of the file; None where it has none."""
        if isinstance(part, str) and part in self.pieces:
            return self.pieces[part].skinned
        whole = next(iter(self.pieces.values())).skinned if len(self.pieces) == 1 else None
        return whole.of(self.surface_of(part).vertices) if whole is not None else None

    def _family(self, name: str) -> dict[str, Piece]:
        return self.pieces if name in self.pieces else self.apart()

    def solid(self, part: Part, scale: float, thickness: float | None = None) -> Solid:
        """Mass properties and hull [m]. Raises SceneError where there are none."""
        key = part, scale, thickness
        if key not in self._solids:
            done = part / len(self.parts()) if isinstance(part, int) else 0.0
            at(f"{self.name}: hull and mass", HULLS + (1.0 - HULLS) * done)
            first, shift = self._copied(part)
            surface, name = self._scaled(part, scale)
            if first != part:
                whole = self.solid(first, scale, thickness)
                self._solids[key] = moved_solid(whole, scale * shift, self.called(first), name)
            else:
                self._solids[key] = solid(surface, name) if thickness is None else shell(surface, thickness, name)
        return self._solids[key]

    def convex_parts(self, part: Part, scale: float, threshold: float, thickness: float | None = None
                     ) -> list[Polyhedron]:
        """Hulls [m] that together are as hollow as the solid, see `parts`. Raises NoParts."""
        key = part, scale, thickness, threshold
        first, shift = self._copied(part)
        if first != part:
            return [moved_hull(hull, scale * shift)
                    for hull in self.convex_parts(first, scale, threshold, thickness)]
        if key not in self._convex:
            surface, name = self._scaled(part, 1.0)
            if thickness is not None:  # the walls have the same share of the size at every scale
                surface = thickened(surface, thickness / scale)
            elif is_closed(surface):
                surface, _ = wound_outwards(surface)
            hulls = []
            for vertices in convex_parts(surface, threshold, name):
                with suppress(FlatError):  # what is thinner than rounding holds nothing up
                    hulls.append(convex_hull(scale * vertices))
            if not hulls:
                raise NoParts("all parts are flat")
            self._convex[key] = hulls
        return self._convex[key]

    def scenery(self, part: Part, scale: float) -> StaticMesh:
        """The surface to collide with [m]. Raises SceneError where it has no area."""
        if (part, scale) not in self._scenery:
            at(f"{self.name}: edges and boxes", HULLS)
            self._scenery[part, scale] = static_mesh(*self._scaled(part, scale))
        return self._scenery[part, scale]

    def _copied(self, part: Part) -> tuple[Part, Array]:
        """The first part or piece that this one is a copy of, and how far from there it is moved (3,) [units of the
        file]."""
        if part is None:
            return None, np.zeros(3)
        if isinstance(part, int):
            self.parts()
            first: Part = self._first[part]
        else:
            if part not in self._first_piece:
                family = self._family(part)
                names = list(family)
                firsts = copies([piece.surface for piece in family.values()])
                self._first_piece |= {name: names[k] for name, k in zip(names, firsts, strict=True)}
            first = self._first_piece[part]
        return first, self.surface_of(part).vertices.mean(axis=0) - self.surface_of(first).vertices.mean(axis=0)

    def surface_of(self, part: Part) -> MeshSurface:
        """The surface of a part, in units of the file."""
        if part is None:
            return self.surface
        return self.piece(part).surface if isinstance(part, str) else self.parts()[part]

    def _scaled(self, part: Part, scale: float) -> tuple[MeshSurface, str]:
        """A surface in metres, and the name that it goes by in notes."""
        surface = self.surface_of(part)
        return surface._replace(vertices=scale * surface.vertices), self.called(part)

    def called(self, part: Part) -> str:
        """The name of a part in notes."""
        if isinstance(part, str):
            return f"{self.name} ({part})"
        return self.name if part is None or len(self.parts()) == 1 else f"{self.name} (part {part})"


_Key = tuple[Path, int, int]  # with the time of the last change [ns] and the size [bytes]
_kept: dict[_Key, MeshFile] = {}  # the one used last is the last
_lock = Lock()  # a file is opened beside the thread that runs the scene


def mesh_file(path: Path) -> MeshFile:
    """A mesh file as it is on the disk now. Raises SceneError in one sentence where it cannot be read or is no mesh."""
    key: _Key = path, *checked_size(path)
    with _lock:
        found = _kept.pop(key, None)
        if found is not None:
            _kept[key] = found
            return found
    found = MeshFile(path)
    with _lock:
        _kept[key] = found
        while len(_kept) > 1 and sum(len(file.surface.triangles) for file in _kept.values()) > MESHES.most:
            del _kept[next(iter(_kept))]
    return found

