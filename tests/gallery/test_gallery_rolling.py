"""What the texts of the gallery's rolling bodies say happens in them, each in its own method."""

import numpy as np
import pytest
from gallery_scenes import G, at, first, numbers, of_body, opened, ran

from contactlab.physics.shapes.shapes import quat_to_matrix


def test_the_balls_swing_in_the_bowls_as_long_as_the_text_says_and_never_leave_the_wall():
    """T = 2π √(k (R - r)/g), k = 7/5 rolling and 1 sliding, and 4/ω K(sin² 30°) from 60°; the way there in
    `claims/test_event_driven_curved.py`. The gap is restored after every step."""
    sim, text = opened("bowls")
    near, slides = numbers(r"= ([\d.]+) s, √\(7/5\) .* slides \(([\d.]+) s\)", text)
    far, = numbers(r"a swing takes ([\d.]+) s", text)
    period = 2.0 * np.pi * np.sqrt(0.45 / G)
    assert [near, slides] == pytest.approx([np.sqrt(7 / 5) * period, period], abs=0.005)
    assert far == pytest.approx(1.708791291737, abs=0.005)
    for name, bowl, degrees in (("far", "left", 60.0), ("near", "middle", 10.0), ("sliding", "right", 10.0)):
        out = sim.position(name) - sim.position(f"{bowl} bowl")
        assert np.degrees(np.arctan2(abs(out[0]), -out[2])) == pytest.approx(degrees, abs=1e-6)
    while sim.time < 1.8:
        sim.step()
        assert len(sim.contacts.gap) == 3 and np.abs(sim.contacts.gap).max() < 1e-9
    assert sim.events == []


def test_the_balls_leave_the_dome_where_the_text_says():
    """The sliding ball at its angle; the rolling one slips before its own. Until then the barrel's force shrinks."""
    sim, events = ran("dome", 1.0)
    _, text = opened("dome")
    start, = numbers(r"(\d+)° from the top", text)
    slides, rolls = numbers(r"([\d.]+)°\. Rolling, .*: ([\d.]+)°", text)
    lost = first(sim, events, "dynamic_loss", "sliding")
    assert angle(at(sim, lost), "sliding") == pytest.approx(slides, abs=0.05)
    kinds = [e.kind for e in events if sim.number("rolling") in e.bodies]
    assert kinds[:2] == ["slip", "dynamic_loss"]
    assert rolls == pytest.approx(np.degrees(np.arccos(10 / 17 * np.cos(np.radians(start)))), abs=0.05)
    left = angle(at(sim, first(sim, events, "dynamic_loss", "rolling")), "rolling")
    assert left == pytest.approx(rolls, abs=1.0)  # it slips on the last few degrees
    again, _ = opened("dome")
    forces = []
    assert angle(again, "sliding") == pytest.approx(start, abs=1e-6)
    while again.time < lost.t - again.settings.h:
        again.step()
        forces.append(again.contacts.lam[of_body(again, "sliding")[0]])
    assert (np.diff(forces) < 0.0).all() and forces[-1] < 0.05 * forces[0]


def angle(sim, ball):
    """Of a ball over the barrel from the vertical [°]."""
    x, _, z = sim.position(ball)
    return np.degrees(np.arctan2(x, z))


@pytest.mark.parametrize("friction", [None, 0.4])
def test_the_ball_rolls_when_and_as_fast_as_the_text_says(friction):
    """To a step, and to half of the last digit; the last speed with any friction. Until then friction points back."""
    sim, text = opened("rolling_ball")
    sim.set(friction=friction)
    t, = numbers(r"μ g\) = ([\d.]+) s", text)
    part, whole = numbers(r"rolls on at (\d)/(\d) of its first speed", text)
    speed, slips = sim.velocity("ball")[0], True
    assert speed == numbers(r"at (\d) m/s without spin", text)[0] and not sim.state.bodies.w.any()
    while slips:
        sim.step()
        slips = sim.contacts.slip[0] > 1e-9
        assert not slips or sim.contacts.friction_force[0][0] < 0.0
    assert sim.time == pytest.approx(t if friction is None else 0.2 / friction * t, abs=0.005 + sim.settings.h)
    sim.run(0.5 + sim.time)
    assert sim.velocity("ball")[0] == pytest.approx(speed * part / whole, rel=1e-9)
    assert np.abs(sim.contacts.friction_force).max() < 1e-9


def test_the_cone_turns_about_the_line_on_which_it_lies_unless_it_is_smooth():
    """Two contacts, its apex and the rim of its base; the velocity of both vanishes while it rolls. The period is
    4 K(sin² 15°)/ω, ω from the text's formula."""
    for friction in (None, 0.0):
        sim, text = opened("rolling_cone")
        sim.set(friction=friction)
        swing, = numbers(r"one swing to and fro takes ([\d.]+) s", text)
        cos_a = 0.4 / np.hypot(0.4, 0.12)
        rate = np.sqrt(5.0 * G * cos_a * np.sin(np.radians(20.0)) / (0.4 * (1.0 + 5.0 * cos_a**2)))
        assert swing == pytest.approx(4.0 / rate * 1.598142, abs=0.005)  # K(sin² 15°)
        apex = tip(sim)
        sim.run(0.6)
        c = sim.contacts
        along = np.linalg.norm(c.point[0] - c.point[1])
        assert c.count[0] == 2 and along == pytest.approx(np.hypot(0.4, 0.12), rel=1e-3)
        gone = np.linalg.norm(tip(sim) - apex)
        assert gone < 1e-3 if friction is None else gone > 0.5 * 0.5 * G * np.sin(np.radians(20.0)) * 0.6**2
        assert (c.slip.max() < 1e-3) == (friction is None)


def tip(sim):
    """The cone's apex: its height of 0.4 m over its base, its centre of mass a quarter of that over it."""
    cone = sim.number("cone")
    return sim.position("cone") + quat_to_matrix(sim.state.bodies.q[cone]) @ np.array([0.0, 0.0, 0.3])


def test_the_ball_in_the_pipe_sinks_as_deep_as_the_text_says_and_without_friction_it_just_falls():
    """5 g/Ω² of the height, back after 2π/(Ω √(2/7)); the way there in `claims/test_event_driven_curved.py`. Without
    friction z = z₀ - g t²/2, which a step of any of our integrators has to rounding."""
    sim, text = opened("vertical_pipe")
    speed, = numbers(r"at (\d) m/s and rolling", text)
    depth, = numbers(r"= ([\d.]+) m, and up again", text)
    turn, start = np.linalg.norm(sim.velocity("ball")) / 0.4, sim.position("ball")[2]
    assert turn == pytest.approx(speed / 0.4) and depth == pytest.approx(5.0 * G / turn**2, abs=0.005)
    lowest = start
    while sim.time < 2.0 * np.pi / (turn * np.sqrt(2 / 7)):
        sim.step()
        lowest = min(lowest, sim.position("ball")[2])
    assert start - lowest == pytest.approx(depth, abs=0.005)
    assert sim.position("ball")[2] == pytest.approx(start, abs=1e-4)  # a step from the top: g h²/2
    smooth, _ = opened("vertical_pipe")
    smooth.set(friction=0.0)
    smooth.run(0.25)
    assert smooth.position("ball")[2] == pytest.approx(start - 0.5 * G * smooth.time**2, abs=1e-9)
