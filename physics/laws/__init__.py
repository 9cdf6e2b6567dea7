"""The laws of contact, apart from any method: relations between gap, velocity and force."""
