"""Claims about implicit steps of soft surfaces with joints, in both coordinates and in loops. g = 9.81."""

from contextlib import suppress

import numpy as np
import pytest
from joint_scenes import as_trees, bricard, four_bars, hinge, rod, scene
from tree_scenes import random_tree, rods

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.methods.compliant import stage_search
from contactlab.physics.simulation.failure import CannotStep

G = 9.81
COORDINATES = ("generalized", "maximal")
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def implicit(made, h=1 / 240, **settings):
    made = made if isinstance(made, Scene) else Scene.from_dict(made)
    sim = Simulation(made, method="compliant", integrator="sdirk2", h=h)
    sim.set(**settings)
    return sim


def exact(made, until):
    """By error-controlled steps of fifth order, in generalized coordinates."""
    sim = Simulation(made.with_coordinates("generalized"), method="compliant", integrator="dopri5", h=1 / 200)
    sim.run(until=until)
    return motion(sim)


def motion(sim):
    """Poses and velocities of all bodies, orientations by what they do to a vector."""
    q, u = sim.state.bodies.q, np.array([0.3, 0.5, 0.7])
    t = 2.0 * np.cross(q[:, 1:], u)
    turned = u + q[:, :1] * t + np.cross(q[:, 1:], t)
    return np.concatenate([sim.state.bodies.x, turned, sim.state.bodies.v, sim.state.bodies.w])


def errors_of(made, until, steps, reference, **settings):
    errors = []
    for h in steps:
        sim = implicit(made, h, **settings)
        while sim.time < until - 1e-9:
            sim.step()
            assert sim.info.status == "solved"
        assert sim.info.joint_error < 1e-11
        errors.append(np.abs(motion(sim) - reference).max())
    return np.array(errors)


# ------------------------------------------------------------------------------------------------------ order
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("joint", [
    {}, {"damping": 0.3, "spring": {"stiffness": 20.0}, "armature": 0.1}, {"motor": {"speed": 1.0, "limit": 4.0}}],
    ids=("free", "sprung", "driven"))
def test_a_double_pendulum_is_of_second_order(joint, coordinates):
    made = Scene.from_dict(rods(2, angle=60.0, **joint))
    first, second = errors_of(made.with_coordinates(coordinates), 0.5, (1 / 100, 1 / 200), exact(made, 0.5))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.05) and second < 3e-3


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("kind", ("slider", "universal", "ball"))
def test_every_type_of_joint_is_of_second_order_in_space(kind, coordinates):
    """Four links with rotors on their joints; those of balls turn with the parent."""
    made = random_tree(np.random.default_rng(5), 4, types=(kind,), floating=False)
    first, second = errors_of(made.with_coordinates(coordinates), 0.1, (1 / 100, 1 / 200), exact(made, 0.1))
    if kind == "slider":  # all accelerations are constant
        assert max(first, second) < 1e-10
    else:
        assert np.log2(first / second) == pytest.approx(2.0, abs=0.25) and first < 0.1


def test_a_floating_tree_keeps_its_momentum_and_is_of_second_order():
    made = random_tree(np.random.default_rng(2), 5, floating=True)
    first, second = errors_of(made, 0.1, (1 / 100, 1 / 200), exact(made, 0.1))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.25)
    sim = implicit(made)
    sim.run(0.2)
    assert np.abs(sim.state.ledger[12, 1:4]).max() < 1e-11  # drift of the linear momentum
    assert np.abs(sim.state.ledger[12, 4:]).max() < 1e-2


def test_without_projection_joints_come_apart_by_the_square_of_the_step_and_less_by_baumgarte():
    made, errors = Scene.from_dict(rods(2, angle=60.0)).with_coordinates("maximal"), {}
    for cure in ("none", "baumgarte"):
        for h in (1 / 100, 1 / 200):
            sim = implicit(made, h, joint_cure=cure)
            sim.run(until=0.5)
            errors[cure, round(1 / h)] = sim.info.joint_error
    assert errors["none", 200] == pytest.approx(0.25 * errors["none", 100], rel=0.02)
    assert 0.0 < errors["baumgarte", 100] < 0.5 * errors["none", 100] < 2e-5
    assert errors["baumgarte", 200] < 0.8 * errors["none", 200]


# ------------------------------------------------------------------------------------------------------ loops
def leaning():
    """Two four-bars of upright cranks, by a gravity that topples them."""
    tables = four_bars(speed=0.0)
    tables["scene"]["gravity"] = [3.0, 0.0, -G]
    return tables


@pytest.mark.parametrize("close", (as_trees, lambda tables: tables), ids=("tree", "constraints"))
def test_planar_four_bars_go_through_their_redundant_rows(close):
    """A third of the rows depends on others; the energy stays to second order."""
    lost = []
    for h in (1 / 100, 1 / 200):
        sim = implicit(close(leaning()), h)
        first = sim.energy().total
        while sim.time < 0.6:
            sim.step()
            assert sim.info.status == "solved" and sim.info.joint_error < 1e-11
        lost.append(abs(sim.energy().total - first))
    assert lost[1] < 0.3 * lost[0] < 0.05


def test_a_tree_that_closes_moves_as_constraints_do():
    ends = [motion_after(close(leaning()), h) for h in (1 / 100, 1 / 200)
            for close in (as_trees, lambda tables: tables)]
    coarse, fine = (np.abs(ends[i] - ends[i + 1]).max() for i in (0, 2))
    assert fine < 0.3 * coarse and coarse < 1e-2


def motion_after(tables, h, until=0.3):
    sim = implicit(tables, h)
    sim.run(until=until)
    return motion(sim)


def test_bricards_mechanism_moves():
    """Mobile though its joints leave -1 degrees of freedom by count."""
    sim = implicit(bricard(), 1 / 200)
    first, start = sim.energy().total, sim.state.bodies.x.copy()
    sim.run(until=0.5)
    assert np.abs(sim.state.bodies.x - start).max() > 0.1 and sim.info.joint_error < 1e-11
    assert abs(sim.energy().total - first) < 5e-3


# ------------------------------------------------------------------------------------------------- stiff contacts
def chain_on_floor(coordinates, mu=0.5):
    """Three hinged rods on the floor: every rod lies on both of its ends."""
    bodies = [rod(f"rod {i}", (0.5 * i, 0, 0.05), (0.5 * i + 0.4, 0, 0.05), mass=1.0 + i,
                  shape=[{"type": "sphere", "radius": 0.05, "position": [x, 0, 0]} for x in (-0.2, 0.2)])
              for i in range(3)]
    for body in bodies:
        body["inertia"] = [1e-3, 0.02, 0.02, 0.0, 0.0, 0.0]
    joints = [hinge(f"rod {i}", f"rod {i + 1}", (0.5 * i + 0.45, 0, 0.05), coordinates=coordinates) for i in range(2)]
    if coordinates == "generalized":
        joints.insert(0, {"type": "free", "child": "rod 0"})
    material = {"stiffness_n": 2e7, "damping_n": 2e3, "stiffness_t": 2e7, "damping_t": 2e3, "friction": mu}
    return Scene.from_dict(scene([FLOOR, *bodies], joints) | {"material": {"default": material}})


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_chain_rests_on_a_stiff_floor_where_explicit_steps_blow_up(coordinates):
    """K = 1e7 N/m of both surfaces in series under 6 kg: ω h is 10. Every contact is as deep as its force over K, all
    carry the weight, and about every hinge moments balance."""
    sim, blown = implicit(chain_on_floor(coordinates, 0.0)), implicit(chain_on_floor(coordinates, 0.0))
    blown.set(integrator="rk4", substeps=1)
    with suppress(CannotStep):
        blown.run(until=0.2)
    assert not np.abs(blown.state.bodies.v).max() < 1.0
    sim.run(until=1.0)
    assert np.abs(sim.state.bodies.v).max() < 1e-9 and sim.info.status == "solved"
    forces = sim.contacts.lam
    assert forces.sum() == pytest.approx(6.0 * G, rel=1e-9)
    np.testing.assert_allclose(-1e7 * sim.contacts.gap, forces, rtol=1e-6)
    reach = np.array([0.0, 0.4, 0.5, 0.9, 1.0, 1.4])
    order = np.argsort(sim.contacts.point[:, 0])
    # about hinge k of what lies beyond it
    for k, place in ((0, 0.45), (1, 0.95)):
        arms = reach - place
        weight = sum((1.0 + i) * G * (0.5 * i + 0.2 - place) for i in range(k + 1, 3))
        assert (forces[order] * arms)[2 * k + 2 :].sum() == pytest.approx(weight, rel=1e-5)


def test_both_coordinates_fall_on_a_stiff_floor_alike():
    """Dropped on one end, whatever a step of a twentieth of a millisecond makes of it."""
    ends = []
    for coordinates in COORDINATES:
        made = Scene.from_dict(rods(2, angle=50.0, coordinates=coordinates) | {
            "material": {"default": {"stiffness_n": 1e5, "damping_n": 100.0}}})
        tables = made.tables.model_dump(exclude_none=True)
        tables["body"][1]["shape"] = [{"type": "sphere", "radius": 0.05, "position": [0, 0, -0.5]}]
        tables["body"] = [*tables["body"], FLOOR | {"position": [0, 0, -1.7]}]
        sim = implicit(tables, 5e-4)
        pressed = 0.0
        while sim.time < 0.6:
            sim.step()
            pressed = max(pressed, sim.info.penetration)
        assert pressed > 1e-4
        ends.append(sim.state.bodies.x[:2].copy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=2e-3)


# -------------------------------------------------------------------------------------- springs, stops and motors
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_spring_as_stiff_as_steel_holds_a_rod_with_long_steps(coordinates):
    """k = 1e8 N m/rad and a damper at h = 1/60: bent by m g L/(2 k) at once and for ever."""
    sim = implicit(Scene.from_dict(rods(1, angle=90.0, damping=1e3, coordinates=coordinates, spring={
        "stiffness": 1e8, "position": 90.0})), 1 / 60)
    sim.run(until=2.0)
    turned = np.arctan2(sim.position("rod 0")[0], -sim.position("rod 0")[2]) - 0.5 * np.pi
    assert turned == pytest.approx(-0.5 * G / 1e8, rel=1e-6)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_stiff_stop_gives_way_by_the_moment_over_its_stiffness(coordinates):
    """K at the distance of the centre of mass, 0.5 m; it was hit with steps of 1/60 s."""
    made = rods(1, angle=60.0, limits=[20.0, 90.0], coordinates=coordinates)
    made["material"] = {"default": {"stiffness_n": 1e8, "damping_n": 1e7}}
    sim = implicit(made, 1 / 60)
    sim.run(until=3.0)
    x = sim.position("rod 0")
    q = np.arctan2(x[0], -x[2])
    assert np.radians(20.0) - q == pytest.approx(0.5 * G * np.sin(q) / (0.25 * 1e8), rel=1e-5)
    assert np.abs(sim.state.bodies.w).max() < 1e-9


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_cone_of_a_ball_joint_holds_by_its_stiffness(coordinates):
    """A rod that swings about a ball joint comes to rest 10° beyond hanging on the cone of 30° about 40°."""
    body = rod("rod", (0, 0, 0), (np.sin(np.radians(40.0)), 0, -np.cos(np.radians(40.0))))
    made = scene([body], [{"type": "ball", "child": "rod", "anchor": [0, 0, 0], "limits": 30.0, "damping": 0.5,
                           "coordinates": coordinates}])
    made["material"] = {"default": {"stiffness_n": 1e7, "damping_n": 1e3}}
    sim = implicit(made, 1 / 120)
    sim.run(until=4.0)
    q = np.arctan2(sim.position("rod")[0], -sim.position("rod")[2])
    assert q < np.radians(10.0)
    assert np.radians(10.0) - q == pytest.approx(0.5 * G * np.sin(q) / (0.25 * 1e7), rel=1e-4)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_a_stop_holds_and_takes_is_booked(coordinates):
    """All that a rod lost that fell on a stop was taken by it, but for what the steps themselves take, which goes with
    their square."""
    drift = []
    for h in (1e-3, 5e-4):
        made = rods(1, angle=60.0, limits=[20.0, 90.0], coordinates=coordinates)
        made["material"] = {"default": {"stiffness_n": 2e4, "damping_n": 100.0}}
        sim = implicit(made, h)
        first = sim.energy().total
        sim.run(until=0.5)
        books = sim.ledger
        assert books["Soft limits"][0] + books["Numerical drift"][0] == pytest.approx(
            sim.energy().total - first + sim.info.stored, abs=1e-9)
        drift.append(abs(books["Numerical drift"][0]))
        assert -books["Soft limits"][0] > 0.1
    assert drift[1] < 0.4 * drift[0] < 0.02


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_motor_spins_up_at_its_limit_and_holds_its_speed(coordinates):
    """ω = τ t/I until ω = s; the ledger has ½ I s², but for the step in which it gets there."""
    wheel = {"name": "wheel", "position": [0, 0, 0], "mass": 2.0, "inertia": [0.3, 0.3, 0.4]}
    made = Scene.from_dict(scene([wheel], [hinge("world", "wheel", (0, 0, 0), (0, 0, 1), coordinates=coordinates,
                                                 motor={"speed": 2.0, "limit": 0.45})]))
    sim, h = implicit(made, 1 / 50), 1 / 50
    sim.run(until=1.0)
    (motor,) = sim.info.motors
    assert sim.angular_velocity("wheel")[2] == pytest.approx(1.125, rel=1e-9)
    assert not motor.holds and motor.force == pytest.approx(0.45, rel=1e-12)
    sim.run(until=2.0)
    (motor,) = sim.info.motors
    assert motor.holds and motor.speed == pytest.approx(2.0, abs=1e-9) and abs(motor.force) < 1e-9
    assert sim.ledger["Joints and motors"][0] == pytest.approx(0.8, abs=0.45 * 2.0 * h)


def test_a_motor_drives_a_closed_loop_alike_as_a_tree_and_as_constraints():
    ends = []
    for close in (as_trees, lambda tables: tables):
        tables = four_bars(n=1, speed=0.0)
        tables["joint"][0] |= {"motor": {"speed": 2.0, "limit": 15.0}}
        sim = implicit(close(tables), 1 / 400)
        sim.run(until=0.4)
        (motor,) = sim.info.motors
        assert motor.holds and motor.speed == pytest.approx(2.0, abs=1e-6) and 0.0 < abs(motor.force) < 15.0
        ends.append(sim.position("coupler 0"))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-4)


def test_no_bounce_gains_energy_however_long_the_step():
    """A ball of K = 1e8 N/m, seen for a tenth of a step, and a rod on its stop."""
    ball = {"name": "ball", "mass": 1.0, "inertia": [4e-3] * 3, "shape": [{"type": "sphere", "radius": 0.1}]}
    hard = {"default": {"stiffness_n": 2e8, "damping_n": 4e3}}
    made = [scene([FLOOR, ball | {"position": [0, 0, z]}], []) | {"material": hard} for z in (0.32, 0.33)]
    made += [rods(1, angle=60.0, limits=[20.0, 90.0], coordinates=c) | {"material": hard} for c in COORDINATES]
    for tables in made:
        sim = implicit(tables, 1 / 240 if tables["joint"] == [] else 1 / 60)
        last = first = sim.energy().total
        while sim.time < 2.0:
            sim.step()
            now = sim.energy().total + sim.info.stored
            assert now - last < 2e-4 * G
            last = now
        assert last < first - 0.1


# --------------------------------------------------------------------------------------------- mouse, books, state
@pytest.mark.parametrize("turn", (False, True))
def test_the_mouse_feels_the_mechanism_that_explicit_steps_feel(turn):
    """A chain of three rods, pulled and turned at the second one, in both coordinates and by rk4."""
    ends = []
    for coordinates, integrator in (("generalized", "rk4"), ("generalized", "sdirk2"), ("maximal", "sdirk2")):
        bodies = [rod(f"rod {i}", (0.5 * i, 0, 0), (0.5 * i + 0.5, 0, 0)) for i in range(3)]
        joints = [hinge(f"rod {i - 1}" if i else "world", f"rod {i}", (0.5 * i, 0, 0), coordinates=coordinates)
                  for i in range(3)]
        sim = Simulation(Scene.from_dict(scene(bodies, joints)), method="compliant", integrator=integrator, h=1 / 400)
        start = sim.position("rod 1")
        sim.grab("rod 1", np.array([0.9, 0, 0]), np.array([0.6, 0, 0.5]), turn)
        sim.run(until=0.2)
        assert np.linalg.norm(sim.position("rod 1") - start) > 0.1
        assert sim.ledger["Mouse"][0] > 0.1 and abs(sim.ledger["Numerical drift"][0]) < 0.02
        ends.append(np.concatenate([sim.position("rod 1"), sim.position("rod 2")]))
    np.testing.assert_allclose(ends[2], ends[1], rtol=0, atol=1e-3)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=5e-3)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_springs_dampers_and_motors_do_is_booked(coordinates):
    """Energy is left over of second order; angular momentum about the hinge is what gravity and the hinge gave."""
    drift = []
    for h in (1 / 200, 1 / 400):
        made = rods(2, angle=60.0, damping=0.5, spring={"stiffness": 5.0}, coordinates=coordinates)
        made["joint"][0]["motor"] = {"torque": 3.0}
        sim = implicit(made, h)
        sim.run(until=0.5)
        assert sim.ledger["Dampers"][0] < -0.1 and abs(sim.ledger["Joints and motors"][0]) > 0.1
        drift.append(abs(sim.ledger["Numerical drift"][0]))
        assert np.abs(sim.ledger["Numerical drift"][1:4]).max() < 1e-10
    assert drift[1] < 0.3 * drift[0] < 3e-3


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_many_unknowns_are_solved_sparsely_to_the_same_motion(coordinates, monkeypatch):
    """A motor that gives in, contacts, and joints of both kinds, in matrices of either sort."""
    ends = []
    for dense in (stage_search.MOST_DENSE, 0):
        monkeypatch.setattr(stage_search, "MOST_DENSE", dense)
        sim = implicit(chain_on_floor(coordinates))
        sim.grab("rod 2", sim.position("rod 2"), sim.position("rod 2") + np.array([0.0, 0.0, 0.3]))
        sim.run(until=0.2)
        ends.append(motion(sim))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_restored_run_is_the_same_to_the_bit(coordinates):
    made = rods(2, angle=60.0, limits=[-30.0, 90.0], armature=0.1, coordinates=coordinates)
    made["joint"][1] |= {"motor": {"speed": 2.0, "limit": 3.0}}
    sim = implicit(made)
    sim.run(until=0.2)
    saved = sim.save()
    sim.run(until=0.4)
    first = motion(sim)
    sim.restore(saved)
    sim.run(until=0.4)
    assert (motion(sim) == first).all()


def test_an_integrator_of_fewer_stages_may_be_taken_up_at_any_time():
    """The ragdoll goes on by two stages after one step by four, through contacts that appear within a step."""
    sim = Simulation(Scene.load(gallery()["ragdoll"]), method="compliant", integrator="rk4")
    sim.step()
    sim.set(integrator="sdirk2")
    sim.run(until=0.8)
    assert sim.info.contacts > 0 and sim.info.status == "solved"


def test_bodies_that_do_not_move_stay_where_they_are():
    """A shelf one metre up carries a ball."""
    shelf = FLOOR | {"position": [0.0, 0.0, 1.0]}
    ball = {"name": "ball", "position": [0, 0, 1.1], "mass": 1.0, "inertia": [4e-3] * 3,
            "shape": [{"type": "sphere", "radius": 0.1}]}
    sim = implicit(scene([shelf, ball], []))
    sim.run(until=1.0)
    assert sim.position("floor")[2] == 1.0 and sim.position("ball")[2] == pytest.approx(1.1, abs=2e-3)
