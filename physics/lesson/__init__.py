"""Lessons as data: their files, the questions they ask, what a run answers, and the answers that students give."""
