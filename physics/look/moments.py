"""What contacts do against turning, at an instant and in an impact: the rows of their moments beside those of forces.

    ζ̇ = M_nn λ + M_nt f_t + M_nm m + d_n,    α = M_mn λ + M_mt f_t + M_mm m + d_m,    M_mn = J_m H⁻¹ T

J_m picks the relative angular velocity along the normal, whose moment is at most ℓ_ψ λ, and along the two tangents,
whose moment is at most ℓ_r λ. Rows in the engine have a length L, see `problem.turning_rows`; here they have none.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, IntArray
from ..core.report import Settings
from ..impacts.impact_laws import EQUALITIES, IMPACT_LAWS, Impact, energy_lost, hit
from ..impacts.moments import hit_with_moments
from ..methods.event_driven.sets import islands
from ..methods.event_driven.tolerances import SLIPS
from ..problem.contact_snapshot import ContactSnapshot, Moments
from ..problem.turning_rows import SPIN
from ..simulation.simulation import Simulation
from .turning import moments_of


@dataclass(frozen=True, slots=True)
class MomentsView:
    """The moments of the contacts that rest, k blocks of two rows: along the normal, or along both tangents."""

    contacts: ContactSnapshot
    omega: Array     #: (k, 2) relative angular velocity [rad/s]
    parts: Array     #: (4, k, 2) what its normal forces, friction, moments and d_m add to the rate of that [rad/s2]
    size: float      #: the largest sum of the sizes of products that such a rate consists of [rad/s2]
    moment: Array    #: (k, 2) the method's own [N m]
    bound: Array     #: (k,) ℓ λ with its own λ [N m]
    residual: Array  #: (k,) |m - P(m - ρ α)|/ρ, P onto the moments within the bound, 1/ρ the mean of M_mm's own
                     #:      diagonal; of one that turns |m + ℓ λ ω/|ω||/ρ, and of `time_stepping` with ω/h for α. nan
                     #:      of `compliant` surfaces, whose moments are softer [rad/s2]

    @property
    def rows(self) -> Moments:
        """Their rows in the equations."""
        return self.contacts.moments

    @property
    def alpha(self) -> Array:
        """The rate (k, 2) of omega by all of the method's forces together [rad/s2]."""
        return self.parts.sum(axis=0)


def scale_of(rows: Moments) -> Array:
    """1/L (3 (c + k),) of moments, 1 of contacts: J of a row is T times this, its M the one of T times both rows'."""
    blocks = np.ones(len(rows.M) // 3)
    blocks[len(blocks) - len(rows.borne.length) :] = 1.0 / rows.borne.length
    return np.repeat(blocks, 3)


def turns(rows: Moments) -> NDArray[np.intp]:
    """Which two rows of each block (k, 2) of the equations are those of its moment."""
    k = len(rows.borne.bearer)
    return len(rows.M) - 3 * k + 3 * np.arange(k)[:, None] + np.array([1, 2])


def moment_forces(sim: Simulation, contacts: ContactSnapshot) -> Array:
    """The method's moments in the last rows of the equations (3 k,) [N]: at the instant where it says so, else as
    `moments_of` has them; 0 where it has no such contact."""
    rows, force = contacts.moments, contacts.moments.force.copy()
    if len(force) and np.isnan(force).any():
        theirs = dict(zip(sim.contacts.key.tolist(), moments_of(sim), strict=True))
        for k, (j, length) in enumerate(zip(rows.borne.bearer.tolist(), rows.borne.length.tolist(), strict=True)):
            force[3 * k] = 0.0
            force[3 * k + 1 : 3 * k + 3] = rows.axes[k] @ theirs.get(int(contacts.key[j]), np.zeros(3)) / length
    return force


def look_at_moments(
    contacts: ContactSnapshot, lam: Array, friction: Array, force: Array, settings: Settings
) -> MomentsView | None:
    """The moments of contacts with these normal forces (c,), friction (c, 2) and moments (3 k,), of a method with these
    settings; None where they bear none."""
    rows, place = contacts.moments, turns(contacts.moments)
    borne, scale = rows.borne, scale_of(rows)
    if not len(borne.bearer):
        return None
    normal, tangential, moments = np.zeros((3, len(rows.d)))
    normal[: 3 * len(lam) : 3], moments[3 * len(lam) :] = lam, force
    tangential[: 3 * len(lam)] = np.column_stack([np.zeros(len(lam)), friction]).ravel()
    parts = np.array([(scale * a)[place] for a in (rows.M @ normal, rows.M @ tangential, rows.M @ moments, rows.d)])
    size = float((scale * (np.abs(rows.M) @ np.abs(normal + tangential + moments) + np.abs(rows.d)))[place].max())
    omega, alpha = (scale * rows.u)[place], parts.sum(axis=0)
    moment = force.reshape(-1, 3)[:, 1:] * borne.length[:, None]
    bound = borne.limit * np.maximum(lam[borne.bearer], 0.0)
    own = (rows.M.diagonal() * scale * scale)[place]
    mobility = np.maximum(own.sum(axis=1) / np.where(borne.kind == SPIN, 1.0, 2.0), 1e-300)  # 1/ρ
    turning = np.linalg.norm(omega, axis=1)
    if settings.method == "event_driven":
        slides = turning * borne.length > SLIPS
        wanted = within(moment - alpha / mobility[:, None], bound)
        wanted[slides] = -(bound[slides] / turning[slides])[:, None] * omega[slides]
    else:
        wanted = within(moment - omega / (settings.h * mobility)[:, None], bound)
    residual = mobility * np.linalg.norm(moment - wanted, axis=1)
    if settings.method == "compliant":
        residual = np.full(len(bound), np.nan)
    return MomentsView(contacts, omega, parts, size, moment, bound, residual)


def within(moment: Array, bound: Array) -> Array:
    """The nearest moments (k, 2) of at most these sizes (k,)."""
    size = np.linalg.norm(moment, axis=1)
    return moment * np.where(size > bound, bound / np.where(size > 0.0, size, 1.0), 1.0)[:, None]


# ------------------------------------------------------------------------------------------------------ impacts
@dataclass(frozen=True, slots=True)
class MomentImpulses:
    """What the moments of an impact are by one law, k blocks of two rows as in MomentsView."""

    impulse: Array  #: (k, 2) [N m s]
    after: Array    #: (k, 2) relative angular velocity after it [rad/s]


def strike(
    law: str, contacts: ContactSnapshot, e: Array, mu: Array, e_t: Array | None = None, e_psi: Array | None = None
) -> Impact:
    """Apply an impact law to the contacts, with what they bear after them, as `event_driven` does to each island. Of
    EQUALITIES Zhang's takes the normal rows alone, and none takes moments. e_t, e_psi (c,): of balls, nan = none; no
    moment opposes the spin that is to be turned round."""
    if law not in IMPACT_LAWS:
        rows = slice(None, None, 1 if law == "sticking" else 3)
        return EQUALITIES[law](contacts.M[rows, rows], contacts.u[rows], e)
    none, moments = np.full(len(e), np.nan), contacts.moments
    borne, M, u = moments.borne, moments.M, moments.u
    e_t, e_psi, k = none if e_t is None else e_t, none if e_psi is None else e_psi, len(borne.bearer)
    if not k:
        return hit(law, M, u, e, mu, e_t)
    turned_round = (borne.kind == SPIN) & ~np.isnan(e_psi[borne.bearer])
    e, e_t = np.append(e, np.zeros(k)), np.append(e_t, np.full(k, np.nan))
    mu = np.append(mu, np.where(turned_round, 0.0, borne.limit / borne.length))
    bearer = np.append(np.arange(len(none)), borne.bearer).astype(np.int32)
    impulse, used, status, order = np.zeros(len(u)), e.copy(), "solved", [np.zeros(0, np.int32)]
    for members in islands(M, bearer):
        rows, at = (3 * members[:, None] + np.arange(3)).ravel(), np.searchsorted(members, bearer[members])
        block = M[np.ix_(rows, rows)], u[rows], e[members], mu[members]
        if (at == np.arange(len(at))).all():
            found = hit(law, *block, e_t[members])
        else:
            found = hit_with_moments(law, *block, at, e_t[members])
        impulse[rows], used[members] = found.impulse, found.restitution
        status = status if found.status == "solved" else found.status
        order.append(members[found.order].astype(np.int32))
    after = u + M @ impulse
    return Impact(impulse, after, energy_lost(impulse, u, after), status, used[: len(none)], np.concatenate(order))


def of_contacts(contacts: ContactSnapshot, impact: Impact) -> Impact:
    """The rows of contacts alone; the loss is that of all."""
    rows = len(contacts.u)
    return impact._replace(impulse=impact.impulse[:rows], zeta=impact.zeta[:rows])


def in_all_rows(contacts: ContactSnapshot, impulse: Array) -> Array:
    """Impulses of the normal rows, of the rows of contacts, or of all, in all rows (3 (c + k),) of the equations."""
    p, rows = np.zeros(len(contacts.moments.u)), len(contacts.u)
    if len(impulse) < rows:
        p[:rows:3] = impulse
    else:
        p[: len(impulse)] = impulse
    return p


def world_impulses(contacts: ContactSnapshot, p: Array) -> Array:
    """The impulses (c, 3) [N s] of contacts in p (3 (c + k),), in the world frame."""
    P = p[: len(contacts.u)].reshape(-1, 3)
    return P[:, :1] * contacts.normal + P[:, 1:2] * contacts.tangent_1 + P[:, 2:] * contacts.tangent_2


def moment_impulses(contacts: ContactSnapshot, impact: Impact, change: Array) -> MomentImpulses:
    """The moments of an impact that changes v and ω of the bodies by `change` (n, 6)."""
    rows, place = contacts.moments, turns(contacts.moments)
    a, b = (bodies[rows.borne.bearer] for bodies in (contacts.body_a, contacts.body_b))
    turned = np.einsum("kij,kj->ki", rows.axes, change[b, 3:] - change[a, 3:])
    return MomentImpulses(impact.impulse[place] * rows.borne.length[:, None],
                          (scale_of(rows) * rows.u)[place] + turned)


def turned_by(contacts: ContactSnapshot, impulse: Array) -> tuple[Array, IntArray]:
    """The moments (k, 3) [N m s] in impulses of all rows, in the world frame, and the contacts (k,) that bear them."""
    rows = contacts.moments
    own = impulse[turns(rows)] * rows.borne.length[:, None]
    return np.einsum("kij,ki->kj", rows.axes, own), rows.borne.bearer
