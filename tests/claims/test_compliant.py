"""Claims about compliant surfaces, RBDA §11.8: rest, stiction and the first-order surface itself."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from soft_scenes import FLOOR, G, ball, box, on_incline, place, set_velocity, soft, stack

from contactlab.physics import Scene, Simulation
from contactlab.physics.integrators import IMPLICIT, INTEGRATORS
from contactlab.physics.laws.soft import lumped, pair_units
from contactlab.physics.methods.compliant.stability import MOST_SUBSTEPS
from contactlab.physics.scene.gains import ratio_for, restitution_of

SURFACES = ("closed_form", "integrated")


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("integrator", ["semi_implicit", "heun", "rk4"])
def test_a_body_sinks_in_by_its_weight_over_the_stiffness(integrator, surface):
    """K z = -m g, and the force is the weight; the rate of approach e^(-ω ζ t) leaves nothing after 3 s."""
    sim = soft(ball(), k=1e4, d=40.0, integrator=integrator, surface=surface)
    sim.run(3.0)
    assert sim.position("ball")[2] - 0.1 == pytest.approx(-G / 1e4, rel=1e-9)
    assert sim.contacts.lam == pytest.approx([G], rel=1e-9)
    assert sim.contacts.current.tolist() == sim.contacts.active.tolist() == [1]
    assert sim.state.surfaces.surface_z[0, 0] == pytest.approx(-G / 1e4, rel=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS | IMPLICIT)
def test_the_rigid_problem_of_an_instant_is_that_of_any_integrator(integrator):
    """What the panels show as equations: a ball that touches the floor, as it stands at the start."""
    sim, other = (soft(ball(), integrator=name) for name in (integrator, "rk4"))
    found, same = sim.problem(), other.problem()
    assert len(found.d) == 3 and np.array_equal(found.M, same.M) and np.array_equal(found.d, same.d)


def test_both_realizations_of_z_agree_to_the_order_of_the_integrator():
    """A ball bounces and the dent recovers behind it: z as integrated state differs from its closed form by O(h²) with
    Heun's method, also across the release, where ż does not jump: K z + D ṗ = 0."""
    counts, differences = (8, 16, 32, 64), []
    for substeps in counts:
        z = []
        for surface in SURFACES:
            sim = soft(ball(velocity=[0.0, 0.0, -1.0]), gravity=(0, 0, 0), k=1e4, d=60.0, integrator="heun",
                       surface=surface, substeps=substeps)
            sim.run(9 / 240)  # of which the contact lasts 2 acos 0.3/(ω √(1 - 0.3²)) = 27 ms
            z.append(float(sim.state.surfaces.surface_z[0, 0]))
        assert z[0] < -1e-4 and sim.state.surfaces.mode[0] == 0
        differences.append(abs(z[1] - z[0]))
    order = -np.polyfit(np.log2(counts), np.log2(differences), 1)[0]
    assert order == pytest.approx(2.0, abs=0.25)


@pytest.mark.parametrize("surface", SURFACES)
def test_e2_a_dragged_contact_slips_at_the_cone_holds_where_it_stops_and_relaxes_when_lifted(surface):
    """K = 1e4, D = 10, μN = 5, dragged at 0.1: f = 1 at once, slip at t* = (μN - D v)/(K v) = 4 ms with x = 4e-4, then
    x = 5e-4 - 1e-4 e^(-(t - t*)/1 ms); stopped it holds for ever; lifted it relaxes with D/K = 1 ms.

    The body is so heavy that friction does not slow it: 5 N on 1e10 kg for 5 ms, 2.5e-12 m/s.
    """
    mass, n, h = 1e10, 10.0, 1e-5
    sim = soft(ball(mass=mass, inertia=1e4, z=0.1 - n / 1e4), gravity=(0, 0, -n / mass), friction=0.5, k=1e4, d=10.0,
               h=h, surface=surface)
    set_velocity(sim, "ball", (0.1, 0.0, 0.0))
    sim.step()
    assert sim.contacts.friction_force[0, 0] == pytest.approx(-1.0 - 1e4 * 0.1 * h / 2, rel=1e-9)  # mean of the step
    sim.run(0.004)
    assert sim.state.surfaces.surface_x[0, 0, 0] == pytest.approx(4e-4, abs=1e-12)
    sim.run(0.005)
    assert sim.state.surfaces.surface_x[0, 0, 0] == pytest.approx(5e-4 - 1e-4 / np.e, rel=1e-8)
    assert sim.state.surfaces.mode[0] == 2
    set_velocity(sim, "ball", (0.0, 0.0, 0.0))
    for _ in range(100):
        sim.step()
    assert sim.state.surfaces.surface_x[0, 0] == pytest.approx([4.632120559e-4, 0, 0], abs=1e-12)
    assert sim.contacts.friction_force[0, 0] == pytest.approx(-4.632120559, abs=1e-8)
    place(sim, "ball", (0.0, 0.0, 1e-6))
    start = sim.state.surfaces.surface_x[0, 0, 0]
    sim.loads.force[1] = (0.0, 0.0, n)
    place(sim, "ball", (0.0, 0.0, 1e-2))
    while sim.state.surfaces.mode[0] or sim.time < 0.007:
        sim.step()
    steps = round((sim.time - 0.006) / h)
    assert sim.state.surfaces.surface_x[0, 0, 0] == pytest.approx(start * np.exp(-steps * h / 1e-3), rel=1e-8)


@pytest.mark.parametrize("degrees", [5.0, 25.0])
def test_e2_a_block_below_the_friction_angle_does_not_creep(degrees):
    """True stiction: x = m g sin θ/K_t carries the block; once at rest it does not move by 1e-14 m in 2 s more."""
    slope, sim = np.radians(degrees), on_incline(degrees)
    sim.run(2.0)
    start = sim.position("box")
    sim.run(4.0)
    assert np.abs(sim.position("box") - start).max() < 1e-14
    assert sim.state.surfaces.surface_x[:4, 0, 0].sum() == pytest.approx(G * np.sin(slope) / 1e4, rel=1e-9)


def test_a_stack_of_ten_boxes_does_not_creep_in_a_minute():
    """Its slowest mode swings at ω = π/20 √(4 K/m) and dies out as e^(-½ D/K ω² t): nothing is left after 12 s. From
    there on every substep rounds a coordinate below 2 m by 2^-53 m at most. An hour: tests/benchmarks/soft.py hour."""
    sim = stack()
    sim.run(12.0)
    start, steps = sim.q.copy(), sim.step_count
    sim.run(72.0)
    assert sim.info.status == "solved"
    assert np.abs(sim.q - start).max() <= (sim.step_count - steps) * sim.info.substeps * 2.0**-53
    pushes = sim.contacts.lam.reshape(-1, 4).sum(axis=1)
    assert pushes == pytest.approx(G * np.arange(10, 0, -1), rel=1e-9)


def test_a_ball_that_sinks_through_a_plate_lets_its_normal_turn_round():
    """On a surface much too soft a ball slides down into a plate and through its middle, where the normal turns to the
    opposite one at once: what was dragged along the surface is carried over, and pushes it out below."""
    plate = {"name": "plate", "fixed": True, "position": [0.0, 0.0, 1.0],
             "shape": [{"type": "box", "size": [4.0, 4.0, 0.2]}]}
    sim = soft(plate, ball(z=1.15, velocity=[1.0, 0.0, -3.0]), friction=0.5, k=20.0, d=1.0)
    sim.run(0.3)
    assert np.isfinite(sim.q).all() and sim.position("ball")[2] < 0.8
    assert 0.0 < sim.velocity("ball")[0] < 1.0 and sim.info.dissipated > 0.0


def test_a_block_above_the_friction_angle_slides_with_coulombs_acceleration():
    """a = g (sin θ - μ cos θ) once the surfaces have settled."""
    slope = np.radians(35.0)
    sim = soft(box(size=(0.4, 0.4, 0.05), z=0.025 - G * np.cos(slope) / 4e4),
               gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)), friction=0.5, k=1e4, d=80.0)
    sim.run(1.0)
    before = sim.velocity("box")[0]
    sim.run(2.0)
    assert sim.velocity("box")[0] - before == pytest.approx(G * (np.sin(slope) - 0.5 * np.cos(slope)), rel=1e-6)
    friction = np.linalg.norm(sim.contacts.friction_force, axis=1)
    assert friction == pytest.approx(0.5 * sim.contacts.lam, rel=1e-9)


# ------------------------------------------------------------------------------------------------ gains
def test_restitution_of_the_damping_ratio_is_that_of_the_closed_form():
    table = {0.01: .969264750464, 0.1: .744079397722, 0.5: .298436059192, 2**-0.5: np.exp(-np.pi / 2), 1: np.exp(-2.0),
             1.5: .075588309365, 3: .023769514069}
    for ratio, e in table.items():
        assert restitution_of(ratio) == pytest.approx(e, abs=1e-11)
    for e, ratio in {0.5: .255275637649, 0.8: .074355097098, 0.9: .034265204126, 1.0: 0.0}.items():
        assert ratio_for(e) == pytest.approx(ratio, abs=1e-11)


def gains_of(**tables):
    return Scene.from_dict({"scene": {"title": "t"}, **tables}).build().model.materials.surfaces


def test_gains_of_two_materials_are_in_series_and_a_pair_may_say_otherwise():
    materials = {"a": {"stiffness_n": 2e4, "damping_n": 20.0}, "b": {"stiffness_n": 3e4, "damping_n": 30.0}}
    table = gains_of(material=materials)
    assert pair_units(table, "linear")[1, 2, :4].tolist() == pytest.approx([1.2e4, 12.0, np.inf, np.inf])
    assert lumped(table)[2, 1, 0, :2].tolist() == pytest.approx([1.2e4, 12.0])
    table = gains_of(material=materials, pair=[{"materials": ["b", "a"], "damping_n": 5.0}])
    assert pair_units(table, "linear")[2, 1, :4].tolist() == pytest.approx([1.2e4, 5.0, np.inf, np.inf])
    materials["b"]["damping_n"] = 300.0  # another K/D: one surface each
    assert pair_units(gains_of(material=materials), "linear")[1, 2, :4].tolist() == [2e4, 20.0, 3e4, 300.0]
    materials["b"] = {"stiffness_n": np.inf}
    assert pair_units(gains_of(material=materials), "linear")[1, 2, :4].tolist() == [2e4, 20.0, np.inf, np.inf]


def test_two_rigid_materials_are_refused_by_name_of_what_is_missing():
    scene = Scene.from_dict({"scene": {"title": "t"}, "body": [ball(), FLOOR],
                             "material": {"default": {"stiffness_n": np.inf, "stiffness_t": np.inf}}})
    with pytest.raises(ValueError, match="finite stiffness"):
        Simulation(scene, method="compliant")


# ------------------------------------------------------------------------------------------------ travelling dent
@pytest.mark.parametrize("integrator", ["heun", "sdirk2"])
def test_a_rolling_ball_loses_the_power_of_its_travelling_dent(integrator):
    """D_r c² at c = R ω; with the dent z the contact is nearer by z/2, so that v = (R - z/2) ω and
    (m + I/a²) v̇ = -D_r (R/a)² v: what is lost in 0.2 s, and the speed, fall as e^(-λ t)."""
    resistance, radius, k = 0.7, 0.1, 1e5
    arm = radius - 0.5 * G / k
    sim = soft(ball(z=radius - G / k, velocity=[2.0, 0.0, 0.0], angular_velocity=[0.0, 2.0 / arm, 0.0]), friction=0.5,
               k=k, d=200.0, integrator=integrator, damping_roll=resistance)
    sim.run(0.3)  # the springs of the surface have come to rest: e^(-100 · 0.3)
    v, lost = sim.velocity("ball")[0], sim.info.dissipated
    rate = resistance * (radius / arm) ** 2 / (1.0 + 0.4 * (radius / arm) ** 2)
    sim.run(0.5)
    assert sim.velocity("ball")[0] == pytest.approx(v * np.exp(-0.2 * rate), rel=1e-5)
    power = resistance * (radius / arm * v) ** 2
    assert sim.info.dissipated - lost == pytest.approx(power * -np.expm1(-0.4 * rate) / (2.0 * rate), rel=1e-4)
    assert power > 1.0


def test_the_dents_of_boxes_do_not_travel():
    """A box that tips about its corner has no curvature there: the same motion, bit for bit, with D_r and without."""
    ends = []
    for resistance in (0.0, 50.0):
        sim = soft(box(z=0.15, angular_velocity=[1.0, 2.0, 0.5]), friction=0.5, damping_roll=resistance)
        sim.run(0.2)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert (ends[0] == ends[1]).all()


# ------------------------------------------------------------------------------------------------ stable steps
def true_eigenvalue(sim, k_n, k_t):
    """Largest eigenvalue of H⁻¹ Σ Jᵀ K J, written out."""
    c, x, n = sim.contacts, sim.state.bodies.x, len(sim.state.bodies.x)
    stiff, inverse = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for i in range(int(c.count[0])):
        jacobian = np.zeros((3, 6 * n))
        for body, sign in ((int(c.body_a[i]), -1.0), (int(c.body_b[i]), 1.0)):
            arm = c.point[i] - x[body]
            cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
            jacobian[:, 6 * body : 6 * body + 6] = sign * np.hstack([np.eye(3), -cross])
        normal = np.outer(c.normal[i], c.normal[i])
        stiff += jacobian.T @ (k_n * normal + k_t * (np.eye(3) - normal)) @ jacobian
    for body in range(n):
        turn = Rotation.from_quat(np.roll(sim.state.bodies.q[body], -1)).as_matrix()
        inverse[6 * body : 6 * body + 3, 6 * body : 6 * body + 3] = sim.model.inv_mass[body] * np.eye(3)
        rows = slice(6 * body + 3, 6 * body + 6)
        inverse[rows, rows] = turn @ np.diag(sim.model.inv_inertia[body]) @ turn.T
    return float(np.linalg.eigvals(inverse @ stiff).real.max())


@pytest.mark.parametrize("bodies", [[ball()], [box(), box("upper", z=0.299)],
                                    [box(), ball("upper", z=0.299), box("beside", z=0.1, mass=3.0)]])
def test_the_step_bound_is_above_the_largest_eigenvalue_and_near_it(bodies):
    """tr(X^8)^(1/8) is at most 6^(1/8) too large for one body; two that touch and both move cost a factor 2."""
    k_n, k_t = 2e4, 1.5e4
    sim = soft(*bodies, k=k_n, d=1.0, k_t=k_t, d_t=1.0, h=1e-5, integrator="semi_implicit")
    for i, body in enumerate(bodies):
        place(sim, body["name"], (0.0, 0.19 if body["name"] == "beside" else 0.0, -1e-4 * (i + 1)))
    sim.step()
    bound = sim._method._course.limits(sim.state.bodies).square
    true = true_eigenvalue(sim, k_n, k_t)
    assert true <= bound <= true * 6.0**0.125 * (1.0 if len(bodies) == 1 else 2.0) * 1.001


def test_too_few_substeps_are_said():
    """K = 1e12 N/m under 1 kg: 1e6 rad/s ask for more substeps than are made, and implicit steps stand in. Explicit
    Euler gains energy of an undamped spring in any substep, and is left to do so where it resolves the motion. As many
    substeps are made as are asked for."""
    sim = soft(ball(), k=1e12, d=0.0, integrator="semi_implicit")
    sim.step()
    assert sim.info.status.startswith("implicit steps, as semi_implicit would need") and sim.info.iterations > 0
    assert 1.0 / MOST_SUBSTEPS > sim.info.stable_step / sim.settings.h > 1.0 / (3 * MOST_SUBSTEPS)
    sim = soft(ball(), k=1e8, d=0.0, integrator="euler")
    sim.step()
    assert sim.info.substeps == MOST_SUBSTEPS and "too few" in sim.info.status
    sim = soft(ball(), k=1e6, d=0.0, integrator="semi_implicit", substeps=1)
    sim.step()
    assert sim.info.stable_step < sim.settings.h and sim.info.status.startswith("1 substep is too few")
    sim.set(substeps=0)
    sim.step()
    assert sim.info.status == "solved" and sim.info.substeps > 1


def test_error_control_that_cannot_succeed_gives_up_and_says_so(monkeypatch):
    """Boxes deep in each other on very soft surfaces: contact points jump about and no step is smooth. The step ends
    with a bounded number of tries, and the motion goes on."""
    boxes = [box(f"box {i}", z=0.1 + 0.03 * i, euler=[20 * i, 30 * i, 10 * i]) for i in range(5)]
    sim = soft(*boxes, integrator="dopri5", k=3.0, d=0.01, friction=0.5)
    monkeypatch.setattr("contactlab.physics.methods.compliant.adaptive.MOST_TRIES", 63)  # of 65 contacts: 19
    said = set()
    for _ in range(6):
        sim.step()
        assert sim.info.substeps <= 31 + MOST_SUBSTEPS
        said.add(sim.info.status)
    assert said == {"solved", "no error control after 19 tries"}
    assert np.isfinite(sim.q).all()


def test_an_implicit_integrator_is_refused_where_no_stage_is_solved():
    sim = Simulation(Scene.from_dict({"scene": {"title": "t"}, "body": [ball(), FLOOR]}))
    with pytest.raises(ValueError, match="sdirk2 is implicit and works with the method compliant only"):
        sim.set(integrator="sdirk2")
