"""pyglet's window, with what it lacks to have files dropped on it."""

from typing import Any

import pyglet


class DropWindow(pyglet.window.Window):
    """Takes files from any source."""

    def _event_drag_enter(self, ev: Any) -> None:
        """X11: something is dragged over the window. pyglet 2.1 raises where the source offers three types or fewer: it
        lists them in the message itself instead of a property, at data.l[2] and after [XDND 5, XdndEnter]."""
        source, flags, *listed = ev.xclient.data.l
        if flags & 1:
            super()._event_drag_enter(ev)
            return
        names = self._xdnd_atoms["text/uri-list"]
        self._xdnd_source, self._xdnd_version = source, flags >> 24
        self._xdnd_format = names if names in listed else None
