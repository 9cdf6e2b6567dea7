"""Widgets for the fields of a scene file, made from what the schema says of them. A new field needs no code here."""

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from imgui_bundle import imgui
from pydantic import ValidationError

from ...physics.core.language import _, labelled
from ...physics.scene import edits
from ...physics.scene.checks import most_rounding
from ...physics.scene.fields import LIST, Field, fields, table_at
from ...physics.scene.form import Location, path_text
from ...physics.scene.schema import SHAPES, TABLES, Hull
from ...physics.scene.toml_writer import inline
from ..ui_state import UiState
from . import style
from .wrapping import text_wrapped

WIDEST_TEXT = 4000  # letters of a text that is typed
DECADES = 1000.0    # greatest ratio of the ends of a slider
SPACING = 0.25      # between numbers [font heights]
NARROWEST = 2.6     # room for a number, or half of a name [font heights]


@dataclass
class Typing:
    """What is being typed into fields, by their labels."""

    texts: dict[str, str] = field(default_factory=dict)


class Rows:
    """The rows of the table at a location; an edit of a body goes to all `places`."""

    def __init__(self, ui: UiState, place: Location, places: tuple[Location, ...] = ()) -> None:
        self.ui, self.place = ui, place
        self.places = places or (place,)
        self.document = ui.workbench.document

    def draw(self, skip: tuple[str, ...] = ()) -> None:
        table = self.document.get(self.place) or {}
        for entry in fields(table_at(self.document.data, self.place)):
            if entry.name not in skip:
                self._row(entry, table)

    # ------------------------------------------------------------------------------------------- one row

    def _row(self, entry: Field, table: Mapping[str, Any]) -> None:
        ui, at = self.ui, (*self.place, entry.name)
        label, given = path_text(at), table.get(entry.name)
        if entry.kind in ("table", LIST):
            self._tables(entry, at, given)
            return
        c, edge = style.colors(ui), style.right_edge()
        width, differ = 7.6 * ui.font, len(self._values(entry)) > 1
        end = 1.7 * ui.font if given is not None and not entry.needed else 0.0
        beside = edge - width - 0.6 * ui.font
        roomy = beside > NARROWEST * max(entry.count, 2) * ui.font and self._fits(entry, given, beside - end)
        roomy = roomy or entry.kind == "flag"  # else below its name
        if roomy:
            imgui.align_text_to_frame_padding()
        mark = " ≠" if differ else " *" if entry.needed else ""
        with style.color(imgui.Col_.text, c.text if given is not None else c.muted), style.font(ui, size=14.0):
            imgui.text(style.clipped_text(_(entry.title), width - imgui.calc_text_size(mark).x) + mark)
        imgui.set_item_tooltip(self._help(entry) + (_("\nThe chosen bodies differ; this is the first one's.") if differ
                                                    else ""))
        unit = f" {entry.unit}" if entry.unit and entry.kind in ("number", "whole") else ""
        if roomy:
            imgui.same_line(width + 0.6 * ui.font)
        room = imgui.get_content_region_avail().x - end - (imgui.calc_text_size(unit).x if unit else 0.0)
        room, ends = max(room, 3.0 * ui.font), self._ends(entry, table)
        if ends is not None:
            self.slider(entry, label, given, room, *ends)
        else:
            DRAWN[entry.kind](self, entry, label, given, room)
        if unit:
            imgui.same_line(0, 0)
            style.muted(ui, unit)
        if end:
            imgui.same_line(edge - 1.2 * ui.font)
            with style.color(imgui.Col_.button, (0, 0, 0, 0)):
                if imgui.small_button(f"\uf00d##reset {label}"):
                    self.set(entry, None)
            imgui.set_item_tooltip(_("Leave it out: {default}").format(default=_said(entry.default)))
        self._problems(at)

    def _fits(self, entry: Field, given: Any, room: float) -> bool:
        """Whether numbers can be read in fields that share this room."""
        if entry.kind != "numbers" or not isinstance(given, list):
            return True
        wide = (room - (entry.count - 1) * SPACING * self.ui.font) / entry.count
        padding = 2.0 * imgui.get_style().frame_padding.x
        return max(imgui.calc_text_size(written(value)).x for value in given) + padding <= wide

    def _help(self, entry: Field) -> str:
        left_out = not entry.needed and entry.default not in (None, "", [])
        default = _("\nLeft out: {default}").format(default=_said(entry.default)) if left_out else ""
        return f"{entry.name}: {_(entry.help)}{default}"

    def _problems(self, at: Location) -> None:
        for problem in self.ui.workbench.problems_at(at):
            with style.color(imgui.Col_.text, style.colors(self.ui).danger), style.font(self.ui, size=14.0):
                text_wrapped("\uf071  " + problem)

    def _values(self, entry: Field) -> list[Any]:
        """What the field is in the tables that are edited, each value once."""
        values: list[Any] = []
        for place in self.places:
            value = self.document.get((*place, entry.name))
            values += [value] if value not in values else []
        return values

    def set(self, entry: Field, value: Any) -> None:
        """Set the field in all tables that are edited."""
        if self.place[0] == "body" and len(self.place) == 2 and entry.name == "name" and value:
            self.ui.edit(_("Name {value}").format(value=value), lambda d: edits.rename(d, int(self.place[1]), value))
            return
        self.change(entry, lambda place: value)

    def change(self, entry: Field, value_at: Callable[[Location], Any]) -> None:
        """Set the field in all tables that are edited to what it is to be in each."""
        default = None if entry.needed else entry.default
        what = _("the scene") if self.place[0] == "scene" else path_text(self.place)
        if self.place[0] == "body":
            bodies = [int(place[1]) for place in self.places]
            what = self.ui.workbench.called(bodies)
        name = _("Set {title} of {what}").format(title=_(entry.title).lower(), what=what)
        self.ui.edit(name, lambda d: [edits.set_field(d, (*p, entry.name), value_at(p), default) for p in self.places])

    # ------------------------------------------------------------------------------------------- kinds

    def text(self, entry: Field, label: str, given: Any, room: float) -> None:
        if entry.names:
            self._name(entry, label, given, room, lambda value: self.set(entry, value))
            return
        shown = "" if given is None else str(given)
        if entry.help.startswith("text"):
            self._many_lines(entry, label, shown, room)
            return
        typed = self.typed(label, shown, room, _said(entry.default) if entry.default else "")
        if typed is not None:
            self.set(entry, typed or None)

    def _many_lines(self, entry: Field, label: str, shown: str, room: float) -> None:
        texts = self.ui.state_of(Typing).texts
        if imgui.get_cursor_pos_x() > imgui.get_cursor_start_pos().x:  # beside the name
            imgui.new_line()
        room = imgui.get_content_region_avail().x - (1.7 * self.ui.font if shown else 0.0)
        lines = 1 + len(texts.get(label, shown)) * 0.55 * self.ui.font / max(room, 1.0)
        flags = imgui.InputTextFlags_.word_wrap
        changed, text = imgui.input_text_multiline(
            f"##{label}", texts.get(label, shown), (room, (min(lines, 9.0) + 0.6) * 1.1 * self.ui.font), flags)
        if changed:
            texts[label] = text[:WIDEST_TEXT]
        if imgui.is_item_deactivated_after_edit():
            self.set(entry, texts.pop(label, shown) or None)

    def number(self, entry: Field, label: str, given: Any, room: float) -> None:
        hint = "" if entry.default is None else written(entry.default)
        typed = self.typed(label, "" if given is None else written(given), room, hint)
        if typed is not None:
            self.set(entry, read_number(typed, whole=entry.kind == "whole") if typed.strip() else None)

    def slider(self, entry: Field, label: str, given: Any, room: float, low: float, high: float) -> None:
        """A number of a small range; it is taken when the slider is let go, for what follows may take long."""
        texts = self.ui.state_of(Typing).texts
        default = float(entry.default if given is None else given) if isinstance(given, int | float | None) else low
        shown, flags = float(texts.get(label, default)), imgui.SliderFlags_.logarithmic if low > 0.0 else 0
        imgui.set_next_item_width(room)
        if entry.kind == "whole":
            changed, value = imgui.slider_int(f"##{label}", round(shown), round(low), round(high), "%d", flags)
        else:
            changed, value = imgui.slider_float(f"##{label}", shown, low, high, "%.3g", flags)
        if changed:
            texts[label] = repr(value)
        if imgui.is_item_deactivated_after_edit():
            value = float(texts.pop(label, default))
            self.set(entry, round(value) if entry.kind == "whole" else min(float(f"{value:.3g}"), high))

    def _ends(self, entry: Field, table: Mapping[str, Any]) -> tuple[float, float] | None:
        """Of the slider of a number; None where it has none."""
        if entry.name == "rounding":
            most = self._roundest(table)
            return (0.0, most) if most > 0.0 else None
        return (entry.low or 0.0, entry.high or 0.0) if slides(entry) else None

    def _roundest(self, table: Mapping[str, Any]) -> float:
        """Up to which a shape is rounded [m]: a hull, which grows by its rounding, until it is twice as long; 0 of a
        shape that is not complete yet."""
        try:
            shape = SHAPES[str(table.get("type"))].model_validate(dict(table))
        except (KeyError, ValidationError):
            return 0.0
        if isinstance(shape, Hull):
            return max(0.5 * max(self.ui.workbench.extent([int(self.place[1])])) - shape.rounding, 0.0)
        return most_rounding(shape)

    def numbers(self, entry: Field, label: str, given: Any, room: float) -> None:
        count, spacing = entry.count, SPACING * self.ui.font
        wide = (room - (count - 1) * spacing) / count
        values = given if isinstance(given, list) and len(given) == count else None
        for k in range(count):
            if k:
                imgui.same_line(0, spacing)
            hint = written(entry.default[k]) if entry.default is not None else ""
            typed = self.typed(f"{label} {k}", written(values[k]) if values else "", wide, hint)
            if typed is not None:
                number = read_number(typed) if typed.strip() else 0.0
                self.change(entry, lambda place, k=k, number=number: self._with(entry, place, k, number))

    def _with(self, entry: Field, place: Location, k: int, number: Any) -> list[Any]:
        """The numbers of a table with another one in place k: what is typed for several bodies leaves their others."""
        given, count = self.document.get((*place, entry.name)), entry.count
        if not isinstance(given, list) or len(given) != count:
            given = entry.default or ((1.0, *(count - 1) * (0.0,)) if count == 4 else count * (0.0,))
        return [*given[:k], number, *given[k + 1 :]]

    def names(self, entry: Field, label: str, given: Any, room: float) -> None:
        values = list(given) if isinstance(given, list) else entry.count * [""]
        wide = (room - 0.3 * self.ui.font) / max(entry.count, 1)
        for k, value in enumerate(values[: entry.count]):
            if k:
                imgui.same_line(0, 0.3 * self.ui.font)
            self._name(entry, f"{label} {k}", value, wide,
                       lambda chosen, k=k: self.set(entry, [*values[:k], chosen, *values[k + 1 :]]))

    def _name(self, entry: Field, label: str, given: Any, room: float, choose: Callable[[Any], None]) -> None:
        if entry.names == "material":
            known = list(dict.fromkeys(["default", *self.document.data.get("material", ())]))
        else:
            known = [*(["world"] if "world" in entry.help else []), *edits.names(self.document),
                     *(edits.groups(self.document.data.get("body", ())) if "groups" in entry.help else ())]
        self._combo(label, given if given is not None else entry.default or "", known, room, choose)

    def choice(self, entry: Field, label: str, given: Any, room: float) -> None:
        shown = given if given is not None else entry.default or ""
        self._combo(label, shown, list(entry.choices), room, lambda value: self.set(entry, value))

    def _combo(self, label: str, shown: str, known: list[str], room: float, choose: Callable[[Any], None]) -> None:
        imgui.set_next_item_width(room)
        if imgui.begin_combo(f"##{label}", shown.replace("_", " "), imgui.ComboFlags_.height_large):
            for k, name in enumerate(known):
                if imgui.selectable(f"{name.replace('_', ' ')}##{k}", name == shown)[0] and name != shown:
                    choose(name)
            imgui.end_combo()

    def flag(self, entry: Field, label: str, given: Any, room: float) -> None:
        changed, value = imgui.checkbox(f"##{label}", bool(given))
        if changed:
            self.set(entry, value)

    def color(self, entry: Field, label: str, given: Any, room: float) -> None:
        texts = self.ui.state_of(Typing).texts
        shown = given if isinstance(given, str) else hexadecimal(given) if given else ""
        value = texts.get(f"{label} picked", shown) or "#808080"
        rgb = list(style.rgb(value)[:3]) if len(value) == 7 else [0.5, 0.5, 0.5]
        changed, picked = imgui.color_edit3(f"##{label} picked", rgb, imgui.ColorEditFlags_.no_inputs)
        if changed:
            texts[f"{label} picked"] = hexadecimal(picked)
        if imgui.is_item_deactivated_after_edit():
            self.set(entry, texts.pop(f"{label} picked", shown))
        imgui.same_line(0, 0.3 * self.ui.font)
        typed = self.typed(label, shown, max(room - 1.9 * self.ui.font, 2.0 * self.ui.font), _("of its own"))
        if typed is not None:
            self.set(entry, typed.strip() or None)

    def toml(self, entry: Field, label: str, given: Any, room: float) -> None:
        typed = self.typed(label, "" if given is None else inline(given), room, "")
        if typed is not None:
            self.set(entry, read_value(typed) if typed.strip() else None)

    def words(self, entry: Field, label: str, given: Any, room: float) -> None:
        shown = ", ".join(map(str, given)) if isinstance(given, list) else ""
        typed = self.typed(label, shown, room, _("words, with commas between"))
        if typed is not None:
            self.set(entry, [word.strip() for word in typed.split(",") if word.strip()] or None)

    def typed(self, label: str, shown: str, room: float, hint: str) -> str | None:
        """A field of one line: what was typed, once it is complete."""
        texts = self.ui.state_of(Typing).texts
        imgui.set_next_item_width(room)
        changed, text = imgui.input_text_with_hint(f"##{label}", hint, texts.get(label, shown),
                                                   imgui.InputTextFlags_.auto_select_all)
        if changed:
            texts[label] = text[:WIDEST_TEXT]
        if imgui.is_item_deactivated_after_edit():
            text = texts.pop(label, shown)
            return text if text != shown else None
        if imgui.is_item_deactivated():
            texts.pop(label, None)
        return None

    # ------------------------------------------------------------------------------------------- tables

    def _tables(self, entry: Field, at: Location, given: Any) -> None:
        ui, label = self.ui, path_text(at)
        count = (len(given) if entry.kind == LIST else 1) if given else 0
        imgui.dummy((0, 0.1 * ui.font))
        edge = style.right_edge()
        imgui.align_text_to_frame_padding()
        style.heading(ui, _(entry.title) if entry.kind != LIST else f"{_(entry.title)} ({count})")
        imgui.set_item_tooltip(self._help(entry))
        imgui.same_line(edge - 1.2 * ui.font)
        if entry.kind == LIST or given is None:
            self._adder(entry, at, label)
        elif imgui.small_button(f"\uf1f8##remove {label}"):
            self.ui.edit(_("Remove {title}").format(title=_(entry.title).lower()), lambda d: d.remove(at))
            return
        else:
            Rows(ui, at).draw()
        for k in range(count if entry.kind == LIST else 0):
            self._entry(entry, (*at, k), k, count)
        self._problems(at)

    def _adder(self, entry: Field, at: Location, label: str) -> None:
        if imgui.small_button(f"\uf067##add {label}"):
            if entry.table == "shape":
                imgui.open_popup(f"add {label}")
            else:
                self._add(entry, at, first(self.document, f"{at[0]}.{entry.table}", entry.table))
        imgui.set_item_tooltip(_("Add: {help}").format(help=_(entry.help)))
        if entry.table == "shape" and imgui.begin_popup(f"add {label}"):
            for kind, shape in edits.FIRST.items():
                if imgui.menu_item_simple(labelled(kind.capitalize())):
                    self._add(entry, at, {"type": kind, **shape})
            imgui.end_popup()

    def _add(self, entry: Field, at: Location, table: dict[str, Any]) -> None:
        if entry.kind == LIST:
            self.ui.edit(_("Add {name}").format(name=entry.name), lambda d: d.append(at, table))
        else:
            self.ui.edit(_("Add {name}").format(name=entry.name), lambda d: d.extend(at, [table]))

    def _entry(self, entry: Field, at: Location, k: int, count: int) -> None:
        table = self.document.get(at) or {}
        title = str(table.get("type", f"{entry.name} {k + 1}")).capitalize()
        edge = style.right_edge()
        imgui.set_next_item_open(count == 1 or entry.table != "shape", imgui.Cond_.appearing)
        opened = imgui.tree_node_ex(f"{title}##{path_text(at)}", imgui.TreeNodeFlags_.allow_overlap
                                    | imgui.TreeNodeFlags_.span_avail_width)
        imgui.same_line(edge - 1.2 * self.ui.font)
        with style.color(imgui.Col_.button, (0, 0, 0, 0)):
            if imgui.small_button(f"\uf1f8##remove {path_text(at)}"):
                self.ui.edit(_("Remove {title}").format(title=_(title).lower()), lambda d: d.remove(at))
        imgui.set_item_tooltip(_("Remove"))
        if opened:
            if self.document.get(at) is not None:
                Rows(self.ui, at).draw()
            imgui.tree_pop()


#: kind of a field -> the method that draws it
DRAWN: dict[str, Callable[..., None]] = {
    "text": Rows.text, "number": Rows.number, "whole": Rows.number, "numbers": Rows.numbers, "names": Rows.names,
    "words": Rows.words, "choice": Rows.choice, "flag": Rows.flag, "color": Rows.color, "toml": Rows.toml,
}


def slides(entry: Field) -> bool:
    """Whether the range of a number is small enough for a slider, which counts in powers of ten."""
    return entry.kind in ("number", "whole") and entry.low is not None and entry.high is not None and (
        0.0 < entry.high <= DECADES * entry.low)


def first(document: edits.Document, table: str, name: str) -> dict[str, Any]:
    """A new table: fields that have to be there, with values to begin with."""
    key = table if table in TABLES else name
    known = edits.names(document)
    made: dict[str, Any] = {}
    for entry in fields(key):
        if not entry.needed:
            continue
        if entry.names == "material":
            made[entry.name] = ["default", "default"] if entry.kind == "names" else "default"
        elif entry.names:
            some = (known + known)[-2:] if len(known) < 2 else known[-2:]
            one = "world" if "world" in entry.help and "world" not in made.values() else some[-1] if some else ""
            made[entry.name] = {"names": some, "toml": some[-1:]}.get(entry.kind, one)
        else:
            made[entry.name] = _beginning(entry)
    return made


def _beginning(entry: Field) -> Any:
    if entry.kind == "numbers":
        return entry.count * [max(entry.low or 0.0, 0.0) and 1.0]
    if entry.kind == "choice":
        return entry.choices[0]
    return {"number": 1.0, "whole": 1, "text": "", "flag": False}.get(entry.kind, [1, 1, 1])


def written(value: Any) -> str:
    """A number as it stands in a file, without what says nothing."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def read_number(text: str, whole: bool = False) -> Any:
    """A number that was typed, or a fraction such as 1/240; other text as it is, for the checks to refuse it."""
    top, slash, bottom = text.replace(",", ".").replace("−", "-").partition("/")
    try:
        value = float(top) / float(bottom) if slash else float(top)
    except (ValueError, ZeroDivisionError):
        return text
    if whole or (math.isfinite(value) and "." not in text and "e" not in text.lower() and not slash):
        return int(value) if math.isfinite(value) and value == int(value) else value
    return value


def read_value(text: str) -> Any:
    """A value as in a scene file; other text as it is, for the checks to refuse it."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text


def hexadecimal(rgb: Any) -> str:
    return "#" + "".join(f"{round(255 * min(max(v, 0.0), 1.0)):02x}" for v in list(rgb)[:3])


def _said(value: Any) -> str:
    return _("as it is without") if value is None else json.dumps(value, ensure_ascii=False)
