"""Trees for claims about joints: random ones, and scenes of rods."""

import math

import numpy as np

from contactlab.physics.scene.scene import Scene

TYPES = ("hinge", "slider", "ball", "universal", "fixed")


def direction(rng):
    u = rng.normal(size=3)
    return (u / np.linalg.norm(u)).tolist()


def quaternion(rng):
    q = rng.normal(size=4)
    return (q / np.linalg.norm(q)).tolist()


def random_tree(rng, links, types=TYPES, floating=None):
    """A scene of one random tree of so many links, on the world or with a free root."""
    floating = rng.random() < 0.5 if floating is None else floating
    bodies, joints = [], []
    for i in range(links):
        moments = rng.uniform(0.5, 1.0, 3) * 0.1
        bodies.append({
            "name": f"link {i}", "position": rng.normal(size=3).tolist(), "orientation": quaternion(rng),
            "mass": rng.uniform(0.5, 2.0), "inertia": moments.tolist(),
        })
        if i == 0 and floating:
            bodies[0] |= {"velocity": rng.normal(size=3).tolist(), "angular_velocity": rng.normal(size=3).tolist()}
            joints.append({"type": "free", "child": "link 0", "armature": 0.0})
            continue
        kind = str(rng.choice(types))
        joint = {"type": kind, "child": f"link {i}", "anchor": rng.normal(size=3).tolist(),
                 "parent": "world" if i == 0 else f"link {rng.integers(max(0, i - 3), i)}"}
        if kind != "fixed":
            joint["armature"] = rng.uniform(0.0, 0.1)
        if kind in ("hinge", "slider"):
            joint |= {"axis": direction(rng), "position": rng.normal(), "velocity": rng.normal()}
        if kind == "universal":
            a, b = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
            joint |= {"axes": [a.tolist(), b.tolist()], "position": rng.normal(size=2).tolist(),
                      "velocity": rng.normal(size=2).tolist()}
        if kind == "ball":
            joint |= {"position": (50 * rng.normal(size=3)).tolist(), "velocity": rng.normal(size=3).tolist()}
        joints.append(joint)
    return Scene.from_dict({"scene": {"gravity": rng.normal(size=3).tolist()}, "body": bodies, "joint": joints})


def rods(count, length=1.0, mass=1.0, angle=90.0, gravity=9.81, **joint):
    """Rods in a row, hinged about y, the first on the world's origin; at `angle` degrees from hanging straight down."""
    moment = mass * length**2 / 12.0
    bodies = [{"name": f"rod {i}", "position": [0.0, 0.0, -(i + 0.5) * length], "mass": mass,
               "inertia": [moment, moment, 1e-9 * moment + 1e-6 * moment]} for i in range(count)]
    joints = [{"type": "hinge", "axis": [0.0, -1.0, 0.0], "child": f"rod {i}", "anchor": [0.0, 0.0, -i * length],
               "parent": f"rod {i - 1}" if i else "world"} | joint for i in range(count)]
    joints[0] |= {"position": angle}
    return {"scene": {"gravity": [0.0, 0.0, -gravity]}, "body": bodies, "joint": joints}


def rod(name, position, length=1.0, radius=0.02, mass=1.0, **fields):
    """A rod along x, thin but for the shape that touches."""
    moment = mass * length**2 / 12.0
    return {"name": name, "position": list(position), "mass": mass, "inertia": [1e-3 * moment, moment, moment],
            "shape": [{"type": "capsule", "radius": radius, "height": length, "euler": [0, 90, 0]}]} | fields


def hinge(child, anchor, axis=(0, -1, 0), parent="world", **fields):
    return {"type": "hinge", "child": child, "parent": parent, "anchor": list(anchor), "axis": list(axis), **fields}


def radians(degrees):
    return degrees * math.pi / 180.0
