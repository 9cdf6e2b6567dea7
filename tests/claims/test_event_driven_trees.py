"""Claims about trees in the event-driven method: smooth motion, contact equations, impacts through H, limits."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground
from test_trees import bead, pendulum
from tree_scenes import hinge, random_tree, rod, rods

from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.dynamics.constraints.impulses import joint_impulses
from contactlab.physics.dynamics.constraints.limits import find_limits
from contactlab.physics.dynamics.forces import empty_loads
from contactlab.physics.dynamics.trees.joint_space import point_jacobian
from contactlab.physics.dynamics.trees.kinematics import empty_work, place_links
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.integrators import INTEGRATORS, Dense, integrate
from contactlab.physics.methods.event_driven.step import EventDriven
from contactlab.physics.problem.contact_snapshot import Jointed, equations_of
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


def simulate(*bodies, joints=(), e=0.0, mu=0.0, gravity=(0.0, 0.0, -G), integrator="dopri5", h=1 / 120, **keywords):
    return Simulation(Scene.from_dict({
        "scene": {"gravity": list(gravity)}, "material": {"default": {"restitution": e, "friction": mu}},
        "body": list(bodies), "joint": list(joints),
    }), method="event_driven", integrator=integrator, h=h, **keywords)


# ------------------------------------------------------------------------------------------------- smooth motion
def test_a7a_pendulum_from_sixty_degrees():
    """A7 (a): Siconos' pendulum at t = 10 s to 1e-9."""
    scene = bead()
    scene["joint"][0]["position"] = 60.0
    sim = Simulation(Scene.from_dict(scene), method="event_driven", integrator="dopri5", h=1 / 20)
    sim.run(until=10.0)
    assert sim.state.joints.q[0] == pytest.approx(-0.6518630467419758, abs=1e-9)
    np.testing.assert_allclose(sim.position(0)[[0, 2]], [-0.6066684959217783, -0.7949549270593945], rtol=0, atol=1e-9)


def test_a7b_pendulum_let_go_level():
    """A7 (b): IFToMM A01 to 1e-9."""
    sim = Simulation(Scene.from_dict(bead()), method="event_driven", integrator="dopri5", h=1 / 20)
    angles = {1: -1.4050273115247993, 2: 0.9166475896632469, 5: 1.2294518114853838, 10: 0.2786806735699831}
    for t, wanted in angles.items():
        sim.run(until=t)
        assert sim.state.joints.q[0] == pytest.approx(wanted, abs=1e-9)
        assert sim.state.joints.q[0] == pytest.approx(pendulum(t), abs=1e-9)


def test_a10b_ten_rods_fall():
    """A10 (b): the tip of ten rods to 1e-7."""
    sim = Simulation(Scene.from_dict(rods(10, length=0.1, mass=0.1)), method="event_driven", integrator="dopri5",
                     h=1 / 50)
    first = sim.energy().total
    for t, tip in ((0.2, (0.935434876580348, -0.1961838249275597)), (0.4, (0.4614509247813434, -0.7771614709669126))):
        sim.run(until=t)
        angle = sim.state.joints.q.sum()
        end = sim.state.bodies.x[9][[0, 2]] + 0.05 * np.array([math.sin(angle), -math.cos(angle)])
        # the rods have 1e-6 of their inertia about their own axis, which does not turn
        np.testing.assert_allclose(end, tip, rtol=0, atol=1e-7)
        assert sim.energy().total == pytest.approx(first, abs=1e-9)


def test_f3_a_chain_with_a_thousand_times_the_mass_at_its_end_keeps_its_energy_and_cannot_stretch():
    """F3 in joint coordinates."""
    balls = [{"name": f"b{i}", "position": [0.4 * i + 0.2, 0, 0], "mass": 1.0, "inertia": [0.016] * 3}
             for i in range(15)]
    end = {"name": "b15", "position": [8.0, 0, 0], "mass": 1000.0, "inertia": [1600.0] * 3}
    joints = [{"type": "ball", "parent": f"b{i - 1}" if i else "world", "child": f"b{i}", "anchor": [0.4 * i, 0, 0]}
              for i in range(16)]
    sim = simulate(*balls, end, joints=joints, h=1 / 60)
    first, scale = sim.energy().total, 1000.0 * G * 8.0
    sim.run(until=0.5)
    x = sim.state.bodies.x
    apart = np.linalg.norm(np.diff(x[:15], axis=0), axis=1)
    assert sim.energy().kinetic > 0.05 * scale
    assert sim.energy().total == pytest.approx(first, abs=1e-9 * scale)
    assert (apart < 0.4 + 1e-12).all()  # straight or bent at the joint, never longer


@pytest.mark.parametrize("name", ["heun", "rk4"])
def test_with_a_contact_that_rests_the_order_is_the_integrators(name):
    """A rod on a hinge leans on a ball and pushes it away over a smooth floor: the energy drifts to the order."""
    lean, height = math.radians(30.0), 0.7
    x = ((height - 0.2) * math.cos(lean) - 0.22) / math.sin(lean)
    errors = []
    for h in (1 / 30, 1 / 60, 1 / 120):
        sim = simulate(ground(), ball("ball", (x, 0, 0.2), 0.2, 1.0), rod("rod", (0.5, 0, height)), h=h,
                       integrator=name, joints=[hinge("rod", (0, 0, height), position=-30.0)])
        first = sim.energy().total
        sim.run(until=4 / 30)
        assert sim.contacts.current.all()
        assert len(sim.contacts.lam) == 2
        errors.append(abs(sim.energy().total - first))
    assert sim.energy().kinetic > 0.05
    assert min(np.log2(np.divide(errors[:-1], errors[1:]))) > {"heun": 2, "rk4": 4}[name] - 0.5


# ---------------------------------------------------------------------------------------------- contact equations
def tumbling(seed, links=5):
    """A random tree with a ball on every link and limits in every joint, gravity and velocities at random."""
    scene = random_tree(np.random.default_rng(seed), links).tables.model_dump(exclude_none=True)
    for body in scene["body"]:
        body["shape"] = [{"type": "sphere", "radius": 0.05}]
    for joint in scene["joint"]:
        if joint["type"] in ("hinge", "slider"):
            joint["limits"] = [-9.0, 9.0]
        elif joint["type"] == "universal":
            joint["limits"] = [[-9.0, 9.0]] * 2
        elif joint["type"] == "ball":
            joint["limits"] = 170.0
    return Scene.from_dict(scene)


def gaps_and_equations(method, state):
    """Gaps of all pairs of balls and of all limits in this state, and their velocities, M and accelerations d."""
    surface, loads = method.surface, empty_loads(len(state.bodies.x), len(state.joints.v))
    balls = [surface.start[a] * len(surface.kind) + surface.start[b] for a, b in surface.meets]
    pairs = np.array([*balls, *(len(surface.kind) ** 2 + np.arange(len(surface.limits.bound)))], np.int64)
    witness = empty_witness(len(pairs))
    bodies, joints = state.bodies, state.joints
    find_witnesses(surface, bodies, pairs, len(pairs), witness)
    find_limits(method.model, surface, bodies, joints.q, pairs, len(pairs), witness)
    frozen = equations_of(method.model, 0.0, bodies, loads, witness, pairs, tuple(np.zeros((4, len(pairs)))),
                          Jointed(joints, surface))
    return witness.gap.copy(), frozen


@pytest.mark.parametrize("seed", range(8))
def test_gaps_of_links_accelerate_as_the_equations_say(seed):
    """ζ = Tᵀv and ζ̇ = Ṫᵀv + Tᵀv̇ [RBDA 11.30] against differences of the gaps along the motion without contact."""
    made = tumbling(seed).build()
    method, state, step = EventDriven(made.model), made.state, 1e-3
    gaps, loads, dense = [], empty_loads(len(made.model.kind), len(state.joints.v)), Dense(made.model)
    for k in range(5):
        gap, equations = gaps_and_equations(method, state)
        gaps.append(gap)
        if k == 2:
            middle = equations
        integrate(INTEGRATORS["dopri5"], made.model, loads, 0.0, step, state.bodies, state.bodies, dense,
                  (state.joints, state.joints))
    f = np.array(gaps)
    zeta = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * step)
    zeta_dot = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * step**2)
    # fourth-order differences: h⁴ times fifth derivatives, and 1e-16/h² of rounding
    np.testing.assert_allclose(middle.u[::3], zeta, rtol=0, atol=1e-7 * (1 + np.abs(zeta).max()))
    np.testing.assert_allclose(middle.d[::3], zeta_dot, rtol=0, atol=1e-5 * (1 + np.abs(zeta_dot).max()))


@pytest.mark.parametrize("seed", range(4))
def test_m_is_t_h_inverse_t(seed):
    """TᵀH⁻¹T by recursions against H by CRBA and T by dense Jacobians."""
    made = tumbling(seed).build()
    method, trees, space = EventDriven(made.model), made.model.trees, joint_space(made.model.trees)
    _, frozen = gaps_and_equations(method, made.state)
    H, T = np.zeros((len(made.state.joints.v),) * 2), []
    mass_matrix(space, made.state.joints.q, H)
    limits = method.surface.limits
    for k, (a, b) in enumerate(zip(frozen.body_a, frozen.body_b, strict=True)):
        row, r = np.zeros(len(H)), k - len(method.surface.meets)
        if r < 0:
            for sign, i in ((1.0, b), (-1.0, a)):
                J = np.zeros((6, len(H)))
                point = made.state.bodies.x[i] - sign * 0.05 * frozen.normal[k]
                point_jacobian(space, int(trees.link_of_body[i]), point, J)
                row += sign * frozen.normal[k] @ J[3:]
        elif limits.side[r]:
            row[limits.first_v[r]] = limits.side[r]
        else:
            w, *axis = made.state.joints.q[limits.first_q[r] : limits.first_q[r] + 4]
            row[limits.first_v[r] : limits.first_v[r] + 3] = -np.sign(w) * np.array(axis) / np.linalg.norm(axis)
        T.append(row)
    wanted = np.array(T) @ np.linalg.solve(H, np.array(T).T)
    np.testing.assert_allclose(frozen.M[::3, ::3], wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_a13_limits_feel_the_apparent_inertia_of_their_joints():
    """A13: two hinges about one axis, inertias 0.4 and 0.25, both against their limits: diag M = 2.5, 6.5."""
    bodies = [{"name": name, "position": [0, 0, 0], "mass": 1.0, "inertia": [1.0, 1.0, inertia]}
              for name, inertia in (("a", 0.4), ("b", 0.25))]
    joints = [hinge("a", (0, 0, 0), (0, 0, 1), limits=[0, 90]), hinge("b", (0, 0, 0), (0, 0, 1), "a", limits=[0, 90])]
    sim = simulate(*bodies, joints=joints)
    np.testing.assert_allclose(sim.problem().M, [[2.5, -2.5], [-2.5, 6.5]], rtol=0, atol=1e-10)


# ------------------------------------------------------------------------------------------- impacts and contacts
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_a_block_on_a_free_joint_falls_bounces_and_slides_as_a_free_block_does(mu):
    """The same equations in other coordinates, through impacts, stick and slip. Which of four corners at rest come
    after the others into the set is up to rounding: three carry the block."""
    one = block("b", (0, 0, 0.3), velocity=(2.0, 0.5, 0.0), angular_velocity=(0.4, 0.3, 0.1))
    runs = [simulate(ground(), one, joints=joints, e=0.4, mu=mu) for joints in ((), [{"type": "free", "child": "b"}])]
    for sim in runs:
        sim.run(until=0.5)
    free, link = runs
    of_link, of_free = ([e.kind for e in sim.events if e.kind != "active_set"] for sim in (link, free))
    assert of_link == of_free
    assert len(of_link) > 4
    # what dopri5 leaves open, 1e-12 a step, grows at impacts
    np.testing.assert_allclose(link.position("b"), free.position("b"), rtol=0, atol=1e-8)
    np.testing.assert_allclose(link.velocity("b"), free.velocity("b"), rtol=0, atol=1e-7)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("r", [0.3, 2 / 3, 0.9])
def test_a_ball_that_hits_a_hinged_rod_shares_its_angular_momentum(e, r):
    """m v r = I ω + m v' r about the hinge and e v = ω r - v' [RBDA 11.57-11.59]."""
    v, m, inertia = 2.0, 0.5, 1.0 / 3.0
    sim = simulate(rod("rod", (0.5, 0, 0)), ball("ball", (r, 0, -0.2), 0.05, m, velocity=(0, 0, v)),
                   joints=[hinge("rod", (0, 0, 0), armature=0.0)], e=e, gravity=(0, 0, 0))
    sim.run(until=9 / 120)  # they meet after 0.065 s
    w = (1 + e) * v * r * m / (inertia + m * r * r)
    impact = sim.events[0]
    assert impact.t == pytest.approx(0.065, abs=1e-9)
    assert impact.impulse[2] == pytest.approx(-w * inertia / r, rel=1e-9)
    if e > 0.0:
        assert sim.state.joints.v[0] == pytest.approx(w, rel=1e-9)
        assert sim.velocity("ball")[2] == pytest.approx(w * r - e * v, abs=1e-9)
    assert impact.energy_after - impact.energy_before == pytest.approx(
        -0.5 * (1 - e * e) * v * v / (1 / m + r * r / inertia), rel=1e-9)


def test_an_impact_at_the_centre_of_percussion_leaves_the_hinge_without_impulse():
    """A rod hinged at one end and hit at r passes on P (3 r/(2 L) - 1): nothing at 2/3 of its length."""
    for r in (0.25, 2 / 3, 1.0):
        sim = simulate(rod("rod", (0.5, 0, 0)), ball("ball", (r, 0, -0.2), 0.05, 0.5, velocity=(0, 0, 2.0)),
                       joints=[hinge("rod", (0, 0, 0), armature=0.0)], e=0.5, gravity=(0, 0, 0))
        sim.run(until=8 / 120)
        (impact,) = sim.events
        (passed,) = impact.joints
        P = -impact.impulse[2]  # on the rod
        assert P > 0.1
        np.testing.assert_allclose(passed.impulse, [0, 0, P * (1.5 * r - 1.0)], rtol=0, atol=1e-12)
        np.testing.assert_allclose(passed.moment, 0.0, rtol=0, atol=1e-12)  # a hinge has none about its axis
        np.testing.assert_allclose(passed.point, 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_joint_impulses_are_what_changes_the_momenta_of_each_link(seed):
    """Newton and Euler for every link: Δp, Δl = contact impulses + own joint's - those of the children's joints."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, types=("hinge", "ball", "universal", "slider"), floating=False)
    model, state, *_ = tree.build()
    trees, work = model.trees, empty_work(model.trees)
    place_links(model, *state.joints, work, state.bodies)
    change, impulse, moment = rng.normal(size=len(state.joints.v)), *rng.normal(size=(2, 6, 3))
    before = [a.copy() for a in (state.bodies.P, state.bodies.L)]
    passed = {j.joint: j for j in joint_impulses(trees, change, impulse, moment, work)}
    place_links(model, state.joints.q, state.joints.v + change, work, state.bodies)
    for l, i in enumerate(trees.body):
        own = passed[int(trees.joint[l])]
        p = impulse[i] + own.impulse
        turn = moment[i] + own.moment + np.cross(np.array(own.point) - state.bodies.x[i], own.impulse)
        for k in np.flatnonzero(trees.parent == l):
            child = passed[int(trees.joint[k])]
            p = p - child.impulse
            turn = turn - child.moment - np.cross(np.array(child.point) - state.bodies.x[i], child.impulse)
        np.testing.assert_allclose(state.bodies.P[i] - before[0][i], p, rtol=0, atol=1e-10)
        np.testing.assert_allclose(state.bodies.L[i] - before[1][i], turn, rtol=0, atol=1e-10)


def test_a_chain_lies_on_the_floor_with_its_weight():
    links = [rod(f"l{i}", (0.4 * i, 0, 0.3), 0.3, 0.05) for i in range(3)]
    joints = [hinge(f"l{i}", (0.4 * i - 0.2, 0, 0.3), parent=f"l{i - 1}") for i in range(1, 3)]
    sim = simulate(ground(), *links, joints=joints, mu=0.3, h=1 / 60)
    sim.run(until=0.5)
    assert sim.contacts.lam.sum() == pytest.approx(3 * G, rel=1e-9)
    assert np.abs(sim.v).max() < 1e-9
    assert np.abs(sim.contacts.gap[sim.contacts.current == 1]).max() < 1e-8
    assert sim.info.residual < 1e-9


# --------------------------------------------------------------------------------------------------------- limits
def test_a_rod_falls_against_its_limit_and_lies_on_it():
    """ω² = 3 g (cos 20° - cos 80°) at the limit; then the limit holds the rod's moment. e = 0."""
    sim = Simulation(Scene.from_dict(rods(1, angle=80.0, limits=[20.0, 90.0])), method="event_driven",
                     integrator="dopri5", h=1 / 60)
    sim.run(until=1.0)
    (impact,) = [event for event in sim.events if event.kind == "impact"]
    w = math.sqrt(3.0 * G * (math.cos(math.radians(20)) - math.cos(math.radians(80))))
    assert np.linalg.norm(impact.impulse) == pytest.approx(w / 3.0, rel=1e-5)  # 1e-6 of inertia about its own axis
    assert impact.impulse[1] < 0.0  # about -y, against the fall
    assert math.degrees(sim.state.joints.q[0]) == pytest.approx(20.0, abs=1e-9)
    assert abs(sim.state.joints.v[0]) < 1e-12
    problem = sim.problem()
    torque = 0.5 * G * math.sin(math.radians(20))
    assert -problem.d[0] / problem.M[0, 0] == pytest.approx(torque, rel=1e-6)


@pytest.mark.parametrize(("method", "coordinates"), [
    ("event_driven", "generalized"), ("time_stepping", "generalized"), ("time_stepping", "maximal")])
def test_a_rod_between_two_limits_bounces_with_their_restitution(method, coordinates):
    """Without gravity every bounce takes ω to e ω."""
    scene = rods(1, angle=0.0, gravity=0.0, limits=[-10.0, 20.0], restitution=0.8, velocity=2.0)
    scene["joint"][0]["coordinates"] = coordinates
    if coordinates == "maximal":  # known by its bodies alone
        scene["body"][0]["velocity"], scene["body"][0]["angular_velocity"] = [1.0, 0.0, 0.0], [0.0, -2.0, 0.0]
        del scene["joint"][0]["velocity"], scene["joint"][0]["position"]
    sim = Simulation(Scene.from_dict(scene), method=method, h=1 / 480)
    sim.run(until=1.0)
    # at 20° after 0.17 s, -10° after 0.50, 20° after 0.91
    # in maximal coordinates the limit is held along the tangent in the middle of the step: (ω h)²
    near = (2.0 / 480) ** 2 if coordinates == "maximal" else 1e-9
    assert sim.angular_velocity(0)[1] == pytest.approx(2.0 * 0.8**3, abs=near)
    if method == "event_driven":
        times = [event.t for event in sim.events if event.kind == "impact"]
        np.testing.assert_allclose(times, np.radians([20, 20 + 30 / 0.8, 20 + 30 / 0.8 + 30 / 0.64]) / 2.0, atol=1e-9)


def test_a_ball_joint_swings_up_to_its_cone():
    scene = {"body": [{"name": "b", "position": [0, 0, -0.5], "mass": 1.0, "inertia": [0.1, 0.1, 0.02]}],
             "joint": [{"type": "ball", "child": "b", "anchor": [0, 0, 0], "limits": 30, "velocity": [3.0, 1.0, 0.0]}]}
    sim, greatest = Simulation(Scene.from_dict(scene), method="event_driven", integrator="rk4", h=1 / 120), 0.0
    for _ in range(120):
        sim.step()
        greatest = max(greatest, 2.0 * math.degrees(math.acos(min(1.0, abs(sim.state.joints.q[0])))))
    assert 29.9 < greatest < 30.0 + 1e-6
    assert "impact" in {event.kind for event in sim.events}


def test_a_link_falls_on_a_limit_and_the_floor_at_once_and_stays_in_both():
    """An arm whose tip reaches the floor just where its limit is: two redundant contacts share the moment."""
    arm = rod("arm", (0.5, 0, 1.0), 1.0, 0.02)
    tip = {"type": "sphere", "radius": 0.1, "position": [0.5, 0, 0]}
    drop = math.asin(0.4)
    arm["shape"] = [tip]
    sim = simulate(ground(), arm | {"position": [0.5, 0, 0.5]},
                   joints=[hinge("arm", (0, 0, 0.5), limits=[-math.degrees(drop), 60])], h=1 / 60)
    sim.run(until=0.8)
    assert sim.state.joints.q[0] == pytest.approx(-drop, abs=1e-7)
    assert sim.info.residual < 1e-9


def test_a_mouse_on_a_link_pulls_it_where_its_joint_lets_it():
    sim = Simulation(Scene.from_dict(rods(1, angle=0.0)), method="event_driven", integrator="rk4", h=1 / 240)
    sim.grab(0, (0, 0, -1.0), (2.0, 0.0, 0.0))
    sim.run(until=1.5)
    # it hangs between its weight and the spring: below level, near it
    assert 60.0 < math.degrees(sim.state.joints.q[0]) < 90.0
    assert abs(sim.state.joints.v[0]) < 0.1
