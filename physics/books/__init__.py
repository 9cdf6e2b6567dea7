"""What a step did: energy and momentum by cause, totals of a state, events of contacts."""
