"""The timeline without a window: marks, rows, and where a click goes; and what the engine tells it."""

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app.panels import timeline
from contactlab.app.panels.transport import ends_ahead
from contactlab.app.ui_state import UiState
from contactlab.physics.look.timeline import ACTIVE, BEGIN, END
from contactlab.physics.run import messages as m
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.scene.scene import Scene

NAN = float("nan")


def event(kind, step, bodies=(0, 1)):
    return m.Event(kind, step, step / 240 - 0.001, bodies, (0, 0, 0), (0, 0, 1), (0, 0, 2.0), 3.0, 2.0, 3)


EVENTS = (event("impact", 60), event("gain", 60), event("slip", 90), event("dynamic_loss", 150, (0, 2)))
BARS = np.array([[0.2, 0.6, 0, 2, 8, 1], [0.246, NAN, 0, 1, 7, ACTIVE], [0.3, 0.4, 0, 1, 9, 1]])


@pytest.fixture
def probe(monkeypatch):
    sent = []
    now = fakes.snapshot(timeline=m.Timeline(EVENTS, BARS))
    made = Probe(monkeypatch, lambda ui: timeline.draw_timeline(ui, now, sent.append), UiState())
    made.sent, made.now = sent, now
    yield made
    made.gui.release()


def test_an_event_in_the_list_is_gone_to_by_a_click(probe):
    probe.click("0.374000##event_2", 0.05)
    assert probe.sent == [m.GoToEvent(90, EVENTS[2].t)]
    probe.ui.playing = True
    probe.click("0.624000##event_3", 0.05)  # one that lies ahead
    assert probe.sent[1:] == [m.Pause(), m.GoToEvent(150, EVENTS[3].t)]


def test_rows_are_contacts_by_their_first_bar(probe):
    rows = timeline.rows_of(probe.now)
    assert rows.names == ("ground → ball 2", "ground → ball 1", "ball 1  2")
    assert rows.of_key == {8: 0, 7: 1, 9: 2}


def test_a_click_means_the_nearest_mark_an_impact_first_or_the_time_there(probe):
    assert timeline.nearest(EVENTS, 0.25, 0.01) is EVENTS[0]
    assert timeline.nearest(EVENTS, 0.37, 0.01) is EVENTS[2]
    assert timeline.nearest(EVENTS, 0.5, 0.01) is None
    assert timeline.step_at(probe.now, 0.25) == 60
    assert (timeline.step_at(probe.now, -9.0), timeline.step_at(probe.now, 9.0)) == (0, 240)


def test_kinds_can_be_hidden_and_the_zoom_keeps_the_present(probe):
    assert [e.kind for e in timeline.shown_events(probe.ui, probe.now)] == ["impact", "gain", "slip", "dynamic_loss"]
    probe.ui.timeline.hidden.add("gain")
    assert [e.kind for e in timeline.shown_events(probe.ui, probe.now)] == ["impact", "slip", "dynamic_loss"]
    low, high = timeline.reach(probe.now)
    assert (low, high) == pytest.approx((0.0, 1.0))
    probe.click("+##zoom_Closer")
    assert probe.ui.timeline.span == pytest.approx((0.2425, 0.7575))
    probe.click("–##zoom_Farther")
    assert probe.ui.timeline.span == pytest.approx((-0.015, 1.015))
    probe.click("All##timeline_all")
    assert probe.ui.timeline.span is None
    assert probe.sent == []


def test_an_event_is_told_in_full(probe):
    assert timeline.told(probe.now, EVENTS[0]).splitlines() == [
        "impact  2a → 2b", "ground → ball 1", "t = 0.249000000 s, in step 60", "impulse 2 N s",
        "energy 3 J, change -1 J", "Click: go there"]


def test_the_engine_tells_events_and_bars_also_of_what_lies_ahead():
    """A ball with e = ½ bounces three times in 0.75 s; gone back to the middle, all of it is still known, and the state
    there is the same to the last bit; a step from there begins anew."""
    scene = Scene.from_dict({
        "solver": {"method": "event_driven"}, "material": {"default": {"restitution": 0.5, "friction": 0.0}},
        "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
                 {"name": "ball", "position": [0.0, 0.0, 0.5], "mass": 1.0,
                  "shape": [{"type": "sphere", "radius": 0.1}]},
                 {"name": "still", "position": [1.0, 0.0, 0.1], "mass": 1.0,
                  "shape": [{"type": "sphere", "radius": 0.1}]}]})
    sides = Comparison(scene, {}, 100)
    states = []
    for _ in range(180):
        sides.step()
        states.append(sides.simulation.state.bodies.x.tobytes())
    fall = np.sqrt(2 * 0.4 / 9.81)
    told = sides.members[0].timeline()
    assert [e.t for e in told.events] == pytest.approx([fall, 2 * fall, 2.5 * fall], abs=1e-9)
    assert told.bars.tolist() == [[0.0, pytest.approx(NAN, nan_ok=True), 0.0, 2.0, told.bars[0, 4], float(ACTIVE)]]
    sides.seek(told.events[0].step)
    assert sides.simulation.state.bodies.x.tobytes() == states[told.events[0].step - 1]
    assert sides.members[0].timeline().events == told.events
    sides.simulation.set(restitution=0.0)
    for _ in range(120):
        sides.step()
    after = sides.members[0].timeline()
    assert [e.t for e in after.events] == pytest.approx([fall, 2 * fall], abs=1e-9)
    begun = {row[3]: (row[BEGIN], row[END]) for row in after.bars.tolist()}
    assert begun[1.0] == (after.events[1].t, pytest.approx(NAN, nan_ok=True))
    assert begun[2.0][0] == 0.0


def test_an_end_of_blows_that_is_near_lengthens_the_time_line():
    """Intervals and impulses shrink by 1/2: the end of all is one interval after the last blow. What ends later than
    half of the time shown from now is not marked, nor what is over."""
    def shown(times, impulses, t=1.0):
        blows = tuple(m.Event("impact", 0, at, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, p), 0.0, 0.0)
                      for at, p in zip(times, impulses, strict=True))
        step = round(t * 240)
        return ends_ahead(fakes.snapshot(events=blows, t=t, step=step, history=(0, step)))

    (end,) = shown((0.4, 0.8, 1.0), (4.0, 2.0, 1.0))
    assert end.step == pytest.approx(1.2 * 240) and end.series.end == pytest.approx(1.2)
    assert shown((0.0, 0.5, 0.95), (1.0, 0.9, 0.81)) == []
    assert shown((0.4, 0.8, 1.0), (4.0, 2.0, 1.0), t=1.3) == []
