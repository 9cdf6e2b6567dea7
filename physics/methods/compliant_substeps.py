"""The substeps of the method `compliant` with an explicit tableau, as kernels: the contacts are found anew at every
stage."""

from typing import NamedTuple

import numpy as np

from contactlab.physics.assemble import match
from contactlab.physics.collision.near import touch_again
from contactlab.physics.dynamics.free_body import Y_SIZE, dydt, pack
from contactlab.physics.jit import helper, kernel
from contactlab.physics.methods.compliant_grab import pull
from contactlab.physics.methods.compliant_ledger import (
    StageBooks,
    empty_stage_books,
    hold_pull,
    note_stage,
    take_stages,
)
from contactlab.physics.methods.compliant_rates import contact_rates, finish, recovery_loss, stage
from contactlab.physics.methods.compliant_settle import settle
from contactlab.physics.model import Array, Model, body_count
from contactlab.physics.state import Bodies, empty_state

DONE, AT_STAGE, AT_BODIES = range(3)  #: all are made, or a contact needs a row first: at the stage, at the bodies


class Course(NamedTuple):
    """Scratch of one step."""

    middle: Bodies  #: the stage
    force: Array    #: (n, 3) applied [N]
    torque: Array   #: (n, 3) [N m]
    y0: Array       #: (n, 13) when the substep began
    k: Array        #: (s, n, 13) rates of its stages
    books: StageBooks


def empty_course(model: Model, stages: int) -> Course:
    """Scratch for steps of so many stages."""
    n = body_count(model)
    return Course(empty_state(n).bodies, np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, Y_SIZE)),
                  np.zeros((stages, n, Y_SIZE)), empty_stage_books(model, stages))


@helper
def look(model, near, bodies, surfaces, contacts, slot):
    """Find the contacts of these poses and the rows of their surfaces; False where there is no room for them, or where
    one that touches has no row. Contacts that stay apart need none: slot -1."""
    if touch_again(model, near, bodies.x, bodies.q, contacts) < 0:
        return False
    match(contacts, int(surfaces.count[0]), surfaces.key, surfaces.shapes, surfaces.place, model.kind, bodies.x, slot)
    missing = 0
    for i in range(int(contacts.count[0])):
        if slot[i] < 0 and contacts.gap[i] <= 0.0:
            missing += 1
    return missing == 0


@kernel
def attempt(model, loads, tableau, near, law, closed, exact, t, h, contacts, slot, surfaces, work, course, bodies, out):
    """All stages of a substep from t [s] over h [s], and its end in `out` (may be `bodies`) and work.z, work.x. False
    where a contact at course.middle needs a row first; `bodies` are then as they were."""
    middle, k, stages = course.middle, course.k, len(tableau.c)
    pack(bodies, course.y0)
    for i in range(stages):
        stage(model, tableau.a_x[i], tableau.a_p[i], i, tableau.c[i], t, h, course.y0, k, law, closed, surfaces, work,
              middle)
        if tableau.a_x[i].any() and not look(model, near, middle, surfaces, contacts, slot):  # else nothing has moved
            return False
        dydt(model, loads, t + tableau.c[i] * h, middle, course.force, course.torque, k[i])
        if loads.grab_body[0] >= 0:
            hold_pull(loads, k[i], -1.0, course.books)
            pull(loads, model.mass, model.inv_mass, model.inv_inertia, middle, k[i])
            hold_pull(loads, k[i], 1.0, course.books)
        contact_rates(model, contacts, slot, law, closed, exact, i, surfaces, work, middle, k[i])
        note_stage(model, loads, middle, contacts, slot, work.force[i], i, course.books)
    stage(model, tableau.b_x, tableau.b_p, stages, 1.0, t, h, course.y0, k, law, closed, surfaces, work, out)
    return True


@kernel
def conclude(tableau, law, closed, h, surfaces, work, books):
    """Accept the surfaces of the substep just tried."""
    take_stages(tableau.b_p, h, books)
    if closed == 1:
        surfaces.dissipated[0] += recovery_loss(law, h, surfaces, work.units)
    finish(tableau.b_p, h, surfaces, work)


@kernel
def make_substeps(model, loads, tableau, near, law, closed, first, count, t, h, contacts, slot, surfaces, work, course,
                  bodies):
    """Substeps `first` … count - 1 of h [s] each of the step that began at t [s]; returns the first that is not made,
    and why: DONE, AT_STAGE, AT_BODIES."""
    for i in range(first, count + 1):
        if i > 0 and not look(model, near, bodies, surfaces, contacts, slot):
            return i, AT_BODIES
        settle(model, contacts, slot, law, 0, bodies, surfaces, work)
        if i < count:
            if not attempt(model, loads, tableau, near, law, closed, 0, t + i * h, h, contacts, slot, surfaces, work,
                           course, bodies, bodies):
                return i, AT_STAGE
            conclude(tableau, law, closed, h, surfaces, work, course.books)
    return count + 1, DONE
