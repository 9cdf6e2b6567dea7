"""The language of what people read. The English sentences in the sources are the keys of the catalogues in
assets/locale, so what a catalogue lacks is shown in English; packaging/catalogues.py makes them."""

import gettext
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}  #: by the name of their catalogue, as they call themselves
ICON = "[\ue000-\uf8ff]"  #: of the font of icons
AROUND = re.compile(rf"((?:{ICON}|\+)? *)(.*?)( *{ICON}?)", re.DOTALL)

_catalogue = gettext.NullTranslations()
_name = "en"


def use(language: str) -> None:
    """Show everything in a language of LANGUAGES from now on; "" = the one of the system. KeyError for another."""
    global _catalogue, _name
    _name = language or of_system(os.environ)
    LANGUAGES[_name]  # KeyError here, not a catalogue that is not found
    _catalogue = gettext.NullTranslations()
    if _name != "en":
        folder = files("contactlab.assets").joinpath("locale", _name, "LC_MESSAGES")
        with as_file(folder.joinpath("contactlab.mo")) as path, path.open("rb") as file:
            _catalogue = gettext.GNUTranslations(file)


def used() -> str:
    """The name of the language that is shown."""
    return _name


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Within, what is written is in a language of LANGUAGES; "" = in the one that is shown."""
    before = _name
    use(language or before)
    try:
        yield
    finally:
        use(before)


def of_system(environment: Mapping[str, str]) -> str:
    """The language that the system's settings ask for, or English."""
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(variable):
            return "zh_CN" if value.lower().startswith("zh") else "en"
    return "en"


def _(text: str) -> str:
    """A sentence in the language that is shown; braces for values stay: `_("{n} more").format(n=n)`."""
    return _catalogue.gettext(text) if text else ""


def ngettext(one: str, more: str, number: int) -> str:
    """The sentence for one thing or for another number of them."""
    return _catalogue.ngettext(one, more, number)


def N_(text: str) -> str:
    """Marks a sentence in a table for the catalogues; `_` translates it where it is shown."""
    return text


def labelled(text: str) -> str:
    """The label of a widget, "Close##map" or with an icon before or behind it: what is shown is translated, and its id
    for Dear ImGui is `text` whatever the language, so that nothing open closes when the language changes."""
    before, words, behind = parts(text)
    return f"{before}{_(words)}{behind}###{text}"


def parts(text: str) -> tuple[str, str, str]:
    """What stands before the words of a label, the words, which a catalogue has, and what stands behind them."""
    found = AROUND.fullmatch(text.partition("##")[0])
    assert found is not None
    return found.group(1), found.group(2), found.group(3)
