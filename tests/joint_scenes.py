"""Mechanisms of joints in maximal coordinates, as scenes."""

import numpy as np

from contactlab.physics import Scene
from contactlab.physics.scene.joint_forest import in_forest


def rod(name, start, end, mass=1.0, **more):
    """A slender uniform rod between two points, its body frame along the world's axes."""
    start, end = np.array(start, float), np.array(end, float)
    along = end - start
    length2 = along @ along
    I = mass / 12.0 * (length2 * np.eye(3) - np.outer(along, along))
    I += 1e-3 * mass * length2 / 12.0 * np.outer(along, along) / length2  # not quite without width
    return {"name": name, "position": (0.5 * (start + end)).tolist(), "mass": mass,
            "inertia": [*np.diag(I), I[0, 1], I[0, 2], I[1, 2]]} | more


def hinge(parent, child, anchor, axis=(0.0, -1.0, 0.0), **more):
    return {"type": "hinge", "parent": parent, "child": child, "anchor": list(map(float, anchor)),
            "axis": list(map(float, axis)), "coordinates": "maximal"} | more


def scene(bodies, joints, gravity=(0.0, 0.0, -9.81), **solver):
    return {"scene": {"gravity": list(gravity)}, "solver": solver, "body": bodies, "joint": joints}


def point_pendulum(angle=90.0, **solver):
    """A point mass on a massless arm of 1 m, at `angle` degrees from hanging; turns about -y, towards x."""
    a = np.radians(angle)
    bob = {"name": "bob", "position": [np.sin(a), 0.0, -np.cos(a)], "mass": 1.0, "inertia": [1e-9] * 3}
    return scene([bob], [hinge("world", "bob", (0, 0, 0))], **solver)


def four_bars(n=2, speed=1.0, **solver):
    """The N-four-bar of IFToMM A02: n + 1 upright cranks, n couplers on top, rods of 1 m and 1 kg; the first
    coupler pin moves along x at 1 m/s."""
    bodies, joints = [], []
    for i in range(n + 1):
        bodies.append(rod(f"crank {i}", (i, 0, 0), (i, 0, 1), velocity=[0.5 * speed, 0.0, 0.0],
                          angular_velocity=[0.0, speed, 0.0]))
        joints.append(hinge("world", f"crank {i}", (i, 0, 0)))
    for i in range(n):
        bodies.append(rod(f"coupler {i}", (i, 0, 1), (i + 1, 0, 1), velocity=[speed, 0.0, 0.0]))
        joints.append(hinge(f"crank {i}", f"coupler {i}", (i, 0, 1)))
        joints.append(hinge(f"coupler {i}", f"crank {i + 1}", (i + 1, 0, 1)))
    return scene(bodies, joints, **solver)


def slider_crank(speed=2.0, **solver):
    """A crank that turns, a rod, and a block on a slide along x: a loop. Without gravity."""
    crank = rod("crank", (0, 0, 0), (0.3, 0, 0), angular_velocity=[0.0, -speed, 0.0],
                velocity=[0.0, 0.0, 0.15 * speed])
    block = {"name": "block", "position": [1.0, 0, 0], "mass": 0.5, "inertia": [0.01] * 3}
    joints = [hinge("world", "crank", (0, 0, 0)), hinge("crank", "rod", (0.3, 0, 0)),
              hinge("rod", "block", (1.0, 0, 0)),
              hinge("world", "block", (1.0, 0, 0), (1.0, 0, 0)) | {"type": "slider"}]
    return scene([crank, rod("rod", (0.3, 0, 0), (1.0, 0, 0)), block], joints, gravity=(0.0, 0.0, 0.0), **solver)


def bricard(**solver):
    """Bricard's mechanism, IFToMM A04: five rods along the edges of a cube, six hinges at right angles to both of their
    rods; mobile though the joints leave -1 degrees of freedom by count. Gravity along -y."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], float)
    names = ["world", *(f"rod {i}" for i in range(5)), "world"]
    edges = np.diff(np.vstack([corners, corners[:1]]), axis=0)
    bodies, joints = [], []
    for i in range(5):
        body = rod(f"rod {i}", corners[i], corners[i + 1])
        square = np.outer(edges[i], edges[i])
        I = 1.0 / 12.0 * ((1.0 + 0.01) * (np.eye(3) - square) + 0.02 * square)  # square section of 0.1 m
        bodies.append(body | {"inertia": np.diag(I).tolist()})
    for i in range(6):
        axis = np.cross(edges[i - 1], edges[i])
        parent, child = (names[i], names[i + 1]) if i < 5 else ("world", "rod 4")
        joints.append(hinge(parent, child, corners[i], axis))
    return scene(bodies, joints, gravity=(0.0, -9.81, 0.0), **solver)


def ball_chain(count=15, ratio=1000.0, **solver):
    """Balls of 0.2 m hanging on ball joints from one another, a heavy one of ten times the radius at the end, pulled
    aside."""
    mass = 1000.0 * 4.0 / 3.0 * np.pi * 0.2**3
    bodies, joints, at = [], [], np.zeros(3)
    way = np.array([1.0, 0.0, 0.0])
    for i in range(count + 1):
        heavy = i == count
        radius, m = (2.0, mass * ratio) if heavy else (0.2, mass)
        anchor = at.copy()
        at = anchor + (radius + 0.2 if heavy else 0.4) * way
        bodies.append({"name": f"ball {i}", "position": at.tolist(), "mass": m, "inertia": [0.4 * m * radius**2] * 3})
        joints.append({"type": "ball", "parent": f"ball {i - 1}" if i else "world", "child": f"ball {i}",
                       "anchor": anchor.tolist(), "coordinates": "maximal"})
    return scene(bodies, joints, **solver)


def falling_pair(coordinates="maximal", e=0.5, mu=0.4):
    """Two rods hinged to each other, both inclined, thrown onto the floor. Of a link its joint says how it starts."""
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    rods_of = [{"name": name, "position": [x, 0, 0.8 + 0.2 * x], "euler": [0, angle, 0], "mass": mass,
                "shape": [{"type": "capsule", "radius": 0.05, "height": 0.8}]}
               for name, x, angle, mass in (("one", 0.0, 70.0, 1.0), ("two", 0.85, 110.0, 2.0))]
    for body in rods_of if coordinates == "maximal" else rods_of[:1]:
        body["velocity"] = [0.3, 0, -1.0]
    joint = hinge("one", "two", (0.425, 0, 0.9), coordinates=coordinates)
    return scene([floor, *rods_of], [joint]) | {"material": {"default": {"restitution": e, "friction": mu}}}


def as_trees(tables):
    """The scene with as many joints in generalized coordinates as make a forest."""
    forest = in_forest(Scene.from_dict(tables).tables.joint)
    joints = [joint | {"coordinates": "generalized" if tree else "maximal"}
              for joint, tree in zip(tables["joint"], forest, strict=True)]
    return tables | {"joint": joints}
