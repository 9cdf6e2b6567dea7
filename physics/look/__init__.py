"""Looks at a simulation for those who want to see: equations, impacts, pieces of a step, quantities over time."""
