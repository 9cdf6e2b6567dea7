"""Claims about the coordinates that the solver `newton` takes, x = Gᵀ λ: against M = J H⁻¹ Jᵀ written out.

Cholesky's factors of H⁻¹, and of what links and joined bodies add to M, leave out what is below 1e-13 of a diagonal
entry. An entry M_ij is then known to that part of √(w_i w_j), the largest it can be, w the trace of a contact's own
block, and to rounding, a few units of 2⁻⁵² for each of some hundred products; pivots near the 1e-13 are rounded by as
much as a part of themselves, which at most doubles both. H⁻¹ of joined bodies is a difference: what they would do
freely less what the joints forbid. It is rounded as the free motion of the one that moves most easily is.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.jit import kernel
from contactlab.physics.problem.assemble import frame_of, matrix_of
from contactlab.physics.solvers.island import AT, BEGIN, WIDE, find_islands, open_island
from contactlab.physics.solvers.pgs import ProjectedGaussSeidel

ROUNDED = 200 * 2.0**-52
KNOWN = 2.0 * (1e-13 + ROUNDED)
REACH = 0.5  #: no point of a body of a heap is farther from its centre [m]
SHAPES = ({"type": "box", "size": [0.4, 0.5, 0.6]}, {"type": "sphere", "radius": 0.3},
          {"type": "capsule", "radius": 0.2, "height": 0.4})


@kernel
def dense_factor(system, number_out, G_out):
    """number_out (c,): island of each contact. G_out (3 c, columns): rows of G in contact frames, each island's in
    columns of its own. Returns how many columns there are."""
    count, bodies, blocks = int(system.count[0]), len(system.motion.bodies), int(system.blocks.count[1])
    number, own, label = np.zeros(count + blocks, np.int64), np.zeros(bodies, np.int64), np.full(bodies, -1)
    islands, column = find_islands(system, number, own), 0
    for i in range(islands):
        members = np.flatnonzero(number == i)
        island = open_island(system, members, own, label)
        for j in range(len(members)):
            if members[j] >= count:
                continue
            k = int(members[j])
            for p in range(island.first[j], island.first[j + 1]):
                at, wide, e = island.piece[p, AT], island.piece[p, WIDE], island.piece[p, BEGIN]
                for d in range(wide):
                    for r in range(3):
                        axis = frame_of(system.rows, k)[r]
                        G_out[3 * k + r, column + at + d] += (
                            axis[0] * island.G[e + d] + axis[1] * island.G[e + wide + d]
                            + axis[2] * island.G[e + 2 * wide + d])
        column += len(island.x)
    for k in range(count):
        number_out[k] = number[k]
    return column


def seen_by_sweeps(scene, monkeypatch, look):
    """Call look(system) with the contact problem of a step of the scene; Newton's method is called by the program of a
    step, where nothing can look on."""
    solve = ProjectedGaussSeidel.solve_bodies

    def spy(self, system, iterations, tolerance):
        look(system)
        return solve(self, system, iterations, tolerance)

    with monkeypatch.context() as patch:
        patch.setattr(ProjectedGaussSeidel, "solve_bodies", spy)
        Simulation(Scene.from_dict(scene), solver="pgs").step()


def heap(rng, joined):
    """Bodies that overlap each other and the floor, none or some of them on joints in either coordinates, or all in one
    tree that stands on nothing."""
    bodies = [{"name": f"b{i}", "position": rng.uniform((-0.6, -0.6, 0.1), (0.6, 0.6, 0.9)).tolist(),
               "euler": rng.uniform(-180, 180, 3).tolist(), "mass": float(10.0 ** rng.uniform(-3, 3)),
               "inertia": (10.0 ** rng.uniform(-2, 0) * rng.uniform(0.6, 1.0, 3)).tolist(),
               "shape": [SHAPES[int(rng.integers(3))]]} for i in range(int(rng.integers(2, 7)))]
    joints = [{"type": str(rng.choice(["ball", "fixed"])), "child": f"b{i}",
               "anchor": rng.uniform(-0.5, 0.5, 3).tolist(),
               "parent": f"b{i - 1}" if i > 1 and rng.random() < 0.7 else "world",
               "coordinates": str(rng.choice(["maximal", "generalized"]))}
              for i in range(1, len(bodies)) if joined == "some" and rng.random() < 0.6]
    if joined == "tree":
        kinds = {"type": "ball"}, {"type": "hinge", "axis": [0.6, 0.0, 0.8]}
        joints = [{**kinds[int(rng.integers(2))], "child": f"b{i}", "parent": f"b{int(rng.integers(i))}",
                   "anchor": rng.uniform(-0.5, 0.5, 3).tolist(), "coordinates": "generalized"}
                  for i in range(1, len(bodies))]
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    return {"body": [*bodies, floor], "joint": joints}


@pytest.mark.parametrize("joined", ["none", "some", "tree"])
@example(seed=4691)
@example(seed=102023)  # joints leave a contact a thousandth of what its bodies would do freely
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_an_island_has_the_inverse_inertia_of_its_contacts(joined, seed):
    """G Gᵀ = M within an island, and M = 0 between islands."""
    compared: list[int] = []
    scene = heap(np.random.default_rng(seed), joined)
    free = max(3.0 / body["mass"] + 2.0 * REACH**2 / min(body["inertia"]) for body in scene["body"][:-1])

    def compare(system):
        count = int(system.count[0])
        M, number, G = matrix_of(system), np.full(count, -9), np.zeros((3 * count, 2000))
        columns = dense_factor(system, number, G)
        assert columns <= G.shape[1]
        found = G @ G.T
        w = np.repeat(np.maximum(np.diag(M), 0.0).reshape(-1, 3).sum(1), 3)
        known = KNOWN * np.sqrt(np.outer(w, w))
        if joined != "none":
            known += 2.0 * ROUNDED * free  # both are rounded so
        assert (np.abs(found - M) <= known).all()
        compared.append(count)

    with pytest.MonkeyPatch.context() as patch:
        seen_by_sweeps(scene, patch, compare)
    assert compared
