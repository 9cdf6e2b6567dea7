"""Threads that draw give way to those that step."""

import os
import sys
from pathlib import Path

import pytest

from contactlab.app.view.offscreen import create_context
from contactlab.app.window.spare_time import NICE, draw_in_spare_time


def urgencies() -> dict[tuple[int, str], int]:
    """Of every thread, by its number and its name."""
    tasks = [(int(task.name), (task / "comm").read_text().strip()) for task in Path("/proc/self/task").iterdir()]
    return {task: os.getpriority(os.PRIO_PROCESS, task[0]) for task in tasks}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no urgency of its own")
def test_threads_that_draw_are_less_urgent_and_no_others():
    context = create_context()
    before = urgencies()
    draw_in_spare_time()
    after = urgencies()
    context.release()
    drawing = {task for task in before if task[1].startswith("llvmpipe")}
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert drawing and all(after[task] == min(own + NICE, 19) for task in drawing)
    assert all(after[task] == urgency for task, urgency in before.items() if task in after and task not in drawing)
