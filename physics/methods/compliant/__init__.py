"""Compliant contact after RBDA §11.8; `step` reads as the algorithm."""
