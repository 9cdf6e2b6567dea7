"""Which contacts of a crowd are drawn: hundreds of marks and arrows would hide the bodies that they belong to."""

import numpy as np
from numpy.typing import NDArray

from ...physics.core.language import _
from ...physics.core.state import Contacts
from .view_options import ViewOptions

MOST_CONTACTS = 150  # drawn, unless all are asked for


def drawn_rows(c: Contacts, options: ViewOptions) -> NDArray[np.intp]:
    """The rows of contacts (all of them valid) that are drawn, in their order: those with the largest forces, and of
    equal forces those with the least gap; and all of the selected body, and the one under the mouse."""
    count = len(c.gap)
    if count <= MOST_CONTACTS or options.all_contacts:
        return np.arange(count)
    force = np.hypot(c.lam, np.linalg.norm(c.friction_force, axis=1))
    drawn = np.zeros(count, bool)
    least = np.partition(force, count - MOST_CONTACTS)[count - MOST_CONTACTS]
    among = np.flatnonzero(force >= least)  # sorting all of a heap takes ten times as long
    drawn[among[np.lexsort((c.gap[among], -force[among]))[:MOST_CONTACTS]]] = True
    if options.selected >= 0:
        drawn |= (c.body_a == options.selected) | (c.body_b == options.selected)
    if 0 <= options.hovered_contact < count:
        drawn[options.hovered_contact] = True
    return np.flatnonzero(drawn)


def left_out(count: int, options: ViewOptions) -> str:
    """What the legend says of so many contacts; "" where all are drawn."""
    if count <= MOST_CONTACTS or options.all_contacts:
        return ""
    return _("of {count} contacts the {MOST_CONTACTS} with the largest forces").format(count=count,
                                                                                       MOST_CONTACTS=MOST_CONTACTS)
