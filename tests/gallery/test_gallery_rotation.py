"""What the texts of the gallery's turning bodies say happens in them, each in its own method."""

import numpy as np
import pytest
from gallery_scenes import G, at, first, numbers, opened, ran
from scipy.special import ellipk


def test_the_particle_swings_in_its_bowl_as_a_pendulum_does():
    """T = 4 √(R/g) K(sin² 30°) from 60°, 2π √(R/g) in small swings; it comes back to where it was let go."""
    sim, events = ran("particles", 2.2)
    _, text = opened("particles")
    degrees, ratio, period = numbers(r"from (\d+)° takes ([\d.]+) times as long as in small swings: ([\d.]+) s", text)
    sim.seek(0)
    out = sim.position("in the bowl") - sim.position("bowl")
    assert np.degrees(np.arctan2(-out[0], -out[2])) == pytest.approx(degrees, abs=1e-9)
    exact = 4.0 * np.sqrt(np.linalg.norm(out) / G) * ellipk(0.25)
    assert period == pytest.approx(exact, abs=0.005)
    assert ratio == pytest.approx(2.0 / np.pi * ellipk(0.25), abs=0.005)
    sim.seek(round(exact / sim.settings.h))
    assert sim.position("in the bowl") == pytest.approx(out + sim.position("bowl"), abs=1e-3)
    assert not [e for e in events if sim.number("in the bowl") in e.bodies]
    assert not sim.body("in the bowl").angular_velocity.any()


def test_the_rod_of_two_particles_topples_about_a_centre_that_falls_straight():
    """Energy: 2 m g a cos θ = m (2 a)² ω²/2 where it lands, so that its end does with √(2 g 2 a cos θ), a particle's
    speed of fall. I = m_1 r_1² + m_2 r_2² across the rod, 0 about it."""
    sim, events = ran("particles", 2.2)
    _, text = opened("particles")
    speed, late, soon = numbers(r"with ([\d.]+) m/s.*: ([\d.]+) s after the start and not ([\d.]+) s", text)
    rod, free = first(sim, events, "impact", "on a rod"), first(sim, events, "impact", "free")
    assert [rod.t, free.t] == pytest.approx([late, soon], abs=0.005)
    assert np.sort(sim.body("on a rod").inertia) == pytest.approx([0.0, 0.5, 0.5], rel=1e-12)
    sim.seek(0)
    centre = sim.state.bodies.x[sim.number("on a rod")].copy()
    falls = np.sqrt(2.0 * G * sim.position("free")[2])
    assert speed == pytest.approx(falls, abs=0.05)
    assert at(sim, free, "before").velocity("free")[2] == pytest.approx(-falls, rel=1e-9)
    landing = at(sim, rod, "before")
    bodies, i = landing.state.bodies, landing.number("on a rod")
    assert np.linalg.norm(bodies.w[i]) == pytest.approx(falls, rel=1e-6)  # about the foot, which then does not fall
    assert bodies.x[i, :2] == pytest.approx(centre[:2], abs=1e-9)
    assert landing.position("on a rod")[0] == pytest.approx(centre[0] - 0.5, abs=1e-9)
