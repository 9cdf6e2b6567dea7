"""Many bodies in the event-driven method: islands, what far bodies cost, storms of events, and scenes of dozens."""

import numpy as np
import pytest
from event_driven_scenes import Body, Run, ball, box, plane

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.islands import islands_of
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.dynamics.free_body import momentum_from_velocity
from contactlab.physics.methods.event_driven import instant, patience
from contactlab.physics.methods.event_driven.instant import equations, root_of_motion
from contactlab.physics.methods.event_driven.patience import CROWD, SAYS, STORM, Limit
from contactlab.physics.methods.event_driven.sets import Friction, islands, resolve
from contactlab.physics.shapes.shapes import quat_to_matrix


def bouncing_balls() -> Run:
    """B17: 49 balls 2 m apart fall 5 m on a floor and lose nothing."""
    balls = [ball(0.1, 10.0, x=(2.0 * i, 2.0 * j, 5.0)) for i in range(7) for j in range(7)]
    return Run([plane(), *balls], e=1.0)


def mean_square_error(run: Run, seconds: float) -> float:
    """Mean over time of (E - E_0)² [J²]."""
    first, total, steps = run.energy, 0.0, round(seconds / run.h)
    for _ in range(steps):
        run.step()
        total += (run.energy - first) ** 2
    return total / steps


def test_b17_bouncing_balls_keep_their_energy():
    """The first 1.2 s: the bounce at √(2·4.9/g) and flight after it. (All 20 s: `python tests/claims/…`, by hand.)"""
    run = bouncing_balls()
    assert mean_square_error(run, 1.2) <= 1e-14
    assert np.abs(run.times("impact") - np.sqrt(9.8 / 9.81)).max() <= 1e-9
    assert len(run.times("impact")) == 49


def test_contacts_are_of_one_island_where_a_body_that_moves_joins_them():
    nodes = np.array([[-1, 0], [0, 1], [2, -1], [3, 4], [4, 2], [5, -1]], np.int32)
    assert islands_of(nodes).tolist() == [0, 0, 1, 1, 1, 2]
    assert islands_of(np.zeros((0, 2), np.int32)).tolist() == []


def test_a_contact_that_nothing_moves_is_an_island_of_its_own():
    """A point that cannot move has no row in M: it does not even act on itself."""
    M = np.zeros((9, 9))
    M[:3, :3] = M[6:, 6:] = np.eye(3)
    assert [rows.tolist() for rows in islands(M, np.arange(3))] == [[0], [1], [2]]
    d = np.array([-9.81, 0.0, 0.0] * 3) * np.repeat([1.0, 0.0, 1.0], 3)
    found = resolve(M, d, np.zeros(9), Friction(np.full(3, 0.5), np.full(3, 0.5), np.arange(3)), {})
    assert found.force == pytest.approx([9.81, 0, 0, 0, 0, 0, 9.81, 0, 0])


def test_m_has_its_root_in_the_motion_of_free_bodies():
    """M = G Gᵀ to rounding, of two blocks with three different moments of inertia that lie turned on each other. Where
    there are links there is no such root."""
    shape = [{"type": "box", "size": [0.2, 0.3, 0.5]}]
    blocks = [{"name": f"block {i}", "position": [0.0, 0.02 * i, 0.1 + 0.2 * i], "euler": [20.0, 90.0, 0.0],
               "shape": shape} for i in range(2)]
    scene = Scene.from_dict({"body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}, *blocks]})
    simulation = Simulation(scene, method="event_driven")
    simulation.step()
    work = simulation._method.work
    M = equations(work.here, work.set_pairs.copy())[0]
    G = root_of_motion(work.here, work.in_set)
    assert work.in_set >= 6 and G is not None and G.shape == (3 * work.in_set, 12)
    np.testing.assert_allclose(G @ G.T, M, atol=1e-13 * np.abs(M).max())
    linked = Simulation(Scene.load(gallery()["double_pendulum"]), method="event_driven")
    linked.step()
    assert root_of_motion(linked._method.work.here, 0) is None


def test_no_more_rows_are_kept_than_bodies_have_velocities(monkeypatch):
    """Whatever M says: of one that is wrong, here of full rank, there is no room for more in the factors."""
    right = instant.contact_matrix

    def wrong(first, end, eq, M, d):
        right(first, end, eq, M, d)
        M[np.arange(first, end), np.arange(first, end)] *= 1.001

    run = Run([plane(), box((0.5, 0.5, 0.5), x=(0.0, 0.0, 0.5))], mu=0.5)
    monkeypatch.setattr(instant, "contact_matrix", wrong)
    run.step()
    chosen = run.method.work.chosen
    assert chosen.count[0] == 4 and chosen.rows[0] <= 6


def test_rows_that_have_come_to_depend_on_each_other_are_projected_all_the_same():
    """A set that is kept although it should not be may end with a singular M: here one contact, twice."""
    run = Run([plane(), ball(0.1, x=(0.0, 0.0, 0.1))])
    run.step()
    chosen, bodies = run.method.work.chosen, run.state.bodies
    chosen.count[0] = chosen.rows[0] = 2
    chosen.pair[1], chosen.mode[1], chosen.island[1] = chosen.pair[0], chosen.mode[0], chosen.island[0]
    chosen.row[:2] = 0, 3
    bodies.v[1] = 0.3, 0.0, -0.5
    momentum_from_velocity(run.model, bodies)
    run.method.projection.project()
    assert bodies.v[1] == pytest.approx((0.3, 0.0, 0.0), abs=1e-12)


def slider(x: float) -> Body:
    return box((0.1, 0.1, 0.1), x=(x, 0.0, 0.1), v=(0.0, 1.0, 0.0))


def test_a_block_moves_in_company_as_it_does_alone():
    """It slides until it sticks; nine others far away slide too, and stop when it does. Contacts that do not act on
    one another are solved apart, so that nothing differs but rounding."""
    alone, many = Run([plane(), slider(0.0)], mu=0.5), Run([plane(), *(slider(2.0 * i) for i in range(10))], mu=0.5)
    for run in (alone, many):
        run.until(0.3)
    for mine, his in zip(many.state.bodies, alone.state.bodies, strict=True):
        assert np.abs(mine[1] - his[1]).max() <= 1e-12


def test_an_event_far_away_leaves_a_set_as_it_is():
    """A ball bounces beside a block at rest: the block's forces are found once, the ball's impacts are problems of one
    contact."""
    run = Run([plane(), box((0.1, 0.1, 0.1), x=(0.0, 0.0, 0.1)), ball(0.1, x=(5.0, 0.0, 0.3))], e=0.5, mu=0.3)
    run.step()
    before = run.current()
    assert len(before) == 4
    run.until_event("impact")
    assert run.current() == before
    assert np.abs(run.force()[:, 2].sum() - 9.81) <= 1e-10


def test_a_storm_of_events_ends_with_the_step():
    """A ball between floor and ceiling that leave it 10 µm has four thousand impacts a step: after STORM of them at
    each there is no restitution, the step says so, and the ball stays between them."""
    turned = (0.0, 1.0, 0.0, 0.0)
    run = Run([plane(), plane(x=(0.0, 0.0, 0.20001), q=turned), ball(0.1, x=(0.0, 0.0, 0.100005), v=(0.0, 0.0, 10.0))],
              e=1.0)
    energy = run.energy
    run.step()
    assert run.method.info.status == SAYS[Limit.PAIR]
    assert 2 * STORM <= len(run.times("impact")) <= 2 * STORM + 4
    assert run.energy <= energy + 1e-12
    assert 0.1 - 1e-9 <= run.state.bodies.x[2, 2] <= 0.10001 + 1e-9
    run.step()
    assert run.method.info.status == "solved"


def test_a_step_says_which_limit_it_ran_into(monkeypatch):
    """A ball that hops ten times in one step: with room for two pieces it loses its rebound; with room for two pieces
    altogether the rest of the step passes without motion, and the clock still goes on by h."""
    for name, said in (("MANY_PIECES", Limit.PIECES), ("MOST_PIECES", Limit.HALTED)):
        run = Run([plane(), ball(0.1, x=(0.0, 0.0, 0.101))], e=0.9, h=0.2)
        run.step()
        assert run.method.info.status == "solved" and len(run.times("impact")) > 5
        monkeypatch.setattr(patience, name, 2)
        run = Run([plane(), ball(0.1, x=(0.0, 0.0, 0.101))], e=0.9, h=0.2)
        run.step()
        assert run.method.info.status == SAYS[said]
        assert run.t == pytest.approx(0.2)
        assert run.state.bodies.x[1, 2] >= 0.1 - 1e-9
        monkeypatch.undo()


def test_more_bodies_than_a_storm_has_impacts_keep_their_restitution():
    """80 balls hit the floor one after the other within one step: no pair is hit twice, and each comes back with e."""
    balls = [ball(0.1, x=(0.3 * i, 0.0, 0.1 + 1e-4 * (i + 1)), v=(0.0, 0.0, -10.0)) for i in range(STORM + 16)]
    run = Run([plane(), *balls], e=0.8, g=0.0)
    run.step()
    assert run.method.info.status == "solved" and len(run.times("impact")) == len(balls)
    assert np.abs(run.state.bodies.v[1:, 2] - 8.0).max() <= 1e-12


def test_contacts_that_open_do_not_hold_up_an_impact_elsewhere():
    """Forty spinning rods touch the floor to within rounding, and their ends leave it at 2e-8 m/s. A ball hits it after
    1e-10 s: until then these gaps change by 2e-18 m, and what they seem to lose is their rounding."""
    rng, bodies = np.random.default_rng(1), [plane()]
    for i in range(40):
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        axis, spin = quat_to_matrix(q)[:, 2], rng.normal(size=3)
        end = -0.1 * np.sign(axis[2]) * axis
        speed = 2e-8 - np.cross(spin, end - [0.0, 0.0, 0.05])[2]
        bodies.append(Body([(ShapeKind.CAPSULE, (0.05, 0.1, 0.0))], 1.0, (0.01, 0.01, 0.002),
                           (0.5 * i + 0.1, 0.3, 0.05 - end[2]), tuple(q), (0.0, 0.0, speed), tuple(spin)))
    bodies.append(ball(0.1, x=(-1.0, 0.0, 0.1 + 1e-7), v=(0.0, 0.0, -1000.0)))
    run = Run(bodies, e=1.0, mu=0.5, g=0.0)
    run.step()
    assert run.method.info.status == "solved"
    assert run.state.bodies.v[-1, 2] == pytest.approx(1000.0, abs=1e-9)


def block_on_a_braking_plank(h: float) -> tuple[Simulation, int]:
    """A block (10 × 10 × 20 cm) rocks on its corners, without rebound, on a plank that the floor brakes: the simulation
    after 1 s, and the most pieces of a step."""
    sim = Simulation(Scene.from_dict({
        "material": {"default": {"restitution": 0.0, "friction": 0.5}},
        "body": [
            {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
            {"name": "plank", "position": [0.0, 0.0, 0.05], "velocity": [0.5, 0.0, 0.0], "density": 100.0,
             "shape": [{"type": "box", "size": [2.0, 1.0, 0.1]}]},
            {"name": "block", "position": [0.0, 0.0, 0.2], "velocity": [0.5, 0.0, 0.0], "density": 1000.0,
             "angular_velocity": [0.3, 0.5, 0.1], "shape": [{"type": "box", "size": [0.1, 0.1, 0.2]}]},
        ]}), method="event_driven", h=h)
    most = before = 0
    while sim.time < 1.0 - 0.5 * h:
        energy = sim.energy().total
        sim.step()
        assert sim.info.status == "solved"
        assert sim.energy().total <= energy + 1e-10
        most, before = max(most, sim.info.pieces - before), sim.info.pieces
    return sim, most


def test_a_block_that_rocks_to_rest_on_what_slides_takes_few_events():
    """Its impacts, 0.9 of the speed each, and slip that turns as it ends are endless: some 100 in a step where all were
    followed. After CROWD of a corner it finds the rest of the step at once, and whatever happens, happens to one of the
    block's four corners. It comes to rest where it does with steps of an eighth, to what rk4 makes of slip that
    turns."""
    sim, most = block_on_a_braking_plank(1.0 / 240.0)
    assert most <= 4 * CROWD
    assert np.abs(sim.state.bodies.v).max() < 1e-9 and np.abs(sim.state.bodies.w).max() < 1e-9
    fine, _ = block_on_a_braking_plank(1.0 / 1920.0)
    np.testing.assert_allclose(sim.state.bodies.x, fine.state.bodies.x, rtol=0, atol=1e-3)


@pytest.mark.parametrize(("name", "until", "nudge"), [("ragdoll", 2.25, 0.0), ("humanoid", 1.5, 0.0),
                                                      ("humanoid", 1.5, 11e-13)])
def test_a_figure_that_falls_on_its_limbs_gives_up_nothing(name, until, nudge):
    """Slip that friction turns as it ends, blows without rebound, contacts at the verge of slip: without an end to it
    a step of the humanoid came to 400 pieces, with forces that were wrong by 390 m/s². Of each pair CROWD events are
    followed, then its island finds the rest of the step at once; likewise where sliding friction leaves no
    accelerations (Painlevé) and no impact helps. No step needs a quarter of the pieces after which it would give up,
    forces obey the laws at its end, and the energy never rises by more than rounding, 1e-9 of it; what is booked adds
    up to what is left but for a hundredth. What limbs run into hangs on rounding, so gravity is also changed by a part
    `nudge`."""
    sim = Simulation(Scene.load(gallery()[name]), method="event_driven")
    sim.set(gravity=(0.0, 0.0, -9.81 * (1.0 + nudge)))
    pieces, start = 0, sim.energy().total
    before = start
    while sim.time < until:
        sim.step()
        after = sim.energy().total
        assert sim.info.status == "solved"
        assert sim.info.pieces - pieces <= patience.MANY_PIECES // 4
        assert sim.info.residual <= 1e-9
        assert after <= before + 1e-9 * start
        pieces, before = sim.info.pieces, after
    assert any(event.kind == "crowd" for event in sim.events)
    assert abs(sim.ledger["Numerical drift"][0]) <= 1e-2 * start  # forces at the end of a slip came to 6e5 J


def test_friction_held_in_one_direction_does_not_drive_what_whirls():
    """A nut whose hull lies on the tip of a bolt, which stands free on the floor, whirls on its rim: the contact point
    runs round, and within the step the slip turns away from the direction in which its island is held. Where friction
    went on in that direction, this step gained 31 mJ of 87 J. Rounding is 1e-12 of it in each of some 400 pieces."""
    prism, shaft = ({"type": "prism", "sides": 6, "radius": 0.11547, "height": 0.06},
                    {"type": "cylinder", "position": [0.0, 0.0, 0.18], "radius": 0.05, "height": 0.3})
    bolt = {"name": "bolt", "density": 7850.0, "position": [0.200004, -1.39660688e-4, 0.03], "shape": [prism, shaft]}
    nut = {"name": "nut", "mass": 11.3804, "position": [0.19918217250977308, 0.016360106910152532, 0.3900535223122684],
           "orientation": [0.9999150429924821, -4.570660508204672e-05, 0.0005416363680077658, 0.013023491785767168],
           "velocity": [-0.05547349931090983, 0.0003801734322838887, -0.09292745653929041],
           "angular_velocity": [0.9268916796959552, -2.0504398228440377, -0.5647425785642299], "shape": [prism]}
    sim = Simulation(Scene.from_dict({
        "solver": {"method": "event_driven", "integrator": "dopri5"},
        "material": {"default": {"restitution": 0.2, "friction": 0.3}},
        "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}, bolt, nut]}))
    before = start = sim.energy().total
    for _ in range(3):
        sim.step()
        assert sim.info.status == "solved"
        assert sim.energy().total <= before + 400e-12 * start
        before = sim.energy().total
    assert any(event.kind == "crowd" for event in sim.events)


def crowded(monkeypatch, v: float) -> Run:
    """A cube of 20 cm with the velocity v [m/s] along a level floor, μ = 0.5; every event crowds."""
    monkeypatch.setattr(patience, "CROWD", 0)
    run = Run([plane(), box((0.1, 0.1, 0.1), x=(0.0, 0.0, 0.1), v=(v, 0.0, 0.0))], mu=0.5)
    return run


def test_what_slides_on_to_the_end_of_a_crowded_step_is_slowed_as_ever(monkeypatch):
    """v⁺ = v - μ g h, x⁺ = x + v h - μ g h²/2: the direction of slip is fixed, the forces are those of the law."""
    run = crowded(monkeypatch, 1.0)
    run.step()
    loss = 0.5 * 9.81 * run.h
    assert run.state.bodies.v[1, 0] == pytest.approx(1.0 - loss, abs=1e-12)
    assert run.state.bodies.x[1, 0] == pytest.approx((1.0 - 0.5 * loss) * run.h, abs=1e-12)
    assert run.times("crowd") == pytest.approx([0.0]) and run.method.info.residual <= 1e-12


def test_what_would_stop_in_a_crowded_step_stops_at_once(monkeypatch):
    """Slip of μ g h/2 ends after h/2, μ g h²/8 farther; found at once it ends at once. All of its energy is friction's
    and in the ledger."""
    run = crowded(monkeypatch, 0.25 * 9.81 / 240.0)
    energy = run.energy
    run.step()
    assert np.abs(run.state.bodies.v[1]).max() <= 1e-12
    assert abs(run.state.bodies.x[1, 0]) <= 1e-12
    assert run.energy < energy
    assert run.method.info.status == "solved"


def test_scenes_of_dozens_of_bodies_begin():
    """The tower (26 bricks) and the dominoes (49) stand on their contacts without overlap."""
    for name in ("tower", "dominoes"):
        sim = Simulation(Scene.load(gallery()[name]), method="event_driven")
        sim.step()
        assert sim.info.penetration <= 1e-8
        assert sim.contacts.current.sum() > 0


if __name__ == "__main__":
    print(f"B17, 20 s: mean square error of the energy {mean_square_error(bouncing_balls(), 20.0):.2g} J²")


# ------------------------------------------------------------------------------------------------ sizes and places
def thrown_off(*others):
    """The instant at which a cube of 1 mm leaves a plate that swings up and down by 10 mm, 8 times a second."""
    plate = {"name": "plate", "kinematic": True, "position": [0.0, 0.0, -0.05],
             "motion": {"amplitude": [0.0, 0.0, 0.01], "frequency": 8.0},
             "shape": [{"type": "box", "size": [0.2, 0.2, 0.1]}]}
    cube = {"name": "cube", "position": [0.0, 0.0, 0.0005], "velocity": [0.0, 0.0, 0.16 * np.pi], "density": 1000.0,
            "shape": [{"type": "box", "size": [0.001] * 3}]}
    floor = {"name": "floor", "fixed": True, "position": [0.0, 0.0, -1.0], "shape": [{"type": "plane"}]}
    sim = Simulation(Scene.from_dict({"body": [plate, cube, floor, *others]}), method="event_driven")
    sim.run(0.02)
    return [event.t for event in sim.events if event.kind == "dynamic_loss"]


def test_a_millimetre_beside_a_kilometre_behaves_as_it_does_alone():
    """Thrown off at A ω² sin ω t = g. What counts as no force is judged in every island by itself: the weight of the
    large cube is 1e18 times that of the small one. When corners that share a load let go is found to 1e-10 s."""
    large = {"name": "large", "position": [600.0, 0.0, 499.0], "density": 1000.0,
             "shape": [{"type": "box", "size": [1000.0] * 3}]}
    omega = 16.0 * np.pi
    expected = [pytest.approx(np.arcsin(9.81 / (0.01 * omega**2)) / omega, abs=1e-10)] * 4
    assert thrown_off() == expected
    assert thrown_off(large) == expected


def test_all_contacts_that_are_near_are_reported_with_what_they_do():
    """Nine boxes fall 1 mm above a plane while they glide at 1 m/s: each has four corners that could touch within a
    step of 1/240 s. All 36 are reported in the first step, with ζ = -g h and ζ̇ = -g."""
    h, half = 1.0 / 240.0, (0.1, 0.1, 0.1)
    places = [(i, j, 0.101) for i in range(3) for j in range(3)]
    run = Run([plane(), *(box(half, x=x, v=(1.0, 0.0, 0.0)) for x in places)], h=h)
    run.step()
    contacts = run.method.contacts
    assert int(contacts.count[0]) == 36
    np.testing.assert_allclose(contacts.gap[:36], 0.001 - 0.5 * 9.81 * h * h, rtol=0, atol=1e-14)
    np.testing.assert_allclose(contacts.zeta[:36], -9.81 * h, rtol=0, atol=1e-14)
    np.testing.assert_allclose(contacts.zeta_dot[:36], -9.81, rtol=0, atol=1e-13)


def test_pairs_that_rest_are_not_searched_for_events():
    """Boxes within each other stand side by side: corners of one lie in faces of the other, gaps 0, all of them. As
    long as neither moves no gap falls; thrown up, the first is looked at beside the other and above the floor."""
    boxes = [{"name": name, "position": [x, 0.0, 0.1], "shape": [{"type": "box", "size": [0.1, 0.1, 0.2]}]}
             for name, x in (("a", 0.0), ("b", 1e-4))]
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    sim = Simulation(Scene.from_dict({"solver": {"method": "event_driven"}, "body": [floor, *boxes]}))
    for _ in range(3):
        sim.step()
    assert sim._method.work.search.count == 0
    sim.state.bodies.v[sim.number("a")] = 0.0, 0.0, 1.0
    sim.state.bodies.P[sim.number("a")] = 0.0, 0.0, sim.model.mass[sim.number("a")]
    sim.step()
    assert sim._method.work.search.count > 0
