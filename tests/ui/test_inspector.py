"""The windows into the contact equations, without a window: what is asked of the engine, what is shown, and that what
a slider changes stays a solution."""

import dataclasses
import time

import fakes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imgui_bundle import imgui, imgui_microtex
from probe import Probe

from contactlab.app import commands, inspected, keys
from contactlab.app.lab import Lab
from contactlab.app.panels import explained, formula, layout, lower, matrix, pivots, step
from contactlab.app.ui_state import Preferences, UiState
from contactlab.app.view.imgui_backend import Gui
from contactlab.app.view.offscreen import Offscreen
from contactlab.physics.look.inspection import Inspection, equations_of_file, look
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.run import messages as m
from contactlab.physics.run.runner import Runner
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation
from contactlab.physics.solvers import LCP_SOLVERS

TABLE = {
    "scene": {"title": "table"}, "material": {"default": {"friction": 0.0}},
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "table", "position": [0.0, 0.0, 0.35], "mass": 2.0, "inertia": [0.3, 0.3, 0.5], "shape": [
            {"type": "sphere", "radius": 0.05, "position": [x, y, -0.3]} for x in (-0.5, 0.4) for y in (-0.4, 0.5)]},
    ],
}


LABELS = fakes.snapshot().labels
SMALL = 1e-9  # of a direction of freedom: a change of a force that counts as none


def random_problem(n, rank, seed=0):
    """A solvable frictionless problem of this size and rank."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(rank, n))
    return ContactProblem.frictionless(T.T @ T, -T.T @ T @ rng.uniform(0.5, 1.0, n))


def asked(view, solver="dantzig", **fields):
    return m.Inspect(view, solver, **fields)


def snapshot_of(problem, view="equations", solver="dantzig"):
    """A fake snapshot whose engine looked at a problem from a file."""
    ask = asked(view, solver, problem=problem)
    found = equations_of_file(problem, ask, running=False)
    return fakes.snapshot(inspection=Inspection(ask, 120, 0.5, LABELS, equations=found))


@pytest.fixture(scope="module")
def table():
    """A simulation of a table with four legs, resting, and its snapshots' contacts."""
    sim = Simulation(Scene.from_dict(TABLE))
    sim.record_history()
    sim.run(0.1)
    return sim


#: one of these things each page beside the matrix says, whatever the problem
PAGES = {"answers": ("Residual",), "forces": ("Method",), "contact": ("Were it the only contact:",),
         "freedom": ("λ is unique", "can be chosen freely", "nothing is open"), "baraff": ("from lever arms",)}


def written(monkeypatch):
    """All texts written from now on."""
    said = []
    for name in ("text", "text_wrapped", "text_disabled", "table_setup_column", "text_unformatted"):
        original = getattr(imgui, name)

        def note(text, *rest, original=original):
            said.append(str(text).replace("\n", " "))  # of lines that end where the room does
            return original(text, *rest)

        monkeypatch.setattr(imgui, name, note)
    return said


def snapshot_of_sim(sim, view):
    contacts = sim.contacts._replace(**{f: getattr(sim.contacts, f).copy() for f in ("lam", "active", "key")})
    return fakes.snapshot(
        model=sim.model, labels=sim.labels, x=sim.state.bodies.x, q=sim.state.bodies.q, contacts=contacts,
        v=sim.state.bodies.v, w=sim.state.bodies.w, L=sim.state.bodies.L, step=sim.step_count, t=sim.time,
        inspection=look(sim, asked(view)))


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent):
    made_snapshot = [snapshot_of(random_problem(6, 4))]
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, made_snapshot[0], sent.append), UiState())
    made.snapshot = made_snapshot
    yield made
    made.gui.release()


# --------------------------------------------------------------------------------------- what the engine is asked


def test_a_tab_asks_the_engine_to_look_and_the_contacts_tab_to_stop(probe, sent):
    assert sent == []
    probe.click("Equations##tab_equations")
    assert sent == [asked("equations")]
    probe.click("Pivots##tab_pivots")
    assert sent[1:] == [asked("pivots")]
    probe.click("Contacts##tab_contacts")
    assert sent[2:] == [m.Inspect()]


def test_hidden_panels_ask_for_nothing(probe, sent):
    probe.click("Equations##tab_equations")
    probe.ui.panels_hidden = True
    probe.frame(2)
    assert sent[-1] == m.Inspect()


def test_a_click_on_an_answer_makes_its_solver_the_chosen_one(probe, sent):
    probe.click("Equations##tab_equations")
    probe.click("Lemke##answer_lemke", 0.1)
    assert sent[-1] == asked("equations", "lemke")


def test_the_tab_is_remembered_and_one_that_is_not_there_shows_the_contacts(probe, tmp_path, sent):
    Preferences(lower_tab="pivots", inspector_height=30.0).save(tmp_path / "s.json")
    assert Preferences.load(tmp_path / "s.json")[0].lower_tab == "pivots"
    (tmp_path / "s.json").write_text('{"lower_tab": "nonsense"}')
    probe.ui.preferences = Preferences.load(tmp_path / "s.json")[0]
    probe.frame(2)
    assert lower.current(probe.ui) is lower.TABS["contacts"] and sent == []


def test_every_tab_has_a_command_that_opens_it_and_its_key_runs_that(probe):
    lab = Lab(fakes.Engine(probe.snapshot[0]), probe.ui, fakes.Host())
    lab.update()
    for name, tab in lower.TABS.items():
        probe.ui.preferences.lower_tab = "step" if name == "contacts" else "contacts"
        commands.run(lab, f"tab_{name}")
        assert lower.current(probe.ui) is tab
        assert not tab.key or keys.command_for(*reversed(keys.chord(tab.key))) == f"tab_{name}"
    lab.close()


def test_a_key_is_not_bound_to_two_commands():
    with pytest.raises(ValueError, match="E is bound to tab_equations"):
        keys.bind({"E": "quit"})
    assert keys.key_of("quit") == "Ctrl+Q"


# ------------------------------------------------------------------------------------------------ every page


@pytest.mark.parametrize("typeset", [True, False])
def test_every_page_draws_for_any_problem(probe, monkeypatch, table, typeset):
    if not typeset:
        monkeypatch.setattr(formula, "ready", lambda: False)
    large = snapshot_of(random_problem(200, 60))
    unsolvable = snapshot_of(ContactProblem.frictionless([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 0.5]))
    one = snapshot_of(ContactProblem.frictionless([[2.0]], [-9.81]))
    said = written(monkeypatch)
    for made in (large, unsolvable, one, snapshot_of_sim(table, "equations")):
        probe.snapshot[0] = made
        probe.ui.preferences.lower_tab = "equations"
        count, answers = len(made.inspection.equations.problem.d), made.inspection.equations.answers
        for page in PAGES:
            if page == "baraff" and made.inspection.equations.baraff is None:
                continue
            probe.ui.inspector.page = page
            said.clear()
            probe.frame(2)
            text = " ".join(said)
            assert f"c = {count}" in text  # the bar, with the size of the problem
            assert any(sentence in text for sentence in PAGES[page]), page
            if page == "answers":
                assert all(f"{a.residual:.1e}" in text for a in answers)
    for solver in LCP_SOLVERS:
        probe.ui.preferences.lower_tab = "pivots"
        probe.snapshot[0] = made = snapshot_of(random_problem(8, 5), "pivots", solver)
        last = len(made.inspection.equations.steps)
        for pivot in (0, 1, 1000):
            probe.ui.inspector.pivot = pivot
            said.clear()
            probe.frame(1)
            assert f"{min(pivot, last)} / {last}" in said
    for note, sentence in (("", "Looking …"), ("Nothing.", "Nothing.")):
        found = Inspection(asked("impact"), 0, 0.0, LABELS, note=note)
        probe.snapshot[0] = fakes.snapshot(inspection=found if note else None)
        for tab in ("equations", "impact", "pivots", "step"):
            probe.ui.preferences.lower_tab = tab
            said.clear()
            probe.frame(1)
            assert sentence in said, tab


def test_a_problem_that_shrinks_under_the_mouse_is_no_problem(probe):
    probe.ui.preferences.lower_tab = "equations"
    probe.ui.inspector.row = probe.ui.inspector.column = 5
    probe.snapshot[0] = snapshot_of(random_problem(2, 2))
    probe.frame(2)
    assert probe.ui.inspector.row == 1


def test_a_click_into_the_matrix_chooses_row_and_column(probe):
    probe.ui.preferences.lower_tab = "equations"
    probe.frame(2)
    lo, hi = probe.rects["matrix"]
    view = probe.snapshot[0].inspection.equations
    grid = matrix.fit(probe.ui, 6, *_matrix_room(probe, lo, hi))
    probe.gui.io.add_mouse_pos_event(grid.left(3.5), grid.top(1.5))
    probe.frame(2)
    probe.gui.io.add_mouse_button_event(0, True)
    probe.frame(2)
    probe.gui.io.add_mouse_button_event(0, False)
    probe.frame(1)
    assert (probe.ui.inspector.row, probe.ui.inspector.column) == (1, 3) and len(view.problem.d) == 6


def _matrix_room(probe, lo, hi):
    font = probe.ui.font
    beside = (matrix.LABEL + 3 * matrix.VECTOR + 2 * matrix.SIGN + 0.6) * font
    x = lo.x + (matrix.LABEL + matrix.VECTOR + matrix.SIGN) * font
    return hi.x - lo.x - beside, hi.y - lo.y, x, lo.y


# ------------------------------------------------------------------------------------------- forces left open


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 10_000), st.floats(-2.0, 3.0), st.data())
def test_wherever_the_sliders_stand_the_forces_are_a_solution(n, rank, seed, share, data):
    """Sliders are moved one after the other to anywhere within their limits: λ >= 0 and M λ stay true. Directions that
    move a force by less than SMALL do not limit a slider; they are null vectors of M to SMALL of a unit diagonal."""
    snapshot = snapshot_of(random_problem(n, rank, seed))
    ui = UiState(preferences=Preferences(lower_tab="equations"))
    view = inspected.equations(ui, snapshot)
    chosen = view.answers[view.chosen]
    assert chosen.status == "solved"
    if view.freedom is None:
        return
    for k, j in enumerate(view.freedom.parameters.tolist()):
        t = inspected.shifts(ui, view.freedom)
        low, high = inspected.limits(chosen.lam, view.freedom, t, k)
        assert low <= t[k] <= high  # it stands at 0 yet
        ui.inspector.shift[j] = low + data.draw(st.floats(0.0, 1.0)) * (min(high, low + 100.0) - low)
    lam, _ = inspected.shown_forces(ui, view)
    t, Y = inspected.shifts(ui, view.freedom), view.freedom.directions
    terms = (chosen.lam + np.abs(Y) @ np.abs(t)).max()
    below = SMALL * np.abs(t).sum() + n * 2.0**-52 * terms
    assert (chosen.lam + Y @ t).min() >= -below
    # M Y t, and M times what was below 0
    tolerance = n * np.abs(view.problem.M).max() * (SMALL * np.linalg.norm(Y @ t) + below)
    assert np.abs(view.problem.M @ (lam - chosen.lam)).max() <= tolerance


def test_sliders_and_steps_belong_to_one_instant():
    first = snapshot_of(random_problem(5, 3))
    ui = UiState(preferences=Preferences(lower_tab="equations"))
    inspected.equations(ui, first)
    ui.inspector.shift[1], ui.inspector.pivot = 3.0, 7
    inspected.equations(ui, first)
    assert ui.inspector.shift and ui.inspector.pivot == 7
    inspected.equations(ui, dataclasses.replace(
        first, inspection=dataclasses.replace(first.inspection, step=121)))
    assert ui.inspector.shift == {} and ui.inspector.pivot == 0


def test_the_arrows_of_the_view_follow_the_panel_while_paused(table):
    ui = UiState(preferences=Preferences(lower_tab="equations"))
    snapshot = snapshot_of_sim(table, "equations")
    view = inspected.equations(ui, snapshot)
    ui.inspector.shift = {int(view.freedom.parameters[0]): 0.5}
    shown = inspected.with_forces(ui, snapshot)
    expected = dict(zip(view.contacts.key.tolist(), inspected.shown_forces(ui, view)[0], strict=True))
    assert [expected[k] for k in shown.contacts.key.tolist()] == shown.contacts.lam.tolist()
    assert not np.allclose(shown.contacts.lam, snapshot.contacts.lam)
    assert inspected.with_forces(ui, dataclasses.replace(snapshot, paused=False)).contacts is snapshot.contacts
    ui.inspector.arrows = False
    assert inspected.with_forces(ui, snapshot) is snapshot


# ------------------------------------------------------------------------------------------------- the pivots


def test_stepping_shows_the_forces_of_each_step_and_ends_at_the_answer(probe):
    probe.ui.preferences.lower_tab = "pivots"
    probe.snapshot[0] = snapshot_of(random_problem(6, 6), "pivots", "lemke")
    probe.frame(2)
    view = inspected.equations(probe.ui, probe.snapshot[0])
    assert inspected.shown_forces(probe.ui, view)[0].tolist() == [0.0] * 6
    probe.click("\uf051##pivot_on")
    lam, basic = inspected.shown_forces(probe.ui, view)
    assert lam.tolist() == view.steps[0].lam.tolist() and np.flatnonzero(basic).tolist() == view.steps[0].basic.tolist()
    probe.click("\uf050##last_pivot")
    assert probe.ui.inspector.pivot == len(view.steps)
    assert inspected.shown_forces(probe.ui, view)[0] == pytest.approx(view.answers[view.chosen].lam)
    assert "an answer" in pivots.progress(probe.ui, view)
    probe.click("\uf051##pivot_on")
    assert probe.ui.inspector.pivot == len(view.steps)
    probe.click("\uf049##first_pivot")
    assert probe.ui.inspector.pivot == 0 and "press into" in pivots.progress(probe.ui, view)


# ------------------------------------------------------------------------------------------------- the impact


@pytest.fixture(scope="module")
def struck():
    sim = Simulation(Scene.from_dict({
        "scene": {"title": "drop"}, "material": {"default": {"restitution": 0.5, "friction": 0.2}},
        "body": [TABLE["body"][0], {"name": "ball", "position": [0.0, 0.0, 0.15], "velocity": [0.3, 0.0, -1.0],
                                    "density": 1000.0, "shape": [{"type": "sphere", "radius": 0.1}]}],
    }))
    sim.record_history()
    while not sim.events:
        sim.step()
    return sim


def test_the_sliders_of_an_impact_ask_anew_and_the_button_makes_the_step_again(probe, sent, struck):
    probe.ui.preferences.lower_tab = "impact"
    probe.snapshot[0] = snapshot_of_sim(struck, "impact")
    number = probe.snapshot[0].inspection.impact.event.step
    probe.frame(2)
    sent.clear()
    probe.click("##impact_restitution", 0.999)
    assert sent[-1].view == "impact" and sent[-1].restitution == pytest.approx(1.0, abs=0.05)
    assert sent[-1].friction is None
    e = sent[-1].restitution
    sent.clear()
    probe.click("Make this step again so##impact")
    assert sent == [m.Set("restitution", e), m.Seek(number - 1), m.Step(1)]
    probe.click("\uf0e2##impact_restitution_own")
    assert sent[-1] == m.Inspect("impact")
    probe.click("##impact_restitution_t", 0.75)
    assert sent[-1].restitution_t == pytest.approx(0.5, abs=0.05) and sent[-1].restitution_psi is None
    assert probe.ui.inspector.law == "ball"
    probe.click("##impact_restitution_psi", 0.25)
    assert sent[-1].restitution_psi == pytest.approx(-0.5, abs=0.05)
    probe.click("Coulomb's cone##law_coulomb")
    assert probe.ui.inspector.law == "coulomb"


# -------------------------------------------------------------------------------------------------- the step


def test_the_anatomy_of_a_step_says_why_it_was_cut(probe):
    sim = Simulation(Scene.from_dict({
        "scene": {"title": "drop"}, "solver": {"method": "event_driven"},
        "material": {"default": {"restitution": 0.5, "friction": 0.0}},
        "body": [TABLE["body"][0], {"name": "ball", "position": [0.0, 0.0, 0.101], "velocity": [0.0, 0.0, -1.0],
                                    "density": 1000.0, "shape": [{"type": "sphere", "radius": 0.1}]}],
    }))
    sim.record_history()
    sim.step()
    snapshot = probe.snapshot[0] = snapshot_of_sim(sim, "step")
    probe.ui.preferences.lower_tab = "step"
    probe.frame(2)
    pieces = snapshot.inspection.anatomy.pieces
    words = step.reason(snapshot, pieces[0])
    assert "floor → ball reached zero" in words and f"δ = {pieces[0].cut:.6f}" in words
    assert step.reason(snapshot, pieces[-1]).startswith("Not cut")
    label = next(name for name in probe.rects if name.endswith("##piece_1"))
    probe.click(label)
    assert probe.ui.inspector.piece == 1
    probe.snapshot[0] = dataclasses.replace(snapshot, inspection=dataclasses.replace(
        snapshot.inspection, anatomy=dataclasses.replace(snapshot.inspection.anatomy, pieces=pieces[:1])))
    probe.frame(2)
    assert probe.ui.inspector.piece == 0


# --------------------------------------------------------------------------------------------- files, sentences


def test_a_problem_is_saved_and_opened_again(tmp_path, monkeypatch):
    problem = random_problem(3, 2)
    ui = UiState(preferences=Preferences(record_folder=str(tmp_path)))
    lab = Lab(fakes.Engine(snapshot_of(problem)), ui, fakes.Host())
    lab.update()
    lab.save_problem()
    (path,) = tmp_path.glob("*.npz")
    lab.open_path(path)
    fakes.settle(lab)
    assert ui.inspector.problem is not None and ui.preferences.lower_tab == "equations"
    assert ui.inspector.problem.M.tobytes() == problem.M.tobytes()
    assert lower.wish(ui, fakes.snapshot()).problem is ui.inspector.problem
    (tmp_path / "bad.npz").write_text("no")
    lab.open_path(tmp_path / "bad.npz")
    fakes.settle(lab)
    assert "bad.npz" in ui.message and "not a contact problem" in ui.message
    lab.close()


def test_without_a_problem_saving_says_so():
    ui = UiState()
    lab = Lab(fakes.Engine(fakes.snapshot()), ui, fakes.Host())
    lab.update()
    lab.save_problem()
    assert ui.notice is not None and "no problem" in ui.notice.text
    lab.close()


@pytest.mark.parametrize("force, zeta, active, words", [
    (1.0, 0.0, True, "active set"), (0.0, 0.0, True, "completes the basis"), (0.0, 2.0, False, "opens"),
    (0.0, 0.0, False, "without a force"), (0.0, -1.0, False, "press into"), (-1.0, 0.0, True, "pulls"),
])
def test_the_verdict_on_a_contact_names_its_case(force, zeta, active, words):
    assert words in explained.verdict(force, zeta, active, 9.81)


@settings(max_examples=200, deadline=None)
@given(st.floats(-9.99, 9.99), st.integers(2, 8))
def test_a_cell_never_says_more_than_rounding_and_fits(value, letters):
    text = matrix.cell_text(value, letters)
    if text == "·":
        assert abs(value) < 1e-9
        return
    assert abs(float(text) - value) <= 0.5 + 1e-12 and len(text) <= letters + (value < 0)


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-12, 1e12), st.integers(2, 9))
def test_the_power_taken_out_of_the_matrix_leaves_numbers_that_fit(top, letters):
    scaled = top / 10.0 ** matrix.exponent(top, letters)
    assert 0.0999 < scaled < max(10.0, 10.0 ** (letters - 3))


# -------------------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize("value, tex", [
    (0.412, "0.412"), (12.34, "12.3"), (-9.81, "-9.81"), (0.0, "0"), (1.2e-7, r"1.20 \cdot 10^{-7}"), (150.0, "150"),
])
def test_numbers_in_formulas(value, tex):
    assert formula.number(value) == tex


def test_without_microtex_a_formula_is_a_line_of_plain_text():
    assert formula.plain(r"\dot\zeta_{3} = \sum_j M_{3j}\,\lambda_j + d_{3}") == "ζ̇_3 = Σ_j M_3j λ_j + d_3"
    assert formula.plain(r"\frac{-d_1}{M_{11}}").startswith("-d_1/M_11") or "/" in formula.plain(r"\frac{a}{b}")


def test_formulas_are_typeset_and_drawn_by_our_backend():
    """The picture on the screen is the one MicroTeX made, tinted; and it goes when it is no longer shown."""
    assert formula.ready()
    screen = Offscreen((400, 100))
    gui = Gui(screen.ctx, (400, 100))
    ui = UiState()
    try:
        def frame(show):
            gui.use()
            gui.new_frame()
            imgui.set_next_window_pos((0, 0))
            imgui.set_next_window_size((400, 100))
            imgui.begin("w", None, imgui.WindowFlags_.no_background | imgui.WindowFlags_.no_title_bar)
            at = imgui.get_cursor_screen_pos()
            formula.pictures.sweep(ui)
            if show:
                formula.formula(ui, r"\lambda_3 = \frac{1}{2}", 30.0, (1.0, 0.0, 0.0, 1.0))
            imgui.end()
            screen.fbo.use()
            screen.fbo.clear()
            gui.finish(screen.fbo)
            return round(at.x), round(at.y), screen.read().astype(float)

        frame(True)
        x, y, seen = frame(True)
        made = imgui_microtex.render(r"\lambda_3 = \frac{1}{2}", 30.0, formula.WHITE, imgui_microtex.TexStyle.display)
        ink = np.array(made.pixels_as_array())[..., 3].astype(float)
        h, w = ink.shape
        assert ink.max() > 200 and np.abs(seen[y : y + h, x : x + w, 0] - ink).max() <= 2.0
        assert seen[y : y + h, x : x + w, 1:].max() == 0.0
        for _ in range(formula.pictures.KEPT + 5):
            frame(False)
        assert ui.pictures == {} and ui.dismissed == []
    finally:
        gui.release()
        screen.release()


def test_the_heat_map_has_the_colour_of_every_entry_in_its_cell():
    M = np.array([[2.0, -1.0], [-1.0, 0.0]])
    colors = matrix.heat(M, 2.0, dark=True)
    assert colors[0, 0, 3] == pytest.approx(0.62) and colors[1, 1, 3] == 0.0
    assert colors[0, 0, 0] > colors[0, 0, 2] and colors[0, 1, 2] > colors[0, 1, 0]
    assert colors[0, 1, 3] == pytest.approx(0.62 * 0.5**0.55)




@pytest.mark.parametrize("tab", ["equations", "pivots"])
def test_another_scene_under_an_open_tab_is_drawn_and_has_its_own_equations(monkeypatch, tab):
    """From a table of four contacts, the last of them chosen, to a ball that rests on one and to one that flies, while
    the scene runs and the next look is due in an hour only: the engine of the app behind its panels. Nothing fails, and
    what is shown is of the scene that is shown."""
    runner = Runner(Scene.from_dict(TABLE), paused=True)
    runner.begin()
    lab = Lab(runner, UiState(preferences=Preferences(lower_tab=tab)), fakes.Host())
    drawn = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, runner.latest, lab.send), lab.ui)

    def frames(count=3):
        for _ in range(count):
            runner.tick()
            lab.update()
            drawn.frame(1)

    lab.send(m.Step(20))
    frames()
    lab.send(m.Play())
    frames()
    assert len(inspected.equations(lab.ui, runner.latest).problem.d) == 4
    lab.ui.inspector.row = lab.ui.inspector.column = 3
    for height, contacts in ((0.1, 1), (2.0, None), (0.1, 1)):
        balls = {**TABLE, "body": [TABLE["body"][0], {"name": "ball", "position": [0.0, 0.0, height], "shape": [
            {"type": "sphere", "radius": 0.1}]}]}
        runner._looks._next = time.perf_counter() + 3600.0
        lab.send(m.Open(Scene.from_dict(balls)))
        frames()
        view = inspected.equations(lab.ui, runner.latest)
        assert (None if view is None else len(view.problem.d)) == contacts
        assert lab.ui.failures == {} and runner.latest.inspection.labels is runner.latest.labels
    lab.close()
    drawn.gui.release()
