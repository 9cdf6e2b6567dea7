"""The acceleration of one contact over the force that acts on it: a piecewise linear function [RBDA §11.1].

With a force more by s along the normal of contact i, apart from its own λ, all contacts that rest obey

    ζ̇ = M λ + d + M_i s,    0 <= ζ̇ ⊥ λ >= 0                                             [RBDA 11.42; M_i column i]

A contact alone has ζ̇ = max(0, M f) with f = d / M + s [RBDA 11.10]: at rest while f presses, then a straight line of
slope M. Where others rest beside it the line has a kink wherever one of them begins or ceases to carry. ζ̇ is unique
even where forces are not: ζ̇_i - d_i - M_ii s is the derivative by s of the least value of ½ λᵀMλ + λᵀ(d + M_i s).

The graph is found piece by piece: a basis of the answer at one s is the basis on the whole range of s where its λ and
ζ̇, both linear in s, stay >= 0; what is left on both sides of that range is searched in the same way.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.interruption import look_up
from ..core.language import N_
from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem
from ..solvers import LCP_SOLVERS

NEGATIVE = 1e-9    # by which λ or ζ̇ may be below zero in a piece, relative to what drives it
FINEST = 1e-7      # shares of the graph below which no piece is looked for
SAME_SLOPE = 1e-7  # of two pieces that are one, relative to the slope of the contact alone
REACH = 2.5        # of the graph beyond the present force, in forces that the contact feels


@dataclass(frozen=True, slots=True)
class AccelerationGraph:
    """ζ̇ of a contact over the force f on it."""

    force: Array          #: (k,) f of ends and kinks [N], increasing
    acceleration: Array   #: (k,) ζ̇ there [m/s2]; straight lines between
    now: tuple[float, float]  #: f and ζ̇ of this instant
    slope: float          #: M_ii, of the contact alone [1/kg]
    others: int           #: contacts that rest beside it

    @property
    def parts_at(self) -> float:
        """The force from which on the contact parts [N]; inf where it is beyond the graph."""
        least = NEGATIVE * self.slope * (self.force[-1] - self.force[0])
        last = int(np.count_nonzero(self.acceleration <= least)) - 1
        return float(self.force[last]) if 0 <= last < len(self.force) - 1 else np.inf


class _NoAnswer(Exception):
    """The contacts' problem has no solution with a force that was tried."""


def acceleration_graph(problem: ContactProblem, i: int) -> AccelerationGraph | str:
    """The graph of contact i of a frictionless problem; or why there is none."""
    now = float(problem.d[i] / problem.M[i, i])
    try:
        lam = _answer(problem, i, 0.0)[0]
        felt = max(abs(now), float(np.abs(problem.M[i] * lam).sum()) / problem.M[i, i])
        low, high = min(0.0, -now) - 0.5 * felt, max(0.0, -now) + REACH * felt
        here = max(0.0, float(problem.M[i] @ lam + problem.d[i]))
        found = sorted(_pieces(problem, i, low, high))
    except _NoAnswer:
        return N_("The contacts here have no solution [RBDA example 11.1]: no acceleration belongs to a force.")
    points = [found[0][0], found[0][1]]
    slopes = [_slope(*found[0])]
    for start, end in found[1:]:
        slope = _slope(start, end)
        if abs(slope - slopes[-1]) <= SAME_SLOPE * problem.M[i, i]:
            points[-1] = end
        else:
            points, slopes = [*points, end], [*slopes, slope]
    force, acceleration = np.array(points).T.copy()
    return AccelerationGraph(force + now, acceleration, (now, here), float(problem.M[i, i]), len(lam) - 1)


def _slope(start: tuple[float, float], end: tuple[float, float]) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


def _pieces(problem: ContactProblem, i: int, low: float, high: float
            ) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Ends (s, ζ̇) of the straight pieces between two forces, each of one basis; in no order."""
    M, d = problem.M, problem.d
    left = [(low, high)]
    while left:
        look_up()
        a, b = left.pop()
        s = 0.5 * (a + b)
        basic = _answer(problem, i, s)[1]
        inverse = np.linalg.pinv(M[np.ix_(basic, basic)])
        lam, lam_slope = np.zeros(len(d)), np.zeros(len(d))
        lam[basic], lam_slope[basic] = -inverse @ (d[basic] + M[basic, i] * s), -inverse @ M[basic, i]
        zeta_dot, slope = d + M[:, i] * s + M @ lam, M[:, i] + M @ lam_slope
        outside = np.setdiff1d(np.arange(len(d)), basic)
        ends = [a, b]
        driven = float(np.abs(d + M[:, i] * s).max()) + float(np.abs(M[:, i]).max()) * (b - a)
        for value, rate, size in ((lam[basic], lam_slope[basic], NEGATIVE * driven / M[i, i]),
                                  (zeta_dot[outside], slope[outside], NEGATIVE * driven)):
            falls, rises = rate * (a - b) > size, rate * (b - a) > size
            ends[0] = max(ends[0], float((s - np.maximum(value[rises], 0.0) / rate[rises]).max(initial=a)))
            ends[1] = min(ends[1], float((s - np.maximum(value[falls], 0.0) / rate[falls]).min(initial=b)))
        finest = FINEST * (high - low)
        lower, upper = (end if abs(end - s) > finest else bound for end, bound in zip(
            ends, (max(a, s - finest), min(b, s + finest)), strict=True))
        inside = i in basic
        yield tuple((end, 0.0 if inside else max(0.0, float(zeta_dot[i] + slope[i] * (end - s))))  # type: ignore
                    for end in (lower, upper))
        left += [(x, y) for x, y in ((a, lower), (upper, b)) if y - x > finest]


def _answer(problem: ContactProblem, i: int, s: float) -> tuple[Array, IntArray]:
    """λ and its basis with a force more by s on contact i."""
    lam = np.zeros(len(problem.d))
    found = LCP_SOLVERS["dantzig"](ContactProblem.frictionless(problem.M, problem.d + problem.M[:, i] * s), lam)
    if found.status != "solved":
        raise _NoAnswer
    return lam, found.basic


__all__ = ["AccelerationGraph", "acceleration_graph"]
