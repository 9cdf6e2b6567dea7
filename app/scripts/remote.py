"""The window in a process of its own: for notebooks and the Python prompt, and for scripts with loops of their own.

The simulation stays in the process of the script, on a physics thread like any other. The window's process sees it as
an `Engine`: it asks for the newest snapshot whenever it has got the one before, and sends commands. Model and labels go
over once.
"""

from __future__ import annotations

import io
import os
import pickle
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Client, Listener
from time import perf_counter
from typing import Any

from ...physics import Simulation
from ...physics.core.interruption import look_up
from ...physics.core.model import Labels, Model
from ...physics.run.messages import Command, Snapshot
from ...physics.run.runner import Runner
from ...physics.run.script import Panel, Script, Step, simulation_given
from ..elsewhere import know, own_laws
from ..machine import Unavailable, require_display, require_libraries

OPENING = 60.0  # [s] after which a window that has not come is given up
REST = 0.02     # [s] between two looks for a new snapshot, and at a loop that has not made its step
CODE = f"from {__name__} import show; show()"


class _Pickler(pickle.Pickler):
    """Leaves out the objects of KEPT. sent: those that were known before; kept, so that no other object gets the number
    of one."""

    KEPT = (Model, Labels)

    def __init__(self, buffer: io.BytesIO, sent: dict[int, Any]) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._sent = sent
        self.fresh: dict[int, Any] = {}

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, self.KEPT):
            return None
        if id(obj) not in self._sent:
            self._sent[id(obj)] = self.fresh[id(obj)] = obj
        return id(obj)


class _Packer:
    """Turns snapshots into bytes; objects of KEPT only once."""

    def __init__(self) -> None:
        self._sent: dict[int, Any] = {}

    def pack(self, message: Any) -> tuple[dict[int, Any], bytes]:
        """What has to be known first, and the message."""
        buffer = io.BytesIO()
        pickler = _Pickler(buffer, self._sent)
        pickler.dump(message)
        return pickler.fresh, buffer.getvalue()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, known: dict[int, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._known = known

    def persistent_load(self, pid: int) -> Any:
        return self._known[pid]


class _Unpacker:
    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def unpack(self, packed: tuple[dict[int, Any], bytes]) -> Any:
        fresh, data = packed
        self._known |= fresh
        return _Unpickler(data, self._known).load()


# ------------------------------------------------------------------------------------- in the script's process


class View:
    """A window beside the script; `launch` gives it. In a with block it is closed at the end of the block."""

    def __init__(self, sim: Simulation, step: Step | None, panel: Panel | None, own_loop: bool) -> None:
        require_display()
        require_libraries(window=True)
        self.panel = panel if panel is not None else Panel()  #: controls, texts, curves and arrows
        self._sim, self._before = sim, (sim.controller, sim.force_law, sim.history)
        self._turn, self._allowed, self._waiting = threading.Condition(), False, False
        self._closed = threading.Event()
        self._own_loop = own_loop
        self._connection, self._process = _window_process()
        sim.begin_here()
        script = Script(sim, self._wait_for_loop if own_loop else step, self.panel, perf_counter)
        self._runner = Runner(sim.scene, script=script)
        self._runner.start()
        self._server = threading.Thread(target=self._serve, name="contactlab-view", daemon=True)
        self._server.start()
        if own_loop:
            self._until_ready()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the user has not closed the window so far."""
        return not self._closed.is_set()

    def step(self) -> bool:
        """Make one step of the simulation, with the forces that the loop has put on it, at the pace of the window; wait
        while the user has paused the run. Returns `is_open`. Between two calls the simulation is the loop's own."""
        if not self._own_loop:
            raise RuntimeError("this window makes its steps itself; launch(sim, own_loop=True) leaves them to a loop")
        with self._turn:
            self._allowed = True
            self._turn.notify_all()
        self._until_ready()
        return self.is_open

    def wait(self) -> None:
        """Wait until the user closes the window."""
        self._closed.wait()
        self.close()

    def close(self) -> None:
        """Close the window. The simulation stands where it is, and belongs to the script again."""
        self._closed.set()
        self._runner.stop()
        with self._turn:
            self._turn.notify_all()
        self._runner.join(OPENING)
        self._process.terminate()
        self._process.wait()
        self._sim.controller, self._sim.force_law, self._sim.history = self._before

    def _until_ready(self) -> None:
        """Wait until the physics thread stands before its next step."""
        with self._turn:
            while not (self._waiting and not self._allowed) and self.is_open:
                self._turn.wait(REST)

    def _wait_for_loop(self, _: Simulation) -> None:
        """On the physics thread, before a step: wait until the loop wants it made. A command may come first."""
        with self._turn:
            self._waiting = True
            self._turn.notify_all()
            try:
                while not self._allowed and self.is_open:
                    self._turn.wait(REST)
                    look_up()
            finally:
                self._waiting = False
            self._allowed = False

    def _serve(self) -> None:
        """Answer the window until it is closed."""
        packer, shown = _Packer(), None
        try:
            while self.is_open:
                asked = self._connection.recv()
                if asked is not None:
                    self._runner.send(asked)
                    continue
                runner, waited = self._runner, 0.0
                while runner.latest is shown and waited < 0.25 and self.is_open:
                    self._closed.wait(REST)
                    waited += REST
                new = runner.latest if runner.latest is not shown else None
                shown = runner.latest
                self._connection.send(packer.pack((runner.progress, runner.busy, runner.compiles, runner.failure, new)))
        except (EOFError, OSError):  # the window was closed
            pass
        finally:
            self._closed.set()
            self._runner.stop()


def launch(sim: Simulation, step: Step | None = None, panel: Panel | None = None, own_loop: bool = False) -> View:
    """Open the window on a simulation in a process of its own, and return at once: for a notebook or the prompt. `step`
    and `panel` are those of `view`. While the window is open the simulation belongs to its physics thread.

        window = contactlab.launch(sim, step)
        ...
        window.close()

    own_loop: the steps are made by a loop of the script, which may read and change the simulation between them:

        with contactlab.launch(sim, own_loop=True) as window:
            while window.step():
                sim.joint("pin").force = -5.0 * sim.joint("pin").position
                window.panel.plot("angle", sim.joint("pin").position)

    Raises Unavailable where no window can be opened: there is no display, or a library is missing.
    """
    return View(simulation_given(sim), step, panel, own_loop)


def _window_process() -> tuple[Any, subprocess.Popen[bytes]]:
    """A process that shows a window, and the connection to it."""
    key = secrets.token_bytes(32)
    with Listener(authkey=key) as listener:
        process = subprocess.Popen([sys.executable, "-c", CODE], stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(pickle.dumps((listener.address, key, own_laws())))
        process.stdin.close()
        accepted: list[Any] = []
        thread = threading.Thread(target=lambda: accepted.append(listener.accept()), daemon=True)
        thread.start()
        for _ in range(round(OPENING / 0.1)):
            thread.join(0.1)
            if accepted or process.poll() is not None:
                break
    if not accepted:
        process.kill()
        raise Unavailable("the window did not open; `contactlab doctor` says what may be missing")
    return accepted[0], process


# ------------------------------------------------------------------------------------- in the window's process


class RemoteEngine:
    """What the window sees of the physics thread in the other process."""

    def __init__(self, connection: Any) -> None:
        self.progress: tuple[str, float] | None = None
        self.busy, self.compiles, self.failure = 0.0, False, ""
        self.latest: Snapshot | None = None
        self._connection, self._sending = connection, threading.Lock()
        self.ended: Callable[[], None] = lambda: None  #: called when the script has ended

    def send(self, command: Command | None) -> None:
        """A command; None asks for what is new."""
        try:
            with self._sending:
                self._connection.send(command)
        except OSError:
            self.ended()

    def start(self) -> None:
        threading.Thread(target=self._listen, name="contactlab-remote", daemon=True).start()

    def stop(self) -> None:
        self._connection.close()

    def _listen(self) -> None:
        unpacker = _Unpacker()
        try:
            while True:
                self.send(None)
                told = unpacker.unpack(self._connection.recv())
                self.progress, self.busy, self.compiles, self.failure, new = told
                self.latest = new if new is not None else self.latest
        except (EOFError, OSError):
            self.ended()


def show() -> None:
    """The window's process: connect to the script, and show what it sends until either ends."""
    address, key, laws = pickle.load(sys.stdin.buffer)
    know(laws)
    engine = RemoteEngine(Client(address, authkey=key))
    from ..window.program import open_remote

    open_remote(engine)
    os._exit(0)  # at once, as `program.program` does
