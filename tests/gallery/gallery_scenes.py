"""Scenes of the gallery as their texts show them: each in its own method, and its numbers as the text has them."""

import functools
import re

import numpy as np

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.look.instant import simulation_at

G = 9.81


@functools.cache
def scene(key):
    return Scene.load(gallery()[key])


def text_of(key):
    """Summary and what to watch, in one line."""
    return " ".join(f"{scene(key).summary} {scene(key).watch}".split())


def opened(key, **options):
    """The scene in its own method; and its texts in one line."""
    return Simulation(scene(key), **options), text_of(key)


@functools.cache
def _run(key, until):
    sim = opened(key)[0]
    sim.record_history()
    sim.run(until)
    return sim, tuple(sim.events), sim.step_count


def ran(key, until):
    """The scene after so much time, with its history, and its events. Tests share it: they only seek in it."""
    sim, events, end = _run(key, until)
    sim.seek(end)
    return sim, events


def numbers(pattern, text):
    """The numbers in the groups of a pattern, which the text must contain."""
    found = re.search(pattern, text)
    assert found is not None, f"the text no longer says {pattern!r}"
    return [float(group) for group in found.groups()]


def at(sim, event, phase="at"):
    """The simulation at the instant of an event."""
    sim.seek(event.step)
    return simulation_at(sim, event.step, event.t, phase)


def first(sim, events, kind, body):
    """The first event of a kind in which a body takes part."""
    number = sim.number(body)
    return next(event for event in events if event.kind == kind and number in event.bodies)


def of_body(sim, body):
    """Rows of the contacts in which a body takes part."""
    number, contacts = sim.number(body), sim.contacts
    return np.flatnonzero((contacts.body_a == number) | (contacts.body_b == number))


def first_tops(sim, names, floor):
    """How far over the floor each body gets after its first bounce [m]."""
    tops, rising = dict.fromkeys(names, np.nan), dict.fromkeys(names, False)
    while np.isnan(list(tops.values())).any():
        sim.step()
        for name in names:
            up = sim.velocity(name)[2] > 0.0
            if rising[name] and not up and np.isnan(tops[name]):
                tops[name] = sim.position(name)[2] - floor
            rising[name] = up
    return np.array([tops[name] for name in names])
