"""What a step of `compliant` works on beside its integrator: one tuple of arrays for the programs of `march`."""

from typing import NamedTuple

import numpy as np

from ...books.events import Changes, EventFinder
from ...collision.detection import Detection
from ...core.model import Array, IntArray, Model, body_count
from ...core.state import LongArray
from ...dynamics.constraints.cure import Keeper
from ...dynamics.constraints.limit_springs import Stops, stops_of
from .books import SoftBooks, soft_books
from .contacts import SoftContacts
from .rates import SoftSystem
from .rows import PairTables

#: SoftStep.told: energy before the step [J]; energy in the stops of joints then, in surfaces and stops then and now,
#: what the surfaces had taken then [J]; when it began [s]; the deepest dent [m]; by how much joints have come apart,
#: whether that is a length; the longest stable step [s]; |g| [m/s2]
BEFORE, IN_STOPS, HELD_BEFORE, HELD, TAKEN, START, DEEPEST, APART, LENGTH, STABLE, GRAVITY = range(11)

#: SoftStep.order: cure of joints, a row of CURES; substeps asked for, 0 = as many as needed; 1 where springs of joints
#: bound a step; where Python makes it; place of the table of `stability` that is missing; substeps, and those made;
#: what may still be done in one call, see `explicit.AT_ONCE`; 1 in the first step; pairs of shapes; events found, and
#: contacts that began or ceased to slip; 1 where an explicit step is too stiff. Of `march`: steps made, 1 where the
#: last one is not finite
(CURE, ASKED, SPRUNG, OTHERWISE, MISSING, SUBSTEPS, MADE_SUBSTEPS, LEFT, FIRST, PAIRS, EVENTS, SLIPS, STIFF, MADE,
 SPOILT) = range(15)


class SoftStep(NamedTuple):
    """The arrays of a step."""

    order: LongArray      #: (15,) see CURE …
    told: Array           #: (11,) see BEFORE …
    span: Array           #: (n,) of bounded shapes about the centre of mass [m]
    margin: Array         #: (n,) see `time_stepping.stages.reach`
    before: Array         #: (2, n, 3) v and ω at the beginning
    detection: Detection
    soft: SoftSystem
    source: IntArray      #: (c,) see SoftContacts.source
    tables: PairTables
    approach: Array       #: (c,) speed at which each contact first touched, see `settle.report` [m/s]
    parting: Array        #: (c,)
    fired: IntArray       #: (c,) 0: no impulse of restitution
    changes: Changes
    stops: Stops
    keeper: Keeper
    books: SoftBooks


class SoftWorkspace:
    """Makes the SoftStep of a model, anew where one of its arrays was replaced: scratch memory."""

    def __init__(self, model: Model, keeper: Keeper) -> None:
        self.soft, self.books = SoftContacts(model), soft_books(model)
        n, span = body_count(model), self.soft.detector.span
        self.finder, self.stops = EventFinder(model), stops_of(model)
        self.order, self.told = np.zeros(15, np.int64), np.zeros(11)
        self.told[GRAVITY] = np.linalg.norm(model.gravity)
        self._span, self._margin = np.where(np.isfinite(span), span, 0.0), np.zeros(n)
        self._before, self._keeper = np.zeros((2, n, 3)), keeper
        self._approach, self._parting, self._fired = np.zeros(0), np.zeros(0), np.zeros(0, np.int32)
        self._step: SoftStep | None = None

    @property
    def step(self) -> SoftStep:
        """The tuple of all arrays."""
        soft, step, detection = self.soft, self._step, self.soft.detector.detection
        if step is None or step.soft is not soft.system or step.detection is not detection:
            room = len(soft.slot)
            if len(self._fired) < room:
                self._approach, self._parting, self._fired = np.zeros(room), np.zeros(room), np.zeros(room, np.int32)
            self._step = step = SoftStep(
                self.order, self.told, self._span, self._margin, self._before, detection, soft.system, soft.source,
                soft.tables, self._approach, self._parting, self._fired, self.finder.changes, self.stops, self._keeper,
                self.books)
        return step
