"""Contact problems: M, d and the laws as data; how they are assembled from a state, and how answers are judged."""
