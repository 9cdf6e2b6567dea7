"""The gallery: scenes in groups with pictures, titles and summaries, a field to search them, and their tags. A click
opens one."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.run.messages import Command, Snapshot
from ..ui_state import Rect, SceneEntry, UiState
from . import style


@dataclass
class Search:
    """What was typed to find scenes."""

    text: str = ""


def draw_gallery(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None], rect: Rect) -> None:
    with style.panel("gallery", rect) as shown:
        if not shown:
            return
        style.heading(ui, _("Scenes"))
        imgui.same_line(imgui.get_content_region_avail().x - 1.2 * ui.font)
        with style.color(imgui.Col_.button, (0, 0, 0, 0)):
            if imgui.small_button("\uf100##hide_gallery"):
                ui.request("panel_gallery")
        imgui.set_item_tooltip(_("Hide the gallery (View menu shows it again)"))
        search = ui.state_of(Search)
        imgui.set_next_item_width(imgui.get_content_region_avail().x - 2.4 * ui.font)
        changed, search.text = imgui.input_text_with_hint("##search_scenes", "\uf002  " + _("Search"), search.text)
        imgui.same_line(0, 0.4 * ui.font)
        if imgui.button("\uf02b##tags", (2.0 * ui.font, 0)):
            imgui.open_popup("tags")
        imgui.set_item_tooltip(_("Tags: what scenes hold, and their own words"))
        if imgui.begin_popup("tags"):
            changed |= _tags(ui, search)
            imgui.end_popup()
        if changed:
            imgui.set_next_window_scroll((-1.0, 0.0))
        imgui.begin_child("scenes")
        _scenes(ui, search.text)
        imgui.end_child()


def found(scenes: Iterable[SceneEntry], text: str) -> list[SceneEntry]:
    """The scenes whose words hold every word of the text, of either case, or a part of a word; and which have every tag
    that is written with a # before it."""
    wanted = text.lower().split()
    tags = {word[1:] for word in wanted if word.startswith("#") and len(word) > 1}
    words = [word for word in wanted if not word.startswith("#")]
    return [s for s in scenes if tags <= set(map(written, s.tags)) and all(word in _words(s) for word in words)]


def written(tag: str) -> str:
    """A tag as it is searched for: one word in small letters."""
    return "_".join(tag.lower().split())


def called(tag: str) -> str:
    """A tag as it is shown: shapes and joints have the names of their buttons."""
    words = tag.replace("_", " ")
    return _(words) if _(words) != words else _(words.capitalize())


def _tags(ui: UiState, search: Search) -> bool:
    """All tags with the numbers of their scenes; a click searches for one, or no longer. Whether that was done."""
    chosen, changed = search.text.split(), False
    for tag, count in sorted(Counter(tag for scene in ui.scenes for tag in scene.tags).items()):
        word = f"#{written(tag)}"
        if imgui.menu_item_simple(f"{called(tag)}###tag {tag}", str(count), word in chosen):
            rest = [other for other in chosen if other != word]
            search.text, changed = " ".join(rest if word in chosen else [*rest, word]), True
    return changed


def _words(scene: SceneEntry) -> str:
    """What a search looks through: the texts as they are shown, and in English."""
    texts = (scene.title, scene.summary, scene.group, scene.watch, *(tag.replace("_", " ") for tag in scene.tags))
    return " ".join((scene.key, *texts, *map(_, texts))).lower()


def _scenes(ui: UiState, text: str) -> None:
    """The groups, each below its heading, which opens and shuts it. A search opens all that hold what it finds, and so
    does a new scene the group that it is in."""
    shown = found(ui.scenes, text)
    fresh = imgui.get_scroll_max_y() > 0.0 and ui.scene_path != ui.gallery_at
    for group, entries in groupby(shown, key=lambda s: s.group):
        cards = list(entries)
        if text.strip() or (fresh and any(card.path == ui.scene_path for card in cards)):
            imgui.set_next_item_open(True)
        if group and not _heading(ui, group):
            continue
        for card in cards:
            _card(ui, card, show=fresh)
    if not shown and ui.scenes:
        style.muted(ui, _("No scene has these words."), wrap=True)
    if fresh:
        ui.gallery_at = ui.scene_path


def _heading(ui: UiState, group: str) -> bool:
    """The heading of a group; whether the group is open."""
    with style.font(ui, bold=True, size=14.0), style.color(imgui.Col_.header, (0, 0, 0, 0)):
        return imgui.collapsing_header(labelled(f"{group}##group"), imgui.TreeNodeFlags_.default_open)


def _card(ui: UiState, entry: SceneEntry, show: bool) -> None:
    """One scene: picture if there is one, title, summary. show: scroll to it where it is the scene that runs."""
    c = style.colors(ui)
    current = entry.path == ui.scene_path
    width = imgui.get_content_region_avail().x
    pad, font = 0.5 * ui.font, ui.font
    inner = width - 2 * pad
    picture = inner * 9 / 16 if entry.thumbnail is not None else 0.0
    with style.font(ui, size=14.0):
        words = imgui.calc_text_size(_(entry.summary), False, inner).y if entry.summary else 0.0
    height = 2 * pad + (picture + 0.4 * font if picture else 0.0) + 1.25 * font + words
    x, y = imgui.get_cursor_screen_pos()
    if imgui.invisible_button(f"scene_{entry.key}", (width, height)):
        ui.request("open_path", entry.path)
    hovered = imgui.is_item_hovered()
    if show and current and not imgui.is_rect_visible((x, y + height - 1.0), (x + 1.0, y + height)):
        imgui.set_scroll_here_y(0.5)
    if not imgui.is_item_visible():
        return
    draw = imgui.get_window_draw_list()
    fill = c.pressed if imgui.is_item_active() else c.hovered if hovered else c.raised
    if hovered or current:
        draw.add_rect_filled((x, y), (x + width, y + height), style.u32(fill), 0.4 * font)
    if current:
        draw.add_rect_filled((x, y + 0.4 * font), (x + 3, y + height - 0.4 * font), style.u32(c.accent), 2.0)
    top = y + pad
    if picture:
        image: Any = entry.thumbnail if ui.preferences.dark or entry.light is None else entry.light
        draw.add_image_rounded(image, (x + pad, top), (x + pad + inner, top + picture), (0, 0), (1, 1),
                               style.u32((1, 1, 1, 1)), 0.3 * font)
        top += picture + 0.4 * font
    draw.add_text(ui.bold, round(font), (x + pad, top), style.u32(c.text), style.clipped_text(_(entry.title), inner))
    with style.font(ui, size=14.0):
        draw.add_text(imgui.get_font(), imgui.get_font_size(), (x + pad, top + 1.25 * font), style.u32(c.muted),
                      _(entry.summary), inner)
