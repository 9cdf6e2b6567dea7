"""Robots as people have them: the URDF and MJCF files of pybullet_data, dropped or let go in every method."""

import pathlib

import pytest
from effort import LONG

from contactlab.physics import SceneError, Simulation, open_file
from contactlab.physics.methods import METHODS
from contactlab.physics.simulation.alarm import EnergyAlarm

pybullet_data = pytest.importorskip("pybullet_data")
FOLDER = pathlib.Path(pybullet_data.getDataPath())
FEW = ("a1/a1.urdf", "laikago/laikago.urdf", "franka_panda/panda.urdf", "mjcf/ant.xml")
#: files that their formats do not define: no XML, text or a comma among numbers, four scales, attributes of old MJCF
BROKEN = {
    "bicycle/bike.urdf", "biped/biped2d_pybullet.urdf", "differential/diff_ring.urdf", "humanoid/humanoid.urdf",
    "husky/husky.urdf", "quadruped/microtaur/microtaur.urdf", "racecar/racecar_differential.urdf", "mjcf/ground.xml",
    "mjcf/ground_plane.xml", "mjcf/half_cheetah.xml", "mjcf/hopper.xml", "mjcf/humanoid_fixed.xml",
    "mjcf/humanoid_symmetric.xml", "mjcf/swimmer.xml", "mjcf/walker2d.xml",
}
ALL = sorted(str(path.relative_to(FOLDER)) for kind in ("urdf", "xml") for path in FOLDER.rglob(f"*.{kind}")
             if "random_urdfs" not in path.parts)  # a thousand heaps of one kind


def test_all_that_the_formats_define_is_read():
    refused, some = set(), ALL if LONG else ALL[::8]
    for name in some:
        try:
            open_file(FOLDER / name)
        except SceneError as error:
            assert "fault of this program" not in str(error), name
            refused.add(name)
    assert refused == BROKEN & set(some)


@pytest.mark.parametrize("method", METHODS if LONG else ("time_stepping",))
@pytest.mark.parametrize("name", [name for name in (ALL if LONG else FEW) if name not in BROKEN])
def test_a_robot_gains_no_energy(name, method):
    """10 s by hand, 0.2 s else, by the rule that pauses a run: T + U beyond what was put in, see `simulation.alarm`."""
    sim, alarm = Simulation(open_file(FOLDER / name), method=method), EnergyAlarm()
    while sim.time < (10.0 if LONG else 0.2):
        sim.step()
        assert not alarm.look(sim), (name, sim.time)
