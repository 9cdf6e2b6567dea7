"""A force of one's own, compiled by numba: balls of different mass fall through air, F = -c |v| v."""

import numba
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
slider = panel.slider("wind", -10, 10, 0, unit="m/s")
wind = np.zeros(3)  # [m/s]


@numba.njit
def drag(air, v, force):
    """Add the force on each body, whose velocity through the air is v - air."""
    for i in range(len(v)):
        through = v[i] - air
        force[i] -= DRAG * np.sqrt(through @ through) * through


def law(t, x, q, v, w, force, torque):
    drag(wind, v, force)


sim.force_law = law  # of all bodies at once, before every step


def step(sim: contactlab.Simulation) -> None:
    wind[0] = slider.value
    for body in sim.bodies.moving:
        panel.plot(body.name, -body.velocity[2], unit="m/s")
        panel.text(f"{body.name} tends to", f"{np.sqrt(body.mass * G / DRAG):.2f} m/s")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
