"""Claims about convex bodies that have just come to touch a ground of triangles with crests, valleys and obtuse
corners: what is told of them is where both are, and no deeper than they are."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from contactlab.physics import Scene
from contactlab.physics.collision.detector import Detector
from contactlab.physics.collision.exact.elements import surface_of
from contactlab.physics.shapes.elements import VERTEX

STEP = 0.01      # in which a body is lowered until it touches [m]
BISECTIONS = 30  # until its height is known to 1e-11 m
ROUNDING = 1e-7  # of points and gaps: GJK and a face of a hull are exact to 1e-7 of a size of 0.3 m [m]
GROUNDS = ("0.08*sin(5*x)*cos(4*y)", "0.2*sin(3*x + 2*y)", "0.1*abs(x) + 0.05*sin(9*y)", "0.03*sin(15*x)*sin(13*y)")


def terrain_and_hull(formula, points):
    """A ground of 512 triangles, and a hull over it; (model, bodies, corners of the hull in its frame)."""
    ground = {"type": "height_field", "size": [2.0, 2.0], "formula": formula, "cells": [16, 16]}
    setup = Scene.from_dict({"body": [
        {"name": "ground", "fixed": True, "shape": [ground]},
        {"name": "body", "position": [0.0, 0.0, 1.0], "shape": [{"type": "hull", "points": points.tolist()}]}]}).build()
    surface = surface_of(setup.model)
    return setup.model, setup.state.bodies, surface.point[(surface.kind == VERTEX) & (surface.body == 1)]


def lower(detector, bodies, x, y):
    """Lower the body at x, y until it touches; the height of its centre."""
    none = np.zeros(2)

    def touches(z):
        bodies.x[1] = x, y, z
        return detector.detect(bodies, none).count[0] > 0

    high = 1.0
    while not touches(high - STEP):
        high -= STEP
        assert high > -1.0, "the body fell through the ground"
    low = high - STEP
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if touches(middle) else (low, middle)
    return low


@pytest.mark.parametrize("formula", GROUNDS)
def test_a_hull_that_touches_a_ground_of_triangles_is_no_deeper_than_it_was_lowered(formula):
    rng = np.random.default_rng(GROUNDS.index(formula))
    for _ in range(3):
        model, bodies, core = terrain_and_hull(formula, np.round(rng.normal(0.0, 0.12, (8, 3)), 3))
        detector = Detector(model)
        for _ in range(8):
            q = rng.normal(size=4)
            bodies.q[1] = q / np.linalg.norm(q)
            turned = core @ Rotation.from_quat(bodies.q[1], scalar_first=True).as_matrix().T
            height = lower(detector, bodies, *rng.uniform(-0.7, 0.7, 2))
            for sunk in (0.0, 1e-4):
                bodies.x[1, 2] = height - sunk
                contacts = detector.detect(bodies, np.zeros(2))
                count = int(contacts.count[0])
                assert count > 0
                planes = ConvexHull(turned + bodies.x[1]).equations
                beyond = (contacts.point[:count] @ planes[:, :3].T + planes[:, 3]).max(axis=1)
                assert (contacts.gap[:count] >= -sunk - ROUNDING).all()
                assert (beyond <= 0.5 * np.abs(contacts.gap[:count]) + ROUNDING).all()
