"""What the command line writes: sentences, progress bars, and why a file could not be written."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...physics.run.warm_up import kernels_cached
from .arguments import Failed

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


@contextmanager
def written(out: Path | None) -> Iterator[None]:
    """Errors inside are those of writing `out`."""
    try:
        yield
    except OSError as error:
        raise Failed(f"{out} could not be written ({error.strerror or error}); "
                     "a file of that name is as it was") from error


def progress_bar() -> "Progress":
    """A progress bar on stderr. Where kernels are not cached it first says that they are being compiled."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    if sys.stderr.isatty() and not kernels_cached():
        print("The engine is compiled for this machine, once; that can take a minute.", file=sys.stderr)
    return bar_of(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
                  TimeRemainingColumn())


def bar_of(*columns: "ProgressColumn") -> "Progress":
    """A progress bar on stderr, gone at the end, and none where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


def print_table(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table on stdout."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def say(sentence: str) -> None:
    """Tell whoever started the program. Without rich: its import takes longer than all else at a program's end."""
    with suppress(OSError):  # nobody reads it any more
        print(f"contactlab: {sentence}", file=sys.stderr)
