"""A method for a scene's model, and what it says of the state that it is to begin with."""

from ..core.language import _
from ..core.model import Labels, Model
from ..methods import METHODS, Method, Untreatable
from ..methods.event_driven.step import EventDriven
from ..methods.event_driven.workspace import first_depth
from ..scene.build import Setup
from ..scene.start import overlaps

MOST = 3  # pairs of bodies that are named


def make_method(name: str, model: Model, called: tuple[str, ...]) -> Method:
    """Raises ValueError where the model is not for this method; called (n,): the bodies' names."""
    try:
        return METHODS[name](model)
    except Untreatable as refused:
        names = [repr(called[i]) for i in refused.bodies]
        raise ValueError(refused.reason.format(*names)) from refused


def with_notes(method: Method, start: Setup, notes: tuple[str, ...]) -> Labels:
    """The labels with the `notes` of the scene and those of the method; the same object where these are there."""
    said = (*notes, *notes_of(method, start))
    return start.labels if start.labels.notes == said else start.labels._replace(notes=said)


def notes_of(method: Method, start: Setup) -> tuple[str, ...]:
    """In the language that is shown. The event-driven method knows a contact by the features that touch, and takes up
    those that overlap by no more than `first_depth`. Deeper in it cannot tell through which faces a feature has come:
    it finds no contact there until the bodies are apart."""
    if not isinstance(method, EventDriven):
        return ()
    most = first_depth(start.model)
    found = [pair for pair in overlaps(start) if pair.depth > most]
    if not found:
        return ()
    named = [_("{a} and {b} overlap by {depth}").format(a=pair.bodies[0], b=pair.bodies[1], depth=_length(pair.depth))
             for pair in found[:MOST]]
    if len(found) > MOST:
        named.append(_("… and {overlaps} more pairs overlap.").format(overlaps=len(found) - MOST))
    follows = _("The event-driven method takes up contacts that overlap by {most} at most: until these bodies are "
                "apart, they pass through each other. Move them apart, or choose another method.")
    return (f"{'; '.join(named).removesuffix('.')}. {follows.format(most=_length(most))}",)


def _length(metres: float) -> str:
    return f"{1e3 * metres:.2g} mm"
