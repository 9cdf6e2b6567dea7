"""Report: a text for those who can mend a fault. Nothing is sent anywhere; the user copies it and decides. And what the
log says of a state."""

import platform
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from ..physics.core.version import NAME, own_version, version_of
from ..physics.run.messages import Snapshot

LIBRARIES = ("numpy", "scipy", "numba", "imgui-bundle", "pyglet", "moderngl")


def report(
    what: str, where: str, snapshot: Snapshot | None, path: object, commands: Iterable[str], graphics: str = ""
) -> str:
    """what: the fault in a sentence; where: tracebacks; path: file of the scene; commands: the last ones, oldest first;
    graphics: the OpenGL in use."""
    parts = [what or "No fault was noticed.", "", versions(graphics), "", scene(snapshot, path), "",
             "Last commands, oldest first:", *(f"  {line}" for line in commands)]
    return "\n".join([*parts, "", where.strip()]).rstrip() + "\n"


def versions(graphics: str) -> str:
    """The machine and the libraries, a line each."""
    machine = f"Python {platform.python_version()} on {platform.platform()}"
    libraries = (f"{name} {version_of(name) or 'not installed'}" for name in LIBRARIES)
    return "\n".join([machine, f"{NAME} {own_version()}", *libraries, *filter(None, [graphics])])


def scene(snapshot: Snapshot | None, path: object) -> str:
    """The scene, its instant and its settings."""
    if snapshot is None:
        return "No scene was shown."
    s = snapshot
    changed = ", ".join(f"{name} = {value!r}" for name, value in asdict(s.settings).items() if value is not None)
    lines = [f"Scene {s.scene_name} ({path or 'not from a file'}), {len(s.labels.bodies)} bodies, "
             f"{int(s.contacts.count[0])} contacts, {len(s.sides) or 1} side(s)",
             f"Step {s.step}, t = {s.t:.9g} s, {'paused' if s.paused else 'running'}", f"Settings: {changed}"]
    if s.error:
        lines.append(f"Paused because: {s.error}")
    return "\n".join(lines)


def bits_of(bodies: Any) -> str:
    """A hash of the places, turns and velocities of a snapshot's or a state's bodies, to the last bit."""
    return sha256(b"".join(array.tobytes() for array in (bodies.x, bodies.q, bodies.v, bodies.w))).hexdigest()[:16]
