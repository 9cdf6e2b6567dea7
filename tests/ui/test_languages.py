"""Two languages: no text is left out, placeholders and formulas stay, every character has a glyph, ids of widgets are
the same in both, and nothing is clipped in either."""

import ast
import builtins
import importlib.util
import re
import string
import symtable
from pathlib import Path
from types import ModuleType

import fakes
import pytest
from fontTools.ttLib import TTFont
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.commands import COMMANDS
from contactlab.app.narration import sentence
from contactlab.app.panels import layout, lower, menus
from contactlab.app.preferences import Preferences
from contactlab.app.ui_state import SceneEntry, UiState
from contactlab.physics.core import language
from contactlab.physics.core.report import Event
from contactlab.physics.look.quantities import heading

ROOT = Path(__file__).parents[2]
OTHERS = sorted(set(language.LANGUAGES) - {"en"})
#: calls that show their texts as they are: what they are given has to be in a mark
SHOWING = {"text", "text_wrapped", "set_item_tooltip", "set_tooltip", "button", "small_button", "checkbox",
           "selectable", "menu_item_simple", "begin_menu", "radio_button", "collapsing_header", "muted", "heading",
           "radio", "say", "tell", "value_row", "LegendRow", "icon_button"}
#: sources that speak on the command line, which is in English
ON_THE_COMMAND_LINE = {"cli.py", "cli_lessons.py", "cli_record.py", "classroom.py", "doctor.py", "console.py"}
#: texts that are the same in every language, or are not for people
ALIKE = {"Contactlab"}


def catalogues() -> ModuleType:
    spec = importlib.util.spec_from_file_location("catalogues", ROOT / "packaging" / "catalogues.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MADE = catalogues()


def catalogue(name: str):
    return MADE.texts_in((MADE.folder_of(name) / "contactlab.po").read_bytes())


def english(message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def translated(message) -> str:
    return message.string if isinstance(message.string, str) else message.string[0]


@pytest.mark.parametrize("name", OTHERS)
def test_no_text_is_left_out_of_a_catalogue_and_none_is_there_that_nothing_shows(name):
    known = {english(m): m for m in catalogue(name) if m.id}
    found = {m if isinstance(m, str) else m[0] for texts in MADE.messages().values() for m in texts}
    assert found - set(known) == set()
    assert set(known) - found == set()
    assert [text for text, m in known.items() if not translated(m) or m.fuzzy] == []


@pytest.mark.parametrize("name", OTHERS)
def test_what_the_app_reads_is_what_the_catalogue_says(name):
    path = MADE.folder_of(name) / "contactlab.mo"
    assert path.read_bytes() == MADE.compiled(catalogue(name)), "python packaging/catalogues.py"


@pytest.mark.parametrize("name", OTHERS)
def test_values_and_formulas_have_the_same_places_in_every_language(name):
    lessons = set(MADE.lessons())
    for message in catalogue(name):
        text = english(message)
        if not text:
            continue
        if text in lessons:  # {formula} and $$ LaTeX $$
            for pattern in (r"\$\$.*?\$\$", r"(?<!\$)\{[^{}]*\}"):
                pairs = [sorted(re.findall(pattern, t, re.DOTALL)) for t in (text, translated(message))]
                assert pairs[0] == pairs[1], text
            continue
        fields = [{(f, spec) for _, f, spec, _ in string.Formatter().parse(t) if f is not None}
                  for t in (text, translated(message))]
        assert fields[0] == fields[1], text


@pytest.mark.parametrize("name", OTHERS)
def test_every_character_of_a_catalogue_has_a_glyph(name):
    glyphs = set().union(*(TTFont(path).getBestCmap() for path in (ROOT / "assets" / "fonts").glob("*.[to]tf")))
    text = "".join(map(translated, (m for m in catalogue(name) if m.id))) + language.LANGUAGES[name]
    assert {c for c in text if ord(c) not in glyphs} == {"\n"}


def sources() -> list[Path]:
    return sorted(p for p in (ROOT / "app").rglob("*.py") if p.name not in ON_THE_COMMAND_LINE)


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_words_that_are_shown_stand_in_a_mark(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = []
    for node in ast.walk(tree):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if name in SHOWING:
            bare += [(text.lineno, text.value) for argument in node.args for text in unmarked(argument)
                     if re.search(r"[A-Za-z]{3}", shown(text.value)) and shown(text.value) not in ALIKE]
    assert bare == []


def shown(text: str) -> str:
    """Without the id of a widget, and without what is a name or a unit alone."""
    words = text.partition("##")[0]
    prose = re.search(r"[a-z]{3,} [a-z]{2,}|[A-Z][a-z]{2}", words)
    return words if prose or not re.fullmatch(r"[\w/.%²³·()\[\]=<>…× -]*", words) else ""


def unmarked(node: ast.AST):
    """The texts in an expression that is shown, but for those in a mark and in what finds others."""
    if isinstance(node, ast.Call | ast.Subscript | ast.Compare | ast.Lambda):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from unmarked(child)


@pytest.mark.parametrize("path", [p for top in ("app", "physics") for p in sorted((ROOT / top).rglob("*.py"))
                                  if "core.language import" in p.read_text(encoding="utf-8")],
                         ids=lambda p: str(p.relative_to(ROOT)))
def test_no_variable_hides_the_function_of_the_name_underscore(path):
    def hidden(table: symtable.SymbolTable) -> list[int]:
        names = [s for s in table.get_symbols() if s.get_name() == "_"]
        own = any(s.is_local() and table.get_type() == "function" for s in names)
        calls = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call)
                 and isinstance(node.func, ast.Name) and node.func.id == "_"} if own else set()
        scope = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) == table.get_lineno()
                 and isinstance(node, ast.FunctionDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp
                                | ast.GeneratorExp)]
        inside = {inner.lineno for node in scope for inner in ast.walk(node) if isinstance(inner, ast.Call)}
        return sorted(calls & inside) + [line for child in table.get_children() for line in hidden(child)]

    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert hidden(symtable.symtable(text, str(path), "exec")) == []


def test_the_language_is_the_preferences_else_the_systems_else_english(monkeypatch):
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    for system, expected in (("zh_CN.UTF-8", "zh_CN"), ("de_DE.UTF-8", "en"), ("C", "en")):
        monkeypatch.setenv("LANG", system)
        language.use("")
        assert language.used() == expected
    language.use("zh_CN")
    assert language._("Pause to see it.") == "暂停后可见。" and language._("") == ""
    assert language._("This is in no catalogue.") == "This is in no catalogue."
    language.use("en")
    assert language._("Pause to see it.") == "Pause to see it."
    with pytest.raises(KeyError):
        language.use("xx")


def test_a_label_shows_words_and_keeps_icons_and_its_id():
    assert language.labelled("\uf0c7  Save##modes") == "\uf0c7  Save###\uf0c7  Save##modes"
    language.use("zh_CN")
    assert language.labelled("\uf0c7  Save##modes") == "\uf0c7  保存###\uf0c7  Save##modes"
    assert language.labelled("Next  \uf054##on") == "下一步  \uf054###Next  \uf054##on"


def test_events_are_told_in_the_language_that_is_shown():
    """But for the names of bodies and the letters of units."""
    event = Event("impact", 1, 0.4515, (0, 1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 7.97), 2.0, 0.23)
    with language.spoken("zh_CN"):
        told = sentence(event, fakes.snapshot().labels)
        assert heading("height", "ball 1") == "ball 1：高度 z [m]"
    assert told.startswith("t = 0.4515 s：ground 与 ball 1 碰撞，冲量 7.97 N s") and told.endswith("。")
    assert language.used() == "en" and heading("height", "ball 1") == "Height z of ball 1 [m]"


# --------------------------------------------------------------------------------------------- what is drawn


@pytest.fixture
def drawn(monkeypatch):
    """A probe of the whole interface with one tab open, at a size of text."""
    probes = []

    def draw(tab: str, scale: float) -> Probe:
        ui = UiState(preferences=Preferences(lower_tab=tab, scale=scale),
                     scenes=[SceneEntry("a", "Apples", "They fall.", Path("/s/a.toml"), group="Impacts")])
        snapshot = fakes.snapshot()
        probes.append(Probe(monkeypatch, lambda ui: (menus.draw_menus(ui, snapshot, print),
                                                     layout.draw_ui(ui, snapshot, lambda command: None)), ui))
        return probes[-1]

    yield draw
    for probe in probes:
        probe.gui.release()


@pytest.mark.parametrize("tab", lower.TABS)
def test_widgets_have_the_same_ids_in_every_language(drawn, tab):
    probe = drawn(tab, 1.0)
    before = probe.drawn()
    assert len(before) > 30
    for name in OTHERS:
        language.use(name)
        now = probe.drawn()
        more = {label for label in before ^ now if not label.startswith("\uf101")}  # how many tabs fit differs
        assert {label for label in more if "##tab_" not in label and not label.endswith("##record")} == set()


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("name", language.LANGUAGES)
@pytest.mark.parametrize("tab", lower.TABS)
def test_no_label_is_wider_than_its_button(drawn, monkeypatch, tab, name, scale):
    narrow = []

    def measured(original, padding):
        def widget(label, *args, **keywords):
            result = original(label, *args, **keywords)
            words = language.parts(label)[1] if "###" in label else label.partition("##")[0]
            wide = imgui.calc_text_size(label, True).x + padding * imgui.get_style().frame_padding.x
            if words and imgui.get_item_rect_size().x < wide - 0.5:
                narrow.append((words, imgui.get_item_rect_size().x, wide))
            return result

        return widget

    for kind, padding in (("button", 0.0), ("small_button", 0.0), ("checkbox", 0.0), ("radio_button", 0.0)):
        monkeypatch.setattr(imgui, kind, measured(getattr(imgui, kind), padding))
    language.use(name)
    drawn(tab, scale)
    assert builtins.sorted(set(narrow)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_every_command_and_tab_has_a_title_in_every_language(name):
    language.use(name)
    titles = [command.title for command in COMMANDS.values()] + [tab.title for tab in lower.TABS.values()]
    assert [title for title in titles if language._(title) == title and not title.isascii()] == []
    assert {title for title in titles if language._(title) == title} <= ALIKE
