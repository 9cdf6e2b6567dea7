"""Models from MJCF files, through MuJoCo's own compiler: the tables of a scene from bodies, joints and geometry.

Bodies welded together become one body with the mass and inertia of all; what is welded to the world stands still.
Several joints of one body become a chain through links without mass. Geometry that collides becomes shapes, meshes
their convex hulls, and of two surfaces the larger friction counts, as in MuJoCo. What has no meaning here is listed,
never dropped in silence.

MuJoCo's contacts are soft. Their reference acceleration -b ṙ - k r is given per unit of mass, by solref; it becomes the
gains K and D of each body's surface, for the method `compliant`. The other methods take contacts for rigid.
"""

import importlib
import math
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..shapes.shapes import MassProperties, combined, matrix_to_quat
from .checks import Found
from .mjcf_files import gathered
from .refusals import SceneError

#: counter of MuJoCo's compiled model -> what it counts, as notes call it
LEFT_OUT = {
    "nu": "actuators", "ntendon": "tendons", "nsensor": "sensors", "nkey": "keyframes",
    "npair": "pairs with coefficients of their own", "nflex": "flexes",
    "nplugin": "plugins", "nmocap": "motions of mocap bodies",
}
STATIC = 0  # number of the body that MuJoCo calls world
DEFAULT_SOLREF = (0.02, 1.0)  # timeconst [s], dampratio
SOFT = ("contacts are soft in the method compliant: solref gives K and D by the mass of each body; its other half, the "
        "impedance solimp, is left out, so that bodies at rest sink in deeper than in MuJoCo")


def read_mjcf(path: Path) -> Found:
    """The model of an MJCF file at its first position. Raises SceneError where it cannot be read, or where MuJoCo,
    which compiles it, is not installed."""
    try:
        mujoco: Any = importlib.import_module("mujoco")  # its types are known at run time only
    except ImportError as error:
        raise SceneError(f"{path.name}: MJCF is read by MuJoCo's compiler, which is not installed; "
                         "`pip install mujoco` brings it.") from error
    text, files = gathered(path)
    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)  # else it writes a log into the folder one is in
    try:
        compiled = mujoco.MjModel.from_xml_string(text, files)
        data = mujoco.MjData(compiled)
        mujoco.mj_kinematics(compiled, data)
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise SceneError(f"{path.name}: is not a model in MJCF ({reason}).") from error
    finally:
        mujoco.set_mju_user_warning(None)
    found = _MjcfReader(path, mujoco, compiled, data).robot()
    return found._replace(notes=(*found.notes, *(" ".join(warning.split()) for warning in warnings)))


def gains_of(solref: Any, mass: float) -> dict[str, float]:
    """K [N/m] and D [N s/m] of the surface of a body of this mass [kg], inf where the body does not move.

    With impedance d a contact between masses obeys r̈ = -d (b ṙ + k r) but for forces from outside. solref gives
    d b = 2/timeconst and d k = 1/(timeconst dampratio)² where it is (timeconst, dampratio), and d b = damping,
    d k = stiffness where it is (-stiffness, -damping), both at the largest impedance [MuJoCo documentation, "Solver
    parameters"]. So K = m d k and D = m d b. The surfaces of two bodies act in series, which gives the reduced mass
    times d k, as the equation demands.
    """
    if not math.isfinite(mass):
        return {"stiffness_n": math.inf}
    first, second = (float(v) for v in solref[:2])
    stiffness, damping = (1.0 / (first * second) ** 2, 2.0 / first) if first > 0.0 else (-first, -second)
    return {"stiffness_n": mass * stiffness, "damping_n": mass * damping} if mass * stiffness > 0.0 else {}


class Turning(NamedTuple):
    """Friction of geometry against spinning and rolling."""

    dimension: int    #: condim: 4 opposes spinning, 6 rolling too
    torsional: float  #: [m]
    rolling: float    #: [m]

    def larger(self, other: "Turning") -> "Turning":
        """That of the two together."""
        return Turning(max(self.dimension, other.dimension), max(self.torsional, other.torsional),
                       max(self.rolling, other.rolling))

    def lengths(self) -> dict[str, float]:
        """What counts of it, by the names of scene files."""
        named = (("friction_torsional", 4, self.torsional), ("friction_rolling", 6, self.rolling))
        return {name: length for name, least, length in named if self.dimension >= least}


class _MjcfReader:
    def __init__(self, path: Path, library: Any, compiled: Any, data: Any) -> None:
        self.path, self.library, self.source, self.data = path, library, compiled, data
        self.bodies: list[dict[str, Any]] = []
        self.joints: list[dict[str, Any]] = []
        self.materials: dict[str, dict[str, float]] = {}
        self.turning: dict[str, Turning] = {}  #: of each material
        self.notes: list[str] = []
        self.taken: set[str] = set()
        self.bits: list[tuple[dict[str, Any], tuple[int, int]]] = []  #: shapes, their contype and conaffinity

    def robot(self) -> Found:
        """The bodies and joints of a scene; what was assumed is in `notes`."""
        s = self.source
        groups = {root: np.flatnonzero(s.body_weldid == root) for root in dict.fromkeys(s.body_weldid.tolist())}
        names = {root: self._own_name(self._name("BODY", root) or f"body {root}") for root in groups}
        for root, members in groups.items():
            if root == STATIC:
                self._add_ground(members)
                continue
            self._add_body(names[root], root, members)
            above = int(s.body_weldid[s.body_parentid[root]])
            self._add_joints(names[root], root, "world" if above == STATIC else names[above])
        self._add_equalities(names)
        self._note_rest()
        title = self._name("MODEL", 0) or self.path.stem
        tables = {
            "scene": {"title": title, "gravity": s.opt.gravity.tolist(),
                      "summary": f"A model of {len(self.bodies)} bodies read from {self.path.name}."},
            "material": self.materials, "pair": self._pairs(), "body": self.bodies, "joint": self.joints,
            "apart": self._excluded(names),
        }
        return Found(tables, tuple(dict.fromkeys(self.notes)))

    def _excluded(self, names: dict[int, str]) -> list[dict[str, Any]]:
        """The pairs of bodies of <exclude>, and the pairs of groups whose geometry does not collide."""
        whole = self.source.body_weldid.tolist()
        given = {(whole[row >> 16], whole[row & 0xFFFF]) for row in self.source.exclude_signature.tolist()}
        pairs = {(names[a], names[b]) for a, b in given if a != b and STATIC not in (a, b)}
        return [{"bodies": list(pair)} for pair in (*sorted(pairs), *self._strangers())]

    def _strangers(self) -> list[tuple[str, str]]:
        """The pairs of groups of geometry, each of one contype and one conaffinity, that do not collide though two
        bodies have them; their shapes get the names of these groups."""
        owners: dict[tuple[int, int], set[int]] = {}
        for geom, body in enumerate(self.source.geom_bodyid.tolist()):
            if any(self._bits(geom)):
                owners.setdefault(self._bits(geom), set()).add(int(self.source.body_weldid[body]))
        apart = [(one, other) for one, other in combinations_with_replacement(owners, 2)
                 if not (one[0] & other[1] or other[0] & one[1]) and len(owners[one] | owners[other]) > 1]
        called = {bits: self._own_name(f"contype {bits[0]}, conaffinity {bits[1]}")
                  for bits in dict.fromkeys(bits for pair in apart for bits in pair)}
        for shape, bits in self.bits:
            if bits in called:
                shape["group"] = called[bits]
        return [(called[one], called[other]) for one, other in apart]

    def _bits(self, geom: int) -> tuple[int, int]:
        return int(self.source.geom_contype[geom]), int(self.source.geom_conaffinity[geom])

    def _name(self, kind: str, row: int) -> str:
        if kind == "MODEL":
            return self.source.names.split(b"\0", 1)[0].decode()
        return self.library.mj_id2name(self.source, getattr(self.library.mjtObj, f"mjOBJ_{kind}"), row) or ""

    def _own_name(self, wanted: str) -> str:
        """The name, or one like it that no other body has."""
        name, k = wanted, 2
        while name in self.taken or name == "world":
            name, k = f"{wanted} {k}", k + 1
        self.taken.add(name)
        return name

    # ------------------------------------------------------------------------------------------------ bodies

    def _add_ground(self, members: Any) -> None:
        """What stands still."""
        name, geoms = self._own_name("ground"), np.flatnonzero(np.isin(self.source.geom_bodyid, members)).tolist()
        shapes = self._shapes(name, math.inf, geoms, np.zeros(3), np.eye(3))
        if shapes:
            self.bodies.append({"name": name, "fixed": True, "shape": shapes})

    def _add_body(self, name: str, root: int, members: Any) -> None:
        s, d = self.source, self.data
        R = d.xmat[root].reshape(3, 3)
        parts = []
        for body in members:
            axes = d.ximat[body].reshape(3, 3)
            parts.append(MassProperties(float(s.body_mass[body]), d.xipos[body].copy(),
                                        axes @ np.diag(s.body_inertia[body]) @ axes.T))
        whole = combined(parts)
        I = R.T @ whole.inertia @ R
        found = {
            "name": name, "position": whole.center.tolist(), "orientation": matrix_to_quat(R).tolist(),
            "mass": whole.mass, "inertia": [*np.diag(I).tolist(), *I[[0, 0, 1], [1, 2, 2]].tolist()],
            "shape": self._shapes(name, whole.mass, np.flatnonzero(np.isin(s.geom_bodyid, members)).tolist(),
                                  whole.center, R),
        }
        colored = [g for g in np.flatnonzero(np.isin(s.geom_bodyid, members)) if s.geom_rgba[g, 3] > 0.0]
        if colored:
            found["color"] = s.geom_rgba[colored[0], :3].astype(float).clip(0.0, 1.0).tolist()
        self.bodies.append(found)
        for other in members:
            if other != root:
                self.notes.append(f"{self._name('BODY', other) or f'body {other}'} is welded to {name}: they are one "
                                  "body")

    # ------------------------------------------------------------------------------------------------ shapes

    def _shapes(
        self, owner: str, mass: float, geoms: list[int], origin: np.ndarray, R: np.ndarray
    ) -> list[dict[str, Any]]:
        """Shapes of the geometry that collides, about a body's origin and axes in the world."""
        s, found = self.source, []
        for geom in geoms:
            if not (s.geom_contype[geom] or s.geom_conaffinity[geom]):
                self.notes.append("geometry that collides with nothing is left out")
                continue
            shape = self._shape(int(geom))
            if shape is None:
                continue
            turn = R.T @ self.data.geom_xmat[geom].reshape(3, 3)
            shape["position"] = (R.T @ (self.data.geom_xpos[geom] - origin)).tolist()
            shape["orientation"] = matrix_to_quat(turn).tolist()
            friction, torsional, rolling = (float(c) for c in s.geom_friction[geom])
            turning = Turning(int(s.geom_condim[geom]), torsional, rolling)
            shape["material"] = self._material(owner, {
                "friction": friction, **turning.lengths(), **gains_of(s.geom_solref[geom], mass)}, turning)
            self.bits.append((shape, self._bits(geom)))
            found.append(shape)
        return found

    def _shape(self, geom: int) -> dict[str, Any] | None:
        s, kinds = self.source, self.library.mjtGeom
        a, b, c = (float(v) for v in s.geom_size[geom])
        match s.geom_type[geom]:
            case kinds.mjGEOM_PLANE:
                return {"type": "plane"}
            case kinds.mjGEOM_SPHERE:
                return {"type": "sphere", "radius": a}
            case kinds.mjGEOM_CAPSULE:
                return {"type": "capsule", "radius": a, "height": 2.0 * b}
            case kinds.mjGEOM_CYLINDER:
                return {"type": "cylinder", "radius": a, "height": 2.0 * b}
            case kinds.mjGEOM_BOX:
                return {"type": "box", "size": [2.0 * a, 2.0 * b, 2.0 * c]}
            case kinds.mjGEOM_ELLIPSOID:
                return {"type": "ellipsoid", "size": [2.0 * a, 2.0 * b, 2.0 * c]}
            case kinds.mjGEOM_MESH:
                mesh = int(s.geom_dataid[geom])
                first, count = int(s.mesh_vertadr[mesh]), int(s.mesh_vertnum[mesh])
                return {"type": "hull", "points": s.mesh_vert[first : first + count].astype(float).tolist()}
            case _:
                self.notes.append(f"{self._name('GEOM', geom) or f'geom {geom}'} is of a kind that has no shape here "
                                  "and is left out")
                return None

    def _material(self, owner: str, coefficients: dict[str, float], turning: "Turning") -> str:
        """The name of a material with these coefficients, after the body that it belongs to."""
        name, k, wanted = owner, 2, (coefficients, turning)
        while (self.materials.setdefault(name, coefficients), self.turning.setdefault(name, turning)) != wanted:
            name, k = f"{owner} {k}", k + 1
        return name

    def _pairs(self) -> list[dict[str, Any]]:
        """Pairs of materials with a coefficient that our rule does not give. In MuJoCo it is the larger one, also of
        friction, and against turning as soon as one of the two asks for that."""
        found = []
        for a, b in combinations(self.materials, 2):
            one, other, pair = self.materials[a], self.materials[b], {}
            if one["friction"] != other["friction"]:
                pair["friction"] = max(one["friction"], other["friction"])
            both = self.turning[a].larger(self.turning[b])
            pair |= {name: length for name, length in both.lengths().items()
                     if length != max(one.get(name, 0.0), other.get(name, 0.0))}
            if pair:
                found.append({"materials": [a, b], **pair})
        return found

    # ------------------------------------------------------------------------------------------------ joints

    def _add_joints(self, child: str, root: int, parent: str) -> None:
        """The joints of a body, the first next to its parent; links without mass stand between several."""
        s = self.source
        first, count = int(s.body_jntadr[root]), int(s.body_jntnum[root])
        for j in range(first, first + count):
            if s.jnt_type[j] == self.library.mjtJoint.mjJNT_FREE:
                return  # a free body needs no joint in a scene
            link = child
            if j < first + count - 1:
                link = self._own_name(f"{child} ({j - first + 1})")
                self.bodies.append({"name": link, "position": self.data.xanchor[j].tolist(), "mass": 0.0})
            self.joints.append(self._joint(j, parent, link))
            parent = link

    def _joint(self, j: int, parent: str, child: str) -> dict[str, Any]:
        s, kinds = self.source, self.library.mjtJoint
        kind = {int(kinds.mjJNT_BALL): "ball", int(kinds.mjJNT_SLIDE): "slider", int(kinds.mjJNT_HINGE): "hinge"}
        name, adr, dof = self._name("JOINT", j) or f"joint {j}", int(s.jnt_qposadr[j]), int(s.jnt_dofadr[j])
        found: dict[str, Any] = {"type": kind[int(s.jnt_type[j])], "name": name, "parent": parent, "child": child,
                                 "anchor": self.data.xanchor[j].tolist(), "damping": float(s.dof_damping[dof]),
                                 "armature": float(s.dof_armature[dof])}
        turns = found["type"] != "slider"
        zero = 0.0 if found["type"] == "ball" else float(s.qpos0[adr])
        if found["type"] != "ball":
            found["axis"] = self.data.xaxis[j].tolist()
        if s.jnt_limited[j]:
            ends = s.jnt_range[j] - zero
            ends = np.degrees(ends) if turns else ends
            found["limits"] = float(ends[1]) if found["type"] == "ball" else ends.tolist()
        if s.jnt_stiffness[j] > 0.0:
            if found["type"] == "ball":
                self.notes.append(f"{name}: the spring of a ball joint is left out")
            else:
                at = float(s.qpos_spring[adr]) - zero
                found["spring"] = {"stiffness": float(s.jnt_stiffness[j]),
                                   "position": float(np.degrees(at)) if turns else at}
        if s.dof_frictionloss[dof] > 0.0:
            self.notes.append(f"{name}: friction in the joint is left out")
        return found

    def _add_equalities(self, names: dict[int, str]) -> None:
        """Equality constraints connect and weld, as ball and fixed joints in maximal coordinates."""
        s, kinds = self.source, self.library.mjtEq
        types = {int(kinds.mjEQ_CONNECT): "ball", int(kinds.mjEQ_WELD): "fixed"}
        for e in range(int(s.neq)):
            name, kind = self._name("EQUALITY", e) or f"equality {e}", types.get(int(s.eq_type[e]))
            if kind is None or s.eq_objtype[e] != self.library.mjtObj.mjOBJ_BODY:
                self.notes.append(f"{name}: equality constraints other than connect and weld of bodies are left out")
                continue
            ends = [int(s.body_weldid[body]) for body in (s.eq_obj1id[e], s.eq_obj2id[e])]
            if not s.eq_active0[e] or ends[0] == ends[1]:
                self.notes.append(f"{name}: an equality constraint that holds nothing is left out")
                continue
            owner = int(s.eq_obj1id[e] if kind == "ball" else s.eq_obj2id[e])
            anchor = self.data.xpos[owner] + self.data.xmat[owner].reshape(3, 3) @ s.eq_data[e, :3]
            parent, child = ends if ends[1] != STATIC else ends[::-1]
            self.joints.append({"type": kind, "name": name, "anchor": anchor.tolist(), "coordinates": "maximal",
                                "parent": "world" if parent == STATIC else names[parent], "child": names[child]})
            if kind == "fixed" and not self._drawn_as_welded(e):
                self.notes.append(f"{name}: the bodies are welded as they are drawn, not where the file has them")
            self.notes.append(f"{name}: an equality constraint is rigid here, whatever its softness")

    def _drawn_as_welded(self, e: int) -> bool:
        """Whether the second body of weld `e` has the pose relative to the first that the constraint asks for."""
        s, d = self.source, self.data
        one, other = int(s.eq_obj1id[e]), int(s.eq_obj2id[e])
        R = d.xmat[one].reshape(3, 3)
        anchor = d.xpos[other] + d.xmat[other].reshape(3, 3) @ s.eq_data[e, :3]
        place, turn = R.T @ (anchor - d.xpos[one]), matrix_to_quat(R.T @ d.xmat[other].reshape(3, 3))
        return bool(np.abs(place - s.eq_data[e, 3:6]).max() < 1e-6 and abs(turn @ s.eq_data[e, 6:10]) > 1.0 - 1e-9)

    # ------------------------------------------------------------------------------------------------ the rest

    def _note_rest(self) -> None:
        s = self.source
        for field, word in LEFT_OUT.items():
            count = int(getattr(s, field, 0))
            if count:
                self.notes.append(f"{word} are left out ({count})")
        collides = (s.geom_contype != 0) | (s.geom_conaffinity != 0)
        if collides.any():
            self.notes.append(SOFT)
        if len(np.unique(s.geom_priority[collides])) > 1:
            self.notes.append("priorities of geometry are left out: the larger friction of two surfaces counts")
        if len(np.unique(s.geom_solref[collides], axis=0)) > 1:
            self.notes.append("surfaces of unlike solref yield each by its own; MuJoCo takes a mean")
        if (s.jnt_solref[s.jnt_limited != 0] != DEFAULT_SOLREF).any():
            self.notes.append("the softness of limits of joints is left out")
        if (s.geom_condim > 3).any():
            self.notes.append("friction against spinning and rolling has its own bounds; in MuJoCo all friction of a "
                              "contact shares one")
        if s.opt.density > 0.0 or s.opt.viscosity > 0.0 or s.opt.wind.any():
            self.notes.append("air and wind are left out")
