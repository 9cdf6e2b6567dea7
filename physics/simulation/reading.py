"""What can be read of a simulation at its instant: bodies, joints, contacts, energies, by name and as arrays."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..books import ledger
from ..books.diagnostics import measure
from ..core.model import Array, Labels, Model
from ..core.report import Energy, Event
from ..core.state import Contacts, State
from .handles import Body, BodyList, Contact, Joint, JointList, Owner, contacts_of, number_in
from .tables import Table, data_frame, save_table, table_of


class Reading:
    """The part of a Simulation that only reads its state. Bodies and joints are named as in the scene or numbered in
    its order; vectors are in the world frame."""

    state: State
    labels: Labels
    _model: Model
    _told: Contacts | None   # contacts of the last step, None = nobody has asked yet
    _method: Any
    step_count: int
    _events: list[Event]     # ordered by step; after seeking back also later ones, until the next step
    _dropped_events: int
    _number: dict[str, int]  # of the bodies
    _dynamic: Any            # numbers of the free bodies

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.t[0])

    @property
    def model(self) -> Model:
        """The scene's model with the overrides of `settings` (restitution, friction, gravity)."""
        return self._model

    @property
    def q(self) -> Array:
        """Generalized positions (7 k + n_q,) of the k free bodies in their order: quaternion w x y z (body frame ->
        world), then centre of mass [m]; then the positions of the joints of all links in the order of the model's
        trees. The body frame is along the principal axes."""
        bodies = self.state.bodies
        return np.concatenate([np.hstack([bodies.q, bodies.x])[self._dynamic].ravel(), self.state.joints.q])

    @property
    def v(self) -> Array:
        """Generalized velocities (6 k + n_v,) of the k free bodies: angular velocity [rad/s], then velocity of the
        centre of mass [m/s], world frame; then the velocities of the joints of all links."""
        bodies = self.state.bodies
        return np.concatenate([np.hstack([bodies.w, bodies.v])[self._dynamic].ravel(), self.state.joints.v])

    def number(self, body: str | int) -> int:
        """Row of a body given by name or row. Raises ValueError."""
        if isinstance(body, str) and body in self._number:
            return self._number[body]
        return number_in("body", self.labels.bodies, body)

    def position(self, body: str | int) -> Array:
        """World position (3,) of the body's origin as the scene placed it [m]."""
        return self.body(body).position

    def orientation(self, body: str | int) -> Array:
        """Unit quaternion (4,) w x y z turning the scene's body axes into the world."""
        return self.body(body).orientation

    def velocity(self, body: str | int) -> Array:
        """World velocity (3,) of the body's origin as the scene placed it [m/s]."""
        return self.body(body).velocity

    def angular_velocity(self, body: str | int) -> Array:
        """World angular velocity (3,) [rad/s]."""
        return self.body(body).angular_velocity

    def frames(self) -> tuple[Array, Array, Array, Array]:
        """Position (n, 3) [m], orientation (n, 4), velocity (n, 3) [m/s] and angular velocity (n, 3) [rad/s] of all
        bodies, as `position`, `orientation`, `velocity` and `angular_velocity` give them."""
        every = self.bodies
        return every.position, every.orientation, every.velocity, every.angular_velocity

    def body(self, body: str | int) -> Body:
        """A body by its name or number, as an object: sim.body("die").velocity. Raises ValueError."""
        return self.bodies[body]

    @property
    def bodies(self) -> BodyList:
        """All bodies, by name or number; their positions (n, 3) and velocities as arrays; or one after the other."""
        return BodyList(cast(Owner, self))

    def joint(self, joint: str | int) -> Joint:
        """A joint by its name or number, as an object: sim.joint("knee").position. Raises ValueError."""
        return self.joints[joint]

    @property
    def joints(self) -> JointList:
        """All joints, by name or number, or one after the other."""
        return JointList(cast(Owner, self))

    def contact_list(self) -> list[Contact]:
        """The contacts of the last step as objects with names; `contacts` has the same as arrays."""
        return contacts_of(cast(Owner, self))

    def table(self, what: str = "bodies") -> Table:
        """"bodies", "joints", "contacts" of the last step or "events" up to now, as columns by their headings."""
        return table_of(self, what)

    def save_table(self, path: str | Path, what: str = "bodies") -> None:
        """Write such a table: .csv, or .npz with an array a column."""
        save_table(self.table(what), path)

    def to_dataframe(self, what: str = "bodies") -> Any:
        """The same as `table`, as a pandas.DataFrame. Raises ImportError where pandas is not installed."""
        return data_frame(self.table(what))

    @property
    def _contacts(self) -> Contacts:
        """Contacts of the last step, found when somebody asks."""
        if self._told is None:
            self._told = self._method.contacts
        assert self._told is not None
        return self._told

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, cut to the valid rows. The arrays are views that the next step overwrites."""
        count = int(self._contacts.count[0])
        return Contacts._make([self._contacts.count, *(a[:count] for a in self._contacts[1:])])

    @property
    def events(self) -> list[Event]:
        """Events up to now, oldest first; of very many the latest."""
        return self._events[: self._events_before(self.step_count + 1)]

    @property
    def event_count(self) -> int:
        """Number of events up to now."""
        return self._dropped_events + self._events_before(self.step_count + 1)

    @property
    def last_events(self) -> list[Event]:
        """Events of the last step."""
        return self._events[self._events_before(self.step_count) : self._events_before(self.step_count + 1)]

    def events_between(self, step: int, last: int) -> list[Event]:
        """Events of the steps after number `step` up to number `last`, oldest first."""
        return self._events[self._events_before(step + 1) : self._events_before(last + 1)]

    def known_events(self, count: int) -> list[Event]:
        """The latest `count` events, oldest first; after seeking back also those later than now."""
        return self._events[max(0, len(self._events) - count) :]

    def latest_events(self, count: int) -> list[Event]:
        """The last `count` events up to now, oldest first."""
        end = self._events_before(self.step_count + 1)
        return self._events[max(0, end - count) : end]

    def _events_before(self, step: int) -> int:
        return bisect_left(self._events, step, key=lambda e: e.step)

    @property
    def dents(self) -> Array:
        """Depth (c,) [m], >= 0, by which the compliant surfaces of each of `contacts` are pressed in, also while they
        recover; no rows with a method of rigid contact."""
        return np.maximum(-self._of_contacts(self.state.surfaces.surface_z.sum(axis=1)), 0.0)

    @property
    def shears(self) -> Array:
        """How far (c,) [m] the compliant surfaces of each of `contacts` are displaced along the contact, |x|; no rows
        with a method of rigid contact."""
        return self._of_contacts(np.linalg.norm(self.state.surfaces.surface_x.sum(axis=1), axis=1))

    def _of_contacts(self, values: Array) -> Array:
        """Of values of all compliant surfaces those of each of `contacts` (c,), 0 where it has none."""
        surfaces, contacts = self.state.surfaces, self.contacts
        if surfaces.t[0] != self.state.t[0]:
            return np.zeros(0)
        count = int(surfaces.count[0])
        order = np.argsort(surfaces.key[:count], kind="stable")
        keys = surfaces.key[order]
        at = np.minimum(np.searchsorted(keys, contacts.key), max(len(keys) - 1, 0))
        return np.where(keys[at] == contacts.key, values[order][at], 0.0) if len(keys) else np.zeros(len(contacts.key))

    def energy(self) -> Energy:
        """Kinetic energy, potential energy in gravity (zero at the world origin) and energy in springs [J]."""
        return measure(self._model, self.state.bodies, self.state.joints)[0]

    def momentum(self) -> tuple[Array, Array]:
        """Momentum (3,) [kg m/s] and angular momentum (3,) [kg m2/s] about the world origin of the bodies that forces
        move."""
        momenta = measure(self._model, self.state.bodies, self.state.joints)[1]
        return momenta[0], momenta[1]

    @property
    def ledger(self) -> dict[str, Array]:
        """Change of energy and momenta since the start, by cause: (7,) work [J], momentum [kg m/s] (3) and angular
        momentum about the world origin [kg m2/s] (3). The sum over all causes is the change of the totals."""
        return {title: self.state.ledger[account].copy() for account, title in ledger.TITLES.items()}
