"""Lengths, speeds and angles below which the event-driven method takes two things for one. What only one file needs
stands in that file."""

TOUCH = 1e-8      # |φ| of a pair that touches when the sets are made anew [m]
PUSHED = 1e-5     # depth to which a pair that is about to touch may be pushed by projecting out drift [m]
SLOT = 1e-6       # depth that contacts may come to where no forces can keep all of them from it [m]
GRAZE = 1e-10     # depth that a pair which has just let go, or rests beside the active ones, may come to [m]
EDGE = 1e-9       # by which a contact point may leave the region of its own elements before the contact is lost [m]
#: Witness.facing of a contact is at least this: an edge that rolls over a face meets the next edge with the normal of
#: the face, but for what drift has turned it by
FACING = -1e-3
RESTS = 1e-8      # |ζ| of a contact that neither approaches nor separates [m/s]
SLIPS = 1e-9      # slip above which a contact slides [m/s]
STRAIGHT = 1e-9   # angle by which a slip that goes straight on may turn [rad]
ASIDE = 1e-12     # slip across its direction that is rounding, of however slow a slip [m/s]
