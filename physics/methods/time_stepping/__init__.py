"""The Moreau–Jean scheme; `step` reads as the algorithm."""
