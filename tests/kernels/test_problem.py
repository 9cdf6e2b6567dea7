"""Contact problems as data: checks, files, the matrix written out, and the residual that judges solutions."""

import tracemalloc
import zipfile

import numpy as np
import pytest
from contact_scenes import ball, block, ground, simulate

from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.problem.residual import natural_map


def example():
    return ContactProblem.frictional([[15, -1, -2], [-1, 14, 1], [-2, 1, 16]], [-1, 2, 3], 0.1)


def test_a_saved_problem_is_loaded_unchanged(tmp_path):
    problem = example()
    problem.save(tmp_path / "p.npz")
    loaded = ContactProblem.load(tmp_path / "p.npz")
    assert all(np.array_equal(getattr(loaded, f), getattr(problem, f)) for f in ("M", "d", "friction"))


def test_a_file_that_is_no_problem_is_named(tmp_path):
    (tmp_path / "bad.npz").write_text("no")
    np.savez(tmp_path / "other.npz", M=np.eye(1))
    for name in ("bad.npz", "other.npz", "missing.npz"):
        with pytest.raises(ValueError, match=name):
            ContactProblem.load(tmp_path / name)


def npz(path, **heads):
    """An .npz file whose arrays claim the shapes in `heads` and hold nothing."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in heads.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return path


@pytest.mark.parametrize(("shape", "why"), [
    ((1_000_000, 1_000_000), r"M is of shape \(1000000, 1000000\).* in at most 8192 rows"),
    ((8000, 8000), "M is not whole"),
    ((2, 2, 2), r"M is of shape \(2, 2, 2\)"),
])
def test_arrays_are_not_larger_than_their_file(tmp_path, shape, why):
    """A head is 128 bytes, whatever it claims: memory is asked for only where the file holds as much."""
    path = npz(tmp_path / "p.npz", M=shape, d=shape[:1], friction=(0,))
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"p.npz: not a contact problem: the array {why}"):
        ContactProblem.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_every_damaged_file_is_refused_by_one_kind_of_error(tmp_path):
    """Any of the bytes changed, or the end cut off: a problem or a ValueError that names the file."""
    path = tmp_path / "p.npz"
    example().save(path)
    whole = path.read_bytes()
    for k in range(0, len(whole), 3):
        for damaged in (whole[:k], whole[:k] + bytes([whole[k] ^ 0x55]) + whole[k + 1 :]):
            path.write_bytes(damaged)
            try:
                ContactProblem.load(path)
            except ValueError as error:
                assert str(error).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("M", "d", "mu", "why"),
    [
        (np.eye(2), [1.0, 2.0, 3.0], [], "M must be 3 x 3"),
        (np.eye(3), [1.0, 2.0, np.nan], [], "finite"),
        (np.eye(3), [1.0, 2.0, 3.0], [0.1, 0.2], "2 friction coefficients"),
        (np.eye(3), [1.0, 2.0, 3.0], [-0.1], ">= 0"),
    ],
)
def test_wrong_data_are_refused_with_a_reason(M, d, mu, why):
    with pytest.raises(ValueError, match=why):
        ContactProblem(np.array(M, float), np.array(d, float), np.array(mu, float))


def test_the_residual_vanishes_at_the_solution_only():
    problem = example()  # solution: natural map below 1e-13 [computed independently to 14 digits]
    exact = np.array([0.06569568289774, -0.00367861490681, -0.00544307081356])
    assert natural_map(problem, exact) < 1e-12
    assert natural_map(problem, exact * 1.01) > 1e-3
    # λ = 0, u = d: û = (-1 + 0.1 √13, 2, 3), and |P_K(-û)| = (μ|û_T| - û_n)/√(1 + μ²)
    assert natural_map(problem, np.zeros(3)) == pytest.approx(1.0 / np.sqrt(1.01))


def test_without_friction_the_residual_is_that_of_the_lcp():
    problem = ContactProblem.frictionless([[2, 1], [1, 2]], [-5, -6])
    assert natural_map(problem, np.array([4 / 3, 7 / 3])) < 1e-15
    assert natural_map(problem, np.array([0.0, 3.0])) == pytest.approx(2.0)


def scene(**settings):
    return simulate(ground(), block("a", (0, 0, 0.25)), ball("b", (0.1, 0.0, 0.6), velocity=(1.0, 0.0, 0.0)), mu=0.6,
                    **settings)


def frame_of(n):
    """The contact frame as rows n, t1, t2: the tangents of Duff et al."""
    sign = 1.0 if n[2] >= 0 else -1.0
    a = -1.0 / (sign + n[2])
    t1 = np.array([1 + sign * n[0] ** 2 * a, sign * n[0] * n[1] * a, -sign * n[0]])
    return np.array([n, t1, [n[0] * n[1] * a, sign + n[1] ** 2 * a, -n[1]]])


def test_the_written_out_matrix_is_the_answer_to_unit_impulses():
    """M = J M⁻¹ Jᵀ, assembled here from the bodies' own data in the middle of the step: no body has turned yet."""
    sim = scene()
    problem, middle = sim.problem(), sim.state.bodies.x + 0.5 * sim.settings.h * sim.state.bodies.v
    sim.step()
    contacts, rows = sim.contacts, []
    for i in range(int(contacts.count[0])):
        for axis in frame_of(contacts.normal[i]):
            row = np.zeros(6 * 3)
            for body, s in ((contacts.body_a[i], -1.0), (contacts.body_b[i], 1.0)):
                arm = contacts.point[i] - middle[body]
                row[6 * body : 6 * body + 6] = s * np.concatenate([axis, np.cross(arm, axis)])
            rows.append(row)
    J = np.array(rows)
    model = sim.model
    inverse_mass = np.hstack([np.tile(model.inv_mass[:, None], 3), model.inv_inertia]).ravel()
    assert pytest.approx(J @ np.diag(inverse_mass) @ J.T, abs=1e-12) == problem.M


def test_the_residual_that_a_step_tells_is_that_of_the_written_out_problem():
    """After few sweeps, which leave much to be done."""
    sim = scene(solver="pgs", iterations=1)
    problem = sim.problem()
    sim.step()
    contacts = sim.contacts
    lam = np.concatenate([frame_of(n) @ p for n, p in zip(contacts.normal, contacts.impulse, strict=True)])
    assert sim.info.residual > 1e-6
    assert natural_map(problem, lam) == pytest.approx(sim.info.residual, rel=1e-6)
