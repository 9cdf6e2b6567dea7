"""Colours that alone tell things apart are told apart by those who see fewer colours, too."""

from itertools import combinations

import numpy as np
import pytest

from contactlab.app.panels import compare, plot, style
from contactlab.app.preferences import Preferences
from contactlab.app.ui_state import UiState
from contactlab.app.view import theme

#: linear RGB -> linear RGB as it is seen with one kind of cones missing [Machado, Oliveira, Fernandes 2009, table 1]
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
#: linear sRGB -> XYZ over that of white [IEC 61966-2-1]
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
NOTICED = 2.3  # ΔE*ab that is just noticed [Mahy, van Eycken, Oosterlinck 1994]


def lightness(color, cones):
    """L*a*b* of an sRGB colour [CIE 1976]."""
    ratio = XYZ @ np.clip(np.array(SEEN[cones]) @ theme.linear(np.array(color[:3])), 0.0, 1.0) / WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a, b, cones):
    return float(np.linalg.norm(lightness(a, cones) - lightness(b, cones)))


def groups():
    """Colours of which nothing but the colour tells which is which, by what they are of."""
    found = {"bodies": theme.BODY_COLORS}
    for dark in (True, False):
        look, panel = theme.theme(dark), style.DARK if dark else style.LIGHT
        ui = UiState(preferences=Preferences(dark=dark))
        name = "dark" if dark else "light"
        found |= {
            f"energies, {name}": (panel.kinetic, panel.potential, panel.spring, panel.total),
            f"curves, {name}": plot.colors(ui),
            f"sides, {name}": compare.colors_of_sides(ui),
            f"arrows with one head, {name}": (look.force, look.friction, look.velocity),
            f"axes, {name}": (look.axis_x, look.axis_y, look.axis_z),
            f"states, {name}": (panel.accent, panel.warning, panel.danger),
            f"answers, {name}": (look.selection, look.velocity),
        }
    return found


@pytest.mark.parametrize("cones", list(SEEN))
@pytest.mark.parametrize("of", list(groups()))
def test_colours_are_three_noticeable_differences_apart_for_every_eye(of, cones):
    apart = {(i, k): distance(a, b, cones) for (i, a), (k, b) in combinations(enumerate(groups()[of]), 2)}
    assert min(apart.values()) > 3 * NOTICED, min(apart, key=lambda pair: apart[pair])


def test_the_simulation_leaves_grey_alone_and_makes_red_and_green_alike_without_green_cones():
    """Each row of the matrices sums to 1; pure red and green of one luminance come closer by more than a half."""
    for matrix in SEEN.values():
        assert np.allclose(np.sum(matrix, axis=1), 1.0, atol=2e-6)
    red, green = (0.85, 0.25, 0.2), (0.2, 0.6, 0.2)
    assert distance(red, green, "deuteranopia") < 0.5 * distance(red, green, "all cones")
