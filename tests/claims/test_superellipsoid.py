"""Claims about superellipsoids, of semi-axes s and exponents ε (around, along z): unit balls of a norm, whose support
function is the dual norm."""

import math
import tomllib

import numpy as np
import pytest
from collision_scenes import Thing, bowl, box, build, ellipsoid, plane, sphere, superellipsoid
from event_driven_scenes import G
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.books.ledger import Account
from contactlab.physics.collision import Detector
from contactlab.physics.collision.exact.elements import surface_of
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.shapes.elements import SMOOTH
from contactlab.physics.shapes.superellipsoid import curvature_of, mass_properties, widest_radius

HALF, BOXY, POINTED = (0.5, 0.3, 0.2), (0.4, 0.7), (1.7, 0.25)
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
EVENTS = [("time_stepping", 1e-9), ("compliant", 1e-6), ("event_driven", 1e-9)]


def gauge(p, half, exponents):
    """The norm of points (..., 3) that is 1 on the surface."""
    a, b = 2.0 / np.array(exponents)
    u = np.abs(np.asarray(p) / half)
    return ((u[..., 0] ** b + u[..., 1] ** b) ** (a / b) + u[..., 2] ** a) ** (1.0 / a)


def solid(position=(0.0, 0.0, 0.0), size=(0.6, 0.5, 0.4), exponents=(0.5, 0.5), **more):
    return {"name": "solid", "density": 1000.0, "position": list(position), "shape": [
        {"type": "superellipsoid", "size": list(size), "exponents": list(exponents)}]} | more


def simulate(method, *bodies, **more):
    material = {"default": {"friction": 0.5, "restitution": 0.0}}
    return Simulation(Scene.from_dict({"material": material, "body": bodies}), method=method, **more)


@pytest.mark.parametrize("exponents", [(1.0, 1.0), BOXY, (1.7, 1.2), (0.2, 1.8)])
def test_its_mass_and_moments_are_integrals_over_directions(exponents):
    """V = ∫ r³/3 dΩ, ∫ x² = ∫ u_x² r⁵/5 dΩ with the radius r = 1/gauge(u), by Gauss's rule in one octant. There
    the angles are (π/2) ∫ (t (1 - t))⁵ / B(6, 6), which takes what bends at its borders away; 300 points leave 1e-6."""
    t, weight = np.polynomial.legendre.leggauss(300)
    t, weight = 0.5 * (t + 1.0), 0.5 * weight
    angle = 0.5 * math.pi * 2772.0 * sum(math.comb(5, k) * (-1) ** k * t ** (6 + k) / (6 + k) for k in range(6))
    part = 0.5 * math.pi * 2772.0 * (t * (1.0 - t)) ** 5 * weight
    sine, cosine = np.sin(angle)[:, None], np.cos(angle)[:, None]
    u = np.stack(np.broadcast_arrays(sine * np.cos(angle), sine * np.sin(angle), cosine), axis=2)
    area = 8.0 * part[:, None] * part * sine
    r = 1.0 / gauge(u, HALF, exponents)
    volume = (area * r**3).sum() / 3.0
    square = np.einsum("ij,ijk->k", area * r**5, u**2) / 5.0
    own = mass_properties(np.array(HALF), exponents)
    assert own.mass == pytest.approx(volume, rel=1e-6)
    assert np.diag(own.inertia) == pytest.approx(square.sum() - square, rel=1e-6)


#: what is put beside it, and a function that is >= 0 in its core: a ball's is its centre
OTHERS = {
    "plane": (plane(), lambda p: -p[2]), "particle": (sphere(0.0), lambda p: 1e-16 - p @ p),
    "sphere": (sphere(0.4), lambda p: 1e-16 - p @ p),
    "ellipsoid": (ellipsoid(0.6, 0.2, 0.3), lambda p: 1.0 - gauge(p, (0.6, 0.2, 0.3), (1.0, 1.0)) ** 2),
    "superellipsoid": (superellipsoid((0.4, 0.3, 0.6), POINTED),
                       lambda p: 1.0 - gauge(p, (0.4, 0.3, 0.6), POINTED) ** 2),
    "box": (box(0.5, 0.3, 0.2), lambda p: np.array([0.5, 0.3, 0.2]) - np.abs(p)),
}


@pytest.mark.parametrize("exponents", [BOXY, POINTED], ids=["boxy", "pointed"])
@pytest.mark.parametrize("other", OTHERS)
def test_its_gap_is_the_distance_scipy_finds(other, exponents):
    """Of points x = A y within one and z = B w within the other the least |x - z|, a convex problem; sequential
    quadratic programming solves it to 1e-6 or so. A box's edges bring GJK's √accuracy as well."""
    part, r = OTHERS[other][0], np.random.default_rng(5)
    model, bodies = build(Thing((superellipsoid(HALF, exponents),)), Thing((part,), moves=other != "plane"))
    detector = Detector(model)
    for _ in range(6):
        away = r.normal(size=3)
        away *= 1.5 / np.linalg.norm(away)
        A, B = Rotation.random(rng=r), Rotation.random(rng=r)
        bodies.x[:], bodies.q[:] = [away, np.zeros(3)], [A.as_quat(scalar_first=True), B.as_quat(scalar_first=True)]
        gap, n, middle = detector.gap(bodies, 0, 1)
        if other == "plane" and gap <= 0.0:
            continue
        assert gap == pytest.approx(least_distance(away, A, B, exponents, other), abs=2e-5)
        point = A.inv().apply(middle - 0.5 * gap * n - away)
        assert gauge(point, HALF, exponents) == pytest.approx(1.0, abs=1e-5)


def least_distance(away, A, B, exponents, other):
    """By scipy."""
    inside = OTHERS[other][1]
    held = [{"type": "ineq", "fun": lambda v: 1.0 - gauge(v[:3], HALF, exponents) ** 2},
            {"type": "ineq", "fun": lambda v: inside(v[3:])}]
    found = minimize(lambda v: ((away + A.apply(v[:3]) - B.apply(v[3:])) ** 2).sum(),
                     np.concatenate([A.inv().apply(-0.1 * away), B.inv().apply(0.1 * away)]), method="SLSQP",
                     constraints=held, options={"ftol": 1e-16, "maxiter": 500})
    return math.sqrt(found.fun) - (0.4 if other == "sphere" else 0.0)


@pytest.mark.parametrize("exponents", [BOXY, POINTED, (1.0, 1.0)], ids=["boxy", "pointed", "ellipsoid"])
def test_its_normals_separate_as_far_as_any(exponents):
    """Apart or overlapping, n·d - h_a(n) - h_b(n) is the gap and no other direction gives more: 300 are tried, from all
    around and near."""
    r, other = np.random.default_rng(2), (0.4, 0.3, 0.6)
    model, bodies = build(Thing((superellipsoid(HALF, exponents),)), Thing((superellipsoid(other, BOXY),)))
    detector = Detector(model)
    for _ in range(25):
        x = r.normal(size=3)
        x *= r.uniform(0.2, 1.5) / np.linalg.norm(x)
        A, B = Rotation.random(rng=r), Rotation.random(rng=r)
        bodies.x[:], bodies.q[:] = [np.zeros(3), x], [A.as_quat(scalar_first=True), B.as_quat(scalar_first=True)]
        gap, n, _ = detector.gap(bodies, 0, 1)
        ways = np.vstack([n, n + r.normal(size=(300, 3)) * 10.0 ** r.uniform(-6, 0.3, size=(300, 1))])
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        room = ways @ x - _reach(A.inv().apply(ways), HALF, exponents) - _reach(B.inv().apply(ways), other, BOXY)
        assert room[0] == pytest.approx(gap, abs=1e-14)
        assert room.max() <= gap + 1e-13


@pytest.mark.parametrize("seed", [889, 4231, 9567])
def test_where_a_flat_place_is_nearest_no_direction_separates_more(seed):
    """The slope of the separation leaps there, at ε = 0.2 like the 9th root of the angle, and Newton's steps by
    themselves went to and fro across the place: a hundred left these pairs 4e-4 to 1e-3 too near. Now an angle of 1e-9
    is left at most, whose 10/9th power is that of the gap. Directions are tried ever nearer to the best."""
    r = np.random.default_rng(seed)
    sizes = r.uniform(0.1, 1.0, (2, 3))
    exponents = np.where(r.random((2, 2)) < 0.5, 0.2, r.uniform(0.2, 1.8, (2, 2)))
    shapes = [superellipsoid(tuple(s), tuple(e)) for s, e in zip(sizes, exponents, strict=True)]
    model, bodies = build(*(Thing((shape,)) for shape in shapes))
    x = r.normal(size=3)
    x *= r.uniform(0.9, 1.3) * sizes.max(axis=1).sum() / np.linalg.norm(x)
    A, B = Rotation.random(rng=r), Rotation.random(rng=r)
    bodies.x[:], bodies.q[:] = [np.zeros(3), x], [A.as_quat(scalar_first=True), B.as_quat(scalar_first=True)]
    gap, best, _ = Detector(model).gap(bodies, 0, 1)
    most, spread = gap, 0.1
    for _ in range(12):
        ways = best + r.normal(size=(400, 3)) * spread * 10.0 ** r.uniform(-3, 0, size=(400, 1))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        room = (ways @ x - _reach(A.inv().apply(ways), sizes[0], exponents[0])
                - _reach(B.inv().apply(ways), sizes[1], exponents[1]))
        if room.max() > most:
            most, best = room.max(), ways[room.argmax()]
        else:
            spread /= 3.0
    assert gap > 0.0
    assert most <= gap + 1e-9


def _reach(n, half, exponents):
    """The dual norm: exponents 2/(2 - ε) in place of 2/ε."""
    return gauge(n * np.array(half) ** 2, half, 2.0 - np.array(exponents))


@pytest.mark.parametrize(("method", "tolerance"), EVENTS)
def test_with_exponents_of_1_it_moves_as_an_ellipsoid(method, tolerance):
    """On a plane and against a ball; compliant ground makes differences of rounding grow."""
    ends = []
    for form in ({"type": "superellipsoid", "exponents": [1.0, 1.0]}, {"type": "ellipsoid"}):
        body = solid((0.0, 0.0, 0.3), euler=[20.0, 30.0, 0.0]) | {"shape": [form | {"size": [0.6, 0.5, 0.4]}]}
        ball = {"name": "ball", "mass": 5.0, "position": [0.65, 0.0, 0.2], "velocity": [-2.0, 0.0, 0.0],
                "shape": [{"type": "sphere", "radius": 0.2}]}
        sim = simulate(method, FLOOR, body, ball)
        met = False
        while sim.time < 0.75:
            sim.step()
            c, count = sim.contacts, int(sim.contacts.count[0])
            met = met or bool(((c.body_a[:count] > 0) & (c.body_b[:count] > 0) & (c.lam[:count] > 0.0)).any())
        assert met
        ends.append(np.concatenate([sim.position("solid"), sim.orientation("solid"), sim.position("ball")]))
    assert ends[0] == pytest.approx(ends[1], abs=tolerance)


def test_a_boxy_one_in_a_bowl_touches_it_with_its_four_lower_bulges():
    """By symmetry at once, each where |x| is greatest on the surface."""
    exponents, half = (0.5, 0.5), np.array([0.3, 0.3, 0.3])
    model, bodies = build(Thing((superellipsoid(tuple(half), exponents),)), Thing((bowl(1.0, -1.0),), moves=False))
    t = 1.0 / gauge(np.ones(3), half, exponents)  # along the diagonal
    bodies.x[0] = [0.0, 0.0, -0.3]
    r = np.random.default_rng(1).normal(size=(400, 3))
    far = max(np.linalg.norm(u / gauge(u, half, exponents) + bodies.x[0]) for u in r)
    contacts = Detector(model).detect(bodies, np.full(2, 0.2))
    count = int(contacts.count[0])
    deepest = np.sort(contacts.gap[:count])[:4]
    assert count == 4
    assert np.ptp(deepest) < 1e-12
    assert 1.0 - far - 2e-3 < deepest[0] <= 1.0 - far + 1e-12
    assert np.abs(np.abs(contacts.normal[:4, 0]) - np.abs(contacts.normal[:4, 1])).max() < 1e-6
    assert np.linalg.norm([t, t, t - 0.3]) <= 1.0 - deepest[0] + 1e-12


@pytest.mark.parametrize(("method", "tolerance"), [("event_driven", 2e-3), ("time_stepping", 0.05)])
def test_a_superegg_rocks_as_far_as_its_push_lifts_it_and_an_egg_falls(method, tolerance):
    """Rolling, ½ (I + m c²) ω² = m g (h(θ) - c), h(θ) = ((a sin θ)^q + (c cos θ)^q)^(1/q), q = 2/(2 - ε₁) = 5/3. Steps
    of 1/240 s meet the greatest tilt to (ω̇ h/2)²/2 of the angle, and time stepping keeps the energy to its first
    order."""
    sim = Simulation(Scene.load(gallery()["superegg"]), method=method)
    a, c, q, body = 0.15, 0.2, 5.0 / 3.0, sim.number("superegg")
    model, tilt, spread = sim.model, [], []
    moment = model.inertia[body].max() / model.mass[body] + c * c
    for _ in range(480):
        sim.step()
        for name, angles in (("superegg", tilt), ("egg", spread)):
            _, x, y, _ = sim.orientation(name)
            angles.append(math.acos(min(1.0, 1.0 - 2.0 * (x * x + y * y))))
    lifted = [((a * math.sin(t)) ** q + (c * math.cos(t)) ** q) ** (1.0 / q) - c for t in np.linspace(0, 0.2, 20001)]
    most = np.linspace(0, 0.2, 20001)[np.searchsorted(lifted, 0.5 * moment * 0.4**2 / G)]
    assert max(tilt) == pytest.approx(most, rel=tolerance)
    assert max(tilt[-120:]) > (1.0 - 10.0 * tolerance) * most  # and it goes on
    assert max(spread) > 1.0


def test_the_superegg_is_turned_back_by_where_it_touches_and_with_an_exponent_of_1_falls():
    """The push of the floor acts on the side to which it leans, farther out than its centre of mass."""
    tables = tomllib.loads(gallery()["superegg"].read_text(encoding="utf-8"))
    for exponent in (0.8, 1.0):
        tables["body"][1]["shape"][0]["exponents"][0] = exponent
        sim = Simulation(Scene.from_dict(tables))
        egg, floor = sim.number("superegg"), sim.number("floor")
        sim.run(0.1)
        row = [k for k in range(int(sim.contacts.count[0]))
               if {int(sim.contacts.body_a[k]), int(sim.contacts.body_b[k])} == {egg, floor}]
        lean = sim.contacts.point[row[0], 0] - sim.position("superegg")[0]
        assert (lean > 0.0) == (exponent < 1.0)  # it is pushed towards x, and leans there
        sim.run(2.0)
        _, x, y, _ = sim.orientation("superegg")
        assert (2.0 * (x * x + y * y) < 0.05) == (exponent < 1.0)


def test_its_curvature_is_how_fast_the_normal_turns():
    """From differences of points of the surface whose normals are nearly the same; α and β are finite where it is flat
    or sharp."""
    for exponents in (BOXY, POINTED, (1.0, 1.0)):
        n = np.array([0.3, -0.5, 0.8])
        n /= np.linalg.norm(n)
        u, curve = curvature_of(np.array(HALF), np.array(exponents), n)
        across = np.cross(n, u)
        for direction, (alpha, beta) in ((u, curve[:2]), (across, curve[2:])):
            step, points = 1e-5, []
            for side in (-step, step):
                m = n + side * direction
                points.append(_point(m / np.linalg.norm(m), HALF, exponents))
            moved = (points[1] - points[0]) / (2.0 * step)
            assert moved @ direction * alpha == pytest.approx(beta, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.7])
def test_its_curvature_at_its_ends_is_that_on_the_way_through_them(exponent):
    """Along an axis of semi-axis s the radius is (q - 1) s²/s_z (s θ/s_z)^(q - 2) at a small angle θ to z. At θ = 0 it
    is infinite where the end is boxy, but for the share 1e-8 of a norm, that of the ellipsoid for q = 2, and 0 where it
    is pointed."""
    q = 2.0 / (2.0 - exponent)
    for side in (-1.0, 1.0):
        u, (a1, b1, a2, b2) = curvature_of(np.array(HALF), np.array([exponent, 1.0]), np.array([0.0, 0.0, side]))
        ends = (q - 1.0) * np.array(HALF[:2]) ** 2 / HALF[2] * 1e-8 ** (q - 2.0)
        assert [b1 / a1, b2 / a2] == pytest.approx(ends.tolist(), rel=1e-9)
        assert abs(u[0]) == pytest.approx(1.0, abs=1e-9)  # the wider of the two
        _, beside = curvature_of(np.array(HALF), np.array([exponent, 1.0]), np.array([1e-6, 0.0, side]))
        there = (q - 1.0) * HALF[0] ** 2 / HALF[2] * (HALF[0] * 1e-6 / HALF[2]) ** (q - 2.0)
        assert there == pytest.approx(min(beside[1] / beside[0], beside[3] / beside[2], key=lambda r: abs(r - there)),
                                      rel=1e-6)


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_superegg_that_starts_turning_on_its_flat_end_keeps_its_energy(integrator):
    """The force grows as t^(-1/3) towards the first instant, where a quadrature errs by about that force times the
    length of the first part of the step: dopri5 makes that as short as its own error asks, rk4 at the least 1/64 of the
    step, where the force is some ten times the weight. So rk4 may gain 1e-8 of the kinetic energy, 0.1 J, in each of
    these parts, about ten of which are short whenever it passes upright."""
    tables = tomllib.loads(gallery()["superegg"].read_text(encoding="utf-8"))
    tables["body"] = [body for body in tables["body"] if body["name"] != "egg"]
    sim = Simulation(Scene.from_dict(tables), method="event_driven", integrator=integrator)
    sim.step()
    ledger, weight = sim.state.ledger, float(sim.model.mass.sum()) * G
    sure = integrator == "dopri5"
    assert np.abs(ledger[Account.DRIFT, 1:]).max() < (1e-5 if sure else 1e-2) * weight / 240
    assert abs(ledger[Account.DRIFT, 0]) < (1e-12 if sure else 1e-6)
    highest = 0.0
    for _ in range(479):  # it passes upright some four times
        sim.step()
        highest = max(highest, float(ledger[Account.TOTAL, 0] - ledger[Account.START, 0]))
    assert highest < (1e-10 if sure else 1e-7)


def _point(n, half, exponents):
    """The gradient of the dual norm, by central differences."""
    return np.array([(_reach(n + 1e-6 * e, half, exponents) - _reach(n - 1e-6 * e, half, exponents)) / 2e-6
                     for e in np.eye(3)])


HOLLOWS = {"bowl": {"type": "bowl", "radius": 1.0}, "pipe": {"type": "pipe", "radius": 1.0, "height": 6.0}}


def in_hollow(hollow, exponents, **more):
    """A superellipsoid in a bowl or pipe of 1 m about the origin; of a pipe the axis lies along z."""
    held = {"name": "hollow", "fixed": True, "shape": [HOLLOWS[hollow]]}
    return simulate("event_driven", held, solid((0.3, 0.0, -0.5), exponents=exponents, **more))


@pytest.mark.parametrize("hollow", HOLLOWS)
@pytest.mark.parametrize("exponents", [(1.0, 1.0), (1.2, 1.4), (1.6, 1.0)])
def test_its_gap_to_a_wall_is_that_of_its_point_farthest_out(hollow, exponents):
    """Among the points of 60 x 60 normals, and then by scipy from the best three: the greatest distance from the middle
    or the axis, which it finds to the square of 1e-7 or so."""
    sim, r = in_hollow(hollow, exponents), np.random.default_rng(3)
    surface, count, half = surface_of(sim.model), 2, np.array([0.3, 0.25, 0.2])
    pair = np.array([surface.kind.tolist().index(SMOOTH) * count + 1 - surface.kind.tolist().index(SMOOTH)])
    up, around = np.meshgrid(np.linspace(-1.5, 1.5, 60), np.linspace(-np.pi, np.pi, 60))
    for _ in range(5):
        x, turn = r.normal(size=3), Rotation.random(rng=r)
        x *= 0.7 / np.linalg.norm(x[: 3 if hollow == "bowl" else 2])
        bodies = sim.state.bodies
        bodies.x[1], bodies.q[1] = x, turn.as_quat(scalar_first=True)

        def far(angles, x=x, turn=turn):
            a, b = np.asarray(angles, float)
            n = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=-1)
            p = x + turn.apply(_foremost(n.reshape(-1, 3), half, exponents))
            return -np.linalg.norm(p[:, : 3 if hollow == "bowl" else 2], axis=1)

        seen = far((up.ravel(), around.ravel()))
        best = [minimize(lambda angles: far(angles)[0], (up.ravel()[k], around.ravel()[k]), method="Nelder-Mead",
                         options={"xatol": 1e-9, "fatol": 1e-15, "maxiter": 1000}).fun for k in np.argsort(seen)[:3]]
        witness = empty_witness(1)
        for column in (witness.p_a, witness.p_b, witness.normal, witness.gap):
            column.fill(np.nan)
        find_witnesses(surface, bodies, pair, 1, witness)
        assert witness.gap[0] == pytest.approx(1.0 + min(best), abs=1e-12)
        out = witness.p_b[0] if hollow == "bowl" else witness.p_b[0] * [1.0, 1.0, 0.0]
        assert np.abs(np.cross(witness.normal[0], out)).max() < 1e-12
        assert np.linalg.norm(witness.p_b[0] - witness.p_a[0]) == pytest.approx(abs(witness.gap[0]), abs=1e-12)


def _foremost(n, half, exponents):
    """Points (k, 3) farthest along n (k, 3): the gradient of the dual norm."""
    q1, q2 = 2.0 / (2.0 - np.array(exponents))
    u = np.abs(n * half)
    g = (u[:, 0] ** q2 + u[:, 1] ** q2) ** (1.0 / q2)
    h = (g**q1 + u[:, 2] ** q1) ** (1.0 / q1)
    ring = (g / h) ** (q1 - 1.0)
    along = np.stack([ring * (u[:, 0] / g) ** (q2 - 1.0), ring * (u[:, 1] / g) ** (q2 - 1.0),
                      (u[:, 2] / h) ** (q1 - 1.0)], axis=1)
    return np.copysign(half * along, n)


@pytest.mark.parametrize("exponents", [(1.2, 1.4), (1.6, 1.0), (1.8, 1.8)])
def test_its_greatest_radius_of_curvature_is_bounded_tightly(exponents):
    """∂²h along tangents, by differences, of 20 000 normals and tangents drawn; then by scipy from the best five. The
    bound may be 1 % more, and the differences are right to 1e-5 or so."""
    r, half = np.random.default_rng(1), np.array(HALF)

    def radius(angles):
        a, b, c = np.asarray(angles, float).reshape(-1, 3).T
        n = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=1)
        east, north = np.stack([-np.sin(b), np.cos(b), 0.0 * b], axis=1), np.stack(
            [-np.sin(a) * np.cos(b), -np.sin(a) * np.sin(b), np.cos(a)], axis=1)
        t = 1e-5 * (np.cos(c)[:, None] * east + np.sin(c)[:, None] * north)
        return -((_foremost(n + t, half, exponents) - _foremost(n - t, half, exponents)) * t).sum(1) / 2e-10

    drawn = r.uniform(-0.5, 0.5, (20000, 3)) * np.pi
    widest = max(-minimize(lambda v: radius(v)[0], drawn[k], method="Nelder-Mead",
                           options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000}).fun
                 for k in np.argsort(radius(drawn))[:5])
    assert widest * (1.0 - 1e-4) < widest_radius(half, np.array(exponents)) < 1.0101 * widest


def test_a_pointed_one_in_a_bowl_keeps_energy_and_spin_about_the_vertical():
    q = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])
    sim = in_hollow("bowl", (1.2, 1.4), orientation=q.tolist(), velocity=[0.0, 0.5, 0.0],
                    angular_velocity=[1.0, 2.0, 3.0])
    sim.set(friction=0.0)
    while not sim.contacts.current.any():
        sim.step()
    bodies, energy = sim.state.bodies, sim.energy().total

    def spin():
        return bodies.L[1, 2] + sim.model.mass[1] * (bodies.x[1, 0] * bodies.v[1, 1] - bodies.x[1, 1] * bodies.v[1, 0])

    about = spin()
    sim.run(sim.time + 0.5)
    assert int(sim.contacts.current.sum()) == 1
    assert sim.energy().total == pytest.approx(energy, rel=1e-7)
    assert spin() == pytest.approx(about, rel=1e-7)


def test_with_exponents_of_1_it_moves_in_a_bowl_as_an_ellipsoid():
    ends = []
    for form in ({"type": "superellipsoid", "exponents": [1.0, 1.0]}, {"type": "ellipsoid"}):
        held = {"name": "hollow", "fixed": True, "shape": [HOLLOWS["bowl"]]}
        body = solid((0.3, 0.0, -0.5), euler=[20.0, 30.0, 0.0]) | {"shape": [form | {"size": [0.6, 0.5, 0.4]}]}
        sim = simulate("event_driven", held, body)
        sim.run(0.75)
        assert any(event.kind == "impact" for event in sim.events)
        ends.append(np.concatenate([sim.position("solid"), sim.orientation("solid")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
