"""The arrays that the parts of the event-driven method share: the state in hand, the current set, the search."""

import math
from collections.abc import Set

import numpy as np

from ...collision.exact.elements import Elements
from ...collision.exact.near import trees_of
from ...core.islands import nodes_of
from ...core.jit import kernel
from ...core.limits import EQUATIONS
from ...core.model import Array, IntArray, Model
from ...core.report import Settings
from ...core.state import LongArray, State, Tally, empty_state
from ...dynamics.constraints.limits import TURNS
from ...dynamics.forces import Loads, empty_loads
from ...dynamics.trees.rates import empty_joints
from ...laws.contact import turning_lengths
from .nearby import bounding_radii
from .rates import STEP, TIME, Instant, RateScratch, empty_rate_scratch
from .search import PieceSearch
from .sets import ContactSet, empty_set
from .tolerances import PUSHED, RESTS, SLOT, TOUCH

FIRST_ROOM = 16     # contacts that there is room for at first
OVERLAP = 1e-3      # overlap of the first state that is taken for touching, relative to the smallest body
SUNK = 1.01         # how much deeper than a pair that touches contacts may be that touch with it
REST = 1e-4         # approach speed below which there is no restitution, relative to g h
LEAST_REST = 10.0 * RESTS  # least value of that speed, also without gravity [m/s]
NONE: frozenset[int] = frozenset()  # of the pairs


def first_depth(model: Model) -> float:
    """Overlap of a first state that counts as touching [m]."""
    radius = bounding_radii(model)
    return OVERLAP * float(radius[radius > 0].min()) if (radius > 0).any() else TOUCH


class Workspace:
    """Memory with room for so many contacts. Where it has to grow `here`, `chosen` and `search` become other objects:
    whoever needs them asks for them anew."""

    here: Instant        #: the state in hand: its arrays are those of the State
    chosen: ContactSet   #: the current set
    search: PieceSearch
    tally: Array         #: of the State, see Tally
    ledger: Array        #: of the State
    depth: float         #: overlap that counts as touching [m]
    sink: float          #: depth that contacts beside the active ones may come to [m]
    rest_speed: float    #: approach speed below which there is no restitution [m/s]
    end: float           #: when the step ends [s]
    set_since: float     #: when the current set was made, or a time before the step [s]
    first_depth: float   #: overlap of a first state that counts as touching [m]

    def __init__(self, model: Model, surface: Elements, motor_modes: IntArray) -> None:
        """motor_modes (m,): what motors with a limit do, shared with whoever decides that."""
        self.model, self.surface, self._trees = model, surface, trees_of(surface)
        self.cure_gain = np.zeros(1)  #: α of Baumgarte's stabilisation [1/s]
        self._motor_modes, self._node = motor_modes, nodes_of(model)
        self._gravity = float(np.linalg.norm(model.gravity))
        self._rows = 3 if turning_lengths(model.materials).any() else 1  # of the set for a contact and what it bears
        joints = empty_joints(model.trees)
        self.here = Instant(model, surface, empty_loads(len(model.kind), len(joints.v)), np.zeros(2),
                            empty_state(len(model.kind)).bodies, joints, self._scratch(FIRST_ROOM))
        self._begin_set(FIRST_ROOM)
        self.set_since = -math.inf
        self.first_depth = first_depth(model)

    def _scratch(self, contacts: int) -> RateScratch:
        scratch = empty_rate_scratch(self.model, contacts)
        reactions = scratch.equations.reactions._replace(mode=self._motor_modes, cure=self.cure_gain)
        return scratch._replace(equations=scratch.equations._replace(reactions=reactions))

    def _begin_set(self, contacts: int) -> None:
        self.chosen = empty_set(contacts)
        self.search = PieceSearch(self.here, self._trees, self.chosen)

    @property
    def room(self) -> int:
        """How many contacts there is room for."""
        return len(self.chosen.pair)

    @property
    def in_set(self) -> int:
        """How many contacts are in the current set."""
        return int(self.chosen.count[0])

    @property
    def set_pairs(self) -> LongArray:
        """Their pairs; valid until the set changes."""
        return self.chosen.pair[: self.in_set]

    @property
    def t(self) -> float:
        """Time of the state in hand [s]."""
        return float(self.here.clock[TIME])

    @t.setter
    def t(self, t: float) -> None:
        self.here.clock[TIME] = t

    @property
    def h(self) -> float:
        """Length of the whole step [s]."""
        return float(self.here.clock[STEP])

    @property
    def left(self) -> float:
        """What is left of the step [s]."""
        return self.end - self.t

    def set_lasts(self, at: Instant) -> float:
        """How long the set has held up to an instant, within a step [s]."""
        return min(float(at.clock[TIME]) - self.set_since, self.h)

    def take_up(self, state: State, loads: Loads, settings: Settings) -> None:
        """Make this state the one in hand, with room for the set that its memory may hold."""
        here = self.here
        if here.bodies is not state.bodies or here.joints is not state.joints or here.loads is not loads:
            self.here = here._replace(bodies=state.bodies, joints=state.joints, loads=loads)
            self.search.begin_at(self.here)
        self.here.clock[TIME], self.here.clock[STEP] = state.t[0], settings.h
        self.end, self.set_since = self.t + settings.h, min(self.set_since, self.t)
        self.tally, self.ledger = state.tally, state.ledger
        self.depth, self.sink = TOUCH, 0.5 * TOUCH
        self.rest_speed = max(REST * self._gravity * settings.h, LEAST_REST)

    def need_room(self, contacts: int) -> None:
        """Make room for so many contacts where there is not enough; the set is kept."""
        if contacts > self.room:
            rows, columns = 3 * contacts, self.here.scratch.equations.T.shape[1]
            EQUATIONS.allow(2 * 8 * rows * (columns + rows))  # T and TᵀH⁻¹, M and the scratch that solves it
            chosen, room = self.chosen, contacts + contacts // 4 + 16
            self.here = self.here._replace(scratch=self._scratch(room))
            self._begin_set(room)
            for mine, theirs in zip(self.chosen, chosen, strict=True):
                mine[: len(theirs)] = theirs

    def with_scratch(self, at: Instant) -> Instant:
        """An instant of the same model, with the scratch there is now."""
        return at if at.scratch is self.here.scratch else at._replace(scratch=self.here.scratch)

    # ------------------------------------------------------------------------------------------ overlap
    def take_overlap_for_touching(self) -> None:
        """A first state may overlap by more than rounding."""
        self.depth = self.first_depth

    def take_for_touching(self, pair: int) -> None:
        """A pair whose gap has just vanished touches to the end of the step, even where drift that was projected out
        since has left it deeper than TOUCH."""
        overlap = -float(self.search.find_one(self.here, pair)[0].gap[0])
        if overlap <= PUSHED:
            self.depth = max(self.depth, SUNK * overlap)

    def let_in(self) -> None:
        """Contacts may come to overlap from now on to the end of the step: no forces keep all of them from it."""
        self.sink, self.depth = SLOT, 2.0 * SLOT

    @property
    def lets_in(self) -> bool:
        """Whether `let_in` was called in this step."""
        return self.sink == SLOT

    def forget_first_overlap(self) -> None:
        """The first state has its sets: from now on less overlap counts as touching."""
        self.depth = 2.0 * SLOT if self.lets_in else TOUCH

    # ------------------------------------------------------------------------------------------ pairs
    def touching(self, lost: Set[int] = NONE) -> tuple[LongArray, Array]:
        """Pairs that touch now but for those lost, one of each that coincide, and their ζ."""
        count = len(self.search.touching(self.here, self.depth)[0])
        pairs, zeta = self.search.one_of_each(self.here, count, np.array(sorted(lost), np.int64))
        pairs, zeta = pairs.copy(), zeta.copy()
        self.need_room(self._rows * len(pairs))
        return pairs, zeta

    def all_touching(self) -> LongArray:
        """All pairs that touch now, also those that coincide."""
        return self.search.touching(self.here, self.depth)[0].copy()

    def at_rest(self, lost: Set[int] = NONE) -> LongArray:
        """Of the pairs `touching`, those that neither approach nor separate."""
        pairs, zeta = self.touching(lost)
        return pairs[np.abs(zeta) <= RESTS]

    def nodes(self, pairs: LongArray) -> IntArray:
        """What moves at both sides of pairs (k, 2), see `islands_of`."""
        found = np.empty((len(pairs), 2), np.int32)
        find_nodes(self.model, self.surface, self._node, pairs, found)
        return found

    # ------------------------------------------------------------------------------------------ counts
    def count_solve(self) -> None:
        """A contact problem was solved."""
        self.tally[Tally.SOLVES] += 1


@kernel
def find_nodes(model, surface, node, pairs, nodes_out):
    """See `Workspace.nodes`: those of the bodies of two elements, or of the child of a limit's joint on both sides."""
    count = len(surface.kind)
    for k in range(len(pairs)):
        pair = pairs[k] % TURNS
        if pair < count * count:
            nodes_out[k, 0], nodes_out[k, 1] = node[surface.body[pair // count]], node[surface.body[pair % count]]
        else:
            nodes_out[k, 0] = node[model.joints.child[surface.limits.joint[pair - count * count]]]
            nodes_out[k, 1] = nodes_out[k, 0]
