"""Lines of wrapped text: as wide as there is room for, in Chinese too, and no number without its unit."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imgui_bundle import imgui

from contactlab.app.panels.wrapping import CLOSING, OPENING, joined, pieces, text_wrapped
from contactlab.app.view.imgui_backend import Gui

CHINESE = "速度为原来的 e 倍，而高度与速度的平方成正比：它的最低点升到（约）0.563 m。"


@given(st.text(st.sampled_from("ab1 .，。（）球地m=%"), max_size=40))
def test_pieces_are_the_line_and_none_begins_with_what_ends_another(line):
    found = pieces(line)
    assert "".join(found) == line
    for before, behind in pairwise(found):
        assert before.endswith(" ") or (behind[0] not in CLOSING and before[-1] not in OPENING)


@pytest.mark.parametrize(("line", "whole"), [
    ("a fall of 0.45 m takes", "0.45 m "), ("at 2.5 m/s and", "2.5 m/s "), ("弹起 64 次后", "64 次"),
    ("with φ = 0 it", "φ = 0 "), ("loses 36 %, and", "36 %, "), ("7.97 N s are", "7.97 N s "),
])
def test_a_number_keeps_its_unit(line, whole):
    assert whole in pieces(line)


def test_an_equation_keeps_no_chinese_beside_it_in_its_line():
    assert {"e = 0.75。", "球，", "的"} <= set(pieces("下落 1 m。看浅蓝色的球，e = 0.75。"))


def test_letters_that_begin_like_a_unit_are_a_word():
    assert pieces("in 3 steps") == ["in ", "3 ", "steps"]


def test_lines_of_a_chinese_paragraph_are_joined_without_spaces():
    assert joined("球落下。\n  它弹起\n又落下，e 为 0.5。") == "球落下。它弹起又落下，e 为 0.5。"
    assert joined("A ball\nfalls.") == "A ball falls."


@settings(max_examples=20)
@given(st.floats(120.0, 600.0))
def test_lines_of_chinese_fill_the_room_and_do_not_pass_it(room):
    """Each line but the last lacks less than the longest piece of what the room is, which is four characters."""
    gui = Gui(None, (800, 600))
    gui.use()
    gui.new_frame()
    imgui.set_next_window_pos((0.0, 0.0))
    imgui.set_next_window_size((room + 2.0 * imgui.get_style().window_padding.x, 500.0))
    imgui.begin("page")
    text_wrapped(CHINESE * 3)
    size, line = imgui.get_item_rect_size(), imgui.get_text_line_height()
    whole = imgui.calc_text_size(CHINESE * 3).x
    least = whole / room
    wide = max(imgui.calc_text_size(piece).x for piece in pieces(CHINESE))
    imgui.end()
    gui.finish()
    gui.release()
    assert size.x <= room
    assert least <= round(size.y / line) <= whole / (room - wide) + 1.0
