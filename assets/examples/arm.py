"""PD control of a two-link arm: torques from the errors of its angles, with and without the weight of the links."""

import math

import numpy as np

import contactlab

LENGTH, MASS, G = 0.5, 1.0, 9.81  # of each link [m], [kg], gravity [m/s²]


def link(name: str, x: float) -> dict:
    moment = MASS * LENGTH**2 / 12.0
    return {"name": name, "position": [x, 0, 0], "mass": MASS, "inertia": [1e-3, moment, moment],
            "shape": [{"type": "box", "size": [LENGTH, 0.06, 0.06]}]}


scene = contactlab.Scene.from_dict({
    "scene": {"title": "An arm that reaches", "watch": "Without the weight in the torques it hangs below its target."},
    "camera": {"target": [0.4, 0, 0], "distance": 2.5},
    "body": [link("upper", 0.25), link("fore", 0.75)],
    "joint": [
        {"type": "hinge", "name": "shoulder", "child": "upper", "axis": [0, -1, 0], "anchor": [0, 0, 0]},
        {"type": "hinge", "name": "elbow", "parent": "upper", "child": "fore", "axis": [0, -1, 0],
         "anchor": [LENGTH, 0, 0]},
    ],
})
sim = contactlab.Simulation(scene)
panel = contactlab.Panel()
targets = {"shoulder": panel.slider("shoulder", -90, 90, 40, unit="deg"),
           "elbow": panel.slider("elbow", -120, 120, 50, unit="deg")}
stiffness = panel.slider("stiffness", 0, 200, 60, unit="N m/rad")
damping = panel.slider("damping", 0, 20, 6, unit="N m s/rad")
weight = panel.checkbox("carry the weight", True)


def carried(sim: contactlab.Simulation) -> dict[str, float]:
    """The torques that hold the links where they are: weight times lever arm, of all that hangs on a joint."""
    pins = {"shoulder": np.zeros(3), "elbow": sim.body("upper").to_world((0.5 * LENGTH, 0, 0))}
    held = {"shoulder": ("upper", "fore"), "elbow": ("fore",)}
    return {name: sum(MASS * G * (sim.position(body)[0] - pins[name][0]) for body in held[name]) for name in pins}


def step(sim: contactlab.Simulation) -> None:
    holding = carried(sim)
    for name, target in targets.items():
        joint = sim.joint(name)
        error = math.radians(target.value) - joint.position
        joint.force = stiffness.value * error - damping.value * joint.velocity + (holding[name] if weight else 0.0)
        panel.plot(f"error of the {name}", math.degrees(error), unit="deg")
        panel.text(f"torque of the {name}", f"{joint.force:.1f} N m")
    panel.mark(sim.body("fore").to_world((0.5 * LENGTH, 0, 0)), "hand")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
