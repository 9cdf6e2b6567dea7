"""Bars of the timeline: when a contact was in the current and in the active set."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.physics.core.limits import BARS
from contactlab.physics.core.state import empty_contacts
from contactlab.physics.look.timeline import ACTIVE, BEGIN, CURRENT, END, KEY, LEVEL, MOST_CONTACTS, Bars
from contactlab.physics.run.messages import Event

NO_EVENTS: tuple[Event, ...] = ()


def sets(levels):
    """Contacts with these levels by key; 0 = beside the sets."""
    c = empty_contacts(len(levels))
    c.count[0] = len(levels)
    c.key[:], c.body_b[:] = list(levels), 1
    c.current[:] = [level > 0 for level in levels.values()]
    c.active[:] = [level == ACTIVE for level in levels.values()]
    return c


def event(kind, t, bodies=(0, 1)):
    return Event(kind, 1, t, bodies, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 0.0)


def bars_of(levels_by_step):
    bars = Bars()
    for k, levels in enumerate(levels_by_step):
        bars.note(float(k), k + 1.0, sets(levels), NO_EVENTS)
    return bars


def level_at(bars, key, t):
    found = [r[LEVEL] for r in bars.rows if r[KEY] == key and r[BEGIN] <= t and not r[END] <= t]
    assert len(found) <= 1
    return int(found[0]) if found else 0


LEVELS = st.dictionaries(st.integers(0, 4), st.sampled_from([0, CURRENT, ACTIVE]), max_size=5)


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(LEVELS, max_size=12), back=st.integers(0, 12), again=st.lists(LEVELS, max_size=6))
def test_bars_say_what_the_sets_were_also_after_a_new_branch(steps, back, again):
    bars = bars_of(steps)
    back = min(back, len(steps))
    for k, levels in enumerate(again):
        bars.note(float(back + k), back + k + 1.0, sets(levels), NO_EVENTS)
    history = steps[:back] + again if again else steps
    for k, levels in enumerate(history):
        for key in range(5):
            assert level_at(bars, key, k + 0.5) == levels.get(key, 0)


def test_bars_begin_and_end_at_the_instants_of_events():
    bars = Bars()
    bars.note(0.0, 1.0, sets({7: ACTIVE}), [event("gain", 0.25), event("gain", 0.1, (0, 2))])
    bars.note(1.0, 2.0, sets({7: ACTIVE}), NO_EVENTS)
    bars.note(2.0, 3.0, sets({}), [event("stick", 2.1), event("dynamic_loss", 2.75, (1, 0))])
    assert bars.rows.tolist() == [[0.25, 2.75, 0.0, 1.0, 7.0, float(ACTIVE)]]


def test_a_heap_is_left_out_and_old_bars_are_dropped():
    bars = bars_of([{k: ACTIVE for k in range(MOST_CONTACTS + 1)}])
    assert len(bars.rows) == 0
    bars = bars_of([{0: ACTIVE} if k % 2 else {} for k in range(2 * BARS.most + 4)])
    assert BARS.most // 2 <= len(bars.rows) <= BARS.most + 1
    assert np.diff(bars.rows[:, BEGIN]).min() == 2.0
