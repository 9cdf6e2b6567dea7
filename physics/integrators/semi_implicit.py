"""Semi-implicit (symplectic) Euler: momenta first, then positions with the new momenta."""

import numpy as np

from .tableau import Integrator, Tableau

# k_1 = f(x_0, p_0),  p_1 = p_0 + h k_1,  k_2 = f(x_0, p_1),  x_1 = x_0 + h k_2     [Hairer, Lubich & Wanner, I.1.9]
SEMI_IMPLICIT = Integrator(
    name="semi_implicit", title="Euler (semi-implicit)", order=1, dense_order=1, adaptive=False,
    tableau=Tableau(
        a_x=np.zeros((2, 2)),
        a_p=np.array([[0.0, 0.0], [1.0, 0.0]]),
        b_x=np.array([0.0, 1.0]),
        b_p=np.array([1.0, 0.0]),
        c=np.zeros(2),
        error=np.zeros(2),
        dense_x=np.array([[0.0], [1.0]]),
        dense_p=np.array([[1.0], [0.0]]),
    ),
)
