"""Ten mesh scenes look as they did when someone looked at them: pictures, compared with those that are stored."""

import numpy as np
import pytest
from mesh_pictures import SIZE, drawn, landed, picture_of
from mesh_zoo import ZOO
from PIL import Image
from scenes_to_draw import Pictures

from contactlab.physics.core.model import movable

PART = 0.25    # of what the least visible body makes of a picture; drivers shade and smooth edges a little differently
MOST = 20_000  # [bytes] of a picture


@pytest.fixture(scope="module")
def pictures():
    made = Pictures(SIZE)
    yield made
    made.release()


@pytest.mark.parametrize("name", ZOO)
def test_a_mesh_scene_looks_as_in_its_picture(pictures, name, tmp_path):
    """By the mean over all pixels and colours. Any body that were not there would make four times as much at least."""
    sim = landed(ZOO[name][0](tmp_path))
    now = drawn(pictures, sim)
    assert picture_of(name).stat().st_size <= MOST
    stored = np.asarray(Image.open(picture_of(name)).convert("RGB"), int)
    least = min(np.abs(drawn(pictures, sim, k) - now).mean() for k in np.flatnonzero(movable(sim.model.kind)))
    assert np.abs(now - stored).mean() < PART * least
