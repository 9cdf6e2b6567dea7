"""Views of a simulation for display: equations, impacts, pieces of a step, bodies, quantities over time."""
