"""Roots by regula falsi in the Illinois variant [Dowell & Jarratt 1971], a step at a time.

A bracket is (lo, hi, at_lo, at_hi, kept): a function is negative at lo and positive at hi. An end that stays twice
running has its value halved, so that the other end moves too; kept says which one stayed last, -1 = hi, 1 = lo.
"""

from .jit import helper

ROUNDS = 100  # most steps; about eight are usual
SAME = 4e-16  # two places closer to each other than this are one [rad]


@helper
def crossing(bracket):
    """Where the straight line between the ends of a bracket crosses zero."""
    lo, hi, at_lo, at_hi, _ = bracket
    return (lo * at_hi - hi * at_lo) / (at_hi - at_lo)


@helper
def narrowed(bracket, x, at_x):
    """The bracket with x, where the function is at_x, as one of its ends."""
    lo, hi, at_lo, at_hi, kept = bracket
    if at_x < 0.0:
        return x, hi, at_x, 0.5 * at_hi if kept == -1 else at_hi, -1
    return lo, x, 0.5 * at_lo if kept == 1 else at_lo, at_x, 1
