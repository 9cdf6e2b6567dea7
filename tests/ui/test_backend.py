"""The Dear ImGui backend: text reaches the pixels, textures follow the library's protocol, clipping holds."""

import ast
from pathlib import Path

import numpy as np
import pytest
from imgui_bundle import imgui

from contactlab.app import panels
from contactlab.app.view.imgui_backend import Gui
from contactlab.app.view.offscreen import Offscreen
from contactlab.assets import gallery
from contactlab.physics import Scene

FLAGS = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_saved_settings


@pytest.fixture
def screen():
    with Offscreen((320, 240)) as made:
        made.fbo.use()
        made.fbo.clear(0.0, 0.0, 0.0, 1.0)
        yield made


def draw(gui, screen, contents, size=(200, 100), frames=2):
    """The picture after some frames of a window at (10, 10)."""
    for _ in range(frames):
        screen.fbo.use()
        screen.fbo.clear(0.0, 0.0, 0.0, 1.0)
        gui.new_frame()
        imgui.set_next_window_pos((10, 10))
        imgui.set_next_window_size(size)
        imgui.begin("test", None, FLAGS)
        contents()
        imgui.end()
        gui.finish(screen.fbo)
    return screen.read()


def bright(picture):
    return int((picture.min(axis=2) > 200).sum())


def test_text_in_latin_greek_and_symbols_is_drawn(screen):
    gui = Gui(screen.ctx, (320, 240))
    missing = draw(gui, screen, lambda: imgui.text("\U0001f9ff"))
    for text in ("gap", "ζλφμ", "→≤√‖", "\uf04b\uf04d"):
        picture = draw(gui, screen, lambda text=text: imgui.text(text))
        assert bright(picture) > 20
        assert not np.array_equal(picture, missing)
    gui.release()


def test_glyphs_are_loaded_when_they_are_first_shown(screen):
    gui = Gui(screen.ctx, (320, 240))
    first = bright(draw(gui, screen, lambda: imgui.text("A")))
    # hundreds of new glyphs and a new size make the library update and replace its texture
    for size in (16.0, 40.0, 70.0):
        imgui_text = "".join(chr(c) for c in range(0x391, 0x3F0))

        def contents(size=size, text=imgui_text):
            imgui.push_font(None, size)
            imgui.text_wrapped(text)
            imgui.pop_font()

        draw(gui, screen, contents, (300, 220))
    assert bright(draw(gui, screen, lambda: imgui.text("A"))) == first
    assert all(t.status in (imgui.ImTextureStatus.ok, imgui.ImTextureStatus.destroyed)
               for t in imgui.get_platform_io().textures)
    gui.release()


def test_nothing_is_drawn_outside_a_window(screen):
    gui = Gui(screen.ctx, (320, 240))
    picture = draw(gui, screen, lambda: imgui.text("W" * 200), (100, 60))
    outside = picture.copy()
    outside[10:70, 10:110] = 0
    assert outside.max() == 0 and bright(picture) > 100
    gui.release()


def test_a_framebuffer_twice_as_fine_shows_the_same_picture_twice_as_large(screen):
    gui = Gui(screen.ctx, (160, 120))
    gui.resize((160, 120), (320, 240))
    picture = draw(gui, screen, lambda: imgui.text("W"), (100, 60))
    window = (picture != 0).any(axis=2)
    rows, columns = np.flatnonzero(window.any(axis=1)), np.flatnonzero(window.any(axis=0))
    assert (rows[0], rows[-1] + 1, columns[0], columns[-1] + 1) == (20, 140, 20, 220)
    gui.release()


def test_windows_held_back_are_drawn_after_the_picture_was_taken(screen):
    gui = Gui(screen.ctx, (320, 240))
    taken = []
    for _ in range(2):
        screen.fbo.use()
        screen.fbo.clear(0.0, 0.0, 0.0, 1.0)
        gui.new_frame()
        imgui.set_next_window_pos((10, 10))
        imgui.begin("notice_x", None, FLAGS)
        imgui.text("WWWW")
        imgui.end()
        gui.finish(screen.fbo, "notice_", lambda: taken.append(screen.read()))
    assert bright(taken[-1]) == 0 and bright(screen.read()) > 20
    gui.release()


def test_a_texture_of_ours_can_be_shown(screen):
    gui = Gui(screen.ctx, (320, 240))
    texture = screen.ctx.texture((2, 2), 4, bytes([255, 0, 0, 255] * 4))
    shown = gui.store.add(texture)
    picture = draw(gui, screen, lambda: imgui.image(shown, (50, 50)))
    assert int(((picture[..., 0] > 250) & (picture[..., 1] < 5)).sum()) == 50 * 50
    gui.release()


def absent(font, text):
    """Characters that would be shown as a question mark."""
    return {c for c in text if c not in " \n\t" and not font.is_glyph_in_font(ord(c))}


@pytest.mark.parametrize("codec", ["gb2312", "euc_jp", "euc_kr"])
def test_the_fonts_have_the_characters_in_which_east_asia_names_files(codec):
    """Every ideograph, kana and syllable of the national sets."""
    pairs = (bytes((a, b)).decode(codec, "ignore") for a in range(0xA1, 0xFF) for b in range(0xA1, 0xFF))
    wanted = {c for pair in pairs for c in pair if "\u3041" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7a3"}
    gui = Gui(None, (320, 240))
    gui.use()
    gui.new_frame()
    try:
        assert len(wanted) > 2000 and absent(imgui.get_font(), "".join(sorted(wanted))) == set()
    finally:
        gui.finish()
        gui.release()


def test_the_fonts_have_every_character_that_gallery_and_app_show():
    gui = Gui(None, (320, 240))
    gui.use()
    gui.new_frame()
    font, missing = imgui.get_font(), {}
    for key, path in gallery().items():
        tables = Scene.load(path).tables
        names = [thing.name or "" for thing in (*tables.body, *tables.joint)]
        missing[key] = absent(font, "".join((tables.scene.title, tables.scene.summary, tables.scene.watch, *names)))
    for path in Path(panels.__file__).parents[1].rglob("*.py"):
        strings = (node.value for node in ast.walk(ast.parse(path.read_text("utf-8")))
                   if isinstance(node, ast.Constant) and isinstance(node.value, str))
        missing[path.name] = absent(font, "".join(strings))
    gui.finish()
    gui.release()
    assert {where: found for where, found in missing.items() if found} == {}
