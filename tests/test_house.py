"""The rules of the house, kept by machines: lint, types, imports that run one way, names that are used and exist, edits
that recompile no more than they must, packaging that forgets nothing."""

import ast
import builtins
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest
from fresh_jit import fresh_jit

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = sorted([*ROOT.glob("__*__.py"),
                  *(p for top in ("physics", "app", "assets", "shaders") for p in (ROOT / top).rglob("*.py"))])
TESTS = sorted((ROOT / "tests").rglob("*.py"))
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
    "look": "core laws shapes joints dynamics collision problem solvers impacts books integrators methods simulation",
    "run": "core laws shapes dynamics collision problem solvers impacts books integrators methods scene simulation "
           "look",
    "lesson": "core look methods scene simulation run",
}
#: and of the app; files beside its rooms may import all of them
APP_ROOMS = {"view": "", "sweeps": "", "panels": "view sweeps", "record": "view panels", "window": "view panels record",
             "export": "view panels", "scripts": "window", "command_line": "view record export scripts sweeps"}
WINDOW_LIBRARIES = ("pyglet", "moderngl", "imgui_bundle")


def run(*command: str, **keywords) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **keywords)


def name_of(path: pathlib.Path) -> str:
    """Import name of a source file."""
    return ".".join(("contactlab", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in SOURCES}


@cache
def tree_of(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(path: pathlib.Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


@cache
def imports(path: pathlib.Path) -> frozenset[str]:
    """Full names of everything a file imports, anywhere in the file: imports for type checking alone count too."""
    found, name = set(), name_of(path)
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(found)


def modules_imported(path: pathlib.Path) -> set[str]:
    """The files of ours that a file imports."""
    names = imports(path)
    packages = {name.rpartition(".")[0] for name in names if name in MODULES}  # `from . import module`
    return {name for name in names if name in MODULES} - {p for p in packages if p + ".__init__" in MODULES}


def functions() -> Iterator[tuple[pathlib.Path, ast.FunctionDef]]:
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def by_folder(files: list[pathlib.Path]) -> pytest.MarkDecorator:
    """A test for the files of each folder: with one for each file pytest takes as long as what is asked."""
    folders: dict[str, list[pathlib.Path]] = {}
    for path in files:
        folders.setdefault(str(path.parent.relative_to(ROOT)), []).append(path)
    return pytest.mark.parametrize("paths", folders.values(), ids=folders)


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


@by_folder(SOURCES)
def test_imports_run_one_way(paths):
    """As ROOMS and APP_ROOMS say, imports for type checking alone included; physics never sees the app, a window or a
    clock; panels reach the engine only by messages and records."""
    for path in paths:
        top, *rest = path.relative_to(ROOT).parts
        rest = rest or [top]  # the face of the package, above all rooms
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
            forbidden |= {"contactlab.app.lab", "contactlab.physics.simulation.simulation",
                          "contactlab.physics.run.runner"}
        found = {name for name in imports(path) for f in forbidden if name == f or name.startswith(f + ".")}
        assert found == set(), path


@pytest.mark.parametrize(("top", "rooms", "column"), [("physics", ROOMS, r"([\w ]+) \|$"),
                                                      ("app", APP_ROOMS, r"([\w ]+) \|[^|]*\|$")])
def test_the_map_shows_the_rooms_as_they_are(top, rooms, column):
    rows = re.findall(rf"^\| `(\w+)/` \|.*\| {column}", (ROOT / top / "README.md").read_text(), re.MULTILINE)
    assert dict(rows) == {room: allowed or "nothing" for room, allowed in rooms.items()}


def test_no_files_import_each_other_in_a_circle():
    try:
        TopologicalSorter({name: modules_imported(path) - {name} for name, path in MODULES.items()}).prepare()
    except CycleError as circle:
        raise AssertionError(" -> ".join(circle.args[1])) from None


def test_a_static_reader_of_a_bare_clone_resolves_every_import_of_ours(tmp_path):
    """pyright, without anything installed, from the repository's own settings. Of every file it gets the imports alone:
    whether they resolve is asked of no other line, and `test_pyright_finds_nothing` has read these."""
    clone = tmp_path / "a clone"
    copied = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.split("\0")
    for name in filter(None, copied):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            (clone / name).symlink_to(os.readlink(ROOT / name))
        elif name.endswith(".py"):
            found = (node for node in nodes_of(ROOT / name) if isinstance(node, ast.Import | ast.ImportFrom))
            (clone / name).write_text("\n".join(map(ast.unparse, found)))
        elif name.endswith(".toml"):
            shutil.copyfile(ROOT / name, clone / name)
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
        ".".join(("contactlab", *p.parent.relative_to(ROOT).parts)) for p in SOURCES if p.name == "__init__.py"
    }
    assert found == set(PROJECT["tool"]["setuptools"]["packages"])


def test_no_file_has_grown_past_600_lines():
    long = {str(p.relative_to(ROOT)): n for p in SOURCES + TESTS if (n := p.read_text().count("\n")) > LONGEST_FILE}
    assert long == {}


def test_no_function_takes_more_than_10_arguments():
    wide = {}
    for path, function in functions():
        names = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg not in ("self", "cls")]
        if len(names) > MOST_ARGUMENTS:
            wide[f"{path.relative_to(ROOT)}:{function.name}"] = len(names)
    assert wide == {}


#: files that write without `whole_file`, and what
GROWING = {
    "physics/core/whole_file.py": "itself",
    "physics/core/held_folder.py": "a lock",
    "physics/run/warm_up.py": "a lock, and a mesh in a temporary folder",
    "app/record/encoder.py": "a video, which plays at any length",
    "physics/scene/parts.py": "a log, in a temporary folder",
    "physics/run/run_file.py": "a file that is whole up to its last whole entry",
    "app/record/finishing.py": "a video with its sound and chapters, beside the one without",
    "app/export/trajectory.py": "members of an archive that is a whole file",
    "app/window/program.py": "a log",
    "app/sweeps/sweeping.py": "rows of a sweep, whole up to the last line break",
}


PLAIN = {ast.Constant, ast.BinOp, ast.Mult, ast.Pow, ast.Add, ast.Sub, ast.LShift}


def whole_numbers(path: pathlib.Path) -> Iterator[tuple[str, int, str]]:
    """Names, values and lines of a module's constants that are a whole number, or a product or power of such."""
    lines = path.read_text().splitlines()
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and {type(part) for part in ast.walk(node.value)} <= PLAIN:
            name, value = node.targets[0], eval(ast.unparse(node.value))
            if isinstance(name, ast.Name) and name.id.isupper() and type(value) is int:
                yield name.id, value, lines[node.lineno - 1]


#: rooms in which what users bring is read, and what a run leaves is kept
OPEN_ROOMS = ("physics/scene", "physics/problem", "physics/simulation", "physics/run", "app")
#: constants there that bound a text, a search or a choice, not memory
NO_LIMITS = {"MOST_LINES", "MAX_SHOWN", "MOST_VERTICES", "MOST_STEPS_BETWEEN", "MOST_RECENT", "MOST_CURVES",
             "KEPT_FILES", "FORMAT", "MOST_TOLD", "MOST_EVENTS"}


@by_folder(SOURCES)
def test_what_files_may_ask_for_stands_in_one_table(paths):
    """`core/limits.py`. A limit is a whole number beyond which something is refused, a size of a mebibyte or more, or
    in the rooms where files are read and runs are kept what is called the most or the largest."""
    for path in (p for p in paths if p != ROOT / "physics" / "core" / "limits.py"):
        refused = {name.id for node in nodes_of(path) if isinstance(node, ast.If)
                   if any(isinstance(part, ast.Raise) for part in node.body)
                   for name in ast.walk(node.test) if isinstance(name, ast.Name)}
        here, limits = path.relative_to(ROOT).parent.as_posix(), set()
        for name, value, line in whole_numbers(path):
            called = here in OPEN_ROOMS and re.match("MOST_|LARGEST_|MAX_|KEPT_", name)
            if name in refused or called or ("[bytes]" in line and value >= 2**20):
                limits.add(name)
        assert limits - NO_LIMITS == set(), path


def test_files_are_written_whole_and_text_has_its_encoding():
    """A file that is opened to be written is empty where the disk is full or the process ends; the encoding of text is
    the system's where none is given."""
    halves, foreign = set(), []
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        for call in (node for node in nodes_of(path) if isinstance(node, ast.Call)):
            done = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if done not in ("open", "read_text", "write_text", "write_bytes"):
                continue
            words = [w.value for w in (*call.args, *(k.value for k in call.keywords)) if isinstance(w, ast.Constant)]
            modes = [w for w in words if isinstance(w, str) and re.fullmatch("[rwax+bt]{1,3}", w)]
            if done.startswith("write") or any(set("wax+") & set(mode) for mode in modes):
                halves.add(name)
            if done.endswith("text") and not any(k.arg == "encoding" for k in call.keywords):
                foreign.append(f"{name}:{call.lineno}")
    assert halves == GROWING.keys() and foreign == []


# ---------------------------------------------------------------------------------------------- names
#: decorators that leave a function to its callers; any other one uses it (a command, a hook of numba, a fixture)
PLAIN_DECORATORS = {"kernel", "helper", "dataclass", "contextmanager", "cache"}
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def names_bound(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    return [name for part in getattr(target, "elts", ()) for name in names_bound(part)]


def definitions(path: pathlib.Path) -> Iterator[tuple[list[str], ast.stmt]]:
    """Functions, classes and constants at the left margin. Constants that one statement numbers are one definition."""
    for statement in tree_of(path).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                called = [d.func if isinstance(d, ast.Call) else d for d in statement.decorator_list]
                if {getattr(d, "attr", getattr(d, "id", "")) for d in called} <= PLAIN_DECORATORS:
                    yield [name], statement
            case ast.Assign():
                yield [name for target in statement.targets for name in names_bound(target)], statement
            case ast.AnnAssign(target=target):
                yield names_bound(target), statement


def docstrings(path: pathlib.Path) -> list[ast.Constant]:
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.append(first.value)
    return found


@cache
def strings(path: pathlib.Path) -> tuple[str, ...]:
    """All strings of a file but its docstrings."""
    documents = {id(node) for node in docstrings(path)}
    return tuple(node.value for node in nodes_of(path)
                 if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents)


def test_every_definition_is_used():
    """By its name in its own file outside its own lines, by an import, as an attribute of its module, or in a string
    that is a dotted name (`__all__`, getattr, monkeypatch) or the code of another process."""
    imported: set[str] = set()
    attributes: dict[str, set[str]] = {module: set() for module in MODULES}  # in files that import it
    texts: set[str] = set()
    for path in SOURCES + TESTS:
        given = imports(path)
        imported |= given
        here = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
        for module in given & MODULES.keys():
            attributes[module] |= here
        for text in strings(path):
            if DOTTED.fullmatch(text) or "import " in text:
                texts |= set(re.findall(r"\w+", text))
    unused = []
    for module, path in MODULES.items():
        inside = {id(statement): {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                  for statement in tree_of(path).body}
        users = Counter(name for names in inside.values() for name in names)  # statements that have the name
        for names, own in definitions(path):
            if names and not any(
                users[name] > (name in inside[id(own)]) or name in texts or name in attributes[module]
                or f"{module}.{name}" in imported or name.startswith("__") for name in names
            ):
                unused.append(f"{path.relative_to(ROOT)}:{own.lineno} {', '.join(names)}")
    assert unused == []


@cache
def names_in(module: str) -> frozenset[str]:
    """What a module of ours holds: definitions, imported names, and modules where it is a package."""
    inside = {name.removeprefix(module + ".").split(".")[0] for name in MODULES if name.startswith(module + ".")}
    path = MODULES.get(module)
    for node in nodes_of(path) if path else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            inside |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside |= {name for target in targets for name in names_bound(target)}
    return frozenset(inside)


CATALOGUES = {"contactlab.po", "contactlab.mo"}  # files of translations, which look like modules


def is_ours(name: str) -> bool:
    """Whether a full dotted name leads to a module of ours or to something in one."""
    module = name
    while module and module not in MODULES and not any(other.startswith(module + ".") for other in MODULES):
        module = module.rpartition(".")[0]
    rest = name[len(module) + 1 :].split(".")
    return bool(module) and (rest == [""] or rest[0] in names_in(module) or rest[0].startswith("__"))


@cache
def members() -> dict[str, set[str]]:
    """Fields, methods and attributes of each class of physics and app, by its name."""
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                inside = found.setdefault(node.name, set())
                for part in ast.walk(node):
                    if isinstance(part, ast.FunctionDef):
                        inside.add(part.name)
                    elif isinstance(part, ast.Assign | ast.AnnAssign):
                        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                        inside |= {name for target in targets for name in names_bound(target)}
                        inside |= {target.attr for target in targets if isinstance(target, ast.Attribute)}
    return found


@by_folder(SOURCES + TESTS)
def test_modules_that_strings_name_exist(paths):
    """Code for other processes, patches and messages: no test or import would tell that a module has moved."""
    wrong = []
    for text in (text for path in paths for text in strings(path)):
        found = set(re.findall(r"contactlab(?:\.\w+)+", text)) - CATALOGUES
        for module, inside in re.findall(r"from (contactlab[.\w]*) import ([\w, ]+)", text):
            found |= {f"{module}.{name.split(' as ')[0].strip()}" for name in inside.split(",")}
        wrong += [name for name in found if not is_ours(name)]
    assert wrong == []


@cache
def identifiers() -> frozenset[str]:
    """All names in the code of physics and app, and those that Python and NumPy give."""
    found = set(dir(builtins)) | {"numpy", "numba"}
    for path in SOURCES:
        found |= {path.stem, path.parent.name} | {w for text in strings(path) for w in re.findall(r"\w+", text)}
        for node in nodes_of(path):
            found |= {getattr(node, field) for field in ("id", "attr", "arg", "name", "asname")
                      if isinstance(getattr(node, field, None), str)}
    return frozenset(found)


def strange_names(path: pathlib.Path) -> list[str]:
    """What a file has in backquotes and that is no name: `name` is a name of the code; `module.name` is one in that
    module, `Class.name` one of that class, and any other dotted name begins with a name of this file."""
    source = path.read_text()
    comments = [t.string for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    own = {getattr(node, field) for node in nodes_of(path) for field in ("id", "attr", "arg", "name", "asname")
           if isinstance(getattr(node, field, None), str)}
    top = ".".join(name_of(path).split(".")[:2])
    wrong = []
    for text in [*(node.value for node in docstrings(path)), *comments]:
        for name in re.findall(r"`([^`\n]+)`", str(text)):
            if not DOTTED.fullmatch(name):
                continue
            head, *rest = name.split(".")
            if not rest:
                exists = name in identifiers()
            else:
                modules = [m for m in MODULES if m.endswith("." + head) or f".{head}." in m]
                places = {m[: m.index("." + head)] for m in modules} | {top}
                inside = members().get(head)
                exists = rest[0] in inside if inside else head in own or any(is_ours(f"{p}.{name}") for p in places)
            if not exists:
                wrong.append(name)
    return wrong


@by_folder(SOURCES)
def test_names_in_backquotes_exist(paths):
    assert {str(path): wrong for path in paths if (wrong := strange_names(path))} == {}


TOOLS = sorted((ROOT / "packaging").glob("*.py"))
DOCUMENTS = sorted(p for p in ROOT.rglob("*.md")
                   if not any(part.startswith(".") or part == "build" for part in p.relative_to(ROOT).parts))


def defined_in(path: pathlib.Path) -> set[str]:
    """Functions, classes, methods as Class.method, and constants of a file."""
    found = {name for names, _ in definitions(path) for name in names}
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {node.name} | {f"{node.name}.{s.name}" for s in node.body if isinstance(s, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_documents_name_files_and_functions_that_exist(document):
    """A file is named by the end of its path; `file.py: name`, `name` says what is in it; links lead somewhere."""
    text, wrong = document.read_text(), []
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    headings = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)#\s]*)(?:#[^)]*)?\)", text):
        if target and "://" not in target and not (document.parent / target).exists():
            wrong.append(target)
    wrong += [name for name in re.findall(r"\]\(#([^)]+)\)", text) if name not in headings]
    for path, names in re.findall(r"`((?:[\w.]+/)*\w+\.py)(?:: ([\w.]+`(?:,\s+`\w[\w.]*`)*))?", text):
        files = [p for p in SOURCES + TESTS + TOOLS if p.as_posix().endswith("/" + path)]
        wanted = [name for name in re.findall(r"[\w.]+", names) if not name.endswith(".py")]
        wrong += [] if files else [path]
        wrong += [f"{path}: {name}" for name in wanted if not any(name in defined_in(f) for f in files)]
    for folder in re.findall(r"`((?:[\w.]+/)+)`", text):
        wrong += [] if any(list(top.rglob(folder.rstrip("/"))) for top in (ROOT / "physics", ROOT)) else [folder]
    assert wrong == []


# ---------------------------------------------------------------------------------------------- kernels
@pytest.fixture
def engine(tmp_path):
    """A copy of the engine that may be edited."""
    copy = tmp_path / "physics"
    shutil.copytree(ROOT / "physics", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def kernel_folders(engine: pathlib.Path) -> dict[str, pathlib.Path]:
    """The cache folder of every module that has kernels, in a new process."""
    found, jit = {}, fresh_jit(engine, engine.parent / "cache")
    for module, path in MODULES.items():
        if any(getattr(d, "id", "") == "kernel" for s in tree_of(path).body for d in getattr(s, "decorator_list", ())):
            found[module] = jit.cache_folder(module.removeprefix("contactlab.physics."))
    return found


def edit(path: pathlib.Path) -> None:
    path.write_text(path.read_text() + "\n# edited\n")


def users_of(module: str) -> set[str]:
    """The module and all that import it, directly or not."""
    found, more = set(), {module}
    while more:
        found |= more
        more = {name for name, path in MODULES.items() if modules_imported(path) & found} - found
    return found


def test_an_edit_recompiles_the_kernels_that_can_have_changed_and_no_other(engine):
    """A kernel is compiled anew where its cache folder is another one."""
    before = kernel_folders(engine)
    assert len(before) > 50
    edit(engine / "scene" / "toml_writer.py")  # a leaf
    assert kernel_folders(engine) == before
    edit(engine / "core" / "vec.py")
    after = kernel_folders(engine)
    changed = {module for module in before if after[module] != before[module]}
    assert changed == before.keys() & users_of("contactlab.physics.core.vec")
    assert len(changed) > 40
