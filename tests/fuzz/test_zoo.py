"""Robots as people have them: the URDF and MJCF files of pybullet_data, dropped or let go in every method."""

import pathlib

import pytest
from effort import LONG

from contactlab.physics import SceneError, Simulation, open_file
from contactlab.physics.methods import METHODS
from contactlab.physics.simulation.alarm import EnergyAlarm, growth_of

pybullet_data = pytest.importorskip("pybullet_data")
FOLDER = pathlib.Path(pybullet_data.getDataPath())
#: files that their formats do not define, and what is said of them. URDF has a vector as three numbers between blanks,
#: as ROS reads it, and knows no substitutions of xacro; of MJCF these are parts of files, or elements and attributes
#: that today's format has not or asks for
BROKEN = {
    "bicycle/bike.urdf": 'xyz="0.07, 0, -0.69"', "biped/biped2d_pybullet.urdf": 'lower="-1.57."',
    "husky/husky.urdf": "$(optenv", "quadruped/microtaur/microtaur.urdf": 'rpy="-3.14159 1.57079 0 0"',
    "racecar/racecar_differential.urdf": 'scale="1 1 1 1"', "mjcf/ground.xml": "joint 'left_hip_y' not found",
    "mjcf/ground_plane.xml": "plane size(3) must be positive", "mjcf/half_cheetah.xml": "attribute missing: 'pos'",
    "mjcf/hopper.xml": "global coordinates no longer supported", "mjcf/humanoid_fixed.xml": "invalid keyword: 'fixed'",
    "mjcf/humanoid_symmetric.xml": "material 'geom' not found", "mjcf/swimmer.xml": "unrecognized attribute",
    "mjcf/walker2d.xml": "global coordinates no longer supported",
}
ALL = sorted(str(path.relative_to(FOLDER)) for kind in ("urdf", "xml") for path in FOLDER.rglob(f"*.{kind}")
             if "random_urdfs" not in path.parts)  # a thousand heaps of one kind
#: robots, and how long they run [s] where not all run for 10 s: long enough to fall, strike and lie in contact
FEW = {
    "time_stepping": (10.0, ("a1/a1.urdf", "aliengo/aliengo.urdf", "mini_cheetah/mini_cheetah.urdf",
                             "laikago/laikago.urdf", "franka_panda/panda.urdf", "humanoid/humanoid.urdf",
                             "mjcf/humanoid.xml", "mjcf/ant.xml")),
    "event_driven": (1.5, ("TwoJointRobot_w_fixedJoints.urdf", "kuka_iiwa/model.urdf", "a1/a1.urdf", "r2d2.urdf")),
    "compliant": (1.0, ("a1/a1.urdf", "kuka_iiwa/model.urdf")),
}
RUNS = [(method, name, 10.0 if LONG else FEW[method][0]) for method in METHODS
        for name in (ALL if LONG else FEW[method][1]) if name not in BROKEN]
SETTLED = 0.2  # [s] by then a fall has put in more energy than links that overlap at the start may have held


def test_all_that_the_formats_define_is_read():
    refused, some = {}, ALL if LONG else sorted({*ALL[::8], *BROKEN})
    for name in some:
        try:
            open_file(FOLDER / name)
        except SceneError as error:
            assert "fault of this program" not in str(error), name
            refused[name] = str(error)
    assert refused.keys() == BROKEN.keys()
    assert {name: words for name, words in BROKEN.items() if words not in refused[name]} == {}


@pytest.mark.parametrize(("method", "name", "end"), RUNS)
def test_a_robot_gains_no_energy(method, name, end):
    """By the rule that pauses a run: T + U beyond what was put in, see `simulation.alarm`; and by a hundredth of it."""
    gains_nothing(Simulation(open_file(FOLDER / name), method=method), end)


@pytest.mark.parametrize("name", [name for name in ALL if name not in BROKEN] if LONG else ["quadruped/spirit40.urdf"])
def test_a_robot_on_soft_feet_gains_no_energy_in_implicit_steps(name):
    """The same by `sdirk2`: soft contacts of light links ask for hundreds of explicit steps where one implicit does."""
    sim = Simulation(open_file(FOLDER / name), method="compliant")
    sim.set(integrator="sdirk2")
    gains_nothing(sim, 10.0)


def gains_nothing(sim: Simulation, end: float) -> None:
    """Step to that time [s] and look at the energy after every step."""
    alarm = EnergyAlarm()
    while sim.time < end:
        sim.step()
        assert not alarm.look(sim), sim.time
        assert sim.time < SETTLED or growth_of(sim)[2] <= 0.01, sim.time
