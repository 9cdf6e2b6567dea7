"""The rules of the house, kept by machines: lint, types, imports that run one way, packaging that forgets nothing."""

import ast
import pathlib
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = sorted(p for top in ("physics", "app", "assets", "shaders") for p in (ROOT / top).rglob("*.py"))


def run(*command: str, **keywords) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **keywords)


def imports(path: pathlib.Path) -> set[str]:
    """Full names of everything a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


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
    """physics never sees the app or a window; panels reach the engine only by messages; solvers stand alone."""
    top = path.relative_to(ROOT).parts
    forbidden: tuple[str, ...] = ()
    if top[0] == "physics":
        forbidden = ("contactlab.app", "pyglet", "moderngl", "imgui_bundle")
        if top[1] == "solvers":
            forbidden += tuple(f"contactlab.physics.{name}" for name in ("collision", "integrators", "methods"))
        if top[-1] != "runner.py":
            forbidden += ("time", "datetime")
    if top[:2] == ("app", "panels"):
        forbidden = ("contactlab.physics.simulation.simulation", "contactlab.physics.run.runner")
    broken = {name for name in imports(path) for f in forbidden if name == f or name.startswith(f + ".")}
    assert not broken


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


def test_no_file_has_grown_past_800_lines():
    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert {str(p.relative_to(ROOT)): n for p in SOURCES + tests if (n := p.read_text().count("\n")) > 800} == {}


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
