"""Static friction: what sticks breaks away at μ_s, what slips feels μ < μ_s."""

import math
import tomllib

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, tilted

from contactlab.assets import gallery
from contactlab.physics.laws.contact import break_away
from contactlab.physics.scene.scene import Scene, SceneError
from contactlab.physics.simulation.simulation import Simulation

METHODS = ("event_driven", "time_stepping", "compliant")
MU, MU_S = 0.3, 0.5
H = 1 / 240


def rough(*bodies, method, gravity=(0.0, 0.0, -G), static: float | None = MU_S, **solver):
    """Bodies with μ and μ_s; hard surfaces for the method compliant."""
    material = {"friction": MU, "stiffness_n": 4e4, "damping_n": 400.0, "stiffness_t": 4e4, "damping_t": 400.0}
    if static is not None:
        material["friction_static"] = static
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [float(c) for c in gravity]}, "solver": {"method": method, "h": H, **solver},
        "material": {"default": material}, "body": list(bodies)}))


def instants(sim, kind):
    """Distinct instants of events of a kind [s]: corners of a block do the same at once."""
    found: list[float] = []
    for event in sim.events:
        if event.kind == kind and (not found or event.t - found[-1] > 1e-6):
            found.append(event.t)
    return found


# ------------------------------------------------------------------------------------------------- stick and slip
STICK_SLIP = gallery()["stick_slip"]
V, K, M = 0.15, 30.0, 1.0  # of the gallery's scene: belt [m/s], spring [N/m], block [kg]


def stick_slip_phases(mu=MU, mu_s=MU_S):
    """Lengths [s] of stick and slip of a block on a belt, held by a spring.

    It sticks from the stretch x = (2 μ - μ_s) m g/K to μ_s m g/K, at the belt's speed V. It slips in a harmonic motion
    about μ m g/K, from Δ = (μ_s - μ) m g/K at the speed V until it has that speed again: x = A cos(ω t - φ) with
    tan φ = V/(ω Δ), and ω t = π + 2 φ."""
    excess, omega = (mu_s - mu) * M * G / K, math.sqrt(K / M)
    return 2.0 * excess / V, (math.pi + 2.0 * math.atan(V / (omega * excess))) / omega


def phases(sim, cycles):
    """Mean lengths of stick and of slip over so many cycles after the first slip."""
    slips = instants(sim, "slip")
    sticks = [t for t in instants(sim, "stick") if t > slips[0]]
    both = zip(slips, sticks, slips[1:], strict=False)
    lengths = np.array([(again - caught, caught - torn) for torn, caught, again in both])[:cycles]
    assert len(lengths) == cycles
    return lengths.mean(axis=0)


def test_the_gallerys_block_sticks_and_slips_in_the_closed_form():
    """An integrator of order 4 leaves A (ω h)⁴ of the amplitude A, which the belt passes in A (ω h)⁴/V."""
    sim = Simulation(Scene.load(STICK_SLIP))
    sim.run(6.0)
    omega = math.sqrt(K / M)
    amplitude = math.hypot((MU_S - MU) * M * G / K, V / omega)
    assert phases(sim, 3) == pytest.approx(stick_slip_phases(), abs=amplitude * (omega * H) ** 4 / V)


@pytest.mark.parametrize("h", [H, H / 4])
def test_a_fixed_step_finds_the_phases_to_a_few_steps(h):
    """Breaking away shows in the step after it, as slip above TRANSITION or not yet: two steps; being caught in one."""
    sim = Simulation(Scene.load(STICK_SLIP), method="time_stepping", h=h)
    sim.run(4.5)
    assert phases(sim, 2) == pytest.approx(stick_slip_phases(), abs=3 * h)


def soft_shift(give, damping):
    """By how much a surface of stiffness 1/give [m/N] lengthens stick and slip [s], to first order in κ = K give, and
    how much is left out.

    Stuck, it gives way by F give beside the spring, F = K x. So the block moves at V (1 - κ), and V t is the way of
    block and surface: that of the surface is give times F - μ m g, for it is caught as it slid, with μ m g. Torn loose
    at V (1 - κ) and caught at V, it swings with A² = Δ² + V² (1 - 2 κ)/ω² from x = Δ to -Δ + κ V²/(ω² Δ), u = V/(ω Δ):
    for the angles π + atan(u (1 - κ)) + atan(u (1 + κ u²)). A damper D takes D κ V of the force that tears it loose."""
    kappa, omega, excess = K * give, math.sqrt(K / M), (MU_S - MU) * M * G / K
    u, way = V / (omega * excess), (MU_S - MU) * M * G * give
    stick, slip = (way - kappa * u * u * excess) / V, -kappa * u * (1.0 - u * u) / ((1.0 + u * u) * omega)
    return np.array([stick, slip]), damping * kappa * give + 4.0 * kappa * way / V


@pytest.mark.parametrize("integrator", ["rk4", "dopri5", "sdirk2"])
@pytest.mark.parametrize("stiffness", [2e4, 8e4])
def test_soft_surfaces_stick_and_slip_alike(integrator, stiffness):
    """One point of contact of a body that all but does not turn, so that no couple shifts its load. Integrators that do
    not search for kinks find them at the ends of their substeps, implicit ones at those of their steps."""
    file, damping = tomllib.loads(STICK_SLIP.read_text(encoding="utf-8")), stiffness / 100.0
    height = 0.1 - M * G / stiffness  # it rests in its surface: the spring stays level
    file["body"][1] |= {"position": [0.0, 0.0, height], "inertia": [1e6] * 3,
                        "shape": [{"type": "sphere", "radius": 0.1}]}
    file["spring"][0] |= {"anchor_a": [-1.0, 0.0, height], "anchor_b": [-0.15, 0.0, 0.0]}
    sim = Simulation(Scene.from_dict(file), method="compliant", integrator=integrator)
    sim.set(stiffness_n=stiffness, damping_n=damping, stiffness_t=stiffness, damping_t=damping)
    sim.run(4.5)
    shift, left_out = soft_shift(1.0 / stiffness, damping)
    found = {"dopri5": 0.0, "rk4": H / sim.info.substeps, "sdirk2": H}[integrator]
    assert np.abs(phases(sim, 2) - stick_slip_phases() - shift).max() <= left_out + found


# ------------------------------------------------------------------------------------------------- breaking away
def on_incline(slope, speed, method, **solver):
    """A block on an incline of tan α = slope that falls towards +x, with a speed along it."""
    x = 0.0 if method != "compliant" else M * G / (4 * 2e4)  # as deep in its surfaces as it rests
    return rough(ground(), block("b", (0, 0, 0.05 - x), (0.4, 0.4, 0.1), M, velocity=(speed, 0.0, 0.0)), method=method,
                 gravity=tilted(math.atan(slope)), **solver)


@pytest.mark.parametrize("method", METHODS)
def test_between_both_friction_angles_a_block_rests_or_slides_as_it_did_before(method):
    """tan α = 0.4 between μ and μ_s: at rest it stays, in soft surfaces all but their give; with 0.5 m/s downhill it
    goes on faster and faster, a = g (sin α - μ cos α)."""
    alpha = math.atan(0.4)
    still = on_incline(0.4, 0.0, method)
    still.run(1.0)
    give = 0.4 * M * G / (4 * 2e4) if method == "compliant" else 0.0
    assert abs(still.position("b")[0]) <= 2.0 * give + 1e-9
    slides = on_incline(0.4, 0.5, method)
    slides.run(1.0)
    v = 0.5 + G * (math.sin(alpha) - MU * math.cos(alpha))
    assert slides.velocity("b")[0] == pytest.approx(v, rel=1e-2 if method == "compliant" else 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_block_thrown_uphill_comes_to_rest_between_both_friction_angles(method):
    """It slips up with -g (sin α + μ cos α), and where it turns friction up to μ_s holds it: x = v²/2a. A step that
    finds the turn half a step late errs by v h; soft surfaces give way by μ_s N/K_t."""
    alpha = math.atan(0.4)
    sim = on_incline(0.4, -1.0, method)
    sim.run(1.0)
    reach = 1.0 / (2.0 * G * (math.sin(alpha) + MU * math.cos(alpha)))
    tolerance = {"event_driven": 1e-9, "time_stepping": 1.0 * H, "compliant": 1.0 * H}[method]
    assert sim.position("b")[0] == pytest.approx(-reach, abs=tolerance)
    assert abs(sim.velocity("b")[0]) < 1e-9
    assert len(instants(sim, "stick")) == 1 and not instants(sim, "slip")


@pytest.mark.parametrize("method", ["event_driven", "time_stepping"])
def test_an_impact_has_kinetic_friction_alone(method):
    """A block falls by 1 mm on an incline of tan α = 0.4 between μ and μ_s: by Coulomb's law with μ it keeps the slip
    (tan α - μ) ζ of the approach ζ, and goes on slipping. The instant errs by a step, in which it gains h a."""
    alpha = math.atan(0.4)
    sim = rough(ground(), block("b", (0, 0, 0.051), (0.4, 0.4, 0.1), M), method=method, gravity=tilted(alpha))
    sim.run(0.5)
    down, normal = G * math.sin(alpha), G * math.cos(alpha)
    fall, a = math.sqrt(2.0 * 0.001 / normal), down - MU * normal
    v = (0.4 - MU) * normal * fall + a * (0.5 - fall)
    assert sim.velocity("b")[0] == pytest.approx(v, abs=1e-9 if method == "event_driven" else H * a)


@pytest.mark.parametrize(("speed", "kind"), [(0.1, "gain"), (0.3, "impact")])
def test_what_carries_nothing_neither_sticks_nor_slips(speed, kind):
    """A ball that slides hops by less than 5 mm, in reach of the floor, and slips on where it lands, by an impact or
    without: no slip begins. It comes to roll: that is one event."""
    sim = rough(ground(), ball("b", (0, 0, 0.1), 0.1, velocity=(3.0, 0.0, speed)), method="time_stepping")
    sim.run(1.0)
    assert [event.kind for event in sim.events] == [kind, "stick"]


@pytest.mark.parametrize("solver", ["pgs", "nsgs", "interior_point"])
def test_every_solver_of_steps_holds_up_to_static_friction(solver):
    """tan α of 0.499 and 0.501 at μ_s = 0.5."""
    for slope, stays in ((0.499, True), (0.501, False)):
        sim = on_incline(slope, 0.0, "time_stepping", solver=solver)
        sim.run(0.5)
        assert bool(abs(sim.position("b")[0]) < 1e-6) == stays


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_grows_breaks_away_at_static_friction_and_meets_kinetic(method):
    """F = 10 t N on 1 kg: slip begins at F = μ_s m g, and friction is μ m g from there on. It acts at the height of the
    floor, so that all corners carry alike."""
    sim = on_incline(0.0, 0.0, method)
    while not instants(sim, "slip") and sim.time < 1.0:
        sim.apply_force("b", (10.0 * sim.time, 0.0, 0.0), (sim.position("b")[0], 0.0, 0.0))
        sim.step()
    begin = instants(sim, "slip")[0]
    late = {"event_driven": 1.0, "time_stepping": 2.0, "compliant": 2.0}[method] * H  # the force changes with the steps
    assert MU_S * M * G / 10.0 <= begin <= MU_S * M * G / 10.0 + late
    for _ in range(3):
        sim.apply_force("b", (10.0 * sim.time, 0.0, 0.0), (sim.position("b")[0], 0.0, 0.0))
        sim.step()
    friction = np.linalg.norm(sim.contacts.friction_force.sum(axis=0))
    assert friction == pytest.approx(MU * M * G, rel=1e-6 if method != "compliant" else 1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_static_friction_equal_to_kinetic_changes_nothing(method):
    """The same states to the last bit."""
    runs = [rough(ground(), block("b", (0, 0, 0.06), (0.4, 0.4, 0.1), M, velocity=(1.0, 0.3, 0.0)),
                  ball("c", (0.5, 0, 0.11), velocity=(0.0, 2.0, 0.0)), method=method, static=static)
            for static in (None, MU)]
    for _ in range(60):
        for sim in runs:
            sim.step()
        assert all((a == b).all() for a, b in zip(runs[0].state.bodies, runs[1].state.bodies, strict=True))


def test_a_scene_says_where_static_friction_is_below_kinetic():
    material = {"a": {"friction": 0.5, "friction_static": 0.4}}
    with pytest.raises(SceneError, match=r"a.friction_static is 0.4; it must not be below friction, which is 0.5"):
        Scene.from_dict({"material": material, "body": [ball("b", (0, 0, 1))]})


def test_a_scene_says_where_static_friction_of_a_pair_is_below_that_of_the_rule():
    """√(0.9 · 0.4) = 0.6; it was left out without a word."""
    scene = {"material": {"a": {"friction": 0.9}, "b": {"friction": 0.4}}, "body": [ball("x", (0, 0, 1))],
             "pair": [{"materials": ["a", "b"], "friction_static": 0.5}]}
    with pytest.raises(SceneError, match=r"friction_static is 0.5; it must not be below friction, which is 0.6 by the"):
        Scene.from_dict(scene)
    scene["pair"][0]["friction_static"] = 0.6
    Scene.from_dict(scene)


def test_static_friction_of_pairs_is_the_geometric_mean_or_what_they_say():
    sim = Simulation(Scene.from_dict({
        "material": {"default": {"friction": 0.4, "friction_static": 0.9}, "a": {"friction": 0.1}, "b": {}},
        "pair": [{"materials": ["default", "b"], "friction": 0.2}, {"materials": ["a", "b"], "friction_static": 0.8}],
        "body": [ball("x", (0, 0, 1)), ball("y", (1, 0, 1), material="a"), ball("z", (2, 0, 1), material="b")]}))
    found = break_away(sim.model.materials)
    names = list(sim.labels.materials)
    order = [names.index(name) for name in ("default", "a", "b")]
    assert found[np.ix_(order, order)] == pytest.approx(np.array([[0.9, 0.3, 0.2], [0.3, 0.1, 0.8], [0.2, 0.8, 0.5]]))
