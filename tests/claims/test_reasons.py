"""The numbers that events give as reasons, against closed forms."""

import math

import pytest

from contactlab.app.narration import sentence
from contactlab.app.reasons import WORDS, phrase
from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.report import Reason

G = 9.81


def events_of(name, until, **settings):
    sim = Simulation(Scene.load(gallery()[name]))
    sim.set(**settings)
    while sim.time < until:
        sim.step()
    return sim.events


def test_an_impact_tells_the_speed_of_approach():
    """ζ = -√(2 g H) at the first blow from H = 1 m, and e = 0.8 times that before each one after [RBDA §11.7]. Instants
    are found to 1e-13 s, and the integrator is exact for parabolas: what is left is rounding of the height."""
    blows = [e for e in events_of("slow_bounce", 1.5) if e.kind == "impact"]
    for n, blow in enumerate(blows):
        assert blow.reason.what == "closes"
        assert blow.reason.value == pytest.approx(-(0.8**n) * math.sqrt(2.0 * G), rel=1e-11)
    assert len(blows) == 2


def test_an_impact_that_is_passed_on_says_so():
    """A ball hits the first of two that touch, e = 0: all go on with a third of its speed v. The second contact did not
    close, and has the impulse m v/3."""
    row = [{"name": name, "mass": 1.0, "position": [x, 0.0, 0.0], "velocity": [v, 0.0, 0.0],
            "shape": [{"type": "sphere", "radius": 0.1}]} for name, x, v in (("a", -0.21, 1.5), ("b", 0.0, 0.0),
                                                                            ("c", 0.2, 0.0))]
    sim = Simulation(Scene.from_dict({"scene": {"gravity": [0.0, 0.0, 0.0]},
                                      "material": {"default": {"restitution": 0.0, "friction": 0.0}}, "body": row}),
                     method="event_driven")
    sim.run(0.05)
    told = {event.bodies: event for event in sim.events if event.kind == "impact"}
    assert {bodies: event.reason.what for bodies, event in told.items()} == {(0, 1): "closes", (1, 2): "passed"}
    assert told[1, 2].impulse[0] == pytest.approx(0.5, rel=1e-12)


def test_a_force_that_ends_a_set_would_be_negative_at_the_end_of_the_piece():
    """The ball that slides down the dome: with its normal force N = m (g cos θ - v²/R) and v² = 2 g R (cos θ₀ - cos θ),
    dN/dt = -3 m g sin θ v/R where it leaves, cos θ = 2/3 cos θ₀. The piece ends within the step h: N at its end is the
    rate times the rest of the step, to the change of the rate in that time: by gravity's g sin θ/v and the turn of θ,
    less than 2 parts in 100 for h = 1/240 s."""
    sim = Simulation(Scene.load(gallery()["dome"]))
    sim.set(integrator="rk4")  # a piece goes on to the end of the step
    while not sim.last_events:
        sim.step()
    (event,) = sim.last_events
    assert (event.kind, event.reason.what) == ("dynamic_loss", "force")
    body = event.bodies[1]
    m, x = sim.model.mass[body], sim.state.bodies.x
    R = math.hypot(*(event.point[i] - x[event.bodies[0]][i] for i in (0, 2))) + 0.0
    radius = R + sim.model.shapes.size[list(sim.model.shapes.body).index(body)][0]
    sine, v = math.sqrt(1.0 - event.normal[2] ** 2), math.sqrt(G * radius * event.normal[2])
    rest = sim.time - event.t
    assert event.reason.value == pytest.approx(-3.0 * m * G * sine * v / radius * rest, rel=0.02)


def test_friction_that_gives_way_is_at_its_limit():
    """Where a rolling ball begins to slip, |f_t| = μ λ; the search ends where what is left to the cone is below zero by
    1e-9 of the greatest force in the island at most, which on the dome is the weight."""
    slips = [e for e in events_of("dome", 0.98) if e.kind == "slip"]
    assert [e.reason.what for e in slips] == ["cone"]
    (slip,) = slips
    assert slip.reason.value == pytest.approx(slip.reason.bound, abs=1e-8 * G)


def test_what_holds_a_block_and_what_tears_it_off_are_its_spring_and_its_friction():
    """Stick-slip: a block on a belt sticks where the spring is below what static friction holds, and slips where it
    would have to be more."""
    told = [e for e in events_of("stick_slip", 3.0) if e.kind in ("stick", "slip") and e.reason is not None]
    assert {e.kind for e in told} == {"stick", "slip"}
    for event in told:
        what, value, bound = event.reason
        assert (event.kind, what) in {("stick", "holds"), ("slip", "slides"), ("slip", "cone")}
        assert value <= bound * (1.0 + 1e-9)


def test_a_corner_that_passes_an_edge_is_told_with_how_far_it_would_be():
    """At 2 m/s over the rest of the piece, which is a step of 1/240 s at most: 8.3 mm."""
    losses = [e for e in events_of("over_the_edge", 0.4) if e.kind == "geometric_loss" and e.reason is not None]
    assert losses
    for event in losses:
        assert event.reason.what == "margin" and -2.0 / 240.0 <= event.reason.value < 0.0


def test_every_event_of_exact_contact_says_its_number():
    """But "crowd", which itself is why: what many events would lead to is found at once."""
    for name in ("dome", "ladder", "rocking_block"):
        for event in (event for event in events_of(name, 1.2) if event.kind != "crowd"):
            assert event.reason is not None, (name, event)
            assert phrase(event.reason)


def test_reasons_are_told_in_a_sentence():
    events = events_of("slow_bounce", 0.5)
    sim = Simulation(Scene.load(gallery()["slow_bounce"]))
    assert sentence(events[0], sim.labels).endswith("it closes with ζ = −4.43 m/s.")
    assert phrase(Reason("force", -1.234)) == "λ would become −1.23 N"
    assert phrase(Reason("holds", 1.0)) == "|f_t| = 1 N holds it"
    assert phrase(Reason("of another version", 1.0)) == ""
    assert all("{" not in phrase(Reason(what, 1.0, 2.0)) for what in WORDS)
