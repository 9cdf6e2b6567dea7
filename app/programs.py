"""Shader files: `#include "name.glsl"` reads shaders/lib, `#define`s come after the version line."""

import re
from importlib.resources import files

import moderngl

INCLUDE = re.compile(r'^[ \t]*#include "([\w.]+)"[ \t]*$', re.MULTILINE)


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


def load(ctx: moderngl.Context, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> moderngl.Program:
    """Compile shaders/`vertex` and shaders/`fragment`; the block Frame is bound to 0."""
    program = ctx.program(vertex_shader=source(vertex, defines), fragment_shader=source(fragment, defines))
    for name in ("Frame",):
        block = program.get(name, None)
        if isinstance(block, moderngl.UniformBlock):
            block.binding = 0
    return program
