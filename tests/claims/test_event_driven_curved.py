"""Claims about curved surfaces in the event-driven method: bowls, pipes, ellipsoids, as scene files state them."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from contactlab.assets import gallery
from contactlab.physics.methods.event_driven.tolerances import EDGE, GRAZE
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

G = 9.81
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def simulate(*bodies, friction=0.0, restitution=0.0, **more):
    """Runs to multiples of the step h only."""
    data = {"scene": {"title": "curved"}, "body": list(bodies),
            "material": {"default": {"friction": friction, "restitution": restitution}}}
    return Simulation(Scene.from_dict(data), **{"method": "event_driven", "integrator": "dopri5", **more})


def solid(kind, position=(0.0, 0.0, 0.0), **more):
    shape = {"type": kind, **{k: more.pop(k) for k in ("radius", "height", "size", "angle") if k in more}}
    return {"name": kind, "position": list(position), "shape": [shape], **more}


# ------------------------------------------------------------------------------------------------ pipes
def test_a_ball_rolling_round_a_standing_pipe_climbs_again():
    """z = z₀ - g/(k Ω²) (1 - cos(√(k/(1+k)) Ω t)), k = 2/5: the spin about the normal works as a spring."""
    sim = Simulation(Scene.load(gallery()["vertical_pipe"]))
    k, turn = 0.4, 10.0
    for t in (0.5, 1.0, 2.0):
        sim.run(t)  # multiples of the step
        height = 0.4 - G / (k * turn**2) * (1.0 - np.cos(np.sqrt(k / (1.0 + k)) * turn * t))
        assert sim.position("ball")[2] == pytest.approx(height, abs=1e-9)
        assert sim.position("ball")[:2] == pytest.approx(0.4 * np.array([np.cos(turn * t), np.sin(turn * t)]), abs=1e-8)
    assert sim.events == []


def test_a_ball_leaves_a_half_pipe_over_its_edge_and_comes_back():
    """Thrown up the wall it flies straight up from the edge, by v²/2g, and enters again where it left."""
    speed = np.sqrt(2.0 * G * (0.9 + 0.3))
    half_pipe = solid("pipe", radius=1.0, height=4.0, angle=90.0, fixed=True, euler=[90.0, 0.0, 0.0])
    sim = simulate(half_pipe, solid("sphere", (0.0, 0.0, -0.9), radius=0.1, velocity=[speed, 0.0, 0.0]))
    while not sim.events:
        sim.step()
    assert [event.kind for event in sim.events] == ["geometric_loss"]
    left = sim.events[0]
    # it is lost EDGE beyond the edge, on a circle of 1 m along which the point moves 1/0.9 times as fast as the ball
    up = quad(lambda a: 0.9 / np.sqrt(speed**2 - 1.8 * G * (1.0 - np.cos(a))), 0.0, 0.5 * np.pi, epsabs=1e-14)[0]
    assert left.t == pytest.approx(up, abs=0.9 * EDGE / np.sqrt(0.6 * G) + 1e-11)
    assert left.point == pytest.approx((1.0, 0.0, 0.0), abs=1.01 * EDGE)
    flight = np.sqrt(2.0 * 0.3 / G)
    sim.run(left.t + flight)
    assert sim.position("sphere") == pytest.approx((0.9, 0.0, 0.3), abs=1e-4)  # within a step of the apex: g h²/2
    sim.run(left.t + 2.0 * flight + 0.1)
    back = sim.events[1:]
    assert {event.kind for event in back} <= {"gain", "impact"}
    # it grazes the wall and counts as touching within 1e-8 m, which is √(2e-8 · 0.9) m of way or 6e-5 s
    assert back[0].t == pytest.approx(left.t + 2.0 * flight, abs=6e-5)
    assert sim.contacts.current.sum() == 1
    mass = sim.model.mass[1]
    graze = 2.0 * G * 0.3 * 2e-8 / 0.9  # square of the speed against the wall there
    assert sim.energy().total == pytest.approx(mass * (0.5 * speed**2 - 0.9 * G), abs=0.5 * mass * graze)


# ------------------------------------------------------------------------------------------------ running surfaces
SHARES = [(1.0, 0.0), (0.0, 1.0), (0.4, 0.6), (-0.5, 1.5)]  # of a turn: of the body, of the surface over the body


@pytest.mark.parametrize(("body", "surface"), SHARES[1:])
@pytest.mark.parametrize("pull", [(0.0, 0.0), (0.3, -0.5)], ids=["level", "tilted"])
def test_a_ball_on_a_spinning_table_goes_round_in_circles_that_drift_across_the_slope(body, surface, pull):
    """Rolling, (1 + k) v̇ = k Ω × v + g_t: circles at k Ω/(1 + k), two sevenths of Ω, and on a slope a drift at right
    angles to it. Whether the table turns or its surface runs does not matter.

    The local error that dopri5 allows is 1e-12 of 1 m and of 1 m/s, and 480 steps carry it on for 2 s at most."""
    k, turn, radius, speed = 0.4, 5.0, 0.1, np.array([0.2, 0.1])
    v, start = complex(*speed), complex(0.3, 0.0)
    slip = turn * 1j * start - v  # ω × (-r ẑ) of the ball makes up for it
    table = {"name": "table", "kinematic": True, "shape": [{"type": "plane"}],
             "motion": {"angular_velocity": [0.0, 0.0, body * turn]}, "surface_spin": [0.0, 0.0, surface * turn]}
    ball = solid("sphere", (start.real, start.imag, radius), radius=radius, mass=1.0, inertia=[k * radius**2] * 3,
                 velocity=[v.real, v.imag, 0.0], angular_velocity=[slip.imag / radius, -slip.real / radius, 0.0])
    data = {"scene": {"gravity": [*pull, -G]}, "body": [table, ball], "material": {"default": {"friction": 1.0}}}
    sim = Simulation(Scene.from_dict(data), method="event_driven", integrator="dopri5")
    sim.run(2.0)
    c, a, t = 1j * k * turn / (1.0 + k), complex(*pull) / (1.0 + k), sim.time
    there = start + (v + a / c) * (np.exp(c * t) - 1.0) / c - a * t / c
    assert sim.position("sphere") == pytest.approx((there.real, there.imag, radius), abs=480 * 3e-12)
    assert sim.events == []


BESIDE = np.array([2.0 * np.cos(0.1), np.sin(0.1)]) / np.hypot(2.0 * np.cos(0.1), np.sin(0.1))  # normal there: z, x


@pytest.mark.parametrize(("shape", "start"), [
    ({"type": "bowl", "radius": 1.0, "angle": 90.0}, (0.9 * np.sin(0.3), 0.0, -0.9 * np.cos(0.3))),
    ({"type": "ellipsoid", "size": [2.0, 2.0, 1.0]},
     (np.sin(0.1) + 0.1 * BESIDE[1], 0.0, 0.5 * np.cos(0.1) + 0.1 * BESIDE[0])),
], ids=["bowl", "ellipsoid"])
def test_a_surface_that_runs_carries_as_the_body_that_turns_does(shape, start):
    """Friction knows of a surface only its velocity, so runs that share a turn otherwise are the same motion."""
    ends = []
    for body, surface in SHARES:
        below = {"name": "below", "kinematic": True, "shape": [shape], "surface_spin": [0.0, 0.0, 4.0 * surface],
                 "motion": {"angular_velocity": [0.0, 0.0, 4.0 * body]}}
        ends.append(simulate(below, solid("sphere", start, radius=0.1), friction=0.8))
        ends[-1].run(0.4)
    assert np.abs(ends[0].velocity("sphere")).max() > 0.1
    for sim in ends[1:]:
        assert sim.position("sphere") == pytest.approx(ends[0].position("sphere"), abs=96 * 1e-11)


# ------------------------------------------------------------------------------------------------ bowls
def test_balls_in_bowls_swing_as_they_roll_or_slide():
    """C15 in the gallery: from 60°, one period; and at 10° rolling takes √(7/5) of the time of sliding."""
    longer = 1.0 + np.radians(10.0) ** 2 / 16.0 + 11.0 * np.radians(10.0) ** 4 / 3072.0
    period = 2.0 * np.pi * np.sqrt(0.45 / G) * longer
    quarters = {"far": (1.708791291737 / 4.0, -1.05, 1e-9), "sliding": (period / 4.0, 1.05, 1e-7),
                "near": (np.sqrt(7.0 / 5.0) * period / 4.0, 0.0, 1e-7)}  # the series goes on with the sixth power
    for name, (quarter, bottom, error) in quarters.items():
        sim = Simulation(Scene.load(gallery()["bowls"]), h=quarter / 40.0)
        sim.run(quarter)
        assert sim.position(name)[0] == pytest.approx(bottom, abs=error)
        assert sim.events == []


def test_an_ellipsoid_in_a_bowl_keeps_energy_and_spin_about_the_vertical():
    q = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])
    sim = simulate(solid("bowl", radius=1.0, fixed=True),
                   solid("ellipsoid", (0.3, 0.0, -0.6), size=[0.5, 0.4, 0.3], orientation=q.tolist(),
                         velocity=[0.0, 0.5, 0.0], angular_velocity=[1.0, 2.0, 3.0]))
    while not sim.contacts.current.any():
        sim.step()
    bodies, energy = sim.state.bodies, sim.energy().total

    def spin():
        return bodies.L[1, 2] + sim.model.mass[1] * (bodies.x[1, 0] * bodies.v[1, 1] - bodies.x[1, 1] * bodies.v[1, 0])

    about = spin()
    sim.run(sim.time + 1.0)
    assert sim.contacts.current.sum() == 1
    assert sim.energy().total == pytest.approx(energy, rel=1e-8)
    assert spin() == pytest.approx(about, rel=1e-8)


def test_a_box_rests_in_a_bowl_on_four_corners():
    """Without friction each corner pushes towards the middle of the bowl: together m g over the cosine of its place."""
    reach = np.sqrt(1.0 - 0.2**2 - 0.3**2)
    sim = simulate(solid("bowl", radius=1.0, fixed=True),
                   solid("box", (0.0, 0.0, -reach + 0.1), size=[0.4, 0.6, 0.2], mass=2.0))
    sim.run(0.1)
    c = sim.contacts
    assert c.current.sum() == 4
    assert c.lam[c.current == 1].sum() == pytest.approx(2.0 * G / reach, rel=1e-9)
    assert c.lam.min() >= 0.0
    assert sim.position("box")[2] == pytest.approx(-reach + 0.1, abs=1e-12)


# ------------------------------------------------------------------------------------------------ ellipsoids
@pytest.mark.parametrize("size", [[0.8, 0.3, 0.4], [0.6, 0.6, 0.4]])
def test_an_ellipsoid_rocks_on_the_floor_with_its_small_period(size):
    """ω² = g (ρ - c)/(k² + c²), ρ = a²/c the radius of curvature below, k² = (a² + c²)/5."""
    a, _, c = 0.5 * np.array(size)
    period = 2.0 * np.pi * np.sqrt(((a * a + c * c) / 5.0 + c * c) / (G * (a * a / c - c)))
    tilt = 1e-3
    height = np.sqrt((a * np.sin(tilt)) ** 2 + (c * np.cos(tilt)) ** 2)
    sim = simulate(FLOOR, solid("ellipsoid", (0.0, 0.0, height), size=size, euler=[0.0, np.degrees(tilt), 0.0]),
                   friction=50.0, h=period / 100.0)
    for quarters, angle in ((1, 0.0), (2, -tilt), (5, 0.0)):
        sim.run(0.25 * quarters * period)
        turned = 2.0 * np.arcsin(sim.orientation("ellipsoid")[2] * np.sign(sim.orientation("ellipsoid")[0]))
        assert abs(turned - angle) < 10.0 * quarters * tilt**3  # what a small swing leaves out


def test_a_smooth_ellipsoid_on_the_floor_keeps_energy_and_spin_and_its_place():
    """Without friction the centre stays over its place; E and L about the vertical are kept, and φ stays zero."""
    q = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])
    sim = simulate(FLOOR, solid("ellipsoid", (0.0, 0.0, 0.6), size=[0.5, 0.7, 1.0], orientation=q.tolist(),
                                angular_velocity=[1.0, 2.0, 9.0]))
    while not sim.contacts.current.any():
        sim.step()
    energy, spin = sim.energy().total, sim.state.bodies.L[1, 2]
    sim.run(sim.time + 2.0)
    assert sim.energy().total == pytest.approx(energy, rel=1e-8)
    assert sim.state.bodies.L[1, 2] == pytest.approx(spin, rel=1e-11)
    assert np.abs(sim.position("ellipsoid")[:2]).max() < 1e-12
    assert abs(sim.contacts.gap[sim.contacts.current == 1]).max() < 1e-10


def test_an_egg_rolls_over_an_egg_as_its_lagrangian_says():
    """In the plane: an ellipsoid rolls on a fixed one; the energy integral with the arc lengths of both, by scipy."""
    a, b = 0.5, 0.3
    lower = solid("ellipsoid", size=[2 * a, 2 * a, 2 * b], fixed=True)
    lower["name"] = "lower"
    ball = solid("sphere", (0.02, 0.0, 0.0), radius=0.2)
    x = np.array([0.02, b * np.sqrt(1.0 - (0.02 / a) ** 2)])  # the point of contact
    n = x / np.array([a * a, b * b])
    x += 0.2 * n / np.linalg.norm(n)
    ball["position"] = [float(x[0]), 0.0, float(x[1])]
    sim = simulate(lower, ball, friction=100.0)

    def rates(_, y):
        """y = (θ, θ'): contact at (a sin θ, b cos θ); centre c(θ) = that + r n, rolling: ω r = |c'| θ'."""
        def centre(th):
            p, m = np.array([a * np.sin(th), b * np.cos(th)]), np.array([b * np.sin(th), a * np.cos(th)])
            return p + 0.2 * m / np.linalg.norm(m)
        h = 1e-4
        d1 = (centre(y[0] + h) - centre(y[0] - h)) / (2 * h)
        d2 = (centre(y[0] + h) - 2 * centre(y[0]) + centre(y[0] - h)) / h**2
        return [y[1], (-5.0 / 7.0 * G * d1[1] - d1 @ d2 * y[1] ** 2) / (d1 @ d1)]

    until = 1.0
    theta = solve_ivp(rates, (0, until), [np.arcsin(0.02 / a), 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    m = np.array([b * np.sin(theta), a * np.cos(theta)])
    expected = np.array([a * np.sin(theta), b * np.cos(theta)]) + 0.2 * m / np.linalg.norm(m)
    sim.run(until)
    assert sim.contacts.current.sum() == 1
    assert sim.position("sphere")[[0, 2]] == pytest.approx(expected, abs=1e-6)  # differences of 1e-4 above


# ------------------------------------------------------------------------------------------------ cylinders
def test_a_cylinder_dropped_on_its_end_stands_on_it():
    pole = solid("cylinder", (0.0, 0.0, 0.16), radius=0.1, height=0.3, mass=2.0)
    sim = simulate(FLOOR, pole, friction=0.5)
    sim.run(0.2)
    c = sim.contacts
    assert [event.kind for event in sim.events] == ["impact"]
    assert sim.events[0].t == pytest.approx(np.sqrt(2.0 * 0.01 / G), abs=1e-9)
    assert c.lam[c.current == 1].sum() == pytest.approx(2.0 * G, rel=1e-9)
    assert np.abs(c.gap[c.current == 1]).max() < 1e-12
    assert sim.position("cylinder") == pytest.approx((0.0, 0.0, 0.15), abs=1e-12)


def test_a_tilted_cylinder_rocks_until_it_stands():
    """Each time it comes down on the other side of its rim it loses energy, so that it stands in the end. What the
    projection of drift puts in is told; beside it energy rises by no more than the rounding of a sum of ten terms of
    1.5 J: 2 * 10 * 1.5 * 2**-53 < 1e-14."""
    r, half, tilt = 0.1, 0.15, 1e-2
    height = half * np.cos(tilt) + r * np.sin(tilt)
    sim = simulate(FLOOR, solid("cylinder", (0.0, 0.0, height), radius=r, height=2 * half, mass=1.0,
                                euler=[np.degrees(tilt), 0.0, 0.0]), friction=5.0)
    energy, projected = sim.energy().total, 0.0
    while sim.time < 1.0:
        sim.step()
        before, energy = energy, sim.energy().total
        put_in, projected = sim.info.projection - projected, sim.info.projection
        assert energy <= before + put_in + 1e-14
    assert energy == pytest.approx(G * half, abs=1e-9)
    assert sim.position("cylinder")[2] == pytest.approx(half, abs=1e-9)
    assert np.abs(sim.state.bodies.v).max() < 1e-9
    assert sim.contacts.current.sum() == 8


@pytest.mark.parametrize("tilt", [1e-4, 1e-3, 1e-2])
def test_a_disc_that_hardly_leans_stays_on_the_floor(tilt):
    """Its lowest point runs round the rim within a small turn: one linear correction of the gap misses it by as much
    as 6e-4 m. Contacts that rest beside the active ones may come to GRAZE."""
    disc = solid("cylinder", (0.0, 0.0, 0.02 * np.cos(tilt) + 0.3 * np.sin(tilt)), radius=0.3, height=0.04, mass=1.0,
                 euler=[np.degrees(tilt), 0.0, 0.0], angular_velocity=[0.0, 0.3, 0.0])
    sim, held = simulate(FLOOR, disc, friction=0.3, integrator="rk4"), 0
    for _ in range(30):
        sim.step()
        current = sim.contacts.current == 1
        assert np.abs(sim.contacts.gap[current]).max(initial=0.0) <= GRAZE
        held += int(current.sum())
    assert held >= 15


def test_a_cylinder_rolls_on_a_cylinder_with_the_force_that_would_vanish_at_four_sevenths():
    """Parallel, without slip: 3/4 v² = g (R + r)(cos θ₀ - cos θ), λ = m g (7 cos θ - 4 cos θ₀)/3."""
    R, r, start = 0.4, 0.1, 0.2
    lower = solid("cylinder", radius=R, height=0.6, fixed=True, euler=[90.0, 0.0, 0.0])
    lower["name"] = "lower"
    place = ((R + r) * np.sin(start), 0.0, (R + r) * np.cos(start))
    sim = simulate(lower, solid("cylinder", place, radius=r, height=0.4, mass=1.0, euler=[90.0, 0.0, 0.0]),
                   friction=2.0)
    angle = start
    while angle < 0.7:
        sim.step()
        now = sim.contacts.current == 1
        angle = np.arctan2(sim.position("cylinder")[0], sim.position("cylinder")[2])
        assert np.abs(sim.contacts.gap[now]).max() < 1e-12
        force = G * (7.0 * np.cos(angle) - 4.0 * np.cos(start)) / 3.0
        assert sim.contacts.lam[now].sum() == pytest.approx(force, abs=1e-7)
    assert sim.events == []


def test_a_capsule_across_a_cylinder_rests_on_two_points_of_its_rim():
    pole = solid("cylinder", (0.0, 0.0, 0.15), radius=0.1, height=0.3)
    sim = simulate(FLOOR, pole, solid("capsule", (0.01, 0.06, 0.35), radius=0.05, height=0.6, mass=1.0,
                                      euler=[0.0, 90.0, 0.0]), friction=0.5)
    sim.run(0.1)
    c = sim.contacts
    upper = (c.current == 1) & (c.point[:, 2] > 0.2)
    assert np.sort(c.point[upper, 0]) == pytest.approx([-0.08, 0.08], abs=1e-9)  # √(0.1² - 0.06²)
    assert np.sort(c.lam[upper]) == pytest.approx([G * 0.07 / 0.16, G * 0.09 / 0.16], rel=1e-8)
    assert np.abs(sim.velocity("capsule")).max() < 1e-9


def test_the_chain_of_capsules_and_cylinders_runs_exactly():
    sim = Simulation(Scene.load(gallery()["chain"]), method="event_driven", integrator="dopri5")
    energy = sim.energy().total
    sim.run(0.05)
    assert sim.energy().total <= energy * (1.0 + 1e-9)


# ------------------------------------------------------------------------------------------------ meshes
def test_a_ball_rolls_down_a_ramp_of_triangles_as_down_a_plane(tmp_path):
    """5/7 g sin α, across the edges of many triangles, where it is handed on from face to face."""
    n = 6
    xs = np.linspace(-2.0, 2.0, n + 1)
    lines = [f"v {x} {y} 0.0" for x in xs for y in xs]
    for i in range(n):
        for j in range(n):
            a = i * (n + 1) + j + 1
            lines += [f"f {a} {a + n + 1} {a + n + 2}", f"f {a} {a + n + 2} {a + 1}"]
    (tmp_path / "ramp.obj").write_text("\n".join(lines))
    slope = np.radians(10.0)
    ramp = {"name": "ramp", "fixed": True, "euler": [0.0, 10.0, 0.0], "shape": [{"type": "mesh", "file": "ramp.obj"}]}
    begin = np.array([-1.3, 0.1, 0.1])
    turn = np.array([[np.cos(slope), 0.0, np.sin(slope)], [0.0, 1.0, 0.0], [-np.sin(slope), 0.0, np.cos(slope)]])
    data = {"scene": {"title": "ramp"}, "material": {"default": {"friction": 1.0, "restitution": 0.0}},
            "body": [ramp, solid("sphere", (turn @ begin).tolist(), radius=0.1)]}
    sim = Simulation(Scene.from_dict(data, folder=tmp_path), method="event_driven", integrator="dopri5")
    sim.run(1.2)
    rate = 5.0 / 7.0 * G * np.sin(slope)
    there = begin + np.array([0.5 * rate * 1.2**2, 0.0, 0.0])
    assert turn.T @ sim.position("sphere") == pytest.approx(there, abs=1e-8)
    assert sim.energy().total == pytest.approx(sim.model.mass[1] * G * (turn @ begin)[2], rel=1e-9)
    assert sim.events == []  # past a diagonal, an edge across and the next diagonal: it goes on and on


def test_a_cube_on_the_edge_of_a_mesh_tips_over_it(tmp_path):
    """Its middle is 2 cm beyond the edge of a table made of triangles: it turns about the edge, which holds it."""
    table = ["v -1 -1 0", "v 0 -1 0", "v 0 1 0", "v -1 1 0", "f 1 2 3", "f 1 3 4"]
    (tmp_path / "table.obj").write_text("\n".join(table))
    data = {"scene": {"title": "table"}, "material": {"default": {"friction": 5.0, "restitution": 0.0}},
            "body": [{"name": "table", "fixed": True, "shape": [{"type": "mesh", "file": "table.obj"}]},
                     solid("box", (0.02, 0.0, 0.1), size=[0.2, 0.2, 0.2], mass=1.0)]}
    sim = Simulation(Scene.from_dict(data, folder=tmp_path), method="event_driven", integrator="dopri5")
    sim.run(0.1)
    moment = 1.0 * 0.2**2 / 6.0 + 0.1**2 + 0.02**2
    w = sim.angular_velocity("box")
    energy = 0.5 * moment * w[1] ** 2 + G * (sim.position("box")[2] - 0.1)
    assert energy == pytest.approx(0.0, abs=1e-9)
    assert w[1] > G * 0.02 * 0.1 / moment  # that at the beginning; its lever grows
    assert sim.contacts.current.sum() == 2


# ------------------------------------------------------------------------------------------------ the slot
def test_a_narrowing_slot_is_inconsistent_and_turned_normals_stop_the_ball():
    """C4 as a scene: at the first curvature d₁ + d₂ < 0 [RBDA example 11.1]; let in by 1 μm in all."""
    sim = Simulation(Scene.load(gallery()["slot"]))
    sim.run(0.27)
    first = sim.events[0]
    assert first.kind == "inconsistent"
    assert first.t == pytest.approx(0.25, abs=1e-9)
    stopped = next(event for event in sim.events if event.kind == "impact")
    inside = 2.0 * (stopped.t - 0.25)
    assert 0.9 - np.sqrt(0.9**2 - inside**2) == pytest.approx(0.5e-6, rel=0.01)  # depth at each wall
    assert np.abs(sim.velocity("ball")).max() < 1e-3
    assert stopped.energy_after < 1e-5 * stopped.energy_before
    sim.run(0.8)  # it has come out again, and both curved walls end at one place
    assert sim.position("ball")[0] < 0.0
    assert [event.kind for event in sim.events].count("inconsistent") == 1
    assert np.abs(sim.contacts.gap[sim.contacts.current == 1]).max() < 1e-10


# ------------------------------------------------------------------------------------------------ the other methods
@pytest.mark.parametrize("bodies", [
    (solid("bowl", radius=0.5, fixed=True), solid("sphere", (0.3, 0.0, -np.sqrt(0.45**2 - 0.3**2)), radius=0.05)),
    (solid("pipe", radius=0.5, height=2.0, fixed=True),
     solid("sphere", (0.4, 0.0, 0.3), radius=0.1, velocity=[0.0, 3.0, 0.0], angular_velocity=[0.0, 0.0, -30.0])),
    (FLOOR, solid("ellipsoid", (0.0, 0.0, np.sqrt(0.4**2 * 0.75 + 0.3**2 * 0.25)), size=[0.6, 0.3, 0.8],
                  euler=[0.0, 30.0, 0.0])),
], ids=["bowl", "pipe", "ellipsoid"])
def test_time_stepping_comes_to_the_exact_motion_as_the_step_shrinks(bodies):
    exact, away = simulate(*bodies, friction=2.0), []
    exact.run(0.4)
    for rate in (240, 960):
        sim = simulate(*bodies, friction=2.0, method="time_stepping", h=1 / rate)
        sim.run(0.4)
        away.append(np.linalg.norm(sim.state.bodies.x - exact.state.bodies.x))
    assert away[0] < 0.1
    assert away[1] < away[0] / 4.0**0.9


def test_a_ball_in_a_soft_bowl_comes_to_rest_at_the_bottom_by_the_sag_of_its_spring():
    bowl = solid("bowl", radius=0.5, fixed=True)
    sim = simulate(bowl, solid("sphere", (0.02, 0.0, -0.448), radius=0.05, mass=1.0), friction=0.5, method="compliant",
                   integrator="rk4")
    sim.set(stiffness_n=1e4, damping_n=100.0, stiffness_t=1e4, damping_t=100.0)
    sim.run(6.0)
    assert sim.position("sphere")[2] == pytest.approx(-0.45 - G / 1e4, abs=2e-4)
