"""Chains in both coordinates, and beside MuJoCo. Run by hand: python tests/benchmarks/joints.py

1. What the app plots over the number of links, at h = 1/240: processor time of a step, how far joints come apart and
   the last link goes astray, and what becomes of the energy.
2. 50 links of 0.1 m with 100 times the mass of one at the end, held level and let go, for three seconds: which schemes
   live through it at h = 1/240, and what a simulated second costs, with the energy asked for after every step and then
   without. MuJoCo (implicitfast) takes the largest of the steps 1/240, 1/480, ... that keeps its energy within a tenth
   of what falls.
"""

import time
from dataclasses import replace

import mujoco
import numpy as np

from contactlab.physics import Scene, Simulation
from contactlab.physics.run.link_study import ROD_LENGTH, chain, study
from contactlab.physics.simulation.failure import CannotStep

H = 1.0 / 240.0
LINKS = (1, 2, 5, 10, 20, 50)
BAD = [mujoco.mjtWarning.mjWARN_BADQACC, mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL]
HEAVY = 100.0     # mass at the end over that of a link


def weighted(count: int, coordinates: str, heavy: float) -> Scene:
    """The chain of the study with a mass at its end, in those of a rod."""
    tables = chain(count, coordinates).tables.model_dump(exclude_defaults=True)
    weight = {"name": "weight", "position": [ROD_LENGTH * count, 0.0, 0.0], "mass": heavy,
              "inertia": [0.1 * heavy * ROD_LENGTH**2] * 3}
    joint = {"type": "fixed", "parent": f"rod {count - 1}", "child": "weight", "coordinates": coordinates}
    return Scene.from_dict(tables | {"body": [*tables["body"], weight], "joint": [*tables["joint"], joint]})


def fall() -> None:
    """What the app plots as cost and drift over the number of links."""
    print(f"{'links':>6} {'coordinates':24}{'us a step':>10}{'apart [m]':>12}{'astray [m]':>12}{'energy':>10}")
    settings = replace(Simulation(chain(1, "generalized"), method="time_stepping").settings, h=H)
    for point in study(settings, time.process_time, LINKS):
        if point is not None:
            print(f"{point.links:6} {point.coordinates + ' ' + point.cure:24}{1e6 * point.cost:10.0f}"
                  f"{point.apart:12.1e}{point.astray:12.1e}{point.energy:10.1e}")


def heavy_end(count: int = 50, seconds: float = 3.0) -> None:
    print(f"\n{count} links, {HEAVY:g} times heavier at the end; energy in parts of what can fall")
    scale = HEAVY * 9.81 * ROD_LENGTH * count
    for coordinates, integrator in (("generalized", "midpoint"), ("maximal", "rk4"), ("generalized", "dopri5"),
                                    ("generalized", "rk4")):
        ours = Simulation(weighted(count, coordinates, HEAVY), method="time_stepping", h=H, integrator=integrator)
        ours.set(joint_cure="projection")
        ours.step()  # loads the kernels
        ours.reset()
        start, begin, worst = ours.energy().total, time.process_time(), 0.0
        name = f"  ours, {coordinates}, {integrator}"
        try:
            while ours.time < seconds:
                ours.step()
                worst = max(worst, abs(ours.energy().total - start) / scale)
        except CannotStep:
            print(f"{name:32} fails after {ours.time:.2f} s")
            continue
        watched = 1e3 * (time.process_time() - begin) / seconds
        ours.reset()
        begin = time.process_time()
        ours.run(until=seconds)
        alone = 1e3 * (time.process_time() - begin) / seconds
        print(f"{name:32} h = 1/240   {watched:8.1f} ms a second, alone {alone:8.1f}  energy {worst:.0e}")
    for rate in (240 * 2**k for k in range(8)):
        lost, watched, alone = mujoco_run(count, 1.0 / rate, seconds)
        if lost < 0.1:
            print(f"{'  MuJoCo':32} h = 1/{rate:<6}{watched:8.1f} ms a second, alone {alone:8.1f}  energy {lost:.0e}")
            return
        print(f"{'  MuJoCo':32} h = 1/{rate:<6} fails")


def mujoco_run(count: int, h: float, seconds: float) -> tuple[float, float, float]:
    """Largest change of energy in parts of what can fall (inf where it stops), and milliseconds a simulated second with
    the energy watched, then without."""
    model, data = mujoco_chain(count)
    model.opt.timestep = h
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(model, data)
    start, begin, worst = data.energy.sum(), time.process_time(), 0.0
    for _ in range(round(seconds / h)):
        mujoco.mj_step(model, data)
        if any(data.warning[kind].number for kind in BAD):
            return np.inf, 0.0, 0.0
        worst = max(worst, abs(data.energy.sum() - start))
    watched = 1e3 * (time.process_time() - begin) / seconds
    model.opt.enableflags = 0
    mujoco.mj_resetData(model, data)
    begin = time.process_time()
    for _ in range(round(seconds / h)):
        mujoco.mj_step(model, data)
    return worst / (HEAVY * 9.81 * ROD_LENGTH * count), watched, 1e3 * (time.process_time() - begin) / seconds


def mujoco_chain(count: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The same chain: rods of 1 kg, the weight fixed to the last one."""
    a = ROD_LENGTH
    moments = " ".join(str(share * a * a / 12.0) for share in (1e-3, 1.0, 1.0))
    text, end = "", ""
    for i in range(count):
        text += (f'<body name="b{i}" pos="{0.0 if i == 0 else a} 0 0"><joint axis="0 -1 0"/>'
                 f'<inertial pos="{0.5 * a} 0 0" mass="1" diaginertia="{moments}"/>')
        end += "</body>"
    text += (f'<body pos="{a} 0 0"><inertial pos="0 0 0" mass="{HEAVY}" '
             f'diaginertia="{" ".join(3 * [str(0.1 * HEAVY * a * a)])}"/></body>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}" integrator="implicitfast"><flag contact="disable"/></option>'
        f"<worldbody>{text}{end}</worldbody></mujoco>")
    return model, mujoco.MjData(model)


if __name__ == "__main__":
    fall()
    heavy_end()
