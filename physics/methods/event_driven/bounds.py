"""What a step of the event-driven method gives up so that it comes to an end, and how it says so.

After MANY_PIECES events it goes on without restitution and loss of contacts, after MOST_PIECES what is left of it
passes without motion; a pair that was hit STORM times loses its restitution for the rest of the step, as does an
instant with as many impacts; where events bring no progress WITHOUT_END times the sets stay as they are. Where the
forces of sliding friction grow without bound, slow contacts stick and fast ones slide without it to the step's end.
Which of redundant contacts stick is asked anew DOUBTS times.
"""

from enum import IntEnum

WITHOUT_END = 40    # impacts without collision, or events without progress, at one instant
STORM = 64          # impacts of one pair in a step, or at one instant, after which its island has no restitution
DOUBTS = 10         # instants of one step at which Coulomb's law let other redundant contacts stick than before
MANY_PIECES = 400   # events of one step after which it goes on without restitution and loss of contacts
MOST_PIECES = 600   # what is left of it then passes without motion


class Limit(IntEnum):
    """What a step ran into, from the least to the gravest."""

    NONE = 0
    PAIR = 1      #: one pair was hit STORM times
    INSTANT = 2   #: STORM impacts at one instant
    UNSETTLED = 3 #: impacts that do not end at one instant, with or without collision
    DOUBT = 4     #: which of redundant contacts stick changed DOUBTS times
    JAM = 5       #: sliding friction without bound
    IDLE = 6      #: WITHOUT_END events without progress
    PIECES = 7    #: MANY_PIECES
    HALTED = 8    #: MOST_PIECES, or not even gaps let it go on


SAYS = {
    Limit.PAIR: f"a contact was hit {STORM} times in one step: it lost its rebound",
    Limit.INSTANT: f"{STORM} impacts at one instant: no rebound",
    Limit.UNSETTLED: "impacts at one instant did not end: contact sets are those before",
    Limit.DOUBT: f"redundant contacts changed {DOUBTS} times in one step: kept to its end",
    Limit.JAM: "friction jammed: slow contacts stick, fast ones slide without it to the end of the step",
    Limit.IDLE: f"{WITHOUT_END} events without progress: contacts kept to the end of the step",
    Limit.PIECES: f"{MANY_PIECES} events in one step: no rebound, contacts kept to its end",
    Limit.HALTED: "too many events in one step: its rest passed without motion",
}
