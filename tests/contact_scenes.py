"""Scenes for claims about contact, said in a few words: `simulate(ground(), ball("b", (0, 0, 1)), e=0.5)`."""

import math

import numpy as np

from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

G = 9.81


def ground(**fields):
    return {"name": "ground", "fixed": True, "shape": [{"type": "plane"}], **fields}


def ball(name, position, radius=0.1, mass=1.0, k=0.4, **fields):
    """A round body of moment of inertia k m r² about every axis."""
    return body(name, position, {"type": "sphere", "radius": radius}, mass, [k * mass * radius**2] * 3, **fields)


def block(name, position, size=(0.5, 0.5, 0.5), mass=1.0, **fields):
    x, y, z = size
    moments = [mass / 12 * (y * y + z * z), mass / 12 * (x * x + z * z), mass / 12 * (x * x + y * y)]
    return body(name, position, {"type": "box", "size": list(map(float, size))}, mass, moments, **fields)


def body(name, position, shape, mass, inertia, **fields):
    fields = {key: list(map(float, v)) if isinstance(v, tuple | list | np.ndarray) else v for key, v in fields.items()}
    return {"name": name, "position": list(map(float, position)), "shape": [shape], "mass": float(mass),
            "inertia": [float(i) for i in inertia], **fields}


def simulate(*bodies, e=0.0, mu=0.5, gravity=(0.0, 0.0, -G), h=1 / 240, iterations=30, pairs=(), **keywords):
    """A Simulation of the bodies with one material."""
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [float(c) for c in gravity]},
        "solver": {"h": float(h), "iterations": iterations},
        "material": {"default": {"restitution": float(e), "friction": float(mu)}},
        "pair": list(pairs),
        "body": list(bodies),
    }), **keywords)


def tilted(angle):
    """Gravity as seen from an incline of the given angle that falls towards +x."""
    return (G * math.sin(angle), 0.0, -G * math.cos(angle))


def table(load=(0.0, 0.0), legs=4, e=0.0):
    """A heavy block without friction on ball feet: the textbook table. load: where its centre of mass is."""
    angle = 2 * np.pi * np.arange(legs) / legs + np.pi / 4
    feet = [{"type": "sphere", "radius": 0.05, "position": [float(0.5 * np.cos(a) - load[0]),
                                                            float(0.5 * np.sin(a) - load[1]), -0.3]} for a in angle]
    body = {"name": "table", "position": [0.0, 0.0, 0.35], "mass": 2.0, "inertia": [0.3, 0.3, 0.5], "shape": feet}
    sim = simulate(ground(), body, mu=0.0, e=e)
    sim.record_history()
    sim.run(0.2)
    return sim


# ---------------------------------------------------------------------------------------- A f + b and M λ + d
