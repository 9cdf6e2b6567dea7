"""The law of the mouse spring, which every method uses: a critically damped spring from the target of the mouse to the
grabbed point, scaled by the effective mass at that point, with a bounded force.

    f = -W⁻¹ (ω² C + 2 ω u),   |f| <= limit       so that C̈ + 2 ω Ċ + ω² C = 0 for every mass

C is the stretch from the target to the grabbed point [m], u the velocity of that point and W its response to impulses,
Δu = W p. When turning, C is the rotation vector from the target's direction to that of the grabbed point [rad], u the
angular velocity, W = I⁻¹ and f a moment.

An explicit right-hand side uses the force W⁻¹ times `spring_acceleration`, brought to the limit by
contact.disc_projection. A method that solves for impulses makes the spring implicit (`implicit_spring`).
"""

import math

from ..core.jit import helper
from ..core.vec import axpy, cross, dot, norm, scale

GRAB_RATE = 2.0 * math.pi * 4.0  # [rad/s] ω of the mouse spring: it follows within a quarter of a second
GRAB_LIMIT = 20.0 * 9.81         # [m/s2] largest acceleration: the grabbed body cannot be pressed through another one
GRAB_TURN_LIMIT = math.pi * GRAB_RATE**2  # [rad/s2] largest angular acceleration when turning
GRAB_STEP = 0.5                  # largest ω h of a spring that is not implicit: explicit integrators are stable below 2
SHORTEST_ARM2 = 1e-12            # [m2] square of the shortest arm with which a moment is converted to a force


@helper
def spring_rate(h):
    """ω [rad/s] of a spring that is evaluated in steps of h [s]: GRAB_RATE, or less in long steps."""
    return min(GRAB_RATE, GRAB_STEP / h)


@helper
def spring_acceleration(rate, stretch, u):
    """-(ω² C + 2 ω u)"""
    return axpy(-rate * rate, stretch, scale(-2.0 * rate, u))


@helper
def spring_slope(rate, g):
    """-∂f/∂u per W⁻¹ of a spring whose stretch grows by g u [1/s]: 2 ω + g ω²"""
    return 2.0 * rate + g * rate * rate


@helper
def implicit_spring(h):
    """The spring by implicit Euler in a step h [s], stable for every mass and step. The impulse p obeys
    (1 + γ) W p + u + β C = 0,  γ = 1/(h ω (2 + h ω)) and β = ω/(2 + h ω) [1/s]. Returns γ, β."""
    return 1.0 / (h * GRAB_RATE * (2.0 + h * GRAB_RATE)), GRAB_RATE / (2.0 + h * GRAB_RATE)


@helper
def turned_by(target, arm):
    """Rotation vector that turns the direction of `target` into that of `arm`, by the shorter way."""
    axis = cross(target, arm)
    size = norm(axis)
    return scale(math.atan2(size, dot(target, arm)) / size if size > 0.0 else 0.0, axis)


@helper
def turn_limit(w):
    """Largest moment [N m] on a body with the inverse inertia w (xx, xy, xz, yy, yz, zz) [1/(kg m2)]."""
    return GRAB_TURN_LIMIT / max(w[0], max(w[3], w[5]))


@helper
def force_at_point(moment, arm):
    """The force [N] at the end of the arm [m] that has this moment [N m]: what the mouse's arrow shows."""
    return scale(1.0 / max(dot(arm, arm), SHORTEST_ARM2), cross(moment, arm))
