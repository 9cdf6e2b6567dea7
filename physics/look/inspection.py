"""What the tabs of the app show of a simulation: made on request, between two steps, without changing it.

    equations    0 <= ζ̇ = M λ + d  ⊥  λ >= 0 of the contacts that rest, every solver's answer, what λ leaves open
    pivots       the same, with the way of one solver to its answer
    impact       the last impact, with any law, e and μ
    step         the pieces of the last step of the event-driven method
    law          a contact over the last steps, see `contact_law`, and its acceleration over force
    body         the state of one body and its rate of change, see `body_state`
    joint        one joint and what it bears, see `joint_state`
    trees        H, C and T of all trees, see `joint_space`
    joints       the forces of all joints, see `joint_forces`

Only the normal problem is shown. It contains friction and the moments against turning as the method found them:
d = d_n + M_nt f_t + M_nm m. So it is exactly the problem whose λ the method must have found, and one that every solver
of the LCP takes.
"""

import math
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..books.diagnostics import measure
from ..core.interruption import look_up
from ..core.language import N_, _
from ..core.limits import INSPECTED
from ..core.model import Array, BoolArray, IntArray, Labels, Model, body_count, movable
from ..core.report import Event, JointImpulse, Settings
from ..core.state import JointState, State, copy_state, empty_state
from ..dynamics.constraints.impulses import add_to_bodies, joint_impulses, reaction_impulses
from ..dynamics.constraints.reactions import reactions_to
from ..dynamics.forces import Loads
from ..dynamics.free_body import velocity_from_momentum
from ..dynamics.motion import drive
from ..dynamics.trees.kinematics import place_links
from ..dynamics.trees.rates import empty_tree_scratch
from ..impacts.impact_laws import EQUALITIES, IMPACT_LAWS, Impact, between_balls, through_friction
from ..methods.event_driven.books import ball_inverse
from ..methods.event_driven.step import EventDriven
from ..methods.time_stepping.stages import half_drift, scales_of
from ..methods.time_stepping.trees import middle_of_trees, tree_step
from ..problem.contact_snapshot import ContactSnapshot, TooMany, detected
from ..problem.problem import ContactProblem
from ..problem.residual import natural_map
from ..simulation.simulation import Simulation
from ..solvers import LCP_SOLVERS, SOLVERS
from ..solvers.indeterminacy import force_ranges, indeterminacy
from ..solvers.lcp_info import PivotStep
from .acceleration_graph import acceleration_graph
from .baraff import Baraff, baraff
from .body_state import BodyView, look_at_body
from .contact_law import LawView, look_at_law
from .impact_forms import ARTICULATED, Cost, ImpactForms, by_form, impact_forms
from .joint_forces import JointForces, look_at_joint_forces
from .joint_space import TreeView, look_at_trees
from .joint_state import JointView, look_at_joint
from .moments import (
    MomentImpulses,
    MomentsView,
    in_all_rows,
    look_at_moments,
    moment_forces,
    moment_impulses,
    of_contacts,
    strike,
    turned_by,
    world_impulses,
)
from .step_record import PieceRecord, StepWatch, Struck
from .zhang_form import ZhangForm, zhang_form

MOST_INSPECTED = INSPECTED.most  # contacts of equations that are shown
MOST_WHILE_RUNNING = 40  # contacts up to which nothing is left out while the scene runs
MOST_RANGED = 60         # contacts up to which the ranges of open forces are found: two linear programs each
MOST_STEPS = 400         # steps of a solver kept
RANK_TOLERANCE = 1e-9    # eigenvalues of M scaled to a unit diagonal that count as zero, per contact
FILE_SWEEPS = 3000       # sweeps of the cone solver for the tangential forces of a problem from a file


@dataclass(frozen=True, slots=True)
class Inspect:
    """What to show of the simulation from now on; the answer is `inspection` of the Snapshot."""

    view: str = ""                 # equations, pivots, impact, step, law, body, joint, trees, joints; "" = look no more
    solver: str = "dantzig"        # name in LCP_SOLVERS: whose λ is shown, and whose way to it
    problem: ContactProblem | None = None  # shown in place of the scene's, where given
    restitution: float | None = None       # of the contacts of an impact; None = as it was
    friction: float | None = None
    restitution_t: float | None = None     # of balls
    restitution_psi: float | None = None
    body: int = -1                         # whose state, or whose Jacobian
    joint: int = -1                        # which
    contact: int = -1                      # key of the contact whose law; -1 = the one that is pressed hardest
    form: str = ARTICULATED                # way to the inverse inertia that an impact meets, see `impact_forms`
    measure: bool = False                  # what both of these ways cost, by whoever has a clock


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one solver for the problem."""

    name: str
    title: str
    status: str
    lam: Array          #: (c,) [N]
    zeta_dot: Array     #: (c,) M λ + d [m/s2]
    residual: float     #: natural map [m/s2]
    iterations: int
    pivots: int
    basic: IntArray     #: contacts whose λ may differ from 0


@dataclass(frozen=True, slots=True)
class Freedom:
    """All λ with the same motion:  λ + directions t >= 0. t_j is the change of the force of contact parameters[j]."""

    parameters: IntArray  #: (m,)
    directions: Array     #: (c, m), rows `parameters` of it are the unit matrix
    shortest: Array       #: (c,) the solution of least |λ| [N]
    ranges: Array | None  #: (c, 2) least and largest λ of each contact in all solutions [N]; None: not looked for


@dataclass(frozen=True, slots=True)
class EquationsView:
    """The normal equations of the contacts that rest at an instant."""

    problem: ContactProblem      #: M (c, c), d (c,)
    contacts: ContactSnapshot | None      #: None for a problem from a file
    method: Array                #: (c,) the method's own λ [N], nan where it has none
    answers: tuple[Answer, ...]  #: of all solvers, or of the chosen one alone while a large scene runs
    chosen: int                  #: row of `answers`
    rank: int | None             #: of M; None while a large scene runs
    condition: float             #: of M_BB scaled to a unit diagonal, B the basis of the chosen answer
    freedom: Freedom | None
    baraff: Baraff | None        #: None for a file, and while a large scene runs
    steps: tuple[PivotStep, ...]  #: of the chosen solver
    moments: MomentsView | None = None  #: None where contacts bear none


@dataclass(frozen=True, slots=True)
class ImpactView:
    """The last impact: its contacts with the velocities before it, and what every law makes of them."""

    event: Event
    contacts: ContactSnapshot
    restitution: Array           #: (c,) as the view asks, else as the materials say
    friction: Array              #: (c,)
    balls: BoolArray             #: (c,) where balls meet planes or balls
    restitution_t: Array         #: (c,) nan = none: no balls meet there, or nothing is said of them
    restitution_psi: Array       #: (c,)
    impacts: dict[str, Impact]   #: by law
    moving: IntArray             #: bodies that take part and move, links of trees that are hit included
    before: Array                #: (k, 6) v [m/s] and ω [rad/s] of the bodies `moving`
    after: dict[str, Array]      #: the same after the impact, by law
    kinetic: float               #: kinetic energy of the system before [J]
    joints: dict[str, tuple[JointImpulse, ...]]  #: what the joints of trees pass on, by law
    zhang: ZhangForm | str       #: the same in Zhang's terms; or why it has not the form of his paper
    forms: ImpactForms | str     #: M by both ways; or why there are not two. `contacts` have the one that was asked for
    moments: dict[str, MomentImpulses]  #: by law: what opposes the turning of the contacts, of laws that have it
    cost: Cost | None = None     #: of both ways, where that was measured


@dataclass(frozen=True, slots=True)
class StepView:
    """The last step of the event-driven method."""

    step: int
    t: float                    #: at its beginning [s]
    h: float                    #: [s]
    pieces: tuple[PieceRecord, ...]
    events: tuple[Event, ...]   #: of this step


@dataclass(frozen=True, slots=True)
class Inspection:
    """The answer to an Inspect; at most one of the views is present."""

    asked: Inspect
    step: int
    t: float                              #: [s]
    labels: Labels                        #: of the simulation that was looked at: no other one shows the answer
    note: str = ""                        #: why there is nothing to see, or not all
    equations: EquationsView | None = None
    impact: ImpactView | None = None
    anatomy: StepView | None = None
    law: LawView | None = None
    body: BodyView | None = None
    joint: JointView | None = None
    trees: TreeView | None = None
    joints: JointForces | None = None


def look(sim: Simulation, asked: Inspect, running: bool = False) -> Inspection:
    """Answer `asked` without changing the simulation. running: leave out what takes long."""
    view: EquationsView | ImpactView | StepView | LawView | BodyView | JointView | TreeView | JointForces | str
    if asked.view == "impact":
        view = look_at_impact(sim, asked)
    elif asked.view == "step":
        view = look_at_step(sim)
    elif asked.view == "law":
        view = with_graph(look_at_law(sim, asked.contact, running), sim, running)
    elif asked.view == "body":
        view = look_at_body(sim, asked.body)
    elif asked.view == "joint":
        view = look_at_joint(sim, asked.joint)
    elif asked.view == "trees":
        view = look_at_trees(sim, asked.body, _few_resting(sim))
    elif asked.view == "joints":
        view = look_at_joint_forces(sim)
    elif asked.problem is not None:
        view = equations_of_file(asked.problem, asked, running)
    else:
        view = look_at_equations(sim, asked, running)
    found = Inspection(asked, sim.step_count, sim.time, sim.labels)
    match view:
        case str():
            return replace(found, note=view)
        case ImpactView():
            return replace(found, impact=view)
        case StepView():
            return replace(found, anatomy=view)
        case LawView():
            return replace(found, law=view)
        case BodyView():
            return replace(found, body=view)
        case JointView():
            return replace(found, joint=view)
        case TreeView():
            return replace(found, trees=view)
        case JointForces():
            return replace(found, joints=view)
        case EquationsView():
            return replace(found, equations=view)


# ------------------------------------------------------------------------------------------------- equations
def look_at_equations(sim: Simulation, asked: Inspect, running: bool) -> EquationsView | str:
    """The equations of this instant, or why there are none."""
    try:
        contacts = resting(sim)
    except TooMany as found:
        return f"{found.count} contacts rest here; the equations are shown for {MOST_INSPECTED} at most."
    count = len(contacts.key)
    if not count:
        return N_("No contact rests at this instant: there is nothing to solve.")
    problem, method, moments = normal_problem(sim, contacts)
    bodies, theirs = sim.state.bodies, None
    if not len(sim.model.joints.type) and (not running or count <= MOST_WHILE_RUNNING):
        theirs = baraff(sim.model, bodies.x, bodies.q, bodies.v, bodies.w, bodies.L, contacts)
    return replace(_view(problem, contacts, method, theirs, asked, running), moments=moments)


def normal_problem(sim: Simulation, contacts: ContactSnapshot) -> tuple[ContactProblem, Array, MomentsView | None]:
    """The problem of the normal forces with friction and moments as the method found them, its own λ (c,), and these
    moments, where contacts bear any."""
    rows, (method, tangential) = 3 * len(contacts.key), forces_of(sim, contacts)
    moments = moment_forces(sim, contacts)
    given = np.concatenate([np.column_stack([np.zeros(len(method)), tangential]).ravel(), moments])
    d = contacts.d[::3] + contacts.moments.M[:rows:3] @ given
    return (ContactProblem.frictionless(np.ascontiguousarray(contacts.M[::3, ::3]), d), method,
            look_at_moments(contacts, method, tangential, moments, sim.settings))


def with_graph(law: LawView | str, sim: Simulation, running: bool) -> LawView | str:
    """The law of a contact with its acceleration over force, where the contact is rigid and rests."""
    if isinstance(law, str) or law.soft:
        return law
    contacts = _few_resting(sim)
    if contacts is None:
        return replace(law, graph=f"More than {MOST_INSPECTED} contacts rest here: too many for this graph.")
    row = np.flatnonzero(contacts.key == law.key)
    if not len(row):
        return replace(law, graph="It does not rest at this instant: no force of contact holds its acceleration.")
    if running and len(contacts.key) > MOST_WHILE_RUNNING:
        return replace(law, graph="Pause to see this graph: many contacts rest beside it.")
    return replace(law, graph=acceleration_graph(normal_problem(sim, contacts)[0], int(row[0])))


def resting(sim: Simulation) -> ContactSnapshot:
    """The contacts that rest at this instant: those the method knows where it is exact, else the detected ones that are
    slow enough, see `scales`. Raises TooMany where these are more than MOST_INSPECTED."""
    exact = getattr(sim.new_method(), "resting", None)
    if exact is not None:
        return exact(sim.state, sim.loads, sim.settings, MOST_INSPECTED)
    speed, touch = scales(sim.settings)
    state = copy_state(sim.state)
    return detected(sim.model, sim.time, state.bodies, sim.loads, touch, state.joints,
                    lambda gap, zeta: np.abs(zeta) <= speed, MOST_INSPECTED)


def _few_resting(sim: Simulation) -> ContactSnapshot | None:
    """The contacts that rest, None where they are too many."""
    try:
        return resting(sim)
    except TooMany:
        return None


def scales(settings: Settings) -> tuple[float, float]:
    """Speed [m/s] below which a contact rests and gap [m] below which it touches, for methods of finite steps: the
    speed that gravity gives in two steps, 2 g h, and twice the fall in one step, g h²."""
    return scales_of(float(np.linalg.norm(settings.gravity)), settings.h)


def forces_of(sim: Simulation, contacts: ContactSnapshot) -> tuple[Array, Array]:
    """The method's normal force (c,), nan where it has none, and its friction force (c, 2) in the tangents."""
    count = len(contacts.key)
    normal, tangential = np.full(count, np.nan), np.zeros((count, 2))
    theirs = sim.contacts
    row_of = {key: i for i, key in enumerate(theirs.key.tolist())}
    for i, key in enumerate(contacts.key.tolist()):
        if key in row_of:
            row = row_of[key]
            force = theirs.friction_force[row]
            normal[i] = theirs.lam[row]
            tangential[i] = contacts.tangent_1[i] @ force, contacts.tangent_2[i] @ force
    return normal, tangential


def equations_of_file(problem: ContactProblem, asked: Inspect, running: bool) -> EquationsView | str:
    """A problem from a file; where it has friction, its normal part with the tangential forces of the cone solver."""
    if problem.contact_count > MOST_INSPECTED:
        return _("The problem has {n} contacts; the equations are shown for {most} at most.").format(
            n=problem.contact_count, most=MOST_INSPECTED)
    if problem.dimension == 3:
        lam = np.zeros(len(problem.d))
        SOLVERS["nsgs"](problem, lam, FILE_SWEEPS)
        lam[::3] = 0.0
        d = (problem.M @ lam + problem.d)[::3]
        problem = ContactProblem.frictionless(problem.M[::3, ::3], d)
    return _view(problem, None, np.full(len(problem.d), np.nan), None, asked, running)


def _view(
    problem: ContactProblem, contacts: ContactSnapshot | None, method: Array, theirs: Baraff | None, asked: Inspect,
    running: bool,
) -> EquationsView:
    brief = running and len(problem.d) > MOST_WHILE_RUNNING
    names = [asked.solver] if brief else list(LCP_SOLVERS)
    answers = tuple(answer(problem, name) for name in names)
    chosen = answers[names.index(asked.solver)]
    steps = way(problem, chosen) if asked.view == "pivots" else ()
    return EquationsView(
        problem, contacts, method, answers, names.index(asked.solver), None if brief else rank(problem.M),
        condition(problem.M, chosen.basic), None if brief else freedom(problem, chosen, running), theirs, steps)


def way(problem: ContactProblem, chosen: Answer) -> tuple[PivotStep, ...]:
    """The steps of a solver. An iterative one may end with forces that are still rough; the answer is then added as one
    more step."""
    steps = tuple(islice(LCP_SOLVERS[chosen.name].trace(problem, np.zeros(len(problem.d))), MOST_STEPS))
    rough = chosen.status == "solved" and 0 < len(steps) < MOST_STEPS and not np.allclose(
        steps[-1].zeta_dot, chosen.zeta_dot, rtol=0.0, atol=1e-9 * float(np.abs(problem.d).max(initial=0.0)))
    if rough:
        steps += (PivotStep(steps[-1].step + 1, "", "", chosen.basic, chosen.lam, chosen.zeta_dot, "basis solved"),)
    return steps


def answer(problem: ContactProblem, name: str) -> Answer:
    """Let one solver solve the problem."""
    look_up()
    lam = np.zeros(len(problem.d))
    solver = LCP_SOLVERS[name]
    info = solver(problem, lam)
    return Answer(name, solver.title, info.status, lam, problem.M @ lam + problem.d, natural_map(problem, lam),
                  info.iterations, info.pivots, info.basic)


def _unit_diagonal(M: Array) -> Array:
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(M), 1e-300))
    return scale[:, None] * M * scale


def rank(M: Array) -> int:
    """Rank of a contact matrix: how many of its normals are independent."""
    values = np.linalg.eigvalsh(_unit_diagonal(M))
    return int(np.count_nonzero(values > RANK_TOLERANCE * len(M)))


def condition(M: Array, basic: IntArray) -> float:
    """Condition number of M_BB scaled to a unit diagonal; nan for an empty basis."""
    return float(np.linalg.cond(_unit_diagonal(M[np.ix_(basic, basic)]))) if len(basic) else np.nan


def freedom(problem: ContactProblem, chosen: Answer, running: bool = False) -> Freedom | None:
    """What the equations leave open beside an answer, None where λ is unique or there is no solution.

    The parameters of the null space are forces of contacts outside the basis if there are enough of them, else of any
    contacts of the current set.
    """
    from scipy.linalg import qr  # slow to load, and most sessions never show equations

    if chosen.status != "solved":
        return None
    found = indeterminacy(problem, chosen.lam)
    m = found.basis.shape[1]
    if not m:
        return None
    outside = found.current[~np.isin(found.current, chosen.basic)]
    rows = outside if len(outside) >= m else found.current
    order = qr(found.basis[rows].T, mode="r", pivoting=True)[-1]
    parameters = np.sort(rows[order[:m]])
    directions = found.basis @ np.linalg.inv(found.basis[parameters])
    directions[np.abs(directions) < 1e-12] = 0.0
    ranges = force_ranges(problem, chosen.lam) if m == 1 or (not running and len(problem.d) <= MOST_RANGED) else None
    return Freedom(parameters, directions, found.minimum_norm, ranges)


# ---------------------------------------------------------------------------------------------------- impact
def look_at_impact(sim: Simulation, asked: Inspect) -> ImpactView | str:
    """The last impact that the history reaches, or why there is none."""
    first = sim.reachable()[0]
    event = next((e for e in reversed(sim.events) if e.kind == "impact" and e.step > first), None)
    if event is None:
        return N_("There has been no impact yet. ↓ goes on to the next contact event.")
    try:
        struck = undone(sim, event)
    except TooMany as found:
        return f"{found.count} contacts take part in the last impact; {MOST_INSPECTED} at most are shown."
    if struck is None or not len(struck.contacts.key):
        return N_("The contacts of the last impact could not be found again.")
    forms = impact_forms(sim.model, struck)
    struck = replace(struck, contacts=by_form(struck.contacts, forms, asked.form))
    contacts, count = struck.contacts, len(struck.contacts.key)
    e = contacts.restitution if asked.restitution is None else np.full(count, asked.restitution)
    mu = contacts.friction if asked.friction is None else np.full(count, asked.friction)
    balls = between_balls(contacts.M)
    e_t, e_psi = (np.where(balls, through_friction(given if wanted is None else np.full(count, wanted), mu), np.nan)
                  for given, wanted in ((contacts.restitution_t, asked.restitution_t),
                                        (contacts.restitution_psi, asked.restitution_psi)))
    impacts = {law: strike(law, contacts, e, mu) for law in (*IMPACT_LAWS, *EQUALITIES)}
    if not np.isnan([e_t, e_psi]).all():
        impacts["ball"] = strike("newton", contacts, e, mu, e_t, e_psi)
    moving, after, joints, moments = taking_part(sim.model, contacts), {}, {}, {}
    for law, impact in impacts.items():
        change, joints[law] = changes(sim.model, struck, impact)
        if law == "ball":
            impacts[law] = twisted(sim.model, struck, impact, e_psi, change)
        after[law] = struck.velocities[moving] + change[moving]
        if len(impact.impulse) > len(contacts.u):
            moments[law] = moment_impulses(contacts, impact, change)
        impacts[law] = of_contacts(contacts, impacts[law])
    return ImpactView(event, contacts, e, mu, balls, e_t, e_psi, impacts, moving, struck.velocities[moving], after,
                      struck.kinetic, joints, zhang_form(sim.model, struck, e), forms, moments)


def twisted(model: Model, struck: Struck, impact: Impact, e_psi: Array, change: Array) -> Impact:
    """The impact with the torsional restitution of balls, as `event_driven.books.twist` has it. In `change` (n, 6), the
    changes of v and ω, the spin about the normal after the impact becomes -e_ψ times the one before."""
    inverse, contacts, loss = ball_inverse(model), struck.contacts, impact.loss
    for k in np.argsort(-impact.impulse[: len(contacts.u) : 3], kind="stable").tolist():
        a, b, n = int(contacts.body_a[k]), int(contacts.body_b[k]), contacts.normal[k]
        if impact.impulse[3 * k] <= 0.0 or np.isnan(e_psi[k]) or not inverse[a] + inverse[b] > 0.0:
            continue
        omega = struck.velocities[:, 3:] + change[:, 3:]
        spin = float(n @ (omega[b] - omega[a]))
        turn = -(1.0 + e_psi[k]) * spin / (inverse[a] + inverse[b])
        change[b, 3:] += inverse[b] * turn * n
        change[a, 3:] -= inverse[a] * turn * n
        loss -= 0.5 * turn * (1.0 - e_psi[k]) * spin
    return impact._replace(loss=loss)


def undone(sim: Simulation, event: Event) -> Struck | None:
    """The contacts and velocities just before an impact, found by computing its step again; None where there is none.
    Raises TooMany where more than MOST_INSPECTED take part."""
    state, settings, loads, model = sim.before(event.step)
    if settings.method == "event_driven":
        struck = watched(state, settings, loads, model, event.t).struck
        if struck is not None and len(struck.contacts.key) > MOST_INSPECTED:
            raise TooMany(len(struck.contacts.key))
        return struck
    h, speed, touch = settings.h, *scales(settings)
    t, n = float(state.t[0]) + 0.5 * h, body_count(model)
    middle, joints = empty_state(n).bodies, state.joints
    half_drift(model.kind, state.bodies, np.ones(n), h, middle)
    drive(model, t, middle)
    velocity_from_momentum(model, middle)
    if len(joints.v):
        trees, v = tree_step(model, empty_tree_scratch(model.trees)), np.zeros(len(joints.v))
        middle_of_trees(model, float(state.t[0]), h, np.ones(n), state.bodies, joints, trees, v)
        joints = JointState(trees.scratch.q, v)
        place_links(model, *joints, trees.scratch.work, middle)

    def takes_part(gap: Array, zeta: Array) -> BoolArray:
        meets = (gap + 0.5 * h * zeta <= 0.0) & (zeta < -speed)
        rests = (gap <= touch) & (zeta <= speed)
        return meets | rests

    reach = touch + h * _fastest(middle.v, middle.w)
    contacts = detected(model, t, middle, loads, reach, joints, takes_part, MOST_INSPECTED)
    kinetic = measure(model, middle, joints)[0].kinetic
    return Struck(event.t, contacts, kinetic, np.hstack([middle.v, middle.w]), middle, joints)


def watched(state: State, settings: Settings, loads: Loads, model: Model, near: float = math.nan) -> StepWatch:
    """What happens in a step of the event-driven method, with the impact nearest to the instant `near` [s]; the state
    is advanced by it."""
    method = EventDriven(model)
    method.watch = StepWatch(near)
    method.step(state, loads, settings)
    return method.watch


def look_at_step(sim: Simulation) -> StepView | str:
    """The pieces of the step just made, or why there are none."""
    step = sim.step_count
    if step <= sim.reachable()[0]:
        return N_("No step has been made yet.")
    state, settings, loads, model = sim.before(step)
    if settings.method != "event_driven":
        return N_("The last step was not one of the method event_driven: only that one searches its steps for events.")
    t = float(state.t[0])
    pieces = tuple(watched(state, settings, loads, model).pieces)
    return StepView(step, t, settings.h, pieces, tuple(e for e in sim.latest_events(50) if e.step == step))


def _fastest(v: Array, w: Array) -> float:
    return float(np.linalg.norm(v, axis=1).max(initial=0.0) + np.linalg.norm(w, axis=1).max(initial=0.0))


def taking_part(model: Model, contacts: ContactSnapshot) -> IntArray:
    """The bodies that contacts touch and forces move, and all such bodies that joints connect with them."""
    trees, joints = model.trees, model.joints
    groups = [set(trees.body[first:last].tolist())
              for first, last in zip(trees.start[:-1].tolist(), trees.start[1:].tolist(), strict=True)]
    groups += [set(pair) for pair in zip(joints.parent.tolist(), joints.child.tolist(), strict=True)]
    mobile = set(np.flatnonzero(movable(model.kind)).tolist())
    part = mobile & {*contacts.body_a.tolist(), *contacts.body_b.tolist()}
    before = 0
    while len(part) > before:
        before = len(part)
        for group in groups:
            if group & part:
                part |= group & mobile
    return np.array(sorted(part), np.int32)


def changes(model: Model, struck: Struck, impact: Impact) -> tuple[Array, tuple[JointImpulse, ...]]:
    """Δv [m/s] and Δω [rad/s] (n, 6) of all bodies from Δq̇ = H⁻¹ T P, and the impulses that joints transmit."""
    contacts, joints, p = struck.contacts, struck.joints, in_all_rows(struck.contacts, impact.impulse)
    change = p @ contacts.moments.HT
    moved = np.zeros((len(contacts.slot), 6))
    free = np.flatnonzero(contacts.slot >= 0)
    moved[free] = change[contacts.slot[free][:, None] + np.arange(6)]
    world, (turned, bearer) = world_impulses(contacts, p), turned_by(contacts, p)
    impulse, moment = np.zeros((2, len(moved), 3))
    for k in np.flatnonzero(contacts.limit < 0).tolist():
        for i, push in ((contacts.body_b[k], world[k]), (contacts.body_a[k], -world[k])):
            impulse[i] += push
            moment[i] += np.cross(contacts.point[k] - struck.bodies.x[i], push)
    np.add.at(moment, contacts.body_b[bearer], turned)
    np.subtract.at(moment, contacts.body_a[bearer], turned)
    lam = reactions_to(contacts.reactions, p @ contacts.moments.T)
    reactions = reaction_impulses(contacts.reactions, lam, struck.bodies)
    if not len(joints.v):
        return moved, reactions
    add_to_bodies(contacts.reactions.rows, contacts.reactions.J, lam, impulse, moment)
    scratch, bodies = empty_tree_scratch(model.trees), empty_state(len(moved)).bodies
    bodies.x[:], bodies.q[:] = struck.bodies.x, struck.bodies.q  # what trees stand on does not change its velocity
    rates = np.ascontiguousarray(change[len(change) - len(joints.v) :])
    place_links(model, joints.q, rates, scratch.work, bodies)  # velocities of links are linear in those of joints
    links = model.trees.body
    moved[links] = np.hstack([bodies.v, bodies.w])[links]
    return moved, joint_impulses(model.trees, rates, impulse, moment, scratch.work) + reactions


__all__ = ["Answer", "EquationsView", "Freedom", "ImpactView", "Inspection", "StepView", "look"]
