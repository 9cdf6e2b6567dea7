"""Shader files: `#include "name.glsl"` reads shaders/lib, `#define`s come after the version line."""

import ctypes
import re
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

import moderngl
import numpy as np

from ...physics.core.model import Array

INCLUDE = re.compile(r'^[ \t]*#include "([\w.]+)"[ \t]*$', re.MULTILINE)
SOFTWARE = ("llvmpipe", "softpipe", "swiftshader", "software")


class Quality(NamedTuple):
    """What the machine can afford."""

    software: bool
    samples: int      # of multisampling; 0 = smooth the finished picture instead
    shadow_size: int  # of the shadow map [texels]


def quality(ctx: moderngl.Context) -> Quality:
    """Cheap settings where the processor draws, better ones on a GPU."""
    name = ctx.info["GL_RENDERER"].lower()
    if any(word in name for word in SOFTWARE):
        return Quality(True, 0, 768)
    return Quality(False, min(4, ctx.max_samples), 2048)


class Waiting(NamedTuple):
    """OpenGL's calls that wait, without Python's lock: moderngl keeps that while a software renderer works, and the
    physics thread would stand still."""

    flush: Callable[[], object]   # begin to draw what was said so far
    finish: Callable[[], object]  # until it is drawn


def waiting(ctx: moderngl.Context) -> Waiting:
    """Those of the context; where it does not tell them, calls that do nothing."""
    found = getattr(getattr(ctx.mglo, "_context", None), "load_opengl_function", lambda name: 0)
    addresses = found("glFlush"), found("glFinish")
    return Waiting(*(ctypes.CFUNCTYPE(None)(address) if address else lambda: None for address in addresses))


def source(name: str, defines: tuple[str, ...] = ()) -> str:
    """Text of shaders/`name` with its includes in place, each once."""
    folder = files("contactlab.shaders")
    seen: set[str] = set()

    def included(match: re.Match[str]) -> str:
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return INCLUDE.sub(included, folder.joinpath("lib", match[1]).read_text(encoding="utf-8"))

    text = INCLUDE.sub(included, folder.joinpath(name).read_text(encoding="utf-8"))
    version, _, rest = text.partition("\n")
    return "\n".join([version, *(f"#define {d}" for d in defines), rest])


def load(ctx: moderngl.Context, vertex: str, fragment: str, *defines: str) -> moderngl.Program:
    """Compile shaders/`vertex` and shaders/`fragment`; SOFTWARE and CONSERVATIVE are defined where they hold.

    The block Frame is bound to 0, samplers read texture unit 0.
    """
    affordable = quality(ctx)
    if affordable.software:
        defines += ("SOFTWARE",)
    if "GL_ARB_conservative_depth" in ctx.extensions:
        defines += ("CONSERVATIVE",)
    program = ctx.program(vertex_shader=source(vertex, defines), fragment_shader=source(fragment, defines))
    if "Frame" in program:
        block = program["Frame"]
        assert isinstance(block, moderngl.UniformBlock)
        block.binding = 0
    return program


def write_matrix(program: moderngl.Program, name: str, matrix: Array) -> None:
    """Set a mat3 or mat4 uniform."""
    uniform = program[name]
    assert isinstance(uniform, moderngl.Uniform)
    uniform.write(np.ascontiguousarray(matrix.T, np.float32).tobytes())


def attributes(program: moderngl.Program, buffer: moderngl.Buffer, fields: tuple[tuple[str, int], ...],
               per_instance: bool = False) -> tuple[object, ...]:
    """An entry of `vertex_array`: float fields (name, count) of a row of `buffer`, without those that the compiler
    found unused."""
    parts = [f"{count}f" if name in program else f"{4 * count}x" for name, count in fields]
    names = [name for name, _ in fields if name in program]
    return buffer, " ".join(parts) + ("/i" if per_instance else ""), *names


class GlOwner:
    """Makes things in a context, and gives them all back."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._owned: list = []

    def own(self, thing):
        self._owned.append(thing)
        return thing

    def release(self) -> None:
        for thing in reversed(self._owned):
            thing.release()
        self._owned = []
