"""An own contact law: Hunt and Crossley's force, compiled by numba, is what a soft floor pushes a ball up with."""

import numba

import contactlab

RADIUS = 0.1  # [m]


@numba.njit
def force(depth: float, rate: float, k: float, d: float) -> float:
    """f = K δ^{3/2} (1 + 3/2 D δ̇): no damping at the surface, so no jump of the force [N]."""
    return k * depth**1.5 * (1.0 + 1.5 * d * rate)


contactlab.soft_law("Hunt and Crossley, 3/2", force, units=("N/m^1.5", "s/m"))
scene = contactlab.Scene.from_dict({
    "scene": {"title": "A law of one's own", "watch": "The force over the depth: a loop, which takes the energy."},
    "camera": {"target": [0, 0, 0.3], "distance": 2.0},
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, 0.6], "mass": 1.0, "inertia": [0.004, 0.004, 0.004],
         "shape": [{"type": "sphere", "radius": RADIUS}]},
    ],
})
sim = contactlab.Simulation(scene, h=5e-4)
sim.set(method="compliant", law="Hunt and Crossley, 3/2", stiffness_n=1e5, damping_n=0.3)  # sliders of the window
panel = contactlab.Panel()


def step(sim: contactlab.Simulation) -> None:
    ball = sim.body("ball")
    pushed = ball.contact_force[2]
    panel.plot("depth", 1000.0 * max(RADIUS - ball.position[2], 0.0), unit="mm")
    panel.plot("force", pushed, unit="N")
    panel.arrow(ball.position - (0, 0, RADIUS), (0, 0, 0.001 * pushed), f"{pushed:.0f} N" if pushed else "")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
