"""Formulas typeset by MicroTeX, which comes with imgui-bundle, as do its fonts. Where it cannot run, plain text."""

import os
import re
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from imgui_bundle import imgui, imgui_microtex

from ...physics.core.held_folder import ScratchFolder
from ..ui_state import UiState
from . import pictures, style

SIZE = 18.0        # [pixels at scale 1]
LEAST = 11.0       # [pixels], whatever the scale
WHITE = 0xFFFFFFFF
LOCALE = "en_US.UTF-8"              # MicroTeX takes no other
PROBE = r"\max \mathrm{m/s} \text{ab}"
PLAIN_LOCALE = Path("/usr/lib/locale/C.utf8")

_working: bool | None = None        # None: not tried yet

#: what plain text writes for a command
PLAIN = {
    "lambda": "λ", "zeta": "ζ", "mu": "μ", "omega": "ω", "alpha": "α", "tau": "τ", "varphi": "φ", "phi": "φ",
    "delta": "δ", "Delta": "Δ", "kappa": "κ", "le": "≤", "ge": "≥", "perp": "⊥", "cdot": "·", "times": "×", "sum": "Σ",
    "approx": "≈", "quad": "  ", ",": " ", ";": " ", "!": "", "ldots": "…", "in": "∈", "infty": "∞", "Rightarrow": "⇒",
    "left": "", "right": "", "mathrm": "", "text": "", "mathbf": "", "neq": "≠", "to": "→",
}


def formula(ui: UiState, latex: str, size: float = SIZE, color: style.Color | None = None) -> None:
    """Write a formula at the cursor; size in pixels at scale 1, less where the line has no room for it."""
    tint = style.u32(color or style.colors(ui).text)
    if not ready():
        with style.color(imgui.Col_.text, color or style.colors(ui).text):
            imgui.text_unformatted(plain(latex))
        return
    ratio = imgui.get_io().display_framebuffer_scale.x
    size *= ui.preferences.scale
    found = picture_of(ui, latex, round(size * ratio))
    room = imgui.get_content_region_avail().x * ratio
    if found.size[0] > room > 0:
        smaller = max(size * room / found.size[0], LEAST)
        found = picture_of(ui, latex, int(smaller * ratio))
    # spaces of a formula do not shrink as its letters do, so that a little may still be too much
    shrunk = min(1.0, room / found.size[0]) if room > 0 else 1.0
    width, height = shrunk * found.size[0] / ratio, shrunk * found.size[1] / ratio
    x, y = imgui.get_cursor_screen_pos()
    pictures.draw(found, round(x), round(y), width, height, tint)
    imgui.dummy((width, height))


def picture_of(ui: UiState, latex: str, pixels: int) -> pictures.Picture:
    return pictures.picture(ui, ("formula", latex, pixels), None, lambda: _typeset(latex, pixels))


def ready() -> bool:
    """Whether formulas can be typeset."""
    global _working
    if _working is None:
        try:
            with as_file(files("imgui_bundle").joinpath("assets", "fonts", "latex")) as folder:
                imgui_microtex.init(str(folder / "latinmodern-math.clm1"), str(folder / "latinmodern-math.otf"))
                _first_render()
            _working = True
        except (RuntimeError, OSError):
            _working = False
    return _working


def _first_render() -> None:
    """MicroTeX loads the locale en_US.UTF-8 once, to classify characters. Where the system lacks it, C.utf8 is offered
    under that name for the time of this call."""
    try:
        imgui_microtex.render(PROBE, 12.0)
        return
    except RuntimeError:
        if "LOCPATH" in os.environ or not PLAIN_LOCALE.is_dir():
            raise
    with ScratchFolder() as folder:
        (folder / LOCALE).symlink_to(PLAIN_LOCALE)
        os.environ["LOCPATH"] = str(folder)
        try:
            imgui_microtex.render(PROBE, 12.0)
        finally:
            del os.environ["LOCPATH"]


def _typeset(latex: str, pixels: float) -> tuple[pictures.Pixels, None]:
    return typeset(latex, pixels), None


def typeset(latex: str, pixels: float) -> pictures.Pixels:
    """A formula in white, with letters so many pixels high; where `ready`. Raises RuntimeError."""
    made = imgui_microtex.render(latex, float(pixels), WHITE, imgui_microtex.TexStyle.display)
    array = np.array(made.pixels_as_array())
    return array if array.size else np.zeros((1, 1, 4), np.uint8)


def plain(latex: str) -> str:
    """A formula in one line of Unicode text."""
    text = re.sub(r"\\dot\s*\\?([A-Za-z]+)", lambda m: PLAIN.get(m[1], m[1]) + "\u0307", latex)
    text = re.sub(r"\\(?:d?frac)\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\([A-Za-z]+|[,;!])", lambda m: PLAIN.get(m[1], m[1]), text)
    return re.sub(r"\s+", " ", re.sub(r"[{}&]|\\\\", "", text)).strip()


def number(value: float, digits: int = 3) -> str:
    """A number as TeX writes it: 0.412, 12.3, 1.2 \\cdot 10^{-5}."""
    if value == 0.0 or not np.isfinite(value):
        return "0" if value == 0.0 else r"\infty"
    exponent = int(np.floor(np.log10(abs(value))))
    if -3 <= exponent < 5:
        text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return rf"{value / 10.0**exponent:.{digits - 1}f} \cdot 10^{{{exponent}}}"


def signed(value: float, digits: int = 3) -> str:
    """A further term of a sum: "+ 0.4", "- 9.81"."""
    return ("- " if value < 0 else "+ ") + number(abs(value), digits)
