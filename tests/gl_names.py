"""How many objects of OpenGL there are in the context in use, by asking OpenGL itself for every name."""

import ctypes

KINDS = ("Buffer", "Texture", "Framebuffer", "Renderbuffer", "Program", "Shader", "VertexArray")
MOST_NAMES = 20_000  # drivers give the smallest free name


def gl_names() -> dict[str, int]:
    """The number of objects of each kind."""
    library = ctypes.CDLL("libGL.so.1")
    found = {}
    for kind in KINDS:
        ask = getattr(library, f"glIs{kind}")
        ask.restype = ctypes.c_ubyte
        found[kind] = sum(map(ask, range(1, MOST_NAMES)))
    return found
