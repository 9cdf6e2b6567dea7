"""The panels of the workbench: at the left what the scene holds and what can be added, at the right the fields of what
is chosen, below the tools."""

from pathlib import Path
from typing import Any

from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.scene import edits
from ...physics.scene.document import Document
from ...physics.scene.fields import fields, tables
from ...physics.scene.form import Location
from ..keys import key_of
from ..ui_state import Rect, UiState
from . import style
from .fields import Rows, first, read_number, written
from .pairs import TABLE as PAIRS
from .pairs import draw_pairs
from .wrapping import text_wrapped

#: joints that can be added, and what they let their bodies do
JOINTS = {
    "hinge": N_("turns about one axis"), "slider": N_("moves along one axis"), "ball": N_("turns about a point"),
    "universal": N_("turns about two axes"), "screw": N_("turns and moves along one axis"), "fixed": N_("holds all"),
}
#: headings of the tables of a scene
TITLES = {
    "scene": N_("Scene"), "camera": N_("First view"), "solver": N_("Solver"), "material": N_("Materials"),
          "compare": N_("Compared sides"),
    "pair": N_("Pairs of materials"), "body": N_("Bodies"), "array": N_("Arrays"), "spring": N_("Springs"),
          "joint": N_("Joints"),
    "apart": N_("Pass through each other"), "closed_form": N_("Closed forms"),
}
SCENE: Location = ("scene",)
SHORT = {"height_field": N_("Heights"), "superellipsoid": N_("Superell.")}  # on its button
FIRST_IN_LIST = ("scene", "body", "joint", "spring", "material", "pair")
#: icon, title, and what the tool does to what is chosen
NARROW = 40.0  # [heights of text] of the bar of tools, below which it scrolls
TOOLS = {
    "move": ("\uf047", N_("Move"), N_("Move what is chosen")),
         "turn": ("\uf2f1", N_("Turn"), N_("Turn what is chosen")),
    "scale": ("\uf424", N_("Scale"), N_("Scale what is chosen")),
    "velocity": ("→", N_("Throw"), N_("Drag the first velocity of what is chosen, as an arrow")),
    "spin": ("\uf2f9", N_("Spin"), N_("Drag the first angular velocity of what is chosen, as an arrow")),
}


# ------------------------------------------------------------------------------------------------ left


def draw_bench(ui: UiState, rect: Rect) -> None:
    """What the scene holds, and what can be added."""
    with style.panel("bench", rect) as shown:
        if not shown:
            return
        imgui.begin_child("bench_scroll")
        style.heading(ui, _("Add a body"))
        _shapes(ui)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, _("Join"))
        _joints(ui)
        imgui.dummy((0, 0.3 * ui.font))
        style.heading(ui, _("The scene"))
        kinds = tables()
        for name in (*FIRST_IN_LIST, *(name for name in kinds if name not in FIRST_IN_LIST)):
            _kind(ui, name, kinds[name])
        imgui.end_child()


def _columns(ui: UiState) -> tuple[int, float]:
    """How many buttons stand beside each other, and their width."""
    room, gap = imgui.get_content_region_avail().x, imgui.get_style().item_spacing.x
    with style.font(ui, size=14.0):
        longest = imgui.calc_text_size(_("Universal")).x + 2.0 * imgui.get_style().frame_padding.x
    count = max(1, min(3, int((room + gap) / (longest + gap))))
    return count, (room - (count - 1) * gap) / count


def _shapes(ui: UiState) -> None:
    """A button for each shape; a click begins placing."""
    bench = ui.workbench
    columns, wide = _columns(ui)
    for k, (kind, shape) in enumerate(edits.FIRST.items()):
        word = _(kind.replace("_", " "))
        if k % columns:
            imgui.same_line()
        on = bench.placing is not None and bench.undoes == _("Add {kind}").format(kind=kind)
        c = style.colors(ui)
        with style.color(imgui.Col_.button, c.accent if on else c.raised), style.font(ui, size=14.0), \
                style.color(imgui.Col_.button_hovered, c.accent if on else c.hovered), \
                style.color(imgui.Col_.text, c.on_accent if on else c.text):
            if imgui.button(labelled(f"{SHORT.get(kind, kind.capitalize())}##add"), (wide, 0)):
                bench.begin_placing({"type": kind, **shape})
        imgui.set_item_tooltip(_("A {word}: click in the view where it is to be. Esc gives up.").format(word=word))
    if len(edits.FIRST) % columns:
        imgui.same_line()
    with style.font(ui, size=14.0), style.color(imgui.Col_.button, style.colors(ui).raised):
        if imgui.button(labelled("Mesh …##add"), (wide, 0)):
            ui.request("add_mesh")
    imgui.set_item_tooltip(_("A body of a mesh file; or drop the file on the window"))


def _joints(ui: UiState) -> None:
    """A button for each joint, between the chosen bodies."""
    bench, known = ui.workbench, edits.names(ui.workbench.document)
    chosen = [k for k in bench.bodies if k < len(known)]
    ends = ["world", *(known[k] for k in chosen)][-2:]
    imgui.begin_disabled(len(chosen) not in (1, 2))
    columns, wide = _columns(ui)
    for k, (kind, does) in enumerate((*JOINTS.items(), ("spring", N_("pulls at both")))):
        if k % columns:
            imgui.same_line()
        with style.font(ui, size=14.0):
            pressed = imgui.button(labelled(f"{kind.capitalize()}##join"), (wide, 0))
        imgui.set_item_tooltip(_("{kind}: {does}. Between two chosen bodies, or the world and "
                                 "one.").format(kind=_(kind.capitalize()), does=_(does)))
        if pressed and len(chosen) in (1, 2):
            _join(ui, kind, ends, chosen)
    imgui.end_disabled()
    if len(chosen) in (1, 2):
        style.muted(ui, " – ".join(_("world") if end == "world" else end for end in ends), wrap=True)
    else:
        style.muted(ui, _("Choose one body (with the world) or two."), wrap=True)


def _join(ui: UiState, kind: str, ends: list[str], chosen: list[int]) -> None:
    bench = ui.workbench
    place = edits.pose(bench.document.get(("body", chosen[-1]))).position
    name = _("Join {a} and {b}").format(a=ends[0], b=ends[1])
    if kind == "spring":
        made = ui.edit(name, lambda d: ("spring", edits.add_spring(d, ends[0], ends[1])))
    else:
        made = ui.edit(name, lambda d: ("joint", edits.add_joint(d, kind, ends[0], ends[1], place.tolist())))
    if made is not None:
        bench.choose(made)
        ui.say(_("Its ends are set at the right.") if kind == "spring" else
               _("Move drags its anchor, Turn its axis; all else is at the right."))


def _kind(ui: UiState, name: str, form: str) -> None:
    """The tables of one kind: one line each, and a button that adds one."""
    document = ui.workbench.document
    given = document.get((name,))
    if form == "table":
        _line(ui, (name,), _(TITLES.get(name, name.capitalize())), given is None)
        return
    count, edge = len(given or ()), style.right_edge()
    flags = imgui.TreeNodeFlags_.allow_overlap | imgui.TreeNodeFlags_.span_avail_width
    flags |= imgui.TreeNodeFlags_.default_open if name == "body" else 0
    opened = imgui.tree_node_ex(f"{_(TITLES.get(name, name))} ({count})###{name}", flags)
    if name != "body":
        imgui.same_line(edge - 1.2 * ui.font)
        with style.color(imgui.Col_.button, (0, 0, 0, 0)):
            if imgui.small_button(f"\uf067##new {name}"):
                _add(ui, name, form)
        imgui.set_item_tooltip(_("Add one"))
    if opened:
        if form == "named":
            for key in given or ():
                _line(ui, (name, key), key)
        elif name == "body":
            _bodies(ui, count)
        else:
            if name == "pair":
                _line(ui, PAIRS, _("Table of all pairs"))
            for k in range(count):
                _line(ui, (name, k), called(document, (name, k)))
        imgui.tree_pop()


def _bodies(ui: UiState, count: int) -> None:
    """The bodies, those of a group under its name, where the first of them stands."""
    bench = ui.workbench
    known, groups = edits.names(bench.document), edits.groups(bench.document.data.get("body", ()))
    groups = {name: members for name, members in groups.items() if len(members) > 1}
    of = {k: name for name, members in groups.items() for k in members}
    flags = imgui.TreeNodeFlags_.open_on_arrow | imgui.TreeNodeFlags_.span_avail_width
    for k in range(count):
        if k not in of:
            _line(ui, ("body", k), known[k])
        elif groups[of[k]][0] == k:
            members = groups[of[k]]
            on = imgui.TreeNodeFlags_.selected if set(members) <= set(bench.bodies) else 0
            with style.font(ui, size=14.0):
                unseen = "  \uf05e" if {known[m] for m in members} <= bench.hidden else ""
                opened = imgui.tree_node_ex(f"{of[k]} ({len(members)}){unseen}##group {of[k]}", flags | on)
            if imgui.is_item_clicked() and not imgui.is_item_toggled_open():
                bench.drop_placing()
                bench.choose(*(("body", m) for m in members))
            imgui.set_item_tooltip(_("A group: a click chooses all of it, as a double click on a body of it in the "
                                     "view"))
            if opened:
                for m in members:
                    _line(ui, ("body", m), known[m])
                imgui.tree_pop()


def _add(ui: UiState, name: str, form: str) -> None:
    document = ui.workbench.document
    if form == "named":
        k = 1
        while document.get((name, f"new {k}")) is not None:
            k += 1
        place: Location = (name, f"new {k}")
        ui.edit(_("Add {name}").format(name=name), lambda d: d.extend(place, [{f.name: f.default for f in fields(name)
                                                           if f.default is not None}]))
    else:
        table = first(document, name, name)
        made = ui.edit(_("Add {name}").format(name=name), lambda d: d.append((name,), table))
        place = (name, made if made is not None else 0)
    ui.workbench.choose(place)


def _line(ui: UiState, place: Location, title: str, unused: bool = False) -> None:
    """A table in the list; a click chooses it, with Ctrl beside what is chosen."""
    bench, c = ui.workbench, style.colors(ui)
    found = bench.built.overlaps if bench.placing is None else ()
    overlapping = place[0] == "body" and any(title in overlap.bodies for overlap in found)
    color = c.danger if overlapping or bench.problems_at(place) else c.muted if unused else c.text
    with style.color(imgui.Col_.text, color), style.font(ui, size=14.0):
        marks = "".join(mark for mark, of in (("  \uf023", bench.locked), ("  \uf05e", bench.hidden))
                        if place[0] == "body" and title in of)
        pressed = imgui.selectable(f"{title}{marks}##{place}", place in bench.chosen)[0]
    if pressed:
        bench.drop_placing()
        choose(ui, place, imgui.get_io().key_ctrl)


def choose(ui: UiState, place: Location, more: bool) -> None:
    """Choose a table; more: a body beside the others, or no longer."""
    bench = ui.workbench
    bodies = tuple(p for p in bench.chosen if p[0] == "body")
    if not more or place[0] != "body":
        bench.choose(place)
    elif place in bodies:
        bench.choose(*(p for p in bodies if p != place))
    else:
        bench.choose(*bodies, place)


def called(document: Document, place: Location) -> str:
    """A table of a list as a user knows it."""
    if place[0] == "body":
        return edits.names(document)[int(place[1])]
    table: dict[str, Any] = document.get(place) or {}
    ends = [str(table[f]) for f in edits.NAMING.get(str(place[0]), ()) if isinstance(table.get(f), str)]
    ends += [str(v) for f in ("materials", "bodies") for v in table.get(f, ())]
    kind = str(table.get("type", place[0]))
    return str(table.get("name") or f"{kind}: {' – '.join(ends)}" if ends else f"{kind} {int(place[1]) + 1}")


# ------------------------------------------------------------------------------------------------ right


def draw_inspector(ui: UiState, rect: Rect) -> None:
    """The fields of what is chosen."""
    bench = ui.workbench
    with style.panel("inspector", rect) as shown:
        if not shown:
            return
        imgui.begin_child("inspector_scroll")
        _wrong(ui)
        places = [place for place in bench.chosen if bench.document.get(place) is not None or len(place) == 1]
        places = places or [SCENE]
        place = places[0]
        with style.font(ui, bold=True, size=19.0):
            bodies = [int(p[-1]) for p in places if p[0] == "body"]
            text_wrapped(bench.called(bodies) if bodies else _title(ui, place))
        _actions(ui, place, bodies)
        _meshes(ui, bodies)
        if place[0] == "material":
            _material_name(ui, str(place[-1]))
        if place == PAIRS:
            draw_pairs(ui)
        else:
            Rows(ui, place, tuple(places)).draw(skip=("name",) if len(places) > 1 else ())
        imgui.dummy((0, ui.font))
        imgui.end_child()


def _meshes(ui: UiState, bodies: list[int]) -> None:
    """How far a check is that takes long, and what was assumed of the mesh files of the chosen bodies."""
    bench = ui.workbench
    if bench.checking is not None:
        words, share = bench.checking
        imgui.progress_bar(share, (-1, 0.5 * ui.font), "")
        style.muted(ui, f"{words} …", wrap=True)
        if bench.undoes and imgui.button(labelled("Take the edit back##checking")):
            ui.request("undo")
    shapes = [shape for k in bodies for shape in bench.document.get(("body", k, "shape")) or ()]
    files = {str(shape.get("file")) for shape in shapes if shape.get("type") == "mesh"}
    if not files:
        return
    with style.font(ui, size=14.0):
        for note in dict.fromkeys(bench.built.notes):
            if note.startswith(tuple(Path(file).name for file in files)):
                style.muted(ui, note, wrap=True)
        changed, on = imgui.checkbox(labelled("Show it as it collides, each part in a colour"), ui.view.as_collided)
        if changed:
            ui.view.as_collided = on


def _title(ui: UiState, place: Location) -> str:
    if len(place) == 1:
        return _(TITLES.get(str(place[0]), str(place[0])))
    return str(place[1]) if place[0] == "material" else called(ui.workbench.document, place)


def _wrong(ui: UiState) -> None:
    """What the checks refuse, and what overlaps."""
    bench, c = ui.workbench, style.colors(ui)
    quiet = not bench.problems and bench.placing is None
    with style.font(ui, size=14.0):
        for line in bench.problems[:4]:
            with style.color(imgui.Col_.text, c.danger):
                text_wrapped("\uf071  " + line.removeprefix("scene: "))
        if bench.problems:
            style.muted(ui, _("The view shows the last version that could run. Ctrl+Z takes the edit back."), wrap=True)
        for overlap in bench.built.overlaps[:4] if quiet else ():
            with style.color(imgui.Col_.text, c.danger):
                text_wrapped("\uf071  " + _("{a} and {b} overlap by {depth}").format(
                    a=overlap.bodies[0], b=overlap.bodies[1], depth=style.engineering(overlap.depth, "m")))
        if quiet and len(bench.built.overlaps) > 4:
            style.muted(ui, _("… and {overlaps} more pairs overlap.").format(overlaps=len(bench.built.overlaps) - 4))


def _actions(ui: UiState, place: Location, bodies: list[int]) -> None:
    """Buttons for what is chosen."""
    bench = ui.workbench
    with style.font(ui, size=14.0):
        if place[0] == "camera" and imgui.button(labelled("Take the present view")):
            ui.request("view_of_scene")
        if len(place) > 1:
            if imgui.button(labelled("\uf1f8  Delete")):
                ui.request("delete")
            imgui.set_item_tooltip(_("Delete  ({value})").format(value=key_of('delete')))
        if not bodies:
            return
        style.beside(labelled("\uf0c5  Duplicate"))
        if imgui.button(labelled("\uf0c5  Duplicate")):
            ui.request("duplicate")
        imgui.set_item_tooltip(_("Duplicate  ({value})").format(value=key_of('duplicate')))
        style.beside(labelled("\uf00a  Arrange"))
        if imgui.button(labelled("\uf00a  Arrange")):
            bench.tools.spacing = bench.extent(bodies)
            imgui.open_popup("arrange")
        if imgui.begin_popup("arrange"):
            _arrange(ui)
            imgui.end_popup()
        known = edits.names(bench.document)
        names = [known[k] for k in bodies if k < len(known)]
        grouped = {bench.document.get(("body", k, "group")) for k in bodies}
        if imgui.button(labelled("Group##bench") if len(grouped) > 1 or None in grouped
                        else labelled("Ungroup##bench")):
            ui.request("group")
        imgui.set_item_tooltip(_("Bodies of a group are chosen together  ({value})").format(value=key_of('group')))
        imgui.same_line()
        if imgui.button(labelled("Show##bench") if set(names) <= bench.hidden else labelled("Hide##bench")):
            ui.request("hide")
        imgui.set_item_tooltip(_("Not drawn while the scene is edited  ({value})").format(value=key_of('hide')))
        imgui.same_line()
        changed, locked = imgui.checkbox(labelled("Lock"), all(n in bench.locked for n in names))
        imgui.set_item_tooltip(_("The mouse leaves it alone"))
        if changed:
            bench.locked = bench.locked | set(names) if locked else bench.locked - set(names)


def _arrange(ui: UiState) -> None:
    """Copies in a grid or a circle, and mirror images."""
    tools = ui.workbench.tools
    style.heading(ui, _("Row, grid, tower"))
    given: dict[str, list[Any]] = {"count": tools.count, "spacing": tools.spacing}
    for name, values in given.items():
        for k in range(3):
            imgui.set_next_item_width(4.0 * ui.font)
            changed, text = imgui.input_text(f"##{name} {k}", written(values[k]))
            number = read_number(text, whole=name == "count")
            if changed and not isinstance(number, str):
                values[k] = max(int(number), 1) if name == "count" else number
            imgui.same_line()
        imgui.text(_("along x, y, z") if name == "count" else _("m apart"))
    if imgui.button(labelled("Make the grid##arrange")):
        count, spacing = list(tools.count), list(tools.spacing)
        ui.request("copies", (_("Arrange"), lambda d, chosen: edits.arrange(d, chosen, count, spacing)))
        imgui.close_current_popup()
    imgui.separator()
    style.heading(ui, _("Circle"))
    many, radius = tools.ring
    imgui.set_next_item_width(6.0 * ui.font)
    many = imgui.input_int(labelled("bodies##ring"), many)[1]
    imgui.set_next_item_width(6.0 * ui.font)
    radius = imgui.input_double(labelled("m radius"), radius, 0.0, 0.0, "%.6g")[1]
    tools.ring = min(max(many, 2), 1000), radius
    if imgui.button(labelled("Make the circle##arrange")):
        ring = tools.ring
        ui.request("copies", (_("Circle of"), lambda d, chosen: edits.circle(d, chosen, *ring)))
        imgui.close_current_popup()
    imgui.separator()
    style.heading(ui, _("Mirror"))
    imgui.set_next_item_width(6.0 * ui.font)
    tools.mirror = imgui.input_double(labelled("m from the origin##mirror"), tools.mirror, 0.0, 0.0,
                                      "%.6g")[1]
    for k, axis in enumerate("xyz"):
        if imgui.button(f"{_('Across {axis}').format(axis=axis)}###Across {axis}##mirror"):
            ui.request(f"mirror_{axis}")
            imgui.close_current_popup()
        if k < 2:
            imgui.same_line()


def _material_name(ui: UiState, name: str) -> None:
    """The name of a material, which is that of its table."""
    imgui.align_text_to_frame_padding()
    imgui.text(_("Name"))
    imgui.same_line(8.2 * ui.font)
    typed = Rows(ui, ("material", name)).typed(_("material name"), name, imgui.get_content_region_avail().x, "")
    if typed and ui.workbench.document.get(("material", typed)) is None:
        ui.edit(_("Name material {typed}").format(typed=typed), lambda d: edits.rename_material(d, name, typed))
        ui.workbench.choose(("material", typed))


# ------------------------------------------------------------------------------------------------ below


def draw_tools(ui: UiState, rect: Rect) -> None:
    """The tools of the mouse, undo and redo, and the button that lets the scene run."""
    bench = ui.workbench
    tools = bench.tools
    narrow = rect[2] < NARROW * ui.font
    scrolls = imgui.WindowFlags_.horizontal_scrollbar if narrow else 0
    with style.panel("tools", rect, imgui.WindowFlags_.no_scrollbar | scrolls) as shown:
        if not shown:
            return
        tip = _("Let it run from its start  (Space; {value}: without playing)").format(value=key_of('edit'))
        label, width = ("\uf04b", 2.2) if narrow else ("\uf04b  " + _("Run"), 5.0)
        if style.icon_button(ui, "run", label, tip, width=width, on=True):
            ui.request("play_pause")
        if narrow:
            imgui.same_line()
            _save(ui, "\uf0c7##bench")
        _gap(ui)
        for step, icon, command, name in ((1, "\uf0e2", "undo", bench.undoes), (-1, "\uf01e", "redo", bench.redoes)):
            imgui.begin_disabled(not name)
            tip = f"{_('Undo') if step > 0 else _('Redo')}: {name or _('nothing')}  ({key_of(command)})"
            if style.icon_button(ui, command, icon, tip):
                ui.request(command)
            imgui.end_disabled()
            imgui.same_line(0, 0.2 * ui.font)
        _gap(ui)
        for name, (icon, title, does) in TOOLS.items():
            tip = _("{does}  ({value}: the next tool)").format(does=_(does), value=key_of('next_tool'))
            label, width = (f"{icon}  {_(title)}", 5.0) if rect[2] > 57.0 * ui.font else (icon, 2.2)
            if style.icon_button(ui, name, label, tip, width=width, on=tools.tool == name):
                tools.tool = name
            imgui.same_line(0, 0.2 * ui.font)
        _gap(ui)
        tools.local = imgui.checkbox(labelled("Own axes"), tools.local)[1]
        imgui.set_item_tooltip(_("Along the body's own axes instead of the world's"))
        imgui.same_line()
        tools.snap = imgui.checkbox(labelled("Snap"), tools.snap)[1]
        imgui.set_item_tooltip(_("In whole steps of the length and the angle; Ctrl does the other one meanwhile"))
        if rect[2] > 73.0 * ui.font:
            imgui.same_line()
            imgui.set_next_item_width(4.5 * ui.font)
            tools.step = max(imgui.input_double("m##step", tools.step, 0.0, 0.0, "%.4g")[1], 1e-9)
            imgui.same_line()
            imgui.set_next_item_width(3.5 * ui.font)
            tools.angle = max(imgui.input_double("°##angle", tools.angle, 0.0, 0.0, "%.4g")[1], 1e-3)
        if not narrow:
            _state(ui, named=rect[2] > 65.0 * ui.font or 46.0 * ui.font < rect[2] < 57.0 * ui.font)


def _gap(ui: UiState) -> None:
    imgui.same_line(0, 0.9 * ui.font)


def _state(ui: UiState, named: bool) -> None:
    """The file, if there is room to be `named`, and whether it has everything; the button that saves."""
    bench, c = ui.workbench, style.colors(ui)
    if named:
        name, said = _file(ui)
        imgui.same_line(imgui.get_window_width() - 15.0 * ui.font)
        with style.color(imgui.Col_.text, c.warning if bench.unsaved else c.muted):
            imgui.align_text_to_frame_padding()
            imgui.text(style.clipped_text(("\uf111 " if bench.unsaved else "") + name, 9.5 * ui.font))
        imgui.set_item_tooltip(said)
    imgui.same_line(imgui.get_window_width() - 5.0 * ui.font)
    _save(ui, labelled("\uf0c7  Save##bench"))


def _file(ui: UiState) -> tuple[str, str]:
    """What the file is called, and whether it has everything."""
    bench = ui.workbench
    return (bench.path.name if bench.path is not None else _("in no file yet"),
            _("There are changes that no file has") if bench.unsaved else _("The file has everything"))


def _save(ui: UiState, label: str) -> None:
    name, said = _file(ui)
    if imgui.button(label):
        ui.request("save")
    imgui.set_item_tooltip(_("Save {name}  ({value}). {said}.").format(name=name, value=key_of('save'), said=said))
