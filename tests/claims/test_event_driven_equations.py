"""Claims about gaps of surface elements and the contact equations: rates against differences along a smooth motion."""

import itertools

import numpy as np
import pytest
from collision_scenes import (
    Thing,
    bowl,
    box,
    build,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    hull,
    mesh,
    pipe,
    plane,
    rounded,
    sphere,
    superellipsoid,
    torus,
)
from event_driven_scenes import UPRIGHT, Body, Run, about, ball, model_of
from mesh_zoo import corner_piece

from contactlab.physics.collision.exact.elements import surface_of
from contactlab.physics.collision.exact.frames import NOWHERE
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.collision.exact.near import PLACE, find_near, trees_of
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.core.state import empty_state
from contactlab.physics.problem.contact_equations import contact_rows, empty_equations
from contactlab.physics.shapes.elements import AHEAD, ARC, BEHIND, SPOTS, TWIN

SPHERE, BOX, ELLIPSOID, BOWL, PIPE, SUPERELLIPSOID, TORUS = (
    ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.ELLIPSOID, ShapeKind.BOWL, ShapeKind.PIPE, ShapeKind.SUPERELLIPSOID,
    ShapeKind.TORUS)
OFFSET = (0.1, -0.05, 0.02)
STEP = 1e-4


def turned(rotation, q):
    """The quaternion q turned by a rotation vector."""
    size = np.linalg.norm(rotation)
    w, (x, y, z) = np.cos(size / 2), np.sin(size / 2) * rotation / size if size else rotation
    a, b, c, d = q
    return np.array([w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b,
                     w * d + x * c - y * b + z * a])


class Motion:
    """Two bodies that accelerate evenly and spin evenly, from places drawn or given."""

    def __init__(self, seed, x=None, given=None):
        rng = np.random.default_rng(seed)
        self.x, self.v, self.a, self.w = (rng.normal(size=(2, 3)) for _ in range(4))
        self.x[1] += 1.5 * rng.normal(size=3)
        q = rng.normal(size=(2, 4))
        self.q = q / np.linalg.norm(q, axis=1)[:, None]
        self.x, self.q = self.x if x is None else np.array(x), self.q if given is None else np.array(given)

    def at(self, t):
        bodies = empty_state(2).bodies
        bodies.x[:], bodies.v[:] = self.x + self.v * t + 0.5 * self.a * t * t, self.v + self.a * t
        for i in range(2):
            bodies.q[i] = turned(self.w[i] * t, self.q[i])
        bodies.w[:] = self.w
        return bodies


def pairs_of_elements(surface, bodies):
    """All pairs of elements of two shapes, and how many these are."""
    rows, witness = np.zeros(4000, np.int64), empty_witness(4000)
    reach, place = np.full(len(surface.meets), np.inf), np.zeros((200, PLACE))
    count = find_near(surface, trees_of(surface), bodies, reach, np.inf, 0.0, place, rows, witness)
    return rows, count


def with_nearest_points(surface, rows, count, witness):
    """Which of the pairs have them: seen from inside, sharp edges have no outward side; parts of rims and rings with a
    margin < 0 no nearest point."""
    parts = np.isin(surface.kind[rows[:count] // len(surface.kind)], (AHEAD, BEHIND, ARC, TWIN))
    return (witness.margin != NOWHERE) & (witness.facing >= 0.0) & ~(parts & (witness.margin < 0.0))


def compare(model, surface, motion, least=-np.inf, step=STEP):
    """Largest errors of φ = n·(p_b - p_a), of ζ and of ζ̇ over all pairs of elements that are inside their own regions
    by `least` [m], against central differences, whose errors are φ⁽⁷⁾ step⁶/140 and φ⁽⁸⁾ step⁶/560."""
    rows, count = pairs_of_elements(surface, motion.at(0.0))
    witness = empty_witness(count)
    gaps = []
    for k in range(-3, 4):
        find_witnesses(surface, motion.at(k * step), rows, count, witness)
        gaps.append(witness.gap.copy())
    f = np.array(gaps)
    with np.errstate(invalid="ignore"):  # seats without a place are at no distance
        zeta = (45 * (f[4] - f[2]) - 9 * (f[5] - f[1]) + f[6] - f[0]) / (60 * step)
        zeta_dot = (270 * (f[4] + f[2]) - 27 * (f[5] + f[1]) + 2 * (f[6] + f[0]) - 490 * f[3]) / (180 * step**2)
    bodies, eq = motion.at(0.0), empty_equations(model, count)
    find_witnesses(surface, bodies, rows, count, witness)
    contact_rows(model, 0.0, bodies, witness, count, eq)
    acceleration = np.concatenate([motion.a[0], np.zeros(3), motion.a[1], np.zeros(3)])
    fair = with_nearest_points(surface, rows, count, witness) & (witness.margin >= least)
    assert fair.any()
    along = np.einsum("ij,ij->i", witness.normal, witness.p_b - witness.p_a) - witness.gap
    rate = eq.T[::3] @ acceleration + eq.rate[::3] - zeta_dot
    return (np.abs(along[fair]).max(), np.abs(eq.u[::3] - zeta)[fair].max(),
            np.abs(rate / (1 + np.abs(zeta_dot)))[fair].max())


CORNERS = np.random.default_rng(7).normal(size=(9, 3)) * [0.5, 0.4, 0.3]
PIECE = corner_piece(0.4)  # an L: its inner corner is concave
SOLIDS = {
    "sphere": sphere(0.4), "box": box(0.3, 0.4, 0.5), "capsule": capsule(0.2, 0.5), "cylinder": cylinder(0.4, 0.2),
    "cone": cone(0.4, 0.9), "ellipsoid": ellipsoid(0.5, 0.6, 0.9), "torus": torus(0.1, 0.6),
    "soap": superellipsoid((0.5, 0.6, 0.9), (0.7, 1.3)), "star": superellipsoid((0.5, 0.6, 0.9), (1.2, 1.4)),
    "hull": hull(CORNERS), "rounded": rounded(CORNERS, 0.1), "mesh": mesh(PIECE.vertices, PIECE.faces),
}
GROUNDS = {"plane": plane(), "bowl": bowl(3.0, 0.3), "pipe": pipe(4.0, 9.0, -0.5)}
PAIRS = [*itertools.combinations_with_replacement(SOLIDS, 2),
         *(pair for pair in itertools.product(SOLIDS, GROUNDS) if pair not in (("soap", "bowl"), ("soap", "pipe")))]


def placed(pair):
    """A model of two bodies, each with a shape whose origin is not the body's."""
    parts = [(SOLIDS | GROUNDS)[name]._replace(position=OFFSET) for name in pair]
    return build(*(Thing((part,)) for part in parts))[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_separation_velocity_and_acceleration_are_the_derivatives_of_the_gap(pair, seed):
    """Of all pairs of shapes; a soap in a bowl or pipe is flatter than the wall, see below."""
    model = placed(pair)
    along, zeta, zeta_dot = compare(model, surface_of(model), Motion(seed))
    assert along < 1e-13
    assert zeta < 1e-9
    assert zeta_dot < 1e-6  # rounding of the second difference: 1e-15/STEP²


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_gradient_of_the_gap_is_the_normal_and_its_moments(pair):
    """∂φ/∂x_b = n and ∂φ/∂θ_b = (p_b - x_b) × n, of a with the other sign: against differences of the sixth order along
    each of the twelve directions. The normal of a superellipsoid is known to some 1e-9."""
    surface, rest = surface_of(placed(pair)), Motion(5)
    bodies = rest.at(0.0)
    rows, count = pairs_of_elements(surface, bodies)
    witness, found = empty_witness(count), np.zeros((count, 12))
    for k in range(12):
        rest.v, rest.w, rest.a = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
        (rest.w if k % 6 >= 3 else rest.v)[k // 6, k % 3] = 1.0
        for times, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
            for side in (-1, 1):
                find_witnesses(surface, rest.at(0.5 * side * times * STEP), rows, count, witness)
                found[:, k] += side * weight / (30.0 * STEP) * witness.gap
    find_witnesses(surface, bodies, rows, count, witness)
    fair, n = with_nearest_points(surface, rows, count, witness), witness.normal
    expected = np.hstack([-n, np.cross(n, witness.p_a - bodies.x[0]), n, np.cross(witness.p_b - bodies.x[1], n)])
    assert fair.any()
    assert np.abs(found - expected)[fair].max() < (1e-8 if {"soap", "star"} & set(pair) else 1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("q", [about("x", np.pi / 2), about("x", 0.5 * np.pi - 1e-9), UPRIGHT, about("x", 1e-9)],
                         ids=["along the axis", "nearly", "across it", "nearly"])
def test_they_are_where_an_edge_lies_along_or_across_the_axis_of_a_ring(q, seed):
    """Along it nothing says where ahead is, and two minima have one height: a hoop on the edge of a table, a ring that
    lies on it. The box's edges are parallel to the axes of the world."""
    model, _ = model_of([Body([(BOX, (2.0, 2.0, 0.1))], 1.0), Body([(TORUS, (0.1, 0.6, 0))], 1.0)], 0.0, 0.0, 0.0)
    motion = Motion(seed, [(0, 0, 0), (2.1, 0.3, 0.7)], [UPRIGHT, q])
    along, zeta, zeta_dot = compare(model, surface_of(model), motion, least=0.0)
    assert along < 1e-13
    assert zeta < 1e-9
    assert zeta_dot < 1e-6


@pytest.mark.parametrize(("shape", "z"), [
    ((PIPE, (1.0, 10.0, 0.0), (0, 0, 0), about("x", np.pi / 2)), -0.8), ((BOWL, (1.0, 0.0, 0)), -0.8),
    ((SPHERE, (1.0, 0, 0)), 1.2), ((ELLIPSOID, (0.9, 1.3, 0.7)), 0.9),
], ids=["inside a cylinder", "inside a ball", "on a ball", "on an ellipsoid"])
def test_a_ball_rolls_on_curved_surfaces_without_leaving_them(shape, z):
    """Uncorrected, the gap stays at the error of the integrator, and rolling loses no energy."""
    runs = {}
    for h in (1 / 50, 1 / 100):
        roller = ball(0.2, x=(0, 0, z), v=(0.6, 0.3, 0), w=(-1.5, 3.0, 0))
        run = Run([Body([shape]), roller], mu=5.0, integrator="rk4", h=h)
        run.method.projection.project = lambda: None
        start = run.energy
        run.until(0.2)
        assert run.method.contacts.current[0] == 1
        runs[h] = abs(float(run.method.contacts.gap[0])), abs(run.energy - start)
    assert runs[1 / 100][0] < 1e-7
    assert runs[1 / 100][1] < 1e-6
    assert runs[1 / 50][0] > 10 * runs[1 / 100][0] or runs[1 / 50][0] < 1e-12


def test_an_ellipsoid_flatter_than_the_bowl_sits_in_it_on_its_places():
    """And only then: a²/c = 0.83, 1.25 m in a bowl of 1 m."""
    for size, flat in (((0.5, 0.5, 0.3), False), ((0.5, 0.5, 0.2), True)):
        model, _ = model_of([Body([(ELLIPSOID, size)], 1.0), Body([(BOWL, (1.0, 0.0, 0))])], 0.0, 0.0, 0.0)
        assert np.isin(surface_of(model).kind, SPOTS).any() == flat


FLAT_ONES = {"pebble": (ELLIPSOID, (0.9, 0.7, 0.2)), "lens": (ELLIPSOID, (0.9, 0.9, 0.3)),
             "rod": (ELLIPSOID, (0.2, 0.9, 0.2)),
             "soap": (SUPERELLIPSOID, (0.5, 0.6, 0.9), OFFSET, UPRIGHT, (0.6, 0.7)),
             "star": (SUPERELLIPSOID, (0.5, 0.6, 0.9), OFFSET, UPRIGHT, (1.6, 1.7)),
             "top": (SUPERELLIPSOID, (0.8, 0.8, 0.7), OFFSET, UPRIGHT, (1.7, 1.0))}
WALLS = {"bowl": (BOWL, (2.0, -1.0, 0.0)), "pipe": (PIPE, (2.0, 50.0, -1.0))}


@pytest.mark.parametrize("solid", FLAT_ONES)
@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("seed", range(7))
def test_places_of_what_is_flatter_than_a_wall_move_as_their_rates_say(wall, solid, seed):
    """In their own regions; what is beside them may be that of another one, or end."""
    model, _ = model_of([Body([FLAT_ONES[solid]], 1.0), Body([WALLS[wall]], 1.0)], 0.0, 0.0, 0.0)
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, 4))
    motion = Motion(seed, [0.8 * rng.uniform(-0.5, 0.5, 3), (0, 0, 0)], q / np.linalg.norm(q, axis=1)[:, None])
    along, zeta, zeta_dot = compare(model, surface_of(model), motion, least=1e-3, step=0.5 * STEP)
    assert along < 1e-13
    assert zeta < 1e-9
    assert zeta_dot < 1e-6
