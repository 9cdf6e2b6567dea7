"""The example scripts do what they say."""

import csv
import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import contactlab
from contactlab.app.command_line import cli
from contactlab.assets import examples
from contactlab.physics.run.script import Script

EXAMPLES = examples()
G = 9.81


def script(name, monkeypatch):
    """What an example defines, without its window."""
    monkeypatch.setattr(contactlab, "view", lambda *_: pytest.fail("it opens the window"), raising=False)
    return runpy.run_path(str(EXAMPLES[name]))


def driven(name, monkeypatch):
    """An example of the window, with its script at work as in the window; and a function that moves its controls."""
    found = script(name, monkeypatch)
    sim, panel = found["sim"], found["panel"]
    Script(sim, found["step"], panel).drive([sim])
    return sim, panel, found


def values(panel, name):
    return next(curve.points[:, 1] for curve in panel.shown(True).curves if curve.name == name)


def test_the_pole_stands_again_after_a_kick(monkeypatch):
    """The closed loop of the linear equations has no eigenvalue to the right of -0.5 1/s: after 10 s e⁻⁵ is left."""
    sim, panel, _ = driven("pole", monkeypatch)
    assert abs(sim.joint("pin").position) > 0.1
    for _ in range(2):
        sim.run(until=sim.time + 10.0)
        assert abs(sim.joint("pin").position) < math.exp(-5.0) * 0.14
        panel.set("kick", True)
    sim.run(until=sim.time + 0.05)
    assert sim.joint("pin").position > 0.01


def test_the_arm_reaches_its_target_and_hangs_below_it_where_its_weight_is_not_carried(monkeypatch):
    """At rest the torques k (q* - q) alone carry the weight."""
    sim, panel, found = driven("arm", monkeypatch)
    sim.run(until=4.0)
    for name in ("shoulder", "elbow"):
        assert abs(values(panel, f"error of the {name}")[-1]) < 1e-3
    panel.set("carry the weight", False)
    sim.run(until=10.0)
    for name, torque in found["carried"](sim).items():
        error = math.radians(values(panel, f"error of the {name}")[-1])
        assert error > 0.0 and 60.0 * error == pytest.approx(torque, rel=1e-3)


def test_each_brick_carries_all_that_stand_on_it(monkeypatch):
    sim, panel, _ = driven("every_contact", monkeypatch)
    sim.run(until=1.0)
    for k in range(5):
        assert values(panel, f"brick {k}")[-1] == pytest.approx((5 - k) * 2.0 * G, rel=1e-6)


@pytest.mark.usefixtures("no_law_stays")
def test_the_own_law_keeps_the_energy_without_damping_and_takes_some_with_it(monkeypatch):
    """A contact of T = 10 ms in steps of h = 0.5 ms or less by rk4, whose error is a number of order 10 times (h/T)⁴;
    the top is seen to ½ g h²/4."""
    tops = {}
    for damping in (0.0, 0.3):
        sim, _, _ = driven("own_law", monkeypatch)
        sim.set(damping_n=damping)
        with sim.trace(height=lambda now: now.body("ball").position[2] - 0.1) as run:
            sim.run(until=0.95)
        tops[damping] = run["height"][run["t"] > 0.4].max()
    assert tops[0.0] == pytest.approx(0.5, rel=1e-3) and tops[0.3] < 0.9 * tops[0.0]


def test_falling_balls_tend_to_the_speed_at_which_drag_carries_them(monkeypatch):
    """v → √(m g/c); after 12 s, nine times v/g of the heaviest, e⁻¹⁸ of the difference is left."""
    sim, panel, found = driven("drag", monkeypatch)
    sim.run(until=12.0)
    for name, mass in found["masses"].items():
        assert values(panel, name)[-1] == pytest.approx(math.sqrt(mass * G / 0.05), rel=1e-3)


def test_the_study_finds_the_time_of_all_bounces(monkeypatch):
    """t = √(2 s/g) (1 + e)/(1 - e); seen to two steps, and to the bounces slower than √REST of the first."""
    study = script("study", monkeypatch)["main"](workers=0)
    fall = math.sqrt(2.0 / G)
    for e, rest in zip(study["restitution"], study["rest time"], strict=True):
        assert abs(rest - fall * (1.0 + e) / (1.0 - e)) <= 2.0 / 240.0 + 2e-3 * fall / (1.0 - e)


def test_the_export_writes_what_it_says(monkeypatch, tmp_path):
    script("export", monkeypatch)["main"](tmp_path)
    with (tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    arrays = np.load(tmp_path / "run.npz")
    assert [float(row["height"]) for row in rows] == arrays["height"].tolist() and len(rows) == 121
    assert {p.name for p in tmp_path.iterdir()} == {"run.csv", "run.npz", "events.csv", "contacts.csv"}


def test_the_methods_come_as_near_as_their_order(monkeypatch):
    """event_driven to the sampling of the top, ½ g (h/2)²; time_stepping to first order, 2 v h."""
    errors = script("methods", monkeypatch)["main"]()
    assert abs(errors["event_driven"]) <= 0.5 * G * 0.5e-3**2 + 1e-9
    assert abs(errors["time_stepping"]) <= 2.0 * math.sqrt(2.0 * G) * 1e-3


def test_the_angle_of_friction_is_found(monkeypatch):
    assert script("friction_angle", monkeypatch)["main"]() == pytest.approx(math.atan(0.4), abs=math.radians(0.02))


def test_all_solvers_answer_the_problem(monkeypatch, tmp_path):
    assert max(script("solvers", monkeypatch)["main"](tmp_path).values()) < 1e-9


def test_the_readme_lists_every_example_and_every_one_is_tested():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)\.py` \|", readme.partition("### Examples")[2], re.MULTILINE)
    assert sorted(listed) == list(EXAMPLES) and len(listed) >= 10
    tested = re.findall(r'(?:script|driven)\("(\w+)"', Path(__file__).read_text(encoding="utf-8"))
    assert {*tested} == {*EXAMPLES}


def test_the_command_lists_and_copies_them(tmp_path, capsys):
    for arguments in ([], [str(tmp_path)]):
        with pytest.raises(SystemExit) as end:
            cli.main(["examples", *arguments])
        assert end.value.code == 0 and all(f"{name}.py" in capsys.readouterr().out for name in ["pole"])
    assert {p.stem for p in tmp_path.iterdir()} == {*EXAMPLES}
