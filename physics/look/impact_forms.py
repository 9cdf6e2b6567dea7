"""What an impact does to links, by two ways to the inverse inertia that it meets; both need ζ = Tᵀq̇ of every contact.

    in joint space       H Δq̇ = T P,  M = Tᵀ H⁻¹ T: H is made and factored               [RBDA 11.57-11.59, ch. 6]
    articulated bodies   ι = I^A Δv of the link that is struck, the rest hanging on it;
                         M_rc = n_c·Δv of a unit impulse n_r                             [RBDA 11.56, 11.65, ch. 7]

The first takes n³ operations of a chain of n joints and n² more for each direction, the second n for each.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from ..core.language import N_
from ..core.model import Array, IntArray, Model
from ..dynamics.trees.joint_space import answer_impulse, articulate, factor_matrix, solve_matrix
from ..dynamics.trees.kinematics import ORIGIN, standing
from ..dynamics.trees.mass_matrix import joint_space, mass_matrix, unpacked
from ..problem.contact_snapshot import ContactSnapshot
from .step_record import Struck

ARTICULATED, JOINT_SPACE = "articulated", "joint_space"
MOST_VELOCITIES = 400  #: of which H is made
ENDS = ((-1.0, "body_a"), (1.0, "body_b"))  #: of a contact, with the sign of its impulse


@dataclass(frozen=True, slots=True)
class ImpactForms:
    """An impact of c contacts by both ways, by name."""

    HT: dict[str, Array]    #: (3 c, n_v) as in ContactSnapshot
    M: dict[str, Array]     #: (3 c, 3 c)
    inverse_mass: Array     #: (c, 2) n·(I^A)⁻¹n of body a and of body b: what they add to M of the contact [1/kg]
    differ: float           #: the largest difference of an entry of M, relative to the largest entry


def impact_forms(model: Model, struck: Struck) -> ImpactForms | str:
    """Both ways of an impact; or why there are not two."""
    contacts, n = struck.contacts, len(struck.joints.v)
    if not contacts.T[:, len(contacts.free) - n :].any():
        return N_("No link of a tree is hit: of free bodies H is block diagonal, and both ways are one.")
    if len(contacts.reactions.lam):
        return N_("Joints in maximal coordinates take part: I^A is that of trees alone.")
    if (contacts.limit >= 0).any():
        return N_("A limit of a joint takes part, which is no impulse on one link.")
    if n > MOST_VELOCITIES:
        return N_("The trees have more than 400 velocities, for which H is not made.")
    HT = {JOINT_SPACE: _through_joint_space(model, struck)}
    HT[ARTICULATED], change, pushes, inverse_mass = _through_links(model, struck)
    first = len(contacts.free) - n
    free = contacts.HT[:, :first] @ contacts.T[:, :first].T
    M = {JOINT_SPACE: HT[JOINT_SPACE] @ contacts.T.T,
         ARTICULATED: free + np.einsum("rli,cli->rc", change, pushes)}
    differ = float(np.abs(M[ARTICULATED] - M[JOINT_SPACE]).max() / np.abs(M[ARTICULATED]).max())
    return ImpactForms(HT, M, inverse_mass, differ)


def by_form(contacts: ContactSnapshot, forms: ImpactForms | str, form: str) -> ContactSnapshot:
    """The contacts with M and H⁻¹T found one way, where there are two; what they bear keeps its rows."""
    if isinstance(forms, str):
        return contacts
    M, HT, moments, rows = forms.M[form], forms.HT[form], contacts.moments, len(contacts.M)
    whole, answer = moments.M.copy(), moments.HT.copy()
    whole[:rows, :rows], answer[:rows] = M, HT
    return contacts._replace(M=M, HT=HT, moments=moments._replace(M=whole, HT=answer))


def _through_joint_space(model: Model, struck: Struck) -> Array:
    """TᵀH⁻¹ with H made and factored; free bodies as they are."""
    HT, n, before = struck.contacts.HT.copy(), len(struck.joints.v), model.trees.table.before
    H = np.zeros((n, n))
    mass_matrix(joint_space(model.trees), struck.joints.q, H)
    factor_matrix(before, H)
    for row, T in zip(HT, struck.contacts.T, strict=True):
        x = T[len(T) - n :].copy()
        solve_matrix(before, H, x)
        row[len(row) - n :] = x
    return HT


def _through_links(model: Model, struck: Struck) -> tuple[Array, Array, Array, Array]:
    """TᵀH⁻¹ by the answers of the links that are struck; Δv (3 c, links, 6) of all links by unit impulses along each
    direction, and these impulses on the links (3 c, links, 6), both spatial about the links' O; and
    `ImpactForms.inverse_mass`."""
    contacts, n, trees = struck.contacts, len(struck.joints.v), model.trees
    space = joint_space(trees, standing(model, struck.t, struck.bodies))
    none, c = np.zeros(n), len(contacts.key)
    articulate(space, struck.joints.q, none)
    link, HT, size = unpacked.py_func(space)[1].link, contacts.HT.copy(), (3 * c, len(trees.body), 6)
    HT[:, HT.shape[1] - n :] = 0.0
    change, pushes, inverse_mass = np.zeros(size), np.zeros(size), np.zeros((c, 2))
    rates, moved = np.zeros(n), np.zeros(size[1:])
    for k, (side, (sign, end)) in product(range(c), enumerate(ENDS)):
        body = int(getattr(contacts, end)[k])
        l, slot = int(trees.link_of_body[body]), int(contacts.slot[body])
        if l < 0:
            own = slice(slot, slot + 6 if slot >= 0 else slot)
            inverse_mass[k, side] = contacts.HT[3 * k, own] @ contacts.T[3 * k, own]
            continue
        point = contacts.point[k] + 0.5 * sign * contacts.gap[k] * contacts.normal[k]
        for r, direction in enumerate((contacts.normal, contacts.tangent_1, contacts.tangent_2), 3 * k):
            wrench = sign * np.concatenate([np.cross(point - link[l, ORIGIN : ORIGIN + 3], direction[k]), direction[k]])
            answer_impulse(space, l, wrench, none, rates, moved)
            HT[r, HT.shape[1] - n :] += rates
            change[r] += moved
            pushes[r, l] += wrench
            if r == 3 * k:
                inverse_mass[k, side] = moved[l] @ wrench
    return HT, change, pushes, inverse_mass


@dataclass(frozen=True, slots=True)
class Cost:
    """Time from the positions of a chain of hinges to Δq̇ after an impulse on its last link."""

    links: IntArray         #: (k,)
    time: dict[str, Array]  #: (k,) of each way [µs]
