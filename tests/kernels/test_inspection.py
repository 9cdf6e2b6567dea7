"""Looks into the contact equations: what they show is right, and what is looked at goes on as if nobody had looked."""

import itertools
import tracemalloc

import numpy as np
import pytest
from contact_scenes import ball, block, body, ground, simulate, table
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactlab.physics.books.diagnostics import measure
from contactlab.physics.core.state import Case
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.look.baraff import baraff
from contactlab.physics.look.inspection import freedom, look, resting
from contactlab.physics.problem.contact_snapshot import detected
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation
from contactlab.physics.solvers import LCP_SOLVERS

G = 9.81
RIGHT = [name for name in LCP_SOLVERS if name != "gauss_seidel"]


def equations(sim, solver="dantzig", **fields):
    found = look(sim, m.Inspect("equations", solver, **fields)).equations
    assert found is not None
    return found


def moving(seed, spin):
    """Two blocks, one on a corner of the other, and a ball, anyhow moving: flat and round contacts."""
    rng = np.random.default_rng(seed)
    sim = simulate(ground(), block("low", (0, 0, 0.25), mass=3.0), block("high", (0.2, 0.1, 0.75), mass=0.7),
                   ball("ball", (2, 0, 0.1)), mu=0.3)
    bodies = sim.state.bodies
    bodies.v[1:], bodies.w[1:] = rng.normal(size=(3, 3)), spin * rng.normal(size=(3, 3))
    momentum_from_velocity(sim.model, bodies)
    return sim, detected(sim.model, 0.0, bodies, sim.loads, 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 20.0))
def test_baraffs_matrix_is_the_matrix_of_the_contact_equations(seed, spin):
    """a_ij, put together from lever arms, is n_i' T' H^-1 T n_j: both are sums of some dozen products."""
    sim, contacts = moving(seed, spin)
    b = sim.state.bodies
    A = baraff(sim.model, b.x, b.q, b.v, b.w, b.L, contacts).A
    assert len(A) >= 9
    M = contacts.M[::3, ::3]
    assert np.abs(A - M).max() <= 1e-13 * np.abs(M).max()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 20.0))
def test_baraffs_b_is_d_for_flat_faces_and_misses_how_a_ball_rolls_off_its_point(seed, spin):
    """For corners on faces b = d. A ball keeps its contact below its centre: there b has ω_t² R too much."""
    sim, contacts = moving(seed, spin)
    b = sim.state.bodies
    theirs = baraff(sim.model, b.x, b.q, b.v, b.w, b.L, contacts)
    difference = theirs.b - contacts.d[::3]
    size = 1e-12 * (G + np.abs(theirs.terms).max())
    flat = contacts.body_b < 3  # of blocks on the ground and of blocks on each other, both of which move
    assert flat.sum() == 8 and np.abs(difference[flat]).max() <= size
    (ball_row,) = np.flatnonzero(contacts.body_b == 3)
    assert difference[ball_row] == pytest.approx(0.1 * (b.w[3, 0] ** 2 + b.w[3, 1] ** 2), abs=size)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 10.0), st.booleans())
def test_where_both_bodies_move_b_and_d_are_the_second_derivative_of_the_gap(seed, spin, plate_first):
    """A corner of a cube below a plate, both turning at constant ω (their inertias are balls'). The gap is
    φ(t) = m·(c - x) - H with the plate's normal m and the corner c; a central difference of step s errs by
    s² φ⁗/12 <= s² |ω|⁴ 8, and by rounding of 4 ε |φ terms|/s²."""
    rng = np.random.default_rng(seed)
    half = 0.5 * np.arccos(3**-0.5)  # the turn that puts the diagonal upright
    q = np.array([np.cos(half), np.sin(half) / 2**0.5, -np.sin(half) / 2**0.5, 0.0])
    top = 0.5 * 3**0.5 * 0.4  # of a cube of 0.4 m on its corner
    cube = block("cube", (0.03, -0.02, 0.0), size=(0.4,) * 3, orientation=q)
    plate = body("plate", (0.0, 0.0, top + 0.1), {"type": "box", "size": [2.0, 2.0, 0.2]}, 2.0, (0.5,) * 3)
    sim = simulate(*((plate, cube) if plate_first else (cube, plate)))
    bodies, (p, k) = sim.state.bodies, ((0, 1) if plate_first else (1, 0))
    bodies.v[:], bodies.w[:] = rng.normal(size=(2, 3)), spin * rng.uniform(-0.5, 0.5, (2, 3))
    momentum_from_velocity(sim.model, bodies)
    contacts = detected(sim.model, 0.0, bodies, sim.loads, 1e-6)
    assert len(contacts.key) == 1 and contacts.span_body.tolist() == [[p, p]]
    corner = np.array([0.03, -0.02, top])

    def gap(t):
        m = turned(np.array([0.0, 0.0, -1.0]), t * bodies.w[p])
        c = bodies.x[k] + t * bodies.v[k] + turned(corner - bodies.x[k], t * bodies.w[k])
        return m @ (c - bodies.x[p] - t * bodies.v[p]) - 0.1  # the same fall of both leaves it as it is

    s = 1e-3
    expected = (gap(s) - 2.0 * gap(0.0) + gap(-s)) / s**2
    tolerance = 8.0 * s**2 * (1.0 + np.linalg.norm(bodies.w, axis=1).max()) ** 4 + 1e-8
    theirs = baraff(sim.model, bodies.x, bodies.q, bodies.v, bodies.w, bodies.L, contacts)
    assert contacts.d[0] == pytest.approx(expected, abs=tolerance)
    assert theirs.b[0] == pytest.approx(expected, abs=tolerance)
    assert theirs.b[0] == pytest.approx(contacts.d[0], abs=1e-12 * (G + np.abs(theirs.terms).max()))


LYING = {"orientation": [0.5**0.5, 0.0, 0.5**0.5, 0.0]}  # along x
BARS = {  # shapes of 2 m along x, and how far their upper and lower edge, or the line that is swollen, is from x
    "box": ({"type": "box", "size": [2.0, 0.4, 0.4]}, 0.2 * 2**0.5, 0.0),
    "hull": ({"type": "hull", "points": [[x, y, z] for x in (-1.0, 1.0) for y in (-0.2, 0.2) for z in (-0.2, 0.2)]},
             0.2 * 2**0.5, 0.0),
    "capsule": ({"type": "capsule", "radius": 0.2, "height": 1.6, **LYING}, 0.0, 0.2),
    "cylinder": ({"type": "cylinder", "radius": 0.2, "height": 2.0, **LYING}, 0.0, 0.2),
}


@pytest.mark.parametrize("upper", BARS)
@pytest.mark.parametrize("lower", BARS)
def test_where_edges_cross_b_and_d_are_the_second_derivative_of_the_gap(lower, upper):
    """Two bars lie crosswise, edge on edge, and both turn at constant ω (their inertias are balls'). The gap is
    φ(t) = n·(c_b - c_a) - r_a - r_b with n = u × v/|u × v| along the edges u, v through c_a, c_b. Central differences
    of fourth order and step s err by s⁴ φ⁽⁶⁾/90 and by rounding of 6 ε/s². Baraff's n is that of edges without radius,
    and his bodies touch. Normals of cylinders are found by iteration, to the root of 1e-13 (ACCURACY of `gjk`)."""
    roll, below, radius_a = BARS[lower]
    shape, above, radius_b = BARS[upper]
    sharp = radius_a == radius_b == 0.0
    gap, tolerance = 1e-9 if sharp else 1e-3, 1e-6 if "cylinder" in (lower, upper) else 1e-8
    x = np.array([[0.0, 0.0, 0.0], [0.1, -0.15, below + above + radius_a + radius_b + gap]])
    a, b = Rotation.from_euler("x", 45, degrees=True), Rotation.from_euler("xz", [45, 70], degrees=True)
    sim = simulate(body("a", x[0], roll, 1.0, (0.5,) * 3, orientation=a.as_quat(scalar_first=True)),
                   body("b", x[1], shape, 2.0, (0.3,) * 3, orientation=b.as_quat(scalar_first=True)))
    axes, feet = np.array([a.apply([1, 0, 0]), b.apply([1, 0, 0])]), np.array([[0, 0, below], [0, 0, -above]])
    for seed in range(5):
        rng, bodies, s = np.random.default_rng(seed), sim.state.bodies, 2e-3
        bodies.v[:], bodies.w[:] = rng.normal(size=(2, 3)), rng.uniform(-1.0, 1.0, (2, 3))
        momentum_from_velocity(sim.model, bodies)
        contacts = detected(sim.model, 0.0, bodies, sim.loads, 2.0 * gap)
        assert contacts.body_a.tolist() == [0] and contacts.gap[0] == pytest.approx(gap, abs=1e-10)

        def distance(t, v=bodies.v, w=bodies.w):
            u_a, u_b = (turned(axes[i], t * w[i]) for i in (0, 1))
            c_a, c_b = (x[i] + t * v[i] + turned(feet[i], t * w[i]) for i in (0, 1))
            n = np.cross(u_a, u_b)
            return n @ (c_b - c_a) / np.linalg.norm(n)  # the same fall of both leaves it as it is

        f = [distance(k * s) for k in (-2, -1, 0, 1, 2)]
        expected = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * s**2)
        assert contacts.d[0] == pytest.approx(expected, abs=tolerance)
        if sharp:
            theirs = baraff(sim.model, bodies.x, bodies.q, bodies.v, bodies.w, bodies.L, contacts)
            assert theirs.b[0] == pytest.approx(expected, abs=tolerance)


def turned(r, angle):
    """r turned by a vector of rotation (3,) [Rodrigues]."""
    size = float(np.linalg.norm(angle))
    axis = angle / size if size else angle
    return r * np.cos(size) + np.cross(axis, r) * np.sin(size) + axis * (axis @ r) * (1.0 - np.cos(size))


# ------------------------------------------------------------------------------------------------- equations


def test_all_solvers_of_a_resting_table_carry_its_weight():
    view = equations(table())
    assert [a.name for a in view.answers] == list(LCP_SOLVERS) and view.rank == 3 and len(view.problem.d) == 4
    for a in view.answers:
        assert a.status == "solved" and a.lam.sum() == pytest.approx(2 * G, rel=1e-9)
        assert np.abs(a.zeta_dot).max() <= 1e-9 * G
    assert np.nansum(view.method) == pytest.approx(2 * G, rel=1e-6)  # the method iterates


def test_the_friction_forces_of_the_method_make_its_normal_forces_the_answer():
    """On a slope the normal forces depend on friction; with it held, M λ + d = 0 has the λ of the method (a block on
    four corners: λ is not unique, M λ is)."""
    sim = simulate(ground(), block("b", (0, 0, 0.25)), mu=0.8, gravity=(4.0, 0.0, -9.0), iterations=300)
    sim.run(0.3)
    view = equations(sim)
    effect = view.problem.M @ view.method
    assert np.abs(effect - view.problem.M @ view.answers[view.chosen].lam).max() <= 1e-6 * np.abs(effect).max()
    assert np.abs(view.problem.d).max() > 1.5 * 9.0  # the friction forces turn the block: without them d = -9


def test_what_a_table_leaves_open_is_one_number_with_the_signs_of_a_rocking_table():
    """Four legs: forces (t, -t, t, -t) do nothing. With the load in the middle each leg may carry 0 … m g / 2."""
    view = equations(table())
    free = view.freedom
    assert free is not None and len(free.parameters) == 1
    y = free.directions[:, 0]
    assert np.abs(y) == pytest.approx(1.0) and y[free.parameters[0]] == pytest.approx(1.0, abs=1e-12)
    assert abs(y.sum()) < 1e-9 and np.abs(view.problem.M @ y).max() < 1e-9
    assert free.shortest == pytest.approx(2 * G / 4, rel=1e-6)


def test_the_ranges_of_open_forces_are_those_of_the_corners_of_all_solutions():
    """A table of four legs: λ_i from 0 to twice m g/4; six legs: the corners of { λ >= 0 : M λ + d = 0 }."""
    assert equations(table()).freedom.ranges == pytest.approx(np.tile([0.0, 2 * 2 * G / 4], (4, 1)), abs=1e-5)
    angles = np.pi / 3 * np.arange(6)
    T = np.array([np.ones(6), np.cos(angles), np.sin(angles)])
    load = np.array([1.0, 0.2, -0.1])
    problem = ContactProblem.frictionless(T.T @ T, -T.T @ load)
    view = equations(table(), problem=problem)
    corners = []
    for three in itertools.combinations(range(6), 3):
        lam = np.linalg.solve(T[:, three], load)
        if (lam >= -1e-12).all():
            corners.append(np.zeros(6))
            corners[-1][list(three)] = lam
    expected = np.column_stack([np.min(corners, axis=0), np.max(corners, axis=0)])
    assert view.freedom.ranges == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(1, 5), st.integers(0, 10_000))
def test_every_direction_of_freedom_changes_forces_and_no_motion(count, dofs, seed):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(dofs, count))
    problem = ContactProblem.frictionless(T.T @ T, -T.T @ T @ rng.uniform(0.5, 1.0, count))
    size = np.linalg.norm(T, axis=0)
    eigenvalues = np.linalg.eigvalsh(problem.M / np.outer(size, size))
    assume(not ((eigenvalues > 1e-13) & (eigenvalues < 1e-6)).any())  # those below 1e-9 a contact count as zero
    view = equations(table(), problem=problem)
    free = freedom(problem, view.answers[view.chosen])
    assert (free is None) == (np.linalg.matrix_rank(T) == count)
    if free is not None:
        assert len(free.parameters) == count - dofs
        assert free.directions[free.parameters] == pytest.approx(np.eye(len(free.parameters)), abs=1e-9)
        assert np.abs(problem.M @ free.directions).max() <= 1e-9 * np.abs(free.directions).max() * np.abs(T).max() ** 2


def test_the_way_of_a_solver_ends_at_its_answer():
    sim = table(load=(0.1, 0.05))
    for name in RIGHT:
        view = look(sim, m.Inspect("pivots", name)).equations
        assert view is not None and view.steps
        assert view.steps[-1].zeta_dot == pytest.approx(view.answers[view.chosen].zeta_dot, abs=1e-6 * G)


def test_a_problem_from_a_file_is_solved_in_place_of_the_scene(tmp_path):
    problem = ContactProblem.frictionless([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    problem.save(tmp_path / "p.npz")
    view = equations(table(), problem=ContactProblem.load(tmp_path / "p.npz"))
    assert view.contacts is None and view.answers[view.chosen].lam == pytest.approx([4 / 3, 7 / 3])


def test_the_normal_part_of_a_problem_with_friction_is_looked_at():
    """A block pushed along the floor: λ = m g whatever friction does."""
    sim = simulate(ground(), ball("b", (0, 0, 0.1)), mu=0.4)
    contacts = resting(sim)
    given_ = ContactProblem.frictional(contacts.M, contacts.d, contacts.friction)
    view = equations(sim, problem=given_)
    assert view.answers[view.chosen].lam == pytest.approx([G])


# ------------------------------------------------------------------------------------------------- trees
ROD = 0.2 + 2.0 * 0.5**2  # moment of inertia of the lever about its hinge [kg m2]


def lever(*bodies, gravity=G, method="event_driven", coordinates="generalized", **hinge):
    """A rod of 2 kg along x, hinged at its end in the origin, its centre of mass 0.5 m from there."""
    rod = {"name": "rod", "mass": 2.0, "inertia": [0.01, 0.2, 0.2], "position": [0.5, 0.0, 0.0],
           "shape": [{"type": "capsule", "radius": 0.02, "height": 0.96, "euler": [0.0, 90.0, 0.0]}]}
    joint = {"name": "hinge", "type": "hinge", "child": "rod", "anchor": [0.0, 0.0, 0.0], "axis": [0.0, -1.0, 0.0],
             "coordinates": coordinates, **hinge}
    sim = Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, -gravity]}, "solver": {"method": method},
        "material": {"default": {"restitution": 0.5, "friction": 0.0}}, "body": [rod, *bodies], "joint": [joint]}))
    sim.record_history()
    return sim


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
def test_a_lever_that_rests_on_a_stop_is_a_contact_in_joint_space(method, coordinates):
    """M = r²/I, d = -g r m s/I, λ = m g s/r, with s and r the distances of centre of mass and stop from the hinge."""
    r = 0.8
    sim = lever(ball("stop", (r, 0.0, -0.12), fixed=True), method=method, coordinates=coordinates)
    for _ in range(3):
        sim.step()
    view = equations(sim)
    assert pytest.approx(np.array([[r * r / ROD]]), rel=1e-6) == view.problem.M
    assert view.problem.d == pytest.approx([-G * r * 2.0 * 0.5 / ROD], rel=1e-6)
    assert [a.lam[0] for a in view.answers] == pytest.approx([2.0 * G * 0.5 / r] * len(view.answers), rel=1e-6)
    assert view.method == pytest.approx([2.0 * G * 0.5 / r], rel=1e-4) and view.baraff is None


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_lever_at_its_limit_is_one_of_the_contacts(coordinates):
    """λ of a limit is a torque: m g s."""
    sim = lever(limits=[0.0, 90.0], coordinates=coordinates)
    sim.step()
    view = equations(sim)
    assert view.contacts is not None and view.contacts.limit.tolist() == [0]
    assert view.answers[0].lam == pytest.approx([2.0 * G * 0.5], rel=1e-9)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("r", [0.7, 0.9])
def test_a_blow_at_the_centre_of_percussion_leaves_the_hinge_alone(method, r, coordinates):
    """A blow P at r turns the rod by P r/I and leaves P (1 - m s r/I) to the hinge: nothing at r = I/(m s) = 0.7 m."""
    striker = ball("striker", (r, 0.0, 0.2), velocity=(0.0, 0.0, -1.0))
    sim = lever(striker, gravity=0.0, method=method, coordinates=coordinates)
    while not any(e.kind == "impact" for e in sim.events):
        sim.step()
    view = look(sim, m.Inspect("impact")).impact
    assert view is not None and [sim.labels.bodies[i] for i in view.moving] == ["rod", "striker"]
    P = float(view.impacts["newton"].impulse[0])
    assert pytest.approx(1.5 / (1.0 + r * r / ROD), rel=1e-6) == P  # (1 + e) ζ/(1/m + r²/I)
    (passed,) = view.joints["newton"]
    assert passed.impulse == pytest.approx((0.0, 0.0, P * (1.0 - 2.0 * 0.5 * r / ROD)), abs=1e-6)
    turned = view.after["newton"][0] - view.before[0]
    assert abs(turned[4]) == pytest.approx(P * r / ROD, rel=1e-6)
    assert turned[2] == pytest.approx(-0.5 * P * r / ROD, rel=1e-6)


def test_where_nothing_rests_the_look_says_so():
    sim = simulate(ground(), ball("b", (0, 0, 2.0)))
    sim.record_history()
    assert "No contact rests" in look(sim, m.Inspect("equations")).note
    assert "no impact" in look(sim, m.Inspect("impact")).note


def test_contacts_are_counted_before_their_equations_are_made():
    """T and TᵀH⁻¹ of 1600 balls on a plane would take 2 · 4800 · 9600 numbers, M 4800²: 0.9 GB. Collision detection
    writes some hundred numbers a contact."""
    balls = [ball(f"{i} {j}", (0.3 * i, 0.3 * j, 0.1)) for i in range(40) for j in range(40)]
    sim = simulate(ground(), *balls)
    tracemalloc.start()
    note = look(sim, m.Inspect("equations")).note
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert note.startswith("1600 contacts rest here") and "300 at most" in note
    assert peak < 8 * 1600 * 2000


# ---------------------------------------------------------------------------------------------------- impact


def cradle(e=1.0):
    """Three balls in contact on a frictionless floor, struck by one of them at 1 m/s."""
    balls = [ball(str(i), (0.2 * i, 0, 0.1), velocity=(1.0 if i == 0 else 0.0, 0, 0)) for i in range(3)]
    balls[0]["position"][0] = -0.01
    sim = simulate(ground(), *balls, e=e, mu=0.0, gravity=(0.0, 0.0, 0.0))
    sim.record_history()
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    return sim


def test_a_frozen_impact_tells_the_laws_apart():
    """Newton's cradle: (-1/3, 2/3, 2/3) for all at once, (0, 0, 1) one after the other; e = 1 loses nothing."""
    view = look(cradle(), m.Inspect("impact")).impact
    assert view is not None and view.moving.tolist() == [1, 2, 3]
    assert view.after["newton"][:, 0] == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-12)
    assert view.after["sequential"][:, 0] == pytest.approx([0, 0, 1], abs=1e-12)
    assert view.before[:, 0] == pytest.approx([1, 0, 0], abs=1e-12)
    assert view.impacts["newton"].loss == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_the_energy_lost_in_a_frozen_impact_is_that_of_the_bodies(e):
    sim = cradle(e)
    view = look(sim, m.Inspect("impact", restitution=e, friction=0.2)).impact
    assert view is not None
    for law, impact in view.impacts.items():
        def kinetic(u):
            return 0.5 * np.sum(u[:, :3] ** 2) + 0.5 * 0.4 * 0.1**2 * np.sum(u[:, 3:] ** 2)
        assert view.kinetic == pytest.approx(kinetic(view.before))
        assert view.kinetic - kinetic(view.after[law]) == pytest.approx(impact.loss, abs=1e-12)


def test_a_frozen_impact_with_the_scenes_own_e_is_what_the_step_did():
    sim = cradle(0.7)
    view = look(sim, m.Inspect("impact")).impact
    assert view is not None
    assert sim.state.bodies.v[1:, 0] == pytest.approx(view.after["newton"][:, 0], abs=1e-9)
    again = look(sim, m.Inspect("impact", restitution=0.0)).impact
    assert again is not None and again.after["newton"][:, 0] == pytest.approx(1 / 3, abs=1e-12)


def solid(kind, position, **more):
    shape = {"type": kind, **{key: more.pop(key) for key in ("radius", "height", "size") if key in more}}
    return {"name": kind, "position": list(position), "shape": [shape], **more}


@pytest.mark.parametrize("bodies", [
    (solid("bowl", (0, 0, 0), radius=1.0, fixed=True),
     solid("sphere", (0, 0, -0.8), radius=0.2, velocity=[2.0, 1.0, 0])),
    (solid("pipe", (0, 0, 0), radius=1.0, height=4.0, fixed=True, euler=[90.0, 0, 0]),
     solid("sphere", (0, 0, -0.8), radius=0.2, velocity=[2.0, 1.0, 0])),
    (ground(), solid("ellipsoid", (0, 0, 0.2), size=[0.8, 0.6, 0.4], velocity=[2.0, 1.0, 0],
                     angular_velocity=[3.0, -4.0, 2.0])),
    (ground(), solid("cylinder", (0, 0, 0.2), radius=0.2, height=0.6, euler=[90.0, 0, 0], velocity=[2.0, 0, 0],
                     angular_velocity=[0, 10.0, 0])),
], ids=["bowl", "pipe", "ellipsoid", "cylinder"])
def test_detected_contacts_curve_as_the_shapes_do(bodies):
    """d of the method of steps is that of the exact one, v²/(R - r) of a ball in a bowl included."""
    seen = [resting(simulate(*bodies, method=method)) for method in ("time_stepping", "event_driven")]
    near, exact = ([float(np.sort(frozen.d[::3])[0]), float(np.sort(frozen.d[::3])[-1])] for frozen in seen)
    assert near == pytest.approx(exact, abs=1e-6)
    if bodies[0]["name"] == "bowl":
        assert near[0] == pytest.approx(-G - 5.0 / 0.8, abs=1e-9)


@pytest.mark.parametrize(("e_t", "e_psi"), [(1.0, 1.0), (0.3, -0.5), (0.0, None), (None, 0.4), (-1.0, -1.0)])
def test_a_frozen_impact_turns_slip_and_spin_of_balls_around_as_asked(e_t, e_psi):
    """ζ_t⁺ = -e_t ζ_t⁻ and ψ⁺ = -e_ψ ψ⁻ [RBDA fig. 11.9]; and the step made again with these does the same."""
    sims = [simulate(ground(), ball("ball", (0, 0, 0.15), velocity=(1.0, 0.2, -1.0), angular_velocity=(0.0, 3.0, 2.0)),
                     e=0.6, mu=50.0, method="event_driven", integrator="rk4") for _ in range(2)]
    sims[1].set(restitution_t=e_t, restitution_psi=e_psi)
    for sim in sims:
        sim.record_history()
        while not any(event.kind == "impact" for event in sim.events):
            sim.step()
    view = look(sims[0], m.Inspect("impact", restitution_t=e_t, restitution_psi=e_psi)).impact
    assert view is not None and view.balls.all()
    before, after = view.before[0], view.after["ball"][0]
    slip = [u[:2] + 0.1 * np.array([-u[4], u[3]]) for u in (before, after)]
    assert slip[1] == pytest.approx(-(e_t or 0.0) * slip[0], abs=1e-9)
    assert after[5] == pytest.approx(before[5] if e_psi is None else -e_psi * before[5], abs=1e-12)
    kinetic = [0.5 * (u[:3] @ u[:3] + 0.4 * 0.1**2 * u[3:] @ u[3:]) for u in (before, after)]
    assert view.impacts["ball"].loss == pytest.approx(kinetic[0] - kinetic[1], abs=1e-9)
    assert after[3:] == pytest.approx(sims[1].angular_velocity("ball"), abs=1e-8)  # it has flown on since


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_frozen_impact_turns_spin_round_only_where_there_is_friction(mu):
    """The slider of μ in the inspector says whether there is."""
    sim = simulate(ground(), ball("ball", (0, 0, 0.15), velocity=(0, 0, -1.0), angular_velocity=(0.0, 0.0, 2.0)),
                   e=0.6, mu=0.5, method="event_driven")
    sim.record_history()
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    view = look(sim, m.Inspect("impact", friction=mu, restitution_t=0.0, restitution_psi=0.5)).impact
    assert view is not None
    after = view.after["ball" if mu else "newton"][0]
    assert ("ball" in view.impacts) == (mu > 0.0)
    assert after[5] == pytest.approx(-1.0 if mu else 2.0, abs=1e-12)


def test_a_frozen_impact_of_blocks_knows_no_coefficients_of_balls():
    sim = simulate(ground(), block("block", (0, 0, 0.26)), e=0.5, mu=0.5)
    sim.record_history()
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    view = look(sim, m.Inspect("impact", restitution_t=0.5, restitution_psi=0.5)).impact
    assert view is not None and not view.balls.any() and "ball" not in view.impacts


# ------------------------------------------------------------------------------------------- the exact method


def dropped(e=0.5):
    """A ball that falls 0.2 m beside a block that rests, by the event-driven method, up to its first bounce."""
    sim = simulate(ground(), ball("ball", (0, 0, 0.3)), block("block", (1, 0, 0.25), mass=3.0), e=e, mu=0.0,
                   method="event_driven", integrator="rk4")
    sim.record_history()
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    return sim


def test_the_exact_methods_own_contacts_are_looked_at():
    view = equations(dropped())
    assert view.contacts is not None and len(view.contacts.key) == 4
    assert view.method.sum() == pytest.approx(3.0 * G, rel=1e-12)
    assert np.abs(view.problem.M @ view.method + view.problem.d).max() <= 1e-11 * G


def test_a_frozen_impact_of_the_exact_method_has_the_velocities_of_its_instant():
    """v = √(2 g h) at the event itself, not at a step's middle."""
    sim = dropped(0.5)
    view = look(sim, m.Inspect("impact")).impact
    assert view is not None and view.moving.tolist() == [1, 2]  # the block rests on: no impulse
    assert np.abs(view.after["newton"][1]).max() <= 1e-12
    speed = np.sqrt(2 * G * 0.2)
    assert view.before[0, 2] == pytest.approx(-speed, abs=1e-10)
    assert view.after["newton"][0, 2] == pytest.approx(0.5 * speed, abs=1e-10)
    assert view.kinetic == pytest.approx(0.5 * speed**2, abs=1e-9)


def test_the_anatomy_of_a_step_shows_the_fall_and_the_cut_at_the_bounce():
    """φ(t) = h - g t²/2 along the first piece, which is cut where it vanishes; both pieces fill the step."""
    sim = dropped(0.5)
    view = look(sim, m.Inspect("step")).anatomy
    assert view is not None and len(view.pieces) == 2
    first, second = view.pieces
    fall = next(c for c in first.curves if c.bodies == (0, 1))
    t = first.t + first.delta * first.h
    assert fall.gap == pytest.approx(0.2 - 0.5 * G * t**2, abs=1e-10)
    assert (first.kind, first.curves[first.culprit]) == ("gap", fall)
    assert first.t + first.cut * first.h == pytest.approx(np.sqrt(2 * 0.2 / G), abs=1e-9)
    assert second.kind == "" and second.t == pytest.approx(first.t + first.cut * first.h, abs=1e-12)
    assert first.cut * first.h + second.h == pytest.approx(view.h, abs=1e-12)
    radius = sim.model.shapes.size[sim.model.shapes.body == 1][0, 0]
    assert fall.gap[-1] < 0.0 and first.x[1, 2] == pytest.approx(radius + fall.gap[-1], abs=1e-10)  # had nothing cut it
    held = [c for c in first.curves if c.bodies == (0, 2)]
    assert len(held) == 4 and sum(c.force for c in held) == pytest.approx(3.0 * G, rel=1e-9)


@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
@pytest.mark.parametrize("e, after", [(0.5, Case.SEPARATING), (0.0, Case.RESTING)])
def test_an_impact_tells_which_case_it_leads_to(method, e, after):
    """2a before it; with restitution 2b after it, without 3 (RBDA fig. 11.4). Both last for an instant."""
    sim = simulate(ground(), ball("b", (0, 0, 0.2)), e=e, mu=0.0, method=method)
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
    (event,) = [event for event in sim.events if event.kind == "impact"]
    assert event.case_after == after


def test_only_the_exact_method_has_an_anatomy():
    assert "event_driven" in look(cradle(), m.Inspect("step")).note


# --------------------------------------------------------------------------------------- nothing is disturbed


def bits(sim):
    return b"".join(a.tobytes() for a in sim.state.bodies) + sim.contacts.lam.tobytes()


@pytest.mark.parametrize("made", [cradle, dropped])
@pytest.mark.parametrize("view", ["equations", "pivots", "impact", "step"])
def test_a_look_changes_nothing(made, view):
    sims = [made(0.5), made(0.5)]
    before = bits(sims[0])
    look(sims[0], m.Inspect(view))
    assert bits(sims[0]) == before
    for sim in sims:
        sim.run(sim.time + 0.1)
    assert bits(sims[0]) == bits(sims[1])
    energies = [measure(sim.model, sim.state.bodies)[0] for sim in sims]
    assert energies[0] == energies[1]
