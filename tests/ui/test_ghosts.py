"""Ghosts: bodies where a scene's closed form has them."""

import numpy as np
import pytest
from scenes_to_draw import PLAIN, Pictures, body, extents, front_camera, snapshot

from contactlab.app.view import ghosts
from contactlab.app.view.overlays import legend
from contactlab.app.view.view_options import Poses, ViewOptions
from contactlab.physics.look.closed_forms import poses

RADIUS = 0.4
TO_THE_RIGHT = {"bodies": ["1"], "position": ["x0 + t", "y0", "z0"], "holds": "t < 1.5"}


@pytest.fixture(scope="module")
def pictures():
    made = Pictures()
    yield made
    made.release()


def at(t):
    """A ball that stays at x = -0.5 m and should be t [m] to the right of it; far behind the eye a fixed one."""
    return snapshot(body("sphere", (0.0, -60.0, 0.0), fixed=True, radius=RADIUS),
                    body("sphere", (-0.5, 0.0, 0.0), radius=RADIUS), closed_form=[TO_THE_RIGHT], t=t)


def ghost(pictures, t, **options):
    """(h, w) where a picture with ghosts differs from one without."""
    one, other = (pictures.take(at(t), front_camera(), **PLAIN, **options, closed_forms=on) for on in (True, False))
    return np.abs(one - other).sum(axis=2) > 12


@pytest.mark.parametrize("options", [{}, {"transparent": True}, {"wireframe": True}, {"dark": False}])
def test_a_ghost_stands_where_the_formula_says_and_nowhere_else(pictures, options):
    """Seen from the front its edges are those of a ball drawn there, to within the softening of edges."""
    left, right, top, bottom = extents(ghost(pictures, 1.2, **options))
    drawn = extents(pictures.silhouette(snapshot(body("sphere", (0.7, 0.0, 0.0), radius=RADIUS)), front_camera()))
    np.testing.assert_allclose([left, right, top, bottom], drawn, atol=2.0)


def test_bodies_are_seen_through_a_ghost(pictures):
    """It colours the sky behind it without hiding it: less than half way to the colour of the body."""
    here = ghost(pictures, 1.2)
    shown, sky = (pictures.take(at(1.2), front_camera(), **PLAIN, closed_forms=on)[here] for on in (True, False))
    solid = pictures.take(snapshot(body("sphere", (0.7, 0.0, 0.0), radius=RADIUS)), front_camera(), **PLAIN)[here]
    share = np.abs(shown - sky).sum() / np.abs(solid - sky).sum()
    assert 0.1 < share < 0.6


def test_a_formula_that_no_longer_holds_has_no_ghost(pictures):
    assert ghost(pictures, 1.4).any() and not ghost(pictures, 1.6).any()


def test_a_picture_follows_the_ghost_alone(pictures):
    """Bodies stand still, so that the picture is kept from before but for the ghost that moves."""
    early, late = (pictures.take(at(t), front_camera(), **PLAIN) for t in (0.9, 1.4))
    assert (np.abs(early - late).sum(axis=2) > 12).sum() > 100


def test_the_formula_is_worked_out_once_for_the_picture_and_its_legend(pictures, monkeypatch):
    asked = []
    monkeypatch.setattr(ghosts, "poses", lambda *args: (asked.append(1), poses(*args))[1])
    for t in (0.9, 1.4):
        shown = at(t)
        legend(shown, ViewOptions())
        pictures.take(shown, front_camera())
    assert len(asked) == 2


def test_the_legend_says_how_far_the_formula_is_off():
    def words(shown, **options):
        return [row.text for row in legend(shown, ViewOptions(**options)) if "closed form" in row.text]

    assert words(at(1.2)) == ["translucent: by the closed form, 1.20 m off"]
    assert words(at(0.0)) == ["translucent: by the closed form, less than 1 nm off"]
    assert not words(at(1.6)) and not words(at(1.2), closed_forms=False)
    both = snapshot(body("sphere", fixed=True, radius=0.1), body("sphere", (1.0, 0.0, 0.0), radius=0.1),
                    body("sphere", (2.0, 0.0, 0.0), radius=0.1), t=0.5,
                    closed_form=[{"bodies": ["1", "2"], "position": ["2*t", "y0", "z0"]}])
    assert words(both) == ["translucent: by the closed form, 2 is 1.00 m off"]


def test_a_state_that_a_step_did_not_reach_is_drawn_where_it_would_have_been(pictures):
    """A ball 0.7 m to the right of the one that is there, of a scene without closed forms; nothing where it is not
    asked for."""
    shown = snapshot(body("sphere", (-0.5, 0.0, 0.0), radius=RADIUS))
    there = Poses(np.array([[0.7, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0, 0.0]]))
    without, with_it, again = (pictures.take(shown, front_camera(), **PLAIN, rejected=poses)
                               for poses in (None, there, None))
    np.testing.assert_array_equal(again, without)
    drawn = extents(pictures.silhouette(snapshot(body("sphere", (0.7, 0.0, 0.0), radius=RADIUS)), front_camera()))
    np.testing.assert_allclose(extents(np.abs(with_it - without).sum(axis=2) > 12), drawn, atol=2.0)
