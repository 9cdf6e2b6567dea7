"""Programs: kernels that run in one call, each where it stands."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.collision import Detector
from contactlab.physics.core import jit
from contactlab.physics.core.kernel_file import SUFFIX, SYMBOL


@jit.kernel
def doubled(a, times):
    for i in range(len(a)):
        a[i] *= 2.0 * times
    return a[0]


@jit.program
def doubled_twice(a):
    number = np.int32(1)
    doubled(a, number)
    return doubled(a, 1)


@jit.kernel
def doubled_by_a_kernel(a):
    return doubled(a, np.int32(1))


@jit.kernel
def tripled(a) -> float:
    a[0] *= 3.0
    return a[0]


@jit.kernel
def counted(a) -> float:
    return len(a)


@jit.program
def tripled_if_positive(a, also):
    if also == 1:
        return counted(a)
    return tripled(a) if a[0] > 0.0 else -1.0


def test_a_kernel_that_says_what_it_returns_is_compiled_when_a_program_first_reaches_it():
    a = np.array([-2.0])
    assert tripled_if_positive(a, 0) == -1.0
    assert not tripled.signatures
    a[0] = 2.0
    assert tripled_if_positive(a, 0) == 6.0
    assert tripled_if_positive(a, 0) == 18.0
    assert len(tripled.signatures) == 1
    assert tripled(a) == 54.0


def test_a_kernel_that_returns_something_else_than_it_says_is_an_error_and_no_crash(monkeypatch):
    """An address of another signature must not be called."""
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: printed.append(str(what.exc_value)))
    with pytest.raises(RuntimeError, match="counted"):
        tripled_if_positive(np.array([1.0]), 1)
    assert printed == ["counted returns int64, not float64"]


def test_a_program_runs_its_kernels_in_order_and_numbers_come_in_as_from_python():
    """2 · 2 · (1, 3) = (4, 12). An int32 and a literal count as the int that Python passes: one signature."""
    a = np.array([1.0, 3.0])
    assert doubled_twice(a) == 4.0
    assert a.tolist() == [4.0, 12.0]
    assert doubled(a, 1) == 8.0
    assert doubled_by_a_kernel(a) == 16.0
    assert len(doubled.signatures) == 1


#: finds the contacts of a scene; prints how many, and how many kernels it compiled
LOOK = """
import numpy as np
from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.collision import Detector
from contactlab.physics.core import jit
setup = Scene.load(gallery()["tower"]).build()
found = Detector(setup.model).detect(setup.state.bodies, np.full(len(setup.model.kind), 0.1))
print(int(found.count[0]), sum(sum(k.stats.cache_misses.values()) for k in jit.KERNELS))
"""

#: compiles a kernel for a tuple that begins with one array more, as a version of the sources does whose tuples are
#: others: the folder is the same where the module does not import the tuple's class
OTHER_LAYOUT = LOOK + """
from collections import namedtuple
from contactlab.physics.collision.narrow_phase import fill_contacts
from contactlab.physics.core.tuple_abi import Packed
((*others, last),) = fill_contacts.overloads
one, *parts = last.parts.values()
more = namedtuple("Contacts", ["more", *last.parts])
jit.kernel(fill_contacts.py_func).compile((*others, Packed(more, (one, one, *parts))))
"""


def test_a_cached_program_finds_its_kernels_and_one_that_is_gone_is_compiled_again(tmp_path):
    """The machine code of a program names the kernels that it calls. Where one of them is not there, the linker would
    end the process. The cache is a copy of the one that all tests fill."""
    setup = Scene.load(gallery()["tower"]).build()
    there = int(Detector(setup.model).detect(setup.state.bodies, np.full(len(setup.model.kind), 0.1)).count[0])
    for folder in {jit.cache_folder(jit.module_of(kernel.py_func)) for kernel in jit.KERNELS}:
        copy = tmp_path / "contactlab" / "kernels" / folder.name
        copy.mkdir(parents=True)
        for file in folder.glob("*" + SUFFIX):
            shutil.copyfile(file, copy / file.name)

    def look(code=LOOK):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    assert there > 0 and look() == [there, 0]
    (file,) = [p for p in tmp_path.rglob("*" + SUFFIX) if p.name.startswith("fill_contacts")]
    file.unlink()
    again, compiled = look()
    assert again == there and 0 < compiled < 10
    assert look() == [there, 0]
    written = file.read_bytes()
    look(OTHER_LAYOUT)
    assert file.read_bytes() != written
    again, compiled = look()  # the code is not called with tuples that it would read amiss
    assert again == there and 0 < compiled < 10


def test_the_code_of_a_kernel_is_not_in_the_programs_that_call_it():
    """Kernels of pairs of shapes are not even named by a symbol that the linker has to find: they stand in cells."""
    setup = Scene.load(gallery()["tower"]).build()
    Detector(setup.model).detect(setup.state.bodies, np.full(len(setup.model.kind), 0.1))
    (program,) = [k for k in jit.KERNELS if k.__name__ == "touch_listed"]
    (compiled,) = program.overloads.values()
    called = {f.name for f in compiled.library._get_module_for_linking().functions if f.name.startswith(SYMBOL)}
    names = {name.split(":")[-2] for name in called}
    assert names == {"fill_contacts"}
