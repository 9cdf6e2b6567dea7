"""The pictures of the gallery: of every scene, and in either theme."""

from importlib.resources import as_file, files

import pytest
from PIL import Image

from contactlab.app.panels.stage import thumbnails
from contactlab.app.ui_state import SceneEntry
from contactlab.app.view.imgui_backend import TextureStore
from contactlab.app.view.offscreen import Offscreen
from contactlab.assets import FOLDER, gallery

PICTURES = FOLDER / "thumbnails"


def test_every_scene_of_the_gallery_has_a_picture():
    assert [key for key in gallery() if not (PICTURES / f"{key}.png").exists()] == []


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.webp")), ids=lambda path: path.stem)
def test_a_picture_in_the_light_theme_has_the_size_of_that_in_the_dark_and_is_lighter(path):
    with Image.open(path) as light, Image.open(path.with_suffix(".png")) as dark:
        assert light.size == dark.size
        assert light.convert("L").resize((1, 1)).getpixel((0, 0)) > dark.convert("L").resize((1, 1)).getpixel((0, 0))


def test_the_gallery_gets_both_pictures_and_that_of_the_dark_theme_where_there_is_no_other(tmp_path):
    Image.new("RGB", (8, 4), (10, 10, 10)).save(tmp_path / "both.png")
    Image.new("RGB", (8, 4), (240, 240, 240)).save(tmp_path / "both.webp")
    Image.new("RGB", (8, 4)).save(tmp_path / "one.png")
    entries = [SceneEntry(key, key, "", tmp_path / f"{key}.toml") for key in ("both", "one", "none")]
    with Offscreen((8, 8)) as screen:
        store = TextureStore(screen.ctx)
        both, one, none = thumbnails(screen.ctx, store, entries, tmp_path)
        assert len(store.textures) == 3 and both.thumbnail is not None and both.light is not None
        assert one.thumbnail is not None and one.light is None and none.thumbnail is None


def test_they_come_with_the_package():
    with as_file(files("contactlab.assets").joinpath("thumbnails")) as folder:
        assert len([*folder.glob("*.webp")]) == len([*PICTURES.glob("*.webp")]) > 40
