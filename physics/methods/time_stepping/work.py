"""What a Moreau–Jean step works on: one tuple of arrays for its programs, made anew where one of them was replaced."""

import math
from typing import NamedTuple

import numpy as np

from ...books.events import EventFinder
from ...books.ledger import Books, jointed
from ...collision import Detector
from ...collision.detection import Detection
from ...collision.impact_time import Paths
from ...collision.kept_triangles import MANY as MANY_ON_MESHES
from ...collision.shared_pairs import MANY_SHAPES
from ...core.model import Array, BodyKind, IntArray, Model, ShapeKind, body_count, movable
from ...core.state import Bodies, ContactMemory, empty_memory, empty_state, grow_memory
from ...core.team import gather
from ...dynamics.constraints.cure import JointKeeper, Keeper
from ...dynamics.constraints.reactions import reactions_of
from ...dynamics.trees.momentum import free_trees
from ...dynamics.trees.rates import empty_tree_scratch
from ...integrators import Dense, Integrator
from ...integrators.midpoint import FlightScratch
from ...integrators.tableau import Tableau
from ...laws.contact import turning_lengths
from ...problem.assemble import Approach, empty_approach
from ...problem.joint_rows import JointBounds, bounds_of
from ...problem.mechanisms import Mechanisms, mechanisms_of
from ...problem.system import Motion, System, empty_blocks, empty_motion, empty_system
from ..sleep import restless_bodies
from .books import StepBooks
from .joints import JointStep, joint_step
from .static_friction import Static, static_friction
from .trees import TreeStep, tree_step

#: Work.told: energy before the step [J], by how much joints have come apart, whether that is a length, the number of
#: events, and from SOLVER on what `solve_islands` tells
BEFORE, APART, LENGTH, EVENTS, SOLVER = range(5)

#: Work.order, of this step: sweeps at most, as asked for and of the next solution; 1 where Python solves, where Python
#: flies; the cure of joints, a row of CURES; 1 in the first step; solutions so far; 1 where something flies. Of
#: `march`: steps made, 1 where the last one is not finite. Of `methods.sleep`: the number of the settings, how
#: many bodies sleep
ITERATIONS, SWEEPS, OTHER_SOLVER, OTHER_FLIGHT, CURE, FIRST, TURN, FLIES, MADE, SPOILT, NUMBER, ASLEEP = range(12)

DRIVEN, SPRINGS, BOUNDED, BOUND, STATIC, OPPOSED, MESHES = range(7)  #: Work.has


class Flight(NamedTuple):
    """Of bodies that nothing touches, by the integrator."""

    bodies: Bodies          #: at the end of the step
    tableau: Tableau
    y0: Array               #: (n, 13)
    k: Array                #: (s, n, 13)
    scratch: FlightScratch


class Work(NamedTuple):
    """The arrays of a step."""

    order: IntArray      #: (12,) what is to be done, see ITERATIONS …
    told: Array          #: (7,) what was found, see BEFORE …
    has: IntArray        #: (7,) 1 where there are driven bodies, springs between bodies, limits or motors with rows,
                         #: mechanisms that pass impulses on, static friction, moments against turning, meshes that
                         #: meet others
    gravity: Array       #: (1,) |g| [m/s2]
    moving: IntArray     #: (1,) number of bodies that forces move
    radius: Array        #: (n,) that holds all shapes of a body, about its centre of mass [m]
    margin: Array        #: (n,) see `stages.reach`
    paths: Paths
    detection: Detection
    first: ContactMemory  #: contacts at the beginning of the first step
    middle: Bodies       #: poses and momenta in the middle of the step
    fraction: Array      #: (n,) part of its way that a body goes
    stopped: IntArray    #: (n,) 1 for bodies that stop in the second half of the step, before meshes meet
    force: Array         #: (n, 3) [N]
    torque: Array        #: (n, 3) [N m]
    start: Motion        #: velocities at the beginning; only with trees, limits or motors
    before: Motion       #: velocities in the middle before all impulses
    shift: Motion        #: displacements that take out overlap
    involved: IntArray   #: (n,) 1 for bodies that something may push
    mechanisms: Mechanisms
    bounds: JointBounds  #: limits and motors of joints
    system: System
    approach: Approach
    need: Array          #: (c, 2) scratch of `stages.separate`
    need_rows: Array     #: (b, 2)
    fired: IntArray      #: (c,) 1 where a contact was hit with restitution
    flight: Flight
    trees: TreeStep
    joints: JointStep    #: of joints in maximal coordinates
    keeper: Keeper
    static: Static
    lengths: Array       #: (k, k, 2) of torsional and rolling friction of pairs of materials [m]
    books: StepBooks
    still: Array         #: (1,) the setting `sleep`
    islands: IntArray    #: (n,) those to wake, by their first body; or of those that fall asleep, see `methods.sleep`
    restless: IntArray   #: (n,) 1 for bodies that never sleep


class Workspace:
    """Makes the Work of a model, and room in it: scratch memory."""

    ROOM = 64  #: contacts at first

    def __init__(self, model: Model) -> None:
        n, n_v = body_count(model), int(model.trees.first_v[-1])
        self.model, self.detector, self.dense = model, Detector(model), Dense(model)
        self.finder, self.keeper = EventFinder(model), JointKeeper(model)
        self.books = Books(model, asked=len(model.trees.body) > 0)
        self.mechanisms = mechanisms_of(model, reactions_of(model, soft=True), empty_tree_scratch(model.trees))
        self.trees = tree_step(model, self.mechanisms.trees)
        self.static, self._lengths = static_friction(model), turning_lengths(model.materials)
        floating = np.flatnonzero(free_trees(model, jointed(model))).astype(np.int32)
        self._books = StepBooks(
            empty_state(n).bodies, empty_state(n).bodies, self.books.given, self.books.before, self.books.anchored,
            floating, self.finder.changes)
        bounds = bounds_of(model)
        self.has = np.array([
            (model.kind == BodyKind.KINEMATIC).any(), len(model.springs.body_a) > 0,
            len(bounds.last) > 0, self.mechanisms.bound.any(), len(self.static.table) > 0, self._lengths.any(),
            _meshes_meet(model),
        ], np.int32)
        self.still, self.islands, self._restless = np.zeros(1), np.zeros(n, np.int32), restless_bodies(model)
        self.order, self.told = np.zeros(12, np.int32), np.zeros(SOLVER + 3)
        self._bounds, self._joints = bounds, joint_step(model, self.mechanisms.reactions)
        self._gravity = np.array([math.sqrt(float(model.gravity @ model.gravity))])
        self._moving = np.array([np.count_nonzero(movable(model.kind))], np.int32)
        self._radius, self._margin, self._fraction = _radii(model), np.zeros(n), np.ones(n)
        self._first, self._middle, self._flown = empty_memory(), empty_state(n).bodies, empty_state(n).bodies
        self._force, self._torque = np.zeros((2, n, 3))
        self._start, self._before, self._shift, self.motion = (empty_motion(n, n_v) for _ in range(4))
        self._involved, self._stopped = np.zeros((2, n), np.int32)
        self._blocks = empty_blocks(2, 4, max(24, 2 * int(self.mechanisms.size.max(initial=1))))
        self._integrator: Integrator | None = None
        self._work: Work | None = None
        self._make_room(self.ROOM)
        if len(model.shapes.body) >= (MANY_ON_MESHES if len(model.meshes.triangles) > 0 else MANY_SHAPES):
            gather()

    def work(self, integrator: Integrator) -> Work:
        """The tuple of all arrays, for flights by this integrator."""
        work, detection = self._work, self.detector.detection
        if work is not None and work.detection is detection and self._integrator is integrator:
            return work
        self._integrator = integrator
        self.dense.begin(integrator, 0.0, 0.0)
        substep = self.dense.segment(0)
        flight = Flight(self._flown, integrator.tableau, substep.y0, substep.k, self.dense.flight)
        self._work = Work(
            self.order, self.told, self.has, self._gravity, self._moving, self._radius, self._margin,
            self.detector.paths, detection, self._first, self._middle, self._fraction, self._stopped, self._force,
            self._torque,
            self._start, self._before, self._shift, self._involved, self.mechanisms, self._bounds, self.system,
            self._approach, self._need, self._need_rows, self._fired, flight, self.trees, self._joints,
            self.keeper.work, self.static, self._lengths, self._books, self.still, self.islands, self._restless)
        return self._work

    def make_room(self, memory: ContactMemory) -> None:
        """Room for the contacts that were found, or for what finding them lacked; also in the memory of a state. Where
        they are many, all grow together: after each growth the tuples of arrays are packed anew."""
        self.detector.make_what_is_needed()
        count = int(self.detector.contacts.count[0])
        if count > len(self._fired):
            self._make_room(2 * count)
        rows = count if count <= self.ROOM else len(self._fired)
        grow_memory(memory, rows + (self.limits + 2) // 3)  # and for impulses of limits and motors
        grow_memory(self._first, count)

    @property
    def limits(self) -> int:
        """Number of impulses of limits and motors."""
        return len(self._bounds.last)

    def _make_room(self, contacts: int) -> None:
        self._approach, self._need = empty_approach(contacts), np.zeros((contacts, 2))
        self._fired = np.zeros(contacts, np.int32)
        if self.has[STATIC]:
            self.static = static_friction(self.model, contacts)
        self._with_blocks(contacts)

    def make_blocks(self) -> None:
        """Twice the room for blocks, and at least for one of the mouse on the largest mechanism."""
        old, m = self._blocks, self.mechanisms
        parts = int(np.diff(m.first).max(initial=1))
        self._blocks = empty_blocks(2 * len(old.kind), 2 * max(len(old.span), parts),
                                    2 * max(len(old.J), int(m.size.max(initial=1))))
        self._with_blocks(len(self._fired))

    def _with_blocks(self, contacts: int) -> None:
        self.system = empty_system(self.motion, contacts, self._blocks)
        self._need_rows, self._work = np.zeros((len(self._blocks.kind), 2)), None


def _radii(model: Model) -> Array:
    """Radius about the centre of mass that holds all shapes of each body (n,) [m]; planes left out."""
    shapes = model.shapes
    radius = np.zeros(body_count(model))
    reach_of = np.linalg.norm(shapes.position, axis=1) + np.where(np.isfinite(shapes.bound), shapes.bound, 0.0)
    np.maximum.at(radius, shapes.body, reach_of)
    return radius


def _meshes_meet(model: Model) -> bool:
    """Whether there is a mesh that moves, and another one."""
    of_mesh = model.shapes.kind == ShapeKind.MESH
    return bool(of_mesh.sum() > 1 and movable(model.kind[model.shapes.body[of_mesh]]).any())
