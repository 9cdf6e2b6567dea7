"""Joints in maximal coordinates: their rows J, the reactions that keep them, limits, the cure of drift."""
