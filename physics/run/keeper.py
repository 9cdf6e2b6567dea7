"""Keeper: steps a simulation and writes the record of it into a file as it goes."""

from pathlib import Path

from ..simulation.history import MOST_STEPS_BETWEEN
from ..simulation.simulation import Simulation
from .comparison import Member
from .recording import Heading
from .run_file import RunFile


class Keeper:
    """Call `step` in place of that of the simulation, and `close` at the end: then the file is in its place."""

    def __init__(self, path: Path, simulation: Simulation) -> None:
        """Raises OSError where the file cannot be written."""
        if simulation.history is None:
            simulation.record_history()
        self._path, self._partial = path, path.with_name(path.name + ".part")
        self._file = RunFile(self._partial, Heading(simulation.scene, ("",)))
        self._member = Member(simulation, "", 1)
        self._step = self._written = simulation.step_count

    def step(self) -> None:
        """Make a step; errors are those of `Simulation.step`, or OSError where the disk is full."""
        self._member.advance(self._step)
        self._step += 1
        if self._step == self._written + MOST_STEPS_BETWEEN:
            self._write()

    def _write(self) -> None:
        for page in self._member.pages(self._written, self._step):
            self._file.add((page,))
        self._written = self._step

    def close(self) -> None:
        """Write what is left. Raises OSError."""
        try:
            self._write()
            self._file.close()
            self._partial.replace(self._path)
        finally:
            self._partial.unlink(missing_ok=True)
