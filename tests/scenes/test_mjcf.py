"""Models from MJCF files: what is read, what is listed as left out, what is refused."""

import sys

import mujoco
import numpy as np
import pytest
from mujoco_bodies import assert_bodies_agree

from contactlab.physics import Scene, SceneError, Simulation, open_file
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.laws.contact import turning_lengths
from contactlab.physics.shapes.shapes import quat_to_matrix

FIGURE = """<mujoco model="figure">
 <option gravity="0 0 -3.7"/>
 <asset><mesh name="wedge" vertex="0 0 0  .2 0 0  0 .2 0  0 0 .2"/></asset>
 <worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.8"/>
  <body name="post" pos="0 0 1"><geom type="box" size=".1 .1 .2"/></body>
  <body name="trunk" pos="0 0.5 1" euler="0 20 0">
   <joint name="yaw" axis="0 0 1" damping="0.3" armature="0.02"/>
   <geom type="capsule" size=".1 .2" friction="0.3"/>
   <body name="plate" pos="0 0 .3" euler="10 0 0"><geom type="cylinder" size=".15 .02" mass="2"/></body>
   <body name="thigh" pos="0.1 0 -.3">
    <joint name="hip_x" axis="1 0 0" pos="0 0 .05" range="-25 5" limited="true" armature=".01"/>
    <joint name="hip_z" axis="0 0 1" pos="0 0 .05" range="-60 35" limited="true" stiffness="10" springref="5"/>
    <joint name="hip_y" axis="0 1 0" pos="0 0 .05" ref="10" range="-100 20" limited="true"/>
    <geom type="sphere" size=".07" pos="0 0 -.2"/>
    <body name="shin" pos="0 0 -.4">
     <joint name="piston" type="slide" axis="0 0 1" range="-.1 .2" limited="true" frictionloss="1"/>
     <geom type="ellipsoid" size=".05 .06 .1" pos="0 0 -.1"/>
    </body>
   </body>
   <body name="arm" pos="0 .2 .1">
    <joint name="shoulder" type="ball" range="0 60" limited="true" damping=".2"/>
    <geom type="mesh" mesh="wedge" density="500"/>
   </body>
  </body>
  <body name="loose" pos="2 0 1" euler="0 0 45"><freejoint/><geom type="box" size=".1 .2 .3" friction="0.3"/></body>
 </worldbody>
 <actuator><motor joint="hip_y"/><motor joint="yaw"/></actuator>
 <sensor><jointpos joint="yaw"/></sensor>
</mujoco>"""


@pytest.fixture
def figure(tmp_path):
    path = tmp_path / "figure.xml"
    path.write_text(FIGURE)
    return path


@pytest.fixture
def theirs():
    model = mujoco.MjModel.from_xml_string(FIGURE)
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    mujoco.mj_forward(model, data)
    return model, data


def test_masses_inertias_and_places_are_mujocos(figure, theirs):
    """Welded bodies are added up here and joined there: that of the subtree of a body that carries no other."""
    model, data = theirs
    setup = open_file(figure).build()
    assert_bodies_agree(setup, model, data, ("thigh", "shin", "arm", "loose"))
    trunk, plate = (model.body(name).id for name in ("trunk", "plate"))
    i = setup.labels.bodies.index("trunk")
    assert setup.model.mass[i] == pytest.approx(model.body_mass[[trunk, plate]].sum(), rel=1e-13)
    middle = np.average(data.xipos[[trunk, plate]], axis=0, weights=model.body_mass[[trunk, plate]])
    np.testing.assert_allclose(setup.state.bodies.x[i], middle, atol=1e-12)
    assert "plate" not in setup.labels.bodies and tuple(setup.model.gravity) == (0.0, 0.0, -3.7)


def test_the_inertia_matrix_is_mujocos(figure, theirs):
    """H of all joints. MuJoCo's ball turns in the axes of the child, ours in those of its parent."""
    model, data = theirs
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    setup = open_file(figure).build()
    n = int(setup.model.trees.first_v[-1])
    H = np.full((n, n), np.nan)
    mass_matrix(joint_space(setup.model.trees), setup.state.joints.q, H)
    ours = {setup.labels.joints[j]: slice(int(first), int(last)) for j, first, last in
            zip(setup.model.trees.joint, setup.model.trees.first_v[:-1], setup.model.trees.first_v[1:], strict=True)}
    rows, columns, turn = [], [], []
    for name in ("yaw", "hip_x", "hip_z", "hip_y", "piston", "shoulder"):
        j = model.joint(name)
        count = 3 if name == "shoulder" else 1
        rows += range(ours[name].start, ours[name].stop)
        columns += range(j.dofadr[0], j.dofadr[0] + count)
        turn.append(np.eye(count))
    k = len(rows) - 3
    T = np.eye(len(rows))  # angular velocity in the parent's axes -> in the child's
    i = setup.labels.bodies.index("trunk")
    T[k:, k:] = data.xmat[model.body("arm").id].reshape(3, 3).T @ quat_to_matrix(setup.state.bodies.q[i])
    np.testing.assert_allclose(H[np.ix_(rows, rows)], T.T @ M[np.ix_(columns, columns)] @ T, rtol=0, atol=1e-12)


def test_limits_springs_and_damping_are_measured_from_where_the_joint_is_drawn(figure):
    setup = open_file(figure).build()
    joints, names = setup.model.joints, setup.labels.joints
    at = {name: names.index(name) for name in names}
    for name, lower, upper in (("hip_x", -25, 5), ("hip_z", -60, 35), ("hip_y", -110, 10)):
        np.testing.assert_allclose(np.degrees([joints.lower[at[name], 0], joints.upper[at[name], 0]]), (lower, upper))
    assert (joints.lower[at["piston"], 0], joints.upper[at["piston"], 0]) == (-0.1, 0.2)
    assert joints.stiffness[at["hip_z"]] == 10.0
    assert np.degrees(joints.spring_at[at["hip_z"], 0]) == pytest.approx(5.0)
    assert (joints.damping[at["yaw"]], joints.armature[at["yaw"]]) == (0.3, 0.02)


def test_it_runs_and_keeps_its_energy_as_mujoco_does(figure):
    """Against MuJoCo's RK4 at the same step, without contacts: three hips through two links without mass."""
    text = FIGURE.replace('name="floor" type="plane"', 'name="floor" type="plane" contype="0" conaffinity="0"')
    for old, new in (('limited="true"', 'limited="false"'), ('frictionloss="1"', ""),
                     ("<option ", '<option integrator="RK4" timestep="0.001" '),
                     ('<geom type="', '<geom contype="0" conaffinity="0" type="')):
        text = text.replace(old, new)
    figure.write_text(text)
    sim = Simulation(open_file(figure), h=0.001, integrator="rk4")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(300):
        mujoco.mj_step(model, data)
    sim.run(until=0.3)
    i = sim.labels.bodies.index("shin")
    # a trapezoidal treatment of dampers and springs here: second order in h
    np.testing.assert_allclose(sim.state.bodies.x[i], data.xipos[model.body("shin").id], atol=2e-5)


def test_friction_of_two_surfaces_is_mujocos(tmp_path):
    """The larger of both: a box with 0.3 on a floor with 0.8, beside one with 0.9."""
    box = '<body pos="{x} 0 0.099"><freejoint/><geom type="box" size=".1 .1 .1" friction="{mu}"/></body>'
    text = ('<mujoco><worldbody><geom type="plane" size="5 5 1" friction="0.8"/>'
            + box.format(x=0, mu=0.3) + box.format(x=1, mu=0.9) + "</worldbody></mujoco>")
    path = tmp_path / "boxes.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = {int(c.geom2): float(c.friction[0]) for c in data.contact}
    sim = Simulation(open_file(path), method="time_stepping")
    sim.step()
    ours = dict(zip(sim.contacts.body_b.tolist(), sim.contacts.friction.tolist(), strict=True))
    assert theirs == {1: 0.8, 2: 0.9} and ours == theirs


def test_friction_against_spinning_and_rolling_is_mujocos(tmp_path):
    """By condim of both, the larger numbers of both: three balls on a floor that asks for less than they do."""
    ball = ('<body pos="{x} 0 0.099"><freejoint/><geom size=".1" condim="{dim}" friction="0.5 {torsional} {rolling}"/>'
            "</body>")
    rows = ((3, 0.01, 0.001), (4, 0.01, 0.001), (6, 0.01, 0.004))
    text = ('<mujoco><worldbody><geom type="plane" size="5 5 1" friction="0.5 0.02 0.003"/>'
            + "".join(ball.format(x=x, dim=dim, torsional=torsional, rolling=rolling)
                      for x, (dim, torsional, rolling) in enumerate(rows)) + "</worldbody></mujoco>")
    path = tmp_path / "balls.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = {int(c.geom2): (c.friction[2] * (c.dim > 3), c.friction[3] * (c.dim > 4)) for c in data.contact}
    setup = open_file(path).build()
    shapes, lengths = setup.model.shapes, turning_lengths(setup.model.materials)
    floor = shapes.material[0]
    ours = {i: tuple(lengths[floor, shapes.material[i]]) for i in (1, 2, 3)}
    assert theirs == {1: (0.0, 0.0), 2: (0.02, 0.0), 3: (0.02, 0.004)} and ours == theirs
    assert any("spinning and rolling" in note for note in setup.labels.notes)


def test_what_is_left_out_is_listed(figure):
    notes = "; ".join(open_file(figure).build().labels.notes)
    for words in ("actuators are left out (2)", "sensors are left out (1)", "piston: friction in the joint is left out",
                  "plate is welded to trunk"):
        assert words in notes


def test_what_cannot_be_read_is_said_in_a_sentence(figure, monkeypatch):
    with pytest.raises(SceneError, match=r"nowhere\.xml: cannot be read"):
        open_file(figure.with_name("nowhere.xml"))
    figure.write_text(FIGURE.replace("<joint name=\"yaw\"", "<jiont name=\"yaw\""))
    with pytest.raises(SceneError, match=r"figure\.xml: is not a model in MJCF .*jiont") as refused:
        open_file(figure)
    assert "\n" not in str(refused.value)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(SceneError, match=r"figure\.xml: MJCF is read by MuJoCo's compiler, which is not installed"):
        open_file(figure)


@pytest.mark.parametrize(("joints", "allowed"), [
    ([("world", "frame", "hinge"), ("frame", "end", "hinge")], True),
    ([("world", "end", "hinge"), ("end", "frame", "hinge")], False),  # carries nothing
    ([("world", "frame", "ball"), ("frame", "end", "hinge")], False),
    ([("frame", "end", "hinge")], False),                              # free
    ([], False),
])
def test_only_links_between_others_may_be_without_mass(joints, allowed):
    bodies = [{"name": "frame", "mass": 0.0},
              {"name": "end", "position": [1.0, 0.0, 0.0], "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}]
    rows = [{"type": kind, "parent": parent, "child": child, "anchor": [0.0, 0.0, 0.0]}
            | ({"axis": [0.0, 1.0, 0.0] if parent == "world" else [0.0, 0.0, 1.0]} if kind == "hinge" else {})
            for parent, child, kind in joints]
    scene = Scene.from_dict({"body": bodies, "joint": rows})
    if allowed:
        sim = Simulation(scene)
        sim.run(until=0.2)
        # θ̈ = m g L cos θ / (I + m L²), of which θ keeps all but a fifth of 1 % so early
        assert sim.position("end")[2] == pytest.approx(-np.sin(0.5 * 9.81 / 2.0 * 0.2**2), rel=4e-3)
        with pytest.raises(SceneError, match=r"mass is 0; it must be greater"):
            scene.with_coordinates("maximal").build()
    else:
        with pytest.raises(SceneError, match=r"body\[0\]\.mass is 0; it must be greater"):
            scene.build()


LOOP = """<mujoco><worldbody>
 <body name="crank" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/>
  <body name="rod" pos=".2 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 -.3" size=".02"/></body>
 </body>
 <body name="rocker" pos=".8 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.3 0 -.3" size=".02"/></body>
 <body name="box" pos="0 0 2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody>
<equality>
 <connect name="pin" body1="rod" body2="rocker" anchor=".3 0 -.3"/>
 <weld name="glue" body1="rocker" body2="box"/>
</equality></mujoco>"""


def test_connect_and_weld_are_constraints_that_close_loops(tmp_path):
    """Three links and the ground in a ring, a box welded on: as MuJoCo moves them, whose constraints give way a little,
    for 0.12 s, before two of them are in line."""
    path = tmp_path / "loop.xml"
    path.write_text(LOOP)
    scene = open_file(path)
    names = {joint.name: (joint.type, joint.coordinates) for joint in scene.tables.joint}
    assert names["pin"] == ("ball", "maximal") and names["glue"] == ("fixed", "maximal")
    assert any("pin" in note and "rigid" in note for note in scene.notes)
    model = mujoco.MjModel.from_xml_string(LOOP)
    model.opt.timestep, model.eq_solref[:], model.geom_contype[:] = 1e-4, (4e-4, 1.0), 0
    model.eq_solimp[:, :2] = 0.9999
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1200)
    sim = Simulation(scene, method="time_stepping", h=1 / 500)
    sim.run(until=0.12)
    assert sim.info.joint_error < 1e-11
    for name in ("rocker", "box"):
        i = model.body(name).id
        np.testing.assert_allclose(sim.state.bodies.x[sim.number(name)], data.xipos[i], rtol=0, atol=1e-4)


DROP = """<mujoco><option gravity="0 0 0" timestep="1e-5" integrator="RK4"><flag refsafe="disable"/></option>
<default><geom solref="{solref}" solimp="{d} {d} 0.001" friction="0"/></default>
<worldbody><geom type="plane" size="5 5 1"/>
 <body name="a" pos="0 0 {height}"><freejoint/><geom type="sphere" size=".1" mass="{mass}"/></body>
 {other}
</worldbody></mujoco>"""
SECOND = '<body name="b" pos="0 0 1.21"><freejoint/><geom type="sphere" size=".1" mass="0.7"/></body>'

ALONE = {"other": "", "height": 0.101}


@pytest.mark.parametrize(("solref", "mass", "others"), [
    ("0.02 0.3", 2.0, False), ("0.02 1.0", 0.01, False), ("0.005 0.1", 2.0, False), ("-4000 -20", 2.0, False),
    ("0.01 0.2", 2.0, True),
])
def test_soft_contacts_rebound_as_mujocos_do(tmp_path, solref, mass, others):
    """Without forces from outside MuJoCo's contact is a spring and a damper on the reduced mass, r̈ = -b ṙ - k r: the
    restitution, and the time of it, follow from solref whatever the masses are, on the ground and of two in the air.
    MuJoCo makes steps of 1e-5 s, against times of contact from 0.5 ms on; its impedance here is 0.9999, so that its
    contact carries all."""
    text = DROP.format(solref=solref, d=0.9999, mass=mass, **({"other": SECOND, "height": 1.0} if others else ALONE))
    path = tmp_path / "drop.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    sim = Simulation(open_file(path), method="compliant", integrator="dopri5", h=1e-3)
    thrown, t = "b" if others else "a", 0.06
    i = sim.number(thrown)
    data.qvel[6 * (model.body(thrown).id - 1) + 2] = sim.state.bodies.v[i, 2] = -1.0
    sim.state.bodies.P[i, 2] = -sim.model.mass[i]
    mujoco.mj_step(model, data, round(t / 1e-5))
    sim.run(until=t)
    for k in range(1, model.nbody):
        name = model.body(k).name
        assert sim.velocity(name)[2] == pytest.approx(data.qvel[6 * (k - 1) + 2], abs=3e-3)
        assert sim.position(name)[2] == pytest.approx(data.xpos[k, 2], abs=3e-4)
    assert any("solimp, is left out" in note for note in sim.labels.notes)


def test_solref_becomes_gains_of_the_surface_of_each_body(tmp_path):
    """K = m/(timeconst dampratio)², D = 2 m/timeconst; the ground is rigid."""
    path = tmp_path / "drop.xml"
    path.write_text(DROP.format(solref="0.02 0.5", d=0.9, mass=3.0, other=SECOND, height=1.0))
    tables = open_file(path).tables.material
    assert (tables["a"].stiffness_n, tables["a"].damping_n) == pytest.approx((3.0 / 0.01**2, 300.0))
    assert (tables["b"].stiffness_n, tables["b"].damping_n) == pytest.approx((0.7 / 0.01**2, 70.0))
    assert tables["ground"].stiffness_n == np.inf


TETRA = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_a_model_reads_nothing_outside_its_folder(tmp_path):
    """By a path that is absolute, one that climbs, a link, a folder of the compiler, and by <include>."""
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.obj").write_text(TETRA)
    (tmp_path / "part.xml").write_text("<mujoco/>")
    (folder / "link.obj").symlink_to(tmp_path / "secret.obj")
    path = folder / "model.xml"
    for compiler, file in (("", tmp_path / "secret.obj"), ("", "../secret.obj"), ("", "link.obj"),
                           (f'<compiler meshdir="{tmp_path}"/>', "secret.obj"),
                           ('<compiler assetdir=".."/>', "secret.obj")):
        path.write_text(f'<mujoco>{compiler}<asset><mesh file="{file}"/></asset></mujoco>')
        with pytest.raises(SceneError, match=r"model\.xml: names the file .* outside its folder; it must be below it"):
            open_file(path)
    path.write_text('<mujoco><include file="../part.xml"/></mujoco>')
    with pytest.raises(SceneError, match="outside its folder"):
        open_file(path)
    path.write_text('<mujoco><include file="model.xml"/></mujoco>')
    with pytest.raises(SceneError, match=r"includes model\.xml twice"):
        open_file(path)


def test_files_below_the_folder_are_read_and_no_log_is_left(tmp_path, monkeypatch):
    """A mesh in the folder of the compiler, named after its file, by an included part; MuJoCo's warnings are notes."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tetra.obj").write_text(TETRA)
    (tmp_path / "assets.xml").write_text('<mujoco><asset><mesh file="tetra.obj"/></asset></mujoco>')
    (tmp_path / "model.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><include file="assets.xml"/><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="tetra"/></body></worldbody></mujoco>')
    monkeypatch.chdir(tmp_path)
    model = open_file(tmp_path / "model.xml").build().model
    np.testing.assert_allclose(model.mass[-1], 1000.0 / 6.0, rtol=1e-6)  # MuJoCo's default density; 1/6 m³
    handlers, place = [], mujoco.mj_kinematics
    monkeypatch.setattr("mujoco.set_mju_user_warning", handlers.append)
    monkeypatch.setattr("mujoco.mj_kinematics", lambda *given: (place(*given), handlers[-1]("odd")))
    assert open_file(tmp_path / "model.xml").notes[-1] == "odd" and handlers[-1] is None
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_bodies_that_a_model_excludes_pass_through_each_other(tmp_path):
    path = tmp_path / "pair.xml"
    ball = '<freejoint/><geom size="0.1"/></body>'
    path.write_text(f'<mujoco><worldbody><body name="a">{ball}<body name="b" pos="0.1 0 0">{ball}</worldbody>'
                    '<contact><exclude body1="a" body2="b"/></contact></mujoco>')
    scene = open_file(path)
    assert [pair.bodies for pair in scene.tables.apart] == [("a", "b")]
    group = "contype 1, conaffinity 0"
    for bits, apart in (('contype="1" conaffinity="0"', [(group, group)]), ('contype="2" conaffinity="2"', [])):
        two = f'<body name="a">{ball}<body name="b" pos="0.1 0 0">{ball}'.replace("<geom", f"<geom {bits}")
        path.write_text(f"<mujoco><worldbody>{two}</worldbody></mujoco>")
        assert [pair.bodies for pair in open_file(path).tables.apart] == apart
    assert not any("do not collide" in note for note in scene.notes)
