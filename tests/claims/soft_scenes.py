"""Scenes for the claims about compliant surfaces, and what every such claim needs."""

import numpy as np

from contactlab.physics import Scene, Simulation

G = 9.81
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def ball(name="ball", z=0.1, mass=1.0, radius=0.1, inertia=0.4, **more):
    """A ball; inertia in units of m r²."""
    moment = inertia * mass * radius**2
    return {"name": name, "position": [0.0, 0.0, z], "mass": mass, "inertia": [moment] * 3,
            "shape": [{"type": "sphere", "radius": radius}], **more}


def box(name="box", z=0.1, mass=1.0, size=(0.2, 0.2, 0.2), **more):
    a, b, c = size
    moments = [mass * (b * b + c * c) / 12, mass * (a * a + c * c) / 12, mass * (a * a + b * b) / 12]
    return {"name": name, "position": [0.0, 0.0, z], "mass": mass, "inertia": moments,
            "shape": [{"type": "box", "size": list(size)}], **more}


def soft(*bodies, integrator="rk4", h=1 / 240, gravity=(0.0, 0.0, -G), friction=0.0, k=1e4, d=20.0, k_t=None, d_t=None,
         **settings):
    """The bodies on a floor, all pairs with the same gains."""
    scene = Scene.from_dict({
        "scene": {"title": "soft", "gravity": list(gravity)},
        "solver": {"method": "compliant", "integrator": integrator, "h": h},
        "material": {"default": {"friction": friction}}, "body": [FLOOR, *bodies]})
    sim = Simulation(scene)
    sim.set(stiffness_n=k, damping_n=d, stiffness_t=k_t or k, damping_t=d if d_t is None else d_t, **settings)
    return sim


def stack(count=10):
    """Boxes set one on the other as if they were rigid; the springs let them down."""
    return soft(*[box(f"box {i}", z=0.1 + 0.2 * i) for i in range(count)], friction=0.5, k=2e4, d=60.0,
                integrator="semi_implicit", h=1 / 120, substeps=16)


def on_incline(degrees):
    """A box on an incline below the friction angle of 26.6°, set down as if both were rigid."""
    slope = np.radians(degrees)
    return soft(box(), gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)), friction=0.5, k=1e4, d=60.0,
                integrator="heun")


def total(sim):
    """Energy of bodies and surfaces, and what the surfaces took [J]."""
    return sim.energy().total + sim.info.stored + sim.info.dissipated


def set_velocity(sim, name, velocity):
    """Give a body without spin another velocity."""
    i = sim.number(name)
    sim.state.bodies.v[i] = velocity
    sim.state.bodies.P[i] = sim.model.mass[i] * np.array(velocity)


def place(sim, name, shift):
    sim.state.bodies.x[sim.number(name)] += shift
