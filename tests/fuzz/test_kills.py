"""kill -9 at moments of chance, while a run is recorded, files are saved and a mesh is taken apart: less than a second
is lost, every file has its old content or its new one, whole, and no process goes on."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import trimesh
from effort import either

sys.path.append(str(Path(__file__).parents[1] / "kernels"))
from test_journal import kill_one
from test_recording import balls
from test_warm_up import running

from contactlab.app.preferences import Preferences
from contactlab.physics import Scene, open_file
from contactlab.physics.core.held_folder import PREFIX, remove_scratch
from contactlab.physics.run.run_file import read_run
from contactlab.physics.scene import parts

KILLS = either(2, 50)
STEPS = 80
#: Saves a run, a record of one that goes on, a trajectory, a scene and settings again and again
PROGRAM = """
import sys
from pathlib import Path
from test_recording import balls
from contactlab.app.preferences import Preferences
from contactlab.app.export.trajectory import trajectory
from contactlab.physics import Simulation
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.keeper import Keeper
from contactlab.physics.run.run_file import write_run
folder, steps = Path(sys.argv[1]), int(sys.argv[2])
run, round = Comparison(balls(), {}, 16), 0
for _ in range(steps):
    run.step()
while True:
    write_run(folder / "saved.contactlab", run.heading, run.take(everything=True))
    simulation = Simulation(balls())
    keeper = Keeper(folder / "kept.contactlab", simulation)
    with trajectory(folder / "t.npz", simulation) as note:
        for _ in range(steps):
            keeper.step()
            note()
    keeper.close()
    balls().save(folder / "scene.toml")
    Preferences(width=1000 + round).save(folder / "settings.json")
    print(round, flush=True)
    round += 1
"""
#: Takes a mesh apart
APART = """
import sys
from pathlib import Path
from contactlab.physics import open_file
from contactlab.physics.scene import parts
parts.PARTS_HOME = Path(sys.argv[1])
open_file(Path(sys.argv[2]), collide="parts").build()
print("done", flush=True)
"""


def test_a_killed_run_is_offered_up_to_less_than_a_second_before(tmp_path):
    lost = [kill_one(seed, tmp_path) for seed in range(100, 100 + KILLS)]
    print(f"{KILLS} kills, at most {max(lost):.2f} s lost")


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_file_that_a_kill_interrupts_is_the_old_one_or_the_new_one(seed, tmp_path):
    here = Path(__file__).parents[1]
    paths = os.pathsep.join([str(here), str(here / "kernels"), *sys.path])
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), str(STEPS)], stdout=subprocess.PIPE,
                               env=os.environ | {"PYTHONPATH": paths})
    assert program.stdout is not None and program.stdout.readline() == b"0\n"
    time.sleep(np.random.default_rng(seed).uniform(0.0, 0.5))
    program.send_signal(signal.SIGKILL)
    rounds = 1 + len(program.stdout.read().split())
    program.wait()
    for name in ("saved.contactlab", "kept.contactlab"):
        recording = read_run(tmp_path / name)
        assert recording.notes == () and recording.tracks[0].history.last == STEPS - 1
    with np.load(tmp_path / "t.npz") as table:
        assert len(table["t"]) == STEPS
    assert Scene.load(tmp_path / "scene.toml") == balls()
    kept, damage = Preferences.load(tmp_path / "settings.json")
    assert damage == "" and 1000 + rounds - 1 <= kept.width <= 1000 + rounds


def at_work(folder):
    """Processes that were given a path below the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (entry / "cmdline").read_bytes() and running(int(entry.name)):
                found.append(entry.name)
    return found


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_kill_while_a_mesh_is_taken_apart_leaves_no_process_and_all_parts_or_none(seed, tmp_path, monkeypatch):
    profile = [[0, 0], [0.05, 0], [0.05, 0.1], [0.044, 0.1], [0.044, 0.006], [0, 0.006]]
    mesh, home = tmp_path / "cup.stl", tmp_path / "parts"
    trimesh.creation.revolve(np.array(profile), sections=8).export(mesh)
    program = subprocess.Popen([sys.executable, "-c", APART, str(home), str(mesh)], stdout=subprocess.PIPE,
                               env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)})
    assert program.stdout is not None
    while len(at_work(tmp_path)) < 2:
        assert program.poll() is None
    time.sleep(np.random.default_rng(seed).uniform(0.0, 3.0))
    program.send_signal(signal.SIGKILL)
    done = program.stdout.read() != b""
    program.wait()
    end = time.monotonic() + 2.0
    while at_work(tmp_path):
        assert time.monotonic() < end
        time.sleep(0.05)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for folder in tmp_path.glob(f"{PREFIX}*"):
        os.utime(folder, (0.0, 0.0))
    remove_scratch(time.time())
    assert list(tmp_path.glob(f"{PREFIX}*")) == []
    monkeypatch.setattr(parts, "PARTS_HOME", home)
    monkeypatch.setattr(parts, "WORKER", tmp_path / "none.py")
    (tmp_path / "again").mkdir()
    notes = open_file(mesh.rename(tmp_path / "again" / mesh.name), collide="parts").build().labels.notes
    found = not any("cannot be taken apart" in note for note in notes)
    assert found == any(home.glob("*.npz")) and found >= done
