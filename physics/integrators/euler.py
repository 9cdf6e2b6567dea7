"""Explicit Euler [RBDA eqs. 11.47–11.49]."""

from .tableau import Integrator, tableau

EULER = Integrator(
    name="euler", title="Euler (explicit)", order=1, dense_order=1, adaptive=False,
    # k = f(y_0, t_0),  y_1 = y_0 + h k,  y(δ) = y_0 + h k δ
    tableau=tableau(a=[[0.0]], b=[1.0], c=[0.0], dense=[[1.0]]),
)
