"""Soft contacts a second: python tests/benchmarks/soft.py [SECONDS | hour]

A stack of ten boxes on soft surfaces: contacts times substeps per second of processor time, ours against Bullet's
contact stiffness and damping and MuJoCo's solref, at the same stiffness: theirs in steps of 1 ms, ours in the substeps
that steps of 1/240 s ask for; and 500 soft spheres that fall on a floor, as simulated seconds a second of processor
time. `hour`: how far a stack of ten boxes, and a block on an incline, creep in an hour.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from contactlab.physics import Scene, Simulation

STIFFNESS, DAMPING, H, COUNT = 2e4, 60.0, 1 / 1000, 10
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def ours(integrator: str) -> tuple[Callable[[], int], str]:
    boxes = [{"name": f"box {i}", "position": [0, 0, 0.1 + 0.2 * i], "mass": 1.0, "inertia": [1 / 150] * 3,
              "shape": [{"type": "box", "size": [0.2] * 3}]} for i in range(COUNT)]
    sim = Simulation(Scene.from_dict({"solver": {"method": "compliant", "integrator": integrator},
                                      "body": [FLOOR, *boxes]}))
    sim.set(stiffness_n=STIFFNESS, damping_n=DAMPING)

    def step() -> int:
        sim.step()
        return sim.info.contacts * sim.info.substeps

    return step, f"Contactlab {integrator}"


def bullet() -> tuple[Callable[[], int], str]:
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setTimeStep(H)
    bodies = [p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))]
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.1] * 3)
    bodies += [p.createMultiBody(1.0, shape, basePosition=[0, 0, 0.1 + 0.2 * i]) for i in range(COUNT)]
    for body in bodies:
        p.changeDynamics(body, -1, contactStiffness=2 * STIFFNESS, contactDamping=2 * DAMPING)

    def step() -> int:
        p.stepSimulation()
        return 4 * COUNT

    return step, "Bullet"


def mujoco() -> tuple[Callable[[], int], str]:
    import mujoco

    boxes = "".join(f'<body pos="0 0 {0.1 + 0.2 * i}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
                    for i in range(COUNT))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}"/><default><geom solref="-{STIFFNESS} -{DAMPING}"/></default>'
        f'<worldbody><geom type="plane" size="5 5 .1"/>{boxes}</worldbody></mujoco>')
    data = mujoco.MjData(model)

    def step() -> int:
        mujoco.mj_step(model, data)
        return data.ncon

    return step, "MuJoCo"


def spheres() -> None:
    balls = [{"name": f"ball {i}", "mass": 1.0, "inertia": [0.004] * 3, "shape": [{"type": "sphere", "radius": 0.1}],
              "position": [0.21 * (i % 8) + 0.01 * (i % 3), 0.21 * (i // 8 % 8), 0.1 + 0.21 * (i // 64)]}
             for i in range(500)]
    sim = Simulation(Scene.from_dict({"solver": {"method": "compliant", "integrator": "semi_implicit"},
                                      "body": [FLOOR, *balls]}))
    sim.set(stiffness_n=5e3, damping_n=15.0, stiffness_t=2e3, damping_t=5.0)
    sim.run(0.2)
    start, begun = time.process_time(), sim.time
    sim.run(1.2)
    spent = time.process_time() - start
    print(f"500 soft spheres: {(sim.time - begun) / spent:.2f} s a second, {sim.info.contacts} contacts, "
          f"{sim.info.substeps} substeps")


def hour() -> None:
    """The scenes of the tests, with long steps: as many substeps as there."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "claims"))
    from soft_scenes import on_incline, stack

    for name, sim in (("block on an incline", on_incline(25.0)), ("ten boxes", stack())):
        sim.step()
        sim.set(h=1 / 20, substeps=round(sim.info.substeps / sim.settings.h / 20))
        sim.run(12.0)
        start = sim.q.copy()
        for minutes in (1, 10, 20, 30, 40, 50, 60):
            sim.run(12.0 + 60.0 * minutes)
            print(f"{name}, {minutes} min: moved by {abs(sim.q - start).max():.1e} m", flush=True)


def main() -> None:
    if sys.argv[1:] == ["hour"]:
        return hour()
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    for make in (lambda: ours("semi_implicit"), lambda: ours("rk4"), lambda: ours("sdirk2"), bullet, mujoco):
        step, name = make()
        for _ in range(100):
            step()
        start, done = time.process_time(), 0
        while time.process_time() - start < seconds:
            done += step()
        print(f"{name:28s} {done / (time.process_time() - start):12.0f} contacts x substeps a second")
    spheres()


if __name__ == "__main__":
    main()
