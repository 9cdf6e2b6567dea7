"""The window: input, frames, and what mouse and keys do."""

import pyglet

pyglet.options.shadow_window = False  # a hidden one that others would share their textures with; there is no other
