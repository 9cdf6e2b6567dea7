"""The command line: what it runs, what it writes, and how it complains."""

import csv
import os
import signal
import subprocess
import sys
import tomllib
import types
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
from command_line import call

from contactlab.app import machine
from contactlab.app.command_line import cli
from contactlab.app.command_line.doctor import examine
from contactlab.app.record.recorder import Film
from contactlab.app.record.reel import Run
from contactlab.assets import gallery, scene_path
from contactlab.physics import Scene, Simulation
from contactlab.physics.core import version as version_module
from contactlab.physics.lesson.video import VideoTable, ViewTable
from contactlab.physics.simulation.failure import CannotStep

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + (
    "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n")


SPRING = """
scene = {gravity = [0.0, 0.0, 0.0]}
body = [{name = "bob", position = [0.5, 0.0, 0.0], mass = 1.0, inertia = [0.01, 0.01, 0.01]}]
spring = [{body_a = "world", body_b = "bob", length = 0.0, stiffness = 3600.0}]
"""


#: a robot of two links, whose limit of effort is left out
LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
ROBOT = f"""<robot name="r">{LINK.format("a")}{LINK.format("b")}<joint name="j" type="revolute"><parent link="a"/>
<child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="1"/></joint></robot>"""


# ------------------------------------------------------------------------------------------------ run


def test_run_writes_what_the_simulation_does(scene, tmp_path, capsys):
    out = tmp_path / "path.npz"
    status, said, _ = call(
        capsys, "run", scene, "--until", "0.5", "--out", out, "--every", "4", "--h", "0.005",
        "--set", "restitution=0.8", "--set", "gravity=0,0,-5", "--integrator", "heun", "--solver", "pgs")
    assert status == 0 and "t = 0.5 s after 100 steps" in said and str(out) in said
    sim = Simulation(Scene.load(scene), h=0.005, integrator="heun")
    sim.set(restitution=0.8, gravity=(0, 0, -5))
    with np.load(out) as file:
        assert list(file["names"]) == ["ball", "floor"]
        assert file["t"] == pytest.approx(np.arange(26) * 0.02)
        for k in range(26):
            assert (file["x"][k] == [sim.position("ball"), sim.position("floor")]).all()
            assert (file["q"][k, 0] == sim.orientation("ball")).all()
            assert (file["v"][k, 0] == sim.velocity("ball")).all() and (file["w"][k, 0] == 0.0).all()
            assert file["energy"][k].sum() == pytest.approx(sim.energy().total)
            assert file["contacts"][k] == len(sim.contacts.gap)
            for _ in range(4):
                sim.step()


def test_run_writes_a_table_with_a_row_per_time_and_body(scene, tmp_path, capsys):
    out = tmp_path / "path.csv"
    assert call(capsys, "run", scene, "--until", "0.1", "--out", out)[0] == 0
    sim = Simulation(Scene.load(scene))
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == 2 * 25
    sim.run(0.1)
    last = rows[-2]
    assert last["body"] == "ball" and float(last["t"]) == sim.time
    assert [float(last[c]) for c in ("x", "y", "z")] == list(sim.position("ball"))
    assert [float(last[c]) for c in ("qw", "qx", "qy", "qz")] == list(sim.orientation("ball"))
    assert float(last["kinetic"]) + float(last["potential"]) == pytest.approx(sim.energy().total)


def test_run_takes_gallery_keys_and_meshes(tmp_path, capsys):
    (tmp_path / "cube.obj").write_text(CUBE)
    assert call(capsys, "run", "bouncing_balls", "--until", "0.01")[0] == 0
    status, said, _ = call(capsys, "run", tmp_path / "cube.obj", "--until", "0.01")
    assert status == 0 and said.startswith("cube")


def test_run_says_what_was_left_out_of_a_file(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    status, _, complaint = call(capsys, "run", path, "--until", "0.01")
    notes = Scene.from_urdf(path).build().labels.notes
    assert status == 0 and notes and complaint == "".join(f"contactlab: {note}\n" for note in notes)


def test_run_says_that_energy_grows_from_nothing_and_goes_on(tmp_path, capsys):
    """By explicit Euler, 1 + (ω h)² times a step: twice as much after 11.4 steps of 1/240 s where ω = 60."""
    path = tmp_path / "spring.toml"
    path.write_text(SPRING)
    status, said, complaint = call(capsys, "run", path, "--until", "0.1", "--integrator", "euler")
    assert status == 0 and "after 24 steps" in said
    assert complaint.startswith("contactlab: t = 0.05 s: the motion has ") and "450 J were put in" in complaint
    assert call(capsys, "run", path, "--until", "0.1", "--integrator", "rk4")[2] == ""


def test_run_loads_no_library_of_windows_and_none_that_it_does_not_need_yet(scene):
    """scipy.linalg and scipy.optimize are a sixth of all that would be loaded."""
    code = (
        "import sys\nfrom contactlab.app.command_line.cli import main\n"
        "try: main(['run', sys.argv[1], '--until', '0.01'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('pyglet', 'moderngl', 'imgui_bundle', 'av')\n"
        "       or m in ('scipy.linalg', 'scipy.optimize', 'scipy.sparse', 'scipy.spatial')])\n"
    )
    result = subprocess.run([sys.executable, "-c", code, str(scene)], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


def test_the_panels_load_no_part_of_scipy_before_it_is_needed():
    """The window would open half a second later."""
    code = (
        "import importlib, pkgutil, sys, contactlab.app.lab, contactlab.app.panels as panels\n"
        "for one in pkgutil.iter_modules(panels.__path__): importlib.import_module(f'{panels.__name__}.{one.name}')\n"
        "print([m for m in ('linalg', 'optimize', 'sparse', 'spatial', 'special') if f'scipy.{m}' in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def rows_in(path):
    """Number of times in a trajectory of two bodies."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            lengths = {len(file[name]) for name in file.files if name != "names"}
            assert len(lengths) == 1
            return lengths.pop()
    rows = list(csv.DictReader(path.open()))
    assert all(None not in row.values() for row in rows)
    return len(rows) / 2


def signal_at(monkeypatch, step, *numbers):
    """Signals come in the middle of a step."""
    real = Simulation.step

    def stepping(self):
        if self.step_count == step:
            for number in numbers:
                os.kill(os.getpid(), number)
        real(self)

    monkeypatch.setattr(Simulation, "step", stepping)


def stop_at(monkeypatch, step, error):
    real = Simulation.step

    def stepping(self):
        if self.step_count == step:
            raise error
        real(self)

    monkeypatch.setattr(Simulation, "step", stepping)


@pytest.mark.parametrize("name", ["path.npz", "path.csv"])
@pytest.mark.parametrize(("error", "says"), [
    (CannotStep("the motion of ball is no longer finite"), "the motion of ball is no longer finite"),
    (KeyError("lost"), "KeyError: 'lost'"),
])
def test_a_run_that_fails_keeps_what_it_has(scene, tmp_path, capsys, monkeypatch, error, says, name):
    stop_at(monkeypatch, 10, error)
    ended, said, complaint = call(capsys, "run", scene, "--until", "1", "--out", tmp_path / name)
    assert ended == 1 and says in complaint and "after 10 steps" in said
    assert rows_in(tmp_path / name) == 11
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ball.toml", name]


@pytest.mark.parametrize("name", ["path.npz", "path.csv"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_that_is_stopped_keeps_what_it_has(scene, tmp_path, capsys, monkeypatch, number, status, name):
    """It ends after the step in which the signal came, the eleventh."""
    signal_at(monkeypatch, 10, number)
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    ended, said, complaint = call(capsys, "run", scene, "--until", "1", "--out", tmp_path / name)
    assert ended == status and complaint == "contactlab: stopped at t = 0.0458333 s\n" and "after 11 steps" in said
    assert rows_in(tmp_path / name) == 12
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ball.toml", name]
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_second_signal_does_not_wait_for_the_step(scene, tmp_path, capsys, monkeypatch):
    signal_at(monkeypatch, 10, signal.SIGINT, signal.SIGTERM)
    ended, said, complaint = call(capsys, "run", scene, "--until", "1", "--out", tmp_path / "path.csv")
    assert (ended, said, complaint) == (143, "", "contactlab: stopped\n")
    assert [p.name for p in tmp_path.iterdir()] == ["ball.toml"]


def test_a_signal_before_the_first_step_stops_at_once(scene, capsys, monkeypatch):
    monkeypatch.setattr(cli, "load", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    assert call(capsys, "run", scene, "--until", "1") == (143, "", "contactlab: stopped\n")


def test_a_signal_that_was_switched_off_stays_off(scene, tmp_path, capsys, monkeypatch):
    """As by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        signal_at(monkeypatch, 10, signal.SIGHUP)
        assert call(capsys, "run", scene, "--until", "0.1")[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


# ------------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("name", ["path.npz", "path.csv"])
def test_an_existing_file_is_overwritten_only_by_force(scene, tmp_path, capsys, name):
    out = tmp_path / name
    out.write_text("precious")
    arguments = ["run", scene, "--until", "0.01", "--out", out]
    assert call(capsys, *arguments) == (2, "", f"contactlab: --out: {out} exists; --force overwrites it\n")
    assert out.read_text() == "precious"
    assert call(capsys, *arguments, "--force")[0] == 0 and rows_in(out) == 3


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 2)])
def test_a_user_at_a_terminal_is_asked_before_a_file_is_overwritten(scene, tmp_path, answer, status):
    out = tmp_path / "path.csv"
    out.write_text("precious")
    main, terminal = os.openpty()
    code = "from contactlab.app.command_line.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, "run", scene, "--until", "0.01", "--out", out],
                               stdin=terminal, stderr=terminal, stdout=subprocess.PIPE)
    os.close(terminal)
    said = b""
    while b"?" not in said:
        said += os.read(main, 1000)
    assert f"{out} exists. Overwrite it?".encode() in said.replace(b"\r\n", b"")
    os.write(main, answer.encode() + b"\n")
    assert process.wait() == status
    assert (out.read_text() == "precious") == (answer == "n")
    os.close(main)


@pytest.mark.parametrize("name", ["path.npz", "path.csv"])
def test_a_full_disk_leaves_the_file_that_was_and_says_so(scene, tmp_path, name):
    """Where no file may have more than 20 000 bytes, a run of 4 800 steps is too long for either kind."""
    out = tmp_path / name
    out.write_text("precious")
    code = (
        "import resource; from contactlab.app.command_line.cli import main\n"
        "import contactlab.physics.core.kernel_file as kernels\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000,) * 2)\n"
        "main()\n"
    )
    arguments = ["run", scene, "--until", "20", "--out", out, "--force"]
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == (f"contactlab: {out} could not be written (File too large); "
                             "a file of that name is as it was\n")
    assert out.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ball.toml", name]


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_a_long_run_takes_no_more_memory_than_a_short_one(scene, tmp_path, suffix):
    """Kept in lists, 4 000 rows of two bodies, 27 numbers each, took more than 4 MB; a page of a few kB is left."""
    code = (
        "import sys, tracemalloc\n"
        "from pathlib import Path\n"
        "from contactlab.app.export.trajectory import trajectory\n"
        "from contactlab.physics import Scene, Simulation\n"
        "sim = Simulation(Scene.load(sys.argv[1])); sim.step()\n"
        "with trajectory(Path(sys.argv[2]), sim) as keep:\n"
        "    for _ in range(100): keep()\n"
        "    tracemalloc.start()\n"
        "    for _ in range(4_000): keep()\n"
        "    print(tracemalloc.get_traced_memory()[1])\n"
    )
    out = tmp_path / f"long{suffix}"
    result = subprocess.run([sys.executable, "-c", code, scene, out], capture_output=True, text=True)
    assert int(result.stdout) < 1e6, result.stderr
    assert rows_in(out) == 4_100


# ------------------------------------------------------------------------------------------------ complaints


@pytest.mark.parametrize(("arguments", "says"), [
    (["run", "nowhere", "--until", "1"], "there is no file and no gallery scene 'nowhere'"),
    (["run", "{scene}"], "--until"),
    (["run", "{scene}", "--until", "soon"], "--until"),
    (["run", "{scene}", "--until", "-1"], "--until must be a time"),
    (["run", "{scene}", "--until", "nan"], "--until must be a time"),
    (["run", "{scene}", "--until", "1", "--every", "0"], "--every"),
    (["run", "{scene}", "--until", "1", "--out", "x.txt"], "--out must end in .npz or .csv, not 'x.txt'"),
    (["run", "{scene}", "--until", "1", "--out", "/nowhere/x.npz"], "there is no folder /nowhere"),
    (["run", "{scene}", "--until", "1", "--out", "{folder}"], "folder.csv is a folder"),
    (["run", "{scene}", "--until", "1", "--out", "x" * 300 + ".csv"], "File name too long"),
    (["run", "{scene}", "--until", "1.1e9"], "--until must be a time from 0 to 1e+09 s"),
    (["run", "{scene}", "--until", "1", "--set", "restitution=2"], "restitution must be a number from 0 to 1, not 2"),
    (["run", "{scene}", "--until", "1", "--set", "restitution"], "--set takes NAME=VALUE, not 'restitution'"),
    (["run", "{scene}", "--until", "1", "--set", "colour=1"], "there is no setting 'colour'"),
    (["run", "{scene}", "--until", "1", "--h", "0"], "h must be a number from 1e-6 to 0.1"),
    (["run", "{scene}", "--until", "1", "--integrator", "verlet"], "integrator must be one of euler"),
    (["run", "{scene}", "--until", "1", "--solver", "x"], "solver must be one of"),
    (["run", "{scene}", "--until", "1", "--method", "x"], "method must be one of"),
    (["run", "{scene}", "--until", "1", "--bogus"], "--bogus"),
    (["run", "{bad}", "--until", "1"], "bad.toml"),
    (["run", "{text}", "--until", "1"], "notes.txt"),
    (["run", "{mesh}", "--until", "1"], "no whole OBJ file"),  # found where the scene is built
    (["export", "{mesh}", "-o", "x.html"], "no whole OBJ file"),
    (["record", "{mesh}", "-o", "x.gif"], "no whole OBJ file"),
    (["sweep", "{mesh}", "--vary", "friction=0,1", "-o", "x.csv", "--workers", "0"], "no whole OBJ file"),
    (["answers", "{text}"], "notes.txt: Not a directory"),
    (["record", "{scene}", "-o", "x.avi"], "--out must end in .mp4"),
    (["record", "{scene}", "-o", "x.mp4", "--size", "big"], "--size must be WIDTHxHEIGHT"),
    (["record", "{scene}", "-o", "x.mp4", "--camera", "1,2"], "--camera must be distance,azimuth,elevation"),
    (["record", "{scene}", "-o", "x.mp4", "--seconds", "0"], "--seconds must be a time"),
    (["record", "{scene}", "-o", "x.mp4", "--set", "friction=-1"], "friction must be a number from 0"),
    (["nowhere.toml"], "there is no file and no gallery scene 'nowhere.toml'"),
    (["{scene}", "--set", "friction=-1"], "friction must be a number from 0"),
    (["{scene}", "{scene}"], "unexpected extra argument"),
])
def test_bad_input_is_one_sentence_and_status_two(arguments, says, scene, tmp_path, capsys):
    (tmp_path / "bad.toml").write_text('[[body]]\nname = "a"\nmass = -1.0\n')
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "broken.obj").write_text("v 1 2\nf 1 2 3\n")
    shape = '[[body]]\nname = "a"\n[[body.shape]]\ntype = "mesh"\nfile = "broken.obj"\n'
    (tmp_path / "mesh.toml").write_text(shape)
    (tmp_path / "folder.csv").mkdir()
    places = {"{scene}": scene, "{folder}": tmp_path / "folder.csv", "{bad}": tmp_path / "bad.toml",
              "{text}": tmp_path / "notes.txt", "{mesh}": tmp_path / "mesh.toml"}
    status, said, complaint = call(capsys, *(places.get(a, a) for a in arguments))
    assert status == 2 and said == ""
    assert complaint.startswith("contactlab: ") and complaint.count("\n") == 1
    assert says in complaint and "Traceback" not in complaint and "fault of this program" not in complaint


def test_a_fault_of_the_program_is_one_sentence_and_status_one(scene, capsys, monkeypatch):
    stop_at(monkeypatch, 0, KeyError("lost"))
    status, _, complaint = call(capsys, "run", scene, "--until", "1")
    assert status == 1
    assert complaint == "contactlab: KeyError: 'lost' (CONTACTLAB_DEBUG=1 shows where)\n"
    monkeypatch.setenv("CONTACTLAB_DEBUG", "1")
    with pytest.raises(KeyError, match="lost"):
        cli.main(["run", str(scene), "--until", "1"])


def test_the_installed_program_complains_the_same_way():
    code = "from contactlab.app.command_line.program import program; program()"
    command = [sys.executable, "-c", code, "run", "nowhere", "--until", "1"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("contactlab: there is no file") and result.stderr.count("\n") == 1


# ------------------------------------------------------------------------------------------------ the app


@pytest.fixture
def opened(monkeypatch):
    """What the window was opened with; no window."""
    calls = []
    window = types.ModuleType("contactlab.app.window.program")
    window.open_window = lambda scene, settings, **_: calls.append((scene, settings))
    monkeypatch.setitem(sys.modules, "contactlab.app.window.program", window)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(machine, "loads", lambda library: True)
    return calls


def test_no_argument_opens_the_first_gallery_scene(opened, capsys):
    assert call(capsys)[0] == 0
    assert opened == [(Scene.load(next(iter(gallery().values()))), {})]


@pytest.mark.parametrize("words", [
    ["{file}"], ["open", "{file}"], ["{file}", "--set", "friction=0.1", "--h", "0.002"],
    ["--set", "friction=0.1", "--h", "0.002", "{file}"],
])
def test_a_file_alone_is_opened(words, scene, opened, capsys):
    status, _, complaint = call(capsys, *(scene if w == "{file}" else w for w in words))
    assert (status, complaint) == (0, "")
    assert opened == [(Scene.load(scene), {"friction": 0.1, "h": 0.002} if "--h" in words else {})]


def test_a_mesh_or_a_gallery_key_is_opened(tmp_path, opened, capsys):
    (tmp_path / "cube.obj").write_text(CUBE)
    assert call(capsys, tmp_path / "cube.obj")[0] == 0
    assert call(capsys, "tower")[0] == 0
    assert len(opened[0][0].build().labels.bodies) == 2
    assert opened[1][0] == Scene.load(scene_path("tower"))


def test_without_a_display_it_says_so_and_names_the_way_out(scene, opened, capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    status, _, complaint = call(capsys, scene)
    assert status == 1 and opened == []
    assert complaint.count("\n") == 1 and "no display" in complaint and "contactlab record" in complaint


@pytest.mark.parametrize("missing, window_only", [("libGL.so.1", False), ("libXrender.so.1", True)])
def test_without_a_library_it_names_the_packages_as_the_readme_does(
    scene, opened, capsys, monkeypatch, missing, window_only,
):
    monkeypatch.setattr(machine, "loads", lambda library: library != missing)
    monkeypatch.setattr(sys, "platform", "linux")
    status, _, complaint = call(capsys, scene)
    assert status == 1 and opened == [] and complaint.count("\n") == 1 and complaint.count(".so") == 1
    assert missing in complaint
    packages = complaint.split("apt-get install ")[1].strip()
    assert f"python3-venv {packages} &&" in (Path(__file__).parents[2] / "README.md").read_text()
    if not window_only:
        status, _, complaint = call(capsys, "record", scene, "-o", "x.mp4")
        assert status == 1 and "apt-get install libgl1 libegl1 libgl1-mesa-dri" in complaint


def test_record_hands_everything_on(scene, tmp_path, capsys, monkeypatch):
    calls = []
    monkeypatch.setattr("contactlab.app.record.recorder.record",
                        lambda run, out, film, progress, say: (progress(0.5), calls.append((run, out, film))))
    monkeypatch.setattr(machine, "loads", lambda library: True)
    out = tmp_path / "out.mp4"
    status, said, complaint = call(
        capsys, "record", scene, "--seconds", "2", "--size", "640x360", "--fps", "30", "-o", out, "--panels",
        "--camera", "3,-60,20", "--speed", "0.5", "--set", "restitution=none", "--compare", "time_stepping,compliant")
    assert (status, complaint) == (0, "") and str(out) in said
    view = ViewTable(at=0.0, distance=3.0, azimuth=-60.0, elevation=20.0)
    table = VideoTable(until=2.0, size=(640, 360), rate=30, speed=0.5, panels=True, view=(view,),
                       compare=("time_stepping", "compliant"))
    assert calls == [(Run(Scene.load(scene), {"restitution": None}), out, Film(table))]


def test_scenes_lists_the_gallery(capsys):
    status, said, _ = call(capsys, "scenes")
    assert status == 0
    for key, path in gallery().items():
        assert key in said and Scene.load(path).title.split()[0] in said


#: hides what is installed of the program itself, then runs it as `python -m contactlab` does
NOT_INSTALLED = """
import importlib.metadata as metadata, runpy
found = metadata.distribution
def distribution(name):
    if name == "contactlab":
        raise metadata.PackageNotFoundError(name)
    return found(name)
metadata.distribution = distribution
runpy.run_module("contactlab", run_name="__main__", alter_sys=True)
"""


def test_a_clone_that_is_not_installed_knows_its_version(tmp_path):
    """As from a folder with a link to it, `contactlab`, in PYTHONPATH; one that is installed says the same."""
    root = Path(__file__).parents[2]
    (tmp_path / "contactlab").symlink_to(root)
    told = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for words in ((sys.executable, "-c", NOT_INSTALLED), (sys.executable, "-m", "contactlab")):
        done = subprocess.run([*words, "--version"], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"contactlab {told['project']['version']}\n"), done.stderr


@pytest.mark.parametrize(("installed", "cloned", "said", "to_do"), [
    ("1.2", None, "1.2", False), ("1.2", "1.3", "1.3, the clone in", False),
    (None, "1.3", "1.3, the clone in", True), (None, None, "unknown version, in", True),
])
def test_doctor_says_which_version_runs_from_where(tmp_path, monkeypatch, installed, cloned, said, to_do):
    def found(name):
        if name == "contactlab" and installed is None:
            raise PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(version_module, "version", found)
    monkeypatch.setattr(version_module, "CLONE", tmp_path)
    if cloned:
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "contactlab"\nversion = "{cloned}"\n')
    program = next(examine())
    assert program.what == "contactlab" and program.found.startswith(said) and bool(program.remedy) == to_do
    assert not program.needed
