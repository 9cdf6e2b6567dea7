"""What stands, lit as if nothing moved: a picture that is kept, and what of it is painted again.

To a software renderer the fragments of a landscape cost more than all else in a picture. As long as the camera, the
light and what stands stay the same, that picture is copied, and of meshes only those triangles are painted again that
something moving may shade: their fragments come to where they were.
"""

from ...physics.core.model import Array
from .body_painter import BodyPainter
from .instances import Placement
from .light import CELLS, SPREAD, cell_ranges
from .tiles import Boxes, Ranges, covered, finite, touching


class Standing:
    """Knows what the last picture and the kept one show, and chooses triangles."""

    def __init__(self, bodies: BodyPainter, texels: int) -> None:
        """texels: along a side of the shadow map."""
        self._bodies, self._spread = bodies, SPREAD / texels
        self.forget()

    def forget(self) -> None:
        """Nothing is kept."""
        self._last: tuple = ()
        self._kept: tuple = ()
        self._cells: tuple[tuple, Ranges] | None = None  # of the shadow map, with triangles; for what light and places

    def stays(self, shows: tuple) -> bool:
        """Whether the picture before shows the same: camera, light, all that stands and is behind it."""
        same, self._last = shows == self._last, shows
        return same

    def is_to_be_kept(self) -> bool:
        """Whether the kept picture shows something else; from now on what the last picture shows."""
        other, self._kept = self._kept != self._last, self._last
        return other

    def choose(self, at: Placement, boxes: Boxes, light_matrix: Array, shadows: bool) -> None:
        """Choose the triangles that are painted again: those in cells of the shadow map with something that moves.
        boxes: around what is drawn of all shapes."""
        placed = light_matrix.tobytes(), self._bodies.stand
        if self._cells is None or self._cells[0] != placed:
            self._cells = placed, cell_ranges(self._bodies.boxes_of_choices(at), light_matrix)
        moving = self._bodies.moving if shadows else self._bodies.moving[:0]
        casting = cell_ranges(finite((boxes[0][moving], boxes[1][moving])), light_matrix, self._spread)
        self._bodies.choose(touching(covered(casting, (CELLS, CELLS)), self._cells[1]))
