"""An MJCF file with all that it includes, as one text, and the files it names, as bytes.

MuJoCo's compiler opens whatever path a model names. It gets this text and these bytes instead, so that a model reads
nothing outside its folder.
"""

from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ..core.limits import MODEL_FILE, MODEL_FILES
from .refusals import SceneError

DIRECTORIES = {"mesh": "meshdir", "skin": "meshdir", "hfield": "meshdir", "texture": "texturedir"}


class Sources(NamedTuple):
    text: str                 #: the model; its files have the names in `files`
    files: dict[str, bytes]


def gathered(path: Path) -> Sources:
    """The model in `path`. Raises SceneError for a file outside its folder, and for one that is not there."""
    return _Gatherer(path).sources()


class _Gatherer:
    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.parent
        self.read = 0  # bytes so far
        self.included: set[Path] = set()
        self.files: dict[str, bytes] = {}

    def sources(self) -> Sources:
        """The text with what it includes, and the bytes of the files that it names. Raises SceneError."""
        root = self._parsed(self.path)
        if root.tag != "mujoco":
            raise self._refusal(f"is not a model in MJCF (its root is <{root.tag}>, not <mujoco>)")
        self._include(root)
        directories = self._directories(root)
        for element in root.iter():
            if element.tag == "model" and element.get("file"):
                raise self._refusal("attaches another model by <model file=…>; that model must be part of the file")
            self._take_files(element, directories)
        return Sources(ElementTree.tostring(root, encoding="unicode"), self.files)

    def _refusal(self, sentence: str) -> SceneError:
        return SceneError(f"{self.path.name}: {sentence}.")

    def _parsed(self, path: Path) -> Element:
        try:
            return ElementTree.fromstring(self._bytes(path))
        except (ElementTree.ParseError, UnicodeError, LookupError, ValueError) as error:
            raise self._refusal(f"is not a model in MJCF ({path.name}: {error})") from error

    def _bytes(self, path: Path) -> bytes:
        size = path.stat().st_size
        self.read += size
        if size > MODEL_FILE.most or self.read > MODEL_FILES.most:
            raise self._refusal(f"is too large with {path.name}; its files must have no more than {MODEL_FILE} each, "
                                f"{MODEL_FILES} in all")
        return path.read_bytes()

    def _inside(self, name: str, directory: str = "") -> Path:
        path = self.folder / directory / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise self._refusal(f"names the file {name!r} outside its folder; it must be below it")
        if not path.is_file():
            raise self._refusal(f"names the file {name!r}, which is not there")
        return path

    def _include(self, element: Element) -> None:
        """Put the content of included files in place of <include>; MuJoCo allows each file once."""
        children: list[Element] = []
        for child in element:
            if child.tag != "include":
                self._include(child)
                children.append(child)
                continue
            path = self._inside(child.get("file", "")).resolve()
            if path in self.included or path == self.path.resolve():
                raise self._refusal(f"includes {path.name} twice; it must do so once")
            self.included.add(path)
            content = self._parsed(path)
            self._include(content)
            children += content
        element[:] = children

    def _directories(self, root: Element) -> dict[str, str]:
        """Where files lie, by the attribute of <compiler> that says so; the text no longer says it."""
        found = {"meshdir": "", "texturedir": "", "strippath": ""}
        for compiler in root.iter("compiler"):
            if (both := compiler.attrib.pop("assetdir", None)) is not None:
                found |= {"meshdir": both, "texturedir": both}
            found |= {name: compiler.attrib.pop(name) for name in found if name in compiler.attrib}
        return found

    def _take_files(self, element: Element, directories: dict[str, str]) -> None:
        for name in [name for name in element.attrib if name.startswith("file")]:
            given = element.attrib.pop(name)
            if directories["strippath"] == "true":
                given = Path(given).name
            if element.tag == "texture":  # nothing here is drawn with it
                element.attrib.update(builtin="flat", width="1", height="1")
                element.attrib.setdefault("name", Path(given).stem)
                continue
            path = self._inside(given, directories[DIRECTORIES.get(element.tag, "meshdir")])
            key = f"{len(self.files)}{path.suffix}"
            self.files[key] = self._bytes(path)
            element.set(name, key)
            if element.tag in DIRECTORIES:
                element.attrib.setdefault("name", path.stem)
