"""Text in lines as wide as there is room for. Dear ImGui breaks lines at spaces alone; here they also break between
characters of East Asia, and not between a number and its unit nor beside a sign such as =."""

import re
from functools import lru_cache

from imgui_bundle import imgui

#: characters of East Asia, their punctuation among them; written as `re` reads them, for some of the ends have no glyph
WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
MARKS = "，。、；：？！（）《》〈〉「」『』【】〔〕“”‘’"
OPENING = "（《〈「『【〔“‘(["
CLOSING = "，。、；：？！）》〉」』】〕”’…—,.;:?!)]%"
UNIT = r"(?:[kMGcmμn]?(?:m|s|N|J|g|W|Hz|Pa|rad)|°|%)[²³]?(?:[ /·](?:m|s|N|kg|rad)[²³]?)*(?![A-Za-z])"
#: what stays in one line
WHOLE = re.compile(rf"\d [{WIDE}]|\d {UNIT}|[^\s{WIDE}]+ [=<>≤≥≈] [^\s{WIDE}]+")
#: spaces that only join lines of a source
BETWEEN = re.compile(rf"(?<=[{MARKS}]) | (?=[{MARKS}])|(?<=[{WIDE}]) (?=[{WIDE}])")
IS_WIDE = re.compile(f"[{WIDE}]")
KEPT = 2000  # texts whose lines are remembered


def joined(paragraph: str) -> str:
    """The lines of a paragraph as one line: Chinese has no spaces between them."""
    return BETWEEN.sub("", " ".join(paragraph.split()))


def text_wrapped(text: str) -> None:
    """Write a text from the cursor on in lines that end where the room ends."""
    font = imgui.get_font().font_id, imgui.get_font_size()
    imgui.text_wrapped(_in_lines(text, imgui.get_content_region_avail().x, font))


def pieces(line: str) -> list[str]:
    """A line cut wherever it may be broken; a space belongs to the piece before it."""
    kept = {k for found in WHOLE.finditer(line) for k in range(found.start() + 1, found.end())}
    cuts = [k for k in range(1, len(line)) if k not in kept and _breaks(line[k - 1], line[k])]
    return [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True) if b > a]


def _breaks(before: str, behind: str) -> bool:
    """Whether a line may end between these two characters."""
    if before == " ":
        return behind != " "
    wide = IS_WIDE.match(before) or IS_WIDE.match(behind)
    return bool(wide) and behind != " " and behind not in CLOSING and before not in OPENING


@lru_cache(maxsize=KEPT)
def _in_lines(text: str, room: float, _font: tuple[int, float]) -> str:
    """The text with its lines ended; in the font that is in use, which `_font` tells apart."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in pieces(paragraph):
            if line and imgui.calc_text_size((line + piece).rstrip()).x > room:
                lines.append(line.rstrip())
                line = ""
            line += piece
        lines.append(line.rstrip())
    return "\n".join(lines)
