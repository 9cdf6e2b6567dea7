"""The classical Runge–Kutta method of fourth order, with its third-order dense output."""

from .tableau import Integrator, tableau

RK4 = Integrator(
    name="rk4", title="Runge–Kutta 4", order=4, dense_order=3, adaptive=False,
    tableau=tableau(
        a=[[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
        b=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
        c=[0.0, 0.5, 0.5, 1.0],
        # B_1 = δ - 3/2 δ² + 2/3 δ³,  B_2 = B_3 = δ² - 2/3 δ³,  B_4 = -1/2 δ² + 2/3 δ³  [Hairer, Nørsett & Wanner, II.6]
        dense=[[1.0, -3 / 2, 2 / 3], [0.0, 1.0, -2 / 3], [0.0, 1.0, -2 / 3], [0.0, -1 / 2, 2 / 3]],
    ),
)
