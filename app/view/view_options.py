"""What the view draws: one field per switch, changed by keys and panels, read by the renderer and the overlays."""

from dataclasses import dataclass
from typing import NamedTuple

from ...physics.core.model import Array
from ...physics.run.messages import ShownArrow


class Vector(NamedTuple):
    """A vector that is drawn as an arrow."""

    name: str     # written at its tip, and in the legend with what `means`
    kind: str     # of `body_vectors.KINDS`: unit, and how long it is drawn
    value: Array  # (3,)
    start: Array  # (3,) [m]
    color: str    # a field of `theme.Theme`
    means: str = ""


class BodyVectors(NamedTuple):
    """What is drawn of the things that the tab Body shows."""

    body: int
    axes: bool = False     # principal axes
    support: bool = False  # its support polygon and centre of pressure
    arrows: tuple[Vector, ...] = ()


class JointArrows(NamedTuple):
    """What joints do to their children."""

    point: Array   #: (k, 3) [m]
    force: Array   #: (k, 3) [N]
    moment: Array  #: (k, 3) [N m]


class Poses(NamedTuple):
    """Where bodies are; nan = nowhere."""

    x: Array  #: (n, 3) centres of mass [m]
    q: Array  #: (n, 4) body frame -> world


@dataclass
class ViewOptions:
    contact_points: bool = True
    normals: bool = True
    forces: bool = True            # normal contact forces
    friction_forces: bool = True
    moments: bool = True           # of contacts against spinning and rolling
    all_contacts: bool = False     # also of a crowd, see view.crowd
    minimal_set: bool = False      # discs mark the minimal contact set instead of the active one
    impulses: bool = True          # flashes at impacts
    dents: bool = True             # of soft surfaces
    dent_scale: float = 1.0        # how many times as deep they are drawn
    contact_cases: bool = False    # 1, 2a, 2b, 3 of every pair within reach
    closed_forms: bool = True      # ghosts where the scene's formulas have bodies
    mouse_spring: bool = True
    joints: bool = True            # axes and limits
    centers_of_mass: bool = False
    velocities: bool = False
    angular_momenta: bool = False
    body_names: bool = False
    inertia_boxes: bool = False    # equal-inertia boxes
    wireframe: bool = False
    transparent: bool = False      # see contacts inside piles
    as_collided: bool = False      # meshes as their hulls or convex parts, these in colours
    shadows: bool = True
    grid: bool = True
    legend: bool = True
    dark: bool = True
    flat: tuple[float, float, float] | None = None  # one colour in place of sky and planes, for pictures cut out
    still: bool = False            # impacts are shown without a flash
    force_scale: float = 1.0       # multiplies the automatic scale (newtons per metre shown in the legend)
    logarithmic: bool = False      # arrow length ~ log(1 + 100 f/f_ref), see scales.arrow_lengths
    selected: int = -1             # body
    also: tuple[int, ...] = ()     # bodies selected with it
    hovered_contact: int = -1      # row of snapshot.contacts lit by the table or the mouse
    follow_selected: bool = False
    keep_in_view: bool = False     # the camera moves so that all that moves is seen
    vectors: BodyVectors | None = None  # set by the tab Body in every frame in which it is shown
    joint_arrows: JointArrows | None = None  # set by the tab Joint forces likewise
    answers: tuple[tuple[ShownArrow, bool], ...] = ()  # to a question of a lesson; True: the run's; set likewise
    rejected: Poses | None = None       # ghosts of a state that a step did not reach, set by the tab Step likewise
