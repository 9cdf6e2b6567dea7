"""Triangle surfaces: welding, closedness, winding, solids in one file, and the tables of static meshes.

Mass comes from the closed surface, or from its convex hull where it is open. What was assumed is told in notes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collision import bvh
from ..collision.exact.continuation import FLAT_EDGE
from ..core.interruption import look_up
from ..core.limits import SHELLS
from ..core.model import Array, IntArray
from ..shapes.shapes import MassProperties, polyhedron
from .crossing import crosses_itself
from .hull import FlatError, Polyhedron, Rows, convex_hull, hull_properties, lowest_first, moved_hull
from .refusals import SceneError
from .values import LONGEST, SHORTEST, in_words

Mask = NDArray[np.bool_]

WELD = 1e-8        # corners nearer than this share of the size are one vertex
SOUP = 1.0 / 3.0   # least share of edges between two triangles; with a smaller one the triangles are no surface
SINGLE = 2.0**-22  # by how much coordinates of two copies differ in single precision, relative to the largest there is
SAME = 1e-5        # share of its size by which a copy may differ from the first one, at most
BLOCK = 2**18      # triangles, or edges, that are looked at together: each takes 300 bytes meanwhile
SHARED = 1e-6      # least share of the volume that solids have in common where they are said to overlap


class MeshSurface(NamedTuple):
    vertices: Array      #: (v, 3) [m]
    triangles: IntArray  #: (t, 3)


class Solid(NamedTuple):
    """What a dynamic body gets from a surface."""

    surface: MeshSurface            #: wound outwards where it is closed
    hull: Polyhedron
    properties: MassProperties  #: at density 1
    filled: float                   #: its volume over that of its hull; 1 where it is not closed
    sealed: bool                    #: the surface of the file is closed
    notes: tuple[str, ...]


class StaticMesh(NamedTuple):
    """Rows of `Meshes` for one surface, counted from 0."""

    vertices: Array
    triangles: IntArray
    triangle_normal: Array
    edge_convex: IntArray
    edge_normal: Array
    node_min: Array
    node_max: Array
    child: IntArray
    leaf_order: IntArray


# ---------------------------------------------------------------------------------------------------- surfaces


def weld(vertices: Array, triangles: IntArray) -> MeshSurface:
    """The surface of vertices (v, 3) [m] and triangles (t, 3), with one vertex for all corners in the same place.

    Triangles with fewer than three different corners are dropped, and so are vertices without a triangle.
    """
    return _welded(vertices, triangles)[0]


def mended(vertices: Array, triangles: IntArray, name: str) -> tuple[MeshSurface, tuple[str, ...]]:
    """The welded surface with each triangle once, and what was changed for it, in notes that begin with `name`."""
    surface, moved = _welded(vertices, triangles)
    notes = []
    if moved:
        notes.append(f"{name}: corners nearer to each other than {in_words(WELD)} of its size are one; {moved} have "
                     "been moved for that.")
    if lost := len(triangles) - len(surface.triangles):
        notes.append(f"{name}: triangles with two corners in one place are left out: {lost} of {len(triangles)}.")
    once = _first_of_each(surface.triangles)
    if again := len(surface.triangles) - len(once):
        notes.append(f"{name}: triangles that are there before are left out: {again} of {len(triangles)}.")
        surface = surface._replace(triangles=surface.triangles[once])
    return surface, tuple(notes)


def _first_of_each(triangles: IntArray) -> Rows:
    """The triangles (k,) of which none before has the same corners in the same sense."""
    turned = lowest_first(triangles)
    key = turned @ np.array([2**42, 2**21, 1])  # two triangles hardly ever share one; where they do they are compared
    look_up()
    key.sort()
    if (key[1:] != key[:-1]).all():
        return np.arange(len(triangles))
    first, _ = _places(turned)
    return np.sort(first)


def _welded(vertices: Array, triangles: IntArray) -> tuple[MeshSurface, int]:
    """The surface of `weld`, and how many vertices lay beside the one that they became."""
    if len(triangles) == 0:
        return MeshSurface(np.zeros((0, 3)), np.zeros((0, 3), np.int32)), 0
    points, corners = _used(vertices, triangles)
    size = float(np.ptp(points, axis=0).max())
    grid = points - points.min(axis=0)
    grid /= max(WELD * size, 1e-300)
    first, place = _places(np.round(grid, out=grid))
    welded = place[corners]
    a, b, c = welded.T
    kept, beside = points[first], np.zeros(len(points), bool)
    for before, after in zip(points.T, kept.T, strict=True):  # one coordinate at a time: there may be millions
        beside |= before != after[place]
    moved = int(beside.sum())
    points, welded = _used(kept, welded[(a != b) & (b != c) & (c != a)])
    return MeshSurface(np.ascontiguousarray(points), welded.astype(np.int32)), moved


def _used(vertices: Array, triangles: Rows) -> tuple[Array, Rows]:
    """The vertices that triangles (t, 3) use, and the triangles with the numbers these then have."""
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    return vertices[used], (np.cumsum(used) - 1)[triangles]


def _places(grid: Array | Rows) -> tuple[Rows, Rows]:
    """The first of all rows of whole numbers (n, 3) that are equal, in the order of these rows; and for each row which
    of them it equals (n,)."""
    look_up()
    order = np.lexsort(grid.T[::-1])
    new = np.zeros(len(grid), bool)
    new[0] = True
    for column in grid.T:
        row = column[order]
        new[1:] |= row[1:] != row[:-1]
    place = np.empty(len(grid), np.int64)
    place[order] = np.cumsum(new) - 1
    return order[new], place


def solids(surface: MeshSurface) -> list[MeshSurface]:
    """The separate closed solids of a surface; the surface itself where it is open or in one piece.

    Shells whose boxes overlap (a cavity in its solid, parts put together) stay one solid.
    """
    if not is_closed(surface):
        return [surface]
    shell = _shells(surface)
    count = int(shell.max()) + 1
    if count == 1 or count > SHELLS.most:
        return [surface]
    lo, hi = _boxes(surface, shell, count)
    group = _pieces(count, *np.nonzero(_meeting(lo, hi)))
    names = group[shell]
    order = list(dict.fromkeys(names.tolist()))
    return [weld(surface.vertices, surface.triangles[names == g]) for g in order]


def shell_count(surface: MeshSurface) -> int:
    """How many connected pieces a surface has, cavities too."""
    return int(_shells(surface).max()) + 1


def connected_pieces(surface: MeshSurface) -> list[MeshSurface]:
    """The connected pieces of a surface, open ones too and solids that are in each other as the links of a chain, in
    the order of the file. A cavity is of the smallest solid whose box is around it."""
    shell = _shells(surface)
    count = int(shell.max()) + 1
    if count == 1:
        return [surface]
    sealed = ~np.isin(shell, shell[_at_a_rim(surface)])
    triangles = surface.triangles.copy()
    if sealed.any():
        triangles[sealed] = wound_outwards(MeshSurface(surface.vertices, triangles[sealed]))[0].triangles
    weights = np.where(sealed, _signed_volumes(surface.vertices, triangles), 0.0)
    volume: Array = np.bincount(shell, weights, count).astype(np.float64)
    whole = _solid_of_each(volume, *_boxes(surface, shell, count))[shell]
    return [weld(surface.vertices, triangles[whole == k]) for k in dict.fromkeys(whole.tolist())]


def _solid_of_each(volume: Array, lo: Array, hi: Array) -> Rows:
    """(k,): for each shell of signed volume (k,) and box (k, 3) the shell that it is of. A cavity, whose volume is
    negative, is of the smallest solid whose box is around it; others are of their own."""
    whole = np.arange(len(volume))
    for k in np.flatnonzero(volume < 0.0):
        around = np.flatnonzero((volume > 0.0) & (lo <= lo[k]).all(axis=1) & (hi >= hi[k]).all(axis=1))
        if len(around):
            whole[k] = around[np.argmin(volume[around])]
    return whole


def copies(surfaces: Sequence[MeshSurface]) -> list[int]:
    """Of each surface the first one that it is a copy of, moved and not turned; itself where there is none before it.
    Vertices may differ by the rounding of files, and their order does not matter, nor that of triangles."""
    from scipy.spatial import KDTree

    rounding = SINGLE * max(float(np.abs(surface.vertices).max()) for surface in surfaces)
    first: list[int] = []
    alike: dict[tuple[int, int], list[tuple[int, Array, KDTree]]] = {}  # of each size those that are no copies
    for k, (vertices, triangles) in enumerate(surfaces):
        center, extent = vertices.mean(axis=0), np.ptp(vertices, axis=0)
        slack = min(rounding, SAME * float(extent.max()))
        known = alike.setdefault((len(vertices), len(triangles)), [])
        for j, size, tree in known:
            if np.abs(extent - size).max() > slack:
                continue
            away, nearest = tree.query(vertices - center)
            place = np.asarray(nearest)
            if np.max(away) <= slack and np.array_equal(_in_order(place[triangles]), _in_order(surfaces[j].triangles)):
                first.append(j)
                break
        else:
            first.append(k)
            known.append((k, extent, KDTree(vertices - center)))
    return first


def _in_order(triangles: Rows) -> Rows:
    """Triangles in an order that depends on nothing but them, each beginning with its lowest vertex."""
    turned = lowest_first(triangles)
    return turned[np.lexsort(turned.T)]


def crowded(surface: MeshSurface, shell: Rows) -> bool:
    """Whether the boxes of two solid shells (t,) of a closed surface overlap, so that these may. Cavities are none."""
    count = int(shell.max()) + 1
    if count == 1:
        return False
    if count > SHELLS.most:
        return True
    volume = np.bincount(shell, weights=_signed_volumes(surface.vertices, surface.triangles), minlength=count)
    lo, hi = (ends[volume > 0.0] for ends in _boxes(surface, shell, count))
    return bool(_meeting(lo, hi).sum() > len(lo))


def union(surface: MeshSurface, shell: Rows) -> MeshSurface | None:
    """The surface around all that the shells (t,) of a closed surface, wound outwards, hold: what two solids share is
    held once. A cavity is one of the smallest solid whose box is around it. None where a shell crosses itself."""
    import manifold3d as manifold  # few scenes need it

    count = int(shell.max()) + 1
    weights = _signed_volumes(surface.vertices, surface.triangles)
    volume: Array = np.bincount(shell, weights, count).astype(np.float64)
    owner = _solid_of_each(volume, *_boxes(surface, shell, count))
    whole: dict[int, list[manifold.Manifold]] = {}  # of each solid: what is around it, then its cavities
    for k in sorted(range(count), key=lambda k: volume[k] < 0.0):
        points, triangles = _used(surface.vertices, surface.triangles[shell == k])
        outwards = triangles if volume[k] > 0.0 else triangles[:, ::-1]
        body = manifold.Manifold(manifold.Mesh64(points, outwards.astype(np.uint64)))
        if body.status() != manifold.Error.NoError:
            return None
        if volume[k] > 0.0 or owner[k] != k:
            whole.setdefault(int(owner[k]), []).append(body)
    bodies = [manifold.Manifold.batch_boolean(of, manifold.OpType.Subtract) for of in whole.values()]
    mesh = manifold.Manifold.batch_boolean(bodies, manifold.OpType.Add).to_mesh64()
    return MeshSurface(np.array(mesh.vert_properties[:, :3]), mesh.tri_verts.astype(np.int32))


def _meeting(lo: Array, hi: Array) -> Mask:
    """(k, k): which of the boxes with these least and greatest coordinates (k, 3) overlap; each overlaps itself."""
    slack = 1e-6 * (hi.max(axis=0) - lo.min(axis=0)).max()
    return (np.minimum(hi[:, None], hi[None]) - np.maximum(lo[:, None], lo[None]) > slack).all(axis=2)


def is_closed(surface: MeshSurface) -> bool:
    """Whether the surface has an inside: every edge borders two triangles, or is run as often one way as the other."""
    return len(surface.triangles) > 0 and not _at_a_rim(surface).any()


def _at_a_rim(surface: MeshSurface) -> Mask:
    """(t,): which triangles have an edge that borders neither two triangles nor is run as often one way as the other.
    """
    edge, forward = _edge_rows(surface.triangles)
    counts = np.bincount(edge)
    ways = np.bincount(edge, weights=np.where(forward, 1.0, -1.0))
    return ~((counts == 2) | (ways == 0.0))[edge].reshape(-1, 3).all(axis=1)


def wound_outwards(surface: MeshSurface) -> tuple[MeshSurface, int]:
    """A closed surface with its triangles counter-clockwise seen from outside, and how many had to be turned.

    Shells inside the box of another one keep their sense where it is consistent: they may be cavities.
    """
    triangles = surface.triangles.copy()
    turned = _inconsistent(surface)
    triangles[turned] = triangles[turned][:, ::-1]
    shell = _shells(surface)
    count = int(shell.max()) + 1
    lo, hi = _boxes(surface, shell, count)
    volume = np.bincount(shell, weights=_signed_volumes(surface.vertices, triangles), minlength=count)
    repaired = np.bincount(shell, weights=turned, minlength=count) > 0
    for k in range(count):
        around = (lo <= lo[k]).all(axis=1) & (hi >= hi[k]).all(axis=1) & (volume != 0.0)
        around[k] = False
        if volume[k] < 0.0 and (repaired[k] or not around.any()):
            members = shell == k
            triangles[members] = triangles[members][:, ::-1]
            if around.any() or count == 1:
                continue
            inner = np.flatnonzero((lo >= lo[k]).all(axis=1) & (hi <= hi[k]).all(axis=1) & (np.arange(count) != k))
            for i in inner[volume[inner] > 0.0]:  # the cavities of a solid that was inside out
                members = shell == i
                triangles[members] = triangles[members][:, ::-1]
    changed = int((triangles != surface.triangles).any(axis=1).sum())
    return MeshSurface(surface.vertices, triangles), changed


def wound_alike(surface: MeshSurface) -> MeshSurface:
    """The surface with neighbouring triangles seen from the same side, where it has two."""
    triangles = surface.triangles.copy()
    turned = _inconsistent(surface)
    triangles[turned] = triangles[turned][:, ::-1]
    return MeshSurface(surface.vertices, triangles)


def rim_edges(surface: MeshSurface) -> tuple[Rows, Rows]:
    """The first and the last vertices (k,) of all edges of one triangle alone, in its sense."""
    edge, _ = _edge_rows(surface.triangles)
    alone = np.flatnonzero((np.bincount(edge) == 1)[edge])
    return surface.triangles.reshape(-1)[alone], surface.triangles[:, [1, 2, 0]].reshape(-1)[alone]


def _edge_rows(triangles: IntArray) -> tuple[Rows, Mask]:
    """For the three edges of every triangle (3 t,): its number, and whether it runs from the lower vertex."""
    look_up()
    tail = triangles.reshape(-1).astype(np.int64)
    head = triangles[:, [1, 2, 0]].reshape(-1).astype(np.int64)
    forward = tail < head
    ends = np.minimum(tail, head)  # both in one number
    ends *= int(triangles.max(initial=0)) + 1
    ends += np.maximum(tail, head)
    del tail, head
    _, edge = np.unique(ends, return_inverse=True)
    return edge.reshape(-1), forward


def _neighbours(triangles: IntArray) -> Rows:
    """(t, 3): the half edge 3 t' + j' on the other side of edge j; -1 where there is none, or more than one."""
    edge, _ = _edge_rows(triangles)
    order = np.argsort(edge, kind="stable")
    counts = np.bincount(edge)
    first = np.cumsum(counts) - counts
    pairs = first[counts == 2]
    other = np.full(len(edge), -1)
    other[order[pairs]], other[order[pairs + 1]] = order[pairs + 1], order[pairs]
    return other.reshape(-1, 3)


def _pieces(count: int, start: Rows, end: Rows) -> Rows:
    """(count,): the number of the connected piece of a graph that each node belongs to; links go from start to end."""
    from scipy.sparse import coo_matrix  # slow to load, and most scenes have no mesh
    from scipy.sparse.csgraph import connected_components

    look_up()
    links = coo_matrix((np.ones(len(start)), (start, end)), shape=(count, count))
    return connected_components(links, directed=False)[1]


def _shells(surface: MeshSurface) -> Rows:
    """(t,): the number of the connected piece each triangle belongs to, in the order of the file."""
    t = surface.triangles
    n = len(surface.vertices)
    piece = _pieces(n, np.r_[t[:, 0], t[:, 1]], np.r_[t[:, 1], t[:, 2]])[t[:, 0]]
    _, first, inverse = np.unique(piece, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[inverse.reshape(-1)]


def _shells_by_edges(surface: MeshSurface, across: Rows) -> Rows:
    """(t,): as `_shells` of a closed surface, but shells that have no more than corners in common, or edges of four
    triangles, are two where each is closed by itself. across: the `_neighbours` of the triangles, wound in any way."""
    whole, t = _shells(surface), len(surface.triangles)
    here = np.flatnonzero(across.reshape(-1) >= 0)
    shell = _pieces(t, here // 3, across.reshape(-1)[here] // 3)
    if shell.max() == whole.max():
        return whole
    _, apart = np.unique(shell[:, None].astype(np.int64) * len(surface.vertices) + surface.triangles,
                         return_inverse=True)
    return shell if is_closed(surface._replace(triangles=apart.reshape(-1, 3).astype(np.int32))) else whole


def _boxes(surface: MeshSurface, shell: Rows, count: int) -> tuple[Array, Array]:
    """Least and greatest coordinates (k, 3) of every shell."""
    look_up()
    corners = surface.vertices[surface.triangles]
    lo, hi = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lo, shell, corners.min(axis=1))
    np.maximum.at(hi, shell, corners.max(axis=1))
    return lo, hi


def _signed_volumes(vertices: Array, triangles: IntArray) -> Array:
    a, b, c = (vertices[triangles[:, j]] - vertices.mean(axis=0) for j in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0


def _inconsistent(surface: MeshSurface) -> Mask:
    """(t,): the triangles to turn so that every edge runs both ways; none where the winding is consistent already.

    A graph has two nodes for each triangle: as it is, and turned. Links join nodes of neighbours that are consistent
    with each other. A piece of a two-sided surface then makes two components, and the one that turns fewer triangles is
    taken. A piece of a one-sided surface makes one component and is left as it is.
    """
    t = len(surface.triangles)
    edge, forward = _edge_rows(surface.triangles)
    none = np.zeros(t, bool)
    if (np.bincount(edge, weights=np.where(forward, 1.0, -1.0)) == 0.0).all():
        return none
    other = _neighbours(surface.triangles).reshape(-1)
    here = np.flatnonzero(other >= 0)
    a, b = here // 3, other[here] // 3
    same = forward[here] != forward[other[here]]
    ends = np.where(same, b, b + t), np.where(same, b + t, b)
    piece = _pieces(2 * t, np.r_[a, a + t], np.r_[ends[0], ends[1]])
    upright, turned = piece[:t], piece[t:]
    size = np.bincount(upright, minlength=int(piece.max()) + 1)  # triangles a piece leaves as they are
    other_half = (size[upright] < size[turned]) | ((size[upright] == size[turned]) & (upright > turned))
    return (upright != turned) & other_half


# ---------------------------------------------------------------------------------------------------- solids


def solid(surface: MeshSurface, name: str) -> Solid:
    """Mass properties and hull of a surface. `name` stands at the head of notes and errors.

    Raises SceneError where the triangles make no surface, or a flat one.
    """
    if len(surface.triangles) == 0:
        raise SceneError(f"{name} holds no triangles; it must hold a surface.")
    check_extent(surface, name)
    if len(surface.triangles) == 1:
        raise SceneError(f"{name} is one triangle, which has no volume; it must be solid, or a shell with a thickness.")
    across = _neighbours(surface.triangles)
    shared = float((across >= 0).mean())
    if shared < SOUP:
        raise SceneError(
            f"{name} is a soup of loose triangles ({100 * (1 - shared):.0f} % of their edges are free); "
            "a moving body must have a connected surface."
        )
    try:
        hull = convex_hull(surface.vertices)
    except FlatError as error:
        raise SceneError(f"{name} has no volume, for {error}; it must be solid.") from error
    notes: list[str] = []
    whole = hull_properties(hull)
    properties = whole
    sealed = is_closed(surface)
    if sealed:
        surface, turned = wound_outwards(surface)
        if turned:
            count = len(surface.triangles)
            notes.append(f"{name}: {turned} of {count} triangles were wound inwards and have been turned.")
        look_up()
        own = polyhedron(*surface)
        shell = _shells_by_edges(surface, across)
        if crosses_itself(*surface, shell):
            notes.append(f"{name} crosses itself: mass and inertia count twice what it holds twice, and take off what "
                         "it holds inside out.")
        if crowded(surface, shell):
            joined = union(surface, shell)
            if joined is None or not len(joined.triangles):
                notes.append(f"{name} holds solids whose boxes overlap: where they overlap themselves, mass counts "
                             "twice.")
            elif abs((once := polyhedron(*joined)).mass - own.mass) > SHARED * own.mass:
                share = 100.0 * (1.0 - once.mass / own.mass)
                notes.append(f"{name} holds solids that overlap: what they share, {share:.2g} % of them, counts once.")
                own = once
        if own.mass > 1e-6 * whole.mass:
            properties = own
        else:
            notes.append(f"{name} encloses no volume: mass and inertia are those of its convex hull.")
    else:
        notes.append(f"{name} is not closed: mass and inertia are those of its convex hull.")
    ratio = properties.mass * hull.shrunk / whole.mass
    return Solid(surface, hull, properties, 1.0 if properties is whole else ratio, sealed, tuple(notes))


def moved_solid(whole: Solid, shift: Array, was: str, name: str) -> Solid:
    """The solid moved by shift (3,) [m], and its name in notes. Raises SceneError where it is too far away then."""
    surface = whole.surface._replace(vertices=whole.surface.vertices + shift)
    check_extent(surface, name)
    properties = whole.properties._replace(center=whole.properties.center + shift)
    notes = tuple(name + note.removeprefix(was) for note in whole.notes)
    return Solid(surface, moved_hull(whole.hull, shift), properties, whole.filled, whole.sealed, notes)


def hull_notes(whole: Solid, name: str) -> list[str]:
    """What it means for a solid to collide as its hull."""
    notes = []
    if whole.filled < 0.995:
        notes.append(f"{name} is not convex: it collides as its convex hull, of which it fills "
                     f"{100 * whole.filled:.0f} %.")
    if whole.hull.shrunk < 1.0:
        notes.append(
            f"{name}: its hull is simplified to {len(whole.hull.vertices)} vertices for collision "
            f"({100 * whole.hull.shrunk:.1f} % of the exact hull's volume)."
        )
    return notes


def check_extent(surface: MeshSurface, name: str) -> None:
    """Raise SceneError for a surface [m] that is too small or too large, or too far from its origin."""
    extent = float(np.ptp(surface.vertices, axis=0).max(initial=0.0))
    if not SHORTEST <= extent <= LONGEST or np.abs(surface.vertices).max() > LONGEST:
        raise SceneError(f"{name} is {extent:.3g} m long; it must be from {in_words(SHORTEST)} to {in_words(LONGEST)} "
                         'm, with the "scale" of its shape, and no farther from its origin.')


# ---------------------------------------------------------------------------------------------------- static meshes


def static_mesh(surface: MeshSurface, name: str) -> StaticMesh:
    """The surface as collision scenery. Raises SceneError where no triangle has an area."""
    check_extent(surface, name)
    wide, normal = _normals(surface)
    if not wide.any():
        raise SceneError(f"{name} holds no triangles with an area; it must hold a surface.")
    surface = weld(surface.vertices, surface.triangles[wide])
    convex, across = _edge_types(surface, normal)
    look_up()
    node_min, node_max, child, leaf_order = bvh.build(surface.vertices, surface.triangles)
    look_up()
    return StaticMesh(*surface, normal, convex, across, node_min, node_max, child, leaf_order)


def _normals(surface: MeshSurface) -> tuple[Mask, Array]:
    """Which triangles (t,) have an area, and the unit normals (w, 3) of these."""
    wide, normals = np.zeros(len(surface.triangles), bool), []
    for first in range(0, len(wide), BLOCK):
        look_up()
        block = slice(first, first + BLOCK)
        a, b, c = (surface.vertices[surface.triangles[block, j]] for j in range(3))
        normal = np.cross(b - a, c - a)
        length = np.linalg.norm(normal, axis=1)
        longest = np.maximum.reduce([np.linalg.norm(p, axis=1) for p in (b - a, c - b, a - c)])
        wide[block] = here = length > 1e-10 * longest**2
        normals.append(normal[here] / length[here, None])
    return wide, np.concatenate(normals)


def _edge_types(surface: MeshSurface, normal: Array) -> tuple[IntArray, Array]:
    """`Meshes.edge_convex` (t, 3) and `Meshes.edge_normal` (t, 3, 3)."""
    vertices, triangles = surface
    other = _neighbours(triangles)
    convex = np.ones((len(triangles), 3), np.int32)
    across = np.repeat(normal[:, None, :], 3, axis=1)
    shared = np.flatnonzero(other >= 0)
    for first in range(0, len(shared), BLOCK):
        look_up()
        t, j = np.divmod(shared[first : first + BLOCK], 3)
        t_other, j_other = np.divmod(other[t, j], 3)
        away = vertices[triangles[t_other, (j_other + 2) % 3]] - vertices[triangles[t, j]]
        edge = vertices[triangles[t, (j + 1) % 3]] - vertices[triangles[t, j]]
        reach = np.linalg.norm(np.cross(edge, away), axis=1) / np.linalg.norm(edge, axis=1)  # from the edge
        sine = np.einsum("ij,ij->i", away, normal[t]) / reach
        convex[t, j] = np.where(sine > FLAT_EDGE, -1, np.where(sine < -FLAT_EDGE, 1, 0))
        across[t, j] = normal[t_other]
    return convex, np.ascontiguousarray(across)
