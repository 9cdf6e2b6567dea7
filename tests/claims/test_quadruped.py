"""A11: a quadruped of twelve hinges, flung up, falling, and hit by a ball [SimBenchmark's ANYmal tests]. The robot is
not theirs, but has its mass, its pose and as many joints, so their laws hold and their bounds apply. g = 9.81."""

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation

G, MASS = 9.81, 33.946674
BASE, HIP, THIGH = 18.0, 1.5, 1.9
SHANK = (MASS - BASE) / 4.0 - HIP - THIGH
ANGLES = np.degrees([[0.03, 0.4, -0.8], [-0.03, 0.4, -0.8], [0.03, -0.4, 0.8], [-0.03, -0.4, 0.8]])


def box(name, position, mass, size):
    """A solid box of a given mass, without a shape that could touch."""
    a, b, c = np.square(size)
    return {"name": name, "position": list(position), "mass": mass,
            "inertia": (mass / 12.0 * np.array([b + c, a + c, a + b])).tolist()}


def quadruped(height=2.0):
    """Bodies and joints: the base at `height`, four legs with their hips about x, thighs and shanks about y."""
    bodies = [box("base", (0, 0, height), BASE, (0.6, 0.3, 0.2))]
    joints = []
    for leg, (front, left), angles in zip(("LF", "RF", "LH", "RH"), ((1, 1), (1, -1), (-1, 1), (-1, -1)), ANGLES,
                                          strict=True):
        x, y, z = 0.3 * front, 0.14 * left, height
        bodies += [box(f"{leg} hip", (x, y + 0.05 * left, z), HIP, (0.1, 0.1, 0.1)),
                   box(f"{leg} thigh", (x, y + 0.12 * left, z - 0.12), THIGH, (0.06, 0.06, 0.25)),
                   box(f"{leg} shank", (x, y + 0.12 * left, z - 0.4), SHANK, (0.03, 0.03, 0.3))]
        chain = (("base", "hip", (x, y, z), (1.0, 0.0, 0.0)), ("hip", "thigh", (x, y + 0.1 * left, z), (0.0, 1.0, 0.0)),
                 ("thigh", "shank", (x, y + 0.12 * left, z - 0.25), (0.0, 1.0, 0.0)))
        for (above, below, anchor, axis), angle in zip(chain, angles, strict=True):
            joints.append({"type": "hinge", "parent": above if above == "base" else f"{leg} {above}",
                           "child": f"{leg} {below}", "anchor": list(anchor), "axis": list(axis),
                           "position": float(angle)})
    return bodies, joints


def middle(sim):
    """Centre of mass and its velocity."""
    m = sim.model.mass
    return m @ sim.state.bodies.x / m.sum(), m @ sim.state.bodies.v / m.sum()


@pytest.mark.parametrize(("method", "integrator", "h", "bound"), [
    ("time_stepping", "rk4", 1 / 240, 60.0), ("event_driven", "rk4", 1e-3, 1e-8)])
def test_a11_energy(method, integrator, h, bound):
    """A11, energy: twice its weight lifts the base for 1 s: the centre of mass then rises at g t, has risen g/2, and
    2 s later falls at g; the mean square of the energy's error in these 2 s is below the bound [J²]."""
    bodies, joints = quadruped()
    sim = Simulation(Scene.from_dict({"body": bodies, "joint": joints}), method=method, integrator=integrator, h=h)
    start, _ = middle(sim)
    lift = round(1.0 / h)
    for _ in range(lift):
        sim.apply_force("base", (0.0, 0.0, 2.0 * MASS * G), sim.position("base"))
        sim.step()
    x, v = middle(sim)
    near = 1e-6 if method == "event_driven" else h
    np.testing.assert_allclose(v, (0.0, 0.0, G), rtol=0, atol=near * G)
    np.testing.assert_allclose(x - start, (0.0, 0.0, 0.5 * G), rtol=0, atol=near * G)
    energy, errors = sim.energy().total, []
    for _ in range(2 * lift):
        sim.step()
        errors.append(sim.energy().total - energy)
    assert np.mean(np.square(errors)) < bound
    np.testing.assert_allclose(middle(sim)[1], (0.0, 0.0, -G), rtol=0, atol=near * G)


@pytest.mark.parametrize(("method", "integrator", "h"), [
    ("time_stepping", "rk4", 1 / 240), ("event_driven", "rk4", 1e-3), ("event_driven", "dopri5", 1 / 30)])
def test_a11_momentum(method, integrator, h):
    """A11, momentum: without gravity a ball of 10 kg hits the base at 5 m/s, without friction or rebound: the mean
    square of what the total momentum differs from (0, 50, 0) is at most 1e-18 (N s)², over 10 s; with the shortest
    steps over the first one, in which the ball hits twice."""
    bodies, joints = quadruped()
    bodies[0]["shape"] = [{"type": "box", "size": [0.6, 0.3, 0.2]}]
    bodies.append({"name": "ball", "position": [0.0, -2.0, 2.0], "velocity": [0.0, 5.0, 0.0], "mass": 10.0,
                   "inertia": [0.16, 0.16, 0.16], "shape": [{"type": "sphere", "radius": 0.2}]})
    sim = Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, 0.0]}, "material": {"default": {"restitution": 0.0, "friction": 0.0}},
        "body": bodies, "joint": joints}), method=method, integrator=integrator, h=h)
    errors, until = [], 1.0 if h < 1 / 240 else 10.0
    while sim.time < until:
        sim.step()
        errors.append(sim.momentum()[0] - (0.0, 50.0, 0.0))
    assert "impact" in [event.kind for event in sim.events] and sim.velocity("base")[1] > 0.5
    assert np.mean(np.sum(np.square(errors), axis=1)) <= 1e-18
