"""B6: regular prisms that tumble over their edges, solid and free to move in space: each edge touches at both of its
ends. (With points for corners, and the rimless wheel: `test_event_driven_cases`.) g = 9.81."""

import numpy as np
import pytest
from contact_scenes import G, ground, simulate

WIDTH = 0.8  # of a prism along y [m]
SIDES = 50   # of one hull at most, which may have 128 vertices: prisms of more sides are halves beside each other


def prism(n, turn, velocity, spin, inertia):
    """A prism of circumradius 1 m and mass 1 kg, an edge `turn` behind straight down, the lowest on the floor."""
    angles = turn + 2 * np.pi * np.arange(n) / n
    corners = np.column_stack([-np.sin(angles), np.zeros(n), -np.cos(angles)])
    end = np.array([0.0, WIDTH / 2, 0.0])
    parts = np.array_split(np.arange(n), -(-n // SIDES))
    if len(parts) > 1:
        parts = [[*part, (part[-1] + 1) % n] for part in parts]
    hulls = [{"type": "hull", "points": np.vstack([corners[part] - end, corners[part] + end]).tolist()}
             for part in parts]
    return {"name": "prism", "position": [0.0, 0.0, float(-corners[:, 2].min())], "mass": 1.0, "inertia": inertia,
            "velocity": velocity, "angular_velocity": [0.0, spin, 0.0],
            "shape": hulls}


def tumbling(n, method, h):
    """Balanced on an edge, turning over it."""
    i = 0.5 * (1 - 2 / 3 * np.sin(np.pi / n) ** 2)  # about the axis; in the plane all axes are alike, with half of it
    across = 0.5 * i + WIDTH**2 / 12
    return simulate(ground(), prism(n, 0.0, [0.5, 0.0, 0.0], 0.5, [across, i, across]), mu=50.0, h=h, method=method,
                    integrator="dopri5", iterations=200)


def step_to_impact(sim, number=1):
    """Steps until so many impacts have been told; the last one."""
    while True:
        sim.step()
        impacts = [event for event in sim.events if event.kind == "impact"]
        if len(impacts) >= number:
            return impacts[number - 1]
        assert sim.time < 10.0


RATIOS = [(4, 0.25), (5, 0.501036279), (6, 11 / 17), (8, 0.798169546), (12, 0.909333942), (24, 0.977197554),
          (100, 0.998684197)]


@pytest.mark.parametrize(("n", "ratio"), RATIOS)
def test_b6_a_tumbling_prism_loses_speed_at_every_edge(n, ratio):
    """B6: ω⁺/ω⁻ = (i + cos 2π/n)/(i + 1), i = ½(1 - ⅔ sin² π/n), to 1e-8; it sticks and e = 0. On a side the energy
    beyond m g cos π/n is that of turning about the next edge."""
    sim = tumbling(n, "event_driven", 1 / 60)
    hit = step_to_impact(sim)
    low = G * np.cos(np.pi / n)
    assert np.sqrt((hit.energy_after - low) / (hit.energy_before - low)) == pytest.approx(ratio, abs=1e-8)
    assert hit.point[0] > 0.0
    np.testing.assert_allclose(sim.angular_velocity("prism")[[0, 2]], 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n", "ratio"), RATIOS[:-2])
def test_b6_in_steps(n, ratio):
    """B6 by time stepping at 240 Hz, to 3 %: from the energies before the impact and two steps after."""
    sim = tumbling(n, "time_stepping", 1 / 240)
    energies, low = [sim.energy().total], G * np.cos(np.pi / n)
    while not any(event.kind == "impact" and event.t > 0.05 for event in sim.events):
        sim.step()
        energies.append(sim.energy().total)
    for _ in range(2):
        sim.step()
    assert np.sqrt((sim.energy().total - low) / (energies[-2] - low)) == pytest.approx(ratio, rel=0.03)


def test_b6_a_tumbling_triangle_stops_on_its_side():
    """B6: the formula gives ω⁺/ω⁻ = -1/5 for n = 3, so it stops: all kinetic energy is lost."""
    sim = tumbling(3, "event_driven", 1 / 60)
    hit = step_to_impact(sim)
    assert hit.energy_before > hit.energy_after == pytest.approx(G / 2, abs=1e-10)
    sim.run(until=sim.time + 0.5)
    assert np.abs(sim.angular_velocity("prism")).max() < 1e-12 and np.abs(sim.velocity("prism")).max() < 1e-12
