"""The kernels: one signature each, and caches that an edit anywhere below a kernel makes stale."""

import contextlib
import gc
import math
import os
import re
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from fresh_jit import fresh_jit
from llvmlite.binding import ffi
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags
from numba.core.runtime import _nrt_python, rtsys

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core import jit, quick_numba
from contactlab.physics.core.pipelines import QuickFlags
from contactlab.physics.integrators import INTEGRATORS
from contactlab.physics.run import warm_up


def test_one_signature_per_kernel():
    for path in gallery().values():
        simulation = Simulation(Scene.load(path))
        for integrator in INTEGRATORS:
            simulation.set(integrator=integrator)
            simulation.step()
        simulation.restore(simulation.save())
        simulation.problem()
        simulation.step()
    assert {k.__name__: len(k.signatures) for k in jit.KERNELS if len(k.signatures) > 1} == {}


def test_while_a_kernel_is_being_compiled_that_is_known():
    def asked(a):
        a[0] = 1.0

    seen = []

    class Asking(event.Listener):
        def on_start(self, _):
            seen.append(warm_up.compiling())

        def on_end(self, _):
            pass

    with event.install_listener("numba:compile", Asking()):
        jit.kernel(asked)(np.zeros(1))
    assert seen and all(seen) and not warm_up.compiling()
    jit.KERNELS.pop()


class Pair(NamedTuple):
    """Arrays that a kernel makes."""

    a: np.ndarray
    b: np.ndarray


@jit.helper
def sum_of(pair, i):
    return pair.a[i] + pair.b[i]


def test_a_kernel_counts_the_owners_of_its_arrays_in_place_and_frees_them():
    def add_up(n):
        pair, total = Pair(np.ones(n), np.ones(n)), 0.0
        for i in range(n):
            total += sum_of(pair, i)
        return total

    compiled = jit.kernel(add_up)
    jit.KERNELS.pop()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert compiled(3) == compiled(3) == 6.0
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free == 4
    (found,) = compiled.overloads.values()
    code = str(found.library._final_module)
    assert "@NRT_incref" not in code and "@NRT_decref" not in code


@jit.helper
def twice(x):
    return 2.0 * x


@jit.helper
def twice_an_integer(x):
    return int(twice(x))


@jit.kernel
def through_helpers(a):
    a[0] = twice(twice_an_integer(a[0])) + twice(a[0])


def test_only_kernels_become_machine_code(monkeypatch):
    """What helpers call is in the kernel all the same, through other helpers and through functions of numba's own."""
    made, make = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", lambda code: (made.append(code.name), make(code)))
    a = np.array([1.25])
    through_helpers(a)
    assert a[0] == 2.0 * 2 + 2.5
    assert [name for name in made if "twice" in name or "through" in name] == ["through_helpers"]
    assert gc.isenabled()


def test_quicker_ways_of_compiling_come_to_the_same_code_and_are_gone_after_it(monkeypatch):
    """Tuples of numbers and of arrays, arrays that a kernel makes, helpers, loops and branches: the same instructions,
    but for the order of blocks, and what joins them. Names count numba's compilations."""
    def mixed(a, n):
        pair, total = Pair(np.ones(n), np.zeros(n)), 0.0
        for i in range(n):
            place = (a[i], a[i] + i, -1.0)
            if place[0] > place[1] or i % 2:
                total += max(place[1], sum_of(pair, i)) + math.sqrt(place[0] - place[2])
        a[0] = total + twice(total)
        return total

    own = [(owner, name, getattr(owner, name)) for owner, name, _ in quick_numba.IN_PLACE]
    codes, results = [], []
    for ways in (jit.quick_numba, contextlib.nullcontext):
        monkeypatch.setattr(jit, "quick_numba", ways)
        compiled, a = jit.kernel(mixed), np.arange(1.0, 9.0)
        jit.KERNELS.pop()
        results.append((compiled(a, 6), a.tolist()))
        (text,) = compiled.inspect_llvm().values()
        codes.append(sorted(re.findall(r"(?:= (?!phi)|store )[a-z. ]*", text)))
        assert [getattr(owner, name) for owner, name, _ in own] == [theirs for _, _, theirs in own]
    assert results[0] == results[1] and len(codes[0]) > 100
    assert codes[0] == codes[1]
    assert ffi.lib._lock._cblist, "numba is not told of calls of LLVM any more"


def test_flags_count_as_those_of_numba_with_the_same_values():
    quick: Any = QuickFlags()
    plain: Any = Flags()
    for flags in (quick, plain):
        flags.nrt, flags.error_model = True, "numpy"
    assert quick == plain and hash(quick) == hash(plain) and len({quick, plain, QuickFlags(plain), quick.copy()}) == 1
    plain.nrt = False
    assert quick != plain


@pytest.fixture
def engine(tmp_path):
    """A toy engine of four modules: top imports middle (in brackets), middle imports bottom; aside is apart."""
    (tmp_path / "jit.py").write_text("")
    (tmp_path / "top.py").write_text("from . import (\n    middle,\n)\n")
    (tmp_path / "middle.py").write_text("from .bottom import f\n")
    (tmp_path / "bottom.py").write_text("f = 1\n")
    (tmp_path / "aside.py").write_text("import math\n")
    return tmp_path


def folders(engine, *modules):
    """The cache folders of these modules in a new process."""
    again = fresh_jit(engine, engine / "cache")
    return [again.cache_folder(m) for m in modules]


def test_an_edit_makes_stale_what_imports_it_and_nothing_else(engine):
    top, aside = folders(engine, "top", "aside")
    (engine / "bottom.py").write_text("f = 2\n")
    top_after, aside_after = folders(engine, "top", "aside")
    assert top_after != top
    assert aside_after == aside


def test_the_folders_not_used_for_longest_are_dropped(engine):
    again = fresh_jit(engine, engine / "cache")
    again.KEPT_FOLDERS = 2
    kept = [again.cache_folder(m) for m in ("bottom", "middle", "top")]
    for age, folder in enumerate(reversed(kept)):  # bottom is the oldest
        os.utime(folder / "used", (1e9 - age, 1e9 - age))
    again.prune_caches()
    assert [f.exists() for f in kept] == [False, True, True]


def test_all_kernels_are_cached_is_said_of_every_module_with_kernels():
    """An edit anywhere must make the warm-up begin anew: its own module's folder stands for all that the app calls. In
    a process of its own, for kernels that only scripts call are not warmed up."""
    code = (
        "from contactlab.physics.core import jit\n"
        "from contactlab.physics.run import warm_up\n"
        "needed = jit.dependencies(jit.module_of(warm_up.warm_up))\n"
        "print(len(jit.KERNELS) > 200, sorted({jit.module_of(k.py_func) for k in jit.KERNELS} - needed))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "True []", result.stdout + result.stderr


def test_processes_that_compile_ahead_find_what_they_are_to_call():
    assert warm_up.start("kernels_cached").wait() == 0


def test_a_second_process_loads_the_cache_instead_of_compiling():
    code = (
        "from contactlab.physics import Scene, Simulation\n"
        "from contactlab.physics.core import jit\n"
        "from contactlab.assets import gallery\n"
        "s = Simulation(Scene.load(next(iter(gallery().values()))))\n"
        "s.step()\n"
        "print(sum(sum(k.stats.cache_misses.values()) for k in jit.KERNELS))\n"
    )
    results = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(2)]
    assert results[1].stdout.strip() == "0", results[1].stderr


def test_kernels_that_were_removed_or_set_aside_are_compiled_ahead_again(tmp_path):
    """A file in the folder of a module with kernels stands for one that was compiled."""
    code = (
        "import shutil\n"
        "from contactlab.physics.core import jit\n"
        "from contactlab.physics.core.kernel_file import DAMAGED, SUFFIX\n"
        "from contactlab.physics.run import warm_up\n"
        "one = jit.cache_folder(jit.module_of(jit.KERNELS[0].py_func)) / ('one' + SUFFIX)\n"
        "one.touch(); print(warm_up.kernels_cached())\n"
        "warm_up.note_ready(); print(warm_up.kernels_cached())\n"
        "one.rename(one.with_name(one.name + DAMAGED)); print(warm_up.kernels_cached())\n"
        "one.touch(); print(warm_up.kernels_cached())\n"
        "shutil.rmtree(jit.CACHE_HOME); print(warm_up.kernels_cached())\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert result.stdout.split() == ["False", "True", "False", "True", "False"], result.stderr


def test_the_sign_that_all_kernels_are_compiled_stands_for_the_sources_of_the_engine():
    """A module that is not there has a folder too, the same one whatever the sources are."""
    from contactlab.physics.run import warm_up

    assert jit.cache_folder(jit.module_of(warm_up.kernels_cached)) != jit.cache_folder("no.such.module")
