"""The system's file dialogs, where there are any; else our own boxes, which ask for a path."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from imgui_bundle import portable_file_dialogs as dialogs

from ..ui_state import UiState

FILE_TYPES = ["Scenes, robots and meshes", "*.toml *.zip *.urdf *.xml *.mjcf *.obj *.stl *.ply *.off *.glb *.gltf",
              "Lessons", "*.lesson.toml *.zip", "Recorded runs", "*.contactlab",
              "Contact problems", "*.npz", "All files", "*"]
HELPERS = ("zenity", "kdialog", "matedialog", "qarma")  # programs that show dialogs on Linux


class FileDialogs:
    """One dialog at a time; `poll` tells what was chosen."""

    def __init__(self, ui: UiState) -> None:
        self._ui = ui
        self._open: Any = None
        self._save: Any = None

    def ask_for_a_file(self) -> None:
        ui = self._ui
        if _missing():
            ui.open_box, ui.open_box_text = True, ""
        elif self._open is None:
            folder = str(ui.scene_path.parent) if ui.scene_path is not None else ""
            self._open = dialogs.open_file("Open a scene, mesh, run or contact problem", folder, FILE_TYPES)

    def ask_for_a_new_file(self, suggested: Path) -> None:
        if _missing():
            self._ui.save_box, self._ui.save_box_text = True, str(suggested)
        elif self._save is None:
            kinds = ["Scenes", "*.toml", "Scenes with their meshes in one file", "*.zip"]
            self._save = dialogs.save_file("Save the scene", str(suggested), kinds)

    def poll(self, opened: Callable[[str], None], saved: Callable[[Path], None]) -> None:
        """Hand over what was chosen, where the user has."""
        if self._open is not None and self._open.ready(0):
            chosen, self._open = self._open.result(), None
            if chosen:
                opened(chosen[0])
        if self._save is not None and self._save.ready(0):
            path, self._save = self._save.result(), None
            if path:
                saved(Path(path))


def _missing() -> bool:
    return sys.platform == "linux" and not any(map(shutil.which, HELPERS))
