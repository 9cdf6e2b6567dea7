"""What `contactlab doctor` looks at: all that the app needs of a machine, and what to do where it is missing."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from ...physics.core import jit
from ...physics.core.kernel_file import DAMAGED
from ...physics.core.team import VARIABLE, threads
from ...physics.core.version import CLONE, NAME, clone_version, own_version, version_of
from .. import machine
from ..preferences import SETTINGS, faults

LIBRARIES = ("numpy", "scipy", "numba", "pyglet", "moderngl", "imgui-bundle", "trimesh", "coacd", "pydantic", "av",
             "pillow")
FONTS = ("Roboto-Regular.ttf", "Roboto-Bold.ttf", "Symbols.ttf", "Icons.otf")
DIALOGS = ("zenity", "kdialog", "matedialog", "qarma")
DRIVER_PATIENCE = 60.0  # [s] for a context of OpenGL

#: A driver may end the process: contexts are made in one of their own, which prints what draws. One is without a
#: window, as videos need it, the other is a window's.
CONTEXT = "print(context.info['GL_RENDERER'], 'with OpenGL', context.info['GL_VERSION'].split()[0])"
OFFSCREEN = f"from contactlab.app.view.offscreen import create_context; context = create_context(); {CONTEXT}"
WINDOW = f"""
import moderngl, pyglet
config = pyglet.gl.Config(double_buffer=True, major_version=3, minor_version=3)
window = pyglet.window.Window(64, 64, visible=False, config=config)
context = moderngl.create_context(require=330); {CONTEXT}
"""


class Finding(NamedTuple):
    """One thing looked at. `remedy`: what to do, where something is wrong or could be better. `needed`: without it the
    app, or videos, cannot be had."""

    what: str
    found: str
    remedy: str = ""
    needed: bool = False


def examine() -> Iterator[Finding]:
    """Look at everything, one by one; making contexts of OpenGL takes seconds."""
    yield _program()
    yield Finding("Python", f"{platform.python_version()} on {platform.platform()}")
    yield from map(_library, LIBRARIES)
    yield _system_libraries()
    yield _opengl("videos", OFFSCREEN)
    if machine.has_display():
        yield _opengl("window", WINDOW)
    else:
        yield Finding("window", "no display", "the app needs a screen (DISPLAY or WAYLAND_DISPLAY); "
                      "`contactlab record` and `contactlab run` do not")
    yield from map(_encoder, ("libx264", "libvpx-vp9", "gif"))
    yield _fonts()
    yield _cache()
    yield Finding("threads", f"{threads()} share a step of many bodies; {VARIABLE} sets how many")
    yield _settings()
    yield _mjcf()
    yield _dialog()


def _program() -> Finding:
    if version_of(NAME) is not None:
        where = f", the clone in {CLONE}" if clone_version() is not None else ""
        return Finding(NAME, own_version() + where)
    if clone_version() is not None:
        return Finding(NAME, f"{own_version()}, the clone in {CLONE}; it is not installed",
                       f"for the command `contactlab`: pip install -e {CLONE}")
    return Finding(NAME, f"{own_version()} version, in {CLONE}; it is not installed and no clone",
                   "install its wheel, or a clone with its pyproject.toml")


def _library(name: str) -> Finding:
    found = version_of(name)
    return Finding(name, found) if found else Finding(name, "not installed", f"pip install {name}", needed=True)


def _system_libraries() -> Finding:
    try:
        machine.require_libraries(window=True)
    except machine.Unavailable as missing:
        found, _, remedy = str(missing).partition("; ")
        return Finding("system libraries", found, remedy, needed=True)
    return Finding("system libraries", "all there")


def _opengl(what: str, code: str) -> Finding:
    try:
        tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DRIVER_PATIENCE)
    except subprocess.TimeoutExpired:
        return Finding(f"OpenGL, {what}", "the driver does not answer", "another driver", needed=True)
    if tried.returncode:
        reason = (tried.stderr.strip() or f"the driver ended the process, status {tried.returncode}").splitlines()[-1]
        return Finding(f"OpenGL, {what}", reason, "a driver of OpenGL 3.3; on Debian and Ubuntu: apt-get install "
                       f"{' '.join(machine.GRAPHICS.values())} {machine.DRIVERS}", needed=True)
    drawn = tried.stdout.strip()
    slow = "this draws without a graphics card, and slowly" if "llvmpipe" in drawn or "softpipe" in drawn else ""
    return Finding(f"OpenGL, {what}", drawn, slow)


def _encoder(name: str) -> Finding:
    from av.codec import Codec

    try:
        Codec(name, "w")
    except ValueError:
        return Finding(f"encoder {name}", "missing", "pip install --force-reinstall --only-binary av av", needed=True)
    return Finding(f"encoder {name}", "there")


def _fonts() -> Finding:
    folder = files("contactlab.assets").joinpath("fonts")
    missing = [name for name in FONTS if not folder.joinpath(name).is_file()]
    if missing:
        remedy = "pip install --force-reinstall contactlab"
        return Finding("fonts", f"without {', '.join(missing)}", remedy, needed=True)
    return Finding("fonts", ", ".join(FONTS))


def _cache() -> Finding:
    from ...physics.run.warm_up import kernels_cached

    home, damaged = jit.CACHE_HOME, len(list(jit.CACHE_HOME.rglob("*" + DAMAGED)))
    if not _can_write(home):
        return Finding("kernel cache", f"{home} cannot be written",
                       "every start compiles for a minute; set XDG_CACHE_HOME to a folder that can be written")
    state = "all compiled" if kernels_cached() else f"{jit.cached_kernels()} of {len(jit.KERNELS)} compiled"
    aside = f"; {damaged} damaged files were set aside" if damaged else ""
    return Finding("kernel cache", f"{home}: {state}{aside}")


def _settings() -> Finding:
    if not _can_write(SETTINGS.parent):
        return Finding("settings", f"{SETTINGS} cannot be written",
                       "settings are forgotten; set XDG_CONFIG_HOME to a folder that can be written")
    wrong = faults(SETTINGS)
    return Finding("settings", f"{SETTINGS}: damaged ({wrong})" if wrong else str(SETTINGS),
                   "the next start sets the file aside" if wrong else "")


def _can_write(folder: Path) -> bool:
    """Whether the folder, or the first one above it that exists, can be written."""
    there = next((p for p in (folder, *folder.parents) if p.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK)


def _mjcf() -> Finding:
    found = version_of("mujoco")
    return Finding("mujoco", found or "not installed", "" if found else "to open MJCF files: pip install mujoco")


def _dialog() -> Finding:
    found = next(filter(shutil.which, DIALOGS), None)
    if sys.platform != "linux" or found:
        return Finding("file dialog", found or "the system's")
    return Finding("file dialog", "the app's own box", "for the system's: apt-get install zenity")
