"""The lessons that come along: every run of theirs is played, and every number and answer in them held against it or
against a closed form."""

import re
from functools import cache

import numpy as np
import pytest

from contactlab.app.commands import TOGGLES
from contactlab.app.panels.lower import TABS
from contactlab.app.view.view_options import ViewOptions
from contactlab.assets import FOLDER, gallery, lessons
from contactlab.physics.lesson.lesson import Lesson, heading
from contactlab.physics.lesson.play import play, simulation_of
from contactlab.physics.lesson.questions import IN_TEXT, POINTS, judge, options, pieces
from contactlab.physics.lesson.schema import PANELS, QUESTIONS, SWITCHES, json_schema

G = 9.81


@cache
def lesson(key):
    return Lesson.load(lessons()[key], gallery().get)


@cache
def values(key, number):
    """What is measured of the run of a step, which is counted from 1."""
    return play(lesson(key), number - 1).values


def steps(*types):
    """Lessons and steps, from 1, whose questions are of these types."""
    return [(key, k + 1) for key in lessons() for k, step in enumerate(lesson(key).steps)
            if step.question is not None and step.question.type in types]


def verdict(key, number, given=0):
    return judge(lesson(key).steps[number - 1].question, given, values(key, number))


def test_twelve_lessons_of_two_to_six_steps_come_in_the_order_of_a_course():
    assert list(lessons()) == ["contact", "bounce", "friction", "rolling", "tumbling", "legs", "machines", "joints",
                               "soft", "no_solution", "energy", "solver"]
    for key, path in lessons().items():
        title, summary, _, count = heading(path)
        assert title and summary and 2 <= count <= 6 and count == len(lesson(key).steps)


def test_the_schema_beside_the_lessons_is_that_of_the_code():
    """`python -c "from contactlab.physics.lesson.schema import *; print(json_schema(), end='')"` writes it."""
    assert (FOLDER / "lesson.schema.json").read_text(encoding="utf-8") == json_schema()


def test_switches_and_tabs_of_lessons_are_those_of_the_window():
    assert set(SWITCHES) == set(TOGGLES) and all(hasattr(ViewOptions, name) for name in SWITCHES)
    assert set(PANELS) == set(TABS) - {"script"}  # a script has a simulation of its own


@pytest.mark.parametrize(("key", "number"), steps(*QUESTIONS))
def test_every_run_answers_its_question(key, number):
    question = lesson(key).steps[number - 1].question
    if question.type == "sketch":
        found = verdict(key, number, (question.low,) * POINTS)
        assert all(question.low <= y <= question.high for y in found.measured), "the curve leaves the plot"
        assert not found.right  # a level line is no answer
        assert verdict(key, number, found.measured).right
    elif question.type == "number":
        found = verdict(key, number)
        assert not found.right and verdict(key, number, found.measured).right
    elif question.type in ("point", "arrow"):
        found = verdict(key, number, (0.0, 0.0, -100.0))
        assert not found.right and verdict(key, number, found.measured).right
    else:
        given = [judge(question, k, values(key, number)).right for k in range(len(options(question)))]
        assert given.count(True) == 1


@pytest.mark.parametrize(("key", "number"), steps("choice"))
def test_of_the_choices_of_a_question_one_alone_fits_the_run(key, number):
    from contactlab.physics.core.formula import read_formula

    question = lesson(key).steps[number - 1].question
    fits = [bool(read_formula(option.when).value(values(key, number))) for option in question.option]
    assert fits.count(True) == 1


def answer(key, number):
    return verdict(key, number).measured


def chosen(key, number):
    return options(lesson(key).steps[number - 1].question)[verdict(key, number).measured]


# ------------------------------------------------------------------------------------ right answers, by mechanics


def test_a_table_that_starts_upwards_carries_more_than_the_weight():
    """λ = m (g + A ω²) at its lowest point, to the change of the acceleration within a step, A ω³ h."""
    force, w = values("contact", 2)["force"], 2 * np.pi * 3
    assert abs(force - (G + 0.05 * w**2)) < 0.05 * w**3 / 240
    assert chosen("contact", 2) == "More than the weight"


def test_a_block_leaves_where_the_table_falls_with_g():
    """sin φ = g/(A ω²) of z = A sin φ on the way up; the event is found to rounding of the search, 1e-9 s."""
    w = 2 * np.pi * 3
    phase = np.arcsin(G / (0.05 * w**2)) + np.pi / 2
    assert values("contact", 3)["t"] == pytest.approx(phase / w, abs=1e-8)
    assert chosen("contact", 3).startswith("On the way up") and chosen("contact", 4).startswith("It sinks steadily")


def test_a_ball_rises_to_e_squared_of_its_fall():
    """e² h with h = 1 m; the floor is met within a step, which changes the speed by up to g h and so the height by
    e² √(2 g) h plus the overlap, the way of a step."""
    slack = 2 * np.sqrt(2 * G) / 240
    assert abs(answer("bounce", 2) - 0.75**2) < slack


def test_infinitely_many_bounces_are_over_at_t0_times_one_plus_e_by_one_minus_e():
    """Bounces below a few µm/s are not made: what is left of the series then takes v·2/(g (1 - e)) < 1e-5 s."""
    t0 = np.sqrt(2 * 1.0 / G)
    assert answer("bounce", 4) == pytest.approx(9 * t0, abs=1e-5)
    assert 45 < values("bounce", 4)["count"] < 100  # e^n of 4.4 m/s is some µm/s at n = 62


def test_the_endless_bounces_end_where_the_ball_has_hopped_to():
    """0.5 m/s for 9 t₀, on the floor; the run ends within half a step of 4.064 s. Half a step before the end the
    bounces are lower than g (½ h)²/2 = 3e-5 m."""
    t0 = np.sqrt(2 * 1.0 / G)
    x, y, z = answer("bounce", 5)
    assert abs(x - 0.5 * 9 * t0) < 0.5 * (0.5 / 240 + 1e-3) and y == 0.0 and abs(z - 0.1) < 3e-5


def test_a_ladder_leaves_the_wall_before_the_floor_which_carries_less_than_its_weight():
    """N = m ¾ g sin θ cos θ of the wall and m g (1 - ¾ cos² θ) of the floor, where the ladders are let go; within 5 ms
    the angle changes by ½ ¾ g t² < 1e-4, and so the forces by as much of the weight at most."""
    assert chosen("contact", 5) == "wall and 65°" and chosen("contact", 6) == "The weight of the ladders"
    theta, found = np.radians([80.0, 65.0, 50.0]), values("contact", 6)
    slack = 15 * G * 2e-4
    assert abs(found["aside"] - 5 * G * 0.75 * (np.sin(theta) * np.cos(theta)).sum()) < slack
    assert abs(found["below"] - 5 * G * (1 - 0.75 * np.cos(theta) ** 2).sum()) < slack


def test_angular_momentum_does_not_turn_over_with_the_handle():
    """L of the end is L of the start, to the error of 1440 steps of the integrator, below 1e-9 of it."""
    start = simulation_of(lesson("tumbling"), 3).state.bodies.L[0]
    found = np.array(verdict("tumbling", 4, (0.0, 0.0, 1.0)).measured)
    assert np.linalg.norm(found - start) < 1e-9 * np.linalg.norm(start)
    assert start[2] > 0.99 * np.linalg.norm(start)  # straight up, but for a hair's breadth


def test_a_box_slides_with_g_sin_less_mu_g_cos():
    """v = g (sin α - μ cos α) t, to a step of it."""
    alpha = np.radians(25)
    a = G * (np.sin(alpha) - 0.42 * np.cos(alpha))
    assert answer("friction", 3) == pytest.approx(a, abs=a / 240 + 1e-9)
    assert values("friction", 4)["blue"] == pytest.approx(G * (np.sin(alpha) - 0.3 * np.cos(alpha)), rel=1 / 240)
    assert chosen("friction", 2) == "The orange one alone" and chosen("friction", 4) == "All slide, equally fast"
    assert chosen("friction", 5).startswith("It runs with the belt")


def test_a_thrown_ball_rolls_at_five_sevenths_whatever_the_friction():
    """To what a step that begins sliding and ends rolling adds, μ g h."""
    for number, mu in ((2, 0.2), (3, 0.4)):
        assert abs(values("rolling", number)["v"] - 25 / 7) < mu * G / 240
    assert chosen("rolling", 3) == "As fast as before" and chosen("rolling", 4) == "sliding"


def test_without_torque_energy_stays_and_the_angular_velocity_changes():
    found = values("tumbling", 2)
    assert found["energy"] - found["lowest"] < 1e-6 * found["energy"] and found["most"] > 1.1 * found["least"]


def test_a_box_on_eight_contacts_needs_three_and_its_weight():
    """500 kg/m³ of 1.3 x 0.6 x 0.3 m."""
    assert answer("legs", 2) == 3 and values("legs", 2)["all"] == 8
    assert values("legs", 3)["total"] == pytest.approx(500 * 1.3 * 0.6 * 0.3 * G, rel=1e-9)


def test_a_ball_against_a_bat_is_a_ball_against_one_mass():
    """A bat of the moment I about its hinge, hit at the distance d, counts as the mass I/d²: v⁺ = v - (1+e) v/(1 + m
    d²/I). The three results agree on one I, to the swing of the bat within the time before the blow, none."""
    sim = simulation_of(lesson("machines"), 1)
    ratios = []
    for name in ("near", "middle", "far"):
        ball = {"near": "ball near", "middle": "ball at the centre", "far": "ball far"}[name]
        distance = 1.56 - 0.0 - sim.position(ball)[2]
        y = (2.5 - values("machines", 2)[name]) / (1.7 * 2.5)  # = 1/(1 + m d²/I)
        ratios.append((name, distance, 1 / y - 1))
    # the ball has climbed when it hits: all three by the same, so distances between them are those of the blow
    root = np.sqrt([r for _, _, r in ratios])
    d = np.array([distance for _, distance, _ in ratios])
    slopes = np.diff(root) / np.diff(d)
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-6)
    assert chosen("machines", 2).startswith("The one that hits high")


def test_fists_lose_the_part_of_their_relative_motion():
    """What is lost is (1 - e²) of the energy of the approach, so at most that share of all."""
    assert 0 < answer("machines", 4) < 100 * (1 - 0.8**2)
    assert chosen("machines", 3) == "It changes its speed at the same instant"


def test_joints_drift_without_a_cure_and_do_not_with_one():
    assert 1e-6 < values("joints", 2)["apart"] < 0.01 and values("joints", 3)["apart"] < 1e-9


def test_a_ball_on_a_spring_sinks_in_until_its_energy_is_there():
    """½ K z² = m g (h + z) with h = 0.95 m and K = 8000 N/m; dopri5 holds the energy to its tolerance, and the lowest
    point is that of a step: within ½ (K z/m) (h/2)² of it."""
    K, h = 8000.0, 0.95
    z = (G + np.sqrt(G**2 + 2 * K * G * h)) / K
    assert answer("soft", 3) == pytest.approx(1000 * z, abs=1000 * 0.5 * K * z / (2 * 240) ** 2)
    assert chosen("soft", 2).startswith("Still in the dent")


def test_rods_and_slots_contradict_rigid_bodies():
    assert chosen("no_solution", 2).startswith("It is stopped at once")
    assert values("no_solution", 2)["t"] == pytest.approx(0.25, abs=1e-6)  # 0.5 m at 2 m/s
    assert chosen("no_solution", 3).startswith("For the orange one") and chosen("no_solution", 4) == "Yes"


def test_the_rods_impact_gains_the_energy_that_newtons_law_asks_for():
    """½ ζᵀM⁻¹ζ before and after, with M of the end of a thin rod of 1 m and 1 kg at 45°, M_nn = M_tt = 1 + 3/2,
    |M_nt| = 3/2; ζ⁻ = (-v, u), and ζ⁺ = (e v, 0) where friction stops the end. It arrives with u = 1.2 m/s and v after
    the fall; the rod's round end of 2 cm turns nothing of that but the arm of friction, by 4 %."""
    v = 2.0 + G * 0.022
    M = np.array([[2.5, -1.5], [-1.5, 2.5]])
    before, after = np.array([-v, 1.2]), np.array([0.9 * v, 0.0])
    gain = 0.5 * (after @ np.linalg.solve(M, after) - before @ np.linalg.solve(M, before))
    found = values("energy", 1)
    assert gain > 0 and found["after"] - found["before"] == pytest.approx(gain, rel=0.25)
    assert chosen("energy", 1) == "It adds energy"
    assert chosen("energy", 2) == "It takes energy away" and chosen("energy", 3) == "No"


def test_solvers_do_what_the_last_lesson_says():
    assert chosen("solver", 2) == "It sticks to the floor"
    assert chosen("solver", 3).startswith("It is there at first") and chosen("solver", 4).startswith("Rounding")


# --------------------------------------------------------------------------------------------- numbers in texts

ALPHA = np.radians(25)
DEPTH = {K: 1000 * (G + np.sqrt(G**2 + 2 * K * G * 0.95)) / K for K in (2000.0, 8000.0)}  # [mm], see above


def coefficient(scene, body, name):
    """A coefficient of the first contact of a body with what is fixed."""
    sim = simulation_of(lesson(scene[0]), scene[1] - 1)
    model = sim.model
    own = model.shapes.material[np.flatnonzero(model.shapes.body == sim.number(body))[0]]
    floor = [k for k in range(len(model.kind)) if model.kind[k] == 1 and model.shapes.material[
        np.flatnonzero(model.shapes.body == k)[0]] >= 0][-1]
    other = model.shapes.material[np.flatnonzero(model.shapes.body == floor)[0]]
    return float(getattr(model.materials, name)[own, other])


#: (lesson, step) -> number as it stands in the texts -> what it must be
NUMBERS = {
    ("contact", 1): {"0": 0, "1": 1, "2": 2, "3": 3},  # the gap 0, and the names of the cases
    ("contact", 2): {"1": lambda: simulation_of(lesson("contact"), 1).model.mass[2]},
    ("bounce", 1): {"1": 1, "0": 0},
    ("bounce", 2): {"1": lambda: simulation_of(lesson("bounce"), 1).position("e = 0.75")[2] - 0.1,
                    "0.75": lambda: coefficient(("bounce", 2), "e = 0.75", "restitution")},
    ("bounce", 3): {"0.5": lambda: coefficient(("bounce", 3), "e = 0.5", "restitution"),
                    "1.1": lambda: simulation_of(lesson("bounce"), 2).position("e = 0.5")[2], "0.1": 0.1},
    ("bounce", 4): {"0.8": lambda: coefficient(("bounce", 4), "ball", "restitution"), "0.45": np.sqrt(2 / G)},
    ("contact", 6): {"5": lambda: simulation_of(lesson("contact"), 5).model.mass[3]},
    ("bounce", 5): {"0.5": lambda: simulation_of(lesson("bounce"), 4).velocity("ball")[0], "0": 0,
                    "9": (1 + 0.8) / (1 - 0.8)},
    ("friction", 1): {"25": 25, "0.466": np.tan(ALPHA)},
    ("friction", 2): {"0.42": lambda: coefficient(("friction", 2), "mu = 0.42", "friction"), "25": 25,
                      "0.52": lambda: coefficient(("friction", 2), "mu = 0.52", "friction")},
    ("friction", 3): {"25": 25, "0.4226": np.sin(ALPHA), "0.9063": np.cos(ALPHA), "1": 1},
    ("friction", 4): {"0.3": lambda: lesson("friction").runs[3].settings.friction},
    ("friction", 5): {"0.15": lambda: values("friction", 5)["high"]},
    ("rolling", 2): {"5": lambda: simulation_of(lesson("rolling"), 1).velocity("ball")[0], "5/7": 5 / 7},
    ("legs", 2): {"3": lambda: values("legs", 2)["carrying"]},
    ("machines", 2): {"2.5": lambda: simulation_of(lesson("machines"), 1).velocity("ball far")[0]},
    ("machines", 4): {"0.8": lambda: float(simulation_of(lesson("machines"), 3).model.materials.restitution.max()),
                      "1": 1},
    ("joints", 2): {"4": lambda: lesson("joints").steps[1].until, "10": 10},
    ("soft", 2): {"0.15": 0.15},
    ("soft", 3): {"2000": lambda: _pair_stiffness(1), "0": 0, "102": DEPTH[2000.0],
                  "8000": lambda: lesson("soft").runs[2].settings.stiffness_n},
    ("no_solution", 2): {"2": lambda: simulation_of(lesson("no_solution"), 1).velocity("ball")[0]},
    ("no_solution", 3): {"1.6": lambda: coefficient(("no_solution", 3), "pushed", "friction"), "1895": 1895},
    # μ at which M_nn = μ M_nt of a thin rod at the slope 2: (1 + 3/5)/(3 · 2/5) = 4/3, less with its round end
    ("no_solution", 4): {"1": lambda: lesson("no_solution").runs[3].settings.friction, "1.28": 1.28},
    ("energy", 1): {"45": 45, "0.9": lambda: coefficient(("energy", 1), "rod", "restitution"), "1": 1},
    ("solver", 2): {"10": lambda: simulation_of(lesson("solver"), 1).model.mass[1]},
    ("solver", 4): {"1e-8": 1e-8},
}


def _pair_stiffness(index):
    """K of ball and floor together [N/m], both surfaces in series."""
    surfaces = simulation_of(lesson("soft"), index).model.materials.surfaces
    return 0.5 * float(surfaces[0, 0, 0, 0])


def numbers(key, number):
    """All numbers in the words of a step; those that the run puts in are left out."""
    step = lesson(key).steps[number - 1]
    question = step.question
    texts = [step.text] + ([] if question is None else [question.ask, question.why])
    texts += [text for option in getattr(question, "option", ()) for text in (option.text, option.why)]
    words = " ".join(IN_TEXT.sub("", part) for text in texts for part, formula in pieces(text) if not formula)
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?:/\d+)?", words))


@pytest.mark.parametrize("key", list(lessons()))
def test_every_number_in_the_texts_is_right_to_half_of_its_last_digit(key):
    for number in range(1, len(lesson(key).steps) + 1):
        known = NUMBERS.get((key, number), {})
        assert numbers(key, number) == set(known), f"step {number}"
        for text, value in known.items():
            found = value() if callable(value) else value
            digits = len(text.partition(".")[2])
            exact = 1e-12 if "e" in text or "/" in text else 0.5 * 10.0**-digits * (1 + 1e-9)
            said = eval(text)  # of digits alone
            assert abs(said - found) <= exact, f"step {number} says {text}; it is {found}"


def test_the_friction_from_which_a_rod_has_no_solution():
    """M_nn = μ M_nt in the point of contact of a rod of 1 m at atan 2 whose ends are half balls of 2 cm: arms are
    (cos θ)/2 and (sin θ)/2 + r."""
    sin, cos, r = 2 / np.sqrt(5), 1 / np.sqrt(5), 0.02
    normal, tangent = 0.5 * cos, 0.5 * sin + r
    assert (1 + 12 * normal**2) / (12 * normal * tangent) == pytest.approx(1.28, abs=0.005)
