"""The graph of contact modes as a drawing: where its boxes and arrows are, and as SVG and Graphviz. Lengths are in
heights of the font."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from ..physics.core.language import N_, _
from ..physics.look.modes import MODE_NAMES, ModeEdge, ModeGraph, ModeState
from .reasons import reason_of

LINE, PADDING = 1.3, 0.6          # height of a line of text, and room around it
ACROSS, DOWN = 7.0, 3.2           # between boxes of a row, at least, and between rows
MARGIN = 1.0                      # around the drawing
BESIDE = 1.0                      # what is left between a label and the boxes of a row, on both sides together
BEND, LOOP = 0.16, 2.2            # of arrows, per length; how far a loop reaches out of its box
CHARACTER = 0.58                  # mean width of a character of the font of a file
MOST_TOLD = 6                     # passages of an edge told in a file
PLACES = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8)  # of labels along their arrows
ORDINARY, PRESENT = "#f4f4f2", "#d9e8f6"
Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]  # cubic, by Bézier
Area = tuple[float, float, float, float]   # middle, width and height


class Box(NamedTuple):
    """A state."""

    x: float  #: centre
    y: float  #: downwards
    width: float
    height: float
    lines: tuple[str, ...]


class Arrow(NamedTuple):
    """An edge."""

    points: Curve
    label: str
    at: Point  #: middle of the label


class Drawing(NamedTuple):
    """Boxes in the order of the states, arrows in the order of the edges, all within 0 … width, 0 … height."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float


def lines_of(state: ModeState, names: dict[float, str]) -> tuple[str, ...]:
    """What a box says."""
    if state.modes is None:
        return (_("too many contacts to tell"),)
    if not state.modes:
        return (_("nothing touches"),)
    return tuple(f"{names.get(key, 'a contact')} {MODE_NAMES[mode]}" for key, mode in state.modes)


def label_of(edge: ModeEdge, graph: ModeGraph) -> str:
    """ "slip ×3": the kinds of events of an edge, else what becomes of the contacts, and how often it was gone."""
    kinds = list(dict.fromkeys(event.kind.replace("_", " ") for passage in edge.passages for event in passage.events))
    often = f"×{len(edge.passages)}" if len(edge.passages) > 1 else ""
    return " ".join(filter(None, [" + ".join((kinds or _becomes(graph, edge))[:3]), often]))


def _becomes(graph: ModeGraph, edge: ModeEdge) -> list[str]:
    """Modes that contacts take, and whether some come or go."""
    before, after = (dict(graph.states[k].modes or ()) for k in (edge.start, edge.end))
    modes = {MODE_NAMES[mode]: None for key, mode in after.items() if key in before and before[key] != mode}
    return [*modes, *(["gain"] if after.keys() - before.keys() else []),
            *(["loss"] if before.keys() - after.keys() else [])]


def told(edge: ModeEdge, names: Sequence[str], most: int = MOST_TOLD) -> list[str]:
    """A line an event of the latest passages: "0.351 s slip floor → block: |f_t| reaches μλ = 4.9 N"."""
    lines = []
    for passage in edge.passages[-most:]:
        if not passage.events:
            lines.append(f"{passage.t:.6g} s")
        for event in passage.events:
            pair = " → ".join(names[i] if i >= 0 else "the world" for i in event.bodies)
            why = reason_of(event)
            lines.append(f"{event.t:.6g} s {event.kind.replace('_', ' ')} {pair}{f': {why}' if why else ''}")
    return lines


def drawn(graph: ModeGraph, names: dict[float, str], width_of: Callable[[str], float]) -> Drawing:
    """A row of boxes for each number of contacts, fewest at the top, in the order in which states were entered first.
    width_of: width of a text."""
    rows: dict[float, list[int]] = {}
    for k, state in enumerate(graph.states):
        rows.setdefault(math.inf if state.modes is None else len(state.modes), []).append(k)
    texts, labels = [lines_of(state, names) for state in graph.states], [label_of(edge, graph) for edge in graph.edges]
    sizes = [(max(map(width_of, lines)) + 2 * PADDING, LINE * len(lines) + 2 * PADDING) for lines in texts]
    loops = LOOP if any(edge.start == edge.end for edge in graph.edges) else 0.0
    across = max(ACROSS, max(map(width_of, labels), default=0.0) + loops + BESIDE)
    widths = {row: sum(sizes[k][0] for k in mine) + across * (len(mine) - 1) for row, mine in rows.items()}
    whole, y = max(widths.values(), default=0.0), 0.0
    boxes: dict[int, Box] = {}
    for row in sorted(rows):
        x, tall = 0.5 * (whole - widths[row]), max(sizes[k][1] for k in rows[row])
        for k in rows[row]:
            boxes[k] = Box(x + 0.5 * sizes[k][0], y + 0.5 * tall, *sizes[k], texts[k])
            x += sizes[k][0] + across
        y += tall + DOWN
    taken = [(box.x, box.y, box.width, box.height) for box in boxes.values()]
    arrows: list[Arrow] = []
    for edge, label in zip(graph.edges, labels, strict=True):
        points, width = _curve(boxes[edge.start], boxes[edge.end]), width_of(label)
        beside = 0.5 * (width + BESIDE) if edge.start == edge.end else 0.0  # of a loop, whose box is on its left
        places = [(x + beside, y) for x, y in (along(points, share) for share in PLACES)]
        at = min(places, key=lambda place: _covered((*place, width, LINE), taken))
        taken.append((*at, width, LINE))
        arrows.append(Arrow(points, label, at))
    return _within_margins([boxes[k] for k in range(len(boxes))], arrows, taken)


def _within_margins(boxes: list[Box], arrows: list[Arrow], areas: list[Area]) -> Drawing:
    """The drawing moved to where nothing of it is below MARGIN; areas: of boxes and labels."""
    ways = [(*along(arrow.points, n / 16), 0.0, 0.0) for arrow in arrows for n in range(17)]
    x, y, w, h = zip(*(areas + ways), strict=True) if areas else [(0.0,)] * 4
    left, top = (MARGIN - min(u - 0.5 * size for u, size in zip(at, of, strict=True)) for at, of in ((x, w), (y, h)))
    width, height = (move + MARGIN + max(u + 0.5 * size for u, size in zip(at, of, strict=True))
                     for move, at, of in ((left, x, w), (top, y, h)))

    def moved(point: Point) -> Point:
        return point[0] + left, point[1] + top

    return Drawing(
        tuple(box._replace(x=box.x + left, y=box.y + top) for box in boxes),
        tuple(arrow._replace(points=tuple(map(moved, arrow.points)), at=moved(arrow.at)) for arrow in arrows),
        width, height)


def _covered(mine: Area, others: Sequence[Area]) -> float:
    """How much of an area others cover."""
    x, y, width, height = mine
    return sum(max(0.5 * (width + w) - max(abs(x - u), 0.5 * abs(width - w)), 0.0)
               * max(0.5 * (height + h) - max(abs(y - v), 0.5 * abs(height - h)), 0.0) for u, v, w, h in others)


def along(points: Curve, share: float) -> Point:
    """A place on a Bézier curve, 0 at its beginning, 1 at its end."""
    a, b, c, d = (1 - share) ** 3, 3 * share * (1 - share) ** 2, 3 * share * share * (1 - share), share**3
    x, y = (a * p + b * q + c * r + d * s for p, q, r, s in zip(*points, strict=True))
    return x, y


def _curve(a: Box, b: Box) -> Curve:
    """A curve to the right of the way from a to b, so that the way back is another; a loop beside a box."""
    if a is b:
        x, y = a.x + 0.5 * a.width, a.y
        return (x, y - 0.3), (x + LOOP, y - 1.6), (x + LOOP, y + 1.6), (x, y + 0.3)
    dx, dy = b.x - a.x, b.y - a.y
    length = math.hypot(dx, dy)
    aside = (-dy / length * BEND * length, dx / length * BEND * length)
    bent = ((a.x + dx / 3 + aside[0], a.y + dy / 3 + aside[1]), (b.x - dx / 3 + aside[0], b.y - dy / 3 + aside[1]))
    return _border(a, bent[0]), *bent, _border(b, bent[1])


def _border(box: Box, towards: Point) -> Point:
    """Where the way from the middle of a box to a point leaves it."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    share = min(0.5 * box.width / abs(dx) if dx else math.inf, 0.5 * box.height / abs(dy) if dy else math.inf)
    return box.x + share * dx, box.y + share * dy


def as_svg(graph: ModeGraph, names: dict[float, str], bodies: Sequence[str], title: str, em: float = 13.0) -> bytes:
    """The drawing as SVG; a browser tells an edge's events when the mouse rests on it."""
    drawing = drawn(graph, names, lambda text: CHARACTER * len(text))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{em * drawing.width:.0f}" height="{em * drawing.height:.0f}" '
        f'viewBox="0 0 {drawing.width:.3f} {drawing.height:.3f}" font-family="sans-serif" font-size="1">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L10 5L0 10z"/></marker></defs>',
        f'<rect width="{drawing.width:.3f}" height="{drawing.height:.3f}" fill="white"/>',
    ]
    for edge, arrow in zip(graph.edges, drawing.arrows, strict=True):
        p, q, r, s = (f"{x:.3f} {y:.3f}" for x, y in arrow.points)
        out.append(
            f'<g><title>{escape(chr(10).join(told(edge, bodies)))}</title><path d="M{p}C{q} {r} {s}" fill="none" '
            f'stroke="black" stroke-width="0.08" marker-end="url(#tip)"/><text x="{arrow.at[0]:.3f}" '
            f'y="{arrow.at[1] + 0.3:.3f}" font-size="0.85" text-anchor="middle" stroke="white" stroke-width="0.3" '
            f'paint-order="stroke">{escape(arrow.label)}</text></g>')
    for k, box in enumerate(drawing.boxes):
        left, top = box.x - 0.5 * box.width, box.y - 0.5 * box.height
        out.append(f'<rect x="{left:.3f}" y="{top:.3f}" width="{box.width:.3f}" height="{box.height:.3f}" rx="0.4" '
                   f'fill="{PRESENT if k == graph.now else ORDINARY}" stroke="black" stroke-width="0.06"/>')
        out += [f'<text x="{box.x:.3f}" y="{top + PADDING + LINE * (n + 0.75):.3f}" text-anchor="middle">'
                f"{escape(line)}</text>" for n, line in enumerate(box.lines)]
    return "\n".join([*out, "</svg>", ""]).encode()


def as_dot(graph: ModeGraph, names: dict[float, str], bodies: Sequence[str], title: str) -> bytes:
    """The graph for Graphviz."""
    out = ["digraph modes {", f"  label={_quoted(title)}; node [shape=box, style=rounded]"]
    for k, state in enumerate(graph.states):
        out.append(f"  s{k} [label={_quoted(chr(10).join(lines_of(state, names)))}]")
    for edge in graph.edges:
        text = "\n".join(filter(None, [label_of(edge, graph), *told(edge, bodies)]))
        out.append(f"  s{edge.start} -> s{edge.end} [label={_quoted(text)}]")
    return "\n".join([*out, "}", ""]).encode()


def _quoted(text: str) -> str:
    """A string of the language DOT."""
    inside = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inside}"'


#: endings of files -> how they are made, and what they are
FILES = {".svg": (as_svg, N_("a drawing")), ".dot": (as_dot, N_("for Graphviz"))}
