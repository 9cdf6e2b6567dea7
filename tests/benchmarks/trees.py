"""H, C and forward dynamics of trees: our kernels beside Pinocchio's through its Python binding, and ABA over the
number of links. Run by hand: python tests/benchmarks/trees.py
"""

import pathlib
import sys
import time

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from pinocchio_trees import PinocchioTree
from tree_scenes import direction, random_tree

from contactlab.physics.dynamics.trees.joint_space import forward_dynamics, inverse_dynamics
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.scene.scene import Scene


def hinges(parents):
    """A tree of hinged links; parents[i] is the link that carries link i, -1 the world."""
    rng = np.random.default_rng(0)
    bodies = [{"name": f"link {i}", "position": [0.1 * i, 0.0, 0.0], "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
              for i in range(len(parents))]
    joints = [{"type": "hinge", "axis": direction(rng), "child": f"link {i}", "position": 20.0 * rng.normal(),
               "velocity": rng.normal(), "anchor": [0.1 * i - 0.05, 0.0, 0.0],
               "parent": "world" if p < 0 else f"link {p}"} for i, p in enumerate(parents)]
    return Scene.from_dict({"body": bodies, "joint": joints}).build()


def chain(n):
    return hinges(range(-1, n - 1))


def limbs(count, length):
    return hinges([-1, *(0 if k == 0 else 1 + limb * length + k - 1 for limb in range(count) for k in range(length))])


def best(call, repeat=7):
    """Least mean time of a call [µs]."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        if time.perf_counter() - start > 0.02:
            break
        count *= 4
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return 1e6 * min(times)


def measure(name, setup):
    model, (q, v) = setup.model, setup.state.joints
    n, space, gravity = len(v), joint_space(model.trees), model.gravity
    zero, tau, out, H = np.zeros(n), np.ones(n), np.zeros(n), np.zeros((n, n))
    ours = (best(lambda: mass_matrix(space, q, H)),
            best(lambda: inverse_dynamics(space, gravity, q, v, zero, out)),
            best(lambda: forward_dynamics(space, gravity, q, v, tau, zero, out)))
    oracle = PinocchioTree(model)
    q_pin, v_pin, _ = oracle.coordinates(q, v)
    m, d = oracle.model, oracle.data
    theirs = (best(lambda: pin.crba(m, d, q_pin)), best(lambda: pin.nonLinearEffects(m, d, q_pin, v_pin)),
              best(lambda: pin.aba(m, d, q_pin, v_pin, tau)))
    cells = "   ".join(f"{a:6.1f} / {b:6.1f} = {a / b:4.2f}" for a, b in zip(ours, theirs, strict=True))
    print(f"{name:28} {n:4}   {cells}")


if __name__ == "__main__":
    print(f"{'µs a call, ours / Pinocchio':28} {'dof':>4}   {'H':^22}   {'C':^22}   {'forward dynamics':^22}")
    measure("arm", chain(7))
    branches = (p for limb in range(5) for p in (4, *range(5 + 5 * limb, 9 + 5 * limb)))
    measure("branched tree", hinges([-1, 0, 1, 2, 3, *branches]))
    measure("four limbs of 25", limbs(4, 25))
    measure("mixed joints, free root", random_tree(np.random.default_rng(3), 15, floating=True).build())
    print("\nABA over the number of links of a chain")
    for links in (10, 20, 40, 80, 160, 320):
        setup = chain(links)
        model, (q, v) = setup.model, setup.state.joints
        space, zero, out = joint_space(model.trees), np.zeros(links), np.zeros(links)
        cost = best(lambda: forward_dynamics(space, model.gravity, q, v, zero, zero, out))  # noqa: B023
        print(f"{links:5} links {cost:8.1f} µs, {1e3 * cost / links:6.0f} ns a link")
