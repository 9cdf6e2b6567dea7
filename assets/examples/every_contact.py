"""Reading every contact: who presses on whom, how hard, and whether the forces carry the weight."""

import numpy as np

import contactlab

bricks = [{"name": f"brick {k}", "position": [0.05 * (k % 2), 0, 0.1 + 0.2 * k], "mass": 2.0,
           "inertia": [0.03, 0.03, 0.04], "shape": [{"type": "box", "size": [0.4, 0.4, 0.2]}]} for k in range(5)]
scene = contactlab.Scene.from_dict({
    "scene": {"title": "Five bricks", "watch": "Each brick carries all that stand on it."},
    "body": [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}, *bricks],
})
sim = contactlab.Simulation(scene)
panel = contactlab.Panel()


def step(sim: contactlab.Simulation) -> None:
    for body in sim.bodies.moving:
        below = [contact for contact in body.contacts if contact.point[2] < body.position[2]]
        carried = sum(contact.force_on(body.name)[2] for contact in below)
        panel.text(body.name, f"stands on {len(below)} points with {carried:.1f} N")
        panel.plot(body.name, carried, unit="N")
        panel.arrow(body.position, 0.005 * np.array([0.0, 0.0, carried]), f"{carried:.0f} N")


if __name__ == "__main__":
    sim.run(until=1.0)
    for contact in sim.contact_list():
        sets = "active" if contact.active else "current" if contact.current else "-"
        pair = f"{contact.a:8} under {contact.b:8}"
        print(f"{pair}  φ = {contact.gap:9.2e} m  λ = {contact.lam:6.2f} N  {contact.case}, {sets}")
    contactlab.view(sim, step, panel)
