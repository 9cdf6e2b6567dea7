"""A notebook: Jupyter's own kernel opens the window with a controller that balances a pole, and goes on meanwhile."""

import os
import queue
import subprocess
import time

import pytest
from test_window_xvfb import PATIENCE, display  # noqa: F401  (a fixture)

manager = pytest.importorskip("jupyter_client.manager")

COMPILES = 300.0  # [s] for a cell: the first one of all may compile
POLE = """
import contactlab
scene = contactlab.Scene.from_dict({
    "solver": {"h": 0.005},
    "body": [{"name": "pole", "position": [0, 0, 0.5], "shape": [{"type": "capsule", "radius": 0.02, "height": 1.0}]}],
    "joint": [{"name": "pin", "type": "hinge", "child": "pole", "axis": [0, 1, 0], "anchor": [0, 0, 0],
               "position": [5.0]}],
})
def balance(sim):
    pin = sim.joint("pin")
    pin.force = -40.0 * pin.position - 8.0 * pin.velocity
    panel.plot("angle", pin.position, unit="rad")
def fallen():
    sim = contactlab.Simulation(scene)
    sim.run(until=2.0)
    return abs(sim.joint("pin").position) > 1.0
panel = contactlab.Panel()
sim = contactlab.Simulation(scene)
"""
#: [rad] after 3 s: both roots of I s² + 8 s + 40 - m g l (I = 0.43 kg m², m g l = 6.3 N m) are below -6 /s
BALANCED = 1e-6


class Notebook:
    """A kernel, whose cells are run one after the other."""

    def __init__(self, environment):
        self.environment = environment
        self.manager = manager.KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=environment)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def begin(self, code):
        """Start a cell."""
        return self.client.execute(code)

    def end(self, cell, seconds=COMPILES):
        """Its output, once it has ended."""
        said, limit = "", time.monotonic() + seconds
        while time.monotonic() < limit:
            message = self.client.get_iopub_msg(timeout=seconds)
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                said += content["text"]
            elif message["msg_type"] == "error":
                raise AssertionError("\n".join(content["traceback"]))
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                return said
        raise AssertionError(f"the cell has not ended within {seconds} s; it said {said!r}")

    def run(self, code):
        return self.end(self.begin(code))

    def press(self, key):
        subprocess.run(["xdotool", "search", "--name", "Contactlab", "windowfocus", "key", key], env=self.environment,
                       capture_output=True)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(display, tmp_path):  # noqa: F811
    made = Notebook({**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                     "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config"),
                     "IPYTHONDIR": str(tmp_path / "ipython")})
    yield made
    made.close()


def test_launch_balances_a_pole_while_the_notebook_goes_on(notebook):
    """Without the controller the pole falls. With it the next cells run while the window is open, see time go on, and
    in the end the pole stands."""
    assert notebook.run(POLE + "print(fallen())") == "True\n"
    notebook.run("window = contactlab.launch(sim, balance, panel)")
    assert notebook.run("print(window.is_open, sim.time < 3.0)") == "True True\n"
    notebook.run("import time\nwhile sim.time < 3.0: time.sleep(0.05)")
    said = notebook.run("before = sim.time\nwindow.close()\nprint(before >= 3.0, window.is_open, "
                        "abs(sim.joint('pin').position), len(panel.shown(True).curves[0].points) > 400)")
    reached, is_open, angle, plotted = said.split()
    assert (reached, is_open, plotted) == ("True", "False", "True") and float(angle) < BALANCED


def test_view_holds_its_cell_until_the_window_is_closed(notebook):
    notebook.run(POLE)
    cell = notebook.begin("contactlab.view(sim, balance, panel)\nprint('closed', sim.step_count > 0)")
    said, limit = "", time.monotonic() + PATIENCE
    while "closed" not in said and time.monotonic() < limit:
        notebook.press("ctrl+q")
        try:
            said = notebook.end(cell, 2.0)
        except queue.Empty:  # the window is not there yet
            continue
    assert said.startswith("closed")
    assert notebook.run("print(abs(sim.joint('pin').position) < 0.1)") == "True\n"
