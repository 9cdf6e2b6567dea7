"""The table of pairs: what any two materials of the scene do to each other, by rule or as it is given."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.scene.document import Document
from ...physics.scene.form import Location
from ...physics.scene.schema import Material, pair_friction
from ..ui_state import UiState
from . import style
from .fields import Rows, read_number, written

TABLE: Location = ("pair",)
#: columns: field of a pair, its letter and what it is
COLUMNS = {"restitution": ("e", N_("Restitution")), "friction": ("μ", N_("Friction")),
           "friction_static": ("μₛ", N_("Static friction"))}
CELL = 3.1  # width of a number [font heights]


def materials_of(document: Document) -> list[str]:
    """The materials that bodies can be of, "default" where one says none."""
    bodies = document.data.get("body", ())
    unsaid = any("material" not in body and any("material" not in shape for shape in body.get("shape", ()))
                 for body in bodies)
    return [*(["default"] if unsaid else []), *document.data.get("material", ())]


def pairs_of(document: Document) -> Iterator[tuple[str, str, int]]:
    """All pairs of two materials, and the place of the table that is given for each, -1 where none is."""
    given = {frozenset(pair.get("materials", ())): k for k, pair in enumerate(document.data.get("pair", ()))}
    for a, b in combinations(materials_of(document), 2):
        yield a, b, given.get(frozenset((a, b)), -1)
    for names, k in given.items():
        if len(names) == 1:  # a material on itself
            yield *(2 * tuple(names)), k


def by_rule(document: Document, a: str, b: str, field: str) -> float | None:
    """What a pair has where nothing is given; None where that depends on more, or is nothing."""
    tables = [{**_plain(), **document.data.get("material", {}).get(name, {})} for name in (a, b)]
    one, other = (table.get(field) for table in tables)
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return None
    return max(one, other) if field == "restitution" else pair_friction(one, other) if field == "friction" else None


def _plain() -> dict[str, Any]:
    return Material().model_dump()


def draw_pairs(ui: UiState) -> None:
    """A row a pair: a click on its name opens all its fields, a number that is typed is given for it."""
    document = ui.workbench.document
    rows = list(pairs_of(document))
    if not rows:
        style.muted(ui, _("All bodies are of one material: add another one to the scene, and its pairs stand here."),
                    wrap=True)
        return
    style.muted(ui, _("Grey: by rule, the greater restitution and the geometric mean of the frictions. A number that "
                      "is typed is given for the pair; an empty field is by rule again."), wrap=True)
    with style.font(ui, size=14.0):
        if not imgui.begin_table("pairs", 1 + len(COLUMNS), imgui.TableFlags_.row_bg):
            return
        imgui.table_setup_column(_("Pair"), imgui.TableColumnFlags_.width_stretch)
        for letter, _words in COLUMNS.values():
            imgui.table_setup_column(letter, imgui.TableColumnFlags_.width_fixed, CELL * ui.font)
        imgui.table_headers_row()
        for a, b, place in rows:
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.align_text_to_frame_padding()
            with style.color(imgui.Col_.text, style.colors(ui).text if place >= 0 else style.colors(ui).muted):
                pressed = imgui.selectable(f"{a} – {b}##pair", False)[0]
            imgui.set_item_tooltip(_("{a} on {b}: all fields").format(a=a, b=b) if place >= 0 else
                                   _("{a} on {b}: by rule").format(a=a, b=b))
            if pressed and place >= 0:
                ui.workbench.choose(("pair", place))
            for name in COLUMNS:
                imgui.table_next_column()
                _cell(ui, a, b, place, name)
        imgui.end_table()


def _cell(ui: UiState, a: str, b: str, place: int, name: str) -> None:
    document = ui.workbench.document
    given = document.get(("pair", place, name)) if place >= 0 else None
    rule = by_rule(document, a, b, name)
    wrong = place >= 0 and ui.workbench.problems_at(("pair", place, name))
    with style.color(imgui.Col_.text, style.colors(ui).danger if wrong else style.colors(ui).text):
        typed = Rows(ui, TABLE).typed(f"pair {a} {b} {name}", "" if given is None else written(given), CELL * ui.font,
                                      "" if rule is None else f"{rule:.3g}")
    words = _(COLUMNS[name][1])
    imgui.set_item_tooltip("\n".join([words, *wrong]) if wrong else words)
    if typed is not None:
        value = read_number(typed) if typed.strip() else None
        ui.edit(_("Set {title} of {what}").format(title=words.lower(), what=f"{a} – {b}"),
                lambda d: give(d, a, b, name, value))


def give(document: Document, a: str, b: str, name: str, value: Any) -> None:
    """Give a field of a pair, or leave it to the rule (None). A pair of which nothing is given is none."""
    place = next((k for one, other, k in pairs_of(document) if {one, other} == {a, b}), -1)
    if place < 0:
        if value is not None:
            document.append(("pair",), {"materials": [a, b], name: value})
        return
    document.put(("pair", place, name), value)
    if set(document.get(("pair", place))) == {"materials"}:
        document.remove(("pair", place))
