"""From the poses of the bodies to their contacts: place the shapes, find the pairs, touch them."""

import numpy as np

from ..core.limits import CONTACT_POINTS, SHAPE_PAIRS
from ..core.model import Array, BodyKind, BoolArray, Model, movable, shape_count
from ..core.state import Bodies, ContactMemory, Contacts, LongArray, empty_contacts, empty_memory
from .broad_phase import EITHER, joined_bodies, list_pairs_of, new_sweep
from .convex import new_work
from .detection import Detection, find_contacts, find_on_ways
from .geometry import (
    BOWL,
    MESH,
    PATCH,
    PIPE,
    PLANE,
    Geometry,
    bound_shapes,
    elsewhere,
    new_geometry,
    place_shapes,
    with_own_hand,
)
from .hands import SHARES, Hand, Hands
from .impact_time import Ways, bound_paths, find_fast, list_ways, new_paths, roles_of_fast, stop_at, touch_times
from .kept_pairs import new_kept
from .kept_triangles import new_kept_triangles
from .known_features import new_notes
from .mesh_gap import new_soups
from .narrow_phase import (
    FAMILIES,
    FAMILY,
    NONE,
    RANK,
    RINGS,
    SURFACES,
    TRIANGLES,
    Found,
    sort_families,
)
from .nearby_pairs import Near, keep_near, touch_again, touch_listed
from .polytope import new_solids
from .surface import Outline, new_outline
from .triangles import find_triangles, new_sheets, new_stack
from .whole_bodies import new_whole

FAR = 1e9  # [m] a margin that holds everything
NOTHING_RESTED = empty_memory()  # of a step in which nothing did


def shape_gap(model: Model, bodies: Bodies, shape_a: int, shape_b: int) -> tuple[float, Array, Array]:
    """Gap [m], unit normal from a to b and midpoint (both in the world) of the nearest points of two shapes."""
    return Detector(model).gap(bodies, shape_a, shape_b)


def body_sizes(geom: Geometry, model: Model, outline: Outline) -> tuple[Array, Array]:
    """Thinnest half extent (inf for planes, hollows and meshes that stand) and reach from the centre of every body (n,)
    [m]."""
    shapes = model.shapes
    thickness, span = np.full(len(model.kind), np.inf), np.zeros(len(model.kind))
    for s, kind in enumerate(shapes.kind):
        if kind == MESH and movable(model.kind[shapes.body[s : s + 1]])[0]:
            thin = outline.deep[shapes.data[s]]
        elif kind in (PLANE, MESH):
            continue
        else:
            thin = np.inf if kind in (BOWL, PIPE) else geom.swell[s] + geom.box[s, 3:].min()
        thickness[shapes.body[s]] = min(thickness[shapes.body[s]], thin)
        reach = np.linalg.norm(shapes.position[s]) + geom.bound[s]
        span[shapes.body[s]] = max(span[shapes.body[s]], reach)
    return thickness, span


class Detector:
    """Collision detection for one model.

    It keeps scratch memory only: equal bodies give equal contacts, bit for bit, whatever was asked before. What it
    notes of pairs (see `known_features`) tells where to look first.
    """

    def __init__(self, model: Model, soft: bool = False) -> None:
        """soft: see `Geometry.soft`."""
        s = shape_count(model)
        self.model = model
        self.geometry = new_geometry(model, soft)
        self.solids, self.sheets = new_solids(model), new_sheets(model.meshes)
        hands = [Hand(self.geometry, new_work(self.solids), new_soups(model.meshes, self.sheets))
                 for _ in range(SHARES)]
        self._hands = [hands[0], *(hand._replace(geometry=with_own_hand(self.geometry)) for hand in hands[1:])]
        on_their_way = Hands(*(hand._replace(geometry=elsewhere(self.geometry)) for hand in hands))
        self.outline = new_outline(model)
        self.triangles = np.zeros((64, 2), np.int64)
        self.chosen = np.zeros((64, 2), np.int64)
        self.seen_pairs = np.zeros(1, np.int32)
        self.reach = np.zeros(s)
        self.stack = new_stack()
        self.rank = np.array(RANK, np.int32)[model.shapes.kind]
        self.shapes_of = np.bincount(model.shapes.body, minlength=len(model.kind)).astype(np.int32)
        self.roles = np.where(movable(model.kind), EITHER, 0).astype(np.int32)
        self.roles_of_ways = np.zeros_like(self.roles)
        self.joined = joined_bodies(model)
        self.family = np.array(FAMILY)
        if not len(self.outline.deep):
            self.family[self.family == SURFACES] = NONE
        self.planes = np.flatnonzero(model.shapes.kind == PLANE).astype(np.int32)
        self.contacts: Contacts = empty_contacts(0)
        thickness, self.span = body_sizes(self.geometry, model, self.outline)
        self.paths = new_paths(self.span, thickness)
        self.ways = Ways(on_their_way, elsewhere(self.geometry), self.solids, model.shapes, self.paths)
        self.begin = on_their_way.first.geometry  # of the paths
        self.pair_count = 0
        self._make_room_for_pairs(8 * s + 16)
        self._make_room_for_points(8 * s + 16)

    def _make_room_for_pairs(self, pairs: int) -> None:
        self.sweep = new_sweep(shape_count(self.model), pairs)
        self.whole = new_whole(self.geometry, self.model.shapes.body, len(self.model.kind), pairs)
        self.lists = np.zeros((FAMILIES, pairs), np.int64)
        self.counts = np.zeros(FAMILIES, np.int32)
        self.start = np.zeros(pairs + 2, np.int32)
        self.on_way, self.pair_of_way = np.zeros((pairs, 3), np.int64), np.zeros(pairs, np.int64)
        notes = new_notes(pairs)
        self.hands = Hands(*(hand._replace(work=hand.work._replace(notes=notes)) for hand in self._hands))
        self.close = new_kept_triangles(pairs, 64)
        self.kept = new_kept(self.geometry, self.model.shapes.body, self.model.kind == BodyKind.FIXED, pairs)
        self._detection: Detection | None = None

    def _make_room_for_points(self, points: int) -> None:
        CONTACT_POINTS.allow(points // 2)  # twice what is needed now is asked for
        self.found = Found(np.zeros((points, PATCH)), np.zeros(points, np.int32))
        self.link = np.zeros(points, np.int32)
        self.head = np.zeros(1 << points.bit_length(), np.int32)
        self.contacts = empty_contacts(points)
        self._detection = None

    @property
    def detection(self) -> Detection:
        """The arguments of `find_contacts`. The tuple is built anew only after one of its arrays has been replaced."""
        if self._detection is None:
            compound = np.array([self.shapes_of.max(initial=0) > 1], np.int32)
            near = Near(self.geometry, self.solids, self.hands.first.work, self.sheets, self.outline, self.rank,
                        self.shapes_of, compound, self.reach, self.sweep.pairs, self.seen_pairs, self.lists,
                        self.counts, self.chosen, self.close, self.start, self.stack, self.found, self.link, self.head,
                        np.zeros(4, np.int32), self.kept.note, self.hands)
            self._detection = Detection(near, self.sweep, self.kept, self.whole, self.roles, self.planes,
                                        self.joined, self.family, self.contacts)
            self._on_ways = self._detection._replace(near=near._replace(geometry=self.begin))
        return self._detection

    @property
    def on_ways(self) -> Detection:
        """The same of the shapes on their ways, for pairs of fast bodies."""
        assert self.detection
        return self._on_ways

    @property
    def near(self) -> Near:
        """The arguments of `touch_again`."""
        return self.detection.near

    def detect(self, bodies: Bodies, margin: Array) -> Contacts:
        """All contact points of bodies at these poses whose gap is within the margins of the two bodies.

        margin (n,) [m] per body. Rows are ordered by shape pair; shape_a < shape_b in every row. The contacts belong to
        the detector and are overwritten by the next call.
        """
        while find_contacts(self.model, self.detection, bodies.x, bodies.q, margin) < 0:
            self.make_what_is_needed()
        self.pair_count = int(self.seen_pairs[0])
        return self.contacts

    def make_what_is_needed(self) -> None:
        """Room for what there was none for."""
        points, chosen, pairs, triangles = self.near.needed.tolist()
        if pairs > len(self.sweep.found):
            SHAPE_PAIRS.allow(pairs)
            self._make_room_for_pairs(2 * pairs)
        if points > len(self.found.rows):
            self._make_room_for_points(2 * points)
        if chosen > len(self.chosen):
            SHAPE_PAIRS.allow(chosen)
            self.chosen, self._detection = np.zeros((2 * chosen, 2), np.int64), None
        if triangles > len(self.close.triangle):
            SHAPE_PAIRS.allow(triangles)
            self.close, self._detection = new_kept_triangles(len(self.close.pair), 2 * triangles), None

    def keep_near(self) -> None:
        """Remember the pairs that had contacts in the last `detect`: those are what `detect_again` looks at."""
        keep_near(self.geometry.kind, self.family, self.contacts, self.near)

    def detect_again(self, bodies: Bodies) -> Contacts:
        """As `detect` with the same margins, looking only at the pairs that were near when `keep_near` was called."""
        while touch_again(self.model, self.near, bodies.x, bodies.q, self.contacts) < 0:
            self.make_what_is_needed()
        return self.contacts

    def gap(self, bodies: Bodies, shape_a: int, shape_b: int) -> tuple[float, Array, Array]:
        """Gap [m], unit normal from a to b and midpoint of the nearest (or deepest) points of two shapes.

        inf and nan for a pair that has none: two planes, meshes that stand, or a shape behind all triangles of a mesh.
        """
        self.reach[:] = FAR
        place_shapes(self.model.shapes, bodies.x, bodies.q, self.geometry)
        bound_shapes(self.geometry, self.reach)
        self.sweep.pairs[0], self.seen_pairs[0] = (shape_a, shape_b), 1
        sort_families(self.geometry.kind, self.family, self.sweep.pairs, 1, self.lists, self.counts)
        while (total := touch_listed(self.model, self.near, self.contacts)) < 0:
            self.make_what_is_needed()
        if total == 0:
            return np.inf, np.full(3, np.nan), np.full(3, np.nan)
        k, found = int(np.argmin(self.contacts.gap[:total])), self.contacts
        return float(found.gap[k]), found.normal[k].copy(), found.point[k].copy()

    def time_of_impact(self, bodies: Bodies, memory: ContactMemory, h: float, meshes: bool = False) -> Array:
        """Part (n,) of a step h [s] that each body can move at its v and w before its first new contact.

        1 for bodies without a new contact within the step. A pair counts only if one of its bodies moves by more than
        half its thinnest half extent in the step: slower bodies cannot pass through each other. Shapes that touch or
        overlap at the start, and those that rested on each other in the last step, whose contacts the memory holds,
        are left to the contacts. meshes: only with contacts of two meshes.
        """
        shapes, paths = self.model.shapes, self.paths
        if find_fast(bodies, h, paths):
            chosen = self._on_the_way(bodies, h)
            if meshes:
                chosen = chosen[(shapes.kind[chosen[:, :2]] == MESH).all(axis=1)]
            stop_at(chosen, self._touch_times(chosen, bodies, memory, h), shapes.body, h, paths.fraction)
        return paths.fraction.copy()

    def missed(self, bodies: Bodies, h: float, ahead: BoolArray) -> BoolArray:
        """Which of the contacts found last that are `ahead` (c,) are between shapes that pass each other without
        touching, where bodies move on freely for h [s] from these poses, along the paths that `find_fast` has found."""
        rows, place, asked = np.flatnonzero(ahead), np.zeros(len(ahead), np.int64), np.zeros(len(self.reach), bool)
        asked[self.contacts.shape_a[rows]] = asked[self.contacts.shape_b[rows]] = True
        bound_paths(self.ways, np.flatnonzero(asked), bodies, h)
        count = list_pairs_of(self.begin, self.contacts, ahead, self.sweep.pairs, place)
        sort_families(self.model.shapes.kind, self.family, self.sweep.pairs, count, self.lists, self.counts)
        pair, chosen = self._chosen(bodies, h)
        passed = np.zeros(count + 1, bool)
        passed[pair] = True
        passed[pair[self._touch_times(chosen, bodies, NOTHING_RESTED, h) < h]] = False
        return passed[place]  # of those that are not asked for, the last row

    def _touch_times(self, chosen: LongArray, bodies: Bodies, memory: ContactMemory, h: float) -> Array:
        """When each of the chosen first touches on these ways [s], h where it does not within h."""
        times = np.full(len(chosen), np.nan)
        touch_times(self.ways, chosen, bodies, memory, h, times)
        return times

    def _on_the_way(self, bodies: Bodies, h: float) -> LongArray:
        """(shape, shape, triangle or -1) of all that may come near each other on the paths found last, where one of
        their bodies is fast."""
        bound_paths(self.ways, np.arange(len(self.reach)), bodies, h)
        roles_of_fast(self.roles, self.paths.fast, self.roles_of_ways)
        while find_on_ways(self.model, self.on_ways, self.roles_of_ways) < 0:
            self.make_what_is_needed()
        return self._chosen(bodies, h)[1]

    def _chosen(self, bodies: Bodies, h: float) -> tuple[LongArray, LongArray]:
        """The pair of each row, and rows (shape, shape, triangle or -1), of the pairs by family; triangles that may be
        reached within h [s]."""
        shapes, lists, counts = self.model.shapes, self.lists, self.counts
        rows = list_ways(shapes.kind, self.sweep.pairs, lists, counts, self.on_way, self.pair_of_way)
        chosen, pair = self.on_way[:rows], self.pair_of_way[:rows]
        if counts[TRIANGLES] + counts[RINGS] == 0:
            return pair, chosen
        rings = lists[RINGS, : counts[RINGS]]
        of_meshes = (shapes.kind[self.sweep.pairs[rings]] == MESH).any(axis=1)
        meshes = np.concatenate([lists[TRIANGLES, : counts[TRIANGLES]], rings[of_meshes]])
        if not len(meshes):
            return pair, chosen
        speed = np.linalg.norm(bodies.v, axis=1) + np.linalg.norm(bodies.w, axis=1) * self.span
        found = self._find_triangles(meshes, h * speed[shapes.body])
        reached = np.column_stack([self.sweep.pairs[found[:, 0]], found[:, 1]])
        return np.concatenate([pair, found[:, 0]]), np.vstack([chosen, reached])

    def _find_triangles(self, pairs: LongArray, reach: Array) -> LongArray:
        """(pair, triangle) rows of what may touch of these pairs of a shape and a mesh."""
        while True:
            total = find_triangles(self.begin, self.model.meshes, self.sweep.pairs, pairs, len(pairs), reach,
                                   self.rank, self.sheets, self.stack, self.triangles)
            if total <= len(self.triangles):
                return self.triangles[:total]
            SHAPE_PAIRS.allow(total)
            self.triangles = np.zeros((2 * total, 2), np.int64)
