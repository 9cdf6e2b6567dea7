"""The graph of contact modes as a drawing: where its boxes and arrows are, and as SVG and Graphviz. Lengths are in
heights of the font."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from ..physics.look.modes import MODE_NAMES, ModeEdge, ModeGraph, ModeState
from .reasons import reason_of

LINE, PADDING = 1.3, 0.6          # height of a line of text, and room around it
ACROSS, DOWN = 7.0, 3.2           # between boxes of a row, and between rows
BEND, LOOP = 0.16, 2.2            # of arrows, per length; how far a loop reaches out of its box
CHARACTER = 0.58                  # mean width of a character of the font of a file
MOST_TOLD = 6                     # passages of an edge told in a file
PLACES = (0.5, 0.4, 0.6, 0.3, 0.7)  # of a label along its arrow: the first one where no other label is
ORDINARY, PRESENT = "#f4f4f2", "#d9e8f6"
Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]  # cubic, by Bézier


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
        return ("too many contacts to tell",)
    if not state.modes:
        return ("nothing touches",)
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
    texts = [lines_of(state, names) for state in graph.states]
    sizes = [(max(map(width_of, lines)) + 2 * PADDING, LINE * len(lines) + 2 * PADDING) for lines in texts]
    widths = {row: sum(sizes[k][0] for k in mine) + ACROSS * (len(mine) - 1) for row, mine in rows.items()}
    whole, y = max(widths.values(), default=0.0) + 2 * LOOP + ACROSS, LOOP
    boxes: dict[int, Box] = {}
    for row in sorted(rows):
        x, tall = 0.5 * (whole - widths[row]), max(sizes[k][1] for k in rows[row])
        for k in rows[row]:
            boxes[k] = Box(x + 0.5 * sizes[k][0], y + 0.5 * tall, *sizes[k], texts[k])
            x += sizes[k][0] + ACROSS
        y += tall + DOWN
    arrows: list[Arrow] = []
    for edge in graph.edges:
        points, label = _curve(boxes[edge.start], boxes[edge.end]), label_of(edge, graph)
        places = [along(points, share) for share in PLACES]
        wide = [0.5 * (width_of(label) + width_of(other.label)) for other in arrows]
        free = (at for at in places if all(abs(at[0] - other.at[0]) > w or abs(at[1] - other.at[1]) > LINE
                                           for other, w in zip(arrows, wide, strict=True)))
        arrows.append(Arrow(points, label, next(free, places[0])))
    return Drawing(tuple(boxes[k] for k in range(len(boxes))), tuple(arrows), whole, y - DOWN + LOOP)


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
FILES = {".svg": (as_svg, "a drawing"), ".dot": (as_dot, "for Graphviz")}
