"""The tour of the first start: six cards over the real window, each beside what it is about, which can be tried."""

from collections.abc import Callable
from typing import Any, NamedTuple

from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.run.messages import Snapshot
from ..keys import keys_of
from ..ui_state import Rect, Tour, UiState
from . import style
from .view import NOTICE_PREFIX
from .wrapping import text_wrapped

WIDTH = 25.0  # of a card [font heights]
SHADE = 0.45  # how much darker all else is

Mark = Callable[[UiState, Snapshot], Any]


class Stop(NamedTuple):
    """A card of the tour."""

    place: str    #: title of the panel, see `layout`; "" = the view
    title: str
    text: str     #: {COMMAND} stands for the key of a command
    task: str     #: what can be tried
    mark: Mark    #: is another value once that was done
    hidden: str   #: what shows the panel where it is hidden
    anchor: tuple[float, float]  #: where the card stands, in shares of the panel's width and height
    pivot: tuple[float, float]   #: ... and of its own


STOPS = (
    Stop("", "What runs here",
         "Every body moves by the laws of contact, computed as you watch. Points, arrows and colours show what the "
         "solver sees. A drag beside the bodies turns the view, the wheel zooms, the right button shifts.",
         "Pull a body with the left button held: a spring pulls it, and the solver feels the force.",
         lambda ui, s: s.grabbed is None, "", (0.02, 0.03), (0.0, 0.0)),
    Stop("The time bar", "Time, forward and back",
         "{play_pause} plays and pauses, {step_forward} and {step_back} make single steps, {next_event} and "
         "{previous_event} stop at the next and the previous contact event. The bar holds the past: drag in it.",
         "Press {play_pause} to pause.",
         lambda ui, s: s.paused, "", (0.5, -0.2), (0.5, 1.0)),
    Stop("The gallery", "Scenes",
         "Each scene shows one thing worth seeing, and says what to look at. {next_scene} and {previous_scene} go "
         "through them; robots, meshes and scenes of your own can be dropped on the window.",
         "Click another scene.",
         lambda ui, s: s.generation, "View, Gallery", (1.02, 0.4), (0.0, 0.5)),
    Stop("The parameters", "The laws, while it runs",
         "Restitution, friction, gravity, the step, the method and its solver change what runs from the next step on. "
         "{undo} takes a change back, and leads to the state before it.",
         "Move a slider.",
         lambda ui, s: s.settings, "View, Parameters", (-0.02, 0.4), (1.0, 0.5)),
    Stop("Contacts and equations", "The numbers",
         "Every contact with its gap and its forces, and behind the other tabs a body's state, curves, events with "
         "their reasons, and the equations M λ + d with every step of a solver.",
         "Choose another tab.",
         lambda ui, s: ui.preferences.lower_tab, "View, Contacts and equations", (0.5, -0.03), (0.5, 1.0)),
    Stop("The menu bar", "Where to go on",
         "Lessons ask you to predict before they show. Edit makes scenes of your own, Compare runs methods side by "
         "side. {palette} finds every command by a few letters, {help} shows all keys. This tour is under Help.",
         "Press {palette}, and Esc to close what opens.",
         lambda ui, s: (ui.palette.open, ui.help), "", (0.02, 1.4), (0.0, 0.0)),
)


def draw_tour(ui: UiState, snapshot: Snapshot, tour: Tour) -> None:
    """The present card, with all but its panel in shade. What it is about can be used meanwhile."""
    stop = STOPS[tour.stop]
    rect = ui.view_rect if not stop.place else ui.places.get(stop.place)
    mark = stop.mark(ui, snapshot)
    if not tour.begun:
        tour.begun, tour.mark = True, mark
    tour.done |= mark != tour.mark
    _shade(ui, rect)
    _card(ui, tour, stop, rect)


def _shade(ui: UiState, rect: Rect | None) -> None:
    """All but a panel darker, and a frame around it; the mouse goes through."""
    display = imgui.get_io().display_size
    imgui.set_next_window_pos((0.0, 0.0))
    imgui.set_next_window_size(display)
    flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_inputs | imgui.WindowFlags_.no_background
    imgui.begin(f"{NOTICE_PREFIX}shade", None, flags | imgui.WindowFlags_.no_saved_settings
                | imgui.WindowFlags_.no_focus_on_appearing)
    draw, dark = imgui.get_window_draw_list(), imgui.get_color_u32((0.0, 0.0, 0.0, SHADE))
    x, y, w, h = rect or (0.0, 0.0, 0.0, 0.0)
    for low, high in (((0.0, 0.0), (display.x, y)), ((0.0, y + h), (display.x, display.y)), ((0.0, y), (x, y + h)),
                      ((x + w, y), (display.x, y + h))):
        draw.add_rect_filled(low, high, dark)
    if rect is not None:
        draw.add_rect((x, y), (x + w, y + h), style.u32(style.colors(ui).accent), 0.0, 2.0 * ui.preferences.scale)
    imgui.end()


def _card(ui: UiState, tour: Tour, stop: Stop, rect: Rect | None) -> None:
    c, display = style.colors(ui), imgui.get_io().display_size
    width = min(WIDTH * ui.font, display.x - 2.0 * ui.font)
    x, y, w, h = rect or ui.view_rect
    (ax, ay), (px, py) = (stop.anchor, stop.pivot) if rect is not None else ((0.5, 0.5), (0.5, 0.5))
    place = (min(max(x + ax * w - px * width, 0.0), display.x - width),
             min(max(y + ay * h - py * tour.height, 0.0), max(display.y - tour.height, 0.0)))
    imgui.set_next_window_pos(place)
    imgui.set_next_window_size((width, 0.0))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, 8.0 * ui.preferences.scale)
    imgui.push_style_var(imgui.StyleVar_.window_border_size, 1.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (16 * ui.preferences.scale, 14 * ui.preferences.scale))
    imgui.begin(f"{NOTICE_PREFIX}tour", None, imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move
                | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.always_auto_resize)
    imgui.pop_style_var(3)
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_(stop.title))
    text_wrapped(with_keys(_(stop.text)))
    if rect is None:
        style.muted(ui, _("Hidden now: {hidden} shows it.").format(hidden=_(stop.hidden)), wrap=True)
    else:
        with style.color(imgui.Col_.text, c.spring if tour.done else c.warning):
            text_wrapped(("\uf00c  " if tour.done else "\uf054  ") + with_keys(_(stop.task)))
    imgui.dummy((0, 0.2 * ui.font))
    _buttons(ui, tour)
    tour.height = imgui.get_window_height()
    imgui.end()


def _buttons(ui: UiState, tour: Tour) -> None:
    """On, back and away; Enter goes on, Escape ends the tour."""
    c, last = style.colors(ui), tour.stop == len(STOPS) - 1
    with style.color(imgui.Col_.button, c.accent), style.color(imgui.Col_.text, c.on_accent):
        on = imgui.button(labelled("Begin##tour_on") if last else labelled("Next  \uf054##tour_on"),
                          (7.0 * ui.font, 0.0))
    on |= imgui.is_key_pressed(imgui.Key.enter, False) and not imgui.is_any_item_active()
    imgui.same_line()
    imgui.begin_disabled(tour.stop == 0)
    back = imgui.button(labelled("\uf053  Back##tour_back"))
    imgui.end_disabled()
    imgui.same_line()
    away = not last and imgui.button(labelled("End the tour##tour_end"))
    told = _("{n} of {all}").format(n=tour.stop + 1, all=len(STOPS))
    imgui.same_line(imgui.get_window_width() - imgui.calc_text_size(told).x - 16 * ui.preferences.scale)
    style.muted(ui, told)
    if away or (on and last):
        ui.tour = None
    elif on or back:
        ui.tour = Tour(tour.stop + (1 if on else -1), height=tour.height)


def with_keys(text: str) -> str:
    """A text with the last key of each command that it names, of "." and "→" that which is seen better."""
    parts = text.replace("{", "}").split("}")
    return "".join(keys_of(part)[-1] if k % 2 else part for k, part in enumerate(parts))
