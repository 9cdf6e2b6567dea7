"""Recorded runs: a file holds all of a run, replays it to the last bit, says where it does not, and is whole up to
wherever it was cut."""

import io
import json
import struct
import tracemalloc
import zipfile
import zlib
from dataclasses import replace

import numpy as np
import pytest

from contactlab.assets import scene_path
from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.run import run_file
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.keeper import Keeper
from contactlab.physics.run.log import WATCHED
from contactlab.physics.run.messages import Curve, Settings, Side, Watch
from contactlab.physics.run.run_file import read_run, write_run
from contactlab.physics.simulation.commands import Grab, MoveGrab, Release, Reset, Set
from contactlab.physics.simulation.history import hash_of_state

STEPS, ROWS = 300, 16
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + (
    "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n")
#: commands with their steps
COURSE = {40: Set("friction", 0.1), 60: Grab(0, (-1.0, 0.0, 0.7), (0.0, 0.5, 2.0)), 75: MoveGrab((0.3, 0.5, 2.0)),
          110: Release(), 150: Set("gravity", (1.0, 0.0, -5.0)), 200: Set("h", 1 / 300)}


def balls(restitution=0.8, **extra):
    """Three balls, one above another, and a fourth beside them, over a floor."""
    places = [(-1.0, 0.0, 0.7), (0.0, 0.0, 0.7), (0.01, 0.0, 1.0), (0.0, 0.01, 1.3)]
    return Scene.from_dict({
        "scene": {"title": "Balls"}, "material": {"default": {"restitution": restitution, "friction": 0.4}},
        "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
                 *({"name": f"ball {k}", "position": list(p), "shape": [{"type": "sphere", "radius": 0.1}]}
                   for k, p in enumerate(places))],
    } | extra)


def bits(run):
    return tuple(hash_of_state(member.simulation.state) for member in run.members)


def lived(scene=None, steps=STEPS, sides=()):
    """A run that was stirred, and the hashes of its states from the first one on."""
    run = Comparison(scene or balls(), {}, ROWS)
    run.compare(sides)
    seen = [bits(run)]
    for step in range(steps):
        if step in COURSE:
            command = COURSE[step]
            run.apply(replace(command, body=1) if isinstance(command, Grab) else command)
        run.step()
        seen.append(bits(run))
    return run, seen


def reopened(run, path, scene=None):
    write_run(path, run.heading if scene is None else run.heading._replace(scene=scene), run.take(everything=True))
    return opened(path)


def opened(path):
    recording = read_run(path)
    return Comparison(recording.scene, {}, ROWS, recording)


def test_a_run_from_a_file_is_the_run_itself(tmp_path):
    """Replayed from its beginning, and reached in any order: states, settings, grabs, events and contact sets."""
    run, seen = lived()
    again = reopened(run, tmp_path / "a.contactlab")
    assert again.reachable() == run.reachable() == (0, STEPS)
    assert again.simulation.known_events(10_000) == run.simulation.known_events(10_000) != []
    np.testing.assert_array_equal(again.members[0].bars.rows, run.members[0].bars.rows)
    for step in range(STEPS):
        assert bits(again) == seen[step]
        again.step()
    assert again.replaying and again.differs is None and not again.replays
    assert again.simulation.event_count == run.simulation.event_count
    for step, friction, grabbed in ((170, 0.1, -1), (20, None, -1), (65, 0.1, 1), (STEPS, 0.1, -1), (0, None, -1)):
        again.seek(step)
        assert bits(again) == seen[step]
        assert again.simulation.settings.friction == friction
        assert again.simulation.loads.grab_body[0] == grabbed
    assert zipfile.ZipFile(tmp_path / "a.contactlab").testzip() is None  # any archiver opens it


def test_at_its_end_a_recorded_run_goes_on_as_the_run_itself_would_have(tmp_path):
    run, _ = lived()
    again = reopened(run, tmp_path / "a.contactlab")
    again.seek(STEPS)
    for _ in range(50):
        run.step()
        again.step()
    assert bits(again) == bits(run)
    again.seek(100)  # what was added is part of the record
    while again.replays:
        again.step()
    assert again.step_count == STEPS + 50 and bits(again) == bits(run)


@pytest.mark.parametrize("step", [0, 1, 63, 64, 90, STEPS - 1])
def test_a_change_in_the_past_begins_a_branch_there(step, tmp_path):
    """It is the run that a fresh simulation makes with the same changes."""
    run, _ = lived()
    again = reopened(run, tmp_path / "a.contactlab")
    again.seek(step)
    again.apply(Set("restitution", 0.1))
    assert not again.replaying
    fresh = Comparison(balls(), {}, ROWS)
    for k in range(step):
        if k in COURSE:
            command = COURSE[k]
            fresh.apply(replace(command, body=1) if isinstance(command, Grab) else command)
        fresh.step()
    fresh.apply(Release())  # a recorded grab ends with the record
    fresh.apply(Set("restitution", 0.1))
    for _ in range(80):
        again.step()
        fresh.step()
    assert bits(again) == bits(fresh)
    assert again.reachable() == (0, step + 80)


def test_reset_of_a_recorded_run_leads_to_its_first_step(tmp_path):
    run, seen = lived()
    again = reopened(run, tmp_path / "a.contactlab")
    again.seek(50)
    again.apply(Reset())
    assert bits(again) == seen[0] and again.reachable() == (0, STEPS)


def test_all_sides_of_a_comparison_are_recorded(tmp_path):
    sides = (Side(Settings()), Side(Settings(method="compliant", h=1 / 720)), Side(Settings(solver="newton")))
    run, seen = lived(sides=sides)
    again = reopened(run, tmp_path / "a.contactlab")
    assert again.reachable() == (0, STEPS)
    for step in (0, 37, 155, 210, STEPS, 64):
        again.seek(step)
        assert bits(again) == seen[step]
    while again.replays:
        again.step()
    assert bits(again) == seen[-1] and again.differs is None
    for _ in range(20):
        run.step()
        again.step()
    assert bits(again) == bits(run)


def test_the_first_step_that_comes_out_otherwise_is_marked(tmp_path):
    """Another restitution changes nothing before the first impact. So the first step that differs is that of the first
    impact, and where recorded states are at hand they count."""
    run, seen = lived()
    impact = next(e for e in run.simulation.known_events(10_000) if e.kind == "impact")
    other = reopened(run, tmp_path / "a.contactlab", scene=balls(restitution=0.8 + 1e-9))
    while other.replays:
        other.step()
    assert other.differs == impact.step
    other.seek(256)  # the first state of a page
    assert bits(other) == seen[256]
    other.seek(255)
    assert bits(other) != seen[255]
    other.step()
    assert bits(other) == seen[256]


def test_a_thinned_history_is_saved_with_all_its_steps(tmp_path):
    run, seen = lived(steps=1)
    run.simulation.record_history(budget=60 * run.simulation.history.keyframes[0].size)
    for _ in range(600):
        run.step()
        seen.append(bits(run))
    first, last = run.reachable()
    assert first > 0
    again = reopened(run, tmp_path / "a.contactlab")
    assert again.reachable() == (first, last) and again.step_count == first
    while again.replays:
        assert bits(again) == seen[again.step_count]
        again.step()
    assert again.differs is None


def test_meshes_travel_in_the_file(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "cube.obj").write_text(CUBE)
    body = {"name": "cube", "position": [0, 0, 1], "shape": [{"type": "mesh", "file": "parts/cube.obj", "scale": 0.2}]}
    scene = Scene.from_dict({"body": [{"fixed": True, "shape": [{"type": "plane"}]}, body]}, tmp_path)
    run, seen = lived(scene, 60)
    write_run(tmp_path / "a.contactlab", run.heading, run.take(everything=True))
    (tmp_path / "parts" / "cube.obj").unlink()
    again = opened(tmp_path / "a.contactlab")
    while again.replays:
        again.step()
    assert bits(again) == seen[-1] and again.differs is None


def test_a_keeper_writes_what_the_app_would_save(tmp_path):
    sim, twin = Simulation(balls()), Comparison(balls(), {}, ROWS)
    keeper = Keeper(tmp_path / "a.contactlab", sim)
    for step in range(130):
        if step == 70:
            sim.set(friction=0.0)
            twin.apply(Set("friction", 0.0))
        keeper.step()
        twin.step()
    assert [p.name for p in tmp_path.iterdir()] == [f"a{run_file.SUFFIX}.part"]
    keeper.close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.contactlab"]
    again = opened(tmp_path / "a.contactlab")
    assert again.simulation.known_events(1000) == twin.simulation.known_events(1000)
    np.testing.assert_array_equal(again.members[0].bars.rows, twin.members[0].bars.rows)
    while again.replays:
        again.step()
    assert bits(again) == bits(twin) and again.differs is None


# -------------------------------------------------------------------------------------------------- bad files


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a file, and the hashes of the run in it."""
    run, seen = lived(steps=200)
    path = tmp_path_factory.mktemp("runs") / "a.contactlab"
    write_run(path, run.heading, run.take(everything=True))
    return path.read_bytes(), seen


def refusal(path, data):
    """The sentence in which a file is refused."""
    path.write_bytes(data)
    with pytest.raises(SceneError) as refused:
        read_run(path)
    said = str(refused.value)
    assert said.startswith(path.name) and said.endswith(".") and said.count("\n") == 0 and len(said) < 300
    assert "Error" not in said and "Traceback" not in said
    return said


def is_a_prefix_or_refused(path, data, seen):
    """How many steps of the run it holds; -1 where it is refused."""
    path.write_bytes(data)
    try:
        run = opened(path)
    except SceneError as error:
        assert str(error).count("\n") == 0
        return -1
    end = run.reachable()[1]
    run.seek(end)
    assert run.reachable()[0] == 0 and bits(run) == seen[end] and run.differs is None
    return end


def test_wherever_a_file_is_cut_all_before_is_there(whole, tmp_path):
    data, seen = whole
    cuts = np.linspace(0, len(data), 60).astype(int)
    held = [is_a_prefix_or_refused(tmp_path / "a.contactlab", data[:cut], seen) for cut in cuts]
    assert held == sorted(held) and held[0] == -1 and held[-1] == 200
    assert len(set(held)) == 5  # refused, and 1 to 4 pages
    path = tmp_path / "cut.contactlab"
    path.write_bytes(data[: len(data) // 2])
    assert "cut off" in read_run(path).notes[0]


def test_whatever_byte_is_damaged_a_file_tells_nothing_wrong(whole, tmp_path):
    data, seen = whole
    random = np.random.default_rng(3)
    held = []
    for _ in range(150):
        damaged = bytearray(data)
        damaged[random.integers(len(data))] ^= int(random.integers(1, 256))
        held.append(is_a_prefix_or_refused(tmp_path / "a.contactlab", bytes(damaged), seen))
    assert -1 in held and 200 in held


def repacked(data, changed):
    """The file with entries replaced by name, or added; None leaves one out."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        entries = {name: source.read(name) for name in source.namelist()} | changed
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in sorted(entries.items(), key=lambda entry: (entry[0][:1].isdigit(), entry[0])):
            if content is not None:
                target.writestr(name, content)
    return out.getvalue()


def told(data, **changes):
    """The manifest with changes."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        return json.dumps(json.loads(source.read("manifest.json")) | changes)


def page(data, change):
    """The first page with its first side changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        text = json.loads(source.read("000000.json"))
    change(text["sides"][0])
    return {"000000.json": json.dumps(text)}


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip", b"\0" * 5000, bytes(range(256)) * 40])
def test_what_is_no_recorded_run_is_refused(content, tmp_path):
    assert "is not a recorded run" in refusal(tmp_path / "a.contactlab", content)


def test_a_file_of_a_later_version_says_whose_it_is(whole, tmp_path):
    changed = told(whole[0], **{run_file.FORMAT_KEY: run_file.FORMAT + 1, "versions": {"contactlab": "9.1"}})
    assert "Contactlab 9.1" in refusal(tmp_path / "a.contactlab", repacked(whole[0], {"manifest.json": changed}))
    changed = told(whole[0], state=["t <f8"])
    assert "cannot read" in refusal(tmp_path / "a.contactlab", repacked(whole[0], {"manifest.json": changed}))


@pytest.mark.parametrize("name", ["files/../../up.obj", "files/..", "../up.obj", "files/C:\\up.obj", "/files/up.obj"])
def test_a_file_writes_nothing_outside(name, whole, tmp_path):
    assert "outside" in refusal(tmp_path / "a.contactlab", repacked(whole[0], {name: CUBE}))
    assert not list(tmp_path.parent.rglob("up.obj"))


def test_a_bomb_is_refused_before_it_goes_off(whole, tmp_path):
    """Two GiB of zeros in 2 MiB: an entry that says so, and one that lies about its size."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    zeros = squeeze.compress(bytes(2**24)) + squeeze.flush(zlib.Z_FULL_FLUSH)  # which refers to nothing before it
    packed = 128 * zeros + squeeze.flush()
    for size in (2**31, 1000):
        head = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(packed), size, len("scene.toml"), 0)
        tracemalloc.start()
        refusal(tmp_path / "a.contactlab", head + b"scene.toml" + packed)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
        tracemalloc.stop()


@pytest.mark.parametrize("change", [
    lambda side: side.update(step=-1), lambda side: side.update(count=10**9), lambda side: side.update(step="0"),
    lambda side: side.update(hashes="zz"), lambda side: side.update(hashes=""), lambda side: side.update(inputs=[]),
    lambda side: side["shapes"][1].append(4), lambda side: side["shapes"].pop(), lambda side: side.pop("events"),
    lambda side: side["shapes"].__setitem__(1, [10**6, 3]), lambda side: side.update(marks=[[0, 0, 0]]),
    lambda side: side["inputs"][0]["settings"].update(h=0.0), lambda side: side["inputs"][0]["settings"].update(h=None),
    lambda side: side["inputs"][0]["settings"].update(method="magic"),
    lambda side: side["inputs"][0]["settings"].update(speed=2.0),
    lambda side: side["inputs"][0].update(loads={"grab_body": [[0, 77]]}),
    lambda side: side["inputs"][0].update(loads={"force": [[10**6, 1.0]]}),
    lambda side: side["inputs"][0].update(loads={"force": [[0, float("nan")]]}),
    lambda side: side["inputs"][0].update(loads={"magic": []}),
    lambda side: side.update(bars={"since": 0.0, "rows": 10**5}),
    lambda side: side.update(events=[{"kind": "impact", "step": 1, "t": 0.0, "bodies": [0, 99]}]),
])
def test_a_page_that_is_not_of_its_scene_is_refused(change, whole, tmp_path):
    refusal(tmp_path / "a.contactlab", repacked(whole[0], page(whole[0], change)))


def test_a_state_that_kernels_must_not_see_is_refused(whole, tmp_path):
    with zipfile.ZipFile(io.BytesIO(whole[0])) as source:
        numbers = bytearray(source.read("000000.bin"))
    struct.pack_into("<d", numbers, 8, np.nan)  # x of the first body: the time comes first
    refusal(tmp_path / "a.contactlab", repacked(whole[0], {"000000.bin": bytes(numbers)}))


def test_a_page_nested_beyond_reason_is_refused(whole, tmp_path):
    deep = b'{"sides":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    refusal(tmp_path / "a.contactlab", repacked(whole[0], {"000000.json": deep}))


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    run, _ = lived(steps=3)
    (tmp_path / "a.contactlab").mkdir()
    with pytest.raises(OSError):
        write_run(tmp_path / "a.contactlab", run.heading, run.take(everything=True))
    assert [p.name for p in tmp_path.iterdir()] == ["a.contactlab"]


@pytest.mark.parametrize("name", ["linkages", "walking_toy"])
def test_scenes_with_joints_are_recorded_too(name, tmp_path):
    run = Comparison(Scene.load(scene_path(name)), {}, ROWS)
    for _ in range(70):
        run.step()
    again = reopened(run, tmp_path / "a.contactlab")
    while again.replays:
        again.step()
    assert bits(again) == bits(run) and again.differs is None


@pytest.mark.parametrize("sides", [(), (Side(Settings()), Side(Settings(h=1 / 480)))])
def test_an_opened_run_has_all_its_curves_before_it_is_replayed(sides, tmp_path):
    """Energies and forces, to the last bit: states are kept, and steps are made once more."""
    watch = Watch((Curve("height", 1), Curve("contact_force", 1)))
    run = Comparison(balls(), {}, 1000)
    if sides:
        run.compare(sides)
    run.look_at(watch)
    for _ in range(200):
        run.step()
    write_run(tmp_path / "a.contactlab", run.heading, run.take(everything=True))
    recording = read_run(tmp_path / "a.contactlab")
    again = Comparison(recording.scene, {}, 1000, recording)
    again.look_at(watch)
    again.recall(lambda: False)
    assert again.step_count == 0 and not again.recalling
    for mine, other in zip(again.members, run.members, strict=True):
        assert len(mine.curves) == 201 and mine.curves[:, WATCHED + 1].max() > 0.0
        assert mine.curves[1:, 1:].tobytes() == other.curves[1:, 1:].tobytes()
        assert np.abs(mine.curves[:, 0] - other.curves[:, 0]).max() < 1e-12
