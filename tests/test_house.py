"""The rules of the house, kept by machines: lint, types, imports that run one way, packaging that forgets nothing."""

import ast
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = sorted(p for top in ("physics", "app", "assets", "shaders") for p in (ROOT / top).rglob("*.py"))
LONGEST_FILE, MOST_ARGUMENTS = 600, 10

#: The map of the engine, from the ground up: a room may import from the rooms named beside it, and no other.
ROOMS = {
    "core": "",
    "laws": "core",
    "shapes": "core",
    "joints": "core",
    "dynamics": "core laws shapes joints",
    "collision": "core shapes dynamics",
    "problem": "core laws shapes joints dynamics collision",
    "solvers": "core laws problem",
    "impacts": "core problem solvers",
    "books": "core dynamics problem",
    "integrators": "core dynamics books",
    "methods": "core laws shapes joints dynamics collision problem solvers impacts books integrators",
    "scene": "core laws shapes joints dynamics collision solvers impacts integrators methods",
    "simulation": "core laws dynamics problem solvers impacts books integrators methods scene",
    "look": "core dynamics problem solvers impacts books methods simulation",
    "run": "core dynamics collision problem solvers impacts books integrators methods scene simulation look",
}
#: and of the app; files beside its rooms may import all of them
APP_ROOMS = {"view": "", "panels": "view", "record": "view panels", "window": "view panels record"}
WINDOW_LIBRARIES = ("pyglet", "moderngl", "imgui_bundle")


def run(*command: str, **keywords) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **keywords)


def name_of(path: pathlib.Path) -> str:
    """Import name of a source file."""
    return ".".join(("contactlab", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in SOURCES}


def imports(path: pathlib.Path) -> set[str]:
    """Full names of everything a file imports, wherever in the file, also where for type checking alone."""
    found, name = set(), name_of(path)
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def modules_imported(path: pathlib.Path) -> set[str]:
    """The files of ours that a file imports."""
    names = imports(path)
    packages = {name.rpartition(".")[0] for name in names if name in MODULES}  # `from . import module`
    return {name for name in names if name in MODULES} - {p for p in packages if p + ".__init__" in MODULES}


def functions() -> Iterator[tuple[pathlib.Path, ast.FunctionDef]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def test_ruff_finds_nothing():
    result = run(sys.executable, "-m", "ruff", "check", "--no-cache", str(ROOT))
    assert result.returncode == 0, result.stdout


def test_pyright_finds_nothing(tmp_path):
    # the import name is the path below a folder called contactlab, whatever this clone's folder is called
    (tmp_path / "contactlab").symlink_to(ROOT)
    config = tmp_path / "pyrightconfig.json"
    config.write_text(
        '{"include": ["contactlab/physics", "contactlab/app", "contactlab/assets"], "extraPaths": ["."],'
        ' "typeCheckingMode": "basic", "reportMissingModuleSource": false}'
    )
    result = run(sys.executable, "-m", "basedpyright", "-p", str(config), "--pythonpath", sys.executable, cwd=tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path):
    """As ROOMS and APP_ROOMS say; physics never sees the app, a window or a clock; panels reach the engine only by
    messages and records."""
    top, *rest = path.relative_to(ROOT).parts
    rooms = {"physics": ROOMS, "app": APP_ROOMS}.get(top, {})
    if len(rest) == 1:
        rest = ["", *rest]  # beside the rooms
    allowed = rooms.get(rest[0], " ".join(rooms)).split()
    forbidden = {f"contactlab.{top}.{room}" for room in rooms if room not in allowed and room != rest[0]}
    if top == "physics":
        forbidden |= {"contactlab.app", *WINDOW_LIBRARIES}
        if rest[-1] != "runner.py":
            forbidden |= {"time", "datetime"}
    if rest[0] == "panels":
        forbidden |= {"contactlab.app.lab", "contactlab.physics.simulation.simulation", "contactlab.physics.run.runner"}
    assert {name for name in imports(path) for f in forbidden if name == f or name.startswith(f + ".")} == set()


def test_no_files_import_each_other_in_a_circle():
    try:
        TopologicalSorter({name: modules_imported(path) - {name} for name, path in MODULES.items()}).prepare()
    except CycleError as circle:
        raise AssertionError(" -> ".join(circle.args[1])) from None


def test_a_static_reader_of_a_bare_clone_resolves_every_import_of_ours(tmp_path):
    """pyright, without anything installed, from the repository's own settings."""
    clone = tmp_path / "a clone"
    copied = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.split("\0")
    for name in filter(None, copied):
        if name.endswith((".py", ".toml")) or (ROOT / name).is_symlink():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).symlink_to(os.readlink(ROOT / name)) if (ROOT / name).is_symlink() else shutil.copyfile(
                ROOT / name, clone / name)
    nothing = tmp_path / "nothing"
    run(sys.executable, "-m", "venv", "--without-pip", str(nothing))
    result = run(sys.executable, "-m", "basedpyright", "-p", str(clone), "--outputjson", "--pythonpath",
                 str(nothing / "bin" / "python"), cwd=clone)
    found = json.loads(result.stdout)
    assert found["summary"]["filesAnalyzed"] > len(SOURCES)
    unresolved = [d["message"] for d in found["generalDiagnostics"] if "could not be resolved" in d["message"]]
    assert any("numpy" in message for message in unresolved)  # nothing is installed, and pyright says so
    assert [m for m in unresolved if "contactlab" in m or '"."' in m or 'Import ".' in m] == []


def test_the_engine_loads_without_any_window_library():
    code = (
        "import sys, contactlab.physics; "
        "print([m for m in ('pyglet', 'moderngl', 'imgui_bundle', 'contactlab.app') if m in sys.modules])"
    )
    assert run(sys.executable, "-c", code, cwd=ROOT.parent).stdout.strip() == "[]"


def test_every_package_folder_is_listed():
    found = {
        "contactlab." + ".".join(p.parent.relative_to(ROOT).parts) for p in SOURCES if p.name == "__init__.py"
    }
    assert found == set(PROJECT["tool"]["setuptools"]["packages"])


def test_no_file_has_grown_past_600_lines():
    tests = sorted((ROOT / "tests").rglob("*.py"))
    long = {str(p.relative_to(ROOT)): n for p in SOURCES + tests if (n := p.read_text().count("\n")) > LONGEST_FILE}
    assert long == {}


def test_no_function_takes_more_than_10_arguments():
    wide = {}
    for path, function in functions():
        names = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg not in ("self", "cls")]
        if len(names) > MOST_ARGUMENTS:
            wide[f"{path.relative_to(ROOT)}:{function.name}"] = len(names)
    assert wide == {}


def test_the_wheel_carries_everything_the_program_needs(tmp_path):
    """Build the wheel, install it elsewhere, and open and run a gallery scene from it."""
    build = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(tmp_path), str(ROOT), cwd=tmp_path)
    assert build.returncode == 0, build.stderr
    site = tmp_path / "site"
    (wheel,) = tmp_path.glob("contactlab-*.whl")
    install = run(sys.executable, "-m", "pip", "install", "--no-deps", "-q", "--target", str(site), str(wheel))
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
    result = run(sys.executable, "-c", code, cwd=tmp_path, env={"PYTHONPATH": str(site), "HOME": str(tmp_path)})
    assert result.returncode == 0, result.stderr
    assert str(site) in result.stdout
