"""Piles of a thousand bodies in a walled bin: Contactlab beside PyBullet and MuJoCo, same scene, same run.

    python tests/benchmarks/piles.py [boxes spheres capsules hulls chairs] [--count 1000] [--seconds 5] [--repeats 3]
                                     [--cores 1] [--engines contactlab contactlab:sleep pybullet mujoco:cg20]

Hulls have 20 random corners, chairs are ten convex parts each.

Every engine runs in its own process, pinned to so many cores, in turns (A B C A B C …), so that slow drifts of the
machine hit all alike. One referee, MuJoCo's collision code, judges the penetration of everybody's final poses. Times
are milliseconds a step over the second half of the run, when the pile has settled; `slowest`: the mean of the slowest
quarter of a second of all, mostly while the pile falls. Ratios are to Contactlab.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

H = 1 / 240
DENSITY = 500.0
INNER = {"boxes": 8.0, "spheres": 6.0, "capsules": 6.0, "hulls": 7.0, "chairs": 9.0}  # of the bin for 1000 bodies [m]


# ------------------------------------------------------------------------------------------------------- the scene
def chair() -> list[dict]:
    """A seat, four legs, a back of two posts, two rails and a slat: ten tapering hulls that fill a cube of 0.6 m."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 1.0
    legs = [([0.04, 0.04, 0.14], [0.25 * x, 0.25 * y, -0.16]) for x in (-1, 1) for y in (-1, 1)]
    back = [([0.03, 0.03, 0.14], [0.25 * x, 0.26, 0.16]) for x in (-1, 1)]
    rails = [([0.22, 0.02, 0.03], [0.0, 0.26, z]) for z in (0.1, 0.25)]
    boxes = [([0.3, 0.3, 0.02], [0.0, 0.0, 0.0]), *legs, *back, *rails, ([0.02, 0.02, 0.03], [0.0, 0.26, 0.175])]
    taper = np.where(corners[:, 2:] < 0.0, 0.8, 1.0) ** [1.0, 1.0, 0.0]
    return [{"type": "hull", "points": (corners * taper * half + centre).tolist()} for half, centre in boxes]


def item(kind: str, rng: np.random.Generator) -> tuple[list[dict], float]:
    """The shapes of one random body and the radius that holds it."""
    if kind == "boxes":
        size = rng.uniform(0.3, 0.6, 3)
        return [{"type": "box", "size": size.tolist()}], float(np.linalg.norm(size) / 2)
    if kind == "spheres":
        radius = rng.uniform(0.15, 0.3)
        return [{"type": "sphere", "radius": radius}], radius
    if kind == "capsules":
        radius, half = rng.uniform(0.1, 0.2), rng.uniform(0.1, 0.3)
        return [{"type": "capsule", "radius": radius, "height": 2 * half}], radius + half
    if kind == "chairs":
        return chair(), 0.55
    points = rng.normal(size=(20, 3))
    points *= rng.uniform(0.2, 0.4, 3) / np.linalg.norm(points, axis=1)[:, None]
    points -= points.mean(axis=0)
    return [{"type": "hull", "points": points.tolist()}], float(np.linalg.norm(points, axis=1).max())


def pile(kind: str, count: int, seed: int = 1) -> dict:
    """Each turned body is put at the lowest free spot of 20 random columns: nothing overlaps, then all of it falls."""
    rng = np.random.default_rng(seed)
    inner = INNER[kind] * (count / 1000) ** (1 / 3)
    centres, radii, bodies = np.zeros((count, 3)), np.zeros(count), []
    for i in range(count):
        shapes, r = item(kind, rng)
        r += 0.005
        spots = []
        for xy in rng.uniform(r - inner / 2, inner / 2 - r, (20, 2)):
            room = (radii[:i] + r) ** 2 - ((centres[:i, :2] - xy) ** 2).sum(1)
            below = room > 0
            z = max(r, (centres[:i, 2][below] + np.sqrt(room[below])).max()) if below.any() else r
            spots.append((z, *xy))
        z, x, y = min(spots)
        centres[i], radii[i] = (x, y, z), r
        q = rng.normal(size=4)
        bodies.append({"name": f"b{i}", "position": [x, y, z], "orientation": (q / np.linalg.norm(q)).tolist(),
                       "density": DENSITY, "shape": shapes})
    height, t = float(centres[:, 2].max()) + 2, 0.5
    for axis, side in ((0, 1), (0, -1), (1, 1), (1, -1)):
        size, position = [inner + 4 * t, inner + 4 * t, height], [0.0, 0.0, height / 2]
        size[axis], position[axis] = 2 * t, side * (inner / 2 + t)
        bodies.append({"name": f"wall {axis}{side}", "position": position, "fixed": True,
                       "shape": [{"type": "box", "size": size}]})
    bodies.append({"name": "ground", "fixed": True, "shape": [{"type": "plane"}]})
    return {"scene": {"title": f"pile of {kind}"}, "solver": {"h": H},
            "material": {"default": {"restitution": 0.0, "friction": 0.5}}, "body": bodies}


# ------------------------------------------------------------------------------------------------------ the engines
class Contactlab:
    """`sleep`: islands that rest sleep, as the switch of the panel says."""

    def __init__(self, scene, setup, variant=""):
        from contactlab.physics import Simulation
        from contactlab.physics.methods.sleep import AT_REST

        self.simulation = Simulation(scene)
        self.simulation.set(sleep=AT_REST if variant == "sleep" else 0.0)
        self.moving = setup.model.kind == 0
        self.step = self.simulation.step
        self.simulation.step()  # compiles

    def pose(self):
        bodies = self.simulation.state.bodies
        return np.hstack([bodies.x, bodies.q])[self.moving]

    def contacts(self):
        return int(self.simulation.contacts.count[0])


class PyBullet:
    """Bullet's sequential impulses at their default 50 iterations, rigid bodies in maximal coordinates, no damping."""

    def __init__(self, scene, setup):
        import pybullet as p

        self.p, self.handles = p, []
        model, bodies = setup.model, setup.state.bodies
        p.connect(p.DIRECT)
        p.setGravity(*model.gravity)
        p.setTimeStep(H)
        root = float(np.sqrt(model.materials.friction[0, 0]))  # Bullet multiplies the two coefficients
        for i, shapes in shapes_of_bodies(model):
            q = bodies.q[i]
            handle = p.createMultiBody(model.mass[i], self._shape(setup, shapes), basePosition=bodies.x[i].tolist(),
                                       baseOrientation=[q[1], q[2], q[3], q[0]], useMaximalCoordinates=1)
            p.changeDynamics(handle, -1, lateralFriction=root, restitution=0.0, linearDamping=0.0, angularDamping=0.0,
                             rollingFriction=0.0, spinningFriction=0.0)
            if model.kind[i] == 0:
                p.changeDynamics(handle, -1, mass=model.mass[i], localInertiaDiagonal=model.inertia[i].tolist())
                self.handles.append(handle)
        self.step = p.stepSimulation

    def _shape(self, setup, shapes):
        """One shape, or several hulls as the groups of a file: Bullet's way to put hulls on one body."""
        p, s = self.p, shapes[0]
        size = setup.model.shapes.size[s]
        if len(shapes) > 1:
            with tempfile.NamedTemporaryFile("w", suffix=".obj") as file:
                file.write(obj_text([body_points(setup, k) for k in shapes]))
                file.flush()
                return p.createCollisionShape(p.GEOM_MESH, fileName=file.name)
        match int(setup.model.shapes.kind[s]):
            case 0:
                return p.createCollisionShape(p.GEOM_SPHERE, radius=size[0])
            case 1:
                return p.createCollisionShape(p.GEOM_BOX, halfExtents=size.tolist())
            case 2:
                return p.createCollisionShape(p.GEOM_CAPSULE, radius=size[0], height=2 * size[1])
            case 4:
                return p.createCollisionShape(p.GEOM_PLANE)
        return p.createCollisionShape(p.GEOM_MESH, vertices=body_points(setup, s).tolist())

    def pose(self):
        rows = [self.p.getBasePositionAndOrientation(h) for h in self.handles]
        return np.array([[*x, q[3], *q[:3]] for x, q in rows])

    def contacts(self):
        return len(self.p.getContactPoints())


class Mujoco:
    """MuJoCo's soft convex contacts; `cg20` = conjugate gradients with 20 iterations."""

    def __init__(self, scene, setup, variant="cg20"):
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(mujoco_xml(setup, variant))
        self.data = mujoco.MjData(self.model)
        self.step = lambda: mujoco.mj_step(self.model, self.data)

    def pose(self):
        return self.data.qpos.reshape(-1, 7).copy()

    def contacts(self):
        return int(self.data.ncon)


def shapes_of_bodies(model):
    """Every body that has shapes, and these."""
    return [(int(i), np.flatnonzero(model.shapes.body == i)) for i in np.unique(model.shapes.body)]


def obj_text(parts):
    """A group of the file for each hull; the reader makes hulls of their corners again."""
    lines, first = [], 1
    for k, points in enumerate(parts):
        lines += [f"o part{k}", *(f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in points)]
        lines += [f"f {first} {first + i} {first + i + 1}" for i in range(1, len(points) - 1)]
        first += len(points)
    return "\n".join(lines) + "\n"


def body_points(setup, s):
    """Vertices of a hull in its body's frame: (k, 3)."""
    shapes, hulls = setup.model.shapes, setup.model.hulls
    k = shapes.data[s]
    points = hulls.vertices[hulls.vertex_start[k]:hulls.vertex_start[k + 1]]
    w, x, y, z = shapes.orientation[s]
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    return points @ R.T + shapes.position[s]


def mujoco_xml(setup, variant=""):
    model, bodies, shapes = setup.model, setup.state.bodies, setup.model.shapes

    def text(values):
        return " ".join(f"{v:.17g}" for v in np.ravel(values))

    solver = f'solver="CG" iterations="{variant[2:] or 100}"' if variant.startswith("cg") else ""
    assets, world = [], []

    def geom(s):
        size = shapes.size[s]
        match int(shapes.kind[s]):
            case 0:
                return f'<geom type="sphere" size="{size[0]}"/>'
            case 1:
                return f'<geom type="box" size="{text(size)}"/>'
            case 2:
                return f'<geom type="capsule" size="{size[0]} {size[1]}"/>'
            case 4:
                return '<geom type="plane" size="0 0 1"/>'
        assets.append(f'<mesh name="m{s}" inertia="exact" vertex="{text(body_points(setup, s))}"/>')
        return f'<geom type="mesh" mesh="m{s}"/>'

    for i, rows in shapes_of_bodies(model):
        inertial = ""
        if model.kind[i] == 0:
            mass = f'mass="{model.mass[i]:.17g}" diaginertia="{text(model.inertia[i])}"'
            inertial = f'<freejoint/><inertial pos="0 0 0" {mass}/>'
        geoms = "".join(geom(s) for s in rows)
        world.append(f'<body pos="{text(bodies.x[i])}" quat="{text(bodies.q[i])}">{inertial}{geoms}</body>')
    mu = model.materials.friction[0, 0]
    return (f'<mujoco><option timestep="{H:.17g}" gravity="{text(model.gravity)}" {solver}/><size memory="4G"/>'
            f'<default><geom friction="{mu} 0 0"/></default><asset>{"".join(assets)}</asset>'
            f'<worldbody>{"".join(world)}</worldbody></mujoco>')


ENGINES = {"contactlab": Contactlab, "pybullet": PyBullet, "mujoco": Mujoco}


# ------------------------------------------------------------------------------------------------------- the runs
def penetrations(setup, pose: np.ndarray) -> np.ndarray:
    """Depths [m] of all overlaps at these poses, as MuJoCo's collision code sees them."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_xml(setup))
    data = mujoco.MjData(model)
    data.qpos[:] = pose.ravel()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    gaps = data.contact.dist[: data.ncon]
    return -gaps[gaps < 0]


def work(kind: str, count: int, seconds: float, cores: int, engine: str) -> dict:
    """One engine on one pile, in this process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])
    from contactlab.physics import Scene

    scene = Scene.from_dict(pile(kind, count))
    setup = scene.build()
    name, _, variant = engine.partition(":")
    runner = ENGINES[name](scene, setup, *([variant] if variant else []))
    gc.freeze()  # as the app does: else a collection looks through all kernels, which takes as long as ten steps
    times = []
    for _ in range(round(seconds / H)):
        start = time.perf_counter()
        runner.step()
        times.append(time.perf_counter() - start)
    pose = runner.pose()
    depth = penetrations(setup, pose)
    settled = np.array(times[len(times) // 2:]) * 1e3
    quarters = np.convolve(times[10:], np.full(round(0.25 / H), H / 0.25), "valid")
    return {"ms": float(np.median(settled)), "mean_ms": float(np.mean(times[10:]) * 1e3),
            "slowest_ms": float(quarters.max() * 1e3),
            "p99_mm": float(np.percentile(depth, 99) * 1e3) if len(depth) else 0.0,
            "max_mm": float(depth.max() * 1e3) if len(depth) else 0.0,
            "contacts": runner.contacts(), "height_m": float(pose[:, 2].mean())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["boxes", "spheres", "capsules", "hulls"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--engines", nargs="+", default=["contactlab", "pybullet", "mujoco:cg20"])
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print("RESULT", json.dumps(work(options.worker[0], options.count, options.seconds, options.cores,
                                         options.worker[1])))
        return
    for kind in options.kinds:
        runs: dict[str, list[dict]] = {engine: [] for engine in options.engines}
        for _ in range(options.repeats):
            for engine in options.engines:
                command = [sys.executable, __file__, "--count", str(options.count), "--seconds", str(options.seconds),
                           "--cores", str(options.cores), "--worker", kind, engine]
                out = subprocess.run(command, capture_output=True, text=True)
                lines = [line for line in out.stdout.splitlines() if line.startswith("RESULT ")]
                if not lines:
                    sys.exit(f"{engine} failed on {kind}: {out.stderr[-2000:]}")
                runs[engine].append(json.loads(lines[0][7:]))
        print(f"\n{options.count} {kind}, h = 1/240 s, {options.seconds} s, medians of {options.repeats}")
        print(f"{'engine':14}{'ms/step':>9}{'ratio':>8}{'mean':>8}{'slowest':>9}{'p99 mm':>9}{'max mm':>9}"
              f"{'contacts':>10}{'height m':>10}")
        for engine, results in runs.items():
            m = {key: statistics.median(r[key] for r in results) for key in results[0]}
            ratio = statistics.median(r["ms"] / b["ms"] for r, b in zip(results, runs[options.engines[0]], strict=True))
            print(f"{engine:14}{m['ms']:9.2f}{ratio:8.2f}{m['mean_ms']:8.2f}{m['slowest_ms']:9.2f}{m['p99_mm']:9.3f}{m['max_mm']:9.2f}"
                  f"{m['contacts']:10.0f}{m['height_m']:10.3f}")


if __name__ == "__main__":
    main()
