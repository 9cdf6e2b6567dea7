"""Whether two versions of the engine walk through the same states, bit for bit.

    python tests/benchmarks/same_bits.py against COMMIT [--steps 60] [--patience 20] [--scenes dice chain]
    python tests/benchmarks/same_bits.py record FILE.npz
    python tests/benchmarks/same_bits.py compare BEFORE.npz AFTER.npz [--close 1e-10]

Every gallery scene makes 60 steps with every method, scenes with joints in both coordinates; every array of the state
is compared after every step. `against` checks the commit out beside this tree and records both versions on this
machine: floating-point results are only comparable there. `compare` with --close allows positions and velocities to
differ by that much, relative to the largest of their kind, for changes that alter the order of rounding. A run that
takes longer than the patience [s] is compared as far as both versions came; the last line counts those. Exit status 1
where states differ.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
METHODS = ("time_stepping", "event_driven", "compliant")


def leaves(value: object) -> list[np.ndarray]:
    """All arrays of a tuple of tuples of arrays."""
    if isinstance(value, np.ndarray):
        return [value]
    return [leaf for part in value for leaf in leaves(part)]  # pyright: ignore[reportGeneralTypeIssues]


def digest(state) -> bytes:
    """Of every array of a State. Rows beyond the count of a table are scratch and do not belong to it."""
    found = hashlib.sha256()
    for part in state:
        count = int(part.count[0]) if hasattr(part, "count") and isinstance(part.count, np.ndarray) else None
        for leaf in leaves(part):
            used = leaf if count is None or leaf.shape == (1,) else leaf[:count]
            found.update(str(used.shape).encode() + np.ascontiguousarray(used).tobytes())
    return found.digest()


def walk(scene, method: str, steps: int, patience: float) -> dict[str, np.ndarray]:
    """Digests (s, 32) and motion (s, k) of the states after each step, and how it ended."""
    from contactlab.physics import Simulation
    from contactlab.physics.simulation.failure import CannotStep

    digests, motion, end = [], [], "done"
    try:
        simulation = Simulation(scene, method=method)
        simulation.step()  # compiles
        simulation = Simulation(scene, method=method)
        begin = time.process_time()
        for _ in range(steps):
            simulation.step()
            state = simulation.state
            digests.append(np.frombuffer(digest(state), np.uint8))
            motion.append(np.concatenate([a.ravel() for a in (*state.bodies[:4], *state.joints)]))
            if time.process_time() - begin > patience:
                end = "patience"
                break
    except (ValueError, CannotStep) as refused:
        end = str(refused)
    bodies = state.bodies[:4] if motion else ()
    sizes = [a.size for a in (*bodies, *(state.joints if motion else ()))]
    return {"digests": np.array(digests).reshape(-1, 32), "motion": np.array(motion), "sizes": np.array(sizes, int),
            "end": np.array(end)}


def record(file: str, steps: int, patience: float, wanted: list[str]) -> None:
    from contactlab.assets import gallery
    from contactlab.physics import Scene

    found = {}
    for name in wanted or gallery():
        scene = Scene.load(gallery()[name])
        versions = {"": scene}
        if len(scene.build().model.joints.type):
            versions = {c: scene.with_coordinates(c) for c in ("generalized", "maximal")}
        for coordinates, version in versions.items():
            for method in METHODS:
                run = "/".join(filter(None, (name, coordinates, method)))
                for key, value in walk(version, method, steps, patience).items():
                    found[f"{run}:{key}"] = value
                print(run, len(found[f"{run}:digests"]), found[f"{run}:end"], flush=True)
    np.savez_compressed(file, **found)


def compare(before: str, after: str, close: float) -> int:
    """Print every run that differs; returns how many do."""
    old, new = np.load(before), np.load(after)
    runs = {name.rpartition(":")[0] for name in (*old, *new)}
    differing = steps = cut = 0
    for run in sorted(runs):
        if f"{run}:end" not in old or f"{run}:end" not in new:
            print(f"{run}: in one version only")
            differing += 1
            continue
        a, b = old[f"{run}:digests"], new[f"{run}:digests"]
        count = min(len(a), len(b))
        steps += count
        ends = str(old[f"{run}:end"]), str(new[f"{run}:end"])
        cut += "patience" in ends
        unequal = np.flatnonzero((a[:count] != b[:count]).any(axis=1))
        if len(unequal):
            off, where = apart(old, new, run, count)
            if off > close:
                print(f"{run}: step {unequal[0] + 1} of {count} differs; after {where + 1} by {off:.1e}")
                differing += 1
                continue
        if ends[0] != ends[1] and "patience" not in ends:
            print(f"{run}: ended with {ends[0]!r}, now {ends[1]!r}")
            differing += 1
    print(f"{len(runs)} runs, {steps} steps compared, {cut} runs cut short by patience, {differing} differ")
    return differing


def apart(old, new, run: str, count: int) -> tuple[float, int]:
    """The largest difference of a quantity, relative to its largest value in the run (1 at least), and its step."""
    a, b = old[f"{run}:motion"][:count], new[f"{run}:motion"][:count]
    ends = np.cumsum(old[f"{run}:sizes"])[:-1]
    worst, where = 0.0, 0
    for p, q in zip(np.split(a, ends, axis=1), np.split(b, ends, axis=1), strict=True):
        if p.size:
            off = np.abs(p - q).max(axis=1) / max(1.0, float(np.abs(p).max()))
            if not off.max() <= worst:
                worst, where = float(off.max()), int(off.argmax())
    return worst, where


def against(commit: str, steps: int, patience: float, wanted: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        tree = place / "before" / "contactlab"
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
        (place / "after").mkdir()
        (place / "after" / "contactlab").symlink_to(ROOT)
        try:
            running = []
            for version in ("before", "after"):
                command = [sys.executable, str(pathlib.Path(__file__)), "record", str(place / f"{version}.npz"),
                           "--steps", str(steps), "--patience", str(patience), "--scenes", *wanted]
                running.append(subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(place / version)}))
            if any(process.wait() for process in running):
                return 1
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)
        return compare(str(place / "before.npz"), str(place / "after.npz"), 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, places in (("against", ["commit"]), ("record", ["file"]), ("compare", ["before", "after"])):
        command = commands.add_parser(name)
        for place in places:
            command.add_argument(place)
        if name == "compare":
            command.add_argument("--close", type=float, default=0.0)
        else:
            command.add_argument("--steps", type=int, default=60)
            command.add_argument("--patience", type=float, default=20.0)
            command.add_argument("--scenes", nargs="*", default=[])
    asked = parser.parse_args()
    if asked.command == "record":
        record(asked.file, asked.steps, asked.patience, asked.scenes)
        return 0
    if asked.command == "compare":
        return int(compare(asked.before, asked.after, asked.close) > 0)
    return int(against(asked.commit, asked.steps, asked.patience, asked.scenes) > 0)


if __name__ == "__main__":
    sys.exit(main())
