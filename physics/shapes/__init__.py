"""Shapes of bodies: their tables, and what each kind is."""
