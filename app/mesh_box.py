"""What is asked of a mesh that was opened: what its file does not say, and could not be guessed for certain."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..physics.core.language import _
from ..physics.scene.mesh_scene import AS_IT_IS, Doubts, MeshChoices, title_of

UNIT_NAMES = (("metres", 1.0), ("cm", 0.01), ("mm", 0.001), ("inches", 0.0254), ("feet", 0.3048))
SHELL = 0.01  # thickness of a shell that is offered first, relative to the size


class Asked(NamedTuple):
    """A line of the box: what is said, the field of `MeshChoices` it is about, and its values with their names."""

    text: str
    field: str
    answers: tuple[tuple[str, Any], ...]


@dataclass
class MeshBox:
    path: Path
    doubts: Doubts
    wanted: MeshChoices

    @property
    def title(self) -> str:
        return (_("How are {path} meant?") if self.wanted.beside else _("How is {path} meant?")).format(
            path=title_of((self.path, *self.wanted.beside)))

    @property
    def changed(self) -> bool:
        """Whether it is to be opened otherwise than it was."""
        return self.wanted._replace(beside=()) != AS_IT_IS

    @property
    def asked(self) -> list[Asked]:
        """Its lines. The first answer of each is how the mesh was opened."""
        d, found = self.doubts, list[Asked]()
        many = d.bodies > 1
        if d.size:
            found.append(Asked(_("Its numbers have no unit. As metres it is {size}.").format(size=d.size), "scale",
                               UNIT_NAMES))
        if d.pieces > 1:
            ways = [(_counted(d.bodies), None)]
            ways += [(_counted(d.pieces), True)] if d.bodies != d.pieces else []
            ways += [(_counted(1), False)] if many else []
            found.append(Asked(_("It holds {pieces} connected pieces.").format(pieces=d.pieces), "split", tuple(ways)))
        if d.hollow:
            whose = _("{hollow} of its bodies are").format(hollow=d.hollow) if many else _("It is")
            found.append(Asked(_("{whose} hollow: as a hull nothing could fall in.").format(whose=whose), "collide",
                               ((_("convex parts"), None), (_("hull"), "hull"), (_("as it is"), "surface"))))
        if d.unsealed:
            whose = _("{unsealed} of its bodies have").format(unsealed=d.unsealed) if many else _("It has")
            found.append(Asked(_("{whose} an open surface, without a volume.").format(whose=whose), "thickness",
                               ((_("filled, as its hull"), None), (_("a shell"), self.thickness))))
        return found

    @property
    def thickness(self) -> float:
        """Of the shell [m]: what is wanted, else a round number for the size."""
        return self.wanted.thickness or float(f"{SHELL * self.wanted.scale * self.doubts.extent:.1g}")


def mesh_box_of(path: Path, choices: MeshChoices, doubts: Doubts) -> MeshBox | None:
    """The box for a mesh that was opened as it is, where there is something to ask."""
    box = MeshBox(path, doubts, choices)
    return box if choices._replace(beside=()) == AS_IT_IS and box.asked else None


def _counted(bodies: int) -> str:
    return _("one body") if bodies == 1 else _("{bodies} bodies").format(bodies=bodies)
