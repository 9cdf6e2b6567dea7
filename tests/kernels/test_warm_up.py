"""What is compiled ahead: all of it runs, and it ends with the program that started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: All that is compiled ahead, whether or not it is cached already
EVERYTHING = """
from contactlab.physics.core import jit
from contactlab.physics.run import warm_up
cached = warm_up.kernels_cached
warm_up.kernels_cached = lambda: False
warm_up.warm_up()
warm_up.compile_ahead("heun", "newton")
print(jit.cached_kernels() - len(jit.KERNELS), cached())
"""
#: A program that has another one compile, says which, and waits
STARTS = """
import time
from contactlab.physics.run.warm_up import compile_the_rest
process = compile_the_rest()
print(process.pid, flush=True)
time.sleep(600)
"""


def test_all_that_is_compiled_ahead_runs_and_then_every_kernel_is_cached():
    """In a process of its own: kernels that only scripts call, or tests, are not compiled ahead."""
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 True\n"


def running(process: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_what_compiles_ahead_ends_with_the_program_though_it_was_killed(tmp_path):
    """In the middle of a compilation, which lets Python's other threads have their turn."""
    program = subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE,
                               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
    assert program.stdout is not None
    compiler = int(program.stdout.readline())
    while not any(tmp_path.rglob("*.kernel")):
        assert running(compiler)
        time.sleep(0.05)
    program.send_signal(signal.SIGKILL)
    program.wait()
    end = time.monotonic() + 10.0
    while running(compiler):
        assert time.monotonic() < end
        time.sleep(0.05)
