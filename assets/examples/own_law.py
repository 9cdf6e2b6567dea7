"""An own contact law: Hunt and Crossley's force, written in Python, holds a ball that falls through its floor."""

import contactlab

RADIUS = 0.1  # [m]

scene = contactlab.Scene.from_dict({
    "scene": {"title": "A law of one's own", "watch": "The force over the depth: a loop, which takes the energy."},
    "solver": {"h": 5e-4},
    "camera": {"target": [0, 0, 0.3], "distance": 2.0},
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, 0.6], "mass": 1.0, "inertia": [0.004, 0.004, 0.004],
         "shape": [{"type": "sphere", "radius": RADIUS}]},
    ],
    "apart": [{"bodies": ["floor", "ball"]}],  # the engine's own contact does not act between the two
})
sim = contactlab.Simulation(scene)
panel = contactlab.Panel()
stiffness = panel.slider("stiffness k", 1e4, 1e6, 1e5, unit="N/m^1.5", logarithmic=True)
damping = panel.slider("damping d", 0.0, 2.0, 0.3, unit="s/m")


def law(depth: float, rate: float) -> float:
    """f = k δ^{3/2} (1 + 3/2 d δ̇), never below 0: no damping at the surface, so no jump of the force [N]."""
    return max(0.0, stiffness.value * depth**1.5 * (1.0 + 1.5 * damping.value * rate)) if depth > 0.0 else 0.0


def step(sim: contactlab.Simulation) -> None:
    ball = sim.body("ball")
    depth, rate = RADIUS - ball.position[2], -ball.velocity[2]
    # the force acts for a whole step: taken in its middle, it does not lag, which would give the ball energy
    force = law(depth + 0.5 * sim.settings.h * rate, rate)
    ball.apply_force((0, 0, force))
    panel.plot("depth", 1000.0 * max(depth, 0.0), unit="mm")
    panel.plot("force", force, unit="N")
    panel.arrow(ball.position - (0, 0, RADIUS), (0, 0, 0.001 * force), f"{force:.0f} N" if force else "")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
