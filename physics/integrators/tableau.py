"""What an integrator is: a partitioned Runge–Kutta tableau with its dense output."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.model import Array


class Tableau(NamedTuple):
    """s stages for Y = (positions, momenta), each part with its own coefficients [Hairer, Lubich & Wanner, eq. II.2.2].

    Stage i:      Y_i = y_0 + h Σ_j a_ij k_j,   k_i = f(Y_i, t_0 + c_i h),   a = a_x for x and q, a_p for P and L
    End of step:  y_1 = y_0 + h Σ_i b_i k_i
    Between:      y(δ) = y_0 + h Σ_i B_i(δ) k_i,   B_i(δ) = Σ_m dense[i, m] δ^(m + 1),  0 <= δ <= 1   [RBDA 11.46]
    Local error:  h Σ_i e_i k_i
    """

    a_x: Array      #: (s, s) strictly lower triangular; with a diagonal where implicit
    a_p: Array      #: (s, s)
    b_x: Array      #: (s,)
    b_p: Array      #: (s,)
    c: Array        #: (s,)
    error: Array    #: (s,) zero where the step is not checked
    dense_x: Array  #: (s, d)
    dense_p: Array  #: (s, d)


@dataclass(frozen=True)
class Integrator:
    """One integration method, as the menu shows it and as the stepper uses it."""

    name: str
    title: str
    order: int        #: of the global error
    dense_order: int  #: of the global error between steps
    adaptive: bool    #: cuts a step into substeps until the local error is below TOLERANCE
    tableau: Tableau
    implicit: bool = False  #: its stages are equations: only methods that solve them can use it


def tableau(a: ArrayLike, b: ArrayLike, c: ArrayLike, dense: ArrayLike, error: ArrayLike | None = None) -> Tableau:
    """An ordinary Runge–Kutta tableau: the same coefficients for positions and momenta."""
    a, b, c, dense = (np.array(part, np.float64) for part in (a, b, c, dense))
    e = np.zeros(len(b)) if error is None else np.array(error, np.float64)
    return Tableau(a, a.copy(), b, b.copy(), c, e, dense, dense.copy())
