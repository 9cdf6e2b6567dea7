"""The laws of contact, each alone: what holds between a gap, a velocity and a force."""
