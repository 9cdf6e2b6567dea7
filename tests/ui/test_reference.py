"""The reference of the Python interface: made from the docstrings, whole, and read without a network."""

import re
import time
import webbrowser

import fakes
import pytest

import contactlab
from contactlab.app import cli, lab, reference
from contactlab.app.commands import run
from contactlab.app.lab import Lab
from contactlab.app.ui_state import UiState


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
