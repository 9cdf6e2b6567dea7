"""The system's file dialogs, where there are any; else our own boxes, which ask for a path."""

import shutil
import sys
from pathlib import Path
from typing import Any

from imgui_bundle import portable_file_dialogs as dialogs

from ...physics.core.language import N_, _
from ...physics.scene.mesh_files import NAMES
from ..ui_state import UiState

FILE_TYPES = [N_("Scenes, robots and meshes"),
              "*.toml *.zip *.urdf *.xml *.mjcf *.obj *.stl *.ply *.off *.glb *.gltf",
              N_("Lessons"), "*.lesson.toml *.zip", N_("Recorded runs"), "*.contactlab",
              N_("Contact problems"), "*.npz", N_("Tables of sweeps"), "*.csv *.parquet", N_("All files"), "*"]
HELPERS = ("zenity", "kdialog", "matedialog", "qarma")  # programs that show dialogs on Linux


class FileDialogs:
    """One dialog at a time; `poll` asks for what was chosen, by the command that the dialog is for."""

    def __init__(self, ui: UiState) -> None:
        self._ui = ui
        self._shown: tuple[Any, str] | None = None  #: the dialog, and the command

    def ask_for_a_file(self) -> None:
        self._ask_for("open_path", _("Open a scene, mesh, run or contact problem"), FILE_TYPES)

    def ask_for_a_mesh(self) -> None:
        self._ask_for("add_mesh_file", _("Add a mesh"), [_("Meshes"), " ".join(f"*{name}" for name in NAMES)])

    def _ask_for(self, command: str, title: str, kinds: list[str]) -> None:
        ui = self._ui
        if _missing():
            ui.open_box, ui.open_box_text = command, ""
        elif self._shown is None:
            folder = ui.workbench.folder if ui.workbench.on else ui.scene_path.parent if ui.scene_path else None
            self._shown = dialogs.open_file(title, str(folder or ""), kinds), command

    def ask_for_a_new_file(self, suggested: Path) -> None:
        if _missing():
            self._ui.save_box, self._ui.save_box_text = True, str(suggested)
        elif self._shown is None:
            kinds = [_("Scenes"), "*.toml", _("Scenes with their meshes in one file"), "*.zip"]
            self._shown = dialogs.save_file(_("Save the scene"), str(suggested), kinds), "save_to"

    def poll(self) -> None:
        """Ask for what was chosen, where the user has."""
        if self._shown is not None and self._shown[0].ready(0):
            (dialog, command), self._shown = self._shown, None
            found = dialog.result()
            if found:
                self._ui.request(command, Path(found if isinstance(found, str) else found[0]))


def _missing() -> bool:
    return sys.platform == "linux" and not any(map(shutil.which, HELPERS))
