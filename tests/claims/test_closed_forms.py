"""The gallery's closed forms against what is computed: each run stays within its method's order of its formulas."""

import tomllib

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.look.closed_forms import curve, farthest, poses

FORMS = {key: Scene.load(path) for key, path in gallery().items() if "closed_form" in tomllib.loads(path.read_text())}

ROUNDED_ANGLE = 2.0 * np.sqrt(2.0**-50)  #: of an angle from its cosine, which is 1 but for rounding [rad]


def followed(scene, until, /, **settings):
    """Greatest distance [m] and angle [rad] of every body from its closed form over a run, and until when it held [s].
    Angles of round bodies whose turn the form does not state are left out."""
    sim = Simulation(scene)
    sim.set(**settings)
    stated = {form.body for form in sim.labels.closed_forms if any(f.names for f in form.turn)}
    found = {form.body: np.zeros(3) for form in sim.labels.closed_forms}
    while sim.time < until:
        sim.step()
        bodies = sim.state.bodies
        for body, x, q in poses(sim.model, sim.labels.closed_forms, sim.time):
            angle = 2.0 * np.arccos(min(abs(float(q @ bodies.q[body])), 1.0)) if body in stated else 0.0
            away = float(np.linalg.norm(x - bodies.x[body]))
            found[body] = np.maximum(found[body], [away, angle, sim.time])
    assert all(held > 0.0 for *_, held in found.values())
    return {sim.labels.bodies[body]: tuple(values) for body, values in found.items()}


def of_method(name):
    return [key for key, scene in FORMS.items() if scene.build().settings.method == name]


@pytest.mark.parametrize("key", of_method("event_driven"))
def test_event_driven_runs_keep_to_the_formulas_as_closely_as_the_integrator_does(key):
    """In T = 2 s a Runge–Kutta step of order 4 errs by up to Ω T (Ω h)⁴/120 of 1 m for motions of the rate Ω; of these
    scenes the stick and slip turns fastest, Ω = 5.5/s, and where something tips over errors grow by e^(w t) < 100."""
    scene = FORMS[key]
    h = scene.build().settings.h
    rate = 5.5
    bound = 100.0 * rate * 2.0 * (rate * h) ** 4 / 120.0
    for body, (away, angle, _) in followed(scene, 2.0).items():
        assert max(away, angle) < bound, body


@pytest.mark.parametrize(("key", "settings"), [
    ("percussion", {"restitution": 0.2}), ("percussion", {"gravity": (0.0, 0.0, -9.0)}),
    ("super_ball", {"restitution": 0.9}), ("super_ball", {"friction": 0.2}), ("super_ball", {"restitution_t": 0.5}),
    ("super_ball", {"gravity": (0.0, 0.0, -15.0)}),
    ("soft_floor", {}), ("soft_floor", {"stiffness_n": 1e4}), ("soft_floor", {"damping_n": 60.0}),
    ("soft_floor", {"gravity": (0.0, 0.0, -3.0)}),
])
def test_blows_keep_to_the_formulas_whatever_the_sliders_say(key, settings):
    """dopri5 holds the error of a step to 1e-12 or so; 480 of them, and velocities that are off by as much for 2 s."""
    for body, (away, angle, _) in followed(FORMS[key], 2.0, **settings).items():
        assert max(away, angle) < 1e-9 + ROUNDED_ANGLE, body


def test_a_ball_rolls_in_time_stepping_as_the_formula_says():
    """That it slips no longer is found at the end of a step: until then friction has displaced it by up to μ g h²/2 too
    much, and turned it by 5/2 of that over its radius."""
    scene = FORMS["rolling_ball"]
    h = scene.build().settings.h
    (away, angle, held), = followed(scene, 2.0).values()
    late = 0.5 * 0.2 * 9.81 * h**2
    assert held >= 2.0 and away < late and angle < 2.5 * late / 0.11


@pytest.mark.parametrize("key", ["bouncing_balls", "screws"])
def test_time_stepping_comes_to_the_formulas_of_bounces_at_first_order(key):
    """An impact is dealt with up to h off its instant, which displaces what follows by up to (1 + e) v h: a sixteenth
    of the step leaves a sixteenth of that; a quarter leaves room for where in a step impacts happen to fall."""
    coarse, fine = (followed(FORMS[key], 1.0, h=h) for h in (1 / 120, 1 / 1920))
    assert max(away for away, *_ in fine.values()) < 0.25 * max(away for away, *_ in coarse.values())


def test_ghosts_follow_the_sliders():
    """With e = 0.3 the first bounce reaches e² of the fall, at the time of the fall (1 + e)."""
    sim = Simulation(FORMS["slow_bounce"])
    ball = sim.number("ball")
    fall = np.sqrt(2.0 / 9.81)
    for e in (0.8, 0.3, 0.0, 1.0):
        sim.set(restitution=e)
        top = curve(sim.model, sim.labels.closed_forms, "height", ball, np.array([0.0, fall * (1.0 + e)]))
        np.testing.assert_allclose(top, [1.1, 0.1 + e**2], rtol=1e-6)
    sim.set(gravity=(0.0, 0.0, -1.62))
    slow = curve(sim.model, sim.labels.closed_forms, "v_z", ball, np.array([0.5, 1.0]))
    np.testing.assert_allclose(slow, [-0.81, -1.62], rtol=1e-8)  # rounding of 1 m over the tick of 1e-6 s


# -------------------------------------------------------------------------------------------- files with formulas


def falling(**form):
    """A ball that falls, with a closed form."""
    table = {"bodies": ["ball"], "position": ["x0", "y0", "z0 - g*t**2/2"], **form}
    shapes = [{"type": "sphere", "radius": 0.1}]
    return {"body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
                     {"name": "ball", "position": [0.0, 0.0, 1.0], "shape": shapes}], "closed_form": [table]}


def expected(t, **form):
    sim = Simulation(Scene.from_dict(falling(**form)))
    return poses(sim.model, sim.labels.closed_forms, t)


def test_a_form_ends_where_it_says_and_where_it_has_no_value():
    assert expected(0.4, holds="t < 0.5")[0].x[2] == pytest.approx(1.0 - 0.5 * 9.81 * 0.16, rel=1e-15)
    assert not expected(0.5, holds="t < 0.5")
    assert not expected(0.0, position=["x0", "y0", "z0/t"]) and not expected(2.0, position=["x0", "y0", "log(1 - t)"])


def test_a_turn_is_about_the_position_and_not_the_centre_of_mass():
    """A rod drawn with its end at the body's position: a quarter turn about z leads its middle from x to y."""
    rod = [{"type": "box", "size": [1.0, 0.1, 0.1], "position": [0.5, 0.0, 0.0]}]
    tables = falling(bodies=["ball"], position=[0, 0, 1], turn=[0, 0, "pi/2*t"])
    tables["body"][1]["shape"] = rod
    sim = Simulation(Scene.from_dict(tables))
    (_, x, q), = poses(sim.model, sim.labels.closed_forms, 1.0)
    np.testing.assert_allclose(x, [0.0, 0.5, 1.0], atol=1e-15)
    start = sim.state.bodies.q[sim.number("ball")]
    assert 2.0 * np.arccos(abs(float(q @ start))) == pytest.approx(np.pi / 2)
    places = np.full_like(sim.state.bodies.x, np.nan)
    assert farthest(places, sim.state.bodies.x) is None
    places[sim.number("ball")] = x
    body, away = farthest(places, sim.state.bodies.x)
    assert body == sim.number("ball") and away == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize(("form", "sentence"), [
    ({"bodies": ["bal"]},
     "closed_form[0].bodies[0] is \"bal\"; it must be the name of a body (did you mean \"ball\"?)"),
    ({"against": "wall"}, "closed_form[0].against is \"wall\"; it must be the name of a body"),
    ({"position": ["x0", "y0"]}, "closed_form[0].position"),
    ({"position": ["x0", "y0", "z0 - h*t"]}, "closed_form[0].position[2] uses h; it must use no other numbers than"),
    ({"position": ["x0", "y0", "open('a')"]}, "it uses the function open"),
    ({"let": {"b": "a", "a": "1"}}, "closed_form[0].let.b uses a;"),
    ({"let": {"sin": "1"}}, "closed_form[0].let.sin is not a name that can be given"),
    ({"let": {"t": "1"}}, "closed_form[0].let.t is not a name that can be given"),
    ({"holds": "t <"}, "closed_form[0].holds is \"t <\"; it must be a formula; it is not an expression"),
    ({"holds": [1]}, "it must be a formula in quotes or a number"),
])
def test_mistakes_are_refused_in_one_sentence_each(form, sentence):
    with pytest.raises(SceneError) as caught:
        Scene.from_dict(falling(**form))
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_form_is_saved_and_read_back(tmp_path):
    scene = Scene.from_dict(falling(let={"a": "2*g", "b": 3}, holds="t < a/b"))
    scene.save(tmp_path / "a.toml")
    again = Scene.load(tmp_path / "a.toml")
    assert again == scene and len(again.tables.closed_form) == 1
