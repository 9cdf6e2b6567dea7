"""One contact problem, all solvers: take it out of a run, save it, and let each solver answer it."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import contactlab
from contactlab.physics import SOLVERS, residual


def main(folder: Path) -> dict[str, float]:
    """The residual of every solver's answer [m/s²]."""
    sim = contactlab.Simulation(contactlab.load("tables"), method="event_driven")
    sim.set(friction=0.0)
    sim.run(until=0.5)
    path = folder / "tables.npz"
    sim.problem().save(path)                       # the app opens it, too
    problem = contactlab.ContactProblem.load(path)
    print(f"{problem.contact_count} contacts of rank {np.linalg.matrix_rank(problem.M)}")
    found = {}
    for name, solver in SOLVERS.items():
        lam = np.zeros(len(problem.d))
        info = solver(problem, lam)
        found[name] = float(residual(problem, lam))
        print(f"{solver.title:40} {info.status:12} residual {found[name]:.1e}, Σ λ = {lam.sum():.3f} N")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))
