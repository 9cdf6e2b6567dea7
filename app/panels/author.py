"""A lesson while it is written, at the left of the view: its steps, their words, what may be changed in them, and the
question with its answer. What is shown in the rest of the window becomes a step at a click."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import movable
from ...physics.lesson.schema import CONTROLS, QUESTIONS, OptionTable
from ...physics.run.messages import Snapshot
from ...physics.scene.form import Location
from ...physics.scene.toml_writer import inline
from ..author import Author
from ..ui_state import Rect, UiState
from . import style
from .fields import read_value
from .rows import FULL
from .wrapping import text_wrapped

MARKS = ("hidden", "locked", "open")  # of a control
TITLES = {"": N_("No question"), "number": N_("A number"), "choice": N_("One of some answers"),
          "first": N_("What is first"),
          "greatest": N_("What is the greatest"), "sketch": N_("A curve to draw"), "point": N_("A point to place"),
          "arrow": N_("An arrow to draw")}
LONG = ("text", "ask", "why")  # fields with words of many lines
PAIRS = ("measure", "of")      # tables of names


@dataclass
class Typing:
    """What is being typed, by the field."""

    texts: dict[Location, str] = field(default_factory=dict)


def draw_author(ui: UiState, snapshot: Snapshot, rect: Rect) -> None:
    """The whole panel."""
    author = ui.author
    with style.panel("author", rect, imgui.WindowFlags_.no_scrollbar) as shown:
        if not shown:
            return
        _heading(ui, author)
        foot = 2.0 * (imgui.get_frame_height() + imgui.get_style().item_spacing.y)
        imgui.begin_child(f"written_{author.number}", (0.0, -foot))
        if author.steps:
            _step(ui, author, author.steps[author.number], snapshot)
        else:
            style.muted(ui, _("Bring the window to what the first step is to show: a scene, its settings, the view, a "
                            "tab below with curves. Then add a step."), wrap=True)
        imgui.end_child()
        _foot(ui, author)


def _heading(ui: UiState, author: Author) -> None:
    """The lesson's title, a button a step, and one that adds a step."""
    style.heading(ui, _("Lesson"))
    imgui.same_line(style.right_edge() - 1.6 * ui.font)
    with style.color(imgui.Col_.button, (0, 0, 0, 0)):
        if imgui.small_button("\uf00d##leave_author"):
            ui.request("author_leave")
    imgui.set_item_tooltip(_("Stop writing; all that can be used is in {path}").format(path=author.path))
    _field(ui, author, ("lesson", "title"), author.document.get(("lesson", "title")), _("Title of the lesson"), False)
    c = style.colors(ui)
    for k, step in enumerate(author.steps):
        here = k == author.number
        with style.color(imgui.Col_.button, c.accent if here else c.raised), \
                style.color(imgui.Col_.text, c.on_accent if here else c.text):
            if imgui.small_button(f" {k + 1} ##write_{k}"):
                author.number = k
        imgui.set_item_tooltip(str(step.get("title", "")))
        imgui.same_line(0, 0.25 * ui.font)
    if imgui.small_button(labelled("\uf067  Add what is shown##author_add")):
        ui.request("author_add")
    imgui.set_item_tooltip(_("A step with the scene, its settings and instant, the view, its switches and the tab "
                             "below, as they are now"))


def _step(ui: UiState, author: Author, step: Mapping[str, Any], snapshot: Snapshot) -> None:
    at = ("step", author.number)
    _field(ui, author, (*at, "title"), step.get("title"), _("Title of the step"), False)
    _field(ui, author, (*at, "text"), step.get("text"),
           _("Text; a formula stands between $$ and $$ in a line of its own"),
           True)
    scene = next((s["scene"] for s in reversed(author.steps[: author.number + 1]) if "scene" in s), _("no scene"))
    style.muted(ui, _("Shows {scene} at {value:g} s, and runs until [s]").format(scene=scene, value=step.get('at', 0)),
                wrap=True)
    _field(ui, author, (*at, "until"), step.get("until"), _("nothing runs"), False)
    if imgui.button(labelled("\uf01e  Take what is shown##author_take")):
        ui.request("author_take")
    imgui.set_item_tooltip(_("Scene, settings, instant, view and tab as they are now; words, controls and question "
                             "stay"))
    for by, icon, tip in ((-1, "\uf053", _("Before the step in front of it")),
                          (1, "\uf054", _("Behind the next step"))):
        imgui.same_line(0, 0.3 * ui.font)
        if imgui.button(f"{icon}##author_move_{by}"):
            author.move(by)
        imgui.set_item_tooltip(tip)
    imgui.same_line(0, 0.3 * ui.font)
    if imgui.button("\uf1f8##author_delete"):
        author.remove()
        return
    imgui.set_item_tooltip(_("Delete this step"))
    if imgui.collapsing_header(f"{_('Controls')}{_counted(step)}###author_controls"):
        _controls(ui, author, step)
    _question(ui, author, step, snapshot)


def _counted(step: Mapping[str, Any]) -> str:
    """ ": 2 open, 1 locked"."""
    parts = [f"{len(step[name])} {word}" for name, word in (("controls", _("open")), ("locked", _("locked")))
             if step.get(name)]
    return f": {', '.join(parts)}" if parts else _(": all hidden")


def _controls(ui: UiState, author: Author, step: Mapping[str, Any]) -> None:
    """Of every control whether it is hidden, seen or free."""
    lists = {"open": list(step.get("controls", ())), "locked": list(step.get("locked", ()))}
    for name in CONTROLS:
        now = next((mark for mark in ("open", "locked") if name in lists[mark]), "hidden")
        imgui.align_text_to_frame_padding()
        with style.font(ui, size=14.0):
            imgui.text(style.clipped_text(name.replace("_", " "), 9.0 * ui.font))
        for k, mark in enumerate(MARKS):
            imgui.same_line(9.6 * ui.font + k * 4.6 * ui.font)
            if style.tab(ui, mark, mark == now, f"{name}_{mark}") and mark != now:
                kept = {m: [n for n in names if n != name] for m, names in lists.items()}
                if mark != "hidden":
                    kept[mark] = [n for n in CONTROLS if n in (*kept[mark], name)]
                author.edit(lambda document, kept=kept: [
                    document.put(("step", author.number, "controls"), kept["open"] or None),
                    document.put(("step", author.number, "locked"), kept["locked"] or None)])


# --------------------------------------------------------------------------------------------------- question


def _question(ui: UiState, author: Author, step: Mapping[str, Any], snapshot: Snapshot) -> None:
    question = step.get("question", {})
    kind = str(question.get("type", ""))
    imgui.dummy((0, 0.2 * ui.font))
    style.heading(ui, _("Question"))
    imgui.set_next_item_width(FULL)
    if imgui.begin_combo("##author_question", _(TITLES.get(kind, kind)), imgui.ComboFlags_.height_large):
        for name, title in TITLES.items():
            if imgui.selectable(f"{title}##ask_{name}", name == kind)[0] and name != kind:
                author.ask(name, _bodies(snapshot))
        imgui.end_combo()
    if kind not in QUESTIONS:
        return
    for name, info in QUESTIONS[kind].model_fields.items():
        at, help = ("step", author.number, "question", name), info.description or ""
        if name == "type":
            continue
        style.muted(ui, name.capitalize())
        imgui.set_item_tooltip(help)
        if name == "option":
            _options(ui, author, at, question.get(name, ()))
        elif name in PAIRS:
            _pairs(ui, author, at, question.get(name, {}))
        else:
            _field(ui, author, at, question.get(name), help, name in LONG)


def _bodies(snapshot: Snapshot) -> list[str]:
    """The bodies of what runs, those that move first."""
    moves = movable(snapshot.model.kind)
    names = snapshot.labels.bodies
    return [n for n, m in zip(names, moves, strict=True) if m] + [n for n, m in zip(names, moves, strict=True) if not m]


def _options(ui: UiState, author: Author, at: Location, options: Sequence[Mapping[str, Any]]) -> None:
    """The answers to choose from: words, when they are right, and why."""
    for k, option in enumerate(options):
        for name, info in OptionTable.model_fields.items():
            _field(ui, author, (*at, k, name), option.get(name), f"{name}: {info.description}", False)
        if len(options) > 2 and imgui.small_button(labelled(f"\uf00d  Leave it out##option_{k}")):
            author.edit(lambda document, k=k: document.remove((*at, k)))
        imgui.dummy((0, 0.3 * ui.font))
    if imgui.small_button(labelled("\uf067  Another answer##author_option")):
        author.edit(lambda document: document.append(at, {"text": _("Another answer"), "when": "0"}))


def _pairs(ui: UiState, author: Author, at: Location, table: Mapping[str, Any]) -> None:
    """Names, and what each of them is."""
    for k, (name, value) in enumerate(table.items()):
        wide = 0.32 * imgui.get_content_region_avail().x
        typed = _typed(ui, (*at, "name", k), name, wide, _("a name"), False)
        if typed is not None:
            others = {(typed if key == name else key): v for key, v in table.items() if typed or key != name}
            author.edit(lambda document, others=others: document.put(at, others or None))
        imgui.same_line(0, 0.3 * ui.font)
        _field(ui, author, (*at, name), value, "", False)
    if imgui.small_button(labelled(f"\uf067  Another name##{at[-1]}")):
        free = next(name for name in "abcdefghijklmnopqrstuvwxyz" if name not in table)
        value = "energy" if at[-1] == "measure" else "0"
        author.edit(lambda document: document.put(at, {**table, free: value}))


# ----------------------------------------------------------------------------------------------------- fields


def _field(ui: UiState, author: Author, at: Location, given: Any, hint: str, many: bool) -> None:
    """A field: words as they are, numbers and lists as in a file. What is wrong with it stands below."""
    shown = "" if given is None else given if isinstance(given, str) else inline(given)
    typed = _typed(ui, at, shown, FULL, hint, many)
    if typed is not None:
        words = many or at[-1] in ("title", "text") or not typed.strip()
        value = typed if words else read_value(typed)
        author.edit(lambda document: document.put(at, value if typed.strip() else None))
    for problem in author.problems_at(at[2:]) if at[0] == "step" else ():
        with style.color(imgui.Col_.text, style.colors(ui).danger), style.font(ui, size=14.0):
            text_wrapped(f"\uf071  {problem}")


def _typed(ui: UiState, at: Location, shown: str, width: float, hint: str, many: bool) -> str | None:
    """What was typed into a field, once it is left."""
    texts = ui.state_of(Typing).texts
    label = f"##{'.'.join(map(str, at))}"
    imgui.set_next_item_width(width)
    if many:
        lines = 2 + texts.get(at, shown).count("\n") + len(texts.get(at, shown)) // 40
        changed, text = imgui.input_text_multiline(
            label, texts.get(at, shown), (imgui.get_content_region_avail().x, min(lines, 12) * 1.2 * ui.font),
            imgui.InputTextFlags_.word_wrap)
    else:
        changed, text = imgui.input_text_with_hint(label, hint, texts.get(at, shown))
    if changed:
        texts[at] = text
    if hint and imgui.is_item_hovered():
        imgui.set_tooltip(hint)
    return texts.pop(at, None) if imgui.is_item_deactivated_after_edit() else None


def _foot(ui: UiState, author: Author) -> None:
    """Try it, back and on; and where it is."""
    c = style.colors(ui)
    imgui.begin_disabled(author.lesson is None or not author.steps or bool(author.problems) or author.pending)
    with style.color(imgui.Col_.button, c.accent), style.color(imgui.Col_.text, c.on_accent):
        if imgui.button(labelled("\uf04b  Try it##author_try")):
            ui.request("author_try")
    imgui.end_disabled()
    imgui.set_item_tooltip(_("As a student sees it, from this step on; closing it leads back here"))
    for by, words in ((1, labelled("\uf0e2  Undo##author_undo")), (-1, labelled("Redo##author_redo"))):
        imgui.same_line(0, 0.4 * ui.font)
        if imgui.button(words):
            author.undo(by)
    with style.font(ui, size=13.0):
        if not author.steps:
            style.muted(ui, style.clipped_text(_("It is saved once it has a step"), imgui.get_content_region_avail().x))
        elif author.problems:
            with style.color(imgui.Col_.text, c.danger):
                imgui.text(style.clipped_text(f"\uf071  {author.problems[0].partition(': ')[2]}",
                                              imgui.get_content_region_avail().x))
            imgui.set_item_tooltip("\n".join(author.problems))
        else:
            style.muted(ui, style.clipped_text(f"In {author.path}", imgui.get_content_region_avail().x))
