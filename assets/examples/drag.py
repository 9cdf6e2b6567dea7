"""A force of one's own: balls of different mass fall through air, F = -c |v| v, and reach their greatest speed."""

import numpy as np

import contactlab

DRAG, G = 0.05, 9.81  # c [N s²/m²], gravity [m/s²]
masses = {"light": 0.05, "middle": 0.2, "heavy": 0.8}  # [kg]

scene = contactlab.Scene.from_dict({
    "scene": {"title": "Falling through air", "watch": "Each speed tends to √(m g/c)."},
    "body": [{"name": name, "position": [0.6 * k, 0, 20], "mass": mass, "inertia": [0.01 * mass] * 3,
              "shape": [{"type": "sphere", "radius": 0.15}]} for k, (name, mass) in enumerate(masses.items())],
})
sim = contactlab.Simulation(scene)
panel = contactlab.Panel()
wind = panel.slider("wind", -10, 10, 0, unit="m/s")


def step(sim: contactlab.Simulation) -> None:
    for body in sim.bodies.moving:
        through = body.velocity - (wind.value, 0.0, 0.0)  # velocity through the air
        force = -DRAG * np.linalg.norm(through) * through
        body.apply_force(force)
        panel.plot(body.name, -body.velocity[2], unit="m/s")
        panel.arrow(body.position, 0.5 * force, "drag")
        panel.text(f"{body.name} tends to", f"{np.sqrt(body.mass * G / DRAG):.2f} m/s")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
