"""The graph of contact modes: states are sets of modes, edges the events between them; a click goes there."""

from collections.abc import Callable
from dataclasses import dataclass

from imgui_bundle import imgui

from ...physics.core.language import _, labelled, ngettext
from ...physics.look.modes import ModeChange, ModeEdge, ModeGraph, contact_names, mode_graph
from ...physics.run.messages import Command, Snapshot
from ..mode_drawing import FILES, LINE, PADDING, Arrow, Box, Drawing, along, drawn, told
from ..ui_state import UiState
from . import style
from .tabs import Tab
from .timeline import go, go_to_event

Send = Callable[[Command], None]
MOST_STATES = 60   # drawn: more are a thicket
NEAR = 0.5         # of a font height from an arrow: the mouse means it
SAMPLES = 24       # of an arrow, to find how near the mouse is


@dataclass
class ModesUi:
    """What the tab remembers: the graph, and what it was made from."""

    made_from: tuple[tuple[ModeChange, ...], int, float] | None = None
    graph: ModeGraph | None = None


def graph_of(ui: UiState, snapshot: Snapshot) -> ModeGraph:
    """The graph up to now."""
    mine, line = ui.state_of(ModesUi), snapshot.timeline
    made_from = line.modes, len(line.events), snapshot.now
    if mine.graph is None or mine.made_from != made_from:
        mine.graph, mine.made_from = mode_graph(line.modes, line.events, snapshot.now), made_from
    return mine.graph


def draw_modes(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Fill the lower area with the graph."""
    graph, names = graph_of(ui, snapshot), contact_names(snapshot.timeline.bars, snapshot.labels.bodies)
    _bar(ui, snapshot, graph, names)
    if not graph.states:
        style.muted(ui,
                    _("The graph grows as the scene runs: a box for each set of contact modes, an arrow for each way "
                        "from one to another."), wrap=True)
        return
    if len(graph.states) > MOST_STATES:
        style.muted(ui,
                    _("{states} states are too many to draw; the files have all of "
                      "them.").format(states=len(graph.states)), wrap=True)
        return
    with style.font(ui, size=14.0):
        em = imgui.get_font_size()
        drawing = drawn(graph, names, lambda text: imgui.calc_text_size(text).x / em)
        imgui.begin_child("mode_graph", (0, 0), 0, imgui.WindowFlags_.horizontal_scrollbar)
        room, corner = imgui.get_content_region_avail(), imgui.get_cursor_screen_pos()
        left = corner.x + max(0.5 * (room.x - em * drawing.width), 0.0)
        size = max(em * drawing.width, room.x), max(em * drawing.height, room.y - 4.0)
        imgui.invisible_button("modes_canvas", size)
        _paint(ui, snapshot, graph, drawing, (left, corner.y), send)
        imgui.end_child()


def _bar(ui: UiState, snapshot: Snapshot, graph: ModeGraph, names: dict[float, str]) -> None:
    """How many states and edges, and the button that saves them."""
    imgui.align_text_to_frame_padding()
    states, edges = len(graph.states), len(graph.edges)
    style.heading(ui, _("Modes   {states}, {edges}").format(
        states=ngettext("{n} state", "{n} states", states).format(n=states),
        edges=ngettext("{n} edge", "{n} edges", edges).format(n=edges)))
    imgui.same_line(0, 1.0 * ui.font)
    imgui.begin_disabled(not states)
    if imgui.button(labelled("\uf0c7  Save##modes")):
        imgui.open_popup("save_modes_as")
    imgui.end_disabled()
    if imgui.begin_popup("save_modes_as"):
        for suffix, (encode, words) in FILES.items():
            if imgui.menu_item_simple(f"{suffix[1:].upper()}, {words}##modes{suffix}"):
                title = snapshot.labels.title or snapshot.scene_name
                ui.request("save_drawing", (encode(graph, names, snapshot.labels.bodies, title), f"modes{suffix}"))
        imgui.end_popup()
    imgui.same_line(0, 1.0 * ui.font)
    style.muted(ui, _("Rows by the number of contacts. A click goes there."))


def _paint(ui: UiState, snapshot: Snapshot, graph: ModeGraph, drawing: Drawing, corner: tuple[float, float],
           send: Send) -> None:
    """Boxes and arrows; what the mouse is on is lit and told, and gone to by a click."""
    em, c, draw = imgui.get_font_size(), style.colors(ui), imgui.get_window_draw_list()
    mouse = imgui.get_mouse_pos()
    over = ((mouse.x - corner[0]) / em, (mouse.y - corner[1]) / em)
    here = imgui.is_item_hovered()
    box = next((k for k, b in enumerate(drawing.boxes) if here and _within(b, over)), -1)
    arrow = nearest(drawing.arrows, over) if here and box < 0 else -1
    for k, way in enumerate(drawing.arrows):
        points = [imgui.ImVec2(corner[0] + em * x, corner[1] + em * y) for x, y in way.points]
        color = style.u32(c.accent if k == arrow else c.muted)
        p, q, r, s = points
        draw.add_bezier_cubic(p, q, r, s, color, (2.4 if k == arrow else 1.4) * ui.preferences.scale)
        _tip(draw, r, s, 0.45 * em, color)
    for k, way in enumerate(drawing.arrows):  # over all arrows
        size = imgui.calc_text_size(way.label)
        x, y = corner[0] + em * way.at[0] - 0.5 * size.x, corner[1] + em * way.at[1] - 0.5 * size.y
        if way.label:
            draw.add_rect_filled((x - 2, y), (x + size.x + 2, y + size.y), style.u32(c.panel))
            draw.add_text((x, y), style.u32(c.accent if k == arrow else c.text), way.label)
    for k, b in enumerate(drawing.boxes):
        lo = corner[0] + em * (b.x - 0.5 * b.width), corner[1] + em * (b.y - 0.5 * b.height)
        hi = lo[0] + em * b.width, lo[1] + em * b.height
        draw.add_rect_filled(lo, hi, style.u32(c.raised), 0.3 * em)
        lit = k in (graph.now, box)
        draw.add_rect(lo, hi, style.u32(c.accent if lit else c.line), 0.3 * em,
                      (2.5 if k == graph.now else 1.2) * ui.preferences.scale)
        for n, line in enumerate(b.lines):
            draw.add_text((lo[0] + em * PADDING, lo[1] + em * (PADDING + LINE * n)), style.u32(c.text), line)
    if box >= 0:
        state = graph.states[box]
        imgui.set_tooltip(_("From {t:.6g} s, for {lasted:.4g} s in all\nClick: go there").format(t=state.t,
                                                                                                 lasted=state.lasted))
        if imgui.is_mouse_clicked(0):
            go(snapshot, state.step, ui, send)
    elif arrow >= 0:
        edge = graph.edges[arrow]
        imgui.set_tooltip("\n".join([*told(edge, snapshot.labels.bodies), "Click: go there"]))
        if imgui.is_mouse_clicked(0):
            go_along(edge, snapshot, ui, send)


def go_along(edge: ModeEdge, snapshot: Snapshot, ui: UiState, send: Send) -> None:
    """Go to the next passage of an edge after now, or to its first one."""
    passage = next((p for p in edge.passages if p.t > snapshot.now + 1e-9), edge.passages[0])
    if passage.events:
        go_to_event(passage.events[-1], ui, send)
    else:
        go(snapshot, passage.step, ui, send)


def nearest(arrows: tuple[Arrow, ...], at: tuple[float, float]) -> int:
    """The arrow that is within NEAR of a place, -1 = none."""
    best, found = NEAR, -1
    for k, arrow in enumerate(arrows):
        for n in range(SAMPLES + 1):
            x, y = along(arrow.points, n / SAMPLES)
            away = ((x - at[0]) ** 2 + (y - at[1]) ** 2) ** 0.5
            if away < best:
                best, found = away, k
    return found


def _within(box: Box, at: tuple[float, float]) -> bool:
    return abs(at[0] - box.x) <= 0.5 * box.width and abs(at[1] - box.y) <= 0.5 * box.height


def _tip(draw: imgui.ImDrawList, before: imgui.ImVec2, end: imgui.ImVec2, size: float, color: int) -> None:
    """The head of an arrow."""
    dx, dy = end.x - before.x, end.y - before.y
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    dx, dy = size * dx / length, size * dy / length
    draw.add_triangle_filled(end, (end.x - dx - 0.45 * dy, end.y - dy + 0.45 * dx),
                             (end.x - dx + 0.45 * dy, end.y - dy - 0.45 * dx), color)


TAB = Tab("modes", "Modes", draw_modes, "Shift+N")
