"""What comes along: the gallery of scenes, meshes and fonts."""

import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent
SCENES = FOLDER / "scenes"


def gallery() -> dict[str, Path]:
    """The gallery's scenes, file stem -> path, in teaching order ([scene] order, then name)."""

    def place(path: Path) -> tuple[float, str]:
        return float(tomllib.loads(path.read_text(encoding="utf-8"))["scene"].get("order", 0.0)), path.stem

    return {path.stem: path for path in sorted(SCENES.glob("*.toml"), key=place)}


def scene_path(name: str | Path) -> Path:
    """The path of a gallery scene where `name` is its key and no such file is at hand, else `name` as a path."""
    path = Path(name)
    if path.exists() or len(path.parts) != 1:
        return path
    return gallery().get(str(name), path)
