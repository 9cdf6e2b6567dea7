"""The contact problem as data: what a solver gets and what one residual judges.

Unknown: the impulses λ of c contacts; given: how velocities answer them.

    u = M λ + d        M (k, k) contact-space inverse inertia [1/kg], d (k,) velocity without λ [m/s]

Frictionless, k = c: 0 <= u ⊥ λ >= 0. Frictional, k = 3c, row 3i normal and 3i + 1, 3i + 2 tangential of contact i:
Signorini's condition on the normal part and Coulomb's law with the circular cone on the tangential part (see `laws`).
Restitution is part of d: d_n contains e ζ⁻, so that u_n >= 0 says ζ⁺ >= -e ζ⁻. The same data serve forces, with
accelerations for u and d.
"""

from __future__ import annotations

import math
import pathlib
import zipfile
from dataclasses import dataclass, fields
from enum import Flag, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.given_path import given_path
from ..core.limits import PROBLEM_ROWS
from ..core.model import Array, BoolArray, IntArray
from ..core.whole_file import whole_file


class Takes(Flag):
    """Which problems a solver takes."""

    FRICTIONLESS = auto()  #: written out, one row a contact
    FRICTION = auto()      #: written out, three rows a contact
    UNSYMMETRIC = auto()   #: M need not be symmetric
    BODIES = auto()        #: a `system.System`, whose matrix is never formed


class CannotSolve(Exception):
    """A solver cannot take the contacts of this instant; the message is one sentence for the user."""


NO_ROWS = np.zeros(0, np.int32)
NO_ROWS.flags.writeable = False


class SolveInfo(NamedTuple):
    """How a solver fared.

    status: "solved"; "iterations": stopped by the limit before its tolerance was met; "infeasible": there is no
    solution, as `certificate` proves; "unsymmetric": M is not symmetric, as the solver needs; "glued": what plain
    Gauss–Seidel finds where contacts pull; "ray", "stuck": the method ended without an answer, which cannot happen
    without friction where M is symmetric positive semidefinite and well enough conditioned.
    """

    status: str
    iterations: int  #: sweeps, rounds or steps, whatever the method counts
    residual: float  #: see `problem.residual` [unit of d]; before that is known, what was last changed
    pivots: int = 0  #: exchanges of a contact into or out of the basis
    #: rows of the basis, ascending, or of forces that do not vanish: λ vanishes elsewhere
    basic: IntArray = NO_ROWS
    certificate: Array | None = None  #: (k,) see `solvers.infeasible`, largest entry 1; None unless infeasible


@dataclass(frozen=True)
class MomentRows:
    """What contacts of a problem do against spinning and rolling: k rows of a relative angular velocity ω = ω_b - ω_a,
    one along the normal of a contact that opposes spinning, two along its tangents where it opposes rolling.

        u = M λ + W m + d,    ω = Wᵀ λ + M_m m + d_m,    |m_ψ| <= ℓ_ψ λ_n,  |(m_r1, m_r2)| <= ℓ_r λ_n

    ω = 0, or m is at its bound and opposes ω. All spins come first, then the pairs of rows of rolling. With forces for
    λ and accelerations for u, m is a moment [N m] and the row the rate of ω, which is opposed so where ω = 0 by now;
    where it is not, m = -ℓ λ_n ω/|ω|.
    """

    bearer: IntArray  #: (k,) the contact whose normal impulse λ_n bounds the moment
    spins: BoolArray  #: (k,) whether it opposes spinning; else rolling, together with the row beside it
    limit: Array      #: (k,) ℓ_ψ or ℓ_r [m]
    W: Array          #: (rows of contacts, k) velocities of contacts by unit moments [1/(kg m)]
    M: Array          #: (k, k) of the moments themselves [1/(kg m²)]
    d: Array          #: (k,) ω without impulses and moments of contacts [rad/s]; with forces its rate [rad/s2]
    omega: Array      #: (k,) ω by now [rad/s], where d is its rate; 0 where d is an angular velocity

    def __post_init__(self) -> None:
        k = len(self.d)
        if not all(a.shape == (k,) for a in (self.bearer, self.spins, self.limit, self.d, self.omega)):
            raise ValueError("bearer, spins, limit, d and omega of moments must each have one entry a row")
        if self.M.shape != (k, k) or self.W.ndim != 2 or self.W.shape[1] != k:
            raise ValueError(f"M and W of {k} moments must have {k} columns")
        if not all(np.isfinite(a).all() for a in (self.W, self.M, self.d, self.omega)):
            raise ValueError("W, M, d and omega of moments must be finite")
        if not (self.limit >= 0).all():
            raise ValueError("the lengths that bound moments must be >= 0")


OF_MOMENTS = tuple(field.name for field in fields(MomentRows))


@dataclass(frozen=True)
class ContactProblem:
    """A contact problem of c contacts, with the matrix written out: find λ >= 0, or in Coulomb's cone, such that
    M λ + d complements it. Rows are velocities, λ impulses [N s]. `frictionless` and `frictional` make one of arrays,
    `Simulation.problem` of an instant; `SOLVERS` solve it.

    M: (k, k) [1/kg], k = c, with friction 3 c: normal and two tangents of each contact.
    d: (k,) [m/s], velocities without contact impulses.
    friction: (c,) μ of each contact; empty: frictionless, one row a contact.
    moments: what contacts bear against spinning and rolling, None where they bear nothing. Solvers answer M λ + d: of a
    problem with moments that is λ without them; `given` makes of known moments the problem that is left.
    Of event_driven between impacts λ are forces [N], rows accelerations [m/s2], and moments in N m.
    """

    M: Array         #: (k, k) [1/kg]
    d: Array         #: (k,) [m/s]
    friction: Array  #: (c,) mu of each contact; empty = frictionless, one row a contact
    moments: MomentRows | None = None  #: against spinning and rolling

    def __post_init__(self) -> None:
        if self.d.ndim != 1 or self.friction.ndim != 1:
            raise ValueError("d and the friction coefficients must each be one row of numbers")
        k = len(self.d)
        if self.M.shape != (k, k):
            raise ValueError(f"M must be {k} x {k} to go with d of length {k}, not of shape {self.M.shape}")
        if len(self.friction) and 3 * len(self.friction) != k:
            raise ValueError(f"{len(self.friction)} friction coefficients ask for d of length "
                             f"{3 * len(self.friction)}, not {k}")
        if not (np.isfinite(self.M).all() and np.isfinite(self.d).all()):
            raise ValueError("M and d must be finite")
        if not (self.friction >= 0).all():
            raise ValueError("friction coefficients must be >= 0")
        if self.moments is not None:
            if len(self.moments.W) != k:
                raise ValueError(f"W of moments must have {k} rows to go with d, not {len(self.moments.W)}")
            bearer = self.moments.bearer
            if not ((bearer >= 0) & (bearer < self.contact_count)).all():
                raise ValueError("the bearer of a moment must be one of the contacts")

    @classmethod
    def frictionless(cls, M: ArrayLike, d: ArrayLike, moments: MomentRows | None = None) -> ContactProblem:
        """The LCP 0 <= M λ + d ⊥ λ >= 0 from M (c, c) [1/kg] and d (c,) [m/s]."""
        return cls(_floats(M), _floats(d).ravel(), np.zeros(0), moments)

    @classmethod
    def frictional(
        cls, M: ArrayLike, d: ArrayLike, friction: ArrayLike, moments: MomentRows | None = None
    ) -> ContactProblem:
        """A problem with Coulomb friction from M (3c, 3c) [1/kg], d (3c,) [m/s] and μ (c,) or one μ for all."""
        d = _floats(d).ravel()
        mu = np.broadcast_to(_floats(friction), (len(d) // 3,))
        return cls(_floats(M), d, mu.copy(), moments)

    @property
    def contact_count(self) -> int:
        """Number of contacts c."""
        return len(self.friction) if len(self.friction) else len(self.d)

    @property
    def dimension(self) -> int:
        """Rows of a contact: 3 with friction, 1 without."""
        return 3 if len(self.friction) else 1

    def answer(self, lam: Array, m: Array) -> tuple[Array, Array]:
        """What follows from impulses λ [N s] and moments m (k,) [N m s]: u of the contacts' rows [m/s] and ω (k,) of
        the moments' [rad/s]; of forces and moments in N and N m their rates."""
        if self.moments is None:
            return self.M @ lam + self.d, np.zeros(0)
        rows = self.moments
        return self.M @ lam + rows.W @ m + self.d, rows.W.T @ lam + rows.M @ m + rows.d

    def bounds(self, lam: Array) -> Array:
        """ℓ λ_n (k,): the most that each spin may be opposed by, and the two rows of each roll together [N m s]."""
        if self.moments is None:
            return np.zeros(0)
        return self.moments.limit * np.maximum(lam[self.dimension * self.moments.bearer], 0.0)

    def given(self, m: Array) -> ContactProblem:
        """The problem of the contacts alone, with these moments (k,) acting [N m s]."""
        d = self.d if self.moments is None else self.d + self.moments.W @ m
        return ContactProblem(self.M, d, self.friction)

    def save(self, path: pathlib.Path | str) -> None:
        """Write the problem to an .npz file; OSError where that cannot be done."""
        rows = self.moments
        moments = {} if rows is None else {f"moments_{name}": getattr(rows, name) for name in OF_MOMENTS}
        with whole_file(given_path(path)) as file:
            np.savez(file, M=self.M, d=self.d, friction=self.friction, **moments)

    @classmethod
    def load(cls, path: pathlib.Path | str) -> ContactProblem:
        """Read a problem written by `save`; ValueError names the file and what is wrong with it."""
        try:
            with zipfile.ZipFile(given_path(path)) as archive:
                M, d, friction = (_read_array(archive, name) for name in ("M", "d", "friction"))
                return cls(M, d, friction, _read_moments(archive))
        except OSError as error:
            raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
        except ValueError as error:
            raise ValueError(f"{path}: not a contact problem: {error}") from error
        except Exception as error:  # whatever zipfile and numpy make of a damaged file
            raise ValueError(f"{path}: not a contact problem: it is no whole .npz file") from error


def _read_moments(archive: zipfile.ZipFile) -> MomentRows | None:
    """The rows of moments of a file; None where it has none."""
    if not any(name.startswith("moments_") for name in archive.namelist()):
        return None
    bearer, spins, *rest = (_read_array(archive, f"moments_{name}") for name in OF_MOMENTS)
    return MomentRows(bearer.astype(np.int32), spins != 0.0, *rest)


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """An array of an .npz file. What its head claims is checked before anything is allocated."""
    if f"{name}.npy" not in archive.namelist():
        raise ValueError(f"no array {name}")
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        old = np.lib.format.read_magic(file) == (1, 0)
        head = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, _, kind = head(file)
        size = math.prod(shape) * kind.itemsize
        if kind.kind not in "fiub" or len(shape) > 2 or max(shape, default=0) > PROBLEM_ROWS.most:
            raise ValueError(f"the array {name} is of shape {shape} and type {kind}; it must hold numbers in at "
                             f"most {PROBLEM_ROWS}")
        if member.file_size != file.tell() + size:
            raise ValueError(f"the array {name} is not whole")
    with archive.open(member) as file:
        return _floats(np.lib.format.read_array(file, allow_pickle=False))


def _floats(a: ArrayLike) -> Array:
    return np.ascontiguousarray(a, np.float64)
