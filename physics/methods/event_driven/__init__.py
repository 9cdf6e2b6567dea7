"""Exact rigid contact after RBDA chapter 11; `step` reads as the algorithm."""
