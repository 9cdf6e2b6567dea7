"""What a command of the command line works on: a scene, or a recorded run, by its name."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...assets import scene_path
from ...physics import Scene
from ...physics.core.progress import telling
from ...physics.lesson.lesson import Lesson
from ...physics.run.messages import Recording
from ...physics.scene.mesh_scene import AS_IT_IS, MeshChoices
from ..opening import SHOWN_AFTER, in_words, opened
from ..sweeps.sweep_table import SweepTable
from .arguments import BadInput
from .console import bar_of, say

if TYPE_CHECKING:
    from rich.progress import Progress


def load(name: str, settings: dict[str, Any], mesh: MeshChoices = AS_IT_IS) -> tuple[Scene, Recording | None]:
    """The scene of a gallery key, a scene file or a mesh; or a recorded run and its scene, which takes no settings."""
    path = scene_path(name)
    if not path.exists():
        raise BadInput(f"there is no file and no gallery scene {name!r}; `contactlab scenes` lists the gallery")
    with opening_bar():
        content = opened(path, False, mesh).content
        if isinstance(content, Scene) and content.mesh_files:
            with in_words(str(path)):
                content.build()  # what takes long, while it is shown; meshes are kept
    if isinstance(content, Scene):
        return content, None
    if not isinstance(content, Recording):
        kinds = {Lesson: "a lesson", SweepTable: "the table of a sweep"}
        held = kinds.get(type(content), "a contact problem")
        raise BadInput(f"{path.name} holds {held} and no scene: the window shows it, File > Open")
    if settings:
        raise BadInput(f"{path.name} is a recorded run and keeps its own settings: leave out {', '.join(settings)}")
    for note in content.notes:
        say(note)
    return content.scene, content


@contextmanager
def opening_bar() -> Iterator[None]:
    """A progress bar of what is opened inside, where that takes long."""
    begun, shown = time.monotonic(), list["Progress"]()

    def tell(words: str, share: float) -> None:
        if not shown and time.monotonic() - begun > SHOWN_AFTER:
            from rich.progress import BarColumn, TextColumn

            shown.append(bar_of(TextColumn("{task.description}"), BarColumn()))
            shown[0].add_task("", total=1.0)
            shown[0].start()
        for bar in shown:
            bar.update(bar.task_ids[0], description=words, completed=share)

    try:
        with telling(tell):
            yield
    finally:
        for bar in shown:
            bar.stop()
