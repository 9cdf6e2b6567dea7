"""Three methods, one impact: a ball that falls 1 m, and how near each method comes to the closed form.

Compliant surfaces have no coefficient of restitution: how high the ball bounces from them is up to stiffness and
damping.
"""

import math

import contactlab

E, HEIGHT, G = 0.8, 1.0, 9.81  # restitution, height of the fall [m], gravity [m/s²]


def main() -> dict[str, float]:
    """The error of the height that each method reaches at the top of the first bounce [m]."""
    scene = contactlab.Scene.from_dict({
        "material": {"default": {"restitution": E, "stiffness_n": 1e6}},
        "body": [
            {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
            {"name": "ball", "position": [0, 0, 0.1 + HEIGHT], "mass": 1.0, "inertia": [0.004] * 3,
             "shape": [{"type": "sphere", "radius": 0.1}]},
        ],
    })
    top = E**2 * HEIGHT
    fall = math.sqrt(2.0 * HEIGHT / G)
    errors = {}
    for method in ("event_driven", "time_stepping", "compliant"):
        sim = contactlab.Simulation(scene, method=method, h=1e-3)
        with sim.trace(height=lambda sim: sim.body("ball").position[2] - 0.1) as run:
            sim.run(until=fall * (1.0 + 2.0 * E))  # until it comes down again
        errors[method] = run["height"][run["t"] > 1.05 * fall].max() - top
        print(f"{method:14} bounces to {top + errors[method]:.6f} m, {errors[method]:+.1e} m off e² s = {top:.6f} m")
    return errors


if __name__ == "__main__":
    main()
