"""The page of a run: its numbers are those of the run, it asks nothing of a network, and a browser shows it."""

import base64
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from contactlab.app.command_line.cli import main
from contactlab.app.export import frames
from contactlab.app.export.frames import TooLarge
from contactlab.app.export.page import data_of, page_of
from contactlab.app.export.replay import Replay
from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
SINGLE = 2.0**-23  # of float32, relative
DOME = 0.9  # [s]: two contacts, one of them lost


def run_of(name, until):
    """A run, its frames, and its state (t, x) after every step."""
    sim = Simulation(Scene.load(gallery()[name]))
    replay, states = Replay(sim), [(0.0, sim.state.bodies.x.copy())]
    while sim.time < until - 0.5 * sim.settings.h:
        sim.step()
        replay.keep()
        states.append((sim.time, sim.state.bodies.x.copy()))
    replay.keep(last=True)
    return sim, replay, states


@pytest.fixture(scope="module")
def dome():
    return run_of("dome", DOME)


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_frames_are_the_states_of_the_run_to_single_precision(dome):
    sim, replay, states = dome
    told = data_of(replay)
    t = floats(told["t"])
    moving = [k for k, body in enumerate(told["bodies"]) if "pose" not in body]
    poses = floats(told["poses"]).reshape(len(t), len(moving), 7)
    assert t[0] == 0.0 and t[-1] == pytest.approx(sim.time, rel=SINGLE) and len(t) == -(-sim.step_count // 4) + 1
    known = {round(time, 6): x for time, x in states}
    for k, time in enumerate(t.tolist()):
        x = known[round(time, 6)][moving]
        np.testing.assert_allclose(poses[k, :, :3], x, rtol=SINGLE, atol=SINGLE)
    energies = floats(told["energies"]).reshape(-1, 3)
    now = sim.energy()
    np.testing.assert_allclose(energies[-1], [now.kinetic, now.potential, now.spring], rtol=SINGLE)


def test_contacts_of_the_last_frame_are_those_of_the_run(dome):
    sim, replay, _ = dome
    told = data_of(replay)
    starts = np.frombuffer(base64.b64decode(told["starts"]), "<u4")
    rows = floats(told["contacts"]).reshape(-1, 14)[starts[-2] : starts[-1]]
    count = int(sim.contacts.count[0])
    assert len(rows) == count and starts[0] == 0 and (np.diff(starts.astype(int)) >= 0).all()
    np.testing.assert_allclose(rows[:, 2:5], sim.contacts.point[:count], rtol=SINGLE, atol=SINGLE)
    np.testing.assert_allclose(rows[:, 10], sim.contacts.lam[:count], rtol=SINGLE)
    assert [event["t"] for event in told["events"]] == [event.t for event in sim.events]


def test_the_page_forbids_every_request_and_escapes_what_scenes_say():
    tables = {"scene": {"title": "<b>A & B</b>", "summary": "</script><script>alert(1)</script>", "watch": "@RUN@"},
              "body": [{"name": "</script>", "mass": 1.0, "shape": [{"type": "sphere", "radius": 0.1}]}]}
    text = page_of(Replay(Simulation(Scene.from_dict(tables))))
    assert "default-src 'none'" in text and text.count("</script>") == 2
    assert "&lt;b&gt;A &amp; B&lt;/b&gt;" in text and text.count('"bodies"') == 1
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", text) and "import(" not in text
    run = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])
    assert run["bodies"][0]["name"] == "</script>"


@pytest.mark.parametrize("name", ["hollows", "polygons", "meshes", "machines"])
def test_every_kind_of_shape_has_a_surface(name):
    sim = Simulation(Scene.load(gallery()[name]))
    bodies = data_of(Replay(sim))["bodies"]
    shapes = [shape for body in bodies for shape in body["shapes"]]
    assert len(shapes) == len(sim.model.shapes.kind)
    for shape in shapes:
        if shape["kind"] == "mesh":
            vertices = floats(shape["vertices"]).reshape(-1, 3)
            triangles = np.frombuffer(base64.b64decode(shape["triangles"]), "<u4")
            assert len(triangles) % 3 == 0 and triangles.max() < len(vertices) and np.isfinite(vertices).all()


def test_a_run_too_long_for_a_page_says_how_far_it_came(monkeypatch):
    sim = Simulation(Scene.load(gallery()["slow_bounce"]))
    replay = Replay(sim)
    monkeypatch.setattr(frames, "PAGE", frames.PAGE._replace(most=100))
    with pytest.raises(TooLarge, match="ends at t = "):
        while sim.time < 2.0:
            sim.step()
            replay.keep()


def test_bad_input_is_refused_in_a_sentence(tmp_path, capsys):
    for arguments in (["slow_bounce", "-o", str(tmp_path / "run.pdf")], ["nowhere", "-o", str(tmp_path / "a.html")]):
        with pytest.raises(SystemExit) as end:
            main(["export", *arguments])
        assert end.value.code == 2 and capsys.readouterr().err.strip()
    assert not list(tmp_path.iterdir())


def browsed(path, part, *options):
    """The page as a browser has it once its scripts have run; part: what follows the file in its address."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium is installed")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--window-size=1280,800", "--disable-background-networking", "--disable-component-update", *options,
         "--dump-dom", path.as_uri() + part], capture_output=True, text=True, timeout=240)
    return done.stdout


def test_a_browser_shows_the_numbers_of_the_run_and_makes_no_request(tmp_path, capsys):
    """A script at the end of the page asks it for the pose of a body and the numbers of its contacts."""
    out, log = tmp_path / "dome.html", tmp_path / "net.json"
    with pytest.raises(SystemExit) as end:
        main(["export", "dome", "--until", str(DOME), "-o", str(out)])
    assert end.value.code == 0
    assert f"the page is {out}" in capsys.readouterr().out
    asked = ("<script type='module'>const told = document.createElement('pre'); told.id = 'told'; told.textContent = "
             "JSON.stringify([replay.pose(3), replay.numbersOf(0)]); document.body.append(told);</script></body>")
    out.write_text(out.read_text(encoding="utf-8").replace("</body>", asked), encoding="utf-8")
    shown = browsed(out, f"#t={DOME}", f"--log-net-log={log}")
    sim, _, _ = run_of("dome", DOME)
    pose, numbers = json.loads(re.search(r'<pre id="told">(.*?)</pre>', shown, re.S)[1].replace("&gt;", ">"))
    bodies = sim.state.bodies
    np.testing.assert_allclose(pose, [*bodies.x[3], *bodies.q[3]], rtol=SINGLE, atol=SINGLE)
    assert sim.labels.bodies[3] in numbers and f"λ = {sim.contacts.lam[0]:.4g} N" in numbers
    assert f"t = {sim.time:.3f} s" in shown and "λ would become" in shown and "<canvas" in shown
    assert re.search(r'<div id="tip"[^>]*hidden', shown)  # else it would say that this browser draws no 3-D
    assert not asked_of_a_network(log)
    other = tmp_path / "other.html"
    other.write_text("<img src='http://127.0.0.1:9/picture.png'>", encoding="utf-8")
    browsed(other, "", f"--log-net-log={log}")
    assert asked_of_a_network(log)  # which the log would have told


def asked_of_a_network(log):
    """Whether a log of the browser's net holds an address of a network."""
    return re.search(r'"url":"(https?|wss?):', log.read_text(encoding="utf-8")) is not None
