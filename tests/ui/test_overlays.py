"""Claims about glyphs, labels and the legend."""

from dataclasses import replace

import numpy as np
import pytest
from scenes_to_draw import body, contact, front_camera, snapshot

from contactlab.app.view import overlays
from contactlab.app.view.belts import belt_lines
from contactlab.app.view.crowd import MOST_CONTACTS
from contactlab.app.view.moment_overlays import PIECES, RADIUS
from contactlab.app.view.numbers import nice, quantity
from contactlab.app.view.overlays import build, legend
from contactlab.app.view.scales import arrow_lengths, scales
from contactlab.app.view.theme import BODY_COLORS, FIXED_COLOR, body_colors, display, linear, theme
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics.core.state import Case, Contacts, empty_contacts
from contactlab.physics.look.inspection import look
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

SIZE = (640, 400)
NOTHING = {name: False for name in (
    "contact_points", "normals", "forces", "friction_forces", "moments", "impulses", "mouse_spring")}


def scene(contacts: Contacts | None = None, **fields) -> m.Snapshot:
    return snapshot(body("box", (0, 0, -0.5), fixed=True, size=[2, 2, 1]), body("box", (0, 0, 0.5), size=[1, 1, 1]),
                    contacts=contacts or empty_contacts(0), **fields)


def glyphs(shown, **options):
    return build(shown, ViewOptions(**{**NOTHING, **options}), front_camera(), SIZE)


def arrows(shown, **options):
    """Start, end (k, 3) and kind (k,) of strokes."""
    strokes = glyphs(shown, **options).strokes
    return strokes[:, :3], strokes[:, 3:6], strokes[:, 11].astype(int)


def test_a_force_is_drawn_from_the_contact_along_its_direction_at_the_stated_scale():
    shown = scene(contact(0, 1, (0.1, 0.2, 0.0), lam=2000.0))
    start, end, kind = arrows(shown, forces=True)
    per_metre = scales(shown, ViewOptions()).newtons_per_metre
    assert np.allclose(start, [[0.1, 0.2, 0.0]])
    assert np.allclose(end - start, [[0.0, 0.0, 2000.0 / per_metre]])
    assert list(kind) == [overlays.ARROW]
    assert any(f"1 m = {quantity(per_metre, 'N')}" in row.text for row in legend(shown, ViewOptions()))


@pytest.mark.parametrize("switch", ["forces", "friction_forces"])
@pytest.mark.parametrize(("normal", "selected", "on"), [
    ((0.0, 0.0, 1.0), -1, 1), ((0.0, 0.0, -1.0), -1, 0), ((0.6, 0.0, -0.8), -1, 0), ((1.0, 0.0, 0.0), -1, 1),
    ((0.0, 0.0, -1.0), 1, 1), ((0.0, 0.0, 1.0), 1, 1), ((0.0, 0.0, 1.0), 0, 0),
])
def test_forces_act_on_the_upper_of_two_bodies_or_on_the_selected_one(switch, normal, selected, on):
    """A normal points from the first body to the second, which is the upper one where it points up."""
    across = np.cross(normal, (0.0, 1.0, 0.0))
    shown = scene(contact(0, 1, normal=normal, lam=2000.0, friction_force=tuple(500.0 * across), friction=0.5))
    start, end, _ = arrows(shown, **{switch: True}, selected=selected)
    direction = (end - start)[0] / np.linalg.norm(end - start)
    along = np.array(normal) if switch == "forces" else across
    assert np.allclose(direction, along if on == 1 else -along)


def test_beside_each_other_the_body_that_moves_is_the_one_on_which_forces_act():
    fixed, free = body("box", (1.0, 0, 0), fixed=True, size=[1, 1, 1]), body("sphere", (0, 0, 0), radius=0.5)
    for bodies, on in (((free, fixed), 0), ((fixed, free), 1)):
        shown = snapshot(*bodies, contacts=contact(0, 1, normal=(1.0, 0.0, 0.0), lam=2000.0))
        start, end, _ = arrows(shown, forces=True)
        assert np.sign((end - start)[0, 0]) == (1.0 if on == 1 else -1.0)


def test_the_legend_says_on_which_body_the_forces_act():
    texts = [row.text for row in legend(scene(), ViewOptions())]
    assert any("on the upper body" in text and "lower" in text for text in texts)
    texts = [row.text for row in legend(scene(), ViewOptions(selected=1))]
    assert any(text == "forces on 1" for text in texts)


def test_with_a_body_selected_the_contacts_of_others_are_dimmed():
    shown = snapshot(*(body("sphere", (i, 0, 0), radius=0.5) for i in range(3)), contacts=contact(0, 1, lam=5000.0))
    opacity = {s: glyphs(shown, forces=True, selected=s).strokes[0, 9] for s in (-1, 0, 2)}
    assert opacity[-1] == opacity[0] == 1.0 and opacity[2] < 0.5


@pytest.mark.parametrize(("current", "active", "slip", "shape"), [
    (0, 0, 0.0, overlays.DIAMOND), (1, 0, 0.0, overlays.RING), (0, 1, 0.0, overlays.DISC),
    (1, 1, 0.0, overlays.RINGED_DISC), (1, 1, 0.5, overlays.RINGED_SPLIT_DISC), (0, 1, 0.5, overlays.SPLIT_DISC),
])
def test_contact_sets_and_slip_are_told_by_shape(current, active, slip, shape):
    c = contact(0, 1, lam=10.0, friction_force=(5.0, 0, 0), friction=0.5, slip=slip)
    c.current[0], c.active[0] = current, active
    marks = glyphs(scene(c), contact_points=True).marks
    assert list(marks[:, 8]) == [shape]


def test_without_friction_no_contact_is_said_to_stick():
    """A disc stands for every active contact that does not slip, on smooth surfaces, too."""
    c = contact(0, 1, lam=10.0, friction=0.0)
    assert list(glyphs(scene(c), contact_points=True).marks[:, 8]) == [overlays.RINGED_DISC]
    texts = [row.text for row in overlays.legend(scene(c), ViewOptions(contact_points=True))]
    assert any("not slipping" in text for text in texts) and not any("stick" in text for text in texts)


def test_friction_below_the_cone_is_stick_however_fast():
    c = contact(0, 1, lam=10.0, friction_force=(3.0, 0, 0), friction=0.5, slip=0.5)
    assert not overlays.sliding(c)[0]


def test_a_slipping_contact_has_an_open_arrow_and_a_huge_force_is_cut_and_dashed():
    slipping = contact(0, 1, lam=4000.0, friction_force=(2000.0, 0, 0), friction=0.5, slip=0.5)
    assert list(arrows(scene(slipping), friction_forces=True)[2]) == [overlays.OPEN_ARROW]
    huge = scene(contact(0, 1, lam=1e9))
    start, end, kind = arrows(huge, forces=True)
    assert list(kind) == [overlays.CUT_ARROW]
    assert np.linalg.norm(end - start) == pytest.approx(scales(huge, ViewOptions()).longest)


@pytest.mark.parametrize(("selected", "sign"), [(-1, 1.0), (1, 1.0), (0, -1.0)])
def test_a_moment_is_an_arrow_bent_about_its_axis_by_the_stated_angle(selected, sign):
    """Half a turn for the moment that the legend tells; the right hand's thumb points along the moment."""
    c = contact(0, 1, lam=10.0)
    shown = scene(c, moments=np.zeros((1, 3)))
    shown.model.materials.friction_torsional[:] = 0.01
    half = overlays._half_turn(shown)
    legends = [row.text for row in legend(shown, ViewOptions())]
    assert f"moment against turning, half a turn = {quantity(half, 'N m')}" in legends
    for axis in np.eye(3):
        start, end, kind = arrows(replace(shown, moments=0.5 * half * axis[None]), moments=True, selected=selected)
        first, last = start[0] - c.point[0], end[-1] - c.point[0]
        assert np.linalg.norm(first) == pytest.approx(RADIUS * scales(shown, ViewOptions()).body)
        assert first @ last == pytest.approx(0.0, abs=1e-12)  # a quarter of a turn
        assert np.cross(first, last) / (first @ first) == pytest.approx(sign * axis)
        assert list(kind) == [overlays.LINE] * (PIECES - 1) + [overlays.ARROW]
    small = glyphs(replace(shown, moments=np.array([[0.0, 0.0, 0.5 * half]])), moments=True)
    assert [label.text for label in small.labels] == [quantity(0.5 * half, "N m")]


def test_without_lengths_of_materials_the_legend_is_silent_about_moments():
    assert not any("moment against" in row.text for row in legend(scene(contact(0, 1, lam=1.0)), ViewOptions()))


def test_logarithmic_arrows_grow_by_equal_steps_for_equal_factors():
    scale = scales(scene(), ViewOptions())
    lengths = arrow_lengths(scale.force * np.array([1.0, 10.0, 100.0, 1000.0]), scale, True)
    assert lengths[0] == pytest.approx(scale.length)
    steps = np.diff(lengths)
    assert np.allclose(steps, steps[-1], rtol=5e-3)  # log(1 + 100 f) against log(100 f)


def test_the_scale_does_not_depend_on_time_and_follows_its_slider():
    resting, moved = scene(contact(0, 1, lam=1.0)), scene(contact(0, 1, lam=1e5), t=3.0)
    assert scales(resting, ViewOptions()) == scales(moved, ViewOptions())
    longer = scales(resting, ViewOptions(force_scale=2.0)).newtons_per_metre
    assert longer == pytest.approx(0.5 * scales(resting, ViewOptions()).newtons_per_metre)


def test_the_weight_of_a_single_body_is_drawn_between_one_and_five_body_radii():
    for density in (1.0, 1000.0, 8000.0):
        for size in (0.01, 1.0, 30.0):
            shown = snapshot({**body("box", size=[size] * 3), "density": density})
            weight = shown.model.mass[0] * 9.81
            radius = size * np.sqrt(0.75)
            assert radius < weight / scales(shown, ViewOptions()).newtons_per_metre < 5.0 * radius


@pytest.mark.parametrize("age", [0.0, 0.1, 0.25])
def test_an_impact_flashes_and_fades(age):
    event = m.Event("impact", 0, 1.0, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 2300.0), 2.0, 1.0)
    shown = scene(events=(event,), t=1.0 + age)
    made = glyphs(shown, impulses=True)
    assert list(made.marks[:, 8]) == [overlays.STAR]
    assert made.marks[0, 6] == pytest.approx((1 - age / overlays.FLASH) ** 1.5)
    assert [label.text for label in made.labels] == ["2.30 kN s"]


def test_with_reduced_motion_an_impact_is_marked_without_a_flash():
    event = m.Event("impact", 0, 1.0, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 2300.0), 2.0, 1.0)
    made = [glyphs(scene(events=(event,), t=1.0 + age), impulses=True, still=True).marks for age in (0.0, 0.1, 0.29)]
    assert len(made[0]) == 1 and np.array_equal(made[0], made[1]) and np.array_equal(made[0], made[2])


def test_old_future_and_feeble_impacts_do_not_flash():
    def event(t, impulse):
        return m.Event("impact", 0, t, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, impulse), 2.0, 1.0)

    shown = scene(events=(event(0.1, 2e3), event(1.1, 2e3), event(0.95, 1e-3)), t=1.0)
    assert len(glyphs(shown, impulses=True).marks) == 0


def test_of_the_impacts_of_one_pair_the_strongest_is_shown():
    events = tuple(m.Event("impact", 0, 0.9, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, i), 2.0, 1.0)
                   for i in (2e3, 4e3, 3e3))
    made = glyphs(scene(events=events, t=1.0), impulses=True)
    assert [label.text for label in made.labels] == ["4.00 kN s"]


def test_the_mouse_spring_says_its_force():
    grabbed = m.Grabbed(1, (0.0, 0.0, 0.5), (1.0, 0.0, 1.0), (3.0, 0.0, 4.0))
    made = glyphs(scene(grabbed=grabbed), mouse_spring=True)
    assert [label.text for label in made.labels] == ["5.00 N"]
    assert np.allclose(made.labels[0].position, [1.0, 0.0, 1.0])
    assert np.allclose(made.strokes[0, :3], [0.0, 0.0, 0.5]) and np.allclose(made.strokes[-1, 3:6], [1.0, 0.0, 1.0])


def test_the_contact_under_the_mouse_is_ringed_and_says_its_forces():
    shown = scene(contact(0, 1, lam=12.3, friction_force=(3.0, 0, 0), friction=0.5))
    made = glyphs(shown, hovered_contact=0)
    assert [label.text for label in made.labels] == ["12.3 N  |  friction 3.00 N"]
    assert len(glyphs(shown, hovered_contact=7).labels) == 0  # a row that is gone


def test_the_box_of_equal_inertia_of_a_box_is_the_box():
    shown = snapshot(body("box", (1, 2, 3), size=[0.4, 0.6, 1.0]))
    strokes = glyphs(shown, inertia_boxes=True).strokes
    assert len(strokes) == 12
    ends = np.concatenate([strokes[:, :3], strokes[:, 3:6]])
    assert np.allclose(ends.max(axis=0), [1.2, 2.3, 3.5]) and np.allclose(ends.min(axis=0), [0.8, 1.7, 2.5])


def test_names_velocities_and_centres_of_mass_are_shown_for_those_that_have_them():
    shown = scene(v=np.array([[0.0, 0, 0], [2.0, 0, 0]]))
    assert [label.text for label in glyphs(shown, body_names=True).labels].count("1") == 1
    start, end, _ = arrows(shown, velocities=True)
    assert np.allclose(start, shown.x[1:]) and (end - start)[0, 0] > 0.0
    assert np.allclose(glyphs(shown, centers_of_mass=True).marks[:, :3], shown.x[1:])


def test_rows_beyond_the_count_are_not_drawn():
    c = contact(0, 1, lam=10.0)
    c.count[0] = 0
    assert len(glyphs(scene(c), contact_points=True, forces=True, normals=True).marks) == 0


def test_the_legend_lists_what_is_switched_on():
    assert legend(scene(), ViewOptions(**NOTHING)) == []
    symbols = {row.symbol for row in legend(scene(), ViewOptions(velocities=True, angular_momenta=True))}
    assert {"disc", "ring", "diamond", "arrow", "star", "double_arrow"} <= symbols


# ----------------------------------------------------------------------------------------- numbers, colours


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0 N"), (12.34, "12.3 N"), (0.25, "0.250 N"), (1234.0, "1.23 kN"), (-56.78, "-56.8 N"), (0.0042, "4.20 mN"),
    (5.6e6, "5.60 MN"), (999.7, "1.00 kN"),
])
def test_quantities_have_three_digits_and_a_prefix(value, text):
    assert quantity(value, "N") == text


@pytest.mark.parametrize(("value", "rounded"), [(1.3, 1.0), (1.6, 2.0), (30.0, 20.0), (0.07, 0.05), (8e5, 1e6)])
def test_scales_are_rounded_to_one_two_or_five(value, rounded):
    assert nice(value) == pytest.approx(rounded)


def test_bodies_without_a_colour_get_one_by_their_kind():
    shown = snapshot(*({k: v for k, v in body("sphere", (i, 0, 0), fixed=i == 1, radius=0.1).items() if k != "color"}
                       for i in range(3)))
    colors = body_colors(shown.model, shown.labels)
    assert np.allclose(colors, [BODY_COLORS[0], FIXED_COLOR, BODY_COLORS[1]])


def test_linear_light_and_display_colours_are_inverse():
    c = np.linspace(0.0, 1.0, 101)
    assert np.allclose(display(linear(c)), c, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dark", [True, False])
def test_glyph_colours_stand_out_from_the_ground(dark):
    look = theme(dark)

    def luminance(color):
        return float(linear(np.array(color)) @ [0.2126, 0.7152, 0.0722])

    ground = luminance(look.ground) + 0.05
    for name in ("stick", "slip", "near", "force", "friction", "impact", "spring", "velocity", "momentum", "dent"):
        glyph = luminance(getattr(look, name)) + 0.05
        assert max(glyph / ground, ground / glyph) > 2.0, name


def cased(case, key):
    c = contact(0, 1, (0.1 * key, 0.0, 0.0))
    c.case[:], c.key[:], c.current[:], c.active[:] = case, key, 0, 0
    return c


@pytest.mark.parametrize("case, text", [(Case.APART, "1"), (Case.COLLIDING, "2a"), (Case.SEPARATING, "2b"),
                                        (Case.RESTING, "3")])
def test_every_pair_within_reach_shows_its_case(case, text):
    """Written beside it where cases are shown; what touches without resting also has a colour of its own."""
    shown = scene(cased(case, 3))
    labels = glyphs(shown, contact_cases=True, contact_points=True).labels
    assert [label.text for label in labels] == [f"case {text}"]
    assert labels[0].position == pytest.approx((0.3, 0.0, 0.0))
    assert glyphs(shown, contact_points=True).labels == []
    colour = glyphs(shown, contact_points=True, contact_cases=True).marks[0, 3:6]
    own = case in (Case.COLLIDING, Case.SEPARATING)
    assert np.allclose(colour, theme(True).near) != own
    rows = [row.text for row in legend(shown, ViewOptions(contact_cases=True))]
    assert any("2a" in row for row in rows) and any("2b" in row for row in rows)


def test_contacts_of_the_equations_have_their_numbers_in_the_view():
    sim = Simulation(Scene.from_dict({"scene": {"title": "t"}, "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        *({"name": f"ball {i}", "position": [float(i), 0.0, 0.1], "shape": [{"type": "sphere", "radius": 0.1}]}
          for i in range(3))]}))
    sim.step()
    inspection = look(sim, m.Inspect("equations"))
    labels = glyphs(scene(inspection=inspection, labels=sim.labels)).labels
    assert [label.text for label in labels] == ["1", "2", "3"]
    assert [label.position[0] for label in labels] == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("after, text", [(Case.SEPARATING, "2a → 2b"), (Case.RESTING, "2a → 3"), (0, "")])
def test_the_mark_of_an_impact_keeps_the_cases_of_its_instant(after, text):
    event = m.Event("impact", 0, 0.0, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 2300.0), 2.0, 1.0, after)
    (label,) = glyphs(scene(events=(event,), t=0.0), impulses=True, contact_cases=True).labels
    assert label.text.startswith("2.30 kN s") and label.text.endswith(text or "kN s")
    (plain,) = glyphs(scene(events=(event,), t=0.0), impulses=True).labels
    assert "2a" not in plain.text


def running(kind, **fields):
    """A snapshot of one fixed body of this kind whose surface runs, at two instants 0.1 s apart."""
    motion = {name: list(fields.pop(name)) for name in ("surface_velocity", "surface_spin") if name in fields}
    belt = body(kind, fixed=True, **fields) | motion
    return [snapshot(belt, t=t) for t in (1.0, 1.1)]


def lines_of(shown, eye):
    return np.stack(belt_lines(shown, np.array(eye), 1.0), axis=1)


@pytest.mark.parametrize("position", [(0.0, 0.0, 0.0), (3.0, -2.0, 1.0)])
def test_the_lines_on_a_belt_run_at_its_speed(position):
    """v Δt on, modulo their spacing of a twelfth of the way; along the belt nothing moves."""
    early, late = (lines_of(shown, (position[0], position[1], position[2] + 5.0))
                   for shown in running("box", position=position, size=[2.4, 1.0, 0.2], surface_velocity=(0.5, 0, 0)))
    assert np.allclose(early[:, :, 2], position[2] + 0.1, atol=0.01)  # of the top alone: seen from above
    assert np.ptp(early[..., 1]) == pytest.approx(1.0) and len(early) == len(late)
    moved = np.unique((late[:, 0, 0] - early[:, 0, 0]).round(9) % 0.2)
    assert moved == pytest.approx([0.05])


def test_spokes_turn_with_a_turntable_about_its_axis():
    """Every point of a spoke turns by ω Δt; they end at the rim, a polygon of 24 corners."""
    early, late = (lines_of(shown, (0.0, 0.0, 5.0))
                   for shown in running("cylinder", radius=0.8, height=0.1, surface_spin=(0.0, 0.0, 2.0)))
    reach = np.hypot(early[..., 0], early[..., 1])
    assert 0.8 * np.cos(np.pi / 24) - 1e-9 <= reach.max() <= 0.8 + 1e-9 and reach.min() == pytest.approx(0.0, abs=1e-9)
    angles = [np.arctan2(lines[:, 1, 1], lines[:, 1, 0]) for lines in (early, late)]
    turned = (np.sort(angles[1] % (np.pi / 6)) - np.sort(angles[0] % (np.pi / 6))) % (np.pi / 6)
    assert turned == pytest.approx(np.full(len(early), 0.2))


def test_what_does_not_run_and_what_is_round_has_no_lines():
    still, ball = running("box", size=[1, 1, 1])[0], running("sphere", radius=0.5, surface_spin=(0.0, 0.0, 1.0))[0]
    assert len(lines_of(still, (0.0, 0.0, 5.0))) == len(lines_of(ball, (0.0, 0.0, 5.0))) == 0


def crowd(count: int) -> Contacts:
    """Contacts of as many bodies with body 0, in a row; their forces fall from `count` N to 1 N."""
    made = empty_contacts(count)
    made.count[0] = count
    made.body_b[:], made.current[:], made.active[:] = np.arange(1, count + 1), 1, 1
    made.point[:, 0], made.normal[:, 2], made.lam[:] = np.arange(count), 1.0, np.arange(count, 0, -1)
    made.key[:] = np.arange(count)
    return made


def test_of_a_crowd_the_contacts_with_the_largest_forces_are_drawn_and_the_legend_says_so():
    most = MOST_CONTACTS
    few, many = scene(crowd(most)), scene(crowd(2 * most))
    assert len(glyphs(few, contact_points=True).marks) == most
    marks = glyphs(many, contact_points=True).marks
    assert np.array_equal(marks[:, 0], np.arange(most))  # the first ones: the largest forces
    words = f"of {2 * most} contacts the {most} with the largest forces"
    assert words in [row.text for row in legend(many, ViewOptions())]
    assert not any("largest forces" in row.text for row in legend(few, ViewOptions()))
    assert len(glyphs(many, contact_points=True, all_contacts=True).marks) == 2 * most
    assert not any("largest forces" in row.text for row in legend(many, ViewOptions(all_contacts=True)))


def test_a_crowd_leaves_out_neither_the_selected_body_nor_the_contact_under_the_mouse():
    many, weakest = scene(crowd(2 * MOST_CONTACTS)), 2 * MOST_CONTACTS - 1
    marks = glyphs(many, contact_points=True, selected=weakest + 1).marks  # body b of the last contact
    assert weakest in marks[:, 0] and len(marks) == MOST_CONTACTS + 1
    shown = glyphs(many, contact_points=True, hovered_contact=weakest)
    assert (shown.marks[:, 0] == weakest).sum() == 2  # the contact and the ring around it
    assert [label.text for label in shown.labels] == [quantity(1.0, "N")]


def test_discs_mark_the_minimal_set_where_asked_for():
    """Three feet and one between them: it rests, and follows from the others. The legend says which of both it is."""
    made = empty_contacts(4)
    made.count[0] = 4
    made.body_b[:], made.current[:], made.active[:] = 1, 1, [1, 0, 0, 1]
    made.point[:, :2], made.normal[:, 2] = [(0, 0), (1, 0), (0, 1), (0.3, 0.3)], 1.0
    shown = scene(made)
    solid = {option: glyphs(shown, contact_points=True, minimal_set=option).marks for option in (False, True)}
    for option, wanted in ((False, [0, 3]), (True, [0, 1, 2])):
        marks = solid[option]
        discs = {tuple(row[:2]) for row in marks if row[8] != overlays.RING}
        assert discs == {tuple(made.point[k, :2]) for k in wanted}
        texts = " ".join(row.text for row in legend(shown, ViewOptions(minimal_set=option)))
        assert ("minimal set" in texts, "active contact" in texts) == (option, not option)
