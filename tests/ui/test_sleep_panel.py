"""The switch for sleep: what it sends, and what it tells."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app.panels import compare, parameters, rows
from contactlab.app.ui_state import UiState
from contactlab.app.view.overlays import legend
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics.methods.sleep import AT_REST
from contactlab.physics.run import messages as m


@pytest.fixture
def drawn(monkeypatch):
    """A probe of the solver's settings of a snapshot, what it sent, and what stands at the right of lines."""
    sent, said = [], []
    for module in (parameters, rows):
        monkeypatch.setattr(module, "right_aligned", lambda ui, text: said.append(text), raising=False)
    monkeypatch.setattr(parameters, "value_row", lambda ui, name, value, button="": said.append(f"{name} {value}"))
    probes = []

    def draw(shown):
        probes.append(Probe(monkeypatch, lambda ui: parameters.draw_solver(ui, shown, sent.append), UiState()))
        return probes[-1], sent, said

    yield draw
    for probe in probes:
        probe.gui.release()


def test_the_switch_turns_sleep_on_and_off_where_the_method_has_it(drawn):
    off = fakes.snapshot(settings=m.Settings())
    probe, sent, _ = drawn(off)
    assert "##sleep" not in probe.rects
    probe.click("Sleep at rest")
    assert sent == [m.Set("sleep", AT_REST)]
    probe, sent, said = drawn(replace(off, settings=m.Settings(sleep=1e-2), info=m.StepInfo(asleep=12)))
    assert "12 asleep" in said
    assert "Sleep below 0.01 · 2 g h = 818 µm/s" in said  # 0.01 (2 · 9.81/240 + 1e-6) m/s
    probe.click("Sleep at rest")
    assert sent[-1] == m.Set("sleep", 0.0)
    for method in ("event_driven", "compliant"):
        assert "Sleep at rest" not in drawn(fakes.snapshot(settings=m.Settings(method=method)))[0].rects


def test_the_legend_says_what_dark_bodies_are():
    shown = fakes.snapshot()
    assert not any("asleep" in row.text for row in legend(shown, ViewOptions()))
    some = replace(shown, asleep=np.array([False, True, False]))
    assert any("asleep" in row.text for row in legend(some, ViewOptions()))


def test_sides_of_a_comparison_that_differ_in_sleep_say_so():
    sides = tuple(fakes.snapshot(settings=m.Settings(sleep=below), side=k) for k, below in enumerate((0.0, 1e-3)))
    assert [compare.details(side, sides).rsplit(", ", 1)[1] for side in sides] == ["sleep below 0", "sleep below 0.001"]
