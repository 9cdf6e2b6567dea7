"""What is built of a clone: the same bytes whoever builds it, with all that the program needs and that an index of
packages asks for."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile

import pytest

from contactlab.physics.core.jit import CACHE_HOME

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Two builds of copies of this clone, by users with other rights for files, at other times, in other folders; the
    second one has leftovers of an earlier build."""
    found = []
    for umask in (0o022, 0o077):
        folder = tmp_path_factory.mktemp("clone") / ("a" * (len(found) + 1))
        before = os.umask(umask)
        try:
            ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
            shutil.copytree(ROOT, folder, ignore=ignored, copy_function=shutil.copyfile)
            if found:
                (folder / "build" / "lib" / "contactlab" / "app").mkdir(parents=True)
                (folder / "build" / "lib" / "contactlab" / "app" / "removed.py").write_text("")
                time.sleep(2.0)  # zip files count time by two seconds
            done = subprocess.run([sys.executable, "-m", "build", "-o", folder.parent, folder], capture_output=True,
                                  text=True, env={k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"})
            assert done.returncode == 0, done.stdout + done.stderr
        finally:
            os.umask(before)
        found.append({path.suffix: path for path in folder.parent.glob("contactlab-*.*")})
    return found


@pytest.mark.parametrize("suffix", [".gz", ".whl"])
def test_two_builds_have_the_same_bytes(builds, suffix):
    first, second = (build[suffix].read_bytes() for build in builds)
    assert first == second


def test_the_sources_in_the_archive_are_those_of_the_clone_with_its_tests(builds):
    with tarfile.open(builds[0][".gz"]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
        assert {(m.uid, m.gid, m.uname, m.gname) for m in archive.getmembers()} == {(0, 0, "", "")}
    for top in ("app", "physics", "assets", "shaders", "tests", "packaging"):
        wanted = {str(p.relative_to(ROOT)) for p in (ROOT / top).rglob("*.py")}
        assert wanted and wanted <= inside
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"} <= inside


def test_the_wheel_says_what_an_index_of_packages_shows(builds):
    with zipfile.ZipFile(builds[0][".whl"]) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith("METADATA"))
        head, _, text = wheel.read(name).decode().partition("\n\n")
    fields = re.findall(r"^([\w-]+): (.*)$", head, re.MULTILINE)
    assert {"Name", "Version", "Summary", "License-Expression", "Keywords", "Classifier", "Requires-Python",
            "License-File"} <= {key for key, _ in fields}
    assert text.startswith("# Contactlab") and ("Description-Content-Type", "text/markdown") in fields


def test_the_wheel_carries_everything_the_program_needs(builds, tmp_path):
    """Install it elsewhere, open all gallery scenes from it and run one, with the kernels that the clone compiled: they
    are those of the wheel where its sources are the clone's."""
    site = tmp_path / "site"
    install = subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "-q", "--target", site,
                              builds[0][".whl"]], capture_output=True, text=True)
    assert install.returncode == 0, install.stderr
    code = (
        "import contactlab.physics, contactlab.app, contactlab.shaders\n"
        "from importlib.resources import files\n"
        "from contactlab.assets import gallery\n"
        "from contactlab.physics import Scene, Simulation\n"
        "print(contactlab.physics.__file__)\n"
        "assert any(p.name.endswith('.frag') for p in files('contactlab.shaders').iterdir())\n"
        "for path in gallery().values(): Scene.load(path).build()\n"
        "sim = Simulation(Scene.load(next(iter(gallery().values())))); sim.step(); print(sim.time)\n"
    )
    home = {"PYTHONPATH": str(site), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(CACHE_HOME.parents[1])}
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert str(site) in result.stdout


def test_every_dependency_has_a_lower_bound():
    """CONTRIBUTING.md says how they are tried."""
    extras = [name for group in PROJECT["optional-dependencies"].values() for name in group]
    bounded = re.compile(r"[\w.-]+>=[\d.]+(,<[\d.]+)?(; python_version < '3\.\d+')?")
    assert [name for name in [*PROJECT["dependencies"], *extras] if not bounded.fullmatch(name)] == []


def test_the_constraints_for_the_oldest_libraries_are_the_lower_bounds():
    """`packaging/oldest.txt`, with which CONTRIBUTING.md tries them all at once, is written from pyproject.toml."""
    told = (ROOT / "packaging" / "oldest.txt").read_text(encoding="utf-8").splitlines()[1:]
    extras = PROJECT["optional-dependencies"]
    bounds = [re.match(r"([\w.-]+)>=([\d.]+)", name) for name in [*PROJECT["dependencies"], *extras["study"],
                                                                 *extras["mjcf"]]]
    assert told == [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def test_the_readme_names_the_versions_of_python_that_the_project_does():
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f"Python {named[0]} to {named[-1]}" in (ROOT / "README.md").read_text(encoding="utf-8")
