"""Drops a file on a window as a file manager does: the source's side of XDND version 5 (freedesktop.org, 2005)."""

import time
from pathlib import Path

from Xlib import X, Xatom, display
from Xlib.protocol import event
from Xlib.xobject.drawable import Window

VERSION = 5
PATIENCE = 30.0  # [s]


def drop_file(screen: str, window: int, place: tuple[int, int], path: Path, more_types: int):
    """Offer `path` as text/uri-list at a place of the screen and let go; returns when the target says it has it.

    more_types: other types offered besides; more than two are listed in a property instead of the message.
    """
    server = display.Display(screen)
    try:
        source = server.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        target = server.create_resource_object("window", window)
        uris = server.intern_atom("text/uri-list")
        types = [uris, *(server.intern_atom(f"application/x-{i}") for i in range(more_types))]
        selection = server.intern_atom("XdndSelection")
        source.set_selection_owner(selection, X.CurrentTime)
        source.change_property(server.intern_atom("XdndTypeList"), Xatom.ATOM, 32, types)
        many = len(types) > 3
        listed = [0, 0, 0] if many else [*types, 0, 0][:3]
        _tell(server, target, "XdndEnter", [source.id, VERSION << 24 | many, *listed])
        copy = server.intern_atom("XdndActionCopy")
        _tell(server, target, "XdndPosition", [source.id, 0, place[0] << 16 | place[1], X.CurrentTime, copy])
        _tell(server, target, "XdndDrop", [source.id, 0, X.CurrentTime, 0, 0])
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if not server.pending_events():
                time.sleep(0.01)
                continue
            asked = server.next_event()
            if asked.type == X.SelectionRequest and asked.target == uris:
                asked.requestor.change_property(asked.property, uris, 8, f"{path.as_uri()}\r\n".encode())
                asked.requestor.send_event(event.SelectionNotify(
                    time=asked.time, requestor=asked.requestor, selection=asked.selection, target=asked.target,
                    property=asked.property))
                server.sync()
                return
        raise AssertionError("the window never asked for the file")
    finally:
        server.close()


def _tell(server: display.Display, target: Window, kind: str, data: list[int]) -> None:
    message = event.ClientMessage(window=target, client_type=server.intern_atom(kind), data=(32, data))
    target.send_event(message)
    server.sync()
