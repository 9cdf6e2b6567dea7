"""Impacts at an instant of the event-driven method: laws of impact for what collides, and for what jams."""

from collections.abc import Set

import numpy as np

from ...books.ledger import Books
from ...collision.exact.elements import contacts_among, limits_among
from ...core.interruption import look_up
from ...core.islands import islands_of
from ...core.model import Array, BoolArray
from ...core.report import JointImpulse, Reason
from ...core.state import LongArray, empty_state
from ...dynamics.constraints.impulses import add_to_bodies, joint_impulses, reaction_impulses
from ...dynamics.constraints.limits import TURNS
from ...dynamics.constraints.reactions import reactions_to
from ...impacts import impact_laws
from ...impacts.jams import impact_without_collision
from ...impacts.moments import hit_with_moments
from ...problem.contact_snapshot import ContactSnapshot, Jointed, PairCoefficients, equations_of
from ...problem.turning_rows import SPIN
from .books import PairImpulses, book_impact, twist
from .events import EventLog
from .instant import add_impulses, energy_at, equations, world_forces
from .materials import PairMaterials
from .motors import Motors
from .observer import Observer
from .patience import Patience
from .piece import meet
from .tolerances import RESTS, SLIPS
from .workspace import Workspace

PASSED = Reason("passed")  # of a contact that is hit without closing by itself


class Impacts:
    """Solves impacts and changes the motion by them; books them and tells of them.

    A ball that bounces to rest meets the floor infinitely often in finite time. An impact slower than the workspace's
    `rest_speed` therefore has no restitution. What is cut off at the approach speed v would have lasted
    2 e v/(g (1 - e)).
    """

    struck: set[int]        #: nodes that got an impulse at this instant, see `islands_of`
    law: str                #: a key of IMPACT_LAWS
    watch: Observer | None  #: is told of every impact

    def __init__(
        self, work: Workspace, materials: PairMaterials, motors: Motors, books: Books, impulses: PairImpulses,
        log: EventLog, patience: Patience,
    ) -> None:
        self._work, self._materials, self._motors, self._books = work, materials, motors, books
        self._impulses, self._log, self._patience = impulses, log, patience
        self.struck, self.law, self.watch = set(), "newton", None
        bodies = len(work.model.kind)
        self._before, self._over = empty_state(bodies).bodies, empty_state(bodies).bodies  # the motion before, and mean

    def begin_step(self, law: str, watch: Observer | None) -> None:
        self.law, self.watch, self.struck = law, watch, set()

    def begin_instant(self) -> None:
        """Nothing has been struck yet at this instant."""
        self.struck.clear()
        self._patience.begin_instant()

    # ------------------------------------------------------------------------------------------ what collides
    def end(self, lost: Set[int], hit: set[int]) -> None:
        """Impacts until nothing collides. lost: contacts that have left their elements and are left out; the pairs that
        got an impulse are added to `hit`."""
        while self._solve(lost, hit):
            pass

    def _solve(self, lost: Set[int], hit: set[int]) -> bool:
        """Solve the impact of the contacts that touch, if any of them closes; False where none did, or where impacts
        have to end."""
        look_up()
        work, patience = self._work, self._patience
        pairs, zeta = work.touching(lost)
        if not (zeta < -RESTS).any():
            return False
        pairs = self._materials.with_turning(pairs)
        self._motors.rest()
        M, _, u = equations(work.here, pairs)
        if not (u[::3] < -RESTS).any():
            return False
        if self.watch is not None:
            here = work.here
            self.watch.impact(here.model, work.t, self.snapshot(pairs[pairs < TURNS]), here.bodies, here.joints)
        patience.count_impact()
        mu = self._materials.friction(pairs).slip
        e, *balls = self._materials.restitution(pairs)
        balls = impact_laws.through_friction(np.stack(balls), mu)
        e_t, e_psi = np.where(impact_laws.between_balls(M), balls, np.nan)
        p, slow = self._impulses_of(pairs, M, u, e, e_t, e_psi)
        patience.count_hits(pairs[p[::3] > 0.0].tolist())
        self._apply(pairs, p, hit, np.where(slow, np.nan, e_psi))
        return not patience.impacts_end() and bool(p.any())

    def _impulses_of(
        self, pairs: LongArray, M: Array, u: Array, e: Array, e_t: Array, e_psi: Array
    ) -> tuple[Array, BoolArray]:
        """Impulses p (3 c,) [N s] of colliding contacts, island by island, and which contacts have no restitution. The
        spin that torsional restitution is to turn round no moment opposes."""
        work, patience, rest_speed = self._work, self._patience, self._work.rest_speed
        friction = self._materials.friction(pairs)
        mu, bearer = friction.slip, friction.bearer
        mu[(pairs // TURNS == SPIN) & ~np.isnan(e_psi[bearer])] = 0.0
        tired = patience.tired(pairs)
        p, slow, island = np.zeros(3 * len(pairs)), np.ones(len(pairs), bool), islands_of(work.nodes(pairs))
        for i in np.unique(island[u[::3] < -RESTS]):
            mine = np.flatnonzero(island == i)
            rows = (3 * mine[:, None] + np.arange(3)).ravel()
            zeta, at = u[3 * mine], np.searchsorted(mine, bearer[mine])
            slow[mine] = ((zeta < -RESTS) & (zeta >= -rest_speed) | (zeta.min() >= -rest_speed))[at]
            if tired[mine].any() and e[mine].any():
                slow[mine] = True
                patience.take_restitution()
            used, used_t = np.where(slow[mine], 0.0, e[mine]), np.where(slow[mine], np.nan, e_t[mine])
            block = M[np.ix_(rows, rows)]
            if (at == np.arange(len(at))).all():
                p[rows] = impact_laws.hit(self.law, block, u[rows], used, mu[mine], used_t).impulse
            else:
                p[rows] = hit_with_moments(self.law, block, u[rows], used, mu[mine], at, used_t).impulse
            work.count_solve()
        return p, slow

    def push(self, pairs: LongArray, p: Array) -> None:
        """Change the motion by impulses p (3 c,) in the rows of the equations of pairs, of which no event tells."""
        world = self._in_world(pairs, p)
        self._change(pairs, p, world)
        self._impulses.add(pairs, world)

    def snapshot(self, pairs: LongArray) -> ContactSnapshot:
        """Pairs (c,) with their equations at the state in hand."""
        work, pairs = self._work, np.ascontiguousarray(pairs)
        here, witness = work.here, work.here.scratch.witness
        meet(here, pairs, len(pairs), witness, np.zeros(len(pairs)))
        e, e_t, e_psi = self._materials.restitution(pairs)
        coefficients = PairCoefficients(e, self._materials.friction(pairs).slip, e_t, e_psi)
        return equations_of(here.model, work.t, here.bodies, here.loads, witness, pairs, coefficients,
                            Jointed(here.joints, here.surface, self._motors.mode), self._materials.borne_by(pairs))

    # ------------------------------------------------------------------------------------------ what jams
    def without_collision(self, pairs: LongArray, u: Array) -> bool:
        """The impact of contacts that rest, where friction is why their accelerations have no solution, or several;
        False where it is not. u (3 c,): velocities of the pairs (c,) [m/s]."""
        self._log.tell("inconsistent", int(pairs[0]))
        friction, speed = self._materials.friction(pairs), np.hypot(u[1::3], u[2::3])
        slides = (friction.slip > 0.0) & (speed > SLIPS)
        if not slides.any():
            return False
        slip = np.column_stack([u[1::3], u[2::3]]) / np.where(speed > 0.0, speed, 1.0)[:, None]
        modes = self._motors.mode.copy()
        self._motors.rest()
        M = equations(self._work.here, pairs)[0]
        p = impact_without_collision(M, u, slides, slip, friction.slip, friction.bearer)
        self._apply(pairs, p, set(), otherwise=Reason("jam"))
        self._motors.mode[:] = modes
        return bool(p.any())

    # ------------------------------------------------------------------------------------------ impulses
    def _apply(self, pairs: LongArray, p: Array, hit: set[int], e_psi: Array | None = None,
               otherwise: Reason = PASSED) -> None:
        """Change the momenta by impulses p (3 c,) in the rows of the equations, and tell, of each two bodies, the sum
        at the contact that is hit hardest. e_psi (c,): the torsional restitution of balls, nan = none;
        otherwise: why a contact is hit that does not close."""
        here, ledger = self._work.here, self._work.ledger
        energy, zeta = energy_at(here), here.scratch.equations.u[: len(p) : 3].copy()
        world, limits = self._in_world(pairs, p), limits_among(here.surface, pairs)
        self.struck |= set(self._work.nodes(pairs)[p.reshape(-1, 3).any(axis=1)].ravel().tolist()) - {-1}
        joints = self._joint_impulses(pairs, world, p)
        self._change(pairs, p, world)
        w = here.scratch.witness
        if e_psi is not None:
            twist(self._books, here.bodies, w, p[::3], e_psi, ledger)  # moments have no normal impulse
        groups: dict[tuple[int, int, int], list[int]] = {}
        struck = np.flatnonzero(p[::3] > 0.0)
        self._impulses.add(pairs[struck], world[struck])
        for i in struck.tolist():
            group = int(w.body_a[i]), int(w.body_b[i]), int(pairs[i]) if limits[i] else -1
            groups.setdefault(group, []).append(i)
            hit.add(int(pairs[i]))
        for members in groups.values():
            hardest = max(members, key=lambda i: p[3 * i])
            reason = Reason("closes", float(zeta[hardest])) if zeta[hardest] < -RESTS else otherwise
            self._log.tell("impact", int(pairs[hardest]), world[members].sum(0), energy, joints, reason)

    def _change(self, pairs: LongArray, p: Array, world: Array) -> None:
        """Change the motion by impulses p (3 c,), `world` (c, 3), and book them."""
        here = self._work.here
        for mine, theirs in zip(self._before, here.bodies, strict=True):
            mine[:] = theirs
        add_impulses(here, p)
        book_impact(self._books, here, pairs, p, self._before, self._over, world, self._work.ledger)

    def _in_world(self, pairs: LongArray, p: Array) -> Array:
        """Impulses p (3 c,) in the rows of the equations, (c, 3) in the world frame: of moments [N m s]."""
        world, turns = world_forces(self._work.here.scratch, p), pairs >= TURNS
        if turns.any():
            world[turns] *= self._materials.lengths(pairs[turns])[1][:, None]
        return world

    def _joint_impulses(self, pairs: LongArray, world: Array, p: Array) -> tuple[JointImpulse, ...]:
        """What joints pass on of contact impulses p (3 c,) in the rows of the equations, `world` (c, 3)."""
        here = self._work.here
        eq, w, x = here.scratch.equations, here.scratch.witness, here.bodies.x
        if not len(here.model.joints.type):
            return ()
        impulse, moment = np.zeros_like(x), np.zeros_like(x)
        for k in np.flatnonzero(pairs >= TURNS).tolist():
            moment[w.body_b[k]] += world[k]
            moment[w.body_a[k]] -= world[k]
        for k in np.flatnonzero(contacts_among(here.surface, pairs)).tolist():
            for sign, i, point in ((1.0, w.body_b[k], w.p_b[k]), (-1.0, w.body_a[k], w.p_a[k])):
                impulse[i] += sign * world[k]
                moment[i] += np.cross(point - x[i], sign * world[k])
        lam = reactions_to(eq.reactions, p @ eq.T[: len(p)])
        add_to_bodies(eq.reactions.rows, eq.reactions.J, lam, impulse, moment)
        change = p @ eq.HT[: len(p)]
        of_trees = joint_impulses(here.model.trees, change[len(change) - len(here.joints.v) :], impulse, moment,
                                  eq.trees.work)
        return of_trees + reaction_impulses(eq.reactions, lam, here.bodies)


def among(pairs: LongArray, some: Set[int]) -> BoolArray:
    """Which of the pairs are among some others; numpy's isin is slow for a few."""
    if not some:
        return np.zeros(len(pairs), bool)
    return np.array([pair in some for pair in pairs.tolist()], bool)


def without(pairs: LongArray, some: Set[int]) -> LongArray:
    """The pairs that are not among some others."""
    return pairs[~among(pairs, some)]
