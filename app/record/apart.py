"""A video made by a process of its own, for `film_of_run`."""

import pickle
import sys
from pathlib import Path

from ...physics.core.whole_file import whole_file
from ...physics.lesson.video import VideoTable
from ...physics.run.run_file import read_run
from ..own_law import soft_law
from ..view.offscreen import GraphicsError
from .recorder import Film, record
from .reel import Run


def make(run: str, table: str, laws: str, out: str) -> None:
    """The work of the other process: a video of a recorded run, by the laws of a script that a file of this program
    brings. How much is done, and at last what went wrong, stands in the file `told` beside the run."""
    told = Path(run).parent / "told"

    def tell(words: str) -> None:
        with whole_file(told, sync=False) as file:
            file.write(words.encode())

    try:
        for law in pickle.loads(Path(laws).read_bytes()):
            if not law.hindrance:  # of a run that needs it, `read_run` says that it is missing
                soft_law(law.name, law.force, law.units)
        recording = read_run(run)
        film = Film(VideoTable.model_validate_json(Path(table).read_text(encoding="utf-8")))
        record(Run(recording.scene, recording=recording), Path(out), film, lambda share: tell(str(share)))
    except (ValueError, GraphicsError) as error:
        tell(str(error))
        sys.exit(1)
