"""Why contact sets change, in words with their numbers."""

from ..physics.core.language import N_, _
from ..physics.core.report import Event, Reason

#: what a Reason is -> a phrase
WORDS = {
    "gap": N_("φ would become {value} m"),
    "force": N_("λ would become {value} N"),
    "margin": N_("the contact would be {beyond} m beyond its face or edge"),
    "cone": N_("|f_t| reaches μλ = {bound} N"),
    "moment": N_("|m| reaches ℓλ = {bound} N m"),
    "slides": N_("more than μλ = {bound} N would have to hold it, it slides with {value} N"),
    "holds": N_("|f_t| = {value} N holds it, less than μλ = {bound} N"),
    "apart": N_("it opens with ζ̇ = {value} m/s²"),
    "parts": N_("it opens with ζ = {value} m/s"),
    "rests": N_("it stays, with λ = {value} N"),
    "closes": N_("it closes with ζ = {value} m/s"),
    "passed": N_("the impact of another contact was passed on"),
    "jam": N_("no forces obey the contact laws"),
}


def phrase(reason: Reason) -> str:
    """ "λ would become −1.2 N"; "" of a reason that this version does not know."""
    words = WORDS.get(reason.what, "")
    if reason.what == "holds" and not reason.bound > 0.0:
        words = _("|f_t| = {value} N holds it")
    return _(words).format(value=_number(reason.value), bound=_number(reason.bound), beyond=_number(-reason.value))


def reason_of(event: Event) -> str:
    """Why there was an event; "" where its kind says all that is known."""
    return "" if event.reason is None else phrase(event.reason)


def _number(value: float) -> str:
    """Three digits, with a minus sign of its own."""
    return f"{value:.3g}".replace("-", "−") if value else "0"
