"""Block pivoting against scipy's nnls (and proxqp, quadprog where installed) on the same problems, alternating.

    python tests/benchmarks/lcp.py

Each line, of several problems: the median of each one's best times of many runs, in microseconds, its largest residual
(|min(λ, ζ̇)| relative to |d|), and the median ratio of times. nnls gets A with AᵀA = M ready made; we get M and d.
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.solvers.block_pivot import BlockPivot

PROBLEMS = 7


def problem(n: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray, ContactProblem]:
    """A, b of min |A λ - b|, λ >= 0, and the same as M λ + d."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rank, n))
    if rank == n:
        A = np.linalg.cholesky(A.T @ A + 0.1 * np.eye(n)).T
    lam = np.maximum(rng.standard_normal(n), 0.0)
    b = A @ lam + 0.3 * np.linalg.norm(A @ lam) / np.sqrt(rank) * rng.standard_normal(rank)
    return A, b, ContactProblem.frictionless(A.T @ A, -A.T @ b)


def residual(p: ContactProblem, lam: np.ndarray) -> float:
    return float(np.max(np.abs(np.minimum(lam, p.M @ lam + p.d))) / np.max(np.abs(p.d)))


def rivals(A: np.ndarray, b: np.ndarray, p: ContactProblem) -> dict[str, Callable[[], np.ndarray]]:
    """name -> a call that returns λ."""
    n = len(p.d)
    ours = BlockPivot()

    def block_pivot() -> np.ndarray:
        lam = np.zeros(n)
        ours(p, lam)
        return lam

    found = {"block_pivot": block_pivot, "nnls": lambda: nnls(A, b)[0]}
    try:
        import proxsuite  # pyright: ignore[reportMissingImports]

        def proxqp() -> np.ndarray:
            return proxsuite.proxqp.dense.solve(p.M, p.d, None, None, np.eye(n), np.zeros(n), None, eps_abs=1e-9).x

        found["proxqp"] = proxqp
    except ImportError:
        pass
    try:
        import quadprog  # pyright: ignore[reportMissingImports]

        if len(A) == n:
            found["quadprog"] = lambda: quadprog.solve_qp(p.M, -p.d, np.eye(n), np.zeros(n))[0]
    except ImportError:
        pass
    return found


def measured(n: int, rank: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Best time [s] and residual of each rival on one problem, called in turn."""
    A, b, p = problem(n, rank, seed)
    calls = rivals(A, b, p)
    best, answers = dict.fromkeys(calls, np.inf), {}
    for _ in range(3000 // n + 10):
        for name, call in calls.items():
            start = time.perf_counter()
            answers[name] = call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best, {name: residual(p, lam) for name, lam in answers.items()}


def main() -> None:
    for n in (16, 64, 256):
        for rank in (n, n // 2):
            runs = [measured(n, rank, n + rank + seed) for seed in range(PROBLEMS)]
            names = list(runs[0][0])
            line = ", ".join(f"{name} {1e6 * np.median([best[name] for best, _ in runs]):.1f} us "
                             f"({max(wrong[name] for _, wrong in runs):.0e})" for name in names)
            ratios = ", ".join(f"{np.median([best['block_pivot'] / best[r] for best, _ in runs]):.2f} of {r}"
                               for r in names if r != "block_pivot")
            print(f"{n} contacts of rank {rank}: {line}; {ratios}")


if __name__ == "__main__":
    main()
