"""The reference of the Python interface: made from the docstrings, whole, and read without a network."""

import inspect
import pydoc
import re
import time
import webbrowser

import fakes
import pytest

import contactlab
from contactlab import Simulation, physics
from contactlab.app import lab
from contactlab.app.command_line import cli
from contactlab.app.commands import run
from contactlab.app.export.replay import Replay
from contactlab.app.lab import Lab
from contactlab.app.scripts import reference
from contactlab.app.scripts.remote import View
from contactlab.app.ui_state import UiState
from contactlab.physics.run.script import Control
from contactlab.physics.simulation.handles import Body, BodyList, Contact, Joint, JointList
from contactlab.physics.simulation.tables import Trace


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    with pytest.raises(SystemExit) as end:
        cli.main(["reference", str(folder)])
    assert end.value.code == 0
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*.html")}


def test_every_public_name_and_what_it_leads_to_is_described(pages):
    first = pages[reference.FIRST]
    for name in contactlab.__all__:
        assert f'id="{name}"' in first, name
    handles = pages["contactlab/physics/simulation/handles.html"]
    for name in ("Body.velocity", "Body.apply_force", "Joint.position", "Joint.force", "Contact.lam"):
        assert f'id="{name}"' in handles
    assert "World velocity (3,) of the body" in handles
    assert 'id="Panel.slider"' in pages["contactlab/physics/run/script.html"]


def test_all_links_and_pictures_of_the_pages_are_their_own(pages):
    for name, text in pages.items():
        loaded = re.findall(r'(?:src|href)="([^"#]+)', text)
        assert [link for link in loaded if link.startswith("http") and "pdoc.dev" not in link] == [], name
        assert re.findall(r'<(?:script|link)[^>]*(?:src|href)="http', text) == []


#: the public names, and the classes that they lead to
SHOWN = [*(getattr(contactlab, name) for name in contactlab.__all__), Body, BodyList, Joint, JointList, Contact, Trace,
         Control, View, Replay]
CLASSES = [shown for shown in SHOWN if inspect.isclass(shown)]


def members(shown):
    """Public methods and properties by name, those of our own base classes too."""
    for base in shown.__mro__ if inspect.isclass(shown) else ():
        if base.__module__.startswith("contactlab"):
            for name, member in vars(base).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if not name.startswith("_") and inspect.isfunction(function):
                    yield name, function


def in_one_line(told):
    """The lines of a help, signatures in one line each: long ones have a line for every argument since Python 3.14."""
    lines = []
    for line in told.splitlines():
        if lines and re.match(r"[ |]*\w+\([^)]*$", lines[-1]):
            lines[-1] += line.strip(" |")
        else:
            lines.append(line)
    return lines


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.__name__)
def test_help_says_what_everything_is_and_takes(shown):
    """Docstrings and types of all; of arrays their shapes and units, of numbers their units."""
    every = list(members(shown)) if inspect.isclass(shown) else [(shown.__name__, shown)]
    for name, function in [(shown.__name__, shown), *every]:
        assert function.__doc__, name
    for name, function in every:
        hints, said = function.__annotations__, function.__doc__
        assert {*inspect.signature(function).parameters} - {"self", "cls"} <= {*hints} and "return" in hints, name
        returned = str(hints["return"])
        if "Array" in returned:
            assert re.search(r"\(\w[\w +]*,[\w, ]*\)", said) and re.search(r"\[.+\]|[Uu]nit", said), (name, said)
        if returned == "float":
            assert re.search(r"\[.+\]|per| of ", said), (name, said)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.__name__)
def test_help_shows_types_by_their_own_names(shown):
    """No "numpy.ndarray[tuple[typing.Any, ...], numpy.dtype[numpy.float64]]", and no paths of modules."""
    told = pydoc.render_doc(shown, renderer=pydoc.plaintext)
    signatures = [line for line in in_one_line(told) if re.match(r"[ |]*\w+\(.*\)( ->.*)?$", line)]
    assert signatures or not inspect.isfunction(shown)
    for line in signatures:
        assert not re.search(r"numpy\.|typing\.|collections\.|contactlab\.\w+\.", line), line


def test_help_names_only_what_one_can_have():
    """Names in backquotes are members of the classes, arguments, or names of the package."""
    known = {"contactlab", "physics", *physics.__all__, *contactlab.__all__, *(shown.__name__ for shown in SHOWN),
             *vars(Simulation(contactlab.load("dice")))}
    for shown in CLASSES:
        known |= {*dir(shown), *inspect.signature(shown).parameters}
    for shown in SHOWN:
        for name, function in [(shown.__name__, shown), *members(shown)]:
            arguments = {*inspect.signature(function).parameters}
            for word in re.findall(r"`([\w.]+(?:\(.*?\))?)`", function.__doc__):
                assert {*re.findall(r"[A-Za-z_]\w*", word.partition("(")[0])} - known - arguments == set(), (name, word)


def test_help_makes_it_and_shows_it_in_the_browser(tmp_path, monkeypatch):
    opened = []
    page = tmp_path / "page.html"
    monkeypatch.setattr(lab, "write_reference", lambda: page)
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    made = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    run(made, "reference")
    end = time.monotonic() + 10.0
    while not opened and time.monotonic() < end:
        made.update()
        time.sleep(0.01)
    assert opened == [page.as_uri()] and "in your browser" in made.ui.notice.text
