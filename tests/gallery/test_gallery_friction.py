"""What the texts of the gallery's friction scenes say happens in them, each in its own method."""

import numpy as np
import pytest
from gallery_scenes import G, at, first, numbers, of_body, opened, ran, scene

from contactlab.physics import Scene, Simulation


def heavier(key, bodies, times):
    """The scene with bodies of another density."""
    tables = scene(key).tables.model_dump(exclude_none=True)
    for body in tables["body"]:
        if body["name"] in bodies:
            body["density"] = times * body.get("density", 1000.0)
    return Simulation(Scene.from_dict(tables))


@pytest.mark.parametrize("times", [1, 20])
def test_on_the_incline_the_box_with_the_least_friction_slides_alone_whatever_they_weigh(times):
    _, text = opened("incline")
    boxes = ["mu = 0.42", "mu = tan 25°", "mu = 0.52"]
    sim = heavier("incline", boxes, times)
    tan, = numbers(r"tan 25° = (\d\.\d+)", text)
    a, = numbers(r"= ([\d.]+) m/s²", text)
    assert tan == pytest.approx(np.tan(np.radians(25.0)), abs=5e-4)
    masses = sim.model.mass[[sim.number(name) for name in boxes]]
    assert np.ptp(masses) < 1e-12 * masses[0]
    sim.run(1.0)
    speeds = [float(np.linalg.norm(sim.velocity(name))) for name in boxes]
    assert speeds[0] == pytest.approx(a, abs=0.005) and max(speeds[1:]) < 1e-5
    c = sim.contacts
    for body in set(c.body_b.tolist()):
        mine = c.body_b == body
        force = c.lam[mine] @ c.normal[mine] + c.friction_force[mine].sum(axis=0)
        assert force[2] > np.cos(np.radians(3.0)) * np.linalg.norm(force)
    steep = sorted(c.friction[of_body(sim, name)[0]] for name in boxes)
    assert steep == pytest.approx([0.42, np.tan(np.radians(25.0)), 0.52], abs=1e-9)


def test_the_rods_of_painleve_jam_and_lie_down():
    sim, text = opened("painleve")
    limit, = numbers(r"above μ = ([\d.]+) Coulomb", text)
    tilt, mu = numbers(r"at ([\d.]+)° with μ = ([\d.]+)", text)
    assert tilt == pytest.approx(np.degrees(np.arctan(2.0)), abs=0.05)
    # n·M(n - μ s) = 0 of a rod at atan 2: 1/m + x²/I = μ x y/I, the contact below its end, x and y from the middle
    x, y, inertia = 0.5 * np.cos(np.arctan(2.0)), 0.5 * np.sin(np.arctan(2.0)) + 0.02, 1.0 / 12.0
    assert limit == pytest.approx((inertia + x * x) / (x * y), abs=0.005)
    sim.run(0.6)
    events, pushed, pulled = sim.events, sim.number("pushed"), sim.number("pulled")
    assert [e.kind for e in events if pushed in e.bodies][:2] == ["inconsistent", "impact"]
    assert [e.kind for e in events if pulled in e.bodies] == ["impact", "stick"]
    assert abs(sim.angular_velocity("pulled")[1]) < 1e-9
    stop = first(sim, events, "impact", "pushed")
    sim.reset()
    sim.record_history()
    sim.run(stop.t + sim.settings.h)
    for phase, slides in (("before", True), ("at", False)):
        there = at(sim, stop, phase)
        row = of_body(there, "pushed")[0]
        assert there.contacts.friction[row] == mu
        assert abs(there.contacts.zeta[row]) < 1e-6 and (there.contacts.slip[row] > 0.1) == slides


def test_below_its_limit_friction_jams_no_rod():
    sim, text = opened("painleve")
    sim.set(friction=numbers(r"Set μ below ([\d.]+)", text)[0] - 0.03)
    sim.run(0.3)
    assert "inconsistent" not in {event.kind for event in sim.events}


def test_stick_and_slip_come_back_when_the_text_says():
    """While the block sticks friction grows with the spring's force, by K v h a step, to μₛ m g; it slips at μ m g."""
    sim, events = ran("stick_slip", 2.75)
    _, text = opened("stick_slip")
    period, = numbers(r"every ([\d.]+) s", text)
    told = sorted({round(event.t, 6): event.step for event in events if event.kind == "slip"}.items())
    assert len(told) >= 2 and "stick" in {event.kind for event in events}
    assert np.diff([t for t, _ in told]) == pytest.approx(period, abs=0.005)
    weight, more = sim.model.mass[sim.number("block")] * G, 30.0 * 0.15 * sim.settings.h
    for _, step in told:
        forces = []
        for k in (step - 11, step - 1, step + 2):
            sim.seek(k)
            forces.append(np.linalg.norm(sim.contacts.friction_force.sum(axis=0)))
        assert forces[1] - forces[0] == pytest.approx(10.0 * more, rel=1e-6)
        assert 0.5 * weight - 1.5 * more < forces[1] < 0.5 * weight
        assert forces[2] == pytest.approx(0.3 * weight, rel=1e-9)


def test_a_spin_and_a_roll_end_when_the_text_says():
    """In the step in which it ends, or the one before; the spin evenly, so that at half time half of it is left."""
    sim, text = opened("spin_and_roll")
    spun, = numbers(r"stands after ([\d.]+) s", text)
    rolled, way = numbers(r"rest after ([\d.]+) s, ([\d.]+) m", text)
    ends, half = {}, np.nan
    start, h = sim.position("stops rolling")[0], sim.settings.h
    while sim.time < 4.0:
        sim.step()
        if abs(sim.time - 0.5 * spun) < 0.6 * h:
            half = sim.angular_velocity("stops spinning")[2]
        for name in ("stops spinning", "stops rolling"):
            if np.abs(sim.angular_velocity(name)).max() < 1e-6:
                ends.setdefault(name, sim.time)
    assert half == pytest.approx(10.0, abs=20.0 / spun * (h + 0.005))
    assert ends["stops spinning"] == pytest.approx(spun, abs=0.005 + 2 * h)
    assert ends["stops rolling"] == pytest.approx(rolled, abs=0.005 + 2 * h)
    assert sim.position("stops rolling")[0] - start == pytest.approx(way, abs=0.005)
    assert sim.angular_velocity("spins on")[2] == pytest.approx(20.0)
    assert sim.velocity("rolls on")[0] == pytest.approx(1.0)
