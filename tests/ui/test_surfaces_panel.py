"""The panel of compliant surfaces: gains, what they mean, substeps."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import rows, surfaces
from contactlab.app.ui_state import UiState
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.run import messages as m
from contactlab.physics.scene.gains import Gains, damping_for, meaning

SETTINGS = m.Settings(method="compliant", integrator="rk4", stiffness_n=1e4, damping_n=20.0)


class Panel:
    """The panel alone, over a snapshot that can be replaced; `said` are the values by the names beside them."""

    def __init__(self, monkeypatch):
        self.snapshot, self.sent, self.said, self.texts = shown(), [], {}, []
        original, wrapped = rows.value_row, imgui.text_wrapped

        def value_row(ui, name, value, button=""):
            self.said[name] = value
            original(ui, name, value, button)

        def text_wrapped(text):
            self.texts.append(text)
            wrapped(text)

        monkeypatch.setattr(surfaces, "value_row", value_row)
        monkeypatch.setattr(imgui, "text_wrapped", text_wrapped)
        self.probe = Probe(monkeypatch, self.draw, UiState())

    def draw(self, ui):
        self.said.clear()
        self.texts.clear()
        imgui.set_next_window_size((400, 760))
        imgui.begin("surfaces")
        surfaces.draw_surfaces(ui, self.snapshot, self.sent.append)
        surfaces.draw_substeps(ui, self.snapshot, self.sent.append)
        imgui.end()

    def show(self, **fields):
        self.snapshot = replace(self.snapshot, **fields)
        self.probe.frame(2)

    def click(self, label, share=0.5):
        self.probe.click(label, share)
        return self.sent[-1] if self.sent else None


def shown():
    """The snapshot with the gains of the settings in its model."""
    snapshot = fakes.snapshot(settings=SETTINGS)
    table = np.array([[[[1e4, 20.0, 1e4, 20.0, 3e4, 0.0], [*[np.inf] * 5, 0.0]]]])
    materials = snapshot.model.materials._replace(surfaces=table)
    return replace(snapshot, model=snapshot.model._replace(materials=materials))


@pytest.fixture
def panel(monkeypatch):
    made = Panel(monkeypatch)
    yield made
    made.probe.gui.release()


@pytest.mark.parametrize("law", LAWS)
def test_the_numbers_beside_the_gains_are_what_they_mean_for_the_bodies_in_contact(panel, law):
    """The contact that carries most is between ball 1 and the ground: the fakes' inverse masses are 1/kg each."""
    panel.show(settings=replace(SETTINGS, law=law))
    told = meaning(Gains(law, 1e4, 20.0, 3e4), 0.5, 9.81, surfaces.E_AND_SPEED[1])
    said = panel.said
    assert said["Natural frequency"] == f"{told.frequency:.3g} Hz"
    assert said["Damping ratio  ζ"] == f"{told.ratio:.3g}"
    assert said["Effective e"] == f"{told.restitution:.3f}"
    assert said["Sag under its weight"] == f"{1e3 * told.sag:.3g} mm"
    assert said["An impact lasts"] == f"{1e3 * told.time:.3g} ms"
    assert ("Series spring  Kₛ" in said) == (law == "standard_solid")
    assert ("of an impact at" in said) == (law in ("hertz", "hunt_crossley"))
    assert said["Stiffness  Kₙ"].endswith(LAWS[law].units[0]) and said["Damping  Dₙ"].endswith(LAWS[law].units[1])


@pytest.mark.parametrize(("name", "low", "high"), [
    ("stiffness_n", 1e2, 1e8), ("damping_n", 1e-1, 1e5), ("stiffness_t", 1e2, 1e8), ("damping_t", 1e-1, 1e5)])
def test_a_gain_is_set_where_its_slider_is_clicked_by_powers_of_ten(panel, name, low, high):
    command = panel.click(f"##{name}", 0.5)
    assert command.name == name and len({c.name for c in panel.sent}) == 1
    assert np.log10(command.value) == pytest.approx(0.5 * np.log10(low * high), abs=0.3)


def test_the_loss_of_the_travelling_dent_is_set_by_its_slider(panel):
    command = panel.click("##damping_roll", 0.5)
    assert command.name == "damping_roll" and command.value == pytest.approx(10.0, abs=1.0)


def test_a_gain_can_be_given_back_to_the_materials(panel):
    assert panel.click("\uf0e2##stiffness_n_materials") == m.Set("stiffness_n", None)
    assert "\uf0e2##stiffness_t_materials" not in panel.probe.rects


@pytest.mark.parametrize("law", LAWS)
def test_choose_d_sets_the_damping_that_bounces_as_wanted(panel, law):
    panel.show(settings=replace(SETTINGS, law=law))
    command = panel.click("choose D")
    assert command.name == "damping_n"
    wanted, speed = surfaces.E_AND_SPEED
    gains = Gains(law, 1e4, 20.0, 3e4)
    assert command.value == pytest.approx(damping_for(wanted, gains, 0.5, speed), rel=1e-12)
    told = meaning(replace(gains, damping=command.value), 0.5, 9.81, speed)
    assert told.restitution == pytest.approx(wanted, abs=1e-3)


def test_too_few_substeps_are_warned_of_and_as_many_as_needed_offered(panel):
    panel.show(settings=replace(SETTINGS, substeps=2), info=m.StepInfo(substeps=2, stable_step=1e-3))
    assert any("2 substeps are too few" in text for text in panel.texts)
    assert panel.said["Largest stable step"] == "1 ms"
    assert panel.click("make as many substeps as needed") == m.Set("substeps", 0)
    panel.show(info=m.StepInfo(substeps=5, stable_step=1e-3))  # 1/240 s in 5: 0.83 ms
    assert not panel.texts or not any("too few" in text for text in panel.texts)


def test_in_flight_the_numbers_stay_those_of_the_last_contact():
    """The ball that let go last of the ground stays in focus."""
    left = m.Event("dynamic_loss", 5, 0.1, (0, 2), (0.0,) * 3, (0.0, 0.0, 1.0), (0.0,) * 3, 1.0, 1.0)
    flying = fakes.snapshot(count=0, events=(left._replace(bodies=(0, 1)), left))
    inverse = float(flying.model.inv_mass[0] + flying.model.inv_mass[2])
    assert surfaces.contact_in_focus(flying) == ((0, 0), 1.0 / inverse, "ground – ball 2")


def test_too_few_substeps_are_warned_of_before_anything_touches(panel):
    """ω = √(1e4/0.5) rad/s: a step of 1/60 s of semi-implicit Euler is beyond 2/ω = 14 ms, one of 1/120 s is not."""
    settings = replace(SETTINGS, integrator="semi_implicit", substeps=1)
    panel.show(settings=replace(settings, h=1 / 60), info=m.StepInfo(substeps=1))
    assert any("1 substep is too few" in text for text in panel.texts)
    assert 10.0 < float(panel.said["Largest stable step"].removesuffix(" ms")) < 14.2
    panel.show(settings=replace(settings, h=1 / 120))
    assert not any("too few" in text for text in panel.texts)


def test_error_control_that_gave_up_is_said(panel):
    said = "no error control after 9 tries"
    panel.show(settings=replace(SETTINGS, integrator="dopri5"), info=m.StepInfo(status=said))
    assert any(said in text for text in panel.texts)


def test_where_no_number_of_substeps_is_enough_implicit_steps_are_offered(panel):
    panel.show(info=m.StepInfo(substeps=2000, stable_step=1e-6))
    assert any("too few" in text for text in panel.texts)
    assert panel.click("take implicit steps: sdirk2") == m.Set("integrator", "sdirk2")


@pytest.mark.parametrize(("substeps", "factor", "paused", "offered"), [
    (347, 0.1, False, True), (347, 1.0, False, False), (347, float("nan"), False, False), (347, 0.0, True, False),
    (12, 0.1, False, False)])
def test_substeps_that_are_not_made_in_time_are_told_with_the_way_out(panel, substeps, factor, paused, offered):
    panel.show(info=m.StepInfo(substeps=substeps, stable_step=1.0), paused=paused, real_time_factor=factor)
    assert any(f"{substeps} substeps a step take longer" in text for text in panel.texts or ()) == offered
    if offered:
        assert panel.click("take implicit steps: sdirk2") == m.Set("integrator", "sdirk2")


def test_implicit_steps_that_stand_in_for_explicit_ones_are_said_and_offered(panel):
    said = "implicit steps, as rk4 would need 8e+06 substeps"
    panel.show(info=m.StepInfo(substeps=1, iterations=4, stable_step=1e-9, status=said))
    assert any(said in text for text in panel.texts) and not any("too few" in text for text in panel.texts)
    assert panel.click("take implicit steps: sdirk2") == m.Set("integrator", "sdirk2")


def test_implicit_steps_are_stable_whatever_their_length(panel):
    panel.show(settings=replace(SETTINGS, integrator="sdirk2"), info=m.StepInfo(substeps=1))
    assert panel.said["Largest stable step"] == "any" and not any("too few" in text for text in panel.texts)


def test_a_rigid_pair_has_no_meaning_to_tell(panel):
    table = np.full((1, 1, 2, 6), np.inf)
    materials = panel.snapshot.model.materials._replace(surfaces=table)
    panel.show(model=panel.snapshot.model._replace(materials=materials))
    assert "Natural frequency" not in panel.said
