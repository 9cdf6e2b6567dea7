"""A simulation: one model, one state, one method, one history; and the commands that it takes."""
