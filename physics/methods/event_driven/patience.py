"""What a step of the event-driven method gives up so that it comes to an end, and how it says so.

A step may have more events than it can follow. After MANY_PIECES events it goes on without restitution and loss of
contacts. After MOST_PIECES what is left of it passes without motion. A pair that was hit STORM times loses its
restitution for the rest of the step; so does everything at an instant with as many impacts. Where events bring no
progress WITHOUT_END times the sets stay as they are. Where the forces of sliding friction grow without bound, slow
contacts stick and fast ones slide without friction to the end of the step.

Rocking to rest, and slip that friction turns as it ends, are events without end in finite time, at speeds that fall to
zero. They are followed to the last digits as long as they are few. An island of which one pair has CROWD events finds
at once what it does in the rest of the step, see `hold`, and so does one whose sliding friction leaves no accelerations
that obey the laws. That is no limit: its forces obey the laws at the end, and an event "crowd" says so.
"""

import math
from collections.abc import Iterable, Set
from enum import IntEnum

import numpy as np

from ...core.model import BoolArray
from ...core.state import LongArray

WITHOUT_END = 40    # impacts without collision, or events without progress, at one instant
STORM = 64          # impacts of one pair in a step, or at one instant, after which its island has no restitution
CROWD = 8           # events of a pair in a step after which its island finds at once what it does in the rest
LONG = 32           # pieces without event after which slip that friction turns fast is held to the end of the step
MANY_PIECES = 400   # events of one step after which it goes on without restitution and loss of contacts
MOST_PIECES = 600   # what is left of it then passes without motion
PROGRESS = 1e-12    # shorter pieces are none [s]


class Limit(IntEnum):
    """What a step ran into, from the least to the gravest."""

    NONE = 0
    PAIR = 1      #: one pair was hit STORM times
    INSTANT = 2   #: STORM impacts at one instant
    UNSETTLED = 3 #: impacts that do not end at one instant, with or without collision
    JAM = 4       #: sliding friction without bound
    IDLE = 5      #: WITHOUT_END events without progress
    PIECES = 6    #: MANY_PIECES
    HALTED = 7    #: MOST_PIECES, or not even gaps let it go on


SAYS = {
    Limit.PAIR: f"a contact was hit {STORM} times in one step: it lost its rebound",
    Limit.INSTANT: f"{STORM} impacts at one instant: no rebound",
    Limit.UNSETTLED: "impacts at one instant did not end: contact sets are those before",
    Limit.JAM: "friction jammed: slow contacts stick, fast ones slide without it to the end of the step",
    Limit.IDLE: f"{WITHOUT_END} events without progress: contacts kept to the end of the step",
    Limit.PIECES: f"{MANY_PIECES} events in one step: no rebound, contacts kept to its end",
    Limit.HALTED: "too many events in one step: its rest passed without motion",
}


class Patience:
    """Counts what one step goes through, and says what it has to give up."""

    limit: Limit          #: the gravest of what the step ran into
    blind: bool           #: the sets find no peace: they are kept to the end of the step, and only gaps are events
    brief: Set[int]       #: contacts alone that find at once what they do for a part of the step,
    brief_end: float      #: and when that ends [s]
    uncut: int            #: pieces that no event cut
    cuts: int             #: pieces that one did

    def __init__(self) -> None:
        self.begin_step()

    def begin_step(self) -> None:
        """Nothing has happened yet."""
        self.limit, self.blind = Limit.NONE, False
        self.uncut = self.cuts = 0
        self._idle = self._impacts_here = 0
        self._hits: dict[int, int] = {}
        self._events: dict[int, int] = {}
        self._held: set[int] = set()
        self.end_brief()

    def give_up(self, limit: Limit) -> None:
        """The step says the gravest of what it ran into."""
        self.limit = max(self.limit, limit)

    # ------------------------------------------------------------------------------------------ pieces
    @property
    def goes_on(self) -> bool:
        """Whether the step may have another piece."""
        return self.cuts < MOST_PIECES

    @property
    def stands_still(self) -> bool:
        """Whether not even gaps let the step go on."""
        return self._idle > 2 * WITHOUT_END

    def count_piece(self, cut: bool, done: float) -> None:
        """A piece was made that went on for `done` [s], cut by an event or not."""
        self.uncut, self.cuts = self.uncut + (not cut), self.cuts + cut
        if self.cuts >= MANY_PIECES:
            self.give_up(Limit.PIECES)
        self._idle = self._idle + 1 if cut and done < PROGRESS else 0

    def end_piece(self) -> None:
        """The event at the end of the piece was handled: decide what the next pieces look for."""
        if self._idle > WITHOUT_END:
            self.give_up(Limit.IDLE)
        self.blind = self.limit >= Limit.JAM

    # ------------------------------------------------------------------------------------------ impacts
    def begin_instant(self) -> None:
        """No impact has happened at this instant."""
        self._impacts_here = 0

    def count_impact(self) -> None:
        self._impacts_here += 1

    def count_hits(self, pairs: Iterable[int]) -> None:
        """These pairs were hit."""
        for pair in pairs:
            self._hits[pair] = self._hits.get(pair, 0) + 1

    def holds(self, pairs: Set[int]) -> bool:
        """These pairs, of one island or several, are held to the end of the step; whether that is news."""
        news = bool(pairs) and self._held.isdisjoint(pairs)
        self._held |= pairs
        return news

    def count_event(self, pair: int) -> None:
        """Something happens to this pair."""
        self._events[pair] = self._events.get(pair, 0) + 1

    def crowd(self, pairs: Iterable[int]) -> None:
        """What friction does to these pairs needs more pieces than it is worth."""
        for pair in pairs:
            self._events[pair] = CROWD

    def hold_briefly(self, pairs: Set[int], until: float) -> None:
        """These, each alone, find at once what they do until then [s]."""
        self.brief, self.brief_end = pairs, until

    def end_brief(self) -> None:
        """None does any more."""
        self.brief, self.brief_end = frozenset(), math.inf

    @property
    def is_long(self) -> bool:
        """Whether so many pieces without event were made, since this was so last, that it is time to ask why."""
        return self.uncut % LONG == 0

    def is_crowded(self, pair: int) -> bool:
        """Whether so much happened to this pair that its island goes through the rest of the step at once."""
        return self._events.get(pair, 0) >= CROWD

    @property
    def crowds(self) -> bool:
        """Whether there is such a pair, or one of `brief`."""
        return bool(self.brief) or max(self._events.values(), default=0) >= CROWD

    def tired(self, pairs: LongArray) -> BoolArray:
        """Of which of these pairs the island has no restitution any more."""
        if self.limit >= Limit.PIECES or self._storms_here:
            return np.ones(len(pairs), bool)
        return np.array([self._hits.get(pair, 0) >= STORM for pair in pairs.tolist()], bool)

    def take_restitution(self) -> None:
        """An island has lost it."""
        self.give_up(Limit.INSTANT if self._storms_here else Limit.PAIR)

    @property
    def _storms_here(self) -> bool:
        return self._impacts_here >= STORM

    def impacts_end(self) -> bool:
        """Whether impacts at this instant have to come to an end now."""
        if self._impacts_here < 2 * STORM:
            return False
        self.give_up(Limit.UNSETTLED)
        return True
