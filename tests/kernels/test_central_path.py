"""Claims about the central path of an island: it ends at the solution, from nothing that is known of it.

At σ the natural map is of the size of σ where either the force of a contact or its velocity is not 0, and of the size
of √σ where both vanish, so that σ = 1e-20, where the path ends, leaves 1e-10 of the largest velocity or less. The
compliance δ of the path leaves velocities of δ x, which are μ² δ λ/ρ or less.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from contact_scenes import block, ground
from joint_scenes import hinge, rod
from test_island import seen_by_sweeps

from contactlab.physics.core.jit import kernel
from contactlab.physics.core.sym3 import three
from contactlab.physics.core.vec import axpy, norm, put, row
from contactlab.physics.problem.residual import system_residual
from contactlab.physics.solvers.central_path import (
    CONE,
    END,
    FORM,
    PASS,
    SIGMA,
    STOP,
    THETA,
    WIDE,
    YIELD,
    follow_path,
    from_axes,
    look_cone,
    measure,
    open_path,
    stop,
    straighten,
)
from contactlab.physics.solvers.island import find_islands, open_island, skyline_of
from contactlab.physics.solvers.newton import APART, give

NEAR = 1e-8  # natural map, relative to the largest velocity without impulses, of which the residual knows more
MOST = 100   # factorizations: these scenes take 22 to 49 at tolerances four times as wide


@kernel
def follow(system, near, most, told_out):
    """The central path of each island, from its beginning to a natural map of near times the largest velocity without
    impulses, with at most so many factorizations. told_out (2,): the most of them, and the largest σ at the end."""
    count, bodies, others = int(system.count[0]), len(system.motion.bodies), int(system.blocks.count[1])
    number, own, label = np.zeros(count + others, np.int64), np.zeros(bodies, np.int64), np.full(bodies, -1)
    told_out[:] = 0.0
    for i in range(find_islands(system, number, own)):
        island = open_island(system, np.flatnonzero(number == i), own, label)
        sky, size = skyline_of(island), 0.0
        for j in range(len(island.kind)):
            size = max(size, norm(row(island.free, j)))
        path = open_path(island, sky, APART[0])
        looks, _, _ = follow_path(island, sky, path, near * size, most)
        told_out[0], told_out[1] = max(told_out[0], looks), max(told_out[1], path.here[SIGMA])
        give(system, island)


def wall(mu, **motion):
    """Ten boxes in four rows, each on two of the row below; motion: of the topmost."""
    boxes = [block(f"b{r}_{i}", (0.52 * (i - 0.5 * (3 - r)), 0, 0.25 + 0.5 * r), mass=62.5)
             for r in range(4) for i in range(4 - r)]
    return {"material": {"default": {"friction": mu}}, "body": [ground(), *boxes[:-1], boxes[-1] | motion]}


def arm(**joint):
    """A hinged rod on its stop, the end of which lies on a box."""
    return {"material": {"default": {"friction": 0.5}}, "body": [
        ground(), block("box", (0.9, 0, 0.25), mass=3.0),
        rod("rod", (0, 0, 0.55), (1, 0, 0.55), mass=2.0) | {
            "shape": [{"type": "box", "size": [1.0, 0.1, 0.1]}]}],
        "joint": [hinge("world", "rod", (0, 0, 0.55)) | joint]}


SCENES = {
    "stuck": wall(0.5),
    "slips": wall(0.1),
    "smooth": wall(0.0),
    "pushed": wall(0.5, velocity=[2.0, 0.5, -1.0]),
    "limit": arm(limits=[0.0, 90.0]),
    "motor": arm(motor={"speed": 1.0, "limit": 4.0}),
}


def on_ice(scene):
    """The same bodies on a floor without friction."""
    floor = ground(shape=[{"type": "plane", "material": "ice"}])
    return scene | {"material": scene["material"] | {"ice": {"friction": 0.0}}, "body": [floor, *scene["body"][1:]]}


def followed(scene, near, most, monkeypatch):
    """Residuals before and after `follow`, and what it tells."""
    seen = []

    def look(system):
        told, before = np.full(2, np.nan), system_residual(system)
        follow(system, near, most, told)
        seen.append((before, system_residual(system), told))

    seen_by_sweeps(scene, monkeypatch, look)
    (result,) = seen
    return result


@pytest.mark.parametrize("name", SCENES)
def test_the_central_path_ends_at_the_solution(name, monkeypatch):
    before, after, (looks, _) = followed(SCENES[name], NEAR, MOST, monkeypatch)
    assert before[0] > 1e-2 * before[1]
    assert after[0] <= NEAR * after[1]
    assert looks < MOST


@pytest.mark.parametrize("motion", [{"velocity": [0.01, 0.003, 0.0]}, {"velocity": [2.0, 0.5, -1.0]}])
def test_bodies_that_stick_together_and_slide_as_one_are_followed_to_the_end_of_the_path(motion, monkeypatch):
    """What they do together depends on nothing but their inertia, which is 1 beside the D of the contacts that stick.
    These are as large as 1/σ where nothing yields: 1e20 at the end, beside which a 1 has no digits."""
    before, after, (looks, sigma) = followed(on_ice(wall(0.5, **motion)), 0.0, 10 * MOST, monkeypatch)
    assert before[0] > 1e-2 * before[1]
    assert sigma <= END
    assert after[0] <= math.sqrt(END) * before[1] + YIELD * after[1]
    assert looks < 10 * MOST


@kernel
def look_at_one(z, sigma, change, out):
    """Of a contact, out (3, 3): y - s n; G_y⁻¹ of a change, along the axes of z; and its measure."""
    block = np.zeros((1, WIDE))
    block[0, FORM] = CONE
    put(out, 0, look_cone(block, 0, row(z, 0), sigma))
    put(out, 1, straighten(block, 0, row(change, 0)))
    put(out, 2, measure(block, 0, row(change, 0)))


@pytest.mark.parametrize("sigma", [1e-4, 1e-12, 1e-20])
def test_the_law_of_a_contact_that_slips_keeps_its_digits(sigma):
    """At σ its normal velocity is of the size of σ, beside a velocity of slip of 0.005. To divide what is left of the
    law by σ, as a step does, needs it to relative precision. Some twenty operations, and in z_n - |z_T| a difference of
    one third of its terms, make less than 1e-14."""
    z, way, out = (0.01, 0.012, 0.009), (0.0, 0.8, 0.6), np.full((3, 3), np.nan)
    look_at_one(np.array([z]), sigma, np.array([way]), out)
    with localcontext() as context:
        context.prec = 120
        n, t_x, t_y, part, four = *map(Decimal, z), Decimal(THETA) ** 2, 4 * Decimal(sigma)
        size = (t_x * t_x + t_y * t_y).sqrt()
        y_a, y_b = (((v * v + four).sqrt() - v) / 2 for v in (n - size, n + size))
        y_n, y_t = (y_a + y_b) / 2, (y_a - y_b) / 2
        s = ((1 - part) * y_t * y_t + part * y_n * y_n).sqrt()
        normal, kept = y_n - s, 1 - (1 - part) * y_t / (s - part * y_n)
        expected = np.array([normal, -y_t * t_x / size, -y_t * t_y / size, kept - 2, kept], float)
    np.testing.assert_allclose([*out[0], *out[1, :2]], expected, rtol=1e-14)


@kernel
def yielded(z, sigma, change, out):
    """Of a contact, out (1, 3): 1 - P + δ G_y⁻¹ P times what `stop` makes of a change, along the axes of z."""
    block = np.zeros((1, WIDE))
    block[0, FORM] = CONE
    look_cone(block, 0, row(z, 0), sigma)
    v, p, q = stop(block, 0, row(change, 0)), three(block, 0, PASS), three(block, 0, STOP)
    passed = straighten(block, 0, from_axes(block, 0, (p[0] * v[0], p[1] * v[1], p[2] * v[2])))
    put(out, 0, axpy(YIELD, passed, (q[0] * v[0], q[1] * v[1], q[2] * v[2])))


@pytest.mark.parametrize("sigma", [1e-4, 1e-12, 1e-20])
@pytest.mark.parametrize("z", [(1.0, 0.3, -0.4), (0.01, 0.012, 0.009), (-1.0, 0.3, -0.4)])
def test_a_contact_yields_by_the_compliance_of_the_path_where_it_sticks(z, sigma):
    """There 1 - P is about σ and G_y⁻¹ has entries of up to 2: δ decides. Some ten operations on terms of the size of
    the change, of condition 10 or less, make less than 1e-14."""
    change, out = (0.7, -0.4, 0.9), np.full((1, 3), np.nan)
    yielded(np.array([z]), sigma, np.array([change]), out)
    np.testing.assert_allclose(out[0], change, rtol=0, atol=1e-14)


@pytest.mark.parametrize("ratio", [1.0, 2.0**-10, 2.0**-40])
def test_a_change_of_measure_1_across_the_axes_ends_on_the_boundary_of_the_cone(ratio):
    """det z = z_n² - |z_T|² is 0 there. From near the boundary that is less far than the force is large, by the root of
    the ratio of its eigenvalues, here as little as 1e-6: a step measured by the force alone leaves the cone."""
    z, across = (0.5 + 0.5 * ratio, 0.5 - 0.5 * ratio, 0.0), (0.0, 0.0, math.sqrt(ratio))
    out = np.full((3, 3), np.nan)
    look_at_one(np.array([z]), 1e-60, np.array([across]), out)
    assert (z[0] - z[1]) * (z[0] + z[1]) - across[2] ** 2 == 0.0
    np.testing.assert_allclose(out[2], (0.0, 0.0, 1.0), rtol=0, atol=4 * np.finfo(float).eps)
