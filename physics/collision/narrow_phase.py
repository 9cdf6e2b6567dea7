"""The one table of shape pairs, and the loop over all pairs that turns touching shapes into rows of Contacts."""

from contactlab.physics.collision.box_box import box_box
from contactlab.physics.collision.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    HULL,
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
    hull_plane,
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_plane,
    sphere_sphere,
)
from contactlab.physics.jit import helper, kernel
from contactlab.physics.vec import neg, put, row


@helper
def touch(geom, a, b, margin, features, patch):
    """Contact points of shapes a and b, kind[a] <= kind[b]; returns their number. This is the table of pairs."""
    kind_a, kind_b = geom.kind[a], geom.kind[b]
    if kind_a == BOX and kind_b == BOX:
        return box_box(geom, a, b, margin, features, patch)
    if kind_a == SPHERE:
        if kind_b == SPHERE:
            return sphere_sphere(geom, a, b, margin, patch)
        if kind_b == BOX:
            return sphere_box(geom, a, b, margin, patch)
        if kind_b == CAPSULE:
            return sphere_capsule(geom, a, b, margin, patch)
        if kind_b == CYLINDER:
            return sphere_cylinder(geom, a, b, margin, patch)
        if kind_b == PLANE:
            return sphere_plane(geom, a, b, margin, patch)
    if kind_b == PLANE:
        if kind_a == BOX:
            return box_plane(geom, a, b, margin, patch)
        if kind_a == CAPSULE:
            return capsule_plane(geom, a, b, margin, patch)
        if kind_a == CYLINDER:
            return reduce_points(patch, 0, cylinder_plane(geom, a, b, margin, patch))
        return 0
    if kind_a == PLANE:
        if kind_b == HULL:
            return reduce_points(patch, 0, hull_plane(geom, b, a, margin, patch))
        return 0
    if kind_a == CAPSULE and kind_b == CAPSULE:
        return capsule_capsule(geom, a, b, margin, patch)
    return 0


@helper
def write_row(contacts, r, patch, k, flip, body_a, body_b, a, b, restitution, friction):
    """Row r of the contacts from row k of the patch; `flip` where the patch's first shape is b."""
    contacts.body_a[r] = body_a
    contacts.body_b[r] = body_b
    contacts.shape_a[r] = a
    contacts.shape_b[r] = b
    contacts.key[r] = mix(mix(mix(0, a), b), patch.feature[k])
    n = row(patch.normal, k)
    put(contacts.point, r, row(patch.point, k))
    put(contacts.normal, r, neg(n) if flip else n)
    contacts.gap[r] = patch.gap[k]
    contacts.restitution[r] = restitution
    contacts.friction[r] = friction


@kernel
def touch_pairs(geom, pairs, pair_count, body, material, materials, margin, features, patch, contacts):
    """Contacts of all pairs; returns the number of points, which may exceed the room in `contacts`."""
    capacity = contacts.gap.shape[0]
    total = 0
    for p in range(pair_count):
        a, b = int(pairs[p, 0]), int(pairs[p, 1])
        flip = geom.kind[a] > geom.kind[b]
        first, second = (b, a) if flip else (a, b)
        body_a, body_b = int(body[a]), int(body[b])
        count = touch(geom, first, second, margin[body_a] + margin[body_b], features, patch)
        e = materials.restitution[material[a], material[b]]
        mu = materials.friction[material[a], material[b]]
        for k in range(count):
            if total + k < capacity:
                write_row(contacts, total + k, patch, k, flip, body_a, body_b, a, b, e, mu)
        total += count
    contacts.count[0] = min(total, capacity)
    return total
