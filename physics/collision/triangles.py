"""A convex shape against a static triangle mesh: one triangle after the other, as one-sided convex shapes.

The edges between triangles of one surface must not be felt. A contact may push only along directions that are the
triangle's own: its normal, and at a convex edge what lies between it and the neighbour's normal; whatever leans further
is the neighbour's to find, or nobody's on a flat or hollow edge.
"""

from contactlab.physics.collision.convex import touch_convex
from contactlab.physics.collision.geometry import origin, to_local, to_world
from contactlab.physics.collision.manifold import reduce_groups
from contactlab.physics.jit import helper
from contactlab.physics.vec import add, cross, dot, neg, norm, row, scale, sub, unit


@helper
def local_bounds(pose, lo, hi, a, m, margin):
    """Bounds of shape a in the frame of shape m, swollen by the margin."""
    half = (0.5 * (hi[a, 0] - lo[a, 0]), 0.5 * (hi[a, 1] - lo[a, 1]), 0.5 * (hi[a, 2] - lo[a, 2]))
    centre = (0.5 * (hi[a, 0] + lo[a, 0]), 0.5 * (hi[a, 1] + lo[a, 1]), 0.5 * (hi[a, 2] + lo[a, 2]))
    c = to_local(pose, m, sub(centre, origin(pose, m)))
    reach = (margin, margin, margin)
    for j in range(3):
        r = (abs(pose[m, 3 + 3 * j]), abs(pose[m, 4 + 3 * j]), abs(pose[m, 5 + 3 * j]))
        reach = add(reach, scale(half[j], r))
    return sub(c, reach), add(c, reach)


@helper
def load_triangle(pose, meshes, m, t, work):
    """Make triangle t of mesh shape m the triangle in hand: corners, pose and the directions it may push along."""
    last = pose.shape[0] - 1
    x = origin(pose, m)
    corners = work.points[1]
    for j in range(3):
        p = add(x, to_world(pose, m, row(meshes.vertices, meshes.triangles[t, j])))
        corners[j, 0], corners[j, 1], corners[j, 2] = p
    for i in range(3):
        pose[last, i] = (corners[0, i] + corners[1, i] + corners[2, i]) / 3.0
    n = to_world(pose, m, row(meshes.triangle_normal, t))
    work.cone[0, 0], work.cone[0, 1], work.cone[0, 2] = n
    length = 0.0
    for j in range(3):
        e = sub(row(corners, (j + 1) % 3), row(corners, j))
        length = max(length, norm(e))
        out = unit(cross(e, n))
        near = to_world(pose, m, row(meshes.edge_normal[t], j))
        across = neg(out)
        if meshes.edge_convex[t, j] > 0:  # an open edge, whose normal is the triangle's own, hides nothing
            across = unit(cross(near, e)) if dot(near, n) < 1.0 - 1e-12 else (0.0, 0.0, 0.0)
        for i in range(3):
            work.cone[1 + 2 * j, i] = out[i]
            work.cone[2 + 2 * j, i] = across[i]
    pose[last, 16] = length
    work.cone[7, 0] = 1.0
    return n


@helper
def touch_triangle(kind, pose, a, m, t, margin, solids, meshes, work, count):
    """Add the contact points with one triangle; returns the number of points so far."""
    n = load_triangle(pose, meshes, m, t, work)
    height = dot(n, sub(origin(pose, a), row(work.points[1], 0)))
    if abs(height) > pose[a, 17] + margin:
        return count
    last = touch_convex(kind, pose, a, pose.shape[0] - 1, margin, solids, work, count)
    for k in range(count, last):
        work.patch[k, 8] = t + 1
    return last


@helper
def touch_mesh(kind, pose, lo, hi, a, m, mesh, margin, solids, meshes, work):
    """Contact points of a convex shape with row `mesh` of the meshes, the shape m; returns their number."""
    low, high = local_bounds(pose, lo, hi, a, m, margin)
    stack, node_min, node_max, child = work.stack, meshes.node_min, meshes.node_max, meshes.child
    nearer = 1e-6 * pose[a, 16]
    depth, count = 1, 0
    stack[0] = meshes.node_start[mesh]
    while depth > 0:
        depth -= 1
        i = stack[depth]
        apart = False
        for c in range(3):
            apart = apart or node_min[i, c] > high[c] or node_max[i, c] < low[c]
        if apart:
            continue
        if child[i, 0] >= 0:
            stack[depth], stack[depth + 1] = child[i, 1], child[i, 0]
            depth += 2
            continue
        first = -child[i, 0] - 1
        for leaf in range(first, first + child[i, 1]):
            t = int(meshes.leaf_order[leaf])
            count = touch_triangle(kind, pose, a, m, t, margin, solids, meshes, work, count)
            if count > work.patch.shape[0] - 16:
                count = reduce_groups(work.patch, count, nearer)
    work.cone[7, 0] = 0.0
    return reduce_groups(work.patch, count, nearer)
