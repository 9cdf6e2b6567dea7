"""Claims about gaps by coal, the collision library of Pinocchio: shapes of 1 mm to 1 m, apart, nearly touching and deep
within each other, aligned, nearly so and askew; and a concave mesh beside all of them."""

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
from collision_scenes import mesh
from convex_pairs import SHAPES, Placed, extent_of, gap_of, pairs, reach, turns, vectors
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mesh_zoo import corner_piece

from contactlab.physics.core.model import ShapeKind

coal: Any = importlib.import_module("coal")  # its stubs name nothing
FUZZ = {"deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
KNOWN = [name for name in SHAPES if name not in ("particle", "superellipsoid")]
PAIRS = [pair for pair in itertools.combinations_with_replacement(KNOWN, 2) if pair != ("plane", "plane")]
ORACLE = 1e-6  # relative to the sizes, of either side where it iterates
PIECE = corner_piece(0.4)  # an L of three cubes, in the plane of x and z


def geometry(part):
    """The shape of coal, and how far its origin is above ours along z: coal's cone has it at half its height."""
    kind, size = part.kind, part.size
    if kind == ShapeKind.SPHERE:
        return coal.Sphere(size[0]), 0.0
    if kind == ShapeKind.BOX:
        return coal.Box(2.0 * size[0], 2.0 * size[1], 2.0 * size[2]), 0.0
    if kind == ShapeKind.CAPSULE:
        return coal.Capsule(size[0], 2.0 * size[1]), 0.0
    if kind == ShapeKind.CYLINDER:
        return coal.Cylinder(size[0], 2.0 * size[1]), 0.0
    if kind == ShapeKind.CONE:
        return coal.Cone(size[0], size[1]), 0.25 * size[1]
    if kind == ShapeKind.ELLIPSOID:
        return coal.Ellipsoid(*size), 0.0
    if kind == ShapeKind.PLANE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), 0.0
    points = coal.StdVec_Vec3s()
    points.extend(part.points if kind != ShapeKind.MESH else part.points[0])
    if kind == ShapeKind.MESH:
        triangles = coal.StdVec_Triangle()
        triangles.extend([coal.Triangle(*(int(i) for i in t)) for t in part.points[1]])
        surface = coal.BVHModelOBBRSS()
        surface.beginModel(len(triangles), len(points))
        surface.addSubModel(points, triangles)
        surface.endModel()
        return surface, 0.0
    solid = coal.Convex.convexHull(points, True, None)
    solid.setSweptSphereRadius(part.size[0])
    return solid, 0.0


def distance(a, b, tolerance):
    """Signed distance by coal. Its tolerance is that of the squared distance over itself for GJK, and of the depth for
    the expanding polytope, which grows from within: its depth is too small by up to that, relative to the size."""
    (one, up), (two, higher) = geometry(a.part), geometry(b.part)
    places = [coal.Transform3s(s.turn.as_matrix(), s.x + s.turn.apply([0.0, 0.0, z]))
              for s, z in ((a, up), (b, higher))]
    request = coal.DistanceRequest(True, True)
    request.gjk_tolerance, request.gjk_max_iterations = tolerance, 1000
    request.epa_tolerance, request.epa_max_iterations = tolerance, 1000
    return coal.distance(one, places[0], two, places[1], request, coal.DistanceResult())


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, **FUZZ)
@given(data=st.data())
def test_the_gap_is_coals_distance(pair, data):
    """Where shapes overlap coal's depth may be more than the least one: its polytope gives up on shapes that are very
    flat, and from balls whose centres are in a cylinder it goes out through the side. `test_gap_bounds` has our normal
    prove our depth from there on."""
    a, b = data.draw(pairs(*pair))
    gap, near = gap_of(a, b)[0], ORACLE * extent_of(a, b)
    if gap > 0.0:
        assert gap == pytest.approx(distance(a, b, 1e-10), abs=near)
    else:
        assert distance(a, b, 1e-8) < gap + near - 1e-2 * gap


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in ("plane", "rounded")])
@settings(max_examples=20, **FUZZ)
@given(data=st.data())
def test_the_gap_of_a_concave_mesh_is_coals_distance(name, data):
    """Of its triangles, where the shape is outside: beside it, in front of the inner corner, over an edge. coal takes
    nothing swollen beside a mesh."""
    part, way = data.draw(SHAPES[name]), np.array(data.draw(vectors))
    around = np.concatenate([np.eye(3), -np.eye(3)])
    a = Placed(mesh(PIECE.vertices, PIECE.faces), np.zeros(3), data.draw(turns()))
    b = Placed(part, (0.6 + float(reach(part, around).max())) * way, data.draw(turns()))
    expected = distance(a, b, 1e-10)
    x, y, z = a.turn.inv().apply(b.x)
    if expected < 1e-3 or (min(x, y, z) > 0.0 and y < 0.4 and min(x, z) < 0.4 and max(x, z) < 0.8):
        return
    assert gap_of(a, b)[0] == pytest.approx(expected, abs=ORACLE * (1.0 + extent_of(b, b)))
