"""Soft laws of users. The code of such a law is the address of a compiled function F(δ, δ̇, K, D) of C's doubles, which
kernels call where `soft` has branches for its own laws: no kernel is compiled anew for it.

Such a surface has no state of its own, as that of `kelvin_voigt`: f = max(0, F(δ, δ̇, K, D)) while δ > 0.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from ..core.jit import helper

numba_types: Any = numba.types  # numba declares fewer attributes of it than used here
OWN = 4            #: codes from here on are addresses
NUDGE = 1e-5       # part of δ by which differences are taken: cubes of it are below the rounding of forces
PACE = 1e-3        # [m/s] likewise, of δ̇
LONGEST = 60       # doublings of a depth that is looked for
HALVINGS = 40      # after which it is known
_U, _W = np.polynomial.legendre.leggauss(12)
NODES, WEIGHTS = tuple((0.5 + 0.5 * _U).tolist()), tuple((0.5 * _W).tolist())  #: of Gauss's rule on 0 to 1


@intrinsic
def _at(typing_context: Any, law: Any, depth: Any, rate: Any, k: Any, d: Any) -> Any:
    """What the function at an address gives."""
    number = numba_types.float64

    def write(context: Any, builder: Any, _: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), 4 * [ir.DoubleType()])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return number(numba_types.int64, number, number, number, number), write


@helper
def own_force(law, depth, rate, k, d):
    """F(δ, δ̇, K, D) [N]"""
    return _at(law, depth, rate, k, d)  # pyright: ignore[reportCallIssue]: numba gives the context


@helper
def own_energy(law, k, depth):
    """U = ∫ F(s, 0, K, 0) ds from 0 to δ [J], with s = δ u²: exact for sums of powers δ^(n/2), n = 0 to 22."""
    total = 0.0
    for i in range(len(NODES)):
        total += WEIGHTS[i] * own_force(law, depth * NODES[i] * NODES[i], 0.0, k, 0.0) * 2.0 * depth * NODES[i]
    return total


@helper
def own_depth(law, k, energy):
    """δ at which U is this energy [J], by halving; the deepest looked at where it is nowhere."""
    low, high = 0.0, 1e-9
    for _ in range(LONGEST):
        if own_energy(law, k, high) >= energy:
            break
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if own_energy(law, k, middle) < energy:
            low = middle
        else:
            high = middle
    return high


@helper
def own_gains(law, k, d, depth):
    """∂F/∂δ and ∂F/∂δ̇ at rest at the depth δ"""
    step = NUDGE * depth
    stiff = own_force(law, depth + step, 0.0, k, d) - own_force(law, depth - step, 0.0, k, d)
    damp = own_force(law, depth, PACE, k, d) - own_force(law, depth, -PACE, k, d)
    return max(0.5 * stiff / step, 0.0) if step > 0.0 else 0.0, max(0.5 * damp / PACE, 0.0)


@helper
def own_implicit(law, k, d, g, gap, z):
    """F and -dF/dp at the gap p after a step of length g [s] that the surface began at z <= 0."""
    depth = -gap
    if depth <= 0.0:
        return 0.0, 0.0
    step = NUDGE * depth
    f = own_force(law, depth, (depth + z) / g, k, d)
    more = own_force(law, depth + step, (depth + step + z) / g, k, d)
    less = own_force(law, depth - step, (depth - step + z) / g, k, d)
    return f, max(0.5 * (more - less) / step, 0.0)
