"""A cart balances a pole: state feedback whose gains are sliders. Pull the pole with the mouse, or press "kick"."""

import contactlab

HALF, CART, POLE = 0.5, 1.0, 0.2  # half length of the pole [m], masses [kg]

scene = contactlab.Scene.from_dict({
    "scene": {"title": "A pole on a cart", "watch": "The force on the cart, and how long a kick takes to die away."},
    "camera": {"target": [0, 0, 0.4], "distance": 3.0},
    "body": [
        {"name": "cart", "position": [0, 0, 0], "mass": CART, "inertia": [0.01, 0.01, 0.01],
         "shape": [{"type": "box", "size": [0.4, 0.2, 0.1]}]},
        {"name": "pole", "position": [0, 0, HALF], "mass": POLE, "inertia": [0.0167, 0.0167, 1e-4],
         "shape": [{"type": "capsule", "radius": 0.03, "height": 0.94}]},
    ],
    "joint": [
        {"type": "slider", "name": "rail", "child": "cart", "axis": [1, 0, 0], "anchor": [0, 0, 0]},
        {"type": "hinge", "name": "pin", "parent": "cart", "child": "pole", "axis": [0, 1, 0], "anchor": [0, 0, 0],
         "position": 8.0},
    ],
})
sim = contactlab.Simulation(scene)
panel = contactlab.Panel()
angle_gain = panel.slider("gain of the angle", 0, 120, 60, unit="N/rad")
spin_gain = panel.slider("gain of the turning", 0, 30, 12, unit="N s/rad")
place_gain = panel.slider("gain of the place", 0, 10, 3, unit="N/m")
speed_gain = panel.slider("gain of the speed", 0, 15, 6, unit="N s/m")
kick = panel.button("kick")


def step(sim: contactlab.Simulation) -> None:
    """F = k_1 θ + k_2 θ̇ + k_3 x + k_4 ẋ: under the pole the cart runs where it falls."""
    rail, pin = sim.joint("rail"), sim.joint("pin")
    force = (angle_gain.value * pin.position + spin_gain.value * pin.velocity
             + place_gain.value * rail.position + speed_gain.value * rail.velocity)
    rail.force = force
    if kick.pressed():
        pin.velocity = pin.velocity + 0.5
    panel.plot("angle", pin.position, unit="rad")
    panel.plot("place", rail.position, unit="m")
    panel.plot("force", force, unit="N")
    panel.arrow(sim.body("cart").position, (0.02 * force, 0, 0), f"{force:.1f} N")


if __name__ == "__main__":
    contactlab.view(sim, step, panel)
