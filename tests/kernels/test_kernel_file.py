"""The cache of kernels: what is damaged, in the way or gone costs a compilation, never a start."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hard_times import read_only
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import njit

from contactlab.physics.core import kernel_file
from contactlab.physics.core.kernel_file import DAMAGED, SUFFIX, KernelFile
from contactlab.physics.laws.contact import project_cone

#: One kernel in a process of its own: what it answers, and how often it was compiled. An argument is the greatest size
#: of a file that may be written there [bytes].
CALL = """
import resource, sys
import numpy as np
if sys.argv[1:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from contactlab.physics.laws.contact import project_cone
found = np.empty((1, 3))
project_cone(np.array([[1.0, 3.0, 0.0]]), np.array([0.5]), found)
print(*found[0], sum(project_cone.stats.cache_misses.values()))
"""
#: λ_n' = (λ_n + μ|λ_t|)/(1 + μ²) = 2 and λ_t' = μ λ_n' = 1, all of them exact in binary
ANSWER = [2.0, 1.0, 0.0]


def start(cache, *arguments, before=()):
    return subprocess.Popen([*before, sys.executable, "-c", CALL, *arguments], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": str(cache)})


def compilations(process):
    """How often a process compiled the kernel, which answers right all the same."""
    said, complaint = process.communicate()
    assert process.returncode == 0 and complaint == "", complaint
    *values, misses = said.split()
    assert [float(v) for v in values] == ANSWER
    return int(misses)


def kernels_in(cache):
    return [path for path in cache.rglob("*" + SUFFIX) if path.name.startswith("project_cone")]


@pytest.fixture(scope="module")
def compiled():
    """What numba compiles of the kernel; one that was loaded from the cache cannot be saved again."""
    anew = njit(project_cone.py_func)
    anew(np.ones((1, 3)), np.ones(1), np.empty((1, 3)))
    (result,) = anew.overloads.values()
    return result


@pytest.fixture
def kept(compiled, tmp_path):
    """The kernel's file as it was written: the file, its path and a function that loads it."""
    file = KernelFile(project_cone.py_func, tmp_path / "kernels", lambda *_: (), lambda *_: True)
    file.save_overload(compiled.signature, compiled)
    (path,) = kernels_in(tmp_path)
    return file, path, lambda: file.load_overload(compiled.signature, compiled.target_context)


def test_a_kernel_file_gives_back_what_was_written(compiled, kept):
    _, _, load = kept
    assert load().signature == compiled.signature


DAMAGE = {
    "emptied": lambda whole: b"",
    "cut in the middle": lambda whole: whole[: len(whole) // 2],
    "cut by a byte": lambda whole: whole[:-1],
    "cut within the seal": lambda whole: whole[:20],
    "grown by a byte": lambda whole: whole + b"\0",
    "zeros in the middle": lambda whole: whole[:4096] + bytes(4096) + whole[8192:],
    "zeros": lambda whole: bytes(len(whole)),
    "text": lambda whole: b"this is no kernel" * 100,
    "a pickle that ends the process": lambda whole: b"cposix\n_exit\n(I7\ntR.",
    "the rest without its seal": lambda whole: whole[kernel_file.SEAL:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_set_aside_and_written_anew(compiled, kept, damage):
    file, path, load = kept
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load() is None
    assert not path.exists() and path.with_name(path.name + DAMAGED).read_bytes() == damage(whole)
    file.save_overload(compiled.signature, compiled)
    assert load().signature == compiled.signature


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_byte_of_a_damaged_file_is_unpickled(kept, data):
    _, path, load = kept
    if not path.exists():
        path.with_name(path.name + DAMAGED).rename(path)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.one_of(
        st.just(whole[:place]), st.binary(max_size=200), st.binary(min_size=1, max_size=50).map(lambda b: whole + b),
        st.integers(1, 255).map(lambda b: whole[:place] + bytes([whole[place] ^ b]) + whole[place + 1:])))
    path.write_bytes(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_file.pickle, "loads", lambda read: pytest.fail("unpickled"))
        assert load() is None
    path.with_name(path.name + DAMAGED).write_bytes(whole)


def test_a_whole_file_of_another_kernel_is_not_taken_for_this_one(compiled, kept):
    _, path, load = kept
    other = KernelFile(kernel_file.whole_file.__wrapped__, path.parent, lambda *_: (), lambda *_: True)
    other.save_overload(compiled.signature, compiled)
    (found,) = set(path.parent.iterdir()) - {path}
    found.replace(path)
    assert load() is None


def test_a_cache_that_is_removed_while_it_is_used_is_made_again(compiled, kept, tmp_path):
    file, _, load = kept
    shutil.rmtree(tmp_path / "kernels")
    assert load() is None
    file.save_overload(compiled.signature, compiled)
    assert load().signature == compiled.signature


def test_processes_share_what_one_compiled_and_repair_what_was_damaged(tmp_path):
    assert compilations(start(tmp_path)) == 1
    assert compilations(start(tmp_path)) == 0
    (path,) = kernels_in(tmp_path)
    path.write_bytes(path.read_bytes()[:3000])
    assert compilations(start(tmp_path)) == 1
    assert compilations(start(tmp_path)) == 0


def test_two_processes_may_compile_at_once(tmp_path):
    for process in [start(tmp_path), start(tmp_path)]:
        compilations(process)
    assert compilations(start(tmp_path)) == 0


@pytest.mark.parametrize("most", [0, 4096])
def test_a_full_disk_costs_a_compilation_and_leaves_no_halves(tmp_path, most):
    assert compilations(start(tmp_path, str(most))) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size] == []
    assert list(tmp_path.rglob("*.part")) == []
    assert compilations(start(tmp_path)) == 1


def test_a_read_only_home_costs_a_compilation(tmp_path):
    with read_only(tmp_path) as before:
        assert compilations(start(tmp_path / "cache", before=before)) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_home_costs_a_compilation():
    assert compilations(start("/dev/null/home")) == 1
