"""The angle of friction, found by tilting gravity: the block slips where tan α > μ."""

import math

import contactlab

MU, G = 0.4, 9.81

scene = contactlab.Scene.from_dict({
    "material": {"default": {"friction": MU, "restitution": 0.0}},
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "block", "position": [0, 0, 0.1], "mass": 1.0, "inertia": [0.02] * 3,
         "shape": [{"type": "box", "size": [0.4, 0.4, 0.2]}]},
    ],
})


def slips(angle: float) -> bool:
    """Whether the block moves within half a second on a slope of this angle [rad]."""
    sim = contactlab.Simulation(scene)
    sim.set(gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))
    sim.run(until=0.5)
    return sim.body("block").velocity[0] > 1e-6


def main() -> float:
    low, high = 0.0, math.radians(60.0)
    while high - low > math.radians(0.01):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slips(middle) else (middle, high)
    print(f"slips from {math.degrees(high):.2f}° on; arctan μ = {math.degrees(math.atan(MU)):.2f}°")
    return high


if __name__ == "__main__":
    main()
