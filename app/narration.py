"""Events in sentences, for whoever reads or hears a run instead of seeing it."""

from collections.abc import Callable

import numpy as np

from ..physics import Simulation
from ..physics.core.language import N_, _
from ..physics.core.model import Labels
from ..physics.core.report import Event
from ..physics.look.zeno import Series, series_of
from .reasons import reason_of

RECENT = 60  # events in which series are sought

#: kind of event -> what happens, of bodies a and b
SENTENCES = {
    "impact": N_("{a} and {b} collide"),
    "gain": N_("{a} and {b} touch"),
    "dynamic_loss": N_("{a} and {b} part"),
    "geometric_loss": N_("{b} leaves the face or edge of {a} that it touched"),
    "stick": N_("{b} no longer slips on {a}"),
    "slip": N_("{b} begins to slip on {a}"),
    "turn": N_("{b} begins to turn on {a}"),
    "turn_ends": N_("{b} no longer turns on {a}"),
    "active_set": N_("other contacts of {a} and {b} carry the load"),
    "crowd": N_("{a} and {b} have too many events: the rest of the step is found at once"),
}


def narrated(sim: Simulation, say: Callable[[str], object] = print) -> Callable[[], None]:
    """A function that tells the events since it was last called, and once of each series of impacts that has no end."""
    told, known = sim.event_count, dict[tuple[int, int], float]()

    def tell() -> None:
        nonlocal told
        new = sim.event_count - told
        told = sim.event_count
        for event in sim.events[-new:] if new else ():
            say(sentence(event, sim.labels))
        for series in series_of(sim.events[-RECENT:]) if new else ():
            if abs(known.get(series.bodies, -1.0) - series.end) > 1e-6:  # another one, or the first
                say(of_series(series, sim.labels))
            known[series.bodies] = series.end

    return tell


def sentence(event: Event, labels: Labels) -> str:
    """ "At 0.451524 s floor and ball collide, with 7.97 N s; 1.77 J are lost: it closes with ζ = −4.43 m/s." """
    a, b = (labels.bodies[i] if i >= 0 else _("the world") for i in event.bodies)
    kind = event.kind.replace("_", " ")
    what = _(SENTENCES[event.kind]).format(a=a, b=b) if event.kind in SENTENCES else f"{a}, {b}: {_(kind)}"
    if event.limit >= 0:
        what = _("joint {joint}: {event}").format(joint=labels.joints[event.limit], event=_(kind))
    if event.kind == "impact":
        change = event.energy_after - event.energy_before
        energy = f"{abs(change):.3g}"
        told = _("no energy is lost") if abs(change) <= 1e-9 * abs(event.energy_before) else (
            _("{energy} J are lost") if change < 0.0 else _("{energy} J are gained")).format(energy=energy)
        what = _("{event}, with {impulse} N s; {told}").format(
            event=what, impulse=f"{np.linalg.norm(event.impulse):.3g}", told=told)
    if why := reason_of(event):
        what = _("{event}: {why}").format(event=what, why=why)
    return _("At {t} s {event}.").format(t=f"{event.t:.6g}", event=what)


def of_series(series: Series, labels: Labels) -> str:
    """What a series of impacts will come to."""
    a, b = (labels.bodies[i] if i >= 0 else _("the world") for i in series.bodies)
    return _("Each blow of {a} and {b} comes after {ratio} times the interval before: infinitely many will be over at "
             "{end} s.").format(a=a, b=b, ratio=f"{series.ratio:.3g}", end=f"{series.end:.6g}")
