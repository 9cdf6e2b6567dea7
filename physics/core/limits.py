"""What a scene may ask for: one table of all limits of memory. Beyond a limit there is a sentence, never an allocation.

A row is checked where memory is about to be made, by its `reader`. Each was chosen so that what it bounds takes about a
gigabyte at most.
"""

from typing import NamedTuple


class BeyondLimit(Exception):
    """A scene asks for more than a limit allows; the message says it in one sentence."""


class Limit(NamedTuple):
    """The most of something."""

    most: int
    unit: str     #: what is counted; "bytes" are told in MiB or GiB
    meaning: str  #: what is bounded, as the sentence of a refusal begins
    reader: str   #: file of the engine that checks it
    advice: str   #: what the user can do

    def allow(self, wanted: int) -> None:
        """Raise BeyondLimit where more than `most` is wanted."""
        if wanted > self.most:
            raise BeyondLimit(f"{self.meaning} would need {amount(wanted, self.unit)}; {amount(self.most, self.unit)} "
                              f"at most are made; {self.advice}")


def amount(count: int, unit: str) -> str:
    """ "300 contacts", "21.3 GiB" """
    if unit != "bytes":
        return f"{count} {unit}"
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


SHAPE_PAIRS = Limit(
    4_000_000, "pairs", "finding the contacts of shapes whose bounds overlap", "collision/detector.py",
    "fewer bodies must be in each other")
CONTACT_POINTS = Limit(
    1_000_000, "contacts", "the contacts of this instant", "collision/detector.py",
    "fewer bodies must be in each other")
EXACT_PAIRS = Limit(
    2_000_000, "pairs", "watching the surface elements that are near each other in event_driven",
    "methods/event_driven/search.py", "time_stepping takes such a scene")
EQUATIONS = Limit(
    2**30, "bytes", "the equations of all contacts that touch at once in event_driven",
    "methods/event_driven/workspace.py", "time_stepping takes such a scene")
INSPECTED = Limit(
    300, "contacts", "showing the equations of this instant", "look/inspection.py", "fewer contacts must take part")
HISTORY = Limit(
    256 * 2**20, "bytes", "going back", "simulation/history.py", "older states are dropped")
