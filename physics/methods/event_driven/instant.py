"""The state of the event-driven method at an instant: which pairs touch, their equations, and what moves the state to
another: impulses, small displacements, the projection to φ = 0 and ζ = 0."""

import numpy as np
from numpy.typing import NDArray

from ...books.diagnostics import total_energy
from ...books.ledger import Account
from ...collision.exact.elements import Elements, bodies_of
from ...collision.exact.gaps import find_witnesses
from ...core.islands import nodes_of
from ...core.jit import kernel
from ...core.model import Array, IntArray, Model
from ...core.state import Bodies, JointState, LongArray, Tally
from ...core.vec import add, cross, dot, norm, put, row, scale
from ...dynamics.constraints.cure import JointKeeper, gain
from ...dynamics.constraints.limits import find_limits
from ...dynamics.constraints.reactions import add_reactions, push_axes
from ...dynamics.forces import Loads, applied_forces
from ...dynamics.free_body import pack, velocity_from_momentum
from ...dynamics.grab import pull_grabbed
from ...dynamics.grab_joined import pulls_joined
from ...dynamics.trees.contacts import accelerate
from ...dynamics.trees.kinematics import advance, place_links
from ...dynamics.trees.rates import pack_links
from ...problem.contact_equations import accelerate_bodies, contact_matrix, contact_rows, push, weigh_rows
from ...problem.limit_rows import limit_rows
from ...solvers.least_forces import least
from .books import world_forces
from .motors import Motors
from .rates import empty_scratch
from .search import Course, take_coordinates
from .sets import ASIDE, SLIDE, SLIPS, STRAIGHT, empty_set

Rows = NDArray[np.integer]
SLOT = 1e-6  # depth that contacts may come to where nothing can keep all of them from it [m]


@kernel
def equations_here(model, surface, t, h, loads, bodies, joints, pairs, count, matrix, scratch, M_out, d_out):
    """Put the links where their coordinates say; witnesses, T and u of the first `count` pairs at that state, into the
    scratch. matrix = 1: M (3 c, 3 c) and d (3 c,) too. h: the step that the mouse spring has to be slow for."""
    eq = scratch.equations
    trees = eq.trees
    if len(joints.v) > 0:
        trees.q[:], trees.v[:] = joints.q, joints.v
        place_links(model, joints.q, joints.v, trees.work, bodies)
    find_witnesses(surface, bodies, pairs, count, scratch.witness)
    find_limits(model, surface, bodies, joints.q, pairs, count, scratch.witness)
    if matrix == 1:
        applied_forces(model, loads, bodies, scratch.force, scratch.torque)
        if len(eq.reactions.lam) > 0:
            push_axes(model, bodies, eq.reactions, scratch.force, scratch.torque, scratch.rate)
        if not pulls_joined(eq.reactions, loads):
            pull_grabbed(model, loads, bodies, h, scratch.force, scratch.torque, scratch.rate)
        accelerate(model, loads, h, bodies, scratch.force, scratch.torque, trees, eq.free, eq.bias)
        accelerate_bodies(model, loads, t, h, bodies, scratch.force, scratch.torque, scratch.rate, eq)
    contact_rows(model, t, bodies, scratch.witness, count, eq)
    limit_rows(model, surface, t, bodies, pairs, scratch.witness, count, eq)
    if matrix == 1:
        weigh_rows(model, bodies, count, eq)
        contact_matrix(count, eq, M_out, d_out)


@kernel
def begin_piece(model, surface, t, h, loads, bodies, joints, chosen, scratch, y0_out):
    """Take the directions of slip of sliding contacts as they are now, where they have turned; and write Y (n, 13)."""
    count, slides, eq = np.int64(chosen.count[0]), False, scratch.equations
    for k in range(count):
        slides = slides or chosen.mode[k] == SLIDE
    if slides:
        no_matrix, no_vector = np.empty((0, 0)), np.empty(0)
        equations_here(model, surface, t, h, loads, bodies, joints, chosen.pair, count, np.int64(0), scratch, no_matrix,
                       no_vector)
        for k in range(count):
            slip = add(scale(eq.u[3 * k + 1], row(eq.tangent_1, k)), scale(eq.u[3 * k + 2], row(eq.tangent_2, k)))
            size, along = norm(slip), dot(slip, row(chosen.direction, k))
            turn = norm(cross(slip, row(chosen.direction, k)))
            if chosen.mode[k] == SLIDE and size > SLIPS and along > 0.0 and turn > STRAIGHT * along + ASIDE:
                put(chosen.direction, k, scale(1.0 / size, slip))
    pack(bodies, y0_out)
    pack_links(model.trees, joints.q, joints.v, y0_out)


def _impulses(M: Array, change: Array) -> Array:
    """Those that change the velocities of rows; where rows have come to depend on each other the smallest ones."""
    try:
        return np.asarray(np.linalg.solve(M, change), np.float64)
    except np.linalg.LinAlgError:
        return least(M, change)


class Instant:
    """The state in hand, its current set, and scratch memory with room for so many contacts."""

    _bodies: Bodies
    _joints: JointState
    _loads: Loads
    _t: float
    _h: float           # of the whole step [s]
    _tally: Array
    _ledger: Array
    _depth: float       # overlap that counts as touching [m]
    _sink: float        # depth that contacts beside the active ones may come to [m]
    _cure: str          # of joints in maximal coordinates
    _alpha = 0.0        # of Baumgarte's stabilisation [1/s]

    def __init__(self, model: Model, surface: Elements) -> None:
        self.model, self.surface = model, surface
        self._node = nodes_of(model)
        self._keeper = JointKeeper(model, drives=True)
        self._motors = Motors(self._keeper)
        self._make_room(16)

    def _make_room(self, contacts: int) -> None:
        self._scratch = empty_scratch(self.model, contacts)
        eq = self._scratch.equations
        reactions = eq.reactions._replace(mode=self._motors.mode)
        self._scratch = self._scratch._replace(equations=eq._replace(reactions=reactions))
        eq.reactions.cure[0] = self._alpha
        self._chosen = empty_set(contacts)
        self._course = Course(self.model, self.surface, self._scratch)
        self._room = contacts

    def _world_forces(self, lam: Array, count: int) -> Array:
        return world_forces(self._scratch.equations, self._scratch.witness.normal, lam[: 3 * count])

    def _equations(self, pairs: LongArray, matrix: bool = True) -> tuple[Array, Array, Array]:
        """M (3 c, 3 c), d (3 c,) and velocities u (3 c,) of pairs at the present state; also left in the scratch."""
        count, eq = len(pairs), self._scratch.equations
        if count > self._room:
            raise RuntimeError("no room for the contacts")
        rows = 3 * count if matrix else 0
        M, d = np.zeros((rows, rows)), np.zeros(rows)
        equations_here(self.model, self.surface, self._t, self._h, self._loads, self._bodies, self._joints,
                       np.ascontiguousarray(pairs), count, int(matrix), self._scratch, M, d)
        return M, d, eq.u[: 3 * count].copy()

    def _touching(self) -> tuple[LongArray, Array]:
        """Pairs that touch now, and their ζ."""
        pairs, zeta = self._course.touching(self._bodies, self._joints, self._depth)
        pairs, zeta = pairs.copy(), zeta.copy()
        if len(pairs) > self._room:
            chosen = self._chosen
            self._make_room(len(pairs) + len(pairs) // 4 + 16)
            for mine, theirs in zip(self._chosen, chosen, strict=True):
                mine[: len(theirs)] = theirs
        return pairs, zeta

    def _keep_joints(self, cure: str, h: float) -> None:
        """Take up a cure for joints in maximal coordinates; velocities that they do not allow end at once."""
        self._cure, self._alpha = cure, gain(cure, h)
        self._scratch.equations.reactions.cure[0] = self._alpha
        before = self._energy()
        if self._keeper.begin(self._bodies, self._joints, cure):
            self._ledger[Account.JOINTS, 0] += self._energy() - before

    def _mend_joints(self) -> None:
        """Restore C = 0 and J q̇ = s of joints in maximal coordinates, where that is the cure, and speeds that motors
        keep."""
        if self._keeper.any:
            before = self._energy()
            if self._keeper.mend(self._bodies, self._joints, self._cure):
                self._tally[Tally.PROJECTION] += self._energy() - before

    def _project(self) -> None:
        """Put φ of the current set, and the velocities in its rows, back to zero along H⁻¹T."""
        chosen, count, eq = self._chosen, int(self._chosen.count[0]), self._scratch.equations
        if count == 0:
            return
        pairs = chosen.pair[:count].copy()
        M, _, u = self._equations(pairs)
        gap, rows = self._scratch.witness.gap[:count], chosen.row[: chosen.rows[0]]
        off = float(np.abs(gap).max())
        if off <= 1e-14 and np.abs(u[rows]).max(initial=0.0) <= 1e-14:
            return
        before = self._energy()
        if off > 1e-14 and self._sink < SLOT:
            s = np.zeros(count)
            for mine in self._by_island(np.arange(count), np.arange(count)):
                if np.abs(gap[mine]).max() > 1e-14:
                    s[mine] = np.linalg.lstsq(M[np.ix_(3 * mine, 3 * mine)], -gap[mine], rcond=1e-10)[0]
            self._shift(s @ eq.HT[: 3 * count : 3])
            M, _, u = self._equations(pairs)
        if len(rows):
            p = np.zeros(3 * count)
            for mine in self._by_island(rows // 3, rows):
                if np.abs(u[mine]).max() > 1e-14:
                    p[mine] = _impulses(M[np.ix_(mine, mine)], -u[mine])
            self._push(p)
        self._tally[Tally.PROJECTION] += self._energy() - before

    def _by_island(self, contact: Rows, numbers: Rows) -> list[Rows]:
        """Numbers in the groups of the islands of their contacts."""
        island = self._chosen.island[contact]
        return [numbers[island == i] for i in range(int(self._chosen.islands[0]))]

    def _slip(self, count: int) -> Array:
        """Slip velocities (count, 3) of the first contacts in Equations [m/s]."""
        eq = self._scratch.equations
        u = eq.u[: 3 * count].reshape(-1, 3)
        return u[:, 1:2] * eq.tangent_1[:count] + u[:, 2:] * eq.tangent_2[:count]

    @staticmethod
    def _straight(slip: Array, direction: Array) -> bool:
        """Whether a slip (3,) goes on in a unit direction (3,)."""
        along = float(slip @ direction)
        return along > 0.0 and float(np.linalg.norm(np.cross(slip, direction))) <= STRAIGHT * along + ASIDE

    def _force_scale(self) -> float:
        """Against which a force counts as none [N]."""
        g = float(np.linalg.norm(self.model.gravity))
        return max(float(np.abs(self._scratch.lam).max(initial=0.0)), g * float(self.model.mass.max(initial=0.0)), 1e-6)

    def _nodes(self, pairs: LongArray) -> IntArray:
        """What moves at both sides of pairs (k, 2), see `islands_of`."""
        return self._node[bodies_of(self.model, self.surface, pairs)]

    def _energy(self) -> float:
        return total_energy(self.model, self._bodies, *self._joints)

    def _place_links(self) -> None:
        """Put the links where their coordinates say, in the scratch too."""
        if len(self._joints.v):
            take_coordinates(self._scratch, self._joints)
            place_links(self.model, *self._joints, self._scratch.equations.trees.work, self._bodies)

    def _push(self, p: Array) -> None:
        """Apply impulses p (3 c,) in the first rows of the equations."""
        eq, rows = self._scratch.equations, len(p)
        impulse, change = p @ eq.T[:rows], p @ eq.HT[:rows]
        add_reactions(eq.reactions, p @ eq.reactions.passed[:rows], impulse)
        push(self.model.inv_mass, self.model.inv_inertia, eq, impulse, self._bodies)
        self._joints.v[:] += change[len(change) - len(self._joints.v) :]
        self._place_links()

    def _shift(self, change: Array) -> None:
        """Small displacement (n_v,) of the bodies; momenta and joint velocities stay."""
        bodies, joints = self._bodies, self._joints
        for i, j in enumerate(self._scratch.equations.slot.tolist()):
            if j < 0 or not change[j : j + 6].any():
                continue
            a = 0.5 * change[j : j + 3]
            w, r = bodies.q[i, 0], bodies.q[i, 1:].copy()
            q = np.array([w - a @ r, *(r + w * a + np.cross(a, r))])
            bodies.q[i] = q / np.sqrt(q @ q)
            bodies.x[i] += change[j + 3 : j + 6]
        velocity_from_momentum(self.model, bodies)
        if len(joints.v):
            advance(self.model.trees.table, joints.q.copy(), change[len(change) - len(joints.v) :], 1.0, joints.q)
            self._place_links()
