"""A whole step of free bodies in one call, for scenes without trees and joints: the stages of `step`, one after the
other, to the same bits. Python comes in where there is something to decide.
"""

from typing import NamedTuple

from ...books.diagnostics import total_energy
from ...books.events import UNKNOWN, Changes, find_changes
from ...books.ledger import add_pull, book_forces
from ...collision.detection import Detection, find_contacts
from ...collision.impact_time import Paths, find_fast
from ...core.jit import program
from ...core.model import Array, IntArray
from ...core.state import Bodies, Owner
from ...core.vec import cross
from ...dynamics.forces import applied_forces
from ...dynamics.free_body import pack
from ...dynamics.motion import drive
from ...integrators.midpoint import FlightScratch
from ...integrators.stepper import runge_kutta_step
from ...integrators.tableau import Tableau
from ...problem.assemble import Approach, assemble, flat, free_motion, match, momenta, warm_start
from ...problem.grab_row import hold
from ...problem.mechanisms import Mechanisms
from ...problem.residual import system_residual
from ...problem.system import SHORT, Motion, System
from ...solvers.newton import solve_islands
from .books import book_contacts, mean_motion
from .stages import (
    COLD_START,
    SLOP,
    find_involved,
    half_drift,
    reach,
    remember,
    report,
    report_grab,
    scales_of,
    second_drift,
    separate,
    take_free,
)
from .static_friction import MODE

DONE, PYTHON = 1, 0  # what `step_free_bodies` says: the step is made, or nothing has changed and it is left to Python
BEFORE, AFTER, RESIDUAL, SIZE, DEEPEST, EVENTS, TOLD = range(7)  # of Whole.told: energy [J] before and after the step,
#   what `system_residual` says, the deepest overlap [m], the number of events, and from TOLD on what `solve_islands`
#   tells (3)
TIME_STEPPING = int(Owner.TIME_STEPPING)


class Whole(NamedTuple):
    """What a whole step works on beside the state: the arrays of its `MoreauStep`, of the books, of collision detection
    and of flight."""

    gravity: Array       #: (1,) |g| [m/s2]
    driven: IntArray     #: (1,) 1 where bodies have a prescribed motion
    springs: IntArray    #: (1,) 1 where there are springs
    moving: IntArray     #: (1,) number of bodies that forces move
    radius: Array        #: (n,) that holds all shapes of a body, about its centre of mass [m]
    margin: Array        #: (n,) see `stages.reach`
    paths: Paths
    detection: Detection
    middle: Bodies
    flight: Bodies
    fraction: Array
    force: Array
    torque: Array
    start: Motion
    before: Motion
    shift: Motion
    involved: IntArray
    mechanisms: Mechanisms
    stiff: IntArray      #: (0,) there are no trees
    system: System
    approach: Approach
    need: Array
    need_rows: Array
    fired: IntArray      #: (c,) 1 where a contact was hit with restitution
    tableau: Tableau     #: of the integrator
    y0: Array            #: (n, 13) scratch of the flight
    k: Array             #: (s, n, 13)
    scratch: FlightScratch
    at: Bodies           #: poses and velocities from which forces are computed
    over: Bodies         #: velocities over which they work
    given: Array         #: (0, 6) see `give`: no joint holds a body to the ground
    changes: Changes
    told: Array          #: (9,) see BEFORE …


@program
def step_free_bodies(model, state, loads, h, iterations, tolerance, whole):
    """Advance the state by h [s] and book the step. Returns DONE; or PYTHON where a body is so fast that it needs a
    time of impact, or where there is no room for what was found: nothing has changed then."""
    t, kind, bodies, memory = state.t[0], model.kind, state.bodies, state.memory
    q, v, mechanisms, middle, told = state.joints.q, state.joints.v, whole.mechanisms, whole.middle, whole.told
    system, approach, before = whole.system, whole.approach, whole.before
    force, torque, involved, contacts = whole.force, whole.torque, whole.involved, whole.detection.contacts
    rest, touch = scales_of(whole.gravity[0], h)
    told[BEFORE] = total_energy(model, bodies, q, v)

    # approach
    reach(kind, bodies, whole.radius, 2.0 * touch, h, whole.margin)
    if find_fast(bodies, 0.5 * h, whole.paths) > 0:
        return PYTHON
    whole.fraction[:] = 1.0
    half_drift(kind, bodies, whole.fraction, h, middle)
    if whole.driven[0] == 1:
        drive(model, t + 0.5 * h, middle)
    count = find_contacts(model, whole.detection, middle.x, middle.q, whole.margin)
    if count < 0 or count > len(whole.fired) or count > len(memory.key):
        return PYTHON
    whole.at.x[:] = middle.x
    if whole.springs[0] == 1:
        whole.at.q[:], whole.at.v[:], whole.at.w[:] = middle.q, middle.v, middle.w
    applied_forces(model, loads, middle, force, torque)
    free_motion(model, middle, force, torque, h, before, system.motion)
    approach.scales[0], approach.scales[1], approach.scales[2], approach.scales[3] = rest, touch, h, 1.0
    match(contacts, memory.count[0], memory.key, memory.shapes, memory.place, kind, middle.x, approach.previous)
    hold(model, mechanisms, middle, loads, h, system)
    assemble(model, mechanisms, middle, contacts, before, memory, approach, system)
    if system.blocks.count[SHORT] != 0:
        return PYTHON

    # solve
    known = warm_start(memory, approach.previous, system)
    if 2 * known < system.count[0]:
        iterations *= COLD_START
    solve_islands(system, iterations, tolerance, told[TOLD:])
    told[RESIDUAL], told[SIZE] = system_residual(system)

    # depart
    momenta(system, force, torque, h, middle.P, middle.L)
    separate(contacts.gap, approach.half_turn, system, SLOP * touch, h, whole.need, whole.need_rows, whole.shift)
    if find_involved(model, mechanisms, whole.stiff, system, whole.need, whole.need_rows, involved) < whole.moving[0]:
        pack(bodies, whole.y0)
        runge_kutta_step(model, loads, whole.tableau, t, h, whole.y0, whole.k, whole.scratch, whole.flight,
                         state.joints)
        take_free(kind, whole.flight, involved, bodies)
    second_drift(kind, model.inv_mass, model.inv_inertia, middle, whole.shift.bodies, whole.fraction, involved, h,
                 bodies)
    if whole.driven[0] == 1:
        drive(model, t + h, bodies)
    state.t[0] = t + h

    # report
    told[DEEPEST] = report(contacts, system, middle.x, approach, whole.fired, memory)
    told[AFTER] = total_energy(model, bodies, q, v)
    told[EVENTS] = find_changes(contacts, memory, approach.zeta, approach.zeta, rest, whole.changes)
    memory.owner[0] = TIME_STEPPING
    memory.own[:count, MODE] = UNKNOWN
    remember(contacts, whole.fired, kind, middle.x, memory)
    report_grab(system, h, loads)

    # book
    ledger, over, given, grab = state.ledger, whole.over, whole.given, system.grab
    mean_motion(kind, middle, whole.start.bodies, before.bodies, system.motion.bodies, involved, bodies, over)
    book_forces(model, loads, whole.at, over, h, ledger, given)
    book_contacts(model, over, contacts, approach, whole.fired, ledger, given)
    if grab.body[0] >= 0:
        p, turns = flat(grab.impulse), grab.turn[0] == 1
        add_pull(grab.body[0], (0.0, 0.0, 0.0) if turns else p, p if turns else cross(flat(grab.arm), p), over, ledger,
                 given)
    return DONE
