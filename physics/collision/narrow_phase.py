"""The one table of shape pairs, and the loop over all pairs that turns touching shapes into rows of Contacts."""

from contactlab.physics.collision.box_box import box_box
from contactlab.physics.collision.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    PLANE,
    SPHERE,
    mix,
)
from contactlab.physics.collision.manifold import reduce_points
from contactlab.physics.collision.round import (
    box_plane,
    capsule_capsule,
    capsule_plane,
    cylinder_plane,
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_plane,
    sphere_sphere,
)
from contactlab.physics.jit import helper, kernel


@helper
def touch(kind, pose, a, b, margin, corners, poly, patch):
    """Contact points of shapes a and b, kind[a] <= kind[b]; returns their number. This is the table of pairs."""
    kind_a, kind_b = kind[a], kind[b]
    if kind_a == BOX and kind_b == BOX:
        return box_box(pose, a, b, margin, corners, poly, patch)
    if kind_a == SPHERE:
        if kind_b == SPHERE:
            return sphere_sphere(pose, a, b, margin, patch)
        if kind_b == BOX:
            return sphere_box(pose, a, b, margin, patch)
        if kind_b == CAPSULE:
            return sphere_capsule(pose, a, b, margin, patch)
        if kind_b == CYLINDER:
            return sphere_cylinder(pose, a, b, margin, patch)
        if kind_b == PLANE:
            return sphere_plane(pose, a, b, margin, patch)
    if kind_b == PLANE:
        if kind_a == BOX:
            return box_plane(pose, a, b, margin, patch)
        if kind_a == CAPSULE:
            return capsule_plane(pose, a, b, margin, patch)
        if kind_a == CYLINDER:
            return reduce_points(patch, 0, cylinder_plane(pose, a, b, margin, patch))
        return 0
    if kind_a == CAPSULE and kind_b == CAPSULE:
        return capsule_capsule(pose, a, b, margin, patch)
    return 0


@helper
def touch_pair(kind, pose, a, b, margin, corners, poly, patch):
    """Contact points of two shapes in either order, with normals from a to b."""
    if kind[a] <= kind[b]:
        return touch(kind, pose, a, b, margin, corners, poly, patch)
    count = touch(kind, pose, b, a, margin, corners, poly, patch)
    for k in range(count):
        for i in range(3, 6):
            patch[k, i] = -patch[k, i]
    return count


@kernel
def touch_pairs(kind, pose, features, pairs, pair_count, shapes, materials, margin, patch, contacts_out):
    """Contacts of all pairs; returns the number of points, which may exceed the room in `contacts`."""
    corners, poly = features.corners, features.poly
    body, material = shapes.body, shapes.material
    restitution, friction = materials.restitution, materials.friction
    out = contacts_out
    body_a, body_b, shape_a, shape_b, key = out.body_a, out.body_b, out.shape_a, out.shape_b, out.key
    point, normal, gap, e_out, mu_out = out.point, out.normal, out.gap, out.restitution, out.friction
    total = 0
    for p in range(pair_count):
        a, b = int(pairs[p, 0]), int(pairs[p, 1])
        reach = margin[body[a]] + margin[body[b]]
        count = touch_pair(kind, pose, a, b, reach, corners, poly, patch)
        first = total
        total += count
        if total > gap.shape[0]:
            continue
        name = mix(mix(0, a), b)
        for k in range(count):
            r = first + k
            body_a[r], body_b[r], shape_a[r], shape_b[r] = body[a], body[b], a, b
            key[r] = mix(mix(name, int(patch[k, 7])), int(patch[k, 8]))
            for i in range(3):
                point[r, i] = patch[k, i]
                normal[r, i] = patch[k, 3 + i]
            gap[r] = patch[k, 6]
            e_out[r] = restitution[material[a], material[b]]
            mu_out[r] = friction[material[a], material[b]]
    out.count[0] = min(total, gap.shape[0])
    return total
