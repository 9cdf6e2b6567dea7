"""The tour of the window: begun once by itself, each card beside its panel, which can be used meanwhile."""

from dataclasses import replace

import fakes
import pytest
from probe import Probe

from contactlab.app import commands
from contactlab.app.keys import keys_of
from contactlab.app.lab import Lab
from contactlab.app.panels.layout import draw_ui
from contactlab.app.panels.tour import STOPS, with_keys
from contactlab.app.preferences import Preferences
from contactlab.app.ui_state import Question, Request, UiState
from contactlab.physics.run import messages as m

NEXT = "Next  \uf054##tour_on"


@pytest.fixture
def lab():
    made = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    made.update()
    return made


@pytest.fixture
def probe(lab, monkeypatch):
    made = Probe(monkeypatch, lambda ui: draw_ui(ui, lab.snapshot, lab.send), lab.ui)
    yield made
    made.gui.release()


def test_the_tour_begins_by_itself_once_and_from_its_command_again(lab, tmp_path):
    lab.welcome()
    assert lab.ui.tour is not None
    lab.ui.preferences.save(tmp_path / "settings.json")
    again = Lab(lab.engine, UiState(preferences=Preferences.load(tmp_path / "settings.json")[0]), fakes.Host())
    again.welcome()
    assert again.ui.tour is None
    commands.run(again, "tour")
    assert again.ui.tour is not None


def test_what_the_user_is_asked_goes_before_the_tour_which_then_begins_at_the_next_start(lab):
    lab.ui.question = Question("Unsaved work was found", "", (("Go on", Request("recover")),))
    lab.welcome()
    assert lab.ui.tour is None and not lab.ui.preferences.toured


def test_six_cards_lead_to_the_end_and_one_step_back(lab, probe):
    commands.run(lab, "tour")
    seen = []
    while lab.ui.tour is not None:
        probe.frame()  # the card is where its height lets it be
        probe.drawn()
        seen.append(lab.ui.tour.stop)
        probe.click(NEXT if NEXT in probe.rects else "Begin##tour_on")
    assert seen == [0, 1, 2, 3, 4, 5] and len(STOPS) == 6 and not lab.ui.failures
    commands.run(lab, "tour")
    probe.drawn()
    probe.click(NEXT)
    probe.frame()
    probe.drawn()
    probe.click("\uf053  Back##tour_back")
    assert lab.ui.tour.stop == 0
    commands.run(lab, "deselect")
    assert lab.ui.tour is None


def test_every_key_that_a_card_names_is_one():
    for stop in STOPS:
        for text in (stop.text, stop.task):
            names = text.replace("{", "}").split("}")[1::2]
            assert all(keys_of(name) for name in names) and not {"{", "}"} & set(with_keys(text))


@pytest.mark.parametrize(("stop", "change"), [
    (0, {"grabbed": m.Grabbed(1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 9.0))}),
    (1, {"paused": False}), (2, {"generation": 2}), (3, {"settings": m.Settings(restitution=0.25)}),
])
def test_a_card_sees_that_what_it_asks_for_was_done(stop, change, lab, probe):
    commands.run(lab, "tour")
    lab.ui.tour.stop = stop
    probe.frame()
    assert not lab.ui.tour.done
    lab.engine.latest = replace(lab.engine.latest, **change)
    lab.update()
    probe.frame()
    assert lab.ui.tour.done


def test_the_panel_that_a_card_is_about_can_be_used(lab, probe):
    commands.run(lab, "tour")
    lab.ui.tour.stop = 4
    probe.drawn()
    probe.click("Plot##tab_plot")
    assert lab.ui.preferences.lower_tab == "plot" and lab.ui.tour.done


def test_of_a_hidden_panel_the_card_says_how_it_is_shown(lab, probe):
    lab.ui.preferences.gallery = False
    commands.run(lab, "tour")
    lab.ui.tour.stop = 2
    assert NEXT in probe.drawn() and "The gallery" not in lab.ui.places
    assert STOPS[2].hidden == "View, Gallery"


@pytest.mark.parametrize(("size", "scale"), [((640, 420), 1.0), ((1280, 800), 2.0), ((1280, 800), 1.0)])
def test_every_card_lies_within_the_window_with_all_its_buttons(size, scale, lab, probe):
    probe.gui.resize(size, size)
    lab.ui.preferences.scale = scale
    commands.run(lab, "tour")
    for stop in range(len(STOPS)):
        lab.ui.tour.stop = stop
        probe.drawn()
        probe.frame(3)
        buttons = [rect for label, rect in probe.rects.items() if "##tour" in label]
        assert len(buttons) == (2 if stop == 5 else 3)
        for low, high in buttons:
            assert low.x >= 0 and high.x <= size[0] and low.y >= 0 and high.y <= size[1]


def test_with_reduced_motion_the_camera_does_not_fly(lab):
    commands.run(lab, "frame_all")
    assert lab.move_camera(0.01)
    lab.move_camera(10.0)
    commands.run(lab, "reduced_motion")
    commands.run(lab, "frame_all")
    assert not lab.move_camera(0.01) and lab.ui.view.still and lab.ui.preferences.reduced_motion
