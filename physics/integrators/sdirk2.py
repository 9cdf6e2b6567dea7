"""Alexander's implicit Runge–Kutta method of two stages: second order, L-stable, stiffly accurate [Alexander 1977]."""

import math

from .tableau import Integrator, tableau

GAMMA = 1.0 - math.sqrt(0.5)

# Y_1 = y_0 + γ h k_1,  Y_2 = y_0 + h ((1 - γ) k_1 + γ k_2) = y_1;  between: B_1 + B_2 = δ, γ B_1 + B_2 = δ²/2
SDIRK2 = Integrator(
    name="sdirk2", title="SDIRK 2 (implicit, L-stable)", order=2, dense_order=2, adaptive=False, implicit=True,
    tableau=tableau(
        a=[[GAMMA, 0.0], [1.0 - GAMMA, GAMMA]], b=[1.0 - GAMMA, GAMMA], c=[GAMMA, 1.0],
        dense=[[1.0 / (1.0 - GAMMA), -0.5 / (1.0 - GAMMA)], [-GAMMA / (1.0 - GAMMA), 0.5 / (1.0 - GAMMA)]],
    ),
)
