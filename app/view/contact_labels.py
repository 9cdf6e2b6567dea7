"""What is written beside contacts in the view: their numbers in the equations, and their cases."""

import numpy as np

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.core.state import Case
from ...physics.run.messages import Event, Snapshot
from .view_options import ViewOptions

MOST_LABELS = 80  # contacts with texts; numbers are left out where there are more
#: RBDA fig. 11.4
CASES: dict[int, str] = {
    Case.APART: "1", Case.COLLIDING: "2a", Case.SEPARATING: "2b", Case.RESTING: "3",
}


def contact_labels(snapshot: Snapshot, options: ViewOptions) -> list[tuple[Array, str]]:
    """Points [m] and texts: "7" for contact 7 of the equations that are looked at, "case 2a" where cases are shown."""
    texts: dict[int, tuple[Array, list[str]]] = {}
    inspection = snapshot.inspection
    equations = inspection.equations if inspection is not None else None
    if equations is not None and equations.contacts is not None and len(equations.contacts.key) <= MOST_LABELS:
        frozen = equations.contacts
        for i, key in enumerate(frozen.key.tolist()):
            texts[key] = frozen.point[i], [str(i + 1)]
    if options.contact_cases:
        contacts = snapshot.contacts
        for i in range(min(int(contacts.count[0]), MOST_LABELS)):
            entry = texts.setdefault(int(contacts.key[i]), (contacts.point[i], []))
            entry[1].append(_("case {case}").format(case=CASES.get(int(contacts.case[i]), '?')))
    return [(np.asarray(point), "  ".join(parts)) for point, parts in texts.values()]


def impact_cases(event: Event) -> str:
    """ "2a → 2b": the cases that an impact joins; "" where they are not told."""
    return f"2a → {CASES[event.case_after]}" if event.case_after in CASES else ""


def just_struck(snapshot: Snapshot) -> dict[tuple[int, int], str]:
    """By bodies a, b: the cases of the impacts of the step just made."""
    return {e.bodies: impact_cases(e) for e in snapshot.events if e.kind == "impact" and e.step == snapshot.step}
