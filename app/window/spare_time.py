"""Drawing by the processor, in the time that physics leaves.

Mesa's software renderer has a thread for each core. On few cores they would take the physics thread's time while it is
behind: of a bin of 200 bodies it got 0.4 of a core of two. A thread may make itself less urgent, not more, so these do.
"""

import contextlib
import os
import sys
from pathlib import Path

NICE = 10  # an urgency of 110 against 1024   [Linux, kernel/sched/core.c: sched_prio_to_weight]


def draw_in_spare_time() -> None:
    """Make the threads of the software renderer, which exist once there is a context, less urgent than the others.
    Does nothing where the system knows threads only as parts of processes."""
    if sys.platform != "linux":
        return
    urgency = min(os.getpriority(os.PRIO_PROCESS, 0) + NICE, 19)
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread may have ended, or the system may forbid it
            if (task / "comm").read_text(encoding="utf-8").startswith("llvmpipe"):
                os.setpriority(os.PRIO_PROCESS, int(task.name), urgency)
