"""The vocabulary of scene files, as pydantic models. What each field means and allows stands in its description, which
is also what error messages and the JSON Schema say. SI units; angles in degrees, rates in rad/s.
"""

import json
import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationInfo, create_model, field_validator

from ..core.report import SIDES, Settings
from ..core.settings import SETTINGS, SettingGroup, names_of
from ..integrators import FLIGHT, IMPLICIT, INTEGRATORS, OWNERS, offered
from ..methods.choices import CHOICES, described
from ..shapes.superellipsoid import LEAST, MOST
from .values import (
    SMALLEST,
    Amounts,
    Cells,
    Color,
    Counts,
    Direction,
    Directions,
    Flag,
    Formulas,
    FormulaText,
    Heights,
    Length,
    Lengths,
    Moments,
    Name,
    NaturalNumber,
    NotNegative,
    Number,
    Points,
    Positive,
    Quaternion,
    Ranges,
    Sizes,
    Vec3,
    choice,
    refuse,
)

DEFAULTS = Settings()


# ---------------------------------------------------------------------------------------------------- tables


class Table(BaseModel):
    """A table of a scene file: nothing unknown in it, and it does not change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _field(default: Any, description: str, **constraints: Any) -> Any:
    return Field(default, description=description, **constraints)


class SceneTable(Table):
    """What the scene is about."""

    title: str = _field("", "a line of text")
    summary: str = _field("", "text: what is there")
    watch: str = _field("", "text: what to look at")
    gravity: Vec3 = _field((0.0, 0.0, -9.81), "three numbers [m/s2]")
    order: Number = _field(0.0, "a number: the scene's place in the gallery")
    group: str = _field("", "a few words: the heading that the scene stands under in the gallery")
    tags: tuple[Name, ...] = _field((), "words by which the gallery finds the scene, beside those of what it holds")
    speed: Annotated[float, Strict(), Field(allow_inf_nan=False, ge=1e-3, le=1e3)] = _field(
        1.0, "how fast it plays at first, a number from 0.001 to 1000 times real time"
    )


class CameraTable(Table):
    """Where the view starts: the camera looks at `target` from `distance` away."""

    target: Vec3 = _field((0.0, 0.0, 0.0), "the point looked at, three numbers [m]")
    distance: Positive = _field(5.0, "a number > 0 [m]")
    azimuth: Number = _field(-60.0, "the camera's bearing from the target, degrees from x towards y")
    elevation: Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-90.0, le=90.0)] = _field(
        20.0, "the camera's height above the target's horizon, -90 to 90 degrees"
    )
    follow: Flag = _field(False, "true or false: the view moves so that all bodies that can move stay in it")


class _OfSolver(Table):
    """How the scene is computed; the panel and the command line can change all of it."""

    @field_validator("integrator", check_fields=False)
    @classmethod
    def _of_its_method(cls, name: str, info: ValidationInfo) -> str:
        method = info.data.get("method", OWNERS.get(name, "compliant"))
        if (owner := OWNERS.get(name, method)) != method:
            raise refuse(f"be one of {', '.join(offered(method))} with the method {method}: it is implicit, and only "
                          f"{owner} solves its stages")
        return name


def _settings_of(group: SettingGroup) -> dict[str, Any]:
    """Fields for the settings of a group, as core.settings has them."""
    fields: dict[str, Any] = {}
    for name in names_of(group):
        fields[name] = (choice(CHOICES[name]) if name in CHOICES else _number_from(name),
                        _field(getattr(DEFAULTS, name), _described(name)))
    return fields


def _number_from(name: str) -> Any:
    """A number in the range of a setting."""
    setting = SETTINGS[name]
    kind: Any = setting.kind
    if kind is float:
        return Annotated[kind, Strict(), Field(allow_inf_nan=False, ge=setting.low, le=setting.high)]
    return Annotated[kind, Strict(), Field(ge=int(setting.low), le=int(setting.high))]


def _described(name: str) -> str:
    if name != "integrator":
        return described(name)
    return (f"one of {', '.join(INTEGRATORS)}, with the method compliant also {', '.join(IMPLICIT)}, with "
            f"time_stepping {', '.join(FLIGHT)}")


class SolverTable(create_model("SolverTable", __base__=_OfSolver, **_settings_of(SettingGroup.SOLVER))):
    """How the scene is computed; the panel and the command line can change all of it."""


def _optional(table: type[Table]) -> dict[str, Any]:
    """The fields of a table, none of which has to be there."""
    return {name: (field.rebuild_annotation() | None, _field(None, field.description or ""))
            for name, field in table.model_fields.items()}


class SideTable(create_model("SideTable", __base__=Table, **_optional(SolverTable))):
    """A further side of a comparison that the scene opens with; [solver] is the first. What a table does not say,
    [solver] says."""

    stiffness_n: _number_from("stiffness_n") | None = _field(None, described("stiffness_n"))  # pyright: ignore
    damping_n: _number_from("damping_n") | None = _field(None, described("damping_n"))  # pyright: ignore
    coordinates: Literal["generalized", "maximal"] | None = _field(
        None, 'of all joints: "generalized" or "maximal" (else as each joint says)'
    )


Stiffness = Annotated[float, Strict(), Field(allow_inf_nan=True, ge=SMALLEST)]
Share = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-1.0, le=1.0)]
Restitution = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.0, le=1.0)]
Friction = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.0, le=100.0)]


class GainsTable(Table):
    """Springs and dampers of compliant surfaces, for the method compliant [RBDA §11.8]."""

    stiffness_n: Stiffness | None = _field(
        None, "K of the surface along the normal, a number > 0 [N/m], with the law hertz [N/m^1.5], inf = rigid")
    damping_n: NotNegative | None = _field(
        None, "D along the normal, a number >= 0 [N s/m], with the laws hertz [N s/m^1.5] and hunt_crossley [N s/m2]")
    stiffness_t: Stiffness | None = _field(None, "K in the tangent plane, a number > 0 [N/m], inf = rigid")
    damping_t: NotNegative | None = _field(None, "D in the tangent plane, a number >= 0 [N s/m]")
    stiffness_series: Stiffness | None = _field(
        None, "K of the series spring of the law standard_solid, a number > 0 [N/m]"
    )
    damping_roll: NotNegative | None = _field(
        None, "D of the dent that travels where round bodies roll: takes the power D c² at its speed c, a number >= 0 "
              "[N s/m] (else 0)"
    )


class Ball(GainsTable):
    """How a ball rebounds along the surface and about the normal, for the method event_driven [RBDA fig. 11.9]."""

    restitution_t: Share | None = _field(
        None, "the tangential restitution of a ball, a number from -1 (smooth) through 0 (sticks) to 1 (a super-ball)")
    restitution_psi: Share | None = _field(
        None, "the torsional restitution of a ball, a number from -1 (its spin about the normal stays) to 1 (reversed)")


class _Rough(Ball):
    @field_validator("friction_static", check_fields=False)
    @classmethod
    def _not_below_friction(cls, static: float | None, info: ValidationInfo) -> float | None:
        if static is None or static >= (info.data.get("friction") or 0.0):
            return static
        raise refuse(f"not be below friction, which is {info.data['friction']:g}")


class Material(_Rough):
    """Coefficients of a material against itself; pairs follow by rule or from [[pair]]. Gains are those of its own
    surface, and two surfaces act in series; those not given let the heaviest body vibrate at 30 Hz and bounce with its
    restitution, but not less than 0.3."""

    restitution: Restitution = _field(0.0, "the coefficient of restitution, a number from 0 to 1")
    friction: Friction = _field(0.5, "the coefficient of friction, a number from 0 to 100")
    friction_static: Friction | None = _field(None, "μ of what sticks, a number from 0 to 100 (else as friction)")
    friction_torsional: NotNegative | None = _field(
        None, "the greatest moment about the normal, against spinning, per normal force, a number >= 0 [m] (else none)")
    friction_rolling: NotNegative | None = _field(
        None, "the greatest moment across the normal, against rolling, per normal force, a number >= 0 [m] (else none)")


def pair_friction(a: float, b: float) -> float:
    """The coefficient of two materials with these own ones, by the rule of pairs."""
    return math.sqrt(a * b)


class Pair(_Rough):
    """Coefficients of two materials, where the rule (greater restitutions, geometric mean frictions, greater lengths of
    torsional and rolling friction, gains in series) does not fit. Gains are those of the two surfaces together."""

    materials: tuple[Name, Name] = _field(..., "the names of two materials")
    restitution: Restitution | None = _field(None, "a number from 0 to 1")
    friction: Friction | None = _field(None, "a number from 0 to 100")
    friction_static: Friction | None = _field(None, "a number from 0 to 100 (else as friction, where that is given)")
    friction_torsional: NotNegative | None = _field(None, "moment against spinning per normal force, a number >= 0 [m]")
    friction_rolling: NotNegative | None = _field(None, "moment against rolling per normal force, a number >= 0 [m]")


class PlacedTable(Table):
    """What every shape has: where it sits on its body and what its surface is of."""

    position: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m], on the body")
    orientation: Quaternion | None = _field(None, "a unit quaternion [w, x, y, z], on the body")
    euler: Vec3 | None = _field(None, "turns about x, then y, then z, three numbers [degrees]")
    material: Name | None = _field(None, "the name of a material (else the body's)")
    group: Name | None = _field(None, "a name that several shapes may have (else the body's): see [[apart]]")


class ShapeTable(PlacedTable):
    """What every shape with a volume has."""

    density: NotNegative | None = _field(None, "a number >= 0 [kg/m3] (else the body's)")


class Sphere(ShapeTable):
    type: Literal["sphere"]
    radius: Length = _field(..., "a number > 0 [m]")


class Box(ShapeTable):
    type: Literal["box"]
    size: Sizes = _field(..., "three full lengths > 0 [m]")
    rounding: NotNegative = _field(0.0, "the radius of its edges and corners, a number >= 0 [m]")


class Capsule(ShapeTable):
    type: Literal["capsule"]
    radius: Length = _field(..., "a number > 0 [m]")
    height: Length = _field(..., "the length along z between the centres of the two caps, a number > 0 [m]")


class Cylinder(ShapeTable):
    type: Literal["cylinder"]
    radius: Length = _field(..., "a number > 0 [m]")
    height: Length = _field(..., "the full length along z, a number > 0 [m]")


Sides = Annotated[int, Strict(), Field(ge=3, le=64)]


class Cone(ShapeTable):
    """A right circular cone about z, the apex at +z. Its position is that of its centre of mass, a quarter of the
    height above the base."""

    type: Literal["cone"]
    radius: Length = _field(..., "the radius of the base, a number > 0 [m]")
    height: Length = _field(..., "the length along z from the base to the apex, a number > 0 [m]")


class Prism(ShapeTable):
    """A prism about z over a regular polygon, a corner at +x: a disc made of n points, which in any direction hold a
    load up to cos(π/n) of the radius."""

    type: Literal["prism"]
    sides: Sides = _field(..., "how many sides the polygon has, a whole number from 3 to 64")
    radius: Length = _field(..., "from the axis to a corner, a number > 0 [m]")
    height: Length = _field(..., "the full length along z, a number > 0 [m]")
    rounding: NotNegative = _field(0.0, "the radius of its edges and corners, a number >= 0 [m]")


class Torus(ShapeTable):
    """A ring about z: a tube along a circle."""

    type: Literal["torus"]
    radius: Length = _field(..., "the radius of the circle in the middle of the tube, a number > 0 [m]")
    tube: Length = _field(..., "the radius of the tube, less than that of the circle, a number > 0 [m]")


class Ellipsoid(ShapeTable):
    type: Literal["ellipsoid"]
    size: Sizes = _field(..., "three full lengths > 0 [m]")


Exponent = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=LEAST, le=MOST)]


class Superellipsoid(ShapeTable):
    """An ellipsoid whose sections along z and around it are superellipses: an exponent of 1 is an ellipse, less is
    boxier, more is more pointed."""

    type: Literal["superellipsoid"]
    size: Sizes = _field(..., "three full lengths > 0 [m]")
    exponents: tuple[Exponent, Exponent] = _field(
        ..., f"two numbers from {LEAST:g} to {MOST:g}: of the sections along z, and of those around it")


class Particle(PlacedTable):
    """A mass in a point. It touches everything but other particles, and is drawn as a dot."""

    type: Literal["particle"]
    mass: Positive = _field(1.0, "a number > 0 [kg]; where the body's is given, a share of that")


Opening = Annotated[float, Strict(), Field(allow_inf_nan=False, gt=0.0, le=180.0)]


class Bowl(ShapeTable):
    """The inner face of a hollow ball, without thickness; on bodies that are not dynamic. It holds what is inside."""

    type: Literal["bowl"]
    radius: Length = _field(..., "a number > 0 [m]")
    angle: Opening = _field(
        90.0, "from the bottom, at -z, up to the rim, a number > 0 and <= 180 degrees: 180 is closed"
    )


class Pipe(ShapeTable):
    """The inner face of a tube along z, open at both ends, without thickness; on bodies that are not dynamic. It holds
    what is inside it."""

    type: Literal["pipe"]
    radius: Length = _field(..., "a number > 0 [m]")
    height: Length = _field(..., "the full length along z, a number > 0 [m]")
    angle: Opening = _field(180.0, "from the bottom, at -y, up to both edges, a number > 0 and <= 180 degrees: 90 is a "
                                   "half-pipe, 180 is closed")


class Plane(ShapeTable):
    """The half-space below the shape's xy plane; on bodies that are not dynamic."""

    type: Literal["plane"]


class HeightField(ShapeTable):
    """Ground over the shape's xy plane, of triangles between heights on a grid; on bodies that are not dynamic. Seen
    from above the first row lies at +y and the first column at -x, as on a map."""

    type: Literal["height_field"]
    size: Lengths = _field(..., "two full lengths, along x and y, > 0 [m]")
    heights: Heights | None = _field(None, "a list of rows of numbers")
    file: Name | None = _field(None, "a grey picture below the scene's folder: black is 0, white is 1")
    formula: FormulaText | None = _field(None, "a formula of x and y [m]")
    cells: Cells = _field((64, 64), "into how many cells a formula's grid is divided along x and y, two whole numbers")
    height: Positive = _field(1.0, "what all heights are multiplied by, a number > 0: metres per unit")


class Hull(ShapeTable):
    """The convex hull of points or of a mesh file."""

    type: Literal["hull"]
    points: Points | None = _field(None, "a list of at least four points [x, y, z] [m]")
    file: Name | None = _field(None, "a mesh file below the scene's folder")
    part: NaturalNumber | Name | None = _field(
        None, "which of the file's solids: 0, 1, ..., or the name of a node, object or group in it (else all)")
    scale: Length = _field(1.0, "a number > 0: metres per unit of the file")
    rounding: NotNegative = _field(0.0, "the radius of a ball swept over it, by which it grows, a number >= 0 [m]")


Concavity = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.01, le=1.0)]


class Mesh(ShapeTable):
    """A mesh file. It collides as its triangles, its convex hull or convex parts."""

    type: Literal["mesh"]
    collide: Literal["surface", "hull", "parts"] | None = _field(
        None, '"surface", "hull" or "parts" (else "hull" on dynamic bodies, else "surface")'
    )
    threshold: Concavity = _field(
        0.05, "how hollow a part may be, a number from 0.01 (many parts) to 1 (few), as a share of the size"
    )
    file: Name = _field(..., "a mesh file below the scene's folder")
    part: NaturalNumber | Name | None = _field(
        None, "which of the file's solids: 0, 1, ..., or the name of a node, object or group in it, or of a connected "
        'piece: "piece 1", ... (else all)')
    scale: Length = _field(1.0, "a number > 0: metres per unit of the file")
    thickness: Length | None = _field(
        None, "a number > 0 [m], where the surface is a shell: its mass is that of area times thickness (else a solid)")


Shape = Annotated[
    Sphere | Box | Capsule | Cylinder | Cone | Prism | Ellipsoid | Superellipsoid | Torus | Particle | Bowl | Pipe
    | Plane | HeightField | Hull | Mesh,
    Field(discriminator="type"),
]
SHAPES: dict[str, type[PlacedTable]] = {
    "sphere": Sphere, "box": Box, "capsule": Capsule, "cylinder": Cylinder, "cone": Cone, "prism": Prism,
    "ellipsoid": Ellipsoid, "superellipsoid": Superellipsoid, "torus": Torus, "particle": Particle, "bowl": Bowl,
    "pipe": Pipe, "plane": Plane, "height_field": HeightField, "hull": Hull, "mesh": Mesh,
}


class WayPoint(Table):
    time: Number = _field(..., "a number [s], greater than that of the point before")
    position: Vec3 = _field(..., "three numbers [m], relative to the body's position")


class MotionTable(Table):
    """Pose of a kinematic body at time t: its position + velocity t + amplitude sin(2π frequency t + phase) + path(t),
    turned by angular_velocity t."""

    velocity: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m/s]")
    angular_velocity: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [rad/s], world axes")
    amplitude: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m]")
    frequency: NotNegative = _field(0.0, "a number >= 0 [Hz]")
    phase: Number = _field(0.0, "a number [rad]")
    path: tuple[WayPoint, ...] = _field((), "a list of {time, position}")
    loop: Flag = _field(False, "true or false: start the path again after its last point")


class Body(Table):
    """A rigid body: dynamic unless `fixed` or `kinematic`.

    `position` is where the origin is that its shapes are placed about; where mass and inertia are given, this is the
    centre of mass. `velocity` is that of this point.
    """

    name: Name | None = _field(None, "a name no other body has (else 'body 1', 'body 2', ... by its place in the file)")
    position: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m]")
    orientation: Quaternion | None = _field(None, "a unit quaternion [w, x, y, z]")
    euler: Vec3 | None = _field(None, "turns about the world's x, then y, then z, three numbers [degrees]")
    velocity: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m/s]")
    angular_velocity: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [rad/s], world axes")
    mass: NotNegative | None = _field(None, "a number > 0 [kg]; 0 for a link without shapes that carries others")
    density: Positive | None = _field(None, "a number > 0 [kg/m3] (else 1000)")
    inertia: Moments | None = _field(
        None, "three numbers, or six Ixx, Iyy, Izz, Ixy, Ixz, Iyz, about the centre of mass, body axes [kg m2]"
    )
    fixed: Flag = _field(False, "true or false")
    kinematic: Flag = _field(False, "true or false: moved as [body.motion] says")
    material: Name = _field("default", "the name of a material")
    color: Color | None = _field(None, 'a colour such as "#e69f00" or [0.9, 0.6, 0.0]')
    group: Name | None = _field(None, "a name that several bodies may have: they are chosen together where a scene is "
                                      "edited, and may pass through others, see [[apart]]")
    shape: tuple[Shape, ...] = _field((), "tables [[body.shape]]")
    motion: MotionTable | None = _field(None, "a table [body.motion]")
    surface_velocity: Vec3 = _field((0.0, 0.0, 0.0), "how the surface runs, three numbers [m/s], body axes")
    surface_spin: Vec3 = _field((0.0, 0.0, 0.0), "how the surface turns, three numbers [rad/s], body axes")


class Arrangement(Table):
    """Repeats a body on a grid: copies of "brick" are named "brick 2", "brick 3", ... with x counting fastest."""

    body: Name = _field(..., "the name of the body that is repeated")
    count: Counts = _field(..., "three whole numbers >= 1: bodies along x, y and z, with the first")
    spacing: Vec3 = _field(..., "three numbers [m]")
    jitter: NotNegative = _field(0.0, "a number >= 0: greatest random shift along each axis [m]")
    tumble: Flag = _field(False, "true or false: give every one a random orientation")
    seed: NaturalNumber = _field(0, "a whole number >= 0")


class Spring(Table):
    """A linear spring and damper between two bodies."""

    body_a: Name = _field(..., 'the name of a body, or "world"')
    body_b: Name = _field(..., 'the name of a body, or "world"')
    anchor_a: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m], on body_a; a world point where that is the world")
    anchor_b: Vec3 = _field((0.0, 0.0, 0.0), "three numbers [m], on body_b; a world point where that is the world")
    length: NotNegative | None = _field(None, "the length without force, a number >= 0 [m] (else the first distance)")
    stiffness: NotNegative = _field(..., "a number >= 0 [N/m]")
    damping: NotNegative = _field(0.0, "a number >= 0 [N s/m]")


class Apart(Table):
    """Two bodies that pass through each other, as links of a robot that overlap as drawn; or all bodies and shapes of
    a group and another body or group. A group that is named twice passes through itself."""

    bodies: tuple[Name, Name] = _field(..., "the names of two bodies or groups")


class JointSpring(Table):
    """A spring that pulls every position of a joint towards `position`."""

    stiffness: NotNegative = _field(..., "a number >= 0 [N m/rad], or [N/m] of a slider")
    position: Amounts = _field((0.0,), "where it exerts nothing: a number [degrees] or [m], two for a universal joint")


class Motor(Table):
    """What drives a hinge, slider or screw: a constant torque (force), or a speed with the most it may exert for it."""

    torque: Number = _field(0.0, "a number [N m], or [N] of a slider")
    speed: Number | None = _field(None, "the speed it seeks, a number [rad/s] or [m/s]")
    limit: Positive | None = _field(None, "the most it exerts for its speed, a number > 0 [N m] or [N] (else any)")


class Joint(Table):
    """A joint between two bodies as they are drawn: there its positions are 0. `position` then moves the child, with
    all that hangs on it. Angles in degrees, speeds in rad/s, vectors along the world's axes as drawn."""

    type: Literal["hinge", "slider", "screw", "ball", "universal", "fixed", "free"] = _field(
        ..., "one of hinge, slider, screw, ball, universal, fixed, free"
    )
    name: Name | None = _field(None, "a name no other joint has (else 'joint 1', ... by its place in the file)")
    parent: Name = _field("world", 'the name of a body, or "world"')
    child: Name = _field(..., "the name of a body")
    anchor: Vec3 | None = _field(None, "where the joint is, a world point [m] (else the child's position)")
    axis: Direction | None = _field(None, "the axis of a hinge, slider or screw, a unit vector, world axes")
    pitch: Number | None = _field(None, "the way of a screw along its axis per turn, a number other than 0 [m]; < 0 "
                                        "where it is left-handed")
    axes: Directions | None = _field(None, "the axes of a universal joint, two unit vectors at right angles: the first "
                                           "is fixed in the parent, the second in the child")
    position: Amounts | None = _field(None, "where it starts: a number [degrees], of a slider [m]; two of a universal "
                                            "joint; of a ball three, a rotation vector")
    velocity: Amounts | None = _field(None, "how it starts: a number [rad/s], of a slider [m/s]; two of a universal "
                                            "joint; of a ball three, the angular velocity relative to the parent")
    limits: Ranges | None = _field(None, "[lower, upper] [degrees], of a slider [m]; two pairs of a universal joint; "
                                         "of a ball one number, the greatest angle from its start")
    restitution: Restitution = _field(0.0, "the coefficient of restitution of its limits, a number from 0 to 1")
    damping: NotNegative = _field(0.0, "a number >= 0 [N m s/rad], or [N s/m] of a slider")
    armature: NotNegative = _field(0.0, "inertia of a rotor, a number >= 0 [kg m2], or [kg] of a slider")
    spring: JointSpring | None = _field(None, "a table {stiffness, position}")
    motor: Motor | None = _field(None, "a table {torque} or {speed, limit}")
    coordinates: Literal["generalized", "maximal"] = _field(
        "generalized", '"generalized": its positions are the state, or "maximal": it is a constraint on its bodies'
    )
    collide: Flag = _field(False, "true or false: whether parent and child may touch each other")


class ClosedFormTable(Table):
    """How bodies move by a formula: drawn translucent beside what is computed, and plotted with it. Formulas are over t
    [s], g, the coefficients e, e_t, mu, mu_s, K, D with the body that is touched, the body's own start m, x0, y0, z0,
    vx0, vy0, vz0, wx0, wy0, wz0, and what [closed_form.let] names."""

    bodies: tuple[Name, ...] = _field(..., "the names of bodies that move by these formulas")
    against: Name | None = _field(None, "the name of the body that they touch (else the first fixed one)")
    let: dict[Name, FormulaText] = _field({}, "a table of names and formulas; each may use the names before it")
    position: Formulas = _field(("x0", "y0", "z0"), "three formulas: the body's position [m]")
    turn: Formulas = _field((0.0, 0.0, 0.0), "three formulas: the rotation vector from its first orientation [rad], "
                                              "world axes")
    holds: FormulaText = _field(1.0, "a formula, mostly a comparison such as t < t1: the others hold where it is not 0")


class SceneFile(Table):
    """A scene."""

    scene: SceneTable = _field(SceneTable(), "a table [scene]")
    camera: CameraTable | None = _field(None, "a table [camera]")
    solver: SolverTable = _field(SolverTable(), "a table [solver]")
    material: dict[Name, Material] = _field({}, "tables [material.NAME]")
    compare: Annotated[tuple[SideTable, ...], Field(max_length=SIDES[1] - 1)] = _field(
        (), f"at most {SIDES[1] - 1} tables [[compare]]"
    )
    pair: tuple[Pair, ...] = _field((), "tables [[pair]]")
    body: tuple[Body, ...] = _field((), "tables [[body]]")
    array: tuple[Arrangement, ...] = _field((), "tables [[array]]")
    spring: tuple[Spring, ...] = _field((), "tables [[spring]]")
    joint: tuple[Joint, ...] = _field((), "tables [[joint]]")
    apart: tuple[Apart, ...] = _field((), "tables [[apart]]")
    closed_form: tuple[ClosedFormTable, ...] = _field((), "tables [[closed_form]]")


#: table name in a path -> its model; shapes go by their type
TABLES: dict[str, type[Table]] = {
    "scene": SceneTable, "camera": CameraTable, "solver": SolverTable, "compare": SideTable, "material": Material,
    "pair": Pair, "body": Body, "motion": MotionTable, "path": WayPoint, "array": Arrangement, "spring": Spring,
    "joint": Joint, "apart": Apart, "joint.spring": JointSpring, "motor": Motor,
    "closed_form": ClosedFormTable,
}


def json_schema() -> str:
    """The JSON Schema of scene files, for editors; assets/scene.schema.json holds it."""
    schema = SceneFile.model_json_schema()
    return json.dumps({**schema, "title": "Contactlab scene"}, indent=1, ensure_ascii=False) + "\n"
