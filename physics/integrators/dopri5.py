"""Dormand–Prince 5(4): fifth order, error control by its embedded fourth order, fourth-order dense output."""

import numpy as np

from .tableau import Integrator, tableau

# [Dormand & Prince 1980; Hairer, Nørsett & Wanner, table II.5.2]
A = np.zeros((7, 7))
A[1, :1] = [1 / 5]
A[2, :2] = [3 / 40, 9 / 40]
A[3, :3] = [44 / 45, -56 / 15, 32 / 9]
A[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
A[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
A[6, :6] = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
B = A[6]
B_4 = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])

# y(δ) = y_0 + δ (Δ + (1 - δ) (h k_1 - Δ + δ (2 Δ - h k_1 - h k_7 + (1 - δ) h Σ d_i k_i))),  Δ = h Σ b_i k_i
# [Hairer, Nørsett & Wanner, eq. II.6.13 and the d_i of their program DOPRI5]
D = np.array([
    -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
])


def dense_polynomials() -> np.ndarray:
    """The dense output's coefficients of δ, δ², δ³, δ⁴ for each stage (7, 4)."""
    first, last = np.eye(7)[0], np.eye(7)[6]
    powers = {  # each factor as a polynomial in δ, coefficients of δ … δ⁴
        "δ": (B, [1, 0, 0, 0]),
        "δ(1-δ)": (first - B, [1, -1, 0, 0]),
        "δ²(1-δ)": (2 * B - first - last, [0, 1, -1, 0]),
        "δ²(1-δ)²": (D, [0, 1, -2, 1]),
    }
    return np.sum([np.outer(weights, np.array(factor, np.float64)) for weights, factor in powers.values()], axis=0)


DOPRI5 = Integrator(
    name="dopri5", title="Dormand–Prince 5(4), adaptive", order=5, dense_order=4, adaptive=True,
    tableau=tableau(a=A, b=B, c=[0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1], dense=dense_polynomials(), error=B - B_4),
)
