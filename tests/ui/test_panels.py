"""Panels without a window: a click gives exactly its command, and what is shown is what the snapshot says."""

from pathlib import Path

import fakes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.commands import COMMANDS
from contactlab.app.panels import contacts, dialogs, energy, layout, ledger, orders, status, style, view
from contactlab.app.panels.bench import SHORT
from contactlab.app.panels.gallery import found
from contactlab.app.panels.links import series
from contactlab.app.ui_state import Request, SceneEntry, UiState
from contactlab.physics.books.ledger import Account
from contactlab.physics.core.state import LEDGER
from contactlab.physics.run import messages as m
from contactlab.physics.run.link_study import KINDS
from contactlab.physics.scene.edits import FIRST, NEW


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent):
    """The whole interface over a snapshot that `probe.snapshot` can replace."""
    ui = UiState(scenes=[SceneEntry("a", "Apples", "They fall.", Path("/s/a.toml"), group="Impacts"),
                         SceneEntry("b", "Bricks", "They stack.", Path("/s/b.toml"), group="Stacks")])
    made_snapshot = [fakes.snapshot()]
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, made_snapshot[0], sent.append), ui)
    made.snapshot = made_snapshot
    yield made
    made.gui.release()


@pytest.mark.parametrize("label, command", [
    ("\uf04b##play", m.Play()), ("\uf051##step_forward", m.Step(1)), ("\uf048##step_back", m.Step(-1)),
    ("\uf050##next_event", m.StepToEvent(1)), ("\uf049##previous_event", m.StepToEvent(-1)),
    ("\uf2ea##reset", m.Reset()),
])
def test_a_transport_button_sends_its_command_and_nothing_else(probe, sent, label, command):
    probe.click(label)
    assert sent == [command]


@pytest.mark.parametrize("phase", m.PHASES)
def test_the_phases_of_an_event_are_chosen_beside_the_time_line(probe, sent, phase):
    probe.snapshot[0] = fakes.snapshot(instant=m.ShownInstant(0.4987, "at", 0, 0.4987))
    probe.frame()
    probe.click(f"{phase.capitalize()}##phase_{phase}")
    assert sent == [m.GoToEvent(120, 0.4987, phase, 0)]


@pytest.mark.parametrize("editing", [False, True])
def test_in_a_small_window_no_button_lies_on_another(probe, editing):
    """Nor outside; every shape's name goes into its button."""
    bench = probe.ui.workbench
    bench.begin(NEW, None, None)
    bench.on = editing
    probe.gui.resize((640, 420), (640, 420))
    probe.frame(3)
    probe.drawn()
    row = (("run", "undo", "redo", "move", "turn", "scale", "Own axes", "Snap", "bench") if editing else
           ("edit", "reset", "previous_event", "step_back", "play", "step_forward", "next_event", "record",
            "record_options"))
    below = {label: rect for label, rect in probe.rects.items() if label.split("##")[-1] in row}
    assert len(below) == len(row)
    for label, (lo, hi) in below.items():
        assert lo.x >= 0 and hi.x <= 640
        assert not [other for other, (a, b) in below.items() if other != label and a.x < hi.x and lo.x < b.x]
    for kind in FIRST if editing else ():
        word = SHORT.get(kind, kind.capitalize())
        lo, hi = probe.rects[f"{word}##add"]
        assert hi.x - lo.x > imgui.calc_text_size(word).x


def test_in_a_small_window_with_large_text_the_time_line_and_all_menus_are_within_reach(probe, monkeypatch):
    """What has no button there has a key and a menu; the last menus stand in one, and the time in the status bar."""
    probe.ui.preferences.scale = 1.6
    probe.gui.resize((640, 420), (640, 420))
    words, muted = [], style.muted
    monkeypatch.setattr(style, "muted", lambda ui, text, **more: (words.append(text), muted(ui, text, **more)))
    probe.frame(3)
    probe.drawn()
    names = [label.split("##")[-1] for label in probe.rects]
    bar = [probe.rects[label] for label, name in zip(probe.rects, names, strict=True)
           if name in ("reset", "step_back", "play", "step_forward", "next_event", "time_line", "record",
                       "record_options", "File", "Edit", "View", "Time", "More")]
    assert len(bar) == 13 and all(lo.x >= 0 and hi.x <= 640 for lo, hi in bar)
    for k, (lo, hi) in enumerate(bar):
        assert not [1 for a, b in bar[:k] if a.x < hi.x and lo.x < b.x and a.y < hi.y and lo.y < b.y]
    assert f"t = {probe.snapshot[0].now:.3f} s" in words
    probe.click("More")
    assert {"Equations", "Compare", "Lessons", "Help"} <= {word.split("##")[0] for word in probe.drawn()}


def test_a_search_in_vain_says_so_and_a_button_goes_on(probe):
    """The view does not get a click on it; while the search goes on there is none."""
    assert "Search on##quiet" not in probe.drawn()
    probe.snapshot[0] = fakes.snapshot(quiet=10.0, searching=True)
    assert "Search on##quiet" not in probe.drawn()
    probe.snapshot[0] = fakes.snapshot(quiet=10.0)
    probe.frame(3)
    probe.move("Search on##quiet")
    assert probe.ui.over_button
    probe.click("Search on##quiet")
    assert probe.ui.requests == [Request("next_event")]


def test_the_play_button_pauses_while_playing(probe, sent):
    probe.ui.playing = True
    probe.frame()
    probe.click("\uf04c##play")
    assert sent == [m.Pause()]


def test_the_restitution_slider_sets_e_to_where_it_is_clicked(probe, sent):
    probe.click("##restitution", 0.8)
    assert len(sent) == 1 and sent[0].name == "restitution"
    assert sent[0].value == pytest.approx(0.8, abs=0.05)


def test_the_friction_slider_sends_only_friction(probe, sent):
    probe.click("##friction", 0.5)
    assert [c.name for c in sent] == ["friction"]


def test_an_override_can_be_given_back_to_the_materials(probe, sent):
    probe.snapshot[0] = fakes.snapshot(settings=m.Settings(restitution=0.9))
    probe.frame()
    probe.click("\uf0e2##restitution_materials")
    assert sent == [m.Set("restitution", None)]


def test_gravity_keeps_its_direction(probe, sent):
    probe.snapshot[0] = fakes.snapshot(settings=m.Settings(gravity=(3.0, 0.0, -4.0)))
    probe.frame()
    probe.click("##gravity", 0.5)
    g = np.array(sent[0].value)
    assert g / np.linalg.norm(g) == pytest.approx([0.6, 0.0, -0.8])


def test_the_step_slider_sends_h_as_one_over_a_whole_number(probe, sent):
    probe.click("##h", 0.7)
    assert sent[0].name == "h" and 1.0 / sent[0].value == pytest.approx(round(1.0 / sent[0].value), abs=1e-9)


def test_a_choice_of_integrator_is_sent_by_its_name(probe, sent):
    probe.click("##integrator")
    probe.click("euler")
    assert sent == [m.Set("integrator", "euler")]


def test_a_slider_shows_what_was_asked_until_the_engine_answers(probe, sent):
    probe.click("##restitution", 0.8)
    probe.frame(5)
    assert len(sent) == 1  # the engine still says None, and the slider does not fall back and ask again
    assert probe.ui.asked["restitution"][0] == sent[0].value


def test_the_time_line_seeks_to_where_it_is_dragged(probe, sent):
    probe.snapshot[0] = fakes.snapshot(history=(0, 1000), step=1000)
    probe.frame()
    probe.click("time_line", 0.25)
    assert {type(c) for c in sent} == {m.Seek} and sent[-1].step == pytest.approx(250, abs=5)


def test_clicking_a_scene_asks_the_app_to_open_it(probe, sent):
    probe.click("scene_b")
    assert probe.ui.requests == [Request("open_path", Path("/s/b.toml"))] and sent == []


def test_a_search_leaves_the_scenes_that_have_all_its_words(probe):
    scenes = [SceneEntry("a", "Apples", "They fall.", Path("a"), group="Impacts", watch="Their e differs."),
              SceneEntry("b", "Bricks", "They stack.", Path("b"), group="Stacks")]
    for text, keys in (("", "ab"), ("they", "ab"), ("THEY sta", "b"), ("impacts", "a"), ("differs", "a"), ("pear", "")):
        assert "".join(s.key for s in found(scenes, text)) == keys, text


def test_tags_are_searched_whole_and_found_by_their_words_too():
    scenes = [SceneEntry("a", "Apples", "", Path("a"), tags=("event_driven", "ball")),
              SceneEntry("b", "Bricks", "", Path("b"), tags=("time_stepping", "box", "My own tag"))]
    for text, keys in (("#ball", "a"), ("#bal", ""), ("#box #time_stepping", "b"), ("#box #ball", ""), ("#", "ab"),
                       ("#my_own_tag", "b"), ("event driven", "a"), ("#BOX bri", "b")):
        assert "".join(s.key for s in found(scenes, text)) == keys, text


def test_a_tag_is_chosen_in_the_list_of_all_and_given_up_there(probe):
    probe.ui.scenes = [entry._replace(tags=("box", *(("hinge",) if entry.key == "a" else ())))
                       for entry in probe.ui.scenes]
    probe.click("\uf02b##tags")
    assert probe.drawn() >= {"tag box", "tag hinge"}
    probe.click("tag hinge")
    assert probe.drawn() & {"scene_a", "scene_b"} == {"scene_a"}
    probe.click("\uf02b##tags")
    probe.click("tag hinge")
    assert probe.drawn() >= {"scene_a", "scene_b"}


def test_what_is_typed_into_the_search_field_is_searched(probe):
    assert {"scene_a", "scene_b"} <= probe.drawn()
    probe.click("##search_scenes")
    probe.type("brick")
    assert probe.drawn() & {"scene_a", "scene_b"} == {"scene_b"}


def test_a_group_of_scenes_shuts_and_opens_by_its_heading(probe):
    probe.click("Impacts##group")
    assert probe.drawn() & {"scene_a", "scene_b"} == {"scene_b"}
    probe.click("Impacts##group")
    assert {"scene_a", "scene_b"} <= probe.drawn()


def test_escape_shuts_a_menu_and_nothing_else(probe):
    probe.ui.help = True
    probe.click("File")
    assert probe.ui.menu_open and probe.ui.boxes_open and "Quit" in probe.drawn()
    probe.ui.shut_menus = True  # as `Lab.escape` does while a menu is open
    probe.frame(2)
    assert not probe.ui.menu_open and probe.ui.help and "Quit" not in probe.drawn()


def test_a_switch_changes_the_view_and_sends_nothing(probe, sent):
    probe.click("Contact normals", 0.1)
    assert probe.ui.view.normals is False and sent == []


def test_record_and_theme_are_requests_to_the_app(probe, sent):
    probe.click("\uf111 Record##record")
    probe.click("\uf185")
    assert [r.command for r in probe.ui.requests] == ["record", "theme"] and sent == []


def test_every_panel_draws_with_many_contacts_none_and_no_scene(probe):
    for made in (fakes.snapshot(5000, n=3), fakes.snapshot(0), None):
        probe.snapshot[0] = made
        probe.frame(2)
    for name in ("help", "about", "links", "orders"):
        setattr(probe.ui, name, True)
    probe.ui.open_box = "open_path"
    probe.ui.message, probe.ui.progress = "No.", ("contacts", 0.3)
    probe.snapshot[0] = fakes.snapshot(error="too fast")
    probe.frame(2)
    assert probe.ui.view_rect[2] > 200


def test_a_step_that_takes_long_says_whether_it_compiles_or_the_machine_cannot_keep_up(probe, monkeypatch):
    said = []
    monkeypatch.setattr(view, "_pill", lambda ui, name, top, text, color: said.append(text) or top)
    for busy, compiles in ((view.LONG - 0.1, True), (view.LONG + 1.0, True), (view.LONG + 1.0, False)):
        probe.ui.busy, probe.ui.compiles = busy, compiles
        probe.frame()
    assert ["compiled" in text for text in said] == [True, False] and "cannot keep up" in said[1]


def test_the_study_of_chains_is_begun_stopped_and_plotted_as_far_as_it_is_known(probe, sent):
    probe.ui.links = True
    probe.frame(3)
    probe.click("Measure again##links")
    points = tuple(m.LinkPoint(n, *kind, 1e-4 * n, np.nan if n == 5 else 1e-3 * n * bool(kind[1]), 1e-2, 0.0)
                   for n in (1, 2, 5) for kind in KINDS)
    probe.snapshot[0] = fakes.snapshot(links=m.LinkStudy(m.Settings(), points, running=True))
    probe.frame(2)
    probe.click("Stop##links")
    assert sent == [m.StudyLinks(), m.StudyLinks(False)]
    assert series(points, "generalized", "", "apart")[0].tolist() == []  # nothing that a logarithmic axis shows
    assert series(points, "maximal", "none", "apart")[1].tolist() == [1e-3, 2e-3]
    probe.click("Close##links")
    assert not probe.ui.links


def test_orders_are_asked_for_stopped_saved_and_told(probe, sent):
    probe.ui.orders = True
    probe.frame(3)
    probe.click("##event_driven_heun")
    probe.click("Measure##orders")
    chosen = (m.Variant("time_stepping", "rk4"), m.Variant("event_driven", "heun"))
    assert sent == [m.StudyOrders(chosen, 1.0, False)]  # this scene states no closed form
    points = tuple(m.OrderPoint(chosen[1], h, h**2, 1e-3 / h) for h in (0.016, 0.008, 0.004, 0.002, 0.001))
    study = m.OrderStudy(sent[0], m.Settings(), points, running=True)
    probe.snapshot[0] = fakes.snapshot(orders=study)
    probe.frame(2)
    probe.click("Stop##orders")
    assert sent[1:] == [m.StudyOrders()]
    assert orders.told(list(points)) == "2.00" and orders.told(list(points[:3])) == ""
    assert orders.told([p._replace(error=np.nan) for p in points]) == "failed"
    assert orders.told([p._replace(error=1e-13) for p in points]) == "exact"
    assert orders.shown([*points[:1], points[1]._replace(error=0.0)], "cost").tolist() == [[1e-3 / 0.016, 0.016**2]]
    probe.click("\uf0c7  CSV##orders")
    rows = probe.ui.requests[-1].argument.splitlines()
    assert len(rows) == 6 and rows[1].split(",") == ["event_driven", "heun", "0.016", "0.000256", "0.0625"]
    probe.click("Close##orders")
    assert not probe.ui.orders


def test_hovering_a_row_lights_its_contact(probe):
    probe.move("ground → ball 1##2_102")
    assert probe.ui.hovered_key == 102 and not probe.ui.hover_from_view


def test_a_contact_under_the_mouse_in_the_view_keeps_its_light(probe):
    probe.ui.hovered_key, probe.ui.hover_from_view = 101, True
    probe.frame(2)
    assert probe.ui.hovered_key == 101


def test_the_table_is_sorted_by_any_column_without_dancing():
    c = fakes.contacts(50)
    c.lam[:] = np.random.default_rng(0).permutation(50) // 10
    down = contacts.sorted_rows(c, 50, "lam", True)
    assert (np.diff(c.lam[down]) <= 0).all()
    ties = np.diff(c.lam[down]) == 0
    assert (np.diff(c.key[down])[ties] > 0).all()
    for column in contacts.COLUMNS:
        assert sorted(contacts.sorted_rows(c, 50, column, False)) == list(range(50))


def test_sets_are_told_by_ring_and_disc():
    assert [contacts.set_symbols(*s) for s in ((0, 0), (1, 0), (1, 1), (0, 1))] == ["–", "○ ", "○ ●", "●"]


def test_energy_curves_add_up_and_are_thinned():
    t = np.linspace(0.0, 10.0, 4096)
    log = np.column_stack([t, t, 2 * t, 0 * t, 0 * t, 0 * t])
    curves = energy.energy_curves(log)
    assert len(curves["t"]) <= energy.MOST_POINTS + 1 and set(curves) == {"t", "Kinetic", "Potential", "Total"}
    assert curves["Total"] == pytest.approx(3 * curves["t"]) and curves["t"][-1] == 10.0
    log[:, 3:] = 1.0, 2.0, 4.0
    curves = energy.energy_curves(log)
    assert curves["Springs"] == pytest.approx(1.0) and curves["Surfaces"] == pytest.approx(2.0)
    assert curves["Total"] == pytest.approx(3 * curves["t"] + 3.0)
    assert curves["Total + heat"] == pytest.approx(3 * curves["t"] + 7.0)
    assert len(energy.energy_curves(np.zeros((0, 6)))["t"]) == 0


def test_the_status_line_tells_the_binding_in_force():
    ui = UiState(under_cursor="body")
    assert "Left drag: pull" in status.binding_text(ui)
    ui.under_cursor = "space"
    assert "Left drag: orbit" in status.binding_text(ui) and "pull" not in status.binding_text(ui)
    ui.dragging = "Pulling."
    assert status.binding_text(ui) == "Pulling."


def test_solver_figures_name_residual_contacts_and_energy():
    text = status.solver_figures(fakes.snapshot(info=m.StepInfo(residual=1e-5, contacts=7, status="not converged")))
    assert all(part in text for part in ("7 contacts", "1.0e-05 m/s", "not converged", "3 J"))
    stuck = status.solver_figures(fakes.snapshot(info=m.StepInfo(status="inconsistent", steps=3)))
    assert "inconsistent: no forces obey all contact laws" in stuck
    soft = fakes.snapshot(settings=m.Settings(method="compliant"), info=m.StepInfo(contacts=1, substeps=4, stored=0.5))
    assert status.solver_figures(soft).split("   ") == ["1 contact", "4 substeps", "E 3.5 J"]


@pytest.mark.parametrize("value, text", [
    (0.0, "0 N"), (0.00123, "1.23 mN"), (12.34, "12.3 N"), (-4567.0, "-4.57 kN"), (999.9, "1 kN"),
    (1e-12, "0 N"), (float("nan"), "nan N"),
])
def test_engineering_numbers(value, text):
    assert style.engineering(value, "N") == text


# ------------------------------------------------------------------------------------------------- palette


def test_the_palette_finds_commands_and_scenes_by_a_few_letters(probe):
    ui = probe.ui
    ui.palette.open = ui.palette.just_opened = True
    probe.frame(3)
    probe.type("brk")
    assert dialogs.palette_matches(ui)[0][0] == "Scene: Bricks"
    probe.key(imgui.Key.enter)
    assert ui.requests == [Request("open_path", Path("/s/b.toml"))] and not ui.palette.open


def test_the_palette_moves_with_the_arrow_keys(probe):
    ui = probe.ui
    ui.palette.open = ui.palette.just_opened = True
    probe.frame(3)
    expected = dialogs.palette_matches(ui)[1][2]
    probe.key(imgui.Key.down_arrow)
    probe.key(imgui.Key.enter)
    assert ui.requests == [expected]


def test_the_palette_opens_a_typed_path():
    ui = UiState()
    ui.palette.text = "/home/me/bunny.stl"
    assert dialogs.palette_matches(ui)[0][2] == Request("open_path", "/home/me/bunny.stl")


def test_the_palette_offers_every_command():
    offered = {r.command for _, _, r in dialogs.palette_entries(UiState())}
    assert offered == {n for n, c in COMMANDS.items() if c.group} - {"palette"}


@pytest.mark.parametrize("pattern, better, worse", [
    ("rec", "Record a video", "Bring everything closer"), ("fs", "Full screen", "Surface"),
    ("reset", "Reset", "Preset"),
])
def test_the_better_match_comes_first(pattern, better, worse):
    first, second = dialogs.fuzzy(pattern, better), dialogs.fuzzy(pattern, worse)
    assert first is not None and (second is None or first < second)


def test_a_message_stays_until_it_is_read(probe):
    probe.ui.message = "die.toml: there is no shape of type 'blob'."
    probe.frame(10)
    assert probe.ui.message
    probe.click("OK##message")
    assert probe.ui.message == ""


def test_the_path_box_asks_to_open_what_was_typed(probe):
    probe.ui.open_box = "open_path"
    probe.frame(3)
    probe.type("/home/me/die.toml")
    probe.key(imgui.Key.enter)
    assert probe.ui.requests == [Request("open_path", "/home/me/die.toml")] and not probe.ui.open_box


def test_the_ledger_says_about_which_point_and_axes_angular_momentum_is():
    """It books Σ (x × P + L) about the origin of the world, see `claims.test_ledger`."""
    heading, meaning = next((title, tip) for title, _, tip in ledger.COLUMNS if tip.startswith("Angular momentum"))
    assert heading.startswith("L about the origin") and "world's origin" in meaning and "x, y and z" in meaning


def test_the_ledger_lists_what_was_booked_and_always_the_drift():
    books = np.zeros(LEDGER)
    books[Account.FRICTION, 0], books[Account.MOUSE, 2] = -5.0, 3.0
    books[Account.IMPACTS, 0] = 1e-14  # rounding
    found = ledger.entries(books)
    assert [entry.account for entry in found] == [Account.FRICTION, Account.MOUSE, Account.DRIFT]
    assert [entry.energy for entry in found] == [-5.0, 0.0, 0.0]
    assert [entry.share for entry in found] == [-1.0, 0.0, 0.0]
    assert [ledger.figure(v) for v in (0.0, -12.3456, 1234567.0, 1.5e-6)] == ["0", "−12.35", "+1.2e6", "+1.5e−6"]


ROUNDED = 1e-9  # far more than sums of a few hundred pixels are rounded by, and nothing to be seen
side = st.floats(1.0, 50.0)
plates = st.lists(st.tuples(st.floats(0.0, 200.0), st.floats(0.0, 200.0), side, side), min_size=1, max_size=8)


@settings(deadline=None)
@given(plates)
def test_labels_are_lifted_off_each_other_and_no_higher_than_they_must(wanted):
    taken = []
    for plate in wanted:
        lifted = view.lifted(plate, taken)
        assert lifted[0] == plate[0] and lifted[1] <= plate[1] and lifted[2:] == plate[2:]
        x, y, w, h = lifted
        overlaps = [x < a + c and a < x + w and min(y + h, b + d) - max(y, b) > ROUNDED for a, b, c, d in taken]
        assert not any(overlaps)
        assert y == plate[1] or any(y == b - h for _, b, _, _ in taken)
        taken.append(lifted)
