"""Threads that draw give way to those that step."""

import json
import os
import subprocess
import sys

import pytest

from contactlab.app.window.spare_time import NICE

#: prints the urgency of every thread before and after, in a process of its own: threads stay as they were made
SCRIPT = """
import json, os
from pathlib import Path
from contactlab.app.view.offscreen import create_context
from contactlab.app.window.spare_time import draw_in_spare_time

def urgencies():
    tasks = [(int(task.name), (task / "comm").read_text().strip()) for task in Path("/proc/self/task").iterdir()]
    return {f"{name} {number}": os.getpriority(os.PRIO_PROCESS, number) for number, name in tasks}

context = create_context()
before = urgencies()
draw_in_spare_time()
print(json.dumps([before, urgencies(), os.getpriority(os.PRIO_PROCESS, 0)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no urgency of its own")
def test_threads_that_draw_are_less_urgent_and_no_others():
    done = subprocess.run([sys.executable, "-c", SCRIPT], env={**os.environ, "LP_NUM_THREADS": "2"},
                          capture_output=True, text=True, check=True)
    before, after, own = json.loads(done.stdout)
    drawing = {name for name in before if name.startswith("llvmpipe")}
    assert drawing and all(after[name] == min(own + NICE, 19) for name in drawing)
    assert all(after[name] == urgency for name, urgency in before.items() if name in after and name not in drawing)
