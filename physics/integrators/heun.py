"""Heun's method with its second stage at 2/3 of the step [RBDA eqs. 11.50, 11.51]."""

from .tableau import Integrator, tableau

HEUN = Integrator(
    name="heun", title="Heun 2/3", order=2, dense_order=2, adaptive=False,
    tableau=tableau(
        a=[[0.0, 0.0], [2 / 3, 0.0]],
        b=[1 / 4, 3 / 4],
        c=[0.0, 2 / 3],
        dense=[[1.0, -3 / 4], [0.0, 3 / 4]],  # y(δ) = y_0 + h ((δ - ¾ δ²) k_1 + ¾ δ² k_2)
    ),
)
