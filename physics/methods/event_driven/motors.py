"""Motors with a limit in the event-driven method.

A motor that has its speed holds it as long as that takes no more than its limit. Otherwise it exerts all it can towards
the speed. That is Coulomb's law of dry friction along one axis, q̇ the rate of the axis and s the speed asked for:

    q̇ < s  τ = τ_max        q̇ > s  τ = -τ_max        q̇ = s  |τ| <= τ_max, and |τ| = τ_max where q̇ does not stay

During a step a motor changes where |τ| comes to its limit, or q̇ to s. At an impact it gives no impulse, for a bounded
torque has none: it lets go, and brings its axis back to speed afterwards.
"""

import numpy as np

from ...core.model import Array, IntArray
from ...core.report import Event
from ...dynamics.constraints.cure import JointKeeper
from ...dynamics.constraints.reactions import BACKWARD, FORWARD, HOLDS, OFF, reactions_to, rows_along
from ...problem.contact_equations import Equations
from ...shapes.shapes import quat_to_matrix
from .instant import energy_at
from .rates import TIME, Instant

AT_SPEED = 1e-8   # |q̇ - s| below which a motor may hold its speed [rad/s] or [m/s]
OVER_LIMIT = 1e-9 # what a motor may exert beyond its limit, relative to it
STAYS = 1e-9      # acceleration of its axis that counts as none, relative to the largest one


class Motors:
    """What the motors with a limit of a model do; `mode` is that of all rows of the joints' Reactions."""

    def __init__(self, keeper: JointKeeper) -> None:
        self._keeper, self._reactions = keeper, keeper.reactions
        self.mode, self._limit = keeper.reactions.mode, keeper.reactions.limit
        self.rows = np.flatnonzero(np.isfinite(self._limit))
        self.any = len(self.rows) > 0
        self._ready = self.rows  #: those at their speed

    def rest(self) -> None:
        """None exerts anything, as in impacts."""
        self.mode[self.rows] = OFF

    def start(self, at: Instant, row: int = -1, exerted: float = 0.0) -> None:
        """Those that have their speed hold it, the others seek it. row: one that has just come to its speed and holds
        it from now on; or one that held it and has come to its limit, exerting this, and gives in."""
        if not self.any:
            return
        self._keeper.find(at.bodies, at.joints)
        away = (self._reactions.u - self._reactions.seek)[self.rows]
        ready = (np.abs(away) <= AT_SPEED) | (self.rows == row)
        gives_in = row >= 0 and self.mode[row] == HOLDS
        self.mode[self.rows] = np.where(ready, HOLDS, np.where(away < 0.0, FORWARD, BACKWARD))
        if gives_in:
            self.mode[row] = FORWARD if exerted > 0.0 else BACKWARD
        self._ready = self.rows[ready]

    def obeys(self, eq: Equations, force: Array, one: bool) -> bool:
        """Whether all that have their speed obey the law under contact forces (3 c,) in the rows of the equations.
        Those that do not are changed; where `one`, only the first of them."""
        reactions, c, obeyed = eq.reactions, len(force), True
        if not len(self._ready):
            return True
        exerted, rate = reactions.lam + reactions_to(reactions, force @ eq.T[:c]), np.zeros(len(reactions.lam))
        rows_along(reactions, eq.free + force @ eq.HT[:c], rate)
        rate += reactions.rate
        none = STAYS * (1.0 + float(np.abs(eq.free).max(initial=0.0)))
        for r in self._ready.tolist():
            mode = int(self.mode[r])
            if mode == HOLDS and abs(exerted[r]) > (1.0 + OVER_LIMIT) * self._limit[r]:
                self.mode[r] = FORWARD if exerted[r] > 0.0 else BACKWARD
            elif mode != HOLDS and mode * rate[r] > none:
                self.mode[r] = HOLDS
            else:
                continue
            obeyed = False
            if one:
                break
        return obeyed

    def changes(self, before: IntArray, at: Instant) -> list[Event]:
        """Events of those that no longer do what they did, from the modes (m,) `before`."""
        told, bodies, joints = [], at.bodies, at.model.joints
        for r in self.rows[(before != self.mode)[self.rows]].tolist():
            j = int(self._reactions.rows.joint[r])
            child, parent, now = int(joints.child[j]), int(joints.parent[j]), energy_at(at)
            point = bodies.x[child] + quat_to_matrix(bodies.q[child]) @ joints.anchor_child[j]
            told.append(Event(
                "motor_holds" if self.mode[r] == HOLDS else "motor_gives_in", 0, float(at.clock[TIME]),
                (parent if parent >= 0 else child, child), tuple(point.tolist()), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0),
                now, now, limit=j))
        return told
