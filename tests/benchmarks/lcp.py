"""Block pivoting against scipy's nnls (and proxqp, quadprog where installed) on the same problems, alternating.

    python tests/benchmarks/lcp.py

Each line: best time of many runs of each, in microseconds, its residual (largest |min(λ, ζ̇)| relative to |d|), and the
ratio of times. nnls gets A with AᵀA = M ready made; we get M and d.
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from contactlab.physics.problem import ContactProblem
from contactlab.physics.solvers.block_pivot import BlockPivot


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


def main() -> None:
    for n in (16, 64, 256):
        for rank in (n, n // 2):
            calls = rivals(*problem(n, rank, seed=n + rank))
            best, answers = dict.fromkeys(calls, np.inf), {}
            p = problem(n, rank, seed=n + rank)[2]
            for _ in range(3000 // n + 10):
                for name, call in calls.items():
                    start = time.perf_counter()
                    answers[name] = call()
                    best[name] = min(best[name], time.perf_counter() - start)
            line = ", ".join(f"{name} {1e6 * best[name]:.1f} us ({residual(p, answers[name]):.0e})" for name in calls)
            ratios = ", ".join(f"{best['block_pivot'] / best[r]:.2f} of {r}" for r in calls if r != "block_pivot")
            print(f"{n} contacts of rank {rank}: {line}; {ratios}")


if __name__ == "__main__":
    main()
